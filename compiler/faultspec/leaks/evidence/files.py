"""Whether a match is a file of the server: not a route, a JSON Pointer or a file of the caller."""

import re

from faultspec.leaks.evidence.context import text_after, text_before
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_ROUTE_BEFORE = Expression(
    r"\b(?:get|head|post|put|patch|delete|options|routes?|endpoints?|urls?|uris?|links?|href|resources?|pages?)(?: (?:for|to|at|named|is|matches|matching))?[ :=\"'`(]{0,4}$",
    re.I,
)
"""Words before the path of a URL."""

_METHODS_BEFORE = Expression(
    r"\b(?:methods?\b[^\n.]{0,20} (?:for|to|on|of|at)|(?:requests?|calls?)\b[^\n.]{0,20} (?:for|to|on|of)) [\"'`]?$",
    re.I,
)

_REPOSITORY_AFTER = Expression(
    r"[^\n]{0,30}\b(?:in|of|from) (?:your|the) (?:\w{1,20} )?(?:repository|repo|branch|commit|pull request|workspace|pipeline|project|archive|bundle|upload|zip)\b"
)
"""Words after a file that the caller keeps with the service."""

_METHODS_AFTER = Expression(
    r"[\"'`)]{0,2}:? [\w ]{0,30}\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\b"
)
"""Words around the path of a URL, of sentences about its methods."""

_POINTER_BEFORE = Expression(
    r"\b(?:field|pointer|property|attribute|member|element|items?|param|parameter|schema|keyword|json ?path)s?[ :=\"'`(\[]{1,4}$"
    r"|[\"'](?:pointer|instance|instance_?path|data_?path|schema_?path|json_?pointer|field|loc|location|\$ref)\\?[\"']\s?:\s?\\?[\"']#?$|#$",
    re.I,
)
"""Words and member names before a JSON Pointer (RFC 6901; RFC 9457 names ``instance``)."""

_POINTER = Expression(r"~[01]|^(?!/proc/|/dev/)(?:/[\w~-]{1,60}){1,2}/(?:\d{1,4}|-)(?:/|$)")
"""The signs of a JSON Pointer: escapes, and positions in a list."""

_POINTER_AFTER = Expression(
    r"[\"'`)\]]{0,2} (?:(?:field|property|member|attribute|element|parameter|value)s?\b|must\b|should be\b|is required|is not of type|has to be|contains an invalid|does not match the (?:pattern|schema))"
)
"""Words after a JSON Pointer, of sentences about its value."""


def is_file_path(match: re.Match[str]) -> bool:
    """Whether it is a file's path, not that of a URL or a JSON Pointer, by the words before it."""
    before = text_before(match)
    place = match.groupdict().get("place") or match[0]
    return not (
        _ROUTE_BEFORE.search(before)
        or _METHODS_BEFORE.search(before)
        or _METHODS_AFTER.match(text_after(match))
        or _REPOSITORY_AFTER.match(text_after(match, 60))
        or _POINTER_BEFORE.search(before)
        or _POINTER.search(place)
        or _POINTER_AFTER.match(text_after(match))
    )


def is_named_file(match: re.Match[str]) -> bool:
    """Whether a file in a sentence of the system is not a route of the API."""
    return not _ROUTE_BEFORE.search(text_before(match))


_FILE_BEFORE = Expression(
    r"(?:\b(?:in|from|see|check|reading|read|opening|open|load(?:ing)?|edit|via|pars(?:e|ing)|include|config(?:uration)? file|found|missing)|[/\\(]) ?[\"'`]?$",
    re.I,
)

_FILE_AFTER = Expression(
    r"[\"'`)]?(?:,? (?:not found|missing|is missing|could not|cannot be (?:read|opened|parsed|loaded)|was not found|(?:on |at )?line \d|permission|is (?:not |un)(?:readable|writable))|:\d|: (?:no such|permission|not found|line))",
    re.I,
)
"""Words around a file that the service reads."""


def is_file_of_server(match: re.Match[str]) -> bool:
    """Whether a configuration file is one that the service reads, by the words around it."""
    return bool(
        _FILE_BEFORE.search(text_before(match)) or _FILE_AFTER.match(text_after(match))
    ) and not _REPOSITORY_AFTER.match(text_after(match, 60))


_SAMPLE_FOLDER = Expression(
    r"[A-Z]:\\{1,2}Users\\{1,2}(?:me|you|<[\w-]{1,30}>|your-?name|username|%USERNAME%|\{\w{1,30}\})(?![\w-])|[A-Z]:\\{1,2}(?:path|folder|dir)\\{1,2}to(?![\w-])",
    re.I,
)
"""Folders of documentation."""


def is_own_folder(match: re.Match[str]) -> bool:
    """Whether a folder is that of a machine, and not one of documentation."""
    return not _SAMPLE_FOLDER.match(match[0])
