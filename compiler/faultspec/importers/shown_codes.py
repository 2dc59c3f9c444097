"""Codes that no schema lists: examples show them in the member that is called like a code."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from faultspec.importers import Json, Report
from faultspec.importers.bodies import (
    BodyFamily,
    CodedBody,
    ImportedContract,
    ImportedOperation,
    ImportedResponse,
)
from faultspec.importers.code_member import CODE_NAMES, rank_of_name
from faultspec.importers.families import with_code
from faultspec.importers.pictures import MESSAGES
from faultspec.importers.status_codes import Use
from faultspec.openapi.nodes import mapping
from faultspec.openapi.pointers import child, steps, value_at

#: A code in an example: a word or a URI, or a number that is not the status.
_WORD = re.compile(
    r"[A-Za-z][A-Za-z0-9_.:/#-]{0,79}|(?:https?://|urn:|tag:)[\w.~:/?#@!$&'()*+,;=%-]{1,200}",
    re.ASCII,
)

#: A word that nothing but a code is spelt like: `no_slot`, `game.missing`, `NO_PARCEL`.
_COMPOUND = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+")

#: Objects on the way to the code.
_DEEPEST = 3


class _ShownCodes(NamedTuple):
    """A response, and the codes that its examples show."""

    operation: ImportedOperation
    response: ImportedResponse
    wires: list[str | int]


def read_shown_codes(contract: ImportedContract, lose: Report, *, observed: bool = False) -> None:
    """Make families of responses whose examples show codes, among the bodies of one schema.

    A member that shows one value in all examples tells nothing. ``observed``: the examples are
    answers of a service. Then one value is enough if it is spelt like a code, and the code may be
    in the items of a list.
    """
    groups: dict[str, list[Use]] = {}
    for operation in contract.operations:
        for response in operation.uncoded:
            if isinstance(response.schema, Mapping) and response.schema.get("properties"):
                key = json.dumps([response.schema, response.media_types], sort_keys=True)
                groups.setdefault(key, []).append((operation, response))
    for uses in groups.values():
        schema: Json = uses[0][1].schema
        places = [*_places(schema), *(_listed_places(schema) if observed else ())]
        place = _code_place(uses, places, one_is_enough=observed)
        if place is None:
            continue
        found = [each for each in (_read_shown(use, place) for use in uses) if each.wires]
        contract.families.append(_make_family(found, place, schema))
        reason = f"examples alone show the codes at `{place}`; complete and close the list"
        lose(found[0].response.place, "code", reason)


def _code_place(uses: Sequence[Use], places: Iterable[str], *, one_is_enough: bool) -> str | None:
    """The likeliest place with several codes, else with one that is spelt like a code."""
    shown = {
        place: {wire for use in uses for wire in _read_shown(use, place).wires}
        for place in sorted(places, key=_rank)
    }
    several = (place for place, wires in shown.items() if len(wires) > 1)
    single = (
        place
        for place, wires in shown.items()
        if one_is_enough and any(_COMPOUND.fullmatch(str(wire)) for wire in wires)
    )
    return next(several, next(single, None))


def _make_family(found: Sequence[_ShownCodes], place: str, schema: Json) -> BodyFamily:
    """The family of the responses, which are no longer without a code."""
    first = found[0].response
    family = BodyFamily(
        name=first.name,
        pointer=first.place,
        wrapper_path=[],
        code_pointer=place,
        bodies=[],
        media_types=list(first.media_types),
        shown=True,
    )
    bodies: dict[str | int, CodedBody] = {}
    for operation, response, wires in found:
        for wire in wires:
            if wire not in bodies:
                summary = response.description if len(wires) == 1 else None
                bodies[wire] = CodedBody(
                    wire, with_code(schema, steps(place), wire), first.place, description=summary
                )
            bodies[wire].samples.extend(
                sample
                for sample in response.samples
                if value_at(sample.value, place) == wire
                and all(sample.value != known.value for known in bodies[wire].samples)
            )
        own = [bodies[wire] for wire in wires]
        family.responses.setdefault(response.status, {}).update(dict.fromkeys(own))
        family.headers.setdefault(response.status, []).append(dict(response.headers))
        operation.coded = [*dict.fromkeys((*operation.coded, *own))]
        operation.uncoded.remove(response)
    family.bodies.extend(bodies.values())
    return family


def _places(schema: object, pointer: str = "", depth: int = _DEEPEST) -> Iterator[str]:
    """The members that may hold a code: free texts and numbers that are called like one."""
    for name, member in mapping(mapping(schema).get("properties")).items():
        place = child(pointer, name)
        member = mapping(member)
        if rank_of_name(name) < len(CODE_NAMES) and member.get("type") in ("string", "integer"):
            if not member.keys() & {"enum", "const"}:
                yield place
        elif depth > 1:
            yield from _places(member, place, depth - 1)


def _listed_places(schema: Json) -> Iterator[str]:
    """The members of items that may hold a code, in a body that says beside its list neither what
    went wrong nor which error it is: an id or a time says neither.
    """
    members = mapping(schema.get("properties"))
    if any(
        mapping(member).get("type") == "string"
        and (name in MESSAGES or rank_of_name(name) < len(CODE_NAMES))
        for name, member in members.items()
    ):
        return
    for name, member in members.items():
        if mapping(member).get("type") == "array":
            yield from _places(mapping(member).get("items"), child(child("", name), 0), 1)


def _rank(place: str) -> tuple[int, int]:
    return rank_of_name(steps(place)[-1]), place.count("/")


def _read_shown(use: Use, place: str) -> _ShownCodes:
    operation, response = use
    values = [value_at(sample.value, place) for sample in response.samples]
    wires = [value for value in values if _is_code(value, response.status)]
    return _ShownCodes(operation, response, list(dict.fromkeys(wires)))


def _is_code(value: object, status: str) -> bool:
    if isinstance(value, str):
        return _WORD.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and str(value) != status
