"""The secrets that a request sends, which no answer may repeat: credentials of its own headers, and
members of its body whose names say that they are secret.
"""

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

from faultspec.exchange.model import Canary, Request, first_header
from faultspec_conformance.config import CREDENTIALS, SECRET_NAME, secret_of
from faultspec_conformance.session.resources import is_form

#: Bytes of the longest body that is looked into. Larger ones are padding.
_LONGEST = 64 * 1024

#: A secret has a digit. Without one it may be a word of any text, such as `invalid_token`.
_SECRET = re.compile(r"(?=[^\s{}]*\d)[^\s{}]{8,}")

#: Names of tokens that are not secret: places in lists, and what guards against forged requests.
_PUBLIC_TOKEN = re.compile(r"page|cursor|next|continu|sync|[cx]srf", re.IGNORECASE)


def sent_secrets(request: Request) -> Iterator[Canary]:
    """Yield the secrets of a request. Variables that are filled in later are not among them."""
    for value in dict.fromkeys((*_header_secrets(request), *_body_secrets(request))):
        if _SECRET.fullmatch(value):
            yield Canary("secret", value)


def _header_secrets(request: Request) -> Iterator[str]:
    for name, value in request.headers:
        if name.lower() not in CREDENTIALS and not _is_secret(name):
            continue
        if name.lower() == "cookie":
            yield from (cookie.partition("=")[2] for cookie in value.split("; "))
            continue
        secret = secret_of(name, value)
        yield secret
        if value.lower().startswith("basic "):
            yield _password(secret)


def _password(credentials: str) -> str:
    """The password of Basic credentials (RFC 7617, section 2); empty if they have none."""
    try:
        return base64.b64decode(credentials).decode().partition(":")[2]
    except ValueError:
        return ""


def _body_secrets(request: Request) -> Iterator[str]:
    if len(request.body) > _LONGEST:
        return
    text = request.body.decode("utf-8", "replace")
    if is_form(first_header(request.headers, "content-type") or ""):
        members: list[tuple[str, object]] = [*parse_qsl(text)]
    else:
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            return
        members = [*body.items()] if isinstance(body, dict) else []
    for name, value in members:
        if _is_secret(name) and isinstance(value, str):
            yield value


def _is_secret(name: str) -> bool:
    return SECRET_NAME.search(name) is not None and not _PUBLIC_TOKEN.search(name)
