"""Core Platform errors in Python: exceptions, the envelope, retries. Standard
library only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

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
    AlreadyExists,
    AnyError,
    Conflict,
    ConstraintViolation,
    DependencyUnavailable,
    Forbidden,
    InternalError,
    InvalidRequest,
    NotFound,
    PlatformError,
    RateLimited,
    ScopeInsufficient,
    SerializationFailure,
    StaleRead,
    Timeout,
    Unauthenticated,
    UnknownError,
    UnsupportedMediaType,
    ValidationFailed,
    entity_tag,
    undeclared,
)
from .retry import (
    IDEMPOTENCY_HEADER,
    POLICIES,
    new_idempotency_key,
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
    "IDEMPOTENCY_HEADER",
    "POLICIES",
    "RETRYABLE",
    "AlreadyExists",
    "AnyError",
    "Conflict",
    "ConstraintViolation",
    "DependencyUnavailable",
    "ErrorCode",
    "Facts",
    "Forbidden",
    "InternalError",
    "InvalidRequest",
    "NotFound",
    "PlatformError",
    "RateLimited",
    "Rendered",
    "ScopeInsufficient",
    "SerializationFailure",
    "StaleRead",
    "Timeout",
    "Unauthenticated",
    "UnknownError",
    "UnsupportedMediaType",
    "ValidationFailed",
    "client_action",
    "codes_for",
    "entity_tag",
    "http_status",
    "is_retryable",
    "new_idempotency_key",
    "parse",
    "plan_retry",
    "render",
    "start_retry",
    "to_envelope",
    "undeclared",
]
