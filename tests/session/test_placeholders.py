"""Placeholders in configured requests are filled in within bounds."""

import pytest

from faultspec_conformance.session.observation import Unanswered
from faultspec_conformance.session.placeholders import fill_in, fill_in_text, fill_in_texts
from session.test_creations import TAXONOMY
from support.scripted import answer, http_session

SAVED = {"long": "y" * 400, "list": ["y" * 100] * 4}

#: Values that would have more than 1,000 characters.
LONG = (
    ["${bytes:400}"] * 3,
    {"a": "${bytes:400}", "b": [{"c": "${long}"}], "d": "${bytes:400}"},
    "${long}${long}${long}",
    ["${list}", "${list}", "${list}"],
    "-${bytes:1001}",
)


@pytest.mark.parametrize("value", LONG)
def test_what_is_filled_in_one_request_is_bounded(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request is not sent, with a reason, whichever way its values would be long."""
    monkeypatch.setattr("faultspec_conformance.session.placeholders.MOST_BYTES", 1_000)
    source = http_session(lambda _: answer(404), TAXONOMY).source
    with pytest.raises(Unanswered, match="of values filled in"):
        fill_in(source, value, SAVED)
    if isinstance(value, str):
        with pytest.raises(Unanswered):
            fill_in_text(source, value, SAVED)
    with pytest.raises(Unanswered):
        fill_in_texts(source, dict.fromkeys("abc", "${long}"), SAVED)
    assert fill_in(source, ["${long}", "${long}"], SAVED) == [SAVED["long"]] * 2


def test_values_that_repeat_earlier_ones_are_bounded() -> None:
    """Forty that are each twice as long as the one before would have gigabytes."""
    session = http_session(lambda _: answer(404), TAXONOMY)
    doubled = {f"a{n}": f"${{a{n - 1}}}${{a{n - 1}}}" for n in range(1, 40)}
    with pytest.raises(Unanswered, match="more than 32 MiB"):
        session.make_values({"a0": "x" * 10, **doubled}, {})
