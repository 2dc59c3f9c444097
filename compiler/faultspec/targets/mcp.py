"""The MCP target: the output schema of each tool that a surface names, its refusals and its successes.

A tool that declares one must answer with structured content that conforms to it, successes and refusals alike, and a
client may validate it (Model Context Protocol 2025-06-18, Server Features / Tools, "Output Schema"); its root is an object.
"""

from faultspec.language.model import Surface, Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.jsonschema import DIALECT
from faultspec.targets.model import Model
from faultspec.targets.surfaces import File, View, branches, errors

_CONTENT = "/structuredContent"


def view(taxonomy: Taxonomy, model: Model) -> View | None:
    """The documents, or None where no tool keeps its envelope in structured content."""
    files = tuple(
        File(tool.replace("/", "."), _document(tool, surface, taxonomy, model))
        for surface in taxonomy.surfaces.values()
        if surface.transport == "mcp" and surface.envelopes and surface.at == _CONTENT
        for tool in surface.match.tools
        if "*" not in tool
    )
    return View(files) if files else None


def _document(tool: str, surface: Surface, taxonomy: Taxonomy, model: Model) -> schemas.Json:
    refusals = tuple(errors(surface, taxonomy))
    return {
        "$schema": DIALECT,
        "$comment": model.header,
        "title": f"{taxonomy.title}: what {tool} answers",
        "type": "object",
        "oneOf": [{"$ref": "#/$defs/success"}, *branches(refusals)],
        "$defs": {"success": _success(surface, taxonomy), **{each.label: each.schema for each in refusals}},
    }


def _success(surface: Surface, taxonomy: Taxonomy) -> schemas.Json:
    """What is no refusal: without the member that makes one, and with what every success owes."""
    found: schemas.Json = {"type": "object"}
    owed = {
        pointer.removeprefix(f"{_CONTENT}/"): member
        for pointer, member in surface.success.items()
        if pointer.startswith(f"{_CONTENT}/") and "/" not in pointer.removeprefix(f"{_CONTENT}/")
    }
    found.update(schemas.of_members(owed, taxonomy))
    marker = (surface.error_pointer or "").removeprefix(f"{_CONTENT}/")
    if marker and "/" not in marker:
        found["not"] = {"required": [marker]}
    return found
