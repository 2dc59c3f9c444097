"""An exception for each code of KeenBench errors.

A service raises them. A client catches them after ``wire.parse`` made them from an
answer. Only declared codes can be raised, each with its own details, boundaries and
statuses.
"""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml

from __future__ import annotations

import json
import re
import typing as t
from collections.abc import Mapping, Sequence
from enum import Enum

from ._runtime.checking import Check, refuse
from .codes import FACTS, ErrorCode, Facts, RetriableRule, StatusRule, codes_for

if t.TYPE_CHECKING:
    from . import details as d

EnvelopeName = t.Literal[
    "error_info",
    "rpc",
    "rpc_protocol",
]
"""The shapes on the wire; ``wire.ENVELOPES`` has them."""


SECONDS = Check(types=("number",), minimum=0)
"""The check of ``retry_after``."""

# fmt: off
SLOT_CHECKS: Mapping[str, Check] = {
    "phase": Check(
        types=("string",),
        enum=(
            "workbench",
            "workshop",
            "review",
            "publish",
            "restore",
            "settings",
        ),
    ),
    "subphase": Check(
        types=("string",),
        enum=(
            "stream",
            "proposal",
            "apply",
            "add_files",
        ),
    ),
    "actions": Check(
        types=("array",),
        items=Check(
            types=("string",),
            enum=(
                "retry",
                "resume",
                "switch_model",
                "open_settings",
                "restore_checkpoint",
                "free_disk_space",
                "view_report",
                "review_draft",
                "discard_draft",
            ),
        ),
    ),
}
# fmt: on
"""The checks of attributes that fill an envelope, unless they are None."""

_Entry = t.TypeVar("_Entry")


class Unset(Enum):
    """The default of a detail that may be None; such a detail is left out."""

    UNSET = "unset"


