"""Recorded traffic → exchanges: HAR, VCR cassettes of several tools, and logs of one JSON object a line.

A recording rarely tells everything. What it leaves out is named in ``Exchange.lacks``, so that nothing is concluded from its
absence; what is no exchange at all, or broken, is told as a `Skipped` and never ends the reading.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats import cassettes, har, logs
from faultspec_conformance.observed.formats.record import Item, NotARecording, Skipped
from faultspec_conformance.observed.formats.told import told

FORMATS: Mapping[str, Callable[[BinaryIO, str, Contract], Iterator[Item]]] = {
    "har": lambda stream, name, _: har.read(stream, name),
    "vcr": lambda stream, name, _: cassettes.read(stream, name),
    "ndjson": logs.read,
}
"""The readers by the name of their format; each is given the stream, the file's name and the contract to judge by."""

_HEAD = 64 * 1024
"""Bytes from which the format is told."""

_GZIP = b"\x1f\x8b"


class OpenedRecording(NamedTuple):
    """A recording that can be read: its items, and how far it has been read as a share of 1."""

    items: Iterator[Item]
    share: Callable[[], float]


@contextmanager
def opened(path: str, contract: Contract, form: str | None = None) -> Iterator[OpenedRecording]:
    """A recording, decompressed where it is gzip. ``form``: its format, where it is not to be told by its content.

    Raises OSError, and NotARecording where neither content nor name tells a format. What is broken further on is an item; where
    it cannot be decompressed to its end, the items end with an OSError, an EOFError or a zlib.error.
    """
    with Path(path).open("rb") as raw:
        size = max(raw.seek(0, io.SEEK_END), 1)
        raw.seek(0)
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        unpacked = _Unpacked(raw) if packed else None
        stream = (
            io.BufferedReader(raw, _HEAD)
            if unpacked is None
            else io.BufferedReader(unpacked, _HEAD)
        )
        head = stream.peek(_HEAD)[:_HEAD]
        name = form or told(head, path)
        if unpacked is not None and unpacked.error is not None and not head:
            raise NotARecording(f"it cannot be decompressed: {unpacked.error}")
        if name is None:
            content = "HAR, a VCR cassette, or one JSON object a line"
            raise NotARecording(
                f"its content is none of {content}; if it is one of them, say which by --from"
            )
        items = FORMATS[name](stream, path, contract)
        yield OpenedRecording(
            items if unpacked is None else _to_the_end(items, unpacked), lambda: raw.tell() / size
        )


class _Unpacked(io.RawIOBase):
    """What gzip packed, as far as it can be unpacked; ``error`` is why no further."""

    def __init__(self, packed: BinaryIO) -> None:
        self.error: OSError | EOFError | zlib.error | None = None
        self._plain = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # narrower than any buffer, as readers call it
        """Fill as much of the buffer as is there."""
        try:
            read = self._plain.read1(len(buffer)) if self.error is None else b""
        except (OSError, EOFError, zlib.error) as error:
            self.error, read = error, b""
        buffer[: len(read)] = read
        return len(read)


def _to_the_end(items: Iterator[Item], unpacked: _Unpacked) -> Iterator[Item]:
    for item in items:
        if unpacked.error is None or not isinstance(item, Skipped) or not item.ends:
            yield item  # else it ends where it could not be unpacked any further
    if unpacked.error is not None:
        raise unpacked.error
