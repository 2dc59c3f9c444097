"""The judge on a miniature: correct answers have no finding, each mistake has its clause."""

import asyncio
import json
from collections.abc import Iterator
from functools import cache

import httpx
import pytest

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Canary, Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load
from miniatures.core_platform import TOKENS
from miniatures.sins import sinning
from paths import ROOT

EDITOR, READER, STRANGER = "NOTEBOOKS_BIRCH_EDITOR", "NOTEBOOKS_BIRCH_READER", None
PLANTED = "cnry-7Qx3/planted value"
CORRELATION = "0190b2a4-7c1e-7d3a-9f00-3b5f3a8e6c11"


@cache
def platform() -> Contract:
    """The contract of the Core Platform."""
    loaded = load(str(ROOT / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


async def _tour(*sins: str) -> list[Exchange]:
    """Some forty requests that provoke most codes, each as an exchange."""
    seen: list[Exchange] = []
    transport = httpx.ASGITransport(sinning(*sins), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://notebooks.test") as client:

        async def call(
            method: str,
            target: str,
            body: object = None,
            token: str | None = EDITOR,
            route: str | None = None,
            **headers: str,
        ) -> httpx.Response:
            content = (
                body
                if isinstance(body, bytes)
                else b""
                if body is None
                else json.dumps(body).encode()
            )
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            forbidden: tuple[Canary, ...] = (Canary("canary", PLANTED),)
            if content:
                sent.setdefault("content-type", "application/json")
            if token is not None:
                value, caller = TOKENS[token]
                sent["authorization"] = f"Bearer {value}"
                forbidden = (*forbidden, Canary("tenant", caller.tenant), Canary("token", value))
            answer = await client.request(method, target, content=content, headers=sent)
            response = Response(answer.status_code, _headers(answer.headers), answer.content)
            request = Request(method, target, _headers(answer.request.headers), content)
            operation = f"{method} {route}" if route else None
            seen.append(
                Exchange(
                    request,
                    response,
                    route=route,
                    operation=operation,
                    identity=token,
                    forbidden=forbidden,
                    lacks=frozenset({"service/no-crash"} if "x-fault" in sent else ()),
                )
            )
            return answer

        made = await call("POST", "/notebooks", {"title": "First"}, route="/notebooks")
        there = f"/notebooks/{made.json().get('id', 'none') if made.status_code == 201 else 'none'}"
        item = "/notebooks/{id}"
        for method in ("GET", "HEAD"):
            await call(method, there, route=item)
            await call(method, "/notebooks/00000000-0000-7000-8000-000000000000", route=item)
        await call("GET", "/notebooks", route="/notebooks", x_correlation_id=CORRELATION)
        await call("GET", "/notebooks?limit=x", route="/notebooks", x_correlation_id=CORRELATION)
        await call("POST", "/notebooks", {"title": PLANTED * 9}, route="/notebooks")
        await call("POST", "/notebooks", {"title": "First"}, route="/notebooks")
        await call("POST", "/notebooks", {"title": "Read only"}, READER, route="/notebooks")
        await call("POST", "/notebooks", b"{", route="/notebooks")
        await call(
            "POST", "/notebooks", b"<a/>", route="/notebooks", content_type="application/xml"
        )
        await call("POST", "/notebooks", {"title": "x" * 70_000}, route="/notebooks")
        await call("PATCH", there, {"pages": 2}, route=item, if_match='"stale"')
        await call("PATCH", there, {"pages": "many"}, route=item)
        archived = await call(
            "POST", "/notebooks", {"title": "Old", "archived": True}, route="/notebooks"
        )
        if archived.status_code == 201:
            await call("PATCH", f"/notebooks/{archived.json()['id']}", {"pages": 3}, route=item)
        await call("GET", "/nowhere")
        await call("PUT", "/notebooks", {}, route="/notebooks")
        await call("GET", "/notebooks", token=STRANGER, route="/notebooks")
        await call("GET", "/admin/quota", route="/admin/quota")
        await call("GET", "/notebooks", route="/notebooks", accept="text/csv")
        await call("GET", "/notebooks", route="/notebooks", x_fill="x" * 9000)
        await call("GET", f"/search?q={'y' * 200}{PLANTED[:4]}", route="/search")
        for _ in range(6):
            await call("GET", "/search?q=First", route="/search")
        faults = (
            "dependency_unavailable",
            "timeout",
            "serialization_failure",
            "constraint_violation",
            "internal_error",
        )
        for fault in faults:
            await call("GET", "/notebooks", route="/notebooks", x_fault=fault)
        await call("POST", "/hooks/printers", {"event": "x"}, route="/hooks/printers")
        await call(
            "POST",
            "/hooks/printers",
            {"event": "printed"},
            route="/hooks/printers",
            x_fault="timeout",
        )
        await call(
            "POST",
            "/notebooks/batch",
            {"items": [{"title": "A"}, {"title": ""}]},
            route="/notebooks/batch",
        )
        await call(
            "POST", "/notebooks/batch", {"items": [{"title": ""}, {}]}, route="/notebooks/batch"
        )
        await call(
            "POST",
            "/notebooks/batch",
            {"items": [{"title": "B"}, {"title": "C"}]},
            route="/notebooks/batch",
        )
        await call("DELETE", there, route=item)
    return seen


def _headers(headers: httpx.Headers) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw)


def tour(*sins: str) -> Iterator[Judgement]:
    """Every exchange of the tour, judged."""
    for exchange in asyncio.run(_tour(*sins)):
        yield judge(platform(), exchange)


def test_the_behaving_service_trips_nothing() -> None:
    """Law 5: a service that keeps the contract has no finding and no warning."""
    judged = list(tour())
    assert [(f.clause, f.status, f.message) for each in judged for f in each.findings] == []


def test_the_tour_exercises_nearly_every_clause_of_one_exchange() -> None:
    """The tour exercises every clause about one HTTP exchange that applies."""
    seen = {clause for judgement in tour() for clause in judgement.exercised}
    single = {
        address
        for address, clause in platform().clauses.items()
        if not clause.relation and clause.reason_not_applicable(platform().taxonomy) is None
    }
    held = {clause for clause in single if clause.startswith("document/")}  # by another judge
    assert single - seen - held == {"stream/offset"}  # streams are exchanges of their own


@pytest.mark.parametrize(
    ("sin", "clauses"),
    {
        "correlation-echoed-in-header-only": {"correlation/header-equals-body"},
        "correlation-header-missing-on-405": {"headers/x-correlation-id"},
        # HEAD has no body to say it in; the outcomes of a batch keep theirs.
        "correlation-is-uuid4": {
            "ids/format",
            "headers/x-correlation-id",
            "correlation/header-equals-body",
        },
        "envelope-nested-on-5xx": {"envelope/shape"},
        "envelope-truncated": {"envelope/json"},
        "message-null": {"envelope/types"},
        "code-numeric": {"envelope/types"},
        "code-unknown-on-413": {"code/declared"},
        "html-404": {"envelope/json"},
        "empty-401": {"envelope/json"},
        "problem-media-type": {"envelope/media-type"},
        "silent-not-found": {"envelope/absent-on-success"},
        "success-looks-like-an-envelope": {"envelope/absent-on-success"},
        "redirect-with-envelope": {"envelope/absent-on-success"},
        "batch-mixed-200": {"envelope/absent-on-success"},
        "timeout-as-500": {"code/status"},
        "not-found-told-as-forbidden": {"code/status"},
        "no-store-misspelt": {"headers/cache-control"},
        "retry-after-missing": {"headers/retry-after"},
        "retry-after-epoch": {"headers/retry-after"},
        "challenge-missing": {"headers/www-authenticate"},
        "allow-lists-the-refused-method": {"headers/allow"},
        "etag-missing-on-412": {"headers/etag"},
        "expected-etag-missing": {"details/required"},
        "expected-etag-differs": {"details/validator"},
        "expected-etag-is-the-callers": {"details/validator"},
        "limit-as-text": {"details/schema"},
        "detail-key-invented": {"details/registered"},
        "retryable-always-true": {"retriable/agrees"},
        "batch-all-bad-207": {"batch/mixed-only"},
        "batch-item-status-lies": {"batch/items"},
        "batch-items-without-envelope": {"batch/items"},
        "tenant-id-in-message": {"leaks/echoed-tenant"},
        "input-in-message": {"leaks/canary"},
        "input-in-header": {"leaks/canary"},
        "stack-trace-python": {"leaks/stack-trace"},
        "stack-trace-in-header": {"leaks/stack-trace"},
        "debugger-page": {"leaks/stack-trace", "envelope/json"},
        "sql-error-in-message": {"leaks/sql"},
        "connection-string-in-message": {"leaks/connection-string"},
        "file-path-in-message": {"leaks/path"},
        "internal-host-in-message": {"leaks/private-address"},
        "access-key-in-message": {"leaks/secret"},
        "email-in-message": {"leaks/email"},
        "dependency-name-in-message": {"leaks/internal-name"},
    }.items(),
)
def test_a_sin_of_one_answer_is_caught_by_its_clause(sin: str, clauses: set[str]) -> None:
    """Each mistake in one answer breaks its own clause and no other."""
    assert {finding.clause for each in tour(sin) for finding in each.findings} == clauses
