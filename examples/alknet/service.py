"""An alknet gateway in small: operations called by POST, their errors those of `generated/python`.

    python examples/alknet/service.py [PORT]

`fs/readFile` is local, so from outside there is no such operation; `agent/chat` is a subscription,
so it is not called.
"""

import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

sys.path.insert(
    0, str(Path(__file__).parent / "generated" / "python")
)  # a team would install the package

from alknet_errors import (
    AlknetError,
    CreateMachineRateLimited,
    Forbidden,
    InvalidInput,
    InvalidOperationType,
    NotFound,
    Timeout,
    undeclared,
)
from alknet_errors.asgi import ErrorBoundary, Problem

#: By operation, the errors that it declares: what `services/schema` answers with.
PUBLISHED: Mapping[str, Mapping[str, object]] = json.loads(
    (Path(__file__).parent / "generated/discovery/schema.json").read_text(encoding="utf-8")
)["answers"]

BODY_LIMIT = 64 * 1024

#: Seconds that an operation may take.
BUDGET = 0.3

#: Calls of an operation that an upstream allows in a second; small, so that the limit is met
#: without load.
RATE = 2

#: Tokens for demonstration, each with its scopes. They open nothing but this service in memory.
CALLERS: Mapping[str, frozenset[str]] = {
    "demo-anna": frozenset({"machines", "demo"}),
    "demo-reader": frozenset({"demo"}),
}


class Undeclared(Exception):
    """A failure of a handler, by a code that its operation does not declare."""


Handler = Callable[[Mapping[str, Any]], Awaitable[object]]


@dataclass(frozen=True)
class Operation:
    """One operation. ``inputs``: its input by name and type."""

    handler: Handler
    scope: str = "demo"
    inputs: Mapping[str, type] | None = None
    subscription: bool = False
    local: bool = False


class Upstream:
    """The market of machines, which limits the rate; ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.calls: list[float] = []

    async def create(self, given: Mapping[str, Any]) -> object:
        """Rent a machine."""
        now = self.clock()
        self.calls = [each for each in self.calls if now - each < 1]
        if len(self.calls) >= RATE:
            raise CreateMachineRateLimited(details_retry_after=1)
        self.calls.append(now)
        return {"machine": f"m-{given['gpus']}"}


async def add(given: Mapping[str, Any]) -> object:
    """A sum."""
    return {"sum": given["a"] + given["b"]}


async def sleep(given: Mapping[str, Any]) -> object:
    """Nothing, for so long."""
    await anyio.sleep(given["seconds"])
    return {}


async def fail(given: Mapping[str, Any]) -> object:
    """A handler that fails as its author did not foresee: by a code of their own, or by a crash."""
    if given["how"] == "code":
        raise Undeclared("QUOTA_EXCEEDED")
    raise RuntimeError("cursor closed: postgres://alknet:hunter2@10.0.0.7/calls")


async def nothing(given: Mapping[str, Any]) -> object:
    """What is never called from here."""
    return {}


def registry(clock: Callable[[], float]) -> Mapping[str, Operation]:
    """The operations of one gateway."""
    return {
        "demo/add": Operation(add, inputs={"a": int, "b": int}),
        "demo/sleep": Operation(sleep, inputs={"seconds": int}),
        "demo/fail": Operation(fail, inputs={"how": str}),
        "fs/readFile": Operation(nothing, local=True),
        "vastai/createMachine": Operation(Upstream(clock).create, "machines", {"gpus": int}),
        "agent/chat": Operation(nothing, subscription=True),
    }


class Gateway:
    """The door from HTTP to the operations."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.operations = registry(clock)

    def app(self) -> ASGIApp:
        """The ASGI application, error boundary included."""
        routes = [
            Route("/call", self.call, methods=["POST"]),
            Route("/schema", self.schema, methods=["GET"]),
            Route("/openapi.json", lambda request: JSONResponse(DOCUMENT), methods=["GET"]),
        ]
        return ErrorBoundary(Starlette(routes=routes), body_limit=BODY_LIMIT, choose=chosen)

    async def call(self, request: Request) -> Response:
        """Call an operation."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        scopes = CALLERS.get(token) if scheme.lower() == "bearer" else None
        if scopes is None:
            raise Forbidden("The call is from nobody that is known", status=401)
        if (
            request.headers.get("content-type", "").partition(";")[0].strip().lower()
            != "application/json"
        ):
            raise InvalidInput("Send application/json")
        name, given = asked(await request.body())
        operation = self.operations.get(name)
        if operation is None or operation.local:
            raise NotFound()
        if operation.scope not in scopes:
            raise Forbidden(f"missing scope {operation.scope}", operation=name, status=403)
        if operation.subscription:
            raise InvalidOperationType(operation=name)
        wanted = operation.inputs or {}
        if set(given) != set(wanted) or any(
            type(given[each]) is not kind for each, kind in wanted.items()
        ):
            raise InvalidInput(operation=name)
        try:
            with anyio.fail_after(BUDGET):
                return JSONResponse({"output": await operation.handler(given)})
        except TimeoutError:
            raise Timeout(operation=name) from None
        except Undeclared as failure:
            raise undeclared(str(failure)) from failure

    async def schema(self, request: Request) -> Response:
        """What an operation declares."""
        name = request.query_params.get("name", "")
        if name not in self.operations:
            raise NotFound()
        return JSONResponse({"name": name, **PUBLISHED.get(name, {"error_schemas": []})})


def asked(body: bytes) -> tuple[str, Mapping[str, Any]]:
    """The operation that a body names, and its input. Raises InvalidInput."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("The body is not JSON") from None
    if not isinstance(data, dict) or set(data) - {"operation", "input"}:
        raise InvalidInput("The body is not a call")
    name, given = data.get("operation"), data.get("input", {})
    if not isinstance(name, str) or not isinstance(given, dict):
        raise InvalidInput("The body is not a call")
    return name, given


def chosen(problem: Problem) -> AlknetError | None:
    """An unknown path names no operation."""
    return None if problem.status != 404 else NotFound()


DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "alknet gateway", "version": "1"},
    "security": [{"token": []}],
    "paths": {
        "/call": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "operation": {"type": "string"},
                                    "input": {"type": "object"},
                                },
                                "required": ["operation", "input"],
                                "additionalProperties": False,
                            },
                            "example": {"operation": "demo/add", "input": {"a": 1, "b": 2}},
                        }
                    },
                },
                "responses": {
                    "200": {"description": "The output"},
                    "default": {"description": "An error"},
                },
            }
        },
        "/schema": {
            "get": {
                "security": [],
                "parameters": [
                    {"name": "name", "in": "query", "required": True, "schema": {"type": "string"}}
                ],
                "responses": {
                    "200": {"description": "The schema"},
                    "default": {"description": "An error"},
                },
            }
        },
    },
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}

if __name__ == "__main__":
    port = int(sys.argv[1]) if sys.argv[1:] else 8000
    # A server answers longer heads by itself, in words of its own.
    uvicorn.run(
        Gateway().app(),
        port=port,
        log_level="critical",
        http="h11",
        h11_max_incomplete_event_size=256 * 1024,
    )
