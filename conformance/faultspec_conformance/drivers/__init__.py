"""How requests reach a running system, one module a transport; and what holds for all of them: budgets, and answers that never came."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

from faultspec.exchange.model import Request

#: An error body is a few kilobytes; a list of resources may be more. What lies beyond is not read.
BODY_LIMIT = 4 * 1024 * 1024

#: Long enough for a cold start behind a gateway, short enough that a hanging route costs a run little.
TIMEOUT = 15.0

#: Seconds to wait for what must not come: the answer to a notification, a body after the header of an answer to HEAD.
SILENCE = 0.3


Framing = Literal["lines", "content-length"]
"""How messages on standard streams are told apart."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A request without an answer.

    ``refused``: nobody listens. ``closed``: the connection was closed without an answer. ``garbled``: what came is no answer
    of the protocol. ``budget``, ``read-only`` and ``unsendable``: it was never sent. ``limited``: it was answered 429, which
    says nothing of what was asked.
    """

    request: Request
    kind: Literal[
        "refused", "closed", "timeout", "garbled", "budget", "read-only", "unsendable", "limited"
    ]
    reason: str

    @property
    def sent(self) -> bool:
        """Whether the request went out."""
        return self.kind not in ("budget", "read-only", "unsendable", "refused")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may cost and do. ``seconds`` of wall time; ``writes``: methods other than GET, HEAD and OPTIONS.

    ``rate``: requests a second at most; None is as fast as they are answered.
    """

    requests: int = 400
    seconds: float = 120.0
    writes: bool = False
    rate: float | None = None


class Driver:
    """A way to one service. Counts what it sends, and keeps the budgets, so that no probe can forget them; a context manager.

    ``timeout``: seconds that one answer may take.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.limits = limits
        self.requests = 0
        self.timeout = timeout
        self._clock = clock
        self._pause = pause
        self._started = clock()
        self._turn_at = self._started

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
        """Leave nothing behind: no connection, no process, no thread."""
        raise NotImplementedError

    def listens(self) -> bool:
        """Whether anybody would take another request."""
        raise NotImplementedError

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._started

    @property
    def remaining(self) -> float:
        """Seconds left of the budget."""
        return self.limits.seconds - self.elapsed

    @property
    def patience(self) -> float:
        """Seconds that one answer may take: no more than are left of the budget."""
        return max(0.001, min(self.timeout, self.remaining))

    def pause(self, seconds: float) -> bool:
        """Wait, if the budget allows; say whether it did."""
        if seconds > self.remaining:
            return False
        self._pause(seconds)
        return True

    def refuses(self, request: Request, *, writes: bool) -> NoAnswer | None:
        """Why a request is not sent; None, and it is counted, where it is. ``writes``: it may change something."""
        if writes and not self.limits.writes:
            what = request.method if request.target.startswith("/") else f"`{request.target}`"
            return NoAnswer(
                request, "read-only", f"{what} is not sent without `limits: {{writes: true}}`"
            )
        if self.requests >= self.limits.requests:
            return NoAnswer(
                request, "budget", f"the budget of {self.limits.requests} requests is spent"
            )
        if self.remaining <= 0:
            return NoAnswer(
                request, "budget", f"the budget of {self.limits.seconds:g} seconds is spent"
            )
        if not self._paced():
            return NoAnswer(
                request,
                "budget",
                f"the budget of {self.limits.seconds:g} seconds does not allow the rate",
            )
        self.requests += 1
        return None

    def _paced(self) -> bool:
        """Wait for the turn that the rate gives to the next request; say whether it comes within the budget."""
        if self.limits.rate is None:
            return True
        wait = self._turn_at - self._clock()
        if wait > 0 and not self.pause(wait):
            return False
        self._turn_at = max(self._turn_at, self._clock()) + 1 / self.limits.rate
        return True
