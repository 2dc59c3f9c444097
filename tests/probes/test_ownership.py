"""Whose resource an answer shows, where ids are counted: each test says the law it holds."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec_conformance.config import ConfiguredCall, ResourceConfig
from faultspec_conformance.results.model import Report
from support.tenants import judged as judged_tenants

TAXONOMY = """
faultspec: 1
taxonomy: {name: tickets, version: 1.0.0, title: Tickets, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [400, 404, 405], retriable: none, client_action: none, effect: none}
  taken: {summary: There is one, domain: request, http: 409, retriable: none, client_action: none, effect: none}
  stale: {summary: Changed, domain: request, http: 412, retriable: none, client_action: refetch, effect: none}
idempotency: {key: Idempotency-Key, methods: [POST], replay: {equal: [status, body]}}
privacy:
  conceal: [{across: tenant, answer: absent}]
"""


def tickets(*, per_tenant: bool = True, seeded: bool = False, sin: str = "") -> Starlette:
    """Tickets under counted ids, each tenant's from 1 or all in one row; ``seeded``: everybody has
    some from the start.
    """
    made: list[tuple[str, int, Mapping[str, object]]] = []
    keys: dict[tuple[str, str], tuple[object, Response]] = {}
    if seeded:
        made += [("ben", number, {"id": number, "title": "An old one"}) for number in range(1, 20)]

    def refusal(status: int, code: str) -> Response:
        return JSONResponse({"code": code}, status)

    def visible(who: str) -> list[tuple[str, int, Mapping[str, object]]]:
        return [each for each in made if each[0] == who]

    async def collection(request: Request) -> Response:
        who = request.headers.get("Authorization", "")
        if request.method == "GET":
            return JSONResponse(
                [each for _, _, each in (made if sin == "lists-all" else visible(who))]
            )
        try:
            sent = dict(await request.json())
        except (
            TypeError,
            ValueError,
            RecursionError,
        ):  # a crash would close the connection, and the next request with it
            sent = {}
        if not isinstance(sent.get("title"), str):
            return refusal(400, "absent")
        key = (
            "" if sin.startswith("shares-keys") else who,
            request.headers.get("Idempotency-Key", ""),
        )
        if key[1] and key in keys:
            same = keys[key][0] == sent or sin == "shares-keys"
            return keys[key][1] if same else refusal(409, "taken")
        if sin == "shares-keys-and-refuses-strangers" and any(each[0] != who for each in made):
            return refusal(400, "absent")
        if sin == "forbids-titles" and any(each["title"] == sent["title"] for _, _, each in made):
            return refusal(409, "taken")
        number = 1 + len(visible(who) if per_tenant else made)
        made.append((who, number, {"id": number, "title": sent["title"]}))
        answer = JSONResponse(made[-1][2], 201)
        keys[key] = (sent, answer)
        return answer

    async def item(request: Request) -> Response:
        who, number = request.headers.get("Authorization", ""), request.path_params["number"]
        found = next(
            (
                each
                for tenant, n, each in made
                if n == number and (tenant == who or sin == "shows-all")
            ),
            None,
        )
        if found is None:
            return refusal(404, "absent")
        if request.method == "PATCH" and "If-Match" in request.headers:
            return refusal(412, "stale")
        return JSONResponse(found)

    return Starlette(
        routes=[
            Route("/tickets", collection, methods=["GET", "POST"]),
            Route("/tickets/{number:int}", item, methods=["GET", "PATCH"]),
        ],
        exception_handlers={
            404: lambda *_: refusal(404, "absent"),
            405: lambda *_: refusal(405, "absent"),
        },
    )


def document() -> Mapping[str, object]:
    """The document of the service."""
    number = {"name": "number", "in": "path", "required": True, "schema": {"type": "integer"}}
    body = {
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"title": {"type": "string"}}}
            }
        }
    }
    documented = {"responses": {"200": {"description": "documented"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tickets", "version": "1"},
        "paths": {
            "/tickets": {
                "get": documented,
                "post": {"responses": {"201": {"description": "made"}}, "requestBody": body},
            },
            "/tickets/{number}": {
                "parameters": [number],
                "get": documented,
                "patch": {**documented, "requestBody": body},
            },
        },
    }


def judged(tmp_path: Path, app: Starlette, taxonomy: str = TAXONOMY) -> Report:
    """A run of the probes that compare two tenants."""
    ticket = ResourceConfig(
        "ticket",
        create=ConfiguredCall("POST", "/tickets", body={"title": "Printer on fire ${unique}"}),
        read=ConfiguredCall("GET", "/tickets/{number}"),
        update=ConfiguredCall(
            "PATCH", "/tickets/{number}", body={"title": "Printer still on fire"}
        ),
        list=ConfiguredCall("GET", "/tickets"),
        id="/id",
    )
    return judged_tenants(tmp_path, app, taxonomy, document(), ticket, requests=150)


def found(report: Report) -> set[tuple[str, str]]:
    """The findings about two tenants: clauses and operations."""
    return {
        (each.finding.clause, str(each.finding.operation))
        for each in report.result.findings
        if each.finding.clause in ("tenancy/concealed", "idempotency/isolation")
    }


@pytest.mark.parametrize("per_tenant", [True, False])
def test_an_equal_id_is_not_a_proof(tmp_path: Path, per_tenant: bool) -> None:
    """Tenants who each count from 1 conceal their tickets as well as those who share a row, and
    both clauses are seen to hold.
    """
    report = judged(tmp_path, tickets(per_tenant=per_tenant))
    assert found(report) == set()
    assert report.result.clauses["tenancy/concealed"].verdict == "passed"
    assert report.result.clauses["idempotency/isolation"].verdict == "passed"


def test_a_ticket_of_the_strangers_own_is_not_a_leak(tmp_path: Path) -> None:
    """Where the other tenant had a ticket of that id before the run, its own is not taken for the
    owner's.
    """
    assert found(judged(tmp_path, tickets(seeded=True))) == set()


def test_a_value_taken_anywhere_does_not_depend_on_keys(tmp_path: Path) -> None:
    """A title that must be the only one of all tenants says nothing about the keys."""
    assert "idempotency/isolation" not in {
        clause for clause, _ in found(judged(tmp_path, tickets(sin="forbids-titles")))
    }


@pytest.mark.parametrize(
    ("sin", "clause", "operation"),
    [
        ("lists-all", "tenancy/concealed", "GET /tickets"),
        ("shows-all", "tenancy/concealed", "GET /tickets/{number}"),
        ("shares-keys", "idempotency/isolation", "POST /tickets"),
        ("shares-keys-of-one-body", "idempotency/isolation", "POST /tickets"),
    ],
)
def test_the_owners_own_value_is_proof(
    tmp_path: Path, sin: str, clause: str, operation: str
) -> None:
    """A value that only the owner sent is a leak if another tenant gets it, although ids are
    counted; so is a refused key.
    """
    assert found(judged(tmp_path, tickets(per_tenant=False, sin=sin))) >= {(clause, operation)}


def test_a_refusal_for_the_key_is_proof(tmp_path: Path) -> None:
    """The code for one key with two bodies blames the key, although the service refuses the same
    creation of another tenant for another reason under an unused key.
    """
    app = tickets(per_tenant=False, sin="shares-keys-and-refuses-strangers")
    declared = TAXONOMY.replace("replay:", "mismatch: taken, replay:")
    report = judged(tmp_path, app, declared)
    assert ("idempotency/isolation", "POST /tickets") in found(report)
