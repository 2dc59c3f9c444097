"""Documents that are read as taxonomies: OpenAPI documents and service models of botocore."""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from faultspec import source
from faultspec.diagnostics.model import Diagnostic
from faultspec.importers import ImportedTaxonomy, Loss, NotImportable
from faultspec.importers.validate import drop_invalid
from faultspec.importers.yaml_writer import write_yaml
from faultspec.language import LoadedTaxonomy, read
from faultspec.openapi.source_map import SourceMap, source_map
from faultspec.openapi.text import is_json_text, parse


class Unreadable(Exception):
    """A file that cannot be read or written: its diagnostics, and the texts for printers."""

    def __init__(
        self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self.diagnostics = tuple(diagnostics)
        self.sources = sources or {}


def read_document_text(path: str) -> str:
    """The text of a file, which may be compressed. Raises Unreadable."""
    try:
        source.refuse_link(path)
        content = source.read_bytes(path)
        if is_packed(path):
            content = zlib.decompressobj(wbits=31).decompress(content, source.MAX_BYTES + 1)
    except source.SourceError as error:
        raise Unreadable(error.diagnostics) from None
    except (zlib.error, gzip.BadGzipFile, EOFError):
        message = "the file is not a gzip file"
        raise Unreadable([Diagnostic("file-unreadable", message, path)]) from None
    if len(content) > source.MAX_BYTES:
        message = f"unpacked, the file is larger than {source.MAX_BYTES // 1024**2} MiB"
        raise Unreadable([Diagnostic("file-too-large", message, path)])
    text, found = source.decode(content, path)
    if text is None:
        raise Unreadable(found)
    return text


def parse_document(text: str, path: str) -> object:
    """The data of a document. Raises Unreadable."""
    data, found = parse(text, path)
    if found:
        raise Unreadable(found, {path: text})
    return data


class Table(NamedTuple):
    """The data of a document that may be a table, and its places; None if it has no lines."""

    data: object
    places: SourceMap | None


def parse_table(text: str, path: str) -> Table:
    """The data of a document in JSON, YAML, CSV or XML. Raises Unreadable."""
    from faultspec.importers.tables import parse_csv, parse_xml

    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        data, places, found = parse_xml(text, path)
    elif path.removesuffix(".gz").lower().endswith(".csv"):
        data, places, found = parse_csv(text, path)
    else:
        return Table(parse_document(text, path), document_places(text, path))
    if found:
        raise Unreadable(found, {path: text})
    return Table(data, None if is_packed(path) else places)


def is_packed(path: str) -> bool:
    """Whether a file is compressed. Editors do not show its lines, so places in it are pointers."""
    return path.endswith(".gz")


def document_places(text: str, path: str) -> SourceMap | None:
    """The places of a document; None if it has no lines."""
    return None if is_packed(path) else source_map(text, path)


def import_refusal(
    problem: NotImportable, path: str, text: str, places: SourceMap | None = None
) -> Unreadable:
    """The refusal of an importer at its place in the document.

    ``places``: default those of the text as JSON or YAML.
    """
    places = places or document_places(text, path)
    message, span, hint = problem.message, None, problem.hint
    if places is not None:
        span = places.span(problem.pointer)
    elif problem.pointer:
        message += f" (at {problem.pointer})"
    return Unreadable([Diagnostic(problem.code, message, path, span, hint=hint)], {path: text})


#: The first key of an OpenAPI document in YAML, as far as it is at the start of a line.
_OPENAPI = re.compile(r"^[\"']?(openapi|swagger)[\"']?\s*:", re.MULTILINE)


class ImportableDocument(NamedTuple):
    """A document for an importer: its text, and its data."""

    path: str
    text: str
    data: object


def read_importable(path: str) -> ImportableDocument | None:
    """The document at a path; None if the file is a taxonomy by its name and its text, or if only
    the reader of taxonomies can say what is wrong with it. Raises Unreadable.
    """
    packed = is_packed(path)
    try:
        text = read_document_text(path)
    except Unreadable:
        if packed:
            raise
        return None
    is_json = is_json_text(text)
    if not packed and not is_json and _OPENAPI.search(text) is None:
        return None
    data, found = parse(text, path)
    if not packed and is_json and not (isinstance(data, dict) and data.keys().isdisjoint(_OWN)):
        return None
    if found:
        raise Unreadable(found, {path: text})
    return ImportableDocument(path, text, data)


#: Keys that only taxonomies have.
_OWN = frozenset({"faultspec", "extends"})


def load_imported(
    document: ImportableDocument, service: str
) -> tuple[LoadedTaxonomy, tuple[Loss, ...]]:
    """The taxonomy of a document, and what the importer did not carry over. Raises Unreadable.

    ``service``: the name of the taxonomy, if the document is a model of botocore.
    """
    from faultspec.importers import botocore, openapi

    data = document.data
    is_model = isinstance(data, dict) and "shapes" in data and "metadata" in data
    try:
        imported: ImportedTaxonomy = drop_invalid(
            botocore.read(data, service) if is_model else openapi.read(data)
        )
    except NotImportable as problem:
        raise import_refusal(problem, document.path, document.text) from None
    return read(write_yaml(imported.data), document.path), imported.losses


def describe_losses(path: str, losses: Iterable[Loss]) -> Iterator[str]:
    """A sentence for each kind of loss and its reason, with the number of places."""
    pointers: dict[tuple[str, str], list[str]] = {}
    for loss in losses:
        pointers.setdefault((loss.kind, loss.reason), []).append(loss.pointer)
    for (kind, reason), places in pointers.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        yield f"{path}: not compared [{kind}]: {reason} (#{places[0]}{more})"


def service_name(path: str) -> str:
    """The name of a service by the folder of its model, as botocore names them."""
    parts = Path(path).parts
    return parts[-3] if len(parts) > 2 else parts[-1].split(".")[0]
