"""Declared fault switches: every operation fails in every way that the switch has, and works
again without it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from faultspec.contract.crashes import may_fail
from faultspec.contract.keys import carried_key
from faultspec.language.model import Idempotency
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import FaultSwitchConfig
from faultspec_conformance.config.context import wire_text
from faultspec_conformance.probes.failed_effects import (
    REFUSED,
    has_no_effect,
    readable_target,
)
from faultspec_conformance.probes.preconditions import OF_CONDITION, with_current_tag
from faultspec_conformance.probes.whole_lists import read_pages
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import body_for, ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.keys import key_of, without_key_value
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    leaves,
    list_items,
    not_exercised,
    passed,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import is_json_write

_CODE, _RECOVERS = "provoke/code", "fault/recovers"
_RETRIED = "idempotency/after-failure"

CLAUSES = (_CODE, _RECOVERS, _RETRIED, REFUSED)

#: Requests that fail by one switch, dealt out to the operations in turn.
_FAILURES = 40

#: Characters. A shorter text of a body may occur in a list by chance.
_TELLING = 8


def switched_faults(session: HttpSession) -> Iterator[ProbeResult]:
    """Send each operation with each value of each switch, then without it."""
    if not session.config.faults:
        yield not_exercised(_RECOVERS, "the configuration declares no `faults`")
    for switch in session.config.faults:
        yield from _Faults(session, switch).outcomes()


@dataclass(frozen=True, slots=True)
class _Faults:
    """The failures of one switch. ``shown``: the codes that an operation answered.

    ``ignored``: the codes that an operation answered with a success. ``replayed``: the creations
    that were replayed after a failure and a success. ``compared``: the operations whose failures
    were compared with reads.
    """

    session: HttpSession
    switch: FaultSwitchConfig
    shown: set[str] = field(default_factory=set)
    ignored: dict[str, Observation] = field(default_factory=dict)
    replayed: set[str] = field(default_factory=set)
    compared: set[str] = field(default_factory=set)

    def outcomes(self) -> Iterator[ProbeResult]:
        """Deal the codes out to the operations, so that each operation gets one before any gets
        two.
        """
        operations, codes = self._operations(), tuple(self.switch.values)
        turns = [
            (operation, codes[(turn + index) % len(codes)])
            for turn in range(len(codes))
            for index, operation in enumerate(operations)
        ]
        for operation, code in turns[:_FAILURES]:
            yield from attempt(self._fail(operation, code), *CLAUSES)
        for code, answer in self.ignored.items():
            if code not in self.shown:
                switch = f"{self.switch.where} `{self.switch.name}`"
                message = f"no operation fails with {code} by the {switch} ({answer})"
                yield failed(_CODE, message, answer, variant="ignored")
        left_out = len(turns) - _FAILURES
        if left_out > 0:
            reason = f"{left_out} of {len(turns)} failures are beyond the limit of {_FAILURES}"
            yield not_exercised(_CODE, reason)

    def _operations(self) -> list[ServiceOperation]:
        session = self.session
        return [
            operation
            for operation in session.inventory.operations
            if session.inventory.has(operation)
            and operation.method not in ("HEAD", "OPTIONS", "TRACE")
            and (session.writable or not operation.writes)
            and (self.switch.where != "body" or is_json_write(operation))
        ]

    def _fail(self, operation: ServiceOperation, code: str) -> Iterator[Outcome]:
        session = self.session
        plain = ordinary_request(session, operation)
        if self.switch.identity is not None:
            plain = replace(plain, identity=session.identity(self.switch.identity))
        reads = operation.name not in self.compared and has_no_effect(session, code)
        target = readable_target(session, plain) if reads else None
        before = target.show() if target is not None else []
        answer = session.call(self._add_switch(plain, code))
        current = (
            with_current_tag(session, operation, plain) if answer.status in OF_CONDITION else None
        )
        if current is not None:
            plain = current
            answer = session.call(self._add_switch(plain, code))
        what = f"{operation.name} with {self.switch.name}: {self.switch.values[code]}"
        outcome = self._check_code(answer, code, what)
        yield outcome
        if outcome.kind != "passed":
            return
        self.shown.add(code)
        if target is not None:
            self.compared.add(operation.name)
            yield target.judge(before, answer)
        if operation.method == "DELETE":  # the other codes need the resource
            return
        again = session.call(plain)
        yield self._check_recovery(code, answer, again, what)
        rule = session.key_rule(operation)
        if rule is not None and operation.writes and again.ok:
            yield self._check_once(rule, operation, plain, (answer, again))

    def _add_switch(self, spec: RequestSpec, code: str) -> RequestSpec:
        name, value = self.switch.name, self.switch.values[code]
        spec = replace(spec, may_fail=may_fail(self.session.taxonomy, code))
        spec = replace(spec, wait_when_limited=False)
        if self.switch.where == "header":
            return replace(spec, headers={**spec.headers, name: wire_text(value)})
        if self.switch.where == "query":
            return replace(spec, query={**spec.query, name: value})
        body = spec.body if isinstance(spec.body, dict) else {}
        return replace(spec, body={**body, name: value})

    def _check_code(self, answer: Observation, code: str, what: str) -> Outcome:
        """Check that a switched request failed with its code.

        An operation may ignore the switch, or check something else first.
        """
        codes = {seen.code for seen in (answer, *answer.inner)}
        if code in codes:
            return passed(_CODE)
        if answer.status < 400:
            self.ignored.setdefault(code, answer)
            return not_exercised(
                _CODE, f"the service ignores the fault switch: {what} got {answer}"
            )
        if answer.status < 500 or answer.status == 501:
            return not_exercised(_CODE, f"{what} got {answer}: something else was checked first")
        if answer.code is None and not answer.sound:
            return not_exercised(_CODE, f"{what} got {answer}, without a readable code")
        return failed(_CODE, f"the service answered {answer} to {what}; expected {code}", answer)

    def _check_recovery(
        self, code: str, answer: Observation, again: Observation, what: str
    ) -> Outcome:
        """Check that the request works again without the switch."""
        if again.status < 400:
            return passed(_RECOVERS)
        if again.status < 500 or again.status == 501:
            return not_exercised(_RECOVERS, f"without the switch, the service answered {again}")
        rule = self.session.contract.key_rule(again.exchange)
        keyed = rule is not None and carried_key(rule.key, again.exchange) is not None
        tried_again = rule is not None and rule.refusals == "retried"
        if again.code == code and keyed and not tried_again and not self._helps_to_retry(code):
            reason = f"{code} is stored under the idempotency key, and no retry helps"
            return not_exercised(_RECOVERS, reason)
        message = f"after {what}, the service answered {again} to the same request without it"
        return failed(_RECOVERS, message, answer, again)

    def _helps_to_retry(self, code: str) -> bool:
        """Whether clients are to retry by the taxonomy: by the flag of the code, or by its client
        action where it has no flag.
        """
        found = self.session.taxonomy.codes.get(code)
        if found is None:
            return False
        by_action = found.retryable and not found.retriable.has_flag
        return found.retriable.may_be_retried or by_action

    def _check_once(
        self,
        rule: Idempotency,
        operation: ServiceOperation,
        spec: RequestSpec,
        pair: tuple[Observation, Observation],
    ) -> Outcome:
        """Check that a write that failed and was repeated under its key took effect once.

        The first time, it is repeated once more. It is looked for in the list of its kind, by a
        text of its body that no other body has.
        ``pair``: the failure and the success.
        """
        session, (answer, again) = self.session, pair
        created = (kind for kind in session.kinds if kind.operation("create") == operation)
        kind = next(created, None) if key_of(rule, spec) is not None else None
        listing = kind.operation("list") if kind is not None else None
        others = set(_texts(body_for(session, operation)))
        own = _texts(without_key_value(rule, spec.body))
        text = next((text for text in own if text not in others), None)
        if kind is None or listing is None or text is None:
            reason = f"no list shows how often {operation.name} took effect"
            return not_exercised(_RETRIED, reason)
        if operation.name not in self.replayed:  # a failed key may be forgotten after its success
            self.replayed.add(operation.name)
            session.call(spec)
        pages = read_pages(
            session,
            listing,
            kind.config.pages,
            RequestSpec("GET", listing.template, identity=spec.identity, values=spec.values),
        )
        shown = [
            (page, item) for page in pages for item in list_items(page.json) if text in _texts(item)
        ]
        if not shown:
            return not_exercised(_RETRIED, f"{listing.name} does not show what was written")
        page, items = shown[-1][0], [item for _, item in shown]
        if len(items) > 1:
            message = (
                f"{operation.name} failed with {answer.code} and was repeated under its key; "
                f"the list shows {len(items)} of what was written once"
            )
            return failed(_RETRIED, message, *(answer, again, page))
        return passed(_RETRIED)


def _texts(value: object) -> list[str]:
    """Return the texts in a JSON value that do not occur in a list by chance."""
    found = (text for _, text in leaves(value))
    return [text for text in found if isinstance(text, str) and len(text) >= _TELLING]
