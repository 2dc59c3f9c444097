"""Evolution rules about retries: what a code permits, and how the policies of clients wait."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.facts import TooManyFactsError, sample_facts
from faultspec.evolution.model import BOTH, Audience, Effect
from faultspec.evolution.notation import align_policy, longest_wait
from faultspec.evolution.promises import (
    format_value,
    join_values,
    replacement_message,
    split_values,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.codes import code_name
from faultspec.evolution.rules.operations import is_idempotent
from faultspec.language.conditions import (
    Retriable,
)
from faultspec.language.model import Code, Operation, RetryPolicy, Taxonomy
from faultspec.runtime.retry import Jitter, Policy, advance, bounds, start


def changed_outcomes(old: Retriable, new: Retriable) -> tuple[bool, bool]:
    """Whether some error is no longer retriable, and whether some now is."""
    stops = starts = False
    for facts in sample_facts(old.rules, new.rules):
        before, after = set(old.decide(facts)), set(new.decide(facts))
        stops |= (True in before and True not in after) or (False not in before and False in after)
        starts |= (True in after and True not in before) or (False not in after and False in before)
    return stops, starts


@evolution_rule(
    "retry/flag",
    "BEHAVIOUR",
    reads=("Code.retriable", "Code.client_action", "Retriable.flag_kind", "Retriable.rules"),
)
def retry_flag(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients repeat a request if its error is retriable. One that no longer is stops them; one
    that now is makes them repeat what may have taken effect already."""
    for path, old, new in evolution.changed_codes:
        try:
            effect = _flag_effect(evolution, path, old, new)
        except TooManyFactsError as error:
            effect = error.as_effect(f"the retry flag of {code_name(path)}")
        if effect is not None:
            before, after = _describe(old), _describe(new)
            covers = (
                (*path, "retriable", "flag_kind"),
                (*path, "retriable", "rules"),
                (*path, "client_action"),
            )
            yield Occurrence((*path, "retriable"), effect, before, after, covers=covers)


def _describe(code: Code) -> str:
    return f"{code.retriable.flag_kind}; clients {_ACTIONS[code.client_action]}"


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
        message = (
            f"after {name} clients {_ACTIONS[new.client_action]}, and before they "
            f"{_ACTIONS[old.client_action]}"
        )
        return Effect("breaking", message, ("clients",))
    return None


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
        if not is_idempotent(evolution.new, operation) and code.effect != "none"
    ]
    if unsafe:
        message += f", and {join_values(unsafe)} is not idempotent: a retry may take effect twice"
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


@evolution_rule("retry/until", "BEHAVIOUR", reads=("Retriable.until",))
def retry_until(evolution: Evolution) -> Iterator[Occurrence]:
    """An error that is retriable after an action tells clients what to do first."""
    for path, old, new in evolution.changed_codes:
        before, after = old.retriable.until, new.retriable.until
        if before != after:
            message = replacement_message(
                f"the action after which {code_name(path)} is retriable", after, before
            )
            effect = Effect("breaking", message, ("clients",))
            yield Occurrence((*path, "retriable", "until"), effect, before, after)


@evolution_rule("retry/effect", "BEHAVIOUR", reads=("Code.effect",))
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


