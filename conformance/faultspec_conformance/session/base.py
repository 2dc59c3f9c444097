"""What a run has seen and learnt of a service, whatever the transport; from this its result is folded."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from faultspec.contract.model import Contract
from faultspec.exchange.model import Canary, Exchange
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import NOBODY, Identity, ServiceConfig
from faultspec_conformance.drivers import Driver, NoAnswer
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.sampling.tokens import Tokens, fresh
from faultspec_conformance.session.observation import Observation, Unanswered, lost, not_exercised

#: After so many requests in a row without an answer in time, the service is taken to hang as a whole.
_SILENT = 3


@dataclass(slots=True)
class Session:
    """One run against one service; ``outcomes`` and ``exchanges`` are what its result is read from.

    ``planted``: values that must not come back, nor be reported; ``not_run``: what the file asks for and could not be done;
    ``unmet``: why a recipe did not bring about its code; ``ended``: why the service is not asked any more; ``cut``: not all
    was asked that was to be asked; ``repeated``: the exchanges that every shard of the run has.
    """

    taxonomy: Taxonomy
    contract: Contract
    target: ServiceConfig
    driver: Driver
    tokens: Tokens = field(default_factory=fresh, init=False)
    outcomes: list[Outcome] = field(default_factory=list, init=False)
    exchanges: list[Observation] = field(default_factory=list, init=False)
    planted: list[Canary] = field(default_factory=list, init=False)
    notes: list[str] = field(default_factory=list, init=False)
    not_run: list[str] = field(default_factory=list, init=False)
    unmet: dict[str, str] = field(default_factory=dict, init=False)
    ended: str | None = field(default=None, init=False)
    cut: bool = field(default=False, init=False)
    repeated: list[Observation] = field(default_factory=list, init=False)
    _silent: int = field(default=0, init=False)
    _since: int = field(default=0, init=False)

    @property
    def caller(self) -> Identity:
        """The ordinary caller: the first identity that may do everything, else the first, or nobody."""
        known = self.identities()
        return next((each for each in known if each.scopes is None), next(iter(known), NOBODY))

    @property
    def writable(self) -> bool:
        """Whether anything may be written."""
        return self.driver.limits.writes

    def identities(self) -> tuple[Identity, ...]:
        """Every caller with credentials, in the order of the file."""
        return tuple(
            identity for identity in self.target.identities.values() if not identity.anonymous
        )

    def canary(self, kind: Literal["secret", "email", "value", "address"]) -> Canary:
        """A new value that must not come back: one that looks like a secret or an address of a person, or a plain one."""
        token = self.tokens.hex(12)
        looks = {"secret": f"sk_live_{token}", "email": f"jane.{token[:10]}@mailbox-canary.example"}
        return Canary(kind, looks.get(kind, f"faultspec-{token[:12]}"))

    def part(self) -> None:
        """Begin a part of the run: what is said of its clauses depends on no other."""
        self._since = len(self.outcomes)

    # ---- answers that never came

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
        self.cut = self.cut or answer.kind == "budget"
        reached = {outcome.clause for outcome in self.outcomes[self._since :]}
        for clause in clauses:
            if answer.kind == "read-only" and clause not in reached:
                yield not_exercised(clause, answer.reason)
            elif answer.kind != "read-only":
                yield Outcome(clause, "could_not_run", answer.reason)

    def still(self, asked: Exchange) -> None:
        """Raise Unanswered where the service is not asked any more."""
        if self.ended is not None:
            raise Unanswered(NoAnswer(asked.request, "refused", self.ended))

    def heard(self) -> None:
        """The service answered, so it does not hang."""
        self._silent = 0

    def failed(self, asked: Exchange, answer: NoAnswer, *, may_close: bool = False) -> Unanswered:
        """What to raise where no answer came, after drawing conclusions of the service from it."""
        if answer.kind in ("refused", "closed", "garbled", "timeout"):
            self.lost(asked, answer, may_close=may_close)
        return Unanswered(answer)

    def lost(self, asked: Exchange, answer: NoAnswer, *, may_close: bool = False) -> None:
        """What a missing answer says of the service: that it ended, that it hangs, or that it does not bear this request."""
        self._silent += 1
        last = self.exchanges[-1] if self.exchanges else None
        listens = answer.kind == "timeout" or self.driver.listens()
        if not (may_close and listens):
            self.outcomes.append(lost(asked, answer, last, listens=listens))
        request = (
            last.exchange.request
            if answer.kind == "refused" and last is not None
            else asked.request
        )
        what = (
            f"{request.method} {request.target.partition('?')[0]}"
            if asked.transport == "http"
            else request.target
        )
        if not listens:
            self.ended = f"nobody listens any more since {what}"
        elif answer.kind == "timeout" and self._silent >= _SILENT:
            self.ended = f"the service hangs since {what}: {_SILENT} requests in a row were not answered in time"
