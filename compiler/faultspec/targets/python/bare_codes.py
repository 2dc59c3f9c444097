"""The codes that an answer may have without details, as where a framework gives only a status and a
few headers.
"""

from collections.abc import Mapping

from faultspec.language.model import Code, Envelope, HttpMapping, Taxonomy
from faultspec.targets import schema as schemas
from faultspec.targets.literals import Verbatim


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
