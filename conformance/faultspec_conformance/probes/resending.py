"""Sending a refused write once more."""

import json
from dataclasses import replace

from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.requests import RequestSpec

LARGEST = 256 * 1024
"""Bytes of a body that is sent again."""

#: A validator that no service has given out.
_NEVER_GIVEN = '"faultspec-never-given"'


def ask_again(
    session: HttpSession, refused: Observation, path: str, *, tag: str | None = None
) -> Observation | None:
    """Send a refused write once more, to a path and under a new key. Return the answer; None if the
    body is too large.

    ``tag``: the current validator, which replaces that of the write. A write that was refused with
    412 gets a validator that no service has given out.
    """
    exchange = refused.exchange
    if len(exchange.request.body) > LARGEST:
        return None
    query = exchange.request.target.partition("?")[1:]
    request = session.with_new_key(exchange).request
    if tag is not None:
        tag = _NEVER_GIVEN if refused.status == 412 else tag
        request = replace(
            request,
            headers=tuple(
                (name, tag if name.lower() == "if-match" else value)
                for name, value in request.headers
            ),
        )
    request = replace(request, target="".join((path, *query)))
    spec = RequestSpec(
        request.method,
        path,
        identity=session.config.identity(exchange.identity),
        canaries=exchange.forbidden,
        may_be_refused=True,
        may_fail=refused.status >= 500,
        route=exchange.route,
    )
    with session.driver.log_as("confirm"):
        return session.ask(request, spec)


def with_body(refused: Observation, body: object) -> Observation:
    """A refused write with another body, to be sent again."""
    request = replace(refused.exchange.request, body=json.dumps(body).encode())
    return replace(refused, exchange=replace(refused.exchange, request=request))
