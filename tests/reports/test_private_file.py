"""Reports are readable by their owner only."""

import os
from pathlib import Path

import pytest

from faultspec_conformance.reports.private_file import write_private


@pytest.mark.parametrize("existing", [None, "much longer than the text that replaces it"])
def test_only_the_owner_reads_a_report(tmp_path: Path, existing: str | None) -> None:
    """The mode is 0600 whatever the umask, also of a file that others could read before."""
    path = tmp_path / "made" / "report.json"
    if existing is not None:
        path.parent.mkdir()
        path.write_text(existing)
        path.chmod(0o644)
    before = os.umask(0)
    try:
        write_private(path, "{}\n")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "{}\n"


@pytest.mark.parametrize("link", ["r.json", "reports"])
def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path, link: str) -> None:
    """A checkout may have a link to a file of the job, or to a folder. A link within it stays one,
    and so does one beside no repository.
    """
    checkout, outside = tmp_path / "checkout", tmp_path / "outside"
    outside.mkdir()
    (outside / "r.json").write_text("mine")
    (checkout / "own").mkdir(parents=True)
    path = checkout / (link if link == "r.json" else f"{link}/r.json")
    (checkout / link).symlink_to(outside / "r.json" if link == "r.json" else outside)
    (checkout / ".git").mkdir()
    with pytest.raises(OSError, match="out of the repository"):
        write_private(path, "report")
    assert (outside / "r.json").read_text() == "mine"
    (checkout / "inside").symlink_to(checkout / "own")
    write_private(checkout / "inside" / "r.json", "report")
    assert (checkout / "own" / "r.json").read_text() == "report"
    (checkout / ".git").rmdir()
    write_private(path, "report")
    assert (outside / "r.json").read_text() == "report"


def test_a_device_is_written_in_place() -> None:
    """A device keeps its mode."""
    mode = Path(os.devnull).stat().st_mode
    write_private(Path(os.devnull), "text")
    assert Path(os.devnull).stat().st_mode == mode


def test_an_interrupted_write_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk or Ctrl-C leaves the report of an earlier run, and nothing beside it."""
    path = tmp_path / "report.json"
    write_private(path, "old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_private(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]
