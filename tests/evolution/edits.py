"""Edits of a taxonomy as its author would make them, for tests: what may change of an envelope, a
surface, a code and an operation.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Data = dict[str, Any]
Path = tuple[str | int, ...]


class Edit(NamedTuple):
    """``name``: what was changed, and where."""

    name: str
    data: Data


_OTHERS = {
    "forbid": "allow",
    "allow": "forbid",
    "closed": "open",
    "open": "closed",
    "string": "integer",
    "integer": "string",
    "number": "string",
    "required": "forbidden",
    "optional": "required",
}
"""Another word for a word of the language."""

_MORE: dict[str, tuple[Data, ...]] = {
    "codes": (
        {"wire": "other-value"},
        {"on": {"http": "other-value"}},
        {"http": 418},
        {"headers": {"X-New": "required"}},
        {"headers": {"X-New": "forbidden"}},
        {"details": {"fresh": {"type": "string"}}},
    ),
    "envelopes": (
        {"media_type": "application/other+json"},
        {"additional": "forbid"},
        {"additional": "allow"},
        {"fields": {"message": {"type": "integer"}}},
        {"fields": {"code": {"places": [{"header": "X-New-Code"}]}}},
    ),
    "surfaces": (
        {"headers": {"X-New": "required"}},
        {"headers": {"X-New": "forbidden"}},
        {"error_when": {"status": "5xx"}},
        {"error_when": {"present": "/nothing"}},
        {"at": "/error"},
        {"match": {"routes": ["POST /**"]}},
        {"match": {"headers": {"X-A": "b"}}},
        {"match": {"query": {"a": "b"}}},
        {"codes": "foreign"},
        {"codes": {"closed": "x*"}},
        {"success": {"require": {"/id": {"type": "string"}}}},
        {"requires_details": ["fresh"]},
        {"reason": "Bodies of a proxy pass."},
    ),
    "operations": (
        {"codes": []},
        {"match": {"headers": {"X-A": "b"}}},
        {"match": {"query": {"a": "b"}}},
        {"match": {"routes": ["PATCH /never"]}},
    ),
}
"""Keys that a construct of a section may gain."""

_OF_READERS = frozenset({"faultspec", "taxonomy", "domains", "rulings"})


def edits(data: Data) -> Iterator[Edit]:
    """Every edit of the data of a taxonomy; some are not valid."""
    for path, node in _walk(data, ()):
        if not path or path[0] in _OF_READERS or {"example", "summary", "reason"} & {*path}:
            continue
        place = ".".join(map(str, path))
        if len(path) > 1:
            yield _edit(data, path, f"{place} dropped", _drop)
        if isinstance(path[-1], str) and {"shape", "details"} & {*path[1:-1]}:
            yield _edit(data, path, f"{place} optional or not", _rename(_toggled))
            yield _edit(data, path, f"{place} renamed", _rename("new{}".format))
        for other in _others(node):
            yield _edit(data, path, f"{place} is {other}", _put(other))
        for more in _MORE.get(str(path[0]), ()) if len(path) == 2 else ():
            yield _edit(data, path, f"{place} with {more}", _put({**node, **more}))


def _walk(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, node
    items = node.items() if isinstance(node, dict) else ()
    for key, inner in enumerate(node) if isinstance(node, list) else items:
        yield from _walk(inner, (*path, key))


def _others(node: Any) -> Iterator[Any]:
    if isinstance(node, bool):
        yield not node
    elif isinstance(node, int):
        yield node + 1
    elif isinstance(node, str) and not node.startswith("$"):
        yield _OTHERS.get(node, f"{node}x")
    elif isinstance(node, list) and len(node) > 1:
        yield node[::-1]


def _edit(data: Data, path: Path, name: str, change: Callable[[Any, Any], None]) -> Edit:
    changed: Any = copy.deepcopy(data)
    node = changed
    for step in path[:-1]:
        node = node[step]
    change(node, path[-1])
    return Edit(name, changed)


def _drop(node: Any, key: Any) -> None:
    del node[key]


def _put(value: Any) -> Callable[[Any, Any], None]:
    def change(node: Any, key: Any) -> None:
        node[key] = value

    return change


def _rename(name: Callable[[str], str]) -> Callable[[Any, Any], None]:
    def change(node: Any, key: Any) -> None:
        items = [*node.items()]
        node.clear()
        node.update({name(each) if each == key else each: value for each, value in items})

    return change


def _toggled(name: str) -> str:
    return name.removesuffix("?") if name.endswith("?") else f"{name}?"
