"""The types of the details of each code of Kinto errors."""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "BackendDetails",
    "BadjsonDetails",
    "ClientReachedCapacityDetails",
    "ConstraintViolatedDetails",
    "ForbiddenDetails",
    "InvalidAuthTokenDetails",
    "InvalidParametersDetails",
    "InvalidPostedDataDetails",
    "InvalidResourceIdDetails",
    "MethodNotAllowedDetails",
    "MissingAuthTokenDetails",
    "MissingContentLengthDetails",
    "MissingParametersDetails",
    "MissingResourceDetails",
    "ModifiedMeanwhileDetails",
    "RequestTooLargeDetails",
    "ServiceDeprecatedDetails",
    "UndefinedDetails",
    "VersionNotAvailableDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off


class MissingAuthTokenDetails(t.TypedDict):
    """Details of ``MissingAuthToken``."""


class InvalidAuthTokenDetails(t.TypedDict):
    """Details of ``InvalidAuthToken``."""


class BadjsonDetails(t.TypedDict):
    """Details of ``Badjson``."""


InvalidParametersDetails = Mapping[str, object]
"""Details of ``InvalidParameters``, which have a schema of their own."""


class MissingParametersDetails(t.TypedDict):
    """Details of ``MissingParameters``."""


InvalidPostedDataDetails = Mapping[str, object]
"""Details of ``InvalidPostedData``, which have a schema of their own."""


class InvalidResourceIdDetails(t.TypedDict):
    """Details of ``InvalidResourceId``."""

    id: t.NotRequired[str]
    resource_name: t.NotRequired[str]


class MissingResourceDetails(t.TypedDict):
    """Details of ``MissingResource``."""

    id: t.NotRequired[str]
    resource_name: t.NotRequired[str]


class MissingContentLengthDetails(t.TypedDict):
    """Details of ``MissingContentLength``."""


class RequestTooLargeDetails(t.TypedDict):
    """Details of ``RequestTooLarge``."""


class ModifiedMeanwhileDetails(t.TypedDict):
    """Details of ``ModifiedMeanwhile``."""

    existing: t.NotRequired[Mapping[str, object]]


class MethodNotAllowedDetails(t.TypedDict):
    """Details of ``MethodNotAllowed``."""


class VersionNotAvailableDetails(t.TypedDict):
    """Details of ``VersionNotAvailable``."""


class ClientReachedCapacityDetails(t.TypedDict):
    """Details of ``ClientReachedCapacity``."""


class ForbiddenDetails(t.TypedDict):
    """Details of ``Forbidden``."""


class ConstraintViolatedDetails(t.TypedDict):
    """Details of ``ConstraintViolated``."""


class BackendDetails(t.TypedDict):
    """Details of ``Backend``."""


class ServiceDeprecatedDetails(t.TypedDict):
    """Details of ``ServiceDeprecated``."""


class UndefinedDetails(t.TypedDict):
    """Details of ``Undefined``."""
