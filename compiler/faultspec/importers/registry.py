"""The registry of details keys, from the details of the codes."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from faultspec.importers import Data, Json, subset
from faultspec.language.constructs.parts import OF_DETAILS

Key = TypeVar("Key")


class Details(NamedTuple):
    """The details of a code.

    ``members``: as the language writes them, or None if they are kept as ``schema``.

    ``flag``: the retry flag among the members, and its fixed value. ``elsewhere``: registered keys
    that the code lacks.
    """

    members: Data | None
    schema: Json
    flag: tuple[str, bool] | None = None
    elsewhere: tuple[str, ...] = ()


def read(variants: Sequence[Json]) -> tuple[Data | None, list[Details]]:
    """The field of an envelope for details, or None, and the details of each of its codes."""
    field: Data = {}
    first = variants[0].get("type")
    if isinstance(first, list) and all(schema.get("type") == first for schema in variants):
        field["type"] = first
    closed = [schema.get("additionalProperties") for schema in variants if schema.get("properties")]
    forbid = bool(closed) and all(additional is False for additional in closed)
    if forbid:
        field["additional"] = "forbid"
    match variants[0].get("allOf"):
        case [shared] as own if (
            all(schema.get("allOf") == own for schema in variants)
            and set(shared) <= {"properties", "required"}
            and (inside := subset.members(shared))
        ):
            field["properties"] = inside
    bare = all("type" not in schema for schema in variants)
    if field and "type" not in field and not bare:
        field = {"type": "object", **field}
    details = [_details(schema, field, forbid=forbid, bare=bare) for schema in variants]
    return (field if field or bare else None), details


def _details(schema: Json, field: Json, *, forbid: bool, bare: bool) -> Details:
    """The details of one code. ``bare``: the schemas have no ``type``."""
    rest = dict(schema)
    if rest.pop("type", None) != (None if bare else field.get("type", "object")):
        return Details(None, schema)
    if "properties" in field:
        rest.pop("allOf")
    properties = rest.get("properties", {})
    if not isinstance(properties, Mapping):
        return Details(None, schema)
    elsewhere: tuple[str, ...] = ()
    if forbid:
        rest.pop("additionalProperties", None)
        elsewhere = tuple(name for name, member in properties.items() if member in (True, {}))
    own = {name: member for name, member in properties.items() if name not in elsewhere}
    flag = next(filter(None, (_fixed_flag(name, member) for name, member in own.items())), None)
    if flag is not None:
        about = {key: value for key, value in own[flag[0]].items() if key != "const"}
        own[flag[0]] = {"type": "boolean", **about}
    members = None
    if rest.keys() <= {"properties", "required", "description"} and rest.get("description") is None:
        members = subset.members({"properties": own, "required": rest.get("required", [])})
    if members is None or not all(map(_is_key, members)):
        return Details(None, schema, elsewhere=elsewhere)
    return Details(members, schema, flag, elsewhere)


def _fixed_flag(name: str, member: object) -> tuple[str, bool] | None:
    """A retry flag whose value is fixed."""
    match member:
        case {"const": bool(value)} if "retr" in name.lower():
            return name, value
    return None


def _is_key(key: str) -> bool:
    return re.fullmatch(OF_DETAILS, key.removesuffix("?")) is not None


def register(codes: Mapping[Key, Details]) -> tuple[Data, dict[Key, Data]]:
    """The registry, and the members of each code with what the registry says left out.

    A key is registered if it is the same in every code, or if a body shows that it is registered.
    """
    uses: dict[str, list[Data]] = {}
    for details in codes.values():
        for key, data in (details.members or {}).items():
            uses.setdefault(key.removesuffix("?"), []).append(data)
    forced = merge_orders([details.elsewhere for details in codes.values() if details.elsewhere])
    alike = [name for name, found in uses.items() if all(data == found[0] for data in found)]
    if forced:
        known = set(forced)
        listing = [details for details in codes.values() if details.members is not None]
        alike = [
            name
            for name in alike
            if name in known or all(_has(details, name) for details in listing)
        ]
    everywhere, shown = _common_keys(codes, alike, forced)
    same, common = frozenset(alike), frozenset(everywhere)
    flags = {details.flag[0] for details in codes.values() if details.flag}
    registry: Data = {}
    for name in dict.fromkeys([*(forced or everywhere), *alike]):
        entry = dict(uses[name][0]) if name in same else {}
        if text := entry.pop("description", None):
            entry["summary"] = text
        if name in flags:
            entry["role"] = "retriable"
        if name in common:
            entry["everywhere"] = True
        registry[name] = entry
    return registry, {
        code: _listed_members(details, same, shown.get(code, {})) for code, details in codes.items()
    }


def _listed_members(details: Details, alike: Set[str], shown: Mapping[str, bool]) -> Data:
    """The members that a code still lists; those of the registry refer to it with ``{}``."""
    return {
        key: {} if key.removesuffix("?") in alike else data
        for key, data in (details.members or {}).items()
        if shown.get(key, True)
    }


def _has(details: Details, name: str) -> bool:
    return details.members is not None and (
        name in details.members or f"{name}?" in details.members
    )


def _common_keys(
    codes: Mapping[Key, Details], alike: Sequence[str], forced: Sequence[str]
) -> tuple[list[str], dict[Key, dict[str, bool]]]:
    """The keys that every code may carry, and for each code, whether it still lists a member.

    The keys have the order of the codes' last members.
    """
    members = {
        code: details.members for code, details in codes.items() if details.members is not None
    }
    if forced or len(members) < max(2, len(codes)):
        return [], {}
    lists = [list(own) for own in members.values()]
    known = set(alike)
    common = [
        key[:-1]
        for key in lists[0]
        if key.endswith("?") and key[:-1] in known and all(key in own for own in members.values())
    ]
    if not common:
        return [], {}
    # Most codes end in the keys of every code, in one order. A code with another order still lists
    # some of them.
    shared = set(common)
    tails = Counter(
        tuple(key[:-1] for key in names if key.endswith("?") and key[:-1] in shared)
        for names in lists
    )
    order = list(tails.most_common(1)[0][0])
    shown: dict[Key, dict[str, bool]] = {}
    for code, own in members.items():
        names = list(own)
        cut = _tail(names, order)
        shown[code] = {key: index < cut for index, key in enumerate(names)}
    return order, shown


def _tail(names: Sequence[str], order: Sequence[str]) -> int:
    """The first index from which the names are the keys in ``order`` that do not precede it."""
    places = {key: index for index, key in enumerate(order)}
    cut, following = len(names), len(order)
    while cut and names[cut - 1].endswith("?"):
        place = places.get(names[cut - 1][:-1], following)
        if place >= following:
            break
        cut, following = cut - 1, place
    return cut


def merge_orders(sequences: Iterable[Sequence[str]]) -> list[str]:
    """One order that keeps the order of each sequence, as far as they agree.

    It is a topological order by a search in depth, which ignores what closes a circle.
    """
    after: dict[str, list[str]] = {}
    for names in sequences:
        for name, following in zip_longest(names, names[1:]):
            after.setdefault(name, [])
            if following is not None:
                after[name].append(following)
    seen: set[str] = set()
    found: list[str] = []
    for first in reversed(after):
        path = [] if first in seen else [first]
        seen.add(first)
        while path:
            following = after[path[-1]]
            if not following:
                found.append(path.pop())
            elif (name := following.pop()) not in seen:
                seen.add(name)
                path.append(name)
    return found[::-1]
