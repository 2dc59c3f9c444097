"""The answers in which the codes of a draft were seen."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faultspec.runtime.extraction import extract
from faultspec.runtime.nodes import Node
from faultspec.runtime.shape import compile_shape
from faultspec_conformance.learning.answers import ErrorAnswer

Operations = Counter[str | None]
"""The number of answers of each operation."""


def count_codes(
    data: Mapping[str, Any], answers: Iterable[ErrorAnswer]
) -> Mapping[str, Operations]:
    """For each code of a draft the operations that answered with it. A code that no body names
    counts each answer with its status.
    """
    shapes = {name: compile_shape(each["shape"]) for name, each in data["envelopes"].items()}
    readable = [answer for answer in answers if isinstance(answer.body, Mapping | str)]
    found: dict[str, Operations] = {}
    for name, code in data["codes"].items():
        wire, statuses = str(code.get("wire", name)), _as_list(code.get("http"))
        own = [shapes[each] for each in _as_list(code.get("envelope", [*shapes]))]
        found[name] = Counter(
            answer.operation
            for answer in readable
            if answer.status in statuses and _may_be(wire, answer, own)
        )
    return found


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _may_be(wire: str, answer: ErrorAnswer, shapes: Iterable[Node]) -> bool:
    """Whether a body has the code in one of the shapes, or none of them has a place for it."""
    named = [extract(shape, answer.body).slots.get("code") for shape in shapes]
    return wire in map(str, named) or all(name is None for name in named)
