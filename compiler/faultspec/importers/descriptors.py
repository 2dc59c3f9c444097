"""A FileDescriptorSet (``protoc -o``) as data with places.

The data has the JSON form of google/protobuf/descriptor.proto with the names of its fields, and of
it only what the import reads: files, enums, services, methods, their options and their places. An
option that the set itself declares is a member such as ``[acme.grpc_status]`` if its value is one
number, text or name; of other options only google.api.http is read.

The set is read from its bytes, because the package protobuf holds all of it, in a hundred times the
memory, and interprets options by the descriptor.proto that the set itself may bring.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Span
from faultspec.importers import Data, Json
from faultspec.importers.wire import (
    Allowance,
    BrokenRecords,
    TooMany,
    WireRecord,
    iterate_records,
    iterate_varints,
    twos_complement,
)
from faultspec.openapi.nodes import mapping, sequence
from faultspec.openapi.pointers import steps

#: The numbers of the fields that lead to a part of a file (google/protobuf/descriptor.proto).
_NUMBERS: Mapping[tuple[str, str], tuple[int, str]] = {
    ("file", "message_type"): (4, "message"),
    ("file", "enum_type"): (5, "enum"),
    ("file", "service"): (6, "service"),
    ("message", "nested_type"): (3, "message"),
    ("message", "enum_type"): (4, "enum"),
    ("enum", "value"): (2, "value"),
    ("service", "method"): (2, "method"),
}
_PARTS = {(kind, number): (name, inner) for (kind, name), (number, inner) in _NUMBERS.items()}

#: The numbers of the fields of extensions.
_EXTENSIONS = {("file", 7), ("message", 6)}

#: Records that are read, a few seconds; a set of 16 MiB that protoc wrote has two million.
_MOST_RECORDS = 4_000_000

#: Files, imports, messages, enums, values, services, methods, options and places that are kept,
#: each of up to a kilobyte.
_MOST_PARTS = 100_000

#: Messages in messages; protobuf reads a hundred levels.
_DEEPEST = 100

#: Characters of the full name of a part, or of the name of a file; people's have some hundred.
_LONGEST = 1_000

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PACKAGE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")

#: For each kind of part: its options in descriptor.proto, and the number of the field of options.
_OPTIONS = {
    "enum": (".google.protobuf.EnumOptions", 3),
    "value": (".google.protobuf.EnumValueOptions", 3),
    "method": (".google.protobuf.MethodOptions", 4),
}

#: The options of descriptor.proto that are read, by kind and number.
_DEPRECATED = {("enum", 3), ("value", 1), ("method", 33)}
_IDEMPOTENCY = ("method", 34)
_LEVELS = {1: "NO_SIDE_EFFECTS", 2: "IDEMPOTENT"}

#: The types of FieldDescriptorProto whose values are read.
_UNSIGNED = {4, 13}
_SIGNED = {3, 5}
_ZIGZAG = {17, 18}
_FIXED = {6, 7, 15, 16}
_FIXED_SIGNED = {15, 16}
_BOOL, _STRING, _MESSAGE, _ENUM = 8, 9, 11, 14
_REPEATED = 3

#: The fields of google.api.HttpRule.
_VERBS = {2: "get", 3: "put", 4: "post", 5: "delete", 6: "patch"}
_HTTP = "google.api.http"

#: The comments of a SourceCodeInfo.Location.
_COMMENTS = {3: "leading_comments", 4: "trailing_comments"}

#: Bytes of a comment that are read; its first paragraph is far shorter.
_COMMENT = 64 * 1024

#: The kinds of parts whose places are kept.
_PLACED = {"enum", "value", "service", "method"}

#: Lines and columns are int32.
_FARTHEST = 2**31


class DescriptorSet(NamedTuple):
    """The files of a set as data. ``whole``: the set has the imports of its files, so that options
    could be read.
    """

    data: Json
    whole: bool


class UnreadableDescriptors(Exception):
    """The bytes are not a FileDescriptorSet, or have more parts than are read.

    ``code`` is in kebab case, ``hint`` the remedy.
    """

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def read_descriptors(content: bytes) -> DescriptorSet:
    """The files of a set. Raises UnreadableDescriptors."""
    try:
        found = _SetReading(memoryview(content)).descriptors()
    except (BrokenRecords, UnicodeDecodeError):
        message = "the file is not a set of descriptors"
        hint = "name sources that end in .proto, or what `protoc -o` wrote"
        raise UnreadableDescriptors("not-protos", message, hint) from None
    except TooMany as problem:
        message = f"the set has more than {problem.what}"
        hint = "name the protos of one service to protoc, or leave out --include_source_info"
        raise UnreadableDescriptors("file-too-large", message, hint) from None
    return found


class _Extension(NamedTuple):
    """An option that a set declares. ``type``: a number of FieldDescriptorProto."""

    name: str
    type: int
    enum: str


class _SetReading:
    """One reading. ``options``: the parts that have options, and the bytes of these, which are read
    when every extension is known. Everything that is kept counts as a part.
    """

    def __init__(self, content: memoryview) -> None:
        self.content = content
        self.records = Allowance(_MOST_RECORDS, "records")
        self.parts = Allowance(_MOST_PARTS, "messages, enums, values, methods and places")
        self.extensions: dict[tuple[str, int], _Extension] = {}
        self.enums: dict[str, Data] = {}
        self.names: dict[str, dict[int, str]] = {}
        self.options: list[tuple[str, Data, bytes]] = []

    def descriptors(self) -> DescriptorSet:
        """All files."""
        files: list[Data] = []
        needed: set[str] = set()
        for number, value in self._records(self.content):
            if number == 1:
                self.parts.spend()
                files.append(self._file(_bytes(value), needed))
        if not files:
            raise BrokenRecords
        whole = needed <= {file["name"] for file in files}
        for kind, part, options in self.options:
            if read := dict(self._part_options(kind, options)):
                part["options"] = read
        return DescriptorSet({"file": files}, whole)

    def _records(self, content: memoryview) -> Iterator[WireRecord]:
        return iterate_records(content, self.records)

    def _file(self, content: memoryview, needed: set[str]) -> Data:
        """A file. Adds its imports to ``needed``."""
        file: Data = {"name": "", "package": ""}
        inner: list[tuple[int, memoryview]] = []
        for number, value in self._records(content):
            match number:
                case 1:
                    file["name"] = _text(value)
                case 2:
                    file["package"] = _text(value, _PACKAGE)
                case 3:
                    self.parts.spend()
                    needed.add(_text(value))
                case 4 | 5 | 6 | 7 | 9:
                    self.parts.spend()
                    inner.append((number, _bytes(value)))
        if not file["name"]:
            raise BrokenRecords
        prefix = f".{file['package']}" if file["package"] else ""
        self._add_inner(kind="file", part=file, inner=inner, full=prefix, depth=0)
        listed = [entry for number, info in inner if number == 9 for entry in self._places(info)]
        if listed:
            file["source_code_info"] = {"location": listed}
        return file

    def _part(self, kind: str, content: memoryview, prefix: str, depth: int) -> Data:
        """A message, enum, value, service or method. ``prefix``: the full name around it."""
        if depth > _DEEPEST:
            raise BrokenRecords
        part: Data = {"name": ""}
        inner: list[tuple[int, memoryview]] = []
        options: list[memoryview] = []
        for number, value in self._records(content):
            place = (kind, number)
            if number == 1:
                part["name"] = _text(value, _IDENTIFIER)
            elif place == ("value", 2) and isinstance(value, int):
                part["number"] = twos_complement(value, 32)
            elif place in _PARTS or place in _EXTENSIONS:
                self.parts.spend()
                inner.append((number, _bytes(value)))
            elif kind in _OPTIONS and number == _OPTIONS[kind][1]:
                self.parts.spend()
                options.append(_bytes(value))
        if not part["name"]:
            raise BrokenRecords
        full = _full_name(prefix, part["name"])
        if kind == "enum":
            self.enums.setdefault(full, part)
        if options:  # several are one in pieces: protobuf merges them
            self.options.append((kind, part, b"".join(options)))
        self._add_inner(kind=kind, part=part, inner=inner, full=full, depth=depth)
        return part

    def _add_inner(
        self,
        kind: str,
        part: Data,
        inner: list[tuple[int, memoryview]],
        full: str,
        depth: int,
    ) -> None:
        """Add the parts in a part, of the full name ``full``."""
        for number, content in inner:
            if (kind, number) in _EXTENSIONS:
                self._keep_extension(content, full)
            elif (kind, number) in _PARTS:
                name, inside = _PARTS[kind, number]
                part.setdefault(name, []).append(self._part(inside, content, full, depth + 1))

    # Options

    def _keep_extension(self, content: memoryview, prefix: str) -> None:
        """Keep the extension if it is of options that are read."""
        texts = {1: "", 2: "", 6: ""}
        numbers = {3: 0, 4: 0, 5: 0}
        for number, value in self._records(content):
            if number in texts:
                texts[number] = _text(value)
            elif number in numbers and isinstance(value, int):
                numbers[number] = value
        if texts[2] not in {options for options, _ in _OPTIONS.values()}:
            return
        if not _IDENTIFIER.fullmatch(texts[1]):
            raise BrokenRecords
        name = _full_name(prefix, texts[1]).removeprefix(".")
        kind = 0 if numbers[4] == _REPEATED else numbers[5]
        self.extensions.setdefault((texts[2], numbers[3]), _Extension(name, kind, texts[6]))

    def _part_options(self, kind: str, content: bytes) -> Iterator[tuple[str, Any]]:
        """The options of a part, by their names."""
        extendee, _ = _OPTIONS[kind]
        rule: list[memoryview] = []
        for number, value in self._records(memoryview(content)):
            extension = self.extensions.get((extendee, number))
            if (kind, number) in _DEPRECATED:
                yield "deprecated", bool(value)
            elif (kind, number) == _IDEMPOTENCY:
                yield "idempotency_level", _LEVELS.get(value) if isinstance(value, int) else None
            elif extension is None:
                continue
            elif extension[:2] == (_HTTP, _MESSAGE):
                self.parts.spend()
                rule.append(_bytes(value))
            elif (found := self._option(extension, value)) is not None:
                yield f"[{extension.name}]", found
        if rule:
            yield f"[{_HTTP}]", self._rule(memoryview(b"".join(rule)))

    def _option(self, extension: _Extension, value: int | memoryview) -> object:
        """The value of an option; None if it is not read."""
        kind = extension.type
        if isinstance(value, memoryview):
            if kind == _STRING:
                return str(value, "utf-8", "replace")
            if kind in _FIXED and len(value) in (4, 8):
                return int.from_bytes(value, "little", signed=kind in _FIXED_SIGNED)
            return None
        if kind == _ENUM:
            return self._value_name(extension.enum, twos_complement(value, 32))
        if kind == _BOOL:
            return bool(value)
        if kind in _ZIGZAG:
            return (value >> 1) ^ -(value & 1)
        if kind in _SIGNED:
            return twos_complement(value)
        return value if kind in _UNSIGNED else None

    def _value_name(self, enum: str, number: int) -> str | int:
        """The name of a value of an enum; its number if it has none."""
        if enum not in self.names:
            names = self.names[enum] = {}
            for value in self.enums.get(enum, {}).get("value", []):
                names.setdefault(value.get("number", 0), value["name"])
        return self.names[enum].get(number, number)

    def _rule(self, content: memoryview, *, inside: bool = False) -> Data:
        """A rule of google.api.http. ``inside``: it is one of the rule's additional bindings, which
        have none themselves.
        """
        found: Data = {}
        bindings: list[Data] = []
        for number, value in self._records(content):
            if number in _VERBS:  # one of verbs and custom: the last counts
                found = {_VERBS[number]: _template(value)}
            elif number == 8:
                found = {"custom": self._custom(_bytes(value))}
            elif number == 11 and not inside:
                self.parts.spend()
                bindings.append(self._rule(_bytes(value), inside=True))
        return {**found, "additional_bindings": bindings} if bindings else found

    def _custom(self, content: memoryview) -> Data:
        """A google.api.CustomHttpPattern."""
        names = {1: "kind", 2: "path"}
        return {
            names[number]: _template(value)
            for number, value in self._records(content)
            if number in names
        }

    # Places

    def _places(self, content: memoryview) -> Iterator[Data]:
        """The places of enums, values, services and methods, with their comments."""
        for number, value in self._records(content):
            if number != 1:
                continue
            lists: dict[int, list[int]] = {1: [], 2: []}
            entry: Data = {}
            for field, inner in self._records(_bytes(value)):
                if field in lists:
                    self._extend(lists[field], inner)
                elif field in _COMMENTS:  # protoc does not check their encoding
                    entry[_COMMENTS[field]] = str(_bytes(inner)[:_COMMENT], "utf-8", "replace")
            if _kind_at(lists[1]) in _PLACED:
                self.parts.spend()
                span = lists[2] if all(place < _FARTHEST for place in lists[2]) else []
                yield {"path": lists[1], "span": span, **entry}

    def _extend(self, numbers: list[int], value: int | memoryview) -> None:
        """Add the numbers of a list, packed or not, up to those of the deepest path."""
        more = iter((value,)) if isinstance(value, int) else iterate_varints(value, self.records)
        numbers += islice(more, max(0, 2 * _DEEPEST - len(numbers)))


def _bytes(value: int | memoryview) -> memoryview:
    """The bytes of a record. Raises BrokenRecords if it has a number."""
    if isinstance(value, int):
        raise BrokenRecords
    return value


def _text(value: int | memoryview, form: re.Pattern[str] | None = None) -> str:
    """The text of a record, of a form. Raises BrokenRecords and UnicodeDecodeError."""
    found = str(_bytes(value), "utf-8")
    if len(found) > _LONGEST or (form is not None and not form.fullmatch(found)):
        raise BrokenRecords
    return found


def _template(value: int | memoryview) -> str:
    return str(_bytes(value), "utf-8", "replace")


def _full_name(prefix: str, name: str) -> str:
    found = f"{prefix}.{name}"
    if len(found) > _LONGEST:
        raise BrokenRecords
    return found


def _kind_at(path: list[int]) -> str:
    """The kind of the part that a path of numbers leads to; empty if the import reads none."""
    kind = "file"
    for number in path[::2]:
        kind = _PARTS.get((kind, number), ("", ""))[1]
    return kind if len(path) % 2 == 0 else ""


@dataclass(frozen=True, slots=True)
class FilePlaces:
    """Places and comments of one file.

    ``locations``: the entries of its source_code_info by the numbers of their paths.
    """

    locations: Mapping[tuple[int, ...], Json]

    def span(self, pointer: str) -> Span:
        """The place of a part, or of the nearest part around it."""
        path = _numbers(pointer)
        while path and path not in self.locations:
            path = path[:-2]
        found = sequence(self.locations.get(path, {}).get("span")) if path else []
        if len(found) not in (3, 4):
            return Span(1, 1, 1, 1)
        line, column, *end = found
        last = end[0] if len(end) == 2 else line
        return Span(line + 1, column + 1, last + 1, end[-1] + 1)

    def comment(self, pointer: str) -> str:
        """The comment before a part, or behind it in its line."""
        found = self.locations.get(_numbers(pointer), {})
        return str(found.get("leading_comments") or found.get("trailing_comments") or "")


def file_places(file: Json) -> FilePlaces:
    """The places of a file; empty without `--include_source_info`."""
    listed = sequence(mapping(file.get("source_code_info")).get("location"))
    found = {tuple(sequence(entry.get("path"))): entry for entry in map(mapping, listed)}
    return FilePlaces(found)


def _numbers(pointer: str) -> tuple[int, ...]:
    return tuple(_walk([*steps(pointer)][2:]))


def _walk(path: list[str]) -> Iterator[int]:
    kind = "file"
    for name, index in zip(path[::2], path[1::2], strict=False):
        if (kind, name) not in _NUMBERS or not index.isdecimal():
            return
        number, kind = _NUMBERS[kind, name]
        yield from (number, int(index))
