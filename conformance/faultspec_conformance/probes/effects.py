"""Effects of a write, as two reads of a resource and a list show them."""

import re
from collections.abc import Iterator, Mapping, Sequence

from faultspec.language.values import is_text_or_number
from faultspec_conformance.session.observation import Observation, leaves, list_items
from faultspec_conformance.session.resources import (
    CreatedResource,
    last_placeholder,
    objects_in,
    refers_to,
)

#: Statuses of a read of what does not exist.
GONE = (404, 410)

#: Words of an answer to a write that takes effect later.
_PENDING = re.compile(
    r"pending|schedul|queue|progress|process|accepted|requested|deleting|removing|async|job|task",
    re.IGNORECASE,
)

#: Names of members that show that a resource is deleted though it can be read.
_MARKERS = re.compile(
    r"delet|remov|archiv|trash|cancel|activ|enabl|disabl|stat(e|us)|clos|expir|terminat|visib"
    r"|hidden|void|revok|valid|purge|tombstone|destroy|withdraw|end(ed)?_?at",
    re.IGNORECASE,
)

#: Members that a service sets itself, whatever an update sends.
_OWN = re.compile(
    r"^_?(id|uuid|etag|version|revision)$|(created|updated|modified)(_?(at|on|by))?$"
    r"|^(created|updated|modified|last)",
    re.IGNORECASE,
)

#: Members with the time at which a resource was created.
_CREATION_TIME = re.compile(r"^_?creat(ed|ion)_?(at|on|date|time|timestamp)$", re.IGNORECASE)

#: A value that is shown in place of a secret.
_MASKED = re.compile(r"\*\*|••|x{4}|redacted|hidden|masked", re.IGNORECASE)


def may_be_pending(answer: Observation) -> bool:
    """Whether the effect of an accepted write may come later (RFC 9110, 15.3.3)."""
    if answer.status == 202 or not answer.ok:
        return True
    return answer.exchange.request.method == "DELETE" and any(
        _PENDING.search(f"{pointer} {value}") for pointer, value in leaves(answer.json)
    )


def creation_id_is_certain(resource: CreatedResource) -> bool:
    """Whether the id of a resource is the one that its creation gave: by the configuration, by
    `Location`, or by the name of the placeholder.
    """
    kind, creation = resource.kind, resource.creation
    if kind.config.id is not None or creation.exchange.request.method == "PUT":
        return True
    location = (creation.header("Location") or "").partition("?")[0].rstrip("/")
    if location.rpartition("/")[2] == str(resource.id):
        return True
    name = last_placeholder(kind)
    names = {name} | ({"id"} if refers_to(name, kind.names) else set())
    return any(
        members[member] == resource.id
        for members in objects_in(creation.json)
        for member in names & members.keys()
    )


def is_soft_deletion(changed: frozenset[str]) -> bool:
    """Whether one of the changed places shows that a resource is deleted, such as `/status`."""
    return any(_MARKERS.search(pointer.rpartition("/")[2]) for pointer in changed)


def find_representation(answer: Observation, names: Mapping[str, object]) -> dict[str, object]:
    """Return the object in an answer that has the most of these members: the body or one of its
    members.
    """
    found = objects_in(answer.json)
    return max(found, key=lambda members: len(members.keys() & names.keys()), default={})


def new_members(
    sent: Mapping[str, object],
    shown: Mapping[str, object],
    earlier: Mapping[str, Sequence[object]],
) -> Iterator[tuple[str, object]]:
    """Yield the members of an update whose value differs from the one that was shown before.

    ``earlier``: the values that the item was sent, by member. Left out are members that a service
    sets itself, and those that it shows in another form than they were sent.
    """
    for name, value in sent.items():
        before, values = shown.get(name), earlier.get(name, ())
        comparable = (
            _is_comparable(value) and _are_of_one_form(value, before) and not _OWN.search(name)
        )
        if not comparable or _MASKED.search(str(before)):
            continue
        as_sent = not values or any(is_equal_value(before, other) for other in values)
        if as_sent and not any(is_equal_value(value, other) for other in (before, *values)):
            yield name, value


def confirmed_members(answer: Observation, sent: Mapping[str, object]) -> set[str]:
    """Return the members that the answer to a write shows as they were sent, but for those that a
    service sets itself.
    """
    shown = find_representation(answer, sent)
    return {
        name
        for name, value in sent.items()
        if _is_comparable(value)
        and _are_of_one_form(value, shown.get(name))
        and not _OWN.search(name)
        and is_equal_value(shown[name], value)
    }


