"""Laws of durations."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faultspec.runtime.durations import render, seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("250ms", 0.25),
        ("1s", 1.0),
        ("2.5s", 2.5),
        ("30s", 30.0),
        ("5m", 300.0),
        ("24h", 86_400.0),
        ("7d", 604_800.0),
        ("PT24H", 86_400.0),
        ("P7D", 604_800.0),
        ("P1W", 604_800.0),
        ("P1DT12H30M0.5S", 131_400.5),
        ("PT0S", 0.0),
        ("30", 30.0),
        (30, 30.0),
        (0.5, 0.5),
    ],
)
def test_each_way_of_writing_is_read(text, expected):
    """The forms of the module's documentation."""
    assert seconds(text) == expected


UNITLESS = ["", "s", "P", "PT", "P1", "1 s", "1s\n", "1.s", ".5s", "nan", "inf", "9" * 400]
FOREIGN = ["-1s", "+1s", "1e3s", "1S", "٣s", "1h30m", "P1M", "P1Y", "PT1M1H", "PT1HS"]
NUMBERS = [-1, 10**400, float("nan"), float("inf"), True]


@pytest.mark.parametrize("text", [*UNITLESS, *FOREIGN, *NUMBERS])
def test_anything_else_is_refused_with_the_text_in_the_message(text):
    """No sign, exponent, calendar unit or foreign digit, and nothing infinite: a ValueError that
    shows the input.
    """
    with pytest.raises(ValueError, match=r"a duration"):
        seconds(text)


@given(
    st.integers(min_value=0, max_value=10**9).map(lambda ms: ms / 1000)
    | st.integers(0, 10**9).map(float)
)
@example(0.0)
@example(0.003)
@example(86_400.0)
def test_what_is_rendered_reads_back(value):
    """Whole milliseconds come back exactly."""
    assert seconds(render(value)) == value


@given(st.floats(min_value=0, max_value=1e6))
def test_finer_durations_come_back_to_the_nanosecond(value):
    """Rendering rounds to a billionth of a second, no more."""
    assert seconds(render(value)) == pytest.approx(value, abs=6e-10, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (1.5, "1.5s"),
        (90, "90s"),
        (1800, "30m"),
        (129_600, "36h"),
        (86_400, "1d"),
        (5.05, "5.05s"),
    ],
)
def test_the_shortest_form_is_chosen(value, text):
    """One number, one unit, no more characters than needed."""
    assert render(value) == text
