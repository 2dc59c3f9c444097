"""The scope of a rate limit: a limit that one caller or tenant has reached refuses no other.

Another caller sends the request before the limit is exhausted, and again at once after the refusal.
Earlier requests of the run may have used up the limit, above all one that all callers share. So
what proves nothing, and what fails, is tried once more after the wait that the refusal asks for.
"""

from collections.abc import Callable
from dataclasses import dataclass

from faultspec_conformance.config import Identity, Step
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised, passed

CLAUSE = "retry/scope"

#: Statuses of an outsider who may not send the request at all.
_DENIED = (401, 403)

#: The status of a rate limit (RFC 6585, 4).
_LIMITED = 429

#: Requests of the outsider. A limit that is reached sooner may be the outsider's own.
_SENT = 2


@dataclass(frozen=True, slots=True)
class Outsider:
    """A caller beyond the scope of a limit. ``before``: the answer before the limit was reached."""

    identity: Identity
    before: Observation


def ask_outsider(
    session: HttpSession, step: Step, send: Callable[[Identity], Observation]
) -> Outsider | str:
    """Send the request as a caller beyond the scope of the limit; return why there is none.

    ``send``: sends the request of the step as another identity.
    """
    if step.scope is None:
        return "no recipe declares the `scope` of its limit"
    if step.scope == "service":
        return "the limit counts the requests of all callers"
    owner = session.identity(step.identity)
    colleague = session.stranger(owner, "owner") if step.scope == "caller" else None
    if colleague is not None and colleague.name in session.refused:
        colleague = None
    identity = colleague or session.stranger(owner)
    if identity is None:
        return f"no identity is known that differs from {owner.name} in its {step.scope}"
    before = send(identity)
    wait = session.requested_wait(before) if before.status == _LIMITED else None
    if wait is not None and session.driver.pause(wait):
        before = send(identity)  # earlier requests used up the limit
    if before.status in (*_DENIED, _LIMITED):
        return f"the service answered {before} to {identity.name} before the limit was reached"
    return Outsider(identity, before)


def check_scope(
    step: Step,
    outsider: Outsider | str,
    refused: Observation,
    *,
    served: int,
    send: Callable[[Identity], Observation],
) -> Outcome:
    """Check that a limit which refuses its owner serves the outsider.

    ``served``: the requests of the owner before the refusal.
    """
    if isinstance(outsider, str):
        return not_exercised(CLAUSE, outsider)
    if served < _SENT:
        return not_exercised(CLAUSE, f"the limit was reached after {served} requests")
    after = send(outsider.identity)
    name = outsider.identity.name
    if after.status == _LIMITED:
        message = (
            f"the limit of each {step.scope} refuses {name} ({after}), who sent one request, "
            f"after {served} requests of another {step.scope}"
        )
        evidence = (outsider.before, refused, after)
        return failed(CLAUSE, message, *evidence, variant=str(step.scope))
    if after.status in _DENIED:
        return not_exercised(CLAUSE, f"the service answered {after} to {name}")
    return passed(CLAUSE)


def check_again(
    session: HttpSession,
    step: Step,
    first: Outcome,
    *,
    send: Callable[[Identity], Observation],
    ask: Callable[[], Observation],
) -> Outcome:
    """Check the scope once more, after the limit has recovered; return the first outcome if that
    was a pass, or the second try decides nothing. ``ask``: sends the request of the owner.
    """
    if first.kind == "passed" or step.scope in (None, "service"):
        return first
    refused = ask()
    wait = session.requested_wait(refused) if refused.status == step.until else 0.0
    if wait is None or not session.driver.pause(wait):
        return first
    outsider = ask_outsider(session, step, send)
    for served in range(step.at_most):
        refused = ask()
        if refused.status == step.until:
            again = check_scope(step, outsider, refused, served=served, send=send)
            return again if again.is_decided else first
    return first
