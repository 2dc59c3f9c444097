"""Judging recorded traffic and logs, with the same judge as live services."""

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from lzma import LZMAError
from typing import Literal, NamedTuple

from faultspec.contract.model import Contract, build_contract, with_cache
from faultspec.exchange.finding import Level
from faultspec.language.model import Taxonomy
from faultspec.openapi.service import Description
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.observed.formats import OpenRecording, open_recording
from faultspec_conformance.observed.formats.grouping import GroupingPlan, plan_grouping
from faultspec_conformance.observed.formats.logs import read_log
from faultspec_conformance.observed.formats.record import (
    Grouped,
    LineCounter,
    NotARecording,
    RecordedExchange,
    RecordFacts,
    Repeats,
    Skipped,
    Unjudged,
)
from faultspec_conformance.observed.formats.sources import (
    STANDARD_INPUT,
    find_recordings,
    mask_address,
    size_of_source,
)
from faultspec_conformance.observed.jobs import (
    Lost,
    Piece,
    count_lines,
    open_lines,
    share,
    split_work,
)
from faultspec_conformance.observed.memory import FirstUse, Use
from faultspec_conformance.observed.received import as_received
from faultspec_conformance.observed.spark import open_spark, share_by_spark
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.model import Report, Result
from faultspec_conformance.results.recorded import add_parts, describe_part
from faultspec_conformance.results.sampling import is_sampled
from faultspec_conformance.results.waivers import Waiver

#: Files that the title of a report names.
_NAMED = 3

#: Seconds between two reports of progress.
_INTERVAL = 0.2

#: Records between two readings of the clock.
_RECORDS = 256

#: What ends the reading of a file.
_UNREADABLE = (OSError, EOFError, zlib.error, LZMAError, NotARecording)


Engine = Literal["plain", "duckdb", "spark"]
"""The programs that judge records: this one alone, or with one that groups or shares them."""


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """How to audit. ``form``: the format; None detects it.

    ``base``: the address of the service. Records of other addresses are skipped. ``only``: a
    pattern of clause addresses. ``crashes``: the level of crashes. ``progress`` is called with the
    file, the share of it that was read, and the exchanges so far. ``jobs``: the processes that
    share the work. ``since`` and ``until``: the moments from which and before which records are
    judged. ``sample``: the share of the records that is judged. ``engine``: `duckdb` judges equal
    rows of Parquet together; `plain` each by itself; `spark` shares the work among the workers of
    ``master``, or of this machine.
    """

    form: str | None = None
    base: str | None = None
    only: str | None = None
    description: Description | None = None
    waivers: tuple[Waiver, ...] = ()
    crashes: Level = "error"
    progress: Callable[[str, float, int], None] | None = None
    jobs: int = 1
    since: str | None = None
    until: str | None = None
    sample: float = 1.0
    engine: Engine = "duckdb"
    master: str | None = None

    @property
    def selects(self) -> bool:
        """Whether records are judged or not by their places, moments or addresses."""
        return self.sample < 1 or any((self.since, self.until, self.base))

    def why_outside(self, moment: str | None) -> str | None:
        """Why a record of this moment is not judged; None if it is."""
        if self.since is None and self.until is None:
            return None
        if moment is None:
            return "it has no time, which --since and --until need"
        if self.since is not None and moment < self.since:
            return f"it is before {self.since}"
        if self.until is not None and moment >= self.until:
            return f"it is not before {self.until}"
        return None


