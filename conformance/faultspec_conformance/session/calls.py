"""Sessions without HTTP: calls by name over JSON-RPC or MCP. Every answer is judged and recorded
when it arrives.

A protocol has rules in addition to those of the taxonomy (JSON-RPC 2.0, sections 4 to 6). Rules
that any answer can break are checked here, the others by probes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

from faultspec.contract import crashes
from faultspec.exchange.body import read
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Canary, Exchange, Headers, Request, Response
from faultspec.judge import judge
from faultspec.language.model import Surface
from faultspec.language.values import are_equal
from faultspec_conformance.config import ABSENT, Identity, SampleCall, Step
from faultspec_conformance.drivers import Framing, NoAnswer, report_ignored
from faultspec_conformance.drivers.jsonrpc import Message, Peer, ReceivedMessage
from faultspec_conformance.drivers.processes import Running
from faultspec_conformance.drivers.stdio import Process
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.base import Session, forbidden_secrets
from faultspec_conformance.session.confidential import ConfidentialValues, search_answer
from faultspec_conformance.session.confidential_params import keep_made_up_params
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    failed,
    parse_body,
    passed,
    protocol_error,
)
from faultspec_conformance.session.placeholders import fill_in, fill_in_text
from faultspec_conformance.session.saved import saved_values

if TYPE_CHECKING:
    from faultspec_conformance.drivers.mcp import McpDriver, Tool, ToolAnswer

#: The judgement of an exchange that the taxonomy says nothing about.
UNJUDGED = Judgement((), frozenset())

#: A message without an answer is taken for ignored after this many times the time of the slowest
#: answer, and after these seconds at least: a busy machine delays single answers.
_TIMES_SLOWER, _SHORTEST_WAIT = 5.0, 1.0

#: The framings, each with the other one.
_OTHER: Mapping[Framing, Framing] = {"lines": "content-length", "content-length": "lines"}

#: Exchanges in which the request of a second answer is looked for. A service may flood.
_REMEMBERED = 100

#: Seconds of one wait for notifications.
_MOMENT = 0.1

#: Processes that the suite starts in place of those that ended on a message, at most. The probes
#: send fewer messages on which servers end, and each may be asked again.
_MOST_RESTARTS = 20

#: The clauses that hold for every error, even one that the taxonomy says nothing about.
_ANYWHERE = ("leaks/", "mcp/error-text")


@dataclass(frozen=True, slots=True)
class PostedCall:
    """A request whose answer may come after others."""

    message: Message
    caller: Identity


@dataclass(slots=True)
class CallSession(Session):
    """One run against a service that is called by name. ``started``: the process of a service at
    an address, if the suite started it. ``_began``: the exchanges before the process or session.
    """

    started: Running | None = field(default=None, init=False)
    _began: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.confidential = ConfidentialValues(pointers=self.config.confidential)

    def call(
        self,
        name: str,
        params: object = ABSENT,
        *,
        identity: Identity | None = None,
        canaries: Sequence[Canary] = (),
        harmless: bool = False,
        may_fail: bool = False,
    ) -> Observation:
        """Call a method or tool, judge and record the answer.

        Raises Unanswered. ``harmless``: it changes nothing. ``may_fail``: it makes the service fail
        on purpose.
        """
        raise NotImplementedError

    def reset(self) -> None:
        """Start a new session of the protocol, if the service keeps a state for each."""

    def restart(self, until: str | None = None) -> None:
        """Start a new process with its session, if the suite started the service."""

    def take_step(
        self, step: Step, saved: dict[str, object], *, harmless: bool = False
    ) -> Observation | None:
        """Send a step that no recipe is judged by; return its answer, if it has one.

        Raises Unanswered. ``saved``: values by name, which the step adds to.
        """
        name = fill_in_text(self.source, step.call.path, saved)
        params = fill_in(self.source, step.call.body, saved)
        caller = self.identity(step.identity)
        answer = self.call(name, params, identity=caller, harmless=harmless)
        values = saved_values(step.save, answer, name)
        saved.update({} if isinstance(values, str) else values)
        return answer

    def post_step(
        self, step: Step, saved: dict[str, object], *, harmless: bool = False
    ) -> tuple[PostedCall, ...]:
        """Send a step without waiting for its answer; return the call, unless it is a
        notification. Only JSON-RPC has such steps.
        """
        raise NotImplementedError

    def collect_step(self, call: PostedCall, *, may_fail: bool) -> Observation:
        """Wait for the answer to a posted step."""
        raise NotImplementedError

    @property
    def stray_output(self) -> tuple[tuple[bytes, ...], int] | None:
        """The first outputs of the process besides its messages, and how many there are; None
        without a process.
        """
        return None

    def _patience(self) -> float | None:
        """Seconds that an answer may take as others do; None before the first answer."""
        slowest = self.driver.slowest
        if slowest is None:
            return None
        return min(self.driver.timeout, max(_SHORTEST_WAIT, _TIMES_SLOWER * slowest))

    def _hear_last_words(self) -> None:
        """Wait for the notifications of a session that is about to end: a moment, and longer if
        fewer came than errors with a code that a surface repeats.
        """
        surfaces = self.taxonomy.surfaces
        events = [each for each in surfaces.values() if each.transport == "event"]
        repeated = {each.name for event in events for each in _origins(surfaces, event)}
        waited, most = 0.0, _SHORTEST_WAIT if repeated else _MOMENT
        while waited < most and self.driver.listens():
            self.linger(_MOMENT)
            waited += _MOMENT
            seen = self.observations.exchanges[self._began :]
            errors = sum(one.code is not None and one.judgement.surface in repeated for one in seen)
            if sum(one.exchange.transport == "event" for one in seen) >= errors:
                return

    def _record_event(self, body: bytes) -> None:
        """Record a notification or a request of the service, which may carry an error."""
        value = parse_body(body)
        name = str(value["method"]) if isinstance(value, dict) else ""
        callers = self.config.identities.values()
        event = Exchange(
            Message(name, b"").request,
            Response(None, (), body),
            transport="event",
            operation=name,
            forbidden=tuple(secret for one in callers for secret in forbidden_secrets(one)),
        )
        self.record(event, judge(self.contract, event))

    def output_text(self) -> str | None:
        """The end of what the service wrote beside messages, if the suite started it."""
        if self.started is not None:
            return self.started.output_text()
        return Session.output_text(self)

    @property
    def samples(self) -> tuple[SampleCall, ...]:
        """The configured calls that may be sent, the safe ones first."""
        known = sorted(self.config.samples, key=lambda sample: not sample.safe)
        return tuple(sample for sample in known if sample.safe or self.writable)

    def renew_params(self, params: object) -> tuple[object, tuple[str, ...]]:
        """Return params with new values at their confidential places, and the pointers to these."""
        places = tuple(self.confidential.declared_places(params))
        params, canaries = self.confidential.renew(self.source, places, params)
        self.observations.plant(canaries)
        return params, tuple(place.pointer for place in places)

    def begin_exchange(
        self,
        transport: Literal["jsonrpc", "mcp"],
        request: Request,
        caller: Identity,
        canaries: Sequence[Canary] = (),
        *,
        may_fail: bool = False,
    ) -> Exchange:
        """Return the exchange of a request before its answer, and record the canaries.

        ``may_fail``: the request makes the service fail on purpose.
        """
        # A made-up method has one name in every run; it is not masked, for it identifies findings.
        self.observations.plant(canary for canary in canaries if canary.kind != "address")
        self.observations.plant(keep_made_up_params(self.confidential, self.config, request))
        secrets = (Canary("secret", secret) for secret, _ in caller.secrets)
        asked = Exchange(
            request=request,
            response=Response(None),
            transport=transport,
            operation=request.target,
            identity=None if caller.anonymous else caller.name,
            forbidden=(*secrets, *canaries),
            lacks=frozenset({crashes.CLAUSE} if may_fail else ()),
        )
        # Notifications may show a value before the answer comes.
        self.confidential.note_sent(Observation(asked, UNJUDGED))
        return asked

    def record(self, exchange: Exchange, judgement: Judgement) -> Observation:
        """Record an exchange with its judgement."""
        self.read_sinks()  # before a file is moved away
        observation = Observation(exchange, judgement)
        self.observations.record(observation)
        if exchange.transport != "event":
            self.log_answer(self.driver.latest, observation)
        self.add_decided(self.driver.latest, search_answer(self.confidential, observation))
        return observation


@dataclass(slots=True)
class RpcSession(CallSession):
    """One run against a JSON-RPC service.

    ``_ping``: the last harmless call that was answered. ``_asks``: the requests that the first
    process sent at its start. ``_is_lost``: the process has ended on a message. ``_restarts``: how
    many such were replaced. ``_is_beginning``: the session begins.
    """

    driver: Peer
    _last: int = field(default=0, init=False)
    _ping: Message | None = field(default=None, init=False)
    _asks: frozenset[str] | None = field(default=None, init=False)
    _is_lost: bool = field(default=False, init=False)
    _restarts: int = field(default=0, init=False)
    _is_beginning: bool = field(default=False, init=False)

    def call(
        self,
        name: str,
        params: object = ABSENT,
        *,
        identity: Identity | None = None,
        canaries: Sequence[Canary] = (),
        harmless: bool = False,
        may_fail: bool = False,
        id: object = None,
        swift: bool = False,
    ) -> Observation:
        """Call a method, judge and record the answer.

        Raises Unanswered. ``id``: None for a new number. ``swift``: its answer takes no longer than
        others.
        """
        posted = self.make_request(name, params, identity=identity, harmless=harmless, id=id)
        message = replace(posted, patience=self._patience() if swift else None)
        caller = self.caller if identity is None else identity
        observation = self._exchange(message, caller, canaries, may_fail=may_fail)[0]
        if harmless and (observation.ok or swift) and name not in self._steering_methods():
            self._ping = message
        return observation

    def _steering_methods(self) -> set[str]:
        """The methods that begin and end a session, or change its state."""
        settings = self.config.session
        steps = (*settings.start, *(step for end in settings.ends for step in end.steps))
        states = (state for claim in self.contract.claims for state in claim.surface.states)
        return {*(step.call.path for step in steps), *(state.method for state in states)}

    def make_request(
        self,
        name: str,
        params: object = ABSENT,
        *,
        identity: Identity | None = None,
        harmless: bool = False,
        id: object = None,
    ) -> Message:
        """Return a request. ``id``: None for a new number."""
        caller = self.caller if identity is None else identity
        body = request(name, params, self.new_id() if id is None else id)
        return Message(
            name, encode_message(body), (body["id"],), harmless=harmless, headers=caller.headers
        )

    def notify(
        self, name: str, params: object = ABSENT, *, harmless: bool = False
    ) -> Observation | None:
        """Send a notification and return its answer, which must not come; None if none came."""
        message = _make_notification(name, params, self.caller, harmless=harmless)
        return next(iter(self._exchange(message, self.caller, single=False)), None)

    def open_session(self) -> str | None:
        """Begin the session of the first process; return why nothing else is sent to the service.
        A step without an answer may be one in the wrong framing.
        """
        try:
            return self.begin_session()
        except Unanswered as error:
            problem = f"the session did not begin: {error}"
            if isinstance(self.driver, Process) and error.no_answer.kind == "timeout":
                framing = self.config.framing
                problem += f"; is `framing: {framing}` right? The other one is `{_OTHER[framing]}`"
            self.observations.end(problem)
            return problem

    def begin_session(self, until: str | None = None) -> str | None:
        """Send the first steps of the session; return why the service is not ready for others.

        ``until``: the method of the first step that is left out.
        """
        self._is_beginning = True
        try:
            refused = self._take_first_steps(until)
        finally:
            self._is_beginning = False
        if refused is not None:
            self.observations.end(refused)
            return refused
        if until is None and isinstance(self.driver, Process):
            methods = self.config.session.replies.keys() if self._asks is None else self._asks
            asked = self.driver.hear_requests(methods, _SHORTEST_WAIT)
            self._asks = asked if self._asks is None else self._asks
        return None

    def _take_first_steps(self, until: str | None) -> str | None:
        """Send the first steps of the session; return which one the service refused."""
        saved: dict[str, object] = dict(self.constants)
        for step in self.config.session.start:
            if step.call.path == until:
                break
            answer = self.take_step(step, saved, harmless=True)
            if answer is not None and not answer.ok:
                return f"the service answered {answer} to {step.call.path} of `session`"
        return None

    def take_step(
        self, step: Step, saved: dict[str, object], *, harmless: bool = False
    ) -> Observation | None:
        """Send a step; return its answer, or None of a notification."""
        if step.notification:
            self.post_step(step, saved, harmless=harmless)
            return None
        return CallSession.take_step(self, step, saved, harmless=harmless)

    def post_step(
        self, step: Step, saved: dict[str, object], *, harmless: bool = False
    ) -> tuple[PostedCall, ...]:
        """Send a step without waiting for its answer. Raises Unanswered."""
        name = fill_in_text(self.source, step.call.path, saved)
        params = fill_in(self.source, step.call.body, saved)
        caller = self.identity(step.identity)
        if step.notification:
            self._post(_make_notification(name, params, caller, harmless=harmless), caller)
            return ()
        posted = self.post_call(name, params, caller, harmless=harmless)
        if step.id is not None:
            saved[step.id] = posted.message.ids[0]
        return (posted,)

    def post_call(
        self,
        name: str,
        params: object,
        identity: Identity | None = None,
        *,
        harmless: bool = False,
    ) -> PostedCall:
        """Call a method without waiting for its answer. Raises Unanswered."""
        caller = self.caller if identity is None else identity
        message = self.make_request(name, params, identity=caller, harmless=harmless)
        self._post(message, caller)
        return PostedCall(message, caller)

    def _post(self, message: Message, caller: Identity) -> None:
        """Send a message without waiting for an answer."""
        asked = self.begin_exchange("jsonrpc", message.request, caller)
        self.check_running(asked)
        refused = self.driver.post(message)
        if refused is not None:
            raise self.record_missing(asked, refused)

    def collect_step(self, call: PostedCall, *, may_fail: bool) -> Observation:
        """Wait for the answer to a posted step, judge and record it. Raises Unanswered."""
        asked = self.begin_exchange("jsonrpc", call.message.request, call.caller, may_fail=may_fail)
        ping = self._new_ping()
        received = self.driver.collect(call.message, ping)
        self._end_if_hanging(asked, received, ping)
        return self._record_answer(call.message, asked, received)[0]

    def restart(self, until: str | None = None) -> None:
        """End the process, and start another one with its session. Raises Unanswered.

        ``until``: the method of the first step that is left out.
        """
        if not isinstance(self.driver, Process):
            return
        asked = self.begin_exchange("jsonrpc", Message("a new process", b"").request, self.caller)
        CallSession.check_running(self, asked)
        self._start_process(asked, until)

    def check_running(self, asked: Exchange) -> None:
        """Start a new process in place of one that has ended. Raises Unanswered if nothing more is
        sent to the service.
        """
        CallSession.check_running(self, asked)
        if self._is_lost:
            self._restarts += 1
            self._start_process(asked)

    def record_missing(
        self, asked: Exchange, answer: NoAnswer, *, may_disconnect: bool = False
    ) -> Unanswered:
        """Record a missing answer, and whether the process has ended on the message."""
        error = CallSession.record_missing(self, asked, answer, may_disconnect=may_disconnect)
        self._is_lost = self.will_restart() and not self.driver.listens()
        return error

    def will_restart(self) -> bool:
        """Whether the suite starts a process in place of one that has ended. One that ends before
        its first answer, or in the steps of its session, would end again.
        """
        has_answered = isinstance(self.driver, Process) and self.driver.slowest is not None
        return has_answered and not self._is_beginning and self._restarts < _MOST_RESTARTS

    def _start_process(self, asked: Exchange, until: str | None = None) -> None:
        """Start a new process in place of the current one, with its session."""
        assert isinstance(self.driver, Process), "only a process is started"
        self._is_lost = False
        self._hear_last_words()
        self._began = len(self.observations.exchanges)
        try:
            self.driver.restart()
        except OSError as error:
            reason = f"the command cannot be started again: {error.strerror or error}"
            self.observations.end(reason)
            raise self.record_missing(asked, NoAnswer(asked.request, "refused", reason)) from None
        problem = self.begin_session(until)
        if problem is not None:
            raise Unanswered(NoAnswer(asked.request, "garbled", problem))

    def batch(
        self, calls: Iterable[Mapping[str, object]], *, due: bool = True, harmless: bool = False
    ) -> list[Observation]:
        """Send calls in one message; return an exchange for each answer, or the single answer to
        all of them.
        """
        parts = list(calls)
        message = Message(
            "a batch" if parts else "an empty batch",
            encode_message(parts),
            tuple(part["id"] for part in parts if "id" in part),
            due=due,
            harmless=harmless,
            headers=self.caller.headers,
            patience=self._patience(),
        )
        return self._exchange(message, self.caller, single=False, parts=parts)

    def send_raw(self, what: str, body: bytes, ids: tuple[object, ...] = ()) -> Observation:
        """Send a body that is not a request. ``what`` names it in reports."""
        message = Message(
            what,
            body,
            ids,
            harmless=True,
            headers=self.caller.headers,
            patience=self._patience(),
        )
        return self._exchange(message, self.caller)[0]

    @property
    def stray_output(self) -> tuple[tuple[bytes, ...], int] | None:
        """The first outputs of the process besides its messages, and how many there are."""
        if not isinstance(self.driver, Process):
            return None
        return self.driver.stray, self.driver.strays

    @property
    def hears(self) -> bool:
        """Whether unsolicited messages of the service arrive."""
        return self.driver.hears

    def linger(self, seconds: float) -> None:
        """Wait for unsolicited messages; judge and record them."""
        for body in self.driver.linger(seconds):
            self._record_event(body)
        self.read_sinks()

    def new_id(self) -> int:
        """Return an id that was not used before."""
        self._last += 1
        return self._last

    def _exchange(
        self,
        message: Message,
        caller: Identity,
        canaries: Sequence[Canary] = (),
        *,
        single: bool = True,
        may_fail: bool = False,
        parts: Sequence[Mapping[str, object]] = (),
    ) -> list[Observation]:
        """Send a message, judge and record its answers.

        ``single``: it is one request, so its answer is checked as one.
        """
        asked = self.begin_exchange("jsonrpc", message.request, caller, canaries, may_fail=may_fail)
        self.check_running(asked)
        ping = self._new_ping() if message.due else None
        received = self.driver.send(message, ping)
        self._end_if_hanging(asked, received, ping)
        return self._record_answer(message, asked, received, single=single, parts=parts)

    def _end_if_hanging(
        self, asked: Exchange, received: ReceivedMessage | NoAnswer, ping: Message | None
    ) -> None:
        """End the run if the service answered neither a message nor the ping after it. Raises
        Unanswered.
        """
        asked_again = ping is not None and self.driver.remaining > 0
        if asked_again and isinstance(received, NoAnswer) and received.kind == "timeout":
            error = self.record_missing(asked, received)
            name = asked.request.target
            self.observations.end(
                f"the service hangs since {name}: it does not answer what it answered before either"
            )
            raise error

    def _record_answer(
        self,
        message: Message,
        asked: Exchange,
        received: ReceivedMessage | NoAnswer,
        *,
        single: bool = True,
        parts: Sequence[Mapping[str, object]] = (),
    ) -> list[Observation]:
        """Judge and record the answers to a message."""
        if isinstance(received, NoAnswer):
            raise self.record_missing(asked, received)
        self.observations.note_answer()
        self.unkept += received.unkept
        for body in received.between:
            self._record_event(body)
        if not received.response.body:
            return []  # none was due
        observations = [
            self.record(exchange, judge(self.contract, exchange))
            for exchange in _exchanges(asked, received, parts)
        ]
        for observation in observations if single else ():
            self.add_decided(self.driver.latest, response_outcomes(observation, message.ids))
        return observations

    def _new_ping(self) -> Message | None:
        """Return a request that was answered before, with a new id."""
        if self._ping is None:
            return None
        body, id = parse_body(self._ping.body), self.new_id()
        assert isinstance(body, dict), "the suite made this request"
        return replace(self._ping, body=encode_message({**body, "id": id}), ids=(id,))

    def _record_event(self, body: bytes) -> None:
        """Record an unsolicited message: an event, or an answer that nobody asked for."""
        value = parse_body(body)
        if isinstance(value, dict) and "method" in value:
            CallSession._record_event(self, body)
        else:
            self._record_unasked(body)

    def _record_unasked(self, body: bytes) -> None:
        """Record an answer to a request that had one already, or to none at all."""
        ids = _ids_of(parse_body(body))
        answered = (
            one
            for one in islice(reversed(self.observations.exchanges), _REMEMBERED)
            if one.exchange.transport == "jsonrpc"
            and any(are_equal(_ids_of(parse_body(one.exchange.request.body)), [id]) for id in ids)
        )
        first = next(answered, None)
        response = Response(None, (), body)
        unasked = Exchange(Message("an answer without a request", b"").request, response, "jsonrpc")
        message = (
            f"the service sent an answer with the id {json.dumps(ids[0])}, which no request has"
        )
        if first is not None:
            unasked = replace(first.exchange, response=response)
            message = f"the service sent a second answer to {first.exchange.operation}"
        seen = Observation(unasked, UNJUDGED)
        self.add_decided(self.driver.latest, [failed("rpc/id", message, seen, variant="unasked")])


@dataclass(slots=True)
class ToolSession(CallSession):
    """One run against an MCP server. ``_ping``: the name, arguments and headers of the last
    harmless call that was answered.
    """

    driver: "McpDriver"
    _ping: tuple[str, Mapping[str, object], Headers] | None = field(default=None, init=False)

    def call(
        self,
        name: str,
        params: object = ABSENT,
        *,
        identity: Identity | None = None,
        canaries: Sequence[Canary] = (),
        harmless: bool = False,
        may_fail: bool = False,
        judged: bool = True,
    ) -> Observation:
        """Call a tool, judge and record the answer. Raises Unanswered.

        ``judged``: False if the taxonomy says nothing about the call, such as one of an unknown
        tool. Then an answer without a declared code is only searched for leaks, and one takes no
        longer than others.
        """
        caller = self.caller if identity is None else identity
        arguments = params if isinstance(params, dict) else {}
        request = Request("POST", name, caller.headers, encode_message(arguments))
        asked = self.begin_exchange("mcp", request, caller, canaries, may_fail=may_fail)
        self.check_running(asked)
        patience = None if judged or self._ping is None else self._patience()
        answered = self.driver.call(
            name, arguments, caller.headers, harmless=harmless, patience=patience
        )
        if isinstance(answered, NoAnswer):
            self._hear()
            raise self.record_missing(asked, self._confirm_silence(answered))
        self.observations.note_answer()
        self._hear()
        if harmless:
            self._ping = name, arguments, caller.headers
        transport: Literal["jsonrpc", "mcp"] = "jsonrpc" if answered.protocol else "mcp"
        exchange = replace(asked, response=answered.response, transport=transport)
        judgement = judge(self.contract, exchange)
        of_protocol = name in self.driver.protocol_methods
        if (of_protocol or not judged) and judgement.code is None:
            judgement = _without_form(judgement)
        return self.record(exchange, judgement)

    def _confirm_silence(self, silence: NoAnswer) -> NoAnswer:
        """Make a call again that was answered before; return why the other one has no answer."""
        if silence.kind != "timeout" or self._ping is None:
            return silence
        name, arguments, headers = self._ping
        with self.driver.log_as("confirm"):
            answered = self.driver.call(name, arguments, headers, harmless=True)
        return silence if isinstance(answered, NoAnswer) else report_ignored(silence)

    def record_missing(
        self, asked: Exchange, answer: NoAnswer, *, may_disconnect: bool = False
    ) -> Unanswered:
        """Record a missing answer. If the server gave none so far, the run ends: each call begins a
        session, and needs the same handshake.
        """
        error = Session.record_missing(self, asked, answer, may_disconnect=may_disconnect)
        if self.driver.slowest is None and answer.kind in ("closed", "garbled", "refused"):
            self.observations.end(f"the server gave no answer: {answer.reason}")
        return error

    @property
    def revision(self) -> str | None:
        """The revision of the protocol that the server speaks; None before the first call."""
        return self.driver.spoken

    @property
    def stray_output(self) -> tuple[tuple[bytes, ...], int] | None:
        """The first outputs of the processes besides their messages, and how many there are."""
        strays = self.driver.strays
        return None if strays is None else (self.driver.stray, strays)

    def tools(self) -> "Mapping[str, Tool]":
        """Return the tools that the server lists, by name; empty if it lists none."""
        listed = self.driver.tools(self.caller.headers)
        if isinstance(listed, tuple):
            self._ping = self._ping or ("tools/list", {}, self.caller.headers)
            return {tool.name: tool for tool in listed}
        if not isinstance(listed, NoAnswer):
            self._record_refusal(Request("POST", "tools/list", self.caller.headers), listed)
        return {}

    @property
    def hears(self) -> bool:
        """Whether notifications of the server arrive."""
        return self.driver.hears

    def linger(self, seconds: float) -> None:
        """Wait for notifications and for records of sinks; judge and record them."""
        Session.linger(self, seconds)
        self._hear()

    def _hear(self) -> None:
        """Judge and record what the server has sent besides answers."""
        bodies, unkept = self.driver.take_unprompted()
        self.unkept += unkept
        for body in bodies:
            self._record_event(body)

    def reset(self) -> None:
        """Start a new session of the protocol, after what the old one still sends."""
        events = any(one.transport == "event" for one in self.taxonomy.surfaces.values())
        if (events or self.confidential.sent_values()) and self.observations.ended is None:
            self._hear_last_words()
        self._began = len(self.observations.exchanges)
        self.driver.begin()

    def resource(self, uri: str) -> Observation:
        """Read a resource, whose text is the body. Raises Unanswered."""
        request = Request("POST", uri, self.caller.headers)
        asked = Exchange(request, Response(None), "mcp", operation=uri)
        self.check_running(asked)
        answered = self.driver.read(uri, self.caller.headers)
        if isinstance(answered, NoAnswer):
            raise self.record_missing(asked, answered)
        if answered.protocol:
            return self._record_refusal(request, answered)
        return Observation(replace(asked, response=answered.response), UNJUDGED)

    def _record_refusal(self, request: Request, answered: "ToolAnswer") -> Observation:
        """Record an error of the protocol that answers something other than a call of a tool."""
        asked = self.begin_exchange("jsonrpc", request, self.caller)
        exchange = replace(asked, response=answered.response)
        return self.record(exchange, _without_form(judge(self.contract, exchange)))


def _origins(surfaces: Mapping[str, Surface], surface: Surface) -> Iterator[Surface]:
    """The surfaces that one repeats, directly or through another."""
    left = dict(surfaces)
    following = left.pop(surface.repeats or "", None)
    while following is not None:
        yield following
        following = left.pop(following.repeats or "", None)


def _without_form(judgement: Judgement) -> Judgement:
    """Return the part of a judgement that holds for every error."""
    findings = (item for item in judgement.findings if item.clause.startswith(_ANYWHERE))
    exercised = frozenset(clause for clause in judgement.exercised if clause.startswith(_ANYWHERE))
    return replace(judgement, findings=tuple(findings), exercised=exercised)


def request(name: str, params: object, id: object) -> dict[str, object]:
    """Return a request of JSON-RPC 2.0 (section 4)."""
    return {**notification(name, params), "id": id}


def notification(name: str, params: object = ABSENT) -> dict[str, object]:
    """Return a request without an id, which gets no answer (section 4.1)."""
    head: dict[str, object] = {"jsonrpc": "2.0", "method": name}
    return head if params is ABSENT else {**head, "params": params}


def _make_notification(name: str, params: object, caller: Identity, *, harmless: bool) -> Message:
    body = encode_message(notification(name, params))
    return Message(name, body, due=False, harmless=harmless, headers=caller.headers)


def encode_message(value: object) -> bytes:
    """Return a message in one line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def response_outcomes(observation: Observation, ids: tuple[object, ...]) -> list[Outcome]:
    """Check that an answer is a response object (section 5) with one of the ids, in JSON that every
    reader reads alike.
    """
    strict, clause = read(observation.exchange.response.body), "rpc/response"
    body = strict.value if strict.problem is None else observation.json

    def fail(message: str, pointer: str | None = None) -> list[Outcome]:
        return [failed(clause, message, observation, pointer=pointer)]

    if body is not None and strict.problem is not None:
        return fail(f"the answer {strict.problem}")
    if not isinstance(body, dict):
        status = observation.header(":status")
        suffix = f" (HTTP status {status})" if status is not None else ""
        return fail(f"the answer is not a JSON object{suffix}")
    if body.get("jsonrpc") != "2.0":
        return fail('`jsonrpc` is not "2.0"', "/jsonrpc")
    if ("result" in body) == ("error" in body):
        which = "both `result` and `error`" if "result" in body else "neither `result` nor `error`"
        return fail(f"the answer has {which}")
    number = protocol_error(body)
    if "error" in body and (isinstance(number, bool) or not isinstance(number, int)):
        return fail("`code` of the error is not an integer", "/error/code")
    if "id" not in body:
        return fail("the answer has no `id`")
    return [passed(clause), *_id_outcomes(observation, body["id"], ids)]


