"""The report of a run that did not write one itself: its process hung, or ended.

Until then the run keeps reports of what it found so far.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from faultspec.contract.clauses import Clause
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers.http import without_credentials
from faultspec_conformance.results.model import ClauseResult, Report, Result
from faultspec_conformance.session.options import RunOptions, day_of_run

#: Seconds between two reports that are kept, at least.
_LEAST = 1.0

#: How many times as long as such a report took none is made: they take 4 % of the run at most.
_REST = 24


def empty_report(
    target: ServiceConfig, taxonomy: Taxonomy, options: RunOptions, clauses: Mapping[str, Clause]
) -> Report:
    """The report of a run that has found nothing yet. Nothing of the service is in it."""
    address = without_credentials(target.address) if target.transport == "http" else ""
    result = Result(
        target=address,
        taxonomy=f"{taxonomy.name} {taxonomy.version}",
        clauses={
            name: ClauseResult(name, clause.title, clause.statements)
            for name, clause in clauses.items()
        },
        shards=() if options.shard is None else (options.shard,),
    )
    return Report(
        result,
        base=address,
        only=options.only,
        source=target.path,
        day=day_of_run(options),
        seed=options.seed,
    )


def cut_report(found: Report, reason: str) -> Report:
    """The report of what was found until the run was cut off, for ``reason``."""
    result = found.result
    clauses = {
        name: clause if clause.occasions else replace(clause, not_run=(reason,))
        for name, clause in result.clauses.items()
    }
    return replace(
        found,
        result=replace(
            result,
            clauses=clauses,
            not_run=(*result.not_run, reason),
            complete=False,
        ),
    )


class Keeping:
    """Keeps a report of what was found so far, now and then, when it is called.

    ``build`` makes the report, ``keep`` keeps it. The first is due after some seconds, and the
    next ones take a small share of the time of the run.
    """

    def __init__(self, build: Callable[[], Report], keep: Callable[[Report], None]) -> None:
        self._build = build
        self._keep = keep
        self._due = time.monotonic() + _LEAST

    def __call__(self) -> None:
        """Keep a report, if one is due."""
        begun = time.monotonic()
        if begun < self._due:
            return
        self._keep(self._build())
        ended = time.monotonic()
        self._due = ended + max(_LEAST, (ended - begun) * _REST)
