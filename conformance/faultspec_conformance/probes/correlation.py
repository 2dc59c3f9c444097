"""Malformed correlation ids.

They ride on the requests of other probes, as echo and uniqueness do.
"""

from collections.abc import Iterator

from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.correlation import is_valid_id
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    passed,
    slot_value,
)

_CLAUSE = "correlation/invalid-inbound"

#: Characters: more than any format has, fewer than any server's limit of a header.
_OVERLONG = 2_000

#: A service that accepts any UUID is lenient, and the id is well formed at least: a warning.
_OTHER_FORMAT = "of a format that is not declared (UUID version 4)"


def malformed_ids(session: HttpSession) -> tuple[tuple[str, str], ...]:
    """Return malformed ids, each with a phrase that says what is wrong with it."""
    if session.echo is None or session.echo.field.invalid_inbound == "unspecified":
        return ()
    marker = session.tokens.hex(4)
    pairs = (
        ("that is overlong", marker + "A" * _OVERLONG),
        ("with markup in it", f'"><script>{marker}</script>'),
        (_OTHER_FORMAT, session.tokens.id("uuid4")),
    )
    return tuple(pair for pair in pairs if not is_valid_id(session.echo, pair[1]))


def check_malformed_id(
    session: HttpSession, answer: Observation, kind: str, value: str, *, usual: int
) -> Iterator[Outcome]:
    """Check the answer to a request with a malformed id.

    ``usual``: the status of the answer to the same request with a valid id.
    """
    if session.echo is None:
        return
    header, rule = session.echo
    what = f"an id {kind}"
    if kind == _OTHER_FORMAT:
        if answer.header(header) == value:
            yield failed(_CLAUSE, f"{header} {kind} comes back", answer, level="warning")
    elif answer.status >= 500:
        message = f"the service answered {answer} to {what}; expected a status below 500"
        yield failed(_CLAUSE, message, answer)
    elif any(value in text for _, text in answer.exchange.response.headers):
        yield failed(_CLAUSE, f"{what} comes back in a header", answer)
    elif (
        value.encode() in answer.exchange.response.body
        or slot_value(session.taxonomy, answer, rule.slot) == value
    ):
        yield failed(_CLAUSE, f"{what} comes back in the body", answer)
    elif rule.invalid_inbound == "reject" and answer.status not in INVALID_INPUT:
        message = f"the service answered {answer} to {what}; expected 400 or 422"
        yield failed(_CLAUSE, message, answer)
    elif (
        rule.invalid_inbound == "replace"
        and answer.status in INVALID_INPUT
        and answer.status != usual
    ):
        message = f"the service refused {what} ({answer}); expected {usual}, and a new id"
        yield failed(_CLAUSE, message, answer)
    else:
        yield passed(_CLAUSE)
