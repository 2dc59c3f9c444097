"""Laws of the fault server: it sends what the taxonomy declares, when the script or the request
asks for it.
"""

import asyncio
import doctest
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec import language
from faultspec.cli import main
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language.model import Code, Operation, Surface, Taxonomy
from faultspec.openapi import service as openapi
from faultspec.openapi.text import parse_leniently
from faultspec.runtime import ids
from faultspec_conformance.drivers.serving import KEPT_BYTES, serving
from faultspec_conformance.faults.replies import Unanswerable, render_failure
from faultspec_conformance.faults.script import (
    Fault,
    Schedule,
    Script,
    ScriptProgress,
    check_fault,
    parse_fault,
)
from faultspec_conformance.faults.server import FaultServer, Message, Served
from paths import ROOT

TAXONOMIES = ("", "aileron", "alknet", "keenbench", "kinto", "theodosia")


def taxonomy(system: str) -> Taxonomy:
    """The taxonomy of a system; the Core Platform's where none is named."""
    loaded = language.load(
        str(ROOT / "examples" / system / "taxonomy.yaml" if system else ROOT / "taxonomy.yaml")
    )
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def server(contract: Contract, *faults: Fault, **rest: Any) -> FaultServer:
    """A fault server that was never started."""
    return FaultServer(contract, Schedule(Script(faults, **rest), Random(0)))


def on(surface: Surface, operation: Operation | None = None) -> Request:
    """A request that the surface claims, and the operation, if one is given."""
    method, _, path = (surface.match.routes or ("POST /things",))[0].rpartition(" ")
    body = (
        {pointer[1:]: values[0] for pointer, values in operation.match.request.items()}
        if operation
        else {}
    )
    path = path.replace("**", "things").replace("*", "things")
    return Request(
        method or "POST", path, (("Authorization", "Bearer t"),), json.dumps(body).encode()
    )


def travelling(taxonomy: Taxonomy) -> Iterator[tuple[Surface, Operation | None, Code]]:
    """Every live code with every HTTP surface that may send it, by the declarations alone."""
    for surface in taxonomy.surfaces.values():
        if (
            surface.transport != "http"
            or surface.foreign
            or surface.batch is not None
            or not surface.envelopes
        ):
            continue
        for code in taxonomy.shared_live_codes():
            if code.http.statuses and (surface.codes is None or code.name in surface.codes):
                yield surface, None, code
        for operation in taxonomy.operations.values():
            for code in operation.errors.values():
                if code.live and code.http.statuses:
                    yield surface, operation, code


@pytest.mark.parametrize("system", TAXONOMIES)
def test_whatever_is_served_obeys_the_taxonomy(system: str) -> None:
    """Each live code, under each of its statuses, on each HTTP surface that sends it, is judged
    without a finding.
    """
    rules = build_contract(taxonomy(system))
    seen = 0
    for surface, operation, code in travelling(rules.taxonomy):
        asked = on(surface, operation)
        conditional = bool(
            code.http.rules
        )  # who asks decides on the status, and this caller is known
        for status in (None, *code.http.allowed_statuses()):
            if conditional and status is not None:
                continue
            served = server(rules, Fault(code.name, status)).answer(asked)
            asked_for = frozenset({"service/no-crash"})
            exchange = Exchange(asked, served.response, identity="caller", lacks=asked_for)
            judgement = judge(rules, exchange)
            assert judgement.findings == (), (
                surface.name,
                code.name,
                status,
                judgement.findings[0].message,
            )
            assert judgement.is_error
            assert (judgement.surface, judgement.code) == (surface.name, code.name)
            assert status is None or served.response.status == status
            seen += 1
    over_http = any(each.transport == "http" for each in rules.taxonomy.surfaces.values())
    assert bool(seen) == over_http


@pytest.mark.parametrize("system", TAXONOMIES)
def test_a_good_answer_is_not_an_error(system: str) -> None:
    """A success has no findings, whatever the request is."""
    rules = build_contract(taxonomy(system))
    for surface in rules.taxonomy.surfaces.values():
        if surface.transport != "http":  # `test_fault_calls` has the law of calls by name
            continue
        for method in ("GET", "POST", "DELETE"):
            asked = Request(method, on(surface).target)
            exchange = Exchange(asked, server(rules).answer(asked).response)
            judgement = judge(rules, exchange)
            assert not judgement.is_error
            assert judgement.findings == ()


