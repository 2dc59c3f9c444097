"""How the service retries: a scripted upstream that fails counts and times its requests.

The service should do what the retry planner does by the policy under `upstream:` of the taxonomy.
"""

from collections.abc import Iterator, Mapping, Sequence

from faultspec.contract.clauses import upstream_policy
from faultspec.exchange.model import first
from faultspec.language.conditions import ConditionFacts, facts_read
from faultspec.language.model import Code, RetryPolicy
from faultspec.runtime.retry import Failure
from faultspec_conformance.config import UpstreamCall
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.faults.jitter import ROUNDS, Wait, band_positions, judge_jitter, suffice
from faultspec_conformance.faults.retry_observer import (
    Kind,
    Try,
    observe_retries,
    scale_policy,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.configured import fill_in_call
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    error_details,
    failed,
    not_exercised,
    parsed,
    passed,
)
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.upstreams import (
    Behaviour,
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
    "upstream/surfaces",
    "upstream/stops",
    "upstream/retried",
    "upstream/status",
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

#: The detail with the upstream's status, if a code declares it and the taxonomy names no other
#: detail.
_STATUS = "status"

#: Seconds of a `Retry-After` from upstream: the shortest wait that a clock can tell from none.
_WAIT = 1


def retries(session: HttpSession) -> Iterator[ProbeResult]:
    """Make every call of every upstream, with every failure of it."""
    policy = upstream_policy(session.taxonomy)
    if policy is None:
        return
    for upstream in session.upstreams.values():
        for call in upstream.config.calls:
            watch = _UpstreamWatch(session, policy, upstream, call)
            yield from attempt(watch.outcomes(), *CLAUSES)
        upstream.script(200)  # later requests meet an upstream that answers well


class _UpstreamWatch:
    """One call of the service, and the requests that it sends to one upstream for it."""

    def __init__(
        self,
        session: HttpSession,
        policy: RetryPolicy,
        upstream: ScriptedUpstream,
        call: UpstreamCall,
    ) -> None:
        self.session = session
        self.policy = policy
        self.upstream = upstream
        self.call = call
        self.declared = session.taxonomy.upstream
        default = self.declared.default if self.declared is not None else None
        self.idempotent = (
            default != "not_idempotent" if call.idempotent is None else call.idempotent
        )
        self.scaled = scale_policy(policy.policy, upstream.config.scale)
        self.waits: list[Wait] = []
        self.witness: Observation | None = None
        self.punctual = True
        self.intents: dict[str, Observation] = {}

    def outcomes(self) -> Iterator[ProbeResult]:
        retried: Behaviour | None = None
        for name, behaviour in self.upstream.config.fails:
            answer, requests = self.provoke(behaviour)
            if not requests:
                line = f"the service answered {answer} to {answer.exchange.operation}"
                yield not_exercised("upstream/attempts", f"{line} without a call upstream")
                continue
            code = self.code(name, answer)
            yield from self.check_failure(code, behaviour, answer, requests)
            eligible = self.eligible(code, behaviour, answer, idempotent=self.idempotent)
            if retried is None and eligible:
                retried = behaviour
        if retried is not None and self.idempotent:
            yield from self.check_recovery(retried)
            yield from self.check_jitter(retried)

    def provoke(
        self, behaviour: Behaviour, times: int | None = None, wait: int | None = None
    ) -> tuple[Observation, list[UpstreamRequest]]:
        """Make the service call the upstream, which fails ``times`` times (None: always); return
        the answer and the upstream's requests.
        """
        self.upstream.script(behaviour, times, wait)
        call = fill_in_call(self.session, self.call.call)
        answer = self.session.call(
            RequestSpec(
                call.method,
                call.path,
                identity=self.session.identity(self.call.identity),
                query=call.query,
                headers=call.headers,
                body=call.body,
                raw=call.raw.encode() if call.raw is not None else None,
                wait_when_limited=False,
                may_fail=behaviour != 200,
            )
        )
        return answer, list(self.upstream.calls)

    # ---- what is expected

    def code(self, name: str, answer: Observation) -> Code:
        """Return the code of a failure: the operation's own one of that name, else that of the
        taxonomy.
        """
        taxonomy = self.session.taxonomy
        operation = self.session.contract.operation(answer.exchange)
        own = operation.errors.get(name) if operation is not None else None
        others = (other.errors.get(name) for other in taxonomy.operations.values())
        return own or taxonomy.codes.get(name) or next(filter(None, others))

    def eligible(
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
        reads = facts_read(self.policy.eligible_when)
        keys = (fact.removeprefix("details.") for fact in reads if fact.startswith("details."))
        # A detail that the code does not declare is missing, not unknown.
        known: dict[str, object] = {key: None for key in keys if key not in code.details}
        if answer.judgement.is_error:
            known |= error_details(self.session.taxonomy, answer)
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
        tries = [request for request in requests if _is_repetition(request, requests[0])]
        did = "hung up" if behaviour == "closed" else f"answered {behaviour}"
        where = f"the upstream {self.upstream.config.name} {did}"
        eligible = self.eligible(code, behaviour, answer, idempotent=self.idempotent)
        if eligible is None:
            reason = f"{where}; the facts do not decide whether the policy covers {code.name}"
            yield not_exercised("upstream/attempts", reason)
        else:
            # Calls that are unsafe to repeat have a clause of their own, apart from failures that
            # the policy does not cover.
            unsafe = not self.idempotent and bool(
                self.eligible(code, behaviour, answer, idempotent=True)
            )
            failure = Failure(
                True, idempotent=not unsafe, eligible=eligible or unsafe, effect="unknown"
            )
            seen = [Try(request.at, request.until, failure) for request in tries]
            yield from self.check_tries(seen, where, answer)
        other = next((request for request in requests if request not in tries), None)
        if other is None:
            yield passed("upstream/stops")
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
        self, tries: Sequence[Try], where: str, answer: Observation
    ) -> Iterator[Outcome]:
        """Compare the tries with the policy."""
        report = observe_retries(self.scaled, tries)
        self.waits += report.waits
        self.witness = answer
        wrong = {_OF[breach.kind]: breach for breach in reversed(report.breaches)}
        self.punctual = self.punctual and "upstream/delays" not in wrong
        for clause in dict.fromkeys(_OF[kind] for kind in sorted(report.exercised)):
            if clause not in wrong:
                yield passed(clause)
        for clause, breach in wrong.items():
            yield failed(clause, f"{where}, {breach.message}", answer)

    def check_details(
        self, behaviour: Behaviour, retries: int, answer: Observation
    ) -> Iterator[Outcome]:
        """Check the details that hold the number of retries (missing counts as 0) and the
        upstream's status.
        """
        details, clause = error_details(self.session.taxonomy, answer), "upstream/retried"
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
        """Check that the tries carry one key, which no other call has."""
        names, clause = self.declared.keys if self.declared is not None else (), "upstream/key"
        method = tries[0].request.method
        if not names or method in SAFE_METHODS:
            return
        keys = [_key(request, names) for request in tries]
        if None in keys:
            message = f"the {method} request upstream has no {' or '.join(names)}"
            yield failed(clause, message, answer)
        elif len(set(keys)) > 1:
            count = len(set(keys))
            message = (
                f"the {len(keys)} tries of one call upstream have {count} keys; expected one key"
            )
            yield failed(clause, message, answer)
        elif (earlier := self.intents.setdefault(str(keys[0]), answer)) is not answer:
            yield failed(
                clause, "two calls upstream have the same key; expected two keys", earlier, answer
            )
        else:
            yield passed(clause)

    def check_recovery(self, behaviour: Behaviour) -> Iterator[Outcome]:
        """Fail once; then once more with a wait that upstream asks for, if the policy obeys it."""
        answer, requests = self.provoke(behaviour, times=1)
        if len(requests) > 1:
            subject = f"the upstream {self.upstream.config.name} failed once"
            what = f"{subject} and then recovered"
            message = f"{what}, but the service answered {answer}; expected a success"
            clause = "upstream/recovers"
            yield passed(clause) if answer.ok else failed(clause, message, answer)
        if self.policy.policy.retry_after.honor and isinstance(behaviour, int):
            answer, requests = self.provoke(behaviour, times=1, wait=_WAIT)
            failure = Failure(True, retry_after=float(_WAIT), effect="unknown")
            tries = [
                Try(request.at, request.until, failure if request.behaviour == behaviour else None)
                for request in requests
            ]
            name = self.upstream.config.name
            where = f"the upstream {name} answered {behaviour} with Retry-After {_WAIT}"
            yield from self.check_tries(tries, where, answer)

    def check_jitter(self, behaviour: Behaviour) -> Iterator[ProbeResult]:
        """Check that the waits vary at random; ask until there are enough of them."""
        if self.policy.policy.jitter.kind == "none" or not self.punctual:
            return
        failure = Failure(True, effect="unknown")
        driver, clause = self.session.driver, "upstream/jitter"
        half = driver.remaining / 2  # the rest of the time is for other calls
        for _ in range(ROUNDS):
            spent = driver.remaining < half or driver.requests >= driver.limits.requests
            if suffice(len(band_positions(self.waits))) or not band_positions(self.waits) or spent:
                break
            self.witness, requests = self.provoke(behaviour)
            tries = [Try(request.at, request.until, failure) for request in requests]
            self.waits += observe_retries(self.scaled, tries).waits
        found = judge_jitter({self.policy.name: self.waits}, self.upstream.config.scale)
        assert self.witness is not None
        if found.note is not None:
            yield Note(found.note)
        for message in found.late:
            yield failed("upstream/delays", message, self.witness)
        match found.jitter:
            case "unclear":
                yield not_exercised(clause, found.reason)
            case "missing":
                yield failed(clause, found.reason, self.witness)
            case "present":
                yield passed(clause)


def _is_repetition(one: UpstreamRequest, other: UpstreamRequest) -> bool:
    """Whether two requests are tries of one call."""
    first, second = one.request, other.request
    return (first.method, first.target) == (second.method, second.target)


def _key(request: UpstreamRequest, names: Sequence[str]) -> str | None:
    """Return the key of a request: a header, or a member of its body."""
    body = parsed(request.request.body)
    members = body if isinstance(body, dict) else {}
    found = [first(request.request.headers, name) or members.get(name) for name in names]
    return next((str(value) for value in found if value), None)
