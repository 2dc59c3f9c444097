"""Between a team's own tests and its service: every exchange that passes is shown to whoever judges it, and nothing changes.

`Watching` wraps an ASGI application; `watch` listens to a client of httpx (Starlette's test client is one) or of requests. Each
calls ``see`` with the exchange when the answer is whole.
"""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from faultspec.exchange.model import Exchange, Headers, Request, Response
from faultspec_conformance.observed.formats.record import ABOUT_BODY, ALWAYS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
See = Callable[[Exchange], object]

_KEPT = 4 * 1024 * 1024
"""Bytes of a body that are kept: an error is smaller, and a download is not held twice."""


class Watching:
    """An ASGI application around another one. What it is asked and answers over HTTP goes to ``see``."""

    def __init__(self, app: Application, see: See) -> None:
        self.app = app
        self.see = see

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, and show the exchange once the answer has ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        asked, told = bytearray(), bytearray()
        start: Message = {}
        whole = True

        async def listening() -> Message:
            message = await receive()
            if message["type"] == "http.request" and len(asked) < _KEPT:
                asked.extend(message.get("body", b""))
            return message

        async def sending(message: Message) -> None:
            nonlocal whole
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                body = message.get("body", b"")
                whole = whole and len(told) + len(body) <= _KEPT
                told.extend(body if whole else b"")
            await send(message)
            if (
                message["type"] == "http.response.body"
                and not message.get("more_body", False)
                and start
            ):
                self.see(
                    _exchange(
                        scope,
                        bytes(asked),
                        start,
                        bytes(told) if whole else None,
                        time.perf_counter() - began,
                    )
                )

        await self.app(scope, listening, sending)


def _exchange(
    scope: Scope, asked: bytes, start: Message, told: bytes | None, elapsed: float
) -> Exchange:
    query = scope.get("query_string", b"").decode("latin-1")
    path = scope.get("raw_path") or scope["path"].encode()
    target = path.decode("latin-1").partition("?")[0] + (f"?{query}" if query else "")
    # Frameworks leave what they matched in the scope; Starlette and FastAPI have the template in it.
    template = getattr(scope.get("route"), "path", None)
    return Exchange(
        Request(scope["method"], target, _headers(scope.get("headers", ())), asked),
        Response(start["status"], _headers(start.get("headers", ())), told or b"", elapsed),
        route=template,
        operation=f"{scope['method']} {template}" if template is not None else None,
        lacks=ALWAYS if told is not None else ALWAYS | ABOUT_BODY,
    )


def _headers(pairs: Any) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs)


def watch(client: Any, see: See) -> None:
    """Listen to a client: an ``httpx.Client`` or ``AsyncClient``, or a ``requests.Session``. Raises TypeError for another."""
    if hasattr(client, "event_hooks"):
        _of_httpx(client, see)
    elif isinstance(getattr(client, "hooks", None), dict) and hasattr(client, "mount"):
        client.hooks.setdefault("response", []).append(
            lambda answer, *_, **__: see(_by_requests(answer)) and None
        )
    else:
        raise TypeError(
            f"{type(client).__name__} is neither a client of httpx nor a session of requests"
        )


def _of_httpx(client: Any, see: See) -> None:
    def heard(answer: Any) -> None:
        answer.read()
        see(_by_httpx(answer))

    async def awaited(answer: Any) -> None:
        await answer.aread()
        see(_by_httpx(answer))

    hooks = client.event_hooks
    hooks["response"] = [*hooks["response"], awaited if hasattr(client, "aclose") else heard]
    client.event_hooks = hooks


def _by_httpx(answer: Any) -> Exchange:
    asked = answer.request
    body = asked.content if hasattr(asked, "_content") else b""
    return Exchange(
        Request(asked.method, str(asked.url), _headers(asked.headers.raw), body),
        Response(answer.status_code, _headers(answer.headers.raw), answer.content),
        lacks=ALWAYS | {"elapsed"},  # httpx measures it when the answer is closed, which is later
    )


def _by_requests(answer: Any) -> Exchange:
    asked = answer.request
    body = asked.body or b""
    sent = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else b""
    return Exchange(
        Request(
            asked.method,
            asked.url,
            tuple((str(name), _text(value)) for name, value in asked.headers.items()),
            sent,
        ),
        Response(
            answer.status_code,
            # What is made up by an adapter of a test has no raw answer.
            tuple((answer.headers if answer.raw is None else answer.raw.headers).items()),
            answer.content,
            answer.elapsed.total_seconds(),
        ),
        lacks=ALWAYS,
    )


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
