"""The world a probe lives in: it sends requests, and every answer is judged on the spot.

Whatever is asked of a service, the answer is an occasion for every clause that one exchange can break, and for the
correlation rules; a probe only adds the relations that need several exchanges.
"""

import json
from collections import ChainMap, Counter
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from time import time
from typing import Literal
from urllib.parse import urlencode

from faultspec.exchange.model import Canary, Exchange, Headers, Request, Response
from faultspec.judge import judge
from faultspec.openapi.service import Description, ServiceOperation
from faultspec.runtime import ids, retry_after
from faultspec_conformance import sampling
from faultspec_conformance.config import ABSENT, Identity
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.sampling.tokens import seeded
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.correlation import EchoRule, check_echo, echo_rule, lenient
from faultspec_conformance.session.observation import Observation, Unanswered, streamed
from faultspec_conformance.session.resources import (
    JSON,
    CreatedResource,
    ResourceKind,
    find_resource_kinds,
    located,
    path_of,
)
from faultspec_conformance.session.upstreams import ScriptedUpstream

#: JSON where there is a choice, and whatever there is otherwise, such as a stream of events.
_ACCEPT = f"{JSON}, */*;q=0.8"

#: Waiting longer than this for a limit to lift would cost more than the answer is worth.
PATIENCE = 10.0

#: Beyond what Retry-After asks for: clocks of two machines differ, and seconds are whole.
_GRACE = 0.1

#: What a probe says to the world when it wants the ordinary thing.
Correlation = Literal["auto", "valid", "none"]


@dataclass(slots=True)
class Knowledge:
    """What a unit of the run has learnt of the service.

    ``exchanges``: what it has seen; ``generated``: the correlation ids that the service made up; ``tenants``: the name that the
    tenant of an identity has; ``spare``: a resource of each kind that was made and left alone; ``absent``: the operations that
    were asked for an id that names nothing; ``keyless``: the service refuses idempotency keys.
    """

    exchanges: list[Observation] = field(default_factory=list)
    generated: dict[str, Observation] = field(default_factory=dict)
    tenants: dict[str, str] = field(default_factory=dict)
    spare: dict[str, CreatedResource] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    keyless: bool = False


