"""The answers of the judge and the probes: findings, and the clauses that were exercised."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from faultspec.exchange.model import Exchange

#: A segment of a JSON Pointer with a digit in it.
_NUMBERED = re.compile(r"(?<=/)[^/]*[0-9][^/]*")

#: Families of clauses whose mistakes do not depend on the code of the answer: the same line of a
#: service makes them for every code.
_OF_ANY_CODE = ("surface/", "envelope/", "headers/", "correlation/", "ids/", "http/")

#: Families of clauses whose mistakes do not depend on its status either.
_OF_ANY_STATUS = (
    *("headers/", "correlation/", "ids/", "surface/known"),
    *("envelope/media-type", "envelope/json", "envelope/shape"),
)

#: Clauses whose fingerprints had the status, and no kind of body, before their findings of several
#: statuses became one. Waivers and baselines of that time still hold.
_ONCE_OF_ONE_STATUS = ("surface/known", "envelope/json", "envelope/shape")

Level = Literal["error", "warning"]
"""A warning is an unmet SHOULD: it is reported and counted, but never fails a run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One clause broken by one exchange, or by a relation between several.

    ``statements``, ``sections``, ``rulings``: the origin of the broken rule in the taxonomy.
    ``operation``: ``METHOD /template``. ``pointer``: a JSON Pointer into the body of the last
    exchange. ``evidence``: the exchanges in order of time, the offending one last. ``variant``:
    which of several mistakes broke the clause; empty for the first of them.
    """

    clause: str
    message: str
    statements: tuple[str, ...] = ()
    level: Level = "error"
    operation: str | None = None
    code: str | None = None
    status: int | None = None
    pointer: str | None = None
    evidence: tuple[Exchange, ...] = ()
    sections: tuple[str, ...] = ()
    rulings: tuple[str, ...] = ()
    variant: str = ""

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that name the cause: the same in every run and for every operation.

        They are made of clause, code, status, pointer and variant. Code and status are left out
        where they do not matter to the clause. Segments of the pointer with a digit are equal, as
        they may be indexes or names of one run.
        """
        return self._digest(self.status_of_cause, self.variant)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The fingerprint, and the one that earlier versions gave the finding if it differs."""
        if self.clause not in _ONCE_OF_ONE_STATUS:
            return (self.fingerprint,)
        return self.fingerprint, self._digest(self.status, "")

    @property
    def recorded_fingerprint(self) -> str:
        """The fingerprint that the version which made a report gave the finding in it."""
        return self.fingerprint if self.variant else self.fingerprints[-1]

    def _digest(self, status: int | None, variant: str) -> str:
        pointer = None if self.pointer is None else _NUMBERED.sub("*", self.pointer)
        parts = (self.clause, self.code_of_cause, status, pointer)
        # Without a variant they are those of earlier versions, which waivers name.
        text = "\x1f".join(map(str, (*parts, *filter(None, (variant,)))))
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]

    @property
    def code_of_cause(self) -> str | None:
        """The code; None if the cause may show under any code."""
        return None if self.clause.startswith(_OF_ANY_CODE) else self.code

    @property
    def status_of_cause(self) -> int | None:
        """The status; None if the cause may show under any status."""
        return None if self.clause.startswith(_OF_ANY_STATUS) else self.status


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's whole answer on one exchange.

    ``exercised``: addresses of the clauses that the exchange was checked against, broken or not.
    ``surface``: the surface that claims it, if any. ``code``: the declared code in it, if any, and
    ``others`` those of the further errors of its list.
    ``undecided``: clauses that depend on an unknown fact, each with the reason.
    """

    findings: tuple[Finding, ...]
    exercised: frozenset[str]
    surface: str | None = None
    code: str | None = None
    is_error: bool = False
    undecided: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
