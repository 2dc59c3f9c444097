"""YAML text becomes data and places, or diagnostics."""

import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.source import (
    CODES,
    MAX_BYTES,
    MAX_DEPTH,
    UNREADABLE,
    Document,
    SourceError,
    decode,
    load_document,
    parse,
)
from faultspec.source.readers import READER, PureReader
from faultspec.source.tree import parse_with

READERS = pytest.mark.parametrize(
    "reader", sorted({READER, PureReader}, key=lambda each: each.__name__)
)


def clean(text: str) -> Document:
    """The document of a text without mistakes."""
    document, found = parse(text, "t.yaml")
    assert found == []
    assert document is not None
    return document


def places(text: str) -> list[tuple[str, int, int]]:
    """Code, line and column of every mistake in a text."""
    return [
        (each.code, each.span.line, each.span.column)
        for each in parse(text, "t.yaml")[1]
        if each.span
    ]


def cut(text: str, span: Span) -> str:
    """The text at a span."""
    lines = re.split(r"\r\n|\r|\n", text)[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    return "\n".join([lines[0][span.column - 1 :], *lines[1:]])


# What a scalar is


@READERS
@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("12", 12),
        ("-7", -7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0.5", 0.5),
        ("-1.25e-3", -0.00125),
        ("1e3", 1000.0),
        ("5e-324", 5e-324),
        # Each of these is something else to YAML 1.1, to YAML 1.2, or to a careless reader.
        *(
            (text, text)
            for text in [
                "Null",
                "NULL",
                "True",
                "TRUE",
                "FALSE",
                "yes",
                "no",
                "NO",
                "on",
                "off",
                "Y",
                "n",
                "012",
                "0o14",
                "0x1F",
                "0b1",
                "+1",
                "4_29",
                "1_000.5",
                "1:30",
                "190:20:30",
                ".5",
                "1.",
                ".inf",
                "-.inf",
                ".nan",
                ".NaN",
                "2026-04-29",
                "2026-04-29T10:00:00Z",
                "1.2.3",
                "1e",
                "0x",
                "00",
                "-01",
                "=",
                "<<",
                "1٣",
            ]
        ),
        ("'12'", "12"),
        ('"true"', "true"),
        ('"\\u00e9"', "é"),
        ("2026-04-29 10:00:00", "2026-04-29 10:00:00"),
    ],
)
def test_scalars(reader: Any, written: str, value: object) -> None:
    """A plain scalar is null, true, false or a number exactly if it is in JSON; otherwise it is
    text.
    """
    document, found = parse_with(f"a: {written}\nb: {{c: {written}}}\n", "t.yaml", reader)
    assert found == []
    assert document is not None
    for read in (document.data["a"], document.data["b"]["c"]):
        assert read == value
        assert type(read) is type(value)


@READERS
def test_keys_are_text(reader: Any) -> None:
    """A mapping key is always the text as written."""
    document, found = parse_with(
        "404: a\nNO: b\ntrue: c\n~: d\n<<: e\n1.0: f\n'x y': g\n", "t.yaml", reader
    )
    assert found == []
    assert document is not None
    assert document.data == {
        "404": "a",
        "NO": "b",
        "true": "c",
        "~": "d",
        "<<": "e",
        "1.0": "f",
        "x y": "g",
    }


@pytest.mark.parametrize(
    "number", ["1" * 5000, "9223372036854775808", "-9223372036854775809", "1e999", "-1e999"]
)
def test_numbers_end(number: str) -> None:
    """A number beyond 64 bits is reported at its place; it neither raises nor becomes infinite."""
    assert places(f"a:\n  b: {number}\n") == [("number-out-of-range", 2, 6)]


# The same as anyone else's reading, where the dialects agree

#: No control characters, surrogates, or the line ends that only YAML 1.1 knows: those are refused,
#: see below.
_texts = st.text(
    st.characters(
        exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff\u2028\u2029\ufffe\uffff"
    )
)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts
)
_data = st.recursive(
    _scalars,
    lambda each: st.lists(each, max_size=4) | st.dictionaries(_texts, each, max_size=4),
    max_leaves=12,
)


