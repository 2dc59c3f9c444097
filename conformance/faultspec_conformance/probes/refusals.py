"""Whether a request that cannot succeed was refused as the taxonomy says."""

import re
from dataclasses import replace

from faultspec.exchange.finding import Finding, Level
from faultspec.language.model import Code, Taxonomy
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    FORM,
    INVALID_INPUT,
    Observation,
    failed,
    not_exercised,
    passed,
)

#: Statuses that say nothing about the body: the service checked something else first.
CHECKED_FIRST = frozenset({401, 403, 404, 405, 406, 409, 410, 412, 428, 429})

#: How a reason says so.
CHECKED_FIRST_TEXT = "checked something else first"

#: How messages describe a 5xx status that answers an error of the caller.
SERVERS_FAULT = "a client error is reported as a server error"


#: The names of codes for invalid input, in any spelling.
_VALIDITY = re.compile(r"valid|malformed|unprocessable|bad_?request|bad_?input", re.IGNORECASE)


def check_refusal(clause: str, answer: Observation, what: str) -> Outcome:
    """Check that a request that cannot succeed got a client error in the declared form.

    ``what`` names the request.
    """
    if answer.status < 400:
        message = f"the service answered {answer} to {what}; expected an error"
        return failed(clause, message, answer)
    if answer.status >= 500 and answer.status != 501:
        message = f"the service answered {answer} to {what}: {SERVERS_FAULT}"
        return failed(clause, message, answer)
    form = broken_form(answer)
    if form is not None:
        message = f"the answer to {what} does not have the declared form: {form.message}"
        return replace(failed(clause, message, answer), form=form.clause)
    return passed(clause)


def broken_form(answer: Observation) -> Finding | None:
    """Return the first finding about the declared form of an error, or None."""
    findings = (
        finding
        for finding in answer.judgement.findings
        if finding.clause in FORM and finding.level == "error"
    )
    return next(findings, None)


def checked_first(clause: str, answer: Observation) -> Outcome:
    """Return the outcome of a service that checked something else before the fault."""
    operation = answer.exchange.operation
    return not_exercised(clause, f"{operation} {CHECKED_FIRST_TEXT} and answered {answer}")


def is_checked_first(outcome: Outcome) -> bool:
    """Whether the service checked something else before the fault, so that another operation may
    tell more.
    """
    return outcome.kind == "not_exercised" and CHECKED_FIRST_TEXT in (outcome.reason or "")


def unknown_id(answer: Observation) -> Outcome:
    """Check the answer to a request for an id without a resource."""
    clause, operation = "framework/unknown-id", answer.exchange.operation
    if answer.ok and answer.exchange.request.method in ("PUT", "DELETE"):
        reason = (
            f"the service answered {answer} to {operation} without a resource: the method allows it"
        )
        return not_exercised(clause, reason)
    if answer.status in (401, 403, 405, 412, 428):
        return checked_first(clause, answer)
    return check_refusal(clause, answer, "an id without a resource")


def check_invalid_input(session: HttpSession, answer: Observation, what: str) -> Outcome:
    """Check that input that the document forbids got a code for invalid input."""
    clause, invalid = "framework/invalid-input", _codes_of_invalid_input(session.taxonomy)
    if answer.status in CHECKED_FIRST:
        return checked_first(clause, answer)
    if answer.ok:
        # A service whose taxonomy has a code for invalid input has to use it.
        level: Level = "error" if invalid else "warning"
        message = f"the service accepted {what}, which the document forbids; expected an error"
        return failed(clause, message, answer, level=level)
    if answer.code is not None and invalid and not _means_invalid(answer, invalid):
        expected = " or ".join(
            f"{code.name} ({', '.join(map(str, _statuses(code)))})" for code in invalid
        )
        message = f"the service answered {answer} to {what}; expected {expected}"
        outcome = failed(clause, message, answer)
        statements = [statement for code in invalid for statement in code.source.statements]
        assert outcome.finding is not None
        finding = replace(outcome.finding, statements=tuple(dict.fromkeys(statements)))
        return replace(outcome, finding=finding)
    return check_refusal(clause, answer, what)


def _codes_of_invalid_input(taxonomy: Taxonomy) -> tuple[Code, ...]:
    """Return the codes for invalid input, by their name and status."""
    return tuple(
        code
        for code in taxonomy.shared_live_codes()
        if _VALIDITY.search(code.name) and _statuses(code)
    )


def _statuses(code: Code) -> tuple[int, ...]:
    return tuple(status for status in INVALID_INPUT if code.http.allows(status))


def _means_invalid(answer: Observation, invalid: tuple[Code, ...]) -> bool:
    """Whether the answer has a code for invalid input, a status that such a code shares, or another
    status.
    """
    shared = {status for code in invalid for status in _statuses(code)}
    return (
        answer.status not in INVALID_INPUT
        or answer.status in shared
        or answer.code in {code.name for code in invalid}
    )
