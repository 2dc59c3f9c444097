"""Rules on retrying: what the flag, the action, the policy and the status say must be one thing."""

import math
from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.conditions import Retriable
from faultspec.language.model import Code, Example, Taxonomy
from faultspec.lint.places import at as places_at
from faultspec.lint.places import codes, codes_of_policy, example_path, live, present
from faultspec.lint.rule import Remark, Subject
from faultspec.lint.statuses import statuses_of
from faultspec.runtime.retry import Policy


def action_contradicts_flag(subject: Subject) -> Iterator[Remark]:
    """The flag and the client action agree: what is retriable is retried, what is not is not."""
    for path, code in codes(subject.taxonomy):
        at = present(subject, path, "client_action", "retriable")
        if code.retriable.kind == "never" and code.client_action == "retry":
            message = f"`{code.name}` is not retriable, and clients are told to retry"
        elif code.retriable.kind == "always" and code.client_action != "retry":
            message = f"`{code.name}` is retriable, and clients are told not to retry it ({code.client_action})"
        else:
            continue
        yield Remark(
            at,
            message,
            "change `retriable` or `client_action`; `caller` leaves the flag to the service",
        )


def retry_without_policy(subject: Subject) -> Iterator[Remark]:
    """Where retry policies are declared, every code that clients retry names one."""
    taxonomy = subject.taxonomy
    if not taxonomy.retry_policies:
        return
    eligible = {name for policy in taxonomy.retry_policies.values() for name in policy.eligible}
    for path, code in live(taxonomy):
        if code.retryable and code.retry is None and code.name not in eligible:
            known = ", ".join(taxonomy.retry_policies)
            message = f"clients retry `{code.name}`, and nothing says how"
            yield Remark(
                present(subject, path, "client_action", "retriable"),
                message,
                f"add `retry:` with one of {known}",
            )


def policy_without_retry(subject: Subject) -> Iterator[Remark]:
    """A code that names a retry policy is one that clients retry."""
    for path, code in codes(subject.taxonomy):
        if (
            code.retry is not None
            and not code.retryable
            and code.retriable.kind in ("never", "none")
        ):
            message = f"`{code.name}` names the policy `{code.retry}`, and clients do not retry it"
            yield Remark((*path, "retry"), message, "remove `retry:`, or make the code retriable")


def retry_unsafe(subject: Subject) -> Iterator[Remark]:
    """What may have taken effect is not sent again unless something makes a second write safe."""
    taxonomy = subject.taxonomy
    declared = taxonomy.idempotency or taxonomy.upstream
    keyed = declared is not None and declared.default == "idempotent"
    if not keyed:
        for path, code in live(taxonomy):
            if path[0] == "codes" and _blind(code):
                message = f"`{code.name}` may have taken effect, is retried, and nothing makes a second write safe"
                hint = "declare `idempotency:`, make `retriable` depend on `operation.idempotent`, or say `effect: none`"
                yield Remark(present(subject, path, "effect", "retriable"), message, hint)
    for operation in taxonomy.operations.values():
        if operation.idempotent is not False:
            continue
        for name, code in operation.errors.items():
            if _blind(code):
                at: Path = ("operations", operation.name, "errors", name)
                message = f"`{operation.name}` is not idempotent, and `{name}` may have taken effect and is retried"
                hint = "make `retriable` depend on `operation.idempotent`, or say `effect: none`"
                yield Remark(present(subject, at, "retriable", "client_action"), message, hint)


def _blind(code: Code) -> bool:
    return code.retryable and code.effect != "none" and not _withheld(code.retriable)


def _withheld(retriable: Retriable) -> bool:
    """Whether the flag is false, whatever else holds, for an operation that is not idempotent."""
    if retriable.kind == "never":
        return True
    for rule in retriable.rules:
        of_operations = [test for test in rule.when if test.fact == "operation.idempotent"]
        if not all(test.holds(False) for test in of_operations):
            continue
        if rule.then is not False:
            return False
        if of_operations == list(rule.when):
            return True
    return False


#: 4xx that say "later", so that sending the same again makes sense (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4).
_LATER = (408, 425, 429)


