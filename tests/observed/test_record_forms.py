"""Records as people have them: wrapped by collectors, in text, in tables; packed, piped, in folders
and in object stores.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from backports import zstd
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from faultspec.cli import cli
from faultspec.contract.model import Contract, build_contract
from faultspec.language import read
from faultspec.language.record_examples import record_examples
from faultspec_conformance.observed.audit import AuditOptions, audit
from faultspec_conformance.observed.formats.logs import read_log
from faultspec_conformance.observed.formats.record import RecordedExchange, Skipped, parse_status
from faultspec_conformance.results.model import Report
from support.examples import examples

RECORD = {"m": "GET", "u": "/orders/7", "s": 500, "code": "not_found"}
WHERE = "method: /m, url: /u, status: /s, slots: {code: /code}"


TAXONOMY = """
faultspec: 1
taxonomy: {{name: t, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code}}}}}}
surfaces: {{api: {{transport: http, error_when: {{status: [4xx, 5xx]}}, envelope: error}}}}
telemetry: {{records: {{line: {kind}}}}}
codes:
  not_found: {{summary: It is missing., http: 404}}
"""


def contract(kind: str) -> Contract:
    """A contract with one kind of record, in YAML."""
    loaded = read(TAXONOMY.format(kind=kind), "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    return build_contract(loaded.taxonomy)


def judged(path: Path | str, kind: str, form: str | None = None) -> Report:
    """The audit of a recording."""
    return audit([str(path)], contract(kind), AuditOptions(form=form))


def wrong_statuses(report: Report) -> int:
    """How many answers of the known code came with another status."""
    return report.result.clauses["code/status"].failures


INNER = json.dumps(RECORD)
KIND = f"{{{WHERE}}}"

EXAMPLES = {example.title: example for example in record_examples()}


def write_log(path: Path, title: str, times: int = 1) -> str:
    """Write a log of one example among other lines; return its kind of record."""
    line = " ".join(EXAMPLES[title].line.splitlines())
    path.write_text(f"The service has started.\n{line}\n" * times)
    return json.dumps(EXAMPLES[title].record)


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_explained_record_is_judged(title: str, tmp_path: Path) -> None:
    """Each record that `faultspec explain records` shows is an exchange, at its line. A status that
    only crashes have is a crash, and no clause fails for what the line leaves out.
    """
    path = tmp_path / "a.log"
    report = judged(path, write_log(path, title, 2))
    assert report.result.requests == 2
    (found,) = report.result.findings
    assert found.places == (f"{path}:2", f"{path}:4")
    has_code = "slots" in EXAMPLES[title].record
    assert found.finding.clause == ("code/status" if has_code else "service/no-crash")
    (evidence,) = found.finding.evidence
    assert (evidence.request.method, evidence.response.status) == ("GET", 500)
    assert evidence.request.target.startswith("/orders/7")


def test_a_line_that_docker_split_cannot_be_read(tmp_path: Path) -> None:
    """The first part of a split line is unreadable, not a line of another kind. So a log of such
    lines could not be read.
    """
    path = tmp_path / "a.ndjson"
    path.write_text(f"{json.dumps({'log': INNER[:40]})}\n" * 3)
    result = judged(path, f"{{unwrap: /log, {WHERE}}}").result
    assert "it cannot be read: the text in the line is not JSON" in result.notes[0]
    assert "none of its 3 records could be read" in result.not_run[0]


EVENTS = {"judged": INNER, "other": "START RequestId: 1", "torn": INNER[:40], "number": "5"}


@given(st.lists(st.sampled_from([*EVENTS]), max_size=6), st.booleans())
@examples(60, steady=15)
def test_a_record_is_judged_whatever_is_beside_it(names: list[str], typed: bool) -> None:
    """The records of a line are read one by one: texts of other programs, as AWS Lambda prints
    them, and torn ones hide none. Torn ones cannot be read; the others are not records.
    """
    texts = [EVENTS[name] for name in names]
    events = [{"message": {"stringValue": text} if typed else text} for text in texts]
    stream = io.BytesIO(json.dumps({"logEvents": events}).encode() + b"\n")
    kind = f"{{unwrap: /logEvents/*/message, {WHERE}}}"
    found = list(read_log(stream, "a.log", contract(kind)))
    judged_ = [item for item in found if isinstance(item, RecordedExchange)]
    broken = [item for item in found if isinstance(item, Skipped) and item.broken]
    assert len(judged_) == names.count("judged")
    if judged_:
        assert len(found) == len(names)
        assert len(broken) == names.count("torn")
    else:
        assert bool(broken) == ("torn" in names)


WRAPPERS: dict[str, Callable[[str], str]] = {
    "Docker": lambda text: json.dumps({"log": f"{text}\n"}),
    "Kubernetes": lambda text: f"2026-11-28T16:00:00Z stdout F {text}",
    "fluentd": lambda text: f"2026-11-28T16:00:00Z\tapp\t{text}",
}
STEPS_INTO = {"Docker": "/log", "Kubernetes": "cri, /text", "fluentd": "fluentd, /text"}
ACCESS = '1.1.1.1 - - [28/Nov/2026:16:00:00 +0000] "GET /orders/7 HTTP/1.1" 200 5'


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("format_", ["", ", combined"])
def test_a_wrapping_changes_no_outcome(format_: str, wrapper: str, tmp_path: Path) -> None:
    """Whatever collects the lines, a program's other texts beside JSON are not records, and most
    lines of another form than the declared one could not be read.
    """
    wrap, path = WRAPPERS[wrapper], tmp_path / "a.log"
    record = ACCESS if format_ else json.dumps({"request": "/orders/7", "status": 200})
    lines = [record, *[f"some other text {number}" for number in range(3)]]
    path.write_text("".join(f"{wrap(line)}\n" for line in lines))
    kind = f"{{unwrap: [{STEPS_INTO[wrapper]}{format_}], url: /request, status: /status}}"
    result = judged(path, kind).result
    assert result.requests == 1
    assert len(result.notes) == 1
    assert "skipped 3 records" in result.notes[0]
    reason = "it has another form" if format_ else "the text in the line is not JSON"
    assert reason in result.notes[0]
    assert bool(result.not_run) == bool(format_)


@pytest.mark.parametrize(
    ("line", "reason", "broken"),
    [
        (ACCESS.replace("GET /orders/7 HTTP/1.1", "-"), "declares no such kind", False),
        ("The service has started.", "it has another form", True),
        ('{"status": 2', "not JSON", True),
    ],
)
def test_a_line_of_text_says_what_it_lacks(line: str, reason: str, broken: bool) -> None:
    """An access line without a request, as of a client that sent none, is read and is not a
    record. A text of another form cannot be read.
    """
    kind = "{unwrap: combined, url: /request, status: /status}"
    (item,) = read_log(io.BytesIO(f"{line}\n".encode()), "a.log", contract(kind))
    assert isinstance(item, Skipped)
    assert reason in item.reason
    assert item.broken is broken


@pytest.mark.parametrize(
    ("status", "broken"),
    [
        *[(each, False) for each in (None, 0, 0.0, "0", "000", "-", "")],
        *[(each, True) for each in ("ok", True, False, -1, 99999, 404.5, {"a": 1}, [])],
    ],
)
def test_a_status_that_is_none_cannot_be_read(status: object, broken: bool) -> None:
    """A record of a request without an answer is not an exchange. One with any other value cannot
    be read, so a log of such records could not be read.
    """
    line = json.dumps({**RECORD, "s": status}).encode()
    (item,) = read_log(io.BytesIO(line + b"\n"), "a.log", contract(KIND))
    assert isinstance(item, Skipped)
    assert item.broken is broken


@pytest.mark.parametrize("title", EXAMPLES)
def test_a_draft_from_a_sample_is_the_explained_record(title: str, tmp_path: Path) -> None:
    """`init audit` drafts what reads the lines, but for conditions and for text of one's own; the
    draft has no value of the sample.
    """
    path = tmp_path / "a.log"
    write_log(path, title, 3)
    done = CliRunner().invoke(cli, ["init", "audit", str(path)], standalone_mode=False)
    wanted = {key: value for key, value in EXAMPLES[title].record.items() if key != "when"}
    if "expression" in title:
        assert done.return_value == 1
    else:
        drafted = yaml.safe_load(done.stdout)["telemetry"]["records"]["line"]
        assert drafted == wanted
        assert "orders/7" not in done.stdout


OLD = {"http.method": "GET", "http.target": "/orders/7", "http.status_code": "500"}
NEW = {
    "http.request.method": "GET",
    "url.full": "https://h/orders/7",
    "http.response.status_code": "500",
}
NEWER = {"http.request.method": "GET", "url.path": "/o", "http.response.status_code": "500"}


@pytest.mark.parametrize(
    ("spans", "read"), [([OLD, NEW], 1), ([NEW, OLD, OLD], 2), ([OLD, NEWER, NEWER], 2)]
)
def test_a_draft_is_of_records_that_are_alike(
    spans: list[dict[str, str]], read: int, tmp_path: Path
) -> None:
    """A draft mixes no conventions: it reads as many records of the sample as have their parts in
    the same places.
    """
    path = tmp_path / "a.ndjson"
    path.write_text("".join(f"{json.dumps({'attributes': span})}\n" for span in spans))
    done = CliRunner().invoke(cli, ["init", "audit", str(path)], standalone_mode=False)
    drafted = yaml.safe_load(done.stdout)["telemetry"]["records"]["line"]
    assert f"# {read} records" in done.stdout
    assert judged(path, json.dumps(drafted)).result.requests == read


def in_otlp(body: object) -> str:
    """A line of an export of OpenTelemetry logs whose record has this body."""
    scope = {"logRecords": [{"timeUnixNano": "1795881600000000000", "body": body}]}
    return json.dumps({"resourceLogs": [{"scopeLogs": [scope]}]})


SAMPLES = {
    "a body of key/value lists": (
        in_otlp(
            {
                "kvlistValue": {
                    "values": [
                        {"key": "status", "value": {"intValue": "500"}},
                        {"key": "path", "value": {"stringValue": "/orders/7"}},
                    ]
                }
            }
        ),
        {
            "unwrap": "/resourceLogs/*/scopeLogs/*/logRecords/*",
            "status": "/body/status",
            "url": "/body/path",
            "time": "/timeUnixNano",
        },
    ),
    "a body that is a text of JSON": (
        in_otlp({"stringValue": json.dumps({"status": 500, "path": "/orders/7"})}),
        {
            "unwrap": "/resourceLogs/*/scopeLogs/*/logRecords/*/body",
            "status": "/status",
            "url": "/path",
            "time": "/../timeUnixNano",
        },
    ),
    "a duration in nanoseconds": (
        json.dumps({"status": 500, "path": "/orders/7", "event": {"duration": 4_000_000}}),
        {"status": "/status", "url": "/path"},
    ),
    "a service of one letter": (
        json.dumps({"status": 500, "path": "/orders/7", "service": "o"}),
        {"status": "/status", "url": "/path", "service": "/service"},
    ),
    "a list in one line": (
        json.dumps([{"status": 500, "path": "/orders/7"}]),
        {"unwrap": "/*", "status": "/status", "url": "/path"},
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_draft_reads_its_sample(name: str, tmp_path: Path) -> None:
    """An audit with the draft reads the record of the file, by whose content its format is
    detected.
    """
    line, wanted = SAMPLES[name]
    path = tmp_path / "sample"
    path.write_text(line)
    done = CliRunner().invoke(cli, ["init", "audit", str(path)], standalone_mode=False)
    drafted = yaml.safe_load(done.stdout)["telemetry"]["records"]["line"]
    assert drafted == wanted
    report = judged(path, json.dumps(drafted))
    assert (report.result.requests, report.result.not_run) == (1, ())


def test_a_draft_from_a_table_reads_the_table(tmp_path: Path) -> None:
    """A sample of CSV is drafted by the names of its columns; what is not a log is refused."""
    path = tmp_path / "a.csv"
    path.write_text("verb,uri,http_status,latency_ms\nGET,/orders/7,500,4\n")
    done = CliRunner().invoke(cli, ["init", "audit", str(path)], standalone_mode=False)
    drafted = yaml.safe_load(done.stdout)["telemetry"]["records"]["line"]
    assert drafted == {
        "status": "/http_status",
        "url": "/uri",
        "method": "/verb",
        "milliseconds": "/latency_ms",
    }
    assert judged(path, json.dumps(drafted)).result.requests == 1
    path.write_text("name,age\nann,7\n")
    for sample, code in ((path, 1), (tmp_path / "none", 2), (Path("/dev/zero"), 2)):
        done = CliRunner().invoke(cli, ["init", "audit", str(sample)], standalone_mode=False)
        assert done.return_value == code


WRAPPED = {
    "a container over CloudWatch": (
        json.dumps({"logEvents": [{"message": json.dumps({"log": INNER})}]}),
        f"{{unwrap: [/logEvents/*/message, /log], {WHERE}}}",
    ),
    "an expression over Docker": (
        json.dumps({"log": "GET /orders/7 -> 500 not_found\n"}),
        r"{unwrap: [/log, '(?P<m>\w+) (?P<u>\S+) -> (?P<s>\d+) (?P<code>\S+)'], " + WHERE + "}",
    ),
    "pairs of name and value": (
        json.dumps({"fields": [{"name": name, "value": value} for name, value in RECORD.items()]}),
        "{unwrap: /fields, " + WHERE + "}",
    ),
    "pairs of a typed list": (
        json.dumps(
            {
                "attributes": {
                    "kvlistValue": {
                        "values": [
                            {"key": "m", "value": {"stringValue": "GET"}},
                            {"key": "u", "value": {"stringValue": "/orders/7"}},
                            {"key": "s", "value": {"intValue": "500"}},
                            {"key": "code", "value": {"stringValue": "not_found"}},
                        ]
                    }
                }
            }
        ),
        "{unwrap: /attributes, " + WHERE + "}",
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_wrapped_record_is_judged_as_it_is(name: str, tmp_path: Path) -> None:
    """Whatever wraps a record, also several times, the audit finds what the bare record breaks."""
    line, kind = WRAPPED[name]
    path = tmp_path / "a.log"
    path.write_text(f"{line}\nThe service has started.\n{line}\n")
    report = judged(path, kind)
    assert report.result.requests == 2
    assert wrong_statuses(report) == 2


def test_a_condition_on_what_is_around_a_record_holds(tmp_path: Path) -> None:
    """`..` leads out of the record: those of another service are not judged."""
    path = tmp_path / "a.log"
    title = next(title for title in EXAMPLES if "logs (OTLP)" in title)
    kind = write_log(path, title)
    assert judged(path, kind).result.requests == 1
    assert judged(path, kind.replace(': "orders"', ': "prices"')).result.requests == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "s", "u", "key", "value", "stringValue", "arrayValue", "values"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)
STEPS = st.sampled_from(
    ["/a", "/*", "/a/*", "/a/*/value", "/key/*/a/*", "/~1", "/0", "combined", "prefixed", "cri"]
)
POINTERS = st.sampled_from(["/s", "/a/s", "/../s", "/../../a", "/a/0/value", "/values/key"])


@given(
    line=JSON.map(json.dumps) | JSON.map(json.dumps).map(lambda text: json.dumps({"a": text})),
    path=st.lists(STEPS, min_size=1, max_size=3),
    status=POINTERS,
    url=POINTERS,
)
@examples(300, steady=60)
def test_any_line_is_judged_or_skipped(line: str, path: list[str], status: str, url: str) -> None:
    """Whatever a line has, and wherever a kind looks for its parts, reading it ends without an
    error: the next line is judged.
    """
    kind = json.dumps({"unwrap": path, "status": status, "url": url})
    by = read(TAXONOMY.format(kind=f"{kind}, other: {KIND}"), "t.yaml").taxonomy
    assert by is not None
    stream = io.BytesIO(f"{line}\n{INNER}\n".encode())
    found = list(read_log(stream, "a.log", build_contract(by)))
    assert any(isinstance(item, RecordedExchange) for item in found[-1:])


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ("combind", "bad-pattern"),
        ("'(?P<m>a+'", "bad-pattern"),
        ("'(?P<m>(a+)+) x'", "slow-pattern"),
        ("/a~x", "bad-pattern"),
        ("[/log, GET]", "bad-pattern"),
    ],
)
def test_a_step_that_leads_nowhere_is_a_diagnostic(step: str, code: str) -> None:
    """A misspelt format, an expression without groups or one that may take long is an error."""
    text = TAXONOMY.format(kind=f"{{unwrap: {step}, {WHERE}}}")
    assert [found.code for found in read(text, "t.yaml").diagnostics] == [code]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}
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
    (reason,) = report.result.not_run
    line = re.search(r": line (\d+) cannot be read: ", reason)
    assert line is not None
    assert 40 <= wrong_statuses(report) <= 80
    assert 41 <= int(line[1]) <= 81
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
    assert wrong_statuses(judged(f"{tmp_path}/b/.*.log", KIND)) == 40
    for name in ("x", "y"):
        (tmp_path / "b" / name).symlink_to(tmp_path)  # two circles
    for each in (tmp_path, f"{tmp_path}/**", f"{tmp_path}/**/*.log*"):
        assert wrong_statuses(judged(each, KIND)) == 120
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
    line = next(example.line for title, example in EXAMPLES.items() if "nginx" in title)
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


PLAIN = {"Content-Type": "application/json"}

SLOTS = "method: /m, url: /u, status: /s, slots: {code: /code, message: /message}"

WITH_MESSAGE = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, codes: closed, error_when: {status: [4xx, 5xx]}, envelope: error}}
telemetry: {records: {line: {SLOTS}}}
undeclared: {becomes: internal}
codes:
  not_found: {summary: It is missing., http: 404}
  numbered: {summary: It has digits., http: 409, wire: "17"}
  internal: {summary: It failed., http: 500}
"""


