"""Batches of an API without mixed outcomes: a batch with a bad item stores nothing, or its answer
has a result of every item.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from faultspec.judge.batch import BatchItem, items_of
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ConfiguredCall, Identity
from faultspec_conformance.probes.batch import (
    batch_operations,
    check_bad_items,
    first_item,
    is_reported,
    most_items,
    new_body,
    spoil_item,
    with_items,
)
from faultspec_conformance.probes.batch_items import COMPLETE
from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.probes.whole_lists import configured_query, read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    list_items,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import id_of_item
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import ResourceKind, last_placeholder

_REFUSED = "writes/refused"

#: Items of the longest batch that is sent.
_MANY = 20

#: Seconds before a list is read again where the file declares no `settle`.
_TICK = 1.1

#: Items of the answer to a batch that are read.
_READ = 2

#: Words of members that report what was not accepted.
_REPORTS = ("error", "fail", "reject", "skip", "invalid", "ignored", "problem")

#: Members of a result that have its status, and the statuses of errors.
_STATUS = re.compile(r".*(status|code)", re.IGNORECASE)
_ERROR_STATUS = re.compile(r"[45]\d\d")


def whole_batches(session: HttpSession) -> Iterator[ProbeResult]:
    """Send a batch of good items, and one with a bad item where no surface has mixed outcomes."""
    surfaces = session.taxonomy.surfaces.values()
    is_mixed = any(surface.batch is not None for surface in surfaces)
    found = False
    for operation, call, owner in batch_operations(session):
        if call is not None:
            found = True
            check = _check_mixed_batch if is_mixed else _check_batch
            yield from attempt(check(session, operation, call, owner), COMPLETE)
    if not found and not is_mixed:
        yield not_exercised(COMPLETE, "no resource has a `batch`")


def _check_batch(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall, owner: Identity
) -> Iterator[Outcome]:
    def request(items: list[object]) -> RequestSpec:
        body = with_items(new_body(session, operation, call), items)
        return replace(request_to(session, operation, {}), identity=owner, body=body)

    def new_items(count: int) -> list[object]:
        return [first_item(new_body(session, operation, call)) for _ in range(count)]

    first, second, kept, spoilt = new_items(4)
    if first is None:
        yield not_exercised(COMPLETE, f"the body of {operation.name} has no list of items")
        return
    good = session.call(request([first, second]))
    if not good.ok:
        reason = f"the service answered {good} to {operation.name} with good items"
        yield not_exercised(COMPLETE, reason)
        return
    before = _read_list(session, operation, owner)
    mixed = session.call(request([kept, spoil_item(spoilt)]))
    if is_reported(mixed):
        yield passed(COMPLETE)
    elif mixed.ok:
        yield _check_results(operation, good, mixed)
    yield from _find_lost_results(session, operation, mixed, owner)
    if before and not mixed.ok and mixed.status < 500:
        after = _read_list(session, operation, owner)
        if after:
            yield _check_nothing_stored(
                operation, mixed, before=before, after=after, items=(first, kept)
            )
    if any(surface.bad_items for surface in session.taxonomy.surfaces.values()):
        yield from check_bad_items(session, None, operation, send=request, good=new_items(4))
    yield from _check_good_items(session, operation, call, owner)


def _check_mixed_batch(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall, owner: Identity
) -> Iterator[Outcome]:
    """Check a batch of good items, and that each item exists that the answer to a batch with a bad
    one lists as done.
    """
    yield from _check_good_items(session, operation, call, owner)
    kept, spoilt = (first_item(new_body(session, operation, call)) for _ in range(2))
    if kept is None:
        return
    body = with_items(new_body(session, operation, call), [kept, spoil_item(spoilt)])
    spec = replace(request_to(session, operation, {}), identity=owner, body=body)
    yield from _find_lost_results(session, operation, session.call(spec), owner)


def _check_good_items(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall, owner: Identity
) -> Iterator[Outcome]:
    """Check that all items of a batch of good items are stored."""
    count = min(most_items(session, operation), _MANY)
    items = [first_item(new_body(session, operation, call)) for _ in range(count)]
    if None in items:
        yield not_exercised(COMPLETE, f"the body of {operation.name} has no list of items")
        return
    body = with_items(new_body(session, operation, call), items)
    spec = replace(request_to(session, operation, {}), identity=owner, body=body)
    yield _check_many(session, operation, session.call(spec), items=items, owner=owner)


def _check_many(
    session: HttpSession,
    operation: ServiceOperation,
    answer: Observation,
    *,
    items: list[object],
    owner: Identity,
) -> Outcome:
    """Check that the list shows every item of a batch of good items that succeeded."""
    what = f"{operation.name} with {len(items)} good items"
    if not answer.ok or answer.status == 202 or not _accepts_all(session, answer):
        return not_exercised(COMPLETE, f"the service answered {answer} to {what}")
    own = [_own_texts(item, items) for item in items]
    if not all(own):
        return _check_results_stored(session, operation, answer, owner=owner, what=what)
    for is_first in (True, False):
        pages = _read_list(session, operation, owner)
        shown = {text for page in pages for text in _texts(page)}
        lost = [texts for texts in own if not texts & shown]
        if len(lost) == len(items):
            return not_exercised(COMPLETE, f"no list shows the items of {what}")
        if not lost:
            return passed(COMPLETE)
        if is_first:
            session.wait(max(_TICK, session.config.limits.settle), after=answer)
    evidence = [answer, *pages[-1:]]
    results = list_items(answer.json)
    if len(results) >= len(items):  # a list may leave out the end of many items
        read = _read_result(session, operation, owner, results=results, lost=lost)
        if read is None or read.status not in GONE:
            return not_exercised(COMPLETE, f"a list does not show all items of {what}")
        evidence = [answer, read]
    elif not results:
        return not_exercised(COMPLETE, f"the answer ({answer}) to {what} lists no results")
    message = f"{what} succeeded ({answer}), but {len(lost)} of them are not stored"
    return failed(COMPLETE, message, *evidence, variant="lost")


def _check_results_stored(
    session: HttpSession,
    operation: ServiceOperation,
    answer: Observation,
    *,
    owner: Identity,
    what: str,
) -> Outcome:
    """Check that the items exist whose ids the answer to a batch lists: the last and the first
    few, since lists tell equal items only by these ids.
    """
    kind = _kind_of(session, operation)
    read = kind.operation("read") if kind is not None else None
    ids = [_id_of_result(kind, result) for result in list_items(answer.json)] if kind else []
    known = [one for one in ids if one is not None]
    if read is None or len(read.placeholders) != 1 or not known:
        return not_exercised(COMPLETE, f"nothing tells the items of {what} apart")
    for identifier in dict.fromkeys((known[-1], *known[:_READ])):
        found = _read_settled(session, read, owner, identifier)
        if found.status in GONE:
            message = f"{what} succeeded ({answer}), but an item of its answer is not stored"
            return failed(COMPLETE, message, answer, found, variant="lost")
        if not found.ok:
            return not_exercised(COMPLETE, f"the service answered {found} to {read.name}")
    return passed(COMPLETE)


def _read_settled(
    session: HttpSession, read: ServiceOperation, owner: Identity, identifier: object
) -> Observation:
    """Read an item by its id; once more after a while, if it is not there."""
    values = dict.fromkeys(read.placeholders, identifier)
    spec = RequestSpec("GET", read.template, identity=owner, values=values)
    found = session.call(spec)
    if found.status not in GONE:
        return found
    session.wait(max(_TICK, session.config.limits.settle), after=found)
    return session.call(spec)


def _find_lost_results(
    session: HttpSession, operation: ServiceOperation, mixed: Observation, owner: Identity
) -> Iterator[Outcome]:
    """Yield the failure that the answer to a batch with a bad item lists an item as done, with its
    id, and there is none.
    """
    kind = _kind_of(session, operation)
    read = kind.operation("read") if kind is not None else None
    if kind is None or read is None or len(read.placeholders) != 1 or mixed.status == 202:
        return
    for result in _succeeded_results(session, mixed)[:_READ] if mixed.ok else ():
        identifier = _id_of_result(kind, result)
        if identifier is None:
            continue
        found = _read_settled(session, read, owner, identifier)
        if found.status in GONE:
            message = f"{operation.name} with a good and a bad item lists an item as done "
            message += f"({mixed}), and it is not stored"
            yield failed(COMPLETE, message, mixed, found, variant="lost")
            return


def _declared_results(session: HttpSession, answer: Observation) -> list[BatchItem]:
    """Return the results of a batch where a surface says they are; none if no surface does."""
    for surface in session.taxonomy.surfaces.values():
        items = items_of(surface.batch, answer.json) if surface.batch is not None else None
        if items:
            return items
    return []


def _succeeded_results(session: HttpSession, answer: Observation) -> list[object]:
    """Return the results of a batch that report no failure."""
    declared = _declared_results(session, answer)
    if declared:
        return [item.value for item in declared if not item.failed]
    return [
        result
        for result in list_items(answer.json)
        if not _reports_failure(result) and not _has_error_status(result)
    ]


def _has_error_status(result: object) -> bool:
    """Whether a member of a result is a status of an error, such as 422."""
    return any(
        isinstance(value, int | str) and _ERROR_STATUS.fullmatch(str(value)) is not None
        for pointer, value in leaves(result)
        if _STATUS.fullmatch(pointer.rpartition("/")[2])
    )


def _id_of_result(kind: ResourceKind, result: object) -> object:
    """Return the id in a result of a batch, or in an object inside it; None without one."""
    parts = [result, *(result.values() if isinstance(result, dict) else ())]
    found = (id_of_item(part, last_placeholder(kind)) for part in parts if isinstance(part, dict))
    return next((one for one in found if one is not None), None)


def _accepts_all(session: HttpSession, answer: Observation) -> bool:
    """Whether the answer to a batch has no failure of an item."""
    declared = _declared_results(session, answer)
    if declared:
        return not any(item.failed for item in declared)
    return answer.status != 207 and not _reports_failure(answer.json)


def _read_result(
    session: HttpSession,
    operation: ServiceOperation,
    owner: Identity,
    *,
    results: list[object],
    lost: list[set[str]],
) -> Observation | None:
    """Read the item of a result that no list shows; None if that is not known."""
    kind = _kind_of(session, operation)
    read = kind.operation("read") if kind is not None else None
    for result in results if kind is not None and read is not None else ():
        texts = {str(value) for _, value in leaves(result)}
        identifier = _id_of_result(kind, result) if kind is not None else None
        if read is not None and identifier is not None and any(one & texts for one in lost):
            values = dict.fromkeys(read.placeholders, identifier)
            if len(values) == 1:
                spec = RequestSpec("GET", read.template, identity=owner, values=values)
                return session.call(spec)
    return None


def _own_texts(item: object, items: list[object]) -> set[str]:
    """Return the values of an item that no other item has."""
    others = {str(value) for other in items if other is not item for _, value in leaves(other)}
    return {str(value) for _, value in leaves(item)} - others


def _check_results(operation: ServiceOperation, good: Observation, mixed: Observation) -> Outcome:
    """Check that the success of a batch with a bad item reports the failure of this item.

    ``good``: the answer to a batch of as many good items.
    """
    expected, shown = len(list_items(good.json)), len(list_items(mixed.json))
    what = f"{operation.name} with a good and a bad item"
    if expected != 2:
        return not_exercised(COMPLETE, f"the answer ({good}) to a batch of 2 lists no results")
    if _reports_failure(mixed.json):
        return passed(COMPLETE)
    if shown >= expected or mixed.status == 202:
        return not_exercised(COMPLETE, f"{operation.name} accepted the item that was made bad")
    message = f"the service answered {mixed} to {what}, with {shown} of 2 results and no error"
    return failed(COMPLETE, message, good, mixed)


def _reports_failure(body: object) -> bool:
    """Whether a member of a body reports items that were not accepted."""
    return any(
        any(word in pointer.casefold() for word in _REPORTS) and value not in (None, 0, [], {}, "")
        for pointer, value in leaves(body)
    )


def _check_nothing_stored(
    operation: ServiceOperation,
    mixed: Observation,
    *,
    before: Sequence[Observation],
    after: Sequence[Observation],
    items: Sequence[object],
) -> Outcome:
    """Check that a list shows nothing of the good item of a refused batch.

    ``before`` and ``after``: the pages of the list. ``items``: one that was stored, and the good
    one.
    """
    stored, kept = (dict(leaves(item)) for item in items)
    own = [value for name, value in kept.items() if stored.get(name) != value]
    others = [value for name, value in stored.items() if kept.get(name) != value]
    shown = {text for page in before for text in _texts(page)}
    listing = before[0].exchange.operation
    if not any(str(value) in shown for value in others):
        reason = f"{listing} does not show the items of {operation.name}"
        return not_exercised(_REFUSED, reason)
    wanted = {str(value) for value in own} - shown
    page = next((one for one in after if _texts(one) & wanted), None)
    if page is not None:
        message = (
            f"the service refused {operation.name} with {mixed}, and {listing} shows its good item"
        )
        evidence = (before[0], mixed, page)
        return failed(_REFUSED, message, *evidence, variant="batch")
    return passed(_REFUSED)


def _texts(page: Observation) -> set[str]:
    return {str(value) for _, value in leaves(page.json)}


def _read_list(
    session: HttpSession, operation: ServiceOperation, owner: Identity
) -> list[Observation]:
    """Read the pages of the list of the kind whose batch the operation is; none without a list."""
    kind = _kind_of(session, operation)
    listing = kind.operation("list") if kind is not None else None
    if kind is None or listing is None or listing.placeholders:
        return []
    query = configured_query(session, listing)
    spec = RequestSpec("GET", listing.template, identity=owner, query=query)
    return read_pages(session, listing, kind.config.pages, spec)


def _kind_of(session: HttpSession, operation: ServiceOperation) -> ResourceKind | None:
    """Return the kind of resource whose batch the operation is."""
    calls = ((kind, kind.config.batch) for kind in session.kinds)
    return next(
        (
            kind
            for kind, call in calls
            if call is not None and session.operation(call.method, call.path).name == operation.name
        ),
        None,
    )
