"""The tries of a client: each as the retry planner reads it, and what the client reads between
them.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from faultspec.contract.keys import carried_key
from faultspec.exchange.model import Request, first_header
from faultspec.language.conditions import ConditionFacts
from faultspec.language.model import Code
from faultspec.runtime import retry_after
from faultspec.runtime.retry import Failure
from faultspec_conformance.drivers.http import SAFE_METHODS
from faultspec_conformance.faults.retry_observer import Try
from faultspec_conformance.faults.server import Served
from faultspec_conformance.session.base import Session
from faultspec_conformance.session.observation import Observation, slot_value

#: RFC 9110, 9.2.2: sending these twice has the same effect as once.
_IDEMPOTENT = SAFE_METHODS | {"PUT", "DELETE", "TRACE"}

#: RFC 9110, 13.1: the preconditions of a request.
_PRECONDITIONS = ("If-Match", "If-None-Match", "If-Unmodified-Since")

#: Methods that change an existing resource.
_CHANGES = frozenset({"PUT", "PATCH", "DELETE"})


def is_refusal(status: int | None, request: Request) -> bool:
    """Whether the status can tell the client that its request is out of date.

    412 answers a precondition (RFC 9110, 13.1). 428 answers the lack of one (RFC 6585, 3), which
    does not concern requests that create something.
    """
    is_conditional = any(first_header(request.headers, name) is not None for name in _PRECONDITIONS)
    if status == 428:
        return not is_conditional and request.method in _CHANGES
    return is_conditional or status != 412


def read_try(session: Session, code: Code, served: Served, sent: Observation) -> Try | None:
    """A try as the planner reads it; None if the taxonomy leaves open whether the policy
    applies.
    """
    if served.fault is None:
        return Try(served.at, served.until, None)
    taxonomy = session.taxonomy
    operation = session.contract.operation(sent.exchange)
    declared = operation.idempotent if operation is not None else None
    rule, method = session.contract.key_rule(sent.exchange), served.request.method
    idempotent = method in _IDEMPOTENT if declared is None else declared
    if (
        rule is not None
        and method in rule.methods
        and carried_key(rule.key, sent.exchange) is not None
    ):
        idempotent = True
    named = taxonomy.retry_policies.get(code.retry or "")
    eligible = True
    if named is not None and named.eligible:
        details = slot_value(session.contract, sent, "details")
        facts = ConditionFacts(
            sent.status, declared, None, details if isinstance(details, dict) else {}
        )
        covered = named.covers(code.name, facts)
        if covered is None:
            return None
        eligible = covered
    hint = sent.header("Retry-After")
    wait = None
    if hint is not None:
        wait = retry_after.parse(hint, now=time.time(), lenient=True).seconds
    body_wait = _wait_in_body(session, sent)
    flag = slot_value(session.contract, sent, "retriable")
    failure = Failure(
        retriable=code.client_action == "retry" and flag is not False,
        kind=named.kind_of.get(code.name) if named is not None else None,
        retry_after=wait if body_wait is None else body_wait,
        pushback=body_wait is not None and body_wait < 0,
        idempotent=idempotent,
        eligible=eligible,
        effect=code.effect,
    )
    return Try(served.at, served.until, failure)


def _wait_in_body(session: Session, sent: Observation) -> float | None:
    """The seconds that the details of an answer ask to wait."""
    details = slot_value(session.contract, sent, "details")
    if not isinstance(details, dict):
        return None
    for key in session.taxonomy.retry_hints:
        seconds = retry_after.hint_seconds(details.get(key.name), key.unit, now=time.time())
        if seconds is not None:
            return seconds
    return None


class RefetchProblem(NamedTuple):
    """Why a client does not refetch. ``number``: that of the try that shows it; None if it cannot
    be decided.
    """

    message: str
    number: int | None


class Read(NamedTuple):
    """A read of a client. ``at``: when it had arrived. ``validator``: the one that it got."""

    at: float
    validator: str | None


def check_refetch(tries: Sequence[Served], reads: Sequence[Read]) -> RefetchProblem | None:
    """Whether the client reads after each refusal, and its next try has another `If-Match`; None if
    so.
    """
    for number, refused in enumerate(tries):
        if refused.fault is None:
            break
        following = tries[number + 1] if number + 1 < len(tries) else None
        until = following.at if following is not None else float("inf")
        between = [read for read in reads if refused.until <= read.at <= until]
        if following is None:
            if not between and number == 0:
                return RefetchProblem("but the client did not read the resource again", 0)
            break
        if not between:
            message = f"but the client sent try {number + 2} without reading the resource again"
            return RefetchProblem(message, number + 1)
        stale = first_header(refused.request.headers, "If-Match")
        if stale in (None, "*") or stale != first_header(following.request.headers, "If-Match"):
            continue
        if all(read.validator in (None, stale) for read in between):
            message = f"but the answers to the client's reads have no validator except {stale}"
            return RefetchProblem(message, None)
        message = f"but try {number + 2} sends `If-Match: {stale}` again, which was already refused"
        return RefetchProblem(message, number + 1)
    return None
