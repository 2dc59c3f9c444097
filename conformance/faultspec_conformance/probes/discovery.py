"""What a service publishes about itself, compared with the taxonomy."""

from collections.abc import Iterator

from faultspec.language.model import Operation, Publication
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, passed, point
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec

_CLAUSE = "discovery/agrees"


def published_errors(session: HttpSession) -> Iterator[ProbeResult]:
    """Compare the errors that each operation publishes over HTTP with those of the taxonomy."""
    for publication in session.taxonomy.discovery.values():
        for operation in session.taxonomy.operations.values():
            if publication.kind == "errors":
                yield from attempt(_published(session, publication, operation), _CLAUSE)


def _published(
    session: HttpSession, publication: Publication, operation: Operation
) -> Iterator[Outcome]:
    method, _, path = publication.request.partition(" ")
    place = path.replace("${operation}", operation.wire)
    page = session.call(RequestSpec(method, place, correlation="valid"))
    problem = _problem(publication, operation, page)
    yield passed(_CLAUSE) if problem is None else failed(_CLAUSE, problem, page)


def _problem(publication: Publication, operation: Operation, page: Observation) -> str | None:
    """Return the first difference between a published list of errors and the declared one."""
    declared = {str(code.wire): code for code in operation.errors.values() if code.live}
    listed, name = point(page.json, publication.at), f"`{operation.name}`"
    may_be_missing = not declared and publication.empty != "list"
    if not page.ok or not (isinstance(listed, list) or may_be_missing):
        return f"{name} publishes no list of its errors at {publication.at}"
    items = listed if isinstance(listed, list) else []
    found = {str(point(item, publication.item.get("code", "/code"))): item for item in items}
    missing = next((wire for wire in declared if wire not in found), None)
    if missing is not None:
        return f"{name} does not publish its error {missing}"
    for wire, item in found.items():
        if wire not in declared:
            return f"{name} publishes the error {wire}, which it does not have"
        if "http" not in publication.item:
            continue
        status, http = point(item, publication.item["http"]), declared[wire].http
        allowed = isinstance(status, int) and http.allows(status)
        if status != http.own_default and not allowed:
            message = f"{name} publishes {wire} with the status {status}"
            return f"{message}; the taxonomy has {http.own_default}"
    return None
