"""Drafts of the conformance file."""

import pytest

from faultspec.language import read
from faultspec.openapi import service as openapi
from faultspec_conformance.run.draft import draft

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces:
  api: {transport: http, match: {routes: [/**]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  broken: {summary: A defect, http: 500, retriable: false}
  slow: {summary: Too late, http: 504, retriable: true}
  away: {summary: Not there now, http: 503, retriable: true}
"""


@pytest.mark.parametrize("listed", [["broken", "slow"], []])
def test_a_header_that_lists_codes_is_drafted_as_a_fault_switch(listed: list[str]) -> None:
    """An operation may ignore a switch, so the draft has no recipe that demands its effect."""
    switch = {"name": "X-Fail", "in": "header", "schema": {"type": "string", "enum": listed}}
    responses = {"200": {"description": "all"}}
    document = {
        "openapi": "3.1.0",
        "paths": {"/things": {"get": {"parameters": [switch], "responses": responses}}},
    }
    taxonomy = read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    text = draft(
        openapi.read(document),
        taxonomy,
        http="http://127.0.0.1:1",
        openapi="openapi.json",
        taxonomy_path="taxonomy.yaml",
    )
    line = '  - {header: X-Fail, values: {"broken": "broken", "slow": "slow"}}'
    assert (line in text.splitlines()) == bool(listed)
    assert "\nprovoke:" not in text
    assert "  # away: " in text
