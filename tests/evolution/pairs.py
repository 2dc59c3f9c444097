"""Pairs of taxonomies whose verdicts were written down before the rules: `pairs/*/*.yaml`."""

import copy
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from faultspec.source import parse

PAIRS = Path(__file__).parent / "pairs"


class Pair(NamedTuple):
    """Two texts, and the verdict that the author of the pair expects."""

    id: str
    old: str
    new: str
    severity: str
    categories: frozenset[str]
    breaks: frozenset[str]
    version: str
    reason: str
    today: date


def pairs_of(file: Path) -> Iterator[Pair]:
    """The pairs of a family."""
    family = _data(file.read_text(), file.name)
    for entry in family["pairs"]:
        base = _data(family["base"], file.name)
        old = apply_edits(base, entry.get("old"))
        new = apply_edits(copy.deepcopy(old), entry.get("new"))
        yield Pair(
            id=f"{file.stem}/{entry['id']}",
            old=_text(old, entry.get("old")),
            new=_text(new, entry.get("new")),
            severity=entry["severity"],
            categories=frozenset(entry["categories"]),
            breaks=frozenset(entry["breaks"]),
            version=entry["version"],
            reason=entry["reason"],
            today=date.fromisoformat(str(entry.get("today", "2026-11-23"))),
        )


def _data(text: str, name: str) -> Any:
    """The data of a text in the language's own YAML, which allows keys such as `limit?`."""
    document, diagnostics = parse(text, name)
    assert not diagnostics, [diagnostic.message for diagnostic in diagnostics]
    assert document is not None
    return document.data


def _text(data: Any, edits: object) -> str:
    if isinstance(edits, dict):
        return str(edits["text"])
    return json.dumps(data)


def apply_edits(data: Any, edits: Any) -> Any:
    """The data after the edits of a pair; a text replaces it."""
    if edits is None:
        return data
    if isinstance(edits, dict):
        return _data(edits["text"], "pair.yaml")
    for edit in edits:
        if "set" in edit:
            parent, key = _parent(data, edit["set"])
            if isinstance(parent, list):
                parent[
                    len(parent) if key == "-" else int(key) : int(key) + 1 if key != "-" else None
                ] = [edit["to"]]
            else:
                parent[key] = edit["to"]
        elif "remove" in edit:
            parent, key = _parent(data, edit["remove"])
            del parent[int(key) if isinstance(parent, list) else key]
        elif "move" in edit:
            _move(data, edit["move"], edit["to"])
        else:
            parent, key = _parent(data, edit["first"])
            _move_first(parent, key)
    return data


def _parent(data: Any, pointer: str) -> tuple[Any, Any]:
    *steps, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for step in steps:
        data = data[int(step)] if isinstance(data, list) else data[_key(data, step)]
    return data, (last if isinstance(data, list) else _key(data, last))


def _key(data: dict[Any, Any], step: str) -> Any:
    return next((key for key in data if str(key) == step), step)


def _move(data: Any, old: str, new: str) -> None:
    parent, key = _parent(data, old)
    target, name = _parent(data, new)
    if parent is target and isinstance(parent, dict):
        items = [(name if k == key else k, v) for k, v in parent.items()]
        parent.clear()
        parent.update(items)
    else:
        target[name] = parent.pop(key)


def _move_first(parent: Any, key: Any) -> None:
    if isinstance(parent, list):
        parent.insert(0, parent.pop(int(key)))
    else:
        items = [(key, parent[key]), *((k, v) for k, v in parent.items() if k != key)]
        parent.clear()
        parent.update(items)
