"""Malformed correlation ids.

The first ride on requests for unknown routes, as echo and uniqueness ride on all requests. The
others, and all of them where no surface claims unknown routes, ride on reads.
"""

from collections.abc import Iterator
from dataclasses import replace

from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.correlation import is_valid_id, new_id
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    not_exercised,
    passed,
    slot_value,
)
from faultspec_conformance.session.parameters import readable_operation, required_query
from faultspec_conformance.session.requests import RequestSpec

_CLAUSE = "correlation/invalid-inbound"

#: Characters: more than any format has, fewer than any server's limit of a header.
_OVERLONG = 2_000

#: A service that accepts any UUID is lenient, and the id is well formed at least: a warning.
_OTHER_FORMAT = "of a format that is not declared (UUID version 4)"


#: A header with a control character is invalid; a recipient may refuse the whole message (RFC 9110,
#: 5.5), and parsers of HTTP do so before the application sees it.
_CONTROL = "with a control character in it"

#: The ids that a library may treat as missing ones.
_EMPTY = "that is empty"


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


def _further_ids(session: HttpSession) -> tuple[tuple[str, str], ...]:
    """Return malformed ids that some servers refuse."""
    echo, marker = session.echo, session.tokens.hex(4)
    # Two header lines with one name are one line with a comma (RFC 9110, 5.3). Clients cannot send
    # line breaks; an escape sequence forges lines in a terminal.
    pairs = (
        ("that is two ids", ", ".join(new_id(echo, session.tokens) for _ in range(2))),
        (_CONTROL, f"{marker}\x1b[31m"),
    )
    return tuple(pair for pair in pairs if not is_valid_id(echo, pair[1]))


def malformed_ids_of_reads(session: HttpSession) -> Iterator[Outcome]:
    """Send the malformed ids that no other probe sent with reads, or with an unknown route."""
    echo = session.echo
    if echo is None or echo.field.invalid_inbound == "unspecified":
        return
    sent = (each.exchange.request_header(echo.header) or "" for each in session.knowledge.exchanges)
    is_first_sent = any(len(value) > _OVERLONG for value in sent)
    pairs = (*(() if is_first_sent else malformed_ids(session)), *_further_ids(session))
    operation = readable_operation(session)
    if operation is None:
        target = RequestSpec("GET", f"/{session.tokens.hex(6)}", route=None)
    else:
        query = required_query(session, operation)
        target = RequestSpec("GET", operation.template, query=query)
    if not pairs:
        yield not_exercised(_CLAUSE, f"every value of {echo.header} is well formed")
    for kind, value in pairs:
        spec = replace(target, correlation=value, server_may_refuse=True)
        answer = session.try_call(replace(spec, trigger=f"{echo.header} {kind}"))
        if isinstance(answer, NoAnswer):
            yield not_exercised(_CLAUSE, f"a request with an id {kind} got no answer")
            continue
        refused = answer.status in INVALID_INPUT
        usual = session.call(replace(target, correlation="valid")) if refused else answer
        yield from check_malformed_id(session, answer, kind, value, usual=usual.status)


def call_with_empty_id(session: HttpSession, spec: RequestSpec) -> Iterator[Observation | Outcome]:
    """Send a request with an empty id. Yield the answer, then whether it is as declared."""
    echo = session.echo
    if echo is None or echo.field.invalid_inbound == "unspecified":
        yield session.call(spec)
        return
    answer = session.call(replace(spec, correlation=""))
    yield answer
    refused = answer.status in INVALID_INPUT
    usual = session.call(replace(spec, correlation="valid")) if refused else answer
    yield from check_malformed_id(session, answer, _EMPTY, "", usual=usual.status)


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
            message = f"{header} {kind} comes back"
            yield failed(_CLAUSE, message, answer, level="warning", variant="format")
    elif answer.status >= 500 and usual < 500:
        message = f"the service answered {answer} to {what}; expected a status below 500"
        yield failed(_CLAUSE, message, answer)
    elif value and any(value in text for _, text in answer.exchange.response.headers):
        message = f"{what} comes back in a header"
        yield failed(_CLAUSE, message, answer, variant="header")
    elif value and (
        value.encode() in answer.exchange.response.body
        or slot_value(session.contract, answer, rule.slot) == value
    ):
        yield failed(_CLAUSE, f"{what} comes back in the body", answer, variant="body")
    elif rule.invalid_inbound == "reject" and kind == _EMPTY and not answer.status >= 400:
        # A header without a value is a missing one to many libraries.
        yield passed(_CLAUSE)
    elif rule.invalid_inbound == "reject" and answer.status not in INVALID_INPUT:
        message = f"the service answered {answer} to {what}; expected 400 or 422"
        yield failed(_CLAUSE, message, answer, variant="accepted")
    elif kind == _CONTROL and answer.status == 400 != usual:
        yield not_exercised(_CLAUSE, f"the server may refuse {what} ({answer})")
    elif (
        rule.invalid_inbound == "replace"
        and answer.status in INVALID_INPUT
        and answer.status != usual
    ):
        message = f"the service refused {what} ({answer}); expected {usual}, and a new id"
        yield failed(_CLAUSE, message, answer, variant="refused")
    else:
        yield passed(_CLAUSE)