def test_the_caller_decides_where_a_condition_asks_for_them() -> None:
    """alknet's FORBIDDEN is 401 to a caller without credentials and 403 to one with."""
    rules = build_contract(taxonomy("alknet"))
    fault = server(rules, Fault("FORBIDDEN"))
    assert fault.answer(Request("POST", "/call")).response.status == 401
    assert (
        fault.answer(Request("POST", "/call", (("Authorization", "Bearer t"),))).response.status
        == 403
    )


@pytest.mark.parametrize(
    ("system", "code", "request_", "where"),
    [
        ("aileron", "network_error", Request("GET", "/v1/intents"), "POST /v1/chat/completions"),
        ("alknet", "FILE_NOT_FOUND", Request("POST", "/call"), "the operation fs/readFile"),
    ],
)
def test_what_does_not_travel_here_is_refused(
    system: str, code: str, request_: Request, where: str
) -> None:
    """The server never sends an error where the taxonomy has none; it says where it travels
    instead.
    """
    served = server(build_contract(taxonomy(system)), Fault(code)).answer(request_)
    assert served.response.status == 501
    assert where in served.response.body.decode()


def test_ids_come_back_and_are_new_otherwise() -> None:
    """A well-formed correlation id is echoed in body and header; a malformed one, or none, is
    replaced by a new one.
    """
    rules = build_contract(taxonomy(""))
    fault = server(rules, Fault("timeout"))
    sent = ids.new("uuid7")
    seen = set()
    for value in (sent, None, "", "no-id", None):
        headers = () if value is None else (("X-Correlation-Id", value),)
        response = fault.answer(Request("GET", "/orders", headers)).response
        body = json.loads(response.body)["correlation_id"]
        assert dict(response.headers)["X-Correlation-Id"] == body
        assert (body == sent) == (value == sent)
        seen.add(body)
    assert len(seen) == 5


def test_a_stale_write_has_a_newer_validator() -> None:
    """Each refusal of a stale write names another entity tag, in header and details, and a read
    then has the same.
    """
    fault = server(build_contract(taxonomy("")), Fault("stale_read"), times=2)
    tags = [
        dict(fault.answer(Request("PUT", "/orders/1")).response.headers)["ETag"] for _ in range(2)
    ]
    read = fault.answer(Request("GET", "/orders/1")).response
    assert tags[0] != tags[1] == dict(read.headers)["ETag"]


def test_a_request_may_ask_by_header_query_or_path() -> None:
    """All three say the same, and none of them takes a turn of the script."""
    fault = server(build_contract(taxonomy("")), Fault("not_found"), after=1)
    asked = "dependency_unavailable,status=502,retry-after=7"
    ways = (
        Request("GET", "/orders", (("x-fault", asked),)),
        Request("GET", f"/orders?a=b&x-fault={asked}"),
        Request("GET", f"/~{asked}/orders"),
    )
    for each in ways:
        response = fault.answer(each).response
        assert response.status == 502
        assert dict(response.headers)["Retry-After"] == "7"
    assert [fault.answer(Request("GET", "/orders")).response.status for _ in range(2)] == [200, 404]
    refused = fault.answer(Request("GET", "/orders", (("X-Fault", "timeuot"),))).response
    assert refused.status == 501
    assert "did you mean `timeout`?" in refused.body.decode()


@given(
    st.lists(st.sampled_from("abc"), max_size=3),
    st.integers(0, 4),
    st.none() | st.integers(1, 3),
    st.integers(0, 30),
)
def test_a_script_is_played_as_written(
    codes: list[str], after: int, times: int | None, requests: int
) -> None:
    """First the good answers, then each fault in a row, then good answers, or the last fault for
    ever.
    """
    turns = ScriptProgress(Script(tuple(map(Fault, codes)), after, times), Random(0))
    played = [turns.next() for _ in range(requests)]
    due = [Fault(code) for code in codes for _ in range(times or 1)]
    then = Fault(codes[-1]) if codes and times is None else None
    assert played == ([None] * after + due + [then] * requests)[:requests]