@evolution_rule(
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
    for path, policy in evolution.find_added("retry_policies"):
        effect = Effect("safe", f"the retry policy `{policy.name}` is new", adds=True)
        if policy.name in _used_policies(evolution.new):
            continue
        yield Occurrence(path, effect)
    for path, policy in evolution.find_removed("retry_policies"):
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
    for field, effect in _policy_effects(before, after, f"the policy of {name}"):
        yield Occurrence((*path, field), effect, covers=(path,))


_PHASE_FIELDS = tuple(
    f"Phase.{n}" for n in ("kind", "base", "factor", "step", "max", "for_seconds")
)


@evolution_rule(
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
    used = _used_policies(evolution.old) & _used_policies(evolution.new)
    for path, old, new in evolution.pairs("retry_policies"):
        if new.name not in used:
            continue
        for field, effect in _policy_effects(old.policy, new.policy, f"the policy `{new.name}`"):
            place: Path = (*path, "policy", field)
            yield Occurrence(place, effect, getattr(old.policy, field), getattr(new.policy, field))
        if old.kind_of != new.kind_of:
            message = f"the policy `{new.name}` has other kinds of failures"
            yield Occurrence((*path, "kind_of"), Effect("risky", message, ("services",)))


def _used_policies(taxonomy: Taxonomy) -> set[str | None]:
    """The policies that a code or the upstream rule names."""
    used = {code.retry for code in taxonomy.every_code() if code.live}
    return used | {taxonomy.upstream.retry if taxonomy.upstream else None}


def _policy_effects(old: Policy, new: Policy, what: str) -> Iterator[tuple[str, Effect]]:
    old = align_policy(old, new)
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
        yield "max_elapsed", _elapsed_effect(old, new, what, later=elapsed > 0)
    kinds = _kinds_effect(old, new, what)
    if kinds is not None:
        yield "kinds", kinds


def _elapsed_effect(old: Policy, new: Policy, what: str, *, later: bool) -> Effect:
    """The effect of another limit of time. Waits that end before both limits end before neither,
    unless the tries themselves take as long."""
    limits = [policy.max_elapsed for policy in (old, new) if policy.max_elapsed is not None]
    if max(map(longest_wait, (old, new))) <= min(limits):
        return Effect("safe", f"{what} has another limit of time, which its waits do not reach")
    message = f"{what} gives up {'later' if later else 'earlier'}"
    return Effect("risky", message, ("services", "clients") if later else ("clients",))


def _kinds_effect(old: Policy, new: Policy, what: str) -> Effect | None:
    """The effect of other kinds of failures. Costs count only where there is a budget."""
    budget = old.budget is not None and new.budget is not None
    values = [
        {name: (kind.base, kind.cost if budget else None) for name, kind in policy.kinds.items()}
        for policy in (old, new)
    ]
    if values[0] == values[1]:
        return None
    less = any(
        after is not None and before is not None and after < before
        for name in values[0]
        for before, after in zip(values[0][name], values[1].get(name, (0.0, 0.0)), strict=True)
    )
    message = f"{what} treats kinds of failures differently"
    return Effect("risky", message, ("services",) if less else ("clients",))


def _more_or_fewer(old: float | None, new: float | None) -> int:
    """1 if a limit grew, -1 if it shrank, 0 if it is the same; None: there is none."""
    if old == new:
        return 0
    return 1 if new is None or (old is not None and new > old) else -1


def _count(attempts: int | None) -> str:
    if attempts is None:
        return "without a limit"
    return "once" if attempts == 1 else f"{attempts} times"


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
    before, after = old.retry_after, new.retry_after
    if before.honor != after.honor:
        follows = "follows" if after.honor else "ignores"
        hurt: tuple[Audience, ...] = ("clients",) if after.honor else ("services",)
        return Effect("risky", f"{what} {follows} `Retry-After`", hurt)
    longer = (
        _more_or_fewer(before.max, after.max) > 0 or _more_or_fewer(before.over, after.over) > 0
    )
    ignores = after.clamp == "ignore" and before.clamp == "cap"
    message = f"{what} follows `Retry-After` differently"
    return Effect("risky", message, ("clients",) if longer and not ignores else ("services",))


def _retries(policy: Policy) -> float:
    budget = policy.budget
    return 0.0 if budget is None else budget.tokens / budget.cost if budget.cost else float("inf")


@evolution_rule(
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
        before, after = _eligible(evolution.old, old), _eligible(evolution.new, new)
        gone, more = (
            [code for code in codes if _keeps_policy(evolution, code)]
            for codes in split_values(before, after)
        )
        if gone:
            effect = Effect(
                "breaking", f"{what} no longer retries {join_values(gone)}", ("clients",)
            )
            yield Occurrence((*path, "eligible"), effect, old.eligible, new.eligible)
        if more:
            effect = _eligible_effect(evolution, more, what)
            yield Occurrence((*path, "eligible"), effect, old.eligible, new.eligible)
        try:
            conditions = _conditions_effect(evolution, old, new, what)
        except TooManyFactsError as error:
            conditions = error.as_effect(what)
        if conditions is not None:
            yield Occurrence((*path, "eligible_when"), conditions)


def _eligible(taxonomy: Taxonomy, policy: RetryPolicy) -> tuple[str, ...]:
    """The codes that a policy retries: those it lists, else those that name it."""
    named = (c.name for c in taxonomy.codes.values() if c.live and c.retry == policy.name)
    return policy.eligible or tuple(named)


def _keeps_policy(evolution: Evolution, name: str) -> bool:
    """Whether a code is in both taxonomies with one policy. By default a policy is for the codes
    that name it, and then the change is reported at the code."""
    old, new = evolution.old.codes.get(name), evolution.new.codes.get(name)
    return old is not None and new is not None and old.retry == new.retry


def _eligible_effect(evolution: Evolution, codes: list[str], what: str) -> Effect:
    message = f"{what} now retries {join_values(codes)}"
    for code in codes:
        declared = evolution.new.codes[code]
        effect = _effect_of_repeating(evolution, ("codes", code), declared)
        if effect.severity == "breaking":
            return effect._replace(message=f"{message}, which may take effect twice")
    return Effect("risky", message, ("services",))


#: Stands for any eligible code: conditions do not test codes.
_ANY_CODE = ""


def _conditions_effect(
    evolution: Evolution, old: RetryPolicy, new: RetryPolicy, what: str
) -> Effect | None:
    stops = starts = False
    one, other = (policy._replace(eligible=(_ANY_CODE,)) for policy in (old, new))
    for facts in sample_facts(old.eligible_when, new.eligible_when):
        before, after = one.covers(_ANY_CODE, facts), other.covers(_ANY_CODE, facts)
        stops |= before is not False and after is False
        starts |= after is not False and before is False
    if not stops and not starts:
        return None
    message = f"{what} retries under other conditions"
    if stops:
        return Effect("breaking", message, ("clients",))
    codes = [c for c in _eligible(evolution.new, new) if c in evolution.new.codes]
    return _eligible_effect(evolution, codes, what)._replace(message=message)


@evolution_rule(
    "retry/isolation", "BEHAVIOUR", reads=("RetryPolicy.isolation", "RetryPolicy.annotate")
)
def retry_isolation(evolution: Evolution) -> Iterator[Occurrence]:
    """Services run the attempts under an isolation level, and report their number in a detail."""
    for path, old, new in evolution.pairs("retry_policies"):
        if old.isolation != new.isolation:
            message = f"the attempts of `{new.name}` run under {format_value(new.isolation)}"
            yield Occurrence(
                (*path, "isolation"),
                Effect("risky", message, ("services",)),
                old.isolation,
                new.isolation,
            )
        if old.annotate != new.annotate:
            message = replacement_message(
                f"the detail with the number of retries of `{new.name}`", new.annotate, old.annotate
            )
            effect = Effect(
                "breaking",
                message,
                BOTH if old.annotate else ("services",),
                ("WIRE",),
            )
            yield Occurrence((*path, "annotate"), effect, old.annotate, new.annotate)
