"""Recipes and samples where there is no HTTP: what the file says succeeds, and what it says brings a code about."""

from collections.abc import Iterator

from faultspec_conformance.config import ABSENT, Recipe, Step
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import CallSession
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    not_exercised,
    passed,
    point,
    said,
)
from faultspec_conformance.session.parameters import filled, text

_CLAUSE = "provoke/code"


def samples(world: CallSession) -> Iterator[Outcome]:
    """The calls that the file says succeed: where one does not, the file is wrong, or the service is.

    Where a service is walked through, what succeeds depends on where one stands, so there the walks make them.
    """
    for sample in world.samples if world.taxonomy.navigation is None else ():
        with world.guarded():
            params = (
                ABSENT if sample.call.body is ABSENT else filled(world.tokens, sample.call.body)
            )
            identity = (
                world.target.identity(sample.identity) if sample.identity is not None else None
            )
            sent = world.call(sample.call.path, params, identity=identity, harmless=sample.safe)
            if not sent.ok:
                world.not_run.append(
                    f"the call {sample.name} was answered {said(world.taxonomy, sent)}"
                )
    yield from ()


def recipes(world: CallSession) -> Iterator[Outcome]:
    """Every recipe, each in a session of its own; those that exhaust something last."""
    for recipe in sorted(
        world.target.recipes, key=lambda each: any(step.at_most > 1 for step in each.steps)
    ):
        if not recipe.steps:
            continue
        with world.guarded(_CLAUSE):
            try:
                world.begin()
                yield from _provoked(world, recipe)
            except Unanswered as error:
                world.unmet[recipe.code] = error.no_answer.reason
                if error.no_answer.kind != "read-only":
                    raise
                yield not_exercised(_CLAUSE, error.no_answer.reason)


def _provoked(world: CallSession, recipe: Recipe) -> Iterator[Outcome]:
    saved: dict[str, object] = {}
    for index, step in enumerate(recipe.steps[:-1], start=1):
        sent = _step(world, step, saved, recipe.code)
        where = f"step {index} of the recipe for {recipe.code}"
        if not sent.ok:
            yield _unmet(world, recipe, f"{where} was answered {said(world.taxonomy, sent)}")
            return
        found = {name: point(sent.json, pointer) for name, pointer in step.save.items()}
        missing = next((step.save[name] for name, value in found.items() if value is None), None)
        if missing is not None:
            yield _unmet(world, recipe, f"no {missing} in the answer ({sent}) of {where}")
            return
        saved |= found
    sent = _step(world, recipe.steps[-1], saved, recipe.code)
    if sent.code == recipe.code:
        yield passed(_CLAUSE)
        return
    tried = recipe.steps[-1].at_most
    times = f", after {tried} requests" if tried > 1 else ""
    if sent.code is None and not sent.sound:
        yield not_exercised(
            _CLAUSE,
            f"the recipe for {recipe.code} is answered {sent}, in which no code can be read",
        )
    else:
        what = f"{sent}: no error at all" if sent.ok else sent
        yield failed(_CLAUSE, f"the recipe for {recipe.code} is answered {what}{times}", sent)


def _unmet(world: CallSession, recipe: Recipe, reason: str) -> Outcome:
    """The recipe could not be carried out, so it says nothing of its code."""
    world.unmet[recipe.code] = reason
    if reason not in world.not_run:
        world.not_run.append(reason)
    return Outcome(_CLAUSE, "could_not_run", reason)


def _step(world: CallSession, step: Step, saved: dict[str, object], code: str) -> Observation:
    identity = world.target.identity(step.identity) if step.identity is not None else None
    name = text(world.tokens, step.call.path, saved)
    for turn in range(step.at_most):
        params = ABSENT if step.call.body is ABSENT else filled(world.tokens, step.call.body, saved)
        sent = world.call(name, params, identity=identity)
        if sent.code == code or turn == step.at_most - 1:
            break
    return sent
