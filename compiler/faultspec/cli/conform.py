"""``faultspec conform``: judge a running service, or clients."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

import click

from faultspec.cli import PROGRAM, reporting, secrets
from faultspec.cli.extra import require_conformance
from faultspec.cli.interruption import (
    INTERRUPTED,
    LONGEST_COMPUTING,
    end_by_interrupt,
    limit_computing,
)
from faultspec.cli.reporting import COULD_NOT, Refused
from faultspec.cli.supervision import INTERRUPTION, supervise
from faultspec.diagnostics.model import Diagnostic
from faultspec.language.grammar import closest

if TYPE_CHECKING:
    from faultspec.language.model import Taxonomy
    from faultspec.source import Document
    from faultspec_conformance.config import ServiceConfig
    from faultspec_conformance.results.model import Report, Shard
    from faultspec_conformance.results.waivers import Waiver
    from faultspec_conformance.session.options import RunOptions, Unreachable

#: An address as it is typed into a browser: a host with a port, such as `localhost:8000`.
_ADDRESS = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:]+\]):\d+(?:/|$)", re.IGNORECASE)


@click.command(name="conform")
@click.argument("target", required=False, metavar="[CONFIG|URL]")
@click.option(
    "--taxonomy",
    "taxonomy_path",
    type=click.Path(),
    help="The taxonomy; default: the configuration's, else that of faultspec.yaml, else "
    "taxonomy.yaml.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help=(
        "Derive all generated values from this number, to repeat a run. Default: new values in "
        "every run."
    ),
)
@click.option("--no-sweep", is_flag=True, help="Run the probes only, without generated traffic.")
@reporting.report_option
@reporting.format_option
@reporting.baseline_option
@reporting.coverage_option
@click.option(
    "--shard",
    metavar="NUMBER/OF",
    help="Run only this part, such as 2/5; `faultspec report merge` joins the parts.",
)
@click.option(
    "--read-only",
    is_flag=True,
    help="Send only GET, HEAD and OPTIONS, even if the configuration allows more.",
)
@click.option(
    "--rate",
    metavar="N/s",
    help="The most requests to send per second, such as 5/s. Rate limits are not tested then.",
)
@click.option(
    "--requests",
    type=click.IntRange(1),
    help="The most requests to send, even if the configuration allows more.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help="Run at most so long, even if the configuration allows more.",
)
@click.option(
    "--client",
    "watching",
    is_flag=True,
    help="Judge the clients of the configuration, in place of a service.",
)
@click.option(
    "--only",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Judge only matching clauses, such as 'headers/*'; can be repeated.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="With a URL: a header of the caller, such as a token; can be repeated.",
)
@click.option(
    "--openapi", help="With a URL: the OpenAPI document, as a path under it, a URL or a file."
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PATH",
    help="With a URL: a path to ask for, such as /orders/17 or '/orders/{id}'; can be repeated.",
)
def command(
    target: str | None,
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
    patterns: tuple[str, ...],
    headers: tuple[str, ...],
    openapi: str | None,
    paths: tuple[str, ...],
) -> int:
    """Judge a running service by a taxonomy.

    CONFIG is a conformance.yaml; default: those of faultspec.yaml, one after the other. With a URL
    alone, the run sends probes only and writes nothing. The report names the clauses that could not
    be exercised for that reason. Without a taxonomy it learns the shape of the errors, and judges
    by what every service owes.

    Exit codes: 0 nothing failed; 1 something failed; 2 nothing failed, but something could not run,
    no clause was exercised, or the configuration or the taxonomy has errors; 130 the run was
    interrupted, and the report covers the time until then.
    """
    require_conformance()
    from faultspec.contract.clauses import client_clauses, join_patterns, service_clauses
    from faultspec_conformance.config.addresses import plain_address
    from faultspec_conformance.reports import FORMATS
    from faultspec_conformance.reports.reading import latest_report
    from faultspec_conformance.results.waivers import waivers_in_force
    from faultspec_conformance.run.clients import judge_clients
    from faultspec_conformance.run.lost import cut_report, empty_report
    from faultspec_conformance.run.service import run
    from faultspec_conformance.session.options import RunOptions, Unreachable, ignore_progress

    outputs = reporting.parse_outputs(reports)
    required = reporting.parse_coverage(coverage)
    if target is None:
        one_only = bool(outputs or required or shard or baseline or format_name != "text")
        return _judge_declared(one_only=one_only)
    part = _parse_shard(shard)
    is_url = re.match(r"https?://", target) is not None
    if part is not None and (baseline or required):
        raise click.UsageError(
            "--baseline and --require-coverage need the whole run: "
            "give them to `faultspec report merge`"
        )
    _check_target(
        target, is_url=is_url, of_url=bool(headers or openapi or paths), watching=watching
    )
    try:
        loaded = (
            load_url(target, headers, openapi, taxonomy_path, paths=paths)
            if is_url
            else load_config(target, taxonomy_path)
        )
    except Refused:
        return COULD_NOT
    limits = _Limits(read_only, _parse_rate(rate), requests, seconds)
    config = limits.apply(loaded.config)
    _check_key(target, config, watching=watching)
    clauses = (client_clauses if watching else service_clauses)(loaded.taxonomy)
    only = join_patterns(patterns)
    if not match_clauses(only, clauses):
        return COULD_NOT
    progress = _print_progress if sys.stderr.isatty() else ignore_progress
    options = RunOptions(
        seed=seed,
        sweep=not no_sweep and (loaded.learned or not is_url),
        shard=part,
        only=only,
        waivers=waivers_in_force(loaded.waivers, os.environ),
        progress=progress,
    )

    def finish(report: "Report") -> int:
        try:
            completed = reporting.complete(report, baseline, required)
            return reporting.write_report(completed, outputs, format_name)
        except Refused:
            return COULD_NOT

    def judge(announce: Callable[[str, float], None], keep: Callable[[str], None]) -> int:
        if not isolated:
            end_by_interrupt()
        announced = replace(
            options, announce=announce, keep=lambda report: keep(FORMATS["json"](report))
        )
        report = (
            _look(config, announced)
            if loaded.learned
            else (judge_clients if watching else run)(config, loaded.taxonomy, announced)
        )
        announce("report", 0)
        if progress is not ignore_progress:
            click.echo("\r\x1b[K", err=True, nl=False)
        if isinstance(report, Unreachable):
            hint = report.hint or f"is the service running at {plain_address(config.address)}?"
            reporting.print_error("unreachable", report.reason, hint)
            return COULD_NOT
        return finish(report)

    def report_loss(reason: str, kept: Iterable[str]) -> int:
        found = latest_report(kept) or empty_report(config, loaded.taxonomy, options, clauses)
        return finish(replace(cut_report(found, reason), interrupted=reason == INTERRUPTION))

    isolated = _is_program()
    return supervise(judge, report_loss, isolated=isolated)


def _judge_declared(*, one_only: bool) -> int:
    """Judge by every conformance file of the project. Returns the worst exit code. Raises
    UsageError.

    ``one_only``: an option was given that fits one run.
    """
    try:
        project = reporting.load_project()
    except Refused:
        return COULD_NOT
    if project is None or not project.conformance:
        raise click.UsageError(
            "Missing argument '[CONFIG|URL]'. Name a conformance file or a URL, or list the files "
            "under `conformance` in faultspec.yaml."
        )
    files = [project.locate(file) for file in project.conformance]
    if one_only and len(files) > 1:
        raise click.UsageError(
            f"reports and shards are those of one run: name one of {', '.join(files)}"
        )
    codes = []
    for file in files:
        if len(files) > 1:
            click.echo(f"{file}:", err=True)
        codes.append(click.get_current_context().forward(command, target=file))
        if codes[-1] == INTERRUPTED:
            return INTERRUPTED
    # A failure (1) outranks a run that was not possible (2), as in one report.
    return 1 if 1 in codes else max(codes)


def _check_target(target: str, *, is_url: bool, of_url: bool, watching: bool) -> None:
    """Raise UsageError for options that the kind of target excludes. ``of_url``: options of a URL
    are given.
    """
    if _ADDRESS.match(target) and not os.path.exists(target):
        raise click.UsageError(f"{target} is not a file; the URL is http://{target}")
    if not is_url and of_url:
        raise click.UsageError(
            "--header, --openapi and --path need a URL; a configuration has `identities`, `target` "
            "and `resources`"
        )
    if is_url and watching:
        raise click.UsageError("--client needs a configuration with the key `client`")


def _check_key(target: str, config: "ServiceConfig", *, watching: bool) -> None:
    """Raise UsageError if the configuration has nothing to judge."""
    if watching and not config.clients:
        raise click.UsageError(f"{target} has no key `client`, so no client can be judged")
    if not watching and not config.address:
        raise click.UsageError(f"{target} has no key `target`; to judge its clients, give --client")


def _parse_shard(value: str | None) -> "Shard | None":
    from faultspec_conformance.results.model import Shard

    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", value)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"{value!r} is not a part such as 2/5", param_hint="--shard")
    return Shard(int(found[1]), int(found[2]))


def _parse_rate(value: str | None) -> float | None:
    if value is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)/s", value)
    if found is None or not float(found[1]):
        raise click.BadParameter(f"{value!r} is not a rate such as 5/s", param_hint="--rate")
    return float(found[1])


class _Limits(NamedTuple):
    """The limits of the command line."""

    read_only: bool
    rate: float | None
    requests: int | None
    seconds: float | None

    def apply(self, config: "ServiceConfig") -> "ServiceConfig":
        """The configuration with the stricter of its own limits and these."""
        own = config.limits
        rates = [rate for rate in (own.rate, self.rate) if rate is not None]
        limits = replace(
            own,
            requests=min(own.requests, self.requests or own.requests),
            seconds=min(own.seconds, self.seconds or own.seconds),
            writes=own.writes and not self.read_only,
            rate=min(rates, default=None),
        )
        return replace(config, limits=limits)


def match_clauses(only: str | None, clauses: Collection[str]) -> bool:
    """Whether each joined pattern, if any, matches a clause. If not, an error is printed."""
    if only is None:
        return True
    unmatched = (
        pattern
        for pattern in only.split(",")
        if not any(fnmatchcase(clause, pattern) for clause in clauses)
    )
    pattern = next(unmatched, None)
    if pattern is None:
        return True
    families = tuple(dict.fromkeys(f"{clause.partition('/')[0]}/*" for clause in clauses))
    hint = closest(pattern, (*families, *clauses)) or f"the families are {', '.join(families)}"
    reporting.print_error("unknown-clause", f"{pattern!r} matches no clause", hint)
    return False


class _Loaded(NamedTuple):
    """The inputs of a run. ``learned``: there is no taxonomy, and the run learns one first."""

    config: "ServiceConfig"
    waivers: tuple["Waiver", ...]
    taxonomy: "Taxonomy"
    learned: bool = False


@limit_computing(LONGEST_COMPUTING)
def load_config(path: str, taxonomy_path: str | None) -> _Loaded:
    """Load a configuration with its taxonomy and waivers. Raises Refused after printing what is
    wrong.
    """
    from faultspec import language
    from faultspec_conformance.config import check_config, read_config
    from faultspec_conformance.results.waivers import LoadedWaivers, check_waivers, read_waivers

    loaded = read_config(path)
    secrets.remember(loaded.secrets)
    found = list(loaded.diagnostics)
    sources = dict(loaded.sources)
    taxonomy, waivers = None, LoadedWaivers()
    if loaded.draft is not None and loaded.document is not None:
        document, draft = loaded.document, loaded.draft
        name = taxonomy_path or draft.taxonomy
        if name is not None:
            read = language.load(name)
            taxonomy = read.taxonomy
            sources |= read.sources
            errors = [each for each in read.diagnostics if each.severity == "error"]
            found += errors if taxonomy_path else _relocate(errors, document, "taxonomy", name)
        elif not any(diagnostic.pointer == ("taxonomy",) for diagnostic in found):
            hint = "add `taxonomy: taxonomy.yaml`, or give --taxonomy"
            found.append(document.diagnostic("missing-key", "`taxonomy` is missing", (), hint=hint))
        if draft.waivers is not None:
            waivers = read_waivers(draft.waivers)
            sources |= waivers.sources
            found += _relocate(waivers.diagnostics, document, "waivers", draft.waivers)
        if taxonomy is not None:
            found += check_config(draft, taxonomy, document)
            found += check_waivers(waivers, taxonomy)
    reporting.print_diagnostics(found, sources)
    if loaded.target is None or taxonomy is None:
        raise Refused
    return _Loaded(loaded.target, waivers.waivers, taxonomy)


def _relocate(
    diagnostics: Iterable[Diagnostic], document: "Document", key: str, path: str
) -> Iterator[Diagnostic]:
    """The diagnostics of a file. A missing file is reported at the key of the configuration that
    names it.
    """
    for diagnostic in diagnostics:
        if diagnostic.code == "file-not-found" and diagnostic.path == path:
            message = f"the file {path} does not exist"
            yield document.diagnostic(
                diagnostic.code, message, (key,), key=False, hint=diagnostic.hint
            )
        else:
            yield diagnostic


def load_url(
    url: str,
    headers: Sequence[str],
    openapi: str | None,
    taxonomy_path: str | None,
    paths: Sequence[str] = (),
) -> _Loaded:
    """The inputs for a URL. Raises Refused and BadParameter."""
    config = configure_url(url, headers, openapi, paths)
    path = reporting.find_taxonomy() if taxonomy_path is None else taxonomy_path
    if path is not None:
        return _Loaded(config, (), reporting.load_taxonomy(path))
    from faultspec_conformance.learning.first import any_body

    return _Loaded(config, (), any_body(), learned=True)


def configure_url(
    url: str, headers: Sequence[str], openapi: str | None, paths: Sequence[str] = ()
) -> "ServiceConfig":
    """The configuration of a URL, under which nothing is written. Raises BadParameter."""
    from faultspec_conformance.config import (
        Identity,
        ServiceConfig,
        find_address_secrets,
        name_variable,
        secret_of,
    )

    fields = tuple(map(parse_header, headers))
    hidden = tuple((secret_of(name, value), name_variable(name)) for name, value in fields)
    caller = Identity("caller", fields, secrets=hidden)
    for path in paths:
        _check_path(path)
    is_file = openapi is not None and os.path.isfile(openapi)
    return ServiceConfig(
        http=url.rstrip("/"),
        openapi=None if is_file else openapi,
        openapi_file=openapi if is_file else None,
        identities={"caller": caller} if fields else {},
        secrets=(*find_address_secrets(url), *find_address_secrets(openapi or "")),
        paths=tuple(paths),
    )


def _look(config: "ServiceConfig", options: "RunOptions") -> "Report | Unreachable":
    # A run with a taxonomy needs no importer.
    from faultspec_conformance.run.first_look import look

    return look(config, options)


def parse_header(header: str) -> tuple[str, str]:
    """The name and the value of a header on the command line. Raises BadParameter."""
    name, colon, value = header.partition(":")
    is_name = re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name.strip())
    if not colon or not is_name or re.search(r"[\r\n\0]", value):
        # Without its name, all of it may be a token, so it is not quoted.
        message = "a header is NAME:VALUE, in one line, and its name has no spaces"
        raise click.BadParameter(message, param_hint="--header")
    return name.strip(), value.strip()


def _check_path(path: str) -> None:
    from faultspec_conformance.config.form import PATH_PATTERN

    if re.fullmatch(PATH_PATTERN, path) is None:
        # It may have a token in its query, so it is not quoted.
        message = (
            "give a path, such as /orders/17, '/orders/{id}' or 'POST /orders', without host and "
            "other blanks"
        )
        raise click.BadParameter(message, param_hint="--path")


def _is_program() -> bool:
    """Whether this process is the command and nothing else, so that a process of its own can judge
    on its behalf.
    """
    return click.get_current_context().find_root().obj is PROGRAM


def _print_progress(name: str) -> None:
    click.echo(f"\r\x1b[K{name} …", err=True, nl=False)
