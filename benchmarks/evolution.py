"""The cost of comparing two taxonomies of N codes, as a ratio to the cost of loading them.

The second taxonomy has another status for every hundredth code, one code more and one code less.
CPU seconds of this process, the median of the runs; the ratio is meant to stay below 0.5. Named
documents (OpenAPI, or models of botocore) are imported and compared instead, in pairs of an old and
a new one, and the seconds of import and comparison are printed.

    python benchmarks/evolution.py [--size 10000] [--runs 3]
    python benchmarks/evolution.py OLD.json NEW.json ...
"""

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TypeVar

from compile import taxonomy

from faultspec.cli.documents import load_imported, service_name
from faultspec.evolution.compare import Comparison, compare
from faultspec.evolution.report import count_severities
from faultspec.language import read
from faultspec.language.model import Taxonomy

T = TypeVar("T")

TODAY = date(2026, 1, 1)


def changed(text: str, size: int) -> str:
    """The taxonomy with another status for every hundredth code, and another name for the last."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("  failure_") and number % 100 == 0:
            lines[number] = line.replace("http: ", "http: [418, ").replace(", retri", "], retri", 1)
    return "\n".join(lines).replace(f"failure_{size - 1}:", "failure_new:") + "\n"


def resolve(text: str) -> Taxonomy:
    """The taxonomy of a text without errors."""
    loaded = read(text, "taxonomy.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics[:1]
    return loaded.taxonomy


def measure(act: Callable[..., T], *arguments: object) -> tuple[float, T]:
    """The CPU seconds of a call, and its result."""
    start = time.process_time()
    result = act(*arguments)
    return time.process_time() - start, result


def compare_made(size: int, runs: int) -> None:
    """Load and compare two made taxonomies, and print the ratio."""
    texts = taxonomy(size), changed(taxonomy(size), size)
    loads, diffs, found = [], [], 0
    for _ in range(runs):
        spent, sides = measure(lambda: [*map(resolve, texts)])
        loads.append(spent)
        spent, comparison = measure(compare, *sides, TODAY)
        diffs.append(spent)
        found = len(comparison.changes)
    load, diff = statistics.median(loads), statistics.median(diffs)
    print(f"{size} codes, {found} changes: loading both {load:.2f} s CPU, ", end="")
    print(f"comparing {diff:.2f} s, ratio {diff / load:.2f}")


def compare_documents(paths: list[str]) -> None:
    """Import and compare documents in pairs, and print what it took."""
    for one, other in zip(paths[::2], paths[1::2], strict=True):
        service = service_name(other)
        seconds, (old, old_losses) = measure(load_imported, one, service)
        more, (new, new_losses) = measure(load_imported, other, service)
        spent, comparison = measure(compare, old.taxonomy, new.taxonomy, TODAY)
        print(f"{one} → {other}: import {seconds + more:.2f} s CPU, comparison {spent:.2f} s;")
        print(f"    {describe(comparison)} {len(old_losses) + len(new_losses)} losses")


def describe(comparison: Comparison) -> str:
    """The number of changes by severity."""
    counts = count_severities(comparison.changes)
    return ", ".join(f"{count} {severity}" for severity, count in counts.items()) + ";"


def main() -> None:
    """Read the options, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if options.documents:
        compare_documents([str(Path(path)) for path in options.documents])
    else:
        compare_made(options.size, options.runs)


if __name__ == "__main__":
    main()
