"""What a service publishes of itself, beside what the contract says."""

import re
from collections.abc import Iterator

from faultspec.language.model import Operation, Publication
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, passed, point

_CLAUSE = "discovery/agrees"


def errors(world: HttpSession) -> Iterator[Outcome]:
    """Over HTTP: the errors that each operation publishes are those that the taxonomy has for it."""
    for publication in world.taxonomy.discovery.values():
        if publication.kind != "errors":
            continue
        for operation in world.taxonomy.operations.values():
            method, _, path = publication.request.partition(" ")
            place = re.sub(r"\$\{operation\}", operation.wire, path)
            with world.guarded(_CLAUSE):
                yield _compared(
                    publication, operation, world.call(method, place, correlation="valid")
                )


def _compared(publication: Publication, operation: Operation, page: Observation) -> Outcome:
    declared = {str(code.wire): code for code in operation.errors.values() if code.live}
    listed = point(page.json, publication.at)
    if not page.ok or (not isinstance(listed, list) and (declared or publication.empty == "list")):
        return failed(
            _CLAUSE, f"`{operation.name}` publishes no list of its errors at {publication.at}", page
        )
    items = listed if isinstance(listed, list) else []
    found = {str(point(each, publication.item.get("code", "/code"))): each for each in items}
    for wire in declared:
        if wire not in found:
            return failed(_CLAUSE, f"`{operation.name}` does not publish its error {wire}", page)
    for wire, item in found.items():
        if wire not in declared:
            return failed(
                _CLAUSE,
                f"`{operation.name}` publishes the error {wire}, which it does not have",
                page,
            )
        status = point(item, publication.item["http"]) if "http" in publication.item else None
        own = declared[wire].http
        if (
            "http" in publication.item
            and status != own.own_default
            and not (isinstance(status, int) and own.allows(status))
        ):
            message = f"`{operation.name}` publishes {wire} with the status {status}; the taxonomy has {own.own_default}"
            return failed(_CLAUSE, message, page)
    return passed(_CLAUSE)
