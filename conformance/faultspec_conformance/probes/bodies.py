"""Bodies that cannot be read, and bodies that their schema forbids.

The probes ask only for what the taxonomy pins down. A service may check credentials before the
body, as long as it answers with one of the declared errors.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from faultspec.exchange.model import Canary
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.named_inputs import WrongInput, check_named_input
from faultspec_conformance.probes.operations import (
    MOST_OPERATIONS,
    first_conclusive,
    json_writes,
    needs_body,
    needs_members,
    one_of_each_method,
)
from faultspec_conformance.probes.preconditions import call_past_condition
from faultspec_conformance.probes.refusals import (
    CHECKED_FIRST,
    check_invalid_input,
    check_refusal,
    checked_first,
    is_checked_first,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import body_for, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import content_type
from faultspec_conformance.session.sampling import Violation

_MALFORMED, _INVALID = "framework/malformed-json", "framework/invalid-input"

#: Bodies that a schema forbids, of the first operation and of all together.
_OF_FIRST, _OF_ALL = 3, 3

#: More levels than recursive parsers survive, and far fewer bytes than any limit of a body.
_DEPTH = 2_500

#: Bytes that UTF-8 never has.
_NOT_UTF8 = b"\xff\xfe"

#: Half a surrogate pair in a JSON string, which parsers accept and encoders refuse. It is sent only
#: in a body that cannot be stored: a list with it could not be shown any more.
_HALF = b'"half": "\\ud800", '

#: Stands for the unusual text until the body is encoded.
_MARK = "faultspec-unusual-text"

#: Digits of an integer that a parser may refuse, as Python does beyond 4300.
_DIGITS = 5_000

#: Requests with unreadable bodies, of all operations together.
_UNREADABLE = 30


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault of a body. ``raw`` returns the body for an operation; None if it cannot be made.

    ``parameter`` and ``headers``: of the media type, and of the request. ``wrong``: whether an
    operation that needs a body must refuse it. ``mistyped``: it is wrong only where the schema asks
    for an object. ``empty``: it is wrong only where a member is required.
    """

    what: str
    raw: Callable[[HttpSession, ServiceOperation], bytes | None]
    parameter: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    wrong: bool = True
    mistyped: bool = False
    empty: bool = False


def _fixed_body(raw: bytes) -> Callable[[HttpSession, ServiceOperation], bytes | None]:
    return lambda session, operation: raw


def _body_with_text(text: bytes) -> Callable[[HttpSession, ServiceOperation], bytes | None]:
    return lambda session, operation: _insert_text(session, operation, text)


def _repeat_members(session: HttpSession, operation: ServiceOperation) -> bytes | None:
    """Return a valid body that begins with its members as null, which readers keep or replace."""
    body = body_for(session, operation)
    if not isinstance(body, dict) or not body:
        return None
    first = json.dumps(dict.fromkeys(body)).encode()
    return first[:-1] + b", " + json.dumps(body).encode()[1:]


def _half_alone(session: HttpSession, operation: ServiceOperation) -> bytes | None:
    """Return an object with half of a surrogate pair and without the members that the schema
    requires. Parsers accept it, and a refusal that quotes it cannot be encoded.
    """
    schema = operation.body.schema if operation.body is not None else {}
    node = sampling.merge_all_of(session.description.document, schema)
    return rb'{"faultspec": "\ud800"}' if node.get("required") else None


def _valid(session: HttpSession, operation: ServiceOperation) -> bytes | None:
    body = body_for(session, operation)
    return json.dumps(body).encode() if isinstance(body, dict) else None


def _numbers(session: HttpSession, operation: ServiceOperation) -> bytes | None:
    """Return a valid body with numbers that fit no machine type, in its numeric members if any."""
    body = body_for(session, operation)
    if not isinstance(body, dict):
        return None
    names = [
        name for name, value in body.items() if isinstance(value, int | float) and value is not True
    ]
    text = json.dumps({name: value for name, value in body.items() if name not in names})
    huge = ["1e999", "9" * _DIGITS]
    members = [
        f"{json.dumps(name)}: {huge[index % 2]}" for index, name in enumerate(names or ["number"])
    ]
    return (text[:-1] + (", " if len(text) > 2 else "") + ", ".join(members) + "}").encode()


