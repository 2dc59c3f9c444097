"""Laws of watching clients: each sin is caught by its clause, and a client that follows the
generated planner is left alone.
"""

import gc
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import urllib3

from faultspec import language, source
from faultspec.contract.clauses import CLAUSES, client_clauses
from faultspec.language.model import Taxonomy
from faultspec_conformance import config
from faultspec_conformance.config import ClientConfig
from faultspec_conformance.results.model import Report, Result, exit_code
from faultspec_conformance.run import clients
from faultspec_conformance.run.clients import judge_clients
from faultspec_conformance.session.options import RunOptions
from paths import ROOT
from support import ordering

#: Codes of each client action, policy and effect; all sixteen take as long again for nothing new.
CODES = (
    "invalid_request",
    "unauthenticated",
    "rate_limited",
    "timeout",
    "dependency_unavailable",
    "stale_read",
)


def platform(codes: tuple[str, ...] | None = CODES) -> Taxonomy:
    """The Core Platform taxonomy, with these codes."""
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    if codes is None:
        return taxonomy
    return taxonomy._replace(
        codes={name: each for name, each in taxonomy.codes.items() if name in codes}
    )


class Watched(NamedTuple):
    """How a sin is found: the clause that catches it, the request, the codes, and the scale of
    the waits.
    """

    clause: str
    request: str = "POST /orders"
    codes: tuple[str, ...] = CODES
    scale: float = 0.003


WAITING = ("dependency_unavailable",)

KILLS: Mapping[str, Watched] = {
    "gives-up-at-once": Watched("client/retries", codes=("timeout",)),
    "tries-refusals-again": Watched(
        "client/gives-up", codes=("invalid_request", "unauthenticated")
    ),
    "tries-once-more": Watched("client/attempts", codes=("timeout",)),
    "tries-for-ever": Watched("client/attempts", codes=("timeout",)),
    "hurries": Watched("client/waits", codes=WAITING, scale=0.05),
    "dawdles": Watched("client/waits", codes=("timeout",)),
    "ignores-retry-after": Watched("client/retry-after", codes=("rate_limited",)),
    "waits-without-jitter": Watched("client/jitter", codes=("timeout",), scale=0.05),
    "new-key-each-try": Watched("client/key", codes=("timeout",)),
    "one-key-for-all": Watched("client/key", codes=("timeout",)),
    "writes-without-a-key": Watched("client/unsafe", codes=("timeout",)),
    "overwrites": Watched("client/refetches", "PUT /orders/{id}", ("stale_read",)),
    "reads-in-vain": Watched("client/refetches", "PUT /orders/{id}", ("stale_read",)),
    "shows-conflicts": Watched("client/refetches", "PUT /orders/{id}", ("stale_read",)),
    "short-ids": Watched("client/correlation", codes=("invalid_request",)),
}


def configured(text: str) -> config.ServiceConfig:
    """The target in a text without mistakes."""
    document, found = source.parse(text, "conformance.yaml")
    assert document is not None, found
    loaded = config.parse_config(document, {})
    assert loaded.target is not None, loaded.diagnostics
    return loaded.target


def here(sin: str | None) -> Callable[[ClientConfig, str, Callable[[], bool]], str | None]:
    """Run the client in this process, where it takes no time to start; it can't be ended, so it
    ends when it has shown enough.
    """

    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        class Enough(Exception):
            pass

        class Caller(ordering.Client):
            def goes_on(self, planned: ordering.Plan, tries: int) -> bool:
                if shown():
                    raise Enough
                return super().goes_on(planned, tries)

        with suppress(Enough):
            Caller(url, client.scale, sin).call(
                client.request.method, client.request.path.replace("{id}", "7")
            )
        return None

    return launch


def watched(sin: str | None, seen: Watched) -> Result:
    """The findings for the client with this sin."""
    config = f'client: {{command: [ordering], env: ORDERS_URL, request: "{seen.request}", scale: {seen.scale}}}\n'
    report = judge_clients(configured(config), platform(seen.codes), RunOptions(), here(sin))
    assert isinstance(report, Report)
    return report.result


