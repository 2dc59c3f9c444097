"""Replays: the same write with the same key is done once.

With another key, or by another tenant, it is another write.
"""

from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from faultspec.contract.keys import carried_key
from faultspec.language.model import Idempotency
from faultspec.openapi.nodes import Json
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.ownership import Evidence, marks
from faultspec_conformance.probes.preconditions import call_past_condition
from faultspec_conformance.probes.resources import existing_ids
from faultspec_conformance.probes.updates import change_body, changes
from faultspec_conformance.probes.whole_lists import read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.correlation import new_id
from faultspec_conformance.session.fixtures import (
    CONFLICT,
    likely_body,
    make,
    parent_values,
    renew_references,
    request_to,
    take_untouched,
    written_values,
)
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import (
    accepts_key,
    key_of,
    new_key,
    renew_key,
    set_key,
    takes_key,
    without_key,
    without_key_value,
)
from faultspec_conformance.session.observation import (
    KEEPS_RATE,
    Observation,
    difference,
    differing_pointers,
    failed,
    leaves,
    list_items,
    not_exercised,
    parse_body,
    passed,
    point,
)
from faultspec_conformance.session.observations import (
    KeyedCreation,
    ProbeResult,
    SpareResource,
    attempt,
)
from faultspec_conformance.session.parameters import referred_id
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    content_type,
    creation_path,
    identifier_of,
    last_placeholder,
)

_REPLAY, _CONCURRENT = "idempotency/replay", "idempotency/concurrent"
_DISTINCT, _MISMATCH = "idempotency/distinct-keys", "idempotency/mismatch"
_ISOLATION = "idempotency/isolation"

#: The clauses that creations of resources decide.
CREATIONS = (_REPLAY, _CONCURRENT, _DISTINCT, _MISMATCH, _ISOLATION)

#: Equal requests at the same time. Two are enough if all of them arrive while the first is written.
_AT_ONCE = 3

#: Bodies with one changed member that are tried under one key.
_MEMBERS = 5

#: Statuses that ask a request to wait while the first one with its key is written.
_BUSY = frozenset({409, 423, 425, 429, 503})

#: Statuses that concern the moment or the caller: they say nothing about a key.
_MOMENTARY = frozenset({401, 429, 502, 503, 504})

#: Characters. A shorter string may occur in a list by chance.
_TELLING = 8


def replays(session: HttpSession) -> Iterator[ProbeResult]:
    """Create with a key and replay it; then with another key, another body, another tenant; then
    change and delete with a key.
    """
    rule = session.taxonomy.idempotency
    if rule is None:
        return
    created = session.knowledge.created
    kinds = [kind for kind in session.turn if kind.name in created]
    creating = [
        (kind, operation)
        for kind in kinds
        if (operation := kind.operation("create")) is not None and operation.method in rule.methods
    ]
    # A header does no harm, so the first kind is tested with one though no document names it.
    tested = [
        (kind, operation)
        for index, (kind, operation) in enumerate(creating)
        if takes_key(session, operation)
        or (index == 0 and kind.name == session.kinds[0].name and accepts_key(session, operation))
    ]
    undecided = set(CREATIONS) - session.observations.decided_clauses()
    if not tested and undecided:
        reason = "no resource could be made by a method that takes a key"
        if creating:
            names = ", ".join(operation.name for _, operation in creating)
            reason = f"the document names no {rule.key} for {names}"
        yield from (not_exercised(clause, reason) for clause in sorted(undecided))
    for kind, operation in tested:
        own = session.key_rule(operation) or rule
        yield from _Creation(session, own, operation, created[kind.name]).outcomes()
    for kind in kinds:
        yield from _change(session, rule, kind)
        yield from _delete(session, rule, kind)
        if rule.refusals != "unspecified":
            yield from attempt(_replay_refusal(session, rule, kind), _REPLAY)


