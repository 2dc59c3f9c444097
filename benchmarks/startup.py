"""What it costs to start: the command line against the bare import of the packages it cannot do without.

Whole processes, in turn (A B A B …), so that a machine that slows down slows both; CPU seconds of the child, user and system.
Prints medians and ratios, and asserts nothing: a time is not a law.

    python benchmarks/startup.py [RUNS]
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAULTSPEC = str(Path(sys.executable).with_name("faultspec"))
PEER = [sys.executable, "-c", "import click, yaml, jinja2"]
CASES = {
    "faultspec --help": [FAULTSPEC, "--help"],
    "faultspec compile --check": [FAULTSPEC, "compile", "--check"],
}


def cpu_seconds(command: list[str]) -> float:
    """CPU seconds of one run of ``command``, which must succeed."""
    before = os.times()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def main() -> None:
    """Measure each case beside the peer and print a table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    print(
        f"{'command':28} {'cpu s':>7} {'peer s':>7} {'ratio':>6}   ({runs} runs each, peer: import click, yaml, jinja2)"
    )
    for name, command in CASES.items():
        cpu_seconds(command), cpu_seconds(PEER)  # warm the caches
        pairs = [(cpu_seconds(command), cpu_seconds(PEER)) for _ in range(runs)]
        ratio = statistics.median(a / b for a, b in pairs)
        print(
            f"{name:28} {statistics.median(a for a, _ in pairs):7.3f} {statistics.median(b for _, b in pairs):7.3f} {ratio:6.2f}"
        )


if __name__ == "__main__":
    main()
