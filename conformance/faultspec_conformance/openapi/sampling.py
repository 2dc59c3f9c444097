"""Values that a schema describes, and values that it rules out.

All randomness comes from the `Source` that is handed in.
"""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from faultspec.runtime import ids
from faultspec_conformance.openapi.document import Json, resolve
from faultspec_conformance.openapi.tokens import Tokens, fresh

#: Deeper than bodies go in practice; beyond it a recursive schema is cut.
_DEPTH = 8

#: What unbounded repetition in a pattern is cut to.
_REPEAT = 6

_HEX = "0123456789abcdef"


@dataclass(slots=True)
class ValueSource:
    """Where values come from: the document for references, a seeded generator, and what is new in every run."""

    document: Json
    random: Random
    tokens: Tokens = field(default_factory=fresh)

    def token(self) -> str:
        """Ten characters that no earlier run used."""
        return self.tokens.hex(5)


def value(source: ValueSource, schema: object, *, fresh: bool = True, depth: int = 0) -> object:
    """A value that the schema allows. ``fresh``: free strings differ from call to call."""
    node = merged(source.document, schema)
    if depth > _DEPTH:
        return None
    for key in ("const", "default"):
        if key in node:
            return node[key]
    enum = node.get("enum")
    if isinstance(enum, list) and enum:
        return enum[0]
    example = example_of(node)
    if example is not None:
        return vary(source, node, example) if fresh else example
    for key in ("oneOf", "anyOf"):
        branches = node.get(key)
        if isinstance(branches, list) and branches:
            return value(source, branches[0], fresh=fresh, depth=depth + 1)
    match kind(node):
        case "object":
            return _object(source, node, fresh, depth)
        case "array":
            least = node.get("minItems")
            count = max(1, least) if isinstance(least, int) else 1
            return [
                value(source, node.get("items", {}), fresh=fresh, depth=depth + 1)
                for _ in range(min(count, 5))
            ]
        case "integer" | "number" as which:
            return _number(node, which == "integer")
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _string(source, node, fresh)


def vary(source: ValueSource, schema: object, example: object) -> object:
    """The example with whatever text may differ made new: free strings, addresses, ids; members of an object alike."""
    node = merged(source.document, schema)
    if isinstance(example, dict):
        properties = _properties(node)
        return {
            key: vary(source, properties[key], each) if key in properties else each
            for key, each in example.items()
            if not (
                key in properties
                and merged(source.document, properties[key]).get("readOnly") is True
            )
        }
    if isinstance(example, list):
        return [vary(source, node.get("items", {}), each) for each in example]
    if not isinstance(example, str) or "enum" in node or "const" in node:
        return example
    if isinstance(node.get("format"), str):
        return _string(source, node, True) if node["format"] in ("uuid", "email") else example
    most, pattern = node.get("maxLength"), node.get("pattern")
    varied = f"{example}-{source.token()}"
    if isinstance(pattern, str) and not _fits(pattern, varied):
        return _like(source, pattern, example)
    return varied if not isinstance(most, int) or len(varied) <= most else example


def free_texts(document: Json, schema: object) -> frozenset[str]:
    """The members of an object that take any text, or a text with something put to its end."""
    found = set()
    for name, each in _properties(merged(document, schema)).items():
        inner = merged(document, each)
        pattern = inner.get("pattern")
        fits = not isinstance(pattern, str) or _fits(pattern, "a-0")
        if kind(inner) == "string" and fits and not {"enum", "const", "format"} & set(inner):
            found.add(name)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Violation:
    """A body that a schema rules out, and ``what`` is wrong with it. ``sure``: whoever validates at all finds it.

    Of ``format`` JSON Schema lets everyone choose whether it is checked (2020-12, validation, 7.2).
    """

    what: str
    body: object
    sure: bool = True


def violations(source: ValueSource, schema: object, body: object, mark: str) -> Iterator[Violation]:
    """Bodies that the schema rules out, the plainest first; ``mark`` stands in what is wrong, where anything does."""
    node = merged(source.document, schema)
    if not isinstance(body, dict):
        return
    properties = _properties(node)
    inner = {name: merged(source.document, each) for name, each in properties.items()}
    required = node.get("required")
    for name in required if isinstance(required, list) else ():
        if name in body:
            left = {key: each for key, each in body.items() if key != name}
            yield Violation(f"the required member `{name}` left out", left)
            break
    numbers = [name for name in properties if kind(inner[name]) in ("integer", "number")]
    for name in sorted(
        body, key=lambda each: each not in numbers
    ):  # who reckons with it crashes sooner than who stores it
        types = _types(inner.get(name, {}))
        if types and "object" not in types:
            yield Violation(
                f"an object where `{name}` is {types[0]}", {**body, name: {"unexpected": mark}}
            )
            break
    for name in dict.fromkeys(
        (*numbers, *properties)
    ):  # a number that is quietly corrected is the likelier mistake
        outside = beyond(inner[name], mark)
        if outside is not None and inner[name].get("readOnly") is not True:
            yield Violation(f"a value of `{name}` out of its range", {**body, name: outside})
            break
    for name in properties:
        named = inner[name].get("format")
        if (
            named in _TOLD_APART
            and "enum" not in inner[name]
            and inner[name].get("readOnly") is not True
        ):
            yield Violation(
                f"a value of `{name}` that is no {named}", {**body, name: mark}, sure=False
            )
            break


