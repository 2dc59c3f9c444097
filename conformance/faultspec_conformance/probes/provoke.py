"""Recipes: configured requests that provoke a code, and the wait that a limit asks for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import SplitResult, urljoin, urlsplit

from faultspec.contract.crashes import may_fail
from faultspec.judge.collector import join_or
from faultspec.judge.renderings import find_renderings
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity, Parallel, Recipe, Step
from faultspec_conformance.drivers.http import is_loopback_host
from faultspec_conformance.probes.expectations import CLAUSE as _EXPECTED
from faultspec_conformance.probes.expectations import compare_values, error_values
from faultspec_conformance.probes.limit_scope import ask_outsider, check_again, check_scope
from faultspec_conformance.probes.rate_limits import RateLimit, round_of
from faultspec_conformance.probes.recipe_effects import (
    WatchedResource,
    check_watched,
    watch_resources,
)
from faultspec_conformance.probes.states import (
    STATE,
    StateMissedError,
    await_state,
    reached_states,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.credentials import allows_401, confirm_refusal, refusal
from faultspec_conformance.session.fixtures import create_named
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import key_of, renew_key
from faultspec_conformance.session.meanings import means_status
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    not_exercised,
    passed,
    summary_line,
)
from faultspec_conformance.session.observations import (
    NotRun,
    ProbeResult,
    UnmetRecipe,
    attempt,
)
from faultspec_conformance.session.parameters import written_path_values
from faultspec_conformance.session.placeholders import fill_in, fill_in_text
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import content_type, place_path
from faultspec_conformance.session.saved import saved_values

_CLAUSE, _RECOVERS = "provoke/code", "retry/recovers"
_PARALLEL, _UNTIL = "provoke/parallel", "retriable/until"

#: The clauses of recipes that exhaust nothing.
CLAUSES = (_CLAUSE, _EXPECTED, _PARALLEL, _UNTIL, STATE)

#: Why no limit is exhausted if the run keeps to a rate.
_KEPT = "the run keeps to a rate, so no limit of the service is exhausted"

#: Seconds. Limits rarely count over a shorter time, so requests that took longer may be too slow.
_WINDOW = 1.0


def recipes(session: HttpSession) -> Iterator[ProbeResult]:
    """Carry out every recipe that exhausts nothing."""
    for recipe in session.config.recipes:
        if recipe.steps and not any(step.until for step in recipe.steps):
            results = carry_out(recipe, _provoke_code(session, recipe), _CLAUSE)
            yield from attempt(results, _CLAUSE)


def limits(session: HttpSession) -> Iterator[ProbeResult]:
    """Carry out the recipes that repeat a request until it is refused, then wait as long as the
    refusal asks.
    """
    for recipe in session.config.recipes:
        if not any(step.until for step in recipe.steps):
            continue
        if session.driver.limits.rate is None:
            results = carry_out(recipe, _provoke_code(session, recipe), _CLAUSE)
            yield from attempt(results, _CLAUSE, _RECOVERS)
        else:
            yield UnmetRecipe(recipe.code, _KEPT)
            yield from (not_exercised(clause, _KEPT) for clause in (_CLAUSE, _RECOVERS))


def carry_out(recipe: Recipe, results: Iterable[ProbeResult], clause: str) -> Iterator[ProbeResult]:
    """Yield the results of a recipe.

    If a request gets no answer, or a state never comes, the recipe is unmet. Raises Unanswered.
    """
    try:
        yield from results
    except Unanswered as error:
        yield UnmetRecipe(recipe.code, error.no_answer.reason)
        if error.no_answer.kind != "read-only":
            raise
        yield not_exercised(clause, error.no_answer.reason)
    except StateMissedError as missed:
        yield UnmetRecipe(recipe.code, missed.reason)
        yield missed.outcome


def report_unmet(recipe: Recipe, reason: str) -> Iterator[ProbeResult]:
    """Yield the results of a recipe that could not be carried out, so that nothing follows about
    its code.
    """
    yield UnmetRecipe(recipe.code, reason)
    if "credentials are refused" not in reason:  # the run reports an identity once
        yield NotRun(reason)
    yield Outcome(_CLAUSE, "could_not_run", reason)


def _set_up(session: HttpSession, recipe: Recipe) -> Mapping[str, object] | str:
    """Send all steps of a recipe but the last; return the saved values, or why the last step is not
    sent.
    """
    saved = {**session.constants, **session.make_values(recipe.values, session.constants)}
    *steps, last = recipe.steps
    for index, step in enumerate(steps, start=1):
        where = f"step {index} of the recipe for {recipe.code}"
        done = _do_step(session, step, saved, recipe.code, where=where)
        if isinstance(done, str):
            return done
        saved |= done
    return _obstacle(session, last, saved) or saved


def _do_step(
    session: HttpSession, step: Step, saved: Mapping[str, object], code: str, *, where: str
) -> Mapping[str, object] | str:
    """Send the request of a step; return the values that it saves, or why the recipe cannot go
    on.
    """
    reason = _obstacle(session, step, saved)
    if reason is not None:
        return reason
    answer = _step(session, step, saved, code, is_last=False)
    met = answer.sent_status == step.status
    if step.status is None:  # a form may answer with the address of the next page
        met = answer.ok or 300 <= answer.sent_status < 400
    if not met and step.until is None:
        expected = "; expected a success" if step.status is None else f"; expected {step.status}"
        line = summary_line(session.contract, answer)
        return f"the service answered {where} with {line}{expected}"
    return saved_values(step.save, answer, where)


def _provoke_code(session: HttpSession, recipe: Recipe) -> Iterator[ProbeResult]:
    saved = _set_up(session, recipe)
    if isinstance(saved, str):
        yield from report_unmet(recipe, saved)
        return
    last = recipe.steps[-1]
    if last.parallel is not None:
        yield from _send_at_once(session, recipe, last.parallel, saved=saved)
        return
    watched = _watch(session, recipe, saved)  # reads may call an upstream, too
    began = session.driver.elapsed
    before = {name: len(upstream.calls) for name, upstream in session.upstreams.items()}
    send_as = partial(_send_as, session, recipe, saved)
    outsider = ask_outsider(session, last, send_as)
    sent_before, at_once = session.driver.requests, False
    answer = _step(session, last, saved, recipe.code, is_last=True)
    seconds = session.driver.elapsed - began
    if last.until is not None and not _has_reached(last, answer, recipe.code) and seconds > _WINDOW:
        burst = _burst(session, last, saved, recipe.code)
        if isinstance(burst, str):
            yield from report_unmet(recipe, burst)
            return
        answer, at_once = burst, True
    waited = _fill_in_state(session, last, saved)
    steps = (*recipe.steps[:-1], waited)
    yield from reached_states(replace(recipe, steps=steps), answer)
    outcome = _check(session, recipe, answer)
    if outcome.kind == "failed":
        reason = _refused_identity(session, recipe, answer)
        if reason:
            yield from report_unmet(recipe, reason)
            return
    yield outcome
    if outcome.kind == "passed" and recipe.surface is None and recipe.rendering is None:
        yield from _check_expectation(session, recipe, answer, saved=saved, before=before)
    if outcome.kind == "passed":
        yield from check_watched(session, watched, answer, partial(_set_up_again, session, recipe))
    if outcome.kind == "passed" and recipe.action:
        yield from _take_action(session, recipe, answer, saved=saved)
    if last.until is not None and answer.sent_status == last.until:

        def ask() -> Observation:
            return session.call(_request(session, last, saved, recipe.code))

        served = session.driver.requests - sent_before - 1
        scope = check_scope(last, outsider, answer, served=served, send=send_as)
        first = round_of(session, answer, sent=sent_before, began=began)
        yield from RateLimit(session, ask, first, at_once=at_once).outcomes()
        yield check_again(session, last, scope, send=send_as, ask=ask)


def _watch(
    session: HttpSession, recipe: Recipe, saved: Mapping[str, object]
) -> tuple[WatchedResource, ...]:
    """Read what the last step of a recipe concerns, if it is sent once."""
    last = recipe.steps[-1]
    if last.until is not None or last.state is not None:
        return ()
    return watch_resources(session, _request(session, last, saved, recipe.code))


def _set_up_again(
    session: HttpSession, recipe: Recipe
) -> tuple[tuple[WatchedResource, ...], Callable[[], Observation]] | None:
    """Carry out a recipe but for its last step; return what that concerns, and what sends it."""
    try:
        saved = _set_up(session, recipe)
    except StateMissedError:  # it came the first time
        return None
    if isinstance(saved, str):
        return None
    last = recipe.steps[-1]

    def send() -> Observation:
        return _step(session, last, saved, recipe.code, is_last=True)

    return _watch(session, recipe, saved), send


def _send_as(
    session: HttpSession, recipe: Recipe, saved: Mapping[str, object], identity: Identity
) -> Observation:
    """Send the last request of a recipe as another identity."""
    spec = _request(session, recipe.steps[-1], saved, recipe.code)
    return session.call(replace(spec, identity=identity, may_be_refused=True))


def _refused_identity(session: HttpSession, recipe: Recipe, answer: Observation) -> str | None:
    """Return why the credentials of the recipe's identity count as refused, if its code is not
    about that; else None.
    """
    identity = session.identity(recipe.steps[-1].identity)
    if answer.status != 401 or allows_401(session, recipe.code) or identity.anonymous:
        return None
    reason = refusal(session, identity, session.knowledge.exchanges)
    return confirm_refusal(session, identity, reason)


def _step(
    session: HttpSession,
    step: Step,
    saved: Mapping[str, object],
    code: str,
    *,
    is_last: bool,
) -> Observation:
    """Send the request of a step; repeat it until its status, its state or the code comes, as often
    as the step allows. Raises StateMissedError.
    """
    if step.state is not None:
        return await_state(
            session,
            _fill_in_state(session, step, saved),
            lambda: session.call(_request(session, step, saved, code, wait_when_limited=True)),
            code=code if is_last else None,
        )
    # A throttle in place of another code proves nothing.
    wait = step.until != 429 and not (is_last and _may_be_429(session, code))
    answer = session.call(_request(session, step, saved, code, wait_when_limited=wait))
    if is_last and step.until is None and not wait:
        return _outlast(session, _request(session, step, saved, code), answer, code)
    for _ in range(step.at_most - 1):
        if step.until is None or _has_reached(step, answer, code):
            break
        answer = session.call(_request(session, step, saved, code, wait_when_limited=wait))
    return answer


def _fill_in_state(session: HttpSession, step: Step, saved: Mapping[str, object]) -> Step:
    """Return a step with saved names filled in the state that it waits for."""
    if step.state is None:
        return step
    values = {
        pointer: tuple(fill_in(session.source, value, saved) for value in wanted)
        for pointer, wanted in step.state.values.items()
    }
    return replace(step, state=replace(step.state, values=values))


def _outlast(
    session: HttpSession, again: RequestSpec, answer: Observation, code: str
) -> Observation:
    """Wait out a 429 with another code than that of the recipe. Raises Unanswered."""

    def is_throttle() -> bool:
        return answer.status == 429 and answer.code not in (None, code)

    for wait in session.waits(answer):
        if not is_throttle() or not session.driver.pause(wait):
            break
        answer = session.call(again)
    if is_throttle():
        raise session.throttled_error(answer)
    return answer


def _has_reached(step: Step, answer: Observation, code: str) -> bool:
    """Whether a repeated request got what it is repeated for."""
    return answer.sent_status == step.until or answer.code == code


def _may_be_429(session: HttpSession, name: str) -> bool:
    """Whether the code of this name may have the status 429. A name that no code has may."""
    codes = [code for code in session.taxonomy.every_code() if code.name == name]
    return not codes or any(means_status(code, 429) for code in codes)


def _burst(
    session: HttpSession, step: Step, saved: Mapping[str, object], code: str
) -> Observation | str:
    """Send the requests of a step at once, because one after another they were too slow to reach a
    limit. Return what was reached, else the last answer, else why nothing follows.
    """
    began = session.driver.elapsed
    observations = session.call_together(*[_request(session, step, saved, code)] * step.at_most)
    seconds = session.driver.elapsed - began
    for answer in observations:
        if _has_reached(step, answer, code):
            return answer
    if seconds <= _WINDOW:
        return observations[-1]
    return (
        f"the requests for {code} did not reach a limit: {step.at_most} at once took "
        f"{seconds:.1f} s, which is {step.at_most / seconds:.1f} a second; run the suite nearer "
        "to the service, or raise `at_most`"
    )


def _request(
    session: HttpSession,
    step: Step,
    saved: Mapping[str, object],
    code: str,
    *,
    wait_when_limited: bool = False,
) -> RequestSpec:
    """Return the request of a step.

    A placeholder takes a saved value, an id of a created resource, or a new value. ``code``: that
    of the recipe.
    """
    call = fill_in_call(session, step.call, saved)
    written = place_path(session.description, call.method, _local_target(session, call.path))
    path = written.partition("?")[0]
    operation = session.operation(call.method, path)
    spec = RequestSpec(
        call.method,
        written,
        identity=session.identity(step.identity),
        values=written_path_values(session, operation, path, saved),
        query=call.query,
        headers=call.headers,
        body=call.body,
        raw=call.raw.encode() if call.raw is not None else None,
        content_type=content_type(operation),
        files=operation.files,
        correlation="valid",
        route=operation.template,
        wait_when_limited=wait_when_limited,
        may_fail=may_fail(session.taxonomy, code) or (step.status or 0) >= 500,
        may_be_refused=allows_401(session, code) or step.status == 401,
    )
    return _keep_key(session, operation, spec)


def _keep_key(session: HttpSession, operation: ServiceOperation, spec: RequestSpec) -> RequestSpec:
    """Return the request of a step under the key that it has, else under a new one.

    A key in the path or in a body belongs to what the step says, so none is added there.
    """
    rule = session.key_rule(operation)
    if rule is None or rule.key.kind in ("path", "body") or key_of(rule, spec) is not None:
        return spec
    return renew_key(session, operation, spec)


def _obstacle(session: HttpSession, step: Step, saved: Mapping[str, object]) -> str | None:
    """Return why the request of a step cannot be sent: a resource that it names cannot be created,
    or a saved URL leads to another service. None: it can.
    """
    reason = create_named(session, step.call)
    if reason is not None or step.call.path.startswith("/"):
        return reason
    url = fill_in_text(session.source, step.call.path, saved)
    try:
        parts, own = urlsplit(url), urlsplit(session.config.http)
        same = not parts.netloc or (parts.scheme, _host(parts)) == (own.scheme, _host(own))
    except ValueError as error:  # such as a port that is not a number
        return f"the saved URL {url} cannot be read: {error}"
    if same:
        return None
    origin = f"{own.scheme}://{own.netloc}"
    return f"the saved URL {url} leads to another service than {origin}, and is not followed"


def _host(parts: SplitResult) -> tuple[str, int | None]:
    """Return the host and the port of a URL. All names of this machine are the same."""
    host = parts.hostname or ""
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return "localhost" if is_loopback_host(host) else host, port


def _local_target(session: HttpSession, path: str) -> str:
    """Return the path and query of a saved URL. A relative one is resolved against the last
    request (RFC 9110, 10.2.2).
    """
    if path.startswith("/") and not path.startswith("//"):
        return path
    last = session.observations.last
    base = last.exchange.request.target if last is not None else "/"
    parts = urlsplit(urljoin(f"http://origin{base}", path))
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _check(session: HttpSession, recipe: Recipe, answer: Observation) -> Outcome:
    """Check that the last answer of a recipe has its code."""
    observations = (answer, *answer.inner)
    codes = [code for seen in observations for code in seen.codes]
    what = f"the recipe for {recipe.code}"
    until = recipe.steps[-1].until
    if recipe.surface is not None:
        return _check_surface(recipe, recipe.surface, answer)
    if recipe.rendering is not None:
        return _check_rendering(session, recipe, recipe.rendering, answer)
    if recipe.code in codes and recipe.status in (None, answer.sent_status):
        return passed(_CLAUSE)
    if until is not None and answer.sent_status != until:
        times = f"none of {recipe.steps[-1].at_most} requests got {until}"
        return failed(
            _CLAUSE, f"{what}: {times}; the last answer is {answer}", answer, variant="repeated"
        )
    if recipe.code in codes:
        message = f"the service answered {answer} to {what}; expected {recipe.status}"
        return failed(_CLAUSE, message, answer, variant="status")
    is_error = any(seen.judgement.is_error for seen in observations)
    if not codes and (is_error or not answer.ok) and not all(seen.sound for seen in observations):
        reason = f"the service answered {answer} to {what}, and the answer has no readable code"
        return not_exercised(_CLAUSE, reason)
    if answer.ok and not answer.inner:
        message = f"the service answered {answer} to {what}; expected the error {recipe.code}"
        return failed(_CLAUSE, message, answer, variant="success")
    found = " and ".join(codes) or str(answer)
    message = f"the service answered {found} to {what}; expected {recipe.code}"
    return failed(_CLAUSE, message, answer)


def _check_surface(recipe: Recipe, surface: str, answer: Observation) -> Outcome:
    """Check that the last answer of a recipe has its status, and belongs to its surface."""
    what = f"the recipe for {recipe.code}"
    if answer.sent_status != recipe.status:
        message = f"the service answered {answer} to {what}; expected {recipe.status}"
        return failed(_CLAUSE, message, answer, variant="status")
    if answer.judgement.surface != surface:
        found = answer.judgement.surface
        place = f"on the surface `{found}`" if found is not None else "on no surface"
        message = f"the answer ({answer}) to {what} is {place}; expected `{surface}`"
        return failed(_CLAUSE, message, answer, variant="surface")
    return passed(_CLAUSE)


def _check_rendering(
    session: HttpSession, recipe: Recipe, name: str, answer: Observation
) -> Outcome:
    """Check that the last answer of a recipe has its rendering, and its status if it has one."""
    what = f"the recipe for {recipe.code}"
    if recipe.status not in (None, answer.sent_status):
        message = f"the service answered {answer} to {what}; expected {recipe.status}"
        return failed(_CLAUSE, message, answer, variant="status")
    found = [
        (reading.form.rendering.name, reading.code.name)
        for reading in find_renderings(session.contract, answer.exchange)
        if reading.code is not None
    ]
    if (name, recipe.code) in found:
        return passed(_CLAUSE)
    if found:
        has = f"has {join_or(f'`{rendering}` of {code}' for rendering, code in found)}"
    else:
        has = "has no rendering of a code"
    message = f"the answer ({answer}) to {what} {has}; expected `{name}` of {recipe.code}"
    return failed(_CLAUSE, message, answer, variant="rendering")


def _send_at_once(
    session: HttpSession,
    recipe: Recipe,
    parallel: Parallel,
    *,
    saved: Mapping[str, object],
) -> Iterator[ProbeResult]:
    """Send the last request several times at the same time: as many succeed as the recipe says, and
    the others get its code.
    """
    if session.driver.limits.rate is not None:
        yield UnmetRecipe(recipe.code, _KEPT)
        yield from (not_exercised(clause, _KEPT) for clause in (_CLAUSE, _PARALLEL))
        return
    last, code = recipe.steps[-1], recipe.code
    answers = session.call_together(
        *(_request(session, last, saved, code) for _ in range(parallel.requests))
    )
    for answer in answers:
        if answer.status == 429 and answer.code not in (None, code):
            raise session.throttled_error(answer)
    good = [answer for answer in answers if answer.ok]
    refused = [answer for answer in answers if not answer.ok]
    line = f"{len(good)} of {len(answers)} requests at once succeeded for the recipe for {code}"
    line = f"{line}; expected {parallel.succeed}"
    if len(good) > parallel.succeed:
        yield failed(_PARALLEL, line, *refused, *good)
    yield from (_check(session, recipe, answer) for answer in refused)
    if len(good) == parallel.succeed:
        yield passed(_PARALLEL)
    elif len(good) < parallel.succeed:
        yield not_exercised(_PARALLEL, line)


def _take_action(
    session: HttpSession, recipe: Recipe, refused: Observation, *, saved: Mapping[str, object]
) -> Iterator[ProbeResult]:
    """Take the action after which the code no longer comes, and send the last request again."""
    last, known = recipe.steps[-1], dict(saved)
    values = saved_values(last.save, refused, f"the recipe for {recipe.code}")
    if isinstance(values, str):
        yield Outcome(_UNTIL, "could_not_run", values)
        return
    known |= values
    for index, step in enumerate(recipe.action, start=1):
        where = f"request {index} of the action after {recipe.code}"
        done = _do_step(session, step, known, recipe.code, where=where)
        if isinstance(done, str):
            yield NotRun(done)
            yield Outcome(_UNTIL, "could_not_run", done)
            return
        known |= done
    again = session.call(_request(session, last, known, recipe.code, wait_when_limited=True))
    line = f"after its action the service answered {again} to the recipe for {recipe.code}"
    if again.code == recipe.code:
        yield failed(_UNTIL, f"{line}; expected that {recipe.code} is gone", refused, again)
    elif again.ok:
        yield passed(_UNTIL)
    else:
        yield not_exercised(_UNTIL, line)


def _check_expectation(
    session: HttpSession,
    recipe: Recipe,
    answer: Observation,
    saved: Mapping[str, object],
    before: Mapping[str, int],
) -> Iterator[Outcome]:
    """Check what the recipe expects of its last answer besides the code.

    ``before``: the number of calls that each upstream had got before the last request.
    """
    expect = recipe.expect
    seen = next(each for each in (answer, *answer.inner) if each.code == recipe.code)
    expected = dict(error_values(session, recipe, seen))
    for name, text in expect.headers.items():
        expected[f"the header `{name}`"] = text, answer.header(name)
    for name, count in expect.upstream_calls.items():
        if name in session.upstreams:
            calls = len(session.upstreams[name].calls) - before[name]
            expected[f"the number of calls to `{name}`"] = count, calls
        else:
            yield not_exercised(_EXPECTED, f"`{name}` is not an upstream that the run attends")
    yield from compare_values(session, recipe, answer, expected, saved=saved)