@given(st.floats(0, 1), st.integers(0, 5))
def test_chance_is_the_seed(probability: float, seed: int) -> None:
    """With the same seed the same requests fail; never with probability 0, always with 1; none of
    the faults is skipped.
    """
    script = Script((Fault("a"), Fault("b")), times=3, probability=probability)
    one, two = (
        [turns.next() for turns in [ScriptProgress(script, Random(seed))] for _ in range(40)]
        for _ in range(2)
    )
    assert one == two
    assert [each for each in one if each is not None] == list(script.due_faults())[
        : sum(each is not None for each in one)
    ]
    if probability in (0, 1):
        assert sum(each is not None for each in one) == 6 * probability


@given(st.text("abc_,=- 0123459\nstatusretry-after"))
def test_any_text_is_a_fault_or_a_sentence(text: str) -> None:
    """Any text is a fault, known or unknown, or is refused with a sentence."""
    with suppress(ValueError):
        assert check_fault(parse_fault(text), taxonomy_once()) is not None


@pytest.mark.parametrize(
    "text", ["timeout,", "timeout,504", "timeout,status=200", "timeout,retry-after=soon"]
)
def test_a_text_that_is_not_a_fault_is_refused(text: str) -> None:
    """The settings after the code are an error status and whole seconds, or the fault is
    refused.
    """
    with pytest.raises(ValueError, match="neither `status=`"):
        parse_fault(text)


def taxonomy_once(found: list[Taxonomy] = []) -> Taxonomy:  # noqa: B006 - loaded once for many examples
    """The Core Platform taxonomy."""
    if not found:
        found.append(taxonomy(""))
    return found[0]


def test_a_document_says_what_a_good_answer_is() -> None:
    """With an OpenAPI document, a success has its status and body. Undocumented requests are
    answered too.
    """
    document, _ = parse_leniently("""
openapi: 3.1.0
servers: [{url: /v1}]
paths:
  /orders:
    post:
      responses:
        "201":
          content:
            application/json:
              schema: {type: object, required: [id], properties: {id: {type: string, enum: [o-1]}}}
  /orders/{id}:
    get: {responses: {"200": {content: {application/json: {example: {id: o-2}}}}}}
    delete: {responses: {"204": {}}}
""")
    assert document is not None
    fault = FaultServer(
        build_contract(taxonomy("")),
        Schedule(Script(), Random(0)),
        description=openapi.read(document),
    )
    answers = {}
    for method, path in (
        ("POST", "/v1/orders"),
        ("GET", "/v1/orders/7"),
        ("DELETE", "/v1/orders/7"),
        ("GET", "/"),
    ):
        response = fault.answer(Request(method, path)).response
        answers[method, path] = (
            response.status,
            json.loads(response.body) if response.body else None,
        )
    assert answers == {
        ("POST", "/v1/orders"): (201, {"id": "o-1"}),
        ("GET", "/v1/orders/7"): (200, {"id": "o-2"}),
        ("DELETE", "/v1/orders/7"): (204, None),
        ("GET", "/"): (200, {"id": "1"}),
    }


def test_over_a_connection_it_is_the_same() -> None:
    """A real client receives the rendered status, headers and body, without a body for HEAD.
    The log has the times.
    """
    rules = build_contract(taxonomy(""))
    served: list[Served] = []
    app = server(rules, Fault("rate_limited", retry_after="3"), times=2)
    app.on_served = served.append
    with serving(app) as url, httpx.Client(base_url=url, trust_env=False) as client:
        refused = client.post("/orders", json={"a": 1})
        head = client.head("/orders")
        good = client.get("/orders?q=1")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "3")
    assert refused.json()["code"] == "rate_limited"
    exchange = Exchange(
        Request("POST", "/orders"), Response(429, tuple(refused.headers.items()), refused.content)
    )
    assert judge(rules, exchange).findings == ()
    assert (head.status_code, head.content, good.status_code) == (429, b"", 200)
    assert [str(each) for each in served] == [
        "POST /orders -> 429 rate_limited,retry-after=3",
        "HEAD /orders -> 429 rate_limited,retry-after=3",
        "GET /orders?q=1 -> 200 as usual",
    ]
    assert served[0].request.body == b'{"a":1}'
    assert all(0 < each.at <= each.until for each in served)


