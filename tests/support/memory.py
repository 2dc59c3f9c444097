"""The memory of whole processes."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")

#: A program that starts another one. Linux counts the memory of a parent as that of its child until
#: the child runs its own program, so the parent must be small; a process of the tests is not.
_MEASURE = """
import os, subprocess, sys
with open("output", "wb") as output:
    process = subprocess.Popen(sys.argv[1:], stdout=output, stderr=output)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(process.returncode, usage.ru_maxrss)
"""


def peak_of(command: Sequence[str], folder: Path) -> tuple[int, float]:
    """The exit code of a process, and the most memory (MB) that it had at a time. Its output goes
    into the file `output` of the folder.
    """
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    code, kilobytes = map(int, done.stdout.split())
    return code, kilobytes / 1024
