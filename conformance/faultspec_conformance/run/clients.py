"""Clients, watched: a fault server answers as a taxonomy declares, and what a client does next is judged.

The configuration says how a client is run and which request it makes. What it should do follows from the taxonomy: the
client action of the code, its retry policy, `Retry-After`, its effect, and the idempotency of the request.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

from faultspec.contract.clauses import client_clauses
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Finding, Level
from faultspec.exchange.model import Exchange, Request, Response, first
from faultspec.judge import judge
from faultspec.language.conditions import ConditionFacts, possible_outcomes
from faultspec.language.model import Code, Taxonomy
from faultspec.language.routes import compile_route
from faultspec.runtime import retry_after
from faultspec.runtime.retry import Failure, Policy
from faultspec_conformance.config import ClientConfig, ServiceConfig
from faultspec_conformance.drivers import Driver
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.drivers.processes import StartFailed, running
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.faults.replies import Unanswerable, failure
from faultspec_conformance.faults.retry_observer import (
    ROUNDS,
    UNTOLD,
    Kind,
    RetryReport,
    Try,
    Wait,
    enough,
    follow,
    positions,
    scaled,
    spread,
)
from faultspec_conformance.faults.script import Fault, Script, Turns
from faultspec_conformance.faults.server import FaultServer, Served
from faultspec_conformance.results.model import Coverage, Outcome, Report, settled
from faultspec_conformance.run.summarize import hiding, shown, summarize
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.correlation import echo_rule, valid
from faultspec_conformance.session.observation import Observation, not_exercised, passed, slot
from faultspec_conformance.session.observations import NotRun
from faultspec_conformance.session.options import RunOptions, Unreachable, today

#: RFC 9110 section 9.2.2: sent twice, they do what they do once.
_IDEMPOTENT = SAFE_METHODS | {"PUT", "DELETE", "TRACE"}

#: RFC 9110 section 13.1: by these a request says what it expects to be there.
_PRECONDITIONS = ("If-Match", "If-None-Match", "If-Unmodified-Since")

#: What changes something that can be read.
_ON_WHAT_IS_THERE = frozenset({"PUT", "PATCH", "DELETE"})

#: Seconds of the `Retry-After` that is to be kept, the fewest that a clock can tell from none.
_WAIT = "1"

#: Tries beyond what is allowed after which a client is known well enough, and ended.
_BEYOND = 3

#: Tries that are watched where no policy limits them.
_UNLIMITED = 10

_BETWEEN_LOOKS = 0.01

_OF: Mapping[Kind, str] = {
    "ineligible": "client/gives-up",
    "unsafe": "client/unsafe",
    "attempts": "client/attempts",
    "abandoned": "client/retries",
    "early": "client/waits",
    "late": "client/waits",
    "hint": "client/retry-after",
}

Launch = Callable[[ClientConfig, str, Callable[[], bool]], str | None]
"""Has a client call an address and returns when it has ended, or when the function says that it has shown enough. Why it
could not be watched, or None. Raises Failed."""


def watch(
    target: ServiceConfig, taxonomy: Taxonomy, options: RunOptions, launch: Launch | None = None
) -> Report | Unreachable:
    """Judge the clients of a configuration."""
    known = client_clauses(taxonomy)
    applicable = {name for name, each in known.items() if each.not_applicable(taxonomy) is None}
    start = _launcher(Path(target.path or ".").resolve().parent) if launch is None else launch
    concerned = tuple(
        waiver
        for waiver in options.waivers
        if any(fnmatchcase(one, waiver.clause) for one in known)
    )
    interrupted = False
    world = Session(
        build_contract(taxonomy), target, Driver(target.limits)
    )  # nothing is asked: the clients do that
    try:
        for client in target.clients:
            options.progress(
                f"{' '.join(client.command)} ({client.request.method} {client.request.path})"
            )
            found = _ClientWatch(world, client, start).outcomes()
            world.observations.add(each for each in found if each.clause in applicable)
    except StartFailed as error:
        return Unreachable(str(error), "check `client.command` in the configuration")
    except KeyboardInterrupt:
        interrupted = True
        world.observations.end("the run was interrupted")
    if world.observations.ended is not None:
        world.observations.add([NotRun(world.observations.ended)])
    world.driver.requests = len(world.observations.exchanges)
    seen = summarize(world, known, replace(options, waivers=concerned), frozenset())
    result = settled(seen, today(options), only=options.only)
    result = replace(
        result,
        target=", ".join(" ".join(each.command) for each in target.clients),
        clauses={address: each for address, each in result.clauses.items() if address in known},
        coverage={code: _explained(each) for code, each in result.coverage.items()},
    )
    return Report(shown(hiding(world), result), "", options.only, target.path, interrupted)


def _explained(seen: Coverage) -> Coverage:
    reason = (
        None if seen.observed else "it is no answer to a request that a client of the file makes"
    )
    return replace(seen, reason=seen.reason if seen.explained else reason)


def _launcher(folder: Path) -> Launch:
    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        deadline = time.monotonic() + client.seconds
        with running(client.command, {client.env: url}, folder) as started:
            while started.process.poll() is None and not shown():
                if time.monotonic() > deadline:
                    return f"it had not ended after {client.seconds:g} s"
                time.sleep(_BETWEEN_LOOKS)
        return None

    return launch


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a client: what it asked on its route, what else, and why it was cut short, if it was."""

    tries: tuple[Served, ...]
    others: tuple[Served, ...]
    cut: str | None


