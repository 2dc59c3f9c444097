"""The answers in which the codes of a draft were seen."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faultspec.importers.envelopes import all_of
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
    named = [
        (answer, {name: _code_in(answer.body, shape) for name, shape in shapes.items()})
        for answer in answers
        if isinstance(answer.body, Mapping | str)
    ]
    found: dict[str, Operations] = {}
    for name, code in data["codes"].items():
        wire, statuses = str(code.get("wire", name)), all_of(code.get("http"))
        envelopes = all_of(code.get("envelope", [*shapes]))
        found[name] = Counter(
            answer.operation
            for answer, codes in named
            if answer.status in statuses and _may_be(wire, [codes[each] for each in envelopes])
        )
    return found


def _code_in(body: object, shape: Node) -> object:
    """The code that a body has in a shape; None if the shape has no place for it, or the body."""
    return extract(shape, body).slots.get("code")


def _may_be(wire: str, codes: Sequence[object]) -> bool:
    """Whether one of the codes is this one, or there is none."""
    return wire in map(str, codes) or all(code is None for code in codes)
