"""alknet call errors in Python: exceptions, the envelope, retries. Standard library
only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from examples/alknet/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/alknet/taxonomy.yaml

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
    AlknetError,
    AnyError,
    ChatContextOverflow,
    CreateMachineInsufficientCredits,
    CreateMachineRateLimited,
    Forbidden,
    Internal,
    InvalidInput,
    InvalidOperationType,
    NotFound,
    ReadFileFileNotFound,
    ReadFilePermissionDenied,
    Timeout,
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
    "AlknetError",
    "AnyError",
    "ChatContextOverflow",
    "CreateMachineInsufficientCredits",
    "CreateMachineRateLimited",
    "ErrorCode",
    "Facts",
    "Forbidden",
    "Internal",
    "InvalidInput",
    "InvalidOperationType",
    "NotFound",
    "ReadFileFileNotFound",
    "ReadFilePermissionDenied",
    "Rendered",
    "Timeout",
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
