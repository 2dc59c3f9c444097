"""An exchange with its judgement, what can be read in it, and the outcomes of probes."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from faultspec.contract.model import Contract
from faultspec.exchange.body import has_too_many_values, is_too_deep
from faultspec.exchange.finding import Finding, Judgement, Level
from faultspec.exchange.model import Exchange, join_header
from faultspec.judge.masked_body import mask_answer
from faultspec.judge.read_slots import read_slots
from faultspec.runtime.codecs import find_codec
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import resolve
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.meanings import meant_status

#: The media type of server-sent events.
STREAM = "text/event-stream"

#: Names of server-sent events that announce an error.
ERROR_EVENTS = frozenset({"error", "failure", "fault"})

#: The clauses about the envelope of errors. A body that breaks them is one mistake.
ENVELOPE = frozenset(
    {"surface/known", "envelope/media-type", "envelope/json", "envelope/shape", "envelope/types"}
)

#: The clauses about the declared form of errors; all others are about their contents.
FORM = ENVELOPE | {"code/declared", "code/reserved", "code/status"}

#: The statuses of invalid input (RFC 9110, 15.5.1 and 15.5.21).
INVALID_INPUT = (400, 422)

#: The status of an answer with a status for each of its parts (RFC 4918, 11.1).
_MULTI_STATUS = 207

#: Why a clause about simultaneous requests was not exercised.
KEEPS_RATE = "the run keeps to a rate, so no requests are sent at the same time"

#: Characters of a value that a message quotes.
_BRIEF = 60

#: Characters of an answer that a message quotes.
_QUOTED = 160


class Unanswered(Exception):
    """A request got no answer, for the reason in ``no_answer``. It ends the probe, not the run.

    ``asked``: its exchange, if the service ignored it.
    """

    def __init__(self, no_answer: NoAnswer, asked: Exchange | None = None) -> None:
        super().__init__(no_answer.reason)
        self.no_answer = no_answer
        self.asked = asked


@dataclass(frozen=True, slots=True)
class Observation:
    """An exchange of the run and its judgement. ``inner``: the error events of a stream."""

    exchange: Exchange
    judgement: Judgement
    inner: tuple["Observation", ...] = ()

    @property
    def sent_status(self) -> int:
        """The status of the answer on the wire."""
        return self.exchange.response.status or 0

    @property
    def is_in_band(self) -> bool:
        """Whether the answer is an error that its body alone tells, under a status of success.

        207 has a status for each part. Of JSON lines, an error after another line comes after a
        success.
        """
        if not self.judgement.is_error or not 200 <= self.sent_status < 300:
            return False
        codec = find_codec(self.header("Content-Type"))
        has_lines = codec is not None and codec.name == "JSON lines"
        is_late = has_lines and b"\n" in self.exchange.response.body.strip()
        return self.sent_status != _MULTI_STATUS and not is_late

    @property
    def status(self) -> int:
        """The status that the answer stands for: an error within a success has that of its code's
        class, any other answer the one on the wire.
        """
        return meant_status(self.code) if self.is_in_band else self.sent_status

    @property
    def code(self) -> str | None:
        """The code of the answer, if it is a declared one."""
        return self.judgement.code

    @property
    def codes(self) -> tuple[str, ...]:
        """The declared codes of the answer, each once: several in a list of errors."""
        found = (self.judgement.code, *self.judgement.others)
        return tuple(dict.fromkeys(code for code in found if code is not None))

    @property
    def ok(self) -> bool:
        """Whether the answer is a success: by its status, unless its body is an error; on
        transports without a status, because it is not an error.
        """
        if self.exchange.response.status is None:
            return not self.judgement.is_error and protocol_error(self.json) is None
        return 200 <= self.sent_status < 300 and not self.is_in_band

    @property
    def sound(self) -> bool:
        """Whether the judgement has no finding of level error."""
        return not any(finding.level == "error" for finding in self.judgement.findings)

    @property
    def json(self) -> object:
        """The body as JSON; None if it is not JSON."""
        return parse_body(self.exchange.response.body)

    def header(self, name: str) -> str | None:
        """Return the first header of this name in the answer."""
        return self.exchange.response_header(name)

    def list_header(self, name: str) -> str | None:
        """Return all lines of a header that is a list, as one."""
        return join_header(self.exchange.response.headers, name)

    def __str__(self) -> str:
        if self.exchange.response.status is None:
            number = protocol_error(self.json)
            if self.code is not None or number is not None:
                return self.code or f"error {number}"
            if self.exchange.response.body and self.json is None:
                return "a body that is not JSON"
            return "a result" if self.ok else "an error"
        return f"{self.sent_status} {self.code}" if self.code else str(self.sent_status)


def describe_cut(asked: Exchange, cut: str) -> str:
    """Return a sentence about a body that was not read to its end. ``cut``: its predicate."""
    name = asked.operation or asked.request.method
    return f"an answer to {name} is not judged by its body, which {cut}"


def protocol_error(body: object) -> object:
    """Return the number of a JSON-RPC error; None if the body is not one."""
    error = body.get("error") if isinstance(body, dict) else None
    return error.get("code") if isinstance(error, dict) else None


def has_code(answer: Observation, code: str | int) -> bool:
    """Whether an answer has a code of the taxonomy, or a number of the protocol, such as -32800."""
    return answer.code == code or (
        re.fullmatch(r"-?\d{1,10}", str(code)) is not None
        and protocol_error(answer.json) == int(code)
    )


def parse_body(body: bytes) -> object:
    """Return a body as JSON; None if it is not JSON, or too large or deep to be read."""
    if has_too_many_values(body):
        return None
    with suppress(ValueError, RecursionError):
        value: object = json.loads(body)
        return None if is_too_deep(body, value) else value
    return None


def point(body: object, pointer: str) -> object:
    """Return the value at a JSON Pointer, or None."""
    return resolve(body, pointer)[1]


def leaves(value: object, pointer: str = "") -> Iterator[tuple[str, object]]:
    """Yield the scalars and empty collections in a JSON value, each with its JSON Pointer."""
    if isinstance(value, dict) and value:
        for key, member in value.items():
            yield from leaves(member, child(pointer, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, child(pointer, index))
    else:
        yield pointer, value


def differing_pointers(one: object, other: object) -> frozenset[str]:
    """Return the JSON Pointers at which two bodies differ."""
    left, right = dict(leaves(one)), dict(leaves(other))
    missing = object()
    return frozenset(
        pointer
        for pointer in {*left, *right}
        if left.get(pointer, missing) != right.get(pointer, missing)
    )


def list_items(body: object) -> list[object]:
    """Return the items of a list, which may be a member of the body or of an object in it."""
    if isinstance(body, list):
        return body
    if not isinstance(body, dict):
        return []
    lists = [value for value in body.values() if isinstance(value, list)]
    # Beside a list without items, such as `errors`, an object may have the items.
    return next((one for one in lists if one), None) or _inner_items(body)


def _inner_items(body: dict[str, object]) -> list[object]:
    """Return the items of a list of objects below a body: of the nearest one, by its name and by
    the number of its items. Other lists there, such as one of sort keys, have no items.
    """
    level = [value for name, value in body.items() if name not in _LINKS]
    for _ in range(_LIST_DEPTH):
        members = [
            (name, value)
            for one in level
            if isinstance(one, dict)
            for name, value in one.items()
            if name not in _LINKS
        ]
        lists = [
            (name.casefold() in _ITEMS, len(value), value)
            for name, value in members
            if isinstance(value, list) and value and isinstance(value[0], dict)
        ]
        if lists:
            return max(lists, key=lambda one: one[:2])[2]
        level = [value for _, value in members]
    return []


#: Objects inside each other in which a list is looked for, as in `{"result": {"jobs": []}}` or the
#: `_embedded` of HAL; members that have no items there (HAL, JSON:API); and usual names of lists.
_LIST_DEPTH = 2
_LINKS = frozenset({"_links", "links"})
_ITEMS = frozenset({"items", "results", "data", "entries", "records", "values", "content", "rows"})


def difference(one: object, two: object) -> tuple[str, str, str]:
    """Return the first JSON Pointer at which two unequal bodies differ, and a short text for the
    value of each.
    """
    left, right = dict(leaves(one)), dict(leaves(two))
    missing = object()
    for pointer in dict.fromkeys((*left, *right)):
        pair = left.get(pointer, missing), right.get(pointer, missing)
        if pair[0] != pair[1] or type(pair[0]) is not type(pair[1]):
            before, now = ("missing" if value is missing else _brief(value) for value in pair)
            return pointer, before, now
    return "", _brief(one), _brief(two)


def _brief(value: object) -> str:
    if isinstance(value, bytes):
        return _shorten(value.decode("utf-8", "replace"), _BRIEF)
    return _shorten(json.dumps(value, ensure_ascii=False), _BRIEF)


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event."""

    name: str
    data: str

    def is_error(self, codes: frozenset[object]) -> bool:
        """Whether the event announces an error: by its name, or by one of the ``codes`` as a member
        of its data.
        """
        if self.name in ERROR_EVENTS:
            return True
        data = parse_body(self.data.encode())
        members = data.values() if isinstance(data, dict) else ()
        return any(isinstance(member, str | int) and member in codes for member in members)


