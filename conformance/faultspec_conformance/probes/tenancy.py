"""Concealment: a request for another tenant's resource gets the same answer as one for a missing
resource, in every header.

The probe compares a foreign id with an id without a resource. If the answers differ, it asks for a
second id without a resource: what differs between those two does not depend on the id (a counter, a
clock) and proves nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from faultspec.exchange.model import Canary
from faultspec.language.model import Concealment
from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec.runtime.pointers import steps
from faultspec_conformance.config import Identity
from faultspec_conformance.probes.foreign_bodies import check_lists_of_ids, check_searches
from faultspec_conformance.probes.foreign_children import check_lists_below
from faultspec_conformance.probes.foreign_reads import check_reads
from faultspec_conformance.probes.foreign_references import check_filters, check_references
from faultspec_conformance.probes.other_addresses import find_addresses, read_at_others
from faultspec_conformance.probes.ownership import (
    Evidence,
    boundary_between,
    evidence_of,
    find_unshared,
    foreign_resources,
    has_made_namesake,
    has_namesake,
    is_private,
    shares_tenant,
    shows_overwriting,
    unguessable,
)
from faultspec_conformance.probes.refusals import HIDES_ERRORS, check_absent_item, hides_errors
from faultspec_conformance.probes.updates import change_body
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import pagination, sampling
from faultspec_conformance.session.fixtures import body_for, make, request_to, take_untouched
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import renew_key
from faultspec_conformance.session.meanings import means_status
from faultspec_conformance.session.next_pages import Paging, paging_of
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    not_exercised,
    passed,
    slot_value,
)
from faultspec_conformance.session.observations import AbsentIdRequest, ProbeResult, attempt
from faultspec_conformance.session.own_resources import OwnResources, parent_of
from faultspec_conformance.session.references import request_of_reference
from faultspec_conformance.session.requests import RequestSpec, with_tag
from faultspec_conformance.session.resources import (
    CreatedResource,
    ResourceKind,
    Role,
    is_json_write,
    last_placeholder,
    lies_below,
    takes_body,
)

_CLAUSE = "tenancy/concealed"

#: The status by which the owner of a deleted item learns that it is gone.
_GONE = 410

#: Headers that depend on the time or the length, not on the resource.
_OF_THE_MOMENT = frozenset(
    {"date", "content-length", "connection", "keep-alive", "age", "server-timing"}
)

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")

#: A validator that never matches, to detect a precondition that is checked before the tenant.
_NEVER_GIVEN = '"faultspec-never-given"'

#: A value that hardly any member allows.
_ODD_VALUE = {"faultspec": True}

#: The name of a member that holds an id.
_ID = re.compile(r"(?:^|[_-])id$|Id$")

#: The roles of the operations on an item's path, but for its deletion.
_CHANGED: tuple[Role, ...] = ("read", "update")

#: Ids of a refusal that the caller reads, to see whether they are its own.
_NAMED = 3

#: Pages after the first one that are read as another tenant.
_LATER_PAGES = 3

#: Stands for a member that a body does not have.
_LACKING = object()


def other_tenants(session: HttpSession) -> Iterator[ProbeResult]:
    """Call every operation on an item as a caller of another tenant, and as another caller of the
    same tenant, as far as the taxonomy conceals resources from them.
    """
    rules = _rules(session)
    if "owner" in rules:
        yield from _other_owners(session, rules["owner"])
    rule = rules.get("tenant", rules.get("owner"))  # other tenants are other owners too
    if rule is None:
        return
    asked: tuple[Identity, Identity] | None = None
    own: dict[str, OwnResources] = {}
    for kind in session.turn:
        resource = session.knowledge.created.get(kind.name)
        if resource is None:
            if kind.item is not None and not _is_address(session, kind):
                yield not_exercised(_CLAUSE, _reason_left_out(kind))
            continue
        stranger = session.stranger(resource.owner)
        if stranger is None:
            reason = "no two identities with credentials belong to different tenants"
            yield not_exercised(_CLAUSE, reason)
            return
        asked = asked or (resource.owner, stranger)
        yield from _check_items(session, rule, resource, stranger)
        unshared = find_unshared(session, resource, stranger)
        resource = resource if isinstance(unshared, str) else unshared
        yield from _check_list(session, resource, stranger)
        yield from check_filters(session, resource, stranger)
        yield from check_searches(session, resource, stranger)
        yield from check_lists_of_ids(session, kind, resource.owner, stranger)
        yield from _check_addresses(session, rule, resource, stranger)
        own.setdefault(stranger.name, OwnResources(session, stranger))
        yield from _check_below_own(session, rule, resource, own=own[stranger.name])
        # From here on the stranger has sent the owner's values too.
        yield from _check_same_values(session, rule, resource, stranger)
        yield from check_references(session, resource, stranger)
    if asked is None:
        yield not_exercised(_CLAUSE, "no resource could be made for another tenant to ask for")
    elif session.kinds[0] in session.turn:
        yield from check_reads(session, *asked)


def deleted_items(session: HttpSession) -> Iterator[ProbeResult]:
    """Call every operation on a deleted item as a caller of another tenant, where its owner learns
    that it is gone: a stranger learns no more than of an id that no item had. Items whose ids the
    stranger may have too are left out.
    """
    rule = _rules(session).get("tenant")
    if rule is None or not any(code.http.allows(_GONE) for code in session.taxonomy.every_code()):
        return
    for kind in session.turn:
        shared = session.knowledge.created.get(kind.name)
        stranger = session.stranger(shared.owner) if shared is not None else None
        if shared is None or stranger is None or not unguessable(shared.id):
            continue
        deleted = _delete_new(session, kind, shared.owner)
        if deleted is not None:
            yield from _check_in_one_form(session, _compare(session, rule, deleted, stranger))


def _rules(session: HttpSession) -> Mapping[str, Concealment]:
    """Return the first rule of concealment for each boundary."""
    privacy = session.taxonomy.privacy
    return {rule.across: rule for rule in reversed(privacy.conceal)} if privacy is not None else {}


def _delete_new(
    session: HttpSession, kind: ResourceKind, owner: Identity
) -> CreatedResource | None:
    """Return a new item that its owner has deleted, and learns to be gone; None without one."""
    read, delete = kind.operation("read"), kind.operation("delete")
    if read is None or delete is None:
        return None
    made = make(session, kind, owner=owner)
    if isinstance(made, str) or not unguessable(made.id):
        return None
    removal = request_to(session, delete, made.item_values(delete))
    removal = with_tag(removal, made.creation.header("ETag"))
    removed = session.call(replace(removal, identity=owner))
    again = request_to(session, read, made.item_values(read))
    is_gone = removed.ok and session.call(replace(again, identity=owner)).status == _GONE
    return made if is_gone else None


def _reason_left_out(kind: ResourceKind) -> str:
    """Return why no other tenant asks for an item of a kind."""
    if kind.operation("create") is None:
        return f"no operation is known that creates `{kind.name}`"
    return f"no resource could be made of `{kind.name}`"


def _other_owners(session: HttpSession, rule: Concealment) -> Iterator[ProbeResult]:
    """Call the operations on new items as another caller of the same tenant."""
    for kind in session.turn:
        resource = take_untouched(session, kind)
        if isinstance(resource, str):
            yield not_exercised(_CLAUSE, resource)
            continue
        colleague = session.stranger(resource.owner, rule.across)
        if colleague is None:
            reason = "no two identities belong to one tenant"
            yield not_exercised(_CLAUSE, reason)
            return
        comparison = _compare(session, rule, resource, colleague)
        yield from _check_operations(session, comparison)
        if comparison.hides_reads:
            yield from _check_list(session, resource, colleague)
            yield from check_filters(session, resource, colleague)
            yield from _check_addresses(session, rule, resource, colleague)
            own = OwnResources(session, colleague)
            yield from _check_below_own(session, rule, resource, own=own)


def _check_items(
    session: HttpSession, rule: Concealment, shared: CreatedResource, stranger: Identity
) -> Iterator[ProbeResult]:
    """Call every operation on an item of another tenant, unless the stranger has a resource of the
    same id.
    """
    resource = find_unshared(session, shared, stranger)
    if isinstance(resource, str):
        yield not_exercised(_CLAUSE, resource)
    else:
        comparison = _compare(session, rule, resource, stranger)
        yield from _check_operations(session, comparison)


def _is_address(session: HttpSession, kind: ResourceKind) -> bool:
    """Whether the items of a kind are those of another one, at another address."""
    reads = (
        read
        for one in session.kinds
        if one.name in session.knowledge.created
        for read in find_addresses(session, one)
    )
    return any(shape_of(read.template) == shape_of(kind.item or "") for read in reads)


def _check_addresses(
    session: HttpSession, rule: Concealment, resource: CreatedResource, stranger: Identity
) -> Iterator[ProbeResult]:
    """Call the operations at the other addresses of an item that is concealed at its own one."""
    is_near = shares_tenant(resource.owner, stranger)
    if not is_near and not is_private(session, resource.kind):
        return
    for address in read_at_others(session, resource):
        item = address.item
        if not address.is_shown:
            reason = f"GET {item.kind.item} does not show the owner its {item.kind.name}"
            yield not_exercised(_CLAUSE, reason)
            continue
        comparison = _compare(session, rule, resource, stranger)
        comparison = replace(comparison, resource=item, refused=True)
        yield from _check_in_one_form(session, comparison)


def _check_below_own(
    session: HttpSession, rule: Concealment, resource: CreatedResource, *, own: OwnResources
) -> Iterator[ProbeResult]:
    """Ask for an item of the owner below an item of the stranger: many services look for it by its
    id alone, once the caller may see what it lies below.
    """
    kind = resource.kind
    above = parent_of(session, kind)
    if above is None or last_placeholder(kind) not in resource.values:
        return
    parent = own.find(above)
    if isinstance(parent, str):
        reason = f"{own.owner.name} has no `{above.name}` to ask for another `{kind.name}` below"
        yield not_exercised(_CLAUSE, f"{reason}: {parent}")
        return
    comparison = _compare(session, rule, resource, own.owner)
    comparison = replace(comparison, above=parent.values, refused=True)
    yield from _check_in_one_form(session, comparison)
    yield from attempt(check_lists_below(session, resource, parent=parent), _CLAUSE)


def _compare(
    session: HttpSession, rule: Concealment, resource: CreatedResource, stranger: Identity
) -> "_Comparison":
    evidence = evidence_of(session, resource)
    return _Comparison(
        session=session, rule=rule, resource=resource, stranger=stranger, evidence=evidence
    )


def _check_in_one_form(session: HttpSession, comparison: "_Comparison") -> Iterator[ProbeResult]:
    """Call every operation on an item once, but for HEAD."""
    for operation in _item_operations(session, comparison.resource.kind):
        if operation.method != "HEAD":
            form = _Form(condition=_NEVER_GIVEN)
            yield from attempt(comparison.outcomes(operation, form), _CLAUSE)


def _check_operations(session: HttpSession, comparison: "_Comparison") -> Iterator[ProbeResult]:
    """Call every operation on an item. What lies below one is asked for by a colleague only after
    it was refused the item itself: then it may not see more of it.
    """
    kind = comparison.resource.kind
    for operation in _item_operations(session, kind):
        if comparison.of_colleague and not comparison.hides_reads and lies_below(operation, kind):
            continue
        for form in _forms(session, operation):
            yield from attempt(comparison.outcomes(operation, form), _CLAUSE)
            if comparison.privileged:
                return
            if comparison.has_namesake():
                next_one = comparison.compare_another()
                if next_one is None:
                    return
                comparison = next_one


def _forms(session: HttpSession, operation: ServiceOperation) -> Iterator["_Form"]:
    """The forms of a request to an operation: what a service may check before the tenant."""
    yield _Form(condition=_NEVER_GIVEN)
    if operation.writes and any(
        means_status(code, 428) for code in session.taxonomy.shared_live_codes()
    ):
        yield _Form(condition=None)
    if operation.method in ("PUT", "PATCH") and is_json_write(operation):
        yield _Form(condition=_NEVER_GIVEN, is_malformed=True)


def _item_operations(session: HttpSession, kind: ResourceKind) -> list[ServiceOperation]:
    """Return the operations on an item's path, then those below it; reads come first, the deletion
    last. Frameworks answer HEAD where a service answers GET.
    """
    item = shape_of(kind.item or "")
    found = [operation for role in _CHANGED if (operation := kind.operation(role)) is not None]
    found += [replace(read, method="HEAD") for read in found if read.method == "GET"]
    for operation in session.description.operations:
        here = shape_of(operation.template) == item and operation.method in ("GET", "PUT", "PATCH")
        if (here or lies_below(operation, kind)) and operation not in found:
            found.append(operation)
    delete = kind.operation("delete")
    ordered = sorted(found, key=lambda operation: operation.writes)
    return [*ordered, *([delete] if delete is not None else [])]


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of a request. ``condition``: the value of `If-Match` of a write. ``is_malformed``: the
    members of its body have values of another type.
    """

    condition: str | None
    is_malformed: bool = False


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer and the id that was asked for."""

    observation: Observation
    id: object


@dataclass(slots=True)
class _Comparison:
    """Requests of a stranger for a resource of another tenant, compared with requests for an id
    without a resource.

    ``known``: the answer to a read of such an id, which others are compared with first.
    ``refused``: the stranger was refused before; ``hides_reads``: a read of the item.
    ``privileged``: the stranger may be allowed to see
    the items of other owners, since roles are unknown. ``above``: the values of the placeholders
    before the id in the stranger's requests, if they are not those of the resource.
    """

    session: HttpSession
    rule: Concealment
    resource: CreatedResource
    stranger: Identity
    evidence: Evidence
    known: _Answer | None = None
    refused: bool = False
    hides_reads: bool = False
    privileged: bool = False
    above: Mapping[str, object] = field(default_factory=dict)

    def outcomes(self, operation: ServiceOperation, form: _Form) -> Iterator[ProbeResult]:
        """Compare one operation."""
        resource, kind = self.resource, self.resource.kind
        # Such as a request for access, which colleagues may send.
        is_action = self.of_colleague and operation.writes and lies_below(operation, kind)
        before = [self._read_by_owner(), self._read_by_owner()] if is_action else []
        foreign = _Answer(self._ask(operation, resource.id, form), resource.id)
        if hides_errors(self.session, foreign.observation):
            reason = f"the service answered {foreign.observation} to {self._subject(operation)}"
            yield not_exercised(_CLAUSE, f"{reason}: {HIDES_ERRORS}")
            return
        # A change of an item is compared with one of a missing item, because services often look
        # for it elsewhere.
        changes_it = operation.method in ("PUT", "PATCH") and not lies_below(operation, kind)
        if self.known is not None and not changes_it and not self._differences(foreign, self.known):
            self._note_refusal(operation)
            yield passed(_CLAUSE)
            return
        if operation.method != "DELETE" or not {"404", "410"} & set(operation.responses):
            yield AbsentIdRequest(operation.name)  # else its success is judged by `unknown-ids`
        nothing = self._ask_absent(operation, form)
        yield check_absent_item(self.session, kind, operation, nothing.observation)
        if operation.method == "GET":
            self.known = nothing
        overwriting = self._find_overwriting(operation, foreign.observation, nothing.observation)
        excuse = self._excuse(operation, foreign.observation, nothing.observation)
        if overwriting is not None:
            yield overwriting
        elif excuse is not None:
            yield not_exercised(_CLAUSE, excuse)
        elif foreign.observation.ok and self.of_colleague and not self.refused:
            self.privileged = True
            reason = f"{self.stranger.name} may be allowed to see what other callers own"
            yield not_exercised(_CLAUSE, reason)
        elif foreign.observation.ok and is_action:
            yield self._judge_action(operation, foreign.observation, before)
        elif foreign.observation.ok:
            subject = self._subject(operation)
            message = f"the service answered {foreign.observation} to {subject}; expected a refusal"
            variant = "below-own" if self.above else ""
            yield failed(_CLAUSE, message, resource.creation, foreign.observation, variant=variant)
        else:
            self._note_refusal(operation)
            yield self._check_refusal(operation, form, foreign, nothing)

    def _note_refusal(self, operation: ServiceOperation) -> None:
        kind, self.refused = self.resource.kind, True
        is_read = operation.method == "GET" and shape_of(operation.template) == shape_of(
            kind.item or ""
        )
        self.hides_reads = self.hides_reads or is_read

    def _read_by_owner(self) -> Observation | None:
        read = self.resource.kind.operation("read")
        if read is None:
            return None
        spec = request_to(self.session, read, self.resource.values)
        return self.session.call(replace(spec, identity=self.resource.owner))

    def _judge_action(
        self, operation: ServiceOperation, answer: Observation, before: list[Observation | None]
    ) -> Outcome:
        """Judge an action of a colleague that succeeded: it must not change what it cannot see."""
        subject, after = self._subject(operation), self._read_by_owner()
        first, second = before
        reason = f"the service answered {answer} to {subject}, which does not show that it changed"
        if first is None or second is None or after is None or first.json != second.json:
            return not_exercised(_CLAUSE, reason)
        if not second.ok or (after.ok and after.json == second.json):
            return not_exercised(_CLAUSE, reason)
        message = f"the service answered {answer} to {subject}, and changed it; expected a refusal"
        return failed(_CLAUSE, message, *(second, answer, after), variant="action")

    def _find_overwriting(
        self, operation: ServiceOperation, foreign: Observation, nothing: Observation
    ) -> Outcome | None:
        """Return the failure of a PUT or DELETE that succeeds for any id, and had an effect on the
        resource of the other tenant.
        """
        session, resource = self.session, self.resource
        succeeds = operation.method in ("PUT", "DELETE") and foreign.ok and nothing.ok
        after = self._read_by_owner() if succeeds and not self.of_colleague else None
        if after is None or not shows_overwriting(session, resource, foreign, after=after):
            return None
        effect = "changed it" if after.ok else "it is gone"
        message = f"the service answered {foreign} to {self._subject(operation)}, and {effect}"
        exchanges = (resource.creation, foreign, after)
        return failed(_CLAUSE, message, *exchanges, variant="overwriting")

    @property
    def of_colleague(self) -> bool:
        """Whether the stranger belongs to the tenant of the owner."""
        return shares_tenant(self.resource.owner, self.stranger)

    def compare_another(self) -> "_Comparison | None":
        """Return the comparison of another item, if the stranger has made one of this id, such as
        by a PUT; None if it had one before, or no other item can be made.
        """
        resource, stranger = self.resource, self.stranger
        if self.of_colleague or not has_made_namesake(self.session, resource, stranger):
            return None
        another = find_unshared(self.session, resource, stranger)
        if isinstance(another, str):
            return None
        return replace(
            self, resource=another, evidence=evidence_of(self.session, another), known=None
        )

    def has_namesake(self) -> bool:
        """Whether the stranger has a resource of the same id."""
        return has_namesake(self.session, self.resource, self.stranger, self.evidence.marks)

    def _excuse(
        self, operation: ServiceOperation, foreign: Observation, nothing: Observation
    ) -> str | None:
        """Return why the answers to a foreign id and to one without a resource prove nothing, or
        None.
        """
        name, subject = operation.name, self._subject(operation)
        if foreign.ok and not nothing.ok:
            own = f"{subject}: {foreign} may be about the caller's own resource of the same id"
            return own if self.has_namesake() or self._may_be_below_own(foreign) else None
        if {foreign.status, nothing.status} & {401, 405, 429}:
            return f"the service answered {foreign} to {subject}"
        if nothing.ok:
            return f"the service answered {nothing} to {name} without a resource"
        if operation.method == "PUT" and "201" in operation.responses:
            # RFC 9110, 9.3.4: it creates a missing resource, so a name that is taken shows in any
            # case.
            return f"{name} creates a missing resource, as its document says"
        return None

    def _may_be_below_own(self, foreign: Observation) -> bool:
        """Whether a success below the stranger's own item may be about what lies there: items of
        each item may be counted alike.
        """
        is_certain = unguessable(self.resource.id) or self.evidence.is_shown_in(foreign)
        return bool(self.above) and not is_certain

    def _check_refusal(
        self,
        operation: ServiceOperation,
        form: _Form,
        foreign: _Answer,
        nothing: _Answer,
    ) -> Outcome:
        """Compare two refusals."""
        subject, answer = self._subject(operation), foreign.observation
        differences = self._differences(foreign, nothing)
        if differences:
            moving = self._differences(nothing, self._ask_absent(operation, form))
            differences = {name: text for name, text in differences.items() if name not in moving}
        if differences:
            first = next(iter(differences.values()))
            message = f"{subject}: the answer differs from that for a missing resource: {first}"
            return failed(_CLAUSE, message, nothing.observation, answer, variant="difference")
        # Below another item there is no such resource, so the service may answer that.
        if answer.code in self.rule.never and not self.above and self._may_call(operation):
            message = f"the service answered {answer} to {subject}; expected {self.rule.answer}"
            return failed(_CLAUSE, message, answer, variant="code")
        if self._is_of_no_route(answer):
            message = (
                f"the service answered {answer} to {subject}, as to an unknown route, and never "
                f"{self.rule.answer}, the code of a missing resource"
            )
            return failed(_CLAUSE, message, answer, variant="route")
        if answer.status == 403 and answer.code != self.rule.answer:
            who = self.stranger.name
            reason = f"the service answers {answer} to {who} whether the resource exists or not"
            return not_exercised(_CLAUSE, reason)
        return passed(_CLAUSE)

    def _is_of_no_route(self, answer: Observation) -> bool:
        """Whether a missing resource is answered like an unknown route, and never by the code that
        the taxonomy has for it.
        """
        session, wanted = self.session, self.rule.answer
        if answer.status != 404 or answer.code in (None, wanted):
            return False
        if any(seen.code == wanted for seen in session.knowledge.exchanges):
            return False
        path = f"{session.description.base}/{session.tokens.hex(8)}"
        unknown = session.call(RequestSpec("GET", path, identity=self.stranger))
        return (unknown.status, unknown.code) == (404, answer.code)

    def _may_call(self, operation: ServiceOperation) -> bool:
        """Whether the stranger may call an operation on items of its own: a write is tried."""
        if self.stranger.limited or not operation.writes:
            return not self.stranger.limited
        own = make(self.session, self.resource.kind, owner=self.stranger)
        if isinstance(own, str):
            return False
        filled = dict(zip(operation.placeholders, own.values.values(), strict=False))
        return self.session.call(self._request(operation, filled)).ok

    def _request(self, operation: ServiceOperation, values: Mapping[str, object]) -> RequestSpec:
        """Return the request of the stranger for an item."""
        spec = replace(request_to(self.session, operation, values), identity=self.stranger)
        if not takes_body(operation):
            return spec
        return replace(spec, body=change_body(self.session, self.resource.kind, operation))

    def _subject(self, operation: ServiceOperation) -> str:
        boundary = boundary_between(self.resource.owner, self.stranger)
        subject = f"{operation.name} of another {boundary}'s {self.resource.kind.name}"
        return f"{subject}, below an item of the caller" if self.above else subject

    def _ask_absent(self, operation: ServiceOperation, form: _Form) -> _Answer:
        identifier = sampling.other_identifier(self.session.source, self.resource.id)
        canary = Canary("id", str(identifier))
        return _Answer(self._ask(operation, identifier, form, canary), identifier)

    def _ask(
        self,
        operation: ServiceOperation,
        identifier: object,
        form: _Form,
        *canaries: Canary,
    ) -> Observation:
        names, values = operation.placeholders, self.resource.values
        filled = dict(zip(names, self._values_of_path(), strict=False))
        if names and canaries:
            filled[names[len(values) - 1]] = identifier
        spec = self._request(operation, filled)
        spec = replace(spec, correlation="valid", canaries=canaries)
        if operation.writes:
            spec = replace(spec, headers={**spec.headers, "If-Match": form.condition})
        if form.is_malformed and isinstance(spec.body, dict):
            spec = replace(spec, body=dict.fromkeys(spec.body, _ODD_VALUE))
        return self.session.call(spec)

    def _values_of_path(self) -> list[object]:
        """Return the values of the placeholders in the stranger's requests for the resource."""
        return [*self.above.values(), *[*self.resource.values.values()][len(self.above) :]]

    def _differences(self, one: _Answer, two: _Answer) -> dict[str, str]:
        """Return what differs, in words, under names that stay the same from pair to pair."""
        found: dict[str, str] = {}
        first, second = one.observation, two.observation
        if first.status != second.status:
            found["status"] = f"{first} instead of {second}"
        if first.code != second.code:
            found["code"] = f"the code is {first.code} instead of {second.code}"
        left, right = self._headers(one), self._headers(two)
        for name in dict.fromkeys((*left, *right)):
            if name not in right:
                found[name] = f"it has the header {name}"
            elif name not in left:
                found[name] = f"it lacks the header {name}"
            elif left[name] != right[name] and first.header(name) != second.header(name):
                found[name] = f"the header {name} differs"
        ours, theirs = dict(leaves(_body(first))), dict(leaves(_body(second)))
        for pointer in dict.fromkeys((*ours, *theirs)):
            pair = ours.get(pointer, _LACKING), theirs.get(pointer, _LACKING)
            if pair[0] != pair[1] and self._neutralise(one, pair[0]) != self._neutralise(
                two, pair[1]
            ):
                found[f"body {pointer}"] = f"the body differs at {pointer or 'its root'}"
        return found

    def _headers(self, answer: _Answer) -> Mapping[str, str]:
        echo = self.session.echo
        ignored = _OF_THE_MOMENT | ({echo.header.lower()} if echo is not None else set())
        return {
            name.lower(): self._neutral_text(answer, value)
            for name, value in answer.observation.exchange.response.headers
            if name.lower() not in ignored
        }

    def _neutralise(self, answer: _Answer, value: object) -> object:
        """Return a leaf of the body as it would be for any id and at any time."""
        if isinstance(value, str):
            return self._neutral_text(answer, value)
        return "{id}" if not isinstance(value, bool) and str(value) == str(answer.id) else value

    def _neutral_text(self, answer: _Answer, text: str) -> str:
        """Return a text without the id that was asked for, the correlation ids and the time."""
        echo, observation = self.session.echo, answer.observation
        if echo is not None:
            for value in (
                observation.exchange.request_header(echo.header),
                observation.header(echo.header),
                slot_value(self.session.contract, observation, echo.field.slot),
            ):
                if isinstance(value, str) and value:
                    text = re.sub(re.escape(value), "{correlation}", text, flags=re.IGNORECASE)
        text = _TIME.sub("{time}", text)
        word = re.escape(str(answer.id))
        # A number may occur inside any other number or token.
        whole = word if unguessable(answer.id) else rf"(?<![0-9A-Za-z]){word}(?![0-9A-Za-z])"
        return re.sub(whole, "{id}", text, flags=re.IGNORECASE)