def test_the_server_keeps_neither_long_bodies_nor_requests() -> None:
    """A body of 256 MiB and 2,000 requests take no more than a few mebibytes."""
    app = server(build_contract(taxonomy("")))
    served = 0

    def count(one: Served) -> None:
        nonlocal served
        served += 1
        assert len(one.request.body) <= KEPT_BYTES

    app.on_served = count

    async def ask(chunk: bytes, chunks: int) -> None:
        sent = iter(range(chunks))

        async def receive() -> Message:
            return {"type": "http.request", "body": chunk, "more_body": next(sent) < chunks - 1}

        async def send(message: Message) -> None:
            pass

        scope = {
            "type": "http",
            "method": "POST",
            "raw_path": b"/orders",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        }
        await app(scope, receive, send)

    async def main() -> None:
        await ask(b"x" * 1024 * 1024, 256)
        for _ in range(2_000):
            await ask(b"y" * 16 * 1024, 2)

    tracemalloc.start()
    try:
        asyncio.run(main())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert served == 2_001
    assert peak < 8 * 1024 * 1024


COMMAND = (sys.executable, "-c", "from faultspec.cli import main; main()", "serve")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_ended(ending: signal.Signals) -> None:
    """It prints its address when it listens, on loopback, and one line for each answer, which no
    request can forge; a signal ends it with exit code 0.
    """
    command = [
        *COMMAND,
        str(ROOT / "taxonomy.yaml"),
        "--fail",
        "timeout",
        "--after",
        "1",
        "--times",
        "1",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        statuses = [httpx.get(f"{url}/orders", trust_env=False).status_code for _ in range(3)]
        httpx.get(f"{url}/~%1b[1m%0d%0aGET/orders", trust_env=False)
        process.send_signal(ending)
        out, lines = process.communicate(timeout=20)
    assert statuses == [200, 504, 200]
    assert (process.returncode, out) == (0, "")
    *answered, forged = lines.splitlines()
    assert answered == [
        "GET /orders -> 200 as usual",
        "GET /orders -> 504 timeout",
        "GET /orders -> 200 as usual",
    ]
    assert forged.startswith(r"GET /orders -> 501 platform has no live code `\x1b[1m\r\nGET`")


ONLY_LOGS = """
faultspec: 1
taxonomy: {name: logs, version: 1.0.0, title: Errors in a log}
surfaces: {log: {transport: log, error_when: {present: /code}, envelope: error}}
envelopes: {error: {shape: {code: $code, message: $message}}}
codes: {busy: {summary: Busy., retriable: true}}
"""


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["--fail", "rate_limitd"], "did you mean `rate_limited`?"),
        (
            ["--fail", "rate_limited,status=503"],
            "`rate_limited` never has the status 503; its statuses: 429",
        ),
        (["--fail", "rate_limited,soon"], "neither `status=`"),
        (["--openapi", "nothing.json"], "cannot be read"),
        (["nothing.yaml"], "nothing.yaml"),
        (["logs.yaml"], "no surface on HTTP, JSON-RPC or MCP"),
        (["--stdio"], "no surface of JSON-RPC or MCP"),
        (["--script", "nothing.txt"], "nothing.txt"),
        (["--script", "script.txt"], "script.txt: line 2: platform has no live code"),
    ],
)
def test_a_fault_that_cannot_be_served_is_reported(
    arguments: list[str],
    phrase: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2 and one sentence, before anything listens."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs.yaml").write_text(ONLY_LOGS)
    (tmp_path / "script.txt").write_text("# the faults\nrate_limitd\n")
    first = [] if arguments[0].endswith(".yaml") else [str(ROOT / "taxonomy.yaml")]
    with pytest.raises(SystemExit) as ended:
        main(["serve", *first, *arguments])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert phrase in shown.err


