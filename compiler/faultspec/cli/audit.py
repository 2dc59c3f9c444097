"""``faultspec audit``: judge recorded traffic and logs."""

import re
import sys
from datetime import UTC, datetime
from typing import Literal

import click

from faultspec.cli import observing, reporting
from faultspec.cli.extra import require_conformance
from faultspec.cli.reporting import COULD_NOT, Refused

_RECORDINGS = ("har", "vcr", "ndjson", "csv", "parquet")


def _parse_moment(_: click.Context, option: click.Parameter, text: str | None) -> str | None:
    if text is None:
        return None
    require_conformance()
    from faultspec_conformance.observed.formats.moments import parse_bound

    moment = parse_bound(text, datetime.now(UTC))
    if moment is None:
        raise click.BadParameter(
            f"{text!r} is not a date (2026-11-28), a date and time (2026-11-28T16:00Z) or a "
            "duration before now (90m, 24h, 7d)",
            param=option,
        )
    return moment


def _parse_share(_: click.Context, option: click.Parameter, text: str) -> float:
    number = re.fullmatch(r"(\d{1,3}(?:\.\d{1,9})?)\s*%", text)
    share = float(number[1]) / 100 if number else 0.0
    if not 0 < share <= 1:
        message = f"{text!r} is not a share of the records, such as 1% or 0.1%"
        raise click.BadParameter(message, param=option)
    return share


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
@click.option(
    "--since",
    metavar="TIME",
    callback=_parse_moment,
    help="Judge records from this moment on: 2026-11-28, 2026-11-28T16:00Z, or 24h before now.",
)
@click.option(
    "--until",
    metavar="TIME",
    callback=_parse_moment,
    help="Judge records before this moment.",
)
@click.option(
    "--sample",
    metavar="SHARE",
    default="100%",
    show_default=True,
    callback=_parse_share,
    help="Judge a share of the records, such as 1%, and say what that shows of all.",
)
@click.option(
    "--engine",
    type=click.Choice(["plain", "duckdb", "spark"]),
    default="duckdb",
    show_default=True,
    help="`duckdb` judges equal rows of Parquet together, `plain` each by itself; `spark` shares "
    "the files among the workers of Apache Spark. The report is the same.",
)
@click.option(
    "--master",
    metavar="URL",
    help="The cluster of --engine spark: spark://host:7077, yarn, k8s://…; default: this machine.",
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
    since: str | None,
    until: str | None,
    sample: float,
    engine: Literal["plain", "duckdb", "spark"],
    master: str | None,
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
    from faultspec_conformance.observed.spark import SparkTrouble

    _check_engine(files, engine, master, jobs)
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
        since=since,
        until=until,
        sample=sample,
        engine=engine,
        master=master,
        progress=_progress if watched else None,
    )
    try:
        report = audit(files, basis.contract, options)
    except SparkTrouble as trouble:
        click.echo(f"error: {trouble}", err=True)
        return COULD_NOT
    if watched:
        click.echo("\r\x1b[K", err=True, nl=False)
    try:
        return reporting.write_report(
            reporting.complete(report, baseline, wanted), files_out, format_name
        )
    except Refused:
        return COULD_NOT


def _check_engine(files: tuple[str, ...], engine: str, master: str | None, jobs: int) -> None:
    """Raise UsageError for options that do not go together."""
    if master is not None and engine != "spark":
        raise click.UsageError("--master is the cluster of --engine spark")
    if engine == "spark" and jobs > 1:
        raise click.UsageError("--jobs is for this program alone; Spark has --master 'local[2]'")
    if engine == "spark" and "-" in files:
        raise click.UsageError("the workers of Spark cannot read standard input; name files")


def _progress(path: str, share: float, exchanges: int) -> None:
    click.echo(f"\r\x1b[K{path} {share:.0%}, {exchanges:,} exchanges …", err=True, nl=False)
