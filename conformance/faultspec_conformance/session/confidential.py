"""Confidential members of requests: which they are, the values planted in them, and the answers in
which one of these values stands.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from faultspec.exchange.body import replace_value
from faultspec.exchange.model import Canary
from faultspec.leaks import find_planted
from faultspec.openapi.nodes import Json, sequence
from faultspec.openapi.service import Description, ServiceOperation
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import steps
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.observation import Observation, failed, passed, point
from faultspec_conformance.session.sampling import ValueSource

CLAUSE = "leaks/confidential"

#: Bits of a part of a value, and of a whole value, that no run contains by chance. A run has some
#: hundred thousand places for a part, and each value has many parts.
_PART_BITS, _WHOLE_BITS = 46, 36

#: The shortest part of a value that counts.
_SHORTEST = 8

#: Levels of a body that are searched for confidential members.
_DEEPEST = 8

#: Bytes of an answer that are searched.
_SEARCHED = 256 * 1024


@dataclass(frozen=True, slots=True)
class ConfidentialPlace:
    """A place in a request body. ``returned``: the document shows the member in the success of the
    operation, so a success may contain it.
    """

    pointer: str
    schema: Json
    returned: bool = False


@dataclass(slots=True)
class PlantedValue:
    """A made-up value of a confidential member. ``sent``: the exchange that sent it first.

    ``parts``: every part that is long enough to be no accident.
    """

    value: str
    place: ConfidentialPlace
    sent: Observation | None = None
    parts: frozenset[str] = frozenset()


@dataclass(slots=True)
class ConfidentialValues:
    """The values of confidential members that a run made up. ``pointers``: the places that the
    configuration declares. ``missed``: places that got a value which a text may have by chance.
    """

    description: Description = field(default_factory=Description)
    pointers: tuple[str, ...] = ()
    values: dict[str, PlantedValue] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)

    def places(self, operation: ServiceOperation, body: object) -> Iterator[ConfidentialPlace]:
        """Yield the confidential places of a body that have a text."""
        schema = operation.body.schema if operation.body is not None else {}
        for pointer, text_schema, sure in _find_marked(self.description.document, schema, body):
            shown = not sure and self._is_returned(operation, pointer)
            if pointer not in self.pointers:
                yield ConfidentialPlace(pointer, text_schema, returned=shown)
        for pointer in self.pointers:
            if isinstance(point(body, pointer), str):
                yield ConfidentialPlace(pointer, self._schema_at(schema, pointer))

    def _schema_at(self, schema: object, pointer: str) -> Json:
        """Return the schema of a place in a body; empty if the document has none."""
        node = sampling.only_branch(self.description.document, schema)
        for name in steps(pointer):
            inner = _members(self.description.document, node)
            found = node.get("items") if name.isdigit() else inner.get(name)
            node = sampling.only_branch(self.description.document, found or {})
        return node

    def complete(
        self, source: ValueSource, schema: object, body: object, pointer: str = ""
    ) -> object:
        """Return the body with its optional confidential members."""
        node = sampling.merge_all_of(self.description.document, schema)
        if not isinstance(body, dict) or pointer.count("/") > _DEEPEST:
            return body
        found = dict(body)
        for name, member in _members(self.description.document, node).items():
            place = child(pointer, name)
            if name not in body:
                value = sampling.sample_value(source, member)
                value = self.complete(source, member, value, place)
                if not self._has_confidential(member, value, place):
                    continue
                found[name] = value
            else:
                found[name] = self.complete(source, member, body[name], place)
        return found

    def _has_confidential(self, schema: object, value: object, place: str) -> bool:
        marked = _find_marked(self.description.document, schema, value)
        declared = any(f"{pointer}/".startswith(f"{place}/") for pointer in self.pointers)
        return declared or any(True for _ in marked)

    def _is_returned(self, operation: ServiceOperation, pointer: str) -> bool:
        """Whether the document shows a member of this name in the success of the operation."""
        success = operation.success.schema if operation.success is not None else None
        node = sampling.merge_all_of(self.description.document, success or {})
        return pointer.rpartition("/")[2] in sampling.properties_of(node)

    def declared_places(self, params: object) -> Iterator[ConfidentialPlace]:
        """Yield the places of params that the configuration declares and that have a text."""
        for pointer in self.pointers:
            if isinstance(point(params, pointer), str):
                yield ConfidentialPlace(pointer, {})

    def renew(
        self, source: ValueSource, places: Iterable[ConfidentialPlace], body: object
    ) -> tuple[object, tuple[Canary, ...]]:
        """Return the body with new values of the right shape at its confidential places, and these
        values.
        """
        canaries = []
        for place in tuple(places):
            old = str(point(body, place.pointer))
            pairs = zip(
                *(sampling.secrets_like(source, place.schema, old) for _ in range(2)), strict=False
            )
            kept = (one for one, other in pairs if self._keep(one, _difference(one, other), place))
            value = next(kept, None)
            if value is not None:
                body = replace_value(body, place.pointer, value)
                canaries.append(Canary("confidential", value))
        return body, tuple(canaries)

    def find_untracked(self) -> list[str]:
        """Return the places whose values were all too short or too plain to be recognised."""
        return sorted(self.missed - {one.place.pointer for one in self.sent_values()})

    def keep_made_up(
        self, places: Iterable[ConfidentialPlace], template: object, body: object
    ) -> tuple[Canary, ...]:
        """Keep the values that a configured body made up at its confidential places; return them.

        ``template``: the body with its placeholders. A value that the file fixes is not kept: it
        may stand in answers for other reasons.
        """
        found = []
        for place in tuple(places):
            written, value = str(point(template, place.pointer)), str(point(body, place.pointer))
            if "${unique" in written and self._keep(value, _difference(value, written), place):
                found.append(Canary("confidential", value))
        return tuple(found)

    def _keep(self, value: str, made_up: str, place: ConfidentialPlace) -> bool:
        """Keep a value, if it is long enough, and return whether it is. ``made_up``: the part of it
        that no other value has.
        """
        if len(made_up) < _length_of(_WHOLE_BITS, made_up):
            self.missed.add(place.pointer)
            return False
        length = _length_of(_PART_BITS, made_up)
        ends = range(length, len(made_up) + 1)
        parts = frozenset(made_up[end - length : end] for end in ends)
        self.values[value] = PlantedValue(value, place, parts=parts)
        return True

    def note_sent(self, observation: Observation) -> None:
        """Note the values that a request contains, first when it is sent, then with its answer."""
        request = observation.exchange.request
        for planted in self.values.values():
            first = planted.sent is None or planted.sent.exchange.request == request
            if first and planted.value.encode() in request.body:
                planted.sent = observation

    def sent_values(self) -> list[PlantedValue]:
        """Return the values that were sent."""
        return [planted for planted in self.values.values() if planted.sent is not None]

    def find(self, text: str, *, success: bool) -> tuple[PlantedValue, str] | None:
        """Return a value that stands in a text, or of which a long part does, with a description.

        ``success``: the text is of a success, which may return what the document shows there.
        """
        candidates = [one for one in self.sent_values() if not (success and one.place.returned)]
        by_value = {planted.value: planted for planted in candidates}
        # A leak has the kind of its canary, which tells the value here.
        leaks = find_planted(text, (Canary(value, value) for value in by_value), whole=False)
        if leaks:
            return by_value[leaks[0].kind], "the value"
        for planted in candidates:
            part = next((part for part in planted.parts if part in text), None)
            if part is not None:
                return planted, f"a part of {len(part)} characters or more of the value"
        return None


def search_answer(values: ConfidentialValues, observation: Observation) -> Iterator[Outcome]:
    """Yield whether a confidential value, sent now or before, stands in an answer."""
    values.note_sent(observation)
    if not values.sent_values():
        return
    found = values.find(searchable(observation), success=observation.ok)
    if found is None:
        yield passed(CLAUSE)
        return
    planted, what = found
    first = planted.sent or observation
    message = (
        f"the answer ({observation}) contains {what} of the confidential member "
        f"`{planted.place.pointer}` that {first.exchange.operation or 'a request'} sent; "
        "no answer may contain it"
    )
    evidence = (observation,) if first is observation else (first, observation)
    yield failed(CLAUSE, message, *evidence)


def searchable(observation: Observation) -> str:
    """Return the headers and the body of an answer as one text."""
    response = observation.exchange.response
    headers = (value for _, value in response.headers)
    return "\n".join((response.body[:_SEARCHED].decode("utf-8", "replace"), *headers))


def _difference(value: str, other: str) -> str:
    """Return the value without the beginning and the end that it shares with another text."""
    start = _count_common(value, other)
    return value[start : len(value) - _count_common(value[start:][::-1], other[start:][::-1])]


def _count_common(text: str, other: str) -> int:
    """Return the number of characters that two texts begin with alike."""
    pairs = zip(text, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _length_of(bits: int, value: str) -> int:
    """Return the length of a part of a random value that has so many bits."""
    alphabet = sum(
        size
        for size, is_member in ((10, str.isdigit), (26, str.islower), (26, str.isupper))
        if any(map(is_member, value))
    )
    if all(character in "0123456789abcdef-" for character in value):
        alphabet = 10 if value.isdigit() else 16
    return max(_SHORTEST, math.ceil(bits / math.log2(max(2, alphabet))))


def _find_marked(
    document: Json, schema: object, value: object, pointer: str = "", *, sure: bool | None = None
) -> Iterator[tuple[str, Json, bool]]:
    """Yield the texts of a value that a schema marks as confidential, each with its place and
    schema, and whether it is `writeOnly`. ``sure``: the same of what contains the value; None: it
    is not marked.
    """
    node = sampling.merge_all_of(document, schema)
    if node.get("writeOnly") is True:
        sure = True
    elif node.get("format") == "password":
        sure = bool(sure)
    if isinstance(value, str) and sure is not None:
        yield pointer, node, sure
    if pointer.count("/") > _DEEPEST:
        return
    if isinstance(value, dict):
        members = _members(document, node)
        for name, inner in value.items():
            yield from _find_marked(
                document, members.get(name), inner, child(pointer, str(name)), sure=sure
            )
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_marked(
                document, node.get("items"), item, child(pointer, str(index)), sure=sure
            )


def _members(document: Json, node: Json) -> dict[str, object]:
    """Return the members of an object's schema, and of its alternatives."""
    found: dict[str, object] = {}
    for part in (*sequence(node.get("oneOf")), *sequence(node.get("anyOf")), node):
        found |= sampling.properties_of(sampling.merge_all_of(document, part))
    return found
