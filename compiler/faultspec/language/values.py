"""Checks values against schemas of the language: examples, judged bodies, details.

`check_value` implements the language's closed subset of JSON Schema 2020-12. It gives an imported
(`opaque`) schema to `jsonschema`, without access to the network. Breaches of recommendations
(`expected`, `additional: warn`) are warnings.
"""

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from faultspec.exchange.expressions import (
    SEARCHED,
    UncheckableExpression,
    python_syntax,
    search,
    slowness,
)
from faultspec.exchange.sensitive import MASK
from faultspec.language import formats
from faultspec.language.header_syntax import parse_scalar
from faultspec.language.model import Constant, HeaderRule, Schema, Taxonomy, Term
from faultspec.runtime.nodes import child

Vocabularies = Mapping[str, Collection[str]]
"""The terms of each vocabulary by name, as `vocabularies` returns them."""

Step = str | int

_NO_VOCABULARIES: Vocabularies = MappingProxyType({})


class ValueProblem(NamedTuple):
    """A place in a value that breaks its schema.

    `problem` is a predicate of the place: "is 3; expected a string". `keyword` is the broken key
    of the schema; or `missing` or `forbidden` for a member, `imported` for a breach of an imported
    schema, and `unusable` if that schema could not be applied. `quoted` is the part of `problem`
    that has text of the value.
    """

    path: tuple[Step, ...]
    problem: str
    keyword: str
    severity: Literal["error", "warning"] = "error"
    quoted: str | None = None

    @property
    def without_value(self) -> str:
        """The problem with a mask in place of the value."""
        return self.problem if self.quoted is None else self.problem.replace(self.quoted, MASK, 1)

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer (RFC 6901)."""
        pointer = ""
        for step in self.path:
            pointer = child(pointer, step)
        return pointer


def vocabularies(taxonomy: Taxonomy, *, reserved: bool = True) -> Vocabularies:
    """The terms by vocabulary, including actions, boundaries and domains; perhaps reserved ones."""
    named: dict[str, Mapping[str, Term]] = {
        **taxonomy.vocabularies,
        "actions": taxonomy.actions,
        "boundaries": taxonomy.boundaries,
        "domains": taxonomy.domains,
    }
    return {
        name: tuple(
            term.name for term in terms.values() if reserved or term.lifecycle != "reserved"
        )
        for name, terms in named.items()
    }


def check_header_text(
    rule: HeaderRule, text: str, vocabularies: Vocabularies = _NO_VOCABULARIES
) -> Iterator[ValueProblem]:
    """Every problem of the text of a header under the schema of its value."""
    if rule.value is not None:
        yield from check_value(rule.value, parse_scalar(text, rule.value.types), vocabularies)


def is_text_or_number(value: object) -> bool:
    """Whether a value is a string or a number; a boolean is neither."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def check_value(
    schema: Schema,
    value: object,
    vocabularies: Vocabularies = _NO_VOCABULARIES,
    known: Collection[str] = formats.FORMATS,
) -> Iterator[ValueProblem]:
    """Every place at or below `value` (JSON data) that breaks `schema`, in document order.

    A value of the wrong type has no other problems. A vocabulary that is not given allows
    everything. Formats outside `known` are annotations, as in JSON Schema; one of them among
    alternatives allows any text.
    """
    return _Checker(vocabularies, known).check(schema, value, ())


