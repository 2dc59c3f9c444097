"""``faultspec init``: create a first taxonomy, project file or conformance file."""

import re
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import click

from faultspec.cli.new_files import print_refusal, write_new
from faultspec.language.schema import json_schema_text, schema_text
from faultspec.project import FILE

#: The other kinds of file that `init` creates, each imported on demand.
KINDS: Mapping[str, str] = {
    "project": "faultspec.cli.init:project",
    "conformance": "faultspec.cli.init_conformance:command",
    "audit": "faultspec.cli.init_audit:command",
}

_DEFAULT = "taxonomy"

#: The name of the schema of taxonomies.
_SCHEMA = "faultspec.schema.json"


class _Kinds(click.Group):
    """`init FILE` creates a taxonomy, `init KIND …` another kind of file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [_DEFAULT, *KINDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _DEFAULT:
            return taxonomy
        if cmd_name not in KINDS:
            return None
        module, _, attribute = KINDS[cmd_name].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_kind = args and (args[0] in (_DEFAULT, *KINDS) or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_kind else [_DEFAULT, *args])


@click.command(cls=_Kinds, name="init", subcommand_metavar="[FILE] | KIND [ARGS]...")
def command() -> None:
    """Create a taxonomy in FILE (default: taxonomy.yaml), and the JSON Schema for editors next to
    it.
    """


@click.command(name=_DEFAULT)
@click.argument("file", default="taxonomy.yaml", type=click.Path())
@click.option(
    "--from",
    "source",
    metavar="URL|FILE",
    help="Draft from the answers of a running service, or from an OpenAPI document; "
    "conformance.yaml and faultspec.yaml beside it.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME:VALUE",
    help="With --from URL: a header of the caller, such as a token; can be repeated.",
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PATH",
    help="With --from URL: a path to ask for, such as /orders/17 or '/orders/{id}'; can be "
    "repeated.",
)
@click.option(
    "--http", metavar="URL", help="With --from FILE: the address of the service to judge."
)
def taxonomy(
    file: str,
    source: str | None,
    headers: tuple[str, ...],
    paths: tuple[str, ...],
    http: str | None,
) -> int:
    """Create a taxonomy in FILE (default: taxonomy.yaml), and the JSON Schema for editors next to
    it.

    With --from URL the service is asked for unknown routes and ids, with bad input and without
    credentials; only GET, HEAD and OPTIONS are sent. Nothing is overwritten: an existing FILE is an
    error, an existing schema is kept.
    """
    is_url = source is not None and re.match(r"https?://", source) is not None
    if ((headers or paths) and not is_url) or (http and (source is None or is_url)):
        message = "--header and --path need --from URL, and --http needs --from FILE"
        raise click.UsageError(message)
    if source is not None:
        from faultspec.cli.init_from import SourceRequest, draft_from

        return draft_from(source, file, SourceRequest(headers, paths), http, is_url=is_url)
    schema = (_SCHEMA, json_schema_text())
    return _create(file, "starter.yaml", schema, f"faultspec lint {file}")


@click.command(name="project")
def project() -> int:
    """Create the project file faultspec.yaml in this folder, and its JSON Schema for editors.

    Nothing is overwritten: an existing project file is an error, an existing schema is kept.
    """
    from faultspec.cli.schemas import PROJECT_SCHEMA, project_schema

    schema = (PROJECT_SCHEMA, schema_text(project_schema()))
    return _create(FILE, "starter-project.yaml", schema, "check the file, then faultspec lint")


def _create(file: str, starter: str, schema: tuple[str, str], following: str) -> int:
    """Create a file from a starter, and the schema (name and text) beside it. Returns the exit
    code. ``following``: what to do next.
    """
    target = Path(file)
    try:
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
        write_new(target, files("faultspec.cli").joinpath(starter).read_text(encoding="utf-8"))
    except FileExistsError:
        return print_refusal(
            "file-exists", "the file exists already", file, "name another, or remove it"
        )
    except OSError as error:
        return print_refusal(
            "file-unwritable", f"the file cannot be written: {error.strerror}", file
        )
    click.echo(file)
    name, text_of_schema = schema
    beside = target.parent / name
    try:
        write_new(beside, text_of_schema)
        click.echo(str(beside))
    except FileExistsError:
        click.echo(f"{beside}: kept as it is", err=True)
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        return print_refusal("file-unwritable", message, str(beside))
    click.echo(f"next: {following}", err=True)
    return 0