def _body(answer: Observation) -> object:
    body = answer.exchange.response.body
    return answer.json if answer.json is not None else body.decode("utf-8", "replace")


def _check_list(
    session: HttpSession, resource: CreatedResource, stranger: Identity
) -> Iterator[Outcome]:
    """Check that no page of a list shows a resource of the owner to the stranger: neither the first
    ones, nor the one that the owner's own cursor names.
    """
    kind, listing = resource.kind, resource.kind.operation("list")
    if listing is None or listing.placeholders:
        return
    foreign = foreign_resources(session, [kind], resource, stranger)
    boundary = boundary_between(resource.owner, stranger)
    message = f"{listing.name} shows another {boundary}'s {kind.name}"
    paging = paging_of(listing, kind.config.pages)
    plain = RequestSpec("GET", listing.template, identity=stranger)
    first = session.call(replace(plain, query=pagination.opening(listing)))
    if not first.ok:
        return
    if foreign.find_in(first) is not None:
        yield failed(_CLAUSE, message, resource.creation, first, variant="list")
        return
    yield passed(_CLAUSE)
    query = pagination.next_query(listing, first) or _next_query(paging, first, {})
    for _ in range(_LATER_PAGES):
        if query is None:
            break
        page = session.call(replace(plain, query=query))
        if not page.ok:
            break
        if foreign.find_in(page) is not None:
            exchanges = (resource.creation, first, page)
            yield failed(_CLAUSE, f"{message} on a later page", *exchanges, variant="page")
            return
        yield passed(_CLAUSE)
        query = _next_query(paging, page, query)
    if shares_tenant(resource.owner, stranger):
        return  # an owner may list what its colleague has too
    outcome = _check_cursor(session, resource, stranger, plain=plain, paging=paging)
    if outcome is not None:
        yield outcome


