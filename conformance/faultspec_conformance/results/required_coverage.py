"""Which codes a run must observe: all, a percentage, or a list of names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faultspec_conformance.results.model import Result

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class RequiredCoverage:
    """Either ``percent``, from 0 to 100, of the codes that can be provoked, or ``codes`` by
    name.
    """

    percent: float | None = None
    codes: tuple[str, ...] = ()


def parse_required_coverage(text: str) -> RequiredCoverage | None:
    """Parse `all`, `90%` or `code,code`; None if the text is none of these."""
    if text == "all":
        return RequiredCoverage(100.0)
    percent = _PERCENT.fullmatch(text.strip())
    if percent is not None:
        return RequiredCoverage(float(percent[1])) if float(percent[1]) <= 100 else None
    codes = tuple(dict.fromkeys(code.strip() for code in text.split(",")))
    valid = all(re.fullmatch(r"[\w.:/-]+", code) for code in codes)
    return RequiredCoverage(codes=codes) if valid else None


def missing_coverage(result: Result, required: RequiredCoverage) -> Iterator[str]:
    """Sentences about required codes that were not observed.

    A percentage does not count codes that are declared impossible to provoke.
    """
    for code in required.codes:
        coverage = result.coverage.get(code)
        if coverage is None:
            yield f"coverage: {code} is required, but the taxonomy has no such code"
        elif not coverage.observed:
            yield f"coverage: {code} was not observed: {coverage.reason}"
    if required.percent is None:
        return
    missing = result.unobserved
    observed = sum(coverage.observed for coverage in result.coverage.values())
    possible = observed + len(missing)
    if 100 * observed < required.percent * possible:
        if required.percent < 100:
            yield (
                f"coverage: {observed} of {possible} codes were observed; "
                f"{required.percent:g} % are required"
            )
        for coverage in missing:
            yield f"coverage: {coverage.code} was not observed: {coverage.reason}"
