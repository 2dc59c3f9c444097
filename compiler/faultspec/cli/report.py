"""``faultspec report``: merge and convert reports."""

from datetime import date

import click

from faultspec.cli import reporting
from faultspec.cli.extra import require_conformance


@click.group(name="report")
def command() -> None:
    """Work with the JSON reports of `faultspec conform`."""


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
    """Merge the JSON reports of all shards of a run. A single report is converted to another
    format.

    Unused waivers, the baseline and the required coverage are judged here, since they need the
    whole run.

    Exit codes: those of `faultspec conform`, and 2 if the reports belong to different runs. A
    missing shard counts as could not run.
    """
    require_conformance()
    from faultspec_conformance.results.merge import Unmergeable, merge_reports

    targets = reporting.parse_outputs(reports)
    wanted = reporting.parse_coverage(coverage)
    try:
        whole = merge_reports(reporting.load_reports(files), date.today())
        return reporting.write_report(
            reporting.complete(whole, baseline, wanted), targets, format_name
        )
    except Unmergeable as error:
        reporting.print_error(
            "unlike-reports", str(error), "merge the reports of the shards of one run"
        )
    except reporting.Refused:
        pass
    return reporting.COULD_NOT
