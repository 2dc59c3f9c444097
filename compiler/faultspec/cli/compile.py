"""``faultspec compile``: compile taxonomies to files, or check that the files are up to date."""

import os
import sys
from collections.abc import Mapping, Sequence

import click

from faultspec.cli.compile_plan import (
    AttributesFile,
    CompiledFolder,
    CompileJob,
    plan_attributes,
    plan_jobs,
    plan_steps,
    refuse_unused_names,
)
from faultspec.cli.project import find_project
from faultspec.diagnostics import printers
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import load
from faultspec.language.model import Taxonomy
from faultspec.render import Drift
from faultspec.source.tree import no_cyclic_gc
from faultspec.targets import TargetError


@click.command(name="compile")
@click.argument("taxonomy", required=False, type=click.Path())
@click.option(
    "--target",
    "names",
    multiple=True,
    metavar="NAME",
    help="Compile only this target; can be repeated. Default: those of faultspec.yaml, else all.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="The output folder. Default: that of faultspec.yaml, else generated.",
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
    taxonomy: str | None,
    names: tuple[str, ...],
    out: str | None,
    templates: str | None,
    only_check: bool,
    style: str,
) -> int:
    """Compile TAXONOMY into the output folder.

    Without TAXONOMY, all taxonomies of faultspec.yaml are compiled, each into its folders. Without
    that file it is taxonomy.yaml. --check without --target checks the targets that the manifest of
    the folder names, unless faultspec.yaml names them.

    A compile that fails leaves the folder unchanged. Files of an earlier compile that are no longer
    compiled are removed. Other files are never touched.

    Exit codes: 0 compiled, or up to date with --check; 1 something differs with --check; 2 a
    taxonomy or faultspec.yaml has errors, or a file could not be read or written.
    """
    around = find_project()
    if around is not None and around.project is None:
        _report(around.diagnostics, around.sources, style)
        return 2
    project = None if around is None else around.project
    jobs = plan_jobs(project, taxonomy, out, templates)
    with no_cyclic_gc():  # a compile creates hardly any cycles, and ends soon
        diagnostics, sources, taxonomies = _load(jobs)
        if len(taxonomies) < len(jobs):
            _report(diagnostics, sources, style)
            return 2
        try:
            folders = [
                CompiledFolder(job, resolved, step)
                for job, resolved in zip(jobs, taxonomies, strict=True)
                for step in plan_steps(job, names, only_check=only_check)
            ]
            refuse_unused_names(names, folders, project)
            outputs: list[CompiledFolder | AttributesFile] = [*folders]
            # With --out, the folders are not those of the project file.
            if project is not None and project.gitattributes and out is None:
                outputs.append(plan_attributes(project))
            if only_check:
                found = {output.name: output.drift() for output in outputs}
                _report_drift(found, diagnostics, sources, style)
                return int(any(found.values()))
            messages = [output.write() for output in outputs]
        except TargetError as error:
            _report((*diagnostics, error.diagnostic), sources, style)
            return 2
    _report(diagnostics, sources, style)
    for message in messages:
        click.echo(message, err=True)
    return 0


def _load(jobs: Sequence[CompileJob]) -> tuple[list[Diagnostic], dict[str, str], list[Taxonomy]]:
    """The diagnostics and the texts of all taxonomies, and the models of those without errors."""
    diagnostics: list[Diagnostic] = []
    sources: dict[str, str] = {}
    taxonomies = []
    for job in jobs:
        loaded = load(job.path)
        diagnostics += loaded.diagnostics
        sources |= loaded.sources
        if loaded.taxonomy is not None:
            taxonomies.append(loaded.taxonomy)
    return diagnostics, sources, taxonomies  # the parsed file takes 46 MB at 10,000 codes


def _report(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], style: str) -> None:
    """Print diagnostics: machine formats to stdout, text to stderr."""
    if style == "text":
        if diagnostics:
            colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
            click.echo(printers.text(diagnostics, sources, colour=colour), err=True, nl=False)
    else:
        click.echo(printers.PRINTERS[style](diagnostics, sources), nl=False)


def _report_drift(
    drift: Mapping[str, Sequence[Drift]],
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    style: str,
) -> None:
    """Print how the outputs differ, by name."""
    files = [entry for entries in drift.values() for entry in entries]
    found = () if style == "text" else tuple(map(_diagnostic, files))
    _report((*diagnostics, *found), sources, style)
    for entry in files if style == "text" else ():
        click.echo(f"{entry.kind}: {entry.path}")
        if entry.diff:
            click.echo(entry.diff, nl=False)
    for name, entries in drift.items():
        untracked = sum(entry.kind == "untracked" for entry in entries)
        if untracked < len(entries):
            differ = f"{len(entries) - untracked} of the files differ"
            click.echo(
                f"{name}: {differ}; run `faultspec compile` and review the changes", err=True
            )
        if untracked:
            count = f"{untracked} file{'s' if untracked > 1 else ''} that no compile wrote"
            click.echo(f"{name}: {count}; move or delete them", err=True)


def _diagnostic(drift: Drift) -> Diagnostic:
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
    return Diagnostic(f"{drift.kind}-file", message, drift.path, hint=hint)
