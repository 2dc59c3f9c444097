"""Sharing an audit among processes: whole files, and ranges of large logs.

Each process judges pieces of work and sends back their parts, which the first process adds up in
order. So the report is that of one process.
"""

import copyreg
import io
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from faultspec.language.model import Taxonomy
from faultspec_conformance.observed.formats import open_stream
from faultspec_conformance.observed.formats.byte_streams import ByteStream
from faultspec_conformance.observed.formats.record import NotARecording
from faultspec_conformance.observed.formats.sources import open_range, size_of_source

RANGE = 48 * 1024 * 1024
"""Bytes of a range of a log, and of small files that are judged together. Up to 20,000 exchanges
with ids come back with a range, so ranges are not small.
"""

#: Files that are judged together at most.
_FILES = 64

#: Bytes of a log that are read at once.
_BLOCK = 64 * 1024

#: Pieces that wait for an earlier one, for each process. The results of each take up to some MB.
_AHEAD = 2


class Range(NamedTuple):
    """The lines of a log that begin from one offset on, and before another; None: up to its end.
    ``before``: how many lines are before it, if they were counted.
    """

    start: int
    end: int | None
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """Recordings that one process judges in a row, or a range of one."""

    paths: tuple[str, ...]
    range: Range | None = None


def split_work(paths: Iterable[str], form: str | None, *, counts: bool = False) -> Iterator[Piece]:
    """The pieces of an audit, in order. ``counts``: whether the lines before each are counted."""
    small: list[str] = []
    size = 0
    for path in paths:
        length = size_of_source(path)
        if length > RANGE and form in (None, "ndjson") and _is_plain_log(path, form):
            if small:
                yield Piece(tuple(small))
            small, size = [], 0
            before = 0 if counts else None
            for start in range(0, length, RANGE):
                end = start + RANGE if start + RANGE < length else None
                part = Range(start, end, before)
                yield Piece((path,), part)
                before = None if before is None else before + count_lines(path, part)
            continue
        small.append(path)
        size += length
        if size >= RANGE or len(small) == _FILES:
            yield Piece(tuple(small))
            small, size = [], 0
    if small:
        yield Piece(tuple(small))


def _is_plain_log(path: str, form: str | None) -> bool:
    """Whether a file is a log that is not compressed."""
    try:
        with open_stream(path) as found:
            return found.unpacked is None and (form or found.form) == "ndjson"
    except (OSError, NotARecording):  # reading it tells
        return False


class LineCount:
    """How many lines of a range were read."""

    def __init__(self) -> None:
        self.lines = 0


@contextmanager
def open_lines(path: str, part: Range) -> Iterator[tuple[io.BufferedReader, LineCount]]:
    """Open the lines of a range of a log. Raises OSError, and NotARecording if a library is
    missing.
    """
    position, end = _next_line(path, part.start), None
    if part.end is not None:
        end = max(_next_line(path, part.end), position)
    count = LineCount()
    with open_range(path, position) as read:

        def read_on(size: int) -> bytes:
            nonlocal position
            block = read(size if end is None else min(size, end - position))
            position += len(block)
            count.lines += block.count(b"\n")
            return block

        yield io.BufferedReader(ByteStream(read_on), _BLOCK), count


def count_lines(path: str, part: Range) -> int:
    """How many lines of a log begin in a range, as far as it can be read."""
    with suppress(OSError, NotARecording), open_lines(path, part) as (stream, count):
        while stream.read(_BLOCK):
            pass
        return count.lines
    return 0


def _next_line(path: str, offset: int) -> int:
    """Where the first line begins from an offset on."""
    if offset == 0:
        return 0
    position = offset - 1
    with open_range(path, position) as read:
        while block := read(_BLOCK):
            found = block.find(b"\n")
            if found >= 0:
                return position + found + 1
            position += len(block)
    return position


Judge = Callable[[Piece], Any]
"""Judges a piece; its value can be pickled."""


class Lost(NamedTuple):
    """A piece whose process ended before its end, as for lack of memory."""

    piece: Piece


def share(
    pieces: Iterator[Piece], taxonomy: Taxonomy, create: Callable[[Taxonomy], Judge], jobs: int
) -> Generator[tuple[Piece, Any], None, None]:
    """The pieces and what the processes make of them, in order. The processes end with the
    iterator. ``create`` is a function of a module, or a partial of one.
    """
    workers = _start(taxonomy, create, jobs)
    idle = list(workers)
    busy: dict[Connection, int] = {}
    given: dict[int, Piece] = {}
    done: dict[int, Any] = {}
    number = turn = 0
    try:
        while True:
            while idle and number - turn < _AHEAD * jobs:
                piece = next(pieces, None)
                if piece is None:
                    break
                given[number] = piece
                busy[idle[-1]] = number
                idle.pop().send(piece)
                number += 1
            if turn == number:
                if not idle:
                    yield from ((piece, Lost(piece)) for piece in pieces)
                return
            for connection in wait([*busy]) if turn not in done else ():
                assert isinstance(connection, Connection)  # no other was given
                which = busy.pop(connection)
                try:
                    done[which] = connection.recv()
                    idle.append(connection)
                except (EOFError, OSError):
                    done[which] = Lost(given[which])
            while turn in done:
                yield given.pop(turn), done.pop(turn)
                turn += 1
    finally:
        for connection, process in workers.items():
            connection.close()
            process.terminate()
        for process in workers.values():
            process.join()


def _start(
    taxonomy: Taxonomy, create: Callable[[Taxonomy], Judge], jobs: int
) -> dict[Connection, SpawnProcess]:
    context = get_context("spawn")
    register_key_pickling()
    workers = {}
    with _no_interruption():  # the processes leave it to this one
        for _ in range(jobs):
            own, other = context.Pipe()
            process = context.Process(target=_work, args=(other, taxonomy, create), daemon=True)
            process.start()
            other.close()
            workers[own] = process
    return workers


def register_key_pickling() -> None:
    """Let the keys of mappings be pickled, which a taxonomy has: the codes of a surface."""
    copyreg.pickle(type({}.keys()), _reduce_keys)


def _reduce_keys(keys: Iterable[str]) -> tuple[Any, ...]:
    return _keys, (tuple(keys),)


def _keys(names: tuple[str, ...]) -> Any:
    return dict.fromkeys(names).keys()


@contextmanager
def _no_interruption() -> Iterator[None]:
    """Ignore Ctrl-C, which processes that start now inherit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(connection: Connection, taxonomy: Taxonomy, create: Callable[[Taxonomy], Judge]) -> None:
    """Judge pieces until nobody sends one."""
    judge = create(taxonomy)
    try:
        while True:
            connection.send(judge(connection.recv()))
    except (EOFError, OSError):
        return
