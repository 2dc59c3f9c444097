"""An exception for each code of Core Platform errors.

A service raises them. A client catches them after ``wire.parse`` made them from an
answer. Only declared codes can be raised, each with its own details, boundaries and
statuses.
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

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

EnvelopeName = t.Literal["error"]  # fmt: skip
"""The shapes on the wire; ``wire.ENVELOPES`` has them."""


SECONDS = Check(types=("number",), minimum=0)
"""The check of ``retry_after``."""

# fmt: off
SLOT_CHECKS: Mapping[str, Check] = {
    "correlation_id": Check(
        types=("string",),
        format=(
            "uuid7",
            "ulid",
        ),
    ),
}
# fmt: on
"""The checks of attributes that fill an envelope, unless they are None."""

_Entry = t.TypeVar("_Entry")


class Unset(Enum):
    """The default of a detail that may be None; such a detail is left out."""

    UNSET = "unset"


class PlatformError(Exception):
    """Any error of Core Platform errors. Each code has a subclass, and only those
    are raised.

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
        "correlation_id",
        "headers",
        "message",
        "raw",
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
    flag_key: t.ClassVar[str | None] = "retryable"
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
        correlation_id: str | None = None,
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
        self.correlation_id = correlation_id
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


class RequestError(PlatformError):
    """Any error of the domain ``request``: The client can fix the payload."""

    __slots__ = ()


class AuthError(PlatformError):
    """Any error of the domain ``auth``: Identity or authorization."""

    __slots__ = ()


class ResourceError(PlatformError):
    """Any error of the domain ``resource``: State mismatch or idempotency."""

    __slots__ = ()


class RateError(PlatformError):
    """Any error of the domain ``rate``: Platform backpressure."""

    __slots__ = ()


class RuntimeDomainError(PlatformError):
    """Any error of the domain ``runtime``: Transient or platform faults."""

    __slots__ = ()


class DataError(PlatformError):
    """Any error of the domain ``data``: Database invariants and concurrency."""

    __slots__ = ()


# fmt: off


class InvalidRequest(RequestError):
    """The request cannot be understood.

    HTTP 400; from service or gateway; clients do not retry.

    ``bad_items``: The items of a batch that failed. ``field``: The failing input field.
    ``hint``: Guidance for a human. ``allow``: the value of Allow.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_REQUEST
    facts = FACTS[code]
    summary = "The request cannot be understood."
    default_message = "The request is not valid"
    checks = Check(
        members={
            "bad_items": Check(
                types=("array",),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        bad_items: Sequence[object] | None = None,
        field: str | None = None,
        hint: str | None = None,
        boundary: d.InvalidRequestBoundary = "service",
        status: int = 400,
        allow: str | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "bad_items": bad_items,
                "field": field,
                "hint": hint,
            },
            boundary=boundary,
            status=status,
            headers={
                "Allow": allow,
                **(headers or {}),
            },
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.InvalidRequestDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InvalidRequestDetails",
            self._details,
        )


class ValidationFailed(RequestError):
    """The request is understood and a value in it is not allowed.

    HTTP 400; from service; clients do not retry.

    ``bad_items``: The items of a batch that failed. ``field``: The failing input field.
    ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.VALIDATION_FAILED
    facts = FACTS[code]
    summary = "The request is understood and a value in it is not allowed."
    default_message = "The request failed validation"
    checks = Check(
        members={
            "bad_items": Check(
                types=("array",),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        bad_items: Sequence[object] | None = None,
        field: str | None = None,
        hint: str | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "bad_items": bad_items,
                "field": field,
                "hint": hint,
            },
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.ValidationFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ValidationFailedDetails",
            self._details,
        )


class UnsupportedMediaType(RequestError):
    """The body is in a format the service does not read.

    HTTP 415; from gateway or service; clients do not retry.

    ``field``: The failing input field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.UNSUPPORTED_MEDIA_TYPE
    facts = FACTS[code]
    summary = "The body is in a format the service does not read."
    default_message = "The media type of the body is not supported"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        hint: str | None = None,
        boundary: d.UnsupportedMediaTypeBoundary = "gateway",
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "hint": hint,
            },
            boundary=boundary,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.UnsupportedMediaTypeDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UnsupportedMediaTypeDetails",
            self._details,
        )


class Unauthenticated(AuthError):
    """The caller is not known.

    HTTP 401; from gateway; a person has to act.

    ``www_authenticate``: the value of WWW-Authenticate. ``field``: The failing input
    field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.UNAUTHENTICATED
    facts = FACTS[code]
    summary = "The caller is not known."
    default_message = "Authentication is required"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        www_authenticate: str,
        field: str | None = None,
        hint: str | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "hint": hint,
            },
            headers={
                "WWW-Authenticate": www_authenticate,
                **(headers or {}),
            },
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.UnauthenticatedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UnauthenticatedDetails",
            self._details,
        )


