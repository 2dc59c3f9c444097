"""Records as people have them: wrapped by collectors, in text, in tables; packed, piped, in folders
and in object stores.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from faultspec.contract.model import Contract, build_contract
from faultspec.language import read
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.results.model import Report

RECORD = {"m": "GET", "u": "/orders/7", "s": 500, "code": "not_found"}
WHERE = "method: /m, url: /u, status: /s, slots: {code: /code}"


def contract(kind: str) -> Contract:
    """A contract with one kind of record, in YAML."""
    text = f"""
faultspec: 1
taxonomy: {{name: t, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code}}}}}}
surfaces: {{api: {{transport: http, error_when: {{status: [4xx, 5xx]}}, envelope: error}}}}
telemetry: {{records: {{line: {kind}}}}}
codes:
  not_found: {{summary: It is missing., http: 404}}
"""
    loaded = read(text, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def judged(path: Path | str, kind: str, form: str | None = None) -> Report:
    """The audit of a recording."""
    return audit([str(path)], contract(kind), AuditOptions(form=form))


def wrong_statuses(report: Report) -> int:
    """How many answers of the known code came with another status."""
    return report.result.clauses["code/status"].failures


INNER = json.dumps(RECORD)

OTLP = {
    "resourceLogs": [
        {
            "resource": {
                "attributes": [{"key": "service.name", "value": {"stringValue": "orders"}}]
            },
            "scopeLogs": [
                {
                    "scope": {"name": "http"},
                    "logRecords": [
                        {
                            "timeUnixNano": "1764331200000000000",
                            "body": {"stringValue": "answered"},
                            "attributes": [
                                {"key": "http.request.method", "value": {"stringValue": "GET"}},
                                {"key": "url.path", "value": {"stringValue": f"/orders/{number}"}},
                                {
                                    "key": "http.response.status_code",
                                    "value": {"intValue": "500"},
                                },
                                {
                                    "key": "error",
                                    "value": {
                                        "kvlistValue": {
                                            "values": [
                                                {
                                                    "key": "code",
                                                    "value": {"stringValue": "not_found"},
                                                }
                                            ]
                                        }
                                    },
                                },
                            ],
                        }
                        for number in range(2)
                    ],
                }
            ],
        }
    ]
}
IN_ATTRIBUTES = (
    "method: /attributes/http.request.method, url: /attributes/url.path, "
    "status: /attributes/http.response.status_code, slots: {code: /attributes/error/code}"
)
SPANS = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {"spans": OTLP["resourceLogs"][0]["scopeLogs"][0]["logRecords"]}  # type: ignore[index]  # as above
            ]
        }
    ]
}

WRAPPED = {
    "Docker": (
        json.dumps({"log": f"{INNER}\n", "stream": "stdout", "time": "2026-11-28T16:00:00Z"}),
        f"{{unwrap: /log, {WHERE}}}",
    ),
    "CRI": (
        f"2026-11-28T16:00:00.000000000Z stdout F {INNER}",
        f"{{unwrap: [cri, /text], {WHERE}}}",
    ),
    "fluentd": (
        f"2026-11-28T16:00:00+00:00\tapp.orders\t{INNER}",
        f"{{unwrap: [fluentd, /text], {WHERE}}}",
    ),
    "syslog": (
        f"Nov 28 16:00:00 host orders[12]: {INNER}",
        f"{{unwrap: [prefixed, /text], {WHERE}}}",
    ),
    "CloudWatch": (
        json.dumps(
            {
                "messageType": "DATA_MESSAGE",
                "logGroup": "orders",
                "logEvents": [{"id": "1", "timestamp": 1764331200000, "message": INNER}],
            }
        ),
        f"{{unwrap: [/logEvents/*/message], {WHERE}}}",
    ),
    "CloudWatch over a container": (
        json.dumps({"logEvents": [{"message": json.dumps({"log": INNER})}]}),
        f"{{unwrap: [/logEvents/*/message, /log], {WHERE}}}",
    ),
    "an expression": (
        "GET /orders/7 -> 500 not_found in 3 ms",
        r"{unwrap: '(?P<m>\w+) (?P<u>\S+) -> (?P<s>\d+) (?P<code>\S+) in .*', " + WHERE + "}",
    ),
    "Docker over an expression": (
        json.dumps({"log": "GET /orders/7 -> 500 not_found\n"}),
        r"{unwrap: [/log, '(?P<m>\w+) (?P<u>\S+) -> (?P<s>\d+) (?P<code>\S+)'], " + WHERE + "}",
    ),
    "pairs of name and value": (
        json.dumps({"fields": [{"name": name, "value": value} for name, value in RECORD.items()]}),
        "{unwrap: /fields, " + WHERE + "}",
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_wrapped_record_is_judged_as_it_is(name: str, tmp_path: Path) -> None:
    """Whatever a collector wraps a record in, the audit finds what it finds in the bare record."""
    line, kind = WRAPPED[name]
    path = tmp_path / "a.log"
    path.write_text(f"{line}\nThe service has started.\n{line}\n")
    report = judged(path, kind)
    assert report.result.requests == 2
    assert wrong_statuses(report) == 2
    assert report.result.findings[0].places == (f"{path}:1", f"{path}:3")


@pytest.mark.parametrize("kind_of", ["logRecords", "spans"])
def test_records_of_opentelemetry_are_judged(kind_of: str, tmp_path: Path) -> None:
    """A line of OTLP has many records; attributes are found by their keys, and `..` leads to the
    resource around them.
    """
    path = tmp_path / "otlp.jsonl"
    if kind_of == "logRecords":
        way = "/resourceLogs/*/scopeLogs/*/logRecords/*"
        path.write_text(json.dumps(OTLP))
        only = "when: {/../../resource/attributes/service.name: orders}, "
    else:
        way, only = "/resourceSpans/*/scopeSpans/*/spans/*", ""
        path.write_text(json.dumps(SPANS))
    assert wrong_statuses(judged(path, f"{{unwrap: {way}, {only}{IN_ATTRIBUTES}}}")) == 2
    if only:
        others = only.replace("orders", "prices")
        report = judged(path, f"{{unwrap: {way}, {others}{IN_ATTRIBUTES}}}")
        assert report.result.requests == 0


ACCESS = {
    "nginx": (
        '203.0.113.9 - - [28/Nov/2026:16:00:00 +0000] "GET /orders/7?x=\\"1 HTTP/1.1" 500 153 '
        '"-" "curl/8.5.0"',
        "{unwrap: combined, url: /request, status: /status}",
    ),
    "nginx with more": (
        '203.0.113.9 - ann [28/Nov/2026:16:00:00 +0000] "GET /orders/7 HTTP/2.0" 500 0 '
        '"https://shop.test/" "Mozilla/5.0" "198.51.100.7" rt=0.004',
        "{unwrap: combined, url: /request, status: /status}",
    ),
    "Apache, common": (
        '203.0.113.9 - - [28/Nov/2026:16:00:00 +0000] "GET /orders/7 HTTP/1.1" 500 -',
        "{unwrap: combined, url: /request, status: /status}",
    ),
    "Envoy": (
        '[2026-11-28T16:00:00.000Z] "GET /orders/7 HTTP/1.1" 500 - 0 9 5 4 "-" "curl/8.5.0" '
        '"f8b1c2d3-0000-4000-8000-000000000000" "orders.test" "10.0.0.5:8080"',
        "{unwrap: envoy, url: /request, status: /status, milliseconds: /milliseconds}",
    ),
    "Istio": (
        '[2026-11-28T16:00:00.000Z] "GET /orders/7 HTTP/1.1" 500 - via_upstream - "-" 0 9 5 4 '
        '"-" "curl/8.5.0" "f8b1c2d3-0000-4000-8000-000000000000" "orders.test" "10.0.0.5:8080" '
        "outbound|80||orders 10.0.0.9:40000 10.0.0.5:8080 10.0.0.9:0 - default",
        "{unwrap: envoy, url: /request, status: /status, milliseconds: /milliseconds}",
    ),
    "Caddy": (
        json.dumps(
            {
                "level": "info",
                "ts": 1764331200.5,
                "logger": "http.log.access",
                "msg": "handled request",
                "request": {
                    "proto": "HTTP/2.0",
                    "method": "GET",
                    "host": "orders.test",
                    "uri": "/orders/7",
                    "headers": {"User-Agent": ["curl/8.5.0"]},
                },
                "duration": 0.004,
                "size": 9,
                "status": 500,
                "resp_headers": {"Content-Type": ["application/json"]},
            }
        ),
        "{method: /request/method, url: /request/uri, status: /status, seconds: /duration, "
        "request: {headers: /request/headers}, response: {headers: /resp_headers}}",
    ),
}


@pytest.mark.parametrize("name", ACCESS)
def test_access_logs_are_judged_by_their_statuses(name: str, tmp_path: Path) -> None:
    """A line of an access log is an exchange. A status that only crashes have is a crash, and no
    clause fails for what the line leaves out.
    """
    line, kind = ACCESS[name]
    path = tmp_path / "a.log"
    path.write_text(f"{line}\n")
    report = judged(path, kind)
    assert report.result.requests == 1
    assert {found.finding.clause for found in report.result.findings} == {"service/no-crash"}
    (evidence,) = report.result.findings[0].finding.evidence
    assert (evidence.request.method, evidence.response.status) == ("GET", 500)
    assert evidence.request.target.startswith("/orders/7")


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}
KIND = f"{{{WHERE}}}"
LINES = f"{INNER}\n".encode() * 40


@pytest.mark.parametrize("packer", PACKERS)
def test_packed_logs_are_recognized_by_their_first_bytes(packer: str, tmp_path: Path) -> None:
    """A packed log is read whatever its name is, also one of several streams in a row. What is cut
    off could not be read; what was read before is judged.
    """
    pack = PACKERS[packer]
    path = tmp_path / "packed"
    path.write_bytes(pack(LINES) + pack(LINES))
    assert wrong_statuses(judged(path, KIND)) == 80
    named = tmp_path / f"a.log.{packer}"
    named.write_bytes(pack(b"starting\n" * 9 + LINES))
    assert wrong_statuses(judged(named, KIND)) == 40
    path.write_bytes((pack(LINES) + pack(LINES))[:-9])
    report = judged(path, KIND)
    assert len(report.result.not_run) == 1
    assert 40 <= wrong_statuses(report) <= 80
    path.write_bytes(pack(LINES)[:20] + b"\xff" * 300)
    assert len(judged(path, KIND).result.not_run) == 1


def test_what_remembers_too_much_is_refused(tmp_path: Path) -> None:
    """A compressed file that would take more memory than an audit may take is not decompressed."""
    path = tmp_path / "a.log"
    greedy = [{"id": lzma.FILTER_LZMA2, "dict_size": 512 * 1024 * 1024}]
    path.write_bytes(lzma.compress(LINES, filters=greedy))
    assert "emory" in judged(path, KIND).result.not_run[0]
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 30})
    path.write_bytes(packer.compress(LINES) + packer.flush())
    assert "emory" in judged(path, KIND).result.not_run[0]


def table(delimiter: str = ",") -> str:
    """The record as CSV, with a body of several lines."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["m", "u", "s", "code", "note"])
    writer.writerow(["GET", "/orders/7", "500", "not_found", 'two\nlines, "quoted"'])
    writer.writerow(["GET", "/orders/8", "404", "not_found", ""])
    writer.writerow(["GET", "/orders/9", "500", "not_found", ""])
    return text.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_of_csv_is_judged_row_by_row(delimiter: str, tmp_path: Path) -> None:
    """Places are the lines on which rows begin, whatever parts the columns."""
    path = tmp_path / "a.csv"
    path.write_text("\ufeff" + table(delimiter), newline="")
    report = judged(path, KIND)
    assert report.result.requests == 3
    assert report.result.findings[0].places == (f"{path}:2", f"{path}:5")


