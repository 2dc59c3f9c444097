"""Whether a match is a frame of a program or a name in its code."""

import re

from faultspec.leaks.evidence.callers import is_of_service
from faultspec.leaks.evidence.context import text_before
from faultspec.leaks.evidence.hosts import ERROR_NAMES
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_PARAMETER = r"(?:out |ref |in |params )?[A-Z][\w.`<>&*?\[\],]{0,100} \w{1,60}"

_PARAMETERS = Expression(rf"{_PARAMETER}(?:, {_PARAMETER}){{0,30}}")

_PRIMITIVE = Expression(
    r"\b(?:String|Int(?:16|32|64)|Boolean|Object|Guid|Double|Decimal|DateTime|Byte)\b|[\]`&]"
)


def is_frame(match: re.Match[str]) -> bool:
    """Whether it is a .NET frame, which has types of parameters; otherwise it is a sentence."""
    name, parameters = match["name"], match["parameters"]
    deep = name.count(".") > 1 or bool(re.search(r"[<>`]|\.ctor$", name))
    line = text_before(match).rpartition("\n")[2]
    if not parameters:
        return deep or (len(line) > 1 and line.isspace())
    return bool(_PARAMETERS.fullmatch(parameters)) and (
        deep or not line.strip() or bool(_PRIMITIVE.search(parameters))
    )


_PUBLIC_NAME = Expression(
    r"\b(?:scopes?|permissions?|event(?: type)?s?|fields?|members?|propert(?:y|ies)|attributes?|parameters?|error codes?|codes?|resource types?|features?|i18n|translations?|bundle(?: id)?|app)[ :=\"'`(\[]{1,4}$",
    re.I,
)
"""Words before a dotted name that belongs to the contract of an API."""


def is_code_name(match: re.Match[str]) -> bool:
    """Whether a dotted name is one of the program and not of its contract."""
    first = match[0].partition(".")[0].lower()
    return first not in {*ERROR_NAMES, "messages", "i18n", "events", "www", "docs"} and not (
        _PUBLIC_NAME.search(text_before(match)) or text_before(match).endswith(("://", "@"))
    )


_CALL_BEFORE = Expression(
    r"\b(?:use|call|calling|try|write|pass|send|like|with|example|e\.g\.|create|construct|new)[ :]{1,2}[\"'`]?$",
    re.I,
)
"""Words before a piece of code that callers may write."""


def is_dump(match: re.Match[str]) -> bool:
    """Whether an object with its members is printed, and not a call that callers may write."""
    return not _CALL_BEFORE.search(text_before(match)) and is_of_service(match)


def is_address_of_memory(match: re.Match[str]) -> bool:
    """Whether digits are those of a pointer of 64 bits: sixteen, letters among them."""
    value = match["value"]
    return len(value) == 16 and any(map(str.isalpha, value))
