"""The command line, run in the process of the test: a new process takes ten times as long."""

import contextlib
import io
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

from faultspec.cli import main


def faultspec(
    *arguments: str, cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The exit code and the output of the whole command line in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, environment or {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code
        else:
            raise AssertionError("the command line ends by SystemExit")
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
