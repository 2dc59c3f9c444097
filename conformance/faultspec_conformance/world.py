"""The world a probe lives in: it sends requests, and every answer is judged on the spot.

Whatever is asked of a service, the answer is an occasion for every clause that one exchange can break, and for the
correlation rules; a probe only adds the relations that need several exchanges.
"""

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from time import time
from typing import Literal
from urllib.parse import quote, urlencode, urlsplit

from faultspec.contract import Contract
from faultspec.exchange import Canary, Exchange, Headers, Request, Response
from faultspec.finding import Finding, Judgement, Level
from faultspec.judge import judge
from faultspec.language.model import Field, Taxonomy
from faultspec.runtime import ids, retry_after
from faultspec.runtime.shape import extract
from faultspec_conformance import synthesis
from faultspec_conformance.drivers.http import SAFE_METHODS, Http, NoAnswer
from faultspec_conformance.openapi import Body, Description, Operation, Resource, matches, resources, shape_of
from faultspec_conformance.target import ABSENT, NOBODY, Call, Identity, ResourceConfig, Target
from faultspec_conformance.verdict import Outcome

JSON = "application/json"

#: JSON where there is a choice, and whatever there is otherwise, such as a stream of events.
_ACCEPT = f"{JSON}, */*;q=0.8"

#: Waiting longer than this for a limit to lift would cost more than the answer is worth.
PATIENCE = 10.0

#: Beyond what Retry-After asks for: clocks of two machines differ, and seconds are whole.
_GRACE = 0.1

#: So much of an answer explains why it was no success.
_QUOTED = 160

#: Answers to one who was recognised: he may not, or his request met what was there.
_PAST_CREDENTIALS = frozenset({403, 409, 412})

#: The media type of server-sent events.
STREAM = "text/event-stream"

#: Names of server-sent events that tell a failure.
ERROR_EVENTS = frozenset({"error", "failure", "fault"})

#: What a probe says to the world when it wants the ordinary thing.
Correlation = Literal["auto", "valid", "none"]


class Unanswered(Exception):
    """A request that got no answer; ``no_answer`` says why. Ends the probe, never the run."""

    def __init__(self, no_answer: NoAnswer) -> None:
        super().__init__(no_answer.reason)
        self.no_answer = no_answer


@dataclass(frozen=True, slots=True)
class Sent:
    """An exchange that took place, and the judge's answer to it. ``inner``: the error events of a stream."""

    exchange: Exchange
    judgement: Judgement
    inner: tuple["Sent", ...] = ()

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.exchange.response.status or 0

    @property
    def code(self) -> str | None:
        """The declared code in the answer, or None."""
        return self.judgement.code

    @property
    def ok(self) -> bool:
        """A status of success."""
        return 200 <= self.status < 300

    @property
    def sound(self) -> bool:
        """Whether the judge found nothing of level error."""
        return not any(each.level == "error" for each in self.judgement.findings)

    @property
    def json(self) -> object:
        """The body as JSON; None where it is none."""
        return parsed(self.exchange.response.body)

    def header(self, name: str) -> str | None:
        """A header of the answer."""
        return self.exchange.received(name)

    def __str__(self) -> str:
        return f"{self.status} {self.code}" if self.code else str(self.status)


@dataclass(frozen=True, slots=True)
class Made:
    """A resource that was created. ``values`` fill the placeholders of its paths."""

    kind: "Kind"
    id: object
    values: Mapping[str, object]
    owner: Identity
    body: object
    sent: Sent


@dataclass(frozen=True, slots=True)
class Kind:
    """A resource as it is tested: what the file says where it does, what the document implies where it does not."""

    name: str
    inferred: Resource
    config: ResourceConfig

    def operation(self, role: Literal["create", "read", "update", "delete", "list"]) -> Operation | None:
        """The operation in this role."""
        found = getattr(self.inferred, role)
        return found if found is None or isinstance(found, Operation) else None

    def call(self, role: Literal["create", "read", "update", "delete", "list"]) -> Call | None:
        """The request that the file gives for this role."""
        found = getattr(self.config, role)
        return found if found is None or isinstance(found, Call) else None

    @property
    def item(self) -> str | None:
        """The template of an item's path."""
        return self.inferred.item


