"""Errors that are told once more: each that is answered on one surface also comes, alike, on those that repeat it.

What is heard unasked are the notifications of a peer on standard streams. They may come before the answer or after it; who
sends them when there is time may take until the end of the run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.contract.model import Contract
from faultspec.exchange.body import resolve
from faultspec.exchange.finding import Level
from faultspec.judge.collector import quote_pointer
from faultspec.judge.match import match_envelope
from faultspec.language.model import Surface, Taxonomy
from faultspec.language.values import same, shown
from faultspec.runtime.nodes import child
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import CallSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed

_CLAUSE = "surface/repeated"

#: Seconds after the last answer for which a notification that is still due is waited for, and so many at a time.
GRACE, _MOMENT = 1.0, 0.1

#: Slots that callers act on; others may tell of each carrier what is its own, such as when it was sent.
_ACTED_ON = frozenset({"code", "boundary", "domain", "retriable", "status", "actions"})


def notifications(world: CallSession) -> Iterator[Outcome]:
    """Whether each error that was answered came once more; what is still due is waited for."""
    repeating = tuple(
        surface
        for surface in world.taxonomy.surfaces.values()
        if surface.repeats and surface.transport == "event"
    )
    if not repeating:
        sinks = [
            f"`{surface.name}`" for surface in world.taxonomy.surfaces.values() if surface.repeats
        ]
        if sinks:
            yield not_exercised(
                _CLAUSE, f"what is written to {' and '.join(sinks)} is not seen from here"
            )
        return
    if not world.hears:
        names = " and ".join(f"`{each.name}`" for each in repeating)
        yield not_exercised(
            _CLAUSE, f"what comes unasked, on {names}, is heard over standard streams alone"
        )
        return
    waited = 0.0
    while (
        world.ended is None and waited < GRACE and _due(world.contract, repeating, world.exchanges)
    ):
        world.linger(_MOMENT)
        waited += _MOMENT
    if world.ended is None:
        yield from repeated(world.contract, repeating, world.exchanges, world.unkept)


def _due(
    contract: Contract, repeating: Iterable[Surface], exchanges: Sequence[Observation]
) -> bool:
    return any(each.kind == "broken" for each in repeated(contract, repeating, exchanges))


def repeated(
    contract: Contract,
    repeating: Iterable[Surface],
    exchanges: Sequence[Observation],
    unkept: int = 0,
) -> Iterator[Outcome]:
    """What the exchanges of a run, in the order in which they were heard, say of the surfaces that repeat others; ``unkept``
    messages were heard and not kept.
    """
    for surface in repeating:
        origins = tuple(_origins(contract.taxonomy, surface))
        level: Level = (
            "warning"
            if any(each.level == "should" for each in (surface, *origins[:-1]))
            else "error"
        )
        answered = [
            exchange
            for exchange in exchanges
            if _is_due(contract.taxonomy, surface, origins, exchange)
        ]
        told = [
            exchange
            for exchange in exchanges
            if exchange.judgement.is_error and exchange.judgement.surface == surface.name
        ]
        left = []
        for sent in answered:
            own = next(
                (
                    each
                    for each in told
                    if each.code == sent.code and difference(contract, sent, each) is None
                ),
                None,
            )
            if own is None:
                left.append(sent)
            else:
                told.remove(own)
                yield passed(_CLAUSE)
        for sent in left:
            other = next((each for each in told if each.code == sent.code), None)
            if other is not None:
                told.remove(other)
                pointer, message = difference(contract, sent, other) or ("", "")
                message = f"`{surface.name}` repeats {sent} otherwise: {message}"
                yield failed(
                    _CLAUSE,
                    message,
                    sent,
                    other,
                    level=level,
                    pointer=pointer,
                    at=sent.exchange.operation,
                )
            elif unkept:
                yield not_exercised(
                    _CLAUSE, f"{unkept} messages that came unasked were too many to be kept"
                )
            else:
                message = f"`{surface.name}` repeats every error, and {sent} was not told there within {GRACE:g} s"
                yield failed(_CLAUSE, message, sent, level=level)


def _origins(taxonomy: Taxonomy, surface: Surface) -> Iterator[Surface]:
    """The surfaces that one repeats, the nearest first."""
    seen = {surface.name}
    following = taxonomy.surfaces.get(surface.repeats or "")
    while following is not None and following.name not in seen:
        seen.add(following.name)
        yield following
        following = taxonomy.surfaces.get(following.repeats or "")


def _is_due(
    taxonomy: Taxonomy, surface: Surface, origins: Sequence[Surface], sent: Observation
) -> bool:
    """Whether an answer is an error that the surface has to repeat, and can."""
    if sent.code is None or sent.judgement.surface not in {each.name for each in origins}:
        return False
    code = taxonomy.codes.get(sent.code)
    if code is None:
        return True  # of an operation, which lists its own
    listed = surface.codes is None or code.name in surface.codes
    return listed and (not code.envelopes or not set(surface.envelopes).isdisjoint(code.envelopes))


class _NotificationReader(NamedTuple):
    """What an error says, by slot, and where."""

    slots: Mapping[str, object]
    where: Mapping[str, str]
    closed: frozenset[str]


def difference(contract: Contract, sent: Observation, other: Observation) -> tuple[str, str] | None:
    """Where what callers act on is not the same in two errors, and what stands there in each; None: it is.

    Of the details those that both have count, and of those no numbers: a wait that is left gets shorter.
    """
    one, two = _read(contract, sent), _read(contract, other)
    for slot in one.slots:
        if slot in two.slots and slot in _ACTED_ON | (one.closed & two.closed):
            answered, repeated = one.slots[slot], two.slots[slot]
            if not _alike(answered, repeated):
                return two.where[slot], _said(two.where[slot], answered, repeated)
    details, others = one.slots.get("details"), two.slots.get("details")
    if isinstance(details, dict) and isinstance(others, dict):
        for key, answered in details.items():
            if (
                key in others
                and isinstance(answered, str | bool)
                and not same(answered, others[key])
            ):
                pointer = child(two.where["details"], key)
                return pointer, _said(pointer, answered, others[key])
    return None


def _read(contract: Contract, sent: Observation) -> _NotificationReader:
    claim = contract.claim(sent.exchange)
    body = resolve(sent.json, claim.surface.at)[1] if claim is not None else None
    best = match_envelope(contract, claim, body) if claim is not None else None
    if claim is None or best is None:
        return _NotificationReader({}, {}, frozenset())
    envelope, read = best.envelope, best.read
    where = {slot: claim.surface.at + pointer for slot, pointer in read.where.items()}
    fields = envelope.fields.items()
    return _NotificationReader(
        read.slots,
        where,
        frozenset(slot for slot, each in fields if each.schema.vocabulary or each.schema.enum),
    )


def _alike(one: object, two: object) -> bool:
    """The same; of a list the order says nothing."""
    if isinstance(one, list) and isinstance(two, list):
        return all(each in two for each in one) and all(each in one for each in two)
    return same(one, two)


def _said(pointer: str, answered: object, told: object) -> str:
    return f"{quote_pointer(pointer)} is {shown(told)}, and the answer has {shown(answered)}"
