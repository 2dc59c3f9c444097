"""Recordings of any tool are judged as the exchanges were. Missing facts never lead to
findings.
"""

import gzip
import io
import json
import logging
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal
from unittest import mock

import httpx
import jsonschema
import pytest
import requests
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cli.test_conform_command import faultspec
from faultspec.contract.clauses import GROUPABLE, VALUES
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Finding, Judgement
from faultspec.exchange.model import ABOUT_BODY, Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import load, read
from faultspec.source import MAX_NODES
from faultspec_conformance import reports
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.observed import memory
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.observed.formats import items as listed
from faultspec_conformance.observed.formats import open_recording
from faultspec_conformance.observed.formats.detection import detect_format
from faultspec_conformance.observed.formats.record import ALWAYS, RecordedExchange, Skipped
from faultspec_conformance.orders.app import CALLERS
from faultspec_conformance.orders.demo import service
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.session.observation import Observation
from judge.test_judge_laws import exchanges
from paths import ROOT
from support.examples import examples

TAXONOMY = str(ROOT / "taxonomy.yaml")
TOKEN = next(iter(CALLERS))
NO_OPTIONS = AuditOptions()
ULID = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Silence the log of the service; the report has the errors."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@cache
def platform(extra: str = "") -> Contract:
    """The contract of the Core Platform, with ``extra`` kinds of lines in front of its own."""
    text = (
        Path(TAXONOMY)
        .read_text(encoding="utf-8")
        .replace("\n  records:\n", f"\n  records:\n{extra}")
    )
    loaded = read(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def clauses(
    *paths: Path, by: Contract | None = None, options: AuditOptions = NO_OPTIONS
) -> dict[str, int]:
    """The clauses that an audit finds broken, and how often."""
    found = audit([str(each) for each in paths], by or platform(), options).result
    return {
        address: each.failures + each.warnings
        for address, each in found.clauses.items()
        if each.failures + each.warnings
    }


def items(path: Path, by: Contract | None = None) -> list[RecordedExchange | Skipped]:
    """Everything in a recording."""
    with open_recording(str(path), by or platform()) as recording:
        return list(recording.items)


def ask(url: str) -> None:
    """Some traffic, by two clients that teams use."""
    for client in (requests, httpx):
        caller = {"Authorization": f"Bearer {TOKEN}"}
        client.get(f"{url}/orders", headers=caller)
        client.get(f"{url}/nothing")
        client.get(f"{url}/prices/tea", headers={**caller, "X-Fault": "internal_error"})
        client.post(f"{url}/orders", headers=caller, json={"password": "hunter2hunter2", "sku": 1})


@pytest.fixture(scope="module")
def schemathesis_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of one schemathesis run against the leaking service: each format, as text and
    as base64.
    """
    folder = tmp_path_factory.mktemp("schemathesis")
    found = {}
    with serving(service("leaks-stack-trace")) as url:
        for kind, options in {"text": [], "bytes": ["--report-preserve-bytes"]}.items():
            paths = {form: folder / f"{kind}.{form}" for form in ("vcr", "har", "ndjson")}
            words = [
                word
                for form, path in paths.items()
                for word in (f"--report-{form}-path", str(path))
            ]
            caller = [
                "--header",
                f"Authorization: Bearer {TOKEN}",
                "--header",
                "X-Fault: internal_error",
            ]
            chosen = [
                "--phases",
                "examples",
                "--max-examples",
                "1",
                "--include-path",
                "/prices/{sku}",
                "--seed",
                "1",
            ]
            program = [
                sys.executable,
                "-m",
                "schemathesis.cli",
                "run",
                f"{url}/openapi.json",
                "--url",
                url,
            ]
            subprocess.run(
                [*program, *words, *chosen, *caller, "--checks", "not_a_server_error", *options],
                cwd=folder,
                capture_output=True,
                timeout=120,
                check=False,
            )
            found |= {f"{kind}.{form}": path for form, path in paths.items()}
    return found


def test_what_schemathesis_recorded_is_judged(schemathesis_files: dict[str, Path]) -> None:
    """Each format, as text or base64, leads to the same findings: a crash, and its leaked trace."""
    for name, path in schemathesis_files.items():
        broken = clauses(path)
        assert set(broken) == {"leaks/stack-trace", "service/no-crash"}, name
        assert all(isinstance(each, RecordedExchange) for each in items(path)), name


@pytest.mark.parametrize("serializer", ["yaml", "json"])
@pytest.mark.parametrize(
    ("sin", "expected"), [(None, {}), ("leaks-stack-trace", {"leaks/stack-trace": 2})]
)
def test_what_vcrpy_recorded_is_judged(
    serializer: str, sin: str | None, expected: dict[str, int], tmp_path: Path
) -> None:
    """A cassette of a team's own tests: nothing of a service that behaves, its sin of one that does
    not, at the right line.
    """
    vcr = pytest.importorskip("vcr", reason="vcrpy comes with the dev extra")
    cassette = tmp_path / f"cassette.{serializer}"
    with serving(service(sin)) as url, vcr.VCR(serializer=serializer).use_cassette(str(cassette)):
        ask(url)
    crashes = {"service/no-crash": 2}  # the tests bring one about
    assert clauses(cassette) == expected | crashes
    assert [
        each.exchange.response.status
        for each in items(cassette)
        if isinstance(each, RecordedExchange)
    ] == [
        200,
        404,
        500,
        400,
    ] * 2
    for each in audit([str(cassette)], platform()).result.findings:
        assert each.count == 2
        for place in each.places:
            line = int(place.rpartition(":")[2])
            rest = cassette.read_text().splitlines()[line - 1 :]
            assert rest[0].strip() in ("- request:", "{")
            assert "prices/tea" in "\n".join(rest[:40])
    for report in reports.FORMATS.values():
        shown = report(audit([str(cassette)], platform()))
        assert "hunter2" not in shown
        assert TOKEN not in shown


def har(
    *entries: tuple[int, str, dict[str, str]], url: str = "https://api.acme.com/orders/1"
) -> str:
    """An archive of answers, each a status, a body and headers."""
    return json.dumps(
        {
            "log": {
                "version": "1.2",
                "creator": {"name": "WebInspector", "version": "537.36"},
                "pages": [],
                "entries": [
                    {
                        "startedDateTime": "2026-01-01T00:00:00Z",
                        "time": 12.5,
                        "request": {
                            "method": "GET",
                            "url": url,
                            "httpVersion": "http/2.0",
                            "headers": [{"name": ":authority", "value": "api.acme.com"}],
                            "queryString": [],
                            "cookies": [],
                        },
                        "response": {
                            "status": status,
                            "statusText": "",
                            "headers": [
                                {"name": name, "value": value} for name, value in headers.items()
                            ],
                            "cookies": [],
                            "content": {
                                "size": len(body),
                                "mimeType": "application/json",
                                "text": body,
                            },
                        },
                    }
                    for status, body, headers in entries
                ],
            }
        },
        indent=1,
    )


def envelope(number: int, code: str = "not_found", **more: object) -> str:
    """An error of the Core Platform with an id of its own."""
    own = f"01JAH8ZJ0Z8Z0N7M1X6JZ8{number:04d}"
    return json.dumps(
        {"code": code, "message": "There is no such resource", "correlation_id": own, **more}
    )


def answer(
    number: int, code: str = "not_found", status: int = 404, **headers: str
) -> tuple[int, str, dict[str, str]]:
    """An answer without mistakes, with the given changes."""
    body = envelope(number, code, details={"retryable": False})
    own = json.loads(body)["correlation_id"]
    fields = {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-correlation-id": own,
        **headers,
    }
    return status, body, {name: value for name, value in fields.items() if value}


def test_an_archive_is_judged(tmp_path: Path) -> None:
    """Findings are counted and name their first places. Entries that are not exchanges are
    noted and not judged.
    """
    path = tmp_path / "browser.har"
    wrong = answer(2, status=500)
    path.write_text(har(answer(1), wrong, (0, "", {}), answer(3, status=500), answer(4)))
    report = audit([str(path)], platform())
    (found,) = [each for each in report.result.findings if each.finding.clause == "code/status"]
    lines = path.read_text().splitlines()
    assert [lines[int(each.rpartition(":")[2]) - 1].strip() for each in found.places] == ["{", "{"]
    assert found.count == 2
    assert report.result.requests == 4
    assert any("the request got no answer" in note for note in report.result.notes)
    jsonschema.Draft202012Validator(reports.report_schema()).validate(
        json.loads(reports.FORMATS["json"](report))
    )


@pytest.mark.parametrize(("crashes", "code"), [("error", 1), ("warning", 0)])
def test_a_recorded_crash_counts_as_asked(
    tmp_path: Path, crashes: Literal["error", "warning"], code: int
) -> None:
    """A crash in the declared form fails an audit, or warns where tests bring crashes about."""
    path = tmp_path / "crash.har"
    path.write_text(har(answer(1), answer(2, "internal_error", 500)))
    report = audit([str(path)], platform(), AuditOptions(crashes=crashes))
    found = [item for item in report.result.findings if item.finding.clause == "service/no-crash"]
    assert [item.standing for item in found] == [crashes]
    assert exit_code(report.result) == code


def test_values_that_a_tool_left_out_are_not_judged(tmp_path: Path) -> None:
    """`[Filtered]` is not judged as a challenge: the service did not send it."""
    path = tmp_path / "filtered.har"
    path.write_text(
        har(
            answer(
                1,
                "unauthenticated",
                401,
                **{"www-authenticate": "[Filtered]", "cache-control": "***"},
            )
        )
    )
    assert clauses(path) == {}
    path.write_text(
        har(
            answer(
                1, "unauthenticated", 401, **{"www-authenticate": ";;", "cache-control": "public"}
            )
        )
    )
    assert set(clauses(path)) == {"headers/www-authenticate", "headers/cache-control"}


def test_an_id_that_comes_twice_is_seen_and_a_copy_is_not(tmp_path: Path) -> None:
    """Generated ids are compared within a recording; the same exchange recorded twice is one."""
    path, copy = tmp_path / "a.har", tmp_path / "b.har"
    path.write_text(har(answer(1), answer(2), answer(1)))
    copy.write_text(path.read_text())
    assert clauses(path) == {}  # to the byte the same: recorded twice
    other = (405, answer(1, "invalid_request")[1], {**answer(1)[2], "allow": "POST"})
    path.write_text(har(answer(1), other))
    assert clauses(path) == {"correlation/unique": 1}
    path.write_text(har(answer(1)))
    copy.write_text(har(other))
    assert clauses(path, copy) == {}


def test_only_the_service_that_is_meant(tmp_path: Path) -> None:
    """`base` leaves out other hosts of a browser's recording. Without it, a note counts the
    hosts.
    """
    ours, theirs = tmp_path / "ours.har", tmp_path / "theirs.har"
    ours.write_text(har(answer(1)))
    theirs.write_text(
        har((404, "<html>", {"content-type": "text/html"}), url="https://cdn.example.net/x")
    )
    assert "envelope/json" in clauses(ours, theirs)
    assert clauses(ours, theirs, options=AuditOptions(base="https://api.acme.com")) == {}
    assert any(
        "2 hosts" in each for each in audit([str(ours), str(theirs)], platform()).result.notes
    )
    assert clauses(ours, theirs, options=AuditOptions(base="https://api.acme")) == {}


@examples(300)
@given(exchange=exchanges, lacks=st.frozensets(st.sampled_from(sorted(GROUPABLE | VALUES))))
def test_what_is_lacking_only_ever_silences(exchange: Exchange, lacks: frozenset[str]) -> None:
    """Removing facts from a recording never exercises or breaks a clause that the whole
    exchange does not.
    """
    whole = judge(platform(), exchange)
    part = judge(platform(), replace(exchange, lacks=lacks))
    known = platform().clauses
    still = {each for each in whole.exercised if known[each].judgeable(lacks)}
    assert part.exercised <= still if "identity" in lacks else part.exercised == still
    assert {each.clause for each in part.findings} <= {each.clause for each in whole.findings}


KINDS = """\
    access:
      when: {/kind: access}
      method: /method
      url: /url
      route: /route
      status: /status
      milliseconds: /took
      time: /at
      service: /by
      request: {headers: /request/headers, body: /request/body}
      response: {headers: /response/headers, body: /response/body}
    slots: {when: {/kind: slots}, url: /url, status: /status, slots: {code: /code, message: /message, details: /details}}
"""


def access(
    status: int = 404, body: object = None, headers: object = None, **more: object
) -> dict[str, object]:
    """A line of an access log."""
    response: dict[str, object] = {}
    if body is not None:
        response["body"] = body
    if headers is not None:
        response["headers"] = headers
    return {
        "kind": "access",
        "method": "GET",
        "url": "/orders/1?x=1",
        "status": status,
        "response": response,
        **more,
    }


def log(path: Path, *lines: object) -> Path:
    """A log of such lines; texts stand there as they are."""
    path.write_text(
        "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines)
    )
    return path


def test_a_log_is_judged_by_what_it_contains(tmp_path: Path) -> None:
    """With headers and body, everything is judged; with a body, its contents; with a code
    alone, its status.
    """
    by, path = platform(KINDS), tmp_path / "access.ndjson"
    body = json.loads(envelope(1))
    bare: dict[str, str] = {"content-type": "application/json"}
    assert set(clauses(log(path, access(500, body, bare)), by=by)) == {
        "code/status",
        "headers/cache-control",
        "headers/x-correlation-id",
    }
    assert set(clauses(log(path, access(500, body)), by=by)) == {"code/status"}
    assert set(clauses(log(path, access(500, json.dumps(body))), by=by)) == {"code/status"}
    bare_lines = log(path, access(500), access(404), access(200, {"orders": []}))
    assert clauses(bare_lines, by=by) == {"service/no-crash": 1}
    errors = {
        "endpoint": "GET /orders",
        "http_status": 500,
        "code": "not_found",
        "correlation_id": "7",
    }
    assert set(clauses(log(path, errors), by=by)) == {"code/status", "ids/format"}
    slots = {
        "kind": "slots",
        "url": "https://api.acme.com/orders",
        "status": 404,
        "code": "not_found",
    }
    assert clauses(
        log(path, {**slots, "message": "See /etc/orders.ini", "details": {"retryable": True}}),
        by=by,
    ) == {"retriable/agrees": 1, "leaks/path": 1}
    assert clauses(log(path, {**slots, "message": "Password='hunter2hunter2'"}), by=by) == {
        "leaks/secret": 1
    }
    assert set(clauses(log(path, {**slots, "code": "lost_in_space"}), by=by)) == {"code/declared"}


def test_a_path_in_a_log_without_requests_is_a_warning(tmp_path: Path) -> None:
    """A path or an address may be that of the request; if it is not recorded, the finding warns.
    A request that is recorded, and has another path, makes it an error; its own path is silent.
    """
    by, path = platform(KINDS), tmp_path / "slots.ndjson"
    line = {"kind": "slots", "url": "/orders", "status": 404, "code": "not_found"}
    leaking = {"leaks/path": "See /etc/orders.ini", "leaks/private-address": "from 10.3.7.21:80"}
    for clause, message in leaking.items():
        result = audit([str(log(path, {**line, "message": message}))], by).result
        assert (result.clauses[clause].warnings, result.clauses[clause].failures) == (1, 0)
        (found,) = (each.finding for each in result.findings if each.finding.clause == clause)
        assert "not recorded" in found.message
    assert clauses(log(path, {**line, "message": "See the manual"}), by=by) == {}
    headers = (("Content-Type", "application/json"),)
    body = json.dumps({"code": "not_found", "message": "See /etc/orders.ini"}).encode()
    for target, level in (("/orders", {"error"}), ("/orders?of=/etc/orders.ini", set())):
        whole = Exchange(Request("GET", target), Response(404, headers, body))
        assert {
            each.level for each in judge(by, whole).findings if each.clause == "leaks/path"
        } == level


@pytest.mark.parametrize("clause", ["leaks/path", "leaks/private-address"])
def test_a_path_in_a_recording_without_requests_is_a_warning(tmp_path: Path, clause: str) -> None:
    """An archive or a cassette without the header fields of a request, and an archive that may lack
    its body, warn; with them the finding is an error. Other leaks are errors without a request.
    """
    archive, tape = tmp_path / "a.har", tmp_path / "c.json"
    message = "See /etc/orders.ini from 10.3.7.21:80, password='hunter2hunter2'"
    fields = {"content-type": "application/json", "cache-control": "no-store"}
    sent = [{"name": "accept", "value": "*/*"}]
    body = json.dumps({"code": "not_found", "message": message})
    whole = json.loads(har((404, body, fields)))

    def level(path: Path) -> str:
        clauses = audit([str(path)], platform()).result.clauses
        assert clauses["leaks/secret"].failures == 1
        return "error" if clauses[clause].failures else "warning" * clauses[clause].warnings

    for change, wanted in (
        ({"headers": sent}, "error"),
        ({"headers": []}, "warning"),
        ({"headers": None}, "warning"),
        ({"headers": sent, "method": "POST"}, "warning"),
        ({"headers": sent, "method": "POST", "bodySize": 0}, "error"),
        ({"headers": sent, "method": "POST", "postData": {"text": "{}"}}, "error"),
    ):
        entry = whole["log"]["entries"][0]
        request = {**entry["request"], **change}
        entries = [{**entry, "request": request}]
        archive.write_text(json.dumps({"log": {**whole["log"], "entries": entries}}))
        assert level(archive) == wanted, change
    for headers, wanted in (({"accept": ["*/*"]}, "error"), ({}, "warning"), (None, "warning")):
        request = {"method": "POST", "uri": "http://x/orders", "headers": headers, "body": None}
        answer = {"status": {"code": 404}, "headers": fields, "body": {"string": body}}
        taped = [{"request": request, "response": answer}]
        tape.write_text(json.dumps({"version": 1, "interactions": taped}))
        assert level(tape) == wanted, headers


def test_a_body_that_was_cut_is_not_judged(tmp_path: Path) -> None:
    """A log that keeps only the first bytes of a body does not lead to a finding about broken
    JSON.
    """
    by, path = platform(KINDS), tmp_path / "cut.ndjson"
    response = {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-correlation-id": ULID,
    }
    cut = access(404, '{"code": "not_f', {**response, "content-length": "300"})
    assert clauses(log(path, cut), by=by) == {}
    assert "envelope/json" in clauses(
        log(path, access(404, '{"code": "not_f', {**response, "content-length": "15"})), by=by
    )


def test_lines_of_a_log_surface_are_judged_as_they_are(tmp_path: Path) -> None:
    """Where the taxonomy says that errors stand in a log, the line is the error. Lines that are not
    errors, or cannot be read, are counted, with the surface and the rule.
    """
    loaded = load(str(ROOT / "examples/keenbench/taxonomy.yaml"))
    assert loaded.taxonomy is not None
    bad = {"type": "system_event", "error": {"error_code": "no_such_code", "phase": "review"}}
    other = {"type": "message", "text": "hello"}
    path = log(tmp_path / "conversation.jsonl", other, bad, other, "banner")
    report = audit([str(path)], build_contract(loaded.taxonomy))
    assert {each.places for each in report.result.findings} == {(f"{path}:2",)}
    assert "code/declared" in {each.finding.clause for each in report.result.findings}
    notes = " ".join(report.result.notes)
    which = "not an error by `error_when` of the surface `conversation`"
    assert f"skipped 2 records of {path}, the first at {path}:1: it is {which}" in notes
    assert "not JSON: Expecting value; the file is the log of `conversation`" in notes


BROKEN = ("{", "[]", "7", '{"kind": "access"', "\x00", "\ufeff", '{"a": 1}', "nonsense", '"' * 9)


def test_a_broken_line_is_reported_and_skipped(tmp_path: Path) -> None:
    """An unreadable line is counted with its number, and the lines around it are judged."""
    wrong = {"kind": "slots", "url": "/orders", "status": 500, "code": "not_found"}
    path = log(tmp_path / "torn.ndjson", wrong, *BROKEN, "", wrong)
    report = audit([str(path)], platform(KINDS))
    assert report.result.requests == 2
    (found,) = report.result.findings
    assert (found.count, found.places) == (2, (f"{path}:1", f"{path}:{len(BROKEN) + 3}"))
    assert sum(isinstance(each, Skipped) for each in items(path, platform(KINDS))) == len(BROKEN)
    assert any(f"{path}:2" in each and "not JSON" in each for each in report.result.notes)


def test_a_line_without_end_is_not_held(tmp_path: Path) -> None:
    """A line longer than any record is skipped, and the next one read."""
    path = tmp_path / "long.ndjson"
    wrong = {"kind": "slots", "url": "/orders", "status": 500, "code": "not_found"}
    path.write_text(
        '{"kind": "slots", "x": "' + "x" * (17 * 1024 * 1024) + '"}\n' + json.dumps(wrong) + "\n"
    )
    assert [type(each).__name__ for each in items(path, platform(KINDS))] == [
        "Skipped",
        "RecordedExchange",
    ]


@pytest.mark.parametrize("end", range(40, 3000, 370))
def test_a_torn_recording_is_read_as_far_as_it_goes(end: int, tmp_path: Path) -> None:
    """Wherever an archive or a cassette is cut off, the part before is judged and the rest is
    reported.
    """
    text = har(*(answer(number) for number in range(3)))
    path = tmp_path / "torn"
    path.write_text(text[:end])
    found = items(path)
    assert isinstance(found[-1], Skipped)
    assert len(found) - 1 == text[:end].count("\n   }")  # as an entry ends in this layout
    cassette = "http_interactions:\n" + "".join(
        f"- request: {{method: get, uri: 'http://x/{n}', body: {{string: ''}}, headers: {{}}}}\n"
        f"  response: {{status: {{code: 404}}, headers: {{}}, body: {{string: '{{}}'}}}}\n"
        for n in range(30)
    )
    path.write_text(cassette[:end])
    whole = [each for each in items(path) if isinstance(each, RecordedExchange)]
    assert len(whole) >= cassette[:end].count("\n- request") - 1


def test_other_dialects_of_cassettes(tmp_path: Path) -> None:
    """Ruby's VCR with its tags, compressed bodies of vcrpy, aliases, and bodies of unknown
    encodings are read.
    """
    packed = gzip.compress(envelope(1).encode())
    path = tmp_path / "cassette.yml"
    path.write_text(
        "---\nhttp_interactions:\n- request:\n    method: get\n    uri: http://x/orders/1\n    body: &none\n"
        "      encoding: US-ASCII\n      string: ''\n    headers: {}\n  response:\n    status:\n      code: 404\n"
        "      message: Not Found\n    headers: !ruby/hash:Net::HTTPHeader\n      Content-Type:\n      - application/json\n"
        "    body: *none\n  recorded_at: Thu, 01 Jan 2026 00:00:00 GMT\nrecorded_with: VCR 6.1.0\n"
    )
    (found,) = items(path)
    assert isinstance(found, RecordedExchange)
    assert found.exchange.request.method == "GET"
    import base64

    for coding, body, kept in (
        ("gzip", packed, envelope(1).encode()),
        ("br", b"\xce\xff\x00", b""),
        ("gzip", b"{}", b"{}"),
    ):
        path.write_text(
            f"interactions:\n- request: {{method: GET, uri: 'http://x/o', body: null, headers: {{}}}}\n  response:\n"
            f"    body: {{string: !!binary {base64.b64encode(body).decode()}}}\n"
            f"    headers: {{Content-Encoding: [{coding}]}}\n    status: {{code: 404, message: x}}\n"
        )
        (found,) = items(path)
        assert isinstance(found, RecordedExchange)
        assert found.exchange.response.body == kept
        assert ("body" in found.exchange.lacks) == (kept == b"")
        assert (found.exchange.response.cut is not None) == (kept == b"")


def test_errors_that_cannot_be_decoded_do_not_pass() -> None:
    """An audit that could not read the body of an error could not run; of a success it need not."""
    for status, unread in ((200, 0), (500, 1)):
        accumulator = Accumulator(platform())
        response = Response(status, cut="cannot be decoded")
        accumulator.add(Exchange(Request("GET", "/x"), response, lacks=ABOUT_BODY))
        assert len(accumulator.result("a.har").not_run) == unread


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"log": {"version": "1.2", "entries": []}}', "har"),
        (b'\xef\xbb\xbf{"log":{"creator":{}}}', "har"),
        (b'{"log": {"level": "info"}, "http": {}}\n', "ndjson"),
        (b'{"version": 1, "interactions": []}', "vcr"),
        (b'{"interactions": []}', "vcr"),
        (b'{"version": 1, "url": "/"}\n', "ndjson"),
        (b"interactions:\n- request:", "vcr"),
        (b"command: 'st run'\nhttp_interactions:\n", "vcr"),
        (b'127.0.0.1 - - [01/Jan/2026] "GET /" 200', None),
        (b"", None),
        (b'Jan 01 server started\n{"a": 1}\n', "ndjson"),
        (b'\x00\x00\n\xff\xfe\xfd\n{"a": 1}\n', "ndjson"),
        (b'[ {"a": 1}, {"a": 2}]', "ndjson"),
        (b'[\n{"a": 1},\n{"a": 2}]'[:5], None),
        (b"{ this is a template }\n{% and so is this %}\n"[2:], None),
    ],
)
def test_the_format_is_detected_by_content(head: bytes, expected: str | None) -> None:
    """The content decides the format, not the file name. One line with a record makes a log."""
    for name in ("a.har", "a.yaml", "a", "a.txt.gz"):
        assert detect_format(head, name) == expected


@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl", "a.log", "a.LOG.gz".lower()])
def test_what_is_called_a_log_is_one_where_its_content_does_not_tell(name: str) -> None:
    """The name of a log decides if no line of the head is a record; a recognizable content
    decides first.
    """
    assert detect_format(b"Jan 01 server started\n" * 9, name) == "ndjson"
    assert detect_format(b"interactions:\n- request:", name) == "vcr"


@pytest.mark.parametrize(
    "first", [b"Jan 01 server started", b"\x00\x00\x00", b"\xff\xfe\xfd", b"", b"\xef\xbb\xbf"]
)
def test_a_bad_line_costs_itself_alone(tmp_path: Path, first: bytes) -> None:
    """A bad line affects no other line, anywhere in a log and under any file name."""
    plain = log(
        tmp_path / "a.ndjson", {"endpoint": "GET /orders", "http_status": 500, "code": "not_found"}
    )
    good = plain.read_bytes().splitlines()
    for index in range(len(good) + 1):
        path = tmp_path / "b"
        path.write_bytes(b"\n".join([*good[:index], first, *good[index:], b""]))
        assert clauses(path) == clauses(plain)


def test_a_device_is_refused_before_it_is_opened() -> None:
    """Reading it may never end."""
    with pytest.raises(OSError, match="device"), open_recording("/dev/zero", platform()):
        pass


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["har", "json", "yaml", "log.gz"])
def test_what_breaks_off_was_not_read(tmp_path: Path, form: str, packed: bool) -> None:
    """An archive, a cassette or a compressed file that is cut off could not be read, and its
    first part is judged. A cut log is complete except for its last line.
    """
    one = {"request": {"method": "GET", "uri": "http://x/o", "body": None, "headers": {}}}
    response = {
        "status": {"code": 500, "message": "x"},
        "headers": {"Content-Type": ["application/json"]},
    }
    body = json.dumps({"code": "not_found", "message": "m", "correlation_id": "x"})
    interaction = {**one, "response": {**response, "body": {"string": body}}}
    records = [{"endpoint": "GET /orders", "http_status": 500, "code": "not_found"}] * 9
    whole = {
        "har": har(*(answer(number, status=500) for number in range(9))),
        "json": json.dumps({"version": 1, "interactions": [interaction] * 9}, indent=1),
        "yaml": yaml.safe_dump(
            json.loads(json.dumps({"interactions": [interaction] * 9})), default_flow_style=False
        ),
        "log.gz": "".join(json.dumps(each) + "\n" for each in records),
    }[form]
    packed = packed or form.endswith(".gz")
    path = tmp_path / f"a.{form}"

    def judged(text: bytes) -> Report:
        path.write_bytes(text)
        return audit([str(path)], platform())

    data = gzip.compress(whole.encode()) if packed else whole.encode()
    assert judged(data).result.not_run == ()
    everything = judged(data).result.requests
    assert everything == 9
    cuts = [int(len(data) * share) for share in (0.5, 0.8, 0.95)]
    # YAML that is cut within a text is YAML; a cut between the members of an interaction can be
    # detected.
    cuts = (
        [data.rindex(b"  response:", 0, each) for each in cuts]
        if (form, packed) == ("yaml", False)
        else cuts
    )
    read = []
    for cut in cuts:
        result = judged(data[:cut]).result
        assert len(result.not_run) == 1
        assert str(path) in result.not_run[0]
        assert exit_code(replace(result, clauses={}, failures=())) == 2
        read.append(result.requests)
    assert read == sorted(read)
    assert packed or 0 < read[-1] < everything  # what was compressed well is of one piece


def test_compressed_files_are_read(tmp_path: Path) -> None:
    """Logs compressed with gzip are read. A truncated one is read as far as possible, or
    reported.
    """
    plain = log(
        tmp_path / "a.ndjson", {"endpoint": "GET /orders", "http_status": 500, "code": "not_found"}
    )
    packed = tmp_path / "a.ndjson.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes() * 1000))
    assert clauses(packed)["code/status"] == 1000
    packed.write_bytes(packed.read_bytes()[:-20])
    report = audit([str(packed)], platform())
    assert report.result.not_run


@pytest.mark.parametrize(
    "lacks", [frozenset({each}) for each in sorted({"request", "body", "message", "elapsed"})]
)
def test_what_records_do_not_say_is_the_reason_why_nothing_was_judged(
    lacks: frozenset[str],
) -> None:
    """A clause names the facts that the records of all errors lack. With one complete error, or
    none, the reason is the missing occasion. A judgeable clause names no facts.
    """
    taxonomy = platform()
    body = json.dumps({"code": "not_found", "message": "Not here", "correlation_id": "x"}).encode()
    headers = (("Content-Type", "application/json"),)
    exchange = Exchange(
        Request("GET", "/orders/1"), Response(404, headers, body), lacks=ALWAYS | lacks
    )

    def reasons(*seen: Exchange) -> dict[str, str]:
        tally = Accumulator(taxonomy)
        for each in seen:
            tally.add(each)
        result = tally.result("t")
        return {
            address: each.reason
            for address, each in result.clauses.items()
            if each.verdict == "not_exercised"
        }

    for address, reason in reasons(exchange, exchange).items():
        clause = taxonomy.clauses[address]
        is_left_out = reason.startswith("the records of 2 observed errors leave out ")
        assert is_left_out != clause.judgeable(exchange.lacks), reason
        assert is_left_out or reason.startswith(
            "no observed exchange allowed the suite to check it; needed: "
        )
        assert clause.occasion in reason
    if lacks == {"request"}:
        sentence = "the record of the one observed error leaves out the request"
        assert reasons(exchange)["leaks/canary"].startswith(sentence)
    whole = replace(exchange, lacks=frozenset())
    for seen in ((), (exchange, whole), (replace(exchange, response=Response(200)),)):
        assert all(
            each.startswith("no observed exchange allowed the suite to check it; needed: ")
            for each in reasons(*seen).values()
        )


SECRETS = {
    "header": "tok_8fK2mQ9xLw4RzT7b",
    "cookie": "c00k1e-9f8d7c6b5a4e",
    "password": "correct-horse-battery",
    "query": "qk-5a4e9f8d7c6b",
    "url": "hunter2",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r",
    "email": "jane.doe@customer.com",
    "set": "sess-77aa66bb55cc",
}


def test_no_secret_of_a_recording_is_shown(tmp_path: Path) -> None:
    """A value of a recording that looks like a secret, by its place, name or form, is in no
    report.
    """
    line = access(
        500,
        {
            "code": "not_found",
            "message": f"{SECRETS['email']} used {SECRETS['jwt']}",
            "correlation_id": "x",
        },
        {"Set-Cookie": f"sid={SECRETS['set']}; Path=/"},
        request={
            "headers": {
                "Authorization": f"Bearer {SECRETS['header']}",
                "Cookie": f"sid={SECRETS['cookie']}",
            },
            "body": {"user": "jane", "password": SECRETS["password"]},
        },
    )
    line["url"] = f"https://admin:{SECRETS['url']}@api.acme.com/orders?api_key={SECRETS['query']}"
    path = log(tmp_path / "secrets.ndjson", line)
    report = audit([str(path)], platform(KINDS))
    assert len(report.result.findings) >= 4
    for name, shown in ((name, form(report)) for name, form in reports.FORMATS.items()):
        assert [kind for kind, value in SECRETS.items() if value in shown] == [], name


def test_no_name_of_a_recording_shows_a_secret(tmp_path: Path) -> None:
    """A token as a service, a route, a host or the user of an address is in no report."""
    token, user = "ghp_0123456789abcdefghijABCDEFGHIJ456789", "Hunter82pass"
    body = {"code": "not_found", "message": "No", "correlation_id": "x"}
    lines = [
        access(500, body, at="2026-11-01T10:00:00Z") | {"url": "https://a.example/x"} | own
        for own in (
            {"by": token},
            {"route": f"/o/{token}"},
            {"url": f"https://{token}.example/orders"},
            {"url": f"https://{user}@a.example/orders"},
        )
    ]
    report = audit([str(log(tmp_path / "names.ndjson", *lines))], platform(KINDS))
    assert report.result.findings
    for name, shown in ((name, form(report)) for name, form in reports.FORMATS.items()):
        assert token not in shown, name
        assert user not in shown, name


def test_the_command(tmp_path: Path) -> None:
    """0: nothing is wrong. 1: something is. 2: nothing is, and a file could not be read; or nothing
    was there to judge.
    """
    good, bad, none = tmp_path / "good.har", tmp_path / "bad.har", tmp_path / "none.txt"
    good.write_text(har(answer(1)))
    bad.write_text(har(answer(1, status=500)))
    none.write_text("127.0.0.1 GET /")
    assert faultspec("audit", str(good)).returncode == 0
    done = faultspec(
        "audit", str(good), str(bad), "--report", f"junit={tmp_path / 'x.xml'}", "--format", "json"
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["findings"][0]["places"] == [f"{bad}:10"]
    assert f"{bad}:10" in (tmp_path / "x.xml").read_text()
    done = faultspec("audit", str(good), str(none), str(tmp_path / "missing"))
    assert done.returncode == 2
    assert "none of HAR" in done.stdout
    assert "No such file" in done.stdout
    assert faultspec("audit", str(bad), str(none)).returncode == 1
    assert faultspec("audit", str(log(tmp_path / "empty.ndjson", {"a": 1}))).returncode == 2
    waiver = tmp_path / "waivers.yaml"
    waiver.write_text("- {clause: code/status, reason: known, owner: us, expires: 2999-01-01}\n")
    assert faultspec("audit", str(bad), "--waivers", str(waiver)).returncode == 0
    assert faultspec("audit", str(good), "--waivers", str(waiver)).returncode == 1
    document = tmp_path / "openapi.json"
    document.write_text(
        json.dumps({"openapi": "3.1.0", "paths": {"/orders/{id}": {"get": {"responses": {}}}}})
    )
    done = faultspec("audit", str(bad), "--openapi", str(document), "--format", "json")
    assert json.loads(done.stdout)["findings"][0]["operation"] == "GET /orders/{id}"


@pytest.mark.full
def test_the_command_with_bad_options(tmp_path: Path) -> None:
    """Invalid options exit with 2, and `--only` leaves out other clauses."""
    bad, none = tmp_path / "bad.har", tmp_path / "none.txt"
    bad.write_text(har(answer(1, status=500)))
    none.write_text("127.0.0.1 GET /")
    assert faultspec("audit").returncode == 2
    assert faultspec("audit", str(bad), "--format", "xml").returncode == 2
    assert faultspec("audit", str(bad), "--only", "nothing/*").returncode == 2
    assert faultspec("audit", str(bad), "--taxonomy", str(none)).returncode == 2
    assert faultspec("audit", str(bad), "--only", "leaks/*").returncode == 0


@pytest.mark.full
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """Three times the lines, the same memory: findings, ids and skipped lines are all bounded."""

    def peak(lines: int) -> int:
        path = tmp_path / "long.ndjson"
        with path.open("w") as out:
            for number in range(lines):
                body = {**json.loads(envelope(number)), f"extra{number}": number}
                out.write(
                    json.dumps(access(404 + number % 90, body, {"x-correlation-id": str(number)}))
                    + "\n"
                )
                out.write(f"broken {number}\n" if number % 100 == 0 else "")
        tracemalloc.start()
        audit([str(path)], platform(KINDS))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    short, long = peak(2_500), peak(7_500)
    assert long < short * 1.15 + 1_000_000


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@examples(300)
@given(
    before=JSON_VALUES,
    values=st.lists(JSON_VALUES, max_size=4),
    indent=st.sampled_from([None, 1]),
    is_escaped=st.booleans(),
    cut=st.integers(0, 60),
    step=st.integers(1, 9),
)
def test_items_are_the_same_in_any_steps(
    before: object,
    values: list[object],
    *,
    indent: int | None,
    is_escaped: bool,
    cut: int,
    step: int,
) -> None:
    """However few bytes are read at once, the items of a JSON list are the same, with their lines
    and the place of a mistake, and so they are of a text that is cut or goes wrong.
    """
    document = {"pages": before, "entries": values}
    text = json.dumps(document, indent=indent, ensure_ascii=is_escaped)
    content = text.encode("utf-8", "replace")
    if cut < 50:
        content = content[: max(0, len(content) - cut)] + b"}" * (cut % 3)

    def read(chunk: int) -> str:
        with mock.patch.object(listed, "_CHUNK", chunk), mock.patch.object(listed, "_STEP", chunk):
            return repr([*listed.json_items(io.BytesIO(content), ("entries", "other"))])

    assert read(step) == read(2**20)


@pytest.mark.full
@pytest.mark.parametrize("form", ["har", "json"])
def test_memory_does_not_grow_with_a_recording_in_json(tmp_path: Path, form: str) -> None:
    """Three times the records of a HAR or a JSON cassette, the same memory."""
    request = {"method": "GET", "url": "http://service/", "uri": "http://service/"}
    answer = {"status": 404, "content": {"text": "x" * 20_000}, "body": "x" * 20_000}
    record = json.dumps({"request": request, "response": answer})
    begin, end = {"har": ('{"log": {"entries": [', "]}}"), "json": ('{"interactions": [', "]}")}[
        form
    ]
    path = tmp_path / f"long.{form}"

    def peak(records: int) -> int:
        path.write_text(begin + ",\n".join([record] * records) + end)
        tracemalloc.start()
        audit([str(path)], platform(KINDS))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    short, long = peak(150), peak(450)
    assert long < short * 1.15 + 1_000_000


def test_recent_ids_take_little_memory_each() -> None:
    """Long headers, bodies and targets are not kept with an id, nor are findings; a shortened
    exchange is shortened no further, so that it can be compared.
    """
    recent = memory.RecentIds(lambda line: pytest.fail(f"no line is kept: {line!r}"))
    for number in range(200):
        long = (("X-Long", str(number) * 300_000), ("X-Short", "1"))
        seen = Exchange(Request("GET", "/" + "x" * 9_999), Response(404, long, b"y " * 9_999))
        finding = Finding("correlation/echo", "no", evidence=(seen,))
        recent[str(number)] = Observation(seen, Judgement((finding,), frozenset()))
    kept = recent["199"].exchange
    assert kept.response.headers == (("X-Short", "1"),)
    assert len(kept.request.target) + len(kept.response.body) <= 2 * 1024
    assert memory.shorten_exchange(kept) == kept
    assert memory.same_exchange((kept, seen))
    assert not any(each.judgement.findings for each in recent.values())


@pytest.mark.parametrize(("ids", "forgets"), [(3, False), (4, True)])
def test_a_window_that_forgot_ids_says_so(
    monkeypatch: pytest.MonkeyPatch, ids: int, *, forgets: bool
) -> None:
    """A pass of `correlation/unique` says with how many ids each was compared, once ids had to be
    forgotten. An id that came before the window is a new one.
    """
    monkeypatch.setattr(memory, "RECENT", 3)
    tally = Accumulator(platform())
    for number in (*range(ids), 0):
        body, headers = answer(number)[1:]
        other = body.replace("There is", f"There {number} is")
        fields = (*headers.items(), ("x-request", str(len(tally.result("t").notes))))
        tally.add(Exchange(Request("GET", f"/{number}"), Response(404, fields, other.encode())))
    notes = [note for note in tally.result("t").notes if "correlation/unique" in note]
    assert len(notes) == forgets
    assert all("the last 10,000 different ones" in note for note in notes)


def test_a_log_of_which_most_lines_cannot_be_read_is_not_passed(tmp_path: Path) -> None:
    """It could not run, with its findings or without, and says how many lines; half of them may be
    unreadable, and lines of other kinds are read.
    """
    sound = {"endpoint": "GET /orders", "http_status": 404, "code": "not_found"}
    for lines, unread, code in (
        ((sound, "x", "y"), 1, 2),
        (({**sound, "http_status": 400}, "x", "y"), 1, 1),
        ((sound, sound, "x", "y"), 0, 0),
        ((sound, {"a": 1}, {"a": 2}, {"a": 3}), 0, 0),
    ):
        result = audit([str(log(tmp_path / "a.ndjson", *lines))], platform()).result
        assert [line for line in result.not_run if "2 of its 3 records" in line] == [
            *result.not_run
        ]
        assert (len(result.not_run), exit_code(result)) == (unread, code)


@pytest.mark.parametrize("form", ["har", "yaml", "json"])
def test_a_recording_that_unpacks_to_very_much_is_refused(tmp_path: Path, form: str) -> None:
    """A compressed recording whose text is held as a whole has a bound, and the bound is named."""
    begin = {
        "har": b'{"log": {"entries": [',
        "yaml": b"interactions:\n- request: {method: GET, uri: '",
        "json": b'{"interactions": [',
    }[form]
    path = tmp_path / f"a.{form}.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    blank = packer.compress(begin) + b"".join(packer.compress(b" " * 2**20) for _ in range(150))
    path.write_bytes(blank + packer.flush())
    [problem] = audit([str(path)], platform()).result.not_run
    whole = "it has more than 134217728 bytes; decompress the file first"
    assert (whole if form != "yaml" else "a text takes more than 40 MiB of memory") in problem


def cassette(*interactions: str) -> str:
    """A cassette of interactions, with one more that holds the contract."""
    return "version: 1\ninteractions:\n" + "".join(
        f"- {each}\n" for each in (*interactions, interaction())
    )


def interaction(headers: str = "{}", body: str = "{string: '{}'}") -> str:
    """An interaction in YAML, in one line."""
    return (
        f"{{request: {{method: GET, uri: 'http://x/y', headers: {headers}}}, "
        f"response: {{status: {{code: 400}}, headers: {{}}, body: {body}}}}}"
    )


def doubling(levels: int, item: str = "[*{0}, *{0}]") -> str:
    """A mapping in YAML whose values refer twice to the one before."""
    steps = [f"a{step}: &a{step} {item.format(f'a{step - 1}')}" for step in range(1, levels)]
    return "{a0: &a0 {x: y}, " + ", ".join(steps) + "}"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (interaction(body=doubling(20)), "more than 500,000 keys and values"),
        (interaction(body=doubling(20, "{{<<: [*{0}, *{0}]}}")), "more than 500,000 keys"),
        (interaction(body=doubling(120, "[*{0}]")), "nested deeper than 100 levels"),
        (interaction(body="&a [1, *a]"), "contains itself by an alias"),
        (interaction(headers="&h {x: {y: *h}}"), "contains itself by an alias"),
        (interaction(body="[" * 300 + "]" * 300), "nested deeper than 100 levels"),
        (interaction(body="{? !!binary aGVsbG8= : 1}"), "cannot be read"),
        (interaction(body="{a: !!binary aGVsbG8=}"), "cannot be read"),
        (interaction(body="{a: !!set {x, y}}"), "cannot be read"),
        (interaction(body="{? [1, 2] : 3}"), "cannot be read"),
        (interaction(body="!!int ''"), "cannot be read"),
        (interaction(body="!!bool x"), "cannot be read"),
    ],
)
def test_a_hostile_record_of_a_cassette_costs_itself_alone(
    tmp_path: Path, bad: str, reason: str
) -> None:
    """Aliases that multiply, circles, nesting and values that JSON lacks are named and skipped; the
    record after them is judged.
    """
    path = tmp_path / "c.yaml"
    path.write_text(cassette(bad))
    skipped, read_item = items(path)
    assert isinstance(skipped, Skipped)
    assert reason in skipped.reason
    assert skipped.place.endswith(":3")
    assert not skipped.ends
    assert isinstance(read_item, RecordedExchange)


def test_an_alias_to_a_record_that_was_skipped_costs_itself_alone(tmp_path: Path) -> None:
    """A node that was left because of its depth may refer to itself."""
    path = tmp_path / "c.yaml"
    bad = interaction(body="&a [*a, " + "[" * 300 + "]" * 300 + "]")
    path.write_text(cassette(bad, interaction(body="*a")))
    assert [isinstance(item, RecordedExchange) for item in items(path)] == [False, False, True]


@pytest.mark.parametrize("number", ["9" * 6000, "0x" + "F" * 6000, "1" + ":59" * 6000, "0b1" * 90])
def test_a_number_of_very_many_digits_is_text(tmp_path: Path, number: str) -> None:
    """It is kept as it is written, in headers and in bodies: Python refuses to print it."""
    path = tmp_path / "c.yaml"
    path.write_text(cassette(interaction(headers=f"{{x: {number}}}", body=f"{{a: {number}}}")))
    first, _ = items(path)
    assert isinstance(first, RecordedExchange)
    assert first.exchange.request.headers == (("x", number),)
    assert json.loads(first.exchange.response.body) == {"a": number}


def test_what_aliases_repeat_is_bounded_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small records that all repeat one large value are read up to the bound, texts included."""
    monkeypatch.setattr("faultspec_conformance.observed.formats.items.MAX_NODES", 1000)
    for value in (f"[{'x, ' * 300}x]", "x" * listed._NODE_BYTES * 300):
        path = tmp_path / "c.yaml"
        path.write_text(cassette(interaction(body=f"&a {value}"), *[interaction(body="*a")] * 9))
        found = [isinstance(item, RecordedExchange) for item in items(path)]
        assert found == [True] * 4 + [False] * 6 + [True]
    path.write_text(cassette(interaction(body=f"[{'x, ' * 1000}x]")))
    skipped, _ = items(path)
    assert isinstance(skipped, Skipped)
    assert "keys and values" in skipped.reason


def archive(*entries: str) -> str:
    """An HTTP Archive of entries, with one before them that holds the contract."""
    good = {"request": {"method": "GET", "url": "http://x/y"}, "response": {"status": 400}}
    return '{"log": {"entries": [' + ", ".join((json.dumps(good), *entries)) + "]}}"


MANY = "{}, " * 600_000 + "{}"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.har", archive(f"[{MANY}]"), "more than 500,000 keys and values"),
        ("a.har", archive(f'{{"x": [{MANY}'), "more than 500,000 keys and values"),
        ("a.ndjson", f'{{"x": [{MANY}]}}\n', "more than 500,000 keys and values"),
        ("c.yaml", cassette("[" * 5000), "nested deeper than 1,000 levels"),
        ("c.yaml", "[" * 5000 + "\n" + cassette(), "nested deeper than 1,000 levels"),
        ("c.yaml", "".join(f"%TAG !a{n}! x\n" for n in range(2000)) + cassette(), "directives"),
    ],
)
def test_a_record_beyond_a_bound_is_not_decoded(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    """Memory and time of a record are bounded, whatever its values are: it is named, not read."""
    path = tmp_path / name
    path.write_text(text)
    *_, skipped = items(path)
    assert isinstance(skipped, Skipped)
    assert reason in skipped.reason


@pytest.mark.parametrize("body", ["," * 600_000, '"[' * 300_000, "\\" * 600_000])
def test_signs_within_a_text_do_not_count(tmp_path: Path, body: str) -> None:
    """A body of any signs is one value."""
    entry = {"request": {"method": "GET", "url": "http://x/y"}, "response": {"status": 400}}
    entry["response"]["content"] = {"text": body}
    path = tmp_path / "a.har"
    path.write_text(archive(json.dumps(entry), json.dumps(entry)))
    found = items(path)
    assert [isinstance(item, RecordedExchange) for item in found] == [True, True, True]
    assert found[-1].exchange.response.body == body.encode()


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize(
    ("letters", "last", "fits"),
    [
        *((6, "a", True), (9, "a", False), (6, "é", True), (3, "中", True), (6, "中", False)),
        *((1, "\U0001f600", True), (3, "\U0001f600", False), (6, r"\u4e2d", False)),
    ],
)
def test_a_record_is_bounded_by_the_memory_that_it_takes(
    form: str, letters: int, last: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One character beyond the others makes Python take twice or four times as much for each."""
    monkeypatch.setattr(listed, "_LONGEST", 8 * 1024**2)
    monkeypatch.setattr(listed, "_NODE_BYTES", 8 * 1024**2 // MAX_NODES)
    text = "a" * (letters * 1_000_000) + last
    stream = io.BytesIO(f'{{"entries": ["{text}", "b"]}}'.encode())
    read = listed.json_items(stream, ["entries"]) if form == "json" else None
    found = list(read if read is not None else listed.yaml_items(stream, "entries"))
    assert (found[0].problem is None) == fits
    assert (
        fits or "of memory" in str(found[0].problem) or "keys and values" in str(found[0].problem)
    )
    assert not fits or found[-1].value == "b"


@pytest.mark.parametrize("media_type", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_the_parameters_of_a_form_are_masked_like_its_text(tmp_path: Path, media_type: str) -> None:
    """An archive may have the parameters of a form without its text. The answer repeats one."""
    status, body, headers = answer(1, status=500)
    archive = json.loads(har((status, body.replace("such", "hunter2XYZ"), headers)))
    (entry,) = archive["log"]["entries"]
    pairs = [{"name": "user", "value": "bob"}, {"name": "user[password]", "value": "hunter2XYZ"}]
    entry["request"] |= {"method": "POST", "postData": {"mimeType": media_type, "params": pairs}}
    path = tmp_path / "form.har"
    path.write_text(json.dumps(archive))
    report = audit([str(path)], platform())
    assert report.result.findings
    assert not [name for name, write in reports.FORMATS.items() if "hunter2" in write(report)]
