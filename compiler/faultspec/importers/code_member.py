"""Which member of the bodies holds the code."""

from collections.abc import Mapping, Sequence
from typing import Any

from faultspec.importers import Json
from faultspec.language.spelling import pascal, snake
from faultspec.openapi.nodes import mapping, sequence
from faultspec.openapi.pointers import child, steps

Listed = list[str | int]
"""The texts and numbers that a schema lists."""

#: Names of members that hold a code, the likelier first.
CODE_NAMES = (
    "code",
    "error_code",
    "errorCode",
    "errcode",
    "error_type",
    "errorType",
    "error",
    "class",
    "errno",
    "err",
    "type",
    "reason",
    "kind",
    "name",
    "__type",
    "id",
    "status",
)

MARKS = frozenset({"error", "fail", "failed", "failure"})
"""Texts that say of a body that it is an error, as in JSend, and not which."""

_SPELT = tuple(map(snake, CODE_NAMES))


def rank_of_name(name: str) -> int:
    """The place of a member's name among those of codes, however its words are joined; their number
    if it is none of them.
    """
    for spelt, names in ((name, CODE_NAMES), (snake(name), _SPELT)):
        if spelt in names:
            return names.index(spelt)
    return len(CODE_NAMES)


def _allowed_values(schema: object) -> list[Any]:
    """The values that a schema lists, if it lists any."""
    if not isinstance(schema, Mapping):
        return []
    return [schema["const"]] if "const" in schema else sequence(schema.get("enum"))


def only_value(schema: object) -> Any:
    """The one value that a schema allows, or None."""
    values = _allowed_values(schema)
    return values[0] if len(values) == 1 else None


def listed_values(schema: object) -> Listed:
    """The texts and numbers that a schema lists; empty if it lists none, or anything else."""
    values = _allowed_values(schema)
    return values if all(map(_can_be_code, values)) else []


def _can_be_code(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def listed_places(schema: object, pointer: str = "", depth: int = 4) -> dict[str, Listed]:
    """The listed values of a body by pointer, at most ``depth`` objects deep."""
    values = listed_values(schema)
    found = {pointer: values} if values else {}
    if depth:
        for name, member in mapping(mapping(schema).get("properties")).items():
            found |= listed_places(member, child(pointer, name), depth - 1)
    return found


def code_pointer(
    bodies: Sequence[Json],
    names: Sequence[str | None],
    discriminator: str | None,
    *,
    status: str | None = None,
) -> str | None:
    """The pointer of the member that holds the code in all of these bodies, or None.

    ``names``: the name of each body's schema. If several members tell the bodies apart, the code is
    the one whose values are the names, or else the one that is called like a code. ``status``: that
    of the response; a member that only repeats it is not the code.
    """
    places = [listed_places(body) for body in bodies]
    common = [
        place
        for place in places[0]
        if all(place in body for body in places)
        and any(str(value) != status for body in places for value in body[place])
    ]
    if discriminator is not None and child("", discriminator) in common:
        return child("", discriminator)
    common = [place for place in common if place]
    if len(bodies) == 1:
        common = [place for place in common if not MARKS.issuperset(places[0][place])]
        called = [place for place in common if _rank(place) < len(CODE_NAMES)]
        named = [place for place in common if _is_named(places[0][place], names[0])]
        # One constant may be a mere tag; several values tell errors apart.
        several = [place for place in called if len(places[0][place]) > 1]
        chosen = [*(named or called), *several]
        return min(chosen, key=lambda place: (_rank(place), place.count("/")), default=None)
    counts = {place: _count_distinct([body[place] for body in places]) for place in common}
    most = max(counts.values(), default=0)
    if most < 2:
        return None

    def order(place: str) -> tuple[int, int, int]:
        named = sum(_is_named(body[place], name) for body, name in zip(places, names, strict=True))
        return -named, _rank(place), place.count("/")

    return min((place for place, count in counts.items() if count == most), key=order)


def _count_distinct(bodies: Sequence[Listed]) -> int:
    """The number of bodies that differ in their values; 0 if two bodies share some of several."""
    values = [str(value) for body in bodies for value in body]
    different = len(set(values))
    single = all(len(body) == 1 for body in bodies)
    return different if single or different == len(values) else 0


def _rank(place: str) -> int:
    return rank_of_name(steps(place)[-1] if place else "")


def _is_named(values: Listed, name: str | None) -> bool:
    """Whether the name of a schema ends in its one listed value."""
    return name is not None and len(values) == 1 and name.endswith(pascal(str(values[0])) or " ")
