"""An exception for each code of Aileron failures.

A service raises them. A client catches them after ``wire.parse`` made them from an
answer. Only declared codes can be raised, each with its own details, boundaries and
statuses.
"""

# Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aileron/taxonomy.yaml

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
    "failure",
    "api_error",
]
"""The shapes on the wire; ``wire.ENVELOPES`` has them."""


SECONDS = Check(types=("number",), minimum=0)
"""The check of ``retry_after``."""

# fmt: off
SLOT_CHECKS: Mapping[str, Check] = {
    "audit_id": Check(
        types=("string",),
        pattern="^audit-.",
    ),
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


class AileronError(Exception):
    """Any error of Aileron failures. Each code has a subclass, and only those are
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
        "audit_id",
        "boundary",
        "headers",
        "message",
        "raw",
        "request_id",
        "retry_after",
        "status",
    )

    code: t.ClassVar[ErrorCode | None]
    facts: t.ClassVar[Facts]
    summary: t.ClassVar[str]
    default_message: t.ClassVar[str]
    operation: t.ClassVar[str | None] = None
    checks: t.ClassVar[Check] = Check()
    defaults: t.ClassVar[Sequence[tuple[str, object]]] = ()
    flag_key: t.ClassVar[str | None] = None
    envelope: t.ClassVar[EnvelopeName] = "failure"

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
        audit_id: str | None = None,
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
        self.audit_id = audit_id
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


class CapabilityDenied(AileronError):
    """A capability check refused the operation.

    HTTP 403; from sandbox or connector_manifest or action; clients do not retry.

    ``host``: The host that was denied. ``scope``: The credential scope that did not
    match. ``suggestion``: What the user can do about it.
    """

    __slots__ = ()

    code = ErrorCode.CAPABILITY_DENIED
    facts = FACTS[code]
    summary = "A capability check refused the operation."
    default_message = "The operation is not allowed"
    checks = Check(
        members={
            "host": Check(
                types=("string",),
            ),
            "scope": Check(
                types=("string",),
            ),
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        audit_id: str,
        host: str | None = None,
        scope: str | None = None,
        suggestion: str | None = None,
        boundary: d.CapabilityDeniedBoundary = "sandbox",
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "host": host,
                "scope": scope,
                "suggestion": suggestion,
            },
            boundary=boundary,
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.CapabilityDeniedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.CapabilityDeniedDetails",
            self._details,
        )


class BindingRequired(AileronError):
    """No credential is bound for a required capability.

    HTTP 412; from runtime; a person has to act.

    ``binding``: The binding that was used, such as oauth2/slack/work. ``scope``: The
    credential scope that did not match. ``suggestion``: What the user can do about it.
    """

    __slots__ = ()

    code = ErrorCode.BINDING_REQUIRED
    facts = FACTS[code]
    summary = "No credential is bound for a required capability."
    default_message = "A credential must be bound first"
    checks = Check(
        members={
            "binding": Check(
                types=("string",),
            ),
            "scope": Check(
                types=("string",),
            ),
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        audit_id: str,
        binding: str | None = None,
        scope: str | None = None,
        suggestion: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "binding": binding,
                "scope": scope,
                "suggestion": suggestion,
            },
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.BindingRequiredDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BindingRequiredDetails",
            self._details,
        )


class BindingFailed(AileronError):
    """An existing binding refused: token expired, key revoked, scope changed.

    HTTP 412; from runtime; a person has to act.

    ``retriable``: whether this request may be sent again. ``binding``: The binding that
    was used, such as oauth2/slack/work. ``scope``: The credential scope that did not
    match. ``suggestion``: What the user can do about it.
    """

    __slots__ = ()

    code = ErrorCode.BINDING_FAILED
    facts = FACTS[code]
    summary = "An existing binding refused: token expired, key revoked, scope changed."
    default_message = "The bound credential was refused"
    checks = Check(
        members={
            "binding": Check(
                types=("string",),
            ),
            "scope": Check(
                types=("string",),
            ),
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retriable: bool,
        audit_id: str,
        binding: str | None = None,
        scope: str | None = None,
        suggestion: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "binding": binding,
                "scope": scope,
                "suggestion": suggestion,
            },
            retriable=retriable,
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.BindingFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BindingFailedDetails",
            self._details,
        )


class ResourceLimitExceeded(AileronError):
    """The connector hit a limit: memory, wall time or fuel.

    HTTP 507; from sandbox; clients do not retry. The operation may have taken effect.

    ``suggestion``: What the user can do about it.
    """

    __slots__ = ()

    code = ErrorCode.RESOURCE_LIMIT_EXCEEDED
    facts = FACTS[code]
    summary = "The connector hit a limit: memory, wall time or fuel."
    default_message = "The connector exceeded a resource limit"
    checks = Check(
        members={
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        audit_id: str,
        suggestion: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "suggestion": suggestion,
            },
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ResourceLimitExceededDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ResourceLimitExceededDetails",
            self._details,
        )


class ConnectorRuntimeError(AileronError):
    """The connector's own code failed: it panicked, threw, or answered in an
    unexpected shape.

    HTTP 500; from sandbox; clients retry if the error allows it. The operation may have
    taken effect.

    ``retriable``: whether this request may be sent again. ``suggestion``: What the user
    can do about it.
    """

    __slots__ = ()

    code = ErrorCode.CONNECTOR_RUNTIME_ERROR
    facts = FACTS[code]
    summary = "The connector's own code failed: it panicked, threw, or answered in an unexpected shape."
    default_message = "The connector failed"
    checks = Check(
        members={
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retriable: bool,
        audit_id: str,
        suggestion: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "suggestion": suggestion,
            },
            retriable=retriable,
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ConnectorRuntimeErrorDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ConnectorRuntimeErrorDetails",
            self._details,
        )


class NetworkError(AileronError):
    """The outbound call failed before it reached a server.

    HTTP 502; from external; clients retry (runtime). The operation may have taken
    effect.

    ``retried``: How often the runtime retried before it gave up. ``suggestion``: What
    the user can do about it. ``retriable``: whether this request may be sent again; by
    default the rules decide. ``idempotent``: whether the operation that failed is
    idempotent.
    """

    __slots__ = ()

    code = ErrorCode.NETWORK_ERROR
    facts = FACTS[code]
    summary = "The outbound call failed before it reached a server."
    default_message = "The service could not be reached"
    checks = Check(
        members={
            "retried": Check(
                types=("integer",),
                minimum=0,
                maximum=3,
            ),
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        audit_id: str,
        retried: int | None = None,
        suggestion: str | None = None,
        retriable: bool | None = None,
        idempotent: bool | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "retried": retried,
                "suggestion": suggestion,
            },
            retriable=retriable,
            other_facts={
                "operation.idempotent": idempotent,
            },
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.NetworkErrorDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.NetworkErrorDetails",
            self._details,
        )


class ExternalApiError(AileronError):
    """The upstream service answered with an error.

    HTTP 502; from external; clients retry (runtime). The operation may have taken
    effect.

    ``status_``: The status the upstream service answered with. ``binding``: The binding
    that was used, such as oauth2/slack/work. ``retried``: How often the runtime retried
    before it gave up. ``suggestion``: What the user can do about it. ``retriable``:
    whether this request may be sent again; by default the rules decide. ``idempotent``:
    whether the operation that failed is idempotent.
    """

    __slots__ = ()

    code = ErrorCode.EXTERNAL_API_ERROR
    facts = FACTS[code]
    summary = "The upstream service answered with an error."
    default_message = "The service answered with an error"
    checks = Check(
        members={
            "status": Check(
                types=("integer",),
                minimum=100,
                maximum=599,
            ),
            "binding": Check(
                types=("string",),
            ),
            "retried": Check(
                types=("integer",),
                minimum=0,
                maximum=3,
            ),
            "suggestion": Check(
                types=("string",),
            ),
        },
        required=("status",),
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        status_: int,
        audit_id: str,
        binding: str | None = None,
        retried: int | None = None,
        suggestion: str | None = None,
        retriable: bool | None = None,
        idempotent: bool | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "status": status_,
                "binding": binding,
                "retried": retried,
                "suggestion": suggestion,
            },
            retriable=retriable,
            other_facts={
                "operation.idempotent": idempotent,
            },
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ExternalApiErrorDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ExternalApiErrorDetails",
            self._details,
        )


class HashMismatch(AileronError):
    """The bytes of a connector or an action on disk are not those that were
    declared.

    HTTP 422; from runtime; clients do not retry.

    ``suggestion``: What the user can do about it.
    """

    __slots__ = ()

    code = ErrorCode.HASH_MISMATCH
    facts = FACTS[code]
    summary = "The bytes of a connector or an action on disk are not those that were declared."
    default_message = "The installed bytes are not the declared ones"
    checks = Check(
        members={
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        audit_id: str,
        suggestion: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "suggestion": suggestion,
            },
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.HashMismatchDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.HashMismatchDetails",
            self._details,
        )


class SignatureFailure(AileronError):
    """The signature of a binary does not verify.

    HTTP 422; from runtime; clients do not retry.

    ``suggestion``: What the user can do about it.
    """

    __slots__ = ()

    code = ErrorCode.SIGNATURE_FAILURE
    facts = FACTS[code]
    summary = "The signature of a binary does not verify."
    default_message = "The signature does not verify"
    checks = Check(
        members={
            "suggestion": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        audit_id: str,
        suggestion: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "suggestion": suggestion,
            },
            headers=headers,
            audit_id=audit_id,
            request_id=request_id,
        )

    @property
    def details(self) -> d.SignatureFailureDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.SignatureFailureDetails",
            self._details,
        )


# fmt: on
class UnknownError(AileronError):
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
        audit_id: str | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retriable=False,
            retry_after=retry_after,
            audit_id=audit_id,
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
    CapabilityDenied,
    BindingRequired,
    BindingFailed,
    ResourceLimitExceeded,
    ConnectorRuntimeError,
    NetworkError,
    ExternalApiError,
    HashMismatch,
    SignatureFailure,
    UnknownError,
]
"""Any error that an answer may be. A ``match`` that ends in ``assert_never`` fails type
checking if it lacks a code.
"""

ERRORS: Mapping[ErrorCode, type[AileronError]] = {
    ErrorCode.CAPABILITY_DENIED: CapabilityDenied,
    ErrorCode.BINDING_REQUIRED: BindingRequired,
    ErrorCode.BINDING_FAILED: BindingFailed,
    ErrorCode.RESOURCE_LIMIT_EXCEEDED: ResourceLimitExceeded,
    ErrorCode.CONNECTOR_RUNTIME_ERROR: ConnectorRuntimeError,
    ErrorCode.NETWORK_ERROR: NetworkError,
    ErrorCode.EXTERNAL_API_ERROR: ExternalApiError,
    ErrorCode.HASH_MISMATCH: HashMismatch,
    ErrorCode.SIGNATURE_FAILURE: SignatureFailure,
}
"""The exception of each code that is shared by all operations."""

_ALL = {
    (kind.operation, str(kind.facts.wire)): kind
    for kind in AileronError.__subclasses__()
    if kind is not UnknownError
}


def _by_wire() -> dict[str, list[type[AileronError]]]:
    found: dict[str, list[type[AileronError]]] = {}
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
) -> type[AileronError] | None:
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
) -> Sequence[type[AileronError]]:
    """Every exception for a value of the code slot, of any operation; the shared one
    first.
    """
    return _BY_WIRE.get(str(wire), ())


def lacking(
    error: AileronError,
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
    error: AileronError,
) -> dict[str, object]:
    names = AileronError.__slots__
    return {name: getattr(error, name) for name in names}


def restored(
    kind: type[AileronError],
    state: Mapping[str, object],
) -> AileronError:
    """An error with this state, unchecked. Pickled errors and those read from the wire
    are made so.
    """
    error = kind.__new__(kind)
    for name, value in state.items():
        setattr(error, name, value)
    error.args = (error.message,)
    return error


def known_facts(
    error: AileronError,
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
    kind: type[AileronError],
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
    kind: type[AileronError],
    *,
    status: int | None = None,
    details: Mapping[str, object] | None = None,
) -> AileronError:
    """An error with its default message, made without the details that it requires."""
    known = dict(details or {})
    names = AileronError.__slots__
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
) -> AileronError:
    """The answer to an undeclared error; ``original_code`` stays out of it."""
    internal = ErrorCode.CONNECTOR_RUNTIME_ERROR  # fmt: skip
    return bare(ERRORS[internal])


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


def _own_facts(error: AileronError) -> dict[str, object]:
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