@dataclass(frozen=True, slots=True)
class _Creation:
    """Creations of the kind of a resource that exists."""

    session: HttpSession
    rule: Idempotency
    operation: ServiceOperation
    existing: CreatedResource

    @property
    def kind(self) -> ResourceKind:
        """The kind of the resource."""
        return self.existing.kind

    def reason_not_at_once(self) -> str | None:
        """Return why no equal requests are sent at the same time; None if they can be."""
        if self.operation.method != "POST" and self.rule.key.kind != "path":
            return f"{self.operation.name} has the same effect however often it is sent"
        if self.session.driver.limits.rate is not None:
            return KEEPS_RATE
        return None

    def outcomes(self) -> Iterator[ProbeResult]:
        """Create a resource by equal requests at the same time, and replay it in all ways."""
        session, call = self.session, self.kind.call("create")
        reason = self.reason_not_at_once()
        if reason is not None:
            yield not_exercised(_CONCURRENT, reason)
        spec, burst, created = self._send_first(at_once=reason is None)
        if created[0].status == CONFLICT and renew_references(session, self.operation, call):
            spec, burst, created = self._send_first(at_once=reason is None)
        if not created[0].ok:
            yield check_refused_key(session, self.rule, spec, created[0])
            reason = f"the service answered {created[0]} to {self.operation.name}"
            yield from (not_exercised(clause, reason) for clause in CREATIONS[1:])
            return
        again = session.call(spec)
        identifier = self.identifier(again)

        def order(answer: Observation) -> tuple[bool, bool]:
            """Return a key that sorts the first answer before its replays.

            Of requests at the same time any may be the first. ``again`` is a replay in any case.
            """
            return self.identifier(answer) != identifier, answer.status in (again.status, 202)

        first, *others = sorted(created, key=order)
        ids = {str(id) for id in map(self.identifier, created) if id is not None}
        raced = len(ids) > 1 and again.ok and str(identifier) in ids
        # A request that came while the first was written may get 202, which is not a replay.
        comparable = (
            []
            if raced
            else [other for other in others if other.status != 202 or first.status == 202]
        )
        outcomes = [
            check_replay(session, self.rule, first, answer) for answer in (*comparable, again)
        ]
        yield from outcomes
        replayed = all(outcome.kind == "passed" for outcome in outcomes)
        if replayed and len(outcomes) == 1:
            # The second replay is another case: the first one must not use up what is stored.
            yield check_replay(session, self.rule, first, session.call(spec))
        if burst:
            yield self._check_burst(burst, ids if raced or replayed else set(), again)
        if again.ok and not raced:
            yield from self._check_list(spec.body, first, again)
        foreign = yield from self._check_other_uses(spec, first)
        if foreign is not None:
            yield foreign
            return
        later = replace(spec, body=self.new_body())
        later = set_key(self.rule, later, self._new_key())
        yield KeyedCreation(later, session.call(later), session.driver.elapsed)

    def _send_first(
        self, *, at_once: bool
    ) -> tuple[RequestSpec, list[Observation], list[Observation]]:
        """Send a new creation, ``at_once`` several times. Return it, the answers at the same time,
        and those that created something; a refusal if none did.
        """
        session = self.session
        spec = self.request(self._new_key(), self.new_body(), new_id(session.echo, session.tokens))
        burst = session.call_together(*[spec] * _AT_ONCE) if at_once else []
        return spec, burst, [answer for answer in burst if answer.ok] or [session.call(spec)]

    def _key_names(self) -> set[str]:
        """Return the placeholder that is the key, if the key is in the path."""
        return {self.rule.key.at} if self.rule.key.kind == "path" else set()

    def _new_key(self) -> str:
        return new_key(self.session, self.operation)

    def new_body(self) -> object:
        """Return a body that no other creation has."""
        return likely_body(self.session, self.operation, self.kind.call("create"))

    def request(self, key: str, body: object, correlation: str = "auto") -> RequestSpec:
        """Return a creation by the owner of the existing resource."""
        call, existing = self.kind.call("create"), self.existing
        parents = parent_values(self.session, self.operation, call)
        known = {
            **existing.values_for(self.operation.template),
            **(parents if isinstance(parents, dict) else {}),
        }
        values = {name: known.get(name, existing.id) for name in self.operation.placeholders}
        spec = replace(
            request_to(self.session, self.operation, values),
            identity=existing.owner,
            headers=call.headers if call else {},
            body=body,
            correlation=correlation,
        )
        return set_key(self.rule, spec, key)

    def identifier(self, answer: Observation) -> object:
        """Return the id of the resource that an answer to a creation has.

        A key in the path, which an answer may repeat, is the same in every answer to it.
        """
        if self.rule.key.kind == "path":
            found = identifier_of(answer, "id", self.kind)
            sent = carried_key(self.rule.key, answer.exchange)
            return None if found == sent else found
        return identifier_of(answer, last_placeholder(self.kind), self.kind)

    def _check_burst(self, burst: list[Observation], ids: set[str], again: Observation) -> Outcome:
        """Check that equal requests at the same time created one resource.

        ``ids``: those of the answers, one of which a replay has; empty if no replay is equal to the
        first answer.
        """
        what = f"{len(burst)} equal {self.operation.name}"
        what += f" with one {self.rule.key} at the same time"
        others = [seen for seen in burst if not seen.ok and seen.status not in _BUSY]
        if len(ids) > 1:
            existing = existing_ids(self.session, self.existing, ids)
            if existing is not None and len(existing) < 2:
                reason = f"{len(ids)} ids were answered, of which {len(existing)} name a resource"
                return not_exercised(_CONCURRENT, reason)
            count = len(ids if existing is None else existing)
            message = f"{what} created {count} of `{self.kind.name}`; expected one"
            return failed(_CONCURRENT, message, *burst, again)
        if not ids:
            reason = "no replay is equal to the first answer, or the answers do not have ids"
            return not_exercised(_CONCURRENT, reason)
        if others:
            return not_exercised(_CONCURRENT, f"the service answered {others[0]} to one of {what}")
        if not any(seen.ok for seen in burst):
            return not_exercised(_CONCURRENT, f"the service answered {burst[0]} to {what}")
        return passed(_CONCURRENT)

    def _check_list(
        self, body: object, first: Observation, again: Observation
    ) -> Iterator[Outcome]:
        """Check that a list shows the resource once."""
        listing, existing = self.kind.operation("list"), self.existing
        own = without_key_value(self.rule, body)
        values = own.values() if isinstance(own, dict) else ()
        # What other resources have too, such as the id of a parent, does not identify this one.
        known = leaves([existing.body, *existing.values.values()])
        shared: set[object] = {value for _, value in known if isinstance(value, str)}
        shared |= {resource.id for resource in self.session.knowledge.created.values()}
        texts = (
            text
            for text in values
            if isinstance(text, str) and len(text) >= _TELLING and text not in shared
        )
        text = next(texts, None)
        if listing is None or text is None:
            return
        filled = dict(existing.values_for(listing.template)) | written_values(
            self.session, listing, self.kind.call("list")
        )
        if not set(listing.placeholders) <= set(filled):
            return

        def select_items(page: Observation) -> list[object]:
            """Return the items of a page that have the text."""
            items = (item for item in list_items(page.json) if isinstance(item, dict))
            return [item for item in items if text in item.values()]

        spec = RequestSpec("GET", listing.template, identity=existing.owner, values=filled)
        pages = read_pages(
            self.session,
            listing,
            self.kind.config.pages,
            spec,
            until=lambda page: bool(select_items(page)),
        )
        page = pages[-1] if pages else again
        equal = select_items(page) if pages else []
        if len(equal) > 1:
            message = f"after the replay the list shows {len(equal)} of what was created once"
            yield failed(_REPLAY, message, *(first, again, page), variant="twice")

    def _check_other_uses(
        self, spec: RequestSpec, first: Observation
    ) -> Generator[ProbeResult, None, KeyedCreation | None]:
        """Compare a creation with that of another key, with another body and with that of another
        tenant. Return the last one, if that tenant may do the same as the first.
        """
        identifier, existing = self.identifier(first), self.existing
        yield self._check_distinct(first, identifier)
        if identifier is not None and self.kind.item is not None and not spec.values:
            values = {last_placeholder(self.kind): identifier}
            resource = CreatedResource(
                kind=self.kind,
                id=identifier,
                values=values,
                owner=existing.owner,
                body=spec.body,
                creation=first,
            )
            yield SpareResource(resource)
        stranger = self.session.stranger(existing.owner)
        if self.rule.mismatch is None:
            reason = "the taxonomy declares no error for one key with two bodies"
            yield Outcome(_MISMATCH, "not_checkable", reason)
        else:
            yield self._send_mismatch(self.rule.mismatch, spec, first)
        if stranger is None:
            yield not_exercised(_ISOLATION, "no identity of another tenant is declared")
        elif set(spec.values) - self._key_names():
            reason = f"the path of {self.operation.name} contains a resource of its owner"
            yield not_exercised(_ISOLATION, reason)
        else:
            key, correlation = (
                key_of(self.rule, spec) or "",
                new_id(self.session.echo, self.session.tokens),
            )
            sent = replace(self.request(key, self.new_body(), correlation), identity=stranger)
            foreign = KeyedCreation(sent, self.session.call(sent), self.session.driver.elapsed)
            outcome = self._check_isolation(foreign, spec.body, first)
            yield outcome
            return foreign if outcome.kind == "passed" and not stranger.limited else None
        return None

    def _check_distinct(self, first: Observation, identifier: object) -> Outcome:
        """Check that a different key created a new resource."""
        earlier = self.existing.id
        if self.rule.key.kind == "path":
            earlier = self.identifier(self.existing.creation)
        if identifier is None or earlier is None:
            return not_exercised(_DISTINCT, "the answers do not have ids")
        if identifier != earlier:
            return passed(_DISTINCT)
        message = (
            f"a different key and body returned the same `{self.kind.name}`; expected a new one"
        )
        return failed(_DISTINCT, message, self.existing.creation, first)

    def _send_mismatch(self, wanted: str, spec: RequestSpec, first: Observation) -> Outcome:
        """Send other bodies under the key of a creation, and check the answers: first such that
        differ in one member, since a service may leave a member out of the comparison.

        An answer to such a body counts if the service accepts it under a new key, or under this
        one.
        """
        key, decided = key_of(self.rule, spec) or "", list[Outcome]()
        for name, changed in islice(self._bodies_with_one_change(spec.body), _MEMBERS):
            other = self.session.call(self.request(key, changed))
            known = other.ok or other.code == wanted or other.status in (401, 403, 429)
            if known or self.session.call(self.request(self._new_key(), changed)).ok:
                decided.append(self._check_mismatch(wanted, first, other, name))
                if decided[-1].kind != "passed":
                    return decided[-1]
        if decided:
            return decided[0]
        body = self.new_body()
        if without_key_value(self.rule, body) != without_key_value(self.rule, spec.body):
            return self._check_mismatch(wanted, first, self.session.call(self.request(key, body)))
        reason = f"every creation of `{self.kind.name}` has the same body"
        return not_exercised(
            _MISMATCH, f"{reason}, and no change of a text or a number in it is accepted"
        )

    def _bodies_with_one_change(self, body: object) -> Iterator[tuple[str, object]]:
        """Yield the body with one member changed within its schema, or one more member, each with
        the name of the member: if there are few, the optional members first.
        """
        source = self.session.source
        schema = self.operation.body.schema if self.operation.body is not None else {}
        node = sampling.merge_all_of(source.document, schema)
        changed = [
            (pointer.split("/")[1] if pointer else "", pointer, other)
            for other in sampling.one_change(source, schema, body)
            for pointer in [min(differing_pointers(body, other))]
            if not self._is_fixed(pointer, point(body, pointer))
        ]
        required = sampling.required_names(node)
        added = [(name, f"/{name}", other) for name, other in self._bodies_with_more(node, body)]
        found = sorted([*changed, *added], key=lambda one: one[0] in required)
        # Of more members than are tried, each seed begins with another one.
        start = source.random.randrange(len(found)) if len(found) > _MEMBERS else 0
        for _, pointer, other in (*found[start:], *found[:start]):
            yield pointer.rpartition("/")[2], other

    def _bodies_with_more(self, node: Json, body: object) -> Iterator[tuple[str, object]]:
        """Yield the body with one optional member more, which has no default of the service."""
        if not isinstance(body, dict):
            return
        for name, schema in sampling.properties_of(node).items():
            member = sampling.only_branch(self.session.source.document, schema)
            settable = not sampling.is_read_only(member) and "default" not in member
            if settable and name not in body and sampling.kind(member) in ("string", "integer"):
                refers = referred_id(self.session, name) is not None
                if not (refers or {"enum", "const"} & set(member)):
                    yield name, {**body, name: sampling.sample_value(self.session.source, member)}

    def _is_fixed(self, pointer: str, sent: object) -> bool:
        """Whether a member of the body has to stay as it is: it refers to a resource."""
        call = self.kind.call("create")
        if self.rule.key.kind == "body" and pointer == self.rule.key.at:
            return True  # under another key it is another intent
        configured = dict(leaves(call.body)) if call is not None else {}
        written = str(configured.get(pointer, ""))
        created = self.session.knowledge.created.values()
        ids = {str(id) for one in created for id in (one.id, *one.values.values())}
        is_filled = "${" in written and "${unique" not in written
        is_reference = referred_id(self.session, pointer.rpartition("/")[2]) is not None
        return is_filled or is_reference or str(sent) in ids

    def _check_mismatch(
        self, wanted: str, first: Observation, other: Observation, name: str = ""
    ) -> Outcome:
        """Check the answer to one key with another body. ``name``: the one member that differs."""
        if other.code == wanted:
            return passed(_MISMATCH)
        if other.status in (401, 403, 429):
            return not_exercised(_MISMATCH, f"the service answered {other} to the second body")
        what = f"one {self.rule.key} with two bodies"
        what += f" that differ in `{name}`" if name else ""
        message = f"the service answered {other} to {what}; expected {wanted}"
        return failed(_MISMATCH, message, first, other)

    def _check_isolation(self, sent: KeyedCreation, body: object, first: Observation) -> Outcome:
        """Check that another tenant with the key neither gets the first one's resource nor is
        refused for the key. ``sent``: its creation.
        """
        stranger, foreign = sent.spec.identity, sent.first
        own = marks(self.session, self.kind, without_key_value(self.rule, body))
        shown = Evidence(first, self.identifier(first), own).is_shown_in(foreign)
        if shown:
            message = f"with the same key, one tenant got the `{self.kind.name}` of another tenant"
            return failed(_ISOLATION, message, first, foreign)
        if foreign.ok and shown is None:
            reason = f"nothing in the answer shows whose {self.kind.name} it is"
            return not_exercised(_ISOLATION, reason)
        if foreign.ok:
            return passed(_ISOLATION)
        if foreign.status in (400, 409, 422):
            # The same with an unused key shows whether the service refuses the key or the body.
            unused = self.request(self._new_key(), self.new_body())
            without = self.session.call(replace(unused, identity=stranger))
            names_key = foreign.code is not None and foreign.code == self.rule.mismatch
            if without.ok or (names_key and without.code != foreign.code):
                message = f"the service refused a key because another tenant used it ({foreign})"
                return failed(_ISOLATION, message, first, foreign, variant="refused")
        return not_exercised(_ISOLATION, f"the service answered {foreign} to the other tenant")


