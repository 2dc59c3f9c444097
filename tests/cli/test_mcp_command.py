"""`faultspec mcp` answers a real client of the protocol over standard streams."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from faultspec.cli.explanations import load_explanations
from paths import ROOT
from support.command_line import faultspec

QUESTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "codes": ("list_codes", {}),
    "code": ("explain", {"name": "conflict"}),
    "clause": ("explain", {"name": "leaks/stack-trace"}),
    "unknown": ("explain", {"name": "confict"}),
    "found": ("search", {"words": "STACK trace"}),
    "not found": ("search", {"words": "stack zebra"}),
    "no words": ("search", {"words": " "}),
    "report": ("explain_report", {"report": "report.json"}),
    "finding": ("explain_report", {"report": "report.json", "finding": "leaks/stack-trace"}),
    "no finding": ("explain_report", {"report": "report.json", "finding": "leaks/sql"}),
    "large": ("explain_report", {"report": "large.json"}),
    "long": ("search", {"words": "a " * 1000}),
    "circle": ("explain_report", {"report": "circle.json"}),
    "no name": ("explain_report", {"report": "a\0b"}),
    "outside": ("explain_report", {"report": "../elsewhere.json"}),
    "link": ("explain_report", {"report": "link.json"}),
    "missing": ("explain_report", {"report": "missing.json"}),
    "no report": ("explain_report", {"report": "taxonomy.yaml"}),
}


def recording() -> object:
    """An archive with an answer that shows a stack trace."""
    text = json.dumps({"code": "not_found", "message": 'File "/srv/prices.py", line 12, in price'})
    content = {"mimeType": "application/json", "text": text}
    fields = [{"name": "Content-Type", "value": "application/json"}]
    request = {"method": "GET", "url": "http://127.0.0.1/prices/tea", "headers": []}
    response = {"status": 404, "headers": fields, "content": content}
    entry = {"startedDateTime": "2026-01-01T00:00:00Z", "request": request, "response": response}
    return {"log": {"version": "1.2", "entries": [entry]}}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[bool, str]]]:
    """The answers to all questions of one session: whether it is an error, and its text."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "taxonomy.yaml").write_bytes((ROOT / "taxonomy.yaml").read_bytes())
    (folder / "traffic.har").write_text(json.dumps(recording()))
    audited = faultspec("audit", "traffic.har", "--report", "json=report.json", cwd=folder)
    assert audited.returncode == 1, audited.stderr
    (folder.parent / "elsewhere.json").write_bytes((folder / "report.json").read_bytes())
    (folder / "link.json").symlink_to(folder.parent / "elsewhere.json")
    padding = b" " * (8 * 1024 * 1024)
    (folder / "large.json").write_bytes((folder / "report.json").read_bytes() + padding)
    (folder / "circle.json").symlink_to("circle.json")
    program = ["-c", "from faultspec.cli import main; main()", "mcp"]

    async def ask() -> dict[str, tuple[bool, str]]:
        server = StdioServerParameters(command=sys.executable, args=program, cwd=folder)
        async with Client(stdio_client(server)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {tool for tool, _ in QUESTIONS.values()}
            assert all(tool.annotations.read_only_hint for tool in tools.values())
            found = {}
            for name, (tool, arguments) in QUESTIONS.items():
                answer = await client.call_tool(tool, arguments)
                found[name] = answer.is_error, "".join(part.text for part in answer.content)
            return found

    before = sorted(folder.iterdir())
    yield asyncio.run(ask())
    assert sorted(folder.iterdir()) == before


def test_codes_are_listed_one_a_line(answers: dict[str, tuple[bool, str]]) -> None:
    """Every code of the taxonomy has a line with its status and its summary."""
    taxonomy = load_explanations(str(ROOT / "taxonomy.yaml")).taxonomies[0]
    failed, text = answers["codes"]
    assert not failed
    lines = text.splitlines()
    assert len(lines) == len([*taxonomy.located_codes()])
    assert "conflict [platform] 409: The request contradicts the state of a resource." in lines


@pytest.mark.parametrize(
    ("question", "name"), [("code", "conflict"), ("clause", "leaks/stack-trace")]
)
def test_an_explanation_is_that_of_the_command(
    question: str, name: str, answers: dict[str, tuple[bool, str]]
) -> None:
    """`explain` has the text of `faultspec explain`."""
    shown = faultspec("explain", name, "--taxonomy", "taxonomy.yaml", cwd=ROOT).stdout
    assert answers[question] == (False, shown.removesuffix("\n"))


def test_a_search_finds_names_by_words(answers: dict[str, tuple[bool, str]]) -> None:
    """A name that has all the words comes first."""
    failed, text = answers["found"]
    assert not failed
    assert text.startswith("leaks/stack-trace: a clause")


def test_a_report_is_explained_with_its_clauses(answers: dict[str, tuple[bool, str]]) -> None:
    """A finding comes with its place, and with the reason of its clause."""
    for question in ("report", "finding"):
        failed, text = answers[question]
        assert not failed
        assert "error: leaks/stack-trace" in text
        assert "at traffic.har:1" in text
        assert "leaks/stack-trace: a clause" in text


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("unknown", "`confict` is unknown; did you mean `conflict`?"),
        ("not found", "no explanation has all of the words `stack zebra`"),
        ("no words", "no explanation has all of the words"),
        ("no finding", "report.json has no finding `leaks/sql`; it has "),
        ("large", "large.json is not a JSON report of at most 8 MiB"),
        ("long", "a question has at most 1000 characters"),
        ("circle", "'circle.json' is not a file"),
        ("no name", "'a\\x00b' is not a file"),
        ("outside", "../elsewhere.json is not below"),
        ("link", "link.json is not below"),
        ("missing", "missing.json is not a JSON report of at most 8 MiB"),
        ("no report", "taxonomy.yaml is not a JSON report"),
    ],
)
def test_a_question_without_an_answer_says_why(
    question: str, reason: str, answers: dict[str, tuple[bool, str]]
) -> None:
    """The call fails, with the reason as its text; no file outside the folder is read."""
    failed, text = answers[question]
    assert failed
    assert reason in text


