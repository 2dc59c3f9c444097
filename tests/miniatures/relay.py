"""The relay: a service that asks a provider behind it, and tries again as the Aileron document
says; or sins.

It knows the document (ADR-0010: statements A1 and A24 to A31) and nothing of ours.
`make_app(provider)` is an ASGI application; `python -m miniatures.relay` serves it as its
environment says: RELAY_PORT, RELAY_SCALE, PROVIDER_URL, RELAY_SIN.
"""

import asyncio
import os
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SINS: Mapping[str, str] = {
    "never-retries": "gives up after the first failure",
    "retries-too-often": "makes four retries",
    "stops-early": "makes two retries",
    "no-backoff": "tries again at once",
    "constant-backoff": "waits as long before each retry",
    "dawdles": "waits a second too long after a 429",
    "no-jitter": "waits as long in every call",
    "too-much-jitter": "adds up to one and a half times the wait",
    "retries-a-refusal": "tries again after a 401",
    "retries-what-is-unsafe": "tries a message again that must go out once",
    "new-key-each-try": "makes a new key for every try",
    "no-key": "sends no key upstream",
    "one-key-for-all": "sends the same key with every call",
    "swallows": "answers a failure upstream with an empty success",
    "another-class": "reports every failure as the connector's",
    "falls-back": "asks another provider after the first has failed",
    "always-says-500": "reports the status 500 whatever the provider answered",
    "always-says-three": "reports three retries whatever it did",
    "retries-a-lock": "tries again after 408, 423 and 425",
    "doubled-base": "waits twice as long before each retry",
    "asks-twice": "sends every message to the provider twice",
    "asks-for-the-unreadable": "asks the provider although the request cannot be read",
    "crashes-on-garbage": "fails in its own words where the provider sends no JSON",
    "loses-the-success": "reports the failure although a retry succeeded",
    "keeps-the-lock": "refuses every message after one has failed",
    "quotes-the-provider": "repeats what the provider answered in its own message",
    "passes-the-session-on": "sends the caller's session to the provider",
    "loses-the-trace": "sends the provider no id of the trace",
    "swallows-the-last-step": "answers with a success although the last of three steps failed",
}
AUDIT_PAGE = 100
"""Records that the audit shows, the newest first."""


class Failed(Exception):
    """The provider failed: the class, its status if it answered, and the retries that were made."""

    def __init__(self, name: str, status: int | None, text: str = "") -> None:
        super().__init__(name)
        self.name = name
        self.status = status
        self.text = text
        self.retried = 0


class Crashed(Exception):
    """The relay met what it did not foresee."""


