"""An exception for each code of Kinto errors.

A service raises them. A client catches them after ``wire.parse`` made them from an
answer. Only declared codes can be raised, each with its own details, boundaries and
statuses.
"""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml

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
    "error": Check(
        types=("string",),
    ),
    "info": Check(
        types=("string",),
    ),
}
# fmt: on
"""The checks of attributes that fill an envelope, unless they are None."""

_Entry = t.TypeVar("_Entry")


class Unset(Enum):
    """The default of a detail that may be None; such a detail is left out."""

    UNSET = "unset"


class KintoError(Exception):
    """Any error of Kinto errors. Each code has a subclass, and only those are
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
        "error",
        "headers",
        "info",
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
        error: str | None = None,
        info: str | None = None,
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
        self.error = error
        self.info = info
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


class AuthenticationError(KintoError):
    """Any error of the domain ``authentication``: The identity of the caller"""

    __slots__ = ()


class PermissionDomainError(KintoError):
    """Any error of the domain ``permission``: What they may do"""

    __slots__ = ()


class RequestError(KintoError):
    """Any error of the domain ``request``: The client can fix what it sent"""

    __slots__ = ()


class ResourceError(KintoError):
    """Any error of the domain ``resource``: What is stored, or is not"""

    __slots__ = ()


class ServiceError(KintoError):
    """Any error of the domain ``service``: The server can't, for now or any longer"""

    __slots__ = ()


# fmt: off


class MissingAuthToken(AuthenticationError):
    """Missing Authorization Token

    HTTP 401; a person has to act.
    """

    __slots__ = ()

    code = ErrorCode.MISSING_AUTH_TOKEN
    facts = FACTS[code]
    summary = "Missing Authorization Token"
    default_message = "Missing Authorization Token"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.MissingAuthTokenDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.MissingAuthTokenDetails",
            self._details,
        )


class InvalidAuthToken(AuthenticationError):
    """Invalid Authorization Token

    HTTP 401; a person has to act.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_AUTH_TOKEN
    facts = FACTS[code]
    summary = "Invalid Authorization Token"
    default_message = "Invalid Authorization Token"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.InvalidAuthTokenDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InvalidAuthTokenDetails",
            self._details,
        )


class Badjson(RequestError):
    """The request body was not valid JSON

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.BADJSON
    facts = FACTS[code]
    summary = "The request body was not valid JSON"
    default_message = "The request body was not valid JSON"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.BadjsonDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BadjsonDetails",
            self._details,
        )


class InvalidParameters(RequestError):
    """Invalid request parameter

    The first problem is the message; all of them are in the details.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_PARAMETERS
    facts = FACTS[code]
    summary = "Invalid request parameter"
    default_message = "Invalid request parameter"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        details: Mapping[str, object] | None = None,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details=details or {},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.InvalidParametersDetails:
        """The details in the envelope; read only."""
        return self._details


class MissingParameters(RequestError):
    """Missing request parameter

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.MISSING_PARAMETERS
    facts = FACTS[code]
    summary = "Missing request parameter"
    default_message = "Missing request parameter"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.MissingParametersDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.MissingParametersDetails",
            self._details,
        )


class InvalidPostedData(RequestError):
    """Invalid posted data

    The first problem is the message; all of them are in the details.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_POSTED_DATA
    facts = FACTS[code]
    summary = "Invalid posted data"
    default_message = "Invalid posted data"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        details: Mapping[str, object] | None = None,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details=details or {},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.InvalidPostedDataDetails:
        """The details in the envelope; read only."""
        return self._details


class InvalidResourceId(ResourceError):
    """Invalid Token / id

    Answered only to who may write to the parent; others get FORBIDDEN whether the
    object is there or not.

    HTTP 404; clients do not retry.

    ``id``: The id that was not found. ``resource_name``: What kind of object was not
    found.
    """

    __slots__ = ()

    code = ErrorCode.INVALID_RESOURCE_ID
    facts = FACTS[code]
    summary = "Invalid Token / id"
    default_message = "Invalid Token / id"
    checks = Check(
        members={
            "id": Check(
                types=("string",),
            ),
            "resource_name": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        id: str | None = None,
        resource_name: str | None = None,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "id": id,
                "resource_name": resource_name,
            },
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.InvalidResourceIdDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.InvalidResourceIdDetails",
            self._details,
        )


class MissingResource(ResourceError):
    """Missing Token / id

    HTTP 404; clients do not retry.

    ``id``: The id that was not found. ``resource_name``: What kind of object was not
    found.
    """

    __slots__ = ()

    code = ErrorCode.MISSING_RESOURCE
    facts = FACTS[code]
    summary = "Missing Token / id"
    default_message = "Missing Token / id"
    checks = Check(
        members={
            "id": Check(
                types=("string",),
            ),
            "resource_name": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        id: str | None = None,
        resource_name: str | None = None,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "id": id,
                "resource_name": resource_name,
            },
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.MissingResourceDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.MissingResourceDetails",
            self._details,
        )


class MissingContentLength(RequestError):
    """Content-Length header was not provided

    HTTP 411; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.MISSING_CONTENT_LENGTH
    facts = FACTS[code]
    summary = "Content-Length header was not provided"
    default_message = "Content-Length header was not provided"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.MissingContentLengthDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.MissingContentLengthDetails",
            self._details,
        )


