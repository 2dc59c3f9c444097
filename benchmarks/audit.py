"""What auditing a long log costs: memory that does not grow with it, and records per second.

    python benchmarks/audit.py [MEGABYTES…]        default: 16 64; the aim is stated for 1024

Each size is a log made for the purpose: one line in ten an error, some of them broken contracts,
some lines torn. The audit
runs in a process of its own, so that its peak of resident memory is its own.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

KINDS = """\
    access:
      when: {/kind: access}
      method: /method
      url: /url
      status: /status
      milliseconds: /took
      request: {headers: /asked}
      response: {headers: /told, body: /body}
"""

PROGRAM = """\
import resource, sys
from faultspec.cli import main
try:
    main(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def line(number: int, random: random.Random) -> str:
    """One line of the log."""
    if number % 10_007 == 0:
        return '{"kind": "access", "method": "GE\n'
    failed = number % 10 == 0
    own = f"01JAH8ZJ0Z8Z0N7{number:011d}"
    headers = {
        "Content-Type": "application/json",
        "X-Correlation-Id": own,
        "Cache-Control": "no-store",
    }
    error = {
        "code": "not_found",
        "message": "There is no such order",
        "correlation_id": own,
        "details": {"retryable": False},
    }
    if number % 1_000 == 0:
        error[f"extra{number}"] = random.random()  # as many distinct findings as there are of these
    record = {
        "kind": "access",
        "method": "GET",
        "url": f"/orders/{random.getrandbits(40):x}",
        "status": (500 if number % 5_000 == 0 else 404) if failed else 200,
        "took": random.random() * 100,
        "asked": {"User-Agent": "curl/8.5.0", "Accept": "application/json"},
        "told": headers,
        "body": error
        if failed
        else {"id": own, "sku": "tea", "quantity": number % 7, "note": "x" * (number % 300)},
    }
    return json.dumps(record) + "\n"


def write(path: Path, megabytes: int) -> int:
    """A log of that size; how many lines it has."""
    chance, number, left = random.Random(0), 0, megabytes * 1024 * 1024
    with path.open("w", encoding="utf-8") as out:
        while left > 0:
            number += 1
            left -= out.write(line(number, chance))
    return number


def measure(path: Path, taxonomy: Path) -> tuple[float, float]:
    """Seconds of CPU of an audit, and its peak of resident memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            PROGRAM,
            "audit",
            str(path),
            "--taxonomy",
            str(taxonomy),
            "--format",
            "json",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )
    assert done.returncode == 1, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, int(done.stderr.split()[-1]) / 1024


def main(sizes: list[int]) -> None:
    """Print a row a size."""
    text = (
        (ROOT / "taxonomy.yaml")
        .read_text(encoding="utf-8")
        .replace("\n  records:\n", f"\n  records:\n{KINDS}")
    )
    print("| log | lines | peak RSS | CPU | records a second |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        taxonomy, path = Path(folder) / "taxonomy.yaml", Path(folder) / "access.ndjson"
        taxonomy.write_text(text, encoding="utf-8")
        for size in sizes:
            lines = write(path, size)
            cpu, peak = measure(path, taxonomy)
            print(
                f"| {size} MB | {lines:,} | {peak:.0f} MB | {cpu:.1f} s | {lines / cpu:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [16, 64])
