"""Secrets in addresses and headers of the command line stand in nothing that a command writes."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from faultspec.cli import main
from faultspec.source import parse
from faultspec_conformance.config import parse_config
from faultspec_conformance.config.addresses import find_address_secrets, plain_address
from render.test_compile import TAXONOMY

SECRET = "Zx9Kq7tR3mN5vB8wL2"

OPENAPI = '{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {"/a": {"get": {"responses": {"200": {"description": "x"}}}}}}'


class _Service(BaseHTTPRequestHandler):
    """Answers every request with an error."""

    def do_GET(self) -> None:
        """Answer."""
        body = b'{"code": "missing", "message": "no"}'
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_OPTIONS = do_GET  # noqa: N815  # the names that the server calls

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    """The host of a service."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def written(folder: Path) -> str:
    """The text of all files below a folder."""
    return "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "command",
    [
        "conform http://user:{}@HOST/ --seconds 3 --report json=r.json --report html=r.html",
        "conform http://user:{}@HOST/?key={} --seconds 3 --report json=r.json",
        "init --from http://user:{}@HOST/x?token={}",
        "init --from http://user:{}@HOST/",
        "conform http://HOST/ --seconds 3 --report json=r.json --path /x?token={}",
        "init --from http://HOST/ --path /x?token={}",
    ],
)
def test_nothing_written_has_the_secrets_of_an_address(
    command: str,
    service: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Reports, drafts and the terminal show neither the password nor the query."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        main(command.replace("HOST", service).replace("{}", SECRET).split())
    shown = capsys.readouterr()
    assert exit_.value.code in (0, 1, 2)
    assert SECRET not in shown.out + shown.err + written(tmp_path)
    assert "internal-error" not in shown.err


def test_a_draft_of_a_configuration_has_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address has variables in their place, and a note says which."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    (tmp_path / "openapi.json").write_text(OPENAPI)
    with pytest.raises(SystemExit) as exit_:
        main(
            "init conformance made.yaml --taxonomy taxonomy.yaml --openapi openapi.json"
            f" --http http://user:{SECRET}@127.0.0.1:9".split()
        )
    shown = capsys.readouterr()
    assert exit_.value.code == 0
    assert "@127.0.0.1:9" in (tmp_path / "made.yaml").read_text()
    assert "SERVICE_PASSWORD" in shown.err
    assert SECRET not in shown.out + shown.err + written(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        ["conform", "http://127.0.0.1:9", "--header", f"Bearer {SECRET}"],
        ["conform", "http://127.0.0.1:9", "--header", f"Auth orization: {SECRET}"],
        ["conform", "http://127.0.0.1:9", "--header", f"Authorization: {SECRET}\n x"],
        ["init", "--from", "http://127.0.0.1:9", "--header", f"Bearer {SECRET}"],
        ["conform", f"http://u:{SECRET}@127.0.0.1:99999/"],
        ["conform", f"http://u:{SECRET}@[::1"],
        ["conform", f"http://u:{SECRET}@127.0.0.1:9/?k={SECRET}"],
        ["init", "--from", f"http://u:{SECRET}@127.0.0.1:99999/"],
        ["init", "--from", f"http://u:{SECRET}@[::1"],
        ["conform", "http://127.0.0.1:9", "--path", f"http://127.0.0.1:9/x?token={SECRET}"],
        ["init", "--from", "http://127.0.0.1:9", "--path", f"x?token={SECRET}"],
    ],
)
def test_no_error_quotes_a_secret(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Malformed headers and addresses are refused, and not quoted with their secrets."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    shown = capsys.readouterr()
    assert exit_.value.code == 2
    assert SECRET not in shown.out + shown.err
    assert "internal-error" not in shown.err


@pytest.mark.parametrize(
    "target",
    [
        '{http: "${PW}"}',
        '{http: "http://u:${PW}@[::1"}',
        '{http: "http://127.0.0.1:${PW}"}',
        '{http: "http://127.0.0.1:9", openapi: "${PW}"}',
        '{mcp: "no address ${PW}"}',
    ],
)
def test_no_diagnostic_of_a_configuration_shows_the_environment(target: str) -> None:
    """A mistake beside a variable names the variable, and not its value."""
    document, before = parse(f"taxonomy: t.yaml\ntarget: {target}\n", "c.yaml")
    assert document is not None
    found = parse_config(document, {"PW": SECRET}, before)
    assert found.diagnostics
    assert SECRET not in "".join(f"{each.message}{each.hint}" for each in found.diagnostics)


def test_the_secrets_of_an_address_are_known_in_all_forms() -> None:
    """User, password and values of the query, also percent-encoded and in a broken address."""
    secrets = {text for text, _ in find_address_secrets("http://us%40er:p:w@[::1/x?a=b_1&c_2#d")}
    assert secrets == {"us%40er", "us@er", "p:w", "b_1", "c_2"}
    assert [*find_address_secrets("http://h/x")] == []
    assert plain_address("http://us%40er:p:w@h:1/x?a=b1&c#d") == "http://h:1/x"
    assert re.fullmatch(r"http://h/", plain_address("http://h/"))
