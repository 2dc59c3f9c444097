"""From the bodies of many codes to the one picture of their envelope, and what each code says in it.

The bodies differ only in what a code fixes: its constant, its boundary or domain, its retry flag, its details. Where a
member is the same in all of them it belongs to the picture; where it differs, the way in which it does tells which
slot it is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from faultspec.importers import Json, subset
from faultspec.importers.places import child, steps
from faultspec.importers.rules import NONE, ImportedRules
from faultspec.targets.filters import pascal, snake

Data = dict[str, Any]

#: Names of members that stand for a code, the likelier first.
CODE_NAMES = (
    "code",
    "error_code",
    "errorCode",
    "error",
    "class",
    "errno",
    "type",
    "reason",
    "kind",
    "name",
    "__type",
)

_MESSAGES = ("message", "msg", "error_message", "error_description", "errorMessage", "Message")
_DETAILS = ("details", "data", "meta", "context", "params", "extra", "info")

#: Slots with a meaning of their own; a member of that name without the meaning gets another.
_TAKEN = (
    "code",
    "message",
    "summary",
    "status",
    "retriable",
    "boundary",
    "domain",
    "details",
    "actions",
)


@dataclass(slots=True)
class BodySchema:
    """The body of one code: its schema, and what is found out about the code.

    ``retriable``: the flag that is fixed in it; None where either may stand. ``flagged``: whether there is a flag at all.
    ``details``: the schema of the details, None where they are not seen; ``needed``: whether they must be there.
    """

    wire: str | int
    schema: Json
    rules: ImportedRules = NONE
    retriable: bool | None = None
    flagged: bool = False
    boundaries: list[str] = field(default_factory=list)
    domain: str | None = None
    facts: dict[str, list[str]] = field(default_factory=dict)
    actions: list[str] = field(default_factory=list)
    details: Json | None = None
    needed: bool = False


@dataclass(slots=True)
class Picture:
    """``shape`` and ``fields`` as the language writes them; ``vocabularies`` of the slots whose values codes narrow;
    ``actions``, of which codes suggest some.

    ``lost``: pointers into the schemas of the bodies, with the reason why what stands there is not in the picture.
    """

    shape: Any
    fields: dict[str, Data]
    additional: str
    vocabularies: dict[str, list[str]]
    actions: list[str]
    lost: list[tuple[str, str]]


def fixed(schema: object) -> Any:
    """The one value that a schema allows, None where it allows more."""
    if not isinstance(schema, Mapping):
        return None
    if "const" in schema:
        return schema["const"]
    listed = schema.get("enum")
    return listed[0] if isinstance(listed, list) and len(listed) == 1 else None


def values(schema: object) -> list[str | int]:
    """The texts and numbers that a schema lists; empty where it lists none, or something else too."""
    if not isinstance(schema, Mapping):
        return []
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(listed, list) or not listed:
        return []
    return (
        listed
        if all(isinstance(e, str | int) and not isinstance(e, bool) and e != "" for e in listed)
        else []
    )


def listing(schema: object, pointer: str = "", depth: int = 4) -> dict[str, list[str | int]]:
    """The places in a body, at most ``depth`` objects deep, whose values are listed, as JSON Pointers into the body."""
    found: dict[str, list[str | int]] = {}
    if listed := values(schema):
        found[pointer] = listed
    if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping) and depth:
        for name, each in schema["properties"].items():
            found |= listing(each, child(pointer, name), depth - 1)
    return found


def code_place(
    bodies: Sequence[Json], names: Sequence[str | None], discriminator: str | None
) -> str | None:
    """Where the code stands in all of these bodies, as a pointer; None where no member stands for one.

    ``names``: what the document calls each body. Of several members that tell the bodies apart the one counts whose
    values are the names; else the one that is called like a code.
    """
    listed = [listing(body) for body in bodies]
    common = (
        [place for place in listed[0] if all(place in each for each in listed)] if listed else []
    )
    if discriminator is not None and child("", discriminator) in common:
        return child("", discriminator)
    if len(bodies) == 1:
        called = [each for each in common if steps(each)[-1:] and steps(each)[-1] in CODE_NAMES]
        named = [each for each in common if each and _echoed(listed[0][each], names[0])]
        return min(named or called, key=lambda each: (_rank(each), each.count("/")), default=None)
    told = {place: _told([each[place] for each in listed]) for place in common if place}
    most = max(told.values(), default=0)
    if most < 2:
        return None
    best = [place for place, count in told.items() if count == most]

    def order(place: str) -> tuple[int, int, int]:
        echoed = sum(_echoed(each[place], name) for each, name in zip(listed, names, strict=True))
        return -echoed, _rank(place), place.count("/")

    return min(best, key=order)


def _told(listed: Sequence[Sequence[str | int]]) -> int:
    """How many bodies their values tell apart; none where two bodies share some of the values they list."""
    every = [str(value) for each in listed for value in each]
    return (
        len(set(every))
        if len(set(every)) == len(every) or all(len(each) == 1 for each in listed)
        else 0
    )


def _rank(place: str) -> int:
    last = steps(place)[-1] if place else ""
    return CODE_NAMES.index(last) if last in CODE_NAMES else len(CODE_NAMES)


def _echoed(listed: Sequence[str | int], name: str | None) -> bool:
    return name is not None and len(listed) == 1 and name.endswith(pascal(str(listed[0])) or " ")


def draw(bodies: Sequence[BodySchema], place: str) -> Picture:
    """The picture of the bodies whose code stands at ``place``; what each code says is noted in its body."""
    artist = _Artist(bodies, place)
    shape = artist.node("", [body.schema for body in bodies])
    for slot, schema in list(artist.fields.items()):
        if not schema:
            del artist.fields[slot]
    needs = set(artist.used) - {"code"} - _UNDECLARED
    fields = {
        slot: artist.fields.get(slot, {})
        for slot in artist.used
        if slot in artist.fields or slot in needs
    }
    return Picture(
        shape, fields, artist.additional, artist.vocabularies, artist.actions, artist.lost
    )


#: Slots that an envelope may have without a field.
_UNDECLARED = frozenset({*_TAKEN, "request_id"})


#: What the objects on the way to the code may say.
_OF_BODIES = frozenset(
    {"title", "description", "deprecated", "type", "properties", "required", "additionalProperties"}
)


class _Artist:
    def __init__(self, bodies: Sequence[BodySchema], place: str) -> None:
        self.bodies = bodies
        self.place = place
        self.fields: dict[str, Data] = {}
        self.used: dict[str, list[Any]] = {}
        self.vocabularies: dict[str, list[str]] = {}
        self.actions: list[str] = []
        self.lost: list[tuple[str, str]] = []
        self.additional = "warn"
        self.status = next(
            (body.rules.status for body in bodies if body.rules.status is not None), None
        )

    def _lose(self, at: str, reason: str, keyword: str = "") -> None:
        """Note that something of what stands at a place of the bodies is not in the picture."""
        place = "".join(
            "/items" if each == "0" else f"/properties/{each}" for each in at.split("/")[1:]
        )
        self.lost.append((f"{place}/{keyword}" if keyword else place, reason))

    def node(self, at: str, variants: list[Any]) -> Any:
        """The picture of what stands at a pointer, which looks like ``variants`` in the bodies."""
        if at == self.place:
            self.used["code"] = variants
            return "$code"
        if self.place.startswith(f"{at}/"):
            return self._object(at, variants)
        return self._leaf(at, variants)

    def _object(self, at: str, variants: list[Any]) -> Data:
        properties = [each.get("properties", {}) for each in variants]
        required = [each.get("required", []) for each in variants]
        if at == "" and all(each.get("additionalProperties") is False for each in variants):
            self.additional = "forbid"
        for keyword in dict.fromkeys(
            key for each in variants for key in each if key not in _OF_BODIES
        ):
            self._lose(at, "a taxonomy has no word for it here", keyword)
        closed = [each.get("additionalProperties", True) for each in variants]
        if (
            any(each is not True and each is not False for each in closed)
            or len({str(each) for each in closed}) > 1
        ):
            self._lose(
                at, "an envelope is open or closed, for all its codes alike", "additionalProperties"
            )
        members = self._members(at, properties, required)
        shape: Data = {}
        for name in members:
            here = child(at, name)
            inside = self.node(here, [property_[name] for property_ in properties])
            must = [name in each for each in required]
            optional = not all(must)
            if inside == "$details":
                for body, needed in zip(self.bodies, must, strict=True):
                    body.needed = body.needed or (needed and optional)
            elif optional and any(must):
                self._lose(here, "some codes must carry it and others need not; here all need not")
            shape[f"{name}?" if optional else name] = inside
        spread = any(set(property_) - set(members) for property_ in properties)
        if spread:
            shape["..."] = "$details"
            self.used["details"] = []
            for body, schema in zip(self.bodies, variants, strict=True):
                body.details = _without(schema, members)
        return shape

    def _members(self, at: str, properties: list[Any], required: list[Any]) -> list[str]:
        """The members that belong to the picture; others are details, spread beside them.

        Where details are spread their members come first in a schema, and last among those that are required; what none
        requires and each code has in its own way is one of them.
        """
        names = [list(property_) for property_ in properties]
        first = names[0]
        code = steps(self.place)[len(steps(at))]
        same = all(set(each) == set(first) for each in names)
        tail = first if same else _common_end(names)
        if code in tail:
            beside = [
                index
                for index, name in enumerate(tail[: tail.index(code)])
                if any(
                    name in each and code in each and each.index(name) > each.index(code)
                    for each in required
                )
                or (
                    all(name not in each for each in required)
                    and any(p[name] != properties[0][name] for p in properties)
                )
            ]
            return tail[1 + max(beside, default=-1) :]
        # Another hand's order: what all bodies have is the picture.
        return [name for name in first if all(name in each for each in names)]

    def _leaf(self, at: str, variants: list[Any]) -> Any:
        name = steps(at)[-1]
        first = variants[0]
        same = all(each == first for each in variants)
        alone = (
            first["const"]
            if same and isinstance(first, Mapping) and set(first) == {"const"}
            else {}
        )
        if not isinstance(alone, dict | list) and not (
            isinstance(alone, bool) and "retr" in name.lower()
        ):
            return alone.replace("$", "$$") if isinstance(alone, str) else alone
        if (flag := self._flag(name, variants)) is not None:
            return flag
        if not same and (text := self._template(variants)) is not None:
            return text
        if (term := self._term(variants)) is not None:
            return term
        objects = [isinstance(each, Mapping) and _is_object(each) for each in variants]
        if (
            any(objects) if name in _DETAILS else all(objects) and not same
        ) and "details" not in self.used:
            alike = all(
                set(each.get("properties", {})) == set(first.get("properties", {}))
                for each in variants
            )
            if name in _DETAILS or not alike:
                self.used["details"] = variants
                for body, schema in zip(self.bodies, variants, strict=True):
                    body.details = schema
                return "$details"
        listed = (
            same
            and isinstance(first, Mapping)
            and first.get("type") == "array"
            and subset.value(first)
        )
        if name in _DETAILS and listed and "details" not in self.used:
            self.used["details"] = variants
            self.fields["details"] = listed
            return "$details"
        if not same and (suggested := self._suggested(variants)) is not None:
            return suggested
        if not same and (narrowed := self._narrowed(name, variants)) is not None:
            return narrowed
        if not same and all(objects):
            return self._nested(at, variants)
        if not same:
            self._lose(at, "it differs from code to code in a way that a taxonomy has no word for")
            return self._slot(name, {})
        if (
            isinstance(first, Mapping)
            and set(first) == {"type", "minItems", "items"}
            and first["minItems"] == 1
        ):
            return [self.node(child(at, 0), [first["items"]] * len(variants))]
        data = subset.value(first)
        if data is None:
            if all(objects) and set(first) <= {
                "type",
                "properties",
                "required",
                "additionalProperties",
            }:
                return self._nested(at, variants)
            self._lose(at, "its schema is outside the subset of the language")
            kind = first.get("type") if isinstance(first, Mapping) else None
            data = subset.value({"type": kind} if kind else {}) or {}
        return self._slot("status" if self.status == at else name, data)

    def _nested(self, at: str, variants: list[Any]) -> Any:
        names = [set(each.get("properties", {})) for each in variants]
        if any(each != names[0] for each in names) or not names[0]:
            self._lose(at, "it differs from code to code in a way that a taxonomy has no word for")
            return self._slot(steps(at)[-1], {"type": "object"})
        shape: Data = {}
        for name in variants[0]["properties"]:
            must = [name in each.get("required", []) for each in variants]
            if any(must) and not all(must):
                self._lose(
                    child(at, name),
                    "some codes must carry it and others need not; here all need not",
                )
            inside = self.node(child(at, name), [each["properties"][name] for each in variants])
            shape[name if all(must) else f"{name}?"] = inside
        return shape

    def _slot(self, name: str, data: Data) -> str:
        """A slot for a member, declared with its schema unless it is what everybody takes it for."""
        if name in _MESSAGES and data.get("type") == "string" and "message" not in self.used:
            slot = "message"
        elif name == "status" and data == {"type": "integer"}:
            slot = "status"
        else:
            slot = re.sub(r"[^a-z0-9_]", "_", snake(name)) or "member"
            slot = f"{slot}_value" if slot in _TAKEN else f"_{slot}" if slot[0].isdigit() else slot
        base, number = slot, 1
        while slot in self.used and self.used[slot] != [data]:
            number += 1
            slot = f"{base}_{number}"
        self.used[slot] = [data]
        default = {"message": {"type": "string"}, "status": {"type": "integer"}}.get(slot)
        if data != default:
            self.fields[slot] = data
        return f"${slot}"

    def _flag(self, name: str, variants: list[Any]) -> str | None:
        """The retry flag: a boolean that some codes fix, or one that is called like it."""
        known = [fixed(each) for each in variants]
        plain = [each for each, value in zip(variants, known, strict=True) if value is None]
        if not all(value is None or isinstance(value, bool) for value in known):
            return None
        if any(
            each.get("type") != "boolean" for each in plain if isinstance(each, Mapping)
        ) or plain != plain[:1] * len(plain):
            return None
        if all(value is None for value in known) and "retr" not in name.lower():
            return None
        if "retriable" in self.used and self.used["retriable"] != known:
            return None
        data = subset.value(plain[0]) if plain else {"type": "boolean"}
        if data is None:
            return None
        self.used["retriable"] = known
        if data != {"type": "boolean"}:
            self.fields["retriable"] = data
        for body, value in zip(self.bodies, known, strict=True):
            body.flagged, body.retriable = True, value
        return "$retriable"

    def _template(self, variants: list[Any]) -> str | None:
        """A text that holds the code, as in ``https://errors.example.com/${code}``."""
        texts = [
            fixed(each) if isinstance(each, Mapping) and set(each) == {"const"} else None
            for each in variants
        ]
        if not all(isinstance(each, str) for each in texts):
            return None
        parts = {
            tuple(str(text).split(str(body.wire), 1))
            for text, body in zip(texts, self.bodies, strict=True)
        }
        if len(parts) == 1 and len(both := next(iter(parts))) == 2:
            return "${code}".join(each.replace("$", "$$") for each in both)
        return None

    def _term(self, variants: list[Any]) -> str | None:
        """The boundary (some of a list of names) or the domain (one name) of each code."""
        listed = [[str(v) for v in values(each) if isinstance(v, str)] for each in variants]
        bare = [
            isinstance(each, Mapping) and set(each) in ({"enum"}, {"const"}) for each in variants
        ]
        if not any(bare) or not all(
            b or each == {"type": "string"} for b, each in zip(bare, variants, strict=True)
        ):
            return None
        if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", v) for each in listed for v in each):
            return None
        if "boundary" not in self.used and any("enum" in each for each in variants):
            self.used["boundary"] = listed
            for body, terms in zip(self.bodies, listed, strict=True):
                body.boundaries = terms
            return "$boundary"
        if "domain" not in self.used and all(len(each) <= 1 for each in listed):
            self.used["domain"] = listed
            for body, terms in zip(self.bodies, listed, strict=True):
                body.domain = terms[0] if terms else None
            return "$domain"
        return None

    def _narrowed(self, name: str, variants: list[Any]) -> str | None:
        """A text from a vocabulary of which codes allow some terms only."""
        rest = [
            {k: v for k, v in each.items() if k != "enum"} if isinstance(each, Mapping) else {}
            for each in variants
        ]
        listed = [values(each) for each in variants]
        if (
            any(each != rest[0] for each in rest)
            or not all(listed)
            or subset.value(rest[0]) is None
        ):
            return None
        if not all(
            isinstance(v, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]*", v)
            for each in listed
            for v in each
        ):
            return None
        terms = list(
            dict.fromkeys(str(v) for each in sorted(listed, key=len, reverse=True) for v in each)
        )
        slot = self._slot(name, {**(subset.value(rest[0]) or {}), "vocabulary": ""})[1:]
        self.fields[slot]["vocabulary"] = slot
        self.vocabularies[slot] = terms
        for body, each in zip(self.bodies, listed, strict=True):
            if each != terms:
                body.facts[slot] = [str(v) for v in each]
        return f"${slot}"

    def _suggested(self, variants: list[Any]) -> str | None:
        """Actions: a list of terms of which some codes allow some only."""
        listed = []
        for each in variants:
            match each:
                case {"type": "array", "items": {"type": "string", "enum": [*terms], **more}} if (
                    not more
                ):
                    listed.append([str(term) for term in terms])
                case _:
                    return None
        rest = [{key: value for key, value in each.items() if key != "items"} for each in variants]
        data = subset.value(rest[0])
        if "actions" in self.used or data is None or any(each != rest[0] for each in rest):
            return None
        if not all(
            re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", term) for each in listed for term in each
        ):
            return None
        self.used["actions"] = listed
        self.actions = list(
            dict.fromkeys(term for each in sorted(listed, key=len, reverse=True) for term in each)
        )
        if len(rest[0]) > 1:
            self.fields["actions"] = {**data, "items": {"type": "string", "vocabulary": "actions"}}
        for body, each in zip(self.bodies, listed, strict=True):
            body.actions = [] if each == self.actions else each
        return "$actions"


def _common_end(lists: list[list[str]]) -> list[str]:
    end: list[str] = []
    for each in zip(*(reversed(one) for one in lists), strict=False):
        if len(set(each)) > 1:
            break
        end.insert(0, each[0])
    return end


def _is_object(schema: Json) -> bool:
    types = schema.get("type", "object" if "properties" in schema else None)
    return types == "object" or (isinstance(types, list) and "object" in types)


def _without(schema: Json, members: Sequence[str]) -> Json:
    """The schema of what is spread: the body without the members of the picture."""
    properties = {
        name: each for name, each in schema.get("properties", {}).items() if name not in members
    }
    required = [name for name in schema.get("required", []) if name in properties]
    found: Data = {"type": "object"}
    if properties:
        found["properties"] = properties
    if required:
        found["required"] = required
    if "additionalProperties" in schema:
        found["additionalProperties"] = schema["additionalProperties"]
    return found
