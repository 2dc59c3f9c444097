"""Worthless credentials: made up, empty, of another scheme, hard to read, or real ones altered."""

import base64
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from faultspec.openapi.service import Scheme, ServiceOperation
from faultspec_conformance.config import CREDENTIALS, Identity, is_credential
from faultspec_conformance.config.context import SAVED_NAME
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.sampling.tokens import Tokens

MADE_UP = "with a made-up token"
ALTERED = "with credentials of the caller that were altered"
EMPTY, OTHER = "with an empty token", "with another scheme"
_NOT_BASE64 = "with credentials that are not base64"
_NO_COLON = "with credentials without a password"
_UNSIGNED = "with a JSON Web Token without a signature"
_BROKEN = "with a JSON Web Token that breaks off"

#: Credentials that a parser may not survive, by scheme: those of Basic are base64 of a user, a
#: colon and a password (RFC 7617); a token may be signed by nobody (RFC 7519, section 6).
ODD: Mapping[str, Mapping[str, str]] = {
    "basic": {_NOT_BASE64: "%!x", _NO_COLON: "bm9ib2R5"},
    "bearer": {
        _UNSIGNED: "eyJhbGciOiJub25lIn0.eyJzdWIiOiJub2JvZHkifQ.",
        _BROKEN: "eyJhbGciOiJIUzI1NiJ9.e30",
    },
}

#: The names of schemes in `Authorization`, by those of the document.
_SCHEMES: Mapping[str, str] = {Scheme("bearer").kind: "Bearer", Scheme("basic").kind: "Basic"}

#: A token with a prefix that tells what it is for, as those of many vendors have.
_PREFIXED = re.compile(
    r"(?P<kept>[A-Za-z0-9]{1,8}(?:[_-][A-Za-z]{1,6})?[_-])?(?P<rest>.*)", re.DOTALL
)

#: A JSON Web Token (RFC 7519): its header, its claims and its signature. Other signed tokens have
#: JSON and a signature alone.
_SIGNED = re.compile(r"(?P<kept>eyJ[\w-]*\.(?:[\w-]+\.)?)(?P<rest>[\w-]+)")

#: Characters of the shortest part of a token whose change cannot hit another token by chance.
_UNGUESSABLE = 8

_ALPHABETS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)


@dataclass(frozen=True, slots=True)
class Carrier:
    """The place of credentials in a request. ``scheme``: that of `Authorization`; None for a key
    and for a token without a scheme.
    """

    where: Literal["header", "query", "cookie"]
    name: str
    scheme: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Where it is and its name, which is compared without case in a header."""
        return self.where, self.name.lower() if self.where == "header" else self.name

    @property
    def is_readable(self) -> bool:
        """Whether any text is credentials of this kind. Other schemes, such as Digest, have a form
        of their own.
        """
        return self.scheme is None or self.scheme.lower() in _SCHEMES


def carriers_of(session: HttpSession, operation: ServiceOperation) -> tuple[Carrier, ...]:
    """Return the places of credentials for an operation, that of the caller first: all that the
    document has for it, or else the usual one.
    """
    usual = _usual_carrier(session)
    found = {
        carrier.place: carrier
        for scheme in operation.schemes
        for carrier in (_declared_carrier(operation, scheme, usual),)
    }
    if not found:
        return () if usual is None else (usual,)
    first = usual.place if usual is not None else None
    return tuple(sorted(found.values(), key=lambda carrier: carrier.place != first))


def _usual_carrier(session: HttpSession) -> Carrier | None:
    """Return the place of the caller's credentials, by their names or by the document."""
    caller = session.caller
    # Others are settings, such as that of a theme; a login fills in the one that lets in.
    cookies = sorted(_cookies(caller), key=lambda one: ("${" in one[1], len(one[1])))
    for name, value in caller.headers:
        if name.lower() == "cookie" and cookies:
            return Carrier("cookie", cookies[-1][0])
        if name.lower() in CREDENTIALS:
            scheme, space, _ = value.partition(" ")
            return Carrier(
                "header", name, scheme if space and name.lower() == "authorization" else None
            )
    declared = [_carrier(scheme) for scheme in session.description.schemes]
    own: list[Carrier] = [
        *(Carrier("header", name) for name, _ in caller.headers),
        *(Carrier("query", name) for name, _ in caller.query),
    ]
    places = {carrier.place for carrier in declared}
    likely = [one for one in own if one.place in places or is_credential(one.name)]
    return next(iter((*likely, *declared, *own)), None)


