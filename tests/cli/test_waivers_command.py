"""`faultspec waivers`: entries come and go by a report, and the rest of the file stays."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from faultspec.exchange.finding import Finding
from faultspec.source.whole_file import write_whole
from faultspec_conformance import reports
from faultspec_conformance.results.model import ClauseResult, Report, ReportedFinding, Result
from faultspec_conformance.results.waivers import Waiver, read_waivers
from support import command_line

FUTURE = date.today() + timedelta(30)
CLAUSES = {
    name: ClauseResult(name, occasions=3, failures=1) for name in ("code/status", "leaks/sql")
}
STATUS = Finding("code/status", "m", operation="GET /a/{id}", code="gone", status=404)
LEAK = Finding("leaks/sql", "m", operation="GET /b", status=500)

FILE = f"""\
# Known failures of the shop.

# the gateway
- clause: code/status  # by design
  operation: GET /a/{{id}}
  reason: the gateway
  owner: edge
  expires: {FUTURE}
# the database
- {{clause: leaks/sql, reason: r, owner: o, expires: {FUTURE}}}   # soon
# the end
"""
KNOWN = Waiver("code/status", "the gateway", "edge", FUTURE, operation="GET /a/{id}")
UNUSED = Waiver("leaks/sql", "r", "o", FUTURE)


def written(
    folder: Path, *findings: ReportedFinding, waivers: Mapping[Waiver, int] = {}, **other: object
) -> str:
    """The path of a report."""
    result = Result("t", "x 1", CLAUSES, findings, waivers=waivers)
    path = folder / "report.json"
    path.write_text(reports.json(replace(Report(result, "http://h"), **other)))  # type: ignore[arg-type]
    return str(path)


def waivers(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of `faultspec waivers` in a folder."""
    done = command_line.faultspec("waivers", *arguments, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def test_update_adds_what_is_missing_and_changes_nothing_else(tmp_path: Path) -> None:
    """The file keeps its text. The entries after its last one cover the failures, and a second
    update adds nothing.
    """
    (tmp_path / "waivers.yaml").write_text(FILE)
    other = replace(LEAK, clause="code/status", operation="GET /b")
    both = ReportedFinding(other, operations=("GET /b", "GET /c"))
    report = written(tmp_path, ReportedFinding(STATUS), both)
    code, out, err = waivers(tmp_path, "update", "waivers.yaml", "--report", report)
    assert code == 0, err
    assert out.count("added - {clause: code/status") == 1
    text = (tmp_path / "waivers.yaml").read_text()
    entry = next(line for line in text.splitlines() if line not in FILE.splitlines())
    assert text.replace(f"{entry}\n", "") == FILE
    added = read_waivers(str(tmp_path / "waivers.yaml")).waivers[-1]
    assert all(added.covers(replace(other, operation=each)) for each in both.operations)
    assert not added.covers(STATUS)
    again = waivers(tmp_path, "update", "waivers.yaml", "--report", report)
    assert again == (0, "waivers.yaml is up to date\n", "")
    assert (tmp_path / "waivers.yaml").read_text() == text


def test_update_extends_nothing(tmp_path: Path) -> None:
    """An expired entry that is still needed is named, and stays as it is."""
    old = FILE.replace(str(FUTURE), "2020-01-01")
    (tmp_path / "waivers.yaml").write_text(old)
    report = written(tmp_path, ReportedFinding(STATUS, waived="the gateway"))
    code, out, _ = waivers(tmp_path, "update", "waivers.yaml", "--report", report)
    assert code == 1
    assert "expired on 2020-01-01; it is not extended" in out
    assert (tmp_path / "waivers.yaml").read_text() == old


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "- {{{}}}\n"),
        ("[]\n", "- {{{}}}\n"),
        ("waivers: []  # none\n", "waivers:  # none\n  - {{{}}}\n"),
        (
            "target: {http: http://h}\n",
            "target: {{http: http://h}}\nwaivers:\n  - {{{}}}\n",
        ),
    ],
)
def test_update_begins_a_list(text: str | None, expected: str, tmp_path: Path) -> None:
    """A missing file, an empty list and a conformance file without waivers get a list."""
    if text is not None:
        (tmp_path / "w.yaml").write_text(text)
    report = written(tmp_path, ReportedFinding(LEAK))
    code, _, err = waivers(tmp_path, "update", "w.yaml", "--report", report)
    assert code == 0, err
    entry = f"clause: leaks/sql, cause: {LEAK.fingerprint}"
    found = (tmp_path / "w.yaml").read_text().replace('"', "")
    head, _, tail = expected.replace("{{", "{").replace("}}", "}").partition("{}")
    assert found.startswith(f"{head}{entry}")
    assert found.endswith(tail)


