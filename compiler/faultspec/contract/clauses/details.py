"""The details of an error."""

from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause, Requirement
from faultspec.contract.clauses.constructs import (
    ENVELOPE,
    any_code,
    any_detail_key,
    detail_key_sources,
    slot_exists,
    validator_sources,
)
from faultspec.language.model import Taxonomy

_DETAILS = slot_exists("details")


def _registers_details(taxonomy: Taxonomy) -> bool:
    return bool(taxonomy.detail_keys) or any(code.details for code in taxonomy.every_code())


def _restricts_details(taxonomy: Taxonomy) -> bool:
    """Whether an unregistered key of the details is a finding, or a registered one has a type."""
    fields = (envelope.fields.get("details") for envelope in taxonomy.envelopes.values())
    return bool(taxonomy.detail_keys) or any(
        field is None or field.additional != "allow" for field in fields
    )


def _requires_details(taxonomy: Taxonomy) -> bool:
    return any(
        member.presence in ("required", "expected")
        for code in taxonomy.every_code()
        for member in code.details.values()
    ) or any(
        surface.requires_details and surface.transport != "stream"
        for surface in taxonomy.surfaces.values()
    )


_detail_clause = partial(Clause, presupposes=("code/declared",), sources=detail_key_sources)

CLAUSES = (
    _detail_clause(
        address="details/schema",
        title="The details have the declared types and values",
        why="Programs that read the details must find the same types everywhere.",
        occasion="An error with details and a declared code.",
        reads=("code", "details", "detail-values"),
        requires=(
            _DETAILS,
            any_code(
                "no code has `details` or `schema`, and no detail key has `everywhere`",
                lambda code: code.details or code.details_schema is not None,
            ),
        ),
    ),
    _detail_clause(
        address="details/registered",
        title="The keys of the details are registered",
        why="A key used before it is registered gets two meanings.",
        occasion="An error with details, where the keys are registered.",
        reads=("code", "details"),
        requires=(
            _DETAILS,
            Requirement(
                "the taxonomy has no `detail_keys`, and no code has `details`", _registers_details
            ),
            Requirement(
                "the taxonomy has no `detail_keys`, and every field of details has"
                " `additional: allow`",
                _restricts_details,
            ),
        ),
    ),
    _detail_clause(
        address="details/required",
        title="The details have what the code requires",
        why="The remedy of the code needs that value.",
        occasion="An error with a declared code that requires details.",
        reads=("surface", "code", "details"),
        requires=(
            _DETAILS,
            Requirement(
                "no code has required `details`, and no surface has `requires_details`",
                _requires_details,
            ),
        ),
    ),
    Clause(
        address="details/field",
        title="An error that names an input names the one that is wrong",
        why="People correct the input that is named, and send the same mistake again.",
        occasion="A body or a query with exactly one wrong member, whose refusal names an input.",
        reads=("sequence", "request", "body"),
        requires=(ENVELOPE,),
        sources=detail_key_sources,
        transports=HTTP,
    ),
    Clause(
        address="details/validator",
        title="A detail that repeats a header has its value",
        why="Clients read a validator or a wait from either place; if they differ, one is wrong.",
        occasion="An error with both the detail and the header.",
        presupposes=("details/schema",),
        reads=("detail-values", "header-values"),
        requires=(
            _DETAILS,
            any_detail_key(
                "no detail key has `equals_header`",
                lambda key: key.equals_header or key.role == "retry_after",
            ),
        ),
        sources=validator_sources,
    ),
    Clause(
        address="references/exist",
        title="What an error refers to exists, and its caller can read it",
        why="A report that is not there, or a dead link, ends the search for the cause.",
        occasion="An error with a detail or slot that has `refers_to`, whose value can be followed "
        "(`references` of conformance.yaml).",
        reads=("sequence", "detail-values"),
        requires=(
            Requirement(
                "no detail key has `refers_to`, and no field has `refers_to`",
                lambda taxonomy: bool(taxonomy.references()),
            ),
        ),
        sources=lambda taxonomy: (each.source for each in taxonomy.references().values()),
    ),
)
