"""Values that a schema allows."""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from faultspec.openapi.nodes import Json, sequence
from faultspec.runtime import ids
from faultspec_conformance.session.sampling.identifiers import scramble
from faultspec_conformance.session.sampling.patterns import fits, sample_match
from faultspec_conformance.session.sampling.schemas import (
    DEEPEST,
    example_of,
    is_read_only,
    kind,
    merge_all_of,
    only_branch,
    properties_of,
    required_names,
)
from faultspec_conformance.session.sampling.source import ValueSource

#: Characters of a text, whatever `minLength` says.
_LONGEST = 100_000

#: Items of an array, whatever `minItems` says: a body is to stay small.
_MOST_ITEMS = 5

#: Attempts to scramble an example so that it still matches its pattern.
_ATTEMPTS = 20

#: Characters of a new text where the schema leaves room for them.
_TOKEN = 10

#: The greatest integer of 32 bits, which any service can store.
_MOST_INTEGER = 2**31 - 1

#: The least new integer, where the schema allows it: no test database counts that far.
_LEAST_INTEGER = 1_000_000

#: Characters of a new secret, and what satisfies rules about classes of characters in passwords.
_SECRET, _CLASSES = 24, "Aa1-"

#: The number of a card, with or without separators.
_CARD = re.compile(r"(?:\d[ -]?){11,18}\d")

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
    source: ValueSource,
    schema: object,
    *,
    fresh: bool = True,
    as_documented: bool = False,
    depth: int = 0,
) -> object:
    """A value that the schema allows. ``fresh``: free strings differ from call to call.

    ``as_documented``: examples inside the schema are taken as they are.
    """
    node = merge_all_of(source.document, schema)
    if depth > DEEPEST:
        return None
    for key in ("const", "default"):
        if key in node:
            return node[key]
    if enum := sequence(node.get("enum")):
        return enum[0]
    example = example_of(node)
    if example is not None:
        if as_documented:
            return without_read_only(source, node, example)
        return vary(source, node, example) if fresh else example

    def sample_inner(schema: object) -> object:
        return sample_value(
            source, schema, fresh=fresh, as_documented=as_documented, depth=depth + 1
        )

    branches = [*sequence(node.get("oneOf")), *sequence(node.get("anyOf"))]
    if branches:
        return sample_inner(branches[0])
    return _sample_kind(source, node, sample_inner, fresh=fresh)


def _sample_kind(
    source: ValueSource, node: Json, inside: Callable[[object], object], *, fresh: bool
) -> object:
    """A value of the schema's type. ``inside`` gives a value of a schema in it."""
    match kind(node):
        case "object":
            return _object(source, node, inside)
        case "array":
            least, most = node.get("minItems"), node.get("maxItems")
            count = max(1, least) if isinstance(least, int) else 1
            count = min(count, most) if isinstance(most, int) else count
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
    return _rewritten(source, schema, example, lambda node, text: _vary_example(source, node, text))


def one_change(source: ValueSource, schema: object, value: object) -> Iterator[object]:
    """Yield the value with one text or number in it changed within its schema, at any depth.

    Read-only members and values of an ``enum`` stay as they are.
    """
    node = merge_all_of(source.document, schema)
    if is_read_only(node):
        return
    if isinstance(value, dict):
        properties = properties_of(node)
        for name, member in value.items():
            for changed in one_change(source, properties.get(name, {}), member):
                yield {**value, name: changed}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            for changed in one_change(source, node.get("items", {}), item):
                yield [*value[:index], changed, *value[index + 1 :]]
    elif not {"enum", "const"} & set(node):
        yield from islice((one for one in _neighbours(source, node, value) if one != value), 1)


def _neighbours(source: ValueSource, node: Json, value: object) -> Iterator[object]:
    """Yield values that the schema of a text or a number allows, near the value."""
    if isinstance(value, str):
        texts = [_vary_example(source, node, value)]
        if node.get("format") in (None, "date", "date-time"):
            texts.append(str(new_value(source, {**node, "type": "string"})))
        yield from (text for text in texts if fits_text(node, text))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        step = node.get("multipleOf", 1)
        yield from (one for one in (value + step, value - step) if is_in_range(node, one))


