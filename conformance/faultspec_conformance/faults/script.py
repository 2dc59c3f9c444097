"""When a fault server fails, and with what: asked for by a request, or due by a script."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from faultspec.language import grammar
from faultspec.language.model import Taxonomy

#: The request header, and the query parameter, that asks for a fault.
ASKED = "X-Fault"

#: What the first segment of a path begins with that asks for a fault.
IN_PATH = "~"


class Fault(NamedTuple):
    """An error to be sent. ``status``: one of the code's, where it has several. ``retry_after``: the header as it is sent; empty:
    none, unless the taxonomy requires it; None: as in the code's example.
    """

    code: str
    status: int | None = None
    retry_after: str | None = None

    def __str__(self) -> str:
        said = [f"status={self.status}"] if self.status is not None else []
        said += [f"retry-after={self.retry_after}"] if self.retry_after else []
        return ",".join((self.code, *said))


def parse(text: str) -> Fault:
    """Read ``CODE[,status=503][,retry-after=2]``. Raises ValueError, with a sentence that says what is wrong."""
    code, *rest = (each.strip() for each in text.split(","))
    fault = Fault(code)
    for each in rest:
        name, _, value = each.partition("=")
        if name == "status" and value.isascii() and value.isdigit() and 400 <= int(value) <= 599:
            fault = fault._replace(status=int(value))
        elif name == "retry-after" and (not value or (value.isascii() and value.isdigit())):
            fault = fault._replace(retry_after=value)
        else:
            raise ValueError(
                f"`{each}` is none of `status=` with an error status and `retry-after=` with whole seconds or nothing"
            )
    return fault


def problem(fault: Fault, taxonomy: Taxonomy) -> str | None:
    """Why a taxonomy has no such error over HTTP; None where it has."""
    own = (each for operation in taxonomy.operations.values() for each in operation.errors.values())
    known = {each.name: each for each in (*own, *taxonomy.codes.values()) if each.live}
    code = known.get(fault.code)
    if code is None:
        hint = grammar.closest(fault.code, tuple(known)) or f"its live codes are {', '.join(known)}"
        return f"{taxonomy.name} has no live code `{fault.code}`: {hint}"
    if not code.http.carried:
        return f"`{code.name}` never travels on HTTP: {code.http.reason}"
    if fault.status is not None and not (
        code.http.allows(fault.status) or code.name in taxonomy.codes_for(fault.status)
    ):
        return f"`{code.name}` never travels as {fault.status}; its statuses: {', '.join(map(str, code.http.statuses))}"
    return None


class Script(NamedTuple):
    """Good answers first, ``after`` of them; then the faults in order, each ``times`` in a row; then good answers again.

    ``times`` None: each once, and the last one without end. ``probability``: the chance that a request gets what is due;
    the others are answered well.
    """

    faults: tuple[Fault, ...] = ()
    after: int = 0
    times: int | None = None
    probability: float = 1.0

    def due(self) -> Iterator[Fault]:
        """The faults one after the other, chance and good answers aside."""
        for fault in self.faults:
            yield from (fault for _ in range(1 if self.times is None else self.times))
        while self.times is None and self.faults:
            yield self.faults[-1]


@dataclass(slots=True)
class Turns:
    """How far a script has come."""

    script: Script
    random: Random
    _waiting: int = field(init=False)
    _due: Iterator[Fault] = field(init=False)

    def __post_init__(self) -> None:
        self._waiting = self.script.after
        self._due = self.script.due()

    def next(self) -> Fault | None:
        """What the next request gets; None: a good answer."""
        if self._waiting:
            self._waiting -= 1
            return None
        if self.script.probability < 1 and self.random.random() >= self.script.probability:
            return None
        return next(self._due, None)
