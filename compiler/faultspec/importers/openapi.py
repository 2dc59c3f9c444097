"""From an OpenAPI document, 3.0 or 3.1, to a taxonomy.

A failure whose schema names its code (a constant, or a list of values, in the member that holds the
code) is that code. Any other response outside 1xx, 2xx and 3xx is the code ``HTTP_<status>`` of its
operation, with its schema: the rule of alknet's ``from_openapi``, whose form the language calls
``imported``.

A document without paths is a library: each union of its schemas is an envelope. The name of a
response ends in its status, as our OpenAPI target writes it.
"""

import re
from collections.abc import Mapping
from typing import Any

from faultspec.importers import ImportedTaxonomy, Json, NotImportable
from faultspec.importers.bodies import ImportedContract, ImportedOperation
from faultspec.importers.build import build_taxonomy
from faultspec.importers.clean import cleaned
from faultspec.importers.families import find_union, read_family, reference_name
from faultspec.importers.responses import lose_unknown, read_response
from faultspec.openapi.nodes import mapping
from faultspec.openapi.pointers import child, nearest, value_at, walk
from faultspec.openapi.reader import DocumentReader

_STATUS = re.compile(r"[1-5]\d\d|[1-5]XX|[1-5]xx|default")
_STATUS_AT_END = re.compile(r"([1-5]\d\d|[1-5]XX|[Dd]efault)$")

#: Methods in the order of OpenAPI 3.1 (section 4.8.9), in which operations are imported.
_METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE")

#: The members of a path item that are read, or do not concern failures.
_OF_PATH_ITEMS = frozenset(
    {*map(str.lower, _METHODS), "$ref", "summary", "description", "servers", "parameters"}
)

_NOT_OURS = "the answers of other services are not failures of this one"


def read(document: object) -> ImportedTaxonomy:
    """The taxonomy of a document, and what it does not carry over. Raises NotImportable."""
    clean, losses = cleaned(document, "OpenAPI")
    if "swagger" in clean:
        message = f"this is Swagger {clean['swagger']}; the importer reads OpenAPI 3.0 and 3.1"
        raise NotImportable("swagger", message, "/swagger", "convert it to OpenAPI 3 first")
    version = clean.get("openapi")
    if not isinstance(version, str) or not re.match(r"3\.[01](\.|$)", version):
        message = "this is not an OpenAPI document: it has no `openapi: 3.0.x` or `3.1.x`"
        place = "/openapi" if "openapi" in clean else ""
        raise NotImportable("not-openapi", message, place, "name another file")
    reader = DocumentReader(clean)
    contract = _contract(reader)
    if not contract.families and not any(item.uncoded for item in contract.operations):
        hint = (
            "a failure is a response such as 404 or default; "
            "without paths, a union under components.schemas"
        )
        raise NotImportable("no-failures", "the document declares no failure", "/paths", hint)
    found = build_taxonomy(contract, reader.losses)
    placed = (loss._replace(pointer=nearest(clean, loss.pointer)) for loss in found.losses)
    return found._replace(losses=tuple(dict.fromkeys([*losses, *placed])))


def _contract(reader: DocumentReader) -> ImportedContract:
    """Everything that the document says of failures."""
    paths = reader.mapping(reader.document, "paths", "")
    components = reader.mapping(reader.document, "components", "")
    contract = ImportedContract(
        info=mapping(reader.document.get("info")), has_paths=bool(paths), header_components=[]
    )
    _read_unions(reader, contract, components)
    for name in reader.mapping(components, "headers", "/components"):
        contract.header_components.append(child("/components/headers", name))
    for path, item in paths.items():
        _read_path(reader, contract, str(path), item)
    if not paths:
        _read_library(reader, contract, components)
    _lose_beside_paths(reader, paths, components)
    if paths:
        contract.families = [family for family in contract.families if family.responses]
    for family in contract.families:
        reader.losses.extend(family.losses)
    reader.mapping(reader.document, "info", "")
    return contract


