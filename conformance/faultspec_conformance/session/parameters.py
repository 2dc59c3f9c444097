"""What stands in the placeholders of paths and texts: ids that were made, ids that name nothing, names that were saved."""

import re
from collections.abc import Mapping

from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance import sampling
from faultspec_conformance.sampling.tokens import Tokens
from faultspec_conformance.session.http import HttpSession


def values_for(world: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Values for an operation's placeholders: of resources that were made where there are, otherwise of no resource."""
    known = known_values(world, operation)
    for name in operation.placeholders:
        if name not in known:
            known[name] = absent_value(world, operation, name)
    return known


def known_values(world: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Values of resources that were made, for the placeholders that lead to them."""
    known: dict[str, object] = {}
    for made in world.made.values():
        if isinstance(made, str) or made.kind.item is None:
            continue
        item, template = shape_of(made.kind.item), shape_of(operation.template)
        if template == item or template.startswith(item + "/"):
            for name, value in zip(operation.placeholders, made.values.values(), strict=False):
                known[name] = value
    return known


def absent_value(world: HttpSession, operation: ServiceOperation, name: str) -> object:
    """A value for a placeholder that names nothing: of the format of known ids, or of the parameter's schema."""
    for made in world.made.values():
        if (
            not isinstance(made, str)
            and made.kind.item is not None
            and operation.template.startswith(made.kind.item.rpartition("/")[0])
        ):
            return sampling.another(world.source, made.id)
    parameter = operation.parameter(name, "path")
    if parameter is None:
        return world.tokens.hex(8)
    example = (
        parameter.example
        if parameter.example is not None
        else sampling.value(world.source, parameter.schema)
    )
    return sampling.another(world.source, example)


def readable(world: HttpSession) -> ServiceOperation | None:
    """An operation that can be read without knowing an id, preferably a list of a resource."""
    lists = [
        found
        for kind in world.kinds
        if (found := kind.operation("list")) is not None and not found.placeholders
    ]
    reads = [
        operation
        for operation in world.description.operations
        if operation.method == "GET"
        and not operation.placeholders
        and any("json" in media for media in operation.media_types or ("json",))
    ]
    return next(iter([*lists, *sorted(reads, key=lambda each: each.secured is not True)]), None)


def required_query(world: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Values for the parameters that a query must have."""
    return {
        parameter.name: parameter.example
        if parameter.example is not None
        else sampling.value(world.source, parameter.schema)
        for parameter in operation.parameters
        if parameter.where == "query" and parameter.required
    }


def filled(tokens: Tokens, value: object, saved: Mapping[str, object] | None = None) -> object:
    """A value of the file with ``${unique}`` and saved names filled in; a text that is one name takes its value's type."""
    if isinstance(value, str):
        whole = re.fullmatch(r"\$\{([a-z_]\w*)\}", value)
        if whole and saved and whole[1] in saved:
            return saved[whole[1]]
        return text(tokens, value, saved)
    if isinstance(value, dict):
        return {key: filled(tokens, each, saved) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(tokens, each, saved) for each in value]
    return value


def text(tokens: Tokens, text: str, saved: Mapping[str, object] | None = None) -> str:
    """A text of the file with ``${unique}`` and saved names filled in."""
    known = saved or {}
    return re.sub(
        r"\$\{([a-z_]\w*)\}",
        lambda found: tokens.hex(5) if found[1] == "unique" else str(known.get(found[1], found[0])),
        text,
    )
