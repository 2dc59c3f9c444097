"""A scripted upstream on loopback, which the service calls.

It fails as scripted and keeps the requests.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from starlette.types import Receive, Scope, Send

from faultspec.exchange.model import Canary, Request
from faultspec.leaks import UPSTREAM_ADDRESS, UPSTREAM_TEXT
from faultspec_conformance.config import (
    Behaviour,
    ServiceConfig,
    UpstreamConfig,
    UpstreamFailure,
)
from faultspec_conformance.drivers.processes import (
    Running,
    StartFailed,
    refuse_taken_address,
    run_process,
    wait_until_listening,
)
from faultspec_conformance.drivers.serving import (
    HANG_UP,
    keep_open,
    read_body,
    serving,
    wait_for_disconnect,
)

#: The status of a good answer.
GOOD = 200

#: Every call succeeds.
FINE = UpstreamFailure(GOOD)

#: The place of the code in the configured body of failures.
CODE_PLACE = "$code"

#: Bytes of a body, of which half may be JSON as well.
_SHORT = 4

#: Failures that end only when the service hangs up. Nothing tells when it gave up waiting.
STALLING: frozenset[Behaviour] = frozenset({"silent", "slow"})

#: The length that a slow answer announces. Nobody waits for so many bytes.
_ENDLESS = 1_000_000


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """A request of the service.

    ``at``: when it arrived. ``until``: when its answer began, in seconds of a monotonic clock.
    """

    request: Request
    at: float
    until: float
    behaviour: Behaviour


#: Requests of one script that are kept: far more than any policy allows; and their bytes: enough
#: for a call with the longest body that is kept for each request of a run.
_MOST_CALLS, _MOST_BYTES = 2_000, 32 * 1024 * 1024


@dataclass(slots=True)
class ScriptedUpstream:
    """An ASGI application. It does ``failing`` for the first ``times`` requests that the failure is
    about (None: always), and answers all others with 200.

    ``wait``: the `Retry-After` of its failures, in seconds. ``calls``: the requests since the last
    `script`, in order, as far as they are kept. ``dropped``: how many are not. ``received``: how
    many requests came in total. ``passed``: the requests that succeed before the failure. ``mark``:
    a text in the bodies of failures. ``url``: its address; empty if nobody serves it.
    """

    config: UpstreamConfig
    failing: UpstreamFailure = FINE
    times: int | None = None
    wait: int | None = None
    calls: list[UpstreamRequest] = field(default_factory=list)
    clock: Callable[[], float] = time.monotonic
    received: int = 0
    dropped: int = 0
    passed: int = 0
    mark: str = ""
    url: str = ""
    _kept_bytes: int = 0

    def canaries(self) -> Iterator[Canary]:
        """Yield what no answer of the service may repeat: the text of failures, and the address."""
        if self.mark:
            yield Canary(UPSTREAM_TEXT, self.mark)
        if self.url:
            yield Canary(UPSTREAM_ADDRESS, self.url.partition("://")[2])

    def script(
        self, failing: UpstreamFailure, times: int | None = None, wait: int | None = None
    ) -> None:
        """Set what the next requests get, and forget the earlier requests."""
        self.failing, self.times, self.wait = failing, times, wait
        self.calls, self.passed = [], 0
        self.dropped = self._kept_bytes = 0

    def _failure_code(self, behaviour: Behaviour) -> str | int | None:
        """Return the code in the body of an answer."""
        return None if behaviour == GOOD else self.failing.code

    def _next_behaviour(self, path: str) -> Behaviour:
        """Return what the next request gets."""
        failing = self.failing
        if self.times == 0 or not fnmatchcase(path, failing.path):
            return GOOD
        if self.passed < failing.after:
            self.passed += 1
            return GOOD
        self.times = None if self.times is None else self.times - 1
        return failing.answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection by ASGI."""
        if scope["type"] != "http":
            return
        at = self.clock()
        calls = self.calls  # those of this script, even if the next one begins before the answer
        behaviour = self._next_behaviour(scope["path"])
        self.received += 1
        query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        )
        request = Request(scope["method"], scope["path"] + query, headers, await read_body(receive))
        self._keep(calls, UpstreamRequest(request, at, self.clock(), behaviour))
        if behaviour == "closed":
            scope["extensions"][HANG_UP]()
            await wait_for_disconnect(receive)
            return
        if behaviour in STALLING:
            await self._stall(calls, slow=behaviour == "slow", receive=receive, send=send)
            scope["extensions"][HANG_UP]()
            return
        media_type, body = _content(behaviour, self.config.answer, self.mark)
        code = self._failure_code(behaviour)
        if code is not None:
            body = json.dumps(_with_code(self.config.error, code)).encode()
        fields = [
            (b"content-type", media_type),
            (b"content-length", str(len(body)).encode()),
            # Some clients send a request again themselves if a connection that they reuse closes.
            (b"connection", b"close"),
        ]
        if self.wait is not None and behaviour != GOOD:
            fields.append((b"retry-after", str(self.wait).encode()))
        fails = isinstance(behaviour, int) and behaviour != GOOD
        status = behaviour if fails else self.config.status
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": body})

    def _keep(self, calls: list[UpstreamRequest], call: UpstreamRequest) -> None:
        """Keep a request of a script, or count it as dropped. A later script forgets it."""
        if calls is not self.calls:
            return
        self._kept_bytes += call.request.size
        if self.dropped or len(calls) >= _MOST_CALLS or self._kept_bytes > _MOST_BYTES:
            self.dropped += 1
        else:
            calls.append(call)

    async def _stall(
        self, calls: list[UpstreamRequest], *, slow: bool, receive: Receive, send: Send
    ) -> None:
        """Keep the connection without an answer, or with one that never ends, until the service
        hangs up or the next script begins.
        """
        if slow:
            fields = [
                (b"content-type", b"application/json"),
                (b"content-length", str(_ENDLESS).encode()),
                (b"connection", b"close"),
            ]
            await send(
                {"type": "http.response.start", "status": self.config.status, "headers": fields}
            )
        await keep_open(receive, send if slow else None, is_over=lambda: self.calls is not calls)