class _Checker(NamedTuple):
    vocabularies: Vocabularies
    formats: Collection[str]

    def check(
        self, schema: Schema, value: object, path: tuple[Step, ...]
    ) -> Iterator[ValueProblem]:
        if schema.opaque is not None:
            yield from imported_problems(schema.opaque, value, path)
        if schema.types and not any(is_type(value, name) for name in schema.types):
            wanted = " or ".join(_TYPE_NAMES[name] for name in schema.types)
            yield _value_problem(path, value, wanted, "type")
            return
        allowed: Collection[object] | None
        keyword, allowed = "enum", schema.enum or None
        if schema.vocabulary is not None:
            keyword, allowed = "vocabulary", self.vocabularies.get(schema.vocabulary)
        if allowed is not None and not any(are_equal(value, other) for other in allowed):
            yield _value_problem(path, value, _one_of(allowed), keyword)
        if isinstance(value, str):
            yield from self._check_text(schema, value, path)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield from _check_number(schema, value, path)
        elif isinstance(value, (list, tuple)) and schema.items is not None:
            for index, item in enumerate(value):
                yield from self.check(schema.items, item, (*path, index))
        elif isinstance(value, Mapping):
            yield from self._check_members(schema, value, path)

    def _check_text(
        self, schema: Schema, value: str, path: tuple[Step, ...]
    ) -> Iterator[ValueProblem]:
        size = f"has {len(value)} characters; expected"
        if schema.min_length is not None and len(value) < schema.min_length:
            yield ValueProblem(path, f"{size} at least {schema.min_length}", "minLength")
        if schema.max_length is not None and len(value) > schema.max_length:
            yield ValueProblem(path, f"{size} at most {schema.max_length}", "maxLength")
        if schema.pattern is not None and not matches_pattern(schema.pattern, value):
            yield _pattern_problem(schema.pattern, value, path)
        known = schema.format and all(name in self.formats for name in schema.format)
        if known and formats.format_problem(schema.format, value):
            yield _value_problem(path, value, formats.describe_formats(schema.format), "format")

    def _check_members(
        self, schema: Schema, value: Mapping[str, object], path: tuple[Step, ...]
    ) -> Iterator[ValueProblem]:
        severity: Literal["error", "warning"]
        for name, item in value.items():
            member = schema.properties.get(name)
            if member is not None and member.presence != "forbidden":
                yield from self.check(member.schema, item, (*path, name))
            elif member is not None:
                yield ValueProblem((*path, name), "must not be there", "forbidden")
            elif schema.additional != "allow":
                severity = "error" if schema.additional == "forbid" else "warning"
                yield ValueProblem((*path, name), "is not declared", "additional", severity)
        for name, member in schema.properties.items():
            if name not in value and member.presence in ("required", "expected"):
                severity = "error" if member.presence == "required" else "warning"
                yield ValueProblem((*path, name), "is missing", "missing", severity)


