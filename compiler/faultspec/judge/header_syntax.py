"""The syntax of response headers: a reader says what is wrong with a value, or nothing."""

import re
from collections.abc import Callable, Iterator, Mapping

from faultspec.runtime import http_dates, ids, retry_after

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\uffff]*"')
_SCHEME = re.compile(rf"({_TOKEN})(?: +(.*))?", re.DOTALL)
_PARAMETER = re.compile(rf'{_TOKEN}[ \t]*=[ \t]*(?:{_TOKEN}|"(?:[^"\\]|\\.)*")', re.DOTALL)
_TOKEN68 = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def items(value: str) -> Iterator[str]:
    """The elements of a list-valued header (RFC 9110 section 5.6.1); commas in quoted strings don't separate any."""
    start, quoted, escaped = 0, False, False
    for index, character in enumerate(value):
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            if item := value[start:index].strip(" \t"):
                yield item
            start = index + 1
    if item := value[start:].strip(" \t"):
        yield item


def directives(value: str) -> Mapping[str, str | None]:
    """The directives of a header such as Cache-Control, by lower-case name."""
    found: dict[str, str | None] = {}
    for item in items(value):
        name, equals, argument = item.partition("=")
        found[name.strip().lower()] = argument.strip().strip('"') if equals else None
    return found


def methods(value: str) -> tuple[str, ...]:
    """The methods of an Allow header, as written."""
    return tuple(items(value))


def etag_value(value: str) -> str:
    """A validator without weakness and quotes, for comparison (RFC 9110 section 8.8.3.2, weak comparison)."""
    value = value.strip()
    value = value.removeprefix("W/")
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] == '"' else value


def media_type(value: str) -> tuple[str, Mapping[str, str]]:
    """Type and parameters of a Content-Type, lower case but for the parameters' values."""
    essence, *rest = value.split(";")
    parameters = {}
    for each in rest:
        name, equals, argument = each.partition("=")
        if equals:
            parameters[name.strip().lower()] = argument.strip().strip('"')
    return essence.strip().lower(), parameters


def _retry_after(value: str) -> str | None:
    return retry_after.parse(value, now=0, lenient=False).problem


def _etag(value: str) -> str | None:
    return None if _ETAG.fullmatch(value) else 'an entity tag is a quoted string such as "abc" or W/"abc"'


def _http_date(value: str) -> str | None:
    date = http_dates.parse(value, now=0, lenient=False)
    return "it is no HTTP-date such as `Sun, 06 Nov 1994 08:49:37 GMT`" if date is None else date.problem


def _methods(value: str) -> str | None:
    wrong = [each for each in items(value) if not re.fullmatch(_TOKEN, each)]
    return "it is a list of methods separated by commas" if wrong else None


def _challenge(value: str) -> str | None:
    """RFC 9110 section 11.6.1: a list of challenges, whose own parameters are separated by commas as well."""
    seen = False
    for item in items(value):
        if seen and _PARAMETER.fullmatch(item):
            continue
        scheme = _SCHEME.fullmatch(item)
        if scheme is None:
            return "a challenge begins with a scheme such as Bearer or Basic"
        rest = (scheme[2] or "").strip()
        if rest and not (_PARAMETER.fullmatch(rest) or _TOKEN68.fullmatch(rest)):
            return 'what follows the scheme is a parameter such as realm="api"'
        seen = True
    return None if seen else "a challenge begins with a scheme such as Bearer or Basic"


_READERS: Mapping[str, Callable[[str], str | None]] = {
    "retry-after": _retry_after,
    "etag": _etag,
    "http-date": _http_date,
    "methods": _methods,
    "challenge": _challenge,
}

LISTS = frozenset({"methods", "challenge"})
"""Formats of headers that may come in several lines, which then are one list (RFC 9110 section 5.3)."""


def problem(formats: tuple[str, ...], value: str) -> str | None:
    """What is wrong with a value that should have one of the formats; None if it has one, or one of them is unknown."""
    problems = []
    for each in formats:
        reader = _READERS.get(each)
        if reader is not None:
            found = reader(value)
        elif each in ids.FORMATS:
            found = None if ids.matches((each,), value) else f"it is no {each}"
        else:
            return None
        if found is None:
            return None
        problems.append(found)
    return " and ".join(problems) or None
