"""An exception for each code of Theodosia refusals.

A service raises them. A client catches them after ``wire.parse`` made them from an
answer. Only declared codes can be raised, each with its own details, boundaries and
statuses.
"""

# Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/theodosia/taxonomy.yaml

from __future__ import annotations

import json
import re
import typing as t
from collections.abc import Mapping, Sequence
from enum import Enum

from ._runtime.checking import Check, refuse
from .codes import FACTS, ErrorCode, Facts, RetriableRule, StatusRule, codes_for

if t.TYPE_CHECKING:
    from . import details as d

EnvelopeName = t.Literal[
    "rejection",
    "exception",
    "unknown",
    "refusal",
]
"""The shapes on the wire; ``wire.ENVELOPES`` has them."""


SECONDS = Check(types=("number",), minimum=0)
"""The check of ``retry_after``."""

# fmt: off
SLOT_CHECKS: Mapping[str, Check] = {
    "requested": Check(
        types=("string",),
    ),
    "valid_next_actions": Check(
        types=("array",),
        items=Check(
            types=("string",),
        ),
    ),
    "error_type": Check(
        types=("string",),
    ),
    "known_actions": Check(
        types=("array",),
        items=Check(
            types=("string",),
        ),
    ),
}
# fmt: on
"""The checks of attributes that fill an envelope, unless they are None."""

_Entry = t.TypeVar("_Entry")


class Unset(Enum):
    """The default of a detail that may be None; such a detail is left out."""

    UNSET = "unset"


