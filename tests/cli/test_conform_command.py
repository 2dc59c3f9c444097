"""`faultspec conform` and `faultspec init conformance` as a user meets them: exit codes, messages,
reports.
"""

import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import jsonschema
import pytest
from starlette.types import Receive, Scope, Send

from faultspec.cli import main
from faultspec_conformance import config as configuration
from faultspec_conformance import reports
from miniatures.core_platform import ENVIRONMENT
from miniatures.serve import serving
from miniatures.sins import sinning
from paths import TESTS
from support import command_line

HERE = TESTS
ROOT = HERE.parent
PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")
CONFIG = str(HERE / "miniatures" / "notebooks.yaml")


def faultspec(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line with the callers of the notebooks."""
    return command_line.faultspec(*arguments, cwd=cwd, environment={**ENVIRONMENT, **environment})


@pytest.fixture(scope="module")
def behaving() -> Iterator[str]:
    """The notebooks, as they should be."""
    with serving(sinning()) as base:
        yield base


def test_a_behaving_service_is_clean(behaving: str, tmp_path: Path) -> None:
    """Exit code 0, the table on standard output, and each report that was asked for."""
    files = {name: tmp_path / "deep" / f"report.{name}" for name in reports.FORMATS}
    options = [option for name, path in files.items() for option in ("--report", f"{name}={path}")]
    done = faultspec(
        "conform", CONFIG, "--no-sweep", "--require-coverage", "all", *options, BASE_URL=behaving
    )
    assert done.returncode == 0, done.stderr
    assert "16 of 16 codes observed" in done.stdout
    assert " 0 failed," in done.stdout
    assert all(path.stat().st_size > 500 for name, path in files.items() if name != "github")
    assert files["github"].read_text().count("::") == 2, "nothing but the counts"
    jsonschema.Draft202012Validator(reports.report_schema()).validate(
        json.loads(files["json"].read_text())
    )
    assert not any(
        token in done.stdout + done.stderr
        for token in ENVIRONMENT.values()
        if token.startswith("tok-")
    )


def test_a_sinning_service_is_caught() -> None:
    """Exit code 1, and the finding on standard output with a command line that reproduces it."""
    with serving(sinning("no-store-missing-on-404")) as base:
        done = faultspec("conform", CONFIG, "--no-sweep", "--format", "json", BASE_URL=base)
    assert done.returncode == 1
    found = json.loads(done.stdout)["findings"]
    assert {each["clause"] for each in found} == {"headers/cache-control"}
    assert all(
        each["statements"] == ["C13"] and all(line.startswith("curl -sS") for line in each["curl"])
        for each in found
    )


def test_a_url_alone_is_read_only(behaving: str) -> None:
    """With a URL alone nothing is written, and the report names the clauses that were not
    exercised.
    """
    done = faultspec(
        "conform",
        behaving,
        "--format",
        "json",
        "--header",
        f"Authorization: Bearer {ENVIRONMENT['NOTEBOOKS_BIRCH_EDITOR']}",
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    verdicts = {each["clause"]: each for each in data["clauses"]}
    assert verdicts["framework/unknown-route"]["verdict"] == "passed"
    assert verdicts["auth/missing"]["verdict"] == "passed"
    assert verdicts["idempotency/replay"]["verdict"] == "not_exercised"
    assert "writes" in verdicts["framework/malformed-json"]["reason"]
    assert data["summary"]["generated"] == 0
    assert ENVIRONMENT["NOTEBOOKS_BIRCH_EDITOR"] not in done.stdout


def test_only_some_clauses(behaving: str) -> None:
    """`--only`, also repeated, judges by the clauses that match, and knows when none does."""
    done = faultspec(
        "conform",
        CONFIG,
        "--no-sweep",
        "--only",
        "tenancy/*",
        "--format",
        "json",
        BASE_URL=behaving,
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert [each["clause"] for each in data["clauses"]] == ["tenancy/concealed"]
    assert data["summary"]["requests"] < 40
    two = faultspec(
        *("conform", CONFIG, "--no-sweep", "--format", "json"),
        *("--only", "tenancy/*", "--only", "auth/missing"),
        BASE_URL=behaving,
    )
    clauses = {each["clause"] for each in json.loads(two.stdout)["clauses"]}
    assert clauses == {"tenancy/concealed", "auth/missing"}, two.stderr
    none = faultspec("conform", CONFIG, "--no-sweep", "--only", "tenency/*", BASE_URL=behaving)
    assert none.returncode == 2
    assert "matches no clause" in none.stderr
    assert "did you mean `tenancy/*`?" in none.stderr
    other = faultspec(
        "conform", CONFIG, "--no-sweep", "--only", "zzz", BASE_URL="http://127.0.0.1:9"
    )
    assert other.returncode == 2
    assert "the families are" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (("conform", "nowhere.yaml"), "there is no such file"),
        (("conform", CONFIG, "--report", "pdf=x"), "is not FORMAT=FILE"),
        (
            ("conform", "http://127.0.0.1:9", "--taxonomy", "nowhere.yaml"),
            "there is no such file",
        ),
        (("conform", "http://127.0.0.1:9", "--header", "no colon"), "a header is NAME:VALUE"),
        (("conform", CONFIG, "--header", "A: b"), "need a URL"),
        (("conform",), "Missing argument"),
        (("init", "conformance", "--openapi", "nowhere.json"), "there is no such file"),
        (("init", "conformance", "--openapi", "README.md"), "is not an OpenAPI document"),
        (("init", "conformance"), "Missing option '--openapi'"),
    ],
)
def test_what_cannot_run_says_why(arguments: tuple[str, ...], phrase: str, tmp_path: Path) -> None:
    """Exit code 2, one clear message on standard error, never a traceback."""
    done = faultspec(*arguments, BASE_URL="http://127.0.0.1:9")
    assert done.returncode == 2
    assert phrase in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_nobody_listening(tmp_path: Path) -> None:
    """An unreachable service exits with 2, and the message names the address."""
    done = faultspec("conform", CONFIG, "--no-sweep", BASE_URL="http://127.0.0.1:9")
    assert done.returncode == 2
    assert "error[unreachable]: cannot connect to http://127.0.0.1:9" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("conform", CONFIG, "--no-sweep"),
        ("conform", "http://admin:p4ssw0rd@127.0.0.1:9"),
        ("init", "conformance", "--openapi", "http://admin:p4ssw0rd@127.0.0.1:9/openapi.json"),
    ],
)
def test_a_password_in_an_address_is_not_printed(arguments: tuple[str, ...]) -> None:
    """Neither the message nor its hint repeats the credentials of an unreachable address."""
    done = faultspec(*arguments, BASE_URL="http://admin:p4ssw0rd@127.0.0.1:9")
    assert done.returncode == 2
    assert "127.0.0.1:9" in done.stderr
    assert "p4ssw0rd" not in done.stdout + done.stderr


def test_a_missing_variable_is_named() -> None:
    """A missing variable is reported with its place."""
    done = faultspec("conform", CONFIG, BASE_URL="")
    assert done.returncode == 2
    assert "the variable BASE_URL is empty" in done.stderr
    assert "notebooks.yaml:3:16" in done.stderr


WAIVERS = """
- clause: headers/cache-control
  reason: the gateway sets it from the next release on
  owner: gateway team
  expires: {expires}
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("sin", "expires", "code", "phrase"),
    [
        ("no-store-missing", "2999-01-01", 0, "known: headers/cache-control"),
        ("no-store-missing", "2001-01-01", 1, "expired on 2001-01-01 (gateway team)"),
        ("", "2999-01-01", 1, "is no longer needed"),
    ],
)
def test_waivers(sin: str, expires: str, code: int, phrase: str, tmp_path: Path) -> None:
    """A known failure does not fail the run; one that expired, or that nothing needs, does."""
    config = tmp_path / "conformance.yaml"
    text = Path(CONFIG).read_text().replace("../../taxonomy.yaml", str(ROOT / "taxonomy.yaml"))
    config.write_text(text + "waivers: known.yaml\n")
    (tmp_path / "known.yaml").write_text(WAIVERS.format(expires=expires))
    with serving(sinning(*([sin] if sin else []))) as base:
        done = faultspec("conform", str(config), "--no-sweep", BASE_URL=base)
    assert done.returncode == code, done.stdout[-2000:]
    assert phrase in done.stdout


