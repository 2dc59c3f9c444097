"""Credentials: missing ones, worthless ones, and scopes that are not enough."""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import replace

from faultspec.exchange.model import Canary
from faultspec.openapi.service import Scheme, ServiceOperation
from faultspec_conformance.config import ANONYMOUS, CREDENTIALS, NOBODY, Identity
from faultspec_conformance.probes.fresh_items import FreshItems
from faultspec_conformance.probes.operations import creates, one_of_each_method
from faultspec_conformance.probes.preconditions import OF_CONDITION, with_current_tag
from faultspec_conformance.probes.refusals import HIDES_ERRORS, SERVERS_FAULT, hides_errors
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.credentials import authority, is_forbidden
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.forbidden import SCOPE
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import renew_key
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import absent_value, values_for
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import Role, is_json_write, takes_body
from faultspec_conformance.session.sampling import Violation, violations

_MISSING, _GARBAGE, _SCOPE = "auth/missing", "auth/garbage", SCOPE

#: Operations that are asked one by one.
_OPERATIONS = 20

#: Statuses of refusals for what a resource is, beside those for invalid input.
_OF_STATE = (404, 409, 410)

_NONE_PROTECTED = "the OpenAPI document protects no operation that may be called"
_AS_NOBODY = "without credentials"
_MADE_UP = "with a made-up token"
_EMPTY, _OTHER = "with an empty token", "with another scheme"
_NOT_BASE64 = "with credentials that are not base64"
_NO_COLON = "with credentials without a password"
_UNSIGNED = "with a JSON Web Token without a signature"
_BROKEN = "with a JSON Web Token that breaks off"

#: Credentials that a parser may not survive, by scheme: those of Basic are base64 of a user, a
#: colon and a password (RFC 7617); a token may be signed by nobody (RFC 7519, section 6).
_ODD: Mapping[str, Mapping[str, str]] = {
    "basic": {_NOT_BASE64: "%!x", _NO_COLON: "bm9ib2R5"},
    "bearer": {
        _UNSIGNED: "eyJhbGciOiJub25lIn0.eyJzdWIiOiJub2JvZHkifQ.",
        _BROKEN: "eyJhbGciOiJIUzI1NiJ9.e30",
    },
}

_ROLES: tuple[Role, ...] = ("list", "read", "create", "update", "delete")

#: The names of schemes in `Authorization`, by those of the document.
_SCHEMES: Mapping[str, str] = {Scheme("bearer").kind: "Bearer", Scheme("basic").kind: "Basic"}


def _protected_operations(session: HttpSession) -> list[ServiceOperation]:
    """Return the operations that need credentials by the document; if it says nothing, every
    operation.
    """
    operations = session.description.operations
    found = [operation for operation in operations if operation.secured is True]
    if not found and not session.caller.anonymous:
        found = [operation for operation in operations if operation.secured is None]
        for kind in session.kinds if not found else ():
            found += filter(None, map(kind.operation, _ROLES))
    usable = [operation for operation in found if session.writable or not operation.writes]
    return usable[:_OPERATIONS]


def _anonymous_caller(session: HttpSession) -> Identity:
    """Return the ordinary caller without its credentials.

    Its other headers, such as its organisation, stay.
    """
    schemes = session.description.schemes
    credentials = CREDENTIALS | {
        scheme.name.lower() for scheme in schemes if scheme.where == "header"
    }
    headers = session.caller.headers
    kept = tuple(pair for pair in headers if pair[0].lower() not in credentials)
    return NOBODY if kept == headers else Identity(ANONYMOUS, kept)


def missing_credentials(session: HttpSession) -> Iterator[ProbeResult]:
    """Call every protected operation without credentials, and one of them with HEAD."""
    operations = _protected_operations(session)
    if not operations:
        yield not_exercised(_MISSING, _NONE_PROTECTED)
    for operation in operations:
        yield from attempt(_call_as_nobody(session, operation), _MISSING)
    read = next((operation for operation in operations if operation.method == "GET"), None)
    if read is not None:
        # Without a body only the header has the correlation id; without an id, the service has to
        # generate one.
        what = "with HEAD and without credentials"
        answer = session.call(
            RequestSpec(
                "HEAD",
                read.template,
                identity=_anonymous_caller(session),
                values=values_for(session, read),
                correlation="none",
                trigger=what,
            )
        )
        if hides_errors(session, answer):
            reason = f"the service answered {answer} to {read.name} {what}"
            yield not_exercised(_MISSING, f"{reason}: {HIDES_ERRORS}")
            return
        yield _check_401(session, answer, read, what, clause=_MISSING)


