"""What finds a mistake: faultspec's suite beside plain schemathesis, on the same services, in the same run.

For the behaving miniature and for each sin of ``tests/miniatures`` (or every N-th of them): does the tool report a failure, with how
many requests, in how many seconds? A report on the behaving service is a false positive. Schemathesis reads the service's own
OpenAPI document, gets the same token, a fixed seed and all its phases; its checks run twice, as they come out of the box and
tuned (without those that contradict documented 5xx or lax headers), and the better figure is not picked: both are printed.

    python benchmarks/detection.py [--every N] [--sins NAME,NAME] [--examples N]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from miniatures.core_platform import ENVIRONMENT  # noqa: E402 - the miniatures are part of the tests, not of a package
from miniatures.serve import serving  # noqa: E402
from miniatures.sins import SINS, sinning  # noqa: E402

BIN = Path(sys.executable).parent
CONFIG = ROOT / "tests" / "miniatures" / "notebooks.yaml"
#: Checks that report the behaving service: documented 5xx, 412 under a stale precondition, a malformed correlation id replaced.
TUNED_OUT = "not_a_server_error,positive_data_acceptance,negative_data_rejection,ensure_resource_availability"

TIMEOUT = 300.0
"""Seconds after which a run counts as not finished; the slowest seen here took a third of it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One tool on one service. ``reported`` None: it did not finish."""

    reported: bool | None
    requests: int
    seconds: float


def faultspec(url: str, work: Path) -> Run:
    """The suite, probes only."""
    report = work / "report.json"
    started = time.monotonic()
    subprocess.run(
        [BIN / "faultspec", "conform", CONFIG, "--no-sweep", "--report", f"json={report}"],
        env={**os.environ, **ENVIRONMENT, "BASE_URL": url},
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        cwd=ROOT,
    )
    seconds = time.monotonic() - started
    summary = json.loads(report.read_text())["summary"]
    return Run(summary["failed"] > 0, summary["requests"], seconds)


def schemathesis(url: str, work: Path, *, tuned: bool, examples: int) -> Run:
    """Plain schemathesis on the service's own document."""
    events = work / "events.ndjson"
    started = time.monotonic()
    command = [
        str(BIN / "schemathesis"), "run", f"{url}/openapi.json", "--url", url, "--seed", "1", "--generation-deterministic",
        "--generation-database", "none", "-n", str(examples), "--continue-on-failure", "--no-color",
        "-H", f"Authorization: Bearer {ENVIRONMENT['NOTEBOOKS_BIRCH_EDITOR']}", "--report", "ndjson", "--report-ndjson-path", str(events),
    ]  # fmt: skip
    if tuned:
        command += ["--exclude-checks", TUNED_OUT]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT, cwd=work)
    except subprocess.TimeoutExpired:
        return Run(None, 0, TIMEOUT)
    seconds = time.monotonic() - started
    requests = sum(line.count('"request":') for line in events.read_text().splitlines()) if events.exists() else 0
    return Run({0: False, 1: True}.get(done.returncode), requests, seconds)


def main() -> None:
    """Run every tool on every service and print a line each, then the totals."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--sins", default="")
    parser.add_argument("--examples", type=int, default=50)
    options = parser.parse_args()
    names = options.sins.split(",") if options.sins else list(SINS)[:: options.every]
    tools: dict[str, Callable[[str, Path], Run]] = {
        "faultspec": faultspec,
        "schemathesis": lambda url, work: schemathesis(url, work, tuned=False, examples=options.examples),
        "schemathesis tuned": lambda url, work: schemathesis(url, work, tuned=True, examples=options.examples),
    }
    results: dict[str, dict[str, Run]] = {tool: {} for tool in tools}
    for name in ("", *names):
        cells = []
        for tool, run in tools.items():
            with serving(sinning(*([name] if name else []))) as url, tempfile.TemporaryDirectory() as work:
                found = results[tool][name] = run(url, Path(work))
            verdict = {True: "reported", False: "silent", None: "no result"}[found.reported]
            cells.append(f"{verdict:9} {found.requests:5} requests {found.seconds:6.1f} s")
        print(f"{name or '(behaves)':44} | {' | '.join(cells)}", flush=True)
    print()
    for tool, runs in results.items():
        sinful = [run for name, run in runs.items() if name]
        clean = runs[""].reported
        print(
            f"{tool:20} caught {sum(1 for run in sinful if run.reported)} of {len(sinful)}"
            f"{', all the same as on the behaving service' if clean else ''}; "
            f"false positives on the behaving service: {'yes' if clean else 'none'}; "
            f"median {statistics.median(run.requests for run in runs.values()):.0f} requests, "
            f"{statistics.median(run.seconds for run in runs.values()):.1f} s"
        )


if __name__ == "__main__":
    main()
