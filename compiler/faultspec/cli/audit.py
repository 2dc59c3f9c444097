"""``faultspec audit``: judge recorded traffic and logs."""

import sys
from typing import Literal

import click

from faultspec.cli import observing, reporting
from faultspec.cli.extra import require_conformance
from faultspec.cli.reporting import COULD_NOT, Refused

_RECORDINGS = ("har", "vcr", "ndjson", "csv", "parquet")


@click.command(name="audit")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path())
@observing.taxonomy_option
@click.option(
    "--from",
    "form",
    type=click.Choice(_RECORDINGS),
    help="The format of the files; default: detected from each.",
)
@click.option(
    "--base",
    metavar="URL",
    help="Judge only requests to this address; recordings of browsers have others.",
)
@observing.openapi_option
@observing.waivers_option
@observing.only_option
@observing.crashes_option
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="The processes that share files, and ranges of large logs.",
)
@reporting.report_option
@reporting.format_option
@reporting.baseline_option
@reporting.coverage_option
def command(
    files: tuple[str, ...],
    taxonomy_path: str | None,
    form: str | None,
    base: str | None,
    openapi: str | None,
    waivers: str | None,
    patterns: tuple[str, ...],
    crashes: Literal["error", "warning"],
    jobs: int,
    reports: tuple[str, ...],
    format_name: str,
    baseline: str | None,
    coverage: str | None,
) -> int:
    """Judge recorded traffic and logs by a taxonomy.

    FILE is an HTTP Archive (HAR), a cassette of VCR, vcrpy or schemathesis, a log of one record a
    line, or a table (CSV, Parquet); a folder or a pattern of such files; an address such as
    s3://bucket/logs/*.parquet; or - for standard input. The taxonomy declares the kinds of records
    under `telemetry: records:`. Files may be compressed (gzip, bzip2, xz, zstd). Nothing is sent.
    Facts that a recording leaves out are not judged.

    Exit codes: 0 no findings; 1 findings; 2 no findings, but a file could not be read, or no clause
    was exercised.
    """
    require_conformance()
    from faultspec_conformance.observed.audit import AuditOptions, audit

    files_out = reporting.parse_outputs(reports)
    wanted = reporting.parse_coverage(coverage)
    try:
        basis = observing.load_basis(taxonomy_path, openapi, waivers, patterns)
    except Refused:
        return COULD_NOT
    watched = sys.stderr.isatty()
    options = AuditOptions(
        form=form,
        base=base.rstrip("/") if base is not None else None,
        only=basis.only,
        description=basis.description,
        waivers=basis.waivers,
        crashes=crashes,
        jobs=jobs,
        progress=_progress if watched else None,
    )
    report = audit(files, basis.contract, options)
    if watched:
        click.echo("\r\x1b[K", err=True, nl=False)
    try:
        return reporting.write_report(
            reporting.complete(report, baseline, wanted), files_out, format_name
        )
    except Refused:
        return COULD_NOT


def _progress(path: str, share: float, exchanges: int) -> None:
    click.echo(f"\r\x1b[K{path} {share:.0%}, {exchanges:,} exchanges …", err=True, nl=False)
