"""The modules of a program: files to syntax trees, with the names that each module imports."""

import ast
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.util import decode_source
from pathlib import Path
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.source import SourceError, read_bytes

#: Folders that hold no part of the program.
_SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "tests", "test", "migrations"}
)

#: Files of one program. A folder with more is probably not a package.
MOST_FILES = 20_000

#: Bytes of one file. Its syntax tree takes up to 500 times as many.
MOST_BYTES = 512 * 1024

#: Nodes of the syntax trees of one program; Django has fewer. A node takes up to 1 kB.
MOST_NODES = 2_000_000

#: Levels of a syntax tree that are read. Code that people write has under a hundred.
_DEEPEST = 400


class SourceModule(NamedTuple):
    """A parsed file. ``name`` is dotted. ``imports``: the absolute dotted name of each name that
    the module imports at any depth.
    """

    name: str
    path: str
    text: str
    lines: Sequence[str]
    tree: ast.Module
    imports: Mapping[str, str]


class Program(NamedTuple):
    """The modules by dotted name, and a diagnostic for each file that could not be read."""

    modules: Mapping[str, SourceModule]
    problems: tuple[Diagnostic, ...]


class TooLarge(Exception):
    """A program has more files or more syntax than are read."""


def read_program(root: Path, generated: Collection[str] = ()) -> Program:
    """The modules of a package, or of a folder of packages, or a single file.

    ``generated``: names of packages to leave out. Tests and hidden folders are left out as well.
    Raises TooLarge.
    """
    base = root.parent if root.is_file() or (root / "__init__.py").exists() else root
    modules: dict[str, SourceModule] = {}
    problems: list[Diagnostic] = []
    nodes = 0
    for number, path in enumerate(_files(root, generated, problems), 1):
        if number > MOST_FILES:
            raise TooLarge(f"{root} has more than {MOST_FILES:,} Python files")
        try:
            content = read_bytes(str(path))
            if len(content) > MOST_BYTES:
                problems.append(_unreadable(path, f"it has more than {MOST_BYTES // 1024} KiB"))
                continue
            text = decode_source(content)
            tree = ast.parse(text)
        except SourceError as error:
            problems += error.diagnostics
        except SyntaxError as error:
            place = Span(error.lineno or 1, error.offset or 1, error.lineno or 1, error.offset or 1)
            problems.append(_unreadable(path, error.msg, place))
        except (ValueError, LookupError, RecursionError, MemoryError) as error:
            problems.append(_unreadable(path, str(error) or "it is nested too deeply"))
        else:
            size = _measure(tree)
            nodes += size.nodes
            if nodes > MOST_NODES:
                raise TooLarge(f"{root} has more than {MOST_NODES:,} nodes of syntax")
            if size.depth > _DEEPEST:
                problems.append(_unreadable(path, "it is nested too deeply"))
                continue
            name = _module_name(path.relative_to(base))
            imports = dict(_imports(tree, name, is_package=path.name == "__init__.py"))
            # The syntax tree counts the lines that end as in a file, and no others.
            lines = re.split(r"\r\n?|\n", text)
            modules[name] = SourceModule(
                name, str(path), text=text, lines=lines, tree=tree, imports=imports
            )
    return Program(modules, tuple(problems))


def _unreadable(path: Path, why: str, span: Span | None = None) -> Diagnostic:
    hint = "the file is left out; correct it, and run again"
    return Diagnostic("source-unreadable", f"no Python: {why}", str(path), span, hint=hint)


class _TreeSize(NamedTuple):
    depth: int
    nodes: int


def _measure(tree: ast.Module) -> _TreeSize:
    """The size of a tree, of its upper levels alone if it is too deep."""
    level: list[ast.AST] = [tree]
    depth = nodes = 0
    while level and depth <= _DEEPEST:
        nodes += len(level)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return _TreeSize(depth, nodes)


def _files(root: Path, generated: Collection[str], problems: list[Diagnostic]) -> Iterator[Path]:
    """The files of a folder in their order; a folder that cannot be read is a problem."""
    waiting = [root]
    while waiting:
        path = waiting.pop()
        if (path == root and path.is_file()) or (path.suffix == ".py" and not path.is_dir()):
            yield path
        else:
            try:
                names = _parts(path, generated)
            except OSError as error:
                problems.append(_unreadable(path, str(error.strerror)))
            else:
                waiting += (path / name for name in reversed(names))


def _parts(folder: Path, generated: Collection[str]) -> list[str]:
    """The names in a folder that may be parts of the program. Raises TooLarge, OSError."""
    found: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not _may_be_part(entry, generated):
                continue
            if len(found) == MOST_FILES:
                raise TooLarge(f"{folder} has more than {MOST_FILES:,} files and folders")
            found.append(entry.name)
    return sorted(found)


def _may_be_part(entry: os.DirEntry[str], generated: Collection[str]) -> bool:
    name = entry.name
    if name.startswith(".") or entry.is_symlink():
        return False
    if entry.is_dir():
        return name not in _SKIPPED and name not in generated and not _is_venv(Path(entry.path))
    return name.endswith(".py") and not name.startswith("test_")


def _is_venv(path: Path) -> bool:
    return (path / "pyvenv.cfg").exists()


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, name: str, *, is_package: bool) -> Iterator[tuple[str, str]]:
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    yield (
                        (alias.asname, alias.name)
                        if alias.asname
                        else (alias.name.partition(".")[0],) * 2
                    )
            case ast.ImportFrom():
                above = package.split(".")[: len(package.split(".")) - max(0, node.level - 1)]
                start = ".".join(above) if node.level else ""
                module = ".".join(part for part in (start, node.module) if part)
                for alias in node.names:
                    yield alias.asname or alias.name, f"{module}.{alias.name}"
