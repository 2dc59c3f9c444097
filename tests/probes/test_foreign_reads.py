"""Lists and logs read by another tenant: each test states a law about what they may show."""

from pathlib import Path
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultspec_conformance.config import ConfiguredCall, ResourceConfig
from faultspec_conformance.results.model import Report
from support.tenants import judged

TAXONOMY = """
faultspec: 1
taxonomy: {name: crates, version: 1.0.0, title: Crates, owner: nobody}
domains: {request: What the caller can fix}
envelopes:
  error:
    shape: {code: $code, trace: $trace}
    fields: {trace: {format: uuid4, echo: X-Trace, invalid_inbound: replace}}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [404, 405], retriable: none, client_action: none, effect: none}
privacy:
  conceal: [{across: tenant, answer: absent}]
"""
ONE_TRACE = "5d3f0c1e-8a44-4b0e-9d0c-3f6f1f6f2a10"


def crates(*sins: str) -> Starlette:
    """The crates of all tenants, with a ledger, a log of refusals, and a catalogue that all tenants
    share. Sins: `ledger-of-all`, `log-of-all`, `crates-of-all`, `one-trace`.
    """
    owners: dict[str, str] = {}
    ledger: list[tuple[str, dict[str, str]]] = []
    refusals: list[tuple[str, dict[str, str]]] = []

    def caller(request: Request) -> str:
        return request.headers.get("Authorization", "")

    def refusal(request: Request, status: int = 404) -> Response:
        trace = request.headers.get("X-Trace") or str(uuid4())
        trace = ONE_TRACE if "one-trace" in sins else trace
        refusals.append((caller(request), {"trace": trace, "path": request.url.path}))
        return JSONResponse({"code": "absent", "trace": trace}, status, {"X-Trace": trace})

    async def create(request: Request) -> Response:
        name = str(uuid4())
        owners[name] = caller(request)
        ledger.append((caller(request), {"crate": name}))
        return JSONResponse({"id": name}, 201)

    async def item(request: Request) -> Response:
        name = request.path_params["name"]
        if owners.get(name) != caller(request) and "crates-of-all" not in sins:
            return refusal(request)
        return JSONResponse({"id": name}) if name in owners else refusal(request)

    async def entries(request: Request) -> Response:
        everyone = {"ledger-of-all", "crates-of-all"} & set(sins)
        own = [entry for who, entry in ledger if everyone or who == caller(request)]
        return JSONResponse({"entries": own})

    async def log(request: Request) -> Response:
        own = [entry for who, entry in refusals if "log-of-all" in sins or who == caller(request)]
        return JSONResponse({"refusals": own[::-1][:20]})

    async def catalogue(request: Request) -> Response:
        return JSONResponse({"sizes": ["small-crate-0001", "large-crate-0002"]})

    return Starlette(
        routes=[
            Route("/crates", create, methods=["POST"]),
            Route("/crates/{name}", item, methods=["GET"]),
            Route("/ledger", entries),
            Route("/log", log),
            Route("/catalogue", catalogue),
        ],
        exception_handlers={
            404: lambda request, _: refusal(request),
            405: lambda request, _: refusal(request, 405),
        },
    )


def concealment(folder: Path, *sins: str) -> Report:
    """The report about the concealment of crates."""
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    success = {"responses": {"200": {"description": "found"}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Crates", "version": "1"},
        "paths": {
            "/crates": {"post": {"responses": {"201": {"description": "made"}}}},
            "/crates/{name}": {"parameters": [name], "get": success},
            "/seals/{name}": {"parameters": [name], "get": success},
            **{path: {"get": success} for path in ("/ledger", "/log", "/catalogue")},
        },
    }
    crate = ResourceConfig("crate", create=ConfiguredCall("POST", "/crates"), id="/id")
    return judged(folder, crates(*sins), TAXONOMY, document, crate, requests=100, only="tenancy/*")


def revealing(report: Report) -> set[str | None]:
    """The operations that show what another tenant did."""
    found = (item for item in report.result.findings if item.finding.clause == "tenancy/concealed")
    return {item.finding.operation for item in found}


def test_a_ledger_of_all_tenants_is_found(tmp_path: Path) -> None:
    """A list that belongs to no resource fails if it shows an id that another tenant created."""
    assert revealing(concealment(tmp_path, "ledger-of-all")) == {"GET /ledger"}


def test_a_log_of_all_tenants_is_found(tmp_path: Path) -> None:
    """A log fails if it shows the correlation id of another tenant's request."""
    assert revealing(concealment(tmp_path, "log-of-all")) == {"GET /log"}


def test_what_tenants_share_or_sent_themselves_is_silent(tmp_path: Path) -> None:
    """A catalogue of all tenants shows nothing, and neither does a log in which callers find the
    foreign ids that they asked for. Reads that show the owner its own ids count as checked.
    """
    report = concealment(tmp_path)
    assert not revealing(report)
    assert report.result.clauses["tenancy/concealed"].verdict == "passed"


def test_a_correlation_id_of_everybody_identifies_nobody(tmp_path: Path) -> None:
    """If every answer has the same correlation id, a log with it shows nothing of another
    tenant.
    """
    assert not revealing(concealment(tmp_path, "one-trace"))


def test_an_id_that_every_tenant_may_read_is_not_private(tmp_path: Path) -> None:
    """A list with the ids of a resource that any tenant may read shows nothing more than the
    resource itself.
    """
    assert "GET /ledger" not in revealing(concealment(tmp_path, "crates-of-all"))


def test_a_kind_that_nothing_creates_is_named_as_left_out(tmp_path: Path) -> None:
    """The clause passes for what could be made, and says of which kind nothing could."""
    clause = concealment(tmp_path).result.clauses["tenancy/concealed"]
    assert clause.verdict == "passed"
    assert "no operation is known that creates `seal`" in clause.not_exercised
