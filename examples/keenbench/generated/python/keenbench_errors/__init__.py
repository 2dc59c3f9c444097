"""KeenBench errors in Python: exceptions, the envelope, retries. Standard library
only.

The ASGI error boundary is in the module ``asgi``, the types of details in ``details``.
"""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml

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
    BudgetCapReached,
    CheckpointCreateFailed,
    CheckpointRestoreFailed,
    ConflictPublishedChanged,
    ContextExhausted,
    DiskFull,
    EgressBlockedByPolicy,
    EgressConsentRequired,
    FileReadFailed,
    FileWriteFailed,
    KeenbenchError,
    NetworkUnavailable,
    ProviderAuthFailed,
    ProviderNotConfigured,
    ProviderRateLimited,
    ProviderUnavailable,
    SandboxViolation,
    UnknownError,
    UserCanceled,
    ValidationFailed,
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
    "BudgetCapReached",
    "CheckpointCreateFailed",
    "CheckpointRestoreFailed",
    "ConflictPublishedChanged",
    "ContextExhausted",
    "DiskFull",
    "EgressBlockedByPolicy",
    "EgressConsentRequired",
    "ErrorCode",
    "Facts",
    "FileReadFailed",
    "FileWriteFailed",
    "KeenbenchError",
    "NetworkUnavailable",
    "ProviderAuthFailed",
    "ProviderNotConfigured",
    "ProviderRateLimited",
    "ProviderUnavailable",
    "Rendered",
    "SandboxViolation",
    "UnknownError",
    "UserCanceled",
    "ValidationFailed",
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
