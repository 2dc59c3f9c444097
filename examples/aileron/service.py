"""An Aileron runtime in small: actions behind a chat endpoint, and the endpoints around it, each
with its own envelope.

    python examples/aileron/service.py [PORT]

What an action fails with comes from `generated/python`; the endpoints around the runtime answer
with the envelope
`api_error`, whose codes are their own. A model would choose the action to call; here the last
message names it.
"""

import json
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

sys.path.insert(
    0, str(Path(__file__).parent / "generated" / "python")
)  # a team would install the package

from aileron_errors import (
    AileronError,
    BindingFailed,
    BindingRequired,
    CapabilityDenied,
    ConnectorRuntimeError,
    ExternalApiError,
    HashMismatch,
    NetworkError,
    ResourceLimitExceeded,
    SignatureFailure,
    render,
)
from aileron_errors.renderings import tool_message

BODY_LIMIT = 64 * 1024

#: Tokens for demonstration. They open nothing but this service in memory.
CALLERS: Mapping[str, str] = {"demo-ada": "ada"}

MADE_UP = {"audit_id": "audit-0"}
"""Every failure gets the id of its record when it is written; until then it has this one."""

ACTIONS: Mapping[str, Callable[[], AileronError] | None] = {
    "notes.add": None,
    "notes.fetch-elsewhere": lambda: CapabilityDenied(
        host="api.example.com", boundary="sandbox", **MADE_UP
    ),
    "notes.publish": lambda: CapabilityDenied(scope="publish", boundary="action", **MADE_UP),
    "slack.post": lambda: BindingRequired(binding="oauth2/slack/work", **MADE_UP),
    "slack.list": lambda: BindingFailed(retriable=False, binding="oauth2/slack/work", **MADE_UP),
    "slack.search": lambda: ExternalApiError(status_=503, retried=3, **MADE_UP),
    "slack.react": lambda: ExternalApiError(status_=404, **MADE_UP),
    "images.resize": lambda: ResourceLimitExceeded(**MADE_UP),
    "images.read": lambda: ConnectorRuntimeError(retriable=False, **MADE_UP),
    "weather.today": lambda: NetworkError(retried=3, **MADE_UP),
}
"""The actions that are installed: each with what it fails with, or with None where it succeeds."""


class Refused(Exception):
    """What an endpoint around the runtime refuses: ``details`` names each thing that is wrong."""

    def __init__(
        self, status: int, code: str, message: str, *details: Mapping[str, object]
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.details = status, code, message, list(details)


class Runtime:
    """The actions, the policies, and the audit log of both."""

    def __init__(self) -> None:
        self.policies: dict[str, Mapping[str, object]] = {}
        self.events: list[Mapping[str, object]] = []

    def app(self) -> ASGIApp:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/actions/install", self.install, methods=["POST"]),
                Route("/v1/audit", self.audit, methods=["GET"]),
                Route("/v1/policies", self.all_policies, methods=["GET", "POST"]),
                Route("/v1/policies/{id}", self.read_policy, methods=["GET"]),
                Route("/openapi.json", lambda request: JSONResponse(DOCUMENT), methods=["GET"]),
            ],
            exception_handlers={
                AileronError: self.failed,
                Refused: lambda request, error: refused(request, error),
                HTTPException: lambda request, error: refusal(
                    error.status_code,
                    NAMES.get(error.status_code, "refused"),
                    error.detail,
                    headers=error.headers,
                ),
                Exception: lambda request, error: refusal(500, "internal", "Something went wrong"),
            },
        )

    # the runtime: envelope `failure`

    async def chat(self, request: Request) -> Response:
        """Call the action that the last message names."""
        caller(request)
        body = await read(request)
        messages = body.get("messages")
        last = messages[-1] if isinstance(messages, list) and messages else None
        action = last.get("content") if isinstance(last, dict) else None
        if not isinstance(action, str):
            raise Refused(422, "invalid", "A message is missing", {"at": "/messages"})
        if action not in ACTIONS:
            return JSONResponse(
                {
                    "choices": [
                        {"message": {"role": "assistant", "content": "I know no such action"}}
                    ]
                }
            )
        fails = ACTIONS[action]
        if fails is not None and isinstance(body.get("tool_call_id"), str):
            return self.answer_by_tool(request, fails(), action, body["tool_call_id"])
        if fails is not None:
            raise fails()
        return JSONResponse(
            {"choices": [{"message": {"role": "assistant", "content": f"{action}: done"}}]}
        )

    async def install(self, request: Request) -> Response:
        """Install a bundle of actions: its name signed, a colon, and its bytes. No class is for a
        body that is none.
        """
        bundle = b""
        async for chunk in request.stream():
            bundle = (bundle + chunk)[:BODY_LIMIT]
        name, colon, code = bundle.partition(b":")
        if not colon or not name.startswith(b"signed-"):
            raise SignatureFailure(**MADE_UP)
        if code == b"tampered":
            raise HashMismatch(**MADE_UP)
        return JSONResponse({"installed": name.decode("ascii", "replace")}, 201)

    def answer_by_tool(
        self, request: Request, error: AileronError, action: str, tool_call_id: str
    ) -> Response:
        """Write a failure into the log, and answer with it as the message of a tool, which a
        conversation goes on with.
        """
        self.record(request, error)
        message = tool_message(error, tool_call_id=tool_call_id, action=action)
        return JSONResponse({"choices": [{"message": message}]})

    def failed(self, request: Request, error: Exception) -> Response:
        """Write a failure into the log, and answer with it."""
        assert isinstance(error, AileronError)
        self.record(request, error)
        answer = render(error)
        return Response(answer.body, answer.status, answer.headers)

    def record(self, request: Request, error: AileronError) -> None:
        """Write a failure into the log, under a new id."""
        error.audit_id = f"audit-{secrets.token_hex(4)}"
        retried = dict(error.details).get("retried")
        record = {
            "class": error.facts.wire,
            "message": error.message,
            "boundary": error.boundary or error.facts.boundaries[0],
            "retried": retried if retried is not None else 0,
            "actor": CALLERS.get(
                request.headers.get("authorization", "").partition(" ")[2], "local"
            ),
            "time": datetime.now(UTC).isoformat(),
            "audit_id": error.audit_id,
        }
        self.events.insert(0, record)

    # around it: envelope `api_error`

    async def audit(self, request: Request) -> Response:
        """What failed, the newest first."""
        caller(request)
        return JSONResponse({"events": self.events[:100]})

    async def all_policies(self, request: Request) -> Response:
        """The policies, or one more."""
        caller(request)
        if request.method != "POST":
            return JSONResponse({"policies": list(self.policies.values())})
        name = (await read(request)).get("name")
        if not isinstance(name, str) or not 1 <= len(name) <= 100:
            raise Refused(422, "invalid", "The policy has no name", {"at": "/name"})
        id = secrets.token_hex(8)
        self.policies[id] = {"id": id, "name": name, "created": int(time.time())}
        return JSONResponse(self.policies[id], 201, {"Location": f"/v1/policies/{id}"})

    async def read_policy(self, request: Request) -> Response:
        """One policy."""
        caller(request)
        if request.path_params["id"] not in self.policies:
            raise Refused(404, "not_found", "There is no such policy")
        return JSONResponse(self.policies[request.path_params["id"]])