@given(_data)
def test_json_is_read_as_json(data: Any) -> None:
    """JSON without raw control characters gives the data that `json` gives."""
    text = json.dumps({"root": data}, ensure_ascii=False)
    assert json.loads(text) == clean(text).data


def _same_in_both(text: str) -> bool:
    # YAML 1.1 wants a dot and a signed exponent in a float, so that PyYAML writes this text without
    # quotes.
    return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?[eE][0-9]+|-?[0-9]+[eE][-+][0-9]+", text) is None


def _all_strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for each in data:
            yield from _all_strings(each)
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _all_strings(value)


@given(_data.filter(lambda data: all(map(_same_in_both, _all_strings(data)))), st.booleans())
def test_what_pyyaml_writes_is_read_alike(data: Any, flow: bool) -> None:
    """safe_load and parse agree on the output of safe_dump; every span is exact."""
    text = yaml.safe_dump(
        {"root": data}, allow_unicode=True, default_flow_style=flow, sort_keys=False, width=10_000
    )
    if re.search(r"^ *[-?:]* *[&*]id", text, re.MULTILINE) or "? " in text:
        return  # an anchor for a value that hypothesis gave twice; a key too long for one line
    document = clean(text)
    assert yaml.safe_load(text) == document.data
    _check_spans(document, document.data, ())


