"""Writes of another tenant that succeed for any id: the owner's reads show what they did."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec_conformance.config import ConfiguredCall, ResourceConfig
from probes.test_tenancy import TAXONOMY
from support.tenants import judged


def shelf(*, names: str = "of each tenant", deletes: str = "own") -> Starlette:
    """Things under names of the caller's choice. A PUT makes or replaces one, and a deletion
    answers 204 whether there is one or not.

    ``names``: of each tenant, or of all, so that a PUT replaces anybody's thing. ``deletes``: own
    things, or any.
    """
    things: dict[tuple[str, str], Mapping[str, Any]] = {}

    def refusal(status: int) -> Response:
        return JSONResponse({"code": "absent"}, status)

    def caller(request: Request) -> str:
        return request.headers.get("Authorization", "") if names == "of each tenant" else ""

    async def put(request: Request) -> Response:
        key = (caller(request), request.path_params["name"])
        status = 200 if key in things else 201
        colour = str((await request.json()).get("colour", ""))
        things[key] = {"id": key[1], "colour": colour}
        return JSONResponse(things[key], status)

    async def read(request: Request) -> Response:
        found = things.get((caller(request), request.path_params["name"]))
        return refusal(404) if found is None else JSONResponse(found)

    async def delete(request: Request) -> Response:
        for owner, name in [*things]:
            is_own = owner == caller(request)
            if name == request.path_params["name"] and (is_own or deletes == "any"):
                del things[owner, name]
        return Response(status_code=204)

    async def show(request: Request) -> Response:
        own = [thing for (owner, _), thing in things.items() if owner == caller(request)]
        return JSONResponse({"items": own})

    return Starlette(
        routes=[
            Route("/things", show),
            Route("/things/{name}", read),
            Route("/things/{name}", put, methods=["PUT"]),
            Route("/things/{name}", delete, methods=["DELETE"]),
        ],
        exception_handlers={404: lambda *_: refusal(404), 405: lambda *_: refusal(405)},
    )


def document() -> Mapping[str, object]:
    """The document of the service."""
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    colour = {"type": "object", "properties": {"colour": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": colour}}}

    def responses(*statuses: str) -> Mapping[str, object]:
        return {"responses": {status: {"description": "answered"} for status in statuses}}

    return {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "paths": {
            "/things": {"get": responses("200")},
            "/things/{name}": {
                "parameters": [name],
                "get": responses("200", "404"),
                "put": {**responses("200", "201"), "requestBody": body},
                "delete": responses("204"),
            },
        },
    }


def findings(tmp_path: Path, app: Starlette) -> list[str]:
    """The messages of the failures of concealment."""
    thing = ResourceConfig(
        "thing",
        create=ConfiguredCall("PUT", "/things/t-${unique}", body={"colour": "c-${unique}"}),
        read=ConfiguredCall("GET", "/things/{name}"),
        delete=ConfiguredCall("DELETE", "/things/{name}"),
        list=ConfiguredCall("GET", "/things"),
        id="/id",
    )
    taxonomy = TAXONOMY.replace("answer: forbidden, never: [absent]", "answer: absent")
    report = judged(tmp_path, app, taxonomy, document(), thing, requests=100, only="tenancy/*")
    assert report.result.clauses["tenancy/concealed"].occasions
    return [each.finding.message for each in report.result.findings]


def test_names_of_each_tenant_are_not_taken_from_another(tmp_path: Path) -> None:
    """A PUT to the name of another tenant's thing makes a thing of the caller's own: what the
    caller reads, lists and deletes afterwards is that one.
    """
    assert findings(tmp_path, shelf()) == []


@pytest.mark.parametrize(
    ("flaw", "effect"),
    [({"names": "of all"}, "changed it"), ({"deletes": "any"}, "it is gone")],
    ids=["PUT", "DELETE"],
)
def test_a_write_that_succeeds_for_any_id_is_seen_by_its_effect(
    flaw: Mapping[str, Any], effect: str, tmp_path: Path
) -> None:
    """A PUT that makes what is missing, and a deletion that answers 204 to any id, fail if the
    owner's read shows that they had an effect.
    """
    found = findings(tmp_path, shelf(**flaw))
    assert any(message.endswith(f"another tenant's thing, and {effect}") for message in found)
