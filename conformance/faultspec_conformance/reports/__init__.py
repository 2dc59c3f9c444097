"""A report, shown: a table for people, JSON with its schema for programs, what CI systems read, one HTML file for everyone.

Each is a pure function of a `Report`; everything in a report is masked already.
"""

from collections.abc import Callable, Mapping

from faultspec_conformance.reports.console import text
from faultspec_conformance.reports.data import json, schema
from faultspec_conformance.reports.github import github
from faultspec_conformance.reports.markdown import markdown
from faultspec_conformance.reports.page import html
from faultspec_conformance.reports.sarif import sarif
from faultspec_conformance.reports.xml import junit
from faultspec_conformance.results.model import Report

Printer = Callable[[Report], str]


def _encodable(printer: Printer) -> Printer:
    """The printer, with half a surrogate, which JSON can tell and no encoding of text can, as the escape that it has in JSON."""
    return lambda report: printer(report).encode("utf-8", "backslashreplace").decode()


FORMATS: Mapping[str, Printer] = {
    "text": _encodable(text),
    "json": _encodable(json),
    "github": _encodable(github),
    "sarif": _encodable(sarif),
    "junit": _encodable(junit),
    "markdown": _encodable(markdown),
    "html": _encodable(html),
}

__all__ = ["FORMATS", "github", "html", "json", "junit", "markdown", "sarif", "schema", "text"]
