"""Kinto errors in Python: exceptions, the envelope, retries. Standard library only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml

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
    AnyError,
    Backend,
    Badjson,
    ClientReachedCapacity,
    ConstraintViolated,
    Forbidden,
    InvalidAuthToken,
    InvalidParameters,
    InvalidPostedData,
    InvalidResourceId,
    KintoError,
    MethodNotAllowed,
    MissingAuthToken,
    MissingContentLength,
    MissingParameters,
    MissingResource,
    ModifiedMeanwhile,
    RequestTooLarge,
    ServiceDeprecated,
    Undefined,
    UnknownError,
    VersionNotAvailable,
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
    "AnyError",
    "Backend",
    "Badjson",
    "ClientReachedCapacity",
    "ConstraintViolated",
    "ErrorCode",
    "Facts",
    "Forbidden",
    "InvalidAuthToken",
    "InvalidParameters",
    "InvalidPostedData",
    "InvalidResourceId",
    "KintoError",
    "MethodNotAllowed",
    "MissingAuthToken",
    "MissingContentLength",
    "MissingParameters",
    "MissingResource",
    "ModifiedMeanwhile",
    "Rendered",
    "RequestTooLarge",
    "ServiceDeprecated",
    "Undefined",
    "UnknownError",
    "VersionNotAvailable",
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
