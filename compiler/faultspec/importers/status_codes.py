"""Names and statuses of the codes that a status decides."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from faultspec.importers.bodies import ImportedOperation, ImportedResponse
from faultspec.importers.naming import UniqueNames, identifier
from faultspec.language.spelling import snake
from faultspec.targets.model import phrase

#: The names of what is not one status, and the statuses of each.
CLASSES: Mapping[str, tuple[str, range]] = {
    "4xx": ("client_error", range(400, 500)),
    "5xx": ("server_error", range(500, 600)),
    "default": ("error", range(400, 600)),
}

Use = tuple[ImportedOperation, ImportedResponse]


class StatusCode(NamedTuple):
    """The status, the envelopes and the value in a header that tell a code from others."""

    status: str
    envelopes: tuple[str, ...]
    wire: str | int | None = None


def assign_code_names(
    groups: Mapping[StatusCode, list[Use]], names: UniqueNames
) -> dict[StatusCode, str]:
    """The names of the codes, none of them among the ``names`` in use."""
    return {code: _code_name(code, uses, names) for code, uses in groups.items()}


def _code_name(code: StatusCode, uses: Sequence[Use], names: UniqueNames) -> str:
    """The name of the shared response, else of the status."""
    if code.wire is not None:
        return names.reserve(identifier(str(code.wire), "code"))
    components = {response.component for _, response in uses}
    component = components.pop() if len(components) == 1 else None
    if component is not None and not re.search(r"\d", component):
        wanted = identifier(snake(component), "error")
    elif code.status in CLASSES:
        wanted = CLASSES[code.status][0]
    else:
        wanted = snake(phrase(int(code.status))) or f"status_{code.status}"
    plain = names.reserve(wanted)
    return plain if plain == wanted else names.reserve(f"{wanted}_{code.envelopes[0]}")


def statuses_of(code: StatusCode, groups: Mapping[StatusCode, list[Use]]) -> list[Any]:
    """The statuses of a code.

    A class leaves out those that its envelope, or each of its operations, has by themselves.
    """
    if code.status not in CLASSES:
        return [int(code.status)]
    taken = {
        int(other.status)
        for other in groups
        if other.status.isdecimal()
        and (
            set(other.envelopes) & set(code.envelopes)
            or {each for each, _ in groups[code]} <= {each for each, _ in groups[other]}
        )
    }
    if code.status == "default":
        classes = {other.status for other in groups if set(other.envelopes) & set(code.envelopes)}
        for digits in classes & {"4xx", "5xx"}:
            taken |= set(CLASSES[digits][1])
    return write_statuses(set(CLASSES[code.status][1]) - taken)


def write_statuses(statuses: Set[int]) -> list[Any]:
    """Error statuses as the language writes them: classes, ranges and single ones."""
    found: list[Any] = []
    for digit, name in ((4, "4xx"), (5, "5xx")):
        own = [status for status in sorted(statuses) if status // 100 == digit]
        found += [name] if len(own) == 100 else list(_spans(own))
    return found


def undescribed_statuses(operation: ImportedOperation, status: str) -> set[int]:
    """The statuses of a response without a body that no other response of the operation has."""
    own = set(CLASSES[status][1]) if status in CLASSES else {int(status)}
    for other in operation.described - {status}:
        if other.isdecimal():
            own.discard(int(other))
        elif status == "default":
            own -= set(CLASSES[other][1])
    return own


def _spans(statuses: Sequence[int]) -> Iterator[Any]:
    """Statuses in order, as single ones and ranges."""
    first = last = None
    for status in (*statuses, None):
        if last is not None and status == last + 1:
            last = status
            continue
        if first is not None:
            yield first if first == last else f"{first}-{last}"
        first = last = status


def list_codes(
    groups: Mapping[StatusCode, list[Use]], names: Mapping[StatusCode, str]
) -> dict[ImportedOperation, list[str]]:
    """The codes of each operation. A class of statuses includes the other codes of its envelope."""
    found: dict[ImportedOperation, dict[str, None]] = {}
    for code, uses in groups.items():
        names_of_code = [names[code]]
        if code.status in CLASSES:
            names_of_code += [
                names[other]
                for other in groups
                if set(other.envelopes) & set(code.envelopes) and _includes(code, other)
            ]
        for operation, _ in uses:
            found.setdefault(operation, {}).update(dict.fromkeys(names_of_code))
    return {operation: list(listed) for operation, listed in found.items()}


def _includes(code: StatusCode, other: StatusCode) -> bool:
    """Whether a class of statuses includes the status of another code."""
    span = CLASSES[code.status][1]
    if other.status.isdecimal():
        return int(other.status) in span
    return code.status == "default" or other.status == code.status
