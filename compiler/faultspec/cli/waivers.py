"""``faultspec waivers``: add and remove entries of a file of waivers by a report."""

import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultspec.cli import reporting
from faultspec.cli.extra import require_conformance
from faultspec.cli.lint import replace_text
from faultspec.cli.reporting import COULD_NOT, Refused
from faultspec.source.whole_file import write_whole

if TYPE_CHECKING:
    from faultspec_conformance.results.waivers import LoadedWaivers

_report_option = click.option(
    "--report", "report_path", required=True, metavar="REPORT", help="A JSON report of the run."
)


@click.group(name="waivers")
def command() -> None:
    """Maintain a file of waivers by the JSON report of a run."""


@command.command(name="update")
@click.argument("path", metavar="FILE", type=click.Path())
@_report_option
@click.option("--flaky", is_flag=True, help="Add flaky findings too, with `flaky: true`.")
def update_waivers(path: str, report_path: str, flaky: bool) -> int:
    """Add an entry to FILE for each failure of REPORT that no waiver covers.

    The reason and the owner of an entry are to be filled in. Entries that expired are named and not
    extended. FILE may be a conformance file with the list under `waivers`.

    Exit codes: 0 the file is up to date; 1 an expired entry is needed; 2 it could not be edited.
    """
    require_conformance()
    from faultspec_conformance.results.waiver_file import NotEditable, add_entries, missing_waivers
    from faultspec_conformance.results.waivers import LoadedWaivers

    try:
        report = reporting.load_report(report_path)
        loaded = _load(path) if os.path.lexists(path) else LoadedWaivers()
        change = missing_waivers(report.result, loaded.waivers, date.today(), flaky=flaky)
        text = add_entries(loaded, change.entries)
        _write(path, loaded, text)
    except NotEditable as error:
        reporting.print_error("not-editable", f"{path}: {error}")
        return COULD_NOT
    except Refused:
        return COULD_NOT
    for entry in change.entries:
        click.echo(f"added {entry}")
    for remark in change.remarks:
        click.echo(remark)
    if not change.entries and not change.remarks:
        click.echo(f"{path} is up to date")
    return int(bool(change.remarks))


@command.command(name="prune")
@click.argument("path", metavar="FILE", type=click.Path())
@_report_option
def prune_waivers(path: str, report_path: str) -> int:
    """Remove the entries of FILE that no finding of REPORT matched.

    An entry stays if its clause was not exercised, if it was not in force in the run, or if it is
    flaky. The report must be of a complete run of all clauses.

    Exit codes: 0 the file is up to date; 2 it could not be edited.
    """
    require_conformance()
    from faultspec_conformance.results.waiver_file import (
        NotEditable,
        find_unmatched,
        remove_entries,
    )

    try:
        report = reporting.load_report(report_path)
        if not report.result.complete or report.only is not None or report.result.shards:
            hint = "run without --only and --shard, within the limits"
            message = f"{report_path} is not the report of a complete run"
            reporting.print_error("incomplete-report", message, hint)
            return COULD_NOT
        loaded = _load(path)
        change = remove_entries(loaded, find_unmatched(report.result, loaded.waivers))
        _write(path, loaded, change.text)
    except NotEditable as error:
        reporting.print_error("not-editable", f"{path}: {error}")
        return COULD_NOT
    except Refused:
        return COULD_NOT
    for entry in change.entries:
        click.echo(f"removed {entry}")
    if not change.entries:
        click.echo(f"{path} is up to date")
    return 0


def _load(path: str) -> "LoadedWaivers":
    """The waivers of a file. Raises Refused after printing its errors."""
    from faultspec_conformance.results.waivers import read_waivers

    loaded = read_waivers(path)
    reporting.print_diagnostics(loaded.diagnostics, loaded.sources)
    return loaded


def _write(path: str, loaded: "LoadedWaivers", text: str) -> None:
    """Write the file, wholly or not at all, if its text changes. Raises Refused."""
    before = None if loaded.document is None else loaded.document.text
    if text == (before or ""):
        return
    if before is None:
        try:
            write_whole(Path(path), text.encode("utf-8"))
            return
        except OSError as error:
            problem: str | None = f"the file cannot be written: {error.strerror or error}"
    else:
        problem = replace_text(path, before, text)
    if problem is not None:
        reporting.print_error("file-unwritable", f"{path}: {problem}")
        raise Refused
