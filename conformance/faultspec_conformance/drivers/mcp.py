"""MCP through its client library: streamable HTTP, the standard streams of a process, or a server
object in this process.

The library is asynchronous. An event loop in a thread of its own runs it, and ends with the driver.
By default sessions begin with the handshake of revisions up to 2025-11-25, which every released
server has. Servers with states keep them in the session. Revision 2026-07-28 has no handshake.
"""

import json
import logging
import re
import threading
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
from typing import Any, Self, TypeVar, Unpack
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    ErrorData,
)
from mcp.types import Request as McpRequest
from pydantic import TypeAdapter, ValidationError

from faultspec.exchange.body import count_values
from faultspec.exchange.decoding import UndecodableBody, content_codings, decode_content
from faultspec.exchange.model import Headers, Request, Response
from faultspec_conformance.drivers import (
    ALL_BODIES,
    BODY_LIMIT,
    SERVER_REQUESTS,
    Driver,
    Limits,
    NoAnswer,
    Revision,
    Timing,
)
from faultspec_conformance.drivers.http import HttpDriver, is_loopback_host
from faultspec_conformance.drivers.mcp_process import MOST_VALUES, open_streams, overhear
from faultspec_conformance.drivers.piped import GRACE, LAST, PipedProcess
from faultspec_conformance.drivers.processes import KeptOutput
from faultspec_conformance.drivers.unprompted import UnpromptedMessages

logging.getLogger("mcp").addHandler(logging.NullHandler())  # errors are returned as values

_RAW: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])

#: A request whose params are sent as they are.
_MethodCall = McpRequest[dict[str, Any], str]

#: Seconds that the library gets beyond our own deadline, so that ours is the one that is reported.
_BEYOND = 5.0


#: Seconds for all sessions to end: a server may not answer the request to end one.
_FAREWELL = 1.0

#: The same once the time of the run is spent.
_LAST = 0.2

#: The errors that the library makes up if a body cannot be read to its end, or its stream has no
#: answer.
_LOST = frozenset(
    {
        "Connection closed",
        "SSE stream ended without a response",
        "SSE stream ended and reconnection attempts were exhausted",
    }
)

#: The end of an event of a stream, and its bytes.
_END_OF_EVENT, _LONGEST_END = re.compile(rb"\r?\n\r?\n"), 4

_Result = TypeVar("_Result")

