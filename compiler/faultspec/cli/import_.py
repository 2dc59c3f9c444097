"""``faultspec import``: a taxonomy from a document of another format."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click

from faultspec.cli.documents import (
    Unreadable,
    document_places,
    import_refusal,
    is_packed,
    parse_document,
    parse_table,
    read_document_text,
    service_name,
)
from faultspec.cli.interruption import LONGEST_COMPUTING, TimeIsUp, limit_computing
from faultspec.diagnostics import printers
from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.diagnostics.model import Diagnostic
from faultspec.importers import Decision, ImportedTaxonomy, Loss, NotImportable
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.openapi.source_map import SourceMap, source_map
from faultspec.source.whole_file import create_whole, write_whole

_OUT = click.option(
    "--out", type=click.Path(), metavar="FILE", help="The file of the taxonomy; default: stdout."
)
_FORCE = click.option("--force", is_flag=True, help="Overwrite existing files.")
_FORMAT = click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The format of the loss report on stderr.",
)

#: The schema for editors, which `faultspec init` writes beside a taxonomy.
_SCHEMA = "faultspec.schema.json"


@click.group(name="import")
def command() -> None:
    """Make a taxonomy from a document, and report what the taxonomy does not carry over.

    Exit codes: 0 imported, with or without losses; 2 the document cannot be imported, or a file
    exists.
    """


@command.command(name="openapi")
@click.argument("file", type=click.Path())
@_OUT
@_FORCE
@_FORMAT
def openapi(file: str, out: str | None, force: bool, style: str) -> int:
    """Import the failures of an OpenAPI document, 3.0, 3.1 or Swagger 2.0, in JSON or YAML.

    Nothing outside FILE is fetched.
    """
    from faultspec.importers.openapi import read

    try:
        _check_absent(out, force)
        with _limit_import(file):
            text = read_document_text(file)
            try:
                imported = drop_invalid(read(parse_document(text, file)))
            except NotImportable as problem:
                raise import_refusal(problem, file, text) from None
            taxonomy = write_yaml(imported.data, _schema(out))
            report = _loss_report(imported, file, source_map(text, file))
        _write(taxonomy, out, force)
    except Unreadable as unreadable:
        return _print_problems(unreadable)
    _report([report], style)
    return 0


@command.command(name="botocore")
@click.argument("services", nargs=-1, metavar="[SERVICE]...")
@click.option("--all", "everything", is_flag=True, help="Every service of the installed botocore.")
@click.option(
    "--out",
    type=click.Path(),
    metavar="PATH",
    help="A file, or a folder for several services; default: stdout.",
)
@_FORCE
@_FORMAT
def botocore(
    services: Sequence[str], everything: bool, out: str | None, force: bool, style: str
) -> int:
    """Import the errors of SERVICE: a service of the installed botocore, or the path of a
    service-2.json.
    """
    from faultspec.importers.botocore import read

    if everything == bool(services):
        raise click.UsageError("Name a service, or give --all.")
    several = everything or len(services) > 1
    if several and out is None:
        raise click.UsageError(
            "Several services need a folder for their taxonomies: give --out PATH."
        )
    reports: list[_LossReport] = []
    try:
        chosen = _models() if everything else dict(map(_model, services))
        for name, path in chosen.items():
            target = str(Path(out) / f"{name}.yaml") if several and out is not None else out
            _check_absent(target, force)
            with _limit_import(path):
                text = read_document_text(path)
                try:
                    imported = drop_invalid(read(parse_document(text, path), name))
                except NotImportable as problem:
                    if everything and problem.code == "no-failures":
                        click.echo(f"{name}: {problem.message}; skipped", err=True)
                        continue
                    raise import_refusal(problem, path, text) from None
                taxonomy = write_yaml(imported.data, _schema(target))
                shown = name if is_packed(path) else path
                report = _loss_report(imported, shown, document_places(text, path))
            _write(taxonomy, target, force)
            reports.append(report._replace(name=name))
    except Unreadable as unreadable:
        return _print_problems(unreadable)
    _report(reports, style)
    return 0


@command.command(name="problems")
@click.argument("file", type=click.Path())
@_OUT
@_FORCE
@_FORMAT
def problems(file: str, out: str | None, force: bool, style: str) -> int:
    """Import a registry of problem types (RFC 9457, section 4.2): JSON, YAML, CSV or XML.

    The registry.json of the target `problems` is one; so are the tables of IANA, and schemas whose
    `type` is constant.
    """
    from faultspec.importers.problem_types import read

    try:
        _check_absent(out, force)
        with _limit_import(file):
            text = read_document_text(file)
            table = parse_table(text, file)
            try:
                imported = drop_invalid(read(table.data, Path(file).name.split(".")[0]))
            except NotImportable as problem:
                raise import_refusal(problem, file, text, table.places) from None
            taxonomy = write_yaml(imported.data, _schema(out))
        _write(taxonomy, out, force)
    except Unreadable as unreadable:
        return _print_problems(unreadable)
    _report([_loss_report(imported, file, table.places)], style)
    return 0


@command.command(name="proto")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option(
    "--proto-path",
    "-I",
    "roots",
    multiple=True,
    type=click.Path(),
    metavar="FOLDER",
    help="A folder of imports; default that of each FILE, or the one above its package.",
)
@_OUT
@_FORCE
@_FORMAT
def proto(
    files: Sequence[str], roots: Sequence[str], out: str | None, force: bool, style: str
) -> int:
    """Import the error reasons and the methods of protos: sources, or the descriptor set that
    `protoc -o` writes.
    """
    from faultspec.cli.protos import read_protos
    from faultspec.importers.proto import read

    try:
        _check_absent(out, force)
        with _limit_import(files[0]):
            protos = read_protos(files, roots)
            try:
                imported = drop_invalid(read(protos.descriptors.data, protos.named))
            except NotImportable as problem:
                path, places = protos.file_at(problem.pointer)
                span = None if places is None else places.span(problem.pointer)
                found = Diagnostic(problem.code, problem.message, path, span, hint=problem.hint)
                raise Unreadable([found]) from None
            taxonomy = write_yaml(imported.data, _schema(out))
        _write(taxonomy, out, force)
    except Unreadable as unreadable:
        return _print_problems(unreadable)
    losses = list(imported.losses)
    if not protos.descriptors.whole:
        reason = (
            "the set lacks imports, so options are not read; call protoc with --include_imports"
        )
        losses.append(Loss("", "reference", reason))
    by_file: dict[str, list[Loss]] = {}
    for loss in losses:
        by_file.setdefault(protos.file_at(loss.pointer)[0], []).append(loss)
    reports = [
        _LossReport(path, path, tuple(listed), protos.file_at(listed[0].pointer)[1])
        for path, listed in by_file.items()
    ]
    reports.append(_loss_report(imported._replace(losses=()), protos.given, None))
    _report(reports, style)
    return 0


# Models of botocore


def _data() -> Path:
    found = find_spec("botocore")
    if found is None or not found.submodule_search_locations:
        message = "this command needs botocore, which is not installed: pip install botocore"
        raise click.UsageError(message)
    return Path(found.submodule_search_locations[0]) / "data"


def _models() -> dict[str, str]:
    from faultspec.importers.botocore import models

    return dict(models(str(_data())))


def _model(service: str) -> tuple[str, str]:
    """The name of a service and the file of its model."""
    if os.sep in service or service.endswith((".json", ".json.gz")):
        return service_name(service), service
    known = _models()
    if service not in known:
        import difflib

        near = difflib.get_close_matches(service, known, n=1)
        suggestion = f" Did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"botocore has no service {service!r}.{suggestion}")
    return service, known[service]


# Reading and writing


@contextmanager
def _limit_import(path: str) -> Iterator[None]:
    """Raise Unreadable if a block computes longer than an import may."""
    try:
        with limit_computing(LONGEST_COMPUTING):
            yield
    except TimeIsUp:
        message = f"its import takes more than {LONGEST_COMPUTING} seconds"
        hint = "import a part of the document"
        raise Unreadable([Diagnostic("file-too-large", message, path, hint=hint)]) from None


def _check_absent(out: str | None, force: bool) -> None:
    """Refuse to overwrite a file."""
    if out is not None and not force and os.path.lexists(out):
        hint = "name another file, or give --force"
        raise Unreadable([Diagnostic("file-exists", "the file exists already", out, hint=hint)])


def _schema(out: str | None) -> str | None:
    """The path of the schema for editors from the taxonomy, if it is beside it."""
    return _SCHEMA if out is not None and os.path.isfile(Path(out).with_name(_SCHEMA)) else None


def _write(text: str, out: str | None, force: bool) -> None:
    """Write the taxonomy to stdout, or to a file, whole or not at all."""
    if out is None:
        click.echo(text, nl=False)
        return
    target = Path(out)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not force:
            create_whole(target, text.encode("utf-8"))
        else:
            write_whole(target, text.encode("utf-8"))
    except FileExistsError:
        _check_absent(out, False)
        raise Unreadable(()) from None
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        raise Unreadable([Diagnostic("file-unwritable", message, out)]) from None
    click.echo(f"{out}: written", err=True)


def _print_problems(unreadable: Unreadable) -> int:
    """Print the diagnostics. Returns the exit code."""
    text = printers.text(unreadable.diagnostics, unreadable.sources)
    click.echo(text, err=True, nl=False)
    return 2


class _LossReport(NamedTuple):
    """The losses of a document, and the decisions that are the team's.

    ``path``: its name in messages. ``places``: None if it has no lines.
    """

    name: str
    path: str
    losses: tuple[Loss, ...]
    places: SourceMap | None
    decisions: tuple[Decision, ...] = ()

    def place(self, loss: Loss) -> tuple[int, int] | None:
        """Line and column of a loss."""
        return self.places.span(loss.pointer)[:2] if self.places is not None else None

    def data(self) -> dict[str, object]:
        """The report as JSON."""
        losses = []
        for loss in self.losses:
            place = self.place(loss)
            position = {} if place is None else {"line": place[0], "column": place[1]}
            losses.append({**loss._asdict(), **position})
        decisions = [decision._asdict() for decision in self.decisions]
        return {"document": self.name, "losses": losses, "decisions": decisions}

    def lines(self) -> Iterator[str]:
        """The report as text. Losses with one reason are one line, with the first place."""
        alike: dict[tuple[str, str], list[Loss]] = {}
        for loss in self.losses:
            alike.setdefault((loss.kind, re.sub("`[^`]*`", "", loss.reason)), []).append(loss)
        for (kind, _), losses in alike.items():
            first = losses[0]
            place = self.place(first)
            where = self.path if place is None else f"{self.path}:{place[0]}:{place[1]}"
            pointer = f" (#{first.pointer})" if first.pointer else ""
            more = f", and {len(losses) - 1} more" if len(losses) > 1 else ""
            yield escape_line(f"{where}: not carried [{kind}]: {first.reason}{pointer}{more}")
        for rule, count in Counter(decision.rule for decision in self.decisions).items():
            first_of = next(each for each in self.decisions if each.rule == rule)
            more = f", and {count - 1} more" if count > 1 else ""
            line = f"{self.path}: for the team [{rule}]: {first_of.reason} ({first_of.path}){more}"
            yield escape_line(line)


def _loss_report(imported: ImportedTaxonomy, path: str, places: SourceMap | None) -> _LossReport:
    return _LossReport(
        name=path,
        path=path,
        losses=imported.losses,
        places=places,
        decisions=imported.decisions,
    )


def _report(reports: Sequence[_LossReport], style: str) -> None:
    if style == "json":
        data = [report.data() for report in reports]
        click.echo(json.dumps(data, indent=2, ensure_ascii=False), err=True)
        return
    for report in reports:
        for line in report.lines():
            click.echo(line, err=True)
    kinds = Counter(loss.kind for report in reports for loss in report.losses)
    listed = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    summary = (
        f"{kinds.total()} of the document's statements are not carried: {listed}"
        if kinds
        else "nothing was lost"
    )
    rules = Counter(decision.rule for report in reports for decision in report.decisions)
    if rules:
        listed = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
        many = "1 decision is" if rules.total() == 1 else f"{rules.total()} decisions are"
        summary += f"; {many} the team's: {listed}"
    click.echo(summary, err=True)