def late_replays(session: HttpSession) -> Iterator[Outcome]:
    """Replay creations that other requests followed, within the time that keys are kept."""
    rule = session.taxonomy.idempotency
    for creation in session.knowledge.own.keyed if rule is not None else ():
        rule = session.contract.key_rule(creation.first.exchange)
        assert rule is not None
        seconds = session.driver.elapsed - creation.at
        if not creation.first.ok:
            reason = f"the service answered {creation.first} to the creation"
            yield not_exercised(_REPLAY, reason)
        elif rule.window is not None and seconds >= rule.window:
            reason = f"the creation was {seconds:.0f} s ago, and keys are kept {rule.window:g} s"
            yield not_exercised(_REPLAY, reason)
        else:
            updated = _update_created(session, creation)
            replayed = check_replay(session, rule, creation.first, session.call(creation.spec))
            yield _tell_of_change(replayed, updated)
            if replayed.kind != "failed" and rule.key.kind != "path":
                yield from _replay_deleted(session, rule, creation)


def _update_created(session: HttpSession, creation: KeyedCreation) -> Observation | None:
    """Update what a creation made, so that a replay of its answer is not its present state. Return
    the answer if it was updated.
    """
    kind = _kind_of(session, creation)
    operation = next(iter(changes(session, kind)), None) if kind is not None else None
    values = _values_on_item(kind, creation, operation)
    if kind is None or operation is None or values is None:
        return None
    spec = RequestSpec(
        operation.method,
        operation.template,
        identity=creation.spec.identity,
        values=values,
        headers={"If-Match": creation.first.header("ETag")},
        body=change_body(session, kind, operation),
        content_type=content_type(operation),
        files=operation.files,
    )
    updated = session.call(renew_key(session, operation, spec))
    return updated if updated.ok else None