@dataclass(slots=True)
class Seen:
    """A correlation id that a service made up, and where."""

    value: str
    sent: Sent


@dataclass(slots=True)
class World:
    """One run against one service. Probes use `call` and the facts; `outcomes` and `exchanges` are what the run is read from.

    ``made``: the resource of each kind that probes share; ``spare``: one that was made and left alone; ``absent``: the
    operations that were asked for an id that names nothing; ``keyless``: the service refuses idempotency keys;
    ``not_run``: what the file asks for and could not be done; ``unmet``: why a recipe did not bring about its code.
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
    _turn: int = 0

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

    def authority(self, identity: Identity, operation: Operation | None) -> bool:
        """Whether the identity's declared scopes are enough for the operation, as far as anyone says."""
        if identity.scopes is None or operation is None:
            return True
        if operation.scopes:
            return set(operation.scopes) <= set(identity.scopes)
        reads = all(re.search(r"read|view|get|list", scope, re.IGNORECASE) for scope in identity.scopes)
        return not (operation.writes and reads)

    @property
    def unwelcome(self) -> frozenset[str]:
        """The identities that shall be refused: a recipe for a code of 401 has them send its request."""
        return frozenset(
            recipe.steps[-1].identity
            for recipe in self.target.recipes
            if recipe.steps and recipe.steps[-1].identity is not None and self.means_401(recipe.code)
        )

    def means_401(self, code: str) -> bool:
        """Whether the code may travel under 401."""
        declared = self.taxonomy.codes.get(code)
        return declared is not None and declared.http.allows(401)

    def refused(self, who: Identity) -> str | None:
        """Why the caller's credentials count as refused: some request of his was answered 401, and none got past that."""
        first: Sent | None = None
        for sent in self.exchanges:
            asked = sent.exchange
            if asked.identity != who.name or not set(who.headers) <= set(asked.request.headers):
                continue
            known = self.description.at(asked.request.method, (asked.route or asked.request.target).partition("?")[0])
            if known is not None and known.secured is False:
                continue
            if sent.ok or sent.status in _PAST_CREDENTIALS:
                return None
            if sent.status == 401 and first is None:
                first = sent
        if first is None:
            return None
        operation = first.exchange.operation or f"{first.exchange.request.method} {first.exchange.request.target}"
        return f"{who.name}'s credentials are refused (401 on {operation})"

    def tried(self, who: Identity) -> str | None:
        """`refused`, after an ordinary read that another caller was allowed, where there was one."""
        if self.refused(who) is None:
            return None
        read = next(
            (
                each.exchange
                for each in self.exchanges
                if each.ok
                and each.exchange.request.method == "GET"
                and each.exchange.identity not in (None, who.name)
                and each.exchange.route is not None
                and "{" not in each.exchange.route
                and "?" not in each.exchange.request.target
            ),
            None,
        )
        if read is not None:
            self.call("GET", read.request.target, identity=who, route=read.route)
        return self.refused(who)

    # ---- what is there

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The resources: those of the file first, then those that the document implies beside them."""
        inferred = list(resources(self.description))
        found: list[Kind] = []
        for config in self.target.resources.values():
            match = next((each for each in inferred if _describes(config, each, self.description)), None)
            if match is not None:
                inferred.remove(match)
            found.append(
                Kind(config.name, _completed(config, match or Resource(config.name), self.description), config)
            )
        if not found:
            found = [Kind(each.name, each, ResourceConfig(each.name)) for each in inferred]
        return tuple(found)

    def operation(self, method: str, path: str) -> Operation:
        """The operation that a request of the file addresses; one of our own where the document has none."""
        return located(self.description, method, path)

    @property
    def echo(self) -> tuple[str, Field] | None:
        """The request header that is echoed, and the slot it comes back in."""
        for envelope in self.taxonomy.envelopes.values():
            for each in envelope.fields.values():
                if each.echo is not None:
                    return each.echo, each
        return None

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
    ) -> Sent:
        """Send one request and have the answer judged; raises Unanswered.

        ``values`` fill the placeholders of ``template``. A header of None is left out, even one of the identity.
        ``patient``: a 429 that nobody asked for is waited out and the request sent again.
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
        sent = self.ask(request, who, route=known, plant=plant, patient=patient)
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
    ) -> Sent:
        """Send a request as it stands and have the answer judged; raises Unanswered. ``who``: the caller whose headers it has."""
        self.planted += plant
        full = Exchange(
            request=request,
            response=self._answered(request),
            route=route,
            operation=f"{request.method} {route}" if route is not None else None,
            identity=None if who.anonymous else who.name,
            forbidden=(*self._forbidden(who), *plant),
        )
        sent = self.judged(full)
        if sent.status == 429 and patient and (wait := self.wait_asked(sent)) is not None and self.driver.pause(wait):
            again = self._answered(request)
            sent = self.judged(replace(full, response=again))
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
        """What a missing answer says: of the service, if it hung up; of the clauses that it was for."""
        if answer.kind in ("closed", "garbled"):
            exchange = Exchange(answer.request, Response(None))
            message = f"{answer.request.method} {answer.request.target.partition('?')[0]}: {answer.reason}"
            yield Outcome("service/alive", "broken", finding=Finding("service/alive", message, evidence=(exchange,)))
        reached = {outcome.clause for outcome in self.outcomes}
        for clause in clauses:
            if answer.kind == "read-only" and clause not in reached:
                yield self.skipped(clause, answer.reason)
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
            self.outcomes += self._correlation(each)
        self._learn(sent)
        return sent

    def _lenient(self, exchange: Exchange, judgement: Judgement) -> Judgement:
        """The judgement without complaints of an id's format, where it is a UUID of the caller's own that came back.

        Who takes any UUID for an id departs from a format, not from what the id is for; a probe warns of it, once.
        """
        if self.echo is None:
            return judgement
        header = self.echo[0]
        inbound = exchange.sent(header)
        if inbound is None or self.is_valid_id(inbound) or not ids.FORMATS["uuid"](inbound):
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

    def canary(self, kind: Literal["secret", "email"]) -> Canary:
        """A new value that must not come back."""
        token = secrets.token_hex(12)
        return Canary(kind, f"sk_live_{token}" if kind == "secret" else f"jane.{token[:10]}@mailbox-canary.example")

    def statements(self, *sources: object) -> tuple[str, ...]:
        """The statements of what rules a relation: each has a ``source``."""
        found: list[str] = []
        for each in sources:
            found += getattr(getattr(each, "source", None), "statements", ())
        return tuple(dict.fromkeys(found))

    # ---- saying

    def said(self, sent: Sent) -> str:
        """An answer in a line: its status, code and message."""
        message = self.slot(sent, "message")
        body = message if isinstance(message, str) else sent.exchange.response.body[:_QUOTED].decode("utf-8", "replace")
        text = " ".join(body.split())[:_QUOTED]
        return f"{sent}: {text}" if text else str(sent)

    def held(self, clause: str) -> Outcome:
        """The clause held."""
        return Outcome(clause, "held")

    def skipped(self, clause: str, reason: str) -> Outcome:
        """There was no occasion."""
        return Outcome(clause, "not_exercised", reason)

    def broken(
        self,
        clause: str,
        message: str,
        *evidence: Sent,
        level: Level = "error",
        pointer: str | None = None,
        at: str | None = None,
    ) -> Outcome:
        """The clause is broken by the last exchange of the evidence. ``at``: the operation, if not that exchange's."""
        last = evidence[-1]
        finding = Finding(
            clause=clause,
            message=message,
            level=level,
            operation=at or last.exchange.operation,
            code=last.code,
            status=last.exchange.response.status,
            pointer=pointer,
            evidence=tuple(each.exchange for each in evidence),
        )
        return Outcome(clause, "broken", finding=finding)

    # ---- resources

    def fixture(self, kind: Kind) -> Made | str:
        """The one resource of a kind that probes may read; made at the first call. A text says why there is none."""
        if kind.name not in self.made:
            made = self.made[kind.name] = self.make(kind)
            if isinstance(made, str) and self.writable and kind.operation("create") is not None:
                asked = kind.config.create is not None
                (self.not_run if asked else self.notes).append(f"no {kind.name} could be made: {made}")
        return self.made[kind.name]

    def make(
        self,
        kind: Kind,
        *,
        owner: Identity | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = ABSENT,
        correlation: Correlation | str = "auto",
    ) -> Made | str:
        """Create a resource; a text says why it could not be."""
        if not self.writable:
            return "nothing may be written (`limits: {writes: true}` allows it)"
        operation, call = kind.operation("create"), kind.call("create")
        if operation is None:
            return f"nothing is known to create a {kind.name}"
        parents = self.parents(operation)
        if isinstance(parents, str):
            return parents
        keyed = self._keyed(operation)
        owners = [owner] if owner is not None else self.owners(kind, operation)
        refusals: list[tuple[bool, str]] = []
        for who in owners:
            for candidate in [body] if body is not ABSENT else self.bodies(operation, call):
                values = dict(parents)
                own = [name for name in operation.placeholders if name not in values]
                values |= {name: f"made-{secrets.token_hex(5)}" for name in own}

                def send(key: Mapping[str, str | None]) -> Sent:
                    return self.call(
                        operation.method,
                        operation.template,
                        identity=who,  # noqa: B023 (called in this turn of the loop only)
                        values=values,  # noqa: B023
                        query=call.query if call else None,
                        headers={**key, **(call.headers if call else {}), **(headers or {})},
                        body=candidate,  # noqa: B023
                        content_type=content_type(operation),
                        correlation=correlation,
                    )

                sent = send(self.fresh_key(operation))
                if keyed and sent.status in (400, 422) and headers is None:
                    sent = self._without_key(sent, send({}))
                if sent.ok:
                    return self._identified(kind, operation, sent, values, who, candidate)
                stopped = sent.status in (401, 403)
                refusals.append((stopped, f"{operation.name} was answered {self.said(sent)}"))
                if stopped:
                    break
        # What is wrong with the request says more than what another caller may not do.
        return min(refusals, key=lambda each: each[0], default=(False, "nobody may create one"))[1]

    def _keyed(self, operation: Operation) -> bool:
        rule = self.taxonomy.idempotency
        return rule is not None and operation.method in rule.methods and not self.keyless

    def _without_key(self, refused: Sent, again: Sent) -> Sent:
        """A creation that was refused with an idempotency key and accepted without one: the key is what was refused."""
        if again.ok and self.taxonomy.idempotency is not None:
            self.keyless = True
            message = f"a write with {self.taxonomy.idempotency.key} is answered {refused}, the same without it {again}"
            self.outcomes.append(self.broken("idempotency/replay", message, again, refused))
        return again if again.ok else refused

    def untouched(self, kind: Kind) -> Made | str:
        """A resource that nothing has changed yet: one that an earlier probe made and left, or a new one."""
        return self.spare.pop(kind.name, None) or self.make(kind)

    def owners(self, kind: Kind, operation: Operation) -> Sequence[Identity]:
        """Who might create one, the likeliest first."""
        if kind.config.identity is not None:
            return [self.target.identity(kind.config.identity)]
        known = [each for each in self.identities() if self.authority(each, operation)]
        return known or [self.caller]

    def bodies(self, operation: Operation, call: Call | None) -> Iterator[object]:
        """Bodies that ought to be accepted, the likeliest first."""
        if call is not None and (call.body is not ABSENT or call.raw is not None):
            yield self.filled(call.body)
            return
        if operation.body is None:
            yield ABSENT
            return
        example = operation.body.example
        if example is None:
            example = synthesis.example_of(self.description.schema(operation.body.schema))
        if example is not None:
            yield synthesis.vary(self.source, operation.body.schema, example)
        yield synthesis.value(self.source, operation.body.schema)
        if example is not None:
            yield example

    def body(self, operation: Operation, call: Call | None = None) -> object:
        """The likeliest body."""
        return next(self.bodies(operation, call))

    def values_for(self, operation: Operation) -> dict[str, object]:
        """Values for an operation's placeholders: of resources that were made where there are, otherwise of no resource."""
        known = self.known_values(operation)
        for name in operation.placeholders:
            if name not in known:
                known[name] = self.absent_value(operation, name)
        return known

    def known_values(self, operation: Operation) -> dict[str, object]:
        """Values of resources that were made, for the placeholders that lead to them."""
        known: dict[str, object] = {}
        for made in self.made.values():
            if isinstance(made, str) or made.kind.item is None:
                continue
            item, template = shape_of(made.kind.item), shape_of(operation.template)
            if template == item or template.startswith(item + "/"):
                for name, value in zip(operation.placeholders, made.values.values(), strict=False):
                    known[name] = value
        return known

    def absent_value(self, operation: Operation, name: str) -> object:
        """A value for a placeholder that names nothing: of the format of known ids, or of the parameter's schema."""
        for made in self.made.values():
            if (
                not isinstance(made, str)
                and made.kind.item is not None
                and operation.template.startswith(made.kind.item.rpartition("/")[0])
            ):
                return synthesis.another(self.source, made.id)
        parameter = operation.parameter(name, "path")
        if parameter is None:
            return secrets.token_hex(8)
        example = parameter.example if parameter.example is not None else synthesis.value(self.source, parameter.schema)
        return synthesis.another(self.source, example)

    def parents(self, operation: Operation) -> dict[str, object] | str:
        """Values for the placeholders of a collection that lies under another item, which is made for it."""
        if not operation.placeholders:
            return {}
        values: dict[str, object] = {}
        own = operation.template.rstrip("/").endswith("}")
        for name in operation.placeholders[: -1 if own else None]:
            prefix = operation.template.partition("{" + name + "}")[0] + "{" + name + "}"
            kind = next((k for k in self.kinds if k.item is not None and shape_of(k.item) == shape_of(prefix)), None)
            if kind is None:
                parameter = operation.parameter(name, "path")
                if parameter is None or parameter.example is None:
                    return f"nothing is known to fill {{{name}}} of {operation.name}"
                values[name] = parameter.example
                continue
            made = self.fixture(kind)
            if isinstance(made, str):
                return f"{operation.name} needs a {kind.name}: {made}"
            values[name] = list(made.values.values())[-1]
        return values

    def fresh_key(self, operation: Operation) -> dict[str, str | None]:
        """An idempotency key of its own for a write that takes one."""
        rule = self.taxonomy.idempotency
        return {rule.key: secrets.token_hex(16)} if rule is not None and self._keyed(operation) else {}

    def filled(self, value: object, saved: Mapping[str, object] | None = None) -> object:
        """A value of the file with ``${unique}`` and saved names filled in; a text that is one name takes its value's type."""
        if isinstance(value, str):
            whole = re.fullmatch(r"\$\{([a-z_]\w*)\}", value)
            if whole and saved and whole[1] in saved:
                return saved[whole[1]]
            return self.text(value, saved)
        if isinstance(value, dict):
            return {key: self.filled(each, saved) for key, each in value.items()}
        if isinstance(value, list):
            return [self.filled(each, saved) for each in value]
        return value

    def text(self, text: str, saved: Mapping[str, object] | None = None) -> str:
        """A text of the file with ``${unique}`` and saved names filled in."""
        known = saved or {}
        return re.sub(
            r"\$\{([a-z_]\w*)\}",
            lambda found: secrets.token_hex(5) if found[1] == "unique" else str(known.get(found[1], found[0])),
            text,
        )

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
        formats = self.echo[1].schema.format or ("uuid4",)
        return ids.new(formats[self._turn % len(formats)]) if formats[0] in ids.FORMATS else None

    def valid_ids(self) -> tuple[str, ...]:
        """A new correlation id of each allowed format."""
        formats = self.echo[1].schema.format if self.echo else ()
        return tuple(ids.new(each) for each in formats if each in ids.FORMATS)

    def is_valid_id(self, value: str) -> bool:
        """Whether the value is a correlation id of an allowed format."""
        formats = [each for each in (self.echo[1].schema.format if self.echo else ()) if each in ids.FORMATS]
        return ids.matches(formats, value) if formats else bool(value)

    def _answered(self, request: Request) -> Response:
        answer = self.driver.send(request)
        if isinstance(answer, NoAnswer):
            raise Unanswered(answer)
        return answer

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

    def slot(self, sent: Sent, name: str) -> object:
        """The value of a slot of the envelope in an answer, or None."""
        body = sent.json
        surface = self.taxonomy.surfaces.get(sent.judgement.surface or "")
        for envelope in surface.envelopes if surface is not None else self.taxonomy.envelopes:
            slots = extract(self.taxonomy.envelopes[envelope].shape, body).slots
            if name in slots:
                return slots[name]
        return None

    def _correlation(self, sent: Sent) -> Iterator[Outcome]:
        if self.echo is None:
            return
        header, rule = self.echo
        back = [
            value for name, value in sent.exchange.response.headers if name.lower() == (rule.mirror or header).lower()
        ]
        body = self.slot(sent, rule.slot) if sent.judgement.is_error else None
        inbound = sent.exchange.sent(header)
        streamed = sent.exchange.transport == "stream"  # its header is that of the answer around it, checked there
        found = [*([] if streamed else back), *([body] if isinstance(body, str) else [])]
        if streamed and inbound is None:
            return
        if inbound is not None and self.is_valid_id(inbound):
            if not found:
                if sent.ok and not streamed:
                    message = f"a success does not bring back the {header} that was sent"
                    yield self.broken("correlation/echo", message, sent, level="warning", pointer=header)
                return
            wrong = next((each for each in found if each != inbound), None)
            if wrong is None:
                yield self.held("correlation/echo")
            elif len(back) > 1 and inbound in back:
                yield self.broken(
                    "correlation/echo", f"{header} comes back {len(back)} times, with different values", sent
                )
            else:
                place = f"the header {header}" if wrong in back else f"the body's {rule.slot}"
                where = "an error" if sent.judgement.is_error else "a success"
                yield self.broken("correlation/echo", f"{place} of {where} is not the {header} that was sent", sent)
            return
        if not sent.judgement.is_error and not back:
            return
        value = next((each for each in found if each), None)
        if value is None:
            if body is None and sent.judgement.is_error and isinstance(sent.json, dict):
                message = "an error to a request without an id has none, neither in a header nor in its body"
                yield self.broken("correlation/generated", message, sent)
            return
        earlier = self.generated.get(value)
        if earlier is None:
            self.generated[value] = sent
            yield self.held("correlation/generated")
            if len(self.generated) > 1:
                yield self.held("correlation/unique")
        else:
            message = f"two requests without {header} were given the same id"
            yield self.broken("correlation/unique", message, earlier, sent)

    def _identified(
        self, kind: Kind, operation: Operation, sent: Sent, values: dict[str, object], who: Identity, body: object
    ) -> Made | str:
        names = re.findall(r"{([^{}]+)}", kind.item or "")
        if operation.method == "PUT":
            identifier: object = list(values.values())[-1] if values else None
        else:
            identifier = identifier_of(sent, names[-1] if names else "id", kind)
            if identifier is None:
                pointer = kind.config.id
                if pointer is not None:
                    return f"no {pointer} in the answer ({sent}) of {operation.name}"
                return f"the answer to {operation.name} does not tell the id of what was made"
        filled = dict(zip(names, [*list(values.values())[: max(0, len(names) - 1)], identifier], strict=False))
        return Made(kind, identifier, filled, who, body, sent)


