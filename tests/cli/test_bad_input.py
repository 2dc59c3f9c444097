"""Every command answers any file with a diagnostic and the exit code of its help, without a
traceback.
"""

import os
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from faultspec import source
from faultspec.cli import COMMANDS, main
from faultspec.diagnostics import printers
from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.language import load, read
from faultspec.lint import check
from faultspec.openapi.text import parse_leniently
from faultspec_conformance import config
from faultspec_conformance.results import waivers
from paths import ROOT
from support.examples import examples

HEAD = "faultspec: 1\ntaxonomy: {name: shop, version: 1.0.0}\n"
SHAPE = "envelopes: {error: {shape: {code: $code, message: $message}}}\n"
SOUND = HEAD + SHAPE + "codes: {failed: {summary: It failed., http: 500}}\n"

#: Files that hold no taxonomy at all: what they are, and a phrase of the message.
UNREADABLE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n  \n\n", "the file is empty"),
    "comments": (b"# nothing yet\n", "only comments"),
    "document mark": (b"---\n", "only comments"),
    "syntax": (b"codes: [\n", "never closed"),
    "tab": (b"codes:\n\ta: 1\n", "a tab cannot indent"),
    "directive": (b"%YAML 1.2\n---\nfaultspec: 1\n", "YAML directives"),
    "deep": (b"codes: " + b"[" * 10_000, "nested more than"),
    "deep and closed": (b"codes: " + b"[" * 10_000 + b"]" * 10_000, "nested more than"),
    "zero byte": (SOUND.encode() + b"\0", "is zero"),
    "binary": (bytes(range(256)) * 8, "is zero"),
    "image": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is zero"),
    "UTF-16": (SOUND.encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": (SOUND.encode("utf-16-le"), "UTF-16"),
    "UTF-32": (SOUND.encode("utf-32"), "UTF-32"),
    "Latin-1": ("faultspec: 1 # für\n".encode("latin-1"), "0xFC"),
    "half a character": (b"a: \xed\xa0\x80\n", "is not valid UTF-8"),
    "control character": (b"a: \x1b[31m\n", "U+001B"),
    "invisible line end": ("a: b\u2028c\n".encode(), "U+2028"),
}

#: Files that are YAML and no sound taxonomy.
UNSOUND: dict[str, tuple[bytes, str]] = {
    "list": (b"- faultspec: 1\n", "must be a mapping, not a list"),
    "text": (b"faultspec\n", "must be a mapping, not text"),
    "number": (b"404\n", "must be a mapping, not a whole number"),
    "null": (b"~\n", "must be a mapping, not null"),
    "alias": (b"a: &x 1\nb: *x\n", "the alias `*x`"),
    "alias alone": (b"*x\n", "the alias `*x`"),
    "key of a list": (b"? [a, b]\n: 1\n", "cannot be a key"),
    "key of a number": (SOUND.encode() + b"404: x\n", "has no key `404`"),
    "two documents": (SOUND.encode() + b"---\n" + SOUND.encode(), "a second document"),
    "repeated key": (SOUND.encode() + b"codes: {}\n", "is here twice"),
    "large number": (b"faultspec: " + b"9" * 5000 + b"\n", "64 bits"),
    "laughs": (
        b"a: &a [x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in range(98, 123)
        ),
        "the alias `*a`",
    ),
}

#: Files that are sound, however odd.
ODD: dict[str, bytes] = {
    "byte order mark": b"\xef\xbb\xbf" + SOUND.encode(),
    "CRLF": SOUND.replace("\n", "\r\n").encode(),
    "CR": SOUND.replace("\n", "\r").encode(),
    "document marks": b"---\n" + SOUND.encode() + b"...\n",
    "no last line end": SOUND.rstrip("\n").encode(),
}