def _id_outcomes(observation: Observation, found: object, ids: tuple[object, ...]) -> list[Outcome]:
    clause = "rpc/id"
    if not ids:
        return []
    # A service that cannot read the id of a malformed request answers with null (section 5).
    unreadable = found is None and protocol_error(observation.json) in (-32700, -32600)
    if unreadable or any(are_equal(found, id) for id in ids):
        return [passed(clause)]
    wanted = " or ".join(json.dumps(id) for id in ids)
    message = f"the id is {json.dumps(found)}; the request has {wanted}"
    return [failed(clause, message, observation, pointer="/id")]


def _ids_of(value: object) -> list[object]:
    """The ids of a message, or of the messages in a batch."""
    messages = value if isinstance(value, list) else [value]
    return [each["id"] for each in messages if isinstance(each, dict) and "id" in each]


def _exchanges(
    asked: Exchange, received: ReceivedMessage, parts: Sequence[Mapping[str, object]]
) -> list[Exchange]:
    """Return the exchange of an answer, or one for each answer to the ``parts`` of a batch."""
    response = received.response
    whole = replace(asked, response=response)
    answers = parse_body(response.body)
    if not parts or not isinstance(answers, list):
        return [whole]
    exchanges = []
    for answer in answers:
        id = answer.get("id") if isinstance(answer, dict) else None
        part = next((part for part in parts if "id" in part and are_equal(part["id"], id)), None)
        name = str(part["method"]) if part is not None else asked.request.target
        body = encode_message(part) if part is not None else asked.request.body
        exchanges.append(
            replace(
                asked,
                request=Message(name, body, headers=asked.request.headers).request,
                response=Response(None, response.headers, encode_message(answer), response.elapsed),
                operation=name,
            )
        )
    return exchanges or [whole]
