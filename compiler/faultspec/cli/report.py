"""``faultspec report``: what is done with reports once they are there."""

from datetime import date

import click

from faultspec.cli import reporting
from faultspec.cli.extra import conformance


@click.group(name="report")
def command() -> None:
    """Make something of reports that `faultspec conform` wrote."""


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
    """Make one report of the JSON reports of all shards of a run; of one report, the same in another format.

    What only the whole can tell is judged here: waivers that nothing needs, the baseline, the coverage that is required.

    Exit codes: as of `faultspec conform`; 2 too when the reports are not all of one run. A shard without a report could not run.
    """
    conformance()
    from faultspec_conformance.results.merge import Unmergeable, merged

    targets = reporting.outputs(reports)
    wanted = reporting.covering(coverage)
    try:
        whole = merged({path: reporting.earlier(path) for path in files}, date.today())
        return reporting.emit(reporting.finished(whole, baseline, wanted), targets, format_name)
    except Unmergeable as error:
        reporting.say("unlike-reports", str(error), "merge the reports of the shards of one run")
    except reporting.Refused:
        pass
    return reporting.COULD_NOT