class KeenbenchError(Exception):
    """Any error of KeenBench errors. Each code has a subclass, and only those are
    raised.

    ``message`` is safe to show to the sender of the request. ``status`` is the HTTP
    status, None for a code without one. ``headers`` travel beside the envelope, and
    ``retry_after`` (seconds) as one of them. ``envelope`` is the default envelope of
    the code. The cause of the error is its ``__cause__`` (``raise … from failure``),
    and never travels. ``raw`` is the body that it was read from, decoded, and None if
    it was not read; it is not safe to show.
    """

    __slots__ = (
        "_details",
        "_retriable",
        "actions",
        "boundary",
        "headers",
        "message",
        "phase",
        "raw",
        "request_id",
        "retry_after",
        "status",
        "subphase",
    )

    code: t.ClassVar[ErrorCode | None]
    facts: t.ClassVar[Facts]
    summary: t.ClassVar[str]
    default_message: t.ClassVar[str]
    operation: t.ClassVar[str | None] = None
    checks: t.ClassVar[Check] = Check()
    defaults: t.ClassVar[Sequence[tuple[str, object]]] = ()
    flag_key: t.ClassVar[str | None] = None
    envelope: t.ClassVar[EnvelopeName] = "rpc"

    # fmt: off
    def __init__(
        self,
        message: str | None = None,
        *,
        details: Mapping[str, object],
        nullable: Sequence[str] = (),
        boundary: str | None = None,
        status: int | None = None,
        retriable: bool | None = None,
        retry_after: float | None = None,
        phase: d.Phase | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> None:
        if not hasattr(self, "code"):
            name = type(self).__name__
            raise TypeError(f"{name} has no code; raise one of its subclasses")
        self._details: Mapping[str, object] = {
            key: value
            for key, value in details.items()
            if value is not Unset.UNSET and (value is not None or key in nullable)
        }
        refuse(self.checks, self._details, f"{self.facts.wire}: details")
        self._retriable = retriable
        self.boundary = _allowed_boundary(self.facts, boundary)
        self.status = _allowed_status(
            self.code,
            self.facts,
            status,
            _own_facts(self) if self.facts.status_rules else {},
        )
        if retry_after is not None:
            refuse(SECONDS, retry_after, "retry_after")
        self.retry_after = retry_after
        self.phase = phase
        self.subphase = subphase
        self.actions = actions
        self.request_id = request_id
        for slot, check in SLOT_CHECKS.items():
            if getattr(self, slot) is not None:
                refuse(check, getattr(self, slot), f"{self.facts.wire}: {slot}")
        if self.facts.actions and self.actions is not None:
            declared = Check(items=Check(enum=self.facts.actions))
            refuse(declared, self.actions, f"{self.facts.wire}: actions")
        given = self.actions if self.facts.exact_actions else None
        if given is not None and sorted(given) != sorted(self.facts.actions):
            exactly = list(self.facts.actions)
            name = f"{self.facts.wire}: actions"
            raise ValueError(f"{name} must be exactly {exactly}")
        self.raw: object = None
        self.headers = _sendable(headers or {})
        for name in lacking(self):
            way = "retry_after" if name.lower() == "retry-after" else "headers"
            under = f"{self.facts.wire} under {self.status}"
            raise ValueError(f"{under} needs the header {name}: pass `{way}`")
        if self.flag_key is not None:
            self._details = {**self._details, self.flag_key: self._flag()}
        self.message = (
            default_message(type(self), self._details) if message is None else message
        )
        super().__init__(self.message)

    # fmt: on
    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (type(self), _state(self))

    @property
    def details(self) -> Mapping[str, object]:
        """The details in the envelope, typed by each subclass; read only."""
        return self._details

    @property
    def retriable(self) -> bool:
        """Whether this request may be sent again: by its own flag, else by its code."""
        decides = self.facts.retriable == "conditional"
        return self.retriable_when(known_facts(self) if decides else {})

    def retriable_when(self, facts: Mapping[str, object]) -> bool:
        """The same, with other facts; rules define their names."""
        if self._retriable is not None:
            return self._retriable
        if self.facts.retriable == "conditional":
            return decided(self.facts.rules, facts, otherwise=False)
        if self.facts.retriable in ("always", "never"):
            return self.facts.retriable == "always"
        return self.facts.client_action == "retry"

    def _flag(self) -> bool:
        """The flag among the details: the error's own, else whether the client action
        is ``retry``.
        """
        decides = self._retriable is not None or self.facts.retriable == "conditional"
        return self.retriable if decides else self.facts.client_action == "retry"


class EgressError(KeenbenchError):
    """Any error of the domain ``egress``: Consent and policy on what leaves the
    machine.
    """

    __slots__ = ()


class ProviderError(KeenbenchError):
    """Any error of the domain ``provider``: The model provider and the network to
    it.
    """

    __slots__ = ()


class SandboxError(KeenbenchError):
    """Any error of the domain ``sandbox``: The sandbox and the validation of
    results.
    """

    __slots__ = ()


class StorageError(KeenbenchError):
    """Any error of the domain ``storage``: Files and checkpoints."""

    __slots__ = ()


class WorkflowError(KeenbenchError):
    """Any error of the domain ``workflow``: Gates and choices of the user."""

    __slots__ = ()


# fmt: off


class EgressConsentRequired(EgressError):
    """The user has not agreed that this content leaves the machine.

    A person has to act.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.EGRESS_CONSENT_REQUIRED
    facts = FACTS[code]
    summary = "The user has not agreed that this content leaves the machine."
    default_message = "Your consent is needed before anything is sent to the provider"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.EgressConsentRequiredDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.EgressConsentRequiredDetails",
            self._details,
        )


class EgressBlockedByPolicy(EgressError):
    """A policy forbids that this content leaves the machine.

    A person has to act.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.EGRESS_BLOCKED_BY_POLICY
    facts = FACTS[code]
    summary = "A policy forbids that this content leaves the machine."
    default_message = "A policy does not allow sending this"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.EgressBlockedByPolicyDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.EgressBlockedByPolicyDetails",
            self._details,
        )


