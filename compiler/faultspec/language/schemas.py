"""Vocabularies, schemas and details: the parts of a document that describe values."""

from collections.abc import Mapping

from faultspec.language import values
from faultspec.language.formats import FORMATS
from faultspec.language.grammar import Path
from faultspec.language.model import DetailKey, DetailMember, Schema, Term
from faultspec.language.scope import Data, Scope, words

#: Schema keys and the types they say something about (JSON Schema 2020-12 §6).
_FITS: Mapping[str, frozenset[str]] = {
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


def terms(scope: Scope, data: Data, path: Path) -> dict[str, Term]:
    """A vocabulary: each member a sentence or a record."""
    return {
        name: Term(name, each)
        if isinstance(each, str)
        else Term(
            name,
            each["summary"],
            each.get("lifecycle", "stable"),
            scope.source(each.get("source"), (*path, name)),
            each.get("sends_again", False),
        )
        for name, each in data.items()
    }


def schema(scope: Scope, data: Data, path: Path) -> Schema:
    """A schema in the language's closed subset of JSON Schema; what is made of it can be made once for all that say the same."""
    return scope.schema(data, lambda: _schema(scope, data, path))


def _schema(scope: Scope, data: Data, path: Path) -> Schema:
    vocabulary = data.get("vocabulary")
    if vocabulary is not None:
        named = scope.names("vocabularies")
        known = None if named is None else (*named, "actions", "boundaries", "domains")
        scope.refer(vocabulary, known, "vocabulary", (*path, "vocabulary"))
    pattern = data.get("pattern")
    if pattern is not None:
        pattern = scope.expression(pattern, (*path, "pattern"))
    types = words(data.get("type"))
    for key, wants in _FITS.items():
        if key in data and types and not set(types) & wants:
            scope.wrong(
                (*path, key),
                "misplaced-key",
                f"`{key}` says nothing about a value of type {', '.join(types)}",
                "remove it, or change `type`",
                on_key=True,
            )
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength")):
        if low in data and high in data and data[low] > data[high]:
            message = f"no value is at least {data[low]} and at most {data[high]}"
            scope.wrong((*path, high), "contradiction", message, f"exchange `{low}` and `{high}`")
    if vocabulary is not None and "enum" in data:
        message = "the values are listed under `enum`, and come from a vocabulary"
        scope.wrong((*path, "enum"), "contradiction", message, "keep one of the two", on_key=True)
    found = Schema(
        types=types,
        description=data.get("description"),
        format=formats(scope, data.get("format"), (*path, "format")),
        pattern=pattern,
        enum=tuple(data.get("enum", ())),
        vocabulary=vocabulary,
        minimum=data.get("minimum"),
        maximum=data.get("maximum"),
        min_length=data.get("minLength"),
        max_length=data.get("maxLength"),
        items=schema(scope, data["items"], (*path, "items")) if "items" in data else None,
        properties=members(scope, data.get("properties", {}), (*path, "properties")),
        additional=data.get("additional", "allow"),
    )
    others = found._replace(enum=(), vocabulary=None) if found.enum else found
    for index, each in enumerate(found.enum):
        for misfit in values.problems(others, each):
            message = f"this value {misfit.problem}"
            hint = f"delete it, or change `{misfit.keyword}`"
            scope.wrong(
                (*path, "enum", index),
                "contradiction",
                message,
                hint,
                needs=((*path, misfit.keyword),),
            )
    return found


def formats(scope: Scope, value: object, path: Path) -> tuple[str, ...]:
    """Names of formats; a header rule's may be those of headers, a schema's too."""
    scope.refer_all(value, tuple(FORMATS), "format", path)
    return words(value)


def members(scope: Scope, data: Data, path: Path) -> dict[str, DetailMember]:
    """The members of an object, each by its name without the `?`."""
    return {
        key.removesuffix("?"): _member(scope, key, each, (*path, key)) for key, each in data.items()
    }


def _member(scope: Scope, key: str, data: Data, path: Path) -> DetailMember:
    name = key.removesuffix("?")
    optional = key.endswith("?")
    expected = data.get("expected", False)
    if expected and not optional:
        hint = f"write `{name}?` or drop `expected`"
        scope.wrong((*path, "expected"), "contradiction", f"`{name}` is required already", hint)
    return DetailMember(
        name,
        schema(scope, data, path),
        "expected" if expected else "optional" if optional else "required",
        scope.source(data.get("source"), path),
    )


def detail_key(scope: Scope, name: str, data: Data) -> DetailKey:
    """An entry of the registry of details keys."""
    path: Path = ("detail_keys", name)
    return DetailKey(
        name,
        schema(scope, data, path),
        data.get("summary"),
        data.get("everywhere", False),
        data.get("role"),
        data.get("equals_header"),
        data.get("refers_to"),
        scope.source(data.get("source"), path),
    )


def details(
    scope: Scope, data: Data, path: Path, registry: Mapping[str, DetailKey]
) -> dict[str, DetailMember]:
    """The declared members, each typed by itself or by the registry, then the keys every code may carry."""
    found: dict[str, DetailMember] = {}
    for name, member in members(scope, data, path).items():
        registered = registry.get(name)
        typed = registered is not None and member.schema == Schema()
        found[name] = (
            DetailMember(name, registered.schema, member.presence, member.source)
            if registered and typed
            else member
        )
    for name, key in registry.items():
        if key.everywhere and name not in found:
            found[name] = DetailMember(name, key.schema, "optional", key.source)
    return found