def test_every_sin_and_every_clause_is_accounted_for() -> None:
    """Each sin has its clause, and each clause about clients has a sin."""
    assert KILLS.keys() == ordering.SINS.keys()
    proven = {each.clause for each in KILLS.values()}
    assert (
        proven
        == {each for each in CLAUSES if each.startswith("client/")}
        == set(client_clauses(platform(None)))
    )


def selection() -> Iterator[object]:
    """The first sin of each clause always; the others with `make full`."""
    first = {each.clause: sin for sin, each in reversed(KILLS.items())}
    for sin, each in KILLS.items():
        yield sin if first[each.clause] == sin else pytest.param(sin, marks=pytest.mark.full)


@pytest.mark.parametrize("sin", list(selection()))
def test_each_sin_meets_its_clause(sin: str) -> None:
    """A sin trips its clause and no other."""
    result = watched(sin, KILLS[sin])
    assert {each.finding.clause for each in result.findings} == {KILLS[sin].clause}
    assert exit_code(result) == 1


@pytest.mark.parametrize(
    "request_",
    [
        "POST /orders",
        *(
            pytest.param(each, marks=pytest.mark.full)
            for each in ("PUT /orders/{id}", "GET /orders/{id}")
        ),
    ],
)
def test_a_client_of_the_planner_trips_nothing(request_: str) -> None:
    """A client on the generated bindings has no finding, for any request."""
    result = watched(None, Watched("", request_))
    assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
    assert exit_code(result) == 0
    unstale = (
        {"stale_read"} if not request_.startswith("PUT") else set()
    )  # 412 answers preconditions
    assert {name for name, each in result.coverage.items() if each.observed} == set(CODES) - unstale


def test_a_client_of_the_planner_passes_every_clause() -> None:
    """A write with a key, a write with a validator and enough waits exercise all clauses, and
    all pass.
    """
    passed: set[str] = set()
    for seen in (
        Watched("", codes=("invalid_request", "rate_limited", "timeout"), scale=0.05),
        Watched("", "PUT /orders/{id}", ("stale_read",)),
    ):
        result = watched(None, seen)
        assert [(each.finding.clause, each.finding.message) for each in result.findings] == []
        passed |= {address for address, each in result.clauses.items() if each.verdict == "passed"}
    # The tries of a client do not show what it left out; without correlation ids, its ids are not
    # judged.
    assert set(client_clauses(platform())) - passed == {"client/unsafe", "client/correlation"}


def test_a_client_without_a_key_that_stops_is_safe() -> None:
    """A client without a key that gives up after a possible effect passes."""

    class Careful(ordering.Client):
        def key(self) -> str:
            return ""

        def send(self, method: str, path: str, headers: Mapping[str, str]) -> ordering.Answer:
            return super().send(
                method, path, {name: each for name, each in headers.items() if name != ordering.KEY}
            )

        def planned(self, *arguments: object) -> ordering.Plan:
            policy, state, error, _ = arguments
            return super().planned(policy, state, error, False)  # type: ignore[arg-type]

    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        Careful(url, client.scale, None).call("POST", "/orders")
        return None

    config = "client: {command: [careful], env: ORDERS_URL, request: POST /orders, scale: 0.003}\n"
    report = judge_clients(configured(config), platform(("timeout",)), RunOptions(), launch)
    assert isinstance(report, Report)
    assert report.result.findings == ()
    assert report.result.clauses["client/unsafe"].verdict == "passed"


