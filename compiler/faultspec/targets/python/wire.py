"""What ``wire.py`` needs to know: the slots that are attributes of errors, the envelopes, the headers."""

from collections.abc import Mapping
from typing import NamedTuple

from faultspec.language.model import Envelope, Field, Schema, Taxonomy
from faultspec.runtime import ids
from faultspec.runtime.shape import Array, Literal, Node, Object, Slot, Template, slot_places
from faultspec.targets import schema as schemas
from faultspec.targets.filters import literal, pascal, unique
from faultspec.targets.layout import Raw, name, source, typed
from faultspec.targets.python.annotations import Annotations, listed, nullable, parts, union
from faultspec.targets.python.names import ATTRIBUTES, parameter

#: Slots whose value a code decides, or that the base class keeps under a name of its own.
DECIDED = frozenset(
    {"code", "message", "summary", "status", "retriable", "boundary", "domain", "details"}
)

#: What a value from the wire must be an instance of to be taken.
_KINDS = {
    "string": "str",
    "integer": "int",
    "number": "(int, float)",
    "boolean": "bool",
    "object": "Mapping",
    "array": "list",
}


class PythonSlotRow(NamedTuple):
    """A slot that is an attribute of every error.

    ``kinds``: types that a value from the wire may have. ``parameter`` and ``assignment``: what the base class takes it
    by, and how it keeps it. ``place``: the row of ``wire.PLACES``. ``generate``: source of the format a missing value is
    made in, or None. ``header``: the response header that repeats it, or None. ``needed``: an envelope requires it and
    null is no value of it.
    """

    slot: str
    attribute: str
    annotation: str
    kinds: str
    parameter: str
    assignment: str
    place: str
    generate: str | None
    header: str | None
    needed: bool


class PythonEnvelopeRow(NamedTuple):
    """An envelope, as source."""

    name: str
    text: str


def slot_rows(taxonomy: Taxonomy, types: Annotations) -> tuple[PythonSlotRow, ...]:
    """Every slot of every envelope that no code decides, in the order in which the envelopes first name them."""
    found: dict[str, PythonSlotRow] = {}
    taken: set[str] = set()
    for envelope in taxonomy.envelopes.values():
        for slot in slot_places(envelope.shape):
            if slot not in found and slot not in DECIDED:
                found[slot] = (
                    _actions(taxonomy) if slot == "actions" else _slot(slot, taxonomy, types, taken)
                )
    return tuple(found.values())


class Place(NamedTuple):
    """A row of ``wire.PLACES``; the same fields, in the same order, as its template declares."""

    attribute: str
    slot: str
    kinds: Raw
    header: str | None = None


def _actions(taxonomy: Taxonomy) -> PythonSlotRow:
    return _row("actions", "actions", "Sequence[str]", "list", header_of("actions", None, taxonomy))


def _slot(slot: str, taxonomy: Taxonomy, types: Annotations, taken: set[str]) -> PythonSlotRow:
    field = taxonomy.field_of(slot)
    known = field.schema if field is not None else Schema()
    formats = (
        [each for each in known.format if each in ids.PATTERNS]
        if field is not None and field.echo
        else []
    )
    places = [slot_places(envelope.shape).get(slot, ()) for envelope in taxonomy.envelopes.values()]
    attribute = unique(parameter(slot, ATTRIBUTES), taken)
    row = _row(
        slot,
        attribute,
        types.of(known, pascal(slot), attribute),
        _KINDS.get(known.types[0], "object") if len(known.types) == 1 else "object",
        header_of(slot, field, taxonomy),
    )
    return row._replace(
        generate=literal(formats[0]) if formats else None,
        needed=bool(known.types or listed(known, taxonomy))
        and not nullable(known)
        and any(place.required for each in places for place in each),
    )


def _row(
    slot: str, attribute: str, annotation: str, kinds: str, header: str | None
) -> PythonSlotRow:
    return PythonSlotRow(
        slot=slot,
        attribute=attribute,
        annotation=annotation,
        kinds=kinds,
        parameter=typed(f"{attribute}: ", union((*parts(annotation), "None")), " = None,", 8),
        assignment=f"self.{attribute} = {name(attribute, 8, len(f'        self.{attribute} = '))}",
        place=source(Place(attribute, slot, Raw(kinds), header), 4, 4),
        generate=None,
        header=header,
        needed=False,
    )


def header_of(slot: str, field: Field | None, taxonomy: Taxonomy) -> str | None:
    """The response header that repeats a slot."""
    named = (field.echo or field.mirror) if field is not None else None
    return named or next((rule.name for rule in taxonomy.headers if rule.equals == slot), None)


def envelope_row(envelope: Envelope) -> PythonEnvelopeRow:
    """The row of an envelope."""
    listed = "        listed=True,\n" if schemas.lists_details(envelope) else ""
    shown = "        shown=True,\n" if schemas.shows_details(envelope) else ""
    text = (
        "Envelope(\n"
        f"        media_type={literal(envelope.media_types[0])},\n"
        f"        shape=compile_shape({_picture_source(envelope.shape)}),\n"
        f"{listed}{shown}    )"
    )
    return PythonEnvelopeRow(envelope.name, text)


def _picture_source(node: Node) -> str:
    drawn = picture(node)
    if not isinstance(drawn, Mapping | list):
        return literal(drawn)
    return "\n            " + source(drawn, 12, 12) + "\n        "


def picture(node: Node) -> object:
    """The picture that compiles to this node, with nothing left to look up."""
    match node:
        case Slot(name=name):
            return f"${name}"
        case Literal(value=value):
            return value.replace("$", "$$") if isinstance(value, str) else value
        case Template(texts=texts, slots=slots):
            rest = "".join(
                f"${{{slot}}}{text.replace('$', '$$')}"
                for slot, text in zip(slots, texts[1:], strict=True)
            )
            return texts[0].replace("$", "$$") + rest
        case Array(item=item):
            return [picture(item)]
        case Object(members=members, spread=spread):
            found = {
                member.name + "?" * member.optional: picture(member.node) for member in members
            }
            return found if spread is None else {**found, "...": f"${spread}"}


def carried_headers(taxonomy: Taxonomy) -> tuple[str, ...]:
    """Lower-case names of the headers that belong to an error and not to the one answer it came with, sorted."""
    rules = [
        *taxonomy.headers,
        *(rule for _, code in schemas.live(taxonomy) for rule in code.headers),
    ]
    named = {
        rule.name.lower()
        for rule in rules
        if rule.presence != "forbidden" and not rule.token and not rule.equals
    }
    derived = {
        key.equals_header.lower() for key in taxonomy.detail_keys.values() if key.equals_header
    }
    repeated = {(field.echo or field.mirror or "").lower() for field in taxonomy.fields()}
    return tuple(sorted((named | derived | {"retry-after"}) - repeated))
