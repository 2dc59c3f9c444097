"""Sends requests again, as the policies of their errors say.

    retries = Retries()
    order = retries.run(lambda: orders.get("o-1"))

``orders.get`` raises the error of an answer: ``raise_for_error`` of the modules in
``clients`` does. A call that may have taken effect is not sent twice, unless it is
idempotent.
"""

# Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aria2/taxonomy.yaml

import asyncio
import json
import random
import threading
import time
import typing as t
from collections.abc import Awaitable, Callable, Mapping, Sequence

from ._runtime.marks import Mark, has_mark
from .errors import Aria2Error
from .retry import (
    POLICIES,
    Plan,
    State,
    plan_retry,
    policy_for,
    start,
    succeed,
)
from .wire import parse

ERROR_STATUSES: Sequence[range] = (range(400, 600),)
"""The statuses of errors."""

MARKS: Sequence[Mark] = ()
"""The members of bodies that mark an error under any other status."""

LARGEST_BODY = 1 << 20
"""Bytes of the body of an error that clients read. A longer one is not parsed, and its
error is an ``UnknownError``.
"""

IDEMPOTENT_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"})
"""The methods whose requests may be sent twice (RFC 9110 section 9.2.2)."""

_Result = t.TypeVar("_Result")


def may_be_error(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an answer is an error, or its body decides that. The body of any other
    need not be read.
    """
    if is_error_status(status):
        return True
    media_type = next(
        (text for name, text in headers.items() if name.lower() == "content-type"), ""
    )
    return bool(MARKS) and "json" in media_type


def is_error_status(status: int) -> bool:
    """Whether an answer is an error by its status."""
    return any(status in span for span in ERROR_STATUSES)


def error_of(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
) -> Aria2Error | None:
    """The error in an answer: by its status, or by members of its body; else None."""
    if len(body) > LARGEST_BODY:
        body = b""
    if not is_error_status(status):
        try:
            marked = bool(MARKS) and has_mark(json.loads(body), MARKS)
        except (ValueError, RecursionError):
            marked = False
        if not marked:
            return None
    return parse(body, status=status, headers=headers)


def is_idempotent(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a request may be sent twice, by its method."""
    return method.upper() in IDEMPOTENT_METHODS


def missing_key(method: str, headers: Mapping[str, str]) -> Mapping[str, str]:
    """The header with a new idempotency key, for a write that needs one and has none;
    else nothing. Every try of the write has the same key.
    """
    return {}


class Retries:
    """Calls that share the budgets of the policies. It may be used in several threads.

    ``scale``: a factor of the delays of the policies, for tests. ``clock``: seconds
    since 1970. ``random``: in [0, 1).
    """

    def __init__(
        self,
        *,
        scale: float = 1.0,
        clock: Callable[[], float] = time.time,
        random: Callable[[], float] = random.random,
    ) -> None:
        self.scale = scale
        self.clock = clock
        self.random = random
        self.tokens = {
            name: policy.budget.tokens
            for name, policy in POLICIES.items()
            if policy.budget is not None
        }
        self.lock = threading.Lock()

    def begin(self) -> "Call":
        """A new call, before its first try."""
        return Call(self)

    def run(
        self,
        send: Callable[[], _Result],
        *,
        idempotent: bool = False,
        sleep: Callable[[float], object] = time.sleep,
    ) -> _Result:
        """The result of ``send``, which is called again while its errors allow that.
        Raises the last error. ``idempotent``: two calls have the effect of one.
        """
        call = self.begin()
        while True:
            try:
                result = send()
            except Aria2Error as error:
                plan = call.fail(error, idempotent=idempotent)
                if plan.delay is None:
                    raise
                sleep(plan.delay)
            else:
                call.succeed()
                return result

    async def run_async(
        self,
        send: Callable[[], Awaitable[_Result]],
        *,
        idempotent: bool = False,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> _Result:
        """The same, of a coroutine function."""
        call = self.begin()
        while True:
            try:
                result = await send()
            except Aria2Error as error:
                plan = call.fail(error, idempotent=idempotent)
                if plan.delay is None:
                    raise
                await sleep(plan.delay)
            else:
                call.succeed()
                return result


class Call:
    """One call and its tries, as they are counted."""

    def __init__(self, retries: Retries) -> None:
        self._retries = retries
        self._began = retries.clock()
        self._state = State()
        self._policy: str | None = None

    def fail(
        self,
        error: Aria2Error,
        *,
        idempotent: bool,
    ) -> Plan:
        """The plan after a try that failed. Its ``delay`` is None if the call ends."""
        retries, policy = self._retries, policy_for(error)
        now = retries.clock()
        with retries.lock:
            tokens = retries.tokens.get(policy.name)
            state = self._state
            if policy.name != self._policy:
                # another policy counts its phases anew, and goes on with the tries
                state = start(policy)._replace(attempt=self._state.attempt)
                self._policy = policy.name
            state = state._replace(elapsed=max(0.0, now - self._began))
            if tokens is not None:
                state = state._replace(tokens=tokens)
            plan = plan_retry(
                error,
                state,
                idempotent=idempotent,
                scale=retries.scale,
                now=now,
                random=retries.random,
            )
            self._state = plan.state
            if tokens is not None:
                retries.tokens[policy.name] = plan.state.tokens
        return plan

    def delay(
        self,
        error: Aria2Error | None,
        method: str,
        headers: Mapping[str, str],
        *,
        repeatable: bool,
    ) -> float | None:
        """The seconds to wait before a request is sent again; None if it is not.

        ``error``: of its answer, None for a success. ``repeatable``: its body can be
        sent once more.
        """
        if error is None:
            self.succeed()
            return None
        if not repeatable:
            return None
        return self.fail(error, idempotent=is_idempotent(method, headers)).delay

    def succeed(self) -> None:
        """Give back to the budgets what a try that succeeded gives back."""
        retries = self._retries
        with retries.lock:
            for name, tokens in retries.tokens.items():
                state = self._state if name == self._policy else State()
                after = succeed(POLICIES[name], state._replace(tokens=tokens))
                retries.tokens[name] = after.tokens
