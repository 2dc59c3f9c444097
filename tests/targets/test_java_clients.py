"""Laws of the generated client for `java.net.http`, which are those of `test_generated_clients`: it
throws the typed error of an answer, and sends again what its policy allows, on real connections.
"""

import json
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.targets.go import package_name
from faultspec.targets.java import base_name
from miniatures.serve import serving
from paths import ROOT
from support.command_line import faultspec
from support.java import JAVA, compile_java, compile_package, needs_javac
from support.once import build_once
from targets.test_generated_clients import KEY, PATIENCE, Service
from targets.test_typescript_clients import taxonomies

HERE = Path(__file__).parent
PLATFORM, SHELVES = "platform", "shelves"

pytestmark = [needs_javac]


class JavaClients(NamedTuple):
    """Compiled clients of both taxonomies."""

    folder: Path

    def call(self, taxonomy: str, *calls: dict[str, Any]) -> list[Any]:
        """The results of calls, one after the other, in one process."""
        lines = [" ".join(f"{name}={value}" for name, value in call.items()) for call in calls]
        done = subprocess.run(
            [*JAVA, "-cp", str(self.folder / "classes"), f"Client_{taxonomy}", *lines],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> JavaClients:
    """The packages of both taxonomies, compiled with a program that uses them."""

    def build(folder: Path) -> None:
        programs = []
        for taxonomy in taxonomies():
            for path, text in render(taxonomy, [SHIPPED["java"]], "t.yaml").items():
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
            package = package_name(taxonomy.name)
            compile_package(folder, package)
            text = (HERE / "java_client.txt").read_text(encoding="utf-8")
            name = f"Client_{taxonomy.name}"
            text = text.replace("PACKAGE", package).replace("BASE", base_name(taxonomy))
            programs.append(folder / f"{name}.java")
            programs[-1].write_text(text.replace("CLASS", name), encoding="utf-8")
        programs.append(folder / "Conformed.java")
        programs[-1].write_text((HERE / "java_conformed.txt").read_text(encoding="utf-8"))
        compile_java(folder, programs)

    return JavaClients(build_once(tmp_path_factory, "java-clients", build))


def test_an_error_is_thrown_as_itself_in_java(clients: JavaClients) -> None:
    """The exception of its code, with status and message. One of more than 1 MiB is unknown."""
    service = Service([404], code="not_found", padding=1000)
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, {"url": f"{base}/"})
        service.script, service.padding = [404], 1 << 20
        long, endless = clients.call(PLATFORM, {"url": f"{base}/"}, {"url": f"{base}/long?coding="})
    assert (sent["error"], sent["code"]) == ("NotFoundException", "not_found")
    assert (sent["status"], sent["message"], sent["waits"]) == (404, "No", [])
    assert (long["error"], endless["error"]) == ("UnknownCodeException",) * 2


def test_a_client_in_java_gives_up_an_error_that_comes_slowly(clients: JavaClients) -> None:
    """A body that comes blank by blank is read for a bounded time, then the error is unknown."""
    with Service([]).served() as base:
        began = time.monotonic()
        (sent,) = clients.call(PLATFORM, {"url": f"{base}/slow"})
    assert sent["error"] == "UnknownCodeException"
    assert time.monotonic() - began < PATIENCE - 5


def test_a_read_is_sent_again_until_the_policy_ends_in_java(clients: JavaClients) -> None:
    """It goes on until it succeeds, at most as often as the policy allows, after its waits."""
    service = Service([503, 503])
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, {"url": f"{base}/"})
        assert (sent["status"], sent["body"]) == (200, "{'ok': true}")
        assert sent["waits"] == pytest.approx(
            [1.9, 3.8]
        )  # 2 and 4 s less a tenth, and a quarter of the band
        service.script, service.seen = [503] * 50, []
        (sent,) = clients.call(PLATFORM, {"url": f"{base}/"})
    assert sent["error"] == "DependencyUnavailableException"
    assert 1 < len(service.seen) < 20


def test_retry_after_is_kept_in_java(clients: JavaClients) -> None:
    """The wait is at least that of the header."""
    service = Service([429], headers={"Retry-After": "7"}, code="rate_limited")
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, {"url": f"{base}/"})
    assert (sent["status"], len(sent["waits"])) == (200, 1)
    assert sent["waits"][0] >= 7


