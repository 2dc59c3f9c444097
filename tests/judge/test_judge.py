"""The judge, one clause at a time, on the Core Platform and on taxonomies of other shapes."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from textwrap import dedent

import pytest

from faultspec.contract.clauses import (
    CLAUSES,
    GROUPABLE,
    VALUES,
    client_clauses,
    service_clauses,
)
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Canary, Exchange, Headers, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.language.routes import compile_route
from paths import ROOT

ULID = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"
OTHER = "0190b2a4-7c1e-7d3a-9f00-3b5f3a8e6c11"


@cache
def platform() -> Contract:
    """The contract of the Core Platform."""
    loaded = load(str(ROOT / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


@cache
def of(text: str) -> Contract:
    """The contract of a taxonomy given as text, below a common head."""
    head = "faultspec: 1\ntaxonomy: {name: t, version: 1.0.0}\n"
    loaded = read(head + dedent(text), "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def exchange(
    status: int | None,
    body: object,
    *headers: tuple[str, str],
    request: str = "GET /orders/1",
    sent: Headers = (),
    drop: str = "",
    **known: object,
) -> Exchange:
    """An answer of the Core Platform with its usual headers, except the one to drop."""
    method, _, target = request.partition(" ")
    usual = (
        ("Content-Type", "application/json"),
        ("Cache-Control", "no-store"),
        ("X-Correlation-Id", ULID),
    )
    given = {name.lower() for name, _ in headers} | {drop.lower()}
    kept = tuple(each for each in usual if each[0].lower() not in given)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Exchange(
        Request(method, target, sent), Response(status, (*kept, *headers), raw), **known
    )  # type: ignore[arg-type]  # the tests' own keywords


def error(
    code: str = "not_found", details: Mapping[str, object] | None = None, **members: object
) -> dict[str, object]:
    """An envelope of the Core Platform."""
    body: dict[str, object] = {"code": code, "message": "It failed", "correlation_id": ULID}
    return body | ({"details": details} if details is not None else {}) | members


def broken(judgement: Judgement, *, warnings: bool = True) -> dict[str, str | None]:
    """The clauses broken, each with the pointer of its first finding."""
    found: dict[str, str | None] = {}
    for finding in judgement.findings:
        if warnings or finding.level == "error":
            found.setdefault(finding.clause, finding.pointer)
    return found


def on_platform(seen: Exchange) -> dict[str, str | None]:
    """The clauses of the Core Platform that an exchange breaks."""
    return broken(judge(platform(), seen))


def test_an_error_that_keeps_the_contract_has_no_finding() -> None:
    """A correct answer has no finding; its code, surface and kind are recognized."""
    found = judge(platform(), exchange(404, error(details={"retryable": False})))
    assert (found.findings, found.surface, found.code, found.is_error) == (
        (),
        "api",
        "not_found",
        True,
    )
    assert {
        "envelope/shape",
        "code/status",
        "retriable/agrees",
        "headers/cache-control",
    } <= found.exercised


@pytest.mark.parametrize(
    ("status", "body", "headers", "clauses"),
    [
        (
            404,
            b"<h1>Not Found</h1>",
            [("Content-Type", "text/html")],
            {"envelope/json"},
        ),
        (404, b"", [("Content-Type", "text/html")], {"envelope/json"}),
        (404, b'{"code":', [], {"envelope/json"}),
        (404, b'{"code": NaN}', [], {"envelope/json"}),
        (404, b"\xff\xfe{", [], {"envelope/json"}),
        (404, b"[" * 100_000, [], {"envelope/json"}),
        (404, b"9" * 5000, [], {"envelope/json"}),
        (404, error(), [("Content-Type", "text/plain")], {"envelope/media-type"}),
        (
            404,
            error(),
            [("Content-Type", "application/json; charset=latin-1")],
            {"envelope/media-type"},
        ),
        (404, error(), [("Content-Type", "Application/JSON;charset=UTF-8")], set()),
        (404, {"detail": "Not Found"}, [], {"envelope/shape"}),
        (404, [error()], [], {"envelope/shape"}),
        (404, {"error": error()}, [], {"envelope/shape"}),
        (404, {**error(), "timestamp": 4}, [], {"envelope/additional"}),
        (404, error(message=None), [], {"envelope/types"}),
        (404, error(message=""), [], {"envelope/types"}),
        (404, {**error(), "details": None}, [], {"envelope/types"}),
        (404, {**error(), "details": []}, [], {"envelope/types"}),
        (404, {**error(), "code": 404}, [], {"envelope/types"}),
        (404, {**error(), "code": {}}, [], {"envelope/types"}),
        (404, {**error(), "code": None}, [], {"envelope/types"}),
        (404, error("NOT_FOUND"), [], {"code/declared"}),
        (410, error(), [], {"code/status"}),
        (404, error("invalid_request"), [], {"code/status"}),
        (405, error("invalid_request"), [("Allow", "PUT")], set()),
        (418, error("invalid_request"), [], set()),
        (507, error("internal_error"), [], {"service/no-crash"}),
        (503, error("dependency_unavailable"), [("Retry-After", "1")], set()),
        (503, b"", [], {"envelope/json"}),
        (500, b"Internal Server Error", [], {"envelope/json", "service/no-crash"}),
        (404, error(correlation_id="12"), [], {"ids/format"}),
        (404, error(correlation_id=OTHER), [], {"correlation/header-equals-body"}),
        (404, error(details={"retryable": True}), [], {"retriable/agrees"}),
        (404, error(details={"retryable": "no"}), [], {"details/schema"}),
        (404, error(details={"colour": 1}), [], {"details/registered"}),
        (404, error(details={"limit": "x"}), [], {"details/registered"}),
        (409, error("conflict"), [], {"details/required"}),
        (409, error("conflict", {"existing_id": 4}), [], set()),
        (409, error("conflict", {"existing_id": {}}), [], {"details/schema"}),
        (412, error("stale_read", {"expected_etag": "a"}), [("ETag", 'W/"a"')], set()),
        (412, error("stale_read", {"expected_etag": '"a"'}), [("ETag", '"a"')], set()),
        (
            412,
            error("stale_read", {"expected_etag": "a"}),
            [("ETag", '"b"')],
            {"details/validator"},
        ),
        (412, error("stale_read", {"expected_etag": "a"}), [("ETag", "a")], {"headers/etag"}),
        (412, error("stale_read", {"expected_etag": "a"}), [], {"headers/etag"}),
        (200, error(), [], {"envelope/absent-on-success"}),
        (302, error(), [], {"envelope/absent-on-success"}),
        (200, error("fine"), [], {"envelope/absent-on-success"}),
        (200, {"code": "not_found"}, [], set()),
        (200, {"id": 4}, [], set()),
        (200, b"not json", [], {"success/content"}),
    ],
)
def test_each_clause_has_its_occasion(
    status: int, body: object, headers: list[tuple[str, str]], clauses: set[str]
) -> None:
    """One mistake is one finding: clauses that presuppose the broken one are not exercised."""
    assert on_platform(exchange(status, body, *headers)).keys() == clauses


@pytest.mark.parametrize(
    ("status", "code", "headers", "clauses"),
    [
        (404, "not_found", [("Cache-Control", "no-storefoo")], {"headers/cache-control"}),
        (404, "not_found", [("Cache-Control", "private, No-Store")], set()),
        (404, "not_found", [("Cache-Control", "private"), ("Cache-Control", "no-store")], set()),
        (404, "not_found", [("Cache-Control", 'private="no-store"')], {"headers/cache-control"}),
        (404, "not_found", [("Cache-Control", 'ext="a, no-store"')], {"headers/cache-control"}),
        (404, "not_found", [("Retry-After", "soon")], set()),
        (429, "rate_limited", [], {"headers/retry-after"}),
        (429, "rate_limited", [("Retry-After", "8")], set()),
        (429, "rate_limited", [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], set()),
        (
            429,
            "rate_limited",
            [("Retry-After", "8"), ("Retry-After", "8")],
            {"headers/retry-after"},
        ),
        (
            429,
            "rate_limited",
            [("Retry-After", "8"), ("Retry-After", "9")],
            {"headers/retry-after"},
        ),
        *(
            (429, "rate_limited", [("Retry-After", value)], {"headers/retry-after"})
            for value in ("", "-1", "1.5", "8s", "1732230000")
        ),
        (
            429,
            "rate_limited",
            [
                ("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("Date", "Sun, 06 Nov 1994 08:50:00 GMT"),
            ],
            {"headers/retry-after"},
        ),
        (503, "timeout", [], set()),
        (503, "timeout", [("Retry-After", "x")], {"headers/retry-after"}),
        (401, "unauthenticated", [], {"headers/www-authenticate"}),
        (401, "unauthenticated", [("WWW-Authenticate", "Bearer")], set()),
        (
            401,
            "unauthenticated",
            [("WWW-Authenticate", 'Basic realm="a, b", charset="UTF-8", Bearer')],
            set(),
        ),
        (
            401,
            "unauthenticated",
            [("WWW-Authenticate", "Bearer"), ("WWW-Authenticate", "Basic realm=x")],
            set(),
        ),
        (401, "unauthenticated", [("WWW-Authenticate", "")], {"headers/www-authenticate"}),
        (401, "unauthenticated", [("WWW-Authenticate", '"Bearer"')], {"headers/www-authenticate"}),
        (405, "invalid_request", [], {"headers/allow"}),
        (405, "invalid_request", [("Allow", "")], set()),
        (405, "invalid_request", [("Allow", "PUT, POST")], set()),
        (405, "invalid_request", [("Allow", "PUT POST")], {"headers/allow"}),
        (405, "invalid_request", [("Allow", "PUT, GET")], {"headers/allow"}),
        (
            404,
            "not_found",
            [("X-Correlation-Id", ULID), ("X-Correlation-Id", OTHER)],
            {"headers/x-correlation-id"},
        ),
    ],
)
def test_headers_are_parsed_not_searched(
    status: int, code: str, headers: list[tuple[str, str]], clauses: set[str]
) -> None:
    """Presence, form, directives and lists of headers are judged as RFC 9110 reads them."""
    assert on_platform(exchange(status, error(code), *headers)).keys() == clauses


def test_a_missing_header_is_its_own_clause() -> None:
    """An error without its correlation header breaks only the clause of that header."""
    assert on_platform(exchange(404, error(), drop="X-Correlation-Id")).keys() == {
        "headers/x-correlation-id"
    }


def test_head_has_headers_and_no_body() -> None:
    """HEAD is judged by its headers; a body is a finding."""
    good = judge(platform(), exchange(404, b"", request="HEAD /orders/1"))
    assert good.findings == ()
    assert "envelope/json" not in good.exercised
    assert "headers/cache-control" in good.exercised
    assert on_platform(exchange(404, error(), request="HEAD /orders/1")).keys() == {
        "http/head-body"
    }
    assert on_platform(exchange(204, b"x")).keys() == {"http/head-body"}
    assert on_platform(exchange(404, b"", request="HEAD /x", drop="Cache-Control")).keys() == {
        "headers/cache-control"
    }


def test_a_refused_validator_is_not_the_current_one() -> None:
    """A 412 must not repeat the validator that the caller sent in If-Match."""
    body, etag = error("stale_read", {"expected_etag": "a"}), ("ETag", '"a"')
    assert on_platform(exchange(412, body, etag, sent=(("If-Match", '"a"'),))).keys() == {
        "details/validator"
    }
    assert on_platform(exchange(412, body, etag, sent=(("If-Match", '"b"'),))) == {}
    assert on_platform(exchange(412, body, etag, sent=(("If-None-Match", '"a"'),))) == {}


def test_a_mixed_batch_is_judged_item_by_item() -> None:
    """Each failed item is judged as an error of its own, with its own pointer and status."""
    fine = {"status": 201, "body": {"id": 1}}
    good = {"responses": [fine, {"status": 404, "body": error()}]}
    assert on_platform(exchange(207, good, request="POST /batch")) == {}
    bad = {
        "responses": [
            fine,
            {"status": 409, "body": error()},
            {"status": 404, "error": error(message=4)},
        ]
    }
    judged = judge(platform(), exchange(207, bad, request="POST /batch"))
    assert broken(judged) == {"code/status": None, "envelope/types": "/responses/2/error/message"}
    assert [(each.clause, each.status) for each in judged.findings] == [
        ("code/status", 409),
        ("envelope/types", 404),
    ]
    assert judged.surface == "batch"


@pytest.mark.parametrize(
    ("body", "clauses"),
    [
        ({"responses": [{"status": 201}, {"status": 201}]}, {"batch/mixed-only"}),
        ({"items": [{"status": 404, "error": error()}]}, {"batch/mixed-only"}),
        ([{"status": 201}, {"status": 404, **error()}], set()),
        ({"responses": []}, {"batch/mixed-only"}),
        ({"responses": [{"status": 201}, {"status": 404, "body": "no"}]}, {"batch/items"}),
        ({"responses": [{"status": 201}, {"status": 404, "error": {"oops": 1}}]}, {"batch/items"}),
        ({"responses": [{"status": 201}, {"body": error()}]}, {"batch/items"}),
        ({"responses": [{"status": 201}, {"status": 200, "body": error()}]}, {"batch/items"}),
        ({"something": "else"}, set()),
    ],
)
def test_multi_status_is_for_outcomes_that_differ(body: object, clauses: set[str]) -> None:
    """A 207 needs different outcomes, statuses and envelopes; an unknown layout is not judged."""
    judged = judge(platform(), exchange(207, body, request="POST /batch"))
    assert broken(judged).keys() == clauses
    assert ("batch/items" in judged.exercised) == (
        not isinstance(body, dict) or "something" not in body
    )


@pytest.mark.parametrize(
    ("place", "outcomes", "clauses"),
    [
        ("status: /ok,", [{"ok": True}, {"ok": False, "error": {"code": "done"}}], set()),
        ("status: /ok,", [{"ok": True}, {"ok": False, "error": "done"}], {"batch/items"}),
        ("status: /ok,", [{"ok": True, "error": {"code": "done"}}], {"batch/items"}),
        ("status: /ok,", [{"ok": False, "error": {"code": "other"}}], {"code/declared"}),
        ("status: /ok,", [{"id": 1}], {"batch/items"}),
        ("", [{"id": 1}, {"error": {"code": "done"}}], set()),
        ("", [{"id": 1}, {"error": {"code": "other"}}], {"code/declared"}),
        ("", [{"status": 201}, {"error": {"code": "done"}}], {"batch/items"}),
    ],
)
def test_outcomes_have_a_flag_or_only_an_error(
    place: str, outcomes: list[object], clauses: set[str]
) -> None:
    """A batch under 200 may say of each outcome by a flag whether it succeeded, or only by its
    error, if no place of a status is declared and no outcome has one.
    """
    found = read(
        f"""
