"""The taxonomy language: its grammar, the frozen model it resolves to, and the way from one to the other."""

from dataclasses import dataclass

from faultspec.diagnostic import Diagnostic
from faultspec.language import constructs, grammar
from faultspec.language.model import Taxonomy
from faultspec.language.resolve import resolve
from faultspec.source import Document, SourceError, parse
from faultspec.source import load as load_source


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of reading a taxonomy. ``taxonomy`` is None when any diagnostic is an error."""

    document: Document | None
    taxonomy: Taxonomy | None
    diagnostics: tuple[Diagnostic, ...]


def load(path: str) -> Loaded:
    """Read the taxonomy at ``path``; everything wrong with it comes back as diagnostics, never as an exception."""
    try:
        document = load_source(path)
    except SourceError as error:
        return Loaded(None, None, tuple(error.diagnostics))
    return _understand(document)


def read(text: str, path: str) -> Loaded:
    """The pure half of ``load``: ``text`` is the document, ``path`` only names it."""
    document, diagnostics = parse(text, path)
    if document is None or diagnostics:
        return Loaded(document, None, tuple(sorted(diagnostics)))
    return _understand(document)


def _understand(document: Document) -> Loaded:
    found = list(grammar.problems(constructs.DOCUMENT, document.data))
    taxonomy = None
    if not found and isinstance(document.data, dict):
        taxonomy, found = resolve(document.data)
    diagnostics = tuple(sorted({_diagnostic(each, document) for each in found}))
    if any(each.severity == "error" for each in diagnostics):
        taxonomy = None
    return Loaded(document, taxonomy, diagnostics)


def _diagnostic(problem: grammar.Problem, document: Document) -> Diagnostic:
    return Diagnostic(
        code=problem.code,
        message=problem.message,
        path=document.path,
        span=document.span(problem.path, key=problem.on_key),
        hint=problem.hint,
        pointer=problem.path,
    )
