"""Media types that an operation neither offers nor accepts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from faultspec.language.model import Code
from faultspec.openapi.nodes import FORM, MULTIPART
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT
from faultspec_conformance.probes.operations import (
    MOST_OPERATIONS,
    first_conclusive,
    json_writes,
    needs_body,
    one_of_each_method,
)
from faultspec_conformance.probes.preconditions import call_past_condition
from faultspec_conformance.probes.refusals import CHECKED_FIRST, check_refusal, checked_first
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import body_for, request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.meanings import means_status
from faultspec_conformance.session.observation import INVALID_INPUT, failed, not_exercised
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import readable_operation, required_query
from faultspec_conformance.session.requests import RequestSpec

_ACCEPT, _MEDIA_TYPE = "framework/not-acceptable", "framework/media-type"

#: The statuses of refused media types: of those that were asked for, and of a body.
_OF_MEDIA = frozenset({406, 415})

#: Requests with bodies of foreign media types, of the operations together.
_FOREIGN_BODIES = 24

_AS_TEXT = "JSON sent as text/plain"


@dataclass(frozen=True, slots=True)
class _ForeignBody:
    """A body that an operation which takes JSON need not read.

    ``media_type``: None for no header. ``raw``: None for an ordinary body, as a form in that media
    type, else as JSON.
    """

    what: str
    media_type: str | None
    raw: bytes | None = None


#: The likeliest to have a parser of its own first.
_FOREIGN: tuple[_ForeignBody, ...] = (
    _ForeignBody("XML", "application/xml", b"<faultspec/>"),
    _ForeignBody("a form", FORM),
    _ForeignBody("multipart without a boundary", MULTIPART, b"--faultspec--\r\n"),
    _ForeignBody("a media type that cannot be read", ";"),
    _ForeignBody("XML that breaks off", "application/xml", b"<faultspec><"),
    _ForeignBody("a form with broken escapes", FORM, b"%zz=%&&=%ff"),
    _ForeignBody(
        "multipart that breaks off",
        f"{MULTIPART}; boundary=faultspec",
        b"--faultspec\r\nContent-Disposition: form-data; name=",
    ),
    _ForeignBody("no media type", None),
)


def not_acceptable(session: HttpSession) -> Iterator[Outcome]:
    """Ask for a representation that no service offers."""
    operation = readable_operation(session)
    if operation is None:
        yield not_exercised(_ACCEPT, "no operation can be read without an id")
        return
    answer = session.call(
        RequestSpec(
            "GET",
            operation.template,
            query=required_query(session, operation),
            accept="application/x-faultspec-nothing",
            trigger="an unknown Accept",
        )
    )
    if answer.ok:
        yield not_exercised(_ACCEPT, "the service ignores Accept, as RFC 9110 allows")
    elif answer.status == 406 or answer.status >= 500:
        yield check_refusal(session, _ACCEPT, answer, "an unknown representation")
    else:
        reason = f"the service answered {answer} to {operation.name} with an unknown Accept"
        yield not_exercised(_ACCEPT, reason)


def media_types(session: HttpSession) -> Iterator[Outcome]:
    """Send a valid body in a media type that the operation does not accept, with each method."""
    operations = json_writes(session)
    if not operations:
        yield not_exercised(_MEDIA_TYPE, "no operation takes JSON")
    for operation in one_of_each_method(operations):
        others = [one for one in operations if one.method == operation.method and one != operation]
        yield from first_conclusive((operation, *others), partial(_send_as_text, session))


def media_types_of_others(session: HttpSession) -> Iterator[ProbeResult]:
    """Send a valid body in another media type to the operations that got none."""
    operations = json_writes(session)
    asked = one_of_each_method(operations)
    for operation in [one for one in operations if one not in asked][:MOST_OPERATIONS]:
        yield from attempt(map(partial(_send_as_text, session), [operation]), _MEDIA_TYPE)


def foreign_bodies(session: HttpSession) -> Iterator[ProbeResult]:
    """Send each operation a body of each media type that its document does not offer; they take
    turns.
    """
    operations = json_writes(session)[:MOST_OPERATIONS]
    if not operations:
        yield not_exercised(_MEDIA_TYPE, "no operation takes JSON")
    due = (
        (operation, _FOREIGN[(turn + index) % len(_FOREIGN)])
        for turn in range(len(_FOREIGN))
        for index, operation in enumerate(operations)
    )
    fitting = ((operation, foreign) for operation, foreign in due if not _reads(operation, foreign))
    for operation, foreign in islice(fitting, _FOREIGN_BODIES):
        yield from attempt(_send_foreign(session, foreign, operation), _MEDIA_TYPE)


def _reads(operation: ServiceOperation, foreign: _ForeignBody) -> bool:
    """Whether the document offers the media type."""
    offered = operation.body.media_types if operation.body is not None else ()
    named = (foreign.media_type or "").partition(";")[0]
    kind = named.partition("/")[0]
    return any(media.startswith(("*/", f"{kind}/*")) or media == named for media in offered)


def _send_foreign(
    session: HttpSession, foreign: _ForeignBody, operation: ServiceOperation
) -> Iterator[Outcome]:
    """Send a body of another media type. A service may read it all the same."""
    what, body = f"{foreign.what} in place of JSON", body_for(session, operation)
    raw = foreign.raw
    if raw is None and foreign.media_type != FORM:
        raw = json.dumps({} if body is ABSENT else body).encode()
    spec = replace(request_to(session, operation), content_type=foreign.media_type, trigger=what)
    answer = session.call(replace(spec, body=body, raw=raw))
    if answer.status in CHECKED_FIRST:
        yield checked_first(_MEDIA_TYPE, answer)
    elif answer.status < 400:
        yield not_exercised(_MEDIA_TYPE, f"{operation.name} accepts {what}")
    else:
        yield check_refusal(session, _MEDIA_TYPE, answer, what)


def _means_media(code: Code) -> bool:
    """Whether a code says that the media type is wrong. One that has other statuses beside 415 only
    may be sent for it.
    """
    return set(code.http.allowed_statuses()) <= _OF_MEDIA


def _send_as_text(session: HttpSession, operation: ServiceOperation) -> Outcome:
    assert operation.body is not None
    if any(media.startswith(("text/", "*/")) for media in operation.body.media_types):
        return not_exercised(_MEDIA_TYPE, f"{operation.name} accepts text as well")
    spec = request_to(session, operation)
    body = body_for(session, operation)
    sent = replace(spec, body=body, content_type="text/plain", trigger=_AS_TEXT)
    answer = call_past_condition(session, operation, sent)
    taxonomy = session.taxonomy
    codes = [code for code in taxonomy.shared_live_codes() if means_status(code, 415)]
    code = next((code.name for code in codes if _means_media(code)), None)
    fallbacks = {fallback.code for fallback in taxonomy.fallbacks}
    if answer.status in CHECKED_FIRST:
        return checked_first(_MEDIA_TYPE, answer)
    named = session.inventory.calls.get(operation.name)
    known = needs_body(session, operation) or (named is not None and named.call.body is not ABSENT)
    if not known and (answer.ok or answer.status in INVALID_INPUT):
        reason = f"{operation.name} answered {answer}, and nothing says which bodies it accepts"
        return not_exercised(_MEDIA_TYPE, reason)
    if answer.ok and fallbacks.issuperset(code.name for code in codes):
        reason = f"{operation.name} reads any media type, and no code means an unknown media type"
        return not_exercised(_MEDIA_TYPE, reason)
    outcome = check_refusal(session, _MEDIA_TYPE, answer, _AS_TEXT)
    if outcome.kind == "passed" and code is not None and answer.status != 415:
        message = f"the service answered {answer} to {_AS_TEXT}; expected `{code}` (415)"
        return failed(_MEDIA_TYPE, message, answer)
    return outcome