#: Formats that no mark is an instance of.
_TOLD_APART = frozenset({"uuid", "date", "date-time", "time", "email", "ipv4", "ipv6", "uri"})


def beyond(node: Json, mark: str) -> object:
    """A value just outside the bounds of a schema, or None where it has none; a text begins with the mark."""
    most, least = node.get("maximum"), node.get("minimum")
    if isinstance(most, int) and not isinstance(most, bool):
        return most + 1
    if isinstance(least, int) and not isinstance(least, bool):
        return least - 1
    if isinstance(node.get("enum"), list) and kind(node) in ("string", None):
        return mark
    longest = node.get("maxLength")
    if isinstance(longest, int) and longest < 10_000:
        return mark + "x" * (longest + 1 - len(mark))
    pattern = node.get("pattern")
    return (
        mark
        if isinstance(pattern, str) and _compiles(pattern) and not _fits(pattern, mark)
        else None
    )


def another(source: ValueSource, identifier: object) -> object:
    """An identifier of the same format as ``identifier`` that names nothing."""
    if isinstance(identifier, bool) or identifier is None:
        return identifier
    if isinstance(identifier, int):
        return 2_000_000_000 + source.random.randrange(
            100_000_000
        )  # fits 32 bits, and no test database counts that far
    text = str(identifier)
    for name in ("uuid7", "uuid4", "ulid", "ksuid"):
        if ids.FORMATS[name](text):
            made = source.tokens.id(name)
            return made.lower() if text.islower() else made
    if text.isdigit():
        return str(another(source, 0))[: max(9, len(text))]
    prefix = re.match(r"(?:[A-Za-z]+[_\-:])*", text)
    head = prefix[0] if prefix and prefix[0] != text else ""
    tail = text[len(head) :]
    if tail.isdigit():
        return head + str(another(source, 0)).zfill(len(tail))[-max(9, len(tail)) :]
    hexadecimal = all(c in _HEX + "-" for c in tail)
    return head + "".join(_scrambled(source.tokens, c, hexadecimal) for c in tail)


def _scrambled(tokens: Tokens, character: str, hexadecimal: bool) -> str:
    if hexadecimal and character in _HEX:
        return tokens.choice(_HEX)
    for alphabet in (string.digits, string.ascii_lowercase, string.ascii_uppercase):
        if character in alphabet:
            return tokens.choice(alphabet)
    return character


def merged(document: Json, schema: object, depth: int = 0) -> Json:
    """A schema with its reference followed and its ``allOf`` folded in."""
    node = resolve(document, schema)
    parts = node.get("allOf")
    if not isinstance(parts, list) or depth > _DEPTH:
        return node
    result: dict[str, object] = {key: each for key, each in node.items() if key != "allOf"}
    for part in parts:
        inner = merged(document, part, depth + 1)
        properties = {**_properties(inner), **_properties(result)}
        required = [*_names(result.get("required")), *_names(inner.get("required"))]
        result = {**inner, **result}
        if properties:
            result["properties"] = properties
        if required:
            result["required"] = list(dict.fromkeys(required))
    return result


def kind(node: Json) -> str | None:
    """The JSON type that a schema means: the first declared one, or what its keywords imply."""
    types = _types(node)
    if types:
        return next((type_ for type_ in types if type_ != "null"), "null")
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node:
        return "array"
    return None


def example_of(node: Json) -> object:
    """The example a schema gives, or None."""
    if "example" in node:
        return node["example"]
    examples = node.get("examples")
    return examples[0] if isinstance(examples, list) and examples else None


def _types(node: Json) -> tuple[str, ...]:
    declared = node.get("type")
    if isinstance(declared, str):
        return (declared,)
    return tuple(str(each) for each in declared) if isinstance(declared, list) else ()


def _properties(node: Json) -> Mapping[str, object]:
    properties = node.get("properties")
    return properties if isinstance(properties, dict) else {}


def _names(required: object) -> tuple[str, ...]:
    return tuple(str(each) for each in required) if isinstance(required, list) else ()


def _object(source: ValueSource, node: Json, fresh: bool, depth: int) -> dict[str, object]:
    properties = _properties(node)
    required = _names(node.get("required"))
    chosen: Sequence[str] = required if "required" in node else tuple(properties)
    return {
        name: value(source, properties.get(name, {}), fresh=fresh, depth=depth + 1)
        for name in chosen
        if merged(source.document, properties.get(name, {})).get("readOnly") is not True
    }


