"""Does a value fit a schema of the language? The one answer for examples, judged bodies and detail values.

`problems` walks the closed subset of JSON Schema that the language has; an imported (`opaque`) schema is handed to
`jsonschema`, which then never leaves the machine to follow a reference. What is only recommended, or only warned about
(`expected`, `additional: warn`), comes as a warning, so that the caller need not know the schema.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from faultspec.language.model import Schema, Taxonomy
from faultspec.runtime import http_dates, ids, retry_after

Vocabularies = Mapping[str, Iterable[str]]
"""The terms of each vocabulary by its name, as `vocabularies` gives them."""

_NO_VOCABULARIES: Vocabularies = MappingProxyType({})


class Misfit(NamedTuple):
    """A place below a value that leaves its schema. `keyword` is the key of the schema that says so."""

    path: tuple[str | int, ...]
    message: str
    keyword: str
    severity: Literal["error", "warning"] = "error"

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer (RFC 6901)."""
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.path)


def vocabularies(taxonomy: Taxonomy) -> Vocabularies:
    """The terms by vocabulary, those of the top level included, as `problems` wants them."""
    return {
        **{name: tuple(terms) for name, terms in taxonomy.vocabularies.items()},
        "actions": tuple(taxonomy.actions),
        "boundaries": tuple(taxonomy.boundaries),
        "domains": tuple(taxonomy.domains),
    }


def problems(schema: Schema, value: object, vocabularies: Vocabularies = _NO_VOCABULARIES) -> Iterator[Misfit]:
    """Every place at or below `value` (JSON data) where it leaves `schema`, in document order."""
    yield from _problems(schema, value, vocabularies, ())


_ARTICLE = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def is_type(value: object, name: str) -> bool:
    """Whether JSON `value` has the JSON Schema type `name` (2020-12: `1.0` is an integer, `true` is no number)."""
    match value:
        case None:
            return name == "null"
        case bool():
            return name == "boolean"
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