def test_a_flaky_finding_gets_a_flaky_waiver(tmp_path: Path) -> None:
    """With `--flaky`, a flaky finding gets an entry that is never reported as unused."""
    report = written(tmp_path, ReportedFinding(LEAK, flaky=True))
    assert "up to date" in waivers(tmp_path, "update", "w.yaml", "--report", report)[1]
    assert waivers(tmp_path, "update", "w.yaml", "--report", report, "--flaky")[0] == 0
    (waiver,) = read_waivers(str(tmp_path / "w.yaml")).waivers
    assert waiver.flaky
    assert waiver.covers(LEAK)


def test_prune_removes_what_no_finding_matched(tmp_path: Path) -> None:
    """An unused entry of an exercised clause is removed; comments and the other entries stay."""
    (tmp_path / "waivers.yaml").write_text(FILE)
    report = written(tmp_path, waivers={KNOWN: 1, UNUSED: 0})
    code, out, err = waivers(tmp_path, "prune", "waivers.yaml", "--report", report)
    assert code == 0, err
    assert out.startswith("removed - {clause: leaks/sql")
    expected = [line for line in FILE.splitlines() if "leaks/sql" not in line]
    assert (tmp_path / "waivers.yaml").read_text().splitlines() == expected


def test_prune_may_empty_a_file(tmp_path: Path) -> None:
    """A file without entries is an empty list, which reads as such."""
    (tmp_path / "waivers.yaml").write_text(FILE)
    report = written(tmp_path, waivers={KNOWN: 0, UNUSED: 0})
    assert waivers(tmp_path, "prune", "waivers.yaml", "--report", report)[0] == 0
    assert "# the database\n# the end\n" in (tmp_path / "waivers.yaml").read_text()
    loaded = read_waivers(str(tmp_path / "waivers.yaml"))
    assert (loaded.waivers, loaded.diagnostics) == ((), ())


def test_prune_leaves_what_the_report_does_not_decide(tmp_path: Path) -> None:
    """Flaky entries, entries of other runs and of clauses without an occasion stay; a report of a
    part of the clauses is refused.
    """
    text = FILE.replace("reason: r,", "reason: r, flaky: true,")
    (tmp_path / "waivers.yaml").write_text(text)
    report = written(tmp_path, waivers={replace(UNUSED, flaky=True): 0})
    assert "up to date" in waivers(tmp_path, "prune", "waivers.yaml", "--report", report)[1]
    part = written(tmp_path, waivers={KNOWN: 0}, only="leaks/*")
    code, _, err = waivers(tmp_path, "prune", "waivers.yaml", "--report", part)
    assert code == 2
    assert "not the report of a complete run" in err
    assert (tmp_path / "waivers.yaml").read_text() == text


def test_a_list_in_flow_style_is_not_edited(tmp_path: Path) -> None:
    """A list that lines cannot edit is refused with the remedy, and stays."""
    text = f"[{{clause: leaks/sql, reason: r, owner: o, expires: {FUTURE}}}]\n"
    (tmp_path / "waivers.yaml").write_text(text)
    report = written(tmp_path, waivers={UNUSED: 0})
    code, _, err = waivers(tmp_path, "prune", "waivers.yaml", "--report", report)
    assert code == 2
    assert "write each waiver after a `- `" in err
    assert (tmp_path / "waivers.yaml").read_text() == text


def test_a_new_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interruption leaves neither a part of a new file nor a temporary one, and the old content
    of an existing file. The mode of a file stays.
    """
    path = tmp_path / "waivers.yaml"
    write_whole(path, b"one")
    path.chmod(0o640)
    write_whole(path, b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    for place in (path, tmp_path / "new.yaml"):
        with pytest.raises(KeyboardInterrupt):
            write_whole(place, b"three")
    assert path.read_bytes() == b"two"
    assert [each.name for each in tmp_path.iterdir()] == ["waivers.yaml"]
