"""The codes that an answer may have without details, as where a framework gives only a status and a
few headers.
"""

from collections.abc import Mapping

from faultspec.language.model import Code, Envelope, HttpMapping, Taxonomy
from faultspec.language.spelling import snake
from faultspec.targets import schema as schemas
from faultspec.targets.literals import Verbatim
from faultspec.targets.model import phrase


def bare_codes(taxonomy: Taxonomy, members: Mapping[str, Verbatim]) -> dict[str, list[Verbatim]]:
    """By envelope, the members of the codes that it can carry without details, in order of
    declaration.
    """
    return {
        envelope.name: [
            members[code.name]
            for operation, code in schemas.answer_codes(taxonomy, envelope.name)
            if operation is None and _is_bare(code, envelope)
        ]
        for envelope in taxonomy.envelopes.values()
    }


def _is_bare(code: Code, envelope: Envelope) -> bool:
    """Whether the envelope can carry the code without its details, and its default status depends
    on none.
    """
    opaque = code.details_schema.opaque if code.details_schema is not None else None
    asks = isinstance(opaque, dict) and bool(opaque.get("required"))
    shown = schemas.shows_details(envelope) and code.details_schema is not None
    return not asks and not schemas.needs_details(code) and not shown and _travels(code.http)


def _travels(http: HttpMapping) -> bool:
    """Whether the code has a status whatever its details are."""
    return bool(http.statuses) and not any(
        fact.startswith("details.") or fact == "cause" for fact in http.reads
    )


#: Names that codes of a status have by custom, beside the phrase of the status.
_CUSTOMARY = {
    400: ("invalid_request", "invalid_argument", "invalid_input"),
    401: ("unauthenticated", "authentication_required", "auth_required"),
    403: ("permission_denied", "access_denied", "not_allowed"),
    404: ("resource_not_found", "not_found_error"),
    408: ("timeout",),
    412: ("failed_precondition",),
    413: ("payload_too_large", "content_too_large", "body_too_large"),
    415: ("unsupported_content_type",),
    422: ("unprocessable_entity", "unprocessable_content", "validation_failed", "validation_error"),
    429: ("rate_limited", "rate_limit_exceeded", "resource_exhausted"),
    500: ("internal", "internal_error", "server_error"),
    501: ("unimplemented",),
    503: ("unavailable", "dependency_unavailable", "temporarily_unavailable"),
    504: ("timeout", "deadline_exceeded"),
}


def general_codes(taxonomy: Taxonomy, members: Mapping[str, Verbatim]) -> dict[int, Verbatim]:
    """For each status that several codes claim equally, the one that a bare status means: the
    declared fallback, or the code named as the status is. Statuses without one are left out.
    """
    found = {}
    for status, codes in sorted(_nearest_codes(taxonomy).items()):
        if len(codes) < 2:
            continue
        fallback = taxonomy.fallback_for(status)
        if fallback is not None and fallback.code in codes:
            found[status] = members[fallback.code]
            continue
        customary = {snake(phrase(status)), *_CUSTOMARY.get(status, ())}
        named = [name for name in codes if snake(name) in customary]
        if len(named) == 1:
            found[status] = members[named[0]]
    return found


def _nearest_codes(taxonomy: Taxonomy) -> dict[int, list[str]]:
    """For each status of an error the codes that may have it, as far as no other's default is
    nearer to it.
    """
    distances: dict[int, dict[str, int]] = {}
    for code in taxonomy.shared_live_codes():
        for status in code.http.allowed_statuses():
            if 400 <= status < 600:
                distance = abs((code.http.default or 0) - status)
                distances.setdefault(status, {})[code.name] = distance
    found = {}
    for status, claims in distances.items():
        least = min(claims.values())
        found[status] = [name for name, distance in claims.items() if distance == least]
    return found
