"""The routes of a service without an OpenAPI document, learned from paths that its answers mention
or that a user names.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import quote, unquote

from faultspec.exchange.model import Response
from faultspec.openapi.nodes import Json
from faultspec.openapi.service import Description, read, shape_of
from faultspec_conformance.learning.mentions import Mention, response_media_type

#: A segment that names one item: a number, a UUID, a hexadecimal id, or letters and digits as long
#: as a ULID or a nanoid.
_ID = re.compile(
    r"\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}"
    r"|(?=[A-Za-z_-]*\d)[0-9A-Za-z_-]{20,32}",
    re.IGNORECASE,
)

#: Parts of an answer that may differ from one request to the next: times, ids, counters. A UUID has
#: groups of four digits, which may all be letters.
_VOLATILE = re.compile(
    r"(?<![0-9A-Za-z_-])(?=[A-Za-z_-]*\d)[0-9A-Za-z_-]{16,}|[0-9a-f]{8,}|\d+",
    re.IGNORECASE | re.ASCII,
)

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

#: Placeholders as routers write them: `<int:id>` (Flask, Django), `{id:int}` and `{id:[0-9]+}`
#: (Starlette, chi), `{path...}` (Go), `:id` (Express, Gin). Go's `{$}` is the end of a path.
_CONVERTED = re.compile(r"<(?:(?P<kind>[^<>:]+):)?(?P<name>\w+)>")
_BRACED = re.compile(r"\{(?P<name>\w+)(?:\.\.\.|:(?P<kind>(?:[^{}]|\{[^{}]*\})*))\}")
_COLON = re.compile(r"(?<=/):(?P<name>[A-Za-z_]\w*)(?:\((?P<kind>[^()/]*)\))?(?=/|$)")
_END = re.compile(r"\{\$\}$")

#: The converters and expressions of numbers and UUIDs. Others take texts.
_INTEGERS = re.compile(r"\^?(?:int(?:eger)?|(?:\[0-9\]|\\d)(?:[+*]|\{[\d,]+\})?)\$?", re.IGNORECASE)
_UUIDS = re.compile(r"uuid", re.IGNORECASE)


AnswerForm = tuple[int | None, str, str]
"""Status, media type and text of an answer."""


@dataclass(frozen=True, slots=True)
class LearnedRoute:
    """A route. ``examples``: values of its placeholders by name. ``query``: names of its query with
    a value, None if none was seen. ``methods``: others than GET. ``status``: that of the answer to
    GET; None if it was not asked. ``media_type``: that of a success. ``takes_json``: whether its
    writes have a body of JSON, because the user names them. ``types``: the schemas of placeholders
    whose router takes no others. ``is_read``: whether GET was mentioned.
    """

    template: str
    examples: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | None] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    status: int | None = None
    media_type: str = ""
    takes_json: bool = False
    types: Mapping[str, Json] = field(default_factory=dict)
    is_read: bool = True

    @property
    def shape(self) -> str:
        """The template without the names of placeholders. A slash at the end counts."""
        return shape_of(self.template) + ("/" if self.template.endswith("/") else "")

    @property
    def target(self) -> str | None:
        """The path with the examples; None if a placeholder has none."""
        if not self.examples.keys() >= set(_PLACEHOLDER.findall(self.template)):
            return None
        return _PLACEHOLDER.sub(
            lambda found: quote(self.examples[found[1]], safe=""), self.template
        )


def route_of(mention: Mention) -> LearnedRoute:
    """The route of a mentioned path. Segments that look like ids are placeholders."""
    segments = mention.path.split("/")
    examples: dict[str, str] = {}
    for index, segment in enumerate(segments):
        if _ID.fullmatch(segment) and index > 0:
            segments[index] = _name(segments, index, examples, segment)
    methods = () if mention.method == "GET" else (mention.method,)
    is_read = mention.method == "GET"
    return LearnedRoute(
        "/".join(segments), examples, dict(mention.query), methods=methods, is_read=is_read
    )


class RouterPath(NamedTuple):
    """A route as a router writes it. ``types``: schemas of placeholders that take no other text."""

    method: str
    path: str
    types: Mapping[str, Json]


def read_router_path(text: str) -> RouterPath:
    """``GET /orders/<int:id>`` has the path ``/orders/{id}`` and a whole number as ``id``. Without
    a method it is GET.
    """
    first, blank, rest = text.partition(" ")
    path, mark, query = (rest if blank else first).partition("?")
    types: dict[str, Json] = {}

    def placeholder(found: re.Match[str]) -> str:
        name, kind = found["name"], found["kind"] or ""
        if _INTEGERS.fullmatch(kind):
            types[name] = {"type": "integer", "minimum": 0}
        elif _UUIDS.fullmatch(kind):
            types[name] = {"type": "string", "format": "uuid"}
        return "{" + name + "}"

    for pattern in (_CONVERTED, _BRACED, _COLON):
        path = pattern.sub(placeholder, path)
    return RouterPath(first if blank else "GET", _END.sub("", path) + mark + query, types)


def with_last_placeholder(route: LearnedRoute) -> LearnedRoute:
    """The route whose last segment is a placeholder, with the segment as its example."""
    segments = route.template.split("/")
    last = len(segments) - (2 if route.template.endswith("/") else 1)
    examples = dict(route.examples)
    segments[last] = _name(segments, last, examples, segments[last])
    return replace(route, template="/".join(segments), examples=examples)


def item_path(path: str, segment: str) -> str:
    """The path of an item below a collection, with a slash at the end if the collection has one."""
    return f"{path.rstrip('/')}/{segment}" + ("/" if path.endswith("/") else "")


def sibling_path(path: str, segment: str) -> str:
    """The path with another last segment."""
    return item_path(
        path.rstrip("/").rpartition("/")[0] + ("/" if path.endswith("/") else ""), segment
    )


def _name(segments: list[str], index: int, examples: dict[str, str], value: str) -> str:
    """A new placeholder for a segment. Its value is added to the examples."""
    before = re.sub(r"\W", "_", segments[index - 1]).strip("_") or "item"
    is_last = not any(segments[index + 1 :])
    names = ("id", f"{before}_id") if is_last else (f"{before}_id",)
    taken = {*examples, *_PLACEHOLDER.findall("/".join(segments))}
    name = next((each for each in names if each not in taken), f"id{index}")
    examples[name] = unquote(value)
    return "{" + name + "}"


def merge_routes(known: LearnedRoute, other: LearnedRoute) -> LearnedRoute:
    """A route with what another mention of it adds."""
    renamed = [
        *zip(
            _PLACEHOLDER.findall(known.template), _PLACEHOLDER.findall(other.template), strict=True
        )
    ]
    added = {own: other.examples[name] for own, name in renamed if name in other.examples}
    types = {own: other.types[name] for own, name in renamed if name in other.types}
    return replace(
        known,
        examples={**added, **known.examples},
        types={**types, **known.types},
        is_read=known.is_read or other.is_read,
        query={**other.query, **{name: value for name, value in known.query.items() if value}},
        methods=tuple(dict.fromkeys((*known.methods, *other.methods))),
        status=known.status if known.status is not None else other.status,
        media_type=known.media_type or other.media_type,
        takes_json=known.takes_json or other.takes_json,
    )


@dataclass(frozen=True, slots=True)
class UnknownAnswer:
    """The answers to routes that a service does not have, in every form of `answer_forms`."""

    forms: frozenset[AnswerForm]

    def is_like(self, response: Response, path: str) -> bool:
        """Whether an answer says that the service has no such route."""
        return not self.forms.isdisjoint(answer_forms(response, path))


def answer_forms(response: Response, path: str) -> frozenset[AnswerForm]:
    """An answer without what may differ each time: as it is, since a page may link itself, and
    without the path, since an answer may repeat it.
    """
    text = response.body.decode("utf-8", "replace")
    bare = text
    for part in {path.strip("/"), unquote(path).strip("/")} - {""}:
        bare = re.sub(f"/?{re.escape(part)}/?", "", bare)
    media = response_media_type(response)
    texts = (_VOLATILE.sub("", each) for each in (text, bare))
    return frozenset((response.status, media, each) for each in texts)


def describe_routes(routes: Iterable[LearnedRoute], base: str) -> Description:
    """A description of learned routes. It says nothing about what the service promises.

    ``base``: the path of the service's address. Those that answer JSON come first.
    """
    paths: dict[str, Json] = {}
    ordered = sorted(routes, key=_usefulness)
    for route in ordered:
        read_it = {"get": _get(route)} if _is_read(route) else {}
        others: dict[str, Json] = {
            method.lower(): _write(route, method) for method in route.methods
        }
        paths[route.template] = {**read_it, **others}
    document = {"openapi": "3.1.0", "info": {"title": "Service", "version": "1"}, "paths": paths}
    return replace(read(document, base=""), base=base.rstrip("/"), learned=True)


def _is_read(route: LearnedRoute) -> bool:
    """Whether GET is a method of a route: of one that was named with another method alone, and of
    one that answered 405 and named others, it is not.
    """
    return not route.methods or (route.is_read and route.status != 405)


def _write(route: LearnedRoute, method: str) -> Json:
    body: Json = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}
    takes_body = route.takes_json and method != "DELETE"
    return {"parameters": _path_parameters(route), "responses": {}, **(body if takes_body else {})}


def _usefulness(route: LearnedRoute) -> tuple[bool, bool, bool]:
    succeeds = route.status is not None and route.status < 300
    return not succeeds, "json" not in route.media_type, bool(route.examples)


def _path_parameters(route: LearnedRoute) -> list[Json]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": route.types.get(name) or {"type": _type(route.examples.get(name))},
            **({"example": _value(route.examples[name])} if name in route.examples else {}),
        }
        for name in _PLACEHOLDER.findall(route.template)
    ]


def _get(route: LearnedRoute) -> Json:
    parameters = _path_parameters(route)
    parameters += [
        {
            "name": name,
            "in": "query",
            "schema": {"type": "string"},
            **({"example": value, "required": True} if value else {}),
        }
        for name, value in route.query.items()
    ]
    content: Json = {"content": {route.media_type: {}}} if route.media_type else {}
    responses = {str(route.status): content} if route.status is not None else {}
    return {"parameters": parameters, "responses": responses}


def _type(example: str | None) -> str:
    return "integer" if example is not None and _is_number(example) else "string"


def _value(example: str) -> int | str:
    return int(example) if _is_number(example) else example


def _is_number(text: str) -> bool:
    # Leading zeros and ids beyond 64 bits are texts.
    return re.fullmatch(r"0|[1-9]\d{0,17}", text) is not None
