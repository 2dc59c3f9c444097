"""HEAD like GET, and a range of a representation, for taxonomies with a profile of HTTP."""

from collections.abc import Iterator
from dataclasses import replace

from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.probes.refusals import CHECKED_FIRST
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import readable_operation, required_query
from faultspec_conformance.session.requests import RequestSpec

_CLAUSE = "http/head"

#: Reads of ids without a resource that are repeated with HEAD.
_ABSENT = 3

#: Headers that a GET and a HEAD have alike.
_COMPARED = ("Content-Type", "ETag", "Last-Modified", "Content-Length", "Content-Encoding", "Vary")


def heads(session: HttpSession) -> Iterator[Outcome]:
    """Ask for the same path with GET, HEAD and GET, and for the first byte of it."""
    if session.taxonomy.profile is None:
        return
    operation = readable_operation(session)
    if operation is None:
        yield not_exercised(_CLAUSE, "no operation can be read without an id")
        return
    query = required_query(session, operation)

    before, head, after = (
        session.call(RequestSpec(method, operation.template, query=query, correlation="none"))
        for method in ("GET", "HEAD", "GET")
    )
    if before.sent_status != after.sent_status or not before.ok:
        yield not_exercised(_CLAUSE, f"GET of {operation.template} got {before} and {after}")
        return
    # A range is asked for outside of the document, which may not describe 206.
    session.call(
        RequestSpec(
            "GET", operation.template, query=query, headers={"Range": "bytes=0-0"}, route=None
        )
    )
    if head.sent_status in CHECKED_FIRST - {404, 405} and head.sent_status != before.sent_status:
        yield not_exercised(_CLAUSE, f"the service answered {head} to HEAD")
        return
    if head.sent_status != before.sent_status:
        message = f"the service answered {head} to HEAD {operation.template}, but {before} to GET"
        yield failed(_CLAUSE, message, before, head)
        return
    for name in _COMPARED:
        stable, own = before.header(name), head.header(name)
        # A header whose value is known only with the content may be missing (RFC 9110, 9.3.2).
        if own is not None and stable is not None and stable == after.header(name) != own:
            message = f"`{name}` of HEAD {operation.template} is not that of GET"
            yield failed(_CLAUSE, message, before, head, pointer=name)
            return
    yield passed(_CLAUSE)


def heads_of_absent(session: HttpSession) -> Iterator[ProbeResult]:
    """Ask with HEAD for ids without a resource, each after a GET that was refused for it."""
    if session.taxonomy.profile is None:
        return
    missing: dict[str, Observation] = {}
    for seen in session.knowledge.exchanges:
        request = seen.exchange.request
        is_item = "{" in (seen.exchange.operation or "").rpartition("/")[2]
        if (
            request.method == "GET"
            and seen.status in GONE
            and is_item
            and _claims_head(session, seen)
        ):
            missing[str(seen.exchange.operation)] = seen
    for seen in [*missing.values()][:_ABSENT]:
        yield from attempt(_ask_absent(session, seen), _CLAUSE)


def _claims_head(session: HttpSession, seen: Observation) -> bool:
    """Whether a surface of the taxonomy claims the answer to HEAD that equals an answer to GET."""
    request = replace(seen.exchange.request, method="HEAD")
    return session.contract.claim(replace(seen.exchange, request=request)) is not None


def _ask_absent(session: HttpSession, seen: Observation) -> Iterator[Outcome]:
    """Compare the answers to HEAD and to GET, which an item may have come to in between."""
    caller = session.config.identity(seen.exchange.identity)
    target, route = seen.exchange.request.target, seen.exchange.route
    spec = RequestSpec("HEAD", target, identity=caller, route=route, correlation="none")
    head = session.call(replace(spec, trigger="an id without a resource"))
    if head.sent_status == seen.sent_status:
        yield passed(_CLAUSE)
        return
    again = session.call(replace(spec, method="GET"))
    what = f"an id without a resource ({route})"
    changed = again.sent_status != seen.sent_status
    if changed or head.sent_status in {*CHECKED_FIRST, 501} - {404}:
        yield not_exercised(_CLAUSE, f"the service answered {head} to HEAD of {what}")
        return
    message = f"the service answered {head} to HEAD of {what}, but {again} to GET"
    yield failed(_CLAUSE, message, again, head, variant="absent")