#: Faults of bodies, the likeliest to be forgotten first. A service that accepts what databases
#: refuse within a string, a repeated member or an unknown charset is not wrong.
_FAULTS: tuple[_Fault, ...] = (
    _Fault("an empty body", _fixed_body(b""), empty=True),
    # A service that refuses the parameter of the media type does so before it reads the body (RFC
    # 8259, 11).
    _Fault("`null`", _fixed_body(b"null"), parameter="; charset=utf-8", empty=True),
    _Fault("a list in place of an object", _fixed_body(b"[]"), mistyped=True),
    _Fault("a text in place of an object", _fixed_body(b'"faultspec"'), mistyped=True),
    _Fault("a string with NUL in it", _body_with_text(b"a\\u0000b"), wrong=False),
    _Fault("a string that is not UTF-8", _body_with_text(_NOT_UTF8), wrong=False),
    _Fault("a broken gzip stream", _fixed_body(b"\x1f\x8b{"), headers={"Content-Encoding": "gzip"}),
    _Fault("numbers beyond every machine type", _numbers, wrong=False),
    _Fault(
        "members that are repeated, in an unknown charset",
        _repeat_members,
        parameter="; charset=x-faultspec",
        wrong=False,
    ),
    _Fault("a number in place of an object", _fixed_body(b"-1"), mistyped=True),
    _Fault("a broken escape in a string", _fixed_body(rb'{"faultspec": "\x"}')),
    _Fault("half of a surrogate pair without the required members", _half_alone),
    _Fault(
        "an unknown content coding",
        _valid,
        headers={"Content-Encoding": "x-faultspec"},
        wrong=False,  # RFC 9110, 8.4: a server may refuse it
    ),
    _Fault("deeply nested lists", _fixed_body(b"[" * _DEPTH + b"]" * _DEPTH), mistyped=True),
)


def malformed_bodies(session: HttpSession) -> Iterator[Outcome]:
    """Send JSON that breaks off, with each method; then deal the other faults of bodies out to the
    operations, each to the next one if an operation checked something else first.
    """
    operations = json_writes(session)
    if not operations:
        yield not_exercised(_MALFORMED, "no operation takes JSON")
        return
    left = _UNREADABLE
    for index, operation in enumerate(one_of_each_method(operations)):
        candidates = [
            operation,
            *(one for one in operations if one.method == operation.method and one != operation),
        ]
        ask = partial(_send_broken_off, session, not_utf8=index > 0)
        for outcome in first_conclusive(candidates, ask):
            left -= 1
            yield outcome
    # Of a large API, each operation gets a fault at least.
    for turn in range(max(len(_FAULTS), min(len(operations), _UNREADABLE))):
        fault = _FAULTS[turn % len(_FAULTS)]
        start = turn % len(operations)
        dealt = (*operations[start:], *operations[:start])
        if not fault.wrong:  # a body that may be accepted must not change what other probes use
            dealt = tuple(one for one in dealt if one.method == "POST") or dealt
        fitting = [one for one in dealt if fault.raw(session, one) is not None]
        for outcome in first_conclusive(fitting, partial(_send_faulty, session, fault)):
            left -= 1
            yield outcome
        if left <= 0:
            return


def _send_faulty(session: HttpSession, fault: _Fault, operation: ServiceOperation) -> Outcome:
    """Send a body with a fault."""
    spec = request_to(session, operation)
    answer = call_past_condition(
        session,
        operation,
        replace(
            spec,
            raw=fault.raw(session, operation),
            headers={**spec.headers, **fault.headers},
            content_type=f"{content_type(operation)}{fault.parameter}",
            trigger=fault.what,
        ),
    )
    if answer.status == 415 and "utf-8" in fault.parameter:
        parameter = "its parameter charset=utf-8, which changes nothing"
        message = f"{content_type(operation)} is refused for {parameter}"
        return failed("framework/media-type", message, answer)
    wrong = fault.wrong and needs_body(session, operation)
    if fault.empty:
        wrong = needs_members(session, operation)
    if fault.mistyped and operation.body is not None:
        schema = sampling.merge_all_of(session.description.document, operation.body.schema)
        wrong = wrong and sampling.kind(schema) == "object"
    return _unreadable(session, answer, fault.what, wrong_if_accepted=wrong)


def _send_broken_off(
    session: HttpSession, operation: ServiceOperation, *, not_utf8: bool
) -> Outcome:
    """Send JSON that nests deeply and breaks off, with canaries in it."""
    secret, email = session.canary("secret"), session.canary("email")
    start = f'{{"password": "{secret.value}", "contact": "{email.value}", '.encode() + _HALF
    if not_utf8:
        start += b'"odd": "' + _NOT_UTF8 + b'", '
    raw = start + b'"list": ' + b"[" * _DEPTH
    what = "JSON that nests deeply and breaks off" + (", and is not UTF-8" if not_utf8 else "")
    spec = request_to(session, operation)
    spec = replace(spec, raw=raw, canaries=(secret, email), trigger=what)
    answer = call_past_condition(session, operation, spec)
    return _unreadable(session, answer, what, wrong_if_accepted=needs_body(session, operation))


