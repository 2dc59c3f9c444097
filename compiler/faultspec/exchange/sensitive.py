"""The places of values that are for the caller only, by the names of members.

A name counts wherever it stands: a service that breaks a contract sends members in other places,
and under other codes, than those that are declared.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from faultspec.runtime import sensitive
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import steps

MASK = sensitive.MASK
"""The replacement of a sensitive value."""

_ANY = "*"
"""The replacement of a name below a sensitive member. Fingerprints have the same for a step with a
digit."""


@dataclass(frozen=True, slots=True)
class SensitivePlaces:
    """Where bodies and answers have sensitive values.

    ``names``: of members, folded (``fold_member``). ``declared``: names of members that are
    declared below a sensitive one; these names may be shown. ``headers``: of answers, in lower
    case. ``whole``: a body may be such a value as a whole. ``quoted``: declared texts, such as
    messages, quote sensitive values.
    """

    names: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()
    whole: bool = False
    quoted: bool = False

    def __bool__(self) -> bool:
        """Whether any place is sensitive."""
        return bool(self.names or self.headers or self.whole)

    def hides(self, name: str) -> bool:
        """Whether the value of a member with this name is sensitive. A name may have the steps to a
        member, as in forms.
        """
        return bool(self.names) and any(fold_member(step) in self.names for step in _steps_of(name))

    def mask_name(self, name: str) -> str:
        """A name without the steps inside a sensitive value, such as `details[accounts][*]`."""
        found = [*_STEP.finditer(name)]
        ends = (step.end() for step in found if fold_member(step[0]) in self.names)
        end = next(ends, len(name))
        inside = [step[0] for step in found if step.start() >= end]
        if self.declared.issuperset(inside):
            return name
        return f"{name[: end + name.startswith(']', end)]}[{_ANY}]"

    def covers(self, pointer: str | None) -> bool:
        """Whether a JSON Pointer leads to a sensitive value, or into one."""
        if pointer is None or not self:
            return False
        return self.whole or any(map(self.hides, steps(pointer)))

    def mask_pointer(self, pointer: str) -> str:
        """A JSON Pointer without undeclared names inside a sensitive value."""
        if not self or not pointer.startswith("/"):
            return pointer
        masked, is_inside = "", self.whole
        for step in steps(pointer):
            known = not is_inside or step in self.declared or fold_member(step) in self.names
            masked = child(masked, self.mask_name(step) if known else _ANY)
            is_inside = is_inside or self.hides(step)
        return masked

    def mentions(self, text: str) -> bool:
        """Whether a text has the name of a sensitive member as a word."""
        return bool(self.names) and _mention_of(self.names).search(text) is not None


NOWHERE_SENSITIVE = SensitivePlaces()
"""The places of a taxonomy without sensitive values."""


#: A step of a name, such as those of `details[card]` and `details.card`.
_STEP = re.compile(r"[^\[\].]+")


def _steps_of(name: str) -> Iterable[str]:
    return (name, *_STEP.findall(name)) if _STEP.fullmatch(name) is None else (name,)


def fold_member(name: str) -> str:
    """A name without case and separators: `cardNumber`, `card_number` and `@card-number` are one.

    A name of nothing but separators stays as it is.
    """
    return "".join(filter(str.isalnum, name.casefold())) or name


@lru_cache(maxsize=64)  # a process reads few taxonomies, and searches many texts for each
def _mention_of(names: Iterable[str]) -> re.Pattern[str]:
    """An expression that finds any of these names, with separators between its characters."""
    spelled = (r"[\W_]*".join(map(re.escape, name)) for name in sorted(names))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(spelled)})(?![^\W_])", re.IGNORECASE)
