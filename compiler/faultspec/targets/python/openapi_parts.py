"""The OpenAPI components that a service merges into its own document, and what each exception adds
to the responses of an operation.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from faultspec.language.model import Taxonomy
from faultspec.language.spelling import pascal
from faultspec.targets import openapi
from faultspec.targets import schema as schemas
from faultspec.targets.overlay import prefix_components

Json = Mapping[str, Any]


def openapi_parts(taxonomy: Taxonomy, exceptions: Iterable[str], header: str) -> Json:
    """``exceptions``: the names of the exceptions, in the order of the live codes.

    Names of components begin with that of the taxonomy, so that they differ from the service's own.
    ``errors``: by exception, its status, schema, examples, media types, and the names of headers.
    """
    found = {**openapi.components(taxonomy)}
    responses = found.pop("responses", {})
    found.pop("parameters", None)
    names, prefix = openapi.component_names(taxonomy), pascal(taxonomy.name)
    errors = {}
    for exception, (operation, code) in zip(exceptions, schemas.live(taxonomy), strict=True):
        envelope = schemas.own_envelope(taxonomy, operation, code)
        response = responses.get(f"{names.union(envelope)}{code.http.default}")
        if response is None:
            continue
        schema = names.schema(envelope, operation, code)
        examples = next(iter(response["content"].values())).get("examples", {})
        own = [name for name in examples if name.removeprefix(schema).isdecimal() or name == schema]
        place = "#/components/headers/"
        headers = {
            name: each["$ref"].replace(place, f"{place}{prefix}")
            for name, each in response.get("headers", {}).items()
        }
        errors[exception] = {
            "status": code.http.default,
            "summary": code.summary,
            "schema": f"{prefix}{schema}",
            "examples": [f"{prefix}{name}" for name in own],
            "media": list(envelope.media_types),
            **({"headers": headers} if headers else {}),
        }
    return {
        "description": header,
        "components": prefix_components(found, prefix),
        "errors": errors,
    }
