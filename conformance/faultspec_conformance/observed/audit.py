"""Judging recorded traffic and logs, with the same judge as live services."""

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from lzma import LZMAError

from faultspec.contract.model import Contract, with_cache
from faultspec.exchange.finding import Level
from faultspec.openapi.service import Description
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.observed.formats import open_recording
from faultspec_conformance.observed.formats.record import NotARecording, Skipped
from faultspec_conformance.observed.formats.sources import find_recordings
from faultspec_conformance.observed.received import as_received
from faultspec_conformance.results.conclusion import conclude
from faultspec_conformance.results.model import Report
from faultspec_conformance.results.waivers import Waiver

#: Files that the title of a report names.
_NAMED = 3

#: Seconds between two reports of progress.
_INTERVAL = 0.2

#: Records between two readings of the clock.
_RECORDS = 256


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """How to audit. ``form``: the format; None detects it.

    ``base``: the address of the service. Records of other addresses are skipped. ``only``: a
    pattern of clause addresses. ``crashes``: the level of crashes. ``progress`` is called with the
    file, the share of it that was read, and the exchanges so far.
    """

    form: str | None = None
    base: str | None = None
    only: str | None = None
    description: Description | None = None
    waivers: tuple[Waiver, ...] = ()
    crashes: Level = "error"
    progress: Callable[[str, float, int], None] | None = None


def audit(
    paths: Sequence[str], contract: Contract, options: AuditOptions = AuditOptions()
) -> Report:
    """Judge the exchanges of files in one pass. The memory does not grow with their length.

    A file that cannot be opened, decompressed or read to its end is reported as *could not run*;
    what was read is judged. A record that cannot be read becomes a note.
    """
    started = time.monotonic()
    accumulator = Accumulator(
        with_cache(contract),
        waivers=options.waivers,
        only=options.only,
        description=options.description,
        crashes=options.crashes,
    )
    not_run: list[str] = []
    interrupted = False
    for path in _find_all(paths, not_run):
        try:
            problem = _judge_file(path, accumulator, options)
            not_run += [problem] if problem is not None else []
        except (OSError, EOFError, zlib.error, LZMAError) as error:
            not_run.append(f"{path}: {getattr(error, 'strerror', None) or error}")
        except NotARecording as error:
            not_run.append(f"{path}: {error}")
        except KeyboardInterrupt:
            interrupted = True
            not_run.append(f"the audit was interrupted in {path}")
            break
    target = ", ".join(paths) if len(paths) <= _NAMED else f"{len(paths)} recordings"
    seconds = time.monotonic() - started
    result = accumulator.result(target, seconds=seconds, not_run=tuple(not_run))
    return Report(
        conclude(result, date.today(), only=options.only),
        options.base or "",
        options.only,
        interrupted=interrupted,
    )


def _find_all(paths: Sequence[str], not_run: list[str]) -> Iterator[str]:
    """The recordings that arguments name, each once; why there are none is added to ``not_run``."""
    seen = set()
    for path in paths:
        try:
            found = find_recordings(path)
        except (OSError, NotARecording) as error:
            not_run.append(f"{path}: {getattr(error, 'strerror', None) or error}")
            continue
        yield from (name for name in found if name not in seen)
        seen.update(found)


def _judge_file(path: str, accumulator: Accumulator, options: AuditOptions) -> str | None:
    """Judge the exchanges of a file. Why its end could not be read, or None."""
    reported = time.monotonic()
    accumulator.start_recording(path)
    with open_recording(path, accumulator.contract, options.form) as recording:
        for number, item in enumerate(recording.items):
            if isinstance(item, Skipped):
                if item.ends:
                    return f"{item.place}: {item.reason}"
                accumulator.skip(item.place, item.reason, broken=item.broken)
            elif options.base is None or _is_below(options.base, item.exchange.request.target):
                accumulator.add(as_received(item.exchange, recorded=True), item.place)
            else:
                accumulator.skip(item.place, f"it is not at {options.base}")
            if options.progress is not None and number % _RECORDS == 0:
                now = time.monotonic()
                if now - reported >= _INTERVAL:
                    reported = now
                    options.progress(path, recording.share(), accumulator.exchanges)
    return None


def _is_below(base: str, target: str) -> bool:
    """Whether a target is below the base; a path without a host counts as such."""
    return "://" not in target[:12] or target.startswith((f"{base}/", f"{base}?")) or target == base
