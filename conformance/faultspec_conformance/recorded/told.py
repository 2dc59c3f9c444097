"""The format of a recording, told by how it begins."""

import re

_MARK = b"\xef\xbb\xbf"

_HAR = re.compile(rb'\s*\{\s*"log"\s*:\s*\{\s*"(?:version|creator|browser|pages|entries|comment)"')
"""HAR 1.2; a line of a log may have a member ``log`` too, but never with these in it."""

_JSON_CASSETTE = re.compile(
    rb'\s*\{\s*"(?:version"\s*:\s*\d+\s*,\s*"interactions|interactions|http_interactions|recorded_with)"'
)

_YAML_CASSETTE = re.compile(rb"^(?:http_)?interactions:", re.MULTILINE)


def told(head: bytes) -> str | None:
    """``har``, ``vcr`` or ``ndjson``; None: none of them."""
    head = head.removeprefix(_MARK)
    if _HAR.match(head):
        return "har"
    if _JSON_CASSETTE.match(head) or _YAML_CASSETTE.search(head):
        return "vcr"
    return "ndjson" if head.lstrip()[:1] == b"{" else None
