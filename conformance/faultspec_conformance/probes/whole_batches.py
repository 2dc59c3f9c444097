"""Batches of an API without mixed outcomes: a batch with a bad item stores nothing, or its answer
has a result of every item. Batches of all APIs: what they call done is stored as it was sent.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ConfiguredCall, Identity
from faultspec_conformance.probes.batch import (
    MOST,
    all_items,
    batch_operations,
    check_bad_items,
    first_item,
    is_reported,
    most_items,
    new_body,
    spoil_item,
    with_items,
)
from faultspec_conformance.probes.batch_items import COMPLETE, SentBatch
from faultspec_conformance.probes.batch_results import (
    BatchReader,
    accepts_all,
    batch_reader,
    kind_of_batch,
    own_texts,
    reports_failure,
)
from faultspec_conformance.probes.batch_uniqueness import REPEATED, repeated_values
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
    parse_body,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec

_REFUSED = "writes/refused"

#: The clauses about batches of resources.
CLAUSES = (COMPLETE, _REFUSED, REPEATED)

#: Seconds before a list is read again where the file declares no `settle`.
_TICK = 1.1

#: Items of a batch with bad ones, of which the second and the last are bad: a service that stops at
#: the first one loses those in between. Items of one whose second item alone is bad.
_MIXED, _FEW = 5, 3


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
            yield from attempt(repeated_values(session, operation, call, owner), REPEATED)
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

    count = min(_FEW, most_items(session, operation))
    sound, mixture = new_items(count), new_items(count)
    first, kept = sound[0], mixture[0]
    if first is None:
        yield not_exercised(COMPLETE, f"the body of {operation.name} has no list of items")
        return
    good = session.call(request(sound))
    if not good.ok:
        reason = f"the service answered {good} to {operation.name} with good items"
        yield not_exercised(COMPLETE, reason)
        return
    before = _read_list(session, operation, owner)
    mixture[1] = spoil_item(mixture[1])
    sent = SentBatch(tuple(mixture), frozenset((1,)))
    mixed = session.call(request(mixture))
    if is_reported(mixed):
        yield passed(COMPLETE)
    elif mixed.ok:
        yield _check_results(operation, good, mixed, count=count)
    yield from _check_done(session, operation, mixed, sent=sent, owner=owner)
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
    seen = _find_sent(session, operation, owner, is_wanted=lambda one: len(one.bad) > 1)
    if seen is not None:
        yield from _check_done(session, operation, seen[1], sent=seen[0], owner=owner)
        return
    sent = _mixed_items(session, operation, call)
    if sent is None:
        return
    body = with_items(new_body(session, operation, call), [*sent.items])
    spec = replace(request_to(session, operation, {}), identity=owner, body=body)
    yield from _check_done(session, operation, session.call(spec), sent=sent, owner=owner)


def _find_sent(
    session: HttpSession,
    operation: ServiceOperation,
    owner: Identity,
    *,
    is_wanted: Callable[[SentBatch], bool],
) -> tuple[SentBatch, Observation] | None:
    """Return the last batch that the run has sent for the same caller, of those that are wanted and
    accepted, and its answer.
    """
    for seen in reversed(session.knowledge.exchanges):
        exchange = seen.exchange
        if exchange.operation != operation.name or exchange.identity != owner.name or not seen.ok:
            continue
        items = all_items(parse_body(exchange.request.body))
        bad = frozenset(at for at, item in enumerate(items) if item == spoil_item(item))
        sent = SentBatch(tuple(items), bad)
        if sent.good and is_wanted(sent):
            return sent, seen
    return None


def _mixed_items(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall
) -> SentBatch | None:
    """Return the items of a batch with good and bad ones; None if there are none."""
    good = [first_item(new_body(session, operation, call)) for _ in range(_MIXED)]
    if None in good:
        return None
    count = min(_MIXED, most_items(session, operation))
    if good[0] == good[2]:  # equal items may be refused as duplicates
        count = 2
    bad = frozenset((1, count - 1))
    items = (spoil_item(item) if at in bad else item for at, item in enumerate(good[:count]))
    return SentBatch(tuple(items), bad)


def _check_done(
    session: HttpSession,
    operation: ServiceOperation,
    mixed: Observation,
    *,
    sent: SentBatch,
    owner: Identity,
) -> Iterator[Outcome]:
    """Check that what the answer to a batch with a bad item lists as done is stored."""
    reader = batch_reader(session, operation, owner)
    if isinstance(reader, str):
        if mixed.ok:
            yield not_exercised(COMPLETE, reader)
    elif mixed.ok and mixed.status != 202 and reader.results(mixed, len(sent.items)):
        yield reader.check(mixed, sent, sent.describe(mixed))


def _check_good_items(
    session: HttpSession, operation: ServiceOperation, call: ConfiguredCall, owner: Identity
) -> Iterator[Outcome]:
    """Check that all items of a batch of good items are stored."""
    count = min(most_items(session, operation), MOST)
    seen = _find_sent(
        session, operation, owner, is_wanted=lambda one: not one.bad and len(one.items) == count
    )
    if seen is not None:
        sent, answer = seen
        items = [*sent.items]
        yield from _check_many(session, operation, answer, items=items, owner=owner)
        return
    items = [first_item(new_body(session, operation, call)) for _ in range(count)]
    if None in items:
        yield not_exercised(COMPLETE, f"the body of {operation.name} has no list of items")
        return
    body = with_items(new_body(session, operation, call), items)
    spec = replace(request_to(session, operation, {}), identity=owner, body=body)
    answer = session.call(spec)
    yield from _check_many(session, operation, answer, items=items, owner=owner)


def _check_many(
    session: HttpSession,
    operation: ServiceOperation,
    answer: Observation,
    *,
    items: list[object],
    owner: Identity,
) -> Iterator[Outcome]:
    """Check that every item of a batch of good items that succeeded is stored: that reads by the
    ids of the results show those, and the list all of them.
    """
    what = f"{operation.name} with {len(items)} good items"
    if not answer.ok or answer.status == 202 or not accepts_all(session, answer):
        yield not_exercised(COMPLETE, f"the service answered {answer} to {what}")
        return
    own = [own_texts(item, items) for item in items]
    listed = _check_listed(session, operation, answer, own=own, owner=owner) if all(own) else None
    if listed is not None:
        yield listed
        if listed.kind == "failed":
            return
    reader = batch_reader(session, operation, owner)
    if isinstance(reader, str):
        yield not_exercised(COMPLETE, reader)
        return
    is_listed = listed is not None and listed.kind == "passed"
    sent = SentBatch(tuple(items), frozenset())
    yield reader.check(answer, sent, what, is_listed=is_listed)


def _check_listed(
    session: HttpSession,
    operation: ServiceOperation,
    answer: Observation,
    *,
    own: list[set[str]],
    owner: Identity,
) -> Outcome:
    """Check that the list shows the items of a batch that succeeded. ``own``: what each of them
    alone has.
    """
    what = f"{operation.name} with {len(own)} good items"
    pages: list[Observation] = []
    lost = own
    for is_first in (True, False):
        pages = _read_list(session, operation, owner)
        shown = {text for page in pages for text in _texts(page)}
        lost = [texts for texts in own if not texts & shown]
        if len(lost) == len(own):
            return not_exercised(COMPLETE, f"no list shows the items of {what}")
        if not lost:
            return passed(COMPLETE)
        if is_first:
            session.wait(max(_TICK, session.config.limits.settle), after=answer)
    evidence = [answer, *pages[-1:]]
    results = list_items(answer.json)
    if len(results) >= len(own):  # a list may leave out the end of many items
        read = _read_lost(session, operation, answer, own=own, lost=lost, owner=owner)
        if read is None or read.status not in GONE:
            return not_exercised(COMPLETE, f"a list does not show all items of {what}")
        evidence = [answer, read]
    elif not results:
        return not_exercised(COMPLETE, f"the answer ({answer}) to {what} lists no results")
    message = f"{what} succeeded ({answer}), but {len(lost)} of them are not stored"
    return failed(COMPLETE, message, *evidence, variant="lost")


def _read_lost(
    session: HttpSession,
    operation: ServiceOperation,
    answer: Observation,
    *,
    own: list[set[str]],
    lost: list[set[str]],
    owner: Identity,
) -> Observation | None:
    """Read an item that no list shows, by the id of its result: that with its values, or in its
    place; None if that is not known.
    """
    reader = batch_reader(session, operation, owner)
    for result in reader.results(answer, len(own)) if isinstance(reader, BatchReader) else ():
        texts = {str(value) for _, value in leaves(result.value)}
        is_lost = any(one & texts for one in lost)
        in_place = result.place is not None and own[result.place] in lost
        if result.id is not None and (is_lost or in_place) and isinstance(reader, BatchReader):
            return reader.get(result.id)
    return None


def _check_results(
    operation: ServiceOperation, good: Observation, mixed: Observation, *, count: int
) -> Outcome:
    """Check that the success of a batch with a bad item reports the failure of this item.

    ``good``: the answer to a batch of as many good items. ``count``: how many.
    """
    expected, shown = len(list_items(good.json)), len(list_items(mixed.json))
    what = f"{operation.name} with good items and a bad one"
    if expected != count:
        reason = f"the answer ({good}) to a batch of {count} lists no results"
        return not_exercised(COMPLETE, reason)
    if reports_failure(mixed.json):
        return passed(COMPLETE)
    if shown >= expected or mixed.status == 202:
        return not_exercised(COMPLETE, f"{operation.name} accepted the item that was made bad")
    message = (
        f"the service answered {mixed} to {what}, with {shown} of {count} results and no error"
    )
    return failed(COMPLETE, message, good, mixed)


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
    kind = kind_of_batch(session, operation)
    listing = kind.operation("list") if kind is not None else None
    if kind is None or listing is None or listing.placeholders:
        return []
    query = configured_query(session, listing)
    spec = RequestSpec("GET", listing.template, identity=owner, query=query)
    return read_pages(session, listing, kind.config.pages, spec)
