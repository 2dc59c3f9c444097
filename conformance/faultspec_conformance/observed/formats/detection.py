"""Detecting the format of a recording."""

import json
import re
from pathlib import PurePath

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: HAR 1.2. A line of a log may have a member ``log`` too, but never with these members in it.
_HAR = re.compile(rb'\s*\{\s*"log"\s*:\s*\{\s*"(?:version|creator|browser|pages|entries|comment)"')

_JSON_CASSETTE = re.compile(
    rb'\s*\{\s*"(?:version"\s*:\s*\d+\s*,\s*"interactions|interactions|http_interactions|recorded_with)"'
)

_YAML_CASSETTE = re.compile(rb"^(?:http_)?interactions:", re.MULTILINE)

#: A list of objects in one line, as some exporters write it.
_LIST = re.compile(rb"\s*\[[^\S\n]*\{")

_PARQUET = b"PAR1"

#: Extensions of logs of one record a line, and of tables of CSV.
_LOGS, _TABLES = frozenset({".ndjson", ".jsonl", ".log"}), frozenset({".csv", ".tsv"})

#: Extensions of compressed files.
_PACKED = frozenset({".gz", ".bz2", ".xz", ".zst"})


def detect_format(head: bytes, name: str = "") -> str | None:
    """``har``, ``vcr``, ``ndjson``, ``csv`` or ``parquet``, by the first bytes of a file and its
    name; None for other formats.

    One line with an object, a list of objects that begins in the first line, or the extension of a
    log, is enough for ``ndjson``: the program that writes a log may print other lines before its
    first record.
    """
    head = head.removeprefix(_BYTE_ORDER_MARK)
    if _HAR.match(head):
        return "har"
    if _JSON_CASSETTE.match(head) or _YAML_CASSETTE.search(head):
        return "vcr"
    if head.startswith(_PARQUET):
        return "parquet"
    path = PurePath(name.lower())
    extension = (PurePath(path.stem) if path.suffix in _PACKED else path).suffix
    if extension in _TABLES:
        return "csv"
    begins = head.lstrip()[:1] == b"{" or _LIST.match(head) is not None
    if extension in _LOGS or begins or any(map(_is_object, head.splitlines())):
        return "ndjson"
    return None


def _is_object(line: bytes) -> bool:
    try:
        return line.lstrip()[:1] == b"{" and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
