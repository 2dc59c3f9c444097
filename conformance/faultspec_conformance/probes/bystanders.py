"""Accepted updates and actions, and the other resources of the kind: an older and a newer one are
read before and after. What the write sends or brings about does not show in them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from faultspec.language.values import is_text_or_number, shorten
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.effects import (
    find_representation,
    is_equal_value,
    is_masked,
    is_set_by_service,
    may_be_pending,
)
from faultspec_conformance.probes.preconditions import call_at_state
from faultspec_conformance.probes.updates import change_body, changes
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import body_for, make, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.observations import Note, ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    is_json_write,
    lies_below,
    takes_body,
)

BYSTANDERS = ("writes/updated",)
"""The clauses."""

_UPDATED = BYSTANDERS[0]

#: Updates and actions of one kind of resource that are sent.
_MOST = 8

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1

#: Characters of a text that no other resource has by chance; numbers below this may be places in an
#: order, or counts.
_TELLING, _SMALL = 8, 10


@dataclass(slots=True)
class _Trio:
    """Three new resources of a kind, in the order of their creation: the write goes to the one in
    the middle. ``sent``: the writes that it has accepted.
    """

    session: HttpSession
    read: ServiceOperation
    older: CreatedResource
    target: CreatedResource
    newer: CreatedResource
    sent: list[ServiceOperation] = field(default_factory=list)

    @property
    def every(self) -> tuple[CreatedResource, ...]:
        """All three."""
        return self.older, self.target, self.newer

    @property
    def others(self) -> tuple[CreatedResource, CreatedResource]:
        """The resources that the write does not address."""
        return self.older, self.newer

    def get(self, resource: CreatedResource) -> Observation:
        """Read one of the three."""
        values, owner = resource.item_values(self.read), resource.owner
        spec = RequestSpec("GET", self.read.template, identity=owner, values=values)
        return self.session.call(spec)

    def send(self, operation: ServiceOperation) -> "_WatchedWrite":
        """Send a write between reads of all three."""
        before = [self.get(one) for one in self.others]
        state = self.get(self.target)
        values = self.target.item_values(operation)
        body = _body_of(self.session, self.target.kind, operation)
        spec = replace(
            request_to(self.session, operation, values), identity=self.target.owner, body=body
        )
        state, answer = call_at_state(
            self.session, operation, spec, state, get=lambda: self.get(self.target)
        )
        if not answer.ok:
            return _WatchedWrite(self, before=before, state=state, answer=answer, after=before)
        self.sent.append(operation)
        after = [self.get(one) for one in self.others]
        return _WatchedWrite(self, before=before, state=state, answer=answer, after=after)


@dataclass(frozen=True, slots=True)
class _WatchedWrite:
    """A write to the resource in the middle. ``before`` and ``after``: reads of the others.
    ``state``: a read of the resource before.
    """

    trio: _Trio
    before: list[Observation]
    state: Observation
    answer: Observation
    after: list[Observation]

    @property
    def is_readable(self) -> bool:
        """Whether the write was carried out, and all reads show something."""
        reads = (*self.before, self.state, *self.after)
        return self.answer.ok and not may_be_pending(self.answer) and all(one.ok for one in reads)

    def effects(self) -> dict[tuple[int, str], object]:
        """The members of the others (0: the older one) that show an effect of the write, each with
        its new value.
        """
        found: dict[tuple[int, str], object] = {}
        for at, other in enumerate(self.trio.others):
            own = other.body if isinstance(other.body, dict) else {}
            then, now = (find_representation(one[at], own) for one in (self.before, self.after))
            for name in then.keys() & now.keys():
                if self._is_affected(name, own, (then[name], now[name])):
                    found[at, name] = now[name]
        return found

    def _is_affected(
        self, name: str, own: Mapping[str, object], values: tuple[object, object]
    ) -> bool:
        """Whether a member of another resource has the value that the write sent or brought about,
        or has lost a text or list that its creation sent. An exclusive flag, or a place in an
        order, gets another value than the write sent.
        """
        old, new = values
        if is_set_by_service(name) or is_masked(new) or is_equal_value(old, new):
            return False
        sent = parse_body(self.answer.exchange.request.body)
        target = find_representation(self.state, own)
        shown = find_representation(self.answer, target)
        results = [one[name] for one in (sent, shown) if isinstance(one, dict) and name in one]
        is_small = isinstance(new, int | float) and not isinstance(new, bool) and abs(new) < _SMALL
        comparable = isinstance(new, bool | list) or is_text_or_number(new)
        is_new = comparable and not is_small and not is_equal_value(target.get(name), new)
        if is_new and any(is_equal_value(one, new) for one in results):
            return True
        text = own.get(name)
        is_own = isinstance(text, list) or (isinstance(text, str) and len(text) >= _TELLING)
        # What several have may go from one to another, such as a phone number.
        holders = [one.body for one in self.trio.every if isinstance(one.body, dict)]
        is_unique = sum(is_equal_value(one.get(name), text) for one in holders) == 1
        return is_own and is_unique and is_equal_value(old, text)


def bystanders(session: HttpSession) -> Iterator[ProbeResult]:
    """Send each update and action of each kind of resource, with others beside it."""
    for kind in session.kinds:
        if not session.writable or kind.name not in session.knowledge.created:
            continue
        operations = list(_operations(session, kind))
        if len(operations) > _MOST:
            names = ", ".join(one.name for one in operations[_MOST:])
            yield Note(f"other resources are not read after {names}")
        if operations:
            yield from attempt(_watch(session, kind, operations[:_MOST]), _UPDATED)


def _operations(session: HttpSession, kind: ResourceKind) -> Iterator[ServiceOperation]:
    """Yield the updates of a kind, and the actions right below its items."""
    yield from (one for one in changes(session, kind) if is_json_write(one))
    known = {
        one.name
        for each in session.kinds
        for one in (each.operation("create"), each.operation("update"), each.operation("list"))
        if one is not None
    }
    for operation in session.inventory.operations:
        is_other = operation.method == "POST" and operation.name not in known
        if is_other and kind.item is not None and lies_below(operation, kind):
            yield operation


def _body_of(session: HttpSession, kind: ResourceKind, operation: ServiceOperation) -> object:
    """Return a body for an update or an action."""
    if operation.method != "POST":
        return change_body(session, kind, operation)
    spec = request_to(session, operation, {})
    return body_for(session, operation) if takes_body(operation) else spec.body


def _watch(
    session: HttpSession, kind: ResourceKind, operations: list[ServiceOperation]
) -> Iterator[Outcome]:
    trio: _Trio | str | None = None
    for number, operation in enumerate(operations):
        trio = trio or _make_trio(session, kind)
        write = trio.send(operation) if isinstance(trio, _Trio) else None
        if write is not None and not write.answer.ok and write.trio.sent:
            trio = _make_trio(session, kind)  # an earlier action may be why it is refused
            write = trio.send(operation) if isinstance(trio, _Trio) else None
        if write is None:
            left = ", ".join(one.name for one in operations[number:])
            yield not_exercised(_UPDATED, f"no others are compared after {left}: {trio}")
            return
        if not write.is_readable:
            reason = f"no others are compared: the service answered {write.answer} to "
            yield not_exercised(_UPDATED, reason + operation.name)
        elif not write.effects():
            yield passed(_UPDATED)
        else:
            yield _confirm(session, kind, operation, write)
            trio = None


def _make_trio(session: HttpSession, kind: ResourceKind) -> _Trio | str:
    """Create three resources, one after the other."""
    read = kind.operation("read")
    if read is None:
        return f"no operation is known that reads `{kind.name}`"
    made: list[CreatedResource] = []
    for _ in range(3):
        one = make(session, kind, owner=made[0].owner if made else None)
        if isinstance(one, str):
            return one
        made.append(one)
    older, target, newer = made
    return _Trio(session, read, older=older, target=target, newer=newer)


def _confirm(
    session: HttpSession, kind: ResourceKind, operation: ServiceOperation, write: _WatchedWrite
) -> Outcome:
    """Do the same with new resources. What they show before that already is a shared setting, and
    what changes while nothing is sent changes by itself.
    """
    what = f"{operation.name} with others beside its {kind.name}"
    trio = _make_trio(session, kind)
    if isinstance(trio, str):
        return not_exercised(_UPDATED, f"{what} could not be repeated: {trio}")
    for earlier in write.trio.sent[:-1]:
        trio.send(earlier)
    first = [trio.get(one) for one in trio.others]
    session.wait(max(_TICK, session.config.limits.settle), after=first[-1])
    again = trio.send(operation)
    if not again.is_readable:
        return not_exercised(_UPDATED, f"{what} was answered {again.answer}")
    moved, lasting = write.effects(), again.effects()
    for (at, name), value in lasting.items():
        own = trio.others[at].body
        names = own if isinstance(own, dict) else {}
        calm = find_representation(first[at], names).get(name)
        shown = find_representation(again.before[at], names).get(name)
        made = find_representation(trio.others[at].creation, names).get(name, calm)
        # What a creation changes in others, such as a quota, is shared.
        is_calm = is_equal_value(calm, shown) and is_equal_value(calm, made)
        if (at, name) not in moved or not is_calm:
            continue
        if is_equal_value(shown, moved[at, name]):
            continue
        age = "a newer" if at else "an older"
        message = f"{operation.name} of one {kind.name} ({again.answer}) changed `{name}` of {age} "
        message += f"one, from {shorten(repr(shown))} to {shorten(repr(value))}"
        evidence = (again.before[at], again.after[at], again.answer)
        return failed(_UPDATED, message, *evidence, pointer=f"/{name}", variant="other")
    reason = f"what others show after {operation.name} changes by itself, once, or is shared"
    return not_exercised(_UPDATED, reason)
