"""One cause keeps an example of each operation, and a crash one of each trigger, in every
report.
"""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance import reports
from faultspec_conformance.reports.reading import read_report
from faultspec_conformance.results import findings as joining
from faultspec_conformance.results.findings import join_findings
from faultspec_conformance.results.model import ClauseResult, Report, ReportedFinding, Result
from support import command_line


def crash(operation: str, trigger: str, *, sent: bytes = b"{}", text: str = "boom") -> Finding:
    """Return a crash of an operation. ``sent``: the body of the request; ``text``: the answer."""
    method, _, path = operation.partition(" ")
    exchange = Exchange(
        Request(method, path, body=sent),
        Response(500, body=text.encode()),
        route=path,
        operation=operation,
        trigger=trigger,
    )
    message = "the service crashed: it answered 500"
    return Finding(
        "service/no-crash", message, operation=operation, status=500, evidence=(exchange,)
    )


def joined(*findings: Finding) -> ReportedFinding:
    """Return the one cause of findings."""
    (found,) = join_findings(map(ReportedFinding, findings))
    return found


def report_of(reported: ReportedFinding) -> Report:
    """Return the report of one cause."""
    address = reported.finding.clause
    clause = ClauseResult(address, occasions=1, failures=reported.count)
    return Report(Result("t", "x 1", {address: clause}, (reported,)), "http://h")


FOUND = (
    crash("POST /a", "`name` of 40 characters", sent=b'{"name": "longer"}'),
    crash("POST /a", "`name` of 40 characters", sent=b'{"name": "x"}'),
    crash("POST /a", "an empty body", sent=b""),
    crash("GET /b", "`limit` of 100"),
    crash("GET /b", "`limit` of 100", text="KeyError: 'of another kind'"),
    crash("GET /b", "`limit` of 100", text="boom"),
)


def test_each_operation_and_trigger_keeps_its_shortest_example() -> None:
    """Crashes with another operation, trigger or text are one cause and several examples; equal
    ones are one example, the smallest. The finding is the first, and its fingerprint names all.
    """
    found = joined(*FOUND)
    assert found.count == len(FOUND)
    assert found.examples[0] == found.finding
    sent = [(one.operation, one.evidence[-1].request.body) for one in found.examples]
    assert sorted(sent) == [
        *(("GET /b", b"{}"), ("GET /b", b"{}")),
        *(("POST /a", b""), ("POST /a", b'{"name": "x"}')),
    ]
    assert {one.fingerprint for one in found.examples} == {found.finding.fingerprint}


def test_long_words_in_many_crashes_take_little_time() -> None:
    """300 crashes with triggers of their own, each with a word of 2,000 letters, are joined within
    two seconds of the processor.
    """
    names = [chr(0x4E00 + number) for number in range(300)]
    crashes = [crash("GET /b", name, text=f"{name}{'x' * 2000}") for name in names]
    began = time.process_time()
    found = joined(*crashes)
    assert time.process_time() - began < 2
    assert len(found.examples) == len(crashes)


def test_ids_and_numbers_make_no_second_example() -> None:
    """Answers that differ in ids, and triggers that differ in numbers, are one example."""
    texts = (
        '{"id": "01JD-8f3a", "at": "2026-11-23T15:00Z"}',
        '{"id": "01JE-1c22", "at": "2026-11-24"}',
    )
    numbers = ("a number of 10 digits", "a number of 20 digits")
    found = joined(*(crash("GET /b", number, text=text) for number in numbers for text in texts))
    assert len(found.examples) == 1


def test_another_clause_keeps_one_example_of_each_operation() -> None:
    """A header that is missing needs no example of each trigger."""
    findings = [
        Finding("headers/allow", "missing", operation=one.operation, evidence=one.evidence)
        for one in FOUND
    ]
    assert [one.operation for one in joined(*findings).examples] == ["POST /a", "GET /b"]


def test_an_operation_with_many_answers_keeps_every_trigger() -> None:
    """Beyond twelve examples of an operation only those with a new trigger are kept."""
    words = [chr(ord("a") + place) * 3 for place in range(26)]
    echoed = [crash("GET /b", "generated data", text=f"no such word {word}") for word in words]
    found = joined(*echoed, crash("GET /b", "an empty body"))
    assert 12 <= len(found.examples) <= 14
    assert found.examples[-1].evidence[-1].trigger == "an empty body"


@pytest.mark.parametrize("write", [reports.text, reports.html, reports.markdown, reports.json])
def test_each_format_has_every_example(write: object) -> None:
    """Console, HTML, Markdown and JSON name the trigger of each example and its ID for replay."""
    assert callable(write)
    found = joined(*FOUND)
    shown = write(report_of(found))
    for number, example in enumerate(found.examples[1:], 2):
        assert found.example_id(number) in shown
        assert example.evidence[-1].trigger.replace("`", "") in shown.replace("`", "").replace(
            "\\", ""
        )


def test_a_report_that_is_read_has_the_examples() -> None:
    """The JSON report holds all examples; each is read as it was written."""
    found = joined(*FOUND)
    again = read_report(reports.json(report_of(found))).result.findings[0]
    assert again.examples == found.examples
    entries = json.loads(reports.json(report_of(found)))["findings"][0]["examples"]
    assert [entry["trigger"] for entry in entries] == [
        one.evidence[-1].trigger for one in found.examples
    ]


def test_an_example_that_does_not_exist_cannot_be_replayed(tmp_path: Path) -> None:
    """An ID with a number beyond the examples exits with 2 and says how many there are."""
    found = joined(*FOUND)
    path = tmp_path / "report.json"
    path.write_text(reports.json(report_of(found)), encoding="utf-8")
    for number in ("9", "0", "x"):
        name = f"{found.finding.fingerprint}:{number}"
        done = command_line.faultspec("replay", str(path), name, cwd=tmp_path)
        assert done.returncode == 2
        assert "4 examples" in done.stdout + done.stderr


#: The same expression, in quadratic time.
PLAIN = re.compile(r"[\w.:-]*\d[\w.:-]*")


@given(st.text(st.sampled_from("ab_1٣.:- \n/é²")) | st.text())
def test_what_changes_between_two_answers_is_each_word_with_a_digit(text: str) -> None:
    """The linear expression finds the same as the plain one."""
    found = [match.span() for match in joining._CHANGING.finditer(text)]
    assert found == [match.span() for match in PLAIN.finditer(text)]


def test_a_long_word_takes_linear_time() -> None:
    """A word of a million letters takes no seconds. The plain expression takes hours."""
    began = time.monotonic()
    assert joining._CHANGING.sub("*", "z" * 1_000_000) == "z" * 1_000_000
    assert time.monotonic() - began < 5


def test_the_key_of_each_example_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joining many findings takes as many keys as there are findings, however many have a key of
    their own, and the result is that of joining them in two parts.
    """
    triggers = [f"a body of the kind {chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300)]
    found = [ReportedFinding(crash(f"GET /{n % 3}", one)) for n, one in enumerate(triggers)]
    parts = join_findings([*join_findings(found[:150]), *join_findings(found[150:])])
    keys: list[Finding] = []
    key_of = joining.example_key
    monkeypatch.setattr(joining, "example_key", lambda one: keys.append(one) or key_of(one))
    whole = join_findings(found)
    assert len(keys) == len(found)
    assert whole == parts
    assert len(whole[0].examples) == len(found)
