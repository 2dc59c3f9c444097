"""What is gathered while one exchange is judged: findings, and the clauses it gave occasion to check."""

from collections.abc import Iterable

from faultspec.contract.model import Contract
from faultspec.exchange.finding import Finding, Judgement, Level
from faultspec.exchange.model import Exchange
from faultspec.language.model import NOWHERE, Source


class FindingCollector:
    """The one mutable thing in judging; ``code`` and ``status`` are those of the error being read, be it an item's."""

    def __init__(self, contract: Contract, exchange: Exchange) -> None:
        self.contract = contract
        self.exchange = exchange
        self.status = exchange.response.status
        self.code: str | None = None
        self._lines: dict[str, list[str]] | None = None
        self._exercised: set[str] = set()
        self._findings: dict[tuple[object, ...], Finding] = {}

    def lines(self, name: str) -> list[str]:
        """The values of a header of the answer, whose name is given in lower case."""
        if self._lines is None:
            self._lines = {}
            for key, value in self.exchange.response.headers:
                self._lines.setdefault(key.lower(), []).append(value)
        return self._lines.get(name, [])

    def exercise(self, *clauses: str) -> None:
        """The exchange gives occasion to check these clauses."""
        self._exercised.update(clauses)

    def broken(
        self,
        clause: str,
        message: str,
        *,
        pointer: str | None = None,
        source: Source = NOWHERE,
        level: Level = "error",
    ) -> None:
        """The clause is broken. Statements are those of the construct at ``source``, else the clause's own."""
        self._exercised.add(clause)
        known = self.contract.clauses.get(clause)
        finding = Finding(
            clause=clause,
            message=message,
            statements=source.statements or (known.statements if known else ()),
            level=level,
            operation=self.exchange.operation,
            code=self.code,
            status=self.status,
            pointer=pointer,
            evidence=(self.exchange,),
        )
        self._findings.setdefault(
            (clause, pointer or "", level, self.status or 0, message), finding
        )

    def found(self, clauses: Iterable[str], pointer: str | None) -> bool:
        """Whether one of the clauses was found broken at the pointer."""
        wanted = set(clauses)
        return any(
            finding.clause in wanted and finding.pointer == pointer
            for finding in self._findings.values()
        )

    def judgement(self, *, surface: str | None, code: str | None, is_error: bool) -> Judgement:
        """The findings in their total order, with everything that was exercised."""
        ordered = tuple(self._findings[key] for key in sorted(self._findings))
        exercised = frozenset(self._exercised)
        if lacks := self.exchange.lacks:
            known = self.contract.clauses
            exercised = frozenset(
                each for each in exercised if each not in known or known[each].judgeable(lacks)
            )
            ordered = tuple(each for each in ordered if each.clause in exercised)
        return Judgement(ordered, exercised, surface, code, is_error)
