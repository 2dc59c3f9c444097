"""`--faultspec-watch` judges what tests get from their service, with no edit of the tests."""

import asyncio
import http.server
import json
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from faultspec.exchange.model import ABOUT_BODY, Exchange
from faultspec_conformance.observed.clients import ObservedClients, is_local_host
from observed.test_pytest_plugin import PLUGIN, TAXONOMY

pytest_plugins = ("pytester",)

LEAK = '{"code": "x", "message": "Traceback (most recent call last):\\n  File \\"/srv/a.py\\", line 3"}'


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Silence the log of the service."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def observed() -> Iterator[list[Exchange]]:
    """The exchanges of all clients while a test runs."""
    seen: list[Exchange] = []
    clients = ObservedClients(seen.append)
    clients.wrap()
    yield seen
    clients.unwrap()


class Answering(http.server.BaseHTTPRequestHandler):
    """Redirects `/old`, and answers anything else with an error."""

    def do_GET(self) -> None:
        """Answer."""
        moved = self.path == "/old"
        body = b"" if moved else LEAK.encode()
        self.send_response(302 if moved else 500)
        if moved:
            self.send_header("Location", "/new")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A service on loopback."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


TESTS = {
    "starlette": """
from starlette.testclient import TestClient
from faultspec_conformance.orders.demo import service

def test_price():
    headers = {"Authorization": "Bearer demo-alice", "X-Fault": "internal_error"}
    client = TestClient(service("leaks-stack-trace"))
    assert client.get("/prices/tea", headers=headers).status_code == 500
""",
    "httpx": """
import asyncio, httpx
from faultspec_conformance.orders.demo import service

def test_price():
    async def ask():
        transport = httpx.ASGITransport(service("leaks-stack-trace"))
        async with httpx.AsyncClient(transport=transport, base_url="http://orders.test") as client:
            headers = {"Authorization": "Bearer demo-alice", "X-Fault": "internal_error"}
            return await client.get("/prices/tea", headers=headers)
    assert asyncio.run(ask()).status_code == 500
""",
    "requests": """
import requests

def test_price():
    assert requests.get("ADDRESS/prices/tea").status_code == 500
""",
    "django": """
import django
from django.conf import settings
from django.http import HttpResponse
from django.urls import path

LEAK = LEAKED

def price(request, sku):
    return HttpResponse(LEAK, content_type="application/json", status=500)

urlpatterns = [path("prices/<str:sku>/", price)]

if not settings.configured:
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x")
    django.setup()

def test_price():
    from django.test import Client
    assert Client().get("/prices/tea/").status_code == 500
""",
    "flask": """
from flask import Flask

LEAK = LEAKED
app = Flask(__name__)

@app.get("/prices/<sku>")
def price(sku):
    return LEAK, 500, {"Content-Type": "application/json"}

def test_price():
    assert app.test_client().get("/prices/tea").status_code == 500
""",
    "unittest": """
import unittest
from flask import Flask

LEAK = LEAKED
app = Flask(__name__)
app.add_url_rule("/prices", view_func=lambda: (LEAK, 500, {"Content-Type": "application/json"}))

class TestPrices(unittest.TestCase):
    def test_price(self):
        assert app.test_client().get("/prices").status_code == 500
""",
}


#: The clients that `make test` tries; the others take a session each.
QUICK = ("starlette", "httpx")


@pytest.mark.parametrize(
    "client",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in TESTS],
)
def test_a_leak_fails_its_test(client: str, address: str, pytester: pytest.Pytester) -> None:
    """Whichever client a test uses, a leak in an answer fails it, and no test is edited."""
    source = TESTS[client].replace("ADDRESS", address).replace("LEAKED", repr(LEAK))
    pytester.makepyfile(source)
    command = (sys.executable, "-m", "pytest", *PLUGIN, f"--faultspec={TAXONOMY}")
    done = pytester.run(*command, "--faultspec-watch", timeout=60)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*leaks/stack-trace*", "1 exchanges judged by platform*"])
    pytester.run(*command, timeout=60).assert_outcomes(passed=1)


