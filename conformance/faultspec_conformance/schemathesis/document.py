"""The service's own OpenAPI document, held against its answers by the checks of schemathesis."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import httpx
import jsonschema_rs
import requests
import schemathesis
from schemathesis.checks import load_all_checks
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.openapi.checks import JsonSchemaError
from schemathesis.specs.openapi import checks

from faultspec.exchange.body import count_values
from faultspec.exchange.model import Exchange, Response, has_content
from faultspec.language.values import shorten
from faultspec.openapi.nodes import Json, is_json, mapping, sequence
from faultspec.openapi.reader import resolve
from faultspec.openapi.service import Description, placeholders, shape_of
from faultspec.runtime.nodes import child

#: The check behind each clause. They conclude from one answer, and guess nothing.
_CHECKS: Mapping[str, Any] = {
    "document/status": checks.status_code_conformance,
    "document/media-type": checks.content_type_conformance,
    "document/headers": checks.response_headers_conformance,
    "document/schema": checks.response_schema_conformance,
}

#: Headers that hold for the connection, not for the content that was received.
_OF_CONNECTION = frozenset({"content-encoding", "content-length", "transfer-encoding"})

#: No check here reads the request.
_REQUEST = requests.Request("GET", "http://127.0.0.1/").prepare()

#: Characters of a message.
_MESSAGE = 300

#: The validator describes each branch that a value does not fit, with the value: as many texts, of
#: 300 bytes at least, and as many bytes may there be. Beyond, it took gigabytes and minutes.
_TEXTS, _BYTES = 20_000, 64 * 1024**2

#: Schemas of parts of a value that are looked at to count these texts.
_SEEN = 200_000

#: The keywords of schemas whose members are branches.
_BRANCHES = ("anyOf", "oneOf", "allOf")


@dataclass(frozen=True, slots=True)
class DocumentViolation:
    """A fault of an answer by the document. ``pointer``: into its body. ``keyword``: of the
    schema; ``value``: what breaks it.
    """

    clause: str
    message: str
    pointer: str | None = None
    keyword: str = ""
    value: object = None


@dataclass(frozen=True, eq=False)
class DocumentJudge:
    """Holds answers to a document."""

    description: Description
    _operations: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _schema(self) -> Any:
        load_all_checks()
        return schemathesis.openapi.from_dict(dict(self.description.document))

    def response(self, name: str, status: int) -> Json | None:
        """The description of an answer to the operation: of its status, of `4XX` or `default`; None
        if the document has none.
        """
        method, _, template = name.partition(" ")
        document = self.description.document
        item = resolve(document, mapping(document.get("paths")).get(self._path(template)))
        responses = mapping(mapping(item.get(method.lower())).get("responses"))
        texts = {str(key).upper(): value for key, value in responses.items()}
        for key in (str(status), f"{status // 100}XX", "DEFAULT"):
            if key in texts:
                return resolve(document, texts[key])
        return None

    def violations(self, exchange: Exchange) -> Iterator[tuple[str, tuple[DocumentViolation, ...]]]:
        """Yield each clause that the answer can be checked against, with what is wrong."""
        name, status = exchange.operation, exchange.response.status
        if name is None or status is None or exchange.transport != "http":
            return
        operation = self._operation(name)
        if operation is None:
            return
        described = self.response(name, status)
        if described is None and not operation.responses.status_codes:
            return  # the document says nothing of answers
        # A case without values for its path cannot be validated. No check here reads them.
        case = operation.Case(path_parameters=dict.fromkeys(placeholders(operation.path), "0"))
        answer = _as_received(exchange.response)
        for clause, check in _CHECKS.items():
            if not _applies(clause, exchange, described):
                continue
            try:
                if clause != "document/schema" or not self._fits(operation, answer):
                    case.validate_response(answer, checks=[check])
            except (Failure, FailureGroup) as error:
                yield clause, tuple(_violations(clause, error))
            except Exception:  # the document is broken there: nothing can be held to it
                continue
            else:
                yield clause, ()

    def _fits(self, operation: Any, answer: schemathesis.Response) -> bool:
        """Whether a body keeps to its schema; False if only the check can tell, as where the
        document has discriminators.
        """
        return _is_valid(operation, answer) and not self._has_discriminators

    @cached_property
    def _has_discriminators(self) -> bool:
        return "'discriminator'" in str(self.description.document)

    def _operation(self, name: str) -> Any:
        """The operation of schemathesis for ``METHOD /template``; None if there is none."""
        if name not in self._operations:
            self._operations[name] = None
            method, _, template = name.partition(" ")
            with suppress(Exception):  # a document that it cannot load, or without the operation
                self._operations[name] = self._schema[self._path(template)][method]
        return self._operations[name]

    def _path(self, template: str) -> str:
        """The path of the document for a template, which has the base path before it."""
        shorter = template.removeprefix(self.description.base)
        known = (self._by_shape.get(shape_of(each)) for each in (template, shorter))
        return next((path for path in known if path is not None), template)

    @cached_property
    def _by_shape(self) -> Mapping[str, str]:
        """The paths of the document, each by its shape."""
        found: dict[str, str] = {}
        for path in mapping(self.description.document.get("paths")):
            found.setdefault(shape_of(path), path)
        return found


def _applies(clause: str, exchange: Exchange, described: Json | None) -> bool:
    """Whether a clause can be checked: the document has something to say, and the content is
    there.
    """
    if clause == "document/status":
        return True
    response = exchange.response
    if described is None or response.cut is not None:
        return False
    if clause == "document/headers":
        return bool(described.get("headers"))
    if clause == "document/schema" and not is_json(exchange.response_header("Content-Type") or ""):
        return False  # how a schema applies to other content, such as events, is not certain
    bodiless = exchange.request.method == "HEAD" or not has_content(response.status)
    return not bodiless and bool(described.get("content") or described.get("schema"))


def _as_received(response: Response) -> schemathesis.Response:
    """The answer in the form that schemathesis reads, with the content already decoded."""
    headers: dict[str, str] = {}
    for name, value in response.headers:
        if (key := name.lower()) not in _OF_CONNECTION:
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
    media_type = headers.get("content-type", "").encode("latin-1", "replace")
    return schemathesis.Response(
        status_code=response.status or 0,
        headers={name: [value] for name, value in headers.items()},
        content=response.body,
        request=_REQUEST,
        elapsed=response.elapsed,
        verify=True,
        encoding=httpx.Response(0, headers=[(b"content-type", media_type)]).encoding,
    )


def _is_valid(operation: Any, answer: schemathesis.Response) -> bool:
    """Whether the validator accepts a body; False if it cannot read the schema or the body.

    Raises one Failure for a body that breaks its schema where it costs too much to list all.
    """
    definition = operation.responses.find_by_status_code(answer.status_code)
    media_type = answer.headers.get("content-type")
    found = definition.get_schema(media_type[0]) if definition and media_type else None
    if found is None or found.schema is None:
        return False
    try:
        validator, value = definition.get_validator(found.media_type, found.schema), answer.json()
        if validator.is_valid(value):
            return True
    except ValueError:  # the schema or the body cannot be read, and the check says so
        return False
    texts = _count_texts(found.schema, value)
    if texts > _TEXTS or texts * len(answer.content) > _BYTES:
        words = "the body does not fit; it and the schema are too large to tell where"
        raise Failure(operation=operation.label, title=JsonSchemaError.kind_title, message=words)
    if count_values(answer.content) > _TEXTS:
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as first:
            raise JsonSchemaError.from_exception(
                operation=operation.label,
                exc=first,
                root_schema=found.schema,
                config=operation.schema.config.output,
                name_to_uri=found.name_to_uri,
            ) from first
    return False


def _count_texts(document: Json, value: object) -> int:
    """The branches that the validator may describe, in a schema and all that its branches and
    references lead to; counted until there are too many.
    """
    count, seen = 0, 0
    rest: list[tuple[object, object]] = [(document, value)]
    while rest and count <= _TEXTS and seen <= _SEEN:
        schema, part = rest.pop()
        seen += 1
        node = resolve(document, schema)
        branches = [branch for key in _BRANCHES for branch in sequence(node.get(key))]
        count += len(branches)
        rest += ((branch, part) for branch in branches)
        rest += _inner_schemas(node, part)
    return count if not rest else _TEXTS + 1


def _inner_schemas(node: Json, value: object) -> Iterator[tuple[object, object]]:
    """The schemas of the members or items of a value, each with the member or item."""
    if isinstance(value, list):
        first = sequence(node.get("prefixItems"))
        yield from zip(first, value, strict=False)
        yield from ((node.get("items"), item) for item in value[len(first) :])
    if isinstance(value, dict):
        known = mapping(node.get("properties"))
        for name, member in value.items():
            yield known.get(name, node.get("additionalProperties")), member


def _violations(clause: str, error: Failure | FailureGroup) -> Iterator[DocumentViolation]:
    failures: Iterable[BaseException] = (
        error.exceptions if isinstance(error, FailureGroup) else (error,)
    )
    for failure in failures:
        if not isinstance(failure, Failure):
            continue
        # Only failures of schemas have a message of the validator, and a place.
        text = getattr(failure, "validation_message", "") or failure.message
        steps = getattr(failure, "instance_path", None)
        pointer = None
        if steps is not None and clause == "document/schema":
            pointer = reduce(child, steps, "")
        words = " ".join(f"{failure.title}: {text}".split())
        words = shorten(words, _MESSAGE)
        keyword = str((getattr(failure, "schema_path", None) or [""])[-1])
        yield DocumentViolation(
            clause=clause,
            message=words,
            pointer=pointer,
            keyword=keyword,
            value=getattr(failure, "instance", None),
        )
