"""The JSON Schema target: one schema for each envelope, and one with the details of every code.

An envelope is a ``oneOf`` over its codes, each branch with its own constant, with a definition for
each code. If bodies do not show their code, or not in one member, it is an ``anyOf``.
"""

from collections.abc import Mapping
from typing import NamedTuple

from faultspec.language.model import Code, Envelope, Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.model import Model

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class JsonSchemaView(NamedTuple):
    """``envelopes``: the schema of each, by its name; ``details``: the schema of the details of
    each code.
    """

    envelopes: Mapping[str, schemas.Json]
    details: schemas.Json


def view(taxonomy: Taxonomy, model: Model) -> JsonSchemaView:
    """The documents of the target."""
    return JsonSchemaView(
        {
            envelope.name: envelope_schema(envelope, taxonomy, model)
            for envelope in taxonomy.envelopes.values()
        },
        {
            "$schema": DIALECT,
            "$comment": model.header,
            "title": f"{taxonomy.title}: details by code",
            "$defs": {
                definition(operation, code): schemas.details_schema(code, taxonomy)
                for operation, code in schemas.live(taxonomy)
            },
        },
    )


def definition(operation: str | None, code: Code) -> str:
    """The name of a code's definition; that of an operation's own code names the operation."""
    return code.name if operation is None else f"{operation}.{code.name}"


def envelope_schema(envelope: Envelope, taxonomy: Taxonomy, model: Model) -> schemas.Json:
    """The schema of every body that the envelope may have."""
    carried = schemas.carried_codes(taxonomy, envelope.name)
    groups: dict[tuple[bool, str | int], list[schemas.Json]] = {}
    for operation, code in carried:
        key = taxonomy.owns(operation, code), code.wire_in(envelope)
        reference = {"$ref": f"#/$defs/{definition(operation, code)}"}
        groups.setdefault(key, []).append(reference)
    # The body alone distinguishes neither codes of the same name of several operations, nor a
    # shared code from its forms.
    branches: list[schemas.Json] = [
        {"anyOf": each} if owned or len(each) > 1 else each[0]
        for (owned, _), each in sorted(groups.items(), key=lambda group: group[0][0])
    ]
    definitions = {
        definition(operation, code): code_schema(envelope, code, taxonomy)
        for operation, code in carried
    }
    if schemas.is_open(taxonomy, envelope.name):
        definitions["undeclared"] = schemas.undeclared_schema(envelope, taxonomy)
        branches.append({"$ref": "#/$defs/undeclared"})
    return {
        "$schema": DIALECT,
        "$comment": model.header,
        "title": f"{taxonomy.title}: {envelope.name}",
        **({"description": envelope.summary} if envelope.summary else {}),
        **(
            schemas.whole_schema(envelope, {schemas.union_keyword((envelope,)): branches}, taxonomy)
            if branches
            else _uncoded_schema(envelope, taxonomy)
        ),
        **({"$defs": definitions} if definitions else {}),
    }


def _uncoded_schema(envelope: Envelope, taxonomy: Taxonomy) -> schemas.Json:
    """An envelope that carries no code: it has the numbers of a protocol, or it is never sent."""
    numbers = [
        number
        for surface in taxonomy.surfaces.values()
        if surface.protocol is not None and surface.protocol.envelope == envelope.name
        for number in schemas.protocol_numbers(surface.protocol)
    ]
    if not numbers:
        return {"not": {}}
    return schemas.shape_schema(envelope, {"anyOf": numbers}, taxonomy)


def code_schema(envelope: Envelope, code: Code, taxonomy: Taxonomy) -> schemas.Json:
    """The body of a code, with its meaning."""
    return {
        "description": code.summary,
        **({"deprecated": True} if code.lifecycle == "deprecated" else {}),
        **schemas.body_schema(envelope, code, taxonomy),
    }
