"""The resources that are tested: what the file says of them where it does, what the document implies where it does not."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlsplit

from faultspec.openapi.resources import DocumentedResource, resources
from faultspec.openapi.service import (
    Description,
    RequestBody,
    ServiceOperation,
    matches,
    shape_of,
)
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.session.observation import Observation, point

JSON = "application/json"

#: What a resource's operation is for.
Role = Literal["create", "read", "update", "delete", "list"]


#: The methods that are asked of what lies below an item.
_BELOW = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """A resource as it is tested: what the file says where it does, what the document implies where it does not."""

    name: str
    inferred: DocumentedResource
    config: ResourceConfig

    def operation(self, role: Role) -> ServiceOperation | None:
        """The operation in this role."""
        found = getattr(self.inferred, role)
        return found if found is None or isinstance(found, ServiceOperation) else None

    def call(self, role: Role) -> ConfiguredCall | None:
        """The request that the file gives for this role."""
        found = getattr(self.config, role)
        return found if found is None or isinstance(found, ConfiguredCall) else None

    @property
    def item(self) -> str | None:
        """The template of an item's path."""
        return self.inferred.item


@dataclass(frozen=True, slots=True)
class CreatedResource:
    """A resource that was created. ``values`` fill the placeholders of its paths."""

    kind: ResourceKind
    id: object
    values: Mapping[str, object]
    owner: Identity
    body: object
    sent: Observation


def find_resource_kinds(
    target: ServiceConfig, description: Description
) -> tuple[ResourceKind, ...]:
    """The resources: those of the file first, then those that the document implies beside them."""
    inferred = list(resources(description))
    found: list[ResourceKind] = []
    for config in target.resources.values():
        match = next((each for each in inferred if _describes(config, each, description)), None)
        if match is not None:
            inferred.remove(match)
        found.append(
            ResourceKind(
                config.name,
                _completed(config, match or DocumentedResource(config.name), description),
                config,
            )
        )
    if not found:
        found = [ResourceKind(each.name, each, ResourceConfig(each.name)) for each in inferred]
    return tuple(found)


def _describes(
    config: ResourceConfig, inferred: DocumentedResource, description: Description
) -> bool:
    pairs = (
        (config.create, inferred.create),
        (config.read, inferred.read),
        (config.update, inferred.update),
    )
    return any(
        call is not None
        and found is not None
        and located(description, call.method, call.path).name == found.name
        for call, found in pairs
    )


def _completed(
    config: ResourceConfig, inferred: DocumentedResource, description: Description
) -> DocumentedResource:
    def chosen(
        call: ConfiguredCall | None, found: ServiceOperation | None
    ) -> ServiceOperation | None:
        return located(description, call.method, call.path) if call is not None else found

    return DocumentedResource(
        config.name,
        chosen(config.create, inferred.create),
        chosen(config.read, inferred.read),
        chosen(config.update, inferred.update),
        chosen(config.delete, inferred.delete),
        chosen(config.list, inferred.list),
    )


def below(operation: ServiceOperation, kind: ResourceKind) -> bool:
    """Whether an operation lies below an item, and leads to it with no other id."""
    under = shape_of(operation.template).startswith(shape_of(kind.item or "") + "/")
    return (
        under
        and operation.method in _BELOW
        and len(operation.placeholders) == (kind.item or "").count("{")
    )


def placed(description: Description, method: str, path: str) -> str:
    """A path of the file as it is sent: as it is written, or below the base path that the file left out."""
    bare, mark, query = path.partition("?")
    base = description.base
    if _documented(description, bare) or (base and f"{bare}/".startswith(f"{base}/")):
        return path
    if base and (not description.operations or _documented(description, base + bare)):
        return base + path
    for operation in description.operations:
        prefix = operation.template.removesuffix(bare)
        if operation.method == method and prefix != operation.template and "{" not in prefix:
            return prefix + bare + mark + query
    return path


def _documented(description: Description, path: str) -> bool:
    return any(matches(template, path) for template in description.paths)


def located(description: Description, method: str, path: str) -> ServiceOperation:
    """The operation that a path of the file means, with or without the base path of the document."""
    bare = placed(description, method, path).partition("?")[0]
    found = description.at(method, bare)
    if found is not None:
        return found
    writes = method not in SAFE_METHODS
    return ServiceOperation(
        method, bare, body=RequestBody((JSON,), True, {}) if writes and method != "DELETE" else None
    )


def identifier_of(sent: Observation, parameter: str, kind: ResourceKind) -> object:
    """The id of what was created: where the file says, else under the usual names in the body, else from Location."""
    body = sent.json
    if kind.config.id is not None:
        return point(body, kind.config.id)
    names = (parameter, "id", f"{kind.name}_id", f"{kind.name}Id", "uuid", "_id", "key", "name")
    layers = (
        [body, *(each for each in body.values() if isinstance(each, dict))]
        if isinstance(body, dict)
        else []
    )
    for layer in layers:
        for name in names:
            if (
                isinstance(layer, dict)
                and isinstance(layer.get(name), str | int)
                and not isinstance(layer[name], bool)
            ):
                return layer[name]
    location = sent.header("Location")
    return urlsplit(location).path.rstrip("/").rpartition("/")[2] or None if location else None


def path_of(template: str, values: Mapping[str, object]) -> str:
    """A template with its placeholders filled; what has no value stays, percent-encoded."""

    def fill(found: re.Match[str]) -> str:
        return (
            quote(str(values[found[1]]), safe="")
            if found[1] in values
            else quote(found[0], safe="")
        )

    return re.sub(r"{([^{}]+)}", fill, template)


def content_type(operation: ServiceOperation) -> str:
    """The JSON media type that an operation takes."""
    return (operation.body.json_type if operation.body else None) or JSON


def is_json_write(operation: ServiceOperation) -> bool:
    """Whether the operation takes a JSON body."""
    return operation.writes and operation.body is not None and operation.body.json_type is not None
