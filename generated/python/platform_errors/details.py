"""The types of the details of each code of Core Platform errors."""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "AlreadyExistsDetails",
    "ConflictDetails",
    "ConstraintViolationDetails",
    "DependencyUnavailableDetails",
    "ForbiddenDetails",
    "InternalErrorDetails",
    "InvalidRequestDetails",
    "NotFoundDetails",
    "RateLimitedDetails",
    "ScopeInsufficientDetails",
    "SerializationFailureDetails",
    "StaleReadDetails",
    "TimeoutDetails",
    "UnauthenticatedDetails",
    "UnsupportedMediaTypeDetails",
    "ValidationFailedDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off

InvalidRequestBoundary = t.Literal[
    "service",
    "gateway",
]

UnsupportedMediaTypeBoundary = t.Literal[
    "gateway",
    "service",
]

ForbiddenBoundary = t.Literal[
    "service",
    "gateway",
]

ScopeInsufficientBoundary = t.Literal[
    "gateway",
    "service",
]

NotFoundBoundary = t.Literal[
    "service",
    "gateway",
]

TimeoutBoundary = t.Literal[
    "service",
    "dependency",
    "gateway",
]


class InvalidRequestDetails(t.TypedDict):
    """Details of ``InvalidRequest``."""

    bad_items: t.NotRequired[Sequence[object]]
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class ValidationFailedDetails(t.TypedDict):
    """Details of ``ValidationFailed``."""

    bad_items: t.NotRequired[Sequence[object]]
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class UnsupportedMediaTypeDetails(t.TypedDict):
    """Details of ``UnsupportedMediaType``."""

    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class UnauthenticatedDetails(t.TypedDict):
    """Details of ``Unauthenticated``."""

    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class ForbiddenDetails(t.TypedDict):
    """Details of ``Forbidden``."""

    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class ScopeInsufficientDetails(t.TypedDict):
    """Details of ``ScopeInsufficient``."""

    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class NotFoundDetails(t.TypedDict):
    """Details of ``NotFound``."""

    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class ConflictDetails(t.TypedDict):
    """Details of ``Conflict``."""

    existing_id: str | int
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class AlreadyExistsDetails(t.TypedDict):
    """Details of ``AlreadyExists``."""

    existing_id: str | int
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class RateLimitedDetails(t.TypedDict):
    """Details of ``RateLimited``."""

    limit: t.NotRequired[float]
    window_sec: t.NotRequired[float]
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class TimeoutDetails(t.TypedDict):
    """Details of ``Timeout``."""

    offset: t.NotRequired[int | str]
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class DependencyUnavailableDetails(t.TypedDict):
    """Details of ``DependencyUnavailable``."""

    offset: t.NotRequired[int | str]
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class InternalErrorDetails(t.TypedDict):
    """Details of ``InternalError``."""

    offset: t.NotRequired[int | str]
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class ConstraintViolationDetails(t.TypedDict):
    """Details of ``ConstraintViolation``."""

    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class SerializationFailureDetails(t.TypedDict):
    """Details of ``SerializationFailure``."""

    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]


class StaleReadDetails(t.TypedDict):
    """Details of ``StaleRead``."""

    expected_etag: str
    field: t.NotRequired[str]
    retryable: t.NotRequired[bool]
    hint: t.NotRequired[str]
