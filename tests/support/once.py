"""Folders that the workers of one run of pytest share, because they take long to build."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    with locked(base / f"{name}.lock"):
        if not folder.exists():
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            build(staging)
            staging.rename(folder)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """A block that one process at a time runs, by a lock on the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        flock(lock, LOCK_EX)
        yield
