"""Values that schemas allow, values that they forbid, and values that are new.

All randomness comes from a `ValueSource`.
"""

from faultspec_conformance.sampling.identifiers import another
from faultspec_conformance.sampling.patterns import matching
from faultspec_conformance.sampling.schemas import example_of, kind, merge_all_of
from faultspec_conformance.sampling.source import ValueSource
from faultspec_conformance.sampling.values import (
    free_texts,
    has_examples,
    new_text,
    new_value,
    sample_value,
    secret_like,
    vary,
    without_read_only,
)
from faultspec_conformance.sampling.violations import Violation, value_out_of_bounds, violations

__all__ = [
    "ValueSource",
    "Violation",
    "another",
    "example_of",
    "free_texts",
    "has_examples",
    "kind",
    "matching",
    "merge_all_of",
    "new_text",
    "new_value",
    "sample_value",
    "secret_like",
    "value_out_of_bounds",
    "vary",
    "violations",
    "without_read_only",
]
