"""The notebooks keep the Core Platform contract as its document has it, and every sin is one that
someone can see.
"""

import asyncio
import json
import re
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import httpx
import pytest
import yaml
from starlette.types import ASGIApp

from miniatures.core_platform import CODES, ENVIRONMENT, SWITCHES, make_app
from miniatures.serve import serving
from miniatures.sins import SINS, Sin, asking, envelope_of, head_body, sinning
from miniatures.wire import Answer, exchange, rewriting
from paths import TESTS

HERE = TESTS
UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
INBOUND = "0190b5a2-6f3c-7a41-8b2e-5c9d7e1f0a34"
ULID = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"
DETAIL_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "field": str,
    "retryable": bool,
    "hint": str,
    "limit": (int, float),
    "window_sec": (int, float),
    "expected_etag": str,
    "existing_id": str,
    "bad_items": list,
    "offset": int,
}
RETRIED = {"rate_limited", "timeout", "dependency_unavailable", "serialization_failure"}


def token(name: str) -> dict[str, str]:
    """The Authorization header of an identity."""
    return {"Authorization": f"Bearer {ENVIRONMENT[f'NOTEBOOKS_{name}']}"}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """A behaving service on a real connection."""
    with serving(make_app()) as url:
        yield url


@pytest.fixture(scope="module")
def birch(base_url: str) -> Iterator[httpx.Client]:
    """An editor of one tenant."""
    with httpx.Client(base_url=base_url, headers=token("BIRCH_EDITOR")) as client:
        yield client


@pytest.fixture(scope="module")
def cedar(base_url: str) -> Iterator[httpx.Client]:
    """An editor of the other tenant."""
    with httpx.Client(base_url=base_url, headers=token("CEDAR_EDITOR")) as client:
        yield client


@pytest.fixture(scope="module")
def anyone(base_url: str) -> Iterator[httpx.Client]:
    """Someone without a token."""
    with httpx.Client(base_url=base_url) as client:
        yield client


def title() -> str:
    """A title that no other test uses."""
    return f"T {uuid.uuid4()}"


def create(client: httpx.Client, **members: object) -> Any:
    """A new notebook."""
    response = client.post("/notebooks", json={"title": title(), "pages": 4, **members})
    assert response.status_code == 201
    return response.json()


def refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Assert all that the document says of every error, and return its details."""
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert "no-store" in response.headers["cache-control"]
    body = response.json()
    assert set(body) <= {"code", "message", "correlation_id", "details"}
    assert body["code"] == code
    assert code in CODES
    assert isinstance(body["message"], str)
    assert body["message"]
    assert body["correlation_id"] == response.headers["x-correlation-id"]
    details: dict[str, Any] = body.get("details", {})
    assert isinstance(details, dict)
    for key, value in details.items():
        assert isinstance(value, DETAIL_TYPES[key])
    if (
        code != "stale_read"
    ):  # the document's example says true for it, in the sense of: after a refetch
        assert details.get("retryable", code in RETRIED) is (code in RETRIED)
    everything = response.text + str(response.headers)
    assert not any(secret in everything for secret in ENVIRONMENT.values())
    assert "Traceback" not in everything
    return details


# ---- the behaving service


def test_a_notebook_lives_through_its_whole_life(birch: httpx.Client) -> None:
    """Create, read, read unchanged, replace, change, delete: the happy path carries no envelope
    (C2).
    """
    made = create(birch)
    read = birch.get(f"/notebooks/{made['id']}")
    assert read.json() == made
    tag = read.headers["etag"]
    unchanged = birch.get(f"/notebooks/{made['id']}", headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    put = birch.put(
        f"/notebooks/{made['id']}", json={"title": title(), "pages": 9}, headers={"If-Match": tag}
    )
    assert put.status_code == 200
    assert put.headers["etag"] != tag
    patched = birch.patch(f"/notebooks/{made['id']}", json={"pages": 10})
    assert patched.json()["pages"] == 10
    for answer in (read, put, patched):
        assert not {"code", "message", "correlation_id"} & set(answer.json())
    assert birch.delete(f"/notebooks/{made['id']}").status_code == 204
    refused(birch.get(f"/notebooks/{made['id']}"), 404, "not_found")


@pytest.mark.parametrize("inbound", [INBOUND, ULID])
@pytest.mark.parametrize(
    "path", ["/notebooks", "/nowhere", "/notebooks/00000000-0000-4000-8000-000000000000"]
)
def test_a_valid_correlation_id_is_echoed(birch: httpx.Client, inbound: str, path: str) -> None:
    """The inbound id comes back in the header, and in the body of an error (C4)."""
    answer = birch.get(path, headers={"X-Correlation-Id": inbound})
    assert answer.headers["x-correlation-id"] == inbound
    assert answer.json().get("correlation_id", inbound) == inbound


def test_a_missing_correlation_id_is_generated(birch: httpx.Client) -> None:
    """Generated ids are UUID version 7, and no two are the same (C3, C4)."""
    ids = [birch.get("/nowhere").headers["x-correlation-id"] for _ in range(20)]
    assert all(UUID7.fullmatch(each) for each in ids)
    assert len(set(ids)) == 20


@pytest.mark.parametrize(
    "inbound",
    [
        "",
        "x",
        "not an id",
        "../../etc",
        "38418b29-7fde-427a-b445-fa73d945f516",
        "a" * 3000,
        ULID + "0",
    ],
)
def test_a_malformed_correlation_id_is_replaced(birch: httpx.Client, inbound: str) -> None:
    """A value that is not an id is never reflected (X11)."""
    answer = birch.get("/nowhere", headers={"X-Correlation-Id": inbound})
    refused(answer, 404, "not_found")
    assert UUID7.fullmatch(answer.headers["x-correlation-id"])


def test_callers_may_do_what_the_taxonomy_permits(
    birch: httpx.Client, anyone: httpx.Client
) -> None:
    """No token and a bad one are 401 with a challenge, a missing scope and a missing role are 403
    (C9).
    """
    for headers in (
        {},
        {"Authorization": "Bearer nope"},
        {"Authorization": "Basic eDp5"},
        {"Authorization": "Bearer"},
    ):
        answer = anyone.get("/notebooks", headers=headers)
        refused(answer, 401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    reader = token("BIRCH_READER")
    assert anyone.get("/notebooks", headers=reader).status_code == 200
    refused(
        anyone.post("/notebooks", headers=reader, json={"title": title()}),
        403,
        "scope_insufficient",
    )
    refused(birch.get("/admin/quota"), 403, "forbidden")
    assert anyone.get("/admin/quota", headers=token("BIRCH_ADMIN")).status_code == 200
    assert anyone.get("/healthz").status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "export"])
@pytest.mark.parametrize("stale", [False, True])
def test_another_tenants_notebook_is_as_absent_as_any_other(
    birch: httpx.Client, cedar: httpx.Client, method: str, stale: bool
) -> None:
    """Status, headers and body are those of an id that never was (C23)."""
    theirs, nobodys = create(birch)["id"], str(uuid.uuid4())
    headers = {"X-Correlation-Id": INBOUND, **({"If-Match": '"stale"'} if stale else {})}
    suffix, verb = ("/export", "GET") if method == "export" else ("", method)
    body = {"title": title()} if verb in {"PUT", "PATCH"} else None
    answers = [
        cedar.request(verb, f"/notebooks/{each}{suffix}", headers=headers, json=body)
        for each in (theirs, nobodys)
    ]
    shown = [(each.status_code, {**each.headers, "date": ""}, each.content) for each in answers]
    assert shown[0] == shown[1]
    refused(answers[0], 404, "not_found")
    assert birch.get(f"/notebooks/{theirs}").status_code == 200


def test_a_title_belongs_to_its_tenant(birch: httpx.Client, cedar: httpx.Client) -> None:
    """A duplicate is pointed at within a tenant and unknown across (C22, C23)."""
    made = create(birch)
    details = refused(
        birch.post("/notebooks", json={"title": made["title"]}), 409, "already_exists"
    )
    assert details["existing_id"] == made["id"]
    assert cedar.post("/notebooks", json={"title": made["title"]}).status_code == 201


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "batch", "webhook"])
def test_a_replayed_write_has_the_same_outcome(birch: httpx.Client, method: str) -> None:
    """Status, body and headers are equal, and nothing happens twice (C20, T6)."""
    path, body = "/notebooks", {"title": title(), "pages": 2}
    headers = {"Idempotency-Key": title(), "X-Correlation-Id": INBOUND}
    if method in {"PUT", "PATCH", "DELETE"}:
        made = birch.post(path, json={"title": title()})
        path, headers["If-Match"] = f"/notebooks/{made.json()['id']}", made.headers["etag"]
    if method == "batch":
        path, body = "/notebooks/batch", {"items": [body, {"title": ""}]}
    if method == "webhook":
        path, body = "/hooks/printers", {"event": "jammed"}
    verb = "POST" if method in {"batch", "webhook"} else method
    before = len(birch.get("/notebooks").json()["items"])
    answers = [
        birch.request(verb, path, json=None if verb == "DELETE" else body, headers=headers)
        for _ in range(3)
    ]
    assert answers[0].status_code < 300
    shown = [(each.status_code, {**each.headers, "date": ""}, each.content) for each in answers]
    assert shown[0] == shown[1] == shown[2]
    after = len(birch.get("/notebooks").json()["items"])
    assert after - before == {"POST": 1, "batch": 1, "DELETE": -1}.get(method, 0)


def test_a_key_is_one_request_of_one_tenant(birch: httpx.Client, cedar: httpx.Client) -> None:
    """Another body is a conflict with a pointer (X10); another tenant's key is another key
    (C23).
    """
    headers = {"Idempotency-Key": title()}
    first = birch.post("/notebooks", json={"title": title()}, headers=headers).json()
    details = refused(
        birch.post("/notebooks", json={"title": title()}, headers=headers), 409, "conflict"
    )
    assert details["existing_id"] == first["id"]
    theirs = cedar.post("/notebooks", json={"title": first["title"]}, headers=headers)
    assert theirs.status_code == 201
    assert theirs.json()["id"] != first["id"]


def test_a_refused_write_does_not_use_up_its_key(birch: httpx.Client) -> None:
    """The same key may be used again once the payload is put right (C20, C16: fix the input)."""
    headers = {"Idempotency-Key": title()}
    refused(birch.post("/notebooks", json={"title": ""}, headers=headers), 400, "validation_failed")
    assert birch.post("/notebooks", json={"title": title()}, headers=headers).status_code == 201


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_stale_write_is_refused_and_passes_after_a_refetch(
    birch: httpx.Client, method: str
) -> None:
    """412 tells the tag that then works (C14, T5)."""
    path = f"/notebooks/{create(birch)['id']}"
    stale = birch.get(path).headers["etag"]
    birch.patch(path, json={"pages": 7})
    body = None if method == "DELETE" else {"title": title()}
    headers = {"Idempotency-Key": title()}
    answer = birch.request(method, path, json=body, headers={**headers, "If-Match": stale})
    details = refused(answer, 412, "stale_read")
    assert details["expected_etag"] == answer.headers["etag"] == birch.get(path).headers["etag"]
    again = birch.request(
        method, path, json=body, headers={**headers, "If-Match": details["expected_etag"]}
    )
    assert again.is_success
    created = birch.put(
        f"/notebooks/{create(birch)['id']}", json={"title": title()}, headers={"If-None-Match": "*"}
    )
    refused(created, 412, "stale_read")


def test_an_archived_notebook_is_in_conflict_with_a_change(birch: httpx.Client) -> None:
    """409 `conflict` points at what is in the way (C22)."""
    made = create(birch, archived=True)
    details = refused(birch.patch(f"/notebooks/{made['id']}", json={"pages": 5}), 409, "conflict")
    assert details["existing_id"] == made["id"]
    assert birch.patch(f"/notebooks/{made['id']}", json={"archived": False}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"\xff\xfe",
        b"[" * 20_000,
        b"[]",
        b'"a"',
        b"null",
        b'{"pages": NaN, "title": "x"}',
    ],
)
def test_a_line_that_is_not_a_json_object_is_an_invalid_request(
    birch: httpx.Client, body: bytes
) -> None:
    """Malformed JSON of every kind carries the envelope (C26)."""
    answer = birch.post("/notebooks", content=body, headers={"Content-Type": "application/json"})
    refused(answer, 400, "invalid_request")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"title": ""}', "title"),
        ('{"pages": 3}', "title"),
        ('{"title": "\\ud800"}', "title"),
        ('{"title": 5}', "title"),
        ('{"title": "x", "pages": -1}', "pages"),
        ('{"title": "x", "pages": 1e400}', "pages"),
        ('{"title": "x", "pages": true}', "pages"),
        ('{"title": "x", "archived": "yes"}', "archived"),
    ],
)
def test_an_invalid_field_is_named(birch: httpx.Client, body: str, field: str) -> None:
    """`validation_failed` says which field (C5), and nothing of what was in it (C25)."""
    answer = birch.post("/notebooks", content=body, headers={"Content-Type": "application/json"})
    assert refused(answer, 400, "validation_failed")["field"] == field


def test_what_frameworks_answer_by_themselves_is_in_the_envelope(birch: httpx.Client) -> None:
    """Unknown routes, methods, media types and sizes (C26, C27)."""
    refused(birch.get("/nowhere"), 404, "not_found")
    refused(birch.get("/notebooks/"), 404, "not_found")
    for path, method, allowed in (
        ("/notebooks", "DELETE", {"GET", "HEAD", "POST", "OPTIONS"}),
        ("/notebooks/batch", "GET", {"POST", "OPTIONS"}),
        ("/notebooks/x", "BREW", {"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}),
        ("/healthz", "TRACE", {"GET", "HEAD", "OPTIONS"}),
    ):
        answer = birch.request(method, path)
        refused(answer, 405, "invalid_request")
        assert set(answer.headers["allow"].split(", ")) == allowed
    refused(
        birch.get("/notebooks", headers={"Accept": "application/x-nope"}), 406, "invalid_request"
    )
    refused(birch.post("/notebooks", json={"title": "x" * 3_000_000}), 413, "invalid_request")
    refused(birch.get("/notebooks", params={"limit": "9" * 9000}), 414, "invalid_request")
    refused(birch.get("/notebooks", headers={"X-Long": "x" * 9000}), 431, "invalid_request")
    for media_type in ("text/plain", "multipart/form-data; boundary=x", ""):
        answer = birch.post(
            "/notebooks", content=b'{"title": "x"}', headers={"Content-Type": media_type}
        )
        refused(answer, 415, "unsupported_media_type")


def test_the_rate_is_limited_and_recovers(birch: httpx.Client) -> None:
    """429 has its Retry-After, its limit and its window; after the wait the caller gets through
    (C12, T4).
    """
    answers = [birch.get("/search", params={"q": "T"}) for _ in range(20)]
    limited = next(each for each in answers if each.status_code == 429)
    details = refused(limited, 429, "rate_limited")
    assert (details["limit"], details["window_sec"], details["retryable"]) == (5, 1, True)
    time.sleep(int(limited.headers["retry-after"]))
    assert birch.get("/search", params={"q": "T"}).status_code == 200


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("dependency_unavailable", 503),
        ("timeout", 504),
        ("serialization_failure", 503),
        ("constraint_violation", 422),
        ("internal_error", 500),
    ],
)
def test_faults_have_their_statuses(birch: httpx.Client, code: str, status: int) -> None:
    """The map of C9, and the rulings for what C10 leaves open; a crash tells nothing of itself
    (C25).
    """
    made = create(birch)
    for method, path, body in (
        ("GET", "/notebooks", None),
        ("POST", "/notebooks", {"title": title()}),
        ("POST", "/hooks/printers", {"event": "printed"}),
        ("DELETE", f"/notebooks/{made['id']}", None),
    ):
        answer = birch.request(method, path, json=body, headers={"X-Fault": code})
        refused(answer, status, code)
        assert re.fullmatch("[0-9]+", answer.headers.get("retry-after", "0"))
        assert "lease" not in answer.text
    assert birch.get(f"/notebooks/{made['id']}").status_code == 200


def test_a_batch_has_three_outcomes(birch: httpx.Client) -> None:
    """201 for success, one envelope for failure, 207 only for both at once (C28)."""
    good, bad = {"title": title()}, {"title": "", "pages": 1}
    assert birch.post("/notebooks/batch", json={"items": [good]}).status_code == 201
    mixed = birch.post("/notebooks/batch", json={"items": [{"title": title()}, bad]})
    assert mixed.status_code == 207
    made, failed = mixed.json()["responses"]
    assert (made["status"], failed["status"]) == (201, 400)
    assert failed["body"]["code"] == "validation_failed"
    assert failed["body"]["correlation_id"] == mixed.headers["x-correlation-id"]
    before = birch.get("/notebooks").json()
    details = refused(
        birch.post("/notebooks/batch", json={"items": [bad, good]}), 400, "validation_failed"
    )
    assert [each["index"] for each in details["bad_items"]] == [0, 1]
    assert birch.get("/notebooks").json() == before


def test_head_is_get_without_a_body(base_url: str, birch: httpx.Client) -> None:
    """Nothing follows the head on the connection, for errors either."""
    for path in ("/healthz", "/nowhere"):
        assert birch.head(path).status_code == birch.get(path).status_code
        assert raw(base_url, f"HEAD {path}").endswith(b"\r\n\r\n")


def test_a_stream_breaks_in_its_control_channel(birch: httpx.Client) -> None:
    """The error event carries the envelope and the offset at which the data ended (C30)."""
    path = f"/notebooks/{create(birch, pages=6)['id']}/export"
    whole = birch.get(path)
    assert whole.headers["content-type"] == "text/event-stream"
    assert whole.text.count("event: page\n") == 6
    broken = birch.get(path, headers={"X-Fault": "timeout"})
    name, data = broken.text.split("\n\n")[-2].split("\n")
    envelope = json.loads(data.removeprefix("data: "))
    assert name == "event: error"
    assert envelope["code"] == "timeout"
    assert envelope["correlation_id"] == broken.headers["x-correlation-id"]
    assert envelope["details"] == {"retryable": True, "offset": 3}


def test_a_webhook_is_accepted_or_refused(birch: httpx.Client) -> None:
    """202, or the envelope (C29)."""
    assert birch.post("/hooks/printers", json={"event": "printed"}).status_code == 202
    refused(birch.post("/hooks/printers", json={"event": "burnt"}), 400, "validation_failed")


def test_the_openapi_document_is_honest(anyone: httpx.Client, birch: httpx.Client) -> None:
    """It is valid, and it names the statuses that the operations answer."""
    from openapi_spec_validator import validate

    document = anyone.get("/openapi.json").json()
    validate(document)
    post = document["paths"]["/notebooks"]["post"]["responses"]
    for answer in (
        birch.post("/notebooks", json={"title": title()}),
        birch.post("/notebooks", json={"title": ""}),
        birch.post("/notebooks", content=b"x", headers={"Content-Type": "text/plain"}),
        birch.post("/notebooks", json={"title": "x" * 70_000}),
        birch.post("/notebooks", json={"title": title()}, headers={"X-Fault": "timeout"}),
        anyone.post("/notebooks"),
    ):
        assert str(answer.status_code) in post


def test_the_configuration_fits_the_service() -> None:
    """`notebooks.yaml` needs no other variable than ENVIRONMENT and the address, and speaks of
    existing paths only.
    """
    text = (HERE / "miniatures" / "notebooks.yaml").read_text()
    assert set(re.findall(r"\$\{([A-Z_]+)\}", text)) == {*ENVIRONMENT, "BASE_URL"}
    paths = asyncio.run(exchange(make_app(), "GET", "/openapi.json")).json()["paths"]
    for verb, path in re.findall(r"\b(GET|POST|PUT|PATCH|DELETE) (/(?:\{\w+\}|[^\s,{}\"])*)", text):
        assert verb.lower() in paths[path.replace("{id}", "{notebook}")]
    assert yaml.safe_load(text)["target"]["http"] == "${BASE_URL}"


def raw(base_url: str, line: str) -> bytes:
    """All bytes that come back for a request without headers."""
    with socket.create_connection(
        ("127.0.0.1", int(base_url.rpartition(":")[2])), timeout=5
    ) as connection:
        connection.sendall(
            f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        )
        return b"".join(iter(lambda: connection.recv(65536), b""))


# ---- the sins


class Clock:
    """A clock whose time passes only by its `pause`."""

    def __init__(self) -> None:
        self.now = 1_750_000_000.0

    def __call__(self) -> float:
        """The moment."""
        return self.now


async def story(app: ASGIApp, clock: Clock) -> dict[str, Answer]:
    """A fixed sequence of exchanges that meets every rule; it goes on whatever the answers are."""
    seen: dict[str, Answer] = {}
    birch, cedar, reader, admin = (
        token(name) for name in ("BIRCH_EDITOR", "CEDAR_EDITOR", "BIRCH_READER", "BIRCH_ADMIN")
    )
    inbound = {"X-Correlation-Id": INBOUND}

    async def step(
        name: str,
        method: str,
        target: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | object = b"",
    ) -> Answer:
        assert name not in seen
        seen[name] = await exchange(app, method, target, headers, body)
        return seen[name]

    def id_of(answer: Answer) -> str:
        body = answer.json()
        return (
            str(body.get("id", uuid.UUID(int=0)))
            if isinstance(body, dict)
            else str(uuid.UUID(int=0))
        )

    def pointer(answer: Answer) -> object:
        details = (envelope_of(answer) or {}).get("details")
        return details.get("existing_id") if isinstance(details, dict) else None

    await step("health", "GET", "/healthz", inbound)
    await step("health without id", "GET", "/healthz")
    nowhere: Mapping[str, Mapping[str, str]] = {
        "with id": inbound,
        "with ulid": {"X-Correlation-Id": ULID},
        "without id": {},
        "without id again": {},
        "with garbage": {"X-Correlation-Id": "<b>garbage</b>"},
        "with long garbage": {"X-Correlation-Id": "a" * 500},
        "with uuid4": {"X-Correlation-Id": "7d444840-9dc0-41d1-b245-5ffdce74fad2"},
    }
    for label, headers in nowhere.items():
        await step(f"nowhere {label}", "GET", "/nowhere", {**birch, **headers})
    for verb in ("HEAD", "DELETE", "BREW"):
        await step(f"{verb} nowhere", verb, "/nowhere", birch)
        await step(f"{verb} notebooks", verb, "/notebooks", birch)
    await step("HEAD without token", "HEAD", "/notebooks")
    await step("HEAD health", "HEAD", "/healthz")
    await step("no token", "GET", "/notebooks")
    await step("no token with id", "GET", "/notebooks", inbound)
    await step("bad token", "GET", "/notebooks", {"Authorization": "Bearer tok-nobody"})
    await step("no token search", "GET", "/search?q=x")
    await step("no role", "GET", "/admin/quota", birch)
    await step("role", "GET", "/admin/quota", admin)
    await step("no scope", "POST", "/notebooks", reader, {"title": "Reader's"})

    made = await step(
        "create", "POST", "/notebooks", {**birch, **inbound}, {"title": "One", "pages": 4}
    )
    one = f"/notebooks/{id_of(made)}"
    await step("no scope to delete", "DELETE", one, reader)
    await step("no scope to change", "PATCH", one, reader, {"pages": 5})
    await step("duplicate", "POST", "/notebooks", birch, {"title": "One"})
    duplicate_id = pointer(seen["duplicate"])
    await step("follow pointer", "GET", f"/notebooks/{duplicate_id}", birch)
    await step("other tenant's title", "POST", "/notebooks", cedar, {"title": "One"})
    read = await step("read", "GET", one, birch)
    tag = read.header("etag") or '"none"'
    await step("unchanged", "GET", one, {**birch, "If-None-Match": tag})
    await step("missing", "GET", f"/notebooks/{uuid.UUID(int=1)}", birch)
    for verb, headers in (
        ("GET", {}),
        ("GET", {"Accept": "*/*"}),
        ("PUT", {"If-Match": '"x"'}),
        ("PATCH", {}),
    ):
        label = f"other tenant's {verb} {' '.join(headers)}"
        await step(
            label,
            verb,
            one,
            {**cedar, **headers},
            {"title": "Mine"} if verb in {"PUT", "PATCH"} else b"",
        )
    await step("other tenant's export", "GET", f"{one}/export", cedar)
    await step("export without token", "GET", f"{one}/export")
    await step("export", "GET", f"{one}/export", birch)
    await step("broken export", "GET", f"{one}/export", {**birch, "X-Fault": "timeout"})

    await step(
        "change",
        "PATCH",
        one,
        {**birch, "If-Match": tag, "Idempotency-Key": "k-change"},
        {"pages": 5},
    )
    await step(
        "change replayed",
        "PATCH",
        one,
        {**birch, "If-Match": tag, "Idempotency-Key": "k-change"},
        {"pages": 5},
    )
    stale = await step(
        "stale put", "PUT", one, {**birch, "If-Match": tag}, {"title": "One", "pages": 8}
    )
    expected = stale.header("etag") or '"none"'
    await step(
        "fresh put", "PUT", one, {**birch, "If-Match": expected}, {"title": "One", "pages": 8}
    )
    await step("stale patch", "PATCH", one, {**birch, "If-Match": tag}, {"pages": 9})
    await step("stale delete", "DELETE", one, {**birch, "If-Match": tag})
    await step("read after stale", "GET", one, birch)
    await step("archive", "PATCH", one, birch, {"archived": True})
    await step("archived", "PATCH", one, birch, {"pages": 1})

    json_type = {"Content-Type": "application/json"}
    await step("bad json", "POST", "/notebooks", {**birch, **json_type}, b'{"title": "canary-7c1"')
    await step("bad json in patch", "PATCH", one, {**birch, **json_type}, b"canary-7c1")
    await step("empty title", "POST", "/notebooks", birch, {"title": "", "pages": "canary-7c1"})
    await step("bad pages", "POST", "/notebooks", birch, {"title": "Bad", "pages": -5})
    await step(
        "text", "POST", "/notebooks", {**birch, "Content-Type": "text/plain"}, b'{"title": "Text"}'
    )
    await step(
        "text in patch",
        "PATCH",
        one,
        {**birch, "Content-Type": "text/plain"},
        b'{"archived": false}',
    )
    await step("accept", "GET", "/notebooks", {**birch, "Accept": "application/x-nope"})
    await step("too large", "POST", "/notebooks", birch, {"title": "x" * 70_000})
    await step("too long", "GET", "/notebooks?limit=" + "9" * 9000, birch)
    await step("long header", "GET", "/notebooks", {**birch, "X-Long": "x" * 9000})
    await step("bad limit", "GET", "/notebooks?limit=0", birch)
    await step("limit in words", "GET", "/notebooks?limit=all", birch)
    await step("null", "POST", "/notebooks", {**birch, **json_type}, b"null")
    await step(
        "with charset",
        "POST",
        "/notebooks",
        {**birch, "Content-Type": "application/json; charset=utf-8"},
        b"{}",
    )
    await step("deep", "POST", "/notebooks", {**birch, **json_type}, b"[" * 2000)
    await step("bytes", "POST", "/notebooks", {**birch, **json_type}, b'{"title": "\xff"}')
    await step("nul", "POST", "/notebooks", {**birch, **json_type}, b'{"title": "a\\u0000"}')
    await step("surrogate", "POST", "/notebooks", {**birch, **json_type}, b'{"title": "a\\ud800"}')
    await step("options", "OPTIONS", "/notebooks", birch)

    key = {"Idempotency-Key": "k-create"}
    await step("keyed", "POST", "/notebooks", {**birch, **key, **inbound}, {"title": "Two"})
    await step(
        "keyed replayed", "POST", "/notebooks", {**birch, **key, **inbound}, {"title": "Two"}
    )
    await step(
        "keyed otherwise", "POST", "/notebooks", {**birch, **key, **inbound}, {"title": "Three"}
    )
    conflict_id = pointer(seen["keyed otherwise"])
    await step("follow conflict", "GET", f"/notebooks/{conflict_id}", birch)
    await step(
        "keyed by another", "POST", "/notebooks", {**cedar, **key, **inbound}, {"title": "Two"}
    )

    twice = {**birch, **inbound, "Idempotency-Key": "k-at-once"}
    await asyncio.gather(
        step("at once", "POST", "/notebooks", twice, {"title": "Six"}),
        step("at once as well", "POST", "/notebooks", twice, {"title": "Six"}),
    )

    await asyncio.gather(
        step("title at once", "POST", "/notebooks", birch, {"title": "Seven"}),
        step("title at once as well", "POST", "/notebooks", birch, {"title": "Seven"}),
    )
    eighth = await step("eighth", "POST", "/notebooks", birch, {"title": "Eight"})
    spare = f"/notebooks/{id_of(eighth)}"
    await step("bad change", "PATCH", spare, birch, {"pages": -5})
    current = await step("read after bad change", "GET", spare, birch)
    unchanged = {**birch, "If-Match": dict(current.headers).get("etag", '"none"')}
    await asyncio.gather(
        step("changed at once", "PATCH", spare, unchanged, {"pages": 3}),
        step("changed at once as well", "PATCH", spare, unchanged, {"pages": 4}),
    )
    await asyncio.gather(
        step("deleted at once", "DELETE", spare, birch),
        step("deleted at once as well", "DELETE", spare, birch),
    )

    good, bad = {"title": "Four"}, {"title": ""}
    await step("batch bad", "POST", "/notebooks/batch", birch, {"items": [bad, bad]})
    batch_key = {"Idempotency-Key": "k-batch"}
    await step("batch good", "POST", "/notebooks/batch", {**birch, **batch_key}, {"items": [good]})
    await step(
        "batch good replayed", "POST", "/notebooks/batch", {**birch, **batch_key}, {"items": [good]}
    )
    await step(
        "batch mixed", "POST", "/notebooks/batch", birch, {"items": [{"title": "Five"}, bad]}
    )
    await step("batch all duplicates", "POST", "/notebooks/batch", birch, {"items": [good]})

    await step("webhook", "POST", "/hooks/printers", birch, {"event": "printed"})
    await step("webhook refused", "POST", "/hooks/printers", birch, {"event": "canary-7c1"})
    await step(
        "webhook lost",
        "POST",
        "/hooks/printers",
        {**birch, "X-Fault": "dependency_unavailable"},
        {"event": "printed"},
    )
    for code in (
        "internal_error",
        "dependency_unavailable",
        "timeout",
        "serialization_failure",
        "constraint_violation",
    ):
        await step(f"fault {code}", "GET", "/notebooks", {**birch, "X-Fault": code, **inbound})

    comment = {**birch, "Idempotency-Key": "comment-1"}
    for turn in ("comment", "comment again", "comment once more"):
        await step(turn, "POST", f"{one}/comments", comment, {"text": "Well put"})
    again = {**birch, **inbound, "Idempotency-Key": "k-comments-at-once"}
    await asyncio.gather(
        step("comment at once", "POST", f"{one}/comments", again, {"text": "Twice put"}),
        step("comment at once as well", "POST", f"{one}/comments", again, {"text": "Twice put"}),
    )
    await step("other tenant's comment", "POST", f"{one}/comments", cedar, {"text": "Well put"})
    await step("later page", "GET", "/notebooks?offset=1", cedar)
    await step("search for nothing", "GET", "/search?q=nowhere", cedar)
    await step(
        "long head",
        "GET",
        "/notebooks",
        {**birch, **{f"X-Padding-{n}": "x" * 8000 for n in range(3)}},
    )
    await step("bad query", "GET", "/search?q=" + "canary" * 30, birch)
    for number in range(5):
        await step(f"search {number}", "GET", "/search?q=One", birch)
    await step("search limited", "GET", "/search?q=One", {**birch, **inbound})
    clock.now += 1.01
    await step("search after the wait", "GET", "/search?q=One", birch)
    clock.now += 10
    await step("search much later", "GET", "/search?q=One", birch)

    for number in range(11):
        headers = {**birch, "Idempotency-Key": f"k-late-{number}"}
        await step(f"late {number}", "POST", "/notebooks", headers, {"title": f"Late {number}"})
    headers = {**birch, "Idempotency-Key": "k-late-0"}
    await step("late 0 again", "POST", "/notebooks", headers, {"title": "Late 0"})

    await step("list", "GET", "/notebooks", birch)
    await step("other tenant's delete", "DELETE", one, cedar)
    await step("delete", "DELETE", one, birch)
    await step("list at the end", "GET", "/notebooks", birch)
    await step("delete of what never was", "DELETE", "/notebooks/000000000000", birch)
    ninth = await step("ninth", "POST", "/notebooks", birch, {"title": "Nine"})
    last = f"/notebooks/{id_of(ninth)}"
    await step("taken title", "PATCH", last, birch, {"title": "Late 1"})
    shown = await step("read after taken title", "GET", last, birch)
    current = {**birch, "If-Match": shown.header("etag") or '"none"'}
    await step("delete as read", "DELETE", last, current)
    await step("read after delete", "GET", last, birch)
    return seen


def tell(app: ASGIApp, clock: Clock) -> dict[str, str]:
    """The story with its generated ids replaced by their version and the place where they were
    first seen.
    """
    names: dict[str, str] = {}

    def shown(step: str, answer: Answer) -> str:
        def named(match: re.Match[str]) -> str:
            here = sum(name.endswith(f" of {step}>") for name in names.values())
            return names.setdefault(match[0], f"<v{match[0][14]} {here} of {step}>")

        headers = "\n".join(f"{name}: {value}" for name, value in sorted(answer.headers))
        everything = f"{answer.status}\n{headers}\n\n{answer.body.decode('latin-1')}"
        return re.sub("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", named, everything)

    return {step: shown(step, answer) for step, answer in asyncio.run(story(app, clock)).items()}


def committed(*names: str) -> dict[str, str]:
    """The story of a service with these sins."""
    clock = Clock()
    return tell(sinning(*names, clock=clock), clock)


@cache
def behaved() -> dict[str, str]:
    """The story of the behaving service."""
    return committed()


def test_the_story_is_the_same_every_time() -> None:
    """Without a sin there is no difference, so that a difference is a sin's doing."""
    assert committed() == behaved()


