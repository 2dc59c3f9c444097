"""Secrets of a command line, of a configuration and of the environment stand in nothing that a
command prints or writes.
"""

import base64
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from unittest import mock
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.cli import secrets
from faultspec_conformance.config import read_config
from faultspec_conformance.config.addresses import draft_address, find_address_secrets
from support.command_line import faultspec
from support.examples import examples

SECRET = "Zx9Kq7tR3mN5vB8wL2"

#: An address at which nothing listens: the port of tcpmux.
NOWHERE = "127.0.0.1:1"

TAXONOMY = """
faultspec: 1
taxonomy: {name: echo, version: 1.0.0, title: Echo, owner: nobody}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
codes: {absent: {summary: Not there, http: 404, retriable: none, client_action: none, effect: none}}
"""

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": f"Echo of {SECRET}", "version": "1"},
    "paths": {
        "/things/{id}": {
            "get": {
                "summary": f"The thing {SECRET}",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
                "responses": {"200": {"description": SECRET}, "404": {"description": SECRET}},
            }
        }
    },
}


class Echo(BaseHTTPRequestHandler):
    """Answers with all that it is asked, in names and values, headers and encodings."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet an answer

    def handle_one_request(self) -> None:
        """Answer any method."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, body = (
            404,
            {
                "code": "surprise",
                SECRET: [self.path, *map(str, self.headers.values())],
                "coded": base64.b64encode(SECRET.encode()).decode(),
            },
        )
        if "openapi" in self.path:
            status, body = 200, DOCUMENT
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Echo", SECRET)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """Host and port of a service that repeats everything."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


REPORTS = tuple(
    option
    for name in ("json", "html", "sarif", "junit", "markdown", "github", "text")
    for option in ("--report", f"{name}=report.{name}")
)

#: The limits of a run. It need not find anything.
SHORT = ("--seconds", "2", "--requests", "40", *REPORTS)

CALLER, ASKED = f"http://user:{SECRET}@", f"?token={SECRET}"


class Case(NamedTuple):
    """A command line with a secret; ``HOST`` stands for the service. ``file``: what is in
    conformance.yaml. ``variable``: which one of the environment has the secret.
    """

    name: str
    arguments: tuple[str, ...]
    file: str = ""
    variable: str = "PW"


def _of_arguments() -> Iterator[Case]:
    for host in ("HOST", NOWHERE):
        url = f"{CALLER}{host}/{ASKED}"
        yield Case(f"conform {host}", ("conform", url, *SHORT))
        yield Case(f"json {host}", ("conform", f"{CALLER}{host}", *SHORT, "--format", "json"))
        document = f"{CALLER}{host}/openapi.json{ASKED}"
        yield Case(f"document {host}", ("conform", "http://HOST", "--openapi", document, *SHORT))
        yield Case(f"init {host}", ("init", "--from", url, "new.yaml"))
        yield Case(f"draft {host}", ("init", "conformance", "--openapi", document, "new.yaml"))
        yield Case(
            f"both {host}",
            (
                "init",
                "conformance",
                "--openapi",
                document,
                "--http",
                f"{CALLER}{NOWHERE}",
                "n.yaml",
            ),
        )
        yield Case(f"replay {host}", ("replay", "given.json", "FOUND", "--base", url))
    local = ("init", "conformance", "--openapi", "document.json")
    yield Case("address", (*local, "--http", f"{CALLER}{NOWHERE}/{ASKED}", "new.yaml"))
    yield Case(
        "address from",
        ("init", "--from", "document.json", "--http", f"{CALLER}{NOWHERE}", "n.yaml"),
    )
    yield Case("audit", ("audit", "given.har", "--base", f"{CALLER}{NOWHERE}", *REPORTS))
    yield Case("lint", ("lint", f"{CALLER}{NOWHERE}/{ASKED}"))
    yield Case("import", ("import", "openapi", f"{CALLER}{NOWHERE}/{ASKED}"))
    yield Case("forgotten --from", ("init", f"{CALLER}{NOWHERE}/{ASKED}"))
    for name, url in {
        "port": f"{CALLER}127.0.0.1:99999/",
        "host": f"{CALLER}[::1",
        "slash": f"http://user:/{SECRET}@{NOWHERE}/",
        "user": f"http://{SECRET}@{NOWHERE}/",
    }.items():
        for command in (
            ("conform",),
            ("init", "--from"),
            ("replay", "given.json", "FOUND", "--base"),
            ("audit", "given.har", "--base"),
            ("init", "conformance", "--openapi"),
            (*local, "--http"),
            ("init", "--from", "document.json", "--http"),
        ):
            yield Case(f"{' '.join(command)} {name}", (*command, url))
    for name, header in {
        "header": f"Authorization: Bearer {SECRET}",
        "key": f"X-Api-Key: {SECRET}",
        "scheme": f"Bearer {SECRET}",
        "alone": SECRET,
        "blank": f"Auth orization: {SECRET}",
        "lines": f"Authorization: {SECRET}\n x",
    }.items():
        yield Case(f"conform {name}", ("conform", "http://HOST", *SHORT, "--header", header))
        yield Case(f"equals {name}", ("conform", "http://HOST", "--bogus", f"--header={header}"))
        if name != "key":  # a service is explored for seconds
            file = ("--header", header, "n.yaml")
            yield Case(f"init {name}", ("init", "--from", "http://HOST", *file))
        yield Case(f"replay {name}", ("replay", "given.json", "FOUND", "--header", header))
    yield Case("misspelt", ("conform", "http://HOST", "--headers", f"Authorization: {SECRET}"))
    yield Case("forgotten --header", ("conform", "http://HOST", f"Authorization: {SECRET}"))
    yield Case("two", ("conform", "http://HOST", f"{CALLER}{NOWHERE}"))
    yield Case("unknown option", ("conform", f"{CALLER}HOST", "--bogus"))


