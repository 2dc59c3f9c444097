"""``faultspec diff``: what a change of a taxonomy breaks, and for whom."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import click

from faultspec.cli.documents import (
    Unreadable,
    describe_losses,
    load_imported,
    read_importable,
    service_name,
)
from faultspec.cli.printing import print_in_format, text_for
from faultspec.cli.project import declared_taxonomies, find_project
from faultspec.cli.revisions import RevisionError, load_at
from faultspec.diagnostics import printers
from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.diagnostics.formats.github import Annotation, workflow_command
from faultspec.diagnostics.model import Diagnostic
from faultspec.evolution.compare import compare, compare_first
from faultspec.evolution.ledger import find_stale, read_ledger
from faultspec.evolution.limit import DEFAULT_LIMIT, LIMITS
from faultspec.evolution.report import (
    EvolutionReport,
    as_changelog,
    as_diagnostics,
    as_json_text,
    as_markdown,
    as_migration_guide,
    describe_verdict,
)
from faultspec.evolution.rules import RULES
from faultspec.evolution.sarif import as_sarif
from faultspec.language import LoadedTaxonomy, load
from faultspec.language.model import Taxonomy
from faultspec.source import Document

#: GitHub shows at most ten annotations of a step; the eleventh is the summary's.
MOST_ANNOTATIONS = 10

#: Formats whose output is one document.
_WHOLE = ("json", "sarif", "junit")


@click.command(name="diff")
@click.argument("taxonomies", nargs=-1, type=click.Path(), metavar="[OLD] [NEW]")
@click.option("--against", metavar="REV", help="Compare with the file at this git revision.")
@click.option(
    "--fail-on",
    type=click.Choice(LIMITS, case_sensitive=False),
    default=DEFAULT_LIMIT,
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
        tasks = _plan_comparisons(taxonomies, against, ledger)
    except Unreadable as unreadable:
        _print_problems(unreadable.diagnostics, unreadable.sources, style)
        return 2
    if len(tasks) > 1 and (ledger is not None or style in _WHOLE):
        raise click.UsageError(
            f"a ledger and a JSON, SARIF or JUnit report are those of one taxonomy: name one of "
            f"{', '.join(task.taxonomies[-1] for task in tasks)}"
        )
    judged = [_judge(task, fail_on) for task in tasks]
    if style == "github" and not migration:
        click.echo(_annotate(judged), nl=False)
    for one in judged:
        _print_judged(one, style, migration=migration)
    return max(2 if one.report is None else int(one.report.is_failed) for one in judged)


class _Task(NamedTuple):
    """One comparison of the command line: two files, or one file and a revision; and its ledger."""

    taxonomies: tuple[str, ...]
    against: str | None
    ledger: str | None


def _plan_comparisons(
    taxonomies: tuple[str, ...], against: str | None, ledger: str | None
) -> list[_Task]:
    """The comparisons of the command line, with what the project file says for missing arguments.
    Raises Unreadable.
    """
    if len(taxonomies) > 1:
        return [_Task(taxonomies, against, ledger)]
    defaults = _read_defaults(taxonomies, against)
    if not defaults.taxonomies:
        return [_Task((), defaults.against, ledger)]
    return [
        _Task((path,), defaults.against, defaults.ledgers.get(path) if ledger is None else ledger)
        for path in defaults.taxonomies
    ]


class _Defaults(NamedTuple):
    """The arguments of a comparison with a revision, as the project file completes them.

    ``ledgers``: by the path of their taxonomy.
    """

    taxonomies: tuple[str, ...]
    against: str | None
    ledgers: Mapping[str, str] = {}


def _read_defaults(taxonomies: tuple[str, ...], against: str | None) -> _Defaults:
    """The taxonomies and the revision, with those of the project file for missing arguments. Raises
    Unreadable.
    """
    found = find_project()
    if found is None:
        return _Defaults(taxonomies, against)
    project = found.project
    if project is None:
        raise Unreadable(found.diagnostics, found.sources)
    paths = taxonomies or tuple(declared_taxonomies(project))
    declared = {path: project.taxonomy(path) for path in paths}
    return _Defaults(
        paths,
        project.against if against is None else against,
        {
            path: project.locate(taxonomy.ledger)
            for path, taxonomy in declared.items()
            if taxonomy is not None and taxonomy.ledger is not None
        },
    )


class _Judged(NamedTuple):
    """The report of a comparison, with the texts of its files by path; or without a report the
    problems that kept it from being made."""

    report: EvolutionReport | None
    sources: Mapping[str, str]
    problems: Sequence[Diagnostic] = ()


def _judge(task: _Task, fail_on: str) -> _Judged:
    """Compare, and hold the changes against the ledger."""
    try:
        compared = load_both(task.taxonomies, task.against)
    except Unreadable as unreadable:
        return _Judged(None, unreadable.sources, unreadable.diagnostics)
    report = compared.report()._replace(limit=fail_on)
    if task.ledger is None:
        return _Judged(report, compared.sources)
    entries = read_ledger(task.ledger)
    if entries.diagnostics:
        return _Judged(None, entries.sources, entries.diagnostics)
    report = report._replace(
        accepted={entry.change: entry for entry in entries.entries},
        stale=find_stale(entries, report.comparison.changes),
    )
    return _Judged(report, {**compared.sources, **entries.sources})


def _print_judged(judged: _Judged, style: str, *, migration: bool) -> None:
    """Print one comparison; annotations were printed for all of them."""
    report = judged.report
    annotated = style == "github" and not migration
    if report is None:
        if not annotated:
            _print_problems(judged.problems, judged.sources, style)
        return
    if not annotated:
        text = as_migration_guide(report) if migration else _print(report, judged.sources, style)
        click.echo(text, nl=False)
    if style not in ("json", "markdown"):
        for note in report.notes:
            click.echo(escape_line(note), err=True)
    click.echo(f"{report.new}: {describe_verdict(report)}", err=True)


class Compared(NamedTuple):
    """Two taxonomies to compare, and their names.

    ``old``: None if the file did not exist. ``document``: the text of the new one; None if it was
    imported, so that it has no places. ``notes``: what an importer did not carry over.
    """

    old: Taxonomy | None
    new: Taxonomy
    old_name: str
    new_name: str
    document: Document | None
    sources: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def report(self) -> EvolutionReport:
        """The changes between the taxonomies today."""
        today = datetime.now(UTC).date()
        comparison = (
            compare_first(self.new, today)
            if self.old is None
            else compare(self.old, self.new, today)
        )
        return EvolutionReport(
            old=self.old_name,
            new=self.new_name,
            comparison=comparison,
            document=self.document,
            notes=self.notes,
        )


def load_both(taxonomies: tuple[str, ...], against: str | None) -> Compared:
    """The taxonomies of the command line: two files, or one file and itself at a revision.

    Raises Unreadable and click.UsageError.
    """
    if (against is None) != (len(taxonomies) == 2) or len(taxonomies) > 2:
        message = (
            "Give OLD and NEW, or one taxonomy and --against REV, or write `against` into "
            "faultspec.yaml."
        )
        raise click.UsageError(message)
    path = taxonomies[-1] if taxonomies else "taxonomy.yaml"
    notes: list[str] = []

    def load_side(file: str, label: str) -> LoadedTaxonomy:
        try:
            document = read_importable(file)
            if document is None:
                return load(file)
            loaded, losses = load_imported(document, service_name(path))
        except Unreadable as error:
            named = [replace(problem, path=label) for problem in error.diagnostics]
            sources = dict.fromkeys((label,), "".join(error.sources.values()))
            raise Unreadable(named, sources) from None
        notes.extend(describe_losses(label, losses))
        # Places in the imported text mean nothing to its readers.
        return loaded if loaded.taxonomy is None else loaded._replace(document=None, sources={})

    new = load_side(path, path)
    after = _readable(new)
    if against is None:
        old_name = taxonomies[0]
        before: Taxonomy | None = _readable(load_side(old_name, old_name))
    else:
        try:
            past = load_at(path, against, lambda file: load_side(file, f"{against}:{path}"))
        except RevisionError as error:
            problem = Diagnostic("bad-revision", str(error), path, hint=error.hint)
            raise Unreadable((problem,)) from error
        old_name = past.name
        if past.note is not None:
            notes.append(f"{path}: {past.note}")
        before = None if past.loaded is None else _readable(past.loaded)
    return Compared(
        old=before,
        new=after,
        old_name=old_name,
        new_name=path,
        document=new.document,
        sources=new.sources,
        notes=tuple(dict.fromkeys(notes)),
    )


def _readable(loaded: LoadedTaxonomy) -> Taxonomy:
    if loaded.taxonomy is None:
        raise Unreadable(loaded.diagnostics, loaded.sources)
    return loaded.taxonomy


def _print(report: EvolutionReport, sources: Mapping[str, str], style: str) -> str:
    diagnostics = as_diagnostics(report)
    if style == "json":
        return as_json_text(report)
    if style == "markdown":
        return as_markdown(report)
    if style == "text":
        return text_for(sys.stdout, diagnostics, sources)
    if style == "sarif":
        return as_sarif(report, sources)
    return printers.PRINTERS[style](diagnostics, sources)


def _annotate(judged: Sequence[_Judged]) -> str:
    """The worst changes and problems of all comparisons as annotations, and one summary."""
    found = [
        diagnostic
        for one in judged
        for diagnostic in (one.problems if one.report is None else as_diagnostics(one.report))
    ]
    rules = {rule.id for rule in RULES}
    # Problems, versions and stale entries are few and must not be lost: they come before changes.
    found.sort(key=lambda d: (("error", "warning", "note").index(d.severity), d.code in rules))
    shown = printers.github(found[: MOST_ANNOTATIONS - 1], {})
    reports = [one.report for one in judged if one.report is not None]
    if not reports:
        return shown
    failed = len(reports) < len(judged) or any(report.is_failed for report in reports)
    lines = [f"{report.new}: {describe_verdict(report)}" for report in reports]
    more = len(found) - MOST_ANNOTATIONS + 1
    if more > 0:
        lines.append(f"{more} more {'is' if more == 1 else 'are'} not shown")
    file = reports[0].new if len(judged) == 1 else None
    summary = Annotation("error" if failed else "notice", "faultspec diff", "\n".join(lines), file)
    return shown + workflow_command(summary)


def _print_problems(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], style: str
) -> None:
    """Print what kept a comparison from being made; a comment in Markdown has no place for it."""
    print_in_format(diagnostics, sources, "text" if style == "markdown" else style)


@click.command(name="changelog")
@click.argument("taxonomy", required=False, type=click.Path())
@click.option(
    "--since",
    metavar="REV",
    help="The git revision of the last release. Default: `against` of faultspec.yaml.",
)
def changelog(taxonomy: str | None, since: str | None) -> int:
    """Write the section of a changelog for the changes of TAXONOMY since a git revision.

    Without TAXONOMY, each taxonomy of faultspec.yaml has a section. Without that file it is
    taxonomy.yaml.

    Exit codes: 0 written; 2 a taxonomy or the revision could not be read.
    """
    try:
        defaults = _read_defaults(() if taxonomy is None else (taxonomy,), since)
        if defaults.against is None:
            message = "Give --since REV, or write `against` into faultspec.yaml."
            raise click.UsageError(message)
        paths = defaults.taxonomies or ("taxonomy.yaml",)
        reports = [load_both((path,), defaults.against).report() for path in paths]
    except Unreadable as unreadable:
        _print_problems(unreadable.diagnostics, unreadable.sources, "text")
        return 2
    sections = [as_changelog(report, named=len(reports) > 1) for report in reports]
    click.echo("\n".join(sections), nl=False)
    return 0
