"""Lint rules about retry policies: their numbers, and the codes that they retry."""

import math
from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.model import Code, RetryPolicy
from faultspec.lint.places import codes_of_policy, http_surfaces_of, may_have_detail
from faultspec.lint.rule import Remark, Subject, rule
from faultspec.runtime.retry import Policy


@rule("retry-without-policy", severity="warning")
def retry_without_policy(subject: Subject) -> Iterator[Remark]:
    """If retry policies are declared, every code that clients retry has one.

    Bad::

        retry_policies:
          patient: {max_attempts: 4, backoff: {kind: exponential, base: 1s}}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true}

    Good::

        retry_policies:
          patient: {max_attempts: 4, backoff: {kind: exponential, base: 1s}}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true, retry: patient}
    """
    policies = subject.taxonomy.retry_policies
    eligible = {name for policy in policies.values() for name in policy.eligible}
    for path, code in subject.live_codes() if policies else ():
        if code.retryable and code.retry is None and code.name not in eligible:
            where = subject.first_written(path, "client_action", "retriable")
            message = f"clients retry `{code.name}`, but it has no retry policy"
            names = ", ".join(policies)
            several = f"add `retry:` with one of these: {names}"
            yield Remark(where, message, several if len(policies) > 1 else f"add `retry: {names}`")


@rule("policy-without-retry", severity="warning")
def policy_without_retry(subject: Subject) -> Iterator[Remark]:
    """A code that names a retry policy is one that clients retry.

    Bad::

        retry_policies:
          patient: {max_attempts: 4, backoff: {kind: exponential, base: 1s}}
        codes:
          refused: {summary: It was refused., http: 400, retriable: false, retry: patient}

    Good::

        codes:
          refused: {summary: It was refused., http: 400, retriable: false}
    """
    for path, code in subject.codes():
        never = not (code.retriable.may_be_retried or code.retryable)
        if code.retry is not None and never:
            message = f"`{code.name}` names the policy `{code.retry}`, but clients do not retry it"
            yield Remark((*path, "retry"), message, "remove `retry:`, or make the code retriable")


@rule("policy-arithmetic", severity="error", local=True)
def policy_arithmetic(subject: Subject) -> Iterator[Remark]:
    """The settings of a retry policy have an effect and do not contradict each other.

    Bad::

        retry_policies:
          odd: {max_attempts: 4, backoff: {kind: exponential, base: 10s, max: 5s}}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true, retry: odd}

    Good::

        retry_policies:
          even: {max_attempts: 4, backoff: {kind: exponential, base: 5s, max: 10s}}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true, retry: even}
    """
    for name, declared in subject.taxonomy.retry_policies.items():
        path: Path = ("retry_policies", name)
        written, policy = subject.mapping_at(*path), declared.policy
        yield from _backoff(subject, path, policy)
        yield from _unreachable_phases(path, policy)
        yield from _jitter(path, policy, "ratio" in written.get("jitter", {}))
        yield from _costs(path, policy)
        if not policy.retry_after.honor:
            for key in written.get("retry_after", {}).keys() - {"honor"}:
                message = f"`{key}` has no effect, because Retry-After is not honoured"
                hint = "remove it, or write `honor: true`"
                yield Remark((*path, "retry_after", key), message, hint)
        if policy.max_attempts == 1 and policy.phases:
            message = "one attempt means no retry, because the first request counts"
            hint = "for three retries write 4"
            yield Remark((*path, "max_attempts"), message, hint, on_key=False)


