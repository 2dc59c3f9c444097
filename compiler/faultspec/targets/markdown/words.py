"""Rules in words: conditions, retriability, retry policies, statuses. Everything here is
Markdown.
"""

from collections.abc import Iterator

from faultspec.language.conditions import ConditionalRule, Test
from faultspec.language.model import Code, HeaderRule, RetryPolicy, Source
from faultspec.runtime import durations
from faultspec.runtime.retry import Phase, Policy, State, bounds
from faultspec.targets.markdown.text import code as typed
from faultspec.targets.markdown.text import data, inline

TURNS = {
    "retry": "The client's: it sends the same request again.",
    "refetch": "The client's: it reads the current state, and decides anew.",
    "user": "A person's: somebody has to change something before it can succeed.",
    "none": "No caller's: the client reports it and gives up.",
}

EFFECTS = {
    "none": "The operation had no effect.",
    "possible": "The operation may have taken effect although it failed.",
    "unknown": "Whether the operation took effect is not known.",
}

RETRIABLE = {
    "always": "Yes: the same request may be sent again.",
    "never": "No: the same request must not be sent again.",
    "caller": "Either: each error has its own flag.",
    "none": "Errors have no such flag.",
    "conditional": "It depends:",
}

#: The shortest form of it, for a table.
RETRIABLE_SHORT = {
    "always": "yes",
    "never": "no",
    "caller": "either",
    "none": "—",
    "conditional": "depends",
}

#: How many delays of a policy are shown.
_SHOWN = 5


def retriability(code: Code) -> list[str]:
    """Whether the same request may be sent again: a sentence, then the rules, of which the first
    that holds decides.
    """
    found = RETRIABLE[code.retriable.flag_kind]
    if code.retriable.until:
        found = (
            f"{found.removesuffix(':').removesuffix('.')}, until {inline(code.retriable.until)}."
        )
    return [
        found,
        *(f"{_when(rule)}: {'yes' if rule.then else 'no'}." for rule in code.retriable.rules),
    ]


def statuses(code: Code) -> list[str]:
    """The statuses of a code, one a line: the default, the others, and which is chosen when."""
    if not code.http.statuses:
        return [
            f"None: {inline(code.http.reason)}"
            if code.http.reason
            else "None: it never travels over HTTP."
        ]
    found = []
    for status in code.http.statuses:
        mark = (
            " by default"
            if status.low == code.http.default and len(list(code.http.all())) > 1
            else ""
        )
        found.append(f"{status}{mark}")
    return [*found, *(f"{_when(rule)}: {rule.then}" for rule in code.http.rules)]


def _when(rule: ConditionalRule) -> str:
    return "When " + " and ".join(map(_test, rule.when)) if rule.when else "Otherwise"


_FACTS = {
    "operation.idempotent": ("the operation is idempotent", "the operation is not idempotent"),
    "caller.authenticated": ("the caller is authenticated", "the caller is not authenticated"),
}


def _test(test: Test) -> str:
    if test.fact in _FACTS and len(test.values) == 1 and isinstance(test.values[0], bool):
        return _FACTS[test.fact][0 if test.values[0] else 1]
    wanted = [*map(data, test.values), *(f"in {range_}" for range_ in test.ranges)]
    name = f"the {test.fact}" if test.fact in ("status", "cause") else typed(test.fact)
    return f"{name} is {' or '.join(wanted)}"


def header_rule(rule: HeaderRule) -> tuple[str, str, str, str]:
    """A row: name, presence, statuses, and the form of the value."""
    looks = [f"a valid {inline(each)}" for each in rule.format]
    parts = [" or ".join(looks)] if looks else []
    parts += [f"contains {typed(rule.token)}"] if rule.token else []
    parts += [f"equals {typed(rule.equals)}"] if rule.equals else []
    parts += [inline(rule.summary)] if rule.summary else []
    return typed(rule.name), rule.presence, ", ".join(map(str, rule.on)) or "any", "; ".join(parts)


def source(found: Source) -> str | None:
    """The source of a rule: statements, a section, rulings (links to them), a note."""
    parts = [", ".join(map(inline, found.statements))] if found.statements else []
    parts += [inline(found.section)] if found.section else []
    parts += (
        ["ruling " + ", ".join(f"[{inline(e)}](#ruling:{e})" for e in found.rulings)]
        if found.rulings
        else []
    )
    parts += [inline(found.note)] if found.note else []
    return "; ".join(parts) or None


