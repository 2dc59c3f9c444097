"""Values that a schema allows."""

from collections.abc import Callable, Mapping

from faultspec.openapi.nodes import Json, listed
from faultspec.runtime import ids
from faultspec_conformance.session.sampling.identifiers import scrambled
from faultspec_conformance.session.sampling.patterns import fits, matching
from faultspec_conformance.session.sampling.schemas import (
    DEEPEST,
    example_of,
    is_read_only,
    kind,
    merge_all_of,
    properties_of,
    required_of,
)
from faultspec_conformance.session.sampling.source import ValueSource

#: Items of an array, whatever `minItems` says: a body is to stay small.
_MOST_ITEMS = 5

#: Attempts to scramble an example so that it still matches its pattern.
_ATTEMPTS = 20

_FORMATS: Mapping[str, str] = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:00:00Z",
    "time": "12:00:00Z",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "AA==",
    "duration": "PT1H",
}


def sample_value(
    source: ValueSource, schema: object, *, fresh: bool = True, depth: int = 0
) -> object:
    """A value that the schema allows. ``fresh``: free strings differ from call to call."""
    node = merge_all_of(source.document, schema)
    if depth > DEEPEST:
        return None
    for key in ("const", "default"):
        if key in node:
            return node[key]
    if enum := listed(node.get("enum")):
        return enum[0]
    example = example_of(node)
    if example is not None:
        return vary(source, node, example) if fresh else example

    def inside(schema: object) -> object:
        return sample_value(source, schema, fresh=fresh, depth=depth + 1)

    branches = [*listed(node.get("oneOf")), *listed(node.get("anyOf"))]
    if branches:
        return inside(branches[0])
    return _of_kind(source, node, inside, fresh=fresh)


def _of_kind(
    source: ValueSource, node: Json, inside: Callable[[object], object], *, fresh: bool
) -> object:
    """A value of the schema's type. ``inside`` gives a value of a schema in it."""
    match kind(node):
        case "object":
            return _object(source, node, inside)
        case "array":
            least = node.get("minItems")
            count = max(1, least) if isinstance(least, int) else 1
            return [inside(node.get("items", {})) for _ in range(min(count, _MOST_ITEMS))]
        case "integer" | "number" as type_:
            return _number(node, whole=type_ == "integer")
        case "boolean":
            return True
        case "null":
            return None
    return _string(source, node, fresh=fresh)


def vary(source: ValueSource, schema: object, example: object) -> object:
    """The example with its free strings, addresses and ids made new, at any depth.

    Read-only members are left out.
    """
    node = merge_all_of(source.document, schema)
    if isinstance(example, dict):
        properties = properties_of(node)
        return {
            key: vary(source, properties[key], inner) if key in properties else inner
            for key, inner in example.items()
            if not is_read_only(merge_all_of(source.document, properties.get(key)))
        }
    if isinstance(example, list):
        return [vary(source, node.get("items", {}), item) for item in example]
    if not isinstance(example, str) or "enum" in node or "const" in node:
        return example
    if isinstance(node.get("format"), str):
        return _string(source, node) if node["format"] in ("uuid", "email") else example
    longest, pattern = node.get("maxLength"), node.get("pattern")
    varied = f"{example}-{source.token()}"
    if isinstance(pattern, str) and not fits(pattern, varied):
        return _like(source, pattern, example)
    return varied if not isinstance(longest, int) or len(varied) <= longest else example


def free_texts(document: Json, schema: object) -> frozenset[str]:
    """The members of an object that take any text, or any text with something put to its end."""
    found = set()
    for name, member in properties_of(merge_all_of(document, schema)).items():
        node = merge_all_of(document, member)
        pattern = node.get("pattern")
        free = not isinstance(pattern, str) or fits(pattern, "a-0")
        if kind(node) == "string" and free and not {"enum", "const", "format"} & set(node):
            found.add(name)
    return frozenset(found)


def _object(
    source: ValueSource, node: Json, inside: Callable[[object], object]
) -> dict[str, object]:
    """The required members, or all if the schema has no ``required``."""
    properties = properties_of(node)
    names = required_of(node) if "required" in node else tuple(properties)
    return {
        name: inside(properties.get(name, {}))
        for name in names
        if not is_read_only(merge_all_of(source.document, properties.get(name)))
    }


def _number(node: Json, *, whole: bool) -> int | float:
    low, high, multiple = node.get("minimum"), node.get("maximum"), node.get("multipleOf")
    exclusive = node.get("exclusiveMinimum")
    if isinstance(exclusive, int | float) and not isinstance(exclusive, bool):
        low = exclusive + 1
    elif exclusive is True and isinstance(low, int | float):
        low = low + 1
    chosen: int | float = 1
    if isinstance(low, int | float) and chosen < low:
        chosen = low
    if isinstance(high, int | float) and chosen > high:
        chosen = high
    if isinstance(multiple, int | float) and multiple > 0:
        chosen = -(-chosen // multiple) * multiple
    return int(chosen) if whole else chosen


def _string(source: ValueSource, node: Json, *, fresh: bool = True) -> str:
    named = node.get("format")
    if named == "email":
        return f"user-{source.token() if fresh else 'a'}@example.com"
    if isinstance(named, str) and named in ids.FORMATS:
        return source.tokens.id(named)
    if isinstance(named, str) and named in _FORMATS:
        return _FORMATS[named]
    pattern = node.get("pattern")
    made = matching(source, pattern) if isinstance(pattern, str) else None
    if made is not None:
        return made
    text = f"value-{source.token()}" if fresh else "value"
    least, most = node.get("minLength"), node.get("maxLength")
    if isinstance(least, int):
        text = text.ljust(least, "x")
    return text[-most:] if isinstance(most, int) and 0 < most < len(text) else text


def _like(source: ValueSource, pattern: str, example: str) -> str:
    """Another string that matches the pattern, like the example if possible."""
    for _ in range(_ATTEMPTS):
        candidate = scrambled(source.tokens, example)
        if candidate != example and fits(pattern, candidate):
            return candidate
    return matching(source, pattern) or example