def _insert_text(session: HttpSession, operation: ServiceOperation, text: bytes) -> bytes | None:
    """Return a valid body with the text in its first free member; None if it has none."""
    body = body_for(session, operation)
    free: frozenset[str] = frozenset()
    if operation.body is not None:
        free = sampling.free_texts(session.description.document, operation.body.schema)
    if not isinstance(body, dict):
        return None
    name = next((member for member in body if member in free or not free), None)
    if name is None or not isinstance(body[name], str):
        return None
    return json.dumps({**body, name: _MARK}).encode().replace(_MARK.encode(), text)


def _unreadable(
    session: HttpSession, answer: Observation, what: str, *, wrong_if_accepted: bool
) -> Outcome:
    """Check the answer to a body that cannot be read."""
    if answer.status in CHECKED_FIRST:
        return checked_first(_MALFORMED, answer)
    if answer.status < 400 and not wrong_if_accepted:
        return not_exercised(_MALFORMED, f"{answer.exchange.operation} accepts {what}")
    return check_refusal(session, _MALFORMED, answer, what)


def invalid_bodies(session: HttpSession) -> Iterator[Outcome]:
    """Send bodies that their schema forbids, with canaries in the other members."""
    asked, tried = 0, False
    for operation in json_writes(session)[:MOST_OPERATIONS]:
        assert operation.body is not None
        mark = session.canary("value")
        body = body_for(session, operation)
        found = sampling.violations(session.source, operation.body.schema, body, mark.value)
        most = _OF_FIRST if asked == 0 else 1 if asked < _OF_ALL else 0
        for violation in list(found)[:most]:
            tried = True
            outcome, *others = _invalid_body(session, operation, violation, body, mark=mark)
            yield outcome
            yield from others
            if is_checked_first(outcome):
                break
            asked += 1
        wrong = sampling.impossible_date(session.source, operation.body.schema, body)
        if wrong is not None:
            tried = True
            yield _send_impossible_date(session, operation, wrong)
    if not tried:
        yield not_exercised(_INVALID, "no schema of a body rules anything out")


def _send_impossible_date(
    session: HttpSession, operation: ServiceOperation, wrong: Violation
) -> Outcome:
    """Send a date that does not exist. A service may read it as another one, and refuse that."""
    spec = replace(request_to(session, operation), body=wrong.body, trigger=wrong.what)
    answer = call_past_condition(session, operation, spec)
    if answer.ok:
        return not_exercised(_INVALID, f"{operation.name} accepts {wrong.what}")
    if answer.status in CHECKED_FIRST:
        return checked_first(_INVALID, answer)
    return check_refusal(session, _INVALID, answer, wrong.what)


def _invalid_body(
    session: HttpSession,
    operation: ServiceOperation,
    violation: Violation,
    valid: object,
    *,
    mark: Canary,
) -> Iterator[Outcome]:
    """Send a body with a violation, and check what the refusal says. ``valid``: the body without
    it.
    """
    assert operation.body is not None
    email, secret = session.canary("email"), session.canary("secret")
    schema = session.description.schema(operation.body.schema)
    more: dict[str, object] = {}
    if isinstance(violation.body, dict) and schema.get("additionalProperties") is not False:
        more = {"contact": email.value, "password": secret.value}
    spec = replace(request_to(session, operation), canaries=(mark, email, secret))

    def with_body(body: object) -> RequestSpec:
        return replace(spec, body={**body, **more} if isinstance(body, dict) else body)

    wrong_body = replace(with_body(violation.body), trigger=violation.what)
    answer = call_past_condition(session, operation, wrong_body)
    if answer.ok and not violation.sure:
        reason = f"{violation.what} is accepted, as a service that does not check formats may"
        yield not_exercised(_INVALID, reason)
        return
    yield check_invalid_input(session, answer, violation.what)
    names = {*sampling.properties_of(schema), *(valid if isinstance(valid, dict) else ()), *more}
    wrong = WrongInput(violation.member, frozenset(names), violation.what)
    fresh = request_to(session, operation)
    yield from check_named_input(
        session, answer, wrong, replace(with_body(valid), headers=fresh.headers)
    )
