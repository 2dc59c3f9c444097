"""A cursor of one tenant that another tenant sends."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec_conformance.config import ConfiguredCall, ResourceConfig
from support.tenants import judged

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  absent: {summary: Not there, http: [404, 405], retriable: false}
  wrong: {summary: Not so, http: 400, retriable: false}
privacy: {conceal: [{across: tenant, answer: absent}]}
"""

_TEXT = {"schema": {"type": "string"}}
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/notes": {
            "get": {
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}},
                    {"name": "cursor", "in": "query", **_TEXT},
                ],
                "responses": {"200": {"description": "a page"}},
            },
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {"201": {"description": "made"}},
            },
        },
        "/notes/{id}": {
            "get": {
                "parameters": [{"name": "id", "in": "path", "required": True, **_TEXT}],
                "responses": {"200": {"description": "a note"}},
            }
        },
    },
}


def notes(*, follows: bool) -> Starlette:
    """Notes with short ids, which begin anew for each tenant with two that are alike. ``follows``:
    a cursor leads to the notes of the tenant that it was made for.
    """
    welcome = [{"id": f"n{number}", "title": "Welcome", "state": "open"} for number in range(2)]
    stored = {who: [*welcome] for who in ("ann", "ben")}

    async def collection(request: Request) -> Response:
        who = request.headers.get("Authorization", "")
        if request.method == "POST":
            body = await request.json()
            note = {"id": f"n{len(stored[who])}", "title": str(body.get("title")), "state": "open"}
            stored[who].append(note)
            return JSONResponse(note, 201)
        owner, _, start = request.query_params.get("cursor", f"{who}:0").partition(":")
        limit = request.query_params.get("limit", "20")
        if not start.isdigit() or not limit.isdigit() or owner not in stored:
            return JSONResponse({"code": "wrong"}, 400)
        seen = stored[owner if follows else who]
        end = int(start) + int(limit)
        page: dict[str, object] = {"items": seen[int(start) : end]}
        if end < len(seen):
            page["next_cursor"] = f"{who}:{end}"
        return JSONResponse(page)

    async def item(request: Request) -> Response:
        own = stored.get(request.headers.get("Authorization", ""), [])
        found = [note for note in own if note["id"] == request.path_params["id"]]
        return JSONResponse(found[0]) if found else JSONResponse({"code": "absent"}, 404)

    routes = [Route("/notes", collection, methods=["GET", "POST"]), Route("/notes/{id}", item)]
    return Starlette(routes=routes)


@pytest.mark.parametrize(("follows", "found"), [(False, []), (True, ["GET /notes"])])
def test_a_cursor_of_another_tenant_shows_nothing_of_it(
    follows: bool, found: list[str], tmp_path: Path
) -> None:
    """Notes of the other tenant are known by all that they hold, where ids are the same in both."""
    note = ResourceConfig(
        "note",
        create=ConfiguredCall("POST", "/notes", body={"title": "note ${unique}"}),
        read=ConfiguredCall("GET", "/notes/{id}"),
        list=ConfiguredCall("GET", "/notes"),
        id="/id",
    )
    app = notes(follows=follows)
    report = judged(tmp_path, app, TAXONOMY, DOCUMENT, note, requests=100, only="tenancy/*")
    assert [str(each.finding.operation) for each in report.result.findings] == found
