"""The TypeScript types of values and of envelopes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from faultspec.language.model import DetailMember, Envelope, Schema, Taxonomy
from faultspec.language.spelling import pascal
from faultspec.runtime.shape import Array, Literal, Node, Object, Slot, Template
from faultspec.targets import schema as schemas
from faultspec.targets.decided import identities
from faultspec.targets.literals import ts
from faultspec.targets.python.annotations import literal_values

_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}

#: The types of the slots whose value a code decides; `CodeValue` and `d.Details` are the modules'
#: own.
_DECIDED = {
    "code": "CodeValue",
    "message": "string",
    "summary": "string",
    "status": "number | null",
    "retriable": "boolean",
    "boundary": "string | null",
    "domain": "string | null",
    "details": "d.Details",
    "actions": "readonly string[]",
}


class TypeScriptType(NamedTuple):
    """A type. ``members``: those of the one object in it, which is written between ``before`` and
    ``after``.
    """

    before: str
    members: Sequence["TypeScriptMember"] = ()
    after: str = ""


class TypeScriptMember(NamedTuple):
    """A member of an object type."""

    name: str
    optional: bool
    doc: str | None
    type: TypeScriptType


class Types:
    """The types of one package. ``named``: the values of each union of several, by its name.

    Such a name lives in ``details.ts``. Other modules import that as ``d``, so ``prefix`` is ``d.``
    there.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.named: dict[str, list[object]] = {}

    def union_parts(self, schema: Schema, name: str, prefix: str = "") -> list[TypeScriptType]:
        """The parts of the union that is a value's type; ``unknown`` if nothing is declared.

        ``name``: the name of a union of several literals.
        """
        values = literal_values(schema, self.taxonomy)
        if values:
            return [TypeScriptType(self._choice(values, name, prefix))]
        if not schema.types or schema.opaque is not None:
            return [TypeScriptType("unknown")]
        # The members of an object are listed only if null alone stands beside its braces.
        plain = len([type_ for type_ in schema.types if type_ != "null"]) > 1
        return [self._kind(type_, schema, name, prefix, plain=plain) for type_ in schema.types]

    def _choice(self, values: list[object], name: str, prefix: str) -> str:
        """One of the values."""
        if len(values) == 1:
            return ts(values[0])
        if name.endswith("Details"):
            name += "Value"
        stem, number = name, 2
        while self.named.setdefault(name, values) != values:
            name, number = f"{stem}_{number}", number + 1
        return f"{prefix}{name}"

    def _kind(
        self, kind: str, schema: Schema, name: str, prefix: str, *, plain: bool
    ) -> TypeScriptType:
        if kind == "array":
            item = (
                self.union_parts(schema.items, f"{name}Item", prefix) if schema.items else _UNKNOWN
            )
            return _array(union(item), several=len(item) > 1)
        if kind == "object" and schema.properties and not plain:
            members = self.members(schema.properties, name, prefix)
            if members:
                return TypeScriptType("{", members, "}")
        return TypeScriptType(_PLAIN.get(kind, f"{prefix}Details"))

    def members(
        self, members: Mapping[str, DetailMember], name: str, prefix: str = ""
    ) -> list[TypeScriptMember]:
        """The members that are not forbidden, each with its documentation."""
        found = []
        for member in members.values():
            if member.presence == "forbidden":
                continue
            registered = self.taxonomy.detail_keys.get(member.name)
            doc = member.schema.description or (registered.summary if registered else None)
            kind = union(self.union_parts(member.schema, name + pascal(member.name), prefix))
            optional = member.presence != "required"
            found.append(TypeScriptMember(member.name, optional, doc, kind))
        return found

    def slot(self, slot: str) -> list[TypeScriptType]:
        """The type of a slot that no code decides, for a module other than ``details.ts``."""
        if slot == "actions":
            return [TypeScriptType(_DECIDED[slot])]
        field = self.taxonomy.field_of(slot)
        return self.union_parts(field.schema, f"{pascal(slot)}Slot", "d.") if field else [*_UNKNOWN]


_UNKNOWN = (TypeScriptType("unknown"),)


def union(parts: Iterable[TypeScriptType]) -> TypeScriptType:
    """The union of the parts, each once; at most one of them has members."""
    before, members, after = "", (), ""  # type: str, Sequence[TypeScriptMember], str
    distinct = list(parts)
    for index, part in enumerate(distinct):
        if part in distinct[:index]:
            continue
        opened = " | " * bool(index) + part.before
        if members:
            after += opened
        else:
            before, members, after = before + opened, part.members, part.after
    return TypeScriptType(before, members, after)


def _array(item: TypeScriptType, *, several: bool) -> TypeScriptType:
    opened, closed = ("readonly (", ")[]") if several else ("readonly ", "[]")
    if item.members:
        return TypeScriptType(opened + item.before, item.members, item.after + closed)
    return TypeScriptType(opened + item.before + closed)


def envelope_type(envelope: Envelope, types: Types) -> TypeScriptType:
    """The type of an envelope on the wire."""
    return union(_node(envelope.shape, envelope, types))


def _node(node: Node, envelope: Envelope, types: Types) -> list[TypeScriptType]:
    """The parts of the union that is the type of a node."""
    match node:
        case Slot(name=name):
            return _slot(name, envelope, types)
        case Literal(value=value):
            return [TypeScriptType(ts(value))]
        case Template():
            return [TypeScriptType("string")]
        case Array(item=item):
            inner = union(_node(item, envelope, types))
            return [_array(inner, several="|" in inner.before + inner.after or "&" in inner.before)]
        case Object(members=members, spread=spread):
            rows = [
                TypeScriptMember(
                    member.name, member.optional, None, union(_node(member.node, envelope, types))
                )
                for member in members
            ]
            if not rows:
                return [TypeScriptType("d.Details")]
            return [TypeScriptType("{" if spread is None else "d.Details & {", rows, "}")]


def _slot(name: str, envelope: Envelope, types: Types) -> list[TypeScriptType]:
    """The parts of the union that is the type of a slot of an envelope."""
    if name == "details" and schemas.lists_details(envelope):
        return [TypeScriptType("readonly [d.Details]")]
    if name == "code":
        own = identities(types.taxonomy).get(envelope.name, ())
        values = dict.fromkeys(ts(row.value) for row in own)
        return [TypeScriptType(_DECIDED["code"]), *map(TypeScriptType, values)]
    return [TypeScriptType(_DECIDED[name])] if name in _DECIDED else types.slot(name)
