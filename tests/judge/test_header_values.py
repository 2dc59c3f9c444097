"""The values of headers: read as the type of their schema, and held to its limits and formats."""

import json

import pytest

from faultspec.contract.model import build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge import judge
from faultspec.language import read

TAXONOMY = """
faultspec: 1
taxonomy: {name: values, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}}
surfaces: {api: {transport: http, envelope: error}}
headers:
  X-Left: {value: {type: integer, minimum: 0, maximum: 60}, presence: optional}
  X-Share: {value: {type: number, maximum: 1}, presence: optional}
  X-Final: {value: {type: boolean}, presence: optional}
  X-Content-Type-Options: {value: {enum: [nosniff]}, presence: optional}
  X-Region: {value: {pattern: "^eu-[a-z]+$"}, presence: optional}
  RateLimit: {presence: optional}
  Deprecation: {presence: optional}
  Sunset: {presence: optional}
codes: {failed: {summary: It failed., http: 400, retriable: false}}
"""


def broken(name: str, value: str) -> list[str]:
    """The clauses that an error with one header breaks."""
    loaded = read(TAXONOMY, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    headers = (("Content-Type", "application/json"), (name, value))
    answer = Response(400, headers, json.dumps({"code": "failed"}).encode())
    found = judge(build_contract(loaded.taxonomy), Exchange(Request("GET", "/"), answer))
    return [finding.clause for finding in found.findings]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("X-Left", ["0", "60"], ["61", "-1", "6.5", "", "six"]),
        ("X-Share", ["0.5", "1", "-2"], ["1.5", "half"]),
        ("X-Final", ["true", "false"], ["yes", "True", "1"]),
        ("X-Content-Type-Options", ["nosniff"], ["sniff", ""]),
        ("X-Region", ["eu-west"], ["us-east", "eu-"]),
        ("RateLimit", ['"default";r=50;t=30', '"a";r=1, "b";r=0;t=9'], ["50", '"a";r=', "r=50"]),
        ("Deprecation", ["@1688169599"], ["true", "1688169599"]),
        ("Sunset", ["Sun, 06 Nov 1994 08:49:37 GMT"], ["2026-01-01"]),
    ],
)
def test_a_header_has_the_declared_value(name: str, good: list[str], bad: list[str]) -> None:
    """A value that the schema or the format allows breaks nothing; any other breaks the clause of
    the header.
    """
    for value in good:
        assert broken(name, value) == [], value
    for value in bad:
        assert broken(name, value) == [f"headers/{name.lower()}"], value
