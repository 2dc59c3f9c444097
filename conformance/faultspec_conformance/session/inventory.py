"""All operations that a run knows by name: those of the OpenAPI document, of the taxonomy, and of
the configured calls.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from faultspec.contract.crashes import may_fail
from faultspec.language.model import Taxonomy
from faultspec.openapi.paths import RouteIndex
from faultspec.openapi.service import (
    Description,
    RequestBody,
    ServiceOperation,
    best_match,
    matches,
    shape_of,
)
from faultspec_conformance.config import ABSENT, ConfiguredCall, Recipe, ServiceConfig
from faultspec_conformance.config.requests import NAMES
from faultspec_conformance.session.resources import JSON, place_path

#: Methods with a body, as far as a route alone says.
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

_ROLES = ("create", "read", "update", "delete", "list", "batch")


@dataclass(frozen=True, slots=True)
class NamedCall:
    """A configured call. ``sound``: it should succeed as it is, without values of earlier steps."""

    call: ConfiguredCall
    identity: str | None = None
    sound: bool = True


@dataclass(frozen=True)  # with a dictionary, for what is computed once
class Inventory:
    """``operations``: those of the document first. ``calls``: sound calls by operation name.

    ``certain``: names of operations that exist, by the document or a sound call. A route of a
    taxonomy may belong to another service, and a recipe may ask for a method that is missing.
    """

    operations: tuple[ServiceOperation, ...] = ()
    calls: Mapping[str, NamedCall] = field(default_factory=dict)
    certain: frozenset[str] = frozenset()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path of an operation that exists, once."""
        return tuple(dict.fromkeys(one.template for one in self.operations if self.has(one)))

    def has(self, operation: ServiceOperation) -> bool:
        """Whether the operation certainly exists."""
        return operation.name in self.certain

    def template(self, method: str, path: str) -> str:
        """The template of the operation that a path is for; without one, the path itself."""
        if (method, path) in self._templates:
            return path
        found = best_match(self._routes.find(path), method, path)
        return path if found is None else found.template

    @cached_property
    def _templates(self) -> frozenset[tuple[str, str]]:
        return frozenset((one.method, one.template) for one in self.operations)

    @cached_property
    def _routes(self) -> RouteIndex[ServiceOperation]:
        return RouteIndex(self.operations)

    def methods(self, template: str) -> tuple[str, ...]:
        """The methods that a path certainly has."""
        return tuple(
            operation.method
            for operation in self.operations
            if operation.template == template and self.has(operation)
        )


def find_inventory(
    taxonomy: Taxonomy, config: ServiceConfig, description: Description
) -> Inventory:
    """Return the operations of the document, of configured calls and of the taxonomy's routes."""
    found = {operation.name: operation for operation in description.operations}
    calls: dict[str, NamedCall] = {}
    configured = [
        named
        for named in _configured_calls(taxonomy, config)
        if named.call.path.startswith("/")  # a saved URL names no operation
    ]
    routes = tuple(_routes(taxonomy))
    for method, path in routes:
        # A route of a taxonomy may belong to another service, unless a call asks this one for it.
        if any(_asks_for(named.call, method, path, description) for named in configured):
            operation = _operation(found, description, NamedCall(_call(method, path)))
            found.setdefault(operation.name, operation)
    certain = set(found)
    for named in configured:
        operation = _operation(found, description, named)
        if named.sound:
            certain.add(operation.name)
            calls.setdefault(operation.name, named)
        if operation.body is not None or operation.name not in found:
            found[operation.name] = operation
    # What answers teach of a service does not say that it lacks the routes of its taxonomy.
    for method, path in () if certain and not description.learned else routes:
        operation = _operation(found, description, NamedCall(_call(method, path), sound=False))
        found.setdefault(operation.name, operation)
    kept = tuple(
        operation
        for operation in found.values()
        if config.skip_reason(operation.method, operation.template, description.base) is None
    )
    return Inventory(kept, calls, frozenset(certain))


def _call(method: str, path: str) -> ConfiguredCall:
    return ConfiguredCall(method, path, body={} if method in _WITH_BODY else ABSENT)


def _asks_for(call: ConfiguredCall, method: str, path: str, description: Description) -> bool:
    """Whether a configured call is a request of the route."""
    bare = place_path(description, call.method, call.path).partition("?")[0]
    return call.method == method and matches(path, bare)


def _operation(
    found: Mapping[str, ServiceOperation], description: Description, named: NamedCall
) -> ServiceOperation:
    """Return the known operation of a call, or a new one."""
    call = named.call
    path = NAMES.sub(r"{\1}", call.path)
    bare = place_path(description, call.method, path).partition("?")[0]
    known = description.operation_at(call.method, bare)
    if known is not None:
        return known
    for operation in found.values():
        same = shape_of(operation.template) == shape_of(bare) or matches(operation.template, bare)
        if operation.method == call.method and same:
            # A recipe may have named it without its body.
            return replace(operation, body=operation.body or _body(named))
    return ServiceOperation(call.method, bare, body=_body(named))


def _body(named: NamedCall) -> RequestBody | None:
    if named.call.method not in _WITH_BODY or named.call.body is ABSENT:
        return None
    headers = {name.lower(): value for name, value in named.call.headers.items()}
    media_type = (headers.get("content-type") or JSON).partition(";")[0].strip()
    return RequestBody((media_type,), required=False, schema={})


def _configured_calls(taxonomy: Taxonomy, config: ServiceConfig) -> Iterator[NamedCall]:
    for resource in config.resources.values():
        for role in _ROLES:
            call = getattr(resource, role)
            if call is not None:
                yield NamedCall(call, resource.identity)
    for upstream in config.upstreams:
        yield from (NamedCall(asked.call, asked.identity) for asked in upstream.calls)
    for recipe in config.recipes:
        for step in (*recipe.steps[:-1], *recipe.action):
            sound = is_whole(step.call) and (step.status or 200) < 300
            yield NamedCall(step.call, step.identity, sound=sound)
        yield from _last_step_calls(taxonomy, recipe)


def _last_step_calls(taxonomy: Taxonomy, recipe: Recipe) -> Iterator[NamedCall]:
    """Yield the call of a recipe's last step without what makes it fail, if that is known."""
    if not recipe.steps:
        return
    last = recipe.steps[-1]
    if not may_fail(taxonomy, recipe.code):
        yield NamedCall(last.call, last.identity, sound=False)
    elif last.call.headers or last.call.query:
        plain = replace(last.call, headers={}, query={}, path=last.call.path.partition("?")[0])
        yield NamedCall(plain, last.identity, sound=is_whole(plain))


def is_whole(call: ConfiguredCall) -> bool:
    """Whether a call needs no value of an earlier step, apart from the placeholders of its path."""
    names = set(NAMES.findall(f"{call.body} {call.raw} {call.query}"))
    return all(name == "unique" or set(name) & set(":.") for name in names)


def _routes(taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    """Yield the method and the path of every route that names one operation."""
    claims = (
        *(operation.match for operation in taxonomy.operations.values()),
        *(surface.match for surface in taxonomy.surfaces.values() if surface.transport == "http"),
    )
    for match in claims:
        for route in match.routes:
            method, _, path = route.rpartition(" ")
            if method and "*" not in path and path.startswith("/"):
                yield method.strip().upper(), path