def parsed(body: bytes) -> object:
    """A body as JSON; None where it is none."""
    with suppress(ValueError, RecursionError):
        value: object = json.loads(body)
        return value
    return None


def point(body: object, pointer: str) -> object:
    """The value at a JSON Pointer, or None."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(body, dict):
            body = body.get(key)
        elif isinstance(body, list) and key.isdigit() and int(key) < len(body):
            body = body[int(key)]
        else:
            return None
    return body


def identifier_of(sent: Sent, parameter: str, kind: Kind) -> object:
    """The id of what was created: where the file says, else under the usual names in the body, else from Location."""
    body = sent.json
    if kind.config.id is not None:
        return point(body, kind.config.id)
    names = (parameter, "id", f"{kind.name}_id", f"{kind.name}Id", "uuid", "_id", "key", "name")
    layers = [body, *(each for each in body.values() if isinstance(each, dict))] if isinstance(body, dict) else []
    for layer in layers:
        for name in names:
            if isinstance(layer, dict) and isinstance(layer.get(name), str | int) and not isinstance(layer[name], bool):
                return layer[name]
    location = sent.header("Location")
    return urlsplit(location).path.rstrip("/").rpartition("/")[2] or None if location else None


def path_of(template: str, values: Mapping[str, object]) -> str:
    """A template with its placeholders filled; what has no value stays, percent-encoded."""

    def fill(found: re.Match[str]) -> str:
        return quote(str(values[found[1]]), safe="") if found[1] in values else quote(found[0], safe="")

    return re.sub(r"{([^{}]+)}", fill, template)


def content_type(operation: Operation) -> str:
    """The JSON media type that an operation takes."""
    return (operation.body.json_type if operation.body else None) or JSON


def is_json_write(operation: Operation) -> bool:
    """Whether the operation takes a JSON body."""
    return operation.writes and operation.body is not None and operation.body.json_type is not None


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event."""

    name: str
    data: str

    def tells(self, codes: frozenset[object]) -> bool:
        """Whether it is an error, by its name or because its data has one of the ``codes`` at its top."""
        return self.name in ERROR_EVENTS or _speaks(parsed(self.data.encode()), codes)


