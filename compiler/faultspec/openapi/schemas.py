"""Schemas of a document as self-contained JSON Schema 2020-12, whatever their dialect."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from faultspec.exchange.expressions import slowness
from faultspec.openapi.nodes import texts
from faultspec.openapi.pointers import child
from faultspec.openapi.reader import DocumentReader, ExpandedSchema, is_old

Data = dict[str, Any]

#: Levels of schemas in schemas. The taxonomy's own nesting ends at 100 levels.
_DEEPEST = 24

#: Values in one schema with its references replaced. Without a limit a small document becomes a
#: huge taxonomy.
_LARGEST = 2_000

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SINGLE = frozenset(
    {"items", "not", "additionalProperties", "contains", "propertyNames", "if", "then", "else"}
)
_PATTERNS = frozenset({"pattern", "patternProperties"})
#: The alternatives repeat what a discriminator says, and the result has its own dialect.
_DROPPED = frozenset({"discriminator", "$schema"})
_LOST = frozenset({"xml", "externalDocs", "$id", "$anchor", "$dynamicAnchor"})


def self_contained(
    reader: DocumentReader, value: Any, pointer: str, *, keeps_xml: bool = False
) -> Any:
    """The schema at ``pointer`` in 2020-12, with every reference replaced by its target.

    ``keeps_xml``: with the names of elements, which JSON Schema does not have.
    """
    value, pointer = reader.follow(value, pointer)
    key = (pointer, keeps_xml)
    found = reader.expansions.known.get(key)
    if found is None:
        attempt = reader.attempt()
        lost = _LOST - {"xml"} if keeps_xml else _LOST
        schema = _Expansion(attempt, lost).schema(value, pointer, ())
        found = reader.expansions.known[key] = ExpandedSchema(schema, tuple(attempt.losses))
    reader.add_losses(found.losses)
    return found.schema


@dataclass(slots=True)
class _Expansion:
    reader: DocumentReader
    lost: frozenset[str] = _LOST
    values: int = 0
    old: bool = field(init=False)

    def __post_init__(self) -> None:
        self.old = is_old(self.reader.document)

    def schema(self, value: Any, pointer: str, above: tuple[str, ...]) -> Any:
        """``above``: the pointers of the schemas around this one."""
        before = pointer
        value, pointer = self.reader.follow(value, pointer)
        if not isinstance(value, Mapping):
            return value if isinstance(value, bool) else {}
        if pointer in above:
            self.reader.lose(before, "reference", "the schema contains itself; it is cut here")
            return {}
        self.values += 1
        if len(above) >= _DEEPEST or self.values > _LARGEST or not self.reader.expansions.spend(1):
            reason = "the schema is too large once its references are followed; it is cut here"
            self.reader.lose(before, "size", reason)
            return {}
        found: Data = {}
        for key, inner in value.items():
            if key in _PATTERNS and self._is_slow(key, inner, child(pointer, key)):
                continue
            if self._carries(key, inner, child(pointer, key), has_type="type" in value):
                found[key] = self._keyword(key, inner, child(pointer, key), (*above, pointer))
        return upgrade(found) if self.old else found

    def _keyword(self, key: str, value: Any, pointer: str, above: tuple[str, ...]) -> Any:
        if isinstance(value, Mapping):
            if key in MAPS:
                return {
                    name: self.schema(schema, child(pointer, name), above)
                    for name, schema in value.items()
                }
            if key in SINGLE:
                return self.schema(value, pointer, above)
        if key in LISTS and isinstance(value, list):
            return [
                self.schema(schema, child(pointer, index), above)
                for index, schema in enumerate(value)
            ]
        return value

    def _is_slow(self, key: str, value: Any, pointer: str) -> bool:
        """Whether a keyword has a regular expression that may take very long."""
        expressions = [value] if key == "pattern" else value
        for expression in expressions if isinstance(expressions, list | Mapping) else ():
            problem = slowness(expression) if isinstance(expression, str) else None
            if problem is not None:
                self.reader.lose(pointer, "pattern", f"the expression {problem}")
                return True
        return False

    def _carries(self, key: str, value: Any, pointer: str, *, has_type: bool) -> bool:
        """Whether a keyword is carried over."""
        if key in _DROPPED or key.startswith("x-"):
            return False
        if key in self.lost:
            reason = "an annotation next to the schema, or a name that does not hold in a copy"
            self.reader.lose(pointer, "schema", reason)
            return False
        if key == "nullable" and not self.old:
            reason = "3.1 has no `nullable`; `null` is a type there"
        elif key == "nullable" and not (isinstance(value, bool) and (has_type or not value)):
            reason = "`nullable` must be true or false, and needs a `type` in the same schema"
        else:
            return True
        self.reader.lose(pointer, "schema", reason)
        return False


def upgrade(schema: Data) -> Data:
    """One schema of OpenAPI 3.0 in the words of 2020-12, those inside it being upgraded already."""
    found = dict(schema)
    nullable = found.pop("nullable", False) is True
    if nullable and found.get("enum") == [None]:
        rest = {key: value for key, value in found.items() if key not in ("type", "enum")}
        return {"type": "null", **rest}
    if nullable and isinstance(found.get("type"), str):
        found["type"] = [found["type"], "null"]
    for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        exclusive = found.get(bound)
        if isinstance(exclusive, bool):
            del found[bound]
            if exclusive and limit in found:
                found[bound] = found.pop(limit)
    if "example" in found:
        found["examples"] = [found.pop("example")]
    match found.get("enum"):
        case [only] if found.get("type") in (None, "boolean", "integer", "number", "string"):
            # The place among the keywords stays: exported documents come back to the byte.
            found = dict(
                ("const", only) if key == "enum" else (key, value) for key, value in found.items()
            )
    return merge_typed_branches(found)


def merge_typed_branches(schema: Mapping[str, Any]) -> Data:
    """``anyOf`` with a type in each branch as a list of types, with the keywords of them all."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or "type" in schema or not branches:
        return dict(schema)
    names: list[str] = []
    keywords: dict[str, Any] = {}
    for branch in branches:
        own = branch.get("type") if isinstance(branch, Mapping) else None
        own_names = [own] if isinstance(own, str) else texts(own)
        rest = {key: branch[key] for key in branch if key != "type"} if own_names else {}
        if not own_names or rest.keys() & {*keywords, *schema}:
            return dict(schema)
        names += own_names
        keywords |= rest
    types = [name for name in dict.fromkeys(names) if name != "null"]
    types += ["null"] if "null" in names else []
    around = {key: value for key, value in schema.items() if key != "anyOf"}
    return {"type": types, **around, **keywords}
