"""Accepted writes: whether a creation stored one resource, an update its values, and a deletion
removed the resource and no other.

One resource of each kind is created, updated and deleted, with reads in between. Updates that
another probe has sent between two reads are judged by those exchanges.
"""

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from faultspec.language.values import is_text_or_number, shorten
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT
from faultspec_conformance.probes.choices import choice_members, other_choices
from faultspec_conformance.probes.effects import (
    GONE,
    changed_creation_times,
    confirmed_members,
    creation_id_is_certain,
    differing_members,
    emptied_members,
    find_representation,
    is_equal_value,
    is_masked,
    is_soft_deletion,
    lists_item,
    lists_unchanged,
    may_be_pending,
    new_members,
    reset_members,
)
from faultspec_conformance.probes.filtered_effects import FilteredEffects, FilteredPage
from faultspec_conformance.probes.locations import check_location
from faultspec_conformance.probes.long_texts import find_cut_text, with_long_texts
from faultspec_conformance.probes.member_updates import MemberUpdates
from faultspec_conformance.probes.operations import body_members
from faultspec_conformance.probes.preconditions import OF_CONDITION, call_at_state
from faultspec_conformance.probes.updates import change_body, changes
from faultspec_conformance.probes.whole_lists import read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import likely_body, make, request_to, written_values
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    differing_pointers,
    failed,
    leaves,
    list_items,
    not_exercised,
    parse_body,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import id_of_item, referred_kind
from faultspec_conformance.session.requests import RequestSpec, with_tag
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    content_type,
    creation_path,
    is_json_write,
    last_placeholder,
    path_of,
)

_CREATED, _UPDATED, _DELETED = "writes/created", "writes/updated", "writes/deleted"

#: The clauses about the effects of accepted writes.
CLAUSES = (_CREATED, _UPDATED, _DELETED)

#: Seconds before a read is repeated where the file declares no `settle`: many clocks count whole
#: seconds.
_TICK = 1.1

#: Names of choices of which one may hide a resource, or ask for none to be stored.
_HIDING = re.compile(
    r"stat(e|us)|phase|stage|lifecycle|progress|visib|privacy|access|hidden|archiv|active|enabled"
    r"|publish|deleted|draft|mode|action|preview|dry",
    re.IGNORECASE,
)

#: Characters. A shorter text may occur in another resource by chance.
_TELLING = 8


#: Characters of a value in a message.
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class _Update:
    """An accepted update between two reads of its item."""

    before: Observation
    write: Observation
    after: Observation


def accepted_writes(session: HttpSession) -> Iterator[ProbeResult]:
    """Create, update and delete a resource of each kind, and read it in between."""
    if not session.turn:
        reason = "no path creates a resource that another path reads"
        yield from (not_exercised(clause, reason) for clause in CLAUSES)
    for kind in session.turn:
        if kind.operation("create") is not None:
            yield from attempt(_follow(session, kind), *CLAUSES)


def _follow(session: HttpSession, kind: ResourceKind) -> Iterator[Outcome]:
    read = kind.operation("read")
    if read is None:
        reason = f"no operation is known that reads `{kind.name}`"
        yield from (not_exercised(clause, reason) for clause in CLAUSES)
        return
    resource = _make_long(session, kind)
    if isinstance(resource, str):
        yield from (not_exercised(clause, resource) for clause in CLAUSES)
        return
    yield from _Lifetime(session, resource, read).outcomes()
    for name, value in other_choices(session, kind, resource.body):
        chosen = make(session, kind, change=partial(_add_members, {name: value}))
        if isinstance(chosen, CreatedResource):
            yield from _Lifetime(session, chosen, read).check_creation(name)


def _add_members(members: Mapping[str, object], body: object) -> object:
    """Return the body of a creation with further members."""
    return {**body, **members} if isinstance(body, dict) else body


def _make_long(session: HttpSession, kind: ResourceKind) -> CreatedResource | str:
    """Create a resource with long texts; if that is refused, or it has none, an ordinary one."""
    create = kind.operation("create")
    body = likely_body(session, create, kind.call("create")) if create is not None else None
    if with_long_texts(session, kind, body) != body:
        change = partial(with_long_texts, session, kind)
        resource = make(session, kind, change=change)
        if isinstance(resource, CreatedResource):
            return resource
    return make(session, kind)


