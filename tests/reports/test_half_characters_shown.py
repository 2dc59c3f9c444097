"""A report that faultspec writes is one that it reads, whatever a log has in it."""

import json
from pathlib import Path

from support.command_line import faultspec

TAXONOMY = """
faultspec: 1
taxonomy: {name: logs, version: 1.0.0, title: Logs, owner: nobody}
envelopes: {error: {media_type: application/json, shape: {code: $code}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}}
codes: {absent: {summary: Not there, http: 404, retriable: false}}
"""


def test_a_log_with_half_a_character_makes_a_report_that_is_read(tmp_path: Path) -> None:
    """Half a character in an address, a method and a body is replaced in the report."""
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    record = {
        "method": "GE\ud800T",
        "url": "/orders/\ud800",
        "status": 404,
        "response_headers": {"content-type": "application/json"},
        "response_body": '{"code": "other \ud800"}',
    }
    (tmp_path / "log.ndjson").write_text(json.dumps(record) + "\n")
    done = faultspec("audit", "log.ndjson", "--report", "json=report.json", cwd=tmp_path)
    assert (tmp_path / "report.json").exists(), done.stderr
    again = faultspec("report", "merge", "report.json", cwd=tmp_path)
    assert "not valid" not in again.stderr
    assert again.returncode == done.returncode, again.stderr
