"""Families of bodies: the alternatives of a schema, if a member of each holds the code."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Json
from faultspec.importers.bodies import BodyFamily, CodedBody
from faultspec.importers.code_member import code_pointer, listed_places
from faultspec.importers.pictures import MESSAGES
from faultspec.importers.rules import ImportedRules, split_rules, split_status
from faultspec.language.values import foreign_schema_problem
from faultspec.openapi.nodes import mapping, sequence, texts
from faultspec.openapi.pointers import child, steps, value_at
from faultspec.openapi.reader import DocumentReader, is_old
from faultspec.openapi.schemas import self_contained

#: The most codes of one body, each of which becomes a code of the taxonomy.
_CODES = 500

Branch = tuple[Any, str]
"""An alternative of a union, and its pointer."""


class Union(NamedTuple):
    """Alternatives, and the steps to them in a body, with ``*`` for the items of a list.

    ``whole``: the schema of the body. ``status``: that of its response.
    """

    path: list[str]
    branches: list[Branch]
    discriminator: str | None = None
    whole: Any = None
    status: str | None = None

    def refers(self) -> bool:
        """Whether every alternative is a reference."""
        return all(isinstance(schema, Mapping) and "$ref" in schema for schema, _ in self.branches)

    def names(self) -> list[str | None]:
        """The names of the schemas that the alternatives refer to."""
        return [reference_name(schema) for schema, _ in self.branches]


def reference_name(schema: Any) -> str | None:
    """The last step of a schema's reference."""
    reference = mapping(schema).get("$ref")
    return [reference, *steps(reference)][-1] if isinstance(reference, str) else None


def find_union(reader: DocumentReader, schema: Any, pointer: str) -> Union | None:
    """The alternatives of a schema, or of the first inline member or item that has any."""
    schema, pointer = reader.follow(schema, pointer)
    if not isinstance(schema, Mapping):
        return None
    for keyword in ("oneOf", "anyOf"):
        if branches := sequence(schema.get(keyword)):
            member = mapping(schema.get("discriminator")).get("propertyName")
            place = child(pointer, keyword)
            placed = [(branch, child(place, index)) for index, branch in enumerate(branches)]
            return Union([], placed, member if isinstance(member, str) else None)
    inner = [("*", schema["items"], child(pointer, "items"))] if "items" in schema else []
    if isinstance(schema.get("properties"), Mapping):
        place = child(pointer, "properties")
        inner += [
            (name, member, child(place, name)) for name, member in schema["properties"].items()
        ]
    for step, member, place in inner:
        if isinstance(member, Mapping) and "$ref" not in member:
            found = find_union(reader, member, place)
            if found is not None:
                return found._replace(path=[step, *found.path])
    return None


def find_error_list(
    reader: DocumentReader, schema: Any, pointer: str, depth: int = 3
) -> Union | None:
    """The items of the first list of objects in a body, at most ``depth`` objects deep, if the body
    has no message beside it: then each item is an error of its own, as in JSON:API and GraphQL.
    """
    schema, pointer = reader.follow(schema, pointer)
    if not isinstance(schema, Mapping):
        return None
    if "items" in schema:
        place = child(pointer, "items")
        item = mapping(reader.follow(schema["items"], place)[0])
        return Union(["*"], [(schema["items"], place)]) if item.keys() & _OF_OBJECTS else None
    members = mapping(schema.get("properties"))
    if not depth or any(
        name in MESSAGES and mapping(member).get("type") == "string"
        for name, member in members.items()
    ):
        return None
    for name, member in members.items():
        place = child(child(pointer, "properties"), name)
        found = find_error_list(reader, member, place, depth - 1)
        if found is not None:
            return found._replace(path=[str(name), *found.path])
    return None


#: Keywords of objects whose members have names.
_OF_OBJECTS = frozenset({"properties", "allOf"})


class _Alternative(NamedTuple):
    name: str | None
    pointer: str
    schema: Json
    rules: ImportedRules


