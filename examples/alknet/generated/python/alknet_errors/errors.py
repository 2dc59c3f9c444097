"""An exception for each code of alknet call errors.

A service raises them. A client catches them after ``wire.parse`` made them from an
answer. Only declared codes can be raised, each with its own details, boundaries and
statuses.
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

# Functions of this module set the facts that callers give an error.
# pyright: reportPrivateUsage=false

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
    "error",
    "call_error",
]
"""The shapes on the wire; ``wire.ENVELOPES`` has them."""


SECONDS = Check(types=("number",), minimum=0)
"""The check of ``retry_after``."""

# fmt: off
SLOT_CHECKS: Mapping[str, Check] = {
    "request_id": Check(
        types=("string",),
    ),
}
# fmt: on
"""The checks of attributes that fill an envelope, unless they are None."""

_Entry = t.TypeVar("_Entry")


class Unset(Enum):
    """The default of a detail that may be None; such a detail is left out."""

    UNSET = "unset"


class AlknetError(Exception):
    """Any error of alknet call errors. Each code has a subclass, and only those are
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
        "_other_facts",
        "_retriable",
        "boundary",
        "headers",
        "message",
        "raw",
        "request_id",
        "retry_after",
        "status",
    )

    code: t.ClassVar[ErrorCode]
    facts: t.ClassVar[Facts]
    summary: t.ClassVar[str]
    default_message: t.ClassVar[str]
    operation: t.ClassVar[str | None] = None
    checks: t.ClassVar[Check] = Check()
    defaults: t.ClassVar[Sequence[tuple[str, object]]] = ()
    flag_key: t.ClassVar[str | None] = None
    envelope: t.ClassVar[EnvelopeName] = "error"

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
        request_id: str | None = None,
        other_facts: Mapping[str, object] | None = None,
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
        self._other_facts = {
            fact: value
            for fact, value in (other_facts or {}).items()
            if value is not None
        }
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
        self.request_id = request_id
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


class NotFound(AlknetError):
    """The operation is not registered, or is internal and was called from outside.

    HTTP 404; from registry; clients do not retry.

    ``operation``: The operation that was asked for.
    """

    __slots__ = ()

    code = ErrorCode.NOT_FOUND
    facts = FACTS[code]
    summary = "The operation is not registered, or is internal and was called from outside."
    default_message = "There is no such operation"
    checks = Check(
        members={
            "operation": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        operation: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "operation": operation,
            },
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.NotFoundDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.NotFoundDetails",
            self._details,
        )


class Forbidden(AlknetError):
    """The caller lacks a scope, or is nobody that is known.

    HTTP 401, 403; from registry or acl; a person has to act.

    ``operation``: The operation that was asked for. ``status``: by default the rules of
    the code decide. ``authenticated``: whether the caller was authenticated.
    """

    __slots__ = ()

    code = ErrorCode.FORBIDDEN
    facts = FACTS[code]
    summary = "The caller lacks a scope, or is nobody that is known."
    default_message = "The call is not allowed"
    checks = Check(
        members={
            "operation": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        operation: str | None = None,
        boundary: d.ForbiddenBoundary = "registry",
        status: t.Literal[401, 403] | None = None,
        authenticated: bool | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "operation": operation,
            },
            boundary=boundary,
            status=status,
            other_facts={
                "caller.authenticated": authenticated,
            },
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ForbiddenDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ForbiddenDetails",
            self._details,
        )


class InvalidInput(AlknetError):
    """The input does not fit the operation's input schema.

    HTTP 422; from registry; clients do not retry.

    ``operation``: The operation that was asked for.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_INPUT
    facts = FACTS[code]
    summary = "The input does not fit the operation's input schema."
    default_message = "The input does not fit the schema of the operation"
    checks = Check(
        members={
            "operation": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        operation: str | None = None,
        status: int = 422,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "operation": operation,
            },
            status=status,
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.InvalidInputDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InvalidInputDetails",
            self._details,
        )


class InvalidOperationType(AlknetError):
    """The wrong way to call an operation of this type, such as invoke on a
    subscription.

    HTTP 500; from registry or operation_env; clients do not retry.

    ``operation``: The operation that was asked for.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_OPERATION_TYPE
    facts = FACTS[code]
    summary = "The wrong way to call an operation of this type, such as invoke on a subscription."
    default_message = "The operation cannot be called this way"
    checks = Check(
        members={
            "operation": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        operation: str | None = None,
        boundary: d.InvalidOperationTypeBoundary = "registry",
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "operation": operation,
            },
            boundary=boundary,
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.InvalidOperationTypeDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InvalidOperationTypeDetails",
            self._details,
        )


