# Copied from faultspec; do not edit
"""The nodes of a compiled shape, and ways to look at them. `shape` says how they are
written.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

ERROR_SLOTS = frozenset(("code", "message"))
"""The slots that make an item of a list an error of its own."""


# Nodes are tuples, and tuples of equal content are equal: `kind` keeps Slot("x") from
# equalling Literal("x").
class Slot(NamedTuple):
    """A place that takes the slot's value as it is."""

    name: str
    kind: str = "slot"


class Literal(NamedTuple):
    """A scalar that is always the same."""

    value: str | float | bool | None
    kind: str = "literal"


class Template(NamedTuple):
    """A string of texts and slots in turn: one text more than slots, and no empty text
    between two slots.
    """

    texts: tuple[str, ...]
    slots: tuple[str, ...]
    kind: str = "template"


class ObjectMember(NamedTuple):
    """One member of an object; `step` is the end of its JSON Pointer."""

    name: str
    node: "Node"
    optional: bool
    step: str


class Object(NamedTuple):
    """An object with these members; `spread` names the slot whose members stand beside
    them.
    """

    members: tuple[ObjectMember, ...]
    spread: str | None = None
    kind: str = "object"


class Array(NamedTuple):
    """A list of at least one item, each of which has the shape `item`."""

    item: "Node"
    kind: str = "array"


Node = Slot | Literal | Template | Object | Array


class NodePlace(NamedTuple):
    """A node and the JSON Pointer at which it renders; `required` is false at and below
    an optional member.
    """

    path: str
    node: Node
    required: bool

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots that stand here themselves, not further down; a spread slot stands
        at its object.
        """
        match self.node:
            case Slot(name=name):
                return (name,)
            case Template(slots=names):
                return names
            case Object(spread=str(name)):
                return (name,)
            case _:
                return ()


def walk(node: Node, path: str = "", required: bool = True) -> Iterator[NodePlace]:
    """Every node of the shape, parents first, in the order it is written."""
    yield NodePlace(path, node, required)
    if isinstance(node, Object):
        for member in node.members:
            yield from walk(
                member.node, child(path, member.name), required and not member.optional
            )
    elif isinstance(node, Array):
        yield from walk(node.item, child(path, 0), required)


@lru_cache(maxsize=64)  # an API has a handful of shapes, each asked for at every error
def slot_places(node: Node) -> Mapping[str, tuple[NodePlace, ...]]:
    """Where each slot stands, in the order in which the shape first names them."""
    places: dict[str, tuple[NodePlace, ...]] = {}
    for place in walk(node):
        for name in place.slots:
            places[name] = (*places.get(name, ()), place)
    return places


def lists_errors(node: Node) -> bool:
    """Whether the node is a list whose items are errors: each has a code or a message
    of its own.
    """
    return isinstance(node, Array) and not ERROR_SLOTS.isdisjoint(
        slot_places(node.item)
    )


def child(path: str, key: str | int) -> str:
    """The JSON Pointer (RFC 6901) of a member or an item of what stands at `path`."""
    return f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"


def describe(node: Node) -> str:
    """The value that a node asks for, in words; for a literal its JSON text."""
    match node:
        case Literal(value=value):
            return json_text(value)
        case Template(texts=texts, slots=slots):
            return (
                "a string like "
                + texts[0]
                + "".join(f"${{{s}}}{t}" for s, t in zip(slots, texts[1:], strict=True))
            )
        case Object():
            return "an object"
        case Array():
            return "a list of at least one item"
        case Slot():
            return "any value"


def json_text(value: str | float | bool | None) -> str:
    """A scalar as JSON writes it."""
    # Here, so that a binding that only renders and reads envelopes doesn't pay for it
    import json

    return json.dumps(value, ensure_ascii=False)
