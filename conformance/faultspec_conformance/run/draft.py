"""A draft of `conformance.yaml` from a service's OpenAPI document and the taxonomy.

What can be inferred is written. Comments name what is missing.
"""

import json
import re
from collections.abc import Collection, Iterator
from random import Random

from faultspec.language.model import Code, Taxonomy
from faultspec.openapi.resources import DocumentedResource, resources
from faultspec.openapi.service import (
    Description,
    Scheme,
    ServiceOperation,
)
from faultspec_conformance.session import sampling
from faultspec_conformance.session.resources import names_of, refers_to

#: Statuses that the probes provoke on any service with a route, a body and a token.
_GENERAL = frozenset({400, 401, 404, 405, 406, 413, 415})

#: Resources of a draft. A person can add others in the same way.
_RESOURCES = 4


def draft(
    description: Description, taxonomy: Taxonomy, *, http: str, openapi: str, taxonomy_path: str
) -> str:
    """The text of the file. It has no mistakes once its variables are set."""
    out = [
        "# How `faultspec conform` judges this service. This is a draft from its OpenAPI document:",
        (
            "# check the values, and complete the comments. The run changes nothing until "
            "`writes` is true."
        ),
        f"taxonomy: {_quote(taxonomy_path)}",
        f"target: {{http: {_quote(http)}, openapi: {_quote(openapi)}}}",
        "",
        *_identities(description),
        "",
        *_resources(description),
        "",
        *_provoke(description, taxonomy),
        "",
        (
            "limits: {requests: 400, seconds: 120, writes: false}   # true: create, change and "
            "delete resources"
        ),
        "",
        "# waivers: waivers.yaml   # known failures, each with clause, reason, owner and expires",
    ]
    return "\n".join(out) + "\n"


def _identities(description: Description) -> Iterator[str]:
    schemes = [scheme for scheme in description.schemes if scheme.where == "header"]
    if not schemes and description.schemes:
        yield (
            "# identities: the document declares credentials outside a header; write the header, "
            "such as Cookie"
        )
        return
    if not schemes:
        yield (
            "# The document declares no credentials. With two callers of different tenants, "
            "concealment is tested:"
        )
        yield "# identities:"
        yield '#   first: {tenant: a, headers: {Authorization: "Bearer ${FIRST_TOKEN}"}}'
        yield '#   second: {tenant: b, headers: {Authorization: "Bearer ${SECOND_TOKEN}"}}'
        return
    yield (
        "# The most ordinary caller comes first. `tenant`: the real id of the tenant, which no "
        "answer may contain."
    )
    yield "identities:"
    for name, tenant in (("first", "a"), ("second", "b")):
        yield f"  {name}: {{tenant: {tenant}, headers: {{{_credential(schemes[0], name)}}}}}"
    yield (
        f"  # reader: {{tenant: a, scopes: [read], headers: "
        f"{{{_credential(schemes[0], 'reader')}}}}}   # a caller with fewer scopes"
    )


def _credential(scheme: Scheme, name: str) -> str:
    variable = "${" + f"{name.upper()}_TOKEN" + "}"
    prefix = {"bearer": "Bearer ", "basic": "Basic "}.get(scheme.kind, "")
    return f"{scheme.name}: {_quote(prefix + variable)}"


def _resources(description: Description) -> Iterator[str]:
    found = [found for found in resources(description) if found.create is not None][:_RESOURCES]
    if not found:
        yield (
            "# resources: no path creates a resource that another path reads; docs/conformance.md "
            "shows how to declare them"
        )
        return
    yield "resources:"
    for resource in found:
        yield f"  {resource.name}:"
        yield from _resource(description, resource)


def _resource(description: Description, resource: DocumentedResource) -> Iterator[str]:
    assert resource.create is not None
    create = [f"request: {_request(resource.create)}"]
    if resource.create.body is not None:
        create.append(f"body: {_body(description, resource.create)}")
    create.append("id: /id")
    yield f"    create: {{{', '.join(create)}}}"
    if "409" in resource.create.responses:
        yield (
            "    # to test duplicates, add the members that must be unique to `create`: `unique: "
            "[name]`"
        )
    for role, operation in (
        ("read", resource.read),
        ("update", resource.update),
        ("delete", resource.delete),
    ):
        if operation is None:
            continue
        if role == "update" and operation.body is not None:
            yield (
                f"    update: {{request: {_request(operation)}, body: "
                f"{_body(description, operation)}}}"
            )
        else:
            yield f"    {role}: {_request(operation)}"
    if resource.list is not None:
        yield f"    list: {_request(resource.list)}"


