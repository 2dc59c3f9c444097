"""MCP through its maintained client library: streamable HTTP, or a server object in this process.

The library speaks asyncio; an event loop in a thread of its own runs it, and ends with the driver. Sessions are those of
the handshake (2025-11-25 and before), which every released server has: what walks through states keeps them there.
"""

import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import CancelledError
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    suppress,
)
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolRequest, CallToolRequestParams
from pydantic import TypeAdapter, ValidationError

from faultspec.exchange.model import Headers, Request, Response
from faultspec_conformance.drivers import TIMEOUT, Driver, Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver, is_loopback

logging.getLogger("mcp").addHandler(logging.NullHandler())  # what goes wrong is told as a value

_RAW: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])

#: Seconds that the library gets beyond our own deadline, so that ours is the one that is told.
_BEYOND = 5.0


_Got = TypeVar("_Got")

Local = Server[Any] | MCPServer
"""A server in this process."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a tool answered: its result as it came, or, with ``protocol``, an error of the protocol."""

    response: Response
    protocol: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the server lists it."""

    name: str
    schema: Mapping[str, object]


class McpDriver(Driver):
    """One MCP server, by its address or as an object. Every caller has a session of his own."""

    def __init__(
        self,
        server: str | Local,
        limits: Limits,
        *,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(limits, timeout=timeout, clock=clock, pause=pause)
        self._server = server
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._sessions: dict[Headers, tuple[Client, AbstractContextManager[object]]] = {}

    def __enter__(self) -> Self:
        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    def close(self) -> None:
        """End the sessions, then the event loop with all that still runs in it."""
        portal, self._portal = self._portal, None
        if portal is None:
            return
        try:
            self._hang_up(portal)
        finally:
            with suppress(Exception):  # the loop may have ended by itself
                portal.call(portal.stop, True)
            self._stack.close()

    def begin(self) -> None:
        """Leave every session, so that the next call begins one."""
        if self._portal is not None:
            self._hang_up(self._portal)

    def listens(self) -> bool:
        """Whether anybody takes connections."""
        if not isinstance(self._server, str):
            return True
        parts = urlsplit(self._server)
        with HttpDriver(
            f"{parts.scheme}://{parts.netloc}", self.limits, timeout=self.timeout
        ) as door:
            return door.listens()

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        headers: Headers = (),
        *,
        harmless: bool = False,
    ) -> Answered | NoAnswer:
        """Call a tool. Unless it is ``harmless``, it may write."""
        request = Request("POST", tool, headers, _json(arguments))
        params = CallToolRequestParams(name=tool, arguments=dict(arguments))

        async def asked(client: Client) -> dict[str, Any]:
            asking = CallToolRequest(params=params)
            patience = self.timeout + _BEYOND
            return await client.session.send_request(asking, _RAW, patience)  # type: ignore[type-var]  # the result as it came

        return self._asked(request, asked, writes=not harmless)

    def tools(self, headers: Headers = ()) -> tuple[Tool, ...] | Answered | NoAnswer:
        """The tools that the server lists, or its error."""
        found: list[Tool] = []

        async def asked(client: Client) -> dict[str, Any]:
            listed = await client.list_tools()
            found.extend(Tool(tool.name, tool.input_schema) for tool in listed.tools)
            return {}

        answer = self._asked(Request("POST", "tools/list", headers), asked, writes=False)
        return answer if isinstance(answer, NoAnswer) or answer.protocol else tuple(found)

    def read(self, uri: str, headers: Headers = ()) -> Answered | NoAnswer:
        """A resource of the server; the body is its text."""
        texts: list[str] = []

        async def asked(client: Client) -> dict[str, Any]:
            content = await client.read_resource(uri, cache_mode="bypass")
            texts.extend(each.text for each in content.contents if hasattr(each, "text"))
            return {}

        answer = self._asked(Request("POST", uri, headers), asked, writes=False)
        if isinstance(answer, NoAnswer) or answer.protocol:
            return answer
        return Answered(Response(None, (), "".join(texts).encode(), answer.response.elapsed))

    # ---- inside

    def _asked(
        self,
        request: Request,
        ask: Callable[[Client], Coroutine[Any, Any, dict[str, Any]]],
        *,
        writes: bool,
    ) -> Answered | NoAnswer:
        refused = self.refuses(request, writes=writes)
        if refused is not None:
            return refused
        patience = min(self.timeout, self.remaining)
        took = 0.0

        async def timed(client: Client) -> dict[str, Any]:
            nonlocal took
            began = time.monotonic()
            try:
                with anyio.fail_after(patience):
                    return await ask(client)
            finally:
                took = time.monotonic() - began

        try:
            body: dict[str, Any] = self._run(timed, self._session(request.headers))
            return Answered(Response(None, (), _json(body), took))
        except TimeoutError:
            return NoAnswer(request, "timeout", f"no answer within {patience:g} s")
        except MCPError as error:
            data = {} if error.data is None else {"data": error.data}
            said = {
                "jsonrpc": "2.0",
                "id": None,
                "error": {"code": error.code, "message": error.message, **data},
            }
            return Answered(Response(None, (), _json(said), took), protocol=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = "/".join(map(str, first["loc"]))
            return NoAnswer(
                request, "garbled", f"the answer is none of MCP: {where}: {first['msg']}"
            )
        except Exception as error:  # whatever a transport comes to, the run goes on
            cause = _cause(error)
            kind = "refused" if isinstance(cause, httpx2.ConnectError) else "closed"
            return NoAnswer(
                request,
                "refused" if kind == "refused" else "closed",
                f"{type(cause).__name__}: {cause}",
            )

    def _session(self, headers: Headers) -> Client:
        known = self._sessions.get(headers)
        if known is not None:
            return known[0]
        assert self._portal is not None
        entered = self._portal.wrap_async_context_manager(
            _dialled(self._server, headers, self.timeout + _BEYOND)
        )
        client = entered.__enter__()
        self._sessions[headers] = client, entered
        return client

    def _run(self, ask: Callable[[Client], Coroutine[Any, Any, _Got]], client: Client) -> _Got:
        assert self._portal is not None
        future = self._portal.start_task_soon(ask, client)
        try:
            got: _Got = future.result()
            return got
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _hang_up(self, portal: BlockingPortal) -> None:
        while self._sessions:
            _, (_, entered) = self._sessions.popitem()
            with suppress(Exception, CancelledError):  # who is gone need not be told goodbye
                entered.__exit__(None, None, None)


@asynccontextmanager
async def _dialled(server: str | Local, headers: Headers, patience: float) -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:
        way: Any = server
        if isinstance(server, str):
            # A proxy named in the environment is meant for the world outside, never for a service on this machine.
            direct = is_loopback(urlsplit(server).hostname or "")
            http = httpx2.AsyncClient(headers=list(headers), timeout=patience, trust_env=not direct)
            way = streamable_http_client(server, http_client=await stack.enter_async_context(http))
        client = Client(way, mode="legacy", cache=None, read_timeout_seconds=patience)
        yield await stack.enter_async_context(client)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _cause(error: BaseException) -> BaseException:
    """What a group of exceptions comes down to."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
