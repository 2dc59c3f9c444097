"""The plan of a compile: which taxonomies, which targets, and into which folders.

Arguments of the command line come before the project file, and the project file before defaults.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import click

from faultspec.diagnostics.model import Diagnostic
from faultspec.language.model import Taxonomy
from faultspec.project import Destination, Project, ProjectTaxonomy
from faultspec.project.attributes import ATTRIBUTES, mark_folders
from faultspec.render import (
    MANIFEST,
    Drift,
    Transaction,
    find_drift,
    listed_targets,
    recorded_targets,
    rendered_files,
    stage,
    text_diff,
)
from faultspec.render.ownership import refuse_irregular
from faultspec.render.rendering import RenderedFile
from faultspec.source import SourceError, leaves_repository, read_bytes
from faultspec.source.whole_file import write_whole
from faultspec.targets import (
    NO_SETTINGS,
    SHIPPED,
    CompileTarget,
    TargetError,
    TargetSettings,
    default_targets,
)
from faultspec.targets.custom import targets_in

#: The output folder without an argument and without a project file.
_OUT = "generated"


class CompileJob(NamedTuple):
    """A taxonomy to compile; paths and folders are relative to the working directory.

    ``source``: its path in the headers of files. ``declared``: the project file names its targets.
    """

    path: str
    source: str
    destinations: tuple[Destination, ...]
    templates: str | None = None
    declared: bool = False
    settings: TargetSettings = NO_SETTINGS

    @property
    def overrides(self) -> Path | None:
        """The folder of templates."""
        return None if self.templates is None else Path(self.templates)


class CompileStep(NamedTuple):
    """One output folder. ``owned``, ``recorded`` and ``whole`` are those of `find_drift`."""

    folder: str
    targets: tuple[CompileTarget, ...]
    owned: tuple[str, ...] | None
    recorded: tuple[str, ...] | None = None
    whole: bool = False


def plan_jobs(
    project: Project | None, taxonomy: str | None, out: str | None, templates: str | None
) -> list[CompileJob]:
    """The taxonomies to compile: the one of the argument, else those of the project. Raises
    UsageError.
    """
    folder = "" if project is None else project.folder
    declared = None if project is None or taxonomy is None else project.taxonomy(taxonomy)
    if project is None or (taxonomy is not None and declared is None):
        path = taxonomy or "taxonomy.yaml"
        if out is None and leaves_repository(_OUT):
            raise click.UsageError(
                f"`{_OUT}` is a link to a folder outside the repository: name it with --out"
            )
        common = folder if project is not None else _common_folder(path, out or _OUT)
        source = _portable_path(path, common)
        return [CompileJob(path, source, (Destination(out or _OUT),), templates)]
    chosen = project.taxonomies if declared is None else (declared,)
    if out is not None and len(chosen) > 1:
        paths = ", ".join(taxonomy.path for taxonomy in chosen)
        raise click.UsageError(f"--out is the folder of one taxonomy: name one of {paths}")
    return [_declared_job(project, taxonomy, out, templates) for taxonomy in chosen]


def _declared_job(
    project: Project, taxonomy: ProjectTaxonomy, out: str | None, templates: str | None
) -> CompileJob:
    """The job of a taxonomy of the project, with the arguments that replace its settings."""
    path = project.locate(taxonomy.path)
    destinations = [
        destination._replace(folder=project.locate(destination.folder))
        for destination in taxonomy.destinations
    ]
    if out is not None:
        destinations = [Destination(out, targets=_declared_targets(destinations))]
    if templates is None and taxonomy.templates is not None:
        templates = project.locate(taxonomy.templates)
    source = _portable_path(path, project.folder)
    return CompileJob(
        path=path,
        source=source,
        destinations=tuple(destinations),
        templates=templates,
        declared=taxonomy.declared,
        settings=taxonomy.settings,
    )


def _declared_targets(destinations: Iterable[Destination]) -> tuple[str, ...] | None:
    """The targets of several destinations; None for all."""
    found: list[str] = []
    for destination in destinations:
        if destination.target is None and destination.targets is None:
            return None
        found += destination.targets or (destination.target or "",)
    return tuple(found)


def plan_steps(job: CompileJob, names: Sequence[str], *, only_check: bool) -> list[CompileStep]:
    """The folders of a job, with the targets that ``names`` leaves. Raises TargetError and
    UsageError.
    """
    known: dict[str, CompileTarget] = dict(SHIPPED)
    if job.overrides is not None:
        known |= targets_in(job.overrides, SHIPPED)
    for name in names:
        if name not in known:
            raise click.UsageError(f"{name!r} is not a target. Targets: {', '.join(known)}.")
    manifest_decides = only_check and not job.declared
    steps = [
        _shared_step(destination, known, names, manifest_decides=manifest_decides)
        if destination.target is None
        else CompileStep(destination.folder, (known[destination.target],), None)
        for destination in job.destinations
    ]
    return [
        step for step in steps if not names or any(target.name in names for target in step.targets)
    ]


def _shared_step(
    destination: Destination,
    known: Mapping[str, CompileTarget],
    names: Sequence[str],
    *,
    manifest_decides: bool,
) -> CompileStep:
    """The step of a folder with a folder for each target. ``manifest_decides``: the targets are
    those that the manifest names.
    """
    folder = Path(destination.folder)
    before, usual = recorded_targets(folder), default_targets(known)
    declared = known if destination.targets is None else destination.targets
    if destination.targets is None and not names and not (manifest_decides and before):
        declared = usual
    chosen = [name for name in declared if name not in destination.excluded]
    whole, recorded = False, before
    if names:
        chosen = [name for name in dict.fromkeys(names) if name in chosen]
        owned = tuple(chosen)
        if before is None and not usual.keys() >= {*chosen}:
            before = tuple(usual)
        if before is not None:
            recorded = tuple(sorted({*before, *chosen}))
    else:
        if manifest_decides and before:
            chosen = [name for name in chosen if name in before]
        else:
            whole = True
            complete = destination.targets is None and not destination.excluded
            recorded = None if complete else tuple(chosen)
        # The files of targets that are no longer compiled are removed too.
        owned = (*chosen, *listed_targets(folder))
    targets = tuple(known[name] for name in chosen)
    return CompileStep(destination.folder, targets, owned, recorded, whole=whole)


def refuse_unused_names(
    names: Iterable[str], outputs: Iterable["CompiledFolder"], project: Project | None
) -> None:
    """Raise UsageError for a target that no folder of the project is for."""
    used = {target.name for output in outputs for target in output.step.targets}
    for name in names:
        if name not in used and project is not None:
            raise click.UsageError(
                f"{project.path} has no folder for the target {name}: add it under `targets`, or "
                "give --out"
            )


class CompiledFolder(NamedTuple):
    """A folder with the files of a taxonomy."""

    job: CompileJob
    taxonomy: Taxonomy
    step: CompileStep

    @property
    def name(self) -> str:
        """The folder, for messages."""
        return self.step.folder

    def drift(self) -> tuple[Drift, ...]:
        """How the files differ, with paths from the working directory. Raises TargetError."""
        found = find_drift(
            self._files(),
            Path(self.name),
            self.step.owned,
            Path(self.job.path),
            whole=self.step.whole,
            recorded=self.step.recorded,
        )
        return tuple(entry._replace(path=f"{self.name}/{entry.path}") for entry in found)

    def stage(self, opened: Transaction, *, force: bool) -> str:
        """Stage the files. Returns what the commit will have done, for people.

        ``force``: overwrite files that no compile wrote. Raises TargetError and OSError.
        """
        done = stage(
            opened.folder(Path(self.name)),
            self._files(),
            self.step.owned,
            recorded=self.step.recorded,
            force=force,
        )
        if not done.written and not done.removed:
            return f"{self.name}: {done.total} files are up to date"
        written = sum(path != MANIFEST for path in done.written)
        removed = f", removed {len(done.removed)}" if done.removed else ""
        lines = [f"{self.name}: wrote {written} of {done.total} files{removed}"]
        lines += [
            f"{self.name}/{path}: kept, because it has no header of generated files; delete it"
            for path in done.kept
        ]
        return "\n".join(lines)

    def _files(self) -> Iterable[RenderedFile]:
        return rendered_files(
            self.taxonomy,
            self.step.targets,
            self.job.source,
            self.job.overrides,
            alone=self.step.owned is None,
            settings=self.job.settings,
        )


class AttributesFile(NamedTuple):
    """The file `.gitattributes` of a project, before and after a compile."""

    name: str
    before: str | None
    after: str

    def drift(self) -> tuple[Drift, ...]:
        """How the file differs."""
        if self.before == self.after:
            return ()
        kind: Literal["missing", "modified"] = "missing" if self.before is None else "modified"
        return (Drift(self.name, kind, text_diff(self.name, self.before or "", self.after)),)

    def write(self) -> str:
        """Write the file. Returns a line for people. Raises TargetError."""
        if self.before == self.after:
            return f"{self.name}: up to date"
        try:
            if os.path.lexists(self.name):
                refuse_irregular(Path(self.name))
            write_whole(Path(self.name), self.after.encode("utf-8", "surrogateescape"))
        except OSError as error:
            message = error.strerror or str(error)
            raise TargetError(Diagnostic("cannot-write", message, self.name)) from error
        return f"{self.name}: wrote the generated folders"


def plan_attributes(project: Project) -> AttributesFile:
    """The `.gitattributes` of a project. Raises TargetError."""
    path = project.locate(ATTRIBUTES)
    before = None
    try:
        if os.path.lexists(path):
            refuse_irregular(Path(path))
            before = read_bytes(path).decode("utf-8", "surrogateescape")
    except SourceError as error:
        raise TargetError(error.diagnostics[0]) from error
    after = mark_folders(before or "", project.output_folders(), path)
    if isinstance(after, Diagnostic):
        raise TargetError(after)
    return AttributesFile(path, before, after)


def all_folders(jobs: Iterable[CompileJob], project: Project | None) -> list[Path]:
    """The output folders of the jobs, and all of the project."""
    planned = [destination.folder for job in jobs for destination in job.destinations]
    declared = [] if project is None else map(project.locate, project.output_folders())
    return [Path(folder) for folder in dict.fromkeys((*planned, *declared))]


def _common_folder(path: str, out: str) -> str:
    """The nearest folder that has the taxonomy and the output folder, so that the headers are the
    same from whichever folder the compile is run.
    """
    folders = [os.path.realpath(os.path.dirname(path) or os.curdir), os.path.realpath(out)]
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # two drives
        common = folders[0]
    # The way from the root of the file system differs between machines.
    return folders[0] if os.path.dirname(common) == common else common


def _portable_path(path: str, folder: str) -> str:
    """The path for file headers, relative to a folder: the same on every machine, so never
    absolute.
    """
    place = os.path.join(
        os.path.realpath(os.path.dirname(path) or os.curdir), os.path.basename(path)
    )
    relative = os.path.relpath(place, os.path.realpath(folder or os.curdir))
    outside = os.path.isabs(relative) or relative.split(os.sep)[0] == os.pardir
    return (os.path.basename(path) if outside else relative).replace(os.sep, "/")
