"""The OpenAPI target: components for 3.1 and 3.0 in a document that is complete, so that any tool
loads it.

Schemas for each code, whatever carries it; a response for each status an error may have on an HTTP
surface, its headers, and an example of each code there. A response is always a ``oneOf``: a second
code under a status then only adds lines.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from faultspec.language.conditions import StatusRange
from faultspec.language.formats import FORMATS
from faultspec.language.model import (
    Code,
    Envelope,
    Example,
    Field,
    HeaderRule,
    Idempotency,
    Operation,
    Schema,
    Surface,
    Taxonomy,
)
from faultspec.language.pictures import fill_message
from faultspec.language.spelling import pascal
from faultspec.language.values import check_value
from faultspec.runtime import ids
from faultspec.runtime import shape as shapes
from faultspec.runtime.shape import Object, Slot
from faultspec.targets import schema as schemas
from faultspec.targets.doc_text import message_template
from faultspec.targets.filters import take_unique
from faultspec.targets.json_text import Fragment
from faultspec.targets.memo import memoize
from faultspec.targets.model import Model, phrase
from faultspec.targets.xml_media import is_xml, xml_media

Json = schemas.Json


class OpenApiView(NamedTuple):
    """``v31`` and ``v30``: the two documents."""

    v31: Json
    v30: Json


def view(taxonomy: Taxonomy, model: Model) -> OpenApiView:
    """The documents of the target."""
    return OpenApiView(
        _document("3.1.0", components(taxonomy), taxonomy, model),
        _document("3.0.3", components_30(taxonomy), taxonomy, model),
    )


def _document(version: str, parts: Json, taxonomy: Taxonomy, model: Model) -> Json:
    """A document with no paths; services refer to its components."""
    return {
        "openapi": version,
        "info": {
            "title": taxonomy.title,
            "description": model.header,
            # The taxonomy's version would change this file with every release, and the components
            # do not depend on it.
            "version": "1",
        },
        "paths": {},
        "components": parts,
    }


@memoize
def components_30(taxonomy: Taxonomy) -> Json:
    """The components in the dialect of OpenAPI 3.0."""
    return convert_to_30(components(taxonomy))


@memoize
def components(taxonomy: Taxonomy) -> Json:
    """Every component, in the order of the taxonomy."""
    found: dict[str, Json] = {
        "schemas": {},
        "responses": {},
        "headers": {},
        "examples": {},
        **_key_components(taxonomy),
    }
    names = component_names(taxonomy)
    for envelope in taxonomy.envelopes.values():
        shown = {
            (operation, code.name)
            for operation, code in schemas.answer_codes(taxonomy, envelope.name)
        }
        carried = schemas.carried_codes(taxonomy, envelope.name)
        for operation, code in carried:
            name = names.schema(envelope, operation, code)
            found["schemas"][name] = Fragment(
                {
                    "title": name,
                    "description": code.summary,
                    **schemas.code_annotations(code),
                    **schemas.body_schema(envelope, code, taxonomy),
                }
            )
            if code.http.carried_statuses and (operation, code.name) in shown:
                found["examples"] |= _examples(name, envelope, code, taxonomy)
        if carried:
            found["schemas"][names.union(envelope)] = _union(envelope, names, taxonomy)
    for envelope in taxonomy.envelopes.values():
        answered = schemas.answer_codes(taxonomy, envelope.name)
        for status, response in responses(envelope, answered, names, taxonomy):
            found["responses"][f"{names.union(envelope)}{status.upper()}"] = response
    used = {
        each["$ref"]
        for response in found["responses"].values()
        for each in response.get("headers", {}).values()
    }
    for name in _header_names(taxonomy):
        for required in (False, True):
            component = _component(name, required)
            if f"#/components/headers/{component}" in used:
                found["headers"][component] = {
                    **_header(name, taxonomy),
                    **({"required": True} if required else {}),
                }
    return {section: each for section, each in found.items() if each}


def _key_components(taxonomy: Taxonomy) -> Mapping[str, Json]:
    """The parameters with the idempotency key; schemas of members that are the key in bodies."""
    found: dict[str, dict[str, Json]] = {}
    taken = {pascal(code.name) for _, code in schemas.live(taxonomy)}
    for place in taxonomy.key_places:
        own = [holder for holder, key in taxonomy.own_key_places() if key == place]
        whose = {
            section: names
            for section, kind in (("surfaces", Surface), ("operations", Operation))
            if (names := [holder.name for holder in own if isinstance(holder, kind)])
        }
        rule = taxonomy.idempotency
        assert rule is not None  # else no place is known
        general = place == rule.key
        name = "IdempotencyKey" if general else f"IdempotencyKey{pascal(place.kind)}"
        section, component = _key_component(rule._replace(key=place), {} if general else whose)
        of_section = found.setdefault(section, {})
        others = taken if section == "schemas" else set()
        of_section[take_unique(name, others | set(of_section))] = component
    return found


def _key_component(rule: Idempotency, whose: Mapping[str, list[str]]) -> tuple[str, Json]:
    """The section and the component of a place. ``whose``: the surfaces and the operations with it,
    if it is not that of all.
    """
    text = "The key of one write: every repetition of the write has the same value."
    mark = {"in": rule.key.kind, "at": rule.key.at, "methods": list(rule.methods), **whose}
    schema = {"type": "string", "minLength": 1}
    if rule.key.kind == "body":
        described = {"description": f"{text} It is `{rule.key.at}` of request bodies."}
        return "schemas", {**schema, **described, "x-idempotency-key": mark}
    parameter = {
        "name": rule.key.at,
        "in": rule.key.kind,
        "description": text,
        # OpenAPI requires every parameter of a path.
        "required": rule.key.kind == "path" or rule.missing not in (None, "accepted"),
        "schema": schema,
        "x-idempotency-key": mark,
    }
    return "parameters", parameter


class ComponentNames:
    """Names of components: the first envelope's codes go by their own name, those of others say
    which envelope.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.first = next(iter(taxonomy.envelopes))
        self.codes = {pascal(code.name) for _, code in schemas.live(taxonomy)}
        taken: set[str] = set()
        self.schemas = {
            (envelope, operation, code.name): take_unique(
                self._component_name(envelope, operation, code), taken
            )
            for envelope in taxonomy.envelopes
            for operation, code in schemas.live(taxonomy)
        }

    def _component_name(self, envelope: str, operation: str | None, code: Code) -> str:
        prefix = "" if envelope == self.first else pascal(envelope)
        return f"{prefix}{pascal(operation or '')}{pascal(code.name) or code.name}"

    def schema(self, envelope: Envelope, operation: str | None, code: Code) -> str:
        """Of a code in an envelope; with a number appended if names differ by case or underscores
        only.
        """
        return self.schemas[envelope.name, operation, code.name]

    def union(self, envelope: Envelope) -> str:
        """Of whatever the envelope carries."""
        name = pascal(envelope.name) or envelope.name
        return f"{name}Envelope" if name in self.codes else name


