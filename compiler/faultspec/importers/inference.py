"""The walk over the bodies of many codes that infers the shape of their envelope."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from faultspec.importers import Data, Json, subset
from faultspec.importers.bodies import CodedBody
from faultspec.importers.naming import slot_name
from faultspec.importers.pictures import message_place
from faultspec.language.scope import WELL_KNOWN_SLOTS
from faultspec.openapi.pointers import child, steps

#: Slots that an envelope may have without a field.
WITHOUT_FIELD = frozenset(WELL_KNOWN_SLOTS)

#: Slots with a meaning of their own. A member of that name without the meaning gets another slot.
_RESERVED = WITHOUT_FIELD - {"request_id"}

#: Slots whose field is not written if it is this.
_DEFAULTS: Mapping[str, Data] = {"message": {"type": "string"}, "status": {"type": "integer"}}

#: Keywords of the objects on the way to the code.
_OF_BODIES = frozenset(
    {"title", "description", "deprecated", "type", "properties", "required", "additionalProperties"}
)
_OF_NESTED = frozenset({"type", "properties", "required", "additionalProperties"})

_DIFFERS = "it differs from code to code in a way that a taxonomy cannot express"
_SOMETIMES_REQUIRED = "it is required for some codes only; here it is optional for all"


@dataclass(slots=True)
class CodeFacts:
    """The values that one code fixes in its body.

    ``flagged``: the body has a retry flag. ``retriable``: its fixed value, None if both are
    allowed. ``details``: the schema of the details, None if there is no place for them.
    """

    retriable: bool | None = None
    flagged: bool = False
    boundaries: list[str] = field(default_factory=list)
    domain: str | None = None
    terms: dict[str, list[str]] = field(default_factory=dict)
    actions: list[str] = field(default_factory=list)
    details: Json | None = None
    details_required: bool = False


class InferredEnvelope(NamedTuple):
    """``shape`` and ``fields`` as the language writes them, and the facts of each body, in order.

    ``vocabularies``: of the slots that codes narrow. ``actions``: those that codes suggest.
    ``losses``: pointers into the schemas of the bodies, with the reason why the envelope lacks what
    is there.
    """

    shape: Any
    fields: dict[str, Data]
    additional: str
    vocabularies: Mapping[str, list[str]]
    actions: list[str]
    facts: list[CodeFacts]
    losses: list[tuple[str, str]]


class Variants(NamedTuple):
    """The schemas of one member in all bodies. ``same``: they are equal."""

    pointer: str
    schemas: list[Any]
    same: bool

    @property
    def name(self) -> str:
        """The name of the member."""
        return steps(self.pointer)[-1]

    @property
    def first(self) -> Any:
        """The schema in the first body."""
        return self.schemas[0]

    @property
    def objects(self) -> list[bool]:
        """For each schema, whether it is of an object."""
        return [_is_object(schema) for schema in self.schemas]


class Inference:
    """The envelope as far as it is inferred. ``used``: the slots, each with what it was made of.
    ``message``: the name of the member that is likeliest to be the message.

    ``recognizers``: the first that returns a slot for a member decides.
    """

    def __init__(
        self, bodies: Sequence[CodedBody], code_pointer: str, recognizers: Sequence["Recognizer"]
    ) -> None:
        self.bodies = bodies
        self.code_pointer = code_pointer
        self.recognizers = recognizers
        self.facts = [CodeFacts() for _ in bodies]
        self.fields: dict[str, Data] = {}
        self.used: dict[str, list[Any]] = {}
        self.vocabularies: dict[str, list[str]] = {}
        self.actions: list[str] = []
        self.losses: list[tuple[str, str]] = []
        self.additional = "warn"
        places = (body.rules.status for body in bodies)
        places_of_message = (message_place(body.schema) for body in bodies)
        self.message = next((place[-1] for place in places_of_message if place), None)
        self.status_pointer = next((place for place in places if place is not None), None)

    def lose(self, pointer: str, reason: str, keyword: str = "") -> None:
        """Record that the schema at a pointer of the bodies, or a keyword of it, is not carried."""
        place = "".join(
            "/items" if step == "0" else f"/properties/{step}" for step in pointer.split("/")[1:]
        )
        self.losses.append((f"{place}/{keyword}" if keyword else place, reason))

    def node(self, pointer: str, schemas: list[Any]) -> Any:
        """The shape of the member at a pointer, which has these schemas in the bodies."""
        if pointer == self.code_pointer:
            self.used["code"] = schemas
            return self._infer_code(schemas)
        if self.code_pointer.startswith(f"{pointer}/"):
            if all(schema.get("type") == "array" for schema in schemas):
                return [self.node(child(pointer, 0), [schema["items"] for schema in schemas])]
            return self._infer_around_code(pointer, schemas)
        same = all(schema == schemas[0] for schema in schemas)
        return self._member(Variants(pointer, schemas, same))

    def slot(self, name: str, data: Data) -> str:
        """A slot for a member, with a field unless its schema is the usual one."""
        is_text = data.get("type") == "string"
        if name == self.message and is_text and "message" not in self.used:
            slot = "message"
        elif name == "status" and data == {"type": "integer"}:
            slot = "status"
        else:
            slot = slot_name(name, _RESERVED)
        base, number = slot, 1
        while slot in self.used and self.used[slot] != [data]:
            number += 1
            slot = f"{base}_{number}"
        self.used[slot] = [data]
        if data != _DEFAULTS.get(slot):
            self.fields[slot] = data
        return f"${slot}"

    def _infer_code(self, schemas: list[Any]) -> str:
        """The code, behind the beginning that all codes have on the wire."""
        starts = {
            str(schema.get("const", body.wire)).removesuffix(str(body.wire))
            for schema, body in zip(schemas, self.bodies, strict=True)
        }
        start = starts.pop().replace("$", "$$") if len(starts) == 1 else ""
        return f"{start}${{code}}" if start else "$code"

    # Objects on the way to the code

    def _infer_around_code(self, pointer: str, schemas: list[Any]) -> Data:
        properties = [schema.get("properties", {}) for schema in schemas]
        required = [schema.get("required", []) for schema in schemas]
        self._check_keywords(pointer, schemas)
        names = self._envelope_members(pointer, properties, required)
        shape: Data = {}
        for name in names:
            place = child(pointer, name)
            inside = self.node(place, [members[name] for members in properties])
            must = [name in listed for listed in required]
            if inside == "$details":
                for facts, needed in zip(self.facts, must, strict=True):
                    facts.details_required |= needed and not all(must)
                shape[_key(name, must)] = inside
            else:
                shape[self._checked_key(name, must, place)] = inside
        if any(set(members) - set(names) for members in properties):
            shape["..."] = "$details"
            self.used["details"] = []
            for facts, schema in zip(self.facts, schemas, strict=True):
                facts.details = _without_members(schema, names)
        return shape

    def _check_keywords(self, pointer: str, schemas: list[Any]) -> None:
        """Whether the envelope is closed; keywords that an envelope does not have are losses."""
        closed = [schema.get("additionalProperties", True) for schema in schemas]
        if pointer == "" and all(value is False for value in closed):
            self.additional = "forbid"
        for keyword in dict.fromkeys(key for schema in schemas for key in schema):
            if keyword not in _OF_BODIES:
                self.lose(pointer, "a taxonomy cannot express it here", keyword)
        if any(not isinstance(value, bool) for value in closed) or len(set(map(str, closed))) > 1:
            reason = "an envelope is open or closed for all its codes alike"
            self.lose(pointer, reason, "additionalProperties")

    def _envelope_members(
        self, pointer: str, properties: list[Any], required: list[Any]
    ) -> list[str]:
        """The members of the envelope. Others are details, spread among them.

        Our OpenAPI target writes spread details first among the members, and last among the
        required ones. An optional member that differs from code to code is a detail, too.
        """
        names = [list(members) for members in properties]
        alike = all(set(listed) == set(names[0]) for listed in names)
        tail = names[0] if alike else _common_end(names)
        code = steps(self.code_pointer)[len(steps(pointer))]
        if code not in tail:
            # Another author's order: the members that all bodies have.
            return [name for name in names[0] if all(name in listed for listed in names)]

        def is_detail(name: str) -> bool:
            if any(name in listed for listed in required):
                return any(
                    name in listed and code in listed and listed.index(name) > listed.index(code)
                    for listed in required
                )
            return any(members[name] != properties[0][name] for members in properties)

        details = [index for index, name in enumerate(tail[: tail.index(code)]) if is_detail(name)]
        return tail[1 + max(details, default=-1) :]

    # Members beside the code

    def _member(self, variants: Variants) -> Any:
        if (literal := _constant(variants)) is not None:
            return literal["const"]
        for recognize in self.recognizers:
            if (slot := recognize(self, variants)) is not None:
                return slot
        if variants.same:
            return self._infer_equal(variants)
        if all(variants.objects):
            return self._infer_object(variants)
        self.lose(variants.pointer, _DIFFERS)
        return self.slot(variants.name, {})

    def _infer_equal(self, variants: Variants) -> Any:
        """The shape of a member that has one schema in all bodies."""
        first, pointer = variants.first, variants.pointer
        match first:
            case {"type": _, "minItems": 1, "items": items, **rest} if not rest:
                return [self.node(child(pointer, 0), [items] * len(variants.schemas))]
        data = subset.value(first)
        if data is None:
            if all(variants.objects) and set(first) <= _OF_NESTED:
                return self._infer_object(variants)
            self.lose(pointer, "its schema is outside the subset of the language")
            kind = first.get("type") if isinstance(first, Mapping) else None
            data = subset.value({"type": kind} if kind else {}) or {}
        return self.slot("status" if self.status_pointer == pointer else variants.name, data)

    def _infer_object(self, variants: Variants) -> Any:
        """The shape of an object that has the same members in all bodies."""
        schemas, pointer = variants.schemas, variants.pointer
        names = [set(schema.get("properties", {})) for schema in schemas]
        if any(listed != names[0] for listed in names) or not names[0]:
            self.lose(pointer, _DIFFERS)
            return self.slot(variants.name, {"type": "object"})
        shape: Data = {}
        for name in variants.first["properties"]:
            key = self._checked_key(
                name,
                [name in schema.get("required", []) for schema in schemas],
                child(pointer, name),
            )
            inner = [schema["properties"][name] for schema in schemas]
            shape[key] = self.node(child(pointer, name), inner)
        return shape

    def _checked_key(self, name: str, must: list[bool], pointer: str) -> str:
        """The key of a member in the shape. It is a loss if only some bodies require the member."""
        if any(must) and not all(must):
            self.lose(pointer, _SOMETIMES_REQUIRED)
        return _key(name, must)


Recognizer = Callable[[Inference, Variants], str | None]


def _constant(variants: Variants) -> Data | None:
    """``const`` of a member with one scalar in all bodies, as the shape writes it.

    A retry flag is not a constant.
    """
    match variants.first:
        case {"const": dict() | list()}:
            return None
        case {"const": bool(), **rest} if not rest and sounds_like_retry(variants.name):
            return None
        case {"const": value, **rest} if variants.same and not rest:
            return {"const": value.replace("$", "$$") if isinstance(value, str) else value}
        case {"enum": [bool(flag)]} if variants.same and not sounds_like_retry(variants.name):
            return {"const": flag}
    return None


def sounds_like_retry(name: str) -> bool:
    """Whether a member is called like a retry flag."""
    return "retr" in name.lower()


def _key(name: str, must: list[bool]) -> str:
    return name if all(must) else f"{name}?"


def _common_end(lists: list[list[str]]) -> list[str]:
    """The longest list that all lists end in."""
    end: list[str] = []
    for names in zip(*map(reversed, lists), strict=False):
        if len(set(names)) > 1:
            break
        end.insert(0, names[0])
    return end


def _is_object(schema: object) -> bool:
    if not isinstance(schema, Mapping):
        return False
    types = schema.get("type", "object" if "properties" in schema else None)
    return types == "object" or (isinstance(types, list) and "object" in types)


def _without_members(schema: Json, members: Sequence[str]) -> Json:
    """The schema of the spread details: the body without the members of the envelope."""
    properties = {
        name: member for name, member in schema.get("properties", {}).items() if name not in members
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