def events(exchange: Exchange) -> Iterator[Event]:
    """The server-sent events of an answer that is a stream of them."""
    media = (exchange.received("Content-Type") or "").partition(";")[0].strip().lower()
    if media != STREAM or (exchange.response.status or 0) >= 400:
        return
    text = exchange.response.body.decode("utf-8", "replace")
    for block in re.split(r"(?:\r?\n){2,}", text.strip()):
        name, data = "message", []
        for line in block.splitlines():
            key, _, value = line.partition(":")
            if key == "event":
                name = value.strip()
            elif key == "data":
                data.append(value.removeprefix(" "))
        if data:
            yield Event(name, "\n".join(data))


def _speaks(data: object, codes: frozenset[object]) -> bool:
    return isinstance(data, dict) and any(isinstance(each, str | int) and each in codes for each in data.values())


def placed(description: Description, method: str, path: str) -> str:
    """A path of the file as it is sent: as it is written, or below the base path that the file left out."""
    bare, mark, query = path.partition("?")
    base = description.base
    if _documented(description, bare) or (base and f"{bare}/".startswith(f"{base}/")):
        return path
    if base and (not description.operations or _documented(description, base + bare)):
        return base + path
    for each in description.operations:
        prefix = each.template.removesuffix(bare)
        if each.method == method and prefix != each.template and "{" not in prefix:
            return prefix + bare + mark + query
    return path


def _documented(description: Description, path: str) -> bool:
    return any(matches(template, path) for template in description.paths)


def located(description: Description, method: str, path: str) -> Operation:
    """The operation that a path of the file means, with or without the base path of the document."""
    bare = placed(description, method, path).partition("?")[0]
    found = description.at(method, bare)
    if found is not None:
        return found
    writes = method not in SAFE_METHODS
    return Operation(method, bare, body=Body((JSON,), True, {}) if writes and method != "DELETE" else None)


def _describes(config: ResourceConfig, inferred: Resource, description: Description) -> bool:
    pairs = ((config.create, inferred.create), (config.read, inferred.read), (config.update, inferred.update))
    return any(
        call is not None and found is not None and located(description, call.method, call.path).name == found.name
        for call, found in pairs
    )


def _completed(config: ResourceConfig, inferred: Resource, description: Description) -> Resource:
    def chosen(call: Call | None, found: Operation | None) -> Operation | None:
        return located(description, call.method, call.path) if call is not None else found

    return Resource(
        config.name,
        chosen(config.create, inferred.create),
        chosen(config.read, inferred.read),
        chosen(config.update, inferred.update),
        chosen(config.delete, inferred.delete),
        chosen(config.list, inferred.list),
    )


def _flat(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
