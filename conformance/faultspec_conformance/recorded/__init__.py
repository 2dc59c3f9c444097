"""Recorded traffic → exchanges: HAR, VCR cassettes of several tools, and logs of one JSON object a line.

A recording rarely tells everything. What it leaves out is named in ``Exchange.lacks``, so that nothing is concluded from its
absence; what is no exchange at all, or broken, is told as a `Skipped` and never ends the reading.
"""

import gzip
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from faultspec.contract import Contract
from faultspec_conformance.recorded import cassettes, har, logs
from faultspec_conformance.recorded.record import Item, NotARecording
from faultspec_conformance.recorded.told import told

FORMATS: Mapping[str, Callable[[BinaryIO, str, Contract], Iterator[Item]]] = {
    "har": lambda stream, name, _: har.read(stream, name),
    "vcr": lambda stream, name, _: cassettes.read(stream, name),
    "ndjson": logs.read,
}
"""The readers by the name of their format; each is given the stream, the file's name and the contract to judge by."""

_HEAD = 64 * 1024
"""Bytes from which the format is told."""

_GZIP = b"\x1f\x8b"


class Opened(NamedTuple):
    """A recording that can be read: its items, and how far it has been read as a share of 1."""

    items: Iterator[Item]
    share: Callable[[], float]


@contextmanager
def opened(path: str, contract: Contract, form: str | None = None) -> Iterator[Opened]:
    """A recording, decompressed where it is gzip. ``form``: its format, where it is not to be told by its content.

    Raises OSError, and NotARecording where the content tells no format. What is broken further on is an item.
    """
    with Path(path).open("rb") as raw:
        size = max(raw.seek(0, io.SEEK_END), 1)
        raw.seek(0)
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        plain = gzip.GzipFile(fileobj=raw) if packed else raw
        stream = io.BufferedReader(plain, _HEAD)
        try:
            head = stream.peek(_HEAD)[:_HEAD]
        except (EOFError, OSError) as error:
            raise NotARecording(f"it cannot be decompressed: {error}") from None
        name = form or told(head)
        if name is None:
            raise NotARecording("its content is none of HAR, a VCR cassette, or one JSON object a line")
        yield Opened(FORMATS[name](stream, path, contract), lambda: raw.tell() / size)
