"""Sins the orders service can be started with: what real teams get wrong, so that one can see it caught.

Each takes the behaving application and returns one that breaks one rule. They are for the demonstration; what proves the
clauses is the collection in ``tests/miniatures``, which shares no code with the judge.
"""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]
Change = Callable[[Scope, int, Headers, bytes], tuple[int, Headers, bytes]]


@dataclass(frozen=True, slots=True)
class Sin:
    """A mistake: what a team did, and the clause that finds it."""

    name: str
    sentence: str
    clause: str
    apply: Callable[[ASGIApp], ASGIApp]


def answers(change: Change) -> Callable[[ASGIApp], ASGIApp]:
    """Change whole answers: status, headers and body."""

    def apply(app: ASGIApp) -> ASGIApp:
        async def changed(scope: Scope, receive: Receive, send: Send) -> None:
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
                    *without(headers, b"content-length"),
                    (b"content-length", str(len(body)).encode()),
                ]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

        return changed

    return apply


def requests(change: Callable[[Headers], Headers]) -> Callable[[ASGIApp], ASGIApp]:
    """Change the headers a request arrives with."""

    def apply(app: ASGIApp) -> ASGIApp:
        async def changed(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                scope = {**scope, "headers": change(list(scope["headers"]))}
            await app(scope, receive, send)

        return changed

    return apply


def without(headers: Headers, name: bytes) -> Headers:
    """The headers but for one name."""
    return [(key, value) for key, value in headers if key.lower() != name]


def _forget_retry_after(
    scope: Scope, status: int, headers: Headers, body: bytes
) -> tuple[int, Headers, bytes]:
    return status, without(headers, b"retry-after") if status == 429 else headers, body


def _cacheable(
    scope: Scope, status: int, headers: Headers, body: bytes
) -> tuple[int, Headers, bytes]:
    return status, without(headers, b"cache-control") if status == 404 else headers, body


def _leak(scope: Scope, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
    if status != 500:
        return status, headers, body
    error = json.loads(body)
    error["message"] = (
        "Traceback (most recent call last):\n"
        '  File "/srv/orders/app.py", line 88, in price\n'
        "RuntimeError: cursor closed"
    )
    return status, headers, json.dumps(error).encode()


def _reveal(scope: Scope, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
    if status != 404 or not scope["path"].startswith("/orders/"):
        return status, headers, body
    error = json.loads(body)
    error["code"] = "forbidden"
    return 403, headers, json.dumps(error).encode()


def _framework_405(
    scope: Scope, status: int, headers: Headers, body: bytes
) -> tuple[int, Headers, bytes]:
    if status != 405:
        return status, headers, body
    return (
        status,
        [*without(headers, b"content-type"), (b"content-type", b"text/plain")],
        b"Method Not Allowed",
    )


def _silent(scope: Scope, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
    return 200 if status == 409 else status, headers, body


def _new_correlation(
    scope: Scope, status: int, headers: Headers, body: bytes
) -> tuple[int, Headers, bytes]:
    if status < 400 or not body:
        return status, headers, body
    fresh = f"{uuid.uuid4()}"
    fresh = f"{fresh[:14]}7{fresh[15:]}"
    error = {**json.loads(body), "correlation_id": fresh}
    return (
        status,
        [*without(headers, b"x-correlation-id"), (b"x-correlation-id", fresh.encode())],
        json.dumps(error).encode(),
    )


SINS: Mapping[str, Sin] = {
    sin.name: sin
    for sin in (
        Sin(
            "forgets-retry-after",
            "429 says nothing of when to come back",
            "headers/retry-after",
            answers(_forget_retry_after),
        ),
        Sin("cacheable-404", "a 404 may be cached", "headers/cache-control", answers(_cacheable)),
        Sin(
            "leaks-stack-trace",
            "a 500 carries the stack trace",
            "leaks/stack-trace",
            answers(_leak),
        ),
        Sin(
            "reveals-existence",
            "an unknown order is 403, not 404",
            "tenancy/concealed",
            answers(_reveal),
        ),
        Sin(
            "framework-405",
            "the framework answers 405 in its own words",
            "envelope/media-type",
            answers(_framework_405),
        ),
        Sin(
            "silent-conflict",
            "a conflict is sent as 200",
            "envelope/absent-on-success",
            answers(_silent),
        ),
        Sin(
            "own-correlation-id",
            "the caller's correlation id is replaced",
            "correlation/echo",
            answers(_new_correlation),
        ),
        Sin(
            "ignores-idempotency-key",
            "a replay is taken for a new order, and refused as a duplicate of the first",
            "idempotency/replay",
            requests(lambda headers: without(headers, b"idempotency-key")),
        ),
    )
}
