"""Multi-status answers: outcomes that differ, each with a status, each failed one with an envelope."""

from typing import NamedTuple

from faultspec.contract.model import Claim
from faultspec.exchange.body import resolve
from faultspec.judge.bench import FindingCollector
from faultspec.judge.envelope import judge_envelope, match_envelope
from faultspec.judge.headers import judge_repeated
from faultspec.judge.words import place
from faultspec.language.model import Batch, Operation
from faultspec.runtime.nodes import child


class BatchItem(NamedTuple):
    """One outcome of a batch at ``at``; ``body`` is its envelope's place relative to it, None if there is none."""

    at: str
    value: object
    status: int | None
    body: str | None


def items_of(batch: Batch, body: object) -> list[BatchItem] | None:
    """The outcomes in a body, by the first of the declared places that holds a list; None where none does."""
    for pointer in batch.items:
        there, found = resolve(body, pointer)
        if there and isinstance(found, list):
            return [_item(batch, child(pointer, index), value) for index, value in enumerate(found)]
    return None


def _item(batch: Batch, at: str, value: object) -> BatchItem:
    statuses = (resolve(value, pointer)[1] for pointer in batch.status)
    status = next(
        (each for each in statuses if isinstance(each, int) and not isinstance(each, bool)), None
    )
    bodies = (pointer for pointer in batch.body if isinstance(resolve(value, pointer)[1], dict))
    return BatchItem(at, value, status, next(bodies, None))


def judge_batch(
    bench: FindingCollector, claim: Claim, body: object, operation: Operation | None
) -> tuple[str, ...]:
    """Judge the outcomes in a body and return the places of the failed ones."""
    batch = claim.surface.batch
    items = items_of(batch, body) if batch is not None else None
    if batch is None or items is None:
        return ()
    bench.exercise("batch/items")
    failed = [each for each in items if _failed(each) or _is_an_error(bench, claim, each)]
    whole = bench.status
    for item in items:
        if item.status is None:
            bench.broken(
                "batch/items",
                f"{place(item.at)} has no status",
                pointer=item.at,
                source=claim.surface.source,
            )
        elif item in failed and not _failed(item):
            bench.broken(
                "batch/items",
                f"{place(item.at)} says {item.status} and carries an error",
                pointer=item.at,
                source=claim.surface.source,
            )
        elif item in failed:
            bench.status = item.status
            _judge_failed(bench, claim, item, operation)
            bench.status, bench.code = whole, None
    if batch.mixed_only:
        bench.exercise("batch/mixed-only")
        if len(failed) in (0, len(items)):
            what = (
                "there are no outcomes"
                if not items
                else "every item failed"
                if failed
                else "every item succeeded"
            )
            bench.broken(
                "batch/mixed-only",
                f"{what}, yet the answer is {whole}; that status is for outcomes that differ",
                source=claim.surface.source,
            )
    return tuple(item.at for item in failed)


def _judge_failed(
    bench: FindingCollector, claim: Claim, item: BatchItem, operation: Operation | None
) -> None:
    body = resolve(item.value, item.body)[1] if item.body is not None else None
    best = match_envelope(bench.contract, claim, body)
    if item.body is None or best is None or "code" not in best.read.slots:
        bench.broken(
            "batch/items",
            f"{place(item.at)} failed with {item.status} and carries no envelope",
            pointer=item.at,
            source=claim.surface.source,
        )
        return
    # An item that is its own envelope has a status and an id beside it.
    told = judge_envelope(
        bench, claim, best, at=item.at + item.body, operation=operation, extras=item.body != ""
    )
    if told is not None:
        judge_repeated(bench, told)


def _failed(item: BatchItem) -> bool:
    return item.status is not None and item.status >= 400


def _is_an_error(bench: FindingCollector, claim: Claim, item: BatchItem) -> bool:
    """Whether an item carries an envelope with a declared code, whatever its status says."""
    if item.body is None:
        return False
    best = match_envelope(bench.contract, claim, resolve(item.value, item.body)[1])
    if best is None or not best.read.fits:
        return False
    code = best.read.slots.get("code")
    return isinstance(code, str | int) and code in bench.contract.wires
