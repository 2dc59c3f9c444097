"""What stands around an error: its renderings, its record, where contracts are published, and how callers walk."""

import re
from collections.abc import Iterator

from faultspec.language.grammar import Path, closest
from faultspec.language.model import (
    Audit,
    ImportedCodes,
    Lookup,
    Navigation,
    Publication,
    Rendering,
)
from faultspec.language.schemas import members
from faultspec.language.scope import Data, Known, Scope
from faultspec.language.wire import WELL_KNOWN_SLOTS

_PARAMETER = re.compile(r"\$\$|\$\{([a-z_][a-z0-9_.]*)\}|\$([a-z_][a-z0-9_]*)")


def imported(scope: Scope, data: Data) -> ImportedCodes:
    """The form of imported codes; none that is declared by hand may have it."""
    pattern = data["pattern"]
    form = re.compile(re.escape(pattern).replace(re.escape("${status}"), r"\d{3}"))
    for name in scope.names("codes") or ():
        if form.fullmatch(name):
            message = f"`{name}` has the form of imported codes, `{pattern}`"
            hint = "give the code a name that says what went wrong"
            scope.wrong(("codes", name), "reserved-code", message, hint, on_key=True)
    return ImportedCodes(
        pattern, data.get("retriable", False), scope.source(data.get("source"), ("imported",))
    )


def rendering(scope: Scope, name: str, data: Data, slots: Known) -> Rendering:
    """One rendering; its parameters are slots, details and what is given."""
    path: Path = ("renderings", name)
    given = data.get("given", {})
    details = scope.names("detail_keys")
    known = None if slots is None else tuple(dict.fromkeys((*given, *slots, *WELL_KNOWN_SLOTS)))
    for at, parameter in parameters(data["shape"], (*path, "shape")):
        if parameter.startswith("details."):
            scope.refer(parameter.removeprefix("details."), details, "detail key", at)
        else:
            scope.refer(parameter, known, "slot or given value", at)
    return Rendering(
        name, data["shape"], given, data.get("summary"), scope.source(data.get("source"), path)
    )


def parameters(picture: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Every parameter of a picture, with the place of the text that has it."""
    if isinstance(picture, dict):
        for key, each in picture.items():
            yield from parameters(each, (*path, key))
    elif isinstance(picture, list):
        for index, each in enumerate(picture):
            yield from parameters(each, (*path, index))
    elif isinstance(picture, str):
        for braced, plain in _PARAMETER.findall(picture):
            if braced or plain:
                yield path, braced or plain


def audit(scope: Scope, data: Data, slots: Known) -> Audit:
    """The audit contract."""
    path: Path = ("audit",)
    record = members(scope, data["record"], (*path, "record"))
    written = scope.names("audit", "record")
    recorded = None if written is None else tuple(each.removesuffix("?") for each in written)
    for member, meant in data.get("means", {}).items():
        at = (*path, "means", member)
        scope.refer(member, recorded, "member of the record", at, on_key=True)
        if meant.startswith("$"):
            scope.refer(meant[1:], _slots(slots), "slot", at)
        else:
            scope.refer(
                meant.removeprefix("details."), scope.names("detail_keys"), "detail key", at
            )
    if "id" in data:
        scope.refer(data["id"][1:], _slots(slots), "slot", (*path, "id"))
    found = data.get("lookup")
    lookup = (
        Lookup(found["request"], found.get("items", ""), found.get("id"), found.get("order"))
        if found
        else None
    )
    return Audit(
        data.get("id", "")[1:] or None,
        lookup,
        record,
        data.get("means", {}),
        data.get("per", "failure"),
        scope.source(data.get("source"), path),
    )


def publication(scope: Scope, name: str, data: Data) -> Publication:
    """Where one thing is published."""
    path: Path = ("discovery", name)
    for parameter in re.findall(r"\$\{([^}]*)\}?", data["request"]):
        if parameter != "operation":
            message = f"`${{{parameter}}}` is nothing that is known here"
            scope.wrong(
                (*path, "request"),
                "unknown-parameter",
                message,
                closest(parameter, ("operation",)) or "write `${operation}`",
            )
    if data["kind"] == "errors" and "code" not in data.get("item", {}):
        message = f"`{name}` publishes errors and does not say where an item keeps its code"
        scope.wrong(
            path,
            "incomplete",
            message,
            "add `item: {code: /code}`",
            on_key=True,
            needs=((*path, "item"), (*path, "kind")),
        )
    return Publication(
        name,
        data["request"],
        data["kind"],
        data.get("at", ""),
        data.get("item", {}),
        data.get("empty", "list"),
        scope.source(data.get("source"), path),
    )


def navigation(scope: Scope, data: Data, slots: Known) -> Navigation:
    """How callers walk."""
    path: Path = ("navigation",)
    known = scope.names("codes")
    for key in ("refused", "unknown"):
        if key in data:
            scope.refer(data[key], known, "code", (*path, key))
    if "all" in data:
        scope.refer(data["all"][1:], _slots(slots), "slot", (*path, "all"))
    return Navigation(
        data["offers"],
        data["takes"],
        data["refused"],
        data.get("unknown"),
        data.get("all", "")[1:] or None,
        scope.source(data.get("source"), path),
    )


def _slots(slots: Known) -> Known:
    return None if slots is None else tuple(dict.fromkeys((*slots, *WELL_KNOWN_SLOTS)))
