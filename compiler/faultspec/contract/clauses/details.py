"""The details of an error."""

from functools import partial

from faultspec.contract.clauses.clause import Clause
from faultspec.contract.clauses.constructs import (
    any_detail_key,
    detail_key_sources,
    validator_sources,
)

_detail_clause = partial(Clause, presupposes=("code/declared",), sources=detail_key_sources)

CLAUSES = (
    _detail_clause(
        address="details/schema",
        title="The details have the declared types and values",
        why="Programs that read the details must find the same types everywhere.",
        occasion="An error with details and a declared code.",
        reads=("code", "details", "detail-values"),
    ),
    _detail_clause(
        address="details/registered",
        title="The keys of the details are registered",
        why="A key used before it is registered gets two meanings.",
        occasion="An error with details, where the keys are registered.",
        reads=("code", "details"),
    ),
    _detail_clause(
        address="details/required",
        title="The details have what the code requires",
        why="The remedy of the code needs that value.",
        occasion="An error with a declared code that requires details.",
        reads=("surface", "code", "details"),
    ),
    Clause(
        address="details/validator",
        title="A detail that repeats a header has its value",
        why="Clients read a validator or a wait from either place; if they differ, one is wrong.",
        occasion="An error with both the detail and the header.",
        presupposes=("details/schema",),
        reads=("detail-values", "header-values"),
        requires=(
            any_detail_key("no detail key has `equals_header`", lambda key: key.equals_header),
        ),
        sources=validator_sources,
    ),
)