def _of_files() -> Iterator[Case]:
    """Configurations with a secret, which `${PW}` has."""
    for host in ("HOST", NOWHERE):
        for transport in ("http", "jsonrpc", "mcp"):
            rest = "/rpc?x=${PW}" if transport != "http" else "/${PW}"
            for name, target in {
                "variable": "http://u:${PW}@" + host + rest,
                "literal": f"{CALLER}{host}",
                "whole": "${PW}",
            }.items():
                file = f'target: {{{transport}: "{target}"}}\n'
                yield Case(f"{name} {transport} {host}", ("conform", "c.yaml", *SHORT), file)
    for name, target in {
        "document": 'http: "http://HOST", openapi: "${PW}"',
        "document at": 'http: "http://HOST", openapi: "http://HOST/openapi.json?t=${PW}"',
        "command": f'http: "http://{NOWHERE}", command: ["false", "${{PW}}"]',
        "missing command": f'http: "http://{NOWHERE}", command: ["${{PW}}"]',
        "streams": 'stdio: [sh, -c, "echo $0 >&2; exit 3", "${PW}"]',
    }.items():
        yield Case(name, ("conform", "c.yaml", *SHORT), f"target: {{{target}}}\n")
    for name, headers in {
        "variable header": 'Authorization: "Bearer ${PW}"',
        "odd variable": 'X-Whatever: "${PW}"',
        "literal header": f'Authorization: "Bearer {SECRET}"',
        "line end": f'Authorization: "Bearer {SECRET}\\n"',
        "open quote": f'Authorization: "Bearer {SECRET}',
        "repeated": f'Authorization: "{SECRET}", Authorization: "Bearer {SECRET}"',
        "list": f'Authorization: "Bearer {SECRET}", X-Odd: [1]',
    }.items():
        file = 'target: {http: "http://HOST", openapi: /openapi.json}\n'
        file += f"identities: {{a: {{headers: {{{headers}}}}}}}\n"
        yield Case(name, ("conform", "c.yaml", *SHORT), file)
    yield Case(
        "taxonomy", ("conform", "c.yaml"), 'taxonomy: "${PW}"\ntarget: {http: "http://HOST"}\n'
    )


def _of_environment() -> Iterator[Case]:
    """Commands that do not know the secret, beside a service that has it."""
    document = "http://HOST/openapi.json"
    for name, arguments in {
        "address": ("conform", "http://HOST", *SHORT),
        "printed": ("conform", "http://HOST", *SHORT, "--format", "json"),
        "document": ("conform", "http://HOST", "--openapi", document, *SHORT),
        "draft": ("init", "--from", "http://HOST", "new.yaml"),
        "drafted document": ("init", "conformance", "--openapi", document, "new.yaml"),
        "audit": ("audit", "given.har", *REPORTS),
        "part": ("audit", "given.har", "--part", "part.json"),
    }.items():
        yield Case(f"environment {name}", arguments, variable="SVC_TOKEN")


CASES = [*_of_arguments(), *_of_files(), *_of_environment()]


