"""etcd errors in Python: exceptions, the envelope, retries. Standard library only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec compile
# examples/etcd/taxonomy.yaml

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
    Aborted,
    AccessError,
    AlreadyExists,
    AnyError,
    Cancelled,
    DataLoss,
    DeadlineExceeded,
    EtcdError,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    OutOfRange,
    PermissionDenied,
    RequestError,
    ResourceExhausted,
    ServiceError,
    StateError,
    Unauthenticated,
    Unavailable,
    Unimplemented,
    Unknown,
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
    "Aborted",
    "AccessError",
    "AlreadyExists",
    "AnyError",
    "Cancelled",
    "DataLoss",
    "DeadlineExceeded",
    "ErrorCode",
    "EtcdError",
    "Facts",
    "FailedPrecondition",
    "Internal",
    "InvalidArgument",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "Rendered",
    "RequestError",
    "ResourceExhausted",
    "ServiceError",
    "StateError",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "Unknown",
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
