"""Identities: what their scopes allow, and whether the service accepts their credentials at all."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from faultspec.openapi.service import Description, OperationParameter, ServiceOperation
from faultspec_conformance.config import Identity
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.logins import PAST_CREDENTIALS, asks_for_credentials
from faultspec_conformance.session.meanings import means_status
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.parameters import readable_operation, required_query
from faultspec_conformance.session.requests import RequestSpec

#: Requests in a row that got 401, at the end of a run, from which an identity counts as lost.
_REFUSED = 2


def drop_own_parameters(description: Description, identities: Iterable[Identity]) -> Description:
    """Return a description without the parameters of the query that identities send themselves: no
    probe makes up values for them.
    """
    own = {name for identity in identities for name, _ in identity.query}
    if not own:
        return description

    def is_kept(parameter: OperationParameter) -> bool:
        return parameter.where != "query" or parameter.name not in own

    operations = (
        replace(operation, parameters=tuple(filter(is_kept, operation.parameters)))
        for operation in description.operations
    )
    return replace(description, operations=tuple(operations))


def is_forbidden(identity: Identity, operation: ServiceOperation) -> bool:
    """Whether the configuration forbids the operation to the identity."""
    return identity.may_not_call(operation.method, operation.template)


def authority(identity: Identity, operation: ServiceOperation | None) -> bool:
    """Whether the identity may call the operation, as far as its scopes, the document and the
    operations forbidden to it say.
    """
    if operation is None:
        return True
    if is_forbidden(identity, operation):
        return False
    if identity.scopes is None:
        return True
    if operation.scopes:
        return set(operation.scopes) <= set(identity.scopes)
    reads = all(re.search(r"read|view|get|list", scope, re.IGNORECASE) for scope in identity.scopes)
    return not (operation.writes and reads)


def allows_401(session: HttpSession, code: str) -> bool:
    """Whether the code may travel under 401, or means it."""
    declared = session.taxonomy.codes.get(code)
    return declared is not None and means_status(declared, 401)


def refusal(
    session: HttpSession, identity: Identity, exchanges: Iterable[Observation]
) -> str | None:
    """Return why an identity's credentials count as refused; None if they do not.

    They do if a request of the identity got 401 and none of its requests got past the
    credentials.
    """
    first: Observation | None = None
    for observation, accepted in _verdicts(session, identity, exchanges):
        if accepted:
            return None
        first = first or observation
    if first is None:
        return None
    return f"{identity.name}'s credentials are refused (401 on {_name(first)})"


def loss(session: HttpSession, identity: Identity, exchanges: Sequence[Observation]) -> str | None:
    """Return since when an identity is refused that was accepted before; None if it is not.

    It is if each of its later requests that shows something got 401, and there are several. The
    request named is the last one before them that the service carried out for a writer, or else
    the last one of the identity that was accepted.
    """
    verdicts = list(_verdicts(session, identity, exchanges))
    refused = list(takewhile(lambda verdict: not verdict[1], reversed(verdicts)))
    if len(refused) < _REFUSED or len(refused) == len(verdicts):
        return None
    last_accepted, first_refused = verdicts[-len(refused) - 1][0], refused[-1][0]
    places = {id(observation): place for place, observation in enumerate(exchanges)}
    between = exchanges[places[id(last_accepted)] : places[id(first_refused)]]
    writes = (
        observation
        for observation in reversed(between)
        if observation.ok and observation.exchange.request.method not in SAFE_METHODS
    )
    after = next(writes, last_accepted)
    return (
        f"{identity.name}'s credentials were accepted, and are refused since {_name(after)}: the "
        f"last {len(refused)} requests of {identity.name} got 401; if that request ends the "
        "session, leave it out of the run"
    )


def _verdicts(
    session: HttpSession, identity: Identity, exchanges: Iterable[Observation]
) -> Iterator[tuple[Observation, bool]]:
    """Yield the requests that show whether the identity's credentials are accepted, with the
    verdict.
    """
    for observation in exchanges:
        asked = observation.exchange
        if asked.identity != identity.name or not identity.is_sender_of(asked.request):
            continue
        if asks_for_credentials(session.identities, session.description.base, asked.request):
            continue
        path = (asked.route or asked.request.target).partition("?")[0]
        operation = session.description.operation_at(asked.request.method, path)
        if operation is not None and operation.secured is False:
            continue
        if observation.ok or observation.status in PAST_CREDENTIALS:
            yield observation, True
        elif observation.status == 401:
            yield observation, False


def _name(observation: Observation) -> str:
    request = observation.exchange.request
    return observation.exchange.operation or f"{request.method} {request.target}"


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
    decides = read.ok or read.status == 401 or read.status in PAST_CREDENTIALS
    return refusal(session, identity, (read,)) if decides else reason
