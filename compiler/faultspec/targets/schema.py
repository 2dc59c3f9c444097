"""JSON Schema of values, of the details of a code, and of the whole body of a code in an envelope.

Everything is made as JSON Schema 2020-12, which OpenAPI 3.1 takes as it is; ``openapi30`` turns
that into the dialect of OpenAPI 3.0. A schema accepts everything that the judge accepts: also a
body without an ``expected`` member, and undeclared members if those are ``warn`` or ``allow``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from faultspec.language.carriers import carriers, uses_envelope
from faultspec.language.model import (
    Code,
    Constant,
    DetailMember,
    Envelope,
    Example,
    Field,
    Protocol,
    Schema,
    Taxonomy,
)
from faultspec.language.scope import WELL_KNOWN_SLOTS
from faultspec.language.values import Vocabularies, check_value, spell, vocabularies
from faultspec.runtime import ids
from faultspec.runtime.places import body_places
from faultspec.runtime.pointers import steps
from faultspec.runtime.shape import Array, Literal, Node, Object, Slot, Template, slot_places, walk
from faultspec.targets import conditions, discriminators
from faultspec.targets.constants import choice_schema, constant_schema, span_schema
from faultspec.targets.json_text import Fragment
from faultspec.targets.memo import memoize

Json = dict[str, Any]

#: A slot that may hold these may hold any UUID that is made.
_UUIDS = ("00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-bfff-ffffffffffff")


# Codes and envelopes


def live(taxonomy: Taxonomy) -> Iterator[tuple[str | None, Code]]:
    """Every code a service may produce, with the operation that alone has it, or has a shared code
    otherwise: shared ones first, in order of declaration.
    """
    for path, code in (*taxonomy.located_codes(), *taxonomy.variants()):
        if code.live:
            yield path[1] if path[0] == "operations" else None, code


def code_annotations(code: Code) -> Json:
    """The annotations of a code in OpenAPI: its lifecycle, and the facts for people."""
    support = code.support
    extensions = {
        "x-lifecycle": code.lifecycle if code.lifecycle in ("experimental", "beta") else None,
        "externalDocs": {"url": support.docs} if support.docs else None,
        "x-owner": support.owner,
        "x-runbook": support.runbook,
        "x-fault": support.fault,
    }
    deprecated = {"deprecated": True} if code.lifecycle == "deprecated" else {}
    return {**deprecated, **{key: each for key, each in extensions.items() if each}}


def union_keyword(envelopes: Iterable[Envelope]) -> str:
    """The keyword for one of several errors: bodies that do not show their code fit several."""
    return "oneOf" if all(envelope.shows_code for envelope in envelopes) else "anyOf"


def distinct_codes(taxonomy: Taxonomy) -> tuple[Code, ...]:
    """Live codes by name: of operations' codes with the same name the first."""
    found: dict[str, Code] = {}
    for _, code in live(taxonomy):
        found.setdefault(code.name, code)
    return tuple(found.values())


def removed_codes(taxonomy: Taxonomy) -> Iterator[tuple[str | None, Code, str | None]]:
    """Every removed code, with the operation that alone had it and the live code that replaces it.

    A replacement that was removed too is followed to its own. None if no live code is reached.
    """
    codes = {code.name: code for code in taxonomy.every_code()}
    for path, code in taxonomy.located_codes():
        if code.lifecycle == "removed":
            passed: set[str] = set()
            successor = codes.get(code.replaced_by or "")
            while successor and successor.lifecycle == "removed" and successor.name not in passed:
                passed.add(successor.name)
                successor = codes.get(successor.replaced_by or "")
            live = successor.name if successor is not None and successor.live else None
            yield path[1] if path[0] == "operations" else None, code, live


def has_successor(removed: tuple[str | None, Code, str | None]) -> bool:
    """Whether a live code replaces a removed one."""
    return removed[2] is not None


def is_open(taxonomy: Taxonomy, envelope: str) -> bool:
    """Whether a surface that uses the envelope allows codes that are not declared."""
    return any(
        envelope in surface.envelopes and surface.codes is None
        for surface in taxonomy.surfaces.values()
    )