class TheodosiaError(Exception):
    """Any error of Theodosia refusals. Each code has a subclass, and only those are
    raised.

    ``message`` is safe to show to the sender of the request. ``status`` is the HTTP
    status, None for a code without one. ``headers`` travel beside the envelope, and
    ``retry_after`` (seconds) as one of them. ``envelope`` is the default envelope of
    the code. The cause of the error is its ``__cause__`` (``raise … from failure``),
    and never travels. ``raw`` is the body that it was read from, decoded, and None if
    it was not read; it is not safe to show.
    """

    __slots__ = (
        "_details",
        "_retriable",
        "boundary",
        "error_type",
        "headers",
        "known_actions",
        "message",
        "raw",
        "requested",
        "retry_after",
        "status",
        "valid_next_actions",
    )

    code: t.ClassVar[ErrorCode | None]
    facts: t.ClassVar[Facts]
    summary: t.ClassVar[str]
    default_message: t.ClassVar[str]
    operation: t.ClassVar[str | None] = None
    checks: t.ClassVar[Check] = Check()
    defaults: t.ClassVar[Sequence[tuple[str, object]]] = ()
    flag_key: t.ClassVar[str | None] = None
    envelope: t.ClassVar[EnvelopeName] = "rejection"

    # fmt: off
    def __init__(
        self,
        message: str | None = None,
        *,
        details: Mapping[str, object],
        nullable: Sequence[str] = (),
        boundary: str | None = None,
        status: int | None = None,
        retriable: bool | None = None,
        retry_after: float | None = None,
        requested: str | None = None,
        valid_next_actions: Sequence[str] | None = None,
        error_type: str | None = None,
        known_actions: Sequence[str] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> None:
        if not hasattr(self, "code"):
            name = type(self).__name__
            raise TypeError(f"{name} has no code; raise one of its subclasses")
        self._details: Mapping[str, object] = {
            key: value
            for key, value in details.items()
            if value is not Unset.UNSET and (value is not None or key in nullable)
        }
        refuse(self.checks, self._details, f"{self.facts.wire}: details")
        self._retriable = retriable
        self.boundary = _allowed_boundary(self.facts, boundary)
        self.status = _allowed_status(
            self.code,
            self.facts,
            status,
            _own_facts(self) if self.facts.status_rules else {},
        )
        if retry_after is not None:
            refuse(SECONDS, retry_after, "retry_after")
        self.retry_after = retry_after
        self.requested = requested
        self.valid_next_actions = valid_next_actions
        self.error_type = error_type
        self.known_actions = known_actions
        for slot, check in SLOT_CHECKS.items():
            if getattr(self, slot) is not None:
                refuse(check, getattr(self, slot), f"{self.facts.wire}: {slot}")
        self.raw: object = None
        self.headers = _sendable(headers or {})
        for name in lacking(self):
            way = "retry_after" if name.lower() == "retry-after" else "headers"
            under = f"{self.facts.wire} under {self.status}"
            raise ValueError(f"{under} needs the header {name}: pass `{way}`")
        if self.flag_key is not None:
            self._details = {**self._details, self.flag_key: self._flag()}
        self.message = (
            default_message(type(self), self._details) if message is None else message
        )
        super().__init__(self.message)

    # fmt: on
    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (type(self), _state(self))

    @property
    def details(self) -> Mapping[str, object]:
        """The details in the envelope, typed by each subclass; read only."""
        return self._details

    @property
    def retriable(self) -> bool:
        """Whether this request may be sent again: by its own flag, else by its code."""
        decides = self.facts.retriable == "conditional"
        return self.retriable_when(known_facts(self) if decides else {})

    def retriable_when(self, facts: Mapping[str, object]) -> bool:
        """The same, with other facts; rules define their names."""
        if self._retriable is not None:
            return self._retriable
        if self.facts.retriable == "conditional":
            return decided(self.facts.rules, facts, otherwise=False)
        if self.facts.retriable in ("always", "never"):
            return self.facts.retriable == "always"
        return self.facts.client_action == "retry"

    def _flag(self) -> bool:
        """The flag among the details: the error's own, else whether the client action
        is ``retry``.
        """
        decides = self._retriable is not None or self.facts.retriable == "conditional"
        return self.retriable if decides else self.facts.client_action == "retry"


# fmt: off


class InvalidTransition(TheodosiaError):
    """The action exists and cannot be reached from the current state.

    From graph; clients read again before they retry.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_TRANSITION
    facts = FACTS[code]
    summary = "The action exists and cannot be reached from the current state."
    default_message = "The action cannot be reached from the current state"
    envelope = "refusal"

    def __init__(
        self,
        message: str | None = None,
        *,
        requested: str,
        valid_next_actions: Sequence[str],
        error_type: str | None = None,
        known_actions: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            requested=requested,
            valid_next_actions=valid_next_actions,
            error_type=error_type,
            known_actions=known_actions,
        )

    @property
    def details(self) -> d.InvalidTransitionDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InvalidTransitionDetails",
            self._details,
        )


class UnknownAction(TheodosiaError):
    """The graph has no such action.

    From graph; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.UNKNOWN_ACTION
    facts = FACTS[code]
    summary = "The graph has no such action."
    default_message = "The graph has no such action"
    envelope = "unknown"

    def __init__(
        self,
        message: str | None = None,
        *,
        requested: str,
        valid_next_actions: Sequence[str],
        known_actions: Sequence[str],
        error_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            requested=requested,
            valid_next_actions=valid_next_actions,
            error_type=error_type,
            known_actions=known_actions,
        )

    @property
    def details(self) -> d.UnknownActionDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UnknownActionDetails",
            self._details,
        )


class ValidationFailed(TheodosiaError):
    """The action can be reached and its inputs were refused.

    From validator; clients do not retry.

    ``field``: The input that was refused. ``got``: What it was.
    """

    __slots__ = ()

    code = ErrorCode.VALIDATION_FAILED
    facts = FACTS[code]
    summary = "The action can be reached and its inputs were refused."
    default_message = "The inputs were refused"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "got": Check(
                types=(
                    "string",
                    "number",
                    "boolean",
                    "object",
                    "array",
                    "null",
                ),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        requested: str,
        valid_next_actions: Sequence[str],
        field: str | None = None,
        got: str | float | bool | Mapping[str, object] | Sequence[object] | Unset | None = Unset.UNSET,
        error_type: str | None = None,
        known_actions: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "got": got,
            },
            nullable=[
                "got",
            ],
            headers=headers,
            requested=requested,
            valid_next_actions=valid_next_actions,
            error_type=error_type,
            known_actions=known_actions,
        )

    @property
    def details(self) -> d.ValidationFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ValidationFailedDetails",
            self._details,
        )