def test_a_taxonomy_with_errors_is_named(tmp_path: Path) -> None:
    """Without a readable taxonomy no code is listed, and the answer says why."""
    from faultspec.cli.mcp import NoExplanation, list_declared_codes

    file = tmp_path / "taxonomy.yaml"
    file.write_text(json.dumps({"faultspec": 1}))
    with pytest.raises(NoExplanation, match=r"taxonomy\.yaml could not be read"):
        list_declared_codes(str(file))


def test_a_question_ends_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that takes too long to read ends the question, and not the server."""
    from mcp.server.mcpserver.exceptions import ToolError

    from faultspec.cli import mcp

    def compute(path: str | None) -> str:
        while True:
            pass

    server = mcp.build_server(None)
    with monkeypatch.context() as slow:
        slow.setattr(mcp, "_SECONDS", 0.1)
        slow.setattr(mcp, "list_declared_codes", compute)
        with pytest.raises(ToolError, match=r"more than 0\.1 seconds"):
            asyncio.run(server.call_tool("list_codes", {}))
    assert asyncio.run(server.call_tool("explain", {"name": "leaks/stack-trace"}))


def test_a_signal_ends_the_server_while_its_input_is_open(tmp_path: Path) -> None:
    """A client that stops the server need not close the stream first."""
    program = [sys.executable, "-c", "from faultspec.cli import main; main()", "mcp"]
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": CLIENT}
    pipe = subprocess.PIPE
    with subprocess.Popen(program, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        try:
            call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
            run.stdin.write(json.dumps(call).encode() + b"\n")
            run.stdin.flush()
            assert b"faultspec" in run.stdout.readline()
            run.send_signal(signal.SIGTERM)
            assert run.wait(20) == 130
        finally:
            run.kill()


CLIENT = {"name": "client", "version": "1"}


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux")
def test_a_question_ends_at_its_limit_of_memory(tmp_path: Path) -> None:
    """A search in a taxonomy of 15 MB is refused in bounded memory, and the next question is
    answered.
    """
    (tmp_path / "taxonomy.yaml").write_text(
        "faultspec: 1\n"
        "taxonomy: {name: large, version: 1.0.0, title: Large, owner: nobody}\n"
        "domains: {request: What}\n"
        "envelopes: {error: {media_type: application/json, shape: {code: $code}}}\n"
        "codes:\n"
        f'  absent: {{summary: "{"x " * 7_500_000}", domain: request, http: 400}}\n'
    )
    program = ["-c", "from faultspec.cli import main; main()", "mcp"]

    async def ask() -> tuple[bool, str, bool]:
        server = StdioServerParameters(command=sys.executable, args=program, cwd=tmp_path)
        async with Client(stdio_client(server)) as client:
            searched = await client.call_tool("search", {"words": "zebra crossing"})
            explained = await client.call_tool("explain", {"name": "zebra"})
        texts = [part.text for part in (*searched.content, *explained.content)]  # type: ignore[union-attr]
        return searched.is_error, texts[0], "unknown" in texts[1]

    assert asyncio.run(ask()) == (
        True,
        "Error executing tool search: this takes more than 288 MiB of memory",
        True,
    )


BEGIN = (
    b'{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": '
    b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}\n'
)

LONG = {
    "text": b'"' + b"a" * 70_000_000 + b'"',
    "numbers": b"[" + b"1," * 10_000_000 + b"1]",
    "objects": b"[" + b"{}," * 10_000_000 + b"1]",
    "two mebibytes": b'"' + b"a" * 2_000_000,
}


def ask_for(name: bytes) -> subprocess.CompletedProcess[bytes]:
    """The answers to a question for a name, whose JSON is given."""
    question = b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "explain", '
    question += b'"arguments": {"name": ' + name + b"}}}\n"
    return subprocess.run(
        [sys.executable, "-c", "from faultspec.cli import main; main()", "mcp"],
        input=BEGIN + b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n' + question,
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("name", [*LONG])
def test_a_message_beyond_the_bound_ends_the_command(name: str) -> None:
    """The command ends with exit code 2 and one plain line, whatever the message consists of."""
    done = ask_for(LONG[name])
    assert done.returncode == 2
    assert done.stderr == b"error[too-large]: a message has more than 1 MiB\n"


@pytest.mark.parametrize("sign", [b"1,", b"{},", b"[[]],"])
def test_a_message_of_many_values_within_the_bound_is_answered(sign: bytes) -> None:
    """A message of almost a mebibyte of small values is refused, and the command goes on."""
    done = ask_for(b"[" + sign * (1_048_000 // len(sign)) + b"1]")
    assert done.returncode == 0, done.stderr
    assert b'"id":5' in done.stdout
    assert done.stderr == b""
