"""From an OpenAPI document, 3.0, 3.1 or Swagger 2.0, to a taxonomy.

A failure whose schema or examples name its code, in the member that holds the code, is that code.
Any other response outside 1xx, 2xx and 3xx is a code that its status decides, in an envelope that
is known by its shape.

A document without paths is a library: each union of its schemas is an envelope. The name of a
response ends in its status, as our OpenAPI target writes it.
"""

import re
from collections.abc import Mapping, Sequence

from faultspec.importers import ImportedTaxonomy, Json, NotImportable
from faultspec.importers.bodies import CodedBody, ImportedContract, ImportedOperation
from faultspec.importers.build import build_taxonomy
from faultspec.importers.clean import clean_document
from faultspec.importers.code_uris import shorten_codes
from faultspec.importers.families import find_union, read_family, reference_name
from faultspec.importers.responses import lose_unknown, read_response
from faultspec.importers.shown_codes import read_shown_codes
from faultspec.openapi.nodes import mapping
from faultspec.openapi.pointers import child, nearest_pointer, walk
from faultspec.openapi.reader import DocumentReader, PathItem
from faultspec.openapi.swagger import openapi_3

_STATUS = re.compile(r"[1-5]\d\d|[1-5]XX|[1-5]xx|default")
_STATUS_AT_END = re.compile(r"([1-5]\d\d|[1-5]XX|[Dd]efault)$")

#: Methods in the order of OpenAPI 3.1 (section 4.8.9), in which operations are imported.
_METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE")

#: The members of a path item that are read, or do not concern failures.
_OF_PATH_ITEMS = frozenset(
    {*map(str.lower, _METHODS), "$ref", "summary", "description", "servers", "parameters"}
)

_NOT_OURS = "the answers of other services are not failures of this one"


def read(document: object, *, observed: bool = False) -> ImportedTaxonomy:
    """The taxonomy of a document, and what it does not carry over. ``observed``: its examples are
    answers of the service. Raises NotImportable.
    """
    clean, losses = clean_document(document, "OpenAPI")
    _check_version(clean)
    shaped = openapi_3(clean)
    reader = DocumentReader(shaped.document)
    contract = _contract(reader, observed=observed)
    if not contract.families and not any(item.uncoded for item in contract.operations):
        hint = (
            "a failure is a response such as 404 or default; "
            "without paths, a union under components.schemas"
        )
        raise NotImportable("no-failures", "the document declares no failure", "/paths", hint)
    found = build_taxonomy(contract, reader)

    def original_pointer(pointer: str) -> str:
        return nearest_pointer(clean, shaped.original(pointer))

    placed = [loss._replace(pointer=original_pointer(loss.pointer)) for loss in found.losses]
    return found._replace(
        losses=tuple(dict.fromkeys([*losses, *shaped.losses, *placed])),
        examples={
            path: tuple(tuple(map(original_pointer, pointers)) for pointers in examples)
            for path, examples in found.examples.items()
        },
    )


def _check_version(document: Json) -> None:
    """Raise NotImportable unless the document is OpenAPI 3.0 or 3.1, or Swagger 2.0."""
    version = document.get("openapi")
    if "swagger" in document and version is None:
        if str(document["swagger"]) != "2.0":
            message = f"this is Swagger {document['swagger']}; the importer reads 2.0 and OpenAPI 3"
            hint = "convert it to OpenAPI 3 first"
            raise NotImportable("swagger", message, "/swagger", hint)
    elif not isinstance(version, str) or not re.match(r"3\.[01](\.|$)", version):
        message = (
            "this is not an OpenAPI document: "
            'it has no `openapi: 3.0.x`, `openapi: 3.1.x` or `swagger: "2.0"`'
        )
        place = "/openapi" if "openapi" in document else ""
        raise NotImportable("not-openapi", message, place, "name another file")


def _contract(reader: DocumentReader, *, observed: bool) -> ImportedContract:
    """Everything that the document says of failures."""
    components = reader.mapping(reader.document, "components", "")
    items = list(reader.path_items())
    has_paths = bool(mapping(reader.document.get("paths")))
    contract = ImportedContract(
        info=reader.mapping(reader.document, "info", ""),
        has_paths=has_paths,
        header_components=[
            child("/components/headers", name)
            for name in reader.mapping(components, "headers", "/components")
        ],
    )
    _read_unions(reader, contract, components, items)
    for item in items:
        _read_path(reader, contract, item)
    _demote_constants(contract)
    read_shown_codes(contract, reader.lose, observed=observed)
    if has_paths:
        contract.families = [family for family in contract.families if family.responses]
    else:
        _read_library(reader, contract, components)
    shorten_codes(contract.families)
    _lose_beside_paths(reader, components, items)
    for family in contract.families:
        reader.add_losses(family.losses)
    return contract


def _demote_constants(contract: ImportedContract) -> None:
    """A member with one constant over several statuses tells nothing: the status is the code."""
    demoted: set[CodedBody] = set()
    for family in contract.families:
        statuses = {response.status for _, response in family.uses}
        if len({body.wire for body in family.bodies}) > 1 or len(statuses) < 2:
            continue
        for operation, response in family.uses:
            operation.coded = [body for body in operation.coded if body not in family.bodies]
            operation.uncoded.append(response)
        family.responses.clear()
        demoted.update(family.bodies)
    contract.descriptions = [
        found for found in contract.descriptions if demoted.isdisjoint(found.bodies)
    ]


