"""Identities: what their scopes allow, and whether the service accepts their credentials at all."""

import re
from collections.abc import Iterable

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.parameters import readable_operation, required_query
from faultspec_conformance.session.requests import RequestSpec

#: Statuses that a caller with unknown credentials does not get.
_PAST_CREDENTIALS = frozenset({403, 409, 412})


def authority(identity: Identity, operation: ServiceOperation | None) -> bool:
    """Whether the identity's scopes are enough for the operation, as far as they and the document
    say.
    """
    if identity.scopes is None or operation is None:
        return True
    if operation.scopes:
        return set(operation.scopes) <= set(identity.scopes)
    reads = all(re.search(r"read|view|get|list", scope, re.IGNORECASE) for scope in identity.scopes)
    return not (operation.writes and reads)


def allows_401(session: HttpSession, code: str) -> bool:
    """Whether the code may travel under 401."""
    declared = session.taxonomy.codes.get(code)
    return declared is not None and declared.http.allows(401)


def refusal(
    session: HttpSession, identity: Identity, exchanges: Iterable[Observation]
) -> str | None:
    """Return why an identity's credentials count as refused; None if they do not.

    They do if a request of the identity got 401 and none of its requests got past the
    credentials.
    """
    first: Observation | None = None
    for observation in exchanges:
        asked = observation.exchange
        if asked.identity != identity.name or not set(identity.headers) <= set(
            asked.request.headers
        ):
            continue
        path = (asked.route or asked.request.target).partition("?")[0]
        operation = session.description.at(asked.request.method, path)
        if operation is not None and operation.secured is False:
            continue
        if observation.ok or observation.status in _PAST_CREDENTIALS:
            return None
        if observation.status == 401 and first is None:
            first = observation
    if first is None:
        return None
    request = first.exchange.request
    name = first.exchange.operation or f"{request.method} {request.target}"
    return f"{identity.name}'s credentials are refused (401 on {name})"


def confirm_refusal(session: HttpSession, identity: Identity, reason: str | None) -> str | None:
    """Return why an identity's credentials count as refused, after an ordinary read. Raises
    Unanswered.

    ``reason``: what earlier requests show. It applies if the read does not decide.
    """
    operation = readable_operation(session)
    if reason is None or operation is None or operation.secured is False:
        return reason
    query = required_query(session, operation)
    read = session.call(RequestSpec("GET", operation.template, identity=identity, query=query))
    decides = read.ok or read.status == 401 or read.status in _PAST_CREDENTIALS
    return refusal(session, identity, (read,)) if decides else reason
