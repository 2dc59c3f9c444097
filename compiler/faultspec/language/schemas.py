"""Vocabularies, schemas and details: the parts of a document that describe values."""

from collections.abc import Mapping

from faultspec.language import values
from faultspec.language.formats import FORMATS
from faultspec.language.grammar import Path
from faultspec.language.model import DetailKey, DetailMember, Schema, Term
from faultspec.language.scope import Data, Scope, word_tuple

#: Schema keys, and the types that they constrain (JSON Schema 2020-12, validation section 6).
CONSTRAINED: Mapping[str, frozenset[str]] = {
    "pattern": frozenset({"string"}),
    "format": frozenset({"string"}),
    "vocabulary": frozenset({"string"}),
    "minLength": frozenset({"string"}),
    "maxLength": frozenset({"string"}),
    "minimum": frozenset({"number", "integer"}),
    "maximum": frozenset({"number", "integer"}),
    "items": frozenset({"array"}),
    "properties": frozenset({"object"}),
    "additional": frozenset({"object"}),
}


def read_terms(scope: Scope, data: Data, path: Path) -> dict[str, Term]:
    """A vocabulary; each term is a sentence or a record."""
    return {
        name: Term(name, term)
        if isinstance(term, str)
        else Term(
            name=name,
            summary=term["summary"],
            lifecycle=term.get("lifecycle", "stable"),
            source=scope.source(term.get("source"), (*path, name)),
            sends_again=term.get("sends_again", False),
        )
        for name, term in data.items()
    }


def read_schema(scope: Scope, data: Data, path: Path) -> Schema:
    """A schema in the language's closed subset of JSON Schema; equal data share one value."""
    return scope.shared_schema(data, lambda: _read_schema(scope, data, path))


def _read_schema(scope: Scope, data: Data, path: Path) -> Schema:
    vocabulary = data.get("vocabulary")
    if vocabulary is not None:
        named = scope.names("vocabularies")
        known = None if named is None else (*named, "actions", "boundaries", "domains")
        scope.refer(vocabulary, known, "vocabulary", (*path, "vocabulary"))
    pattern = data.get("pattern")
    if pattern is not None:
        pattern = scope.expression(pattern, (*path, "pattern"))
    _check_schema_keys(scope, data, path)
    found = Schema(
        types=word_tuple(data.get("type")),
        description=data.get("description"),
        format=read_formats(scope, data.get("format"), (*path, "format")),
        pattern=pattern,
        enum=tuple(data.get("enum", ())),
        vocabulary=vocabulary,
        minimum=data.get("minimum"),
        maximum=data.get("maximum"),
        min_length=data.get("minLength"),
        max_length=data.get("maxLength"),
        items=read_schema(scope, data["items"], (*path, "items")) if "items" in data else None,
        properties=read_members(scope, data.get("properties", {}), (*path, "properties")),
        additional=data.get("additional", "allow"),
        sensitive=data.get("sensitive", False),
    )
    others = found._replace(enum=(), vocabulary=None) if found.enum else found
    for index, value in enumerate(found.enum):
        for problem in values.check_value(others, value):
            message = f"this value {problem.problem}"
            hint = f"delete it, or change `{problem.keyword}`"
            needs = ((*path, problem.keyword),)
            scope.report((*path, "enum", index), "contradiction", message, hint, needs=needs)
    return found


def _check_schema_keys(scope: Scope, data: Data, path: Path) -> None:
    """Report keys that do not constrain the type, empty ranges, and two lists of values."""
    types = word_tuple(data.get("type"))
    for key, constrained in CONSTRAINED.items():
        if key in data and types and constrained.isdisjoint(types):
            message = f"`{key}` does not constrain a value of type {', '.join(types)}"
            hint = "remove it, or change `type`"
            scope.report((*path, key), "misplaced-key", message, hint, on_key=True)
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength")):
        if low in data and high in data and data[low] > data[high]:
            message = f"no value is at least {data[low]} and at most {data[high]}"
            scope.report((*path, high), "contradiction", message, f"exchange `{low}` and `{high}`")
    if "vocabulary" in data and "enum" in data:
        message = "`enum` lists the values, and `vocabulary` names them too"
        scope.report((*path, "enum"), "contradiction", message, "keep one of the two", on_key=True)


def read_formats(scope: Scope, value: object, path: Path) -> tuple[str, ...]:
    """Names of formats, for a schema or a header rule."""
    scope.refer_all(value or [], tuple(FORMATS), "format", path)
    return word_tuple(value)


def read_members(scope: Scope, data: Data, path: Path) -> dict[str, DetailMember]:
    """The members of an object by name, without the `?`."""
    members = (_read_member(scope, key, member, (*path, key)) for key, member in data.items())
    return {member.name: member for member in members}


def _read_member(scope: Scope, key: str, data: Data, path: Path) -> DetailMember:
    name = key.removesuffix("?")
    optional = key.endswith("?")
    expected = data.get("expected", False)
    if expected and not optional:
        hint = f"write `{name}?` or drop `expected`"
        scope.report((*path, "expected"), "contradiction", f"`{name}` is required already", hint)
    return DetailMember(
        name=name,
        schema=read_schema(scope, data, path),
        presence="expected" if expected else "optional" if optional else "required",
        source=scope.source(data.get("source"), path),
    )


def read_detail_key(scope: Scope, name: str, data: Data) -> DetailKey:
    """An entry of the registry of details keys."""
    path: Path = ("detail_keys", name)
    if data.get("role") == "retry_after":
        types = set(word_tuple(data.get("type")))
        if not types or not types <= {"integer", "number", "string", "null"}:
            message = f"`{name}` is a wait; it is a number, a date-time or a text such as `1.5s`"
            scope.report((*path, "role"), "contradiction", message, "write `type: number`")
    elif "unit" in data:
        message = f"`{name}` has a unit, and is not a wait"
        scope.report((*path, "unit"), "misplaced-key", message, "add `role: retry_after`")
    check_reference(scope, data, path)
    return DetailKey(
        name=name,
        schema=read_schema(scope, data, path),
        summary=data.get("summary"),
        everywhere=data.get("everywhere", False),
        role=data.get("role"),
        unit=data.get("unit", "s"),
        equals_header=data.get("equals_header"),
        refers_to=data.get("refers_to"),
        source=scope.source(data.get("source"), path),
    )


def check_reference(scope: Scope, data: Data, path: Path) -> None:
    """Report a reference to a file or a URL whose type has no texts."""
    kind, types = data.get("refers_to"), {*word_tuple(data.get("type"))}
    if kind in ("file", "url") and types and not types & {"string", "array"}:
        message = f"`{path[-1]}` refers to a {kind}, and is not a text"
        scope.report((*path, "refers_to"), "contradiction", message, "write `type: string`")


def read_details(
    scope: Scope, data: Data, path: Path, registry: Mapping[str, DetailKey]
) -> dict[str, DetailMember]:
    """The declared members, then the registered keys that every code may carry.

    A member without a schema has that of the registry.
    """
    found = read_members(scope, data, path)
    for name, member in found.items():
        if name in registry and member.schema == Schema():
            found[name] = member._replace(schema=registry[name].schema)
    for name, key in registry.items():
        if key.everywhere and name not in found:
            found[name] = DetailMember(name, key.schema, "optional", key.source)
    return found
