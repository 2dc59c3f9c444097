"""From each statement of a document to what holds it: the constructs that cite it, what is generated from them, and the
clauses by which a running service is held to it, or the reason why it can't be.

`python -m faultspec.docs.trace TAXONOMY… > docs/trace.md` writes the page.
"""

import copy
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.contract.clauses import client_clauses, service_clauses
from faultspec.exchange.body import resolve
from faultspec.language import LoadedTaxonomy, load, read
from faultspec.language.model import Taxonomy
from faultspec.language.scope import word_tuple
from faultspec.render import render
from faultspec.runtime.nodes import child
from faultspec.targets import SHIPPED

#: What of a section no answer shows, and families of clauses that watch it from another side where the taxonomy gives
#: them something to watch. Obligations say themselves why nobody can check them; a ruling is carried by what cites it.
UNJUDGED: Mapping[str, tuple[str, frozenset[str]]] = {
    "audit": ("the record stays inside where no look-up is declared", frozenset({"audit"})),
    "discovery": (
        "the form in which it is published is not one that can be compared",
        frozenset({"discovery"}),
    ),
    "imported": ("an answer does not show how its code came by its name", frozenset()),
    "navigation": (
        "an answer alone does not show whether its offers can be taken",
        frozenset({"navigation"}),
    ),
    "renderings": (
        "the text is made by the reader of an answer, and never passes the service",
        frozenset(),
    ),
    "retry_policies": ("no code is sent again by this policy", frozenset({"client", "upstream"})),
    "telemetry": ("metrics, spans and logs stay inside the service", frozenset()),
    "undeclared": ("an answer does not show what went wrong before it", frozenset()),
    "unknown": ("what a client makes of a code it does not know, it tells nobody", frozenset()),
    "upstream": ("calls to services behind are seen by those only", frozenset({"upstream"})),
}

#: Rounds in which what refers to a construct that was left out is left out too.
_ROUNDS = 8


Files = Mapping[str, str]
"""What is generated, by path."""


class StatementTrace(NamedTuple):
    """A statement and what holds it. ``constructs``: their paths; ``reasons``: why nothing more of it can be checked from
    outside.
    """

    statement: str
    constructs: tuple[tuple[str, ...], ...]
    clauses: tuple[str, ...]
    reasons: tuple[str, ...]


def trace(taxonomy: Taxonomy, data: Mapping[str, object]) -> tuple[StatementTrace, ...]:
    """Every statement that `data`, the document of the taxonomy, cites."""
    cited: dict[str, list[tuple[str, ...]]] = {}
    rulings = data.get("rulings")
    decided = rulings if isinstance(rulings, dict) else {}
    for path, statements in _cited(data, (), decided):
        for each in statements:
            cited.setdefault(each, []).append(path)
    clauses = {
        address: clause
        for address, clause in {**service_clauses(taxonomy), **client_clauses(taxonomy)}.items()
        if clause.not_applicable(taxonomy) is None
    }
    found = []
    for statement, paths in sorted(cited.items(), key=lambda each: _order(each[0])):
        addresses = tuple(
            address for address, clause in clauses.items() if statement in clause.statements
        )
        reasons = dict.fromkeys(_reasons(paths, taxonomy, addresses))
        found.append(
            StatementTrace(statement, tuple(dict.fromkeys(paths)), addresses, tuple(reasons))
        )
    return tuple(found)


def changed(
    data: Mapping[str, object], path: tuple[str, ...], whole: Files | None = None
) -> frozenset[str]:
    """The targets whose files are others without the construct at a path, and without what refers to it; where it can't
    be left out, those whose files are others without one of its parts. ``whole``: the files of all of `data`.
    """
    before = _files(data) if whole is None else whole
    after = _without(data, path)
    if after is not None:
        return frozenset(
            name.partition("/")[0]
            for name in before.keys() | after.keys()
            if before.get(name) != after.get(name)
        )
    value = _at(data, path)
    parts = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    return frozenset().union(
        *(changed(data, (*path, str(part)), before) for part in parts if part != "source")
    )


