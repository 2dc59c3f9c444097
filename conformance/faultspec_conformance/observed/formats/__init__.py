"""Recorded traffic as exchanges: HAR, VCR cassettes of several tools, logs of one record a line,
and tables.

`Exchange.lacks` names what a recording leaves out, so that nothing is concluded from its absence. A
record that is broken or not an exchange becomes a `Skipped`, and reading goes on.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from faultspec.contract.model import Contract
from faultspec_conformance.observed.formats.byte_streams import ByteStream
from faultspec_conformance.observed.formats.cassettes import read_cassette
from faultspec_conformance.observed.formats.compression import LONGEST_MAGIC, Unpacked, unpack
from faultspec_conformance.observed.formats.declared import reads_text
from faultspec_conformance.observed.formats.detection import detect_format
from faultspec_conformance.observed.formats.grouping import GroupingPlan, members_of_kinds
from faultspec_conformance.observed.formats.groups import group_rows
from faultspec_conformance.observed.formats.har import read_har
from faultspec_conformance.observed.formats.logs import read_lines, read_log
from faultspec_conformance.observed.formats.parquet import parquet_rows
from faultspec_conformance.observed.formats.record import (
    Grouped,
    Item,
    LineCounter,
    NotARecording,
)
from faultspec_conformance.observed.formats.sources import mask_address, open_source
from faultspec_conformance.observed.formats.tables import (
    Rows,
    UnreadableRow,
    csv_rows,
    read_table,
)

Reader = Callable[[BinaryIO, str, Contract, LineCounter | None], Iterator[Item]]
"""A reader of a stream, with its path, a contract, and what may count lines at once."""

FORMATS: Mapping[str, Reader] = {
    "har": lambda stream, path, *_: read_har(stream, mask_address(path)),
    "vcr": lambda stream, path, *_: read_cassette(stream, mask_address(path)),
    "ndjson": lambda stream, path, *rest: read_log(stream, mask_address(path), *rest),
    "csv": lambda stream, path, contract, _: read_table(
        csv_rows(stream), mask_address(path), contract
    ),
    # DuckDB opens it once more, by its path: it reads the end first.
    "parquet": lambda _, path, contract, __: read_table(
        parquet_rows(path, members_of_kinds(contract)), mask_address(path), contract
    ),
}
"""The readers by format."""

#: Bytes from which the format is detected.
_HEAD = 64 * 1024

#: Formats whose items are parsed even if they are not judged; and the bytes that a compressed one
#: may have.
_PARSED, _UNPACKED = frozenset({"har", "vcr"}), 128 * 1024 * 1024

#: Lines or rows of a sample, and the characters after which it ends.
_SAMPLE, _SAMPLED = 500, 16 * 1024 * 1024


class OpenRecording(NamedTuple):
    """A recording that is being read. ``share``: how much of the file was read, from 0 to 1."""

    items: Iterator[Item | Grouped]
    share: Callable[[], float]


class OpenStream(NamedTuple):
    """The bytes of a recording. ``unpacked``: their decompression, if the file is compressed.
    ``form``: the detected format. ``is_file``: whether the name leads to the same bytes again.
    """

    stream: BinaryIO
    head: bytes
    unpacked: Unpacked | None
    form: str | None
    is_file: bool
    share: Callable[[], float]


@contextmanager
def open_recording(
    path: str,
    contract: Contract,
    form: str | None = None,
    *,
    counter: LineCounter | None = None,
    plan: GroupingPlan | None = None,
) -> Iterator[OpenRecording]:
    """Open a recording, which may be compressed with gzip, bzip2, xz or zstd. ``form``: its format;
    None detects it. ``counter``: what may count lines at once. ``plan``: how equal rows of
    Parquet come together; None: each by itself.

    Raises OSError, and NotARecording if the format is unknown or a library is missing. A broken
    record is an item. If the file cannot be decompressed to its end, the items end with an
    OSError, an EOFError, a zlib.error or an LZMAError.
    """
    with open_stream(path) as found:
        name = form or found.form
        if name is None and reads_text(contract, found.head):
            name = "ndjson"
        if name is None:
            raise NotARecording(
                "its format is none of HAR, a VCR cassette, one record a line, CSV and Parquet; "
                "if it is one of them, name it with --from"
            )
        _check_parquet(found, name)
        if found.unpacked is not None and name in _PARSED:
            found.unpacked.most = _UNPACKED
        items: Iterator[Item | Grouped]
        if plan is not None and name == "parquet":
            items = group_rows(path, contract, plan)
        else:
            items = FORMATS[name](found.stream, path, contract, counter)
        if found.unpacked is not None:
            items = found.unpacked.pass_on(items)
        yield OpenRecording(items, found.share)


def read_sample(path: str) -> list[object]:
    """The first lines of a log as texts, or rows of a table.

    Raises OSError, and NotARecording if it is another recording or a library is missing.
    """
    with open_stream(path) as found:
        if found.form in _PARSED:
            raise NotARecording("its format has its own places; it needs no `records`")
        _check_parquet(found, found.form)
        if found.form in ("csv", "parquet"):
            rows = csv_rows(found.stream) if found.form == "csv" else parquet_rows(path)
            return [*_take_sample(row for _, row in _readable(rows))]
        lines = _take_sample(read_lines(found.stream))
        return [line.decode("utf-8", "replace").strip() for line in lines]


def _readable(rows: Rows) -> Rows:
    with suppress(UnreadableRow):
        yield from rows


def _take_sample(items: Iterator[Any]) -> Iterator[Any]:
    """The first items that are there, as many as the memory is for."""
    length = 0
    for item in islice((item for item in items if item is not None), _SAMPLE):
        yield item
        length += len(item if isinstance(item, bytes) else str(item))
        if length > _SAMPLED:
            return


@contextmanager
def open_stream(path: str) -> Iterator[OpenStream]:
    """Open the bytes of a recording. Raises OSError, and NotARecording if they cannot be
    decompressed at all or a library is missing.
    """
    with open_source(path) as (raw, size):
        counted = ByteStream(raw.read1)
        source = io.BufferedReader(counted, _HEAD)
        unpacked = unpack(source, source.peek(LONGEST_MAGIC))
        stream = source if unpacked is None else io.BufferedReader(unpacked, _HEAD)
        head = stream.peek(_HEAD)[:_HEAD]
        if unpacked is not None and unpacked.error is not None and not head:
            raise NotARecording(f"it cannot be decompressed: {unpacked.error}")
        yield OpenStream(
            stream,
            head,
            unpacked,
            form=detect_format(head, path),
            is_file=size is not None,
            share=lambda: counted.count / max(size or counted.count, 1),
        )


def _check_parquet(found: OpenStream, name: str | None) -> None:
    if name != "parquet":
        return
    if not found.is_file:
        raise NotARecording("Parquet cannot be read from a pipe, for its end is read first")
    if found.unpacked is not None:
        raise NotARecording("Parquet is read from a file that is not compressed as a whole")