def test_standing_between_changes_nothing() -> None:
    """The wrappers that sins are made of are invisible by themselves."""
    for wrap in (
        rewriting(lambda _, answer: answer),
        asking(lambda asked: asked),
        head_body(lambda _: False),
    ):
        clock = Clock()
        assert tell(wrap(make_app(clock=clock)), clock) == behaved()


@pytest.mark.parametrize("name", SINS)
def test_every_sin_can_be_seen(name: str) -> None:
    """At least one exchange differs from the behaving service's: a sin that changes nothing proves
    nothing.
    """
    different = [step for step, shown in committed(name).items() if shown != behaved()[step]]
    assert different


@pytest.mark.full
def test_no_two_sins_are_the_same() -> None:
    """Every sin shows in a way of its own."""
    stories: dict[str, str] = {}
    for name in SINS:
        shown = json.dumps(committed(name))
        assert stories.setdefault(shown, name) == name


def test_sins_are_named_and_stand_for_statements() -> None:
    """Names are kebab-case, statements are of the document or the companion's checklist, sentences
    say what went wrong.
    """
    for name, sin in SINS.items():
        assert isinstance(sin, Sin)
        assert name == sin.name
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name)
        assert sin.sentence
        assert sin.statements
        for statement in sin.statements:
            assert re.fullmatch("C([1-9]|[12][0-9]|3[0-7])|T[1-6]", statement)


