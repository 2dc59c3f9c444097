"""The overlay target: OpenAPI Overlay 1.0 documents that add the declared errors to a service's own
OpenAPI document.

The service's paths are unknown, and JSONPath (RFC 9535) cannot compare a path with a pattern. So
the operations are first marked, and then get their responses:

* ``x-error-operation`` names the operation, found by its route or by ``operationId``;
* ``x-error-surface-<name>``: the routes of a surface cover the operation. Routes without ``*`` are
  found by their path. Others are listed in ``x-unmapped-routes``, and the service's document sets
  the mark itself;
* ``x-idempotency-key`` is the place of the key in requests of operations that accept one;
* for each surface, in order, and each status one action adds the response, if the surface is the
  first to claim it and the document has no response for that status.

Components are named after the taxonomy, so that their names differ from the document's own.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from faultspec.language.carriers import uses_envelope
from faultspec.language.conditions import StatusRange
from faultspec.language.model import Idempotency, Match, Operation, Surface, Taxonomy
from faultspec.language.spelling import pascal
from faultspec.targets import openapi
from faultspec.targets import schema as schemas
from faultspec.targets.json_text import Fragment
from faultspec.targets.model import Model

Json = schemas.Json


class OverlayView(NamedTuple):
    """The overlays for documents of OpenAPI 3.1 and 3.0."""

    v31: Json
    v30: Json


class OverlayResponse(NamedTuple):
    """A response to be added. ``where``: the filter that chooses operations; ``name``: its
    component.
    """

    name: str
    status: str
    where: str
    response: Json


def view(taxonomy: Taxonomy, model: Model) -> OverlayView | None:
    """The overlays, or None if no error travels over HTTP in an envelope."""
    answers = list(_answers(taxonomy))
    if not answers:
        return None
    responses = {"responses": {answer.name: answer.response for answer in answers}}
    current = {**openapi.components(taxonomy), **responses}
    old = {**openapi.components_30(taxonomy), **openapi.convert_to_30(responses)}
    return OverlayView(
        _document(current, answers, taxonomy, model), _document(old, answers, taxonomy, model)
    )


def _document(
    components: Json, answers: list[OverlayResponse], taxonomy: Taxonomy, model: Model
) -> Json:
    prefix = pascal(taxonomy.name)
    unmapped = [
        route
        for surface in _http(taxonomy)
        for route in surface.match.routes
        if _paths(route) is None
    ]
    return {
        "overlay": "1.0.0",
        "info": {
            "title": f"{taxonomy.title}: the errors a service may answer with",
            # The version of the taxonomy would change this file with every release.
            "version": "1",
            "x-comment": model.header,
            **({"x-unmapped-routes": unmapped} if unmapped else {}),
        },
        "actions": [
            {
                "target": "$",
                "update": {"components": prefix_components(_used_components(components), prefix)},
            },
            *_marks(taxonomy),
            *_key_marks(taxonomy),
            *(
                {
                    "target": f"$.paths.*[?({answer.where})].responses",
                    "update": {
                        answer.status: {"$ref": f"#/components/responses/{prefix}{answer.name}"}
                    },
                }
                for answer in answers
            ),
        ],
    }


def _http(taxonomy: Taxonomy) -> Iterator[Surface]:
    return (surface for surface in taxonomy.surfaces.values() if surface.transport == "http")


# Which operations


def _paths(route: str) -> str | None:
    """The JSONPath of the operations of a route, or None if it has a pattern; ``/**`` alone is
    every path.
    """
    method, _, path = route.rpartition(" ")
    last = f".{method.lower()}" if method else "[?(@.responses)]"
    if path == "/**":
        return f"$.paths.*{last}"
    return None if "*" in path else f"$.paths[{_text(path)}]{last}"


def _text(text: str) -> str:
    """A string of JSONPath."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _matches_everything(match: Match) -> bool:
    return not match.routes or "/**" in match.routes


def _key_marks(taxonomy: Taxonomy) -> Iterator[Json]:
    """Mark the operations that accept the idempotency key with its place. A filter cannot read the
    placeholders of a path, so those come from the taxonomy's routes.
    """
    rule = taxonomy.idempotency
    if rule is None:
        return
    matches = [each.match for each in _http(taxonomy) if each.key is None]
    matches += [each.match for each in taxonomy.operations.values() if each.key is None]
    routes = [route for match in matches for route in match.routes]
    yield from _mark_key(rule, [f"{method} /**" for method in rule.methods], routes)
    for holder, place in taxonomy.own_key_places():
        own = rule._replace(key=place)
        found = (
            _mark_key(own, list(_split_methods(own, holder.match.routes)))
            if isinstance(holder, Operation)
            else _mark_surface_key(own, holder, taxonomy)
        )
        for mark in found:
            # Tools that apply overlays may merge a mark into those of other operations as well.
            yield {"target": f"{mark['target']}['x-idempotency-key']", "remove": True}
            yield mark


def _mark_surface_key(rule: Idempotency, surface: Surface, taxonomy: Taxonomy) -> Iterator[Json]:
    if _matches_everything(surface.match):
        everywhere = [f"{method} /**" for method in rule.methods]
        operations = [o for o in taxonomy.operations.values() if o.key is None]
        yield from _mark_key(rule, everywhere, [r for o in operations for r in o.match.routes])
        return
    yield from _mark_key(rule, list(_split_methods(rule, surface.match.routes)))
    if rule.key.kind != "path" and any("*" in route for route in surface.match.routes):
        for method in map(str.lower, rule.methods):
            target = f"$.paths[?@.{method}['{_mark(surface)}']].{method}"
            yield _key_update(rule, target)


def _mark_key(
    rule: Idempotency, everywhere: list[str], routes: Iterable[str] = ()
) -> Iterator[Json]:
    """Mark the routes ``everywhere``; if the key is in the path, those of both that have it."""
    marked = everywhere
    if rule.key.kind == "path":
        marked = list(dict.fromkeys(_split_methods(rule, (*routes, *everywhere))))
        marked = [route for route in marked if "{" + rule.key.at + "}" in route]
    for route in marked:
        target = _paths(route)
        if target is not None:
            yield _key_update(rule, target)


def _key_update(rule: Idempotency, target: str) -> Json:
    mark = {"in": rule.key.kind, "at": rule.key.at}
    return {"target": target, "update": {"x-idempotency-key": mark}}


def _split_methods(rule: Idempotency, routes: Iterable[str]) -> Iterator[str]:
    """The routes of the methods that accept a key, each with one method."""
    for route in routes:
        method, _, path = route.rpartition(" ")
        if "*" not in path:
            methods = [method.upper()] if method else rule.methods
            yield from (f"{each} {path}" for each in methods if each in rule.methods)


def _marks(taxonomy: Taxonomy) -> Iterator[Json]:
    for operation in taxonomy.operations.values():
        if _differs(operation):
            mark = {"x-error-operation": operation.name}
            for route in operation.match.routes:
                if (target := _paths(route)) is not None:
                    yield {"target": target, "update": mark}
            for name in dict.fromkeys((operation.name, operation.wire)):
                yield {"target": f"$.paths.*[?(@.operationId == {_text(name)})]", "update": mark}
    for surface in _http(taxonomy):
        if not _matches_everything(surface.match):
            for route in surface.match.routes:
                if (target := _paths(route)) is not None:
                    yield {"target": target, "update": {_mark(surface): True}}


def _mark(surface: Surface) -> str:
    return f"x-error-surface-{surface.name}"


def _differs(operation: Operation) -> bool:
    """Whether an operation may answer otherwise than its surface."""
    return operation.codes is not None or any(
        error.live and error.http.statuses for error in operation.errors.values()
    )


# Which responses


def _answers(taxonomy: Taxonomy) -> Iterator[OverlayResponse]:
    """Every response, single operations' before those of the whole surface."""
    names = openapi.component_names(taxonomy)
    http = list(_http(taxonomy))
    for index, surface in enumerate(http):
        if surface.foreign or surface.batch is not None or not surface.envelopes:
            continue
        for operation in (*filter(_differs, taxonomy.operations.values()), None):
            for status, response in _responses(surface, operation, names, taxonomy):
                where = _operation_filter(
                    surface=surface,
                    earlier=http[:index],
                    operation=operation,
                    status=status,
                    taxonomy=taxonomy,
                )
                if where is not None:
                    whose = f"{pascal(surface.name)}{pascal(operation.name) if operation else ''}"
                    yield OverlayResponse(f"{whose}{status}", status, where, response)


def _operation_filter(
    surface: Surface,
    earlier: list[Surface],
    operation: Operation | None,
    status: str,
    taxonomy: Taxonomy,
) -> str | None:
    """The filter for operations that the surface is the first to claim under the status; None if it
    never is.
    """
    parts = [] if _matches_everything(surface.match) else [f"@['{_mark(surface)}']"]
    for other in earlier:
        if not other.match.statuses or _is_covered(status, other.match.statuses):
            if _matches_everything(other.match) and not other.match.request:
                return None
            parts.append(f"!@['{_mark(other)}']")
    if operation is not None:
        parts.append(f"@['x-error-operation'] == {_text(operation.name)}")
    else:
        parts += [
            f"@['x-error-operation'] != {_text(each.name)}"
            for each in taxonomy.operations.values()
            if each.codes is not None
        ]
    return " && ".join(["@.responses", *parts, f"!@.responses['{status}']"])


def _is_covered(status: str, spans: tuple[StatusRange, ...]) -> bool:
    """Whether a status, or every one of a class such as ``4XX``, lies in one of the ranges."""
    own = StatusRange(int(status.replace("X", "0")), int(status.replace("X", "9")))
    return any(each.covers(own) for each in spans)


def _responses(
    surface: Surface, operation: Operation | None, names: openapi.ComponentNames, taxonomy: Taxonomy
) -> Iterator[tuple[str, Json]]:
    """The response under each status, for all envelopes; of an operation only its own."""
    own = (
        []
        if operation is None
        else [
            error
            for error in (*operation.errors.values(), *operation.variants.values())
            if error.live
        ]
    )
    allowed = None if operation is None else operation.codes
    shared = [
        code
        for code in taxonomy.shared_live_codes()
        if (surface.codes is None or code.name in surface.codes)
        and (allowed is None or code.name in allowed)
        and (operation is None or code.name not in operation.variants)
    ]
    found: dict[str, list[tuple[str, Json]]] = {}
    for name in surface.envelopes:
        envelope = taxonomy.envelopes[name]
        codes = [(None, code) for code in shared if uses_envelope(code, envelope)]
        codes_of_operation = (
            [(operation.name, code) for code in own if uses_envelope(code, envelope)]
            if operation
            else []
        )
        for status, response in openapi.responses(
            envelope, [*codes, *codes_of_operation], names, taxonomy
        ):
            found.setdefault(status.upper(), []).append((name, response))
    for status in sorted(found):
        error_when = () if surface.marks_bodies else surface.error_when
        limits = (surface.match.statuses, error_when)
        if any(each and not _is_covered(status, each) for each in limits):
            continue
        if (
            operation is not None
            and allowed is None
            and not any(_is_covered(status, code.http.statuses) for code in own)
        ):
            continue
        yield status, _merge_responses([response for _, response in found[status]], surface)


def _merge_responses(responses: list[Json], surface: Surface) -> Json:
    """One response for all envelopes; any of their bodies if there are several, or if some errors
    have none.
    """
    several = len(surface.envelopes) > 1 or surface.reason is not None
    content: Json = {}
    headers: Json = {}
    for response in responses:
        headers |= response.get("headers", {})
        for media, each in response["content"].items():
            if not several:
                content[media] = each
                continue
            there = content.setdefault(media, {"schema": {"anyOf": []}})
            there["schema"]["anyOf"].append(each["schema"])
            if "examples" in each:
                there["examples"] = {**there.get("examples", {}), **each["examples"]}
    if surface.reason is not None:
        for each in content.values():
            each["schema"]["anyOf"].append({"description": surface.reason})
    return {
        "description": responses[0]["description"],
        **({"headers": headers} if headers else {}),
        "content": content,
    }


# Components of its own


def _used_components(components: Json) -> Json:
    """The components that the responses come to, in their order."""
    reached: set[tuple[str, str]] = set()
    waiting: list[Any] = list(components["responses"].values())
    while waiting:
        value = waiting.pop()
        if type(value) is str:
            if value.startswith("#/components/"):
                section, name, *_ = value.removeprefix("#/components/").split("/")
                if (section, name) not in reached:
                    reached.add((section, name))
                    waiting.append(components[section][name])
        elif isinstance(value, dict):
            if not _refers_to_nothing(value):
                waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return {
        section: {
            name: each
            for name, each in named.items()
            if section == "responses" or (section, name) in reached
        }
        for section, named in components.items()
    }


def _refers_to_nothing(value: Json) -> bool:
    """Whether the text of a fragment, which is needed anyway, has no reference to a component."""
    return type(value) is Fragment and not value.refers


def prefix_components(components: Json, prefix: str) -> Json:
    """The components and every reference among them, with ``prefix`` before the name."""
    return {
        section: {
            f"{prefix}{name}": _prefix_references(each, prefix) for name, each in named.items()
        }
        for section, named in components.items()
        if named
    }


def _prefix_references(value: Any, prefix: str) -> Any:
    if type(value) is str:
        if not value.startswith("#/components/"):
            return value
        section, name = value.removeprefix("#/components/").split("/", 1)
        return f"#/components/{section}/{prefix}{name}"
    if isinstance(value, dict):
        if _refers_to_nothing(value):
            return value
        return {key: _prefix_references(each, prefix) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_prefix_references(each, prefix) for each in value]
    return value