def test_a_field_without_end_is_not_held(tmp_path: Path) -> None:
    """A quote that is never closed ends the reading of a table, and is reported with its place."""
    path = tmp_path / "a.csv"
    path.write_text(table() + '"GET' + "x" * (17 * 1024 * 1024))
    report = judged(path, KIND)
    assert report.result.requests == 3
    assert f"{path}:6" in report.result.not_run[0]


def write_parquet(path: Path) -> None:
    """Three records as Parquet, written by DuckDB."""
    import duckdb

    source = path.with_suffix(".csv")
    source.write_text(table(), newline="")
    duckdb.sql(f"SELECT * FROM read_csv('{source}')").write_parquet(str(path))


def test_a_table_of_parquet_is_judged_row_by_row(tmp_path: Path) -> None:
    """DuckDB reads it; its name is not a pattern."""
    path = tmp_path / "a[1]*.parquet"
    write_parquet(path)
    report = judged(path, KIND)
    assert report.result.requests == 3
    assert report.result.findings[0].places == (f"{path}:1", f"{path}:3")
    path.write_bytes(path.read_bytes()[:-30])
    assert "DuckDB" in judged(path, KIND).result.not_run[0]


def test_folders_and_patterns_name_their_files(tmp_path: Path) -> None:
    """Each file is judged once, also if two arguments name it; one that is not a recording is
    reported.
    """
    for name in ("a.log", "b/c.log", "b/d/e.log.gz", "b/.hidden.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(LINES) if name.endswith("gz") else LINES)
    assert wrong_statuses(judged(tmp_path, KIND)) == 120
    assert wrong_statuses(judged(f"{tmp_path}/**/*.log*", KIND)) == 120
    assert wrong_statuses(judged(f"{tmp_path}/b/*.log", KIND)) == 40
    twice = audit([str(tmp_path / "a.log"), str(tmp_path / "*.log")], contract(KIND))
    assert wrong_statuses(twice) == 40
    assert judged(f"{tmp_path}/*.har", KIND).result.not_run
    (tmp_path / "b/README").write_text("not a recording")
    assert "README" in judged(tmp_path, KIND).result.not_run[0]


def test_standard_input_and_pipes_are_read(tmp_path: Path) -> None:
    """`-` and the pipe of a shell's `<(…)` are recordings like files, also packed ones and lines
    of text.
    """
    (tmp_path / "taxonomy.yaml").write_text(
        "faultspec: 1\ntaxonomy: {name: t, version: 1.0.0}\n"
        "envelopes: {error: {shape: {code: $code}}}\n"
        "surfaces: {api: {transport: http, error_when: {status: [5xx]}, envelope: error}}\n"
        "telemetry: {records: {line: {unwrap: combined, url: /request, status: /status}}}\n"
        "codes: {not_found: {summary: It is missing., http: 404}}\n"
    )
    line, _ = ACCESS["nginx"]
    (tmp_path / "a").write_bytes(zstd.compress(f"{line}\n".encode() * 3))
    program = f"{sys.executable} -m faultspec audit --crashes warning"
    for command in (f"{program} - < a", f"cat a | {program} -", f"{program} <(cat a)"):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "3 requests" in done.stdout, done
        assert "Traceback" not in done.stderr
