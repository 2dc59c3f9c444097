"""What probes ask with where there is no HTTP: calls by name, each answer judged on the spot. JSON-RPC here; MCP beside it.

A protocol has rules of its own beside those of the taxonomy (JSON-RPC 2.0, sections 4 to 6); those that every answer can
break are checked here, the others by probes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Literal

from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Canary, Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language.values import same
from faultspec_conformance.config import ABSENT, Identity, SampleCall
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.jsonrpc import Message, Peer, ReceivedMessage
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.sampling.tokens import seeded
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    parsed,
    passed,
    protocol_error,
)

if TYPE_CHECKING:
    from faultspec_conformance.drivers.mcp import McpDriver, ToolAnswer

#: The judge's answer on what is no matter of the taxonomy.
UNJUDGED = Judgement((), frozenset())

#: The family of clauses that hold of every error, also of one that the taxonomy has no other say in.
_ANYWHERE = "leaks/"


@dataclass(slots=True)
class CallSession(Session):
    """One run against one service that is called by name. ``unkept``: messages that came unasked and were too many to keep."""

    unkept: int = field(default=0, init=False)

    random: Random = field(default_factory=Random, init=False)

    def start(self, part: str, seed: int | None) -> None:
        """Start a part of the run, whose values depend on no other part: with a seed all of them, else those that may recur."""
        self.part()
        self.random = Random(f"{seed or 0}/{part}")
        if seed is not None:
            self.tokens = seeded(f"{seed}/{part}/tokens")

    def call(
        self,
        name: str,
        params: object = ABSENT,
        *,
        identity: Identity | None = None,
        plant: Sequence[Canary] = (),
        harmless: bool = False,
    ) -> Observation:
        """Call a method or tool and have the answer judged; raises Unanswered. ``harmless``: it changes nothing."""
        raise NotImplementedError

    def begin(self) -> None:
        """Begin anew where the service keeps a state for each session."""

    @property
    def hears(self) -> bool:
        """Whether what the service says unasked is heard."""
        return False

    def linger(self, seconds: float) -> None:
        """Wait for what the service may still say unasked."""

    @property
    def samples(self) -> tuple[SampleCall, ...]:
        """The calls of the file that may be sent: those that are safe first, and others where anything may be written."""
        known = sorted(self.target.samples, key=lambda each: not each.safe)
        return tuple(each for each in known if each.safe or self.writable)

    def forbidden(self, who: Identity, plant: Sequence[Canary] = ()) -> tuple[Canary, ...]:
        """What must not come back to a caller."""
        # The name of what there is not is the same in every run, and names its findings.
        self.planted += [each for each in plant if each.kind != "address"]
        return (*(Canary("secret", secret) for secret, _ in who.secrets), *plant)


@dataclass(slots=True)
class RpcSession(CallSession):
    """One run against one JSON-RPC service."""

    driver: Peer
    _last: int = field(default=0, init=False)

    def call(
        self,
        name: str,
        params: object = ABSENT,
        *,
        identity: Identity | None = None,
        plant: Sequence[Canary] = (),
        harmless: bool = False,
        id: object = None,
    ) -> Observation:
        """Call a method; ``id`` is a new number unless one is given."""
        who = self.caller if identity is None else identity
        body = request(name, params, self.new_id() if id is None else id)
        sent = self.said(
            Message(name, encoded(body), (body["id"],), harmless=harmless, headers=who.headers),
            who,
            plant,
        )
        return sent[0]

    def notify(
        self, name: str, params: object = ABSENT, *, harmless: bool = False
    ) -> Observation | None:
        """Send a notification; what came back although nothing is due, or None."""
        message = Message(name, encoded(notification(name, params)), due=False, harmless=harmless)
        found = self.said(message, self.caller, single=False)
        return found[0] if found else None

    def batch(
        self, calls: Iterable[Mapping[str, object]], *, due: bool = True, harmless: bool = False
    ) -> list[Observation]:
        """Send calls in one message; an exchange for each answer of theirs, or the one answer to them all."""
        many = list(calls)
        ids = tuple(each["id"] for each in many if "id" in each)
        headers = self.caller.headers
        message = Message(
            "a batch" if many else "an empty batch",
            encoded(many),
            ids,
            due=due,
            harmless=harmless,
            headers=headers,
        )
        return self.said(message, self.caller, single=False, parts=many)

    def raw(self, what: str, body: bytes, ids: tuple[object, ...] = ()) -> Observation:
        """Send what is no request; ``what`` names it in reports."""
        return self.said(
            Message(what, body, ids, harmless=True, headers=self.caller.headers), self.caller
        )[0]

    @property
    def hears(self) -> bool:
        """Whether what the service says unasked is heard."""
        return self.driver.hears

    def linger(self, seconds: float) -> None:
        """Wait for what the service may still say unasked, and have it judged."""
        for each in self.driver.linger(seconds):
            self._told(each)

    def new_id(self) -> int:
        """An id that was not used before."""
        self._last += 1
        return self._last

    # ---- inside

    def said(
        self,
        message: Message,
        who: Identity,
        plant: Sequence[Canary] = (),
        *,
        single: bool = True,
        parts: Sequence[Mapping[str, object]] = (),
    ) -> list[Observation]:
        """Say a message, and have what comes back judged. ``single``: it is one request, so that an answer is to be its answer."""
        asked = Exchange(
            request=message.request,
            response=Response(None),
            transport="jsonrpc",
            operation=message.method,
            identity=None if who.anonymous else who.name,
            forbidden=self.forbidden(who, plant),
        )
        self.still(asked)
        heard = self.driver.send(message)
        if isinstance(heard, NoAnswer):
            raise self.failed(asked, heard)
        self.heard()
        self.unkept += heard.unkept
        for each in heard.between:
            self._told(each)
        if not heard.response.body and not message.due:
            return []
        if not heard.response.body:
            raise self.failed(asked, NoAnswer(message.request, "garbled", "the answer is empty"))
        found = [self._judged(each) for each in _parted(asked, heard, parts)]
        if single:
            for sent in found:
                self.outcomes += formed(sent, message.ids)
        return found

    def _judged(self, exchange: Exchange) -> Observation:
        sent = Observation(exchange, judge(self.contract, exchange))
        self.exchanges.append(sent)
        return sent

    def _told(self, body: bytes) -> None:
        """A message of the peer's own is an event, and may carry an error."""
        value = parsed(body)
        name = str(value.get("method")) if isinstance(value, dict) else ""
        told = Exchange(
            Message(name, b"").request, Response(None, (), body), transport="event", operation=name
        )
        self._judged(told)


