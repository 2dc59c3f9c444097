"""Parts of a document whose types nobody has checked, as the types a reader expects."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from faultspec.runtime.codecs import VENDORS_JSON, media_essence

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
"""The media types of forms, without files and with."""

Json = Mapping[str, Any]


def mapping(value: object) -> Json:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The strings in a list, each once; empty if the value is not a list."""
    return list(dict.fromkeys(item for item in sequence(value) if isinstance(item, str)))


def visible_text(value: object) -> str | None:
    """The value if it is a string with visible characters."""
    return value if isinstance(value, str) and value.strip() else None


_JSON_TYPE = re.compile(rf"[^/;\s*]+/(?:[^/;\s*]+\+)?json|{VENDORS_JSON}", re.IGNORECASE)


def is_json(media_type: object) -> bool:
    """Whether a media type is JSON (RFC 6839, section 3.1), whatever its parameters.

    So are vendors' types from before that RFC, such as `application/x-amz-json-1.1`. A range of
    types is not.
    """
    bare = str(media_type).partition(";")[0].strip()
    return _JSON_TYPE.fullmatch(bare) is not None


def includes_json(media_range: object) -> bool:
    """Whether a range of media types (RFC 9110, section 12.5.1) includes JSON."""
    bare = str(media_range).partition(";")[0].strip().lower()
    return bare in ("*/*", "application/*", "application/*+json")


def first_json(media_types: Iterable[str]) -> str | None:
    """The first media type that is JSON."""
    return next((media_type for media_type in media_types if is_json(media_type)), None)


def is_form(media_type: str) -> bool:
    """Whether it is the media type of a form without files."""
    return media_essence(media_type) == FORM


def is_multipart(media_type: str) -> bool:
    """Whether it is the media type of a form with files."""
    return media_essence(media_type) == MULTIPART


def first_form(media_types: Collection[str]) -> str | None:
    """The first media type of a form, rather of one without files."""
    return next(filter(is_form, media_types), None) or next(filter(is_multipart, media_types), None)
