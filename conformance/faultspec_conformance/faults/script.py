"""When a fault server fails, and with which error: at the request of a caller, or by a script."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat
from random import Random
from typing import NamedTuple

from faultspec.language import grammar
from faultspec.language.model import Taxonomy

#: The request header and the query parameter that request a fault.
FAULT_HEADER = "X-Fault"

#: The first character of a path segment that requests a fault.
FAULT_SEGMENT = "~"


class Fault(NamedTuple):
    """An error to send. ``status``: one of the code's statuses; None chooses one.

    ``retry_after``: the value of the header. Empty: no header, unless the taxonomy requires it.
    None: the value of the code's example. ``others``: the codes of further errors of its list.
    """

    code: str
    status: int | None = None
    retry_after: str | None = None
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [self.code]
        parts += [f"status={self.status}"] if self.status is not None else []
        parts += [f"retry-after={self.retry_after}"] if self.retry_after else []
        parts += [f"with={other}" for other in self.others]
        return ",".join(parts)


def parse_fault(text: str) -> Fault:
    """Parse ``CODE[,status=503][,retry-after=2][,with=OTHER]``. Raises ValueError with a sentence
    for the user.
    """
    code, *settings = (part.strip() for part in text.split(","))
    fault = Fault(code)
    for setting in settings:
        name, _, value = setting.partition("=")
        if name == "status" and re.fullmatch(r"[45][0-9]{2}", value):
            fault = fault._replace(status=int(value))
        elif name == "retry-after" and re.fullmatch(r"[0-9]*", value):
            fault = fault._replace(retry_after=value)
        elif name == "with" and value:
            fault = fault._replace(others=(*fault.others, value))
        else:
            raise ValueError(
                f"`{setting}` is neither `status=` with an error status, `retry-after=` with "
                "whole seconds or nothing, nor `with=` with a further code"
            )
    return fault


def check_fault(fault: Fault, taxonomy: Taxonomy) -> str | None:
    """Why a taxonomy has no such error over HTTP; None if it has."""
    own = (code for operation in taxonomy.operations.values() for code in operation.errors.values())
    known = {code.name: code for code in (*own, *taxonomy.codes.values()) if code.live}
    code = known.get(fault.code)
    for name in (fault.code, *fault.others):
        if name not in known:
            hint = grammar.closest(name, tuple(known)) or f"its live codes are {', '.join(known)}"
            return f"{taxonomy.name} has no live code `{name}`: {hint}"
    assert code is not None
    if not code.http.carried_statuses:
        return f"`{code.name}` is never sent over HTTP: {code.http.reason}"
    if fault.status is not None and not (
        code.http.allows(fault.status) or code.name in taxonomy.codes_for(fault.status)
    ):
        statuses = ", ".join(map(str, code.http.statuses))
        return f"`{code.name}` never has the status {fault.status}; its statuses: {statuses}"
    return None


class Script(NamedTuple):
    """First ``after`` successes, then each fault ``times`` in a row, then successes again.

    ``times`` None: each fault once, and the last one without end. ``probability``: the chance that
    a request gets the fault that is due. Otherwise it gets a success.
    """

    faults: tuple[Fault, ...] = ()
    after: int = 0
    times: int | None = None
    probability: float = 1.0

    def due_faults(self) -> Iterator[Fault]:
        """The faults one after the other, without successes."""
        for fault in self.faults:
            yield from repeat(fault, 1 if self.times is None else self.times)
        if self.times is None and self.faults:
            yield from repeat(self.faults[-1])


@dataclass(slots=True)
class ScriptProgress:
    """The progress of a script."""

    script: Script
    random: Random
    _waiting: int = field(init=False)
    _due: Iterator[Fault] = field(init=False)

    def __post_init__(self) -> None:
        self._waiting = self.script.after
        self._due = self.script.due_faults()

    def next(self) -> Fault | None:
        """The fault for the next request; None for a success."""
        if self._waiting:
            self._waiting -= 1
            return None
        if self.script.probability < 1 and self.random.random() >= self.script.probability:
            return None
        return next(self._due, None)
