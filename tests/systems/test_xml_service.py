"""An object store that answers errors in XML, over HTTP, and its mistakes."""

import json
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from faultspec import language
from faultspec_conformance.config import read_config
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures.serve import serving

TAXONOMY = """
faultspec: 1
taxonomy: {name: store, version: 1.0.0, title: Store, owner: store}
domains: {client: The caller's fault, server: Ours}
detail_keys:
  Key: {type: string, summary: The name of the object.}
  Size: {type: integer, summary: The largest size.}
envelopes:
  error:
    media_type: [application/xml, text/xml]
    shape: {Error: {Code: $code, Message: $message, RequestId: $request, "...": $details}}
    fields: {request: {type: integer}}
    additional: forbid
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  NoSuchKey: {summary: Not there, domain: client, http: 404, retriable: false, details: {Key: {type: string}}}
  EntityTooLarge: {summary: Too large, domain: client, http: 413, retriable: false, details: {Size: {type: integer}}}
  MethodNotAllowed: {summary: Not so, domain: client, http: 405, retriable: false}
  InvalidRequest: {summary: Not understood, domain: client, http: 400, retriable: false}
  InternalError: {summary: Ours, domain: server, http: 500, retriable: false}
fallback:
  4xx: {code: InvalidRequest, reason: whatever the framework refuses}
  5xx: {code: InternalError, reason: whatever breaks}
"""

CONFIGURATION = """
target: {http: %s}
provoke:
  NoSuchKey: {request: GET /objects/missing}
  EntityTooLarge: {request: POST /objects, body: {text: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}}
limits: {writes: true}
"""

LARGEST = 24

#: Each mistake, with the clause that it breaks.
SINS = {
    "json": "envelope/json",
    "no message": "envelope/shape",
    "a text as number": "envelope/types",
    "a size in words": "details/schema",
    "another code": "code/declared",
    "html": "envelope/media-type",
}


def store(sin: str = "") -> ASGIApp:
    """A store with one mistake, or with none."""

    def error(status: int, code: str, message: str, **details: object) -> Response:
        if sin == "json" and status == 404:
            return Response('{"Code": "NoSuchKey"}', status, media_type="application/json")
        members = {"Code": code, "Message": message, "RequestId": 7, **details}
        if sin == "no message":
            del members["Message"]
        if sin == "a text as number":
            members["RequestId"] = "seven"
        if sin == "a size in words" and "Size" in members:
            members["Size"] = "small"
        if sin == "another code" and code == "NoSuchKey":
            members["Code"] = "NoKey"
        text = "".join(f"<{name}>{escape(str(each))}</{name}>" for name, each in members.items())
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error xmlns="urn:store">{text}</Error>'
        kind = "text/html" if sin == "html" else "application/xml"
        return Response(body, status, media_type=kind)

    async def read_object(request: Request) -> Response:
        name = request.path_params["name"]
        return error(404, "NoSuchKey", f"{name} is not there", Key=name)

    async def write_object(request: Request) -> Response:
        if len(await request.body()) > LARGEST:
            return error(413, "EntityTooLarge", "Too large", Size=LARGEST)
        return Response("<Stored/>", 201, media_type="application/xml")

    async def refuse(request: Request, refused: Exception) -> Response:
        assert isinstance(refused, HTTPException)
        if refused.status_code == 405:
            answer = error(405, "MethodNotAllowed", "Not so")
            answer.headers["Allow"] = (refused.headers or {}).get("Allow", "GET")
            return answer
        if refused.status_code == 404:
            return error(404, "NoSuchKey", "Not there", Key=request.url.path)
        return error(400, "InvalidRequest", "Not understood")

    return Starlette(
        routes=[
            Route("/objects/{name}", read_object),
            Route("/objects", write_object, methods=["POST"]),
        ],
        exception_handlers={HTTPException: refuse},
    )


def judged(app: ASGIApp, folder: Path) -> Report:
    """The report about a store."""
    loaded = language.read(TAXONOMY, "store.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    config = folder / "conformance.yaml"
    with serving(app) as base:
        config.write_text(CONFIGURATION % json.dumps(base))
        target = read_config(str(config), {})
        assert target.target is not None, target.diagnostics
        report = run(target.target, loaded.taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report), report
    return report


def test_a_store_without_mistakes_is_silent(tmp_path: Path) -> None:
    """Its errors in XML are read, provoked and covered, and none is a finding."""
    result = judged(store(), tmp_path).result
    errors = [each.finding for each in result.findings if each.level == "error"]
    assert [(each.clause, each.message) for each in errors] == []
    assert exit_code(result) == 0
    assert {"NoSuchKey", "EntityTooLarge"} <= {
        code for code, each in result.coverage.items() if each.observed
    }
    assert result.clauses["envelope/shape"].verdict == "passed"
    assert result.clauses["provoke/code"].verdict == "passed"


@pytest.mark.parametrize("sin", SINS)
def test_each_mistake_of_a_store_is_found(sin: str, tmp_path: Path) -> None:
    """The clause that a mistake breaks has a finding."""
    result = judged(store(sin), tmp_path).result
    assert SINS[sin] in {each.finding.clause for each in result.findings if each.level == "error"}
