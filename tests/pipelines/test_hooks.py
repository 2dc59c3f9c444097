"""The hooks of pre-commit, in a small repository."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from pre_commit.clientlib import load_manifest

from paths import ROOT
from support.command_line import faultspec
from support.shop import GIT_ENVIRONMENT, commit_all, edit_taxonomy, make_shop, run_git

HOOKS = {hook["id"]: hook for hook in load_manifest(ROOT / ".pre-commit-hooks.yaml")}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The repository."""
    return make_shop(tmp_path / "shop")


def run_hook(name: str, folder: Path) -> int:
    """The exit code of the command of a hook, which takes no file names."""
    program, *arguments = shlex.split(HOOKS[name]["entry"])
    assert program == "faultspec"
    assert HOOKS[name]["pass_filenames"] is False
    return faultspec(*arguments, cwd=folder, environment=GIT_ENVIRONMENT).returncode


def break_taxonomy(folder: Path) -> None:
    """Refer to a policy that does not exist."""
    path = folder / "taxonomy.yaml"
    path.write_text(path.read_text().replace("    http: 500", "    http: 500\n    retry: missing"))


def delete_generated_file(folder: Path) -> None:
    """Delete a generated file, and nothing else."""
    (folder / "generated" / "schemas" / "error.schema.json").unlink()


def remove_status(folder: Path) -> None:
    """Answer a code with another status."""
    edit_taxonomy(folder, "    http: 404", "    http: 410")


#: For each hook a change that fails it.
BROKEN: dict[str, Callable[[Path], None]] = {
    "faultspec-lint": break_taxonomy,
    "faultspec-compile-check": delete_generated_file,
    "faultspec-diff": remove_status,
}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_fails_on_its_fault_alone(name: str, shop: Path) -> None:
    """The command of a hook passes on a clean repository, and fails after a change that it is
    for.
    """
    assert run_hook(name, shop) == 0
    BROKEN[name](shop)
    assert run_hook(name, shop) == 1


def test_hooks_run_for_the_files_that_they_read() -> None:
    """A change of a taxonomy, of a file that it extends or of the project file starts each hook. A
    deletion starts the check of generated files.
    """
    for name in ("faultspec-lint", "faultspec-diff"):
        pattern = re.compile(HOOKS[name]["files"])
        for path in ("taxonomy.yaml", "shop/errors.yml", "faultspec.yaml", "base/common.yaml"):
            assert pattern.search(path)
        assert not pattern.search("service.py")
    assert HOOKS["faultspec-compile-check"]["always_run"] is True


def snapshot(folder: Path) -> str:
    """Commit the files that an installation needs, as they are now, and return the commit."""
    needed = (
        *("compiler", "conformance", "templates", "pyproject.toml", "taxonomy.yaml"),
        *("README.md", "LICENSE", ".pre-commit-hooks.yaml"),
    )
    for name in needed:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    shutil.rmtree(folder / "compiler" / "faultspec" / "__pycache__", ignore_errors=True)
    run_git(folder, "init", "--quiet")
    return commit_all(folder, "The hooks")


def page_configuration(repository: Path, revision: str) -> str:
    """The configuration of docs/how-to/ci.md, with the hooks of a local repository."""
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    found = re.search(r"```yaml\n# \.pre-commit-config\.yaml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    configuration = yaml.safe_load(found[1])
    (entry,) = configuration["repos"]
    entry |= {"repo": str(repository), "rev": revision}
    assert [hook["id"] for hook in entry["hooks"]] == [*HOOKS]
    return yaml.safe_dump(configuration)


@pytest.mark.full
def test_pre_commit_runs_the_hooks(shop: Path, tmp_path: Path) -> None:
    """pre-commit installs the package by the configuration of the page. All hooks pass on a clean
    commit. On a broken one each fails for its fault.
    """
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (shop / ".pre-commit-config.yaml").write_text(page_configuration(hooks, snapshot(hooks)))
    commit_all(shop, "Hooks")
    run_git(shop, "update-ref", "refs/remotes/origin/main", "HEAD")
    # pip accepts no hashes beside a package that it builds from a folder.
    constraints = tmp_path / "constraints.txt"
    pins = re.findall(r"^[\w.-]+==\S+", (ROOT / "requirements/dev.txt").read_text(), re.M)
    constraints.write_text("\n".join(pins))
    environment = {
        **os.environ,
        **GIT_ENVIRONMENT,
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "PIP_CONSTRAINT": str(constraints),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }

    def verdicts(*arguments: str) -> tuple[list[str], str]:
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--color=never", *arguments],
            cwd=shop,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return re.findall(
            r"\.(Passed|Failed|Skipped)$|\)(Skipped)$", done.stdout, re.M
        ), done.stdout

    clean, output = verdicts("--all-files")
    assert clean == [("Passed", "")] * 3, output
    for name, change in BROKEN.items():
        change(shop)
        run_git(shop, "add", "--all")
        _, output = verdicts()
        assert f"hook id: {name}" in output, output
        run_git(shop, "reset", "--quiet", "--hard")