class ProviderNotConfigured(ProviderError):
    """The provider has no key, or is not enabled.

    A person has to act.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.PROVIDER_NOT_CONFIGURED
    facts = FACTS[code]
    summary = "The provider has no key, or is not enabled."
    default_message = "The provider is not set up"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ProviderNotConfiguredDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ProviderNotConfiguredDetails",
            self._details,
        )


class ProviderAuthFailed(ProviderError):
    """The provider refused the key.

    A person has to act. The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.PROVIDER_AUTH_FAILED
    facts = FACTS[code]
    summary = "The provider refused the key."
    default_message = "The provider refused the key"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ProviderAuthFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ProviderAuthFailedDetails",
            self._details,
        )


class ProviderRateLimited(ProviderError):
    """The provider limits the rate.

    Clients retry (automatic). The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.PROVIDER_RATE_LIMITED
    facts = FACTS[code]
    summary = "The provider limits the rate."
    default_message = "The provider is busy with your other requests"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ProviderRateLimitedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ProviderRateLimitedDetails",
            self._details,
        )


class ProviderUnavailable(ProviderError):
    """The provider answers with errors, or not in time.

    Clients retry (automatic). The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.PROVIDER_UNAVAILABLE
    facts = FACTS[code]
    summary = "The provider answers with errors, or not in time."
    default_message = "The provider is not available"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ProviderUnavailableDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ProviderUnavailableDetails",
            self._details,
        )


class NetworkUnavailable(ProviderError):
    """There is no network.

    Clients retry (automatic). The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.NETWORK_UNAVAILABLE
    facts = FACTS[code]
    summary = "There is no network."
    default_message = "There is no connection to the network"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.NetworkUnavailableDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.NetworkUnavailableDetails",
            self._details,
        )


class SandboxViolation(SandboxError):
    """The sandbox refused what a tool tried to do.

    Clients do not retry. The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.SANDBOX_VIOLATION
    facts = FACTS[code]
    summary = "The sandbox refused what a tool tried to do."
    default_message = "A tool tried something it may not do"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.SandboxViolationDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.SandboxViolationDetails",
            self._details,
        )


class ValidationFailed(SandboxError):
    """What was asked for, or what the model made, is not valid.

    Clients retry if the error allows it. The operation may have taken effect.

    ``retriable``: whether this request may be sent again. ``provider_id``: The
    provider, where one is involved. ``model_id``: The model, where one is involved.
    ``job_id``: The job. ``workbench_id``: The workbench. ``detail``: Short extra
    context without the contents of files. ``detail_ref``: The path of a local file with
    structured details.
    """

    __slots__ = ()

    code = ErrorCode.VALIDATION_FAILED
    facts = FACTS[code]
    summary = "What was asked for, or what the model made, is not valid."
    default_message = "The result is not valid"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retriable: bool,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            retriable=retriable,
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ValidationFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ValidationFailedDetails",
            self._details,
        )


class ContextExhausted(SandboxError):
    """The conversation is longer than the model takes.

    A person has to act. The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.CONTEXT_EXHAUSTED
    facts = FACTS[code]
    summary = "The conversation is longer than the model takes."
    default_message = "The conversation is too long for this model"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ContextExhaustedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ContextExhaustedDetails",
            self._details,
        )


class DiskFull(StorageError):
    """The disk is full.

    A person has to act. The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.DISK_FULL
    facts = FACTS[code]
    summary = "The disk is full."
    default_message = "The disk is full"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.DiskFullDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.DiskFullDetails",
            self._details,
        )


class FileReadFailed(StorageError):
    """A file cannot be read.

    Clients retry if the error allows it. The operation may have taken effect.

    ``retriable``: whether this request may be sent again. ``provider_id``: The
    provider, where one is involved. ``model_id``: The model, where one is involved.
    ``job_id``: The job. ``workbench_id``: The workbench. ``detail``: Short extra
    context without the contents of files. ``detail_ref``: The path of a local file with
    structured details.
    """

    __slots__ = ()

    code = ErrorCode.FILE_READ_FAILED
    facts = FACTS[code]
    summary = "A file cannot be read."
    default_message = "A file could not be read"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retriable: bool,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            retriable=retriable,
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.FileReadFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.FileReadFailedDetails",
            self._details,
        )


