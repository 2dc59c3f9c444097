"""Values that schemas allow, values that they forbid, and values that are new.

All randomness comes from a `ValueSource`.
"""

from faultspec_conformance.sampling.identifiers import another
from faultspec_conformance.sampling.patterns import matching
from faultspec_conformance.sampling.schemas import example_of, kind, merged
from faultspec_conformance.sampling.source import ValueSource
from faultspec_conformance.sampling.values import free_texts, value, vary
from faultspec_conformance.sampling.violations import Violation, beyond, violations

__all__ = [
    "ValueSource",
    "Violation",
    "another",
    "beyond",
    "example_of",
    "free_texts",
    "kind",
    "matching",
    "merged",
    "value",
    "vary",
    "violations",
]
