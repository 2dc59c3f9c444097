"""Forms that are wrong, with files or without, to operations that take no JSON."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from faultspec.openapi.nodes import MULTIPART, is_multipart
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.operations import MOST_OPERATIONS
from faultspec_conformance.probes.refusals import (
    CHECKED_FIRST,
    check_invalid_input,
    check_refusal,
    checked_first,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import body_for, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, not_exercised
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import content_type, is_json_write, takes_body

_INVALID, _MEDIA_TYPE = "framework/invalid-input", "framework/media-type"

CLAUSES = (_INVALID, _MEDIA_TYPE)
"""The clauses about forms."""

#: Escapes that are none (URL Standard, 5.1), empty pairs, and a byte that is not UTF-8.
_BROKEN = b"%zz=%&&=%ff"

#: A form with files whose part has a header without a colon and no end (RFC 2046, 5.1.1), and its
#: boundary.
_CUT, _BOUNDARY = b"--cut\r\nContent-Disposition form-data\r\n\r\nx", "cut"

_REDIRECTS = "the service redirects, as an endpoint does that answers to a browser"

_TEXT = "text/plain"

_MARKED = "a form with unknown texts"


def wrong_forms(session: HttpSession) -> Iterator[ProbeResult]:
    """Send each operation that takes a form and no JSON wrong forms."""
    operations = [
        operation
        for operation in session.inventory.operations
        if takes_body(operation) and not is_json_write(operation)
    ]
    for operation in operations[:MOST_OPERATIONS]:
        for send in (
            _send_broken,
            _send_without_boundary,
            _send_as_text,
            _send_marked,
            _send_other_files,
            _leave_out,
        ):
            yield from attempt(map(partial(send, session), [operation]), *CLAUSES)


def _requires_fields(session: HttpSession, operation: ServiceOperation) -> bool:
    """Whether the document requires a field; a service may ignore what it cannot read otherwise."""
    schema = operation.body.schema if operation.body is not None else {}
    node = sampling.merge_all_of(session.description.document, schema)
    return bool(node.get("required"))


def _send_broken(session: HttpSession, operation: ServiceOperation) -> Outcome:
    """Send escapes that cannot be read, or a part that is not one. A parser may read them all the
    same (URL Standard, 5.1).
    """
    spec = request_to(session, operation)
    if is_multipart(content_type(operation)):
        what = "a form with files that breaks off"
        spec = replace(spec, raw=_CUT, content_type=f"{MULTIPART}; boundary={_BOUNDARY}")
    else:
        what = "a form with broken escapes"
        spec = replace(spec, raw=_BROKEN)
    return _check_unreadable(session, operation, replace(spec, trigger=what))


def _send_without_boundary(session: HttpSession, operation: ServiceOperation) -> Outcome:
    """Send a form with files whose media type lacks the boundary, which it requires (RFC 7578,
    4.1).
    """
    what = "a form with files without a boundary"
    if not is_multipart(content_type(operation)):
        return not_exercised(_INVALID, f"{operation.name} takes forms without files")
    spec = replace(request_to(session, operation), raw=_CUT, content_type=MULTIPART, trigger=what)
    return _check_unreadable(session, operation, spec)


def _check_unreadable(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec
) -> Outcome:
    """Send a form that cannot be read, to be refused where the document requires a field."""
    answer = session.call(spec)
    if answer.ok and not _requires_fields(session, operation):
        return not_exercised(_INVALID, f"{operation.name} accepts {spec.trigger}")
    return _check_input(session, answer, spec.trigger)


def _send_as_text(session: HttpSession, operation: ServiceOperation) -> Outcome:
    """Send a form as text. A service may read it all the same."""
    what = "a form sent as text/plain"
    spec = replace(request_to(session, operation), content_type="text/plain", trigger=what)
    answer = session.call(replace(spec, raw=b"a=b"))
    if answer.status in CHECKED_FIRST:
        return checked_first(_MEDIA_TYPE, answer)
    if 300 <= answer.status < 400:
        return not_exercised(_MEDIA_TYPE, _REDIRECTS)
    if answer.ok and not _requires_fields(session, operation):
        return not_exercised(_MEDIA_TYPE, f"{operation.name} accepts {what}")
    return check_refusal(session, _MEDIA_TYPE, answer, what)


def _send_marked(session: HttpSession, operation: ServiceOperation) -> Outcome:
    """Send canaries as the texts of a form: a refusal must not repeat them."""
    assert operation.body is not None, "it takes a form"
    mark = session.canary("value")
    body = body_for(session, operation)
    free = sampling.free_texts(session.description.document, operation.body.schema)
    if not isinstance(body, dict) or not free & body.keys():
        return not_exercised(_INVALID, f"no form of {operation.name} has a free text")
    marked = {name: mark.value if name in free else value for name, value in body.items()}
    spec = replace(request_to(session, operation), canaries=(mark,), trigger=_MARKED)
    return _check_if_refused(session, operation, replace(spec, body=marked))


def _send_other_files(session: HttpSession, operation: ServiceOperation) -> Outcome:
    """Send texts as its files. A service need not look into files."""
    what = "a form with texts as its files"
    others = dict.fromkeys(operation.files, _TEXT)
    if others == operation.files or not is_multipart(content_type(operation)):
        return not_exercised(_INVALID, f"{operation.name} takes no files but texts")
    spec = replace(request_to(session, operation), files=others, trigger=what)
    return _check_if_refused(session, operation, replace(spec, body=body_for(session, operation)))


def _check_if_refused(
    session: HttpSession, operation: ServiceOperation, spec: RequestSpec
) -> Outcome:
    """Send a form that a service may accept."""
    answer = session.call(spec)
    if answer.status < 400:
        return not_exercised(_INVALID, f"{operation.name} accepts {spec.trigger}")
    return check_refusal(session, _INVALID, answer, spec.trigger)


def _leave_out(session: HttpSession, operation: ServiceOperation) -> Outcome:
    """Leave out a field that the document requires."""
    assert operation.body is not None, "it takes a form"
    mark = session.canary("value")
    body = body_for(session, operation)
    found = sampling.violations(session.source, operation.body.schema, body, mark.value)
    # The other violations need types, and a field of a form is a text.
    wrong = next(
        (one for one in found if isinstance(one.body, dict) and one.member not in one.body), None
    )
    if wrong is None:
        return not_exercised(_INVALID, f"no field of the form of {operation.name} is required")
    spec = replace(request_to(session, operation), body=wrong.body, trigger=wrong.what)
    return _check_input(session, session.call(spec), wrong.what)


def _check_input(session: HttpSession, answer: Observation, what: str) -> Outcome:
    if 300 <= answer.status < 400:
        return not_exercised(_INVALID, _REDIRECTS)
    return check_invalid_input(session, answer, what)
