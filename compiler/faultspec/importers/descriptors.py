"""A FileDescriptorSet (``protoc -o``) as data with places.

The data has the JSON form of google/protobuf/descriptor.proto with the names of its fields. Options
that the set itself declares are members such as ``[acme.grpc_status]``. This module needs the
package protobuf, which it imports when it is called.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Span
from faultspec.importers import Json
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


class DescriptorSet(NamedTuple):
    """The files of a set as data. ``whole``: the set has the imports of its files, so that options
    could be read.
    """

    data: Json
    whole: bool


class UnreadableDescriptors(Exception):
    """The bytes are not a FileDescriptorSet."""


def read_descriptors(content: bytes) -> DescriptorSet:
    """The files of a set. Raises UnreadableDescriptors, and ImportError without protobuf."""
    descriptors = import_module("google.protobuf.descriptor_pb2")
    json_format = import_module("google.protobuf.json_format")
    failures = (import_module("google.protobuf.message").DecodeError, TypeError, ValueError)
    try:
        plain = descriptors.FileDescriptorSet.FromString(content)
    except failures:
        raise UnreadableDescriptors from None
    if not plain.file or not all(file.name for file in plain.file):
        raise UnreadableDescriptors
    names = {file.name for file in plain.file}
    whole = all(needed in names for file in plain.file for needed in file.dependency)
    found, pool = plain, None
    if whole:
        try:
            found, pool = _with_options(content, plain)
        except (KeyError, RuntimeError, *failures):
            whole = False
    data = json_format.MessageToDict(found, preserving_proto_field_name=True, descriptor_pool=pool)
    return DescriptorSet(data, whole)


def _with_options(content: bytes, plain: Any) -> tuple[Any, Any]:
    """The set, read with the options that it declares, and the pool that knows them."""
    descriptors = import_module("google.protobuf.descriptor_pb2")
    pool = import_module("google.protobuf.descriptor_pool").DescriptorPool()
    own = descriptors.DESCRIPTOR
    if own.name not in {file.name for file in plain.file}:
        pool.AddSerializedFile(own.serialized_pb)
    for file in plain.file:
        pool.AddSerializedFile(file.SerializeToString())
    name = pool.FindMessageTypeByName("google.protobuf.FileDescriptorSet")
    factory = import_module("google.protobuf.message_factory")
    return factory.GetMessageClass(name).FromString(content), pool


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