def audit(
    paths: Sequence[str], contract: Contract, options: AuditOptions = AuditOptions()
) -> Report:
    """Judge the exchanges of files in one pass. The memory does not grow with their length.

    A file that cannot be opened, decompressed or read to its end is reported as *could not run*;
    what was read is judged. A record that cannot be read becomes a note. Standard input is judged
    by this process.

    Raises SparkTrouble.
    """
    started = time.monotonic()
    not_run: list[str] = []
    found = _find_all(paths, not_run)
    whole = _SumOfPieces(contract, options)
    is_interrupted = False
    try:
        if STANDARD_INPUT not in paths and (options.jobs > 1 or options.engine == "spark"):
            with _share(_split(found, options), contract.taxonomy, options) as shared:
                for piece, judged in shared:
                    whole.add(piece, judged)
        else:
            whole.add(None, _PieceJudge(contract, options).judge_all(found))
    except KeyboardInterrupt:
        is_interrupted = True
    if is_interrupted or whole.interrupted:
        places = whole.interrupted or [mask_address(whole.last or paths[0])]
        not_run += (f"the audit was interrupted in {place}" for place in places)
        is_interrupted = True
    names = [*map(mask_address, paths)]
    target = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} recordings"
    seconds = time.monotonic() - started
    result = whole.result(target, seconds, not_run)
    return Report(
        conclude(result, date.today(), only=options.only),
        mask_address(options.base or ""),
        options.only,
        interrupted=is_interrupted,
    )


def _split(paths: Iterable[str], options: AuditOptions) -> Iterator[Piece]:
    """The pieces of work. A sample is chosen by places in whole files."""
    return split_work(paths, options.form, counts=options.sample < 1)


@contextmanager
def _share(
    pieces: Iterator[Piece], taxonomy: Taxonomy, options: AuditOptions
) -> Iterator[Iterator[tuple[Piece, "JudgedPiece | Lost"]]]:
    """The pieces and what other processes make of them. The processes end with the context."""
    create = partial(_create_judge, replace(options, progress=None))
    with ExitStack() as opened:
        if options.engine == "spark":
            session = opened.enter_context(open_spark(options.master))
            shared = share_by_spark(session, pieces, taxonomy, create)
        else:
            shared = share(pieces, taxonomy, create, options.jobs)
        yield opened.enter_context(closing(shared))


class JudgedPiece(NamedTuple):
    """The part that a piece of work adds, and of a range the first uses of its ids and the last
    ones. ``lines``: how many a range has, and None if it could not be read. Its places begin with
    line 1. ``ended``: the record at which the reading of a range ended early. ``interrupted``: the
    last record before an interruption.
    """

    part: Result
    lines: int | None = None
    first: tuple[FirstUse, ...] = ()
    recent: tuple[tuple[str, Use], ...] = ()
    ended: Skipped | None = None
    interrupted: str | None = None


class _PieceJudge:
    """Judges recordings in a row."""

    def __init__(self, contract: Contract, options: AuditOptions) -> None:
        self._contract = with_cache(contract)
        self._options = options
        self._plan: GroupingPlan | None = None
        if options.engine != "plain" and not options.selects:
            self._plan = plan_grouping(contract)

    def __call__(self, piece: Piece) -> JudgedPiece:
        """Judge a piece."""
        if piece.range is None:
            return self.judge_all(piece.paths)
        (path,) = piece.paths
        name = mask_address(path)
        accumulator = _create_accumulator(self._contract, self._options)
        accumulator.start_recording(name, continues=True)
        problem, lines, ended, interrupted = None, None, None, None
        try:
            with open_lines(path, piece.range) as (stream, count):
                items = read_log(
                    stream,
                    name,
                    self._contract,
                    _create_counter(accumulator, self._options),
                    begins=piece.range.start == 0,
                    before=piece.range.before or 0,
                )
                recording = OpenRecording(items, lambda: 0.0)
                ended = _judge_items(name, recording, accumulator, self._options)
                lines = count.lines
        except _UNREADABLE as error:
            problem = _describe(path, error)
        except KeyboardInterrupt:
            interrupted = accumulator.last_place or f"{name}:0"
        recent = accumulator.recent
        part = accumulator.part("", not_run=() if problem is None else (problem,))
        first = tuple(recent.first)
        return JudgedPiece(part, lines, first, recent.uses(), ended=ended, interrupted=interrupted)

    def judge_all(self, paths: Iterable[str]) -> JudgedPiece:
        """Judge whole files, up to an interruption."""
        accumulator = _create_accumulator(self._contract, self._options)
        not_run: list[str] = []
        path, interrupted = "", None
        try:
            for path in paths:
                problem = _judge_file(path, accumulator, self._options, self._plan)
                not_run += [problem] if problem is not None else []
        except KeyboardInterrupt:
            interrupted = accumulator.last_place or mask_address(path)
        return JudgedPiece(accumulator.part("", not_run=tuple(not_run)), interrupted=interrupted)


