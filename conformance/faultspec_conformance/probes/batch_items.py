"""Which items a batch reports as bad: by their outcomes, or by the list of a batch that fails as a
whole.
"""

import re
from dataclasses import dataclass, replace

from faultspec.contract.model import Contract
from faultspec.exchange.finding import Level
from faultspec.judge.batch import BatchItem, items_of
from faultspec.language.model import Batch
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observation import (
    Observation,
    error_details,
    failed,
    not_exercised,
    passed,
)

_NAMED = "batch/named-items"

#: The status of an answer with outcomes that differ (RFC 4918, 11.1).
_MULTI_STATUS = 207

#: The clause about bad items that an answer does not show.
COMPLETE = "batch/complete"

#: Members of an entry that say which item it is about, without case and punctuation.
_PLACE = re.compile(
    r"(item|row|line)?(index|idx|position|number|pointer|path|field|i)|item|row|line"
)


@dataclass(frozen=True, slots=True)
class SentBatch:
    """The items of a batch that was sent. ``bad``: the places of the bad ones, from 0."""

    items: tuple[object, ...]
    bad: frozenset[int]

    @property
    def good(self) -> list[object]:
        """The other items."""
        return [item for place, item in enumerate(self.items) if place not in self.bad]

    def describe(self, answer: Observation) -> str:
        """Name the batch in a message about its answer."""
        return f"{answer.exchange.operation} with {len(self.bad)} bad of {len(self.items)} items"


def check_named_items(
    contract: Contract,
    rule: Batch | None,
    answer: Observation,
    sent: SentBatch,
    *,
    listed_at: str | None,
) -> Outcome:
    """Check that the items that an answer reports as bad are the bad ones.

    ``listed_at``: the details key that lists them if the whole batch fails.
    """
    what = sent.describe(answer)
    outcomes = items_of(rule, answer.json) if rule is not None and answer.ok else None
    if outcomes is not None:
        return _check_outcomes(outcomes, answer, sent, what)
    listed = error_details(contract, answer).get(listed_at or "")
    if not isinstance(listed, list) or not listed:
        return not_exercised(_NAMED, f"the answer ({answer}) to {what} lists no items")
    places = [_place(entry, sent) for entry in listed]
    named = frozenset(place for place in places if place is not None)
    if None in places:
        reason = f"`{listed_at}` names items in a form that is not known"
        return not_exercised(_NAMED, reason)
    counted = frozenset(place + 1 for place in sent.bad)
    # An item with several faults may be listed once for each.
    if named in (sent.bad, counted):
        return passed(_NAMED)
    incomplete = len(named) == len(places) and (named < sent.bad or named < counted)
    listed, expected = _list_places(named), _list_places(sent.bad)
    message = f"`{listed_at}` lists the items {listed}; expected {expected}"
    # A service may stop at the first bad item.
    level: Level = "warning" if incomplete else "error"
    pointer = f"/details/{listed_at}"
    return failed(_NAMED, f"{what}: {message}", answer, level=level, pointer=pointer)


def check_outcome_of_each(rule: Batch | None, answer: Observation, sent: SentBatch) -> Outcome:
    """Check that a 207 with outcomes has one of each item, or of the bad ones alone. An answer that
    reports items elsewhere too, or several by one outcome, is not counted.
    """
    is_listed = rule is not None and answer.status == _MULTI_STATUS and _has_one_list(answer.json)
    outcomes = items_of(rule, answer.json) if rule is not None and is_listed else None
    failures = sum(item.failed for item in outcomes or ())
    if not outcomes or failures in (0, len(outcomes)) or len(outcomes) >= len(sent.items):
        return passed(COMPLETE)
    if any(item.status is None or _has_list(item.value) for item in outcomes):
        return passed(COMPLETE)
    message = f"{sent.describe(answer)}: the answer ({answer}) has {len(outcomes)} outcomes, "
    message += f"{failures} of failures; the other items have none"
    return failed(COMPLETE, message, answer, variant="outcomes")