faultspec: 1
taxonomy: {{name: jobs, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code}}}}}}
surfaces:
  batch: {{transport: http, match: {{statuses: 200}}, error_when: {{equals: {{/failed: true}}}}, envelope: error, codes: closed, items: /items, {place} body: /error}}
codes: {{done: {{summary: Done., http: 200, retriable: false}}}}
""",
        "jobs.yaml",
    ).taxonomy
    assert found is not None
    judged = judge(build_contract(found), exchange(200, {"items": outcomes}, request="POST /jobs"))
    assert broken(judged).keys() - {"envelope/media-type"} == clauses


def test_an_error_beside_a_flag_of_success_is_found() -> None:
    """Where every error has `ok: false`, an error with a declared code beside `ok: true` breaks a
    clause; data, and codes of others, do not.
    """
    found = read(
        """
faultspec: 1
taxonomy: {name: jobs, version: 1.0.0}
envelopes: {error: {shape: {ok: false, error: {code: $code, message: $message}}}}
surfaces: {api: {transport: http, error_when: {equals: {/ok: false}}, envelope: error}}
codes: {done: {summary: Done., http: 200, retriable: false}}
""",
        "jobs.yaml",
    ).taxonomy
    assert found is not None
    contract = build_contract(found)

    def clauses_of(body: object) -> set[str]:
        return broken(judge(contract, exchange(200, body, request="POST /cancel"))).keys() - {
            "envelope/media-type"
        }

    wrong = {"ok": True, "error": {"code": "done", "message": "x"}}
    assert clauses_of(wrong) == {"envelope/absent-on-success"}
    assert clauses_of({**wrong, "ok": False}) == set()
    assert clauses_of({"ok": True, "result": {"code": "done"}}) == set()
    assert clauses_of({"ok": True, "error": {"code": "elsewhere", "message": "x"}}) == set()
    assert clauses_of({"error": {"code": "done", "message": "x"}}) == set()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_flag_marks_an_error_with_an_undeclared_code(method: str) -> None:
    """A body with all of an envelope and its constant `ok: false` is an error, whatever its code
    is; without the flag it may be data.
    """
    found = read(
        """
