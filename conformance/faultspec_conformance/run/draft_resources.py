"""The resources of a draft, the bodies and paths that its calls have, and the look-up of audit
records.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from faultspec.language.model import Taxonomy
from faultspec.language.spelling import snake
from faultspec.openapi.resources import DocumentedResource, resources
from faultspec.openapi.service import Description, ServiceOperation
from faultspec.runtime.shape import slot_places
from faultspec_conformance.config.requests import is_request_path
from faultspec_conformance.run.draft_texts import (
    DraftTemplate,
    join,
    quote_scalar,
    refer,
    write_flow,
)
from faultspec_conformance.run.draft_unique import (
    UniqueCandidate,
    find_unique,
    is_naming,
    may_be_unique,
)
from faultspec_conformance.session import sampling
from faultspec_conformance.session.resources import id_names, names_of, refers_to

#: Slots of an envelope that lead to the record of a failure, by their names.
_AUDIT_SLOT = re.compile(r"audit|incident|(error|failure|fault|event|report)_?id$", re.IGNORECASE)

#: Collections of such records, by their names.
_AUDIT_PATH = re.compile(r"/(audits?|failures|incidents|faults|error-?(reports?|log)s?)\b")

#: Times that no other item is in conflict with, by their names.
_OF_THE_PAST = re.compile(r"birth|born|issued|created|updated|since|expir", re.IGNORECASE)

#: The end of a text that every creation makes new, and the characters that it has in a request.
_UNIQUE, _TOKEN = DraftTemplate("-${unique}"), 11

#: Resources of a draft. A person can add others in the same way.
_RESOURCES = 12


def select_resources(description: Description) -> tuple[DocumentedResource, ...]:
    """The resources of the draft, those first that others refer to."""
    known = [found for found in resources(description) if _has_paths(found)][:_RESOURCES]
    ordered: list[DocumentedResource] = []
    while known:
        # In a circle of references the document's order decides.
        free = (
            one for one in known if not any(_refers(description, one, other) for other in known)
        )
        first = next(free, known[0])
        known.remove(first)
        ordered.append(first)
    return tuple(ordered)


def _has_paths(found: DocumentedResource) -> bool:
    """Whether it can be created, and each path of it can stand in the draft."""
    operations = (found.create, found.read, found.update, found.delete)
    paths = [each.template for each in operations if each is not None]
    return found.create is not None and all(map(is_request_path, paths))


def _refers(description: Description, one: DocumentedResource, other: DocumentedResource) -> bool:
    """Whether the creation of a resource needs the id of another one."""
    if one is other or one.create is None:
        return False
    names = names_of(other.name, other.item)
    schema = one.create.body.schema if one.create.body is not None else {}
    node = sampling.merge_all_of(description.document, schema)
    members = (*sampling.properties_of(node), *one.create.placeholders)
    return any(_may_refer(member, names) for member in members)


def _may_refer(member: str, names: Sequence[str]) -> bool:
    """Whether a member such as `room_id`, `from_room` or `toRoomId` may refer to a kind of resource
    of one of these names.
    """
    words = snake(member).removesuffix("_id").split("_")
    ends = ("_".join(words[at:]) for at in range(1, len(words)))
    return refers_to(member, names) or not {*ends}.isdisjoint(map(snake, names))


def draft_resources(description: Description, taxonomy: Taxonomy) -> Iterator[str]:
    """The lines about resources: how the service creates, reads, changes and deletes them."""
    found = select_resources(description)
    if not found:
        yield (
            "# resources: no path creates a resource that another path reads; docs/conformance.md "
            "shows how to declare them"
        )
        return
    yield "resources:"
    for resource in found:
        yield f"  {quote_scalar(resource.name)}:"
        yield from _resource(description, taxonomy, resource)


def _resource(
    description: Description, taxonomy: Taxonomy, resource: DocumentedResource
) -> Iterator[str]:
    assert resource.create is not None
    unique = find_unique(description, taxonomy, resource)
    create = [f"request: {_request(resource.create)}"]
    if resource.create.body is not None:
        body = draft_body(description, resource.create, unique=unique)
        body = _add_optional_texts(description, resource.create, body)
        create.append(f"body: {write_flow(body)}")
    id = _find_id(description, resource)
    if id is not None:
        create.append(f"id: {quote_scalar(id)}")
    if unique is not None and unique.certain:
        create.append(f"unique: [{quote_scalar(unique.member)}]")
        yield f"    # `{unique.member}` is unique: {unique.reason}; if not, remove `unique`"
    yield f"    create: {{{', '.join(create)}}}"
    if unique is not None and not unique.certain:
        members = ", ".join(map(quote_scalar, (unique.member, *unique.others)))
        yield f"    # to test duplicates, add to `create`: unique: [{members}]"
        more = "; keep those that are unique" if unique.others else ""
        yield f"    # ({unique.reason}{more})"
    elif unique is None and "409" in resource.create.responses:
        yield (
            "    # to test duplicates, add the members that must be unique to `create`: `unique: "
            "[name]`"
        )
    for role, operation in (
        ("read", resource.read),
        ("update", resource.update),
        ("delete", resource.delete),
    ):
        if operation is None:
            continue
        if role == "update" and operation.body is not None:
            body = draft_body(description, operation, unique=unique, is_update=True)
            yield f"    update: {{request: {_request(operation)}, body: {write_flow(body)}}}"
        else:
            yield f"    {role}: {_request(operation)}"
    if resource.list is not None:
        yield f"    list: {_request(resource.list)}"
    batch = _find_batch(description, resource)
    if batch is not None:
        operation, name = batch
        item = draft_body(description, resource.create, unique=unique)
        items = [item] if name is None else {name: [item]}
        yield f"    batch: {{request: {_request(operation)}, body: {write_flow(items)}}}"


def _find_id(description: Description, resource: DocumentedResource) -> str | None:
    """Return the place of the new id in the documented answer to a creation.

    None: the document does not say. Then the run looks for the id by the same names.
    """
    success = resource.create.success if resource.create is not None else None
    if success is None or success.schema is None:
        return None
    placeholder = (resource.item or "{id}").rpartition("{")[2].partition("}")[0]
    objects = {
        "" if name is None else f"/{name}": sampling.properties_of(node)
        for name, node in _members(description, success.schema)
    }
    return next(
        (
            f"{pointer}/{name}"
            for pointer, members in objects.items()
            for name in id_names(placeholder, resource.name)
            if name in members
        ),
        None,
    )


def _find_batch(
    description: Description, resource: DocumentedResource
) -> tuple[ServiceOperation, str | None] | None:
    """Return the operation that creates several items at once, and the member of its body that has
    them; None for the member: the body is the list.

    It is a POST below the collection, and its body has one list. The items have the required
    members of the body that creates one item.
    """
    create = resource.create
    if create is None or create.body is None:
        return None
    one = sampling.merge_all_of(description.document, create.body.schema)
    needed = set(one.get("required", sampling.properties_of(one)))
    for operation in description.operations:
        is_below = operation.template.startswith((f"{create.template}/", f"{create.template}:"))
        if operation.method != "POST" or not is_below or operation.body is None:
            continue
        if operation.placeholders != create.placeholders:
            continue
        lists = [
            (name, node["items"])
            for name, node in _members(description, operation.body.schema)
            if node.get("type") == "array" and "items" in node
        ]
        if len(lists) != 1:
            continue
        ((name, items),) = lists
        item = sampling.merge_all_of(description.document, items)
        if needed and needed <= set(sampling.properties_of(item)):
            return operation, name
    return None


def _members(
    description: Description, schema: Mapping[str, Any]
) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Yield the schema without a name, and those of its members by name."""
    whole = sampling.merge_all_of(description.document, schema)
    yield None, whole
    for name, member in sampling.properties_of(whole).items():
        yield name, sampling.merge_all_of(description.document, member)