class FileWriteFailed(StorageError):
    """A file cannot be written.

    Clients retry if the error allows it. The operation may have taken effect.

    ``retriable``: whether this request may be sent again. ``provider_id``: The
    provider, where one is involved. ``model_id``: The model, where one is involved.
    ``job_id``: The job. ``workbench_id``: The workbench. ``detail``: Short extra
    context without the contents of files. ``detail_ref``: The path of a local file with
    structured details.
    """

    __slots__ = ()

    code = ErrorCode.FILE_WRITE_FAILED
    facts = FACTS[code]
    summary = "A file cannot be written."
    default_message = "A file could not be written"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retriable: bool,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            retriable=retriable,
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.FileWriteFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.FileWriteFailedDetails",
            self._details,
        )


class CheckpointCreateFailed(StorageError):
    """A checkpoint could not be made.

    Clients retry if the error allows it. The operation may have taken effect.

    ``retriable``: whether this request may be sent again. ``provider_id``: The
    provider, where one is involved. ``model_id``: The model, where one is involved.
    ``job_id``: The job. ``workbench_id``: The workbench. ``detail``: Short extra
    context without the contents of files. ``detail_ref``: The path of a local file with
    structured details.
    """

    __slots__ = ()

    code = ErrorCode.CHECKPOINT_CREATE_FAILED
    facts = FACTS[code]
    summary = "A checkpoint could not be made."
    default_message = "The checkpoint could not be made"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retriable: bool,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            retriable=retriable,
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.CheckpointCreateFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.CheckpointCreateFailedDetails",
            self._details,
        )


class CheckpointRestoreFailed(StorageError):
    """A checkpoint could not be restored.

    Clients retry if the error allows it. The operation may have taken effect.

    ``retriable``: whether this request may be sent again. ``provider_id``: The
    provider, where one is involved. ``model_id``: The model, where one is involved.
    ``job_id``: The job. ``workbench_id``: The workbench. ``detail``: Short extra
    context without the contents of files. ``detail_ref``: The path of a local file with
    structured details.
    """

    __slots__ = ()

    code = ErrorCode.CHECKPOINT_RESTORE_FAILED
    facts = FACTS[code]
    summary = "A checkpoint could not be restored."
    default_message = "The checkpoint could not be restored"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        retriable: bool,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            retriable=retriable,
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.CheckpointRestoreFailedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.CheckpointRestoreFailedDetails",
            self._details,
        )


class BudgetCapReached(WorkflowError):
    """The budget of the job is spent.

    A person has to act. The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.BUDGET_CAP_REACHED
    facts = FACTS[code]
    summary = "The budget of the job is spent."
    default_message = "The budget is spent"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.BudgetCapReachedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.BudgetCapReachedDetails",
            self._details,
        )


class ConflictPublishedChanged(WorkflowError):
    """What is published changed since the draft was made.

    Clients read again before they retry. The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.CONFLICT_PUBLISHED_CHANGED
    facts = FACTS[code]
    summary = "What is published changed since the draft was made."
    default_message = "The published version has changed"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.ConflictPublishedChangedDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.ConflictPublishedChangedDetails",
            self._details,
        )


class UserCanceled(WorkflowError):
    """The user stopped it.

    A person has to act. The operation may have taken effect.

    ``provider_id``: The provider, where one is involved. ``model_id``: The model, where
    one is involved. ``job_id``: The job. ``workbench_id``: The workbench. ``detail``:
    Short extra context without the contents of files. ``detail_ref``: The path of a
    local file with structured details.
    """

    __slots__ = ()

    code = ErrorCode.USER_CANCELED
    facts = FACTS[code]
    summary = "The user stopped it."
    default_message = "You stopped this"
    checks = Check(
        members={
            "provider_id": Check(
                types=("string",),
            ),
            "model_id": Check(
                types=("string",),
            ),
            "job_id": Check(
                types=("string",),
            ),
            "workbench_id": Check(
                types=("string",),
            ),
            "detail": Check(
                types=("string",),
            ),
            "detail_ref": Check(
                types=("string",),
            ),
        },
    )

    def __init__(
        self,
        message: str | None = None,
        *,
        phase: d.Phase,
        provider_id: str | None = None,
        model_id: str | None = None,
        job_id: str | None = None,
        workbench_id: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={
                "provider_id": provider_id,
                "model_id": model_id,
                "job_id": job_id,
                "workbench_id": workbench_id,
                "detail": detail,
                "detail_ref": detail_ref,
            },
            headers=headers,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
        )

    @property
    def details(self) -> d.UserCanceledDetails:
        """The details in the envelope; read only."""
        return t.cast(
            "d.UserCanceledDetails",
            self._details,
        )


