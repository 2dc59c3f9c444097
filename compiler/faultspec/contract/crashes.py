"""Which errors are crashes: failures that a service did not foresee.

A taxonomy tells them apart from transient failures, such as a dependency that is unavailable.
"""

from faultspec.language.model import Code, Taxonomy

INTERNAL_ERROR = -32603
"""The number of an internal error (JSON-RPC 2.0 section 5.1)."""

_FORESEEN = frozenset({501, 505})
"""A method or version that the server does not support: refusals (RFC 9110, 15.6.2, 15.6.6)."""

_TRANSIENT = frozenset({502, 503, 504})
"""A failure of an upstream, or an overload (RFC 9110, 15.6.3 to 15.6.5)."""


def is_crash(taxonomy: Taxonomy, code: Code | None, status: int | None) -> bool:
    """Whether an error with this code and HTTP status reports a failure that nobody foresaw.

    ``code``: None if the answer has no declared code. It is the code of undeclared errors, or it
    has a status 5xx and is not transient. Without a code, the status decides.
    """
    undeclared = taxonomy.undeclared
    if code is not None and undeclared is not None and code.name == undeclared.becomes:
        return True
    if status is None or not 500 <= status <= 599 or status in _FORESEEN | _TRANSIENT:
        return False
    if code is None:
        return True
    if not code.http.allows(status):  # the status is that of a surface, or `code/status` is broken
        return False
    transient = code.retriable.may_be_retried and (status != 500 or undeclared is not None)
    return not transient


def may_fail(taxonomy: Taxonomy, name: str) -> bool:
    """Whether a recipe for the code of this name makes the service fail on purpose.

    A name that no code has is one of an imported form, which may have any status.
    """
    codes = [code for code in taxonomy.every_code() if code.name == name]
    undeclared = taxonomy.undeclared
    return (
        not codes
        or (undeclared is not None and name == undeclared.becomes)
        or any(status >= 500 for code in codes for status in code.http.all())
    )
