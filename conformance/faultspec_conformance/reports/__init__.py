"""Reports in every format: text, JSON with its schema, formats of CI systems, one HTML file.

Each printer is a pure function of a `Report`. Everything in a report is masked already.
"""

from collections.abc import Callable, Mapping

from faultspec_conformance.reports.console import text
from faultspec_conformance.reports.data import json, report_schema
from faultspec_conformance.reports.github import github
from faultspec_conformance.reports.markdown import markdown
from faultspec_conformance.reports.page import html
from faultspec_conformance.reports.sarif import sarif
from faultspec_conformance.reports.xml import junit
from faultspec_conformance.results.model import Report

ReportPrinter = Callable[[Report], str]


def _encodable(printer: ReportPrinter) -> ReportPrinter:
    """The printer, with lone surrogates as escapes: JSON can carry them, and UTF-8 cannot."""
    return lambda report: printer(report).encode("utf-8", "backslashreplace").decode()


FORMATS: Mapping[str, ReportPrinter] = {
    name: _encodable(printer)
    for name, printer in {
        "text": text,
        "json": json,
        "github": github,
        "sarif": sarif,
        "junit": junit,
        "markdown": markdown,
        "html": html,
    }.items()
}

__all__ = [
    "FORMATS",
    "github",
    "html",
    "json",
    "junit",
    "markdown",
    "report_schema",
    "sarif",
    "text",
]