faultspec: 1
taxonomy: {name: jobs, version: 1.0.0}
envelopes: {error: {shape: {ok: false, error: {code: $code, message: $message}}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {late: {summary: Too late., http: 409, retriable: false}}
""",
        "jobs.yaml",
    ).taxonomy
    assert found is not None
    contract = build_contract(found)

    def clauses_of(body: object) -> set[str]:
        return {*broken(judge(contract, exchange(200, body, request=f"{method} /cancel")))}

    failure = {"ok": False, "error": {"code": "mystery", "message": "x"}}
    assert clauses_of(failure) == {"envelope/absent-on-success"}
    assert clauses_of({**failure, "ok": True}) == set()
    assert clauses_of({"ok": False, "error": {"message": "x"}}) == set()


def test_failures_hidden_in_a_plain_success_are_found_in_writes() -> None:
    """A 200 with failed outcomes breaks a clause; a list of past errors is data."""
    body = {"responses": [{"status": 201}, {"status": 404, "body": error()}]}
    assert on_platform(exchange(200, body, request="POST /batch")).keys() == {
        "envelope/absent-on-success"
    }
    assert on_platform(exchange(200, body, request="GET /failures")) == {}


def test_a_stream_says_how_far_it_had_come() -> None:
    """An error on a stream has its offset; its status and headers are not judged."""
    good = judge(
        platform(),
        exchange(None, error("timeout", {"offset": 4}), transport="stream", drop="Cache-Control"),
    )
    assert good.findings == ()
    assert {"code/status", "envelope/media-type", "headers/cache-control"}.isdisjoint(
        good.exercised
    )
    missing = judge(platform(), exchange(None, error("timeout"), transport="stream"))
    assert broken(missing) == {"stream/offset": "/details/offset"}


def test_leaks_are_found_wherever_an_error_can_hold_them() -> None:
    """Body, headers and pages are searched; the message names the place, not the secret."""
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    for seen in (
        exchange(500, error("internal_error", message=f"refused {token}")),
        exchange(500, error("internal_error", {"hint": token})),
        exchange(500, error("internal_error"), ("X-Debug", token)),
        exchange(500, f"<pre>{token}</pre>".encode(), ("Content-Type", "text/html")),
        exchange(207, {"items": [{"status": 201}, {"status": 404, **error(message=token)}]}),
    ):
        judged = judge(platform(), seen)
        assert "leaks/secret" in broken(judged)
        assert not any(token[4:12] in finding.message for finding in judged.findings)
    assert on_platform(exchange(200, {"token": token})) == {}


def test_planted_values_and_tenants_are_distinguished() -> None:
    """A canary or a tenant's value is a leak, a key is not; a success may repeat its input."""
    known = (Canary("tenant", "tnt-7f3"), Canary("canary", "cnry-91ab"))
    assert on_platform(exchange(404, error(message="cnry-91ab?"), forbidden=known)).keys() == {
        "leaks/canary"
    }
    assert on_platform(exchange(404, error(message="tnt-7f3"), forbidden=known)).keys() == {
        "leaks/echoed-tenant"
    }
    assert (
        on_platform(exchange(404, error(message="`tenant_id` is required"), forbidden=known)) == {}
    )
    assert on_platform(exchange(200, {"title": "cnry-91ab"}, forbidden=known)) == {}
    in_header = judge(platform(), exchange(404, error(), ("X-Tenant", "tnt-7f3"), forbidden=known))
    assert [(each.clause, each.level) for each in in_header.findings] == [
        ("leaks/echoed-tenant", "warning")
    ]


def test_the_tenant_in_a_longer_text_of_the_caller_may_come_back() -> None:
    """A longer text that the caller sent may come back; the tenant outside it, or alone, may
    not.
    """
    known = (Canary("tenant", "acme"),)
    sent = {"name": "acme/kettle-7", "tenant": "acme", "tags": ["acme east", "west"]}
    request = Request("POST", "/tenants/acme/tools?q=acme+tools", body=json.dumps(sent).encode())
    for message, leaks in (
        ("`acme/kettle-7` exists", False),
        ("no tool at /tenants/acme/tools", False),
        ("nothing is called acme tools", False),
        ("no such tag: acme east", False),
        ("`acme/kettle-7` exists in acme", True),
        ("`acme` has no such tool", True),
        ("acme/kettle-8 exists", True),
    ):
        seen = exchange(409, error(message=message), forbidden=known)
        judged = judge(platform(), replace(seen, request=request))
        assert ("leaks/echoed-tenant" in broken(judged)) is leaks, message


AILERON = """
boundaries: {sandbox: In the sandbox, external: Behind us, user: {summary: A person, lifecycle: reserved}}
vocabularies: {phase: {plan: Planning, apply: Applying}}
envelopes:
  failure:
    shape: {error: {class: $code, message: $message, retriable: $retriable, boundary: $boundary, audit_id?: $audit_id, phase?: $phase, details?: $details}}
    fields: {audit_id: {type: string, pattern: "^audit-[0-9]+$"}, phase: {type: string, vocabulary: phase}}
    additional: forbid
  bare: {shape: {fault: $code}}
surfaces:
  proxy: {transport: http, match: {routes: ["POST /v1/proxy/**"]}, envelope: [failure], codes: open, reason: upstream bodies pass through}
  bare: {transport: http, match: {routes: [/v1/bare]}, envelope: bare, codes: [denied]}
  text: {transport: http, match: {routes: ["/static/*"]}, envelope: none, reason: a file server in front}
  api: {transport: http, match: {routes: ["/v1/**"]}, envelope: failure}
headers: {X-Old: {presence: forbidden}, X-Hint: {presence: expected, on: 403}}
codes:
  denied:
    {summary: No, http: 403, boundary: [sandbox, external], retriable: false, details: {}}
  external:
    summary: Upstream
    http: 502
    boundary: external
    retriable: {when: [{if: {details.status: [429, 5xx]}, then: true}], else: false}
    details: {status: {type: integer}, trace?: {type: string}}
    passthrough: [trace]
  network: {summary: Net, http: 502, boundary: external, retriable: {when: [{if: {operation.idempotent: false}, then: false}], else: true}, facts: {phase: apply}}
  login: {summary: Who, http: [{if: {caller.authenticated: false}, status: 401}, {else: 403}], retriable: none}
  never: {summary: Not on the web, http: null, http_reason: jobs only}
  later: {summary: Reserved, http: 403, lifecycle: reserved}
operations:
  readFile: {match: {routes: ["GET /v1/files/{path}"]}, idempotent: true, errors: {FILE_GONE: {summary: Gone, http: 404, retriable: false, schema: {type: object, required: [path], properties: {path: {type: string}}}}}}
  write: {match: {routes: ["PUT /v1/files/{path}"]}, idempotent: false, codes: [network]}
privacy: {detectors: [stack-trace, sql, path, secret], internal_names: []}
"""


def failure(
    code: str, retriable: bool = False, boundary: str = "external", **members: object
) -> dict[str, object]:
    """An error in Aileron's shape."""
    return {
        "error": {
            "class": code,
            "message": "It failed",
            "retriable": retriable,
            "boundary": boundary,
            **members,
        }
    }


@pytest.mark.parametrize(
    ("status", "request_line", "body", "clauses"),
    [
        (403, "GET /v1/x", failure("denied"), set()),
        (403, "GET /v1/x", failure("denied", boundary="user"), {"boundary/allowed"}),
        (
            502,
            "GET /v1/x",
            failure("external", boundary="sandbox", details={"status": 404}),
            {"boundary/allowed"},
        ),
        (403, "GET /v1/x", failure("denied", retriable=True), {"retriable/agrees"}),
        (403, "GET /v1/x", {**failure("denied"), "more": 1}, {"envelope/additional"}),
        (403, "GET /v1/x", failure("denied", audit_id="audit-4"), set()),
        (403, "GET /v1/x", failure("denied", audit_id="4"), {"ids/format"}),
        (403, "GET /v1/x", failure("denied", audit_id="audit-4\n"), {"ids/format"}),
        (403, "GET /v1/x", failure("denied", phase="publish"), {"envelope/types"}),
        (502, "GET /v1/x", failure("external", True, details={"status": 429}), set()),
        (502, "GET /v1/x", failure("external", True, details={"status": 503}), set()),
        (
            502,
            "GET /v1/x",
            failure("external", True, details={"status": 404}),
            {"retriable/agrees"},
        ),
        (
            502,
            "GET /v1/x",
            failure("external", False, details={"status": 429}),
            {"retriable/agrees"},
        ),
        (502, "GET /v1/x", failure("external", True), {"details/required"}),
        (502, "GET /v1/files/a", failure("network", True, phase="apply"), set()),
        (502, "GET /v1/files/a", failure("network", False), {"retriable/agrees"}),
        (502, "PUT /v1/files/a", failure("network", True), {"retriable/agrees"}),
        (502, "POST /v1/unknown", failure("network", False), set()),
        (502, "POST /v1/unknown", failure("network", True), set()),
        (502, "GET /v1/x", failure("network", True, phase="plan"), {"boundary/allowed"}),
        (403, "PUT /v1/files/a", failure("denied"), {"code/operation"}),
        (404, "GET /v1/files/a", failure("FILE_GONE", details={"path": "a"}), set()),
        (404, "GET /v1/files/a", failure("FILE_GONE", details={"path": 4}), {"details/schema"}),
        (404, "GET /v1/files/a", failure("FILE_GONE", details={}), {"details/schema"}),
        (404, "PUT /v1/files/a", failure("FILE_GONE", details={"path": "a"}), {"code/operation"}),
        (403, "GET /v1/x", failure("later"), {"code/reserved"}),
        (500, "GET /v1/x", failure("never"), {"code/status"}),
        (401, "GET /v1/x", failure("login"), set()),
        (403, "GET /v1/x", failure("login"), {"code/status"}),
        (502, "POST /v1/proxy/a", failure("whatever"), set()),
        (502, "POST /v1/proxy/a", {"upstream": "shape"}, set()),
        (502, "GET /v1/proxy/a", {"upstream": "shape"}, {"envelope/shape"}),
        (403, "GET /v1/bare", {"fault": "denied"}, set()),
        (502, "GET /v1/bare", {"fault": "network"}, {"code/operation"}),
        (404, "GET /static/x.css", b"no such file", set()),
        (404, "GET /static/deep/x.css", b"no such file", {"surface/known"}),
        (404, "GET /elsewhere", failure("denied"), {"surface/known"}),
    ],
)
def test_other_shapes_are_judged_alike(
    status: int, request_line: str, body: object, clauses: set[str]
) -> None:
    """Layers, conditional flags, operations' codes, imported schemas, open and foreign surfaces."""
    seen = exchange(status, body, request=request_line)
    assert broken(judge(of(AILERON), seen), warnings=False).keys() == clauses


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"class": "never", "class": "denied", "message": "m", "retriable": false, "boundary": "external"}}',
        b'{"error": {"class": "denied", "message": "m", "retriable": true, "retriable": false, "boundary": "external"}}',
        b'{"error": {"class": "denied", "message": "m", "retriable": false, "boundary": "external"}, "error": {}}',
    ],
)
def test_a_repeated_member_is_not_valid_json(body: bytes) -> None:
    """A name that occurs twice in an object is not valid JSON here (RFC 8259 section 4)."""
    judged = judge(of(AILERON), exchange(403, body, request="GET /v1/x"))
    found = [each for each in judged.findings if each.level == "error"]
    assert [each.clause for each in found] == ["envelope/json"]
    assert "repeats the member" in found[0].message


