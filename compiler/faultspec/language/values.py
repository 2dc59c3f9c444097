"""Does a value fit a schema of the language? The one answer for examples, judged bodies and detail values.

`problems` walks the closed subset of JSON Schema that the language has, with the meaning JSON Schema 2020-12 gives it;
an imported (`opaque`) schema is handed to `jsonschema`, which then never leaves the machine to follow a reference. What
is only recommended, or only warned about (`expected`, `additional: warn`), comes as a warning, so that the caller need
not know the schema.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from faultspec.language import formats
from faultspec.language.model import Schema, Taxonomy, Term
from faultspec.runtime.nodes import child

Vocabularies = Mapping[str, Collection[str]]
"""The terms of each vocabulary by its name, as `vocabularies` gives them."""

Step = str | int

_NO_VOCABULARIES: Vocabularies = MappingProxyType({})


class ValueProblem(NamedTuple):
    """A place below a value that leaves its schema.

    `problem` says it of the place, which is the subject of the sentence: "is 3; expected a string". `keyword` is the
    key of the schema that says so; or `missing` or `forbidden` of a member, `imported` for what an imported schema says,
    and `unusable` where that schema could not be applied to the value.
    """

    path: tuple[Step, ...]
    problem: str
    keyword: str
    severity: Literal["error", "warning"] = "error"

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer (RFC 6901)."""
        pointer = ""
        for step in self.path:
            pointer = child(pointer, step)
        return pointer


def vocabularies(taxonomy: Taxonomy, *, reserved: bool = True) -> Vocabularies:
    """The terms by vocabulary, those of the top level included; without the `reserved` ones, what may be on a wire."""
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


def problems(
    schema: Schema,
    value: object,
    vocabularies: Vocabularies = _NO_VOCABULARIES,
    known: Collection[str] = formats.FORMATS,
) -> Iterator[ValueProblem]:
    """Every place at or below `value` (JSON data) where it leaves `schema`, in document order.

    A value of the wrong type is only that. A vocabulary that is not given allows everything. Formats that are not
    `known` are annotations, as in JSON Schema; one such beside others makes the choice free.
    """
    yield from _problems(schema, value, (), vocabularies, known)


def _problems(
    schema: Schema,
    value: object,
    path: tuple[Step, ...],
    terms: Vocabularies,
    known: Collection[str],
) -> Iterator[ValueProblem]:
    if schema.opaque is not None:
        yield from _imported(schema.opaque, value, path)
    if schema.types and not any(is_type(value, type_) for type_ in schema.types):
        wanted = " or ".join(_NAMES[type_] for type_ in schema.types)
        yield ValueProblem(path, f"is {shown(value)}; expected {wanted}", "type")
        return
    allowed = schema.enum or None if schema.vocabulary is None else terms.get(schema.vocabulary)
    if allowed is not None and not any(same(value, each) for each in allowed):
        keyword = "enum" if schema.vocabulary is None else "vocabulary"
        yield ValueProblem(path, f"is {shown(value)}; expected {_one_of(allowed)}", keyword)
    if isinstance(value, str):
        yield from _text(schema, value, path, known)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if schema.minimum is not None and value < schema.minimum:
            yield ValueProblem(
                path, f"is {shown(value)}; expected at least {schema.minimum}", "minimum"
            )
        if schema.maximum is not None and value > schema.maximum:
            yield ValueProblem(
                path, f"is {shown(value)}; expected at most {schema.maximum}", "maximum"
            )
    elif isinstance(value, (list, tuple)) and schema.items is not None:
        for index, each in enumerate(value):
            yield from _problems(schema.items, each, (*path, index), terms, known)
    elif isinstance(value, Mapping):
        yield from _members(schema, value, path, terms, known)


