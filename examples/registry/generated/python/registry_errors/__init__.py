"""Registry errors in Python: exceptions, the envelope, retries. Standard library
only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml

from .codes import (
    FACTS,
    RETRYABLE,
    ErrorCode,
    Facts,
    client_action,
    codes_for,
    http_status,
    is_retryable,
)
from .errors import (
    AccessError,
    AnyError,
    BlobUnknown,
    BlobUploadInvalid,
    BlobUploadUnknown,
    CapabilityError,
    ContentError,
    Denied,
    DigestInvalid,
    ManifestBlobUnknown,
    ManifestInvalid,
    ManifestUnknown,
    ManifestUnverified,
    NameDomainError,
    NameInvalid,
    NameUnknown,
    RegistryError,
    SizeInvalid,
    TagInvalid,
    Toomanyrequests,
    Unauthorized,
    Unknown,
    UnknownError,
    Unsupported,
    UploadError,
    entity_tag,
    undeclared,
)
from .retry import (
    POLICIES,
    plan_retry,
    start_retry,
)
from .wire import (
    Rendered,
    parse,
    render,
    to_envelope,
)

__all__ = [
    "FACTS",
    "POLICIES",
    "RETRYABLE",
    "AccessError",
    "AnyError",
    "BlobUnknown",
    "BlobUploadInvalid",
    "BlobUploadUnknown",
    "CapabilityError",
    "ContentError",
    "Denied",
    "DigestInvalid",
    "ErrorCode",
    "Facts",
    "ManifestBlobUnknown",
    "ManifestInvalid",
    "ManifestUnknown",
    "ManifestUnverified",
    "NameDomainError",
    "NameInvalid",
    "NameUnknown",
    "RegistryError",
    "Rendered",
    "SizeInvalid",
    "TagInvalid",
    "Toomanyrequests",
    "Unauthorized",
    "Unknown",
    "UnknownError",
    "Unsupported",
    "UploadError",
    "client_action",
    "codes_for",
    "entity_tag",
    "http_status",
    "is_retryable",
    "parse",
    "plan_retry",
    "render",
    "start_retry",
    "to_envelope",
    "undeclared",
]
