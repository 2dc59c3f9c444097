"""Requests to running systems, one module a transport. This module has their budgets and missing
answers.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self, TypedDict, Unpack

from faultspec.exchange.model import Request

#: Bytes of a body that are read. Errors have a few kilobytes; lists of resources may have more.
BODY_LIMIT = 4 * 1024 * 1024

#: Bytes of all bodies of a run after which only the beginning of each is read, and its size. A run
#: keeps what it judges, so they bound its memory.
ALL_BODIES, LATER_BODY_LIMIT = 48 * 1024 * 1024, 64 * 1024

#: Seconds for one answer: enough for a cold start behind a gateway, and cheap for a hanging route.
TIMEOUT = 15.0

#: Seconds to wait for what must not come, such as the answer to a notification or the body of a
#: HEAD answer.
SILENCE = 0.3

#: The shortest timeout of an answer, once the time of the run is spent.
_SHORTEST = 0.001


#: A wait that the end of the run cuts shows a service that hangs if it lasted so many seconds, and
#: so many times as long as the slowest answer.
_SHORT, _TIMES = 1.0, 3.0


Framing = Literal["lines", "content-length"]
"""How messages on standard streams are separated."""

Revision = Literal["2025-11-25", "2026-07-28"]
"""A revision of the Model Context Protocol. The earlier one stands for all that it can agree on in
its handshake.
"""

SERVER_REQUESTS = ("elicitation/create", "sampling/createMessage", "roots/list")
"""The requests of MCP that a server sends, and a configuration may answer."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A request without an answer.

    ``refused``: no program listens. ``closed``: the connection was closed before the answer.
    ``ignored``: no answer came, and the service answers others. ``garbled``: the answer breaks the
    protocol. ``budget``, ``read-only`` and ``unsendable``: the
    request was not sent. ``limited``: the answer is 429, which does not answer the question.
    """

    request: Request
    kind: Literal[
        "refused",
        "closed",
        "timeout",
        "ignored",
        "garbled",
        "budget",
        "read-only",
        "unsendable",
        "limited",
    ]
    reason: str

    @property
    def sent(self) -> bool:
        """Whether the request was sent."""
        return self.kind not in ("budget", "read-only", "unsendable", "refused")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run. ``seconds``: wall time. ``writes``: it may send methods that
    change something.

    ``rate``: requests a second at most; None for no limit. ``settle``: seconds until reads show
    what was written.
    """

    requests: int = 400
    seconds: float = 120.0
    writes: bool = False
    rate: float | None = None
    settle: float = 0.0


class Timing(TypedDict, total=False):
    """The time of a driver. ``timeout``: seconds for one answer. ``clock`` and ``pause``: for
    tests.
    """

    timeout: float
    clock: Callable[[], float]
    pause: Callable[[float], None]


Purpose = Literal["test", "setup", "login", "again", "confirm", "document"]
"""The aim of a request. ``setup``: to create what a probe needs. ``again``: to repeat a request
after a refusal that has ended. ``confirm``: to show whether a failure occurs again. ``document``:
to find the document of the service. ``test``: anything else.
"""


#: Names of a query, and characters of a path, that the log has.
_NAMES, _SHOWN = 20, 200


@dataclass(slots=True)
class LoggedRequest:
    """A request that a driver sent, in the log of the run. The session adds what its answer shows.

    ``operation``: method and path, or the name of the call. ``target``: method and path as it was
    sent, with the names of its query; None without a path. ``part``: the part of the run that sent
    it. ``exercised``: the clauses that the answer was checked against. ``decided``: the clauses
    that relations between answers decided with it.
    """

    operation: str
    part: str
    purpose: Purpose = "test"
    target: str | None = None
    status: int | None = None
    code: str | None = None
    exercised: frozenset[str] = frozenset()
    decided: dict[str, None] = field(default_factory=dict)


def _show_target(target: str) -> str:
    """The path of a request with the names of its query, and not with the values."""
    path, mark, query = target.partition("?")
    names = (part.partition("=")[0] for part in query.split("&")[:_NAMES])
    shown = f"{path}?{'&'.join(names)}" if mark else path
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"


def report_ignored(silence: NoAnswer) -> NoAnswer:
    """The result of a silence after which another request was answered."""
    reason = f"{silence.reason}, though the service answered the request after it"
    return NoAnswer(silence.request, "ignored", reason)