STALE = """
faultspec: 1
taxonomy: {name: shelves, version: 1.0.0, title: Shelves, owner: nobody}
envelopes: {error: {shape: {code: $code, message: $message}, fields: {message: {type: string}}}}
surfaces: {api: {transport: http, envelope: error, codes: closed}}
fallback: {4xx: {code: CODE, reason: all there is}, 5xx: {code: CODE, reason: all there is}}
codes:
  CODE: {summary: It changed., message: It changed, http: STATUS, retriable: false, client_action: refetch, example: {}}
unknown: {becomes: CODE}
undeclared: {becomes: CODE}
"""


def refetching(
    folder: Path,
    method: str,
    status: str,
    sent: Mapping[str, str],
    *,
    reads: bool = True,
    keeps: bool = False,
) -> Result:
    """The findings for a client that reads again after one refusal and uses the new validator,
    under a taxonomy without validators. ``reads`` False: it gives up. ``keeps``: it repeats the
    old request.
    """
    text = STALE.replace("CODE", "moved_on").replace("STATUS", status)
    (folder / "taxonomy.yaml").write_text(text)
    loaded = language.load(str(folder / "taxonomy.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics

    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        headers = dict(sent)
        with urllib3.PoolManager(retries=False) as pool:
            item = f"{url}/shelves/7"
            for _ in range(2):
                if (
                    pool.request(method, f"{item}/label", headers=headers, body=b"{}").status < 400
                    or not reads
                ):
                    break
                read = pool.request("GET", item)
                if "If-Match" in headers and not keeps:
                    headers["If-Match"] = read.headers["ETag"]
        return None

    config = f"client: {{command: [reader], env: URL, request: {method} /shelves/7/label}}\n"
    report = judge_clients(configured(config), loaded.taxonomy, RunOptions(), launch)
    assert isinstance(report, Report)
    return report.result


@pytest.mark.parametrize("held", ["v1", "v2"])
def test_a_client_that_reads_again_gets_another_validator(tmp_path: Path, held: str) -> None:
    """A refused validator never comes back. So a client that uses what it reads again passes,
    and another fails, for any taxonomy, validator and address.
    """
    result = refetching(tmp_path, "PUT", "412", {"If-Match": f'"{held}"'})
    assert [each.finding.message for each in result.findings] == []
    assert result.clauses["client/refetches"].verdict == "passed"
    kept = refetching(tmp_path, "PUT", "412", {"If-Match": f'"{held}"'}, keeps=True)
    assert {each.finding.clause for each in kept.findings} == {"client/refetches"}


@pytest.mark.parametrize(
    ("method", "statuses", "headers", "answered"),
    [
        ("POST", "412", {}, False),
        ("PUT", "412", {}, False),
        ("POST", "412", {"If-None-Match": "*"}, True),
        ("PUT", "412", {"If-Unmodified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}, True),
        ("POST", "409", {}, True),
        ("POST", "[412, 409]", {}, True),
        ("PUT", "428", {}, True),
        ("POST", "428", {}, False),
        ("PUT", "428", {"If-Match": '"v1"'}, False),
    ],
)
def test_stale_is_a_request_with_its_own_precondition(
    tmp_path: Path, method: str, statuses: str, headers: Mapping[str, str], answered: bool
) -> None:
    """412 is the answer to a precondition, and 428 to a change without one; a client that can meet
    neither has nothing to read again. 409 may meet any write.
    """
    result = refetching(tmp_path, method, statuses, headers, reads=False)
    assert result.coverage["moved_on"].observed == answered
    assert {each.finding.clause for each in result.findings} == (
        {"client/refetches"} if answered else set()
    )


# somebody else's client

#: What a client on urllib3's own retries does that the Core Platform's policies do not, read one by
#: one: clause and code.
URLLIB3: Mapping[str, Mapping[tuple[str, str], str]] = {
    "GET /orders/{id}": {
        (
            "client/attempts",
            "serialization_failure",
        ): "it makes five tries after everything, and this policy has three",
        (
            "client/waits",
            "dependency_unavailable",
        ): "its first wait is none, and this policy begins with two seconds",
        (
            "client/retries",
            "dependency_unavailable",
        ): "it gives up after five tries, and this policy has twelve; a warning",
    },
    "POST /orders": {
        (
            "client/attempts",
            "serialization_failure",
        ): "as above: the code has no effect, so nothing is unsafe about it",
        (
            "client/unsafe",
            "timeout",
        ): "told to repeat every method, it repeats a POST that has no key",
        (
            "client/unsafe",
            "dependency_unavailable",
        ): "the same; how long it waits for what it must not do is not told",
    },
}


@pytest.mark.parametrize("request_", URLLIB3)
def test_departures_of_a_client_on_urllib3_are_reported(request_: str) -> None:
    """A client on urllib3 has exactly the reviewed findings."""
    scale = 0.01
    retries = urllib3.Retry(
        total=4,
        status_forcelist=[429, 502, 503, 504],
        allowed_methods=None,
        backoff_factor=0.5 * scale,
        raise_on_status=False,
    )

    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        with urllib3.PoolManager(retries=retries) as pool:
            pool.request(
                client.request.method, url + client.request.path.replace("{id}", "7"), body=b"{}"
            )
        return None

    config = (
        f'client: {{command: [urllib3], env: ORDERS_URL, request: "{request_}", scale: {scale}}}\n'
    )
    report = judge_clients(
        configured(config), platform((*CODES[:-1], "serialization_failure")), RunOptions(), launch
    )
    assert isinstance(report, Report)
    found = {(each.finding.clause, each.finding.code or "") for each in report.result.findings}
    assert found == set(URLLIB3[request_]), [
        each.finding.message for each in report.result.findings
    ]
    assert {each.finding.clause for each in report.result.findings if each.level == "warning"} <= {
        "client/retries"
    }
    for clause in ("client/retry-after", "client/gives-up"):
        assert report.result.clauses[clause].verdict == "passed"


# the command


CONFORM = (sys.executable, "-c", "from faultspec.cli import main; main()", "conform", "--client")


def conform(
    folder: Path, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run `faultspec conform --client` in a folder."""
    return subprocess.run(
        [*CONFORM, "conformance.yaml", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_command_runs_the_client_and_ends_it(tmp_path: Path) -> None:
    """A client as its own process is judged, one that never ends is ended, and the report has its
    schema's form.
    """
    (tmp_path / "client.py").write_text(SLEEPER)
    (tmp_path / "conformance.yaml").write_text(f"""
taxonomy: {ROOT / "examples" / "alknet" / "taxonomy.yaml"}
client:
  command: [{sys.executable}, client.py]
  env: CALL_URL
  request: POST /call
  seconds: 1.5
limits: {{seconds: 30}}
""")
    done = conform(tmp_path, "--format", "json")
    assert done.returncode == 2, done.stderr
    report = json.loads(done.stdout)
    assert report["findings"] == []
    assert report["coverage"]["NOT_FOUND"]["observed"]
    assert any("had not ended after 1.5 s" in each for each in report["not_run"])
    verdicts = {each["clause"]: each["verdict"] for each in report["clauses"]}
    assert verdicts["client/gives-up"] == "passed"


def test_a_client_does_not_outlive_the_budget(tmp_path: Path) -> None:
    """A client that never ends is stopped when the time of the run is spent. The report says so,
    and does not blame the client for what it was stopped from.
    """
    (tmp_path / "client.py").write_text("import time\ntime.sleep(100)\n")
    (tmp_path / "conformance.yaml").write_text(f"""
taxonomy: {ROOT / "examples" / "alknet" / "taxonomy.yaml"}
client:
  command: [{sys.executable}, client.py]
  env: CALL_URL
  request: POST /call
  seconds: 90
limits: {{seconds: 1.5}}
""")
    done = conform(tmp_path, "--format", "json")
    assert done.returncode == 2, done.stderr
    report = json.loads(done.stdout)
    assert report["findings"] == []
    assert "the budget of 1.5 seconds is spent" in report["not_run"]


#: Makes one call, and goes to sleep over an internal error.
SLEEPER = """
import os, time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

try:
    urlopen(Request(os.environ["CALL_URL"] + "/call", b"{}", method="POST")).read()
except HTTPError as error:
    time.sleep(60 if b"INTERNAL" in error.read() else 0)
"""


def test_other_requests_of_a_client_take_no_memory() -> None:
    """The memory of a client's other requests does not grow with their size, even if the collector
    has not run yet.
    """
    kept: list[int] = []

    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        before = tracemalloc.get_traced_memory()[0]
        with urllib3.PoolManager() as pool:
            for number in range(100):
                fields = {"X-Long": "v" * 100_000, "Connection": "close"}
                pool.request("GET", f"{url}/other/{number}", body=b"x" * 60_000, headers=fields)
        kept.append(tracemalloc.get_traced_memory()[0] - before)
        return None

    tracemalloc.start()
    gc.disable()
    try:
        named = "client: {command: [any], env: URL, request: GET /orders}"
        judge_clients(configured(named), platform(), RunOptions(), launch)
    finally:
        gc.enable()
        tracemalloc.stop()
    assert len(kept) == 1  # it never sent its own request
    assert kept[0] < 4_000_000


@pytest.mark.parametrize(
    ("size", "requests", "reason"),
    [(10, range(1, 400), None), (60_000, range(1, 40), "the requests of clients have more than")],
)
def test_a_client_that_does_not_stop_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, size: int, requests: range, reason: str | None
) -> None:
    """The requests of a client before it has ended are kept up to the tries that are judged, and
    the bytes of a run; beyond them the run ends.
    """
    monkeypatch.setattr(clients, "ALL_BODIES", 1_000_000)
    watches: list[bool] = []

    def launch(client: ClientConfig, url: str, shown: Callable[[], bool]) -> str | None:
        with urllib3.PoolManager() as pool:
            for _ in range(30):
                pool.request("GET", f"{url}/orders", body=b"x" * size, retries=False)
        watches.append(shown())
        return None

    named = "client: {command: [any], env: URL, request: GET /orders}"
    report = judge_clients(configured(named), platform(("timeout",)), RunOptions(), launch)
    assert isinstance(report, Report)
    assert all(watches)
    assert report.result.requests in requests
    assert report.result.requests < 20 * len(watches)
    if reason is not None:
        assert any(reason in each for each in report.result.not_run)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("target: {http: 'http://127.0.0.1:1'}", "has no key `client`"),
        (
            "client: {command: [no-such-command], env: A, request: GET /}",
            "`no-such-command` cannot be started",
        ),
    ],
)
def test_a_client_that_cannot_be_watched_is_reported(
    tmp_path: Path, text: str, phrase: str
) -> None:
    """Exit code 2 and one sentence."""
    (tmp_path / "conformance.yaml").write_text(f"taxonomy: {ROOT / 'taxonomy.yaml'}\n{text}\n")
    done = conform(tmp_path)
    assert done.returncode == 2
    assert phrase in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.full
def test_every_code_of_the_platform_is_played(tmp_path: Path) -> None:
    """The whole taxonomy, with the client as a process: nothing is found, and every code was met
    that a POST may meet.
    """
    (tmp_path / "conformance.yaml").write_text(f"""
taxonomy: {ROOT / "taxonomy.yaml"}
client:
  - {{command: [{sys.executable}, {ROOT / "tests" / "support" / "ordering.py"}, POST, /orders], env: ORDERS_URL, request: POST /orders, scale: 0.01}}
limits: {{seconds: 200}}
""")
    done = conform(tmp_path, "--format", "json", ORDERS_SCALE="0.01")
    report = json.loads(done.stdout)
    assert [(each["clause"], each["message"]) for each in report["findings"]] == []
    assert done.returncode == 0, done.stderr
    assert [name for name, each in report["coverage"].items() if not each["observed"]] == [
        "stale_read"
    ]
