"""The failures of an OpenAPI document, as they were read: bodies with a code, responses without
one, operations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from faultspec.importers import Json, Loss
from faultspec.importers.rules import NONE, ImportedRules


class SampledError(NamedTuple):
    """An example of a body.

    ``number``: its number among those of its code, from 1; 0 if it has none. ``name``: that of the
    document.
    """

    number: int
    summary: str | None
    value: Any
    pointer: str
    name: str = ""


class ImportedHeader(NamedTuple):
    """A header of a response."""

    required: bool
    schema: Json
    description: str | None
    pointer: str


class ImportedResponse(NamedTuple):
    """A response. ``schema``: None if the document has none for its JSON body.

    ``media_types``: those of its JSON body, empty without one. ``name``: that of its schema.
    ``component``: the name of the shared response that it is. ``place``: the pointer of the schema.
    """

    status: str
    description: str | None
    schema: Any
    headers: Mapping[str, ImportedHeader]
    pointer: str
    samples: tuple[SampledError, ...] = ()
    media_types: tuple[str, ...] = ()
    name: str | None = None
    component: str | None = None
    place: str = ""


@dataclass(eq=False, slots=True)
class CodedBody:
    """The body of one code.

    ``ref``: the name of its schema. ``schema``: without references, its code a constant.

    ``description``: that of a response which has this body alone.
    """

    wire: str | int
    schema: Json
    pointer: str
    ref: str | None = None
    rules: ImportedRules = NONE
    samples: list[SampledError] = field(default_factory=list)
    description: str | None = None


@dataclass(eq=False, slots=True)
class _BodyIndex:
    """The bodies of a family by name and by code: documents have thousands of them."""

    count: int = 0
    by_ref: dict[str, CodedBody] = field(default_factory=dict)
    by_wire: dict[str | int, CodedBody] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)

    def update(self, bodies: list[CodedBody]) -> "_BodyIndex":
        """The index with the bodies that were added since."""
        for body in bodies[self.count :]:
            if body.ref is not None:
                self.by_ref.setdefault(body.ref, body)
            self.by_wire.setdefault(body.wire, body)
            self.members.update(body.schema.get("properties", {}))
        self.count = len(bodies)
        return self


@dataclass(eq=False, slots=True)
class BodyFamily:
    """Bodies that share an envelope.

    ``wrapper_path``: the steps from the whole body to where the bodies differ; ``code_pointer``
    leads from there to the code. ``responses``: for each status in lower case, the bodies that its
    responses may have. ``headers``: for each status, the headers of each response. ``uses``: its
    responses without their codes, each with its operation. ``shown``: examples alone name its
    codes.
    """

    name: str | None
    pointer: str
    wrapper_path: list[str]
    code_pointer: str
    bodies: list[CodedBody]
    wrapper: Json | None = None
    summary: str | None = None
    responses: dict[str, dict[CodedBody, None]] = field(default_factory=dict)
    headers: dict[str, list[dict[str, ImportedHeader]]] = field(default_factory=dict)
    media_types: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    uses: list[tuple["ImportedOperation", ImportedResponse]] = field(default_factory=list)
    shown: bool = False
    _index: _BodyIndex = field(default_factory=_BodyIndex, repr=False)

    def members(self) -> set[str]:
        """The names at the top of the bodies."""
        return self._index.update(self.bodies).members

    def body_of_schema(self, name: str | None) -> CodedBody | None:
        """The first body whose schema has a name."""
        return None if name is None else self._index.update(self.bodies).by_ref.get(name)

    def body_of_code(self, wire: str | int) -> CodedBody | None:
        """The first body of a code."""
        return self._index.update(self.bodies).by_wire.get(wire)


@dataclass(eq=False, slots=True)
class ImportedOperation:
    """An operation. ``wire``: its operationId, unless an operation before it has the same.

    ``coded``: the bodies of its responses that name a code. ``uncoded``: its other responses.
    ``described``: the statuses, in lower case, whose bodies the document has.
    """

    identity: str
    route: str
    description: str | None
    method: str
    wire: str | None = None
    coded: list[CodedBody] = field(default_factory=list)
    uncoded: list[ImportedResponse] = field(default_factory=list)
    described: set[str] = field(default_factory=set)


class FamilyIndex:
    """Families by the names of their schemas and by their form: documents have thousands of them.

    Families may be appended to the list, and bodies are added through ``add_body``.
    """

    def __init__(self, families: list[BodyFamily]) -> None:
        self.families = families
        self._positions: dict[BodyFamily, int] = {}
        self._by_name: dict[str, set[int]] = {}
        self._by_form: dict[_Form, BodyFamily] = {}

    def find(self, names: Sequence[str | None], depth: int) -> BodyFamily | None:
        """The first family that has schemas of all these names, and a wrapper of this depth."""
        if not names or names[0] is None:
            return None
        self._update()
        for position in sorted(self._by_name.get(names[0], ())):
            family = self.families[position]
            named = all(family.body_of_schema(name) is not None for name in names)
            if named and len(family.wrapper_path) == depth:
                return family
        return None

    def find_alike(self, made: BodyFamily) -> BodyFamily | None:
        """The first family with the form of another: its places, and the members of its bodies."""
        self._update()
        return self._by_form.get(_form(made))

    def add_body(self, family: BodyFamily, body: CodedBody) -> None:
        """Add a body to a family, whose members it does not change."""
        self._update()
        family.bodies.append(body)
        self._add_name(body, self._positions[family])

    def _update(self) -> None:
        for position in range(len(self._positions), len(self.families)):
            family = self.families[position]
            self._positions[family] = position
            self._by_form.setdefault(_form(family), family)
            for body in family.bodies:
                self._add_name(body, position)

    def _add_name(self, body: CodedBody, position: int) -> None:
        if body.ref is not None:
            self._by_name.setdefault(body.ref, set()).add(position)


_Form = tuple[str, tuple[str, ...], frozenset[str]]


def _form(family: BodyFamily) -> _Form:
    return family.code_pointer, tuple(family.wrapper_path), frozenset(family.members())


class ResponseDescription(NamedTuple):
    """The description of a response whose bodies name codes."""

    text: str | None
    pointer: str
    bodies: list[CodedBody]


@dataclass(slots=True)
class ImportedContract:
    """Everything that was read.

    ``header_components``: the pointers of the header components, in order.
    """

    info: Json
    has_paths: bool
    header_components: list[str]
    families: list[BodyFamily] = field(default_factory=list)
    operations: list[ImportedOperation] = field(default_factory=list)
    identities: set[str | None] = field(default_factory=set)
    index: FamilyIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = FamilyIndex(self.families)

    descriptions: list[ResponseDescription] = field(default_factory=list)