def _replay_deleted(
    session: HttpSession, rule: Idempotency, creation: KeyedCreation
) -> Iterator[Outcome]:
    """Replay a creation whose resource the run has deleted, if the service deletes such things;
    without one, delete what this creation made.

    The key of a path is left out: it is the name of the item.
    """
    kind = _kind_of(session, creation)
    delete = kind.operation("delete") if kind is not None else None
    if kind is None or delete is None:
        return
    # The first creation of the run may be as old as the run.
    is_kept = rule.window is None or session.driver.elapsed < rule.window
    deleted = _find_deleted(session, rule, kind) if is_kept else None
    if deleted is not None:
        first, removed = deleted
        owner = session.identity(first.exchange.identity)
        spec = RequestSpec(first.exchange.request.method, creation.spec.template, identity=owner)
        again = session.ask(first.exchange.request, spec)
        yield _check_deleted(session, rule, kind, answers=(first, removed, again))
        return
    values = _values_on_item(kind, creation, delete)
    what = f"the replay of {creation.first.exchange.operation} after the deletion is unknown"
    if values is None:
        yield not_exercised(_REPLAY, f"{what}: the answer has no id of the new `{kind.name}`")
        return
    caller = creation.spec.identity
    removal = replace(request_to(session, delete, values), identity=caller)
    removed = call_past_condition(session, delete, removal, caller)
    if removed.ok:
        answers = (creation.first, removed, session.call(creation.spec))
        yield _check_deleted(session, rule, kind, answers=answers)
    else:
        yield not_exercised(_REPLAY, f"{what}: the service answered {removed} to {delete.name}")


