# Copied from faultspec; do not edit
# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""An envelope is a picture of the wire with slots in it: compile the picture, render
it, read it back.

| written                 | means                                                    |
|-------------------------|----------------------------------------------------------|
| `"$code"`               | the value of the slot `code`, whatever its JSON type     |
| `"https://e/${code}"`   | a string with the slot's text inside it                  |
| `"$$"`                  | a dollar, anywhere in a string                           |
| `{details?: $details}`  | a member left out when none of its slots has a value     |
| `{"...": $details}`     | the members of the slot's value, spread into the object  |
| `[{code: $code}]`       | a list whose items have that shape                       |
| `{use: name}`           | the shape called `name`                                  |
| any other scalar        | itself                                                   |

Places in a body are JSON Pointers (RFC 6901); an item of a list goes by its index. A
rendered list has one item, and a list of errors one for each error. A slot that stands
in several places must have one value there: `extract` reports those that disagree.
"""

from collections.abc import Mapping, Sequence

from .extraction import Extraction, Mismatch, extract, scalar_text
from .nodes import (
    Array,
    Literal,
    Node,
    NodePlace,
    Object,
    ObjectMember,
    Slot,
    Template,
    child,
    describe,
    lists_errors,
    slot_places,
    walk,
)

__all__ = [
    "Array",
    "Extraction",
    "Literal",
    "Mismatch",
    "MissingSlot",
    "Node",
    "NodePlace",
    "Object",
    "ObjectMember",
    "Path",
    "ShapeError",
    "Slot",
    "Template",
    "child",
    "compile_shape",
    "describe",
    "extract",
    "lists_errors",
    "render",
    "slot_places",
    "walk",
]

Path = tuple[str | int, ...]

_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyz_")
_NAME = _NAME_START | frozenset("0123456789")


class ShapeError(ValueError):
    """A shape is not well written; `path` leads to the offending key or item, as it is
    written.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{'/'.join(map(str, path)) or 'the shape'}: {problem}")
        self.path = path
        self.problem = problem


class MissingSlot(KeyError):
    """A shape was rendered without a value for `slot`, which stands at `path` and is
    not optional there.
    """

    def __init__(self, slot: str, path: str) -> None:
        super().__init__(slot)
        self.slot = slot
        self.path = path

    def __str__(self) -> str:
        where = self.path or "the whole body"
        return f"no value for the slot {self.slot!r}, which {where} needs"


def compile_shape(data: object, uses: Mapping[str, Node] | None = None) -> Node:
    """Compile a shape from its JSON-like data, with `uses` for the shapes it refers to;
    raises ShapeError.
    """
    return _compile(data, uses or {}, ())


def render(
    node: Node,
    slots: Mapping[str, object],
    others: Sequence[Mapping[str, object]] = (),
) -> object:
    """The body with the slots filled in. `others` are the slots of further errors,
    which have a place if the shape has a list of errors.

    A required slot may be None, which is null on the wire. An optional member is left
    out when its slots are all absent or None, or, for a string, when any of them is.
    Slots that the shape has no place for are ignored. Raises MissingSlot, and
    ValueError for a value that can't stand where its slot does (a list inside a string,
    a spread member that the shape already names).
    """
    return _render(node, slots, "", others)


def _compile(data: object, uses: Mapping[str, Node], path: Path) -> Node:
    if isinstance(data, str):
        return _compile_string(data, path)
    if data is None or isinstance(data, bool | int | float):
        return Literal(data)
    if isinstance(data, list | tuple):
        if len(data) != 1:
            raise ShapeError(
                path, "a list is written with one element, the shape of each item"
            )
        return Array(_compile(data[0], uses, (*path, 0)))
    if not isinstance(data, Mapping):
        raise ShapeError(path, f"a {type(data).__name__} has no place in JSON")
    name = data.get("use")
    if len(data) == 1 and isinstance(name, str) and not name.startswith("$"):
        if name not in uses:
            known = ", ".join(uses) or "none"
            raise ShapeError(
                (*path, "use"),
                f"there is no shape called {name!r} (known here: {known})",
            )
        return uses[name]
    return _compile_object(data, uses, path)


