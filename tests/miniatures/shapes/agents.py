"""An agent whose tasks are reached over HTTP, JSON-RPC and MCP at once."""

import json
from collections.abc import Mapping
from typing import Any

from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .resource import LARGEST, Refused, application, guarded, is_text, read

#: Each reason: the code over HTTP, the number of JSON-RPC, the code of MCP.
CODES: Mapping[str, tuple[str, int, str | int]] = {
    "absent": ("TASK_NOT_FOUND", -32001, "TASK_NOT_FOUND"),
    "ended": ("TASK_NOT_CANCELABLE", -32002, 17),
    "limited": ("RATE_LIMITED", -32029, "rate-limited"),
    "failed": ("INTERNAL", -32099, "INTERNAL"),
    "refused": ("BAD_REQUEST", -32098, "BAD_REQUEST"),
}

ACTIONS = ("create", "read", "cancel")


class Tasks:
    """The tasks of the agent, on every carrier. A task whose text is a reason fails for it."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def act(self, action: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Do what is asked for. Raises Refused."""
        if action == "create":
            text = given.get("text")
            if not is_text(text):
                raise Refused("refused", "text")
            if text in ("limited", "failed"):
                raise Refused(str(text))
            number = str(len(self._states) + 1)
            self._states[number] = "done" if text == "short" else "working"
            return {"id": number, "state": self._states[number]}
        number = given.get("id")
        if not is_text(number):
            raise Refused("refused", "id")
        assert isinstance(number, str)
        if number not in self._states:
            raise Refused("absent")
        if action == "cancel":
            if self._states[number] != "working":
                raise Refused("ended")
            self._states[number] = "canceled"
        return {"id": number, "state": self._states[number]}


def _error(refused: Refused, carrier: int) -> dict[str, Any]:
    code = CODES.get(refused.reason, CODES["refused"])[carrier]
    error: dict[str, Any] = {"code": code, "message": refused.text}
    if refused.reason == "limited":
        error["data" if carrier == 1 else "details"] = {"seconds": 3}
    return error


def _over_http(tasks: Tasks) -> list[Route]:
    statuses = {"ended": 409, "absent": 404, "refused": 400}

    async def create(request: Request) -> Response:
        given = await read(request)
        return JSONResponse(tasks.act("create", given if isinstance(given, dict) else {}), 201)

    async def show(request: Request) -> Response:
        return JSONResponse(tasks.act("read", request.path_params))

    async def cancel(request: Request) -> Response:
        return JSONResponse(tasks.act("cancel", request.path_params))

    return [
        Route("/tasks", guarded(create, _say, statuses), methods=["POST"]),
        Route("/tasks/{id}", guarded(show, _say, statuses), methods=["GET"]),
        Route("/tasks/{id}/cancel", guarded(cancel, _say, statuses), methods=["POST"]),
    ]


def _say(refused: Refused, status: int) -> Response:
    reason = "absent" if refused.reason == "missing" else refused.reason
    known = Refused(reason if status != 500 else "failed")
    headers = {"Retry-After": "3"} if reason == "limited" else None
    return JSONResponse({"error": _error(known, 0)}, status, headers)


class _Invalid(Exception):
    """A refusal by JSON-RPC itself: the number and the text."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number, self.text = number, text


def _over_jsonrpc(tasks: Tasks) -> Route:
    def answer(message: Any) -> dict[str, Any] | None:
        number = message.get("id") if isinstance(message, dict) else None
        known = number if isinstance(number, (str, int, float)) and number is not True else None
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": known}
        try:
            reply["result"] = called(message)
        except Refused as refused:
            reply["error"] = _error(refused, 1)
        except _Invalid as invalid:
            reply["error"] = {"code": invalid.number, "message": invalid.text}
            if invalid.number == -32600:
                return reply
        return reply if "id" in message else None

    def called(message: Any) -> dict[str, Any]:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise _Invalid(-32600, "The request is not valid")
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str) or isinstance(number, (bool, list, dict)):
            raise _Invalid(-32600, "The request is not valid")
        action = method.removeprefix("tasks/")
        if method == action or action not in ACTIONS:
            raise _Invalid(-32601, "There is no such method")
        params = message.get("params", {})
        if not isinstance(params, (dict, list)):
            raise _Invalid(-32600, "The request is not valid")
        if not isinstance(params, dict):
            raise _Invalid(-32602, "The params are an object")
        return tasks.act(action, params)

    async def call(request: Request) -> Response:
        try:
            sent = json.loads((await request.body())[:LARGEST])
        except (ValueError, RecursionError):
            error = {"code": -32700, "message": "The request is not JSON"}
            return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error})
        if isinstance(sent, list) and sent:
            replies = [each for each in map(answer, sent) if each is not None]
            return JSONResponse(replies) if replies else Response(status_code=204)
        reply = answer(sent)
        return JSONResponse(reply) if reply is not None else Response(status_code=204)

    return Route("/rpc", call, methods=["POST"])


Context = ServerRequestContext[Any, Any]


def _over_mcp(tasks: Tasks) -> Server[Any]:
    member = {"create": "text", "read": "id", "cancel": "id"}
    tools = [
        types.Tool(
            name=f"{action}_task",
            description=f"{action.capitalize()} a task.",
            input_schema={
                "type": "object",
                "properties": {member[action]: {"type": "string"}},
                "required": [member[action]],
            },
        )
        for action in ACTIONS
    ]

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        action = params.name.removesuffix("_task")
        if action == params.name or action not in ACTIONS:
            raise MCPError(types.INVALID_PARAMS, "There is no such tool")
        refused = False
        try:
            payload = tasks.act(action, params.arguments or {})
        except Refused as error:
            payload, refused = {"agent_error": _error(error, 2)}, True
        text = types.TextContent(type="text", text=json.dumps(payload))
        return types.CallToolResult(content=[text], structured_content=payload, is_error=refused)

    return Server("agents", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def agents() -> ASGIApp:
    """The agent: `/tasks`, `/rpc` and `/mcp`. Its lifespan is that of the MCP server."""
    tasks = Tasks()
    over_mcp = _over_mcp(tasks).streamable_http_app(json_response=True)
    app = application([*_over_http(tasks), _over_jsonrpc(tasks), *over_mcp.routes], _say)
    app.router.lifespan_context = over_mcp.router.lifespan_context
    return app
