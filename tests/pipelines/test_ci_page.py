"""The jobs of docs/how-to/ci.md, extracted and run in a small repository."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

from paths import ROOT
from support.shop import commit_all, edit_taxonomy, make_shop, run_git, shop_environment
from support.workflow_runner import Machine, StepsResult

PAGE = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
BIN = Path(sys.executable).parent

FILES = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


def test_the_files_have_the_forms_of_their_readers(tmp_path: Path) -> None:
    """The schemas of GitHub and GitLab allow the action and the files of the page."""
    (tmp_path / "workflow.yml").write_text(FILES[".github/workflows/errors.yml"])
    (tmp_path / "gitlab.yml").write_text(FILES[".gitlab-ci.yml"])
    for schema, path in {
        "vendor.github-actions": ROOT / "action.yml",
        "vendor.github-workflows": tmp_path / "workflow.yml",
        "vendor.gitlab-ci": tmp_path / "gitlab.yml",
    }.items():
        done = CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(path)])
        assert done.exit_code == 0, done.output


def test_the_page_lists_inputs_and_outputs() -> None:
    """The tables of the page have the inputs and the outputs of the action, in their order."""
    inputs, outputs = (
        re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
        for table in PAGE.partition("| input |")[2].split("| output |")
    )
    assert inputs == [*ACTION["inputs"]]
    assert outputs == [*ACTION["outputs"]]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The repository on a branch."""
    folder = make_shop(tmp_path / "shop")
    run_git(folder, "update-ref", "refs/remotes/origin/main", "main")
    run_git(folder, "switch", "--quiet", "--create", "change")
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables of a job. The tool is on the path; `gh`, `curl` and `python`, which would reach the
    network, write their arguments to a file instead, and the contents of files among them.
    """
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for program in ("gh", "curl", "python"):
        stub = stubs / program
        stub.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{tmp_path}/{program}.txt"\n'
            f'for word; do file=${{word#body@}}; [ ! -f "$file" ] || cat "$file"; done '
            f'>> "{tmp_path}/{program}.txt"\n'
        )
        stub.chmod(0o755)
    path = os.pathsep.join([str(stubs), str(BIN), os.environ["PATH"]])
    return {**shop_environment(), "PATH": path}


def change_message(folder: Path) -> None:
    """Commit a change that breaks nothing."""
    edit_taxonomy(folder, "Something went wrong on our side", "Something went wrong here")
    commit_all(folder, "A message")


def change_status(folder: Path) -> None:
    """Commit a change that breaks clients."""
    edit_taxonomy(folder, "    http: 500", "    http: 503")
    commit_all(folder, "A status")


#: Each job with a safe change takes as long as with a breaking one, and does the same.
CHANGES = [
    pytest.param(change_message, False, id="safe", marks=pytest.mark.full),
    pytest.param(change_status, True, id="breaking"),
]


def run_workflow(shop: Path, environment: dict[str, str], fork: str, *preset: str) -> StepsResult:
    """Run the job of GitHub for a pull request from a repository, without the steps ``preset``."""
    job = yaml.safe_load(FILES[".github/workflows/errors.yml"])["jobs"]["errors"]
    base = {"sha": run_git(shop, "rev-parse", "main")}
    head = {"repo": {"full_name": fork}}
    machine = Machine(
        checkout=shop,
        temporary=shop.parent / "temp",
        event_name="pull_request",
        event={"pull_request": {"number": 7, "base": base, "head": head}},
        actions={"OWNER/faultspec": ROOT},
        preset={
            "install": {"faultspec": str(BIN / "faultspec")},
            **{step: {} for step in preset},
        },
        environment=environment,
    )
    return machine.run_job(job, {"ALICE_TOKEN": "secret"})


@pytest.mark.parametrize(("change", "breaks"), CHANGES)
def test_the_job_of_github_runs(
    change: Any, breaks: bool, shop: Path, environment: dict[str, str]
) -> None:
    """The job fails as the change deserves. It comments in both cases, and keeps its reports."""
    change(shop)
    result = run_workflow(shop, environment, "shop/errors")
    assert result.failed is breaks, result.log
    assert result.outcomes["Comment on the pull request"] == "success"
    assert result.outcomes["actions/upload-artifact@v4"] == "success"
    assert [*result.foreign] == [
        "actions/checkout",
        "actions/setup-python",
        "actions/upload-artifact",
    ]
    arguments = (shop.parent / "gh.txt").read_text()
    assert arguments.startswith("pr\ncomment\n7\n")
    assert "### `taxonomy.yaml`: " in arguments


def test_the_job_of_a_fork_does_not_comment(shop: Path, environment: dict[str, str]) -> None:
    """The token of a fork cannot comment, so the job does not try."""
    result = run_workflow(shop, environment, "stranger/errors", "lint", "compile", "conform")
    assert result.outcomes["Comment on the pull request"] == "skipped"
    assert not result.failed


def run_bash(script: str, shop: Path, environment: dict[str, str]) -> tuple[bool, str]:
    """Whether a script fails, and its output."""
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=shop,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode != 0, done.stdout


@pytest.mark.parametrize(("change", "breaks"), CHANGES)
def test_the_job_of_gitlab_runs(
    change: Any, breaks: bool, shop: Path, environment: dict[str, str]
) -> None:
    """The script writes every report and fails as the change deserves. Then the comment is sent."""
    change(shop)
    job = yaml.safe_load(FILES[".gitlab-ci.yml"])["faultspec"]
    environment |= {
        "CI_API_V4_URL": "https://gitlab.example/api/v4",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": run_git(shop, "rev-parse", "main"),
        "CI_MERGE_REQUEST_IID": "7",
        "CI_PROJECT_ID": "12",
        "FAULTSPEC_TOKEN": "secret",
    }
    failed, output = run_bash("\n".join(job["script"]), shop, environment)
    assert failed is breaks, output
    names = {"lint.xml", "compile.xml", "diff.md", "conformance.xml", "conformance.html"}
    assert {path.name for path in (shop / "reports").iterdir()} == names
    failed, output = run_bash("\n".join(job["after_script"]), shop, environment)
    assert not failed, output
    sent = (shop.parent / "curl.txt").read_text()
    assert "https://gitlab.example/api/v4/projects/12/merge_requests/7/notes\n" in sent
    assert "### `taxonomy.yaml`: " in sent
    assert "install" in (shop.parent / "python.txt").read_text().split()


@pytest.mark.parametrize(("change", "breaks"), CHANGES)
def test_the_lines_for_any_other_ci_run(
    change: Any, breaks: bool, shop: Path, environment: dict[str, str]
) -> None:
    """The commands of the page fail as the change deserves."""
    (script,) = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    change(shop)
    failed, output = run_bash(script, shop, environment)
    assert failed is breaks, output
    assert (shop / "conformance.xml").exists()
