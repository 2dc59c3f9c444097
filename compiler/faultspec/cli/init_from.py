"""``faultspec init --from``: draft a taxonomy, a conformance file and a project file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import click

from faultspec.cli.extra import require_conformance
from faultspec.cli.init import print_refusal, write_new
from faultspec.cli.init_conformance import HERE, relative_path, without_secrets
from faultspec.cli.reporting import print_error
from faultspec.language.schema import json_schema_text, schema_text

if TYPE_CHECKING:
    from faultspec.openapi.service import Description
    from faultspec_conformance.config import Identity
    from faultspec_conformance.learning.answers import ErrorAnswer

_PROJECT = """\
# yaml-language-server: $schema=project.schema.json
taxonomies: [{taxonomy}]
conformance: {conformance}
"""


class _Source(NamedTuple):
    """The inputs of a draft. ``openapi``: the place of the document for the configuration.

    ``http`` and ``source`` have no secrets: drafts are committed.
    """

    description: "Description"
    answers: tuple["ErrorAnswer", ...]
    http: str
    openapi: str | None
    source: str
    identities: tuple["Identity", ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()


def draft_from(
    source: str, file: str, headers: Sequence[str], http: str | None, *, is_url: bool
) -> int:
    """Draft FILE, and beside it conformance.yaml, faultspec.yaml and their schemas. Returns the
    exit code. Nothing is overwritten. ``is_url``: the source is a service, not a document.
    """
    require_conformance()
    from faultspec.cli.schemas import PROJECT_SCHEMA, project_schema
    from faultspec.importers import NotImportable
    from faultspec.language import read
    from faultspec_conformance.learning.answers import group_shapes
    from faultspec_conformance.learning.draft import draft_taxonomy, write_draft
    from faultspec_conformance.learning.sightings import describe_errors
    from faultspec_conformance.run.draft import draft
    from faultspec_conformance.sanitize.masking import build_masking

    target = Path(file)
    folder = target.parent
    configuration, project = folder / "conformance.yaml", folder / "faultspec.yaml"
    for path in (target, configuration, project):
        if os.path.lexists(path):
            return print_refusal(
                "file-exists", "the file exists already", str(path), "name another, or remove it"
            )
    found = _explore(source, headers) if is_url else _read(source, http, target)
    if found is None:
        return 2
    shapes = group_shapes(found.answers)
    try:
        imported = draft_taxonomy(found.description, shapes)
    except NotImportable as problem:
        print_error(problem.code, problem.message, problem.hint or "is this the right service?")
        return 2
    masking = build_masking(found.identities, found.secrets)
    text = write_draft(imported, found.answers, found.source, "faultspec.schema.json")
    if masking.text(text) != text:
        message = "the service repeats a secret of the request, so the draft would contain it"
        print_error("secret-in-draft", message, "draft from a service that does not, or by hand")
        return 2
    taxonomy = read(text, file).taxonomy
    assert taxonomy is not None  # drop_invalid has read it
    conformance = draft(
        found.description,
        taxonomy,
        http=found.http,
        openapi=found.openapi,
        taxonomy_path=target.name,
    )
    contents = {
        target: text,
        configuration: conformance,
        project: _PROJECT.format(taxonomy=target.name, conformance=configuration.name),
        folder / "faultspec.schema.json": json_schema_text(),
        folder / PROJECT_SCHEMA: schema_text(project_schema()),
    }
    for note in describe_errors(found.answers, shapes) if is_url else ():
        click.echo(f"note: {masking.text(note)}", err=True)
    return _write_all(contents)


def _explore(url: str, headers: Sequence[str]) -> _Source | None:
    """The answers of a service; None after an error was printed."""
    from faultspec.cli.conform import configure_url
    from faultspec_conformance.config.addresses import plain_address
    from faultspec_conformance.run.first_look import explore, read_explored
    from faultspec_conformance.sanitize.masking import build_masking
    from faultspec_conformance.session.options import RunOptions, Unreachable

    config = configure_url(url, headers, None)
    explored = explore(config, RunOptions())
    identities = tuple(config.identities.values())
    if isinstance(explored, Unreachable):
        masking = build_masking(identities, config.secrets)
        hint = masking.text(explored.hint or "is the service running?")
        print_error("unreachable", masking.text(explored.reason), hint)
        return None
    return _Source(
        description=explored.description,
        answers=read_explored(explored),
        http=without_secrets(config.http),
        openapi=urlsplit(explored.description.address).path or None,
        source=plain_address(url),
        identities=identities,
        secrets=config.secrets,
    )


def _read(path: str, http: str | None, target: Path) -> _Source | None:
    """The service of a document; None after an error was printed."""
    from faultspec.cli.reporting import Refused, load_description

    try:
    if explored.report.interrupted:
        raise KeyboardInterrupt  # a draft of some answers would look like one of all
        description = load_description(path)
    except Refused:
        return None
    assert description is not None  # a path was given
    place = relative_path(target, path)
    # The servers of the document are not taken: a draft aims at nothing but this machine.
    return _Source(
        description=description,
        answers=(),
        http=without_secrets(http or HERE).rstrip("/"),
        openapi=place,
        source=path,
    )


def _write_all(contents: Mapping[Path, str]) -> int:
    """Write new files; those that exist are kept. Returns the exit code."""
    for path, text in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_new(path, text)
        except FileExistsError:
            click.echo(f"{path}: kept as it is", err=True)
        except OSError as error:
            message = f"the file cannot be written: {error.strerror}"
            return print_refusal("file-unwritable", message, str(path))
        else:
            click.echo(str(path))
    click.echo("next: check the comments, then faultspec lint, and faultspec conform", err=True)
    return 0
