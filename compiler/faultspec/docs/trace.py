"""The trace of each statement of a document: constructs that cite it, generated files, clauses.

A statement that no clause checks has a reason for that.

`python -m faultspec.docs.trace TAXONOMY… > docs/trace.md` writes the page.
"""

import copy
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.contract.clauses import client_clauses, service_clauses
from faultspec.language import LoadedTaxonomy, load, read
from faultspec.language.model import Taxonomy
from faultspec.language.scope import word_tuple
from faultspec.render import render
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import resolve
from faultspec.targets import default_targets

#: Why answers do not show a section, and the families of clauses that check it otherwise.
#: Obligations have reasons of their own, and a ruling is traced through the constructs that cite
#: it.
UNJUDGED: Mapping[str, tuple[str, frozenset[str]]] = {
    "audit": ("the record is internal unless a look-up is declared", frozenset({"audit"})),
    "discovery": (
        "the published form cannot be compared",
        frozenset({"discovery"}),
    ),
    "imported": ("an answer does not show where its code's name comes from", frozenset()),
    "navigation": (
        "an answer alone does not show whether its offers are valid",
        frozenset({"navigation"}),
    ),
    "renderings": ("an answer need not have the error as text", frozenset({"rendering"})),
    "retry_policies": ("no code is retried by this policy", frozenset({"client", "upstream"})),
    "telemetry": ("metrics, spans and logs stay inside the service", frozenset()),
    "undeclared": ("an answer does not show the failure before it", frozenset()),
    "unknown": ("a client does not report what it makes of an unknown code", frozenset()),
    "upstream": ("only the upstream services see the calls to them", frozenset({"upstream"})),
}

#: Rounds in which constructs that refer to removed ones are removed.
_ROUNDS = 8


Files = Mapping[str, str]
"""The generated files by path."""


class StatementTrace(NamedTuple):
    """A statement, the paths of the constructs that cite it, and the clauses that check it.

    ``reasons``: why parts of it cannot be checked from outside.
    """

    statement: str
    constructs: tuple[tuple[str, ...], ...]
    clauses: tuple[str, ...]
    reasons: tuple[str, ...]


def trace(taxonomy: Taxonomy, data: Mapping[str, object]) -> tuple[StatementTrace, ...]:
    """Every statement that `data`, the data of the taxonomy, cites."""
    cited: dict[str, list[tuple[str, ...]]] = {}
    rulings = data.get("rulings")
    decided = rulings if isinstance(rulings, dict) else {}
    for path, statements in _citations(data, (), decided):
        for statement in statements:
            cited.setdefault(statement, []).append(path)
    clauses = {
        address: clause
        for address, clause in {**service_clauses(taxonomy), **client_clauses(taxonomy)}.items()
        if clause.reason_not_applicable(taxonomy) is None
    }
    found = []
    for statement, paths in sorted(cited.items(), key=lambda item: _order(item[0])):
        addresses = tuple(
            address for address, clause in clauses.items() if statement in clause.statements
        )
        reasons = dict.fromkeys(_reasons(paths, taxonomy, addresses))
        found.append(
            StatementTrace(statement, tuple(dict.fromkeys(paths)), addresses, tuple(reasons))
        )
    return tuple(found)


def find_changed_targets(
    data: Mapping[str, object], path: tuple[str, ...], whole: Files | None = None
) -> frozenset[str]:
    """The targets whose files change without the construct at a path and all references to it.

    If the construct cannot be removed, the targets whose files change without one of its parts.
    ``whole``: the files of the complete data.
    """
    before = _files(data) if whole is None else whole
    after = _compile_without(data, path)
    if after is not None:
        return frozenset(
            name.partition("/")[0]
            for name in before.keys() | after.keys()
            if before.get(name) != after.get(name)
        )
    value = _value_at(data, path)
    parts = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    return frozenset().union(
        *(
            find_changed_targets(data, (*path, str(part)), before)
            for part in parts
            if part != "source"
        )
    )


def _read(data: Mapping[str, object]) -> LoadedTaxonomy:
    return read(json.dumps(data, ensure_ascii=False), "")


def _files(data: Mapping[str, object]) -> Files:
    """All generated files."""
    found = _read(data).taxonomy
    assert found is not None
    return render(found, default_targets().values(), "")