def _request(operation: ServiceOperation) -> str:
    return quote_scalar(operation.name)


def draft_body(
    description: Description,
    operation: ServiceOperation,
    *,
    unique: UniqueCandidate | None = None,
    is_update: bool = False,
) -> object:
    """Return a body that the document allows, with new values and the ids of other resources.

    ``unique``: the member that no other item may have. ``is_update``: the body has a
    member also if the schema requires none, as an update without one changes nothing.
    """
    assert operation.body is not None
    source = sampling.ValueSource(description.document, Random(0))
    schema = operation.body.schema
    example = operation.body.example
    body = example if example is not None else sampling.sample_value(source, schema, fresh=False)
    properties = sampling.properties_of(sampling.merge_all_of(description.document, schema))
    texts = sampling.free_texts(description.document, schema)
    free = {
        name
        for name in texts
        if may_be_unique(name, sampling.merge_all_of(description.document, properties[name]))
    }
    if is_update and body == {}:
        written = sorted(
            (name for name, node in properties.items() if not _is_read_only(description, node)),
            key=lambda name: name not in texts,
        )
        for name in written[:1]:
            body = {name: sampling.sample_value(source, properties[name], fresh=False)}
            free |= texts & {name}
    if isinstance(body, dict):
        shown = {
            name
            for name in free
            if example is not None or _has_example(description, properties[name])
        }
        new = _new_texts(free, shown, unique)
        body = {
            key: _placeholder(description, operation, key, properties.get(key))
            or _new_time(description, operation, key, properties.get(key))
            or (join(str(value), _UNIQUE) if _is_new(key, value, new) else value)
            if unique is None or key != unique.member or key in free
            else DraftTemplate("${unique}")  # it fits the format and the pattern of the member
            for key, value in body.items()
        }
    return body


