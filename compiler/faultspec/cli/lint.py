"""``faultspec lint``: check taxonomies."""

from collections.abc import Collection
from datetime import date
from pathlib import Path

import click

from faultspec import source
from faultspec.cli.extra import require_conformance
from faultspec.cli.printing import format_option, print_in_format
from faultspec.cli.project import declared_taxonomies, find_project
from faultspec.cli.project_rules import project_rules
from faultspec.diagnostics import printers
from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.diagnostics.model import Diagnostic
from faultspec.language import LoadedTaxonomy, load, reread
from faultspec.lint import check
from faultspec.lint.fixing import fix_text
from faultspec.lint.links import declared_links, link_diagnostics
from faultspec.lint.severities import with_severities
from faultspec.source.file import BYTE_ORDER_MARK
from faultspec.source.whole_file import write_whole


@click.command(name="lint")
@click.argument("taxonomies", nargs=-1, type=click.Path(), metavar="[TAXONOMY]...")
@format_option
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option(
    "--fix",
    is_flag=True,
    help="Repair mistakes with a single possible meaning, and list the repairs.",
)
@click.option(
    "--links",
    is_flag=True,
    help="Request the URLs of documentation and runbooks, and report those that lead nowhere.",
)
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="Show every place of a warning. Without it, text and markdown show three of many.",
)
def command(
    taxonomies: tuple[str, ...], style: str, strict: bool, fix: bool, links: bool, whole: bool
) -> int:
    """Check every TAXONOMY (default: those of faultspec.yaml, else taxonomy.yaml).

    Diagnostics go to stdout, errors first. Exit codes: 0 no errors (with --strict, no warnings
    either); 1 findings; 2 a file could not be read, is not YAML, or, with --fix, could not be
    written. Nothing is requested without --links.
    """
    around = find_project()
    if around is not None and around.project is None:
        print_in_format(around.diagnostics, around.sources, style, text_to_stdout=True)
        return 2
    project = None if around is None else around.project
    more = project_rules(project)
    if around is not None and more.diagnostics:
        print_in_format(more.diagnostics, around.sources, style, text_to_stdout=True)
        return 2
    severities = {} if project is None else project.severities
    loaded = [load(path) for path in dict.fromkeys(taxonomies or declared_taxonomies(project))]
    if fix:
        silenced = [rule for rule, severity in severities.items() if severity == "off"]
        loaded = [_repair(taxonomy, silenced) for taxonomy in loaded]
    found = [
        diagnostic
        for taxonomy in loaded
        for diagnostic in with_severities(check(taxonomy, date.today(), more.rules), severities)
    ]
    if links:
        found += _dead_links(loaded)
    sources = {path: text for taxonomy in loaded for path, text in taxonomy.sources.items()}
    print_in_format(found, sources, style, text_to_stdout=True, folded=not whole)
    click.echo(f"{_files(loaded)}: {printers.summary(found)}", err=True)
    return _exit_code(loaded, found, strict)


def _dead_links(loaded: list[LoadedTaxonomy]) -> list[Diagnostic]:
    """The links of all taxonomies that lead nowhere; each URL is requested once."""
    require_conformance()
    from faultspec_conformance.drivers.links import find_dead_links

    declared = [
        (taxonomy.document, declared_links(taxonomy.taxonomy, taxonomy.document.data))
        for taxonomy in loaded
        if taxonomy.document is not None and taxonomy.taxonomy is not None
    ]
    problems = find_dead_links(link.url for _, links in declared for link in links)
    return [
        diagnostic
        for document, links in declared
        for diagnostic in link_diagnostics(document, links, problems)
    ]


def _repair(loaded: LoadedTaxonomy, silenced: Collection[str]) -> LoadedTaxonomy:
    """Fix the file of a taxonomy, and read it again. ``silenced``: rules that fix nothing."""
    if loaded.document is None:
        return loaded
    path, before = loaded.document.path, loaded.document.text
    text, gone = fix_text(loaded, silenced)
    if not gone:
        return loaded
    problem = replace_text(path, before, text)
    if problem is not None:
        hint = "make the file and its folder writable, and try again"
        return LoadedTaxonomy(
            None, None, (Diagnostic("file-unwritable", problem, path, hint=hint),), {path: before}
        )
    for fixed in gone:
        what = fixed.fix.what if fixed.fix is not None else ""
        place = printers.location(path, fixed.span)
        line = f"{place}: fixed: {fixed.message}: {what} [{fixed.code}]"
        click.echo(escape_line(line), err=True)
    return reread(text, path)


def replace_text(path: str, before: str, text: str) -> str | None:
    """Replace the text of a file, wholly or not at all. Returns why that failed, or None."""
    try:
        content = source.read_bytes(path)
        mark = BYTE_ORDER_MARK if content.startswith(BYTE_ORDER_MARK) else b""
        if content != mark + before.encode():
            return "the file changed while it was being checked"
        write_whole(Path(path), mark + text.encode())
    except source.SourceError as error:
        return error.diagnostics[0].message
    except OSError as error:
        return f"the file cannot be written: {error.strerror or error}"
    return None


def _files(loaded: list[LoadedTaxonomy]) -> str:
    return "1 taxonomy" if len(loaded) == 1 else f"{len(loaded)} taxonomies"


def _exit_code(loaded: list[LoadedTaxonomy], found: list[Diagnostic], strict: bool) -> int:
    if any(taxonomy.document is None for taxonomy in loaded):
        return 2
    counted = ("error", "warning") if strict else ("error",)
    return int(any(diagnostic.severity in counted for diagnostic in found))
