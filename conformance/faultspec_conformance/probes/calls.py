"""Samples and recipes of services that are called by name: calls that succeed, and calls that
provoke a code.
"""

from collections.abc import Iterator, Mapping

from faultspec.contract.crashes import may_fail
from faultspec_conformance.config import ABSENT, Recipe, SampleCall, Step
from faultspec_conformance.probes.provoke import carry_out, report_unmet
from faultspec_conformance.probes.states import await_state, reached_states
from faultspec_conformance.session.calls import CallSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
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
    answer = session.call(
        sample.call.path,
        _params(session, sample.call.body, {}),
        identity=session.identity(sample.identity),
        harmless=sample.safe,
    )
    if not answer.ok:
        line = summary_line(session.contract, answer)
        yield NotRun(f"the service answered the call {sample.name} with {line}")


def recipes(session: CallSession) -> Iterator[ProbeResult]:
    """Carry out every recipe, each in a session of the protocol of its own; those that exhaust
    something come last.
    """

    def exhausts(recipe: Recipe) -> bool:
        return any(step.at_most > 1 and step.state is None for step in recipe.steps)

    for recipe in sorted(session.config.recipes, key=exhausts):
        if recipe.steps:
            results = carry_out(recipe, _provoke_code(session, recipe), _CLAUSE)
            yield from attempt(results, _CLAUSE)


def _provoke_code(session: CallSession, recipe: Recipe) -> Iterator[ProbeResult]:
    session.reset()
    saved = {**session.constants, **session.make_values(recipe.values, session.constants)}
    *steps, last = recipe.steps
    for index, step in enumerate(steps, start=1):
        answer = _step(session, step, saved, recipe.code, is_last=False)
        where = f"step {index} of the recipe for {recipe.code}"
        values = saved_values(step.save, answer, where)
        if not answer.ok:
            line = summary_line(session.contract, answer)
            values = f"the service answered {where} with {line}"
        if isinstance(values, str):
            yield from report_unmet(recipe, values)
            return
        saved |= values
    answer = _step(session, last, saved, recipe.code, is_last=True)
    yield from reached_states(recipe, answer, None)
    line = f"the service answered {answer} to the recipe for {recipe.code}"
    if answer.code == recipe.code:
        yield passed(_CLAUSE)
    elif answer.code is None and not answer.sound:
        yield not_exercised(_CLAUSE, f"{line}, and the answer has no readable code")
    else:
        repeated = last.at_most > 1 and last.state is None
        times = f" after {last.at_most} requests" if repeated else ""
        yield failed(_CLAUSE, f"{line}{times}; expected {recipe.code}", answer)


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
        if answer.code == code:
            break
    return answer


def _params(session: CallSession, body: object, saved: Mapping[str, object]) -> object:
    return ABSENT if body is ABSENT else fill_in(session.source, body, saved)
