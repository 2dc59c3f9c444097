"""The service that an OpenAPI document describes: its operations, their bodies and security.

`read` never raises. It leaves out every part that it cannot read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal
from urllib.parse import unquote, urlsplit

from faultspec.openapi.closing import close, describe_cuts
from faultspec.openapi.nodes import Json, first_form, first_json, is_json, mapping, sequence
from faultspec.openapi.paths import PLACEHOLDER, RouteIndex, segment_values, shape_segments
from faultspec.openapi.reader import DocumentReader, Loss, PathItem, resolve
from faultspec.openapi.swagger import openapi_3


@dataclass(frozen=True, slots=True)
class OperationParameter:
    """A parameter of an operation. ``example`` is None if the document gives none."""

    name: str
    where: Literal["path", "query", "header", "cookie"]
    required: bool
    schema: Json
    example: object = None


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A request body: all its media types, schema and example of the first that is JSON, or else a
    form.

    ``files``: the media type of each field that is a file, if it is a form.
    """

    media_types: tuple[str, ...]
    required: bool
    schema: Json
    example: object = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def json_type(self) -> str | None:
        """The first media type that is JSON, or None."""
        return first_json(self.media_types)

    @property
    def form_type(self) -> str | None:
        """The first media type of a form, or None."""
        return first_form(self.media_types)


@dataclass(frozen=True, slots=True)
class DocumentedSuccess:
    """The first documented success of an operation: status, schema and example of its JSON body."""

    status: int
    schema: Json | None = None
    example: object = None


@dataclass(frozen=True, slots=True)
class ServiceOperation:
    """One method of one path. ``template`` includes the base path of the document's server.

    ``secured``: whether it needs credentials, None if the document says nothing of credentials.
    ``success``: the first status below 300 that the document describes, or None. ``challenges``:
    the authentication schemes of HTTP that it accepts, in lower case; empty if others may do.
    ``schemes``: all ways to send its credentials that the document has for it.
    """

    method: str
    template: str
    parameters: tuple[OperationParameter, ...] = ()
    body: RequestBody | None = None
    responses: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    secured: bool | None = None
    scopes: tuple[str, ...] = ()
    challenges: tuple[str, ...] = ()
    schemes: "tuple[Scheme, ...]" = ()
    id: str | None = None
    success: DocumentedSuccess | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """``METHOD /template``, the name of the operation in reports."""
        return f"{self.method} {self.template}"

    @property
    def writes(self) -> bool:
        """Whether the method is anything but a read."""
        return self.method not in ("GET", "HEAD", "OPTIONS", "TRACE")

    @property
    def files(self) -> Mapping[str, str]:
        """The media type of each field of its form that is a file."""
        return self.body.files if self.body is not None else {}

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names in braces, in order."""
        return placeholders(self.template)

    def parameter(self, name: str, where: str) -> OperationParameter | None:
        """The declared parameter of that name and place. Names are compared without case."""
        for parameter in self.parameters:
            if parameter.where == where and parameter.name.lower() == name.lower():
                return parameter
        return None


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to send credentials. A key is sent in ``where`` as ``name``."""

    kind: Literal["bearer", "basic", "key"]
    where: Literal["header", "query", "cookie"] = "header"
    name: str = "Authorization"