def _call_as_nobody(session: HttpSession, operation: ServiceOperation) -> Iterator[Outcome]:
    answer = _call_past_state(session, operation, _request_of_nobody(session, operation))
    yield _check_401(session, answer, operation, _AS_NOBODY, clause=_MISSING)


def _request_of_nobody(session: HttpSession, operation: ServiceOperation) -> RequestSpec:
    """Return an ordinary request without credentials."""
    spec = ordinary_request(session, operation)
    return replace(spec, identity=_anonymous_caller(session), trigger=_AS_NOBODY)


def wrong_input_without_credentials(session: HttpSession) -> Iterator[ProbeResult]:
    """Send each protected operation a request without credentials that is wrong in its last id and
    in its body.
    """
    found = ((one, _wrong_request(session, one)) for one in _protected_operations(session))
    wrong = [(operation, spec) for operation, spec in found if spec is not None]
    if not wrong:
        reason = f"{_NONE_PROTECTED} and has an id or a body"
        yield not_exercised(_MISSING, reason)
    for operation, spec in wrong:
        yield from attempt(_call_wrongly(session, operation, spec), _MISSING)


def _wrong_request(session: HttpSession, operation: ServiceOperation) -> RequestSpec | None:
    """Return a request with wrong input; None if the operation has no input that may be wrong."""
    spec, whats = _request_of_nobody(session, operation), []
    if operation.placeholders:
        last = operation.placeholders[-1]
        absent = absent_value(session, operation, last)
        spec = replace(spec, values={**spec.values, last: absent})
        whats.append("an unknown id")
    violation = _violation(session, operation, spec)
    if violation is not None:
        spec = replace(spec, body=violation.body)
        whats.append(violation.what)
    what = f"{_AS_NOBODY} and with {' and '.join(whats)}"
    return replace(spec, trigger=what) if whats else None


def _call_wrongly(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec
) -> Iterator[Outcome]:
    """Send wrong input without credentials. If the service refuses the input, and the credentials
    of the same request with sound input, it looks at the input first.
    """
    answer = session.call(spec)
    about_input = answer.status in (*INVALID_INPUT, *_OF_STATE)
    if not about_input or answer.code in session.contract.codes_for(401):
        yield _check_401(session, answer, operation, spec.trigger, clause=_MISSING)
        return
    refused = session.call(_request_of_nobody(session, operation))
    line = f"the service answered {answer} to {operation.name} {spec.trigger}"
    if refused.status == 401:
        message = f"{line}; expected 401, as with sound input"
        yield failed(_MISSING, message, refused, answer, variant="order")
    else:
        yield not_exercised(_MISSING, f"{line}: something else was checked first")


def _violation(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec
) -> Violation | None:
    """Return a body that every validator refuses, if the schema of the operation has one."""
    if operation.body is None or not is_json_write(operation):
        return None
    mark = session.canary("value").value
    found = violations(session.source, operation.body.schema, spec.body, mark)
    return next((one for one in found if one.sure), None)


def garbage_credentials(session: HttpSession) -> Iterator[ProbeResult]:
    """Call every protected operation with worthless credentials: a made-up token; some with an
    empty one, with another scheme and with what is hard to read.
    """
    operations = _protected_operations(session)
    if not operations:
        yield not_exercised(_GARBAGE, _NONE_PROTECTED)
        return
    for operation, what in _deal_credentials(session, operations):
        header, scheme = _credentials_of(session, operation)
        if header is None:
            yield not_exercised(_GARBAGE, "nothing says in which header credentials travel")
            return
        if scheme is None and what != _MADE_UP:
            continue
        canary = Canary("secret", f"tok_{session.tokens.hex(16)}")
        name = f"{_cookie_name(session)}=" if header.lower() == "cookie" else ""
        value = _worthless_credentials(scheme, name + canary.value, what)
        spec = ordinary_request(session, operation)
        spec = replace(
            spec,
            identity=_anonymous_caller(session),
            headers={**spec.headers, header: value},
            canaries=(canary,),
        )
        yield from attempt(_show_garbage(session, operation, spec, what), _GARBAGE)