def test_a_version_in_a_header_for_software_is_a_warning() -> None:
    """`Server` and `Via` name software by default; in a body the same text is an error."""
    contract = of(AILERON.replace("path, secret]", "path, secret, internal-name]"))
    plain = exchange(403, failure("denied"), request="GET /v1/x")
    for header in ("Server", "Via", "X-Powered-By"):
        banner = exchange(403, failure("denied"), (header, "aiohttp/3.9.1"), request="GET /v1/x")
        levels = {each.level for each in judge(contract, banner).findings}
        assert levels == {"warning"} | {each.level for each in judge(contract, plain).findings}
    worded = exchange(403, failure("denied", message="aiohttp/3.9.1 failed"), request="GET /v1/x")
    assert "leaks/internal-name" in broken(judge(contract, worded), warnings=False)


def test_a_declared_code_is_not_a_leak() -> None:
    """A service shows its codes on purpose, whatever software has a name alike; within a longer
    text the same word is a leak.
    """
    contract = of(AILERON.replace("denied", "WriteConflict"))
    code = exchange(403, failure("WriteConflict"), request="GET /v1/x")
    assert "leaks/sql" not in broken(judge(contract, code), warnings=False)
    worded = failure("WriteConflict", message="WriteConflict in op")
    assert "leaks/sql" in broken(judge(contract, exchange(403, worded, request="GET /v1/x")))