def carried_codes(taxonomy: Taxonomy, envelope: str) -> tuple[tuple[str | None, Code], ...]:
    """The codes that may stand in an envelope, by the surfaces that use it; all if no surface
    does.
    """
    using = [surface for surface in taxonomy.surfaces.values() if envelope in surface.envelopes]
    if not using and any(
        each.protocol and each.protocol.envelope == envelope for each in taxonomy.surfaces.values()
    ):
        return ()
    everything = not using or any(
        surface.codes is None and not surface.foreign for surface in using
    )
    named = {name for surface in using for name in surface.codes or ()}
    return tuple(
        (operation, code)
        for operation, code in live(taxonomy)
        if uses_envelope(code, taxonomy.envelopes[envelope])
        and (everything or taxonomy.owns(operation, code) or code.name in named)
    )


def answer_codes(taxonomy: Taxonomy, envelope: str) -> tuple[tuple[str | None, Code], ...]:
    """The codes that an HTTP answer may have in an envelope, by the HTTP surfaces that use it."""
    using = [
        surface
        for surface in taxonomy.surfaces.values()
        if surface.transport == "http" and envelope in surface.envelopes and not surface.foreign
    ]
    return tuple(
        (operation, code)
        for operation, code in live(taxonomy)
        if uses_envelope(code, taxonomy.envelopes[envelope])
        and any(
            taxonomy.owns(operation, code) or surface.codes is None or code.name in surface.codes
            for surface in using
        )
    )


def own_envelope(taxonomy: Taxonomy, operation: str | None, code: Code) -> Envelope:
    """The default envelope of a code: the first of its surfaces that its examples show, else the
    first.
    """
    possible = carriers(taxonomy, code, of_operation=taxonomy.owns(operation, code))
    if len(possible) == 1:
        return possible[0]
    return next(
        (each for each in possible if any(_shows(e, code, each) for e in code.examples)),
        possible[0],
    )


def _shows(example: Example, code: Code, envelope: Envelope) -> bool:
    """Whether the example fills the envelope, and all its values have a place there."""
    given = {*example.slots, *code.facts}
    return (
        set(example.slots) <= set(slot_places(envelope.shape))
        and set(given_slots(envelope)) <= given
    )


def made_formats(field: Field) -> tuple[str, ...]:
    """The formats in which a server makes the value of an echoed slot. Without a format it is
    `token`, which is made as a UUID, if the slot may hold one.
    """
    if not field.echo:
        return ()
    if field.schema.format:
        return tuple(each for each in field.schema.format if each in ids.PATTERNS)
    takes_any = field.schema.vocabulary is None and not any(
        problem for text in _UUIDS for problem in check_value(field.schema, text)
    )
    return ("token",) if takes_any else ()


def given_slots(envelope: Envelope) -> tuple[str, ...]:
    """The slots that the envelope requires and that must be given when the error is raised."""
    made = {field.slot for field in envelope.fields.values() if made_formats(field)}
    return tuple(
        slot
        for slot, places in slot_places(envelope.shape).items()
        if slot not in WELL_KNOWN_SLOTS
        and slot not in made
        and any(place.required for place in places)
    )


# Values


def value_schema(schema: Schema, taxonomy: Taxonomy) -> Json:
    """The schema of a value in the language's subset; an imported one as it is."""
    if schema.opaque is not None:
        return dict(schema.opaque) if isinstance(schema.opaque, Mapping) else {}
    found: Json = {}
    if schema.description:
        found["description"] = schema.description
    if schema.sensitive:
        found["x-sensitive"] = True
    found.update(_format(schema.format))
    types = schema.types
    listed = vocabulary(schema.vocabulary, taxonomy) if schema.vocabulary else schema.enum
    if listed:
        found |= choice_schema(listed)
        types = types or tuple([found["type"]] if "type" in found else [])
        found.pop("type", None)
    simple = (
        ("pattern", schema.pattern),
        ("minimum", schema.minimum),
        ("maximum", schema.maximum),
        ("minLength", schema.min_length),
        ("maxLength", schema.max_length),
    )
    for key, value in simple:
        if value is not None:
            # A format may have taken the keyword; both hold then.
            found |= {"allOf": [{key: value}]} if key in found else {key: value}
    if schema.items is not None:
        found["items"] = value_schema(schema.items, taxonomy)
    if schema.properties:
        found.update(members_schema(schema.properties, taxonomy))
    if schema.additional == "forbid" and (not schema.types or "object" in schema.types):
        found["additionalProperties"] = False
    return add_types(types, found)


