"""The world a probe lives in: it sends requests, and every answer is judged on the spot.

Whatever is asked of a service, the answer is an occasion for every clause that one exchange can break, and for the
correlation rules; a probe only adds the relations that need several exchanges.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from time import time
from typing import Literal
from urllib.parse import urlencode

from faultspec.contract import Contract
from faultspec.exchange import Canary, Exchange, Headers, Request, Response
from faultspec.finding import Judgement
from faultspec.judge import judge
from faultspec.language.model import Taxonomy
from faultspec.runtime import ids, retry_after
from faultspec_conformance import synthesis
from faultspec_conformance.answers import Sent, Unanswered, events, lost, skipped
from faultspec_conformance.drivers.http import Http, NoAnswer
from faultspec_conformance.echoes import Echo, echo_of, echoed, valid
from faultspec_conformance.kinds import JSON, Kind, Made, kinds, located, path_of
from faultspec_conformance.openapi import Description, Operation
from faultspec_conformance.target import ABSENT, NOBODY, Identity, Target
from faultspec_conformance.upstreams import Upstream
from faultspec_conformance.verdict import Outcome

#: JSON where there is a choice, and whatever there is otherwise, such as a stream of events.
_ACCEPT = f"{JSON}, */*;q=0.8"

#: Waiting longer than this for a limit to lift would cost more than the answer is worth.
PATIENCE = 10.0

#: Beyond what Retry-After asks for: clocks of two machines differ, and seconds are whole.
_GRACE = 0.1

#: After so many requests in a row without an answer in time, the service is taken to hang as a whole.
_SILENT = 3

#: What a probe says to the world when it wants the ordinary thing.
Correlation = Literal["auto", "valid", "none"]


@dataclass(slots=True)
class World:
    """One run against one service. Probes use `call` and the facts; `outcomes` and `exchanges` are what the run is read from.

    ``made``: the resource of each kind that probes share; ``spare``: one that was made and left alone; ``absent``: the
    operations that were asked for an id that names nothing; ``keyless``: the service refuses idempotency keys;
    ``not_run``: what the file asks for and could not be done; ``unmet``: why a recipe did not bring about its code;
    ``ended``: why the service is not asked any more; ``upstreams``: those it calls that are scripted; ``turn``: the kinds of
    resource that are tested now.
    """

    taxonomy: Taxonomy
    contract: Contract
    target: Target
    description: Description
    driver: Http
    random: Random
    outcomes: list[Outcome] = field(default_factory=list)
    exchanges: list[Sent] = field(default_factory=list)
    planted: list[Canary] = field(default_factory=list)
    generated: dict[str, Sent] = field(default_factory=dict)
    tenants: dict[str, str] = field(default_factory=dict)
    made: dict[str, Made | str] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    spare: dict[str, Made] = field(default_factory=dict)
    keyless: bool = False
    notes: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    unmet: dict[str, str] = field(default_factory=dict)
    ended: str | None = None
    upstreams: Mapping[str, Upstream] = field(default_factory=dict)
    turn: tuple[Kind, ...] = ()
    kinds: tuple[Kind, ...] = field(init=False)
    echo: Echo | None = field(init=False)
    _turn: int = 0
    _silent: int = 0

    def __post_init__(self) -> None:
        self.kinds = kinds(self.target, self.description)
        self.echo = echo_of(self.taxonomy)

    # ---- who calls

    @property
    def caller(self) -> Identity:
        """The ordinary caller: the first identity that may do everything, else the first, or nobody."""
        known = self.identities()
        return next((each for each in known if each.scopes is None), next(iter(known), NOBODY))

    @property
    def writable(self) -> bool:
        """Whether anything may be written."""
        return self.driver.limits.writes

    @property
    def source(self) -> synthesis.Source:
        """Where synthesised values come from."""
        return synthesis.Source(self.description.document, self.random)

    def identities(self) -> tuple[Identity, ...]:
        """Every caller with credentials, in the order of the file."""
        return tuple(each for each in self.target.identities.values() if not each.anonymous)

    def stranger(self, owner: Identity) -> Identity | None:
        """A caller of another tenant than ``owner``, the most able first."""
        others = [each for each in self.identities() if each.tenant is not None and each.tenant != owner.tenant]
        return min(others, key=lambda each: each.scopes is not None, default=None) if owner.tenant is not None else None

    # ---- what is there

    def operation(self, method: str, path: str) -> Operation:
        """The operation that a request of the file addresses; one of our own where the document has none."""
        return located(self.description, method, path)

    @property
    def wires(self) -> frozenset[object]:
        """What stands in the code slot of errors, where it is text."""
        return frozenset(code.wire for code in self.taxonomy.live_codes() if isinstance(code.wire, str))

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
    ) -> Sent:
        """Send one request and have the answer judged; raises Unanswered.

        ``values`` fill the placeholders of ``template``. A header of None is left out, even one of the identity.
        ``patient``: a 429 that nobody asked for is waited out and the request sent again. ``may_close``: servers hang up
        on such a request, which says nothing of the service as long as it lives. ``unbearable``: and they refuse it in words
        of their own, which is not judged.
        """
        who = self.caller if identity is None else identity
        path, _, inline = template.partition("?")
        target = path_of(path, values or {})
        pairs = [inline] if inline else []
        pairs += [urlencode({key: _flat(each) for key, each in query.items()})] if query else []
        if pairs:
            target += "?" + "&".join(pairs)
        content = raw if raw is not None else b"" if body is ABSENT else json.dumps(body).encode()
        fields: dict[str, tuple[str, str | None]] = {"user-agent": ("User-Agent", "faultspec-conform")}
        if accept is not None:
            fields["accept"] = ("Accept", accept)
        if content_type is not None and (content or raw is not None):
            fields["content-type"] = ("Content-Type", content_type)
        inbound = self.inbound(correlation)
        if inbound is not None and self.echo is not None:
            fields[self.echo[0].lower()] = (self.echo[0], inbound)
        for name, value in who.headers:
            fields[name.lower()] = (name, value)
        for name, wanted in (headers or {}).items():
            fields[name.lower()] = (name, wanted)
        sent_headers: Headers = tuple((name, value) for name, value in fields.values() if value is not None)
        request = Request(method, target, sent_headers, content)
        known = route if route != "same" else path
        sent = self.ask(
            request, who, route=known, plant=plant, patient=patient, may_close=may_close, unbearable=unbearable
        )
        if sent.status == 429 and patient:
            after = sent.header("Retry-After")
            reason = f"the service limits the rate: {method} {path} is answered 429"
            raise Unanswered(NoAnswer(request, "limited", f"{reason}, Retry-After {after}" if after else reason))
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
    ) -> Sent:
        """Send a request as it stands and have the answer judged; raises Unanswered. ``who``: the caller whose headers it has."""
        self.planted += plant
        asked = Exchange(
            request=request,
            response=Response(None),
            route=route,
            operation=f"{request.method} {route}" if route is not None else None,
            identity=None if who.anonymous else who.name,
            forbidden=(*self._forbidden(who), *plant),
        )
        hangs_up = may_close or unbearable
        full = replace(asked, response=self._answered(asked, hangs_up))
        if unbearable and self.of_the_server(full):
            return Sent(full, judge(self.contract, full))
        sent = self.judged(full)
        if sent.status == 429 and patient and (wait := self.wait_asked(sent)) is not None and self.driver.pause(wait):
            sent = self.judged(replace(asked, response=self._answered(asked, hangs_up)))
        return sent

    def try_call(self, method: str, template: str, **rest: object) -> Sent | NoAnswer:
        """`call`, with a missing answer as a value."""
        try:
            return self.call(method, template, **rest)  # type: ignore[arg-type]  # the same keywords, passed on
        except Unanswered as error:
            return error.no_answer

    @contextmanager
    def guarded(self, *clauses: str) -> Iterator[None]:
        """Let a request of a series go unanswered without ending the series, unless no other could be answered either."""
        try:
            yield
        except Unanswered as error:
            if error.no_answer.kind in ("budget", "read-only", "refused"):
                raise
            self.outcomes += self.unanswered(error.no_answer, clauses)

    def unanswered(self, answer: NoAnswer, clauses: Iterable[str]) -> Iterator[Outcome]:
        """What a missing answer says of the clauses that it was for."""
        reached = {outcome.clause for outcome in self.outcomes}
        for clause in clauses:
            if answer.kind == "read-only" and clause not in reached:
                yield skipped(clause, answer.reason)
            elif answer.kind != "read-only":
                yield Outcome(clause, "could_not_run", answer.reason)

    def judged(self, exchange: Exchange) -> Sent:
        """Have one exchange judged, and the correlation rules with it."""
        streamed = [
            replace(
                exchange, response=replace(exchange.response, status=None, body=event.data.encode()), transport="stream"
            )
            for event in events(exchange)
            if event.tells(self.wires)
        ]
        inner = tuple(Sent(each, judge(self.contract, each)) for each in streamed)
        sent = Sent(exchange, self._lenient(exchange, judge(self.contract, exchange)), inner)
        self.exchanges += [sent, *inner]
        for each in (sent, *inner):
            if self.echo is not None:
                self.outcomes += echoed(self.taxonomy, self.echo, self.generated, each)
        self._learn(sent)
        return sent

    def of_the_server(self, exchange: Exchange) -> bool:
        """Whether an error is none of the application's, as far as can be told: it does not bring back the correlation id."""
        if self.echo is not None:
            sent, back = exchange.sent(self.echo.header), exchange.received(self.echo.slot.mirror or self.echo.header)
            if back is not None and back == sent:
                return False
        return (exchange.response.status or 0) >= 400

    def _lenient(self, exchange: Exchange, judgement: Judgement) -> Judgement:
        """The judgement without complaints of an id's format, where it is a UUID of the caller's own that came back.

        Who takes any UUID for an id departs from a format, not from what the id is for; a probe warns of it, once.
        """
        if self.echo is None:
            return judgement
        header = self.echo[0]
        inbound = exchange.sent(header)
        if inbound is None or valid(self.echo, inbound) or not ids.FORMATS["uuid"](inbound):
            return judgement
        overlooked = ("ids/format", f"headers/{header.lower()}")
        kept = tuple(each for each in judgement.findings if each.clause not in overlooked)
        return replace(judgement, findings=kept)

    def wait_asked(self, sent: Sent) -> float | None:
        """Seconds that the answer asks to wait, with a grace; None where it does not say, or asks for more than our patience."""
        value = sent.header("Retry-After")
        parsed_value = retry_after.parse(value, now=time(), lenient=True) if value is not None else None
        seconds = parsed_value.seconds if parsed_value is not None else None
        return seconds + _GRACE if seconds is not None and seconds <= PATIENCE else None

    def canary(self, kind: Literal["secret", "email", "value", "address"]) -> Canary:
        """A new value that must not come back: one that looks like a secret or an address of a person, or a plain one."""
        token = secrets.token_hex(12)
        looks = {"secret": f"sk_live_{token}", "email": f"jane.{token[:10]}@mailbox-canary.example"}
        return Canary(kind, looks.get(kind, f"faultspec-{token[:12]}"))

    # ---- inside

    def inbound(self, correlation: Correlation | str = "auto") -> str | None:
        """The correlation id to send: by turns a valid one and, with ``auto``, none."""
        if self.echo is None or correlation == "none":
            return None
        if correlation not in ("auto", "valid"):
            return correlation
        self._turn += 1
        # Two requests in three bring an id of their own, so that echoing is seen everywhere, and generating often.
        if correlation == "auto" and self._turn % 3 == 0:
            return None
        known = [each for each in self.echo[1].schema.format or ("uuid4",) if each in ids.FORMATS]
        return ids.new(known[self._turn % len(known)]) if known else None

    def _answered(self, asked: Exchange, may_close: bool) -> Response:
        if self.ended is not None:
            raise Unanswered(NoAnswer(asked.request, "refused", self.ended))
        answer = self.driver.send(asked.request)
        if isinstance(answer, Response):
            self._silent = 0
            return answer
        if answer.kind in ("refused", "closed", "garbled", "timeout"):
            self.lost(asked, answer, may_close=may_close)
        raise Unanswered(answer)

    def lost(self, asked: Exchange, answer: NoAnswer, *, may_close: bool = False) -> None:
        """What a missing answer says of the service: that it ended, that it hangs, or that it does not bear this request."""
        self._silent += 1
        last = self.exchanges[-1] if self.exchanges else None
        listens = answer.kind == "timeout" or self.driver.listens()
        if not (may_close and listens):
            self.outcomes.append(lost(asked, answer, last, listens=listens))
        request = last.exchange.request if answer.kind == "refused" and last is not None else asked.request
        what = f"{request.method} {request.target.partition('?')[0]}"
        if not listens:
            self.ended = f"nobody listens any more since {what}"
        elif answer.kind == "timeout" and self._silent >= _SILENT:
            self.ended = f"the service hangs since {what}: {_SILENT} requests in a row were not answered in time"

    def _forbidden(self, who: Identity) -> tuple[Canary, ...]:
        found = [Canary("secret", secret) for secret, _ in who.secrets if secret != who.tenant]
        privacy = self.taxonomy.privacy
        if privacy is not None and "tenant" in privacy.never_echoed:
            tenants = {who.tenant, self.tenants.get(who.name)} - {None}
            found += [Canary("tenant", tenant) for tenant in sorted(t for t in tenants if t is not None)]
        return tuple(found)

    def _learn(self, sent: Sent) -> None:
        """A tenant's real name, where a success tells its own caller."""
        who = sent.exchange.identity
        if who is None or not sent.ok or who in self.tenants:
            return
        body = sent.json
        if isinstance(body, dict):
            for name in ("tenant_id", "tenantId", "tenant"):
                value = body.get(name)
                if isinstance(value, str) and len(value) >= 4:  # shorter ones stand in any text
                    self.tenants[who] = value


def _flat(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
