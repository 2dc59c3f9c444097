"""Begin the session of a process over JSON-RPC, ask for calls out of order, and end it.

A process keeps the state of a session, so each state and each end has a process of its own.
"""

from collections.abc import Iterator, Mapping

from faultspec.exchange.model import Exchange, Response
from faultspec.language.model import CallState
from faultspec_conformance.config import ABSENT, SampleCall, SessionEnd
from faultspec_conformance.config.context import texts_in
from faultspec_conformance.config.requests import NAMES
from faultspec_conformance.drivers.jsonrpc import Message
from faultspec_conformance.drivers.stdio import Process
from faultspec_conformance.probes.calls import take_steps
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import UNJUDGED, CallSession, PostedCall, RpcSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    has_code,
    not_exercised,
    passed,
    protocol_error,
)
from faultspec_conformance.session.observations import NotRun, ProbeResult, attempt
from faultspec_conformance.session.placeholders import fill_in, fill_in_text

_STATE, _END, _OUTPUT = "rpc/state", "rpc/end", "rpc/output"

#: The numbers of a call that did not begin, and that of params alone (JSON-RPC 2.0, section 5.1).
_NOT_BEGUN, _PARAMS = (-32600, -32601, -32602), -32602

#: Seconds that a process has for what it sends after its last answer.
_MOMENT = 0.1

_NO_PROCESS = "the suite did not start the service, so it has no session of its own"


def begin(session: RpcSession) -> Iterator[ProbeResult]:
    """Take the first steps of the session. Nothing else is sent to a service that refuses one."""
    problem = session.open_session()
    if problem is not None:
        yield NotRun(problem)


def states(session: RpcSession) -> Iterator[ProbeResult]:
    """Ask for calls that a state of the session refuses."""
    declared = [state for claim in session.contract.claims for state in claim.surface.states]
    for state in dict.fromkeys(declared):
        if not isinstance(session.driver, Process):
            yield not_exercised(_STATE, _NO_PROCESS)
            continue
        yield from attempt(_check_state(session, state), _STATE)
    if declared and isinstance(session.driver, Process):
        session.restart()


def _check_state(session: RpcSession, state: CallState) -> Iterator[Outcome]:
    name = f"{state.when} `{state.method}`"
    calls = _refused_calls(session, state)
    if not calls:
        reason = f"no call under `calls` that may be sent is refused {name}"
        yield not_exercised(_STATE, reason)
        return
    saved: dict[str, object] = dict(session.constants)
    session.restart(until=state.method if state.when == "before" else None)
    entered = _enter(session, state, saved)
    if isinstance(entered, str):
        yield not_exercised(_STATE, entered)
        return
    outcomes = [_check_refusal(session, state, call, saved) for call in calls]
    for posted in entered:
        answer = session.collect_step(posted, may_fail=False)
        if protocol_error(answer.json) in _NOT_BEGUN:
            yield not_exercised(_STATE, f"the service answered {answer} to {state.method} itself")
            return
    yield from outcomes


def _enter(
    session: RpcSession, state: CallState, saved: dict[str, object]
) -> tuple[PostedCall, ...] | str:
    """Make the call that leads to a state; return it if its answer is still due, or why the state
    is not reached.
    """
    begun = {step.call.path for step in session.config.session.start}
    if state.when == "before" or (state.when == "after" and state.method in begun):
        return ()
    samples = (one for one in session.config.samples if one.call.path == state.method)
    before = take_steps(session, next((sample.before for sample in samples), ()), harmless=True)
    if isinstance(before, str):
        return before
    saved |= before
    params = fill_in(session.source, _written_params(session, state.method), saved)
    if state.when == "during":
        return (session.post_call(state.method, params),)
    answer = session.call(state.method, params, harmless=True)
    return () if answer.ok else f"the service answered {answer} to {state.method}"


def _check_refusal(
    session: RpcSession, state: CallState, call: tuple[str, object], saved: Mapping[str, object]
) -> Outcome:
    """Ask for a call that the state refuses."""
    method, written = call
    names = {used for _, text in texts_in(written, ()) for used in NAMES.findall(text)}
    unknown = {name for name in names - saved.keys() if name != "unique" and ":" not in name}
    made_up = {name: fill_in_text(session.source, "${unique}") for name in sorted(unknown)}
    params = fill_in(session.source, written, {**saved, **made_up})
    answer = session.call(method, params, harmless=True, swift=True)
    if has_code(answer, state.otherwise):
        return passed(_STATE)
    name = f"{state.when} `{state.method}`"
    message = f"the service answered {answer} to {method} {name}"
    if (written is ABSENT or unknown) and protocol_error(answer.json) == _PARAMS:
        return not_exercised(_STATE, f"{message}, and its params are not known then")
    line = f"{message}; expected {state.otherwise}"
    return failed(_STATE, line, answer, variant=f"{state.when} {state.method}")