def _check_spans(document: Document, data: Any, path: tuple[str | int, ...]) -> None:
    if isinstance(data, dict):
        for key, value in data.items():
            written = cut(document.text, document.span((*path, key)))
            assert yaml.safe_load(f"? {written}\n").popitem()[0] in (key, None) or written == key
            _check_spans(document, value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            _check_spans(document, value, (*path, index))
    else:
        written = cut(document.text, document.span(path, key=False))
        assert data == clean(f"v: {written}\n").data["v"] or "\n" in written


# No text whatever


def _check_total(text: str, reader: Any) -> tuple[Document | None, list[Diagnostic]]:
    document, found = parse_with(text, "t.yaml", reader)
    assert document is not None or found
    lines = re.split(r"\r\n|\r|\n", text)
    for each in found:
        assert each.code in CODES
        assert each.path == "t.yaml"
        for span in (each.span, *(other.span for other in each.related)):
            assert span is not None
            assert (1, 1) <= (span.line, span.column) <= (span.end_line, span.end_column)
            assert span.end_line <= len(lines)
            assert span.column <= len(lines[span.line - 1]) + 1
            # The line end belongs to its line: an error may lie on it.
            assert span.end_column <= len(lines[span.end_line - 1]) + 2
    if document is not None:
        _check_places_inside(document, document.data, (), lines)
    return document, found


def _check_places_inside(
    document: Document, data: Any, path: tuple[str | int, ...], lines: list[str]
) -> None:
    for key in (True, False):
        span = document.span(path, key=key)
        assert (1, 1) <= (span.line, span.column) <= (span.end_line, span.end_column)
        assert span.end_line <= len(lines)
    children = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for step, value in children:
        _check_places_inside(document, value, (*path, step), lines)


@READERS
@given(text=st.text(max_size=60))
def test_any_text(reader: Any, text: str) -> None:
    """Any text gives a document or diagnostics with known codes and spans inside the text."""
    _check_total(text, reader)


#: Pieces that mean something to YAML, so that texts made of them reach far into the parser.
_PIECES = (  # noqa: SIM905 - as a list it would be forty lines
    "a,b: ,- ,\n,\n  ,\n    ,[,],{,},: ,? ,',\",#, # c,|\n,> \n,|-\n,|2\n,&x ,*x,!!str ,! ,!f ,!<t> ,%,@,`,~,null,1,-1,1.5,"
    "0x1,\r\n,\r,---\n,...\n,<<,é,日,🎉,\\,\\n,\\x41,\\u00e9,\\ud800,\\UFFFFFFFF,\"x\",'y',key: v\n,- i\n,a: b,-,?,:,--- ,"
    "...,%YAML 1.1\n, ,  ,a:\n,{a: b},x: |\n  t\n"
).split(",")
_yamlish = st.lists(
    st.sampled_from([*_PIECES, ", ", ",", "[a, b]", "\t", "\ufeff", "\x00", "\x85", "\u2028"])
).map("".join)


@READERS
@given(text=_yamlish)
def test_any_yamlish_text(reader: Any, text: str) -> None:
    """The law of any text, for texts of YAML fragments."""
    _check_total(text, reader)


@given(st.lists(st.sampled_from([*_PIECES, ", ", "[a, b]"])).map("".join))
def test_both_parsers_read_alike(text: str) -> None:
    """With and without libyaml, a text has the same data and places, or mistakes.

    The exception is a tab between two tokens, which only libyaml accepts.
    """
    fast, fast_found = parse_with(text, "t.yaml", READER)
    pure, pure_found = parse_with(text, "t.yaml", PureReader)
    assert bool(fast_found) == bool(pure_found)
    if fast is None or pure is None or fast_found:
        return
    assert fast == pure

    def compare(data: Any, path: tuple[str | int, ...]) -> None:
        assert fast.span(path) == pure.span(path)
        if data is not None:  # where nothing is written, the two place it before or after a space
            if not isinstance(data, dict | list):
                assert fast.span(path, key=False) == pure.span(path, key=False)
            for step in (
                data
                if isinstance(data, dict)
                else range(len(data))
                if isinstance(data, list)
                else ()
            ):
                compare(data[step], (*path, step))

    if isinstance(fast.data, dict):
        for key in fast.data:
            compare(fast.data[key], (key,))


def test_pure_parser_stands_in() -> None:
    """Without libyaml, PyYAML's own parser is used."""
    program = (
        "import yaml; yaml.__with_libyaml__ = False\n"
        "from faultspec.source import parse, readers\n"
        "assert readers.READER is readers.PureReader\n"
        "print(parse('a: [1, NO]', 't')[0].data)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "{'a': [1, 'NO']}\n"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "{a: " * 100_000,
        "".join(" " * indent + "a:\n" for indent in range(1000)),
        "\r\n" * 100_000 + "x: [",
        "a: " + " " * 300_000 + "@",
        "a" + " " * 300_000 + "b: c: d\n",
        "a" * 300_000 + ":x\nb: 1\n",
        "a: x\n" * 20_000,
        "a: &x 1\n" + "b: *x\n" * 20_000,
        "\x01" * 100_000,
        "'" * 99_999,
        "a: [x]\na0: &a0 [x]\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 40)),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts(text: str) -> None:
    """Repetitive texts take proportional time, no deep recursion, and bounded output."""
    _, found = parse(text, "t.yaml")
    assert 1 <= len(found) <= 2001


def test_depth_is_bounded_on_both_sides() -> None:
    """MAX_DEPTH levels are read; one more is an error where the last allowed level begins."""
    assert clean("[" * (MAX_DEPTH - 1) + "1" + "]" * (MAX_DEPTH - 1)).data
    assert places("a: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH) == [
        ("nested-too-deeply", 1, MAX_DEPTH + 2)
    ]


# What is YAML, and refused


@READERS
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a: 1\na: 2\nb:\n  c: 1\n  c: 2\n  c: 3\n",
            [("duplicate-key", 2, 1), ("duplicate-key", 5, 3), ("duplicate-key", 6, 3)],
        ),
        ("404: 1\n'404': 2\n", [("duplicate-key", 2, 1)]),
        ("a: &x 1\nb: *x\nc: *x\n", [("yaml-alias", 2, 4), ("yaml-alias", 3, 4)]),
        ("a: &x 1\n", [("yaml-alias", 1, 4)]),
        ("a: &x 1\nb: &x 2\n", [("yaml-alias", 1, 4), ("yaml-alias", 2, 4)]),
        ("&k a: 1\n", [("yaml-alias", 1, 1)]),
        ("a: *nowhere\n", [("yaml-alias", 1, 4)]),
        ("a: &x [*x]\n", [("yaml-alias", 1, 8)]),
        (
            "a: !!python/object:os.system x\nb: !foo [1]\nc: !!str 12\nd: ! 3\ne: !<x> 'y'\n",
            [("yaml-tag", n, 4) for n in range(1, 6)],
        ),
        (
            "- &a !!str x\n- !!str &b y\n",
            [("yaml-alias", 1, 3), ("yaml-tag", 1, 6), ("yaml-tag", 2, 3), ("yaml-alias", 2, 9)],
        ),
        ("? [1, 2]\n: x\n{a: 1}: y\nb: 2\n", [("yaml-key", 1, 3), ("yaml-key", 3, 1)]),
        ("{b: !x 1}: !y 2\n", [("yaml-key", 1, 1), ("yaml-tag", 1, 5), ("yaml-tag", 1, 12)]),
        ("a: 1\n---\nb: 2\n", [("yaml-documents", 2, 1)]),
        ("%YAML 1.2\n---\na: 1\n", [("yaml-directive", 1, 1)]),
        ("# c\n\n%TAG ! x\n--- 1\n", [("yaml-directive", 3, 1)]),
        ("a: \x1b[31m\nb: \x00\n", [("yaml-character", 1, 4), ("yaml-character", 2, 4)]),
        ("a: 1\u2028b: 2\x85c: \ufeff\n", [("yaml-character", 1, n) for n in (5, 10, 14)]),
        ("a: \ud800\n", [("yaml-character", 1, 4)]),
        ("", [("empty-document", 1, 1)]),
        (" \n\n", [("empty-document", 1, 1)]),
        ("# only this\n", [("empty-document", 1, 1)]),
        ("---\n# nothing\n", [("empty-document", 1, 1)]),
    ],
)
def test_refused(reader: Any, text: str, expected: list[tuple[str, int, int]]) -> None:
    """Both parsers report every forbidden construct of a text in one run, each at its place."""
    _, found = parse_with(text, "t.yaml", reader)
    assert sorted(
        (each.code, each.span.line, each.span.column) for each in found if each.span
    ) == sorted(expected)