def read_family(
    reader: DocumentReader, name: str | None, pointer: str, union: Union
) -> BodyFamily | None:
    """The family of a union's alternatives; None unless a member of each holds the code."""
    found: list[_Alternative] = []
    for schema, place in union.branches:
        alternative = _alternative(reader, schema, place)
        if alternative is None:
            return None
        found.append(alternative)
    code = code_pointer(
        [body.schema for body in found],
        [body.name for body in found],
        union.discriminator,
        status=union.status,
    )
    if code is None:
        return None
    path = steps(code)
    for body in found:
        _lose_around_code(reader, body, path)
    bodies = [coded for body in found for coded in _coded_bodies(reader, body, code)]
    wrapper = None
    if union.path:
        whole = union.whole or value_at(reader.document, pointer)
        wrapper = self_contained(reader, whole, pointer)
    return BodyFamily(
        name=name,
        pointer=pointer,
        wrapper_path=union.path,
        code_pointer=code,
        bodies=bodies,
        wrapper=wrapper,
    )


def _alternative(reader: DocumentReader, schema: Any, pointer: str) -> _Alternative | None:
    """An alternative that is an object."""
    target, place = reader.follow(schema, pointer)
    whole = self_contained(reader, schema, pointer) if isinstance(target, Mapping) else None
    plain, rules = split_rules(whole) if isinstance(whole, Mapping) else (None, None)
    if rules is None or not isinstance(plain, Mapping) or foreign_schema_problem(plain) is not None:
        reader.lose(place, "schema", "this is not JSON Schema")
        return None
    joined = join_all_of(plain)
    if not isinstance(joined.get("properties"), Mapping):
        return None
    return _Alternative(reference_name(schema), place, joined, rules)


def _lose_around_code(reader: DocumentReader, body: _Alternative, path: Sequence[str]) -> None:
    """Report keywords of the code member other than its values, and `null` on the way to it."""
    schema, pointer = body.schema, body.pointer
    for step in ("", *path):
        if step:
            schema, pointer = schema["properties"][step], child(child(pointer, "properties"), step)
        if "null" in sequence(schema.get("type")):
            place = child(pointer, "nullable" if is_old(reader.document) else "type")
            reader.lose(place, "schema", "a code is never null, so `null` is not allowed here")
    for key in schema:
        if key not in ("type", "enum", "const", "title"):
            reader.lose(child(pointer, key), "schema", "a code has its values only")


def _coded_bodies(reader: DocumentReader, body: _Alternative, code: str) -> list[CodedBody]:
    """A body for each code that an alternative lists."""
    wires = listed_places(body.schema)[code]
    if len(wires) > _CODES:
        reason = f"one list has {len(wires)} codes; the first {_CODES} are kept"
        reader.lose(body.pointer, "size", reason)
    schema, rules = split_status(body.schema, body.rules, steps(code))
    kept = [*dict.fromkeys(wires[:_CODES])]
    # Each code has a copy of the members.
    if not reader.expansions.spend(len(kept) * len(schema["properties"])):
        reader.lose(
            body.pointer, "size", "the document has too many members; its first code is kept"
        )
        kept = kept[:1]
    return [
        CodedBody(
            wire=wire,
            schema=with_code(schema, steps(code), wire),
            pointer=body.pointer,
            ref=body.name if len(wires) == 1 else None,
            rules=rules,
        )
        for wire in kept
    ]


def with_code(schema: Json, path: list[str], wire: str | int) -> Json:
    """The body with one code as the constant of the member that holds the code."""
    if not path:
        return {"const": wire}
    if schema.get("type") == "array":
        return {**schema, "items": with_code(schema["items"], path[1:], wire)}
    properties = dict(schema["properties"])
    properties[path[0]] = with_code(properties[path[0]], path[1:], wire)
    return {**schema, "properties": properties}


def join_all_of(schema: Json) -> Json:
    """An ``allOf`` of objects as one object. Any other schema stays as it is."""
    if not isinstance(schema.get("allOf"), list):
        return schema
    own = {key: value for key, value in schema.items() if key != "allOf"}
    parts = [join_all_of(part) if isinstance(part, Mapping) else part for part in schema["allOf"]]
    parts.append(own)
    if not all(map(_is_joinable, parts)):
        return schema
    found: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: dict[str, None] = {}
    for part in parts:
        for name, member in part.get("properties", {}).items():
            both = isinstance(member, Mapping) and isinstance(properties.get(name), Mapping)
            properties[name] = {**properties[name], **member} if both else member
        required |= dict.fromkeys(texts(part.get("required")))
        found |= {
            key: value for key, value in part.items() if key not in ("properties", "required")
        }
    return {**found, "properties": properties, **({"required": [*required]} if required else {})}


def _is_joinable(part: Any) -> bool:
    return (
        isinstance(part, Mapping)
        and not part.keys() & {"oneOf", "anyOf", "not", "if"}
        and isinstance(part.get("properties", {}), Mapping)
    )