def _request(operation: ServiceOperation) -> str:
    return _quote(operation.name)


def _body(description: Description, operation: ServiceOperation) -> str:
    assert operation.body is not None
    source = sampling.ValueSource(description.document, Random(0))
    schema = operation.body.schema
    example = operation.body.example
    body = example if example is not None else sampling.sample_value(source, schema, fresh=False)
    free = sampling.free_texts(description.document, schema)
    if isinstance(body, dict):
        body = {
            key: _placeholder(description, operation, key)
            or (f"{value}-${{unique}}" if _is_new(key, value, free) else value)
            for key, value in body.items()
        }
    return json.dumps(body, ensure_ascii=False)


def _is_new(key: str, value: object, free: Collection[str]) -> bool:
    """Whether a new text may stand in a member. A new id would refer to nothing."""
    return key in free and isinstance(value, str) and not re.search(r"[a-z]_id$|[a-z]Id$", key)


def _placeholder(description: Description, operation: ServiceOperation, key: str) -> str | None:
    """Return `${room.id}` for a member such as `room_id`, if the draft creates such a resource."""
    for resource in list(resources(description))[:_RESOURCES]:
        is_other = resource.create is not None and resource.create != operation
        if is_other and refers_to(key, names_of(resource.name, resource.item)):
            return "${" + resource.name + ".id}"
    return None


def _provoke(description: Description, taxonomy: Taxonomy) -> Iterator[str]:
    wanted = [code for code in taxonomy.shared_live_codes() if not _is_general(code, description)]
    switched: dict[str, dict[str, str | int]] = {}
    for code in wanted:
        header = _switch(description, code)
        if header is not None:
            switched.setdefault(header, {})[code.name] = code.wire
    if switched:
        yield "# The document has a header that makes operations fail. Not all need to obey it."
        yield "faults:"
        for header, values in switched.items():
            yield f"  - {{header: {header}, values: {json.dumps(values, ensure_ascii=False)}}}"
        yield ""
    yield (
        "# Codes that no general probe brings about: write a recipe, or why it is impossible "
        "(`not_provokable`)."
    )
    yield "# provoke:"
    known = {name for values in switched.values() for name in values}
    for code in wanted:
        if code.name not in known:
            yield f"  # {code.name}: {_suggestion(description, code)}"


def _is_general(code: Code, description: Description) -> bool:
    statuses = set(code.http.allowed_statuses())
    if not statuses:
        return True  # never sent over HTTP
    able = set(_GENERAL)
    if any("409" in operation.responses for operation in description.operations):
        able.add(409)
    if any(
        operation.parameter("If-Match", "header") is not None or "412" in operation.responses
        for operation in description.operations
    ):
        able.add(412)
    return bool(statuses & able)


def _switch(description: Description, code: Code) -> str | None:
    """The header that makes operations fail with the code: its schema lists the name of the
    code.
    """
    for operation in description.operations:
        for parameter in operation.parameters:
            values = description.schema(parameter.schema).get("enum")
            if parameter.where == "header" and isinstance(values, list) and code.wire in values:
                return parameter.name
    return None


def _suggestion(description: Description, code: Code) -> str:
    status = code.http.default or next(iter(code.http.allowed_statuses()), 500)
    documented = next(
        (operation for operation in description.operations if str(status) in operation.responses),
        None,
    )
    request = _request(documented) if documented is not None else _quote("GET /path")
    if status == 429:
        return f"{{request: {request}, repeat: {{until: 429, at_most: 60}}}}"
    if status == 403:
        return f"{{request: {request}, as: reader}}"
    return f"{{request: {request}}}   # or {{not_provokable: the reason}}"


def _quote(text: str) -> str:
    """The text as YAML, in quotes if it needs them."""
    return (
        text
        if re.fullmatch(r"[A-Za-z/][\w./\-]*( /[\w./\-]*)?", text)
        else json.dumps(text, ensure_ascii=False)
    )