def faultspec(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the whole command line."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    assert "Traceback" not in out.getvalue() + err.getvalue()
    assert "internal-error" not in err.getvalue()
    return ended.value.code, out.getvalue(), err.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusals(path: str) -> Iterator[tuple[int, str]]:
    """Exit code and words of every command but lint that reads a taxonomy, given that one."""
    Path("conformance.yaml").write_text(
        f"taxonomy: {path}\ntarget: {{http: 'http://127.0.0.1:9', openapi: none}}\n"
    )
    Path("openapi.json").write_text('{"openapi": "3.1.0", "paths": {}}')
    for arguments in (
        ("compile", path),
        ("compile", path, "--check"),
        ("explain", "no-such-name", "--taxonomy", path),
        ("conform", "conformance.yaml"),
        ("conform", "http://127.0.0.1:9", "--taxonomy", path),
        ("init", "conformance", "draft.yaml", "--openapi", "openapi.json", "--taxonomy", path),
    ):
        code, out, err = faultspec(*arguments)
        assert out == "", arguments
        yield code, err if arguments[0] != "explain" else ""
    assert not Path("generated").exists()
    assert not Path("draft.yaml").exists()


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_file_that_cannot_be_read_is_2_everywhere(kind: str, folder: Path) -> None:
    """A file that is not YAML ends every command with 2 and one message, and nothing is
    written.
    """
    content, phrase = UNREADABLE[kind]
    Path("t.yaml").write_bytes(content)
    code, out, _ = faultspec("lint", "t.yaml")
    assert (code, phrase in out) == (2, True), out
    assert len(out) < 3_000
    for code, err in refusals("t.yaml"):
        assert code == 2
        assert phrase in err or not err


@pytest.mark.parametrize("kind", UNSOUND)
def test_a_taxonomy_with_errors_is_1_to_lint_and_2_to_all_others(kind: str, folder: Path) -> None:
    """Errors in a taxonomy exit with 1 in lint and with 2 in every other command."""
    content, phrase = UNSOUND[kind]
    Path("t.yaml").write_bytes(content)
    code, out, _ = faultspec("lint", "t.yaml")
    assert (code, phrase in out) == (1, True), out
    for code, err in refusals("t.yaml"):
        assert code == 2
        assert phrase in err or not err


@pytest.mark.parametrize("kind", ODD)
def test_odd_files_are_read(kind: str, folder: Path) -> None:
    """Line ends, a byte order mark and document marks are accepted."""
    Path("t.yaml").write_bytes(ODD[kind])
    assert faultspec("lint", "t.yaml")[0] == 0
    assert faultspec("compile", "t.yaml", "--out", "out")[0] == 0
    assert faultspec("compile", "t.yaml", "--out", "out", "--check")[0] == 0
    assert faultspec("explain", "failed", "--taxonomy", "t.yaml")[0] == 0
    assert faultspec("explain", "nothing-such", "--taxonomy", "t.yaml")[0] == 1


def test_a_path_without_a_file_is_2_everywhere(folder: Path) -> None:
    """A directory, a pipe, a device, a file of 100 MB and one that is not there: refused before
    anything is read.
    """
    os.mkfifo("pipe")
    Path("folder").mkdir()
    with Path("large.yaml").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    Path("circle").symlink_to("circle")
    for path in (
        "pipe",
        "folder",
        "large.yaml",
        "/dev/zero",
        "absent.yaml",
        "absent/t.yaml",
        "circle",
        "a" * 5000,
    ):
        assert faultspec("lint", path)[0] == 2, path
        assert {code for code, _ in refusals(path)} == {2}, path
        for name in (path, "conformance.yaml"):
            Path("conformance.yaml").write_text(
                f"target: {{http: 'http://127.0.0.1:9'}}\nwaivers: {path}\n"
            )
            assert faultspec("conform", name, "--taxonomy", str(ROOT / "taxonomy.yaml"))[0] == 2, (
                path
            )


@pytest.mark.skipif(os.geteuid() == 0, reason="a superuser may read everything")
def test_a_file_without_leave_is_2_everywhere(folder: Path) -> None:
    """A file that may not be read is refused with the system's reason."""
    Path("t.yaml").write_text(SOUND)
    Path("t.yaml").chmod(0)
    code, out, _ = faultspec("lint", "t.yaml")
    assert (code, "Permission denied" in out) == (2, True)
    assert {code for code, _ in refusals("t.yaml")} == {2}


def test_every_command_says_its_exit_codes() -> None:
    """The one habit of exit codes stands in the help of the whole; bad usage is 2 in every
    command.
    """
    assert "0 clean, 1 findings, 2 could not run" in " ".join(faultspec("--help")[1].split())
    for name in COMMANDS:
        assert faultspec(name, "--no-such-option")[0] == 2
        if name in ("lint", "compile", "explain", "conform"):
            assert "Exit codes: 0 " in faultspec(name, "--help")[1]


# Real files, broken

TAXONOMIES = [ROOT / "taxonomy.yaml", *sorted(ROOT.glob("examples/*/taxonomy.yaml"))]
CONFIGURATIONS = [
    ROOT / "examples" / "kinto" / "conformance.yaml",
    ROOT / "tests" / "miniatures" / "notebooks.yaml",
    ROOT / "conformance" / "faultspec_conformance" / "orders" / "conformance.yaml",
]
WAIVERS = [ROOT / "examples" / "kinto" / "waivers.yaml"]

GARBAGE = [
    *(
        "",
        "~",
        "[]",
        "{}",
        "true",
        "0",
        "-1",
        "1.5",
        "99999999999999999999",
        "1e999",
        "NO",
        "012",
        "1:30",
        "2026-02-30",
    ),
    *(
        "''",
        '" "',
        "*none",
        "&a b",
        "!!int x",
        "<<",
        "[1, [2, {a: b}]]",
        "{a: {b: c}}",
        "$code",
        '"${x}"',
        "$",
        "...",
        "4xx",
    ),
    *(
        "600",
        "599-500",
        "-5s",
        "P1Y",
        "(",
        "(a+)+$",
        "no/such/clause",
        "GET",
        "GET /a",
        "FOO /x",
        "text/html",
        "/a/~2",
    ),
    *(
        '"\\ud800"',
        "'a: b'",
        "|\n text",
        "[",
        "}",
        "@",
        "\t",
        "\x00",
        "\u2028",
        "é🎉",
        "[a, a]",
        "{? [a] : b}",
        "a: b: c",
    ),
]


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values but the outermost."""
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for step, each in items:
        yield (*path, step)
        yield from places(each, (*path, step))


class Real:
    """A file of this repository, its text and its places."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        document, found = source.parse(self.text, str(path))
        assert document is not None
        assert found == []
        self.document = document
        self.places = list(places(document.data))
        self.starts = [0, *(each.end() for each in re.finditer("\n", self.text))]

    def cut(self, span: Span) -> tuple[int, int]:
        """A span as indices into the text."""
        return (
            self.starts[span.line - 1] + span.column - 1,
            self.starts[span.end_line - 1] + span.end_column - 1,
        )


@st.composite
def broken(draw: st.DrawFn, files: list[Real]) -> str:
    """A real file with one to three edits of its structure; later edits are made where the first
    ones left the places.
    """
    real = draw(st.sampled_from(files))
    edits: list[tuple[int, int, str]] = []
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(real.places))
        key = real.cut(real.document.span(path))
        value = real.cut(real.document.span(path, key=False))
        line = real.document.span(path).line
        whole = (real.starts[line - 1], real.starts[line])
        match draw(
            st.sampled_from(
                ["drop", "line", "rename", "value", "insert", "double", "swap", "indent"]
            )
        ):
            case "drop":
                edits.append((key[0], max(key[1], value[1]), ""))
            case "line":
                edits.append((*whole, ""))
            case "rename":
                edits.append(
                    (
                        *key,
                        draw(
                            st.sampled_from(
                                ["x", "codes", "nmae", "404", "[a]", "*a", "é", "a b", "<<"]
                            )
                        ),
                    )
                )
            case "value":
                edits.append((*value, draw(st.sampled_from(GARBAGE) | st.text(max_size=6))))
            case "insert":
                edits.append((whole[0], whole[0], draw(st.sampled_from(GARBAGE)) + "\n"))
            case "double":
                edits.append((whole[1], whole[1], real.text[slice(*whole)]))
            case "swap":
                other = real.cut(real.document.span(draw(st.sampled_from(real.places)), key=False))
                edits.append((*value, real.text[slice(*other)]))
                edits.append((*other, real.text[slice(*value)]))
            case "indent":
                edits.append((whole[0], whole[0], " " * draw(st.integers(1, 4))))
    text = real.text
    for start, end, instead in sorted(edits, reverse=True):
        text = text[:start] + instead + text[end:]
    return text


