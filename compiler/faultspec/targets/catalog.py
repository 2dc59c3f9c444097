"""The catalogue of a taxonomy: its values as one JSON document, which bindings read.

Languages whose bindings are a fixed program over data (Go, Java) share it. Every decision that
needs the taxonomy has been made here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic
from faultspec.language.conditions import ConditionalRule, StatusRange
from faultspec.language.model import Code, Envelope, Taxonomy
from faultspec.runtime.shape import (
    Array,
    Literal,
    Node,
    Object,
    Slot,
    Template,
    lists_errors,
    slot_places,
)
from faultspec.targets import TargetError, python
from faultspec.targets import schema as schemas
from faultspec.targets.data_rows import (
    Json,
    constant_row,
    derived_headers,
    mark_row,
    needed_slots,
    required_header_rows,
    span_rows,
)
from faultspec.targets.decided import codes_by_status, identities, rows_by_envelope, stand_ins
from faultspec.targets.doc_text import NO_MESSAGE, message_template, plain_policy
from faultspec.targets.literals import Verbatim
from faultspec.targets.memo import memoize
from faultspec.targets.model import Model
from faultspec.targets.portable_patterns import unportable_places
from faultspec.targets.python import clients, facts
from faultspec.targets.python.bare_codes import bare_codes, general_codes
from faultspec.targets.python.constructors import allowed_details, flag_key
from faultspec.targets.python.wire import (
    DECIDED,
    carried_headers,
    envelope_row,
    header_of,
)
from faultspec.targets.vectors import Exclusion, exclusions

#: The headers that an adapter fills itself where an answer requires them.
SUPPLIED: Mapping[str, str] = {"Retry-After": "1", "WWW-Authenticate": "Bearer"}

_SUPPLIED = {name.lower() for name in SUPPLIED}

_ERRORS = range(400, 600)


def catalog(taxonomy: Taxonomy, model: Model, target: str) -> Json:
    """The catalogue; raises TargetError if a client of the ``target`` could not read the errors."""
    refused = list(refusals(taxonomy))
    if refused:
        raise TargetError(
            Diagnostic(
                "unsupported-envelope",
                f"the target {target} reads JSON bodies, and patterns that all languages read "
                "alike. " + " ".join(each.text for each in refused),
                model.source,
                pointer=refused[0].path,
                hint="use the targets python and typescript, or leave this target out",
            )
        )
    rule, key = taxonomy.unknown, taxonomy.idempotency
    client = clients.client_rows(taxonomy)
    unknown = taxonomy.codes.get((rule.becomes if rule is not None else None) or "")
    return {
        "$comment": model.header,
        "envelopes": [_envelope(each, taxonomy) for each in taxonomy.envelopes.values()],
        "placed": any(envelope.places for envelope in taxonomy.envelopes.values()),
        "default_envelope": python.first_envelope(taxonomy, "http"),
        "codes": [_code(operation, code, taxonomy) for operation, code in schemas.live(taxonomy)],
        "removed": [
            {"operation": operation or "", "wire": code.wire, "successor": successor or ""}
            for operation, code, successor in schemas.removed_codes(taxonomy)
        ],
        "slots": list(_slots(taxonomy)),
        "carried": list(carried_headers(taxonomy)),
        "constants": list(map(constant_row, facts.constants_of_all(taxonomy))),
        "policies": {
            policy.name: _data(plain_policy(policy.policy))
            for policy in taxonomy.retry_policies.values()
        },
        "eligible_when": {
            policy.name: _rules(policy.eligible_when) for policy in taxonomy.retry_policies.values()
        },
        "flag_key": flag_key(taxonomy) or "",
        "hints": [[hint.name, hint.unit] for hint in taxonomy.retry_hints],
        "unknown": unknown.name if unknown is not None and unknown.live else "",
        "unknown_retriable": rule is not None and rule.retriable,
        "no_message": NO_MESSAGE,
        "internal": _internal(taxonomy),
        "undeclared_key": python.undeclared_key(taxonomy) or "",
        "bare": list(_bare(taxonomy)),
        "supplied": dict(SUPPLIED),
        "needed": [slot for slot in needed_slots(taxonomy) if slot not in DECIDED],
        "correlation": _correlation(taxonomy),
        "error_statuses": span_rows(clients.error_statuses(taxonomy)),
        "marks": list(map(mark_row, client.marks)),
        "key_header": key.key.at if key is not None and client.key_header else "",
        "key_methods": list(client.keyed) if client.key_header else [],
    }


def refusals(taxonomy: Taxonomy) -> Iterator[Exclusion]:
    """The parts of a taxonomy that no catalogue can have."""
    yield from exclusions(taxonomy)
    for place in unportable_places(taxonomy):
        yield Exclusion(
            place.path,
            f"The pattern of the slot {place.slot} of the envelope {place.envelope} has more than "
            "characters, classes, `|`, `(?:` and repetitions.",
        )


def _envelope(envelope: Envelope, taxonomy: Taxonomy) -> Json:
    row = envelope_row(envelope)
    return {
        "name": row.name,
        "media_type": row.media_type,
        "shape": _node(envelope.shape),
        "sent": _node(envelope.sent),
        "listed": row.listed,
        "shown": row.shown,
        "spelled": row.spelled,
        "places": [
            {"slot": slot, "places": [dict(place._asdict()) for place in places]}
            for slot, places in envelope.places.items()
        ],
        "decided": [
            {
                "operation": each.operation or "",
                "listed": each.listed,
                "wire": each.wire,
                "on": span_rows(each.statuses),
            }
            for each in rows_by_envelope(taxonomy).get(envelope.name, ())
        ],
        "stand_ins": list(_stand_ins(envelope, taxonomy)),
        "identities": [
            {"operation": each.operation or "", "wire": each.wire, "value": each.value}
            for each in identities(taxonomy).get(envelope.name, ())
        ],
    }


def _stand_ins(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[Json]:
    """The codes of the statuses that no code claims, each with its ranges of statuses."""
    found: dict[str | int, list[StatusRange]] = {}
    for status, wire in stand_ins(taxonomy).get(envelope.name, {}).items():
        found.setdefault(wire, []).append(StatusRange(status, status))
    for wire, on in found.items():
        yield {"wire": wire, "on": span_rows(facts.merge_ranges(on))}


def _node(node: Node) -> Json:
    match node:
        case Slot(name=name):
            return {"slot": name}
        case Literal(value=value):
            return {"literal": {"value": value}}
        case Template(texts=texts, slots=slots):
            return {"texts": list(texts), "slots": list(slots)}
        case Array(item=item):
            is_coded = "code" in slot_places(item)
            return {"item": _node(item), "errors": lists_errors(node), "coded": is_coded}
        case Object(members=members, spread=spread):
            return {
                "members": [
                    {"name": each.name, "node": _node(each.node), "optional": each.optional}
                    for each in members
                ],
                **({} if spread is None else {"spread": spread}),
            }


def _code(operation: str | None, code: Code, taxonomy: Taxonomy) -> Json:
    policy = taxonomy.retry_policies.get(code.retry or "")
    flag = flag_key(taxonomy)
    return {
        "name": code.name,
        "operation": operation or "",
        "wire": code.wire,
        "status": code.http.default or 0,
        "statuses": span_rows(code.http.statuses),
        "status_rules": _rules(code.http.rules),
        "summary": code.summary,
        "message": message_template(code),
        **({"messages": dict(code.messages)} if code.messages else {}),
        "retriable": code.retriable.flag_kind,
        "rules": _rules(code.retriable.rules),
        "client_action": code.client_action,
        "effect": code.effect,
        "policy": code.retry or "",
        "kind": (policy.kind_of.get(code.name) if policy is not None else None) or "",
        "eligible": policy is None or not policy.eligible or code.name in policy.eligible,
        "boundary": code.boundaries[0] if code.boundaries else "",
        "domain": code.domain or "",
        "actions": list(code.actions),
        "envelope": schemas.own_envelope(taxonomy, operation, code).name,
        "constants": list(map(constant_row, facts.constants_of_code(code, taxonomy))),
        "required": required_header_rows(code, taxonomy),
        "derived": list(derived_headers(code, taxonomy)),
        "defaults": {slot: values[0] for slot, values in code.facts.items() if values},
        "flagged": flag is not None
        and code.details_schema is None
        and flag in allowed_details(code),
    }


def _correlation(taxonomy: Taxonomy) -> Json:
    """The header of the correlation id, its formats, and the slot that repeats it."""
    row = python.correlation(taxonomy)
    return {
        "header": row.header,
        "formats": list(row.formats),
        "slot": row.slot or "",
    }


def _slots(taxonomy: Taxonomy) -> Iterator[Json]:
    """Every slot that no code decides, in the order in which the envelopes first name them."""
    named = (slot for envelope in taxonomy.envelopes.values() for slot in envelope.slots)
    for slot in dict.fromkeys(named):
        if slot in DECIDED:
            continue
        field = taxonomy.field_of(slot)
        types = ("array",) if slot == "actions" else field.schema.types if field else ()
        formats = schemas.made_formats(field) if field is not None else ()
        yield {
            "slot": slot,
            "type": types[0] if len(types) == 1 else "",
            "header": header_of(slot, field, taxonomy) or "",
            "generate": next(iter(formats), ""),
        }


def _data(value: object) -> object:
    """Named tuples and tuples as objects and lists."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _data(member) for name, member in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: _data(member) for name, member in value.items()}
    return [_data(item) for item in value] if isinstance(value, tuple) else value