def _find_deleted(
    session: HttpSession, rule: Idempotency, kind: ResourceKind
) -> tuple[Observation, Observation] | None:
    """Return a creation with a key and the deletion of what it made; None without one.

    What lay below a deleted item, or names one in its body, is left out: a service may look for
    that item first.
    """
    create, seen = kind.operation("create"), session.knowledge.exchanges
    removals = {
        one.exchange.request.target.partition("?")[0]: one
        for one in seen
        if one.ok and one.exchange.request.method == "DELETE"
    }
    for made in seen if create is not None else ():
        exchange = made.exchange
        if not made.ok or create is None or exchange.operation != create.name:
            continue
        path = creation_path(kind, made) or ""
        is_keyed = carried_key(rule.key, exchange) is not None
        if path in removals and is_keyed and not _refers_to(path, exchange.request.body, removals):
            return made, removals[path]
    return None


def _refers_to(path: str, body: bytes, removals: Collection[str]) -> bool:
    """Whether a creation at a path, with a body, refers to one of the deleted items."""
    gone = {removed.rpartition("/")[2] for removed in removals if removed != path}
    named = {str(value) for _, value in leaves(parse_body(body))}
    return not gone.isdisjoint(named) or any(path.startswith(f"{above}/") for above in removals)


def _check_deleted(
    session: HttpSession,
    rule: Idempotency,
    kind: ResourceKind,
    *,
    answers: tuple[Observation, Observation, Observation],
) -> Outcome:
    """Check that the replay of a creation whose resource was deleted is the stored answer, and that
    nothing is created anew. ``answers``: to the creation, the deletion and the replay.
    """
    first, removed, again = answers
    outcome = _tell_of_change(check_replay(session, rule, first, again), removed)
    if outcome.kind != "passed":
        return outcome
    ids = [identifier_of(one, last_placeholder(kind), kind) for one in (first, again)]
    if None in ids or ids[0] == ids[1]:
        return outcome
    message = f"{again.exchange.operation} with the same {rule.key} created another "
    message += f"`{kind.name}`, after {removed.exchange.operation}"
    return failed(_REPLAY, message, *answers, variant="deleted")


