"""The codes of the service for failures upstream, by the table `upstream.codes` of the taxonomy."""

from collections.abc import Iterator, Mapping, Sequence

from faultspec.contract.clauses import upstream_codes
from faultspec.language.model import UpstreamCode
from faultspec.language.upstream_failures import UpstreamSays, deciding_row, distinct_failures
from faultspec_conformance.config import UpstreamFailure
from faultspec_conformance.probes.upstream_caller import UpstreamCaller
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import create_named
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import failed, not_exercised, passed
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.upstreams import FINE, ScriptedUpstream, has_code_place

CLAUSE = "upstream/code"

#: The least status of a failure.
_FAILS = 400

#: The failures of one row that are tried with one upstream.
_OF_A_ROW = 3


def translated_failures(session: HttpSession) -> Iterator[ProbeResult]:
    """Make the first call of each upstream, which fails in each way that the table names."""
    rows = upstream_codes(session.taxonomy)
    if not rows:
        return
    for row, reason in _unreached_rows(rows, session.upstreams):
        untried = f"a row of `upstream.codes` for `{row.becomes}` was not tried: {reason}"
        yield not_exercised(CLAUSE, untried)
        if session.upstreams:
            yield Note(untried)  # the other rows may decide the verdict
    for upstream in session.upstreams.values():
        call = upstream.config.calls[0]
        problem = create_named(session, call.call)
        if problem is not None:
            yield Outcome(CLAUSE, "could_not_run", problem)
            continue
        caller = UpstreamCaller(session, upstream, call)
        for row, failure in tried_failures(rows, upstream):
            yield from attempt(_compare(caller, row, failure), CLAUSE)
        upstream.script(FINE)  # later requests meet an upstream that answers well


def tried_failures(
    rows: Sequence[UpstreamCode], upstream: ScriptedUpstream
) -> Iterator[tuple[UpstreamCode, UpstreamSays]]:
    """Yield the failures that this upstream can play, each with the row that decides it: no answer,
    statuses, and codes if the configuration has a place for them.
    """
    config = upstream.config
    tried: dict[int, int] = {}
    for failure in distinct_failures(rows):
        row = deciding_row(rows, failure)
        named = failure.upstream is None and all(config.name not in each.upstreams for each in rows)
        if row is None or not (named or failure.upstream == config.name):
            continue
        if failure.status is not None and failure.status < _FAILS:
            continue
        if failure.code is not None and not (row.codes and has_code_place(config.error)):
            continue
        tried[id(row)] = tried.get(id(row), 0) + 1
        if tried[id(row)] <= _OF_A_ROW:
            yield row, failure


def _unreached_rows(
    rows: Sequence[UpstreamCode], upstreams: Mapping[str, ScriptedUpstream]
) -> Iterator[tuple[UpstreamCode, str]]:
    """Yield the rows that no configured upstream can play, each with the reason."""
    reached = {id(row) for each in upstreams.values() for row, _ in tried_failures(rows, each)}
    places = any(has_code_place(each.config.error) for each in upstreams.values())
    for row in rows:
        if id(row) in reached:
            continue
        if not upstreams:
            yield row, "the configuration has no `upstreams`"
        elif row.upstreams and not set(row.upstreams) & upstreams.keys():
            yield row, f"the configuration has no upstream {' or '.join(row.upstreams)}"
        elif row.codes and not places:
            yield row, "the configuration has no `error` with `$code` for the upstream"
        else:
            yield row, "no failure that an upstream can play is decided by it"


def _compare(caller: UpstreamCaller, row: UpstreamCode, failure: UpstreamSays) -> Iterator[Outcome]:
    """Let the upstream fail, and compare the code of the service with that of the row."""
    behaviour = UpstreamFailure(
        "closed" if failure.status is None else failure.status, code=failure.code
    )
    answer, requests = caller.provoke(behaviour)
    where = caller.where(behaviour.answer)
    if failure.code is not None:
        where = f"{where} with the code {failure.code}"
    if not any(request.behaviour == behaviour.answer for request in requests):
        reason = f"{answer.exchange.operation} was answered {answer} without a call upstream"
        yield Outcome(CLAUSE, "could_not_run", reason)
    elif answer.code == row.becomes:
        yield passed(CLAUSE)
    else:
        message = f"{where}, and the service answered {answer}; expected {row.becomes}"
        yield failed(CLAUSE, message, answer, variant=row.becomes)