def matches_pattern(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern of the language. A text that is too long does not."""
    try:
        return search(python_syntax(pattern), text) is not None
    except UncheckableExpression:
        return False


def _pattern_problem(pattern: str, text: str, path: tuple[Step, ...]) -> ValueProblem:
    if len(text) > SEARCHED:
        wanted = f"at most {SEARCHED} characters, since it has a pattern"
        return ValueProblem(path, f"has {len(text)} characters; expected {wanted}", "pattern")
    return _value_problem(path, text, f"it to match `{pattern}`", "pattern")


def _check_number(schema: Schema, value: float, path: tuple[Step, ...]) -> Iterator[ValueProblem]:
    if schema.minimum is not None and value < schema.minimum:
        yield _value_problem(path, value, f"at least {schema.minimum}", "minimum")
    if schema.maximum is not None and value > schema.maximum:
        yield _value_problem(path, value, f"at most {schema.maximum}", "maximum")


def _value_problem(
    path: tuple[Step, ...], value: object, wanted: str, keyword: str
) -> ValueProblem:
    shown = show(value)
    quoted = shown if isinstance(value, str | bool | int | float) else None
    return ValueProblem(path, f"is {shown}; expected {wanted}", keyword, quoted=quoted)


#: The type names of the values of a class that do not depend on the value.
_CERTAIN: Mapping[type, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    dict: ("object",),
    list: ("array",),
    type(None): ("null",),
}


def is_type(value: object, name: str) -> bool:
    """Whether JSON `value` has the type `name`: `1.0` is an integer, and `true` is not a number."""
    certain = _CERTAIN.get(value.__class__)
    if certain is not None:
        return name in certain
    match value:
        case int():
            return name in ("integer", "number")
        case float():
            return name == "number" or (name == "integer" and value.is_integer())
        case str():
            return name == "string"
        case list() | tuple():
            return name == "array"
        case Mapping():
            return name == "object"
    return False


def are_equal(a: object, b: object) -> bool:
    """Equality of JSON scalars: 1 equals 1.0, and not true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def stands_for(value: object, wanted: object, *, has_types: bool) -> bool:
    """Whether a value of a body is a scalar, or its JSON text in a format that has only texts."""
    if are_equal(value, wanted):
        return True
    is_scalar = wanted is None or isinstance(wanted, bool | int | float)
    return not has_types and is_scalar and value == json.dumps(wanted)


def spell(value: Constant) -> str:
    """A constant inside a text: a string as it is, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


# Descriptions of values

_TYPE_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "array": "a list",
    "null": "null",
}

_SHOWN = 60
"""Characters of a value in a message."""


def show(value: object) -> str:
    """A value for a sentence: scalars as they are, long ones cut; containers by name."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() if abs(value) >= 10**_SHOWN:
            return "a very large number"
        case int() | float():
            return str(value)
        case str():
            return f'"{shorten(value)}"'
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
    return "a value"


def shorten(text: str, most: int = _SHOWN) -> str:
    """The text in printable characters, or its beginning.

    The ellipsis tells the masking of reports that a secret may be truncated.
    """
    text = text[: most + 1].encode("utf-8", "backslashreplace").decode()
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return f"{text[:most]}…" if len(text) > most else text


def _one_of(values: Iterable[object]) -> str:
    named = [show(value) for value in values]
    return named[0] if len(named) == 1 else f"one of {', '.join(named)}"


# Imported schemas

#: Breaches of an imported schema that are looked for: each costs a text of the whole value.
_BREACHES = 100


def imported_problems(
    schema: Any, value: Any, path: tuple[Step, ...] = ()
) -> Iterator[ValueProblem]:
    """The places where a value breaks a JSON Schema of somebody else, at most ``_BREACHES``.
    Expressions are bounded, and no reference is fetched.
    """
    # Imported here, because most taxonomies do not need them.
    import jsonschema
    import referencing

    try:
        kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        # The default registry would fetch unknown references.
        keywords = {name: check for name, check in _KEYWORDS.items() if name in kind.VALIDATORS}
        if kind is jsonschema.Draft3Validator:
            keywords["type"] = _check_type_of_draft3
        bounded = jsonschema.validators.extend(kind, keywords)  # type: ignore[no-untyped-call]  # it has no types
        validator = bounded(schema, registry=referencing.Registry())
        # Each message repeats the value, so none of them is kept.
        breaches = [
            (tuple(error.absolute_path), str(error.validator), shorten(error.message))
            for error in islice(validator.iter_errors(value), _BREACHES)
        ]
    # The schema is foreign: it may have a dangling or circular `$ref`, or an unsupported pattern.
    except Exception as error:
        reason = f"{type(error).__name__}: {shorten(str(error))}"
        problem = f"cannot be checked by the imported schema: {reason}"
        yield ValueProblem(path, problem, "unusable", quoted=reason)
        return
    for place, keyword, reason in sorted(breaches, key=lambda breach: [*map(str, breach[0])]):
        problem = f"breaks `{keyword}` of the imported schema: {reason}"
        yield ValueProblem((*path, *place), problem, "imported", quoted=reason)


def _check_pattern(validator: Any, pattern: str, value: Any, _: Any) -> Iterator[Any]:
    """The keyword `pattern`. Raises UncheckableExpression."""
    import jsonschema

    if validator.is_type(value, "string") and not search(pattern, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


def _check_pattern_properties(
    validator: Any, patterns: Mapping[str, Any], value: Any, _: Any
) -> Iterator[Any]:
    """The keyword `patternProperties`. Raises UncheckableExpression."""
    for pattern, schema in patterns.items() if validator.is_type(value, "object") else ():
        for name, member in value.items():
            if search(pattern, name):
                yield from validator.descend(member, schema, path=name, schema_path=pattern)


def _check_any_of(validator: Any, schemas: Any, value: Any, _: Any) -> Iterator[Any]:
    """The keyword `anyOf`. The library's keeps every error of every schema."""
    if not any(_is_valid(validator, schema, value) for schema in schemas):
        yield _no_schema_breach(value)


def _check_one_of(validator: Any, schemas: Any, value: Any, _: Any) -> Iterator[Any]:
    """The keyword `oneOf`. The library's keeps every error of every schema."""
    import jsonschema

    valid = [schema for schema in schemas if _is_valid(validator, schema, value)]
    if not valid:
        yield _no_schema_breach(value)
    elif len(valid) > 1:
        yield jsonschema.ValidationError(
            f"{show(value)} is valid under {len(valid)} of the given schemas"
        )


def _check_type_of_draft3(validator: Any, types: Any, value: Any, _: Any) -> Iterator[Any]:
    """The keyword `type` of Draft 3, which may have schemas. The library's keeps their errors."""
    import jsonschema

    for kind in types if isinstance(types, list) else [types]:
        is_schema = isinstance(kind, Mapping)
        if _is_valid(validator, kind, value) if is_schema else validator.is_type(value, kind):
            return
    yield jsonschema.ValidationError(f"{show(value)} is not of the given types")


def _is_valid(validator: Any, schema: Any, value: Any) -> bool:
    """Whether a value is valid, as its first error decides."""
    return next(validator.descend(value, schema), None) is None


def _no_schema_breach(value: Any) -> Any:
    import jsonschema

    message = f"{show(value)} is not valid under any of the given schemas"
    return jsonschema.ValidationError(message)


#: Keywords whose checks of the library are not bounded.
_KEYWORDS = {
    "pattern": _check_pattern,
    "patternProperties": _check_pattern_properties,
    "anyOf": _check_any_of,
    "oneOf": _check_one_of,
}


def foreign_schema_problem(schema: Any) -> tuple[tuple[Step, ...], str] | None:
    """The place and the reason why an imported schema is invalid; None if it is valid."""
    import jsonschema

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        if kind is jsonschema.Draft202012Validator:
            _check_parts(schema)
        else:
            kind.check_schema(schema)
    except _PartProblem as problem:
        return problem.place, problem.reason
    except jsonschema.SchemaError as error:
        return tuple(error.absolute_path), error.message
    slow = next(_slow_expressions(schema), None)
    return ((), slow) if slow is not None else None


#: The keywords with one schema that `self_contained` leaves as they are.
_UNREAD = frozenset({"unevaluatedItems", "unevaluatedProperties", "contentSchema"})

#: Characters of a schema that is remembered: with a thousand of them, a megabyte.
_REMEMBERED = 1_000


class _PartProblem(Exception):
    """A part of a schema is invalid."""

    def __init__(self, place: tuple[Step, ...], reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


def _check_parts(schema: Any) -> None:
    """Check every schema in a schema without those in it, equal ones once: the library takes
    milliseconds for each. Raises _PartProblem.
    """
    import jsonschema

    waiting: deque[tuple[tuple[Step, ...], Any]] = deque([((), schema)])
    while waiting:
        place, part = waiting.popleft()
        alone = part
        if isinstance(part, Mapping):
            alone = dict(part)
            for path, inner, rest in _inner_schemas(part):
                alone[path[0]] = rest
                waiting.append(((*place, *path), inner))
        text = json.dumps(alone, default=repr)
        check = _check_part if len(text) <= _REMEMBERED else _check_part.__wrapped__
        try:
            check(text)
        except jsonschema.SchemaError as error:
            raise _PartProblem((*place, *error.absolute_path), error.message) from None


def _inner_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[Step, ...], Any, Any]]:
    """The schemas in a schema with their paths, and what may stand for the value of the keyword."""
    from faultspec.openapi.schemas import LISTS, MAPS, SINGLE

    for key, value in schema.items():
        if (key in SINGLE or key in _UNREAD) and isinstance(value, Mapping):
            yield (key,), value, True
        elif key in MAPS and isinstance(value, Mapping):
            rest = dict.fromkeys(value, True) if key == "patternProperties" else {}
            for name, inner in value.items():
                yield (key, name), inner, rest
        elif key in LISTS and isinstance(value, list):
            for index, inner in enumerate(value):
                yield (key, index), inner, [True]


@lru_cache(maxsize=1024)
def _check_part(schema: str) -> None:
    """Check a schema in JSON. Raises SchemaError."""
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(json.loads(schema))


def _slow_expressions(schema: Any) -> Iterator[str]:
    """The problem of every regular expression that may take very long, in a schema or below it."""
    from referencing.jsonschema import DRAFT202012

    waiting = [schema]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Mapping):
            expressions = [inner.get("pattern"), *inner.get("patternProperties", ())]
            for expression in filter(None, expressions):
                problem = slowness(str(expression))
                if problem is not None:
                    yield f"the regular expression {show(expression)} {problem}"
            waiting.extend(DRAFT202012.subresources_of(inner))
