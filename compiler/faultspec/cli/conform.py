"""``faultspec conform``: judge a live service."""

import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultspec.cli import reporting
from faultspec.cli.extra import conformance
from faultspec.cli.reporting import COULD_NOT, Refused
from faultspec.diagnostics.model import Diagnostic
from faultspec.language.grammar import closest

if TYPE_CHECKING:
    from faultspec.language.model import Taxonomy
    from faultspec.source import Document
    from faultspec_conformance.config import ServiceConfig
    from faultspec_conformance.results.model import Shard
    from faultspec_conformance.results.waivers import Waiver


@click.command(name="conform")
@click.argument("target", metavar="CONFIG|URL")
@click.option(
    "--taxonomy",
    "taxonomy_path",
    type=click.Path(),
    help="The taxonomy; default: the configuration's, else taxonomy.yaml here.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="Ask the same again: everything that is made up comes from this number. Default: what must be new is.",
)
@click.option("--no-sweep", is_flag=True, help="Probes only, without generated traffic.")
@reporting.report_option
@reporting.format_option
@reporting.baseline_option
@reporting.coverage_option
@click.option(
    "--shard",
    metavar="NUMBER/OF",
    help="Only this part of the run, such as 2/5; `faultspec report merge` joins them.",
)
@click.option(
    "--read-only",
    is_flag=True,
    help="Nothing but GET, HEAD and OPTIONS, whatever the configuration allows.",
)
@click.option(
    "--rate",
    metavar="N/s",
    help="At most so many requests a second, such as 5/s; no limit is tried out then.",
)
@click.option(
    "--requests",
    type=click.IntRange(1),
    help="At most so many requests, however many the configuration allows.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help="At most so long, however long it allows.",
)
@click.option(
    "--client",
    "watching",
    is_flag=True,
    help="Watch the clients of the configuration, in place of a service.",
)
@click.option(
    "--only", metavar="PATTERN", help="Only clauses whose address matches, such as 'headers/*'."
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="With a URL: a header of the caller, such as a token; may be repeated.",
)
@click.option(
    "--openapi", help="With a URL: the OpenAPI document, a path under it, a URL or a file."
)
def command(
    target: str,
    taxonomy_path: str | None,
    seed: int | None,
    no_sweep: bool,
    reports: tuple[str, ...],
    format_name: str,
    baseline: str | None,
    coverage: str | None,
    shard: str | None,
    read_only: bool,
    rate: str | None,
    requests: int | None,
    seconds: float | None,
    watching: bool,
    only: str | None,
    headers: tuple[str, ...],
    openapi: str | None,
) -> int:
    """Judge a live service by a taxonomy.

    CONFIG is a conformance.yaml. A URL alone is judged without writing anything, by probes only; what could therefore not be
    exercised is said.

    Exit codes: 0 nothing failed, 1 something failed, 2 nothing failed and something could not run or nothing was exercised,
    or the configuration or the taxonomy has errors, 130 the run was interrupted, and the report is of what was seen until
    then.
    """
    conformance()
    from faultspec.contract.clauses import client_clauses, service_clauses
    from faultspec_conformance.drivers.http import shown
    from faultspec_conformance.results.waivers import in_force
    from faultspec_conformance.run.clients import watch
    from faultspec_conformance.run.service import run
    from faultspec_conformance.session.options import RunOptions, Unreachable, quiet

    outputs = reporting.outputs(reports)
    wanted = reporting.covering(coverage)
    part = _shard(shard)
    if part is not None and (baseline or wanted):
        raise click.UsageError(
            "one shard cannot tell: give --baseline and --require-coverage to `faultspec report merge`"
        )
    bare = re.match(r"https?://", target) is not None
    if not bare and (headers or openapi):
        raise click.UsageError(
            "--header and --openapi go with a URL; in a configuration they stand under `identities` and `target`"
        )
    if bare and watching:
        raise click.UsageError(
            "--client goes with a configuration that says how a client is run, under `client`"
        )
    try:
        described, waivers, taxonomy = (
            _bare(target, headers, openapi, taxonomy_path)
            if bare
            else _configured(target, taxonomy_path)
        )
    except Refused:
        return COULD_NOT
    described = _limited(
        described, read_only=read_only, rate=_rate(rate), requests=requests, seconds=seconds
    )
    if watching and not described.clients:
        raise click.UsageError(f"{target} says nothing of `client`, so there is nothing to watch")
    if not watching and not described.address:
        raise click.UsageError(f"{target} says nothing of `target`; for its clients give --client")
    if only is not None and not matched(
        only, (client_clauses if watching else service_clauses)(taxonomy)
    ):
        return COULD_NOT
    progress = _progress() if sys.stderr.isatty() else quiet
    options = RunOptions(
        seed=seed,
        sweep=not (no_sweep or bare),
        shard=part,
        only=only,
        waivers=in_force(waivers, os.environ),
        progress=progress,
    )
    # Who stops a job of CI sends SIGTERM, and who closes a terminal SIGHUP: both end as Ctrl-C does, with a report, and with
    # nothing left running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    hangup = getattr(signal, "SIGHUP", None)  # which Windows has not, and nohup ignores
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        signal.signal(hangup, signal.default_int_handler)
    report = (watch if watching else run)(described, taxonomy, options)
    if progress is not quiet:
        click.echo("\r\x1b[K", err=True, nl=False)
    if isinstance(report, Unreachable):
        hint = report.hint or f"is the service running at {shown(described.address)}?"
        reporting.say("unreachable", report.reason, hint)
        return COULD_NOT
    try:
        return reporting.emit(reporting.finished(report, baseline, wanted), outputs, format_name)
    except Refused:
        return COULD_NOT


