"""Imports of the services of botocore that `docs/imported.md` lists, measured again: `python
benchmarks/imports.py [SERVICE …]`.

It fails if the hash of a model is not that of the page, since another botocore is another document.
A row has the seconds of the import, the codes, the warnings of lint, whether the generated Python
passes `mypy --strict`, and the milliseconds of its import, in all and for each hundred codes:
processor time beyond that of a process without it, with the modules of the standard library that it
needs.
"""

import hashlib
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from faultspec.docs.botocore import installed_services, row
from faultspec.language import load
from faultspec.render import render, write
from faultspec.targets import SHIPPED

ROOT = Path(__file__).resolve().parent.parent

#: A row of the page: the service, its protocol, and at the end the begin of the hash of its model.
_ROW = re.compile(r"\| (\S+) \| \S+ \| \d+ \| [\d.]+ \|.*\| `([0-9a-f]{16})` \|")

#: The least of so many runs counts: other processes only add to one.
_RUNS = 3


def pinned() -> dict[str, str]:
    """The services of the page, with the begins of the hashes of their models."""
    text = (ROOT / "docs/imported.md").read_text(encoding="utf-8")
    return dict(match.groups() for line in text.splitlines() if (match := _ROW.fullmatch(line)))


def import_milliseconds(folder: Path, package: str) -> float:
    """The processor time of a process that imports a package."""
    spent = []
    for _ in range(_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([sys.executable, "-c", f"import {package}"], cwd=folder, check=True)
        spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return min(spent) * 1000


def measure(service: str, path: str, folder: Path) -> Iterator[str]:
    """The cells of a service."""
    started = process_time()
    found = row(service, path)
    yield f"{process_time() - started:.1f}"
    yield str(found.codes)
    yield ", ".join(f"{name} {count}" for name, count in sorted(found.warnings.items())) or "–"
    file = folder / f"{service}.yaml"
    program = str(Path(sys.executable).with_name("faultspec"))
    command = [program, "import", "botocore", service, "--out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    taxonomy = load(str(file)).taxonomy
    assert taxonomy is not None
    home = folder / service
    write(render(taxonomy, [SHIPPED["python"]], file.name), home, ["python"])
    checked = [sys.executable, "-m", "mypy", "--strict", "."]
    done = subprocess.run(checked, cwd=home / "python", capture_output=True, check=False)
    yield "passes" if done.returncode == 0 else "fails"
    package = next((home / "python").glob("*_errors")).name
    spent = import_milliseconds(home / "python", package) - import_milliseconds(folder, "sys")
    yield f"{spent:.0f}"
    yield f"{spent * 100 / max(1, found.codes):.0f}"


def main(*chosen: str) -> None:
    """Print the table."""
    services, files = pinned(), dict(installed_services())
    print("| service | s | codes | lint | mypy --strict | ms | ms for 100 codes |")
    print("|---|---|---|---|---|---|---|")
    failures = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for service in chosen or services:
            digest = hashlib.sha256(Path(files[service]).read_bytes()).hexdigest()
            if not digest.startswith(services[service]):
                failures["another document"] += 1
            print(f"| {' | '.join((service, *measure(service, files[service], Path(folder))))} |")
    if failures:
        sys.exit(f"{failures['another document']} models have another hash than the page")


if __name__ == "__main__":
    main(*sys.argv[1:])
