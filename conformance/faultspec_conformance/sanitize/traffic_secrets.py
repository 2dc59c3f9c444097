"""Masking of unknown secrets in traffic: values that look like a secret, or whose name says so."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from urllib.parse import urlsplit

from faultspec.exchange.body import is_too_deep
from faultspec.exchange.model import Exchange, Headers, Response
from faultspec.exchange.sensitive import MASK, NOWHERE_SENSITIVE, SensitivePlaces
from faultspec.leaks import detect
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
from faultspec_conformance.session.named_secrets import find_named_secrets, find_query_secrets
from faultspec_conformance.session.observation import leaves
from faultspec_conformance.session.secret_names import is_readable

#: Detectors whose findings are masked. What the others find is what the report is about.
_KINDS = ("secret", "connection-string", "email", "personal-data")

#: Characters of one text that are searched; reports show fewer.
_SEARCHED = 256 * 1024

#: Different secrets that are masked in the messages of one finding. A message with more is hidden.
_MOST = 200

#: Seconds for the messages of one finding, without a limit for all.
_SECONDS = 1.5

#: Last words in the names of headers with a secret, unless the value is a word or a number.
_HEADER_WORDS = frozenset({"auth", "authentication", "session", "sid", "csrf", "xsrf", "jwt"})

#: Words in the names of headers with a key that is not a credential.
_OTHER_KEYS = frozenset(
    {
        *("idempotency", "deduplication", "dedup", "request", "cache", "surrogate", "websocket"),
        *("partition", "routing", "sort", "shard", "object", "public"),
    }
)

#: The header in which browsers send the secret of a WebSocket, beside names of protocols.
_PROTOCOLS = "sec-websocket-protocol"

#: The name of a protocol, such as `v12.stomp`.
_PROTOCOL = re.compile(r"[A-Za-z]{1,16}\d{0,3}(?:[._-][A-Za-z]{0,16}\d{0,3}[a-z]?){0,6}")


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
    yield from find_query_secrets(parts.query)
    yield from _detect(target)


def _message_secrets(
    headers: Headers, body: bytes, effort: Effort, sensitive: SensitivePlaces
) -> Iterator[str]:
    for name, value in headers[:FIELDS]:
        if _holds_secret(name, value):
            yield from _credential_parts(value)
        elif name.lower() == _PROTOCOLS:
            yield from _protocol_secrets(value)
        elif name.lower().startswith("set-cookie"):
            yield value.partition(";")[0].partition("=")[2]
        yield from _detect(value)
    effort.check()
    yield from sensitive_values(Response(None, headers, body), sensitive)
    effort.check()
    text = body[:_SEARCHED].decode("utf-8", "replace")
    yield from _detect(text)
    for secret in find_named_secrets(text, sensitive.hides):
        effort.check()
        yield secret
    with suppress(ValueError, RecursionError):
        members = json.loads(text)
        if not is_too_deep(body, members):
            yield from _detect_members(members, effort)


def _holds_secret(name: str, value: str) -> bool:
    """Whether the value of a header is a credential or another secret, by its name."""
    if name.lower() in CREDENTIALS or SECRET_NAME.search(name):
        return True
    words = name.lower().split("-")
    is_key = words[-1] == "key" and _OTHER_KEYS.isdisjoint(words)
    is_likely = is_key or words[-1] in _HEADER_WORDS or "signature" in words
    return is_likely and not is_readable(value)


def _protocol_secrets(value: str) -> Iterator[str]:
    """The items behind the name of a scheme or a secret, and those that name no protocol."""
    before = ""
    for item in map(str.strip, value.split(",")):
        named = before.lower() == "bearer" or SECRET_NAME.search(before)
        if named or not _PROTOCOL.fullmatch(item):
            yield item
        before = item


def _credential_parts(credential: str) -> Iterator[str]:
    """The credential without its scheme, and the values of its cookies."""
    yield credential.partition(" ")[2] or credential
    for cookie in credential.split(";"):
        yield cookie.partition("=")[2].strip()


def _detect(text: str) -> Iterable[str]:
    return _find_secrets(text) if len(text) > _REMEMBERED else _recall_secrets(text)


def _find_secrets(text: str) -> tuple[str, ...]:
    return tuple(text[leak.start : leak.end] for leak in detect(text, _KINDS))


#: A run masks what it found so far now and then, and the same answers stand for several findings.
_recall_secrets = lru_cache(maxsize=512)(_find_secrets)

#: Characters of a text whose secrets are remembered, so that all of them take 32 MiB at most.
_REMEMBERED = 64 * 1024


def _detect_members(body: object, effort: Effort) -> Iterator[str]:
    for _, value in leaves(body):
        effort.check()
        if isinstance(value, str):
            yield from _detect(value)
