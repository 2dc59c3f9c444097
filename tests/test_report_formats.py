"""The reports: JSON obeys its published schema, XML and HTML hold whatever a service sends, the table says it plainly."""

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultspec.exchange import Exchange, Request, Response
from faultspec.finding import Finding
from faultspec_conformance import reports
from faultspec_conformance.run import Report
from faultspec_conformance.verdict import ClauseResult, Coverage, Reported, Result

NASTY = "</script><img src=x onerror=alert(1)>\"'&@title@ é \x1b[31m {{ 7*7 }} ]]>"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.just(NASTY)


def report(text: str = "m", body: bytes = b'{"code": "x"}', waived: str | None = None) -> Report:
    """A report of one finding, every text of which is ``text``."""
    exchange = Exchange(Request("POST", "/a?b=c", (("X-A", "1"),), b"\xff\x00"), Response(404, (("X-B", "2"),), body))
    finding = Finding(
        "code/declared", text, ("C7",), operation="POST /a", status=404, pointer="/code", evidence=(exchange, exchange)
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
        findings=(Reported(finding, 2, waived),),
        coverage={"x": Coverage("x", 2, (404,), ("POST /a",)), "y": Coverage("y", reason=text)},
        requests=7,
        generated=2,
        seconds=1.25,
        notes=(text,),
        failures=(text,),
        not_run=(text,),
    )
    return Report(result, "http://127.0.0.1:1", {})


def test_the_schema_is_a_schema() -> None:
    """The published schema is valid under its metaschema."""
    jsonschema.Draft202012Validator.check_schema(dict(reports.schema()))


@settings(max_examples=60, deadline=None)
@given(TEXT, st.binary(max_size=20), st.none() | TEXT)
def test_json_obeys_its_schema(text: str, body: bytes, waived: str | None) -> None:
    """Whatever stands in a report, its JSON is valid under the published schema."""
    data = json.loads(reports.json(report(text, body, waived)))
    jsonschema.Draft202012Validator(reports.schema()).validate(data)


def test_json_says_what_the_contract_names() -> None:
    """Summary, findings and coverage hold what the design document lists, with values."""
    data = json.loads(reports.json(report()))
    assert data["summary"] == {
        "failed": 1,
        "passed": 1,
        "could_not_run": 2,
        "not_exercised": 1,
        "not_checkable": 1,
        "findings": 1,
        "warnings": 0,
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
    }


@settings(max_examples=60, deadline=None)
@given(TEXT, st.binary(max_size=20))
def test_junit_is_well_formed_and_counts_right(text: str, body: bytes) -> None:
    """Whatever stands in a report, its XML parses, and its counts are those of its parts."""
    root = ET.fromstring(reports.junit(report(text, body)))
    cases = root.findall(".//testcase")
    assert root.get("tests") == str(len(cases))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert root.get(name) == str(len(root.findall(f".//{tag}")))
        assert sum(int(suite.get(name, "0")) for suite in root.findall("testsuite")) == int(root.get(name, "-1"))


class Tags(HTMLParser):
    """The tags of a page and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one."""
        self.tags.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


@settings(max_examples=60, deadline=None)
@given(TEXT, st.binary(max_size=20))
def test_the_page_escapes_everything_and_loads_nothing(text: str, body: bytes) -> None:
    """No text of a service becomes markup, and the page refers to nothing outside itself."""
    plain, nasty = Tags(), Tags()
    plain.feed(reports.html(report("m")))
    nasty.feed(reports.html(report(text, body)))
    assert nasty.tags.count("script") == plain.tags.count("script") == 1
    assert "img" not in nasty.tags
    assert nasty.handlers == []
    assert all(not re.match(r"(?:https?:)?//", each) for each in nasty.references)


@settings(max_examples=60, deadline=None)
@given(TEXT, st.binary(max_size=20))
def test_the_table_obeys_no_terminal_codes(text: str, body: bytes) -> None:
    """No control character of a service reaches the terminal."""
    shown = reports.text(report(text, body))
    assert {character for character in shown if unicodedata.category(character) == "Cc"} == {"\n"}


@pytest.mark.parametrize("colour", [False, True])
def test_the_table_says_it_plainly(colour: bool) -> None:
    """Findings with their command line, codes, a verdict a clause and one line of sums."""
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
