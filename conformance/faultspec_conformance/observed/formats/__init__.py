"""Recorded traffic as exchanges: HAR, VCR cassettes of several tools, logs of one record a line,
and tables.

`Exchange.lacks` names what a recording leaves out, so that nothing is concluded from its absence. A
record that is broken or not an exchange becomes a `Skipped`, and reading goes on.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats.cassettes import read_cassette
from faultspec_conformance.observed.formats.compression import LONGEST_MAGIC, unpack
from faultspec_conformance.observed.formats.declared import reads_text
from faultspec_conformance.observed.formats.detection import detect_format
from faultspec_conformance.observed.formats.har import read_har
from faultspec_conformance.observed.formats.logs import read_log
from faultspec_conformance.observed.formats.record import Item, NotARecording
from faultspec_conformance.observed.formats.sources import open_source
from faultspec_conformance.observed.formats.tables import read_csv, read_parquet

#: The readers of streams by format. Each takes the stream, the file's name and the contract.
_READERS: Mapping[str, Callable[[BinaryIO, str, Contract], Iterator[Item]]] = {
    "har": lambda stream, name, _: read_har(stream, name),
    "vcr": lambda stream, name, _: read_cassette(stream, name),
    "ndjson": read_log,
    "csv": read_csv,
}

#: A format that is read by name: a library goes to its end first.
_PARQUET = "parquet"

FORMATS = (*_READERS, _PARQUET)
"""The formats by name."""

#: Bytes from which the format is detected.
_HEAD = 64 * 1024

#: Formats whose items are parsed even if they are not judged; and the bytes that a compressed one
#: may have.
_PARSED, _UNPACKED = frozenset({"har", "vcr"}), 128 * 1024 * 1024


class OpenRecording(NamedTuple):
    """A recording that is being read. ``share``: how much of the file was read, from 0 to 1."""

    items: Iterator[Item]
    share: Callable[[], float]


@contextmanager
def open_recording(
    path: str, contract: Contract, form: str | None = None
) -> Iterator[OpenRecording]:
    """Open a recording, which may be compressed with gzip, bzip2, xz or zstd. ``form``: its format;
    None detects it.

    Raises OSError, and NotARecording if the format is unknown or a library is missing. A broken
    record is an item. If the file cannot be decompressed to its end, the items end with an
    OSError, an EOFError, a zlib.error or an LZMAError.
    """
    with open_source(path) as (raw, size):
        counted = _Counted(raw)
        source = io.BufferedReader(counted, _HEAD)
        unpacked = unpack(source, source.peek(LONGEST_MAGIC))
        stream = source if unpacked is None else io.BufferedReader(unpacked, _HEAD)
        head = stream.peek(_HEAD)[:_HEAD]
        name = form or detect_format(head, path)
        if name is None and reads_text(contract, head):
            name = "ndjson"
        if unpacked is not None and unpacked.error is not None and not head:
            raise NotARecording(f"it cannot be decompressed: {unpacked.error}")
        if name is None:
            raise NotARecording(
                "its format is none of HAR, a VCR cassette, one JSON object a line, CSV and "
                "Parquet; if it is one of them, name it with --from"
            )
        if name == _PARQUET and (size is None or unpacked is not None):
            raise NotARecording("Parquet is read from a file that is not compressed as a whole")
        if unpacked is not None and name in _PARSED:
            unpacked.most = _UNPACKED
        items = (
            read_parquet(path, contract)
            if name == _PARQUET
            else _READERS[name](stream, path, contract)
        )
        if unpacked is not None:
            items = unpacked.pass_on(items)
        yield OpenRecording(items, lambda: counted.count / max(size or counted.count, 1))


class _Counted(io.RawIOBase):
    """The bytes of a stream. ``count``: how many were read."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream = stream
        self.count = 0

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # narrower than any buffer, as readers call it
        """Fill the start of the buffer; return the number of bytes."""
        count = self._stream.readinto1(buffer)
        self.count += count
        return count
