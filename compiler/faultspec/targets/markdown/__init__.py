"""The Markdown target: a reference, one page a taxonomy, with one anchor for each code.

A code's anchor is its name, an operation's own code ``operation.code``; everything else has a kind
in front (``envelope:error``), which no code can have. What there is one of for each code stands on
a line of its own, so that another code only adds lines.
"""

from typing import NamedTuple

from faultspec.language.model import Code, Taxonomy
from faultspec.targets.jsonschema import definition
from faultspec.targets.markdown import sections
from faultspec.targets.markdown.codes import Anchors, page
from faultspec.targets.markdown.text import code as typed
from faultspec.targets.markdown.text import comment, inline, link, table
from faultspec.targets.markdown.words import RETRIABLE_SHORT
from faultspec.targets.model import Model


class MarkdownSection(NamedTuple):
    """A part of the page, which an empty line parts from the next. ``lines``: Markdown."""

    lines: tuple[str, ...]


class MarkdownView(NamedTuple):
    """The page. ``header``: its origin, as a comment."""

    header: str
    parts: tuple[MarkdownSection, ...]


def view(taxonomy: Taxonomy, model: Model) -> MarkdownView:
    """The page of a taxonomy."""
    every = declared(taxonomy)
    anchors = Anchors(frozenset(definition(operation, code) for operation, code in every))
    live = [(operation, code) for operation, code in every if code.live]
    gone = [(operation, code) for operation, code in every if not code.live]
    parts = [
        _front(taxonomy),
        _index(live, anchors),
        *(page(operation, code, taxonomy, anchors) for operation, code in live),
        *sections.every(taxonomy, gone, anchors),
    ]
    return MarkdownView(
        comment(model.header), tuple(MarkdownSection(tuple(part[:-1])) for part in parts if part)
    )


def declared(taxonomy: Taxonomy) -> list[tuple[str | None, Code]]:
    """Every code, also those that no service sends, with the operation that alone has it."""
    shared = [(None, code) for code in taxonomy.codes.values()]
    own = [
        (operation.name, code)
        for operation in taxonomy.operations.values()
        for code in operation.errors.values()
    ]
    return [*shared, *own]


def _front(taxonomy: Taxonomy) -> list[str]:
    facts = [f"taxonomy {typed(taxonomy.name)}", f"version {inline(taxonomy.version)}"]
    facts += [f"owned by {inline(taxonomy.owner)}"] if taxonomy.owner else []
    lines = [f"# {inline(taxonomy.title)}", "", ", ".join(facts), ""]
    return [*lines, inline(taxonomy.description), ""] if taxonomy.description else lines


def _index(codes: list[tuple[str | None, Code]], anchors: Anchors) -> list[str]:
    rows = (
        (
            link(typed(definition(operation, code)), definition(operation, code)),
            ", ".join(map(str, code.http.statuses)),
            RETRIABLE_SHORT[code.retriable.flag_kind],
            code.client_action,
            inline(code.summary),
        )
        for operation, code in codes
    )
    return [
        "## Codes",
        "",
        *table(("code", "status", "retriable", "client action", "meaning"), rows),
    ]