def check_places(found: list[Diagnostic], text: str, name: str) -> None:
    """Every diagnostic points into the file, in order, and can be printed in every style."""
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    for each in found:
        for span in (each.span, *(other.span for other in each.related)):
            assert span is not None, each
            assert (1, 1) <= (span.line, span.column) <= (span.end_line, span.end_column), each
            assert span.end_line <= len(lines), each
            assert span.column <= len(lines[span.line - 1]) + 1, each
        assert each.message, each
        assert each.hint, each
    for printer in printers.PRINTERS.values():
        assert isinstance(printer(found, {name: text}), str)


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
FAST = examples(100, suppress_health_check=SLOW)
REAL_TAXONOMIES, REAL_CONFIGURATIONS = (
    [Real(each) for each in TAXONOMIES],
    [Real(each) for each in CONFIGURATIONS],
)
REAL_WAIVERS = [Real(each) for each in WAIVERS]
_LOADED = load(str(ROOT / "taxonomy.yaml")).taxonomy
assert _LOADED is not None
FLAGSHIP = _LOADED
ENVIRONMENT = {
    "ALICE_AUTH": "a",
    "BOB_AUTH": "b",
    "KINTO_URL": "http://127.0.0.1:8888",
    "BASE_URL": "http://[::1",
}


@FAST
@given(broken(REAL_TAXONOMIES))
def test_no_edit_of_a_real_taxonomy_gives_a_traceback(text: str) -> None:
    """A real taxonomy with dropped, renamed, doubled or swapped parts is accepted or explained
    in place.
    """
    loaded = read(text, "t.yaml")
    found = list(check(loaded))
    assert (loaded.taxonomy is None) == any(each.severity == "error" for each in loaded.diagnostics)
    check_places(found, text, "t.yaml")


