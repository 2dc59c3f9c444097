"""The types of slots, for bodies in formats that have only texts."""

from collections.abc import Mapping

from faultspec.language.model import DetailKey, Envelope, Schema, Taxonomy
from faultspec.runtime.checking import Check
from faultspec.runtime.text_values import ANY


def text_type(schema: Schema | None) -> Check:
    """The types of a schema that a text may stand for."""
    if schema is None:
        return ANY
    types = schema.types
    if not types and schema.enum and not any(isinstance(each, str) for each in schema.enum):
        types = ("integer", "number", "boolean", "null")  # its constants have one of them
    return Check(
        types=types,
        members={name: text_type(member.schema) for name, member in schema.properties.items()},
        items=text_type(schema.items) if schema.items is not None else None,
    )


def details_type(taxonomy: Taxonomy, declared: Mapping[str, Schema]) -> Check:
    """The types of details: those that a code declares, and of the registry the others."""
    keys: Mapping[str, DetailKey] = taxonomy.detail_keys
    schemas = {**{name: key.schema for name, key in keys.items()}, **declared}
    return Check(("object",), members={name: text_type(each) for name, each in schemas.items()})


def slot_types(taxonomy: Taxonomy, envelope: Envelope) -> dict[str, Check]:
    """The types of the slots of an envelope: its own, else those that are implied."""
    found = {}
    for slot in envelope.slots:
        field = envelope.fields.get(slot)
        own = field.schema if field is not None and field.schema.types else None
        schema = own or taxonomy.implied_schema(slot)
        if slot == "details":
            declared = field.schema.properties if field is not None else {}
            schemas = {name: member.schema for name, member in declared.items()}
            is_list = schema is not None and "array" in schema.types
            if not is_list:
                found[slot] = details_type(taxonomy, schemas)
                continue
        found[slot] = text_type(schema)
    wires = [code.wire_in(envelope) for code in taxonomy.every_code()]
    if wires and not any(isinstance(wire, str) for wire in wires):
        found["code"] = Check(("integer",))
    return found
