"""``faultspec compile``: compile a taxonomy to files, or check that the files are up to date."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from faultspec.diagnostics import printers
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import load
from faultspec.render import MANIFEST, Drift, find_drift, listed_targets, rendered_files, write
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
    help="Compile only this target; can be repeated. Default: all.",
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
    help="A folder with templates that replace shipped ones or add targets.",
)
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="Write nothing; print the differences, and exit with 1 if any.",
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

    A compile that fails leaves the folder unchanged. Files of an earlier compile that are no longer
    compiled are removed. Other files are never touched.

    Exit codes: 0 compiled, or up to date with --check; 1 something differs with --check; 2 the
    taxonomy has errors, or a file could not be read or written.
    """
    with no_cyclic_gc():  # a compile creates hardly any cycles, and ends soon
        return _compile(
            taxonomy, names, out, templates=templates, only_check=only_check, style=style
        )


def _compile(
    taxonomy: str,
    names: tuple[str, ...],
    out: str,
    *,
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
    overrides = None if templates is None else Path(templates)
    try:
        targets = _choose_targets(names, overrides)
        chosen = [target.name for target in targets]
        if not names:
            chosen += listed_targets(folder)  # the files of removed targets are removed too
        files = rendered_files(resolved, targets, _portable_path(taxonomy), overrides)
        if only_check:
            drift = find_drift(files, folder, chosen, Path(taxonomy), whole=not names)
            found = () if style == "text" else tuple(_diagnostic(entry, out) for entry in drift)
            _report((*diagnostics, *found), sources, style)
            return _print_drift(drift, out, with_files=style == "text")
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


def _choose_targets(names: Sequence[str], templates: Path | None) -> list[CompileTarget]:
    """The named targets, or all: the shipped ones, then those of the folder of templates."""
    known = dict(SHIPPED)
    if templates is not None:
        known |= targets_in(templates, SHIPPED)
    for name in names:
        if name not in known:
            raise click.UsageError(f"{name!r} is not a target. Targets: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(names or known)]


def _portable_path(path: str) -> str:
    """The path for file headers: the same on every machine, so never absolute."""
    relative = os.path.relpath(path) if os.path.isabs(path) else os.path.normpath(path)
    outside = os.path.isabs(relative) or relative.split(os.sep)[0] == os.pardir
    return (os.path.basename(path) if outside else relative).replace(os.sep, "/")


def _report(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], style: str) -> None:
    """Print diagnostics: machine formats to stdout, text to stderr."""
    if style == "text":
        if diagnostics:
            colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
            click.echo(printers.text(diagnostics, sources, colour=colour), err=True, nl=False)
    else:
        click.echo(printers.PRINTERS[style](diagnostics, sources), nl=False)


def _diagnostic(drift: Drift, out: str) -> Diagnostic:
    """A file that differs, for the machine formats. Only ``--format text`` prints the diff."""
    message = {
        "modified": "the file differs from what the taxonomy compiles to",
        "missing": "the taxonomy compiles to this file, which is missing",
        "stale": "the taxonomy no longer compiles to this file",
        "untracked": "no compile wrote this file",
    }[drift.kind]
    hint = (
        "move or delete it"
        if drift.kind == "untracked"
        else "run `faultspec compile` and review the change"
    )
    return Diagnostic(f"{drift.kind}-file", message, f"{out}/{drift.path}", hint=hint)


def _print_drift(drift: Sequence[Drift], out: str, *, with_files: bool) -> int:
    for entry in drift if with_files else ():
        click.echo(f"{entry.kind}: {out}/{entry.path}")
        if entry.diff:
            click.echo(entry.diff, nl=False)
    if drift:
        untracked = sum(entry.kind == "untracked" for entry in drift)
        if untracked < len(drift):
            differ = f"{len(drift) - untracked} of the files differ"
            click.echo(f"{out}: {differ}; run `faultspec compile` and review the changes", err=True)
        if untracked:
            files = f"{untracked} file{'s' if untracked > 1 else ''} that no compile wrote"
            click.echo(f"{out}: {files}; move or delete them", err=True)
    return 1 if drift else 0
