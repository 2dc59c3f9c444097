"""Laws of the Go target: it compiles, `go vet` and `gofmt` accept it, and it answers as the vectors
say.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.targets.catalog import refusals
from faultspec.targets.go import package_name
from support.once import build_once
from targets.answers_of_python import (
    check_answers,
    check_passing,
    error_cases,
    status_cases,
)
from targets.laws_of_ports import add_a_code, check_refusal
from targets.test_large_taxonomies import many_codes
from targets.test_typescript import Compiled, compiled, every_taxonomy

__all__ = ["compiled"]

HERE = Path(__file__).parent
TARGETS = [SHIPPED["go"], SHIPPED["vectors"]]

pytestmark = [pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")]


def go(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The go command in a folder, without a network."""
    return subprocess.run(
        ["go", *arguments],
        cwd=folder,
        env={**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=False,
    )


def unformatted(folder: Path) -> list[str]:
    """The files in a folder that `gofmt` would change."""
    root = go(folder, "env", "GOROOT").stdout.strip()
    done = subprocess.run(
        [f"{root}/bin/gofmt", "-l", "."], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


class GoBindings(NamedTuple):
    """A module with a package for each supported taxonomy, in folders of their names."""

    folder: Path
    taxonomies: Mapping[str, Taxonomy]

    def run(self, cases: object = None) -> Any:
        """The rows of the comparison with the vectors, or the answers to cases by taxonomy."""
        done = subprocess.run(
            ["./compare", *(["cases"] if cases is not None else [])],
            cwd=self.folder,
            input=json.dumps(cases),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def supported() -> Mapping[str, Taxonomy]:
    """The taxonomies whose errors the target can read."""
    return {
        name: taxonomy
        for name, taxonomy in every_taxonomy().items()
        if not list(refusals(taxonomy))
    }


def build(taxonomies: Mapping[str, Taxonomy], folder: Path) -> None:
    """Write the packages, each with its comparison, and a program that compares all of them."""
    (folder / "go.mod").write_text("module example.test/bindings\n\ngo 1.23\n")
    imports, rows, sent = [], [], []
    for name, taxonomy in taxonomies.items():
        files = render(taxonomy, TARGETS, f"{name}.yaml")
        own = package_name(taxonomy.name)
        for path, text in files.items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        comparison = (HERE / "go_vectors.txt").read_text().replace("PACKAGE", own)
        (folder / name / "go" / own / "comparison.go").write_text(comparison)
        imports.append(f'{name} "example.test/bindings/{name}/go/{own}"')
        rows.append(f'"{name}": {name}.Disagreements,')
        sent.append(
            f'if text := cases["{name}"]; text != nil {{ answers["{name}"] = {name}.Sent(text) }}'
        )
    main = (HERE / "go_main.txt").read_text()
    for mark, lines in (("IMPORTS", imports), ("DISAGREEMENTS", rows), ("SENT", sent)):
        main = main.replace(mark, "\n\t".join(lines))
    (folder / "main.go").write_text(main)
    built = go(folder, "build", "-o", "compare", ".")
    assert built.returncode == 0, built.stderr


@pytest.fixture(scope="session")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> GoBindings:
    """The packages of every supported taxonomy."""
    taxonomies = supported()
    folder = build_once(tmp_path_factory, "go", lambda new: build(taxonomies, new))
    return GoBindings(folder, taxonomies)


def test_the_packages_need_no_newer_go_than_their_page_says(bindings: GoBindings) -> None:
    """No package uses what the standard library got after Go 1.23, as far as Go's own lists say. A
    newer compiler accepts it whatever `go.mod` has.
    """
    lists = Path(go(bindings.folder, "env", "GOROOT").stdout.strip(), "api")
    newer = {
        f"{package.rpartition('/')[2]}.{name}"
        for path in lists.glob("go1.*.txt")
        if int(path.stem.removeprefix("go1.")) > 23
        for package, name in re.findall(
            r"^pkg ([\w/]+), (?:func|type|var|const) (\w+)", path.read_text(), re.MULTILINE
        )
    }
    if not newer:
        pytest.skip("this Go has no lists of its interface")
    used = {
        word
        for path in bindings.folder.rglob("*.go")
        for word in re.findall(r"\b[a-z]\w*\.[A-Z]\w*", path.read_text())
        if "/go/" in str(path)
    }
    assert "strings.Split" in used
    assert used & newer == set()


def test_the_packages_are_vetted_and_formatted(bindings: GoBindings) -> None:
    """`go vet` and `gofmt` have nothing to say, whatever codes and details are called."""
    vetted = go(bindings.folder, "vet", "./...")
    assert vetted.returncode == 0, vetted.stderr
    assert [name for name in unformatted(bindings.folder) if "/go/" in name] == []


def test_go_answers_what_the_vectors_say(bindings: GoBindings) -> None:
    """It reads, renders and plans the same for every answer of every taxonomy."""
    rows: list[dict[str, Any]] = bindings.run()
    assert {row["name"]: row["found"] for row in rows if row["found"]} == {}
    assert all(row["count"] > 10 for row in rows)
    assert sum(row["count"] for row in rows) > 1000


def test_an_error_in_go_is_sent_as_python_sends_it(
    bindings: GoBindings, compiled: Compiled
) -> None:
    """Status, headers and body of every shared code are those of Python, without details and with
    a value for each.
    """
    check_answers(error_cases(bindings.taxonomies, compiled), bindings.run)


def test_a_boundary_in_go_answers_a_status_as_pythons_does(
    bindings: GoBindings, compiled: Compiled
) -> None:
    """Every status from 400 to 599 without a code has the answer of the Python boundary, with the
    headers of the framework that are kept.
    """
    check_answers(status_cases(bindings.taxonomies, compiled), bindings.run)


def test_an_envelope_passes_a_boundary_in_go_as_it_passes_pythons(
    bindings: GoBindings, compiled: Compiled
) -> None:
    """A handler may fill an envelope itself, with one error or a list, all of them declared."""
    check_passing(bindings.taxonomies, compiled, bindings.run)


def test_a_new_code_only_adds_lines_of_go() -> None:
    """Of the files that a taxonomy decides; the others stay as they are."""
    tree = add_a_code(TARGETS[0])
    assert tree.before.keys() == tree.after.keys()
    assert tree.changed == {"go/shoperrors/catalog.json", "go/shoperrors/codes.go"}


def test_a_taxonomy_that_go_cannot_read_is_refused(tmp_path: Path) -> None:
    """The diagnostic names the file and each envelope, and nothing is written."""
    check_refusal("go", tmp_path)


@pytest.mark.full
def test_go_of_ten_thousand_codes_compiles(tmp_path: Path) -> None:
    """And starts, with an error of the last of them."""
    loaded = read(many_codes(10_000), "t.yaml").taxonomy
    assert loaded is not None
    for path, text in render(loaded, TARGETS[:1], "t.yaml").items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (tmp_path / "go.mod").write_text("module example.test/large\n\ngo 1.23\n")
    (package,) = (tmp_path / "go").iterdir()
    (tmp_path / "main.go").write_text(
        f"""package main

import errs "example.test/large/go/{package.name}"

func main() {{ print(string(errs.ParseBody([]byte(`{{"code":"code_9999"}}`), errs.Answer{{}}).Code)) }}
"""
    )
    done = go(tmp_path, "run", ".")
    assert (done.returncode, done.stderr) == (0, "code_9999")
