"""The types of the details of each code of etcd errors."""

# Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec compile
# examples/etcd/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "AbortedDetails",
    "AlreadyExistsDetails",
    "CancelledDetails",
    "DataLossDetails",
    "DeadlineExceededDetails",
    "FailedPreconditionDetails",
    "InternalDetails",
    "InvalidArgumentDetails",
    "NotFoundDetails",
    "OutOfRangeDetails",
    "PermissionDeniedDetails",
    "ResourceExhaustedDetails",
    "UnauthenticatedDetails",
    "UnavailableDetails",
    "UnimplementedDetails",
    "UnknownDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off


class CancelledDetails(t.TypedDict):
    """Details of ``Cancelled``."""


class UnknownDetails(t.TypedDict):
    """Details of ``Unknown``."""


class InvalidArgumentDetails(t.TypedDict):
    """Details of ``InvalidArgument``."""


class DeadlineExceededDetails(t.TypedDict):
    """Details of ``DeadlineExceeded``."""


class NotFoundDetails(t.TypedDict):
    """Details of ``NotFound``."""


class AlreadyExistsDetails(t.TypedDict):
    """Details of ``AlreadyExists``."""


class PermissionDeniedDetails(t.TypedDict):
    """Details of ``PermissionDenied``."""


class ResourceExhaustedDetails(t.TypedDict):
    """Details of ``ResourceExhausted``."""


class FailedPreconditionDetails(t.TypedDict):
    """Details of ``FailedPrecondition``."""


class AbortedDetails(t.TypedDict):
    """Details of ``Aborted``."""


class OutOfRangeDetails(t.TypedDict):
    """Details of ``OutOfRange``."""


class UnimplementedDetails(t.TypedDict):
    """Details of ``Unimplemented``."""


class InternalDetails(t.TypedDict):
    """Details of ``Internal``."""


class UnavailableDetails(t.TypedDict):
    """Details of ``Unavailable``."""


class DataLossDetails(t.TypedDict):
    """Details of ``DataLoss``."""


class UnauthenticatedDetails(t.TypedDict):
    """Details of ``Unauthenticated``."""