# fmt: on
class UnknownError(KeenbenchError):
    """An answer that is not a declared error: an unknown code, another shape, or not
    JSON.

    ``raw`` is the received body, as it came if it could not be decoded.
    ``original_code`` is the value in the place of the code, or None. Neither is safe to
    show. ``replaced_by`` is the code that replaces a removed one.
    ``code`` is None: the taxonomy declares no code for unknown errors.
    """

    __slots__ = ("original_code", "replaced_by")

    code = None  # the taxonomy declares no code for unknown errors
    facts = Facts(
        wire="unknown",
        status=None,
        statuses=(),
        retriable="never",
        client_action="none",
        effect="unknown",
    )
    summary = "The answer is not a known error"  # fmt: skip
    default_message = "The answer is not a known error"  # fmt: skip
    flag_key = None

    # fmt: off
    def __init__(
        self,
        message: str | None = None,
        *,
        raw: object,
        original_code: str | int | None = None,
        replaced_by: ErrorCode | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        phase: d.Phase | None = None,
        subphase: d.Subphase | None = None,
        actions: Sequence[str] | None = None,
        request_id: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            message,
            details={},
            retriable=False,
            retry_after=retry_after,
            phase=phase,
            subphase=subphase,
            actions=actions,
            request_id=request_id,
            headers=headers,
        )
        self.status = status
        self.raw = raw
        self.original_code = original_code
        self.replaced_by = replaced_by

    # fmt: on
    def __str__(self) -> str:
        return f"unknown error (status {self.status}, code {self.original_code!r})"

    def __reduce__(self) -> tuple[object, ...]:
        own = {name: getattr(self, name) for name in UnknownError.__slots__}
        return restored, (UnknownError, {**_state(self), **own})


AnyError: t.TypeAlias = t.Union[  # noqa: UP007  # thousands of bars nest too deep
    EgressConsentRequired,
    EgressBlockedByPolicy,
    ProviderNotConfigured,
    ProviderAuthFailed,
    ProviderRateLimited,
    ProviderUnavailable,
    NetworkUnavailable,
    SandboxViolation,
    ValidationFailed,
    ContextExhausted,
    DiskFull,
    FileReadFailed,
    FileWriteFailed,
    CheckpointCreateFailed,
    CheckpointRestoreFailed,
    BudgetCapReached,
    ConflictPublishedChanged,
    UserCanceled,
    UnknownError,
]
"""Any error that an answer may be. A ``match`` that ends in ``assert_never`` fails type
checking if it lacks a code.
"""

ERRORS: Mapping[ErrorCode, type[KeenbenchError]] = {
    ErrorCode.EGRESS_CONSENT_REQUIRED: EgressConsentRequired,
    ErrorCode.EGRESS_BLOCKED_BY_POLICY: EgressBlockedByPolicy,
    ErrorCode.PROVIDER_NOT_CONFIGURED: ProviderNotConfigured,
    ErrorCode.PROVIDER_AUTH_FAILED: ProviderAuthFailed,
    ErrorCode.PROVIDER_RATE_LIMITED: ProviderRateLimited,
    ErrorCode.PROVIDER_UNAVAILABLE: ProviderUnavailable,
    ErrorCode.NETWORK_UNAVAILABLE: NetworkUnavailable,
    ErrorCode.SANDBOX_VIOLATION: SandboxViolation,
    ErrorCode.VALIDATION_FAILED: ValidationFailed,
    ErrorCode.CONTEXT_EXHAUSTED: ContextExhausted,
    ErrorCode.DISK_FULL: DiskFull,
    ErrorCode.FILE_READ_FAILED: FileReadFailed,
    ErrorCode.FILE_WRITE_FAILED: FileWriteFailed,
    ErrorCode.CHECKPOINT_CREATE_FAILED: CheckpointCreateFailed,
    ErrorCode.CHECKPOINT_RESTORE_FAILED: CheckpointRestoreFailed,
    ErrorCode.BUDGET_CAP_REACHED: BudgetCapReached,
    ErrorCode.CONFLICT_PUBLISHED_CHANGED: ConflictPublishedChanged,
    ErrorCode.USER_CANCELED: UserCanceled,
}
"""The exception of each code that is shared by all operations."""