def _compile_without(data: Mapping[str, object], path: tuple[str, ...]) -> Files | None:
    """The generated files without the construct at a path and what refers to it; None if no valid
    taxonomy is left.
    """
    rest = copy.deepcopy(dict(data))
    gone: list[tuple[str | int, ...]] = [path]
    for _ in range(_ROUNDS):
        for removed in sorted(set(gone), key=_sort_key, reverse=True):
            _remove(rest, removed)
        loaded = _read(rest)
        if loaded.taxonomy is not None:
            return render(loaded.taxonomy, default_targets().values(), "")
        gone = [
            diagnostic.pointer
            for diagnostic in loaded.diagnostics
            if diagnostic.severity == "error"
        ]
        if not all(gone) or any(len(pointer) < 2 for pointer in gone):
            return None
    return None


def _sort_key(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """A sort key by which the items of a list keep their order."""
    return tuple(str(step).rjust(9, "0") if str(step).isdigit() else str(step) for step in path)


def _remove(data: object, path: tuple[str | int, ...]) -> None:
    """Remove the value at a path, or the innermost value on the way to it that exists."""
    holder = _value_at(data, path[:-1])
    if isinstance(holder, dict) and path[-1] in holder:
        del holder[path[-1]]
    elif isinstance(holder, list) and str(path[-1]).isdigit() and int(path[-1]) < len(holder):
        del holder[int(path[-1])]
    elif len(path) > 1:
        _remove(data, path[:-1])


def _value_at(data: object, path: tuple[str | int, ...]) -> Any:
    """The value at a path, or None."""
    return resolve(data, "".join(child("", step) for step in path))[1]


def _citations(
    value: object, path: tuple[str, ...], rulings: Mapping[str, dict[str, object]]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The path of every construct that cites its source, with the statements."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _citations(item, (*path, str(index)), rulings)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key == "source":
            yield path, _statements(inner, rulings)
        elif path[:1] == ("rulings",) and key == "statements":
            yield path, word_tuple(inner)
        else:
            yield from _citations(inner, (*path, key), rulings)


def _statements(source: object, rulings: Mapping[str, dict[str, object]]) -> tuple[str, ...]:
    if not isinstance(source, dict):
        return word_tuple(source)
    named = word_tuple(source.get("statement"))
    return named or tuple(
        statement
        for name in word_tuple(source.get("ruling"))
        for statement in word_tuple(rulings.get(name, {}).get("statements"))
    )


def _reasons(
    paths: Iterable[tuple[str, ...]], taxonomy: Taxonomy, clauses: Iterable[str]
) -> Iterator[str]:
    """Why parts of a statement cannot be checked. ``clauses``: those that check the other parts."""
    families = {clause.partition("/")[0] for clause in clauses}
    for path in paths:
        if path[0] == "obligations":
            yield taxonomy.obligations[path[1]].reason.rstrip(".")
        elif path[0] in UNJUDGED and families.isdisjoint(UNJUDGED[path[0]][1]):
            yield UNJUDGED[path[0]][0]


def _order(statement: str) -> tuple[str, int, str]:
    letters = statement.rstrip("0123456789")
    number = statement[len(letters) :]
    return letters, int(number or 0), statement


def page(loaded: Iterable[tuple[str, LoadedTaxonomy]]) -> str:
    """The page of several taxonomies, each with its path."""
    out = [
        "# The trace",
        "",
        "<!-- generated by `make docs` from the taxonomies and the clauses -->",
        "",
        "Each statement of the five documents, the constructs that cite it, the targets whose",
        "files change without one of them, the clauses that check it on a running service or",
        "client, and the reason why other parts of it cannot be checked.",
    ]
    for path, file in loaded:
        assert file.taxonomy is not None, path
        assert file.document is not None, path
        out += ["", f"## {file.taxonomy.title}", "", f"[{path}](../{path})", ""]
        out += [
            "| statement | constructs | generated | clauses | not checkable |",
            "|---|---|---|---|---|",
        ]
        data = file.document.data
        whole, made = _files(data), dict[tuple[str, ...], frozenset[str]]()
        for held in trace(file.taxonomy, data):
            made |= {
                path: find_changed_targets(data, path, whole)
                for path in held.constructs
                if path not in made
            }
            cells = (
                _abbreviate([".".join(path) for path in held.constructs]),
                ", ".join(
                    target
                    for target in default_targets()
                    if any(target in made[path] for path in held.constructs)
                ),
                _abbreviate(held.clauses),
                "; ".join(held.reasons),
            )
            out.append(f"| {held.statement} | {' | '.join(cells)} |")
    return "\n".join(out) + "\n"


_SHOWN = 6
"""Names in one cell. Every code cites a statement about every code."""


def _abbreviate(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


if __name__ == "__main__":
    sys.stdout.write(page((path, load(path)) for path in sys.argv[1:]))
