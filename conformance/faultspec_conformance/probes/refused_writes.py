"""Refused writes: whether a resource or a list has changed although the service refused the write.

The exchanges of the run show most of it. What they leave open is read once. A write after which
something differs is sent again to a new resource, between two reads.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress

from faultspec.exchange.model import Request
from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec.runtime.nodes import child
from faultspec_conformance.config import Identity
from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.probes.resending import LARGEST, ask_again, with_body
from faultspec_conformance.probes.whole_lists import (
    configured_query,
    pages_config,
    read_pages,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import make, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    differing_pointers,
    failed,
    leaves,
    list_items,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.parameters import referred_id
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    creation_path,
    path_of,
)
from faultspec_conformance.session.sampling.tokens import MADE_UP

_CLAUSE = "writes/refused"

#: The name of the probe.
NAME = "refused-writes"

_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

#: Lists, and resources, that are read at the end of the run.
_READS, _ITEM_READS = 6, 16

#: Creations with one operation, status and code of which one is sent again.
_ALIKE = 3

#: Refused writes that are sent again because something differs, and because nothing was read before
#: them. Of a service that changes nothing when it refuses there are few.
_SUSPECTS, _UNREAD = 24, 2

#: Values of a member that are tried until one differs.
_SAMPLES = 4

#: Refused changes without new values that are sent again with some.
_RENEWED = 4

#: Different refused writes of one operation that are sent to one new resource, between two reads.
_TOGETHER = 12

#: Statuses of requests that do not write the resource: another method, and a throttle.
_NO_WRITE = frozenset({405, 429})

#: Statuses of refusals that come before a service looks at the write itself.
_EARLY = frozenset({401, 403, 404, 413, 415})

#: Statuses by which another tenant is refused.
_CONCEALING = frozenset({403, 404})

#: Writes that succeeded before, which are sent to a new resource too.
_EARLIER = 4

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1

#: A day of a new date or time. The suite makes them up from 2040 on.
_NEW_DAY = re.compile(r"^(?:20[4-9]|2[12]\d)\d-\d\d-\d\d")

_HEX = frozenset("0123456789abcdef")

#: The rank of a refused creation whose text a list shows.
_SHOWN = 2

#: Members that distinguish the items of a list.
_IDS = ("id", "uuid", "_id", "key", "name")


@dataclass(frozen=True, slots=True)
class _RefusedWrite:
    """A refused write. ``written``: the writes to its item that succeeded before.

    ``before`` and ``after``: what the item was; None if unknown.
    """

    refused: Observation
    written: tuple[Observation, ...] = ()
    before: Observation | None = None
    after: Observation | None = None

    @property
    def is_likely(self) -> bool:
        """Whether it is a deletion after which the item was gone, or left a value of its own."""
        is_gone = self.after is not None and self.after.status in GONE
        is_deletion = self.refused.exchange.request.method == "DELETE"
        return (is_gone and is_deletion) or self.proving_place() is not None

    def proving_place(self) -> str | None:
        """Return the place at which the item has a value that only this write sent; None if it has
        no such value.
        """
        if self.before is None or self.after is None or not self.after.ok:
            return None
        sent = _request_leaves(self.refused)
        others = [_request_leaves(write) for write in (self.before, *self.written)]
        shown, was = dict(leaves(self.after.json)), dict(leaves(self.before.json))
        places = (
            pointer
            for pointer in sorted(sent.keys() & shown.keys() & was.keys())
            if sent[pointer] == shown[pointer] != was[pointer]
            and all(other.get(pointer) != sent[pointer] for other in others)
        )
        return next(places, None)


@dataclass(slots=True)
class _WatchedItem:
    """An item that can be read. ``state``: what it was when it was last shown; None if unknown.

    ``is_owned``: ``owner`` is known; an anonymous owner is None. ``written``: writes that
    succeeded. ``pending``: writes that were refused since ``state``.
    """

    operation: ServiceOperation
    path: str
    owner: str | None = None
    is_owned: bool = False
    state: Observation | None = None
    written: tuple[Observation, ...] = ()
    pending: list[_RefusedWrite] = field(default_factory=list)


@dataclass(slots=True)
class _WatchedList:
    """A list, and creations in it that were refused. ``first``: the first answer with the list."""

    operation: ServiceOperation
    path: str
    first: Observation | None = None
    pending: list[_RefusedWrite] = field(default_factory=list)


@dataclass(slots=True)
class _Review:
    """The effects of refused writes, as far as the exchanges of the run show them.

    ``harmless``: the state after them is that before them. ``suspects``: it differs. ``unread``:
    the state before or after them is not known. ``explained``: the values in answers to writes that
    succeeded.
    """

    items: dict[str, _WatchedItem] = field(default_factory=dict)
    lists: dict[str, _WatchedList] = field(default_factory=dict)
    harmless: list[_RefusedWrite] = field(default_factory=list)
    suspects: list[_RefusedWrite] = field(default_factory=list)
    unread: list[_RefusedWrite] = field(default_factory=list)
    explained: frozenset[str] = frozenset()


def refused_writes(session: HttpSession) -> Iterator[ProbeResult]:
    """Compare what refused writes left behind with what was there before."""
    review = _review_exchanges(session)
    yield from _check(session, review)
    foreign = _find_refused_to_others(session, review)
    for kind in session.kinds:
        if kind.name in foreign:
            yield from attempt(_send_one_by_one(session, kind, foreign[kind.name]), _CLAUSE)
        yield from attempt(_check_taken(session, kind), _CLAUSE)


def refused_writes_since(session: HttpSession) -> Iterator[ProbeResult]:
    """Do the same for the writes that were refused since ``refused_writes``: those of the probes of
    all operations, and of generated traffic.

    A spent limit ends it: the earlier writes are judged.
    """
    parts = session.observations.parts
    reviewed = [turn for turn, part in enumerate(parts[:-1]) if part.name.startswith(NAME)]
    earlier = {
        id(one) for part in parts[: reviewed[-1] + 1 if reviewed else 0] for one in part.exchanges
    }
    try:
        review = _leave_out(_review_exchanges(session), earlier)
        unread = [write for write in review.unread if _is_repeatable(write.refused)]
        rest = [write for write in review.unread if write not in unread]
        yield from attempt(_send_together(session, unread), _CLAUSE)
        yield from _renew_changes(session, unread)
        yield from _check(session, replace(review, unread=rest))
    except Unanswered as error:
        if error.no_answer.kind != "budget":
            raise
        yield Note("the limits leave out reads after writes that were refused late in the run")


def _leave_out(review: _Review, earlier: Collection[int]) -> _Review:
    """The review without the refused writes of these identities."""

    def late(writes: Iterable[_RefusedWrite]) -> list[_RefusedWrite]:
        return [write for write in writes if id(write.refused) not in earlier]

    for item in review.items.values():
        item.pending = late(item.pending)
    for listed in review.lists.values():
        listed.pending = late(listed.pending)
    return replace(
        review,
        harmless=late(review.harmless),
        suspects=late(review.suspects),
        unread=late(review.unread),
    )


def _check(session: HttpSession, review: _Review) -> Iterator[ProbeResult]:
    items = [one for one in review.items.values() if one.pending and one.state]
    items.sort(key=lambda item: all(one.refused.status in _EARLY for one in item.pending))
    for item in items[:_ITEM_READS]:
        identity = session.config.identity(item.owner)
        _compare_item(review, item, _read(session, item.path, item.operation, identity))
    yield from (passed(_CLAUSE) for _ in _distinct(review.harmless))
    lists = [watched for watched in review.lists.values() if watched.pending]
    for watched in lists[:_READS]:
        yield from attempt(_check_list(session, watched, review.explained), _CLAUSE)
    suspects = sorted(_distinct(review.suspects), key=lambda one: not one.is_likely)
    candidates = (
        *suspects[:_SUSPECTS],
        *_distinct(one for one in review.unread if one.refused.sound)[:_UNREAD],
    )
    for write in candidates:
        yield from attempt(_send_to_new(session, write), _CLAUSE)
    # What repeats the values of its item, and leaves out the rest, changes nothing that is seen.
    unseen = (one for one in (*review.harmless, *review.unread) if one not in candidates)
    yield from _renew_changes(session, unseen)
    if not (lists or candidates or review.harmless):
        yield not_exercised(_CLAUSE, "no write to a resource that can be read was refused")


def _review_exchanges(session: HttpSession) -> _Review:
    review = _Review()
    operations = session.inventory.operations
    reads = [one for one in operations if one.method == "GET" and one.template.endswith("}")]
    lists = [one for one in operations if one.method == "GET" and not one.template.endswith("}")]
    explained: set[str] = set()
    for observation in session.observations.exchanges:
        request = observation.exchange.request
        if observation.exchange.operation is None:
            continue
        _review_list(review, observation, lists)
        if request.method in _WRITES and not _is_refused(observation):
            sent = _request_leaves(observation).values()
            explained |= {value for value in sent if isinstance(value, str)}
        if request.method in _WRITES and observation.ok:
            explained |= _values_of(observation)
            _note_creation(session, review, observation, reads)
        found = _locate(observation, reads)
        if found is not None:
            read, path = found
            item = review.items.setdefault(path, _WatchedItem(read, path))
            _review_item(review, item, observation)
            if request.method == "DELETE" and observation.ok and _path(request) == path:
                del review.items[path]
    review.unread += (
        write
        for item in review.items.values()
        for write in item.pending
        if item.is_owned and item.state is None
    )
    review.explained = frozenset(explained)
    return review


def _review_item(review: _Review, item: _WatchedItem, observation: Observation) -> None:
    """Note what an exchange on an item, or below it, shows."""
    exchange = observation.exchange
    identity, exact = exchange.identity, _path(exchange.request) == item.path
    if exchange.request.method == "GET":
        same = item.is_owned and identity == item.owner
        if exact and (same or (not item.is_owned and observation.ok)):
            item.owner, item.is_owned = identity, True
            _compare_item(review, item, observation)
    elif _is_refused(observation):
        item.pending.append(_RefusedWrite(observation, item.written))
    elif exchange.request.method in _WRITES and observation.status not in _NO_WRITE:
        if observation.ok:
            item.written = (*item.written, observation)
        whole = (
            observation.ok and item.state is not None and _names(item.state) <= _names(observation)
        )
        if whole or exact:  # else a part below it was written, which may leave the item as it is
            if whole:
                seen = [_add_states(write, item.state, observation) for write in item.pending]
                proven = [write.proving_place() is not None for write in seen]
                review.suspects += compress(seen, proven)
                item.pending = [
                    one for one, bad in zip(item.pending, proven, strict=True) if not bad
                ]
            review.unread += item.pending if item.is_owned else ()
            item.owner = item.owner if item.is_owned else identity
            item.pending, item.is_owned = [], True
            item.state = observation if whole else None


def _add_states(
    write: _RefusedWrite, before: Observation | None, accepted: Observation
) -> _RefusedWrite:
    """A refused write whose item the answer to a later, accepted write shows."""
    return replace(write, before=before, after=accepted, written=(*write.written, accepted))


def _compare_item(review: _Review, item: _WatchedItem, now: Observation) -> None:
    """Compare the state of an item with the last one that is known."""
    before, pending = item.state, item.pending
    item.state, item.pending = (now if now.ok else None), []
    if before is None or not (now.ok or now.status in GONE):
        review.unread += pending if now.ok else ()
    elif not now.ok or _differ(before, now):
        review.suspects += (
            replace(write, before=before, after=now)
            if len(write.written) == len(item.written)  # else a later write may explain it
            else write
            for write in pending
        )
    elif _names(before) < _names(now):  # the answer to a write may lack members
        review.unread += pending
    else:
        review.harmless += pending


def _differ(before: Observation, now: Observation) -> bool:
    """Whether an item has other values, as far as both answers show them."""
    found = differing_pointers(before.json, now.json)
    if before.exchange.request.method == "GET":
        return bool(found)
    common = {child("", name) for name in _names(before) & _names(now)}
    return any(f"/{pointer.split('/')[1]}" in common for pointer in found if pointer)


def _review_list(
    review: _Review, observation: Observation, lists: Iterable[ServiceOperation]
) -> None:
    """Note the first answer with a list, and the creations that were refused."""
    exchange = observation.exchange
    method, _, template = (exchange.operation or "").partition(" ")
    path = _path(exchange.request)
    if method == "GET" and observation.ok:
        listing = next((one for one in lists if one.template == template), None)
        if listing is not None and isinstance(observation.json, list | dict):
            watched = review.lists.setdefault(path, _WatchedList(listing, path))
            watched.first = watched.first or observation
    elif method == "POST" and _is_refused(observation):
        for end, collection in ((template, path), (_parent(template), _parent(path))):
            listing = next((one for one in lists if one.template == end), None)
            if listing is not None:
                watched = review.lists.setdefault(collection, _WatchedList(listing, collection))
                watched.pending.append(_RefusedWrite(observation))
                return


def _note_creation(
    session: HttpSession,
    review: _Review,
    observation: Observation,
    reads: Iterable[ServiceOperation],
) -> None:
    """Watch the item that a creation made, with the state that the answer shows."""
    for kind in session.kinds:
        path = creation_path(kind, observation)
        read = kind.operation("read")
        if path is not None and read is not None and read in reads and path not in review.items:
            owner = observation.exchange.identity
            review.items[path] = _WatchedItem(
                read, path, owner=owner, is_owned=True, state=observation
            )


def _locate(
    observation: Observation, reads: Iterable[ServiceOperation]
) -> tuple[ServiceOperation, str] | None:
    """Return the read of the nearest item that a request is for or lies below, and its path."""
    template = (observation.exchange.operation or "").partition(" ")[2]
    parts = _path(observation.exchange.request).split("/")
    shape = shape_of(template)
    fitting = [
        read
        for read in reads
        if shape == shape_of(read.template) or shape.startswith(shape_of(read.template) + "/")
    ]
    nearest = max(fitting, key=lambda read: read.template.count("/"), default=None)
    if nearest is None:
        return None
    return nearest, "/".join(parts[: nearest.template.count("/") + 1])


def _check_list(
    session: HttpSession, watched: _WatchedList, explained: frozenset[str]
) -> Iterator[Outcome]:
    """Check that a list has no item that no creation explains; else send the refused creations
    again.
    """
    pages = _read_pages(session, watched)
    items = [item for page in pages for item in _items(page)]
    name = watched.operation.name
    if not explained.intersection(items):
        yield not_exercised(_CLAUSE, f"{name} shows no resource that the run created")
        return
    groups = _group(one for one in watched.pending if one.refused.sound)[:_UNREAD]
    known = explained
    if watched.first is not None:
        known = explained.union(_items(watched.first))
        # The first answer may have an item that an earlier refusal left behind.
        unexplained = frozenset(text for page in pages for text in _new_texts(page, explained))
        ranks = {
            id(one): _trace_rank(_own_texts(one.refused, explained), unexplained)
            for one in watched.pending
        }
        if all(item in known for item in items) and _SHOWN not in ranks.values():
            yield passed(_CLAUSE)
            return
        # What has new values may have left something behind that another refusal does not.
        groups = _group(sorted(watched.pending, key=lambda one: ranks[id(one)]))
        groups.sort(key=lambda writes: ranks[id(writes[-1])] != _SHOWN)
        groups = groups[:_SUSPECTS]
    for writes in groups:
        # Some cannot be refused again, such as a second write under a key.
        tried = (
            _create_again(session, watched, write.refused, explained)
            for write in reversed(writes[-_ALIKE:])
        )
        outcome = next((one for one in tried if one is not None), None)
        yield (
            outcome
            or _find_stored(writes, explained, pages, known)
            or not_exercised(
                _CLAUSE,
                f"{writes[-1].refused.exchange.operation} could not be refused again with "
                f"{writes[-1].refused}",
            )
        )


def _find_stored(
    writes: Iterable[_RefusedWrite],
    explained: frozenset[str],
    pages: Iterable[Observation],
    known: Collection[str],
) -> Outcome | None:
    """Return the failure that a list has an item with a text that only a refused creation sent."""
    sent = [(write, _own_texts(write.refused, explained)) for write in writes]
    for page in pages:
        shown = {*_new_texts(page, known)}
        for write, own in sent:
            texts = own & shown
            if any(map(MADE_UP.search, texts)):
                refused, listing = write.refused, page.exchange.operation
                message = (
                    f"{refused.exchange.operation} was refused ({refused}), but {listing} has "
                )
                message += "an item with a text that only this request sent"
                return failed(_CLAUSE, message, refused, page, variant="list")
    return None


def _new_texts(page: Observation, known: Collection[str]) -> Iterator[str]:
    """The texts in the items of a list that are not known."""
    for item, identity in zip(list_items(page.json), _items(page), strict=True):
        if identity not in known:
            yield from (value for _, value in leaves(item) if isinstance(value, str))


def _trace_rank(sent: Collection[str], left: Collection[str]) -> int:
    """How likely a refused creation is the origin of unexplained items: `_SHOWN` if it sent a text
    that one has, 1 if it sent texts of its own.
    """
    return _SHOWN if any(text in left for text in sent) else int(bool(sent))


def _create_again(
    session: HttpSession, watched: _WatchedList, refused: Observation, explained: frozenset[str]
) -> Outcome | None:
    """Send a refused creation again, with new values. The list must have a new item twice, and not
    without it. None if the creation is not refused again.
    """
    path, listing = _path(refused.exchange.request), watched.operation.name
    evidence: list[Observation] = []
    for turn in range(2):
        before = _read_pages(session, watched)
        renewed = _renew_texts(session, refused, _own_texts(refused, explained))
        answer = _send_again(session, renewed, path)
        if answer is None and renewed is not refused:
            before = _read_pages(session, watched)
            answer = _send_again(session, refused, path)
        after = _read_pages(session, watched)
        if answer is None:
            return None
        shown = _find_new(before, after)
        if shown is None:
            return passed(_CLAUSE)
        if turn == 0:
            session.wait(_TICK, after=answer)
            if _find_new(after, _read_pages(session, watched)) is not None:
                return not_exercised(_CLAUSE, f"{listing} has new items without a request")
        evidence = [before[0], shown, answer]
    message = f"{refused.exchange.operation} was refused ({refused}), but {listing} has a new item"
    return failed(_CLAUSE, message, *evidence, variant="list")


def _read_pages(session: HttpSession, watched: _WatchedList) -> list[Observation]:
    """Read the pages of a list with its configured query; the refusal if it is refused."""
    listing, route = watched.operation, watched.operation.template
    query = configured_query(session, listing)
    spec = RequestSpec("GET", watched.path, identity=session.caller, query=query, route=route)
    pages = read_pages(session, listing, pages_config(session, listing), spec)
    return pages or [session.call(spec)]


def _find_new(before: list[Observation], after: list[Observation]) -> Observation | None:
    """Return the first page with an item that the earlier pages lack, or None."""
    known = {item for page in before for item in _items(page)}
    return next((page for page in after if not known.issuperset(_items(page))), None)


def _own_texts(refused: Observation, explained: frozenset[str]) -> frozenset[str]:
    """Return the texts of a refused body that were made up for it, as far as no successful write
    has them.
    """
    values = (value for value in _request_leaves(refused).values() if isinstance(value, str))
    made_up = (one for one in values if MADE_UP.search(one) or _NEW_DAY.match(one))
    return frozenset(one for one in made_up if one not in explained)


def _renew_texts(session: HttpSession, refused: Observation, texts: frozenset[str]) -> Observation:
    """Return a refused write with new values in place of these texts, which it may have stored."""

    def replacement(found: re.Match[str]) -> str:
        is_hexadecimal = set(found[0]) <= _HEX and not found[0].isdigit()
        return sampling.scramble(session.tokens, found[0], hexadecimal=is_hexadecimal)

    found = (_NEW_DAY.match(text) for text in texts)
    days = {day: session.tokens.day() for day in sorted({one[0] for one in found if one})}
    new = {
        text: _NEW_DAY.sub(lambda day: days[day[0]], MADE_UP.sub(replacement, text))
        for text in texts
    }
    if not new or len(refused.exchange.request.body) > LARGEST:
        return refused
    return with_body(refused, _replace_texts(parse_body(refused.exchange.request.body), new))


def _replace_texts(value: object, new: Mapping[str, str]) -> object:
    if isinstance(value, dict):
        return {name: _replace_texts(member, new) for name, member in value.items()}
    if isinstance(value, list):
        return [_replace_texts(item, new) for item in value]
    return new.get(value, value) if isinstance(value, str) else value


def _renew_changes(session: HttpSession, writes: Iterable[_RefusedWrite]) -> Iterator[ProbeResult]:
    """Send refused changes to new resources, with new values; of each status one first."""
    changes = [one for one in _distinct(writes) if _is_change(one.refused)]
    first = {one.refused.status: one for one in reversed(changes)}
    rest = [one for one in changes if one not in first.values()]
    for write in (*first.values(), *rest)[:_RENEWED]:
        yield from attempt(_send_to_new(session, write, renews=True), _CLAUSE)


def _is_change(refused: Observation) -> bool:
    """Whether a refused write would change an item, and was refused for its body or its state."""
    is_update = refused.exchange.request.method in ("PUT", "PATCH")
    return is_update and refused.sound and _is_repeatable(refused)


def _send_to_new(
    session: HttpSession, write: _RefusedWrite, *, renews: bool = False
) -> Iterator[Outcome]:
    """Send a refused write to a new resource, between two reads. A difference must occur twice, and
    not without the write.

    What the item had been sent before is sent to the new one too. If the write is not refused
    again, a value that only it had sent is proof. ``renews``: it gets new values where it repeats
    those of the resource, and is not judged if it is not refused with them.
    """
    refused = write.refused
    name = refused.exchange.operation or ""
    kind = _kind_of(session, name.partition(" ")[2])
    if kind is None:
        yield not_exercised(_CLAUSE, f"no resource can be made for {name}")
        return
    moved: frozenset[str] | None = None
    for turn in range(2):
        resource = _make_alike(session, kind, write)
        if isinstance(resource, str):
            yield not_exercised(_CLAUSE, resource)
            return
        before = _read_resource(session, resource)
        path, tag = _new_path(refused, kind, resource), before.header("ETag")
        if renews:
            answer = _send_renewed(session, refused, path, tag=tag, current=before.json)
        else:
            answer = _send_again(session, refused, path, tag=tag)
        if answer is None and renews:
            return
        after = _read_resource(session, resource)
        if answer is None or not before.ok:
            yield _judge_seen(write, kind)
            return
        evidence = (before, after, answer)
        if after.status in GONE:
            message = f"{name} was refused ({answer}), but the {kind.name} is gone"
            yield failed(_CLAUSE, message, *evidence, variant="gone")
            return
        found = differing_pointers(before.json, after.json)
        moved = found if moved is None else moved & found
        if moved and turn == 0:
            moved -= _changing_pointers(session, kind, write)
        if not moved:
            yield passed(_CLAUSE)
            return
    yield _change_failure(refused, kind, min(moved or ()), evidence)


def _send_renewed(
    session: HttpSession, refused: Observation, path: str, *, tag: str | None, current: object
) -> Observation | None:
    """Send a refused change again with new values of the members in which it does not differ from
    the resource, those that it lacks among them. Return the answer; None if it is another.
    """
    method, _, template = (refused.exchange.operation or "").partition(" ")
    operation = session.description.find(method, template)
    sent = parse_body(refused.exchange.request.body)
    if operation is None or not isinstance(sent, dict) or not isinstance(current, dict):
        return None
    wrong = {name: value for name, value in sent.items() if value != current.get(name)}
    kind = _kind_of(session, template)
    if refused.status == 409 and kind is not None:
        wrong |= _taken_values(session, kind, wrong)
    for members in _new_members(session, operation, sent=sent, current=current, keeps=wrong):
        renewed = with_body(refused, {**sent, **members, **wrong})
        answer = ask_again(session, renewed, path, tag=tag)
        if answer is None or answer.ok:
            return None  # what it changed is due
        if (answer.status, answer.code) == (refused.status, refused.code):
            return answer
    return None


def _taken_values(
    session: HttpSession, kind: ResourceKind, wrong: Mapping[str, object]
) -> dict[str, object]:
    """Return the values that another new resource has in unique members: those that a write had
    repeated may be free again.
    """
    names = [name for name in wrong if not kind.config.unique or name in kind.config.unique]
    other = make(session, kind)
    shown = other.creation.json if isinstance(other, CreatedResource) else None
    if not isinstance(shown, dict):
        return {}
    return {name: shown[name] for name in names if isinstance(shown.get(name), str | int)}


def _new_members(
    session: HttpSession,
    operation: ServiceOperation,
    *,
    sent: Mapping[str, object],
    current: Mapping[str, object],
    keeps: Collection[str],
) -> Iterator[dict[str, object]]:
    """Yield new values of the documented members that a write does not need to be refused: of all,
    then of those that it sends.
    """
    schema = operation.body.schema if operation.body is not None else {}
    source = session.source
    new: dict[str, object] = {}
    for name, member in sampling.properties_of(session.description.schema(schema)).items():
        read_only = sampling.is_read_only(session.description.schema(member))
        if name in keeps or read_only or referred_id(session, name) is not None:
            continue
        samples = (sampling.sample_value(source, member) for _ in range(_SAMPLES))
        value = next((one for one in samples if one != current.get(name)), None)
        if value is not None:
            new[name] = value
    known = {name: value for name, value in new.items() if name in sent}
    yield from (members for members in ((new, known) if known != new else (new,)) if members)


def _check_taken(session: HttpSession, kind: ResourceKind) -> Iterator[Outcome]:
    """Create a resource with the unique values of another one. It is refused, and the other one
    stays as it is.
    """
    create, read = kind.operation("create"), kind.operation("read")
    unique = kind.config.unique
    if create is None or read is None or not unique or create.placeholders:
        return
    resource = make(session, kind)
    if not isinstance(resource, CreatedResource) or not isinstance(resource.body, dict):
        return
    before = _read_resource(session, resource)
    taken = {name: resource.body[name] for name in unique if name in resource.body}
    current = before.json if isinstance(before.json, dict) else {}
    found = _new_members(session, create, sent=resource.body, current=current, keeps=taken)
    for members in found:
        body = {**resource.body, **members, **taken}
        spec = request_to(session, create, {})
        answer = session.call(replace(spec, identity=resource.owner, body=body))
        if answer.ok or answer.status >= 500:
            return
        if answer.status == 409:
            after = _read_resource(session, resource)
            moved = differing_pointers(before.json, after.json)
            if after.ok and moved and _stays(session, resource, after):
                yield _change_failure(answer, kind, min(moved), (before, after, answer))
            elif after.ok:
                yield passed(_CLAUSE)
            return


def _stays(session: HttpSession, resource: CreatedResource, now: Observation) -> bool:
    """Whether a resource does not change by itself."""
    session.wait(_TICK, after=now)
    return not differing_pointers(now.json, _read_resource(session, resource).json)


def _find_refused_to_others(
    session: HttpSession, review: _Review
) -> dict[str, list[_RefusedWrite]]:
    """Return the changes that another tenant was refused, by the names of kinds: one write of each
    operation. One may have undone on the same item what another had done.
    """
    found: dict[str, dict[str, _RefusedWrite]] = {}
    for write in (*review.harmless, *review.unread):
        exchange = write.refused.exchange
        kind = _kind_of(session, (exchange.operation or "").partition(" ")[2])
        caller = session.config.identity(exchange.identity)
        is_foreign = caller.tenant is not None and caller.tenant != session.caller.tenant
        is_foreign = is_foreign and exchange.request.method != "DELETE"
        if kind is not None and is_foreign and write.refused.status in _CONCEALING:
            found.setdefault(kind.name, {})[exchange.operation or ""] = write
    return {
        name: [*writes.values()][:_TOGETHER] for name, writes in found.items() if len(writes) > 1
    }


def _send_one_by_one(
    session: HttpSession, kind: ResourceKind, writes: Iterable[_RefusedWrite]
) -> Iterator[Outcome]:
    """Send refused writes to one new resource, with a read after each. One after which it differs
    is sent to another new one.
    """
    resource = make(session, kind)
    if isinstance(resource, str):
        yield not_exercised(_CLAUSE, resource)
        return
    state = _read_resource(session, resource)
    for write in writes:
        path = _new_path(write.refused, kind, resource)
        answer = _send_again(session, write.refused, path, tag=state.header("ETag"))
        now = _read_resource(session, resource)
        is_same = now.ok and not differing_pointers(state.json, now.json)
        if answer is not None and state.ok and is_same:
            yield passed(_CLAUSE)
        elif answer is not None and state.ok:
            yield from _send_to_new(session, replace(write, written=()))
        state = now


def _is_repeatable(refused: Observation) -> bool:
    """Whether a write was refused for its body, which is small."""
    size = len(refused.exchange.request.body)
    return 0 < size <= LARGEST and refused.status not in _EARLY


def _send_together(session: HttpSession, unread: Iterable[_RefusedWrite]) -> Iterator[Outcome]:
    """Send different refused writes of each operation to one new resource, between two reads.

    Later writes have overwritten what these left behind. If the new resource differs, each write is
    sent to a new one.
    """
    groups: dict[str, dict[bytes, _RefusedWrite]] = {}
    for write in unread:
        exchange = write.refused.exchange
        groups.setdefault(exchange.operation or "", {})[exchange.request.body] = write
    for name, writes in [*groups.items()][:_UNREAD]:
        kind = _kind_of(session, name.partition(" ")[2])
        chosen = [*writes.values()][:_TOGETHER]
        resource = make(session, kind) if kind is not None else None
        if kind is None or not isinstance(resource, CreatedResource):
            continue
        before = _read_resource(session, resource)
        tag = before.header("ETag")
        answers = [
            _send_again(session, one.refused, _new_path(one.refused, kind, resource), tag=tag)
            for one in chosen
        ]
        if not before.ok or not all(answers):
            continue  # an accepted write explains a difference
        after = _read_resource(session, resource)
        if after.ok and not differing_pointers(before.json, after.json):
            yield passed(_CLAUSE)
            continue
        shown = dict(leaves(after.json))
        chosen.sort(
            key=lambda one: all(
                shown.get(place) != value for place, value in _request_leaves(one.refused).items()
            )
        )
        for write in chosen[:_UNREAD]:
            yield from _send_to_new(session, replace(write, written=()))


def _judge_seen(write: _RefusedWrite, kind: ResourceKind) -> Outcome:
    """Judge a write that was not refused again by what the run saw of its item."""
    pointer, refused = write.proving_place(), write.refused
    if pointer is None or write.before is None or write.after is None:
        name = refused.exchange.operation
        return not_exercised(_CLAUSE, f"{name} could not be refused again with {refused}")
    return _change_failure(refused, kind, pointer, (write.before, write.after, refused))


def _change_failure(
    refused: Observation, kind: ResourceKind, pointer: str, evidence: tuple[Observation, ...]
) -> Outcome:
    what = f"{refused.exchange.operation} was refused ({refused})"
    message = f"{what}, but it changed the {kind.name} at `{pointer}`"
    return failed(_CLAUSE, message, *evidence, pointer=pointer)


def _make_alike(
    session: HttpSession, kind: ResourceKind, write: _RefusedWrite
) -> CreatedResource | str:
    """Return a new resource after the writes that the item had accepted; else why there is none."""
    resource = make(session, kind)
    if isinstance(resource, CreatedResource):
        for earlier in write.written[-_EARLIER:]:
            tag = _read_resource(session, resource).header("ETag")
            _send_again(session, earlier, _new_path(earlier, kind, resource), tag=tag)
    return resource


def _changing_pointers(
    session: HttpSession, kind: ResourceKind, write: _RefusedWrite
) -> frozenset[str]:
    """Return the places of a new resource that change by themselves."""
    resource = _make_alike(session, kind, write)
    if isinstance(resource, str):
        return frozenset()
    first = _read_resource(session, resource)
    session.wait(_TICK, after=first)
    return differing_pointers(first.json, _read_resource(session, resource).json)


def _send_again(
    session: HttpSession, refused: Observation, path: str, *, tag: str | None = None
) -> Observation | None:
    """Do as `ask_again`; return None also if it is not the same refusal."""
    answer = ask_again(session, refused, path, tag=tag)
    return answer if answer is not None and answer.status == refused.status else None


def _read_resource(session: HttpSession, resource: CreatedResource) -> Observation:
    read = resource.kind.operation("read")
    assert read is not None, resource.kind.name
    return _read(session, path_of(read.template, resource.values), read, resource.owner)


def _read(
    session: HttpSession, path: str, operation: ServiceOperation, identity: Identity
) -> Observation:
    return session.call(RequestSpec("GET", path, identity=identity, route=operation.template))


def _kind_of(session: HttpSession, template: str) -> ResourceKind | None:
    """Return the kind of the nearest item that a template is for or lies below, if it can be
    read.
    """
    shape = shape_of(template)
    fitting = [
        kind
        for kind in session.kinds
        if kind.item is not None
        and kind.operation("read") is not None
        and f"{shape}/".startswith(f"{shape_of(kind.item)}/")
    ]
    return max(fitting, key=lambda kind: (kind.item or "").count("/"), default=None)


def _new_path(refused: Observation, kind: ResourceKind, resource: CreatedResource) -> str:
    """Return the path of a refused write with a new resource in place of its own."""
    item = kind.item or ""
    parts = _path(refused.exchange.request).split("/")
    return "/".join([path_of(item, resource.values), *parts[item.count("/") + 1 :]])


def _distinct(writes: Iterable[_RefusedWrite]) -> list[_RefusedWrite]:
    """Return one refused write of each operation, status and code, those that were refused late
    first. One that left a value behind comes before the others of its operation.
    """
    ranked = sorted(writes, key=lambda write: write.proving_place() is not None)
    return [group[-1] for group in _group(ranked)]


def _group(writes: Iterable[_RefusedWrite]) -> list[list[_RefusedWrite]]:
    """Return refused writes by operation, status and code, those that were refused late first."""
    found: dict[tuple[object, ...], list[_RefusedWrite]] = {}
    for write in writes:
        one = write.refused
        found.setdefault((one.exchange.operation, one.status, one.code), []).append(write)
    return sorted(found.values(), key=lambda group: group[0].refused.status in _EARLY)


def _request_leaves(observation: Observation) -> dict[str, object]:
    return dict(leaves(parse_body(observation.exchange.request.body)))


def _is_refused(observation: Observation) -> bool:
    method = observation.exchange.request.method
    status = observation.status
    return method in _WRITES and 400 <= status < 500 and status not in _NO_WRITE


def _items(observation: Observation) -> list[str]:
    """Return the id of each item of a list; the item itself if it has none."""
    return [
        str(next((item[name] for name in _IDS if name in item), item))
        if isinstance(item, dict)
        else str(item)
        for item in list_items(observation.json)
    ]


def _names(observation: Observation) -> set[str]:
    return set(observation.json) if isinstance(observation.json, dict) else set()


def _values_of(observation: Observation) -> set[str]:
    """Return the values in the body of an answer, and the parts of its `Location`."""
    location = observation.header("Location") or ""
    return {str(value) for _, value in leaves(observation.json)} | set(location.split("/"))


def _path(request: Request) -> str:
    return request.target.partition("?")[0]


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
