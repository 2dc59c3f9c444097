"""A small repository with a taxonomy, its generated files, a service and a conformance file."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from paths import TESTS
from support.command_line import faultspec

SHOP = TESTS / "fixtures" / "shop"

#: Git reads no configuration of the machine.
GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_NAME": "shop" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "shop@example.com" for role in ("AUTHOR", "COMMITTER")},
}


def run_git(folder: Path, *arguments: str) -> str:
    """The output of a git command, without its line end. It must succeed."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **GIT_ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make_shop(folder: Path) -> Path:
    """Fill a folder with the repository, which has one commit on the branch `main`."""
    shutil.copytree(SHOP, folder, dirs_exist_ok=True)
    assert faultspec("compile", cwd=folder).returncode == 0
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    commit_all(folder, "The shop")
    return folder


def commit_all(folder: Path, message: str) -> str:
    """Commit every change of a folder, and return the commit."""
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message", message)
    return run_git(folder, "rev-parse", "HEAD")


def edit_taxonomy(folder: Path, before: str, after: str) -> None:
    """Replace a text of the taxonomy that stands there once, and compile what came of it."""
    path = folder / "taxonomy.yaml"
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, after), encoding="utf-8")
    assert faultspec("compile", cwd=folder).returncode == 0


def shop_environment() -> dict[str, str]:
    """The variables of git, and those of the conformance file: a Python and a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return {**GIT_ENVIRONMENT, "PYTHON": sys.executable, "PORT": str(free.getsockname()[1])}