_BASES: Sequence[type[KeenbenchError]] = (
    KeenbenchError,
    EgressError,
    ProviderError,
    SandboxError,
    StorageError,
    WorkflowError,
)
_KINDS = [
    kind
    for base in _BASES
    for kind in base.__subclasses__()
    if kind is not UnknownError and kind not in _BASES
]
_ALL = {
    (kind.operation, str(kind.facts.wire)): kind
    for kind in sorted(_KINDS, key=lambda kind: kind.operation is not None)
}


def _by_wire() -> dict[str, list[type[KeenbenchError]]]:
    found: dict[str, list[type[KeenbenchError]]] = {}
    for (_, wire), kind in _ALL.items():
        found.setdefault(wire, []).append(kind)
    return found


_BY_WIRE = _by_wire()


# fmt: off
REMOVED: Mapping[tuple[str | None, str], ErrorCode | None] = {}
# fmt: on
"""The replacement of each removed code, by its operation and its value of the code
slot; None if it has none.
"""


def error_class(
    wire: str | int,
    operation: str | None = None,
) -> type[KeenbenchError] | None:
    """The exception for a value of the code slot: the operation's own, else the shared
    one; None if unknown.
    """
    return _find(_ALL, wire, operation)


def replacement(
    wire: str | int,
    operation: str | None = None,
) -> ErrorCode | None:
    """The code that replaces a removed one of the operation, else a shared one."""
    return _find(REMOVED, wire, operation)


def _find(
    table: Mapping[tuple[str | None, str], _Entry],
    wire: str | int,
    operation: str | None,
) -> _Entry | None:
    return table.get((operation, str(wire)), table.get((None, str(wire))))


def error_classes(
    wire: str | int,
) -> Sequence[type[KeenbenchError]]:
    """Every exception for a value of the code slot, of any operation; the shared one
    first.
    """
    return _BY_WIRE.get(str(wire), ())


def lacking(
    error: KeenbenchError,
) -> Sequence[str]:
    """The headers that the error needs under its status and lacks."""
    given = {name.lower() for name in error.headers}
    if error.retry_after is not None:
        given.add("retry-after")
    return [
        name
        for name, on in error.facts.headers
        if name.lower() not in given and any(error.status in span for span in on)
    ]


def _state(
    error: KeenbenchError,
) -> dict[str, object]:
    names = KeenbenchError.__slots__
    return {name: getattr(error, name) for name in names}


def restored(
    kind: type[KeenbenchError],
    state: Mapping[str, object],
) -> KeenbenchError:
    """An error with this state, unchecked. Pickled errors and those read from the wire
    are made so.
    """
    error = kind.__new__(kind)
    for name, value in state.items():
        setattr(error, name, value)
    error.args = (error.message,)
    return error


def known_facts(
    error: KeenbenchError,
) -> dict[str, object]:
    """The facts that an error knows, under the names that rules use."""
    return {"status": error.status, **_own_facts(error)}


def decided(
    rules: Sequence[RetriableRule], facts: Mapping[str, object], *, otherwise: bool
) -> bool:
    """The result of the first rule that holds; ``otherwise`` if none does."""
    for rule in rules:
        if all(_holds(facts.get(fact), values) for fact, values in rule.when):
            return rule.then
    return otherwise