def retriable_status(subject: Subject) -> Iterator[Remark]:
    """The flag agrees with the status: 429 asks for another try, other 4xx say the same request fails again."""
    for path, code in live(subject.taxonomy):
        at = present(subject, path, "retriable", "client_action", "http")
        if code.http.allows(429) and code.retriable.kind == "never":
            message = f"`{code.name}` travels as 429, which asks the client to come back, and is not retriable"
            yield Remark(at, message, "make it retriable, or use 403 for a limit that never lifts")
        elif code.retriable.kind == "always":
            final = [
                str(s)
                for s in code.http.statuses
                if s.low >= 400 and s.high < 500 and s.low not in _LATER
            ]
            if final:
                message = f"`{code.name}` is retriable and travels as {', '.join(final)}, which blames the request"
                yield Remark(
                    at,
                    message,
                    "use 408, 429 or 503, or `client_action: refetch` with `retriable: caller`",
                )


#: Statuses of gRPC that say the same call fails again until something else changes (grpc/grpc, doc/statuscodes.md, which
#: has UNAVAILABLE alone for a call that is simply made again).
_FINAL = (
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)


def retriable_grpc_status(subject: Subject) -> Iterator[Remark]:
    """The flag agrees with the gRPC status: UNAVAILABLE asks for another try, others say the same call fails again."""
    for path, code in live(subject.taxonomy):
        if code.grpc == "UNAVAILABLE" and code.retriable.kind == "never":
            message = f"`{code.name}` travels as UNAVAILABLE, which asks for another try, and is not retriable"
            hint = "make it retriable, or use INTERNAL or FAILED_PRECONDITION"
        elif code.grpc in _FINAL and code.retriable.kind == "always":
            message = f"`{code.name}` is retriable and travels as {code.grpc}, which says that the same call fails again"
            hint = "use UNAVAILABLE, ABORTED or RESOURCE_EXHAUSTED, or make it `retriable: false`"
        else:
            continue
        yield Remark(present(subject, path, "retriable", "client_action", "on"), message, hint)


def retry_after_missing(subject: Subject) -> Iterator[Remark]:
    """Who is told 429 is told when to come back (RFC 6585 §4)."""
    taxonomy = subject.taxonomy
    for path, code in statuses_of(taxonomy, 429):
        rules = [
            rule for rule in taxonomy.header_rules(code, 429) if rule.name.lower() == "retry-after"
        ]
        if not any(rule.presence in ("required", "expected") for rule in rules):
            message = f"`{code.name}` travels as 429 without Retry-After"
            yield Remark(
                present(subject, path, "http"), message, "add `headers: {Retry-After: {on: 429}}`"
            )


def retry_after_ignored(subject: Subject) -> Iterator[Remark]:
    """A policy honours the Retry-After that its codes must carry."""
    taxonomy = subject.taxonomy
    for path, code in live(taxonomy):
        policy = taxonomy.retry_policies.get(code.retry or "")
        if policy is None or policy.policy.retry_after.honor or not code.http.statuses:
            continue
        required = any(
            rule.name.lower() == "retry-after"
            and rule.presence == "required"
            and rule.names(code.name)
            and all(map(rule.spans, code.http.all()))
            for rule in (*taxonomy.headers, *code.headers)
        )
        if required:
            message = f"`{code.name}` always carries Retry-After, and its policy `{policy.name}` ignores it"
            related = (("the policy is here", ("retry_policies", policy.name)),)
            yield Remark(
                (*path, "retry"),
                message,
                "add `retry_after: {honor: true}` to the policy",
                related=related,
            )


def policy_arithmetic(subject: Subject) -> Iterator[Remark]:
    """The numbers of a retry policy make sense together."""
    for name, each in subject.taxonomy.retry_policies.items():
        path: Path = ("retry_policies", name)
        data = subject.data["retry_policies"][name]
        backoff = data.get("backoff", [])
        written = backoff if isinstance(backoff, list) else [backoff]
        for index, (phase, keys) in enumerate(zip(each.policy.phases, written, strict=True)):
            at: Path = (
                (*path, "backoff", index) if isinstance(backoff, list) else (*path, "backoff")
            )
            if phase.max is not None and phase.max < phase.base:
                message = (
                    f"the longest delay, {phase.max:g} s, is below the first, {phase.base:g} s"
                )
                yield Remark((*at, "max"), message, "raise `max` or lower `base`", on_key=False)
            if phase.kind == "exponential" and phase.factor == 1:
                yield Remark(
                    (*at, "factor"),
                    "a factor of 1 makes no delay grow",
                    "write `kind: constant`",
                    on_key=False,
                )
            for key, wants in (("factor", "exponential"), ("step", "linear")):
                if key in keys and phase.kind != wants:
                    yield Remark(
                        (*at, key),
                        f"`{key}` means nothing to a {phase.kind} backoff",
                        f"remove it, or `kind: {wants}`",
                    )
            if (
                phase.kind != "constant"
                and phase.max is None
                and each.policy.max_elapsed is None
                and each.policy.max_attempts is None
            ):
                yield Remark(
                    at,
                    "these delays grow without end",
                    "add `max:`, `max_attempts:` or `max_elapsed:`",
                )
            if index == len(written) - 1 and "for" in keys:
                yield Remark(
                    (*at, "for"), "the last phase has no end, so `for` means nothing", "remove it"
                )
        yield from _never_reached(path, each.policy)
        yield from _jitter_and_budget(path, subject, name)


