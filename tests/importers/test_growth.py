"""Laws of growth: twice the input is about twice the work, counted in calls and comparisons."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from faultspec.cli.interruption import limit_computing
from faultspec.importers import botocore, openapi
from faultspec.importers.naming import UniqueNames
from faultspec.importers.proto import read
from faultspec.importers.registry import merge_orders
from faultspec.importers.validate import drop_invalid
from faultspec.language.scope import Names

#: Twice the work, and room for what the dictionaries of Python do when they grow.
MOST = 2.5


class Counted(str):
    """A name that counts its comparisons, which no profile shows in a search through a list."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def work(call: Callable[[], object]) -> int:
    """Calls and comparisons of names."""
    calls = 0
    Counted.comparisons = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return calls + Counted.comparisons


def reserve(names: Iterable[str]) -> None:
    """Reserve names in one scope."""
    scope = UniqueNames()
    for name in names:
        scope.reserve(name)


def look_up(names: list[Counted]) -> None:
    """Look all names up that a document declares."""
    known = Names(names)
    assert all(str(name) in known for name in names)


def protos(values: int, methods: int) -> dict[str, Any]:
    """Reasons, and methods."""
    reasons = {"name": "ErrorReason", "value": [{"name": f"R{n}"} for n in range(values)]}
    service = {"name": "S", "method": [{"name": f"M{n}"} for n in range(methods)]}
    return {"file": [{"name": "a", "enum_type": [reasons], "service": [service]}]}


def document(paths: int) -> dict[str, Any]:
    """An OpenAPI document; each path has a failure with a schema and an example of its own."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Paths", "version": "1.0.0"},
        "paths": {
            f"/p{n}": {"get": {"operationId": f"get{n}", "responses": {"404": response(n)}}}
            for n in range(paths)
        },
    }


def response(number: int) -> dict[str, Any]:
    """A failure whose body has a code."""
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"code": text, "message": text}}
    example = {"code": f"code_{number}", "message": "m"}
    return {"content": {"application/json": {"schema": schema, "example": example}}}


def envelopes(count: int, statuses: tuple[str, ...] = ("404",)) -> dict[str, Any]:
    """An OpenAPI document; each path has a failure whose body has an envelope of its own."""
    text = {"type": "string"}
    schemas = {
        f"E{n}": {
            "type": "object",
            "required": ["code"],
            "properties": {
                "code": {"const": "failed"} if len(statuses) > 1 else text,
                f"m{n}": text,
                f"error{n}": {"type": "object", "properties": {"message": text}},
            },
        }
        for n in range(count)
    }
    found = document(count)
    found["components"] = {"schemas": schemas}
    for n in range(count):
        schema = {"$ref": f"#/components/schemas/E{n}"}
        answer = {"description": "d", "content": {"application/json": {"schema": schema}}}
        found["paths"][f"/p{n}"]["get"]["responses"] = dict.fromkeys(statuses, answer)
    return found


def shown(count: int) -> dict[str, Any]:
    """An OpenAPI document; each path has a failure with three examples of its own."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Examples", "version": "1.0.0"},
        "paths": {
            f"/p{n}": {
                "get": {
                    "responses": {
                        "400": {
                            "content": {
                                "application/json": {
                                    "examples": {
                                        f"e{m}": {"value": {"message": f"m{n}{m}"}}
                                        for m in range(3)
                                    }
                                }
                            }
                        }
                    }
                }
            }
            for n in range(count // 3)
        },
    }


CASES: dict[str, Callable[[int], object]] = {
    "one name": lambda n: reserve(["name"] * n),
    "disjoint orders": lambda n: merge_orders(
        [[Counted(f"a{i}"), Counted(f"b{i}")] for i in range(n)]
    ),
    "one long order": lambda n: merge_orders([[Counted(i) for i in range(n)]] * 2),
    "values": lambda n: drop_invalid(read(protos(n, 0))),
    "methods": lambda n: drop_invalid(read(protos(1, n))),
    # A path is an operation, a code and an example, so a third of the size is as much work.
    "names": lambda n: look_up([Counted(f"name{i}") for i in range(n)]),
    "examples of paths": lambda n: openapi.read(shown(4 * n)),
    "envelopes of OpenAPI": lambda n: drop_invalid(openapi.read(envelopes(n // 3))),
    "constants of OpenAPI": lambda n: openapi.read(envelopes(n // 3, ("404", "409"))),
    "paths of OpenAPI": lambda n: drop_invalid(openapi.read(document(n // 3))),
}


@pytest.mark.parametrize("case", CASES)
def test_twice_the_input_is_twice_the_work(case: str) -> None:
    """A run of half the size counts the work that the size does not change, and it is left out."""
    CASES[case](5)  # imports and caches
    half, one, two = (work(lambda n=n: CASES[case](n)) for n in (150, 300, 600))
    assert two - one <= MOST * (one - half)


def test_an_order_keeps_all_orders_that_agree() -> None:
    """Orders without a circle are all kept; a circle loses no name."""
    assert merge_orders([["a"], ["b"], ["a", "b"]]) == ["a", "b"]
    assert merge_orders([["b", "c"], ["a", "b"]]) == ["a", "b", "c"]
    assert sorted(merge_orders([["a", "b"], ["b", "a"]])) == ["a", "b"]


@pytest.mark.parametrize("text", ["<", "<p", "&#", "x. ", ".  "])
def test_long_documentation_is_read_in_time(text: str) -> None:
    """Patterns find markup and sentences in time that grows as the text does."""
    shape = {"exception": True, "documentation": text * 100_000 + "."}
    model = {"metadata": {"protocol": "json"}, "operations": {}, "shapes": {"E": shape}}
    with limit_computing(2):  # a quadratic pattern takes over ten seconds
        assert botocore.read(model, "x").data["codes"]
