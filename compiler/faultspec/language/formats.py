"""Formats of strings: the identifiers of the runtime, and the few others that a schema or a header rule may name."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from faultspec.language.header_syntax import items
from faultspec.runtime import http_dates, ids, retry_after


class Format(NamedTuple):
    """What a string of the format is, after "expected"; and a reader that says what is wrong with one, or nothing."""

    description: str
    problem: Callable[[str], str | None]


def problem(formats: Iterable[str], value: str) -> str | None:
    """What is wrong with a string that should have one of the formats; None if it has one, or one of them is unknown."""
    found = []
    for format_ in formats:
        if format_ not in FORMATS:
            return None
        reason = FORMATS[format_].problem(value)
        if reason is None:
            return None
        found.append(reason)
    return " and ".join(found) or None


def described(formats: Iterable[str]) -> str:
    """What a string of any of the formats is, in words."""
    return " or ".join(FORMATS[format_].description for format_ in formats)


def _matching(pattern: str, problem: str) -> Callable[[str], str | None]:
    return lambda value: None if re.fullmatch(pattern, value, re.ASCII | re.DOTALL) else problem


def _identifier(name: str) -> Format:
    return Format(
        f"a {name}", lambda value: None if ids.matches((name,), value) else f"it is no {name}"
    )


def _retry_after(value: str) -> str | None:
    return retry_after.parse(value, now=0, lenient=False).problem


def _http_date(value: str) -> str | None:
    date = http_dates.parse(value, now=0, lenient=False)
    return (
        "it is no HTTP-date such as `Sun, 06 Nov 1994 08:49:37 GMT`"
        if date is None
        else date.problem
    )


def _methods(value: str) -> str | None:
    wrong = [item for item in items(value) if not re.fullmatch(_TOKEN, item)]
    return "it is a list of methods separated by commas" if wrong else None


def _challenge(value: str) -> str | None:
    """RFC 9110 section 11.6.1: a list of challenges, whose own parameters are separated by commas as well."""
    seen = False
    for item in items(value):
        if seen and re.fullmatch(_PARAMETER, item, re.DOTALL):
            continue
        scheme = re.fullmatch(rf"({_TOKEN})(?: +(.*))?", item, re.DOTALL)
        if scheme is None:
            return "a challenge begins with a scheme such as Bearer or Basic"
        rest = (scheme[2] or "").strip()
        if rest and not (
            re.fullmatch(_PARAMETER, rest, re.DOTALL) or re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", rest)
        ):
            return 'what follows the scheme is a parameter such as realm="api"'
        seen = True
    return None if seen else "a challenge begins with a scheme such as Bearer or Basic"


_DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = rf'{_TOKEN}[ \t]*=[ \t]*(?:{_TOKEN}|"(?:[^"\\]|\\.)*")'

LISTS = frozenset({"methods", "challenge"})
"""Formats of headers that may come in several lines, which then are one list (RFC 9110 section 5.3)."""

FORMATS: Mapping[str, Format] = {
    **{name: _identifier(name) for name in ids.FORMATS},
    # RFC 3339 section 5.6
    "date-time": Format(
        "a date and time such as 2026-02-03T04:05:06Z",
        _matching(f"{_DATE}[Tt ]{_TIME}", "it is no date-time"),
    ),
    "date": Format("a date such as 2026-02-03", _matching(_DATE, "it is no date")),
    # RFC 3986 section 3: a scheme, and nothing but visible ASCII
    "uri": Format("a URI", _matching("[A-Za-z][A-Za-z0-9+.-]*:[!-~]*", "it is no URI")),
    # RFC 3986 section 4.1: that, or one without a scheme; the characters that none may have are left out
    "uri-reference": Format(
        "a URI reference", _matching(r"""[!#-;=?-\[\]_a-z~]*""", "it is no URI reference")
    ),
    "email": Format("an email address", _matching(r"[^@\s]+@[^@\s]+", "it is no email address")),
    # RFC 9110 sections 10.2.3, 8.8.3, 5.6.7, 10.2.1 (the list may be empty) and 11.6.1
    "retry-after": Format("a whole number of seconds or an HTTP-date", _retry_after),
    "etag": Format(
        'a quoted string such as "abc" or W/"abc"',
        _matching(
            r'(?:W/)?"[^\x00- "\x7f]*"', 'an entity tag is a quoted string such as "abc" or W/"abc"'
        ),
    ),
    "http-date": Format("a date such as Sun, 06 Nov 1994 08:49:37 GMT", _http_date),
    "methods": Format("a list of methods such as GET, HEAD", _methods),
    "challenge": Format("a scheme such as Bearer, perhaps with parameters", _challenge),
}
