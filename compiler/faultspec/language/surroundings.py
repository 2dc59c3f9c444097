"""Renderings, audit records, publications, navigation and imported codes."""

import re

from faultspec.language.grammar import Path, closest
from faultspec.language.model import (
    Audit,
    ImportedCodes,
    Lookup,
    Navigation,
    Publication,
    Rendering,
)
from faultspec.language.pictures import find_parameters
from faultspec.language.schemas import read_members
from faultspec.language.scope import Data, Scope


def read_imported(scope: Scope, data: Data) -> ImportedCodes:
    """The form of imported codes, which no declared code may have."""
    pattern = data["pattern"]
    form = re.compile(re.escape(pattern).replace(re.escape("${status}"), r"\d{3}"))
    for name in scope.names("codes") or ():
        if form.fullmatch(name):
            message = f"`{name}` has the form of imported codes, `{pattern}`"
            hint = "name the code after what went wrong"
            scope.report(("codes", name), "reserved-code", message, hint, on_key=True)
    return ImportedCodes(
        pattern, data.get("retriable", False), scope.source(data.get("source"), ("imported",))
    )


def read_rendering(scope: Scope, name: str, data: Data) -> Rendering:
    """A rendering; its parameters are slots, details and given values."""
    path: Path = ("renderings", name)
    given = data.get("given", {})
    slots = scope.known_slots
    known = None if slots is None else tuple(dict.fromkeys((*given, *slots)))
    for at, parameter in find_parameters(data["shape"], (*path, "shape")):
        if parameter.startswith("details."):
            scope.refer_detail(parameter, at)
        else:
            scope.refer(parameter, known, "slot or given value", at)
    return Rendering(
        name=name,
        picture=data["shape"],
        given=given,
        summary=data.get("summary"),
        source=scope.source(data.get("source"), path),
    )


def read_audit(scope: Scope, data: Data) -> Audit:
    """The audit contract."""
    path: Path = ("audit",)
    declared = scope.names("audit", "record")
    members = None if declared is None else tuple(name.removesuffix("?") for name in declared)
    if "id" in data:
        scope.refer_slot(data["id"], (*path, "id"))
    lookup = data.get("lookup")
    return Audit(
        id=data.get("id", "")[1:] or None,
        lookup=Lookup(
            request=lookup["request"],
            items=lookup.get("items", ""),
            id=lookup.get("id"),
            order=lookup.get("order"),
        )
        if lookup
        else None,
        record=read_members(scope, data["record"], (*path, "record")),
        means=scope.refer_means(data, members, "member of the record", path),
        per=data.get("per", "failure"),
        source=scope.source(data.get("source"), path),
    )


def read_publication(scope: Scope, name: str, data: Data) -> Publication:
    """A place where services publish their errors, actions or documents."""
    path: Path = ("discovery", name)
    for parameter in re.findall(r"\$\{([^}]*)\}?", data["request"]):
        if parameter != "operation":
            message = f"there is no parameter `${{{parameter}}}` here"
            hint = closest(parameter, ("operation",)) or "write `${operation}`"
            scope.report((*path, "request"), "unknown-parameter", message, hint)
    if data["kind"] == "errors" and "code" not in data.get("item", {}):
        scope.report(
            path,
            "incomplete",
            f"`{name}` publishes errors, and the place of the code in an item is missing",
            "add `item: {code: /code}`",
            on_key=True,
            needs=((*path, "item"), (*path, "kind")),
        )
    return Publication(
        name=name,
        request=data["request"],
        kind=data["kind"],
        at=data.get("at", ""),
        item=data.get("item", {}),
        empty=data.get("empty", "list"),
        source=scope.source(data.get("source"), path),
    )


def read_navigation(scope: Scope, data: Data) -> Navigation:
    """The steps that an answer offers, and the codes that refuse others."""
    path: Path = ("navigation",)
    if "all" in data:
        scope.refer_slot(data["all"], (*path, "all"))
    scope.refer_key(data, "refused", "shared code", path)
    return Navigation(
        offers=data["offers"],
        takes=data["takes"],
        refused=data["refused"],
        unknown=scope.refer_key(data, "unknown", "shared code", path),
        all=data.get("all", "")[1:] or None,
        source=scope.source(data.get("source"), path),
    )