def _never_reached(path: Path, policy: Policy) -> Iterator[Remark]:
    """The first delay, and the phases, for which `max_elapsed` leaves no time."""
    most = policy.max_elapsed
    if most is None or not policy.phases:
        return
    if most < policy.phases[0].base:
        message = f"all is over after {most:g} s, before the first delay of {policy.phases[0].base:g} s: nothing is retried"
        yield Remark(
            (*path, "max_elapsed"), message, "raise `max_elapsed` or lower `base`", on_key=False
        )
    begins = 0.0
    for index, phase in enumerate(policy.phases):
        if index and begins >= most:
            message = f"this phase begins after {begins:g} s, and all is over after {most:g} s"
            yield Remark(
                (*path, "backoff", index),
                message,
                "raise `max_elapsed`, or shorten the phases above",
            )
        begins += phase.for_seconds or 0.0  # only the last has no end


def _jitter_and_budget(path: Path, subject: Subject, name: str) -> Iterator[Remark]:
    policy = subject.taxonomy.retry_policies[name].policy
    data = subject.data["retry_policies"][name]
    jitter = data.get("jitter", {})
    if "ratio" in jitter and policy.jitter.kind not in ("additive", "ratio"):
        message = f"`ratio` means nothing to `{policy.jitter.kind}` jitter"
        yield Remark((*path, "jitter", "ratio"), message, "remove it, or use `additive` or `ratio`")
    if "ratio" not in jitter and policy.jitter.kind in ("additive", "ratio"):
        yield Remark(
            (*path, "jitter"),
            f"`{policy.jitter.kind}` jitter without `ratio` spreads nothing",
            "add `ratio: 0.2`",
        )
    if policy.jitter.kind == "ratio" and policy.jitter.ratio > 1:
        message = "a ratio above 1 asks for delays below zero"
        yield Remark((*path, "jitter", "ratio"), message, "use at most 1", on_key=False)
    if policy.jitter.kind != "none" and not policy.phases:
        message = "there is no backoff, so there is no delay to spread: retries are sent at once"
        yield Remark((*path, "jitter"), message, "add `backoff:`, or remove `jitter:`")
    for key in data.get("retry_after", {}) if not policy.retry_after.honor else ():
        if key != "honor":
            message = f"`{key}` means nothing where Retry-After is not honoured"
            yield Remark((*path, "retry_after", key), message, "remove it, or write `honor: true`")
    if policy.max_attempts == 1 and policy.phases:
        message = "one attempt is no retry: the first request counts"
        yield Remark((*path, "max_attempts"), message, "for three retries write 4", on_key=False)
    if policy.budget is None:
        for kind, each in policy.kinds.items():
            if each.cost is not None:
                message = (
                    f"a retry of `{kind}` costs something, and there is no budget that pays for it"
                )
                yield Remark(
                    (*path, "kinds", kind, "cost"), message, "add `budget:`, or remove `cost:`"
                )
    if policy.budget is not None and policy.budget.cost > policy.budget.tokens:
        message = "a retry costs more than the bucket holds, so there is none"
        yield Remark(
            (*path, "budget", "cost"), message, "raise `tokens` or lower `cost`", on_key=False
        )


def example_contradicts_flag(subject: Subject) -> Iterator[Remark]:
    """The retry flag of an example is the one its code always has."""
    roles = subject.taxonomy.flag_keys
    for path, code in codes(subject.taxonomy):
        for index, example in enumerate(code.examples):
            possible = _flags(code.retriable, example)
            if len(possible) != 1:
                continue
            (expected,) = possible
            at = example_path(subject, path, index)
            shown: list[tuple[Path, object]] = [
                ((*at, "slots", "retriable"), example.slots.get("retriable"))
            ]
            shown += [((*at, "details", role), (example.details or {}).get(role)) for role in roles]
            for where, flag in shown:
                if isinstance(flag, bool) and flag is not expected:
                    said = "retriable" if expected else "not retriable"
                    said += " with these details" if code.retriable.kind == "conditional" else ""
                    message = f"the example says {str(flag).lower()}, and `{code.name}` is {said}"
                    yield Remark(
                        where,
                        message,
                        "change the example, or make the code `retriable: caller`",
                        on_key=False,
                    )


