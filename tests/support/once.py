"""Folders that the workers of one run of pytest share, because they take long to build."""

import os
import shutil
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest


def build_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """The folder that ``build`` fills, once in a run of pytest. The first worker that asks builds
    it, others wait.

    Paths inside the folder must be relative: it is built beside its place, and moved there when it
    is whole.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, staging = base / name, base / f"{name}.new"
    with (base / f"{name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not folder.exists():
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            build(staging)
            staging.rename(folder)
    return folder
