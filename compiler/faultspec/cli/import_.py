"""``faultspec import``: a taxonomy from what a team has already."""

import gzip
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click

from faultspec import source
from faultspec.diagnostics import printers
from faultspec.diagnostics.formats.escaping import visible
from faultspec.diagnostics.model import Diagnostic
from faultspec.importers import Loss, NotImportable
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.openapi.source_map import SourceMap, source_map
from faultspec.openapi.text import parse

_OUT = click.option(
    "--out", type=click.Path(), metavar="FILE", help="Where to write the taxonomy; default: stdout."
)
_FORCE = click.option("--force", is_flag=True, help="Overwrite what is there.")
_FORMAT = click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the loss report, on stderr.",
)

#: The editor's schema, as `faultspec init` puts it beside a taxonomy.
_SCHEMA = "faultspec.schema.json"


class _Refused(Exception):
    """Something that ends in exit code 2; it has been said already."""


@click.group(name="import")
def command() -> None:
    """Make a taxonomy of a document, and say what of the document it does not carry.

    Exit codes: 0 imported, whatever was lost; 2 the document is no such document, or a file is in the way.
    """


@command.command(name="openapi")
@click.argument("file", type=click.Path())
@_OUT
@_FORCE
@_FORMAT
def openapi(file: str, out: str | None, force: bool, style: str) -> int:
    """Import the failures of an OpenAPI document, 3.0 or 3.1, in JSON or YAML. Nothing outside FILE is fetched."""
    from faultspec.importers.openapi import read

    try:
        _free(out, force)
        text = _text(file)
        document = _parsed(text, file)
        try:
            imported = drop_invalid(read(document))
        except NotImportable as problem:
            raise _refused(problem, file, text) from None
        _put(write_yaml(imported.data, _schema(out)), out, force)
    except _Refused:
        return 2
    _report([_Told(file, file, imported.losses, source_map(text, file))], style)
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
    """Import the errors of SERVICE: a name of the installed botocore, or the path of a service-2.json."""
    from faultspec.importers.botocore import read

    if everything == bool(services):
        raise click.UsageError("Name a service, or say --all.")
    several = everything or len(services) > 1
    if several and out is None:
        raise click.UsageError("Say with --out into which folder the taxonomies go.")
    losses: list[_Told] = []
    try:
        chosen = (
            _models()
            if everything
            else {name: path for service in services for name, path in [_model(service)]}
        )
        for name, path in chosen.items():
            target = str(Path(out) / f"{name}.yaml") if several and out is not None else out
            _free(target, force)
            text = _text(path)
            document = _parsed(text, path)
            try:
                imported = drop_invalid(read(document, name))
            except NotImportable as problem:
                if everything and problem.code == "no-failures":
                    click.echo(f"{name}: {problem.message}; skipped", err=True)
                    continue
                raise _refused(problem, path, text) from None
            _put(write_yaml(imported.data, _schema(target)), target, force)
            packed = _is_packed(path)
            losses.append(
                _Told(
                    name,
                    name if packed else path,
                    imported.losses,
                    None if packed else source_map(text, path),
                )
            )
    except _Refused:
        return 2
    _report(losses, style)
    return 0


# Models of botocore


def _data() -> Path:
    found = find_spec("botocore")
    if found is None or not found.submodule_search_locations:
        raise click.UsageError(
            "this command needs botocore, which is not installed: pip install botocore"
        )
    return Path(found.submodule_search_locations[0]) / "data"


def _models() -> dict[str, str]:
    from faultspec.importers.botocore import models

    return dict(models(str(_data())))


def _model(service: str) -> tuple[str, str]:
    """The name of a service and the file of its model."""
    if os.sep in service or service.endswith((".json", ".json.gz")):
        parts = Path(service).parts
        return (parts[-3] if len(parts) > 2 else Path(service).name.split(".")[0]), service
    known = _models()
    if service not in known:
        import difflib

        near = difflib.get_close_matches(service, known, n=1)
        raise click.UsageError(
            f"botocore has no service {service!r}."
            + (f" Did you mean {near[0]!r}?" if near else "")
        )
    return service, known[service]


# Reading and writing