def _deal_credentials(
    session: HttpSession, operations: list[ServiceOperation]
) -> Iterator[tuple[ServiceOperation, str]]:
    """Yield operations, each with the worthless credentials that it gets."""
    yield from ((operation, _MADE_UP) for operation in operations)
    for name, odd in _ODD.items():
        first = next((one for one in operations if _is_scheme(session, one, name)), None)
        yield from ((first, what) for what in odd if first is not None)
    yield from zip(one_of_each_method(operations), (_EMPTY, _OTHER), strict=False)


def _show_garbage(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec, what: str
) -> Iterator[Outcome]:
    answer = _call_past_state(session, operation, replace(spec, trigger=what))
    yield _check_401(session, answer, operation, what, clause=_GARBAGE)


def _credentials_of(
    session: HttpSession, operation: ServiceOperation
) -> tuple[str | None, str | None]:
    """Return the header in which credentials for an operation travel, and their scheme: those of
    the caller, unless the document has another scheme of HTTP for it.
    """
    header, usual = _credentials_header(session)
    if not operation.challenges or (usual or "").lower() in operation.challenges:
        return header, usual
    known = next((_SCHEMES[one] for one in operation.challenges if one in _SCHEMES), None)
    return (header, usual) if known is None else ("Authorization", known)


def _is_scheme(session: HttpSession, operation: ServiceOperation, name: str) -> bool:
    return (_credentials_of(session, operation)[1] or "").lower() == name


def _cookie_name(session: HttpSession) -> str:
    """Return the name of the first cookie of the ordinary caller."""
    cookies = (value for name, value in session.caller.headers if name.lower() == "cookie")
    return next(cookies, "session").partition("=")[0]


def _worthless_credentials(scheme: str | None, token: str, what: str) -> str:
    """Return credentials that look real. Without a scheme they are a made-up token."""
    if scheme is None or what == _MADE_UP:
        return _credential(scheme, token)
    if what == _EMPTY:
        return scheme
    odd = _ODD.get(scheme.lower(), {}).get(what)
    if odd is not None:
        return f"{scheme} {odd}"
    return _credential("Basic" if scheme.lower() == "bearer" else "Bearer", token)


def _credentials_header(session: HttpSession) -> tuple[str | None, str | None]:
    """Return the header in which credentials travel, and their scheme, by the caller's headers or
    by the document.
    """
    for name, value in session.caller.headers:
        if name.lower() in CREDENTIALS:
            scheme, space, _ = value.partition(" ")
            return name, scheme if space and name.lower() == "authorization" else None
    for declared in session.description.schemes:
        if declared.where == "header":
            return declared.name, _SCHEMES.get(declared.kind)
    return next((name for name, _ in session.caller.headers), None), None


def _credential(scheme: str | None, token: str) -> str:
    if scheme is None:
        return token
    if scheme.lower() == "basic":
        return f"{scheme} {base64.b64encode(f'nobody:{token}'.encode()).decode()}"
    return f"{scheme} {token}"


def _call_past_state(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec
) -> Observation:
    """Send a write on an item. If it is refused for want of `If-Match`, send it once more with the
    current ETag; if for the state of the item, once more on a new one: to see whether anything else
    refuses it.
    """
    answer = session.call(spec)
    header = operation.parameter("If-Match", "header")
    is_required = header is not None and header.required and answer.status in INVALID_INPUT
    if answer.status in OF_CONDITION or is_required:
        again = with_current_tag(session, operation, spec)
        if again is not None:
            spec, answer = again, session.call(again)
    items = FreshItems(session)
    if answer.status in _OF_STATE and operation.writes and items.renew(spec):
        fresh = items.place(renew_key(session, operation, spec))
        answer = session.call(replace(fresh, identity=spec.identity))
    return answer


