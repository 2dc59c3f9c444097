"""The sensitive places of a taxonomy: details, registered keys, and slots of envelopes."""

import re
from collections.abc import Iterable, Iterator

from faultspec.exchange.sensitive import SensitivePlaces, fold_member
from faultspec.language.model import Code, Envelope, Schema, Taxonomy
from faultspec.runtime.nodes import Array, Node, Object, slot_places
from faultspec.runtime.pointers import steps

#: A parameter of a text, by its name or its path.
_PARAMETER = re.compile(r"\$\{?([\w.-]+)")


def find_sensitive_places(taxonomy: Taxonomy) -> SensitivePlaces:
    """The places of all values that the taxonomy declares as sensitive."""
    codes = [*taxonomy.every_code(), *(code for _, code in taxonomy.variants())]
    members = [(name, member.schema) for code in codes for name, member in code.details.items()]
    members += [(key.name, key.schema) for key in taxonomy.detail_keys.values()]
    members += [
        place for envelope in taxonomy.envelopes.values() for place in _slot_members(envelope)
    ]
    names = {name for top, schema in members for name in _sensitive_names(top, schema)}
    folded = frozenset(fold_member(name) for name in names if name)
    declared = {
        name
        for _, schema in members
        for inner in schema.nested_schemas()
        if inner.sensitive
        for below in inner.nested_schemas()
        for name in below.properties
    }
    repeated = {
        key.equals_header.lower()
        for key in taxonomy.detail_keys.values()
        if key.equals_header is not None and fold_member(key.name) in folded
    }
    return SensitivePlaces(
        names=folded,
        declared=frozenset(declared),
        headers=frozenset({*_slot_headers(taxonomy), *repeated}),
        whole="" in names,
        quoted=not folded.isdisjoint(map(fold_member, _quoted_names(taxonomy, codes))),
    )


def _quoted_names(taxonomy: Taxonomy, codes: Iterable[Code]) -> Iterator[str]:
    """The names of the details that messages and renderings quote."""
    texts = [text for code in codes for text in (code.message, *code.messages.values())]
    texts += [str(rendering.picture) for rendering in taxonomy.renderings.values()]
    for text in filter(None, texts):
        yield from (found.rpartition(".")[2] for found in _PARAMETER.findall(text))


def _sensitive_names(name: str, schema: Schema) -> Iterator[str]:
    """The names of the sensitive members in a member of this name, and its own. Items of a list
    have the name of the list.
    """
    if schema.sensitive:
        yield name
    if schema.items is not None:
        yield from _sensitive_names(name, schema.items)
    for inner, member in schema.properties.items():
        yield from _sensitive_names(inner, member.schema)


def _slot_members(envelope: Envelope) -> Iterator[tuple[str, Schema]]:
    """The name of each member that has a slot with sensitive values, and the schema of the slot.
    The name is empty if the slot is the whole body.
    """
    places = slot_places(envelope.shape)
    for field in envelope.fields.values():
        if not any(schema.sensitive for schema in field.schema.nested_schemas()):
            continue
        pointers = [place.path for place in places.get(field.slot, ())]
        pointers += [place.at for place in field.places if place.kind == "body"]
        for pointer in pointers:
            yield _name_at(envelope.shape, pointer), field.schema


def _name_at(shape: Node, pointer: str) -> str:
    """The name of the member that has what stands at a pointer: that of the list for an item, that
    of the element for its text.
    """
    name = ""
    node: Node | None = shape
    for step in steps(pointer):
        if not isinstance(node, Array) and not step.startswith("#"):
            name = step
        node = _find_inner(node, step)
    return name


def _find_inner(node: Node | None, step: str) -> Node | None:
    if isinstance(node, Array):
        return node.item
    if isinstance(node, Object):
        return next((member.node for member in node.members if member.name == step), None)
    return None


def _slot_headers(taxonomy: Taxonomy) -> Iterator[str]:
    """The response headers that have a sensitive slot, in lower case."""
    for envelope in taxonomy.envelopes.values():
        for field in envelope.fields.values():
            if field.schema.sensitive:
                named = [place.at for place in field.places if place.kind == "header"]
                named += [header for header in (field.echo, field.mirror) if header is not None]
                yield from (header.lower() for header in named)
