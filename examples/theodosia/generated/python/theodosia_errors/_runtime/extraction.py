# Copied from faultspec; do not edit
# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""Read a body through a shape, taking what can be read and noting what departs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .nodes import (
    ERROR_SLOTS,
    Array,
    Literal,
    Node,
    Object,
    Slot,
    Template,
    child,
    describe,
    json_text,
)

NO_ALTERNATIVES: Mapping[str, Sequence[str]] = {}


class Mismatch(NamedTuple):
    """At `path` the body holds `got` where the shape wants `expected` (in words, or the
    JSON text of a scalar).
    """

    path: str
    expected: str
    got: object


class ArrayItem(NamedTuple):
    """Another item of a list, at the pointer `at`: the slots that it has, and their
    places.
    """

    slots: dict[str, object]
    where: dict[str, str]
    at: str = ""


class Extraction(NamedTuple):
    """A body that was read through a shape, with everything that departs from the
    shape.

    `slots` are the values found and `where` their places. Of a list the first item
    with a code counts, or the first if none has one; `more` has each other item that
    says anything, while departures are reported for all of them. `unexpected` are
    members that the shape doesn't name. Places are JSON Pointers.
    """

    slots: dict[str, object]
    where: dict[str, str]
    missing: tuple[str, ...]
    mismatched: tuple[Mismatch, ...]
    unexpected: tuple[str, ...]
    more: tuple[ArrayItem, ...]

    @property
    def fits(self) -> bool:
        """Whether all that the shape asks for is there; unexpected members are for the
        caller to allow or forbid.
        """
        return not self.missing and not self.mismatched

    @property
    def others(self) -> tuple[ArrayItem, ...]:
        """Each other error of a list, with the slots that stand beside the list."""
        return tuple(map(self.complete, filter(is_error, self.more)))

    def complete(self, item: ArrayItem) -> ArrayItem:
        """An item with the slots that are in no item of its list."""
        items = f"{item.at.rpartition('/')[0]}/"
        beside = [
            slot
            for slot in self.slots
            if not self.where.get(slot, "").startswith(items)
        ]
        slots = {slot: self.slots[slot] for slot in beside}
        where = {slot: self.where.get(slot, "") for slot in beside}
        return ArrayItem({**slots, **item.slots}, {**where, **item.where}, item.at)


def is_error(item: ArrayItem) -> bool:
    """Whether an item of a list is an error of its own: it has a code or a message."""
    return not ERROR_SLOTS.isdisjoint(item.slots)


def extract(
    node: Node,
    body: object,
    alternatives: Mapping[str, Sequence[str]] = NO_ALTERNATIVES,
) -> Extraction:
    """Read whatever of `body` can be read through the shape; never raises, whatever the
    body.

    `alternatives` has the pointers of slots that may stand in several members: the
    first of them that is there counts, and the others may differ.

    In a string the code takes as little as lets the rest match, and then each other
    slot from the left. Where a slot stands in a template and also on its own, the value
    is the latter's. A spread slot is absent if nothing is left to spread.
    """
    reading = _ShapeReader(alternatives)
    reading.read(node, body, "", _FIRST)
    slots, where, _ = reading.found.pop(_FIRST, ArrayItem({}, {}))
    return Extraction(
        slots=slots,
        where=where,
        missing=tuple(reading.missing),
        mismatched=tuple(reading.mismatched),
        unexpected=tuple(reading.unexpected),
        more=tuple(reading.found.values()),
    )


