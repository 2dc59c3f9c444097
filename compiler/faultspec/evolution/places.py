"""The places of changes in the text of a taxonomy."""

from faultspec.diagnostics.model import Path
from faultspec.source import Document

#: Keys of the language for fields of the model with another name.
_KEYS = {
    "boundaries": "boundary",
    "envelopes": "envelope",
    "fallbacks": "fallback",
    "examples": "example",
    "media_types": "media_type",
    "min_length": "minLength",
    "max_length": "maxLength",
    "lasting": "for",
    "types": "type",
}


def locate(document: Document, path: Path) -> Path:
    """The path in the document of a path in the model: as deep as the document goes with it."""
    found: list[str | int] = []
    value: object = document.data
    for step in path:
        key = _key_of(value, step)
        if key is None:
            if step in ("policy", "schema"):
                continue  # fields of the model without a key of their own
            break
        found.append(key)
        value = value[key]  # type: ignore[index]  # _key_of has found it there
    return tuple(found)


def _key_of(value: object, step: str | int) -> str | int | None:
    if not isinstance(value, dict):
        return None
    for key in (step, f"{step}?", _KEYS.get(str(step))):
        if key in value:
            return key
    lower = {str(key).lower(): key for key in value}
    return lower.get(str(step).lower())
