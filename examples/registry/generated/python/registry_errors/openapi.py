"""Parts for the OpenAPI document of a service: the responses of an operation that may
fail with some errors, and the components that they refer to.
"""

# Generated from examples/registry/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/registry/taxonomy.yaml

# pyright: basic
# The document is JSON of any type; to the strict mode its members are unknown.

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from .boundary import ServiceError, status_code
from .codes import FALLBACKS
from .errors import ERRORS

Document = dict[str, Any]


def responses(*errors: type[ServiceError]) -> dict[int | str, Document]:
    """The responses of an operation that may fail with these errors, by status. A
    status that the fallback lists also has its code, which the framework answers by
    itself. Raises LookupError for a class without a code, and for a code that is not on
    HTTP.
    """
    found: dict[int | str, Document] = {}
    parts = [_part(error) for error in errors]
    own = {
        error.__name__: part["status"]
        for error, part in zip(errors, parts, strict=True)
    }
    listed = [(part["status"], part) for part in parts]
    for status in dict.fromkeys(own.values()):
        code = status_code(status) if isinstance(status, int) else None
        if code is None or own.get(ERRORS[code].__name__) == status:
            continue
        if any(status in on and each == code for on, each in FALLBACKS):
            listed.append((status, _part(ERRORS[code])))
    for status, part in listed:
        response = found.setdefault(status, {"description": ""})
        response["description"] += f"\n\n{part['summary']}"
        response["description"] = response["description"].strip()
        for name, reference in part.get("headers", {}).items():
            response.setdefault("headers", {})[name] = {"$ref": reference}
        for media_type in part["media"]:
            content = response.setdefault("content", {}).setdefault(
                media_type, {"schema": {"oneOf": []}}
            )
            content["schema"]["oneOf"].append(
                {"$ref": f"#/components/schemas/{part['schema']}"}
            )
            for name in part["examples"]:
                example = {"$ref": f"#/components/examples/{name}"}
                content.setdefault("examples", {})[name] = example
    return found


def _part(error: type[ServiceError]) -> Document:
    part: Document | None = _parts()["errors"].get(error.__name__)
    if part is None:
        raise LookupError(f"no HTTP response for {error.__name__}")
    return part


def add_components(document: Document) -> None:
    """Add the components to a document that it refers to. Those that it has stay."""
    known: Document = _parts()["components"]
    waiting = list(_references(document))
    while waiting:
        section, _, name = waiting.pop().partition("/")
        here = document.setdefault("components", {}).setdefault(section, {})
        if name not in here and name in known.get(section, {}):
            here[name] = json.loads(json.dumps(known[section][name]))
            waiting += _references(here[name])


def _references(value: object) -> Iterator[str]:
    """The components, as ``schemas/Name``, that a part of a document refers to."""
    if isinstance(value, dict):
        for member in value.values():
            yield from _references(member)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, str) and value.startswith("#/components/"):
        yield value.removeprefix("#/components/")


@cache
def _parts() -> Document:
    text = Path(__file__).with_name("openapi.json").read_text(encoding="utf-8")
    found: Document = json.loads(text)
    return found
