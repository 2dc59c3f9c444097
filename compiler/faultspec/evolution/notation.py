"""Notation: one contract that is declared in two ways.

`align_notation` writes the old taxonomy as the new one is, wherever a client or a service can
observe no difference. Rules then compare what is left.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from faultspec.evolution.facts import TooManyFactsError, sample_facts
from faultspec.evolution.promises import expand
from faultspec.language.conditions import ConditionalRule, ConditionFacts, Retriable, narrow_rules
from faultspec.language.model import Code, HttpMapping, Match, Schema, Taxonomy
from faultspec.language.routes import without_parameter_names
from faultspec.runtime.retry import Jitter, Phase, Policy, RetryAfterRule, State, bounds
from faultspec.runtime.retry_after import CEILING


def align_notation(old: Taxonomy, new: Taxonomy) -> Taxonomy:
    """The old taxonomy in the notation of the new one; what can be observed of it is the same."""
    return _align(old, new, _read_context(old, new)) if old != new else old


class _Context(NamedTuple):
    """The statuses of codes, as far as they do not declare them themselves.

    ``fallbacks``: the statuses under which a code stands in, by its name. ``has_unknown_status``:
    some errors have no HTTP status.
    """

    fallbacks: Mapping[str, frozenset[int]]
    has_unknown_status: bool


def _read_context(*taxonomies: Taxonomy) -> _Context:
    """The context of codes in any of the taxonomies."""
    fallbacks: dict[str, frozenset[int]] = {}
    for taxonomy in taxonomies:
        for fallback in taxonomy.fallbacks:
            if fallback.code is not None:
                known = fallbacks.get(fallback.code, frozenset())
                fallbacks[fallback.code] = known | expand((fallback.on,))
    surfaces = [s for taxonomy in taxonomies for s in taxonomy.surfaces.values()]
    return _Context(fallbacks, any(surface.transport != "http" for surface in surfaces))


def _align(old: Any, new: Any, context: _Context) -> Any:
    """A value in the notation of another one at the same place. Fields of records and entries of
    mappings are aligned first."""
    if old == new:
        return old
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {
            key: _align(value, new[key], context) if key in new else value
            for key, value in old.items()
        }
    if type(old) is not type(new) or not hasattr(old, "_fields"):
        return old
    changed = {
        name: _align(before, after, context)
        for name, before, after in zip(old._fields, old, new, strict=True)
        if before != after
    }
    aligned = old._replace(**changed)
    if isinstance(aligned, Code):
        return _align_code(aligned, new, context)
    align = _ALIGNERS.get(type(aligned))
    return aligned if align is None else align(aligned, new)


def _align_schema(old: Schema, new: Schema) -> Schema:
    """Fields that restrict nothing, or as much as those of the other schema, become its fields."""
    before, after = _plain_schema(old), _plain_schema(new)
    same = {
        name: getattr(new, name)
        for name in Schema._fields
        if getattr(before, name) == getattr(after, name)
    }
    return old._replace(**same)


def _plain_schema(schema: Schema) -> Schema:
    """A schema without what restricts no value: bounds between two whole numbers, a length of at
    least 0, and what is about values of another type."""
    types = frozenset(schema.types) - ({"integer"} if "number" in schema.types else set())
    is_whole = bool(types) and "number" not in types
    has_numbers = not types or bool(types & {"number", "integer"})
    has_texts = not types or "string" in types
    return schema._replace(
        types=tuple(sorted(types)),
        minimum=_whole(schema.minimum, math.ceil, is_whole) if has_numbers else None,
        maximum=_whole(schema.maximum, math.floor, is_whole) if has_numbers else None,
        min_length=schema.min_length or None if has_texts else None,
        max_length=schema.max_length if has_texts else None,
        pattern=schema.pattern or None if has_texts else None,
    )


def _whole(bound: float | None, rounded: Callable[[float], int], is_whole: bool) -> float | None:
    if bound is None or not is_whole or not math.isfinite(bound):
        return bound
    return rounded(bound)


def align_match(old: Match, new: Match) -> Match:
    """The names of parameters in routes claim nothing."""
    names = {without_parameter_names(route): route for route in new.routes}
    routes = (names.get(without_parameter_names(route), route) for route in old.routes)
    return old._replace(routes=tuple(routes))


def _align_http(old: HttpMapping, new: HttpMapping) -> HttpMapping:
    """Statuses and conditions that lead to the same statuses become those of the other code."""
    defaults = [(http.default, [s.low for s in http.statuses[:1]]) for http in (old, new)]
    if defaults[0] != defaults[1]:
        return old
    if expand(old.statuses) != expand(new.statuses):
        return old
    try:
        same = all(
            _possible_statuses(old, facts) == _possible_statuses(new, facts)
            for facts in sample_facts(old.rules, new.rules)
        )
    except TooManyFactsError:  # the rule about statuses says so
        return old
    return new._replace(reason=old.reason) if same else old


def _possible_statuses(http: HttpMapping, facts: ConditionFacts) -> frozenset[int]:
    return frozenset(http.decide(facts)) if http.rules else expand(http.statuses)


def _align_code(old: Code, new: Code, context: _Context) -> Code:
    """Conditions of a retry flag under statuses that the code never has decide nothing."""
    before, after = old.retriable, new.retriable
    kinds = [(r.until, r.has_flag, r.answer_decides) for r in (before, after)]
    if before == after or kinds[0] != kinds[1] or old.client_action != new.client_action:
        return old
    spans = (*old.http.carried_statuses, *new.http.carried_statuses)
    own = context.fallbacks.get(new.name, frozenset())
    statuses: set[int | None] = {*expand(spans), *own}
    if context.has_unknown_status or not statuses:
        statuses.add(None)
    try:
        same = all(
            set(before.decide(facts)) == set(after.decide(facts))
            for facts in _facts_under(statuses, before, after)
        )
    except TooManyFactsError:  # the rule about flags says so
        return old
    return old._replace(retriable=after) if same else old


def _facts_under(statuses: set[int | None], *flags: Retriable) -> Iterator[ConditionFacts]:
    """Facts that decide flags, under every status that some condition tells apart. Raises
    TooManyFactsError."""
    cases: dict[tuple[bool, tuple[tuple[ConditionalRule, ...], ...]], int | None] = {}
    for status in statuses:
        left = tuple(narrow_rules(flag.rules, status) for flag in flags)
        cases.setdefault((status is None, left), status)
    for (_, left), status in cases.items():
        yield from (facts._replace(status=status) for facts in sample_facts(*left))


def align_policy(old: Policy, new: Policy) -> Policy:
    """Delays that come in no attempt, and settings that have no effect, become those of the other
    policy."""
    attempts = (
        None
        if old.max_attempts is None or new.max_attempts is None
        else max(old.max_attempts, new.max_attempts)
    )
    if _schedule(old, attempts) == _schedule(new, attempts):
        old = old._replace(phases=new.phases)
    if _plain_jitter(old.jitter) == _plain_jitter(new.jitter):
        old = old._replace(jitter=new.jitter)
    if _plain_retry_after(old.retry_after) == _plain_retry_after(new.retry_after):
        old = old._replace(retry_after=new.retry_after)
    return old


#: Delays that are compared of a policy without a limit. A doubled delay of 1 ms reaches the
#: planner's greatest one after 41.
_MOST_DELAYS = 64


def _schedule(policy: Policy, attempts: int | None) -> tuple[object, ...]:
    """The computed delays of each phase for so many attempts, by the kind of failure, and when the
    phase ends. Equal schedules have equal delays, whatever a client waits in between."""
    waits = math.inf if attempts is None else max(0, attempts - 1)
    phases = policy.phases or (Phase("constant", base=0.0),)
    return tuple(
        (
            None if phase is phases[-1] else phase.for_seconds,
            _delays(phase, None, waits),
            *(_delays(phase, policy.kinds[kind].base, waits) for kind in sorted(policy.kinds)),
        )
        for phase in phases
    )


def _delays(phase: Phase, base: float | None, waits: float) -> tuple[object, ...]:
    """The first delays of a phase, by its own base or another one; and the phase itself if later
    ones may differ."""
    alone = phase if base is None else phase._replace(base=base)
    policy = Policy("", phases=(alone,))
    count = int(min(waits, _MOST_DELAYS))
    delays = [bounds(policy, State(taken=index))[1] for index in range(count)]
    grows = len(set(delays[-2:])) > 1 and delays[-1] < CEILING
    more = count < waits and grows
    return (*delays, *((alone._replace(for_seconds=None),) if more else ()))


def longest_wait(policy: Policy) -> float:
    """The most seconds that all waits of a policy can take together, which `Retry-After` lengthens;
    infinite if nothing limits them."""
    if policy.max_attempts is None:
        return math.inf
    waits = max(0, policy.max_attempts - 1)
    if waits > _MOST_DELAYS:
        return math.inf
    computed = max(
        (
            bounds(policy._replace(phases=(phase,)), State(taken=index), kind)[1]
            for phase in policy.phases
            for kind in (None, *policy.kinds)
            for index in range(waits)
        ),
        default=0.0,
    )
    rule = policy.retry_after
    if not rule.honor:
        return waits * computed
    hints = [rule.max, None if rule.over is None else computed + rule.over]
    hint = min((limit for limit in hints if limit is not None), default=math.inf)
    return waits * max(computed, hint) if waits else 0.0


def _plain_jitter(jitter: Jitter) -> Jitter:
    if jitter.kind in ("additive", "ratio"):
        return jitter if jitter.ratio else Jitter()
    return Jitter(jitter.kind)


def _plain_retry_after(rule: RetryAfterRule) -> RetryAfterRule:
    if not rule.honor:
        return RetryAfterRule(honor=False)
    return rule._replace(clamp="cap") if rule.max is None else rule


_ALIGNERS: Mapping[type, Callable[[Any, Any], Any]] = {
    Schema: _align_schema,
    Match: align_match,
    HttpMapping: _align_http,
    Policy: align_policy,
}