@pytest.fixture(scope="module")
def given_report(echo: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A report of the service, and a fingerprint in it."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "taxonomy.yaml").write_text(TAXONOMY)
    arguments = ("--requests", "60", "--report", "json=given.json", "--header", f"X-Key: {SECRET}")
    faultspec("conform", f"http://{echo}", *arguments, cwd=folder)
    text = (folder / "given.json").read_text()
    return text, json.loads(text)["findings"][0]["fingerprint"]


def _run(
    case: Case, folder: Path, echo: str, given: tuple[str, str]
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """The end of a command, and what it wrote by the name of each file."""
    text, fingerprint = given
    inputs = {"taxonomy.yaml": TAXONOMY, "given.json": text, "document.json": json.dumps(DOCUMENT)}
    answered = json.dumps({"code": "zz", "of": f"key {SECRET}"})
    entry = {
        "request": {"method": "GET", "url": f"{CALLER}{NOWHERE}/a{ASKED}", "headers": []},
        "response": {"status": 404, "headers": [], "content": {"text": answered}},
    }
    inputs["given.har"] = json.dumps({"log": {"version": "1.2", "entries": [entry]}})
    before = "" if case.file.startswith("taxonomy") else "taxonomy: taxonomy.yaml\n"
    inputs["c.yaml"] = before + case.file.replace("HOST", echo)
    for name, content in inputs.items():
        (folder / name).write_text(content)
    arguments = (
        each.replace("HOST", echo).replace("FOUND", fingerprint) for each in case.arguments
    )
    done = faultspec(*arguments, cwd=folder, environment={case.variable: SECRET})
    files = [file for file in folder.rglob("*") if file.is_file() and file.name not in inputs]
    return done, {file.name: file.read_text() for file in files}


#: The secret as it is, and as a reader may decode it.
FORMS = (SECRET, base64.b64encode(SECRET.encode()).decode().rstrip("="), SECRET.encode().hex())


def _leaks(text: str) -> bool:
    return any(form.lower() in text.lower() for form in FORMS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_secret_leaves_a_command(
    case: Case, echo: str, given_report: tuple[str, str], tmp_path: Path
) -> None:
    """Neither output nor a file contains a secret, wherever it was given, and whether the command
    succeeds or refuses. No command breaks by it.
    """
    done, files = _run(case, tmp_path, echo, given_report)
    shown = {"stdout": done.stdout, "stderr": done.stderr, **files}
    leaking = {name: text for name, text in shown.items() if _leaks(text)}
    assert not leaking, {name: text[:3000] for name, text in leaking.items()}
    assert not re.search("internal-error|please report|Traceback", done.stdout + done.stderr)
    assert done.stdout + done.stderr, "a command says something"


@pytest.mark.parametrize(
    "name", ["forgotten --header", "open quote", "conform port", "two", "list"]
)
def test_the_exit_is_what_masks(
    name: str, echo: str, given_report: tuple[str, str], tmp_path: Path
) -> None:
    """Without what the exit knows, these commands show the secret, so the law above can fail."""
    (case,) = (case for case in CASES if case.name == name)
    with mock.patch.object(secrets, "remember"):
        done, _ = _run(case, tmp_path, echo, given_report)
    assert _leaks(done.stderr)


@pytest.mark.parametrize("option", ["--from", "conformance"])
def test_a_draft_names_the_variables_of_its_address(option: str, echo: str, tmp_path: Path) -> None:
    """A draft has variables in place of user name and password, and no query. A note says which
    to set, and with them the file is read without a mistake.
    """
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    (tmp_path / "document.json").write_text(json.dumps(DOCUMENT))
    address = f"{CALLER}{echo}/api?token={SECRET}"
    arguments = ("init", "conformance", "--openapi", "document.json", "--http", address)
    if option == "--from":
        (tmp_path / "taxonomy.yaml").unlink()
        arguments = ("init", "--from", "document.json", "--http", address)
    done = faultspec(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "SERVICE_USER and SERVICE_PASSWORD" in done.stderr
    assert "`token`" in done.stderr
    environment = {"SERVICE_USER": "user", "SERVICE_PASSWORD": SECRET}
    text = (tmp_path / "conformance.yaml").read_text()
    assert f"http://${{SERVICE_USER}}:${{SERVICE_PASSWORD}}@{echo}/api" in text
    with mock.patch.dict("os.environ", environment):
        loaded = read_config(str(tmp_path / "conformance.yaml"), environment)
    assert loaded.draft is not None
    assert loaded.draft.http == f"{CALLER}{echo}/api"


VALUES = st.text(min_size=4).filter(
    lambda text: not re.fullmatch(r"[A-Za-z]+|[\d.,:-]+|v\d+|\$\{\w+\}", text)
)


@examples(200)
@given(VALUES, VALUES, VALUES)
def test_the_secrets_of_an_address(user: str, password: str, value: str) -> None:
    """User name, password and the values of the query are found, as they are written and as they
    are sent; a draft of the address has none of them.
    """
    coded = [quote(text, safe="", errors="surrogatepass") for text in (user, password, value)]
    url = "http://{}:{}@127.0.0.1:80/path?x=1&name={}#end".format(*coded)
    found = {secret for secret, _ in find_address_secrets(url)}
    assert {*coded, *map(unquote, coded)} <= found
    drafted = draft_address(url, "SERVICE")
    assert drafted.text == "http://${SERVICE_USER}:${SERVICE_PASSWORD}@127.0.0.1:80/path"
    assert drafted.left_out == ("x", "name")


@pytest.mark.parametrize(
    ("query", "masked"),
    [("format=json", "format=***"), ("token=json", "token=***"), ("since=2024-05", "since=***")],
)
def test_ordinary_values_of_a_query_are_masked_with_their_names(query: str, masked: str) -> None:
    """A value that texts have by chance is masked where its name precedes it, and nowhere else,
    unless the name says that it is a secret.
    """
    with secrets.masked_output(("conform", f"http://127.0.0.1/?{query}")):
        assert secrets.mask_known(f"http://127.0.0.1/?{query}") == f"http://127.0.0.1/?{masked}"
        word = query.partition("=")[2]
        assert (word in secrets.mask_known(f"application/{word}")) == (query[:5] != "token")