def _create_judge(options: AuditOptions, taxonomy: Taxonomy) -> _PieceJudge:
    return _PieceJudge(build_contract(taxonomy), options)


def _create_accumulator(contract: Contract, options: AuditOptions) -> Accumulator:
    return Accumulator(
        contract,
        waivers=options.waivers,
        only=options.only,
        description=options.description,
        crashes=options.crashes,
        share=options.sample,
    )


class _SumOfPieces:
    """The sum of the pieces so far. ``last``: the recording of the last one. ``interrupted``: the
    last records of those that were not judged to their ends.
    """

    def __init__(self, contract: Contract, options: AuditOptions) -> None:
        self._contract = contract
        self._options = options
        self._sum = _create_accumulator(contract, options).part("")
        self._recent = _create_accumulator(contract, options).recent
        self._lines = 0
        self._lost: list[str] = []
        self._ends: list[str] = []
        self.last = ""
        self.interrupted: list[str] = []

    def add(self, piece: Piece | None, judged: JudgedPiece | Lost) -> None:
        """Add the next piece."""
        if piece is not None:
            self.last = piece.paths[-1]
        if piece is not None and piece.range is not None and piece.range.start == 0:
            self._recent = _create_accumulator(self._contract, self._options).recent
            self._lines = 0
        if isinstance(judged, Lost):
            self._lost += (f"{mask_address(path)}: {judged.reason}" for path in judged.piece.paths)
            if judged.piece.range is not None:
                self._lines += count_lines(self.last, judged.piece.range)
            return
        if piece is not None and piece.range is not None:
            lines = judged.lines
            if piece.range.before is None:
                judged = _move(judged, self._lines)
            self._lines += count_lines(self.last, piece.range) if lines is None else lines
            accumulator = _create_accumulator(self._contract, self._options)
            accumulator.compare_range(self._recent, judged.first)
            for name, use in judged.recent:
                self._recent.keep(name, use)
            self._sum = add_parts(self._sum, accumulator.part(""))
        self._sum = add_parts(self._sum, judged.part)
        if judged.ended is not None:
            self._ends.append(_describe_end(judged.ended))
        if judged.interrupted is not None:
            self.interrupted.append(judged.interrupted)
        if self._options.progress is not None and piece is not None:
            share_read = 1.0
            if piece.range is not None and piece.range.end is not None:
                share_read = piece.range.end / max(size_of_source(self.last), 1)
            self._options.progress(mask_address(self.last), share_read, self._sum.requests)

    def result(self, target: str, seconds: float, not_run: list[str]) -> Result:
        """The result in words."""
        part = self._sum.part
        assert part is not None  # an accumulator makes one
        part = replace(
            part,
            subject="" if part.files else target,
            not_run=(*part.not_run, *self._ends, *self._lost, *not_run),
        )
        return describe_part(replace(self._sum, part=part, seconds=seconds))


def _find_all(paths: Sequence[str], not_run: list[str]) -> Iterator[str]:
    """The recordings that arguments name, each once; why there are none is added to ``not_run``."""
    seen = set()
    for path in paths:
        try:
            found = find_recordings(path)
        except (OSError, NotARecording) as error:
            not_run.append(f"{mask_address(path)}: {getattr(error, 'strerror', None) or error}")
            continue
        yield from (name for name in found if name not in seen)
        seen.update(found)


