"""Laws of the fault server for calls by name: JSON-RPC and MCP over HTTP and standard streams."""

import asyncio
import io
import json
import subprocess
import sys
from random import Random
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from faultspec import language
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec_conformance.drivers import Framing
from faultspec_conformance.drivers.framing import read_messages
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.faults.calls import REFUSED, CallServer
from faultspec_conformance.faults.script import Schedule, Script, parse_fault, parse_script
from faultspec_conformance.faults.server import FaultServer, with_browsers
from faultspec_conformance.faults.streams import StreamServer
from paths import ROOT
from support.command_line import faultspec

EDITOR = ROOT / "tests" / "miniatures" / "editor-taxonomy.yaml"
STEPS = ROOT / "examples" / "theodosia" / "taxonomy.yaml"
SYSTEMS = (
    EDITOR,
    STEPS,
    *(ROOT / "examples" / each / "taxonomy.yaml" for each in ("keenbench", "lsp", "mcp", "aria2")),
)


def contract(path: Any = EDITOR) -> Contract:
    """The contract of a file."""
    loaded = language.load(str(path))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def schedule(*faults: str, **rest: Any) -> Schedule:
    """A script of these faults."""
    return Schedule(Script(tuple(map(parse_fault, faults)), **rest), Random(0))


def call(method: str = "build", number: object = 7, **params: object) -> bytes:
    """A request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def stream(sent: bytes, *faults: str, framing: Framing = "lines") -> bytes:
    """The bytes that the server writes to a stream."""
    output = io.BytesIO()
    server = CallServer(contract(), schedule(*faults))
    StreamServer(server, (io.BytesIO(sent), output), framing, lambda line: None).run()
    return output.getvalue()


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.parent.name)
def test_whatever_is_answered_obeys_the_taxonomy(path: Any) -> None:
    """Each shared code that a surface of calls by name carries is judged without a finding."""
    rules, seen = contract(path), 0
    for claim in rules.claims:
        transport = claim.surface.transport
        if transport not in ("jsonrpc", "mcp"):
            continue
        name = next(iter(claim.surface.match.tools), "build")
        for code in rules.taxonomy.shared_live_codes():
            if claim.surface.codes is not None and code.name not in claim.surface.codes:
                continue
            message = call(name, **{"x-fault": code.name})
            if transport == "mcp":
                message = call("tools/call", name=name, _meta={"x-fault": code.name})
            answer = CallServer(rules, schedule()).answer(message)
            refused = answer.calls[0].refused
            if refused is not None and "cannot be generated" in refused:
                continue  # a code that the whole of an envelope stands for
            assert refused is None, answer.calls
            assert answer.body is not None
            body = json.loads(answer.body)
            assert (body["jsonrpc"], body["id"]) == ("2.0", 7)
            content = json.dumps(body["result"]).encode() if transport == "mcp" else answer.body
            if transport == "mcp" and "error" in body:
                continue
            exchange = Exchange(
                Request("POST", name, (), message),
                Response(None, (), content),
                transport,
                lacks=frozenset({"deadline/kept"}),  # `delay=` makes an answer late
            )
            judgement = judge(rules, exchange)
            assert judgement.findings == (), (code.name, judgement.findings[0].message, content)
            seen += 1
    assert seen


def test_a_script_fails_calls_by_method() -> None:
    """A fault with `on` answers the calls of its methods, and the others advance the rest."""
    server = CallServer(contract(), schedule("busy,on=build", "no_document,on=text*", times=1))
    codes = []
    for method in ("open", "build", "build", "textDocument/x"):
        answer = server.answer(call(method))
        assert answer.body is not None
        codes.append(json.loads(answer.body).get("error", {}).get("code"))
    assert codes == [None, -32010, None, -32001]


def test_a_call_asks_by_its_params_or_its_name() -> None:
    """The ways to ask agree, and a fault that cannot be played is refused with its reason."""
    server = CallServer(contract(), schedule())
    asked = [call(**{"x-fault": "busy"}), call("~busy/build"), call(_meta={"x-fault": "busy"})]
    for message in asked:
        answer = server.answer(message)
        assert answer.body is not None
        assert json.loads(answer.body)["error"]["code"] == -32010
    answer = server.answer(call(**{"x-fault": "bussy"}))
    assert answer.body is not None
    assert json.loads(answer.body)["error"]["code"] == REFUSED
    assert "busy" in json.loads(answer.body)["error"]["message"]


@pytest.mark.parametrize("framing", ["lines", "content-length"])
def test_each_malformed_answer_is_what_it_says(framing: Framing) -> None:
    """On a stream, each kind breaks what it names, and the next answer is whole unless the stream
    is closed.
    """
    sent = [call(**{"x-fault": "busy"}), call(number=8)]
    framed = b"".join(
        body + b"\n" if framing == "lines" else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        for body in sent
    )
    good = list(read_messages(io.BytesIO(stream(framed, framing=framing)), framing))
    assert [json.loads(each)["id"] for each in good] == [7, 8]

    def spoiled(kind: str) -> list[Any]:
        text = framed.replace(
            b"Content-Length: %d" % len(sent[0]),
            b"Content-Length: %d" % (len(sent[0]) + len(kind) + 11),
        )
        text = text.replace(b'"busy"', f'"busy,malformed={kind}"'.encode())
        return list(read_messages(io.BytesIO(stream(text, framing=framing)), framing))

    assert spoiled("cut") == [good[0][: len(good[0]) // 2], good[1]]
    assert isinstance(json.loads(spoiled("type")[0])["error"], str)
    assert [json.loads(each)["id"] for each in spoiled("id")] == [-8, 8]
    assert spoiled("never") == [good[1]]
    assert spoiled("twice") == [good[0], good[0], good[1]]
    assert b"garbage" in spoiled("garbage")[0]
    assert spoiled("garbage")[1:] == good
    assert spoiled("close") == []


def test_a_malformed_call_spoils_no_other_of_its_batch() -> None:
    """In a batch, a wrong type or id, a missing and a doubled answer are those of one call; what
    spoils the message spoils the batch.
    """

    def answered(*kinds: str) -> tuple[list[Any], Any]:
        calls = [
            call(number=number, **({"x-fault": f"busy,malformed={kind}"} if kind else {}))
            for number, kind in enumerate(kinds, 1)
        ]
        answer = CallServer(contract(), schedule()).answer(b"[%b]" % b",".join(calls))
        return json.loads(answer.body or b"[]"), answer.fault and answer.fault.malformed

    bodies, spoiled = answered("", "type", "id", "never", "twice", "")
    assert [body["id"] for body in bodies] == [1, 2, -4, 5, 5, 6]
    assert [isinstance(body.get("error"), str) for body in bodies].count(True) == 1
    assert spoiled is None
    assert answered("never", "never") == ([], "never")
    assert [body["id"] for body in answered("never", "cut", "")[0]] == [2, 3]
    assert answered("never", "cut", "")[1] == "cut"


def test_an_unknown_method_of_mcp_is_logged_as_such() -> None:
    """The line of a call whose method MCP does not have says so, and the error has its number."""
    server = CallServer(contract(STEPS), schedule())
    answer = server.answer(call("resources/lst"))
    assert answer.body is not None
    assert json.loads(answer.body)["error"]["code"] == -32601
    assert str(answer.calls[0]) == "resources/lst -> Method not found"


@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "method", "params", "x-fault", "jsonrpc"]), each, max_size=4
            )
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_hostile_messages_are_answered(message: bytes) -> None:
    """Whatever a message is, it has an answer that is JSON, or none."""
    answer = HOSTILE.answer(message)
    assert answer.body is None or json.loads(answer.body) is not None


def test_an_id_that_no_json_has_is_refused() -> None:
    """A number beyond all floats, which Python reads as infinity, is not an id."""
    for number in (b"1e999", b"-1e999", b"NaN"):
        sent = b'{"jsonrpc": "2.0", "method": "build", "id": %b}' % number
        answer = CallServer(contract(), schedule()).answer(sent)
        assert answer.body is not None
        assert json.loads(answer.body, parse_constant=pytest.fail)["error"]["code"] == -32600


HOSTILE = CallServer(contract(STEPS), schedule())


def test_a_file_has_a_fault_a_line() -> None:
    """Comments do not count, and a mistake is reported with its line."""
    text = "# first\n\nbusy,on=build\nmalformed=never,on=open\n"
    assert [(number, str(fault)) for number, fault in parse_script(text)] == [
        (3, "busy"),
        (4, "malformed=never"),
    ]
    with pytest.raises(ValueError, match="line 2: `delay=x`"):
        parse_script("busy\nbusy,delay=x\n")


def test_json_rpc_over_http_and_browsers() -> None:
    """A message that is sent by POST is answered; a preflight is not a fault and does not advance
    the script; broken bodies and connections are what a client sees.
    """
    app = FaultServer(
        contract(),
        schedule(
            "busy,on=build",
            "malformed=cut,on=cut",
            "malformed=close,on=close",
            "malformed=media-type,on=media",
        ),
    )
    with serving(with_browsers(app)) as url, httpx.Client(base_url=url) as client:
        asking = {"Origin": "http://page.example", "Access-Control-Request-Method": "POST"}
        preflight = client.options("/", headers=asking)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == "*"
        answer = client.post("/", content=call(), headers={"Origin": "http://page.example"})
        assert answer.json()["error"]["code"] == -32010
        assert answer.headers["access-control-expose-headers"] == "*"
        for method in ("cut", "close"):
            with pytest.raises(httpx.RemoteProtocolError):
                client.post("/", content=call(method))
        assert client.post("/", content=call("media")).headers["content-type"] == "text/html"
        assert client.post("/", content=b"{").json()["error"]["code"] == -32700
        assert client.get("/").status_code == 405


async def _use(client: Client) -> list[tuple[bool, Any]]:
    async with client:
        first = await client.call_tool("step", {})
        second = await client.call_tool("step", {})
        return [(bool(each.is_error), each.structured_content) for each in (first, second)]


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_client_of_mcp_meets_the_faults(transport: str) -> None:
    """The maintained client begins a session, calls a tool, and reads a declared error."""
    fault = "unknown_action,on=step"
    if transport == "http":
        with serving(FaultServer(contract(STEPS), schedule(fault, times=1))) as url:
            results = asyncio.run(
                asyncio.wait_for(_use(Client(streamable_http_client(f"{url}/mcp"))), 20)
            )
    else:
        words = [
            "-m",
            "faultspec",
            "serve",
            str(STEPS),
            "--stdio",
            "--fail",
            fault,
            "--times",
            "1",
        ]
        parameters = StdioServerParameters(command=sys.executable, args=words)
        results = asyncio.run(asyncio.wait_for(_use(Client(stdio_client(parameters))), 30))
    assert results[0][0] is False
    assert "error" in results[0][1]
    assert "error" not in (results[1][1] or {})


def test_the_command_serves_streams_until_they_end() -> None:
    """`faultspec serve --stdio` answers framed messages and ends with its input."""
    body = call()
    sent = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    words = [
        "-m",
        "faultspec",
        "serve",
        str(EDITOR),
        "--stdio",
        "--framing",
        "content-length",
        "--fail",
        "busy",
    ]
    done = subprocess.run(
        [sys.executable, *words], input=sent, capture_output=True, timeout=30, check=True
    )
    assert json.loads(done.stdout.partition(b"\r\n\r\n")[2])["error"]["code"] == -32010
    assert done.stderr == b"build -> busy\n"


def test_the_handshake_and_notifications_are_left_alone() -> None:
    """A script without `on` fails no handshake of MCP, and a notification has no answer."""
    server = CallServer(contract(STEPS), schedule("malformed=never"))
    begun = server.answer(call("initialize"))
    assert begun.fault is None
    assert server.answer(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}').body is None
    assert server.answer(call("tools/call", name="step")).fault is not None


def test_a_number_of_the_protocol_is_a_fault() -> None:
    """A call gets a number that the taxonomy lists, with its text, by a script or by itself; any
    other number is refused.
    """
    server = CallServer(contract(), schedule("-32602,on=build"))
    for message in (call("build"), call("~-32602/open"), call("open", **{"x-fault": "-32602"})):
        body = server.answer(message).body
        assert body is not None
        assert json.loads(body)["error"]["code"] == -32602
    refused = server.answer(call("open", **{"x-fault": "-31999"})).body
    assert refused is not None
    assert json.loads(refused)["error"]["code"] == REFUSED


def test_results_are_those_of_the_file() -> None:
    """A good answer has the result that is given for its method, or for its tool."""
    handshake = {"capabilities": {"textDocumentSync": 1}}
    server = CallServer(contract(), schedule(), {"initialize": handshake, "shutdown": None})
    for method, result in (("initialize", handshake), ("shutdown", None), ("build", {"id": "1"})):
        body = server.answer(call(method)).body
        assert body is not None
        assert json.loads(body)["result"] == result
    tools = CallServer(contract(STEPS), schedule(), {"step": {"content": [], "isError": False}})
    body = tools.answer(call("tools/call", name="step", arguments={})).body
    assert body is not None
    assert json.loads(body)["result"] == {"content": [], "isError": False}


def test_a_tool_asks_for_a_fault_among_its_arguments() -> None:
    """The caller of an MCP client can set the arguments of a tool alone."""
    server = CallServer(contract(STEPS), schedule())
    code = next(name for name, each in contract(STEPS).taxonomy.codes.items() if each.live)
    asked = call("tools/call", name="step", arguments={"x-fault": code})
    (called,) = server.answer(asked).calls
    assert str(called.fault or called.refused).startswith((code, f"`{code}`"))


@pytest.mark.parametrize("setting", ["status=503", "retry-after=2", "with=no_document"])
def test_a_setting_of_http_is_refused_for_a_call(setting: str) -> None:
    """A call by name has no status, no header and no list of errors: it is not played without."""
    server = CallServer(contract(), schedule(f"busy,{setting},on=build"))
    answer = server.answer(call("build"))
    assert answer.body is not None
    error = json.loads(answer.body)["error"]
    assert error["code"] == REFUSED
    assert setting.partition("=")[0] in error["message"]


def test_exit_ends_a_language_server() -> None:
    """After the notification `exit` of LSP, framed messages are not read any more."""
    messages = [json.dumps({"jsonrpc": "2.0", "method": "exit"}).encode(), call("build")]
    framed = b"".join(f"Content-Length: {len(each)}\r\n\r\n".encode() + each for each in messages)
    assert stream(framed, framing="content-length") == b""
    assert stream(b"\n".join((*messages, b""))) != b""


@pytest.mark.parametrize("text", ["[", "[]", None])
def test_wrong_results_are_named(text: str | None, tmp_path: Any) -> None:
    """A file of results that is missing, not JSON or not an object is named, with exit code 2."""
    path = tmp_path / "results.json"
    if text is not None:
        path.write_text(text)
    done = faultspec("serve", str(EDITOR), "--results", str(path), cwd=tmp_path)
    assert done.returncode == 2
    assert "results.json" in done.stderr
