"""Closing a document: no reference of the result leaves it.

Validators and generators follow references, to other hosts and to local files. So a document is
closed before another program reads it. References to further files that the user lists are kept:
those files become a part of the document.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from faultspec.openapi.nodes import Json
from faultspec.openapi.pointers import child
from faultspec.openapi.reader import Loss, is_old
from faultspec.openapi.schemas import MAPS
from faultspec.openapi.text import DEEPEST
from faultspec.runtime.pointers import resolve

#: The member of a closed document with the further files, by number.
BUNDLED = "x-faultspec-files"

#: Members whose text is a reference that a program follows (JSON Schema 2020-12, section 8.2.3;
#: 2019-09, section 8.2.4.2; OpenAPI 3.1.1, sections 4.8.19.1 and 4.8.20.1).
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef", "externalValue", "operationRef")

#: Those whose target a validator looks for while it validates.
_DYNAMIC = ("$dynamicRef", "$recursiveRef")

#: Members that name a dialect of schemas.
_DIALECTS = ("$schema", "jsonSchemaDialect")

#: The dialects that validators have built in. They fetch any other.
_BUILT_IN = frozenset(
    {
        "http://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    }
)

#: The beginning of the dialects of OpenAPI, which generators have built in.
_DIALECT_OF_OPENAPI = "https://spec.openapis.org/oas/"

#: Members whose value is data, in which `id` is not the address of a schema.
_DATA = frozenset({"example", "default", "value", "enum", "const"})

#: Members whose members have names of the document's own choice.
_NAMED = MAPS | {
    "schemas",
    "responses",
    "parameters",
    "examples",
    "requestBodies",
    "headers",
    "securitySchemes",
    "links",
    "callbacks",
    "pathItems",
    "paths",
    "webhooks",
    "content",
    "encoding",
    "dependencies",
    "variables",
}

#: Keywords that a removed reference below them makes stricter, or of which it changes the values.
#: A schema without them accepts more, so no answer breaks it wrongly.
_STRICTER = frozenset({"enum", "const", "not", "oneOf", "if", "contains"})

#: Keywords that depend on what the schemas beside them evaluate (JSON Schema 2020-12, section 11).
_DEPENDENT = frozenset({"unevaluatedProperties", "unevaluatedItems"})


class ClosedDocument(NamedTuple):
    """A document without references that leave it. ``cuts``: what was removed, by pointer."""

    document: Json
    cuts: tuple[Loss, ...] = ()


class _Resource(NamedTuple):
    """A resource of JSON Schema: its pointer in the closed document, and its value."""

    pointer: str
    value: Any


def close(
    document: Json, address: str = "", files: Mapping[str, Json] | None = None
) -> ClosedDocument:
    """The document without references that leave it.

    ``address``: the URL that its references are relative to; "" if it is unknown. ``files``:
    further documents by URL, which become a part of the result. References by URL or anchor to a
    part of the result become pointers. What refers elsewhere is removed, and so is a dialect that
    validators do not have.
    """
    files = files or {}
    whole = dict(document)
    if files:
        whole[BUNDLED] = {str(number): part for number, part in enumerate(files.values())}
    addresses = {child(f"/{BUNDLED}", number): url for number, url in enumerate(files)}
    closing = _Closing(
        "swagger" in document or is_old(document),
        addresses,
        {urldefrag(address).url: _Resource("", whole)}
        | {
            urldefrag(url).url: _Resource(pointer, resolve(whole, pointer)[1])
            for pointer, url in addresses.items()
        },
    )
    root = _Place("", address)
    closing.collect(whole, root)
    closed = closing.close(whole, root)
    if not (files or closing.cuts or closing.changed):
        return ClosedDocument(document)
    return ClosedDocument(closed, tuple(closing.cuts))


def describe_cuts(cuts: tuple[Loss, ...]) -> tuple[str, ...]:
    """A note about what was removed; none if nothing was."""
    if not cuts:
        return ()
    shown = "; ".join(f"#{cut.pointer} ({cut.reason})" for cut in cuts[:_SHOWN])
    more = f"; and {len(cuts) - _SHOWN} more" if len(cuts) > _SHOWN else ""
    return (
        "the OpenAPI document has references that leave it, which are cut: "
        f"{shown}{more}; nothing is fetched. `openapi` of the conformance file lists the files of "
        "a document in several files",
    )


#: References that a note names.
_SHOWN = 5


class _Place(NamedTuple):
    """Where a value stands. ``base``: the URL that references are relative to. ``named``: its
    members have names of the document's own choice. ``data``: neither a schema nor an object of
    OpenAPI.
    """

    pointer: str
    base: str
    depth: int = 0
    named: bool = False
    data: bool = False

    def inner(self, step: str | int, value: object) -> "_Place":
        """The place of a member or an element."""
        own = isinstance(step, str) and not self.named
        return _Place(
            pointer=child(self.pointer, step),
            base=self.base,
            depth=self.depth + 1,
            named=own and step in _NAMED and isinstance(value, Mapping),
            data=self.data
            or (own and (step in _DATA or (step == "examples" and isinstance(value, list)))),
        )


@dataclass(slots=True)
class _Closing:
    """``is_older``: `id` is the address of a schema, as in draft 4. ``parts``: the resources by
    URL. ``addresses``: the URL of each further file by pointer. ``data``: the pointers of data.
    """

    is_older: bool
    addresses: Mapping[str, str]
    parts: dict[str, _Resource] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    data: set[str] = field(default_factory=set)
    cuts: list[Loss] = field(default_factory=list)
    changed: bool = False

    def collect(self, value: Any, place: _Place) -> None:
        """Find data, and the schemas that have an address or an anchor."""
        if place.data:
            self.data.add(place.pointer)
            return
        if place.depth > DEEPEST:
            return
        inner = self._enter(value, place)
        if isinstance(value, Mapping):
            url = urldefrag(inner.base).url
            if url != urldefrag(place.base).url:
                self.parts.setdefault(url, _Resource(place.pointer, value))
            for name in ("$anchor", "$dynamicAnchor"):
                if isinstance(value.get(name), str):
                    self.anchors.setdefault((url, value[name]), place.pointer)
        for step, member in _members(value):
            self.collect(member, inner.inner(step, member))

    def close(self, value: Any, place: _Place) -> Any:
        """The value without references that leave the document."""
        if place.depth > DEEPEST:
            self._record_cut(place.pointer, f"more than {DEEPEST} levels of nesting")
            return None
        inner = self._enter(value, place)
        if isinstance(value, Mapping):
            return self._close_mapping(value, inner)
        if isinstance(value, list):
            items = [self.close(item, inner.inner(index, item)) for index, item in enumerate(value)]
            if not place.pointer.endswith("/parameters"):
                return items
            # A parameter without a name would not be one.
            return [item for item, old in zip(items, value, strict=True) if item != {} or old == {}]
        return value

    def _close_mapping(self, value: Json, place: _Place) -> Json:
        found: dict[str, Any] = {}
        cut = False
        for key, member in value.items():
            before, at = len(self.cuts), place.inner(key, member)
            kept = (
                self._close_text(key, member, at, place)
                if isinstance(member, str)
                else self._close_names(member, at)
                if key == "mapping" and isinstance(member, Mapping) and not place.named
                else self.close(member, at)
            )
            is_cut = len(self.cuts) > before
            cut = cut or is_cut
            loses = is_cut and not place.named and key in _STRICTER
            if not loses and (kept is not None or member is None):
                found[key] = kept
        if cut and not place.named:
            for key in _DEPENDENT.intersection(found):
                del found[key]
            if "operationRef" in value or "$ref" in value:
                is_link = re.search(r"/links/[^/]+$", place.pointer) is not None
                # Members beside a reference mean nothing in 3.0 (OpenAPI 3.0.4, 4.7.23.2).
                if is_link or (self.is_older and "$ref" not in found):
                    return {}
        if place.pointer.endswith("/links") and place.named:
            return {key: kept for key, kept in found.items() if kept != {}}
        return found

    def _close_text(self, key: str, text: str, at: _Place, place: _Place) -> str | None:
        """The text of a member; None if the member is removed."""
        if key in _REFERENCES:
            return self._close_reference(key, text, at)
        if place.data or place.named:
            return text
        if key in _DIALECTS and text.rstrip("#") not in _BUILT_IN:
            if key == "$schema" or not text.startswith(_DIALECT_OF_OPENAPI):
                self._record_cut(at.pointer, f"the dialect {text}")
                return None
        elif key == "$id" or (key == "id" and self.is_older):
            self.changed = True  # references to it become pointers
            return None
        return text

    def _close_reference(self, key: str, text: str, at: _Place) -> str | None:
        url, fragment = urldefrag(_join(at.base, text))
        part = self.parts.get(url)
        if part is None or key == "externalValue":
            self._record_cut(at.pointer, text)
            return None
        pointer = self._locate(part, url, fragment)
        if pointer is None or key in _DYNAMIC:
            # Only a reference within the root means the same without the addresses of schemas.
            if text.startswith("#"):
                return text
            self._record_cut(at.pointer, text)
            return None
        if not at.data and self._is_data(pointer):
            self._record_cut(at.pointer, f"{text}, which is an example or another value")
            return None
        if text == f"#{pointer}":
            return text
        self.changed = True
        return f"#{pointer}"

    def _locate(self, part: _Resource, url: str, fragment: str) -> str | None:
        """The pointer in the closed document; None if nothing is there."""
        if fragment and not fragment.startswith(("/", "%2F", "%2f")):
            return self.anchors.get((url, fragment))
        found = next(
            (each for each in (fragment, unquote(fragment)) if resolve(part.value, each)[0]), None
        )
        return None if found is None else part.pointer + found

    def _close_names(self, value: Json, place: _Place) -> Json:
        """The mapping of a discriminator: its values are names of schemas or references."""
        found = {
            key: self._close_reference("$ref", target, place.inner(key, target))
            if isinstance(target, str) and re.search("[#/:]", target)
            else target
            for key, target in value.items()
        }
        return {key: target for key, target in found.items() if target is not None}

    def _enter(self, value: Any, place: _Place) -> _Place:
        """The place with the URL that references inside the value are relative to."""
        base = self.addresses.get(place.pointer, place.base)
        if isinstance(value, Mapping) and not place.data and not place.named:
            own = value.get("$id", value.get("id") if self.is_older else None)
            base = _join(base, own) if isinstance(own, str) else base
        return place._replace(base=base)

    def _is_data(self, pointer: str) -> bool:
        """Whether a pointer leads into an example or another value."""
        ends = (match.start() for match in re.finditer("/", f"{pointer}/"))
        return any(pointer[:end] in self.data for end in ends)

    def _record_cut(self, pointer: str, reason: str) -> None:
        self.cuts.append(Loss(pointer, "reference", reason))


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    """The members or elements with their names or positions."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _join(base: str, reference: str) -> str:
    """The URL of a reference. One that is not a URL has an address that nothing has."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return f"unreadable:{reference}"
