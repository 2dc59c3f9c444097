"""Other addresses of an item: paths that name it too, such as those of another version."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from faultspec.openapi.resources import DocumentedResource
from faultspec.openapi.service import ServiceOperation, placeholders, shape_of
from faultspec_conformance.config import ResourceConfig
from faultspec_conformance.probes.ownership import evidence_of, unguessable
from faultspec_conformance.session.fixtures import request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import STREAM
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    last_placeholder,
    refers_to,
)

#: Addresses of one kind of resource that are asked.
_ADDRESSES = 4

#: Placeholders that any kind of resource may have.
_OF_ANY_KIND = frozenset({"id", "uuid", "guid", "name", "key", "slug", "code", "number", "ref"})


@dataclass(frozen=True, slots=True)
class OtherAddress:
    """An item at another address. ``is_shown``: its owner reads it there."""

    item: CreatedResource
    is_shown: bool


def find_addresses(session: HttpSession, kind: ResourceKind) -> list[ServiceOperation]:
    """Return the reads of items of a kind at other addresses, as far as not everybody may read
    there.
    """
    made = [one for one in session.kinds if one.name in session.knowledge.created]
    known = [shape_of(one.item) for one in made if one.item is not None]
    found: list[ServiceOperation] = []
    for read in sorted(session.description.operations, key=lambda one: len(one.template)):
        is_read = read.method == "GET" and STREAM not in read.media_types
        if not is_read or read.secured is False or not _names_item(read, kind):
            continue
        shape = shape_of(read.template)
        if not any(f"{shape}/".startswith(f"{item}/") for item in known):
            known.append(shape)
            found.append(read)
    return found[:_ADDRESSES]


def _names_item(read: ServiceOperation, kind: ResourceKind) -> bool:
    """Whether the placeholders of a read name an item of a kind: by those of its own path, the name
    of the kind, or the collection before the last one.
    """
    own = placeholders(kind.item or "")
    if not read.placeholders or len(read.placeholders) not in (1, len(own)):
        return False
    last = read.placeholders[-1]
    collection = read.template.partition("/{" + last + "}")[0].rpartition("/")[2]
    is_same = last == last_placeholder(kind) and last.lower() not in _OF_ANY_KIND
    return (
        is_same
        or refers_to(last, kind.names)
        or (collection in kind.names and len(own) == len(read.placeholders))
    )


def read_at_others(session: HttpSession, resource: CreatedResource) -> Iterator[OtherAddress]:
    """Read an item at its other addresses, as its owner."""
    for read in find_addresses(session, resource.kind):
        values = dict(zip(read.placeholders, resource.values.values(), strict=False))
        if len(read.placeholders) == 1:
            values = {read.placeholders[0]: resource.id}
        item = replace(resource, kind=_kind_at(session, read, resource.kind), values=values)
        answer = session.call(replace(request_to(session, read, values), identity=resource.owner))
        is_certain = unguessable(resource.id) or evidence_of(session, resource).is_shown_in(answer)
        yield OtherAddress(item, answer.ok and bool(is_certain))


def _kind_at(session: HttpSession, read: ServiceOperation, kind: ResourceKind) -> ResourceKind:
    """Return a kind with the operations of another address alone."""
    find, template = session.description.find, read.template
    there = DocumentedResource(
        kind.name,
        read=read,
        update=find("PUT", template) or find("PATCH", template),
        delete=find("DELETE", template),
    )
    return ResourceKind(kind.name, there, ResourceConfig(kind.name))
