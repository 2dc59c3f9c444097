"""The TypeScript types of values and of envelopes."""

from collections.abc import Mapping

from faultspec.language.model import DetailMember, Envelope, Schema, Taxonomy
from faultspec.runtime.shape import Array, Literal, Node, Object, Slot, Template
from faultspec.targets import schema as schemas
from faultspec.targets.filters import columns, pascal, tsdoc
from faultspec.targets.python.annotations import listed
from faultspec.targets.typescript.layout import alias, key, literal, typed, union

_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}

#: The types of the slots whose value a code decides; `Wire` and `d.Details` are the modules' own.
_DECIDED = {
    "code": "Wire",
    "message": "string",
    "summary": "string",
    "status": "number | null",
    "retriable": "boolean",
    "boundary": "string | null",
    "domain": "string | null",
    "details": "d.Details",
    "actions": "readonly string[]",
}

#: A union of literals longer than this has a name of its own: what the line needs beside it is never more than the rest.
_INLINE = 40


class Types:
    """The types of one package. ``named``: source of each union that is too long for its line, by name.

    Such a name lives in ``details.ts``, which other modules call ``d``; ``prefix`` is how they get there.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.named: dict[str, str] = {}

    def of(
        self, schema: Schema, name: str, indent: int, prefix: str = "", inline: int = _INLINE
    ) -> list[str]:
        """The members of the union that a value's type is; ``unknown`` where nothing is known of it. ``name``: what a long
        union of literals is called, and ``inline`` the columns that are too many.
        """
        values = listed(schema, self.taxonomy)
        if values:
            parts = [literal(value) for value in values]
            if len(parts) == 1 or columns(union(parts)) <= inline:
                return parts
            self.named[name] = alias(name, parts)
            return [f"{prefix}{name}"]
        if not schema.types or schema.opaque is not None:
            return ["unknown"]
        # Members of objects are only said where the braces have no neighbour but null.
        plain = len([type_ for type_ in schema.types if type_ != "null"]) > 1
        return list(
            dict.fromkeys(
                self._kind(type_, schema, name, indent, prefix, plain) for type_ in schema.types
            )
        )

    def _kind(
        self, kind: str, schema: Schema, name: str, indent: int, prefix: str, plain: bool
    ) -> str:
        if kind == "array":
            parts = (
                self.of(schema.items, f"{name}Item", indent, prefix, inline=0)
                if schema.items
                else ["unknown"]
            )
            return f"readonly ({union(parts)})[]" if len(parts) > 1 else f"readonly {parts[0]}[]"
        if kind == "object" and schema.properties and not plain:
            return self.object(schema.properties, name, indent, prefix)
        return _PLAIN.get(kind, f"{prefix}Details")

    def object(
        self, members: Mapping[str, DetailMember], name: str, indent: int, prefix: str = ""
    ) -> str:
        """The type of an object with these members, its braces and all."""
        pad = " " * (indent + 2)
        lines = [f"{pad}{member}\n" for member in self.members(members, name, indent + 2, prefix)]
        return "{\n" + "".join(lines) + " " * indent + "}" if lines else f"{prefix}Details"

    def members(
        self, members: Mapping[str, DetailMember], name: str, indent: int, prefix: str = ""
    ) -> list[str]:
        """The lines of the members, each with what is said of it."""
        found = []
        for member in members.values():
            if member.presence == "forbidden":
                continue
            registered = self.taxonomy.detail_keys.get(member.name)
            doc = member.schema.description or (registered.summary if registered else None)
            mark = "" if member.presence == "required" else "?"
            kind = self.of(member.schema, name + pascal(member.name), indent, prefix)
            said = f"{tsdoc(doc, indent)}\n{' ' * indent}" if doc else ""
            found.append(said + typed(f"readonly {key(member.name)}{mark}:", kind, indent))
        return found

    def slot(self, slot: str) -> list[str]:
        """The type of a slot that is not the code's to decide, for a module other than ``details.ts``."""
        if slot == "actions":
            return [_DECIDED[slot]]
        field = self.taxonomy.field_of(slot)
        return self.of(field.schema, f"{pascal(slot)}Slot", 2, "d.") if field else ["unknown"]


def envelope_type(envelope: Envelope, name: str, types: Types) -> str:
    """The declaration of what an envelope looks like on the wire."""
    parts = _node(envelope.shape, envelope, types, 0)
    if len(parts) == 1 and parts[0].startswith("{"):
        return f"export interface {name} {parts[0]}"
    return alias(name, parts)


def _node(node: Node, envelope: Envelope, types: Types, indent: int) -> list[str]:
    match node:
        case Slot(name="details") if schemas.lists_details(envelope):
            return ["readonly [d.Details]"]
        case Slot(name=name) if name in _DECIDED:
            return _DECIDED[name].split(" | ")
        case Slot(name=name):
            return types.slot(name)
        case Literal(value=value):
            return [literal(value)]
        case Template():
            return ["string"]
        case Array(item=item):
            inner = union(_node(item, envelope, types, indent))
            return [
                f"readonly ({inner})[]" if "|" in inner or "&" in inner else f"readonly {inner}[]"
            ]
        case Object(members=members, spread=spread):
            pad = " " * (indent + 2)
            lines = [
                pad
                + typed(
                    f"readonly {key(member.name)}{'?' * member.optional}:",
                    _node(member.node, envelope, types, indent + 2),
                    indent + 2,
                )
                + "\n"
                for member in members
            ]
            text = "{\n" + "".join(lines) + " " * indent + "}" if lines else "d.Details"
            return [text if spread is None or not lines else f"d.Details & {text}"]
