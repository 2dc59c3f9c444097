"""Services that take files (FastAPI, Starlette), and the requests that they get."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import FastAPI, File, Form, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from faultspec.exchange import model
from faultspec_conformance.config import ConfiguredCall, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.probes import forms
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.multipart import encode_multipart
from support.scripted import http_session
from support.tenants import judged

TAXONOMY = """
faultspec: 1
taxonomy: {name: photos, version: 1.0.0, title: Photos, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message?: $message}}}
surfaces: {api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  wrong: {summary: Not so, http: 422, retriable: false}
  no_picture: {summary: Not a picture, http: 415, retriable: false}
  broken: {summary: Our fault, http: 500, retriable: false}
undeclared: {becomes: broken}
"""
CODES = {422: "wrong", 415: "no_picture", 500: "broken"}


def refuse(status: int, message: str = "") -> JSONResponse:
    """An error of the service."""
    return JSONResponse({"code": CODES[status], "message": message}, status)


def photos(habit: str = "") -> FastAPI:
    """The service. ``habit``: what it gets wrong; empty: nothing."""
    app = FastAPI()

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        """Inputs that do not fit."""
        return refuse(500 if habit == "crash" else 422)

    @app.exception_handler(HTTPException)
    async def unreadable(request: Request, error: HTTPException) -> JSONResponse:
        """Forms that cannot be read, and unknown paths."""
        return refuse(422)

    @app.post("/photos", status_code=201)
    async def create(
        title: Annotated[str, Form()],
        photo: Annotated[UploadFile, File()],
        tags: Annotated[list[str], Form()] = [],  # noqa: B006  # FastAPI copies it
        public: Annotated[bool, Form()] = False,
    ) -> Any:
        """Keep a photo."""
        content = await photo.read()
        if not content.startswith(b"\x89PNG") or not (photo.filename or "").endswith(".png"):
            return refuse(500 if habit == "picture" else 415)
        if habit == "echo" and "1" in title:
            return refuse(422, f"not {title}")
        return {"id": "1", "title": title}

    @app.post("/broken", status_code=201)
    async def read_whole(request: Request) -> Any:
        """Read a form by hand."""
        if habit == "boundary" and "boundary=" not in request.headers.get("Content-Type", ""):
            return refuse(500)
        form = await request.form()
        return {"id": "1"} if "photo" in form else refuse(500 if habit == "by hand" else 422)

    return app


def document_of(app: FastAPI) -> dict[str, Any]:
    """The document, in which pictures have a media type."""
    document = app.openapi()
    content = document["paths"]["/photos"]["post"]["requestBody"]["content"]
    content["multipart/form-data"]["encoding"] = {"photo": {"contentType": "image/*"}}
    fields = {"photo": {"type": "string", "format": "binary"}}
    schema = {"type": "object", "required": ["photo"], "properties": fields}
    whole = {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    document["paths"]["/broken"]["post"]["requestBody"] = whole
    return document


def outcomes(habit: str = "") -> tuple[dict[str, set[str]], list[int]]:
    """By clause, the kinds of outcomes of wrong forms; and the statuses of ordinary requests."""
    app = photos(habit)
    client = TestClient(app, raise_server_exceptions=False)

    def call(request: model.Request) -> model.Response:
        found = client.request(
            request.method, request.target, headers=dict(request.headers), content=request.body
        )
        return model.Response(found.status_code, tuple(found.headers.items()), found.content)

    config = ServiceConfig(
        resources={"photo": ResourceConfig("photo", create=ConfiguredCall("POST", "/photos"))},
        limits=Limits(writes=True),
    )
    session = http_session(call, TAXONOMY, config, document_of(app))
    statuses = [
        session.call(ordinary_request(session, operation)).status or 0
        for operation in session.inventory.operations
    ]
    found: dict[str, set[str]] = {}
    for one in forms.wrong_forms(session):
        if isinstance(one, Outcome):
            found.setdefault(one.clause, set()).add(one.kind)
    return found, statuses


def test_a_right_service_takes_what_it_documents() -> None:
    """Files are files with a fitting beginning and name, other fields are texts, and what is wrong
    is refused.
    """
    found, statuses = outcomes()
    assert statuses == [201, 201]
    assert found["framework/media-type"] == {"passed"}
    assert found["framework/invalid-input"] == {"passed", "not_exercised"}  # any title will do


def test_a_text_in_place_of_a_picture_crashes_a_service() -> None:
    """A crash on a file of another type is a failure. A refusal and a success are none."""
    assert "failed" in outcomes("picture")[0]["framework/invalid-input"]


@pytest.mark.parametrize("habit", ["crash", "by hand", "boundary"])
def test_a_form_that_breaks_off_crashes_a_service(habit: str) -> None:
    """A crash on a form that cannot be read is a failure."""
    assert "failed" in outcomes(habit)[0]["framework/invalid-input"]


def test_an_object_is_json_and_a_list_repeats_its_field() -> None:
    """Fields are written as OpenAPI 3.1 says (4.8.14.3), and twice the same form has the same
    bytes.
    """
    form = {"a": [1, True], "b": {"c": None}, "d": "é"}
    body, media_type = encode_multipart(form, {"d": "text/plain"})
    assert media_type.startswith("multipart/form-data; boundary=")
    parts = body.decode().split(f"--{media_type.partition('=')[2]}")
    assert [part.strip().partition("\r\n\r\n")[2] for part in parts[1:-1]] == [
        "1",
        "true",
        '{"c": null}',
        "é",
    ]
    assert 'filename="d.txt"' in parts[4]
    assert "application/json" in parts[3]
    assert encode_multipart(form, {"d": "text/plain"})[0] == body


def rooms(habit: str = "") -> Starlette:
    """Rooms of two tenants, each with a picture. ``habit``: what it gets wrong; empty: nothing."""
    owners: dict[str, str] = {}

    async def create(request: StarletteRequest) -> Response:
        await request.json()
        name = f"r{len(owners)}"
        owners[name] = request.headers["Authorization"]
        return JSONResponse({"id": name}, 201)

    async def read(request: StarletteRequest) -> Response:
        known = owners.get(request.path_params["id"]) == request.headers.get("Authorization")
        if not known:
            return JSONResponse(ABSENT, 404)
        return JSONResponse({"id": request.path_params["id"]}, headers={"ETag": '"1"'})

    async def upload(request: StarletteRequest) -> Response:
        if not request.headers.get("Content-Type", "").startswith("multipart/form-data"):
            return refuse(415)
        async with request.form() as form:
            if "picture" not in form or not hasattr(form["picture"], "filename"):
                return refuse(422)
        name, caller = request.path_params["id"], request.headers.get("Authorization")
        if owners.get(name) != caller and (habit != "open upload" or name not in owners):
            return JSONResponse(ABSENT, 404)
        tag = request.headers.get("If-Match")
        if tag not in (None, '"1"') and habit != "any version":
            return JSONResponse({"code": "stale"}, 412)
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/rooms", create, methods=["POST"]),
            Route("/rooms/{id}", read, methods=["GET"]),
            Route("/rooms/{id}/picture", upload, methods=["PUT"]),
        ]
    )


ABSENT = {"code": "absent"}

ROOMS = {
    "openapi": "3.1.0",
    "paths": {
        "/rooms": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {"201": {"description": "made"}},
            }
        },
        "/rooms/{id}": {"get": {"responses": {"200": {"description": "a room"}}}},
        "/rooms/{id}/picture": {
            "put": {
                "parameters": [{"name": "If-Match", "in": "header", "schema": {"type": "string"}}],
                "requestBody": {
                    "required": True,
                    "content": {
                        "multipart/form-data": {
                            "schema": {
                                "type": "object",
                                "required": ["picture"],
                                "properties": {"picture": {"type": "string", "format": "binary"}},
                            }
                        }
                    },
                },
                "responses": {"204": {"description": "kept"}},
            }
        },
    },
}


@pytest.mark.parametrize(
    ("habit", "clause", "found"),
    [
        ("", "tenancy/concealed", []),
        ("", "preconditions/stale", []),
        ("open upload", "tenancy/concealed", ["PUT /rooms/{id}/picture"]),
        ("any version", "preconditions/stale", ["PUT /rooms/{id}/picture"]),
    ],
)
def test_an_upload_is_refused_for_its_item(
    habit: str, clause: str, found: list[str], tmp_path: Path
) -> None:
    """The upload is sent in its form, so the service looks at whose item it is, and which version
    of it is meant.
    """
    absent = (
        "codes:\n  absent: {summary: Not there, http: [404, 405], retriable: false}\n"
        "  stale: {summary: Another version, http: 412, retriable: false}\n"
    )
    conceal = "privacy: {conceal: [{across: tenant, answer: absent, never: [wrong]}]}\n"
    room = ResourceConfig(
        "room",
        create=ConfiguredCall("POST", "/rooms", body={}),
        id="/id",
        read=ConfiguredCall("GET", "/rooms/{id}"),
    )
    report = judged(
        tmp_path,
        rooms(habit),
        TAXONOMY.replace("codes:\n", absent) + conceal,
        ROOMS,
        room,
        requests=100,
        only=clause,
    )
    assert report.result.clauses[clause].occasions
    assert [str(each.finding.operation) for each in report.result.findings] == found