def _has_example(description: Description, schema: object) -> bool:
    return sampling.example_of(sampling.merge_all_of(description.document, schema)) is not None


def _new_texts(
    free: Collection[str], shown: Collection[str], unique: UniqueCandidate | None
) -> set[str]:
    """Return the members that get a new text. An example, such as that of an IBAN, stays as it is:
    of the members that have one (``shown``), those that may be unique are new, or else a name; or
    all, if there is neither, for the run to know its own items.
    """
    likely = {unique.member, *unique.others} if unique is not None else {*filter(is_naming, free)}
    return ({*free} - {*shown}) | ({*shown} & likely) or {*free}


def _new_time(
    description: Description, operation: ServiceOperation, key: str, schema: object
) -> str | None:
    """Return `${unique:datetime}` or `${unique:date}` for a time of an operation with a documented
    409: two items at one time may be in conflict.
    """
    if "409" not in operation.responses or _OF_THE_PAST.search(key):
        return None
    node = sampling.merge_all_of(description.document, schema or {})
    times = {"date-time": "${unique:datetime}", "date": "${unique:date}"}
    time = times.get(str(node.get("format"))) if sampling.kind(node) == "string" else None
    return None if time is None else DraftTemplate(time)


def _add_optional_texts(
    description: Description, operation: ServiceOperation, body: object
) -> object:
    """Return the body with the optional members that take any text, so that the run sees what the
    service does with them. An example of the document stays as it is.
    """
    assert operation.body is not None
    document, schema = description.document, operation.body.schema
    node = sampling.merge_all_of(document, schema)
    has_example = operation.body.example is not None or sampling.example_of(node) is not None
    if has_example or not isinstance(body, dict):
        return body
    source = sampling.ValueSource(document, Random(0))
    found = dict(body)
    for name, member in sampling.properties_of(node).items():
        inner = sampling.only_branch(document, member)
        is_free = name in sampling.free_texts(document, schema) and "default" not in inner
        if name in body or not is_free or sampling.is_read_only(inner) or _is_reference(name):
            continue
        text = str(sampling.sample_value(source, inner, fresh=False))
        longest = inner.get("maxLength")
        has_room = not isinstance(longest, int) or longest >= len(text) + _TOKEN
        found[name] = join(text, _UNIQUE) if has_room else text
    return found


def _is_reference(name: str) -> bool:
    """Whether a member has the name of an id. A new id would refer to nothing."""
    return re.search(r"[a-z]_id$|[a-z]Id$|^id$", name) is not None


def _is_read_only(description: Description, schema: object) -> bool:
    return sampling.is_read_only(sampling.merge_all_of(description.document, schema))


def _is_new(key: str, value: object, free: Collection[str]) -> bool:
    """Whether a new text may stand in a member. A new id would refer to nothing."""
    return key in free and isinstance(value, str) and not _is_reference(key)


def _placeholder(
    description: Description, operation: ServiceOperation, key: str, schema: object
) -> str | None:
    """Return `${room.id}` for a member such as `room_id`, if the draft creates such a resource; for
    one such as `from_room`, if its schema takes any text or a UUID.
    """
    node = sampling.merge_all_of(description.document, schema or {})
    is_open = sampling.kind(node) == "string" and not {"enum", "const", "pattern"} & node.keys()
    is_open = is_open and node.get("format") in (None, "uuid")
    for resource in select_resources(description):
        names = names_of(resource.name, resource.item)
        refers = refers_to(key, names) or (is_open and _may_refer(key, names))
        if resource.create != operation and refers:
            return refer(f"{resource.name}.id")
    return None


def draft_audit(description: Description, taxonomy: Taxonomy) -> Iterator[str]:
    """The lines about the look-up of audit records, if a path has the id of an envelope.

    A placeholder with the name of the slot is certain. An id below a collection of failures is a
    guess, so the line is a comment.
    """
    shapes = (envelope.shape for envelope in taxonomy.envelopes.values())
    slots = [slot for shape in shapes for slot in slot_places(shape) if _AUDIT_SLOT.search(slot)]
    for operation in description.operations:
        if operation.method != "GET" or len(operation.placeholders) != 1:
            continue
        (placeholder,) = operation.placeholders
        slot = placeholder if placeholder in slots else next(iter(slots), None)
        if slot is None or (slot != placeholder and not _AUDIT_PATH.search(operation.template)):
            continue
        saved = refer(slot)
        if saved is None:
            continue
        before, _, after = operation.template.partition("{" + placeholder + "}")
        request = join("GET ", before, saved, after)
        sign = "" if slot == placeholder else "# "
        yield "# Support reads the record of a failure by its id. `as`: who may read every record."
        yield f"{sign}audit: {{lookup: {quote_scalar(request)}}}"
        yield ""
        return