@dataclass(slots=True)
class HttpSession(Session):
    """One run against one service over HTTP. Probes use `call` and the facts.

    What a probe does depends on what its own unit has learnt (``own``), and on what every shard learns (``common``), on nothing
    else: so a run in parts finds what a whole one finds.

    ``made``: the resource of each kind that probes share; ``touched``: the kinds whose shared resource was changed or deleted;
    ``upstreams``: those it calls that are scripted; ``turn``: the kinds of resource that are tested now.
    """

    driver: HttpDriver
    description: Description
    random: Random
    common: Knowledge = field(default_factory=Knowledge)
    own: Knowledge = field(init=False)
    made: dict[str, CreatedResource | str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    upstreams: Mapping[str, ScriptedUpstream] = field(default_factory=dict)
    turn: tuple[ResourceKind, ...] = ()
    kinds: tuple[ResourceKind, ...] = field(init=False)
    echo: EchoRule | None = field(init=False)
    _units: dict[str, Knowledge] = field(default_factory=dict)
    _part: str = ""
    _turns: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.kinds = find_resource_kinds(self.target, self.description)
        self.echo = echo_rule(self.taxonomy)
        self.own = self.common

    # ---- what is known

    @property
    def visible(self) -> Sequence[Observation]:
        """The exchanges that a probe may draw conclusions from."""
        return (
            self.own.exchanges
            if self.own is self.common
            else [*self.common.exchanges, *self.own.exchanges]
        )

    @property
    def generated(self) -> MutableMapping[str, Observation]:
        """The correlation ids that the service made up."""
        return ChainMap(self.own.generated, self.common.generated)

    @property
    def keyless(self) -> bool:
        """Whether the service refuses idempotency keys."""
        return self.own.keyless or self.common.keyless

    # ---- who calls

    @property
    def source(self) -> sampling.ValueSource:
        """Where synthesised values come from."""
        return sampling.ValueSource(self.description.document, self.random, self.tokens)

    def stranger(self, owner: Identity) -> Identity | None:
        """A caller of another tenant than ``owner``, the most able first."""
        others = [
            identity
            for identity in self.identities()
            if identity.tenant is not None and identity.tenant != owner.tenant
        ]
        return (
            min(others, key=lambda each: each.scopes is not None, default=None)
            if owner.tenant is not None
            else None
        )

    # ---- what is there

    def operation(self, method: str, path: str) -> ServiceOperation:
        """The operation that a request of the file addresses; one of our own where the document has none."""
        return located(self.description, method, path)

    @property
    def wires(self) -> frozenset[object]:
        """What stands in the code slot of errors, where it is text."""
        return frozenset(
            code.wire for code in self.taxonomy.live_codes() if isinstance(code.wire, str)
        )

    def begin(
        self, part: str, seed: int | None, unit: str | None = None, *, again: bool = False
    ) -> None:
        """Begin a part of the run, whose values depend on no other part: with a seed all of them, else those that may recur.

        ``unit``: whose knowledge it shares; without one it adds to what all share. ``again``: the same part, with what must be
        new new.
        """
        self.part()
        self.own = self.common if unit is None else self._units.setdefault(unit, Knowledge())
        self.random = Random(f"{seed or 0}/{part}")
        self._part = part
        self._turns.clear()
        if seed is not None:
            self.tokens = seeded(f"{seed}/{part}/tokens{'/again' if again else ''}")

    # ---- sending

    def call(
        self,
        method: str,
        template: str,
        *,
        identity: Identity | None = None,
        values: Mapping[str, object] | None = None,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = ABSENT,
        raw: bytes | None = None,
        content_type: str | None = JSON,
        accept: str | None = _ACCEPT,
        correlation: Correlation | str = "auto",
        plant: Sequence[Canary] = (),
        route: str | Literal["same"] | None = "same",
        patient: bool = True,
        may_close: bool = False,
        unbearable: bool = False,
    ) -> Observation:
        """Send one request and have the answer judged; raises Unanswered.

        ``values`` fill the placeholders of ``template``. A header of None is left out, even one of the identity.
        ``patient``: a 429 that nobody asked for is waited out and the request sent again. ``may_close``: servers hang up
        on such a request, which says nothing of the service as long as it lives. ``unbearable``: and they refuse it in words
        of their own, which is not judged.
        """
        who = self.caller if identity is None else identity
        request, path = self._written(
            method,
            template,
            who,
            values,
            query,
            headers,
            body,
            raw,
            content_type,
            accept,
            correlation,
        )
        known = route if route != "same" else path
        sent = self.ask(
            request,
            who,
            route=known,
            plant=plant,
            patient=patient,
            may_close=may_close,
            unbearable=unbearable,
        )
        if sent.status == 429 and patient:
            after = sent.header("Retry-After")
            reason = f"the service limits the rate: {method} {path} is answered 429"
            raise Unanswered(
                NoAnswer(request, "limited", f"{reason}, Retry-After {after}" if after else reason)
            )
        return sent

    def ask(
        self,
        request: Request,
        who: Identity,
        *,
        route: str | None,
        plant: Sequence[Canary] = (),
        patient: bool = True,
        may_close: bool = False,
        unbearable: bool = False,
    ) -> Observation:
        """Send a request as it stands and have the answer judged; raises Unanswered. ``who``: the caller whose headers it has."""
        self.planted += plant
        asked = self._asked(request, who, route, plant)
        hangs_up = may_close or unbearable
        full = replace(asked, response=self._answered(asked, hangs_up))
        if unbearable and self.of_the_server(full):
            return Observation(full, judge(self.contract, full))
        sent = self.judged(full)
        if (
            sent.status == 429
            and patient
            and (wait := self.wait_asked(sent)) is not None
            and self.driver.pause(wait)
        ):
            sent = self.judged(replace(asked, response=self._answered(asked, hangs_up)))
        return sent

    def together(
        self,
        times: int,
        method: str,
        template: str,
        *,
        identity: Identity,
        values: Mapping[str, object],
        headers: Mapping[str, str | None],
        body: object,
        content_type: str | None,
        correlation: str,
    ) -> list[Observation]:
        """Send one request so often at the same time, and have the answers judged; raises Unanswered where one has none."""
        request, path = self._written(
            method,
            template,
            identity,
            values,
            None,
            headers,
            body,
            None,
            content_type,
            _ACCEPT,
            correlation,
        )
        asked = self._asked(request, identity, path)
        self.still(asked)
        answers = self.driver.together([request] * times)
        found = [
            self.judged(replace(asked, response=answer))
            for answer in answers
            if isinstance(answer, Response)
        ]
        for answer in answers:
            if isinstance(answer, NoAnswer):
                raise self.failed(asked, answer)
        self.heard()
        return found

    def try_call(self, method: str, template: str, **rest: object) -> Observation | NoAnswer:
        """`call`, with a missing answer as a value."""
        try:
            return self.call(method, template, **rest)  # type: ignore[arg-type]  # the same keywords, passed on
        except Unanswered as error:
            return error.no_answer

    def judged(self, exchange: Exchange) -> Observation:
        """Have one exchange judged, and the correlation rules with it; the host that was asked is part of what was sent."""
        if exchange.sent("Host") is None:
            headers = (("Host", self.driver.host), *exchange.request.headers)
            exchange = replace(exchange, request=replace(exchange.request, headers=headers))
        inner = tuple(
            Observation(each, judge(self.contract, each)) for each in streamed(exchange, self.wires)
        )
        sent = Observation(
            exchange, lenient(self.echo, exchange, judge(self.contract, exchange)), inner
        )
        self.exchanges += [sent, *inner]
        self.own.exchanges += [sent, *inner]
        for each in (sent, *inner):
            if self.echo is not None:
                self.outcomes += check_echo(self.taxonomy, self.echo, self.generated, each)
        self._learn(sent)
        return sent

    def of_the_server(self, exchange: Exchange) -> bool:
        """Whether an error is none of the application's, as far as can be told: it does not bring back the correlation id."""
        if self.echo is not None:
            sent, back = (
                exchange.sent(self.echo.header),
                exchange.received(self.echo.slot.mirror or self.echo.header),
            )
            if back is not None and back == sent:
                return False
        return (exchange.response.status or 0) >= 400

    def wait_asked(self, sent: Observation) -> float | None:
        """Seconds that the answer asks to wait, with a grace; None where it does not say, or asks for more than our patience."""
        value = sent.header("Retry-After")
        parsed_value = (
            retry_after.parse(value, now=time(), lenient=True) if value is not None else None
        )
        seconds = parsed_value.seconds if parsed_value is not None else None
        return seconds + _GRACE if seconds is not None and seconds <= PATIENCE else None

    # ---- inside

    def _written(
        self,
        method: str,
        template: str,
        who: Identity,
        values: Mapping[str, object] | None,
        query: Mapping[str, object] | None,
        headers: Mapping[str, str | None] | None,
        body: object,
        raw: bytes | None,
        content_type: str | None,
        accept: str | None,
        correlation: Correlation | str,
    ) -> tuple[Request, str]:
        """The request that `call` describes, and its path without a query."""
        path, _, inline = template.partition("?")
        target = path_of(path, values or {})
        pairs = [inline] if inline else []
        pairs += [urlencode({key: _flat(each) for key, each in query.items()})] if query else []
        if pairs:
            target += "?" + "&".join(pairs)
        content = raw if raw is not None else b"" if body is ABSENT else json.dumps(body).encode()
        fields: dict[str, tuple[str, str | None]] = {
            "user-agent": ("User-Agent", "faultspec-conform")
        }
        if accept is not None:
            fields["accept"] = ("Accept", accept)
        if content_type is not None and (content or raw is not None):
            fields["content-type"] = ("Content-Type", content_type)
        inbound = self.inbound(correlation, f"{method} {path}")
        if inbound is not None and self.echo is not None:
            fields[self.echo[0].lower()] = (self.echo[0], inbound)
        for name, value in who.headers:
            fields[name.lower()] = (name, value)
        for name, wanted in (headers or {}).items():
            fields[name.lower()] = (name, wanted)
        sent_headers: Headers = tuple(
            (name, value) for name, value in fields.values() if value is not None
        )
        return Request(method, target, sent_headers, content), path

    def inbound(self, correlation: Correlation | str = "auto", operation: str = "") -> str | None:
        """The correlation id to send: by turns a valid one and, with ``auto``, none.

        Each operation has its own turns in each part of the run, so that they are the same whatever else is asked.
        """
        if self.echo is None or correlation == "none":
            return None
        if correlation not in ("auto", "valid"):
            return correlation
        self._turns[operation] += 1
        turn = len(self._part) + len(operation) + self._turns[operation]
        # Two requests in three bring an id of their own, so that echoing is seen everywhere, and generating often.
        if correlation == "auto" and turn % 3 == 0:
            return None
        known = [each for each in self.echo[1].schema.format or ("uuid4",) if each in ids.FORMATS]
        return self.tokens.id(known[turn % len(known)]) if known else None

    def _asked(
        self, request: Request, who: Identity, route: str | None, plant: Sequence[Canary] = ()
    ) -> Exchange:
        return Exchange(
            request=request,
            response=Response(None),
            route=route,
            operation=f"{request.method} {route}" if route is not None else None,
            identity=None if who.anonymous else who.name,
            forbidden=(*self._forbidden(who), *plant),
        )

    def _answered(self, asked: Exchange, may_close: bool) -> Response:
        self.still(asked)
        answer = self.driver.send(asked.request)
        if isinstance(answer, Response):
            self.heard()
            return answer
        raise self.failed(asked, answer, may_close=may_close)

    def _forbidden(self, who: Identity) -> tuple[Canary, ...]:
        found = [Canary("secret", secret) for secret, _ in who.secrets if secret != who.tenant]
        privacy = self.taxonomy.privacy
        if privacy is not None and "tenant" in privacy.never_echoed:
            learnt = (each.tenants.get(who.name) for each in (self.common, self.own))
            tenants = {who.tenant, *learnt} - {None}
            found += [
                Canary("tenant", tenant) for tenant in sorted(t for t in tenants if t is not None)
            ]
        return tuple(found)

    def _learn(self, sent: Observation) -> None:
        """A tenant's real name, where a success tells its own caller; and that a shared resource is not what it was."""
        if sent.ok and sent.exchange.request.method in ("PUT", "PATCH", "DELETE"):
            self.touched |= {
                name
                for name, made in self.made.items()
                if sent.exchange.request.target == _place(made)
            }
        who = sent.exchange.identity
        if who is None or not sent.ok or who in self.own.tenants:
            return
        body = sent.json
        if isinstance(body, dict):
            for name in ("tenant_id", "tenantId", "tenant"):
                value = body.get(name)
                if isinstance(value, str) and len(value) >= 4:  # shorter ones stand in any text
                    self.own.tenants[who] = value


def _place(made: CreatedResource | str) -> str | None:
    """The path of a resource that was made."""
    return (
        None
        if isinstance(made, str) or made.kind.item is None
        else path_of(made.kind.item, made.values)
    )


def _flat(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
