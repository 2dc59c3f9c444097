"""`extends`: a taxonomy laid over another, which says what may be touched.

A base is a file, named by its path or as `package:name/path` inside an installed package; nothing is ever fetched. What
the base names under `extensible` may be added to where it is a mapping, and replaced where it is anything else; all else
is the base's. Lists are replaced whole. The overlay's own header takes the place of the base's. Where bases have bases,
each keeps what it does not name, whatever those between allow.
"""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

from faultspec.language.grammar import GrammarProblem, Path

#: Keys of a document that are never the base's: what the overlay says of itself.
OWN = ("faultspec", "taxonomy", "extends", "extensible")

DEEPEST = 8
"""Bases below one another; whoever stacks more has no idea any more which says what."""


def located(name: str, overlay: str) -> str | None:
    """The file that `extends: name` in the file `overlay` means; None where a package of that name is not installed."""
    if not name.startswith("package:"):
        return os.path.normpath(os.path.join(os.path.dirname(overlay), name))
    package, _, inner = name.removeprefix("package:").partition("/")
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    folders = spec.submodule_search_locations if spec is not None else None
    inside = File(inner)
    if not folders or inside.is_absolute() or ".." in inside.parts:
        return None
    return str(File(next(iter(folders))) / inside)


def laid_over(
    base: dict[str, Any], overlay: dict[str, Any]
) -> tuple[dict[str, Any], list[GrammarProblem]]:
    """The data of both, in the base's order with what is new behind, and what the overlay must not touch."""
    allowed = [
        tuple(each.split(".")) for each in base.get("extensible", ()) if isinstance(each, str)
    ]
    problems: list[GrammarProblem] = []
    merged = {name: overlay[name] for name in OWN if name in overlay}
    below = {name: each for name, each in base.items() if name not in OWN}
    above = {name: each for name, each in overlay.items() if name not in OWN}
    merged.update(_merged(below, above, (), allowed, problems))
    return merged, problems


def _merged(
    base: dict[str, Any],
    overlay: dict[str, Any],
    path: Path,
    allowed: list[tuple[str, ...]],
    problems: list[GrammarProblem],
) -> Iterator[tuple[str, Any]]:
    for name, value in base.items():
        at = (*path, name)
        if name not in overlay or overlay[name] == value:
            yield name, value
        elif isinstance(value, dict) and isinstance(overlay[name], dict):
            yield name, dict(_merged(value, overlay[name], at, allowed, problems))
        else:
            if not _names(allowed, at):
                problems.append(
                    _refused(
                        at, f"`{'.'.join(map(str, at))}` is the base's, and may not be changed here"
                    )
                )
            yield name, overlay[name]
    for name, value in overlay.items():
        if name not in base:
            if not _names(allowed, path) and not _names(allowed, (*path, name)):
                where = f"`{'.'.join(map(str, path))}`" if path else "the document"
                problems.append(
                    _refused((*path, name), f"the base does not allow adding `{name}` to {where}")
                )
            yield name, value


def _names(allowed: list[tuple[str, ...]], path: Path) -> bool:
    """Whether one of the patterns is the path."""
    return any(
        len(each) == len(path)
        and all(step in ("*", at) for step, at in zip(each, path, strict=True))
        for each in allowed
    )


def _refused(path: Path, message: str) -> GrammarProblem:
    return GrammarProblem(
        "not-extensible",
        path,
        message,
        "leave it out, or ask the base to name it under `extensible`",
    )