def _text(path: str) -> str:
    try:
        content = source.read_bytes(path)
        if _is_packed(path):
            content = zlib.decompressobj(wbits=31).decompress(content, source.MAX_BYTES + 1)
            if len(content) > source.MAX_BYTES:
                _say(
                    [
                        Diagnostic(
                            "file-too-large",
                            f"unpacked, the file is larger than {source.MAX_BYTES // 1024**2} MiB",
                            path,
                        )
                    ]
                )
                raise _Refused
    except source.SourceError as error:
        _say(error.diagnostics)
        raise _Refused from None
    except (zlib.error, gzip.BadGzipFile, EOFError):
        _say([Diagnostic("file-unreadable", "the file is no gzip file", path)])
        raise _Refused from None
    text, found = source.decode(content, path)
    if text is None:
        _say(found)
        raise _Refused
    return text


def _parsed(text: str, path: str) -> object:
    data, found = parse(text, path)
    if found:
        _say(found, {path: text})
        raise _Refused
    return data


def _is_packed(path: str) -> bool:
    """Whether the lines of a file are none that an editor shows; places in it are pointers, then."""
    return path.endswith(".gz")


def _refused(problem: NotImportable, path: str, text: str) -> _Refused:
    places = None if _is_packed(path) else source_map(text, path)
    if places is None:
        place = f" (at {problem.pointer})" if problem.pointer else ""
        _say([Diagnostic(problem.code, f"{problem.message}{place}", path, hint=problem.hint)])
    else:
        span = places.span(problem.pointer)
        _say(
            [Diagnostic(problem.code, problem.message, path, span, hint=problem.hint)], {path: text}
        )
    return _Refused()


def _free(out: str | None, force: bool) -> None:
    if out is not None and not force and os.path.lexists(out):
        _say(
            [
                Diagnostic(
                    "file-exists",
                    "this file is there already",
                    out,
                    hint="name another one, or say --force",
                )
            ]
        )
        raise _Refused


def _schema(out: str | None) -> str | None:
    """Where the editor's schema stands beside the file; None where it does not."""
    return _SCHEMA if out is not None and Path(out).with_name(_SCHEMA).is_file() else None


def _put(text: str, out: str | None, force: bool) -> None:
    """The taxonomy on stdout, or in a file, whole or not at all."""
    if out is None:
        click.echo(text, nl=False)
        return
    target = Path(out)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not force:
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        else:
            beside = target.with_name(f".{target.name}.new")
            beside.write_text(text, encoding="utf-8", newline="\n")
            beside.replace(target)
    except FileExistsError:
        _free(out, False)
        raise _Refused from None
    except OSError as error:
        _say([Diagnostic("file-unwritable", f"the file cannot be written: {error.strerror}", out)])
        raise _Refused from None
    click.echo(f"{out}: written", err=True)


def _say(found: Sequence[Diagnostic], sources: Mapping[str, str] | None = None) -> None:
    click.echo(printers.text(found, sources or {}), err=True, nl=False)


class _Told(NamedTuple):
    """What of a document is not carried. ``path``: how its places are called; ``places``: None where it has no lines."""

    name: str
    path: str
    losses: tuple[Loss, ...]
    places: SourceMap | None

    def place(self, loss: Loss) -> tuple[int, int] | None:
        """Line and column of a loss."""
        return self.places.span(loss.pointer)[:2] if self.places is not None else None


def _data_of(told: _Told, loss: Loss) -> dict[str, object]:
    place = told.place(loss)
    return {**loss._asdict(), **({} if place is None else {"line": place[0], "column": place[1]})}


def _report(told: Sequence[_Told], style: str) -> None:
    if style == "json":
        report = [
            {"document": each.name, "losses": [_data_of(each, loss) for loss in each.losses]}
            for each in told
        ]
        click.echo(json.dumps(report, indent=2, ensure_ascii=False), err=True)
        return
    for each in told:
        for loss in each.losses:
            place = each.place(loss)
            where = each.path if place is None else f"{each.path}:{place[0]}:{place[1]}"
            pointer = f" (#{loss.pointer})" if loss.pointer else ""
            click.echo(
                visible(f"{where}: not carried [{loss.kind}]: {loss.reason}{pointer}"),
                err=True,
            )
    total = sum(len(each.losses) for each in told)
    click.echo(
        "nothing was lost"
        if not total
        else f"{total} of the document's statements are not carried",
        err=True,
    )
