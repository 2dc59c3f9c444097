"""Drafts of services whose documents have idempotency keys."""

from typing import Any

import pytest

from faultspec.openapi.service import read
from faultspec_conformance.learning.answers import ErrorAnswer, group_shapes
from faultspec_conformance.learning.draft import draft_taxonomy


def header(name: str = "Idempotency-Key", *, required: bool = False) -> dict[str, Any]:
    """A parameter of a document."""
    return {"name": name, "in": "header", "required": required, "schema": {"type": "string"}}


def rule(*operations: tuple[str, list[dict[str, Any]]]) -> object:
    """The rule that a draft has, where the document has these operations with these parameters."""
    paths = {
        f"/p{number}": {method: {"parameters": parameters, "responses": {"200": {}}}}
        for number, (method, parameters) in enumerate(operations)
    }
    info = {"title": "Cups", "version": "1"}
    seen = ErrorAnswer(None, 404, "application/json", {"code": "no_route", "message": "No"})
    document = {"openapi": "3.1.0", "info": info, "paths": paths}
    return draft_taxonomy(read(document), group_shapes([seen]), {}).data.get("idempotency")


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("name", ["Idempotency-Key", "idempotency-key", "X-Idempotency-Key"])
def test_a_header_of_each_post_is_the_key(name: str, *, required: bool) -> None:
    """Whatever its case; a write without it is accepted where none requires it."""
    keyed = [header(name, required=required)]
    assert rule(("post", keyed), ("get", []), ("post", keyed)) == {
        "key": name,
        "methods": ["POST"],
        "missing": "unspecified" if required else "accepted",
        "mismatch": "unspecified",
    }


@pytest.mark.parametrize(
    "operations",
    [
        [("post", [])],
        [("get", [header()])],
        [("post", [header()]), ("post", [])],
        [("post", [header()]), ("post", [header("X-Idempotency-Key")])],
        [("post", [header("X-Request-Id")])],
        [("post", [{**header(), "in": "query"}])],
    ],
)
def test_no_rule_is_guessed_that_an_operation_does_not_have(
    operations: list[tuple[str, list[dict[str, Any]]]],
) -> None:
    """One POST without the header, or with another one, leaves the rule out: it would hold there
    too.
    """
    assert rule(*operations) is None