PHASES = """
import httpx, pytest

ELSEWHERE = httpx.Client(
    transport=httpx.MockTransport(lambda _: httpx.Response(500, text="Traceback (most recent")),
    base_url="https://api.payments.example.com",
)

def ask():
    return httpx.get("ADDRESS/prices/tea").status_code

@pytest.fixture
def before():
    ask()

@pytest.fixture
def after():
    yield
    ask()

def test_sound():
    pass

def test_fixture(before):
    pass

def test_teardown(after):
    pass

def test_elsewhere():
    assert ELSEWHERE.get("/").status_code == 500

def test_with_the_fixture(faultspec):
    faultspec.client(httpx.Client()).get("ADDRESS/prices/tea")
"""


def test_every_phase_is_judged_and_no_other_service(
    address: str, pytester: pytest.Pytester
) -> None:
    """An answer in a fixture fails the test, one in a teardown is an error; the answers of another
    host are counted and not judged; a client that the fixture observes as well is judged once.
    """
    pytester.makepyfile(PHASES.replace("ADDRESS", address))
    path = pytester.path / "report.json"
    done = pytester.runpytest_inprocess(
        *PLUGIN, f"--faultspec={TAXONOMY}", "--faultspec-watch", f"--faultspec-report=json={path}"
    )
    done.assert_outcomes(passed=3, failed=2, errors=1)
    done.stdout.fnmatch_lines(["1 exchanges with api.payments.example.com are not judged*"])
    assert json.loads(path.read_text())["summary"]["requests"] == 3
    assert not hasattr(httpx.Client.send, "__wrapped__")
    named = pytester.runpytest_inprocess(
        *PLUGIN,
        f"--faultspec={TAXONOMY}",
        "--faultspec-watch",
        "-o",
        "faultspec_hosts=api.payments.example.com",
    )
    named.assert_outcomes(passed=2, failed=3, errors=1)


LEAKING = """
import httpx

TRACE = 'Traceback (most recent call last):\\n  File "/srv/app.py", line 3, in price\\nKeyError: 1'


def answer(request):
    return httpx.Response(404, json={"detail": TRACE})


def test_price():
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        assert client.get("http://localhost/prices").status_code == 404
"""


def test_a_session_without_a_taxonomy_is_judged_by_what_every_service_owes(
    pytester: pytest.Pytester,
) -> None:
    """A leak fails its test; the shape of the error, which nobody declared, does not."""
    pytester.makepyfile(LEAKING)
    done = pytester.runpytest_inprocess(*PLUGIN, "--faultspec-watch")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*leaks/stack-trace*"])
    assert "envelope/" not in done.stdout.str()


