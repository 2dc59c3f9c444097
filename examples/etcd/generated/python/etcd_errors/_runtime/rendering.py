# Copied from faultspec; do not edit
# pyright: basic
# `isinstance` tells JSON values apart; to the strict mode their members are unknown.
"""Errors as text, for readers without an envelope: a picture in which parameters stand.

| written             | means                                                       |
|---------------------|-------------------------------------------------------------|
| `"$code"`           | the value, whatever its JSON type                           |
| `"${code}: …"`      | a string with the value's text inside it                    |
| `"${details.host}"` | a member of the details                                     |
| `"$$"`              | a dollar                                                    |
| `{hint?: $hint}`    | a member left out when its value is missing                 |

A line of a string goes when one of its parameters has no value; a string that has lost
all of its lines is empty.
"""

import json
import re
from collections.abc import Mapping

_WHOLE = re.compile(r"\$([a-z_][a-z0-9_]*)")
_PARAMETER = re.compile(r"\$\$|\$\{([a-z_][a-z0-9_.]*)\}|\$([a-z_][a-z0-9_]*)")


def filled(picture: object, values: Mapping[str, object]) -> object:
    """The picture with its parameters replaced; a value that is None is missing."""
    if isinstance(picture, Mapping):
        return {
            key.removesuffix("?"): filled(each, values)
            for key, each in picture.items()
            if not (key.endswith("?") and _is_missing(each, values))
        }
    if isinstance(picture, list):
        return [filled(each, values) for each in picture]
    if not isinstance(picture, str):
        return picture
    whole = _WHOLE.fullmatch(picture)
    if whole is not None:
        return values.get(whole[1])
    lines = picture.split("\n")
    return "\n".join(_text(line, values) for line in lines if _has_all(line, values))


def _is_missing(picture: object, values: Mapping[str, object]) -> bool:
    return isinstance(picture, str) and not any(
        _has_all(each, values) for each in picture.split("\n")
    )


def _has_all(line: str, values: Mapping[str, object]) -> bool:
    found = (braced or plain for braced, plain in _PARAMETER.findall(line))
    return all(values.get(name) is not None for name in found if name)


def _text(line: str, values: Mapping[str, object]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        found = values[name] if name else "$"
        if isinstance(found, str):
            return str(found)  # an enumeration's member as the string that it is
        return json.dumps(found, ensure_ascii=False)

    return _PARAMETER.sub(value, line)
