"""Masking of unknown secrets in traffic: values that look like a secret, or whose name says so."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from html import unescape
from itertools import islice
from urllib.parse import parse_qsl, urlsplit

from faultspec.exchange.body import is_too_deep
from faultspec.exchange.model import Exchange, Headers, Response
from faultspec.exchange.sensitive import MASK, NOWHERE_SENSITIVE, SensitivePlaces
from faultspec.leaks import detect
from faultspec.runtime.pointers import steps
from faultspec_conformance.config import CREDENTIALS, SECRET_NAME
from faultspec_conformance.sanitize.decoded import WORD
from faultspec_conformance.sanitize.effort import Effort, Exhausted
from faultspec_conformance.sanitize.masking import (
    FIELDS,
    Masking,
    Message,
    build_masking,
    sensitive_values,
)
from faultspec_conformance.session.observation import leaves

#: A member of an object in JSON, with a text or a number.
_MEMBER = re.compile(
    r'"(?P<name>[^"\\\s]{1,100})"\s{0,8}:\s{0,8}'
    r'(?:"(?P<text>(?:[^"\\]|\\.){1,4096})(?:"|\Z)|(?P<number>-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?))'
)

#: A field of a form with files (RFC 7578, 4.2), with a text of one line.
_FIELD = re.compile(
    r'form-data; name="(?P<name>[^"\r\n]{1,200})"\r?\n(?:[^\r\n]{1,200}\r?\n){0,3}\r?\n'
    r"(?P<text>[^\r\n]{1,4096})"
)

#: An element of XML with a text.
_ELEMENT = re.compile(
    r"<(?:[\w.-]{1,60}:)?(?P<name>[\w.-]{1,100})(?:\s[^<>]{0,200})?>(?P<text>[^<>]{1,4096})</"
)

#: Detectors whose findings are masked. What the others find is what the report is about.
_KINDS = ("secret", "connection-string", "email", "personal-data")

#: Characters of one text that are searched; reports show fewer.
_SEARCHED = 256 * 1024

#: Different secrets that are masked in the messages of one finding. A message with more is hidden.
_MOST = 200

#: Seconds for the messages of one finding, without a limit for all.
_SECONDS = 1.5

#: Characters of a form that are searched for parameters.
_FORM = 4096


def mask_recorded(
    exchanges: Iterable[Exchange], sensitive: SensitivePlaces = NOWHERE_SENSITIVE
) -> Masking:
    """A masking of whatever looks like a secret or an email address in recorded exchanges.

    ``sensitive``: the places that the taxonomy declares as such.
    """
    recorded = [*exchanges]
    messages = [
        (side.headers, side.body) for one in recorded for side in (one.request, one.response)
    ]
    targets = (text for one in recorded for text in _target_secrets(one.request.target))
    masking = _mask(messages, targets, Effort(_SECONDS), sensitive)
    return replace(masking, recorded=True)


def mask_answered(
    exchanges: Iterable[Exchange],
    effort: Effort | None = None,
    sensitive: SensitivePlaces = NOWHERE_SENSITIVE,
) -> Masking:
    """The same for exchanges of a run, whose requests hold known secrets only.

    ``effort``: the time for this and for other exchanges; default: for these. ``sensitive``: the
    places that the taxonomy declares as such.
    """
    messages = [(one.response.headers, one.response.body) for one in exchanges]
    return _mask(messages, (), effort or Effort(_SECONDS), sensitive)


def _mask(
    messages: Iterable[Message],
    further: Iterable[str],
    effort: Effort,
    sensitive: SensitivePlaces,
) -> Masking:
    """A masking of the secrets in messages, as far as they are few and found in time. Others are
    hidden whole.
    """
    found, unsearched = {*islice(further, _MOST)}, set[Message]()
    for message in dict.fromkeys(messages):
        try:
            own = set(found)
            for secret in _message_secrets(*message, effort, sensitive):
                own.add(secret)
                if len(own) > _MOST:
                    raise Exhausted
            found = own
        except Exhausted:
            unsearched.add(message)
    masking = build_masking((), ((text, MASK) for text in found if text))
    return replace(masking, unsearched=frozenset(unsearched), effort=effort, sensitive=sensitive)


@lru_cache(maxsize=4096)  # a recording repeats a few names
def mask_name(name: str) -> str:
    """The name of a service, host, route or operation in a recording, without what looks like a
    secret.
    """
    return build_masking((), ((secret, MASK) for secret in _detect(name))).text(name)


def _target_secrets(target: str) -> Iterator[str]:
    try:
        parts = urlsplit(target)
    except ValueError:  # not a URL, such as an IPv6 address without its end
        parts = urlsplit("")
    yield parts.password or ""
    # A user name alone is often a token, as in `https://TOKEN@host/`.
    if not parts.password and not WORD.fullmatch(parts.username or ""):
        yield parts.username or ""
    yield from _named_parameters(parts.query)
    yield from _detect(target)


def _message_secrets(
    headers: Headers, body: bytes, effort: Effort, sensitive: SensitivePlaces
) -> Iterator[str]:
    for name, value in headers[:FIELDS]:
        if name.lower() in CREDENTIALS or SECRET_NAME.search(name):
            yield from _credential_parts(value)
        elif name.lower().startswith("set-cookie"):
            yield value.partition(";")[0].partition("=")[2]
        yield from _detect(value)
    effort.check()
    yield from sensitive_values(Response(None, headers, body), sensitive)
    effort.check()
    text = body[:_SEARCHED].decode("utf-8", "replace")
    yield from _detect(text)
    members = None
    with suppress(ValueError, RecursionError):
        members = json.loads(text)
    if members is None or is_too_deep(body, members):
        yield from _quoted_members(text, sensitive)
        if "=" in text[:_FORM] and "<" not in text[:64]:
            yield from _named_parameters(text[:_FORM], sensitive)
        yield from _named_elements(text, sensitive)
        yield from _named_fields(text, sensitive)
    else:
        yield from _named_members(members, effort)


def _is_secret(name: str, sensitive: SensitivePlaces) -> bool:
    return sensitive.hides(name) or SECRET_NAME.search(name) is not None


def _quoted_members(text: str, sensitive: SensitivePlaces) -> Iterator[str]:
    """The values of secret members in JSON that is truncated, or in lines or events of JSON."""
    for match in _MEMBER.finditer(text):
        if _is_secret(match["name"], sensitive):
            yield match["number"] or match["text"]


def _credential_parts(credential: str) -> Iterator[str]:
    """The credential without its scheme, and the values of its cookies."""
    yield credential.partition(" ")[2] or credential
    for cookie in credential.split(";"):
        yield cookie.partition("=")[2].strip()


def _detect(text: str) -> Iterator[str]:
    for leak in detect(text, _KINDS):
        yield text[leak.start : leak.end]


def _named_parameters(query: str, sensitive: SensitivePlaces = NOWHERE_SENSITIVE) -> Iterator[str]:
    for name, value in parse_qsl(query):
        if _is_secret(name, sensitive):
            yield value


def _named_elements(text: str, sensitive: SensitivePlaces) -> Iterator[str]:
    """The texts of elements of XML with a secret name."""
    for match in _ELEMENT.finditer(text):
        if _is_secret(match["name"], sensitive):
            yield unescape(match["text"])
            yield match["text"]


def _named_fields(text: str, sensitive: SensitivePlaces) -> Iterator[str]:
    """The texts of fields of a form with files that have a secret name."""
    for match in _FIELD.finditer(text) if "form-data" in text else ():
        if _is_secret(match["name"], sensitive):
            yield match["text"]


def _named_members(body: object, effort: Effort) -> Iterator[str]:
    for pointer, value in leaves(body):
        effort.check()
        names = [name for name in steps(pointer) if not name.isdigit()]
        is_secret = names and SECRET_NAME.search(names[-1]) is not None
        if is_secret and isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(value)
        if isinstance(value, str):
            yield from _detect(value)