def events(exchange: Exchange) -> Iterator[Event]:
    """Yield the server-sent events of an answer; none if it is not a stream of events."""
    media = (exchange.response_header("Content-Type") or "").partition(";")[0].strip().lower()
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


def stream_errors(exchange: Exchange, codes: frozenset[object]) -> tuple[Exchange, ...]:
    """Return the error events of a stream, each as an exchange of its own."""
    return tuple(
        replace(
            exchange,
            response=replace(exchange.response, status=None, body=event.data.encode()),
            transport="stream",
        )
        for event in events(exchange)
        if event.is_error(codes)
    )


def slot_value(contract: Contract, observation: Observation, name: str) -> object:
    """Return the value of a slot of the envelope in an answer, or None."""
    slots = read_slots(contract, observation.exchange)
    return slots.get(name) if slots is not None else None


def error_details(contract: Contract, observation: Observation) -> Mapping[str, object]:
    """Return the details of the error in an answer; empty if it has none."""
    details = slot_value(contract, observation, "details")
    return details if isinstance(details, dict) else {}


def summary_line(contract: Contract, observation: Observation) -> str:
    """Return an answer in one line: its status, code and message, without sensitive values."""
    masked = replace(observation, exchange=mask_answer(observation.exchange, contract.sensitive))
    message = slot_value(contract, masked, "message")
    body = masked.exchange.response.body.decode("utf-8", "replace")
    text = " ".join((message if isinstance(message, str) else body).split())
    # The ellipsis also shows the masking that the text may end within a secret.
    text = _shorten(text, _QUOTED)
    return f"{observation}: {text}" if text else str(observation)


