"""Messages about the inside of a service in plain sentences, beside harmless ones."""

from collections import defaultdict

from faultspec.leaks import detect
from faultspec.leaks.detectors import DETECTORS
from paths import TESTS

MESSAGES: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
"""The leaking and the harmless messages of each kind."""

for _line in (TESTS / "vectors" / "messages.txt").read_text(encoding="utf-8").splitlines():
    if _line.startswith("# "):
        _kind = _line[2:]
    elif _line.startswith(("! ", "= ")):
        MESSAGES[_kind][_line.startswith("= ")].append(_line[2:])

_FOUND = 0.8
"""The share of each kind that is found: some sentences stand in messages to callers as well."""


def test_most_messages_of_each_kind_are_found() -> None:
    """Of every kind at least four in five messages about the inside of a service are found."""
    for kind, (leaking, _) in MESSAGES.items():
        missed = [text for text in leaking if not detect(text, DETECTORS)]
        assert len(missed) <= len(leaking) * (1 - _FOUND), (kind, missed)


def test_messages_for_callers_are_silent() -> None:
    """No message about the request or about what callers have trips a detector."""
    for _, harmless in MESSAGES.values():
        assert [text for text in harmless if detect(text, DETECTORS)] == []
