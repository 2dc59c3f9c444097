"""Later pages of a list, where two bodies differ, addresses that are none, and kinds of resource
after the first few.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange
from faultspec.exchange.model import Request as Asked
from faultspec.exchange.model import Response as Answer
from faultspec.language import read
from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance.config import ServiceConfig
from faultspec_conformance.drivers import Limits
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.service import run
from faultspec_conformance.session import pagination
from faultspec_conformance.session.discovery import address_problem
from faultspec_conformance.session.observation import Observation, difference
from faultspec_conformance.session.options import RunOptions, Unreachable
from miniatures.serve import serving

TAXONOMY = """
faultspec: 1
taxonomy: {name: shelves, version: 1.0.0, title: Shelves, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [400, 404, 405, 415], retriable: none, client_action: none, effect: none}
"""


def listing(*parameters: tuple[str, Mapping[str, object]]) -> ServiceOperation:
    """A list with these query parameters."""
    return ServiceOperation(
        "GET",
        "/things",
        tuple(OperationParameter(name, "query", False, schema) for name, schema in parameters),
    )


def answered(body: object, *headers: tuple[str, str]) -> Observation:
    """A page."""
    exchange = Exchange(Asked("GET", "/things"), Answer(200, headers, json.dumps(body).encode()))
    return Observation(
        exchange,
        Judgement(findings=(), exercised=frozenset(), surface=None, is_error=False, code=None),
    )


@pytest.mark.parametrize(
    ("parameters", "body", "headers", "first", "second"),
    [
        ((), [], (), {}, None),
        ((("limit", {"maximum": 50}),), [], (), {"limit": 50}, None),
        ((("limit", {}), ("offset", {})), [], (), {"limit": 100}, {"limit": 100, "offset": 1}),
        ((("per_page", {}), ("page", {})), [], (), {"per_page": 100}, {"page": 2, "per_page": 1}),
        (
            (("pageSize", {}), ("pageToken", {})),
            {"nextPageToken": "t"},
            (),
            {"pageSize": 1},
            {"pageSize": 100, "pageToken": "t"},
        ),
        (
            (("limit", {}), ("cursor", {})),
            {"meta": {"next": "c"}},
            (),
            {"limit": 1},
            {"limit": 100, "cursor": "c"},
        ),
        ((("limit", {}), ("cursor", {})), {"items": []}, (), {"limit": 1}, None),
        ((), [], (("Link", '</things?after=9>; rel="next"'),), {}, {"after": "9"}),
    ],
)
def test_what_follows_is_asked_for_as_the_document_says(
    parameters: tuple[tuple[str, Mapping[str, object]], ...],
    body: object,
    headers: tuple[tuple[str, str], ...],
    first: dict[str, object],
    second: dict[str, object] | None,
) -> None:
    """By a link, an offset, a page's number or a cursor that the first page gave; not at all where
    nothing says how.
    """
    assert pagination.opening(listing(*parameters)) == first
    assert pagination.next_query(listing(*parameters), answered(body, *headers)) == second


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ("/b", "2", "3")),
        ({"a": [{"x/y": "one"}]}, {"a": [{"x/y": "two"}]}, ("/a/0/x~1y", '"one"', '"two"')),
        ({"a": 1}, {"a": 1, "b": None}, ("/b", "missing", "null")),
        ({"a": 1}, {"a": True}, ("/a", "1", "true")),
        (b"one", {"a": 1}, ("", "one", "missing")),
    ],
)
def test_a_difference_has_its_place_and_both_values(
    one: object, two: object, expected: tuple[str, str, str]
) -> None:
    """The first place where two bodies differ, as a JSON Pointer, with what stood and what stands
    there.
    """
    assert difference(one, two) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://h:99999",
        "http://h:x",
        "http://[::1",
        "http://",
        "http://a b",
        "ftp://h",
        "http://h:0",
    ],
)
def test_an_invalid_address_is_reported(url: str) -> None:
    """A URL that cannot be requested is reported as such: neither a crash nor a silent service."""
    taxonomy = read(TAXONOMY, "shelves.yaml").taxonomy
    assert taxonomy is not None
    outcome = run(ServiceConfig(http=url), taxonomy, RunOptions(sweep=False))
    assert isinstance(outcome, Unreachable)
    assert "is not the address of a service" in outcome.reason
    assert outcome.hint


def test_addresses_are_let_through() -> None:
    """A host by name or number, with a port, a path or none."""
    for url in (
        "http://localhost",
        "https://api.example.com/v2",
        "http://127.0.0.1:8080",
        "http://[::1]:80/a",
    ):
        assert address_problem(url) is None


KINDS = ("atlases", "books", "charts", "diaries", "essays", "folders")


def shelves(sin: str) -> Starlette:
    """Six kinds of resource, all alike; of the one named ``sin`` what is not there is answered
    200.
    """
    made: dict[str, int] = {}

    async def collection(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in KINDS:
            return JSONResponse({"code": "absent"}, 404)
        if request.method == "GET":
            return JSONResponse([])
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"code": "absent"}, 415)
        try:
            sent = json.loads(await request.body())
        except (ValueError, RecursionError):
            sent = None
        if not isinstance(sent, dict) or not isinstance(sent.get("title"), str):
            return JSONResponse({"code": "absent"}, 400)
        made[kind] = made.get(kind, 0) + 1
        return JSONResponse({"id": made[kind]}, 201)

    async def item(request: Request) -> Response:
        kind, number = request.path_params["kind"], request.path_params["number"]
        there = number.isdigit() and 1 <= int(number) <= made.get(kind, 0)
        return (
            JSONResponse({"id": number})
            if there or kind == sin
            else JSONResponse({"code": "absent"}, 404)
        )

    return Starlette(
        routes=[
            Route("/{kind}", collection, methods=["GET", "POST"]),
            Route("/{kind}/{number}", item, methods=["GET"]),
        ],
        exception_handlers={
            404: lambda *_: JSONResponse({"code": "absent"}, 404),
            405: lambda *_: JSONResponse({"code": "absent"}, 405),
        },
    )


def document() -> Mapping[str, object]:
    """The document of the service."""
    documented = {"responses": {"200": {"description": "documented"}}}
    schema = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    paths: dict[str, object] = {}
    for kind in KINDS:
        number = {"name": "number", "in": "path", "required": True, "schema": {"type": "integer"}}
        made = {"responses": {"201": {"description": "made"}}, "requestBody": body}
        paths[f"/{kind}"] = {"get": documented, "post": made}
        paths[f"/{kind}/{{number}}"] = {"parameters": [number], "get": documented}
    return {"openapi": "3.1.0", "info": {"title": "Shelves", "version": "1"}, "paths": paths}


def judged(tmp_path: Path, sin: str, requests: int) -> Report:
    """A run that may make things."""
    (tmp_path / "openapi.json").write_text(json.dumps(document()), encoding="utf-8")
    taxonomy = read(TAXONOMY, "shelves.yaml").taxonomy
    assert taxonomy is not None
    with serving(shelves(sin)) as url:
        limits = Limits(requests=requests, writes=True)
        target = ServiceConfig(http=url, openapi_file=str(tmp_path / "openapi.json"), limits=limits)
        report = run(target, taxonomy, RunOptions(sweep=False))
    assert isinstance(report, Report)
    return report


@pytest.mark.parametrize("kind", ["atlases", "folders"])
def test_the_last_kind_is_tested_like_the_first(tmp_path: Path, kind: str) -> None:
    """A sin of the sixth kind of resource is found, as that of the first is."""
    found = {
        (each.finding.clause, each.finding.operation)
        for each in judged(tmp_path, kind, 400).result.findings
    }
    assert ("framework/unknown-id", f"GET /{kind}/{{number}}") in found


def test_the_limit_of_requests_comes_first(tmp_path: Path) -> None:
    """Kinds that the limit leaves no requests for are named, and nothing fails for it."""
    report = judged(tmp_path, "", 60)
    assert report.result.requests <= 60
    assert [
        each for each in report.result.notes if "folder" in each and "limit of requests" in each
    ]
    assert not [each for each in report.result.findings if each.level == "error"]
