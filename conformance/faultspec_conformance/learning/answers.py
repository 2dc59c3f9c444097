"""The error answers of a service, in the shapes of their bodies."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from genson import SchemaBuilder  # type: ignore[import-untyped]  # it has no types

from faultspec.exchange.body import JSON, decode_body
from faultspec.exchange.model import Exchange
from faultspec.importers.by_status import CODE_HEADER
from faultspec.importers.code_member import MARKS
from faultspec.openapi.nodes import mapping
from faultspec.runtime.codecs import media_essence
from faultspec_conformance.learning.fixed_values import fix_values

MOST_VALUES = 500
"""Values of a body whose shape is learned. Envelopes with a hundred details have as many; of
thousands of members, each may be one of the data, and a draft has lines for each.
"""

#: A value of a header that may be a code.
_CODE = re.compile(r"[A-Za-z0-9][\w.:/#-]{0,79}", re.ASCII)

_TEXT = "text/plain"

#: The levels of a body that are compared. Envelopes nest their code at most two objects deep.
_COMPARED = 3

#: Bodies of one shape with other members than those before, which the next body is compared with.
_MODELS = 20


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """An answer with 4xx or 5xx. ``operation``: ``METHOD /template``, None if the document has no
    such operation. ``body``: the JSON value or the plain text, None if the body is neither or
    ``too_large``, with more than `MOST_VALUES` values. ``quotable``: it contains nothing that an
    error may not. ``codes``: headers that name a code, with their values.
    """

    operation: str | None
    status: int
    media_type: str
    body: object
    quotable: bool = True
    too_large: bool = False
    codes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BodyShape:
    """Answers whose bodies have one shape, and a JSON Schema that all of them fit."""

    answers: tuple[ErrorAnswer, ...]
    schema: Mapping[str, Any]

    @property
    def places(self) -> frozenset[tuple[str | None, int]]:
        """The operations and statuses that have the shape."""
        return frozenset((answer.operation, answer.status) for answer in self.answers)


def read_errors(exchanges: Iterable[tuple[Exchange, bool]]) -> Iterator[ErrorAnswer]:
    """The answers with 4xx and 5xx and a body, in order. Each exchange comes with whether its
    answer leaks.
    """
    for exchange, leaks in exchanges:
        status, body = exchange.response.status, exchange.response.body
        if status is not None and status >= 400 and body:
            media_type = exchange.response_header("content-type")
            decoded = decode_body(body, media_type)
            media = media_essence(media_type or "")
            is_read = decoded.codec is JSON or media == _TEXT
            value = decoded.value if is_read else None
            is_large = next(islice(_values(value), MOST_VALUES, None), None) is not None
            yield ErrorAnswer(
                exchange.operation,
                status,
                media,
                None if is_large else value,
                quotable=not leaks,
                too_large=is_large,
                codes=tuple(
                    (name, value)
                    for name, value in exchange.response.headers
                    if CODE_HEADER.search(name) and _CODE.fullmatch(value)
                ),
            )


def _values(value: object) -> Iterator[bool]:
    """An item for each value of a body."""
    left = [value]
    while left:
        yield True
        match left.pop():
            case Mapping() as members:
                left += members.values()
            case list() as items:
                left += items


def group_shapes(answers: Iterable[ErrorAnswer]) -> tuple[BodyShape, ...]:
    """The shapes of the bodies that are JSON objects, the most common first; of equally common
    ones, that with the most members, for an error with a code says more than a text.

    Two bodies have one shape if one has all members of the other, or they share more than half of
    those of the smaller one, and every shared member has the same type in both, down to the third
    level. A body is compared with each of a shape that has other members than those before. One
    operation and status counts once, whatever it was asked.
    """
    groups: list[tuple[dict[object, Mapping[str, object]], list[ErrorAnswer]]] = []
    for answer in answers:
        body = answer.body
        if not isinstance(body, Mapping) or not body:
            continue
        alike = (
            group for group in groups if all(_is_alike(each, body) for each in group[0].values())
        )
        models, group = next(alike, ({}, []))
        if not group:
            groups.append((models, group))
        if len(models) < _MODELS:
            models.setdefault(_members(body), body)
        group.append(answer)
    shapes = [BodyShape(tuple(group), _infer_schema(group)) for _, group in groups]
    return tuple(
        sorted(shapes, key=lambda shape: (-len(shape.places), -_count_members(shape.schema)))
    )


def _count_members(schema: Mapping[str, Any]) -> int:
    """The members of an object and of the objects in it."""
    members = mapping(schema.get("properties"))
    return len(members) + sum(_count_members(mapping(each)) for each in members.values())


def text_shape(answers: Iterable[ErrorAnswer]) -> BodyShape | None:
    """The shape of errors that are plain texts, such as those of Go's `http.Error`; None if there
    are none.
    """
    texts = tuple(
        each for each in answers if isinstance(each.body, str) and each.media_type == _TEXT
    )
    return BodyShape(texts, {"type": "string"}) if texts else None


def _members(body: Mapping[str, object]) -> object:
    """The names of the members, and those of the object that a body only wraps."""
    inner = next(iter(body.values()))
    wrapped = len(body) == 1 and isinstance(inner, Mapping)
    return (frozenset(body), frozenset(mapping(inner)) if wrapped else None)


def _is_alike(
    one: object, other: object, levels: int = _COMPARED, *, is_error: bool = True
) -> bool:
    """Whether two values are of one shape. ``is_error``: they are the errors themselves, of which
    one may not have other members than the other.
    """
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return one is None or other is None or _type(one) == _type(other)
    shared = one.keys() & other.keys()
    smaller = min(len(one), len(other))
    if is_error and len(shared) < smaller and 2 * len(shared) <= smaller:
        return False
    wraps = is_error and len(one) == len(other) == 1
    return levels == 0 or all(
        _is_alike(one[key], other[key], levels - 1, is_error=wraps) for key in shared
    )


def _type(value: object) -> type:
    return float if type(value) is int else type(value)


def _infer_schema(group: Sequence[ErrorAnswer]) -> Mapping[str, Any]:
    builder = SchemaBuilder(schema_uri=None)
    for answer in group:
        builder.add_object(answer.body)
    return mapping(builder.to_schema())


def with_constants(shape: BodyShape) -> BodyShape:
    """The shape with members that only mark an error, such as `success: false` or `status: error`,
    as constants, and its required members in the order of the bodies.
    """
    if "properties" not in shape.schema:
        return shape
    bodies = [mapping(answer.body) for answer in shape.answers]
    schema = _order_required(shape.schema)
    properties = dict(schema["properties"])
    for name in properties:
        values = [body.get(name) for body in bodies]
        if all(_is_mark(value) and value == values[0] for value in values):
            properties[name] = {"const": values[0]}
    return BodyShape(shape.answers, {**schema, "properties": properties})


def with_fixed_values(shape: BodyShape) -> BodyShape:
    """The shape whose answers have fixed values in place of those that differ each time."""
    answers = tuple(replace(each, body=fix_values(each.body)) for each in shape.answers)
    return BodyShape(answers, shape.schema)


def _is_mark(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value in MARKS)


def _order_required(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the required members of each object in the order of its properties."""
    found = dict(schema)
    if isinstance(found.get("items"), Mapping):
        found["items"] = _order_required(found["items"])
    if "properties" in found:
        inner = found["properties"]
        found["properties"] = {name: _order_required(member) for name, member in inner.items()}
        required = frozenset(found.get("required", ()))
        if required:
            found["required"] = [name for name in inner if name in required]
    return found