def test_the_first_draft_runs(behaving: str, tmp_path: Path) -> None:
    """The draft of a configuration is understood as it is, runs, and finds nothing in a service
    that behaves.
    """
    draft = tmp_path / "conformance.yaml"
    taxonomy = str(ROOT / "taxonomy.yaml")
    done = faultspec(
        "init",
        "conformance",
        str(draft),
        "--openapi",
        f"{behaving}/openapi.json",
        "--taxonomy",
        taxonomy,
    )
    assert done.returncode == 0, done.stderr
    again = faultspec(
        "init",
        "conformance",
        str(draft),
        "--openapi",
        f"{behaving}/openapi.json",
        "--taxonomy",
        taxonomy,
    )
    assert again.returncode == 2
    assert "the file exists already" in again.stderr
    tokens = {
        "FIRST_TOKEN": ENVIRONMENT["NOTEBOOKS_BIRCH_EDITOR"],
        "SECOND_TOKEN": ENVIRONMENT["NOTEBOOKS_CEDAR_EDITOR"],
    }
    draft.write_text(draft.read_text().replace("writes: false", "writes: true"))
    judged = faultspec("conform", str(draft), "--no-sweep", "--format", "json", **tokens)
    assert judged.returncode == 0, judged.stdout[-3000:] + judged.stderr
    data = json.loads(judged.stdout)
    verdicts = {each["clause"]: each["verdict"] for each in data["clauses"]}
    for clause in (
        "idempotency/replay",
        "tenancy/concealed",
        "preconditions/recovers",
        "duplicates/existing-id",
        "batch/bad-items",
    ):
        assert verdicts[clause] == "passed", clause
    assert data["coverage"]["timeout"]["observed"]


