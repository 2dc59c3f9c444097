"""Recipes: what the configuration says brings a code about, and the wait that a limit asks for."""

from collections.abc import Iterator, Mapping

from faultspec_conformance.config import Recipe, Step
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.credentials import means_401, refused, tried
from faultspec_conformance.session.fixtures import fresh_key
from faultspec_conformance.session.http import PATIENCE, HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    not_exercised,
    passed,
    point,
    said,
)
from faultspec_conformance.session.parameters import filled, text, values_for
from faultspec_conformance.session.resources import content_type, placed

_CLAUSE, _RECOVERS = "provoke/code", "retry/recovers"

#: Why no limit is exhausted where the run keeps to a rate.
_KEPT = "the run keeps to a rate, so no limit of the service is exhausted"

#: Seconds; a wait of a quarter of an hour for what is over in two seconds is a confusion of units.
_SUSPICIOUS, _SHORT = 900, 2.0


def recipes(world: HttpSession) -> Iterator[Outcome]:
    """Every recipe that exhausts nothing."""
    for recipe in world.target.recipes:
        if recipe.steps and not any(step.until for step in recipe.steps):
            with world.guarded(_CLAUSE):
                yield from _carried_out(world, recipe)


def limits(world: HttpSession) -> Iterator[Outcome]:
    """The recipes that repeat a request until it is refused; then the wait that the refusal asks for."""
    for recipe in world.target.recipes:
        if any(step.until for step in recipe.steps):
            if world.driver.limits.rate is not None:
                world.unmet[recipe.code] = _KEPT
                yield from (not_exercised(clause, _KEPT) for clause in (_CLAUSE, _RECOVERS))
                continue
            with world.guarded(_CLAUSE, _RECOVERS):
                yield from _carried_out(world, recipe)


def _carried_out(world: HttpSession, recipe: Recipe) -> Iterator[Outcome]:
    try:
        yield from _provoked(world, recipe)
    except Unanswered as error:
        world.unmet[recipe.code] = error.no_answer.reason
        if error.no_answer.kind != "read-only":
            raise
        yield not_exercised(_CLAUSE, error.no_answer.reason)


def _provoked(world: HttpSession, recipe: Recipe) -> Iterator[Outcome]:
    saved: dict[str, object] = {}
    sent: Observation | None = None
    failed: str | None = None
    for index, step in enumerate(recipe.steps):
        last = index == len(recipe.steps) - 1
        sent = _step(world, step, saved, recipe.code, patient=not last)
        if last:
            break
        where = f"step {index + 1} of the recipe for {recipe.code}"
        if not sent.ok and step.until is None:
            failed = failed or f"{where} was answered {said(world.taxonomy, sent)}"
            if step.save:
                yield _unmet(world, recipe, failed)
                return
        found = {name: point(sent.json, pointer) for name, pointer in step.save.items()}
        missing = next((step.save[name] for name, value in found.items() if value is None), None)
        if missing is not None:
            yield _unmet(world, recipe, f"no {missing} in the answer ({sent}) of {where}")
            return
        saved |= found
    assert sent is not None
    outcome = _answered(recipe, sent)
    if outcome.kind == "broken":
        who = (
            world.target.identity(recipe.steps[-1].identity)
            if recipe.steps[-1].identity
            else world.caller
        )
        doubtful = sent.status == 401 and not means_401(world, recipe.code) and not who.anonymous
        reason = failed or (
            tried(world, who, refused(world, who, world.visible)) if doubtful else None
        )
        if reason:
            yield _unmet(world, recipe, reason)
            return
    yield outcome
    if recipe.steps[-1].until is not None and sent.status == recipe.steps[-1].until:
        yield from _waited(world, recipe.steps[-1], saved, sent)


def _unmet(world: HttpSession, recipe: Recipe, reason: str) -> Outcome:
    """The recipe could not be carried out, so it says nothing of its code."""
    world.unmet[recipe.code] = reason
    if (
        reason not in world.not_run and "credentials are refused" not in reason
    ):  # an identity is reported once
        world.not_run.append(reason)
    return Outcome(_CLAUSE, "could_not_run", reason)


