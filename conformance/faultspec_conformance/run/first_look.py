"""A run without a taxonomy: learn the shape of the service's errors, then judge by it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange
from faultspec.openapi.service import Description
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.learning.answers import BodyShape, ErrorAnswer, group_shapes, read_errors
from faultspec_conformance.learning.first import (
    OWED,
    OWED_WITH_DOCUMENT,
    WITHOUT_TAXONOMY,
    any_body,
    no_shape,
    one_shape,
)
from faultspec_conformance.learning.in_band import describe_marks, find_marks
from faultspec_conformance.learning.sightings import describe_errors, draw_shape
from faultspec_conformance.results.model import Report, Result
from faultspec_conformance.run.exploration import Describe, Described, describe_service
from faultspec_conformance.run.service import judge_http
from faultspec_conformance.run.summarize import build_session_masking
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.options import RunOptions, Unreachable, ignore_report

#: What a team does after a first look, and after one that saw no error to learn from.
_NEXT = "no taxonomy was given: `faultspec init --from URL` drafts one from these answers"
_NOTHING_LEARNED = (
    "no error has a JSON object as its body, so no shape of errors was judged; `--path /orders/17` "
    "names paths to ask for"
)

#: What provokes errors of a service of which nothing is known.
_LEARNED_FROM = "service/*,framework/*,auth/*"


@dataclass(frozen=True, slots=True)
class ExploredService:
    """A service's document and its masked answers, in order, with what they cost.

    ``leaking``: the answers that contain more than an error may, which nothing may quote.
    ``report``: of the exploration itself.
    """

    description: Description
    exchanges: tuple[Exchange, ...]
    leaking: tuple[bool, ...]
    requests: int
    seconds: float
    report: Report


def look(target: ServiceConfig, options: RunOptions) -> Report | Unreachable:
    """Judge a service of which nothing is known by what every service owes. Its most common shape
    of errors is that of all its errors.
    """
    describe = _describe_once()
    explored = explore(target, replace(options, sweep=False), describe)
    if isinstance(explored, Unreachable):
        return explored
    answers = read_explored(explored)
    shapes = group_shapes(answers)
    if explored.report.interrupted:
        return _describe_first(explored.report, describe_errors(answers, shapes), shapes, None)
    marks = find_marks(shapes[0], explored.exchanges) if shapes else {}
    taxonomy = one_shape(shapes[0], marks) if shapes else None
    limits = target.limits
    described = explored.description
    owed = OWED_WITH_DOCUMENT if described.document and not described.learned else OWED
    rest = replace(
        limits,
        requests=max(1, limits.requests - explored.requests),
        seconds=max(1.0, limits.seconds - explored.seconds),
    )
    judged = judge_http(
        replace(target, limits=rest),
        taxonomy or no_shape(),
        replace(options, only=options.only or owed),
        {},
        describe=describe,
    )
    if isinstance(judged, Unreachable):
        return judged
    learned = shapes[0] if taxonomy is not None else None
    seen = (
        *describe_errors(answers, shapes, judged=learned is not None),
        *describe_marks(marks),
    )
    return _describe_first(judged, seen, shapes, learned)


def _describe_first(
    judged: Report,
    seen: Iterable[str],
    shapes: Sequence[BodyShape],
    learned: BodyShape | None,
) -> Report:
    """The report with sentences on what was seen. ``learned``: the shape that errors were judged
    by, if there is one.
    """
    following = _NEXT if shapes else _NOTHING_LEARNED
    result = without_guesses(replace(judged.result, notes=(*seen, *judged.result.notes, following)))
    return replace(judged, result=_reword_as_learned(result, learned) if learned else result)


def _reword_as_learned(result: Result, shape: BodyShape) -> Result:
    """The result whose findings say that the form of errors was learned, and not declared."""
    source = f" (learned: the most common shape of its errors is {draw_shape(shape.schema)})"

    def reword(finding: Finding) -> Finding:
        message = finding.message.replace("the declared form", "the learned form")
        suffix = source if finding.clause.startswith("envelope/") else ""
        return replace(finding, message=message + suffix)

    return replace(
        result,
        findings=tuple(
            replace(
                reported,
                finding=reword(reported.finding),
                examples=tuple(map(reword, reported.examples)),
            )
            for reported in result.findings
        ),
    )


def without_guesses(result: Result) -> Result:
    """The result without what only the learned taxonomy says: its codes, and the clauses that it
    has nothing to declare for.
    """
    checkable = {
        name: clause for name, clause in result.clauses.items() if clause.verdict != "not_checkable"
    }
    return replace(result, taxonomy=WITHOUT_TAXONOMY, clauses=checkable, coverage={})


def read_explored(explored: ExploredService) -> tuple[ErrorAnswer, ...]:
    """The errors among the answers of a service."""
    return tuple(read_errors(zip(explored.exchanges, explored.leaking, strict=True)))


def _describe_once() -> Describe:
    """A function that describes a service once, and remembers."""
    found: list[Described | Unreachable | NoAnswer] = []

    def describe(target: ServiceConfig, driver: HttpDriver) -> Described | Unreachable | NoAnswer:
        if not found:
            found.append(describe_service(target, driver))
        return found[0]

    return describe


def explore(
    target: ServiceConfig, options: RunOptions, describe: Describe = describe_service
) -> ExploredService | Unreachable:
    """Provoke the errors of a service, within half of the limits: unknown routes and ids, bad
    input, no credentials.
    """
    opened: list[HttpSession] = []
    limits = target.limits
    half = replace(limits, requests=-(-limits.requests // 2), seconds=limits.seconds / 2)

    found = judge_http(
        replace(target, limits=half),
        any_body(),
        replace(options, only=_LEARNED_FROM, keep=ignore_report),
        {},
        describe=describe,
        inspect=opened.append,
    )
    if isinstance(found, Unreachable):
        return found
    (session,) = opened
    masking = build_session_masking(session)
    seen = session.observations.exchanges
    return ExploredService(
        session.description,
        exchanges=tuple(masking.exchange(each.exchange) for each in seen),
        leaking=tuple(_leaks(each) for each in seen),
        requests=found.result.requests,
        seconds=found.result.seconds,
        report=found,
    )


def _leaks(seen: Observation) -> bool:
    # A canary is ours, and masked.
    return any(
        finding.clause.startswith("leaks/") and finding.clause != "leaks/canary"
        for finding in seen.judgement.findings
    )
