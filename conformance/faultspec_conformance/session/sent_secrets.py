"""The secrets that a request sends, which no answer may repeat: credentials of its own headers and
its query, and members of its body whose names say that they are secret.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl

from faultspec.exchange.model import Canary, Request, first_header
from faultspec.language.model import Taxonomy
from faultspec.openapi.nodes import is_form, is_multipart
from faultspec_conformance.config import CREDENTIALS, Identity, secret_of
from faultspec_conformance.session.base import forbidden_secrets
from faultspec_conformance.session.multipart import read_fields
from faultspec_conformance.session.observation import leaves, parse_body

#: Bytes of the longest body that is looked into. Larger ones are padding.
_LONGEST = 64 * 1024

#: A secret has a digit. Without one it may be a word of any text, such as `invalid_token`.
_SECRET = re.compile(r"(?=[^{}]*\d)[^{}]{8,}")

#: Names of headers, parameters and members whose values are secret. Others have such a word in them
#: and are public, such as `access_key_id` and `page_token`.
_NAME = re.compile(
    r"(?:password|passwd|passphrase|pwd|secret|api[_-]?key|private[_-]?key|secret[_-]?access[_-]?key"
    r"|(?:access|refresh|auth|bearer|id)[_-]?token)$",
    re.IGNORECASE,
)

#: Names of cookies that let their owner in.
_COOKIE = re.compile(r"sess|sid$|auth|token|jwt|remember", re.IGNORECASE)

#: The parameter of the endpoints that revoke and describe tokens (RFC 7009, RFC 7662).
_TOKEN = "token"


def forbidden_values(
    taxonomy: Taxonomy, caller: Identity, request: Request, tenants: Iterable[str]
) -> Iterator[Canary]:
    """Yield the values that must not come back to a caller: its secrets, those that it sent and, by
    `privacy`, the names of its tenant.
    """
    yield from forbidden_secrets(caller)
    yield from sent_secrets(request)
    if taxonomy.privacy is not None and "tenant" in taxonomy.privacy.never_echoed:
        yield from (Canary("tenant", name) for name in tenants)


def sent_secrets(request: Request) -> Iterator[Canary]:
    """Yield the secrets of a request. Variables that are filled in later are not among them."""
    found = (*_header_secrets(request), *_query_secrets(request), *_body_secrets(request))
    for value in dict.fromkeys(found):
        if _SECRET.fullmatch(value):
            yield Canary("secret", value)


def _header_secrets(request: Request) -> Iterator[str]:
    for name, value in request.headers:
        if name.lower() == "cookie":
            pairs = (cookie.strip().partition("=") for cookie in value.split(";"))
            yield from (text.strip('"') for name, _, text in pairs if _COOKIE.search(name))
        elif name.lower() in CREDENTIALS or _NAME.search(name):
            secret = secret_of(name, value)
            yield secret
            if value.lower().startswith("basic "):
                yield _password(secret)


def _password(credentials: str) -> str:
    """The password of Basic credentials (RFC 7617, section 2); empty if they have none."""
    try:
        raw = base64.b64decode(credentials + "=" * (-len(credentials) % 4))
    except ValueError:
        return ""
    return raw.decode("utf-8", "replace").partition(":")[2]


def _query_secrets(request: Request) -> Iterator[str]:
    query = request.target.partition("?")[2]
    yield from (value for name, value in parse_qsl(query) if _NAME.search(name))


def _body_secrets(request: Request) -> Iterator[str]:
    if len(request.body) > _LONGEST:
        return
    media_type = first_header(request.headers, "content-type") or ""
    if is_form(media_type):
        fields = parse_qsl(request.body.decode("utf-8", "replace"))
    elif is_multipart(media_type):
        fields = read_fields(request.body, media_type)
    else:
        yield from _member_secrets(request)
        return
    yield from (value for name, value in fields if name == _TOKEN or _NAME.search(name))


def _member_secrets(request: Request) -> Iterator[str]:
    for pointer, value in leaves(parse_body(request.body)):
        if isinstance(value, str) and _NAME.search(pointer):
            yield value
