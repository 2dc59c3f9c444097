"""When a fault server fails, and with which error: at the request of a caller, or by a script."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from random import Random
from typing import Literal, NamedTuple, get_args

from faultspec.language import grammar
from faultspec.language.carriers import listed_number, reaches
from faultspec.language.model import Code, Taxonomy

#: The request header and the query parameter that request a fault.
FAULT_HEADER = "X-Fault"

#: Transports whose requests name a method or a tool.
BY_NAME = ("jsonrpc", "mcp")

#: The first character of a path segment that requests a fault.
FAULT_SEGMENT = "~"


Malformed = Literal["cut", "type", "id", "never", "twice", "garbage", "media-type", "close"]
"""The fault of a malformed answer. ``cut``: it breaks off. ``type``: a member has another type.
``id``: the id of another request. ``never``: none comes. ``twice``: it comes once more.
``garbage``: text stands before it. ``media-type``: the header names another type. ``close``: the
connection or the stream ends instead.
"""

#: Seconds by which an answer can be late.
_LONGEST_DELAY = 3600.0


class Fault(NamedTuple):
    """An error to send. ``code`` empty: a good answer. ``status``: one of the code's statuses; None
    chooses one.

    ``retry_after``: the value of the header. Empty: no header, unless the taxonomy requires it.
    None: the value of the code's example. ``others``: the codes of further errors of its list.
    ``malformed``: what is wrong with the answer. ``delay``: seconds by which it is late. ``on``:
    the requests that the script answers with it: a method, a tool or a route; None is all.
    """

    code: str
    status: int | None = None
    retry_after: str | None = None
    others: tuple[str, ...] = ()
    malformed: Malformed | None = None
    delay: float = 0.0
    on: str | None = None

    def __str__(self) -> str:
        parts = [self.code] if self.code else []
        parts += [f"status={self.status}"] if self.status is not None else []
        parts += [f"retry-after={self.retry_after}"] if self.retry_after else []
        parts += [f"with={other}" for other in self.others]
        parts += [f"malformed={self.malformed}"] if self.malformed is not None else []
        parts += [f"delay={self.delay:g}"] if self.delay else []
        return ",".join(parts)


def parse_fault(text: str) -> Fault:
    """Parse ``CODE[,status=503][,retry-after=2][,with=OTHER][,malformed=cut][,delay=2][,on=NAME]``.
    The code may be left out before a malformed or late answer. Raises ValueError with a sentence
    for the user.
    """
    code, *settings = (part.strip() for part in text.split(","))
    if "=" in code:
        code, settings = "", [code, *settings]
    fault = Fault(code)
    for setting in settings:
        name, _, value = setting.partition("=")
        if name == "status" and re.fullmatch(r"[45][0-9]{2}", value):
            fault = fault._replace(status=int(value))
        elif name == "retry-after" and re.fullmatch(r"[0-9]*", value):
            fault = fault._replace(retry_after=value)
        elif name == "with" and value:
            fault = fault._replace(others=(*fault.others, value))
        elif name == "malformed" and (found := _find_malformed(value)) is not None:
            fault = fault._replace(malformed=found)
        elif name == "delay" and _is_delay(value):
            fault = fault._replace(delay=float(value))
        elif name == "on" and value:
            fault = fault._replace(on=value)
        else:
            raise ValueError(
                f"`{setting}` is neither `status=` with an error status, `retry-after=` with "
                "whole seconds or nothing, `with=` with a further code, `malformed=` with "
                f"{', '.join(get_args(Malformed)[:-1])} or {get_args(Malformed)[-1]}, `delay=` "
                f"with at most {_LONGEST_DELAY:g} seconds, nor `on=` with a method, tool or route"
            )
    if not fault.code and fault.malformed is None and not fault.delay:
        raise ValueError(f"`{text}` has neither a code nor `malformed=` nor `delay=`")
    return fault


def _find_malformed(value: str) -> Malformed | None:
    return next((kind for kind in get_args(Malformed) if kind == value), None)


def _is_delay(value: str) -> bool:
    is_number = re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", value) is not None
    return is_number and float(value) <= _LONGEST_DELAY


def parse_script(text: str) -> tuple[tuple[int, Fault], ...]:
    """The faults of a file with the numbers of their lines: one a line. Empty lines and those that
    begin with ``#`` do not count. Raises ValueError with the number of the line.
    """
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            faults.append((number, parse_fault(line)))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return tuple(faults)


def check_fault(fault: Fault, taxonomy: Taxonomy) -> str | None:
    """Why a taxonomy has no such error over HTTP or among calls by name; None if it has."""
    if not fault.code or listed_number(taxonomy, fault.code) is not None:
        return None
    own = (code for operation in taxonomy.operations.values() for code in operation.errors.values())
    known = {code.name: code for code in (*own, *taxonomy.codes.values()) if code.live}
    code = known.get(fault.code)
    for name in (fault.code, *fault.others):
        if name not in known:
            hint = grammar.closest(name, tuple(known)) or f"its live codes are {', '.join(known)}"
            return f"{taxonomy.name} has no live code `{name}`: {hint}"
    assert code is not None
    by_name = _is_called_by_name(code, taxonomy)
    if not code.http.carried_statuses and not by_name:
        return f"`{code.name}` is never sent over HTTP: {code.http.reason}"
    if fault.status is not None and not (
        code.http.allows(fault.status) or code.name in taxonomy.codes_for(fault.status)
    ):
        statuses = ", ".join(map(str, code.http.statuses))
        return f"`{code.name}` never has the status {fault.status}; its statuses: {statuses}"
    return None


def _is_called_by_name(code: Code, taxonomy: Taxonomy) -> bool:
    """Whether a surface of JSON-RPC or MCP carries a code."""
    is_own = taxonomy.codes.get(code.name) is not code
    return any(
        surface.transport in BY_NAME and reaches(surface, code, of_operation=is_own)
        for surface in taxonomy.surfaces.values()
    )


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


class Schedule:
    """The progress of a script for all requests, and of one for each ``on`` of its faults.

    A request that meets an ``on`` advances the first such part alone.
    """

    def __init__(self, script: Script, random: Random) -> None:
        names = dict.fromkeys(fault.on for fault in script.faults)
        self._parts = {
            name: ScriptProgress(
                script._replace(faults=tuple(each for each in script.faults if each.on == name)),
                random,
            )
            for name in names
        }

    def next(self, is_meant: Callable[[str], bool], *, general: bool = True) -> Fault | None:
        """The fault for the next request; None for a success. ``is_meant``: whether an ``on`` means
        the request. ``general``: whether faults without one do, too.
        """
        named = (part for name, part in self._parts.items() if name is not None and is_meant(name))
        part = next(named, self._parts.get(None) if general else None)
        return part.next() if part is not None else None
