"""Which errors are crashes: failures that a service did not foresee.

A taxonomy tells them apart from transient failures, such as a dependency that is unavailable.
"""

from collections.abc import Set
from dataclasses import replace

from faultspec.exchange.finding import Judgement, Level
from faultspec.language.model import Code, Taxonomy

CLAUSE = "service/no-crash"

EXPLAINED = f"the answer is a crash, which `{CLAUSE}` reports"
"""Why clauses are undecided that only a crash breaks."""

_INDEPENDENT = ("service/", "leaks/", "code/original")
"""Clauses that a crash does not explain. A leak is a mistake of its own; a declared error that was
reported as undeclared is its cause."""

UNLISTED = frozenset({"code/operation"})
"""Clauses that each crash breaks, since operations do not list the code of crashes."""

INTERNAL_ERROR = -32603
"""The number of an internal error (JSON-RPC 2.0 section 5.1)."""

_REFUSED = frozenset({501, 505})
"""A method or version that the server does not support: refusals (RFC 9110, 15.6.2, 15.6.6)."""

_TRANSIENT = frozenset({502, 503, 504})
"""A failure of an upstream, or an overload (RFC 9110, 15.6.3 to 15.6.5)."""


def crash_level(taxonomy: Taxonomy, code: Code | None, status: int | None) -> Level | None:
    """How bad it is that an error with this code and HTTP status comes unasked; None: not at all.

    ``code``: None if the answer has no declared code; then the status decides. The code of
    undeclared errors is a crash under any status. So is a status 500 without such a code. If the
    taxonomy has one, another code under 500 is a failure with a name, which is a warning unless it
    is retriable. Every other declared status is foreseen.
    """
    undeclared = taxonomy.undeclared
    if code is None:
        return (
            None if status is None or status < 500 or status in _REFUSED | _TRANSIENT else "error"
        )
    if undeclared is not None and code.name == undeclared.becomes:
        return "error"
    # Another status than the code's own is that of a surface, or breaks `code/status`.
    if status != 500 or not code.http.allows(status):
        return None
    if undeclared is None:
        return "error"
    return None if code.retriable.may_be_retried else "warning"


def may_fail(taxonomy: Taxonomy, name: str) -> bool:
    """Whether a recipe for the code of this name makes the service fail on purpose.

    A name that no code has is one of an imported form, which may have any status.
    """
    codes = [code for code in taxonomy.every_code() if code.name == name]
    undeclared = taxonomy.undeclared
    return (
        not codes
        or (undeclared is not None and name == undeclared.becomes)
        or any(status >= 500 for code in codes for status in code.http.allowed_statuses())
    )


def is_crash(judgement: Judgement) -> bool:
    """Whether the answer fails the clause about crashes."""
    return any(
        finding.clause == CLAUSE and finding.level == "error" for finding in judgement.findings
    )


def explains(clause: str) -> bool:
    """Whether a crash explains that its answer breaks the clause: both have one cause."""
    return not clause.startswith(_INDEPENDENT)


def without_consequences(judgement: Judgement, *, only: Set[str] | None = None) -> Judgement:
    """The judgement without the findings that a crash explains; their clauses are undecided.

    ``only``: the clauses that are left out; None: all that it explains. Where a crash is a warning,
    the others would be findings of nobody.
    """
    if not is_crash(judgement):
        return judgement
    broken = {found.clause for found in judgement.findings}
    explained = {clause for clause in broken if explains(clause)} if only is None else broken & only
    if not explained:
        return judgement
    return replace(
        judgement,
        findings=tuple(found for found in judgement.findings if found.clause not in explained),
        exercised=judgement.exercised - explained,
        undecided={**judgement.undecided, **dict.fromkeys(sorted(explained), EXPLAINED)},
    )
