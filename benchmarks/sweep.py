"""`faultspec conform` beside `st run`: what each reports of the same service, with how many
requests, in how many seconds.

The lending library of `tests/miniatures` without sins, with each of them, and with all. `st run`
has all its phases and the checks that conclude from what happened; the sweep of `conform` may send
as many requests as `st run` did. A line says whether everything that `st run` reports is reported.

    python benchmarks/sweep.py [--examples N] [--sins NAME,NAME]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from miniatures import lending  # noqa: E402 - the miniatures are part of the tests
from support.law import CHECKS, reported_by_conform, reported_by_schemathesis  # noqa: E402


def main() -> None:
    """Print a line for each service."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--examples", type=int, default=20, help="examples an operation of `st run`"
    )
    parser.add_argument("--sins", default="", help="these sins only, separated by commas")
    options = parser.parse_args()
    chosen = [(sin,) for sin in options.sins.split(",") if sin]
    everything = [(), *((sin,) for sin in lending.SINS), tuple(lending.SINS)]
    for sins in chosen or everything:
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            requests, checks = reported_by_schemathesis(sins, Path(folder), options.examples)
            middle = time.monotonic()
        result = reported_by_conform(sins, requests)
        ended = time.monotonic()
        clauses = sorted({reported.finding.clause for reported in result.findings})
        missed = [
            check for check in checks if not any(each.startswith(CHECKS[check]) for each in clauses)
        ]
        name = "all sins" if len(sins) > 1 else next(iter(sins), "(behaving)")
        print(name)
        print(
            f"  st run   {requests:5} requests {middle - began:6.1f} s  {', '.join(sorted(checks))}"
        )
        print(
            f"  conform  {result.requests:5} requests {ended - middle:6.1f} s  {', '.join(clauses)}"
        )
        print(f"  {'missed: ' + ', '.join(missed) if missed else 'nothing missed'}", flush=True)


if __name__ == "__main__":
    main()
