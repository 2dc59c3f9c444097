"""The rows of ``renderings.py``: a function for each rendering."""

from typing import NamedTuple

from faultspec.language.model import Rendering, Taxonomy
from faultspec.language.spelling import snake
from faultspec.targets.filters import take_unique
from faultspec.targets.python import names


class PythonRenderingRow(NamedTuple):
    """A function. ``given``: its parameters, each with its name in the picture."""

    name: str
    doc: str
    given: tuple[tuple[str, str], ...]
    picture: object


class PythonRenderings(NamedTuple):
    """The module; a taxonomy without renderings has none."""

    package: str
    rows: tuple[PythonRenderingRow, ...]


def modules(taxonomy: Taxonomy) -> tuple[PythonRenderings, ...]:
    """The one module, or none."""
    taken = {"filled", "slot_values", "t"}
    rows = tuple(_row(rendering, taken) for rendering in taxonomy.renderings.values())
    return (PythonRenderings(names.package(taxonomy.name), rows),) if rows else ()


def _row(rendering: Rendering, taken: set[str]) -> PythonRenderingRow:
    parameters = {"error", "picture", "given", "filled", "object", "dict"}
    given = tuple(
        (take_unique(names.python_identifier(snake(name), "value"), parameters), name)
        for name in rendering.given
    )
    explained = [f"``{parameter}``: {rendering.given[name]}" for parameter, name in given]
    doc = "\n\n".join(
        [rendering.summary or f"The error as {rendering.name}.", " ".join(explained)]
    ).strip()
    name = take_unique(names.python_identifier(snake(rendering.name), "rendering"), taken)
    return PythonRenderingRow(name, doc, given, rendering.picture)
