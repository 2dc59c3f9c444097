"""The google-rpc target: each code as ``google.rpc.Status`` in JSON, with schema and example.

The members of Status are those of google/rpc/status.proto in the JSON mapping of Protocol Buffers:
``code`` is the number of ``google.rpc.Code``, and each of ``details`` is an ``Any`` with its
``@type``. ``ErrorInfo`` (google/rpc/error_details.proto, AIP-193) has the code of the taxonomy as
``reason``, its name as ``domain``, and scalar details as texts of ``metadata``. ``RetryInfo`` is in
errors that clients repeat.
"""

from collections.abc import Mapping
from typing import NamedTuple

from faultspec.language.constructs.failures import GRPC
from faultspec.language.model import Code, Taxonomy
from faultspec.language.pictures import fill_message
from faultspec.language.values import spell
from faultspec.runtime import retry_after
from faultspec.targets import openapi
from faultspec.targets import schema as schemas
from faultspec.targets.doc_text import message_template
from faultspec.targets.jsonschema import DIALECT, definition
from faultspec.targets.model import Model
from faultspec.targets.schema import Json

_TYPES = "type.googleapis.com/google.rpc."

#: The text of a google.protobuf.Duration in JSON.
_DURATION = r"^[0-9]+(\.[0-9]{1,9})?s$"

#: Seconds of the example of a wait that the code does not tell.
_WAIT = 1.0


class GoogleRpcView(NamedTuple):
    """JSON Schema of Status for every code, and an example of each by its definition."""

    schema: Json
    examples: Json


def view(taxonomy: Taxonomy, model: Model) -> GoogleRpcView | None:
    """The documents, or None if no code has a gRPC status."""
    codes = [
        (definition(operation, code), code)
        for operation, code in schemas.live(taxonomy)
        if code.grpc is not None
    ]
    if not codes:
        return None
    head = {"$comment": model.header, "title": f"{taxonomy.title}: google.rpc.Status"}
    return GoogleRpcView(
        {
            "$schema": DIALECT,
            **head,
            "anyOf": [{"$ref": f"#/$defs/{label}"} for label, _ in codes],
            "$defs": {label: _schema(code, taxonomy) for label, code in codes},
        },
        {**head, "examples": {label: _example(code, taxonomy) for label, code in codes}},
    )


def _schema(code: Code, taxonomy: Taxonomy) -> Json:
    info = {
        "type": "object",
        "properties": {
            "@type": _constant(f"{_TYPES}ErrorInfo"),
            "reason": _constant(str(code.wire)),
            "domain": _constant(taxonomy.name),
            "metadata": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                **_required_metadata(code),
            },
        },
        "required": ["@type", "reason", "domain", *(["metadata"] if _metadata_names(code) else [])],
    }
    retry = {
        "type": "object",
        "properties": {
            "@type": _constant(f"{_TYPES}RetryInfo"),
            "retryDelay": {"type": "string", "pattern": _DURATION},
        },
        "required": ["@type", "retryDelay"],
    }
    parts = [info, retry] if code.retryable else [info]
    return {
        "description": code.summary,
        "type": "object",
        "properties": {
            "code": {"type": "integer", "const": GRPC[code.grpc or ""]},
            "message": {"type": "string"},
            "details": {
                "type": "array",
                "items": {"type": "object", "required": ["@type"]},
                "allOf": [{"contains": part} for part in parts],
            },
        },
        "required": ["code", "message", "details"],
        "additionalProperties": False,
    }


def _constant(text: str) -> Json:
    return {"type": "string", "const": text}


def _metadata_names(code: Code) -> list[str]:
    """The details that are in the metadata of every error: scalars that the code requires."""
    scalars = {"string", "integer", "number", "boolean"}
    return [
        member.name
        for member in code.details.values()
        if member.presence == "required"
        and member.schema.types
        and {*member.schema.types} <= scalars
    ]


def _required_metadata(code: Code) -> Json:
    names = _metadata_names(code)
    return {"required": names} if names else {}


def _example(code: Code, taxonomy: Taxonomy) -> Json:
    """The Status of the first example, or of a made up one."""
    shown = next(iter(code.examples), None)
    details = shown.details if shown is not None else None
    if details is None:
        details = openapi.sample_details(code, taxonomy)
    message = (shown.message if shown else None) or fill_message(message_template(code), details)
    metadata = {
        name: spell(value)
        for name, value in details.items()
        if isinstance(value, str | int | float)
    }
    retry = {"@type": f"{_TYPES}RetryInfo", "retryDelay": _delay(details, taxonomy)}
    return {
        "code": GRPC[code.grpc or ""],
        "message": message,
        "details": [
            {
                "@type": f"{_TYPES}ErrorInfo",
                "reason": str(code.wire),
                "domain": taxonomy.name,
                **({"metadata": metadata} if metadata else {}),
            },
            *([retry] if code.retryable else []),
        ],
    }


def _delay(details: Mapping[str, object], taxonomy: Taxonomy) -> object:
    """The wait that the details of an example have, as a duration. Moments are not known here."""
    waits = (
        retry_after.hint_seconds(details.get(key.name), key.unit, now=0)
        for key in taxonomy.retry_hints
        if "date-time" not in key.schema.format
    )
    found = next((wait for wait in waits if wait is not None and wait >= 0), _WAIT)
    return retry_after.fill_hint(None, found, "duration", now=0)
