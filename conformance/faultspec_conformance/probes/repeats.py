"""Repeated errors: each error of one surface also comes, with equal slots, on the surfaces that
repeat it.

The notifications of a peer on standard streams arrive unasked, and a configuration may name the
file of a log. They may come before the answer or after it; a service that sends them when it has
time may take until the end of the run.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from faultspec.contract.model import Contract
from faultspec.exchange.finding import Level
from faultspec.judge.collector import quote_pointer
from faultspec.judge.decode import decode_answer
from faultspec.judge.match_envelope import context_of, match_envelope
from faultspec.language.model import Surface, Taxonomy
from faultspec.language.values import are_equal, shorten, show
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import resolve
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed
from faultspec_conformance.session.observations import Note, NotRun
from faultspec_conformance.session.sinks import Sink

_CLAUSE = "surface/repeated"

#: Seconds that the probe waits for notifications after the last answer, and of each wait.
GRACE, _MOMENT = 1.0, 0.1

#: Characters of a line of a log that a message quotes.
_QUOTED = 80

#: Slots that callers act on. Others may differ from carrier to carrier, such as the time of
#: sending.
_ACTED_ON = frozenset({"code", "boundary", "domain", "retriable", "status", "actions"})


def repeated_errors(session: Session) -> Iterator[Outcome | NotRun | Note]:
    """Check that each error came once more; wait for those that have not come yet."""
    surfaces = session.taxonomy.surfaces.values()
    repeaters = [surface for surface in surfaces if surface.repeats]
    session.read_sinks()
    written = {sink.surface for sink in session.sinks}
    unreadable = {sink.surface for sink in session.sinks if not sink.is_readable}
    repeaters = [surface for surface in repeaters if surface.name not in unreadable]
    repeating = [
        surface for surface in repeaters if surface.transport == "event" or surface.name in written
    ]
    if not repeating and repeaters:
        for surface in repeaters:
            yield not_exercised(_CLAUSE, _why_unobserved(surface))
        return
    heard = [surface for surface in repeating if surface.transport == "event"]
    if heard and not session.hears:
        names = " and ".join(f"`{surface.name}`" for surface in heard)
        reason = f"JSON-RPC over HTTP delivers no unsolicited messages, such as those on {names}"
        yield not_exercised(_CLAUSE, reason)
        repeating = [surface for surface in repeating if surface not in heard]
    if heard and not repeating:
        return

    def check_all() -> list[Outcome]:
        return list(
            check_repeated(
                session.contract,
                repeating,
                session.observations.exchanges,
                session.unkept,
                remarks=_remarks(session),
            )
        )

    waited = 0.0
    while session.observations.ended is None and waited < GRACE:
        if not any(outcome.kind == "failed" for outcome in check_all()):
            break
        session.linger(_MOMENT)
        waited += _MOMENT
    if session.observations.ended is None:
        yield from check_all()
        for surface in repeaters:
            if surface not in (*repeating, *heard):
                yield _unchecked_outcome(surface, _why_unobserved(surface))
    yield from _check_sinks(session)


def _why_unobserved(surface: Surface) -> str:
    """Return why a run does not see what is written to a surface."""
    return (
        f"the configuration does not say where `{surface.name}` is written: add "
        f"`sinks: {{{surface.name}: FILE}}`"
    )


def _check_sinks(session: Session) -> Iterator[Outcome | NotRun | Note]:
    """Check that each sink had records that can be read."""
    surfaces = session.taxonomy.surfaces
    for sink in session.sinks:
        number, place = sink.unread.total(), f"the sink of `{sink.surface}`, {sink.path}"
        reasons, repeats = "; ".join(sink.unread), surfaces[sink.surface].repeats
        if sink.problem is not None and not sink.records:
            yield NotRun(f"{place}, {sink.problem}")
        elif number and not sink.records:
            yield NotRun(f"{place}, has {number} lines, of which none can be read: {reasons}")
        elif number and repeats:
            reason = f"{number} lines of {place}, cannot be read: {reasons}"
            yield Outcome(_CLAUSE, "undecided", reason)
        elif number:
            yield Note(f"{number} lines of {place}, cannot be read: {reasons}")
        elif not sink.records and not repeats:
            yield NotRun(f"nothing was appended to {place}")
        if sink.records and not sink.errors and not repeats and _has_logged_code(session, sink):
            which = f"{sink.records} records, of which none is an error by `error_when`"
            yield NotRun(f"{place}, has {which} of the surface, though the service had errors")


def _has_logged_code(session: Session, sink: Sink) -> bool:
    """Whether the service answered an error whose code the surface of a sink has."""
    listed = session.taxonomy.surfaces[sink.surface].codes
    return any(
        seen.judgement.is_error
        and seen.code is not None
        and seen.exchange.transport != "log"
        and (listed is None or seen.code in listed)
        for seen in session.observations.exchanges
    )


def _remarks(session: Session) -> Mapping[str, str]:
    """The reasons for which an error may not have come in a sink, by surface."""
    found = {}
    for sink in session.sinks:
        number = sink.unread.total()
        if sink.problem is not None:
            found[sink.surface] = f"; {sink.path} {sink.problem}"
        elif sink.records and not sink.errors:
            which = "of which none is an error by `error_when`"
            found[sink.surface] = f"; {sink.records} records were read there, {which}"
        elif number:
            first = shorten(sink.first_unread.decode("utf-8", "replace"), _QUOTED)
            found[sink.surface] = f"; {number} lines there cannot be read, the first is {first!r}"
    return found


def check_repeated(
    contract: Contract,
    repeating: Iterable[Surface],
    exchanges: Sequence[Observation],
    unkept: int = 0,
    *,
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Outcome]:
    """Check the exchanges of a run, in order, against the surfaces that repeat others.

    ``unkept``: unsolicited messages that were not kept. ``remarks``: by surface, what may explain
    that an error is missing, after a semicolon.
    """
    for surface in repeating:
        origins = tuple(_origins(contract.taxonomy, surface))
        level: Level = (
            "warning"
            if any(source.level == "should" for source in (surface, *origins[:-1]))
            else "error"
        )
        repetitions = [
            seen
            for seen in exchanges
            if seen.judgement.is_error and seen.judgement.surface == surface.name
        ]
        left = []
        due = [
            answer for answer in exchanges if _is_due(contract.taxonomy, surface, origins, answer)
        ]
        if not due:
            yield _unchecked_outcome(surface, "no observed error was due on it")
        identities = _Identities(contract, (*due, *repetitions))
        for answer in due:
            equal = _first_equal(contract, answer, repetitions, identities)
            if equal is None:
                left.append(answer)
            else:
                repetitions.remove(equal)
                yield passed(_CLAUSE)
        for answer in left:
            own = identities.find_same(answer, repetitions)
            same_code = (seen for seen in repetitions if seen.code == answer.code)
            other = own[0] if own else next(same_code, None)
            if other is not None:
                repetitions.remove(other)
                pointer, problem = actionable_difference(contract, answer, other) or ("", "")
                yield failed(
                    _CLAUSE,
                    f"`{surface.name}` repeats {answer} with a difference: {problem}",
                    answer,
                    other,
                    level=level,
                    pointer=pointer,
                    operation=answer.exchange.operation,
                )
            elif unkept:
                reason = f"{unkept} unsolicited messages were too many to keep"
                yield not_exercised(_CLAUSE, reason)
            else:
                message = f"`{surface.name}` repeats every error, and {answer} did not come there"
                message += f" within {GRACE:g} s{remarks.get(surface.name, '')}"
                yield failed(_CLAUSE, message, answer, level=level)
        yield from _check_doubled(
            surface, due, left=repetitions, identities=identities, level=level
        )


def _check_doubled(
    surface: Surface,
    due: Sequence[Observation],
    *,
    left: Sequence[Observation],
    identities: "_Identities",
    level: Level,
) -> Iterator[Outcome]:
    """Yield the repetitions beyond the first of one error, by the id that both have.

    A log may tell a failure where it occurs and where it is answered: a warning.
    """
    for seen in left:
        answer = next(iter(identities.find_same(seen, due)), None)
        if answer is not None and answer.code == seen.code:
            message = f"`{surface.name}` repeats {answer} more than once"
            grade: Level = "warning" if surface.transport == "log" else level
            yield failed(_CLAUSE, message, answer, seen, level=grade, variant="twice")


def _unchecked_outcome(surface: Surface, reason: str) -> Outcome:
    return Outcome(_CLAUSE, "undecided", f"`{surface.name}` was not looked at: {reason}")


class _Identities:
    """The ids of errors, by which a repetition belongs to one answer: the request id, and the
    correlation id. An id that several answers have belongs to none.
    """

    def __init__(self, contract: Contract, observations: Iterable[Observation]) -> None:
        correlating = {
            slot
            for envelope in contract.taxonomy.envelopes.values()
            for slot, field in envelope.fields.items()
            if field.echo is not None
        }
        self._ids: dict[int, frozenset[tuple[str, str]]] = {}
        answers: Counter[tuple[str, str]] = Counter()
        for seen in observations:
            values = _read(contract, seen).values
            found = {slot: values.get(slot) for slot in {"request_id", *correlating}}
            ids = {(slot, str(value)) for slot, value in found.items() if _is_id(value)}
            self._ids[id(seen)] = frozenset(ids)
            answers.update(ids if seen.exchange.transport not in _UNASKED else ())
        self._shared = frozenset(key for key, number in answers.items() if number > 1)

    def find_same(self, one: Observation, others: Iterable[Observation]) -> list[Observation]:
        """The others that have an id of this one which several answers do not share."""
        own = self._ids[id(one)] - self._shared
        return [other for other in others if own & self._ids[id(other)]] if own else []


#: Transports of messages that answer no call.
_UNASKED = frozenset({"event", "log"})


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _first_equal(
    contract: Contract,
    answer: Observation,
    repetitions: Sequence[Observation],
    identities: _Identities,
) -> Observation | None:
    """Return the repetition of an answer; of those with its id, if there are any."""
    for seen in identities.find_same(answer, repetitions) or repetitions:
        if seen.code == answer.code and actionable_difference(contract, answer, seen) is None:
            return seen
    return None


def _origins(taxonomy: Taxonomy, surface: Surface) -> Iterator[Surface]:
    """Yield the surfaces that one repeats, the nearest first."""
    known = {surface.name}
    following = taxonomy.surfaces.get(surface.repeats or "")
    while following is not None and following.name not in known:
        known.add(following.name)
        yield following
        following = taxonomy.surfaces.get(following.repeats or "")


def _is_due(
    taxonomy: Taxonomy, surface: Surface, origins: Sequence[Surface], answer: Observation
) -> bool:
    """Whether an answer is an error that the surface has to repeat, and can."""
    if answer.code is None or answer.judgement.surface not in {origin.name for origin in origins}:
        return False
    code = taxonomy.codes.get(answer.code)
    if code is None:
        return True  # an operation's own code
    listed = surface.codes is None or code.name in surface.codes
    # The envelopes of a code choose between those of a surface that has several.
    chooses = len(surface.envelopes) > 1 and bool(code.envelopes)
    return listed and not (chooses and set(surface.envelopes).isdisjoint(code.envelopes))


class _Slots(NamedTuple):
    """The slots of an error: values, pointers, and the slots with a closed list of values."""

    values: Mapping[str, object]
    pointers: Mapping[str, str]
    closed: frozenset[str]


def actionable_difference(
    contract: Contract, answer: Observation, other: Observation
) -> tuple[str, str] | None:
    """Return the pointer of the first difference that callers act on, and a text about it; None if
    there is none.

    Only details that both errors have count, and no numbers, because a remaining wait gets shorter.
    """
    one, two = _read(contract, answer), _read(contract, other)
    compared = _ACTED_ON | (one.closed & two.closed)
    for slot, value in one.values.items():
        if slot in two.values and slot in compared and not _are_equal(value, two.values[slot]):
            return two.pointers[slot], _text(two.pointers[slot], value, two.values[slot])
    details, others = one.values.get("details"), two.values.get("details")
    if isinstance(details, dict) and isinstance(others, dict):
        for key, value in details.items():
            comparable = key in others and isinstance(value, str | bool)
            if comparable and not are_equal(value, others[key]):
                pointer = child(two.pointers["details"], key)
                return pointer, _text(pointer, value, others[key])
    return None


def _read(contract: Contract, observation: Observation) -> _Slots:
    claim = contract.claim(observation.exchange)
    if claim is None:
        return _Slots({}, {}, frozenset())
    exchange = observation.exchange
    body = decode_answer(exchange, claim, bodiless=False)
    context = context_of(exchange, exchange.response.status, contract.operation(exchange), body)
    value = resolve(body.value, claim.surface.at)[1]
    best = match_envelope(contract, claim, value, context)
    if best is None:
        return _Slots({}, {}, frozenset())
    fields = best.envelope.fields.items()
    return _Slots(
        best.read.slots,
        {slot: claim.surface.at + pointer for slot, pointer in best.read.where.items()},
        frozenset(slot for slot, field in fields if field.schema.vocabulary or field.schema.enum),
    )


def _are_equal(one: object, two: object) -> bool:
    """Whether two values are equal; the order of a list does not matter."""
    if isinstance(one, list) and isinstance(two, list):
        return all(item in two for item in one) and all(item in one for item in two)
    return are_equal(one, two)


def _text(pointer: str, value: object, other: object) -> str:
    if isinstance(value, list) and isinstance(other, list):
        missing = [item for item in value if item not in other]
        item = next(iter(missing or [item for item in other if item not in value]), None)
        shown = shorten(json.dumps(item, ensure_ascii=False), _QUOTED)
        which = "lacks an item of the answer" if missing else "has an item that the answer lacks"
        return f"{quote_pointer(pointer)} {which}: {shown}"
    return f"{quote_pointer(pointer)} is {show(other)}, and the answer has {show(value)}"
