"""Sharing an audit among processes: whole files, and ranges of large logs.

Each process judges pieces of work and sends back their parts, which the first process adds up in
order. So the report is that of one process.
"""

import copyreg
import io
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType
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
    """A piece that was not judged. ``reason``: why, as when its process ended for lack of
    memory.
    """

    piece: Piece
    reason: str = "the process that judged it ended"


def share(
    pieces: Iterator[Piece], taxonomy: Taxonomy, create: Callable[[Taxonomy], Judge], jobs: int
) -> Generator[tuple[Piece, Any], None, None]:
    """The pieces and what the processes make of them, in order. The processes end with the
    iterator. ``create`` is a function of a module, or a partial of one.

    Raises KeyboardInterrupt behind what the processes had made until then. Signals wait while the
    caller has a piece.
    """
    workers = _start(taxonomy, create, jobs)
    deferral = _Deferral(_SIGNALS)
    work = _SharedWork(pieces, jobs, [*workers], deferral)
    try:
        with deferral:
            try:
                yield from work.judge_all()
            except KeyboardInterrupt:
                _interrupt(workers.values())
                yield from work.finish(time.monotonic() + _LAST_SECONDS)
                raise
    finally:
        for connection, process in workers.items():
            connection.close()
            process.kill()
        for process in workers.values():
            process.join()


#: Seconds in which interrupted processes send what they have.
_LAST_SECONDS = 5.0

#: The signals that interrupt an audit, and the one by which it interrupts its processes.
_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
_INTERRUPT = signal.SIGUSR1


class _SharedWork:
    """Pieces of work and the connections to the processes that judge them.

    ``busy``: the number of the piece that each has. ``turn``: the number of the next to yield.
    """

    def __init__(
        self,
        pieces: Iterator[Piece],
        jobs: int,
        idle: list[Connection],
        deferral: "_Deferral",
    ) -> None:
        self._pieces = pieces
        self._deferral = deferral
        self._most = _AHEAD * jobs
        self._idle = idle
        self._busy: dict[Connection, int] = {}
        self._given: dict[int, Piece] = {}
        self._done: dict[int, Any] = {}
        self._number = self._turn = 0

    def judge_all(self) -> Iterator[tuple[Piece, Any]]:
        """Yield each piece and what a process made of it."""
        while True:
            self._hand_out()
            if self._turn == self._number:
                if not self._idle:
                    yield from ((piece, Lost(piece)) for piece in self._pieces)
                return
            if self._turn not in self._done:
                self._receive(None)
            while self._turn in self._done:
                yield self._take()

    def finish(self, until: float) -> Iterator[tuple[Piece, Any]]:
        """Yield the pieces that processes have, with what they made of them until a moment."""
        while self._busy and time.monotonic() < until:
            self._receive(until - time.monotonic())
        while self._turn < self._number:
            piece = self._given[self._turn]
            self._done.setdefault(self._turn, Lost(piece, "the audit was interrupted"))
            yield self._take()

    def _hand_out(self) -> None:
        while self._idle and self._number - self._turn < self._most:
            piece = next(self._pieces, None)
            if piece is None:
                return
            connection = self._idle.pop()
            self._given[self._number] = piece
            try:
                connection.send(piece)
                self._busy[connection] = self._number
            except OSError:  # the process has ended
                self._done[self._number] = Lost(piece)
            self._number += 1

    def _receive(self, seconds: float | None) -> None:
        with self._deferral.interruptible():
            ready = wait([*self._busy], seconds)
        for connection in ready:
            assert isinstance(connection, Connection)  # no other was given
            number = self._busy.pop(connection)
            try:
                self._done[number] = connection.recv()
                self._idle.append(connection)
            except (EOFError, OSError):
                self._done[number] = Lost(self._given[number])

    def _take(self) -> tuple[Piece, Any]:
        number = self._turn
        self._turn += 1
        return self._given.pop(number), self._done.pop(number)


class _Deferral:
    """Holds signals back until a moment that may be interrupted. A mask of the thread would not do:
    Python handles in its first thread what any thread gets.
    """

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        self._numbers = numbers
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._waiting: list[int] = []
        self._may_interrupt = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in self._numbers:
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._handle)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._deliver()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Handle the signals that came meanwhile, and those that come in the block."""
        self._may_interrupt = True
        try:
            self._deliver()
            yield
        finally:
            self._may_interrupt = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._may_interrupt:
            self._may_interrupt = False
            self._handlers[number](number, frame)
        else:
            self._waiting.append(number)

    def _deliver(self) -> None:
        while self._waiting:
            number = self._waiting.pop(0)
            self._handlers[number](number, None)


def _interrupt(processes: Iterable[SpawnProcess]) -> None:
    for process in processes:
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, _INTERRUPT)


def _start(
    taxonomy: Taxonomy, create: Callable[[Taxonomy], Judge], jobs: int
) -> dict[Connection, SpawnProcess]:
    context = get_context("spawn")
    register_key_pickling()
    workers = {}
    # The processes leave Ctrl-C to this one, whose signal waits until they can handle it.
    with _no_interruption(), _block_signals({_INTERRUPT}):
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
def _block_signals(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Block signals, which processes that start now inherit."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
    """Judge pieces until nobody sends one. An interruption, whose signal the process has blocked
    from its start, ends the piece that is being judged.
    """
    signal.signal(_INTERRUPT, signal.default_int_handler)
    for number in _SIGNALS:  # of a whole group of processes
        signal.signal(number, signal.SIG_IGN)
    deferral = _Deferral({_INTERRUPT})
    with deferral:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {_INTERRUPT})
        judge = create(taxonomy)
        try:
            while True:
                piece = connection.recv()
                try:
                    with deferral.interruptible():
                        judged = judge(piece)
                except KeyboardInterrupt:
                    judged = Lost(piece, "the audit was interrupted")
                connection.send(judged)
        except (EOFError, OSError):
            return