class Forbidden(AuthError):
    """The caller is known and may not do this.

    HTTP 403; from service or gateway; a person has to act.

    ``field``: The failing input field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.FORBIDDEN
    facts = FACTS[code]
    summary = "The caller is known and may not do this."
    default_message = "This is not allowed"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        hint: str | None = None,
        boundary: d.ForbiddenBoundary = "service",
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "hint": hint,
            },
            boundary=boundary,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.ForbiddenDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ForbiddenDetails",
            self._details,
        )


class ScopeInsufficient(AuthError):
    """The caller's token lacks a scope.

    HTTP 403; from gateway or service; a person has to act.

    ``field``: The failing input field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.SCOPE_INSUFFICIENT
    facts = FACTS[code]
    summary = "The caller's token lacks a scope."
    default_message = "The token lacks a required scope"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        hint: str | None = None,
        boundary: d.ScopeInsufficientBoundary = "gateway",
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "hint": hint,
            },
            boundary=boundary,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.ScopeInsufficientDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ScopeInsufficientDetails",
            self._details,
        )


class NotFound(ResourceError):
    """There is no such resource, or none the caller may know of.

    HTTP 404; from service or gateway; clients do not retry.

    ``field``: The failing input field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.NOT_FOUND
    facts = FACTS[code]
    summary = "There is no such resource, or none the caller may know of."
    default_message = "There is no such resource"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        hint: str | None = None,
        boundary: d.NotFoundBoundary = "service",
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "hint": hint,
            },
            boundary=boundary,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.NotFoundDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.NotFoundDetails",
            self._details,
        )


class Conflict(ResourceError):
    """The request contradicts the state of a resource.

    HTTP 409; from service; clients do not retry.

    ``existing_id``: The id of the resource that is there already. ``field``: The
    failing input field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.CONFLICT
    facts = FACTS[code]
    summary = "The request contradicts the state of a resource."
    default_message = "The request conflicts with the state of a resource"
    checks = Check(
        members={
            "existing_id": Check(
                types=(
                    "string",
                    "integer",
                ),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
        required=("existing_id",),
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        existing_id: str | int,
        field: str | None = None,
        hint: str | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "existing_id": existing_id,
                "field": field,
                "hint": hint,
            },
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.ConflictDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ConflictDetails",
            self._details,
        )


class AlreadyExists(ResourceError):
    """What was to be created is there already.

    HTTP 409; from service; clients do not retry.

    ``existing_id``: The id of the resource that is there already. ``field``: The
    failing input field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.ALREADY_EXISTS
    facts = FACTS[code]
    summary = "What was to be created is there already."
    default_message = "The resource exists already"
    checks = Check(
        members={
            "existing_id": Check(
                types=(
                    "string",
                    "integer",
                ),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
        required=("existing_id",),
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        existing_id: str | int,
        field: str | None = None,
        hint: str | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "existing_id": existing_id,
                "field": field,
                "hint": hint,
            },
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.AlreadyExistsDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.AlreadyExistsDetails",
            self._details,
        )


class RateLimited(RateError):
    """The caller exceeded its rate.

    HTTP 429; from gateway; clients retry (exponential_jitter).

    ``retry_after``: seconds to wait. ``limit``: Requests allowed in the window.
    ``window_sec``: The length of the window in seconds. ``field``: The failing input
    field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.RATE_LIMITED
    facts = FACTS[code]
    summary = "The caller exceeded its rate."
    default_message = "Too many requests"
    checks = Check(
        members={
            "limit": Check(
                types=("number",),
            ),
            "window_sec": Check(
                types=("number",),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: float,
        limit: float | None = None,
        window_sec: float | None = None,
        field: str | None = None,
        hint: str | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "limit": limit,
                "window_sec": window_sec,
                "field": field,
                "hint": hint,
            },
            retry_after=retry_after,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.RateLimitedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.RateLimitedDetails",
            self._details,
        )


class Timeout(RuntimeDomainError):
    """The work was not done in time.

    HTTP 504, 502, 503; from service or dependency or gateway; clients retry
    (exponential_jitter). The operation may have taken effect.

    ``offset``: How far a stream had come. ``field``: The failing input field. ``hint``:
    Guidance for a human. ``retry_after``: seconds to wait.
    """

    __slots__ = ()

    code = ErrorCode.TIMEOUT
    facts = FACTS[code]
    summary = "The work was not done in time."
    default_message = "The request timed out"
    checks = Check(
        members={
            "offset": Check(
                types=(
                    "integer",
                    "string",
                ),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        offset: int | str | None = None,
        field: str | None = None,
        hint: str | None = None,
        boundary: d.TimeoutBoundary = "service",
        status: t.Literal[504, 502, 503] = 504,
        retry_after: float | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "offset": offset,
                "field": field,
                "hint": hint,
            },
            boundary=boundary,
            status=status,
            retry_after=retry_after,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.TimeoutDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.TimeoutDetails",
            self._details,
        )


class DependencyUnavailable(RuntimeDomainError):
    """Something the service needs cannot be reached.

    HTTP 503, 502, 504; from dependency; clients retry (linear_then_exponential). The
    operation may have taken effect.

    ``offset``: How far a stream had come. ``field``: The failing input field. ``hint``:
    Guidance for a human. ``retry_after``: seconds to wait.
    """

    __slots__ = ()

    code = ErrorCode.DEPENDENCY_UNAVAILABLE
    facts = FACTS[code]
    summary = "Something the service needs cannot be reached."
    default_message = "The service is temporarily unavailable"
    checks = Check(
        members={
            "offset": Check(
                types=(
                    "integer",
                    "string",
                ),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        offset: int | str | None = None,
        field: str | None = None,
        hint: str | None = None,
        status: t.Literal[503, 502, 504] = 503,
        retry_after: float | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "offset": offset,
                "field": field,
                "hint": hint,
            },
            status=status,
            retry_after=retry_after,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.DependencyUnavailableDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.DependencyUnavailableDetails",
            self._details,
        )


class InternalError(RuntimeDomainError):
    """The platform failed in a way it did not expect.

    HTTP 500; from service; clients do not retry. The operation may have taken effect.

    ``offset``: How far a stream had come. ``field``: The failing input field. ``hint``:
    Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.INTERNAL_ERROR
    facts = FACTS[code]
    summary = "The platform failed in a way it did not expect."
    default_message = "Something went wrong on our side"
    checks = Check(
        members={
            "offset": Check(
                types=(
                    "integer",
                    "string",
                ),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        offset: int | str | None = None,
        field: str | None = None,
        hint: str | None = None,
        status: int = 500,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "offset": offset,
                "field": field,
                "hint": hint,
            },
            status=status,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.InternalErrorDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InternalErrorDetails",
            self._details,
        )


class ConstraintViolation(DataError):
    """The change would break an invariant of the data.

    HTTP 422; from service; clients do not retry.

    ``field``: The failing input field. ``hint``: Guidance for a human.
    """

    __slots__ = ()

    code = ErrorCode.CONSTRAINT_VIOLATION
    facts = FACTS[code]
    summary = "The change would break an invariant of the data."
    default_message = "The change would violate a constraint"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        hint: str | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "hint": hint,
            },
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.ConstraintViolationDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ConstraintViolationDetails",
            self._details,
        )


class SerializationFailure(DataError):
    """A concurrent transaction won.

    HTTP 503; from service; clients retry (serializable).

    ``field``: The failing input field. ``hint``: Guidance for a human. ``retry_after``:
    seconds to wait.
    """

    __slots__ = ()

    code = ErrorCode.SERIALIZATION_FAILURE
    facts = FACTS[code]
    summary = "A concurrent transaction won."
    default_message = "A concurrent change interfered"
    checks = Check(
        members={
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        hint: str | None = None,
        retry_after: float | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "field": field,
                "hint": hint,
            },
            retry_after=retry_after,
            headers=headers,
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.SerializationFailureDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.SerializationFailureDetails",
            self._details,
        )


class StaleRead(DataError):
    """The resource changed since the client read it.

    HTTP 412; from service; clients read again before they retry.

    ``expected_etag``: The validator the resource has now. ``field``: The failing input
    field. ``hint``: Guidance for a human. ``retriable``: whether this request may be
    sent again.
    """

    __slots__ = ()

    code = ErrorCode.STALE_READ
    facts = FACTS[code]
    summary = "The resource changed since the client read it."
    default_message = "Resource changed; GET latest and retry"
    checks = Check(
        members={
            "expected_etag": Check(
                types=("string",),
            ),
            "field": Check(
                types=("string",),
            ),
            "hint": Check(
                types=("string",),
            ),
        },
        required=("expected_etag",),
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        expected_etag: str,
        field: str | None = None,
        hint: str | None = None,
        retriable: bool | None = None,
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "expected_etag": expected_etag,
                "field": field,
                "hint": hint,
            },
            retriable=retriable,
            headers={
                "ETag": entity_tag(expected_etag),
                **(headers or {}),
            },
            correlation_id=correlation_id,
        )

    @property
    def details(self) -> d.StaleReadDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.StaleReadDetails",
            self._details,
        )


# fmt: on
class UnknownError(PlatformError):
    """An answer that is not a declared error: an unknown code, another shape, or not
    JSON.

    ``raw`` is the received body, as it came if it could not be decoded.
    ``original_code`` is the value in the place of the code, or None. Neither is safe to
    show. ``replaced_by`` is the code that replaces a removed one.
    """

    __slots__ = ("original_code", "replaced_by")

    code = ErrorCode.INTERNAL_ERROR  # fmt: skip
    facts = FACTS[code]._replace(headers=())  # a received error needs no headers
    summary = "The platform failed in a way it did not expect."  # fmt: skip
    default_message = "Something went wrong on our side"  # fmt: skip
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
        correlation_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retriable=False,
            retry_after=retry_after,
            correlation_id=correlation_id,
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
    InvalidRequest,
    ValidationFailed,
    UnsupportedMediaType,
    Unauthenticated,
    Forbidden,
    ScopeInsufficient,
    NotFound,
    Conflict,
    AlreadyExists,
    RateLimited,
    Timeout,
    DependencyUnavailable,
    InternalError,
    ConstraintViolation,
    SerializationFailure,
    StaleRead,
    UnknownError,
]
"""Any error that an answer may be. A ``match`` that ends in ``assert_never`` fails type
checking if it lacks a code.
"""

ERRORS: Mapping[ErrorCode, type[PlatformError]] = {
    ErrorCode.INVALID_REQUEST: InvalidRequest,
    ErrorCode.VALIDATION_FAILED: ValidationFailed,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaType,
    ErrorCode.UNAUTHENTICATED: Unauthenticated,
    ErrorCode.FORBIDDEN: Forbidden,
    ErrorCode.SCOPE_INSUFFICIENT: ScopeInsufficient,
    ErrorCode.NOT_FOUND: NotFound,
    ErrorCode.CONFLICT: Conflict,
    ErrorCode.ALREADY_EXISTS: AlreadyExists,
    ErrorCode.RATE_LIMITED: RateLimited,
    ErrorCode.TIMEOUT: Timeout,
    ErrorCode.DEPENDENCY_UNAVAILABLE: DependencyUnavailable,
    ErrorCode.INTERNAL_ERROR: InternalError,
    ErrorCode.CONSTRAINT_VIOLATION: ConstraintViolation,
    ErrorCode.SERIALIZATION_FAILURE: SerializationFailure,
    ErrorCode.STALE_READ: StaleRead,
}
"""The exception of each code that is shared by all operations."""

_BASES: Sequence[type[PlatformError]] = (
    PlatformError,
    RequestError,
    AuthError,
    ResourceError,
    RateError,
    RuntimeDomainError,
    DataError,
)
_KINDS = [
    kind
    for base in _BASES
    for kind in base.__subclasses__()
    if kind is not UnknownError and kind not in _BASES
]
_ALL = {
    (kind.operation, str(kind.facts.wire)): kind
    for kind in sorted(_KINDS, key=lambda kind: kind.operation is not None)
}


def _by_wire() -> dict[str, list[type[PlatformError]]]:
    found: dict[str, list[type[PlatformError]]] = {}
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
) -> type[PlatformError] | None:
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
) -> Sequence[type[PlatformError]]:
    """Every exception for a value of the code slot, of any operation; the shared one
    first.
    """
    return _BY_WIRE.get(str(wire), ())


def lacking(
    error: PlatformError,
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
    error: PlatformError,
) -> dict[str, object]:
    names = PlatformError.__slots__
    return {name: getattr(error, name) for name in names}


def restored(
    kind: type[PlatformError],
    state: Mapping[str, object],
) -> PlatformError:
    """An error with this state, unchecked. Pickled errors and those read from the wire
    are made so.
    """
    error = kind.__new__(kind)
    for name, value in state.items():
        setattr(error, name, value)
    error.args = (error.message,)
    return error


def known_facts(
    error: PlatformError,
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
    kind: type[PlatformError],
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
    kind: type[PlatformError],
    *,
    status: int | None = None,
    details: Mapping[str, object] | None = None,
) -> PlatformError:
    """An error with its default message, made without the details that it requires."""
    known = dict(details or {})
    names = PlatformError.__slots__
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
) -> PlatformError:
    """The answer to an undeclared error; ``original_code`` stays out of it."""
    internal = ErrorCode.INTERNAL_ERROR  # fmt: skip
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


def _own_facts(error: PlatformError) -> dict[str, object]:
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