#: The types that a keyword is about; other keywords are about values of every type.
_TYPES_OF_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("pattern", "format", "minLength", "maxLength"), ("string",)),
    **dict.fromkeys(("minimum", "maximum"), ("integer", "number")),
    **dict.fromkeys(("items", "minItems"), ("array",)),
    **dict.fromkeys(("properties", "required", "additionalProperties"), ("object",)),
}

#: Keywords about the value as a whole, whatever its type.
_ANNOTATIONS = frozenset({"description", "enum", "const"})


def add_types(types: Sequence[str], keywords: Json) -> Json:
    """A schema of the types. Several types, not counting null, are alternatives: validators in a
    strict mode and OpenAPI 3.0 take no list of them. An array says what its items are.
    """
    kept = [each for each in types if each != "null"]
    if len(kept) > 1:
        common = {key: value for key, value in keywords.items() if key in _ANNOTATIONS}
        branches = [
            add_types(
                (each,),
                {
                    key: value
                    for key, value in keywords.items()
                    if key not in _ANNOTATIONS and each in _TYPES_OF_KEYWORDS.get(key, ("string",))
                },
            )
            for each in types
        ]
        return {**common, "anyOf": branches}
    found: Json = {"type": types[0] if len(types) == 1 else list(types)} if types else {}
    found.update(keywords)
    if "array" in types:
        found.setdefault("items", {})
    return found


@memoize
def known_value(schema: Schema, taxonomy: Taxonomy) -> Fragment:
    """The schema of a value, shared by its users."""
    return Fragment(value_schema(schema, taxonomy))


def _format(formats: tuple[str, ...]) -> Json:
    """Identifier formats as patterns, which every validator knows; others as annotations."""
    known: list[Json] = [
        {"pattern": ids.PATTERNS[format_]} if format_ in ids.PATTERNS else {"format": format_}
        for format_ in formats
    ]
    if len(known) <= 1:
        return known[0] if known else {}
    return {"anyOf": known}


@memoize
def terms(taxonomy: Taxonomy) -> Vocabularies:
    """The members of every vocabulary that may stand on a wire."""
    return vocabularies(taxonomy, reserved=False)


def vocabulary(name: str, taxonomy: Taxonomy) -> list[str]:
    """The members of a vocabulary that may stand on a wire."""
    return list(terms(taxonomy)[name])


def members_schema(members: Mapping[str, DetailMember], taxonomy: Taxonomy) -> Json:
    """``properties`` and ``required`` of an object, each unless it is empty."""
    found: Json = {}
    if members:
        found["properties"] = {
            name: False if member.presence == "forbidden" else known_value(member.schema, taxonomy)
            for name, member in members.items()
        }
    required = [name for name, member in members.items() if member.presence == "required"]
    if required:
        found["required"] = required
    return found


@memoize
def details_schema(code: Code, taxonomy: Taxonomy) -> Fragment:
    """The schema of a code's details; the imported one if there is one."""
    if code.details_schema is not None:
        return Fragment(value_schema(code.details_schema, taxonomy))
    members = {
        name: member if member.schema.description else _describe_member(member, taxonomy)
        for name, member in code.details.items()
    }
    found: Json = {"type": "object", **members_schema(members, taxonomy)}
    if code.retriable.fixed is not None:
        for key in taxonomy.flag_keys:
            if key in code.details:
                found["properties"][key] = {
                    **found["properties"][key],
                    **constant_schema(code.retriable.fixed),
                }
    return Fragment(found)


def _describe_member(member: DetailMember, taxonomy: Taxonomy) -> DetailMember:
    registered = taxonomy.detail_keys.get(member.name)
    if registered is None or registered.summary is None or member.schema.opaque is not None:
        return member
    return member._replace(schema=member.schema._replace(description=registered.summary))


def sensitive_places(code: Code) -> Iterator[tuple[str, ...]]:
    """The places in a code's details of the values that are for the caller only: the names of
    members from the outside in, ``*`` for the items of an array.
    """
    for name, member in code.details.items():
        yield from ((name, *inner) for inner in _sensitive_in(member.schema))


def _sensitive_in(schema: Schema) -> Iterator[tuple[str, ...]]:
    if schema.sensitive:
        yield ()
        return
    if schema.items is not None:
        yield from (("*", *inner) for inner in _sensitive_in(schema.items))
    for name, member in schema.properties.items():
        yield from ((name, *inner) for inner in _sensitive_in(member.schema))