def test_a_secret_of_the_caller_is_a_secret_beside_planted_values() -> None:
    """With the detector `secret` but not `canary`, the caller's credential is still reported."""
    body = failure("denied", details={"field": "no such key: k-17"})
    seen = replace(exchange(403, body, request="GET /v1/x"), forbidden=(Canary("secret", "k-17"),))
    assert broken(judge(of(AILERON), seen), warnings=False).keys() == {"leaks/secret"}
    both = AILERON.replace("path, secret]", "path, secret, canary]")
    assert broken(judge(of(both), seen), warnings=False).keys() == {"leaks/canary"}
    neither = AILERON.replace("path, secret]", "path]")
    assert broken(judge(of(neither), seen), warnings=False).keys() == set()


def test_a_path_that_was_sent_encoded_may_be_named() -> None:
    """An answer may repeat a path of the caller's query, decoded or as it was encoded."""
    body = failure("denied", details={"field": "/data/in/x.csv: No such file or directory"})
    assert "leaks/path" in broken(judge(of(AILERON), exchange(403, body, request="GET /v1/x")))
    sent = exchange(403, body, request="GET /v1/x?file=%2Fdata%2Fin%2Fx.csv")
    assert "leaks/path" not in broken(judge(of(AILERON), sent))


@pytest.mark.parametrize(
    ("details", "request_body", "is_leak"),
    [
        ({"pointer": "/var/items/price"}, None, False),
        ({"instance": "/home/orders/7"}, None, False),
        ({"at": "/tmp/order/total"}, {"tmp": {"order": {"total": 1}}}, False),
        ({"at": "/tmp/order/total"}, {"tmp": {"order": {}}}, True),
        ({"at": "/tmp/order/total"}, None, True),
        ({"pointer": "see /var/items/price"}, None, True),
    ],
)
def test_a_json_pointer_is_not_a_path(
    details: dict[str, str], request_body: object, is_leak: bool
) -> None:
    """A pointer into the body of the request, or a member for pointers, names no file; the same
    text elsewhere does.
    """
    answer = exchange(403, failure("denied", details=details), request="GET /v1/x")
    sent = json.dumps(request_body).encode() if request_body is not None else b""
    asked = replace(answer, request=replace(answer.request, body=sent))
    assert ("leaks/path" in broken(judge(of(AILERON), asked))) == is_leak


