"""Names that the language takes, made of those in a document."""

import re
from collections.abc import Iterable

from faultspec.targets.filters import snake


def identifier(text: str, otherwise: str) -> str:
    """Letters, digits and underscores, not beginning with a digit; ``otherwise`` where nothing is left of the text."""
    found = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") if text else ""
    if found != text:
        found = snake(found)
    if not found:
        return otherwise
    return f"{otherwise}_{found}" if found[0].isdigit() else found


def version_of(text: object) -> str:
    """The text where it is a version of three numbers, else 1.0.0."""
    good = isinstance(text, str) and re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", text)
    return str(text) if good else "1.0.0"


class UniqueNames:
    """Names that differ by more than case and underscores, as identifiers of generated code must."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {_folded(each) for each in taken}

    def unused(self, name: str) -> str:
        """The name, or with the first number behind it that nobody has; it is taken then."""
        found, number = name, 1
        while _folded(found) in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(_folded(found))
        return found


def _folded(name: str) -> str:
    return name.replace("_", "").casefold()
