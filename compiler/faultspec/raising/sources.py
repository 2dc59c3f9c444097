"""The modules of a program: their source, and the names that each defines and imports.

A syntax tree takes hundreds of times the memory of its source, so each is made again when it is
read, and only one is held at a time.
"""

import ast
import codecs
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.util import decode_source
from io import BytesIO
from pathlib import Path
from tokenize import detect_encoding
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.source import SourceError, read_bytes

#: Folders that hold no part of the program.
_SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "tests", "test", "migrations"}
)

#: Files of one program. A folder with more is probably not a package.
MOST_FILES = 20_000

#: Bytes of one file.
MOST_BYTES = 512 * 1024

#: Words, signs and line ends of one file; the largest modules that people write have fewer. Each
#: takes up to 0.9 kB of the syntax tree.
MOST_WORDS = 150_000

#: Bytes of all files, which are held. Django has 5 MB.
MOST_SOURCE = 32 * 1024 * 1024

#: Nodes of the syntax trees of one program; Django has 570,000. What is known of a program takes up
#: to 0.2 kB a node.
MOST_NODES = 1_000_000

#: Characters of the dotted names of one program, each of which has those of what is around it.
MOST_NAMES = 32_000_000

#: Levels of a syntax tree that are read. Code that people write has under a hundred.
_DEEPEST = 400

#: Characters of an annotation in quotes. They are parsed, and may be as deep as they are long.
_LONGEST_ANNOTATION = 200

#: Encodings of host names. The decoder of Punycode inserts each character into the text, and takes
#: quadratic time.
_OF_HOST_NAMES = frozenset({"idna", "punycode"})

_WORD = re.compile(r"\w+|[^\w\s]|\n")


class Definition(NamedTuple):
    """A function or a class of a module. ``owner``: the class that it is in."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    owner: str | None


class SourceModule(NamedTuple):
    """A file. ``name`` is dotted. ``imports``: the absolute dotted name of each name that the
    module imports at any depth.
    """

    name: str
    path: str
    content: bytes
    imports: Mapping[str, str]

    @property
    def text(self) -> str:
        """The source."""
        return decode_source(self.content)

    def lines(self) -> Sequence[str]:
        """The lines of the syntax tree, which end as in a file, and no others."""
        return re.split(r"\r\n?|\n", self.text)

    def parse(self) -> ast.Module:
        """The syntax tree, made anew."""
        return ast.parse(self.text)


class Program(NamedTuple):
    """The modules, functions and classes by dotted name, and a diagnostic for each file that could
    not be read. ``functions``: the class that each is in. ``classes``: the bases of each.
    ``returns``: the names that may be the class of what a function returns. ``instances``: the name
    that is called for the value of each variable of a module.
    """

    modules: Mapping[str, SourceModule]
    functions: Mapping[str, str | None]
    classes: Mapping[str, Sequence[str]]
    returns: Mapping[str, Sequence[str]]
    instances: Mapping[str, str]
    problems: tuple[Diagnostic, ...]
    size: "ProgramSize"


class TooLarge(Exception):
    """A program has more files or more syntax than are read."""


def read_program(root: Path, generated: Collection[str] = ()) -> Program:
    """The modules of a package, or of a folder of packages, or a single file.

    ``generated``: names of packages to leave out. Tests and hidden folders are left out as well.
    Raises TooLarge.
    """
    base = root.parent if root.is_file() or (root / "__init__.py").exists() else root
    modules: dict[str, SourceModule] = {}
    functions: dict[str, str | None] = {}
    classes: dict[str, Sequence[str]] = {}
    returns: dict[str, Sequence[str]] = {}
    instances: dict[str, str] = {}
    problems: list[Diagnostic] = []
    program_size = ProgramSize(root)
    for path in _files(root, generated, problems):
        program_size.add("files", 1, MOST_FILES)
        try:
            content = read_bytes(str(path))
            tree = _parse(content)
        except SourceError as error:
            problems += error.diagnostics
        except SyntaxError as error:
            place = Span(error.lineno or 1, error.offset or 1, error.lineno or 1, error.offset or 1)
            problems.append(_unreadable(path, error.msg, place))
        except (ValueError, LookupError, RecursionError, MemoryError) as error:
            problems.append(_unreadable(path, str(error) or "it is nested too deeply"))
        else:
            size = _measure(tree)
            program_size.add("bytes", len(content), MOST_SOURCE)
            program_size.add("nodes of syntax", size.nodes, MOST_NODES)
            if size.depth > _DEEPEST:
                problems.append(_unreadable(path, "it is nested too deeply"))
                continue
            name = _module_name(path.relative_to(base))
            imports: dict[str, str] = {}
            for alias, target in _imports(tree, name, is_package=path.name == "__init__.py"):
                program_size.add("characters of names", len(target), MOST_NAMES)
                imports[alias] = target
            module = SourceModule(name, str(path), content, imports)
            modules[name] = module
            for variable, called in _instances(tree, module):
                program_size.add("characters of names", len(variable) + len(called), MOST_NAMES)
                instances[variable] = called
            for definition in definitions(tree.body, name):
                program_size.add("characters of names", len(definition.name), MOST_NAMES)
                if isinstance(definition.node, ast.ClassDef):
                    bases = [dotted_name(base, module, {}) for base in definition.node.bases]
                    program_size.add(
                        "characters of names", sum(map(len, filter(None, bases))), MOST_NAMES
                    )
                    classes[definition.name] = tuple(filter(None, bases))
                else:
                    functions[definition.name] = definition.owner
                    returned = tuple(_returned_names(definition.node, module))
                    program_size.add("characters of names", sum(map(len, returned)), MOST_NAMES)
                    if returned:
                        returns[definition.name] = returned
    return Program(
        modules,
        functions,
        classes,
        returns=returns,
        instances=instances,
        problems=tuple(problems),
        size=program_size,
    )


class ProgramSize:
    """Counts of what was read so far of a program."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found = Counter[str]()

    def add(self, what: str, count: int, most: int) -> None:
        """Raises TooLarge."""
        self._found[what] += count
        if self._found[what] > most:
            raise TooLarge(f"{self._root} has more than {most:,} {what}")


