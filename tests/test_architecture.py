"""The house of ARCHITECTURE.md: who may import whom, and which outside package only one room may know."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMPILER = ROOT / "compiler" / "faultspec"
SUITE = ROOT / "conformance" / "faultspec_conformance"

#: Floors of the house from the ground up. A room imports from its own floor or from below, never from above.
FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"runtime"}),
    frozenset({"diagnostic", "source"}),
    frozenset({"printers", "language"}),
    frozenset({"body"}),
    frozenset(
        {
            "exchange",
            "finding",
            "clauses",
            "meaning",
            "leaks",
            "alike",
            "contract",
            "judge",
            "targets",
            "render",
            "lint",
            "trace",
        }
    ),
    frozenset({"importers"}),
    frozenset({"cli"}),
)


def modules(root: Path) -> list[Path]:
    """Every Python file of a source root."""
    return sorted(root.rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute names imported by a file, with their lines."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno


def room(name: str) -> str | None:
    """``faultspec.language.model`` is in the room ``language``."""
    parts = name.split(".")
    return parts[1] if parts[0] == "faultspec" and len(parts) > 1 else None


def floor(name: str) -> int:
    """The floor a room is on."""
    found = [index for index, rooms in enumerate(FLOORS) if name in rooms]
    assert found, f"room `{name}` is on no floor: give it one here and in ARCHITECTURE.md"
    return found[0]


@pytest.mark.parametrize("path", modules(COMPILER), ids=lambda p: str(p.relative_to(COMPILER)))
def test_the_compiler_imports_downwards(path: Path) -> None:
    """No module imports from a floor above its own, and none imports the suite."""
    own = path.relative_to(COMPILER).parts[0].removesuffix(".py")
    for name, line in imports(path):
        if own == "cli" and name.startswith("faultspec_conformance"):
            continue  # the composition root: a command that needs the suite says so inside its own module
        assert not name.startswith("faultspec_conformance"), f"{path}:{line} imports {name}"
        other = room(name)
        if other and own != "__init__":
            assert floor(other) <= floor(own), f"{path}:{line}: {own} imports {other}, which is above it"


@pytest.mark.parametrize("path", modules(COMPILER / "runtime"), ids=lambda p: p.name)
def test_the_runtime_is_standard_library_only(path: Path) -> None:
    """The runtime is copied into generated code, so it imports the standard library and itself, relatively."""
    for name, line in imports(path):
        assert name.split(".")[0] in sys.stdlib_module_names, f"{path}:{line} imports {name}"


@pytest.mark.parametrize("path", modules(SUITE), ids=lambda p: str(p.relative_to(SUITE)))
def test_one_module_knows_schemathesis(path: Path) -> None:
    """Schemathesis changes from release to release; only the sweep imports it."""
    if path.name != "sweep.py":
        assert not any(name.split(".")[0] == "schemathesis" for name, _ in imports(path))


@pytest.mark.parametrize("path", modules(SUITE), ids=lambda p: str(p.relative_to(SUITE)))
def test_one_module_knows_the_mcp_library(path: Path) -> None:
    """It is an extra of its own, so a run over HTTP must not need it."""
    if path != SUITE / "drivers" / "mcp.py":
        assert not any(name.split(".")[0] in ("mcp", "httpx2", "anyio") for name, _ in imports(path))


@pytest.mark.parametrize("path", modules(SUITE), ids=lambda p: str(p.relative_to(SUITE)))
def test_the_suite_knows_no_service(path: Path) -> None:
    """Nothing but the orders service itself imports the orders service: the suite judges any service."""
    relative = path.relative_to(SUITE)
    if relative.parts[0] != "orders":
        assert not any(name.startswith("faultspec_conformance.orders") for name, _ in imports(path))


@pytest.mark.parametrize("path", modules(ROOT / "tests" / "miniatures"), ids=lambda p: p.name)
def test_miniatures_import_nothing_of_ours(path: Path) -> None:
    """A miniature that shared code with the judge would share its misreadings."""
    for name, line in imports(path):
        first = name.split(".")[0]
        assert first not in {"faultspec", "faultspec_conformance", "platform_errors"}, f"{path}:{line} imports {name}"


def test_the_check_sees_what_it_forbids(tmp_path: Path) -> None:
    """A planted upward import is found, so silence above means something."""
    planted = tmp_path / "planted.py"
    planted.write_text("import schemathesis\nfrom faultspec.cli import main\n")
    assert [name for name, _ in imports(planted)] == ["schemathesis", "faultspec.cli"]
    assert floor("cli") > floor("language")


def reached(name: str, seen: set[str]) -> set[str]:
    """The modules of the conformance package that a module of it imports, and those that they import, and so on."""
    if name not in seen:
        seen.add(name)
        path = ROOT / "conformance" / "faultspec_conformance" / name.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            for found, _ in imports(file) if file.exists() else ():
                if found.startswith("faultspec_conformance."):
                    reached(found.removeprefix("faultspec_conformance."), seen)
    return seen


@pytest.mark.parametrize("name", ["reports", "merging", "verdict", "required"])
def test_what_reads_results_sends_nothing(name: str) -> None:
    """Reports of a run are made, merged and compared without anything that could start one."""
    rooms = {each.partition(".")[0] for each in reached(name, set())}
    assert not rooms & {"run", "world", "seen", "drivers", "probes", "playing", "sweep", "target"}
