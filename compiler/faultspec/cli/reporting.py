"""The parts that commands with reports share: options, printing of errors, loading and writing of
reports.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultspec.cli.interruption import INTERRUPTED, LONGEST_COMPUTING, limit_computing
from faultspec.cli.secrets import bypass_masks, mask_report
from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.diagnostics.printers import text

if TYPE_CHECKING:
    from faultspec.diagnostics.model import Diagnostic
    from faultspec.language.model import Taxonomy
    from faultspec.openapi.service import Description
    from faultspec.project import Project
    from faultspec_conformance.results.model import Report
    from faultspec_conformance.results.required_coverage import RequiredCoverage

#: The exit code of a command that could not run.
COULD_NOT = 2

#: The taxonomy of a folder without a project file.
_USUAL = "taxonomy.yaml"

REPORT_BYTES = 8 * 1024 * 1024
"""Bytes of the largest report that is read. The largest of a run that we know has one MB, and the
report by a taxonomy of 10,000 codes of 2,000 operations that all leak has 8. One takes up to 300 MB
of memory.
"""

#: Bytes of all reports of a merge. They take up to 500 MB of memory.
_MERGED_BYTES = 16 * 1024 * 1024

FORMATS = ("text", "json", "github", "sarif", "junit", "markdown", "html")

report_option = click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORMAT=FILE",
    help=f"Write a report to a file as well ({', '.join(FORMATS)}); can be repeated.",
)
format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="The format of the report on standard output.",
)
baseline_option = click.option(
    "--baseline",
    type=click.Path(),
    metavar="REPORT",
    help="An earlier JSON report: its findings do not fail again.",
)
coverage_option = click.option(
    "--require-coverage",
    "coverage",
    metavar="all|PERCENT%|CODE,…",
    help="Fail if codes were not observed: any code, more than a percentage, or the named ones.",
)


class Refused(Exception):
    """No report can be made. The reason has been printed."""


def print_error(code: str, message: str, hint: str | None = None) -> None:
    """Print an error of the command line on standard error."""
    shown = f"error[{code}]: {escape_line(message)}"
    click.echo(shown + (f"\n  = hint: {escape_line(hint)}" if hint else ""), err=True)


def print_diagnostics(diagnostics: Iterable["Diagnostic"], sources: Mapping[str, str]) -> None:
    """Print diagnostics on standard error. Raises Refused if one is an error."""
    found = tuple(diagnostics)
    click.echo(text(found, sources), err=True, nl=False)
    if any(diagnostic.severity == "error" for diagnostic in found):
        raise Refused


def load_project() -> "Project | None":
    """The project of the working directory; None without a project file. Raises Refused."""
    from faultspec.cli.project import find_project

    found = find_project()
    if found is None:
        return None
    print_diagnostics(found.diagnostics, found.sources)
    return found.project


def find_taxonomy(how: str = "with --taxonomy FILE") -> str | None:
    """The taxonomy of the project, else taxonomy.yaml of the working directory; None if there is
    neither. ``how``: in which way the command line names another. Raises UsageError if the project
    has several others, Refused for errors.
    """
    from faultspec.cli.project import declared_taxonomies

    project = load_project()
    declared = declared_taxonomies(project)
    if _USUAL in declared:
        declared = (_USUAL,)
    if len(declared) > 1:
        raise click.UsageError(f"name one taxonomy {how}: {', '.join(declared)}")
    return declared[0] if project is not None or os.path.isfile(declared[0]) else None


@limit_computing(LONGEST_COMPUTING)
def load_taxonomy(path: str | None, how: str = "with --taxonomy FILE") -> "Taxonomy":
    """Load a taxonomy; None is the one of the project, else taxonomy.yaml of the working directory.
    ``how``: in which way the command line names another. Raises UsageError if the project has
    several others or if taxonomy.yaml is missing, Refused for errors.
    """
    from faultspec.language import load

    path = find_taxonomy(how) if path is None else path
    if path is None:
        raise click.UsageError(f"{_USUAL} is missing here; name the taxonomy {how}")
    loaded = load(path)
    errors = (diagnostic for diagnostic in loaded.diagnostics if diagnostic.severity == "error")
    print_diagnostics(errors, loaded.sources)
    if loaded.taxonomy is None:
        raise Refused
    return loaded.taxonomy


@limit_computing(LONGEST_COMPUTING)
def load_description(path: str | None) -> "Description | None":
    """Load an OpenAPI document, if a path is given, and print a note about the references that
    leave it. Raises Refused.
    """
    from faultspec.openapi import service
    from faultspec.openapi.closing import describe_cuts
    from faultspec.openapi.text import UnreadableDocument, file_url, read_file

    if path is None:
        return None
    try:
        description = service.read(read_file(path), address=file_url(path))
    except UnreadableDocument as error:
        print_error("no-openapi", str(error))
        raise Refused from None
    for note in describe_cuts(description.cuts):
        click.echo(f"note: {note}", err=True)
    return description


def check_address(url: str | None, option: str) -> None:
    """Raise BadParameter for the URL of an option that is not the address of a service."""
    from faultspec_conformance.session.discovery import address_problem

    unfit = None if url is None else address_problem(url)
    if unfit is not None:
        message = f"the URL is not the address of a service: {unfit}"
        raise click.BadParameter(message, param_hint=option)


def parse_outputs(values: tuple[str, ...]) -> list[tuple[str, Path]]:
    """The formats and files of `--report`. Raises BadParameter."""
    found = []
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or name not in FORMATS or not path:
            message = f"{value!r} is not FORMAT=FILE with a format of {', '.join(FORMATS)}"
            raise click.BadParameter(message, param_hint="--report")
        found.append((name, Path(path)))
    return found


def parse_coverage(value: str | None) -> "RequiredCoverage | None":
    """The requirement of `--require-coverage`. Raises BadParameter."""
    from faultspec_conformance.results.required_coverage import parse_required_coverage

    wanted = None if value is None else parse_required_coverage(value)
    if value is not None and wanted is None:
        message = (
            f"{value!r} is neither `all`, nor a percentage such as 90%, nor codes such as "
            "timeout,conflict"
        )
        raise click.BadParameter(message, param_hint="--require-coverage")
    return wanted


def load_reports(paths: Iterable[str]) -> "dict[str, Report]":
    """Read the JSON reports of a merge. Raises Refused."""
    found = {}
    length = 0
    for path in paths:
        found[path] = load_report(path)
        length += os.stat(path).st_size
        if length > _MERGED_BYTES:
            print_error(
                "file-too-large",
                f"the reports up to {path} have more than {_MERGED_BYTES // 1024**2} MiB together",
                "split the run into fewer shards",
            )
            raise Refused
    return found


def load_report(path: str) -> "Report":
    """Read a JSON report. Raises Refused."""
    from faultspec_conformance.reports import reading

    try:
        return reading.read_report(_read_text(path))  # which forgets the text when it is parsed
    except reading.ReportError as error:
        print_error(
            "no-report",
            f"{path}: {error}",
            "give a report of `faultspec conform --report json=FILE`",
        )
    raise Refused


def _read_text(path: str) -> str:
    """The text of a file. Raises Refused."""
    from faultspec import source

    try:
        text, found = source.decode(source.read_bytes(path, REPORT_BYTES), path)
    except source.SourceError as error:
        text, found = None, [*error.diagnostics]
    print_diagnostics(found, {})
    return text or ""


def complete(report: "Report", baseline: str | None, wanted: "RequiredCoverage | None") -> "Report":
    """Compare a report with the baseline, and add missing coverage to its failures. Raises
    Refused.
    """
    from dataclasses import replace

    from faultspec_conformance.results.baseline import compare_with_baseline
    from faultspec_conformance.results.required_coverage import missing_coverage

    result = report.result
    if baseline is not None:
        before = load_report(baseline)
        if before.result.taxonomy.rpartition(" ")[0] != result.taxonomy.rpartition(" ")[0]:
            print_error(
                "no-baseline",
                (
                    f"{baseline} is a report by {before.result.taxonomy}, but this one is by "
                    f"{result.taxonomy}"
                ),
            )
            raise Refused
        result = compare_with_baseline(result, before.result)
    if wanted is not None:
        result = replace(result, failures=(*result.failures, *missing_coverage(result, wanted)))
    return replace(report, result=result)


def write_report(report: "Report", files: list[tuple[str, Path]], format_name: str) -> int:
    """Write a report to files and to standard output. Returns the exit code.

    A file that cannot be written keeps its content and is named; the rest is written.
    """
    from faultspec_conformance.reports import FORMATS as PRINTERS
    from faultspec_conformance.reports.console import text as table
    from faultspec_conformance.reports.private_file import write_private
    from faultspec_conformance.results.model import exit_code

    report = mask_report(report)
    written = True
    for name, path in files:
        try:
            printed = PRINTERS[name](report)
            write_private(path, printed)
        except OSError as error:
            print_error("file-unwritable", f"{path}: {error.strerror}")
            written = False
        else:
            click.echo(f"wrote {path}", err=True)
            if name == "json" and len(printed.encode()) > REPORT_BYTES:
                limit = f"{REPORT_BYTES // 1024**2} MiB"
                click.echo(f"note: no command reads a report of more than {limit}", err=True)
    if format_name == "text":
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        click.echo(table(report, colour=colour), bypass_masks(sys.stdout), nl=False)
    else:
        click.echo(PRINTERS[format_name](report), bypass_masks(sys.stdout), nl=False)
    if report.interrupted:
        return INTERRUPTED
    return exit_code(report.result) if written else COULD_NOT