@pytest.mark.parametrize(
    ("text", "is_leak"),
    [
        ("card 4242 4242 4242 4242 was declined", True),
        ("IBAN DE89 3704 0044 0532 0130 00 is closed", True),
        ("order 4242424242424242 is unknown", False),
        ("card 4242 4242 4242 4241 was declined", False),
    ],
)
def test_personal_data_is_a_leak_if_the_number_is_valid(text: str, is_leak: bool) -> None:
    """The number of a card or an account breaks the clause; numbers of the same form do not."""
    contract = of(AILERON.replace("path, secret]", "path, secret, personal-data]"))
    answer = exchange(403, failure("denied", details={"field": text}), request="GET /v1/x")
    assert ("leaks/personal-data" in broken(judge(contract, answer))) == is_leak


def test_what_is_not_known_is_not_guessed() -> None:
    """A flag or a status that depends on an unknown fact is undecided, for a reason."""
    unknown = exchange(502, failure("network", True), request="POST /v1/unknown")
    idempotence = judge(of(AILERON), unknown)
    assert "retriable/agrees" not in idempotence.exercised
    assert "`operation.idempotent` is unknown" in idempotence.undecided["retriable/agrees"]
    for fact, broken_clauses in ((True, set()), (False, {"retriable/agrees"})):
        judged = judge(of(AILERON), replace(unknown, idempotent=fact))
        assert "retriable/agrees" in judged.exercised
        assert set(broken(judged)) & {"retriable/agrees"} == broken_clauses
        assert judged.undecided == {}
    repeatable = judge(of(AILERON), exchange(502, failure("network"), request="GET /v1/unknown"))
    assert "retriable/agrees" in repeatable.exercised  # RFC 9110 section 9.2.2
    sent = (("Authorization", "Bearer who-knows"),)
    for status in (401, 403):
        unknown = exchange(status, failure("login"), request="GET /v1/x", sent=sent)
        assert "code/status" not in broken(judge(of(AILERON), unknown))
        assert "caller.authenticated" in judge(of(AILERON), unknown).undecided["code/status"]
        refused = judge(of(AILERON), replace(unknown, authenticated=False))
        assert ("code/status" in broken(refused)) == (status == 403)
        known = exchange(status, failure("login"), request="GET /v1/x", sent=sent, identity="alice")
        assert ("code/status" in broken(judge(of(AILERON), known))) == (status == 401)


def test_presence_has_four_degrees() -> None:
    """A forbidden header is an error if present, an expected one a warning if missing."""
    body = failure("denied")
    judged = judge(of(AILERON), exchange(403, body, ("X-Old", "1"), request="GET /v1/x"))
    assert [(each.clause, each.level) for each in judged.findings] == [
        ("headers/x-hint", "warning"),
        ("headers/x-old", "error"),
    ]
    assert (
        judge(of(AILERON), exchange(403, body, ("X-Hint", "1"), request="GET /v1/x")).findings == ()
    )


def test_foreign_text_is_exempt_from_its_shape_never_from_secrets() -> None:
    """A member in `passthrough` may contain a trace or an address, but not a secret."""
    trace = 'Traceback (most recent call last):\n  File "/srv/x.py", line 3, in y'
    rules = of(AILERON.replace("path, secret]", "path, secret, email]"))

    def judged_as(**details: object) -> dict[str, str | None]:
        body = failure("external", details={"status": 404, **details})
        return broken(judge(rules, exchange(502, body, request="GET /v1/x")))

    assert judged_as(trace=trace) == {}
    assert judged_as(trace="ann.lee@firm-mail.com") == {}
    assert "leaks/email" in judged_as(other="ann.lee@firm-mail.com")
    assert judged_as(trace="password=hunter2") == {"leaks/secret": "/error/details/trace"}
    assert "leaks/stack-trace" in judged_as(other=trace)


RPC = """
envelopes:
  info: {shape: {jsonrpc: "2.0", id: $request_id, error: {code: -32000, message: $message, data: {error_code: $code, retryable: $retriable, actions: $actions}}}}
actions: {retry: Again, edit: Change it}
surfaces:
  rpc: {transport: jsonrpc, error_when: {present: /error}, envelope: info}
  step: {transport: mcp, match: {tools: [step]}, error_when: {present: /error}, envelope: refusal, codes: [denied]}
codes: {denied: {summary: No, http: null, http_reason: no HTTP here, retriable: true}}
"""


def test_other_transports_know_errors_by_presence() -> None:
    """Without a status the presence of a member makes an error; literals in shapes are checked."""
    rules = of(
        RPC.replace(
            "actions: {retry",
            '  refusal: {shape: {error: $code, "...": $details}, additional: allow}\nactions: {retry',
        )
    )

    def judged_as(body: object, transport: str = "jsonrpc", target: str = "step") -> Judgement:
        return judge(rules, exchange(None, body, request=f"CALL {target}", transport=transport))

    data = {"error_code": "denied", "retryable": True, "actions": ["edit"]}
    whole = {"jsonrpc": "2.0", "id": 4, "error": {"code": -32000, "message": "No", "data": data}}
    assert (judged_as(whole).findings, judged_as(whole).code) == ((), "denied")
    assert not judged_as({"jsonrpc": "2.0", "id": 4, "result": {}}).is_error
    wrong = {
        **whole,
        "error": {"code": -32001, "message": "No", "data": {**data, "actions": ["dance"]}},
    }
    assert broken(judged_as(wrong)) == {
        "envelope/shape": "/error/code",
        "envelope/types": "/error/data/actions/0",
    }
    assert judged_as({"error": "denied", "requested": "pay"}, "mcp").findings == ()
    assert judged_as({"error": "denied"}, "mcp", "other").surface is None
    assert broken(judged_as({"error": "denied"}, "mcp", "other")).keys() == {"surface/known"}


