"""A small state machine behind the tool `step`, its refusals those of `generated/python`: a coffee
order over MCP.

    python examples/theodosia/service.py [PORT]        # http://127.0.0.1:PORT/mcp

Each session has an order of its own. `theodosia://next` tells what may be done now,
`theodosia://history` what was.
"""

import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext

sys.path.insert(
    0, str(Path(__file__).parent / "generated" / "python")
)  # a team would install the package

from theodosia_errors import (
    ActionError,
    ActionTimeout,
    InvalidTransition,
    TheodosiaError,
    UnknownAction,
    ValidationFailed,
    to_envelope,
)

#: Seconds that a body may run.
BUDGET = 0.3

MODIFIERS = ("oat", "soy", "almond")

#: From each state: the actions that can be taken.
GRAPH: Mapping[str, tuple[str, ...]] = {
    "empty": ("take_order",),
    "ordered": ("add_modifier", "pay", "fetch_report", "cancel"),
    "paid": ("fulfill", "cancel"),
    "done": ("take_order",),
}

#: Where each action leads; None: nowhere else.
LEADS: Mapping[str, str | None] = {
    "take_order": "ordered",
    "add_modifier": None,
    "pay": "paid",
    "fetch_report": None,
    "fulfill": "done",
    "cancel": "empty",
}

Inputs = Mapping[str, Any]


async def pay(inputs: Inputs) -> object:
    """Takes an amount."""
    if inputs.get("amount", 1) <= 0:
        raise ValueError("amount must be positive")
    return {"paid": inputs.get("amount", 1)}


async def fetch_report(inputs: Inputs) -> object:
    """Takes the seconds of its input."""
    await anyio.sleep(inputs.get("seconds", 0))
    return {"report": "all well"}


async def plain(inputs: Inputs) -> object:
    """What has nothing to do but to lead on."""
    return dict(inputs)


BODIES: Mapping[str, Callable[[Inputs], Any]] = {"pay": pay, "fetch_report": fetch_report}


def refused_inputs(action: str, inputs: Inputs) -> tuple[str, str] | None:
    """The input that is refused, and why."""
    if action == "add_modifier" and inputs.get("modifier") not in MODIFIERS:
        return "modifier", f"modifier must be one of: {', '.join(MODIFIERS)}"
    numbers = {"pay": "amount", "fetch_report": "seconds"}
    if action in numbers and type(inputs.get(numbers[action], 0)) not in (int, float):
        return numbers[action], f"{numbers[action]} must be a number"
    return None


@dataclass
class Order:
    """The order of one session."""

    state: str = "empty"
    history: list[dict[str, object]] = field(default_factory=list)

    @property
    def offers(self) -> list[str]:
        """What may be done now."""
        return list(GRAPH[self.state])

    async def step(self, action: str, inputs: Inputs) -> object:
        """Take a step. Raises TheodosiaError where it is not taken."""
        if action not in LEADS:
            raise UnknownAction(
                requested=action, known_actions=list(LEADS), valid_next_actions=self.offers
            )
        if action not in self.offers:
            raise InvalidTransition(requested=action, valid_next_actions=self.offers)
        wrong = refused_inputs(action, inputs)
        if wrong is not None:
            raise ValidationFailed(
                wrong[1], field=wrong[0], requested=action, valid_next_actions=self.offers
            )
        try:
            with anyio.fail_after(BUDGET):
                result = await BODIES.get(action, plain)(inputs)
        except TimeoutError:
            raise ActionTimeout(
                timeout_seconds=BUDGET, requested=action, valid_next_actions=self.offers
            ) from None
        except Exception as error:
            kind = type(error).__name__
            raise ActionError(
                str(error), error_type=kind, requested=action, valid_next_actions=self.offers
            ) from error
        self.state = LEADS[action] or self.state
        return result

    async def answered(self, action: str, inputs: Inputs) -> types.CallToolResult:
        """Take a step, write it down, and say what came of it."""
        code = None
        marked = False
        try:
            payload: Any = {
                "action": action,
                "result": await self.step(action, inputs),
                "state": self.state,
            }
            payload["valid_next_actions"] = self.offers
        except TheodosiaError as error:
            payload, code = to_envelope(error), error.facts.wire
            marked = isinstance(error, ActionTimeout | ActionError)
        record = {
            "seq": len(self.history),
            "ts": time.time(),
            "action": action,
            "refused": code is not None,
        }
        self.history.append({**record, "refusal_reason": code} if code else record)
        content = types.TextContent(type="text", text=json.dumps(payload))
        return types.CallToolResult(content=[content], structured_content=payload, is_error=marked)


Orders = dict[str, Order]
"""Orders by session."""

Context = ServerRequestContext[Orders, Any]

STEP = types.Tool(
    name="step",
    description="Take one step. Every answer says which steps may follow.",
    input_schema={
        "type": "object",
        "properties": {"action": {"type": "string"}, "inputs": {"type": "object"}},
        "required": ["action"],
    },
    output_schema={
        "type": "object",
        "properties": {
            "state": {"type": "string"},
            "valid_next_actions": {"type": "array", "items": {"type": "string"}},
        },
    },
)


@contextlib.asynccontextmanager
async def orders(_: Server[Orders]) -> AsyncIterator[Orders]:
    """The state of all sessions, from the start of the server to its end."""
    yield {}


def order_of(context: Context) -> Order:
    """The order of the session; a client in this process has the only one."""
    session = (
        context.request.headers.get("mcp-session-id", "") if context.request is not None else ""
    )
    return context.lifespan_context.setdefault(session, Order())


async def list_tools(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    """There is one."""
    return types.ListToolsResult(tools=[STEP])


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Take a step. The protocol refuses a call of anything else."""
    given = params.arguments or {}
    if params.name != STEP.name:
        raise MCPError(types.INVALID_PARAMS, "There is no such tool")
    if not isinstance(given.get("action"), str) or not isinstance(given.get("inputs", {}), dict):
        raise MCPError(types.INVALID_PARAMS, "The arguments do not fit the schema of `step`")
    return await order_of(context).answered(given["action"], given.get("inputs", {}))


async def read_resource(
    context: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """What may be done now, or what was done."""
    order, uri = order_of(context), str(params.uri)
    known: Mapping[str, object] = {
        "theodosia://next": order.offers,
        "theodosia://history": order.history,
    }
    if uri not in known:
        raise MCPError(types.INVALID_PARAMS, "There is no such resource")
    text = types.TextResourceContents(
        uri=uri, mime_type="application/json", text=json.dumps(known[uri])
    )
    return types.ReadResourceResult(contents=[text])


def server() -> Server[Orders]:
    """The server, for a transport or for a client in this process."""
    return Server(
        "coffee",
        version="1",
        lifespan=orders,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_read_resource=read_resource,
    )


def app() -> Any:
    """The server as an ASGI application."""
    return server().streamable_http_app()


if __name__ == "__main__":
    uvicorn.run(
        app(),
        host="127.0.0.1",
        port=int(sys.argv[1]) if sys.argv[1:] else 8000,
        log_level="warning",
    )