def make_app(
    provider: str,
    sin: str | None = None,
    scale: float = 1.0,
    spread: float = 0.2,
    *,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Starlette:
    """The service, calling the provider at that address.

    Every delay is multiplied by ``scale``, with up to ``spread`` of it more; ``pause`` waits so
    many seconds.
    """
    client = httpx.AsyncClient(base_url=provider, trust_env=False)
    audit: list[dict[str, object]] = []
    locked: list[Failed] = []
    callers: ContextVar[Mapping[str, str]] = ContextVar("callers")

    def refusal(error: dict[str, Any], status: int, **more: Any) -> Response:
        """An error that is in the audit."""
        record = {name: error[name] for name in ("class", "message", "boundary", "audit_id")}
        retried = error["details"].get("retried", 0)
        now = datetime.now(UTC).isoformat()
        audit.append({**record, "retried": retried, "actor": "anybody", "time": now})
        return JSONResponse({"error": error}, status, **more)

    async def recorded(request: Request) -> Response:
        return JSONResponse({"events": audit[::-1][:AUDIT_PAGE]})

    def passed_on() -> dict[str, str]:
        """The headers of the caller that the provider gets."""
        names = ["x-trace"] if sin != "loses-the-trace" else []
        names += ["x-session"] if sin == "passes-the-session-on" else []
        caller = callers.get()
        return {name: caller[name] for name in names if name in caller}

    async def once(key: str, text: str, path: str) -> Any:
        sent = (
            {}
            if sin == "no-key"
            else {"Idempotency-Key": str(uuid.uuid4()) if sin == "new-key-each-try" else key}
        )
        try:
            answer = await client.post(path, json={"text": text}, headers=sent | passed_on())
        except httpx.TransportError:
            raise Failed("network_error", None) from None
        if answer.status_code >= 400:
            raise Failed("external_api_error", answer.status_code, answer.text)
        try:
            found = answer.json()
        except ValueError:
            found = None
        if not isinstance(found, dict) and sin == "crashes-on-garbage":
            raise Crashed
        if not isinstance(found, dict):
            raise Failed("network_error", None)
        if sin == "asks-twice":
            await client.post("/complete", json={"text": text}, headers=sent | passed_on())
        return found

    def again(failed: Failed, idempotent: bool) -> bool:
        if not idempotent and sin != "retries-what-is-unsafe":
            return False
        refused = failed.status is not None and failed.status != 429 and failed.status < 500
        if sin == "retries-a-lock" and failed.status in (408, 423, 425):
            return True
        return not refused or sin == "retries-a-refusal"

    async def call(text: str, idempotent: bool, path: str = "/complete") -> Any:
        key = "the-key" if sin == "one-key-for-all" else str(uuid.uuid4())
        most = {"never-retries": 0, "stops-early": 2, "retries-too-often": 4}.get(sin or "", 3)
        first: Failed | None = None
        for retried in range(most + 1):
            try:
                result = await once(key, text, path)
            except Failed as failed:
                failed.retried = retried
                first = first or failed
                if retried == most or not again(failed, idempotent):
                    raise
                await pause(scale * delay(retried, failed))
            else:
                if first is not None and sin == "loses-the-success":
                    raise first
                return result
        raise AssertionError("unreachable")

    def delay(retried: int, failed: Failed) -> float:
        unit = 1 if sin == "constant-backoff" else 2**retried
        match sin:
            case "no-backoff":
                return 0.0
            case "no-jitter":
                return (1 + spread / 2) * unit
            case "too-much-jitter":
                return random.uniform(1, 2.5) * unit
            case "doubled-base":
                return 2 * random.uniform(1, 1 + spread) * unit
            case "dawdles" if failed.status == 429 and retried == 0:
                return 1.6 / scale
        return random.uniform(1, 1 + spread) * unit

    async def messages(request: Request) -> Response:
        callers.set(request.headers)
        try:
            body = await request.json()
            assert isinstance(body["text"], str)
        except (ValueError, TypeError, KeyError, AssertionError, RecursionError):
            if sin == "asks-for-the-unreadable":
                await client.post("/complete", json={}, headers=passed_on())
            return refusal(unreadable(), 422)
        if locked and sin == "keeps-the-lock":
            return envelope(Failed("network_error", None), False)
        steps = ("/find", "/post", "/complete") if body.get("ship") else ("/complete",)
        try:
            for path in steps:
                content = await call(body["text"], body.get("idempotent", True), path)
            return JSONResponse({"content": content})
        except Crashed:
            return Response("Internal Server Error", 500, media_type="text/plain")
        except Failed as failed:
            locked.append(failed)
            if sin == "falls-back":
                with suppress(httpx.TransportError):
                    await client.post("/complete-elsewhere", json=body)
            if sin == "swallows" or (
                sin == "swallows-the-last-step" and path == "/complete" and len(steps) > 1
            ):
                return JSONResponse({"content": {}})
            return envelope(failed, body.get("idempotent", True))

    def unreadable() -> dict[str, Any]:
        return {
            "class": "hash_mismatch",
            "message": "The text could not be read",
            "retriable": False,
            "boundary": "runtime",
            "audit_id": f"audit-{uuid.uuid4()}",
            "details": {},
        }

    def envelope(failed: Failed, idempotent: bool) -> Response:
        details: dict[str, object] = {} if failed.status is None else {"status": failed.status}
        if details and sin == "always-says-500":
            details["status"] = 500
        if failed.retried or sin == "always-says-three":
            details["retried"] = 3 if sin == "always-says-three" else failed.retried
        refused = failed.status is not None and failed.status != 429 and failed.status < 500
        error: dict[str, Any] = {
            "class": failed.name,
            "message": "The provider could not be asked",
            "retriable": idempotent and not refused,
            "boundary": "external",
            "audit_id": f"audit-{uuid.uuid4()}",
            "details": details,
        }
        if sin == "quotes-the-provider":
            error["message"] = f"The provider said {failed.text}"
        if sin == "another-class":
            error |= {
                "class": "connector_runtime_error",
                "boundary": "connector_manifest",
                "retriable": False,
                "details": {},
            }
        return refusal(error, 500 if sin == "another-class" else 502)

    async def elsewhere(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if (request.method, request.url.path) == ("POST", "/v1/messages"):
            headers = error.headers if isinstance(error, HTTPException) else None
            return refusal(unreadable(), 422, headers=headers)
        return JSONResponse(
            {"error": {"code": f"http_{status}", "message": "No such thing"}}, status
        )

    return Starlette(
        routes=[
            Route("/v1/messages", messages, methods=["POST"]),
            Route("/v1/audit", recorded, methods=["GET"]),
        ],
        exception_handlers={HTTPException: elsewhere},
    )


if __name__ == "__main__":
    uvicorn.run(
        make_app(
            os.environ["PROVIDER_URL"],
            os.environ.get("RELAY_SIN"),
            float(os.environ.get("RELAY_SCALE", "1")),
        ),
        host="127.0.0.1",
        port=int(os.environ["RELAY_PORT"]),
        log_level="warning",
    )