# Retry policies


def policy(found: RetryPolicy) -> Iterator[str]:
    """A policy, one fact a line."""
    planned = found.policy
    if planned.max_attempts is None:
        yield "As many requests as the budget and the time allow."
    elif planned.max_attempts == 1:
        yield "1 request in all: nothing is sent again."
    else:
        retries = planned.max_attempts - 1
        noun = "retry" if retries == 1 else "retries"
        yield f"{planned.max_attempts} requests in all: the first, and {retries} {noun}."
    if not planned.phases:
        yield "No delay before a retry."
    for number, phase in enumerate(planned.phases, 1):
        first = "Delays" if len(planned.phases) == 1 else f"Delays of phase {number}"
        count = _SHOWN if planned.max_attempts is None else min(_SHOWN, planned.max_attempts - 1)
        yield f"{first}: {_phase(phase, max(count, 1))}."
    yield _jitter(found)
    yield _hint(found)
    if planned.budget is not None:
        budget = planned.budget
        yield (
            f"A bucket of {_number(budget.tokens)} tokens, shared by the calls of a client: "
            f"a retry costs {_number(budget.cost)}, a success without one puts back "
            f"{_number(budget.idle_refund)}."
        )
    for name, kind in planned.kinds.items():
        parts = [f"costs {_number(kind.cost)}"] if kind.cost is not None else []
        parts += [f"first delay {seconds(kind.base)}"] if kind.base is not None else []
        yield f"For failures of the kind {typed(name)}: {', '.join(parts) or 'as for others'}."
    if planned.max_elapsed is not None:
        yield f"All within {seconds(planned.max_elapsed)}."
    if found.isolation:
        yield f"Attempts run at the isolation level {inline(found.isolation)}."
    if found.annotate:
        yield f"The number of retries stands in {typed(f'details.{found.annotate}')}."
    for rule in found.eligible_when:
        yield f"{_when(rule)}: {'retried' if rule.then else 'not retried'}."


def _phase(phase: Phase, count: int) -> str:
    delays = [_delay(phase, index) for index in range(count)]
    growth = {
        "exponential": f"times {_number(phase.factor)} each",
        "linear": f"{seconds(phase.step)} more each",
        "constant": "always the same",
    }[phase.kind]
    most = f", at most {seconds(phase.max)}" if phase.max is not None else ""
    lasts = (
        f", for {seconds(phase.for_seconds)} from the first failure"
        if phase.for_seconds is not None
        else ""
    )
    return f"{', '.join(map(seconds, delays))} ({growth}{most}){lasts}"


def _delay(phase: Phase, index: int) -> float:
    """The delay in seconds before the retry of this index, as the planner counts it."""
    return bounds(Policy("", phases=(phase,)), State(taken=index))[0]


def _jitter(found: RetryPolicy) -> str:
    jitter = found.policy.jitter
    more, less = _number(1 + jitter.ratio), _number(max(0.0, 1 - jitter.ratio))
    return {
        "none": "No jitter.",
        "full": "Full jitter: anything from 0 to the delay.",
        "equal": "Equal jitter: anything from half the delay to the delay.",
        "additive": f"Additive jitter: anything from the delay to {more} times the delay.",
        "ratio": f"Jitter by ratio: anything from {less} to {more} times the delay.",
    }[jitter.kind]


def _hint(found: RetryPolicy) -> str:
    rule = found.policy.retry_after
    if not rule.honor:
        return "The server's Retry-After is not followed."
    parts = "The server's Retry-After is followed"
    if rule.max is not None:
        longer = "cut to that" if rule.clamp == "cap" else "ignored"
        parts += f", up to {seconds(rule.max)}; a longer one is {longer}"
    if rule.over is not None:
        parts += f", at most {seconds(rule.over)} above the computed delay"
    if rule.min_is_computed:
        parts += ", and never shortens the computed delay"
    return f"{parts}."


def seconds(value: float) -> str:
    """A time as people write it."""
    return durations.render(value)


def _number(value: float) -> str:
    return f"{value:g}"
