"""The modules of a program: files to syntax trees, with the names that each module imports."""

import ast
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


class TooManyFiles(Exception):
    """A folder has more files than `MOST_FILES`."""


def read_program(root: Path, generated: Collection[str] = ()) -> Program:
    """The modules of a package, or of a folder of packages, or a single file.

    ``generated``: names of packages to leave out. Tests and hidden folders are left out as well.
    Raises TooManyFiles.
    """
    base = root.parent if root.is_file() or (root / "__init__.py").exists() else root
    modules: dict[str, SourceModule] = {}
    problems: list[Diagnostic] = []
    for number, path in enumerate(_files(root, generated), 1):
        if number > MOST_FILES:
            raise TooManyFiles(f"{root} has more than {MOST_FILES:,} Python files")
        try:
            text = decode_source(read_bytes(str(path)))
            tree = ast.parse(text)
        except SourceError as error:
            problems += error.diagnostics
        except SyntaxError as error:
            place = Span(error.lineno or 1, error.offset or 1, error.lineno or 1, error.offset or 1)
            problems.append(_unreadable(path, error.msg, place))
        except (ValueError, RecursionError, MemoryError) as error:
            problems.append(_unreadable(path, str(error) or "it is nested too deeply"))
        else:
            if _depth(tree) > _DEEPEST:
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


def _depth(tree: ast.Module) -> int:
    level: list[ast.AST] = [tree]
    depth = 0
    while level and depth <= _DEEPEST:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def _files(root: Path, generated: Collection[str]) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for path in sorted(root.iterdir()):
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_dir():
            if path.name not in _SKIPPED and path.name not in generated and not _is_venv(path):
                yield from _files(path, generated)
        elif path.suffix == ".py" and not path.name.startswith("test_"):
            yield path


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
