"""The types of the details of each code of KeenBench errors."""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml

import typing as t
from collections.abc import Mapping, Sequence

__all__ = [
    "BudgetCapReachedDetails",
    "CheckpointCreateFailedDetails",
    "CheckpointRestoreFailedDetails",
    "ConflictPublishedChangedDetails",
    "ContextExhaustedDetails",
    "DiskFullDetails",
    "EgressBlockedByPolicyDetails",
    "EgressConsentRequiredDetails",
    "FileReadFailedDetails",
    "FileWriteFailedDetails",
    "NetworkUnavailableDetails",
    "ProviderAuthFailedDetails",
    "ProviderNotConfiguredDetails",
    "ProviderRateLimitedDetails",
    "ProviderUnavailableDetails",
    "SandboxViolationDetails",
    "UserCanceledDetails",
    "ValidationFailedDetails",
]

Json = Mapping[str, object] | Sequence[object] | str | float | bool | None
"""Any value of JSON."""

# fmt: off

Phase = t.Literal[
    "workbench",
    "workshop",
    "review",
    "publish",
    "restore",
    "settings",
]

Subphase = t.Literal[
    "stream",
    "proposal",
    "apply",
    "add_files",
]


class EgressConsentRequiredDetails(t.TypedDict):
    """Details of ``EgressConsentRequired``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class EgressBlockedByPolicyDetails(t.TypedDict):
    """Details of ``EgressBlockedByPolicy``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class ProviderNotConfiguredDetails(t.TypedDict):
    """Details of ``ProviderNotConfigured``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class ProviderAuthFailedDetails(t.TypedDict):
    """Details of ``ProviderAuthFailed``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class ProviderRateLimitedDetails(t.TypedDict):
    """Details of ``ProviderRateLimited``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class ProviderUnavailableDetails(t.TypedDict):
    """Details of ``ProviderUnavailable``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class NetworkUnavailableDetails(t.TypedDict):
    """Details of ``NetworkUnavailable``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class SandboxViolationDetails(t.TypedDict):
    """Details of ``SandboxViolation``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class ValidationFailedDetails(t.TypedDict):
    """Details of ``ValidationFailed``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class ContextExhaustedDetails(t.TypedDict):
    """Details of ``ContextExhausted``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class DiskFullDetails(t.TypedDict):
    """Details of ``DiskFull``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class FileReadFailedDetails(t.TypedDict):
    """Details of ``FileReadFailed``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class FileWriteFailedDetails(t.TypedDict):
    """Details of ``FileWriteFailed``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class CheckpointCreateFailedDetails(t.TypedDict):
    """Details of ``CheckpointCreateFailed``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class CheckpointRestoreFailedDetails(t.TypedDict):
    """Details of ``CheckpointRestoreFailed``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class BudgetCapReachedDetails(t.TypedDict):
    """Details of ``BudgetCapReached``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class ConflictPublishedChangedDetails(t.TypedDict):
    """Details of ``ConflictPublishedChanged``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]


class UserCanceledDetails(t.TypedDict):
    """Details of ``UserCanceled``."""

    provider_id: t.NotRequired[str]
    model_id: t.NotRequired[str]
    job_id: t.NotRequired[str]
    workbench_id: t.NotRequired[str]
    detail: t.NotRequired[str]
    detail_ref: t.NotRequired[str]
