"""The lint on the five documents: every known defect that a text can show is found at its place.

``fixtures/seeds`` has each document, transcribed without rulings and repairs. ``F`` are the seven
defects of the field survey, ``X`` the contradictions and open questions of the requirements.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from faultspec.diagnostics.model import Diagnostic
from faultspec.language import load
from faultspec.lint import BY_ID, check
from paths import TESTS

SEEDS = TESTS / "fixtures" / "seeds"
DOCUMENTS = ("aileron", "alknet", "core_platform", "keenbench", "theodosia")

#: document, rule (or diagnostic of the language), place
Located = tuple[str, str, str]

KEENBENCH_CODES = (
    "EGRESS_CONSENT_REQUIRED", "EGRESS_BLOCKED_BY_POLICY", "PROVIDER_NOT_CONFIGURED", "PROVIDER_AUTH_FAILED",
    "PROVIDER_RATE_LIMITED", "PROVIDER_UNAVAILABLE", "NETWORK_UNAVAILABLE", "SANDBOX_VIOLATION", "VALIDATION_FAILED",
    "CONTEXT_EXHAUSTED", "DISK_FULL", "FILE_READ_FAILED", "FILE_WRITE_FAILED", "CHECKPOINT_CREATE_FAILED",
    "CHECKPOINT_RESTORE_FAILED", "BUDGET_CAP_REACHED", "CONFLICT_PUBLISHED_CHANGED", "USER_CANCELED",
)  # fmt: skip


def findings(document: str, rule: str, *places: str) -> tuple[Located, ...]:
    """The findings of one rule in one document."""
    return tuple((document, rule, place) for place in places)


UNMAPPED = findings(
    "core_platform", "unmapped-code", "codes/constraint_violation", "codes/serialization_failure"
)
NO_ULID = findings(
    "core_platform", "bad-example", "codes/invalid_request/example/slots/correlation_id"
)
REFETCH = findings(
    "core_platform", "example-contradicts-flag", "codes/stale_read/example/details/retryable"
)
CACHEABILITY = findings(
    "core_platform", "header-rule-undone", "headers/Cache-Control/1", "headers/Cache-Control/3"
)
SHARED_RANGE = findings("core_platform", "undecided-status", "codes/dependency_unavailable/http")
IF_NONE_MATCH = findings("core_platform", "request-header", "headers/If-None-Match")
ALLOW_LIST = findings("aileron", "retriable-not-eligible", "retry_policies/runtime/eligible")
DEPENDS_ON_STATUS = findings(
    "aileron", "retriable-without-else", "codes/external_api_error/retriable"
)
INCOMPLETE = tuple(
    finding
    for code in ("unknown_action", "validation_failed", "action_error")
    for finding in findings("theodosia", "example-incomplete", f"codes/{code}/example")
)

#: The findings of each defect, or why the text of the document does not show it.
DEFECTS: Mapping[str, tuple[Located, ...] | str] = {
    "F1": UNMAPPED,
    "F2": NO_ULID,
    "F3": REFETCH,
    "F4": CACHEABILITY,
    "F5": (*SHARED_RANGE, *IF_NONE_MATCH),
    "F6": (*ALLOW_LIST, *DEPENDS_ON_STATUS),
    "F7": (*findings("aileron", "annotated-count", "codes/network_error/example/1/details/retried"), *INCOMPLETE),
    "X01": NO_ULID,
    "X02": findings("aileron", "example-contradicts-flag", "codes/network_error/example/0/slots/retriable"),
    "X03": findings("core_platform", "details-optional-and-required", "surfaces/batch/requires_details"),
    "X04": UNMAPPED,
    "X05": "A silence of all five documents; the language has a default for it, which contradicts nothing they say.",
    "X06": CACHEABILITY,
    "X07": IF_NONE_MATCH,
    "X08": findings("core_platform", "unmapped-status", "codes"),
    "X09": REFETCH,
    "X10": findings("core_platform", "idempotency-left-open", "idempotency", "idempotency"),
    "X11": findings("core_platform", "echo-unguarded", "envelopes/error/fields/correlation_id/echo"),
    "X12": findings("core_platform", "replay-echo", "idempotency/replay/equal"),
    "X13": INCOMPLETE[:1],
    "X14": "Two documents contradict each other; Theodosia's own says nothing against passing an exception on.",
    "X15": (
        *(finding for code in KEENBENCH_CODES for finding in findings("keenbench", "slot-without-fact", f"codes/{code}")),
    ),
    "X16": "Two documents use different words; each is consistent in itself.",
    "X17": "Two documents use different words; each is consistent in itself.",
    "X18": findings("aileron", "unreachable-surface", "surfaces/others"),
    "X19": DEPENDS_ON_STATUS,
    "X20": ALLOW_LIST,
    "X21": "Several boundaries of one code are legal, and the language takes the first for the default; `user` is unused.",
    "X22": findings("alknet", "original-code-place", "undeclared/original_code"),
    "X23": "What a service does with details that break their schema is behaviour, of which the document says nothing.",
    "X24": "How binding a rule is, is prose; the language refuses every collision, and the document declares none.",
    "X25": "The contradiction is with another source that the document only quotes; it declares no such code itself.",
    "X26": findings(
        "alknet",
        "slot-without-fact",
        "codes/INVALID_INPUT",
        "codes/INVALID_OPERATION_TYPE",
        "operations/readFile/errors/PERMISSION_DENIED",
        "operations/createMachine/errors/INSUFFICIENT_CREDITS",
        "operations/chat/errors/CONTEXT_OVERFLOW",
    ),
    "X27": "One code has two meanings in a sentence; the document gives it no status, so none contradicts.",
    "X28": (
        *findings("core_platform", "ambiguous-status", "codes/validation_failed", "codes/scope_insufficient"),
        *SHARED_RANGE,
    ),
    "X29": "“Typical” is a word of a heading; a map has no construct for how much it is meant.",
    "X30": "What nobody can see from outside contradicts nothing; it is an obligation.",
    "X31": "Theodosia has no HTTP statuses, which contradicts the other documents, not itself.",
    "X32": findings("keenbench", "jsonrpc-without-protocol", "surfaces/engine"),
    "X33": "Two documents use one word differently; each is consistent in itself.",
    "X34": (
        *findings("core_platform", "dangling-reference", "surfaces/batch/bad_items", "surfaces/stream/requires_details/1"),
        *findings(
            "core_platform",
            "unregistered-detail",
            "codes/invalid_request/details/bad_items?",
            "codes/validation_failed/details/bad_items?",
            "codes/conflict/details/existing_id",
        ),
        *findings(
            "core_platform",
            "untyped-detail",
            "codes/invalid_request/details/bad_items?",
            "codes/validation_failed/details/bad_items?",
            "codes/conflict/details/existing_id",
        ),
    ),
    "X35": findings("core_platform", "never-echoed", "codes/invalid_request/example"),
    "X36": findings("aileron", "policy-arithmetic", "retry_policies/runtime/jitter"),
    "X37": findings(
        "core_platform",
        "missing-key",
        "retry_policies/honoring",
        "retry_policies/honoring/backoff",
        "retry_policies/exponential",
        "retry_policies/exponential/backoff",
        "retry_policies/linear",
        "retry_policies/linear/backoff/0",
        "retry_policies/linear/backoff/1",
    ),
    "X38": "The language has no construct for which terms go together, and the document only lists them.",
    "X39": "The other conditions are in later versions of the service; the document says five, and has five.",
}  # fmt: skip

#: Omissions in neither list: statuses of Aileron's classes (its source has them), and examples.
LEFT_OUT: tuple[Located, ...] = (
    *(
        finding
        for code in (
            "capability_denied", "binding_required", "binding_failed", "resource_limit_exceeded",
            "connector_runtime_error", "network_error", "external_api_error", "hash_mismatch", "signature_failure",
        )
        for finding in findings("aileron", "unmapped-code", f"codes/{code}")
    ),
    *findings("aileron", "unmapped-status", "codes"),
    *findings("core_platform", "profile-missing", "surfaces"),
    *(
        finding
        for code in (
            "unsupported_media_type", "unauthenticated", "forbidden", "scope_insufficient", "not_found", "conflict",
            "already_exists", "timeout", "dependency_unavailable", "internal_error",
        )
        for finding in findings("core_platform", "example-missing", f"codes/{code}")
    ),
    *(
        finding
        for code in ("NOT_FOUND", "FORBIDDEN", "INVALID_INPUT", "INVALID_OPERATION_TYPE", "INTERNAL", "TIMEOUT")
        for finding in findings("alknet", "example-missing", f"codes/{code}")
    ),
    *findings(
        "alknet",
        "example-missing",
        "operations/readFile/errors/PERMISSION_DENIED",
        "operations/createMachine/errors/INSUFFICIENT_CREDITS",
        "operations/createMachine/errors/RATE_LIMITED",
        "operations/chat/errors/CONTEXT_OVERFLOW",
    ),
    *(finding for code in KEENBENCH_CODES for finding in findings("keenbench", "example-missing", f"codes/{code}")),
    *findings("alknet", "retry-unsafe", "codes/TIMEOUT/retriable"),
)  # fmt: skip


@cache
def diagnostics_of(document: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a transcription."""
    return check(load(str(SEEDS / f"{document}.yaml")))


