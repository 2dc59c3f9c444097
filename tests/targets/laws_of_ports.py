"""Laws of the targets that are a fixed program over a catalogue: Go and Java."""

import difflib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from faultspec.render import render
from faultspec.targets import CompileTarget
from paths import ROOT
from support.command_line import faultspec
from support.evolving import shop


class ChangedTree(NamedTuple):
    """The files before and after a change, and the paths of those with another text."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    changed: frozenset[str]


def add_a_code(target: CompileTarget) -> ChangedTree:
    """Render a shop, then with one more code. No line of a file goes."""
    before = render(shop(), [target], "t.yaml")
    after = render(shop(new_code=True), [target], "t.yaml")
    assert before.keys() <= after.keys()
    changed = frozenset(path for path, text in before.items() if after[path] != text)
    for path in changed:
        removed = [
            line
            for line in difflib.ndiff(before[path].splitlines(), after[path].splitlines())
            if line.startswith("- ")
        ]
        assert removed == [], path
    return ChangedTree(before, after, changed)


def check_refusal(target: str, folder: Path) -> None:
    """The diagnostic names each envelope that the target cannot read, and the place of the first;
    nothing is written.
    """
    shutil.copy(ROOT / "tests/taxonomies/formats.yaml", folder)
    done = faultspec("compile", "formats.yaml", "--target", target, cwd=folder)
    assert done.returncode == 2
    assert "The bodies of the envelope form are not JSON." in done.stderr
    assert "formats.yaml:11:5: error: the target" in done.stderr
    assert "[unsupported-envelope]" in done.stderr
    assert "hint: use the targets python and typescript" in done.stderr
    assert not (folder / "generated").exists()
    text = (ROOT / "tests/fixtures/wire_forms/placed.yaml").read_text()
    (folder / "placed.yaml").write_text(text.replace("(?:, more)?", "(?=, more)"))
    done = faultspec("compile", "placed.yaml", "--target", target, cwd=folder)
    assert done.returncode == 2
    assert "The pattern of the slot left of the envelope tagged has more than" in done.stderr
    assert "placed.yaml:14:37: error: the target" in done.stderr