@dataclass(frozen=True)  # with a dictionary, for what is computed once
class Description:
    """Everything read from the document.

    ``document`` stays, for references inside schemas. Swagger 2.0 has the shape of OpenAPI 3.0.
    ``base``: the path that all templates begin with, such as ``/api/v2``; "" for none. ``cuts``:
    the references that left the document, which it no longer has. ``address``: the URL that the
    document was read from; "" if it is unknown. ``learned``: the document was made from answers of
    the service, which promises none of it.
    """

    operations: tuple[ServiceOperation, ...] = ()
    schemes: tuple[Scheme, ...] = ()
    title: str = ""
    document: Json = field(default_factory=dict, repr=False)
    base: str = ""
    cuts: tuple[Loss, ...] = ()
    address: str = ""
    learned: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path template once, in order."""
        return tuple(dict.fromkeys(operation.template for operation in self.operations))

    def find(self, method: str, template: str) -> ServiceOperation | None:
        """The operation of that method and template, whatever the names of its placeholders."""
        return self._by_shape.get((method, shape_of(template)))

    def operation_at(self, method: str, path: str) -> ServiceOperation | None:
        """The operation of a concrete path or a template.

        A literal segment wins over a placeholder.
        """
        return self.find(method, path) or best_match(self._routes.find(path), method, path)

    @cached_property
    def _by_shape(self) -> Mapping[tuple[str, str], ServiceOperation]:
        found: dict[tuple[str, str], ServiceOperation] = {}
        for operation in self.operations:
            found.setdefault((operation.method, shape_of(operation.template)), operation)
        return found

    @cached_property
    def _routes(self) -> RouteIndex[ServiceOperation]:
        return RouteIndex(self.operations)

    def methods(self, template: str) -> tuple[str, ...]:
        """The methods declared for a path."""
        return tuple(
            operation.method for operation in self.operations if operation.template == template
        )

    def schema(self, schema: object) -> Json:
        """A schema with its own reference followed. References inside it stay."""
        return resolve(self.document, schema)


def best_match(
    operations: Iterable[ServiceOperation], method: str, path: str
) -> ServiceOperation | None:
    """The operation whose template a concrete path fits; a literal segment wins over a
    placeholder.
    """
    matching = (
        operation
        for operation in operations
        if operation.method == method and matches(operation.template, path)
    )
    return min(matching, key=lambda operation: len(operation.placeholders), default=None)


def placeholders(template: str) -> tuple[str, ...]:
    """The names in braces, in order."""
    return tuple(re.findall(r"{([^{}]+)}", template))


@lru_cache(maxsize=4096)  # templates are compared often, and a document has fewer than that
def shape_of(template: str) -> str:
    """The template with every placeholder anonymous."""
    return re.sub(r"{[^{}]*}", "{}", template.rstrip("/") or "/")


def matches(template: str, path: str) -> bool:
    """Whether a concrete path fits the template. A placeholder takes one segment."""
    return path_values(template, path) is not None


def path_values(template: str, path: str) -> dict[str, str] | None:
    """The values of a template's placeholders in a path, decoded; None if the path does not fit."""
    expected, segments = shape_segments(template), path.split("/")
    if len(expected) != len(segments):
        return None
    values: list[str] = []
    for shape, segment in zip(expected, segments, strict=True):
        found = segment_values(shape, segment)
        if found is None:
            return None
        values += found
    names = (part[1:-1] for part in re.findall(PLACEHOLDER, template))
    return dict(zip(names, map(unquote, values), strict=True))


def read(
    document: Json,
    *,
    base: str | None = None,
    address: str = "",
    files: Mapping[str, Json] | None = None,
) -> Description:
    """The service of a document, which is closed first.

    ``base`` replaces the path of the document's first server. ``address`` and ``files``: as in
    `closing.close`.
    """
    closed = close(document, address, files)
    document = openapi_3(closed.document).document
    reader = DocumentReader(document)
    prefix = _base(document) if base is None else base.rstrip("/")
    title = mapping(document.get("info")).get("title")
    return Description(
        operations=tuple(
            _operation(reader, item, f"{method} {prefix}{item.path}", node)
            for item in reader.path_items()
            if item.path.startswith("/")
            for method, node, _ in reader.operations(item)
        ),
        schemes=_schemes(document),
        title=title if isinstance(title, str) else "",
        document=document,
        base=prefix,
        cuts=closed.cuts,
        address=address,
    )