@memoize
def component_names(taxonomy: Taxonomy) -> ComponentNames:
    """The names of components; the overlays use them too."""
    return ComponentNames(taxonomy)


def _union(envelope: Envelope, names: ComponentNames, taxonomy: Taxonomy) -> Json:
    carried = schemas.carried_codes(taxonomy, envelope.name)
    return {
        "title": names.union(envelope),
        "description": envelope.summary or f"Any error in the envelope {envelope.name}.",
        **_one_of(envelope, carried, names, taxonomy),
    }


def _one_of(
    envelope: Envelope,
    codes: Sequence[tuple[str | None, Code]],
    names: ComponentNames,
    taxonomy: Taxonomy,
) -> Json:
    """One of the codes, with a discriminator if the code is a text at the top of the body."""
    references = [
        f"#/components/schemas/{names.schema(envelope, operation, code)}"
        for operation, code in codes
    ]
    union = schemas.union_keyword((envelope,))
    wires = [code.wire_in(envelope) for _, code in codes]
    forms = {wire for wire in wires if wires.count(wire) > 1} if _has_forms(codes, taxonomy) else ()
    branches: Json = {
        union: [
            {"$ref": reference}
            for wire, reference in zip(wires, references, strict=True)
            if wire not in forms
        ]
    }
    for wire in dict.fromkeys(wires):
        if wire in forms:
            group = [
                {"$ref": reference}
                for each, reference in zip(wires, references, strict=True)
                if each == wire
            ]
            branches[union].append({"anyOf": group})
    place = _code_member(envelope)
    if (
        place is not None
        and all(isinstance(wire, str) for wire in wires)
        and len(set(wires)) == len(wires)
    ):
        mapping = dict(zip(wires, references, strict=True))
        branches["discriminator"] = {"propertyName": place, "mapping": mapping}
    return schemas.whole_schema(envelope, branches, taxonomy)


