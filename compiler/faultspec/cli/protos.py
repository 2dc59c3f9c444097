"""Protos from files: sources are compiled by protoc of grpcio-tools, in a process of its own."""

import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import click

from faultspec import source
from faultspec.cli.documents import Unreadable, read_document_text
from faultspec.cli.extra import is_installed, refuse_missing
from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.importers.descriptors import (
    DescriptorSet,
    FilePlaces,
    UnreadableDescriptors,
    file_places,
    read_descriptors,
)
from faultspec.openapi.nodes import mapping, sequence
from faultspec.openapi.pointers import steps

#: Seconds for one run of protoc; the protos of all Google APIs take a few.
_PATIENCE = 60

#: Bytes that protoc reads or writes, and bytes of memory that it maps.
_WRITTEN = 64 * 1024**2
_MEMORY = 1024**3

#: Characters of its messages that are read.
_READ = 256 * 1024

_PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)\s*;", re.MULTILINE)

#: Comments, quoted texts (perhaps without an end) and other words; the last two have a name.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|(?P<text>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(?P<word>\w+)""",
    re.DOTALL,
)

#: A message of protoc: file, perhaps line and column, text.
_MESSAGE = re.compile(r"(?P<file>[^\n]+?):(?:(?P<line>\d+):(?P<column>\d+):)? +(?P<text>.+)")


@dataclass(frozen=True)
class Protos:
    """``given``: the first file that was given. ``named``: the sources that were given, as imports
    name them. ``paths``: where the sources and their imports are.
    """

    descriptors: DescriptorSet
    given: str
    named: tuple[str, ...] = ()
    paths: Mapping[str, str] = field(default_factory=dict)

    def file_at(self, pointer: str) -> tuple[str, FilePlaces | None]:
        """The file of a part, and its places: None if the set has none, as without
        `--include_source_info`. A whole set has the path of the file that was given.
        """
        index = next(iter([*steps(pointer)][1:]), "")
        if not index.isdecimal() or int(index) >= len(self._places):
            return self.given, None
        name, places = self._places[int(index)]
        return self.paths.get(name, name), places if places.locations else None

    @cached_property
    def _places(self) -> list[tuple[str, FilePlaces]]:
        """The name of each file, and its places."""
        files = map(mapping, sequence(self.descriptors.data.get("file")))
        return [(str(file.get("name")), file_places(file)) for file in files]


def read_protos(files: Sequence[str], roots: Sequence[str]) -> Protos:
    """Proto sources, or one FileDescriptorSet. ``roots``: the folders of imports; default that of
    each file, or the one above its package (`_root`). Raises Unreadable.
    """
    sources = [file for file in files if file.endswith(".proto")]
    if not sources:
        if len(files) > 1:
            raise click.UsageError("Name one descriptor set, or sources that end in .proto.")
        return Protos(_descriptors(source_bytes(files[0]), files[0]), files[0])
    if len(sources) < len(files):
        raise click.UsageError("Name sources that end in .proto, or one descriptor set.")
    if not is_installed("grpc_tools"):
        refuse_missing("grpcio-tools", "proto")
    texts = {file: read_document_text(file) for file in files}
    folders = [Path(os.path.realpath(root)) for root in roots] or list(
        dict.fromkeys(_root(Path(os.path.realpath(file)), text) for file, text in texts.items())
    )
    names: dict[str, str] = {}
    for file in texts:
        name = _name(file, folders)
        if name in names:
            message = f"it is imported as `{name}`, as {names[name]} is"
            hint = "name folders with --proto-path that tell the two apart"
            raise Unreadable([Diagnostic("proto-syntax", message, file, hint=hint)])
        names[name] = file
    content, paths = _compile(names, folders)
    return Protos(_descriptors(content, files[0]), files[0], tuple(names), paths)


def source_bytes(path: str) -> bytes:
    """The content of a file. Raises Unreadable."""
    try:
        return source.read_bytes(path)
    except source.SourceError as error:
        raise Unreadable(error.diagnostics) from None


def _descriptors(content: bytes, path: str) -> DescriptorSet:
    try:
        return read_descriptors(content)
    except UnreadableDescriptors as problem:
        found = Diagnostic(problem.code, problem.message, path, hint=problem.hint)
        raise Unreadable([found]) from None


def _root(file: Path, text: str) -> Path:
    """The folder from which a file is imported: above its package, if its folders are called so.

    It is in the repository of the file or in the current folder; a package that leads out of both,
    or to the root of the file system, does not count.
    """
    found = _PACKAGE.search(text)
    parts = found[1].split(".") if found else []
    if parts and [*file.parent.parts[-len(parts) :]] == parts:
        root = file.parents[len(parts)]
        bounds = [Path.cwd(), *(each for each in file.parents if os.path.lexists(each / ".git"))]
        if root != root.parent and any(root.is_relative_to(bound) for bound in bounds):
            return root
    return file.parent


def _name(file: str, folders: Sequence[Path]) -> str:
    """The name by which a file is imported. Raises Unreadable if it is in none of the folders."""
    path = Path(os.path.realpath(file))
    for folder in folders:
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    hint = "name the folder of imports around it with --proto-path"
    message = "the file is in none of the folders of --proto-path"
    raise Unreadable([Diagnostic("proto-syntax", message, file, hint=hint)])


