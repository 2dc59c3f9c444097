"""From each statement of a document to what holds it: the constructs that cite it, what is generated from them, and the
clauses by which a running service is held to it, or the reason why it can't be.

`python -m faultspec.trace TAXONOMY… > docs/trace.md` writes the page.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from faultspec.clauses import clauses_of, clauses_of_clients
from faultspec.language import Loaded, load
from faultspec.language.model import Taxonomy
from faultspec.language.scope import words
from faultspec.meaning import meaningless
from faultspec.render import render
from faultspec.targets import SHIPPED

#: What is generated from each section of a taxonomy: names of targets. Not every taxonomy has files of each.
GENERATED: Mapping[str, tuple[str, ...]] = {
    "actions": ("python", "jsonschema", "typescript", "markdown"),
    "audit": ("records", "markdown"),
    "boundaries": ("python", "jsonschema", "typescript", "markdown"),
    "codes": ("python", "jsonschema", "openapi", "surfaces", "mcp", "typescript", "markdown", "problems", "overlay"),
    "detail_keys": ("python", "jsonschema", "openapi", "surfaces", "typescript", "markdown"),
    "discovery": ("markdown",),
    "domains": ("python", "jsonschema", "typescript", "markdown"),
    "envelopes": ("python", "jsonschema", "openapi", "surfaces", "mcp", "typescript", "markdown"),
    "fallback": ("python", "markdown"),
    "headers": ("python", "openapi", "markdown"),
    "idempotency": ("python", "typescript", "markdown"),
    "imported": ("markdown",),
    "navigation": ("markdown",),
    "obligations": ("markdown",),
    "operations": ("python", "jsonschema", "openapi", "surfaces", "typescript", "markdown", "overlay"),
    "privacy": ("markdown",),
    "renderings": ("python", "typescript", "markdown"),
    "retry_policies": ("python", "typescript", "markdown"),
    "rulings": ("markdown",),
    "surfaces": ("openapi", "surfaces", "mcp", "overlay", "markdown"),
    "telemetry": ("records", "prometheus", "otel", "markdown"),
    "undeclared": ("python", "markdown"),
    "unknown": ("python", "typescript", "markdown"),
    "upstream": ("markdown",),
    "vocabularies": ("jsonschema", "python", "typescript", "markdown"),
}

#: Why a construct of a section is not judged by a clause of its own; obligations say it themselves.
UNJUDGED: Mapping[str, str] = {
    "audit": "the record is read back where a look-up is declared; what it says is compared with the error",
    "discovery": "what is published is compared with the taxonomy where it can be asked for",
    "imported": "the form of names that importers make; nothing of it is on a wire before an import",
    "navigation": "a walk shows it, step by step; no single answer does",
    "renderings": "text for other readers, which never passes the service; the bindings make it",
    "retry_policies": "what callers do after an answer; a fault server or a scripted upstream shows it",
    "rulings": "a decision about the document; the constructs that cite it carry it",
    "telemetry": "metrics, spans and logs stay inside; the generated rules and schemas are what is checked",
    "undeclared": "what a service does before it answers; the answer then is one of a declared code",
    "unknown": "what a client makes of an answer; the bindings do it",
    "upstream": "calls to services behind, which only those see",
}


class Held(NamedTuple):
    """A statement and what holds it. ``reasons``: why nothing more of it can be checked from outside."""

    statement: str
    constructs: tuple[str, ...]
    generated: tuple[str, ...]
    clauses: tuple[str, ...]
    reasons: tuple[str, ...]


def trace(taxonomy: Taxonomy, data: Mapping[str, object], targets: Iterable[str]) -> tuple[Held, ...]:
    """Every statement that `data`, the document of the taxonomy, cites; `targets`: those with files of it."""
    cited: dict[str, list[tuple[str, ...]]] = {}
    rulings = data.get("rulings")
    decided = rulings if isinstance(rulings, dict) else {}
    for path, statements in _cited(data, (), decided):
        for each in statements:
            cited.setdefault(each, []).append(path)
    silent = meaningless(taxonomy)
    clauses = {
        address: clause
        for address, clause in {**clauses_of(taxonomy), **clauses_of_clients(taxonomy)}.items()
        if address not in silent and address.partition("/")[0] not in silent
    }
    made = frozenset(targets)
    return tuple(
        Held(
            statement,
            tuple(dict.fromkeys(".".join(path) for path in paths)),
            tuple(each for each in SHIPPED if each in made and any(each in GENERATED[path[0]] for path in paths)),
            tuple(address for address, clause in clauses.items() if statement in clause.statements),
            tuple(dict.fromkeys(_reasons(paths, taxonomy))),
        )
        for statement, paths in sorted(cited.items(), key=lambda each: _order(each[0]))
    )


def _cited(
    value: object, path: tuple[str, ...], rulings: Mapping[str, dict[str, object]]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every construct that names where it comes from, by its path, with the statements."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _cited(each, (*path, str(index)), rulings)
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        if key == "source":
            yield path, _statements(each, rulings)
        elif path[:1] == ("rulings",) and key == "statements":
            yield path, words(each)
        else:
            yield from _cited(each, (*path, key), rulings)


def _statements(source: object, rulings: Mapping[str, dict[str, object]]) -> tuple[str, ...]:
    if not isinstance(source, dict):
        return words(source)
    named = words(source.get("statement"))
    return named or tuple(
        each for name in words(source.get("ruling")) for each in words(rulings.get(name, {}).get("statements"))
    )


def _reasons(paths: Iterable[tuple[str, ...]], taxonomy: Taxonomy) -> Iterator[str]:
    for path in paths:
        if path[0] == "obligations":
            yield taxonomy.obligations[path[1]].reason.rstrip(".")
        elif path[0] in UNJUDGED and path[0] != "rulings":
            yield UNJUDGED[path[0]]


def _order(statement: str) -> tuple[str, int, str]:
    letters = statement.rstrip("0123456789")
    number = statement[len(letters) :]
    return letters, int(number or 0), statement


def page(loaded: Iterable[tuple[str, Loaded]]) -> str:
    """The page of several taxonomies, each with its path."""
    out = [
        "# The trace",
        "",
        "<!-- generated by `make docs`; what it says is what the taxonomies cite and the clauses judge -->",
        "",
        "Each statement of the five documents, the constructs that carry it, the targets that are generated from those, and the",
        "clauses that hold a running service to it; or why none can.",
    ]
    for path, each in loaded:
        assert each.taxonomy is not None, path
        assert each.document is not None, path
        out += ["", f"## {each.taxonomy.title}", "", f"[{path}](../{path})", ""]
        out += ["| statement | constructs | generated | clauses | not checkable |", "|---|---|---|---|---|"]
        made = {name.partition("/")[0] for name in render(each.taxonomy, SHIPPED.values(), path)}
        for held in trace(each.taxonomy, each.document.data, made):
            cells = (
                _few(held.constructs),
                ", ".join(held.generated),
                _few(held.clauses),
                "; ".join(held.reasons),
            )
            out.append(f"| {held.statement} | {' | '.join(cells)} |")
    return "\n".join(out) + "\n"


_SHOWN = 6
"""Names in one cell; a statement about every code is cited by every code."""


def _few(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{each}`" for each in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


if __name__ == "__main__":
    sys.stdout.write(page((path, load(path)) for path in sys.argv[1:]))