def written_status(envelope: Envelope, status: int | None) -> int | str | None:
    """The status as the envelope writes it: a number, or a text if its field says so."""
    field = envelope.fields.get("status")
    is_text = field is not None and field.schema.types == ("string",)
    return str(status) if is_text and status is not None else status


def lists_details(envelope: Envelope) -> bool:
    """Whether the envelope keeps details in a list of objects."""
    field = envelope.fields.get("details")
    return field is not None and field.schema.types == ("array",)


def shows_details(envelope: Envelope) -> bool:
    """Whether details are an object that is present even if it is empty: not optional, not null,
    not spread.
    """
    field = envelope.fields.get("details")
    types = ("object",) if field is None else field.schema.types
    places = slot_places(envelope.shape).get("details", ())
    return "null" not in types and any(
        place.required and isinstance(place.node, Slot) for place in places
    )


def needs_details(code: Code) -> bool:
    """Whether the code requires details; an imported schema describes only those that are
    present.
    """
    return code.details_schema is None and any(
        member.presence == "required" for member in code.details.values()
    )


# Bodies


def branch_point(node: Node) -> Node:
    """The part of a shape that differs from code to code: the innermost list item that holds the
    code, or the whole body.
    """
    found = node
    for place in walk(node):
        if isinstance(place.node, Array) and "code" in slot_places(place.node.item):
            found = place.node.item
    return found


@memoize
def _point_of(envelope: Envelope, taxonomy: Taxonomy) -> Node:
    return branch_point(envelope.shape)


@memoize
def body_schema(envelope: Envelope, code: Code, taxonomy: Taxonomy) -> Json:
    """The schema of an envelope's branch point when it carries ``code``."""
    point = _point_of(envelope, taxonomy)
    body = _node_schema(point, envelope, code, taxonomy)
    if "properties" in body:
        body = {**body, "properties": Fragment(body["properties"])}
    rules = [
        *conditions.code_schemas(
            code,
            point,
            taxonomy,
            spelled=isinstance(written_status(envelope, 404), str),
            types={slot: field.schema.types for slot, field in envelope.fields.items()},
        ),
        *alternative_schemas(envelope, code, taxonomy),
    ]
    return {**body, "allOf": [*body.get("allOf", ()), *rules]} if rules else body


def _has_several_members(field: Field | None) -> bool:
    return field is not None and any(place.kind == "body" for place in field.places)


def alternative_schemas(envelope: Envelope, code: Code, taxonomy: Taxonomy) -> Iterator[Json]:
    """For each slot with several members: the first that is there has the value of the slot."""
    for slot, pointers in body_places(envelope.places).items():
        value = slot_schema(slot, envelope, code, taxonomy)
        absent: list[Json] = []
        branches: list[Json] = []
        for pointer in pointers:
            keys = steps(pointer)
            branches.append({"allOf": [*absent, discriminators.schema_at(keys, value)]})
            absent.append({"not": discriminators.schema_at(keys, {"not": {"type": "null"}})})
        if slot != "code" or len(pointers) < len(envelope.places[slot]):
            branches.append({"allOf": absent})
        yield {"anyOf": branches}


def undeclared_schema(envelope: Envelope, taxonomy: Taxonomy, others: Iterable[Json] = ()) -> Json:
    """An envelope's branch point when it carries a code that is not declared, where that is
    allowed.

    ``others``: schemas of values in the place of the code that are not codes.
    """
    # A reserved code, or a removed one, is declared: it must not come, whatever else may.
    known = list(dict.fromkeys(code.wire_in(envelope) for code in taxonomy.every_code()))
    kinds = list(dict.fromkeys("string" if isinstance(each, str) else "number" for each in known))
    none: Json = {"enum": known}
    other: Json = {
        "type": kinds[0] if len(kinds) == 1 else kinds,
        "not": {"anyOf": [none, *others]} if others else none,
    }
    return _node_schema(
        node=branch_point(envelope.shape),
        envelope=envelope,
        code=None,
        taxonomy=taxonomy,
        other=other,
    )


def protocol_numbers(protocol: Protocol) -> list[Json]:
    """The schema of each number, or range of numbers, of a protocol."""
    return [
        {**span_schema(code.low, code.high), "description": code.summary} for code in protocol.codes
    ]


