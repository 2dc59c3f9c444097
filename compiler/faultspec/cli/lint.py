"""``faultspec lint``: is a taxonomy sound?"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import click

from faultspec.diagnostics import printers
from faultspec.diagnostics.formats.escaping import visible
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import LoadedTaxonomy, load, reread
from faultspec.lint import check
from faultspec.lint.fixing import fix_text
from faultspec.source.file import BYTE_ORDER_MARK


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
@click.option(
    "--fix",
    is_flag=True,
    help="Repair what can be meant in one way only, and say what was repaired.",
)
def command(taxonomies: tuple[str, ...], style: str, strict: bool, fix: bool) -> int:
    """Check every TAXONOMY (default: taxonomy.yaml) and say what is wrong with it.

    Diagnostics go to stdout. Exit codes: 0 no errors (with --strict no warnings either), 1 findings, 2 a file could not
    be read or, with --fix, not be written, or is no YAML.
    """
    loaded = [load(path) for path in dict.fromkeys(taxonomies or ("taxonomy.yaml",))]
    if fix:
        loaded = [_repaired(each) for each in loaded]
    found = [diagnostic for each in loaded for diagnostic in check(each)]
    sources = {path: text for each in loaded for path, text in each.sources.items()}
    if style == "text":
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        click.echo(printers.text(found, sources, colour=colour), nl=False)
    else:
        click.echo(printers.PRINTERS[style](found, sources), nl=False)
    click.echo(f"{_files(loaded)}: {printers.summary(found)}", err=True)
    return _exit_code(loaded, found, strict)


def _repaired(loaded: LoadedTaxonomy) -> LoadedTaxonomy:
    """A taxonomy after its fixes, which are in its file by then."""
    if loaded.document is None:
        return loaded
    path, before = loaded.document.path, loaded.document.text
    text, gone = fix_text(loaded)
    if not gone:
        return loaded
    problem = _replace(path, before, text)
    if problem is not None:
        hint = "see that the file and its folder can be written, and try again"
        return LoadedTaxonomy(
            None, None, (Diagnostic("file-unwritable", problem, path, hint=hint),), {path: before}
        )
    for each in gone:
        what = each.fix.what if each.fix is not None else ""
        place = printers.location(path, each.span)
        click.echo(visible(f"{place}: fixed: {each.message}: {what} [{each.code}]"), err=True)
    return reread(text, path)


def _replace(path: str, before: str, text: str) -> str | None:
    """Put `text` in place of `before`, all of it or nothing; or why that was not possible."""
    real = Path(os.path.realpath(path))
    try:
        content = real.read_bytes()
        mark = BYTE_ORDER_MARK if content.startswith(BYTE_ORDER_MARK) else b""
        if content != mark + before.encode():
            return "the file changed while it was being checked"
        handle, beside = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(mark + text.encode())
            shutil.copymode(real, beside)
            os.replace(beside, real)
        except OSError:
            os.unlink(beside)
            raise
    except OSError as error:
        return f"the file cannot be written: {error.strerror or error}"
    return None


def _files(loaded: list[LoadedTaxonomy]) -> str:
    return "1 taxonomy" if len(loaded) == 1 else f"{len(loaded)} taxonomies"


def _exit_code(loaded: list[LoadedTaxonomy], found: list[Diagnostic], strict: bool) -> int:
    if any(each.document is None for each in loaded):
        return 2
    counted = ("error", "warning") if strict else ("error",)
    return int(any(each.severity in counted for each in found))
