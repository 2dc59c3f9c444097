"""`extends`: an overlay extends a base taxonomy where the base allows it.

A base is a file, named by its path, or by `package:name/path` in an installed package. Nothing is
fetched or imported, and a file that leaves the repository or the package is refused. The base lists
paths under `extensible`: an overlay may add to mappings there, and replace other values. Lists are
replaced whole. What a ruling of the base decided, and `allows` to decide otherwise, an overlay
replaces under `overrides`, with its reason. The overlay has its own header. If a base has a base,
each of them protects the paths that it does not list, whatever the ones between allow.
"""

import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any, NamedTuple

from faultspec.language.grammar import GrammarProblem, Path

#: Keys that an overlay never inherits.
OWN = ("faultspec", "taxonomy", "extends", "extensible")

OVERRIDES = "overrides"

DEEPEST = 8
"""The longest chain of bases; beyond it, nobody knows the origin of a value."""


class BaseFile(NamedTuple):
    """The file of a base. It and its bases lie in ``root``, or are refused."""

    file: str
    root: str

    @property
    def is_inside(self) -> bool:
        """Whether the file lies in the root, links followed."""
        return File(os.path.realpath(self.file)).is_relative_to(os.path.realpath(self.root))


def locate_base(name: str, overlay: str, root: str | None) -> BaseFile | None:
    """The file of `extends: name` in the file `overlay`; None if its package is not installed.

    ``root``: the folder of the package that has the overlay; None if it is not in a package.
    Nothing of the package is imported, nor of those above it.
    """
    if not name.startswith("package:"):
        file = os.path.normpath(os.path.join(os.path.dirname(overlay), name))
        return BaseFile(file, root or find_root(overlay))
    package, _, inner = name.removeprefix("package:").partition("/")
    top, *below = package.split(".")
    inside = File(inner)
    if not all(map(str.isidentifier, (top, *below))) or inside.is_absolute():
        return None
    if ".." in inside.parts:
        return None
    try:
        spec = importlib.util.find_spec(top)  # without a dot in the name nothing is imported
    except (ImportError, ValueError):
        return None
    folders = [] if spec is None else [*(spec.submodule_search_locations or ())]
    found = [BaseFile(str(File(folder, *below) / inside), folder) for folder in folders]
    return next((base for base in found if os.path.lexists(base.file)), (*found, None)[0])


def find_root(overlay: str) -> str:
    """The folder that the bases of a file must not leave.

    It is the nearest folder above the file with `.git`, or else with `faultspec.yaml`. Without
    both it is the working directory if it has the file, or else the folder of the file.
    """
    folder = File(os.path.realpath(overlay)).parent
    above = (folder, *folder.parents)
    for mark in (".git", "faultspec.yaml"):
        for place in above:
            if os.path.lexists(place / mark):
                return str(place)
    here = File(os.path.realpath(os.curdir))
    return str(here if here in above and here != here.parent else folder)


def is_taxonomy_text(text: str) -> bool:
    """Whether a text has the key that every taxonomy has; of others nothing is shown."""
    return re.search(r"""(?m)^[ \t]*\{?[ \t]*["']?faultspec["']?[ \t]*:""", text) is not None


def merge_layers(
    base: dict[str, Any], overlay: dict[str, Any]
) -> tuple[dict[str, Any], list[GrammarProblem]]:
    """The merged data, in the base's order with new entries last, and the forbidden changes."""
    extensible = [_steps(path) for path in base.get("extensible", ()) if isinstance(path, str)]
    merger = _Merger(extensible, base.get("rulings"))
    merged = {name: overlay[name] for name in OWN if name in overlay}
    below, above = (
        {name: value for name, value in layer.items() if name not in (*OWN, OVERRIDES)}
        for layer in (base, overlay)
    )
    merged.update(merger.merge(below, above, ()))
    overrides = _mapping(overlay.get(OVERRIDES))
    for path, override in overrides.items():
        if isinstance(path, str) and isinstance(override, dict) and "value" in override:
            merged = merger.override(merged, _steps(path), override["value"])
    inherited = _mapping(base.get(OVERRIDES))
    if OVERRIDES in overlay and not isinstance(overlay[OVERRIDES], dict):
        merged[OVERRIDES] = overlay[OVERRIDES]
    elif inherited or OVERRIDES in overlay:
        merged[OVERRIDES] = {**inherited, **overrides}
    return merged, merger.problems


def moved_paths(overlay: dict[str, Any]) -> dict[Path, Path]:
    """The places in an overlay of the values that its `overrides` give, by their paths."""
    return {
        _steps(path): (OVERRIDES, path, "value")
        for path in _mapping(overlay.get(OVERRIDES))
        if isinstance(path, str)
    }


