"""Concealment where a PUT may create: each test says the law it holds."""

from collections.abc import Mapping
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
taxonomy: {name: things, version: 1.0.0, title: Things, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  forbidden: {summary: Not yours, domain: request, http: 403, retriable: none, client_action: none, effect: none}
  absent: {summary: Not there, domain: request, http: [404, 405], retriable: none, client_action: none, effect: none}
  wrong: {summary: No colour, domain: request, http: 400, retriable: none, client_action: none, effect: none}
  stale: {summary: Changed, domain: request, http: 412, retriable: none, client_action: refetch, effect: none}
  needed: {summary: Say which, domain: request, http: 428, retriable: none, client_action: refetch, effect: none}
privacy:
  conceal: [{across: tenant, answer: forbidden, never: [absent]}]
"""


def things(
    *,
    read_reveals: bool = False,
    creates: bool = True,
    asks_first: bool = False,
    validates_first: bool = False,
    head_reveals: bool = False,
) -> Starlette:
    """The things of all tenants, under names of the caller's choice: a PUT makes one, unless
    another tenant has it. ``creates``: else a PUT only changes. ``asks_first``: the service checks
    the version of a thing before it checks the tenant; ``validates_first``: the body.
    ``head_reveals``: HEAD finds a thing of any tenant.
    """
    owners: dict[str, str] = {}

    def refusal(status: int, code: str) -> Response:
        return JSONResponse({"code": code}, status)

    async def create(request: Request) -> Response:
        name = str((await request.json())["id"])
        owners[name] = request.headers["Authorization"]
        return JSONResponse({"id": name}, 201)

    async def item(request: Request) -> Response:
        name, who = request.path_params["name"], request.headers.get("Authorization")
        owner = owners.get(name)
        if request.method == "GET" and owner is None and read_reveals:
            return refusal(404, "absent")
        if (
            asks_first
            and request.method == "PUT"
            and owner is not None
            and "If-Match" not in request.headers
        ):
            return refusal(428, "needed")
        if head_reveals and request.method == "HEAD" and owner is not None:
            return JSONResponse({"id": name})
        if (
            validates_first
            and request.method == "PUT"
            and owner is not None
            and not isinstance((await request.json()).get("colour"), str)
        ):
            return refusal(400, "wrong")
        if owner not in (None, who) or ((request.method == "GET" or not creates) and owner is None):
            return refusal(403, "forbidden")
        if request.method == "PUT" and owner is None and "If-Match" in request.headers:
            return refusal(412, "stale")
        return JSONResponse({"id": name})

    return Starlette(
        routes=[
            Route("/things", create, methods=["POST"]),
            Route("/things/{name}", item, methods=["GET", "PUT"]),
        ],
        exception_handlers={
            404: lambda *_: refusal(404, "absent"),
            405: lambda *_: refusal(405, "absent"),
        },
    )


def document(*statuses: str) -> Mapping[str, object]:
    """The document of the service; ``statuses``: those of a PUT."""
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    body = {
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"colour": {"type": "string"}}}
            }
        }
    }

    def responses(*each: str) -> Mapping[str, object]:
        return {"responses": {status: {"description": "said"} for status in each}}

    return {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "paths": {
            "/things": {"post": {**responses("201"), "requestBody": body}},
            "/things/{name}": {
                "parameters": [name],
                "get": responses("200"),
                "put": {**responses(*statuses), "requestBody": body},
            },
        },
    }


def concealment(tmp_path: Path, app: Starlette, *statuses: str) -> list[str]:
    """The operations that are found to tell what belongs to another tenant."""
    thing = ResourceConfig(
        "thing",
        create=ConfiguredCall("POST", "/things", body={"id": "thing-${unique}"}),
        read=ConfiguredCall("GET", "/things/{name}"),
        update=ConfiguredCall("PUT", "/things/{name}", body={"colour": "blue"}),
        id="/id",
    )
    report = judged(
        tmp_path, app, TAXONOMY, document(*statuses), thing, requests=100, only="tenancy/*"
    )
    assert report.result.clauses["tenancy/concealed"].occasions
    return [str(each.finding.operation) for each in report.result.findings]


def test_what_a_put_creates_cannot_be_concealed(tmp_path: Path) -> None:
    """A PUT whose document says that it creates what is not there is not held to concealment."""
    assert concealment(tmp_path, things(read_reveals=False), "200", "201") == []


def test_a_put_that_only_changes_is_held_to_concealment(tmp_path: Path) -> None:
    """A PUT whose document knows no creation must answer for a foreign thing as for none."""
    assert concealment(tmp_path, things(read_reveals=False), "200") == ["PUT /things/{name}"]


@pytest.mark.parametrize("statuses", [("200",), ("200", "201")])
def test_reads_are_held_to_concealment_whatever_a_put_creates(
    tmp_path: Path, statuses: tuple[str, ...]
) -> None:
    """That a PUT creates excuses no other operation."""
    assert "GET /things/{name}" in concealment(tmp_path, things(read_reveals=True), *statuses)


def test_a_precondition_that_is_checked_first_proves_nothing(tmp_path: Path) -> None:
    """Where a change has to name a version (428), the same is asked of a foreign thing and of
    none.
    """
    assert concealment(tmp_path, things(creates=False), "200") == []
    assert concealment(tmp_path, things(creates=False, asks_first=True), "200") == [
        "PUT /things/{name}"
    ]


def test_a_body_that_is_checked_before_the_tenant_reveals_a_thing(tmp_path: Path) -> None:
    """A change with a body of other types is refused alike for a foreign thing and for none."""
    app = things(creates=False, validates_first=True)
    assert concealment(tmp_path, app, "200") == ["PUT /things/{name}"]


def test_head_conceals_what_get_conceals(tmp_path: Path) -> None:
    """Frameworks answer HEAD where a service answers GET, and no document mentions it."""
    app = things(creates=False, head_reveals=True)
    assert concealment(tmp_path, app, "200") == ["HEAD /things/{name}"]


def stock(*, shared: bool) -> Starlette:
    """Things whose skus no two things of a tenant share; ``shared``: no two of all tenants.

    Ben has one from before.
    """
    owned = {("ben", "fixed"): "b0"}

    async def create(request: Request) -> Response:
        who, sku = request.headers.get("Authorization", ""), (await request.json())["sku"]
        taken = next(
            (
                name
                for (owner, own), name in owned.items()
                if own == sku and (shared or owner == who)
            ),
            None,
        )
        if taken is not None:
            return JSONResponse({"code": "taken"}, 409)
        owned[who, sku] = f"t{len(owned)}"
        return JSONResponse({"id": owned[who, sku]}, 201)

    async def item(request: Request) -> Response:
        who = request.headers.get("Authorization")
        own = {name for (owner, _), name in owned.items() if owner == who}
        name = request.path_params["name"]
        known = request.method == "GET" and name in own
        return JSONResponse({"id": name}) if known else JSONResponse({"code": "forbidden"}, 403)

    return Starlette(
        routes=[
            Route("/things", create, methods=["POST"]),
            Route("/things/{name}", item, methods=["GET", "PUT"]),
        ]
    )


@pytest.mark.parametrize(
    ("shared", "sku", "found"),
    [(False, "fixed", []), (True, "sku-${unique}", ["POST /things"])],
)
def test_a_conflict_with_the_own_resource_reveals_no_other_tenant(
    tmp_path: Path, shared: bool, sku: str, found: list[str]
) -> None:
    """A refusal of another tenant's values counts only if the caller has no such resource itself.

    A value that each request has may be taken by the caller.
    """
    thing = ResourceConfig(
        "thing",
        create=ConfiguredCall("POST", "/things", body={"sku": sku}),
        read=ConfiguredCall("GET", "/things/{name}"),
        id="/id",
        unique=("sku",),
    )
    taxonomy = TAXONOMY.replace(
        "  stale:",
        "  taken: {summary: It exists, domain: request, http: 409, retriable: none, "
        "client_action: none, effect: none}\n  stale:",
    ).replace("never: [absent]", "never: [absent, taken]")
    report = judged(
        tmp_path,
        stock(shared=shared),
        taxonomy,
        document("200"),
        thing,
        requests=100,
        only="tenancy/*",
    )
    assert report.result.clauses["tenancy/concealed"].occasions
    assert [
        each.finding.operation
        for each in report.result.findings
        if "another tenant uses" in each.finding.message
    ] == found
