"""MCP over the standard streams of a process: the messages of the client library through our own
pipes, which bound what is read and end the process with its children.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from faultspec_conformance.drivers.framing import Garbled
from faultspec_conformance.drivers.piped import Ended, PipedProcess

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
