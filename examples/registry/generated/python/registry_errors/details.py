"""The types of the details of each code of Registry errors."""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "BlobUnknownDetails",
    "BlobUploadInvalidDetails",
    "BlobUploadUnknownDetails",
    "DeniedDetails",
    "DigestInvalidDetails",
    "ManifestBlobUnknownDetails",
    "ManifestInvalidDetails",
    "ManifestUnknownDetails",
    "ManifestUnverifiedDetails",
    "NameInvalidDetails",
    "NameUnknownDetails",
    "SizeInvalidDetails",
    "TagInvalidDetails",
    "ToomanyrequestsDetails",
    "UnauthorizedDetails",
    "UnknownDetails",
    "UnsupportedDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off


class UnknownDetails(t.TypedDict):
    """Details of ``Unknown``."""


class BlobUnknownDetails(t.TypedDict):
    """Details of ``BlobUnknown``."""


class BlobUploadInvalidDetails(t.TypedDict):
    """Details of ``BlobUploadInvalid``."""


class BlobUploadUnknownDetails(t.TypedDict):
    """Details of ``BlobUploadUnknown``."""


class DigestInvalidDetails(t.TypedDict):
    """Details of ``DigestInvalid``."""


class ManifestBlobUnknownDetails(t.TypedDict):
    """Details of ``ManifestBlobUnknown``."""


class ManifestInvalidDetails(t.TypedDict):
    """Details of ``ManifestInvalid``."""


class ManifestUnknownDetails(t.TypedDict):
    """Details of ``ManifestUnknown``."""


class ManifestUnverifiedDetails(t.TypedDict):
    """Details of ``ManifestUnverified``."""


class NameInvalidDetails(t.TypedDict):
    """Details of ``NameInvalid``."""


class NameUnknownDetails(t.TypedDict):
    """Details of ``NameUnknown``."""


class SizeInvalidDetails(t.TypedDict):
    """Details of ``SizeInvalid``."""


class TagInvalidDetails(t.TypedDict):
    """Details of ``TagInvalid``."""


class UnauthorizedDetails(t.TypedDict):
    """Details of ``Unauthorized``."""


class DeniedDetails(t.TypedDict):
    """Details of ``Denied``."""


class UnsupportedDetails(t.TypedDict):
    """Details of ``Unsupported``."""


class ToomanyrequestsDetails(t.TypedDict):
    """Details of ``Toomanyrequests``."""
