"""The decompressed bytes of a recording, by the first bytes of the packed one."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from faultspec.exchange.decoding import find_zstd
from faultspec_conformance.observed.formats.byte_streams import ByteStream
from faultspec_conformance.observed.formats.record import (
    Grouped,
    Item,
    NotARecording,
    Skipped,
    install,
)

#: Bytes that are read at once.
_CHUNK = 64 * 1024

#: Bytes that a decompressor may remember of what it has read. The usual settings need up to 64 MiB
#: (xz -9) and 8 MiB (zstd -19).
_MOST_REMEMBERED = 128 * 1024 * 1024
_WINDOW_LOG = _MOST_REMEMBERED.bit_length() - 1

_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"

LONGEST_MAGIC = len(_XZ)
"""Bytes that tell a compressed file."""


class Unpacked(ByteStream):
    """The decompressed bytes of a file, up to the first error. ``error``: that error. ``most``: how
    many bytes, if they are limited.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        super().__init__(self._read_to_error)
        self.most: int | None = None
        self.error: Exception | None = None
        self._decompress = read
        self._lines = 0

    def _read_to_error(self, size: int) -> bytes:
        if self.error is not None:
            return b""
        try:
            content = self._decompress(size)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            self.error = OSError(f"line {self._lines + 1} cannot be read: {error}")
            return b""
        self._lines += content.count(b"\n")
        if self.most is not None and self.count + len(content) > self.most:
            self.error = OSError(f"it has more than {self.most} bytes; decompress the file first")
        return content

    def pass_on(self, items: Iterator[Item | Grouped]) -> Iterator[Item | Grouped]:
        """The items that are read from these bytes, then the error, which replaces the item for a
        broken end.
        """
        for item in items:
            if self.error is None or not isinstance(item, Skipped) or not item.ends:
                yield item
        if self.error is not None:
            raise self.error


def unpack(packed: BinaryIO, head: bytes) -> Unpacked | None:
    """The decompressed bytes of a stream that begins with ``head``; None if it is not compressed.

    Raises NotARecording if a library is missing.
    """
    if head.startswith(_GZIP):
        return Unpacked(gzip.GzipFile(fileobj=packed).read1)
    if head.startswith(_BZIP2):
        return Unpacked(_reader(packed, bz2.BZ2Decompressor))
    if head.startswith(_XZ):
        return Unpacked(_reader(packed, lambda: lzma.LZMADecompressor(memlimit=_MOST_REMEMBERED)))
    if head.startswith(_ZSTD):
        zstd = find_zstd()
        if zstd is None:
            raise NotARecording(f"it is compressed with zstd: {install('backports.zstd')}")
        window = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        read = _reader(packed, lambda: zstd.ZstdDecompressor(options=window))
        return Unpacked(_raising_os_errors(read, zstd.ZstdError))
    return None


def _raising_os_errors(
    read: Callable[[int], bytes], error: type[Exception]
) -> Callable[[int], bytes]:
    def read_or_raise(size: int) -> bytes:
        try:
            return read(size)
        except error as problem:
            raise OSError(str(problem)) from problem

    return read_or_raise


def _reader(packed: BinaryIO, make: Callable[[], Any]) -> Callable[[int], bytes]:
    """A function that reads from compressed streams in a row. ``make`` makes the decompressor of
    one, with the methods of those of bz2.
    """
    decompressor = make()
    pending, ended = b"", False

    def read(size: int) -> bytes:
        nonlocal decompressor, pending, ended
        while not ended:
            if decompressor.eof:
                pending = (decompressor.unused_data or packed.read(_CHUNK)).lstrip(b"\0")
                if not pending:
                    ended = True
                    break
                decompressor = make()
            elif decompressor.needs_input and not pending:
                pending = packed.read(_CHUNK)
                if not pending:
                    raise EOFError(
                        "Compressed file ended before the end-of-stream marker was reached"
                    )
            content: bytes = decompressor.decompress(pending, size)
            pending = b""
            if content:
                return content
        return b""

    return read
