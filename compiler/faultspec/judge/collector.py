"""The results of judging one exchange: findings, and the clauses that it exercised."""

import re
from collections.abc import Iterable, Sequence

from faultspec.contract.model import Contract
from faultspec.exchange.body import DecodedBody, kind_of_body
from faultspec.exchange.finding import Finding, Judgement, Level
from faultspec.exchange.model import Exchange
from faultspec.exchange.sensitive import MASK
from faultspec.judge.masked_body import mask_body, mask_members
from faultspec.language.model import NOWHERE, Source
from faultspec.language.values import ValueProblem, show

#: The name of a member in the problem of a body.
_NAME = re.compile("`.*`", re.DOTALL)

LISTED = 4
"""Places that one message names before it says "and others"."""


def quote_pointer(pointer: str) -> str:
    """A JSON Pointer as messages name it; the empty one is the body."""
    return f"`{pointer}`" if pointer else "the body"


def describe_problem(problem: ValueProblem, at: str) -> str:
    """The sentence about a value problem, for a value at the pointer ``at``."""
    return f"{quote_pointer(at + problem.pointer)} {problem.problem}"


def quote_pointers(pointers: Sequence[str]) -> str:
    """Pointers as the subject of a sentence, with its verb: "`/a` and `/b` are"."""
    quoted = [quote_pointer(pointer) for pointer in pointers]
    if len(quoted) == 1:
        return f"{quoted[0]} is"
    if len(quoted) > LISTED:
        return f"{', '.join(quoted[:LISTED])} and {len(quoted) - LISTED} others are"
    return f"{', '.join(quoted[:-1])} and {quoted[-1]} are"


def join_or(words: Iterable[str]) -> str:
    """Alternatives, each once: "a, b or c"."""
    unique = list(dict.fromkeys(words))
    return f"{', '.join(unique[:-1])} or {unique[-1]}" if len(unique) > 1 else unique[0]


