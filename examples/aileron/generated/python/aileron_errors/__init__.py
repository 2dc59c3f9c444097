"""Aileron failures in Python: exceptions, the envelope, retries. Standard library
only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aileron/taxonomy.yaml

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
    AileronError,
    AnyError,
    BindingFailed,
    BindingRequired,
    CapabilityDenied,
    ConnectorRuntimeError,
    ExternalApiError,
    HashMismatch,
    NetworkError,
    ResourceLimitExceeded,
    SignatureFailure,
    UnknownError,
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
    "AileronError",
    "AnyError",
    "BindingFailed",
    "BindingRequired",
    "CapabilityDenied",
    "ConnectorRuntimeError",
    "ErrorCode",
    "ExternalApiError",
    "Facts",
    "HashMismatch",
    "NetworkError",
    "Rendered",
    "ResourceLimitExceeded",
    "SignatureFailure",
    "UnknownError",
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