def is_in_range(node: Json, value: float) -> bool:
    """Whether the bounds of a schema allow a number. Bounds of OpenAPI 3.0 are exclusive too."""
    low, high = node.get("minimum", value), node.get("maximum", value)
    least, most = node.get("exclusiveMinimum", False), node.get("exclusiveMaximum", False)
    above = low < value if least is True else low <= value
    below = value < high if most is True else value <= high
    above_least = isinstance(least, bool) or least < value
    below_most = isinstance(most, bool) or value < most
    return bool(above and below and above_least and below_most)


def without_read_only(source: ValueSource, schema: object, example: object) -> object:
    """The example as it is, without its read-only members, which no request contains."""
    return _rewritten(source, schema, example, lambda node, text: text)


def _rewritten(
    source: ValueSource, schema: object, example: object, rewrite: Callable[[Json, str], str]
) -> object:
    """The example without read-only members. ``rewrite`` changes a text, by its schema."""
    node = merge_all_of(source.document, schema)
    if isinstance(example, dict):
        properties = properties_of(node)
        return {
            key: _rewritten(source, properties[key], inner, rewrite) if key in properties else inner
            for key, inner in example.items()
            if not is_read_only(merge_all_of(source.document, properties.get(key)))
        }
    if isinstance(example, list):
        return [_rewritten(source, node.get("items", {}), item, rewrite) for item in example]
    if not isinstance(example, str) or "enum" in node or "const" in node:
        return example
    return rewrite(node, example)


def _vary_example(source: ValueSource, node: Json, example: str) -> str:
    if isinstance(node.get("format"), str):
        return _string(source, node) if node["format"] in ("uuid", "email") else example
    longest, pattern = node.get("maxLength"), node.get("pattern")
    varied = f"{example}-{source.token()}"
    if isinstance(pattern, str) and not fits(pattern, varied):
        return _like(source, node, example)
    return varied if not isinstance(longest, int) or len(varied) <= longest else example


def has_examples(document: Json, schema: object, depth: int = 0) -> bool:
    """Whether a schema, or one inside it, has an example."""
    node = merge_all_of(document, schema)
    if depth > DEEPEST:
        return False
    inner = (*properties_of(node).values(), *([node["items"]] if "items" in node else ()))
    return example_of(node) is not None or any(
        has_examples(document, member, depth + 1) for member in inner
    )


def new_value(source: ValueSource, schema: object) -> object:
    """A value of the schema's type, format and pattern that no other request has."""
    node = merge_all_of(source.document, schema)
    tokens = source.tokens
    match kind(node):
        case "integer" | "number":
            low, high = _bounds(node)
            return tokens.random.randint(low, high)
        case "string":
            if node.get("format") in ("date", "date-time"):
                return tokens.day() + ("" if node["format"] == "date" else "T12:00:00Z")
            pattern = node.get("pattern")
            if isinstance(pattern, str) or node.get("format") in {"email", *ids.FORMATS}:
                fresh = replace(source, random=tokens.random)
                made = _match(fresh, node, _TOKEN) if isinstance(pattern, str) else None
                made = _string(fresh, node) if made is None else made
                if fits_text(node, made):
                    return made
    return new_text(source, node, "{}")


def new_text(source: ValueSource, schema: object, template: str) -> str:
    """The template with a new token at ``{}``, of a form and a length that the schema allows."""
    node = merge_all_of(source.document, schema)
    plain = template.replace("{}", source.token())
    least = node.get("minLength")
    if isinstance(least, int) and len(plain) < least <= _LONGEST:
        rest = least - len(plain) + _TOKEN
        plain = template.replace("{}", source.tokens.hex(rest)[:rest], 1)
    candidates = (template.replace("{}", token) for token in _tokens(source))
    fitting = (text for text in candidates if fits_text(node, text))
    return plain if fits_text(node, plain) else next(fitting, plain)


