"""The TypeScript types of values and of envelopes."""

from collections.abc import Mapping

from faultspec.language.model import DetailMember, Envelope, Schema, Taxonomy
from faultspec.language.spelling import pascal
from faultspec.runtime.shape import Array, Literal, Node, Object, Slot, Template
from faultspec.targets import schema as schemas
from faultspec.targets.filters import tsdoc
from faultspec.targets.literals import columns, declared, key, ts, union
from faultspec.targets.python.annotations import listed

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

#: Columns of the longest union of literals without a name of its own; the rest of its line always
#: fits beside it.
_INLINE = 40


class Types:
    """The types of one package. ``named``: the values of each union that is too long for its line,
    by its name.

    Such a name lives in ``details.ts``. Other modules import that as ``d``, so ``prefix`` is ``d.``
    there.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.named: dict[str, list[object]] = {}

    def of(
        self, schema: Schema, name: str, indent: int, prefix: str = "", inline: int = _INLINE
    ) -> list[str]:
        """The parts of the union that is a value's type; ``unknown`` if nothing is declared.

        ``name``: the name of a union of literals that is longer than ``inline``.
        """
        values = listed(schema, self.taxonomy)
        if values:
            parts = [ts(value) for value in values]
            if len(parts) == 1 or columns(union(parts)) <= inline:
                return parts
            # The keys of an object type can be these; prettier leaves such a type exploded.
            self.named[name] = [value for value in values if _is_key(value)]
            return [f"{prefix}{name}", *(ts(value) for value in values if not _is_key(value))]
        if not schema.types or schema.opaque is not None:
            return ["unknown"]
        # The members of an object are listed only if null alone stands beside its braces.
        plain = len([type_ for type_ in schema.types if type_ != "null"]) > 1
        return list(
            dict.fromkeys(
                self._kind(
                    kind=type_, schema=schema, name=name, indent=indent, prefix=prefix, plain=plain
                )
                for type_ in schema.types
            )
        )

    def _kind(
        self, *, kind: str, schema: Schema, name: str, indent: int, prefix: str, plain: bool
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
        """The type of an object with these members, in braces."""
        pad = " " * (indent + 2)
        lines = [f"{pad}{member}\n" for member in self.members(members, name, indent + 2, prefix)]
        return "{\n" + "".join(lines) + " " * indent + "}" if lines else f"{prefix}Details"

    def members(
        self, members: Mapping[str, DetailMember], name: str, indent: int, prefix: str = ""
    ) -> list[str]:
        """The lines of the members, each with its documentation."""
        found = []
        for member in members.values():
            if member.presence == "forbidden":
                continue
            registered = self.taxonomy.detail_keys.get(member.name)
            doc = member.schema.description or (registered.summary if registered else None)
            mark = "" if member.presence == "required" else "?"
            kind = self.of(member.schema, name + pascal(member.name), indent, prefix)
            above = f"{tsdoc(doc, indent)}\n{' ' * indent}" if doc else ""
            found.append(above + declared(kind, f"readonly {key(member.name)}{mark}:", indent))
        return found

    def slot(self, slot: str) -> list[str]:
        """The type of a slot that no code decides, for a module other than ``details.ts``."""
        if slot == "actions":
            return [_DECIDED[slot]]
        field = self.taxonomy.field_of(slot)
        return self.of(field.schema, f"{pascal(slot)}Slot", 2, "d.") if field else ["unknown"]


def _is_key(value: object) -> bool:
    return isinstance(value, str) or (type(value) is int and value >= 0)


def envelope_type(envelope: Envelope, types: Types) -> list[str]:
    """The type of an envelope on the wire, as parts of a union; an object alone is one part in
    braces.
    """
    return _node(envelope.shape, envelope, types, 0)


def _node(node: Node, envelope: Envelope, types: Types, indent: int) -> list[str]:
    match node:
        case Slot(name="details") if schemas.lists_details(envelope):
            return ["readonly [d.Details]"]
        case Slot(name=name) if name in _DECIDED:
            return _DECIDED[name].split(" | ")
        case Slot(name=name):
            return types.slot(name)
        case Literal(value=value):
            return [ts(value)]
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
                + declared(
                    _node(member.node, envelope, types, indent + 2),
                    f"readonly {key(member.name)}{'?' * member.optional}:",
                    indent + 2,
                )
                + "\n"
                for member in members
            ]
            text = "{\n" + "".join(lines) + " " * indent + "}" if lines else "d.Details"
            return [text if spread is None or not lines else f"d.Details & {text}"]
