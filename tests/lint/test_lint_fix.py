"""Laws of `lint --fix`: certain mistakes are fixed in place, and no other byte changes."""

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
from faultspec.lint.fixing import apply_edits, fix_text
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

#: A part of the sound text, the mistake in its place with one correction, and its diagnostic code.
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

#: Mistakes with several corrections, or with one that a comment or another diagnostic makes
#: doubtful.
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
        "    # faultspec: ignore[example-missing] none,\n    # for the reason that stands here\n    http: 429",
        "unused-suppression",
    ),
)


def gists(found: tuple[Diagnostic, ...]) -> Counter[tuple[str, str]]:
    """The diagnostics without their places."""
    return Counter((diagnostic.code, diagnostic.message) for diagnostic in found)


def test_the_sound_text_is_sound() -> None:
    """The text has no mistake, and each part to replace occurs once."""
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
    """Fixes remove their diagnostics, cause no new one, and change nothing between the edits."""
    text = SOUND
    mistakes = [CERTAIN[index] for index in sorted(chosen)]
    mistakes += [UNCERTAIN[more]] if more >= 0 else []
    for before, wrong, _ in mistakes:
        if text.count(before) == 1:  # unless another mistake replaced it
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


#: The result of a fix that keeps the author's layout, quotes or digits instead of the sound text.
LEFT = {
    "owner: '12.5'": 'owner: "12.50"',
    "token: no-store": "'token': no-store",
    "[S1, S2]": "[S1,\n      S2]",
}


def _as_repaired(mistakes: list[tuple[str, str, str]]) -> str:
    """The sound text after each mistake was made and fixed."""
    text = SOUND
    for before, _, _ in mistakes:
        text = text.replace(before, LEFT.get(before, before))
    return text


@pytest.mark.parametrize(
    ("before", "wrong", "code"), CERTAIN, ids=[mistake[1].strip()[:30] for mistake in CERTAIN]
)
def test_each_certain_mistake_has_a_fix(before: str, wrong: str, code: str) -> None:
    """The edits of the diagnostic undo the mistake."""
    text = SOUND.replace(before, wrong)
    found = [diagnostic for diagnostic in check(read(text, "t.yaml")) if diagnostic.code == code]
    assert [diagnostic.fix is not None for diagnostic in found] == [True]
    assert found[0].fix is not None
    assert check(read(apply_edits(text, found[0].fix.edits), "t.yaml")) == ()


@pytest.mark.parametrize(
    ("before", "wrong", "code"), UNCERTAIN, ids=[mistake[1].strip()[:30] for mistake in UNCERTAIN]
)
def test_an_uncertain_mistake_is_left(before: str, wrong: str, code: str) -> None:
    """An uncertain mistake is reported, and the text does not change."""
    loaded = read(SOUND.replace(before, wrong), "t.yaml")
    assert code in {diagnostic.code for diagnostic in check(loaded)}
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


def test_fix_lists_its_changes_and_leaves_the_rest_of_the_file(folder: Path) -> None:
    """Byte order mark, mode and link of the file stay; a second run writes nothing."""
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
    assert sorted(file.name for file in folder.iterdir()) == ["real.yaml", "t.yaml"]
    before = real.stat().st_mtime_ns
    assert run("t.yaml", "--fix") == (0, "", "1 taxonomy: no findings\n")
    assert real.stat().st_mtime_ns == before


def test_without_fix_nothing_is_written(folder: Path) -> None:
    """Without `--fix`, every format offers the fix and the file stays."""
    text = SOUND.replace("everywhere", "everywere")
    Path("t.yaml").write_text(text, encoding="utf-8")
    code, out, _ = run("t.yaml")
    assert code == 1
    assert "  fix: write `everywhere` (faultspec lint --fix does)\n" in out
    for style, expected in (
        ("json", '"what": "write `everywhere`"'),
        ("sarif", '"insertedContent"'),
        ("github", "fix: write"),
    ):
        assert expected in run("t.yaml", "--format", style)[1]
    assert Path("t.yaml").read_text(encoding="utf-8") == text


def test_an_unwritable_file_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the file cannot be replaced, it stays, and no other file is left."""
    text = SOUND.replace("everywhere", "everywere")
    Path("t.yaml").write_text(text, encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("faultspec.source.whole_file.os.replace", refuse)
    code, out, _ = run("t.yaml", "--fix")
    assert code == 2
    assert "[file-unwritable]" in out
    assert Path("t.yaml").read_text(encoding="utf-8") == text
    assert [file.name for file in folder.iterdir()] == ["t.yaml"]
