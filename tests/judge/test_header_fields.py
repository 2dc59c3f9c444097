"""Laws of `http/fields`: header fields that any answer may have are of their form."""

import pytest

from faultspec.judge import judge
from judge.test_judge import broken, exchange, of

TAXONOMY = """
profile: rfc9110
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
headers: {ETag: {on: 412, presence: required, format: etag}}
codes: {stale: {summary: Stale., http: 412}}
"""
WRONG = {
    "ETag": ("abc", '"a', "W/abc", "'abc'", '"a b"', ""),
    "Last-Modified": ("2026-02-03T04:05:06Z", "1770091506", "Sun, 31 Feb 2026 08:49:37 GMT"),
    "Location": ("/a b", "/übung", "<https://example.com/a>"),
}
RIGHT = {
    "ETag": ('"abc"', 'W/"abc"', '""'),
    "Last-Modified": ("Tue, 03 Feb 2026 04:05:06 GMT",),
    "Location": ("/a?b=c#d", "https://example.com/%C3%BC", "items/7"),
}


@pytest.mark.parametrize("status", [200, 201, 304, 412])
@pytest.mark.parametrize("name", WRONG)
def test_a_field_has_its_form_on_every_status(name: str, status: int) -> None:
    """A field in another form, or in two lines, breaks one clause, that of its rule if it has one.
    Without the profile nothing is judged.
    """
    body = {304: b"", 412: {"code": "stale"}}.get(status, {})
    clause = "headers/etag" if (name, status) == ("ETag", 412) else "http/fields"
    tag = [("ETag", '"a"')] if status == 412 and name != "ETag" else []
    open_ = TAXONOMY.replace("profile: rfc9110\n", "")
    for value in WRONG[name]:
        found = judge(of(TAXONOMY), exchange(status, body, *tag, (name, value)))
        assert broken(found).keys() == {clause}, value
        unjudged = judge(of(open_), exchange(status, body, *tag, (name, value)))
        assert "http/fields" not in {*broken(unjudged), *unjudged.exercised}
    for value in RIGHT[name]:
        found = judge(of(TAXONOMY), exchange(status, body, *tag, (name, value)))
        assert broken(found) == {}, value
        assert "http/fields" in found.exercised
        twice = judge(of(TAXONOMY), exchange(status, body, *tag, (name, value), (name, value)))
        assert broken(twice).keys() == {clause}, value
