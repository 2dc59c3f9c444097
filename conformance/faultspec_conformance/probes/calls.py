"""Samples and recipes of services that are called by name: calls that succeed, and calls that
provoke a code.
"""

from collections.abc import Iterable, Iterator, Mapping

from faultspec.contract.crashes import may_fail
from faultspec.judge.collector import join_or
from faultspec_conformance.config import ABSENT, Recipe, SampleCall, Step
from faultspec_conformance.probes.expectations import CLAUSE as _EXPECTED
from faultspec_conformance.probes.expectations import compare_values, error_values
from faultspec_conformance.probes.provoke import carry_out, report_unmet
from faultspec_conformance.probes.states import await_state, reached_states
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import CallSession, PostedCall
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    has_code,
    not_exercised,
    passed,
    summary_line,
)
from faultspec_conformance.session.observations import NotRun, ProbeResult, attempt
from faultspec_conformance.session.placeholders import fill_in, fill_in_text
from faultspec_conformance.session.saved import saved_values

_CLAUSE = "provoke/code"


def samples(session: CallSession) -> Iterator[ProbeResult]:
    """Make the calls that the configuration says succeed; if one fails, the configuration or the
    service is wrong.

    A service with navigation is left to its walks, because what succeeds there depends on the
    state.
    """
    for sample in session.samples if session.taxonomy.navigation is None else ():
        yield from attempt(_sample(session, sample))


def _sample(session: CallSession, sample: SampleCall) -> Iterator[ProbeResult]:
    saved = take_steps(session, sample.before, harmless=sample.safe)
    if isinstance(saved, str):
        yield NotRun(saved)
        return
    answer = session.call(
        sample.call.path,
        _params(session, sample.call.body, saved),
        identity=session.identity(sample.identity),
        harmless=sample.safe,
    )
    if not answer.ok:
        line = summary_line(session.contract, answer)
        yield NotRun(f"the service answered the call {sample.name} with {line}")


def take_steps(
    session: CallSession, steps: Iterable[Step], *, harmless: bool
) -> dict[str, object] | str:
    """Take the steps that a call needs; return the values by name that it may use, or why the call
    cannot be made.
    """
    saved: dict[str, object] = dict(session.constants)
    for step in steps:
        answer = session.take_step(step, saved, harmless=harmless)
        if answer is not None and not answer.ok and not step.may_fail:
            line = summary_line(session.contract, answer)
            return f"the service answered {step.call.path}, which another call needs, with {line}"
    return saved


def recipes(session: CallSession) -> Iterator[ProbeResult]:
    """Carry out every recipe, each in a session of the protocol of its own; those that exhaust
    something come last.
    """

    def exhausts(recipe: Recipe) -> bool:
        return any(step.at_most > 1 and step.state is None for step in recipe.steps)

    used_up = False
    for recipe in sorted(session.config.recipes, key=exhausts):
        if not recipe.steps:
            continue
        if recipe.fresh or used_up:
            yield from attempt(_restart(session), _CLAUSE)
        used_up = recipe.fresh
        saved: dict[str, object] = {}
        results = carry_out(recipe, _provoke_code(session, recipe, saved), _CLAUSE)
        yield from attempt(results, _CLAUSE)
        if session.writable:  # without writes, the recipe has changed nothing
            yield from attempt(_undo(session, recipe, saved), _CLAUSE)
    if used_up:
        yield from attempt(_restart(session), _CLAUSE)


def _restart(session: CallSession) -> Iterator[ProbeResult]:
    session.restart()
    yield from ()


def _provoke_code(
    session: CallSession, recipe: Recipe, saved: dict[str, object]
) -> Iterator[ProbeResult]:
    """Carry out a recipe. ``saved``: filled in with its values, by name."""
    session.reset()
    seen = len(session.observations.exchanges)
    saved |= {**session.constants, **session.make_values(recipe.values, session.constants)}
    answers = _carry_out_steps(session, recipe, saved)
    if isinstance(answers, str):
        yield from report_unmet(recipe, answers)
        return
    yield from _check_answers(session, recipe, answers)
    answer = next((each for each in answers if has_code(each, recipe.code)), None)
    if answer is not None:
        expected = error_values(session, recipe, answer)
        yield from compare_values(session, recipe, answer, expected, saved=saved)
    yield from _check_notifications(session, recipe, session.observations.exchanges[seen:])


