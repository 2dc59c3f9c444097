"""Documents of services may have halves of characters, which no text can be written with."""

import json

import pytest

from faultspec.openapi.text import parse_leniently


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\\ud800", "\ufffd"),
        ("\\udc00a", "\ufffda"),
        ("\\ud83d\\ude00", "\U0001f600"),
        ("\\ud83d\\ud83d\\ude00", "\ufffd\U0001f600"),
        ("\\\\ud800", "\\ud800"),
        ("\\\\\\ud800", "\\\ufffd"),
    ],
)
def test_halves_of_characters_are_replaced(written: str, read: str) -> None:
    """In names and values alike, and nothing else is."""
    text = f'{{"paths": {{"/{written}": {{}}}}, "x": "{written}"}}'
    data, problem = parse_leniently(text)
    assert data == {"paths": {f"/{read}": {}}, "x": read}, problem
    json.dumps(data, ensure_ascii=False).encode()
