"""What must not be shown although nobody says that it is secret: what looks like a secret, or is named as one."""

import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, urlsplit

from faultspec.exchange.body import steps
from faultspec.exchange.model import Exchange, Headers
from faultspec.leaks import detect
from faultspec_conformance.config import CREDENTIALS
from faultspec_conformance.sanitize.masking import FIELDS, MASK, Masking, masking
from faultspec_conformance.session.observation import leaves

_SECRET_NAME = re.compile(
    r"pass(?:word|wd|phrase)?$|pwd$|secret|credential|token$|api[_-]?key$|access[_-]?key|private[_-]?key|^authorization$"
    r"|session[_-]?id$|^(?:ssn|pin|cvv|cvc|otp)$|card[_-]?number|signature$|assertion$",
    re.IGNORECASE,
)
"""Names of members and parameters whose value is nobody else's business."""

_KINDS = ("secret", "connection-string", "email")
"""The detectors whose finds are masked where they stand; the others' are what a report is about."""

_SEARCHED = 256 * 1024
"""Characters of one text that are searched; reports show less of it."""


def hiding(exchanges: Iterable[Exchange]) -> Masking:
    """A masking of everything that looks like a secret or a person, in exchanges that somebody else recorded."""
    found = (
        part
        for exchange in exchanges
        for part in (*_asked(exchange), *_told(exchange.response.headers, exchange.response.body))
    )
    return _masked(found)


def traffic_secrets(exchanges: Iterable[Exchange]) -> Masking:
    """The same of what a service answered to a run of ours, whose own secrets are known."""
    return _masked(
        part
        for exchange in exchanges
        for part in _told(exchange.response.headers, exchange.response.body)
    )


def _masked(found: Iterable[str]) -> Masking:
    return masking((), ((each, MASK) for each in dict.fromkeys(found) if each))


def _asked(exchange: Exchange) -> Iterator[str]:
    target = exchange.request.target
    parts = urlsplit(target) if _splits(target) else urlsplit("")
    yield parts.password or ""
    for name, value in parse_qsl(parts.query):
        if _SECRET_NAME.search(name):
            yield value
    yield from _seen(target)
    yield from _told(exchange.request.headers, exchange.request.body)


def _told(headers: Headers, body: bytes) -> Iterator[str]:
    for name, value in headers[:FIELDS]:
        if name.lower() in CREDENTIALS or _SECRET_NAME.search(name):
            yield from _parts(value)
        elif name.lower().startswith("set-cookie"):
            yield value.partition(";")[0].partition("=")[2]
        yield from _seen(value)
    text = body[:_SEARCHED].decode("utf-8", "replace")
    yield from _seen(text)
    yield from _named(text)


def _parts(credential: str) -> Iterator[str]:
    """A credential, and what is left of it without its scheme or its cookies' names."""
    yield credential.partition(" ")[2] or credential
    for each in credential.split(";"):
        yield each.partition("=")[2].strip()


def _splits(target: str) -> bool:
    try:
        urlsplit(target)
    except ValueError:
        return False
    return True


def _seen(text: str) -> Iterator[str]:
    for leak in detect(text, _KINDS):
        yield text[leak.start : leak.end]


def _named(text: str) -> Iterator[str]:
    """Values whose name says that they are secret, in JSON or in a form."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        for name, given in (
            parse_qsl(text[:4096]) if "=" in text[:4096] and "<" not in text[:64] else ()
        ):
            if _SECRET_NAME.search(name):
                yield given
        return
    for pointer, each in leaves(value):
        names = [name for name in steps(pointer) if not name.isdigit()]
        if (
            names
            and _SECRET_NAME.search(names[-1])
            and isinstance(each, str | int)
            and not isinstance(each, bool)
        ):
            yield str(each)
        if isinstance(each, str):
            yield from _seen(each)
