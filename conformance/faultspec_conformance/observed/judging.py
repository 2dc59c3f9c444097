"""Judging the tests of a team: the files that a test runner names, and the text of findings."""

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from faultspec import language
from faultspec.contract.model import build_contract
from faultspec.diagnostics.printers import text
from faultspec.language.model import Taxonomy
from faultspec.openapi import service
from faultspec.openapi.service import Description
from faultspec.openapi.text import UnreadableDocument, file_url, read_file
from faultspec.project.reading import find_project_file, read_project
from faultspec_conformance.learning.first import NO_TAXONOMY, no_shape
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.reports.console import findings_text
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.findings import join_findings
from faultspec_conformance.results.model import Report, ReportedFinding, Result
from faultspec_conformance.results.waivers import (
    Waiver,
    check_waivers,
    read_waivers,
    waivers_in_force,
)
from faultspec_conformance.run.first_look import without_guesses
from faultspec_conformance.sanitize.masking import mask_environment


class UnusableFile(Exception):
    """A file that is missing or wrong; the message has its diagnostics."""


class ObservationFiles(NamedTuple):
    """Paths of the taxonomy, of the service's OpenAPI document, and of its known failures. Without
    a taxonomy tests are judged by what every service owes.
    """

    taxonomy: str | None
    openapi: str | None = None
    waivers: str | None = None


def create_accumulator(files: ObservationFiles) -> Accumulator:
    """The accumulator that judges tests. Raises UnusableFile."""
    taxonomy = no_shape() if files.taxonomy is None else _load_taxonomy(files.taxonomy)
    return Accumulator(
        build_contract(taxonomy),
        waivers=_load_waivers(files.waivers, taxonomy),
        description=_load_description(files.openapi),
        crashes="warning",  # tests bring crashes about
        known=mask_environment(os.environ),  # the service has it too: it runs in this process
    )


def conclude_observed(result: Result, *, owed: bool, only: str | None = None) -> Result:
    """The result of observed traffic. ``owed``: there was no taxonomy, so no error had to be held
    to one. ``only``: the clauses that were asked for.
    """
    if not owed:
        return conclude(result, date.today(), only=only)
    noted = replace(result, errors=None, notes=(*result.notes, NO_TAXONOMY))
    return without_guesses(conclude(noted, date.today(), only=only))


def describe_result(result: Result) -> str:
    """One line about the judged exchanges of a session."""
    fresh = [each for each in result.findings if each.waived is None and each.level == "error"]
    failed = sum(each.count for each in fresh)
    known = sum(each.count for each in result.findings if each.waived is not None)
    observed = sum(coverage.observed for coverage in result.coverage.values())
    return (
        f"{result.requests} exchanges judged by {result.taxonomy}: {failed} findings, "
        f"{known} known; {observed} of {len(result.coverage)} codes observed"
    )


def find_warnings(result: Result) -> list[ReportedFinding]:
    """The findings that fail no test, such as crashes, which tests bring about."""
    return [each for each in result.findings if each.waived is None and each.level == "warning"]


def _load_taxonomy(path: str) -> Taxonomy:
    loaded = language.load(path)
    errors = [diagnostic for diagnostic in loaded.diagnostics if diagnostic.severity == "error"]
    if loaded.taxonomy is None or errors:
        raise UnusableFile(text(errors, loaded.sources))
    return loaded.taxonomy


def find_project_taxonomy(folder: Path) -> str | None:
    """The only taxonomy of the project of a folder, else `taxonomy.yaml` in it; None if there is
    neither. Raises UnusableFile for a project with errors or with several taxonomies.
    """
    usual = folder / "taxonomy.yaml"
    file = find_project_file(folder)
    if file is None:
        return str(usual) if usual.is_file() else None
    loaded = read_project(str(file))
    if loaded.project is None:
        raise UnusableFile(text(loaded.diagnostics, loaded.sources))
    paths = [loaded.project.locate(taxonomy.path) for taxonomy in loaded.project.taxonomies]
    if len(paths) > 1:
        raise UnusableFile(f"name one taxonomy of {file}: {', '.join(paths)}")
    return paths[0]


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
