"""The secrets inside a credential: what stands behind its scheme or in a cookie, and what Basic
(RFC 7617) and JSON Web Tokens (RFC 7519) encode.
"""

import base64
import json
import re
from collections.abc import Iterator

from faultspec.exchange.body import is_too_deep
from faultspec_conformance.session.observation import leaves

#: Three segments of base64url (RFC 7515, section 3.1). An unsigned token has an empty third one.
_TOKEN = re.compile(r"([\w-]{8,})\.([\w-]{8,})\.([\w-]*)")

#: A scheme and what follows it (RFC 9110, section 11.4), as one variable may have them.
_WITH_SCHEME = re.compile(r"[A-Za-z][\w-]{0,30} +(\S+)")

#: The value of a header with cookies (RFC 6265, section 4.2.1).
_COOKIES = re.compile(r"[\w.-]{1,100}=[^;\s]+(?:; ?[\w.-]{1,100}=[^;\s]+)*;?")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{4,}={0,2}")

#: A parameter of a credential (RFC 9110, section 11.4) whose value is computed from a secret, as of
#: Digest (RFC 7616) and AWS Signature Version 4.
_PARAMETER = re.compile(
    r"\b(?:response|signature|cnonce|mac|hash|token|key|credential)=\"?([^\s\",;]{16,})",
    re.IGNORECASE,
)

#: A user name that may be a word of any text, such as `admin`.
WORD = re.compile(r"[A-Za-z]{1,16}")

#: Characters. Shorter segments and claims, such as a role, occur in texts by chance.
_SHORTEST = 8

#: Claims that are not about the caller (RFC 7519, section 4.1; RFC 8693, section 4.2): masking them
#: would mask the address of the service.
_PUBLIC = frozenset({"iss", "aud", "scope", "typ", "azp", "client_id"})


_URL_SAFE = str.maketrans("+/", "-_")


def decode_secrets(credential: str) -> Iterator[str]:
    """Yield the secret parts of a credential: what follows its scheme; the values of cookies; user
    name and password of Basic, but not a user name that is a plain word; segments and claims of a
    token.
    """
    behind = _WITH_SCHEME.fullmatch(credential)
    if behind is not None:
        yield behind[1]
        yield from decode_secrets(behind[1])
        return
    if _COOKIES.fullmatch(credential):
        for cookie in credential.rstrip(";").split(";"):
            value = cookie.partition("=")[2]
            if len(value) >= _SHORTEST:
                yield value
                yield from decode_secrets(value)
    yield from (found[1] for found in _PARAMETER.finditer(credential))
    token = _TOKEN.fullmatch(credential)
    if token is not None:
        yield from (segment for segment in token.groups() if len(segment) >= _SHORTEST)
        yield from _claims(token[2])
    elif _BASE64.fullmatch(credential):
        user, colon, password = _decode_basic(credential).partition(":")
        if colon and f"{user}{password}".replace("\t", "").isprintable():
            yield f"{user}:{password}"
            yield password
            if WORD.fullmatch(user) is None:
                yield user


def _decode_basic(text: str) -> str:
    """The user and the password in base64 or base64url, in UTF-8 or, as older clients write them,
    in Latin-1; empty if it is neither.
    """
    try:
        raw = base64.urlsafe_b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4))
    except ValueError:
        return ""
    try:
        return raw.decode("utf-8")
    except ValueError:
        return raw.decode("latin-1")


def _claims(segment: str) -> Iterator[str]:
    text = _decode(segment.replace("-", "+").replace("_", "/"))
    try:
        claims = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(claims, dict) or is_too_deep(text.encode(), claims):
        return
    kept = {name: value for name, value in claims.items() if name not in _PUBLIC}
    for _, value in leaves(kept):
        if isinstance(value, str) and len(value) >= _SHORTEST:
            yield value


def _decode(text: str) -> str:
    """The decoded text; empty if it is not UTF-8 in base64."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode("utf-8")
    except ValueError:
        return ""
