"""Messages on a stream: one a line, or each behind a header with its length.

A stream of messages carries nothing else (Language Server Protocol 3.17, "Base Protocol"; Model
Context Protocol 2025-11-25, "stdio"). Other output is kept apart as a `Stray`.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

from faultspec.exchange.body import has_too_many_values
from faultspec_conformance.drivers import BODY_LIMIT, Framing

#: Bytes of a header that are read at once. The headers of messages have tens of them.
_HEADER = 4096

#: Members of a JSON-RPC message, of which every one has some (JSON-RPC 2.0, sections 4 and 5).
_MEMBERS = frozenset({"jsonrpc", "method", "result", "error", "id"})

#: The same in a message that cannot be read as JSON.
_MARKS = (b'"jsonrpc"', b'"method"', b'"result"', b'"error"')

_LENGTH = re.compile(rb"content-length:\s*(\d{1,15})\s*\Z", re.IGNORECASE)
_OTHER_HEADER = re.compile(rb"content-[a-z-]{1,40}:", re.IGNORECASE)


class Stray(bytes):
    """Output between the messages."""


class Garbled(str):
    """Why the rest of the output cannot be read."""


def read_messages(stream: IO[bytes], framing: Framing) -> Iterator[bytes | Garbled]:
    """Yield the messages of a stream, and what stands between them. Nothing follows a `Garbled`."""
    return _read_lines(stream) if framing == "lines" else _read_headed(stream)


def frame_message(body: bytes, framing: Framing) -> bytes:
    """The message as it is sent."""
    if framing == "lines":
        return body + b"\n"
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def parse_message(body: bytes) -> object:
    """The value of a message; None if it cannot be read, or has more values than are judged."""
    if has_too_many_values(body):
        return None
    with suppress(ValueError, RecursionError):
        value: object = json.loads(body)
        return value
    return None


def _read_lines(stream: IO[bytes]) -> Iterator[bytes | Garbled]:
    while line := stream.readline(BODY_LIMIT + 1):
        if len(line) > BODY_LIMIT:
            yield Garbled(f"a line is longer than {BODY_LIMIT} bytes")
            return
        if not line.strip():
            continue
        begin = line.find(b"{")
        if _is_message(line):
            yield line.rstrip(b"\r\n")
        elif begin > 0 and _is_message(line[begin:]):  # text without an end of line before it
            yield Stray(line[:begin])
            yield line[begin:].rstrip(b"\r\n")
        else:
            yield Stray(line.rstrip(b"\r\n"))


def _is_message(line: bytes) -> bool:
    """Whether a line is meant as a message, though perhaps a malformed one."""
    if line[:1] not in (b"{", b"["):
        return False
    value = parse_message(line)
    if isinstance(value, dict):
        return not _MEMBERS.isdisjoint(value)
    if isinstance(value, list):
        return all(isinstance(item, dict) for item in value)
    return any(mark in line for mark in _MARKS)


def _read_headed(stream: IO[bytes]) -> Iterator[bytes | Garbled]:
    size, began = None, False
    while line := stream.readline(_HEADER):
        found = _LENGTH.search(line)
        if found is not None:
            size, began = int(found[1]), True
            if found.start():
                yield Stray(line[: found.start()])
        elif _OTHER_HEADER.match(line):
            began = True
        elif line.strip():
            yield Stray(line.rstrip(b"\r\n"))
        elif size is not None:
            yield from _read_body(stream, size)
            size, began = None, False
        elif began:
            yield Garbled("a message has no Content-Length")
            return


def _read_body(stream: IO[bytes], size: int) -> Iterator[bytes | Garbled]:
    if size > BODY_LIMIT:
        yield Garbled(f"a message has {size} bytes")
        return
    body = stream.read(size)
    if len(body) < size:
        yield Garbled(f"a message of {size} bytes broke off after {len(body)}")
        return
    yield body if body.strip() else Stray(b"Content-Length: %d" % size)
