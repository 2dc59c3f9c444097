"""Sins of the orders service for the demonstration: typical defects, each caught by one clause.

A sin takes the behaving application and returns an application that breaks one rule. The
proof of the clauses is ``tests/miniatures``, which shares no code with the judge.
"""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]
Answer = tuple[int, Headers, bytes]
Change = Callable[[Scope, int, Headers, bytes], Answer]


@dataclass(frozen=True, slots=True)
class Sin:
    """A defect, and the clause that finds it."""

    name: str
    sentence: str
    clause: str
    apply: Callable[[ASGIApp], ASGIApp]


def answers(change: Change) -> Callable[[ASGIApp], ASGIApp]:
    """A sin that changes answers: status, headers and body."""

    def apply(app: ASGIApp) -> ASGIApp:
        async def change_answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            start: Message = {}
            parts: list[bytes] = []

            async def keep(message: Message) -> None:
                if message["type"] == "http.response.start":
                    start.update(message)
                elif message["type"] == "http.response.body":
                    parts.append(message.get("body", b""))

            await app(scope, receive, keep)
            status, headers, body = change(
                scope, start["status"], list(start["headers"]), b"".join(parts)
            )
            if scope["method"] != "HEAD":
                headers = [
                    *without_header(headers, b"content-length"),
                    (b"content-length", str(len(body)).encode()),
                ]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

        return change_answer

    return apply


def requests(change: Callable[[Headers], Headers]) -> Callable[[ASGIApp], ASGIApp]:
    """A sin that changes the headers of requests."""

    def apply(app: ASGIApp) -> ASGIApp:
        async def change_request(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                scope = {**scope, "headers": change(list(scope["headers"]))}
            await app(scope, receive, send)

        return change_request

    return apply


def without_header(headers: Headers, name: bytes) -> Headers:
    """The headers without one name."""
    return [(key, value) for key, value in headers if key.lower() != name]


def _forget_retry_after(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    return status, without_header(headers, b"retry-after") if status == 429 else headers, body


def _cacheable(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    return status, without_header(headers, b"cache-control") if status == 404 else headers, body


def _leak(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    if status != 500:
        return status, headers, body
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/srv/orders/app.py", line 88, in price\n'
        "RuntimeError: cursor closed"
    )
    return status, headers, json.dumps({**json.loads(body), "message": trace}).encode()


def _reveal(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    if status != 404 or not scope["path"].startswith("/orders/"):
        return status, headers, body
    return 403, headers, json.dumps({**json.loads(body), "code": "forbidden"}).encode()


def _framework_405(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    if status != 405:
        return status, headers, body
    text = (b"content-type", b"text/plain")
    return status, [*without_header(headers, b"content-type"), text], b"Method Not Allowed"


def _silent(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    return 200 if status == 409 else status, headers, body


def _new_correlation(scope: Scope, status: int, headers: Headers, body: bytes) -> Answer:
    if status < 400 or not body:
        return status, headers, body
    id = str(uuid.uuid4())
    id = f"{id[:14]}7{id[15:]}"
    field = (b"x-correlation-id", id.encode())
    error = {**json.loads(body), "correlation_id": id}
    return (
        status,
        [*without_header(headers, b"x-correlation-id"), field],
        json.dumps(error).encode(),
    )


_SINS = (
    ("forgets-retry-after", "429 has no Retry-After", "headers/retry-after", _forget_retry_after),
    ("cacheable-404", "a 404 may be cached", "headers/cache-control", _cacheable),
    ("leaks-stack-trace", "a 500 carries the stack trace", "leaks/stack-trace", _leak),
    ("reveals-existence", "an unknown order is 403, not 404", "tenancy/concealed", _reveal),
    (
        "framework-405",
        "the framework answers 405 in its own format",
        "framework/method",
        _framework_405,
    ),
    ("silent-conflict", "a conflict is sent as 200", "envelope/absent-on-success", _silent),
    (
        "own-correlation-id",
        "the caller's correlation id is replaced",
        "correlation/echo",
        _new_correlation,
    ),
)

SINS: Mapping[str, Sin] = {
    **{name: Sin(name, text, clause, answers(change)) for name, text, clause, change in _SINS},
    "ignores-idempotency-key": Sin(
        "ignores-idempotency-key",
        "a replay is refused as a duplicate of the first request",
        "idempotency/replay",
        requests(lambda headers: without_header(headers, b"idempotency-key")),
    ),
}
