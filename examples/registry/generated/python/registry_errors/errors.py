"""An exception for each code of Registry errors.

A service raises them. A client catches them after ``wire.parse`` made them from an
answer. Only declared codes can be raised, each with its own details, boundaries and
statuses.
"""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml

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

EnvelopeName = t.Literal["errors"]  # fmt: skip
"""The shapes on the wire; ``wire.ENVELOPES`` has them."""


SECONDS = Check(types=("number",), minimum=0)
"""The check of ``retry_after``."""

_Entry = t.TypeVar("_Entry")


class Unset(Enum):
    """The default of a detail that may be None; such a detail is left out."""

    UNSET = "unset"


class RegistryError(Exception):
    """Any error of Registry errors. Each code has a subclass, and only those are
    raised.

    ``message`` is safe to show to the sender of the request. ``status`` is the HTTP
    status, None for a code without one. ``headers`` travel beside the envelope, and
    ``retry_after`` (seconds) as one of them. ``envelope`` is the default envelope of
    the code. The cause of the error is its ``__cause__`` (``raise … from failure``),
    and never travels. ``raw`` is the body that it was read from, decoded, and None if
    it was not read; it is not safe to show.

    ``others`` are the further errors of its answer, if the envelope has a list of
    errors. Each is typed by its own code.
    """

    __slots__ = (
        "_details",
        "_retriable",
        "boundary",
        "detail",
        "headers",
        "message",
        "others",
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
    envelope: t.ClassVar[EnvelopeName] = "errors"

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
        detail: object | None = None,
        headers: Mapping[str, str | None] | None = None,
        others: Sequence[AnyError] = (),
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
        self.detail = detail
        self.raw: object = None
        self.others = tuple(others)
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


class AccessError(RegistryError):
    """Any error of the domain ``access``: The identity and the rights of the client"""

    __slots__ = ()


class NameDomainError(RegistryError):
    """Any error of the domain ``name``: The repository or tag that the request names"""

    __slots__ = ()


class ContentError(RegistryError):
    """Any error of the domain ``content``: Manifests and blobs"""

    __slots__ = ()


class UploadError(RegistryError):
    """Any error of the domain ``upload``: An upload in progress"""

    __slots__ = ()


class CapabilityError(RegistryError):
    """Any error of the domain ``capability``: Operations that this registry does not
    offer, or not now
    """

    __slots__ = ()


# fmt: off


class Unknown(CapabilityError):
    """A code that the client does not know stands for this one.

    HTTP 400-428; clients do not retry. The operation may have taken effect.

    ``www_authenticate``: the value of WWW-Authenticate.
    """

    __slots__ = ()

    code = ErrorCode.UNKNOWN
    facts = FACTS[code]
    summary = "A code that the client does not know stands for this one."
    default_message = "unknown error"

    def __init__(
        self,
        message: str | None = None,
        *,
        status: int = 400,
        www_authenticate: str | None = None,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            status=status,
            headers={
                "WWW-Authenticate": www_authenticate,
                **(headers or {}),
            },
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.UnknownDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UnknownDetails",
            self._details,
        )


class BlobUnknown(ContentError):
    """The repository does not have this blob.

    HTTP 400, 404; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.BLOB_UNKNOWN
    facts = FACTS[code]
    summary = "The repository does not have this blob."
    default_message = "blob unknown to registry"

    def __init__(
        self,
        message: str | None = None,
        *,
        status: t.Literal[400, 404] = 400,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            status=status,
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.BlobUnknownDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BlobUnknownDetails",
            self._details,
        )


class BlobUploadInvalid(UploadError):
    """The upload encountered an error and can no longer proceed.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.BLOB_UPLOAD_INVALID
    facts = FACTS[code]
    summary = "The upload encountered an error and can no longer proceed."
    default_message = "blob upload invalid"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.BlobUploadInvalidDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BlobUploadInvalidDetails",
            self._details,
        )


class BlobUploadUnknown(UploadError):
    """The upload was cancelled or never started.

    HTTP 404; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.BLOB_UPLOAD_UNKNOWN
    facts = FACTS[code]
    summary = "The upload was cancelled or never started."
    default_message = "blob upload unknown to registry"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.BlobUploadUnknownDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BlobUploadUnknownDetails",
            self._details,
        )


class DigestInvalid(ContentError):
    """The digest does not match the content, or is not a digest.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.DIGEST_INVALID
    facts = FACTS[code]
    summary = "The digest does not match the content, or is not a digest."
    default_message = "provided digest did not match uploaded content"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.DigestInvalidDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.DigestInvalidDetails",
            self._details,
        )


