"""The text of a document, JSON or YAML, as data.

`parse` is strict, `parse_leniently` takes whatever it can read.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from faultspec import source
from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.openapi.nodes import Json

#: Members of which an OpenAPI document has one, and the complaint about one without.
_ROOT = frozenset({"paths", "openapi", "swagger"})
_NO_PATHS = "it has no `paths`, so it is not an OpenAPI document"

#: Levels of nesting that are read. A taxonomy of the document must stay below the language's limit
#: of 100.
DEEPEST = 200


def parse(text: str, path: str) -> tuple[Any, tuple[Diagnostic, ...]]:
    """The parsed JSON or YAML, or None and the reasons why it cannot be parsed.

    ``path`` names the source in the diagnostics.
    """
    if is_json_text(text) and _is_too_large(text):
        return None, (Diagnostic("file-too-large", _TOO_LARGE, path),)
    if not is_json_text(text):
        document, found = source.parse(text, path)
        return (None, tuple(found)) if found or document is None else (document.data, ())
    try:
        plain = text.removeprefix("\ufeff")
        return json.loads(plain, parse_constant=_refuse, object_pairs_hook=_refuse_duplicates), ()
    except (
        _RepeatedMember
    ):  # JSON is YAML to our YAML reader, which knows the place of the second member
        found = source.parse(text, path)[1]
        message = "an object has the same member twice"
        return None, tuple(found) or (Diagnostic("duplicate-key", message, path),)
    except json.JSONDecodeError as error:
        span = Span(error.lineno, error.colno, error.lineno, error.colno)
        return None, (Diagnostic("json-syntax", f"the text is not JSON: {error.msg}", path, span),)
    except RecursionError:
        message = f"there are more than {DEEPEST} levels of nesting"
        return None, (Diagnostic("nested-too-deeply", message, path),)
    except ValueError as error:
        message = f"the text is not JSON: {error}"
        return None, (Diagnostic("json-syntax", message, path, _first_constant(text)),)


_TOO_LARGE = f"the document has more than {source.MAX_NODES:,} values"


def _is_too_large(text: str) -> bool:
    """Whether a text in JSON may have more values than are read. Each has a sign before it."""
    return sum(map(text.count, "[{,")) > source.MAX_NODES


def is_json_text(text: str) -> bool:
    """Whether a text is read as JSON rather than YAML."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates, which are not characters."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


#: An escape of JSON: that of a surrogate without its other half has a name.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def _replace_escapes(text: str) -> str:
    """The text of JSON with U+FFFD in place of escapes of lone surrogates."""
    return _ESCAPE.sub(lambda escape: "\\ufffd" if escape["lone"] else escape[0], text)


def parse_leniently(text: str) -> tuple[Json | None, str]:
    """The data of an OpenAPI document, or None and the reason.

    Values that YAML cannot represent here, such as numbers beyond 64 bits, are left out. Aliases
    are refused, because the values that they refer to would be left out too.
    """
    data, problem = _parse_mapping(text)
    if data is not None and not data.keys() & _ROOT:
        return None, _NO_PATHS
    return data, problem


def _parse_mapping(text: str) -> tuple[Json | None, str]:
    if is_json_text(text) and _is_too_large(text):
        return None, _TOO_LARGE
    try:
        data = json.loads(_replace_escapes(text))
    except (ValueError, RecursionError):
        document, found = source.parse(text, "the OpenAPI document")
        alias = next((diagnostic for diagnostic in found if diagnostic.code == "yaml-alias"), None)
        if document is None or alias is not None:
            return None, (alias or found[0]).message
        data = _without_unreadable(document.data)
    if not isinstance(data, dict):
        return None, "it is not a mapping"
    return data, ""


class UnreadableDocument(Exception):
    """A file is not an OpenAPI document. The message names the file and the reason."""


def read_file(path: str) -> Json:
    """The data of the document in a file, read leniently. Raises UnreadableDocument."""
    document = read_part(path)
    if not document.keys() & _ROOT:
        raise UnreadableDocument(f"{path} is not an OpenAPI document: {_NO_PATHS}")
    return document


def read_part(path: str) -> Json:
    """The data of a file that belongs to a document, read leniently. Raises UnreadableDocument."""
    if source.leaves_repository(path):
        raise UnreadableDocument(f"{path} is a link out of the repository")
    try:
        document, problem = _parse_mapping(source.read_bytes(path).decode("utf-8"))
    except (source.SourceError, UnicodeDecodeError) as error:
        raise UnreadableDocument(f"the OpenAPI document {path} cannot be read: {error}") from None
    if document is None:
        raise UnreadableDocument(f"{path} is not an OpenAPI document: {problem}")
    return document


def file_url(path: str) -> str:
    """The URL of a file, which the references in it are relative to."""
    return Path(os.path.realpath(path)).as_uri()


def _without_unreadable(data: object) -> object:
    """The data without the values that `faultspec.source` could not read."""
    if isinstance(data, dict):
        return {
            key: _without_unreadable(value)
            for key, value in data.items()
            if key is not source.UNREADABLE and value is not source.UNREADABLE
        }
    if isinstance(data, list):
        return [_without_unreadable(item) for item in data if item is not source.UNREADABLE]
    return data


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _first_constant(text: str) -> Span:
    """The place of the first NaN or Infinity outside of strings."""
    tokens = re.finditer(r'"(?:[^"\\]|\\.)*+"|-?Infinity|NaN', text)
    start = next((token.start() for token in tokens if token[0][0] != '"'), 0)
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return Span(line, column, line, column)


class _RepeatedMember(Exception):
    """An object has a member twice. RFC 8259, section 4 leaves the meaning open."""


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedMember
    return found