def scalar_text(value: object) -> str | None:
    """A scalar as it stands inside a string, or None if `value` can't stand there."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None


# The item whose slots count, in `_Reading.found`; the others go by their path
_FIRST = ""


class _ShapeReader:
    """One `extract` under way."""

    def __init__(self, alternatives: Mapping[str, Sequence[str]]) -> None:
        self.alternatives = alternatives
        self.found: dict[str, ArrayItem] = {}
        # (item, slot) read from inside a string so far
        self.from_template: set[tuple[str, str]] = set()
        self.missing: list[str] = []
        self.mismatched: list[Mismatch] = []
        self.unexpected: list[str] = []

    def read(self, node: Node, value: object, path: str, item: str) -> None:
        match node:
            case Object() if isinstance(value, Mapping):
                self.read_object(node, value, path, item)
            case Slot(name=name):
                self.read_slot(name, value, path, item)
            case Literal(value=expected) if _same(expected, value):
                pass
            case Template() if (
                isinstance(value, str) and (texts := _match(node, value)) is not None
            ):
                for name, text in zip(node.slots, texts, strict=True):
                    self.read_text(name, text, path, item)
            case Array(item=shape) if isinstance(value, list) and value:
                main = _index_of_main(shape, value)
                for index, each in enumerate(value):
                    here = child(path, index)
                    self.read(shape, each, here, item if index == main else here)
            case _:
                self.mismatched.append(Mismatch(path, describe(node), value))

    def read_object(
        self, node: Object, value: Mapping[str, object], path: str, item: str
    ) -> None:
        present = 0
        for name, inner, optional, step in node.members:
            if name not in value:
                if not optional:
                    self.missing.append(path + step)
                continue
            present += 1
            if type(inner) is Slot:  # most members; `read` would take twice the time
                self.read_slot(inner.name, value[name], path + step, item)
            else:
                self.read(inner, value[name], path + step, item)
        if present == len(value):
            return
        named = {member.name for member in node.members}
        rest = {key: each for key, each in value.items() if key not in named}
        if node.spread is None:
            self.unexpected += (child(path, key) for key in rest)
        elif rest:
            self.read_slot(node.spread, rest, path, item)

    def read_slot(self, name: str, value: object, path: str, item: str) -> None:
        known = self.found.get(item)
        if known is None:
            known = self.found[item] = ArrayItem({}, {}, item)
        found, where, _ = known
        if name not in found:
            found[name], where[name] = value, path
            return
        if name in self.alternatives:
            order = self.alternatives[name]
            if found[name] is None or (
                value is not None and order.index(path) < order.index(where[name])
            ):
                found[name], where[name] = value, path
            return
        if (item, name) not in self.from_template:
            if not _equal(found[name], value):
                self.disagree(found[name], value, path)
            return
        if scalar_text(value) != found[name]:
            self.disagree(found[name], value, path)
        self.from_template.discard((item, name))
        found[name] = value
        where[name] = path

    def read_text(self, name: str, text: str, path: str, item: str) -> None:
        found = self.found.setdefault(item, ArrayItem({}, {}, item)).slots
        if name not in found:
            self.read_slot(name, text, path, item)
            self.from_template.add((item, name))
        elif scalar_text(found[name]) != text:
            self.disagree(found[name], text, path)

    def disagree(self, earlier: object, value: object, path: str) -> None:
        expected = "the same value as elsewhere"
        if earlier is None or isinstance(earlier, str | int | float):
            expected = json_text(earlier)
        self.mismatched.append(Mismatch(path, expected, value))


def _index_of_main(item: Node, values: Sequence[object]) -> int:
    """The index of the item that counts: the first with a code, or the first of all."""
    if len(values) > 1 and _reads_code(item):
        for index, value in enumerate(values):
            if extract(item, value).slots.get("code") is not None:
                return index
    return 0


def _reads_code(node: Node) -> bool:
    match node:
        case Slot(name=name):
            return name == "code"
        case Template(slots=slots):
            return "code" in slots
        case Array(item=item):
            return _reads_code(item)
        case Object(members=members):
            return any(_reads_code(member.node) for member in members)
        case _:
            return False


def _match(node: Template, text: str) -> list[str] | None:
    """The texts of the slots, or None. The code is as short as lets the rest match, and
    so are the slots behind it and those of a string without a code: a message before
    the code may have the separator in it.
    """
    first, last = node.texts[0], node.texts[-1]
    end = len(text) - len(last)
    at = len(first)
    if end < at or not text.startswith(first) or not text.endswith(last):
        return None
    before = node.slots.index("code") if "code" in node.slots else 0
    texts, at = _split(text, node.texts[1:before], at, end)
    if texts is None:
        return None
    if before == 0:
        return _split_rest(text, node.texts[1:-1], at, end)
    found = _find_code(text, node.texts[before:-1], at, end)
    if found is None:
        return None
    behind = _split_rest(text, node.texts[before + 1 : -1], found[1], end)
    return None if behind is None else [*texts, text[at : found[0]], *behind]


def _find_code(
    text: str, separators: Sequence[str], at: int, end: int
) -> tuple[int, int] | None:
    """Where the separator before the shortest code begins and ends, or None. Behind the
    code come the other separators. Each step goes on behind the last one, so that the
    time is linear in the text.
    """
    before, *behind = separators
    if not behind:
        last = text.rfind(before, at, end)
        return None if last < 0 else (last, last + len(before))
    latest = _last_place(text, behind, at, end)
    best, shortest = None, end + 1
    while (begin := text.find(before, at, end)) >= 0:
        stop = text.find(behind[0], begin + len(before), end)
        if not 0 <= stop <= latest:
            break
        begin = text.rfind(before, begin, stop)
        if stop - begin < shortest:
            best, shortest = (begin, begin + len(before)), stop - begin
        at = max(begin + 1, stop - len(before) + 1)
    return best


def _last_place(text: str, separators: Sequence[str], at: int, end: int) -> int:
    """The last place of the first separator that leaves room for the others."""
    for separator in reversed(separators):
        end = text.rfind(separator, at, end)
        if end < 0:
            break
    return end


def _split_rest(
    text: str, separators: Sequence[str], at: int, end: int
) -> list[str] | None:
    """The texts between the separators from `at` to `end`, with the one behind the
    last separator.
    """
    texts, at = _split(text, separators, at, end)
    return None if texts is None else [*texts, text[at:end]]


def _split(
    text: str, separators: Sequence[str], at: int, end: int
) -> tuple[list[str] | None, int]:
    """The text before each separator, each as short as can be, and the place behind the
    last one.
    """
    texts: list[str] = []
    for separator in separators:
        found = text.find(separator, at, end)
        if found < 0:
            return None, at
        texts.append(text[at:found])
        at = found + len(separator)
    return texts, at


def _same(a: object, b: object) -> bool:
    """Equality of scalars as JSON has it: 1 is 1.0, but neither is true."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def _equal(a: object, b: object) -> bool:
    """`_same` all the way down; what nests too deep to compare counts as different."""
    try:
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(_equal, a, b))
        return _same(a, b)
    except RecursionError:
        return False
