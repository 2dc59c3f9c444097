"""The taxonomy language: its grammar, the frozen model it resolves to, and the way from one to the other."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Diagnostic, Path, ordered
from faultspec.language import constructs, grammar, layers
from faultspec.language.model import Taxonomy
from faultspec.language.prune import Remains, prune
from faultspec.language.resolve import resolve
from faultspec.source import Document, SourceError, parse
from faultspec.source import load as load_source


class Partial(NamedTuple):
    """What could be understood of a document with errors: a model with holes, and the data that it was made of.

    ``broken``: what its errors are about, beside and below which nothing can be concluded.
    """

    taxonomy: Taxonomy
    data: dict[str, Any]
    broken: frozenset[Path]

    def tells(self, path: Path) -> bool:
        """Whether what stands at a path is not touched by any error."""
        return not any(path[: len(each)] == each[: len(path)] for each in self.broken)


class LoadedTaxonomy(NamedTuple):
    """What came of reading a taxonomy. ``taxonomy`` is None when any diagnostic is an error; then there is ``partial``.

    ``sources``: the text by file name, for printers that show the line. ``draft``: the model where every error left it
    whole enough to be looked at, but not used: an example is bad, a code unmapped, a policy without its numbers.
    """

    document: Document | None
    taxonomy: Taxonomy | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str] = MappingProxyType({})
    draft: Taxonomy | None = None
    partial: Partial | None = None


def load(path: str) -> LoadedTaxonomy:
    """Read the taxonomy at `path`, with those it extends; whatever is wrong comes back as diagnostics, never raised."""
    return _load(path, ())


def _load(path: str, above: tuple[str, ...]) -> LoadedTaxonomy:
    """`above`: the files that are laid over this one, outermost first."""
    try:
        document = load_source(path)
    except SourceError as error:
        sources = {} if error.text is None else {path: error.text}
        return _understand(error.document, error.diagnostics)._replace(sources=sources)
    return _layered(document, (*above, path))


def _layered(document: Document, files: tuple[str, ...]) -> LoadedTaxonomy:
    """A document with what it is laid over; `files`: its own and those laid over it."""
    name = document.data.get("extends") if isinstance(document.data, dict) else None
    return _extended(document, name, files) if isinstance(name, str) else _understand(document)


def _extended(document: Document, name: str, files: tuple[str, ...]) -> LoadedTaxonomy:
    """A document laid over the base that it names; a base that is broken is all that is told."""
    file = layers.located(name, document.path)
    problem = None
    if "://" in name:
        problem = "a base is a file or part of an installed package; nothing is fetched"
    elif file is None:
        problem = f"no installed package has `{name.removeprefix('package:')}`"
    elif os.path.realpath(file) in map(os.path.realpath, files):
        problem = "this extends itself"
    elif len(files) > layers.DEEPEST:
        problem = f"there are more than {layers.DEEPEST} bases below one another"
    if problem is not None or file is None:
        said = document.diagnostic(
            "bad-base", problem or "", ("extends",), key=False, hint="name a file beside this one"
        )
        return LoadedTaxonomy(document, None, (said,), {document.path: document.text})
    base = _load(file, files)
    sources = {**base.sources, document.path: document.text}
    if base.taxonomy is None or base.document is None:
        message = f"the base `{name}` can't be used"
        said = document.diagnostic(
            "bad-base",
            message,
            ("extends",),
            key=False,
            hint="mend it first; what is wrong stands here too",
        )
        return LoadedTaxonomy(
            base.document and document, None, ordered((*base.diagnostics, said)), sources
        )
    data, problems = layers.laid_over(base.document.data, document.data)
    below = base.document.base
    while below is not None:
        problems += layers.laid_over(below.data, document.data)[1]
        below = below.base
    refused = tuple(
        _diagnostic(each, document)
        for each in {each.path: each for each in reversed(problems)}.values()
    )
    layered = replace(document, data=data, base=base.document)
    return _understand(layered, refused)._replace(sources=sources)


def reread(text: str, path: str) -> LoadedTaxonomy:
    """Like `load`, had the file `path` the content `text`."""
    document, diagnostics = parse(text, path)
    if document is None or diagnostics:
        return _understand(document, diagnostics)._replace(sources={path: text})
    return _layered(document, (path,))


def read(text: str, path: str) -> LoadedTaxonomy:
    """The pure half of `load`: `text` is the document, `path` only names it."""
    document, diagnostics = parse(text, path)
    return _understand(document, diagnostics)._replace(sources={path: text})


def _understand(document: Document | None, before: Iterable[Diagnostic] = ()) -> LoadedTaxonomy:
    """Go on with whatever structure the text has, so that one run tells all; `before` was found on the way to it."""
    before = tuple(before)
    if document is None:
        return LoadedTaxonomy(None, None, ordered(before))
    repeated = frozenset(each.pointer for each in before if each.code == "duplicate-key")
    taxonomy, data, found = _meaning(
        document, repeated, sound=all(each.code == "not-extensible" for each in before)
    )
    for other in document.others:
        _, _, more = _meaning(other, repeated, sound=False)
        found += [
            each for each in more if any(each.pointer[: len(path)] == path for path in repeated)
        ]
    diagnostics = ordered((*before, *found))
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    sources = {document.path: document.text}
    if not errors:
        return LoadedTaxonomy(document, taxonomy, diagnostics, sources)
    draft = _without_broken_policies(taxonomy, errors) if all(map(_spares, errors)) else None
    return LoadedTaxonomy(
        document,
        None,
        diagnostics,
        sources,
        draft,
        Partial(taxonomy, data, frozenset(map(_touched, errors))),
    )


def _without_broken_policies(taxonomy: Taxonomy, errors: Iterable[Diagnostic]) -> Taxonomy:
    """A policy that lacks a key has a value there that nobody gave."""
    broken = {error.pointer[1] for error in errors if error.code == "missing-key"}
    whole = {name: each for name, each in taxonomy.retry_policies.items() if name not in broken}
    return taxonomy._replace(retry_policies=whole)


#: Errors of what was read and kept, so that they touch nothing beside it.
_KEPT = frozenset({"dangling-reference", "bad-example"})


def _touched(error: Diagnostic) -> Path:
    """What an error leaves untold: the place itself, or the whole construct that has a hole there."""
    if error.code == "unmapped-code":
        return error.pointer if error.pointer[-1] == "http" else (*error.pointer, "http")
    shaping = error.pointer[2:3] in (("details",), ("schema",))
    return error.pointer if error.code in _KEPT and not shaping else error.pointer[:2]


#: Errors of a document that can be resolved all the same: what they are about is there, and read.
_SPARING = frozenset({"bad-example", "unmapped-code"})


def _spares(error: Diagnostic) -> bool:
    """Whether an error leaves everything else to be judged: a policy that goes takes nothing but its own delays along, and
    a surface goes on without the details it asks for.
    """
    at = error.pointer
    return (
        error.code in _SPARING
        or (error.code == "missing-key" and at[:1] == ("retry_policies",))
        or (
            error.code == "dangling-reference"
            and at[:1] == ("surfaces",)
            and at[2:3] in _OF_DETAILS
        )
    )


_OF_DETAILS = (("requires_details",), ("bad_items",))


def _meaning(
    document: Document, repeated: frozenset[Path], *, sound: bool
) -> tuple[Taxonomy, dict[str, Any], list[Diagnostic]]:
    """One reading of a document, the data it is made of, and what is wrong; `sound`: as YAML it had no mistake."""
    found = list(grammar.problems(constructs.DOCUMENT, document.data))
    remains = (
        Remains(document.data)
        if sound and not found
        else prune(constructs.DOCUMENT, document.data, found)
    )
    # What else depends on a section that is there twice can't be told; of codes, each is complete in itself.
    unsure = {path for path in repeated if path[:1] != ("codes",) or len(path) == 1}
    taxonomy, problems = resolve(remains._replace(lost=remains.lost | unsure), document.data)
    return taxonomy, remains.data, [_diagnostic(each, document) for each in (*found, *problems)]


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