def place_schema(place: Node, envelope: Envelope, codes: Iterable[Code]) -> Json:
    """The schema of a place of the code, as its slot or inside a text, for any of the codes."""
    if not isinstance(place, Template):
        return choice_schema([code.wire_in(envelope) for code in codes])
    return {"anyOf": [_template(place, envelope, code) for code in codes]}


def shape_schema(envelope: Envelope, code: Json, taxonomy: Taxonomy) -> Json:
    """The whole body of an envelope whose code slot holds what ``code`` describes."""
    return _node_schema(
        node=envelope.shape, envelope=envelope, code=None, taxonomy=taxonomy, other=code
    )


def whole_schema(envelope: Envelope, branches: Json, taxonomy: Taxonomy) -> Json:
    """The whole body, with ``branches`` standing where the codes differ."""
    point = _point_of(envelope, taxonomy)
    return (
        branches
        if point is envelope.shape
        else _schema_around(
            node=envelope.shape,
            point=point,
            branches=branches,
            envelope=envelope,
            taxonomy=taxonomy,
        )
    )


def _schema_around(
    node: Node, point: Node, branches: Json, envelope: Envelope, taxonomy: Taxonomy
) -> Json:
    if node is point:
        return branches
    match node:
        case Object():
            inner = {
                member.name: _schema_around(
                    node=member.node,
                    point=point,
                    branches=branches,
                    envelope=envelope,
                    taxonomy=taxonomy,
                )
                for member in node.members
            }
            return _object(node, inner, (), envelope)
        case Array():
            return {
                "type": "array",
                "minItems": 1,
                "items": _schema_around(
                    node=node.item,
                    point=point,
                    branches=branches,
                    envelope=envelope,
                    taxonomy=taxonomy,
                ),
            }
        case _:
            return _node_schema(node, envelope, None, taxonomy)


def _node_schema(
    node: Node, envelope: Envelope, code: Code | None, taxonomy: Taxonomy, other: Json | None = None
) -> Json:
    """``other``: the schema of the code slot where ``code`` is None."""
    match node:
        case Slot(name=name) if _has_several_members(envelope.fields.get(name)):
            return {}  # `alternative_schemas` says which member counts
        case Slot(name="code") if code is None and other is not None:
            return other
        case Slot(name=name):
            return slot_schema(name, envelope, code, taxonomy)
        case Literal(value=value):
            return constant_schema(value)
        case Template() if code is None and other is not None and "code" in node.slots:
            # Whatever else the text says, a declared code in it is declared.
            known = {
                str(each.wire_in(envelope)): each._replace(domain=None, boundaries=(), facts={})
                for each in taxonomy.every_code()
            }
            declared = place_schema(node, envelope, known.values())
            return {**_template(node, envelope, None), "not": declared}
        case Template():
            return _template(node, envelope, code)
        case Array(item=item):
            return {
                "type": "array",
                "minItems": 1,
                "items": _node_schema(
                    node=item, envelope=envelope, code=code, taxonomy=taxonomy, other=other
                ),
            }
        case Object():
            inner = {
                member.name: _node_schema(
                    node=member.node, envelope=envelope, code=code, taxonomy=taxonomy, other=other
                )
                for member in node.members
            }
            needed = ("details",) if code is not None and needs_details(code) else ()
            found = _object(node, inner, needed, envelope)
            if node.spread is not None:
                found = _merge_spread(
                    found,
                    slot_schema(node.spread, envelope, code, taxonomy),
                )
            return found


def _object(
    node: Object, inner: Mapping[str, Json], needed: tuple[str, ...], envelope: Envelope
) -> Json:
    """``needed``: slots that must be there although the shape leaves them out when they have no
    value.
    """
    found: Json = {"type": "object"}
    if inner:
        found["properties"] = dict(inner)
    required = [
        member.name
        for member in node.members
        if not member.optional or any(slot in slot_places(member.node) for slot in needed)
    ]
    if required:
        found["required"] = required
    if envelope.additional == "forbid" and node.spread is None:
        found["additionalProperties"] = False
    return found


def _merge_spread(found: Json, spread: Json) -> Json:
    """An object with the members of another beside its own."""
    merged = dict(found)
    merged["properties"] = {**spread.get("properties", {}), **found.get("properties", {})}
    required = [*found.get("required", ()), *spread.get("required", ())]
    if required:
        merged["required"] = list(dict.fromkeys(required))
    if "additionalProperties" in spread:
        merged["additionalProperties"] = spread["additionalProperties"]
    return merged


