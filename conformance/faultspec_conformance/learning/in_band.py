"""Errors that a service sends under a status of success, marked as in its errors of 4xx and 5xx."""

import json
from collections.abc import Iterable, Iterator, Mapping

from faultspec.exchange.body import decode_body
from faultspec.exchange.model import Exchange
from faultspec.openapi.nodes import mapping
from faultspec.runtime.nodes import child
from faultspec_conformance.learning.answers import BodyShape, with_constants

Marks = Mapping[str, object]
"""Members with their values, by JSON Pointer."""

#: Operations that send errors under a status of success, at least; unknown routes are one.
_FEWEST = 2


def find_marks(shape: BodyShape, exchanges: Iterable[Exchange]) -> Marks:
    """The members that mark an error of this shape in an answer of 2xx, such as ``ok: false``.

    Empty if fewer than two operations have them beside all members of the shape: one may have
    forgotten its status. And if every success has them: they say nothing then.
    """
    properties = mapping(with_constants(shape).schema.get("properties"))
    marks = {name: member["const"] for name, member in properties.items() if "const" in member}
    required = frozenset(shape.schema.get("required", ()))
    successes = list(_successes(exchanges))
    marked = [
        (operation, body)
        for operation, body in successes
        if all(name in body and body[name] == value for name, value in marks.items())
    ]
    operations = {operation for operation, body in marked if required <= body.keys()}
    if not marks or len(operations) < _FEWEST or len(marked) == len(successes):
        return {}
    return {child("", name): value for name, value in marks.items()}


def error_condition(marks: Marks) -> dict[str, object]:
    """The `error_when` of a surface whose errors have a status of their class, or the marks."""
    return {"status": ["4xx", "5xx"], "equals": dict(marks)}


def describe_marks(marks: Marks) -> Iterator[str]:
    """The sentence about them."""
    if marks:
        written = ", ".join(f"`{name[1:]}: {json.dumps(value)}`" for name, value in marks.items())
        yield f"answers of 2xx with {written} are errors too, as `error_when` of a surface declares"


def _successes(
    exchanges: Iterable[Exchange],
) -> Iterator[tuple[str | None, Mapping[str, object]]]:
    """The operation and the body of each answer of 2xx with a JSON object."""
    for exchange in exchanges:
        response = exchange.response
        if response.status is not None and 200 <= response.status < 300 and response.body:
            value = decode_body(response.body, exchange.response_header("content-type")).value
            if isinstance(value, Mapping):
                yield exchange.operation, value
