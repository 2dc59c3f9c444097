"""Sharing an audit among processes: whole files, and ranges of large logs.

Each process judges pieces of work and sends back their parts, which the first process adds up in
order. So the report is that of one process.
"""

import copyreg
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from faultspec.language.model import Taxonomy
from faultspec_conformance.observed.formats import open_stream
from faultspec_conformance.observed.formats.byte_streams import ByteStream
from faultspec_conformance.observed.formats.record import NotARecording

RANGE = 48 * 1024 * 1024
"""Bytes of a range of a log, and of small files that are judged together. Up to 20,000 exchanges
with ids come back with a range, so ranges are not small.
"""

#: Files that are judged together at most.
_FILES = 64

#: Pieces that wait for an earlier one, for each process. The results of each take up to some MB.
_AHEAD = 2


class Range(NamedTuple):
    """Bytes of a log from the beginning of a line to the end of another. ``lines``: those before
    it.
    """

    start: int
    end: int
    lines: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Recordings that one process judges in a row, or a range of one."""

    paths: tuple[str, ...]
    range: Range | None = None


def split_work(paths: Iterable[str], form: str | None) -> Iterator[Piece]:
    """The pieces of an audit, in order."""
    small: list[str] = []
    size = 0
    for path in paths:
        length = _length(path)
        if length > RANGE and form in (None, "ndjson") and _is_plain_log(path, form):
            if small:
                yield Piece(tuple(small))
            small, size = [], 0
            yield from (Piece((path,), each) for each in _split_lines(path))
            continue
        small.append(path)
        size += length
        if size >= RANGE or len(small) == _FILES:
            yield Piece(tuple(small))
            small, size = [], 0
    if small:
        yield Piece(tuple(small))


def _length(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:  # one of a store, or missing: reading it tells
        return 0


def _is_plain_log(path: str, form: str | None) -> bool:
    """Whether a file is a log that is not compressed."""
    try:
        with open_stream(path) as found:
            return found.unpacked is None and (form or found.form) == "ndjson"
    except (OSError, NotARecording):  # reading it tells
        return False


def _split_lines(path: str) -> Iterator[Range]:
    """The ranges of a log: each ends with a line."""
    start = position = lines = before = 0
    with Path(path).open("rb") as file:
        while block := file.read(min(RANGE, 1024 * 1024)):
            end = block.rfind(b"\n") + 1
            if end and position + end - start >= RANGE:
                yield Range(start, position + end, before)
                start = position + end
                before = lines + block.count(b"\n", 0, end)
            lines += block.count(b"\n")
            position += len(block)
    if position > start:
        yield Range(start, position, before)


def range_stream(file: BinaryIO, part: Range) -> ByteStream:
    """The bytes of a range of a file."""
    file.seek(part.start)
    return ByteStream(lambda size: file.read(min(size, part.end - file.tell())))


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
    copyreg.pickle(type({}.keys()), _reduce_keys)  # the codes of a surface
    workers = {}
    with _no_interruption():  # the processes leave it to this one
        for _ in range(jobs):
            own, other = context.Pipe()
            process = context.Process(target=_work, args=(other, taxonomy, create), daemon=True)
            process.start()
            other.close()
            workers[own] = process
    return workers


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