def _template(node: Template, envelope: Envelope, code: Code | None) -> Json:
    """A string with slots inside: a constant where each slot has one value, else a pattern."""
    known: dict[str, tuple[str, ...]] = {}
    if code is not None:
        domain = () if code.domain is None else (code.domain,)
        known = {
            "code": (str(code.wire_in(envelope)),),
            "domain": domain,
            "boundary": code.boundaries,
            **{slot: tuple(map(spell, values)) for slot, values in code.facts.items()},
        }
    pattern, whole = _escape(node.texts[0]), node.texts[0]
    for slot, text in zip(node.slots, node.texts[1:], strict=True):
        values = known.get(slot, ())
        pattern += f"({'|'.join(map(_escape, values))})" if values else "[\\s\\S]*"
        pattern += _escape(text)
        whole += "".join(values) + text
    if all(len(known.get(slot, ())) == 1 for slot in node.slots):
        return constant_schema(whole)
    return {"type": "string", "pattern": f"^{pattern}$"}


def _escape(text: str) -> str:
    """The text in a regular expression of ECMA-262, which takes an escape of nothing but its own
    syntax characters.
    """
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", lambda each: f"\\{each[0]}", text)


STRING = Fragment({"type": "string"})
"""Any text."""


def slot_schema(name: str, envelope: Envelope, code: Code | None, taxonomy: Taxonomy) -> Json:
    """The schema of a slot that travels with ``code``: the value that the code fixes, else the
    envelope's field.
    """
    if code is not None:
        fixed = _fixed_schema(name, envelope, code, taxonomy)
        if fixed is not None:
            return fixed
    field = envelope.fields.get(name)
    declared = field.schema if field is not None else taxonomy.implied_schema(name)
    found: Json = {} if declared is None else known_value(declared, taxonomy)
    if code is None:
        return found
    if name == "actions":
        found = _suggested_actions(found, code)
    if name == "status" and isinstance(written_status(envelope, 404), int):
        found = _join(found, conditions.status_schema(code, taxonomy))
    return _limit_values(found, code.facts.get(name, ()))


def _limit_values(schema: Json, values: Sequence[Constant]) -> Json:
    """The schema of a slot with these values; unchanged without any."""
    if len(values) == 1:
        kept = {key: each for key, each in schema.items() if key not in ("enum", "anyOf")}
        return {**kept, **constant_schema(values[0])}
    return {**schema, **choice_schema(values)} if values else schema


def _join(first: Json, second: Json) -> Json:
    """The schema of values that both allow."""
    differ = any(first.get(key, value) != value for key, value in second.items())
    return {**first, "allOf": [second]} if differ else {**first, **second}


def _suggested_actions(actions: Json, code: Code) -> Json:
    """The actions that an error may suggest: those of its code, if it has any, or exactly those."""
    if not code.limits_actions:
        return actions
    items = actions.get("items", {})
    if not isinstance(items, Mapping):
        items = {} if items else {"not": {}}
    own = [action for action in code.actions if action in items.get("enum", code.actions)]
    found = {**actions, "items": {**items, "enum": own} if own else {"not": {}}}
    if not code.exact_actions:
        return found
    if not code.actions:
        return {**found, "maxItems": 0}
    return {**found, "minItems": len(code.actions), "uniqueItems": True}


def _fixed_schema(name: str, envelope: Envelope, code: Code, taxonomy: Taxonomy) -> Json | None:
    field = envelope.fields.get(name)
    match name:
        case "code":
            return constant_schema(code.wire_in(envelope))
        case "boundary" if code.boundaries:
            return choice_schema(code.boundaries)
        case "domain" if code.domain is not None:
            return constant_schema(code.domain)
        case "retriable" if code.retriable.fixed is not None:
            return constant_schema(code.retriable.fixed)
        case "details" if code.details_schema is not None:
            return details_schema(code, taxonomy)
        case "details" if field is not None:
            return _details_in(field, code, taxonomy)
        case "details" if code.details:
            return details_schema(code, taxonomy)
        case _:
            return None