class RequestTooLarge(RequestError):
    """Request body too large

    HTTP 413; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.REQUEST_TOO_LARGE
    facts = FACTS[code]
    summary = "Request body too large"
    default_message = "Request body too large"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.RequestTooLargeDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.RequestTooLargeDetails",
            self._details,
        )


class ModifiedMeanwhile(ResourceError):
    """Resource was modified meanwhile

    The client overwrites by repeating the request without a precondition, or fetches,
    merges and repeats it.

    HTTP 412; clients read again before they retry.

    ``existing``: The object as the server has it now.
    """

    __slots__ = ()

    code = ErrorCode.MODIFIED_MEANWHILE
    facts = FACTS[code]
    summary = "Resource was modified meanwhile"
    default_message = "Resource was modified meanwhile"
    checks = Check(
        members={
            "existing": Check(
                types=("object",),
                members={
                    "id": Check(
                        types=("string",),
                    ),
                    "last_modified": Check(
                        types=("integer",),
                    ),
                },
                required=(
                    "id",
                    "last_modified",
                ),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        existing: Mapping[str, object] | None = None,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "existing": existing,
            },
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.ModifiedMeanwhileDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ModifiedMeanwhileDetails",
            self._details,
        )


class MethodNotAllowed(RequestError):
    """Method not allowed on this end point

    Also every write on a server whose setting `kinto.readonly` is true.

    HTTP 405; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.METHOD_NOT_ALLOWED
    facts = FACTS[code]
    summary = "Method not allowed on this end point"
    default_message = "Method not allowed on this end point"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.MethodNotAllowedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.MethodNotAllowedDetails",
            self._details,
        )


