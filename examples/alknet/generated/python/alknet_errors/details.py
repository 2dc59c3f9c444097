"""The types of the details of each code of alknet call errors."""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "ChatContextOverflowDetails",
    "CreateMachineInsufficientCreditsDetails",
    "CreateMachineRateLimitedDetails",
    "ForbiddenDetails",
    "InternalDetails",
    "InvalidInputDetails",
    "InvalidOperationTypeDetails",
    "NotFoundDetails",
    "ReadFileFileNotFoundDetails",
    "ReadFilePermissionDeniedDetails",
    "TimeoutDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off

ForbiddenBoundary = t.Literal[
    "registry",
    "acl",
]

InvalidOperationTypeBoundary = t.Literal[
    "registry",
    "operation_env",
]

InternalBoundary = t.Literal[
    "registry",
    "adapter",
]


class NotFoundDetails(t.TypedDict):
    """Details of ``NotFound``."""

    operation: t.NotRequired[str]


class ForbiddenDetails(t.TypedDict):
    """Details of ``Forbidden``."""

    operation: t.NotRequired[str]


class InvalidInputDetails(t.TypedDict):
    """Details of ``InvalidInput``."""

    operation: t.NotRequired[str]


class InvalidOperationTypeDetails(t.TypedDict):
    """Details of ``InvalidOperationType``."""

    operation: t.NotRequired[str]


class InternalDetails(t.TypedDict):
    """Details of ``Internal``."""

    code: t.NotRequired[str]


class TimeoutDetails(t.TypedDict):
    """Details of ``Timeout``."""

    operation: t.NotRequired[str]


class ReadFileFileNotFoundDetails(t.TypedDict):
    """Details of ``ReadFileFileNotFound``."""

    path: t.NotRequired[str]
    errno: t.NotRequired[int]


class ReadFilePermissionDeniedDetails(t.TypedDict):
    """Details of ``ReadFilePermissionDenied``."""

    path: t.NotRequired[str]
    errno: t.NotRequired[int]


class CreateMachineInsufficientCreditsDetails(t.TypedDict):
    """Details of ``CreateMachineInsufficientCredits``."""


class CreateMachineRateLimitedDetails(t.TypedDict):
    """Details of ``CreateMachineRateLimited``."""

    retry_after: t.NotRequired[float]


class ChatContextOverflowDetails(t.TypedDict):
    """Details of ``ChatContextOverflow``."""
