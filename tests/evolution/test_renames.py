"""A construct with another name is one change, and the report says how certain that is."""

import json
from datetime import date
from typing import Any

import pytest

from faultspec.evolution.advice import advise
from faultspec.evolution.compare import Comparison, compare
from faultspec.language import read
from faultspec.language.model import Taxonomy

TODAY = date(2026, 1, 1)

MISSING = {"summary": "It does not exist.", "http": 404, "retriable": False}
STALE = {"summary": "It changed meanwhile.", "http": 409, "retriable": False}


def taxonomy(codes: dict[str, Any], operations: dict[str, Any] | None = None) -> Taxonomy:
    """A taxonomy with a closed surface, codes and operations."""
    data = {
        "faultspec": 1,
        "taxonomy": {"name": "shop", "version": "1.0.0"},
        "envelopes": {"error": {"shape": {"code": "$code", "message": "$message"}}},
        "surfaces": {
            "http": {
                "transport": "http",
                "match": {"routes": ["/**"]},
                "error_when": {"status": ["4xx", "5xx"]},
                "envelope": "error",
                **({"codes": list(codes)} if codes else {}),
            }
        },
        "codes": codes,
        **({"operations": operations} if operations else {}),
    }
    loaded = read(json.dumps(data), "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def reported(old: Taxonomy, new: Taxonomy) -> list[tuple[str, str]]:
    """The rule and the first words of each change."""
    return [
        (change.rule, change.message.partition(";")[0].partition(",")[0])
        for change in compare(old, new, TODAY).changes
    ]


def test_a_code_with_all_other_fields_alike_looks_renamed() -> None:
    """A code that is gone and a new one with the same fields are one change. The report says that
    it only looks so, and what the wire value was.
    """
    old, new = taxonomy({"missing": MISSING}), taxonomy({"not_there": MISSING})
    (change,) = compare(old, new, TODAY).changes
    assert (change.rule, change.severity) == ("code/renamed", "breaking")
    assert "`missing` looks renamed to `not_there`" in change.message
    assert "'not_there' in place of 'missing'" in change.message
    assert set(change.categories) == {"SOURCE", "WIRE"}
    assert (change.before, change.after) == ("missing", "not_there")
    for audience in ("clients", "services"):
        assert "Answers change" in advise(change, audience)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"missing": MISSING}, {"not_there": {**MISSING, "http": 410}}),
        ({"missing": MISSING}, {"one": MISSING, "other": MISSING}),
        ({"missing": MISSING, "gone": MISSING}, {"not_there": MISSING}),
    ],
)
def test_a_doubtful_pair_stays_an_addition_and_a_removal(old: Any, new: Any) -> None:
    """Codes that differ in a field, or of which several are alike, are not taken for one."""
    rules = [rule for rule, _ in reported(taxonomy(old), taxonomy(new))]
    assert "code/renamed" not in rules
    assert {"code/removed", "code/added"} <= set(rules)


def test_an_unchanged_wire_value_makes_a_rename_certain() -> None:
    """A code with the same wire value is the same code, whatever else changed."""
    old = taxonomy({"missing": {**MISSING, "wire": "E1"}})
    new = taxonomy({"not_there": {**MISSING, "wire": "E1", "http": 410}})
    assert reported(old, new) == [
        ("code/renamed", "`missing` is named `not_there`"),
        ("code/status", "the status of `not_there` is 410 in place of 404"),
    ]


def test_a_wire_value_that_leaves_a_tombstone_is_one_change() -> None:
    """A code whose wire value another code takes over is that code, also if its name remains."""
    old = taxonomy({"missing": {**MISSING, "wire": "E1"}, "stale": STALE})
    new = taxonomy(
        {
            "missing": {"summary": "It does not exist.", "lifecycle": "removed", "wire": "E9"},
            "not_there": {**MISSING, "wire": "E1"},
            "stale": STALE,
        }
    )
    assert ("code/renamed", "`missing` is `not_there`") in reported(old, new)


def operation(errors: dict[str, Any], route: str = "GET /orders/{id}") -> dict[str, Any]:
    """An operation on one route, with codes of its own."""
    return {"match": {"routes": [route]}, "errors": errors}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            {"get_order": operation({"no_order": {**MISSING, "wire": "E1"}})},
            {"get_order": operation({"order_missing": {**MISSING, "wire": "E1"}})},
            [("code/renamed", "`get_order/no_order` is named `get_order/order_missing`")],
        ),
        (
            {"get_order": operation({"no_order": MISSING})},
            {"get_order": operation({"order_missing": MISSING})},
            [("code/renamed", "`get_order/no_order` looks renamed to `get_order/order_missing`")],
        ),
        (
            {"get_order": operation({"get_order_failed": {**MISSING, "wire": "E1"}})},
            {"read_order": operation({"read_order_failed": {**MISSING, "wire": "E1"}})},
            [
                (
                    "code/renamed",
                    "`read_order/get_order_failed` is named `read_order/read_order_failed`",
                ),
                ("operation/declared", "the operation `get_order` is named `read_order`"),
            ],
        ),
        (
            {"get_order": operation({"get_order_failed": MISSING})},
            {"read_order": operation({"read_order_failed": MISSING})},
            [
                (
                    "code/renamed",
                    "`read_order/get_order_failed` looks renamed to `read_order/read_order_failed`",
                ),
                ("operation/declared", "the operation `get_order` is named `read_order`"),
            ],
        ),
        (
            {
                "get_order": operation({"failed": {**MISSING, "wire": "E1"}}),
                "get_cart": operation({"other": STALE}, "GET /carts/{id}"),
            },
            {
                "get_order": operation({}),
                "get_cart": operation(
                    {"other": STALE, "failed": {**MISSING, "wire": "E1"}}, "GET /carts/{id}"
                ),
            },
            [("code/renamed", "`get_order/failed` is `get_cart/failed`")],
        ),
    ],
)
def test_a_code_of_an_operation_is_renamed_with_it(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Codes of one operation are paired within it, also if the operation has another name, and
    across operations by their wire value.
    """
    shared = {"stale_read": {**STALE, "summary": "It was read before."}}
    assert reported(taxonomy(shared, before), taxonomy(shared, after)) == expected


def test_an_operation_is_its_requests() -> None:
    """An operation that claims the same requests under another name is one change, and its other
    fields are compared.
    """
    shared = {"missing": MISSING}
    old = taxonomy(shared, {"get_order": {**operation({}), "idempotent": True}})
    new = taxonomy(shared, {"read_order": {**operation({}), "idempotent": False}})
    assert [rule for rule, _ in reported(old, new)] == [
        "operation/idempotent",
        "operation/declared",
    ]


@pytest.mark.parametrize(
    ("old", "new", "due", "enough"),
    [
        ("1.2.3", "2.0.0", "2.0.0", True),
        ("1.2.3", "1.9.0", "2.0.0", False),
        ("1.2.3", "1.2.3", "2.0.0", False),
        ("0.2.3", "0.3.0", "0.3.0", True),
        ("0.2.3", "0.2.4", "0.3.0", False),
        ("0.2.3", "1.0.0", "0.3.0", True),
        ("2026-01", "2026-02", None, True),
        ("1.2.3", "next", "2.0.0", True),
    ],
)
def test_a_version_is_enough_from_the_due_one_on(
    old: str, new: str, due: str | None, enough: bool
) -> None:
    """The due version is the least one that is enough. Below 1.0.0 a minor version is enough for
    what breaks. What is not of the form x.y.z is not checked.
    """
    comparison = Comparison((), (), "major", None, old, new)
    assert comparison.due_version == due
    assert comparison.is_version_enough is enough
