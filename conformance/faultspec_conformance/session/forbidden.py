"""Successes of identities to whom the configuration forbids an operation, whichever request they
answer.
"""

from collections.abc import Mapping

from faultspec_conformance.config import Identity
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observation import Observation, failed

SCOPE = "auth/scope"


def find_forbidden(identities: Mapping[str, Identity], observation: Observation) -> Outcome | None:
    """Return the failure of a success of a forbidden operation, or None."""
    exchange = observation.exchange
    identity = identities.get(exchange.identity or "")
    if identity is None or exchange.route is None or not observation.ok:
        return None
    method = exchange.request.method.upper()
    if not any(one.matches(method, exchange.route) for one in identity.forbidden):
        return None
    message = (
        f"the service answered {observation} to {method} {exchange.route} by {identity.name}, to "
        "whom the configuration forbids it; expected 403"
    )
    return failed(SCOPE, message, observation)