class VersionNotAvailable(RequestError):
    """Requested version not available on this server

    HTTP 404; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.VERSION_NOT_AVAILABLE
    facts = FACTS[code]
    summary = "Requested version not available on this server"
    default_message = "Requested version not available on this server"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.VersionNotAvailableDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.VersionNotAvailableDetails",
            self._details,
        )


class ClientReachedCapacity(ServiceError):
    """Client has sent too many requests

    HTTP 429; clients retry.
    """

    __slots__ = ()

    code = ErrorCode.CLIENT_REACHED_CAPACITY
    facts = FACTS[code]
    summary = "Client has sent too many requests"
    default_message = "Client has sent too many requests"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.ClientReachedCapacityDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ClientReachedCapacityDetails",
            self._details,
        )


class Forbidden(PermissionDomainError):
    """Resource's access forbidden for this user

    HTTP 403; a person has to act.
    """

    __slots__ = ()

    code = ErrorCode.FORBIDDEN
    facts = FACTS[code]
    summary = "Resource's access forbidden for this user"
    default_message = "Resource's access forbidden for this user"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.ForbiddenDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ForbiddenDetails",
            self._details,
        )


class ConstraintViolated(ResourceError):
    """Another resource violates constraint

    Transactions of concurrent requests overlapped. Retrying the same request will
    usually be enough.

    HTTP 409; clients retry.
    """

    __slots__ = ()

    code = ErrorCode.CONSTRAINT_VIOLATED
    facts = FACTS[code]
    summary = "Another resource violates constraint"
    default_message = "Another resource violates constraint"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.ConstraintViolatedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ConstraintViolatedDetails",
            self._details,
        )


class Backend(ServiceError):
    """Service temporarily unavailable due to high load

    HTTP 503; clients retry.

    ``retry_after``: seconds to wait.
    """

    __slots__ = ()

    code = ErrorCode.BACKEND
    facts = FACTS[code]
    summary = "Service temporarily unavailable due to high load"
    default_message = "Service temporarily unavailable due to high load"

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: float,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retry_after=retry_after,
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.BackendDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BackendDetails",
            self._details,
        )


class ServiceDeprecated(ServiceError):
    """Service deprecated

    The client is too old, or another service took the place of this one. An Alert
    header may say more.

    HTTP 410; clients do not retry.

    ``alert``: the value of Alert.
    """

    __slots__ = ()

    code = ErrorCode.SERVICE_DEPRECATED
    facts = FACTS[code]
    summary = "Service deprecated"
    default_message = "Service deprecated"

    def __init__(
        self,
        message: str | None = None,
        *,
        error: str,
        alert: str | None = None,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            headers={
                "Alert": alert,
                **(headers or {}),
            },
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.ServiceDeprecatedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ServiceDeprecatedDetails",
            self._details,
        )


class Undefined(ServiceError):
    """Internal Server Error

    HTTP 500; clients retry. The operation may have taken effect.

    ``retry_after``: seconds to wait.
    """

    __slots__ = ()

    code = ErrorCode.UNDEFINED
    facts = FACTS[code]
    summary = "Internal Server Error"
    default_message = "Internal Server Error"

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: float,
        error: str,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retry_after=retry_after,
            headers=headers,
            error=error,
            info=info,
        )

    @property
    def details(self) -> d.UndefinedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UndefinedDetails",
            self._details,
        )


# fmt: on
class UnknownError(KintoError):
    """An answer that is not a declared error: an unknown code, another shape, or not
    JSON.

    ``raw`` is the received body, as it came if it could not be decoded.
    ``original_code`` is the value in the place of the code, or None. Neither is safe to
    show. ``replaced_by`` is the code that replaces a removed one.
    """

    __slots__ = ("original_code", "replaced_by")

    code = ErrorCode.UNDEFINED  # fmt: skip
    facts = FACTS[code]._replace(headers=())  # a received error needs no headers
    summary = "Internal Server Error"  # fmt: skip
    default_message = "Internal Server Error"  # fmt: skip
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
        error: str | None = None,
        info: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retriable=False,
            retry_after=retry_after,
            error=error,
            info=info,
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
    MissingAuthToken,
    InvalidAuthToken,
    Badjson,
    InvalidParameters,
    MissingParameters,
    InvalidPostedData,
    InvalidResourceId,
    MissingResource,
    MissingContentLength,
    RequestTooLarge,
    ModifiedMeanwhile,
    MethodNotAllowed,
    VersionNotAvailable,
    ClientReachedCapacity,
    Forbidden,
    ConstraintViolated,
    Backend,
    ServiceDeprecated,
    Undefined,
    UnknownError,
]
"""Any error that an answer may be. A ``match`` that ends in ``assert_never`` fails type
checking if it lacks a code.
"""

ERRORS: Mapping[ErrorCode, type[KintoError]] = {
    ErrorCode.MISSING_AUTH_TOKEN: MissingAuthToken,
    ErrorCode.INVALID_AUTH_TOKEN: InvalidAuthToken,
    ErrorCode.BADJSON: Badjson,
    ErrorCode.INVALID_PARAMETERS: InvalidParameters,
    ErrorCode.MISSING_PARAMETERS: MissingParameters,
    ErrorCode.INVALID_POSTED_DATA: InvalidPostedData,
    ErrorCode.INVALID_RESOURCE_ID: InvalidResourceId,
    ErrorCode.MISSING_RESOURCE: MissingResource,
    ErrorCode.MISSING_CONTENT_LENGTH: MissingContentLength,
    ErrorCode.REQUEST_TOO_LARGE: RequestTooLarge,
    ErrorCode.MODIFIED_MEANWHILE: ModifiedMeanwhile,
    ErrorCode.METHOD_NOT_ALLOWED: MethodNotAllowed,
    ErrorCode.VERSION_NOT_AVAILABLE: VersionNotAvailable,
    ErrorCode.CLIENT_REACHED_CAPACITY: ClientReachedCapacity,
    ErrorCode.FORBIDDEN: Forbidden,
    ErrorCode.CONSTRAINT_VIOLATED: ConstraintViolated,
    ErrorCode.BACKEND: Backend,
    ErrorCode.SERVICE_DEPRECATED: ServiceDeprecated,
    ErrorCode.UNDEFINED: Undefined,
}
"""The exception of each code that is shared by all operations."""

_BASES: Sequence[type[KintoError]] = (
    KintoError,
    AuthenticationError,
    PermissionDomainError,
    RequestError,
    ResourceError,
    ServiceError,
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


def _by_wire() -> dict[str, list[type[KintoError]]]:
    found: dict[str, list[type[KintoError]]] = {}
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
) -> type[KintoError] | None:
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
) -> Sequence[type[KintoError]]:
    """Every exception for a value of the code slot, of any operation; the shared one
    first.
    """
    return _BY_WIRE.get(str(wire), ())


def lacking(
    error: KintoError,
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
    error: KintoError,
) -> dict[str, object]:
    names = KintoError.__slots__
    return {name: getattr(error, name) for name in names}


def restored(
    kind: type[KintoError],
    state: Mapping[str, object],
) -> KintoError:
    """An error with this state, unchecked. Pickled errors and those read from the wire
    are made so.
    """
    error = kind.__new__(kind)
    for name, value in state.items():
        setattr(error, name, value)
    error.args = (error.message,)
    return error


def known_facts(
    error: KintoError,
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
    kind: type[KintoError],
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
    kind: type[KintoError],
    *,
    status: int | None = None,
    details: Mapping[str, object] | None = None,
) -> KintoError:
    """An error with its default message, made without the details that it requires."""
    known = dict(details or {})
    names = KintoError.__slots__
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
) -> KintoError:
    """The answer to an undeclared error; ``original_code`` stays out of it."""
    internal = ErrorCode.UNDEFINED  # fmt: skip
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


def _own_facts(error: KintoError) -> dict[str, object]:
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
