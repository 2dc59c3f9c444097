"""Changes that no rule may miss, and fingerprints that accept one change alone."""

import json
from datetime import date
from typing import Any

import pytest

from faultspec.evolution.compare import compare
from faultspec.evolution.ledger import fingerprint
from faultspec.evolution.model import Change
from faultspec.language import read

CODE = {"summary": "A.", "http": 500, "retriable": False}


def changes(old: dict[str, Any], new: dict[str, Any]) -> tuple[Change, ...]:
    """The changes between two taxonomies, of which the sections that matter are given."""
    found = []
    for sections in (old, new):
        data = {
            "faultspec": 1,
            "taxonomy": {"name": "shop", "version": "1.0.0"},
            "envelopes": {
                "error": {"shape": {"code": "$code", "details?": "$details"}},
                "plain": {"shape": {"kind": "$code"}},
            },
            "surfaces": {"api": {"transport": "http", "envelope": "error", "codes": "closed"}},
            "codes": {"a": CODE},
            **sections,
        }
        loaded = read(json.dumps(data), "taxonomy.yaml")
        assert loaded.taxonomy is not None, loaded.diagnostics
        found.append(loaded.taxonomy)
    return compare(*found, date(2026, 1, 1)).changes


@pytest.mark.parametrize(("method", "severity"), [("POST", "breaking"), ("GET", "risky")])
def test_the_default_makes_an_operation_unsafe_to_repeat(method: str, severity: str) -> None:
    """A code that turns retriable breaks operations that are not idempotent by the default, as it
    breaks those that say so. A method that RFC 9110 makes idempotent is not among them.
    """
    same = {
        "idempotency": {
            "key": "Idempotency-Key",
            "default": "not_idempotent",
            "mismatch": "unspecified",
        },
        "operations": {"lend": {"match": {"routes": [f"{method} /loans"]}}},
    }
    new = {"a": {**CODE, "retriable": True}}
    (change,) = changes(same, {**same, "codes": new})
    assert (change.rule, change.severity) == ("retry/flag", severity)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
def test_a_surface_that_takes_a_method_over_is_found(method: str) -> None:
    """Requests of any method that now belong to a surface with another envelope break clients."""
    surface = {"transport": "http", "envelope": "error", "codes": "closed"}
    first = {**surface, "envelope": "plain", "match": {"methods": [method]}}
    found = changes({}, {"surfaces": {"first": first, "api": surface}})
    assert ("surface/match", "breaking") in {(c.rule, c.severity) for c in found}


def test_a_surface_is_found_by_several_members_of_requests() -> None:
    """A match that demands two members of the request at once is met by a sample."""
    surface = {"transport": "http", "envelope": "error", "codes": "closed"}
    match = {"request": {"/kind": ["a"], "/options/mode": ["b"]}}
    first = {**surface, "envelope": "plain", "match": match}
    found = changes({}, {"surfaces": {"first": first, "api": surface}})
    assert ("surface/match", "breaking") in {(c.rule, c.severity) for c in found}


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [("a", "b", "risky"), ("a", None, "risky"), (None, "a", "safe")],
)
def test_the_successor_of_a_tombstone_is_read(
    before: str | None, after: str | None, severity: str
) -> None:
    """Bindings name the code that replaces a removed one to clients, so another one is a change."""
    codes = [
        {
            "a": CODE,
            "b": {**CODE, "summary": "B.", "http": 409},
            "dead": {
                "summary": "Gone.",
                "lifecycle": "removed",
                **({} if name is None else {"replaced_by": name}),
            },
        }
        for name in (before, after)
    ]
    (change,) = changes({"codes": codes[0]}, {"codes": codes[1]})
    assert (change.rule, change.severity) == ("code/lifecycle", severity)
    assert change.places == ("codes.dead.replaced_by",)


def test_a_mark_that_is_dropped_is_a_change() -> None:
    """A code without `mcp` promises no value of `isError`."""
    marked = {**CODE, "on": {"mcp": {"is_error": True}}}
    (dropped,) = changes({"codes": {"a": marked}}, {})
    assert (dropped.rule, dropped.severity, dropped.breaks) == (
        "code/carriers",
        "breaking",
        ("clients",),
    )
    (declared,) = changes({}, {"codes": {"a": marked}})
    assert declared.breaks == ("services",)


def with_enum(values: list[str]) -> dict[str, Any]:
    """Codes with a detail that has one of the values."""
    detail = {"type": "string", "enum": values}
    return {"codes": {"a": {**CODE, "details": {"d?": detail}}}}


def test_a_fingerprint_accepts_one_change_alone() -> None:
    """Values behind the sixth, and the form of a value, are part of a change."""
    many = [f"v{number}" for number in range(8)]
    lists = [["x", *many, "harmless"], ["x", *many, "worse"], ["x", *many, "harm`less"]]
    found = [changes(with_enum(["x"]), with_enum(values)) for values in lists]
    assert len({fingerprint(change) for (change,) in found}) == 3
    assert "worse" in str(found[1][0].after)


def test_a_change_without_values_is_identified_by_those_at_its_place() -> None:
    """A change that names no values has those of the taxonomies in its fingerprint."""
    operations = [
        {"lend": {"match": {"routes": ["POST /loans"]}, "codes": codes}}
        for codes in (["a"], ["a", "b"], ["a", "c"])
    ]
    codes = {name: {**CODE, "summary": f"{name}."} for name in "abc"}
    found = [
        changes({"codes": codes, "operations": operations[0]}, {"codes": codes, "operations": new})
        for new in operations[1:]
    ]
    assert len({fingerprint(change) for (change,) in found}) == 2