def passed(clause: str) -> Outcome:
    """Return the outcome that the clause held."""
    return Outcome(clause, "passed")


def not_exercised(clause: str, reason: str) -> Outcome:
    """Return the outcome that nothing exercised the clause."""
    return Outcome(clause, "not_exercised", reason)


def failed(
    clause: str,
    message: str,
    *evidence: Observation,
    level: Level = "error",
    pointer: str | None = None,
    operation: str | None = None,
    variant: str = "",
) -> Outcome:
    """Return the outcome that the last exchange of the evidence broke the clause.

    ``operation``: where to report it; None: at the operation of that exchange. ``variant``: which
    of several mistakes broke the clause.
    """
    last = evidence[-1]
    finding = Finding(
        clause=clause,
        message=message,
        level=level,
        operation=operation or last.exchange.operation,
        code=last.code,
        status=last.exchange.response.status,
        pointer=pointer,
        evidence=tuple(observation.exchange for observation in evidence),
        variant=variant,
    )
    return Outcome(clause, "failed", finding=finding)


def conclude_silence(clause: str, error: Unanswered) -> Outcome:
    """Return the outcome of a clause for which a request got no answer: it failed if the service
    ignored the request; otherwise it could not run.
    """
    if error.asked is None:
        return Outcome(clause, "could_not_run", error.no_answer.reason)
    name = error.asked.request.target
    return failed(
        clause,
        f"the service gave no answer to {name}: {error.no_answer.reason}",
        Observation(error.asked, Judgement((), frozenset())),
        variant="silence",
    )


def lost(asked: Exchange, answer: NoAnswer, last: Observation | None, *, listens: bool) -> Outcome:
    """Return the outcome that the service did not answer a request.

    ``last``: the exchange before it. ``listens``: whether the service still accepts connections. A
    service that ends after an answer is noticed at the next request, so the evidence has the
    exchange before it too.
    """
    before = () if listens or last is None else (last.exchange,)
    culprit = before[0] if before and answer.kind == "refused" else asked
    if answer.kind == "timeout":
        message = f"the service hangs: {answer.reason}"
    elif listens:
        message = f"{answer.reason}; the service is still there, so this request caused it"
    elif culprit is not asked:
        message = f"nobody listens any more after this answer: {answer.reason}"
    else:
        message = f"{answer.reason}, and nobody listens any more: the service ended on this request"
    finding = Finding(
        "service/alive", message, operation=culprit.operation, evidence=(*before, asked)
    )
    return Outcome("service/alive", "failed", finding=finding)
