"""The demonstration on a disk without space."""

import resource
from pathlib import Path

import pytest

from support.command_line import faultspec


def test_a_full_disk_leaves_no_compiled_file(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the compiled files have no space, the folder is named, the exit code is 2, and no file is
    written. A cache of templates without space does not count.
    """
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("cache")))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * 1024, hard))
    try:
        done = faultspec("demo", "--out", "out", cwd=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert done.returncode == 2
    assert "out/generated: error: File too large [cannot-write]" in done.stderr
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


@pytest.mark.full
def test_a_report_without_space_is_named(tmp_path: Path) -> None:
    """If a report has no space, its place is named, and the exit code is 2."""
    (tmp_path / "report.xml").symlink_to("/dev/full")
    done = faultspec("demo", "--out", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert "/dev/full: No space left on device" in done.stderr
