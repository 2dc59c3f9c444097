"""Preconditions: a stale write is refused, changes nothing, and succeeds after a refetch."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.effects import may_be_pending
from faultspec_conformance.probes.preconditions import takes_validator
from faultspec_conformance.probes.updates import change_body, changes
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import ordinary_request, request_to, take_untouched
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.meanings import codes_meaning
from faultspec_conformance.session.observation import (
    KEEPS_RATE,
    Observation,
    differing_pointers,
    failed,
    leaves,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource, ResourceKind, lies_below

_STALE, _RECOVERS = "preconditions/stale", "preconditions/recovers"
_CONCURRENT = "preconditions/concurrent"

#: The clauses about conditional writes.
CLAUSES = (_STALE, _RECOVERS, _CONCURRENT)

#: Writes at the same time with one validator.
_AT_ONCE = 2

#: Writes below an item whose effect on its ETag is read.
_ACTIONS = 2

#: A validator that no service has given out.
_NEVER_GIVEN = '"faultspec-never-given"'

#: Seconds between two reads that show which members change by themselves: many clocks count whole
#: seconds.
_TICK = 1.1


def stale_writes(session: HttpSession) -> Iterator[Outcome]:
    """Change every resource with a fresh, a stale and a refetched validator."""
    if not codes_meaning(session.contract, 412):
        return
    found = False
    for kind in session.turn:
        if kind.name not in session.knowledge.created:
            continue
        whole = changes(session, kind)
        for operation in (*whole, *_actions(session, kind)):
            found = True
            yield from _start(session, kind, operation, is_part=operation not in whole)
        for operation in islice(_actions_without_validator(session, kind), _ACTIONS):
            yield from _check_tag(session, kind, operation)
        resource = session.knowledge.created[kind.name]
        delete = kind.operation("delete")
        if delete is not None and takes_validator(session, delete, resource.creation):
            outcomes = list(_delete_stale(session, delete, resource))
            spare = take_untouched(session, kind) if not outcomes else None
            if isinstance(spare, CreatedResource):  # other resources may refer to the first one
                outcomes = list(_delete_stale(session, delete, spare))
            yield from outcomes
        for operation in _conditional_writes(session, kind):
            yield from _leave_out(session, kind, operation)
    if not found:
        yield not_exercised(_STALE, "no resource could be made and changed")


def _actions(session: HttpSession, kind: ResourceKind) -> list[ServiceOperation]:
    """Return the documented writes below an item that take a validator, such as actions by POST."""
    whole = changes(session, kind)
    return [
        operation
        for operation in session.description.operations
        if operation.method in ("POST", "PUT", "PATCH")
        and kind.item is not None
        and lies_below(operation, kind)
        and operation not in whole
        and operation.parameter("If-Match", "header") is not None
    ]


def _conditional_writes(session: HttpSession, kind: ResourceKind) -> list[ServiceOperation]:
    """Return the writes that the document allows with `If-Match` only, where 428 is declared; the
    deletion last.
    """
    delete = kind.operation("delete")
    writes = [*changes(session, kind), *_actions(session, kind)]
    declared = bool(codes_meaning(session.contract, 428))
    return [
        operation
        for operation in [*writes, *([delete] if delete is not None else [])]
        if (header := operation.parameter("If-Match", "header")) is not None
        and header.required
        and (declared or "428" in operation.responses)
    ]


def _leave_out(
    session: HttpSession, kind: ResourceKind, operation: ServiceOperation
) -> Iterator[Outcome]:
    """Send a write without its required `If-Match` (RFC 6585, 3)."""
    resource = take_untouched(session, kind)
    if isinstance(resource, str):
        return
    spec = request_to(session, operation, resource.item_values(operation))
    if operation.method in ("PUT", "PATCH"):
        spec = replace(spec, body=change_body(session, kind, operation))
    bare = {name: value for name, value in spec.headers.items() if name.lower() != "if-match"}
    bare |= {"If-Match": None}
    asked = replace(spec, identity=resource.owner, headers=bare, trigger="no If-Match")
    answer = session.call(asked)
    line = f"the service answered {answer} to {operation.name} without If-Match"
    if answer.ok:
        message = f"{line}, which the document requires; expected 428"
        yield failed(_STALE, message, resource.creation, answer, variant="absent")
    elif answer.status == 428:
        yield passed(_STALE)
    else:
        yield not_exercised(_STALE, line)


def _actions_without_validator(
    session: HttpSession, kind: ResourceKind
) -> Iterator[ServiceOperation]:
    """Yield the documented writes by POST below an item that take no validator."""
    for operation in session.description.operations:
        below = kind.item is not None and lies_below(operation, kind)
        unconditional = operation.parameter("If-Match", "header") is None
        if below and unconditional and operation.method == "POST":
            yield operation


def _check_tag(
    session: HttpSession, kind: ResourceKind, operation: ServiceOperation
) -> Iterator[Outcome]:
    """Send a write below an item: if it changes the item, it changes the ETag too.

    Where the ETag is that of the creation, another item is read before the write, too.
    """
    read = kind.operation("read")
    for before_write in (False, True):
        resource = take_untouched(session, kind)
        if read is None or isinstance(resource, str):
            return
        cycle = _cycle_of(session, resource, operation, read)
        before = cycle.get() if before_write else resource.creation
        tag = before.header("ETag")
        if tag is None:
            return
        spec = ordinary_request(session, operation, resource.item_values(operation))
        changed = session.call(replace(spec, identity=resource.owner))
        now = cycle.get() if changed.ok else changed
        if now.header("ETag") != tag:
            return
        if before_write:
            yield from cycle.check_tag(before, changed, now)


def _start(
    session: HttpSession, kind: ResourceKind, operation: ServiceOperation, *, is_part: bool
) -> Iterator[Outcome]:
    resource = take_untouched(session, kind)
    read = kind.operation("read")
    if isinstance(resource, str):
        yield not_exercised(_STALE, resource)
    elif read is None:
        yield not_exercised(_STALE, f"no operation is known that reads `{kind.name}`")
    elif operation.method == "POST":
        yield from _cycle_of(session, resource, operation, read).outcomes_of_action()
    elif is_part:
        yield _cycle_of(session, resource, operation, read).outcome_of_part()
    else:
        yield from _cycle_of(session, resource, operation, read).outcomes()


@dataclass(frozen=True, slots=True)
class ConditionalTarget:
    """A thing that conditional writes change.

    ``show``: the request that reads it. ``make_change`` makes the next request that changes it.
    ``created``: the body of its creation. ``stale_code``: the code for a stale write that its kind
    declares.
    """

    name: str
    show: RequestSpec
    make_change: Callable[[], RequestSpec]
    created: object = None
    stale_code: str | None = None


def _cycle_of(
    session: HttpSession,
    resource: CreatedResource,
    operation: ServiceOperation,
    read: ServiceOperation,
) -> "ConditionalCycle":
    """The writes of one operation to a resource of the run."""
    kind, owner = resource.kind, resource.owner

    def make_change() -> RequestSpec:
        spec = request_to(session, operation, resource.item_values(operation))
        return replace(spec, identity=owner, body=change_body(session, kind, operation))

    show = RequestSpec("GET", read.template, identity=owner, values=resource.item_values(read))
    target = ConditionalTarget(
        kind.name, show, make_change, created=resource.body, stale_code=kind.config.stale_code
    )
    return ConditionalCycle(session, target, operation, read)


@dataclass(frozen=True, slots=True)
class ConditionalCycle:
    """The writes of one operation to one target, which ``read`` reads."""

    session: HttpSession
    target: ConditionalTarget
    operation: ServiceOperation
    read: ServiceOperation

    def outcomes(self) -> Iterator[Outcome]:
        """Write with the current validator, then with the stale and the refetched one."""
        name = self.operation.name
        before = self.get()
        old = before.header("ETag")
        if not before.ok or old is None:
            yield self._judge_missing_etag(before)
            return
        changed = self.write(old)
        if changed.status == 412:
            tag = f"the ETag that {self.read.name} just gave"
            message = f"the service answered {changed} to {name} with {tag}; expected a success"
            yield failed(_RECOVERS, message, before, changed, variant="current")
            return
        if not changed.ok:
            yield not_exercised(_STALE, f"the service answered {changed} to {name}")
            return
        whole = changed.header("ETag") is not None and _members(changed) == _members(before)
        now = changed if whole else self.get()
        current = now.header("ETag") or changed.header("ETag")
        unchanged = list(self.check_tag(before, changed, now)) if current == old else []
        if unchanged:
            yield from unchanged
            return
        stale = self.write(old if current != old else _NEVER_GIVEN)
        outcome = self._check_stale(before, changed, stale)
        if outcome is not None:
            yield outcome
            return
        yield from self._refetch(now, current, stale, old)

    def check_tag(
        self, before: Observation, changed: Observation, now: Observation
    ) -> Iterator[Outcome]:
        """Check that the ETag of a resource that a write has changed is another one."""
        if now.header("ETag") in (None, before.header("ETag")) and self._has_moved(before, now):
            problem = f"the ETag of `{self.target.name}` did not change after "
            problem += self.operation.name
            message = f"{problem}: the service cannot recognise a stale write"
            yield failed(_STALE, message, *(before, changed, now), variant="unchanged")

    def outcomes_of_action(self) -> Iterator[Outcome]:
        """Send an action with a validator that was never given out, then with the current one.

        A second action may be refused for the state that the first one left.
        """
        before = self.get()
        tag = before.header("ETag")
        if not before.ok or tag is None:
            yield self._judge_missing_etag(before)
            return
        stale = self.write(_NEVER_GIVEN)
        outcome = self._check_never_given(before, stale)
        if outcome is None:
            yield from self._refetch(before, tag, stale, tag)
        else:
            yield outcome

    def outcome_of_part(self) -> Outcome:
        """Send a write of a part of the resource with a validator that was never given out. The
        part may have an ETag of its own, so that of the resource decides nothing.
        """
        before = self.get()
        stale = self.write(_NEVER_GIVEN)
        outcome = self._check_never_given(before, stale)
        if outcome is not None:
            return outcome
        after = self.get()
        moved = self._has_moved(before, after)
        return self._report_applied(before, stale, after) if moved else passed(_STALE)

    def _check_never_given(self, before: Observation, stale: Observation) -> Outcome | None:
        """Return the outcome of a write with a validator that was never given out; None if it was
        refused with 412. Another refusal may come before that.
        """
        outcome = self._check_stale(before, before, stale)
        if outcome is None or stale.ok:
            return outcome
        return not_exercised(_STALE, f"the service answered {stale} to {self.operation.name}")

    def get(self) -> Observation:
        """Read the target."""
        return self.session.call(self.target.show)

    def write(self, validator: str) -> Observation:
        """Change the target if the validator matches."""
        return self.session.call(self._change(validator))

    def _change(self, validator: str) -> RequestSpec:
        spec = self.target.make_change()
        headers = {**spec.headers, "If-Match": validator}
        return replace(spec, headers=headers, trigger="If-Match")

    def _write_together(self, validator: str, shown: Observation) -> Outcome | None:
        """Send two changes at once with the current validator: one of them is refused.

        ``shown``: what the resource is. None if no change was accepted, or if the changes are alike
        or leave the resource as it is: then both may be accepted (RFC 9110, 13.1.1).
        """
        specs = [self._change(validator) for _ in range(_AT_ONCE)]
        state = dict(leaves(shown.json))
        if not _differ_from(state, *specs):
            earlier = self._bodies_of_creation(specs[0].body)
            specs = [replace(spec, body=body) for spec, body in zip(specs, earlier, strict=False)]
        if len(specs) < _AT_ONCE or not _differ_from(state, *specs):
            return None
        answers = self.session.call_together(*specs)
        good = [answer for answer in answers if answer.ok]
        if not good:
            return None
        name, kind = self.operation.name, self.target.name
        if len(good) < _AT_ONCE:
            return passed(_CONCURRENT)
        after = self.get()
        if after.header("ETag") in (None, validator) or any(map(may_be_pending, answers)):
            return not_exercised(_CONCURRENT, f"the changes by {name} left the ETag as it was")
        message = (
            f"{_AT_ONCE} {name} at once with the same If-Match were both accepted ({answers[0]}); "
            f"expected one refusal: a change of the {kind} is lost"
        )
        return failed(_CONCURRENT, message, after, *answers)

    def _bodies_of_creation(self, body: object) -> list[object]:
        """Return variants of a body, each with the value of another member as the creation sent
        it; a PATCH sends that member alone.
        """
        created = self.target.created
        if not isinstance(body, dict) or not isinstance(created, dict):
            return []
        whole = {} if self.operation.method == "PATCH" else body
        return [
            {**whole, name: created[name]}
            for name, value in body.items()
            if name in created and created[name] != value
        ]

    def _judge_missing_etag(self, before: Observation) -> Outcome:
        reads = f"{self.read.name} gives no ETag"
        if before.ok and self.operation.parameter("If-Match", "header") is not None:
            message = f"{self.operation.name} takes If-Match, but {reads}"
            return failed(_RECOVERS, message, before, variant="missing")
        return not_exercised(_STALE, reads)

    def _check_stale(
        self, before: Observation, changed: Observation, stale: Observation
    ) -> Outcome | None:
        """Return the outcome of a stale write that was not refused with 412; None if it was."""
        named = self.target.stale_code
        if stale.code == named if named is not None else stale.status == 412:
            return None
        line = f"the service answered {stale} to {self.operation.name} with a stale If-Match"
        if stale.ok:
            message = f"{line}; expected {named or 412}: the earlier change is lost"
            return failed(_STALE, message, *(before, changed, stale))
        if stale.status in (401, 403, 404, 405, 415, 428, 429):
            return not_exercised(_STALE, line)
        return failed(_STALE, f"{line}; expected {named or 412}", changed, stale, variant="code")

    def _refetch(
        self, now: Observation, current: str | None, stale: Observation, old: str
    ) -> Iterator[Outcome]:
        """Check that a refused write changed nothing, and that it succeeds with a refetched
        validator.
        """
        name, after = self.operation.name, self.get()
        kept = current is not None and after.header("ETag") == current
        if self._is_applied(now, stale, after) if kept else self._has_moved(now, after):
            yield self._report_applied(now, stale, after)
            return
        yield passed(_STALE)
        named, actual = stale.header("ETag"), after.header("ETag") or current
        if named is not None and actual is not None and _opaque_tag(named) != _opaque_tag(actual):
            message = "the refusal has a different ETag from the refetched resource"
            yield failed(_RECOVERS, message, stale, after, pointer="ETag")
            return
        together = None
        if self.session.driver.limits.rate is not None:
            yield not_exercised(_CONCURRENT, KEEPS_RATE)
        elif actual is not None and self.operation.method != "POST":
            together = self._write_together(actual, after)
        if together is not None:
            yield from (passed(_RECOVERS), together)
            return
        again = self.write(actual or old)
        line = f"after a refetch, the service answered {again} to {name}"
        if again.ok:
            yield passed(_RECOVERS)
        elif again.status == 412 or again.status >= 500:
            yield failed(_RECOVERS, f"{line}; expected a success", *(stale, after, again))
        else:
            yield not_exercised(_RECOVERS, line)

    def _report_applied(
        self, before: Observation, stale: Observation, after: Observation
    ) -> Outcome:
        kind = self.target.name
        message = f"{self.operation.name} was refused ({stale}), but it changed the {kind}"
        return failed(_STALE, message, *(before, stale, after), variant="applied")

    def _is_applied(self, before: Observation, stale: Observation, after: Observation) -> bool:
        """Whether a stale write changed the resource, which has kept its ETag.

        A member that the write sends fails if it has the sent value, or differs between two reads.
        Another member must change again with a second stale write.
        """
        sent = dict(leaves(parse_body(stale.exchange.request.body)))
        shown = dict(leaves(after.json))
        differing = differing_pointers(before.json, after.json)
        named = differing & sent.keys() & shown.keys()
        if any(shown[pointer] == sent[pointer] for pointer in named):
            return True
        moved = self._lasting_differences(before, after)
        if moved & named and before.exchange.request.method == "GET":
            return True
        if not moved:
            return False
        first = self.get()
        again = self.write(stale.exchange.request_header("If-Match") or _NEVER_GIVEN)
        repeated = moved & differing_pointers(first.json, self.get().json)
        return again.status == stale.status and bool(repeated)

    def _has_moved(self, before: Observation, after: Observation) -> bool:
        """Whether more differs than between two plain reads, such as the time of reading."""
        return bool(self._lasting_differences(before, after))

    def _lasting_differences(self, before: Observation, after: Observation) -> frozenset[str]:
        """Return the places that differ, without those that differ between two plain reads."""
        differing = differing_pointers(before.json, after.json)
        if not differing:
            return differing
        first = self.get()
        self.session.wait(_TICK, after=first)
        again = self.get()
        if not (first.ok and again.ok):  # then no two reads tell what changes by itself
            return frozenset()
        return differing - differing_pointers(first.json, again.json)


def _delete_stale(
    session: HttpSession, operation: ServiceOperation, resource: CreatedResource
) -> Iterator[Outcome]:
    spec = request_to(session, operation, resource.item_values(operation))
    headers = {**spec.headers, "If-Match": _NEVER_GIVEN}
    asked = replace(spec, identity=resource.owner, headers=headers, trigger="a stale If-Match")
    answer = session.call(asked)
    if answer.ok:
        what = f"{operation.name} with a stale If-Match"
        message = f"the service answered {answer} to {what}; expected 412"
        yield failed(_STALE, message, resource.creation, answer)
    elif answer.status == 412:
        read = resource.kind.operation("read")
        if read is None:
            yield not_exercised(_STALE, f"no operation reads what {operation.name} left")
            return
        after = session.call(
            RequestSpec(
                "GET",
                read.template,
                identity=resource.owner,
                values=resource.item_values(read),
            )
        )
        if after.status in (404, 410):
            message = f"{operation.name} was refused ({answer}), but it deleted the resource"
            yield failed(_STALE, message, *(resource.creation, answer, after), variant="deleted")
        else:
            yield passed(_STALE)


def _differ_from(state: Mapping[str, object], *specs: RequestSpec) -> bool:
    """Whether the bodies differ, and each would change the resource with these values."""
    sent = [dict(leaves(spec.body)) for spec in specs]
    return all(body != sent[0] for body in sent[1:]) and all(
        any(state.get(place, value) != value for place, value in body.items()) for body in sent
    )


def _members(observation: Observation) -> object:
    """Return the members of a representation: the answer to a write may have all of them."""
    return set(observation.json) if isinstance(observation.json, dict) else None


def _opaque_tag(tag: str) -> str:
    return tag.strip().removeprefix("W/").strip('"')
