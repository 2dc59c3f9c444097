"""Whether a request that cannot succeed was refused as the taxonomy says."""

from dataclasses import replace

from faultspec.exchange.finding import Finding, Level
from faultspec.language.model import Code, Taxonomy
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.probes.batch_items import bad_items_key
from faultspec_conformance.probes.effects import GONE, may_be_pending
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.meanings import means_status, names_invalid_input
from faultspec_conformance.session.observation import (
    FORM,
    INVALID_INPUT,
    Observation,
    Unanswered,
    describe_cut,
    error_details,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import ResourceKind

_UNKNOWN_ID = "framework/unknown-id"

#: How messages name the request of that clause.
_NO_RESOURCE = "an id without a resource"

#: Members of errors, which no item has unless every item has them.
_ERROR_MEMBERS = frozenset({"error", "errors", "exception", "fault"})

#: Members that a message names.
_NAMED = 4

#: Statuses that say nothing about the body: the service checked something else first.
CHECKED_FIRST = frozenset({401, 403, 404, 405, 406, 409, 410, 412, 428, 429})

#: How a reason says so.
CHECKED_FIRST_TEXT = "checked something else first"

#: Why a success of HEAD says nothing where bodies tell errors.
HIDES_ERRORS = "a body would tell whether this is an error"

#: How messages describe a 5xx status that answers an error of the caller.
SERVERS_FAULT = "a client error is reported as a server error"


def check_refusal(session: HttpSession, clause: str, answer: Observation, what: str) -> Outcome:
    """Check that a request that cannot succeed got a client error in the declared form.

    ``what`` names the request. An answer that a service gives for a while is asked for once more.
    """
    if not is_transient(session, answer):
        return _check_answer(clause, answer, what)
    again = ask_after_failure(session, answer)
    if isinstance(again, NoAnswer):
        return not_exercised(clause, f"the service answered {answer} to {what}: {again.reason}")
    if again.status < 400:
        reason = f"the service answered {answer} to {what}, and then {again}"
        return not_exercised(clause, reason)
    return _check_answer(clause, again, what)


def is_transient(session: HttpSession, answer: Observation) -> bool:
    """Whether an answer is a failure of the service that a later try may not meet: a status 5xx
    with a declared code that is retriable.
    """
    code = session.taxonomy.codes.get(answer.code or "")
    return answer.status >= 500 and code is not None and code.retriable.may_be_retried


def ask_after_failure(session: HttpSession, answer: Observation) -> Observation | NoAnswer:
    """Send the request of an answer once more, after the wait that the answer asks for."""
    wait = session.requested_wait(answer)
    try:
        if wait is not None:
            session.wait(wait, after=answer)
        return session.repeat(answer)
    except Unanswered as error:
        return error.no_answer


def _check_answer(clause: str, answer: Observation, what: str) -> Outcome:
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
    if answer.exchange.response.cut is not None:
        return not_exercised(clause, describe_cut(answer.exchange, answer.exchange.response.cut))
    return passed(clause)


def broken_form(answer: Observation) -> Finding | None:
    """Return the first finding about the declared form of an error, or None."""
    findings = (
        finding
        for finding in answer.judgement.findings
        if finding.clause in FORM and finding.level == "error"
    )
    return next(findings, None)


def hides_errors(session: HttpSession, answer: Observation) -> bool:
    """Whether an answer to HEAD may be an error for all one can see: its surface tells errors by
    the body.
    """
    if answer.exchange.request.method != "HEAD" or not answer.ok:
        return False
    claim = session.contract.claim(answer.exchange)
    return claim is not None and claim.surface.marks_bodies


def checked_first(clause: str, answer: Observation) -> Outcome:
    """Return the outcome of a service that checked something else before the fault."""
    operation = answer.exchange.operation
    return not_exercised(clause, f"{operation} {CHECKED_FIRST_TEXT} and answered {answer}")


def is_checked_first(outcome: Outcome) -> bool:
    """Whether the service checked something else before the fault, so that another operation may
    tell more.
    """
    return outcome.kind == "not_exercised" and CHECKED_FIRST_TEXT in (outcome.reason or "")


def unknown_id(session: HttpSession, answer: Observation) -> Outcome:
    """Check the answer to a request for an id without a resource."""
    clause, operation = _UNKNOWN_ID, answer.exchange.operation
    if answer.ok and answer.exchange.request.method in ("PUT", "DELETE"):
        reason = (
            f"the service answered {answer} to {operation} without a resource: the method allows it"
        )
        return not_exercised(clause, reason)
    if answer.status in (401, 403, 405, 412, 428):
        return checked_first(clause, answer)
    if answer.ok and session.description.learned:
        return _unlike_item(session, answer)
    return check_refusal(session, clause, answer, _NO_RESOURCE)


def _unlike_item(session: HttpSession, answer: Observation) -> Outcome:
    """Check a success for an id without a resource, of an operation that no document describes.

    A path may have an answer for any text, so only a body that is not that of an item is a finding.
    """
    operation = answer.exchange.operation
    items = (
        seen.json
        for seen in session.knowledge.exchanges
        if seen.ok and seen.exchange.operation == operation and seen.exchange.trigger == ""
    )
    item = next((body for body in items if isinstance(body, dict) and body), None)
    body = answer.json
    if item is None or not isinstance(body, dict) or not body:
        reason = f"the service answered {answer} to {operation} with an id that it never showed"
        return not_exercised(_UNKNOWN_ID, reason)
    if item.keys().isdisjoint(body) or (body.keys() - item.keys()) & _ERROR_MEMBERS:
        message = (
            f"the service answered {answer} to {_NO_RESOURCE}, with {_name_members(body)} where an "
            f"item has {_name_members(item)}; expected an error"
        )
        return failed(_UNKNOWN_ID, message, answer, variant="no-item")
    return not_exercised(_UNKNOWN_ID, f"{operation} has an item for any id")


def _name_members(body: dict[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in [*body][:_NAMED])


def check_absent_item(
    session: HttpSession, kind: ResourceKind, operation: ServiceOperation, answer: Observation
) -> Outcome:
    """Check the answer to a request for an id without a resource.

    A deletion may succeed there, and a PUT may create (RFC 9110, 9.3.4 and 9.3.5). Where the
    operation has an error for a missing resource, a success is a finding: an error if the taxonomy
    declares it for the operation, else a warning. A PUT that made a resource is none.
    """
    method = answer.exchange.request.method
    if method not in ("PUT", "DELETE") or may_be_pending(answer) or answer.status == 201:
        return unknown_id(session, answer)
    declared = session.contract.find_operation(operation.name)
    own = declared.named_codes if declared is not None else ()
    codes = {**session.taxonomy.codes, **(declared.errors if declared is not None else {})}
    named = [
        name
        for name in own
        if name in codes and any(means_status(codes[name], status) for status in GONE)
    ]
    if not named and not {"404", "410"} & set(operation.responses):
        return unknown_id(session, answer)
    read = kind.operation("read")
    if method == "PUT":
        if read is None:
            return unknown_id(session, answer)
        path = answer.exchange.request.target.partition("?")[0]
        caller = session.config.identity(answer.exchange.identity)
        shown = session.call(RequestSpec("GET", path, identity=caller, route=read.template))
        if shown.status not in GONE:
            return unknown_id(session, answer)
    # In a path with several ids, the documented 404 may be about another one.
    certain = bool(named) and len(operation.placeholders) == 1
    expected = " or ".join(named) or "404, which the document lists"
    message = f"the service answered {answer} to {operation.name} with an id without a resource"
    level: Level = "error" if certain else "warning"
    return failed(_UNKNOWN_ID, f"{message}; expected {expected}", answer, level=level)


def check_invalid_input(
    session: HttpSession, answer: Observation, what: str, *, in_item: bool = False
) -> Outcome:
    """Check that input that the document forbids got a code for invalid input.

    ``in_item``: the input is in an item of a list, so that a batch may fail for it as a whole.
    """
    clause, invalid = "framework/invalid-input", _codes_of_invalid_input(session.taxonomy)
    if answer.status in CHECKED_FIRST:
        return checked_first(clause, answer)
    if answer.ok and session.description.learned:
        return not_exercised(clause, f"no document forbids {what}, which the service accepted")
    if answer.ok:
        # A service whose taxonomy has a code for invalid input has to use it.
        level: Level = "error" if invalid else "warning"
        message = f"the service accepted {what}, which the document forbids; expected an error"
        return failed(clause, message, answer, level=level)
    if in_item and _lists_bad_items(session, answer):
        return check_refusal(session, clause, answer, what)
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
    return check_refusal(session, clause, answer, what)


def _lists_bad_items(session: HttpSession, answer: Observation) -> bool:
    """Whether an error lists the bad items of a batch, where its surface declares them."""
    key = bad_items_key(session.contract, answer)
    return key is not None and bool(error_details(session.contract, answer).get(key))


def _codes_of_invalid_input(taxonomy: Taxonomy) -> tuple[Code, ...]:
    """Return the codes for invalid input, by their name and status."""
    return tuple(
        code
        for code in taxonomy.shared_live_codes()
        if names_invalid_input(code) and _statuses(code)
    )


def _statuses(code: Code) -> tuple[int, ...]:
    return tuple(status for status in INVALID_INPUT if means_status(code, status))


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
