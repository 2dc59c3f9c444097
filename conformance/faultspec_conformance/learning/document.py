"""An OpenAPI document that has the observed errors of its service as examples."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import Any

from faultspec.importers.code_member import CODE_NAMES, rank_of_name
from faultspec.openapi.nodes import Json, includes_json, is_json, mapping
from faultspec.openapi.pointers import steps
from faultspec.openapi.reader import METHODS, resolve
from faultspec.openapi.service import Description
from faultspec.runtime.codecs import media_essence
from faultspec.targets.model import phrase
from faultspec_conformance.learning.answers import BodyShape, ErrorAnswer
from faultspec_conformance.learning.loose_schemas import (
    is_described,
    is_loose,
    is_looser,
    is_required,
)
from faultspec_conformance.learning.seen_codes import (
    OF_ANY,
    OF_ANY_LEARNED,
    SeenCode,
    read_seen_codes,
)

#: The path and the operationId of the answers whose operation no document describes.
_ELSEWHERE, ELSEWHERE_ID = "/{elsewhere}", "elsewhere"

#: The media types of a response that a document does not describe.
_UNDESCRIBED = ("application/json", "application/problem+json", "text/plain")

_SCHEMAS = "#/components/schemas/"

#: Statuses of what no operation has: a missing route, or a wrong method.
_OF_ROUTES = frozenset({404, 405})

#: Examples of one status of an operation, or of one code that a header names. More of them say
#: nothing new.
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class _CodedShape:
    """A shape whose bodies name their codes at a ``place``. ``schema``: that of its responses.
    ``own``: the documented schemas that describe it. ``only``: that of all errors of operations.
    """

    shape: BodyShape
    place: str
    schema: object
    own: Sequence[object]
    only: bool

    def is_vague(self, document: Json, response: object) -> bool:
        """Whether a response could be of the shape, and does not tell which codes it has."""
        content = mapping(resolve(document, response).get("content"))
        read = [node for key, node in content.items() if is_json(key) or includes_json(key)]
        is_own = bool(read) and all(mapping(node).get("schema") in self.own for node in read)
        return is_own or _is_loose_as(document, response, self.shape.answers[0], only=self.only)


def document_errors(
    description: Description, shapes: Sequence[BodyShape], *, place: str | None = None
) -> Json:
    """The document with each observed error as an example of its response. A response that is
    missing, or whose schema is loose, gets the inferred schema.

    ``place``: where the bodies of the most common shape name their codes; None if the status
    decides. A loose response without an observed answer gets the schema of that shape, and so does
    one without content if all errors of operations have it. If bodies name codes, it gets the codes
    that others had under its status, and is left out if none had any: nobody knows its code.
    """
    document: dict[str, Any] = deepcopy(dict(description.document))
    document.setdefault("openapi", "3.1.0")
    info = document["info"] = dict(mapping(document.get("info")))
    info.setdefault("title", "Service")
    paths = document["paths"] = dict(mapping(document.get("paths")))
    names = _add_schemas(document, shapes)
    only = _is_only_shape(paths, description.base, shapes)
    for index, (shape, name) in enumerate(zip(shapes, names, strict=True)):
        loose = _loose_schemas(document, description.base, shape)
        schema: object = {"$ref": f"{_SCHEMAS}{name}"}
        if index == 0 and place is not None:
            own = _own_schemas(document, description.base, shape)
            loose += own
            schema = next(
                (each for each in own if is_required(document, each, steps(place))), schema
            )
            coded = _CodedShape(shape, place, schema, own, only=only)
            _settle_coded(document, description, coded)
        for answer in shape.answers:
            operation = _operation(paths, description.base, answer)
            media = _add_media(document, operation, answer)
            if not media.get("schema") or media["schema"] in loose:
                media["schema"] = schema
            _add_example(media, answer)
    if shapes and place is None:
        _settle_unobserved(document, shapes[0], names[0], only=only)
    return document


def _is_only_shape(paths: Json, base: str, shapes: Sequence[BodyShape]) -> bool:
    """Whether all errors of described operations have the first shape."""
    holders = {
        index
        for index, shape in enumerate(shapes)
        for answer in shape.answers
        if _find_operation(paths, base, answer) is not None
    }
    return holders == {0}


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
    operation = _find_operation(paths, base, answer)
    if operation is not None:
        return operation
    elsewhere: dict[str, Any] = paths.setdefault(_ELSEWHERE, {})
    found: dict[str, Any] = elsewhere.setdefault("get", {"operationId": ELSEWHERE_ID})
    return found


def _find_operation(paths: Json, base: str, answer: ErrorAnswer) -> dict[str, Any] | None:
    method, _, template = (answer.operation or "").partition(" ")
    described = paths.get(template.removeprefix(base), paths.get(template))
    operation = described.get(method.lower()) if isinstance(described, dict) else None
    return operation if isinstance(operation, dict) else None


def _find_response(document: Json, operation: Json, status: int) -> Json:
    """The response of a status, else of its class, else the default one."""
    responses = mapping(operation.get("responses"))
    names = (str(status), f"{status // 100}XX", f"{status // 100}xx", "default")
    return resolve(document, next((responses[name] for name in names if name in responses), {}))


def _find_media_type(content: Json, media_type: str) -> str:
    """The media type as the content spells it, or as given if it is not there."""
    return next((key for key in content if media_essence(key) == media_type), media_type)


def _operations(document: Json, base: str = "") -> Iterator[tuple[set[str], dict[str, Any]]]:
    """The operations of a document, each with the names that answers may have for it."""
    for path, item in mapping(document["paths"]).items():
        for method, operation in mapping(item).items():
            if method.upper() in METHODS and isinstance(operation, dict):
                yield {f"{method.upper()} {each}" for each in (path, base + path)}, operation


def _own_schemas(document: Json, base: str, shape: BodyShape) -> list[object]:
    """The documented schemas of a shape's answers that describe all of them."""
    found: list[object] = []
    for _, schema in _documented_schemas(document, base, shape):
        if schema not in found and all(
            is_described(document, schema, each.body) for each in shape.answers
        ):
            found.append(schema)
    return found


