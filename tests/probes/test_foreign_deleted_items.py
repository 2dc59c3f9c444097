"""Deleted items, and lists that have grown, as another tenant sees them."""

from pathlib import Path
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec_conformance.config import ConfiguredCall, ResourceConfig
from support.tenants import judged

TAXONOMY = """
faultspec: 1
taxonomy: {name: notes, version: 1.0.0, title: Notes}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
codes:
  absent: {summary: Not there, http: [404, 405]}
  deleted: {summary: It was deleted, http: 410}
privacy: {conceal: [{across: tenant, answer: absent, never: [deleted]}]}
"""

SIZES = [
    {"name": name, "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 20}}
    for name in ("limit", "offset")
]
DONE = {"responses": {"200": {"description": "d"}}}
BODY = {"content": {"application/json": {"schema": {"type": "object"}}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/notes": {"get": {**DONE, "parameters": SIZES}, "post": {**DONE, "requestBody": BODY}},
        "/notes/{id}": {
            "get": {**DONE, "parameters": [ID]},
            "delete": {**DONE, "parameters": [ID]},
        },
    },
}


def notes(*, leaks: bool = False, lists: bool = False) -> Starlette:
    """Notes of tenants, the oldest first. ``leaks``: each tenant learns of deletions. ``lists``:
    the list has the notes of all.
    """
    stored: dict[str, dict[str, str]] = {}
    gone: dict[str, str] = {}

    def may_see(request: Request, owner: str | None) -> bool:
        return owner == request.headers.get("Authorization")

    async def collection(request: Request) -> Response:
        if request.method == "POST":
            body = await request.json()
            note = {"id": str(uuid4()), "title": str(body.get("title"))}
            stored[note["id"]] = {**note, "owner": request.headers.get("Authorization", "")}
            return JSONResponse(note, 201)
        shown = [note for note in stored.values() if lists or may_see(request, note["owner"])]
        start = int(request.query_params.get("offset", "0"))
        size = int(request.query_params.get("limit", "4"))
        return JSONResponse([{**note, "owner": "x"} for note in shown[start : start + size]])

    async def item(request: Request) -> Response:
        name = request.path_params["id"]
        if name in gone and (leaks or may_see(request, gone[name])):
            return JSONResponse({"code": "deleted"}, 410)
        if name not in stored or not may_see(request, stored[name]["owner"]):
            return JSONResponse({"code": "absent"}, 404)
        if request.method == "DELETE":
            gone[name] = stored.pop(name)["owner"]
            return Response(status_code=204)
        return JSONResponse({**stored[name], "owner": "x"})

    return Starlette(
        routes=[
            Route("/notes", collection, methods=["GET", "POST"]),
            Route("/notes/{id}", item, methods=["GET", "DELETE"]),
        ]
    )


def concealed(app: Starlette, tmp_path: Path) -> set[tuple[str | None, bool]]:
    """The operations with findings about tenants, and whether they are flaky."""
    note = ResourceConfig(
        "note",
        create=ConfiguredCall("POST", "/notes", body={"title": "note ${unique}"}),
        read=ConfiguredCall("GET", "/notes/{id}"),
        delete=ConfiguredCall("DELETE", "/notes/{id}"),
        list=ConfiguredCall("GET", "/notes"),
        id="/id",
    )
    report = judged(tmp_path, app, TAXONOMY, DOCUMENT, note, requests=300, only="tenancy/*")
    return {(each.finding.operation, each.flaky) for each in report.result.findings}


@pytest.mark.parametrize("leaks", [True, False])
def test_another_tenant_learns_nothing_of_a_deleted_item(leaks: bool, tmp_path: Path) -> None:
    """To another tenant a deleted item is one that never was, though its owner learns of it."""
    found = concealed(notes(leaks=leaks), tmp_path)
    assert found == ({("GET /notes/{id}", False)} if leaks else set())


def test_a_list_of_all_tenants_is_found_once(tmp_path: Path) -> None:
    """An item of another tenant was shown: that the next one is on a later page excuses nothing."""
    assert concealed(notes(lists=True), tmp_path) == {("GET /notes", False)}