def _check_cursor(
    session: HttpSession,
    resource: CreatedResource,
    stranger: Identity,
    *,
    plain: RequestSpec,
    paging: Paging,
) -> Outcome | None:
    """Check that a cursor of the owner does not lead the stranger to items of the owner.

    ``plain``: the request of the list by the stranger. None if the list has no cursors, or all
    tenants share its items.
    """
    if paging.cursor is None or paging.size is None or not is_private(session, resource.kind):
        return None
    opening = {paging.size.name: 1}
    owners = replace(plain, identity=resource.owner)
    own = session.call(replace(owners, query=opening))
    if own.ok and _next_query(paging, own, opening) is None:  # the owner has no second item yet
        make(session, resource.kind, owner=resource.owner)
        own = session.call(replace(owners, query=opening))
    query = _next_query(paging, own, opening) if own.ok else None
    if query is None:
        return None
    query.pop(paging.size.name, None)  # a page of the usual size shows more
    page = session.call(replace(plain, query=query))
    if not page.ok or not paging.items(page):
        return passed(_CLAUSE)
    following = session.call(replace(owners, query=query))
    ids = {
        str(item[name])
        for item in paging.items(following)
        if isinstance(item, dict)
        for name in {last_placeholder(resource.kind), "id"} & item.keys()
        if unguessable(item[name])
    }
    text = page.exchange.response.body.decode("utf-8", "replace")
    # Ids such as `b17` may be those of both tenants; texts that the run wrote are not.
    foreign = foreign_resources(session, [resource.kind], resource, stranger)
    if foreign.find_in(page) is None and not any(identifier in text for identifier in ids):
        return passed(_CLAUSE)
    message = f"with a cursor of another tenant, {page.exchange.operation} shows that tenant's "
    message += resource.kind.name
    return failed(_CLAUSE, message, *(own, following, page), variant="cursor")


