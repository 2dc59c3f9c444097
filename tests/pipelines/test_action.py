"""The composite action, run by the steps of `action.yml` in a small repository."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from paths import ROOT
from support.shop import commit_all, edit_taxonomy, make_shop, run_git, shop_environment
from support.workflow_runner import Machine

ACTION: Mapping[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
FAULTSPEC = str(Path(sys.executable).with_name("faultspec"))

CHECKS = ("lint", "compile", "diff", "conform")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, which tests copy."""
    return make_shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def shop(original: Path, tmp_path: Path) -> Path:
    """A copy of the repository on a branch."""
    folder = shutil.copytree(original, tmp_path / "shop")
    run_git(folder, "switch", "--quiet", "--create", "change")
    return folder


def machine(shop: Path, *preset: str, **values: Any) -> Machine:
    """A runner in the repository. The tool is installed; the steps ``preset`` do not run."""
    given = {"install": {"faultspec": FAULTSPEC}, **{step: {} for step in preset}}
    return Machine(
        **{
            "checkout": shop,
            "temporary": shop.parent / "temp",
            "preset": given,
            "environment": shop_environment(),
            **values,
        }
    )


def test_a_clean_change_passes(shop: Path) -> None:
    """Every check runs and succeeds, and the summary has a section for each."""
    edit_taxonomy(shop, "Something went wrong on our side", "Something went wrong here")
    commit_all(shop, "A message")
    result = machine(shop).run_action(ROOT, {"against": "main", "conformance": "conformance.yaml"})
    assert {name: result.outcomes[name] for name in CHECKS} == dict.fromkeys(CHECKS, "success")
    assert not result.failed
    assert "::error" not in result.log
    assert result.summary.count("\n## faultspec ") == 3
    assert "safe" in Path(result.outputs["comment"]).read_text()
    reports = {path.suffix for path in Path(result.outputs["reports"]).iterdir()}
    assert reports == {".md", ".json", ".xml", ".sarif", ".html"}


def test_every_check_runs_after_a_failure(shop: Path) -> None:
    """A taxonomy with an error fails all four checks, each with annotations at the line."""
    taxonomy = shop / "taxonomy.yaml"
    taxonomy.write_text(taxonomy.read_text().replace("    http: 500", "    htp: 500"))
    result = machine(shop).run_action(ROOT, {"against": "main", "conformance": "conformance.yaml"})
    assert {name: result.outcomes[name] for name in CHECKS} == dict.fromkeys(CHECKS, "failure")
    line = taxonomy.read_text().split("    htp:")[0].count("\n") + 1
    assert f"::error file=taxonomy.yaml,line={line}," in result.log
    assert "unknown-key" in result.summary
    assert result.outputs["comment"] == ""


def test_a_breaking_change_fails_the_comparison_only(shop: Path) -> None:
    """A removed code fails `diff`. Annotations and comment name it; `fail-on` and a ledger
    decide.
    """
    edit_taxonomy(shop, "    http: 404", "    http: 410")
    commit_all(shop, "Another status")
    quick = machine(shop, "lint")
    result = quick.run_action(ROOT, {"against": "main"})
    outcomes = {name: result.outcomes[name] for name in CHECKS}
    assert outcomes == {
        "lint": "success",
        "compile": "success",
        "diff": "failure",
        "conform": "skipped",
    }
    assert "::error file=taxonomy.yaml,line=" in result.log
    comment = Path(result.outputs["comment"]).read_text()
    assert comment.startswith("### `taxonomy.yaml`: breaking")
    assert comment in result.summary
    only = machine(shop, "lint", "compile")
    assert not only.run_action(ROOT, {"against": "main", "fail-on": "ops"}).failed
    assert only.run_action(ROOT, {"against": "main", "ledger": "missing.yaml"}).failed


def test_an_edited_generated_file_fails_the_compile_only(shop: Path) -> None:
    """A generated file that was edited fails `compile --check`, with an annotation at the file."""
    edited = shop / "generated" / "schemas" / "error.schema.json"
    edited.write_text(edited.read_text() + "\n")
    result = machine(shop, "lint", "diff").run_action(ROOT, {"against": "main"})
    assert result.outcomes["compile"] == "failure"
    assert result.outcomes["base"] == "success"
    assert "::error file=generated/schemas/error.schema.json" in result.log


def test_an_event_without_a_base_compares_nothing(shop: Path) -> None:
    """A push passes without a comparison, and the summary shows that it did not run."""
    result = machine(shop, "lint", "compile").run_action(ROOT, {})
    assert not result.failed
    assert result.outcomes["diff"] == "skipped"
    assert "Not run: the event `push` has no base" in result.summary


def test_an_unknown_base_is_an_error(shop: Path) -> None:
    """A revision that exists nowhere fails the comparison with the reason."""
    result = machine(shop, "lint", "compile").run_action(ROOT, {"against": "nowhere"})
    assert result.outcomes["diff"] == "failure"
    assert "there is no revision 'nowhere'" in result.log
    assert "Could not run" in result.summary


#: The steps beside the one that finds the base.
OTHERS = ("lint", "compile", "diff")


def base_of(machine: Machine, inputs: Mapping[str, str] = {}) -> str:
    """The revision that the action compares with."""
    return machine.run_action(ROOT, inputs).steps["base"]["revision"]


