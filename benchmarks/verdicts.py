"""Whether verdicts depend on the network or the machine: the orders service, judged again and again.

Each run has a fresh service, whose answers are late by the latency, more or less by 30 %. It runs
on the machine as it is, and beside busy processes. A line names the clauses whose verdict differs
from that of the first run.

    python benchmarks/verdicts.py [--runs N] [--latency SECONDS,...] [--busy N] [--sin NAME]
"""

import argparse
import asyncio
import logging
import multiprocessing
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources

from starlette.types import ASGIApp, Receive, Scope, Send

import faultspec_conformance.orders
from faultspec import language
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import read_config
from faultspec_conformance.drivers import Limits
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.orders import demo
from faultspec_conformance.results.model import Result
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions, Unreachable

TAXONOMY = "taxonomy.yaml"

#: Requests and seconds that no run needs, so that no limit decides.
LIMITS = Limits(requests=1000, seconds=1200, writes=True)


def delay(app: ASGIApp, seconds: float) -> ASGIApp:
    """The application, whose answers are late."""

    async def delayed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and seconds:
            await asyncio.sleep(seconds * random.uniform(0.7, 1.3))
        await app(scope, receive, send)

    return delayed


def _spin() -> None:
    while True:
        pass


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Run processes that do nothing else than compute."""
    processes = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(number)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def judge(taxonomy: Taxonomy, sin: str | None, seconds: float) -> Result:
    """The result of one run on a fresh service."""
    folder = resources.files(faultspec_conformance.orders)
    app = delay(demo.service(sin), seconds)
    with serving(app) as url, resources.as_file(folder / demo.CONFIG) as config:
        loaded = read_config(str(config), demo.service_environment(url, TAXONOMY))
        assert loaded.target is not None, loaded.diagnostics
        target = replace(loaded.target, limits=LIMITS)
        report = run(target, taxonomy, RunOptions(sweep=False))
    assert not isinstance(report, Unreachable), report.reason
    return report.result


def verdicts(result: Result) -> dict[str, str]:
    """The verdict of each clause, and whether each code was observed."""
    return {name: clause.verdict for name, clause in result.clauses.items()} | {
        f"code {name}": "observed" if coverage.observed else "not observed"
        for name, coverage in result.coverage.items()
    }


def main() -> None:
    """Print a line for each run, and whether all verdicts agree."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5, help="runs of each kind")
    parser.add_argument("--latency", default="0,0.05,0.25", help="seconds, separated by commas")
    parser.add_argument("--busy", type=int, default=4, help="busy processes of the second half")
    parser.add_argument("--sin", help="a mistake of the service")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    taxonomy = language.load(TAXONOMY).taxonomy
    assert taxonomy is not None
    first: dict[str, str] | None = None
    different = total = 0
    for processes in (0, options.busy):
        for seconds in map(float, options.latency.split(",")):
            for _ in range(options.runs):
                with busy(processes):
                    began = time.monotonic()
                    result = judge(taxonomy, options.sin, seconds)
                    took = time.monotonic() - began
                found = verdicts(result)
                first = first or found
                changed = {
                    name: f"{first.get(name)} -> {verdict}"
                    for name, verdict in found.items()
                    if first.get(name) != verdict
                }
                total, different = total + 1, different + bool(changed)
                print(
                    f"{seconds * 1000:4.0f} ms, {processes} busy, load {os.getloadavg()[0]:4.1f}: "
                    f"{result.requests} requests, {took:5.1f} s, "
                    f"{result.count('failed')} failed, {changed or 'alike'}",
                    flush=True,
                )
    print(f"{total - different} of {total} runs have the verdicts of the first")


if __name__ == "__main__":
    main()