def test_a_session_masks_the_secrets_of_its_environment(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The application of a test has the environment of the tests, and may answer with a secret of
    it. Neither the output nor a report shows it.
    """
    secret = "Zx9Kq7tR3mN5vB8wL2"
    monkeypatch.setenv("SVC_TOKEN", secret)
    pytester.makepyfile(LEAKING.replace("KeyError: 1", f"KeyError: {secret}"))
    done = pytester.runpytest_inprocess(
        *PLUGIN, "--faultspec-watch", "--faultspec-report", "json=report.json"
    )
    done.assert_outcomes(failed=1)
    report = (pytester.path / "report.json").read_text()
    assert "leaks/stack-trace" in report
    assert "KeyError: ${SVC_TOKEN}" in report
    assert secret not in done.stdout.str() + report


def test_a_session_takes_the_taxonomy_of_its_project(pytester: pytest.Pytester) -> None:
    """The only taxonomy of `faultspec.yaml` judges; of several, one has to be named."""
    pytester.makepyfile(LEAKING)
    (pytester.path / "errors.yaml").write_bytes(Path(TAXONOMY).read_bytes())
    project = pytester.path / "faultspec.yaml"
    project.write_text("taxonomies: [errors.yaml]\n")
    done = pytester.runpytest_inprocess(*PLUGIN, "--faultspec-watch")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*envelope/*"])
    (pytester.path / "more.yaml").write_bytes(Path(TAXONOMY).read_bytes())
    project.write_text("taxonomies: {errors.yaml: {out: a}, more.yaml: {out: b}}\n")
    done = pytester.runpytest_inprocess(*PLUGIN, "--faultspec-watch")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stdout.fnmatch_lines(["*name one taxonomy of *"])


DJANGO_TESTS = """
from django.test import SimpleTestCase

class Prices(SimpleTestCase):
    def test_a_leak(self):
        assert self.client.get("/prices/tea/").status_code == 500

    def test_sound(self):
        pass
"""

DJANGO_RUN = """
import sys
from django.conf import settings
from django.http import HttpResponse
from django.urls import path

LEAK = LEAKED
urlpatterns = [path("prices/<str:sku>/", lambda request, sku: HttpResponse(
    LEAK, content_type="application/json", status=500))]
settings.configure(
    ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x", DATABASES={},
    TEST_RUNNER="faultspec_conformance.observed.django_runner.JudgingRunner",
    FAULTSPEC=OPTIONS,
)
from django.core.management import execute_from_command_line
execute_from_command_line(["run.py", "test", "--parallel", "2"])
"""


@pytest.mark.parametrize(
    ("options", "code", "phrase"),
    [
        ({"taxonomy": str(TAXONOMY)}, 1, "leaks/stack-trace"),
        ({}, 1, "leaks/stack-trace"),
        ({"taxonomy": "absent.yaml"}, 1, "absent.yaml"),
        ({"taxonomy": str(TAXONOMY), "host": "x"}, 1, "FAULTSPEC has no option host"),
    ],
)
def test_a_line_judges_the_tests_of_django(
    options: dict[str, str], code: int, phrase: str, pytester: pytest.Pytester
) -> None:
    """The runner fails the tests whose answers break the contract, and says what is wrong with its
    options.
    """
    pytester.makepyfile(test_prices=DJANGO_TESTS)
    source = DJANGO_RUN.replace("LEAKED", repr(LEAK)).replace("OPTIONS", repr(options))
    pytester.makepyfile(run=source)
    done = pytester.run(sys.executable, "run.py", timeout=60)
    output = done.stdout.str() + done.stderr.str()
    assert done.ret == code
    assert phrase in output
    if phrase == "leaks/stack-trace":
        assert "FAILED (failures=1)" in output
        assert "1 exchanges judged by" in output


DJANGO_CRASH = """
from django.test import SimpleTestCase

class Prices(SimpleTestCase):
    def test_a_crash(self):
        self.client.raise_request_exception = False
        assert self.client.get("/crash/").status_code == 500
"""


def test_a_run_of_django_shows_its_warnings(pytester: pytest.Pytester) -> None:
    """A crash that a test brings about fails nothing, and stands at the end, as in pytest. The
    taxonomy is found as pytest finds it.
    """
    (pytester.path / "taxonomy.yaml").write_bytes(Path(TAXONOMY).read_bytes())
    pytester.makepyfile(test_crash=DJANGO_CRASH)
    body = json.dumps({"code": "internal_error", "message": "It failed", "correlation_id": "c"})
    source = DJANGO_RUN.replace("LEAKED", repr(body)).replace("FAULTSPEC=OPTIONS,", "")
    source = source.replace("prices/<str:sku>/", "crash/").replace("request, sku:", "request:")
    pytester.makepyfile(run=source)
    done = pytester.run(sys.executable, "run.py", timeout=60)
    output = done.stdout.str() + done.stderr.str()
    assert "warnings, which fail no test:\nwarning: service/no-crash" in output, output
    assert "exchanges judged by platform 1" in output


DJANGO_CLASS = """
from django.test import Client, SimpleTestCase

class Prices(SimpleTestCase):
    @classmethod
    def tearDownClass(cls):
        Client().get("/prices/tea/")
        super().tearDownClass()

    def test_sound(self):
        pass
"""


def test_an_answer_after_the_last_test_of_django_fails_the_run(pytester: pytest.Pytester) -> None:
    """No test is left that could fail for it."""
    pytester.makepyfile(test_prices=DJANGO_CLASS)
    options = {"taxonomy": str(TAXONOMY)}
    source = DJANGO_RUN.replace("LEAKED", repr(LEAK)).replace("OPTIONS", repr(options))
    pytester.makepyfile(run=source)
    done = pytester.run(sys.executable, "run.py", timeout=60)
    output = done.stdout.str() + done.stderr.str()
    assert done.ret == 1
    assert "leaks/stack-trace" in output
    assert "answers after the last test" in output


LATE = """
import httpx, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish():
    httpx.get("ADDRESS/prices/tea")
"""


@pytest.mark.parametrize(("mode", "code"), [("fail", 1), ("report", 0)])
def test_an_answer_after_its_test_fails_the_session(
    mode: str, code: int, address: str, pytester: pytest.Pytester
) -> None:
    """A thread may get one, and no test is left that could fail for it."""
    pytester.makeconftest(LATE.replace("ADDRESS", address))
    pytester.makepyfile("def test_sound(): pass")
    done = pytester.runpytest_inprocess(
        *PLUGIN, f"--faultspec={TAXONOMY}", "--faultspec-watch", "-o", f"faultspec_mode={mode}"
    )
    done.assert_outcomes(passed=1)
    assert done.ret == code
    done.stdout.fnmatch_lines(["*leaks/stack-trace*"])


@pytest.mark.full
@pytest.mark.parametrize(("mode", "code"), [("fail", 1), ("report", 0)])
def test_an_answer_after_its_test_fails_the_session_of_a_worker(
    mode: str, code: int, address: str, pytester: pytest.Pytester
) -> None:
    """With pytest-xdist the controller has the findings of its workers, and their exit code."""
    pytest.importorskip("xdist")
    pytester.makeconftest(LATE.replace("ADDRESS", address))
    pytester.makepyfile("def test_sound(): pass")
    watching = (f"--faultspec={TAXONOMY}", "--faultspec-watch", "-o", f"faultspec_mode={mode}")
    done = pytester.runpytest_subprocess(*PLUGIN, *watching, "-n1")
    done.assert_outcomes(passed=1)
    assert done.ret == code
    done.stdout.fnmatch_lines(["*leaks/stack-trace*"])


def test_long_bodies_are_not_judged(observed: list[Exchange], address: str) -> None:
    """A download, or what a hostile service packed, is not held twice, nor is an upload. A note
    says that errors were not judged.
    """
    long = httpx.MockTransport(lambda _: httpx.Response(404, content=b"x" * 5_000_000))
    httpx.Client(transport=long).post("http://x.test/", content=b"y" * 5_000_000)
    large = Response("x" * 5_000_000, status=404)
    Client(Request.application(lambda _: large)).get("/")
    requests.post(f"{address}/upload", data=b"y" * 5_000_000)
    assert [exchange.request.body for exchange in observed] == [b""] * 3
    assert [exchange.response.body for exchange in observed[:2]] == [b""] * 2
    assert all(exchange.lacks >= ABOUT_BODY for exchange in observed[:2])


def test_redirects_are_seen_once(observed: list[Exchange], address: str) -> None:
    """Each answer of a chain of redirects is one exchange, in its order."""
    requests.get(f"{address}/old")
    httpx.get(f"{address}/old", follow_redirects=True)
    moving = Client(
        Request.application(
            lambda request: (
                Response("", 302, {"Location": "/new"})
                if request.path == "/old"
                else Response(LEAK, 500)
            )
        )
    )
    moving.open("/old", follow_redirects=True)
    statuses = [exchange.response.status for exchange in observed]
    assert sorted(map(str, statuses)) == ["302"] * 3 + ["500"] * 3
    targets = [exchange.request.target.rpartition("/")[2] for exchange in observed]
    assert sorted(targets) == ["new"] * 3 + ["old"] * 3


def test_a_stream_is_left_to_its_reader(observed: list[Exchange], address: str) -> None:
    """An answer that is not read yet is judged by its head, and its reader gets all of it."""
    with httpx.stream("GET", address) as answer:
        assert answer.read().decode() == LEAK
    with requests.get(address, stream=True) as streamed:
        assert b"".join(streamed.iter_content()).decode() == LEAK

    async def ask() -> bytes:
        async with httpx.AsyncClient() as client, client.stream("GET", address) as answer:
            return await answer.aread()

    assert asyncio.run(ask()).decode() == LEAK
    assert [exchange.response.status for exchange in observed] == [500] * 3
    assert all(exchange.response.body == b"" for exchange in observed)
    assert all(exchange.lacks >= ABOUT_BODY for exchange in observed)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *[(host, True) for host in ("testserver", "127.0.0.1", "::1", "orders.test", "")],
        *[(host, False) for host in ("api.stripe.com", "10.0.0.1", "fd00::1", "test.com")],
    ],
)
def test_only_this_machine_and_made_up_hosts_are_local(host: str, local: bool) -> None:
    """A host that may be another service is not judged unless it is named."""
    assert is_local_host(host) == local