class Internal(AlknetError):
    """A handler panicked or failed in a way it did not declare, or the connection
    broke.

    HTTP 500; from registry or adapter; clients do not retry. The operation may have
    taken effect.

    ``code``: The code of an error that the operation did not declare.
    """

    __slots__ = ()

    code = ErrorCode.INTERNAL
    facts = FACTS[code]
    summary = "A handler panicked or failed in a way it did not declare, or the connection broke."
    default_message = "Something went wrong"
    checks = Check(
        members={
            "code": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        code: str | None = None,
        boundary: d.InternalBoundary = "registry",
        status: int = 500,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "code": code,
            },
            boundary=boundary,
            status=status,
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.InternalDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InternalDetails",
            self._details,
        )


class Timeout(AlknetError):
    """The request timed out.

    HTTP 504; from adapter; clients retry. The operation may have taken effect.

    ``operation``: The operation that was asked for.
    """

    __slots__ = ()

    code = ErrorCode.TIMEOUT
    facts = FACTS[code]
    summary = "The request timed out."
    default_message = "The request timed out"
    checks = Check(
        members={
            "operation": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        operation: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "operation": operation,
            },
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.TimeoutDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.TimeoutDetails",
            self._details,
        )


class ReadFileFileNotFound(AlknetError):
    """The file does not exist

    From handler; clients do not retry. The operation may have taken effect.

    ``path``: The path that was asked for. ``errno``: What the operating system called
    it.
    """

    __slots__ = ()

    code = ErrorCode.FILE_NOT_FOUND
    facts = Facts(
        wire="FILE_NOT_FOUND",
        status=500,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
        boundaries=("handler",),
    )
    summary = "The file does not exist"
    default_message = "The file does not exist"
    checks = Check(
        members={
            "path": Check(
                types=("string",),
            ),
            "errno": Check(
                types=("integer",),
            ),
        },
    )
    operation = "readFile"

    def __init__(
        self,
        message: str | None = None,
        *,
        path: str | None = None,
        errno: int | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "path": path,
                "errno": errno,
            },
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ReadFileFileNotFoundDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ReadFileFileNotFoundDetails",
            self._details,
        )


class ReadFilePermissionDenied(AlknetError):
    """OS-level read permission denied

    From handler; clients do not retry. The operation may have taken effect.

    ``path``: The path that was asked for. ``errno``: What the operating system called
    it.
    """

    __slots__ = ()

    code = ErrorCode.PERMISSION_DENIED
    facts = Facts(
        wire="PERMISSION_DENIED",
        status=500,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
        boundaries=("handler",),
    )
    summary = "OS-level read permission denied"
    default_message = "The file may not be read"
    checks = Check(
        members={
            "path": Check(
                types=("string",),
            ),
            "errno": Check(
                types=("integer",),
            ),
        },
    )
    operation = "readFile"

    def __init__(
        self,
        message: str | None = None,
        *,
        path: str | None = None,
        errno: int | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "path": path,
                "errno": errno,
            },
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ReadFilePermissionDeniedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ReadFilePermissionDeniedDetails",
            self._details,
        )


class CreateMachineInsufficientCredits(AlknetError):
    """The account cannot pay for the machine.

    From handler; a person has to act. The operation may have taken effect.
    """

    __slots__ = ()

    code = ErrorCode.INSUFFICIENT_CREDITS
    facts = Facts(
        wire="INSUFFICIENT_CREDITS",
        status=500,
        statuses=(),
        retriable="never",
        client_action="user",
        effect="unknown",
        boundaries=("handler",),
    )
    summary = "The account cannot pay for the machine."
    default_message = "The account has not enough credits"
    operation = "createMachine"

    def __init__(
        self,
        message: str | None = None,
        *,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.CreateMachineInsufficientCreditsDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.CreateMachineInsufficientCreditsDetails",
            self._details,
        )


class CreateMachineRateLimited(AlknetError):
    """The upstream API limits the rate.

    HTTP 429; from handler; clients retry.

    ``details_retry_after``: Seconds to wait (``retry_after`` among the details).
    """

    __slots__ = ()

    code = ErrorCode.RATE_LIMITED
    facts = Facts(
        wire="RATE_LIMITED",
        status=429,
        statuses=(429,),
        retriable="always",
        client_action="retry",
        effect="none",
        boundaries=("handler",),
    )
    summary = "The upstream API limits the rate."
    default_message = "Too many requests"
    checks = Check(
        members={
            "retry_after": Check(
                types=("number",),
                minimum=0,
            ),
        },
    )
    operation = "createMachine"

    def __init__(
        self,
        message: str | None = None,
        *,
        details_retry_after: float | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "retry_after": details_retry_after,
            },
            retry_after=details_retry_after,
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.CreateMachineRateLimitedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.CreateMachineRateLimitedDetails",
            self._details,
        )


class ChatContextOverflow(AlknetError):
    """The context window overflowed.

    From handler; clients do not retry. The operation may have taken effect.
    """

    __slots__ = ()

    code = ErrorCode.CONTEXT_OVERFLOW
    facts = Facts(
        wire="CONTEXT_OVERFLOW",
        status=500,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
        boundaries=("handler",),
    )
    summary = "The context window overflowed."
    default_message = "The conversation is too long for the model"
    operation = "chat"

    def __init__(
        self,
        message: str | None = None,
        *,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ChatContextOverflowDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ChatContextOverflowDetails",
            self._details,
        )


