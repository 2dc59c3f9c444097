"""The taxonomy language: its grammar, the frozen model, and the way from YAML data to it."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Diagnostic, Path, sort_diagnostics
from faultspec.language import constructs, grammar, layers
from faultspec.language.grammar import bounded_suggestions
from faultspec.language.model import Taxonomy
from faultspec.language.prune import Remains, prune
from faultspec.language.resolve import resolve_names
from faultspec.source import Document, SourceError, leaves_repository, load_document, parse


class Partial(NamedTuple):
    """The readable part of a document with errors: a model with holes, and its data.

    ``broken``: the paths of the errors. Nothing follows from values above or below them.
    """

    taxonomy: Taxonomy
    data: dict[str, Any]
    broken: frozenset[Path]

    def is_sound(self, path: Path) -> bool:
        """Whether no error is at, above or below a path."""
        return not any(path[: len(broken)] == broken[: len(path)] for broken in self.broken)


class LoadedTaxonomy(NamedTuple):
    """The result of reading a taxonomy.

    If a diagnostic is an error, ``taxonomy`` is None, and there is a ``partial``. ``sources``: the
    texts by file name, for printers. ``draft``: the model if every error leaves the rest fit for
    rules, but not for use: a bad example, an unmapped code, an incomplete retry policy.
    """

    document: Document | None
    taxonomy: Taxonomy | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str] = MappingProxyType({})
    draft: Taxonomy | None = None
    partial: Partial | None = None


@bounded_suggestions()
def load(path: str) -> LoadedTaxonomy:
    """Read the taxonomy at `path` and its bases. Errors are diagnostics; none is raised."""
    return _load(path, ())


@bounded_suggestions()
def reread(text: str, path: str) -> LoadedTaxonomy:
    """Like `load`, with `text` in place of the content of the file `path`."""
    document, diagnostics = parse(text, path)
    if document is None or diagnostics:
        return _resolve_layers(document, diagnostics)._replace(sources={path: text})
    return _read_layers(document, (path,))


@bounded_suggestions()
def read(text: str, path: str) -> LoadedTaxonomy:
    """The pure half of `load`: `text` is the document, `path` its name in diagnostics."""
    document, diagnostics = parse(text, path)
    return _resolve_layers(document, diagnostics)._replace(sources={path: text})


@bounded_suggestions()
def read_without_places(text: str, path: str) -> LoadedTaxonomy:
    """Like `read`, in half the memory: the diagnostics have pointers, and no spans."""
    document, diagnostics = parse(text, path)
    document = document and document.without_places()  # before the model takes memory
    return _resolve_layers(document, diagnostics)


def _load(path: str, overlays: tuple[str, ...], root: str | None = None) -> LoadedTaxonomy:
    """`overlays`: the files that extend this one, outermost first; `root`: the folder of the
    package that has it.
    """
    is_chosen = bool(overlays) or leaves_repository(path)
    try:
        document = load_document(path, anywhere=True)
    except SourceError as error:
        if is_chosen and error.text is not None and not layers.is_taxonomy_text(error.text):
            return _foreign_file(path)
        sources = {} if error.text is None else {path: error.text}
        return _resolve_layers(error.document, error.diagnostics)._replace(sources=sources)
    if is_chosen and not layers.is_taxonomy_text(document.text):
        return _foreign_file(path)
    return _read_layers(document, (*overlays, path), root)


def _foreign_file(path: str) -> LoadedTaxonomy:
    """The result of a file that a taxonomy or a link of a repository chose, and that is not a
    taxonomy. Its text is secret: any file can be named.
    """
    message = "this file is not a taxonomy: it has no key `faultspec`"
    return LoadedTaxonomy(None, None, (Diagnostic("bad-base", message, path),))


def _read_layers(
    document: Document, files: tuple[str, ...], root: str | None = None
) -> LoadedTaxonomy:
    """A document over its base; `files`: its own and its overlays'."""
    name = document.data.get("extends") if isinstance(document.data, dict) else None
    return (
        _read_over_base(document, name, files, root)
        if isinstance(name, str)
        else _resolve_layers(document)
    )


def _bad_base(document: Document, message: str, hint: str) -> Diagnostic:
    return document.diagnostic("bad-base", message, ("extends",), key=False, hint=hint)


def _read_over_base(
    document: Document, name: str, files: tuple[str, ...], root: str | None
) -> LoadedTaxonomy:
    """A document over the base `name`; if the base is broken, only its errors are reported."""
    found = None if "\0" in name else layers.locate_base(name, document.path, root)
    problem = _base_problem(name, found, files)
    if problem is not None or found is None:
        diagnostic = _bad_base(document, problem or "", "name a file beside this one")
        return LoadedTaxonomy(document, None, (diagnostic,), {document.path: document.text})
    within = found.root if root is not None or name.startswith("package:") else None
    base = _load(found.file, files, within)
    sources = {**base.sources, document.path: document.text}
    if base.taxonomy is None or base.document is None:
        diagnostic = _bad_base(
            document,
            f"the base `{name}` cannot be used",
            "correct its errors, which are listed here",
        )
        all_found = sort_diagnostics((*base.diagnostics, diagnostic))
        return LoadedTaxonomy(base.document and document, None, all_found, sources)
    data, problems = layers.merge_layers(base.document.data, document.data)
    below = base.document.base
    while below is not None:
        problems += layers.merge_layers(below.data, document.data)[1]
        below = below.base
    by_path = {problem.path: problem for problem in reversed(problems)}
    diagnostics = [_diagnostic(problem, document) for problem in by_path.values()]
    moved = layers.moved_paths(document.data)
    layered = replace(document, data=data, base=base.document, moved=moved)
    return _resolve_layers(layered, diagnostics)._replace(sources=sources)