def _problems(schema: Schema, value: object, terms: Vocabularies, path: tuple[str | int, ...]) -> Iterator[Misfit]:
    if schema.opaque is not None:
        yield from _foreign(schema.opaque, value, path)
    if schema.types and not any(is_type(value, each) for each in schema.types):
        wanted = " or ".join(_ARTICLE[each] for each in schema.types)
        yield Misfit(path, f"{_shown(value)} is not {wanted}", "type")
        return
    if schema.enum and not any(_equal(value, each) for each in schema.enum):
        yield Misfit(path, f"{_shown(value)} is not one of {', '.join(map(_shown, schema.enum))}", "enum")
    if schema.vocabulary is not None and isinstance(value, str):
        known = tuple(terms.get(schema.vocabulary, ()))
        if known and value not in known:
            yield Misfit(path, f"{_shown(value)} is not one of {', '.join(known)}", "vocabulary")
    if isinstance(value, str):
        yield from _text(schema, value, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if schema.minimum is not None and value < schema.minimum:
            yield Misfit(path, f"{_shown(value)} is less than {schema.minimum:g}", "minimum")
        if schema.maximum is not None and value > schema.maximum:
            yield Misfit(path, f"{_shown(value)} is more than {schema.maximum:g}", "maximum")
    elif isinstance(value, list | tuple) and schema.items is not None:
        for index, each in enumerate(value):
            yield from _problems(schema.items, each, terms, (*path, index))
    elif isinstance(value, Mapping):
        yield from _members(schema, value, terms, path)


def _text(schema: Schema, value: str, path: tuple[str | int, ...]) -> Iterator[Misfit]:
    if schema.min_length is not None and len(value) < schema.min_length:
        yield Misfit(path, f"{_shown(value)} is shorter than {schema.min_length} characters", "minLength")
    if schema.max_length is not None and len(value) > schema.max_length:
        yield Misfit(path, f"{_shown(value)} is longer than {schema.max_length} characters", "maxLength")
    if schema.pattern is not None and not re.search(schema.pattern, value):
        yield Misfit(path, f"{_shown(value)} does not match {schema.pattern}", "pattern")
    if schema.format and not fits(schema.format, value):
        yield Misfit(path, f"{_shown(value)} is not {' or '.join(schema.format)}", "format")


def _members(
    schema: Schema, value: Mapping[str, object], terms: Vocabularies, path: tuple[str | int, ...]
) -> Iterator[Misfit]:
    for name, each in value.items():
        member = schema.properties.get(name)
        if member is not None and member.presence != "forbidden":
            yield from _problems(member.schema, each, terms, (*path, name))
        elif member is not None:
            yield Misfit((*path, name), f"`{name}` must not be there", "properties")
        elif schema.additional != "allow":
            severity: Literal["error", "warning"] = "error" if schema.additional == "forbid" else "warning"
            yield Misfit((*path, name), f"`{name}` is not declared", "additional", severity)
    for name, member in schema.properties.items():
        if name not in value and member.presence in ("required", "expected"):
            severity = "error" if member.presence == "required" else "warning"
            yield Misfit(path, f"`{name}` is missing", "properties", severity)


def _equal(one: object, other: object) -> bool:
    # `True == 1` holds in Python and not in JSON.
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _shown(value: object) -> str:
    """A value in a message: short, and never more of it than names it."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return f"`{value}`" if len(value) <= 60 else f"`{value[:57]}…`"
        case int() | float():
            return str(value)
        case list() | tuple():
            return "a list"
    return "an object"


# Formats


def fits(formats: Iterable[str], value: str) -> bool:
    """Whether `value` has at least one of the formats; a format this language does not know asks for nothing."""
    return any(FORMATS[each](value) if each in FORMATS else True for each in formats)


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda value: re.fullmatch(pattern, value, re.ASCII) is not None


def _http_date(value: str) -> bool:
    moment = http_dates.parse(value, now=0, lenient=False)
    return moment is not None and moment.problem is None


#: What a value of a format of headers looks like, for those whose name does not say it.
DESCRIPTIONS: Mapping[str, str] = {
    "retry-after": "a whole number of seconds or an HTTP-date",
    "etag": 'a quoted string such as "abc" or W/"abc"',
    "http-date": "a date such as Sun, 06 Nov 1994 08:49:37 GMT",
    "methods": "a list of methods such as GET, HEAD",
    "challenge": "a scheme such as Bearer, perhaps with parameters",
}

_DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TCHAR = r"[!#$%&'*+.^_`|~0-9A-Za-z-]"

FORMATS: Mapping[str, Callable[[str], bool]] = {
    **ids.FORMATS,
    "date-time": _matches(
        rf"{_DATE}[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
    ),  # RFC 3339 §5.6
    "date": _matches(_DATE),  # RFC 3339 §5.6
    "uri": _matches(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]*"),  # RFC 3986 §3: a scheme, and nothing but visible ASCII
    "email": _matches(r"[^@\s]+@[^@\s]+"),
    "retry-after": lambda value: retry_after.parse(value, now=0, lenient=False).problem is None,  # RFC 9110 §10.2.3
    "etag": _matches(r'(W/)?"[!#-~\x80-\xff]*"'),  # RFC 9110 §8.8.3
    "http-date": _http_date,  # RFC 9110 §5.6.7
    "methods": _matches(rf"({_TCHAR}+([ \t]*,[ \t]*{_TCHAR}+)*)?"),  # RFC 9110 §10.2.1: the list may be empty
    "challenge": _matches(rf"{_TCHAR}+([ \t]*,[ \t]*{_TCHAR}+|[ ,][\x20-\x7e]*)?"),  # RFC 9110 §11.6.1, in outline
}


# Imported schemas


def _foreign(schema: Any, value: Any, path: tuple[str | int, ...]) -> Iterator[Misfit]:
    # Here, because no taxonomy without an imported schema should wait for these.
    import jsonschema
    import referencing
    import referencing.exceptions

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    # An explicit registry: the default one would fetch what it does not know.
    validator = kind(schema, registry=referencing.Registry())
    try:
        for error in sorted(validator.iter_errors(value), key=lambda each: [str(step) for step in each.absolute_path]):
            yield Misfit((*path, *error.absolute_path), error.message, "schema")
    except referencing.exceptions.Unresolvable as error:
        yield Misfit(path, f"the imported schema refers to `{error.ref}`, which is not in it", "schema")
    except (ValueError, re.error, RecursionError) as error:  # `$id` is no URI, `pattern` no expression, `$ref` a circle
        yield Misfit(path, f"the imported schema cannot be applied: {error}", "schema")


def foreign_schema_problem(schema: Any) -> tuple[tuple[str | int, ...], str] | None:
    """Where and why an imported schema is none, or None for one that is."""
    import jsonschema

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        return tuple(error.absolute_path), error.message
    return None
