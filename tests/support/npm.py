"""Packages of npm, installed once for every test that needs them."""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from paths import ROOT
from support.once import locked

QUIET = (
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--ignore-scripts",
    "--loglevel=error",
)


def installed(tools: Mapping[str, str], proof: str, name: str | None = None) -> Path:
    """The folder ``node_modules`` with these versions; skips if npm cannot install them.

    ``proof``: what must be there for an earlier installation to be whole. ``name``: of the folder
    in the cache, by default the tools and their versions.
    """
    versions = "-".join(f"{tool}-{version}" for tool, version in tools.items())
    folder = ROOT / ".cache" / "node" / (name or versions)
    with locked(folder.with_suffix(".lock")):
        if not (folder / "node_modules" / proof).exists():
            names = " and ".join(tools)
            npm = shutil.which("npm")
            if npm is None:
                pytest.skip(f"npm is not installed, and {names} are not in .cache")
            folder.parent.mkdir(parents=True, exist_ok=True)
            # Installed beside its place and moved there: an interrupted installation is not taken
            # for a whole one.
            with tempfile.TemporaryDirectory(dir=folder.parent) as staging:
                (Path(staging) / "package.json").write_text('{"private": true}')
                packages = [f"{tool}@{version}" for tool, version in tools.items()]
                done = subprocess.run(
                    [npm, "install", *QUIET, *packages],
                    cwd=staging,
                    capture_output=True,
                    check=False,
                )
                if done.returncode:
                    pytest.skip(f"{names} are not in .cache, and npm cannot reach its registry")
                if not folder.exists():
                    shutil.copytree(staging, folder, symlinks=True)
    return folder / "node_modules"
