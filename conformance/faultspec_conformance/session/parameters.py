"""Values for the placeholders of paths and texts: known ids, ids without a resource, and saved
names.
"""

import re
from collections.abc import Mapping

from faultspec.openapi.service import OperationParameter, ServiceOperation, shape_of
from faultspec_conformance.session import sampling
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.sampling.tokens import Tokens


def values_for(session: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Return values for an operation's placeholders: of created resources or, for want of one,
    without a resource.
    """
    values = known_values(session, operation)
    for name in operation.placeholders:
        if name not in values:
            values[name] = absent_value(session, operation, name)
    return values


def known_values(session: HttpSession, operation: ServiceOperation) -> dict[str, object]:
    """Return the values of created resources for the placeholders that lead to them."""
    known: dict[str, object] = {}
    template = shape_of(operation.template)
    for resource in session.knowledge.created.values():
        item = shape_of(resource.kind.item) if resource.kind.item is not None else None
        if item is not None and (template == item or template.startswith(item + "/")):
            known |= zip(operation.placeholders, resource.values.values(), strict=False)
    return known


def absent_value(session: HttpSession, operation: ServiceOperation, name: str) -> object:
    """Return a placeholder's value without a resource, in the format of known ids or of the
    parameter's schema.
    """
    for resource in session.knowledge.created.values():
        item = resource.kind.item
        if item is not None and operation.template.startswith(item.rpartition("/")[0]):
            return sampling.another(session.source, resource.id)
    parameter = operation.parameter(name, "path")
    if parameter is None:
        return session.tokens.hex(8)
    return sampling.another(session.source, _example(session, parameter))


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


def _example(session: HttpSession, parameter: OperationParameter) -> object:
    if parameter.example is not None:
        return parameter.example
    return sampling.sample_value(session.source, parameter.schema)


def fill_in(tokens: Tokens, value: object, saved: Mapping[str, object] | None = None) -> object:
    """Return a configured value with ``${unique}`` and saved names filled in.

    A text that consists of one saved name takes the type of the saved value.
    """
    if isinstance(value, str):
        whole = re.fullmatch(r"\$\{([a-z_]\w*)\}", value)
        if whole and saved and whole[1] in saved:
            return saved[whole[1]]
        return fill_in_text(tokens, value, saved)
    if isinstance(value, dict):
        return {key: fill_in(tokens, member, saved) for key, member in value.items()}
    if isinstance(value, list):
        return [fill_in(tokens, item, saved) for item in value]
    return value


def fill_in_text(tokens: Tokens, text: str, saved: Mapping[str, object] | None = None) -> str:
    """Return a configured text with ``${unique}`` and saved names filled in."""
    known = saved or {}
    return re.sub(
        r"\$\{([a-z_]\w*)\}",
        lambda found: tokens.hex(5) if found[1] == "unique" else str(known.get(found[1], found[0])),
        text,
    )


def fill_in_texts(
    tokens: Tokens, pairs: Mapping[str, str], saved: Mapping[str, object] | None = None
) -> dict[str, str]:
    """Return configured headers or a query with ``${unique}`` and saved names filled in."""
    return {name: fill_in_text(tokens, value, saved) for name, value in pairs.items()}
