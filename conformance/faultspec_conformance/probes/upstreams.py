"""How the service retries, seen from the other end: an upstream that fails as it is told counts and times what comes.

What the service should do is what the planner does by the policy under `upstream:` of the taxonomy.
"""

from collections.abc import Iterator, Mapping, Sequence

from faultspec.contract.clauses import upstream_policy
from faultspec.exchange.model import first
from faultspec.language.conditions import ConditionFacts, possible_outcomes
from faultspec.language.model import Code, RetryPolicy
from faultspec.runtime.retry import Failure
from faultspec_conformance.config import UpstreamCall
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.faults.jitter import ROUNDS, Wait, band_positions, judge_jitter, suffice
from faultspec_conformance.faults.retry_observer import (
    Kind,
    RetryReport,
    Try,
    observe_retries,
    scale_policy,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    parsed,
    passed,
    slot,
)
from faultspec_conformance.session.parameters import filled, text
from faultspec_conformance.session.upstreams import Behaviour, ScriptedUpstream
from faultspec_conformance.session.upstreams import UpstreamRequest as Seen

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

#: The clause that each way of leaving a policy breaks.
_OF: Mapping[Kind, str] = {
    "ineligible": "upstream/not-eligible",
    "unsafe": "upstream/unsafe",
    "attempts": "upstream/attempts",
    "abandoned": "upstream/attempts",
    "early": "upstream/delays",
    "hint": "upstream/delays",
    "late": "upstream/delays",
}

#: The detail that has the upstream's status, where a code declares it and the taxonomy names no other: what a condition on
#: `details.status` means.
_STATUS = "status"

#: Seconds of a `Retry-After` from upstream, the shortest that says anything.
_WAIT = 1


def retries(world: HttpSession) -> Iterator[Outcome]:
    """Every call of every upstream, with every failure of it."""
    policy = upstream_policy(world.taxonomy)
    for upstream in world.upstreams.values() if policy is not None else ():
        assert policy is not None
        for call in upstream.config.calls:
            with world.guarded(*CLAUSES):
                yield from _UpstreamWatch(world, policy, upstream, call).outcomes()