class ManifestBlobUnknown(ContentError):
    """The manifest refers to a blob that the registry does not have.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.MANIFEST_BLOB_UNKNOWN
    facts = FACTS[code]
    summary = "The manifest refers to a blob that the registry does not have."
    default_message = "blob unknown to registry"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.ManifestBlobUnknownDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ManifestBlobUnknownDetails",
            self._details,
        )


class ManifestInvalid(ContentError):
    """The manifest is not valid.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.MANIFEST_INVALID
    facts = FACTS[code]
    summary = "The manifest is not valid."
    default_message = "manifest invalid"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.ManifestInvalidDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ManifestInvalidDetails",
            self._details,
        )


class ManifestUnknown(ContentError):
    """The repository does not have this manifest.

    HTTP 404; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.MANIFEST_UNKNOWN
    facts = FACTS[code]
    summary = "The repository does not have this manifest."
    default_message = "manifest unknown"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.ManifestUnknownDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ManifestUnknownDetails",
            self._details,
        )


class ManifestUnverified(ContentError):
    """The signature of the manifest could not be verified.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.MANIFEST_UNVERIFIED
    facts = FACTS[code]
    summary = "The signature of the manifest could not be verified."
    default_message = "manifest failed signature verification"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.ManifestUnverifiedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ManifestUnverifiedDetails",
            self._details,
        )


class NameInvalid(NameDomainError):
    """The name is not that of a repository.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.NAME_INVALID
    facts = FACTS[code]
    summary = "The name is not that of a repository."
    default_message = "invalid repository name"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.NameInvalidDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.NameInvalidDetails",
            self._details,
        )


class NameUnknown(NameDomainError):
    """The registry does not have this repository.

    HTTP 404; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.NAME_UNKNOWN
    facts = FACTS[code]
    summary = "The registry does not have this repository."
    default_message = "repository name not known to registry"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.NameUnknownDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.NameUnknownDetails",
            self._details,
        )


class SizeInvalid(UploadError):
    """The size of the upload differs from the size that the client gave.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.SIZE_INVALID
    facts = FACTS[code]
    summary = "The size of the upload differs from the size that the client gave."
    default_message = "provided length did not match content length"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.SizeInvalidDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.SizeInvalidDetails",
            self._details,
        )


class TagInvalid(NameDomainError):
    """The tag of the manifest differs from the tag in the path.

    HTTP 400; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.TAG_INVALID
    facts = FACTS[code]
    summary = "The tag of the manifest differs from the tag in the path."
    default_message = "manifest tag did not match URI"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.TagInvalidDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.TagInvalidDetails",
            self._details,
        )


class Unauthorized(AccessError):
    """The registry could not authenticate the client.

    HTTP 401; clients do not retry.

    ``www_authenticate``: the value of WWW-Authenticate.
    """

    __slots__ = ()

    code = ErrorCode.UNAUTHORIZED
    facts = FACTS[code]
    summary = "The registry could not authenticate the client."
    default_message = "authentication required"

    def __init__(
        self,
        message: str | None = None,
        *,
        www_authenticate: str,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers={
                "WWW-Authenticate": www_authenticate,
                **(headers or {}),
            },
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.UnauthorizedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UnauthorizedDetails",
            self._details,
        )


