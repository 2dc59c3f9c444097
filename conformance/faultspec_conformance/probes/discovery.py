"""Compare what a service publishes about itself with the taxonomy."""

from collections.abc import Iterator

from faultspec.language.model import Code, Operation, Publication, Taxonomy
from faultspec.language.values import show
from faultspec.targets.schema import details_schema
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
                yield from attempt(_check_publication(session, publication, operation), _CLAUSE)


def _check_publication(
    session: HttpSession, publication: Publication, operation: Operation
) -> Iterator[Outcome]:
    method, _, path = publication.request.partition(" ")
    place = path.replace("${operation}", operation.wire)
    page = session.call(RequestSpec(method, place, correlation="valid"))
    problem = _problem(session, publication, operation, page)
    yield passed(_CLAUSE) if problem is None else failed(_CLAUSE, problem, page)


def _problem(
    session: HttpSession, publication: Publication, operation: Operation, page: Observation
) -> str | None:
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
        problem = _item_problem(session.taxonomy, publication, declared[wire], item)
        if problem is not None:
            return f"{name} publishes {wire} {problem}"
    return None


def _item_problem(
    taxonomy: Taxonomy, publication: Publication, code: Code, item: object
) -> str | None:
    """Return the first difference between a published error and its code."""
    places = publication.item
    if "http" in places:
        status, http = point(item, places["http"]), code.http
        allowed = isinstance(status, int) and http.allows(status)
        if status != http.own_default and not allowed:
            return f"with the status {status}; the taxonomy has {http.own_default}"
    if "summary" in places:
        summary = point(item, places["summary"])
        if not isinstance(summary, str) or not summary.strip():
            return f"without a summary at {places['summary']}"
        if summary.split() != code.summary.split():
            return f"with the summary {show(summary)}; the taxonomy has {show(code.summary)}"
    if "details" in places:
        problem = schema_difference(details_schema(code, taxonomy), point(item, places["details"]))
        return problem and f"with other details: {problem}"
    return None


def schema_difference(declared: object, published: object, at: str = "") -> str | None:
    """Return the first certain difference between two schemas of objects, or None.

    Members, the required ones and simple types are compared. Other keywords may say the same in
    another way.
    """
    place = at or "the schema"
    if not isinstance(published, dict) or not isinstance(declared, dict):
        return f"{place} is not a schema" if isinstance(declared, dict) else None
    if any(isinstance(schema.get("type"), list) for schema in (declared, published)):
        return None
    if any(
        not {"$ref", "allOf", "anyOf", "oneOf"}.isdisjoint(schema)
        for schema in (declared, published)
    ):
        return None
    types = declared.get("type"), published.get("type")
    if None not in types and types[0] != types[1]:
        return f"{place} has the type {types[1]}; the taxonomy has {types[0]}"
    members, found = declared.get("properties", {}), published.get("properties", {})
    missing = sorted(members.keys() - found.keys())
    if missing:
        return f"{at}/{missing[0]} is missing"
    required = set(declared.get("required", ())) ^ set(published.get("required", ()))
    if required:
        name = min(required)
        state = "required" if name in declared.get("required", ()) else "optional"
        return f"{at}/{name} is {state} by the taxonomy"
    more = sorted(found.keys() - members.keys())
    if more and declared.get("additionalProperties") is False:
        return f"{at}/{more[0]} is not declared"
    differences = (
        schema_difference(schema, found[name], f"{at}/{name}") for name, schema in members.items()
    )
    return next(filter(None, differences), None)