class ActionTimeout(TheodosiaError):
    """The action ran longer than its budget.

    From body; clients do not retry. The operation may have taken effect.

    ``timeout_seconds``: The budget of the action.
    """

    __slots__ = ()

    code = ErrorCode.ACTION_TIMEOUT
    facts = FACTS[code]
    summary = "The action ran longer than its budget."
    default_message = "The action exceeded its timeout"
    checks = Check(
        members={
            "timeout_seconds": Check(
                types=("number",),
                minimum=0,
            ),
        },
        required=("timeout_seconds",),
    )
    envelope = "refusal"

    def __init__(
        self,
        message: str | None = None,
        *,
        timeout_seconds: float,
        requested: str,
        valid_next_actions: Sequence[str],
        error_type: str | None = None,
        known_actions: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "timeout_seconds": timeout_seconds,
            },
            headers=headers,
            requested=requested,
            valid_next_actions=valid_next_actions,
            error_type=error_type,
            known_actions=known_actions,
        )

    @property
    def details(self) -> d.ActionTimeoutDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ActionTimeoutDetails",
            self._details,
        )


class ActionError(TheodosiaError):
    """The action ran and its body raised.

    From body; clients do not retry. The operation may have taken effect.
    """

    __slots__ = ()

    code = ErrorCode.ACTION_ERROR
    facts = FACTS[code]
    summary = "The action ran and its body raised."
    default_message = "The action failed"
    envelope = "exception"

    def __init__(
        self,
        message: str | None = None,
        *,
        requested: str,
        valid_next_actions: Sequence[str],
        error_type: str,
        known_actions: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            requested=requested,
            valid_next_actions=valid_next_actions,
            error_type=error_type,
            known_actions=known_actions,
        )

    @property
    def details(self) -> d.ActionErrorDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ActionErrorDetails",
            self._details,
        )


# fmt: on
class UnknownError(TheodosiaError):
    """An answer that is not a declared error: an unknown code, another shape, or not
    JSON.

    ``raw`` is the received body, as it came if it could not be decoded.
    ``original_code`` is the value in the place of the code, or None. Neither is safe to
    show. ``replaced_by`` is the code that replaces a removed one.
    ``code`` is None: the taxonomy declares no code for unknown errors.
    """

    __slots__ = ("original_code", "replaced_by")

    code = None  # the taxonomy declares no code for unknown errors
    facts = Facts(
        wire="unknown",
        status=None,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
    )
    summary = "The answer is not a known error"  # fmt: skip
    default_message = "The answer is not a known error"  # fmt: skip
    flag_key = None

    # fmt: off
    def __init__(
        self,
        message: str | None = None,
        *,
        raw: object,
        original_code: str | int | None = None,
        replaced_by: ErrorCode | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        requested: str | None = None,
        valid_next_actions: Sequence[str] | None = None,
        error_type: str | None = None,
        known_actions: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retriable=False,
            retry_after=retry_after,
            requested=requested,
            valid_next_actions=valid_next_actions,
            error_type=error_type,
            known_actions=known_actions,
            headers=headers,
        )
        self.status = status
        self.raw = raw
        self.original_code = original_code
        self.replaced_by = replaced_by

    # fmt: on
    def __str__(self) -> str:
        return f"unknown error (status {self.status}, code {self.original_code!r})"

    def __reduce__(self) -> tuple[object, ...]:
        own = {name: getattr(self, name) for name in UnknownError.__slots__}
        return restored, (UnknownError, {**_state(self), **own})


AnyError: t.TypeAlias = t.Union[  # noqa: UP007  # thousands of bars nest too deep
    InvalidTransition,
    UnknownAction,
    ValidationFailed,
    ActionTimeout,
    ActionError,
    UnknownError,
]
"""Any error that an answer may be. A ``match`` that ends in ``assert_never`` fails type
checking if it lacks a code.
"""

