"""What a service says of itself: its OpenAPI document (3.x or Swagger 2.0), read leniently.

Nothing here insists: a part that cannot be understood is left out. What matters is where to knock (operations, parameters,
bodies), what needs credentials, and which paths form a resource.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from faultspec import source
from faultspec.exchange import body

Json = Mapping[str, object]

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE")

#: A chain of references longer than this is a circle.
_REFERENCES = 32

_NOTHING: Json = {}


@dataclass(frozen=True, slots=True)
class OperationParameter:
    """A parameter of an operation. ``example`` is None where the document gives none."""

    name: str
    where: Literal["path", "query", "header", "cookie"]
    required: bool
    schema: Json
    example: object = None


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A request body: its media types in order of declaration, the schema and example of the first JSON one."""

    media_types: tuple[str, ...]
    required: bool
    schema: Json
    example: object = None

    @property
    def json_type(self) -> str | None:
        """The media type under which JSON is accepted, or None."""
        return next((media_type for media_type in self.media_types if is_json(media_type)), None)


@dataclass(frozen=True, slots=True)
class ServiceOperation:
    """One method of one path. ``template`` includes the base path of the document's server."""

    method: str
    template: str
    parameters: tuple[OperationParameter, ...] = ()
    body: RequestBody | None = None
    responses: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    secured: bool | None = None
    scopes: tuple[str, ...] = ()
    id: str | None = None

    @property
    def name(self) -> str:
        """``METHOD /template``: the operation's address everywhere."""
        return f"{self.method} {self.template}"

    @property
    def writes(self) -> bool:
        """Whether the method is anything but a read."""
        return self.method not in ("GET", "HEAD", "OPTIONS", "TRACE")

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names in braces, in order."""
        return tuple(re.findall(r"{([^{}]+)}", self.template))

    def parameter(self, name: str, where: str) -> OperationParameter | None:
        """The declared parameter of that name and place; header names compare without case."""
        return next(
            (p for p in self.parameters if p.where == where and p.name.lower() == name.lower()),
            None,
        )


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a caller shows who he is: ``kind`` bearer, basic or key; a key travels in ``where`` as ``name``."""

    kind: Literal["bearer", "basic", "key"]
    where: Literal["header", "query", "cookie"] = "header"
    name: str = "Authorization"


@dataclass(frozen=True, slots=True)
class DocumentedResource:
    """Paths that form a resource: a collection to create in, an item to read and change. Each is an operation or None."""

    name: str
    create: ServiceOperation | None = None
    read: ServiceOperation | None = None
    update: ServiceOperation | None = None
    delete: ServiceOperation | None = None
    list: ServiceOperation | None = None

    @property
    def item(self) -> str | None:
        """The template of an item's path."""
        return next(
            (each.template for each in (self.read, self.update, self.delete) if each is not None),
            None,
        )


