"""Laws of the Go target: it compiles, `go vet` and `gofmt` accept it, and it answers as the vectors
say.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.targets.go import package_name
from faultspec.targets.vectors import exclusion_reasons
from support.once import build_once
from targets.test_typescript import every_taxonomy

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


class GoBindings(NamedTuple):
    """A module with a package for each supported taxonomy, in folders of their names."""

    folder: Path
    taxonomies: Mapping[str, Taxonomy]


def supported() -> Mapping[str, Taxonomy]:
    """The taxonomies whose errors the target can read."""
    return {
        name: taxonomy
        for name, taxonomy in every_taxonomy().items()
        if not list(exclusion_reasons(taxonomy))
    }


def build(taxonomies: Mapping[str, Taxonomy], folder: Path) -> None:
    """Write the packages, each with its comparison, and a program that compares all of them."""
    (folder / "go.mod").write_text("module example.test/bindings\n\ngo 1.23\n")
    imports, rows = [], []
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
        rows.append(f'report("{name}", {name}.Disagreements)')
    main = (HERE / "go_main.txt").read_text()
    main = main.replace("IMPORTS", "\n\t".join(imports)).replace("ROWS", "\n\t".join(rows))
    (folder / "main.go").write_text(main)


@pytest.fixture(scope="session")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> GoBindings:
    """The packages of every supported taxonomy."""
    taxonomies = supported()
    folder = build_once(tmp_path_factory, "go", lambda new: build(taxonomies, new))
    return GoBindings(folder, taxonomies)


def test_the_packages_are_vetted_and_formatted(bindings: GoBindings) -> None:
    """`go vet` and `gofmt` have nothing to say, whatever codes and details are called."""
    vetted = go(bindings.folder, "vet", "./...")
    assert vetted.returncode == 0, vetted.stderr
    formatted = subprocess.run(
        ["gofmt", "-l", "."], cwd=bindings.folder, capture_output=True, text=True, check=True
    )
    generated = [line for line in formatted.stdout.splitlines() if "/" in line]
    assert generated == []


def test_go_answers_what_the_vectors_say(bindings: GoBindings) -> None:
    """It reads, renders and plans the same for every answer of every taxonomy."""
    done = go(bindings.folder, "run", ".")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    assert {row["name"]: row["found"] for row in rows if row["found"]} == {}
    assert all(row["count"] > 10 for row in rows)
    assert sum(row["count"] for row in rows) > 1000