def secrets_like(source: ValueSource, schema: object, example: str) -> Iterator[str]:
    """Yield new values for a confidential member: of the shape of the example, then as long as the
    schema allows.
    """
    node = merge_all_of(source.document, schema)
    if "enum" in node or "const" in node:
        return
    candidates = []
    if len(example) >= _TOKEN and any(map(str.isdigit, example)):
        candidates.append(_with_check_digit(scramble(source.tokens, example), example))
    if isinstance(node.get("pattern"), str):
        fresh = replace(source, random=source.tokens.random)
        candidates.append(_match(fresh, node, _SECRET) or "")
    else:
        candidates.append(_password(source, node))
    yield from (made for made in candidates if made and fits_text(node, made))


def _password(source: ValueSource, node: Json) -> str:
    least, most = node.get("minLength"), node.get("maxLength")
    length = max(_SECRET, min(least, _LONGEST) if isinstance(least, int) else 0)
    rest = min(length, most if isinstance(most, int) else length) - len(_CLASSES)
    letters = string.ascii_letters + string.digits
    return _CLASSES + "".join(source.tokens.choice(letters) for _ in range(rest))


def _with_check_digit(text: str, example: str) -> str:
    """The text with the last digit of a card number (ISO/IEC 7812-1, annex B) if the example has
    one.
    """
    if not _is_card(example):
        return text
    return next(text[:-1] + digit for digit in string.digits if _is_card(text[:-1] + digit))


def _is_card(text: str) -> bool:
    digits = [int(character) for character in text if character.isdigit()]
    if not text[-1:].isdigit() or not _CARD.fullmatch(text):
        return False
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _tokens(source: ValueSource) -> Iterator[str]:
    """New tokens of several alphabets, the longest first."""
    for length in range(_TOKEN, 0, -1):
        for alphabet in (string.hexdigits[:16], string.digits, string.ascii_uppercase):
            yield "".join(source.tokens.choice(alphabet) for _ in range(length))


def fits_text(node: Json, text: str) -> bool:
    """Whether the lengths and the pattern of a schema allow a text."""
    least, most, pattern = node.get("minLength"), node.get("maxLength"), node.get("pattern")
    long_enough = not isinstance(least, int) or len(text) >= least
    short_enough = not isinstance(most, int) or len(text) <= most
    return long_enough and short_enough and (not isinstance(pattern, str) or fits(pattern, text))


def _bounds(node: Json) -> tuple[int, int]:
    """The least and the greatest new integer of a schema."""
    low, high = node.get("minimum"), node.get("maximum")
    greatest = int(high) if isinstance(high, int | float) else _MOST_INTEGER
    least = int(low) if isinstance(low, int | float) else min(_LEAST_INTEGER, greatest)
    return min(least, greatest), max(least, greatest)


def free_texts(document: Json, schema: object) -> frozenset[str]:
    """The members of an object that take any text, or any text with something put to its end."""
    found = set()
    for name, member in properties_of(merge_all_of(document, schema)).items():
        node = only_branch(document, member)
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
    names = required_names(node) if "required" in node else tuple(properties)
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
    made = _match(source, node) if isinstance(pattern, str) else None
    if made is not None:
        return made
    text = f"value-{source.token()}" if fresh else "value"
    least, most = node.get("minLength"), node.get("maxLength")
    if isinstance(least, int) and least <= _LONGEST:
        text = text.ljust(least, "x")
    return text[-most:] if isinstance(most, int) and 0 < most < len(text) else text


def _match(source: ValueSource, node: Json, length: int = 0) -> str | None:
    """A text of the pattern and the lengths of a schema, of at least ``length`` characters if these
    allow it; None: none is known.
    """
    least, most = node.get("minLength"), node.get("maxLength")
    low = min(least, _LONGEST) if isinstance(least, int) else 0
    high = most if isinstance(most, int) else None
    wished = length if high is None else min(length, high)
    for first in dict.fromkeys((max(low, wished), low)):
        made = sample_match(source, str(node["pattern"]), first, high)
        if made is not None:
            return made
    return None


def _like(source: ValueSource, node: Json, example: str) -> str:
    """Another string that matches the pattern of a schema, like the example if possible."""
    for _ in range(_ATTEMPTS):
        candidate = scramble(source.tokens, example)
        if candidate != example and fits(str(node["pattern"]), candidate):
            return candidate
    return _match(source, node) or example
