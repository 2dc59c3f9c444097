"""The registry of details keys, made of the details that the codes of a document have."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Json, subset

Data = dict[str, Any]


class Details(NamedTuple):
    """The details of a code. ``members``: as the language writes them, or None where they are kept as ``schema``.

    ``flag``: the member whose value is fixed, and its value; ``elsewhere``: keys that are registered and not the code's.
    """

    members: Data | None
    schema: Json
    flag: tuple[str, bool] | None = None
    elsewhere: tuple[str, ...] = ()


def read(variants: Sequence[Json]) -> tuple[Data | None, list[Details]]:
    """What an envelope says of the details of all its codes (None: nothing), and the details of each."""
    field: Data = {}
    first = variants[0].get("type")
    if isinstance(first, list) and all(each.get("type") == first for each in variants):
        field["type"] = first
    with_members = [each for each in variants if each.get("properties")]
    forbid = bool(with_members) and all(
        member.get("additionalProperties") is False for member in with_members
    )
    if forbid:
        field["additional"] = "forbid"
    own = variants[0].get("allOf")
    if (
        isinstance(own, list)
        and len(own) == 1
        and all(each.get("allOf") == own for each in variants)
    ):
        inside = subset.members(own[0]) if set(own[0]) <= {"properties", "required"} else None
        if inside:
            field["properties"] = inside
    bare = all("type" not in each for each in variants)
    if field and "type" not in field and not bare:
        field = {"type": "object", **field}
    return (field if field or bare else None), [
        _one(each, field, forbid, bare) for each in variants
    ]


def _one(schema: Json, field: Json, forbid: bool, bare: bool) -> Details:
    rest = dict(schema)
    if rest.pop("type", None) != (None if bare else field.get("type", "object")):
        return Details(None, schema)
    if "properties" in field:
        rest.pop("allOf")
    elsewhere: tuple[str, ...] = ()
    if forbid:
        rest.pop("additionalProperties", None)
    properties = rest.get("properties", {})
    if not isinstance(properties, Mapping):
        return Details(None, schema)
    if forbid:
        elsewhere = tuple(name for name, each in properties.items() if each is True)
        properties = {name: each for name, each in properties.items() if each is not True}
    flag = None
    plain = {}
    for name, each in properties.items():
        fixed = (
            each.get("const")
            if isinstance(each, Mapping) and each.get("type") == "boolean"
            else None
        )
        if isinstance(fixed, bool) and flag is None and "retr" in name.lower():
            flag = (name, fixed)
            each = {key: value for key, value in each.items() if key != "const"}
        plain[name] = each
    known = rest.keys() <= {"properties", "required", "description"}
    members = (
        subset.members({"properties": plain, "required": rest.get("required", [])})
        if known
        else None
    )
    if (
        members is None
        or not all(_name(key) for key in members)
        or rest.get("description") is not None
    ):
        return Details(None, schema, elsewhere=elsewhere)
    return Details(members, schema, flag, elsewhere)


def _name(key: str) -> bool:
    return key.removesuffix("?").isidentifier() and key.isascii()


def register(codes: Mapping[Any, Details]) -> tuple[Data, dict[Any, Data]]:
    """The registry, and the members of each code with what the registry says left out.

    A key is registered where it is the same in every code, and where a body shows that it must be.
    """
    uses: dict[str, list[Data]] = {}
    for each in codes.values():
        for key, data in (each.members or {}).items():
            uses.setdefault(key.removesuffix("?"), []).append(data)
    forced = merged([each.elsewhere for each in codes.values() if each.elsewhere])
    strict = any(each.elsewhere for each in codes.values())
    flags = {each.flag[0] for each in codes.values() if each.flag}
    alike = [name for name, found in uses.items() if all(each == found[0] for each in found)]
    if strict:
        everyone = [each for each in codes.values() if each.members is not None]
        alike = [n for n in alike if n in forced or all(_has(each, n) for each in everyone)]
    always, shown = _everywhere(codes, alike, forced if strict else ())
    order = (
        merged([always, forced])
        if strict
        else [*always, *(name for name in alike if name not in always)]
    )
    registry: Data = {}
    for name in [*order, *(n for n in alike if n not in order)]:
        data = dict(uses[name][0]) if name in alike else {}
        text = data.pop("description", None)
        entry = {**data, **({"summary": text} if text else {})}
        if name in flags:
            entry["role"] = "retriable"
        if name in always:
            entry["everywhere"] = True
        registry[name] = entry
    found = {}
    for code, each in codes.items():
        kept = (
            {}
            if each.members is None
            else {k: v for k, v in each.members.items() if shown.get(code, {}).get(k, True)}
        )
        found[code] = {
            k: {} if k.removesuffix("?") in alike and k.removesuffix("?") in registry else v
            for k, v in kept.items()
        }
    return registry, found


def _has(each: Details, name: str) -> bool:
    return each.members is not None and (name in each.members or f"{name}?" in each.members)


def _everywhere(
    codes: Mapping[Any, Details], alike: Sequence[str], forced: Sequence[str]
) -> tuple[list[str], dict[Any, dict[str, bool]]]:
    """Keys that every code may carry, in the order in which the codes end in them, and which members are left to that."""
    known = {code: each for code, each in codes.items() if each.members is not None}
    if len(known) < 2 or len(known) < len(codes):
        return [], {}
    lists = [list(each.members or {}) for each in known.values()]
    common = [
        key[:-1]
        for key in lists[0]
        if key.endswith("?") and key[:-1] in alike and all(key in each for each in lists)
    ]
    if forced or not common:
        return [], {}
    # The tail that most codes end in gives the order; a code that has another keeps its keys in front of it.
    tails = [
        [key[:-1] for key in each if key[:-1] in common and key.endswith("?")] for each in lists
    ]
    order = max(tails, key=tails.count)
    shown = {}
    for code, each in known.items():
        names = list(each.members or {})
        for cut in range(len(names) + 1):
            before = {key.removesuffix("?") for key in names[:cut]}
            if names[cut:] == [f"{key}?" for key in order if key not in before]:
                shown[code] = {key: index < cut for index, key in enumerate(names)}
                break
    return order, shown


def merged(sequences: Iterable[Sequence[str]]) -> list[str]:
    """One order in which each of the sequences is kept, as far as they agree."""
    found: list[str] = []
    for each in sequences:
        place = 0
        for name in each:
            if name in found:
                place = max(place, found.index(name) + 1)
            else:
                found.insert(place, name)
                place += 1
    return found
