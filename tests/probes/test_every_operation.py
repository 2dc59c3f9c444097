"""Each promise of the document and the taxonomy is tested on every operation that it covers."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec_conformance.config import ConfiguredCall, ResourceConfig
from faultspec_conformance.results.model import Result
from support.tenants import judged as judged_tenants

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelf, version: 1.0.0, title: Shelf, owner: nobody}
domains: {request: What the caller can mend}
detail_keys: {existing_id: {type: string, refers_to: resource}}
envelopes:
  error: {media_type: application/json, shape: {code: $code, details?: $details}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  validation_failed: {summary: Not valid, domain: request, http: 400, retriable: none, client_action: none, effect: none}
  absent: {summary: Not there, domain: request, http: [404, 405, 415], retriable: none, client_action: none, effect: none}
  taken: {summary: It exists, domain: request, http: 409, retriable: none, client_action: none, effect: none, details: {existing_id?: {}}}
idempotency: {key: Idempotency-Key, methods: [POST], replay: {equal: [status, body]}, mismatch: unspecified}
privacy:
  conceal: [{across: tenant, answer: absent, never: [taken]}]
"""

BOUNDS: Mapping[str, Mapping[str, object]] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 100},
    "offset": {"type": "integer", "minimum": 0},
    "top": {"type": "integer", "maximum": 50},
    "sort": {"type": "string", "enum": ["id", "title"]},
    "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "word": {"type": "string", "maxLength": 20},
}
"""Query parameters of the list, each bounded in another way."""


def shelf(
    *,
    unchecked: str = "",
    corrects: bool = False,
    forgets: str = "",
    everywhere: str = "",
    spells: bool = False,
    own: bool = False,
) -> Starlette:
    """Things of tenants, with notes; transfers and searches. ``unchecked``: the query parameter
    that is not looked at; ``corrects``: whatever is too large is taken for the largest there is;
    ``forgets``: where the key is not looked at; ``everywhere``: `title`, of which a thing is the
    only one for all tenants, and `name`, which its maker chooses for its id; ``spells``: a refusal
    tells the id of the thing that is there; ``own``: whatever id another tenant's thing has, the
    caller has one of the same.
    """
    numbers = count(1)
    things: dict[str, tuple[str, dict[str, object]]] = {}
    keys: dict[tuple[str, str, str], tuple[dict[str, object], int]] = {}
    fits = {
        "limit": lambda value: int(value) >= 1 and (corrects or int(value) <= 100),
        "offset": lambda value: int(value) >= 0,
        "top": lambda value: corrects or int(value) <= 50,
        "sort": lambda value: value in ("id", "title"),
        "code": lambda value: len(value) == 3 and value.isupper(),
        "word": lambda value: len(value) <= 20,
    }

    def refusal(status: int, code: str, **details: object) -> Response:
        return JSONResponse({"code": code, **({"details": details} if details else {})}, status)

    def who(request: Request) -> str:
        return request.headers.get("Authorization", "")

    async def once(request: Request, body: dict[str, object]) -> Response:
        key = (who(request), request.url.path, request.headers.get("Idempotency-Key", ""))
        if not key[2] or request.url.path.endswith(forgets or "?"):
            return JSONResponse({**body, "id": str(next(numbers))}, 201)
        if key not in keys:
            keys[key] = {**body, "id": str(next(numbers))}, 201
        return JSONResponse(*keys[key])

    async def sent(request: Request) -> dict[str, object] | None:
        try:
            body = await request.json()
        except ValueError:
            return None
        return body if isinstance(body, dict) and isinstance(body.get("title"), str) else None

    async def create(request: Request) -> Response:
        body = await sent(request)
        if body is None:
            return refusal(400, "validation_failed")
        key = (who(request), request.url.path, request.headers.get("Idempotency-Key", ""))
        if key[2] and key in keys:
            return JSONResponse(*keys[key])
        for identifier, (owner, thing) in things.items():
            if thing["title"] == body["title"] and (everywhere or owner == who(request)):
                return refusal(409, "taken", **({"existing_id": identifier} if spells else {}))
        identifier = str(body["title"]) if everywhere == "name" else str(next(numbers))
        thing = {**body, "id": identifier}
        things[identifier] = who(request), thing
        keys[key] = thing, 201
        return JSONResponse(thing, 201)

    async def listed(request: Request) -> Response:
        for name, value in request.query_params.items():
            try:
                if name in fits and name != unchecked and not fits[name](value):
                    return refusal(400, "validation_failed")
            except ValueError:
                return refusal(400, "validation_failed")
        return JSONResponse([thing for owner, thing in things.values() if owner == who(request)])

    async def item(request: Request) -> Response:
        owner, thing = things.get(request.path_params["id"], (None, None))
        if own and owner != who(request):
            return JSONResponse({"id": request.path_params["id"], "title": "another"})
        return JSONResponse(thing) if owner == who(request) else refusal(404, "absent")

    async def note(request: Request) -> Response:
        owner, _ = things.get(request.path_params["id"], (None, None))
        body = await sent(request)
        if owner != who(request):
            return refusal(404, "absent")
        return refusal(400, "validation_failed") if body is None else await once(request, body)

    async def transfer(request: Request) -> Response:
        body = await sent(request)
        return refusal(400, "validation_failed") if body is None else await once(request, body)

    async def search(request: Request) -> Response:
        return JSONResponse({"asked": next(numbers)})

    return Starlette(
        routes=[
            Route("/things", create, methods=["POST"]),
            Route("/things", listed),
            Route("/things/{id}", item),
            Route("/things/{id}/notes", note, methods=["POST"]),
            Route("/transfers", transfer, methods=["POST"]),
            Route("/searches", search, methods=["POST"]),
        ],
        exception_handlers={
            404: lambda *_: refusal(404, "absent"),
            405: lambda *_: refusal(405, "absent"),
        },
    )


