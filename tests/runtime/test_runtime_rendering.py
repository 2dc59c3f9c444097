"""Errors as text: what stands where, and which lines go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.runtime.rendering import filled


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("$count", 3),
        ("${count}", "3"),
        ("$$count", "$count"),
        ("a $count b ${details.host} $$", "a 3 b h $"),
        ("$missing", None),
        ("kept\n${missing} gone\n${count}", "kept\n3"),
        ("${missing}", ""),
        ("${flag} ${list} ${nothing}", ""),
        ("${flag} ${list}", 'true ["ä"]'),
        ({"a?": "$missing", "b?": "x", "c?": "${missing}", "d": "$missing"}, {"b": "x", "d": None}),
        ([{"$count": "$count"}, 1, True, None], [{"$count": 3}, 1, True, None]),
    ],
)
def test_parameters_are_replaced_where_they_stand(picture: object, expected: object) -> None:
    """A parameter alone is its value, in text it is its text; a line goes without its value, an
    optional member too.
    """
    values = {"count": 3, "details.host": "h", "flag": True, "list": ["ä"], "nothing": None}
    assert filled(picture, values) == expected


texts = st.text(st.characters(exclude_characters="$"))


@given(texts)
def test_text_without_parameters_is_itself(text: str) -> None:
    """A text without a dollar stays as it is, and a doubled dollar becomes one."""
    assert filled(text, {}) == text
    assert filled(f"{text}$$", {}) == f"{text}$"


@given(texts, texts)
def test_a_value_is_never_read_as_a_picture(before: str, value: str) -> None:
    """Whatever a value holds, it stands there as it is: nothing in it is replaced again."""
    wicked = f"${{count}}{value}$$"
    assert (
        filled(before.replace("\n", " ") + "${x}", {"x": wicked, "count": 1})
        == before.replace("\n", " ") + wicked
    )
