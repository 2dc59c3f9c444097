"""Errors of aria2's RPC interface in Python: exceptions, the envelope, retries.
Standard library only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from examples/aria2/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aria2/taxonomy.yaml

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
    Aria2Error,
    Failed,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
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
    "AnyError",
    "Aria2Error",
    "ErrorCode",
    "Facts",
    "Failed",
    "InvalidParams",
    "InvalidRequest",
    "MethodNotFound",
    "ParseError",
    "Rendered",
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