@FAST
@given(broken(REAL_CONFIGURATIONS))
def test_no_edit_of_a_real_configuration_gives_a_traceback(text: str) -> None:
    """Configurations with such changes are accepted or explained too, with their taxonomy and
    waivers.
    """
    document, before = source.parse(text, "conformance.yaml")
    if document is None:
        check_places(before, text, "conformance.yaml")
        return
    loaded = config.parse_config(document, ENVIRONMENT, before)
    assert loaded.draft is not None
    found = [*loaded.diagnostics, *config.check_config(loaded.draft, FLAGSHIP, document)]
    check_places(found, text, "conformance.yaml")
    if loaded.target is not None:
        assert not before


@FAST
@given(broken(REAL_WAIVERS))
def test_no_edit_of_real_waivers_gives_a_traceback(text: str) -> None:
    """The same for waivers."""
    document, before = source.parse(text, "waivers.yaml")
    if document is None:
        check_places(before, text, "waivers.yaml")
        return
    known, found = waivers.parse_waivers(document, document.data, ())
    loaded = waivers.LoadedWaivers(known, found, document, document.data)
    check_places([*before, *found, *waivers.check_waivers(loaded, FLAGSHIP)], text, "waivers.yaml")


@examples(200, suppress_health_check=SLOW)
@given(broken(REAL_TAXONOMIES[1:]))
def test_the_command_line_survives_broken_files(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    """Through the command line: 0, 1 or 2, the diagnostics on the stream that the command promises,
    and no traceback.
    """
    path = tmp_path_factory.mktemp("broken") / "t.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    code, out, err = faultspec("lint", str(path))
    assert code in (0, 1, 2)
    assert bool(out) or code == 0
    assert "1 taxonomy: " in err
    compiled, out, err = faultspec("compile", str(path), "--out", str(path.parent / "out"))
    assert (compiled, out) == (0 if code == 0 else compiled, "")
    assert (compiled == 2) == (not (path.parent / "out").exists())
    assert err


def test_every_part_of_an_openapi_document_is_reported() -> None:
    """Aliases in the OpenAPI document of a service are refused, and unreadable values are left
    out.
    """
    data, problem = parse_leniently(
        "openapi: 3.1.0\npaths: {}\nx: {max: 99999999999999999999, list: [1, !!int 2]}\n"
    )
    assert (data, problem) == ({"openapi": "3.1.0", "paths": {}, "x": {"list": [1]}}, "")
    assert parse_leniently("openapi: &v 3.1.0\npaths: {}\nx: *v\n") == (
        None,
        "the alias `*v` is not allowed",
    )
