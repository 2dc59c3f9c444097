"""Whether a match is the URL of a backend or the name of a bucket, and not one of documentation."""

import re

from faultspec.leaks.evidence.context import EXAMPLE, is_real, text_before
from faultspec.leaks.evidence.hosts import ANY_HOST
from faultspec.leaks.evidence.placeholders import (
    DOCUMENTATION_DOMAIN,
    FORM,
    PLACEHOLDER,
    PLACEHOLDER_HOST,
    PLACEHOLDER_WORD,
)
from faultspec.leaks.pattern import Expression

_CREDENTIALS = Expression(r"^[^:]{1,30}://([^:/@]*):([^/@]*)@\[?([^/:?#\]);,]*)")


def is_real_url(match: re.Match[str]) -> bool:
    """Whether it differs from URLs in documentation, such as ``postgres://user:password@host/db``.

    A masked password leaks nothing; the address of a backing service has a pattern of its own.
    """
    parts = _CREDENTIALS.match(match[0])
    if parts is None:
        host = re.sub(r":\d{2,5}$", "", match[0].partition("://")[2].partition("/")[0])
        return not (PLACEHOLDER_HOST.fullmatch(host) or PLACEHOLDER.search(host))
    user, password, host = parts.groups()
    if PLACEHOLDER.search(password):
        return (
            bool(match.re.flags & re.I)
            and not PLACEHOLDER_HOST.fullmatch(host)
            and not PLACEHOLDER.search(host)
        )
    named = PLACEHOLDER_WORD.fullmatch(password) is not None
    return not (
        PLACEHOLDER_HOST.fullmatch(host)
        and (
            (named and (not user or PLACEHOLDER_WORD.fullmatch(user)))
            or ("example." in host and password.isalpha())
        )
    )


_EXAMPLE_BUCKET = Expression(
    r"^(?:(?:my|your|the|some|test|example)[-.]?)?(?:bucket|example|path)\b", re.I
)


def is_real_bucket(match: re.Match[str]) -> bool:
    """Whether a bucket has a name that documentation does not use."""
    return not _EXAMPLE_BUCKET.search(match["place"]) and is_real(match)


def is_store(match: re.Match[str]) -> bool:
    """Whether the host of a store is outside the domains of documentation."""
    host = match[0].rpartition(":")[0].rpartition("@")[2]
    return not PLACEHOLDER_HOST.fullmatch(host)


def is_internal_url(match: re.Match[str]) -> bool:
    """Whether a URL has a host without a domain, and explains no form."""
    before = text_before(match)
    explains = re.search(
        r"\b(?:redirect|callback|format|form|like|origin|scheme)\b", before, re.I
    ) or EXAMPLE.search(before)
    return not ANY_HOST.fullmatch(match["place"]) and not explains


def is_hidden_place(match: re.Match[str]) -> bool:
    """Whether the host in an address of a backend is not one of documentation."""
    host = re.split(r"[:/,?]", match["place"].rpartition("@")[2])[0]
    return (
        not PLACEHOLDER_HOST.fullmatch(host)
        and not DOCUMENTATION_DOMAIN.search(host)
        and not PLACEHOLDER.search(match["place"])
        and not re.search(r"(?:^|\.)example(?:\.|$)", host)
        and is_real(match)
        and not FORM.search(text_before(match))
    )


def is_real_jdbc(match: re.Match[str]) -> bool:
    """Whether a JDBC URL names a host, and not the word for one."""
    host = re.split(r"[:/;,?]", match[0].partition("://")[2])[0]
    return (
        not host
        or not (PLACEHOLDER_HOST.fullmatch(host) or PLACEHOLDER.search(host))
        or ("password=" in match[0].lower())
    )