def _read(data: Mapping[str, object]) -> LoadedTaxonomy:
    return read(json.dumps(data, ensure_ascii=False), "")


def _files(data: Mapping[str, object]) -> Files:
    """Everything that is generated."""
    found = _read(data).taxonomy
    assert found is not None
    return render(found, SHIPPED.values(), "")


def _without(data: Mapping[str, object], path: tuple[str, ...]) -> Files | None:
    """Everything that is generated without what stands at a path and what refers to that; None where the rest says nothing."""
    rest = copy.deepcopy(dict(data))
    gone: list[tuple[str | int, ...]] = [path]
    for _ in range(_ROUNDS):
        for each in sorted(set(gone), key=_backwards, reverse=True):
            _leave_out(rest, each)
        loaded = _read(rest)
        if loaded.taxonomy is not None:
            return render(loaded.taxonomy, SHIPPED.values(), "")
        gone = [
            diagnostic.pointer
            for diagnostic in loaded.diagnostics
            if diagnostic.severity == "error"
        ]
        if not all(gone) or any(len(each) < 2 for each in gone):
            return None
    return None


def _backwards(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """A key by which the later items of a list come after the earlier ones."""
    return tuple(str(each).rjust(9, "0") if str(each).isdigit() else str(each) for each in path)


def _leave_out(data: object, path: tuple[str | int, ...]) -> None:
    """Take what stands at a path out of the data, or, where nothing does, what stands around it."""
    holder = _at(data, path[:-1])
    if isinstance(holder, dict) and path[-1] in holder:
        del holder[path[-1]]
    elif isinstance(holder, list) and str(path[-1]).isdigit() and int(path[-1]) < len(holder):
        del holder[int(path[-1])]
    elif len(path) > 1:
        _leave_out(data, path[:-1])


def _at(data: object, path: tuple[str | int, ...]) -> Any:
    """What stands at a path, None where nothing does."""
    return resolve(data, "".join(child("", each) for each in path))[1]


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
            yield path, word_tuple(each)
        else:
            yield from _cited(each, (*path, key), rulings)


def _statements(source: object, rulings: Mapping[str, dict[str, object]]) -> tuple[str, ...]:
    if not isinstance(source, dict):
        return word_tuple(source)
    named = word_tuple(source.get("statement"))
    return named or tuple(
        each
        for name in word_tuple(source.get("ruling"))
        for each in word_tuple(rulings.get(name, {}).get("statements"))
    )


def _reasons(
    paths: Iterable[tuple[str, ...]], taxonomy: Taxonomy, clauses: Iterable[str]
) -> Iterator[str]:
    """Why something of a statement can't be checked; ``clauses``: by which the rest of it is."""
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
        "<!-- generated by `make docs`; what it says is what the taxonomies cite and the clauses judge -->",
        "",
        "Each statement of the five documents, the constructs that carry it, the targets whose files are others without one of those,",
        "and the clauses that hold a running service or a client to it; and why what is left of it can't be checked.",
    ]
    for path, each in loaded:
        assert each.taxonomy is not None, path
        assert each.document is not None, path
        out += ["", f"## {each.taxonomy.title}", "", f"[{path}](../{path})", ""]
        out += [
            "| statement | constructs | generated | clauses | not checkable |",
            "|---|---|---|---|---|",
        ]
        data = each.document.data
        whole, made = _files(data), dict[tuple[str, ...], frozenset[str]]()
        for held in trace(each.taxonomy, data):
            made |= {
                path: changed(data, path, whole) for path in held.constructs if path not in made
            }
            cells = (
                _few([".".join(path) for path in held.constructs]),
                ", ".join(
                    target
                    for target in SHIPPED
                    if any(target in made[path] for path in held.constructs)
                ),
                _few(held.clauses),
                "; ".join(held.reasons),
            )
            out.append(f"| {held.statement} | {' | '.join(cells)} |")
    return "\n".join(out) + "\n"


_SHOWN = 6
"""Names in one cell; a statement about every code is cited by every code."""


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


if __name__ == "__main__":
    sys.stdout.write(page((path, load(path)) for path in sys.argv[1:]))
