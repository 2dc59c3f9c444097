"""The statuses of the codes, and the fallback of each class of statuses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from faultspec.importers import Report
from faultspec.importers.bodies import BodyFamily, CodedBody
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
        keys = list(dict.fromkeys(codes[body] for bodies_ in bodies for body in bodies_))
        everywhere = len(bodies) == len(responding)
        whole, rest = keys, list[CodeKey]()
        if not status.isdecimal():
            whole, rest = _split_class(status, keys, responding, codes, own)
            if everywhere and len(keys) == 1 and keys[0] in found and keys[0].operation is None:
                whole, rest = [], keys
        if len(rest) == 1 and rest[0].operation is None and everywhere:
            reason = "The document answers so with any other status of the class."
            fallbacks[status] = {"code": rest[0].name, "reason": reason}
        elif rest:
            whole = keys
            _lose_class(status, responding, lose)
        for key in whole:
            found.setdefault(key, []).append(int(status) if status.isdecimal() else status)
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


def _split_class(
    status: str,
    keys: Sequence[CodeKey],
    families: Sequence[BodyFamily],
    codes: Mapping[CodedBody, CodeKey],
    own: Statuses,
) -> tuple[list[CodeKey], list[CodeKey]]:
    """Codes of a class such as ``4xx`` that have every single status of it, and the others."""

    def has_whole_class(key: CodeKey) -> bool:
        if key in own:
            return status in own[key]
        return all(key in single for single in _single_statuses(key, status[0], families, codes))

    return (
        [key for key in keys if has_whole_class(key)],
        [key for key in keys if not has_whole_class(key)],
    )


def _single_statuses(
    key: CodeKey,
    digit: str,
    families: Sequence[BodyFamily],
    codes: Mapping[CodedBody, CodeKey],
) -> Iterator[set[CodeKey]]:
    """The codes of each single status of a class, in the families that have the code."""
    for family in families:
        if any(codes[body] == key for body in family.bodies):
            for status, bodies in family.responses.items():
                if status.isdecimal() and status[0] == digit:
                    yield {codes[body] for body in bodies}


def _lose_class(status: str, families: Sequence[BodyFamily], lose: Report) -> None:
    for family in families:
        if status in family.responses:
            reason = f"codes have {status} without all of its single statuses; here they have all"
            lose(family.pointer, "status", reason)