def test_every_switch_is_a_sin() -> None:
    """Every mistake that the service can make by itself has a name among the sins; other names are
    refused.
    """
    assert set(SINS) >= SWITCHES
    with pytest.raises(ValueError, match="no such switch: no-such-sin"):
        make_app(frozenset({"no-such-sin"}))


def test_every_blackbox_statement_has_a_sin() -> None:
    """C1–C37 but for what no one can check from outside or what has no wire on HTTP, and the whole
    checklist.
    """
    unseen = {
        "C6": "a promise of clients",
        "C11": "prose",
        "C17": "about SDKs",
        "C18": "`details` is optional",
        "C19": "about SDKs",
        "C21": "the document is silent",
        "C31": "about events",
        "C32": "about gRPC",
        **{f"C{number}": "about telemetry, the ledger and runbooks" for number in range(33, 38)},
    }
    covered = {statement for sin in SINS.values() for statement in sin.statements}
    assert covered >= {f"C{number}" for number in range(1, 38)} - set(unseen) | {
        f"T{number}" for number in (1, 2, 3, 4, 5, 6)
    }
    assert not covered & set(unseen)


def test_a_body_after_head_reaches_the_connection() -> None:
    """The sin that HTTP libraries hide is committed on the wire all the same."""
    with serving(sinning("head-with-body")) as url:
        assert raw(url, "HEAD /healthz").endswith(b'{"status": "ok"}')
    with serving(sinning("head-error-with-body")) as url:
        assert raw(url, "HEAD /healthz").endswith(b"\r\n\r\n")
        assert b'"not_found"' in raw(url, "HEAD /nowhere")


