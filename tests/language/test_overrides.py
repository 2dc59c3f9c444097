"""`overrides`: an overlay decides otherwise what a ruling of its base allows, with a reason."""

from pathlib import Path

import pytest

from faultspec.diagnostics.model import Diagnostic
from faultspec.language import load, read
from faultspec.language.layers import merge_layers
from faultspec.language.model import Taxonomy
from faultspec.lint import check
from faultspec.render import render
from faultspec.targets import SHIPPED
from paths import ROOT, TESTS
from support.command_line import faultspec

BANK = (TESTS / "fixtures" / "bank.yaml").read_text()
HEAD = "faultspec: 1\ntaxonomy: {name: team, version: 2.0.0}\nextends: bank.yaml\n"
ALLOWED = "overrides:\n  codes.invalid.http: {value: 422, reason: Our framework answers it.}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the bank's taxonomy."""
    (tmp_path / "bank.yaml").write_text(BANK)
    return tmp_path


def overlaid(folder: Path, text: str, name: str = "team.yaml") -> Taxonomy:
    """The taxonomy of an overlay without errors."""
    (folder / name).write_text(text)
    loaded = load(str(folder / name))
    assert loaded.taxonomy is not None, loaded.diagnostics
    return loaded.taxonomy


def errors(folder: Path, text: str) -> list[Diagnostic]:
    """The errors of an overlay."""
    (folder / "team.yaml").write_text(text)
    loaded = load(str(folder / "team.yaml"))
    return [each for each in loaded.diagnostics if each.severity == "error"]


def test_a_ruling_that_allows_a_path_is_decided_otherwise(folder: Path) -> None:
    """The value is that of the override; it names the ruling and its reason; nothing else differs
    from the base."""
    team = overlaid(folder, HEAD + ALLOWED)
    assert team.codes["invalid"].http.default == 422
    (override,) = team.overrides.values()
    assert (override.path, override.value, override.reason, override.rulings) == (
        "codes.invalid.http",
        422,
        "Our framework answers it.",
        ("validation-status",),
    )
    base = read(BANK, "bank.yaml").taxonomy
    assert base is not None
    same = {name: code for name, code in team.codes.items() if name != "invalid"}
    assert same == {name: code for name, code in base.codes.items() if name != "invalid"}


def test_extensible_paths_may_be_overridden_with_a_reason(folder: Path) -> None:
    """A path that `extensible` lists needs no ruling."""
    text = "overrides:\n  codes.limited.message: {value: 'At most ${limit}', reason: Shorter.}\n"
    assert overlaid(folder, HEAD + text).codes["limited"].message == "At most ${limit}"


def test_a_forbidden_override_names_the_ruling_and_the_remedy(folder: Path) -> None:
    """The error is at the line of the override, and says what was decided and what to do."""
    text = HEAD + "overrides:\n  codes.limited.http: {value: 503, reason: We like it.}\n"
    (found,) = errors(folder, text)
    assert found.code == "not-extensible"
    assert "the ruling `limit-status` decided: It is 429" in found.message
    assert "`allows` of `limit-status`" in (found.hint or "")
    assert (found.path, found.span and found.span.line) == (str(folder / "team.yaml"), 5)


def test_a_change_without_a_reason_stays_forbidden(folder: Path) -> None:
    """Without a reason the change stays forbidden, and the hint shows where the reason belongs."""
    (found,) = errors(folder, HEAD + "codes: {invalid: {http: 422}}\n")
    assert found.code == "not-extensible"
    assert "write it under `overrides`" in (found.hint or "")


@pytest.mark.parametrize(
    ("overrides", "code", "line"),
    [
        ("codes.nope.http: {value: 400, reason: R.}", "dangling-reference", 5),
        ("codes.invalid.http: {value: 400}", "missing-key", 5),
        ("codes.invalid.http: {value: 999, reason: R.}", "bad-value", 5),
        ("codes.invalid.http: 422", "wrong-type", 5),
        ("Codes: {value: 1, reason: R.}", "bad-name", 5),
    ],
)
def test_a_bad_override_is_reported_where_it_is_written(
    folder: Path, overrides: str, code: str, line: int
) -> None:
    """A path that the base lacks, a missing reason and a bad value have the override's line."""
    found = errors(folder, f"{HEAD}overrides:\n  {overrides}\n")
    assert (code, line) in {(each.code, each.span.line if each.span else 0) for each in found}
    assert {Path(each.path).name for each in found} == {"team.yaml"}


def test_overrides_without_a_base_are_misplaced() -> None:
    """There is nothing to decide otherwise."""
    found = read(BANK + ALLOWED, "bank.yaml").diagnostics
    assert [each.code for each in found] == ["misplaced-key"]


def test_each_base_of_a_chain_has_to_allow(folder: Path) -> None:
    """An overlay of an overlay keeps its overrides, and adds only what every base allows."""
    (folder / "team.yaml").write_text(HEAD + ALLOWED)
    text = HEAD.replace("bank.yaml", "team.yaml").replace("team,", "squad,")
    assert list(overlaid(folder, text, "squad.yaml").overrides) == ["codes.invalid.http"]
    again = text + ALLOWED.replace("422", "409")
    squad = overlaid(folder, again, "squad.yaml")
    assert squad.codes["invalid"].http.default == 409
    assert squad.overrides["codes.invalid.http"].value == 409


def test_a_ruling_allows_all_below_its_path() -> None:
    """`*` stands for any name, and a path for all below it."""
    base = {
        "rulings": {"r": {"allows": ["codes.*.retriable"]}},
        "codes": {"a": {"retriable": {"else": False}}},
    }
    overlay = {"overrides": {"codes.a.retriable.else": {"value": True, "reason": "R."}}}
    merged, problems = merge_layers(base, overlay)
    assert problems == []
    assert merged["codes"] == {"a": {"retriable": {"else": True}}}
    assert base["codes"] == {"a": {"retriable": {"else": False}}}


def test_documents_show_an_override_with_its_reason(folder: Path) -> None:
    """The reference page and `explain` name value, reason and ruling."""
    team = overlaid(folder, HEAD + ALLOWED)
    page = render(team, [SHIPPED["markdown"]], "team.yaml")["markdown/reference.md"]
    assert "Decided otherwise than the base" in page
    assert page.count("Our framework answers it.") == 2
    assert "#ruling:validation-status" in page
    done = faultspec("explain", "invalid", "--taxonomy", "team.yaml", cwd=folder)
    assert "Decided otherwise: codes.invalid.http is 422" in done.stdout
    assert "its decision was: A failed validation is 400." in done.stdout


def test_a_team_decides_otherwise_than_the_root_taxonomy(tmp_path: Path) -> None:
    """Four lines over the flagship: a failed validation is 422 here, and lint has no error."""
    (tmp_path / "taxonomy.yaml").write_text((ROOT / "taxonomy.yaml").read_text())
    text = HEAD.replace("bank.yaml", "taxonomy.yaml") + ALLOWED.replace(
        "codes.invalid.http", "codes.validation_failed.http"
    )
    (tmp_path / "team.yaml").write_text(text)
    loaded = load(str(tmp_path / "team.yaml"))
    assert loaded.taxonomy is not None, loaded.diagnostics
    assert loaded.taxonomy.codes["validation_failed"].http.default == 422
    found = [each for each in check(loaded) if each.severity == "error"]
    assert found == []
