"""The transcripts of README, docs/audit.md and docs/sql.md are real: each command in a ``console``
block is run, and what it prints is what stands there.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from observed.test_pytest_plugin import INSTALLED
from paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
AUDIT = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
SQL = (ROOT / "docs/sql.md").read_text(encoding="utf-8")

#: Commands of ``make``: CI runs them itself, and a test that ran ``make test`` would never end.
MAKE = re.compile(r"^make \w+$")

#: With one of these pytest writes whole messages into its summary, which no reader sees at a desk.
#: https://docs.pytest.org/en/stable/explanation/ci.html
CI_VARIABLES = {"CI", "BUILD_NUMBER"}


def transcripts(page: str = README) -> list[tuple[str, str]]:
    """Commands and the output below each, in order; ``...`` stands for anything, as in doctest."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command.partition("#")[0].strip(), output))
    return found


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One empty folder for all commands of the page, which build on each other."""
    return tmp_path_factory.mktemp("readme")


def desk_environment() -> dict[str, str]:
    """The environment of a person at a desk, with the programs of this Python."""
    kept = {key: value for key, value in os.environ.items() if key not in CI_VARIABLES}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def run(command: str, cwd: Path) -> str:
    """The output of a terminal, both streams in one."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env=desk_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def test_every_transcript_is_what_happens(workplace: Path) -> None:
    """Running the page from top to bottom prints the page."""
    commands = [each for each in transcripts() if not MAKE.match(each[0])]
    assert len(commands) >= 5
    check(commands, workplace)


def test_every_transcript_of_the_audit_is_what_happens(tmp_path: Path) -> None:
    """So does that page, beside the flagship as `platform.yaml` and the test module that stands on
    it.
    """
    (tmp_path / "platform.yaml").write_bytes((ROOT / "taxonomy.yaml").read_bytes())
    write_modules(AUDIT, tmp_path)
    commands = transcripts(AUDIT)
    assert len(commands) >= 4
    if not INSTALLED:
        commands = [
            (
                each.replace("pytest ", "pytest -p faultspec_conformance.observed.pytest_plugin "),
                expected,
            )
            for each, expected in commands
        ]
    check(commands, tmp_path)


def write_modules(page: str, folder: Path) -> None:
    """Write the modules that a page shows with their names."""
    modules = re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for name, module in modules:
        (folder / name).write_text(module, encoding="utf-8")


def test_every_transcript_of_sql_is_what_happens(tmp_path: Path) -> None:
    """So does the page on the views of a table."""
    write_modules(SQL, tmp_path)
    commands = transcripts(SQL)
    assert len(commands) >= 4
    check(commands, tmp_path)


def shows(expected: str, shown: str) -> bool:
    """Whether an output is the one of the page; ``...`` stands for anything, as in doctest."""
    return doctest.OutputChecker().check_output(
        expected, shown, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )


def check(commands: list[tuple[str, str]], workplace: Path) -> None:
    """Run the commands in a folder; each prints what stands below it."""
    for command, expected in commands:
        shown = run(command, workplace)
        if not shows(expected, shown):
            pytest.fail(f"$ {command}\n--- README\n{expected}\n--- shown\n{shown}")


def test_every_make_target_of_the_page_exists() -> None:
    """A command the page names is a target of the Makefile."""
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {command.split()[1] for command, _ in transcripts() if MAKE.match(command)}
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize(
    "page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/audit.md", "docs/sql.md"]
)
def test_links_lead_somewhere(page: str) -> None:
    """Every relative link of a page names a file of the checkout."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}"