def _next_query(
    paging: Paging, page: Observation, query: Mapping[str, object]
) -> dict[str, object] | None:
    """Return the query of the page after an answer, as the answer names it."""
    items = paging.items(page)
    last = items[-1] if items else None
    return paging.next_query(page, query, last.get("id") if isinstance(last, dict) else last)


def _check_same_values(
    session: HttpSession, rule: Concealment, resource: CreatedResource, stranger: Identity
) -> Iterator[Outcome]:
    """Create a resource with the values of another tenant's: the answer must not show that they are
    taken.
    """
    kind = resource.kind
    operation = kind.operation("create")
    if operation is None or operation.placeholders:
        return
    if not kind.config.unique and "409" not in operation.responses:
        return
    spec = replace(request_to(session, operation), identity=stranger, body=resource.body)
    answer = session.call(renew_key(session, operation, spec))
    line = f"the service answered {answer} to {operation.name} with another tenant's values"
    if answer.ok:
        yield passed(_CLAUSE)
    elif _names_resource(session, resource, stranger, answer):
        message = f"{line}, with the id of its {kind.name}"
        yield failed(_CLAUSE, message, resource.creation, answer, variant="conflict")
    elif answer.code is not None and answer.code in rule.never and answer.status == 409:
        if _may_be_own(session, resource, stranger, spec=spec, answer=answer):
            yield not_exercised(_CLAUSE, f"{line}, which its own {kind.name} may have already")
            return
        message = f"{line}, which shows that another tenant uses the values"
        yield failed(_CLAUSE, message, resource.creation, answer, level="warning", variant="value")


