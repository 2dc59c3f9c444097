"""The MCP target: the output schema of each tool that a surface names, its refusals and its
successes.

A tool that declares one must answer with structured content that conforms to it, successes and
refusals alike, and a client may validate it (Model Context Protocol 2025-06-18, Server Features /
Tools, "Output Schema"); its root is an object.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from faultspec.language.model import Match, Operation, Surface, Taxonomy
from faultspec.language.routes import compile_name
from faultspec.runtime.shape import slot_places
from faultspec.targets import discriminators
from faultspec.targets import schema as schemas
from faultspec.targets.jsonschema import DIALECT
from faultspec.targets.model import Model
from faultspec.targets.surfaces import (
    CarriedError,
    SurfaceFile,
    SurfacesView,
    branches,
    errors,
    undeclared_bodies,
    union_of,
    wrap_schema,
)

_CONTENT = "/structuredContent"


def view(taxonomy: Taxonomy, model: Model) -> SurfacesView | None:
    """The documents, or None if no tool has its envelope in structured content."""
    files = tuple(
        SurfaceFile(tool.replace("/", "."), _document(tool, surface, taxonomy, model))
        for surface in taxonomy.surfaces.values()
        if surface.structured and surface.envelopes
        for tool in surface.match.tools
        if "*" not in tool
    )
    return SurfacesView(files) if files else None


def _document(tool: str, surface: Surface, taxonomy: Taxonomy, model: Model) -> schemas.Json:
    output = _possible_operations(tool, taxonomy)
    refusals = [
        error._replace(schema=_add_mark(error, surface))
        for error in errors(surface, taxonomy)
        if _may_be(error, output, taxonomy)
    ]
    others = {
        label: wrap_schema(schema, surface.at.removeprefix(_CONTENT))
        for label, schema in undeclared_bodies(surface, taxonomy)
    }
    return {
        "$schema": DIALECT,
        "$comment": model.header,
        "title": f"{taxonomy.title}: what {tool} answers",
        "type": "object",
        union_of(surface, taxonomy): [
            {"$ref": "#/$defs/success"},
            *branches(refusals),
            *({"$ref": f"#/$defs/{label}"} for label in others),
        ],
        "$defs": {
            "success": _success(
                surface, [*(each.schema for each in refusals), *others.values()], taxonomy
            ),
            **{each.label: each.schema for each in refusals},
            **others,
        },
    }


# Which errors


class _ToolOutput(NamedTuple):
    """The operations that a call of a tool may be; ``surely``: it is one of them."""

    operations: Sequence[Operation]
    surely: bool


def _possible_operations(tool: str, taxonomy: Taxonomy) -> _ToolOutput:
    found: list[Operation] = []
    for operation in taxonomy.operations.values():
        if tool in (operation.name, operation.wire):
            return _ToolOutput((*found, operation), surely=True)
        match = operation.match
        if match.routes or match.statuses or match == Match():
            continue  # none of a tool's, or known by its name alone
        if not match.tools or any(compile_name(pattern).fullmatch(tool) for pattern in match.tools):
            found.append(operation)
            if not match.reads_request and not match.methods:
                return _ToolOutput(found, surely=True)
    return _ToolOutput(found, surely=False)


def _may_be(error: CarriedError, output: _ToolOutput, taxonomy: Taxonomy) -> bool:
    """Whether a call of a tool may end with an error, as the judge decides it (``code/operation``).

    If no operation is known, shared codes may come from any, and so may those of operations that
    only HTTP distinguishes.
    """
    if error.operation is None:
        return not output.surely or any(
            (operation.codes is None or error.code.name in operation.codes)
            and error.code.name not in operation.variants
            for operation in output.operations
        )
    if any(operation.name == error.operation for operation in output.operations):
        return True
    owner = taxonomy.operations[error.operation].match
    return not output.surely and bool(owner.routes or owner.methods)


# Error or success


def _visible(surface: Surface) -> list[discriminators.Mark]:
    """The marks of an error that structured content shows whole; the rest of the result it knows
    nothing about.
    """
    found = (
        discriminators.relative_mark(each, _CONTENT)
        for each in discriminators.surface_marks(surface)
    )
    return [each for each in found if each is not None]


def _add_mark(error: CarriedError, surface: Surface) -> schemas.Json:
    """The schema of the content of an error, with its mark if the rest of the result may not show
    it.
    """
    found, visible = wrap_schema(error.schema, surface.at.removeprefix(_CONTENT)), _visible(surface)
    elsewhere = True in discriminators.error_flags(error.code) or len(visible) < len(
        discriminators.surface_marks(surface)
    )
    return found if elsewhere else discriminators.add_marks(found, visible)


def _success(
    surface: Surface, refusals: Sequence[schemas.Json], taxonomy: Taxonomy
) -> schemas.Json:
    """The schema of a success: without the marks of an error, and with the required members of
    every success.

    Where content alone does not show the mark, what looks like a refusal is none of the successes.
    """
    found: schemas.Json = {"type": "object"}
    for pointer, member in surface.success.items():
        if f"{pointer}/".startswith(f"{_CONTENT}/"):
            owed = schemas.value_schema(member.schema, taxonomy)
            place = pointer.removeprefix(_CONTENT)
            found = discriminators.add_member(
                found, place, owed, there=member.presence == "required"
            )
    visible = _visible(surface)
    refused = [discriminators.mark_schema(each) for each in visible]
    if not all(
        any(discriminators.implies_mark(each, mark) for mark in visible) for each in refusals
    ):
        refused += (
            wrap_schema(each, surface.at.removeprefix(_CONTENT))
            for each in _lookalike_schemas(surface, taxonomy)
        )
    if surface.error_pointer == "":
        refused = [{}]  # every answer is an error
    if refused:
        found["not"] = refused[0] if len(refused) == 1 else {"anyOf": refused}
    return found


def _lookalike_schemas(surface: Surface, taxonomy: Taxonomy) -> Iterator[schemas.Json]:
    """The schema of an error by its look: a declared code, or any other code in an envelope."""
    codes = [code for _, code in schemas.live(taxonomy)]
    for name in surface.envelopes:
        envelope = taxonomy.envelopes[name]
        places = slot_places(envelope.shape).get("code", ())
        if places:
            yield discriminators.coded_shape_schema(
                envelope.shape,
                {place.node: schemas.place_schema(place.node, envelope, codes) for place in places},
            )
        yield schemas.whole_schema(
            envelope, schemas.undeclared_schema(envelope, taxonomy), taxonomy
        )
