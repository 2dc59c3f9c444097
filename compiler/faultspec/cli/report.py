"""``faultspec report``: merge and convert reports."""

from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

import click

from faultspec.cli import reporting
from faultspec.cli.extra import require_conformance

if TYPE_CHECKING:
    from faultspec_conformance.results.model import Report


@click.group(name="report")
def command() -> None:
    """Work with the JSON reports of `faultspec conform` and of audits."""


@command.command(name="merge")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@reporting.report_option
@reporting.format_option
@reporting.baseline_option
@reporting.coverage_option
def merge(
    files: tuple[str, ...],
    reports: tuple[str, ...],
    format_name: str,
    baseline: str | None,
    coverage: str | None,
) -> int:
    """Merge the JSON reports of all shards of a run, or of any parts of observed traffic (`audit`,
    `proxy`, `pytest`). A single report is converted to another format.

    Unused waivers, the baseline and the required coverage are judged here, since they need the
    whole run.

    The result of parts is that of one run over all of them, but for ids: they are compared within
    a recording only.

    Exit codes: those of `faultspec conform`, and 2 if the reports belong to different runs. A
    missing shard counts as could not run.
    """
    require_conformance()
    from faultspec_conformance.results.merge import Unmergeable

    targets = reporting.parse_outputs(reports)
    wanted = reporting.parse_coverage(coverage)
    try:
        whole = _merge_all(files)
        return reporting.write_report(
            reporting.complete(whole, baseline, wanted), targets, format_name
        )
    except Unmergeable as error:
        reporting.print_error(
            "unlike-reports",
            str(error),
            "merge the reports of the shards of one run, or of audits by one taxonomy",
        )
    except reporting.Refused:
        pass
    return reporting.COULD_NOT


def _merge_all(files: tuple[str, ...]) -> "Report":
    """The report of all of them. Raises Unmergeable and Refused."""
    from faultspec_conformance.results.merge import Unmergeable, merge_reports
    from faultspec_conformance.results.recorded import fold_reports

    first = reporting.load_report(files[0])
    if first.result.part is None or len(files) == 1:
        return merge_reports(reporting.load_reports(files), date.today())
    again = next((name for number, name in enumerate(files) if name in files[:number]), None)
    if again is not None:
        raise Unmergeable(f"{again} is named twice")
    others = ((name, reporting.load_report(name)) for name in files[1:])
    return fold_reports(chain([(files[0], first)], others), date.today())
