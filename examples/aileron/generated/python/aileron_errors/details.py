"""The types of the details of each code of Aileron failures."""

# Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aileron/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "BindingFailedDetails",
    "BindingRequiredDetails",
    "CapabilityDeniedDetails",
    "ConnectorRuntimeErrorDetails",
    "ExternalApiErrorDetails",
    "HashMismatchDetails",
    "NetworkErrorDetails",
    "ResourceLimitExceededDetails",
    "SignatureFailureDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off

CapabilityDeniedBoundary = t.Literal[
    "sandbox",
    "connector_manifest",
    "action",
]


class CapabilityDeniedDetails(t.TypedDict):
    """Details of ``CapabilityDenied``."""

    host: t.NotRequired[str]
    scope: t.NotRequired[str]
    suggestion: t.NotRequired[str]


class BindingRequiredDetails(t.TypedDict):
    """Details of ``BindingRequired``."""

    binding: t.NotRequired[str]
    scope: t.NotRequired[str]
    suggestion: t.NotRequired[str]


class BindingFailedDetails(t.TypedDict):
    """Details of ``BindingFailed``."""

    binding: t.NotRequired[str]
    scope: t.NotRequired[str]
    suggestion: t.NotRequired[str]


class ResourceLimitExceededDetails(t.TypedDict):
    """Details of ``ResourceLimitExceeded``."""

    suggestion: t.NotRequired[str]


class ConnectorRuntimeErrorDetails(t.TypedDict):
    """Details of ``ConnectorRuntimeError``."""

    suggestion: t.NotRequired[str]


class NetworkErrorDetails(t.TypedDict):
    """Details of ``NetworkError``."""

    retried: t.NotRequired[int]
    suggestion: t.NotRequired[str]


class ExternalApiErrorDetails(t.TypedDict):
    """Details of ``ExternalApiError``."""

    status: int
    binding: t.NotRequired[str]
    retried: t.NotRequired[int]
    suggestion: t.NotRequired[str]


class HashMismatchDetails(t.TypedDict):
    """Details of ``HashMismatch``."""

    suggestion: t.NotRequired[str]


class SignatureFailureDetails(t.TypedDict):
    """Details of ``SignatureFailure``."""

    suggestion: t.NotRequired[str]
