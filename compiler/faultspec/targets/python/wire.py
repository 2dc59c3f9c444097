"""The rows of ``wire.py``: the slots that are attributes of errors, the envelopes, the headers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from faultspec.language.model import Envelope, Field, Schema, Taxonomy
from faultspec.language.spelling import pascal
from faultspec.language.text_types import slot_types
from faultspec.runtime.checking import Check
from faultspec.runtime.places import SlotPlace
from faultspec.runtime.shape import (
    Array,
    Literal,
    Node,
    Object,
    Slot,
    Template,
    lists_errors,
    slot_places,
    walk,
)
from faultspec.runtime.text_values import ANY
from faultspec.targets import schema as schemas
from faultspec.targets.decided import decided_rows
from faultspec.targets.filters import take_unique
from faultspec.targets.literals import Verbatim
from faultspec.targets.python.annotations import (
    Annotations,
    is_nullable,
    join_types,
    literal_values,
    parts,
)
from faultspec.targets.python.facts import span
from faultspec.targets.python.names import ATTRIBUTES, parameter

#: Slots whose value a code decides, or that the base class keeps under a name of its own.
DECIDED = frozenset(
    {"code", "message", "summary", "status", "retriable", "boundary", "domain", "details"}
)

_STRING = Check(types=("string",))

#: The Python type that a value from the wire must have to be accepted.
_KINDS = {
    "string": "str",
    "integer": "int",
    "number": "(int, float)",
    "boolean": "bool",
    "object": "Mapping",
    "array": "list",
}


class Place(NamedTuple):
    """A row of ``wire.PLACES``; fields and order are those of its template. ``kinds``: the types of
    its values.
    """

    attribute: str
    slot: str
    kinds: Verbatim
    header: str | None = None


class PythonSlotRow(NamedTuple):
    """A slot that is an attribute of every error.

    ``annotation``: its type, and ``optional`` that of a parameter that may be None. ``generate``:
    the format in which a missing value is made, or None. ``needed``: an envelope requires it, and
    it cannot be null.
    """

    slot: str
    attribute: str
    annotation: str
    optional: str
    place: Place
    generate: str | None
    needed: bool


class PythonEnvelopeRow(NamedTuple):
    """An envelope. ``listed``: its details are a list. ``shown``: they are there even if they are
    empty. ``sent``: the picture of what is sent, if it is another; ``places``: those of slots that
    are not only where the picture has them. ``spelled``: its status is a text.
    """

    name: str
    media_type: str
    picture: object
    listed: bool
    shown: bool
    sent: object = None
    places: Mapping[str, Sequence[SlotPlace]] = {}
    spelled: bool = False


class PythonFormatRow(NamedTuple):
    """The media types of an envelope, and the types of its slots where bodies have only texts."""

    name: str
    media_types: Sequence[str]
    types: Mapping[str, Check]


class DecidedKey(NamedTuple):
    """The rows of ``wire.DECIDED`` that belong together, each a code and its statuses."""

    key: tuple[str, str | None, bool]
    rows: Sequence[tuple[str | int, tuple[Verbatim, ...]]]


def decided_keys(taxonomy: Taxonomy) -> tuple[DecidedKey, ...]:
    """The codes that the status or the envelope decides, by envelope and operation."""
    found: dict[tuple[str, str | None, bool], list[tuple[str | int, tuple[Verbatim, ...]]]] = {}
    for row in decided_rows(taxonomy):
        spans = tuple(Verbatim(span(each)) for each in row.statuses)
        found.setdefault((row.envelope, row.operation, row.listed), []).append((row.wire, spans))
    return tuple(DecidedKey(key, rows) for key, rows in found.items())


def format_rows(taxonomy: Taxonomy) -> tuple[PythonFormatRow, ...]:
    """The formats of the envelopes, none if all of their bodies are JSON."""
    if not has_formats(taxonomy):
        return ()
    return tuple(
        PythonFormatRow(envelope.name, envelope.essences, _text_types(taxonomy, envelope))
        for envelope in taxonomy.envelopes.values()
    )


def _text_types(taxonomy: Taxonomy, envelope: Envelope) -> Mapping[str, Check]:
    """The types of slots that are not texts, for a format that has only these."""
    if all(codec.has_types for codec in envelope.codecs):
        return {}
    types = slot_types(taxonomy, envelope)
    return {slot: check for slot, check in types.items() if check not in (ANY, _STRING)}


def has_formats(taxonomy: Taxonomy) -> bool:
    """Whether a codec reads a body of an envelope that is not JSON."""
    codecs = (codec for envelope in taxonomy.envelopes.values() for codec in envelope.codecs)
    return any(codec.name != "JSON" for codec in codecs)


def has_error_lists(taxonomy: Taxonomy) -> bool:
    """Whether an envelope has a list of errors."""
    return any(
        lists_errors(place.node)
        for envelope in taxonomy.envelopes.values()
        for place in walk(envelope.shape)
    )


def slot_rows(taxonomy: Taxonomy, types: Annotations) -> tuple[PythonSlotRow, ...]:
    """Every slot that no code decides, in the order in which the envelopes first name them."""
    found: dict[str, PythonSlotRow] = {}
    taken: set[str] = set()
    for envelope in taxonomy.envelopes.values():
        for slot in envelope.slots:
            if slot not in found and slot not in DECIDED:
                found[slot] = (
                    _actions(taxonomy) if slot == "actions" else _slot(slot, taxonomy, types, taken)
                )
    return tuple(found.values())


def _actions(taxonomy: Taxonomy) -> PythonSlotRow:
    header = header_of("actions", None, taxonomy)
    return _row(
        slot="actions", attribute="actions", annotation="Sequence[str]", kinds="list", header=header
    )


def _slot(slot: str, taxonomy: Taxonomy, types: Annotations, taken: set[str]) -> PythonSlotRow:
    field = taxonomy.field_of(slot)
    known = field.schema if field is not None else Schema()
    formats = schemas.made_formats(field) if field is not None else ()
    places = [slot_places(envelope.shape).get(slot, ()) for envelope in taxonomy.envelopes.values()]
    row = _row(
        slot=slot,
        attribute=take_unique(parameter(slot, ATTRIBUTES), taken),
        annotation=types.annotation(known, pascal(slot)),
        kinds=_KINDS.get(known.types[0], "object") if len(known.types) == 1 else "object",
        header=header_of(slot, field, taxonomy),
    )
    return row._replace(
        generate=next(iter(formats), None),
        needed=bool(known.types or literal_values(known, taxonomy))
        and not is_nullable(known)
        and any(place.required for group in places for place in group),
    )


def _row(
    slot: str, attribute: str, annotation: str, kinds: str, header: str | None
) -> PythonSlotRow:
    return PythonSlotRow(
        slot=slot,
        attribute=attribute,
        annotation=annotation,
        optional=join_types((*parts(annotation), "None")),
        place=Place(attribute, slot, Verbatim(kinds), header),
        generate=None,
        needed=False,
    )


def header_of(slot: str, field: Field | None, taxonomy: Taxonomy) -> str | None:
    """The response header that repeats a slot."""
    named = (field.echo or field.mirror) if field is not None else None
    return named or next((rule.name for rule in taxonomy.headers if rule.equals == slot), None)


def envelope_row(envelope: Envelope) -> PythonEnvelopeRow:
    """The row of an envelope."""
    return PythonEnvelopeRow(
        name=envelope.name,
        media_type=envelope.media_types[0],
        picture=picture(envelope.shape),
        listed=schemas.lists_details(envelope),
        shown=schemas.shows_details(envelope),
        sent=picture(envelope.sent) if envelope.sent != envelope.shape else None,
        places=envelope.places,
        spelled=isinstance(schemas.written_status(envelope, 404), str),
    )


def picture(node: Node) -> object:
    """The picture that compiles to this node, without references."""
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
    """Sorted lower-case names of the headers that belong to an error, not to the one answer it came
    with.
    """
    rules = [
        *taxonomy.headers,
        *(rule for surface in taxonomy.surfaces.values() for rule in surface.headers),
        *(rule for _, code in schemas.live(taxonomy) for rule in code.headers),
    ]
    named = {
        rule.name.lower()
        for rule in rules
        if rule.presence != "forbidden" and not rule.constant and not rule.equals
    }
    derived = {
        key.equals_header.lower() for key in taxonomy.detail_keys.values() if key.equals_header
    }
    repeated = {(field.echo or field.mirror or "").lower() for field in taxonomy.fields()}
    return tuple(sorted((named | derived | {"retry-after"}) - repeated))
