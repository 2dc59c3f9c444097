"""The self-test of an application: requests that have to fail, sent in process, and the
faults of their answers in plain words.
"""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml

import asyncio
import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from ..boundary import CORRELATION_HEADER, ServiceError
from ..errors import ERRORS, bare
from ..wire import ENVELOPES, parse_own

UNKNOWN = "/error-boundary-self-test/unknown"
RAISING = "/error-boundary-self-test/raise"
CRASHING = "/error-boundary-self-test/crash"


class Reply(NamedTuple):
    """An answer; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Ask = Callable[[str, str], Reply]
"""Sends a request: method and path."""


class SelfTestCrash(Exception):
    """The bug that a self-test makes."""


def raise_at(path: str) -> None:
    """Fail as the path of a self-test says."""
    if path == RAISING:
        raise raised_error()
    if path == CRASHING:
        raise SelfTestCrash("a self-test of the error boundary")


def raised_error() -> ServiceError:
    """The error that the self-test raises: one that no bare status stands for, if there
    is any.
    """
    kinds = [kind for kind in ERRORS.values() if kind.facts.status]
    refused = (kind for kind in kinds if kind.facts.status in range(402, 500))
    kind = next(refused, next(iter(kinds), None))
    if kind is None:
        raise LookupError("no code of this package is on HTTP")
    return bare(kind)


def find_problems(ask: Ask, *, raises: bool) -> list[str]:
    """The faults of an application, none if its boundary is wired. ``raises``: its
    requests to ``RAISING`` and ``CRASHING`` call ``raise_at``.
    """
    unknown = ask("GET", UNKNOWN)
    problems = list(_faults("an unknown route", unknown))
    if unknown.status >= 500 and not problems:
        problems.append(
            f"an unknown route is answered with {unknown.status}: the code of its "
            "status or of the fallback has details that a framework cannot supply"
        )
    if not problems:
        problems += _faults("HEAD of an unknown route", ask("HEAD", UNKNOWN), head=True)
    if raises:
        wanted = raised_error()
        reply = ask("GET", RAISING)
        faults = list(_faults(f"a raised {type(wanted).__name__}", reply))
        known = parse_own(reply.body, reply.status)
        problems += faults
        if not faults and type(known) is not type(wanted):
            code = None if known is None else known.code
            cause = "no handler for errors of this package"
            if reply.status in (401, 403):
                cause = (
                    "what is in front of the route seems to answer first; pass "
                    "`headers` that it accepts, such as credentials"
                )
            problems.append(
                f"a raised {type(wanted).__name__} leaves as {code} under "
                f"{reply.status}: {cause}"
            )
        with silence(CRASHING):
            reply = ask("GET", CRASHING)
        problems += _faults("a bug", reply)
        if b"SelfTestCrash" in reply.body:
            problems.append("the answer to a bug shows its trace")
    return problems


@contextmanager
def silence(path: str) -> Generator[None]:
    """Write nothing to any log while the path crashes: the trace of a made bug would
    look like a failure.
    """
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL if path == CRASHING else before)
    try:
        yield
    finally:
        logging.disable(before)


def _faults(case: str, reply: Reply, *, head: bool = False) -> Iterator[str]:
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    media = {envelope.media_type for envelope in ENVELOPES.values()}
    found = parse_own(reply.body, reply.status)
    if reply.status < 400:
        yield f"{case} is answered with {reply.status}"
    elif kind not in media or (not head and found is None):
        yield (
            f"{case} is answered with {reply.status} and {kind or 'no media type'}, "
            "not in the envelope: the boundary is not installed"
        )
    elif head and reply.body:
        yield f"{case} has a body"
    if CORRELATION_HEADER.lower() not in reply.headers:
        yield f"{case} is answered without {CORRELATION_HEADER}"


def ask_asgi(app: Any, headers: Mapping[str, str]) -> Ask:
    """Requests to an ASGI application."""

    def ask(method: str, path: str) -> Reply:
        # A thread of its own: the caller may be in an event loop
        with ThreadPoolExecutor(1) as thread:
            reply = _ask_asgi(app, method, path, headers)
            return thread.submit(asyncio.run, reply).result()

    return ask


async def _ask_asgi(
    app: Any, method: str, path: str, headers: Mapping[str, str]
) -> Reply:
    sent: list[dict[str, Any]] = []
    fields = {"host": "localhost"} | {n.lower(): each for n, each in headers.items()}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("ascii"),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (name.encode("latin-1"), each.encode("latin-1"))
            for name, each in fields.items()
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    requests = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not requests:
            await asyncio.Event().wait()  # the client stays
        return requests.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    # What leaves the application is answered by its server.
    with suppress(SelfTestCrash, ServiceError):
        await app(scope, receive, send)
    if not sent:
        return Reply(500, {}, b"")
    received = {
        name.decode("latin-1").lower(): value.decode("latin-1")
        for name, value in sent[0].get("headers", ())
    }
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Reply(sent[0]["status"], received, body)
