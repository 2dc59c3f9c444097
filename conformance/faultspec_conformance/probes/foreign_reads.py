"""Lists and logs read by another tenant: they show nothing of what the first tenant did.

Only ids that this run brought about count, so that what all tenants share, such as a catalogue,
shows nothing. An id that the other tenant has sent itself does not count either: its own log may
show it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import Identity
from faultspec_conformance.probes.ownership import is_private, unguessable
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import pagination
from faultspec_conformance.session.fixtures import make, ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    STREAM,
    Observation,
    failed,
    passed,
    slot_value,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import absent_value, required_query
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    identifier_of,
    last_placeholder,
)

_CLAUSE = "tenancy/concealed"

#: Reads that are asked. Each costs a request of either tenant.
_READS = 12

#: Texts that identify an act of the first tenant, each with its name and its exchange.
Traces = Mapping[str, tuple[str, Observation]]


def check_reads(session: HttpSession, owner: Identity, stranger: Identity) -> Iterator[ProbeResult]:
    """Read every list and log as the stranger, after the owner has created and asked something."""
    operations = list(_reads(session))[:_READS]
    if not operations:
        return
    yield from attempt(_act(session, owner), _CLAUSE)
    traces = _traces(session, owner)
    for operation in operations if traces else ():
        outcomes = _check_read(session, operation, owner, stranger=stranger, traces=traces)
        yield from attempt(outcomes, _CLAUSE)


def _reads(session: HttpSession) -> Iterator[ServiceOperation]:
    """Yield the reads without an id, but for the lists that are tested with their resource."""
    created = [kind for kind in session.kinds if kind.name in session.knowledge.created]
    tested = {listing.name for kind in created if (listing := kind.operation("list")) is not None}
    for operation in session.inventory.operations:
        if (
            operation.method == "GET"
            and session.inventory.has(operation)
            and operation.name not in tested
            and set(operation.placeholders) <= session.constants.keys()
            and STREAM not in operation.media_types
        ):
            yield operation


def _act(session: HttpSession, owner: Identity) -> Iterator[Outcome]:
    """Create a resource of every kind as the owner, and ask for one that is missing: logs often
    show the latest records alone.
    """
    for kind in session.kinds:
        shared = session.knowledge.created.get(kind.name)
        if shared is None or shared.owner.tenant != owner.tenant:
            continue
        make(session, kind, owner=shared.owner)
        read = kind.operation("read")
        if read is not None and read.placeholders:
            values = {
                **shared.values,
                last_placeholder(kind): absent_value(session, read, read.placeholders[-1]),
            }
            session.call(replace(ordinary_request(session, read, values), identity=shared.owner))
    yield from ()


def _traces(session: HttpSession, owner: Identity) -> Traces:
    """Return the ids of what the owner's tenant created, and the correlation ids of its requests,
    that no other tenant has sent or got.
    """
    names = {known.name for known in session.identities if known.tenant == owner.tenant}
    exchanges = session.knowledge.own.exchanges
    others = [seen for seen in exchanges if seen.exchange.identity not in names]
    found: dict[str, tuple[str, Observation]] = {}
    for seen in exchanges:
        if seen.exchange.identity in names:
            for text, what in _identifiers(session, seen):
                if unguessable(text):
                    found.setdefault(str(text), (what, seen))
    # A service may give one id to everybody, such as the example of its document.
    shared = {str(text) for seen in others for text, _ in _identifiers(session, seen)}
    document = json.dumps(session.description.document)
    return {
        text: trace
        for text, trace in found.items()
        if text not in shared and text not in document and not _is_sent(text, others)
    }


def _identifiers(session: HttpSession, seen: Observation) -> Iterator[tuple[object, str]]:
    echo = session.echo
    operation = seen.exchange.operation or seen.exchange.request.method
    if echo is not None:
        what = f"the correlation id of another tenant's {operation}"
        yield seen.exchange.request_header(echo.header), what
        yield seen.header(echo.answer_header), what
        yield slot_value(session.contract, seen, echo.field.slot), what
    for kind in session.kinds if seen.ok else ():
        create = kind.operation("create")
        if create is not None and create.name == operation and is_private(session, kind):
            identifier = identifier_of(seen, last_placeholder(kind), kind)
            yield identifier, f"the id of another tenant's {kind.name}"


def _is_sent(text: str, exchanges: list[Observation]) -> bool:
    """Whether a request contains a text."""
    wanted = text.encode()
    return any(
        text in request.target
        or wanted in request.body
        or any(text in value for _, value in request.headers)
        for request in (seen.exchange.request for seen in exchanges)
    )


def _check_read(
    session: HttpSession,
    operation: ServiceOperation,
    owner: Identity,
    *,
    stranger: Identity,
    traces: Traces,
) -> Iterator[Outcome]:
    """Compare what a read shows to the stranger with the traces of the owner.

    If it shows none even to the owner, nothing follows.
    """
    spec = RequestSpec(
        "GET",
        operation.template,
        identity=stranger,
        values=session.constants,
        query={**pagination.longest_page(operation), **required_query(session, operation)},
    )
    page = session.call(spec)
    text = _first_trace_in(traces, page)
    if text is not None:
        what, act = traces[text]
        message = f"{operation.name} shows {what} to {stranger.name}"
        yield failed(_CLAUSE, message, act, page, variant="list")
    elif page.ok and operation.secured is not False:  # else both callers get the same
        own = session.call(replace(spec, identity=owner))
        if _first_trace_in(traces, own) is not None:
            yield passed(_CLAUSE)


def _first_trace_in(traces: Traces, page: Observation) -> str | None:
    """Return the first text that a success shows, or None."""
    body = page.exchange.response.body.decode("utf-8", "replace") if page.ok else ""
    return next((text for text in traces if text in body), None)
