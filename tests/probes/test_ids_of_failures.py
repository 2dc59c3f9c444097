"""The probe that repeats a failed call finds a call that can be repeated."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from faultspec_conformance.probes.jsonrpc import ids_of_failures


class _Session:
    """A session whose exchanges had these messages, all answered with a declared code."""

    def __init__(self, *messages: object, lacks: frozenset[str] = frozenset()) -> None:
        self.called: list[str] = []
        self.excused: list[object] = []
        self.tokens = SimpleNamespace(hex=lambda _: "ab")
        exchanges = [
            SimpleNamespace(
                code="missing",
                exchange=SimpleNamespace(
                    request=SimpleNamespace(body=json.dumps(message).encode()),
                    identity=None,
                    lacks=lacks,
                ),
            )
            for message in messages
        ]
        self.observations = SimpleNamespace(exchanges=exchanges)

    def identity(self, _: object) -> None:
        """No identity."""

    def call(self, method: str, params: object, **options: object) -> None:
        """Remember the method."""
        self.called.append(method)
        self.excused.append(options["may_fail"])


def repeated(*messages: object) -> list[str]:
    """The methods that the probe calls."""
    session: Any = _Session(*messages)
    assert not list(ids_of_failures(session))
    return list(session.called)


def test_a_malformed_call_is_not_repeated() -> None:
    """A service may answer every message with a declared code; the last whole call counts."""
    whole = {"jsonrpc": "2.0", "id": 1, "method": "read"}
    malformed = [{"id": 1}, {"id": 2, "method": 3}, {"method": "notify"}, [], "text"]
    assert repeated(*malformed) == []
    assert repeated(whole, *malformed) == ["read", "read"]


@pytest.mark.parametrize("lacks", [frozenset(), frozenset({"service/no-crash"})])
def test_a_failure_on_purpose_is_repeated_on_purpose(lacks: frozenset[str]) -> None:
    """A recipe asks for a failure; the same call with another id asks for it too."""
    session: Any = _Session({"jsonrpc": "2.0", "id": 1, "method": "fail"}, lacks=lacks)
    assert not list(ids_of_failures(session))
    assert session.excused == [bool(lacks)] * 2