class _UpstreamWatch:
    """One call of the service, and what it sends to one upstream because of it."""

    def __init__(
        self,
        world: HttpSession,
        policy: RetryPolicy,
        upstream: ScriptedUpstream,
        call: UpstreamCall,
    ) -> None:
        self.world = world
        self.policy = policy
        self.upstream = upstream
        self.call = call
        default = world.taxonomy.upstream.default if world.taxonomy.upstream is not None else None
        self.idempotent = (
            default != "not_idempotent" if call.idempotent is None else call.idempotent
        )
        self.scaled = scale_policy(policy.policy, upstream.config.scale)
        self.waits: list[Wait] = []
        self.witness: Observation | None = None
        self.punctual = True
        self.intents: dict[str, Observation] = {}

    def outcomes(self) -> Iterator[Outcome]:
        mended: Behaviour | None = None
        for name, behaviour in self.upstream.config.fails:
            sent, seen = self.sent(behaviour)
            if not seen:
                yield not_exercised(
                    "upstream/attempts",
                    f"{sent.exchange.operation} is answered {sent}, and calls nobody",
                )
                continue
            code = self.code(name, sent)
            yield from self.judged(code, behaviour, sent, seen)
            if mended is None and self.eligible(code, behaviour, sent, idempotent=self.idempotent):
                mended = behaviour
        if mended is not None and self.idempotent:
            yield from self.mended(mended)
            yield from self.spread(mended)

    def sent(
        self, behaviour: Behaviour, times: int | None = None, wait: int | None = None
    ) -> tuple[Observation, list[Seen]]:
        """Have the service call the upstream, which fails so often; the answer, and what the upstream saw."""
        self.upstream.script(behaviour, times, wait)
        call, identity = self.call.call, self.call.identity
        sent = self.world.call(
            call.method,
            call.path,
            identity=self.world.target.identity(identity) if identity is not None else None,
            query={name: text(self.world.tokens, each, {}) for name, each in call.query.items()},
            headers={
                name: text(self.world.tokens, each, {}) for name, each in call.headers.items()
            },
            body=filled(self.world.tokens, call.body),
            raw=text(self.world.tokens, call.raw, {}).encode() if call.raw is not None else None,
            patient=False,
        )
        return sent, list(self.upstream.calls)

    # ---- what is expected

    def code(self, name: str, sent: Observation) -> Code:
        """The code that a failure is; an operation's own, where it has one of that name."""
        operation = self.world.contract.operation(sent.exchange)
        own = operation.errors.get(name) if operation is not None else None
        known = (
            each.errors[name]
            for each in self.world.taxonomy.operations.values()
            if name in each.errors
        )
        return own or self.world.taxonomy.codes.get(name) or next(known)

    def eligible(
        self, code: Code, behaviour: Behaviour, sent: Observation, *, idempotent: bool
    ) -> bool | None:
        """Whether the policy is for the failure of such a call; None where nobody can tell."""
        details = slot(self.world.taxonomy, sent, "details") if sent.judgement.is_error else None
        # What the code has no place for is not there, and not merely unknown.
        conditions = (test.fact for rule in self.policy.eligible_when for test in rule.when)
        keys = (fact.removeprefix("details.") for fact in conditions if fact.startswith("details."))
        known: dict[str, object] = {key: None for key in keys if key not in code.details}
        known |= details if isinstance(details, dict) else {}
        declared = self.world.taxonomy.upstream
        status = (declared.status if declared is not None else None) or _STATUS
        if isinstance(behaviour, int) and status in code.details:
            known[status] = behaviour
        facts = ConditionFacts(sent.status, idempotent, None, known)
        if not self.policy.eligible:
            rules = code.retriable.rules
            flags = possible_outcomes(rules, facts) if rules else (code.retryable,)
            return code.retry == self.policy.name and flags[0] is True if len(flags) == 1 else None
        if code.name not in self.policy.eligible:
            return False
        decided = possible_outcomes(self.policy.eligible_when, facts) or (True,)
        return bool(decided[0]) if len(decided) == 1 else None

    # ---- what is found

    def judged(
        self, code: Code, behaviour: Behaviour, sent: Observation, seen: Sequence[Seen]
    ) -> Iterator[Outcome]:
        eligible = self.eligible(code, behaviour, sent, idempotent=self.idempotent)
        asked = [each for each in seen if _same(each, seen[0])]
        did = "hung up" if behaviour == "closed" else f"answered {behaviour}"
        where = f"the upstream {self.upstream.config.name} {did}"
        if eligible is None:
            yield not_exercised(
                "upstream/attempts",
                f"{where}, and nothing tells whether the policy is for {code.name} here",
            )
        else:
            # What is not safe to repeat is told apart from what the policy is not for, whichever of the two says so.
            unsafe = not self.idempotent and bool(
                self.eligible(code, behaviour, sent, idempotent=True)
            )
            failure = Failure(
                True, idempotent=not unsafe, eligible=eligible or unsafe, effect="unknown"
            )
            followed = observe_retries(
                self.scaled, [Try(each.at, each.until, failure) for each in asked]
            )
            yield from self.told(followed, where, sent)
        if len(asked) < len(seen):
            other = next(each.request for each in seen if not _same(each, seen[0]))
            yield failed(
                "upstream/stops",
                f"{where}, and then the service sent {other.method} {other.target}",
                sent,
            )
        else:
            yield passed("upstream/stops")
        if sent.code != code.name:
            yield failed(
                "upstream/surfaces",
                f"{where}, and the service answered {sent}; expected {code.name}",
                sent,
            )
        else:
            yield passed("upstream/surfaces")
            yield from self.counted(len(asked) - 1, sent)
            yield from self.repeated(behaviour, sent)
        yield from self.keyed(asked, sent)

    def told(self, followed: RetryReport, where: str, sent: Observation) -> Iterator[Outcome]:
        self.waits += followed.waits
        self.witness = sent
        wrong = {_OF[each.kind]: each for each in reversed(followed.breaches)}
        self.punctual = self.punctual and "upstream/delays" not in wrong
        for clause in dict.fromkeys(_OF[each] for each in sorted(followed.exercised)):
            if clause not in wrong:
                yield passed(clause)
        for clause, each in wrong.items():
            yield failed(clause, f"{where}, {each.message}", sent)

    def counted(self, retried: int, sent: Observation) -> Iterator[Outcome]:
        """Whether the detail that tells how often was retried tells it; none is right where nothing was."""
        if self.policy.annotate is None:
            return
        details = slot(self.world.taxonomy, sent, "details")
        said = details.get(self.policy.annotate) if isinstance(details, dict) else None
        if said == retried or (said is None and not retried):
            yield passed("upstream/retried")
        else:
            message = f"`details.{self.policy.annotate}` is {said}, and the upstream saw {retried} retries"
            yield failed("upstream/retried", message, sent, pointer=f"/{self.policy.annotate}")

    def repeated(self, behaviour: Behaviour, sent: Observation) -> Iterator[Outcome]:
        """Whether the detail that tells the upstream's status tells it, where it is there."""
        upstream = self.world.taxonomy.upstream
        key = upstream.status if upstream is not None else None
        details = slot(self.world.taxonomy, sent, "details")
        said = details.get(key) if isinstance(details, dict) and key is not None else None
        if said is None or not isinstance(behaviour, int):
            return
        if str(said) == str(behaviour):
            yield passed("upstream/status")
        else:
            message = f"`details.{key}` is {said}, and the upstream answered {behaviour}"
            yield failed("upstream/status", message, sent, pointer=f"/{key}")

    def keyed(self, asked: Sequence[Seen], sent: Observation) -> Iterator[Outcome]:
        """Whether the tries carry one key, and no other call had it."""
        upstream = self.world.taxonomy.upstream
        names = upstream.keys if upstream is not None else ()
        found = [_key(each, names) for each in asked]
        if not names or asked[0].request.method in SAFE_METHODS:
            return
        listed = " or ".join(names)
        if None in found:
            yield failed(
                "upstream/key", f"a {asked[0].request.method} upstream has no {listed}", sent
            )
        elif len(set(found)) > 1:
            yield failed(
                "upstream/key",
                f"the {len(found)} tries of one call upstream have {len(set(found))} keys",
                sent,
            )
        elif (earlier := self.intents.setdefault(str(found[0]), sent)) is not sent:
            yield failed("upstream/key", "two calls upstream have one key", earlier, sent)
        else:
            yield passed("upstream/key")

    def mended(self, behaviour: Behaviour) -> Iterator[Outcome]:
        """A failure that happens once; and once more with a wait that upstream asks for, where the policy obeys it."""
        sent, seen = self.sent(behaviour, times=1)
        if len(seen) > 1:
            message = (
                f"the upstream {self.upstream.config.name} failed once and answered the next try, "
            )
            message += f"and the service answered {sent}"
            yield (
                passed("upstream/recovers")
                if sent.ok
                else failed("upstream/recovers", message, sent)
            )
        if self.policy.policy.retry_after.honor and isinstance(behaviour, int):
            sent, seen = self.sent(behaviour, times=1, wait=_WAIT)
            failure = Failure(True, retry_after=float(_WAIT), effect="unknown")
            tries = [
                Try(each.at, each.until, failure if each.behaviour == behaviour else None)
                for each in seen
            ]
            yield from self.told(
                observe_retries(self.scaled, tries),
                f"upstream answered {behaviour}, Retry-After {_WAIT}",
                sent,
            )

    def spread(self, behaviour: Behaviour) -> Iterator[Outcome]:
        """Whether chance has a part in the waits; asked until it has had occasion enough."""
        if self.policy.policy.jitter.kind == "none" or not self.punctual:
            return
        failure = Failure(True, effect="unknown")
        driver = self.world.driver
        half = driver.remaining / 2  # others have to be asked as well
        for _ in range(ROUNDS):
            spent = driver.remaining < half or driver.requests >= driver.limits.requests
            if suffice(len(band_positions(self.waits))) or not band_positions(self.waits) or spent:
                break
            self.witness, seen = self.sent(behaviour)
            self.waits += observe_retries(
                self.scaled, [Try(each.at, each.until, failure) for each in seen]
            ).waits
        told = judge_jitter({self.policy.name: self.waits}, self.upstream.config.scale)
        assert self.witness is not None
        if told.note is not None and told.note not in self.world.notes:
            self.world.notes.append(told.note)
        for message in told.late:
            yield failed("upstream/delays", message, self.witness)
        match told.jitter:
            case "unclear":
                yield not_exercised("upstream/jitter", told.reason)
            case "missing":
                yield failed("upstream/jitter", told.reason, self.witness)
            case "present":
                yield passed("upstream/jitter")


def _same(one: Seen, two: Seen) -> bool:
    return (one.request.method, one.request.target) == (two.request.method, two.request.target)


def _key(seen: Seen, names: Sequence[str]) -> str | None:
    """What names the intent of a request: a header, or a member of its body."""
    body = parsed(seen.request.body)
    members = body if isinstance(body, dict) else {}
    found = [first(seen.request.headers, name) or members.get(name) for name in names]
    return next((str(each) for each in found if each), None)
