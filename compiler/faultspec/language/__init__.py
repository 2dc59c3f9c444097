"""The taxonomy language: its grammar, the frozen model it resolves to, and the way from one to the other."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from faultspec.diagnostic import Diagnostic, ordered
from faultspec.language import constructs, grammar
from faultspec.language.model import Taxonomy
from faultspec.language.prune import prune
from faultspec.language.resolve import resolve
from faultspec.source import Document, SourceError, parse
from faultspec.source import load as load_source


class Loaded(NamedTuple):
    """What came of reading a taxonomy. ``taxonomy`` is None when any diagnostic is an error.

    ``sources``: the text by file name, for printers that show the line.
    """

    document: Document | None
    taxonomy: Taxonomy | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str] = MappingProxyType({})


def load(path: str) -> Loaded:
    """Read the taxonomy at `path`; everything wrong with it comes back as diagnostics, never as an exception."""
    try:
        document = load_source(path)
    except SourceError as error:
        sources = {} if error.text is None else {path: error.text}
        return _understand(error.document, error.diagnostics)._replace(sources=sources)
    return _understand(document)


def read(text: str, path: str) -> Loaded:
    """The pure half of `load`: `text` is the document, `path` only names it."""
    document, diagnostics = parse(text, path)
    return _understand(document, diagnostics)._replace(sources={path: text})


def _understand(document: Document | None, before: Iterable[Diagnostic] = ()) -> Loaded:
    """Go on with whatever structure the text has, so that one run tells all; `before` was found on the way to it."""
    if document is None:
        return Loaded(None, None, ordered(before))
    found = list(grammar.problems(constructs.DOCUMENT, document.data))
    remains = prune(constructs.DOCUMENT, document.data, found)
    taxonomy, problems = resolve(remains, document.data)
    diagnostics = ordered((*before, *(_diagnostic(each, document) for each in (*found, *problems))))
    broken = any(each.severity == "error" for each in diagnostics)
    return Loaded(document, None if broken else taxonomy, diagnostics, {document.path: document.text})


def _diagnostic(problem: grammar.Problem, document: Document) -> Diagnostic:
    return document.diagnostic(
        problem.code, problem.message, problem.path, key=problem.on_key, severity=problem.severity, hint=problem.hint
    )
