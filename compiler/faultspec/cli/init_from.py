"""``faultspec init --from``: draft a taxonomy, a conformance file and a project file."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import click

from faultspec.cli.extra import require_conformance
from faultspec.cli.init_conformance import HERE, print_drafted, relative_path
from faultspec.cli.new_files import print_refusal, write_new
from faultspec.cli.reporting import check_address, print_error
from faultspec.cli.secrets import mask_draft
from faultspec.language.schema import json_schema_text, schema_text

if TYPE_CHECKING:
    from faultspec.exchange.model import Exchange
    from faultspec.openapi.service import Description
    from faultspec_conformance.learning.answers import ErrorAnswer
    from faultspec_conformance.run.draft import DraftedCaller

_PROJECT = """\
# yaml-language-server: $schema=project.schema.json
taxonomies: [{taxonomy}]
conformance: {conformance}
"""


#: The seed of every draft: the same service gives the same one.
_SEED = 1

#: Characters of a variable that may be the caller's credentials. Shorter ones are like others by
#: chance: `1`, `true`, `en`.
_SHORTEST = 8


class _Source(NamedTuple):
    """The inputs of a draft. ``openapi``: the place of the document for the configuration."""

    description: "Description"
    answers: tuple["ErrorAnswer", ...]
    exchanges: tuple["Exchange", ...]
    http: str
    openapi: str | None


class SourceRequest(NamedTuple):
    """How a service is asked. ``headers``: those of the caller. ``paths``: named by the user."""

    headers: Sequence[str] = ()
    paths: Sequence[str] = ()


def draft_from(
    source: str, file: str, caller: SourceRequest, http: str | None, *, is_url: bool
) -> int:
    """Draft FILE, and beside it conformance.yaml, faultspec.yaml and their schemas. Returns the
    exit code. Nothing is overwritten. ``is_url``: the source is a service, not a document.
    """
    require_conformance()
    from faultspec.cli.schemas import PROJECT_SCHEMA, project_schema
    from faultspec.importers import NotImportable
    from faultspec.language import read
    from faultspec_conformance.config import draft_address
    from faultspec_conformance.config.addresses import plain_address
    from faultspec_conformance.learning.answers import group_shapes, text_shape
    from faultspec_conformance.learning.draft import draft_taxonomy, write_draft
    from faultspec_conformance.learning.in_band import describe_marks, find_marks
    from faultspec_conformance.learning.sightings import describe_errors
    from faultspec_conformance.run.draft import draft

    check_address(http, "--http")
    target = Path(file)
    folder = target.parent
    configuration, project = folder / "conformance.yaml", folder / "faultspec.yaml"
    for path in (target, configuration, project):
        if os.path.lexists(path):
            return print_refusal(
                "file-exists", "the file exists already", str(path), "name another, or remove it"
            )
    found = _explore(source, caller) if is_url else _read(source, http, target)
    if found is None:
        return 2
    shapes = group_shapes(found.answers)
    text_alone = None if shapes else text_shape(found.answers)
    shapes = shapes if text_alone is None else (text_alone,)
    marks = find_marks(shapes[0], found.exchanges) if shapes else {}
    try:
        imported = draft_taxonomy(found.description, shapes, marks)
    except NotImportable as problem:
        print_error(problem.code, problem.message, problem.hint or "is this the right service?")
        return 2
    bare = plain_address(source) if is_url else source
    text = mask_draft(write_draft(imported, found.answers, bare, "faultspec.schema.json"))
    taxonomy = read(text, file).taxonomy
    if taxonomy is None:  # drop_invalid has read it, but before the masks
        print_error("masked-names", "the service has the secrets of this command as names")
        return 2
    address = draft_address(found.http, "SERVICE")
    print_drafted(address)
    conformance = draft(
        found.description,
        taxonomy,
        http=address.text,
        openapi=found.openapi,
        taxonomy_path=target.name,
        caller=name_caller(caller.headers) if is_url and caller.headers else None,
    )
    contents = {
        target: text,
        configuration: mask_draft(conformance),
        project: _PROJECT.format(taxonomy=target.name, conformance=configuration.name),
        folder / "faultspec.schema.json": json_schema_text(),
        folder / PROJECT_SCHEMA: schema_text(project_schema()),
    }
    notes = (*describe_errors(found.answers, shapes), *describe_marks(marks))
    for note in notes if is_url else ():
        click.echo(f"note: {note}", err=True)
    return _write_all(contents)


def name_caller(headers: Sequence[str]) -> "DraftedCaller":
    """The caller of a command with variables in place of its secrets: those of the environment
    that have them, else those by which reports show them.
    """
    from faultspec.cli.conform import parse_header
    from faultspec_conformance.config import name_variable, secret_of
    from faultspec_conformance.run.draft import DraftedCaller

    known = {
        value: f"${{{name}}}"
        for name, value in sorted(os.environ.items())
        if len(value) >= _SHORTEST and re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
    }
    found: list[tuple[str, str]] = []
    is_set = True
    for name, value in map(parse_header, headers):
        secret = secret_of(name, value)
        is_set &= secret in known
        found.append((name, value.removesuffix(secret) + known.get(secret, name_variable(name))))
    return DraftedCaller(tuple(found), is_set=is_set)


def _explore(url: str, caller: SourceRequest) -> _Source | None:
    """The answers of a service; None after an error was printed."""
    from faultspec.cli.conform import configure_url
    from faultspec_conformance.run.first_look import explore, read_explored
    from faultspec_conformance.session.options import RunOptions, Unreachable

    config = configure_url(url, caller.headers, None, caller.paths)
    explored = explore(config, RunOptions(seed=_SEED))
    if isinstance(explored, Unreachable):
        print_error("unreachable", explored.reason, explored.hint or "is the service running?")
        return None
    if explored.report.interrupted:
        raise KeyboardInterrupt  # a draft of some answers would look like one of all
    openapi = urlsplit(explored.description.address).path or None
    return _Source(
        explored.description,
        answers=read_explored(explored),
        exchanges=explored.exchanges,
        http=config.http,
        openapi=openapi,
    )


def _read(path: str, http: str | None, target: Path) -> _Source | None:
    """The service of a document; None after an error was printed."""
    from faultspec.cli.reporting import Refused, load_description

    try:
        description = load_description(path)
    except Refused:
        return None
    assert description is not None  # a path was given
    place = relative_path(target, path)
    # The servers of the document are not taken: a draft aims at nothing but this machine.
    http = (http or HERE).rstrip("/")
    return _Source(description, answers=(), exchanges=(), http=http, openapi=place)


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