def _carrier(scheme: Scheme) -> Carrier:
    return Carrier(scheme.where, scheme.name, _SCHEMES.get(scheme.kind))


def _declared_carrier(
    operation: ServiceOperation, scheme: Scheme, usual: Carrier | None
) -> Carrier:
    """Return the place of a declared scheme. The caller's scheme is taken where the document names
    the header alone, and where it names that scheme.
    """
    declared = _carrier(scheme)
    if usual is None or usual.place != declared.place:
        return declared
    known = any(one in _SCHEMES for one in operation.challenges)
    is_named = (usual.scheme or "").lower() in operation.challenges
    return usual if scheme.kind == "key" or not known or is_named else declared


def place_credentials(spec: RequestSpec, carrier: Carrier, value: str) -> RequestSpec:
    """Return a request with credentials in their place."""
    if carrier.where == "query":
        return replace(spec, query={**spec.query, carrier.name: value})
    if carrier.where == "cookie":
        return replace(spec, headers={**spec.headers, "Cookie": f"{carrier.name}={value}"})
    return replace(spec, headers={**spec.headers, carrier.name: value})


def worthless_credentials(carrier: Carrier, token: str, what: str) -> str | None:
    """Return credentials that look real; None if the scheme has none of this kind."""
    scheme = carrier.scheme
    if what == MADE_UP:
        return _credentials(scheme, token)
    if what == EMPTY:
        return scheme or ""
    if scheme is None:
        return None
    if what == OTHER:
        return _credentials("Basic" if scheme.lower() == "bearer" else "Bearer", token)
    odd = ODD.get(scheme.lower(), {}).get(what)
    return None if odd is None else f"{scheme} {odd}"


def _credentials(scheme: str | None, token: str) -> str:
    if scheme is None:
        return token
    if scheme.lower() == "basic":
        return f"{scheme} {_encode(f'nobody:{token}')}"
    return f"{scheme} {token}"


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def altered_credentials(session: HttpSession, carrier: Carrier) -> tuple[str, str] | None:
    """Return the caller's credentials with another secret, and what is new in them: another
    signature of a token, another password of a user, other characters behind a prefix. None if the
    caller has no credentials of this kind.
    """
    own = _own_credentials(session.logins.complete(session.caller), carrier)
    if own is None or not carrier.is_readable or SAVED_NAME.search(own):
        return None
    scheme, secret = carrier.scheme, own
    if scheme is not None:
        secret = own.partition(" ")[2].strip()
    if (scheme or "").lower() == "basic":
        user = _user_of(secret)
        if user is None:
            return None
        token = session.tokens.hex(16)
        altered = _encode(f"{user}:{token}")
    else:
        altered, token = _alter_token(secret, session.tokens)
    return (altered if scheme is None else f"{scheme} {altered}"), token


def _own_credentials(caller: Identity, carrier: Carrier) -> str | None:
    if carrier.where == "query":
        return dict(caller.query).get(carrier.name)
    if carrier.where == "header":
        return next(
            (value for name, value in caller.headers if name.lower() == carrier.name.lower()), None
        )
    return next((value for name, value in _cookies(caller) if name == carrier.name), None)


def _cookies(caller: Identity) -> Iterator[tuple[str, str]]:
    for header, value in caller.headers:
        for cookie in value.split(";") if header.lower() == "cookie" else ():
            name, _, text = cookie.strip().partition("=")
            yield name, text


def _user_of(credentials: str) -> str | None:
    """Return the user of Basic credentials (RFC 7617, section 2); None if they have none."""
    try:
        user, colon, _ = base64.b64decode(credentials).decode().partition(":")
    except ValueError:
        return None
    return user if colon else None


def _alter_token(token: str, tokens: Tokens) -> tuple[str, str]:
    """Return a token of the same form, which is all new; or one that is short, with more behind it,
    and what was added: the token itself stays what it was, also for a report.
    """
    found = _SIGNED.fullmatch(token) or _PREFIXED.fullmatch(token)
    kept, rest = (found["kept"] or "", found["rest"]) if found is not None else ("", token)
    altered = kept + "".join(_alter_character(character, tokens) for character in rest)
    if len(rest) < _UNGUESSABLE or altered == token:
        added = tokens.hex(_UNGUESSABLE)
        return token + added, added
    return altered, altered


def _alter_character(character: str, tokens: Tokens) -> str:
    alphabet = next((one for one in _ALPHABETS if character in one), character)
    return alphabet[int(tokens.hex(4), 16) % len(alphabet)]
