"""The session of one run over HTTP. Every answer is judged and recorded when it arrives.

Every exchange exercises the clauses that a single exchange can break, and the correlation rules.
Probes add the relations between several exchanges.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from random import Random
from time import time
from typing import Literal

from faultspec.contract import crashes
from faultspec.contract.keys import with_carried_key
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import ABOUT_BODY, Canary, Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language.model import Idempotency
from faultspec.openapi.service import Description, ServiceOperation
from faultspec.runtime import retry_after
from faultspec_conformance.config import Identity
from faultspec_conformance.drivers import LoggedRequest, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.drivers.processes import Running
from faultspec_conformance.session.attendance import (
    HEADERS,
    ONCE,
    Attendance,
    attend,
    has_declared_header,
    problem_of_calls,
    problem_of_headers,
)
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.confidential import ConfidentialValues, search_answer
from faultspec_conformance.session.correlation import (
    CorrelationIds,
    EchoRule,
    check_echo,
    echo_rule,
    excuse_uuid_version,
)
from faultspec_conformance.session.declared_facts import (
    declared_idempotency,
    is_authenticated,
    refused_identities,
)
from faultspec_conformance.session.failure_ids import check_failure_ids, declared_slots
from faultspec_conformance.session.fault_switches import FaultSwitch, find_switches
from faultspec_conformance.session.forbidden import check_forbidden
from faultspec_conformance.session.inventory import Inventory, find_inventory
from faultspec_conformance.session.knowledge import Knowledge
from faultspec_conformance.session.logins import (
    PAST_CREDENTIALS,
    Logins,
    asks_for_credentials,
    find_given_secrets,
    needs_login,
    read_saved_values,
)
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    describe_cut,
    failed,
    passed,
    stream_errors,
)
from faultspec_conformance.session.observations import Note, NotRun, PartRecord, SharedKnowledge
from faultspec_conformance.session.requests import (
    Correlation,
    RequestSpec,
    login_request,
    wire_request,
)
from faultspec_conformance.session.resources import (
    ResourceKind,
    find_resource_kinds,
    locate_operation,
)
from faultspec_conformance.session.sampling import ValueSource
from faultspec_conformance.session.sent_secrets import forbidden_values
from faultspec_conformance.session.upstreams import ScriptedUpstream, UpstreamRequest

#: Seconds. A longer wait for a limit to lift costs more than the answer is worth.
PATIENCE = 10.0

#: Seconds to wait, one after another, after a 429 that does not say how long.
_BACKOFF = (1.0, 2.0, 4.0)

#: Waits as long as `Retry-After` asks, before the service counts as refusing for longer.
_WAITS = 2

#: Statuses of an application that failed (RFC 9110, 15.6.1 and 15.6.3).
_OF_APPLICATIONS = frozenset({500, 502})

#: The clause about logins that are repeated.
RENEWED = "auth/renewed"

#: Requests that may be refused after all these waits. The limit is longer than the run can wait.
_FUTILE = 3

#: Seconds in which calls upstream for earlier requests end.
_QUIET = 0.2

#: Seconds beyond what `Retry-After` asks for: the clocks of two machines differ, and its seconds
#: are whole.
_GRACE = 0.1


def _keep_judgement(_: Exchange, judgement: Judgement) -> Judgement:
    return judgement


@dataclass(slots=True)
class HttpSession(Session):
    """One run against one service over HTTP.

    A probe depends on what its own unit knows and on what every shard knows, so that a run in
    shards finds what a whole run finds. ``upstreams``: the scripted upstreams by name. ``started``:
    the process of the service, if the suite started it. ``kinds``: all kinds of resource.
    ``turn``: the kinds that are tested now. ``idempotent_calls``: what the configuration declares
    of operations. ``refused``: the identities that the service has to refuse.
    ``counted``: operations whose calls upstream were counted a second time.
    ``hold``: adds to a judgement what the service's own document has against the answer.
    ``logins``: the credentials that login requests yielded.
    """

    driver: HttpDriver
    description: Description
    upstreams: Mapping[str, ScriptedUpstream] = field(default_factory=dict)
    started: Running | None = None
    turn: tuple[ResourceKind, ...] = ()
    hold: Callable[[Exchange, Judgement], Judgement] = _keep_judgement
    logins: Logins = field(default_factory=Logins)
    kinds: tuple[ResourceKind, ...] = field(init=False)
    inventory: Inventory = field(init=False)
    correlation: CorrelationIds = field(init=False)
    switches: tuple[FaultSwitch, ...] = field(init=False)
    idempotent_calls: Mapping[str, bool] = field(init=False)
    refused: frozenset[str] = field(init=False)
    knowledge: Knowledge = field(default_factory=Knowledge, init=False)
    _futile: int = field(default=0, init=False)
    counted: set[tuple[str | None, int, str]] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.source = ValueSource(self.description.document, Random(0))
        self.kinds = find_resource_kinds(self.config, self.description)
        self.inventory = find_inventory(self.taxonomy, self.config, self.description)
        self.confidential = ConfidentialValues(self.description, self.config.confidential)
        self.correlation = CorrelationIds(echo_rule(self.taxonomy))
        switches = find_switches(self.taxonomy, self.config, self.description)
        self.switches = tuple(dict.fromkeys(switches))
        self.idempotent_calls = declared_idempotency(self.config, self.taxonomy)
        self.refused = refused_identities(self.config, self.taxonomy)

    @property
    def echo(self) -> EchoRule | None:
        """The rule about the correlation id, if the taxonomy has one."""
        return self.correlation.rule

    @property
    def wire_codes(self) -> frozenset[object]:
        """The wire codes that are texts."""
        return frozenset(
            code.wire for code in self.taxonomy.shared_live_codes() if isinstance(code.wire, str)
        )

    def stranger(
        self, owner: Identity, across: Literal["tenant", "owner"] = "tenant"
    ) -> Identity | None:
        """Return an identity beyond a boundary, or None: of another tenant, or another owner in the
        same tenant. It is preferably one that no recipe has refused with 401, and then one that may
        do everything.
        """
        if across == "owner":
            same = (one for one in self.identities if one.tenant == owner.tenant)
            others = [one for one in same if one is not owner]
        else:
            others = [
                identity
                for identity in self.identities
                if None not in (owner.tenant, identity.tenant) and identity.tenant != owner.tenant
            ]
        return min(others, key=lambda one: (one.name in self.refused, one.limited), default=None)

    def operation(self, method: str, path: str) -> ServiceOperation:
        """Return the operation that a configured request addresses, or a new one if the document
        has none.
        """
        return locate_operation(self.description, method, path)

    def begin(
        self,
        part: str,
        seed: int | None,
        unit: str | None = None,
        *,
        shared: bool = False,
        again: bool = False,
    ) -> PartRecord:
        """Begin a part of the run and return its record.

        ``unit``: whose knowledge it has; None: that of all units.
        """
        self.knowledge.enter(unit)
        self.correlation.begin(part)
        return self.begin_part(part, seed, shared=shared, again=again)

    def learn_shared(self, fact: SharedKnowledge) -> None:
        """Record what a probe yields for other probes."""
        self.knowledge.learn_shared(fact)

    def reason_skipped(self, method: str, path: str) -> str | None:
        """Return why the configuration skips an operation; None if it does not."""
        return self.config.skip_reason(method, path, self.description.base)

    def check_running(self, asked: Exchange) -> None:
        """Raise Unanswered if nothing more is sent to the service, or not to this operation."""
        Session.check_running(self, asked)
        request = asked.request
        path = request.target.partition("?")[0]
        reason = self.reason_skipped(request.method, path)
        if reason is not None:
            text = f"{request.method} {path} is skipped: {reason}"
            raise Unanswered(NoAnswer(request, "read-only", text))

    # ---- sending

    def call(self, spec: RequestSpec) -> Observation:
        """Send a request, judge and record the answer. Raises Unanswered."""
        caller = self.caller if spec.identity is None else spec.identity
        request = self._wire(spec, caller)
        observation = self.ask(request, spec)
        if observation.status == 429 and spec.wait_when_limited:
            raise self.throttled_error(observation)
        return observation

    def throttled_error(self, observation: Observation) -> Unanswered:
        """Return the exception to raise for a 429 that does not answer the question."""
        request = observation.exchange.request
        name = observation.exchange.operation or f"{request.method} {request.target}"
        reason = f"the service limits the rate: it answered 429 to {name}"
        after = observation.header("Retry-After")
        reason += f", Retry-After {after}" if after else ", without Retry-After"
        return Unanswered(NoAnswer(request, "limited", reason))

    def wait(self, seconds: float, *, after: Observation) -> None:
        """Wait before a read is repeated. Raises Unanswered if the run has not so much time left:
        a read without the wait decides nothing.
        """
        if not self.driver.pause(seconds):
            reason = f"the run has no {seconds:g} seconds left to wait"
            raise Unanswered(NoAnswer(after.exchange.request, "budget", reason))

    def repeat(self, seen: Observation) -> Observation:
        """Send a request once more, under another idempotency key. Raises Unanswered."""
        asked = replace(seen.exchange, response=Response(None))
        return self._send_again(self.with_new_key(asked), may_disconnect=True)

    def try_call(self, spec: RequestSpec) -> Observation | NoAnswer:
        """Send a request like `call`; return a missing answer instead of raising."""
        try:
            return self.call(spec)
        except Unanswered as error:
            return error.no_answer

    def ask(self, request: Request, spec: RequestSpec) -> Observation:
        """Send a finished request, judge and record the answer. Raises Unanswered.

        ``spec``: its caller, route, canaries and options.
        """
        caller = self.caller if spec.identity is None else spec.identity
        self.observations.plant(spec.canaries)
        asked = self._begin_exchange(request, caller, spec)
        may_disconnect = spec.may_disconnect or spec.server_may_refuse
        before = attend(self.upstreams)
        exchange = self._complete_exchange(asked, may_disconnect)
        if spec.server_may_refuse and self.is_from_server(exchange):
            refusal = Observation(exchange, judge(self.contract, exchange))
            self.log_answer(self.driver.latest, refusal)
            return refusal
        observation = self.record(exchange)
        if not spec.may_be_refused and self._renew(caller, observation):
            observation = self._send_renewed(asked, caller, observation)
        if spec.wait_when_limited and observation.status == 429:
            observation = self._wait_out(asked, observation, may_disconnect)
        self._check_calls(asked, observation, before)
        for name, upstream in self.upstreams.items():
            if upstream.dropped:
                note = "the service sent more requests than are kept; later ones are not judged"
                self.observations.add([Note(f"{name}: {note}")])
        return observation

    def _send_again(self, asked: Exchange, may_disconnect: bool) -> Observation:
        with self.driver.log_as("again"):
            return self.record(self._complete_exchange(asked, may_disconnect))

    def _send_renewed(self, asked: Exchange, caller: Identity, refused: Observation) -> Observation:
        """Send a request again with the credentials of a new login.

        If the operation refuses these too, although it accepted the caller before, the service does
        not accept what its login yields. Another login confirms that.
        """
        place = caller.name, refused.exchange.operation
        was_accepted = place in self.logins.welcomed
        again = self._send_again(asked, may_disconnect=False)
        if again.status == 401 and was_accepted:
            self._log_in(caller)
            again = self._send_again(asked, may_disconnect=False)
        if again.ok or again.status in PAST_CREDENTIALS:
            self.add_decided(self.driver.latest, [passed(RENEWED)])
        elif again.status == 401 and was_accepted:
            message = (
                f"{caller.name} logged in twice; {place[1]}, which accepted {caller.name} before, "
                "refuses the new credentials"
            )
            outcome = failed(RENEWED, message, refused, again)
            self.add_decided(self.driver.latest, [outcome])
            self.logins.rejected[caller.name] = place[1]
        if again.status == 401:
            self.logins.futile.add(place)
        return again

    def _wait_out(self, asked: Exchange, refused: Observation, may_disconnect: bool) -> Observation:
        """Wait for a limit and send the request again; return the last answer."""
        if self.requested_wait(refused) is not None:
            return self._wait_as_asked(asked, refused, may_disconnect)
        observation = refused
        for wait in self.waits(refused):
            if observation.status != 429 or not self.driver.pause(wait):
                return observation
            observation = self._send_again(asked, may_disconnect)
        self._futile += observation.status == 429
        return observation

    def _wait_as_asked(
        self, asked: Exchange, refused: Observation, may_disconnect: bool
    ) -> Observation:
        """Wait as long as `Retry-After` asks, at most twice: another limit may end later."""
        answers = [refused]
        while answers[-1].status == 429:
            wait = self.requested_wait(answers[-1])
            if wait is None or len(answers) > _WAITS or not self.driver.pause(wait):
                break
            answers.append(self._send_again(asked, may_disconnect))
        clause, last = "retry/recovers", answers[-1]
        if not self.applies(clause) or len(answers) == 1:
            return last
        if last.status != 429:
            self.add_decided(self.driver.latest, [passed(clause)])
        elif len(answers) > _WAITS:
            name = asked.operation or f"{asked.request.method} {asked.request.target}"
            message = (
                f"{name} was refused again after each of {_WAITS} waits, which were as long as "
                "`Retry-After` asked"
            )
            self.add_decided(self.driver.latest, [failed(clause, message, *answers)])
        return last

    def waits(self, observation: Observation) -> tuple[float, ...]:
        """Return the seconds to wait, one after another, before a refused request is sent again.

        A 429 without `Retry-After` is waited out with a backoff, until that proves futile.
        """
        if observation.status != 429:
            return ()
        asked = self.requested_wait(observation)
        if asked is not None:
            return (asked,)
        if observation.header("Retry-After") is not None or self._futile >= _FUTILE:
            return ()
        return _BACKOFF

    def _check_calls(self, asked: Exchange, observation: Observation, before: Attendance) -> None:
        """Check how often the service called each upstream for a request.

        A problem must occur again: a service may call upstream for an earlier request.
        """
        for name, calls in before.calls(self.upstreams).items():
            self._check_headers(name, observation, calls)
            problem = problem_of_calls(name, observation, calls)
            if problem is None:
                self.add_decided(self.driver.latest, [passed(ONCE)] if calls else [])
                continue
            key = (observation.exchange.operation, observation.status, name)
            if key in self.counted or not self.driver.pause(_QUIET):
                continue
            self.counted.add(key)
            since = attend(self.upstreams)
            with self.driver.log_as("confirm"):
                again = self.record(
                    self._complete_exchange(self.with_new_key(asked), may_disconnect=False)
                )
            counted = since.calls(self.upstreams).get(name, [])
            problem = problem_of_calls(name, again, counted)
            if problem is not None:
                outcome = failed(ONCE, problem, observation, again)
                self.add_decided(self.driver.latest, [outcome])

    def _check_headers(
        self, name: str, observation: Observation, calls: Sequence[UpstreamRequest]
    ) -> None:
        """Check which headers of a request its calls upstream have."""
        rule = self.upstreams[name].config.pass_on
        caller = self.config.identities.get(observation.exchange.identity or "")
        request = observation.exchange.request
        sent = request if caller is None else self.logins.fill_in(caller, request)
        if not calls or not has_declared_header(rule, sent):
            return
        problem = problem_of_headers(name, rule, observation, calls, sent=sent)
        outcome = passed(HEADERS) if problem is None else failed(HEADERS, problem, observation)
        self.add_decided(self.driver.latest, [outcome])

    def key_rule(self, operation: ServiceOperation) -> Idempotency | None:
        """The rule about idempotency keys, with their place in requests of an operation."""
        return self.contract.key_rule_of(operation.name)

    def with_new_key(self, asked: Exchange) -> Exchange:
        """The request under another idempotency key, if it has one."""
        rule = self.contract.key_rule(asked)
        if rule is None:
            return asked
        return with_carried_key(rule.key, asked, self.tokens.id("uuid4"))

    def call_together(self, *specs: RequestSpec) -> list[Observation]:
        """Send requests at the same time; return their answers in order.

        Raises Unanswered if an answer is missing.
        """
        sent = []
        for spec in specs:
            caller = self.caller if spec.identity is None else spec.identity
            request = self._wire(spec, caller)
            asked = self._begin_exchange(request, caller, replace(spec, canaries=()))
            self.check_running(asked)
            sent.append(asked)
        wired = [self._with_credentials(asked) for asked in sent]
        before = len(self.driver.log)
        answers = self.driver.send_together(wired)
        # The limits refuse the last of the requests, so the log has the first ones.
        observations = [
            self.record(self._with_answer(asked, answer), entry)
            for asked, answer, entry in zip_longest(sent, answers, self.driver.log[before:])
            if isinstance(answer, Response)
        ]
        for asked, answer in zip(sent, answers, strict=True):
            if isinstance(answer, NoAnswer):
                reason = (
                    f"{answer.reason}; {len(specs)} requests were sent at once, and one alone may "
                    "be answered: put `&` after each of their command lines, and `wait` at the end"
                )
                raise self.record_missing(asked, replace(answer, reason=reason))
        self.observations.note_answer()
        self.check_process()
        return observations

    def record(self, exchange: Exchange, entry: LoggedRequest | None = None) -> Observation:
        """Judge an exchange and record it, with its error events and the outcomes of the
        correlation rules. ``entry``: its request in the log; None: the last one.
        """
        entry = entry or self.driver.latest
        self.read_sinks()  # before a file is moved away
        if exchange.request_header("Host") is None:
            headers = (("Host", self.driver.host), *exchange.request.headers)
            exchange = replace(exchange, request=replace(exchange.request, headers=headers))
        inner = tuple(
            Observation(event, judge(self.contract, event))
            for event in stream_errors(exchange, self.wire_codes)
        )
        judgement = self.hold(exchange, judge(self.contract, exchange))
        judgement = excuse_uuid_version(self.echo, exchange, judgement)
        observation = Observation(exchange, judgement, inner)
        self.observations.record(observation, *inner)
        self.log_answer(entry, observation, *inner)
        if self.echo is not None:
            for judged in (observation, *inner):
                self.add_decided(
                    entry, check_echo(self.contract, self.echo, self.knowledge.generated, judged)
                )
        audit = self.config.audit
        declared = declared_slots(self.taxonomy, audit.slot if audit is not None else None)
        failures = self.knowledge.failures
        self.add_decided(entry, check_failure_ids(self.contract, declared, failures, observation))
        self.add_decided(entry, search_answer(self.confidential, observation))
        self.add_decided(entry, check_forbidden(self.config.identities, observation))
        self.knowledge.learn(observation, inner)
        self.logins.learn(observation)
        return observation

    def claims_errors(self, path: str) -> bool:
        """Whether a surface of the taxonomy claims a 404 at a path that no operation has."""
        unknown = Exchange(Request("GET", path), Response(404))
        return self.contract.claim(unknown) is not None

    def is_from_server(self, exchange: Exchange) -> bool:
        """Whether an error may come from the server and not from the application.

        An error of the application has the correlation id of its request, a stack trace, or a
        status that servers give for applications that failed. If the taxonomy echoes no id, a
        declared code shows the application. Otherwise a hook of the server may have written it,
        which cannot read the id.
        """
        status = exchange.response.status or 0
        if status < 400 or status in _OF_APPLICATIONS:
            return False
        judgement = judge(self.contract, exchange)
        if any(finding.clause == "leaks/stack-trace" for finding in judgement.findings):
            return False
        if self.echo is None:
            return judgement.code is None
        inbound = exchange.request_header(self.echo.header)
        return inbound is None or exchange.response_header(self.echo.answer_header) != inbound

    def requested_wait(self, observation: Observation) -> float | None:
        """Return the seconds that an answer asks to wait, plus a margin; None if it names no wait,
        or too long a wait.
        """
        value = observation.header("Retry-After")
        wait = retry_after.parse(value, now=time(), lenient=True) if value is not None else None
        seconds = wait.seconds if wait is not None else None
        return seconds + _GRACE if seconds is not None and seconds <= PATIENCE else None

    def inbound(self, correlation: Correlation | str = "auto", operation: str = "") -> str | None:
        """Return the correlation id of the next request; None if it has none."""
        return self.correlation.inbound(self.tokens, correlation, operation)

    # ---- inside

    def _wire(self, spec: RequestSpec, caller: Identity) -> Request:
        inbound = self.inbound(spec.correlation, spec.operation)
        pair = (
            (self.echo.header, inbound) if self.echo is not None and inbound is not None else None
        )
        return wire_request(spec, caller, pair)

    def _begin_exchange(self, request: Request, caller: Identity, spec: RequestSpec) -> Exchange:
        route = spec.reported_route
        switched = spec.may_fail or any(switch.is_on(request) for switch in self.switches)
        template = None if route is None else self.inventory.template(request.method, route)
        return Exchange(
            request=request,
            response=Response(None),
            route=template,
            operation=f"{request.method} {template}" if template is not None else None,
            identity=None if caller.anonymous else caller.name,
            forbidden=self._forbidden_values(caller, request, spec),
            lacks=frozenset({crashes.CLAUSE} if switched else ()),
            idempotent=self.idempotent_calls.get(f"{request.method} {route}"),
            authenticated=is_authenticated(self.config, self.refused, caller, request),
            trigger=spec.trigger,
        )

    def _complete_exchange(self, asked: Exchange, may_disconnect: bool) -> Exchange:
        self.check_running(asked)
        answered = self.transmit(asked)
        if isinstance(answered, NoAnswer):
            raise self.record_missing(asked, answered, may_disconnect=may_disconnect)
        self.observations.note_answer()
        self.check_process(answered)
        return answered

    def transmit(self, asked: Exchange) -> Exchange | NoAnswer:
        """Send a request with the credentials of its caller; nothing is judged or recorded. Raises
        Unanswered if a login does not yield them.
        """
        answer = self.driver.send(self._with_credentials(asked))
        return answer if isinstance(answer, NoAnswer) else self._with_answer(asked, answer)

    # ---- credentials of logins

    def _with_credentials(self, asked: Exchange) -> Request:
        """Return the request with the credentials of its caller. Raises Unanswered.

        The first request of an identity with a login sends the login before it.
        """
        request, identity = asked.request, self.config.identities.get(asked.identity or "")
        if identity is None or not needs_login(identity, request):
            return request
        if identity.name not in self.logins.saved and identity.name not in self.logins.failed:
            self._log_in(identity)
        problem = self.logins.failed.get(identity.name)
        if problem is not None:
            raise Unanswered(NoAnswer(request, "unsendable", problem))
        return self.logins.fill_in(identity, request)

    def _with_answer(self, asked: Exchange, answer: Response) -> Exchange:
        """Return the exchange with its answer, in which the credentials must not come back."""
        secrets = self.logins.secrets(asked.identity or "")
        forbidden = (*asked.forbidden, *(Canary("secret", secret) for secret in secrets))
        if answer.cut is None:
            return replace(asked, response=answer, forbidden=forbidden)
        self.observations.add([Note(describe_cut(asked, answer.cut))])
        lacks = asked.lacks | ABOUT_BODY
        return replace(asked, response=answer, forbidden=forbidden, lacks=lacks)

    def _log_in(self, identity: Identity) -> None:
        """Send the login request of an identity and save the values of its answer, or the reason
        why there are none.
        """
        login, limits = identity.login, self.driver.limits
        assert login is not None, identity.name
        # The configuration declares the login, so a run that must not write may send it.
        self.driver.limits = replace(limits, writes=True)
        try:
            with self.driver.log_as("login"):
                answer = self.try_call(login_request(login.call))
        finally:
            self.driver.limits = replace(self.driver.limits, writes=limits.writes)
        found = answer.reason if isinstance(answer, NoAnswer) else read_saved_values(login, answer)
        if isinstance(found, str):
            problem = f"{identity.name} could not log in: {found}"
            self.logins.failed[identity.name] = problem
            self.observations.add([NotRun(problem)])
            return
        assert isinstance(answer, Observation), "values come from an answer"
        given = (*found.values(), *find_given_secrets(answer))
        self.observations.credentials |= dict.fromkeys(given)
        self.logins.saved[identity.name] = found
        self.logins.accepted.discard(identity.name)

    def _renew(self, caller: Identity, observation: Observation) -> bool:
        """Log in again if a 401 may mean that credentials have ended; return whether new ones
        exist.
        """
        exchange, logins = observation.exchange, self.logins
        if not needs_login(caller, exchange.request):
            return False
        if asks_for_credentials(self.identities, self.description.base, exchange.request):
            return False
        if self._is_locked_out(caller, observation):
            return False
        if not logins.may_renew(caller, observation):
            return False
        logins.renewals[caller.name] += 1
        self._log_in(caller)
        if caller.name in logins.failed:
            return False
        note = f"{caller.name} logged in again: the service refused what it had accepted before"
        self.observations.add([Note(note)])
        return True

    def _is_locked_out(self, caller: Identity, observation: Observation) -> bool:
        """Stop the requests of an identity if two operations that accepted it refuse what its
        logins yield; return whether they do.
        """
        name, operation = caller.name, observation.exchange.operation
        first = self.logins.rejected.get(name, operation)
        if (
            first == operation
            or observation.status != 401
            or (name, operation) not in self.logins.welcomed
        ):
            return False
        reason = (
            f"{name} sends no more requests: {first} and {operation}, which accepted {name} before,"
            " refuse what its new logins yielded"
        )
        self.logins.failed[name] = reason
        self.observations.add([NotRun(reason)])
        return True

    def output_text(self) -> str | None:
        """The end of the output of the service, if the suite started it."""
        return None if self.started is None else self.started.output_text()

    def describe_end(self) -> str | None:
        """Return how the service ended that the suite started; None if it runs."""
        return self.started.describe_end(lost=True) if self.started is not None else None

    def check_process(self, last: Exchange | None = None) -> None:
        """Record a failure if the service that the suite started has ended.

        What still answers at its address is another service. ``last``: the last exchange; None:
        the last that was recorded.
        """
        ended = self.started.describe_end() if self.started is not None else None
        if ended is not None and self.observations.ended is None:
            self.observations.record_end(ended, last)

    def _forbidden_values(
        self, caller: Identity, request: Request, spec: RequestSpec
    ) -> tuple[Canary, ...]:
        """The values that must not come back to a caller: its secrets, those that it sent, those
        that were planted and, by `privacy`, the names of its tenant.
        """
        names = self.knowledge.tenants(caller.name) | ({caller.tenant} - {None})
        own = forbidden_values(self.taxonomy, caller, request, sorted(map(str, names)))
        return tuple(dict.fromkeys((*own, *spec.canaries)))