def allowing_rulings(rulings: object, path: tuple[str, ...]) -> tuple[str, ...]:
    """The rulings that allow an overlay to decide the value at a path otherwise."""
    return tuple(
        name
        for name, ruling in _mapping(rulings).items()
        for pattern in _texts_of(_mapping(ruling).get("allows"))
        if _matches(_steps(pattern), path[: len(_steps(pattern))])
    )


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def _mapping(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _texts_of(value: object) -> list[str]:
    """The texts of a list, or of one text."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str)]


def _matches(pattern: tuple[str, ...], path: Path) -> bool:
    return len(pattern) == len(path) and all(
        step in ("*", part) for step, part in zip(pattern, path, strict=True)
    )


class _Merger:
    """Merges two layers. `extensible`: the paths where the upper layer may change the base.
    `rulings`: those of the base, which allow overrides.
    """

    def __init__(self, extensible: list[tuple[str, ...]], rulings: object) -> None:
        self.extensible = extensible
        self.rulings = rulings
        self.problems: list[GrammarProblem] = []

    def merge(
        self, base: dict[str, Any], overlay: dict[str, Any], path: Path
    ) -> Iterator[tuple[str, Any]]:
        for name, value in base.items():
            at = (*path, name)
            if name not in overlay or overlay[name] == value:
                yield name, value
            elif isinstance(value, dict) and isinstance(overlay[name], dict):
                yield name, dict(self.merge(value, overlay[name], at))
            else:
                if not self._allows(at):
                    self._forbid(at, f"the base does not allow changing {_dotted_path(at)}")
                yield name, overlay[name]
        for name, value in overlay.items():
            if name not in base:
                at = (*path, name)
                if not self._allows(path) and not self._allows(at):
                    where = _dotted_path(path) if path else "the document"
                    self._forbid(at, f"the base does not allow adding `{name}` to {where}")
                yield name, value

    def override(
        self, data: dict[str, Any], path: tuple[str, ...], value: object
    ) -> dict[str, Any]:
        """The data with another value at a path; unchanged, with a problem, if it has none."""
        at: Path = (OVERRIDES, ".".join(path))
        above: Any = data
        for depth, step in enumerate(path[:-1], 1):
            above = above.get(step) if isinstance(above, dict) else None
            if not isinstance(above, dict):
                message = f"the base has no {_dotted_path(path[:depth])}"
                hint = "correct the path, or remove the override"
                self.problems.append(
                    GrammarProblem("dangling-reference", at, message, hint, on_key=True)
                )
                return data
        is_new = path[-1] not in above
        is_listed = self._allows(path) or (is_new and self._allows(path[:-1]))
        if not is_listed and not allowing_rulings(self.rulings, path):
            self._forbid_override(at, path, data)
        return _replace_at(data, path, value)

    def _forbid_override(self, at: Path, path: tuple[str, ...], data: dict[str, Any]) -> None:
        """Report an override that the base does not allow, with the ruling that decided."""
        message = f"the base does not allow deciding {_dotted_path(path)} otherwise"
        ruling = next(iter(_deciding_rulings(data, path)), None)
        hint = "leave it out, or list the path under `extensible` in the base"
        if ruling is not None:
            decision = _mapping(_mapping(self.rulings).get(ruling)).get("decision", "")
            message = f"{message}; the ruling `{ruling}` decided: {decision}".rstrip(": .")
            hint = f"leave it out, or list the path under `allows` of `{ruling}` in the base"
        self.problems.append(GrammarProblem("not-extensible", at, message, hint, on_key=True))

    def _allows(self, path: Path) -> bool:
        return any(_matches(pattern, path) for pattern in self.extensible)

    def _forbid(self, path: Path, message: str) -> None:
        hint = "leave it out, or list it under `extensible` in the base"
        rulings = allowing_rulings(self.rulings, tuple(map(str, path)))
        if rulings:
            hint = (
                f"the ruling `{rulings[0]}` allows it: write it under `overrides`, as "
                f"`{'.'.join(map(str, path))}: {{value: …, reason: …}}`"
            )
        self.problems.append(GrammarProblem("not-extensible", path, message, hint))


def _replace_at(data: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    first, *rest = path
    inner = _replace_at(_mapping(data.get(first)), tuple(rest), value) if rest else value
    return {**data, first: inner}


def _deciding_rulings(data: object, path: tuple[str, ...]) -> list[str]:
    """The rulings that the constructs around a path name as their source, the innermost first."""
    around = [_mapping(data)]
    for step in path:
        around.append(_mapping(around[-1].get(step)))
    sources = (_mapping(construct.get("source")) for construct in reversed(around))
    return [name for source in sources for name in _texts_of(source.get("ruling"))]


def _dotted_path(path: Path) -> str:
    return f"`{'.'.join(map(str, path))}`"
