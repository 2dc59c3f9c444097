"""``faultspec conform``: judge a live service."""

import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultspec.cli.extra import conformance
from faultspec.diagnostic import Diagnostic
from faultspec.language.grammar import closest
from faultspec.printers import text

if TYPE_CHECKING:
    from faultspec.language.model import Taxonomy
    from faultspec_conformance.target import Target
    from faultspec_conformance.waivers import Waiver

#: Exit code of what could not run.
_COULD_NOT = 2

#: Exit code of what somebody stopped, as shells have it: 128 and the number of SIGINT.
_INTERRUPTED = 130

_FORMATS = ("text", "json", "junit", "html")


class _Refused(Exception):
    """The run cannot begin; what is wrong has been said."""


@click.command(name="conform")
@click.argument("target", metavar="CONFIG|URL")
@click.option(
    "--taxonomy",
    "taxonomy_path",
    type=click.Path(),
    help="The taxonomy; default: the configuration's, else taxonomy.yaml here.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="What generated values and traffic start from."
)
@click.option("--no-sweep", is_flag=True, help="Probes only, without generated traffic.")
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORMAT=FILE",
    help=f"Also write a report ({', '.join(_FORMATS)}); may be repeated.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="What is written to standard output.",
)
@click.option(
    "--require-coverage", is_flag=True, help="Fail when a code was neither observed nor declared not provokable."
)
@click.option(
    "--client", "watching", is_flag=True, help="Watch the clients of the configuration, in place of a service."
)
@click.option("--only", metavar="PATTERN", help="Only clauses whose address matches, such as 'headers/*'.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="With a URL: a header of the caller, such as a token; may be repeated.",
)
@click.option("--openapi", help="With a URL: the OpenAPI document, a path under it, a URL or a file.")
def command(
    target: str,
    taxonomy_path: str | None,
    seed: int,
    no_sweep: bool,
    reports: tuple[str, ...],
    format_name: str,
    require_coverage: bool,
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
    from faultspec.clauses import clauses_of, clauses_of_clients
    from faultspec_conformance.clients import watch
    from faultspec_conformance.reports import FORMATS
    from faultspec_conformance.run import Options, Unreachable, quiet, run
    from faultspec_conformance.verdict import exit_code

    outputs = [_output(each) for each in reports]
    bare = re.match(r"https?://", target) is not None
    if not bare and (headers or openapi):
        raise click.UsageError(
            "--header and --openapi go with a URL; in a configuration they stand under `identities` and `target`"
        )
    if bare and watching:
        raise click.UsageError("--client goes with a configuration that says how a client is run, under `client`")
    try:
        described, waivers, taxonomy = (
            _bare(target, headers, openapi, taxonomy_path) if bare else _configured(target, taxonomy_path)
        )
    except _Refused:
        return _COULD_NOT
    if watching and not described.clients:
        raise click.UsageError(f"{target} says nothing of `client`, so there is nothing to watch")
    if not watching and not described.http:
        raise click.UsageError(f"{target} says nothing of `target`; for its clients give --client")
    if only is not None and not _matched(only, (clauses_of_clients if watching else clauses_of)(taxonomy)):
        return _COULD_NOT
    progress = _progress() if sys.stderr.isatty() else quiet
    options = Options(seed=seed, sweep=not (no_sweep or bare), only=only, waivers=waivers, progress=progress)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what the file starts is ended whatever ends the run
    report = (watch if watching else run)(described, taxonomy, options)
    if progress is not quiet:
        click.echo("\r\x1b[K", err=True, nl=False)
    if isinstance(report, Unreachable):
        hint = report.hint or f"is the service running at {described.http}?"
        click.echo(f"error[unreachable]: {report.reason}\n  = hint: {hint}", err=True)
        return _COULD_NOT
    for name, path in outputs:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(FORMATS[name](report), encoding="utf-8")
        except OSError as error:
            click.echo(f"error[file-unwritable]: {path}: {error.strerror}", err=True)
            return _COULD_NOT
        click.echo(f"wrote {path}", err=True)
    if format_name == "text":
        from faultspec_conformance.reports.console import text as table

        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        click.echo(table(report, colour=colour), nl=False)
    else:
        click.echo(FORMATS[format_name](report), nl=False)
    if require_coverage:
        for each in report.result.unobserved:
            click.echo(f"error[not-covered]: {each.code} was not observed: {each.reason}", err=True)
    return _INTERRUPTED if report.interrupted else exit_code(report.result, require_coverage=require_coverage)


def _matched(only: str, clauses: Collection[str]) -> bool:
    """Whether the pattern matches a clause, after saying so if it matches none."""
    if any(fnmatchcase(each, only) for each in clauses):
        return True
    families = tuple(dict.fromkeys(f"{each.partition('/')[0]}/*" for each in clauses))
    hint = closest(only, (*families, *clauses)) or f"the families of clauses are {', '.join(families)}"
    click.echo(f"error[unknown-clause]: no clause matches {only!r}\n  = hint: {hint}", err=True)
    return False


def _output(value: str) -> tuple[str, Path]:
    name, equals, path = value.partition("=")
    if not equals or name not in _FORMATS or not path:
        raise click.BadParameter(
            f"{value!r} is not FORMAT=FILE with a format of {', '.join(_FORMATS)}", param_hint="--report"
        )
    return name, Path(path)


def _configured(path: str, taxonomy_path: str | None) -> tuple["Target", tuple["Waiver", ...], "Taxonomy"]:
    from faultspec import language
    from faultspec_conformance import target as configuration
    from faultspec_conformance import waivers as known

    loaded = configuration.read(path)
    found = list(loaded.diagnostics)
    sources = dict(loaded.sources)
    taxonomy, waivers = None, known.Loaded()
    if loaded.draft is not None and loaded.document is not None:
        named = taxonomy_path or loaded.draft.taxonomy
        if named is not None:
            read = language.load(named)
            taxonomy = read.taxonomy
            sources |= read.sources
            found += [each for each in read.diagnostics if each.severity == "error"]
        elif not any(each.pointer == ("taxonomy",) for each in found):
            message = "the configuration says nothing of `taxonomy`"
            hint = "add `taxonomy: taxonomy.yaml`, or give --taxonomy"
            found.append(loaded.document.diagnostic("missing-key", message, (), hint=hint))
        if loaded.draft.waivers is not None:
            waivers = known.read(loaded.draft.waivers)
            sources |= waivers.sources
            found += waivers.diagnostics
        if taxonomy is not None:
            found += configuration.problems(loaded.draft, taxonomy, loaded.document)
            found += known.problems(waivers, taxonomy)
    _say(found, sources)
    if loaded.target is None or taxonomy is None or any(each.severity == "error" for each in found):
        raise _Refused
    return loaded.target, waivers.waivers, taxonomy


def _bare(
    url: str, headers: Sequence[str], openapi: str | None, taxonomy_path: str | None
) -> tuple["Target", tuple["Waiver", ...], "Taxonomy"]:
    from faultspec_conformance.target import Identity, Target

    named = taxonomy_path or "taxonomy.yaml"
    if taxonomy_path is None and not Path(named).is_file():
        raise click.UsageError("there is no taxonomy.yaml here; say by which to judge with --taxonomy FILE")
    shown = []
    for each in headers:
        name, colon, value = each.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name.strip()) or re.search(r"[\r\n\0]", value):
            raise click.BadParameter(f"{each!r} is not NAME:VALUE", param_hint="--header")
        shown.append((name.strip(), value.strip()))
    secrets = tuple(
        (value.partition(" ")[2] or value, "${" + name.upper().replace("-", "_") + "}") for name, value in shown
    )
    caller = {"caller": Identity("caller", tuple(shown), tuple(shown), secrets=secrets)} if shown else {}
    file = openapi if openapi is not None and Path(openapi).is_file() else None
    target = Target(http=url.rstrip("/"), openapi=None if file else openapi, openapi_file=file, identities=caller)
    return target, (), _taxonomy(named)


def _taxonomy(path: str) -> "Taxonomy":
    from faultspec.language import load

    loaded = load(path)
    _say([each for each in loaded.diagnostics if each.severity == "error"], loaded.sources)
    if loaded.taxonomy is None:
        raise _Refused
    return loaded.taxonomy


def _say(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> None:
    click.echo(text(diagnostics, sources), err=True, nl=False)


def _progress() -> Callable[[str], None]:
    return lambda name: click.echo(f"\r\x1b[K{name} …", err=True, nl=False)
