"""Laws of the generated Go transport, which are those of `test_generated_clients`: it reads the
typed error of an answer, and sends again what its policy allows, on real connections.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faultspec.render import render, write
from faultspec.targets import SHIPPED
from faultspec.targets.go import package_name
from miniatures.serve import serving
from paths import ROOT
from support.command_line import faultspec
from support.once import build_once
from targets.test_generated_clients import KEY, PATIENCE, Service
from targets.test_target_go import go
from targets.test_typescript_clients import taxonomies

HARNESS = Path(__file__).parent / "go_client_harness.txt"
PLATFORM, SHELVES = "platform", "shelves"

pytestmark = [pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")]


class GoClients(NamedTuple):
    """Compiled programs, one for each taxonomy."""

    folder: Path

    def call(self, taxonomy: str, *calls: dict[str, Any]) -> list[dict[str, Any]]:
        """The results of calls, one after the other, in one process."""
        done = subprocess.run(
            [str(self.folder / f"call-{taxonomy}")],
            input=json.dumps(calls),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> GoClients:
    """The programs of the flagship and of a taxonomy without keys."""

    def build(folder: Path) -> None:
        (folder / "go.mod").write_text("module example.test/bindings\n\ngo 1.23\n")
        for taxonomy in taxonomies():
            package = package_name(taxonomy.name)
            write(render(taxonomy, [SHIPPED["go"]], "t.yaml"), folder, ["go"])
            (folder / "go" / package).rename(folder / package)
            program = folder / "call" / taxonomy.name
            program.mkdir(parents=True)
            (program / "main.go").write_text(HARNESS.read_text().replace("PACKAGE", package))
            built = go(folder, "build", "-o", f"call-{taxonomy.name}", f"./call/{taxonomy.name}")
            assert built.returncode == 0, built.stderr

    return GoClients(build_once(tmp_path_factory, "go-clients", build))


def request(base: str, method: str = "GET", **others: Any) -> dict[str, Any]:
    """One call."""
    body = {} if method == "GET" else {"body": "{}"}
    return {"url": f"{base}/", "method": method, "headers": {}, **body, **others}


@pytest.mark.parametrize("zipped", [False, True])
def test_an_error_in_go_is_that_of_its_code(zipped: bool, clients: GoClients) -> None:
    """With status and message; packed bodies too."""
    service = Service([404], code="not_found", zipped=zipped)
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(base))
    assert sent["error"] == {"code": "not_found", "status": 404, "message": "No", "known": True}
    assert (len(service.seen), sent["waits"]) == (1, [])


@pytest.mark.parametrize("known", [True, False])
def test_an_error_in_go_is_parsed_up_to_a_mebibyte(known: bool, clients: GoClients) -> None:
    """A longer one is unknown."""
    service = Service([404], code="not_found", padding=1000 if known else 1 << 20)
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(base))
    assert (sent["error"]["known"], sent["error"]["status"]) == (known, 404)


def test_a_client_in_go_gives_up_an_error_that_unpacks_to_nothing(clients: GoClients) -> None:
    """The bytes that come are not seen; their time is bounded."""
    with Service([]).served() as base:
        (sent,) = clients.call(PLATFORM, {**request(base), "url": f"{base}/nothing"})
    assert (sent["error"]["known"], sent["error"]["status"]) == (False, 404)
    assert sent["seconds"] < PATIENCE - 5


def test_a_read_in_go_is_sent_again_until_the_policy_ends(clients: GoClients) -> None:
    """It goes on until it succeeds, at most as often as the policy allows."""
    healing = Service([503, 503])
    with healing.served() as base:
        (sent,) = clients.call(PLATFORM, request(base))
    assert (sent["status"], sent["text"]) == (200, '{"ok": true}')
    assert (len(sent["waits"]), len(healing.seen)) == (2, 3)
    broken = Service([503] * 50)
    with broken.served() as base:
        (sent,) = clients.call(PLATFORM, request(base))
    assert sent["error"]["code"] == "dependency_unavailable"
    assert 1 < len(broken.seen) < 20


def test_retry_after_is_kept_in_go(clients: GoClients) -> None:
    """The wait is at least that of the header."""
    service = Service([429], headers={"Retry-After": "7"}, code="rate_limited")
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(base))
    assert (sent["status"], len(sent["waits"])) == (200, 1)
    assert sent["waits"][0] >= 7


def test_all_tries_of_a_write_in_go_have_one_key(clients: GoClients) -> None:
    """A write gets a key, the same in all its tries; another write has another. A given key stays.
    The body is the same each time.
    """
    service = Service([503, 503])
    with service.served() as base:
        write_ = request(base, "POST")
        first, second = clients.call(PLATFORM, write_, write_)
        assert (first["status"], second["status"]) == (200, 200)
        keys = [key for _, key, _ in service.seen]
        assert (len(keys), None in keys, len(set(keys[:3]))) == (4, False, 1)
        assert keys[3] not in keys[:3]
        assert {body for _, _, body in service.seen} == {b"{}"}
        service.script, service.seen = [503], []
        clients.call(PLATFORM, {**write_, "headers": {KEY: "mine"}})
        assert [key for _, key, _ in service.seen] == ["mine", "mine"]


def test_nothing_is_sent_twice_in_go_that_may_have_taken_effect(clients: GoClients) -> None:
    """A write without a key is sent again only if its failure had no effect; a read always is."""
    for method, code, status, tries in (
        ("POST", "busy", 503, 1),
        ("POST", "full", 507, 2),
        ("GET", "busy", 503, 2),
        ("PUT", "busy", 503, 2),
    ):
        service = Service([status], code=code)
        with service.served() as base:
            clients.call(SHELVES, request(base, method))
        assert len(service.seen) == tries, (method, code)


def test_a_body_that_is_read_once_is_sent_once_in_go(clients: GoClients) -> None:
    """A stream cannot be sent again, whatever the error says."""
    service = Service([503])
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(base, "PUT", once=True))
    assert sent["error"]["code"] == "dependency_unavailable"
    assert [body for _, _, body in service.seen] == [b"{}"]


def test_calls_in_go_share_a_budget(clients: GoClients) -> None:
    """Retries of all calls are paid from one bucket, and a success gives back."""
    service = Service([507] * 5, code="full")
    with service.served() as base:
        call = request(base, retries="shared")
        found = clients.call(SHELVES, call, call, call)
    assert [each["status"] for each in found] == [507, 507, 200]
    assert len(service.seen) == 4 + 1 + 1


def test_a_member_marks_an_error_in_go(clients: GoClients) -> None:
    """Where the taxonomy finds errors by a member of the body, so does the client."""

    async def answer(_: Request) -> Response:
        return Response(b'{"code": "full", "errors": []}', media_type="application/json")

    with serving(Starlette(routes=[Route("/", answer)])) as base:
        (sent,) = clients.call(SHELVES, request(base))
    assert sent["error"]["code"] == "full"


def test_an_ended_context_ends_the_wait(clients: GoClients) -> None:
    """The call fails at once, and nothing more is sent."""
    service = Service([429], headers={"Retry-After": "30"}, code="rate_limited")
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, request(base, abortAfter=300))
    assert "deadline exceeded" in sent["failed"]
    assert (sent["seconds"] < 10, len(service.seen)) == (True, 1)


@pytest.mark.full
def test_the_suite_finds_nothing_in_the_client_in_go(clients: GoClients, tmp_path: Path) -> None:
    """`faultspec conform --client` passes without a line of its own."""
    program = clients.folder / "suite"
    program.mkdir(exist_ok=True)
    (program / "main.go").write_text(
        """package main

import (
	"net/http"
	"os"
	"strings"

	errs "example.test/bindings/platformerrors"
)

func main() {
	retries := &errs.Retries{Scale: 0.05}
	client := &http.Client{Transport: &errs.Transport{Retries: retries}}
	response, err := client.Post(os.Getenv("CALL_URL")+"/", "application/json", strings.NewReader("{}"))
	if err == nil {
		_ = errs.Check(response)
	}
}
"""
    )
    built = go(clients.folder, "build", "-o", str(tmp_path / "client"), "./suite")
    assert built.returncode == 0, built.stderr
    (tmp_path / "conformance.yaml").write_text(
        f"""
taxonomy: {ROOT / "taxonomy.yaml"}
client:
  command: [./client]
  env: CALL_URL
  request: POST /
  scale: 0.05
  seconds: 20
limits: {{seconds: 240}}
"""
    )
    done = faultspec("conform", "--client", "conformance.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