@dataclass(frozen=True, slots=True)
class Description:
    """Everything read from the document. ``document`` stays, for references inside schemas.

    ``base``: the path that all templates begin with, such as ``/api/v2``; "" where there is none.
    """

    operations: tuple[ServiceOperation, ...] = ()
    schemes: tuple[Scheme, ...] = ()
    title: str = ""
    document: Json = field(default_factory=dict, repr=False)
    base: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path template once, in order."""
        return tuple(dict.fromkeys(operation.template for operation in self.operations))

    def find(self, method: str, template: str) -> ServiceOperation | None:
        """The operation of that method and template, whatever its placeholders are called."""
        wanted = shape_of(template)
        return next(
            (
                operation
                for operation in self.operations
                if operation.method == method and shape_of(operation.template) == wanted
            ),
            None,
        )

    def at(self, method: str, path: str) -> ServiceOperation | None:
        """The operation that a concrete path (or a template) addresses; a literal segment wins over a placeholder."""
        found = self.find(method, path)
        if found is not None:
            return found
        matching = [
            operation
            for operation in self.operations
            if operation.method == method and matches(operation.template, path)
        ]
        return min(matching, key=lambda each: len(each.placeholders), default=None)

    def methods(self, template: str) -> tuple[str, ...]:
        """The methods declared for a path."""
        return tuple(
            operation.method for operation in self.operations if operation.template == template
        )

    def schema(self, schema: object) -> Json:
        """A schema with its own reference followed; what is inside stays as it is."""
        return resolve(self.document, schema)


def is_json(media_type: str) -> bool:
    """Whether the media type is JSON or one of its structured suffixes."""
    bare = media_type.partition(";")[0].strip().lower()
    return bare == "application/json" or bare.endswith("+json")


@lru_cache(maxsize=4096)  # compared again and again; no document has more templates than that
def shape_of(template: str) -> str:
    """The template with every placeholder anonymous."""
    return re.sub(r"{[^{}]*}", "{}", template.rstrip("/") or "/")


def matches(template: str, path: str) -> bool:
    """Whether a concrete path fits the template: a placeholder takes one segment."""
    pattern = "".join(
        "[^/]+" if part.startswith("{") else re.escape(part)
        for part in re.split(r"({[^{}]*})", template)
    )
    return re.fullmatch(pattern, path) is not None


def parse(text: str) -> tuple[Json | None, str]:
    """Text of an OpenAPI document, JSON or YAML → its data, or None and the reason."""
    try:
        data = json.loads(text)
    except ValueError:
        document, found = source.parse(text, "the OpenAPI document")
        aliased = next((each for each in found if each.code == "yaml-alias"), None)
        if document is None or aliased is not None:
            return None, (aliased or found[0]).message
        data = _told(document.data)
    if not isinstance(data, dict):
        return None, "it is not a mapping"
    if "paths" not in data and "openapi" not in data and "swagger" not in data:
        return None, "it has no `paths`: this is no OpenAPI document"
    return data, ""


def _told(data: object) -> object:
    """Data without what its text does not tell, such as a number beyond 64 bits."""
    if isinstance(data, dict):
        return {
            key: _told(each)
            for key, each in data.items()
            if key is not source.UNREADABLE and each is not source.UNREADABLE
        }
    return (
        [_told(each) for each in data if each is not source.UNREADABLE]
        if isinstance(data, list)
        else data
    )


class NoDocument(Exception):
    """A file is no OpenAPI document; the text says which and why."""


def of_file(path: str) -> Json:
    """The data of the document in a file; raises NoDocument."""
    try:
        document, problem = parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise NoDocument(f"the OpenAPI document {path} cannot be read: {error}") from None
    if document is None:
        raise NoDocument(f"{path} is no OpenAPI document: {problem}")
    return document


def understood(document: Json, path: str) -> tuple[Description, tuple[str, ...]]:
    """The description of a service whose address ends in ``path``, and what its reader should know of the document."""
    templates = list(_mapping(document.get("paths")))
    notes = []
    if (
        path
        and templates
        and all(f"{template}/".startswith(f"{path.rstrip('/')}/") for template in templates)
    ):
        described = replace(read(document, base=""), base=path.rstrip("/"))
        notes.append(
            f"the paths of the OpenAPI document begin with {path} already, so it is not put before them again"
        )
    else:
        described = read(document, base=path or None)
    if "swagger" in document:
        notes.append(
            "the document is Swagger 2.0: its paths, methods and parameters are read, bodies and security are not"
        )
    if not described.operations:
        notes.append(
            "the OpenAPI document names no operation, so only what the configuration names is asked"
        )
    return described, tuple(notes)


def read(document: Json, *, base: str | None = None) -> Description:
    """An OpenAPI document → what a caller needs. ``base`` replaces the path of the document's first server."""
    prefix = _base(document) if base is None else base.rstrip("/")
    operations = tuple(
        operation
        for template, item in _mapping(document.get("paths")).items()
        if template.startswith("/")
        for operation in _operations(document, prefix + template, resolve(document, item))
    )
    title = _mapping(document.get("info")).get("title")
    return Description(
        operations, _schemes(document), title if isinstance(title, str) else "", document, prefix
    )


