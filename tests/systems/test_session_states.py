"""States of a session over standard streams: they are reached before anything is judged."""

import socket
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from faultspec.contract.model import build_contract
from faultspec.language import load
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import ServiceConfig, read_config
from faultspec_conformance.config.reading import check_config
from faultspec_conformance.drivers.jsonrpc import Message
from faultspec_conformance.drivers.stdio import Process
from faultspec_conformance.results.model import Report
from faultspec_conformance.run.replay import connect, replay
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from paths import TESTS

HERE = TESTS / "miniatures"

OPEN = "{request: open, params: {name: a}, may_fail: true}"

CONFIG = """
target: {stdio: ["PYTHON", "HERE/handles.py"HABITS]}
session:
  start: [{request: ready, notification: true}]
  replies: {options: {}}
calls:
  ping: {request: ping, safe: true}
  open: {request: open, params: {name: a}}
  read: {before: [OPEN], request: read, params: {handle: h-1}, INVALID}
  close: {before: [OPEN], request: close}
provoke:
  no_options: {not_provokable: the session replies}
limits: {writes: true, seconds: 60}
"""
INVALID = "invalid: [{params: {handle: other}, code: -32602}]"


@cache
def taxonomy() -> Taxonomy:
    """The taxonomy of the service."""
    found = load(str(HERE / "handles-taxonomy.yaml")).taxonomy
    assert found is not None
    return found


def written(config: str = CONFIG, *habits: str) -> str:
    """The configuration of the service with these habits."""
    listed = "".join(f', "{habit}"' for habit in habits)
    text = config.replace("PYTHON", sys.executable).replace("HERE", str(HERE))
    return text.replace("HABITS", listed).replace("OPEN", OPEN).replace("INVALID", INVALID)


def configured(folder: Path, *habits: str, config: str = CONFIG) -> ServiceConfig:
    """The configuration of the service, as it is read."""
    path = folder / "conformance.yaml"
    path.write_text(written(config, *habits))
    read = read_config(str(path), {})
    assert read.target is not None, read.diagnostics
    return read.target


def judge(folder: Path, *habits: str, config: str = CONFIG) -> Report:
    """The report of a run against the service."""
    report = run(configured(folder, *habits, config=config), taxonomy(), RunOptions())
    assert isinstance(report, Report), report
    return report


def failing(report: Report) -> set[str]:
    """The clauses that failed."""
    return {each.finding.clause for each in report.result.findings}


@pytest.mark.parametrize("habits", [(), ("asks",), ("late-events",)])
def test_a_right_service_passes(habits: tuple[str, ...], tmp_path: Path) -> None:
    """A service that asks for something at its start gets the reply before the next step, and a
    notification counts that comes when its process is about to end. Each state is judged.
    """
    report = judge(tmp_path, *habits)
    assert failing(report) == set()
    assert report.result.clauses["rpc/state"].occasions == 5
    assert report.result.clauses["surface/repeated"].occasions


def test_the_run_goes_on_after_a_process_ends_on_a_message(tmp_path: Path) -> None:
    """The messages on which it ends are blamed, and another process answers the rest: as much is
    judged as of a service that stays.
    """
    report, right = judge(tmp_path, "ends-on-mistakes"), judge(tmp_path)
    assert failing(report) == {"service/alive"}
    assert report.result.complete
    malformed = {"rpc/parse-error", "rpc/invalid-request", "rpc/batch", "service/alive"}
    assert {
        name: clause.occasions
        for name, clause in right.result.clauses.items()
        if name.startswith("rpc/") and name not in {*malformed, "rpc/response", "rpc/id"}
    }.items() <= {name: each.occasions for name, each in report.result.clauses.items()}.items()


def test_a_process_that_answers_nothing_is_not_started_again(tmp_path: Path) -> None:
    """It would end again."""
    report = judge(tmp_path, "ends")
    assert not report.result.complete
    assert failing(report) == {"service/alive"}
    assert report.result.clauses["service/alive"].occasions == 1


@pytest.mark.parametrize(
    ("habit", "problem"),
    [
        ("infinity", "the answer is not JSON: it has `Infinity`"),
        ("twice", "the answer repeats the member `result` of one object"),
    ],
)
def test_an_answer_is_json_to_every_reader(habit: str, problem: str, tmp_path: Path) -> None:
    """A number without digits and a member twice, which some readers take, are errors."""
    report = judge(tmp_path, habit)
    assert failing(report) == {"rpc/response"}
    (found,) = report.result.findings
    assert problem in found.finding.message


def test_a_replay_begins_the_session(tmp_path: Path) -> None:
    """A process refuses what comes before the first steps of its session. A refusal with another
    code than that of the finding disproves nothing.
    """
    report = judge(tmp_path, "needs-ready", "no-text")
    found = next(
        one
        for one in report.result.findings
        if one.finding.code == "not_open" and one.finding.evidence[-1].transport == "jsonrpc"
    )
    verdicts: list[str] = []
    whole, contract = configured(tmp_path, "needs-ready", "no-text"), build_contract(taxonomy())
    for config in (whole, replace(whole, session=replace(whole.session, start=()))):
        with connect(contract, config, "") as send:
            verdicts.append(replay(found, contract, config, send).verdict)
    assert verdicts == ["reproduced", "undecided"]


