"""Batches of an API without mixed outcomes: a batch with a bad item stores nothing, or its answer
has a result of every item.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ConfiguredCall, Identity
from faultspec_conformance.probes.batch import (
    COMPLETE,
    batch_operations,
    first_item,
    is_reported,
    new_body,
    spoil_item,
    with_items,
)
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
from faultspec_conformance.session.requests import RequestSpec

_REFUSED = "writes/refused"

#: Words of members that report what was not accepted.
_REPORTS = ("error", "fail", "reject", "skip", "invalid", "ignored", "problem")


def whole_batches(session: HttpSession) -> Iterator[ProbeResult]:
    """Send a batch of good items, and one with a bad item, where no surface has mixed outcomes."""
    if any(surface.batch is not None for surface in session.taxonomy.surfaces.values()):
        return
    found = False
    for operation, call, owner in batch_operations(session):
        if call is not None:
            found = True
            outcomes = _check_batch(session, operation, call, owner)
            yield from attempt(outcomes, COMPLETE)
    if not found:
        yield not_exercised(COMPLETE, "no resource has a `batch`")


def _check_batch(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall, owner: Identity
) -> Iterator[Outcome]:
    def send(*items: object) -> Observation:
        body = with_items(new_body(session, operation, call), list(items))
        spec = request_to(session, operation, {})
        return session.call(replace(spec, identity=owner, body=body))

    items = [first_item(new_body(session, operation, call)) for _ in range(4)]
    if None in items:
        yield not_exercised(COMPLETE, f"the body of {operation.name} has no list of items")
        return
    first, second, kept, spoilt = items
    good = send(first, second)
    if not good.ok:
        reason = f"the service answered {good} to {operation.name} with good items"
        yield not_exercised(COMPLETE, reason)
        return
    before = _read_list(session, operation, owner)
    mixed = send(kept, spoil_item(spoilt))
    if is_reported(mixed):
        yield passed(COMPLETE)
    elif mixed.ok:
        yield _check_results(operation, good, mixed)
    if mixed.ok:
        return
    if before and mixed.status < 500:
        after = _read_list(session, operation, owner)
        if after:
            yield _check_nothing_stored(
                operation, mixed, before=before, after=after, items=(first, kept)
            )


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
    for kind in session.kinds:
        listing, call = kind.operation("list"), kind.config.batch
        if listing is None or call is None or listing.placeholders:
            continue
        if session.operation(call.method, call.path).name == operation.name:
            query = configured_query(session, listing)
            spec = RequestSpec("GET", listing.template, identity=owner, query=query)
            return read_pages(session, listing, kind.config.pages, spec)
    return []
