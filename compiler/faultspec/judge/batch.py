"""Answers with an outcome of each item: a status, a flag or an error, and an envelope of each that
failed.
"""

from typing import NamedTuple

from faultspec.contract.model import Claim
from faultspec.judge.collector import FindingCollector
from faultspec.judge.envelope import judge_envelope
from faultspec.judge.headers import judge_repeated
from faultspec.judge.match_envelope import AnswerContext, match_envelope
from faultspec.language.model import Batch, Operation
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import resolve


class BatchItem(NamedTuple):
    """One outcome at the pointer ``at``; ``body``: the place of an envelope in it, if any.

    ``succeeded``: what a flag in the place of the status says; None without one.
    """

    at: str
    value: object
    status: int | None
    body: str | None
    succeeded: bool | None = None

    @property
    def failed(self) -> bool:
        """Whether the item's status, or its flag, is that of an error."""
        return self.succeeded is False or (self.status is not None and self.status >= 400)


def items_of(batch: Batch, body: object) -> list[BatchItem] | None:
    """The outcomes in a body, from the first declared place that holds a list, if one does.

    Where the surface names no place of the status, and no outcome has one, those with an envelope
    failed.
    """
    for pointer in batch.items:
        _, found = resolve(body, pointer)
        if isinstance(found, list):
            items = [
                _item(batch, child(pointer, index), value) for index, value in enumerate(found)
            ]
            if batch.status or any(item.status is not None for item in items):
                return items
            return [item._replace(succeeded=item.body is None) for item in items]
    return None


def _item(batch: Batch, at: str, value: object) -> BatchItem:
    found = [resolve(value, pointer)[1] for pointer in batch.status_places]
    flag = next((each for each in found if isinstance(each, bool)), None)
    statuses = (each for each in found if isinstance(each, int) and not isinstance(each, bool))
    bodies = (pointer for pointer in batch.body if isinstance(resolve(value, pointer)[1], dict))
    return BatchItem(at, value, next(statuses, None), body=next(bodies, None), succeeded=flag)


def judge_batch(
    findings: FindingCollector, claim: Claim, body: object, operation: Operation | None
) -> tuple[str, ...]:
    """Judge the items in a body and return the places of the failed ones."""
    batch = claim.surface.batch
    items = items_of(batch, body) if batch is not None else None
    if batch is None or items is None:
        return ()
    findings.exercise("batch/items")
    failed = [item for item in items if item.failed or _carries_error(findings, claim, item)]
    whole, source = findings.status, claim.surface.source
    for item in items:
        if item.status is None and (item.succeeded is None or whole == _MULTI_STATUS):
            findings.add_at("batch/items", item.at, "has no status", source=source)
        elif item.failed:
            findings.status = item.status
            _judge_failed(findings, claim, item, operation)
            findings.status, findings.code = whole, None
        elif item in failed:
            findings.add_at(
                "batch/items",
                item.at,
                f"{_describe(item)} but carries an error",
                source=source,
            )
    if batch.mixed_only and (whole == _MULTI_STATUS or claim.surface.match.statuses):
        findings.exercise("batch/mixed-only")
        if len(failed) in (0, len(items)):
            outcome = "the batch has no items"
            if items:
                outcome = "every item failed" if failed else "every item succeeded"
            findings.add(
                "batch/mixed-only",
                f"{outcome}, but the answer is {whole}; that status is for outcomes that differ",
                source=source,
            )
    return tuple(item.at for item in failed)


#: The status whose outcomes have statuses (RFC 4918, 13).
_MULTI_STATUS = 207


def _describe(item: BatchItem) -> str:
    if item.status is not None:
        return f"has the status {item.status}"
    return "says that it succeeded" if item.succeeded else "says that it failed"


def _judge_failed(
    findings: FindingCollector, claim: Claim, item: BatchItem, operation: Operation | None
) -> None:
    """Judge the envelope of a failed item."""
    body = resolve(item.value, item.body)[1] if item.body is not None else None
    context = AnswerContext(item.status, operation=operation)
    match = match_envelope(findings.contract, claim, body, context)
    if item.body is None or match is None or "code" not in match.read.slots:
        predicate = f"{_describe(item)} but carries no envelope"
        findings.add_at("batch/items", item.at, predicate, source=claim.surface.source)
        return
    # Beside the members of its envelope, an item has a status and an id.
    own_envelope = item.body == ""
    error = judge_envelope(
        findings,
        claim,
        match,
        at=item.at + item.body,
        operation=operation,
        extras=not own_envelope,
    )
    if error is not None:
        judge_repeated(findings, error)


def _carries_error(findings: FindingCollector, claim: Claim, item: BatchItem) -> bool:
    """Whether an item carries an envelope with a declared code, whatever its status."""
    if item.body is None:
        return False
    match = match_envelope(findings.contract, claim, resolve(item.value, item.body)[1])
    if match is None or not match.read.fits:
        return False
    code = match.read.slots.get("code")
    wires = findings.contract.numbering_in(match.envelope).wires
    return isinstance(code, str | int) and code in wires
