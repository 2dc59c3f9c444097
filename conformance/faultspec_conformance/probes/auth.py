"""Credentials: missing ones, worthless ones, and scopes that are not enough."""

from collections.abc import Iterator
from dataclasses import replace

from faultspec.exchange.model import Canary
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ANONYMOUS, CREDENTIALS, NOBODY, Identity, is_credential
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
from faultspec_conformance.session.worthless_credentials import (
    ALTERED,
    EMPTY,
    MADE_UP,
    ODD,
    OTHER,
    Carrier,
    altered_credentials,
    carriers_of,
    place_credentials,
    worthless_credentials,
)

_MISSING, _GARBAGE, _SCOPE = "auth/missing", "auth/garbage", SCOPE

#: Operations that are asked one by one: at least so many, and more by the requests of the run.
_OPERATIONS = 20

#: The share of the requests of a run that one of these probes may send.
_SHARE = 0.05

#: Statuses of refusals for what a resource is, beside those for invalid input.
_OF_STATE = (404, 409, 410)

_NONE_PROTECTED = "the OpenAPI document protects no operation that may be called"
_AS_NOBODY = "without credentials"

_ROLES: tuple[Role, ...] = ("list", "read", "create", "update", "delete")


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
    return [operation for operation in found if session.writable or not operation.writes]


def _choose_operations(
    session: HttpSession, clause: str
) -> tuple[list[ServiceOperation], list[Outcome]]:
    """Return the protected operations that are asked one by one, and the outcome about those that
    are left out, or missing.
    """
    operations = _protected_operations(session)
    most = max(_OPERATIONS, int(session.driver.limits.requests * _SHARE))
    if not operations:
        return [], [not_exercised(clause, _NONE_PROTECTED)]
    left_out = len(operations) - most
    reason = f"{left_out} more protected operations are not asked: `limits.requests` is too low"
    return operations[:most], [not_exercised(clause, reason)] if left_out > 0 else []


def _anonymous_caller(session: HttpSession) -> Identity:
    """Return the ordinary caller without its credentials.

    Its other headers, such as its organisation, stay.
    """
    declared = session.description.schemes
    headers = CREDENTIALS | {one.name.lower() for one in declared if one.where == "header"}
    query = {one.name for one in declared if one.where == "query"}
    caller = session.caller
    kept = Identity(
        ANONYMOUS,
        tuple(pair for pair in caller.headers if pair[0].lower() not in headers),
        query=tuple(
            pair for pair in caller.query if pair[0] not in query and not is_credential(pair[0])
        ),
    )
    return NOBODY if (kept.headers, kept.query) == (caller.headers, caller.query) else kept


def missing_credentials(session: HttpSession) -> Iterator[ProbeResult]:
    """Call every protected operation without credentials, and one of them with HEAD."""
    operations, left_out = _choose_operations(session, _MISSING)
    yield from left_out
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
    operations, _ = _choose_operations(session, _MISSING)
    found = ((one, _wrong_request(session, one)) for one in operations)
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
    empty one, with another scheme, with what is hard to read, and with those of the caller,
    altered.
    """
    operations, left_out = _choose_operations(session, _GARBAGE)
    yield from left_out
    if operations and not any(carriers_of(session, operation) for operation in operations):
        yield not_exercised(_GARBAGE, "nothing says in which header credentials travel")
        return
    for operation, carrier, what in _deal_credentials(session, operations):
        token = f"tok_{session.tokens.hex(16)}"
        value = worthless_credentials(carrier, token, what)
        if what == ALTERED:
            value, token = altered_credentials(session, carrier) or (None, token)
        if value is None:
            continue
        spec = ordinary_request(session, operation)
        spec = replace(
            place_credentials(spec, carrier, value),
            identity=_anonymous_caller(session),
            canaries=(Canary("secret", token),),
            trigger=what,
        )
        yield from attempt(_show_garbage(session, operation, spec, carrier), _GARBAGE)


def _deal_credentials(
    session: HttpSession, operations: list[ServiceOperation]
) -> Iterator[tuple[ServiceOperation, Carrier, str]]:
    """Yield operations with the worthless credentials that they get: a made-up token each; one of
    each method gets it in every other place of credentials too.
    """
    by_carrier: dict[Carrier, list[ServiceOperation]] = {}
    for operation in operations:
        for place, carrier in enumerate(carriers_of(session, operation)):
            by_carrier.setdefault(carrier, []).append(operation)
            if place == 0:
                yield operation, carrier, MADE_UP
    for carrier, accepting in by_carrier.items():
        first = accepting[0]
        others = [one for one in accepting if carriers_of(session, one)[0] != carrier]
        yield from ((one, carrier, MADE_UP) for one in one_of_each_method(others))
        yield from ((first, carrier, what) for what in ODD.get((carrier.scheme or "").lower(), ()))
        examples = one_of_each_method(accepting)
        yield from (
            (one, carrier, what) for one, what in zip(examples, (EMPTY, OTHER), strict=False)
        )
        yield first, carrier, ALTERED


def _show_garbage(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec, carrier: Carrier
) -> Iterator[Outcome]:
    answer = _call_past_state(session, operation, spec)
    yield _check_401(
        session,
        answer,
        operation,
        spec.trigger,
        clause=_GARBAGE,
        readable=carrier.is_readable,
    )


def _call_past_state(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec
) -> Observation:
    """Send a request about an item. If it is refused for want of `If-Match`, send it once more with
    the current ETag; if for the state of the item, once more on a new one: to see whether anything
    else refuses it.
    """
    answer = session.call(spec)
    header = operation.parameter("If-Match", "header")
    is_required = header is not None and header.required and answer.status in INVALID_INPUT
    if answer.status in OF_CONDITION or is_required:
        again = with_current_tag(session, operation, spec)
        if again is not None:
            spec, answer = again, session.call(again)
    items = FreshItems(session)
    if answer.status in _OF_STATE and items.renew(spec):
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
    readable: bool = True,
) -> Outcome:
    """Check that an unknown caller got 401. ``readable``: any text may be its credentials.

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
    if answer.status == 400 and (readable or what != MADE_UP):
        wrong = _blames_request(session, operation, answer, what)
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
    is_odd = any(what in odd for odd in ODD.values())
    if is_odd or what in (EMPTY, OTHER) or operation.placeholders:
        return False
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
        beyond = _find_operations_beyond(session, identity)
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


def scopes_of_others(session: HttpSession) -> Iterator[Outcome]:
    """Call the other operations beyond the scopes of each identity: a service that checks them in
    each operation forgets one.
    """
    for identity in session.identities:
        beyond = _find_operations_beyond(session, identity) if identity.limited else []
        asked = one_of_each_method(beyond)
        others = [operation for operation in beyond if operation not in asked]
        for operation in others[:_OPERATIONS]:
            yield from _call_beyond(session, identity, operation)
        if others[_OPERATIONS:]:
            names = ", ".join(operation.name for operation in others[_OPERATIONS:])
            yield not_exercised(_SCOPE, f"{identity.name} does not call {names}")


def _find_operations_beyond(session: HttpSession, identity: Identity) -> list[ServiceOperation]:
    """The operations that need scopes which an identity lacks, and that are not forbidden to it by
    name.
    """
    return [
        operation
        for operation in _protected_operations(session)
        if not is_forbidden(identity, operation) and not authority(identity, operation)
    ]


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
