"""What finds a mistake: faultspec's suite beside plain schemathesis, on the same services, in the same run.

For the behaving services and for each sin of ``tests/miniatures`` (or every N-th of them): does the tool report a failure, with how
many requests, in how many seconds? A report on a behaving service is a false positive. Schemathesis reads the service's own
OpenAPI document, gets the same token, a fixed seed, all its phases and all its checks. It is read in two ways: by its exit code, as it
comes out of the box, and against a baseline, as a patient team would: what it says of the behaving service (a check at an operation, in
either of two runs) is known and forgiven, and a sin counts as caught when there is anything beyond it.

    python benchmarks/detection.py [--every N] [--sins NAME,NAME] [--examples N]
"""

import argparse
import functools
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec_conformance.orders.app import CALLERS, Orders

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from miniatures.core_platform import ENVIRONMENT  # noqa: E402 - the miniatures are part of the tests, not of a package
from miniatures.serve import serving  # noqa: E402
from miniatures.sins import SINS, sinning  # noqa: E402

BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Service:
    """Something to judge: its application, its configuration for the suite, and the environment that one reads."""

    name: str
    app: Callable[[], ASGIApp]
    config: Path
    environment: Mapping[str, str]
    token: str
    sinful: bool = False


def orders() -> Service:
    """The shipped reference service."""
    source = ROOT / "conformance" / "faultspec_conformance" / "orders" / "conformance.yaml"
    names = {"ORDERS_TAXONOMY": str(ROOT / "taxonomy.yaml"), "ORDERS_URL": "${BASE_URL}"}
    tokens = {f"ORDERS_{caller.name.upper()}": token for token, caller in CALLERS.items()}
    return Service("(orders)", lambda: Orders().app(), source, {**names, **tokens}, tokens["ORDERS_ALICE"])


def notebooks(sin: str | None) -> Service:
    """The miniature, behaving or with one sin."""
    config = ROOT / "tests" / "miniatures" / "notebooks.yaml"
    token = ENVIRONMENT["NOTEBOOKS_BIRCH_EDITOR"]
    sins = [] if sin is None else [sin]
    return Service(sin or "(notebooks)", lambda: sinning(*sins), config, ENVIRONMENT, token, sin is not None)


TIMEOUT = 300.0
"""Seconds after which a run counts as not finished; the slowest seen here took a third of it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One tool on one service. ``failures``: what was broken, and where; None: it did not finish."""

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


def faultspec(service: Service, url: str, work: Path) -> Run:
    """The suite, probes only."""
    report = work / "report.json"
    environment = {
        **os.environ,
        **{k: v.replace("${BASE_URL}", url) for k, v in service.environment.items()},
        "BASE_URL": url,
    }
    started = time.monotonic()
    subprocess.run(
        [BIN / "faultspec", "conform", service.config, "--no-sweep", "--report", f"json={report}"],
        env=environment,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        cwd=ROOT,
    )
    seconds = time.monotonic() - started
    clauses = json.loads(report.read_text())["clauses"]
    return Run(frozenset((each["clause"], "") for each in clauses if each["verdict"] == "failed"), seconds)


def schemathesis(service: Service, url: str, work: Path, examples: int) -> Run:
    """Plain schemathesis on the service's own document."""
    events = work / "events.ndjson"
    command = [
        str(BIN / "schemathesis"), "run", f"{url}/openapi.json", "--url", url, "--seed", "1", "--generation-deterministic",
        "-n", str(examples), "--continue-on-failure", "--no-color",
        "-H", f"Authorization: Bearer {service.token}", "--report", "ndjson", "--report-ndjson-path", str(events),
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
        for checks in event.get("ScenarioFinished", {}).get("recorder", {}).get("checks", {}).values():
            for check in checks:
                if check["status"] == "failure":
                    yield check["name"], str(check["failure_info"]["failure"].get("operation"))


def judged(tool: Callable[[Service, str, Path], Run], service: Service) -> Run:
    """One run of a tool on a fresh start of a service."""
    seen: list[str] = []
    with serving(counted(service.app(), seen)) as url, tempfile.TemporaryDirectory() as work:
        return replace(tool(service, url, Path(work)), requests=len(seen))


def main() -> None:
    """Run every tool on every service and print a line each, then the totals."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="take every N-th sin")
    parser.add_argument("--sins", default="", help="these sins only, separated by commas")
    parser.add_argument("--examples", type=int, default=50, help="schemathesis's examples an operation")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # the services log what is provoked
    names = options.sins.split(",") if options.sins else list(SINS)[:: options.every]
    plain = functools.partial(schemathesis, examples=options.examples)
    behaving, sinful = (orders(), notebooks(None)), [notebooks(name) for name in names]
    results: dict[str, list[Run]] = {"faultspec": [], "schemathesis": []}
    for service in (*behaving, *sinful):
        for tool, run in (("faultspec", faultspec), ("schemathesis", plain)):
            results[tool].append(judged(run, service))
        cells = [f"{len(run.failures or ()):3} failures {run.requests:5} requests {run.seconds:6.1f} s"
                 for run in (results["faultspec"][-1], results["schemathesis"][-1])]  # fmt: skip
        print(f"{service.name:44} | {' | '.join(cells)}", flush=True)
    print()
    for tool, runs in results.items():
        clean = [service.name for service, run in zip(behaving, runs, strict=False) if run.failures != frozenset()]
        told(f"{tool}, exit code", runs[len(behaving) :], frozenset(), clean)
    known = (results["schemathesis"][1].failures or frozenset()) | (judged(plain, behaving[1]).failures or frozenset())
    told("schemathesis, beyond its baseline", results["schemathesis"][len(behaving) :], known, [])


def told(reading: str, runs: Sequence[Run], known: frozenset[tuple[str, str]], alarms: Sequence[str]) -> None:
    """The line of totals of one reading: what is `known` does not count; `alarms` are the behaving services reported."""
    caught = [run for run in runs if run.failures and run.failures - known]
    unfinished = sum(run.failures is None for run in runs)
    print(
        f"{reading:34} {len(caught)} of {len(runs)} sins caught, {unfinished} not finished; "
        f"reports {' and '.join(alarms) or 'none'} of the behaving services; "
        f"median {statistics.median(run.requests for run in runs):.0f} requests, "
        f"{statistics.median(run.seconds for run in runs):.1f} s"
    )


if __name__ == "__main__":
    main()
