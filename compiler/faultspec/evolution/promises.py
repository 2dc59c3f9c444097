"""Effects of changed promises about answers.

A contract promises clients what answers contain. A promise that becomes wider breaks clients that
relied on it. One that becomes narrower breaks services that send what was allowed until now, and
never clients.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.evolution.model import BOTH, Audience, Effect
from faultspec.language.conditions import StatusRange
from faultspec.language.model import Presence
from faultspec.runtime import durations

T = TypeVar("T")

_RANK = {"required": 3, "expected": 2, "optional": 1, None: 0, "forbidden": -1}


def compare_allowed(
    old: Collection[object], new: Collection[object], what: str, *, any_if_empty: bool = False
) -> Effect | None:
    """The effect on a set of allowed values. ``any_if_empty``: an empty set allows everything."""
    gone, more = split_values(old, new)
    if not gone and not more:
        return None
    if any_if_empty and not new:
        return Effect(
            "breaking", f"{what} is no longer limited to {join_values(old)}", ("clients",)
        )
    if any_if_empty and not old:
        return Effect("breaking", f"{what} is now limited to {join_values(new)}", ("services",))
    if more and gone:
        message = f"{what} is {join_values(more)} in place of {join_values(gone)}"
        return Effect("breaking", message, ("clients",))
    if more:
        return Effect("breaking", f"{what} may now also be {join_values(more)}", ("clients",))
    return Effect("breaking", f"{what} may no longer be {join_values(gone)}", ("services",))


def compare_bound(old: float | None, new: float | None, what: str, *, upper: bool) -> Effect | None:
    """The effect on a bound of a value; None: there is none."""
    if old == new:
        return None
    wider = new is None or (old is not None and ((new > old) if upper else (new < old)))
    shown = "no bound" if new is None else f"{new:g}"
    message = f"{what} changed from {'no bound' if old is None else f'{old:g}'} to {shown}"
    return Effect("breaking", message, ("clients",) if wider else ("services",))


def compare_presence(old: Presence | None, new: Presence | None, what: str) -> Effect | None:
    """The effect on the presence of a part of an answer; None is: nothing is declared."""
    if old == new:
        return None
    before, after = _RANK[old], _RANK[new]
    if "forbidden" in (old, new):
        message = f"{what} is {new or 'no longer forbidden'}"
        if new == "forbidden":
            hurt: tuple[Audience, ...] = BOTH if old == "required" else ("services",)
            return Effect("breaking", message, hurt)
        return Effect("risky", message, ("clients",), adds=True)
    if after > before:
        if new == "required":
            return Effect("breaking", f"{what} is now required", ("services",))
        return Effect("safe", f"{what} is now {new}", adds=old is None)
    was = "" if old is None else f" (it was {old})"
    message = f"{what} is {new or 'no longer declared'}{was}"
    if old == "required":
        return Effect("breaking", message, ("clients",))
    return Effect("risky", message, ("clients",))


def compare_promise(old: object, new: object, what: str) -> Effect | None:
    """The effect on something that answers carry or repeat, or do not (None, or empty)."""
    if old == new:
        return None
    if not old:
        return Effect("breaking", f"{what} is now {format_value(new)}", ("services",))
    if not new:
        return Effect("breaking", f"{what} is no longer {format_value(old)}", ("clients",))
    return Effect("breaking", replacement_message(what, new, old), ("clients",))


def as_argument(effect: Effect | None) -> Effect | None:
    """The effect on a value that constructors of errors take: a narrower one changes its type."""
    if effect is None or effect.severity != "breaking" or "services" not in effect.breaks:
        return effect
    return effect._replace(categories=("SOURCE", "WIRE"))


def compare_strictness(old: str, new: str, what: str) -> Effect | None:
    """The effect on how undeclared members are treated."""
    if old == new:
        return None
    message = f"{what}: undeclared members are now {_STRICTNESS[new]}"
    if new == "forbid":
        return Effect("breaking", message, ("services",))
    if old == "forbid":
        return Effect("breaking", message, ("clients",))
    return Effect("safe", message)


_STRICTNESS = {"forbid": "errors", "warn": "reported as warnings", "allow": "allowed"}


def replacement_message(what: str, new: object, old: object) -> str:
    """The message that something has another value."""
    return f"{what} is {format_value(new)} in place of {format_value(old)}"


def expand(ranges: Iterable[StatusRange]) -> frozenset[int]:
    """Every status of some ranges."""
    return frozenset(status for span in ranges for status in range(span.low, span.high + 1))


def compress(statuses: Iterable[int]) -> tuple[StatusRange, ...]:
    """The ranges of consecutive statuses."""
    ranges: list[StatusRange] = []
    for status in sorted(statuses):
        if ranges and ranges[-1].high == status - 1:
            ranges[-1] = StatusRange(ranges[-1].low, status)
        else:
            ranges.append(StatusRange(status, status))
    return tuple(ranges)


def split_values(old: Iterable[T], new: Iterable[T]) -> tuple[list[T], list[T]]:
    """The values that are gone and those that are new, each in order."""
    before, after = list(old), list(new)
    gone = [value for value in before if value not in after]
    return gone, [value for value in after if value not in before]


def join_words(words: Sequence[str]) -> str:
    """Words as a list in a sentence, as in `a, b and c`."""
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


#: A longer list is cut, so that a message stays a sentence.
_MOST_LISTED = 6


def join_values(values: Iterable[object], *, most: int | None = _MOST_LISTED) -> str:
    """Values as a list in a sentence, cut after ``most``; None: whole."""
    texts = [format_value(value, most=most) for value in values]
    more = 0 if most is None else len(texts) - most
    return ", ".join(texts) if more <= 0 else f"{', '.join(texts[:most])} and {more} more"


#: Fields of records whose value is a time in seconds.
_DURATIONS = frozenset(
    {
        "base",
        "elapsed",
        "for_seconds",
        "late_by",
        "lasting",
        "max",
        "max_elapsed",
        "over",
        "step",
        "window",
    }
)


def format_value(value: object, field: str = "", *, most: int | None = _MOST_LISTED) -> str:
    """A value in a sentence: code and names in backquotes, numbers and durations as they are.
    ``most``: the items of a list that are named; None: all.
    """
    if isinstance(value, bool) or value is None:
        return {True: "`true`", False: "`false`", None: "nothing"}[value]
    if isinstance(value, int | float):
        return durations.render(value) if field in _DURATIONS else f"{value:g}"
    if isinstance(value, StatusRange):
        return str(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _format_record(value, most)
    if isinstance(value, tuple | frozenset | list):
        return join_values(value, most=most)
    return f"`{escape_line(str(value)).replace('`', chr(39))}`"  # a backquote would end it


def _format_record(record: Any, most: int | None) -> str:
    """The fields of a record that are not their defaults, such as `max_attempts 3`."""
    defaults = record._field_defaults
    return " ".join(
        f"{name} {format_value(value, name, most=most)}"
        for name, value in record._asdict().items()
        if name not in defaults or value != defaults[name]
    )
