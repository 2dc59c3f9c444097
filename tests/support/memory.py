"""The memory of whole processes."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")


def peak_of(command: Sequence[str], folder: Path) -> tuple[int, float]:
    """The exit code of a process, and the most memory (MB) that it had at a time."""
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / 1024
