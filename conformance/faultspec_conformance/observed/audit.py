"""Recorded traffic and logs, judged by the judge of live services."""

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from faultspec.contract.model import Contract, with_cache
from faultspec.openapi.service import Description
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.observed.formats import opened
from faultspec_conformance.observed.formats.record import NotARecording, Skipped
from faultspec_conformance.results.model import Report, settled
from faultspec_conformance.results.waivers import Waiver

_NAMED = 3
"""Files that the title of a report names."""

_EVERY = 0.2
"""Seconds between two tellings of progress."""

_LOOKED = 256
"""Records between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """How to read. ``form``: the format, where it is not to be told by content. ``base``: the address of the service, where
    recordings hold more than its traffic. ``progress`` hears the file, the share of it that was read, and how many exchanges
    were judged so far.
    """

    form: str | None = None
    base: str | None = None
    only: str | None = None
    description: Description | None = None
    waivers: tuple[Waiver, ...] = ()
    progress: Callable[[str, float, int], None] | None = None


def audit(
    paths: Sequence[str], contract: Contract, options: AuditOptions = AuditOptions()
) -> Report:
    """Judge what the files hold, in one pass and in memory that does not grow with them.

    A file that cannot be opened, decompressed or read to its end is told as what could not run, and what was read of it is
    judged; a part that cannot be read as a note.
    """
    started = time.monotonic()
    judging = with_cache(contract)
    tally = Accumulator(
        judging, waivers=options.waivers, only=options.only, description=options.description
    )
    not_run: list[str] = []
    interrupted = False
    for path in paths:
        try:
            ended = _read(path, tally, options)
            not_run += (ended,) if ended is not None else ()
        except (OSError, EOFError, zlib.error) as error:
            not_run.append(f"{path}: {getattr(error, 'strerror', None) or error}")
        except NotARecording as error:
            not_run.append(f"{path}: {error}")
        except KeyboardInterrupt:
            interrupted = True
            not_run.append(f"the audit was interrupted in {path}")
            break
    target = ", ".join(paths) if len(paths) <= _NAMED else f"{len(paths)} recordings"
    seen = tally.result(target, seconds=time.monotonic() - started, not_run=tuple(not_run))
    return Report(
        settled(seen, date.today(), only=options.only),
        options.base or "",
        options.only,
        interrupted=interrupted,
    )


def _read(path: str, tally: Accumulator, options: AuditOptions) -> str | None:
    """Judge what a file holds; why it ends before its end, where it does."""
    told = time.monotonic()
    tally.next_recording()
    with opened(path, tally.contract, options.form) as recording:
        for number, item in enumerate(recording.items):
            if isinstance(item, Skipped) and item.ends:
                return f"{item.place}: {item.reason}"
            if isinstance(item, Skipped):
                tally.skip(item.place, item.reason)
            elif options.base is not None and not _at(options.base, item.exchange.request.target):
                tally.skip(item.place, f"it is not at {options.base}")
            else:
                tally.see(item.exchange, item.place)
            if (
                options.progress is not None
                and number % _LOOKED == 0
                and time.monotonic() - told >= _EVERY
            ):
                told = time.monotonic()
                options.progress(path, recording.share(), tally.exchanges)
    return None


def _at(base: str, target: str) -> bool:
    """Whether a target is under the base; a path without a host is taken to be."""
    return "://" not in target[:12] or target.startswith((f"{base}/", f"{base}?")) or target == base
