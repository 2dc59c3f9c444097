"""No text of a result keeps a secret, whichever field it stands in."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from faultspec_conformance.results.model import Result
from faultspec_conformance.sanitize.masking import build_masking

SECRET = "qk7-Zebra-Lantern-42x9"

#: Fields whose texts come from the taxonomy, the configuration or the suite, and no service or
#: recording chooses them.
OWN = frozenset(
    {
        *("Result.taxonomy", "Result.forms (key)", "Result.part"),
        *("Result.clauses (key)", "Result.coverage (key)"),
        # Declared codes, which `contract` finds; others stand in messages.
        *("Coverage.code", "Finding.code", "MapCell.code", "SentRequest.code"),
        "ResolvedFinding.code",
        *("ClauseResult.address", "ClauseResult.title", "ClauseResult.statements"),
        "ClauseResult.idle",
        *("Finding.clause", "Finding.statements", "Finding.sections", "Finding.rulings"),
        "Finding.variant",
        *("ReportedFinding.form", "ReportedFinding.cause"),
        *("ReportedFinding.first_seen", "ReportedFinding.last_seen"),
        *("Waiver.condition", "Waiver.cause"),
        *("SentRequest.part", "SentRequest.purpose", "SentRequest.decided"),
        *("Exchange.identity", "Exchange.lacks"),
        *("ResolvedFinding.fingerprint", "ResolvedFinding.clause"),
    }
)


LEAVES = {
    str: f"says {SECRET} here",
    bytes: f"says {SECRET} here".encode(),
    int: 1,
    float: 1.0,
    bool: True,
    date: date(2030, 1, 1),
}


def filled(hint: Any, at: str) -> Any:
    """A value of a type with the secret in each of its texts."""
    origin, parts = get_origin(hint), get_args(hint)
    if at in OWN:
        return (
            origin() if origin in (tuple, frozenset) else "own" if str in (hint, *parts) else None
        )
    if hint in LEAVES:
        return LEAVES[hint]
    if origin in (Literal, Union, types.UnionType):
        return parts[0] if origin is Literal else filled(parts[0], at)
    if origin in (tuple, frozenset):
        return origin(filled(part, at) for part in parts if part is not Ellipsis)
    if origin is Mapping:
        return {filled(parts[0], f"{at} (key)"): filled(parts[1], at)}
    assert is_dataclass(hint), hint
    hints, name = get_type_hints(hint), hint.__name__
    return hint(
        **{each.name: filled(hints[each.name], f"{name}.{each.name}") for each in fields(hint)}
    )


def kept(value: object, at: str = "") -> list[str]:
    """The places at which the secret stands."""
    if isinstance(value, str | bytes):
        text = value if isinstance(value, str) else value.decode()
        return [at] if SECRET in text else []
    if isinstance(value, Mapping):
        return [
            place
            for key, each in value.items()
            for place in kept(key, f"{at} (key)") + kept(each, at)
        ]
    if isinstance(value, tuple | frozenset):
        return [place for each in value for place in kept(each, at)]
    if is_dataclass(value):
        name = type(value).__name__
        return [
            place
            for each in fields(value)
            for place in kept(getattr(value, each.name), f"{name}.{each.name}")
        ]
    return []


def test_no_text_of_a_result_keeps_a_secret() -> None:
    """Every text that a service, a recording or a person chose is masked in every field that a
    result has, also in one that is new.
    """
    result = filled(Result, "Result")
    before = {*kept(result)}
    assert len(before) > 30
    masked = build_masking((), [(SECRET, "***")]).result(result)
    assert sorted({*kept(masked)}) == []