def _common() -> Iterator[str]:
    """The folder with the protos of google.api and google.rpc, if they are installed."""
    found = find_spec("google.rpc") if is_installed("google.rpc") else None
    for folder in (found.submodule_search_locations or []) if found else []:
        yield str(Path(folder).parents[1])


def _gather(names: Mapping[str, str], folders: Sequence[Path]) -> Iterator[tuple[str, str, bytes]]:
    """Name, path and content of sources and of what they import from the folders.

    Raises Unreadable if one of them is not a file, such as a device or a pipe.
    """
    waiting = deque(names.items())
    known = set(names)
    left = _WRITTEN
    while waiting:
        name, path = waiting.popleft()
        content = source_bytes(path)
        left -= len(content)
        if left < 0:
            message = f"the sources and their imports have more than {_WRITTEN // 1024**2} MiB"
            hint = "name fewer sources"
            raise Unreadable([Diagnostic("file-too-large", message, path, hint=hint)])
        yield name, path, content
        for needed in imported_names(content):
            found = next((each for each in folders if os.path.lexists(each / needed)), None)
            if needed not in known and found is not None:
                known.add(needed)
                waiting.append((needed, str(found / needed)))


def imported_names(content: bytes) -> Iterator[str]:
    """The names of the imports of a source that lead down from a folder; protoc refuses others."""
    near = 0
    for match in _TOKEN.finditer(content.decode("utf-8", "replace")):
        if match["word"]:
            # `import weak` and the like have one word before the name
            near = 2 if match["word"] == "import" else near - 1
        elif (text := match["text"]) and near > 0:
            near = 0
            name = text[1:-1]
            if "\0" not in name and not {"", ".", ".."} & {*name.split("/")}:
                yield name


def _compile(names: Mapping[str, str], folders: Sequence[Path]) -> tuple[bytes, Mapping[str, str]]:
    """The descriptors of sources, and the path of each file by its name.

    protoc reads copies, so it opens no device and no pipe. Raises Unreadable with its messages.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copies = Path(scratch) / "sources"
        paths = {}
        for name, path, content in _gather(names, folders):
            paths[name] = path
            _copy(copies / name, content, path)
        out = Path(scratch) / "descriptors"
        command = [
            *(sys.executable, "-I", "-m", "grpc_tools.protoc"),
            *(f"-I{folder}" for folder in (copies, *_common())),
            *("--include_imports", "--include_source_info", f"--descriptor_set_out={out}"),
            # An absolute path never looks like an option.
            *(str(copies / name) for name in names),
        ]
        written = Path(scratch) / "messages"
        try:
            with written.open("wb") as messages:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=messages,
                    timeout=_PATIENCE,
                    preexec_fn=_limit_process if sys.platform != "win32" else None,
                )
        except subprocess.TimeoutExpired:
            first = next(iter(names.values()))
            message = f"protoc took longer than {_PATIENCE} seconds"
            raise Unreadable([Diagnostic("proto-syntax", message, first)]) from None
        if done.returncode == 0 and out.is_file():
            return _written_descriptors(out, next(iter(names.values()))), paths
        with written.open(encoding="utf-8", errors="replace") as messages_text:
            # Named as imports name them: the copies are gone when the messages are read.
            complaint = messages_text.read(_READ).replace(f"{copies}/", "")
    raise Unreadable(list(_diagnostics(complaint or "it ended without a message", paths)))


def _copy(target: Path, content: bytes, path: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except (OSError, ValueError) as error:
        message = f"the file cannot be copied for protoc: {error}"
        raise Unreadable([Diagnostic("file-unreadable", message, path)]) from None


def _written_descriptors(out: Path, first: str) -> bytes:
    """The output of protoc. Raises Unreadable, which names a source."""
    try:
        return source.read_bytes(str(out))
    except source.SourceError:
        message = f"with imports, the descriptors have more than {source.MAX_BYTES // 1024**2} MiB"
        hint = "name fewer sources"
        raise Unreadable([Diagnostic("file-too-large", message, first, hint=hint)]) from None


def _limit_process() -> None:
    """Bound the files and the memory of protoc."""
    import resource  # missing on Windows

    resource.setrlimit(resource.RLIMIT_FSIZE, (_WRITTEN, _WRITTEN))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


#: Messages of protoc that are shown; more of them follow from the first.
_SHOWN = 20


def _diagnostics(messages: str, names: Mapping[str, str]) -> Iterator[Diagnostic]:
    """A diagnostic for each message of protoc; warnings do not refuse a file."""
    lines = [line for line in messages.splitlines() if line.strip() and "warning:" not in line]
    for line in lines[:_SHOWN]:
        found = _MESSAGE.fullmatch(line)
        file = names.get(found["file"]) if found else None
        if found is None or (file is None and found["line"] is None):
            yield Diagnostic("proto-syntax", f"protoc: {line}", next(iter(names.values())))
            continue
        span = None
        if found["line"]:
            at = (int(found["line"]), int(found["column"]))
            span = Span(*at, *at)
        missing = "not found" in found["text"]
        hint = "name the folder of imports with --proto-path" if missing else None
        yield Diagnostic("proto-syntax", found["text"], file or found["file"], span, hint=hint)
    if not lines:
        yield Diagnostic("proto-syntax", "protoc failed", next(iter(names.values())))
