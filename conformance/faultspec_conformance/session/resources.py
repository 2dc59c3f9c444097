"""The resources that are tested, from the configuration and, for what it leaves out, from the
OpenAPI document.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote, urlsplit

from faultspec.openapi.resources import DocumentedResource, resources
from faultspec.openapi.service import (
    Description,
    RequestBody,
    ServiceOperation,
    matches,
    path_values,
    placeholders,
    shape_of,
)
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.session.observation import Observation, point

JSON = "application/json"

#: What a resource's operation is for.
Role = Literal["create", "read", "update", "delete", "list"]

#: The methods that probes send to paths below an item.
_BELOW = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """A kind of resource that is tested: what the configuration says, else what the document
    implies.
    """

    name: str
    inferred: DocumentedResource
    config: ResourceConfig

    def operation(self, role: Role) -> ServiceOperation | None:
        """Return the operation in this role."""
        found = getattr(self.inferred, role)
        return found if found is None or isinstance(found, ServiceOperation) else None

    def call(self, role: Role) -> ConfiguredCall | None:
        """Return the request that the configuration has for this role."""
        found = getattr(self.config, role)
        return found if found is None or isinstance(found, ConfiguredCall) else None

    @property
    def item(self) -> str | None:
        """The template of an item's path."""
        return self.inferred.item

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a reference may call the kind."""
        return names_of(self.name, self.item)


def names_of(name: str, item: str | None) -> tuple[str, ...]:
    """Return what a reference may call a kind of resource: its name, and the collection of the path
    of its items, each also without a plural `s`.
    """
    collection = re.sub(r"/?{[^{}]*}", "", item or "").rpartition("/")[2]
    return tuple(form for own in (name, collection) for form in (own, own.removesuffix("s")) if own)


def refers_to(member: str, names: Iterable[str]) -> bool:
    """Whether a member or parameter such as `room_id`, `roomId` or `X-Room-Id` refers to a kind of
    resource of one of these names.
    """
    plain = _letters(member).removeprefix("x")
    return plain.endswith("id") and plain.removesuffix("id") in set(map(_letters, names)) - {""}


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


@dataclass(frozen=True, slots=True)
class CreatedResource:
    """A resource that was created.

    ``values`` fill the placeholders of its paths; ``creation`` is the exchange.
    """

    kind: ResourceKind
    id: object
    values: Mapping[str, object]
    owner: Identity
    body: object
    creation: Observation

    def values_for(self, template: str) -> Mapping[str, object]:
        """Return the values of the path of the creation, if it fits the template; else of the item.

        An item below a parent may call its own id like that of the parent.
        """
        path = self.creation.exchange.request.target.partition("?")[0]
        return path_values(template, path) or self.values

    def item_values(self, operation: ServiceOperation) -> Mapping[str, object]:
        """Return the values for an operation on the item, whatever it calls its placeholders."""
        return dict(zip(operation.placeholders, self.values.values(), strict=False))


def find_resource_kinds(
    config: ServiceConfig, description: Description
) -> tuple[ResourceKind, ...]:
    """Return the kinds of resource: those of the configuration, then the others that the document
    implies.
    """
    inferred = list(resources(description))
    found: list[ResourceKind] = []
    for declared in config.resources.values():
        matching = (known for known in inferred if _describes(declared, known, description))
        match = next(matching, DocumentedResource(declared.name))
        inferred = [known for known in inferred if known is not match]
        completed = _complete(declared, match, description)
        found.append(ResourceKind(declared.name, completed, declared))
    names = {kind.name for kind in found}
    for known in inferred:
        name = f"{known.name}_" if known.name in names else known.name
        found.append(ResourceKind(name, replace(known, name=name), ResourceConfig(name)))
    return tuple(found)


def _describes(
    config: ResourceConfig, inferred: DocumentedResource, description: Description
) -> bool:
    pairs = (
        (config.create, inferred.create),
        (config.read, inferred.read),
        (config.update, inferred.update),
        (config.delete, inferred.delete),
        (config.list, inferred.list),
    )
    if all(call is None for call, _ in pairs):
        return config.name == inferred.name
    return any(
        call is not None
        and found is not None
        and locate_operation(description, call.method, call.path).name == found.name
        for call, found in pairs
    )


def _complete(
    config: ResourceConfig, inferred: DocumentedResource, description: Description
) -> DocumentedResource:
    def choose(
        call: ConfiguredCall | None, found: ServiceOperation | None
    ) -> ServiceOperation | None:
        return locate_operation(description, call.method, call.path) if call is not None else found

    return DocumentedResource(
        config.name,
        create=choose(config.create, inferred.create),
        read=choose(config.read, inferred.read),
        update=choose(config.update, inferred.update),
        delete=choose(config.delete, inferred.delete),
        list=choose(config.list, inferred.list),
    )


def lies_below(operation: ServiceOperation, kind: ResourceKind) -> bool:
    """Whether an operation lies below an item and needs no id but that of the item."""
    under = shape_of(operation.template).startswith(shape_of(kind.item or "") + "/")
    return (
        under
        and operation.method in _BELOW
        and len(operation.placeholders) == (kind.item or "").count("{")
    )


def place_path(description: Description, method: str, path: str) -> str:
    """Return a configured path as it is sent: as written, or below the base path that the
    configuration leaves out.
    """
    bare, mark, query = path.partition("?")
    base = description.base
    if _is_documented(description, bare) or (base and f"{bare}/".startswith(f"{base}/")):
        return path
    if base and (not description.operations or _is_documented(description, base + bare)):
        return base + path
    for operation in description.operations:
        prefix = operation.template.removesuffix(bare)
        if operation.method == method and prefix != operation.template and "{" not in prefix:
            return prefix + bare + mark + query
    return path


def _is_documented(description: Description, path: str) -> bool:
    return any(matches(template, path) for template in description.paths)


def locate_operation(description: Description, method: str, path: str) -> ServiceOperation:
    """Return the operation that a configured path addresses, with or without the base path of the
    document.
    """
    bare = place_path(description, method, path).partition("?")[0]
    found = description.operation_at(method, bare)
    if found is not None:
        return found
    has_body = method not in SAFE_METHODS | {"DELETE"}
    return ServiceOperation(method, bare, body=RequestBody((JSON,), True, {}) if has_body else None)


def objects_in(body: object) -> list[dict[str, object]]:
    """Return a JSON object and the objects that are its members; empty if it is not an object."""
    if not isinstance(body, dict):
        return []
    return [body, *(member for member in body.values() if isinstance(member, dict))]


def identifier_of(creation: Observation, parameter: str, kind: ResourceKind) -> object:
    """Return the id of a created resource, or None.

    It is at the configured pointer; without one, under a usual name in the body, else at the
    end of `Location`.
    """
    if kind.config.id is not None:
        return point(creation.json, kind.config.id)
    for members in objects_in(creation.json):
        for name in id_names(parameter, kind.name):
            value = members.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool):
                return value
    location = creation.header("Location")
    return urlsplit(location).path.rstrip("/").rpartition("/")[2] or None if location else None


def id_names(parameter: str, kind: str) -> tuple[str, ...]:
    """Return the members that may have the id of an item, the likeliest first.

    ``parameter``: the placeholder in the path of the item. ``kind``: the name of the resource.
    """
    return (parameter, "id", f"{kind}_id", f"{kind}Id", "uuid", "_id", "key", "name")


def creation_path(kind: ResourceKind, creation: Observation) -> str | None:
    """Return the path of the item that an answer to a creation made, or None."""
    create, item = kind.operation("create"), kind.item
    if create is None or item is None or creation.exchange.operation != create.name:
        return None
    path = creation.exchange.request.target.partition("?")[0]
    identifier = identifier_of(creation, last_placeholder(kind), kind)
    if create.method == "PUT" or identifier is None:
        return path if create.method == "PUT" else None
    names = placeholders(item)
    parents = (path_values(create.template, path) or {}).values()
    return path_of(item, dict(zip(names, [*parents, identifier], strict=False)))


def created_path(kinds: Iterable[ResourceKind], creation: Observation) -> str | None:
    """Return the path of the item of the first kind that an answer to a creation made, or None."""
    paths = (creation_path(kind, creation) for kind in kinds)
    return next((path for path in paths if path is not None), None)


def last_placeholder(kind: ResourceKind) -> str:
    """Return the name of the placeholder that holds an item's id."""
    return (kind.item or "{id}").rpartition("{")[2].partition("}")[0]


def path_of(template: str, values: Mapping[str, object]) -> str:
    """Return a template with its placeholders filled.

    A placeholder without a value stays, percent-encoded.
    """

    def fill(found: re.Match[str]) -> str:
        # A service may name an item by half a surrogate.
        return quote(str(values.get(found[1], found[0])), safe="", errors="surrogatepass")

    return re.sub(r"{([^{}]+)}", fill, template)


def content_type(operation: ServiceOperation) -> str:
    """Return the media type for the body of an operation: JSON if it accepts that, or a form."""
    if operation.body is None:
        return JSON
    return operation.body.json_type or operation.body.form_type or JSON


def takes_body(operation: ServiceOperation) -> bool:
    """Whether the operation accepts a body that can be made up: JSON, or a form."""
    has_form = operation.body is not None and operation.body.form_type is not None
    return is_json_write(operation) or (operation.writes and has_form)


def is_json_write(operation: ServiceOperation) -> bool:
    """Whether the operation accepts a JSON body."""
    return operation.writes and operation.body is not None and operation.body.json_type is not None
