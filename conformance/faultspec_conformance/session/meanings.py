"""The status that an error under a status of success stands for, by the name of its code."""

import re

from faultspec.contract.model import Contract
from faultspec.language.model import Code

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

#: The status of invalid input, which an error has whose code tells nothing else.
_OTHERS = 400

#: Words of codes and their status (RFC 9110, 15.5 and 15.6; RFC 6585), the more exact ones first.
_STATUSES = tuple(
    (re.compile(words), status)
    for words, status in (
        (r"internal|server_error|unknown_error|unexpected|fatal|crash", 500),
        (r"not_implemented", 501),
        (r"unavailable|overload|maintenance", 503),
        (r"time(d_)?_?out", 504),
        (r"precondition_required", 428),
        (r"unauthori[sz]ed|unauthenticated|not_auth|no_auth|invalid_auth|auth_required", 401),
        (r"unknown_(caller|user|token)|login_required", 401),
        (r"(bad|invalid|expired|revoked|missing)_(token|credential)|token_(expired|revoked)", 401),
        (r"forbidden|denied|permission|missing_scope|insufficient", 403),
        (r"method_(is_)?(not|un)|unsupported_method", 405),
        (r"not_acceptable", 406),
        (r"(media|post|content)_?type", 415),
        (r"ur[il]_too_long", 414),
        (r"too_(large|big)|payload", 413),
        (r"too_many|throttl|quota|limited|rate_?limit", 429),
        (r"unknown_(field|member|param|propert|argument|key)", 400),
        (r"not_?found|no_such|unknown|not_exist|absent|(^|_)gone|deleted", 404),
        (r"stale|precondition|etag|(version|revision)_(mis|conf)|changed", 412),
        (r"conflict|duplicate|already|exists|taken|in_use|reused", 409),
    )
)


#: The names of codes for invalid input, in any spelling.
_VALIDITY = re.compile(r"valid|malformed|unprocessable|bad_?request|bad_?input", re.IGNORECASE)


def names_invalid_input(code: Code) -> bool:
    """Whether a code has the name of one for whatever input is wrong."""
    return _VALIDITY.search(code.name) is not None


def meant_status(code: str | None) -> int:
    """Return the status of the class of errors that a code names: 404 for ``note_not_found``.

    A code that names no such class, and an error without a readable code, is invalid input.
    """
    words = _HUMP.sub("_", code or "").lower().replace("-", "_").replace(".", "_")
    return next((status for pattern, status in _STATUSES if pattern.search(words)), _OTHERS)


def means_status(code: Code, status: int) -> bool:
    """Whether a code may have a status, or means it where it travels under one of success."""
    in_band = any(range_.low < 300 for range_ in code.http.carried_statuses)
    return code.http.allows(status) or (in_band and meant_status(code.name) == status)


def codes_meaning(contract: Contract, status: int) -> tuple[str, ...]:
    """Return the names of the codes of a taxonomy that stand for a status."""
    codes, named = contract.taxonomy.codes, contract.codes_for(status)
    return tuple(
        name
        for name, code in codes.items()
        if (name in named and code.http.allows(status))
        or (means_status(code, status) and not code.http.allows(status))
    )