def test_a_draft_in_another_folder_loads(behaving: str, tmp_path: Path) -> None:
    """Paths given on the command line are relative to here, those in the file to the file."""
    shutil.copy(ROOT / "taxonomy.yaml", tmp_path)
    document = httpx.get(f"{behaving}/openapi.json").text
    (tmp_path / "openapi.json").write_text(document)
    done = subprocess.run(
        [
            *PROGRAM,
            "init",
            "conformance",
            "--openapi",
            "openapi.json",
            "--http",
            behaving,
            "deep/er/conf.yaml",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read = configuration.read_config(
        str(tmp_path / "deep/er/conf.yaml"), {"FIRST_TOKEN": "a", "SECOND_TOKEN": "b"}
    )
    assert read.diagnostics == ()
    assert read.target is not None
    assert Path(read.target.taxonomy or "").samefile(tmp_path / "taxonomy.yaml")
    assert Path(read.target.openapi_file or "").samefile(tmp_path / "openapi.json")


@pytest.mark.parametrize(
    "raw", [b"\x00\x01garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{}"]
)
def test_a_first_answer_that_is_none_is_reported(raw: bytes, tmp_path: Path) -> None:
    """Somebody listens and does not speak HTTP: the service failed, and the report says so."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def babble() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(raw)

        threading.Thread(target=babble, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        report = tmp_path / "report.json"
        done = faultspec(
            "conform", CONFIG, "--no-sweep", "--report", f"json={report}", BASE_URL=url
        )
    assert done.returncode == 1, done.stderr
    data = json.loads(report.read_text())
    assert [(each["clause"], each["level"]) for each in data["findings"]] == [
        ("service/alive", "error")
    ]
    assert {each["verdict"] for each in data["clauses"]} <= {
        "failed",
        "could_not_run",
        "not_checkable",
    }


def test_a_missing_document_is_reported_as_missing(behaving: str) -> None:
    """If the service runs and its document is missing, the message is about the document."""
    token = ENVIRONMENT["NOTEBOOKS_BIRCH_EDITOR"]
    done = faultspec(
        "conform",
        behaving,
        "--taxonomy",
        "taxonomy.yaml",
        "--openapi",
        "/nope.json",
        "--header",
        f"Authorization: Bearer {token}",
    )
    assert done.returncode == 2
    assert "/nope.json holds no OpenAPI document (404)" in done.stderr
    assert "check `openapi`" in done.stderr
    assert "running" not in done.stderr


def test_an_interrupted_run_writes_its_results_so_far(tmp_path: Path) -> None:
    """SIGINT in mid-run leaves a report, unreached clauses could not run, and the exit code is
    130.
    """
    started: list[subprocess.Popen[str]] = []
    asked = itertools.count()
    inner = sinning()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if next(asked) == 40:
            started[0].send_signal(signal.SIGINT)
        await inner(scope, receive, send)

    report = tmp_path / "report.json"
    with serving(app) as base:
        environment = {**os.environ, **ENVIRONMENT, "BASE_URL": base}
        started.append(
            subprocess.Popen(
                [*PROGRAM, "conform", CONFIG, "--report", f"json={report}"],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        out, err = started[0].communicate(timeout=60)
    assert started[0].returncode == 130, err
    assert "Traceback" not in err
    assert "the run was interrupted" in out
    data = json.loads(report.read_text())
    verdicts = {each["clause"]: each["verdict"] for each in data["clauses"]}
    assert verdicts["framework/unknown-route"] == "passed"
    assert verdicts["retry/recovers"] == "could_not_run"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_before_its_probes_writes_its_report(
    tmp_path: Path, end: signal.Signals
) -> None:
    """A service that accepts a connection and says nothing is interrupted with a report."""
    report = tmp_path / "report.json"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = subprocess.Popen(
            [
                *PROGRAM,
                "conform",
                f"http://127.0.0.1:{listener.getsockname()[1]}",
                "--seconds",
                "40",
                "--report",
                f"json={report}",
            ],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        listener.settimeout(60)
        listener.accept()
        process.send_signal(end)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "the run was interrupted" in out
    assert json.loads(report.read_text())["clauses"]


def test_an_observed_code_that_was_declared_impossible_is_reported(
    behaving: str, tmp_path: Path
) -> None:
    """A code that the file calls not provokable, and that the run observed, is noted: the
    declaration is wrong.
    """
    config = tmp_path / "conformance.yaml"
    text = Path(CONFIG).read_text().replace("../../taxonomy.yaml", str(ROOT / "taxonomy.yaml"))
    recipes, _, other = text.partition("  not_found:\n")
    after = other[other.index("  validation_failed:") :]
    text = f"{recipes}  not_found: {{not_provokable: nothing is ever lost}}\n{after}"
    config.write_text(text)
    done = faultspec(
        "conform", str(config), "--no-sweep", "--only", "framework/unknown-route", BASE_URL=behaving
    )
    assert done.returncode == 0, done.stdout
    assert (
        "not_found is declared not_provokable (nothing is ever lost), and was observed"
        in done.stdout
    )


def test_a_missing_file_is_reported_where_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing taxonomy and missing waivers are reported at the lines that name them, both in
    one run.
    """
    (tmp_path / "c.yaml").write_text(
        "taxonomy: nothing.yaml\ntarget: {http: 'http://127.0.0.1:1'}\nwaivers: none.yaml\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(["conform", str(tmp_path / "c.yaml")])
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert re.findall(
        r"c\.yaml:(\d+:\d+): error: the file \S*(nothing|none)\.yaml does not exist", printed
    ) == [
        ("1:11", "nothing"),
        ("3:10", "none"),
    ]


def test_what_a_command_prints_is_masked_on_the_console(tmp_path: Path) -> None:
    """A service that ends before it listens is quoted without the secrets of the configuration,
    also where its output is cut within one.
    """
    secret = "open-sesame-8h2kQ7-and-more"  # of this test
    for before in (0, 360, 385, 4000):
        text = f"'y' * {before} + os.environ['STOK'] + 'z' * 380"
        program = f"import os, sys; sys.exit({text})"
        write_service(tmp_path, [sys.executable, "-c", program])
        done = faultspec("conform", "conformance.yaml", cwd=tmp_path, STOK=secret)
        assert done.returncode == 2
        assert "it ended before it listened" in done.stderr
        assert not [at for at in range(len(secret) - 7) if secret[at : at + 8] in done.stderr]


def test_a_command_that_never_listens_is_waited_for_as_long_as_the_run_may_take(
    tmp_path: Path,
) -> None:
    """The limit of seconds holds for the start too."""
    write_service(tmp_path, [sys.executable, "-c", "import time; time.sleep(60)"])
    done = faultspec("conform", "conformance.yaml", "--seconds", "1", cwd=tmp_path, STOK="tok-1234")
    assert done.returncode == 2
    assert "does not listen at" in done.stderr
    assert "1 s after its start" in done.stderr


def write_service(folder: Path, command: list[str]) -> None:
    """Write a configuration that starts a command on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    shutil.copy(TESTS / "miniatures" / "vault-taxonomy.yaml", folder / "taxonomy.yaml")
    (folder / "conformance.yaml").write_text(
        f"taxonomy: taxonomy.yaml\n"
        f"target: {{http: 'http://127.0.0.1:{port}', command: {json.dumps(command)}}}\n"
        'identities: {alice: {headers: {Authorization: "Bearer ${STOK}"}}}\n'
    )