@dataclass(frozen=True, slots=True)
class _Lifetime:
    """The writes to one new resource, which ``read`` reads."""

    session: HttpSession
    resource: CreatedResource
    read: ServiceOperation

    @property
    def kind(self) -> ResourceKind:
        """The kind of the resource."""
        return self.resource.kind

    def outcomes(self) -> Iterator[Outcome]:
        """Read the new resource, update it by each operation and delete it."""
        state = self.get()
        if not state.ok:
            yield self._check_missing(state)
            reason = f"the service answered {state} to {self.read.name}"
            yield from (not_exercised(clause, reason) for clause in (_UPDATED, _DELETED))
            return
        cut = find_cut_text(self.resource.body, state)
        if cut is not None:
            creation = self.resource.creation
            message = f"{creation.exchange.operation} succeeded ({creation}), but `{cut}` of the "
            message += f"{self.kind.name} is cut off"
            yield failed(_CREATED, message, creation, state, pointer=f"/{cut}", variant="cut")
        located = check_location(self.session, self.resource, self.read)
        if located is not None:
            yield located
        yield from self._check_values(state)
        pages = self.list_pages()
        yield from self._check_listed_once(pages)
        filtered, first = self.filtered, state
        shown = filtered.find(state)
        operations = changes(self.session, self.kind)
        for operation in operations:
            outcome, state = self._update(operation, state)
            yield outcome
            if outcome.kind == "passed" and state.ok:
                state = yield from self._update_members(operation, state)
        if shown and state.ok:
            shown, state = yield from self._update_filtered(operations, shown, (first, state))
        if not operations:
            yield not_exercised(_UPDATED, f"no operation is known that updates `{self.kind.name}`")
        delete = self.kind.operation("delete")
        if delete is None:
            yield not_exercised(_DELETED, f"no operation is known that deletes `{self.kind.name}`")
        elif state.ok:
            yield from self._delete(delete, state, self._showing(pages), shown)

    @property
    def filtered(self) -> FilteredEffects:
        """The filtered lists that show the resource."""
        return FilteredEffects(self.session, self.resource, self.get, self.settle)

    def check_creation(self, member: str) -> Iterator[Outcome]:
        """Check that the resource, with another choice as a member, is stored once, with its
        values. A choice such as `state: archived` may hide it.
        """
        state = self.get()
        if state.ok:
            yield from self._check_values(state)
            yield from self._check_listed_once(self.list_pages())
        elif not _HIDING.search(member):
            yield self._check_missing(state)

    def get(self) -> Observation:
        """Read the resource."""
        return self._read(self.resource)

    def settle(self) -> None:
        """Wait until reads show what was written."""
        seconds = max(_TICK, self.session.config.limits.settle)
        self.session.wait(seconds, after=self.resource.creation)

    def list_pages(self) -> list[Observation]:
        """Return the pages of the list that should show the resource; empty if it cannot be
        read.
        """
        listing, resource = self.kind.operation("list"), self.resource
        if listing is None or listing.method != "GET":
            return []
        values = dict(resource.values_for(listing.template)) | written_values(
            self.session, listing, self.kind.call("list")
        )
        if not set(listing.placeholders) <= set(values):
            return []
        spec = replace(request_to(self.session, listing, values), identity=resource.owner)
        return read_pages(self.session, listing, self.kind.config.pages, spec)

    def _showing(self, pages: list[Observation]) -> Observation | None:
        """Return the page that shows the resource, else the last one; None for no page."""
        found = (page for page in pages if lists_item(page, self.resource))
        return next(found, pages[-1] if pages else None)

    def _read(self, resource: CreatedResource) -> Observation:
        return self.session.call(
            RequestSpec(
                "GET",
                self.read.template,
                identity=resource.owner,
                values=resource.item_values(self.read),
            )
        )

    # ---- creation

    def _check_missing(self, read: Observation) -> Outcome:
        """Check a new resource that cannot be read."""
        creation, name = self.resource.creation, self.kind.name
        reason = f"the service answered {read} to {self.read.name} after {creation}"
        if read.status not in GONE or may_be_pending(creation):
            return not_exercised(_CREATED, reason)
        if not creation_id_is_certain(self.resource) and not self._has_been_read():
            return not_exercised(_CREATED, f"{reason}; the id of the new `{name}` is not certain")
        self.settle()
        again = self.get()
        if again.status not in GONE:
            return passed(_CREATED)
        message = f"{creation.exchange.operation} succeeded ({creation}), but no `{name}` is stored"
        return failed(_CREATED, message, creation, again)

    def _has_been_read(self) -> bool:
        """Whether another created resource of the kind could be read by its id."""
        other = self.session.knowledge.created.get(self.kind.name)
        path = path_of(self.read.template, other.values) if other is not None else None
        return any(
            observation.ok
            and observation.exchange.request.method == "GET"
            and observation.exchange.request.target == path
            for observation in self.session.knowledge.exchanges
        )

    def _check_values(self, state: Observation) -> Iterator[Outcome]:
        """Check that a read shows the values that the answer to the creation confirms, and the
        id.
        """
        body, creation = self.resource.body, self.resource.creation
        operation = self.kind.operation("create")
        if not isinstance(body, dict) or operation is None or may_be_pending(creation):
            return
        ids = self._shown_ids(creation, body)
        names = confirmed_members(creation, body) - self._choices(operation) | ids.keys()
        expected = {**body, **ids}
        differing = differing_members(expected, names, state)
        if differing:
            self.settle()
            state = self.get()
            differing = differing_members(expected, names & differing.keys(), state)
        for name, value in differing.items():
            message = f"{creation.exchange.operation} confirms {_quote(expected[name])} as "
            message += f"`{name}` ({creation}), but a read shows {_quote(value)}"
            evidence = (creation, state)
            yield failed(_CREATED, message, *evidence, pointer=f"/{name}", variant="differs")
        emptied = self._find_emptied(operation, body, state)
        if emptied:
            self.settle()
            state = self.get()
            emptied &= self._find_emptied(operation, body, state)
        for name in sorted(emptied):
            yield self._lost_value(operation, name, (creation, state))

    def _find_emptied(
        self, operation: ServiceOperation, sent: Mapping[str, object], read: Observation
    ) -> set[str]:
        """Return the members that a write sent and that a read shows as null or empty.

        Left out are choices, and members that no answer has to show.
        """
        if not read.ok:
            return set()
        nodes = body_members(self.session, operation)
        return {
            name
            for name in emptied_members(sent, read) - self._choices(operation)
            if not sampling.is_hidden(nodes.get(name) or {})
        }

    def _lost_value(
        self, operation: ServiceOperation, name: str, evidence: tuple[Observation, ...]
    ) -> Outcome:
        """Return the outcome that a read does not show a value that a write sent: a warning where
        the configuration does not have the body, since the member may depend on another one.
        """
        write = next(one for one in reversed(evidence) if one.exchange.request.method != "GET")
        message = f"{operation.name} succeeded ({write}), but a read shows no `{name}` of the "
        message += f"{self.kind.name}, for which it has sent a value"
        return failed(
            _CREATED if operation == self.kind.operation("create") else _UPDATED,
            message,
            *evidence,
            level="error" if self._is_configured(operation) else "warning",
            pointer=f"/{name}",
            variant="lost",
        )

    def _is_configured(self, operation: ServiceOperation) -> bool:
        """Whether the configuration has the body of the operation."""
        for role in ("create", "update"):
            call = self.kind.call(role)
            if call is not None and self.kind.operation(role) == operation:
                return call.body is not ABSENT
        return False

    def _shown_ids(self, creation: Observation, body: Mapping[str, object]) -> dict[str, object]:
        """Return the members of a creation's answer that have the id by which it is read."""
        shown, id = find_representation(creation, body), self.resource.id
        names = shown.keys() & {"id", last_placeholder(self.kind)}
        return {name: shown[name] for name in names if is_equal_value(shown[name], id)}

    def _choices(self, operation: ServiceOperation) -> set[str]:
        return choice_members(self.session, operation)

    def _check_listed_once(self, pages: list[Observation]) -> Iterator[Outcome]:
        """Check that the list shows one resource with the values of the creation, one of which no
        other request has sent.
        """
        text, name = self._unique_text(), self.kind.name
        alike = {} if text is None else self._find_alike(pages, text)
        if len(alike) > 1:
            creation, page = self.resource.creation, [*alike.values()][-1]
            message = f"one {creation.exchange.operation} stored {len(alike)} of `{name}`"
            yield failed(_CREATED, message, creation, page, variant="several")
            return
        yield passed(_CREATED)
        if pages and text is None:
            reason = f"no text tells the new `{name}` from others in a list, so it may be there"
            yield not_exercised(_CREATED, f"{reason} twice")

    def _find_alike(self, pages: Sequence[Observation], text: str) -> dict[str, Observation]:
        """Return the ids of items that have a text and all other values that the creation sent, as
        the item of the resource shows them, each with its page.
        """
        last, body = last_placeholder(self.kind), self.resource.body
        found = {
            str(next((item[name] for name in (last, "id") if name in item), "")): (item, page)
            for page in pages
            for item in list_items(page.json)
            if isinstance(item, dict) and text in item.values()
        }
        sent = body if isinstance(body, dict) else {}
        shown, _ = found.get(str(self.resource.id), (sent, None))
        return {
            identifier: page
            for identifier, (item, page) in found.items()
            if all(
                is_equal_value(item[name], value) or is_equal_value(item[name], shown.get(name))
                for name, value in sent.items()
                if name in item
            )
        }

    def _unique_text(self) -> str | None:
        """Return a text that only this creation sent; None if there is none."""
        body = self.resource.body
        values = body.values() if isinstance(body, dict) else ()
        others = (one for one in self.session.knowledge.created.values())
        parts = [part for one in others for part in (one.body, one.id)]
        known = [*leaves(parts), *leaves([*self.resource.values.values()])]
        shared = {value for _, value in known if isinstance(value, str)}
        return next(
            (
                text
                for text in values
                if isinstance(text, str)
                and len(text) >= _TELLING
                and text not in shared
                and not self._is_sent_elsewhere(text)
            ),
            None,
        )

    def _is_sent_elsewhere(self, text: str) -> bool:
        """Whether another accepted request had a text in its body."""
        forms = {text.encode("utf-8", "surrogatepass"), json.dumps(text)[1:-1].encode()}
        own = self.resource.creation.exchange
        return any(
            seen.ok
            and seen.exchange is not own
            and any(form in seen.exchange.request.body for form in forms)
            for seen in self.session.knowledge.exchanges
        )

    # ---- updates

    def _update(
        self, operation: ServiceOperation, state: Observation
    ) -> tuple[Outcome, Observation]:
        """Judge an update; return the outcome and the last read of the resource."""
        for seen in _recorded_updates(self.session, self.kind, operation):
            outcome = self._judge_update(operation, seen)
            if outcome.is_decided:
                if outcome.kind == "failed":
                    break  # an update of this resource confirms it, after the time to settle
                return outcome, state
        if not is_json_write(operation) or "json-patch" in content_type(operation):
            reason = f"no JSON body is known for {operation.name}"
            return not_exercised(_UPDATED, reason), state
        return self._send_update(operation, state)

    def _update_members(
        self, operation: ServiceOperation, state: Observation
    ) -> Generator[Outcome, None, Observation]:
        """Update members one by one; return the last read of the resource."""
        if not is_json_write(operation) or "json-patch" in content_type(operation):
            return state
        body = self.resource.body
        updates = MemberUpdates(
            session=self.session,
            resource=self.resource,
            operation=operation,
            get=self.get,
            settle=self.settle,
            sent=body if isinstance(body, dict) else {},
            recorded=tuple(
                (seen.before, seen.write, seen.after)
                for seen in _recorded_updates(self.session, self.kind, operation)
            ),
        )
        return (yield from updates.outcomes(state))

    def _send_update(
        self, operation: ServiceOperation, state: Observation
    ) -> tuple[Outcome, Observation]:
        session, reason = self.session, ""
        for body in self._bodies(operation):
            spec = request_to(session, operation, self.resource.item_values(operation))
            spec = replace(spec, identity=self.resource.owner, body=body)
            state, write = call_at_state(session, operation, spec, state, get=self.get)
            if write.ok:
                after = self.get()
                outcome = self._judge_update(operation, _Update(state, write, after))
                if outcome.kind == "failed":
                    self.settle()
                    after = self.get()
                    outcome = self._judge_update(operation, _Update(state, write, after))
                if outcome.is_decided or not after.ok:
                    return outcome, after
                state, reason = after, str(outcome.reason)
                continue
            reason = f"the service answered {write} to {operation.name}"
            state = self.get()
            if not state.ok:
                break
        return not_exercised(_UPDATED, reason), state

    def _update_filtered(
        self,
        operations: list[ServiceOperation],
        shown: list[FilteredPage],
        states: tuple[Observation, Observation],
    ) -> Generator[Outcome, None, tuple[list[FilteredPage], Observation]]:
        """Check that the resource leaves filtered lists when it is updated. Return those that show
        it then, and the last read of the resource.

        ``states``: the reads before and after the updates.
        """
        first, state = states
        yield from self.filtered.check_updates(operations, shown, state)
        now = self.get()
        if now.ok and not differing_pointers(first.json, now.json):
            return shown, now
        return self.filtered.find(now), now

    def _bodies(self, operation: ServiceOperation) -> Iterator[object]:
        """Yield the bodies of an update: for PATCH without a configured body first one new text
        alone.
        """
        update, call = self.kind.operation("update"), self.kind.call("update")
        is_configured = update == operation and call is not None and call.body is not ABSENT
        if operation.method == "PATCH" and not is_configured:
            yield from islice(self._bodies_of_one_text(operation), 1)
        yield change_body(self.session, self.kind, operation)

    def _bodies_of_one_text(self, operation: ServiceOperation) -> Iterator[object]:
        """Yield bodies with one new text, which leave out a text that the creation sent.

        Texts that the creation sent come first: a service certainly stores these.
        """
        source = self.session.source
        schema = operation.body.schema if operation.body is not None else {}
        properties = sampling.properties_of(sampling.merge_all_of(source.document, schema))
        created = self.resource.body if isinstance(self.resource.body, dict) else {}
        own = {name for name, value in created.items() if isinstance(value, str)}
        free = sampling.free_texts(source.document, schema)
        for name in sorted(free, key=lambda name: name not in own):
            if own - {name} and name not in self.kind.config.unique:
                yield {name: sampling.sample_value(source, properties[name])}

    def _judge_update(self, operation: ServiceOperation, update: _Update) -> Outcome:
        before, write, after = update.before, update.write, update.after
        name, kind = operation.name, self.kind
        sent = parse_body(write.exchange.request.body)
        if not isinstance(sent, dict) or not after.ok or may_be_pending(write):
            return not_exercised(_UPDATED, f"the service answered {write} to {name}")
        shown, now = find_representation(before, sent), find_representation(after, sent)
        earlier = _values_sent(self.session, kind, write)
        new = {
            member: value
            for member, value in new_members(sent, shown, earlier)
            if member in now and member not in kind.config.unique
        }
        if new and all(is_equal_value(now[member], shown[member]) for member in new):
            message = (
                f"{name} succeeded ({write}), but `{min(new)}` of the {kind.name} is as before"
            )
            return failed(_UPDATED, message, *(before, write, after), pointer=f"/{min(new)}")
        filled = {
            member
            for member in confirmed_members(write, sent)
            if member in shown and shown[member] is None and member not in kind.config.unique
        }
        confirmed = (confirmed_members(write, sent) & new.keys()) | filled
        lost = {
            member
            for member in confirmed - self._choices(operation)
            if is_equal_value(now.get(member), shown[member])
        }
        if lost:
            message = f"{name} confirms a new `{min(lost)}` of the {kind.name} ({write}), but a "
            message += "read shows the old one"
            evidence = (before, write, after)
            return failed(_UPDATED, message, *evidence, pointer=f"/{min(lost)}", variant="partly")
        kept = self._find_kept(operation, new, (shown, now), earlier)
        if kept:
            message = f"{name} succeeded ({write}), but `{min(kept)}` of the {kind.name} stays as "
            message += "it was"
            evidence = (before, write, after)
            return failed(_UPDATED, message, *evidence, pointer=f"/{min(kept)}", variant="kept")
        emptied = self._find_emptied(operation, sent, after)
        if emptied:
            return self._lost_value(operation, min(emptied), (before, write, after))
        if operation.method == "PATCH":
            side = self._find_side_effect(operation, update, (sent, shown, now), earlier)
            if side is not None:
                return side
        if new or filled:
            return passed(_UPDATED)
        return not_exercised(_UPDATED, f"no answer shows a member that {name} changes")

    def _find_side_effect(
        self,
        operation: ServiceOperation,
        update: _Update,
        members: tuple[Mapping[str, object], Mapping[str, object], Mapping[str, object]],
        earlier: Mapping[str, Sequence[object]],
    ) -> Outcome | None:
        """Return the failure of a PATCH that changed what it did not send: a value that the
        creation sent, or the time of the creation. A PUT may be a creation.

        ``members``: those that it sent, those of the read before it, and those of the read after.
        """
        sent, shown, now = members
        evidence, name = (update.before, update.write, update.after), operation.name
        times = changed_creation_times(shown, now) - sent.keys()
        if times:
            member = min(times)
            message = f"{name} changed `{member}` of the {self.kind.name}, the time of its creation"
            return failed(_UPDATED, message, *evidence, pointer=f"/{member}", variant="creation")
        own = {
            member: value
            for member, value in shown.items()
            if (isinstance(value, list) or (isinstance(value, str) and len(value) >= _TELLING))
            and member not in sent
            and value in earlier.get(member, ())
        }
        lost = reset_members(own, now)
        if not lost:
            return None
        message = f"{name} reset `{min(lost)}` of the {self.kind.name}, which it did not send"
        return failed(_UPDATED, message, *evidence, pointer=f"/{min(lost)}")

    def _find_kept(
        self,
        operation: ServiceOperation,
        new: Mapping[str, object],
        reads: tuple[Mapping[str, object], Mapping[str, object]],
        earlier: Mapping[str, Sequence[object]],
    ) -> set[str]:
        """Return the members that stay as they were, though an update of the whole resource sends a
        new value and the creation sent one, too. A member that names another resource may be fixed.
        """
        if operation.method != "PUT":
            return set()
        shown, now = reads
        return {
            member
            for member in new.keys() & earlier.keys() - self._choices(operation)
            if is_equal_value(now.get(member), shown[member])
            and referred_kind(self.session, member) is None
        }

    # ---- deletion

    def _delete(
        self,
        operation: ServiceOperation,
        state: Observation,
        page: Observation | None,
        shown: list[FilteredPage],
    ) -> Iterator[Outcome]:
        """Delete the resource; then read it, and the lists or other resources."""
        others = [other for other in self._others(state) if self._is_there(other, page)]
        if len(others) == 1 and page is not None:  # an earlier deletion may have removed the first
            others += self._ends_of_list(others[0])
        state, answer = self._send_delete(operation, state)
        after = self.get()
        if not answer.ok:
            # `writes/refused` judges what a refused deletion changed, by these reads.
            yield not_exercised(_DELETED, f"the service answered {answer} to {operation.name}")
            return
        yield self._check_gone(operation, state, answer, after)
        if after.status not in GONE:
            return
        if not may_be_pending(answer):
            yield from self._check_patch_gone(operation, state, answer)
            yield from self.filtered.check_gone(shown, state, answer)
        now = self._showing(self.list_pages()) if page is not None else None
        if page is not None and now is not None and not may_be_pending(answer):
            yield from self._check_unlisted(operation, (state, page), answer, now)
        for other in others:
            if now is None or not lists_item(now, other):
                yield from self._check_other(operation, other, answer)
        shared = self.session.knowledge.created.get(self.kind.name)
        newer = [one for one in others if one is not shared]
        if newer and not self._is_sibling(newer[0]):
            yield from self._delete_older(operation, newer[0])

    def _is_sibling(self, other: CreatedResource) -> bool:
        """Whether another resource lies below the same items."""
        any_item = {last_placeholder(self.kind): None}
        return {**self.resource.values, **any_item} == {**other.values, **any_item}

    def _delete_older(
        self, operation: ServiceOperation, older: CreatedResource
    ) -> Iterator[Outcome]:
        """Delete the older one of two resources of one parent: no newer one lay beside the other.

        A parent may have room for two alone.
        """
        newer = make(self.session, self.kind, owner=older.owner)
        lifetime = replace(self, resource=older)
        if not isinstance(newer, CreatedResource) or not lifetime._is_sibling(newer):
            return
        state = lifetime.get()
        if not state.ok:
            return
        state, answer = lifetime._send_delete(operation, state)
        if answer.ok and not may_be_pending(answer):
            yield lifetime._check_gone(operation, state, answer, lifetime.get())
            yield from lifetime._check_other(operation, newer, answer)

    def _others(self, state: Observation) -> list[CreatedResource]:
        """Return other resources of the kind: a new one, which refers to the same resources and has
        the values that a read shows, as far as creations may share them, and the one that the run
        made first.
        """
        create, owner = self.kind.operation("create"), self.resource.owner
        choices = self._choices(create) if create is not None else set()
        shown = find_representation(state, dict.fromkeys(choices))
        chosen = {name: shown[name] for name in choices if shown.get(name) is not None}
        new = make(
            self.session,
            self.kind,
            owner=owner,
            change=lambda body: _add_members(chosen, self._with_shared_values(body, state)),
        )
        if isinstance(new, str):  # the service itself leads to some states
            new = make(self.session, self.kind, owner=owner)
        first = self.session.knowledge.created.get(self.kind.name)
        found = [one for one in (new, first) if isinstance(one, CreatedResource)]
        unique = {str(one.id): one for one in reversed(found)}
        unique.pop(str(self.resource.id), None)
        return list(unique.values())

    def _with_shared_values(self, body: object, state: Observation) -> object:
        """Return the body of a creation with the values that the resource shows now, of members
        for which each creation sends the same.
        """
        sent = self.resource.body
        if not isinstance(body, dict) or not isinstance(sent, dict):
            return body
        shown = find_representation(state, sent)
        alike = (body.keys() & sent.keys() & shown.keys()) - {*self.kind.config.unique}
        return body | {
            name: shown[name]
            for name in alike
            if is_equal_value(body[name], sent[name])
            and is_text_or_number(shown[name])
            and not is_masked(shown[name])
        }

    def _ends_of_list(self, new: CreatedResource) -> list[CreatedResource]:
        """Return the first and the last other resource of the list that can be read."""
        place = last_placeholder(self.kind)
        items = [item for page in self.list_pages() for item in list_items(page.json)]
        ids = (id_of_item(item, place) for item in items)
        left_out = {"None", str(self.resource.id), str(new.id)}
        known = [identifier for identifier in ids if str(identifier) not in left_out]
        found = (
            replace(self.resource, id=one, values={**self.resource.values, place: one})
            for one in dict.fromkeys((*known[:1], *known[-1:]))
        )
        return [one for one in found if self._read(one).ok]

    def _is_there(self, other: CreatedResource, page: Observation | None) -> bool:
        """Whether another resource exists: it is new, or the list or a read shows it."""
        is_new = other is not self.session.knowledge.created.get(self.kind.name)
        listed = page is not None and lists_item(page, other)
        return is_new or listed or self._read(other).ok

    def _send_delete(
        self, operation: ServiceOperation, state: Observation
    ) -> tuple[Observation, Observation]:
        """Delete the resource; return the last read before that, and the answer."""
        spec = request_to(self.session, operation, self.resource.item_values(operation))
        spec = replace(spec, identity=self.resource.owner)
        return call_at_state(self.session, operation, spec, state, get=self.get)

    def _check_gone(
        self,
        operation: ServiceOperation,
        state: Observation,
        answer: Observation,
        after: Observation,
    ) -> Outcome:
        """Check that a deleted resource cannot be read, or shows that it is deleted."""
        line = f"{operation.name} succeeded ({answer}), and {self.read.name} is answered {after}"
        moving: frozenset[str] = frozenset()
        if after.ok and not is_soft_deletion(differing_pointers(state.json, after.json)):
            self.settle()
            first, after = after, self.get()
            moving = differing_pointers(first.json, after.json)
        changed = differing_pointers(state.json, after.json)
        if after.status in GONE or (after.ok and is_soft_deletion(changed)):
            return passed(_DELETED)
        if not after.ok or may_be_pending(answer) or after.header("Age") not in (None, "0"):
            return not_exercised(_DELETED, line)
        if changed - moving:
            return not_exercised(_DELETED, f"{line}; `{min(changed - moving)}` has changed")
        message = f"{operation.name} succeeded ({answer}), but the {self.kind.name} can be read"
        return failed(_DELETED, message, *(state, answer, after))

    def _check_patch_gone(
        self, operation: ServiceOperation, state: Observation, answer: Observation
    ) -> Iterator[Outcome]:
        """Check that what cannot be read any more cannot be patched either."""
        patch = next(
            (one for one in changes(self.session, self.kind) if one.method == "PATCH"), None
        )
        body = next(self._bodies(patch), None) if patch is not None else None
        if patch is None or body is None:
            return
        spec = request_to(self.session, patch, self.resource.item_values(patch))
        spec = replace(
            with_tag(spec, state.header("ETag")), identity=self.resource.owner, body=body
        )
        patched = self.session.call(spec)
        if patched.ok and not may_be_pending(patched):
            message = f"{operation.name} succeeded ({answer}), and then {patch.name} ({patched})"
            yield failed(_DELETED, message, *(state, answer, patched), variant="patched")

    def _check_unlisted(
        self,
        operation: ServiceOperation,
        shown: tuple[Observation, Observation],
        answer: Observation,
        now: Observation,
    ) -> Iterator[Outcome]:
        """Check that the list no longer shows the resource as it did.

        ``shown``: the last read of the resource, and the list before.
        """
        if not lists_unchanged(now, self.resource, *shown):
            return
        self.settle()
        again = self._showing(self.list_pages())
        if again is not None and lists_unchanged(again, self.resource, *shown):
            listing = now.exchange.operation
            message = f"{operation.name} succeeded ({answer}), but {listing} shows the "
            message += self.kind.name
            yield failed(_DELETED, message, *(shown[1], answer, again), variant="listed")

    def _check_other(
        self, operation: ServiceOperation, other: CreatedResource, answer: Observation
    ) -> Iterator[Outcome]:
        """Check that another resource of the kind, which existed before, can be read."""
        now = self._read(other)
        if now.status in GONE:
            self.settle()
            now = self._read(other)
        if now.status in GONE:
            message = f"{operation.name} of one {self.kind.name} removed another one"
            yield failed(_DELETED, message, *(other.creation, answer, now), variant="other")


