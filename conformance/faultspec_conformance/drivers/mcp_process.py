"""The streams of sessions of the client library: over the standard streams of a process, our own
pipes, which bound what is read and end the process with its children; over any transport, what the
server sends besides answers.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from faultspec.exchange.body import count_values
from faultspec_conformance.drivers.framing import Garbled
from faultspec_conformance.drivers.piped import Ended, PipedProcess

#: Values of a message that is read: the library makes a model of some of them, which takes 2 KB and
#: twenty microseconds.
MOST_VALUES = 100_000

#: Seconds between two looks at whether the session has ended.
_LOOK = 0.1

_Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
_Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def open_streams(process: PipedProcess) -> AsyncIterator[tuple[_Incoming, _Outgoing]]:
    """Give the streams of a process to a session of the library."""
    read_writer, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, write_reader = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with read_writer:
            while True:
                received = await anyio.to_thread.run_sync(
                    process.next_message, _LOOK, abandon_on_cancel=True
                )
                if isinstance(received, bytes) and count_values(received) > MOST_VALUES:
                    received = process.give_up(f"a message has more than {MOST_VALUES:,} values")
                if isinstance(received, Ended | Garbled):
                    return
                if received is not None:
                    await read_writer.send(_parse(received))

    async def write() -> None:
        async with write_reader:
            async for sent in write_reader:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.write(text.encode())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield read_stream, write_stream
        finally:
            tasks.cancel_scope.cancel()


def _parse(body: bytes) -> SessionMessage | Exception:
    """The message; an exception if it is not one of JSON-RPC."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(body, by_name=False))
    except ValueError as error:
        return error


@asynccontextmanager
async def overhear(
    transport: Transport, hear: Callable[[bytes], None], replies: Mapping[str, object]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a transport. ``hear`` gets what the server sends besides answers. ``replies``:
    the results of its requests, by method; the library answers the others.
    """
    async with transport as (read, write):
        yield _OverheardStream(read, write, hear, replies), write


class _OverheardStream:
    """A stream of messages, whose notifications and requests are also handed to ``hear``. Requests
    with a reply are answered here.
    """

    def __init__(
        self,
        stream: Any,
        answers: Any,
        hear: Callable[[bytes], None],
        replies: Mapping[str, object],
    ) -> None:
        self._stream = stream
        self._answers = answers
        self._hear = hear
        self._replies = replies

    @property
    def last_context(self) -> object:
        """The context in which the last message was sent, as the library reads it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message that is for the library."""
        return await self._next(self._stream.receive)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._next(self._stream.__anext__)

    async def _next(
        self, receive: Callable[[], Awaitable[SessionMessage | Exception]]
    ) -> SessionMessage | Exception:
        received = await receive()
        while await self._take(received):
            received = await receive()
        return received

    async def _take(self, received: SessionMessage | Exception) -> bool:
        """Hand a message of the server to ``hear``; return whether it was answered."""
        message = None if isinstance(received, Exception) else received.message
        if isinstance(message, JSONRPCNotification | JSONRPCRequest):
            self._hear(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        if not isinstance(message, JSONRPCRequest) or message.method not in self._replies:
            return False
        body = {"jsonrpc": "2.0", "id": message.id, "result": self._replies[message.method]}
        answer = jsonrpc_message_adapter.validate_python(body, by_name=False)
        await self._answers.send(SessionMessage(answer))
        return True

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        handled: bool | None = await self._stream.__aexit__(kind, error, trace)
        return handled