def test_duplicates_show_both_places() -> None:
    """A repeated key refers to the first, whose value is kept, and has a pointer."""
    document, found = parse("a:\n  b: 1\n  c: x\n  b: 2\n", "t.yaml")
    assert document is not None
    assert document.data == {"a": {"b": 1, "c": "x"}}
    assert found[0].span == Span(4, 3, 4, 4)
    assert found[0].related[0].span == Span(2, 3, 2, 4)
    assert found[0].pointer == ("a", "b")


def test_tagged_values_other_than_text_are_missing() -> None:
    """Tagged plain values are unreadable, except with `!!str` and `!`; collections are kept."""
    document, _ = parse("a: !!str 5\nb: ! 6\nc: !!int '7'\nd: !x {e: 1}\nf: !y\n", "t.yaml")
    assert document is not None
    assert document.data == {"a": "5", "b": 6, "c": UNREADABLE, "d": {"e": 1}, "f": UNREADABLE}


def test_mistakes_before_a_syntax_error_are_reported_with_it() -> None:
    """Tags and aliases before a syntax error are reported with it."""
    assert places("a: &x 1\nb: *x\nc: !!str 1\nd: [\n") == [
        ("yaml-alias", 2, 4),
        ("yaml-tag", 3, 4),
        ("yaml-syntax", 4, 4),
    ]


def test_every_value_of_a_repeated_key_is_read() -> None:
    """A document with a repeated key has one variant for each value, with data and places."""
    document, found = parse("a: {x: 1, x: 2}\nb: 3\na: {y: 4}\na: 5\n", "t.yaml")
    assert [each.code for each in found] == ["duplicate-key"] * 3
    assert document is not None
    assert document.data == {"a": {"x": 1}, "b": 3}
    assert [each.data for each in document.others] == [{"a": {"y": 4}, "b": 3}, {"a": 5, "b": 3}]
    assert document.span(("a",)).line == 1
    assert [each.span(("a",), key=False).line for each in document.others] == [3, 4]
    many, _ = parse("a: 1\n" * 5_000, "t.yaml")
    assert many is not None
    assert len(many.others) < 10


def test_alias_shows_its_anchor() -> None:
    """An alias refers to its anchor; its data is unreadable, because it could be endless."""
    document, found = parse("a: &x 1\nb: *x\nc: [*x, 2]\n<<: *x\n*x : 3\n<<: 4\n", "t.yaml")
    assert document is not None
    assert document.data == {
        "a": 1,
        "b": UNREADABLE,
        "c": [UNREADABLE, 2],
        UNREADABLE: UNREADABLE,
        "<<": 4,
    }
    assert found[0].span == Span(2, 4, 2, 6)
    assert found[0].related[0].span == Span(1, 4, 1, 6)


