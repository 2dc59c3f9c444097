"""What it costs to start: the command line against the bare import of the packages it cannot do
without.

Whole processes, in turn (A B A B …), so that a machine that slows down slows both; CPU seconds of
the child, user and system.
Byte code is cached for both sides, as it is for whatever is installed. Prints medians and ratios,
and asserts nothing: a
time is not a law.

    python benchmarks/startup.py [RUNS]
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAULTSPEC = str(Path(sys.executable).with_name("faultspec"))
PEER = [sys.executable, "-c", "import click, yaml, jinja2"]
CASES = {
    "faultspec --help": [FAULTSPEC, "--help"],
    "faultspec compile --check": [FAULTSPEC, "compile", "--check"],
}


def cpu_seconds(command: list[str], environment: Mapping[str, str]) -> float:
    """CPU seconds of one run of ``command``, which must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Measure each case beside the peer and print a table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    print(
        f"{'command':28} {'cpu s':>7} {'peer s':>7} {'ratio':>6}   ({runs} runs each, peer: import click, yaml, jinja2)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }
        environment["PYTHONPYCACHEPREFIX"] = cache
        for name, command in CASES.items():
            cpu_seconds(command, environment), cpu_seconds(PEER, environment)  # warm the caches
            pairs = [
                (cpu_seconds(command, environment), cpu_seconds(PEER, environment))
                for _ in range(runs)
            ]
            ours, peer = (statistics.median(each) for each in zip(*pairs, strict=True))
            print(
                f"{name:28} {ours:7.3f} {peer:7.3f} {statistics.median(a / b for a, b in pairs):6.2f}"
            )


if __name__ == "__main__":
    main()