def _shard(value: str | None) -> "Shard | None":
    from faultspec_conformance.results.model import Shard

    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", value)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(
            f"{value!r} is no part of a whole such as 2/5", param_hint="--shard"
        )
    return Shard(int(found[1]), int(found[2]))


def _rate(value: str | None) -> float | None:
    if value is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)/s", value)
    if found is None or not float(found[1]):
        raise click.BadParameter(f"{value!r} is no rate such as 5/s", param_hint="--rate")
    return float(found[1])


def _limited(
    target: "ServiceConfig",
    *,
    read_only: bool,
    rate: float | None,
    requests: int | None,
    seconds: float | None,
) -> "ServiceConfig":
    """The target with the stricter of its own limits and these."""
    own = target.limits
    limits = replace(
        own,
        requests=min(own.requests, requests or own.requests),
        seconds=min(own.seconds, seconds or own.seconds),
        writes=own.writes and not read_only,
        rate=min((each for each in (own.rate, rate) if each is not None), default=None),
    )
    return replace(target, limits=limits)


def matched(only: str, clauses: Collection[str]) -> bool:
    """Whether the pattern matches a clause, after saying so if it matches none."""
    if any(fnmatchcase(clause, only) for clause in clauses):
        return True
    families = tuple(dict.fromkeys(f"{clause.partition('/')[0]}/*" for clause in clauses))
    hint = (
        closest(only, (*families, *clauses)) or f"the families of clauses are {', '.join(families)}"
    )
    reporting.say("unknown-clause", f"no clause matches {only!r}", hint)
    return False


def _configured(
    path: str, taxonomy_path: str | None
) -> tuple["ServiceConfig", tuple["Waiver", ...], "Taxonomy"]:
    from faultspec import language
    from faultspec_conformance import config as configuration
    from faultspec_conformance.results import waivers as known

    loaded = configuration.read(path)
    found = list(loaded.diagnostics)
    sources = dict(loaded.sources)
    taxonomy, waivers = None, known.LoadedWaivers()
    if loaded.draft is not None and loaded.document is not None:
        named = taxonomy_path or loaded.draft.taxonomy
        if named is not None:
            read = language.load(named)
            taxonomy = read.taxonomy
            sources |= read.sources
            wrong = [
                diagnostic for diagnostic in read.diagnostics if diagnostic.severity == "error"
            ]
            found += wrong if taxonomy_path else _told(wrong, loaded.document, "taxonomy", named)
        elif not any(each.pointer == ("taxonomy",) for each in found):
            message = "the configuration says nothing of `taxonomy`"
            hint = "add `taxonomy: taxonomy.yaml`, or give --taxonomy"
            found.append(loaded.document.diagnostic("missing-key", message, (), hint=hint))
        if loaded.draft.waivers is not None:
            waivers = known.read(loaded.draft.waivers)
            sources |= waivers.sources
            found += _told(waivers.diagnostics, loaded.document, "waivers", loaded.draft.waivers)
        if taxonomy is not None:
            found += configuration.problems(loaded.draft, taxonomy, loaded.document)
            found += known.problems(waivers, taxonomy)
    reporting.told(found, sources)
    if loaded.target is None or taxonomy is None:
        raise Refused
    return loaded.target, waivers.waivers, taxonomy


def _told(
    diagnostics: Iterable[Diagnostic], document: "Document", key: str, path: str
) -> Iterator[Diagnostic]:
    """What is wrong with a file; that there is none is told where the configuration names it."""
    for diagnostic in diagnostics:
        if diagnostic.code == "file-not-found" and diagnostic.path == path:
            yield document.diagnostic(
                diagnostic.code, f"there is no file {path}", (key,), key=False, hint=diagnostic.hint
            )
        else:
            yield diagnostic


def _bare(
    url: str, headers: Sequence[str], openapi: str | None, taxonomy_path: str | None
) -> tuple["ServiceConfig", tuple["Waiver", ...], "Taxonomy"]:
    from faultspec_conformance.config import Identity, ServiceConfig

    taxonomy = reporting.taxonomy(taxonomy_path)
    shown = []
    for header in headers:
        name, colon, value = header.partition(":")
        if (
            not colon
            or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name.strip())
            or re.search(r"[\r\n\0]", value)
        ):
            raise click.BadParameter(f"{header!r} is not NAME:VALUE", param_hint="--header")
        shown.append((name.strip(), value.strip()))
    secrets = tuple(
        (value.partition(" ")[2] or value, "${" + name.upper().replace("-", "_") + "}")
        for name, value in shown
    )
    caller = (
        {"caller": Identity("caller", tuple(shown), tuple(shown), secrets=secrets)} if shown else {}
    )
    file = openapi if openapi is not None and Path(openapi).is_file() else None
    target = ServiceConfig(
        http=url.rstrip("/"),
        openapi=None if file else openapi,
        openapi_file=file,
        identities=caller,
    )
    return target, (), taxonomy


def _progress() -> Callable[[str], None]:
    return lambda name: click.echo(f"\r\x1b[K{name} …", err=True, nl=False)