def _refused_calls(session: RpcSession, state: CallState) -> list[tuple[str, object]]:
    """The calls that the state refuses, with their params as written: at most one that succeeds
    otherwise.
    """
    if state.refuses:
        return [(method, _written_params(session, method)) for method in state.refuses]
    spared = {*state.allows, *((state.method,) if state.when == "before" else ())}
    samples = [sample for sample in session.samples if _may_be_first(sample, spared)]
    return [(sample.call.path, sample.call.body) for sample in samples[:1]]


def _may_be_first(sample: SampleCall, spared: set[str]) -> bool:
    """Whether a call may be asked for out of order. What comes before it matters no more, unless it
    names a value in its params.
    """
    needs_values = any(step.save or step.id for step in sample.before)
    return sample.call.path not in spared and not needs_values


def _written_params(session: RpcSession, method: str) -> object:
    """The params of a method as the configuration has them: in a call, in the steps of the session,
    before a call or of a recipe. ABSENT if it has none.
    """
    config = session.config
    calls = [
        *(sample.call for sample in config.samples),
        *(step.call for step in config.session.start),
        *(step.call for end in config.session.ends for step in end.steps),
        *(step.call for sample in config.samples for step in sample.before),
        *(step.call for recipe in config.recipes for step in recipe.steps),
    ]
    return next((call.body for call in calls if call.path == method), ABSENT)


def outputs(session: CallSession) -> Iterator[Outcome]:
    """Look at what the process printed between its messages."""
    output = session.stray_output
    if output is None:
        yield not_exercised(_OUTPUT, "the service is not on standard streams")
    elif output[1] == 0:
        yield passed(_OUTPUT)
    else:
        (first, *_), number = output
        request = Message("the standard output", b"").request
        exchange = Exchange(
            request, Response(None, (), first), "event", operation="the standard output"
        )
        more = "" if number == 1 else f": {number} in all"
        message = f"the standard output has other lines than messages{more}"
        yield failed(_OUTPUT, message, Observation(exchange, UNJUDGED))


def ends(session: RpcSession) -> Iterator[ProbeResult]:
    """End a process in each declared way, after a moment for what it still sends."""
    if session.observations.ended is None:
        session.linger(_MOMENT)
    for index, end in enumerate(session.config.session.ends):
        if index:
            session.restart()
        yield from attempt(_check_end(session, end), _END)
    if not session.config.session.ends:
        yield not_exercised(_END, "the configuration has no `session: {end: …}`")


def _check_end(session: RpcSession, end: SessionEnd) -> Iterator[Outcome]:
    assert isinstance(session.driver, Process), "only processes have a session"
    saved: dict[str, object] = dict(session.constants)
    for step in end.steps:
        answer = session.take_step(step, saved, harmless=True)
        if answer is not None and not answer.ok and not step.may_fail:
            message = f"the service answered {answer} to {step.call.path}, which ends the session"
            yield failed(_END, message, answer, variant="refused")
            return
    ended = session.driver.finish(end.seconds)
    last = end.steps[-1].call.path
    seen = Observation(
        Exchange(Message(last, b"").request, Response(None), "jsonrpc", operation=last), UNJUDGED
    )
    if ended.code is None:
        message = f"the process still runs {end.seconds:g} s after {last}"
        yield failed(_END, message, seen, variant="runs")
    elif ended.left:
        names, number = ", ".join(dict.fromkeys(ended.left)), len(ended.left)
        which = "a process" if number == 1 else f"{number} processes"
        message = f"{which} that the service started still run{'s' * (number == 1)} after {last}: "
        message += names
        yield failed(_END, message, seen, variant="children")
    elif end.exit_code not in (None, ended.code):
        message = f"the exit code after {last} is {ended.code}; expected {end.exit_code}"
        yield failed(_END, message, seen, variant="code")
    else:
        yield passed(_END)