class Driver:
    """A connection to one service, and a context manager. It logs its requests and enforces the
    limits of the run. ``part`` and ``purpose``: those of the next request. ``received``: bytes of
    all bodies. ``slowest``, ``fastest``: seconds that the slowest and the fastest answer took; None
    before the first.
    """

    def __init__(self, limits: Limits, **timing: Unpack[Timing]) -> None:
        self.limits = limits
        self.requests = 0
        self.received = 0
        self.log: list[LoggedRequest] = []
        self.part = ""
        self.purpose: Purpose = "test"
        self.timeout = timing.get("timeout", TIMEOUT)
        self._clock = timing.get("clock", time.monotonic)
        self._pause = timing.get("pause", time.sleep)
        self._started = self._clock()
        self._turn_at = self._started
        self.slowest: float | None = None
        self.fastest: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections, and end all processes and threads."""
        raise NotImplementedError

    def listens(self) -> bool:
        """Whether the service would accept another request."""
        raise NotImplementedError

    def output_text(self) -> str | None:
        """The end of what the processes of the driver wrote beside messages; None if the driver
        starts none.
        """
        return None

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._started

    @property
    def remaining(self) -> float:
        """Seconds that are left of the run."""
        return self.limits.seconds - self.elapsed

    @property
    def answer_timeout(self) -> float:
        """Seconds that one answer may take within what is left of the run."""
        return max(_SHORTEST, min(self.timeout, self.remaining))

    @property
    def body_limit(self) -> int:
        """Bytes of the next body that are read."""
        return BODY_LIMIT if self.received < ALL_BODIES else LATER_BODY_LIMIT

    def note_answer(self, seconds: float) -> None:
        """Note how long an answer took."""
        self.slowest = max(self.slowest or 0.0, seconds)
        self.fastest = seconds if self.fastest is None else min(self.fastest, seconds)

    def report_silence(self, silence: NoAnswer, seconds: float) -> NoAnswer:
        """A request without an answer within ``seconds``. It shows nothing about the service if the
        end of the run cut the wait to the time that other answers took.
        """
        known = self.slowest
        cut = known is not None and seconds < min(self.timeout, max(_SHORT, _TIMES * known))
        if silence.kind != "timeout" or not cut or self.remaining > _SHORTEST:
            return silence
        reason = f"the budget of {self.limits.seconds:g} seconds is spent"
        return NoAnswer(silence.request, "budget", reason)

    def pause(self, seconds: float) -> bool:
        """Wait, if the run has so much time left. Returns whether it had."""
        if seconds > self.remaining:
            return False
        self._pause(seconds)
        return True

    @property
    def latest(self) -> LoggedRequest:
        """The entry of the last request; a new one before the first."""
        return self.log[-1] if self.log else LoggedRequest("", self.part)

    @contextmanager
    def log_as(self, purpose: Purpose) -> Iterator[None]:
        """Log the requests within the block under a purpose."""
        before, self.purpose = self.purpose, purpose
        try:
            yield
        finally:
            self.purpose = before

    def admit(self, request: Request, *, writes: bool) -> NoAnswer | None:
        """Log a request, and wait for its turn; or say which limit forbids it. ``writes``: it may
        change something.
        """
        if writes and not self.limits.writes:
            name = request.method if request.target.startswith("/") else f"`{request.target}`"
            hint = f"{name} is not sent without `limits: {{writes: true}}`"
            return NoAnswer(request, "read-only", hint)
        reason: str | None = None
        if self.requests >= self.limits.requests:
            reason = f"the budget of {self.limits.requests} requests is spent"
        elif self.remaining <= 0:
            reason = f"the budget of {self.limits.seconds:g} seconds is spent"
        elif not self._wait_for_turn():
            reason = f"the budget of {self.limits.seconds:g} seconds does not allow the rate"
        if reason is not None:
            return NoAnswer(request, "budget", reason)
        self.requests += 1
        path = request.target.partition("?")[0]
        name = f"{request.method} {path}" if path.startswith("/") else path
        shown = _show_target(request.target)
        target = f"{request.method} {shown}" if path.startswith("/") else None
        self.log.append(LoggedRequest(name, self.part, self.purpose, target))
        return None

    def _wait_for_turn(self) -> bool:
        """Wait until the rate allows the next request. Returns whether the run has so much time
        left.
        """
        if self.limits.rate is None:
            return True
        wait = self._turn_at - self._clock()
        if wait > 0 and not self.pause(wait):
            return False
        self._turn_at = max(self._turn_at, self._clock()) + 1 / self.limits.rate
        return True