# Places


DOCUMENT = """\
# a comment
codes:
  rate_limited:   # about it
    http: 429
    when: {if: x, 'then': [1, 2]}
    text: |
      one
      two

  # the next
  "not found":
    - a: 1
      b: 2
    - plain
    - [x, y]
    - - deep
empty:
"""


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (("codes",), "codes", None),
        (("codes", "rate_limited"), "rate_limited", None),
        (("codes", "rate_limited", "http"), "http", "429"),
        (("codes", "rate_limited", "when"), "when", "{if: x, 'then': [1, 2]}"),
        (("codes", "rate_limited", "when", "then"), "'then'", "[1, 2]"),
        (("codes", "rate_limited", "when", "then", 1), "2", "2"),
        (("codes", "rate_limited", "text"), "text", "|\n      one\n      two"),
        (("codes", "not found"), '"not found"', None),
        (("codes", "not found", 0), "a", "a: 1\n      b: 2"),
        (("codes", "not found", 0, "b"), "b", "2"),
        (("codes", "not found", 1), "plain", "plain"),
        (("codes", "not found", 2), "[x, y]", "[x, y]"),
        (("codes", "not found", 3), "deep", "- deep"),
        (("empty",), "empty", ""),
        # What is not there is placed at the nearest that is.
        (("codes", "rate_limited", "boundary"), "rate_limited", "rate_limited"),
        (("codes", "rate_limited", "http", "x", 3), "http", "http"),
        (("codes", "not found", 9), '"not found"', '"not found"'),
        (("codes", "not found", 0, "z"), "a", "a"),
        (("codes", 0), "codes", "codes"),
        (("nothing",), "codes", "codes"),
        ((), "codes", None),
    ],
)
def test_spans(path: tuple[str | int, ...], key: str, value: str | None) -> None:
    """The span of a key is the key; that of a value is the value without what follows."""
    document = clean(DOCUMENT)
    assert cut(document.text, document.span(path)) == key
    written = cut(document.text, document.span(path, key=False))
    if value is not None:
        assert written == value
    else:
        assert document.text.index(written) < document.text.index("empty:")
        assert not written.endswith(("\n", "# the next"))


def test_diagnostics_from_a_document() -> None:
    """A document fills in file, span and pointer of its diagnostics."""
    document = clean(DOCUMENT)
    path = ("codes", "rate_limited", "http")
    made = document.diagnostic(
        "x",
        "no",
        path,
        key=False,
        severity="warning",
        related=(document.related_place("here", ("codes",)),),
    )
    assert made.path == "t.yaml"
    assert made.span == Span(4, 11, 4, 14)
    assert made.pointer == path
    assert made.severity == "warning"
    assert made.related[0].span == Span(2, 1, 2, 6)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    """Lines and columns do not depend on the line ends; columns count characters."""
    document = clean(f"é🎉: 1{end}a:{end}  日本: [x, 🎉y]{end}")
    assert document.span(("a", "日本", 1)) == Span(3, 11, 3, 13)
    assert document.span(("é🎉",), key=False) == Span(1, 5, 1, 6)


# Files


def refusal(path: str | os.PathLike[str]) -> Diagnostic:
    """The only reason why a file cannot be loaded."""
    with pytest.raises(SourceError) as caught:
        load_document(path)
    (found,) = caught.value.diagnostics
    assert found.path == os.fspath(path)
    assert found.code in CODES
    assert found.hint or found.code == "file-unreadable"
    assert found.message in str(caught.value)
    return found


def test_load(tmp_path: Path) -> None:
    """A file keeps the name that the user gave it; a byte order mark does not count as a column."""
    path = tmp_path / "t.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\nb: 1\r\n")
    document = load_document(path)
    assert (document.path, document.data) == (str(path), {"a": "é", "b": 1})
    assert document.span(("a",)) == Span(1, 1, 1, 2)


