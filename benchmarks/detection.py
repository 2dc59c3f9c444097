"""What finds a mistake: faultspec's suite beside plain schemathesis, on the same services, in the
same run.

For the behaving service of each system that speaks HTTP, and for each of its sins (or every N-th):
does the tool report a failure, with how many requests, in how many seconds? A report on a behaving
service is a false positive. Schemathesis reads the service's own OpenAPI document, gets the same
token, a fixed seed, all its phases and all its checks. It is read in two ways: by its exit code,
as it comes out of the box, and against a baseline, as a patient team would: what it says of the
behaving service (a check at an operation, in either of two runs) is known and forgiven, and a sin
counts as caught when there is anything beyond it.

    python benchmarks/detection.py [--every N] [--systems NAME,NAME] [--sins NAME,NAME] [--examples
    N]
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec_conformance.orders.app import CALLERS
from faultspec_conformance.orders.demo import service as orders_service
from faultspec_conformance.orders.sins import SINS as ORDERS_SINS

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import services  # noqa: E402 - the miniatures are part of the tests, not of a package

from miniatures.core_platform import ENVIRONMENT  # noqa: E402
from miniatures.serve import serving  # noqa: E402
from miniatures.sins import SINS, sinning  # noqa: E402
from miniatures.systems import LAPSES, over_http  # noqa: E402

BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class System:
    """Services of one contract: ``app`` makes the behaving one for None, else the one with that
    sin. ``config``: how the suite
    judges it, in that environment. ``token``: of the ordinary caller.
    """

    name: str
    app: Callable[[str | None], ASGIApp]
    sins: tuple[str, ...]
    config: Path
    environment: Mapping[str, str]
    token: str


def systems() -> Iterator[System]:
    """Every system that speaks HTTP and publishes an OpenAPI document."""
    source = ROOT / "conformance" / "faultspec_conformance" / "orders" / "conformance.yaml"
    names = {"ORDERS_TAXONOMY": str(ROOT / "taxonomy.yaml"), "ORDERS_URL": "${BASE_URL}"}
    tokens = {f"ORDERS_{caller.name.upper()}": token for token, caller in CALLERS.items()}
    yield System(
        "orders",
        orders_service,
        (*ORDERS_SINS,),
        source,
        {**names, **tokens},
        tokens["ORDERS_ALICE"],
    )
    config = ROOT / "tests" / "miniatures" / "notebooks.yaml"
    editor = ENVIRONMENT["NOTEBOOKS_BIRCH_EDITOR"]
    yield System(
        "notebooks",
        lambda sin: sinning(*[sin] if sin else []),
        (*SINS,),
        config,
        ENVIRONMENT,
        editor,
    )
    for name, token in (("aileron", "ADA_TOKEN"), ("alknet", "ANNA_TOKEN")):
        sins = tuple(each.name for each in LAPSES.values() if each.system == name)
        config = services.EXAMPLES / name / "conformance.yaml"
        yield System(name, example(name), sins, config, services.TOKENS, services.TOKENS[token])


def example(system: str) -> Callable[[str | None], ASGIApp]:
    """What makes the service of `examples/`, with a sin between it and the wire."""

    def make(sin: str | None) -> ASGIApp:
        module = services.service(system)
        app: ASGIApp = module.Runtime().app() if system == "aileron" else module.Gateway().app()
        return app if sin is None else over_http(sin)(app)

    return make


TIMEOUT = 300.0
"""Seconds after which a run counts as not finished; the slowest seen here took a third of it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One tool on one service. ``failures``: what was broken, and where; None: it did not
    finish.
    """

    failures: frozenset[tuple[str, str]] | None
    seconds: float
    requests: int = 0


def counted(app: ASGIApp, seen: list[str]) -> ASGIApp:
    """The application, noting every request; what a tool says of itself is not comparable."""

    async def counting(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            seen.append(scope["path"])
        await app(scope, receive, send)

    return counting


def faultspec(system: System, url: str, work: Path) -> Run:
    """The suite, probes only."""
    report = work / "report.json"
    environment = {
        **os.environ,
        **{k: v.replace("${BASE_URL}", url) for k, v in system.environment.items()},
        "BASE_URL": url,
    }
    started = time.monotonic()
    subprocess.run(
        [BIN / "faultspec", "conform", system.config, "--no-sweep", "--report", f"json={report}"],
        env=environment,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        cwd=ROOT,
    )
    seconds = time.monotonic() - started
    clauses = json.loads(report.read_text())["clauses"]
    return Run(
        frozenset((each["clause"], "") for each in clauses if each["verdict"] == "failed"), seconds
    )


def schemathesis(system: System, url: str, work: Path, examples: int) -> Run:
    """Plain schemathesis on the service's own document."""
    events = work / "events.ndjson"
    command = [
        str(BIN / "schemathesis"), "run", f"{url}/openapi.json", "--url", url, "--seed", "1", "--generation-deterministic",
        "-n", str(examples), "--continue-on-failure", "--no-color",
        "-H", f"Authorization: Bearer {system.token}", "--report", "ndjson", "--report-ndjson-path", str(events),
    ]  # fmt: skip
    started = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT, cwd=work)
    except subprocess.TimeoutExpired:
        return Run(None, TIMEOUT)
    seconds = time.monotonic() - started
    failures = frozenset(_failures(map(json.loads, events.read_text().splitlines())))
    return Run(failures if done.returncode == bool(failures) else None, seconds)


