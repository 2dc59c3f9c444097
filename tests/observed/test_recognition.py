"""Records of ordinary successes are counted without judging them again, as if they were judged."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.judge import judge
from faultspec.language import load
from faultspec.openapi import service
from faultspec_conformance.observed import accumulator, jobs, memory
from faultspec_conformance.observed import audit as observed_audit
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.observed.recognition import Recognizer
from faultspec_conformance.reports.data import json as write_json
from observed.test_audit import platform
from paths import ROOT
from results.test_recorded_parts import comparable, judge_serially
from support.examples import examples

KINDS = """\
    nginx:
      unwrap: [combined]
      url: /request
      status: /status
      time: /time
    full:
      when: {/kind: full}
      method: /method
      url: /url
      status: /status
      route: /route
      seconds: /took
      time: /at
      service: /by
      request: {headers: /asked, body: /sent}
      response: {headers: /answered, body: /body}
    wrapped:
      when: {/kind: wrapped}
      url: /in/url
      method: /in/method
      status: /in/status
      milliseconds: /in/took
      response: {headers: /in/headers}
      slots: {code: /in/code}
"""

#: The taxonomies that are shipped: different surfaces, envelopes, headers and ids.
TAXONOMIES = (
    "taxonomy.yaml",
    "tests/fixtures/judged.yaml",
    *(
        f"examples/{name}/taxonomy.yaml"
        for name in ("aileron", "alknet", "keenbench", "theodosia", "kinto", "etcd", "registry")
    ),
)

ULIDS = tuple(f"01JAH8ZJ0Z8Z0N7M1X6JZ8000{number}" for number in range(4))
UUID = "8f14e45f-ceea-467f-9a36-dedf7a3d1c0a"
ENVELOPE = {
    "code": "not_found",
    "message": "No such order",
    "correlation_id": ULIDS[0],
    "details": {"retryable": False},
}

#: Bodies of successes: ordinary ones, errors, and what no reader, or not every reader, can read.
BODIES = st.sampled_from(
    (
        None,
        {"id": 1, "sku": "tea"},
        {},
        [],
        [{"id": 1}, {"code": "not_found"}],
        ENVELOPE,
        {"error": ENVELOPE},
        {"error": {"code": "not_found", "message": "x"}},
        {"error": "not_found"},
        {"code": "not_found", "message": 1, "correlation_id": ULIDS[0], "details": {}},
        {"type": "about:blank", "title": "x", "status": 404, "detail": "x", "code": "conflict"},
        {"errors": [{"code": "NAME_UNKNOWN", "message": "x"}]},
        {"items": [{"status": 404, "body": ENVELOPE}], "responses": [{"status": 404, "body": {}}]},
        {"stringValue": "x"},
        {
            "tool_call_id": "c1",
            "role": "tool",
            "content": "Action 'a' failed: capability_denied (x)",
        },
        {
            "type": "tool_result",
            "tool_use_id": "u",
            "is_error": True,
            "content": "capability_denied: x",
        },
        {"value": 1e300},
        "",
        "ok",
        " {",
        '"ok"',
        '{"a": 1}',
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '[{"a": "\ud800"}]',
        json.dumps(ENVELOPE),
        "{" * 99 + "}",
        "[" * 120 + "]" * 120,
        5,
        True,
        'event: error\ndata: {"code": "not_found"}\n\n',
        "<a/>",
    )
)

#: Values of headers.
VALUES = st.sampled_from(
    (
        "application/json",
        "application/json; charset=utf-8",
        "application/problem+json",
        "application/x-ndjson",
        "application/xml",
        "application/cbor",
        "text/plain",
        "text/event-stream",
        "application/x-www-form-urlencoded",
        "no-store",
        "public, max-age=9",
        *ULIDS,
        UUID,
        "[Filtered]",
        "xxx",
        "",
        "gzip",
        "2",
        "9999",
        "Wed, 21 Oct 2015 07:28:00 GMT",
        'W/"a1"',
        "W/a1",
        7,
        None,
        ["no-store", "no-cache"],
    )
)
NAMES = st.sampled_from(
    (
        "content-type",
        "Content-Type",
        "Cache-Control",
        "X-Correlation-Id",
        "x-correlation-id",
        "X-Request-Id",
        "Content-Length",
        "Content-Encoding",
        "Retry-After",
        "ETag",
        "Last-Modified",
        "Location",
        "Docker-Distribution-Api-Version",
        "Date",
        ":status",
        "",
        "Server",
    )
)
PLAIN = st.fixed_dictionaries(
    {
        "Content-Type": st.just("application/json"),
        "Cache-Control": st.just("no-store"),
        "X-Correlation-Id": st.sampled_from((*ULIDS, *ULIDS, UUID, "odd")),
    }
)
HEADERS = st.one_of(
    PLAIN,
    PLAIN,
    PLAIN.map(lambda fields: [list(pair) for pair in fields.items()]),
    PLAIN.map(lambda fields: [{"name": name, "value": text} for name, text in fields.items()]),
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.lists(st.tuples(NAMES, VALUES), max_size=4),
    st.sampled_from((None, [], "text", '{"Content-Type": "application/json"}', {"intValue": "1"})),
)
URLS = st.sampled_from(
    (
        "/orders/1",
        "/orders",
        "/v2/a/tags/list?n=1",
        "/webhooks/x",
        "",
        "GET /orders/2 HTTP/1.1",
        "https://a.example/orders",
        "/a b",
        "android-app://x/y",
        "/v1/messages",
        5,
        "TRACK /x",
    )
)
STATUSES = st.sampled_from((200, 200, 200, 201, 204, 206, 207, 301, 304, 404, 500, "200", 99, None))


def full(record: dict[str, object]) -> str:
    """A line of JSON, with members that are missing left out."""
    kept = {name: value for name, value in record.items() if value != "-"}
    return json.dumps({"kind": "full", **kept})


def ordinary(number: int) -> dict[str, object]:
    """A record that breaks nothing."""
    own = f"01JAH8ZJ0Z8Z0N7M1X6JZ8{number:04d}"
    return {
        "method": "GET",
        "url": f"/things/{number}",
        "status": 200,
        "took": number / 7,
        "at": f"2026-11-28T{number % 24:02d}:00:00Z",
        "by": f"service {number % 2}",
        "asked": {"Accept": "*/*"},
        "answered": {
            "Content-Type": "application/json",
            "Cache-Control": "no-store",
            "X-Correlation-Id": own,
        },
        "body": {"id": number, "notes": ["x"] * number},
    }


#: What may be odd in a record. A record that is nearly ordinary must not be taken for one.
MEMBERS: dict[str, st.SearchStrategy[object]] = {
    "method": st.sampled_from(("POST", "HEAD", "patch", None, 1, "-")),
    "url": URLS,
    "status": STATUSES,
    "route": st.sampled_from((None, "/orders/{id}", "-", 3)),
    "at": st.sampled_from((None, "-", 5, 1795881600000, "odd", {"intValue": "5"})),
    "by": st.sampled_from((None, "-", "", "orders")),
    "took": st.sampled_from(("0.2", None, "x", -1, 1e400, True)),
    "asked": HEADERS,
    "sent": st.sampled_from((None, {"a": 1}, "x", "-")),
    "answered": HEADERS,
    "body": BODIES,
}

CHANGES = st.lists(
    st.sampled_from(sorted(MEMBERS)).flatmap(
        lambda name: MEMBERS[name].map(lambda value: (name, value))
    ),
    max_size=2,
)

LINES = st.one_of(
    st.builds(
        lambda number, changes: full({**ordinary(number), **dict(changes)}),
        st.integers(0, 3),
        CHANGES,
    ),
    st.integers(0, 3).map(lambda number: full(ordinary(number))),
    BODIES.map(lambda body: full({**ordinary(9), "body": body})),
    BODIES.map(lambda body: full({**ordinary(9), "answered": {}, "body": body})),
    st.builds(
        lambda status, value: full(
            {**ordinary(9), "status": status, "body": "", "answered": {"Content-Length": value}}
        ),
        st.sampled_from((204, 205, 304)),
        st.sampled_from(("0", "5")),
    ),
    st.builds(
        lambda status, headers, code: json.dumps(
            {"kind": "wrapped", "in": {"url": "/x", "method": "GET", "status": status, "took": 5,
                                       "headers": headers, "code": code}}
        ),
        STATUSES,
        HEADERS,
        st.sampled_from((None, None, "not_found")),
    ),
    st.builds(
        lambda request, status: f'1.1.1.1 - - [10/Oct/2026:13:55:36 +0000] "{request}" {status} 5',
        st.sampled_from(("GET /orders HTTP/1.1", "POST /x HTTP/2.0", "-", "odd")),
        st.sampled_from((200, 200, 304, 404, "-")),
    ),
    st.sampled_from(('{"kind": "full"', "{}", "[1]", "null", "x", '{"kind": "none"}', "")),
)  # fmt: skip


@cache
def contract(path: str, profile: str | None = None) -> Contract:
    """The contract of a taxonomy, with the kinds of lines above."""
    taxonomy = load(str(ROOT / path)).taxonomy
    assert taxonomy is not None
    telemetry = platform(KINDS).taxonomy.telemetry
    return build_contract(taxonomy._replace(telemetry=telemetry, profile=profile))


DOCUMENT = """\
openapi: 3.1.0
info: {title: Orders, version: "1"}
paths:
  /orders: {get: {responses: {"200": {description: all}}}}
  /orders/{id}: {get: {responses: {"200": {description: one}}}}