def test_load_with_findings(tmp_path: Path) -> None:
    """A readable document comes with its diagnostics, so that callers can report other mistakes."""
    path = tmp_path / "t.yaml"
    path.write_text("a: 1\na: 2\n")
    with pytest.raises(SourceError) as caught:
        load_document(path)
    assert [each.code for each in caught.value.diagnostics] == ["duplicate-key"]
    assert caught.value.document is not None
    assert caught.value.document.data == {"a": 1}


def test_paths_that_are_not_files(tmp_path: Path) -> None:
    """A path that is not a regular file is an error, without waiting for it."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert refusal(tmp_path / "missing.yaml").code == "file-not-found"
    assert refusal(tmp_path / "dangling").code == "file-not-found"
    assert refusal("").code == "file-not-found"
    assert "directory" in refusal(tmp_path).message
    assert refusal(tmp_path / "fifo").code == "not-a-file"
    assert refusal("/dev/zero").code == "not-a-file"
    assert refusal("a\0b").code == "file-unreadable"
    assert refusal("x" * 5000).code == "file-unreadable"
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "below").code == "file-unreadable"


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without read permission is an error, with the system's reason."""
    path = tmp_path / "t.yaml"
    path.write_text("a: 1\n")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    # Not by chmod, which does not bind a superuser.
    monkeypatch.setattr("builtins.open", denied)
    found = refusal(path)
    monkeypatch.undo()
    assert (found.code, found.message) == (
        "file-unreadable",
        "the file cannot be read: Permission denied",
    )


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file above the limit is an error by its size alone; one at the limit is opened."""
    large, limit = tmp_path / "large.yaml", tmp_path / "limit.yaml"
    for path, size in ((large, 100 * 1024 * 1024), (limit, MAX_BYTES)):
        with path.open("wb") as file:
            file.truncate(size)
    assert refusal(limit).code == "not-utf-8"
    monkeypatch.setattr("builtins.open", lambda *_, **__: pytest.fail("opened"))
    found = refusal(large)
    monkeypatch.undo()
    assert found.code == "file-too-large"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a: é\n".encode("utf-16"), "UTF-16"),
        ("a: é\n".encode("utf-16-be"), "UTF-16 (big-endian"),
        ("a: é\n".encode("utf-16-le"), "UTF-16 (little-endian"),
        (b"\xfe\xff" + "a: é\n".encode("utf-16-be"), "UTF-16"),
        ("a: é\n".encode("utf-32"), "UTF-32"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not text: byte 8 is zero"),
        (b"a: 1\n\x00", "not text: byte 5 is zero"),
    ],
)
def test_not_text(content: bytes, expected: str) -> None:
    """An encoding other than UTF-8 is named; a binary file is reported as such."""
    text, (found,) = decode(content, "t.yaml")
    assert text is None
    assert found.code == "not-utf-8"
    assert expected in found.message


def test_invalid_utf8_is_located() -> None:
    """The first invalid byte is reported at its line and column, with its meaning in Latin-1."""
    text, (found,) = decode("é: 1\r\nb: caf".encode() + b"\xe9\n", "t.yaml")
    assert text is None
    assert found.span == Span(2, 7, 2, 7)
    assert "0xE9" in found.message
    assert "'é'" in (found.hint or "")


@given(st.binary(max_size=40))
def test_any_bytes(content: bytes) -> None:
    """Any bytes give a text or one diagnostic."""
    text, found = decode(content, "t.yaml")
    assert (text is None) == (len(found) == 1)


# The collector


@pytest.mark.parametrize("text", ["a: 1\n", "a: [", "a: 1\na: 2\n"])
@pytest.mark.parametrize("switch", [gc.enable, gc.disable])
def test_collector_is_left_as_it_was(text: str, switch: Callable[[], None]) -> None:
    """The cyclic collector is off during a parse, and restored afterwards, even after an error."""
    was_enabled = gc.isenabled()
    try:
        switch()
        before = gc.isenabled()
        parse(text, "t.yaml")
        assert gc.isenabled() == before
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_collector_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cyclic collector is off during a parse."""
    enabled: list[bool] = []
    monkeypatch.setattr(
        "faultspec.source.tree.READER", lambda text: enabled.append(gc.isenabled()) or READER(text)
    )
    clean("a: 1\n")
    assert enabled == [False]
