"""Actions below the items of lists, such as `POST /approvals/{id}/decision`: the list names the
items, and no configuration is needed.
"""

from collections.abc import Iterator

from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import listed_id, required_query
from faultspec_conformance.session.requests import RequestSpec

#: Actions that are taken. Each costs three requests at most.
_ACTIONS = 6


def listed_actions(session: HttpSession) -> Iterator[ProbeResult]:
    """Read each list, and take the actions below its first item twice: the second time many are
    refused. The judge holds the answers to the contract.
    """
    actions = list(_actions(session)) if session.writable else []
    for operation, listing in actions[:_ACTIONS]:
        yield from attempt(_act_twice(session, operation, listing))


def _actions(session: HttpSession) -> Iterator[tuple[ServiceOperation, ServiceOperation]]:
    """Yield the actions below items that the run does not create, each with the list of these."""
    created = {
        shape_of(kind.item)
        for kind in session.kinds
        if kind.item is not None and kind.name in session.knowledge.created
    }
    for operation in session.description.operations:
        if operation.method != "POST" or len(operation.placeholders) != 1:
            continue
        collection, _, rest = operation.template.partition("/{")
        item, _, below = rest.partition("}")
        listing = session.description.find("GET", collection)
        if below and listing is not None and shape_of(f"{collection}/{{{item}}}") not in created:
            yield operation, listing


def _act_twice(
    session: HttpSession, operation: ServiceOperation, listing: ServiceOperation
) -> Iterator[Outcome]:
    query = required_query(session, listing)
    session.call(RequestSpec("GET", listing.template, query=query))
    name = operation.placeholders[0]
    identifier = listed_id(session, operation, name)
    if identifier is None:
        return
    for _ in range(2):
        answer = session.call(ordinary_request(session, operation, {name: identifier}))
        if answer.status in (401, 403, 404):
            return
    yield from ()
