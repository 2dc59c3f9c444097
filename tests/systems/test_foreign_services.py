"""Services unlike the flagship: other envelopes, routes, ids and credentials, and habits that are
not mistakes.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from faultspec import language
from faultspec_conformance.config import Identity, ServiceConfig, read_config
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures.serve import serving

TAXONOMY = """
faultspec: 1
taxonomy: {name: pets, version: 1.0.0, title: Pets, owner: pets}
domains: {client: The caller's fault, server: Ours}
boundaries: {app: The application}
envelopes:
  error:
    media_type: application/json
    shape: {error: {type: $code, text: $message, "request?": $request_id}}
    additional: allow
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  bad_input: {summary: Bad input, domain: client, boundary: app, http: [400, 422], retriable: false}
  who_are_you: {summary: No key, domain: client, boundary: app, http: 401, retriable: false}
  no_such_thing: {summary: Not there, domain: client, boundary: app, http: 404, retriable: false}
  taken: {summary: Taken, domain: client, boundary: app, http: 409, retriable: false}
  broken: {summary: Our fault, domain: server, boundary: app, http: 500, retriable: false}
fallback:
  4xx: {code: bad_input, reason: whatever the framework refuses}
  5xx: {code: broken, reason: whatever breaks}
"""

KEY = "key-0123456789abcdef"


def error(status: int, code: str, text: str) -> JSONResponse:
    """An error of the pets."""
    return JSONResponse({"error": {"type": code, "text": text}}, status)


def pets(*, forgets: str = "") -> ASGIApp:
    """Pets with numbers for ids, under /api/v2, behind an API key; lenient where HTTP lets it be.

    A wrong method is an unknown route, as with routers that keep one table; any media type is read;
    the key is looked at before anything else; what is not there can be deleted; names are unique
    and nothing points at who has them.
    """
    kept: dict[int, dict[str, Any]] = {}
    numbers = itertools.count(1)

    def known(request: Request) -> bool:
        return request.headers.get("x-api-key") == KEY or forgets == "the key"

    async def parsed(request: Request) -> dict[str, Any]:
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise HTTPException(400, "not JSON") from None
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            raise HTTPException(422, "a pet has a name")
        return body

    async def collection(request: Request) -> Response:
        if not known(request):
            raise HTTPException(401, "no key")
        if request.method == "GET":
            return JSONResponse({"data": list(kept.values())})
        body = await parsed(request)
        if any(each["name"] == body["name"] for each in kept.values()):
            raise HTTPException(409, "taken")
        number = next(numbers)
        kept[number] = {"pet_id": number, "name": body["name"]}
        return JSONResponse({"data": kept[number]}, 201)

    async def item(request: Request) -> Response:
        if not known(request):
            raise HTTPException(401, "no key")
        text = request.path_params["pet"]
        pet = kept.get(int(text)) if text.isdigit() else None
        if request.method == "DELETE":
            kept.pop(int(text) if text.isdigit() else 0, None)
            return Response(status_code=204)
        if pet is None:
            raise HTTPException(404, "no such pet")
        if request.method == "PUT":
            pet["name"] = (await parsed(request))["name"]
        return JSONResponse({"data": pet})

    async def document(request: Request) -> Response:
        return JSONResponse(PETS)

    async def refuse(request: Request, refused: Exception) -> Response:
        assert isinstance(refused, HTTPException)
        status = 404 if refused.status_code == 405 else refused.status_code
        codes = {401: "who_are_you", 404: "no_such_thing", 409: "taken"}
        if forgets == "the envelope" and status == 404:
            return Response("Not Found", 404, media_type="text/plain")
        return error(status, codes.get(status, "bad_input"), str(refused.detail))

    async def crash(request: Request, exception: Exception) -> Response:
        return error(500, "broken", "Something went wrong")

    routes = [
        Route("/api/v2/pets", collection, methods=["GET", "POST"]),
        Route("/api/v2/pets/{pet}", item, methods=["GET", "PUT", "DELETE"]),
        Route("/api/v2/openapi", document),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse, Exception: crash})


PET = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "example": "Rex"}},
}
PETS = {
    "openapi": "3.0.3",
    "info": {"title": "Pets", "version": "2"},
    "servers": [{"url": "/api/v2"}],
    "security": [{"key": []}],
    "components": {
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}},
        "schemas": {"Pet": PET},
    },
    "paths": {
        "/pets": {
            "get": {"responses": {"200": {"description": "all"}}},
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                    }
                },
                "responses": {"201": {"description": "made"}, "409": {"description": "taken"}},
            },
        },
        "/pets/{pet}": {
            "parameters": [
                {"name": "pet", "in": "path", "required": True, "schema": {"type": "integer"}}
            ],
            "get": {"responses": {"200": {"description": "one"}}},
            "put": {
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                    }
                },
                "responses": {"200": {"description": "changed"}},
            },
            "delete": {"responses": {"204": {"description": "gone"}}},
        },
    },
}


def judged(app: ASGIApp, tmp_path: Path, more: str = "", key: str = KEY) -> Report:
    """Judge the pets by a configuration of four lines."""
    loaded = language.read(TAXONOMY, "pets.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    config = tmp_path / "conformance.yaml"
    with serving(app) as base:
        config.write_text(
            f"target: {{http: {json.dumps(base + '/api/v2')}, openapi: /api/v2/openapi}}\n"
            'identities: {me: {headers: {X-Api-Key: "${PETS_KEY}"}}}\n'
            f"limits: {{writes: true}}\n{more}"
        )
        target = read_config(str(config), {"PETS_KEY": key})
        assert target.target is not None, target.diagnostics
        report = run(target.target, loaded.taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report), report
    return report


def test_a_lenient_service_of_another_kind_trips_nothing(tmp_path: Path) -> None:
    """A nested envelope, numeric ids, an API key, 404 for a wrong method and no regard for media
    types are not findings.
    """
    report = judged(pets(), tmp_path)
    assert [
        (each.finding.clause, each.finding.message)
        for each in report.result.findings
        if each.level == "error"
    ] == []
    assert exit_code(report.result) == 0
    assert {code for code, each in report.result.coverage.items() if each.observed} == {
        "bad_input",
        "who_are_you",
        "no_such_thing",
        "taken",
    }


def test_relations_are_found_without_being_described(tmp_path: Path) -> None:
    """Resources are inferred, so what can be tested without words is."""
    clauses = judged(pets(), tmp_path).result.clauses
    assert clauses["framework/unknown-id"].verdict == "passed"
    assert clauses["duplicates/refused"].verdict == "passed"
    assert clauses["auth/missing"].verdict == "passed"
    assert clauses["auth/garbage"].verdict == "passed"
    assert clauses["idempotency/replay"].verdict == "not_checkable"
    assert clauses["tenancy/concealed"].verdict == "not_checkable"


@pytest.mark.parametrize(
    ("forgets", "clause"),
    [("the key", "auth/missing"), ("the envelope", "framework/unknown-route")],
)
def test_its_mistakes_are_seen(forgets: str, clause: str, tmp_path: Path) -> None:
    """The same clauses catch its mistakes."""
    report = judged(pets(forgets=forgets), tmp_path)
    assert clause in {
        each.finding.clause for each in report.result.findings if each.level == "error"
    }


@pytest.mark.parametrize(
    ("more", "key", "reason"),
    [
        (
            "resources: {pet: {create: {request: POST /pets, body: {nmae: x}}}}\n",
            KEY,
            "no pet could be made: the service answered POST /api/v2/pets with 422 bad_input: a pet has a name",
        ),
        (
            'resources: {pet: {create: {request: POST /pets, body: {name: "${unique}"}, id: /data/idd}}}\n',
            KEY,
            "no pet could be made: the answer (201) to POST /api/v2/pets has no value at `/data/idd`, where the id of the new resource is expected",
        ),
        (
            "provoke: {no_such_thing: {steps: "
            '[{request: POST /pets, body: {nmae: x}, save: {id: /data/pet_id}}, {request: "GET /pets/{id}"}]}}\n',
            KEY,
            "the service answered step 1 of the recipe for no_such_thing with 422 bad_input: a pet has a name; expected a success",
        ),
        (
            "provoke: {no_such_thing: {steps: "
            '[{request: POST /pets, body: {name: "${unique}"}, save: {id: /id}}, {request: "GET /pets/{id}"}]}}\n',
            KEY,
            "no /id in the answer (201) of step 1 of the recipe for no_such_thing, which has /data",
        ),
        ("", "key-of-somebody-else", "me's credentials are refused (401 on GET /api/v2/pets)"),
        (
            "provoke: {taken: {request: POST /pets, body: {name: x}}, no_such_thing: {request: GET /pets/0}}\n",
            "key-of-somebody-else",
            "me's credentials are refused (401 on GET /api/v2/pets)",
        ),
    ],
)
def test_a_request_of_the_file_that_could_not_be_met_is_reported(
    more: str, key: str, reason: str, tmp_path: Path
) -> None:
    """A request of the file that the service refuses is neither passed nor silent, and is not a
    mistake of the service.
    """
    result = judged(pets(), tmp_path, more, key).result
    assert result.not_run == (reason,)
    assert [each.finding.message for each in result.findings if each.level == "error"] == []
    assert exit_code(result) == 2


@pytest.mark.parametrize("base", ["", "/api/v2"])
def test_paths_may_leave_the_base_out_everywhere(base: str, tmp_path: Path) -> None:
    """A resource and a recipe are sent to the same place, with the base path or without it, and
    reported with it.
    """
    more = f"""
resources: {{pet: {{create: {{request: POST {base}/pets, body: {{name: "${{unique}}"}}, id: /data/pet_id}}}}}}
provoke: {{no_such_thing: {{request: GET {base}/pets/0}}, bad_input: {{request: POST {base}/pets, body: {{}}}}}}
"""
    report = judged(pets(), tmp_path, more)
    assert exit_code(report.result) == 0, (report.result.not_run, report.result.findings)
    assert "GET /api/v2/pets/{pet}" in report.result.coverage["no_such_thing"].operations
    assert report.result.clauses["provoke/code"].verdict == "passed"


def test_secrets_of_the_environment_stay_out_of_the_report(tmp_path: Path) -> None:
    """The key that came from the environment is in no report."""
    from faultspec_conformance import reports

    report = judged(pets(forgets="the key"), tmp_path)
    for form in reports.FORMATS.values():
        text = form(report)
        assert KEY not in text
    assert "${PETS_KEY}" in reports.json(report)


def test_nobody_listening_is_unreachable() -> None:
    """A service that is not there is neither failed nor passed."""
    loaded = language.read(TAXONOMY, "pets.yaml")
    assert loaded.taxonomy is not None
    with serving(pets()) as base:
        pass
    found = run(
        ServiceConfig(http=base, identities={"me": Identity("me")}),
        loaded.taxonomy,
        RunOptions(sweep=False),
    )
    assert isinstance(found, Unreachable)
    assert "cannot connect" in found.reason


@pytest.mark.parametrize("status", [200, 404, 500, 204, 302])
def test_a_service_that_answers_everything_alike_ends(status: int, tmp_path: Path) -> None:
    """However odd the answers, the run ends with verdicts."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = json.dumps(PETS).encode() if scope["path"].endswith("openapi") else b"<html>"
        here = 200 if scope["path"].endswith("openapi") else status
        await send(
            {
                "type": "http.response.start",
                "status": here,
                "headers": [(b"content-type", b"text/html")],
            }
        )
        await send({"type": "http.response.body", "body": b"" if here in (204, 302) else body})

    report = judged(app, tmp_path)
    assert exit_code(report.result) in (0, 1, 2)
    if status == 500:
        assert report.result.count("failed")