def _backoff(subject: Subject, path: Path, policy: Policy) -> Iterator[Remark]:
    """Remarks on single phases."""
    path = (*path, "backoff")
    written = subject.value_at(path)
    listed = written if isinstance(written, list) else [written] if written else []
    endless = policy.max_attempts is None and policy.max_elapsed is None
    for index, (phase, keys) in enumerate(zip(policy.phases, listed, strict=True)):
        here: Path = (*path, index) if isinstance(written, list) else path
        if phase.max is not None and phase.max < phase.base:
            message = f"the longest delay, {phase.max:g} s, is below the first, {phase.base:g} s"
            yield Remark((*here, "max"), message, "raise `max` or lower `base`", on_key=False)
        if phase.kind == "exponential" and phase.factor == 1:
            message = "delays do not grow with a factor of 1"
            yield Remark((*here, "factor"), message, "write `kind: constant`", on_key=False)
        for key, kind in (("factor", "exponential"), ("step", "linear")):
            if key in keys and phase.kind != kind:
                message = f"`{key}` has no effect in a {phase.kind} backoff"
                yield Remark((*here, key), message, f"remove it, or write `kind: {kind}`")
        if phase.kind != "constant" and phase.max is None and endless:
            hint = "add `max:`, `max_attempts:` or `max_elapsed:`"
            yield Remark(here, "these delays grow without limit", hint)
        if index == len(listed) - 1 and "for" in keys:
            message = "`for` has no effect in the last phase, which has no end"
            yield Remark((*here, "for"), message, "remove it")


def _unreachable_phases(path: Path, policy: Policy) -> Iterator[Remark]:
    """Remarks on the first delay and on phases that `max_elapsed` cuts off."""
    limit = policy.max_elapsed
    if limit is None or not policy.phases:
        return
    first = policy.phases[0].base
    if limit < first:
        message = (
            f"`max_elapsed`, {limit:g} s, ends before the first delay of {first:g} s: no retry"
        )
        hint = "raise `max_elapsed` or lower `base`"
        yield Remark((*path, "max_elapsed"), message, hint, on_key=False)
    begin = 0.0
    for index, phase in enumerate(policy.phases):
        if index and begin >= limit:
            message = f"this phase begins after {begin:g} s, but `max_elapsed` is {limit:g} s"
            hint = "raise `max_elapsed`, or shorten the phases above"
            yield Remark((*path, "backoff", index), message, hint)
        begin += phase.for_seconds or 0.0  # only the last phase has no end


def _jitter(path: Path, policy: Policy, has_ratio: bool) -> Iterator[Remark]:
    path = (*path, "jitter")
    jitter = policy.jitter
    takes_ratio = jitter.kind in ("additive", "ratio")
    if has_ratio and not takes_ratio:
        message = f"`ratio` has no effect in `{jitter.kind}` jitter"
        yield Remark((*path, "ratio"), message, "remove it, or use `additive` or `ratio`")
    if takes_ratio and not has_ratio:
        message = f"`{jitter.kind}` jitter without `ratio` does not spread delays"
        yield Remark(path, message, "add `ratio: 0.2`")
    if jitter.kind == "ratio" and jitter.ratio > 1:
        message = "a ratio above 1 gives delays below zero"
        yield Remark((*path, "ratio"), message, "use at most 1", on_key=False)
    if jitter.kind != "none" and not policy.phases:
        message = "jitter has no effect without a backoff: retries are sent at once"
        yield Remark(path, message, "add `backoff:`, or remove `jitter:`")


def _costs(path: Path, policy: Policy) -> Iterator[Remark]:
    if policy.budget is None:
        for kind, settings in policy.kinds.items():
            if settings.cost is not None:
                message = f"the cost of `{kind}` has no effect without a budget"
                hint = "add `budget:`, or remove `cost:`"
                yield Remark((*path, "kinds", kind, "cost"), message, hint)
    elif policy.budget.cost > policy.budget.tokens:
        message = "a retry costs more tokens than the budget holds, so there is no retry"
        hint = "raise `tokens` or lower `cost`"
        yield Remark((*path, "budget", "cost"), message, hint, on_key=False)


