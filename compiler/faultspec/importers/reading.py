"""A document in JSON or YAML as data; whatever is wrong with the text is said as diagnostics."""

import json
import re
from typing import Any

from faultspec import source
from faultspec.diagnostic import Diagnostic, Span
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
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refused), ()
    except json.JSONDecodeError as error:
        span = Span(error.lineno, error.colno, error.lineno, error.colno)
        return None, (Diagnostic("json-syntax", f"the text is no JSON: {error.msg}", path, span),)
    except RecursionError:
        return None, (Diagnostic("nested-too-deeply", f"there are more than {_DEEPEST} levels of nesting", path),)
    except ValueError as error:
        return None, (Diagnostic("json-syntax", f"the text is no JSON: {error}", path),)


def is_json_text(text: str) -> bool:
    """Whether a text is read as JSON, and not as YAML."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def cleaned(document: object, what: str) -> tuple[Json, list[Loss]]:
    """A copy of the document with nothing that YAML could not carry, and what was changed for that.

    Raises NotImportable where the document is no object.
    """
    if not isinstance(document, dict):
        raise NotImportable(
            f"not-{what.lower()}", f"this is no {what} document: it is no object", hint="name another file"
        )
    losses: list[Loss] = []
    found = _clean(document, "", losses, 0)
    assert isinstance(found, dict)
    return found, losses


_GONE = object()


def _clean(value: object, pointer: str, losses: list[Loss], depth: int) -> object:
    if depth > _DEEPEST:
        raise NotImportable("nested-too-deeply", f"there are more than {_DEEPEST} levels of nesting", pointer)
    if isinstance(value, dict):
        kept = {
            readable(str(key)): _clean(each, child(pointer, str(key)), losses, depth + 1) for key, each in value.items()
        }
        return {key: each for key, each in kept.items() if each is not _GONE}
    if isinstance(value, list):
        items = [_clean(each, child(pointer, index), losses, depth + 1) for index, each in enumerate(value)]
        return [each for each in items if each is not _GONE]
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
    return re.fullmatch(r"[^/;\s*]+/([^/;\s*]+\+)?json", media_type.split(";")[0].strip(), re.IGNORECASE) is not None


def includes_json(media_range: str) -> bool:
    """Whether a range of media types (RFC 9110, section 12.5.1), parameters aside, has JSON among them."""
    return media_range.split(";")[0].strip().lower() in ("*/*", "application/*", "application/*+json")


def mapping(value: object) -> Json:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The texts in a list, each once; none where it is no list."""
    return list(dict.fromkeys(each for each in listed(value) if isinstance(each, str)))