def _flags(retriable: Retriable, example: Example) -> set[bool]:
    """The flags that the code may have in an example, of which only the details and the status are known."""
    if retriable.kind in ("always", "never"):
        return {retriable.kind == "always"}
    found: set[bool] = set() if retriable.kind == "conditional" else {True, False}
    details = example.details or {}
    for rule in retriable.rules:
        known = {f"details.{key}": value for key, value in details.items()}
        known |= {"status": example.status} if example.status is not None else {}
        if any(test.fact in known and not test.holds(known[test.fact]) for test in rule.when):
            continue
        found.add(rule.then is True)
        if all(test.fact in known for test in rule.when):
            break
    return found


def retriable_without_else(subject: Subject) -> Iterator[Remark]:
    """A flag that goes by rules says what it is where none of them holds."""
    for path, code in codes(subject.taxonomy):
        written = places_at(subject, (*path, "retriable"))
        if isinstance(written, dict) and written.get("when") and "else" not in written:
            message = f"nothing says whether `{code.name}` is retriable where no rule holds"
            yield Remark((*path, "retriable"), message, "add `else: true` or `else: false`")


def retriable_without_action(subject: Subject) -> Iterator[Remark]:
    """What may be sent again suggests an action that does so, where actions say that they do."""
    again = subject.taxonomy.sending_again
    if not again:
        return
    for path, code in live(subject.taxonomy):
        told = code.retriable.kind in ("always", "conditional", "caller")
        if told and code.actions and not set(code.actions) & {*again, code.retriable.until}:
            message = (
                f"`{code.name}` may be retriable, and none of its actions sends again what failed"
            )
            yield Remark(
                (*path, "actions"), message, f"add {' or '.join(f'`{each}`' for each in again)}"
            )


def eligible_never_retriable(subject: Subject) -> Iterator[Remark]:
    """A policy retries no code of which its own flag says that it is never to be retried."""
    flags = {code.name: code.retriable.kind for _, code in codes(subject.taxonomy)}
    for name, policy in subject.taxonomy.retry_policies.items():
        for index, code in enumerate(policy.eligible):
            if flags[code] == "never":
                message = f"`{name}` retries `{code}`, which is never retriable"
                hint = "take it off the list, or make `retriable` say when"
                yield Remark(
                    ("retry_policies", name, "eligible", index), message, hint, on_key=False
                )


def mismatch_retriable(subject: Subject) -> Iterator[Remark]:
    """Who is told that one key came with two bodies is not told to send the same again: it never succeeds."""
    idempotency = subject.taxonomy.idempotency
    code = subject.taxonomy.codes.get((idempotency.mismatch if idempotency else None) or "")
    if code is not None and (code.retriable.kind == "always" or code.retryable):
        message = (
            f"`{code.name}` is retriable, and the same body under the same key is refused each time"
        )
        hint = "name a code that is not retriable, or give the mismatch one of its own"
        related = ((f"`{code.name}` is here", ("codes", code.name)),)
        yield Remark(("idempotency", "mismatch"), message, hint, on_key=False, related=related)


def unknown_contradicts_flag(subject: Subject) -> Iterator[Remark]:
    """What an unknown or undeclared error becomes is not said to be retriable where its code never is."""
    for section, rule in (
        ("unknown", subject.taxonomy.unknown),
        ("undeclared", subject.taxonomy.undeclared),
    ):
        code = (
            subject.taxonomy.codes.get(rule.becomes)
            if rule is not None and rule.retriable
            else None
        )
        if code is not None and code.retriable.kind == "never":
            message = f"it is retriable here, and `{code.name}`, which it becomes, never is"
            hint = "write `retriable: false`, or let it become another code"
            related = ((f"`{code.name}` is here", ("codes", code.name)),)
            yield Remark((section, "retriable"), message, hint, on_key=False, related=related)


def retriable_not_eligible(subject: Subject) -> Iterator[Remark]:
    """What may be retriable and is not retried by the policy it belongs to is left out on purpose, and that is said."""
    taxonomy = subject.taxonomy
    for name, policy in taxonomy.retry_policies.items():
        if not policy.eligible:
            continue
        everything = taxonomy.upstream is not None and taxonomy.upstream.retry == name
        left = [
            f"`{code.name}`"
            for _, code in live(taxonomy)
            if code.name not in policy.eligible
            and code.retriable.kind in ("always", "caller", "conditional")
            and (everything or code.retry == name)
        ]
        if left:
            message = f"{', '.join(left)} may be retriable, and `{name}` never retries {'it' if len(left) == 1 else 'them'}"
            hint = "add what is missing to the list, or suppress this with the reason why flag and list differ"
            yield Remark(("retry_policies", name, "eligible"), message, hint)


