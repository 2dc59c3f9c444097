"""The files that users name are read by one function, which refuses pipes, devices and sizes."""

import ast
from collections.abc import Iterator
from pathlib import Path

from house.test_architecture import SOURCES
from paths import ROOT

#: Modules that open files by themselves, and why they may.
OPENERS = {
    "compiler/faultspec/source/file.py": "the function",
    "compiler/faultspec/source/whole_file.py": "it writes",
    "compiler/faultspec/render/journal.py": "staging folders, whose files it checks",
    "compiler/faultspec/render/locking.py": "the lock, which is opened without waiting",
    "compiler/faultspec/render/ownership.py": "output folders, whose files it checks",
    "compiler/faultspec/render/rendering.py": "files of the package",
    "compiler/faultspec/render/staging.py": "it writes",
    "compiler/faultspec/leaks/sentences.py": "a file of the package",
    "compiler/faultspec/language/examples.py": "a file of the package",
    "compiler/faultspec/language/record_examples.py": "a file of the package",
    "compiler/faultspec/evolution/examples.py": "a file of the package",
    "compiler/faultspec/cli/__init__.py": "the null device",
    "conformance/faultspec_conformance/observed/formats/store_folders.py": "the null device",
    "compiler/faultspec/cli/descendants.py": "the system's list of processes",
    "compiler/faultspec/cli/files.py": "files of the package",
    "compiler/faultspec/cli/protos.py": "what protoc writes, in a folder of its own",
    "compiler/faultspec/cli/init.py": "it writes a new file, and reads those of the package",
    "conformance/faultspec_conformance/drivers/processes.py": "the system's list of processes",
    "conformance/faultspec_conformance/drivers/piped.py": "the output of a process",
    "conformance/faultspec_conformance/drivers/sink_files.py": "the log of a service, of any size, "
    "from where the run began; it refuses pipes and devices",
    "conformance/faultspec_conformance/observed/formats/sources.py": "recordings of any size, "
    "which are read in pieces; it refuses pipes and devices",
    "conformance/faultspec_conformance/orders/document.py": "a file of the package",
    "conformance/faultspec_conformance/reports/data.py": "a file of the package",
    "conformance/faultspec_conformance/run/generation.py": "temporary files of its own process",
    "conformance/faultspec_conformance/schemathesis/relay.py": "a temporary file of the suite",
}

_OPENING = {"open", "fdopen", "read_text", "read_bytes"}


def opening_calls(path: Path) -> Iterator[int]:
    """The lines of a module where a file is opened."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name("open"):
                yield node.lineno
            case ast.Attribute(ast.Name("source" | "self" | "webbrowser")):
                pass
            case ast.Attribute(attr=name) if name in _OPENING:
                yield node.lineno


def test_files_of_users_are_read_by_one_function() -> None:
    """Every other module that opens files is listed with its reason, and no more are listed."""
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for folder in SOURCES.values()
        for path in sorted(folder.rglob("*.py"))
        if (lines := list(opening_calls(path)))
    }
    assert {path: lines for path, lines in found.items() if path not in OPENERS} == {}
    assert OPENERS.keys() - found.keys() == set()