def shallow_clone(origin: Path, folder: Path, revision: str) -> Path:
    """A clone of one commit, as actions/checkout makes it."""
    folder.mkdir()
    run_git(folder, "init", "--quiet")
    run_git(folder, "remote", "add", "origin", origin.as_uri())
    run_git(folder, "fetch", "--quiet", "--depth=1", "origin", revision)
    run_git(folder, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    return folder


@pytest.fixture
def moved(shop: Path) -> dict[str, str]:
    """A pull request whose base branch moved after the event: its commits by role."""
    start = run_git(shop, "rev-parse", "main")
    edit_taxonomy(shop, "There is no such resource", "This does not exist")
    head = commit_all(shop, "The change")
    run_git(shop, "switch", "--quiet", "main")
    edit_taxonomy(shop, "    http: 500", "    http: 503")
    tip = commit_all(shop, "A later change of the base")
    run_git(shop, "switch", "--quiet", "--detach")
    (shop / "generated" / "schemas" / "MANIFEST").unlink()
    run_git(shop, "checkout", "--quiet", "--", ".")
    run_git(shop, "merge", "--quiet", "--no-ff", "--message", "Merge", "--strategy=ours", "change")
    merge = run_git(shop, "rev-parse", "HEAD")
    run_git(shop, "update-ref", "refs/pull/1/merge", merge)
    return {"start": start, "head": head, "tip": tip, "merge": merge}


def test_the_base_of_a_merge_commit_is_its_first_parent(
    shop: Path, moved: Mapping[str, str], tmp_path: Path
) -> None:
    """A base branch that moved after the event is not compared as it was. The action fetches the
    parent that a shallow clone lacks.
    """
    clone = shallow_clone(shop, tmp_path / "clone", "refs/pull/1/merge")
    event = {"pull_request": {"base": {"sha": moved["start"]}}}
    values = {"event_name": "pull_request", "commit": moved["merge"], "event": event}
    assert base_of(machine(clone, *OTHERS, **values)) == moved["tip"]
    run_git(clone, "cat-file", "-e", f"{moved['tip']}:taxonomy.yaml")


def test_the_base_of_a_branch_is_where_it_began(shop: Path, moved: Mapping[str, str]) -> None:
    """If the job checks out the branch itself, later commits of the base are not compared."""
    run_git(shop, "switch", "--quiet", "change")
    event = {"pull_request": {"base": {"sha": moved["tip"]}}}
    values = {"event_name": "pull_request", "commit": moved["merge"], "event": event}
    assert base_of(machine(shop, *OTHERS, **values)) == moved["start"]


def test_the_base_of_a_merge_group_is_that_of_the_event(
    shop: Path, moved: Mapping[str, str], tmp_path: Path
) -> None:
    """A merge group names its base, which the action fetches."""
    clone = shallow_clone(shop, tmp_path / "clone", "refs/pull/1/merge")
    event = {"merge_group": {"base_sha": moved["tip"]}}
    values = {"event_name": "merge_group", "commit": moved["merge"], "event": event}
    assert base_of(machine(clone, *OTHERS, **values)) == moved["tip"]


def test_a_branch_of_the_remote_is_fetched(
    shop: Path, moved: Mapping[str, str], tmp_path: Path
) -> None:
    """`against` may name a branch that only the remote has, and stays as it is named: the branch at
    its tip.
    """
    clone = shallow_clone(shop, tmp_path / "clone", "refs/pull/1/merge")
    shallow = machine(clone, *OTHERS)
    assert base_of(shallow, {"against": "main"}) == moved["tip"]
    full = tmp_path / "full"
    run_git(tmp_path, "clone", "--quiet", "--branch=change", shop.as_uri(), str(full))
    whole = machine(full, *OTHERS)
    assert base_of(whole, {"against": "main"}) == moved["tip"]
    assert run_git(full, "rev-parse", "--is-shallow-repository") == "false"


HOSTILE = "$(touch harmed)`touch harmed`\"; touch harmed; '; touch harmed #"


def test_inputs_are_never_code(shop: Path) -> None:
    """No script has an expression, and an input with shell code is a name that does not exist."""
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(scripts) == 6
    assert [script for script in scripts if "${{" in script] == []
    run_git(shop, "remote", "add", "origin", shop.as_uri())
    inputs = {name: HOSTILE for name in ACTION["inputs"] if name != "python-version"}
    inputs |= {"against": "--upload-pack=touch harmed", "taxonomy": f"--format={HOSTILE}"}
    result = machine(shop).run_action(ROOT, inputs)
    assert {result.outcomes[name] for name in CHECKS} == {"failure"}
    found = [path for path in shop.parent.rglob("*") if path.name == "harmed"]
    assert found == []


def test_a_failed_installation_is_the_only_failure(shop: Path) -> None:
    """Without the tool no check runs, and the action fails."""
    broken = replace(machine(shop), preset={}, environment={"RUNNER_TEMP": "/dev/null"})
    result = broken.run_action(ROOT, {"against": "main"})
    assert result.failed
    assert {result.outcomes[name] for name in (*CHECKS, "base")} == {"skipped"}


@pytest.mark.full
def test_the_action_installs_itself(shop: Path) -> None:
    """The action installs the package from its own folder, with what a conformance run needs."""
    result = replace(machine(shop), preset={}).run_action(
        ROOT, {"against": "main", "conformance": "conformance.yaml"}
    )
    assert not result.failed, result.log
    assert result.outcomes == {"python": "skipped"} | dict.fromkeys(
        ("install", "base", *CHECKS), "success"
    )
