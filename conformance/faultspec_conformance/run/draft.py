"""A draft of `conformance.yaml` from a service's OpenAPI document and the taxonomy.

What can be inferred is written. Comments name what is missing.
"""

import json
import re
from collections.abc import Collection, Iterator
from random import Random

from faultspec.language.model import Taxonomy
from faultspec.openapi.resources import DocumentedResource, resources
from faultspec.openapi.service import (
    Description,
    Scheme,
    ServiceOperation,
)
from faultspec_conformance.run.draft_failures import draft_recipes, draft_upstreams, quote_scalar
from faultspec_conformance.run.draft_logins import DraftedLogin, find_login
from faultspec_conformance.run.draft_unique import find_unique, may_be_unique
from faultspec_conformance.session import sampling
from faultspec_conformance.session.resources import names_of, refers_to

#: Resources of a draft. A person can add others in the same way.
_RESOURCES = 12

#: Generated requests of a sweep by default.
_SWEPT = 300

#: Requests of the probes for an operation and for a resource, generously: a run of the orders
#: service, with ten operations and one resource, sends 133.
_OF_OPERATION, _OF_RESOURCE = 12, 40

#: Requests a second of a slow service.
_SLOW = 4


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
        f"taxonomy: {quote_scalar(taxonomy_path)}",
        f"target: {{http: {quote_scalar(http)}, openapi: {quote_scalar(openapi)}}}",
        "",
        *_identities(description),
        "",
        *_resources(description, taxonomy),
        "",
        *draft_recipes(description, taxonomy),
        "",
        *draft_upstreams(description, taxonomy),
        f"limits: {_limits(description)}   # true: create, change and delete resources",
        "",
        "# waivers: waivers.yaml   # known failures, each with clause, reason, owner and expires",
    ]
    return "\n".join(out) + "\n"


def _limits(description: Description) -> str:
    """Limits that a whole run keeps, by the size of the document."""
    operations = _OF_OPERATION * len(description.operations)
    needed = _SWEPT + operations + _OF_RESOURCE * len(_select_resources(description))
    requests = max(400, -(-needed // 100) * 100)
    return f"{{requests: {requests}, seconds: {max(120, requests // _SLOW)}, writes: false}}"


def _select_resources(description: Description) -> tuple[DocumentedResource, ...]:
    """The resources of the draft, those first that others refer to."""
    known = [found for found in resources(description) if found.create is not None][:_RESOURCES]
    ordered: list[DocumentedResource] = []
    while known:
        # In a circle of references the document's order decides.
        free = (
            one for one in known if not any(_refers(description, one, other) for other in known)
        )
        first = next(free, known[0])
        known.remove(first)
        ordered.append(first)
    return tuple(ordered)


def _refers(description: Description, one: DocumentedResource, other: DocumentedResource) -> bool:
    """Whether the creation of a resource needs the id of another one."""
    if one is other or one.create is None:
        return False
    names = names_of(other.name, other.item)
    schema = one.create.body.schema if one.create.body is not None else {}
    node = sampling.merge_all_of(description.document, schema)
    members = (*sampling.properties_of(node), *one.create.placeholders)
    return any(refers_to(member, names) for member in members)


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
    login = find_login(description)
    yield (
        "# The most ordinary caller comes first. `tenant`: the real id of the tenant, which no "
        "answer may contain."
    )
    if login is not None:
        yield f"# Each caller logs in by POST {login.path}; `save` is the place of the token."
    yield "identities:"
    for name, tenant in (("first", "a"), ("second", "b")):
        yield from _identity(schemes[0], login, name, tenant)
    yield (
        f"  # reader: {{tenant: a, scopes: [read], headers: "
        f"{{{_credential(schemes[0], 'reader')}}}}}   # a caller with fewer scopes"
    )


def _identity(scheme: Scheme, login: DraftedLogin | None, name: str, tenant: str) -> Iterator[str]:
    if login is None or scheme.kind == "basic":
        yield f"  {name}: {{tenant: {tenant}, headers: {{{_credential(scheme, name)}}}}}"
        return
    value = quote_scalar(("Bearer " if scheme.kind == "bearer" else "") + "${token}")
    yield f"  {name}:"
    yield f"    tenant: {tenant}"
    yield f"    headers: {{{scheme.name}: {value}}}"
    yield f"    login: {login.line(name)}"


def _credential(scheme: Scheme, name: str) -> str:
    variable = "${" + f"{name.upper()}_TOKEN" + "}"
    prefix = {"bearer": "Bearer ", "basic": "Basic "}.get(scheme.kind, "")
    return f"{scheme.name}: {quote_scalar(prefix + variable)}"


def _resources(description: Description, taxonomy: Taxonomy) -> Iterator[str]:
    found = _select_resources(description)
    if not found:
        yield (
            "# resources: no path creates a resource that another path reads; docs/conformance.md "
            "shows how to declare them"
        )
        return
    yield "resources:"
    for resource in found:
        yield f"  {resource.name}:"
        yield from _resource(description, taxonomy, resource)


def _resource(
    description: Description, taxonomy: Taxonomy, resource: DocumentedResource
) -> Iterator[str]:
    assert resource.create is not None
    unique = find_unique(description, taxonomy, resource)
    member = unique.member if unique is not None else None
    create = [f"request: {_request(resource.create)}"]
    if resource.create.body is not None:
        create.append(f"body: {_body(description, resource.create, unique=member)}")
    create.append("id: /id")
    if unique is not None and unique.certain:
        create.append(f"unique: [{quote_scalar(unique.member)}]")
        yield f"    # `{unique.member}` is unique: {unique.reason}; if not, remove `unique`"
    yield f"    create: {{{', '.join(create)}}}"
    if unique is not None and not unique.certain:
        members = ", ".join(map(quote_scalar, (unique.member, *unique.others)))
        yield f"    # to test duplicates, add to `create`: unique: [{members}]"
        more = "; keep those that are unique" if unique.others else ""
        yield f"    # ({unique.reason}{more})"
    elif unique is None and "409" in resource.create.responses:
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
    return quote_scalar(operation.name)


def _body(
    description: Description, operation: ServiceOperation, *, unique: str | None = None
) -> str:
    assert operation.body is not None
    source = sampling.ValueSource(description.document, Random(0))
    schema = operation.body.schema
    example = operation.body.example
    body = example if example is not None else sampling.sample_value(source, schema, fresh=False)
    properties = sampling.properties_of(sampling.merge_all_of(description.document, schema))
    free = {
        name
        for name in sampling.free_texts(description.document, schema)
        if may_be_unique(name, sampling.merge_all_of(description.document, properties[name]))
    }
    if isinstance(body, dict):
        body = {
            key: _placeholder(description, operation, key)
            or (f"{value}-${{unique}}" if _is_new(key, value, free) else value)
            if key != unique or key in free
            else "${unique}"  # it fits the format and the pattern of the member
            for key, value in body.items()
        }
    return json.dumps(body, ensure_ascii=False)


def _is_new(key: str, value: object, free: Collection[str]) -> bool:
    """Whether a new text may stand in a member. A new id would refer to nothing."""
    return key in free and isinstance(value, str) and not re.search(r"[a-z]_id$|[a-z]Id$", key)


def _placeholder(description: Description, operation: ServiceOperation, key: str) -> str | None:
    """Return `${room.id}` for a member such as `room_id`, if the draft creates such a resource."""
    for resource in _select_resources(description):
        if resource.create != operation and refers_to(key, names_of(resource.name, resource.item)):
            return "${" + resource.name + ".id}"
    return None
