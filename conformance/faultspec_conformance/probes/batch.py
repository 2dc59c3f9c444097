"""Batches: 207 is for mixed outcomes; a batch that fails as a whole is one error that lists its bad
items.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from faultspec.language.model import Batch
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT, ConfiguredCall, Identity
from faultspec_conformance.probes.batch_items import (
    COMPLETE,
    SentBatch,
    bad_items_key,
    check_named_items,
    check_outcome_of_each,
)
from faultspec_conformance.probes.idempotency import (
    check_refused_key,
    check_replay,
)
from faultspec_conformance.probes.refusals import SERVERS_FAULT
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.correlation import new_id
from faultspec_conformance.session.fixtures import request_to, unlike_example
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import new_key, set_key, takes_key
from faultspec_conformance.session.observation import (
    Observation,
    error_details,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.requests import RequestSpec

#: Items of a batch: of the second and the last, which are bad, numbers from 0 and from 1 differ.
_ITEMS = 5

#: Items of the longest batch that is sent, and of one whose items no configuration has.
MOST, _PAIR = 20, 2

_BAD_ITEMS, _MIXED, _NAMED = "batch/bad-items", "batch/mixed-only", "batch/named-items"

#: Constraints of values of the right type, and how many items that break one are tried.
_BENT = ("enum", "const", "pattern", "maxLength", "minLength", "maximum", "minimum", "format")
_BENT_ITEMS = 2


def batches(session: HttpSession) -> Iterator[Outcome]:
    """Send batches of good items, of bad items, and of both."""
    surfaces = session.taxonomy.surfaces.values()
    rule = next((surface.batch for surface in surfaces if surface.batch is not None), None)
    if rule is None:
        return
    operations = list(batch_operations(session))
    if not operations:
        reason = "no operation documents 207, and no resource has a `batch`"
        yield from (not_exercised(clause, reason) for clause in (_MIXED, _BAD_ITEMS, COMPLETE))
    for operation, call, owner in operations:
        yield from _batch(session, rule, operation, call=call, owner=owner)


def batch_operations(
    session: HttpSession,
) -> Iterator[tuple[ServiceOperation, ConfiguredCall | None, Identity]]:
    """Yield the batch operations with their configured call and the identity that may use them."""
    known: set[str] = set()
    for kind in session.kinds:
        call = kind.config.batch
        if call is not None:
            operation = session.operation(call.method, call.path)
            known.add(operation.name)
            resource = session.knowledge.created.get(kind.name)
            yield operation, call, resource.owner if resource is not None else session.caller
    for operation in session.description.operations:
        documented = "207" in operation.responses and operation.writes
        if documented and operation.name not in known and not operation.placeholders:
            yield operation, None, session.caller


def _batch(
    session: HttpSession,
    rule: Batch,
    operation: ServiceOperation,
    *,
    call: ConfiguredCall | None,
    owner: Identity,
) -> Iterator[Outcome]:
    def request(body: object) -> RequestSpec:
        return replace(request_to(session, operation, {}), identity=owner, body=body)

    first, second = (new_body(session, operation, call) for _ in range(2))
    items = first_item(first), first_item(second)
    if None in items:
        yield not_exercised(_MIXED, f"the body of {operation.name} has no list of items")
        return
    more = [first_item(new_body(session, operation, call)) for _ in range(2)]
    yield from check_bad_items(
        session,
        rule,
        operation,
        send=lambda batch: request(with_items(first, batch)),
        good=[*items, *more],
    )
    # The probe of whole batches reads what this one stores.
    count = min(most_items(session, operation), MOST) if call is not None else _PAIR
    many = [items[1], *(first_item(new_body(session, operation, call)) for _ in range(count - 1))]
    good = request(with_items(second, many))
    key = session.key_rule(operation)
    replayed = takes_key(session, operation)
    if key is not None and replayed:
        good = set_key(key, good, new_key(session, operation))
    good = replace(good, correlation=new_id(session.echo, session.tokens))
    answer = session.call(good)
    if key is None or not replayed:
        return
    if answer.ok:
        yield check_replay(session, key, answer, session.call(good))
    else:
        yield check_refused_key(session, key, good, answer)


def new_body(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall | None
) -> object:
    """Return a body of a batch with new values."""
    if call is not None and call.body is not ABSENT:
        return fill_in_call(session, call).body
    return unlike_example(session, operation)


def check_bad_items(
    session: HttpSession,
    rule: Batch | None,
    operation: ServiceOperation,
    *,
    send: Callable[[list[object]], RequestSpec],
    good: Sequence[object],
) -> Iterator[Outcome]:
    """Send a batch of bad items, and one of good and bad items; if that is refused as a whole, also
    one with items of which one value is forbidden. ``send``: the request with some items.
    ``good``: four good items.
    """
    bad = spoil_item(good[0])
    mixed = [good[0], bad, *good[2:], spoil_item(good[1])][: most_items(session, operation)]
    if mixed[:1] == mixed[2:3]:  # equal items may be refused as duplicates
        mixed = mixed[:2]
    answer = session.call(send([bad, bad]))
    listed_at = bad_items_key(session.contract, answer)
    if answer.status != 207:
        yield _check_all_bad(session, listed_at, operation, answer)
    sent = SentBatch((bad, bad), frozenset((0, 1)))
    yield check_named_items(session.contract, rule, answer, sent, listed_at=listed_at)
    wrong = frozenset(i for i, item in enumerate(mixed) if spoil_item(item) == item)
    bent = bent_items(session, operation, send([good[1]]).body) if wrong else []
    turns = [[one if i in wrong else item for i, item in enumerate(mixed)] for one in bent]
    for batch in (mixed, *turns):
        answer, sent = session.call(send(batch)), SentBatch(tuple(batch), wrong)
        if wrong and is_reported(answer):
            yield check_outcome_of_each(rule, answer, sent)
        listed_at = bad_items_key(session.contract, answer)
        if answer.status != 207 and _expects_207(session):
            yield _check_mixed(session, operation, answer)  # otherwise the judge checks it
        named = check_named_items(session.contract, rule, answer, sent, listed_at=listed_at)
        if named.kind == "failed" and not answer.ok:
            named = _check_good(session, send(sent.good)) or named
        yield named
        if answer.ok:
            return


def _expects_207(session: HttpSession) -> bool:
    """Whether a surface has outcomes that differ under 207."""
    return any(
        surface.batch is not None
        and (surface.batch.mixed_only or any(207 in one for one in surface.match.statuses))
        for surface in session.taxonomy.surfaces.values()
    )


def bent_items(session: HttpSession, operation: ServiceOperation, body: object) -> list[object]:
    """Return the first item of a batch with one value that its schema forbids, of the right type:
    a few, those that a decoder of types reads first.
    """
    if operation.body is None:
        return []
    mark = session.canary("value").value
    broken = sampling.broken_constraints(session.source, operation.body.schema, body, mark)
    found = [one for one in broken if one.in_item and one.keyword in _BENT]
    found.sort(key=lambda one: _BENT.index(one.keyword))
    return [first_item(one.value) for one in found[:_BENT_ITEMS]]


def _check_good(session: HttpSession, spec: RequestSpec) -> Outcome | None:
    """Send the good items of a batch alone; return why they prove nothing, or None.

    They are refused too if, for example, their values exist already.
    """
    alone = session.call(spec)
    return None if alone.ok else not_exercised(_NAMED, f"the good items alone got {alone}")


def _check_all_bad(
    session: HttpSession,
    listed_at: str | None,
    operation: ServiceOperation,
    answer: Observation,
) -> Outcome:
    """Check the answer to a batch of bad items, which fails as a whole."""
    line = f"the service answered {answer} to {operation.name} with bad items only"
    if answer.ok:
        return failed(_BAD_ITEMS, f"{line}; expected an error", answer, variant="accepted")
    if answer.status >= 500:
        return failed(_BAD_ITEMS, f"{line}: {SERVERS_FAULT}", answer)
    if listed_at is None or answer.status in (401, 403, 404, 415, 429):
        return not_exercised(_BAD_ITEMS, line)
    if listed_at in error_details(session.contract, answer):
        return passed(_BAD_ITEMS)
    if answer.code is None:
        return not_exercised(_BAD_ITEMS, line)
    message = f"{line} without `details.{listed_at}`"
    return failed(_BAD_ITEMS, message, answer, pointer="/details")


def _check_mixed(session: HttpSession, operation: ServiceOperation, answer: Observation) -> Outcome:
    """Check the answer to a batch of a good and a bad item that is not 207."""
    if not answer.ok:
        reason = f"{operation.name} fails as a whole if one item is bad ({answer})"
        return not_exercised(_MIXED, reason)
    if not has_failure(answer.json, {code.wire for code in session.taxonomy.shared_live_codes()}):
        return not_exercised(_MIXED, f"{operation.name} accepted the item that was made bad")
    what = f"{operation.name} with a good and a bad item"
    message = f"the service answered {answer} to {what}; expected 207"
    return failed(_MIXED, message, answer)


def is_reported(answer: Observation) -> bool:
    """Whether the answer to a batch reports a bad item: it refuses all, or has a failure."""
    if not answer.ok:
        return answer.status < 500 and answer.status not in (401, 403, 404, 415, 429)
    return answer.status == 207 or has_failure(answer.json, set())


def has_failure(body: object, wires: set[str | int]) -> bool:
    """Whether a body has a failure in it: an error status or a wire code."""
    if isinstance(body, dict):
        status, code = body.get("status", body.get("status_code")), body.get("code")
        if isinstance(status, int) and 400 <= status < 600:
            return True
        if isinstance(code, str) and code in wires:
            return True
        return any(has_failure(member, wires) for member in body.values())
    return isinstance(body, list) and any(has_failure(item, wires) for item in body)


def first_item(body: object) -> object:
    """Return the first item of the first list in a body, or None."""
    return next(iter(all_items(body)), None)


def all_items(body: object) -> list[object]:
    """Return the items of the first list in a body that has some."""
    if isinstance(body, dict):
        body = next((value for value in body.values() if isinstance(value, list) and value), [])
    return body if isinstance(body, list) else []


def most_items(session: HttpSession, operation: ServiceOperation) -> int:
    """Return how many items a batch may have, by the document; at least two."""
    schema = operation.body.schema if operation.body is not None else {}
    node = sampling.merge_all_of(session.description.document, schema)
    nodes = [node, *map(session.description.schema, sampling.properties_of(node).values())]
    limits = [each.get("maxItems") for each in nodes if sampling.kind(each) == "array"]
    return max(2, next((limit for limit in limits if isinstance(limit, int)), _ITEMS))


def with_items(body: object, items: list[object]) -> object:
    """Return the body with these items in its first list."""
    if isinstance(body, list):
        return items
    assert isinstance(body, dict)
    name = next(key for key, value in body.items() if isinstance(value, list) and value)
    return {**body, name: items}


def spoil_item(item: object) -> object:
    """Return an item none of whose members has its type."""
    if isinstance(item, dict) and item:
        return {name: {"unexpected": True} for name in item}
    return {"unexpected": {"unexpected": True}}
