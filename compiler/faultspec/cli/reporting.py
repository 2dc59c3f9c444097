"""What `conform` and `report` share: the options that say where a report goes, and the way there."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultspec.diagnostics.printers import text

if TYPE_CHECKING:
    from faultspec.diagnostics.model import Diagnostic
    from faultspec.language.model import Taxonomy
    from faultspec.openapi.service import Description
    from faultspec_conformance.results.model import Report
    from faultspec_conformance.results.required_coverage import RequiredCoverage

#: Exit code of what could not run.
COULD_NOT = 2

#: Exit code of what somebody stopped, as shells have it: 128 and the number of SIGINT.
INTERRUPTED = 130

FORMATS = ("text", "json", "github", "sarif", "junit", "markdown", "html")

report_option = click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORMAT=FILE",
    help=f"Also write a report ({', '.join(FORMATS)}); may be repeated.",
)
format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="What is written to standard output.",
)
baseline_option = click.option(
    "--baseline",
    type=click.Path(),
    metavar="REPORT",
    help="An earlier JSON report: only what it does not have fails.",
)
coverage_option = click.option(
    "--require-coverage",
    "coverage",
    metavar="all|PERCENT%|CODE,…",
    help="Fail when a code was not observed: any that can be, too many of them, or one of those named.",
)


class Refused(Exception):
    """There will be no report; what is wrong has been said."""


def say(code: str, message: str, hint: str | None = None) -> None:
    """An error of the command line, to standard error."""
    click.echo(f"error[{code}]: {message}" + (f"\n  = hint: {hint}" if hint else ""), err=True)


def told(diagnostics: Iterable["Diagnostic"], sources: Mapping[str, str]) -> None:
    """Diagnostics, to standard error; raises Refused where one is an error."""
    found = tuple(diagnostics)
    click.echo(text(found, sources), err=True, nl=False)
    if any(each.severity == "error" for each in found):
        raise Refused


def taxonomy(path: str | None) -> "Taxonomy":
    """The taxonomy of a file, or of the one that stands here; raises UsageError where there is none, Refused where it is wrong."""
    from faultspec.language import load

    if path is None and not Path("taxonomy.yaml").is_file():
        raise click.UsageError(
            "there is no taxonomy.yaml here; say by which to judge with --taxonomy FILE"
        )
    loaded = load(path or "taxonomy.yaml")
    told(
        (diagnostic for diagnostic in loaded.diagnostics if diagnostic.severity == "error"),
        loaded.sources,
    )
    if loaded.taxonomy is None:
        raise Refused
    return loaded.taxonomy


def description(path: str | None) -> "Description | None":
    """What an OpenAPI document says, where one is given; raises Refused."""
    from faultspec.openapi.service import read
    from faultspec.openapi.text import UnreadableDocument, read_file

    if path is None:
        return None
    try:
        return read(read_file(path))
    except UnreadableDocument as error:
        say("no-openapi", str(error))
        raise Refused from None


def outputs(values: tuple[str, ...]) -> list[tuple[str, Path]]:
    """The formats and files of `--report`; raises BadParameter."""
    found = []
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or name not in FORMATS or not path:
            message = f"{value!r} is not FORMAT=FILE with a format of {', '.join(FORMATS)}"
            raise click.BadParameter(message, param_hint="--report")
        found.append((name, Path(path)))
    return found


def covering(value: str | None) -> "RequiredCoverage | None":
    """What `--require-coverage` asks for; raises BadParameter."""
    from faultspec_conformance.results.required_coverage import required

    wanted = None if value is None else required(value)
    if value is not None and wanted is None:
        message = f"{value!r} is neither `all`, nor a percentage such as 90%, nor codes such as timeout,conflict"
        raise click.BadParameter(message, param_hint="--require-coverage")
    return wanted


def earlier(path: str) -> "Report":
    """The report in a file; raises Refused."""
    from faultspec_conformance.reports.reading import ReportError, read_report

    try:
        return read_report(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        say("file-unreadable", f"{path}: {error.strerror}")
    except (ReportError, UnicodeDecodeError) as error:
        say(
            "no-report",
            f"{path}: {error}",
            "give what `faultspec conform --report json=FILE` wrote",
        )
    raise Refused


def finished(report: "Report", baseline: str | None, wanted: "RequiredCoverage | None") -> "Report":
    """The report compared with the baseline, and with what coverage lacks among its failures; raises Refused."""
    from dataclasses import replace

    from faultspec_conformance.results.merge import compared
    from faultspec_conformance.results.required_coverage import uncovered

    result = report.result
    if baseline is not None:
        before = earlier(baseline)
        if before.result.taxonomy.rpartition(" ")[0] != result.taxonomy.rpartition(" ")[0]:
            say(
                "no-baseline",
                f"{baseline} is a report by {before.result.taxonomy}, and this one by {result.taxonomy}",
            )
            raise Refused
        result = compared(result, before.result)
    if wanted is not None:
        result = replace(result, failures=(*result.failures, *uncovered(result, wanted)))
    return replace(report, result=result)


def emit(report: "Report", files: list[tuple[str, Path]], format_name: str) -> int:
    """Write the report to its files and to standard output; the exit code that it stands for."""
    from faultspec_conformance.reports import FORMATS as PRINTERS
    from faultspec_conformance.reports.console import text as table
    from faultspec_conformance.results.model import exit_code

    for name, path in files:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(PRINTERS[name](report), encoding="utf-8")
        except OSError as error:
            say("file-unwritable", f"{path}: {error.strerror}")
            return COULD_NOT
        click.echo(f"wrote {path}", err=True)
    if format_name == "text":
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        click.echo(table(report, colour=colour), nl=False)
    else:
        click.echo(PRINTERS[format_name](report), nl=False)
    return INTERRUPTED if report.interrupted else exit_code(report.result)
