"""The format of a recording, told by how it begins, or by its name."""

import json
import re
from pathlib import PurePath

_MARK = b"\xef\xbb\xbf"

_HAR = re.compile(rb'\s*\{\s*"log"\s*:\s*\{\s*"(?:version|creator|browser|pages|entries|comment)"')
"""HAR 1.2; a line of a log may have a member ``log`` too, but never with these in it."""

_JSON_CASSETTE = re.compile(
    rb'\s*\{\s*"(?:version"\s*:\s*\d+\s*,\s*"interactions|interactions|http_interactions|recorded_with)"'
)

_YAML_CASSETTE = re.compile(rb"^(?:http_)?interactions:", re.MULTILINE)


#: What logs of one object a line are called; what is in them may begin with lines that are none.
_LOGS = frozenset({".ndjson", ".jsonl", ".log"})


def told(head: bytes, name: str = "") -> str | None:
    """``har``, ``vcr`` or ``ndjson``; None: none of them. ``name``: that of the file.

    Whatever writes a log may have said something before its first record, so one line that is a record is enough.
    """
    head = head.removeprefix(_MARK)
    if _HAR.match(head):
        return "har"
    if _JSON_CASSETTE.match(head) or _YAML_CASSETTE.search(head):
        return "vcr"
    named = PurePath(name.removesuffix(".gz")).suffix.lower() in _LOGS
    return (
        "ndjson"
        if named or head.lstrip()[:1] == b"{" or any(map(_object, head.splitlines()))
        else None
    )


def _object(line: bytes) -> bool:
    try:
        return line.lstrip()[:1] == b"{" and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
