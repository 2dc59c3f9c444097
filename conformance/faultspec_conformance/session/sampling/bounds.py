"""Values that a schema allows, each with one member exactly at a documented bound."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from faultspec.openapi.nodes import Json, sequence
from faultspec_conformance.session.sampling.constraints import LARGEST, LONGEST, MOST_ITEMS
from faultspec_conformance.session.sampling.patterns import fits
from faultspec_conformance.session.sampling.schemas import (
    allows_null,
    branches_of,
    is_read_only,
    kind,
    last_within,
    merge_all_of,
    only_branch,
    properties_of,
    required_names,
)
from faultspec_conformance.session.sampling.source import ValueSource
from faultspec_conformance.session.sampling.values import sample_value

#: Levels of a body whose members are put at their bounds.
_DEEPEST = 3

#: Characters that fill a text up to a length; a pattern may allow only one kind of them.
_FILLERS = "xX0-"


@dataclass(frozen=True, slots=True)
class ValueAtBound:
    """A value at a bound. ``keyword``: the bound. ``what``: the bound and the value in words.

    ``path``: the members and indexes that lead to the value, from the outermost. ``value``: it; for
    `required` the names of the members that stay, for `properties` the members that are added.
    ``inside``: a value next to it that is within the bounds, or None.
    """

    keyword: str
    what: str
    value: object
    path: tuple[str | int, ...] = ()
    inside: object = None

    def put_into(self, body: object) -> object:
        """The body with the value at its path."""
        return _put(body, self.path, self)

    @property
    def neighbour(self) -> "ValueAtBound | None":
        """The value next to it, further from the bound; None if there is none.

        A text of one or two characters has none: it may name something that exists, so that its
        refusal says nothing of the bound.
        """
        if self.inside is None or (isinstance(self.value, str) and 0 < len(self.value) < 3):
            return None
        return replace(self, value=self.inside, inside=None)


def _put(body: object, path: tuple[str | int, ...], found: ValueAtBound) -> object:
    if not path:
        if found.keyword == "required" and isinstance(body, dict):
            return {name: body[name] for name in body if name in sequence(found.value)}
        if found.keyword == "properties" and isinstance(body, dict):
            assert isinstance(found.value, dict)
            return {**found.value, **body}
        return found.value
    first, *rest = path
    if isinstance(body, list) and isinstance(first, int):
        return [
            _put(item, tuple(rest), found) if index == first else item
            for index, item in enumerate(body)
        ]
    members = body if isinstance(body, dict) else {}
    return {**members, str(first): _put(members.get(str(first)), tuple(rest), found)}


def values_at_bounds(
    source: ValueSource, schema: object, valid: object, depth: int = 0
) -> Iterator[ValueAtBound]:
    """Yield a value for each bound of a schema, and of the schemas in it; members take turns.

    ``valid``: a value that the schema allows.
    """
    if is_read_only(merge_all_of(source.document, schema)):
        return
    kinds = []
    for node in branches_of(source.document, schema):
        match kind(node):
            case "object":
                kinds.append(_vary_object(source, node, valid, depth))
            case "array":
                kinds.append(_vary_list(source, node, valid, depth))
            case "string" if "enum" not in node and "const" not in node:
                kinds.append(_vary_text(source, node, valid))
            case "integer" | "number" if "enum" not in node and "const" not in node:
                kinds.append(_vary_number(node))
        kinds.append(_choose_other(node, valid))
    found = chain.from_iterable(kinds)
    yield from (one for one in found if one.path or not _is_same(one.value, valid))
    if valid is not None and allows_null(source.document, schema):
        yield ValueAtBound("null", "null (it is nullable)", None)


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _vary_object(
    source: ValueSource, node: Json, valid: object, depth: int
) -> Iterator[ValueAtBound]:
    """The object with all optional members, with none, and each member at its bounds."""
    if not isinstance(valid, dict):
        return
    schemas = {
        name: schema
        for name, schema in properties_of(node).items()
        if not is_read_only(merge_all_of(source.document, schema))
    }
    required = required_names(node)
    missing = [name for name in schemas if name not in valid]
    if missing:
        added = {name: sample_value(source, schemas[name]) for name in missing}
        yield ValueAtBound("properties", "all optional members", added)
    if any(name not in required for name in valid):
        yield ValueAtBound("required", "no optional member", [*required])
    if depth >= _DEEPEST:
        return
    members = (
        _vary_member(source, name, schema, valid, depth=depth) for name, schema in schemas.items()
    )
    for turn in zip_longest(*members):
        yield from (one for one in turn if one is not None)


def _vary_member(
    source: ValueSource, name: str, schema: object, valid: dict[str, object], *, depth: int
) -> Iterator[ValueAtBound]:
    """The bounds of one member. A member that the valid object lacks is added whole."""
    value = valid[name] if name in valid else sample_value(source, schema)
    for found in values_at_bounds(source, schema, value, depth + 1):
        if name in valid:
            yield replace(found, path=(name, *found.path))
            continue
        nearest = found.neighbour
        yield replace(
            found,
            keyword="member" if found.keyword in ("required", "properties") else found.keyword,
            path=(name,),
            value=found.put_into(value),
            inside=None if nearest is None else nearest.put_into(value),
        )


def _vary_list(
    source: ValueSource, node: Json, valid: object, depth: int
) -> Iterator[ValueAtBound]:
    items = valid if isinstance(valid, list) else []
    most, least = node.get("maxItems"), node.get("minItems")
    if isinstance(most, int) and 0 < most <= MOST_ITEMS:
        longest = _lengthen(source, node, items, most)
        if longest is not None:
            what = f"{most} items (`maxItems: {most}`)"
            yield ValueAtBound("maxItems", what, longest, inside=longest[:-1])
    fewest = least if isinstance(least, int) else 0
    shortest = _lengthen(source, node, items[:fewest], fewest)
    if shortest is not None:
        what = f"{fewest} items (`minItems: {fewest}`)" if fewest else "no item"
        yield ValueAtBound("minItems", what, shortest, inside=items or None)
    if items and depth < _DEEPEST:
        for found in values_at_bounds(source, node.get("items", {}), items[0], depth + 1):
            yield replace(found, path=(0, *found.path))


def _lengthen(
    source: ValueSource, node: Json, items: list[object], length: int
) -> list[object] | None:
    """The items with more of their kind, up to a length; None if they would repeat and must not."""
    known = sequence(only_branch(source.document, node.get("items", {})).get("enum"))
    more = iter([one for one in known if one not in items])
    found = [*items[:length]]
    while len(found) < length:
        found.append(next(more, None) if known else sample_value(source, node.get("items", {})))
    repeated = any(one in found[:index] for index, one in enumerate(found))
    return None if node.get("uniqueItems") is True and repeated else found


def _vary_text(source: ValueSource, node: Json, valid: object) -> Iterator[ValueAtBound]:
    """The longest and the shortest text. A text with a format has no other length."""
    longest, least = node.get("maxLength"), node.get("minLength")
    text = valid if isinstance(valid, str) else ""
    shortest = least if isinstance(least, int) else 0
    if shortest > LONGEST:
        return
    if isinstance(longest, int) and 0 < longest <= LONGEST:
        made = _text_of_length(source, node, text, longest)
        if made is not None:
            what = f"{longest} characters (`maxLength: {longest}`)"
            inside = _text_of_length(source, node, text, longest - 1)
            yield ValueAtBound("maxLength", what, made, inside=inside or None)
    made = _text_of_length(source, node, text, shortest)
    if made is not None:
        what = f"{shortest} characters (`minLength: {shortest}`)" if shortest else "an empty text"
        inside = _text_of_length(source, node, text, shortest + 1)
        yield ValueAtBound("minLength", what, made, inside=inside or None)


def _text_of_length(source: ValueSource, node: Json, valid: str, length: int) -> str | None:
    """A text of this length that the schema allows, a new one if possible; None: none is known."""
    if "format" in node:
        return None
    pattern, token = node.get("pattern"), source.token()
    heads = (token, token.upper(), valid, "")
    fills = (f"{_FILLERS}{valid[-1:]}" for _ in heads)
    candidates = (
        head[:length].ljust(length, filler)
        for head, filling in zip(heads, fills, strict=True)
        for filler in filling
    )
    if not isinstance(pattern, str):
        return next(candidates)
    return next((text for text in candidates if fits(pattern, text)), None)


def _vary_number(node: Json) -> Iterator[ValueAtBound]:
    whole, step = kind(node) == "integer", node.get("multipleOf")
    largest = LARGEST.get(str(node.get("format"))) if whole else None
    ends = {"maximum": largest, "minimum": None if largest is None else -largest - 1}
    for name, inward in (("maximum", -1), ("minimum", 1)):
        last = last_within(node, name)
        shown = name if last is not None else "format"
        last = ends[name] if last is None else last
        if last is None:
            continue
        size = step if isinstance(step, int | float) and step > 0 else 1
        if size != 1:
            # The last multiple within the bound.
            last = last // size * size if inward < 0 else -(-last // size) * size
        value = int(last) if whole else last
        other = last_within(node, "minimum" if name == "maximum" else "maximum")
        inside = value + inward * (int(size) if whole else size)
        beyond = other is not None and (inside < other if inward < 0 else inside > other)
        yield ValueAtBound(name, f"{value} (`{shown}`)", value, inside=None if beyond else inside)


def _choose_other(node: Json, valid: object) -> Iterator[ValueAtBound]:
    for value in sequence(node.get("enum")):
        if not _is_same(value, valid):
            yield ValueAtBound("enum", f"{value!r} (`enum`)", value)
    if kind(node) == "boolean" and "enum" not in node and "const" not in node:
        yield ValueAtBound("enum", f"{not valid}".lower(), not valid)
