"""The files that ``faultspec init`` creates: written where there is none yet, or refused."""

from pathlib import Path

import click

from faultspec.diagnostics.model import Diagnostic
from faultspec.diagnostics.printers import text
from faultspec.source.whole_file import create_whole


def write_new(path: Path, content: str) -> None:
    """Write a file that does not exist. Raises OSError: FileExistsError if it does."""
    create_whole(path, content.encode("utf-8"))


def print_refusal(code: str, message: str, path: str, hint: str | None = None) -> int:
    """Print an error about a file. Returns the exit code 2."""
    click.echo(text([Diagnostic(code, message, path, hint=hint)], {}), err=True, nl=False)
    return 2