def _check_401(
    session: HttpSession,
    answer: Observation,
    operation: ServiceOperation,
    what: str,
    *,
    clause: str,
) -> Outcome:
    """Check that an unknown caller got 401.

    A service that checks something else first does not exercise the clause.
    """
    line = f"the service answered {answer} to {operation.name} {what}"
    if answer.status == 401:
        return passed(clause)
    if answer.ok and not session.identities:
        reason = "no identity of the configuration has credentials; the service may need none here"
        return not_exercised(clause, f"{line}: {reason}")
    if answer.ok and operation.secured is True:
        return failed(
            clause, f"{line}; expected 401, because the OpenAPI document protects it", answer
        )
    if answer.ok:
        return not_exercised(clause, f"{line}: the operation is open to everyone")
    if 300 <= answer.status < 400:
        return failed(clause, f"{line}: a client cannot tell a redirect from a success", answer)
    if answer.status >= 500:
        return failed(clause, f"{line}: {SERVERS_FAULT}", answer)
    wrong = answer.status == 403
    wrong = wrong or (answer.status == 400 and _blames_request(session, operation, answer, what))
    if wrong and session.contract.codes_for(401):
        return failed(clause, f"{line}; expected 401 for an unknown caller", answer)
    return not_exercised(clause, f"{line}: something else was checked first")


def _blames_request(
    session: HttpSession, operation: ServiceOperation, answer: Observation, what: str
) -> bool:
    """Whether a 400 to an unknown caller is wrong, since with credentials the request is sound.

    400 is for a header that cannot be read (RFC 6750, 3.1). A made-up token can be read, and so can
    none at all.
    """
    is_odd = any(what in odd for odd in _ODD.values())
    if is_odd or what in (_EMPTY, _OTHER) or operation.placeholders:
        return False
    scheme = _credentials_of(session, operation)[1]
    if what == _MADE_UP and scheme is not None and scheme.lower() not in _SCHEMES:
        return False  # a token is not what Digest and others have
    if takes_body(operation) and not is_json_write(operation):
        return False  # 401 is optional at a token endpoint (RFC 6749, 5.2)
    if operation.method == "GET":
        return True
    declared = answer.code in session.contract.codes_for(401)  # under another of its statuses
    if declared or not creates(operation):
        return False
    return session.call(ordinary_request(session, operation)).ok


def scopes(session: HttpSession) -> Iterator[Outcome]:
    """Call the operations that each identity may not call: those that are forbidden to it by name,
    and one operation for each HTTP method of those beyond its scopes.
    """
    limited = [identity for identity in session.identities if identity.limited]
    if not limited:
        yield not_exercised(_SCOPE, "no identity declares `scopes` or `forbidden`")
        return
    # A recipe that ends in the same request makes the probe's superfluous.
    recipes = {
        (recipe.steps[-1].identity, session.operation(call.method, call.path).name)
        for recipe in session.config.recipes
        if recipe.steps
        for call in (recipe.steps[-1].call,)
    }
    asked = 0
    for identity in limited:
        named = [
            operation
            for operation in session.inventory.operations
            if is_forbidden(identity, operation) and (session.writable or not operation.writes)
        ]
        beyond = [
            operation
            for operation in _protected_operations(session)
            if operation not in named and not authority(identity, operation)
        ]
        operations = [*named[:_OPERATIONS], *one_of_each_method(beyond)]
        asked += len(operations)
        for operation in operations:
            if (identity.name, operation.name) not in recipes:
                yield from _call_beyond(session, identity, operation)
    if not asked and any(identity.forbidden for identity in limited):
        yield not_exercised(_SCOPE, "no operation that may be called is named under `forbidden`")
    elif not asked:
        declared = any(operation.scopes for operation in session.description.operations)
        why = "" if declared else ": the OpenAPI document names none under `security`"
        reason = f"no operation that may be called is beyond the declared scopes{why}"
        yield not_exercised(_SCOPE, reason)


def _call_beyond(
    session: HttpSession, identity: Identity, operation: ServiceOperation
) -> Iterator[Outcome]:
    """Call an operation beyond what an identity may do. The session itself reports a success of one
    that is forbidden by name, as it does at any other request.
    """
    spec = replace(ordinary_request(session, operation), identity=identity)
    answer = _call_past_state(session, operation, spec)
    owned = ", ".join(identity.scopes or ()) or "none"
    what = f"{operation.name} by {identity.name}, whose scopes are {owned}"
    if is_forbidden(identity, operation):
        what = f"{operation.name} by {identity.name}, to whom the configuration forbids it"
    line = f"the service answered {answer} to {what}"
    if answer.status == 403:
        yield passed(_SCOPE)
    elif answer.ok and not is_forbidden(identity, operation):
        yield failed(_SCOPE, f"{line}; expected 403", answer)
    elif answer.status >= 500:
        yield failed(_SCOPE, f"{line}: {SERVERS_FAULT}", answer)
    elif not answer.ok:
        yield not_exercised(_SCOPE, f"{line}: something else was checked first")
