"""What can be answered with nobody there to give details: a framework says a status, and at most a few headers."""

from typing import NamedTuple

from faultspec.language.model import Code, Envelope, HttpMapping, Taxonomy
from faultspec.targets import schema as schemas


class BareRows(NamedTuple):
    """The codes, by their members, that an envelope can carry without anybody giving details."""

    envelope: str
    members: tuple[str, ...]


def bare_rows(taxonomy: Taxonomy, members: dict[str, str]) -> tuple[BareRows, ...]:
    """For each envelope, in order of declaration."""
    return tuple(
        BareRows(
            envelope.name,
            tuple(
                members[code.name]
                for operation, code in schemas.answered(taxonomy, envelope.name)
                if operation is None and _is_bare(code, envelope)
            ),
        )
        for envelope in taxonomy.envelopes.values()
    )


def _is_bare(code: Code, envelope: Envelope) -> bool:
    """Whether the envelope has room for the code without its details, and its default status depends on none."""
    opaque = code.details_schema.opaque if code.details_schema is not None else None
    asks = isinstance(opaque, dict) and bool(opaque.get("required"))
    shown = schemas.shows_details(envelope) and code.details_schema is not None
    return not asks and not schemas.needs_details(code) and not shown and _travels(code.http)


def _travels(http: HttpMapping) -> bool:
    """Whether some status is the code's whatever its details are; a first rule without tests, say, is for all."""
    return bool(http.statuses) and not any(
        test.fact.startswith("details.") or test.fact == "cause"
        for rule in http.rules
        for test in rule.when
    )
