"""Names that the language allows, from names in a document."""

import re
from collections.abc import Collection, Iterable

from faultspec.language.scope import WELL_KNOWN_SLOTS
from faultspec.language.spelling import snake

DETAILS = ("details", "data", "meta", "context", "params", "extra", "info")


def identifier(text: str, default: str) -> str:
    """Letters, digits and underscores, a letter or underscore first.

    ``default`` replaces an empty result.
    """
    found = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")
    if found != text:
        found = snake(found)
    if not found:
        return default
    return f"{default}_{found}" if found[0].isdigit() else found


def slot_name(member: str, reserved: Collection[str] = WELL_KNOWN_SLOTS) -> str:
    """A slot for a member, not one of the ``reserved``, which have a meaning of their own."""
    slot = re.sub(r"[^a-z0-9_]", "_", snake(member)) or "member"
    if slot in reserved:
        return f"{slot}_value"
    return f"_{slot}" if slot[0].isdigit() else slot


def version_of(text: object) -> str:
    """The text if it is a version of three numbers, else 1.0.0."""
    good = isinstance(text, str) and re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", text)
    return str(text) if good else "1.0.0"


class UniqueNames:
    """Names that differ in more than case and underscores, as generated identifiers must."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(map(_fold, used))
        self._last: dict[str, int] = {}

    def reserve(self, name: str) -> str:
        """The name, or the name with the first number that makes it unique.

        It counts as used from then on.
        """
        plain = _fold(name)
        found, number = name, self._last.get(plain, 1)
        if number > 1:  # the names before it are used, and stay so
            found = f"{name}_{number}"
        while _fold(found) in self._used:
            number += 1
            found = f"{name}_{number}"
        self._used.add(_fold(found))
        self._last[plain] = number
        return found


def _fold(name: str) -> str:
    return name.replace("_", "").casefold()
