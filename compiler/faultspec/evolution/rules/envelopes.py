"""Evolution rules about envelopes: the bodies of errors and their slots."""

from collections.abc import Iterator
from typing import Any

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Audience, ChangeSeverity, Effect
from faultspec.evolution.promises import (
    compare_allowed,
    compare_presence,
    compare_promise,
    compare_strictness,
    format_value,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.details import as_operators_effect, schema_effects
from faultspec.language.model import IMPLIED, Envelope, Field, Schema
from faultspec.runtime.nodes import Array, Object, Slot, slot_places
from faultspec.runtime.places import SlotPlace


@evolution_rule("envelope/declared", "SOURCE", reads=("Taxonomy.envelopes", "Envelope.name"))
def envelope_declared(evolution: Evolution) -> Iterator[Occurrence]:
    """Generated code names envelopes. What they do to answers is judged at the surfaces and codes
    that use them."""
    for rename in evolution.renames:
        if rename.section == "envelopes":
            message = f"the envelope `{rename.old}` is named `{rename.new}`"
            effect = Effect("safe", message)
            yield Occurrence(("envelopes", rename.new, "name"), effect, rename.old, rename.new)
    for path, envelope in evolution.find_added("envelopes"):
        yield Occurrence(path, Effect("safe", f"the envelope `{envelope.name}` is new", adds=True))
    for path, envelope in evolution.find_removed("envelopes"):
        yield Occurrence(path, Effect("safe", f"the envelope `{envelope.name}` is gone"))


@evolution_rule("envelope/media-type", "WIRE", reads=("Envelope.media_types",))
def envelope_media_type(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients choose a parser by the media type. The first one is the default."""
    for path, old, new in evolution.pairs("envelopes"):
        if old.media_types == new.media_types:
            continue
        what = f"the media type of `{old.name}`"
        effect = compare_allowed(old.media_types, new.media_types, what) or Effect(
            "risky", f"{what} is {format_value(new.media_types[0])} by default", ("clients",)
        )
        yield Occurrence((*path, "media_types"), effect, old.media_types, new.media_types)


@evolution_rule(
    "envelope/shape",
    "WIRE",
    reads=(
        "Envelope.shape",
        "Envelope.picture",
        "Slot.name",
        "Literal.value",
        "Template.texts",
        "Template.slots",
        "Object.members",
        "Object.spread",
        "ObjectMember.name",
        "ObjectMember.node",
        "ObjectMember.optional",
        "Array.item",
    ),
)
def envelope_shape(evolution: Evolution) -> Iterator[Occurrence]:
    """The picture is the body that clients parse: the place of each slot, the constants, and which
    members may be absent."""
    for path, old, new in evolution.pairs("envelopes"):
        if old.shape != new.shape:
            for place, effect in _node_effects(
                old.shape, new.shape, "", closed=old.additional == "forbid"
            ):
                yield Occurrence(
                    (*path, "shape", *place), effect, covers=((*path, "shape"), (*path, "picture"))
                )


def _node_effects(
    old: Any, new: Any, pointer: str, *, closed: bool
) -> Iterator[tuple[Path, Effect]]:
    """The effects of a changed node. `closed`: clients may refuse undeclared members."""
    place = tuple(pointer.split("/")[1:])
    what = f"the member `{pointer or '/'}`"
    if isinstance(old, Object) and isinstance(new, Object):
        yield from _object_effects(old, new, pointer, closed=closed)
    elif isinstance(old, Array) and isinstance(new, Array):
        yield from _node_effects(old.item, new.item, f"{pointer}/*", closed=closed)
    elif isinstance(old, Slot) and isinstance(new, Slot) and not {old.name, new.name} & ROLES:
        if old != new:
            message = f"{what} is {_describe(new)} in place of {_describe(old)}"
            yield place, Effect("breaking", message, BOTH, ("SOURCE",))
    elif old != new:
        message = f"{what} is {_describe(new)} in place of {_describe(old)}"
        yield place, Effect("breaking", message, ("clients",))


ROLES = frozenset({"code", *IMPLIED})
"""Slots with a meaning in the language. Other slots are named by the author, and generated code
names arguments and attributes by them."""


def _readers_effect(evolution: Evolution, envelope: str, effect: Effect) -> Effect:
    """The effect on an envelope, which operators read if only logs have it."""
    surfaces = [s for s in evolution.old.surfaces.values() if envelope in s.envelopes]
    if surfaces and all(surface.transport == "log" for surface in surfaces):
        return as_operators_effect(effect)
    return effect


def _object_effects(
    old: Object, new: Object, pointer: str, *, closed: bool
) -> Iterator[tuple[Path, Effect]]:
    before = {member.name: member for member in old.members}
    after = {member.name: member for member in new.members}
    for name in dict.fromkeys((*before, *after)):
        place = (*pointer.split("/")[1:], name)
        what = f"the member `{pointer}/{name}`"
        one, other = before.get(name), after.get(name)
        if one is None and other is not None:
            yield place, _added_member(other.optional, what, closed=closed)
        elif one is not None and other is None:
            yield place, Effect("breaking", f"{what} is gone", ("clients",))
        elif one is not None and other is not None:
            effect = compare_presence(
                "optional" if one.optional else "required",
                "optional" if other.optional else "required",
                what,
            )
            if effect is not None:
                yield place, effect
            yield from _node_effects(one.node, other.node, f"{pointer}/{name}", closed=closed)
    if old.spread != new.spread:
        what = f"the slot whose members are at `{pointer or '/'}`"
        effect = compare_promise(old.spread, new.spread, what)
        if effect is not None:
            yield tuple(pointer.split("/")[1:]), effect._replace(breaks=("clients",))


def _added_member(optional: bool, what: str, *, closed: bool) -> Effect:
    if not optional:
        hurt: tuple[Audience, ...] = BOTH if closed else ("services",)
        return Effect("breaking", f"{what} is new and required", hurt)
    if closed:
        message = f"{what} is new, and clients may refuse members that were not declared"
        return Effect("breaking", message, ("clients",))
    return Effect("safe", f"{what} is new and optional", adds=True)


def _describe(node: Any) -> str:
    if isinstance(node, Slot):
        return f"`${node.name}`"
    return {"object": "an object", "array": "a list", "template": "a text with slots"}.get(
        node.kind, f"`{getattr(node, 'value', None)}`"
    )


@evolution_rule("envelope/additional", "WIRE", reads=("Envelope.additional", "Field.additional"))
def envelope_additional(evolution: Evolution) -> Iterator[Occurrence]:
    """Where undeclared members are forbidden, clients may refuse a body that has one."""
    for path, old, new in (*evolution.record_pairs(Envelope), *evolution.record_pairs(Field)):
        subject = old.name if isinstance(old, Envelope) else old.slot
        effect = compare_strictness(old.additional, new.additional, f"`{subject}`")
        if effect is not None:
            yield Occurrence((*path, "additional"), effect, old.additional, new.additional)


@evolution_rule(
    "envelope/field",
    "WIRE",
    reads=(
        "Envelope.fields",
        "Field.slot",
        "Field.echo",
        "Field.mirror",
        "Field.invalid_inbound",
        "Field.refers_to",
    ),
)
def envelope_field(evolution: Evolution) -> Iterator[Occurrence]:
    """A field types a slot and ties it to headers: an id that is echoed, or repeated in a response
    header."""
    for name, envelope in evolution.old.envelopes.items():
        after = evolution.new.envelopes.get(name)
        slots = slot_places(envelope.shape)
        if after is None:
            continue
        for slot in dict.fromkeys((*envelope.fields, *after.fields)):
            path: Path = ("envelopes", name, "fields", slot)
            before, now = envelope.fields.get(slot), after.fields.get(slot)
            if (
                slot in slots
                and slot in slot_places(after.shape)
                and (before is None or now is None)
            ):
                for effect in _limits(evolution, slot, before, now):
                    yield Occurrence(path, effect, covers=(path,))
    for path, old, new in evolution.record_pairs(Field):
        for place, effect in _header_effects(old, new):
            values = getattr(old, place), getattr(new, place)
            yield Occurrence((*path, place), effect, *values)
        reference = compare_promise(
            old.refers_to, new.refers_to, f"what the slot `{new.slot}` refers to"
        )
        if reference is not None:
            yield Occurrence((*path, "refers_to"), reference, old.refers_to, new.refers_to)
        if old.invalid_inbound != new.invalid_inbound and new.echo:
            message = f"a malformed `{new.echo or old.echo}` is now {_INBOUND[new.invalid_inbound]}"
            refuses = new.invalid_inbound == "reject"
            hurt: tuple[Audience, ...] = ("clients",) if refuses else ("services",)
            severity: ChangeSeverity = "breaking" if refuses else "risky"
            effect = Effect(severity, message, hurt, ("WIRE",) if refuses else ("BEHAVIOUR",))
            values = old.invalid_inbound, new.invalid_inbound
            yield Occurrence((*path, "invalid_inbound"), effect, *values)


@evolution_rule(
    "envelope/places",
    "WIRE",
    reads=("Field.places", "SlotPlace.kind", "SlotPlace.at", "SlotPlace.pattern"),
)
def envelope_places(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients look for a value, such as the code, in its places, and the first that is there
    counts."""
    for path, old, new in evolution.record_pairs(Field):
        added = [_describe_place(place) for place in new.places if place not in old.places]
        gone = [_describe_place(place) for place in old.places if place not in new.places]
        what = f"`${old.slot}`"
        if added:
            message = f"{what} may be {' or '.join(added)}, where clients did not look"
            effect = Effect("breaking", message, ("clients",))
        elif gone:
            message = f"{what} may no longer be {' or '.join(gone)}"
            effect = Effect("breaking", message, ("services",))
        elif old.places != new.places:
            message = f"the places of {what} have another order"
            effect = Effect("risky", message, ("clients",))
        else:
            continue
        yield Occurrence((*path, "places"), effect, old.places, new.places)


def _describe_place(place: SlotPlace) -> str:
    match place.kind:
        case "header":
            part = f" by `{place.pattern}`" if place.pattern else ""
            return f"in the header `{place.at}`{part}"
        case "body":
            return f"at `{place.at}`"
        case kind:
            return f"decided by the {kind}"


def _limits(
    evolution: Evolution, slot: str, before: Field | None, now: Field | None
) -> Iterator[Effect]:
    """The effects of rules for a slot that had none, or has none any more."""
    implied = evolution.old.implied_schema(slot) or Schema()
    one = before.schema if before is not None else implied
    other = now.schema if now is not None else implied
    yield from (effect for _, effect in schema_effects(one, other, f"`${slot}`"))
    blank = Field(slot, Schema())
    yield from (effect for _, effect in _header_effects(before or blank, now or blank))


def _header_effects(old: Field, new: Field) -> Iterator[tuple[str, Effect]]:
    """The effects of other headers. A slot that echoes a header is repeated in it."""
    for name, label in (("echo", "echoes"), ("mirror", "is repeated in")):
        before, after = getattr(old, name), getattr(new, name)
        if name == "mirror":
            before, after = before or old.echo, after or new.echo
            if old.echo != new.echo and (old.mirror, new.mirror) == (None, None):
                continue
        if (before or "").lower() != (after or "").lower():
            effect = compare_promise(before, after, f"the header that `${old.slot}` {label}")
            if effect is not None:
                yield name, effect


_INBOUND = {
    "replace": "replaced",
    "reject": "refused",
    "unspecified": "treated as the service likes",
}