def _has_forms(codes: Sequence[tuple[str | None, Code]], taxonomy: Taxonomy) -> bool:
    """Whether an operation has a shared code otherwise."""
    return any(operation and not taxonomy.owns(operation, code) for operation, code in codes)


def _code_member(envelope: Envelope) -> str | None:
    """The member at the top of the body that is the code and nothing else, or None."""
    if not isinstance(envelope.shape, Object):
        return None
    return next(
        (
            member.name
            for member in envelope.shape.members
            if member.node == Slot("code") and not member.optional
        ),
        None,
    )


# Responses and headers


Codes = Sequence[tuple[str | None, Code]]
"""Codes that may be answered with, each with the operation that alone has it."""


def responses(
    envelope: Envelope, answered: Codes, names: ComponentNames, taxonomy: Taxonomy
) -> Iterator[tuple[str, Json]]:
    """The response under each status that one of the codes may have in the envelope, in order of
    number. Callers share the responses, so they must not be changed.
    """
    known = _known_responses(taxonomy)
    key = (envelope.name, tuple((operation, id(code)) for operation, code in answered))
    if key not in known:
        made = _responses(envelope=envelope, answered=answered, names=names, taxonomy=taxonomy)
        # With the codes, so that no other object can get their ids.
        known[key] = (tuple(answered), tuple(made))
    yield from known[key][1]


@memoize
def _known_responses(
    taxonomy: Taxonomy,
) -> dict[object, tuple[Codes, tuple[tuple[str, Json], ...]]]:
    """The responses by envelope and codes: the overlays mostly have those of the components."""
    return {}


def _responses(
    envelope: Envelope, answered: Codes, names: ComponentNames, taxonomy: Taxonomy
) -> Iterator[tuple[str, Json]]:
    travelling = [(operation, code, code.http.carried_statuses) for operation, code in answered]
    for status in _statuses(answered, taxonomy):
        response = _response(
            envelope=envelope, status=status, answered=travelling, names=names, taxonomy=taxonomy
        )
        if response is not None:
            yield status, response


def _statuses(answered: Codes, taxonomy: Taxonomy) -> list[str]:
    """The statuses, in order of number, that one of the codes or a fallback claims; a whole class
    as ``4xx``.
    """
    claimed = {
        str(status) if each.width < 100 else str(each)
        for _, code in answered
        for each in code.http.carried_statuses
        for status in (range(each.low, each.high + 1) if each.width < 100 else (each.low,))
    }
    fallback = {
        str(each.on)
        for each in taxonomy.fallbacks
        if any(code.name == each.code for _, code in answered)
        and (each.on.width == 1 or str(each.on).endswith("xx"))
    }
    return sorted(claimed | (fallback if claimed else set()))


def _response(
    envelope: Envelope,
    status: str,
    answered: Sequence[tuple[str | None, Code, Sequence[StatusRange]]],
    names: ComponentNames,
    taxonomy: Taxonomy,
) -> Json | None:
    """``answered``: codes that may be answered with, each with its statuses over HTTP."""
    span = _span(status)
    # A code that claims the whole class does not name the status: another may still stand for it.
    named = any(s.covers(span) and s.width < 100 for _, c, _ in answered for s in c.http.statuses)
    fallback = (
        None if named else next((each.code for each in taxonomy.fallbacks if each.on == span), None)
    )
    covering = cache(lambda statuses: any(each.covers(span) for each in statuses))
    codes = [
        (operation, code)
        for operation, code, statuses in answered
        if code.name == fallback or covering(statuses)
    ]
    if not codes:
        return None
    headers = {
        name: {"$ref": f"#/components/headers/{_component(name, _is_always(name, span, taxonomy))}"}
        for name in _header_names(taxonomy)
        if _may_carry(name, span, codes, taxonomy)
    }
    examples = {
        name: {"$ref": f"#/components/examples/{name}"}
        for operation, code in codes
        if code.http.carried_statuses
        for name in _example_names(
            names.schema(envelope, operation, code), envelope, code, taxonomy
        )
    }
    media: Json = {
        "schema": _one_of(envelope, codes, names, taxonomy),
        **({"examples": examples} if examples else {}),
    }
    return {
        "description": (phrase(span.low) if span.width == 1 else "Any other status of this class")
        or f"Status {status}",
        **({"headers": headers} if headers else {}),
        "content": {
            media_type: (is_xml(media_type) and xml_media(envelope.shape, media)) or media
            for media_type in envelope.media_types
        },
    }