def _kind_of(session: HttpSession, creation: KeyedCreation) -> ResourceKind | None:
    """Return the kind of what a creation made, if it has items."""
    name = creation.first.exchange.operation
    kinds = ((kind, kind.operation("create")) for kind in session.kinds if kind.item is not None)
    return next((kind for kind, one in kinds if one is not None and one.name == name), None)


def _values_on_item(
    kind: ResourceKind | None, creation: KeyedCreation, operation: ServiceOperation | None
) -> dict[str, object] | None:
    """Return the values for an operation on what a creation made; None if its id is unknown."""
    create = kind.operation("create") if kind is not None else None
    if kind is None or create is None or operation is None:
        return None
    identifier = identifier_of(creation.first, last_placeholder(kind), kind)
    if identifier is None:
        return None
    names_item = len(create.placeholders) == len(operation.placeholders)
    parents = creation.spec.values.values()
    values = parents if names_item else [*parents, identifier]
    return dict(zip(operation.placeholders, values, strict=False))


def _tell_of_change(replayed: Outcome, changed: Observation | None) -> Outcome:
    """Return the outcome of a replay with the change that came before it."""
    finding = replayed.finding
    if finding is None or changed is None:
        return replayed
    verb = "deleted" if changed.exchange.request.method == "DELETE" else "changed"
    message = f"{finding.message}; {changed.exchange.operation} had {verb} it in between"
    return replace(replayed, finding=replace(finding, message=message))