def test_all_tries_of_a_write_have_one_key_in_java(clients: JavaClients) -> None:
    """A write gets a key, the same in all its tries; another write has another. A given key stays.
    The body is the same each time.
    """
    service = Service([503, 503])
    with service.served() as base:
        write = {"url": f"{base}/", "method": "POST"}
        first, second = clients.call(PLATFORM, write, write)
        assert (first["status"], second["status"]) == (200, 200)
        keys = [key for _, key, _ in service.seen]
        assert len(keys) == 4
        assert None not in keys
        assert len(set(keys[:3])) == 1
        assert keys[3] not in keys[:3]
        assert {body for _, _, body in service.seen} == {b"{}"}
        service.script, service.seen = [503], []
        clients.call(PLATFORM, {**write, "key": "mine"})
    assert KEY == "Idempotency-Key"
    assert [key for _, key, _ in service.seen] == ["mine", "mine"]


def test_nothing_is_sent_twice_in_java_that_may_have_taken_effect(clients: JavaClients) -> None:
    """A write without a key is sent again only if its failure had no effect; a read always is."""
    for method, code, status, tries in (
        ("POST", "busy", 503, 1),
        ("POST", "full", 507, 2),
        ("GET", "busy", 503, 2),
        ("PUT", "busy", 503, 2),
    ):
        service = Service([status], code=code)
        with service.served() as base:
            clients.call(SHELVES, {"url": f"{base}/", "method": method})
        assert len(service.seen) == tries, (method, code)


def test_calls_share_a_budget_in_java(clients: JavaClients) -> None:
    """Retries of all calls are paid from one bucket, and a success gives back."""
    service = Service([507] * 5, code="full")
    with service.served() as base:
        found = clients.call(SHELVES, *[{"url": f"{base}/"}] * 3)
    assert [each.get("error") for each in found] == ["FullException", "FullException", None]
    assert len(service.seen) == 4 + 1 + 1


def test_a_member_marks_an_error_in_java(clients: JavaClients) -> None:
    """Where the taxonomy finds errors by a member of the body, so does the client. Any other body
    reaches the caller whole, whatever its length, and while it is still sent.
    """

    async def answer(_: Request) -> Response:
        return Response(b'{"code": "full", "errors": []}', media_type="application/json")

    async def long(_: Request) -> Response:
        return Response(b'"' + b"x" * 3_000_000 + b'"', media_type="application/json")

    routes = [Route("/", answer), Route("/long", long)]
    with serving(Starlette(routes=routes)) as base, Service([]).served() as other:
        marked, whole, streamed, short, endless = clients.call(
            SHELVES,
            {"url": f"{base}/"},
            {"url": f"{base}/long"},
            {"url": f"{base}/long", "stream": 4_000_000},
            {"url": f"{other}/"},
            {"url": f"{other}/events", "stream": 9},
        )
    assert (marked["error"], marked["code"]) == ("FullException", "full")
    assert len(whole["body"]) == int(streamed["body"]) == 3_000_002
    assert short["body"] == "{'ok': true}"
    assert endless["body"] == "7"


def test_an_interrupt_ends_the_wait_in_java(clients: JavaClients) -> None:
    """The call throws at once, and nothing more is sent."""
    service = Service([429], headers={"Retry-After": "30"}, code="rate_limited")
    with service.served() as base:
        (sent,) = clients.call(PLATFORM, {"url": f"{base}/", "interrupt": 1})
    assert (sent["status"], len(service.seen)) == (0, 1)


@pytest.mark.full
def test_the_suite_finds_nothing_in_the_client_in_java(
    clients: JavaClients, tmp_path: Path
) -> None:
    """`faultspec conform --client` passes."""
    (tmp_path / "conformance.yaml").write_text(
        f"""
taxonomy: {ROOT / "taxonomy.yaml"}
client:
  command: [{", ".join(JAVA)}, -cp, {clients.folder / "classes"}, Conformed]
  env: CALL_URL
  request: POST /
  scale: 0.05
  seconds: 20
limits: {{seconds: 240}}
"""
    )
    done = faultspec("conform", "--client", "conformance.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
