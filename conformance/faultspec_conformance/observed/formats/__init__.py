"""Recorded traffic as exchanges: HAR, VCR cassettes of several tools, and logs of one JSON object a
line.

`Exchange.lacks` names what a recording leaves out, so that nothing is concluded from its absence. A
record that is broken or not an exchange becomes a `Skipped`, and reading goes on.
"""

import errno
import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats.cassettes import read_cassette
from faultspec_conformance.observed.formats.detection import detect_format
from faultspec_conformance.observed.formats.har import read_har
from faultspec_conformance.observed.formats.logs import read_log
from faultspec_conformance.observed.formats.record import Item, NotARecording, Skipped

#: The readers by format. Each takes the stream, the file's name and the contract.
FORMATS: Mapping[str, Callable[[BinaryIO, str, Contract], Iterator[Item]]] = {
    "har": lambda stream, name, _: read_har(stream, name),
    "vcr": lambda stream, name, _: read_cassette(stream, name),
    "ndjson": read_log,
}

#: Bytes from which the format is detected.
_HEAD = 64 * 1024

#: Formats whose items are parsed even if they are not judged; and the bytes that a compressed one
#: may have.
_PARSED, _UNPACKED = frozenset({"har", "vcr"}), 128 * 1024 * 1024

_GZIP = b"\x1f\x8b"


class OpenRecording(NamedTuple):
    """A recording that is being read. ``share``: how much of the file was read, from 0 to 1."""

    items: Iterator[Item]
    share: Callable[[], float]


@contextmanager
def open_recording(
    path: str, contract: Contract, form: str | None = None
) -> Iterator[OpenRecording]:
    """Open a recording, which may be compressed with gzip. ``form``: its format; None detects it.

    Raises OSError, and NotARecording if the format is unknown. A broken record is an item. If the
    file cannot be decompressed to its end, the items end with an OSError, an EOFError or a
    zlib.error.
    """
    # Checked before it is opened, because opening a pipe waits for a writer.
    if not stat.S_ISREG(os.stat(path).st_mode) and not Path(path).is_dir():
        raise OSError(errno.EINVAL, "it is a device, a pipe or a socket")
    with Path(path).open("rb") as raw:
        size = max(raw.seek(0, io.SEEK_END), 1)
        raw.seek(0)
        is_packed = raw.read(2) == _GZIP
        raw.seek(0)
        unpacked = _GzipStream(raw) if is_packed else None
        stream = io.BufferedReader(unpacked or raw, _HEAD)
        head = stream.peek(_HEAD)[:_HEAD]
        name = form or detect_format(head, path)
        if unpacked is not None and unpacked.error is not None and not head:
            raise NotARecording(f"it cannot be decompressed: {unpacked.error}")
        if name is None:
            raise NotARecording(
                "its format is none of HAR, a VCR cassette, and one JSON object a line; "
                "if it is one of them, name it with --from"
            )
        if unpacked is not None and name in _PARSED:
            unpacked.most = _UNPACKED
        items = FORMATS[name](stream, path, contract)
        if unpacked is not None:
            items = _read_to_end(items, unpacked)
        yield OpenRecording(items, lambda: raw.tell() / size)


class _GzipStream(io.RawIOBase):
    """The decompressed bytes of a stream, as far as they can be read. ``error``: why no further.
    ``most``: their number, if it is limited.
    """

    def __init__(self, packed: BinaryIO) -> None:
        self.most: int | None = None
        self._read = 0
        self.error: OSError | EOFError | zlib.error | None = None
        self._plain = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # narrower than any buffer, as readers call it
        """Fill the start of the buffer; return the number of bytes."""
        try:
            read = self._plain.read1(len(buffer)) if self.error is None else b""
        except (OSError, EOFError, zlib.error) as error:
            self.error, read = error, b""
        self._read += len(read)
        if self.most is not None and self._read > self.most:
            self.error = OSError(f"it has more than {self.most} bytes; decompress the file first")
        buffer[: len(read)] = read
        return len(read)


def _read_to_end(items: Iterator[Item], unpacked: _GzipStream) -> Iterator[Item]:
    """The items, then the error of decompression. It replaces the item for the broken end."""
    for item in items:
        if unpacked.error is None or not isinstance(item, Skipped) or not item.ends:
            yield item
    if unpacked.error is not None:
        raise unpacked.error