def annotated_count(subject: Subject) -> Iterator[Remark]:
    """Retries are one fewer than attempts, and the detail that counts them, which a code has, goes exactly so far."""
    taxonomy = subject.taxonomy
    for policy in taxonomy.retry_policies.values():
        key, most = policy.annotate, policy.policy.max_attempts
        if key is None or most is None:
            continue
        hint = f"`max_attempts` counts the first request too: for {most} retries write {most + 1}"
        registered = taxonomy.detail_keys.get(key)
        if (
            registered is not None
            and registered.schema.types
            and not {"integer", "number"} & {*registered.schema.types}
        ):
            message = f"`{policy.name}` counts its retries in `{key}`, which is {' or '.join(registered.schema.types)}"
            at = present(subject, ("detail_keys", key), "type")
            yield Remark(at, message, "make it `type: integer`, or name another key", on_key=False)
        met = codes_of_policy(taxonomy, policy)
        most_of_all = max((each or math.inf) for each in _attempts(taxonomy, key))
        for at, counted in _maxima(subject, key, met):
            if counted < most - 1 or counted >= most_of_all:
                message = f"`{key}` counts up to {counted:g} retries, and `{policy.name}` makes {most - 1}"
                hint = f"`max_attempts` counts the first request too: for {counted:g} retries write {counted + 1:g}"
                yield Remark((*at, "maximum"), message, hint, on_key=False)
        if met and not any(_counts(each, key, taxonomy) for each in met):
            message = f"`{policy.name}` counts its retries in `{key}`, which none of its codes has"
            hint_of_key = f"declare `details: {{{key}?: {{}}}}` with a code of the policy, or name another key"
            yield Remark(
                ("retry_policies", policy.name, "annotate"), message, hint_of_key, on_key=False
            )
        for path, code in live(taxonomy):
            for index, example in enumerate(code.examples):
                count = (example.details or {}).get(key)
                if isinstance(count, int) and not isinstance(count, bool) and count >= most:
                    message = f"the example was retried {count} times, and `{policy.name}` retries {most - 1} times"
                    at = (*example_path(subject, path, index), "details", key)
                    yield Remark(at, message, hint, on_key=False)


def _attempts(taxonomy: Taxonomy, key: str) -> list[int | None]:
    """How often those policies send a request that count in one detail; several may."""
    return [
        policy.policy.max_attempts
        for policy in taxonomy.retry_policies.values()
        if policy.annotate == key
    ]


def _maxima(subject: Subject, key: str, met: tuple[Code, ...]) -> Iterator[tuple[Path, float]]:
    """How far a detail goes, where it is registered and where codes say so of their own."""
    registered = subject.taxonomy.detail_keys.get(key)
    if registered is not None and registered.schema.maximum is not None:
        yield ("detail_keys", key), registered.schema.maximum
    for path, code in live(subject.taxonomy):
        at = present(subject, (*path, "details"), key, f"{key}?")
        maximum = code.details[key].schema.maximum if key in code.details else None
        if code in met and maximum is not None and places_at(subject, (*at, "maximum")) == maximum:
            yield at, maximum


def _counts(code: Code, key: str, taxonomy: Taxonomy) -> bool:
    """Whether a code may have the detail; an imported schema may name it where nobody here can tell."""
    registered = taxonomy.detail_keys.get(key)
    return (
        key in code.details
        or code.details_schema is not None
        or (registered is not None and registered.everywhere)
    )


def deadline_detail(subject: Subject) -> Iterator[Remark]:
    """The detail that holds a budget is always there, and is a number of seconds."""
    for path, code in codes(subject.taxonomy):
        member = code.details.get(code.deadline.detail) if code.deadline else None
        if code.deadline is None:
            continue
        if member is None or member.presence != "required":
            problem = "need not be there"
        elif member.schema.types and not set(member.schema.types) <= {"integer", "number"}:
            problem = f"is {' or '.join(member.schema.types)}, no number of seconds"
        else:
            continue
        message = f"the budget is in `details.{code.deadline.detail}`, which {problem}"
        hint = f"declare `details: {{{code.deadline.detail}: {{type: number}}}}`"
        yield Remark((*path, "deadline", "equals"), message, hint, on_key=False)