def _failures(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each failed check with the operation that it failed at."""
    for event in events:
        for checks in (
            event.get("ScenarioFinished", {}).get("recorder", {}).get("checks", {}).values()
        ):
            for check in checks:
                if check["status"] == "failure":
                    yield check["name"], str(check["failure_info"]["failure"].get("operation"))


Tool = Callable[[System, str, Path], Run]


def judged(tool: Tool, system: System, sin: str | None) -> Run:
    """One run of a tool on a fresh start of a service."""
    seen: list[str] = []
    with serving(counted(system.app(sin), seen)) as url, tempfile.TemporaryDirectory() as work:
        return replace(tool(system, url, Path(work)), requests=len(seen))


def main() -> None:
    """Run every tool on every service and print a line each, then the totals of each system and of
    all.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="take every N-th sin of each system")
    parser.add_argument("--systems", default="", help="these systems only, separated by commas")
    parser.add_argument("--sins", default="", help="these sins only, separated by commas")
    parser.add_argument(
        "--examples", type=int, default=50, help="schemathesis's examples an operation"
    )
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # the services log what is provoked

    def plain(system: System, url: str, work: Path) -> Run:
        return schemathesis(system, url, work, options.examples)

    totals: dict[str, list[Read]] = {}
    wanted = options.systems.split(",") if options.systems else None
    for system in systems():
        if wanted is not None and system.name not in wanted:
            continue
        sins = [
            each for each in system.sins if not options.sins or each in options.sins.split(",")
        ][:: options.every]
        behaving, known = line(faultspec, plain, system, None)
        second = judged(plain, system, None)
        baseline = (known.failures or frozenset()) | (second.failures or frozenset())
        runs = [line(faultspec, plain, system, sin) for sin in sins]
        for reading, read in {
            "faultspec": Read([own for own, _ in runs], frozenset(), [behaving]),
            "schemathesis, exit code": Read([other for _, other in runs], frozenset(), [known]),
            "schemathesis, beyond its baseline": Read([other for _, other in runs], baseline, []),
        }.items():
            print(f"{system.name:10} {reading:34} {read}", flush=True)
            totals.setdefault(reading, []).append(read)
        print()
    for reading, reads in totals.items():
        print(f"{'all':10} {reading:34} {sum(reads[1:], reads[0])}")


def line(own: Tool, other: Tool, system: System, sin: str | None) -> tuple[Run, Run]:
    """Both tools on one service, printed."""
    runs = judged(own, system, sin), judged(other, system, sin)
    cells = [
        f"{len(run.failures or ()):3} failures {run.requests:5} requests {run.seconds:6.1f} s"
        for run in runs
    ]
    print(f"{system.name:10} {sin or '(behaving)':44} | {' | '.join(cells)}", flush=True)
    return runs


@dataclass(frozen=True, slots=True)
class Read:
    """One way to read the runs of a tool. ``known``: what does not count; ``behaving``: runs that
    should have found nothing.
    """

    runs: Sequence[Run]
    known: frozenset[tuple[str, str]]
    behaving: Sequence[Run]
    caught: int | None = None

    @property
    def kills(self) -> int:
        """Sins that were caught."""
        found = (run for run in self.runs if run.failures and run.failures - self.known)
        return self.caught if self.caught is not None else sum(1 for _ in found)

    def __add__(self, other: "Read") -> "Read":
        runs, behaving = [*self.runs, *other.runs], [*self.behaving, *other.behaving]
        return Read(runs, frozenset(), behaving, self.kills + other.kills)

    def __str__(self) -> str:
        alarms = sum(run.failures != frozenset() for run in self.behaving)
        warning = (
            f"; reports {alarms} of {len(self.behaving)} behaving services" if self.behaving else ""
        )
        requests, seconds = (
            sum(getattr(run, each) for run in self.runs) for each in ("requests", "seconds")
        )
        cost = (
            f"{requests / self.kills:.0f} requests and {seconds / self.kills:.1f} s a kill"
            if self.kills
            else "no kill"
        )
        unfinished = sum(run.failures is None for run in self.runs)
        return f"{self.kills} of {len(self.runs)} sins caught, {unfinished} not finished{warning}; {cost}"


if __name__ == "__main__":
    main()