def check_replay(
    session: HttpSession, rule: Idempotency, first: Observation, again: Observation
) -> Outcome:
    """Check that a replay equals the first answer wherever the taxonomy wants it equal.

    While accepted work goes on, a refusal may ask to wait; one that no retry helps does not.
    """
    what = f"{again.exchange.operation} with the same {rule.key}"
    code = session.taxonomy.codes.get(again.code or "")
    is_final = code is not None and not code.retryable
    is_pending = first.status == 202 and again.status in _BUSY and not is_final
    if again.status in _MOMENTARY - {first.status} or is_pending:
        return not_exercised(_REPLAY, f"the service answered {again} to {what}")
    if not again.ok or ("status" in rule.equal and again.status != first.status):
        message = f"the service answered {again} to {what}; expected {first}, as the first time"
        return failed(_REPLAY, message, first, again)
    if "body" in rule.equal and _body(again) != _body(first):
        pointer, before, now = difference(_body(first), _body(again))
        place = pointer or "it"
        message = f"{what} has a different body from the first time: {place} is {now}, was {before}"
        return failed(_REPLAY, message, first, again, pointer=pointer)
    for name in rule.headers:
        if first.header(name) != again.header(name):
            message = f"{what} has a different {name} from the first time"
            return failed(_REPLAY, message, first, again, pointer=name)
    return passed(_REPLAY)


def _body(answer: Observation) -> object:
    return answer.json if answer.json is not None else answer.exchange.response.body


def _change(session: HttpSession, rule: Idempotency, kind: ResourceKind) -> Iterator[Outcome]:
    """Change a resource with a key and replay it: the replay is neither a stale nor a second
    change.
    """
    for operation in changes(session, kind):
        if operation.method not in rule.methods or operation.method == "POST":
            continue
        resource = take_untouched(session, kind)
        if isinstance(resource, str):
            yield not_exercised(_REPLAY, resource)
            return
        spec = RequestSpec(
            operation.method,
            operation.template,
            identity=resource.owner,
            values=resource.item_values(operation),
            headers={"If-Match": resource.creation.header("ETag")},
            body=change_body(session, kind, operation),
        )
        yield send_twice(session, rule, operation, spec)


def _delete(session: HttpSession, rule: Idempotency, kind: ResourceKind) -> Iterator[Outcome]:
    """Delete a resource with a key and replay it: the replay is not a request for what is gone."""
    operation = kind.operation("delete")
    if operation is None or operation.method not in rule.methods or operation.method == "POST":
        return
    resource = take_untouched(session, kind)
    if isinstance(resource, str):
        yield not_exercised(_REPLAY, resource)
        return
    spec = request_to(session, operation, resource.values)
    validator = {"If-Match": resource.creation.header("ETag")}
    spec = replace(spec, identity=resource.owner, headers={**validator, **spec.headers})
    yield send_twice(session, rule, operation, spec)


def _replay_refusal(
    session: HttpSession, rule: Idempotency, kind: ResourceKind
) -> Iterator[Outcome]:
    """Create a resource with values that are taken; free the values and replay the creation: it is
    refused again if refusals are stored under their key, else it is handled anew.
    """
    create, delete = kind.operation("create"), kind.operation("delete")
    if create is None or delete is None or not takes_key(session, create):
        return
    if not kind.config.unique:
        reason = f"no `unique` members of `{kind.name}` are declared, so no refusal can be replayed"
        yield not_exercised(_REPLAY, reason)
        return
    taken = make(session, kind)
    if isinstance(taken, str):
        yield not_exercised(_REPLAY, taken)
        return
    rule = session.key_rule(create) or rule
    creation = _Creation(session, rule, create, taken)
    spec = creation.request(
        new_key(session, create), taken.body, new_id(session.echo, session.tokens)
    )
    refused = session.call(spec)
    removal = request_to(session, delete, taken.values)
    tag = {"If-Match": taken.creation.header("ETag")}
    gone = session.call(replace(removal, identity=taken.owner, headers={**tag, **removal.headers}))
    if refused.ok or refused.status in _MOMENTARY or refused.status >= 500 or not gone.ok:
        reason = f"the service answered {refused} to the values of another `{kind.name}`, and"
        yield not_exercised(_REPLAY, f"{reason} {gone} to {delete.name}")
        return
    again = session.call(spec)
    if rule.refusals == "stored":
        yield _check_stored(rule, taken, refused, again)
    else:
        yield _check_retried(creation, spec, refused, again)