def _parse(content: bytes) -> ast.Module:
    """The syntax tree of a file. Raises ValueError, and what ``decode_source`` and ``ast.parse``
    do.
    """
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES // 1024} KiB")
    declared, _ = detect_encoding(BytesIO(content).readline)
    if codecs.lookup(declared).name in _OF_HOST_NAMES:
        raise ValueError(f"its encoding is {declared}")
    text = decode_source(content)
    if sum(1 for _ in _WORD.finditer(text)) > MOST_WORDS:
        raise ValueError(f"it has more than {MOST_WORDS:,} words and signs")
    return ast.parse(text)


def definitions(
    body: Iterable[ast.stmt], prefix: str, owner: str | None = None
) -> Iterator[Definition]:
    """The functions and classes of statements, outer ones first."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                name = f"{prefix}.{node.name}"
                yield Definition(name, node, owner)
                yield from definitions(node.body, name, owner)
            case ast.ClassDef():
                name = f"{prefix}.{node.name}"
                yield Definition(name, node, owner)
                yield from definitions(node.body, name, name)
            case ast.If() | ast.Try() | ast.With():
                yield from definitions(node.body, prefix, owner)
                yield from definitions(getattr(node, "orelse", ()), prefix, owner)


def _instances(tree: ast.Module, module: SourceModule) -> Iterator[tuple[str, str]]:
    """The variables that one statement of a module sets, to the value of a call, with the name that
    is called.
    """
    found: dict[str, str | None] = {}
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=variable)], value=value)
                | ast.AnnAssign(target=ast.Name(id=variable), value=value)
            ):
                is_call = isinstance(value, ast.Call) and variable not in found
                found[variable] = dotted_name(value, module, {}) if is_call and value else None
    for variable, called in found.items():
        if called is not None:
            yield f"{module.name}.{variable}", called


def annotation_parts(node: ast.expr | None) -> Iterator[ast.expr]:
    """The names of an annotation, the outer ones first."""
    match node:
        case None:
            return
        case ast.BinOp(left=left, right=right):
            yield from annotation_parts(left)
            yield from annotation_parts(right)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
            yield value
            for part in parts:
                yield from annotation_parts(part)
        case ast.Subscript(value=value, slice=part):
            yield value
            yield from annotation_parts(part)
        case ast.Constant(value=str(text)):
            parsed = _parse_annotation(text)
            if parsed is not None:
                yield from annotation_parts(parsed)
        case _:
            yield node


def _returned_names(
    node: ast.FunctionDef | ast.AsyncFunctionDef, module: SourceModule
) -> Iterator[str]:
    """The names in the annotation of what a function returns; without one, those that its returned
    and yielded calls have.
    """
    found = [*annotation_parts(node.returns)]
    if node.returns is None:
        own = {
            statement.targets[0].id: statement.value
            for statement in ast.walk(node)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        }
        for part in ast.walk(node):
            if isinstance(part, ast.Return | ast.Yield) and part.value is not None:
                value = own.get(part.value.id) if isinstance(part.value, ast.Name) else part.value
                found += [value.func] if isinstance(value, ast.Call) else []
    names = (dotted_name(each, module, {}) for each in found)
    yield from dict.fromkeys(filter(None, names))


def dotted_name(node: ast.expr, module: SourceModule, types: Mapping[str, str]) -> str | None:
    """The absolute dotted name of an expression; ``types`` has the classes of variables."""
    match node:
        case ast.Name(id=name):
            if name in types:
                return types[name]
            return module.imports.get(name, f"{module.name}.{name}")
        case ast.Attribute(value=value, attr=attribute):
            owner = dotted_name(value, module, types)
            return None if owner is None else f"{owner}.{attribute}"
        case ast.Call(func=called):
            return dotted_name(called, module, types)
        case ast.Subscript(value=value):
            return dotted_name(value, module, types)
        case ast.Constant(value=str(text)):
            return _dotted_name_of_text(text, module)
        case _:
            return None


def _dotted_name_of_text(text: str, module: SourceModule) -> str | None:
    """The absolute dotted name of an annotation in quotes."""
    parsed = _parse_annotation(text)
    return None if parsed is None else dotted_name(parsed, module, {})


def _parse_annotation(text: str) -> ast.expr | None:
    if len(text) > _LONGEST_ANNOTATION:
        return None
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


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