@dataclass(slots=True)
class ToolSession(CallSession):
    """One run against one MCP server."""

    driver: "McpDriver"

    def call(
        self,
        name: str,
        params: object = ABSENT,
        *,
        identity: Identity | None = None,
        plant: Sequence[Canary] = (),
        harmless: bool = False,
        judged: bool = True,
    ) -> Observation:
        """Call a tool. What is not ``judged`` is no call that the taxonomy speaks of, such as one of a tool that there is not:
        unless a declared code answers it, it is searched for leaks alone.
        """
        who = self.caller if identity is None else identity
        arguments = params if isinstance(params, dict) else {}
        asked = Exchange(
            request=Request("POST", name, who.headers, encoded(arguments)),
            response=Response(None),
            transport="mcp",
            operation=name,
            identity=None if who.anonymous else who.name,
            forbidden=self.forbidden(who, plant),
        )
        self.still(asked)
        answered = self.driver.call(name, arguments, who.headers, harmless=harmless)
        if isinstance(answered, NoAnswer):
            raise self.failed(asked, answered)
        self.heard()
        transport: Literal["jsonrpc", "mcp"] = "jsonrpc" if answered.protocol else "mcp"
        exchange = replace(asked, response=answered.response, transport=transport)
        judgement = judge(self.contract, exchange)
        return self._kept(
            exchange, judgement if judged or judgement.code is not None else _searched(judgement)
        )

    def schemas(self) -> Mapping[str, Mapping[str, object]]:
        """The schema of the arguments of each tool that the server lists; none where it lists none."""
        listed = self.driver.tools(self.caller.headers)
        if isinstance(listed, tuple):
            return {each.name: each.schema for each in listed}
        if not isinstance(listed, NoAnswer):
            self._refused(Request("POST", "tools/list", self.caller.headers), listed)
        return {}

    def begin(self) -> None:
        """Begin with sessions of their own."""
        self.driver.begin()

    def resource(self, uri: str) -> Observation:
        """Read a resource; raises Unanswered. The body is its text."""
        asked = Exchange(
            Request("POST", uri, self.caller.headers), Response(None), "mcp", operation=uri
        )
        self.still(asked)
        answered = self.driver.read(uri, self.caller.headers)
        if isinstance(answered, NoAnswer):
            raise self.failed(asked, answered)
        if answered.protocol:
            return self._refused(asked.request, answered)
        return Observation(replace(asked, response=answered.response), UNJUDGED)

    def _refused(self, asked: Request, answered: "ToolAnswer") -> Observation:
        """An error of the protocol to what is no call of a tool."""
        who = self.caller
        identity = None if who.anonymous else who.name
        exchange = Exchange(
            asked, answered.response, "jsonrpc", None, asked.target, identity, self.forbidden(who)
        )
        return self._kept(exchange, _searched(judge(self.contract, exchange)))

    def _kept(self, exchange: Exchange, judgement: Judgement) -> Observation:
        sent = Observation(exchange, judgement)
        self.exchanges.append(sent)
        return sent


