"""An example obeys the envelopes that may carry its code, and no others."""

import pytest

from faultspec.language import read

LISTS = "  problems: {shape: {error: {code: $code, details?: $details}}, fields: {details: {type: array}}}\n"
LOOSE = "  loose: {shape: {c: $code, details?: $details}, fields: {details: {type: object, additional: allow}}}\n"
STRICT = "  strict: {shape: {c: $code, details?: $details}, fields: {details: {type: object, additional: forbid}}}\n"
MAIN = (
    "  main: {shape: {code: $code, id?: $id, details?: $details}, "
    "fields: {id: {type: string}, details: {type: object, additional: %s}}}\n"
)
API = "  api: {transport: http, match: {routes: [/api]}, envelope: main, codes: closed}\n"


def example_problems(
    envelopes: str, surfaces: str, example: str = "{details: {surprise: 1}}"
) -> list[tuple[str, str]]:
    """The problems of the example of the code `refused`: severity and message."""
    text = (
        "faultspec: 1\ntaxonomy: {name: t, version: 1.0.0}\n"
        f"envelopes:\n{envelopes}surfaces:\n{surfaces}"
        f"codes:\n  refused: {{summary: No., http: 403, retriable: none, details: {{why?: {{type: string}}}}, example: {example}}}\n"
        "  other: {summary: No., http: 400, retriable: none}\n"
    )
    return [(each.severity, each.message) for each in read(text, "t.yaml").diagnostics]


WARNED = [("warning", "the example breaks its own code: `surprise` is not declared")]


@pytest.mark.parametrize(
    ("envelope", "surface"),
    [
        ("", ""),
        (LISTS, ""),
        (LISTS, "  crud: {transport: http, envelope: problems, codes: open}\n"),
        (LISTS, "  crud: {transport: http, envelope: problems, codes: closed}\n"),
        (LOOSE, "  rest: {transport: http, envelope: loose, codes: [other]}\n"),
        (STRICT, "  rest: {transport: http, envelope: strict, codes: [other]}\n"),
        (LOOSE, "  rest: {transport: http, envelope: loose, codes: closed}\n"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_the_envelopes_of_a_code_decide_what_its_examples_may_hold(
    envelope: str, surface: str, first: bool
) -> None:
    """A detail that one envelope of the code warns of has a warning, in any order of envelopes."""
    main = MAIN % "warn"
    envelopes = envelope + main if first else main + envelope
    assert example_problems(envelopes, API + surface) == WARNED


@pytest.mark.parametrize(
    ("strictness", "severities"), [("allow", []), ("warn", ["warning"]), ("forbid", ["error"])]
)
def test_envelopes_of_other_codes_add_nothing(strictness: str, severities: list[str]) -> None:
    """The envelopes of other codes neither allow nor forbid anything."""
    for other in (LISTS, LOOSE, STRICT):
        name = other.split(":")[0].strip()
        surface = f"  rest: {{transport: http, envelope: {name}, codes: [other]}}\n"
        found = example_problems(MAIN % strictness + other, API + surface)
        assert [severity for severity, _ in found] == severities


def test_a_code_is_held_to_the_strictest_of_its_envelopes() -> None:
    """An example must not have what one envelope of its code forbids."""
    surface = "  rest: {transport: http, envelope: strict, codes: closed}\n"
    assert [
        severity for severity, _ in example_problems(MAIN % "warn" + STRICT, API + surface)
    ] == ["error"]


def test_a_slot_has_to_fit_one_of_the_envelopes_of_its_code() -> None:
    """A slot fits one of the envelopes of its code; other envelopes do not count."""
    numbers = "  numbers: {shape: {c: $code, id?: $id}, fields: {id: {type: integer}}}\n"
    both = "  rest: {transport: http, envelope: numbers, codes: closed}\n"
    foreign = "  rest: {transport: http, envelope: numbers, codes: [other]}\n"
    assert example_problems(MAIN % "warn" + numbers, API + both, "{slots: {id: 4}}") == []
    assert example_problems(MAIN % "warn" + numbers, API + both, "{slots: {id: x}}") == []
    assert [
        severity
        for severity, _ in example_problems(
            MAIN % "warn" + numbers, API + foreign, "{slots: {id: 4}}"
        )
    ] == ["error"]
