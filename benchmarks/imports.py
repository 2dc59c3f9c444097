"""The imports of `docs/imported.md`, measured: public OpenAPI documents and services of botocore.

`python benchmarks/imports.py` writes the tables of the page; with names it prints the rows of these
alone. It needs npm and its registry for the documents. It fails if the hash of a document or a
model is not the pinned one, since that is another document. Hashes of models are those of the page.

A row has the seconds of the import (processor time), the codes, the warnings of lint, the kinds of
losses, whether the generated Python passes `mypy --strict`, and the milliseconds of its import for
each hundred codes: processor time beyond that of a process without it, with the modules of the
standard library that it needs.
"""

import gzip
import hashlib
import json
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from documents import DOCUMENTS, Document, count_declared, fetch

from faultspec.docs.botocore import installed_services
from faultspec.language import load
from faultspec.render import render, write
from faultspec.targets import SHIPPED

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "imported.md"

#: A row of the page: the service, its protocol, and at the end the begin of the hash of its model.
_ROW = re.compile(r"\| (\S+) \| (\S+) \| \d+ \| [\d.]+ \|.*\| `([0-9a-f]{16})` \|")

#: The least of so many runs counts: other processes only add to one.
_RUNS = 3

_PROGRAM = str(Path(sys.executable).with_name("faultspec"))


def pinned() -> dict[str, tuple[str, str]]:
    """The services of the page, with their protocols and the begins of the hashes of their
    models.
    """
    text = PAGE.read_text(encoding="utf-8")
    found = (match for line in text.splitlines() if (match := _ROW.fullmatch(line)))
    return {match[1]: (match[2], match[3]) for match in found}


def import_milliseconds(folder: Path, package: str) -> float:
    """The processor time of a process that imports a package."""
    spent = []
    for _ in range(_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([sys.executable, "-c", f"import {package}"], cwd=folder, check=True)
        spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return min(spent) * 1000


def spell(counts: Counter[str] | dict[str, int]) -> str:
    """Names with their counts, the most first."""
    listed = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} {count}" for name, count in listed) or "–"


def measure_python(file: Path, folder: Path) -> Iterator[str]:
    """The cells of the generated Python of a taxonomy."""
    taxonomy = load(str(file)).taxonomy
    assert taxonomy is not None
    home = folder / f"{file.stem}-python"
    write(render(taxonomy, [SHIPPED["python"]], file.name), home, ["python"])
    checked = [sys.executable, "-m", "mypy", "--strict", "."]
    done = subprocess.run(checked, cwd=home / "python", capture_output=True, check=False)
    yield "passes" if done.returncode == 0 else "fails"
    package = next((home / "python").glob("*_errors")).name
    spent = import_milliseconds(home / "python", package) - import_milliseconds(folder, "sys")
    yield f"{spent * 100 / max(100, len([*taxonomy.every_code()])):.0f}"


def measure(kind: str, source: str, folder: Path, name: str) -> dict[str, str]:
    """The cells of an import, by their columns."""
    file = folder / f"{name}.tax.yaml"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [_PROGRAM, "import", kind, source, "--out", str(file), "--format", "json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    (report,) = json.loads(done.stderr[done.stderr.index("[\n") :])
    taxonomy = load(str(file)).taxonomy
    assert taxonomy is not None
    mypy, milliseconds = measure_python(file, folder)
    return {
        "s": f"{spent:.1f}",
        "codes": str(len([*taxonomy.every_code()])),
        "lint": spell(Counter(each["rule"] for each in report["decisions"])),
        "losses": spell(Counter(each["kind"] for each in report["losses"])),
        "mypy": mypy,
        "ms": milliseconds,
    }


def measure_document(document: Document, folder: Path) -> Iterator[str]:
    """The cells of an OpenAPI document."""
    path = fetch(document, folder)
    operations, values, pairs = count_declared(path)
    found = measure("openapi", str(path), folder, path.stem)
    counts = ((values, "value"), (pairs, "pair"))
    declared = " and ".join(f"{count} {what}{'s'[: count != 1]}" for count, what in counts if count)
    yield from (f"{path.stat().st_size / 1024:.0f}", found["s"], str(operations), found["codes"])
    yield from (declared, found["lint"], found["losses"], found["mypy"], found["ms"])


def measure_service(service: str, path: str, folder: Path) -> Iterator[str]:
    """The cells of a service of botocore."""
    model = json.loads(gzip.decompress(Path(path).read_bytes()))
    found = measure("botocore", service, folder, service)
    codes = f"{found['codes']} of {len(wire_names(model))}"
    yield from (f"{len(json.dumps(model)) / 1024:.0f}", found["s"], codes)
    yield from (found["lint"], found["losses"], found["mypy"], found["ms"])


def wire_names(model: dict[str, Any]) -> set[str]:
    """The wire names of the errors of a model's operations, without the importer."""
    shapes = model["shapes"]
    listed = (
        error["shape"] for each in model["operations"].values() for error in each.get("errors", ())
    )
    return {shapes[name].get("error", {}).get("code", name) for name in listed}


def documents(folder: Path, chosen: tuple[str, ...]) -> Iterator[str]:
    """The rows of documents."""
    for document in DOCUMENTS:
        if not chosen or document.name in chosen:
            yield f"| {' | '.join((document.name, *measure_document(document, folder)))} |"


def services(folder: Path, chosen: tuple[str, ...]) -> Iterator[str]:
    """The rows of services. Raises ValueError for a model with another hash than the page has."""
    files = dict(installed_services())
    for service, (protocol, digest) in pinned().items():
        if chosen and service not in chosen:
            continue
        found = hashlib.sha256(Path(files[service]).read_bytes()).hexdigest()[: len(digest)]
        if found != digest:
            raise ValueError(f"{service}: the model has the hash {found}, not {digest}")
        cells = (service, protocol, *measure_service(service, files[service], folder))
        yield f"| {' | '.join(cells)} | `{digest}` |"


def sources() -> Iterator[str]:
    """The rows of the packages that have the documents."""
    for each in DOCUMENTS:
        yield f"| {each.name} | {each.package} | `{each.member}` | `{each.digest}` |"


def main(*chosen: str) -> None:
    """Write the tables, or print some rows."""
    with tempfile.TemporaryDirectory() as name:
        tables = {
            "documents": [*documents(Path(name), chosen)],
            "sources": [] if chosen else [*sources()],
            "services": [*services(Path(name), chosen)],
        }
    if chosen:
        print("\n".join(line for lines in tables.values() for line in lines))
        return
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in tables.items():
        table = re.compile(rf"(<!-- {name} -->\n\n\|.*\n\|[-|]+\n)(?:\|.*\n)*")
        assert table.search(text), name
        text = table.sub(lambda match, rows=lines: match[1] + "\n".join(rows) + "\n", text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