PROTOCOL_METHODS = frozenset(
    {
        *("ping", "resources/list", "resources/templates/list", "resources/read"),
        *("prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "tools/list"),
    }
)
"""Methods that are called as they are. Every other name is that of a tool."""

#: The callbacks of the library for requests of a server.
_CALLBACKS = dict(
    zip(
        SERVER_REQUESTS,
        ("elicitation_callback", "sampling_callback", "list_roots_callback"),
        strict=True,
    )
)

Command = tuple[str, ...]
"""The words of a command that starts a server."""

Local = Server[Any] | MCPServer
"""A server in this process."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool: its unchanged result, or an error of the protocol if ``protocol``."""

    response: Response
    protocol: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the server lists. ``output``: the schema of its structured content, if it has
    one.
    """

    name: str
    schema: Mapping[str, object]
    output: Mapping[str, object] | None = None


class McpDriver(Driver):
    """One MCP server, by its address, by its command or as an object. Every caller has a session of
    its own; each session of a command has a process of its own. Entering starts the first process,
    and may raise OSError. ``revision``: the newest of the specification that it offers.
    ``spoken``: the one that the server has chosen; None before the first session. ``logs``: each
    session asks for all log messages of the server. ``replies``: the results of its own requests,
    by method, for which each session declares capabilities.
    """

    def __init__(
        self,
        server: str | Command | Local,
        limits: Limits,
        *,
        cwd: str | None = None,
        revision: Revision = "2025-11-25",
        logs: bool = False,
        replies: Mapping[str, object] | None = None,
        **timing: Unpack[Timing],
    ) -> None:
        super().__init__(limits, **timing)
        self._server = server
        self._cwd = cwd
        self._revision = revision
        self._logs = logs
        self._replies = dict(replies or {})
        self._unprompted = UnpromptedMessages()
        self.spoken: str | None = None
        self._processes: list[PipedProcess] = []
        self._output = KeptOutput()
        self._next: PipedProcess | None = None
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._sessions: dict[Headers, tuple[Client, AbstractContextManager[object]]] = {}

    def __enter__(self) -> Self:
        if isinstance(self._server, tuple):
            self._next = self._start_process(self._server)
        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    @property
    def protocol_methods(self) -> frozenset[str]:
        """The methods that are called as they are."""
        return PROTOCOL_METHODS

    @property
    def hears(self) -> bool:
        """Whether notifications of the server arrive."""
        return isinstance(self._server, str | tuple)

    def take_unprompted(self) -> tuple[tuple[bytes, ...], int]:
        """The notifications and requests of the server since the last time, and how many more
        came.
        """
        return self._unprompted.take()

    def _hear(self, message: bytes) -> None:
        self.received += self._unprompted.add(message, self.body_limit)

    @property
    def stray(self) -> tuple[bytes, ...]:
        """The first outputs of all processes besides their messages."""
        return next((process.stray for process in self._processes if process.strays), ())

    @property
    def strays(self) -> int | None:
        """How many such outputs there are; None without a process."""
        counts = [process.strays for process in self._processes]
        return sum(counts) if counts else None

    def output_text(self) -> str | None:
        """The end of what the processes of a command wrote beside messages."""
        return self._output.text() if isinstance(self._server, tuple) else None

    def close(self) -> None:
        """End the sessions, then the event loop with its tasks."""
        portal, self._portal = self._portal, None
        if portal is None:
            return
        try:
            self._hang_up()
        finally:
            with suppress(Exception):  # the loop may have ended by itself
                portal.call(portal.stop, True)
            self._stack.close()
            self._end_processes()

    def begin(self) -> None:
        """End every session, so that the next call begins a new one."""
        if self._portal is not None:
            self._hang_up()
            self._end_processes()

    def listens(self) -> bool:
        """Whether the server accepts connections."""
        if not isinstance(self._server, str):
            return True
        parts = urlsplit(self._server)
        with HttpDriver(
            f"{parts.scheme}://{parts.netloc}", self.limits, timeout=self.timeout
        ) as http:
            return http.listens()

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        headers: Headers = (),
        *,
        harmless: bool = False,
        patience: float | None = None,
    ) -> ToolAnswer | NoAnswer:
        """Call a tool, or a method of the protocol. Unless it is ``harmless``, it may write.
        ``patience``: seconds to wait for the answer; None: as long as the driver waits.
        """
        request = Request("POST", tool, headers, _json(arguments))
        call: McpRequest[Any, Any] = _MethodCall(method=tool, params=dict(arguments))
        if tool not in PROTOCOL_METHODS:
            params = CallToolRequestParams(name=tool, arguments=dict(arguments))
            call = CallToolRequest(params=params)

        async def ask(client: Client) -> dict[str, Any]:
            seconds = self.timeout + _BEYOND
            return await client.session.send_request(call, _RAW, seconds)  # type: ignore[type-var]  # unchanged

        return self._exchange(request, ask, writes=not harmless, patience=patience)

    def tools(self, headers: Headers = ()) -> tuple[Tool, ...] | ToolAnswer | NoAnswer:
        """The tools that the server lists, or its error."""
        found: list[Tool] = []

        async def ask(client: Client) -> dict[str, Any]:
            listed = await client.list_tools()
            found.extend(
                Tool(tool.name, tool.input_schema, tool.output_schema) for tool in listed.tools
            )
            return {}

        answer = self._exchange(Request("POST", "tools/list", headers), ask, writes=False)
        return answer if isinstance(answer, NoAnswer) or answer.protocol else tuple(found)

    def read(self, uri: str, headers: Headers = ()) -> ToolAnswer | NoAnswer:
        """Read a resource of the server. The body is its text."""
        texts: list[str] = []

        async def ask(client: Client) -> dict[str, Any]:
            content = await client.read_resource(uri, cache_mode="bypass")
            texts.extend(part.text for part in content.contents if hasattr(part, "text"))
            return {}

        answer = self._exchange(Request("POST", uri, headers), ask, writes=False)
        if isinstance(answer, NoAnswer) or answer.protocol:
            return answer
        return ToolAnswer(Response(None, (), "".join(texts).encode(), answer.response.elapsed))

    def _exchange(
        self,
        request: Request,
        ask: Callable[[Client], Coroutine[Any, Any, dict[str, Any]]],
        *,
        writes: bool,
        patience: float | None = None,
    ) -> ToolAnswer | NoAnswer:
        refusal = self.admit(request, writes=writes)
        if refusal is not None:
            return refusal
        seconds = min(patience or self.timeout, self.remaining)
        took = 0.0

        async def ask_in_time(client: Client) -> dict[str, Any]:
            nonlocal took
            began = time.monotonic()
            try:
                with anyio.fail_after(seconds):
                    return await ask(client)
            finally:
                took = time.monotonic() - began

        try:
            body: dict[str, Any] = self._run(ask_in_time, self._session(request.headers))
            self.note_answer(took)
            return ToolAnswer(Response(None, (), _json(body), took))
        except TimeoutError:
            silence = NoAnswer(request, "timeout", f"no answer within {seconds:.3g} s")
            return self.report_silence(silence, seconds)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED and error.message in _LOST:
                why = f"the answer broke off, or has more than 4 MB or {MOST_VALUES:,} values"
                return NoAnswer(request, "closed", self._explain_end() if self._processes else why)
            data = {} if error.data is None else {"data": error.data}
            envelope = {
                "jsonrpc": "2.0",
                "id": None,
                "error": {"code": error.code, "message": error.message, **data},
            }
            return ToolAnswer(Response(None, (), _json(envelope), took), protocol=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = "/".join(map(str, first["loc"]))
            return NoAnswer(
                request, "garbled", f"the answer is not one of MCP: {where}: {first['msg']}"
            )
        except Exception as error:  # any error of a transport: the run goes on
            return self._describe_loss(request, error)

    def _describe_loss(self, request: Request, error: Exception) -> NoAnswer:
        """A request whose connection failed."""
        cause = _cause(error)
        if isinstance(cause, RuntimeError):  # the library refuses what the server offers
            return NoAnswer(request, "closed", f"the handshake failed: {cause}")
        if self._processes:
            return NoAnswer(request, "closed", self._explain_end())
        refused = isinstance(cause, httpx2.ConnectError)
        text = f"{type(cause).__name__}: {cause}"
        return NoAnswer(request, "refused" if refused else "closed", text)

    def _session(self, headers: Headers) -> Client:
        known = self._sessions.get(headers)
        if known is not None:
            return known[0]
        assert self._portal is not None
        entered = self._portal.wrap_async_context_manager(
            self._connect(self._transport_server(), headers)
        )
        client = entered.__enter__()
        self.spoken = client.protocol_version
        self._sessions[headers] = client, entered
        return client

    @asynccontextmanager
    async def _connect(
        self, server: str | PipedProcess | Local, headers: Headers
    ) -> AsyncIterator[Client]:
        seconds = self.timeout + _BEYOND
        async with AsyncExitStack() as stack:
            transport: Any = server
            if isinstance(server, str):
                # A proxy in the environment serves other machines.
                direct = is_loopback_host(urlsplit(server).hostname or "")
                http = httpx2.AsyncClient(
                    headers=list(headers),
                    timeout=seconds,
                    trust_env=not direct,
                    event_hooks={"response": [_limit_body]},
                )
                await stack.enter_async_context(http)
                transport = overhear(
                    streamable_http_client(server, http_client=http), self._hear, self._replies
                )
            elif isinstance(server, PipedProcess):
                transport = overhear(open_streams(server), self._hear, self._replies)
            client = Client(
                transport,
                mode="legacy" if self._revision == "2025-11-25" else self._revision,
                cache=None,
                read_timeout_seconds=seconds,
                log_level="debug" if self._logs else None,
                **self._capabilities(),
            )
            await stack.enter_async_context(client)
            if self._logs and self._revision == "2025-11-25":
                await _ask_for_logs(client)
            yield client

    def _capabilities(self) -> dict[str, Any]:
        """The callbacks for which the library declares that requests of the server are answered,
        which `overhear` does.
        """
        return {
            name: _refuse_request for method, name in _CALLBACKS.items() if method in self._replies
        }

    def _transport_server(self) -> str | PipedProcess | Local:
        """The server of the next session: of a command, a process of its own."""
        if not isinstance(self._server, tuple):
            return self._server
        process, self._next = self._next, None
        return process or self._start_process(self._server)

    def _start_process(self, command: Command) -> PipedProcess:
        process = PipedProcess(command, "lines", self._cwd, self._output)
        self._processes.append(process)
        return process

    def _explain_end(self) -> str:
        """How the last process ended, or why its output cannot be read."""
        process = self._processes[-1]
        return process.describe_end(max(LAST, min(GRACE, self.remaining)))

    def _end_processes(self) -> None:
        for process in self._processes:
            process.close(max(LAST, min(GRACE, self.remaining / 3)))

    def _run(
        self, ask: Callable[[Client], Coroutine[Any, Any, _Result]], client: Client
    ) -> _Result:
        assert self._portal is not None
        future = self._portal.start_task_soon(ask, client)
        try:
            got: _Result = future.result()
            return got
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _hang_up(self) -> None:
        """End the sessions. Those that the server does not end in time end with the loop."""
        deadline = time.monotonic() + max(_LAST, min(_FAREWELL, self.remaining))
        while self._sessions:
            _, (_, entered) = self._sessions.popitem()
            leaving = threading.Thread(target=_leave, args=(entered,), daemon=True)
            leaving.start()
            leaving.join(max(0.0, deadline - time.monotonic()))


def _leave(entered: AbstractContextManager[object]) -> None:
    with suppress(Exception, CancelledError):  # the server may be gone
        entered.__exit__(None, None, None)


async def _refuse_request(*request: object) -> ErrorData:
    """The result of a request that did not come through our streams."""
    return ErrorData(code=METHOD_NOT_FOUND, message="the conformance suite has no such method")


async def _ask_for_logs(client: Client) -> None:
    """Set the lowest level of log messages, if the server has levels. It may refuse."""
    if client.server_capabilities.logging is None:
        return
    level = _MethodCall(method="logging/setLevel", params={"level": "debug"})
    with suppress(MCPError, ValidationError, TimeoutError), anyio.fail_after(_FAREWELL):
        await client.session.send_request(level, _RAW)  # type: ignore[type-var]  # unchanged


class _BoundedStream(httpx2.AsyncByteStream):
    """A body that breaks off with an error at a limit: of its bytes, or of the bytes and values of
    a message. ``has_events``: each event is a message; else the body is one.
    """

    def __init__(
        self, stream: httpx2.AsyncByteStream, limit: int, *, has_events: bool = False
    ) -> None:
        self._stream = stream
        self._limit = limit
        self._has_events = has_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = length = values = 0
        before = b""  # an end of an event may be in two chunks
        async for chunk in self._stream:
            size += len(chunk)
            first, *events = _END_OF_EVENT.split(before + chunk) if self._has_events else [chunk]
            for number, part in enumerate((first[len(before) :], *events)):
                length, values = (0, 0) if number else (length, values)
                length, values = length + len(part), values + count_values(part)
                if size > self._limit or length > BODY_LIMIT:
                    raise httpx2.ReadError(f"the body is longer than {self._limit} bytes")
                if values > MOST_VALUES:
                    raise httpx2.ReadError(f"a message has more than {MOST_VALUES:,} values")
            before = chunk[1 - _LONGEST_END :] if self._has_events else b""
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit_body(answer: httpx2.Response) -> None:
    """Bound the body of an answer before the library reads it. One with content codings is decoded
    here, since the library would decode it without a limit.
    """
    assert isinstance(answer.stream, httpx2.AsyncByteStream)
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers.raw
    )
    is_stream = answer.headers.get("Content-Type", "").startswith("text/event-stream")
    limit = ALL_BODIES if is_stream else BODY_LIMIT
    codings = content_codings(headers)
    if not codings:
        answer.stream = _BoundedStream(answer.stream, limit, has_events=is_stream)
        return
    packed = [chunk async for chunk in _BoundedStream(answer.stream, limit)]
    try:
        decoded = decode_content(packed, codings, BODY_LIMIT)
    except UndecodableBody as error:
        raise httpx2.ReadError(str(error)) from None
    if decoded.cut is not None:
        raise httpx2.ReadError(f"the body {decoded.cut}")
    await answer.stream.aclose()
    del answer.headers["Content-Encoding"]
    plain = httpx2.ByteStream(decoded.content)
    answer.stream = _BoundedStream(plain, limit, has_events=is_stream)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _cause(error: BaseException) -> BaseException:
    """The first exception of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