class _ClientWatch:
    """One client, run once for each thing that can happen to its request."""

    def __init__(self, world: Session, client: ClientConfig, launch: Launch) -> None:
        self.world = world
        self.client = client
        self.launch = launch
        self.clauses = client_clauses(world.taxonomy)
        self.name = f"{client.request.method} {client.request.path}"
        self.waits: dict[str, list[Wait]] = {}
        self.punctual = True
        self.keys: dict[str, Observation] = {}

    @property
    def contract(self) -> Contract:
        """What answers are made by."""
        return self.world.contract

    @property
    def positions(self) -> list[float]:
        """Where in their bands the waits lay, of whatever policy."""
        return [each for waits in self.waits.values() for each in positions(waits)]

    def outcomes(self) -> Iterator[Outcome]:
        rehearsed = self.run(Script(), 1)
        if not rehearsed.tries:
            said = rehearsed.cut or "it ended"
            self.world.observations.not_run.append(
                f"{' '.join(self.client.command)} makes no {self.name}: {said} without one"
            )
            return
        request = rehearsed.tries[0].request
        spreading: tuple[int, Fault, Code] | None = None
        for code, played in self.codes(request):
            for fault, times in self.faults(code, played, request):
                if self.world.driver.remaining <= 0:
                    self.world.observations.end(
                        f"the budget of {self.world.driver.limits.seconds:g} seconds is spent"
                    )
                    return
                before = len(self.positions)
                yield from self.played(code, fault, times)
                gained = len(self.positions) - before
                if gained > (spreading[0] if spreading else 0):
                    spreading = gained, fault, code
        yield from self.spread(spreading)

    # ---- what is played

    def codes(self, request: Request) -> Iterator[tuple[Code, Fault]]:
        """Every code that may be answered to the request, by its declarations, under the first status that may."""
        operation = self.contract.operation(Exchange(request, Response(None)))
        own = tuple(operation.errors.values()) if operation is not None else ()
        for code in (*own, *self.world.taxonomy.live_codes()):
            stale = code.client_action == "refetch"
            for status in (None, *(code.http.all() if stale else ())):
                played = Fault(code.name, status)
                try:
                    answer = failure(self.contract, request, played, "v1")
                except Unanswerable:
                    continue
                if not stale or _may_refuse(answer.status, request):
                    yield code, played
                    break

    def faults(
        self, code: Code, played: Fault, request: Request
    ) -> Iterator[tuple[Fault, int | None]]:
        """The failure every time, without a wait asked for; and once, with one, where the client may go on."""
        status = failure(self.contract, request, played, "v1").status or 0
        rules = self.contract.headers(code, status).get("retry-after", ())
        required = any(rule.presence == "required" for rule in rules)
        policy = self.policy(code)
        yield played._replace(retry_after="0" if required else ""), None
        if code.client_action == "refetch":
            yield played, 1
        if code.client_action == "retry":
            obeyed = bool(rules) and (policy is None or policy.retry_after.honor)
            yield played._replace(retry_after=_WAIT if obeyed else "0" if required else ""), 1

    def policy(self, code: Code) -> Policy | None:
        """The policy of a code as this client runs it."""
        named = self.world.taxonomy.retry_policies.get(code.retry or "")
        return scaled(named.policy, self.client.scale) if named is not None else None

    def run(self, script: Script, enough_tries: int) -> _Run:
        """Have the client make its call; it is ended after so many tries."""
        method, path = self.client.request.method, self.client.request.path.partition("?")[0]
        server = FaultServer(
            self.contract, Turns(script, Random(0)), route=compile_route(f"{method} {path}")
        )

        def tries() -> tuple[Served, ...]:
            return tuple(each for each in server.served if each.due)

        with serving(server) as url:
            cut = self.launch(self.client, url, lambda: len(tries()) > enough_tries + _BEYOND)
        others = tuple(each for each in server.served if not each.due)
        return _Run(tries(), others, cut)

    def played(self, code: Code, fault: Fault, times: int | None) -> Iterator[Outcome]:
        """One failure, and what the client makes of it."""
        policy = self.policy(code)
        most = policy.max_attempts if policy is not None else None
        seen = self.run(Script((fault,), times=times), most or _UNLIMITED)
        sent = [self.sent(try_) for try_ in seen.tries]
        self.world.observations.record(*sent)
        where = f"{self.name} was answered {fault}{'' if times is None else ' once'}"
        if not sent:
            self.world.observations.not_run.append(
                f"{' '.join(self.client.command)} made no {self.name} when it was to fail with {fault}"
            )
            return
        if seen.cut is not None:
            self.world.observations.not_run.append(f"{where}: {seen.cut}")
        yield from self.identified(sent)
        if code.client_action == "refetch":
            yield from self.refetched(where, seen, sent)
            return
        tries = [
            self.judged_try(code, each, one) for each, one in zip(seen.tries, sent, strict=True)
        ]
        if any(try_ is None for try_ in tries):
            yield not_exercised(
                "client/gives-up",
                f"{where}, and nothing tells whether that is for the policy {code.retry}",
            )
            return
        followed = follow(
            policy or UNTOLD, [try_ for try_ in tries if try_ is not None], spans=policy is not None
        )
        if policy is not None:
            self.waits.setdefault(policy.name, []).extend(followed.waits)
        yield from self.told(followed, where, sent, seen.cut)
        yield from self.keyed(where, sent)

    def wrong(
        self, clause: str, message: str, *evidence: Observation, level: Level = "error"
    ) -> Outcome:
        """The clause is broken, by a try after the first answer of the evidence, which is the failure that was played."""
        finding = Finding(
            clause,
            message,
            level=level,
            operation=self.name,
            code=evidence[0].code,
            status=evidence[0].status,
            evidence=tuple(exchange_.exchange for exchange_ in evidence),
        )
        return Outcome(clause, "failed", finding=finding)

    def sent(self, served: Served) -> Observation:
        """What was served, as an exchange with its judgement."""
        name = f"{self.client.request.method} {self.client.request.path.partition('?')[0]}"
        exchange = Exchange(served.request, served.response, operation=name)
        return Observation(exchange, judge(self.contract, exchange))

    def judged_try(self, code: Code, served: Served, sent: Observation) -> Try | None:
        """A try as the planner sees it; None where the declarations leave open what it is."""
        if served.fault is None:
            return Try(served.at, served.until, None)
        taxonomy = self.world.taxonomy
        operation = self.contract.operation(sent.exchange)
        key = (
            taxonomy.idempotency is not None
            and served.request.method in taxonomy.idempotency.methods
        )
        keyed = (
            key
            and taxonomy.idempotency is not None
            and sent.exchange.sent(taxonomy.idempotency.key) is not None
        )
        told = operation.idempotent if operation is not None else None
        idempotent = keyed or (served.request.method in _IDEMPOTENT if told is None else told)
        named = taxonomy.retry_policies.get(code.retry or "")
        eligible = True
        if named is not None and named.eligible:
            details = slot(taxonomy, sent, "details")
            facts = ConditionFacts(
                sent.status, told, None, details if isinstance(details, dict) else {}
            )
            decided = possible_outcomes(named.eligible_when, facts) or (True,)
            if code.name in named.eligible and len(decided) > 1:
                return None
            eligible = code.name in named.eligible and bool(decided[0])
        flag = slot(taxonomy, sent, "retriable")
        hint = sent.header("Retry-After")
        wait = (
            retry_after.parse(hint, now=time.time(), lenient=True).seconds
            if hint is not None
            else None
        )
        return Try(
            served.at,
            served.until,
            Failure(
                retriable=code.client_action == "retry" and flag is not False,
                kind=named.kind_of.get(code.name) if named is not None else None,
                retry_after=wait,
                idempotent=idempotent,
                eligible=eligible,
                effect=code.effect,
            ),
        )

    # ---- what is found

    def told(
        self, followed: RetryReport, where: str, sent: Sequence[Observation], cut: str | None
    ) -> Iterator[Outcome]:
        breaches = [each for each in followed.breaches if cut is None or each.kind != "abandoned"]
        wrong = {_OF[each.kind]: each for each in reversed(breaches)}
        self.punctual = self.punctual and "client/waits" not in wrong
        for clause in dict.fromkeys(_OF[each] for each in sorted(followed.exercised)):
            if clause not in wrong:
                yield passed(clause)
        for clause, each in wrong.items():
            # Who gives up early has a reason of his own, perhaps; who never tries again has not read the contract.
            early = each.kind == "abandoned" and each.number > 0
            evidence = sent[: max(1, each.number + 1)]
            yield self.wrong(
                clause, f"{where}: {each.message}", *evidence, level="warning" if early else "error"
            )

    def refetched(self, where: str, seen: _Run, sent: Sequence[Observation]) -> Iterator[Outcome]:
        """Whether something was read between a refusal and the next try, and the next try has another validator."""
        clause = "client/refetches"
        if self.client.request.method in SAFE_METHODS:
            yield not_exercised(clause, f"{self.name} is itself what reads again")
            return
        reads = [each for each in seen.others if each.request.method in SAFE_METHODS]
        for number, served in enumerate(seen.tries):
            if served.fault is None:
                break
            later = seen.tries[number + 1] if number + 1 < len(seen.tries) else None
            read = [
                each
                for each in reads
                if served.until <= each.at <= (later.at if later is not None else each.at)
            ]
            if later is None and not read and number == 0:
                yield self.wrong(clause, f"{where}, and nothing was read again", sent[number])
                return
            if later is None:
                break
            if not read:
                message = f"{where}, and try {number + 2} came without anything read before it"
                yield self.wrong(clause, message, *sent[: number + 2])
                return
            stale = first(served.request.headers, "If-Match")
            if stale in (None, "*") or stale != first(later.request.headers, "If-Match"):
                continue
            if not any(first(each.response.headers, "ETag") not in (None, stale) for each in read):
                yield not_exercised(
                    clause, f"{where}, and what was read again had no other validator than {stale}"
                )
                return
            message = f"{where}, and try {number + 2} has the If-Match that was refused, {stale}"
            yield self.wrong(clause, message, *sent[: number + 2])
            return
        yield passed(clause)

    def keyed(self, where: str, sent: Sequence[Observation]) -> Iterator[Outcome]:
        """Whether the tries have one idempotency key, and no other call had it."""
        rule = self.world.taxonomy.idempotency
        if rule is None or self.client.request.method not in rule.methods:
            return
        found = [each.exchange.sent(rule.key) for each in sent]
        if found[0] is None:
            return  # whether it may be sent again without one is another clause
        earlier = self.keys.setdefault(found[0], sent[0])
        if len(set(found)) > 1:
            message = f"{where}: the {len(found)} tries of one call have {len(set(found))} values of {rule.key}"
            yield self.wrong("client/key", message, *sent)
        elif earlier is not sent[0]:
            yield self.wrong("client/key", f"two calls have the same {rule.key}", earlier, sent[0])
        elif len(found) > 1:
            yield passed("client/key")

    def identified(self, sent: Sequence[Observation]) -> Iterator[Outcome]:
        """Whether the correlation ids that the client sends are some."""
        echo = echo_rule(self.world.taxonomy)
        for each in sent if echo is not None else ():
            value = each.exchange.sent(echo.header) if echo is not None else None
            if echo is None or value is None:
                continue
            if not valid(echo, value):
                message = f"{echo.header} is `{value[:60]}`, which is none of {', '.join(echo.field.schema.format)}"
                yield self.wrong("client/correlation", message, each)
                return
            yield passed("client/correlation")

    def spread(self, spreading: tuple[int, Fault, Code] | None) -> Iterator[Outcome]:
        """Whether chance has a part in the waits; the failure that showed most of them is repeated until there are enough."""
        clause = "client/jitter"
        if self.clauses[clause].not_applicable(self.world.taxonomy) or not self.punctual:
            return
        half = self.world.driver.remaining / 2  # other clients have to be watched as well
        for _ in range(ROUNDS):
            if (
                enough(len(self.positions))
                or spreading is None
                or self.world.driver.remaining < half
            ):
                break
            yield from self.played(spreading[2], spreading[1], None)
        told = spread(self.waits, self.client.scale)
        if told.note is not None and told.note not in self.world.observations.notes:
            self.world.observations.notes.append(told.note)
        for message in told.late:
            yield self.wrong("client/waits", message, self.world.observations.exchanges[-1])
        match told.chance:
            case "untold":
                yield not_exercised(clause, told.message)
            case "missing":
                yield self.wrong(clause, told.message, self.world.observations.exchanges[-1])
            case "seen":
                yield passed(clause)


def _may_refuse(status: int | None, request: Request) -> bool:
    """Whether the status tells a request that it is stale: 412 answers a precondition (RFC 9110 section 13.1), 428 the want of
    one (RFC 6585 section 3), which is no matter of who makes something new.
    """
    conditional = any(first(request.headers, each) is not None for each in _PRECONDITIONS)
    if status == 428:
        return not conditional and request.method in _ON_WHAT_IS_THERE
    return conditional or status != 412