def reported() -> Iterator[Located]:
    """The findings of all documents with their places."""
    for document in DOCUMENTS:
        for diagnostic in diagnostics_of(document):
            yield document, diagnostic.code, "/".join(map(str, diagnostic.pointer))


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_defect_is_found_or_explained(defect: str) -> None:
    """One run reports every defect of the table at its place."""
    found = DEFECTS[defect]
    if isinstance(found, str):
        assert found.endswith("."), "a reason is a sentence"
    else:
        assert found
        assert not Counter(found) - Counter(reported())


def test_nothing_else_is_reported() -> None:
    """Every diagnostic is about a defect of the table or an omission."""
    tabled = {
        finding for found in DEFECTS.values() if not isinstance(found, str) for finding in found
    } | set(LEFT_OUT)
    assert set(reported()) == tabled


def test_the_table_is_whole() -> None:
    """The table has 7 defects and 39 entries in order, and names only existing rules."""
    assert list(DEFECTS) == [*(f"F{n}" for n in range(1, 8)), *(f"X{n:02}" for n in range(1, 40))]
    of_the_language = {"unmapped-code", "bad-example", "missing-key", "dangling-reference"}
    assert {rule for _, rule, _ in reported()} - set(BY_ID) == of_the_language


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_transcriptions_have_no_ruling(document: str) -> None:
    """A transcription has no ruling and no suppression, and the lint reads all of it."""
    loaded = load(str(SEEDS / f"{document}.yaml"))
    model = loaded.taxonomy or loaded.draft
    assert model is not None
    assert not model.rulings
    assert "faultspec: ignore" not in (SEEDS / f"{document}.yaml").read_text(encoding="utf-8")