def differing_members(
    sent: Mapping[str, object], names: set[str], read: Observation
) -> dict[str, object]:
    """Return what a read shows of these members where it is not what was sent."""
    shown = find_representation(read, sent)
    return {
        name: shown[name]
        for name in sorted(names)
        if _are_of_one_form(sent[name], shown.get(name))
        and not _MASKED.search(str(shown[name]))
        and not is_equal_value(shown[name], sent[name])
    }


def emptied_members(sent: Mapping[str, object], read: Observation) -> set[str]:
    """Return the members that were sent with a value and that a read shows as null or empty, but
    for those that a service sets itself.
    """
    shown = find_representation(read, sent)
    return {
        name
        for name, value in sent.items()
        if (_is_comparable(value) or (isinstance(value, dict) and value))
        and value not in ("", False)
        and not _OWN.search(name)
        and shown.get(name, ...) in (None, "", [], {})
    }


def is_masked(value: object) -> bool:
    """Whether a value stands in place of a secret."""
    return _MASKED.search(str(value)) is not None


def is_set_by_service(name: str) -> bool:
    """Whether a service sets a member of this name itself, whatever an update sends."""
    return _OWN.search(name) is not None


def _is_comparable(value: object) -> bool:
    """Whether a member with this value can be compared with what a read shows: a text, a number, a
    boolean, or a list of these that is not empty.
    """
    if isinstance(value, list):
        return bool(value) and all(_is_plain(item) for item in value)
    return _is_plain(value)


def _is_plain(value: object) -> bool:
    return isinstance(value, bool) or is_text_or_number(value)


def _are_of_one_form(one: object, other: object) -> bool:
    """Whether both are lists of plain values, the other perhaps an empty one, or both are plain."""
    if isinstance(one, list):
        return isinstance(other, list) and all(_is_plain(item) for item in other)
    return _is_plain(other)


def is_equal_value(one: object, other: object) -> bool:
    """Whether two values are equal but for notation: case, spaces around, `5` and `5.0`. The order
    of a list, and whether an item stands in it twice, are notation too.
    """
    if isinstance(one, list) and isinstance(other, list):
        pairs = ((one, other), (other, one))
        return all(
            any(is_equal_value(item, known) for known in others)
            for items, others in pairs
            for item in items
        )
    left, right = str(one).strip().casefold(), str(other).strip().casefold()
    try:
        return left == right or float(left) == float(right)
    except ValueError:
        return False


def reset_members(own: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    """Return the members that are missing, null or empty now, or a list that lacks an item."""
    return {name for name, value in own.items() if is_lost(value, now.get(name))}


def changed_creation_times(shown: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    """Return the members with the time of the creation that have another value now, in an object
    with the same members.
    """
    if shown.keys() != now.keys():
        return set()
    return {
        name
        for name, value in shown.items()
        if _CREATION_TIME.search(name)
        and is_text_or_number(value)
        and is_text_or_number(now[name])
        and not is_equal_value(value, now[name])
    }


def is_lost(old: object, new: object) -> bool:
    """Whether a value is missing, null or empty now, or a list lacks one of its items."""
    if not _is_comparable(old) or old == "":
        return False
    if isinstance(old, list):
        kept = new if isinstance(new, list) else [] if new is None else old
        return any(not any(is_equal_value(item, known) for known in kept) for item in old)
    return new in (None, "")


def lists_item(page: Observation, resource: CreatedResource) -> bool:
    """Whether a list shows a resource."""
    return _listed_item(page, resource) is not None


def lists_unchanged(
    page: Observation, resource: CreatedResource, state: Observation, before: Observation
) -> bool:
    """Whether a list shows a resource, as a list did before, with no value but those of that list
    and of a read.
    """
    item, known = _listed_item(page, resource), _listed_item(before, resource)
    if not isinstance(item, dict) or not isinstance(known, dict):
        return item is not None and known is not None
    return all(
        any(
            name in members and members[name] == value
            for members in (known, *objects_in(state.json))
        )
        for name, value in item.items()
    )


def _listed_item(page: Observation, resource: CreatedResource) -> object:
    wanted, names = str(resource.id), {last_placeholder(resource.kind), "id", "_id", "uuid"}
    for item in list_items(page.json):
        if isinstance(item, dict):
            if any(str(item[name]) == wanted for name in names & item.keys()):
                return item
        elif str(item) == wanted:
            return item
    return None