def _searched(judgement: Judgement) -> Judgement:
    """What a judgement says of leaks."""
    return replace(
        judgement,
        findings=tuple(
            finding for finding in judgement.findings if finding.clause.startswith(_ANYWHERE)
        ),
        exercised=frozenset(each for each in judgement.exercised if each.startswith(_ANYWHERE)),
    )


def request(name: str, params: object, id: object) -> dict[str, object]:
    """A request of JSON-RPC 2.0 (section 4)."""
    return {**notification(name, params), "id": id}


def notification(name: str, params: object = ABSENT) -> dict[str, object]:
    """A request without an id, which is not answered (section 4.1)."""
    head: dict[str, object] = {"jsonrpc": "2.0", "method": name}
    return head if params is ABSENT else {**head, "params": params}


def encoded(value: object) -> bytes:
    """A message in one line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def formed(sent: Observation, ids: tuple[object, ...]) -> list[Outcome]:
    """Whether an answer is one of JSON-RPC (section 5), and whose."""
    body, clause = sent.json, "rpc/response"
    if not isinstance(body, dict):
        status = sent.header(":status")
        what = "is no JSON object" + (f" (HTTP status {status})" if status is not None else "")
        return [failed(clause, f"the answer {what}", sent)]
    if body.get("jsonrpc") != "2.0":
        return [failed(clause, '`jsonrpc` is not "2.0"', sent, pointer="/jsonrpc")]
    if ("result" in body) == ("error" in body):
        which = "both `result` and `error`" if "result" in body else "neither `result` nor `error`"
        return [failed(clause, f"the answer has {which}", sent)]
    if "error" in body and (
        isinstance(protocol_error(body), bool) or not isinstance(protocol_error(body), int)
    ):
        return [
            failed(clause, "`code` of the error is no whole number", sent, pointer="/error/code")
        ]
    if "id" not in body:
        return [failed(clause, "the answer has no `id`", sent)]
    return [passed(clause), *_whose(sent, body["id"], ids)]


def _whose(sent: Observation, found: object, ids: tuple[object, ...]) -> list[Outcome]:
    if not ids:
        return []
    # Who cannot read the id of what is no request answers with null (section 5).
    if any(same(found, each) for each in ids) or (
        found is None and protocol_error(sent.json) in (-32700, -32600)
    ):
        return [passed("rpc/id")]
    wanted = " or ".join(json.dumps(each) for each in ids)
    return [
        failed(
            "rpc/id",
            f"the id is {json.dumps(found)}; the request has {wanted}",
            sent,
            pointer="/id",
        )
    ]


def _parted(
    asked: Exchange, heard: ReceivedMessage, parts: Sequence[Mapping[str, object]]
) -> list[Exchange]:
    """The exchanges of an answer: one, or as many as there are answers in it."""
    whole = Exchange(
        asked.request,
        heard.response,
        asked.transport,
        None,
        asked.operation,
        asked.identity,
        asked.forbidden,
    )
    answers = parsed(heard.response.body)
    if not parts or not isinstance(answers, list):
        return [whole]
    found = []
    for answer in answers:
        own = answer.get("id") if isinstance(answer, dict) else None
        part = next((one for one in parts if "id" in one and same(one["id"], own)), None)
        name = str(part["method"]) if part is not None else asked.request.target
        body = encoded(part) if part is not None else asked.request.body
        found.append(
            Exchange(
                Message(name, body, headers=asked.request.headers).request,
                Response(None, heard.response.headers, encoded(answer), heard.response.elapsed),
                "jsonrpc",
                None,
                name,
                asked.identity,
                asked.forbidden,
            )
        )
    return found or [whole]
