"""What finds a mistake: faultspec's suite beside plain schemathesis, on the same services, in the same run.

For the behaving miniature and for each sin of ``tests/miniatures`` (or every N-th of them): does the tool report a failure, with how
many requests, in how many seconds? A report on the behaving service is a false positive. Schemathesis reads the service's own
OpenAPI document, gets the same token, a fixed seed and all its phases; its checks run twice, as they come out of the box and
tuned (without those that contradict documented 5xx or lax headers), and the better figure is not picked: both are printed.

    python benchmarks/detection.py [--every N] [--sins NAME,NAME] [--examples N]
"""

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

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


#: Checks that report the behaving service: documented 5xx, 412 under a stale precondition, a malformed correlation id replaced.
TUNED_OUT = "not_a_server_error,positive_data_acceptance,negative_data_rejection,ensure_resource_availability"

TIMEOUT = 300.0
"""Seconds after which a run counts as not finished; the slowest seen here took a third of it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One tool on one service. ``reported`` None: it did not finish."""

    reported: bool | None
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
    return Run(json.loads(report.read_text())["summary"]["failed"] > 0, seconds)


def schemathesis(service: Service, url: str, work: Path, *, tuned: bool, examples: int) -> Run:
    """Plain schemathesis on the service's own document."""
    command = [
        str(BIN / "schemathesis"), "run", f"{url}/openapi.json", "--url", url, "--seed", "1", "--generation-deterministic",
        "-n", str(examples), "--continue-on-failure", "--no-color",
        "-H", f"Authorization: Bearer {service.token}",
    ]  # fmt: skip
    if tuned:
        command += ["--exclude-checks", TUNED_OUT]
    started = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT, cwd=work)
    except subprocess.TimeoutExpired:
        return Run(None, TIMEOUT)
    return Run({0: False, 1: True}.get(done.returncode), time.monotonic() - started)


def main() -> None:
    """Run every tool on every service and print a line each, then the totals."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="take every N-th sin")
    parser.add_argument("--sins", default="", help="these sins only, separated by commas")
    parser.add_argument("--examples", type=int, default=50, help="schemathesis's examples an operation")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # the services log what is provoked
    names = options.sins.split(",") if options.sins else list(SINS)[:: options.every]
    tools: dict[str, Callable[[Service, str, Path], Run]] = {
        "faultspec": faultspec,
        "schemathesis": lambda *where: schemathesis(*where, tuned=False, examples=options.examples),
        "schemathesis tuned": lambda *where: schemathesis(*where, tuned=True, examples=options.examples),
    }
    results: dict[str, list[tuple[Service, Run]]] = {tool: [] for tool in tools}
    for service in (orders(), notebooks(None), *(notebooks(name) for name in names)):
        cells = []
        for tool, run in tools.items():
            seen: list[str] = []
            with serving(counted(service.app(), seen)) as url, tempfile.TemporaryDirectory() as work:
                found = replace(run(service, url, Path(work)), requests=len(seen))
            results[tool].append((service, found))
            verdict = {True: "reported", False: "silent", None: "no result"}[found.reported]
            cells.append(f"{verdict:9} {found.requests:5} requests {found.seconds:6.1f} s")
        print(f"{service.name:44} | {' | '.join(cells)}", flush=True)
    print()
    for tool, runs in results.items():
        caught = [run.reported for service, run in runs if service.sinful]
        clean = [service.name for service, run in runs if not service.sinful and run.reported]
        print(
            f"{tool:20} reports {sum(1 for each in caught if each)} of {len(caught)} sins"
            f" and {' and '.join(clean) or 'none'} of the behaving services; "
            f"median {statistics.median(run.requests for _, run in runs):.0f} requests, "
            f"{statistics.median(run.seconds for _, run in runs):.1f} s"
        )


if __name__ == "__main__":
    main()