def _carry_out_steps(
    session: CallSession, recipe: Recipe, saved: dict[str, object]
) -> list[Observation] | str:
    """Take the steps of a recipe; return the answers that may have its code, or why it could not be
    carried out.

    They are the answer to the last step; if that gets none, all that no step has waited for.
    """
    answer: Observation | None = None
    posted: list[PostedCall] = []
    for index, step in enumerate(recipe.steps, start=1):
        is_last = index == len(recipe.steps)
        answer = None
        if step.notification or not step.waits:
            posted += session.post_step(step, saved)
            continue
        answer = _step(session, step, saved, recipe.code, is_last=is_last)
        if is_last:
            break
        where = f"step {index} of the recipe for {recipe.code}"
        values = saved_values(step.save, answer, where)
        if not answer.ok and not step.may_fail:
            line = summary_line(session.contract, answer)
            values = f"the service answered {where} with {line}"
        if isinstance(values, str):
            return values
        saved |= values
    fails = may_fail(session.taxonomy, recipe.code)
    late = [session.collect_step(call, may_fail=fails) for call in posted]
    return late if answer is None else [answer]


def _check_answers(
    session: CallSession, recipe: Recipe, answers: list[Observation]
) -> Iterator[ProbeResult]:
    """Check that one of the answers has the code of the recipe."""
    last = recipe.steps[-1]
    if not answers:
        yield from report_unmet(recipe, f"the recipe for {recipe.code} waits for no answer")
        return
    yield from reached_states(recipe, answers[-1])
    line = f"the service answered {join_or(map(str, answers))} to the recipe for {recipe.code}"
    if any(has_code(answer, recipe.code) for answer in answers):
        yield passed(_CLAUSE)
    elif all(answer.code is None and not answer.sound for answer in answers):
        yield not_exercised(_CLAUSE, f"{line}, and the answer has no readable code")
    else:
        repeated = last.at_most > 1 and last.state is None
        times = f" after {last.at_most} requests" if repeated else ""
        yield failed(_CLAUSE, f"{line}{times}; expected {recipe.code}", *answers)


def _check_notifications(
    session: CallSession, recipe: Recipe, exchanges: Iterable[Observation]
) -> Iterator[Outcome]:
    """Check that the notifications came that the recipe names."""
    events = {seen.exchange.operation for seen in exchanges if seen.exchange.transport == "event"}
    last = session.observations.last
    for name in recipe.notifications:
        if name in events:
            yield passed(_EXPECTED)
        elif not session.hears:
            reason = "JSON-RPC over HTTP delivers no notifications of the service"
            yield not_exercised(_EXPECTED, reason)
        elif last is not None:
            message = f"the service sent no `{name}` during the recipe for {recipe.code}"
            yield failed(_EXPECTED, message, last, variant=name)


def _undo(session: CallSession, recipe: Recipe, saved: dict[str, object]) -> Iterator[ProbeResult]:
    """Take the steps that undo what a recipe changed."""
    for step in recipe.after:
        answer = session.take_step(step, saved)
        if answer is not None and not answer.ok and not step.may_fail:
            line = summary_line(session.contract, answer)
            yield NotRun(
                f"the service answered {step.call.path} after the recipe for {recipe.code} "
                f"with {line}"
            )


def _step(
    session: CallSession,
    step: Step,
    saved: Mapping[str, object],
    code: str,
    *,
    is_last: bool,
) -> Observation:
    """Make the call of a step until the answer has its state or the code, as often as the step
    allows. Raises StateMissedError.
    """
    name = fill_in_text(session.source, step.call.path, saved)

    def call() -> Observation:
        return session.call(
            name,
            _params(session, step.call.body, saved),
            identity=session.identity(step.identity),
            may_fail=may_fail(session.taxonomy, code),
        )

    if step.state is not None:
        return await_state(session, step, call, code=code if is_last else None)
    for _ in range(step.at_most):
        answer = call()
        if has_code(answer, code):
            break
    return answer


def _params(session: CallSession, body: object, saved: Mapping[str, object]) -> object:
    return ABSENT if body is ABSENT else fill_in(session.source, body, saved)
