"""Formats of strings for schemas and header rules: the runtime's identifiers, and a few others."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from faultspec.language.header_syntax import items
from faultspec.runtime import http_dates, ids, retry_after


class Format(NamedTuple):
    """A noun phrase for the format, and a check that returns a problem or None."""

    description: str
    problem: Callable[[str], str | None]


def format_problem(formats: Iterable[str], value: str) -> str | None:
    """Why a string has none of the formats; None if it has one, or if one of them is unknown."""
    found = [FORMATS[name].problem(value) if name in FORMATS else None for name in formats]
    return " and ".join(filter(None, found)) or None if None not in found else None


def describe_formats(formats: Iterable[str]) -> str:
    """A noun phrase for a string of any of the formats."""
    return " or ".join(FORMATS[name].description for name in formats)


def _pattern_check(pattern: str, problem: str) -> Callable[[str], str | None]:
    return lambda value: None if re.fullmatch(pattern, value, re.ASCII | re.DOTALL) else problem


def _identifier(name: str) -> Format:
    message = f"it is not a {name}"
    return Format(f"a {name}", lambda value: None if ids.matches((name,), value) else message)


def _retry_after(value: str) -> str | None:
    return retry_after.parse(value, now=0, lenient=False).problem


def _http_date(value: str) -> str | None:
    date = http_dates.parse(value, now=0, lenient=False)
    if date is None:
        return "it is not an HTTP-date such as `Sun, 06 Nov 1994 08:49:37 GMT`"
    return date.problem


def _methods(value: str) -> str | None:
    wrong = [item for item in items(value) if not re.fullmatch(_TOKEN, item)]
    return "it is a list of methods separated by commas" if wrong else None


def _challenge(value: str) -> str | None:
    """RFC 9110 section 11.6.1: commas separate challenges, and the parameters of one challenge."""
    in_challenge = False
    for item in items(value):
        if in_challenge and re.fullmatch(_PARAMETER, item, re.DOTALL):
            continue
        scheme = re.fullmatch(rf"({_TOKEN})(?: +(.*))?", item, re.DOTALL)
        if scheme is None:
            return "a challenge begins with a scheme such as Bearer or Basic"
        rest = (scheme[2] or "").strip()
        if rest and not (
            re.fullmatch(_PARAMETER, rest, re.DOTALL) or re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", rest)
        ):
            return 'the scheme is followed by a parameter such as realm="api"'
        in_challenge = True
    return None if in_challenge else "a challenge begins with a scheme such as Bearer or Basic"


_DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = rf'{_TOKEN}[ \t]*=[ \t]*(?:{_TOKEN}|"(?:[^"\\]|\\.)*")'

_ITEM = r"""(?:"[^"\\]*"|[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*)"""
_ITEM_PARAMETER = r'; *[a-z*][a-z0-9_.*-]*(?:=(?:-?\d+(?:\.\d+)?|"[^"\\]*"|\?[01]|[A-Za-z*]\S*?))?'
_RATE_LIMITS = rf"{_ITEM}(?:{_ITEM_PARAMETER})*(?:[ \t]*,[ \t]*{_ITEM}(?:{_ITEM_PARAMETER})*)*"

ENTITY_TAG = r'(?:W/)?"[^\x00- "\x7f]*"'
"""The expression of an `ETag` (RFC 9110 section 8.8.3)."""

LISTS = frozenset({"methods", "challenge", "ratelimit"})
"""Formats of headers whose lines combine to one list (RFC 9110 section 5.3)."""

FIELDS: Mapping[str, str] = {
    "ETag": "etag",
    "Last-Modified": "http-date",
    "Location": "uri-reference",
}
"""The formats of header fields on any status (RFC 9110 sections 8.8.3, 8.8.2 and 10.2.2)."""

FORMATS: Mapping[str, Format] = {
    **{name: _identifier(name) for name in ids.FORMATS},
    # RFC 3339 section 5.6
    "date-time": Format(
        "a date and time such as 2026-02-03T04:05:06Z",
        _pattern_check(f"{_DATE}[Tt ]{_TIME}", "it is not a date-time"),
    ),
    "date": Format("a date such as 2026-02-03", _pattern_check(_DATE, "it is not a date")),
    # RFC 3986 section 3: a scheme, and visible ASCII only
    "uri": Format("a URI", _pattern_check("[A-Za-z][A-Za-z0-9+.-]*:[!-~]*", "it is not a URI")),
    # RFC 3986 section 4.1: the scheme is optional; the characters allowed in any part
    "uri-reference": Format(
        "a URI reference", _pattern_check(r"""[!#-;=?-\[\]_a-z~]*""", "it is not a URI reference")
    ),
    "email": Format(
        "an email address", _pattern_check(r"[^@\s]+@[^@\s]+", "it is not an email address")
    ),
    # RFC 9110 sections 10.2.3, 8.8.3, 5.6.7, 10.2.1 (the list may be empty) and 11.6.1
    "retry-after": Format("a whole number of seconds or an HTTP-date", _retry_after),
    "etag": Format(
        'a quoted string such as "abc" or W/"abc"',
        _pattern_check(ENTITY_TAG, 'an entity tag is a quoted string such as "abc" or W/"abc"'),
    ),
    "http-date": Format("a date such as Sun, 06 Nov 1994 08:49:37 GMT", _http_date),
    "methods": Format("a list of methods such as GET, HEAD", _methods),
    "challenge": Format("a scheme such as Bearer, perhaps with parameters", _challenge),
    # RFC 9745 section 2.1: a date of a structured field (RFC 9651 section 3.3.7)
    "deprecation": Format(
        "a moment such as @1688169599",
        _pattern_check(r"@-?\d{1,15}", "it is not a moment such as @1688169599"),
    ),
    # draft-ietf-httpapi-ratelimit-headers: a list of items with parameters (RFC 9651 section 3.1)
    "ratelimit": Format(
        'a list of limits such as "default";r=50;t=30',
        _pattern_check(_RATE_LIMITS, 'it is not a list of limits such as "default";r=50;t=30'),
    ),
}
