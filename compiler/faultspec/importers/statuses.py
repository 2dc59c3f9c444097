"""The statuses of the codes, and the fallback of each class of statuses."""

from collections.abc import Iterator, Sequence
from typing import Any

from faultspec.importers import Report
from faultspec.importers.bodies import BodyFamily
from faultspec.importers.names import CodeKey, NamedFamilies

Statuses = dict[CodeKey, list[Any]]


def assign_statuses(named: NamedFamilies, lose: Report) -> tuple[Statuses, dict[str, Any]]:
    """The statuses of each code as the language writes them, and the fallbacks."""
    codes = named.codes
    responding = [family for family in named.families if family.responses]
    own = _own_spans(named)
    found: Statuses = {}
    fallbacks: dict[str, Any] = {}
    listed = {status for family in responding for status in family.responses} - {"default"}
    for status in sorted(listed):
        bodies = [family.responses[status] for family in responding if status in family.responses]
        keys = list(dict.fromkeys(codes[body] for alternatives in bodies for body in alternatives))
        value: Any = int(status) if status.isdecimal() else status
        rest: list[CodeKey] = []
        if not status.isdecimal():
            rest = _partial_claimants(status, keys, named, own)
            everywhere = len(bodies) == len(responding)
            shared = [key for key in keys if key.operation is None]
            if everywhere and shared == keys == [key for key in keys[:1] if key in found]:
                rest = keys
            if everywhere and len(rest) == 1 and rest[0] in shared:
                reason = "The document answers so with any other status of the class."
                fallbacks[status] = {"code": rest[0].name, "reason": reason}
            elif rest:
                rest = []
                _lose_class(status, responding, lose)
        for key in keys:
            if key not in rest:
                found.setdefault(key, []).append(value)
    for family in responding:
        if "default" in family.responses:
            for body in family.responses["default"]:
                found.setdefault(codes[body], ["4xx", "5xx"])
            reason = (
                "`default` is any error status that is not listed; "
                "it became 4xx and 5xx for codes without another status"
            )
            lose(family.pointer, "default", reason)
    return {**found, **own}, fallbacks


def _own_spans(named: NamedFamilies) -> Statuses:
    """The statuses of the codes whose bodies list them."""
    found: Statuses = {}
    for family in named.families:
        for body in family.bodies:
            if body.rules.spans:
                found.setdefault(named.codes[body], list(body.rules.spans))
    return found


def _partial_claimants(
    status: str, keys: Sequence[CodeKey], named: NamedFamilies, own: Statuses
) -> list[CodeKey]:
    """Codes of a class such as ``4xx`` that lack a single status of it."""

    def has_whole_class(key: CodeKey) -> bool:
        if key in own:
            return status in own[key]
        return all(key in single for single in _single_statuses(key, status[0], named))

    return [key for key in keys if not has_whole_class(key)]


def _single_statuses(key: CodeKey, digit: str, named: NamedFamilies) -> Iterator[set[CodeKey]]:
    """The codes of each single status of a class, in the families that have the code."""
    for family in named.families:
        if any(named.codes[body] == key for body in family.bodies):
            for status, bodies in family.responses.items():
                if status.isdecimal() and status[0] == digit:
                    yield {named.codes[body] for body in bodies}


def _lose_class(status: str, families: Sequence[BodyFamily], lose: Report) -> None:
    for family in families:
        if status in family.responses:
            reason = f"codes have {status} without all of its single statuses; here they have all"
            lose(family.pointer, "status", reason)
