"""Evolution rules about retries: what a code permits, and how the policies of clients wait."""

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Audience, ChangeSeverity, Effect
from faultspec.evolution.promises import listed, shown
from faultspec.evolution.rule import Evolution, Occurrence, rule
from faultspec.evolution.rules.codes import code_name
from faultspec.language.conditions import (
    ConditionalRule,
    ConditionFacts,
    Retriable,
    possible_outcomes,
    tested_facts,
)
from faultspec.language.model import Code, Operation, RetryPolicy, Taxonomy
from faultspec.runtime.retry import Jitter, Policy, advance, bounds, start

#: Combinations of facts that are tried for conditions; more would not fit a command.
_MOST_FACTS = 4096

_OTHER = "\0 a value that no condition names"


def sample_facts(*rules: Iterable[ConditionalRule]) -> Iterator[ConditionFacts]:
    """Facts at both sides of everything that the rules test, and one value that none of them
    names. `cause` is never visible, so it is left out."""
    all_rules = [r for group in rules for r in group]
    facts = [fact for fact in tested_facts(all_rules) if fact != "cause"]
    values: list[list[Any]] = []
    for fact in facts:
        tests = [test for r in all_rules for test in r.when if test.fact == fact]
        found = dict.fromkeys(value for test in tests for value in test.values)
        for test in tests:
            for span in test.ranges:
                found |= dict.fromkeys((span.low - 1, span.low, span.high, span.high + 1))
        other = {
            "status": 999,
            "operation.idempotent": not any(found),
            "caller.authenticated": not any(found),
        }
        values.append([*found, other.get(fact, _OTHER)])
    for combination in islice(product(*values), _MOST_FACTS):
        given = dict(zip(facts, combination, strict=True))
        yield ConditionFacts(
            status=given.get("status"),
            idempotent=given.get("operation.idempotent"),
            authenticated=given.get("caller.authenticated"),
            details={
                k.removeprefix("details."): v for k, v in given.items() if k.startswith("details.")
            },
        )


def changed_outcomes(old: Retriable, new: Retriable) -> tuple[bool, bool]:
    """Whether some error is no longer retriable, and whether some now is."""
    stops = starts = False
    for facts in sample_facts(old.rules, new.rules):
        before, after = set(old.decide(facts)), set(new.decide(facts))
        stops |= (True in before and True not in after) or (False not in before and False in after)
        starts |= (True in after and True not in before) or (False not in after and False in before)
    return stops, starts


