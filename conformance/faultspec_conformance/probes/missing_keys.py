"""Writes without their idempotency key: refused with the declared code, or accepted where the key
is optional.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from faultspec.language.model import Idempotency
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.replayed_actions import is_replayed_here, request_below
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import (
    CONFLICT,
    likely_body,
    ordinary_request,
    renew_references,
)
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import new_key, set_key, takes_key, without_key
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import ResourceKind

CLAUSE = "idempotency/required"

#: What `missing` is if the key is optional.
_OPTIONAL = "accepted"

#: Writes that are sent without their key. One framework looks for the keys of most.
_WRITES = 8

#: Statuses of a refusal that may be about the key.
_ABOUT_KEY = frozenset({*INVALID_INPUT, CONFLICT, 428})


def missing_keys(session: HttpSession) -> Iterator[ProbeResult]:
    """Send each write that takes a key without one."""
    general = session.taxonomy.idempotency
    if general is None or general.missing is None:
        return
    asked = 0
    for kind, operation in _writes(session, general):
        rule = session.key_rule(operation)
        if asked < _WRITES and rule is not None and rule.key.kind != "path":
            asked += 1
            yield from attempt(_Write(session, rule, kind, operation).outcomes(), CLAUSE)
    if not asked:
        yield not_exercised(CLAUSE, "no write is known that takes a key")


def _writes(
    session: HttpSession, rule: Idempotency
) -> Iterator[tuple[ResourceKind | None, ServiceOperation]]:
    """Yield creations of resources with their kinds, then other writes below an item."""
    for kind in session.turn:
        create = kind.operation("create")
        created = create is not None and kind.name in session.knowledge.created
        if create is not None and created and takes_key(session, create):
            yield kind, create
    for operation in session.description.operations:
        if is_replayed_here(session, rule, operation) and takes_key(session, operation):
            yield None, operation


@dataclass(frozen=True, slots=True)
class _Write:
    """A write that takes a key. ``kind``: what it creates; None for another write."""

    session: HttpSession
    rule: Idempotency
    kind: ResourceKind | None
    operation: ServiceOperation

    def outcomes(self) -> Iterator[Outcome]:
        """Send the write without its key; if it is refused for another reason, on fresh occasions:
        once more without, then with one.
        """
        rule, answer = self.rule, self._send(keyed=False)
        if isinstance(answer, Observation) and self._refuses_otherwise(answer):
            second = self._send_afresh(answer, keyed=False)
            answer = second if isinstance(second, Observation) else answer
        if isinstance(answer, str):
            yield not_exercised(CLAUSE, answer)
            return
        line = f"the service answered {answer} to {self.operation.name} without {rule.key}"
        if answer.ok and rule.missing != _OPTIONAL:
            message = f"{line}; expected {rule.missing}"
            yield failed(CLAUSE, message, answer, variant="accepted")
        elif answer.ok or answer.code == rule.missing:
            yield passed(CLAUSE)
        else:
            about_key = answer.status in _ABOUT_KEY
            keyed = self._send_afresh(answer, keyed=True) if about_key else ""
            expected = "a success: the key is optional"
            expected = expected if rule.missing == _OPTIONAL else str(rule.missing)
            yield (
                failed(CLAUSE, f"{line}; expected {expected}", answer, keyed)
                if isinstance(keyed, Observation) and keyed.ok
                else not_exercised(CLAUSE, line)
            )

    def _refuses_otherwise(self, answer: Observation) -> bool:
        """Whether the answer is a refusal that may be about the key, with another code than the
        declared one.
        """
        return answer.status in _ABOUT_KEY and answer.code != self.rule.missing

    def _send_afresh(self, refused: Observation, *, keyed: bool) -> Observation | str:
        """Send the write with new references after a refusal, so that no earlier request has
        changed what it concerns. A conflict without references may concern anything.
        """
        call = self.kind.call("create") if self.kind is not None else None
        renewed = renew_references(self.session, self.operation, call)
        if not renewed and refused.status == CONFLICT:
            return f"{self.operation.name} has nothing that could be made anew"
        return self._send(keyed=keyed)

    def _send(self, *, keyed: bool) -> Observation | str:
        """Send the write with a key or without, or return why it cannot be sent."""
        session, spec, rule = self.session, self._request(), self.rule
        if isinstance(spec, str):
            return spec
        if keyed:
            return session.call(set_key(rule, spec, new_key(session, self.operation)))
        bare = without_key(rule, spec)
        if bare is None:
            return f"no {self.operation.name} lacks {rule.key}"
        return session.call(replace(bare, trigger=f"no {rule.key}"))

    def _request(self) -> RequestSpec | str:
        """Return the write as it should succeed, or why there is none."""
        session, create = self.session, self.operation
        if self.kind is None:
            return request_below(session, create)
        shared = session.knowledge.created[self.kind.name]
        known = shared.values_for(create.template)
        values = {name: known.get(name, shared.id) for name in create.placeholders}
        spec = ordinary_request(session, create, values)
        body = likely_body(session, create, self.kind.call("create"))
        return replace(spec, identity=shared.owner, body=body)
