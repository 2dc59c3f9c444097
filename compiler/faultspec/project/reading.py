"""Finding and reading `faultspec.yaml`. Mistakes become diagnostics, never exceptions."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Diagnostic, sort_diagnostics
from faultspec.diagnostics.model import Path as Place
from faultspec.exchange.expressions import expression_problem, slowness
from faultspec.language import grammar
from faultspec.language.model import Taxonomy
from faultspec.language.prune import prune
from faultspec.project.form import PROJECT
from faultspec.project.model import Destination, LoadedProject, Project, ProjectTaxonomy
from faultspec.render.paths import is_in_git
from faultspec.source import Document, SourceError, load_document

#: The name of the project file.
FILE = "faultspec.yaml"

#: The taxonomy, if the file names none.
_TAXONOMY = "taxonomy.yaml"

#: The folder of all targets, if the file names none.
_OUT = "generated"


def find_project_file(start: Path) -> Path | None:
    """The project file of a folder: the nearest one in it or above it.

    The search ends at the root of the repository, which has `.git`, and at that of the file system.
    """
    for folder in (start, *start.parents):
        if os.path.lexists(folder / FILE):
            return folder / FILE
        if os.path.lexists(folder / ".git"):
            return None
    return None


@grammar.bounded_suggestions()
def read_project(path: str) -> LoadedProject:
    """Read the project file at ``path``, and check that the files that it names exist."""
    try:
        document = load_document(path)
    except SourceError as error:
        sources = {} if error.text is None else {path: error.text}
        found = () if error.document is None else parse_project(error.document).diagnostics
        return LoadedProject(None, sort_diagnostics((*error.diagnostics, *found)), sources)
    loaded = parse_project(document)
    if loaded.project is None:
        return loaded
    more = (
        *_missing_files(loaded.project),
        *_bad_folders(loaded.project),
        *_bad_packages(loaded.project),
        *_unknown_names(loaded),
    )
    if not more:
        return loaded
    return LoadedProject(None, sort_diagnostics(more), loaded.sources)


def parse_project(document: Document) -> LoadedProject:
    """The pure half of `read_project`: what can be concluded from the document alone."""
    problems = list(grammar.check_data(PROJECT, document.data))
    data: Mapping[str, Any] = prune(PROJECT, document.data, problems).data
    names = data.get("conformance", [])
    project = Project(
        document,
        taxonomies=_with_ledger(tuple(_taxonomies(data.get("taxonomies", [_TAXONOMY]))), data),
        severities=dict(data.get("lint", {})),
        style=dict(data.get("style", {})),
        rules=tuple(data.get("rules", ())),
        against=data.get("against"),
        conformance=tuple([names] if isinstance(names, str) else names),
        gitattributes=data.get("gitattributes", False),
    )
    found = grammar.problem_diagnostics(document, problems)
    found += (*_repeated_taxonomies(project), *_misplaced_ledgers(project, data))
    diagnostics = sort_diagnostics(found)
    return LoadedProject(
        None if diagnostics else project, diagnostics, {document.path: document.text}
    )


def _taxonomies(data: Iterable[str] | Mapping[str, Any]) -> Iterator[ProjectTaxonomy]:
    for path in data:
        settings = (data[path] if isinstance(data, Mapping) else None) or {}
        yield ProjectTaxonomy(
            path=path,
            destinations=tuple(_destinations(path, settings)),
            templates=settings.get("templates"),
            declared="targets" in settings or "out" in settings,
            ledger=settings.get("ledger"),
            settings={name: settings[name] for name in ("sql",) if name in settings},
        )


def _with_ledger(
    taxonomies: tuple[ProjectTaxonomy, ...], data: Mapping[str, Any]
) -> tuple[ProjectTaxonomy, ...]:
    """The taxonomies; the only one has the ledger of the file, unless it has its own."""
    if len(taxonomies) != 1 or taxonomies[0].ledger is not None:
        return taxonomies
    return (taxonomies[0]._replace(ledger=data.get("ledger")),)


def _destinations(path: str, settings: Mapping[str, Any]) -> Iterator[Destination]:
    targets, out = settings.get("targets"), settings.get("out")
    beside = str(PurePosixPath(path).parent / _OUT)
    if not isinstance(targets, dict):
        yield Destination(out or beside, targets=None if targets is None else tuple(targets))
        return
    for target, folder in targets.items():
        yield Destination(folder, target)
    if out is not None:
        yield Destination(out, excluded=tuple(targets))


def _place(project: Project, index: int, *steps: str) -> Place:
    """The place of a taxonomy in the document, or of a key of it."""
    path = project.taxonomies[index].path
    listed = isinstance(project.document.data.get("taxonomies"), list)
    return ("taxonomies", index) if listed else ("taxonomies", path, *steps)


def _repeated_taxonomies(project: Project) -> Iterator[Diagnostic]:
    first: dict[str, int] = {}
    for index, taxonomy in enumerate(project.taxonomies):
        name = os.path.normpath(taxonomy.path)
        if name in first:
            before = project.document.related_place("first here", _place(project, first[name]))
            yield project.document.diagnostic(
                "duplicate-taxonomy",
                f"`{taxonomy.path}` is in the project file twice",
                _place(project, index),
                hint="keep one of the two",
                related=(before,),
            )
        first.setdefault(name, index)


def _misplaced_ledgers(project: Project, data: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """A ledger of the file that is not that of its only taxonomy, and one that two share: an entry
    for a change of one is stale for the other.
    """
    document = project.document
    shared = data.get("ledger")
    if shared is not None and any(taxonomy.ledger != shared for taxonomy in project.taxonomies):
        yield document.diagnostic(
            "ambiguous-ledger",
            "this ledger is that of one taxonomy",
            ("ledger",),
            hint="write `ledger` under the taxonomy whose changes it accepts",
        )
    first: dict[str, int] = {}
    for index, taxonomy in enumerate(project.taxonomies):
        if taxonomy.ledger is None:
            continue
        name = os.path.normpath(taxonomy.ledger)
        if name in first:
            before = _place(project, first[name], "ledger")
            yield document.diagnostic(
                "duplicate-ledger",
                f"two taxonomies have the ledger `{taxonomy.ledger}`",
                _place(project, index, "ledger"),
                key=False,
                hint="give each its own; an entry for one taxonomy is stale for the other",
                related=(document.related_place("first here", before),),
            )
        first.setdefault(name, index)


def _missing_files(project: Project) -> Iterator[Diagnostic]:
    """The files and folders that the project file names and that do not exist."""
    document = project.document
    listed = isinstance(document.data.get("conformance"), list)
    named: list[tuple[Place, bool, str]] = [
        (("conformance", index) if listed else ("conformance",), False, path)
        for index, path in enumerate(project.conformance)
    ]
    for index, taxonomy in enumerate(project.taxonomies):
        named.append((_place(project, index), True, taxonomy.path))
        if taxonomy.templates is not None:
            named.append((_place(project, index, "templates"), False, taxonomy.templates))
        if taxonomy.ledger is not None:
            once = "ledger" in document.data
            place = ("ledger",) if once else _place(project, index, "ledger")
            named.append((place, False, taxonomy.ledger))
    for place, key, path in named:
        if not os.path.exists(project.locate(path)):
            yield document.diagnostic(
                "file-not-found",
                f"`{path}` does not exist",
                place,
                key=key,
                hint="write the path relative to the folder of the project file",
            )


class _Folder(NamedTuple):
    """A declared folder: its real path, the parts of that in lower case, its place, and whether it
    is that of one target.
    """

    path: str
    real: Path
    parts: tuple[str, ...]
    place: Place
    alone: bool

    def is_in(self, other: "_Folder") -> bool:
        """Whether the folder is the other one, or in it."""
        return self.parts[: len(other.parts)] == other.parts


def _bad_folders(project: Project) -> Iterator[Diagnostic]:
    """Output folders outside the project, and folders that two outputs share.

    Folders of single targets may lie in each other: there, a compile overwrites nothing that its
    own manifest does not list.
    """
    document, root = project.document, _real_path(project.folder)
    folders = list(_folders(project))
    for folder in folders:
        if not folder.real.is_relative_to(root):
            yield document.diagnostic(
                "folder-outside-project",
                f"`{folder.path}` is not in the folder of the project file",
                folder.place,
                key=False,
                hint="move the project file up into a folder that contains both",
            )
        elif is_in_git(folder.real.relative_to(root)):
            yield document.diagnostic(
                "folder-outside-project",
                f"`{folder.path}` lies in the folder of git itself",
                folder.place,
                key=False,
                hint="name another folder",
            )
    for first, second in _shared_folders(folders):
        relation = "is"
        if first.parts != second.parts:
            relation = "lies in" if second.is_in(first) else "contains"
        yield document.diagnostic(
            "shared-folder",
            f"`{second.path}` {relation} the output folder of another taxonomy or target",
            second.place,
            key=False,
            hint="give each taxonomy, and each target with a folder of its own, another folder",
            related=(document.related_place("the other folder", first.place, key=False),),
        )


_Placed = dict[tuple[str, ...], dict[bool, tuple[int, _Folder]]]
"""By path, and by whether it is that of one target: the first folder, with its number."""


def _shared_folders(folders: Sequence[_Folder]) -> Iterator[tuple[_Folder, _Folder]]:
    """Each folder that is another one before it, lies in one or contains one, with the first such
    folder. Folders of single targets may lie in each other.
    """
    own: _Placed = {}
    below: _Placed = {}
    for number, folder in enumerate(folders):
        parts = folder.parts
        above = [parts[:length] for length in range(len(parts))]
        found = [*own.get(parts, {}).values()]
        for alone in (False,) if folder.alone else (False, True):
            around = (*(own.get(path, {}) for path in above), below.get(parts, {}))
            found += (first[alone] for first in around if alone in first)
        if found:
            yield min(found)[1], folder
        own.setdefault(parts, {}).setdefault(folder.alone, (number, folder))
        for path in above:
            below.setdefault(path, {}).setdefault(folder.alone, (number, folder))


def _bad_packages(project: Project) -> Iterator[Diagnostic]:
    """Folders of Python packages by whose name no program can import them."""
    for index, taxonomy in enumerate(project.taxonomies):
        for destination in taxonomy.destinations:
            name = Path(os.path.realpath(project.locate(destination.folder))).name
            if destination.target == "python" and (not name.isidentifier() or iskeyword(name)):
                yield project.document.diagnostic(
                    "bad-package-name",
                    f"`{name}` is not the name of a Python package",
                    _place(project, index, "targets", "python"),
                    key=False,
                    hint="Python imports the folder by its name: letters, digits and `_`, and no "
                    "keyword",
                )


def _folders(project: Project) -> Iterator[_Folder]:
    for index, taxonomy in enumerate(project.taxonomies):
        for destination in taxonomy.destinations:
            steps = ("out",) if destination.target is None else ("targets", destination.target)
            real = _real_path(project.locate(destination.folder))
            yield _Folder(
                path=destination.folder,
                real=real,
                # Two names may be one folder on the file systems of Windows and macOS.
                parts=tuple(map(str.casefold, real.parts)),
                place=_place(project, index, *steps),
                alone=destination.target is not None,
            )


def _real_path(path: str) -> Path:
    return Path(os.path.realpath(path or os.curdir))


def _unknown_names(loaded: LoadedProject) -> Iterator[Diagnostic]:
    """The targets and the lint rules that do not exist."""
    project = loaded.project
    if project is None:
        return
    document = project.document
    if not project.rules:  # only `lint` and `explain` import the rules of other packages
        yield from find_unknown_rules(project)
    for kind, limits in project.style.items():
        pattern = str(limits.get("pattern", ""))
        problem = expression_problem(pattern)
        problem = slowness(pattern) if problem is None else f"is not an expression: {problem}"
        if problem is not None:
            message = f"`{pattern}` {problem}"
            place: Place = ("style", kind, "pattern")
            hint = "write an expression of Python without nested repetitions"
            yield document.diagnostic("bad-pattern", message, place, key=False, hint=hint)
    for index, taxonomy in enumerate(project.taxonomies):
        for place, target in _written_targets(project, index):
            known = _known_targets(project, taxonomy)
            if target not in known:
                hint = grammar.closest(target, known) or f"the targets are {', '.join(known)}"
                message = f"`{target}` is not a target"
                on_key = isinstance(place[-1], str)
                yield document.diagnostic("unknown-target", message, place, key=on_key, hint=hint)


def find_bad_records(project: Project, taxonomies: Mapping[str, Taxonomy]) -> Iterator[Diagnostic]:
    """The kinds of records of `sql` that a taxonomy does not have, or that no table can have.

    ``taxonomies``: by their paths in the project.
    """
    for index, each in enumerate(project.taxonomies):
        name = each.settings.get("sql", {}).get("record")
        if name is None or each.path not in taxonomies:
            continue
        from faultspec.targets.sql import why_no_columns

        telemetry = taxonomies[each.path].telemetry
        known = telemetry.records if telemetry is not None else {}
        problem = why_no_columns(known[name]) if name in known else "is not a kind of records"
        if problem is None:
            continue
        usable = tuple(kind.name for kind in known.values() if why_no_columns(kind) is None)
        hint = f"the kinds with columns are {', '.join(usable)}"
        if not usable:
            hint = "declare a kind under `telemetry: records:`, with pointers such as `/status`"
        yield project.document.diagnostic(
            "bad-record",
            f"`{name}` {problem}",
            _place(project, index, "sql", "record"),
            key=False,
            hint=grammar.closest(name, usable) or hint,
        )


def find_unknown_rules(project: Project, others: Iterable[str] = ()) -> Iterator[Diagnostic]:
    """The rules with a severity that do not exist. ``others``: the ids of rules of packages."""
    if not project.severities:  # the rules are imported only if the file names one
        return
    from faultspec.lint import BY_ID, sizes, style, suppressions

    rules = (*BY_ID, *suppressions.CODES, *sizes.CODES, *style.CODES, *others)
    for rule in project.severities:
        if rule not in rules:
            hint = grammar.closest(rule, rules) or "`docs/lint.md` lists the rules"
            message = f"`{rule}` is not a lint rule"
            yield project.document.diagnostic("unknown-rule", message, ("lint", rule), hint=hint)


def _written_targets(project: Project, index: int) -> Iterator[tuple[Place, str]]:
    for destination in project.taxonomies[index].destinations:
        if destination.target is not None:
            yield _place(project, index, "targets", destination.target), destination.target
        for position, target in enumerate(destination.targets or ()):
            yield (*_place(project, index, "targets"), position), target


def _known_targets(project: Project, taxonomy: ProjectTaxonomy) -> tuple[str, ...]:
    """The shipped targets and those of the folder of templates. A compile reports a bad folder."""
    from faultspec.targets import SHIPPED

    if taxonomy.templates is None:
        return tuple(SHIPPED)
    folder = Path(project.locate(taxonomy.templates))
    own = (path.name for path in sorted(folder.iterdir()) if path.is_dir())
    return tuple(dict.fromkeys((*SHIPPED, *own)))
