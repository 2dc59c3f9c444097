"""``faultspec lint``: is a taxonomy sound?"""

import os
import sys

import click

from faultspec import printers
from faultspec.diagnostic import Diagnostic
from faultspec.language import Loaded, load
from faultspec.lint import check


@click.command(name="lint")
@click.argument("taxonomies", nargs=-1, type=click.Path(), metavar="[TAXONOMY]...")
@click.option(
    "--format",
    "style",
    type=click.Choice(list(printers.PRINTERS)),
    default="text",
    show_default=True,
    help="How to print diagnostics.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
def command(taxonomies: tuple[str, ...], style: str, strict: bool) -> int:
    """Check every TAXONOMY (default: taxonomy.yaml) and say what is wrong with it.

    Diagnostics go to stdout. Exit codes: 0 no errors (with --strict no warnings either), 1 findings, 2 a file could not
    be read, or is no YAML.
    """
    loaded = [load(path) for path in dict.fromkeys(taxonomies or ("taxonomy.yaml",))]
    found = [diagnostic for each in loaded for diagnostic in check(each)]
    sources = {path: text for each in loaded for path, text in each.sources.items()}
    if style == "text":
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        click.echo(printers.text(found, sources, colour=colour), nl=False)
    else:
        click.echo(printers.PRINTERS[style](found, sources), nl=False)
    click.echo(f"{_files(loaded)}: {printers.summary(found)}", err=True)
    return _exit_code(loaded, found, strict)


def _files(loaded: list[Loaded]) -> str:
    return "1 taxonomy" if len(loaded) == 1 else f"{len(loaded)} taxonomies"


def _exit_code(loaded: list[Loaded], found: list[Diagnostic], strict: bool) -> int:
    if any(each.document is None for each in loaded):
        return 2
    counted = ("error", "warning") if strict else ("error",)
    return int(any(each.severity in counted for each in found))
