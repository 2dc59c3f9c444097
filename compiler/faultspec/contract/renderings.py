"""Renderings as patterns: what is fixed in a text, and the parameters between."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from faultspec.language.model import Code, Rendering, Taxonomy
from faultspec.runtime.shape import slot_places

PARAMETER = re.compile(r"\$\$|\$\{([a-z_][a-z0-9_.]*)\}|\$([a-z_][a-z0-9_]*)")
"""A parameter inside a text of a picture, or an escaped dollar."""

_WORD = r"[A-Za-z_][\w.-]*"

_DISTINCTIVE = 4
"""Letters before the code that make a line distinctive, such as those of "Error "."""


@dataclass(frozen=True, slots=True)
class RenderingForm:
    """A rendering, prepared for judging.

    ``wires``: the live codes by their spelling in a text. ``required``: parameters that every error
    has. ``closed``: every code in the rendering is a declared one. ``constants``: the values of the
    picture without a parameter.
    """

    rendering: Rendering
    wires: Mapping[str, Code]
    required: frozenset[str]
    closed: bool
    constants: int


def compile_renderings(taxonomy: Taxonomy) -> tuple[RenderingForm, ...]:
    """The renderings of a taxonomy, prepared for judging."""
    if not taxonomy.renderings:
        return ()
    surfaces = [surface for surface in taxonomy.surfaces.values() if not surface.foreign]
    named = dict.fromkeys(name for surface in surfaces for name in surface.envelopes)
    places = [slot_places(taxonomy.envelopes[name].shape) for name in named]
    slots = {slot for place in places for slot in place}
    always = {
        slot
        for slot in slots
        if all(any(one.required for one in place.get(slot, ())) for place in places)
    }
    wires = {str(code.wire): code for code in taxonomy.every_code() if code.live}
    closed = bool(surfaces) and all(surface.codes is not None for surface in surfaces)
    return tuple(
        RenderingForm(
            rendering=rendering,
            wires=wires,
            required=frozenset({*rendering.given, "code", *always}),
            closed=closed,
            constants=sum(1 for _ in _constants(rendering.picture)),
        )
        for rendering in taxonomy.renderings.values()
    )


def parameters(text: str) -> tuple[str, ...]:
    """The parameters of a text, in order."""
    return tuple(braced or plain for braced, plain in PARAMETER.findall(text) if braced or plain)


@lru_cache(maxsize=1024)
def compile_text(text: str, required: frozenset[str]) -> re.Pattern[str]:
    """The pattern of a text; the group of the n-th parameter is ``pN``.

    A line may be missing if one of its parameters is not ``required``. Lines without such a
    parameter are there in any case.
    """
    pattern, number = "", 0
    for line in text.split("\n"):
        optional = not required.issuperset(parameters(line))
        part, number = _line_pattern(line, number, ".+?" if optional else ".*?")
        pattern += rf"(?:{part}(?:\n|\Z)){'?' if optional else ''}"
    return re.compile(pattern, re.DOTALL)


@lru_cache(maxsize=256)
def compile_beginning(text: str) -> tuple[re.Pattern[str], bool] | None:
    """The pattern of the line that names the code, up to the code, and whether this beginning is
    distinctive. None: no line does.
    """
    for line in text.split("\n"):
        before, letters, at = "", 0, 0
        for match in PARAMETER.finditer(line):
            literal = line[at : match.start()]
            letters += sum(map(str.isalpha, literal))
            before += re.escape(literal)
            name, at = match[1] or match[2], match.end()
            if name == "code":
                pattern = rf"(?m:^){before}(?P<code>{_WORD})"
                return re.compile(pattern), letters >= _DISTINCTIVE
            before += ".*?" if name else re.escape("$")
    return None


def _line_pattern(line: str, number: int, value: str) -> tuple[str, int]:
    pattern, at = "", 0
    for match in PARAMETER.finditer(line):
        pattern += re.escape(line[at : match.start()])
        at = match.end()
        if match[1] or match[2]:
            pattern += rf"(?P<p{number}>{value})"
            number += 1
        else:
            pattern += re.escape("$")
    return pattern + re.escape(line[at:]), number


def _constants(picture: object) -> Iterator[object]:
    if isinstance(picture, Mapping):
        for value in picture.values():
            yield from _constants(value)
    elif isinstance(picture, list):
        for value in picture:
            yield from _constants(value)
    elif not (isinstance(picture, str) and PARAMETER.search(picture)):
        yield picture


def required_parameters(form: RenderingForm, code: Code | None) -> frozenset[str]:
    """The parameters that a rendering of the code has: those of every error, and its details."""
    members: Collection[str] = () if code is None else code.details
    details = (
        f"details.{name}"
        for name in members
        if code is not None and code.details[name].presence == "required"
    )
    return form.required.union(details)
