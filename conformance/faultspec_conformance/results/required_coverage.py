"""Which codes a run must have seen: all, so many of a hundred, or those that are named."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faultspec_conformance.results.model import Result

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class RequiredCoverage:
    """``percent`` of the codes that can be brought about, from 0 to 100, or the ``codes`` by name."""

    percent: float | None = None
    codes: tuple[str, ...] = ()


def required(text: str) -> RequiredCoverage | None:
    """What `all`, `90%` or `code,code` asks for; None where it is none of them."""
    if text == "all":
        return RequiredCoverage(100.0)
    percent = _PERCENT.fullmatch(text.strip())
    if percent is not None:
        return RequiredCoverage(float(percent[1])) if float(percent[1]) <= 100 else None
    codes = tuple(dict.fromkeys(each.strip() for each in text.split(",")))
    return (
        RequiredCoverage(codes=codes)
        if all(re.fullmatch(r"[\w.:/-]+", code) for code in codes)
        else None
    )


def uncovered(result: Result, wanted: RequiredCoverage) -> Iterator[str]:
    """Sentences about what is required and was not seen. What is declared impossible is not required in a percentage."""
    for code in wanted.codes:
        each = result.coverage.get(code)
        if each is None:
            yield f"coverage: {code} is required, and the taxonomy has no such code"
        elif not each.observed:
            yield f"coverage: {code} was not observed: {each.reason}"
    if wanted.percent is None:
        return
    missing = result.unobserved
    possible = sum(1 for each in result.coverage.values() if each.observed) + len(missing)
    if 100 * (possible - len(missing)) < wanted.percent * possible:
        if wanted.percent < 100:
            yield f"coverage: {possible - len(missing)} of {possible} codes were observed; {wanted.percent:g} % are required"
        yield from (f"coverage: {each.code} was not observed: {each.reason}" for each in missing)