class FindingCollector:
    """The only mutable value while one exchange is judged.

    ``code`` and ``status`` are those of the error being judged, which may be one item of a batch.
    """

    def __init__(self, contract: Contract, exchange: Exchange) -> None:
        self.contract = contract
        self.exchange = exchange
        self.status = exchange.response.status
        self.code: str | None = None
        self._lines: dict[str, list[str]] | None = None
        self._kind_of_body: str | None = None
        self._exercised: set[str] = set()
        self._decided: set[str] = set()
        self._undecided: dict[str, str] = {}
        self._findings: dict[tuple[object, ...], Finding] = {}

    def lines(self, name: str) -> list[str]:
        """The values of a response header; ``name`` is in lower case."""
        if self._lines is None:
            self._lines = {}
            for key, value in self.exchange.response.headers:
                self._lines.setdefault(key.lower(), []).append(value)
        return self._lines.get(name, [])

    def exercise(self, *clauses: str) -> None:
        """Record that the exchange is checked against these clauses."""
        self._exercised.update(clauses)

    def decide(self, clause: str) -> None:
        """Record that a clause is decided although the exchange lacks a fact that it reads."""
        self._exercised.add(clause)
        self._decided.add(clause)

    def undecide(self, clause: str, reason: str) -> None:
        """Record that an unknown fact leaves open whether a clause holds."""
        self._undecided.setdefault(clause, reason)

    def add(
        self,
        clause: str,
        message: str,
        *,
        pointer: str | None = None,
        source: Source = NOWHERE,
        level: Level = "error",
        variant: str = "",
    ) -> None:
        """Record that a clause is broken; its origin is ``source``, else that of the clause.

        ``variant``: which of several mistakes broke it. Names inside a sensitive value are masked
        in the pointer, and where the message quotes it.
        """
        self._exercised.add(clause)
        if pointer is not None and self.contract.sensitive:
            masked = self.contract.sensitive.mask_pointer(pointer)
            message = message.replace(quote_pointer(pointer), quote_pointer(masked))
            pointer = masked
        known = self.contract.clauses.get(clause)
        finding = Finding(
            clause=clause,
            message=message,
            statements=source.statements,
            sections=(source.section,) if source.section else (),
            rulings=source.rulings,
            level=level,
            operation=self.exchange.operation,
            code=self.code,
            status=self.status,
            pointer=pointer,
            evidence=(self.exchange,),
            variant=variant,
        )
        if known is not None:
            finding = known.attach_source(finding)
        self._findings.setdefault(
            (clause, pointer or "", level, self.status or 0, message), finding
        )

    def add_at(
        self,
        clause: str,
        pointer: str,
        predicate: str,
        *,
        source: Source = NOWHERE,
        level: Level = "error",
    ) -> None:
        """Record that a clause is broken at a pointer, which is the subject of the message."""
        message = f"{quote_pointer(pointer)} {predicate}"
        self.add(clause, message, pointer=pointer, source=source, level=level)

    def add_missing(
        self, clause: str, pointer: str, subject: str, *, source: Source, required: bool
    ) -> None:
        """Record that a member is missing which ``subject`` requires, or else should have."""
        self.add_at(
            clause,
            pointer,
            f"is missing; {subject} {'requires' if required else 'should have'} it",
            source=source,
            level="error" if required else "warning",
        )

    def add_problem(
        self,
        clause: str,
        problem: ValueProblem,
        at: str,
        *,
        source: Source,
        level: Level | None = None,
    ) -> None:
        """Record a problem of the value at the pointer ``at``, by default with its own severity."""
        sensitive, pointer = self.contract.sensitive, at + problem.pointer
        # The message of an imported schema quotes objects with all that is in them.
        hides = sensitive.covers(pointer) or (bool(sensitive) and problem.keyword == "imported")
        self.add_at(
            clause,
            pointer,
            problem.without_value if hides else mask_members(problem.problem, sensitive),
            source=source,
            level=level or problem.severity,
        )

    def show(self, value: object, pointer: str) -> str:
        """A value for a sentence, or a mask if the pointer to it is sensitive. A text may hold a
        body, which is masked by place.
        """
        sensitive = self.contract.sensitive
        if sensitive.covers(pointer):
            return MASK
        if sensitive and isinstance(value, str):
            masked = mask_body(value.encode("utf-8", "surrogatepass"), None, sensitive)
            value = masked.content.decode("utf-8", "surrogatepass")
        return show(value)

    def describe_unread(self, body: DecodedBody) -> str:
        """Why a body cannot be read. Where values may be sensitive, it quotes no name of the body:
        the name may be inside one.
        """
        problem = body.problem or ""
        hides = self.contract.sensitive and problem.startswith("repeats the member")
        return _NAME.sub(f"`{MASK}`", problem) if hides else problem

    def quote_places(self, pointers: Sequence[str]) -> str:
        """Pointers as the subject of a sentence, without names inside sensitive values."""
        return quote_pointers([*map(self.contract.sensitive.mask_pointer, pointers)])

    def kind_of_body(self) -> str:
        """The kind of the body of the exchange, which names one of several causes.

        Only findings need it: masking takes as long as the rest of a judgement.
        """
        if self._kind_of_body is None:
            media_type = next(iter(self.lines("content-type")), None)
            masked = mask_body(self.exchange.response.body, media_type, self.contract.sensitive)
            self._kind_of_body = kind_of_body(media_type, masked.content)
        return self._kind_of_body

    @property
    def count(self) -> int:
        """The number of findings."""
        return len(self._findings)

    def has(self, clauses: Iterable[str], pointer: str | None) -> bool:
        """Whether one of the clauses is broken at the pointer."""
        wanted = set(clauses)
        return any(
            finding.clause in wanted and finding.pointer == pointer
            for finding in self._findings.values()
        )

    def judgement(
        self,
        *,
        surface: str | None,
        code: str | None,
        is_error: bool,
        others: tuple[str, ...] = (),
    ) -> Judgement:
        """The findings in their total order, and every clause exercised."""
        ordered = tuple(self._findings[key] for key in sorted(self._findings))
        exercised, undecided = frozenset(self._exercised), self._undecided
        if lacks := self.exchange.lacks:
            known = self.contract.clauses
            exercised = frozenset(
                name
                for name in exercised
                if name not in known or known[name].judgeable(lacks) or name in self._decided
            )
            ordered = tuple(finding for finding in ordered if finding.clause in exercised)
            undecided = {
                name: reason
                for name, reason in undecided.items()
                if name in known and known[name].judgeable(lacks)
            }
        return Judgement(
            ordered,
            exercised,
            surface=surface,
            code=code,
            is_error=is_error,
            undecided=undecided,
            others=others,
        )
