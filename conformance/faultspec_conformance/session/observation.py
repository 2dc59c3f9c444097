"""What was asked and answered, and what can be read in it; and what a probe says of it."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from faultspec.exchange.body import resolve
from faultspec.exchange.finding import Finding, Judgement, Level
from faultspec.exchange.model import Exchange
from faultspec.language.model import Taxonomy
from faultspec.runtime.nodes import child
from faultspec.runtime.shape import extract
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.results.model import Outcome

#: The media type of server-sent events.
STREAM = "text/event-stream"

#: Names of server-sent events that tell a failure.
ERROR_EVENTS = frozenset({"error", "failure", "fault"})

#: The clauses that say whether an error has its declared form; the others speak of what is in it.
FORM = frozenset(
    {
        "surface/known",
        "envelope/media-type",
        "envelope/json",
        "envelope/shape",
        "envelope/types",
        "code/declared",
        "code/reserved",
        "code/status",
    }
)

#: Characters of a value that a message quotes.
_BRIEF = 60

#: So much of an answer explains why it was no success.
_QUOTED = 160


class Unanswered(Exception):
    """A request that got no answer; ``no_answer`` says why. Ends the probe, never the run."""

    def __init__(self, no_answer: NoAnswer) -> None:
        super().__init__(no_answer.reason)
        self.no_answer = no_answer


@dataclass(frozen=True, slots=True)
class Observation:
    """An exchange that took place, and the judge's answer to it. ``inner``: the error events of a stream."""

    exchange: Exchange
    judgement: Judgement
    inner: tuple["Observation", ...] = ()

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.exchange.response.status or 0

    @property
    def code(self) -> str | None:
        """The declared code in the answer, or None."""
        return self.judgement.code

    @property
    def ok(self) -> bool:
        """A status of success; where there is none, no error."""
        if self.exchange.response.status is None:
            return not self.judgement.is_error and protocol_error(self.json) is None
        return 200 <= self.status < 300

    @property
    def sound(self) -> bool:
        """Whether the judge found nothing of level error."""
        return not any(finding.level == "error" for finding in self.judgement.findings)

    @property
    def json(self) -> object:
        """The body as JSON; None where it is none."""
        return parsed(self.exchange.response.body)

    def header(self, name: str) -> str | None:
        """A header of the answer."""
        return self.exchange.received(name)

    def __str__(self) -> str:
        if self.exchange.response.status is None:
            number = protocol_error(self.json)
            return self.code or (
                f"error {number}"
                if number is not None
                else "an error"
                if not self.ok
                else "a result"
            )
        return f"{self.status} {self.code}" if self.code else str(self.status)


def protocol_error(body: object) -> object:
    """The number of a JSON-RPC error; None where a body is none."""
    error = body.get("error") if isinstance(body, dict) else None
    return error.get("code") if isinstance(error, dict) else None


def parsed(body: bytes) -> object:
    """A body as JSON; None where it is none."""
    with suppress(ValueError, RecursionError):
        value: object = json.loads(body)
        return value
    return None


def point(body: object, pointer: str) -> object:
    """The value at a JSON Pointer, or None."""
    return resolve(body, pointer)[1]


def leaves(value: object, pointer: str = "") -> Iterator[tuple[str, object]]:
    """What is in a JSON value and has nothing in it, each by its JSON Pointer."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from leaves(each, child(pointer, key))
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from leaves(each, child(pointer, index))
    else:
        yield pointer, value


def difference(one: object, two: object) -> tuple[str, str, str]:
    """Where two unequal bodies first differ: the pointer, and what stands there in each, in few words."""
    left, right = dict(leaves(one)), dict(leaves(two))
    missing = object()
    for pointer in dict.fromkeys((*left, *right)):
        pair = left.get(pointer, missing), right.get(pointer, missing)
        if pair[0] != pair[1] or type(pair[0]) is not type(pair[1]):
            before, now = ("not there" if each is missing else _brief(each) for each in pair)
            return pointer, before, now
    return "", _brief(one), _brief(two)


def _brief(value: object) -> str:
    text = (
        value.decode("utf-8", "replace")
        if isinstance(value, bytes)
        else json.dumps(value, ensure_ascii=False)
    )
    return text if len(text) <= _BRIEF else text[: _BRIEF - 1] + "…"


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event."""

    name: str
    data: str

    def tells(self, codes: frozenset[object]) -> bool:
        """Whether it is an error, by its name or because its data has one of the ``codes`` at its top."""
        return self.name in ERROR_EVENTS or _speaks(parsed(self.data.encode()), codes)


