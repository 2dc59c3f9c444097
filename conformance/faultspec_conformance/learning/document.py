"""An OpenAPI document that has the observed errors of its service as examples."""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import chain, count, islice
from typing import Any

from faultspec.importers.code_member import CODE_NAMES, rank_of_name
from faultspec.openapi.nodes import Json, mapping
from faultspec.openapi.reader import resolve
from faultspec.openapi.service import Description
from faultspec.targets.model import phrase
from faultspec_conformance.learning.answers import BodyShape, ErrorAnswer

#: The path and the operationId of the answers whose operation no document describes.
_ELSEWHERE, ELSEWHERE_ID = "/{elsewhere}", "elsewhere"

#: Examples of one status of an operation, or of one code that a header names. More of them say
#: nothing new.
_EXAMPLES = 5


def document_errors(description: Description, shapes: Sequence[BodyShape]) -> Json:
    """The document with each observed error as an example of its response. A response that is
    missing, or has no schema, gets the inferred one.
    """
    document: dict[str, Any] = deepcopy(dict(description.document))
    document.setdefault("openapi", "3.1.0")
    info = document["info"] = dict(mapping(document.get("info")))
    info.setdefault("title", "Service")
    paths = document["paths"] = dict(mapping(document.get("paths")))
    names = _add_schemas(document, shapes)
    for shape, name in zip(shapes, names, strict=True):
        for answer in shape.answers:
            _add_example(document, _operation(paths, description.base, answer), answer, name)
    return document


def document_shape(shape: BodyShape, title: str) -> Json:
    """A document of one shape alone, without the operations that answered in it."""
    bare = [replace(answer, operation=None) for answer in shape.answers]
    described = Description(document={"info": {"title": title, "version": "1.0.0"}})
    return document_errors(described, [BodyShape(tuple(bare), shape.schema)])


def _add_schemas(document: dict[str, Any], shapes: Sequence[BodyShape]) -> list[str]:
    """Add the inferred schemas to the components. Returns their names."""
    components = document["components"] = dict(mapping(document.get("components")))
    schemas = components["schemas"] = dict(mapping(components.get("schemas")))
    candidates = chain(("Error",), (f"Error{number}" for number in count(2)))
    names = [*islice((name for name in candidates if name not in schemas), len(shapes))]
    schemas.update(zip(names, (shape.schema for shape in shapes), strict=True))
    return names


def _operation(paths: dict[str, Any], base: str, answer: ErrorAnswer) -> dict[str, Any]:
    """The operation of an answer, as it stands in the document, or the one that stands for all
    others.
    """
    method, _, template = (answer.operation or "").partition(" ")
    described = paths.get(template.removeprefix(base), paths.get(template))
    operation = described.get(method.lower()) if isinstance(described, dict) else None
    if isinstance(operation, dict):
        return operation
    elsewhere: dict[str, Any] = paths.setdefault(_ELSEWHERE, {})
    found: dict[str, Any] = elsewhere.setdefault("get", {"operationId": ELSEWHERE_ID})
    return found


def _add_example(
    document: Json, operation: dict[str, Any], answer: ErrorAnswer, schema: str
) -> None:
    responses = operation["responses"] = dict(mapping(operation.get("responses")))
    status = str(answer.status)
    response = responses[status] = dict(resolve(document, responses.get(status)))
    response.setdefault("description", phrase(answer.status) or f"Status {answer.status}")
    _add_codes(response, answer)
    content = response["content"] = dict(mapping(response.get("content")))
    media = content[answer.media_type] = dict(mapping(content.get(answer.media_type)))
    if not media.get("schema"):
        media["schema"] = {"$ref": f"#/components/schemas/{schema}"}
    body = answer.body if answer.quotable else _legible_part(answer.body, phrase(answer.status))
    shown = media["examples"] = dict(mapping(media.get("examples")))
    prefix = f"{answer.codes[0][1]} " if answer.codes else "observed"
    own = [each for name, each in shown.items() if name.startswith(prefix)]
    if len(own) < _EXAMPLES and not any(_is_of(each, body) for each in own):
        shown[f"{prefix}{len(own) + 1}"] = {"value": body}


def _add_codes(response: dict[str, Any], answer: ErrorAnswer) -> None:
    """Add the headers that name a code, with the values that answers had."""
    for name, value in answer.codes if answer.quotable else ():
        headers = response["headers"] = dict(mapping(response.get("headers")))
        own = next((each for each in headers if each.lower() == name.lower()), name)
        schema = mapping(mapping(headers.get(own)).get("schema"))
        listed = [*schema.get("enum", ())]
        if not schema or listed:
            values = [*dict.fromkeys((*listed, value))]
            headers[own] = {"schema": {"type": "string", "enum": values}}


#: A code that neither leaks nor was sent: letters in words, and no canary.
_LEGIBLE = re.compile(
    r"(?!faultspec|canary)[A-Za-z]{1,20}(?:[_.-][A-Za-z]{1,20}){0,3}", re.IGNORECASE
)


def _legible_part(value: object, reason: str, name: str = "") -> object:
    """A body that leaks, with its code alone: ``reason`` is in place of its other texts, and 0
    of its numbers.
    """
    match value:
        case Mapping():
            return {key: _legible_part(each, reason, key) for key, each in value.items()}
        case list():
            return [_legible_part(each, reason, name) for each in value]
        case str():
            is_code = rank_of_name(name) < len(CODE_NAMES) and _LEGIBLE.fullmatch(value)
            return value if is_code else reason
        case bool() | None:
            return value
    return 0


def _is_of(example: object, body: object) -> bool:
    return isinstance(example, Mapping) and example.get("value") == body
