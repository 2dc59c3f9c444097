"""Judging the tests of a team: the files that a test runner names, and the text of findings."""

import os
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from faultspec import language
from faultspec.contract.model import build_contract
from faultspec.diagnostics.printers import text
from faultspec.language.model import Taxonomy
from faultspec.openapi import service
from faultspec.openapi.service import Description
from faultspec.openapi.text import UnreadableDocument, file_url, read_file
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.reports.console import findings_text
from faultspec_conformance.results.findings import join_findings
from faultspec_conformance.results.model import Report, ReportedFinding, Result
from faultspec_conformance.results.waivers import (
    Waiver,
    check_waivers,
    read_waivers,
    waivers_in_force,
)


class UnusableFile(Exception):
    """A file that is missing or wrong; the message has its diagnostics."""


class ObservationFiles(NamedTuple):
    """Paths of the taxonomy, of the service's OpenAPI document, and of its known failures."""

    taxonomy: str
    openapi: str | None = None
    waivers: str | None = None


def create_accumulator(files: ObservationFiles) -> Accumulator:
    """The accumulator that judges tests. Raises UnusableFile."""
    loaded = language.load(files.taxonomy)
    errors = [diagnostic for diagnostic in loaded.diagnostics if diagnostic.severity == "error"]
    if loaded.taxonomy is None or errors:
        raise UnusableFile(text(errors, loaded.sources))
    return Accumulator(
        build_contract(loaded.taxonomy),
        waivers=_load_waivers(files.waivers, loaded.taxonomy),
        description=_load_description(files.openapi),
        crashes="warning",  # tests bring crashes about
    )


def print_findings(findings: Iterable[ReportedFinding]) -> str:
    """The findings as the console has them; equal ones are one."""
    return findings_text(Report(Result("", "", findings=join_findings(findings)), ""))


def _load_waivers(path: str | None, taxonomy: Taxonomy) -> tuple[Waiver, ...]:
    """The waivers in force that have not expired; an expired one covers nothing here."""
    if path is None:
        return ()
    loaded = read_waivers(path)
    errors = [
        diagnostic
        for diagnostic in (*loaded.diagnostics, *check_waivers(loaded, taxonomy))
        if diagnostic.severity == "error"
    ]
    if errors:
        raise UnusableFile(text(errors, loaded.sources))
    in_force = waivers_in_force(loaded.waivers, os.environ)
    return tuple(waiver for waiver in in_force if waiver.expires >= date.today())


def _load_description(path: str | None) -> Description | None:
    try:
        return None if path is None else service.read(read_file(path), address=file_url(path))
    except UnreadableDocument as error:
        raise UnusableFile(str(error)) from None