def _judge_file(
    path: str, accumulator: Accumulator, options: AuditOptions, plan: GroupingPlan | None
) -> str | None:
    """Judge the exchanges of a file. Why its end could not be read, or None."""
    name = mask_address(path)
    accumulator.start_recording(name)
    try:
        with open_recording(
            path,
            accumulator.contract,
            options.form,
            counter=_create_counter(accumulator, options),
            plan=plan,
        ) as recording:
            ended = _judge_items(name, recording, accumulator, options)
            return None if ended is None else _describe_end(ended)
    except _UNREADABLE as error:
        return _describe(path, error)


def _create_counter(accumulator: Accumulator, options: AuditOptions) -> LineCounter:
    """The counter of an accumulator, for the records that are to be judged."""
    counter = accumulator.counter
    if options.since is None and options.until is None:
        return replace(counter, share=options.sample)

    def count(facts: RecordFacts, place: str) -> bool:
        is_outside = options.why_outside(facts.stamp.moment) is not None
        if is_outside or not is_sampled(place, options.sample):
            return False
        return counter.count(facts, place)

    return replace(counter, count=count)


def _describe(path: str, error: Exception) -> str:
    return f"{mask_address(path)}: {getattr(error, 'strerror', None) or error}"


def _move(judged: JudgedPiece, lines: int) -> JudgedPiece:
    """The piece with the places that it has in the whole file, of which ``lines`` are before it."""
    if not lines:
        return judged

    def move(place: str) -> str:
        file, _, line = place.rpartition(":")
        return f"{file}:{int(line) + lines}"

    result, part = judged.part, judged.part.part
    assert part is not None  # an accumulator makes one
    findings = tuple(
        replace(
            each,
            places=tuple(map(move, each.places)),
            last=None if each.last is None else move(each.last),
        )
        for each in result.findings
    )
    skipped = tuple(replace(each, first=move(each.first)) for each in part.skipped)
    first = tuple(
        use if use.place is None else use._replace(place=move(use.place)) for use in judged.first
    )
    part, ended = replace(part, skipped=skipped), judged.ended
    return judged._replace(
        part=replace(result, findings=findings, part=part),
        first=first,
        ended=None if ended is None else ended._replace(place=move(ended.place)),
        interrupted=None if judged.interrupted is None else move(judged.interrupted),
    )


def _describe_end(ended: Skipped) -> str:
    return f"{ended.place}: {ended.reason}"


def _judge_items(
    path: str, recording: OpenRecording, accumulator: Accumulator, options: AuditOptions
) -> Skipped | None:
    """Judge the items of a recording; return the record at which the reading ended early."""
    reported = time.monotonic()
    for number, each in enumerate(recording.items):
        item, repeats = each if isinstance(each, Grouped) else (each, None)
        times = 1 if repeats is None else repeats.times
        match item:
            case Skipped(ends=True):
                return item
            case Skipped():
                accumulator.skip(item.place, item.reason, broken=item.broken, times=times)
            case Unjudged.UNSAMPLED:
                accumulator.leave_out()
            case RecordedExchange():
                _judge_record(item, repeats, accumulator, options)
        if options.progress is not None and number % _RECORDS == 0:
            now = time.monotonic()
            if now - reported >= _INTERVAL:
                reported = now
                options.progress(path, recording.share(), accumulator.exchanges)
    return None


def _judge_record(
    item: RecordedExchange,
    repeats: Repeats | None,
    accumulator: Accumulator,
    options: AuditOptions,
) -> None:
    outside = options.why_outside(item.stamp.moment)
    if options.base is not None and not _is_below(options.base, item.exchange.request.target):
        outside = f"it is not at {options.base}"
    if outside is not None:
        accumulator.skip(item.place, outside)
    elif is_sampled(item.place, options.sample):
        received = as_received(item.exchange, recorded=True)
        accumulator.add(received, item.place, stamp=item.stamp, facts=item.facts, repeats=repeats)
    else:
        accumulator.leave_out()


def _is_below(base: str, target: str) -> bool:
    """Whether a target is below the base; a path without a host counts as such."""
    return "://" not in target[:12] or target.startswith((f"{base}/", f"{base}?")) or target == base
