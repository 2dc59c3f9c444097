"""What the judge and the probes say: findings, and which clauses an exchange gave occasion to check."""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from faultspec.exchange.model import Exchange

#: A segment of a JSON Pointer with a digit in it.
_NUMBERED = re.compile(r"(?<=/)[^/]*[0-9][^/]*")

Level = Literal["error", "warning"]
"""A warning is a SHOULD that was not met: reported, counted, and never the reason of a failed run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One clause broken by one exchange, or by a relation between several.

    ``operation`` is ``METHOD /template``; ``pointer`` a JSON Pointer into the last exchange's body; ``evidence`` the exchanges
    in the order they happened, the offending one last.
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

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that stay the same from run to run: clause, operation, code, status and pointer, never values.

        A segment of the pointer with a digit in it may be an index or a name of one run, so it counts as any.
        """
        pointer = None if self.pointer is None else _NUMBERED.sub("*", self.pointer)
        text = "\x1f".join(
            str(part) for part in (self.clause, self.operation, self.code, self.status, pointer)
        )
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's whole answer on one exchange.

    ``exercised``: addresses of the clauses the exchange gave occasion to check, broken or not.
    ``surface``: the surface that claimed it, ``code`` the declared code read from it, either None.
    """

    findings: tuple[Finding, ...]
    exercised: frozenset[str]
    surface: str | None = None
    code: str | None = None
    is_error: bool = False
