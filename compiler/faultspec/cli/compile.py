"""``faultspec compile``: compile taxonomies to files, or check that the files are up to date."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from faultspec.cli.compile_plan import (
    AttributesFile,
    CompiledFolder,
    CompileJob,
    all_folders,
    plan_attributes,
    plan_jobs,
    plan_steps,
    refuse_unused_names,
)
from faultspec.cli.printing import format_option, print_in_format
from faultspec.cli.project import find_project
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import load
from faultspec.language.model import Taxonomy
from faultspec.project import Project, find_bad_records
from faultspec.render import Drift, settle, transaction
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
    "--force",
    is_flag=True,
    help="Overwrite files that no compile wrote.",
)
@format_option
def command(
    taxonomy: str | None,
    names: tuple[str, ...],
    out: str | None,
    templates: str | None,
    only_check: bool,
    force: bool,
    style: str,
) -> int:
    """Compile TAXONOMY into the output folder.

    Without TAXONOMY, all taxonomies of faultspec.yaml are compiled, each into its folders. Without
    that file it is taxonomy.yaml. --check without --target checks the targets that the manifest of
    the folder names, unless faultspec.yaml names them.

    All output folders are written together: a compile that fails leaves them unchanged, and one
    that is killed is finished by the next compile or check. Files of an earlier compile that are no
    longer compiled are removed. Other files stay: a compile that would overwrite one is refused.

    Exit codes: 0 compiled, or up to date with --check; 1 something differs with --check; 2 a
    taxonomy or faultspec.yaml has errors, or a file could not be read or written.
    """
    around = find_project()
    if around is not None and around.project is None:
        print_in_format(around.diagnostics, around.sources, style)
        return 2
    project = None if around is None else around.project
    jobs = plan_jobs(project, taxonomy, out, templates)
    with no_cyclic_gc():  # a compile creates hardly any cycles, and ends soon
        diagnostics, sources, taxonomies = _load(jobs)
        if len(taxonomies) < len(jobs):
            print_in_format(diagnostics, sources, style)
            return 2
        bad = () if project is None else _bad_records(project, jobs, taxonomies)
        if project is not None and bad:
            texts = {**sources, project.path: project.document.text}
            print_in_format((*diagnostics, *bad), texts, style)
            return 2
        try:
            # With --out, the folders are not those of the project file.
            marks = project is not None and project.gitattributes and out is None
            attributes = plan_attributes(project) if project is not None and marks else None

            def plan() -> list[CompiledFolder]:
                folders = [
                    CompiledFolder(job, resolved, step)
                    for job, resolved in zip(jobs, taxonomies, strict=True)
                    for step in plan_steps(job, names, only_check=only_check)
                ]
                refuse_unused_names(names, folders, project)
                return folders

            known = all_folders(jobs, project)
            if only_check:
                settle(known, _notify)
                outputs: list[CompiledFolder | AttributesFile] = [*plan()]
                outputs += [] if attributes is None else [attributes]
                found = {output.name: output.drift() for output in outputs}
                _report_drift(found, diagnostics, sources, style)
                return int(any(found.values()))
            planned = [Path(folder.name) for folder in plan()]
            with transaction(planned, known, _notify) as opened:
                # Planned again: another compile may have changed the manifests in the meantime.
                messages = [folder.stage(opened, force=force) for folder in plan()]
                opened.commit()
            messages += [] if attributes is None else [attributes.write()]
        except TargetError as error:
            print_in_format((*diagnostics, _locate(error.diagnostic, jobs)), sources, style)
            return 2
    print_in_format(diagnostics, sources, style)
    for message in messages:
        click.echo(message, err=True)
    return 0


def _bad_records(
    project: Project, jobs: Sequence[CompileJob], taxonomies: Sequence[Taxonomy]
) -> tuple[Diagnostic, ...]:
    """The settings of the project file that do not fit its taxonomies."""
    known = {
        each.path: taxonomy
        for job, taxonomy in zip(jobs, taxonomies, strict=True)
        if (each := project.taxonomy(job.path)) is not None
    }
    return tuple(find_bad_records(project, known))


def _locate(diagnostic: Diagnostic, jobs: Sequence[CompileJob]) -> Diagnostic:
    """A diagnostic about a value of a taxonomy, with its place in the file."""
    for job in jobs:
        is_meant = diagnostic.pointer and job.source == diagnostic.path
        document = load(job.path).document if is_meant else None
        if document is not None:
            return document.diagnostic(
                diagnostic.code, diagnostic.message, diagnostic.pointer, hint=diagnostic.hint
            )
    return diagnostic


def _notify(sentence: str) -> None:
    click.echo(sentence, err=True)


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


def _report_drift(
    drift: Mapping[str, Sequence[Drift]],
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    style: str,
) -> None:
    """Print how the outputs differ, by name."""
    files = [entry for entries in drift.values() for entry in entries]
    found = () if style == "text" else tuple(map(_diagnostic, files))
    print_in_format((*diagnostics, *found), sources, style)
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
