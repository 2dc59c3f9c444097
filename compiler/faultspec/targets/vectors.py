"""The vectors target: answers on the wire, what a client reads in them, and what it does next.

A port of the bindings to any language reads ``vectors.json`` and has to answer the same. The values
come from the taxonomy and the runtime, not from generated code, so that the Python and TypeScript
that are generated are held to them too.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from faultspec.language.conditions import ConditionFacts
from faultspec.language.model import Code, Envelope, Schema, Taxonomy
from faultspec.language.pictures import fill_message, message_parameters
from faultspec.runtime import retry, retry_after
from faultspec.runtime.extraction import Extraction
from faultspec.runtime.places import place_value
from faultspec.targets import schema as schemas
from faultspec.targets.decided import decided_code, identities
from faultspec.targets.doc_text import NO_MESSAGE, message_template
from faultspec.targets.jsonschema import DIALECT
from faultspec.targets.memo import memoize
from faultspec.targets.model import Model
from faultspec.targets.python.constructors import flag_key
from faultspec.targets.python.wire import DECIDED, has_error_lists, header_of
from faultspec.targets.vector_answers import WireAnswer, own_status, wire_answers

Json = dict[str, Any]

#: Counts incompatible changes of the document.
FORMAT = 1

#: The moment of every plan, 2024-01-01 in seconds since 1970, and the chance of every jitter.
NOW, CHANCE = 1_704_067_200, 0.5

#: The most tries of a plan; policies without a limit would go on.
_STEPS = 8


class VectorsView(NamedTuple):
    """The document, and the JSON Schema of any such document."""

    document: Json
    schema: Json


def view(taxonomy: Taxonomy, model: Model) -> VectorsView:
    """The document of a taxonomy. ``left_out`` says why it has no answers."""
    reasons = [each.text for each in exclusions(taxonomy)]
    answers = [] if reasons else wire_answers(taxonomy)
    document = {
        "$comment": model.header,
        "format": FORMAT,
        "taxonomy": taxonomy.name,
        "now": NOW,
        "random": CHANCE,
        "left_out": reasons,
        "answers": [_row(answer, taxonomy) for answer in answers],
    }
    return VectorsView(document, _SCHEMA)


class Exclusion(NamedTuple):
    """A part of a taxonomy that the format has no place for: its path, and a sentence."""

    path: tuple[str | int, ...]
    text: str


def exclusions(taxonomy: Taxonomy) -> Iterator[Exclusion]:
    """Why the format has no place for the answers of a taxonomy, one for each envelope."""
    for envelope in taxonomy.envelopes.values():
        if any(codec.name != "JSON" for codec in envelope.codecs) or not envelope.codecs:
            text = f"The bodies of the envelope {envelope.name} are not JSON."
            yield Exclusion(("envelopes", envelope.name, "media_type"), text)


# What a client makes of them


def _row(answer: WireAnswer, taxonomy: Taxonomy) -> Json:
    envelope, found = _reading(answer, taxonomy)
    slots: Mapping[str, object] = {} if found is None else found.slots
    others = () if found is None else found.others
    status = own_status(slots, answer.status) if others else answer.status
    parsed = _parsed_error(answer._replace(status=status), slots, taxonomy)
    if has_error_lists(taxonomy):
        parsed["others"] = [
            _parsed_error(
                answer._replace(status=own_status(other.slots, answer.status)),
                other.slots,
                taxonomy,
            )
            for other in others
        ]
    code = _code_of(slots.get("code"), answer.operation, taxonomy)
    return {
        "name": answer.name,
        "operation": answer.operation,
        "wire": {
            "status": answer.status,
            "headers": dict(answer.headers),
            "body": answer.text,
        },
        "parsed": parsed,
        "envelope": envelope.name if envelope is not None and answer.envelope is envelope else None,
        "plans": [] if code is None else list(_plans(code, parsed, answer, taxonomy)),
    }


def _reading(
    answer: WireAnswer, taxonomy: Taxonomy
) -> tuple[Envelope, Extraction] | tuple[None, None]:
    """The envelope that fits, else one with a code; the first of those with a declared one."""
    if answer.data is ...:
        return None, None
    readings = [
        (envelope, _read_as(envelope, answer, taxonomy)) for envelope in taxonomy.envelopes.values()
    ]
    fitting = [(envelope, read) for envelope, read in readings if read.fits]
    if any(envelope.places for envelope in taxonomy.envelopes.values()):
        fitting = [each for each in fitting if _is_typed(each[1], taxonomy)] or fitting
    likely = fitting or [each for each in readings if "code" in each[1].slots]
    known = _declared_values(taxonomy)
    declared = (each for each in likely if str(_wire(each[1].slots.get("code"))) in known)
    return next(declared, next(iter(likely), (None, None)))


def _read_as(envelope: Envelope, answer: WireAnswer, taxonomy: Taxonomy) -> Extraction:
    """The body as an envelope, with the slots that have other places."""
    read = envelope.extract(answer.data)
    named = {name.lower(): text for name, text in answer.headers.items()}
    is_decided = False
    for slot in envelope.places:
        found = place_value(
            slot,
            envelope.places,
            read,
            header=lambda name: named.get(name.lower()),
            decided=lambda place: decided_code(
                envelope,
                place.kind,
                status=answer.status,
                operation=answer.operation,
                taxonomy=taxonomy,
            ),
        )
        if found is not None:
            read.slots[slot] = found[0]
            is_decided = is_decided or found[1].kind in ("status", "envelope")
    if not is_decided:
        for slots in (read.slots, *(item.slots for item in read.more)):
            _translate(slots, envelope, answer.operation, taxonomy)
    return read


def _translate(
    slots: dict[str, object], envelope: Envelope, operation: str | None, taxonomy: Taxonomy
) -> None:
    """Put the value of the code in other envelopes in the place of its value in this one: of the
    operation's own code, else of a shared one, else of any.
    """
    value = str(_whole(slots.get("code")))
    found = [row for row in identities(taxonomy).get(envelope.name, ()) if str(row.value) == value]
    if found:
        nearest = min(found, key=lambda row: (row.operation != operation, row.operation or ""))
        slots["code"] = nearest.wire


def _is_typed(read: Extraction, taxonomy: Taxonomy) -> bool:
    """Whether each slot has a value of its type."""
    kinds: dict[str, tuple[str, ...]] = {"message": ("string",)}
    kinds |= {slot: _types(slot, taxonomy) for slot in _own_slots(taxonomy)}
    return all(
        value is None or len(kinds[slot]) != 1 or _is_of(value, kinds[slot][0])
        for slot, value in read.slots.items()
        if slot in kinds
    )


def _code_of(wire: object, operation: str | None, taxonomy: Taxonomy) -> Code | None:
    """The live code with a value, else the one that replaces a removed one: the operation's own,
    else a shared one.
    """
    value = _wire(wire)
    if value is None:
        return None
    for known in (_live_codes(taxonomy), _successors(taxonomy)):
        for owner in (operation, None):
            if (owner, str(value)) in known:
                return known[owner, str(value)]
    return None


@memoize
def _live_codes(taxonomy: Taxonomy) -> Mapping[tuple[str | None, str], Code]:
    """The live codes by operation, None for shared ones, and value."""
    return {(owner, str(code.wire)): code for owner, code in schemas.live(taxonomy)}


@memoize
def _successors(taxonomy: Taxonomy) -> Mapping[tuple[str | None, str], Code]:
    """The live codes that replace removed ones, by operation and value of the removed one."""
    named = {(owner, code.name): code for owner, code in schemas.live(taxonomy)}
    found = {}
    for owner, code, name in schemas.removed_codes(taxonomy):
        successor = named.get((owner, name or ""), named.get((None, name or "")))
        if successor is not None:
            found[owner, str(code.wire)] = successor
    return found


@memoize
def _declared_values(taxonomy: Taxonomy) -> frozenset[str]:
    """The values of the codes, removed ones too."""
    removed = {str(code.wire) for _, code, _ in schemas.removed_codes(taxonomy)}
    return frozenset(removed | {wire for _, wire in _live_codes(taxonomy)})


def _parsed_error(answer: WireAnswer, slots: Mapping[str, object], taxonomy: Taxonomy) -> Json:
    code = _code_of(slots.get("code"), answer.operation, taxonomy)
    details = _members(slots.get("details"))
    status = answer.status
    if status is None:
        sent = _whole(slots.get("status"))
        status = sent if isinstance(sent, int) and not isinstance(sent, bool) else None
        status = code.http.default if status is None and code is not None else status
    message = slots.get("message")
    if not isinstance(message, str):
        message = _default_message(code, details, taxonomy)
    boundary = slots.get("boundary")
    header = answer.headers.get("Retry-After")
    seconds = None
    if header is not None:
        seconds = retry_after.parse(header, now=NOW, lenient=True).seconds
    common = {
        "known": code is not None,
        "code": _name_of(code, taxonomy),
        "status": status,
        "message": message,
        "details": details,
        "boundary": boundary if isinstance(boundary, str) else None,
        "retry_after": seconds,
        "slots": {slot: _slot(slot, slots, answer, taxonomy) for slot in _own_slots(taxonomy)},
    }
    if code is None:
        wire = _wire(slots.get("code"))
        return {
            **common,
            "retriable": taxonomy.unknown is not None and taxonomy.unknown.retriable,
            "original_code": wire,
            "replaced_by": _replacement(wire, answer.operation, taxonomy),
        }
    flag = slots.get("retriable")
    if not isinstance(flag, bool):
        flag = details.get(flag_key(taxonomy) or "")
    if not isinstance(flag, bool):
        flag = _flag(code, status, details)
    return {**common, **({} if flag is None else {"retriable": flag})}


def _flag(code: Code, status: int | None, details: Mapping[str, object]) -> bool | None:
    """The flag of a code, None if facts decide it that no answer has."""
    if code.retriable.answer_decides or not code.retriable.has_flag:
        return code.retryable
    found = code.retriable.decide(ConditionFacts(status, details=details))
    return found[0] if len(found) == 1 else None


def _name_of(code: Code | None, taxonomy: Taxonomy) -> str | None:
    if code is not None:
        return code.name
    becomes = taxonomy.unknown.becomes if taxonomy.unknown else None
    stands = taxonomy.codes.get(becomes or "")
    return stands.name if stands is not None and stands.live else None


def _default_message(code: Code | None, details: Mapping[str, object], taxonomy: Taxonomy) -> str:
    """The message with the details in it; the summary if one of them is missing."""
    stands = code or taxonomy.codes.get(_name_of(code, taxonomy) or "")
    if stands is None:
        return NO_MESSAGE
    template = message_template(stands)
    if any(details.get(name) is None for name in message_parameters(template)):
        return stands.summary
    return fill_message(template, details)


def _replacement(wire: object, operation: str | None, taxonomy: Taxonomy) -> str | None:
    for owner, code, successor in schemas.removed_codes(taxonomy):
        if str(code.wire) == str(wire) and owner in (operation, None):
            return successor
    return None


def _own_slots(taxonomy: Taxonomy) -> list[str]:
    slots = (slot for each in taxonomy.envelopes.values() for slot in each.slots)
    return [slot for slot in dict.fromkeys(slots) if slot not in DECIDED]


def _slot(slot: str, slots: Mapping[str, object], answer: WireAnswer, taxonomy: Taxonomy) -> object:
    field, types = taxonomy.field_of(slot), _types(slot, taxonomy)
    value = slots.get(slot)
    if len(types) == 1 and not _is_of(value, types[0]):
        value = None
    header = header_of(slot, field, taxonomy)
    if not value and header is not None and types == ("string",):
        named = {name.lower(): text for name, text in answer.headers.items()}
        value = named.get(header.lower())
    return value


def _types(slot: str, taxonomy: Taxonomy) -> tuple[str, ...]:
    field = taxonomy.field_of(slot)
    known = field.schema if field is not None else Schema()
    return ("array",) if slot == "actions" else known.types


def _is_of(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(_whole(value), int)
        case "number":
            return isinstance(value, int | float)
        case "object":
            return isinstance(value, Mapping)
        case "array":
            return isinstance(value, list)
    return value is None and kind == "null"


def _members(value: object) -> dict[str, object]:
    """The members of an object, or of the only object in a list."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return dict(value) if isinstance(value, Mapping) else {}