@rule("retry-after-ignored", severity="warning")
def retry_after_ignored(subject: Subject) -> Iterator[Remark]:
    """A retry policy honours the `Retry-After` that its codes require.

    Bad::

        headers:
          Retry-After: {on: 429}
        retry_policies:
          hasty: {max_attempts: 4, backoff: {kind: constant, base: 1s}}
        codes:
          limited: {summary: Too many requests., http: 429, retriable: true, retry: hasty}

    Good::

        headers:
          Retry-After: {on: 429}
        retry_policies:
          polite: {max_attempts: 4, backoff: {kind: constant, base: 1s}, retry_after: {honor: true}}
        codes:
          limited: {summary: Too many requests., http: 429, retriable: true, retry: polite}
    """
    taxonomy = subject.taxonomy
    for path, code in subject.live_codes():
        policy = taxonomy.retry_policies.get(code.retry or "")
        if policy is None or policy.policy.retry_after.honor or not code.http.statuses:
            continue
        there = http_surfaces_of(taxonomy, path, code)
        of_surfaces = (rule for surface in there if surface is not None for rule in surface.headers)
        required = any(
            header.name.lower() == "retry-after"
            and header.presence == "required"
            and header.names(code.name)
            and all(map(header.spans, code.http.allowed_statuses()))
            for header in (*taxonomy.headers, *of_surfaces, *code.headers)
        )
        if required:
            message = (
                f"`{code.name}` requires Retry-After, but its policy `{policy.name}` ignores it"
            )
            hint = "add `retry_after: {honor: true}` to the policy"
            related = (("the policy is here", ("retry_policies", policy.name)),)
            yield Remark((*path, "retry"), message, hint, related=related)


@rule("eligible-never-retriable", severity="warning")
def eligible_never_retriable(subject: Subject) -> Iterator[Remark]:
    """A retry policy lists no code that is never retriable.

    Bad::

        retry_policies:
          own: {max_attempts: 4, eligible: [refused]}
        codes:
          refused: {summary: It was refused., http: 400, retriable: false}

    Good::

        retry_policies:
          own: {max_attempts: 4, eligible: [busy]}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true}
    """
    flags = {code.name: code.retriable.fixed for _, code in subject.codes()}
    for name, policy in subject.taxonomy.retry_policies.items():
        for index, code in enumerate(policy.eligible):
            if flags[code] is False:
                message = f"`{name}` retries `{code}`, which is never retriable"
                hint = "remove it from the list, or write in `retriable` when it is"
                path: Path = ("retry_policies", name, "eligible", index)
                yield Remark(path, message, hint, on_key=False)


@rule("retriable-not-eligible", severity="warning")
def retriable_not_eligible(subject: Subject) -> Iterator[Remark]:
    """The `eligible` list of a retry policy contains every retriable code that names the policy.
    That of the policy of `upstream` also contains retriable codes that name none.

    Bad::

        retry_policies:
          own: {max_attempts: 4, eligible: [busy]}
        upstream: {retry: own, keys: [Idempotency-Key]}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true}
          away: {summary: Nobody is there., http: 503, retriable: true}

    Good::

        retry_policies:
          own: {max_attempts: 4, eligible: [busy, away]}
        upstream: {retry: own, keys: [Idempotency-Key]}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true}
          away: {summary: Nobody is there., http: 503, retriable: true}
    """
    for name, policy in subject.taxonomy.retry_policies.items():
        if not policy.eligible:
            continue
        missing = [
            f"`{code.name}`"
            for code in codes_of_policy(subject.taxonomy, policy._replace(eligible=()))
            if code.name not in policy.eligible and code.retriable.may_be_retried
            if code.retry in (None, name)  # another policy says how clients of this one retry
        ]
        if missing:
            pronoun = "it" if len(missing) == 1 else "them"
            message = f"{', '.join(missing)} may be retriable, but `{name}` never retries {pronoun}"
            hint = f"add {pronoun} to the list, or suppress this and say why flag and list differ"
            yield Remark(("retry_policies", name, "eligible"), message, hint)


@rule("annotated-count", severity="error")
def annotated_count(subject: Subject) -> Iterator[Remark]:
    """The detail that counts the retries of a policy is an integer that one of its codes has. Its
    maximum is the number of retries, which is `max_attempts` minus one.

    Bad::

        detail_keys:
          retried: {type: integer}
        retry_policies:
          own: {max_attempts: 3, annotate: retried}
        codes:
          busy:
            summary: Too much to do.
            http: 503
            retriable: true
            retry: own
            details: {retried?: {}}
            example: {details: {retried: 3}}

    Good::

        detail_keys:
          retried: {type: integer}
        retry_policies:
          own: {max_attempts: 4, annotate: retried}
        codes:
          busy:
            summary: Too much to do.
            http: 503
            retriable: true
            retry: own
            details: {retried?: {}}
            example: {details: {retried: 3}}
    """
    for policy in subject.taxonomy.retry_policies.values():
        if policy.annotate is not None and policy.policy.max_attempts is not None:
            retries = policy.policy.max_attempts - 1
            yield from _counter_type(subject, policy, policy.annotate)
            yield from _counter_maximum(subject, policy, policy.annotate, retries)
            yield from _counter_missing(subject, policy, policy.annotate)
            yield from _counter_examples(subject, policy, policy.annotate, retries)


