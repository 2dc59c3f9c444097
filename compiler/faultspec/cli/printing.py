"""Printing diagnostics in the format that an option names."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

import click

from faultspec.diagnostics import printers
from faultspec.diagnostics.model import Diagnostic

format_option = click.option(
    "--format",
    "style",
    type=click.Choice(list(printers.PRINTERS)),
    default="text",
    show_default=True,
    help="How to print diagnostics.",
)


def print_in_format(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    style: str,
    *,
    text_to_stdout: bool = False,
    folded: bool = False,
) -> None:
    """Print diagnostics: machine formats to stdout; text to stderr, unless it is the result of the
    command. Without diagnostics no text is printed. ``folded``: what people read shows a warning of
    many places a few times.
    """
    if style == "markdown":
        click.echo(printers.markdown(diagnostics, sources, folded=folded), nl=False)
    elif style != "text":
        click.echo(printers.PRINTERS[style](diagnostics, sources), nl=False)
    elif diagnostics:
        stream = sys.stdout if text_to_stdout else sys.stderr
        text = text_for(stream, diagnostics, sources, folded=folded)
        click.echo(text, err=not text_to_stdout, nl=False)


def text_for(
    stream: TextIO,
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    *,
    folded: bool = False,
) -> str:
    """Diagnostics as text, in colour for a terminal (https://no-color.org)."""
    colour = stream.isatty() and not os.environ.get("NO_COLOR")
    return printers.text(diagnostics, sources, colour=colour, folded=folded)