def _with_code(picture: object, code: str | int) -> object:
    """Return JSON data with the code in the places of `$code`."""
    match picture:
        case dict():
            return {name: _with_code(value, code) for name, value in picture.items()}
        case list():
            return [_with_code(value, code) for value in picture]
    return code if picture == CODE_PLACE else picture


def has_code_place(picture: object) -> bool:
    """Return whether `$code` stands somewhere in JSON data."""
    match picture:
        case dict():
            return any(map(has_code_place, picture.values()))
        case list():
            return any(map(has_code_place, picture))
    return picture == CODE_PLACE


def _content(behaviour: Behaviour, good: object, mark: str) -> tuple[bytes, bytes]:
    """Return the media type and the body of an answer. ``good``: the JSON body of a success.
    ``mark``: a text in the body of a failure.
    """
    body = json.dumps(good).encode()
    match behaviour:
        case "html":
            page = f"<!doctype html><title>Sign in</title><p>Sign in to go on {mark}".rstrip()
            return b"text/html", page.encode()
        case "empty":
            return b"application/json", b""
        case "truncated":
            return b"application/json", body[: len(body) // 2] if len(body) > _SHORT else b'{"'
        case "mistyped":
            return b"application/json", b"7" if isinstance(good, list) else b"[7]"
    if behaviour != GOOD:
        text = " ".join(filter(None, (f"scripted {behaviour}", mark)))
        body = json.dumps({"error": text}).encode()
    return b"application/json", body


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The processes and upstreams that run beside the suite.

    ``started``: the service, if the configuration starts it.
    """

    upstreams: Mapping[str, ScriptedUpstream]
    started: Running | None = None


@contextmanager
def run_upstreams(target: ServiceConfig) -> Iterator[Surroundings]:
    """Run the upstreams of a configuration and the service, if the configuration starts it; end
    them after the block.

    Raises StartFailed if the service does not start, or its address or the port of an upstream is
    taken.
    """
    with ExitStack() as stack:
        found, environment, started = {}, {}, None
        address = target.http or target.jsonrpc or target.mcp
        if target.command:
            refuse_taken_address(address, f"`target.command` in {target.path or 'the target'}")
        for config in target.upstreams:
            found[config.name] = upstream = ScriptedUpstream(config)
            try:
                url = stack.enter_context(serving(upstream, config.port))
            except OSError as error:
                place = f"the upstream {config.name} can't listen on port {config.port}"
                raise StartFailed(f"{place}: {error.strerror}") from None
            upstream.url = url
            if config.env is not None:
                environment[config.env] = url
        if target.command:
            folder = Path(target.path or ".").resolve().parent
            started = stack.enter_context(
                run_process(target.command, environment, folder, target.limits.seconds)
            )
            wait_until_listening(started, address, target.limits.seconds)
        yield Surroundings(found, started)