PAGE = (ROOT / "docs" / "fault-server.md").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page asks with curl")
def test_the_transcript_of_the_page_is_what_happens(tmp_path: Path) -> None:
    """The server of the first block answers the commands of the second as the page shows, and says
    so as the third does.
    """
    started, asked, shown = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[
        :3
    ]
    checker = doctest.OutputChecker()
    command = shlex.split(started.splitlines()[0].removeprefix("$ faultspec serve "))
    (tmp_path / "taxonomy.yaml").write_text(
        (ROOT / "taxonomy.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, *command], cwd=tmp_path, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            url = process.stdout.readline()
            assert checker.check_output(started.partition("\n")[2], url, doctest.ELLIPSIS), url
            for part in re.split(r"^\$ ", asked, flags=re.MULTILINE)[1:]:
                line, _, expected = part.partition("\n")
                environment = {**os.environ, "URL": url.strip(), "NO_PROXY": "127.0.0.1"}
                done = subprocess.run(
                    ["bash", "-c", line],
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                printed = done.stdout.replace("\r", "") + done.stderr
                flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
                assert checker.check_output(expected, printed, flags), f"$ {line}\n{printed}"
        finally:
            process.send_signal(signal.SIGINT)
        lines = process.stderr.read()
    assert checker.check_output(shown, lines, doctest.ELLIPSIS), lines


REFUSED = Fault("refused", 200)

GRAPH = """
faultspec: 1
taxonomy: {name: graph, version: 1.0.0}
envelopes:
  errors: {shape: {errors: [{message: $message, extensions: {code: $code}}]}}
  token: {shape: {error: $code}}
surfaces:
  tokens: {transport: http, match: {routes: [POST /token]}, envelope: token, codes: closed}
  api: {transport: http, error_when: {status: [4xx, 5xx], present: /%s}, envelope: errors, codes: closed}
codes:
  refused: {summary: It was refused., http: 200, envelope: errors, example: {message: No}}
"""


def test_an_error_that_its_body_marks_may_have_any_status() -> None:
    """A service of GraphQL sends errors under 200, beside those that a status tells."""
    loaded = language.read(GRAPH % "errors", "graph.yaml").taxonomy
    assert loaded is not None
    contract, request = build_contract(loaded), Request("POST", "/graphql")
    found = judge(contract, Exchange(request, render_failure(contract, request, REFUSED, "1")))
    assert (found.is_error, found.code, found.findings) == (True, "refused", ())


@pytest.mark.parametrize(
    ("mark", "target", "message"),
    [
        ("problem", "/graphql", "`refused` cannot be generated in the envelope errors"),
        ("errors", "/token", "it can occur on the surface api (any route)"),
    ],
)
def test_an_answer_that_nothing_marks_is_refused(mark: str, target: str, message: str) -> None:
    """An answer that neither its status nor its body tells to be an error is not sent, and the
    refusal names only surfaces that carry the code.
    """
    loaded = language.read(GRAPH % mark, "graph.yaml").taxonomy
    assert loaded is not None
    with pytest.raises(Unanswerable, match=re.escape(message)) as caught:
        render_failure(build_contract(loaded), Request("POST", target), REFUSED, "1")
    assert "surface tokens" not in str(caught.value)


ROUTED = """
faultspec: 1
taxonomy: {name: routed, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces:
  api: {transport: http, match: %s, envelope: error, codes: closed}
codes: {gone: {summary: It is gone., http: 410}}
"""


@pytest.mark.parametrize(
    ("match", "method", "target", "status"),
    [
        ("{routes: [/orders/**]}", "GET", "/orders/7?a=b", 200),
        ("{routes: [/orders/**]}", "GET", "/items", 501),
        ("{routes: [GET /orders/**]}", "DELETE", "/orders/7", 501),
        ("{statuses: 4xx}", "GET", "/items", 200),
        ("{}", "GET", "/items", 200),
    ],
)
def test_a_request_of_no_surface_is_refused(
    match: str, method: str, target: str, status: int
) -> None:
    """A service has the requests that a surface claims, whatever the status of its errors."""
    loaded = language.read(ROUTED % match, "routed.yaml").taxonomy
    assert loaded is not None
    served = server(build_contract(loaded)).answer(Request(method, target))
    assert served.response.status == status
    assert (served.refused is not None) == (status == 501)
