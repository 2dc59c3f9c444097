"""``faultspec init conformance``: draft a conformance.yaml."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from faultspec import source
from faultspec.cli.extra import require_conformance
from faultspec.cli.new_files import print_refusal, write_new
from faultspec.cli.reporting import check_address
from faultspec.cli.secrets import mask_draft
from faultspec.diagnostics.model import Diagnostic
from faultspec.diagnostics.printers import text

if TYPE_CHECKING:
    from faultspec_conformance.config.addresses import DraftedAddress

HERE = "http://127.0.0.1:8080"
"""The address in a draft if the document names none on this machine. A person edits it."""


@click.command(name="conformance")
@click.argument("file", default="conformance.yaml", type=click.Path())
@click.option(
    "--openapi", required=True, metavar="FILE|URL", help="The service's OpenAPI document."
)
@click.option(
    "--taxonomy",
    default="taxonomy.yaml",
    show_default=True,
    type=click.Path(),
    help="The taxonomy to judge by.",
)
@click.option(
    "--http",
    metavar="URL",
    help="The address of the service; default: a server of the document on this machine, else "
    "http://127.0.0.1:8080.",
)
def command(file: str, openapi: str, taxonomy: str, http: str | None) -> int:
    """Draft FILE (default: conformance.yaml) from a service's OpenAPI document.

    Comments name what cannot be inferred. Nothing is overwritten.
    """
    require_conformance()
    from faultspec.language import load
    from faultspec.openapi import service
    from faultspec.openapi.closing import describe_cuts
    from faultspec.openapi.swagger import openapi_3
    from faultspec.openapi.text import file_url, parse_leniently
    from faultspec_conformance.config import draft_address
    from faultspec_conformance.run.draft import draft
    from faultspec_conformance.run.draft_texts import DraftTemplate

    is_url = re.match(r"https?://", openapi) is not None
    check_address(http, "--http")
    check_address(openapi if is_url else None, "--openapi")
    target = Path(file)
    if os.path.lexists(target):
        return print_refusal(
            "file-exists", "the file exists already", file, "name another, or remove it"
        )
    loaded = load(taxonomy)
    if loaded.taxonomy is None:
        sources = {taxonomy: loaded.document.text} if loaded.document is not None else {}
        click.echo(text(loaded.diagnostics, sources), err=True, nl=False)
        return 2
    content = _fetch(openapi) if is_url else _read(openapi)
    if isinstance(content, Diagnostic):
        click.echo(text([content], {}), err=True, nl=False)
        return 2
    document, problem = parse_leniently(content)
    if document is None:
        return print_refusal(
            "not-openapi", f"the file is not an OpenAPI document: {problem}", openapi, None
        )
    address, place = _address(openapi, http, openapi_3(document).document)
    drafted, document_place = draft_address(address, "SERVICE"), place
    if re.match(r"https?://", place):
        of_document = draft_address(place, "OPENAPI")
        document_place = of_document.text
        print_drafted(of_document)
    print_drafted(drafted)
    description = service.read(
        document,
        base=urlsplit(address).path or None,
        address=openapi if is_url else file_url(openapi),
    )
    for note in describe_cuts(description.cuts):
        click.echo(f"note: {note}", err=True)
    written = draft(
        description,
        loaded.taxonomy,
        http=drafted.text,
        openapi=DraftTemplate(document_place) if is_url else relative_path(target, openapi),
        taxonomy_path=relative_path(target, taxonomy),
    )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_new(target, mask_draft(written))
    except FileExistsError:
        return print_refusal(
            "file-exists", "the file exists already", file, "name another, or remove it"
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return print_refusal(
            "file-unwritable", f"the file cannot be written: {reason or error}", file, None
        )
    click.echo(file)
    click.echo(f"next: check the file, then faultspec conform {file}", err=True)
    return 0


def print_drafted(address: "DraftedAddress") -> None:
    """Print a note about the secrets that an address in a draft has lost."""
    if address.variables:
        names = " and ".join(address.variables)
        click.echo(
            f"note: the draft takes the user of the address from {names}: set them", err=True
        )
    if address.left_out:
        names = ", ".join(f"`{name}`" for name in address.left_out)
        click.echo(f"note: the draft leaves out the query of the address: {names}", err=True)


def relative_path(file: Path, path: str) -> str:
    """A path as the file writes it: relative to its own folder."""
    return path if os.path.isabs(path) else Path(os.path.relpath(path, file.parent)).as_posix()


def _address(openapi: str, http: str | None, document: object) -> tuple[str, str]:
    """The address of the service, and the path of its document from there. Of the servers in the
    document only one on this machine counts: a draft aims at no other host by itself.
    """
    from faultspec_conformance.drivers.http import is_loopback_host

    if re.match(r"https?://", openapi):
        parts = urlsplit(openapi)
        origin = f"{parts.scheme}://{parts.netloc}"
        address = http or origin
        return address.rstrip("/"), parts.path if address.startswith(origin) else openapi
    if http is not None:
        return http.rstrip("/"), openapi
    servers = document.get("servers") if isinstance(document, dict) else None
    for server in servers if isinstance(servers, list) else ():
        url = server.get("url") if isinstance(server, dict) else None
        if isinstance(url, str) and re.fullmatch(r"https?://[^{}\s]+", url):
            parts = urlsplit(url)
            if is_loopback_host(parts.hostname or ""):
                return f"{parts.scheme}://{parts.netloc}", openapi
    return HERE, openapi


def _read(path: str) -> str | Diagnostic:
    try:
        text, found = source.decode(source.read_bytes(path), path)
    except source.SourceError as error:
        return error.diagnostics[0]
    return found[0] if text is None else text


def _fetch(url: str) -> str | Diagnostic:
    from faultspec.exchange.model import Request
    from faultspec_conformance.drivers import Limits, NoAnswer
    from faultspec_conformance.drivers.http import HttpDriver, without_credentials

    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with HttpDriver(f"{parts.scheme}://{parts.netloc}", Limits(requests=1)) as driver:
        answer = driver.send(Request("GET", target, (("Accept", "application/json, */*;q=0.8"),)))
    if isinstance(answer, NoAnswer):
        return Diagnostic("unreachable", answer.reason, without_credentials(url))
    if answer.status != 200:
        return Diagnostic(
            "unreachable", f"the address answers {answer.status}", without_credentials(url)
        )
    if answer.cut:
        message = f"the document {answer.cut}"
        return Diagnostic(
            "unreachable", message, without_credentials(url), hint="save it, and name the file"
        )
    return answer.body.decode("utf-8", "replace")
