"""The processes that a run leaves behind are ended, within its time."""

import os
import signal
import subprocess
import sys
import time

import pytest

from faultspec.cli.descendants import child_processes, end_children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")

#: A program that ignores SIGTERM.
_STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True)"


@pytest.mark.parametrize("seconds", [0.4, 2.0])
def test_children_are_ended_within_the_seconds(seconds: float) -> None:
    """A child that ignores SIGTERM is killed in time, and the children of before stay."""
    before = child_processes()
    command = [sys.executable, "-c", f"{_STUBBORN}; time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        began = time.monotonic()
        end_children(but=before, seconds=seconds)
        took = time.monotonic() - began
        assert child.wait(1) in (-signal.SIGKILL, 0)  # 0: it was waited for already
    assert took < seconds + 1.5  # a busy machine looks slowly


def test_the_end_does_not_wait_for_children_that_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A chain of processes that begin one another does not delay the command."""
    monkeypatch.setattr("faultspec.cli.descendants.child_processes", lambda: frozenset({2**30}))
    monkeypatch.setattr(os, "kill", lambda pid, number: None)
    began = time.monotonic()
    end_children(but=frozenset(), seconds=0.2)
    assert 0.2 <= time.monotonic() - began < 1.7  # a busy machine looks slowly