ERRORS: Mapping[ErrorCode, type[TheodosiaError]] = {
    ErrorCode.INVALID_TRANSITION: InvalidTransition,
    ErrorCode.UNKNOWN_ACTION: UnknownAction,
    ErrorCode.VALIDATION_FAILED: ValidationFailed,
    ErrorCode.ACTION_TIMEOUT: ActionTimeout,
    ErrorCode.ACTION_ERROR: ActionError,
}
"""The exception of each code that is shared by all operations."""

_ALL = {
    (kind.operation, str(kind.facts.wire)): kind
    for kind in TheodosiaError.__subclasses__()
    if kind is not UnknownError
}


def _by_wire() -> dict[str, list[type[TheodosiaError]]]:
    found: dict[str, list[type[TheodosiaError]]] = {}
    for (_, wire), kind in _ALL.items():
        found.setdefault(wire, []).append(kind)
    return found


_BY_WIRE = _by_wire()


# fmt: off
REMOVED: Mapping[tuple[str | None, str], ErrorCode | None] = {}
# fmt: on
"""The replacement of each removed code, by its operation and its value of the code
slot; None if it has none.
"""


def error_class(
    wire: str | int,
    operation: str | None = None,
) -> type[TheodosiaError] | None:
    """The exception for a value of the code slot: the operation's own, else the shared
    one; None if unknown.
    """
    return _find(_ALL, wire, operation)


def replacement(
    wire: str | int,
    operation: str | None = None,
) -> ErrorCode | None:
    """The code that replaces a removed one of the operation, else a shared one."""
    return _find(REMOVED, wire, operation)


def _find(
    table: Mapping[tuple[str | None, str], _Entry],
    wire: str | int,
    operation: str | None,
) -> _Entry | None:
    return table.get((operation, str(wire)), table.get((None, str(wire))))


def error_classes(
    wire: str | int,
) -> Sequence[type[TheodosiaError]]:
    """Every exception for a value of the code slot, of any operation; the shared one
    first.
    """
    return _BY_WIRE.get(str(wire), ())


def lacking(
    error: TheodosiaError,
) -> Sequence[str]:
    """The headers that the error needs under its status and lacks."""
    given = {name.lower() for name in error.headers}
    if error.retry_after is not None:
        given.add("retry-after")
    return [
        name
        for name, on in error.facts.headers
        if name.lower() not in given and any(error.status in span for span in on)
    ]


def _state(
    error: TheodosiaError,
) -> dict[str, object]:
    names = TheodosiaError.__slots__
    return {name: getattr(error, name) for name in names}


def restored(
    kind: type[TheodosiaError],
    state: Mapping[str, object],
) -> TheodosiaError:
    """An error with this state, unchecked. Pickled errors and those read from the wire
    are made so.
    """
    error = kind.__new__(kind)
    for name, value in state.items():
        setattr(error, name, value)
    error.args = (error.message,)
    return error


def known_facts(
    error: TheodosiaError,
) -> dict[str, object]:
    """The facts that an error knows, under the names that rules use."""
    return {"status": error.status, **_own_facts(error)}


def decided(
    rules: Sequence[RetriableRule], facts: Mapping[str, object], *, otherwise: bool
) -> bool:
    """The result of the first rule that holds; ``otherwise`` if none does."""
    for rule in rules:
        if all(_holds(facts.get(fact), values) for fact, values in rule.when):
            return rule.then
    return otherwise