def _rules(rules: Iterable[ConditionalRule]) -> list[Json]:
    return [
        {
            "then": rule.then,
            "when": [
                {
                    "fact": test.fact,
                    "values": list(test.values),
                    "ranges": span_rows(facts.merge_ranges(test.ranges)),
                }
                for test in rule.when
            ],
        }
        for rule in rules
    ]


class _BareAnswer(NamedTuple):
    """The code of the answer to a status of a framework, and the status that it is sent with."""

    code: str
    status: int


def _bare(taxonomy: Taxonomy) -> Iterator[Json]:
    """The answers to the statuses of a framework, as ranges.

    ``own``: the code of the status, which answers if its headers are there. ``code``: otherwise,
    under ``status``, or under the same if that is 0.
    """
    rows = ((status, _bare_row(status, taxonomy)) for status in _ERRORS)
    for row, group in groupby(rows, key=itemgetter(1)):
        statuses = [status for status, _ in group]
        yield {"on": [statuses[0], statuses[-1]], **row}


def _bare_row(status: int, taxonomy: Taxonomy) -> Json:
    own, found = _status_code(status, taxonomy), _bare_answer(status, taxonomy)
    return {
        "own": own if own is not None and _is_bare(own, taxonomy) else "",
        "code": "" if found is None else found.code,
        "status": 0 if found is None or found.status == status else found.status,
    }