def _span(status: str) -> StatusRange:
    if status.endswith("xx"):
        return StatusRange(int(status[0]) * 100, int(status[0]) * 100 + 99)
    return StatusRange(int(status), int(status))


@memoize
def _header_names(taxonomy: Taxonomy) -> list[str]:
    """Response headers, each once, in the order they are declared; Content-Type is the media type's
    business in OpenAPI.
    """
    found: dict[str, str] = {}
    for field in taxonomy.fields():
        for name in (field.echo, field.mirror):
            if name is not None:
                found.setdefault(name.lower(), name)
    for rule in _rules(taxonomy):
        found.setdefault(rule.name.lower(), rule.name)
    found.pop("content-type", None)
    return list(found.values())


def _surface_rules(taxonomy: Taxonomy) -> Iterator[HeaderRule]:
    """The rules of surfaces, whose headers a response may have: it may be that of another."""
    for surface in taxonomy.surfaces.values():
        yield from surface.headers


def _rules(taxonomy: Taxonomy) -> Iterator[HeaderRule]:
    yield from taxonomy.headers
    yield from _surface_rules(taxonomy)
    for _, code in schemas.live(taxonomy):
        yield from code.headers


def _component(name: str, required: bool) -> str:
    """The name of a header's component; it shows ``required``, which a reference cannot add."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return f"{plain}-Required" if required else plain


def _repeats(name: str, field: Field) -> bool:
    """Whether the header carries the slot."""
    return name.lower() in ((field.echo or "").lower(), (field.mirror or "").lower())


def _covers(rule: HeaderRule, span: StatusRange) -> bool:
    return not rule.on or any(each.covers(span) for each in rule.on)


def _may_carry(
    name: str, span: StatusRange, codes: Sequence[tuple[str | None, Code]], taxonomy: Taxonomy
) -> bool:
    here = {code.name for _, code in codes}
    return any(_repeats(name, field) for field in taxonomy.fields()) or any(
        rule.name.lower() == name.lower()
        and rule.presence != "forbidden"
        and _covers(rule, span)
        and (not rule.codes or bool(here & set(rule.codes)))
        for rule in (
            *taxonomy.headers,
            *_surface_rules(taxonomy),
            *(rule for _, code in codes for rule in code.headers),
        )
    )


def _is_always(name: str, span: StatusRange, taxonomy: Taxonomy) -> bool:
    """Whether every answer under the status has the header, whatever its code; so another code
    changes nothing here.
    """
    return any(_repeats(name, field) and field.echo is not None for field in taxonomy.fields()) or (
        any(
            rule.name.lower() == name.lower()
            and rule.presence == "required"
            and not rule.codes
            and _covers(rule, span)
            for rule in taxonomy.headers
        )
        and not any(
            rule.name.lower() == name.lower() and rule.presence != "required"
            for rule in _surface_rules(taxonomy)
        )
    )


def _header(name: str, taxonomy: Taxonomy) -> Json:
    """A header object, described by the rules for statuses: those of single codes would change it
    with each code.
    """
    rules = [rule for rule in _rules(taxonomy) if rule.name.lower() == name.lower()]
    field = next((each for each in taxonomy.fields() if _repeats(name, each)), None)
    summaries = dict.fromkeys(
        rule.summary
        for rule in (*taxonomy.headers, *_surface_rules(taxonomy))
        if rule.name.lower() == name.lower() and rule.summary
    )
    text = " ".join(summaries) or (f"The {field.slot} of the error." if field is not None else "")
    example = _header_example(rules, field, taxonomy)
    return {
        **({"description": text} if text else {}),
        "schema": _header_schema(rules, field, taxonomy),
        **({} if example is None else {"example": example}),
    }


def _header_example(rules: Sequence[HeaderRule], field: Field | None, taxonomy: Taxonomy) -> object:
    """A value of the header, made up; None if no simple value fits."""
    if field is not None and field.schema.types:
        possible = [field.schema]
    else:
        possible = [rule.value for rule in reversed(rules) if rule.value is not None]
        possible += [Schema(("string",), format=rule.format) for rule in rules if rule.format]
    for schema in possible:
        with suppress(ValueError):
            return sample_error(schema, taxonomy)
    return next((rule.token for rule in rules if rule.token is not None), None)


#: The patterns of headers that have a form in their specification.
HEADER_PATTERNS: Mapping[str, str] = {
    "retry-after": "^([0-9]+|[A-Za-z]{3,9},? [0-9A-Za-z: -]+( GMT)?)$",  # RFC 9110 §10.2.3
    "etag": '^(W/)?"[^"]*"$',  # RFC 9110 §8.8.3
    "methods": "^([A-Za-z]+( *, *[A-Za-z]+)*)?$",  # RFC 9110 §10.2.1
}


def _header_schema(rules: Sequence[HeaderRule], field: Field | None, taxonomy: Taxonomy) -> Json:
    if field is not None and field.schema.types:
        return {
            key: value
            for key, value in schemas.value_schema(field.schema, taxonomy).items()
            if key != "description"
        }
    declared = [rule.value for rule in rules if rule.value is not None]
    if declared:
        found = schemas.value_schema(declared[-1], taxonomy)
        return {"type": "string", **found} if "type" not in found else found
    formats = dict.fromkeys(each for rule in rules for each in rule.format)
    known = [HEADER_PATTERNS.get(format_) or ids.PATTERNS.get(format_) for format_ in formats]
    patterns = [each for each in known if each is not None]
    if patterns and len(patterns) == len(known):
        return {
            "type": "string",
            **(
                {"pattern": patterns[0]}
                if len(patterns) == 1
                else {"anyOf": [{"pattern": p} for p in patterns]}
            ),
        }
    token = next((rule.token for rule in rules if rule.token is not None), None)
    return {"type": "string", **({} if token is None else {"examples": [token]})}


# Examples


def _examples(name: str, envelope: Envelope, code: Code, taxonomy: Taxonomy) -> dict[str, Json]:
    """The examples of a code as bodies; one is made up if the taxonomy has none."""
    found = bodies(envelope, code, taxonomy)
    return {
        each: Fragment({"summary": example.summary or code.summary, "value": body})
        for each, (_, example, body) in zip(
            _example_names(name, envelope, code, taxonomy), found, strict=True
        )
    }


def _example_names(name: str, envelope: Envelope, code: Code, taxonomy: Taxonomy) -> list[str]:
    return [
        f"{name}{'' if number == 1 else number}"
        for number, _, _ in bodies(envelope, code, taxonomy)
    ]


@memoize
def bodies(
    envelope: Envelope, code: Code, taxonomy: Taxonomy
) -> Sequence[tuple[int, Example, object]]:
    """The examples of a code that fill the envelope: number, example and body; a made up one if it
    has none.
    """
    return tuple(_bodies(envelope, code, taxonomy))


def _bodies(
    envelope: Envelope, code: Code, taxonomy: Taxonomy
) -> Iterator[tuple[int, Example, object]]:
    made_up = not code.examples
    for number, example in enumerate(code.examples or (Example(),), 1):
        try:
            details = sample_details(code, taxonomy) or None if made_up else example.details
            body = shapes.render(
                envelope.sent, slots(envelope, code, example._replace(details=details), taxonomy)
            )
        except (KeyError, ValueError):
            continue  # the example is for another envelope, or a value cannot be made up
        yield number, example, Fragment(body) if isinstance(body, dict) else body


def slots(
    envelope: Envelope, code: Code, example: Example, taxonomy: Taxonomy
) -> dict[str, object]:
    """The slots of the envelope for an example of a code; missing values are made up. Raises
    ValueError.
    """
    details = dict(example.details) if example.details is not None else None
    message = example.message or fill_message(message_template(code), details or {})
    decided: dict[str, object] = {
        "code": code.wire_in(envelope),
        "message": message,
        "summary": code.summary,
        "status": schemas.written_status(envelope, example.status or code.http.default),
        "retriable": code.example_flag(example),
        "boundary": next(iter(code.boundaries), None) or next(iter(taxonomy.boundaries), None),
        "domain": code.domain,
        "actions": list(code.actions),
        "details": [details]
        if details is not None and schemas.lists_details(envelope)
        else details,
    }
    # A slot that the code leaves open is made up like any other; null is neither a boundary nor a
    # domain.
    decided = {
        slot: each
        for slot, each in decided.items()
        if each is not None or slot not in ("boundary", "domain")
    }
    made = {
        slot: sample_error(
            envelope.fields[slot].schema if slot in envelope.fields else _ANYTHING, taxonomy
        )
        for slot in _required_slots(envelope, taxonomy)
        if slot not in decided
    }
    facts = {slot: values[0] for slot, values in code.facts.items() if values}
    return {**decided, **made, **facts, **example.slots}


_ANYTHING = Schema()


@memoize
def _required_slots(envelope: Envelope, taxonomy: Taxonomy) -> tuple[str, ...]:
    """The slots that the envelope cannot do without."""
    places = shapes.slot_places(envelope.shape)
    return tuple(slot for slot, each in places.items() if any(place.required for place in each))


def sample_details(code: Code, taxonomy: Taxonomy) -> dict[str, object]:
    """Made up values of the required details. Raises ValueError if one cannot be made up."""
    return {
        name: sample_error(member.schema, taxonomy)
        for name, member in code.details.items()
        if member.presence == "required"
    }


@memoize
def sample_error(schema: Schema, taxonomy: Taxonomy) -> object:
    """A value that the schema allows, the same every time. Raises ValueError if simple candidates
    all fail.
    """
    for each in _candidates(schema, taxonomy):
        if next(check_value(schema, each, schemas.terms(taxonomy)), None) is None:
            return each
    raise ValueError("no value is known that the schema allows")


def _candidates(schema: Schema, taxonomy: Taxonomy) -> Iterator[object]:
    yield from schema.enum
    if schema.vocabulary:
        yield from schemas.vocabulary(schema.vocabulary, taxonomy)
    for each in schema.format:
        if each in ids.PATTERNS:
            # Fixed clock and entropy: 2024-01-01, and bytes that are not all zero, as trace ids
            # forbid that.
            yield ids.new(
                each, clock=lambda: 1_704_067_200.0, entropy=lambda size: bytes(range(1, size + 1))
            )
    match next(
        (type_ for type_ in schema.types if type_ != "null"), "null" if schema.types else "string"
    ):
        case "integer" | "number":
            yield from (each for each in (schema.minimum, 1, schema.maximum) if each is not None)
        case "boolean":
            yield True
        case "null":
            yield None
        case "array":
            yield [sample_error(schema.items, taxonomy)] if schema.items is not None else []
        case "object":
            yield {
                name: sample_error(each.schema, taxonomy)
                for name, each in schema.properties.items()
                if each.presence == "required"
            }
        case _:
            yield from _texts(schema)


#: A text of each format but those of ids.
SAMPLES: Mapping[str, str] = {
    "date-time": "2024-01-01T00:00:00Z",
    "date": "2024-01-01",
    "uri": "https://example.com/",
    "uri-reference": "https://example.com/",
    "email": "someone@example.com",
    "retry-after": "30",
    "etag": '"1"',
    "http-date": "Mon, 01 Jan 2024 00:00:00 GMT",
    "methods": "GET, HEAD",
    "challenge": "Bearer",
    "deprecation": "@1704067200",
    "ratelimit": '"default";r=0;t=1',
}
assert SAMPLES.keys() == FORMATS.keys() - ids.FORMATS.keys()


def _texts(schema: Schema) -> Iterator[str]:
    for each in schema.format:
        if each in SAMPLES:
            yield SAMPLES[each]
    if schema.pattern is not None:
        yield from _sample_texts(schema.pattern)
    yield "text".ljust(schema.min_length or 0, "t")[: schema.max_length]


def _sample_texts(pattern: str) -> Iterator[str]:
    """Texts that may match a pattern which is a prefix, perhaps before a class of characters."""
    prefix = re.match(r"\^?([\w ,:;/@=#-]*)", pattern)
    for tail in ("", "1", "a", "A", "0123456789abcdef"):
        yield (prefix[1] if prefix else "") + tail


# 3.0


def convert_to_30(found: Json) -> Json:
    """Components with every schema in the dialect of 3.0."""
    parts = dict(found)
    parts["schemas"] = {
        name: schemas.openapi30(each) for name, each in parts.get("schemas", {}).items()
    }
    parts["headers"] = {
        name: {**each, "schema": schemas.openapi30(each["schema"])}
        for name, each in parts.get("headers", {}).items()
    }
    parts["responses"] = {
        name: _response30(each) for name, each in parts.get("responses", {}).items()
    }
    return {section: each for section, each in parts.items() if each}


def _response30(response: Json) -> Json:
    content = {
        media: {**each, "schema": schemas.openapi30(each["schema"])}
        for media, each in response["content"].items()
    }
    return {**response, "content": content}
