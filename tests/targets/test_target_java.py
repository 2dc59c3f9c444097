"""Laws of the Java target: javac accepts it without a warning, and it answers as the vectors say."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.targets.java import base_name
from faultspec.targets.vectors import exclusion_reasons
from support.java import JAVA, needs_javac
from support.once import build_once
from targets.test_typescript import every_taxonomy

HERE = Path(__file__).parent
TARGETS = [SHIPPED["java"], SHIPPED["vectors"]]

pytestmark = [needs_javac]


def supported() -> Mapping[str, Taxonomy]:
    """The taxonomies whose errors the target can read."""
    return {
        name: taxonomy
        for name, taxonomy in every_taxonomy().items()
        if not list(exclusion_reasons(taxonomy))
    }


def write(taxonomy: Taxonomy, folder: Path) -> None:
    """Write the classes and the vectors of a taxonomy, and the comparison of both."""
    for path, text in render(taxonomy, TARGETS, "taxonomy.yaml").items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (package,) = (folder / "java/src").iterdir()
    text = (HERE / "java_comparison.txt").read_text(encoding="utf-8")
    text = text.replace("PACKAGE", package.name).replace("BASE", base_name(taxonomy))
    (package / "Comparison.java").write_text(text, encoding="utf-8")


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What one process says of every supported taxonomy: the compiler's lines, else JSON."""
    taxonomies = supported()

    def build(folder: Path) -> None:
        for name, taxonomy in taxonomies.items():
            write(taxonomy, folder / name)
        shutil.copy(HERE / "java_main.txt", folder / "Main.java")
        done = subprocess.run(
            [*JAVA, "Main.java", *taxonomies],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (folder / "said.txt").write_text(done.stdout, encoding="utf-8")

    folder = build_once(tmp_path_factory, "java", build)
    lines = (folder / "said.txt").read_text(encoding="utf-8").splitlines()
    found = dict(line.split("\t", 1) for line in lines)
    assert found.keys() == taxonomies.keys()
    return found


def test_the_classes_compile_without_a_warning(compared: Mapping[str, str]) -> None:
    """`javac -Xlint:all -Werror` has nothing to say, whatever codes and details are called."""
    assert {name: said for name, said in compared.items() if not said.startswith("{")} == {}


def test_java_answers_what_the_vectors_say(compared: Mapping[str, str]) -> None:
    """It reads, renders and plans the same for every answer of every taxonomy."""
    rows: dict[str, dict[str, Any]] = {name: json.loads(said) for name, said in compared.items()}
    assert {name: row["found"] for name, row in rows.items() if row["found"]} == {}
    assert all(row["count"] > 10 for row in rows.values())
    assert sum(row["count"] for row in rows.values()) > 1000