def _number(node: Json, whole: bool) -> int | float:
    low, high = node.get("minimum"), node.get("maximum")
    exclusive = node.get("exclusiveMinimum")
    if isinstance(exclusive, int | float) and not isinstance(exclusive, bool):
        low = exclusive + 1
    elif exclusive is True and isinstance(low, int | float):
        low = low + 1
    multiple = node.get("multipleOf")
    chosen: int | float = 1
    if isinstance(low, int | float) and chosen < low:
        chosen = low
    if isinstance(high, int | float) and chosen > high:
        chosen = high
    if isinstance(multiple, int | float) and multiple > 0:
        chosen = -(-chosen // multiple) * multiple
    return int(chosen) if whole else chosen


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


def _string(source: ValueSource, node: Json, fresh: bool) -> str:
    named = node.get("format")
    if named == "email":
        return f"user-{source.token() if fresh else 'a'}@example.com"
    if isinstance(named, str) and named in ids.FORMATS:
        return source.tokens.id(named)
    if isinstance(named, str) and named in _FORMATS:
        return _FORMATS[named]
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        made = matching(source, pattern)
        if made is not None:
            return made
    text = f"value-{source.token()}" if fresh else "value"
    least, most = node.get("minLength"), node.get("maxLength")
    if isinstance(least, int) and len(text) < least:
        text += "x" * (least - len(text))
    return text[-most:] if isinstance(most, int) and 0 < most < len(text) else text


def _like(source: ValueSource, pattern: str, example: str) -> str:
    """Another string that fits the pattern, preferably as the example with other letters and digits."""
    for _ in range(20):
        candidate = "".join(_scrambled(source.tokens, c, False) for c in example)
        if candidate != example and _fits(pattern, candidate):
            return candidate
    return matching(source, pattern) or example


def _fits(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:  # a construct that only JavaScript has
        return False
    return True


def matching(source: ValueSource, pattern: str) -> str | None:
    """A string that the regular expression finds itself in, or None where it is beyond this little generator."""
    for _ in range(20):
        try:
            text = _Pattern(pattern, source.random).text()
        except _Unsupported:
            return None
        if _fits(pattern, text):
            return text
    return None


class _Unsupported(Exception):
    """A construct of regular expressions that the generator doesn't know."""


class _Pattern:
    """Reads the common part of regular-expression syntax, producing a matching text as it goes."""

    def __init__(self, pattern: str, random: Random) -> None:
        self.rest = pattern
        self.random = random

    def text(self) -> str:
        made = self.alternatives()
        if self.rest:
            raise _Unsupported
        return made

    def alternatives(self) -> str:
        made = self.sequence()
        while self.take("|"):
            self.sequence()
        return made

    def sequence(self) -> str:
        made = ""
        while self.rest and self.rest[0] not in "|)":
            before = self.rest
            atom = self.atom()
            low, high = self.times()
            count = self.random.randint(low, high)
            if count == 0:
                continue
            made += atom
            after = self.rest
            for _ in range(count - 1):
                self.rest = before
                made += self.atom()
            self.rest = after
        return made

    def take(self, text: str) -> bool:
        if self.rest.startswith(text):
            self.rest = self.rest[len(text) :]
            return True
        return False

    def times(self) -> tuple[int, int]:
        if matched := re.match(r"\{(\d+)(,(\d*))?\}", self.rest):
            self.rest = self.rest[matched.end() :]
            low = int(matched[1])
            high = low if matched[2] is None else int(matched[3]) if matched[3] else low + _REPEAT
            result = (low, min(high, low + _REPEAT))
        elif self.take("*"):
            result = (0, _REPEAT)
        elif self.take("+"):
            result = (1, _REPEAT)
        elif self.take("?"):
            result = (0, 1)
        else:
            return (1, 1)
        self.take("?")
        return result

    def atom(self) -> str:
        if self.take("(?:") or self.take("("):
            if self.rest.startswith("?"):
                raise _Unsupported
            made = self.alternatives()
            if not self.take(")"):
                raise _Unsupported
            return made
        if self.take("["):
            return self.random.choice(self.members())
        if self.take("^") or self.take("$"):
            return ""
        if self.take("\\"):
            return self.random.choice(self.escaped())
        if self.take("."):
            return self.random.choice(string.ascii_lowercase)
        character, self.rest = self.rest[0], self.rest[1:]
        return character

    def escaped(self) -> str:
        if not self.rest:
            raise _Unsupported
        letter, self.rest = self.rest[0], self.rest[1:]
        if letter in "bBAZzGpPuxcQE" or letter.isdigit():
            raise _Unsupported
        known = {
            "d": string.digits,
            "w": string.ascii_lowercase + string.digits + "_",
            "s": " ",
            "D": "x",
            "W": "-",
            "S": "x",
        }
        return known.get(letter, letter)

    def members(self) -> str:
        negated = self.take("^")
        found = ""
        while self.rest and not self.rest.startswith("]"):
            if self.take("\\"):
                found += self.escaped()
                continue
            first, self.rest = self.rest[0], self.rest[1:]
            if len(self.rest) > 1 and self.rest[0] == "-" and self.rest[1] != "]":
                last, self.rest = self.rest[1], self.rest[2:]
                found += "".join(map(chr, range(ord(first), ord(last) + 1)))
            else:
                found += first
        if not self.take("]"):
            raise _Unsupported
        if negated:
            found = "".join(
                c for c in string.ascii_letters + string.digits + "-_" if c not in found
            )
        if not found:
            raise _Unsupported
        return found
