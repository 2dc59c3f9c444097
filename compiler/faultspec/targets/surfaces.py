"""The surfaces target: JSON Schema of a whole error on each surface that is not HTTP.

For JSON-RPC that is the response object, the protocol's own errors included; for MCP the tool
result with its mark; for events, streams and logs the record. (On HTTP it is the envelope, and
OpenAPI says where it travels.)
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from faultspec.language.carriers import (
    protocol_collisions,
    reaches,
    shares_code_place,
    uses_envelope,
)
from faultspec.language.model import Code, Envelope, Surface, Taxonomy
from faultspec.runtime.pointers import steps
from faultspec.targets import discriminators
from faultspec.targets import schema as schemas
from faultspec.targets.constants import choice_schema
from faultspec.targets.jsonschema import DIALECT, definition
from faultspec.targets.model import Model


class SurfaceFile(NamedTuple):
    """A JSON document and its name without the ending."""

    name: str
    document: schemas.Json


class SurfacesView(NamedTuple):
    """One document a surface; of other targets, a tool, or a kind of record."""

    files: tuple[SurfaceFile, ...]


def view(taxonomy: Taxonomy, model: Model) -> SurfacesView | None:
    """The documents, or None if all surfaces are HTTP."""
    files = tuple(
        SurfaceFile(surface.name, _document(surface, taxonomy, model))
        for surface in taxonomy.surfaces.values()
        if surface.transport != "http" and surface.envelopes
    )
    return SurfacesView(files) if files else None


def _document(surface: Surface, taxonomy: Taxonomy, model: Model) -> schemas.Json:
    others = dict(_others(surface, taxonomy))
    carried = [
        (error, _carried_schema(surface, error.code, error.schema))
        for error in errors(surface, taxonomy)
    ]
    return {
        "$schema": DIALECT,
        "$comment": model.header,
        "title": f"{taxonomy.title}: an error on {surface.name}",
        union_of(surface, taxonomy): [
            *branches(each for each, _ in carried),
            *({"$ref": f"#/$defs/{name}"} for name in others),
        ],
        # A response has the one or the other, never both (JSON-RPC 2.0, section 5).
        **(
            {"type": "object", "not": discriminators.schema_with_members("result", "error")}
            if surface.transport == "jsonrpc"
            else {}
        ),
        "$defs": {each.label: schema for each, schema in carried} | others,
    }


class CarriedError(NamedTuple):
    """An error in an envelope of a surface. ``label``: its name among the definitions. ``owned``:
    its operation alone has the code. ``wire``: the value of the code slot there.
    """

    label: str
    operation: str | None
    owned: bool
    code: Code
    wire: str | int
    schema: schemas.Json


def union_of(surface: Surface, taxonomy: Taxonomy) -> str:
    """The keyword for one of the errors that the surface carries."""
    return schemas.union_keyword(taxonomy.envelopes[name] for name in surface.envelopes)


def errors(surface: Surface, taxonomy: Taxonomy) -> Iterator[CarriedError]:
    """Every error that may stand in the surface's envelopes."""
    several = len(surface.envelopes) > 1
    for operation, code in schemas.live(taxonomy):
        if not reaches(surface, code, of_operation=taxonomy.owns(operation, code)):
            continue
        for name in surface.envelopes:
            envelope = taxonomy.envelopes[name]
            if uses_envelope(code, envelope):
                own = definition(operation, code)
                label = f"{own}.{name}" if several and len(code.envelopes) != 1 else own
                yield CarriedError(
                    label=label,
                    operation=operation,
                    owned=taxonomy.owns(operation, code),
                    code=code,
                    wire=code.wire_in(envelope),
                    schema=_whole_body(envelope, code, taxonomy),
                )


def _whole_body(envelope: Envelope, code: Code, taxonomy: Taxonomy) -> schemas.Json:
    return {
        "description": code.summary,
        **schemas.whole_schema(envelope, schemas.body_schema(envelope, code, taxonomy), taxonomy),
    }


def branches(carried: Iterable[CarriedError]) -> list[schemas.Json]:
    """References to the errors; those that only the operation distinguishes are one branch."""
    found: dict[tuple[bool, object], list[schemas.Json]] = {}
    for each in carried:
        reference = {"$ref": f"#/$defs/{each.label}"}
        found.setdefault((each.owned, each.wire), []).append(reference)
    return [
        group[0] if len(group) == 1 and not of_operation else {"anyOf": group}
        for (of_operation, _), group in found.items()
    ]


def _others(surface: Surface, taxonomy: Taxonomy) -> Iterator[tuple[str, schemas.Json]]:
    """The schemas beside those of declared codes: of undeclared ones, and of the protocol's
    errors.
    """
    for label, schema in undeclared_bodies(surface, taxonomy):
        yield label, _carried_schema(surface, None, schema)
    if surface.protocol is not None:
        # The protocol has a mark of its own, which its envelope shows.
        yield "protocol", wrap_schema(_protocol(surface, taxonomy), surface.at)


def undeclared_bodies(surface: Surface, taxonomy: Taxonomy) -> Iterator[tuple[str, schemas.Json]]:
    """Each envelope of a surface with an undeclared code, by its name among the definitions, if the
    surface allows such.
    """
    for name in surface.envelopes if surface.codes is None else ():
        envelope = taxonomy.envelopes[name]
        label = "undeclared" if len(surface.envelopes) == 1 else f"undeclared.{name}"
        theirs: list[schemas.Json] = []
        if surface.protocol is not None and shares_code_place(
            envelope, taxonomy.envelopes[surface.protocol.envelope]
        ):
            theirs = schemas.protocol_numbers(surface.protocol)
        yield (
            label,
            schemas.whole_schema(
                envelope, schemas.undeclared_schema(envelope, taxonomy, theirs), taxonomy
            ),
        )


def _protocol(surface: Surface, taxonomy: Taxonomy) -> schemas.Json:
    """The protocol's own errors: its numbers, alone or in ranges, without those of our codes."""
    assert surface.protocol is not None
    envelope = taxonomy.envelopes[surface.protocol.envelope]
    number: schemas.Json = {"anyOf": schemas.protocol_numbers(surface.protocol)}
    ours = [
        each
        for each in protocol_collisions(taxonomy, surface)
        if any(each in span for span in surface.protocol.codes)
    ]
    if ours:
        number["not"] = choice_schema(ours)
    return schemas.shape_schema(envelope, number, taxonomy)


def _carried_schema(surface: Surface, code: Code | None, inner: schemas.Json) -> schemas.Json:
    """The schema of the body with ``inner`` in the envelope's place, and the marks of an error."""
    found, mine = wrap_schema(inner, surface.at), discriminators.surface_marks(surface)
    if surface.transport == "mcp":
        flags = discriminators.error_flags(code)
        if code is not None and code.mcp is not None:
            # Left out, the mark is false (MCP, CallToolResult).
            found = discriminators.add_member(
                found, "/isError", choice_schema(flags), there=False not in flags
            )
            if flags == (True,):
                return found
        if mine and True in flags:
            mine = (*mine, discriminators.IS_ERROR)
    return discriminators.add_marks(found, mine)


def wrap_schema(inner: schemas.Json, place: str) -> schemas.Json:
    """The schema of a body that has ``inner`` at a pointer."""
    for key in reversed(steps(place)):
        inner = {"type": "object", "properties": {key: inner}, "required": [key]}
    return inner
