"""Paths and their templates, compared segment by segment."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

#: A placeholder of a template.
PLACEHOLDER = r"{[^{}]*}"

#: What stands for a placeholder in the shape of a segment.
_ANY = "{}"


class HasTemplate(Protocol):
    """Something at the paths of a template."""

    @property
    def template(self) -> str:
        """The template, such as `/orders/{id}`."""


ItemT = TypeVar("ItemT", bound=HasTemplate)


def shape_segments(template: str) -> list[str]:
    """The segments of a template with every placeholder anonymous."""
    return re.sub(PLACEHOLDER, _ANY, template).split("/")


def segment_values(shape: str, segment: str) -> list[str] | None:
    """The texts that stand for the placeholders of a segment, each as long as the later ones allow;
    None if the segment does not fit.

    One pass from the end decides it, however many placeholders there are.
    """
    first, *literals = shape.split(_ANY)
    if not literals:
        return [] if segment == shape else None
    end = len(segment) - len(literals[-1])
    if not segment.startswith(first) or not segment.endswith(literals[-1]):
        return None
    values: list[str] = []
    for literal in reversed(literals[:-1]):
        start = segment.rfind(literal, len(first), max(0, end - 1))
        if start < 0:
            return None
        values.append(segment[start + len(literal) : end])
        end = start
    if end <= len(first):
        return None
    values.append(segment[len(first) : end])
    return values[::-1]


@dataclass(slots=True)
class _Node(Generic[ItemT]):
    items: list[ItemT] = field(default_factory=list)
    literal: "dict[str, _Node[ItemT]]" = field(default_factory=dict)
    shaped: "dict[str, _Node[ItemT]]" = field(default_factory=dict)


class RouteIndex(Generic[ItemT]):
    """Finds what a path may be for without trying every template: a tree of their segments."""

    def __init__(self, items: Iterable[ItemT]) -> None:
        self._root: _Node[ItemT] = _Node()
        for item in items:
            node = self._root
            for shape in shape_segments(item.template):
                branches = node.shaped if _ANY in shape else node.literal
                node = branches.setdefault(shape, _Node())
            node.items.append(item)

    def find(self, path: str) -> Iterator[ItemT]:
        """Yield the items whose template fits a path."""
        nodes = [self._root]
        for segment in path.split("/"):
            nodes = [
                below
                for node in nodes
                for below in (
                    *([node.literal[segment]] if segment in node.literal else ()),
                    *(
                        child
                        for shape, child in node.shaped.items()
                        if segment_values(shape, segment) is not None
                    ),
                )
            ]
        for node in nodes:
            yield from node.items