def read_at(
    document: Json, path: str, *, address: str = "", files: Mapping[str, Json] | None = None
) -> tuple[Description, tuple[str, ...]]:
    """The service of a document at an address that ends in ``path``, and notes on the reading.

    ``address`` and ``files``: as in `closing.close`.
    """
    templates = list(mapping(document.get("paths")))
    notes = []
    prefix = f"{path.rstrip('/')}/"
    if path and templates and all(f"{template}/".startswith(prefix) for template in templates):
        description = replace(
            read(document, base="", address=address, files=files), base=path.rstrip("/")
        )
        notes.append(
            f"the paths of the OpenAPI document begin with {path} already, "
            "so it is not put before them again"
        )
    else:
        description = read(document, base=path or None, address=address, files=files)
    notes += describe_cuts(description.cuts)
    if not description.operations:
        notes.append(
            "the OpenAPI document names no operation, "
            "so only operations of the configuration are called"
        )
    return description, tuple(notes)


def _base(document: Json) -> str:
    for server in sequence(document.get("servers")):
        url = mapping(server).get("url")
        if isinstance(url, str) and "{" not in url:
            return urlsplit(url).path.rstrip("/")
    return ""


def _operation(reader: DocumentReader, item: PathItem, name: str, node: Json) -> ServiceOperation:
    """The operation ``METHOD /template`` of a path item. ``node``: its object."""
    document = reader.document
    method, _, template = name.partition(" ")
    declared = (*sequence(item.node.get("parameters")), *sequence(node.get("parameters")))
    parameters = _parameters(document, (resolve(document, value) for value in declared))
    responses = {
        status: resolve(document, response) for status, response, _ in reader.responses(node, "")
    }
    media_types: dict[str, None] = {}
    for status, response in responses.items():
        if status.startswith("2"):
            media_types |= dict.fromkeys(mapping(response.get("content")))
    secured, scopes = _security(document, node)
    identifier = node.get("operationId")
    return ServiceOperation(
        method=method,
        template=template,
        # A parameter of the operation replaces the path item's of the same name and place.
        parameters=tuple({(found.where, found.name): found for found in parameters}.values()),
        body=_body(document, resolve(document, node.get("requestBody"))),
        responses=tuple(responses),
        media_types=tuple(media_types),
        secured=secured,
        scopes=scopes,
        challenges=_challenges(document, node) if secured else (),
        schemes=_read_schemes(_required_schemes(document, node)) if secured else (),
        id=identifier if isinstance(identifier, str) else None,
        success=_success(document, responses),
    )


def _parameters(document: Json, declared: Iterable[Json]) -> Iterator[OperationParameter]:
    for node in declared:
        name, where = node.get("name"), node.get("in")
        if isinstance(name, str) and where in ("path", "query", "header", "cookie"):
            yield OperationParameter(
                name=name,
                where=where,
                required=node.get("required") is True or where == "path",
                schema=resolve(document, node.get("schema")),
                example=_example(document, node),
            )


def _example(document: Json, node: Json) -> object:
    if "example" in node:
        return node["example"]
    named = (resolve(document, one) for one in mapping(node.get("examples")).values())
    return next((example["value"] for example in named if "value" in example), None)


def _body(document: Json, body: Json) -> RequestBody | None:
    content = mapping(body.get("content"))
    if not content:
        return None
    media = mapping(content[first_json(content) or first_form(content) or next(iter(content))])
    return RequestBody(
        tuple(content),
        body.get("required") is True,
        schema=resolve(document, media.get("schema")),
        example=_example(document, media),
        files=dict(_files(document, media)),
    )


#: The keywords of schemas whose members are alternatives of a field, such as a file or null.
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")

_BYTES = "application/octet-stream"

#: One media type of a range.
_CONCRETE = {"image/*": "image/png", "*/*": "text/plain"}

#: Levels of a field's schema, such as an optional list of files.
_LEVELS = 4