NAMES: Mapping[int, str] = {404: "not_found", 405: "method_not_allowed"}


def refusal(
    status: int,
    code: str,
    message: str,
    details: object = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An answer in the envelope `api_error`."""
    error = {"code": code, "message": message, "request_id": f"req-{secrets.token_hex(4)}"}
    return JSONResponse(
        {"error": {**error, "details": details} if details else error}, status, headers
    )


def refused(request: Request, error: Refused) -> Response:
    """What is refused before an action runs has no class; the gateway tells it as the API that it
    stands for does.
    """
    if request.url.path == "/v1/chat/completions":
        return JSONResponse(
            {"error": {"type": "invalid_request_error", "message": error.message}}, error.status
        )
    return refusal(error.status, error.code, error.message, error.details)


def caller(request: Request) -> str:
    """The caller."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or token not in CALLERS:
        raise Refused(401, "unauthenticated", "A token is needed")
    return CALLERS[token]


async def read(request: Request) -> Mapping[str, Any]:
    """The JSON object in the body."""
    if (
        request.headers.get("content-type", "").partition(";")[0].strip().lower()
        != "application/json"
    ):
        raise Refused(415, "unsupported_media_type", "Send application/json")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            raise Refused(413, "too_large", "The body is too large")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "malformed", "The body is not JSON") from None
    if not isinstance(data, dict):
        raise Refused(422, "invalid", "The body is not an object")
    return data


def _operation(summary: str, body: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """An operation of the document; ``body``: an example of its JSON object, whose members are all
    texts or lists.
    """
    answers = {"200": {"description": summary}, "default": {"description": "An error"}}
    if body is None:
        return {"summary": summary, "responses": answers}
    types = {
        name: {"type": "string" if isinstance(each, str) else "array"}
        for name, each in body.items()
    }
    schema = {"type": "object", "properties": types, "required": list(body)}
    content = {"application/json": {"schema": schema, "example": body}}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": content},
        "responses": answers,
    }


_ID = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]

DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Aileron runtime", "version": "1"},
    "security": [{"token": []}],
    "paths": {
        "/v1/chat/completions": {
            "post": _operation("Chat", {"messages": [{"role": "user", "content": "notes.add"}]})
        },
        "/v1/actions/install": {"post": {**_operation("Install"), "security": []}},
        "/v1/audit": {"get": _operation("Audit")},
        "/v1/policies": {
            "get": _operation("Policies"),
            "post": _operation("A policy", {"name": "quiet"}),
        },
        "/v1/policies/{id}": {"parameters": _ID, "get": _operation("One policy")},
    },
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}

if __name__ == "__main__":
    port = int(sys.argv[1]) if sys.argv[1:] else 8000
    # A server answers longer heads by itself, in words of its own.
    uvicorn.run(
        Runtime().app(),
        port=port,
        log_level="critical",
        http="h11",
        h11_max_incomplete_event_size=256 * 1024,
    )