def _read_unions(
    reader: DocumentReader,
    contract: ImportedContract,
    components: Json,
    items: Sequence[PathItem],
) -> None:
    """Add a family for each union of schemas.

    In a document with paths, only unions count that failures refer to.
    """
    used = _failure_schemas(reader.attempt(), items) if contract.has_paths else None
    for name, schema in reader.mapping(components, "schemas", "/components").items():
        pointer = child("/components/schemas", name)
        # Most unions are not errors, and what is lost of those does not matter.
        attempt = reader.attempt()
        union = find_union(attempt, schema, pointer) if isinstance(schema, Mapping) else None
        if union is None or not union.refers():
            continue
        if used is not None and used.isdisjoint({name, *union.names()}):
            continue
        family = read_family(attempt, name, pointer, union)
        if family is not None:
            summary = schema.get("description")
            family.summary = summary if isinstance(summary, str) else None
            family.losses = list(attempt.losses)
            contract.families.append(family)
        elif used is None:
            reader.add_losses(attempt.losses)
            reader.lose(pointer, "schema", "no member of its alternatives holds a code")


def _failure_schemas(reader: DocumentReader, items: Sequence[PathItem]) -> set[str | None]:
    """The names of the schemas that responses refer to, unless their status is 1xx, 2xx or 3xx."""
    return {
        reference_name(value)
        for item in items
        for _, operation, place in reader.operations(item)
        for status, response, pointer in reader.responses(operation, place)
        if status[:1] not in ("1", "2", "3")
        for _, value in walk([response, reader.follow(response, pointer)[0]])
    }


def _read_library(reader: DocumentReader, contract: ImportedContract, components: Json) -> None:
    for name, response in reader.mapping(components, "responses", "/components").items():
        pointer = child("/components/responses", name)
        ending = _STATUS_AT_END.search(str(name))
        if ending is None:
            reader.lose(pointer, "response", "the name of the response does not end in a status")
        else:
            read_response(reader, contract, ending[0].lower(), response, before=pointer)


def _read_path(reader: DocumentReader, contract: ImportedContract, item: PathItem) -> None:
    path = item.path
    # The language writes routes without spaces; a wildcard within the segment stands for them.
    route = re.sub(r"\s+", "*", path if path.startswith("/") else f"/{path}")
    if route != path or "*" in path:
        reason = f"as a route it is `{route}`, which matches other paths, too"
        reader.lose(child("/paths", path), "route", reason)
    lose_unknown(reader, item.node, item.pointer, _OF_PATH_ITEMS)
    operations = sorted(reader.operations(item), key=lambda found: _METHODS.index(found[0]))
    for method, node, place in operations:
        summary, identity = (
            value if isinstance(value := node.get(key), str) else None
            for key in ("summary", "operationId")
        )
        operation = ImportedOperation(
            identity=f"{method.lower()}_{path}" if identity is None else identity,
            route=f"{method} {route}",
            description=identity if summary is None else summary,
            method=method,
            wire=_own_identity(reader, contract, identity, child(place, "operationId")),
        )
        contract.operations.append(operation)
        contract.identities.add(operation.wire)
        for status, response, pointer in reader.responses(node, place):
            if _is_failure(reader, status, pointer):
                read_response(
                    reader,
                    contract,
                    status.lower(),
                    response,
                    before=pointer,
                    operation=operation,
                )
        if isinstance(node.get("callbacks"), Mapping):
            reader.lose(child(place, "callbacks"), "callback", _NOT_OURS)


def _is_failure(reader: DocumentReader, status: str, pointer: str) -> bool:
    """Whether a status is a failure. Redirects and malformed statuses are reported."""
    if not _STATUS.fullmatch(status):
        reader.lose(pointer, "status", f"`{status}` is not a status")
        return False
    if status[0] == "3":
        reader.lose(pointer, "redirect", "a redirect is not a failure")
    return status[0] not in "123"


def _own_identity(
    reader: DocumentReader, contract: ImportedContract, identity: str | None, pointer: str
) -> str | None:
    """The operationId; None if there is none, or an operation before this one has it."""
    if identity is None:
        return None
    if identity in contract.identities:
        reason = f"another operation is called `{identity}`; this one has no name"
        reader.lose(pointer, "collision", reason)
        return None
    return identity


def _lose_beside_paths(reader: DocumentReader, components: Json, items: Sequence[PathItem]) -> None:
    """Report webhooks, and path items that no path refers to."""
    if reader.mapping(reader.document, "webhooks", ""):
        reader.lose("/webhooks", "webhook", _NOT_OURS)
    pointers = {item.pointer for item in items}
    for name in reader.mapping(components, "pathItems", "/components"):
        pointer = child("/components/pathItems", name)
        if pointer not in pointers:
            reader.lose(pointer, "route", "no path refers to it")
