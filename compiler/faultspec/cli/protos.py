"""Protos from files: sources are compiled by protoc of grpcio-tools, in a process of its own."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

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

#: Bytes of a file that protoc writes, and bytes of memory that it maps.
_WRITTEN = 64 * 1024**2
_MEMORY = 1024**3

#: Characters of its messages that are read.
_READ = 256 * 1024

_PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)\s*;", re.MULTILINE)

#: A message of protoc: file, perhaps line and column, text.
_MESSAGE = re.compile(r"(?P<file>[^:\n]+):(?:(?P<line>\d+):(?P<column>\d+):)? *(?P<text>.+)")


class Protos(NamedTuple):
    """``given``: the first file that was given. ``named``: the sources that were given, as imports
    name them. ``paths``: where these are.
    """

    descriptors: DescriptorSet
    given: str
    named: tuple[str, ...]
    paths: Mapping[str, str]

    def file_at(self, pointer: str) -> tuple[str, FilePlaces | None]:
        """The file of a part, and its places: None if the set has none, as without
        `--include_source_info`. A whole set has the path of the file that was given.
        """
        files = sequence(self.descriptors.data.get("file"))
        index = next(iter([*steps(pointer)][1:]), "")
        if not index.isdecimal() or int(index) >= len(files):
            return self.given, None
        name = str(mapping(files[int(index)]).get("name"))
        places = file_places(mapping(files[int(index)]))
        return self.paths.get(name, name), places if places.locations else None


def read_protos(files: Sequence[str], roots: Sequence[str]) -> Protos:
    """Proto sources, or one FileDescriptorSet. ``roots``: the folders of imports; default that of
    each file, or the one above its package. Raises Unreadable.
    """
    _require("google.protobuf", "protobuf")
    sources = [file for file in files if file.endswith(".proto")]
    if not sources:
        if len(files) > 1:
            raise click.UsageError("Name one descriptor set, or sources that end in .proto.")
        return Protos(_descriptors(source_bytes(files[0]), files[0]), files[0], (), {})
    if len(sources) < len(files):
        raise click.UsageError("Name sources that end in .proto, or one descriptor set.")
    _require("grpc_tools", "grpcio-tools")
    texts = {file: read_document_text(file) for file in files}
    folders = [Path(root).resolve() for root in roots] or list(
        dict.fromkeys(_root(Path(file).resolve(), text) for file, text in texts.items())
    )
    names = {_name(Path(file).resolve(), folders): file for file in files}
    descriptors = _descriptors(_compile(names, folders), files[0])
    return Protos(descriptors, files[0], tuple(names), names)


def source_bytes(path: str) -> bytes:
    """The content of a file. Raises Unreadable."""
    try:
        return source.read_bytes(path)
    except source.SourceError as error:
        raise Unreadable(error.diagnostics) from None


def _require(module: str, package: str) -> None:
    if not is_installed(module):
        refuse_missing(package, "proto")


def _descriptors(content: bytes, path: str) -> DescriptorSet:
    try:
        return read_descriptors(content)
    except UnreadableDescriptors:
        message = "the file is not a set of descriptors"
        hint = "name sources that end in .proto, or what `protoc -o` wrote"
        raise Unreadable([Diagnostic("not-protos", message, path, hint=hint)]) from None


def _root(file: Path, text: str) -> Path:
    """The folder from which a file is imported: above its package, if its folders are called so."""
    found = _PACKAGE.search(text)
    parts = found[1].split(".") if found else []
    folders = file.parent.parts
    if parts and [*folders[-len(parts) :]] == parts:
        return file.parents[len(parts)]
    return file.parent


def _name(file: Path, folders: Sequence[Path]) -> str:
    """The name by which a file is imported."""
    for folder in folders:
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return file.as_posix()


def _common() -> Iterator[str]:
    """The folder with the protos of google.api and google.rpc, if they are installed."""
    found = find_spec("google.rpc") if is_installed("google.rpc") else None
    for folder in (found.submodule_search_locations or []) if found else []:
        yield str(Path(folder).parents[1])


def _compile(names: Mapping[str, str], folders: Sequence[Path]) -> bytes:
    """The descriptors of sources. Raises Unreadable with the messages of protoc."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "descriptors"
        command = [
            *(sys.executable, "-I", "-m", "grpc_tools.protoc"),
            *(f"-I{folder}" for folder in (*folders, *_common())),
            *("--include_imports", "--include_source_info", f"--descriptor_set_out={out}"),
            # An absolute path never looks like an option.
            *(str(Path(file).resolve()) for file in names.values()),
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
            return source_bytes(str(out))
        with written.open(encoding="utf-8", errors="replace") as messages_text:
            complaint = messages_text.read(_READ)
    raise Unreadable(list(_diagnostics(complaint or "it ended without a message", names)))


def _limit_process() -> None:
    """Bound the files and the memory of protoc: an import may be a device."""
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