def _internal(taxonomy: Taxonomy) -> Json:
    """The answer to an exception: the code of an undeclared error, else that of a bare 500."""
    code = _distinct(taxonomy).get(python.internal_code(taxonomy) or "")
    found: _BareAnswer | None = None
    if code is not None and _answers(code.name, code.http.default or 500, taxonomy):
        found = _BareAnswer(code.name, code.http.default or 500)
    found = found or _bare_answer(500, taxonomy)
    return {"code": "" if found is None else found.code, "status": found.status if found else 0}


def _bare_answer(status: int, taxonomy: Taxonomy) -> _BareAnswer | None:
    """The first code that fits: of the status, of its fallback, of 400 or 500, the internal one."""
    own = _status_code(status, taxonomy)
    if own is not None and _answers(own, status, taxonomy):
        return _BareAnswer(own, status)
    whole = status - status % 100
    spanning = sorted(
        (each for each in taxonomy.fallbacks if status in each.on), key=lambda each: each.on.width
    )
    others = [
        *(each.code for each in spanning),
        _status_code(whole, taxonomy),
        *_claims(whole, taxonomy),
        python.internal_code(taxonomy),
    ]
    for name in others:
        code = _distinct(taxonomy).get(name or "")
        if code is not None and code.http.default is not None:
            listed = [status] if status in code.http.allowed_statuses() else []
            for under in (*listed, code.http.default):
                if _answers(code.name, under, taxonomy):
                    return _BareAnswer(code.name, under)
    able = (name for name in _claims(status, taxonomy) if _answers(name, status, taxonomy))
    return next((_BareAnswer(name, status) for name in able), None)


def _status_code(status: int, taxonomy: Taxonomy) -> str | None:
    """The code that a status means: the general one, else the one whose default is nearest."""
    general = _general_codes(taxonomy).get(status)
    if general is not None:
        return general
    distances: dict[int, list[str]] = {}
    for name in _claims(status, taxonomy):
        distance = abs((_distinct(taxonomy)[name].http.default or 0) - status)
        distances.setdefault(distance, []).append(name)
    nearest = distances[min(distances)] if distances else []
    return nearest[0] if len(nearest) == 1 else None


def _claims(status: int, taxonomy: Taxonomy) -> Sequence[str]:
    """The codes that may have a status, those of operations too; else the code of its fallback."""
    claimed = codes_by_status(taxonomy).get(status, ())
    fallback = taxonomy.fallback_for(status)
    stands = _distinct(taxonomy).get((fallback.code if fallback is not None else None) or "")
    return claimed or ([] if stands is None else [stands.name])


@memoize
def _distinct(taxonomy: Taxonomy) -> Mapping[str, Code]:
    return {code.name: code for code in schemas.distinct_codes(taxonomy)}


def _answers(name: str, status: int, taxonomy: Taxonomy) -> bool:
    """Whether a code needs no details, and no header beside those that an adapter supplies."""
    needed = facts.required_headers(_distinct(taxonomy)[name], taxonomy)
    return _is_bare(name, taxonomy) and all(
        header.lower() in _SUPPLIED or not any(status in span for span in on)
        for header, on in needed.items()
    )


def _is_bare(name: str, taxonomy: Taxonomy) -> bool:
    """Whether the default envelope can carry a code without its details."""
    return name in _bare_codes(taxonomy)[python.first_envelope(taxonomy, "http")]


@memoize
def _bare_codes(taxonomy: Taxonomy) -> Mapping[str, frozenset[str]]:
    found = bare_codes(taxonomy, _identity(taxonomy))
    return {envelope: frozenset(map(str, codes)) for envelope, codes in found.items()}


@memoize
def _general_codes(taxonomy: Taxonomy) -> Mapping[int, str]:
    found = general_codes(taxonomy, _identity(taxonomy))
    return {status: str(code) for status, code in found.items()}


def _identity(taxonomy: Taxonomy) -> Mapping[str, Verbatim]:
    return {name: Verbatim(name) for name in taxonomy.codes}