def _base_problem(name: str, base: layers.BaseFile | None, files: tuple[str, ...]) -> str | None:
    if "://" in name:
        return "a base is a file, or part of an installed package; nothing is fetched"
    if base is None:
        return f"no installed package has `{name.removeprefix('package:')}`"
    if not base.is_inside:
        return "a base lies in the same repository as this file, or in an installed package"
    if os.path.realpath(base.file) in map(os.path.realpath, files):
        return "this taxonomy extends itself"
    if len(files) > layers.DEEPEST:
        return f"the chain of bases is longer than {layers.DEEPEST}"
    return None


#: Problems of a sound document with its base.
_OF_LAYERS = frozenset({"not-extensible", "dangling-reference"})


def _resolve_layers(document: Document | None, before: Iterable[Diagnostic] = ()) -> LoadedTaxonomy:
    """Resolve as much as has structure, so that one run reports everything.

    `before` are the diagnostics of earlier steps.
    """
    before = tuple(before)
    if document is None:
        return LoadedTaxonomy(None, None, sort_diagnostics(before))
    repeated = frozenset(
        diagnostic.pointer for diagnostic in before if diagnostic.code == "duplicate-key"
    )
    sound = all(diagnostic.code in _OF_LAYERS for diagnostic in before)
    taxonomy, data, found = _check_document(document, repeated, sound=sound)
    for other in document.others:
        _, _, more = _check_document(other, repeated, sound=False)
        found += [
            diagnostic
            for diagnostic in more
            if any(diagnostic.pointer[: len(path)] == path for path in repeated)
        ]
    diagnostics = sort_diagnostics((*before, *found))
    loaded = LoadedTaxonomy(document, taxonomy, diagnostics, {document.path: document.text})
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    if not errors:
        return loaded
    partial = Partial(taxonomy, data, frozenset(map(_broken_path, errors)))
    draft = _without_broken_policies(taxonomy, errors) if all(map(_is_local, errors)) else None
    return loaded._replace(taxonomy=None, draft=draft, partial=partial)


def _without_broken_policies(taxonomy: Taxonomy, errors: Iterable[Diagnostic]) -> Taxonomy:
    """The taxonomy without retry policies that lack a key, whose model has a placeholder for it."""
    broken = {error.pointer[1] for error in errors if error.code == "missing-key"}
    whole = {name: policy for name, policy in taxonomy.retry_policies.items() if name not in broken}
    return taxonomy._replace(retry_policies=whole)


#: Errors of values that are kept in the model, so that neighbours are sound.
_KEPT = frozenset({"dangling-reference", "bad-example"})


def _broken_path(error: Diagnostic) -> Path:
    """The path that an error makes unsound: its own, or that of the construct with a hole."""
    if error.code == "unmapped-code":
        return error.pointer if error.pointer[-1] == "http" else (*error.pointer, "http")
    constrains_details = error.pointer[2:3] in (("details",), ("schema",))
    return error.pointer if error.code in _KEPT and not constrains_details else error.pointer[:2]


def _is_local(error: Diagnostic) -> bool:
    """Whether rules can run on the rest of the document.

    They can without a retry policy, and with a surface that requires unknown details.
    """
    path = error.pointer
    if error.code == "missing-key":
        return path[:1] == ("retry_policies",)
    if error.code == "dangling-reference":
        return path[:1] == ("surfaces",) and path[2:3] in (("requires_details",), ("bad_items",))
    return error.code in ("bad-example", "unmapped-code")


def _check_document(
    document: Document, repeated: frozenset[Path], *, sound: bool
) -> tuple[Taxonomy, dict[str, Any], list[Diagnostic]]:
    """The model of a document, its pruned data and its problems; `sound`: the YAML is valid."""
    found = list(grammar.check_data(constructs.DOCUMENT, document.data))
    remains = (
        Remains(document.data)
        if sound and not found
        else prune(constructs.DOCUMENT, document.data, found)
    )
    # A repeated section makes references to it uncertain; a repeated code is complete in itself.
    unsure = {path for path in repeated if path[:1] != ("codes",) or len(path) == 1}
    taxonomy, problems = resolve_names(remains._replace(lost=remains.lost | unsure), document.data)
    diagnostics = [_diagnostic(problem, document) for problem in (*found, *problems)]
    return taxonomy, remains.data, diagnostics


def _diagnostic(problem: grammar.GrammarProblem, document: Document) -> Diagnostic:
    return document.diagnostic(
        problem.code,
        problem.message,
        problem.path,
        key=problem.on_key,
        severity=problem.severity,
        hint=problem.hint,
        remedy=problem.remedy,
    )
