"""The content of successes, held to the format of its media type."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

_CLAUSE = "success/content"


def _contract(surface: str = "transport: http") -> Contract:
    loaded = read(
        f"""
faultspec: 1
taxonomy: {{name: t, version: 1.0.0}}
envelopes: {{plain: {{shape: {{code: $code}}}}}}
surfaces: {{api: {{{surface}, envelope: plain}}}}
codes: {{lost: {{summary: Lost., http: 404}}}}
""",
        "t.yaml",
    )
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def _found(
    body: bytes,
    content_type: str = "application/json",
    *,
    status: int = 200,
    method: str = "GET",
    cut: str | None = None,
) -> tuple[list[Finding], bool]:
    """The findings of the clause, and whether it was exercised."""
    answer = Response(status, (("Content-Type", content_type),), body, cut=cut)
    judgement = judge(_contract(), Exchange(Request(method, "/a"), answer))
    found = [each for each in judgement.findings if each.clause == _CLAUSE]
    return found, _CLAUSE in judgement.exercised


@pytest.mark.parametrize(
    ("body", "content_type", "problem"),
    [
        (b'{"a": [1, 2', "application/json", "is not JSON (line 1, column 12)"),
        (b"<html>", "application/vnd.shop+json; charset=utf-8", "is not JSON (line 1, column 1)"),
        (b"NaN", "application/json", "is not JSON: it has `NaN`"),
        (b'{"a": "\xff"}', "application/json", "is not UTF-8"),
        (b'{"a": 1}{"error": 2}', "application/json", "is not JSON (line 1, column 9)"),
        (b" ", "application/json", "is empty"),
        (b'{"a": 1}\n{"a', "application/x-ndjson", "is not JSON (line 1, column 2) in line 2"),
        (b"<a><b>1</b>", "application/xml", "is not XML (line 1, column 12)"),
        (b"\xa2\x61a", "application/cbor", "is not CBOR (byte 3)"),
    ],
)
def test_a_success_is_of_the_format_that_it_names(
    body: bytes, content_type: str, problem: str
) -> None:
    """A 2xx whose bytes no reader of the named format reads is an error, whatever the operation."""
    (finding,), _ = _found(body, content_type)
    assert finding.level == "error"
    assert f"the body of a 200 {problem}; its `Content-Type` is" in finding.message


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists), st.sampled_from("ab"))
def test_whole_json_passes_and_every_beginning_of_an_object_fails(value: object, key: str) -> None:
    """Any JSON value is sound; an object that ends early never is."""
    assert _found(json.dumps(value).encode()) == ([], True)
    whole = json.dumps({key: value}).encode()
    for end in range(1, len(whole), max(1, len(whole) // 8)):
        assert _found(whole[:end])[0]


def test_a_large_success_is_read_as_well() -> None:
    """A list of two mebibytes that lacks its end is found."""
    large = json.dumps(["x" * 1000] * 2000).encode()
    assert _found(large) == ([], True)
    assert _found(large[:-1])[0]


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"", "is empty"), (b'{"a": 1}\n{"a": 2}\n', "has a value in each line")],
)
def test_what_clients_often_bear_is_a_warning(body: bytes, words: str) -> None:
    """No body at all, and a stream of values in lines, are common; a client has to know."""
    (finding,), _ = _found(body)
    assert finding.level == "warning"
    assert words in finding.message


@pytest.mark.parametrize(
    ("body", "content_type", "options"),
    [
        (b"{", "application/json", {"status": 206}),
        (b"{", "application/json", {"method": "HEAD"}),
        (b"", "application/json", {"status": 204}),
        (b"", "application/json", {"status": 301}),
        (b"{", "application/json", {"cut": "is longer than 1 byte"}),
        (b"{", "text/html", {}),
        (b"{", "text/plain", {}),
        (b"{", "image/png", {}),
    ],
)
def test_other_content_is_not_judged(
    body: bytes, content_type: str, options: dict[str, object]
) -> None:
    """Parts, what HEAD and 204 leave out, redirects, and formats without a reader: undecided."""
    assert _found(body, content_type, **options) == ([], False)  # type: ignore[arg-type] # options


@pytest.mark.parametrize(
    "body",
    [b"[" * 200 + b"]" * 200, b"9" * 6000, b'{"a": 1, "a": 2}', b"\xef\xbb\xbf{}"],
)
def test_sound_content_beyond_our_bounds_is_not_blamed(body: bytes) -> None:
    """Deep nesting, long numbers, repeated names and a byte order mark are JSON that some readers
    read.
    """
    assert _found(body)[0] == []
