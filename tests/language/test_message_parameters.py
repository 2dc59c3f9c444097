"""The parameters of messages have one reading: in the language, in lint, in a diff, in examples."""

import json

import pytest

from faultspec.language import read
from faultspec.language.pictures import fill_message, message_parameters

#: Messages, their parameters, and their text with the details `{a: 1, b: "x"}`.
MESSAGES = [
    ("plain", (), "plain"),
    ("${a} and ${b}, ${a}", ("a", "b"), "1 and x, 1"),
    ("$$5", (), "$5"),
    ("$${a}", (), "${a}"),
    ("$$${a}", ("a",), "$1"),
    ("$$$${a}", (), "$${a}"),
    ("$5 and $a", (), "$5 and $a"),
    ("${c}", ("c",), "${c}"),
    ("${a", (), "${a"),
]


@pytest.mark.parametrize(("message", "names", "text"), MESSAGES)
def test_a_message_has_one_reading(message: str, names: tuple[str, ...], text: str) -> None:
    """A dollar is `$$`, so the parameter behind an even number of dollars is text. Whatever counts
    as a parameter is replaced, and nothing else.
    """
    assert message_parameters(message) == names
    assert fill_message(message, {"a": 1, "b": "x"}) == text


def test_no_message_has_no_parameters() -> None:
    """A code without a message has no parameters."""
    assert message_parameters(None) == ()


@pytest.mark.parametrize(
    ("message", "unclosed"),
    [("${a", True), ("$${a", False), ("${a} ${b", True), ("${a}", False), ("$${", False)],
)
def test_an_unclosed_parameter_is_reported(message: str, unclosed: bool) -> None:
    """Generated code shows an unclosed parameter as it is, so the language refuses it, also if it
    names a detail. A dollar before it makes it text.
    """
    data = {
        "faultspec": 1,
        "taxonomy": {"name": "shop", "version": "1.0.0"},
        "envelopes": {"error": {"shape": {"code": "$code", "details?": "$details"}}},
        "codes": {
            "bad": {
                "summary": "Bad.",
                "message": message,
                "http": 400,
                "details": {"a": {}, "b": {}},
            }
        },
    }
    found = [each.code for each in read(json.dumps(data), "a.yaml").diagnostics]
    assert found == (["unknown-parameter"] if unclosed else [])
