"""Bodies that cannot be read, and bodies that their schema forbids.

The probes ask only for what the taxonomy pins down. A service may check credentials before the
body, as long as it answers with one of the declared errors.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from faultspec.exchange.model import Canary
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance import sampling
from faultspec_conformance.probes.operations import json_writes, needs_body, one_of_each_method
from faultspec_conformance.probes.refusals import (
    CHECKED_FIRST,
    check_invalid_input,
    check_refusal,
    checked_first,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.sampling import Violation
from faultspec_conformance.session.fixtures import body_for, likely_body, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, not_exercised
from faultspec_conformance.session.resources import content_type

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

#: What databases refuse within a string, as it is written in JSON. A service that accepts it is
#: not wrong.
_UNUSUAL: Mapping[str, bytes] = {"a string with NUL in it": b"a\\u0000b"}

#: Stands for the unusual text until the body is encoded.
_MARK = "faultspec-unusual-text"


def malformed_bodies(session: HttpSession) -> Iterator[Outcome]:
    """Send JSON that breaks off, with each method; an empty body, null, and texts that are hard to
    read.
    """
    operations = json_writes(session)
    if not operations:
        yield not_exercised(_MALFORMED, "no operation takes JSON")
        return
    methods = one_of_each_method(operations)
    for index, operation in enumerate(methods):
        yield _broken_off(session, operation, not_utf8=index > 0)
    first = operations[0]
    required = first.body is not None and first.body.required
    answer = session.call(replace(request_to(session, first), raw=b""))
    yield _unreadable(answer, "an empty body", wrong_if_accepted=required)
    # A service that refuses the parameter of the media type does so before it reads the body (RFC
    # 8259, 11).
    media = f"{content_type(first)}; charset=utf-8"
    answer = session.call(replace(request_to(session, first), raw=b"null", content_type=media))
    if answer.status == 415:
        parameter = "its parameter charset=utf-8, which changes nothing"
        message = f"{content_type(first)} is refused for {parameter}"
        yield failed("framework/media-type", message, answer)
    else:
        yield _unreadable(answer, "`null`", wrong_if_accepted=needs_body(session, first))
    unusual = (
        _UNUSUAL if len(methods) > 1 else {"a string that is not UTF-8": _NOT_UTF8, **_UNUSUAL}
    )
    for what, text in unusual.items():
        raw = _with_text(session, first, text)
        if raw is not None:
            answer = session.call(replace(request_to(session, first), raw=raw))
            yield _unreadable(answer, what, wrong_if_accepted=False)


def _broken_off(session: HttpSession, operation: ServiceOperation, *, not_utf8: bool) -> Outcome:
    """Send JSON that nests deeply and breaks off, with canaries in it."""
    secret, email = session.canary("secret"), session.canary("email")
    start = f'{{"password": "{secret.value}", "contact": "{email.value}", '.encode() + _HALF
    if not_utf8:
        start += b'"odd": "' + _NOT_UTF8 + b'", '
    raw = start + b'"list": ' + b"[" * _DEPTH
    answer = session.call(
        replace(request_to(session, operation), raw=raw, canaries=(secret, email))
    )
    what = "JSON that nests deeply and breaks off" + (", and is not UTF-8" if not_utf8 else "")
    return _unreadable(answer, what, wrong_if_accepted=needs_body(session, operation))


def _with_text(session: HttpSession, operation: ServiceOperation, text: bytes) -> bytes | None:
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


def _unreadable(answer: Observation, what: str, *, wrong_if_accepted: bool) -> Outcome:
    """Check the answer to a body that cannot be read."""
    if answer.status in CHECKED_FIRST:
        return checked_first(_MALFORMED, answer)
    if answer.status < 400 and not wrong_if_accepted:
        return not_exercised(_MALFORMED, f"{answer.exchange.operation} accepts {what}")
    return check_refusal(_MALFORMED, answer, what)


def invalid_bodies(session: HttpSession) -> Iterator[Outcome]:
    """Send bodies that their schema forbids, with canaries in the other members."""
    asked = 0
    for operation in json_writes(session):
        assert operation.body is not None
        mark = session.canary("value")
        body = likely_body(session, operation)
        found = sampling.violations(session.source, operation.body.schema, body, mark.value)
        most = _OF_FIRST if asked == 0 else 1 if asked < _OF_ALL else 0
        for violation in list(found)[:most]:
            asked += 1
            yield _invalid_body(session, operation, violation, mark)
    if not asked:
        yield not_exercised(_INVALID, "no schema of a body rules anything out")


def _invalid_body(
    session: HttpSession, operation: ServiceOperation, violation: Violation, mark: Canary
) -> Outcome:
    assert operation.body is not None
    email, secret = session.canary("email"), session.canary("secret")
    schema = session.description.schema(operation.body.schema)
    body = violation.body
    if isinstance(body, dict) and schema.get("additionalProperties") is not False:
        body = {**body, "contact": email.value, "password": secret.value}
    spec = replace(request_to(session, operation), body=body, canaries=(mark, email, secret))
    answer = session.call(spec)
    if answer.ok and not violation.sure:
        reason = f"{violation.what} is accepted, as a service that does not check formats may"
        return not_exercised(_INVALID, reason)
    return check_invalid_input(session, answer, violation.what)