def _read_unions(reader: DocumentReader, contract: ImportedContract, components: Json) -> None:
    """Add a family for each union of schemas.

    In a document with paths, only unions count that failures refer to.
    """
    used = _referenced_by_failures(reader.document) if contract.has_paths else None
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
            family.losses = attempt.losses
            contract.families.append(family)
        elif used is None:
            reader.losses.extend(attempt.losses)
            reader.lose(pointer, "schema", "no member of its alternatives holds a code")


def _referenced_by_failures(document: Json) -> set[str | None]:
    """The names of the schemas that responses refer to, unless their status is 1xx, 2xx or 3xx."""
    found: set[str | None] = set()
    for item in mapping(document.get("paths")).values():
        for method in _METHODS:
            operation = mapping(mapping(item).get(method.lower()))
            for status, response in mapping(operation.get("responses")).items():
                if str(status)[:1] in "123":
                    continue
                target = mapping(response).get("$ref")
                inside = target[1:] if isinstance(target, str) else ""
                whole = [response, value_at(document, inside) if inside else None]
                found |= {reference_name(value) for _, value in walk(whole)}
    return found


def _read_library(reader: DocumentReader, contract: ImportedContract, components: Json) -> None:
    for name, response in reader.mapping(components, "responses", "/components").items():
        pointer = child("/components/responses", name)
        ending = _STATUS_AT_END.search(str(name))
        if ending is None:
            reader.lose(pointer, "response", "the name of the response does not end in a status")
        else:
            read_response(reader, contract, ending[0].lower(), response, before=pointer)


def _read_path(reader: DocumentReader, contract: ImportedContract, path: str, value: Any) -> None:
    pointer = child("/paths", path)
    # The language writes routes without spaces; a wildcard within the segment stands for them.
    route = re.sub(r"\s+", "*", path if path.startswith("/") else f"/{path}")
    if route != path or "*" in path:
        reason = f"as a route it is `{route}`, which matches other paths, too"
        reader.lose(pointer, "route", reason)
    item, pointer = reader.object(value, pointer, "the path item")
    if item is None:
        return
    lose_unknown(reader, item, pointer, _OF_PATH_ITEMS)
    operations = sorted(
        reader.operations(item, pointer), key=lambda operation: _METHODS.index(operation[0])
    )
    for method, node, place in operations:
        names = [
            name for key in ("summary", "operationId") if isinstance(name := node.get(key), str)
        ]
        identity = node.get("operationId")
        operation = ImportedOperation(
            identity=identity if isinstance(identity, str) else f"{method.lower()}_{path}",
            route=f"{method} {route}",
            description=names[0] if names else None,
            method=method,
            wire=_own_identity(reader, contract, identity, child(place, "operationId")),
        )
        contract.operations.append(operation)
        for status, response in reader.mapping(node, "responses", place).items():
            response_pointer = child(child(place, "responses"), status)
            if _is_failure(reader, str(status), response_pointer):
                read_response(
                    reader,
                    contract,
                    str(status).lower(),
                    response,
                    before=response_pointer,
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
    reader: DocumentReader, contract: ImportedContract, identity: object, pointer: str
) -> str | None:
    """The operationId; None if there is none, or an operation before this one has it."""
    if not isinstance(identity, str):
        return None
    if any(operation.wire == identity for operation in contract.operations):
        reason = f"another operation is called `{identity}`; this one has no name"
        reader.lose(pointer, "collision", reason)
        return None
    return identity


def _lose_beside_paths(reader: DocumentReader, paths: Json, components: Json) -> None:
    """Report webhooks, and path items that no path refers to."""
    if reader.mapping(reader.document, "webhooks", ""):
        reader.lose("/webhooks", "webhook", _NOT_OURS)
    references = [mapping(item).get("$ref") for item in paths.values()]
    for name in reader.mapping(components, "pathItems", "/components"):
        pointer = child("/components/pathItems", name)
        if f"#{pointer}" not in references:
            reader.lose(pointer, "route", "no path refers to it")
