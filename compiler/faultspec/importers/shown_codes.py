"""Codes that no schema lists: examples show them in the member that is called like a code."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
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
from faultspec.importers.status_codes import Use
from faultspec.openapi.nodes import mapping
from faultspec.openapi.pointers import child, steps, value_at

#: A code in an example: a word, or a number that is not the status.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.:/#-]{0,79}")

#: Objects on the way to the code.
_DEEPEST = 3


class _ShownCodes(NamedTuple):
    """A response, and the codes that its examples show."""

    operation: ImportedOperation
    response: ImportedResponse
    wires: list[str | int]


def read_shown_codes(contract: ImportedContract, lose: Report) -> None:
    """Make families of responses whose examples show codes, among the bodies of one schema.

    A member that shows one value in all examples tells nothing.
    """
    groups: dict[str, list[Use]] = {}
    for operation in contract.operations:
        for response in operation.uncoded:
            if isinstance(response.schema, Mapping) and response.schema.get("properties"):
                key = json.dumps([response.schema, response.media_types], sort_keys=True)
                groups.setdefault(key, []).append((operation, response))
    for uses in groups.values():
        schema: Json = uses[0][1].schema
        for place in sorted(_places(schema), key=_rank):
            shown = [_read_shown(use, place) for use in uses]
            if len({wire for each in shown for wire in each.wires}) > 1:
                found = [each for each in shown if each.wires]
                contract.families.append(_make_family(found, place, schema))
                reason = f"examples alone show the codes at `{place}`; complete and close the list"
                lose(found[0].response.place, "code", reason)
                break


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
