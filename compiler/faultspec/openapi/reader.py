"""Access to the parts of a document by pointer, with a record of unreadable parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from faultspec.openapi.nodes import Json, mapping
from faultspec.openapi.pointers import child, value_at

#: Methods of a path item (OpenAPI 3.1, section 4.8.9), reads first.
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE")

#: Schemas that are read with their references replaced, each place once. As many take 150 MB; the
#: largest taxonomy has fewer.
_MOST_SCHEMAS = 200_000

#: References that lead to references; a longer chain counts as a circle.
_CHAIN = 32


class Loss(NamedTuple):
    """A statement of a document that a reader did not carry over.

    ``pointer``: its place in the document (JSON Pointer, RFC 6901). ``kind``: a word to count by,
    such as ``reference``. ``reason``: a sentence without a full stop.
    """

    pointer: str
    kind: str
    reason: str


class PathItem(NamedTuple):
    """A path with its object, references followed, and the pointer of that."""

    path: str
    node: Json
    pointer: str


Report = Callable[[str, str, str], object]
"""Takes the pointer, kind and reason of a loss."""


def is_old(document: Json) -> bool:
    """Whether the schemas are in the dialect of OpenAPI 3.0, not in 2020-12."""
    return str(document.get("openapi", "")).startswith("3.0")


def resolve(document: Json, value: object) -> Json:
    """The object that a value is or refers to; {} if references lead nowhere or in a circle."""
    return mapping(follow(document, value, "", lambda *_: None)[0])


def follow(document: Json, value: Any, pointer: str, report: Report) -> tuple[Any, str]:
    """The value behind a chain of references, with its pointer; None if the chain has no end."""
    for _ in range(_CHAIN):
        if not isinstance(value, Mapping) or not isinstance(value.get("$ref"), str):
            return value, pointer
        target = value["$ref"]
        for key in value:
            if key != "$ref" and not key.startswith("x-"):
                reason = "members next to a `$ref` are not carried over"
                report(child(pointer, key), "reference", reason)
        if not target.startswith("#"):
            reason = f"the reference leads out of the document, to {target}; nothing is fetched"
            report(pointer, "reference", reason)
            return None, pointer
        found = value_at(document, target[1:])
        if found is None:
            report(pointer, "reference", f"the document has nothing at {target}")
            return None, pointer
        value, pointer = found, target[1:]
    report(pointer, "reference", "the reference leads back to itself")
    return None, pointer


class ExpandedSchema(NamedTuple):
    """A schema without references, and what it lost."""

    schema: Any
    losses: tuple[Loss, ...]


@dataclass(slots=True)
class SchemaExpansions:
    """The schemas of a document that were read, by pointer, so that many references to one cost as
    much as one. ``left``: how many more are read.
    """

    known: dict[tuple[str, bool], ExpandedSchema] = field(default_factory=dict)
    left: int = _MOST_SCHEMAS

    def spend(self, count: int) -> bool:
        """Take so many of those that are left; False if there were too few."""
        self.left = max(0, self.left - count)
        return self.left > 0


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """Reads parts of ``document``. ``losses``: what could not be read so far, each once."""

    document: Json
    losses: dict[Loss, None] = field(default_factory=dict)
    expansions: SchemaExpansions = field(default_factory=SchemaExpansions)

    def attempt(self) -> "DocumentReader":
        """A reader of the same document with losses of its own, for a reading that may fail."""
        return DocumentReader(self.document, expansions=self.expansions)

    def lose(self, pointer: str, kind: str, reason: str) -> None:
        """Record a loss."""
        self.losses[Loss(pointer, kind, reason)] = None

    def add_losses(self, losses: Iterable[Loss]) -> None:
        """Record losses of an attempt."""
        self.losses.update(dict.fromkeys(losses))

    def follow(self, value: Any, pointer: str) -> tuple[Any, str]:
        """The value behind references, with its pointer; None if they lead nowhere."""
        return follow(self.document, value, pointer, self.lose)

    def mapping(self, parent: Json, key: str, pointer: str) -> Json:
        """The object under a key of ``parent``, which is at ``pointer``; empty if there is none."""
        found = parent.get(key)
        if key in parent and not isinstance(found, Mapping):
            self.lose(child(pointer, key), "form", f"`{key}` is not an object")
        return found if isinstance(found, Mapping) else {}

    def object(self, value: Any, pointer: str, what: str) -> tuple[Json | None, str]:
        """The object behind references, with its pointer; None if there is none.

        ``what`` names it in the loss.
        """
        found, place = self.follow(value, pointer)
        if isinstance(found, Mapping):
            return found, place
        if found is not None or value is None:
            self.lose(pointer, "form", f"{what} is not an object")
        return None, place

    def path_items(self) -> Iterator[PathItem]:
        """The path items of the document."""
        for path, value in self.mapping(self.document, "paths", "").items():
            item, pointer = self.object(value, child("/paths", path), "the path item")
            if item is not None:
                yield PathItem(str(path), item, pointer)

    def operations(self, item: PathItem) -> Iterator[tuple[str, Json, str]]:
        """The operations of a path item: method, object, pointer."""
        for method in METHODS:
            if method.lower() not in item.node:
                continue
            operation, place = item.node[method.lower()], child(item.pointer, method.lower())
            if isinstance(operation, Mapping):
                yield method, operation, place
            else:
                self.lose(place, "form", "the operation is not an object")

    def responses(self, operation: Json, pointer: str) -> Iterator[tuple[str, Any, str]]:
        """The responses of an operation: status, object or reference, pointer."""
        place = child(pointer, "responses")
        for status, response in self.mapping(operation, "responses", pointer).items():
            yield str(status), response, child(place, status)