def _counter_type(subject: Subject, policy: RetryPolicy, key: str) -> Iterator[Remark]:
    registered = subject.taxonomy.detail_keys.get(key)
    types = registered.schema.types if registered is not None else ()
    if types and not {"integer", "number"} & {*types}:
        message = f"`{policy.name}` counts retries in `{key}`, which is {' or '.join(types)}"
        where = subject.first_written(("detail_keys", key), "type")
        hint = "make it `type: integer`, or name another key"
        yield Remark(where, message, hint, on_key=False)


def _counter_maximum(
    subject: Subject, policy: RetryPolicy, key: str, retries: int
) -> Iterator[Remark]:
    policies = subject.taxonomy.retry_policies.values()
    limits = [other.policy.max_attempts or math.inf for other in policies if other.annotate == key]
    for path, maximum in _maxima(subject, key, codes_of_policy(subject.taxonomy, policy)):
        # Another policy with the same counter may retry more often.
        if maximum < retries or maximum >= max(limits):
            message = (
                f"`{key}` counts up to {maximum:g} retries, but `{policy.name}` makes {retries}"
            )
            hint = _attempts_hint(maximum)
            yield Remark((*path, "maximum"), message, hint, on_key=False)


def _attempts_hint(retries: float) -> str:
    return (
        f"`max_attempts` includes the first request: for {retries:g} retries write {retries + 1:g}"
    )


def _maxima(subject: Subject, key: str, codes: tuple[Code, ...]) -> Iterator[tuple[Path, float]]:
    """The maximum of a detail key, in the registry and in each code that declares its own."""
    registered = subject.taxonomy.detail_keys.get(key)
    if registered is not None and registered.schema.maximum is not None:
        yield ("detail_keys", key), registered.schema.maximum
    for path, code in subject.live_codes():
        if code in codes and key in code.details:
            here = subject.member_path((*path, "details"), key)
            maximum = code.details[key].schema.maximum
            if maximum is not None and subject.value_at((*here, "maximum")) == maximum:
                yield here, maximum


def _counter_missing(subject: Subject, policy: RetryPolicy, key: str) -> Iterator[Remark]:
    taxonomy = subject.taxonomy
    codes = codes_of_policy(taxonomy, policy)
    if codes and not any(may_have_detail(taxonomy, code, key) for code in codes):
        message = f"`{policy.name}` counts retries in `{key}`, which none of its codes has"
        hint = f"declare `details: {{{key}?: {{}}}}` in a code of the policy, or name another key"
        yield Remark(("retry_policies", policy.name, "annotate"), message, hint, on_key=False)


def _counter_examples(
    subject: Subject, policy: RetryPolicy, key: str, retries: int
) -> Iterator[Remark]:
    for path, code in subject.live_codes():
        for where, example in subject.examples(path, code):
            count = (example.details or {}).get(key)
            if isinstance(count, int) and not isinstance(count, bool) and count > retries:
                message = f"the example counts {count} retries, but `{policy.name}` makes {retries}"
                hint = _attempts_hint(retries + 1)
                yield Remark((*where, "details", key), message, hint, on_key=False)


@rule("upstream-without-key", severity="warning")
def upstream_without_key(subject: Subject) -> Iterator[Remark]:
    """If calls to upstream services are retried, they carry an idempotency key or are not writes.

    Bad::

        retry_policies:
          own: {max_attempts: 4}
        upstream: {retry: own}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true, retry: own}

    Good::

        retry_policies:
          own: {max_attempts: 4}
        upstream: {retry: own, keys: [Idempotency-Key]}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: true, retry: own}
    """
    upstream = subject.taxonomy.upstream
    if upstream is None or not upstream.retry or upstream.keys:
        return
    if upstream.default != "not_idempotent":
        message = "calls are retried without a key that marks a repeated call as the same"
        hint = "add `keys:`, or `default: not_idempotent`"
        yield Remark(("upstream", "retry"), message, hint)
