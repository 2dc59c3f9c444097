"""JSON in texts that have more than it, or less: a prefix, a suffix, or no end."""

import json
import re
from collections.abc import Iterator
from string import ascii_letters, digits

from faultspec.exchange.body import is_too_deep

#: The beginning of an object, or of a list of texts, objects or lists.
_BEGINS = re.compile(r'\{\s*+"|\[\s*+[\[{"]')

#: A text of JSON, whose end may be missing, and what opens or closes a value.
_MARK = re.compile(r'"(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+(?P<closed>"?)|[\[\]{}]', re.DOTALL)

#: What follows the name of a member.
_NAMES = re.compile(r"\s{0,64}:")

#: What is left of a word or a number that is cut, and what shows that it is.
_REST = ascii_letters + digits + "+-.…"

#: Characters that are read in vain, as a multiple of those of the text. A text of a gateway begins
#: like JSON in some places that are none.
_IN_VAIN = 16

#: What an attempt costs beside the characters that it reads: the decoder counts the lines before.
_ATTEMPT = 64
_COUNTED = 16

#: What an attempt costs that ends in the deepest call.
_DEEP = 4096

#: Attempts to close what is open: what is cut begins once, and a few texts begin like it.
_CUTS = 3


def _keep_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The members of an object. One with a name that occurs again is a list of its values."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    values: dict[str, list[object]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return dict(values)


_DECODER = json.JSONDecoder(object_pairs_hook=_keep_repeated, strict=False)

#: Python refuses numbers of some thousand digits, which are left as texts.
_OF_LONG_NUMBERS = json.JSONDecoder(object_pairs_hook=_keep_repeated, parse_int=str, strict=False)


def read_json(text: str) -> object:
    """The value that a text is in JSON; None if it is none or nested too deeply. Members of one
    object with the same name are a list.
    """
    text = text.lstrip("\ufeff \t\r\n")
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        value = _decode(text)
    except (ValueError, RecursionError):
        return None
    return None if is_too_deep(text.encode("utf-8", "replace"), value) else value


def _decode(text: str) -> object:
    """The value of a text of JSON. Raises ValueError and RecursionError."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _OF_LONG_NUMBERS.decode(text)


def texts_below(text: str, start: int) -> tuple[list[tuple[str, str]], int]:
    """The texts of the object or list that begins somewhere in a text, as they are written, each
    behind the name of the last member before it; and its end. It need not be JSON.
    """
    found, open_, end, name = list[tuple[str, str]](), 0, start, ""
    for mark in _MARK.finditer(text, start):
        if open_ == 0 and (mark.start() != start or mark[0] not in ("{", "[")):
            break
        end = mark.end()
        if mark[0] in ("{", "["):
            open_ += 1
        elif mark[0] in ("}", "]"):
            open_ -= 1
        elif _NAMES.match(text, end):
            name = mark[0][1:-1]
        else:
            found.append((name, mark[0][1:].removesuffix(mark["closed"])))
    return found, end


def find_fragments(text: str) -> Iterator[object]:
    """Yield the objects and lists of JSON in a text. Where the text is cut, what is open ends."""
    at, effort, cuts = 0, _IN_VAIN * len(text) + _DEEP, _CUTS
    while effort > 0 and (begin := _BEGINS.search(text, at)) is not None:
        start = begin.start()
        at = start + 1
        try:
            value, end = _DECODER.raw_decode(text, start)
            if not is_too_deep(text[start:end].encode("utf-8", "replace"), value):
                yield value
                at = end
                continue
            effort -= end - start
        except json.JSONDecodeError as error:
            effort -= error.pos - start + error.pos // _COUNTED + _ATTEMPT
            if cuts and _is_cut(text, error):
                cuts -= 1
                value = _complete(text, start)
                if value is not None:
                    yield value
                    return
        except (ValueError, RecursionError):
            effort -= _DEEP


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the decoder wants more than the text has."""
    return text.startswith('"', error.pos) or not text[error.pos :].lstrip(" \t\r\n").strip(_REST)


def _complete(text: str, start: int) -> object:
    """The value that begins somewhere and is cut at the end of the text; None if it is not."""
    written, missing = _close(text, start)
    written = written.rstrip()
    for whole in (
        written,
        f"{written}:null",
        f"{written}null",
        written.rstrip(","),
        f"{written.rstrip(_REST)}null",
        written.rstrip(_REST).rstrip().rstrip(","),
    ):
        value = read_json(whole + missing)
        if value is not None:
            return value
    return None


def _close(text: str, start: int) -> tuple[str, str]:
    """The text from somewhere on, with the end of a text that is cut; and what closes the rest."""
    missing: list[str] = []
    for mark in _MARK.finditer(text, start):
        match mark[0]:
            case "{":
                missing.append("}")
            case "[":
                missing.append("]")
            case "}" | "]":
                if missing:
                    missing.pop()
            case _ if not mark["closed"]:
                return text[start : mark.end()] + '"', "".join(reversed(missing))
    return text[start:], "".join(reversed(missing))