@pytest.mark.parametrize(
    ("body", "is_error"),
    [
        ({"isError": True, "content": []}, True),
        ({"isError": False, "content": []}, False),
        ({"isError": "true"}, False),
        ({"content": []}, False),
        ({"jsonrpc": "2.0", "error": {"code": 1}}, True),
        ([{"isError": True}], False),
        ("isError", False),
    ],
)
def test_without_a_surface_and_a_status_the_body_decides(body: object, is_error: bool) -> None:
    """An answer that no surface claims is an error if `isError` is true or `error` exists."""
    judged = judge(of(BARE), exchange(None, body, request="POST notes", transport="mcp"))
    assert judged.is_error is is_error
    assert set(broken(judged)) == ({"surface/known"} if is_error else set())


BARE = """
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {gone: {summary: Gone., http: 410, retriable: false, effect: none}}
"""


REPEATING = """
envelopes: {error: {shape: {code: $code, cause: $cause, meta: {cause: $cause}}, fields: {cause: {type: object}}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {gone: {summary: Gone., http: 410}}
"""


@pytest.mark.parametrize(
    ("cause", "again", "differs"),
    [
        ({"a": 1}, {"a": 1}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": 1}, {"a": True}, True),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, True),
        ({}, {"a": None}, True),
    ],
)
def test_two_places_of_one_slot_hold_the_same_object(
    cause: object, again: object, differs: bool
) -> None:
    """Objects in two places of a slot have equal keys and values, or the shape is broken."""
    body = {"code": "gone", "cause": cause, "meta": {"cause": again}}
    found = broken(judge(of(REPEATING), exchange(410, body)))
    assert found == ({"envelope/shape": "/meta/cause"} if differs else {})


KINTO = """
envelopes:
  error: {shape: {code: $status, errno: $code, error: $summary, message?: $message, details?: $details}, additional: allow, fields: {details: {additional: allow}}}
  many: {shape: {errors: [{code: $code, message: $message}]}}
surfaces:
  list: {transport: http, match: {routes: [/list]}, envelope: many}
  api: {transport: http, envelope: error}
codes:
  missing: {wire: 110, summary: Missing, http: 404, retriable: none}
  invalid: {wire: 107, summary: Invalid, http: 400, retriable: none}
"""


@pytest.mark.parametrize(
    ("status", "body", "clauses"),
    [
        (404, {"code": 404, "errno": 110, "error": "Missing"}, {}),
        (404, {"code": 404, "errno": 110.0, "error": "Missing"}, {}),
        (404, {"code": 400, "errno": 110, "error": "Missing"}, {"envelope/status": "/code"}),
        (404, {"code": 404, "errno": "110", "error": "Missing"}, {"envelope/types": "/errno"}),
        (404, {"code": 404, "errno": True, "error": "Missing"}, {"envelope/types": "/errno"}),
        (404, {"code": 404, "errno": 111, "error": "Missing"}, {"code/declared": "/errno"}),
        (404, {"code": 404, "errno": 107, "error": "Invalid"}, {"code/status": None}),
    ],
)
def test_codes_may_be_numbers(status: int, body: object, clauses: dict[str, str | None]) -> None:
    """1 and 1.0 are the same numeric code; a status in the body is that of the response."""
    assert broken(judge(of(KINTO), exchange(status, body))) == clauses


def test_every_error_of_a_list_is_judged() -> None:
    """A body with several errors is judged error by error, each at its own place."""
    body = {
        "errors": [
            {"code": 107, "message": "a"},
            {"code": 999, "message": "b"},
            {"code": 107, "message": 4},
        ]
    }
    judged = judge(of(KINTO), exchange(400, body, request="GET /list"))
    assert broken(judged) == {
        "code/declared": "/errors/1/code",
        "envelope/types": "/errors/2/message",
    }


@pytest.mark.parametrize(
    ("pattern", "method", "path", "claimed"),
    [
        ("/**", "GET", "/", True),
        ("/orders/**", "GET", "/orders", True),
        ("/orders/**", "GET", "/orders/1/lines", True),
        ("/orders/**", "GET", "/ordersheet", False),
        ("/orders/{id}", "GET", "/orders/1", True),
        ("/orders/{id}", "GET", "/orders/1/lines", False),
        ("/orders/{id}", "GET", "/orders/", False),
        ("/orders/*", "GET", "/orders/", True),
        ("GET /orders", "POST", "/orders", False),
        ("GET /orders", "GET", "/orders", True),
        ("/a.b", "GET", "/aXb", False),
        ("/v1/**/lines", "GET", "/v1/orders/1/lines", True),
    ],
)
def test_routes_are_matched_by_segment(pattern: str, method: str, path: str, claimed: bool) -> None:
    """A parameter is one segment, a star part of one, two stars any number; dots are dots."""
    assert compile_route(pattern).claims(method, (path,)) is claimed


def test_findings_name_their_statements() -> None:
    """A finding has the statements of the construct that it breaks, else those of its clause."""
    (etag,) = judge(platform(), exchange(412, error("stale_read", {"expected_etag": "a"}))).findings
    assert etag.statements == ("C14",)
    (canary,) = judge(
        platform(),
        exchange(404, error(message="c-123456"), forbidden=(Canary("canary", "c-123456"),)),
    ).findings
    assert canary.statements == ("C24", "C25")


def test_a_clause_without_its_construct_says_which_key_is_missing() -> None:
    """A bare taxonomy keeps every clause; each reason quotes the keys that would make it apply."""
    bare = of(BARE).taxonomy
    clauses = {**service_clauses(bare), **client_clauses(bare)}
    assert set(clauses) == set(CLAUSES)
    reasons = {name: clause.reason_not_applicable(bare) for name, clause in clauses.items()}
    families = {name.partition("/")[0] for name, reason in reasons.items() if reason is None}
    assert families == {
        *("surface", "service", "provoke", "envelope", "code", "http", "framework", "auth"),
        *("client", "document", "fault", "details", "leaks", "writes", "batch"),
        *("audit", "ids", "lists", "success", "rpc", "mcp"),
    }
    assert all("`" in reason for reason in reasons.values() if reason is not None)


@pytest.mark.parametrize(
    ("address", "transports"),
    [
        ("headers/retry-after", {"http"}),
        ("rpc/id", {"jsonrpc", "stdio"}),
        ("mcp/unknown-tool", {"mcp"}),
        ("leaks/sql", {"http", "jsonrpc", "stdio", "mcp"}),
    ],
)
def test_a_clause_applies_to_its_transports(address: str, transports: set[str]) -> None:
    """Over any other transport the reason names the clause's own transport and the service's."""
    clause = replace(platform().clauses[address], requires=())
    taxonomy = platform().taxonomy
    for transport in ("http", "jsonrpc", "stdio", "mcp"):
        reason = clause.reason_not_applicable(taxonomy, transport)
        assert (reason is None) is (transport in transports)
        assert reason is None or "only; this service speaks" in reason


def test_the_table_of_clauses_is_closed() -> None:
    """Keys are addresses, presupposed clauses exist, and every fact is a known one."""
    for address, clause in platform().clauses.items():
        assert address == clause.address
        assert clause.title
        assert clause.why
        assert clause.occasion
        assert set(clause.reads) <= GROUPABLE | VALUES | {"sequence"}
        for each in clause.presupposes:
            assert each != address
            assert each in platform().clauses
    assert {address.partition("/")[0] for address in set(CLAUSES) - set(platform().clauses)} == {
        "client"
    }
    taxonomy = platform().taxonomy
    inapplicable = {
        address
        for address, clause in platform().clauses.items()
        if clause.reason_not_applicable(taxonomy) is not None
    }
    assert inapplicable == {
        *("success/requires", "surface/repeated", "mcp/is-error", "mcp/text", "deadline/kept"),
        *("actions/agree", "envelope/status", "boundary/allowed", "code/reserved"),
        *("code/original", "code/sunset", "code/language", "retriable/until"),
        *(
            "code/operation",
            "idempotency/mismatch",
            "idempotency/required",
            "http/head",
            "http/not-modified",
            "http/authenticate",
            "http/allow",
        ),
        *("http/accept", "http/partial-content", "http/upgrade", "http/no-content"),
        *("http/retry-after", "http/fields"),
        *("mcp/unknown-tool", "mcp/invalid-arguments", "audit/recorded", "discovery/agrees"),
        *("rendering/form", "mcp/error-text"),
        "leaks/personal-data",
        *(
            name
            for name in CLAUSES
            if name.partition("/")[0] in ("rpc", "navigation", "upstream") and name != "rpc/output"
        ),
    }
    assert {each for each in platform().clauses if each.startswith("headers/")} == {
        "headers/x-correlation-id",
        "headers/retry-after",
        "headers/cache-control",
        "headers/www-authenticate",
        "headers/allow",
        "headers/etag",
    }


GATEWAY = """
detail_keys: {wait: {type: number, equals_header: Retry-After}}
envelopes: {error: {shape: {code: $code, details?: $details}}}
surfaces: {api: {transport: http, envelope: error, default_status: 500}}
headers: {Retry-After: {on: 429, presence: optional, format: retry-after}}
codes:
  limited: {summary: Too many., http: 429, retriable: true, effect: none, details: {wait?: {}}}
  local: {summary: A failure of what is called., http: null, http_reason: It travels over a queue.}
"""


@pytest.mark.parametrize(
    ("status", "clauses"), [(500, set()), (503, {"code/status"}), (429, {"code/status"})]
)
def test_a_code_without_a_status_has_the_one_of_the_surface(status: int, clauses: set[str]) -> None:
    """A code without a status may come under the `default_status` of its surface, and no other."""
    found = judge(of(GATEWAY), exchange(status, {"code": "local"}))
    assert set(broken(found)) == clauses
    without = judge(
        of(GATEWAY.replace(", default_status: 500", "")), exchange(500, {"code": "local"})
    )
    assert "code/status" in broken(without)


@pytest.mark.parametrize(
    ("wait", "header", "agrees"),
    [
        (2, "2", True),
        (1.5, "2", True),
        (2.0, "2", True),
        (2, "3", False),
        (1.2, "1", False),
        (0, "0", True),
    ],
)
def test_a_wait_among_the_details_is_the_one_of_the_header(
    wait: float, header: str, agrees: bool
) -> None:
    """A detail that repeats Retry-After has its seconds, rounded up; a date is not compared."""
    body = {"code": "limited", "details": {"wait": wait}}
    found = judge(of(GATEWAY), exchange(429, body, ("Retry-After", header)))
    assert broken(found) == ({} if agrees else {"details/validator": "/details/wait"})
    assert "details/validator" in found.exercised
    for others in ((), (("Retry-After", "Sun, 22 Nov 2026 06:07:17 GMT"),)):
        assert "details/validator" not in judge(of(GATEWAY), exchange(429, body, *others)).exercised


IMPORTING = """
faultspec: 1
taxonomy: {name: importing, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
codes: {gone: {summary: Gone., http: 410}}
fallback: {4xx: {code: gone, reason: Whatever else.}}
operations:
  pay: {match: {routes: [/pay]}, errors: {HTTP_404: {summary: No such account., http: 404}}}
  look: {match: {routes: [/look]}}
imported: {pattern: "HTTP_${status}"}
"""


@pytest.mark.parametrize(
    ("path", "code", "clause", "hinted"),
    [
        ("/pay", "HTTP_404", None, False),
        ("/look", "HTTP_404", "code/operation", False),
        ("/pay", "HTTP_409", "code/declared", True),
        ("/else", "HTTP_409", "code/declared", True),
        ("/pay", "HTTP_4040", "code/declared", False),
        ("/pay", "nothing", "code/declared", False),
    ],
)
def test_an_imported_code_is_declared_by_its_operation(
    path: str, code: str, clause: str | None, hinted: bool
) -> None:
    """The form of imported codes declares no code; the operation's own are declared (K5, K17).

    A finding about another code of the form names the place to declare it.
    """
    loaded = read(IMPORTING, "importing.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    answer = Response(
        404, (("Content-Type", "application/json"),), json.dumps({"code": code}).encode()
    )
    found = judge(build_contract(loaded.taxonomy), Exchange(Request("GET", path), answer)).findings
    codes = [
        each for each in found if each.clause.startswith("code/") and each.clause != "code/status"
    ]
    assert [each.clause for each in codes] == ([clause] if clause else [])
    assert any("`HTTP_${status}` under `errors`" in each.message for each in codes) is hinted
