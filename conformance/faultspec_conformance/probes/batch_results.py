"""The results of a batch: which of them report a success, for which item, and whether what they
name by an id is stored, with the values of the item.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faultspec.judge.batch import BatchItem, items_of
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity
from faultspec_conformance.probes.batch_items import COMPLETE, SentBatch, stated_place, states_index
from faultspec_conformance.probes.choices import choice_members
from faultspec_conformance.probes.effects import (
    GONE,
    confirmed_members,
    differing_members,
    emptied_members,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    list_items,
    not_exercised,
    passed,
)
from faultspec_conformance.session.parameters import id_of_item
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import ResourceKind, last_placeholder

#: Seconds before a read is repeated where the file declares no `settle`.
_TICK = 1.1

#: Other results that are read where one names nothing that is there.
_OTHERS = 4

#: Words of members that report what was not accepted.
_REPORTS = ("error", "fail", "reject", "skip", "invalid", "ignored", "problem")

#: Members of a result that have its status, and the statuses of errors.
_STATUS = re.compile(r".*(status|code)", re.IGNORECASE)
_ERROR_STATUS = re.compile(r"[45]\d\d")


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A result that reports a success. ``id``: that of the resource it names, or None.

    ``place``: that of its item, from 0, or None. ``is_stated``: whether the result says so itself.
    """

    value: object
    id: object
    place: int | None
    is_stated: bool


@dataclass(frozen=True, slots=True)
class BatchReader:
    """Reads the resources that the results of a batch name, as ``owner``."""

    session: HttpSession
    kind: ResourceKind
    read: ServiceOperation
    owner: Identity

    def results(self, answer: Observation, count: int) -> list[BatchResult]:
        """Return the results of a batch of so many items that report a success."""
        every = _every_result(self.session, answer)
        places = _places([value for value, _ in every], count)
        return [
            BatchResult(value, id_of_result(self.kind, value), place, is_stated=stated)
            for (value, is_failed), (place, stated) in zip(every, places, strict=True)
            if not is_failed
        ]

    def get(self, identifier: object) -> Observation:
        """Read a resource."""
        values = dict.fromkeys(self.read.placeholders, identifier)
        spec = RequestSpec("GET", self.read.template, identity=self.owner, values=values)
        return self.session.call(spec)

    def settle(self, answer: Observation) -> None:
        """Wait until reads show what was written."""
        self.session.wait(max(_TICK, self.session.config.limits.settle), after=answer)

    def get_settled(self, identifier: object) -> Observation:
        """Read a resource; once more after a while, if it is not there."""
        found = self.get(identifier)
        if found.status not in GONE:
            return found
        self.settle(found)
        return self.get(identifier)

    def check(
        self, answer: Observation, sent: SentBatch, what: str, *, is_listed: bool = False
    ) -> Outcome:
        """Check that what the last result calls done is stored, with the values of its item; also
        the first one, where results may have another order than the items. ``is_listed``: whether
        a list shows all items.
        """
        results = self.results(answer, len(sent.items))
        known = [one for one in results if one.id is not None]
        if not known:
            return not_exercised(COMPLETE, f"the answer ({answer}) to {what} lists no ids")
        names, count = self._comparable(), Counter(str(one.id) for one in known)
        reason = "" if names else f"no creation of `{self.kind.name}` shows what it stores as sent"
        # A service that stops, or stores a few, loses the last item.
        ends = [max(known, key=lambda one: one.place or 0)]
        failing = {at for at, (_, bad) in enumerate(_every_result(self.session, answer)) if bad}
        in_order = all(one.is_stated for one in known) or (failing == sent.bad and sent.bad)
        if not is_listed and not in_order:
            ends = [known[-1], known[0]]
        for one in {str(one.id): one for one in ends}.values():
            found = self.get_settled(one.id)
            if found.status in GONE and not self._reads_another(answer, one):
                reason = f"the results of {what} name nothing that {self.read.name} reads"
                return not_exercised(COMPLETE, reason)
            if found.status in GONE:
                message = f"{what} lists an item as done ({answer}), and it is not stored"
                return failed(COMPLETE, message, answer, found, variant="lost")
            if not found.ok:
                return not_exercised(COMPLETE, f"the service answered {found} to {self.read.name}")
            item = _item_of(one, sent, found) if count[str(one.id)] == 1 else None
            if not isinstance(item, dict):
                reason = reason or f"the results of {what} do not say which good items they are of"
                continue
            outcome = self._check_values(answer, one, found, item=item, names=names)
            if outcome is not None:
                return outcome
        return not_exercised(COMPLETE, reason) if reason else passed(COMPLETE)

    def _reads_another(self, answer: Observation, lost: BatchResult) -> bool:
        """Whether a read finds what another result of this batch or of an earlier one names. Then
        results have the ids of reads, and not names of the items or ids of their own.
        """
        name, every = answer.exchange.operation, self.session.observations.exchanges
        earlier = [one for one in every if one.ok and one.exchange.operation == name]
        ids: dict[str, object] = {}
        for batch in (answer, *reversed(earlier)):
            own = [one.id for one in self.results(batch, 0) if one.id is not None]
            ids |= {str(one): one for one in (*own[:1], *own[-1:])}
        others = [one for name, one in ids.items() if name != str(lost.id)]
        return any(self.get(one).ok for one in others[:_OTHERS])

    def _check_values(
        self,
        answer: Observation,
        result: BatchResult,
        found: Observation,
        *,
        item: dict[str, object],
        names: set[str],
    ) -> Outcome | None:
        """Return the failure that a read lacks values of the item of a result, or None."""
        if not _lacking(item, names, found):
            return None
        self.settle(found)
        again = self.get(result.id)
        lacking = _lacking(item, names, again) if again.ok else set()
        if not lacking:
            return None
        name = min(lacking)
        message = f"{answer.exchange.operation} lists an item as done ({answer}), but a read does "
        message += f"not show the `{name}` of the {self.kind.name} that was sent"
        pointer = f"/{name}"
        return failed(COMPLETE, message, answer, again, pointer=pointer, variant="differs")

    def _comparable(self) -> set[str]:
        """Return the members of the kind that a creation of the run has stored as they were sent,
        but for choices, which may go on by themselves.
        """
        create = self.kind.operation("create")
        made = self.session.knowledge.created.get(self.kind.name)
        if create is None or made is None or not isinstance(made.body, dict):
            return set()
        found = confirmed_members(made.creation, made.body)
        if not found:
            found = confirmed_members(self.get(made.id), made.body)
        return found - choice_members(self.session, create)


