"""Values that schemas allow, values that they forbid, and values that are new.

All randomness comes from a `ValueSource`.
"""

from faultspec_conformance.session.sampling.bounds import ValueAtBound, values_at_bounds
from faultspec_conformance.session.sampling.constraints import (
    BrokenConstraint,
    broken_constraints,
)
from faultspec_conformance.session.sampling.identifiers import other_identifier, scramble
from faultspec_conformance.session.sampling.patterns import sample_match
from faultspec_conformance.session.sampling.schemas import (
    CLOSING,
    allows_null,
    closing_keyword,
    example_of,
    is_hidden,
    is_read_only,
    kind,
    merge_all_of,
    only_branch,
    properties_of,
    required_names,
)
from faultspec_conformance.session.sampling.source import ValueSource
from faultspec_conformance.session.sampling.validity import invalid_members
from faultspec_conformance.session.sampling.values import (
    fits_text,
    free_texts,
    has_examples,
    new_text,
    new_value,
    one_change,
    sample_value,
    secrets_like,
    vary,
    without_read_only,
)
from faultspec_conformance.session.sampling.violations import (
    Violation,
    impossible_date,
    impossible_day,
    value_out_of_bounds,
    violations,
)

__all__ = [
    "CLOSING",
    "BrokenConstraint",
    "ValueAtBound",
    "ValueSource",
    "Violation",
    "allows_null",
    "broken_constraints",
    "closing_keyword",
    "example_of",
    "fits_text",
    "free_texts",
    "has_examples",
    "impossible_date",
    "impossible_day",
    "invalid_members",
    "is_hidden",
    "is_read_only",
    "kind",
    "merge_all_of",
    "new_text",
    "new_value",
    "one_change",
    "only_branch",
    "other_identifier",
    "properties_of",
    "required_names",
    "sample_match",
    "sample_value",
    "scramble",
    "secrets_like",
    "value_out_of_bounds",
    "values_at_bounds",
    "vary",
    "violations",
    "without_read_only",
]