def _may_be_own(
    session: HttpSession,
    resource: CreatedResource,
    stranger: Identity,
    *,
    spec: RequestSpec,
    answer: Observation,
) -> bool:
    """Whether a refused creation may be in conflict with a resource of its own caller.

    The refusal names a resource that the caller reads, or other values are refused too: then some
    of the values are always the same.
    """
    for _, value in _named_ids(session, answer)[:_NAMED]:
        own = request_of_reference(session, resource, value, stranger)
        if own is not None and session.call(own).ok:
            return True
    operation = resource.kind.operation("create")
    assert operation is not None
    fresh = session.call(replace(spec, body=body_for(session, operation)))
    return not fresh.ok


def _named_ids(session: HttpSession, answer: Observation) -> list[tuple[str, object]]:
    """Return the members of an answer that may name a resource, each with its value."""
    keys = session.taxonomy.detail_keys.values()
    names = {key.name for key in keys if key.refers_to == "resource"}
    members = [(steps(pointer)[-1], value) for pointer, value in leaves(answer.json) if pointer]
    return [pair for pair in members if pair[0] in names or _ID.search(pair[0])]


def _names_resource(
    session: HttpSession, resource: CreatedResource, stranger: Identity, answer: Observation
) -> bool:
    """Whether a refusal names a resource that is not its caller's.

    A resource that the caller may read under that id is its own. An id that the caller sent itself,
    such as the name of a host, shows nothing.
    """
    if any(str(value) == str(resource.id) for _, value in leaves(resource.body)):
        return False
    if unguessable(resource.id):
        return str(resource.id) in answer.exchange.response.body.decode("utf-8", "replace")
    # A number may occur anywhere, so it counts only in the place of an id.
    if not any(str(value) == str(resource.id) for _, value in _named_ids(session, answer)):
        return False
    read = resource.kind.operation("read")
    if read is None:
        return True
    spec = RequestSpec("GET", read.template, identity=stranger, values=resource.values)
    return not session.call(spec).ok
