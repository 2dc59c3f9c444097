"""The parts that sessions over all transports share."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal

from faultspec.contract.model import Contract
from faultspec.exchange.model import Canary, Exchange
from faultspec.judge import judge
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import NOBODY, Identity, ServiceConfig
from faultspec_conformance.drivers import Driver, LoggedRequest, NoAnswer
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.confidential import ConfidentialValues
from faultspec_conformance.session.observation import Observation, Unanswered
from faultspec_conformance.session.observations import (
    Observations,
    PartRecord,
    ProbeResult,
    ReportedResult,
    SharedKnowledge,
)
from faultspec_conformance.session.placeholders import Room, fill_in
from faultspec_conformance.session.sampling import ValueSource
from faultspec_conformance.session.sampling.tokens import Tokens, seed_tokens
from faultspec_conformance.session.sinks import Sink


@dataclass(slots=True)
class Session:
    """One run against one service. ``source``: where new values come from. ``sinks``: where it
    appends its errors. ``unkept``: unsolicited messages that were too many to keep.
    ``confidential``: the values of confidential members that were made up.

    ``_deciding``: the requests of the log that the outcomes of the probe rest on.
    """

    contract: Contract
    config: ServiceConfig
    driver: Driver
    observations: Observations = field(default_factory=Observations, init=False)
    source: ValueSource = field(default_factory=lambda: ValueSource({}, Random(0)), init=False)
    unkept: int = field(default=0, init=False)
    sinks: tuple[Sink, ...] = field(default=(), init=False)
    confidential: ConfidentialValues = field(default_factory=ConfidentialValues, init=False)
    _constants: Mapping[str, object] | None = field(default=None, init=False)
    _deciding: range = field(default=range(0), init=False)

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that the service is judged by."""
        return self.contract.taxonomy

    @property
    def tokens(self) -> Tokens:
        """The source of values that no other request has."""
        return self.source.tokens

    @property
    def writable(self) -> bool:
        """Whether the run may send requests that change something."""
        return self.driver.limits.writes

    @property
    def identities(self) -> tuple[Identity, ...]:
        """The identities with credentials, in the order of the configuration."""
        return tuple(
            identity for identity in self.config.identities.values() if not identity.anonymous
        )

    @property
    def caller(self) -> Identity:
        """The ordinary caller: the first identity that may do everything, else the first one, else
        nobody.
        """
        known = self.identities
        unlimited = (identity for identity in known if not identity.limited)
        return next(unlimited, next(iter(known), NOBODY))

    def identity(self, name: str | None) -> Identity:
        """Return the identity of this name; None: the ordinary caller."""
        return self.caller if name is None else self.config.identity(name)

    @property
    def constants(self) -> Mapping[str, object]:
        """The values of the configuration, made up once in the run."""
        if self._constants is None:
            self._constants = self.make_values(self.config.values, {})
        return self._constants

    def make_values(
        self, values: Mapping[str, object], known: Mapping[str, object]
    ) -> dict[str, object]:
        """Return configured values with their placeholders filled in, each after the earlier ones.

        ``known``: names that they may contain. Raises Unanswered for too long values.
        """
        made: dict[str, object] = {}
        room = Room()
        for name, value in values.items():
            made[name] = fill_in(self.source, value, {**known, **made}, room=room)
        return made

    def canary(self, kind: Literal["secret", "email", "value", "address"]) -> Canary:
        """Return a new value that must not come back, in the form of its kind."""
        token = self.tokens.hex(12)
        if kind == "secret":
            return Canary(kind, f"sk_live_{token}")
        if kind == "email":
            return Canary(kind, f"jane.{token[:10]}@mailbox-canary.example")
        return Canary(kind, f"faultspec-{token[:12]}")

    def begin_part(
        self, part: str, seed: int | None, *, shared: bool = False, again: bool = False
    ) -> PartRecord:
        """Begin a part of the run and return its record.

        Values do not depend on other parts: with a seed no value does; without one, none that need
        not be new in every run. ``again``: the part is repeated, with new tokens.
        """
        tokens = self.tokens
        if seed is not None:
            tokens = seed_tokens(f"{seed}/{part}/tokens{'/again' if again else ''}")
        self.source = replace(self.source, random=Random(f"{seed or 0}/{part}"), tokens=tokens)
        self.driver.part = part
        self._deciding = range(len(self.driver.log), len(self.driver.log))
        return self.observations.begin(part, shared=shared)

    def applies(self, clause: str) -> bool:
        """Whether the taxonomy and the transport allow the suite to check a clause."""
        known, transport = self.contract.clauses[clause], self.config.transport
        return known.reason_not_applicable(self.taxonomy, transport) is None

    @property
    def hears(self) -> bool:
        """Whether unsolicited messages of the service arrive."""
        return False

    def output_text(self) -> str | None:
        """The end of what the service wrote beside answers; None if the suite did not start it."""
        return self.driver.output_text()

    def linger(self, seconds: float) -> None:
        """Wait for unsolicited messages and for records of sinks; judge and record them."""
        self.driver.pause(seconds)
        self.read_sinks()

    def read_sinks(self) -> None:
        """Judge and record what the service has appended to its sinks."""
        callers = self.config.identities.values()
        for sink in self.sinks:
            for record in sink.read():
                secrets = (secret for caller in callers for secret in forbidden_secrets(caller))
                exchange = replace(record, forbidden=tuple(secrets))
                judgement = judge(self.contract, exchange)
                sink.errors += judgement.is_error and judgement.surface == sink.surface
                self.observations.record(Observation(exchange, judgement))

    # ---- what probes found out

    def record_results(self, results: Iterable[ProbeResult]) -> None:
        """Append what a probe yields, one by one: the probe goes on after each is recorded."""
        self.observations.add(self._record_knowledge(results))

    def _record_knowledge(self, results: Iterable[ProbeResult]) -> Iterator[ReportedResult]:
        for result in results:
            if isinstance(result, SharedKnowledge):
                self.learn_shared(result)
                continue
            if isinstance(result, Outcome):
                self._log_decision(result)
            yield result

    def _log_decision(self, outcome: Outcome) -> None:
        """Log what a probe decided, with the requests since those of its last decision. Several
        outcomes may rest on the same requests.
        """
        log = self.driver.log
        if len(log) > self._deciding.stop:
            self._deciding = range(self._deciding.stop, len(log))
        for index in self._deciding if outcome.is_decided else ():
            if log[index].purpose != "login":
                log[index].decided[outcome.clause] = None

    def log_answer(self, entry: LoggedRequest, *observations: Observation) -> None:
        """Log the answer of a request: an exchange, or those of its parts."""
        first = observations[0]
        if first.exchange.route is not None:
            entry.operation = first.exchange.operation or entry.operation
        entry.status = first.exchange.response.status
        entry.code = next((one.code for one in observations if one.code is not None), None)
        entry.exercised = entry.exercised.union(
            *(observation.judgement.exercised for observation in observations)
        )

    def add_decided(self, entry: LoggedRequest, outcomes: Iterable[Outcome]) -> None:
        """Append outcomes that one request decides."""
        for outcome in outcomes:
            entry.decided[outcome.clause] = None
            self.observations.add([outcome])

    def learn_shared(self, fact: SharedKnowledge) -> None:
        """Record what a probe yields for other probes, if probes of this transport use it."""

    # ---- answers that never came

    def check_running(self, asked: Exchange) -> None:
        """Raise Unanswered if nothing more is sent to the service."""
        if self.observations.ended is not None:
            raise Unanswered(NoAnswer(asked.request, "refused", self.observations.ended))

    def record_missing(
        self, asked: Exchange, answer: NoAnswer, *, may_disconnect: bool = False
    ) -> Unanswered:
        """Record what a missing answer says about the service; return the exception to raise."""
        if answer.kind == "ignored":
            self.observations.note_answer()
            return Unanswered(answer, asked)
        if answer.kind in ("refused", "closed", "garbled", "timeout"):
            listens = answer.kind == "timeout" or self.driver.listens()
            ended = None if listens else self.describe_end()
            if ended is not None:
                answer = replace(answer, reason=f"{answer.reason}; {ended}")
            self.observations.record_loss(
                asked, answer, listens=listens, may_disconnect=may_disconnect
            )
            if not listens and not self.will_restart():
                self.observations.end_without_listener(asked, answer)
            self.driver.latest.decided["service/alive"] = None
        return Unanswered(answer)

    def will_restart(self) -> bool:
        """Whether the next request starts the service again, which has ended."""
        return False

    def describe_end(self) -> str | None:
        """Return how the service ended that the suite started; None if it runs, or the suite did
        not start it.
        """
        return None


def forbidden_secrets(caller: Identity) -> Iterator[Canary]:
    """The credentials of a caller, which may stand nowhere. The name of its tenant is not one."""
    for secret, _ in caller.secrets:
        if secret != caller.tenant:
            yield Canary("secret", secret)
