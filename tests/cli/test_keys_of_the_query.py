"""Callers whose key travels in the query, from the configuration to the replay of a finding."""

import json
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from miniatures.serve import serving
from support.command_line import faultspec

TAXONOMY = """
faultspec: 1
taxonomy: {name: maps, version: 1.0.0, title: Maps, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes:
  unknown: {summary: Say who, http: 401, retriable: false}
  absent: {summary: No such map, http: 404, retriable: false}
  other: {summary: No such method, http: 405, retriable: false}
  broken: {summary: Our fault, http: 500, retriable: false}
undeclared: {becomes: broken}
privacy: {detectors: [secret, canary]}
"""
CONFIG = """
taxonomy: taxonomy.yaml
target: {http: "${URL}", openapi: /openapi.json}
identities:
  shop: {query: {api_key: "${MAPS_KEY}", region: north}}
resources: {map: {list: GET /maps, read: "GET /maps/{id}"}}
"""
#: A key of which an address has other characters.
KEY = "k/4711+f00d=&é%4711"
ENCODED = ("k%2F4711", "k/4711", "4711%2Bf00d")

DONE = {"responses": {"200": {"description": "done"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "maps", "version": "1"},
    "security": [{"key": []}],
    "components": {
        "securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "api_key"}}
    },
    "paths": {
        "/maps": {"get": DONE},
        "/maps/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
            ],
            "get": DONE,
        },
    },
}


def maps(*, repeats_key: bool) -> Starlette:
    """A service that knows a key. ``repeats_key``: its errors do too."""

    async def list_maps(request: Request) -> Response:
        return refusal(request) or JSONResponse([{"id": "m1"}])

    async def read_map(request: Request) -> Response:
        absent = JSONResponse({"code": "absent", "message": "no such map"}, 404)
        if repeats_key:
            message = f"{request.query_params.get('api_key')} has no such map"
            absent = JSONResponse({"code": "absent", "message": message}, 404)
        found = request.path_params["id"] == "m1"
        return refusal(request) or (JSONResponse({"id": "m1"}) if found else absent)

    async def document(request: Request) -> Response:
        return JSONResponse(DOCUMENT)

    def refusal(request: Request) -> Response | None:
        query = dict(parse_qsl(request.url.query))
        if query.get("api_key") == KEY and query.get("region") == "north":
            return None
        return JSONResponse({"code": "unknown", "message": "who?"}, 401)

    async def lost(request: Request, error: Exception) -> Response:
        return JSONResponse({"code": "absent", "message": "no such route"}, 404)

    async def wrong_method(request: Request, error: Exception) -> Response:
        allowed = {"Allow": "GET, HEAD"}
        return JSONResponse({"code": "other", "message": "GET it"}, 405, headers=allowed)

    routes = [
        Route("/maps", list_maps),
        Route("/maps/{id}", read_map),
        Route("/openapi.json", document),
    ]
    return Starlette(routes=routes, exception_handlers={404: lost, 405: wrong_method})


def conform(folder: Path, base: str, *arguments: str) -> tuple[int, str]:
    """The exit code and all texts of a run, its report included."""
    (folder / "taxonomy.yaml").write_text(TAXONOMY)
    (folder / "conformance.yaml").write_text(CONFIG)
    report = folder / "report.json"
    done = faultspec(
        *("conform", "conformance.yaml"),
        *("--report", f"json={report}", "--seed", "1", *arguments),
        cwd=folder,
        environment={"URL": base, "MAPS_KEY": KEY},
    )
    text = report.read_text() if report.exists() else ""
    return done.returncode, done.stdout + done.stderr + text


def test_the_key_is_sent_and_nothing_shows_it(tmp_path: Path) -> None:
    """Every operation is reached with the key, the sweep's too; no output has it in any form."""
    with serving(maps(repeats_key=False)) as base:
        code, text = conform(tmp_path, base)
    assert code == 0, text[:3000]
    found = json.loads((tmp_path / "report.json").read_text())
    held = {clause["clause"] for clause in found["clauses"] if clause["verdict"] == "passed"}
    assert {"auth/missing", "auth/garbage"} <= held
    assert not [part for part in (KEY, *ENCODED) if part in text]


def test_a_finding_is_replayed_with_the_key(tmp_path: Path) -> None:
    """An error that repeats the key is found, masked, and found again by a replay."""
    with serving(maps(repeats_key=True)) as base:
        code, text = conform(tmp_path, base, "--no-sweep", "--only", "leaks/canary")
        assert code == 1, text[:3000]
        assert not [part for part in (KEY, *ENCODED) if part in text]
        first = json.loads((tmp_path / "report.json").read_text())["findings"][0]["fingerprint"]
        done = faultspec(
            *("replay", "report.json", first, "--config", "conformance.yaml"),
            cwd=tmp_path,
            environment={"URL": base, "MAPS_KEY": KEY},
        )
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.endswith("reproduced\n")
    assert not [part for part in (KEY, *ENCODED) if part in done.stdout + done.stderr]