def _check_stored(
    rule: Idempotency, taken: CreatedResource, refused: Observation, again: Observation
) -> Outcome:
    """Check that the replay of a refused creation is refused alike after its reason is gone."""
    what = f"the replay of a refused {again.exchange.operation} after its reason was gone"
    if again.status in _MOMENTARY:
        return not_exercised(_REPLAY, f"the service answered {again} to {what}")
    same = again.status == refused.status and again.code == refused.code
    if same and ("body" not in rule.equal or _body(again) == _body(refused)):
        return passed(_REPLAY)
    message = f"the service answered {again} to {what}; expected {refused} as before, stored under"
    return failed(
        _REPLAY, f"{message} {rule.key}", *(taken.creation, refused, again), variant="refusal"
    )


def _check_retried(
    creation: _Creation, spec: RequestSpec, refused: Observation, again: Observation
) -> Outcome:
    """Check that a refused creation succeeds under its key after its reason is gone.

    A creation with a new key shows whether the reason is gone: a service may reserve the values of
    what was deleted.
    """
    session, rule, taken = creation.session, creation.rule, creation.existing
    what = f"the replay of a refused {again.exchange.operation} after its reason was gone"
    message = f"the service answered {again} to {what}"
    if again.ok:
        return passed(_REPLAY)
    if again.status != refused.status or again.code != refused.code:
        return not_exercised(_REPLAY, message)
    anew = session.call(creation.request(new_key(session, creation.operation), spec.body))
    if not anew.ok:
        return not_exercised(_REPLAY, f"{message}, and {anew} to another key")
    message = f"{message}; expected a success, because refusals are not stored under {rule.key}"
    return failed(_REPLAY, message, *(taken.creation, refused, anew, again), variant="stored")


def send_twice(
    session: HttpSession, rule: Idempotency, operation: ServiceOperation, spec: RequestSpec
) -> Outcome:
    """Send a request twice with one key and one correlation id, and compare the answers."""
    rule = session.key_rule(operation) or rule
    spec = with_new_key(session, rule, operation, spec)
    first, again = session.call(spec), session.call(spec)
    if first.ok:
        return check_replay(session, rule, first, again)
    return check_refused_key(session, rule, spec, first)


def with_new_key(
    session: HttpSession, rule: Idempotency, operation: ServiceOperation, spec: RequestSpec
) -> RequestSpec:
    """Return the request with a key and a correlation id of its own."""
    spec = replace(
        spec,
        content_type=content_type(operation),
        files=operation.files,
        correlation=new_id(session.echo, session.tokens),
    )
    # The request of a write names what exists in its path, and has its own header if it has one.
    keeps = rule.key.kind == "path" or (rule.key.kind == "header" and key_of(rule, spec))
    return spec if keeps else set_key(rule, spec, new_key(session, operation))


def check_refused_key(
    session: HttpSession, rule: Idempotency, spec: RequestSpec, refused: Observation
) -> Outcome:
    """Check a write with a key that was refused: without the key, it must be refused too."""
    reason = f"the service answered {refused} to {spec.operation}"
    if refused.status in _MOMENTARY | {403, 404} or refused.status >= 500:
        return not_exercised(_REPLAY, reason)
    bare = without_key(rule, spec)
    if bare is None:
        return not_exercised(_REPLAY, reason)
    keyless = session.call(bare)
    if not keyless.ok:
        return not_exercised(_REPLAY, reason)
    message = f"{reason} with {rule.key}, but {keyless} without it"
    return failed(_REPLAY, message, keyless, refused, variant="key")
