"""Laws of `lint --fix`: what is certain is repaired where it stands, and not a byte else; what has two answers stays."""

import os
import stat
from collections import Counter
from pathlib import Path

import click.testing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.cli.lint import command as lint_command
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import read
from faultspec.lint import check
from faultspec.lint.fixing import edited, fix_text
from support.examples import examples

SOUND = """\
# A comment that stays.
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, owner: '12.5'}   # and one behind
detail_keys:
  field:   {type: string, everywhere: true}
envelopes:
  error: {shape: {code: $code, message: $message, details?: $details}}
headers:
  Retry-After: {on: [429, 503], presence: required}
  Cache-Control: {on: [4xx, 5xx], token: no-store}
fallback:
  4xx: {code: limited, reason: Whatever else.}
  5xx: {code: failed, reason: Whatever else.}
codes:
  limited:
    summary: Too many requests.
    http: 429
    example: {message: Wait., headers: {Retry-After: "8"}}
  failed:
    summary: 'It failed: who knows why.'
    http:
      - 500
      - 503
    client_action: "user"
    source: [S1, S2]
    example: {message: It failed.}
"""

#: What stands in the sound text; the mistake instead, which has one answer; and the code of what is said of it.
CERTAIN: tuple[tuple[str, str, str], ...] = (
    ("everywhere: true", "everywere: true", "unknown-key"),
    ("    summary: Too", "    sumary: Too", "unknown-key"),
    ("envelopes:\n", "envelope:\n", "unknown-key"),
    ("token: no-store", "'tokn': no-store", "unknown-key"),
    ("presence: required", "presence: requird", "bad-value"),
    ('client_action: "user"', 'client_action: "usr"', "bad-value"),
    ("      - 503\n", "      - 503\n      - 500\n", "duplicate-item"),
    ("[429, 503]", "[429, 503 , 429]", "duplicate-item"),
    ("[S1, S2]", "[S1,\n      S2,\n      S1]", "duplicate-item"),
    ("owner: '12.5'", "owner: 12.50", "wrong-type"),
    ('headers: {Retry-After: "8"}', 'headers: {retry-after: "8"}', "header-spelling"),
    (
        "    http: 429",
        "    # faultspec: ignore[example-missing] none\n    http: 429",
        "unused-suppression",
    ),
    (
        "It failed.}\n",
        "It failed.}  # faultspec: ignore[example-missing] none\n",
        "unused-suppression",
    ),
)

#: Mistakes with more than one answer, or with one that a comment, or what comes to light, makes doubtful.
UNCERTAIN: tuple[tuple[str, str, str], ...] = (
    ("presence: required", "presence: re", "bad-value"),
    ("on: [429, 503]", "o: [429, 503]", "unknown-key"),
    ("code: failed", "code: faild", "dangling-reference"),
    ("everywhere: true", "everywere: maybe", "unknown-key"),
    ("      - 503\n", "      - 503\n      - 500 # twice\n", "duplicate-item"),
    ("version: 1.0.0", "version: 1.0", "wrong-type"),
    (
        "    http: 429",
        "    domian: nowhere\n    http: 429",
        "unknown-key",
    ),  # a domain, and there is none of that name
    (
        "    http: 429",
        "    # faultspec: ignore[example-missing] none,\n    # for a reason that is told here\n    http: 429",
        "unused-suppression",
    ),
)


def gists(found: tuple[Diagnostic, ...]) -> Counter[tuple[str, str]]:
    """What is said, wherever."""
    return Counter((each.code, each.message) for each in found)


def test_the_sound_text_is_sound() -> None:
    """Each mistake is the only one there is."""
    assert check(read(SOUND, "t.yaml")) == ()
    for before, _, _ in (*CERTAIN, *UNCERTAIN):
        assert SOUND.count(before) == 1, before


@examples(120)
@given(
    chosen=st.sets(st.integers(0, len(CERTAIN) - 1)),
    line_end=st.sampled_from(["\n", "\r\n"]),
    more=st.integers(-1, len(UNCERTAIN) - 1),
)
def test_certain_mistakes_go_and_nothing_else_changes(
    chosen: set[int], line_end: str, more: int
) -> None:
    """After the fixes, none of what was fixed is said, nothing is said that was not, and between the edits stands what stood."""
    text = SOUND
    mistakes = [CERTAIN[each] for each in sorted(chosen)]
    mistakes += [UNCERTAIN[more]] if more >= 0 else []
    for before, wrong, _ in mistakes:
        if text.count(before) == 1:  # another mistake may stand there already
            text = text.replace(before, wrong)
    text = text.replace("\n", line_end)
    loaded = read(text, "t.yaml")
    repaired = fix_text(loaded)
    after = read(repaired.text, "t.yaml")
    assert fix_text(after).gone == (), "a second time changes nothing"
    if loaded.taxonomy is not None:
        assert gists(check(after)) == gists(check(loaded)) - gists(repaired.gone)
    assert gists(after.diagnostics) <= gists(loaded.diagnostics)
    assert ("\r\n" in repaired.text) == (line_end == "\r\n")
    if more < 0:
        assert repaired.text == _as_repaired(mistakes).replace("\n", line_end)


