"""An error inside another one: in its message, or in details that nobody declared."""

import json
from collections.abc import Iterator

from faultspec.contract.model import Contract
from faultspec.judge.collector import FindingCollector
from faultspec.judge.match_envelope import ErrorReading
from faultspec.runtime.nodes import child

CLAUSE = "envelope/nested"

_LONGEST = 20_000
"""Characters of a text that is searched for JSON: an error is small."""

_BEGINNINGS = 8
"""Braces in a text at which JSON may begin."""


def holds_quotes(body: bytes) -> bool:
    """Whether a text of a JSON body has a quotation mark, as JSON inside a text has."""
    return b'\\"' in body or b"\\u0022" in body


def judge_nesting(findings: FindingCollector, error: ErrorReading) -> None:
    """Check that no error of the taxonomy is inside the error: a layer that wraps an error hides
    its code from the caller.
    """
    findings.exercise(CLAUSE)
    for pointer, value in _suspects(findings.contract, error):
        name = _envelope_of(findings.contract, value)
        if name is not None:
            findings.add_at(
                CLAUSE,
                pointer,
                f"contains another error, in the envelope `{name}`; expected one error",
                source=error.envelope.source,
            )


def _suspects(contract: Contract, error: ErrorReading) -> Iterator[tuple[str, object]]:
    """The values of an error in which nothing but text is declared, and JSON in its texts."""
    text = error.value("message")
    if isinstance(text, str):
        yield from ((error.where["message"], value) for value in _json_in(text))
    details = error.value("details")
    if not isinstance(details, dict) or error.code is None:
        return
    for key, value in details.items():
        pointer = child(error.where["details"], key)
        declared = key in contract.taxonomy.detail_keys or key in error.code.details
        if isinstance(value, dict) and not declared:
            yield pointer, value
        elif isinstance(value, str):
            yield from ((pointer, inner) for inner in _json_in(value))


def _json_in(text: str) -> Iterator[object]:
    """The JSON objects in a text."""
    at = text.find("{") if len(text) <= _LONGEST else -1
    for _ in range(_BEGINNINGS):
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _envelope_of(contract: Contract, value: object) -> str | None:
    """The envelope that a value has, with a declared code in it; None if it has none."""
    for name, envelope in contract.taxonomy.envelopes.items():
        read = envelope.extract(value)
        code = read.slots.get("code")
        is_code = isinstance(code, str | int) and not isinstance(code, bool)
        if read.fits and is_code and contract.numbering_in(envelope).declares(code):
            return name
    return None


_DECODER = json.JSONDecoder()
