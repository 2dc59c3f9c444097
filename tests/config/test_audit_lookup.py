"""`audit` of the conformance file: a look-up that cannot be carried out is an error of the file."""

import pytest

from faultspec import source
from faultspec.language import read
from faultspec_conformance.config import check_config, parse_config

TAXONOMY = """
faultspec: 1
taxonomy: {name: boxes, version: 1.0.0}
envelopes:
  error: {shape: {code: $code, audit_id: $audit_id}, fields: {audit_id: {type: string}}}
surfaces: {api: {transport: http, envelope: error}}
codes: {absent: {summary: Not there., http: 404, retriable: false}}
"""


def messages(audit: str) -> list[str]:
    """Return the messages about a configuration with this `audit`."""
    text = f"target: {{http: 'http://127.0.0.1:1'}}\nidentities: {{op: {{}}}}\naudit: {audit}\n"
    document, _ = source.parse(text, "conformance.yaml")
    assert document is not None
    loaded = parse_config(document, {})
    found = [one.message for one in loaded.diagnostics]
    taxonomy = read(TAXONOMY, "taxonomy.yaml").taxonomy
    assert taxonomy is not None
    if loaded.target is not None:
        found += [one.message for one in check_config(loaded.target, taxonomy, document)]
    return found


@pytest.mark.parametrize(
    ("audit", "message"),
    [
        ("{lookup: 'GET /audit/${audit}'}", "no envelope of the taxonomy boxes has `$audit`"),
        ("{lookup: GET /audit}", "this one names none"),
        ("{lookup: 'GET /audit/{code}/{audit_id}'}", "this one names `code` and `audit_id`"),
        ("{lookup: 'DELETE /audit/${audit_id}'}", "a look-up with DELETE may change something"),
        ("{lookup: 'GET /audit/${audit_id}', as: ops}", "`ops` is not an identity of the file"),
        ("{as: op}", "`lookup`"),
    ],
)
def test_a_look_up_that_cannot_be_carried_out_is_reported(audit: str, message: str) -> None:
    """The slot, the identity and the method of the look-up must exist."""
    found = messages(audit)
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(
    "audit",
    [
        "{lookup: 'GET /audit/${audit_id}'}",
        "{lookup: 'GET /audit/{audit_id}', as: op}",
        "{lookup: 'GET /audit?failure=${audit_id}&full=yes'}",
        "{lookup: {request: GET /audit, query: {failure: '${audit_id}'}}}",
        "{lookup: {request: 'GET /audit/{audit_id}', query: {full: yes}}, as: anonymous}",
    ],
)
def test_a_look_up_that_can_be_carried_out_is_accepted(audit: str) -> None:
    """A placeholder with or without `$` stands for the id."""
    assert messages(audit) == []