def document() -> Mapping[str, object]:
    """The document of the service: only the creation of things names the key."""
    text = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}
    body = {"requestBody": {"content": {"application/json": {"schema": text}}}}
    identifier = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    key = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}

    def responses(status: str) -> Mapping[str, object]:
        return {"responses": {status: {"description": "said"}}}

    query = [{"name": name, "in": "query", "schema": schema} for name, schema in BOUNDS.items()]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shelf", "version": "1"},
        "paths": {
            "/things": {
                "get": {"parameters": query, **responses("200")},
                "post": {"parameters": [key], **responses("201"), **body},
            },
            "/things/{id}": {"parameters": [identifier], "get": responses("200")},
            "/things/{id}/notes": {
                "parameters": [identifier],
                "post": {**responses("201"), **body},
            },
            "/transfers": {"post": {**responses("201"), **body}},
            "/searches": {"post": {**responses("200"), **body}},
        },
    }


def judged(tmp_path: Path, app: Starlette, only: str) -> Result:
    """The clauses that are asked for, of the service."""
    thing = ResourceConfig(
        "thing",
        create=ConfiguredCall("POST", "/things", body={"title": "thing-${unique}"}),
        read=ConfiguredCall("GET", "/things/{id}"),
        id="/id",
        unique=("title",),
    )
    return judged_tenants(
        tmp_path, app, TAXONOMY, document(), thing, requests=200, only=only
    ).result


def findings_of(result: Result) -> list[tuple[str, str]]:
    """The level and the operation of each finding."""
    return [(each.level, str(each.finding.operation)) for each in result.findings]


def test_whatever_bounds_a_query_is_tried(tmp_path: Path) -> None:
    """Of every query parameter a value beyond its bounds must be refused, however it is bounded; a
    service that does is silent.
    """
    assert findings_of(judged(tmp_path, shelf(), "framework/invalid-input")) == []
    for name in BOUNDS:
        result = judged(tmp_path, shelf(unchecked=name), "framework/invalid-input")
        assert set(findings_of(result)) == {("error", "GET /things")}, name
        assert all(
            "query" in found.finding.message or f"`{name}`" in found.finding.message
            for found in result.findings
        )


def test_what_is_too_large_is_tried_only_where_nothing_is_too_small(tmp_path: Path) -> None:
    """A service may answer a too large page size with its largest page, if the document has a lower
    bound too.
    """
    result = judged(tmp_path, shelf(corrects=True), "framework/invalid-input")
    assert [each.finding.message for each in result.findings] == [
        "the service accepted `top` beyond its bounds (51), which the document forbids; expected an error"
    ]


@pytest.mark.parametrize(
    ("forgets", "operation"),
    [("/notes", "POST /things/{id}/notes"), ("/transfers", "POST /transfers"), ("", None)],
)
def test_whatever_is_made_is_made_once_under_one_key(
    tmp_path: Path, forgets: str, operation: str | None
) -> None:
    """Every POST that makes something is replayed, whatever its document says of the key; one that
    makes nothing is not.
    """
    result = judged(tmp_path, shelf(forgets=forgets), "idempotency/*")
    assert findings_of(result) == ([("error", operation)] if operation else [])
    assert result.clauses["idempotency/replay"].occasions


@pytest.mark.parametrize(
    ("app", "levels"),
    [
        (shelf(), []),
        (shelf(everywhere="title"), ["warning"]),
        (shelf(everywhere="title", spells=True), ["error"]),
        (shelf(everywhere="name", spells=True), ["warning"]),
        (shelf(everywhere="title", spells=True, own=True), []),
    ],
    ids=[
        "of-its-own",
        "for-all",
        "for-all-with-the-id",
        "for-all-by-its-own-name",
        "for-all-with-an-id-of-the-caller's",
    ],
)
def test_another_tenants_resource_is_not_named(
    tmp_path: Path, app: Starlette, levels: list[str]
) -> None:
    """That a name is taken elsewhere is a warning, for names may be for all by design; whose it is,
    by its id, is a failure.

    An id that the caller sent names nothing of another tenant. With an id of the caller's own
    resource, the answer may be about that one.
    """
    result = judged(tmp_path, app, "tenancy/*")
    assert [
        level for level, operation in findings_of(result) if operation == "POST /things"
    ] == levels
    assert len(result.findings) == len(levels)