def events(exchange: Exchange) -> Iterator[Event]:
    """The server-sent events of an answer that is a stream of them."""
    media = (exchange.received("Content-Type") or "").partition(";")[0].strip().lower()
    if media != STREAM or (exchange.response.status or 0) >= 400:
        return
    text = exchange.response.body.decode("utf-8", "replace")
    for block in re.split(r"(?:\r?\n){2,}", text.strip()):
        name, data = "message", []
        for line in block.splitlines():
            key, _, value = line.partition(":")
            if key == "event":
                name = value.strip()
            elif key == "data":
                data.append(value.removeprefix(" "))
        if data:
            yield Event(name, "\n".join(data))


def streamed(exchange: Exchange, codes: frozenset[object]) -> tuple[Exchange, ...]:
    """The error events of a stream, each as an exchange of its own."""
    return tuple(
        replace(
            exchange,
            response=replace(exchange.response, status=None, body=event.data.encode()),
            transport="stream",
        )
        for event in events(exchange)
        if event.tells(codes)
    )


def _speaks(data: object, codes: frozenset[object]) -> bool:
    return isinstance(data, dict) and any(
        isinstance(each, str | int) and each in codes for each in data.values()
    )


def slot(taxonomy: Taxonomy, sent: Observation, name: str) -> object:
    """The value of a slot of the envelope in an answer, or None."""
    surface = taxonomy.surfaces.get(sent.judgement.surface or "")
    body = point(sent.json, surface.at) if surface is not None else sent.json
    for envelope in surface.envelopes if surface is not None else taxonomy.envelopes:
        slots = extract(taxonomy.envelopes[envelope].shape, body).slots
        if name in slots:
            return slots[name]
    return None


def said(taxonomy: Taxonomy, sent: Observation) -> str:
    """An answer in a line: its status, code and message."""
    message = slot(taxonomy, sent, "message")
    body = (
        message
        if isinstance(message, str)
        else sent.exchange.response.body.decode("utf-8", "replace")
    )
    text = " ".join(body[: 2 * _QUOTED].split())
    # The ellipsis also tells what masks the text that something may have been cut in two.
    text = text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"
    return f"{sent}: {text}" if text else str(sent)


def passed(clause: str) -> Outcome:
    """The clause held."""
    return Outcome(clause, "held")


def not_exercised(clause: str, reason: str) -> Outcome:
    """There was no occasion."""
    return Outcome(clause, "not_exercised", reason)


def failed(
    clause: str,
    message: str,
    *evidence: Observation,
    level: Level = "error",
    pointer: str | None = None,
    at: str | None = None,
) -> Outcome:
    """The clause is broken by the last exchange of the evidence. ``at``: the operation, if not that exchange's."""
    last = evidence[-1]
    finding = Finding(
        clause=clause,
        message=message,
        level=level,
        operation=at or last.exchange.operation,
        code=last.code,
        status=last.exchange.response.status,
        pointer=pointer,
        evidence=tuple(exchange_.exchange for exchange_ in evidence),
    )
    return Outcome(clause, "broken", finding=finding)


def lost(asked: Exchange, answer: NoAnswer, last: Observation | None, *, listens: bool) -> Outcome:
    """The service did not answer a request; ``last`` is the one before it, ``listens`` whether it takes connections still.

    Who ends just after an answer is noticed at the next request, so the one before it is shown beside it.
    """
    before = () if listens or last is None else (last.exchange,)
    culprit = before[0] if before and answer.kind == "refused" else asked
    if answer.kind == "timeout":
        message = f"the service hangs: {answer.reason}"
    elif listens:
        message = f"{answer.reason}; the service is still there, so it is this request that it does not bear"
    elif culprit is not asked:
        message = f"nobody listens any more since this was answered: {answer.reason}"
    else:
        message = f"{answer.reason}, and nobody listens any more: the service ended on this request"
    finding = Finding(
        "service/alive", message, operation=culprit.operation, evidence=(*before, asked)
    )
    return Outcome("service/alive", "broken", finding=finding)
