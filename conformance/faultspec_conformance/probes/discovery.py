"""Compare what a service publishes about itself with the taxonomy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from faultspec.language.carriers import reaches
from faultspec.language.model import Code, Operation, Publication, Taxonomy
from faultspec.language.values import show
from faultspec.targets.schema import details_schema
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, passed, point
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec

_CLAUSE = "discovery/agrees"

#: The part of a request that names an operation.
_PLACE = "${operation}"


def published_errors(session: HttpSession) -> Iterator[ProbeResult]:
    """Compare the errors that the service publishes over HTTP with those of the taxonomy: a list
    for each operation, or one list of all errors.
    """
    taxonomy = session.taxonomy
    for publication in taxonomy.discovery.values():
        if publication.kind != "errors":
            continue
        if _PLACE not in publication.request:
            yield from attempt(_check_list(session, publication, _errors_of_all(taxonomy)), _CLAUSE)
            continue
        for operation in taxonomy.operations.values():
            errors = _errors_of_operation(taxonomy, operation)
            yield from attempt(_check_list(session, publication, errors), _CLAUSE)


@dataclass(frozen=True, slots=True)
class _Errors:
    """The errors that a list may have, by wire value: operations may have errors of one value.

    ``subject``: what publishes them. ``own``: the values that the list must have.
    """

    subject: str
    operation: str
    allowed: Mapping[str, Sequence[Code]]
    own: frozenset[str]


def _errors_of_operation(taxonomy: Taxonomy, operation: Operation) -> _Errors:
    """The errors of an operation: its own, and the shared ones that it names."""
    own = [code for code in operation.errors.values() if code.live]
    shared = [
        operation.own_form(code)
        for code in taxonomy.shared_live_codes()
        if code.name in (operation.codes or ())
    ]
    return _Errors(
        f"`{operation.name}`",
        operation.wire,
        _group_by_wire([*own, *shared]),
        frozenset(str(code.wire) for code in own),
    )


def _errors_of_all(taxonomy: Taxonomy) -> _Errors:
    """The errors of all operations, and the shared ones, which HTTP must carry to be due."""
    surfaces = [each for each in taxonomy.surfaces.values() if each.transport == "http"]
    shared = taxonomy.shared_live_codes()
    due = [
        code
        for code in shared
        if any(reaches(surface, code, of_operation=False) for surface in surfaces)
    ]
    own: list[Code] = []
    for operation in taxonomy.operations.values():
        own += (code for code in operation.errors.values() if code.live)
    variants = [
        code
        for operation in taxonomy.operations.values()
        for code in operation.variants.values()
        if code.live
    ]
    return _Errors(
        "the service",
        "",
        _group_by_wire([*shared, *own, *variants]),
        frozenset(str(code.wire) for code in (*due, *own)),
    )


def _group_by_wire(codes: Iterable[Code]) -> Mapping[str, Sequence[Code]]:
    found: dict[str, list[Code]] = {}
    for code in codes:
        found.setdefault(str(code.wire), []).append(code)
    return found


def _check_list(
    session: HttpSession, publication: Publication, errors: _Errors
) -> Iterator[Outcome]:
    method, _, path = publication.request.partition(" ")
    place = path.replace(_PLACE, errors.operation)
    page = session.call(RequestSpec(method, place, correlation="valid"))
    problem = _problem(session, publication, errors, page)
    yield passed(_CLAUSE) if problem is None else failed(_CLAUSE, problem, page)


def _problem(
    session: HttpSession, publication: Publication, errors: _Errors, page: Observation
) -> str | None:
    """Return the first difference between a published list of errors and the declared one."""
    listed, name = point(page.json, publication.at), errors.subject
    may_be_missing = not errors.own and publication.empty != "list"
    if not page.ok or not (isinstance(listed, list) or may_be_missing):
        return f"{name} publishes no list of its errors at {publication.at}"
    items = listed if isinstance(listed, list) else []
    found = [(str(point(item, publication.item.get("code", "/code"))), item) for item in items]
    missing = errors.own - {wire for wire, _ in found}
    if missing:
        first = next(wire for wire in errors.allowed if wire in missing)
        return f"{name} does not publish its error {first}"
    for wire, item in found:
        if wire not in errors.allowed:
            return f"{name} publishes the error {wire}, which it does not have"
        problems = [
            _item_problem(session.taxonomy, publication, code, item)
            for code in errors.allowed[wire]
        ]
        if None not in problems:
            return f"{name} publishes {wire} {problems[0]}"
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