def broken_clauses(path: Path, *records: object) -> set[str]:
    """The clauses that a log of these records breaks."""
    if path.suffix == ".csv":
        write_rows(path, *records)
    else:
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    loaded = read(WITH_MESSAGE.replace("SLOTS", SLOTS), "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    report = audit([str(path)], build_contract(loaded.taxonomy))
    return {found.finding.clause for found in report.result.findings}


def write_rows(path: Path, *records: object) -> None:
    """Write records as a table."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["m", "u", "s", "code", "message"])
        writer.writeheader()
        writer.writerows(records)  # type: ignore[arg-type]  # they are objects


@pytest.mark.parametrize("name", ["a.ndjson", "a.csv"])
@pytest.mark.parametrize("other", [{"message": "gone"}, {"message": "gone", "code": None}, {}])
def test_a_bare_status_is_judged_whatever_else_a_record_has(
    name: str, other: dict[str, object], tmp_path: Path
) -> None:
    """A status that only crashes have is a crash, also beside a message without a code."""
    record = {"m": "GET", "u": "/orders/7", "s": 500, **other}
    assert broken_clauses(tmp_path / name, record) == {"service/no-crash"}
    assert broken_clauses(tmp_path / name, {**record, "s": 404}) == set()


@pytest.mark.parametrize("code", [0, 1.5, True, [], ["not_found"], {"a": 1}, "nope", 18])
def test_a_recorded_code_of_any_type_must_be_declared(code: object, tmp_path: Path) -> None:
    """A log has no body whose types can be judged, but no code has such a value."""
    record = {"m": "GET", "u": "/orders/7", "s": 404, "code": code}
    assert broken_clauses(tmp_path / "a.ndjson", record) == {"code/declared"}


@pytest.mark.parametrize("name", ["a.ndjson", "a.csv"])
@pytest.mark.parametrize("code", [17, "17"])
def test_a_log_may_spell_a_code_as_a_number(name: str, code: object, tmp_path: Path) -> None:
    """Pipelines of logs turn digits into numbers, and tables numbers into digits."""
    record = {"m": "GET", "u": "/orders/7", "s": 409, "code": code}
    assert broken_clauses(tmp_path / name, record) == set()
    assert broken_clauses(tmp_path / name, {**record, "s": 404}) == {"code/status"}


def test_a_byte_of_another_encoding_does_not_hide_a_line(tmp_path: Path) -> None:
    """A line with one byte that is not UTF-8 is a record."""
    path = tmp_path / "a.ndjson"
    path.write_bytes(json.dumps({**RECORD, "message": "X"}).encode().replace(b"X", b"\xfc") + b"\n")
    assert wrong_statuses(judged(path, f"{{{WHERE}}}")) == 1


@pytest.mark.parametrize(
    ("end", "cut"), [('{"m": "GET", "u', True), ('{"m": "GET", "u\n', False), ("The end.", False)]
)
def test_a_log_whose_last_line_breaks_off_is_truncated(end: str, cut: bool, tmp_path: Path) -> None:
    """Its readable part is judged, and it counts as not read to its end. Other texts do not."""
    path = tmp_path / "a.ndjson"
    good = json.dumps({**RECORD, "s": 404}) + "\n"
    path.write_text(good * 3 + end)
    report = judged(path, f"{{{WHERE}}}")
    assert report.result.requests == 3
    assert any("truncated" in reason for reason in report.result.not_run) == cut


@pytest.mark.parametrize(
    ("headers", "broken"),
    [
        (PLAIN, {"headers/cache-control"}),
        ({**PLAIN, "Cache-Control": "no-store"}, set()),
        ({**PLAIN, "Cache-Control": "[Filtered]"}, set()),
    ],
)
@pytest.mark.parametrize("message", [{}, {"message": "gone"}])
def test_headers_are_judged_by_a_status_whose_codes_agree(
    headers: object, broken: set[str], message: dict[str, str], tmp_path: Path
) -> None:
    """A record without its code is held against rules that every code of its status has, and not
    against those that one of several codes has.
    """
    own = "headers: {Retry-After: required}"
    text = WITH_MESSAGE.replace("SLOTS", f"{SLOTS}, response: {{headers: /h}}")
    text = text.replace("codes:\n", "codes:\n  busy: {summary: B., http: 409, OWN}\n")
    text = text.replace("OWN", own) + "headers: {Cache-Control: {on: [4xx, 5xx], token: no-store}}"
    loaded = read(text, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    path = tmp_path / "a.ndjson"
    path.write_text(json.dumps({"m": "GET", "u": "/o", "s": 409, "h": headers, **message}) + "\n")
    report = audit([str(path)], build_contract(loaded.taxonomy))
    assert {found.finding.clause for found in report.result.findings} == broken


NUMBERED = """
faultspec: 1
taxonomy: {name: t, version: 1.0.0}
detail_keys: {again: {type: boolean, role: retriable, summary: Again?}, n: {type: integer}}
envelopes: {error: {shape: {code: $code, details?: $details}}}
surfaces: {api: {transport: http, codes: closed, error_when: {status: [4xx, 5xx]}, envelope: error}}
telemetry:
  records:
    line: {unwrap: /t, method: /m, url: /u, status: /s, slots: {code: /code, details: /details}}
    row: {method: /m, url: /u, status: /s, slots: {code: /code, details: /message}}
codes:
  not_found: {summary: It is missing., wire: 1404, http: 404, retriable: false, details: {again: {}, n: {}}}
"""


@pytest.mark.parametrize(
    ("code", "details", "broken"),
    [
        ("1404", '{"again": false, "n": 1}', set()),
        ("1404", '{"again": true, "n": 1}', {"retriable/agrees"}),
        ("1405", '{"again": false, "n": 1}', {"code/declared"}),
        ("14x4", "nothing", {"code/declared"}),
    ],
)
def test_texts_of_tables_have_the_types_of_their_slots(
    code: str, details: str, broken: set[str], tmp_path: Path
) -> None:
    """A cell has a text only: the slot decides whether it is a number, or details in JSON."""
    loaded = read(NUMBERED, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    path = tmp_path / "a.csv"
    write_rows(path, {"m": "GET", "u": "/o/7", "s": "404", "code": code, "message": details})
    report = audit([str(path)], build_contract(loaded.taxonomy))
    assert {found.finding.clause for found in report.result.findings} == broken


@pytest.mark.parametrize(
    ("status", "is_one"),
    [
        (500, True),
        ("500", True),
        (500.0, True),
        ("500.0", True),
        (" 500 ", True),
        ("500 Internal Server Error", True),
        (500.5, False),
        (True, False),
        (0, False),
        (float("inf"), False),
        ("5000", False),
        ("x500", False),
        (None, False),
    ],
)
def test_a_whole_number_of_any_type_is_a_status(status: object, is_one: bool) -> None:
    """Tables with empty cells have numbers with a point, logs the phrase of a status line."""
    assert parse_status(status) == (500 if is_one else None)


def test_a_folder_does_not_replace_a_column(tmp_path: Path) -> None:
    """The name of a folder such as `s=404` does not replace what the records have."""
    path = tmp_path / "s=404" / "a.parquet"
    path.parent.mkdir()
    write_parquet(tmp_path / "b.parquet")
    (tmp_path / "b.parquet").rename(path)
    assert wrong_statuses(judged(path, KIND)) == 2
