"""Texts of a draft as YAML. Only the draft itself makes placeholders of the configuration.

A run fills in a text such as `${AWS_SECRET_ACCESS_KEY}` and sends it to the service. So the author
of a document must not bring one into the draft, in whatever way: as a text, a name or an example,
or as a text that fits a pattern.
"""

import json
import re

from faultspec_conformance.config.requests import NAMES

#: How a placeholder begins, and what stands in its place in a text of others.
_BEGINNING, _HARMLESS = "${", "$ {"

#: Texts that some version of YAML reads as another value.
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


class DraftTemplate(str):
    """A text with placeholders that a run fills in. Every other text is of others."""

    __slots__ = ()


def refer(name: str) -> DraftTemplate | None:
    """The placeholder of a saved name, such as `room.id`; None if none can have the name."""
    text = f"${{{name}}}"
    return DraftTemplate(text) if NAMES.fullmatch(text) else None


def join(*parts: str) -> DraftTemplate:
    """The parts as one text: the placeholders of templates stay, those of others do not."""
    return DraftTemplate("".join(map(_neutralize, parts)))


def write_flow(value: object) -> str:
    """A value as flow YAML on one line."""
    return json.dumps(_neutralize_all(value), ensure_ascii=False)


def quote_scalar(text: str) -> str:
    """The text as YAML, in quotes if it needs them."""
    is_plain = re.fullmatch(r"[A-Za-z/][\w./\-]*( /[\w./\-]*)?", text)
    if is_plain and text.lower() not in _WORDS:
        return text
    return write_flow(text)


def _neutralize(text: str) -> str:
    return text if isinstance(text, DraftTemplate) else text.replace(_BEGINNING, _HARMLESS)


def _neutralize_all(value: object) -> object:
    match value:
        case str():
            return _neutralize(value)
        case dict():
            return {_neutralize_all(key): _neutralize_all(inner) for key, inner in value.items()}
        case list():
            return [*map(_neutralize_all, value)]
    return value