def _details_in(field: Field, code: Code, taxonomy: Taxonomy) -> Json:
    """The details of a code in an envelope that has something to say of them itself."""
    if field.schema.types and "object" not in field.schema.types:
        return value_schema(
            field.schema, taxonomy
        )  # of another form than the codes', such as a list
    found: Json = dict(details_schema(code, taxonomy))
    if field.additional == "forbid" and (code.details or taxonomy.detail_keys):
        # A registered key may stand with any code; a value of another type is only a warning there.
        elsewhere: Json = {name: {} for name in taxonomy.detail_keys if name not in code.details}
        found["properties"] = {**found.get("properties", {}), **elsewhere}
        found["additionalProperties"] = False
    own = {
        key: each
        for key, each in value_schema(field.schema, taxonomy).items()
        if key in ("properties", "required")
    }
    if own:
        found["allOf"] = [own]
    others = [each for each in field.schema.types if each != "object"]
    if not field.schema.types:
        del found["type"]
    elif others in ([], ["null"]):
        found["type"] = field.schema.types[0] if not others else list(field.schema.types)
    else:
        found = {"anyOf": [found, *(add_types((each,), {}) for each in others)]}
    return found


# OpenAPI 3.0

#: Keywords of 2020-12 that 3.0 lacks; without them a schema accepts more, never less.
_UNKNOWN_TO_30 = frozenset(
    {
        *("$schema", "$id", "$anchor", "$comment", "$defs", "if", "then", "else", "contains"),
        *("minContains", "maxContains", "propertyNames", "patternProperties", "prefixItems"),
        *("dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties"),
        *("contentEncoding", "contentMediaType", "contentSchema"),
    }
)


#: Keywords that 3.0 writes otherwise, or not at all, and those with schemas below them.
_OTHERWISE_IN_30 = _UNKNOWN_TO_30 | {
    *("type", "const", "examples", "exclusiveMinimum", "exclusiveMaximum", "properties"),
    *("items", "not", "additionalProperties", "allOf", "anyOf", "oneOf"),
}


def openapi30(schema: object) -> Json:
    """A 2020-12 schema in the dialect of OpenAPI 3.0: ``nullable``, no ``const``, no lists of
    types, boolean exclusive bounds.
    """
    if isinstance(schema, Fragment):
        if schema.old is None:
            found = _translated30(schema)
            schema.old = schema if found == schema else Fragment(found)
        return schema.old
    # Nearly all are dicts, which is quicker to find out.
    if isinstance(schema, (dict, Mapping)):
        return _translated30(schema)
    return {} if schema is True else {"not": {}}


def _translated30(schema: Mapping[str, Any]) -> Json:
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    found: Json = {}
    for key, value in schema.items():
        if key not in _OTHERWISE_IN_30 or (
            key == "type" and isinstance(value, str) and value != "null"
        ):
            found[key] = value
        elif key == "type":
            found = {**_type30(value), **found}
        elif key not in _UNKNOWN_TO_30:
            found |= _keyword30(key, value)
    # 3.0 reads `nullable` only beside a type, and a null in an enum only if it is nullable.
    if None in found.get("enum", ()) and "type" in found:
        found["nullable"] = True
    return found


def _keyword30(key: str, value: Any) -> Json:
    """A keyword that 3.0 writes otherwise, or that contains schemas."""
    match key:
        case "const":
            return {"enum": [value]}
        case "examples":
            return {"example": value[0]}
        case "exclusiveMinimum" | "exclusiveMaximum" if not isinstance(value, bool):
            bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[key]
            return {bound: value, key: True}
        case "properties":
            return {key: {name: openapi30(member) for name, member in value.items()}}
        case "items" | "not" | "additionalProperties" if not isinstance(value, bool):
            return {key: openapi30(value)}
        case "allOf":
            # An `if` leaves nothing behind.
            parts = [part for part in map(openapi30, value) if part]
            return {key: parts} if parts else {}
        case "anyOf" | "oneOf":
            return {key: [openapi30(branch) for branch in value]}
        case _:
            return {key: value}


def _type30(types: object) -> Json:
    named = (
        [types]
        if isinstance(types, str)
        else list(types)
        if isinstance(types, list | tuple)
        else []
    )
    kept = [each for each in named if each != "null"]
    if not kept:
        return {"enum": [None], "nullable": True, "type": "string"}
    nullable = {"nullable": True} if len(kept) < len(named) else {}
    if len(kept) == 1:
        return {"type": kept[0], **nullable}
    return {"anyOf": [{"type": each, **nullable} for each in kept]}
