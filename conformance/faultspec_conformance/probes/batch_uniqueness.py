"""Unique values in batches: an item with those of a resource that exists, and two items with the
same ones. What is refused alone is not stored by a batch.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ConfiguredCall, Identity
from faultspec_conformance.probes.batch import (
    all_items,
    first_item,
    most_items,
    new_body,
    with_items,
)
from faultspec_conformance.probes.batch_results import (
    BatchReader,
    batch_reader,
    failed_results,
    kind_of_batch,
)
from faultspec_conformance.probes.effects import find_representation, is_equal_value
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.resources import ResourceKind

REPEATED = "duplicates/refused"
"""The clause."""

#: Items that are made up, and those of a batch with two that are alike.
_GOOD, _TWO = 5, 2

#: Statuses of refusals for another reason than the items.
_EARLY = (401, 403, 404, 405, 413, 415, 429)


def repeated_values(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall, owner: Identity
) -> Iterator[Outcome]:
    """Send unique values of a resource in a batch, and new ones twice."""
    kind = kind_of_batch(session, operation)
    if kind is None or not kind.config.unique:
        return
    reader = batch_reader(session, operation, owner)
    items = [first_item(new_body(session, operation, call)) for _ in range(_GOOD)]
    good = [item for item in items if isinstance(item, dict) and _unique_values(kind, item)]
    if isinstance(reader, str) or len(good) < len(items):
        reason = reader if isinstance(reader, str) else "its items lack a unique member"
        yield not_exercised(REPEATED, f"unique values are not sent by {operation.name}: {reason}")
        return

    def send(batch: Sequence[object]) -> Observation:
        body = with_items(new_body(session, operation, call), [*batch])
        return session.call(replace(request_to(session, operation, {}), identity=owner, body=body))

    made = session.knowledge.created.get(kind.name)
    existing = _unique_values(kind, made.body) if made and isinstance(made.body, dict) else {}
    values = _unique_values(kind, good[1])
    again = f"{operation.name} with two items that have the same {_names(kind)}"
    if made is None or not existing:
        yield not_exercised(REPEATED, f"no `{kind.name}` is known whose values are sent again")
        yield _check_stored(reader, send([good[1], {**good[2], **values}]), values, what=again)
        return
    what = f"{operation.name} with an item that has the {_names(kind)} of a `{kind.name}`"
    twice = [good[1], {**good[2], **values}] if most_items(session, operation) > _TWO else []
    answer = send([{**good[0], **existing}, *twice])
    wrong = _check_code(session, kind, answer, what)
    yield wrong or _check_stored(reader, answer, existing, what=what, known=made.id)
    if not twice or not answer.ok:
        twice = [good[3], {**good[4], **_unique_values(kind, good[3])}]
        answer, values = send(twice), _unique_values(kind, good[3])
    yield _check_stored(reader, answer, values, what=again)


def _names(kind: ResourceKind) -> str:
    return ", ".join(kind.config.unique)


def _unique_values(kind: ResourceKind, body: Mapping[str, object]) -> dict[str, object]:
    """Return the unique members of a body; empty if it lacks one."""
    found = {name: body[name] for name in kind.config.unique if body.get(name) is not None}
    return found if len(found) == len(kind.config.unique) else {}


def _check_stored(
    reader: BatchReader,
    answer: Observation,
    values: Mapping[str, object],
    *,
    what: str,
    known: object = None,
) -> Outcome:
    """Check that one resource has the values after a batch with two of them.

    ``known``: the id of the one that had them before.
    """
    if answer.status in _EARLY or answer.status >= 500 or answer.status == 202:
        return not_exercised(REPEATED, f"the service answered {answer} to {what}")
    if not answer.ok:
        return (
            passed(REPEATED)
            if _accepts_batches(reader, answer)
            else not_exercised(REPEATED, f"no batch of {answer.exchange.operation} was accepted")
        )
    items = all_items(parse_body(answer.exchange.request.body))
    results, refused = reader.results(answer, len(items)), failed_results(reader.session, answer)
    if refused and len(results) < _TWO:  # of each batch all items but one are repeated
        return passed(REPEATED)
    ids = (known, *(one.id for one in results))
    found = {str(one): one for one in ids if one is not None}
    reads = [reader.get_settled(one) for one in found.values()]
    having = [read for read in reads if read.ok and _has(find_representation(read, values), values)]
    if len(having) > 1:
        message = f"the service accepted {what} ({answer}), and {len(having)} of "
        message += f"`{reader.kind.name}` have it; expected a refusal"
        return failed(REPEATED, message, answer, *having, variant="batch")
    if refused:
        return passed(REPEATED)
    if any(one.id is None for one in results) or not results:
        return not_exercised(REPEATED, f"the answer ({answer}) to {what} lists no ids")
    reason = f"the service answered {answer} to {what}, and reads do not show two that have it"
    return not_exercised(REPEATED, reason)


def _accepts_batches(reader: BatchReader, refused: Observation) -> bool:
    """Whether the service has accepted another batch of the operation in this run."""
    return any(
        one.ok and one.exchange.operation == refused.exchange.operation
        for one in reader.session.observations.exchanges
    )


def _has(shown: Mapping[str, object], values: Mapping[str, object]) -> bool:
    return all(name in shown and is_equal_value(shown[name], values[name]) for name in values)


def _check_code(
    session: HttpSession, kind: ResourceKind, answer: Observation, what: str
) -> Outcome | None:
    """Return the failure that the result of an item whose values exist already has another code
    than the declared one; None if it has that code, or none that is known.
    """
    declared, refused = kind.config.unique_code, failed_results(session, answer)
    if declared is None or not answer.ok or not refused:
        return None
    texts = {part for one in refused for part in _last_parts(one)}
    codes = (code for code in session.taxonomy.shared_live_codes() if str(code.wire) in texts)
    shown = {code.name for code in codes}
    if not shown or declared in shown:
        return None
    message = f"the service answered {what} with `{min(shown)}`; expected {declared}"
    return failed(REPEATED, message, answer, variant="code")


def _last_parts(result: object) -> Iterator[str]:
    """Yield the texts and numbers in a result, of a URI its last part."""
    for _, value in leaves(result):
        yield str(value)
        yield str(value).rstrip("/").replace(":", "/").replace("#", "/").rpartition("/")[2]
