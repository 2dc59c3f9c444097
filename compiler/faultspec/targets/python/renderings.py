"""What ``renderings.py`` needs to know: a function for each rendering."""

from typing import NamedTuple

from faultspec.language.model import Rendering, Taxonomy
from faultspec.targets.filters import snake, unique
from faultspec.targets.layout import source
from faultspec.targets.python import names


class PythonRenderingRow(NamedTuple):
    """A function. ``given``: its parameters, each with the name it has in the picture. ``picture``: source."""

    name: str
    doc: str
    given: tuple[tuple[str, str], ...]
    picture: str


class Module(NamedTuple):
    """The module; a taxonomy without renderings has none."""

    package: str
    rows: tuple[PythonRenderingRow, ...]


def modules(taxonomy: Taxonomy) -> tuple[Module, ...]:
    """The one module, or none."""
    taken = {"filled", "slot_values", "t"}
    rows = tuple(_row(rendering, taken) for rendering in taxonomy.renderings.values())
    return (Module(names.package(taxonomy.name), rows),) if rows else ()


def _row(rendering: Rendering, taken: set[str]) -> PythonRenderingRow:
    parameters = {"error", "picture", "given", "filled", "object", "dict"}
    given = tuple(
        (unique(names.identifier(snake(each), "value"), parameters), each)
        for each in rendering.given
    )
    told = [f"``{parameter}``: {rendering.given[name]}" for parameter, name in given]
    doc = "\n\n".join(
        [rendering.summary or f"The error as {rendering.name}.", " ".join(told)]
    ).strip()
    name = unique(names.identifier(snake(rendering.name), "rendering"), taken)
    return PythonRenderingRow(
        name, doc, given, source(rendering.picture, 4, len("    picture = "), 0)
    )