def _has_one_list(body: object) -> bool:
    """Whether a body is a list, or an object whose only lists and numbers are one list."""
    if not isinstance(body, dict):
        return isinstance(body, list)
    counts = [value for value in body.values() if isinstance(value, list | dict | int | float)]
    return len(counts) == 1 and isinstance(counts[0], list)


def _has_list(outcome: object) -> bool:
    """Whether an outcome may be that of several items."""
    members = outcome.values() if isinstance(outcome, dict) else ()
    return any(isinstance(member, list) for member in members)


def _check_outcomes(
    outcomes: list[BatchItem], answer: Observation, sent: SentBatch, what: str
) -> Outcome:
    """Check that the outcomes of an answer fail where the items are bad."""
    if len(outcomes) == len(sent.good) > 0 and not any(item.failed for item in outcomes):
        message = f"{what}: the answer has {len(outcomes)} outcomes, and no failure"
        return failed(_NAMED, message, answer, variant="dropped")
    if len(outcomes) != len(sent.items):
        return not_exercised(_NAMED, f"the answer to {what} has another number of outcomes")
    if any(item.status is None and item.succeeded is None for item in outcomes):
        return not_exercised(_NAMED, f"the answer to {what} has outcomes without a status")
    stated = ((item, stated_place(item.value)) for item in outcomes)
    failing = frozenset(
        at if place is None else place for at, (item, place) in enumerate(stated) if item.failed
    )
    if failing == sent.bad or failing == {place + 1 for place in sent.bad}:
        return passed(_NAMED)
    if len(failing) != len(sent.bad):
        reason = f"{len(failing)} items of {what} failed"
        return not_exercised(_NAMED, reason)
    if failing in (
        frozenset(range(len(failing))),
        frozenset(range(len(outcomes) - len(failing), len(outcomes))),
    ):
        reason = f"the outcomes of {what} may have another order than the items"
        return not_exercised(_NAMED, reason)
    message = f"{what}: the items {_list_places(failing)} failed; expected {_list_places(sent.bad)}"
    return failed(_NAMED, message, answer)


def _list_places(places: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(places))) or "none"


#: Names of members with the place of an item in its batch.
_INDEXES = ("index", "itemindex")


def _letters(key: object) -> str:
    return re.sub(r"[^a-z]", "", str(key).lower())


def stated_place(outcome: object) -> int | None:
    """Return the place of its item that an outcome states, or None."""
    for key, value in outcome.items() if isinstance(outcome, dict) else ():
        if _letters(key) in (*_INDEXES, "position") and isinstance(value, int):
            return value
    return None


def states_index(outcome: object) -> bool:
    """Whether an outcome has the index of its item, and not a position of the resource."""
    return isinstance(outcome, dict) and any(_letters(key) in _INDEXES for key in outcome)


def _place(entry: object, sent: SentBatch) -> int | None:
    """Return the place of the item that an entry of a list is about; None if that is unknown."""
    if isinstance(entry, bool):
        return None
    if isinstance(entry, int):
        return entry
    if isinstance(entry, str):
        numbers = re.findall(r"\d+", entry)
        return int(numbers[0]) if len(numbers) == 1 else None
    if entry in sent.items:
        return sent.items.index(entry) if sent.items.count(entry) == 1 else None
    for key, value in entry.items() if isinstance(entry, dict) else ():
        if _PLACE.fullmatch(_letters(key)):
            place = _place(value, sent)
            if place is not None:
                return place
    return None


def bad_items_key(contract: Contract, answer: Observation) -> str | None:
    """Return the details key under which a refused batch lists its bad items: that of a surface
    that the request belongs to, whatever the statuses of its answers are.
    """
    return next(
        (
            claim.surface.bad_items
            for claim in contract.claims
            if claim.surface.bad_items is not None
            and claim.surface.transport == answer.exchange.transport
            and replace(claim.matcher, statuses=()).claims(answer.exchange)
        ),
        None,
    )