"""


def written(path: Path, lines: list[str]) -> str:
    """A log of these lines, each twice: a record is recognized from its second time on."""
    path.write_text("".join(f"{line}\n" for line in (*lines, *lines)))
    return str(path)


@examples(600, steady=25, deadline=None)
@given(
    path=st.sampled_from(TAXONOMIES),
    profile=st.sampled_from((None, "rfc9110")),
    lines=st.lists(LINES, max_size=12),
    described=st.booleans(),
    since=st.sampled_from((None, None, "2026-11-28T01:00:00Z")),
    until=st.sampled_from((None, None, "2026-11-28T02:00:00Z")),
    sample=st.sampled_from((1.0, 1.0, 0.5)),
    window=st.sampled_from((2, 10_000)),
    size=st.sampled_from((None, 700, 2_000)),
)
def test_recognized_records_change_no_report(
    path: str,
    profile: str | None,
    lines: list[str],
    window: int,
    size: int | None,
    *,
    described: bool,
    since: str | None,
    until: str | None,
    sample: float,
) -> None:
    """The report of any log is the same if every record is judged in full: by any taxonomy, also
    with a document, with ids that come again or are forgotten, and with ranges.
    """
    description = service.read(yaml.safe_load(DOCUMENT)) if described else None
    options = AuditOptions(
        description=description,
        jobs=1 if size is None else 2,
        since=since,
        until=until,
        sample=sample,
    )
    with (
        TemporaryDirectory() as folder,
        mock.patch.object(memory, "RECENT", window),
        mock.patch.object(jobs, "RANGE", size or jobs.RANGE),
        mock.patch.object(observed_audit, "share", judge_serially),
    ):
        log = written(Path(folder) / "a.ndjson", lines)
        quick = audit([log], contract(path, profile), options)
        with mock.patch.object(Recognizer, "read", return_value=None):
            full_ = audit([log], contract(path, profile), replace(options, jobs=1))
    assert comparable(write_json(quick)) == comparable(write_json(full_))


@pytest.mark.parametrize("path", [path for path in TAXONOMIES if "judged" not in path])
def test_ordinary_successes_are_judged_once(path: str, tmp_path: Path) -> None:
    """Successes that differ by ids, paths, times and bodies are judged once; so are those in text
    and those without headers. Bodies that may have the text of an error are judged in full.
    """
    lines = [full(ordinary(number)) for number in range(50)]
    lines += [f'1.1.1.1 - - [x] "GET /things/{number} HTTP/1.1" 200 5' for number in range(50)]
    log = tmp_path / "a.ndjson"
    log.write_text("\n".join(lines))
    with mock.patch.object(accumulator, "judge", wraps=judge) as judged:
        report = audit([str(log)], contract(path))
    assert report.result.requests == 100
    assert judged.call_count == (51 if contract(path).renderings else 2)
