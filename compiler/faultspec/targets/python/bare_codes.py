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
    """For each status that several codes claim, the one that a bare status means: of those whose
    default is nearest the declared fallback, or the code named as the status is; else the declared
    fallback, if it may have the status. A code of its own business, such as `no_such_order`, is
    what only a handler knows. Statuses without one are left out.
    """
    found = {}
    for status, distances in sorted(_claims(taxonomy).items()):
        least = min(distances.values())
        nearest = [name for name, distance in distances.items() if distance == least]
        customary = {snake(phrase(status)), *_CUSTOMARY.get(status, ())}
        named = [name for name in nearest if snake(name) in customary]
        fallback = taxonomy.fallback_for(status)
        stands = fallback.code if fallback is not None else None
        meant = named[0] if len(named) == 1 else None
        if stands in distances and (stands in nearest or meant is None):
            meant = stands
        if meant is not None and nearest != [meant]:
            found[status] = members[meant]
    return found


def _claims(taxonomy: Taxonomy) -> dict[int, dict[str, int]]:
    """For each status of an error the codes that may have it, and how far their defaults are from
    it.
    """
    found: dict[int, dict[str, int]] = {}
    for code in taxonomy.shared_live_codes():
        for status in code.http.allowed_statuses():
            if 400 <= status < 600:
                distance = abs((code.http.default or 0) - status)
                found.setdefault(status, {})[code.name] = distance
    return found
