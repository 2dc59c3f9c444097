"""A first look at services without an OpenAPI document: one library with planted faults, and its
sound twin, in several frameworks.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from frameworks.shop import served
from paths import ROOT
from support.command_line import faultspec
from support.npm import installed

HERE = Path(__file__).parent / "undocumented"
PAGE = (ROOT / "docs/how-to/first-minute.md").read_text(encoding="utf-8")

#: What a user copies from a browser or a test.
PATHS = (
    "/books",
    "/stock/tea",
    "/account",
    "/search?q=tea",
    "/reports?month=1",
    "/orders",
)
NAMED = tuple(part for path in PATHS for part in ("--path", path))

#: The planted faults: the clause and the path that show each of them.
PLANTED = {
    "a crash on a word as an id": ("service/no-crash", "/books/{id}"),
    "a stack trace in the answer": ("leaks/stack-trace", "/books/{id}"),
    "a password in an error": ("leaks/connection-string", "/reports"),
    "another shape of errors": ("envelope/shape", "/reports"),
    "input that comes back as HTML": ("leaks/canary", "/search"),
    "a success with an error inside": ("framework/unknown-id", "/stock/{id}"),
    "401 without WWW-Authenticate": ("http/authenticate", "/account"),
    "405 without Allow": ("http/allow", "/orders"),
}


@dataclass(frozen=True)
class FirstLook:
    """The end of a first look. ``found``: the clauses of errors, with their paths.

    ``warned``: the clauses of warnings.
    """

    code: int
    found: frozenset[tuple[str, str]]
    warned: frozenset[str]
    text: str


@contextmanager
def library(command: list[str], log: Path, *, sound: bool, links: bool = False) -> Iterator[str]:
    """The address of a library, until the end of the block."""
    environment = {"SOUND": "1" if sound else "0", "LINKS": "1" if links else "0"}
    with served(command, environment, log) as port:
        yield f"http://127.0.0.1:{port}"
    assert "a first look wrote" not in log.read_text(errors="replace")


def look(url: str, folder: Path, *arguments: str) -> FirstLook:
    """Judge a service as a newcomer does: in an empty folder, with nothing but its address."""
    folder.mkdir(exist_ok=True)
    done = faultspec("conform", url, "--report", "json=report.json", *arguments, cwd=folder)
    report = json.loads((folder / "report.json").read_text())
    found = frozenset(
        (each["clause"], (operation or "").partition(" ")[2].rstrip("/"))
        for each in report["findings"]
        if each["level"] == "error"
        for operation in [each["operation"], *each["operations"]]
    )
    warned = frozenset(each["clause"] for each in report["findings"] if each["level"] == "warning")
    return FirstLook(done.returncode, found, warned, done.stdout + done.stderr)


def python(name: str) -> list[str]:
    """The command of a library in Python."""
    return [sys.executable, str(HERE / f"{name}_library.py")]


def check_twins(command: list[str], tmp_path: Path, *arguments: str, links: bool) -> FirstLook:
    """Every planted fault is found, and nothing in the sound twin."""
    with library(command, tmp_path / "log", sound=False, links=links) as url:
        bad = look(url, tmp_path / "look", *arguments)
    missed = {what for what, shown in PLANTED.items() if shown not in bad.found}
    assert missed == set(), bad.text
    assert bad.code == 1
    with library(command, tmp_path / "log", sound=True, links=links) as url:
        sound = look(url, tmp_path / "look", *arguments)
    assert (sound.code, sound.found) == (0, frozenset()), sound.text
    assert sound.warned <= {"framework/large-head"}, sound.text  # of the servers themselves
    return bad


def test_links_lead_to_the_planted_faults(tmp_path: Path) -> None:
    """With nothing but the address of a service that links its routes, every planted fault is
    found, none in the sound twin, and nothing is written. The page shows what is found.
    """
    bad = check_twins(python("flask"), tmp_path, "--no-sweep", links=True)
    assert ("service/no-crash", "/books") in bad.found, "a crash on a query that nothing shows"
    shown = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    lines = bad.text.splitlines()
    for line in shown.splitlines():
        assert any(found.startswith(line.partition("…")[0].rstrip(" ;")) for found in lines), line


def test_a_service_that_shows_nothing_is_not_passed(tmp_path: Path) -> None:
    """Without a document or a link the run does not succeed, and says what to do; with the paths
    that it asks for, it finds the planted faults.
    """
    with library(python("flask"), tmp_path / "log", sound=False) as url:
        bare = look(url, tmp_path / "look")
        named = look(url, tmp_path / "look", "--no-sweep", *NAMED, "--path", "/boks/1")
    assert (bare.code, bare.found) == (2, frozenset()), bare.text
    assert "could not run: the operations of the service" in bare.text
    assert "`--path /orders/17`" in bare.text
    assert set(PLANTED.values()) <= named.found, named.text
    assert "--path /boks/{id}: the service knows no such route" in named.text


@pytest.mark.full
@pytest.mark.parametrize("name", ["flask", "fastapi", "drf"])
def test_a_library_in_python_shows_its_faults(name: str, tmp_path: Path) -> None:
    """Whatever the links look like: paths, relative references, other names of this machine, URI
    templates.
    """
    check_twins(python(name), tmp_path, links=True)


@pytest.mark.full
def test_a_library_in_go_shows_its_faults(tmp_path: Path) -> None:
    """A service of net/http that shows nothing at its root is judged by the paths that are
    named.
    """
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed")
    # Without a module net/http reads patterns as it did before Go 1.22.
    (tmp_path / "go.mod").write_text("module library\n\ngo 1.22\n")
    shutil.copy(HERE / "go_library.go", tmp_path)
    subprocess.run([go, "build", "-o", "library", "."], cwd=tmp_path, check=True)
    program = tmp_path / "library"
    check_twins([str(program)], tmp_path, *NAMED, links=False)


@pytest.mark.full
def test_a_library_in_express_shows_its_faults(tmp_path: Path) -> None:
    """Links and forms of a page in HTML lead to the routes; the framework's page for an unknown
    route is not a stack trace.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    modules = installed({"express": "5.2.1"}, "express/package.json")
    (tmp_path / "node_modules").symlink_to(modules)
    shutil.copy(HERE / "express_library.cjs", tmp_path)
    check_twins([node, str(tmp_path / "express_library.cjs")], tmp_path, links=True)
