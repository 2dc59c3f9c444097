"""The table `upstream.codes` in the generated bindings: every failure has the code of the row that
decides it.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.language.upstream_failures import UpstreamSays, deciding_row, distinct_failures
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from targets.test_typescript import tsc

TAXONOMY = """
faultspec: 1
taxonomy: {name: shipping, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, envelope: error}}
upstream:
  codes:
    - {from: [carrier, post], status: 409, code: [duplicate, 17], becomes: known}
    - {from: carrier, status: [429, 503], becomes: busy}
    - {code: late, becomes: busy}
    - {status: 502-504, becomes: unreachable}
    - {becomes: failed}
codes:
  known: {summary: It exists., http: 409}
  busy: {summary: Too much to do., http: 503}
  unreachable: {summary: A carrier is down., http: 502}
  failed: {summary: It failed., http: 500}
"""


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    """A taxonomy with a table."""
    loaded = read(TAXONOMY, "shipping.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


@pytest.fixture(scope="module")
def folder(taxonomy: Taxonomy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its bindings."""
    folder = tmp_path_factory.mktemp("shipping")
    names = ["python", "typescript"]
    write(render(taxonomy, [SHIPPED[name] for name in names], "shipping.yaml"), folder, names)
    return folder


@pytest.fixture(scope="module")
def package(folder: Path) -> Iterator[Any]:
    """The package of the Python bindings."""
    sys.path.insert(0, str(folder / "python"))
    yield importlib.import_module("shipping_errors")
    sys.path.remove(str(folder / "python"))


def decisions(taxonomy: Taxonomy) -> list[tuple[UpstreamSays, str]]:
    """Every failure that the table tells apart, with its code."""
    rows = taxonomy.upstream.codes if taxonomy.upstream else ()
    decided = [(failure, deciding_row(rows, failure)) for failure in distinct_failures(rows)]
    return [(failure, row.becomes) for failure, row in decided if row is not None]


def test_every_row_decides_a_failure(taxonomy: Taxonomy) -> None:
    """Some failure is decided by each row, and every failure by one."""
    assert {code for _, code in decisions(taxonomy)} == taxonomy.codes.keys()


def test_python_finds_the_exception(taxonomy: Taxonomy, package: Any) -> None:
    """`from_upstream` returns the class of the code."""
    for failure, code in decisions(taxonomy):
        found = package.from_upstream(**failure._asdict())
        assert found is package.errors.ERRORS[code], failure


@pytest.mark.skipif(which("node") is None, reason="needs node")
def test_typescript_finds_the_code(taxonomy: Taxonomy, folder: Path) -> None:
    """`fromUpstream` returns the code."""
    cases = [{**failure._asdict(), "wanted": code} for failure, code in decisions(taxonomy)]
    source = folder / "typescript"
    files = [str(path.relative_to(source)) for path in source.rglob("*.ts")]
    done = tsc(source, "--module", "nodenext", "--outDir", "../javascript", *files)
    assert not done.returncode, done.stdout
    (module,) = (folder / "javascript").rglob("codes.js")
    program = f"""
import {{ fromUpstream }} from {json.dumps(str(module))};
const wrong = {json.dumps(cases)}.filter((each) => fromUpstream(each) !== each.wanted);
console.log(JSON.stringify(wrong));
"""
    (folder / "javascript" / "package.json").write_text('{"type": "module"}')
    script = folder / "javascript" / "program.mjs"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == [], done.stderr
