"""Values for the parameters of operations: constants, known ids, documented examples, and ids
without a resource.
"""

import re
from collections.abc import Mapping

from faultspec.openapi.service import OperationParameter, ServiceOperation, shape_of
from faultspec_conformance.config import Identity
from faultspec_conformance.config.context import wire_text
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fault_switches import STANDARD
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import accepts_key, new_key
from faultspec_conformance.session.observation import list_items
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    refers_to,
)

#: Names of headers whose value is a credential, which an example cannot be.
CREDENTIAL = re.compile(r"auth|token|secret|signature|key|session", re.IGNORECASE)

#: A header with the key of a write, whatever the taxonomy declares.
_IDEMPOTENCY = re.compile(r"idempoten", re.IGNORECASE)

#: Ids that are made up for one that no resource has.
_DRAWS = 8


def values_for(session: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Return values for an operation's placeholders: of created resources or, for want of one,
    without a resource.
    """
    values = known_values(session, operation)
    for name in operation.placeholders:
        if name not in values:
            values[name] = absent_value(session, operation, name)
    return values


def written_path_values(
    session: HttpSession,
    operation: ServiceOperation,
    path: str,
    saved: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Return values for the placeholders of a configured path, whatever it calls them: saved ones,
    ids of created resources, by their place or the name of their kind, or new values.
    """
    known, values = values_for(session, operation) if "{" in path else {}, dict(saved or {})
    found: dict[str, object] = {}
    for own, part in zip(operation.template.split("/"), path.split("/"), strict=False):
        if part.startswith("{") and part.endswith("}"):
            name = part[1:-1]
            named = (kind.name for kind in session.kinds if name in kind.names)
            resource = session.knowledge.created.get(next(named, ""))
            other = session.tokens.hex(8) if resource is None else resource.id
            found[name] = values.get(name, known.get(own[1:-1], other))
    return found


def likely_values(session: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Return values for an operation's placeholders like `values_for`, with the examples of the
    document before values without a resource.

    What an example names is not deleted: the suite did not make it.
    """
    values = known_values(session, operation)
    for name in operation.placeholders:
        parameter = operation.parameter(name, "path")
        if name in values or parameter is None or operation.method == "DELETE":
            continue
        example = _documented_value(session, parameter)
        if example not in (None, ""):
            values[name] = example
    rule = session.key_rule(operation)
    if rule is not None and rule.key.kind == "path" and accepts_key(session, operation):
        # Another request under the key of what exists would be taken for its replay.
        values[rule.key.at] = new_key(session, operation)
    return values_for(session, operation) | values


def known_values(session: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Return the constants and the values of created resources for the placeholders that they
    belong to.
    """
    names = operation.placeholders
    known = {name: session.constants[name] for name in names if name in session.constants}
    template = shape_of(operation.template)
    for resource in session.knowledge.created.values():
        item = shape_of(resource.kind.item) if resource.kind.item is not None else None
        if item is not None and (template == item or template.startswith(item + "/")):
            known |= zip(names, resource.values.values(), strict=False)
    for name in names:
        if name not in known and (referred := referred_id(session, name)) is not None:
            known[name] = referred
        if name not in known and (listed := listed_id(session, operation, name)) is not None:
            known[name] = listed
    return known


def listed_id(session: HttpSession, operation: ServiceOperation, name: str) -> object:
    """Return the first id that the last answer of a list has for the placeholder after it; None if
    the ordinary caller has read no such list.

    What a list shows is read and acted on, and never changed or deleted: the suite did not make it.
    """
    collection, _, rest = operation.template.partition("/{" + name + "}")
    if operation.method != "GET" and not (operation.method == "POST" and rest):
        return None
    for answer in reversed(session.knowledge.exchanges):
        exchange = answer.exchange
        is_own = exchange.identity in (None, session.caller.name)
        if exchange.operation == f"GET {collection}" and answer.ok and is_own:
            items = list_items(answer.json)
            return id_of_item(items[0], name) if items else None
    return None


def id_of_item(item: object, parameter: str) -> object:
    """Return the id of an item of a list, which may be the item itself; None if it has none."""
    members = item if isinstance(item, dict) else {"id": item}
    names = (parameter, "id", *(name for name in members if refers_to(name, (parameter,))))
    for name in (*names, "uuid", "_id", "key", "name"):
        value = members.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return value
    return None


def referred_id(session: HttpSession, name: str) -> object:
    """Return the id of the created resource that a name such as `room_id` refers to, or None."""
    kind = referred_kind(session, name)
    resource = session.knowledge.created.get(kind.name) if kind is not None else None
    return resource.id if resource is not None else None


def referred_kind(session: HttpSession, name: str) -> ResourceKind | None:
    """Return the kind of resource that a member or parameter refers to, or None."""
    return next((kind for kind in session.kinds if refers_to(name, kind.names)), None)


def absent_value(session: HttpSession, operation: ServiceOperation, name: str) -> object:
    """Return a placeholder's value without a resource, in the format of known ids or of the
    parameter's schema.
    """
    for resource in session.knowledge.created.values():
        item = resource.kind.item
        if item is not None and operation.template.startswith(item.rpartition("/")[0]):
            return _other_id(session, resource)
    parameter = operation.parameter(name, "path")
    if parameter is None:
        return session.tokens.hex(8)
    return sampling.other_identifier(session.source, _example(session, parameter))


def _other_id(session: HttpSession, resource: CreatedResource) -> object:
    """Return an id like that of a resource, which no created one has: a short one may by chance."""
    known = {str(one.id) for one in session.knowledge.created.values()}
    found = (sampling.other_identifier(session.source, resource.id) for _ in range(_DRAWS))
    return next((id for id in found if str(id) not in known), session.tokens.hex(8))


def readable_operation(session: HttpSession) -> ServiceOperation | None:
    """Return an operation that can be read without an id, preferably the list of a resource."""
    for kind in session.kinds:
        listing = kind.operation("list")
        if listing is not None and not listing.placeholders:
            return listing
    reads = [
        operation
        for operation in session.inventory.operations
        if operation.method == "GET"
        and not operation.placeholders
        and any("json" in media for media in operation.media_types or ("json",))
    ]
    return min(
        reads,
        key=lambda operation: (not session.inventory.has(operation), operation.secured is not True),
        default=None,
    )


def required_query(session: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Return values for the required parameters of a query."""
    return {
        parameter.name: _example(session, parameter)
        for parameter in operation.parameters
        if parameter.where == "query" and parameter.required
    }


def required_request_headers(
    session: HttpSession, operation: ServiceOperation, caller: Identity
) -> dict[str, str]:
    """Return the required headers of an operation, with the values that the document gives, else
    with fresh ones that their schemas allow.

    Headers of the caller, credentials and headers with a standard meaning are left out, except for
    a new idempotency key.
    """
    own = STANDARD | {name.lower() for name, _ in caller.headers}
    found = {}
    for parameter in operation.parameters:
        name = parameter.name
        if parameter.where != "header" or not parameter.required:
            continue
        if _IDEMPOTENCY.search(name):
            found[name] = session.tokens.id("uuid4")
        elif name.lower() not in own and not CREDENTIAL.search(name):
            found[name] = wire_text(_example(session, parameter))
    return found


def _example(session: HttpSession, parameter: OperationParameter) -> object:
    """Return the value of a parameter that the document gives; else the id that its name refers to,
    else a value that its schema allows.
    """
    documented = _documented_value(session, parameter)
    if documented is not None:
        return documented
    referred = referred_id(session, parameter.name)
    if referred is not None:
        return referred
    return sampling.sample_value(session.source, parameter.schema)


def _documented_value(session: HttpSession, parameter: OperationParameter) -> object:
    """Return the example of a parameter as the document has it, or None."""
    if parameter.example is not None:
        return parameter.example
    node = sampling.merge_all_of(session.description.document, parameter.schema)
    found = (node[key] for key in ("const", "default") if key in node)
    listed = sampling.only_branch(session.description.document, node).get("enum")
    first = listed[0] if isinstance(listed, list) and listed else None
    return next(found, first if first is not None else sampling.example_of(node))