def default_message(
    kind: type[KeenbenchError],
    details: Mapping[str, object],
) -> str:
    """The default message with each ``${key}`` replaced by that detail, and ``$$`` by a
    dollar; the summary if a detail is missing.
    """
    template, parameter = kind.default_message, r"\$\$|\$\{([^}]+)\}"
    if any(key and details.get(key) is None for key in re.findall(parameter, template)):
        return kind.summary
    return re.sub(
        parameter,
        lambda match: _text(details[match[1]]) if match[1] else "$",
        template,
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return str(value)  # of an enumeration's member the string
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def bare(
    kind: type[KeenbenchError],
    *,
    status: int | None = None,
    details: Mapping[str, object] | None = None,
) -> KeenbenchError:
    """An error with its default message, made without the details that it requires."""
    known = dict(details or {})
    names = KeenbenchError.__slots__
    state: dict[str, object] = {
        **dict.fromkeys(names),
        **dict(kind.defaults),
        "_details": known,
        "boundary": next(iter(kind.facts.boundaries), None),
        "headers": {},
        "message": default_message(kind, known),
        "status": kind.facts.status if status is None else status,
    }
    error = restored(kind, state)
    if kind.flag_key is not None:
        flag = error._flag()  # pyright: ignore[reportPrivateUsage]  # of this module
        error._details = {**known, kind.flag_key: flag}  # pyright: ignore[reportPrivateUsage]
    return error


def undeclared(
    original_code: str | int | None = None,
) -> KeenbenchError:
    """The answer to an undeclared error; ``original_code`` stays out of it."""
    return UnknownError(raw=None, status=500)


def entity_tag(value: str) -> str:
    """A validator in the form of the header ``ETag``: in quotes, after its mark of
    weakness (RFC 9110 §8.8.3).
    """
    return value if re.fullmatch(r'(W/)?"[^"]*"', value) else f'"{value}"'


def _sendable(headers: Mapping[str, str | None]) -> dict[str, str]:
    """The headers that have a value. Names have no case; the last of a name counts.

    A name is a token (RFC 9110 section 5.6.2).
    """
    found: dict[str, tuple[str, str]] = {}
    for name, value in headers.items():
        # A caller need not check its types, and a header of another one is not sent.
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the name of a header must be a string, not {name!r}")
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ValueError(f"{name!r} is not the name of a header")
        if value is None:
            continue
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(value).__name__
            raise TypeError(f"the header {name} must be a string, not {kind}")
        found[name.lower()] = (name, value)
    return dict(found.values())


def _allowed_boundary(facts: Facts, boundary: str | None) -> str | None:
    if boundary is None:
        return next(iter(facts.boundaries), None)
    if boundary not in facts.boundaries:
        own = " or ".join(facts.boundaries)
        raise ValueError(f"{facts.wire} comes from {own}, not from {boundary!r}")
    return boundary


def _allowed_status(
    code: ErrorCode | None,
    facts: Facts,
    status: int | None,
    known: Mapping[str, object],
) -> int | None:
    """The given status if it is allowed. Without one, the status that the rules decide
    by the known facts, or the default if several remain.
    """
    possible = _outcomes(facts.status_rules, known)
    if status is None and possible and facts.status not in possible:
        return possible[-1]
    if status is None:
        return facts.status
    if possible and status not in possible:
        allowed = " or ".join(map(str, possible))
        raise ValueError(f"{facts.wire} travels under {allowed} here")
    if status not in facts.statuses and code not in codes_for(status):
        raise ValueError(f"{facts.wire} does not travel under {status}")
    return status


def _outcomes(rules: Sequence[StatusRule], facts: Mapping[str, object]) -> list[int]:
    """The possible results of the rules; an unknown fact leaves both ways open."""
    found: list[int] = []
    for rule in rules:
        known = [(fact, values) for fact, values in rule.when if fact in facts]
        if not all(_holds(facts[fact], values) for fact, values in known):
            continue
        if rule.then not in found:
            found.append(rule.then)
        if len(known) == len(rule.when):
            break
    return found


def _own_facts(error: KeenbenchError) -> dict[str, object]:
    """The facts that an error knows beside its status."""
    facts: dict[str, object] = {
        f"details.{key}": value for key, value in error.details.items()
    }
    return facts


def _holds(fact: object, values: Sequence[object]) -> bool:
    return any(_same(fact, value) for value in values)


def _same(a: object, b: object) -> bool:
    """Equality in JSON: 1 is not true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b
