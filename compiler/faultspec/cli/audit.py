"""``faultspec audit``: judge recorded traffic and logs."""

import os
import sys
from typing import TYPE_CHECKING, Literal

import click

from faultspec.cli import reporting
from faultspec.cli.conform import match_clauses
from faultspec.cli.extra import require_conformance
from faultspec.cli.reporting import COULD_NOT, Refused

if TYPE_CHECKING:
    from faultspec.language.model import Taxonomy
    from faultspec_conformance.results.waivers import Waiver

_RECORDINGS = ("har", "vcr", "ndjson")


@click.command(name="audit")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path())
@click.option(
    "--taxonomy",
    "taxonomy_path",
    type=click.Path(),
    help="The taxonomy to judge by; default: that of faultspec.yaml, else taxonomy.yaml.",
)
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
@click.option(
    "--openapi",
    metavar="FILE",
    help="The service's OpenAPI document, which names operations.",
)
@click.option("--waivers", metavar="FILE", help="Known failures.")
@click.option(
    "--only",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Judge only matching clauses, such as 'leaks/*'; can be repeated.",
)
@click.option(
    "--crashes",
    type=click.Choice(("error", "warning")),
    default="error",
    show_default=True,
    help="What a crash (`service/no-crash`) counts as: tests may bring crashes about.",
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
    reports: tuple[str, ...],
    format_name: str,
    baseline: str | None,
    coverage: str | None,
) -> int:
    """Judge recorded traffic and logs by a taxonomy.

    FILE is an HTTP Archive (HAR), a cassette of VCR, vcrpy or schemathesis, or a log of one JSON
    object a line. The taxonomy declares the kinds of log lines under `telemetry: records:`. Files
    may be compressed with gzip. Nothing is sent. Facts that a recording leaves out are not judged.

    Exit codes: 0 no findings; 1 findings; 2 no findings, but a file could not be read, or no clause
    was exercised.
    """
    require_conformance()
    from faultspec.contract.clauses import join_patterns, service_clauses
    from faultspec.contract.model import build_contract
    from faultspec_conformance.observed.audit import AuditOptions, audit

    files_out = reporting.parse_outputs(reports)
    wanted = reporting.parse_coverage(coverage)
    try:
        taxonomy = reporting.load_taxonomy(taxonomy_path)
        description = reporting.load_description(openapi)
        known = _waivers(waivers, taxonomy) if waivers is not None else ()
    except Refused:
        return COULD_NOT
    only = join_patterns(patterns)
    if not match_clauses(only, service_clauses(taxonomy)):
        return COULD_NOT
    watched = sys.stderr.isatty()
    options = AuditOptions(
        form=form,
        base=base.rstrip("/") if base is not None else None,
        only=only,
        description=description,
        waivers=known,
        crashes=crashes,
        progress=_progress if watched else None,
    )
    report = audit(files, build_contract(taxonomy), options)
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


def _waivers(path: str, taxonomy: "Taxonomy") -> tuple["Waiver", ...]:
    from faultspec_conformance.results import waivers

    loaded = waivers.read_waivers(path)
    found = [*loaded.diagnostics, *waivers.check_waivers(loaded, taxonomy)]
    reporting.print_diagnostics(found, loaded.sources)
    return waivers.waivers_in_force(loaded.waivers, os.environ)
