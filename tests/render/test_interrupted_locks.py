"""A compile that is interrupted while it takes the lock of its folder leaves the lock free."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from faultspec.render import locking
from faultspec.render.staging import transaction


@pytest.mark.skipif(locking.fcntl is None, reason="the system has no flock")
@pytest.mark.parametrize("is_taken", [True, False])
def test_an_interrupted_lock_is_free(
    is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next compile of the process need not wait, whether or not the lock was taken."""
    flock = locking.fcntl.flock

    def interrupted(file: int, flags: int) -> None:
        if is_taken:
            flock(file, flags)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        names = {name: getattr(locking.fcntl, name) for name in ("LOCK_EX", "LOCK_NB")}
        patch.setattr(locking, "fcntl", SimpleNamespace(flock=interrupted, **names))
        with pytest.raises(KeyboardInterrupt) as held, transaction([tmp_path]):
            pass
    waits: list[str] = []
    with transaction([tmp_path], notify=waits.append):
        pass
    assert held.value is not None  # the frames of the interruption are still there
    assert waits == []
    assert list(tmp_path.iterdir()) == []
