"""The places of slots beside the one that the picture of an envelope has."""

import re
from collections.abc import Iterable, Iterator

from faultspec.language.grammar import Path, closest
from faultspec.language.model import Field
from faultspec.language.scope import Scope
from faultspec.runtime.nodes import Array, Node, slot_places, walk
from faultspec.runtime.places import SlotPlace


def read_places(scope: Scope, data: Iterable[object], path: Path) -> tuple[SlotPlace, ...]:
    """The ``places:`` of a field."""
    return tuple(_read_place(scope, item, (*path, index)) for index, item in enumerate(data))


def _read_place(scope: Scope, item: object, path: Path) -> SlotPlace:
    if item == "status":
        return SlotPlace("status")
    if item == "envelope":
        return SlotPlace("envelope")
    if isinstance(item, dict):
        return SlotPlace("header", item["header"], _pattern(scope, item, path))
    return SlotPlace("body", str(item))


def _pattern(scope: Scope, item: dict[str, str], path: Path) -> str | None:
    if "pattern" not in item:
        return None
    at: Path = (*path, "pattern")
    pattern = scope.expression(item["pattern"], at)
    if pattern is not None and re.compile(pattern).groups != 1:
        message = "the pattern has not exactly one group"
        scope.report(at, "bad-place", message, "put the value in parentheses, such as `^([^:]+)`")
    return pattern


def check_places(scope: Scope, field: Field, shape: Node, path: Path) -> None:
    """Report places that the shape does not have, or that only ``code`` may have."""
    if not field.places:
        return
    drawn = {place.path: place for place in slot_places(shape).get(field.slot, ())}
    listed = [place.at for place in field.places if place.kind == "body"]
    inside = set(_paths_in_lists(shape))
    for index, place in enumerate(field.places):
        problem = _place_problem(field, place, inside)
        if place.kind == "body" and place.at not in drawn:
            problem = f"the shape has no `${field.slot}` at `{place.at}`"
        elif place.kind == "body" and place != field.places[-1] and drawn[place.at].required:
            problem = f"`{place.at}` is required in the shape, so no place after it ever counts"
        if problem is not None:
            is_misspelt = place.kind == "body" and place.at not in drawn
            hint = closest(place.at, tuple(drawn)) if is_misspelt else None
            scope.report((*path, index), "bad-place", problem, hint or _hint(field, place))
    for pointer in drawn:
        if pointer not in listed:
            message = f"the shape has `${field.slot}` at `{pointer}`, which is not among its places"
            hint = f"add `{pointer}` where it belongs in the order"
            scope.report(path, "bad-place", message, hint, on_key=True)


def _place_problem(field: Field, place: SlotPlace, inside: set[str]) -> str | None:
    if place.kind in ("status", "envelope") and field.slot != "code":
        return f"only `code` may be decided by the {place.kind}"
    if place.kind == "body" and place.at in inside:
        return f"`{place.at}` is inside a list, whose items have no other places"
    return None


def _hint(field: Field, place: SlotPlace) -> str:
    if place.kind == "body":
        return f"draw it as an optional member, such as `{place.at.rpartition('/')[2]}?`"
    return f"remove it, or list the members and headers of `${field.slot}`"


def _paths_in_lists(shape: Node) -> Iterator[str]:
    for place in walk(shape):
        if isinstance(place.node, Array):
            yield from (below.path for below in walk(place.node, place.path))
