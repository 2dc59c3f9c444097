"""Waiting for a state: a request is repeated until its answer shows that a job has ended."""

import json
from collections.abc import Callable, Iterator
from time import time

from faultspec.language.values import are_equal
from faultspec.runtime import retry_after
from faultspec_conformance.config import Recipe, Step
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    passed,
    point,
)

#: The clause about states that recipes wait for.
STATE = "provoke/state"

#: Seconds before the second request, and at most between two requests. The wait doubles. An answer
#: may ask for a longer one.
_FIRST, _LONGEST = 0.05, 0.5


class StateMissedError(Exception):
    """The state of a step never came. ``reason``: the message of ``outcome``, which failed."""

    def __init__(self, reason: str, outcome: Outcome) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outcome = outcome


def await_state(
    session: Session, step: Step, ask: Callable[[], Observation], *, code: str | None
) -> Observation:
    """Ask until the answer has the state of a step, says that it will not come, or has the code.

    ``code``: that of the recipe, if the step is its last. Raises StateMissedError, and Unanswered
    if the run ends before.
    """
    state = step.state
    assert state is not None, "the step waits for a state"
    began, waited, pause = session.driver.elapsed, 0.0, _FIRST
    for turn in range(1, step.at_most + 1):
        answer = ask()
        is_over = code is not None and answer.code == code
        if is_over or has_state(step, answer) or not _may_come(step, answer):
            return answer
        spent = max(waited, session.driver.elapsed - began)
        if spent >= state.seconds or turn == step.at_most:
            break
        wait = min(max(pause, _asked_wait(answer)), state.seconds - spent)
        if not session.driver.pause(wait):
            reason = f"the run has no time left to wait for {state}"
            raise Unanswered(NoAnswer(answer.exchange.request, "budget", reason))
        waited, pause = waited + wait, min(2 * pause, _LONGEST)
    if code is not None and not answer.ok:  # its code is what came
        return answer
    pointer = next(pointer for pointer in state.values if not _holds(step, pointer, answer))
    found = point(answer.json, pointer)
    shown = "is missing" if found is None else f"is {json.dumps(found)}"
    name = answer.exchange.operation or answer.exchange.request.target
    reason = f"`{pointer}` of the answer to {name} {shown} after {turn} requests in {spent:.1f} s"
    message = f"{reason}; expected {state} within {state.seconds:g} s"
    raise StateMissedError(message, failed(STATE, message, answer, pointer=pointer))


def has_state(step: Step, answer: Observation) -> bool:
    """Whether an answer has the state that a step waits for; True if it waits for none."""
    return step.state is None or all(_holds(step, pointer, answer) for pointer in step.state.values)


def reached_states(recipe: Recipe, last: Observation) -> Iterator[Outcome]:
    """Yield that the states of a recipe came. ``last``: the answer to the last step."""
    waits = any(step.state is not None for step in recipe.steps)
    if waits and has_state(recipe.steps[-1], last):
        yield passed(STATE)


def _asked_wait(answer: Observation) -> float:
    """The seconds that the answer asks to wait before the next request (RFC 9110, 10.2.3)."""
    value = answer.header("Retry-After")
    wait = retry_after.parse(value, now=time(), lenient=True) if value is not None else None
    return wait.seconds if wait is not None and wait.seconds is not None else 0.0


def _may_come(step: Step, answer: Observation) -> bool:
    """Whether a state may come after this answer: a success, or a refusal that has another value of
    its type in its place, such as `authorization_pending` (RFC 8628, section 3.5).
    """
    assert step.state is not None, "the step waits for a state"
    found = ((point(answer.json, at), values) for at, values in step.state.values.items())
    return answer.ok or all(
        any(type(value) is type(wanted) for wanted in values) for value, values in found
    )


def _holds(step: Step, pointer: str, answer: Observation) -> bool:
    assert step.state is not None, "the step waits for a state"
    found = point(answer.json, pointer)
    return any(are_equal(found, value) for value in step.state.values[pointer])
