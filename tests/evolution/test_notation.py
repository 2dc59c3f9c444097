"""Laws of notation: a difference that nobody can observe does not count as a change."""

import json
from datetime import date
from typing import Any

import pytest

from faultspec.evolution.compare import Comparison, compare
from faultspec.language import read

CODE = {"summary": "A.", "http": 409, "retriable": False}
WAITS = {"max_attempts": 4, "backoff": {"kind": "exponential", "base": "1s", "max": "30s"}}
ROUTE = {"match": {"routes": ["GET /books/{id}"]}}


def comparison(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    """The comparison of two taxonomies, of which the sections that matter are given."""
    found = []
    for sections in (old, new):
        data = {
            "faultspec": 1,
            "taxonomy": {"name": "shop", "version": "1.0.0"},
            "envelopes": {"error": {"shape": {"code": "$code", "details?": "$details"}}},
            "surfaces": {"api": {"transport": "http", "envelope": "error", "codes": "closed"}},
            "codes": {"a": CODE},
            **sections,
        }
        loaded = read(json.dumps(data), "taxonomy.yaml")
        assert loaded.taxonomy is not None, loaded.diagnostics
        found.append(loaded.taxonomy)
    return compare(*found, date(2026, 1, 1))


def code(**keys: object) -> dict[str, Any]:
    """A taxonomy with one code."""
    return {"codes": {"a": {**CODE, **keys}}}


def detail(**schema: object) -> dict[str, Any]:
    """A taxonomy whose code has a detail of a schema."""
    return code(details={"x?": schema})


def policy(**keys: object) -> dict[str, Any]:
    """A taxonomy whose code has a retry policy."""
    retried = {"retry": "std", "retriable": True}
    return {**code(**retried), "retry_policies": {"std": {**WAITS, **keys}}}


def backoff(*phases: dict[str, object], **keys: object) -> dict[str, Any]:
    """A taxonomy whose code has a retry policy with these phases."""
    return policy(backoff=phases[0] if len(phases) == 1 else list(phases), **keys)


def operations(route: str, name: str = "show") -> dict[str, Any]:
    """A taxonomy with an operation at a route."""
    return {"operations": {name: {"match": {"routes": [route]}, "codes": ["a"]}}}


def flag(test: dict[str, object], **keys: object) -> dict[str, Any]:
    """A taxonomy whose code is retriable under a condition."""
    return code(retriable={"when": [{"if": test, "then": True}], "else": False}, **keys)


IDEMPOTENT = {"operation.idempotent": True}

CONSTANT = {"kind": "constant", "base": "1s"}
DOUBLED = {"kind": "exponential", "base": "1s", "max": "30s"}

RPC = {
    "surfaces": {
        "api": {"transport": "http", "envelope": "error", "codes": "closed"},
        "rpc": {"transport": "jsonrpc", "envelope": "error", "codes": "closed", "at": "/error"},
    }
}


@pytest.mark.parametrize(
    ("old", "new"),
    {
        "a status as a rule": (code(), code(http=[{"else": 409}])),
        "conditions with one status": (
            code(),
            code(http=[{"if": IDEMPOTENT, "status": 409}, {"else": 409}]),
        ),
        "a parameter with another name": (
            operations("GET /books/{id}"),
            operations("GET /books/{book}"),
        ),
        "a least length of 0": (detail(type="string"), detail(type="string", minLength=0)),
        "a bound between whole numbers": (
            detail(type="integer", minimum=1, maximum=9),
            detail(type="integer", minimum=0.5, maximum=9.5),
        ),
        "a cap that no wait reaches": (
            backoff(DOUBLED),
            backoff({**DOUBLED, "max": "60s"}),
        ),
        "a wait of 0 seconds": (
            backoff({"kind": "constant", "base": "0s"}),
            {**policy(), "retry_policies": {"std": {"max_attempts": 4}}},
        ),
        "doubled waits with a cap at the first": (
            backoff(CONSTANT),
            backoff({**DOUBLED, "max": "1s"}),
        ),
        "doubled waits with a cap at the first, for many attempts": (
            backoff(CONSTANT, max_attempts=100, max_elapsed="1h"),
            backoff({**DOUBLED, "max": "1s"}, max_attempts=100, max_elapsed="1h"),
        ),
        "a flag under a status that the code never has": (code(), flag({"status": 500})),
    }.values(),
)
def test_notation_changes_nothing(old: dict[str, Any], new: dict[str, Any]) -> None:
    """A difference that neither a client nor a service can observe has no effect in either
    direction. It calls for no version and is listed as notation."""
    for before, after in ((old, new), (new, old)):
        found = comparison(before, after)
        assert (found.changes, found.due) == ((), "none")
        assert found.notation


@pytest.mark.parametrize(
    ("old", "new"),
    {
        "a rule with another status": (
            code(http=[409, 422]),
            code(http=[{"if": IDEMPOTENT, "status": 409}, {"else": 422}]),
        ),
        "another route": (operations("GET /books/{id}"), operations("GET /tomes/{id}")),
        "a least length of 1": (detail(type="string"), detail(type="string", minLength=1)),
        "a bound of numbers": (
            detail(type="number", minimum=1),
            detail(type="number", minimum=0.5),
        ),
        "the next whole bound": (
            detail(type="integer", minimum=1),
            detail(type="integer", minimum=-0.5),
        ),
        "a cap that the last wait reaches": (
            backoff(DOUBLED),
            backoff({**DOUBLED, "max": "3s"}),
        ),
        "a cap that one of many waits reaches": (
            backoff(DOUBLED, max_attempts=100, max_elapsed="1h"),
            backoff({**DOUBLED, "max": "60s"}, max_attempts=100, max_elapsed="1h"),
        ),
        "the status that the code has": (code(), flag({"status": 409})),
        "a range with the status that the code has": (code(), flag({"status": "4xx"})),
        "a status of the fallback": (
            {**code(), "fallback": {"5xx": {"code": "a", "reason": "Others."}}},
            {**flag({"status": 500}), "fallback": {"5xx": {"code": "a", "reason": "Others."}}},
        ),
        "a status that answers elsewhere do not have": (
            {**code(), **RPC},
            {**flag({"status": 500}), **RPC},
        ),
    }.values(),
)
def test_what_can_be_observed_is_a_change(old: dict[str, Any], new: dict[str, Any]) -> None:
    """A neighbour of each notation that clients or services can observe is breaking or risky in
    both directions."""
    for before, after in ((old, new), (new, old)):
        severities = {change.severity for change in comparison(before, after).changes}
        assert severities & {"breaking", "risky"}


def test_an_operation_is_found_by_its_route_without_names() -> None:
    """An operation with another name, and with another name of a parameter in its route, is one
    change."""
    old, new = operations("GET /books/{id}"), operations("GET /books/{book}", "read")
    rules = [change.rule for change in comparison(old, new).changes]
    assert "operation/declared" in rules
    assert len(rules) == 1


@pytest.mark.parametrize(
    ("keys", "severity"),
    [
        ({"max_elapsed": "24h"}, "safe"),
        ({"max_elapsed": "5s"}, "risky"),
        ({"max_elapsed": "24h", "max_attempts": 10000}, "risky"),
        ({"max_elapsed": "24h", "retry_after": {"honor": True}}, "risky"),
    ],
)
def test_a_limit_of_time_that_no_wait_reaches_is_safe(
    keys: dict[str, object], severity: str
) -> None:
    """A limit of time matters if the waits can reach it: in many attempts, or with a `Retry-After`
    of any length, they can."""
    without = {"retry_after": {"honor": False}, **keys}
    old = policy(**{**without, "max_elapsed": "48h"})
    if keys["max_elapsed"] == "24h" and "max_attempts" not in keys:
        old["retry_policies"]["std"].pop("max_elapsed")
    (change,) = comparison(old, policy(**without)).changes
    assert change.severity == severity