def _wire(value: object) -> str | int | None:
    whole = _whole(value)
    return whole if isinstance(whole, str | int) and not isinstance(whole, bool) else None


def _whole(value: object) -> object:
    """JSON has one kind of number: 1001.0 is 1001 (RFC 8259 section 6)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# What it does next


def _plans(code: Code, parsed: Json, answer: WireAnswer, taxonomy: Taxonomy) -> Iterator[Json]:
    """The plan of a write that is safe to repeat, and of one that is not; none if facts decide that
    no answer has.
    """
    for idempotent in (True, False):
        steps = _steps(code, parsed, answer, taxonomy, idempotent=idempotent)
        if steps is not None:
            yield {"idempotent": idempotent, "effect": code.effect, "steps": steps}


def _steps(
    code: Code, parsed: Json, answer: WireAnswer, taxonomy: Taxonomy, *, idempotent: bool
) -> list[Json] | None:
    declared = taxonomy.retry_policies.get(code.retry or "")
    facts = ConditionFacts(parsed["status"], idempotent=idempotent, details=parsed["details"])
    flag = parsed.get("retriable")
    covered = True
    if declared is not None and (declared.eligible or declared.eligible_when):
        covers = declared.covers(code.name, facts)
        if covers is None:
            return None
        covered = covers
    if flag is None:
        return None
    waits = (
        retry_after.hint_seconds(parsed["details"].get(key.name), key.unit, now=NOW)
        for key in taxonomy.retry_hints
    )
    hint = next((wait for wait in waits if wait is not None), None)
    failure = retry.Failure(
        retriable=flag and code.client_action in ("retry", "none"),
        kind=declared.kind_of.get(code.name) if declared is not None else None,
        retry_after=answer.headers.get("Retry-After") if hint is None else hint,
        idempotent=idempotent,
        eligible=covered,
        effect=code.effect,
        pushback=hint is not None and hint < 0,
    )
    policy = declared.policy if declared is not None else retry.Policy("never", max_attempts=1)
    state, steps = retry.start(policy), []
    for _ in range(_STEPS):
        plan = retry.plan(policy, state, failure, now=NOW, random=lambda: CHANCE)
        steps.append(
            {
                "attempt": state.attempt,
                "retry": plan.retry,
                "reason": plan.reason,
                "delay": plan.delay,
                "band": None if plan.jitter_band is None else list(plan.jitter_band),
            }
        )
        if not plan.retry:
            break
        state = plan.state
    return steps


# The format


def _object(**properties: Any) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _nullable(*types: str) -> Json:
    return {"type": [*types, "null"]}


_PARSED = _object(
    known={"type": "boolean", "description": "Whether the code is declared."},
    code={
        **_nullable("string"),
        "description": "The name of the code; of an unknown one that which stands for it, or null.",
    },
    status=_nullable("integer"),
    message={"type": "string"},
    details={"type": "object"},
    boundary=_nullable("string"),
    retry_after={**_nullable("number"), "description": "Seconds that Retry-After asks for."},
    slots={"type": "object", "description": "The other slots of all envelopes; null: no value."},
)
_PARSED["properties"] |= {
    "retriable": {
        "type": "boolean",
        "description": "Absent if facts decide it that no answer has.",
    },
    "original_code": {
        **_nullable("string", "integer"),
        "description": "Of an unknown error, what stands in the place of the code.",
    },
    "replaced_by": {
        **_nullable("string"),
        "description": "Of an unknown error with a removed code, the code that replaces it.",
    },
    "others": {
        "type": "array",
        "description": "The further errors of a list, without `others`; absent if no envelope has "
        "a list of errors.",
        "items": {"type": "object"},
    },
}

_STEP = _object(
    attempt={"type": "integer", "description": "The tries made, the first included."},
    retry={"type": "boolean"},
    reason={"type": "string"},
    delay={**_nullable("number"), "description": "Seconds, if chance is `random`."},
    band={
        **_nullable("array"),
        "items": {"type": "number"},
        "description": "The least and the greatest delay that chance may give.",
    },
)

_PLAN = _object(
    idempotent={"type": "boolean", "description": "The request is safe to repeat."},
    effect={"enum": ["none", "possible", "unknown"]},
    steps={
        "type": "array",
        "description": f"The plan after each try, all of which fail so; at most {_STEPS}.",
        "items": _STEP,
    },
)

_ANSWER = _object(
    name={"type": "string"},
    operation={**_nullable("string"), "description": "The operation whose own code it is."},
    wire=_object(
        status={**_nullable("integer"), "description": "Null: no HTTP."},
        headers={"type": "object", "additionalProperties": {"type": "string"}},
        body={"type": "string", "description": "The text of the body, which may be no JSON."},
    ),
    parsed=_PARSED,
    envelope={
        **_nullable("string"),
        "description": "The envelope in which the parsed error is rendered to `wire`: the same "
        "status, the same JSON, and these headers among others. Null: it is not rendered.",
    },
    plans={"type": "array", "items": _PLAN},
)

_SCHEMA: Json = {
    "$schema": DIALECT,
    "title": "Vectors of a taxonomy",
    "description": "Answers on the wire, what a client reads in them, and what it does next.",
    **_object(
        format={"const": FORMAT},
        taxonomy={"type": "string"},
        now={"type": "number", "description": "The time of every plan, seconds since 1970."},
        random={"type": "number", "description": "What chance gives in every plan, in [0, 1]."},
        left_out={
            "type": "array",
            "items": {"type": "string"},
            "description": "Why there are no answers, if there are none.",
        },
        answers={"type": "array", "items": _ANSWER},
    ),
}
_SCHEMA["properties"]["$comment"] = {"type": "string"}