@rule(
    "retry/flag",
    "BEHAVIOUR",
    reads=("Code.retriable", "Code.client_action", "Retriable.flag_kind", "Retriable.rules"),
)
def retry_flag(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients repeat a request if its error is retriable. One that no longer is stops them; one
    that now is makes them repeat what may have taken effect already."""
    for path, old, new in evolution.changed_codes:
        effect = _flag_effect(evolution, path, old, new)
        if effect is not None:
            before, after = _describe(old), _describe(new)
            covers = (
                (*path, "retriable", "flag_kind"),
                (*path, "retriable", "rules"),
                (*path, "client_action"),
            )
            yield Occurrence((*path, "retriable"), effect, before, after, covers)


def _describe(code: Code) -> str:
    return f"{code.retriable.flag_kind}, {code.client_action}"


def _flag_effect(evolution: Evolution, path: Path, old: Code, new: Code) -> Effect | None:
    name = code_name(path)
    if (
        old.retriable._replace(until=None) == new.retriable._replace(until=None)
        and old.client_action == new.client_action
    ):
        return None
    if old.retriable.has_flag and not new.retriable.has_flag:
        return Effect("breaking", f"{name} has no retry flag any more", ("clients",))
    if new.retriable.has_flag and not old.retriable.has_flag:
        stops, starts = False, new.retriable.may_be_retried
    else:
        stops, starts = changed_outcomes(old.retriable, new.retriable)
    action_stops = old.client_action != new.client_action and old.retryable
    action_starts = old.client_action != new.client_action and new.retryable
    if stops or action_stops:
        message = (
            f"{name} is no longer retriable"
            if not starts
            else f"{name} is retriable under other conditions"
        )
        if new.client_action not in ("none", "retry", old.client_action):
            message += f"; clients {_ACTIONS[new.client_action]}"
        return Effect("breaking", message, ("clients",))
    if starts or action_starts:
        return _effect_of_repeating(evolution, path, new)
    if old.client_action != new.client_action:
        message = f"after {name} clients {_ACTIONS[new.client_action]}, and before they {_ACTIONS[old.client_action]}"
        return Effect("breaking", message, ("clients",))
    return Effect("safe", f"the retry flag of {name} is declared differently")


_ACTIONS = {
    "retry": "retry",
    "refetch": "refetch first",
    "user": "ask the user",
    "none": "do nothing",
}


def _effect_of_repeating(evolution: Evolution, path: Path, code: Code) -> Effect:
    message = f"{code_name(path)} is now retriable"
    unsafe = [
        operation.name
        for operation in _operations_of(evolution.new, path, code)
        if operation.idempotent is False and code.effect != "none"
    ]
    if unsafe:
        message += f", and {listed(unsafe)} is not idempotent: a retry may take effect twice"
        return Effect("breaking", message, BOTH)
    return Effect("risky", f"{message}: services get more requests", ("services",))


def _operations_of(taxonomy: Taxonomy, path: Path, code: Code) -> Iterator[Operation]:
    """The operations that may return a code."""
    if path[0] == "operations":
        yield taxonomy.operations[str(path[1])]
        return
    for operation in taxonomy.operations.values():
        if operation.codes is None or code.name in operation.codes:
            yield operation


@rule("retry/until", "BEHAVIOUR", reads=("Retriable.until",))
def retry_until(evolution: Evolution) -> Iterator[Occurrence]:
    """An error that is retriable after an action tells clients what to do first."""
    for path, old, new in evolution.changed_codes:
        before, after = old.retriable.until, new.retriable.until
        if before != after:
            message = (
                f"{code_name(path)} is retriable after {shown(after)} in place of {shown(before)}"
            )
            effect = (
                Effect("risky", message, ("clients",), adds=True)
                if before is None
                else Effect("breaking", message, ("clients",))
            )
            yield Occurrence((*path, "retriable", "until"), effect, before, after)


@rule("retry/effect", "BEHAVIOUR", reads=("Code.effect",))
def retry_effect(evolution: Evolution) -> Iterator[Occurrence]:
    """A request that failed without effect may be repeated even if it is not idempotent. Clients
    that relied on it do harm if the effect is possible after all."""
    for path, old, new in evolution.changed_codes:
        if old.effect != new.effect:
            message = (
                f"the effect of {code_name(path)} is `{new.effect}` in place of `{old.effect}`"
            )
            if old.effect == "none":
                effect = Effect("breaking", message, ("clients",))
            elif new.effect == "none":
                effect = Effect("risky", message, ("services",))
            else:
                effect = Effect("safe", message)
            yield Occurrence((*path, "effect"), effect, old.effect, new.effect)


def _named_policy(taxonomy: Taxonomy, name: str | None) -> Policy | None:
    """A policy as the planner reads it, without its name."""
    policy = taxonomy.retry_policies.get(name or "")
    return policy.policy._replace(name="") if policy is not None else None


@rule(
    "retry/policy",
    "BEHAVIOUR",
    reads=(
        "Code.retry",
        "Upstream.retry",
        "Taxonomy.retry_policies",
        "RetryPolicy.name",
        "Policy.name",
    ),
)
def retry_policy(evolution: Evolution) -> Iterator[Occurrence]:
    """A code, or the calls of an upstream, may have another policy. What counts is how long it
    waits and how often it tries, not its name."""
    for path, old, new in evolution.code_pairs:
        if old.retry == new.retry:
            continue
        name = code_name(path)
        before, after = (
            _named_policy(evolution.old, old.retry),
            _named_policy(evolution.new, new.retry),
        )
        yield from _policy_switch((*path, "retry"), before, after, name)
    old_upstream, new_upstream = evolution.old.upstream, evolution.new.upstream
    if old_upstream and new_upstream and old_upstream.retry != new_upstream.retry:
        before = _named_policy(evolution.old, old_upstream.retry)
        after = _named_policy(evolution.new, new_upstream.retry)
        yield from _policy_switch(("upstream", "retry"), before, after, "the upstream rule")
    for path, policy in evolution.added("retry_policies"):
        yield Occurrence(
            path,
            Effect("safe", f"the retry policy `{policy.name}` is new", (), ("SOURCE",), adds=True),
        )
    for path, policy in evolution.removed("retry_policies"):
        yield Occurrence(
            path, Effect("safe", f"the retry policy `{policy.name}` is gone", (), ("SOURCE",))
        )
    for rename in evolution.renames:
        if rename.section == "retry_policies":
            message = f"the retry policy `{rename.old}` is named `{rename.new}`"
            yield Occurrence(
                ("retry_policies", rename.new, "name"),
                Effect("safe", message, (), ("SOURCE",)),
                rename.old,
                rename.new,
            )


def _policy_switch(
    path: Path, before: Policy | None, after: Policy | None, name: str
) -> Iterator[Occurrence]:
    if before is None or after is None:
        if before is not after:
            message = (
                f"{name} has a retry policy now"
                if before is None
                else f"{name} has no retry policy any more"
            )
            hurt: tuple[Audience, ...] = ("services",) if before is None else ("clients",)
            yield Occurrence(path, Effect("risky", message, hurt))
        return
    effects = [effect for _, effect in _policy_effects(before, after, f"the policy of {name}")]
    for effect in effects:
        yield Occurrence(path, effect)


_PHASE_FIELDS = tuple(
    f"Phase.{n}" for n in ("kind", "base", "factor", "step", "max", "for_seconds")
)


@rule(
    "retry/schedule",
    "BEHAVIOUR",
    reads=(
        "RetryPolicy.policy",
        "Policy.max_attempts",
        "Policy.phases",
        "Policy.jitter",
        "Policy.retry_after",
        "Policy.budget",
        "Policy.max_elapsed",
        "Policy.kinds",
        *_PHASE_FIELDS,
        "Jitter.kind",
        "Jitter.ratio",
        "RetryAfterRule.honor",
        "RetryAfterRule.max",
        "RetryAfterRule.clamp",
        "RetryAfterRule.min_is_computed",
        "RetryAfterRule.over",
        "Budget.tokens",
        "Budget.cost",
        "Budget.refund",
        "Budget.idle_refund",
        "Kind.cost",
        "Kind.base",
        "RetryPolicy.kind_of",
    ),
)
def retry_schedule(evolution: Evolution) -> Iterator[Occurrence]:
    """A longer wait is risky for clients with deadlines. A shorter one, more attempts or a larger
    budget put more load on services. Fewer attempts give up earlier."""
    for path, old, new in evolution.pairs("retry_policies"):
        for field, effect in _policy_effects(old.policy, new.policy, f"the policy `{new.name}`"):
            place: Path = (*path, "policy", field)
            yield Occurrence(place, effect, getattr(old.policy, field), getattr(new.policy, field))
        if old.kind_of != new.kind_of:
            message = f"the policy `{new.name}` has other kinds of failures"
            yield Occurrence((*path, "kind_of"), Effect("risky", message, BOTH))


def _policy_effects(old: Policy, new: Policy, what: str) -> Iterator[tuple[str, Effect]]:
    attempts = _more_or_fewer(old.max_attempts, new.max_attempts)
    if attempts:
        message = f"{what} tries {_count(new.max_attempts)} in place of {_count(old.max_attempts)}"
        yield (
            "max_attempts",
            Effect("risky", message, ("services",) if attempts > 0 else ("clients",)),
        )
    if old.phases != new.phases:
        longer, shorter = _compare_waits(old, new)
        direction = "differently" if longer == shorter else "longer" if longer else "shorter"
        hurt: tuple[Audience, ...] = (
            *(("clients",) if longer or not shorter else ()),
            *(("services",) if shorter else ()),
        )
        yield "phases", Effect("risky", f"{what} waits {direction} between attempts", hurt)
    if old.jitter != new.jitter:
        less = _spread(new) < _spread(old)
        message = f"{what} spreads its delays {'less' if less else 'more'}"
        yield "jitter", Effect("risky", message, ("services",)) if less else Effect("safe", message)
    if old.retry_after != new.retry_after:
        yield "retry_after", _retry_after_effect(old, new, what)
    if old.budget != new.budget:
        grows = new.budget is None or (old.budget is not None and _retries(new) > _retries(old))
        message = f"{what} may spend {'more' if grows else 'less'} on retries"
        yield "budget", Effect("risky", message, ("services",) if grows else ("clients",))
    elapsed = _more_or_fewer(old.max_elapsed, new.max_elapsed)
    if elapsed:
        message = f"{what} gives up {'later' if elapsed > 0 else 'earlier'}"
        yield (
            "max_elapsed",
            Effect("risky", message, ("services", "clients") if elapsed > 0 else ("clients",)),
        )
    if old.kinds != new.kinds:
        yield (
            "kinds",
            Effect("risky", f"{what} treats kinds of failures differently", BOTH),
        )


def _more_or_fewer(old: float | None, new: float | None) -> int:
    """1 if a limit grew, -1 if it shrank, 0 if it is the same; None is no limit."""
    if old == new:
        return 0
    return 1 if new is None or (old is not None and new > old) else -1


def _count(attempts: int | None) -> str:
    return "without a limit" if attempts is None else f"{attempts} times"


def _waits(policy: Policy, steps: int) -> list[float]:
    """The first computed delays of a policy, without jitter, in seconds."""
    fixed = policy._replace(jitter=Jitter())
    state, delays = start(fixed), []
    for _ in range(steps):
        delay, _ = bounds(fixed, state)
        delays.append(delay)
        state = advance(fixed, state, delay)
    return delays


#: Delays that are compared: beyond it no policy of the corpora is still growing.
_COMPARED = 12


def _compare_waits(old: Policy, new: Policy) -> tuple[bool, bool]:
    """Whether some delay is longer, and whether some is shorter."""
    pairs = list(zip(_waits(old, _COMPARED), _waits(new, _COMPARED), strict=False))
    return any(b > a for a, b in pairs), any(b < a for a, b in pairs)


def _spread(policy: Policy) -> float:
    jitter = policy.jitter
    return {
        "none": 0.0,
        "full": 1.0,
        "equal": 0.5,
        "additive": jitter.ratio,
        "ratio": 2 * jitter.ratio,
    }[jitter.kind]


def _retry_after_effect(old: Policy, new: Policy, what: str) -> Effect:
    if old.retry_after.honor and not new.retry_after.honor:
        message = f"{what} ignores `Retry-After`, so clients come back too early"
        return Effect("breaking", message, ("services",))
    if new.retry_after.honor and not old.retry_after.honor:
        return Effect("risky", f"{what} follows `Retry-After`, which may be long", ("clients",))
    return Effect("risky", f"{what} follows `Retry-After` differently", BOTH)


def _retries(policy: Policy) -> float:
    budget = policy.budget
    return 0.0 if budget is None else budget.tokens / budget.cost if budget.cost else float("inf")


@rule(
    "retry/eligible",
    "BEHAVIOUR",
    reads=(
        "RetryPolicy.eligible",
        "RetryPolicy.eligible_when",
        "ConditionalRule.when",
        "ConditionalRule.then",
        "Test.fact",
        "Test.values",
        "Test.ranges",
    ),
)
def retry_eligible(evolution: Evolution) -> Iterator[Occurrence]:
    """A policy retries the codes that it lists, under its conditions. A code that it no longer
    retries stops clients; one that it now retries sends requests again."""
    for path, old, new in evolution.pairs("retry_policies"):
        what = f"the policy `{new.name}`"
        gone = [
            code
            for code in old.eligible
            if code not in new.eligible and code in evolution.new.codes
        ]
        more = [
            code
            for code in new.eligible
            if code not in old.eligible and code in evolution.old.codes
        ]
        if gone and not _follows_codes(evolution, old, gone):
            effect = Effect("breaking", f"{what} no longer retries {listed(gone)}", ("clients",))
            yield Occurrence((*path, "eligible"), effect, old.eligible, new.eligible)
        if more and not _follows_codes(evolution, new, more):
            yield Occurrence(
                (*path, "eligible"),
                _eligible_effect(evolution, more, what),
                old.eligible,
                new.eligible,
            )
        if old.eligible_when != new.eligible_when:
            yield Occurrence((*path, "eligible_when"), _conditions_effect(old, new, what))


def _follows_codes(evolution: Evolution, policy: RetryPolicy, codes: Iterable[str]) -> bool:
    """Whether the list is the default: the codes with `retry:` and the name of the policy. Then
    the change is reported at the codes."""
    taxonomies = (evolution.old, evolution.new)
    return all(
        any(t.codes[c].retry == policy.name for t in taxonomies if c in t.codes) for c in codes
    )


def _eligible_effect(evolution: Evolution, codes: list[str], what: str) -> Effect:
    message = f"{what} now retries {listed(codes)}"
    for code in codes:
        declared = evolution.new.codes[code]
        effect = _effect_of_repeating(evolution, ("codes", code), declared)
        if effect.severity == "breaking":
            return effect._replace(message=f"{message}, which may take effect twice")
    return Effect("risky", message, ("services",))


def _conditions_effect(old: RetryPolicy, new: RetryPolicy, what: str) -> Effect:
    stops = starts = False
    for facts in sample_facts(old.eligible_when, new.eligible_when):
        before, after = (
            set(possible_outcomes(rules, facts)) or {True}
            for rules in (old.eligible_when, new.eligible_when)
        )
        stops |= True in before and True not in after
        starts |= True in after and True not in before
    if not stops and not starts:
        return Effect("safe", f"{what} declares its conditions differently")
    severity: ChangeSeverity = "breaking" if stops else "risky"
    message = f"{what} retries under other conditions"
    return Effect(severity, message, ("clients",) if stops else ("services",))


@rule("retry/isolation", "BEHAVIOUR", reads=("RetryPolicy.isolation", "RetryPolicy.annotate"))
def retry_isolation(evolution: Evolution) -> Iterator[Occurrence]:
    """Services run the attempts under an isolation level, and report their number in a detail."""
    for path, old, new in evolution.pairs("retry_policies"):
        if old.isolation != new.isolation:
            message = f"the attempts of `{new.name}` run under {shown(new.isolation)}"
            yield Occurrence(
                (*path, "isolation"),
                Effect("risky", message, ("services",)),
                old.isolation,
                new.isolation,
            )
        if old.annotate != new.annotate:
            message = f"the detail with the number of retries of `{new.name}` is {shown(new.annotate)} in place of {shown(old.annotate)}"
            effect = Effect(
                "breaking",
                message,
                BOTH if old.annotate else ("services",),
                ("WIRE",),
            )
            yield Occurrence((*path, "annotate"), effect, old.annotate, new.annotate)
