"""A method that a documented path does not have, in a run that changes nothing."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from miniatures.serve import serving
from support.command_line import faultspec

TAXONOMY = """
faultspec: 1
taxonomy: {name: cups, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes:
  route: {summary: It is absent., http: 404, retriable: false}
  method: {summary: It takes another method., http: 405, retriable: false}
"""


def app(allow: str | None, asked: list[str]) -> Starlette:
    """A service of a list, its items and three paths that are only posted to. ``asked``: what those
    refused.
    """

    def refuse(status: int, code: str) -> Response:
        headers = {"Allow": allow} if status == 405 and allow else None
        return JSONResponse({"code": code, "message": "It failed"}, status, headers)

    async def document(_: Request) -> Response:
        done = {"responses": {"200": {"description": "d"}}}
        posted = ("/cups/many", "/orders", "/logout")
        paths = {"/cups": {"get": done}, "/cups/{id}": {"get": done}}
        paths |= {path: {"post": done} for path in posted}
        info = {"title": "Cups", "version": "1"}
        return JSONResponse({"openapi": "3.1.0", "info": info, "paths": paths})

    async def answer(request: Request) -> Response:
        path = request.url.path
        if path == "/cups":
            return JSONResponse([]) if request.method in ("GET", "HEAD") else refuse(405, "method")
        if path in ("/cups/many", "/orders", "/logout"):
            asked.append(f"{request.method} {path}")
            return refuse(405, "method")
        return refuse(404, "route")

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    routes = [
        Route("/openapi.json", document),
        Route("/{rest:path}", answer, methods=methods),
    ]
    return Starlette(routes=routes)


@pytest.mark.parametrize("allow", [None, "POST"])
def test_a_documented_path_is_asked_with_a_safe_method_that_it_lacks(
    allow: str | None, tmp_path: Path
) -> None:
    """A run that writes nothing finds a 405 without `Allow`, though every path that can be read has
    GET: it asks a path that is only posted to. A path that may end the session is not asked, nor
    one that reads like an item.
    """
    asked: list[str] = []
    with serving(app(allow, asked)) as url:
        done = faultspec(
            "conform", url, "--only", "http/allow,framework/method", "--no-sweep", cwd=tmp_path
        )
    assert ("http/allow" in done.stdout.partition("passed  ")[0]) == (allow is None), done.stdout
    assert done.returncode == (1 if allow is None else 0), done.stdout + done.stderr
    assert "GET /orders" in asked
    assert not {"GET /logout", "GET /cups/many"} & {*asked}


@pytest.mark.parametrize(("lines", "broken"), [(["GET, HEAD", "POST"], False), (["GET"], True)])
def test_the_lines_of_allow_are_one_list(lines: list[str], broken: bool, tmp_path: Path) -> None:
    """A router may answer with one line for each method (RFC 9110, 5.3)."""

    async def document(_: Request) -> Response:
        done = {"responses": {"200": {"description": "d"}}}
        info = {"title": "Cups", "version": "1"}
        return JSONResponse(
            {"openapi": "3.1.0", "info": info, "paths": {"/cups": {"get": done, "post": done}}}
        )

    async def answer(request: Request) -> Response:
        if request.url.path != "/cups":
            return JSONResponse({"code": "route", "message": "It failed"}, 404)
        if request.method in ("GET", "HEAD", "POST"):
            return JSONResponse([])
        refused = JSONResponse({"code": "method", "message": "It failed"}, 405)
        for line in lines:
            refused.headers.append("Allow", line)
        return refused

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
    routes = [Route("/openapi.json", document), Route("/{rest:path}", answer, methods=methods)]
    with serving(Starlette(routes=routes)) as url:
        target = f'target: {{http: "{url}", openapi: /openapi.json}}'
        (tmp_path / "c.yaml").write_text(f"taxonomy: t.yaml\n{target}\nlimits: {{writes: true}}\n")
        (tmp_path / "t.yaml").write_text(TAXONOMY)
        done = faultspec(
            "conform", "c.yaml", "--only", "framework/method", "--no-sweep", cwd=tmp_path
        )
    assert ("leaves out POST" in done.stdout) == broken, done.stdout