def test_a_use_after_the_end_is_found(tmp_path: Path) -> None:
    """The call that leads to a state is made with the steps that it needs."""
    assert failing(judge(tmp_path, "reads-closed")) == {"rpc/state"}


def test_a_state_that_is_not_reached_decides_nothing(tmp_path: Path) -> None:
    """If the call that leads to a state is refused, or its params are not known, no service is
    blamed.
    """
    unknown = CONFIG.replace("  open: {request: open, params: {name: a}}\n", "")
    unknown = unknown.replace("before: [OPEN], ", "")
    report = judge(tmp_path, config=unknown.replace(", INVALID", ""))
    assert "rpc/state" not in failing(report)
    assert report.result.clauses["rpc/state"].occasions == 2  # before `open`


def test_a_step_that_is_refused_is_named(tmp_path: Path) -> None:
    """A call whose step before it is refused could not be made: the service is not blamed."""
    report = judge(tmp_path, config=CONFIG.replace("before: [OPEN], request: read", WRONG))
    assert "rpc/invalid-params" not in failing(report)
    problems = " ".join(report.result.not_run)
    assert "answered open, which another call needs, with error -32602" in problems


WRONG = "before: [{request: open, params: {nam: a}, save: {handle: /result/handle}}], request: read"


@pytest.mark.parametrize("code", ["-32999", "closed"])
def test_an_unknown_code_of_bad_params_is_an_error(code: str, tmp_path: Path) -> None:
    """The code or number by which bad params are refused is one of the taxonomy."""
    path = tmp_path / "conformance.yaml"
    path.write_text(written(CONFIG.replace("INVALID", INVALID.replace("-32602", code))))
    read = read_config(str(path), {})
    assert read.target is not None
    (problem,) = check_config(read.target, taxonomy(), read.document)
    assert problem.code == "unknown-code"
    assert code in problem.message


def test_a_silence_to_bad_params_is_waited_for_as_long_as_answers_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message that the configuration calls bad has a patience of its own."""
    patience: list[float | None] = []
    transmit = Process.transmit

    def note(self: Process, message: Message) -> object:
        if b'"other"' in message.body:
            patience.append(message.patience)
        return transmit(self, message)

    monkeypatch.setattr(Process, "transmit", note)
    assert failing(judge(tmp_path, "silent-params")) == {"rpc/invalid-params"}
    assert patience
    assert None not in patience


def test_a_wrong_framing_ends_the_run(tmp_path: Path) -> None:
    """If the first step gets no answer, nothing else is sent, and the run names the framing."""
    config = CONFIG.replace("HABITS]}", "HABITS], framing: content-length}").replace(
        "{request: ready, notification: true}", "{request: ping}"
    )
    report = judge(tmp_path, config=config.replace("seconds: 60", "seconds: 4"))
    assert report.result.requests == 1
    assert "is `framing: content-length` right? The other one is `lines`" in str(report.result)


@pytest.mark.parametrize("transport", ["stdio", "mcp"])
def test_a_command_beside_a_command_is_misplaced(transport: str, tmp_path: Path) -> None:
    """`command` starts a service at an address. Beside the command of standard streams it would
    start nothing, and is an error.
    """
    path = tmp_path / "conformance.yaml"
    path.write_text(f"target: {{{transport}: [server], command: [server]}}\n")
    (problem,) = read_config(str(path), {}).diagnostics
    assert problem.code == "misplaced-key"
    assert "`command` starts a service at an address" in problem.message


#: A service over HTTP that gives each message the same answer: `python -c SERVER PORT`.
SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_a_command_starts_a_service_at_an_address(tmp_path: Path) -> None:
    """A JSON-RPC service over HTTP is started by `target: {command: …}`, and ends with the run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    target = ServiceConfig(
        jsonrpc=f"http://127.0.0.1:{port}/rpc",
        command=(sys.executable, "-c", SERVER, str(port)),
        path=str(tmp_path / "conformance.yaml"),
    )
    report = run(target, taxonomy(), RunOptions())
    assert isinstance(report, Report), report
    assert report.result.requests > 1
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


@pytest.mark.parametrize(("text", "fails"), [("nothing is open", False), ("it is gone", True)])
def test_a_recipe_by_name_expects_values(text: str, fails: bool, tmp_path: Path) -> None:
    """The last answer of a recipe has the slots that it expects, over any transport."""
    recipe = f"not_open: {{request: close, expect: {{slots: {{message: {text}}}}}}}"
    report = judge(tmp_path, config=CONFIG.replace("provoke:\n", f"provoke:\n  {recipe}\n"))
    assert failing(report) == ({"provoke/expected"} if fails else set())
    assert report.result.clauses["provoke/expected"].occasions == 1