def _compile_object(
    data: Mapping[object, object], uses: Mapping[str, Node], path: Path
) -> Object:
    members: dict[str, ObjectMember] = {}
    spread: str | None = None
    for key, value in data.items():
        if not isinstance(key, str):
            raise ShapeError((*path, str(key)), "the name of a member is a string")
        here = (*path, key)
        if key == "...":
            node = _compile(value, uses, here)
            if not isinstance(node, Slot):
                raise ShapeError(
                    here, "only a slot can be spread, as in `...: $details`"
                )
            spread = node.name
            continue
        name = key.removesuffix("?")
        if name in members:
            raise ShapeError(
                here,
                f"the member {name!r} is there twice, once with `?` and once without",
            )
        members[name] = ObjectMember(
            name,
            _compile(value, uses, here),
            optional=name != key,
            step=child("", name),
        )
    return Object(tuple(members.values()), spread)


def _compile_string(text: str, path: Path) -> Node:
    if text.startswith("$") and _is_name(text[1:]):
        return Slot(text[1:])
    head, *rest = text.split("$")
    texts = [head]
    slots: list[str] = []
    pieces = iter(rest)
    for piece in pieces:
        if piece == "" and (escaped := next(pieces, None)) is not None:
            texts[-1] += "$" + escaped
            continue
        name, closed, after = piece[1:].partition("}")
        if not piece.startswith("{") or not closed or not _is_name(name):
            raise ShapeError(
                path,
                "a slot is `$name` as the whole string, `${name}` inside one; "
                "a dollar is `$$`",
            )
        if slots and texts[-1] == "":
            raise ShapeError(
                path,
                f"nothing separates ${{{slots[-1]}}} from ${{{name}}}: "
                "they cannot be distinguished",
            )
        slots.append(name)
        texts.append(after)
    return Template(tuple(texts), tuple(slots)) if slots else Literal(texts[0])


def _is_name(text: str) -> bool:
    return text[:1] in _NAME_START and _NAME.issuperset(text)


def _render(
    node: Node,
    slots: Mapping[str, object],
    path: str,
    others: Sequence[Mapping[str, object]] = (),
) -> object:
    match node:
        case Slot(name=name):
            return _value(name, slots, path)
        case Literal(value=value):
            return value
        case Template(texts=texts, slots=names):
            filled = (_text(name, slots, path) for name in names)
            return texts[0] + "".join(
                each + text for each, text in zip(filled, texts[1:], strict=True)
            )
        case Array(item=item):
            further = others if lists_errors(node) else ()
            return [
                _render(item, each, child(path, index))
                for index, each in enumerate((slots, *further))
            ]
        case Object():
            return _render_object(node, slots, path, others)


def _render_object(
    node: Object,
    slots: Mapping[str, object],
    path: str,
    others: Sequence[Mapping[str, object]],
) -> dict[str, object]:
    body: dict[str, object] = {}
    for name, inner, optional, step in node.members:
        if type(inner) is not Slot:
            if not (optional and _vacant(inner, slots)):
                body[name] = _render(inner, slots, path + step, others)
        elif (
            not optional
        ):  # slots are most members; `_render` would take thrice the time
            body[name] = _value(inner.name, slots, path + step)
        elif (value := slots.get(inner.name)) is not None:
            body[name] = value
    extra = slots.get(node.spread) if node.spread is not None else None
    if extra is None:
        return body
    beside = extra if isinstance(extra, Mapping) else None
    if beside is None:
        raise ValueError(
            f"the slot {node.spread!r} is spread, "
            f"so its value has to be an object, not {extra!r}"
        )
    if taken := [member.name for member in node.members if member.name in beside]:
        raise ValueError(
            f"the slot {node.spread!r} is spread "
            f"beside a member that is also called {taken[0]!r}"
        )
    return {**body, **beside}


def _vacant(node: Node, slots: Mapping[str, object]) -> bool:
    """Whether there are slots here or further down, and no place for them can be
    filled.
    """
    places = [place.slots for place in walk(node) if place.slots]
    return bool(places) and all(
        any(slots.get(name) is None for name in names) for names in places
    )


def _value(name: str, slots: Mapping[str, object], path: str) -> object:
    if name not in slots:
        raise MissingSlot(name, path)
    return slots[name]


def _text(name: str, slots: Mapping[str, object], path: str) -> str:
    value = _value(name, slots, path)
    text = scalar_text(value)
    if text is None:
        raise ValueError(
            f"the slot {name!r} stands inside a string, "
            f"so its value has to be a scalar, not {value!r}"
        )
    return text