#: What a repair leaves of a mistake where it is not what stood there before: the author's own layout, quotes and digits.
LEFT = {
    "owner: '12.5'": 'owner: "12.50"',
    "token: no-store": "'token': no-store",
    "[S1, S2]": "[S1,\n      S2]",
}


def _as_repaired(mistakes: list[tuple[str, str, str]]) -> str:
    """The sound text, each mistake made and repaired; all else is byte for byte what it was."""
    text = SOUND
    for before, _, _ in mistakes:
        text = text.replace(before, LEFT.get(before, before))
    return text


@pytest.mark.parametrize(
    ("before", "wrong", "code"), CERTAIN, ids=[each[1].strip()[:30] for each in CERTAIN]
)
def test_each_certain_mistake_is_said_with_its_fix(before: str, wrong: str, code: str) -> None:
    """The diagnostic itself has the edits; applied, they undo the mistake."""
    text = SOUND.replace(before, wrong)
    found = [each for each in check(read(text, "t.yaml")) if each.code == code]
    assert [each.fix is not None for each in found] == [True]
    assert found[0].fix is not None
    assert check(read(edited(text, found[0].fix.edits), "t.yaml")) == ()


@pytest.mark.parametrize(
    ("before", "wrong", "code"), UNCERTAIN, ids=[each[1].strip()[:30] for each in UNCERTAIN]
)
def test_what_has_two_answers_is_left(before: str, wrong: str, code: str) -> None:
    """It is reported, and the text stays as it is."""
    loaded = read(SOUND.replace(before, wrong), "t.yaml")
    assert code in {each.code for each in check(loaded)}
    assert fix_text(loaded).gone == ()
    assert loaded.document is not None
    assert fix_text(loaded).text == loaded.document.text


# The command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the lint."""
    result = click.testing.CliRunner().invoke(lint_command, arguments, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.stdout, result.stderr


def test_fix_says_what_it_changed_and_leaves_the_rest_of_the_file(folder: Path) -> None:
    """Mark, mode and link of the file stay; nothing lies beside it; a second run writes nothing."""
    real = folder / "real.yaml"
    real.write_bytes(b"\xef\xbb\xbf" + SOUND.replace("everywhere", "everywere").encode())
    real.chmod(0o640)
    os.symlink(real, "t.yaml")
    code, out, err = run("t.yaml", "--fix")
    assert (code, out) == (0, "")
    assert err == (
        "t.yaml:5:27: fixed: a detail key has no key `everywere`: write `everywhere` [unknown-key]\n"
        "1 taxonomy: no findings\n"
    )
    assert real.read_bytes() == b"\xef\xbb\xbf" + SOUND.encode()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert Path("t.yaml").is_symlink()
    assert sorted(each.name for each in folder.iterdir()) == ["real.yaml", "t.yaml"]
    before = real.stat().st_mtime_ns
    assert run("t.yaml", "--fix") == (0, "", "1 taxonomy: no findings\n")
    assert real.stat().st_mtime_ns == before


def test_without_fix_nothing_is_written(folder: Path) -> None:
    """The fix is offered, in the text and to tools."""
    text = SOUND.replace("everywhere", "everywere")
    Path("t.yaml").write_text(text, encoding="utf-8")
    code, out, _ = run("t.yaml")
    assert code == 1
    assert "  fix: write `everywhere` (faultspec lint --fix does)\n" in out
    for style, said in (
        ("json", '"what": "write `everywhere`"'),
        ("sarif", '"insertedContent"'),
        ("github", "fix: write"),
    ):
        assert said in run("t.yaml", "--format", style)[1]
    assert Path("t.yaml").read_text(encoding="utf-8") == text


def test_what_cannot_be_written_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be replaced stays as it is, and nothing is left beside it."""
    text = SOUND.replace("everywhere", "everywere")
    Path("t.yaml").write_text(text, encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("faultspec.cli.lint.os.replace", refuse)
    code, out, _ = run("t.yaml", "--fix")
    assert code == 2
    assert "[file-unwritable]" in out
    assert Path("t.yaml").read_text(encoding="utf-8") == text
    assert [each.name for each in folder.iterdir()] == ["t.yaml"]
