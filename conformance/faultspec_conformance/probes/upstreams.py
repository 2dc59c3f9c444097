"""How the service retries: a scripted upstream that fails counts and times its requests.

The service should do what the retry planner does by the policy under `upstream:` of the taxonomy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile
from statistics import median

from faultspec.contract.clauses import upstream_policy
from faultspec.contract.crashes import crash_level
from faultspec.exchange.finding import Finding, Level
from faultspec.exchange.model import Exchange, Response, first_header
from faultspec.language.conditions import ConditionFacts, tested_facts
from faultspec.language.model import Code, Idempotency, RetryPolicy
from faultspec.runtime.retry import Failure, scale_policy
from faultspec_conformance.config import (
    ABSENT,
    NOBODY,
    Behaviour,
    UpstreamCall,
    UpstreamFailure,
)
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.faults.jitter import (
    ROUNDS,
    Wait,
    are_tellable,
    band_positions,
    explain_hidden_delays,
    judge_jitter,
    suffice,
)
from faultspec_conformance.faults.retry_observer import (
    Kind,
    Try,
    observe_retries,
)
from faultspec_conformance.probes.failed_effects import (
    REFUSED,
    has_no_effect,
    readable_target,
)
from faultspec_conformance.probes.upstream_caller import UpstreamCaller
from faultspec_conformance.probes.upstream_healing import HEALS, Healing
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.attendance import HEADERS, ONCE
from faultspec_conformance.session.declared_facts import may_be_repeated
from faultspec_conformance.session.fixtures import CONFLICT, create_named
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import documents_key, key_of, new_key, set_key, takes_key
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    error_details,
    failed,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import (
    FINE,
    STALLING,
    ScriptedUpstream,
    UpstreamRequest,
)

CLAUSES = (
    "upstream/attempts",
    "upstream/delays",
    "upstream/jitter",
    "upstream/not-eligible",
    "upstream/unsafe",
    "upstream/key",
    "upstream/recovers",
    HEALS,
    REFUSED,
    "upstream/surfaces",
    "upstream/stops",
    "upstream/retried",
    "upstream/status",
    ONCE,
    HEADERS,
)

#: The clause that each breach of a policy breaks.
_OF: Mapping[Kind, str] = {
    "ineligible": "upstream/not-eligible",
    "unsafe": "upstream/unsafe",
    "attempts": "upstream/attempts",
    "abandoned": "upstream/attempts",
    "early": "upstream/delays",
    "hint": "upstream/delays",
    "late": "upstream/delays",
}

#: Breaches of one clause that are mistakes of their own. The others have the fingerprint of the
#: clause alone.
_VARIANTS: Mapping[Kind, str] = {"abandoned": "abandoned", "hint": "hint", "late": "late"}

#: The detail with the upstream's status, if a code declares it and the taxonomy names no other
#: detail.
_STATUS = "status"

#: Statuses by class that rules about classes cover, and that services forget. Of each class the
#: first are tried.
_SAMPLES: Mapping[str, tuple[int, ...]] = {
    "4xx": (408, 425, 423, 400),
    "5xx": (500, 502, 504),
}

#: Statuses that are tried of a class that the configuration names.
_OF_CLASS = 5

#: Statuses that are tried of a class of which the configuration names some. A 5xx is mostly
#: retried, which takes time.
_OF_RULES: Mapping[str, int] = {"4xx": 2, "5xx": 1}

#: Bodies of a 200 that cannot be used.
_GARBAGE: tuple[Behaviour, ...] = ("truncated", "html", "empty", "mistyped")

#: Later calls of a request that makes several, of which each fails once.
_LATER = 3

#: Seconds without a call upstream after which an unanswered request is over, and how often that is
#: looked for.
_QUIET, _LOOKS = 2.0, 5

#: Statuses of a request that the state of the item that it concerns does not allow.
_OF_THE_ITEM = frozenset({404, CONFLICT, 410, 412})

#: Seconds of a `Retry-After` from upstream: the shortest wait that a clock can tell from none.
_WAIT = 1


def retries(session: HttpSession) -> Iterator[ProbeResult]:
    """Make every call of every upstream, with every failure of it."""
    policy = upstream_policy(session.taxonomy)
    if policy is None:
        return
    for upstream in session.upstreams.values():
        for index, call in enumerate(upstream.config.calls):
            calls = (*(step.call for step in call.before), call.call)
            problems = (create_named(session, one) for one in calls)
            problem = next((one for one in problems if one is not None), None)
            watch = _UpstreamWatch(session, policy, upstream, call)
            problem = problem or watch.prepare()
            if problem is not None:
                yield from (Outcome(clause, "could_not_run", problem) for clause in CLAUSES)
                continue
            yield from attempt(watch.outcomes(is_first=index == 0), *CLAUSES)
        upstream.script(FINE)  # later requests meet an upstream that answers well


class _UpstreamWatch(UpstreamCaller):
    """One call of the service, and the requests that it sends to one upstream for it."""

    def __init__(
        self,
        session: HttpSession,
        policy: RetryPolicy,
        upstream: ScriptedUpstream,
        call: UpstreamCall,
    ) -> None:
        super().__init__(session, upstream, call)
        self.policy = policy
        self.declared = session.taxonomy.upstream
        self.idempotent = may_be_repeated(call, session.taxonomy)
        self.scaled = scale_policy(policy.policy, upstream.config.scale)
        self.waits: list[Wait] = []
        self.witness: Observation | None = None
        self.punctual = True
        self.intents: dict[str, Observation] = {}
        self.later: list[int] = []
        self.repeatable = False
        self.compared: set[str | None] = set()
        self.unmet: dict[str, str] = {}

    def outcomes(self, *, is_first: bool) -> Iterator[ProbeResult]:
        """Make the call with each failure. ``is_first``: also with failures that the configuration
        does not name.
        """
        yield from self.check_counts()
        retried: UpstreamFailure | None = None
        known: list[tuple[bool, Code, UpstreamFailure]] = []
        healing = Healing(self.session, self.upstream, self.request, self.repeatable)
        for name, failure in self.failures(sampled=is_first):
            spec = self.keyed_request()
            target = readable_target(self.session, spec) if self.reads_effect(name) else None
            before = target.show() if target is not None else []
            found = self.provoke_in_time(failure, spec)
            if isinstance(found, Outcome):
                yield found
                continue
            answer, requests = found
            if not any(request.behaviour == failure.answer for request in requests):
                yield self.explain_missing(failure, answer, requests, is_named=name is not None)
                continue
            name = self.name_of(answer) if name is None else name
            if name is None:
                reason = f"{self.where(failure.answer)}, and the service answered {answer}"
                yield not_exercised("upstream/attempts", reason)
                continue
            code = self.code(name, answer)
            yield from self.check_failure(code, failure.answer, answer, requests)
            if target is not None:
                self.compared.add(name)
                yield target.judge(before, answer)
            yield from healing.outcomes(answer, spec, self.where(failure.answer))
            if failure.answer in STALLING:
                continue
            eligible = self.is_eligible(code, failure.answer, answer, idempotent=self.idempotent)
            if failure == UpstreamFailure(failure.answer):
                known.append((eligible is not False, code, failure))
            if retried is None and eligible:
                retried = failure
        if known:
            # What is not retried takes the least time.
            _, code, failure = min(known, key=lambda entry: entry[0])
            yield from self.check_later_calls(code, failure)
        if is_first:
            yield from self.check_garbage()
        if retried is not None and self.idempotent:
            yield from self.check_recovery(retried)
            yield from self.check_waits(retried)

    def failures(self, *, sampled: bool) -> Iterator[tuple[str | None, UpstreamFailure]]:
        """Yield the failures with their codes: those of the configuration, each class as several
        statuses; then statuses that the rules of the policy mean, whose code the answer tells.
        """
        named: set[object] = set()
        for name, failure in self.upstream.config.fails:
            if failure.answer not in ("4xx", "5xx"):
                named.add(failure.answer)
                yield name, failure
                continue
            for status in self.class_statuses(str(failure.answer))[:_OF_CLASS]:
                named.add(status)
                yield name, replace(failure, answer=status)
        for known in _SAMPLES if sampled else ():
            of_class = {status // 100 for status in named if isinstance(status, int)}
            if int(known[0]) in of_class:
                others = [status for status in self.class_statuses(known) if status not in named]
                yield from (
                    (None, UpstreamFailure(status)) for status in others[: _OF_RULES[known]]
                )

    def class_statuses(self, known: str) -> list[int]:
        """Return statuses of a class: those that services forget, then those that rules name."""
        tests = (test for rule in self.policy.eligible_when for test in rule.when)
        values = [value for test in tests for value in test.values if isinstance(value, int)]
        explicit = [value for value in values if value // 100 == int(known[0])]
        return list(dict.fromkeys((*_SAMPLES[known], *explicit)))

    def reads_effect(self, name: str | None) -> bool:
        """Whether the effect of a failure is read: once for each code that has none."""
        return name not in self.compared and has_no_effect(self.session, name)

    def keyed_request(self) -> RequestSpec:
        """Return the request, under a new idempotency key if refusals are retried under it."""
        spec = self.request()
        rule = self._rule_of(spec)
        keyed = rule is not None and rule.refusals == "retried" and spec.method in rule.methods
        if rule is None or not keyed or self.session.knowledge.keyless or key_of(rule, spec):
            return spec
        return self._renew_key(rule, spec)

    def _rule_of(self, spec: RequestSpec) -> Idempotency | None:
        return self.session.key_rule(self.session.operation(spec.method, spec.path))

    def _renew_key(self, rule: Idempotency, spec: RequestSpec) -> RequestSpec:
        operation = self.session.operation(spec.method, spec.path)
        if rule.key.kind != "header" and not takes_key(self.session, operation):
            return spec
        return set_key(rule, spec, new_key(self.session, operation))

    def explain_missing(
        self,
        failure: UpstreamFailure,
        answer: Observation,
        requests: Sequence[UpstreamRequest],
        *,
        is_named: bool,
    ) -> Outcome:
        """Return the outcome of a failure that no call met.

        The configuration asks for the failures that it names, unless only some calls meet them.
        """
        missing = "a call upstream" if not requests else "one that fails"
        line = f"the service answered {answer} to {answer.exchange.operation} without {missing}"
        if requests or not is_named or failure.path != "*" or failure.after:
            return not_exercised("upstream/attempts", line)
        reason = f"{self.upstream.config.name} was to fail ({failure.answer}), but {line}"
        # Without a call no failure is met; one of them tells it.
        reason = self.unmet.setdefault(line, reason)
        return Outcome("upstream/surfaces", "could_not_run", reason)

    def provoke_in_time(
        self, failure: UpstreamFailure, spec: RequestSpec
    ) -> tuple[Observation, list[UpstreamRequest]] | Outcome:
        """Make the service call the upstream, which fails; if no answer comes while the upstream
        stalls, return that failure.
        """
        driver = self.session.driver
        before = driver.timeout
        driver.timeout = failure.within or before
        try:
            return self.provoke(failure, spec=spec)
        except Unanswered as error:
            stalls = failure.answer in STALLING and self.upstream.calls
            if not stalls or error.no_answer.kind not in ("timeout", "closed", "garbled"):
                raise
            message = (
                f"{self.where(failure.answer)}, and the service gave no answer: "
                f"{error.no_answer.reason}; expected an answer with a code"
            )
            asked = Exchange(error.no_answer.request, Response(None), operation=spec.operation)
            finding = Finding(
                "upstream/surfaces",
                message,
                operation=spec.operation,
                evidence=(asked,),
                variant="no-answer",
            )
            self.wait_for_quiet()
            return Outcome("upstream/surfaces", "failed", finding=finding)
        finally:
            driver.timeout = before
            self.upstream.script(FINE)

    def wait_for_quiet(self) -> None:
        """Wait until the service has ended the request that it did not answer. Its later tries
        would count as those of the next request.
        """
        self.upstream.script(FINE)  # ends the stalled calls
        for _ in range(_LOOKS):
            received = self.upstream.received
            if not self.session.driver.pause(_QUIET) or self.upstream.received == received:
                return

    # ---- calls that do not fail

    def check_counts(self) -> Iterator[Outcome]:
        """Make the call while the upstream answers well: plainly, twice under one key, malformed
        and without credentials. The session counts the calls upstream for each request.
        """
        answer, requests = self.provoke(FINE)
        if answer.status == CONFLICT and self.renew():
            answer, requests = self.provoke(FINE)
        if answer.ok:
            self.later = [
                at
                for at, request in enumerate(requests)
                if at and not any(_is_repetition(request, before) for before in requests[:at])
            ]
        if not answer.ok or not requests:
            reason = f"the service answered {answer} with {len(requests)} calls upstream"
            yield not_exercised(ONCE, f"{reason}, which answers well")
            return
        again = self.provoke(FINE)[0]
        if again.status in _OF_THE_ITEM and self.renew():  # one item allows one such request
            self.renews = self.provoke(FINE)[0].ok
        self.repeatable = again.ok or self.renews
        spec = self.request()
        rule = self._rule_of(spec)
        if rule is not None and spec.method in rule.methods and not self.session.knowledge.keyless:
            yield from self.check_replay(self._renew_key(rule, spec))
        if spec.body is not ABSENT:
            self.session.try_call(replace(spec, raw=b'{"broken": '))
        if not self.session.identity(self.call.identity).anonymous:
            self.session.try_call(replace(spec, identity=NOBODY))

    def check_replay(self, spec: RequestSpec) -> Iterator[Outcome]:
        """Check that a replay makes no call upstream that may change something."""
        first = self.session.call(spec)
        self.upstream.script(FINE)
        again = self.session.call(spec)
        writes = [call for call in self.upstream.calls if call.request.method not in SAFE_METHODS]
        if not first.ok or again.status != first.status:
            yield not_exercised(ONCE, f"the service answered {again} to a replay")
        elif writes:
            name = self.upstream.config.name
            message = f"the replay of {first.exchange.operation} called {name} again"
            operation = self.session.operation(spec.method, spec.path)
            keyed = documents_key(self.session, operation)
            # Without the key in the document, the operation may not take keys.
            level: Level = "error" if keyed else "warning"
            yield failed(ONCE, message, first, again, level=level, variant="replay")
        else:
            yield passed(ONCE)

    def check_garbage(self) -> Iterator[Outcome]:
        """Answer well with a body that cannot be used: the service may do without it, or fail with
        a code, but must not crash.
        """
        taxonomy = self.session.taxonomy
        named = {one.answer for _, one in self.upstream.config.fails}
        for behaviour in _GARBAGE:
            if behaviour in named:
                continue
            answer, requests = self.provoke(UpstreamFailure(behaviour))
            if not requests:
                continue
            code = taxonomy.codes.get(answer.code or "")
            crashed = answer.status >= 500 and crash_level(taxonomy, code, answer.status) == "error"
            if crashed:
                message = f"{self.where(behaviour)}, and the service crashed ({answer})"
                yield failed("upstream/surfaces", message, answer, variant="garbage")
            else:
                yield passed("upstream/surfaces")

    def check_later_calls(self, code: Code, failure: UpstreamFailure) -> Iterator[Outcome]:
        """Fail only a later call of a request that makes several: the last, then those before.

        A failure without a path brings its code about at any of them.
        """
        for after in self.later[: -_LATER - 1 : -1]:
            answer, requests = self.provoke(replace(failure, after=after))
            if not any(request.behaviour == failure.answer for request in requests):
                yield not_exercised("upstream/surfaces", f"the service made {len(requests)} calls")
            elif answer.code == code.name:
                yield passed("upstream/surfaces")
            else:
                call = next(one.request for one in requests if one.behaviour == failure.answer)
                message = (
                    f"{self.where(failure.answer)} to {call.method} {call.target} after {after} "
                    f"good answers, and the service answered {answer}; expected {code.name} (or a "
                    "`path` in `fails`, if this call may fail)"
                )
                yield failed("upstream/surfaces", message, answer, variant="later-call")

    # ---- what is expected

    def name_of(self, answer: Observation) -> str | None:
        """Return the code of an answer, if the configuration names it for a failure."""
        names = {name for name, _ in self.upstream.config.fails}
        return answer.code if answer.code in names else None

    def code(self, name: str, answer: Observation) -> Code:
        """Return the code of a failure: the operation's own one of that name, else that of the
        taxonomy.
        """
        taxonomy = self.session.taxonomy
        operation = self.session.contract.operation(answer.exchange)
        others = (other.errors.get(name) for other in taxonomy.operations.values())
        return taxonomy.code_of(operation, name) or next(filter(None, others))

    def is_eligible(
        self, code: Code, behaviour: Behaviour, answer: Observation, *, idempotent: bool
    ) -> bool | None:
        """Whether the policy covers the failure of such a call; None if that cannot be decided."""
        facts = self.facts(code, behaviour, answer, idempotent=idempotent)
        if not self.policy.eligible:
            flags = code.retriable.decide(facts) if code.retriable.reads else (code.retryable,)
            return code.retry == self.policy.name and flags[0] if len(flags) == 1 else None
        return self.policy.covers(code.name, facts)

    def facts(
        self, code: Code, behaviour: Behaviour, answer: Observation, *, idempotent: bool
    ) -> ConditionFacts:
        """Return the facts of a failure."""
        reads = tested_facts(self.policy.eligible_when)
        keys = (fact.removeprefix("details.") for fact in reads if fact.startswith("details."))
        # A detail that the code does not declare is missing, not unknown.
        known: dict[str, object] = {key: None for key in keys if key not in code.details}
        if answer.judgement.is_error:
            known |= error_details(self.session.contract, answer)
        status = (self.declared.status if self.declared is not None else None) or _STATUS
        if isinstance(behaviour, int) and status in code.details:
            known[status] = behaviour
        return ConditionFacts(answer.status, idempotent, None, known)

    # ---- what is found

    def check_failure(
        self,
        code: Code,
        behaviour: Behaviour,
        answer: Observation,
        requests: Sequence[UpstreamRequest],
    ) -> Iterator[Outcome]:
        """Check the requests of a failing call, and the answer of the service to it."""
        begin = next(at for at, request in enumerate(requests) if request.behaviour == behaviour)
        since = requests[begin:]
        tries = [request for request in since if _is_repetition(request, since[0])]
        where = self.where(behaviour)
        eligible = self.is_eligible(code, behaviour, answer, idempotent=self.idempotent)
        if eligible is None:
            reason = f"{where}; the facts do not decide whether the policy covers {code.name}"
            yield not_exercised("upstream/attempts", reason)
        else:
            # Calls that are unsafe to repeat have a clause of their own, apart from failures that
            # the policy does not cover.
            unsafe = not self.idempotent and bool(
                self.is_eligible(code, behaviour, answer, idempotent=True)
            )
            failure = Failure(
                True, idempotent=not unsafe, eligible=eligible or unsafe, effect="unknown"
            )
            seen = [Try(request.at, request.until, failure) for request in tries]
            yield from self.check_tries(seen, where, answer, timed=behaviour not in STALLING)
        other = next((request for request in since if request not in tries), None)
        if other is None:
            yield passed("upstream/stops")
        elif begin:
            reason = f"{where} after {begin} good answers, which the service may revoke"
            yield not_exercised("upstream/stops", reason)
        else:
            sent = f"{other.request.method} {other.request.target}"
            message = (
                f"{where}, and then the service sent {sent}; expected no further call upstream"
            )
            yield failed("upstream/stops", message, answer)
        if answer.code == code.name:
            yield passed("upstream/surfaces")
            yield from self.check_details(behaviour, len(tries) - 1, answer)
        else:
            message = f"{where}, and the service answered {answer}; expected {code.name}"
            yield failed("upstream/surfaces", message, answer)
        yield from self.check_key(tries, answer)

    def check_tries(
        self, tries: Sequence[Try], where: str, answer: Observation, *, timed: bool = True
    ) -> Iterator[Outcome]:
        """Compare the tries with the policy. ``timed``: it is known when each try failed."""
        report = observe_retries(self.scaled, tries)
        wrong = {_OF[breach.kind]: breach for breach in reversed(report.breaches)}
        exercised = dict.fromkeys(_OF[kind] for kind in sorted(report.exercised))
        if timed:
            self.waits += report.waits
            self.witness = answer
            self.punctual = self.punctual and "upstream/delays" not in wrong
        else:
            wrong.pop("upstream/delays", None)
            exercised.pop("upstream/delays", None)
        for clause in exercised:
            if clause not in wrong:
                yield passed(clause)
        for clause, breach in wrong.items():
            variant = _VARIANTS.get(breach.kind, "")
            yield failed(clause, f"{where}, {breach.message}", answer, variant=variant)

    def check_details(
        self, behaviour: Behaviour, retries: int, answer: Observation
    ) -> Iterator[Outcome]:
        """Check the details that hold the number of retries (missing counts as 0) and the
        upstream's status.
        """
        details, clause = error_details(self.session.contract, answer), "upstream/retried"
        key = self.policy.annotate
        if key is not None:
            value = details.get(key)
            if value == retries or (value is None and not retries):
                yield passed(clause)
            else:
                message = f"`details.{key}` is {value}, but the upstream received {retries} retries"
                yield failed(clause, message, answer, pointer=f"/{key}")
        key, clause = self.declared.status if self.declared else None, "upstream/status"
        value = details.get(key) if key is not None else None
        if value is None or not isinstance(behaviour, int):
            return
        if str(value) == str(behaviour):
            yield passed(clause)
        else:
            message = f"`details.{key}` is {value}, but the upstream answered {behaviour}"
            yield failed(clause, message, answer, pointer=f"/{key}")

    def check_key(self, tries: Sequence[UpstreamRequest], answer: Observation) -> Iterator[Outcome]:
        """Check that the tries carry one key, which no other call has.

        A call that is never sent twice needs no key.
        """
        names, clause = self.declared.keys if self.declared is not None else (), "upstream/key"
        method = tries[0].request.method
        if not names or method in SAFE_METHODS:
            return
        keys = [_key(request, names) for request in tries]
        if None in keys and len(tries) == 1 and not self.idempotent:
            return
        if None in keys:
            message = f"the {method} request upstream has no {' or '.join(names)}"
            yield failed(clause, message, answer)
        elif len(set(keys)) > 1:
            count = len(set(keys))
            message = (
                f"the {len(keys)} tries of one call upstream have {count} keys; expected one key"
            )
            yield failed(clause, message, answer, variant="several")
        elif (earlier := self.intents.setdefault(str(keys[0]), answer)) is not answer:
            message = "two calls upstream have the same key; expected two keys"
            yield failed(clause, message, earlier, answer, variant="shared")
        else:
            yield passed(clause)

    def check_recovery(self, failing: UpstreamFailure) -> Iterator[Outcome]:
        """Fail once; then once more with a wait that upstream asks for, if the policy obeys it."""
        behaviour = failing.answer
        answer, requests = self.provoke(failing, times=1)
        if len(_requests_since_failure(requests, behaviour)) > 1:
            subject = f"the upstream {self.upstream.config.name} failed once"
            what = f"{subject} and then recovered"
            message = f"{what}, but the service answered {answer}; expected a success"
            clause = "upstream/recovers"
            yield passed(clause) if answer.ok else failed(clause, message, answer)
        if self.policy.policy.retry_after.honor and isinstance(behaviour, int):
            answer, requests = self.provoke(failing, times=1, wait=_WAIT)
            failure = Failure(True, retry_after=float(_WAIT), effect="unknown")
            tries = [
                Try(request.at, request.until, failure if request.behaviour == behaviour else None)
                for request in _requests_since_failure(requests, behaviour)
            ]
            where = f"{self.where(behaviour)} with Retry-After {_WAIT}"
            yield from self.check_tries(tries, where, answer)

    def check_waits(self, failing: UpstreamFailure) -> Iterator[ProbeResult]:
        """Check that the waits together are neither too long nor alike; ask until there are enough
        of them.
        """
        if not self.punctual:
            return
        jitters = self.policy.policy.jitter.kind != "none"
        failure = Failure(True, effect="unknown")
        driver, clause = self.session.driver, "upstream/jitter"
        half = driver.remaining / 2  # the rest of the time is for other calls
        for _ in range(ROUNDS):
            spent = driver.remaining < half or driver.requests >= driver.limits.requests
            positions = band_positions(self.waits) if jitters else []
            enough = suffice(len(positions)) or not positions
            if spent or (enough and are_tellable(len(self.waits))):
                break
            self.witness, requests = self.provoke(failing)
            tries = [
                Try(request.at, request.until, failure)
                for request in _requests_since_failure(requests, failing.answer)
            ]
            waits = observe_retries(self.scaled, tries).waits
            if not waits:
                break
            self.waits += waits
        scale = self.upstream.config.scale
        own = median(self.owns) if self.owns else None
        found = judge_jitter({self.policy.name: self.waits}, scale, own)
        assert self.witness is not None
        hidden = explain_hidden_delays(self.waits, scale, own) if own is not None else None
        if hidden is not None:
            yield not_exercised("upstream/delays", hidden)
        if found.note is not None or hidden is not None:
            yield Note(found.note or str(hidden))
        for message in found.late:
            yield failed("upstream/delays", message, self.witness, variant="late")
        if not jitters:
            return
        match found.jitter:
            case "unclear":
                yield not_exercised(clause, found.reason)
            case "missing":
                yield failed(clause, found.reason, self.witness)
            case "present":
                yield passed(clause)


def _requests_since_failure(
    requests: Sequence[UpstreamRequest], behaviour: object
) -> Sequence[UpstreamRequest]:
    """Return the requests from the first that failed, without those of other calls."""
    since = list(dropwhile(lambda request: request.behaviour != behaviour, requests))
    return [request for request in since if _is_repetition(request, since[0])]


def _is_repetition(one: UpstreamRequest, other: UpstreamRequest) -> bool:
    """Whether two requests are tries of one call."""
    first, second = one.request, other.request
    return (first.method, first.target) == (second.method, second.target)


def _key(request: UpstreamRequest, names: Sequence[str]) -> str | None:
    """Return the key of a request: a header, or a member of its body."""
    body = parse_body(request.request.body)
    members = body if isinstance(body, dict) else {}
    found = [first_header(request.request.headers, name) or members.get(name) for name in names]
    return next((str(value) for value in found if value), None)
