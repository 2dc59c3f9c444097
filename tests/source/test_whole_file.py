"""Files that are replaced whole: what a killed process leaves does not stay."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultspec.source.whole_file import create_whole, write_whole

KILLED = (
    "import os, signal, sys; from pathlib import Path; from faultspec.source import whole_file\n"
    "def end(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
    "Path.replace = whole_file.os.link = end\n"
    "getattr(whole_file, sys.argv[1])(Path(sys.argv[2]), b'new')\n"
)


def killed_while(work: str, path: Path) -> Path:
    """The file that a process leaves that is killed while it writes another."""
    before = {*path.parent.iterdir()}
    done = subprocess.run([sys.executable, "-c", KILLED, work, str(path)], check=False)
    assert done.returncode == -9
    (left,) = {*path.parent.iterdir()} - before
    return left


@pytest.mark.parametrize("work", ["write_whole", "create_whole"])
def test_the_next_writer_removes_what_a_killed_one_has_left(work: str, tmp_path: Path) -> None:
    """Nothing but the file itself stays, whichever way it is written next."""
    path = tmp_path / "a[b].yaml"
    killed_while(work, path)
    assert not path.exists()
    (create_whole if work == "write_whole" else write_whole)(path, b"content")
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes() == b"content"


def test_a_file_of_the_same_process_number_is_replaced(tmp_path: Path) -> None:
    """In a container each command has the number of the one before."""
    path = tmp_path / "a.yaml"
    left = killed_while("write_whole", path)
    left.rename(tmp_path / f".a.yaml.{os.getpid()}.faultspec-new")
    write_whole(path, b"content")
    assert [*tmp_path.iterdir()] == [path]


def test_files_of_others_stay(tmp_path: Path) -> None:
    """Those of a process that runs, that another one has locked, with another name, and what is not
    a regular file.
    """
    path = tmp_path / "a.yaml"
    left = killed_while("write_whole", path)
    locked = left.rename(tmp_path / ".a.yaml.4194305.faultspec-new")
    (tmp_path / f".a.yaml.{os.getppid()}.faultspec-new").write_bytes(b"")
    for name in (".a.yaml.4194306.new", ".b.yaml.4194306.faultspec-new", ".a.yaml.x.faultspec-new"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".a.yaml.4194307.faultspec-new").symlink_to(path)
    (tmp_path / ".a.yaml.4194308.faultspec-new").mkdir()
    os.mkfifo(tmp_path / ".a.yaml.4194309.faultspec-new")
    before = {*tmp_path.iterdir()}
    with locked.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_whole(path, b"content")
        assert {*tmp_path.iterdir()} == before | {path}
    write_whole(path, b"content")
    assert {*tmp_path.iterdir()} == before - {locked} | {path}