def _files(document: Json, media: Json) -> Iterator[tuple[str, str]]:
    """The fields of a form that are files, each with its media type (OpenAPI 3.1, 4.8.14)."""
    schema, encoding = resolve(document, media.get("schema")), mapping(media.get("encoding"))
    parts = [schema, *(resolve(document, part) for part in sequence(schema.get("allOf")))]
    fields = [field for part in parts for field in mapping(part.get("properties")).items()]
    for name, node in fields:
        written = next(_files_in(document, node, _LEVELS), None)
        if written is not None:
            listed = mapping(encoding.get(name)).get("contentType") or written
            first = re.split("[,;]", str(listed))[0].strip() or _BYTES
            yield name, _CONCRETE.get(first, _BYTES if "*" in first else first)


def _files_in(document: Json, node: object, levels: int) -> Iterator[str]:
    """The media types of the files that a field, its items or its alternatives are."""
    one = resolve(document, node)
    written = one.get("contentMediaType")
    is_encoded = "contentEncoding" in one or is_json(written)
    if one.get("format") == "binary" or (written and not is_encoded):
        yield str(written or _BYTES)
    inner = [one.get("items"), *(part for key in _ALTERNATIVES for part in sequence(one.get(key)))]
    for part in inner if levels else ():
        yield from _files_in(document, part, levels - 1)


def _success(document: Json, responses: Mapping[str, Json]) -> DocumentedSuccess | None:
    for status, response in responses.items():
        if re.fullmatch("2[0-9][0-9]", status):
            content = mapping(response.get("content"))
            media = mapping(content.get(first_json(content) or ""))
            schema = resolve(document, media["schema"]) if "schema" in media else None
            return DocumentedSuccess(int(status), schema, _example(document, media))
    return None


def _security(document: Json, node: Json) -> tuple[bool | None, tuple[str, ...]]:
    """Whether the operation needs credentials, and the scopes of all alternatives."""
    requirements = node.get("security", document.get("security"))
    if not isinstance(requirements, list):
        return None if not _schemes(document) else False, ()
    if not requirements or any(requirement == {} for requirement in requirements):
        return False, ()
    scopes = [
        str(scope)
        for requirement in requirements
        for names in mapping(requirement).values()
        for scope in sequence(names)
    ]
    return True, tuple(dict.fromkeys(scopes))


def _challenges(document: Json, node: Json) -> tuple[str, ...]:
    """The authentication schemes of HTTP that an operation accepts.

    Empty if it also accepts credentials for which HTTP has no challenge, such as a key.
    """
    found: list[str] = []
    for scheme in _required_schemes(document, node):
        match scheme:
            case {"type": "http", "scheme": str(name)}:
                found.append(name.lower())
            case _:
                return ()
    return tuple(found)


def _required_schemes(document: Json, node: Json) -> list[Json]:
    """The security schemes that the requirements of an operation name, as they are declared."""
    declared = _declared_schemes(document)
    requirements = sequence(node.get("security", document.get("security")))
    names = dict.fromkeys(name for one in requirements for name in mapping(one))
    return [resolve(document, declared.get(name)) for name in names]


def _declared_schemes(document: Json) -> Json:
    return mapping(mapping(document.get("components")).get("securitySchemes"))


def _schemes(document: Json) -> tuple[Scheme, ...]:
    return _read_schemes(resolve(document, one) for one in _declared_schemes(document).values())


def _read_schemes(declared: Iterable[Json]) -> tuple[Scheme, ...]:
    found = map(_read_scheme, declared)
    return tuple(dict.fromkeys(scheme for scheme in found if scheme is not None))


def _read_scheme(declared: Json) -> Scheme | None:
    match declared:
        case {"type": "http", **rest}:
            basic = str(rest.get("scheme", "")).lower() == "basic"
            return Scheme("basic" if basic else "bearer")
        case {"type": "oauth2" | "openIdConnect"}:
            return Scheme("bearer")
        case {
            "type": "apiKey",
            "in": "header" | "query" | "cookie" as where,
            "name": str(name),
        }:
            return Scheme("key", where, name)
    return None