def batch_reader(
    session: HttpSession, operation: ServiceOperation, owner: Identity
) -> BatchReader | str:
    """Return what reads the items of a batch by their ids, or why nothing does."""
    kind = kind_of_batch(session, operation)
    read = kind.operation("read") if kind is not None else None
    if kind is None or read is None or len(read.placeholders) != 1:
        return f"no operation reads the items of {operation.name} by an id alone"
    return BatchReader(session, kind, read, owner)


def kind_of_batch(session: HttpSession, operation: ServiceOperation) -> ResourceKind | None:
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


def id_of_result(kind: ResourceKind, result: object) -> object:
    """Return the id in a result of a batch, or in an object inside it; None without one."""
    parts = [result, *(result.values() if isinstance(result, dict) else ())]
    found = (id_of_item(part, last_placeholder(kind)) for part in parts if isinstance(part, dict))
    return next((one for one in found if one is not None), None)


def accepts_all(session: HttpSession, answer: Observation) -> bool:
    """Whether the answer to a batch has no failure of an item."""
    declared = _declared_results(session, answer)
    if declared:
        return not any(item.failed for item in declared)
    return answer.status != 207 and not reports_failure(answer.json)


def reports_failure(body: object) -> bool:
    """Whether a member of a body reports items that were not accepted."""
    return any(
        any(word in pointer.casefold() for word in _REPORTS) and value not in (None, 0, [], {}, "")
        for pointer, value in leaves(body)
    )


def failed_results(session: HttpSession, answer: Observation) -> list[object]:
    """Return the results of a batch that report a failure."""
    return [value for value, is_failed in _every_result(session, answer) if is_failed]


def own_texts(item: object, items: Sequence[object]) -> set[str]:
    """Return the values of an item that no other item has."""
    others = {str(value) for other in items if other is not item for _, value in leaves(other)}
    return {str(value) for _, value in leaves(item)} - others


def _declared_results(session: HttpSession, answer: Observation) -> list[BatchItem]:
    """Return the results of a batch where a surface says they are; none if no surface does."""
    for surface in session.taxonomy.surfaces.values():
        items = items_of(surface.batch, answer.json) if surface.batch is not None else None
        if items:
            return items
    return []


def _every_result(session: HttpSession, answer: Observation) -> list[tuple[object, bool]]:
    """Return the results of a batch, each with whether it reports a failure."""
    declared = _declared_results(session, answer)
    if declared:
        return [(item.value, item.failed) for item in declared]
    return [
        (result, reports_failure(result) or _has_error_status(result))
        for result in list_items(answer.json)
    ]


def _has_error_status(result: object) -> bool:
    """Whether a member of a result is a status of an error, such as 422."""
    return any(
        isinstance(value, int | str) and _ERROR_STATUS.fullmatch(str(value)) is not None
        for pointer, value in leaves(result)
        if _STATUS.fullmatch(pointer.rpartition("/")[2])
    )


def _places(results: list[object], count: int) -> Iterator[tuple[int | None, bool]]:
    """Yield the place of the item of each result, from 0, and whether the result states it: without
    that, results of all items have the order of the items. Places that may count from 0 or from 1
    are not known, and neither are those of a `position` out of order: it may be that of the
    resource among others.
    """
    stated = [stated_place(one) for one in results]
    known = [place for place in stated if place is not None]
    of_resources = known != sorted(known) and not any(map(states_index, results))
    if len(known) < len(results) or len(set(known)) < len(known) or of_resources:
        in_order = len(results) == count and not known
        yield from ((at if in_order else None, False) for at in range(len(results)))
        return
    first = 0 if 0 in known else 1 if count in known else None
    for place in known:
        at = place - first if first is not None else -1
        yield (at if 0 <= at < count else None), True


def _item_of(result: BatchResult, sent: SentBatch, found: Observation) -> object:
    """Return the item of a result; None if that is not known. Where the result does not state its
    place, and a read shows what one item alone has, it is that item.
    """
    shown = {str(value) for _, value in leaves(found.json)}
    if not result.is_stated:
        own = [one for one in sent.good if own_texts(one, sent.items) & shown]
        if len(own) == 1:
            return own[0]
    place = result.place
    return None if place is None or place in sent.bad else sent.items[place]


def _lacking(item: dict[str, object], names: set[str], found: Observation) -> set[str]:
    """Return the members of an item that a read shows with other values, or as empty."""
    differing = differing_members(item, names & item.keys(), found)
    return {*differing} | (emptied_members(item, found) & names)
