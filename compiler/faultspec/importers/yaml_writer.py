"""The data of a taxonomy as YAML that people read: blocks for what has a name, one line for what fits on it."""

import json
import re
from collections.abc import Mapping

#: Columns of a line, as in the examples of the house.
_WIDTH = 140

#: How many levels of a section always stand in blocks; below, what fits on a line is written on one.
_BLOCKS: Mapping[str, int] = {
    "taxonomy": 1,
    "envelopes": 2,
    "codes": 2,
    "operations": 4,
    "domains": 1,
    "boundaries": 1,
    "detail_keys": 1,
    "surfaces": 1,
    "headers": 1,
    "fallback": 1,
    "retry_policies": 2,
    "vocabularies": 2,
}

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_ $./()+'?-]*[A-Za-z0-9_./()+'?-]|[A-Za-z_$]")
#: Versions, classes of statuses and durations begin with a digit and are no numbers.
_NUMBERED = re.compile(r"\d+\.\d+\.\d+|[1-5]xx|\d+(ms|s|m|h|d)|[1-5]\d\d-[1-5]\d\d")
_WORDS = frozenset({"true", "false", "null", "nan", "inf"})


def write_yaml(data: Mapping[str, object], schema: str | None = None) -> str:
    """The whole file. ``schema``: where an editor finds the schema of the language, if anywhere."""
    head = "" if schema is None else f"# yaml-language-server: $schema={schema}\n"
    parts = ["\n".join(_entry(key, value, 0, _BLOCKS.get(key, 0))) for key, value in data.items()]
    return head + "\n\n".join(parts) + "\n"


def _entry(key: str, value: object, indent: int, levels: int) -> list[str]:
    levels = 0 if key == "match" else levels
    lead = f"{' ' * indent}{_scalar(key)}:"
    empty = not value and isinstance(value, dict | list)
    if not isinstance(value, dict | list) or empty or levels <= 0:
        flat = _flow(value)
        if not isinstance(value, dict | list) or empty or len(lead) + 1 + len(flat) <= _WIDTH:
            return [f"{lead} {flat}"]
    return [lead, *_block(value, indent + 2, levels - 1)]


def _block(value: object, indent: int, levels: int) -> list[str]:
    if isinstance(value, dict):
        return [line for key, each in value.items() for line in _entry(key, each, indent, levels)]
    assert isinstance(value, list)
    lines = []
    for each in value:
        flat = _flow(each)
        if not isinstance(each, dict | list) or not each or indent + 2 + len(flat) <= _WIDTH:
            lines.append(f"{' ' * indent}- {flat}")
        else:
            inner = _block(each, indent + 2, 0)
            lines += [f"{' ' * indent}- {inner[0][indent + 2 :]}", *inner[1:]]
    return lines


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_scalar(key)}: {_flow(each)}" for key, each in value.items()) + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if (_PLAIN.fullmatch(value) or _NUMBERED.fullmatch(value)) and value.lower() not in _WORDS:
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == " " or (character.isprintable() and character != "\ufeff"):
        return character
    number = ord(character)
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return named.get(character) or (f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}")