class Denied(AccessError):
    """The client may not do this.

    HTTP 403; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.DENIED
    facts = FACTS[code]
    summary = "The client may not do this."
    default_message = "requested access to the resource is denied"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.DeniedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.DeniedDetails",
            self._details,
        )


class Unsupported(CapabilityError):
    """The registry does not offer this operation, or not with these parameters.

    HTTP 400, 405; clients do not retry.
    """

    __slots__ = ()

    code = ErrorCode.UNSUPPORTED
    facts = FACTS[code]
    summary = "The registry does not offer this operation, or not with these parameters."
    default_message = "The operation is unsupported."

    def __init__(
        self,
        message: str | None = None,
        *,
        status: t.Literal[400, 405] = 400,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            status=status,
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.UnsupportedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UnsupportedDetails",
            self._details,
        )


class Toomanyrequests(CapabilityError):
    """The client sent too many requests within a time interval.

    HTTP 429; clients retry.
    """

    __slots__ = ()

    code = ErrorCode.TOOMANYREQUESTS
    facts = FACTS[code]
    summary = "The client sent too many requests within a time interval."
    default_message = "too many requests"

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
        others: Sequence[AnyError] = (),
    ) -> None:
        super().__init__(
            message,
            details={},
            headers=headers,
            detail=detail,
            others=others,
        )

    @property
    def details(self) -> d.ToomanyrequestsDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ToomanyrequestsDetails",
            self._details,
        )


# fmt: on
class UnknownError(RegistryError):
    """An answer that is not a declared error: an unknown code, another shape, or not
    JSON.

    ``raw`` is the received body, as it came if it could not be decoded.
    ``original_code`` is the value in the place of the code, or None. Neither is safe to
    show. ``replaced_by`` is the code that replaces a removed one.
    """

    __slots__ = ("original_code", "replaced_by")

    code = ErrorCode.UNKNOWN  # fmt: skip
    facts = FACTS[code]._replace(headers=())  # a received error needs no headers
    summary = "A code that the client does not know stands for this one."  # fmt: skip
    default_message = "unknown error"  # fmt: skip
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
        detail: object | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retriable=False,
            retry_after=retry_after,
            detail=detail,
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
    Unknown,
    BlobUnknown,
    BlobUploadInvalid,
    BlobUploadUnknown,
    DigestInvalid,
    ManifestBlobUnknown,
    ManifestInvalid,
    ManifestUnknown,
    ManifestUnverified,
    NameInvalid,
    NameUnknown,
    SizeInvalid,
    TagInvalid,
    Unauthorized,
    Denied,
    Unsupported,
    Toomanyrequests,
    UnknownError,
]
"""Any error that an answer may be. A ``match`` that ends in ``assert_never`` fails type
checking if it lacks a code.
"""

ERRORS: Mapping[ErrorCode, type[RegistryError]] = {
    ErrorCode.UNKNOWN: Unknown,
    ErrorCode.BLOB_UNKNOWN: BlobUnknown,
    ErrorCode.BLOB_UPLOAD_INVALID: BlobUploadInvalid,
    ErrorCode.BLOB_UPLOAD_UNKNOWN: BlobUploadUnknown,
    ErrorCode.DIGEST_INVALID: DigestInvalid,
    ErrorCode.MANIFEST_BLOB_UNKNOWN: ManifestBlobUnknown,
    ErrorCode.MANIFEST_INVALID: ManifestInvalid,
    ErrorCode.MANIFEST_UNKNOWN: ManifestUnknown,
    ErrorCode.MANIFEST_UNVERIFIED: ManifestUnverified,
    ErrorCode.NAME_INVALID: NameInvalid,
    ErrorCode.NAME_UNKNOWN: NameUnknown,
    ErrorCode.SIZE_INVALID: SizeInvalid,
    ErrorCode.TAG_INVALID: TagInvalid,
    ErrorCode.UNAUTHORIZED: Unauthorized,
    ErrorCode.DENIED: Denied,
    ErrorCode.UNSUPPORTED: Unsupported,
    ErrorCode.TOOMANYREQUESTS: Toomanyrequests,
}
"""The exception of each code that is shared by all operations."""

_BASES: Sequence[type[RegistryError]] = (
    RegistryError,
    AccessError,
    NameDomainError,
    ContentError,
    UploadError,
    CapabilityError,
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


def _by_wire() -> dict[str, list[type[RegistryError]]]:
    found: dict[str, list[type[RegistryError]]] = {}
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
) -> type[RegistryError] | None:
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
) -> Sequence[type[RegistryError]]:
    """Every exception for a value of the code slot, of any operation; the shared one
    first.
    """
    return _BY_WIRE.get(str(wire), ())


def lacking(
    error: RegistryError,
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
    error: RegistryError,
) -> dict[str, object]:
    names = RegistryError.__slots__
    return {name: getattr(error, name) for name in names}


def restored(
    kind: type[RegistryError],
    state: Mapping[str, object],
) -> RegistryError:
    """An error with this state, unchecked. Pickled errors and those read from the wire
    are made so.
    """
    error = kind.__new__(kind)
    for name, value in state.items():
        setattr(error, name, value)
    error.args = (error.message,)
    return error


def known_facts(
    error: RegistryError,
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
    kind: type[RegistryError],
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
    kind: type[RegistryError],
    *,
    status: int | None = None,
    details: Mapping[str, object] | None = None,
) -> RegistryError:
    """An error with its default message, made without the details that it requires."""
    known = dict(details or {})
    names = RegistryError.__slots__
    state: dict[str, object] = {
        **dict.fromkeys(names),
        **dict(kind.defaults),
        "_details": known,
        "boundary": next(iter(kind.facts.boundaries), None),
        "headers": {},
        "message": default_message(kind, known),
        "others": (),
        "status": kind.facts.status if status is None else status,
    }
    error = restored(kind, state)
    if kind.flag_key is not None:
        flag = error._flag()  # pyright: ignore[reportPrivateUsage]  # of this module
        error._details = {**known, kind.flag_key: flag}  # pyright: ignore[reportPrivateUsage]
    return error


def undeclared(
    original_code: str | int | None = None,
) -> RegistryError:
    """The answer to an undeclared error; ``original_code`` stays out of it."""
    internal = ErrorCode.UNKNOWN  # fmt: skip
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


def _own_facts(error: RegistryError) -> dict[str, object]:
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