# fmt: on
class UnknownError(AlknetError):
    """An answer that is not a declared error: an unknown code, another shape, or not
    JSON.

    ``raw`` is the received body, as it came if it could not be decoded.
    ``original_code`` is the value in the place of the code, or None. Neither is safe to
    show. ``replaced_by`` is the code that replaces a removed one.
    """

    __slots__ = ("original_code", "replaced_by")

    code = ErrorCode.INTERNAL  # fmt: skip
    facts = FACTS[code]._replace(headers=())  # a received error needs no headers
    summary = "A handler panicked or failed in a way it did not declare, or the connection broke."  # fmt: skip
    default_message = "Something went wrong"  # fmt: skip
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
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retriable=False,
            retry_after=retry_after,
            request_id=request_id,
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
    NotFound,
    Forbidden,
    InvalidInput,
    InvalidOperationType,
    Internal,
    Timeout,
    ReadFileFileNotFound,
    ReadFilePermissionDenied,
    CreateMachineInsufficientCredits,
    CreateMachineRateLimited,
    ChatContextOverflow,
    UnknownError,
]
"""Any error that an answer may be. A ``match`` that ends in ``assert_never`` fails type
checking if it lacks a code.
"""

ERRORS: Mapping[ErrorCode, type[AlknetError]] = {
    ErrorCode.NOT_FOUND: NotFound,
    ErrorCode.FORBIDDEN: Forbidden,
    ErrorCode.INVALID_INPUT: InvalidInput,
    ErrorCode.INVALID_OPERATION_TYPE: InvalidOperationType,
    ErrorCode.INTERNAL: Internal,
    ErrorCode.TIMEOUT: Timeout,
}
"""The exception of each code that is shared by all operations."""

_ALL = {
    (kind.operation, str(kind.facts.wire)): kind
    for kind in AlknetError.__subclasses__()
    if kind is not UnknownError
}


def _by_wire() -> dict[str, list[type[AlknetError]]]:
    found: dict[str, list[type[AlknetError]]] = {}
    for (_, wire), kind in _ALL.items():
        found.setdefault(wire, []).append(kind)
    return found


_BY_WIRE = _by_wire()


_OPERATIONS: Mapping[str, str] = {
    "fs/readFile": "readFile",
    "vastai/createMachine": "createMachine",
    "agent/chat": "chat",
}
"""The operation of each tool, method or route."""


# fmt: off
REMOVED: Mapping[tuple[str | None, str], ErrorCode | None] = {}
# fmt: on
"""The replacement of each removed code, by its operation and its value of the code
slot; None if it has none.
"""


def error_class(
    wire: str | int,
    operation: str | None = None,
) -> type[AlknetError] | None:
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
    if operation is not None:
        operation = _OPERATIONS.get(operation, operation)
    return table.get((operation, str(wire)), table.get((None, str(wire))))


def error_classes(
    wire: str | int,
) -> Sequence[type[AlknetError]]:
    """Every exception for a value of the code slot, of any operation; the shared one
    first.
    """
    return _BY_WIRE.get(str(wire), ())


def lacking(
    error: AlknetError,
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
    error: AlknetError,
) -> dict[str, object]:
    names = AlknetError.__slots__
    return {name: getattr(error, name) for name in names}


def restored(
    kind: type[AlknetError],
    state: Mapping[str, object],
) -> AlknetError:
    """An error with this state, unchecked. Pickled errors and those read from the wire
    are made so.
    """
    error = kind.__new__(kind)
    for name, value in state.items():
        setattr(error, name, value)
    error.args = (error.message,)
    return error


def known_facts(
    error: AlknetError,
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
    kind: type[AlknetError],
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
    kind: type[AlknetError],
    *,
    status: int | None = None,
    details: Mapping[str, object] | None = None,
) -> AlknetError:
    """An error with its default message, made without the details that it requires."""
    known = dict(details or {})
    names = AlknetError.__slots__
    state: dict[str, object] = {
        **dict.fromkeys(names),
        **dict(kind.defaults),
        "_details": known,
        "_other_facts": {},
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
) -> AlknetError:
    """The answer to an undeclared error, with its own code among the details."""
    details: dict[str, object] = {}
    # A value that does not look like a code stays out of the answer.
    if re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}", str(original_code or "")):
        details["code"] = original_code
    internal = ErrorCode.INTERNAL  # fmt: skip
    return bare(ERRORS[internal], details=details)


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
    code: ErrorCode,
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


def _own_facts(error: AlknetError) -> dict[str, object]:
    """The facts that an error knows beside its status."""
    facts: dict[str, object] = {
        f"details.{key}": value for key, value in error.details.items()
    }
    facts |= error._other_facts
    return facts


def _holds(fact: object, values: Sequence[object]) -> bool:
    return any(_same(fact, value) for value in values)


def _same(a: object, b: object) -> bool:
    """Equality in JSON: 1 is not true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b
