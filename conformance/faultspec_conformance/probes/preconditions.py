"""Writes that a service refuses for want of a precondition, sent again with the current one."""

from collections.abc import Callable
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance.config import Identity
from faultspec_conformance.session.fixtures import request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import renew_key
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.requests import RequestSpec, with_tag

OF_CONDITION = (412, 428)
"""Statuses of a refusal for a precondition, or for want of one."""


def call_past_condition(
    session: HttpSession,
    operation: ServiceOperation,
    spec: RequestSpec,
    reader: Identity | None = None,
) -> Observation:
    """Send a write, with the current ETag if the document requires one. If it is refused for its
    precondition, send it once more with the ETag that the item has by then: to see whether anything
    else refuses it.

    ``reader``: reads the ETag; None for the owner of the shared item.
    """
    if _needs_tag(operation, spec):
        spec = with_current_tag(session, operation, spec, reader) or spec
    answer = session.call(spec)
    if answer.status not in OF_CONDITION:
        return answer
    again = with_current_tag(session, operation, spec, reader)
    if again is None or _sent_tag(again) == _sent_tag(spec):
        return answer
    return session.call(again)


def call_at_state(
    session: HttpSession,
    operation: ServiceOperation,
    spec: RequestSpec,
    state: Observation,
    *,
    get: Callable[[], Observation],
) -> tuple[Observation, Observation]:
    """Send a write with the ETag of the last read. If it is refused for its precondition, read the
    item again and send it once more with the current ETag. Return the last read before the write,
    and the answer.

    ``state``: the last read. ``get`` reads the item.
    """
    tag = state.header("ETag")
    answer = session.call(with_tag(spec, tag))
    if answer.status not in OF_CONDITION:
        return state, answer
    now = get()
    current = now.header("ETag")
    if not now.ok or current in (None, tag):
        return state, answer
    return now, session.call(with_tag(renew_key(session, operation, spec), current))


def takes_validator(session: HttpSession, operation: ServiceOperation, shown: Observation) -> bool:
    """Whether an operation takes a validator: by the document or, if it names `If-Match` nowhere,
    because what it changes has an ETag. A weak one, such as frameworks add to each answer, never
    matches (RFC 9110, 13.1.1).
    """
    if operation.parameter("If-Match", "header") is not None or "412" in operation.responses:
        return True
    tag = shown.header("ETag")
    return (
        tag is not None
        and not tag.startswith("W/")
        and not any(
            other.parameter("If-Match", "header") is not None or "412" in other.responses
            for other in session.description.operations
        )
    )


def _needs_tag(operation: ServiceOperation, spec: RequestSpec) -> bool:
    """Whether the document requires `If-Match` of an operation, and a request has none."""
    header = operation.parameter("If-Match", "header")
    return header is not None and header.required and _sent_tag(spec) is None


def _sent_tag(spec: RequestSpec) -> str | None:
    return next((value for name, value in spec.headers.items() if name.lower() == "if-match"), None)


def with_current_tag(
    session: HttpSession,
    operation: ServiceOperation,
    spec: RequestSpec,
    reader: Identity | None = None,
) -> RequestSpec | None:
    """Return a request on or below an item, with the ETag that its owner reads, or the ``reader``,
    under a new key; None without one.
    """
    path = shape_of(operation.template) + "/"
    kinds = [
        kind
        for kind in session.kinds
        if kind.operation("read") is not None and path.startswith(shape_of(kind.item or "/") + "/")
    ]
    kind = max(kinds, key=lambda kind: len(kind.item or ""), default=None)
    read = kind.operation("read") if kind is not None else None
    if kind is None or read is None:
        return None
    shared = session.knowledge.created.get(kind.name)
    named = [spec.values.get(name) for name in operation.placeholders]
    values = dict(zip(read.placeholders, named, strict=False))
    owner = shared.owner if shared is not None else None
    asked = replace(request_to(session, read, values), identity=reader or owner)
    tag = session.call(asked).header("ETag")
    return None if tag is None else with_tag(renew_key(session, operation, spec), tag)
