"""Replays of writes that create no kind of resource: one after the other, and at the same time."""

import re
from collections.abc import Iterator
from dataclasses import replace

from faultspec.language.model import Idempotency
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.idempotency import (
    check_refused_key,
    check_replay,
    send_twice,
    with_new_key,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import (
    identities_for,
    ordinary_request,
    parent_values,
    renew_references,
)
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import accepts_key, documents_key
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource, lies_below

_REPLAY, _CONCURRENT = "idempotency/replay", "idempotency/concurrent"

#: Equal requests at the same time.
_AT_ONCE = 2

#: The name of a member that holds an id.
_ID = re.compile(r"_?(id|uuid|key)|.*([_-]id|Id|ID)")

#: Statuses that may concern the state of the item that a write lies below.
_OF_THE_ITEM = frozenset({404, 409, 410, 412, 428})

#: Replayed writes that create no kind of resource. One framework looks up the keys of all.
_OTHERS = 12


def replays_below(session: HttpSession) -> Iterator[ProbeResult]:
    """Replay all other writes with a key: below an item if the document says that they take a key,
    and creations by POST.

    They may change the item in any way, so only generated traffic comes after them.
    """
    asked = 0
    for operation in session.description.operations:
        rule = session.key_rule(operation)
        if rule is None or not is_replayed_here(session, rule, operation):
            continue
        if asked >= _OTHERS:
            yield Note(f"{operation.name} is not replayed: {_OTHERS} others are")
            continue
        asked += 1
        yield from attempt(_replay_below(session, rule, operation), _REPLAY)


def is_replayed_here(session: HttpSession, rule: Idempotency, operation: ServiceOperation) -> bool:
    """Whether this turn replays the operation, and no other probe does."""
    creates = _creates(operation)
    takes = accepts_key(session, operation) if creates else documents_key(session, operation)
    if operation.method not in rule.methods or not takes:
        return False
    parent = _parent(session, operation)
    if parent is not None:
        return parent.kind in session.turn
    # Operations without a kind of resource belong to the turn of the first kind.
    first_turn = not session.kinds or session.kinds[0] in session.turn
    replayed = any(
        kind.operation("create") == operation and (index == 0 or documents_key(session, operation))
        for index, kind in enumerate(session.kinds)
    )
    return creates and first_turn and not replayed


def _creates(operation: ServiceOperation) -> bool:
    """Whether an operation creates something, which exists twice if the service ignores the key."""
    documented = operation.responses
    return operation.method == "POST" and "201" in documented and "207" not in documented


def _parent(session: HttpSession, operation: ServiceOperation) -> CreatedResource | None:
    """Return the created resource below which an operation lies."""
    created = session.knowledge.created.values()
    return next((resource for resource in created if lies_below(operation, resource.kind)), None)


def _replay_below(
    session: HttpSession, rule: Idempotency, operation: ServiceOperation
) -> Iterator[Outcome]:
    """Replay a write; if the state of the item above it does not allow it, below a new one."""
    spec = request_below(session, operation)
    if isinstance(spec, str):
        yield not_exercised(_REPLAY, spec)
        return
    if operation.method != "POST" or session.driver.limits.rate is not None:
        yield send_twice(session, rule, operation, spec)
        return
    spec = with_new_key(session, rule, operation, spec)
    burst = session.call_together(*[spec] * _AT_ONCE)
    futile = all(answer.status in _OF_THE_ITEM for answer in burst)
    if futile and renew_references(session, operation):
        another = request_below(session, operation)
        if isinstance(another, RequestSpec):
            spec = with_new_key(session, rule, operation, another)
            burst = session.call_together(*[spec] * _AT_ONCE)
    yield from _check_burst(session, rule, spec, burst)


def request_below(session: HttpSession, operation: ServiceOperation) -> RequestSpec | str:
    """Return the request of a write below a created item, or why there is none."""
    parent = _parent(session, operation)
    values = parent_values(session, operation) if parent is None else parent.values
    if isinstance(values, str):
        return values
    likely = next(iter(identities_for(session, operation)), session.caller)
    owner = likely if parent is None else parent.owner
    known = dict(zip(operation.placeholders, values.values(), strict=False))
    tag = parent.creation.header("ETag") if parent is not None else None
    conditional = tag is not None and operation.parameter("If-Match", "header") is not None
    headers = {"If-Match": tag} if conditional else {}
    return replace(ordinary_request(session, operation, known), identity=owner, headers=headers)


def _ids_in(answer: Observation) -> dict[str, object]:
    """Return the ids in an answer by their places."""
    members = leaves(answer.json)
    return {place: value for place, value in members if _ID.fullmatch(place.rpartition("/")[2])}


def _check_burst(
    session: HttpSession, rule: Idempotency, spec: RequestSpec, burst: list[Observation]
) -> Iterator[Outcome]:
    """Replay two equal requests that were sent at the same time: the work is done once, so every
    success has the same answer.
    """
    good = [answer for answer in burst if answer.ok]
    if not good:
        yield check_refused_key(session, rule, spec, burst[0])
        return
    again = session.call(spec)
    outcomes = [check_replay(session, rule, answer, again) for answer in good]
    best = next((one for one in outcomes if one.kind == "passed"), outcomes[0])
    yield best
    others = [answer for answer in good if answer.status != 202]
    if best.kind != "passed" or len(others) < _AT_ONCE:
        return
    wrong = [one for one in outcomes if one.kind == "failed"]
    if not wrong:
        yield passed(_CONCURRENT)
        return
    if _ids_in(good[0]) and _ids_in(good[0]) == _ids_in(good[-1]):
        yield wrong[0]  # a replay in another form is one write
        return
    message = (
        f"{_AT_ONCE} equal {again.exchange.operation} with one {rule.key} at the same time were "
        "both carried out: the answers differ"
    )
    yield failed(_CONCURRENT, message, *burst, again, variant="answers")