def _loose_schemas(document: Json, base: str, shape: BodyShape) -> list[object]:
    """The documented schemas of a shape's answers that do not describe all of them."""
    found: list[object] = []
    for answer, schema in _documented_schemas(document, base, shape):
        if schema not in found and is_loose(document, schema, answer.body):
            found.append(schema)
    return found


def _documented_schemas(
    document: Json, base: str, shape: BodyShape
) -> Iterator[tuple[ErrorAnswer, object]]:
    """The answers of a shape, each with the schema that the document has for it."""
    for answer in shape.answers:
        operation = _find_operation(mapping(document["paths"]), base, answer)
        content = mapping(_find_response(document, operation or {}, answer.status).get("content"))
        media = mapping(content.get(_find_media_type(content, answer.media_type)))
        yield answer, media.get("schema")


def _add_media(document: Json, operation: dict[str, Any], answer: ErrorAnswer) -> dict[str, Any]:
    """The media type of an answer, in the response of its status. Other media types of JSON whose
    schemas are loose are taken away: the answer shows the one that is in use.
    """
    known = _find_response(document, operation, answer.status)
    responses = operation["responses"] = dict(mapping(operation.get("responses")))
    response = responses[str(answer.status)] = dict(known)
    response.setdefault("description", phrase(answer.status) or f"Status {answer.status}")
    _add_codes(response, answer)
    documented = mapping(response.get("content"))
    own = _find_media_type(documented, answer.media_type)
    content = response["content"] = {
        key: node
        for key, node in documented.items()
        if key == own
        or not (is_json(key) or includes_json(key))
        or not is_loose(document, mapping(node).get("schema"), answer.body)
    }
    media: dict[str, Any] = dict(mapping(content.get(own)))
    content[own] = media
    return media


def _add_example(media: dict[str, Any], answer: ErrorAnswer) -> None:
    body = answer.body if answer.quotable else _legible_part(answer.body, phrase(answer.status))
    shown = media["examples"] = dict(mapping(media.get("examples")))
    prefix = f"{answer.codes[0][1]} " if answer.codes else "observed"
    own = [each for name, each in shown.items() if name.startswith(prefix)]
    if len(own) < _EXAMPLES and not any(_is_of(each, body) for each in own):
        shown[f"{prefix}{len(own) + 1}"] = {"value": body}


def _settle_unobserved(document: Json, shape: BodyShape, name: str, *, only: bool) -> None:
    """Give loose responses without an observed answer the schema called so."""
    usual = shape.answers[0]
    for _, operation in _operations(document):
        responses = operation["responses"] = dict(mapping(operation.get("responses")))
        for status, response in [*responses.items()]:
            if status[:1] not in "123" and _is_loose_as(document, response, usual, only=only):
                media = {"schema": {"$ref": f"{_SCHEMAS}{name}"}}
                responses[status] = {
                    **resolve(document, response),
                    "content": {usual.media_type: media},
                }


def _settle_coded(document: Json, description: Description, coded: _CodedShape) -> None:
    """Give responses that could be of the shape the codes that were seen under their status, and
    leave out those of which nobody knows the code.
    """
    seen = read_seen_codes(coded.shape, coded.place)
    of_any = OF_ANY_LEARNED if description.learned else OF_ANY
    of_any |= _surprising_statuses(document, description.base, seen)
    for names, operation in _operations(document, description.base):
        answered = {status for name, status in coded.shape.places if name in names}
        responses = operation["responses"] = dict(mapping(operation.get("responses")))
        listed = {status for status in responses if status[:1] not in "123"}
        vague = [status for status in listed if coded.is_vague(document, responses[status])]
        kept = {status: responses.pop(status) for status in sorted(vague)}
        able = {int(status) for status in vague if status.isdecimal()}
        if answered or vague:
            able |= {status for status in of_any if str(status) not in listed}
        for status in sorted(able):
            for code in seen.get(status, ()):
                if code.is_general or (str(status) in kept and status not in answered):
                    responses.setdefault(str(status), kept.get(str(status), {}))
                    media = _add_media(document, operation, code.answer)
                    media["schema"] = coded.schema
                    _add_example(media, code.answer)


def _surprising_statuses(
    document: Json, base: str, seen: Mapping[int, Sequence[SeenCode]]
) -> frozenset[int]:
    """The statuses by which several operations refused that do not document them, as for an address
    that cannot be read: what stands before all operations refuses so.
    """
    listed = {
        name: mapping(operation.get("responses")).keys()
        for names, operation in _operations(document, base)
        for name in names
    }
    return frozenset(
        status
        for status, codes in seen.items()
        if status not in _OF_ROUTES
        and any(
            code.is_general
            and any(name in listed and str(status) not in listed[name] for name in code.operations)
            for code in codes
        )
    )


def _is_loose_as(document: Json, response: object, usual: ErrorAnswer, *, only: bool) -> bool:
    """Whether a response has media types of JSON, and each could be that of the answer. A response
    without any is read as the media types of undescribed ones, and loose if the answer has another,
    or the ``only`` shape of operations.
    """
    content = mapping(resolve(document, response).get("content"))
    if not content:
        return only or usual.media_type not in _UNDESCRIBED
    read = [node for key, node in content.items() if is_json(key) or includes_json(key)]
    return bool(read) and all(
        is_looser(document, mapping(node).get("schema"), usual.body) for node in read
    )


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
