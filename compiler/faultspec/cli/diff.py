"""``faultspec diff``: what a change of a taxonomy breaks, and for whom."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import click

from faultspec.cli.documents import (
    Unreadable,
    describe_losses,
    is_importable,
    load_imported,
    service_name,
)
from faultspec.cli.project import declared_taxonomies, find_project
from faultspec.cli.revisions import RevisionError, load_at
from faultspec.diagnostics import printers
from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.diagnostics.formats.github import Annotation, workflow_command
from faultspec.diagnostics.model import Diagnostic
from faultspec.evolution.compare import compare
from faultspec.evolution.ledger import find_stale, read_ledger
from faultspec.evolution.model import BUMPS, CATEGORIES, SEVERITIES, Change
from faultspec.evolution.report import (
    EvolutionReport,
    as_changelog,
    as_diagnostics,
    as_json_text,
    as_markdown,
    as_migration_guide,
    describe_verdict,
)
from faultspec.language import LoadedTaxonomy, load
from faultspec.language.model import Taxonomy
from faultspec.source import Document

#: GitHub shows at most ten annotations of a step; the eleventh is the summary's.
MOST_ANNOTATIONS = 10

#: What `--fail-on` takes: a severity and all worse ones, any change, or a category.
FAIL_ON = ("breaking", "risky", "any", *CATEGORIES)

#: Formats whose output is one document.
_WHOLE = ("json", "sarif", "junit")


@click.command(name="diff")
@click.argument("taxonomies", nargs=-1, type=click.Path(), metavar="[OLD] [NEW]")
@click.option("--against", metavar="REV", help="Compare with the file at this git revision.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON, case_sensitive=False),
    default="breaking",
    show_default=True,
    help="Exit with 1 for changes of this severity or worse, or of this category.",
)
@click.option("--ledger", type=click.Path(), help="A file with accepted changes.")
@click.option("--migration", is_flag=True, help="Write the migration guide for consumers.")
@click.option(
    "--format",
    "style",
    type=click.Choice(("text", "json", "github", "sarif", "junit", "markdown")),
    default="text",
    show_default=True,
    help="How to print the changes.",
)
def command(
    taxonomies: tuple[str, ...],
    against: str | None,
    fail_on: str,
    ledger: str | None,
    migration: bool,
    style: str,
) -> int:
    """Compare two taxonomies, OLD and NEW, or NEW with itself at a git revision. OpenAPI documents
    and models of botocore are imported first.

    NEW is by default every taxonomy of faultspec.yaml, and REV its `against`. Without that file NEW
    is `taxonomy.yaml`. Each change has a severity: breaking, risky or safe; and
    categories: SOURCE, WIRE, BEHAVIOUR, OPS, DOC. The version of NEW is held to what is due.

    Exit codes: 0 nothing to object; 1 a change as bad as --fail-on that the ledger does not accept,
    a version that is too low for such a change, or a stale entry of the ledger; 2 a taxonomy, a
    revision or the ledger could not be read.
    """
    try:
        if len(taxonomies) < 2:
            declared, against = _read_defaults(taxonomies, against)
            if len(declared) > 1:
                return _compare_each(
                    declared, against, one_only=ledger is not None or style in _WHOLE
                )
            taxonomies = declared
        compared = load_both(taxonomies, against)
    except Unreadable as unreadable:
        _print_problems(unreadable.diagnostics, unreadable.sources, style)
        return 2
    report = compared.report()
    if ledger is not None:
        entries = read_ledger(ledger)
        if entries.diagnostics:
            _print_problems(entries.diagnostics, entries.sources, style)
            return 2
        report = report._replace(
            accepted={entry.change: entry for entry in entries.entries},
            stale=find_stale(entries, report.comparison.changes),
        )
    click.echo(
        as_migration_guide(report) if migration else _print(report, compared.sources, style),
        nl=False,
    )
    if style not in ("json", "markdown"):
        for note in report.notes:
            click.echo(escape_line(note), err=True)
    click.echo(f"{report.new}: {describe_verdict(report)}", err=True)
    return int(_fails(report, fail_on))


def _read_defaults(
    taxonomies: tuple[str, ...], against: str | None
) -> tuple[tuple[str, ...], str | None]:
    """The taxonomies and the revision, with those of the project file for missing arguments. Raises
    Unreadable.
    """
    found = find_project()
    if found is None:
        return taxonomies, against
    if found.project is None:
        raise Unreadable(found.diagnostics, found.sources)
    revision = found.project.against if against is None else against
    return taxonomies or tuple(declared_taxonomies(found.project)), revision


def _compare_each(paths: Sequence[str], against: str | None, *, one_only: bool) -> int:
    """Compare each taxonomy with itself at a revision. Returns the highest exit code. Raises
    UsageError. ``one_only``: an option was given that fits one taxonomy.
    """
    if one_only:
        raise click.UsageError(
            f"a ledger and a JSON, SARIF or JUnit report are those of one taxonomy: name one of "
            f"{', '.join(paths)}"
        )
    context = click.get_current_context()
    codes: list[int] = [
        context.forward(command, taxonomies=(path,), against=against) for path in paths
    ]
    return max(codes)


class Compared(NamedTuple):
    """Two taxonomies to compare, and their names.

    ``document``: the text of the new one; None if it was imported, so that it has no places.
    ``notes``: what an importer did not carry over.
    """

    old: Taxonomy
    new: Taxonomy
    old_name: str
    new_name: str
    document: Document | None
    sources: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def report(self) -> EvolutionReport:
        """The changes between the taxonomies today."""
        comparison = compare(self.old, self.new, datetime.now(UTC).date())
        return EvolutionReport(
            old=self.old_name,
            new=self.new_name,
            comparison=comparison,
            document=self.document,
            notes=self.notes,
        )


def load_both(taxonomies: tuple[str, ...], against: str | None) -> Compared:
    """The taxonomies of the command line: two files, or one file and itself at a revision.

    A file that did not exist at the revision counts as one without any construct. Raises Unreadable
    and click.UsageError.
    """
    if (against is None) != (len(taxonomies) == 2) or len(taxonomies) > 2:
        message = (
            "Give OLD and NEW, or one taxonomy and --against REV, or write `against` into "
            "faultspec.yaml."
        )
        raise click.UsageError(message)
    path = taxonomies[-1] if taxonomies else "taxonomy.yaml"
    notes: list[str] = []
    imported = is_importable(path)

    def load_side(file: str, label: str) -> LoadedTaxonomy:
        if not is_importable(file):
            return load(file)
        try:
            loaded, losses = load_imported(file, service_name(path))
        except Unreadable as error:
            named = [replace(problem, path=label) for problem in error.diagnostics]
            sources = dict.fromkeys((label,), "".join(error.sources.values()))
            raise Unreadable(named, sources) from None
        notes.extend(describe_losses(label, losses))
        return loaded

    new = load_side(path, path)
    after = _readable(new)
    if against is None:
        old_name = taxonomies[0]
        before = _readable(load_side(old_name, old_name))
    else:
        try:
            past = load_at(path, against, lambda file: load_side(file, f"{against}:{path}"))
        except RevisionError as error:
            problem = Diagnostic("bad-revision", str(error), path, hint=error.hint)
            raise Unreadable((problem,)) from error
        old_name = past.name
        before = empty_taxonomy(after) if past.loaded is None else _readable(past.loaded)
    return Compared(
        old=before,
        new=after,
        old_name=old_name,
        new_name=path,
        document=None if imported else new.document,
        sources={} if imported else new.sources,
        notes=tuple(dict.fromkeys(notes)),
    )


def _readable(loaded: LoadedTaxonomy) -> Taxonomy:
    if loaded.taxonomy is None:
        raise Unreadable(loaded.diagnostics, loaded.sources)
    return loaded.taxonomy


def empty_taxonomy(like: Taxonomy) -> Taxonomy:
    """A taxonomy without constructs, with the header of another and the version 0.0.0."""
    empty = {
        name: type(value)() if isinstance(value, dict | tuple) else None
        for name, value in like._asdict().items()
    }
    kept = {name: getattr(like, name) for name in ("name", "title", "owner", "description")}
    return Taxonomy(**{**empty, **kept, "version": "0.0.0"})


def _print(report: EvolutionReport, sources: Mapping[str, str], style: str) -> str:
    diagnostics = as_diagnostics(report)
    if style == "json":
        return as_json_text(report)
    if style == "markdown":
        return as_markdown(report)
    if style == "github":
        return _annotations(report, diagnostics, sources)
    if style == "text":
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        return printers.text(diagnostics, sources, colour=colour)
    return printers.PRINTERS[style](diagnostics, sources)


def _annotations(
    report: EvolutionReport, diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]
) -> str:
    shown = diagnostics[: MOST_ANNOTATIONS - 1]
    level: Literal["error", "notice"] = "error" if _fails(report, "breaking") else "notice"
    summary = Annotation(level, "faultspec diff", describe_verdict(report), report.new)
    return printers.github(shown, sources) + workflow_command(summary)


def _fails(report: EvolutionReport, fail_on: str) -> bool:
    """Whether an open change, the version or the ledger is worse than is allowed."""
    if report.stale:
        return True
    counted = [change for change in report.open_changes if _is_counted(change, fail_on)]
    return bool(counted) or _is_version_low(report, fail_on)


def _is_counted(change: Change, fail_on: str) -> bool:
    if fail_on in CATEGORIES:
        return fail_on in change.categories
    if fail_on == "any":
        return True
    return SEVERITIES.index(change.severity) <= SEVERITIES.index(fail_on)


#: The bumps that must be declared, by the severity that fails.
_DUE: Mapping[str, tuple[str, ...]] = {
    "breaking": BUMPS[:1],
    "risky": BUMPS[:2],
    "any": BUMPS[:3],
}


def _is_version_low(report: EvolutionReport, fail_on: str) -> bool:
    comparison = report.comparison
    return comparison.due in _DUE.get(fail_on, ()) and not comparison.is_version_enough


def _print_problems(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], style: str
) -> None:
    if style in ("text", "markdown"):
        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        click.echo(printers.text(diagnostics, sources, colour=colour), err=True, nl=False)
    else:
        click.echo(printers.PRINTERS[style](diagnostics, sources), nl=False)


@click.command(name="changelog")
@click.argument("taxonomy", default="taxonomy.yaml", type=click.Path())
@click.option("--since", required=True, metavar="REV", help="The git revision of the last release.")
def changelog(taxonomy: str, since: str) -> int:
    """Write the section of a changelog for the changes of TAXONOMY since a git revision.

    Exit codes: 0 written; 2 the taxonomy or the revision could not be read.
    """
    try:
        compared = load_both((taxonomy,), since)
    except Unreadable as unreadable:
        _print_problems(unreadable.diagnostics, unreadable.sources, "text")
        return 2
    click.echo(as_changelog(compared.report()), nl=False)
    return 0