def default_message(
    kind: type[TheodosiaError],
    details: Mapping[str, object],
) -> str:
    """The default message with each ``${key}`` replaced by that detail, and ``$$`` by a
    dollar; the summary if a detail is missing.
    """
    template, parameter = kind.default_message, r"\$\$|\$\{([^}]+)\}"
    if any(key and details.get(key) is None for key in re.findall(parameter, template)):
        return kind.summary
    return re.sub(
        parameter,
        lambda match: _text(details[match[1]]) if match[1] else "$",
        template,
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return str(value)  # of an enumeration's member the string
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def bare(
    kind: type[TheodosiaError],
    *,
    status: int | None = None,
    details: Mapping[str, object] | None = None,
) -> TheodosiaError:
    """An error with its default message, made without the details that it requires."""
    known = dict(details or {})
    names = TheodosiaError.__slots__
    state: dict[str, object] = {
        **dict.fromkeys(names),
        **dict(kind.defaults),
        "_details": known,
        "boundary": next(iter(kind.facts.boundaries), None),
        "headers": {},
        "message": default_message(kind, known),
        "status": kind.facts.status if status is None else status,
    }
    error = restored(kind, state)
    if kind.flag_key is not None:
        flag = error._flag()  # pyright: ignore[reportPrivateUsage]  # of this module
        error._details = {**known, kind.flag_key: flag}  # pyright: ignore[reportPrivateUsage]
    return error


def undeclared(
    original_code: str | int | None = None,
) -> TheodosiaError:
    """The answer to an undeclared error; ``original_code`` stays out of it."""
    return UnknownError(raw=None, status=500)


def entity_tag(value: str) -> str:
    """A validator in the form of the header ``ETag``: in quotes, after its mark of
    weakness (RFC 9110 §8.8.3).
    """
    return value if re.fullmatch(r'(W/)?"[^"]*"', value) else f'"{value}"'


def _sendable(headers: Mapping[str, str | None]) -> dict[str, str]:
    """The headers that have a value. Names have no case; the last of a name counts.

    A name is a token (RFC 9110 section 5.6.2).
    """
    found: dict[str, tuple[str, str]] = {}
    for name, value in headers.items():
        # A caller need not check its types, and a header of another one is not sent.
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the name of a header must be a string, not {name!r}")
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ValueError(f"{name!r} is not the name of a header")
        if value is None:
            continue
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(value).__name__
            raise TypeError(f"the header {name} must be a string, not {kind}")
        found[name.lower()] = (name, value)
    return dict(found.values())


def _allowed_boundary(facts: Facts, boundary: str | None) -> str | None:
    if boundary is None:
        return next(iter(facts.boundaries), None)
    if boundary not in facts.boundaries:
        own = " or ".join(facts.boundaries)
        raise ValueError(f"{facts.wire} comes from {own}, not from {boundary!r}")
    return boundary


def _allowed_status(
    code: ErrorCode | None,
    facts: Facts,
    status: int | None,
    known: Mapping[str, object],
) -> int | None:
    """The given status if it is allowed. Without one, the status that the rules decide
    by the known facts, or the default if several remain.
    """
    possible = _outcomes(facts.status_rules, known)
    if status is None and possible and facts.status not in possible:
        return possible[-1]
    if status is None:
        return facts.status
    if possible and status not in possible:
        allowed = " or ".join(map(str, possible))
        raise ValueError(f"{facts.wire} travels under {allowed} here")
    if status not in facts.statuses and code not in codes_for(status):
        raise ValueError(f"{facts.wire} does not travel under {status}")
    return status


def _outcomes(rules: Sequence[StatusRule], facts: Mapping[str, object]) -> list[int]:
    """The possible results of the rules; an unknown fact leaves both ways open."""
    found: list[int] = []
    for rule in rules:
        known = [(fact, values) for fact, values in rule.when if fact in facts]
        if not all(_holds(facts[fact], values) for fact, values in known):
            continue
        if rule.then not in found:
            found.append(rule.then)
        if len(known) == len(rule.when):
            break
    return found


def _own_facts(error: TheodosiaError) -> dict[str, object]:
    """The facts that an error knows beside its status."""
    facts: dict[str, object] = {
        f"details.{key}": value for key, value in error.details.items()
    }
    return facts


def _holds(fact: object, values: Sequence[object]) -> bool:
    return any(_same(fact, value) for value in values)


def _same(a: object, b: object) -> bool:
    """Equality in JSON: 1 is not true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b