def resolve(document: Json, node: object) -> Json:
    """A node with its own local references followed; {} where it is nothing, or leads nowhere or in a circle."""
    for _ in range(_REFERENCES):
        if not isinstance(node, dict):
            return _NOTHING
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return node
        node = _point(document, reference)
    return _NOTHING


def resources(description: Description) -> tuple[DocumentedResource, ...]:
    """Collections and items by the shape of their paths: POST /orders beside GET, PUT, PATCH or DELETE /orders/{id}.

    A collection under another item counts as well; items that nobody can create come last.
    """
    found: list[DocumentedResource] = []
    for template in description.paths:
        collection, slash, last = template.rpartition("/")
        if not slash or not re.fullmatch(r"{[^{}]+}", last) or not collection:
            continue
        resource = DocumentedResource(
            name=_singular(re.sub(r"{[^{}]*}", "", collection).rstrip("/").rpartition("/")[2]),
            create=_creating(description, collection, template),
            read=description.find("GET", template),
            update=description.find("PUT", template) or description.find("PATCH", template),
            delete=description.find("DELETE", template),
            list=description.find("GET", collection),
        )
        if resource.read or resource.update or resource.delete:
            found.append(resource)
    unique: dict[str, DocumentedResource] = {}
    for resource in sorted(
        found, key=lambda each: (each.create is None, each.item.count("{") if each.item else 0)
    ):
        name = resource.name or "resource"
        while name in unique:
            name += "_"
        unique[name] = DocumentedResource(
            name, resource.create, resource.read, resource.update, resource.delete, resource.list
        )
    return tuple(unique.values())


def _creating(description: Description, collection: str, item: str) -> ServiceOperation | None:
    post = description.find("POST", collection)
    if post is not None:
        return post
    put = description.find("PUT", item)
    return put if put is not None and "201" in put.responses else None


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else _NOTHING


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _point(document: Json, reference: str) -> object:
    if not reference.startswith("#"):
        return None
    return body.resolve(document, f"/{reference[1:].strip('/')}")[1]


def _base(document: Json) -> str:
    if isinstance(document.get("basePath"), str):
        return str(document["basePath"]).rstrip("/")
    for server in _list(document.get("servers")):
        url = _mapping(server).get("url")
        if isinstance(url, str) and "{" not in url:
            return urlsplit(url).path.rstrip("/")
    return ""


def _operations(document: Json, template: str, item: Json) -> Iterator[ServiceOperation]:
    shared = _list(item.get("parameters"))
    for method in METHODS:
        node = item.get(method.lower())
        if not isinstance(node, dict):
            continue
        declared = [resolve(document, each) for each in (*shared, *_list(node.get("parameters")))]
        parameters: dict[tuple[str, str], OperationParameter] = {}
        for each in declared:
            parameter = _parameter(document, each)
            if parameter is not None:
                parameters[parameter.where, parameter.name] = parameter
        secured, scopes = _security(document, node)
        identifier = node.get("operationId")
        yield ServiceOperation(
            method=method,
            template=template,
            parameters=tuple(parameters.values()),
            body=_body(document, node, declared),
            responses=tuple(str(status) for status in _mapping(node.get("responses"))),
            media_types=_produced(document, node),
            secured=secured,
            scopes=scopes,
            id=identifier if isinstance(identifier, str) else None,
        )


@dataclass(frozen=True, slots=True)
class Promise:
    """What a document has of an operation's success: the first status below 300, schema and example of its JSON body."""

    status: int
    schema: Json | None = None
    example: object = None