def test_miniatures_import_nothing_of_the_project() -> None:
    """A misreading of the document must not agree with itself."""
    for path in (HERE / "miniatures").glob("*.py"):
        imported = re.findall(r"^\s*(?:from|import) ([\w.]+)", path.read_text(), re.MULTILINE)
        assert not [name for name in imported if name.startswith(("faultspec", "generated"))]


# ---- the document's own examples


def example(name: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of a transcribed example."""
    head, _, body = (
        (HERE / "fixtures" / "seed_examples" / "core_platform" / name).read_text().partition("\n\n")
    )
    first, *rest = head.splitlines()
    headers = dict(line.split(": ", 1) for line in rest)
    return int(first.split()[1]), {key.lower(): value for key, value in headers.items()}, body


@pytest.mark.parametrize(
    ("name", "status", "code", "headers"),
    [
        ("validation.http", 400, "validation_failed", {"content-type"}),
        ("rate_limited.http", 429, "rate_limited", {"content-type", "retry-after"}),
        ("stale_read.http", 412, "stale_read", {"etag"}),
    ],
)
def test_the_documents_examples_are_transcribed(
    name: str, status: int, code: str, headers: set[str]
) -> None:
    """Three HTTP examples, as they stand there: with elided ids, and without the headers that other
    sections demand.
    """
    seen_status, seen_headers, body = example(name)
    assert (seen_status, set(seen_headers), json.loads(body)["code"]) == (status, headers, code)


def test_the_behaving_service_answers_in_the_shape_of_the_examples() -> None:
    """For each example there is an exchange with its status, its code, at least its headers and its
    details' keys.
    """
    clock = Clock()
    answers = asyncio.run(story(sinning(clock=clock), clock))
    for name, step in (
        ("validation.http", "bad pages"),
        ("rate_limited.http", "search limited"),
        ("stale_read.http", "stale put"),
    ):
        status, headers, body = example(name)
        answer = answers[step]
        envelope = answer.json()
        assert answer.status == status
        assert {key for key, _ in answer.headers} >= set(headers)
        assert envelope["code"] == json.loads(body)["code"]
        assert set(envelope["details"]) >= set(json.loads(body)["details"])
        assert envelope["details"]["retryable"] is json.loads(body)["details"]["retryable"]