def _text(
    schema: Schema, value: str, path: tuple[Step, ...], known: Collection[str]
) -> Iterator[ValueProblem]:
    if schema.min_length is not None and len(value) < schema.min_length:
        yield ValueProblem(
            path, f"has {len(value)} characters; expected at least {schema.min_length}", "minLength"
        )
    if schema.max_length is not None and len(value) > schema.max_length:
        yield ValueProblem(
            path, f"has {len(value)} characters; expected at most {schema.max_length}", "maxLength"
        )
    if schema.pattern is not None and not expression(schema.pattern).search(value):
        yield ValueProblem(
            path, f"is {shown(value)}; expected it to match `{schema.pattern}`", "pattern"
        )
    if (
        schema.format
        and all(each in known for each in schema.format)
        and formats.problem(schema.format, value)
    ):
        yield ValueProblem(
            path, f"is {shown(value)}; expected {formats.described(schema.format)}", "format"
        )


def _members(
    schema: Schema,
    value: Mapping[str, object],
    path: tuple[Step, ...],
    terms: Vocabularies,
    known: Collection[str],
) -> Iterator[ValueProblem]:
    for name, each in value.items():
        member = schema.properties.get(name)
        if member is not None and member.presence != "forbidden":
            yield from _problems(member.schema, each, (*path, name), terms, known)
        elif member is not None:
            yield ValueProblem((*path, name), "must not be there", "forbidden")
        elif schema.additional != "allow":
            severity: Literal["error", "warning"] = (
                "error" if schema.additional == "forbid" else "warning"
            )
            yield ValueProblem((*path, name), "is not declared", "additional", severity)
    for name, member in schema.properties.items():
        if name not in value and member.presence in ("required", "expected"):
            severity = "error" if member.presence == "required" else "warning"
            yield ValueProblem((*path, name), "is missing", "missing", severity)


@lru_cache(maxsize=512)  # of patterns: more than any taxonomy has, and a bound for who reads many
def expression(pattern: str) -> re.Pattern[str]:
    """A pattern of ECMA-262 as Python has it: there `$` is the very end, here it also stands before a last newline."""
    return re.compile(re.sub(r"(?<!\\)((?:\\\\)*)\$$", r"\1\\Z", pattern))


#: The names of the types that values of these classes have, whatever the value.
_CERTAIN: Mapping[type, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    dict: ("object",),
    list: ("array",),
    type(None): ("null",),
}


def is_type(value: object, name: str) -> bool:
    """Whether JSON `value` has the JSON Schema type `name` (2020-12: `1.0` is an integer, `true` is no number)."""
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


def same(a: object, b: object) -> bool:
    """Equality of scalars as JSON has it: 1 is 1.0, but neither is true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


# Words

_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "array": "a list",
    "null": "null",
}

_SHOWN = 60
"""Characters of a value that a message shows."""


def shown(value: object) -> str:
    """A value in a sentence: scalars as they are, cut where they are long; containers by name."""
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
            return f'"{_cut(value)}"'
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
    return "a value"


def _cut(text: str) -> str:
    text = text[: _SHOWN + 1].encode("utf-8", "backslashreplace").decode()
    text = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)
    return f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text


def _one_of(values: Iterable[object]) -> str:
    named = [shown(value) for value in values]
    return named[0] if len(named) == 1 else f"one of {', '.join(named)}"


# Imported schemas


def _imported(schema: Any, value: Any, path: tuple[Step, ...]) -> Iterator[ValueProblem]:
    # Here, because no taxonomy without an imported schema should wait for these.
    import jsonschema
    import referencing

    try:
        kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        # An explicit registry: the default one would fetch what it does not know.
        validator = kind(schema, registry=referencing.Registry())
        errors = sorted(
            validator.iter_errors(value),
            key=lambda each: [str(step) for step in each.absolute_path],
        )
    except Exception as reason:  # the schema is foreign: a `$ref` to nowhere or in a circle, a pattern unknown to Python
        yield ValueProblem(
            path,
            f"cannot be checked by the imported schema: {type(reason).__name__}: {_cut(str(reason))}",
            "unusable",
        )
        return
    for error in errors:
        at = (*path, *error.absolute_path)
        yield ValueProblem(
            at,
            f"breaks `{error.validator}` of the imported schema: {_cut(error.message)}",
            "imported",
        )


def foreign_schema_problem(schema: Any) -> tuple[tuple[Step, ...], str] | None:
    """Where and why an imported schema is none, or None for one that is."""
    import jsonschema

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        return tuple(error.absolute_path), error.message
    return None