def _recorded_updates(
    session: HttpSession, kind: ResourceKind, operation: ServiceOperation
) -> Iterator[_Update]:
    """Yield the updates of an operation that the run sent between two reads of the same item by the
    same caller, if no other accepted write came between.
    """
    read = kind.operation("read")
    reads: dict[tuple[str, str | None], Observation] = {}
    pending: dict[tuple[str, str | None], tuple[Observation, Observation]] = {}
    for observation in session.knowledge.exchanges:
        exchange = observation.exchange
        place = exchange.request.target.partition("?")[0], exchange.identity
        if read is not None and exchange.operation == read.name and observation.ok:
            if place in pending:
                yield _Update(*pending.pop(place), observation)
            reads[place] = observation
        elif exchange.request.method not in ("GET", "HEAD") and observation.status < 400:
            before = reads.get(place)
            for other in [*reads, *pending]:
                if f"{place[0]}/".startswith(f"{other[0]}/"):  # the item, or a part below it
                    reads.pop(other, None)
                    pending.pop(other, None)
            if exchange.operation == operation.name and before is not None:
                pending[place] = before, observation


def _values_sent(
    session: HttpSession, kind: ResourceKind, write: Observation
) -> Mapping[str, list[object]]:
    """Return the values that the creation and earlier updates of an item sent, by member."""
    path = write.exchange.request.target.partition("?")[0]
    found: dict[str, list[object]] = {}
    for observation in session.knowledge.exchanges:
        request = observation.exchange.request
        if observation is write:
            break
        is_update = request.method in ("PUT", "PATCH") and request.target == path
        if not (is_update or creation_path(kind, observation) == path):
            continue
        if observation.status in OF_CONDITION:  # the same values are sent again with another tag
            continue
        body = parse_body(request.body)
        for name, value in body.items() if isinstance(body, dict) else ():
            found.setdefault(name, []).append(value)
    return found


def _quote(value: object) -> str:
    """Return the beginning of a value in quotes."""
    return f"`{shorten(str(value), _SHOWN)}`"