def promised(description: Description, operation: ServiceOperation) -> Promise | None:
    """The success that the document describes first; None where it describes none."""
    document = description.document
    path = operation.template.removeprefix(description.base)
    item = resolve(document, _mapping(document.get("paths")).get(path))
    responses = _mapping(_mapping(item.get(operation.method.lower())).get("responses"))
    for status, written in responses.items():
        if not re.fullmatch("2[0-9][0-9]", str(status)):
            continue
        node = resolve(document, written)
        content = _mapping(node.get("content"))
        media = _mapping(next((each for key, each in content.items() if is_json(key)), node))
        schema = resolve(document, media["schema"]) if "schema" in media else None
        return Promise(int(str(status)), schema, _example(document, media))
    return None


def _parameter(document: Json, node: Json) -> OperationParameter | None:
    name, where = node.get("name"), node.get("in")
    if not isinstance(name, str) or where not in ("path", "query", "header", "cookie"):
        return None
    schema = resolve(document, node.get("schema")) or {
        key: node[key] for key in node if key not in ("name", "in", "required")
    }
    return OperationParameter(
        name,
        where,
        node.get("required") is True or where == "path",
        schema,
        _example(document, node),
    )


def _example(document: Json, node: Json) -> object:
    if "example" in node:
        return node["example"]
    examples = node.get("examples")
    if isinstance(examples, dict):
        return next(
            (resolve(document, example).get("value") for example in examples.values()), None
        )
    return None


def _body(document: Json, node: Json, declared: Sequence[Json]) -> RequestBody | None:
    body = resolve(document, node.get("requestBody"))
    content = _mapping(body.get("content"))
    if content:
        chosen = next((key for key in content if is_json(key)), next(iter(content)))
        media = _mapping(content[chosen])
        return RequestBody(
            tuple(content),
            body.get("required") is True,
            resolve(document, media.get("schema")),
            _example(document, media),
        )
    old = next((each for each in declared if each.get("in") == "body"), None)
    if old is None:
        return None
    consumes = node.get("consumes", document.get("consumes"))
    types = tuple(str(each) for each in _list(consumes)) or ("application/json",)
    return RequestBody(
        types, old.get("required") is True, resolve(document, old.get("schema")), None
    )


def _produced(document: Json, node: Json) -> tuple[str, ...]:
    types: dict[str, None] = {}
    for status, response in _mapping(node.get("responses")).items():
        if str(status).startswith("2"):
            types |= dict.fromkeys(_mapping(resolve(document, response).get("content")))
    return tuple(types) or tuple(
        str(each) for each in _list(node.get("produces", document.get("produces")))
    )


def _security(document: Json, node: Json) -> tuple[bool | None, tuple[str, ...]]:
    """Whether the operation needs credentials (None: the document says nothing anywhere), and the scopes of all alternatives."""
    requirements = node.get("security", document.get("security"))
    if not isinstance(requirements, list):
        return None if not _schemes(document) else False, ()
    if not requirements or any(each == {} for each in requirements):
        return False, ()
    scopes = [
        str(s) for each in requirements for names in _mapping(each).values() for s in _list(names)
    ]
    return True, tuple(dict.fromkeys(scopes))


def _schemes(document: Json) -> tuple[Scheme, ...]:
    components = _mapping(document.get("components"))
    declared = _mapping(components.get("securitySchemes")) or _mapping(
        document.get("securityDefinitions")
    )
    found: list[Scheme] = []
    for each in declared.values():
        node = resolve(document, each)
        match node.get("type"):
            case "http":
                found.append(
                    Scheme("basic" if str(node.get("scheme", "")).lower() == "basic" else "bearer")
                )
            case "basic":
                found.append(Scheme("basic"))
            case "oauth2" | "openIdConnect":
                found.append(Scheme("bearer"))
            case "apiKey":
                where, name = node.get("in"), node.get("name")
                if where in ("header", "query", "cookie") and isinstance(name, str):
                    found.append(Scheme("key", where, name))
    return tuple(dict.fromkeys(found))
