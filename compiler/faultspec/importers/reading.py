"""A document in JSON or YAML as data; whatever is wrong with the text is said as diagnostics."""

import json
import re
from typing import Any

from faultspec import source
from faultspec.diagnostics.model import Diagnostic, Span
from faultspec.importers import Json, Loss, NotImportable
from faultspec.importers.places import child

#: Levels of nesting; the taxonomy that is made of the document must stay below the 100 of the language.
_DEEPEST = 200

#: Whole numbers that YAML readers agree on.
_LARGEST = 2**63


def parse(text: str, path: str) -> tuple[Any, tuple[Diagnostic, ...]]:
    """The data of a text, None where there are diagnostics. ``path`` names the text in them."""
    if not is_json_text(text):
        document, found = source.parse(text, path)
        return (None, tuple(found)) if found or document is None else (document.data, ())
    try:
        return json.loads(
            text.removeprefix("\ufeff"), parse_constant=_refused, object_pairs_hook=_distinct
        ), ()
    except _Twice:  # the reader of YAML, to which JSON is YAML, says where
        found = source.parse(text, path)[1]
        return None, tuple(found) or (
            Diagnostic("duplicate-key", "a member stands twice in one object", path),
        )
    except json.JSONDecodeError as error:
        span = Span(error.lineno, error.colno, error.lineno, error.colno)
        return None, (Diagnostic("json-syntax", f"the text is no JSON: {error.msg}", path, span),)
    except RecursionError:
        return None, (
            Diagnostic(
                "nested-too-deeply", f"there are more than {_DEEPEST} levels of nesting", path
            ),
        )
    except ValueError as error:
        return None, (
            Diagnostic("json-syntax", f"the text is no JSON: {error}", path, _constant(text)),
        )


def is_json_text(text: str) -> bool:
    """Whether a text is read as JSON, and not as YAML."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _constant(text: str) -> Span:
    """The first NaN or Infinity that stands outside of texts."""
    found = (
        each
        for each in re.finditer(r'"(?:[^"\\]|\\.)*+"|-?Infinity|NaN', text)
        if each[0][0] != '"'
    )
    start = next((each.start() for each in found), 0)
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return Span(line, column, line, column)


class _Twice(Exception):
    """A member stands twice in one object (RFC 8259 section 4: what that means is anybody's guess)."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def cleaned(document: object, what: str) -> tuple[Json, list[Loss]]:
    """A copy of the document with nothing that YAML could not carry, and what was changed for that.

    Raises NotImportable where the document is no object.
    """
    if not isinstance(document, dict):
        raise NotImportable(
            f"not-{what.lower()}",
            f"this is no {what} document: it is no object",
            hint="name another file",
        )
    losses: list[Loss] = []
    found = _clean(document, "", losses, 0)
    assert isinstance(found, dict)
    return found, losses


_GONE = object()


def _clean(value: object, pointer: str, losses: list[Loss], depth: int) -> object:
    if depth > _DEEPEST:
        raise NotImportable(
            "nested-too-deeply", f"there are more than {_DEEPEST} levels of nesting", pointer
        )
    if isinstance(value, dict):
        kept = {
            readable(str(key)): _clean(each, child(pointer, str(key)), losses, depth + 1)
            for key, each in value.items()
        }
        return {key: each for key, each in kept.items() if each is not _GONE}
    if isinstance(value, list):
        items = [
            _clean(each, child(pointer, index), losses, depth + 1)
            for index, each in enumerate(value)
        ]
        return [item for item in items if item is not _GONE]
    if isinstance(value, int) and not isinstance(value, bool) and not -_LARGEST <= value < _LARGEST:
        losses.append(Loss(pointer, "number", "the number does not fit 64 bits"))
        return _GONE
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        losses.append(Loss(pointer, "number", "the number is too large for a float"))
        return _GONE
    return readable(value) if isinstance(value, str) else value


def readable(text: str) -> str:
    """Halves of surrogate pairs are no characters; they become U+FFFD."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON (RFC 6839, section 3.1), parameters aside; a range of types is none."""
    return (
        re.fullmatch(
            r"[^/;\s*]+/([^/;\s*]+\+)?json", media_type.split(";")[0].strip(), re.IGNORECASE
        )
        is not None
    )


def includes_json(media_range: str) -> bool:
    """Whether a range of media types (RFC 9110, section 12.5.1), parameters aside, has JSON among them."""
    return media_range.split(";")[0].strip().lower() in (
        "*/*",
        "application/*",
        "application/*+json",
    )


def mapping(value: object) -> Json:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The texts in a list, each once; none where it is no list."""
    return list(dict.fromkeys(each for each in listed(value) if isinstance(each, str)))
