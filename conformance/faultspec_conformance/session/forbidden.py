"""Successes of identities to whom the configuration forbids an operation, whichever request they
answer.
"""

from collections.abc import Iterator, Mapping

from faultspec_conformance.config import Identity
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observation import Observation, failed

SCOPE = "auth/scope"


def check_forbidden(
    identities: Mapping[str, Identity], observation: Observation
) -> Iterator[Outcome]:
    """Yield the failure of a success of a forbidden operation."""
    exchange = observation.exchange
    identity = identities.get(exchange.identity or "")
    method = exchange.request.method.upper()
    if identity is None or exchange.route is None or not observation.ok:
        return
    if not identity.may_not_call(method, exchange.route):
        return
    message = (
        f"the service answered {observation} to {method} {exchange.route} by {identity.name}, to "
        "whom the configuration forbids it; expected 403"
    )
    yield failed(SCOPE, message, observation)