def _step(
    world: HttpSession, step: Step, saved: Mapping[str, object], code: str, *, patient: bool
) -> Observation:
    sent = _once(world, step, saved, patient=patient and step.until is None)
    for _ in range(step.at_most - 1):
        if step.until is None or sent.status == step.until or sent.code == code:
            break
        sent = _once(world, step, saved, patient=False)
    return sent


def _once(
    world: HttpSession, step: Step, saved: Mapping[str, object], *, patient: bool
) -> Observation:
    call = step.call
    path, _, query = placed(
        world.description, call.method, text(world.tokens, call.path, saved)
    ).partition("?")
    operation = world.operation(call.method, path)
    known = values_for(world, operation) if "{" in path else {}
    values: dict[str, object] = {}
    for own, written in zip(operation.template.split("/"), path.split("/"), strict=False):
        if written.startswith("{") and written.endswith("}"):
            values[written[1:-1]] = saved.get(
                written[1:-1], known.get(own[1:-1], world.tokens.hex(8))
            )
    return world.call(
        call.method,
        path + (f"?{query}" if query else ""),
        identity=world.target.identity(step.identity) if step.identity is not None else None,
        values=values,
        query={name: text(world.tokens, each, saved) for name, each in call.query.items()},
        headers={
            **fresh_key(world, operation),
            **{name: text(world.tokens, each, saved) for name, each in call.headers.items()},
        },
        body=filled(world.tokens, call.body, saved),
        raw=text(world.tokens, call.raw, saved).encode() if call.raw is not None else None,
        content_type=content_type(operation),
        correlation="valid",
        route=operation.template,
        patient=patient,
    )


def _answered(recipe: Recipe, sent: Observation) -> Outcome:
    codes = [each.code for each in (sent, *sent.inner) if each.code is not None]
    status = recipe.status is None or sent.status == recipe.status
    if recipe.code in codes and status:
        return passed(_CLAUSE)
    said = f"the recipe for {recipe.code}"
    until = recipe.steps[-1].until
    if until is not None and sent.status != until:
        tried = recipe.steps[-1].at_most
        return failed(
            _CLAUSE,
            f"{said}: of {tried} requests none is answered {until}, the last one {sent}",
            sent,
        )
    if recipe.code in codes:
        return failed(_CLAUSE, f"{said} is answered {sent}, not {recipe.status}", sent)
    if not codes and not all(each.sound for each in (sent, *sent.inner)):
        return not_exercised(_CLAUSE, f"{said} is answered {sent}, in which no code can be read")
    if sent.ok and not sent.inner:
        return failed(_CLAUSE, f"{said} is answered {sent}: no error at all", sent)
    return failed(_CLAUSE, f"{said} is answered {' and '.join(codes) or sent}", sent)


def _no_wait(asked: str | None) -> str:
    if asked is None:
        return "the refusal says no wait (it has no Retry-After)"
    return f"the wait that the refusal asks for is too long (Retry-After: {asked}; at most {PATIENCE:g} s are waited)"


def _waited(
    world: HttpSession, step: Step, saved: Mapping[str, object], refused: Observation
) -> Iterator[Outcome]:
    if any(finding.clause == "headers/retry-after" for finding in refused.judgement.findings):
        yield not_exercised(_RECOVERS, "the refusal's Retry-After is not well formed")
        return
    wait = world.wait_asked(refused)
    if wait is None:
        asked = refused.header("Retry-After")
        if (
            asked is not None
            and asked.isdigit()
            and int(asked) >= _SUSPICIOUS
            and world.driver.pause(_SHORT)
        ):
            again = _once(world, step, saved, patient=False)
            if again.ok:
                message = f"Retry-After asks for {asked} s, and {_SHORT:g} s were enough: are these milliseconds?"
                yield failed(_RECOVERS, message, refused, again, level="warning")
                return
        yield not_exercised(_RECOVERS, _no_wait(asked))
        return
    if not world.driver.pause(wait):
        yield Outcome(
            _RECOVERS,
            "could_not_run",
            "the budget of seconds does not allow the wait that Retry-After asks for",
        )
        return
    again = _once(world, step, saved, patient=False)
    if again.status == refused.status:
        message = f"after the {refused.header('Retry-After')} s that Retry-After asked for, the request is still answered {again}"
        yield failed(_RECOVERS, message, refused, again)
    elif again.ok:
        yield passed(_RECOVERS)
    else:
        yield not_exercised(_RECOVERS, f"after the wait the request was answered {again}")
