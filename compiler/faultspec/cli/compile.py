"""``faultspec compile``: the taxonomy into files, or a check that the files are up to date."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from faultspec.diagnostics import printers
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import load
from faultspec.render import MANIFEST, Drift, check, listed_targets, rendered_files, write
from faultspec.source.tree import no_cyclic_gc
from faultspec.targets import SHIPPED, CompileTarget, TargetError
from faultspec.targets.custom import targets_in


@click.command(name="compile")
@click.argument("taxonomy", default="taxonomy.yaml", type=click.Path())
@click.option(
    "--target",
    "names",
    multiple=True,
    metavar="NAME",
    help="Compile this target only; may be repeated. Default: all.",
)
@click.option(
    "--out",
    default="generated",
    type=click.Path(file_okay=False),
    show_default=True,
    help="The output folder.",
)
@click.option(
    "--templates",
    type=click.Path(file_okay=False),
    help="A folder of templates that override shipped ones or add targets.",
)
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="Write nothing; print what differs, and exit with 1 if anything does.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(list(printers.PRINTERS)),
    default="text",
    show_default=True,
    help="How to print diagnostics.",
)
def command(
    taxonomy: str,
    names: tuple[str, ...],
    out: str,
    templates: str | None,
    only_check: bool,
    style: str,
) -> int:
    """Compile TAXONOMY (default: taxonomy.yaml) into the output folder.

    A compile that fails leaves the folder as it was. Files that an earlier compile wrote and this one does not are
    removed; files it did not write are never touched.

    Exit codes: 0 compiled, or with --check up to date; 1 with --check something differs; 2 the taxonomy cannot be read whole, or
    something could not be read or written.
    """
    with no_cyclic_gc():  # what is made of a taxonomy are values, and soon there is an end of it
        return _compile(taxonomy, names, out, templates, only_check, style)


def _compile(
    taxonomy: str,
    names: tuple[str, ...],
    out: str,
    templates: str | None,
    only_check: bool,
    style: str,
) -> int:
    loaded = load(taxonomy)
    resolved, diagnostics, sources = loaded.taxonomy, loaded.diagnostics, loaded.sources
    if resolved is None:
        _report(diagnostics, sources, style)
        return 2
    del loaded  # the parsed file takes 46 MB at 10,000 codes
    folder = Path(out)
    try:
        targets = _chosen(names, None if templates is None else Path(templates))
        chosen = [target.name for target in targets]
        if not names:
            chosen += listed_targets(folder)  # those of a target that is no more are nobody's
        files = rendered_files(
            resolved,
            targets,
            _relative(taxonomy),
            None if templates is None else Path(templates),
        )
        if only_check:
            drift = check(files, folder, chosen, Path(taxonomy), whole=not names)
            found = () if style == "text" else tuple(_diagnostic(each, out) for each in drift)
            _report((*diagnostics, *found), sources, style)
            return _print_drift(drift, out, by_file=style == "text")
        done = write(files, folder, chosen)
    except TargetError as error:
        _report((*diagnostics, error.diagnostic), sources, style)
        return 2
    _report(diagnostics, sources, style)
    if done.written or done.removed:
        written = sum(path != MANIFEST for path in done.written)
        removed = f", removed {len(done.removed)}" if done.removed else ""
        click.echo(f"{out}: wrote {written} of {done.total} files{removed}", err=True)
    else:
        click.echo(f"{out}: {done.total} files are up to date", err=True)
    return 0


def _chosen(names: Sequence[str], templates: Path | None) -> list[CompileTarget]:
    """The targets asked for, or all: the shipped ones, then those that the folder of templates adds."""
    known = dict(SHIPPED)
    if templates is not None:
        known |= targets_in(templates, SHIPPED)
    for name in names:
        if name not in known:
            raise click.UsageError(f"There is no target {name!r}. Targets: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(names or known)]


def _relative(path: str) -> str:
    """The path as a header names it: the same on every machine, so never an absolute one."""
    relative = os.path.relpath(path) if os.path.isabs(path) else os.path.normpath(path)
    outside = os.path.isabs(relative) or relative.split(os.sep)[0] == os.pardir
    return (os.path.basename(path) if outside else relative).replace(os.sep, "/")


def _report(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], style: str) -> None:
    """Diagnostics are the data of a compile: in a machine's format they go to stdout, for people to stderr."""
    if style == "text":
        if diagnostics:
            colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
            click.echo(printers.text(diagnostics, sources, colour=colour), err=True, nl=False)
    else:
        click.echo(printers.PRINTERS[style](diagnostics, sources), nl=False)


def _diagnostic(drift: Drift, out: str) -> Diagnostic:
    """A file that differs, for a machine: the diff is for people, and for ``--format text``."""
    said = {
        "modified": "the file is not what the taxonomy compiles to",
        "missing": "the taxonomy compiles to a file that is not there",
        "stale": "the taxonomy no longer compiles to this file",
        "untracked": "no compile wrote this file",
    }[drift.kind]
    todo = (
        "move it away, or delete it"
        if drift.kind == "untracked"
        else "run `faultspec compile` and review the change"
    )
    return Diagnostic(f"{drift.kind}-file", said, f"{out}/{drift.path}", hint=todo)


def _print_drift(drift: Sequence[Drift], out: str, *, by_file: bool) -> int:
    for each in drift if by_file else ():
        click.echo(f"{each.kind}: {out}/{each.path}")
        if each.diff:
            click.echo(each.diff, nl=False)
    if drift:
        strange = sum(each.kind == "untracked" for each in drift)
        if strange < len(drift):
            differ = f"{len(drift) - strange} of the files differ"
            click.echo(
                f"{out}: {differ}; run `faultspec compile` and review what changes", err=True
            )
        if strange:
            files = f"{strange} file{'s' if strange > 1 else ''} that no compile wrote"
            click.echo(
                f"{out}: {files}, and none will remove; move them away, or delete them", err=True
            )
    return 1 if drift else 0
