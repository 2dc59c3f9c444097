"""The data of a taxonomy as YAML: constructs in blocks, other values on one line if they fit."""

import json
import re
from collections.abc import Mapping

#: Columns of a line, as in our examples.
_WIDTH = 140

#: Characters of a key without a mark before it (YAML 1.2 section 7.4.2 allows 1,024).
_LONGEST_KEY = 1_000

#: Levels of a section that are always blocks. Below, a value is written on one line if it fits.
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
#: Versions, classes of statuses and durations begin with a digit and are not numbers.
_NUMBERED = re.compile(r"\d+\.\d+\.\d+|[1-5]xx|\d+(ms|s|m|h|d)|[1-5]\d\d-[1-5]\d\d")
_WORDS = frozenset({"true", "false", "null", "nan", "inf"})


def write_yaml(data: Mapping[str, object], schema: str | None = None) -> str:
    """The whole file. ``schema``: the path at which an editor finds the schema of the language."""
    head = "" if schema is None else f"# yaml-language-server: $schema={schema}\n"
    parts = ["\n".join(_entry(key, value, 0, _BLOCKS.get(key, 0))) for key, value in data.items()]
    return head + "\n\n".join(parts) + "\n"


def _entry(key: str, value: object, indent: int, levels: int) -> list[str]:
    levels = 0 if key == "match" else levels
    lead = f"{' ' * indent}{_scalar(key)}:"
    if len(lead) > _LONGEST_KEY:
        lead = f"{' ' * indent}? {_scalar(key)}\n{' ' * indent}:"
    if not _has_parts(value):
        return [f"{lead} {_flow(value)}"]
    if levels <= 0 and len(line := f"{lead} {_flow(value)}") <= _WIDTH:
        return [line]
    return [lead, *_block(value, indent + 2, levels - 1)]


def _has_parts(value: object) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _block(value: object, indent: int, levels: int) -> list[str]:
    if isinstance(value, dict):
        return [line for key, inner in value.items() for line in _entry(key, inner, indent, levels)]
    assert isinstance(value, list)
    lines = []
    for item in value:
        flat = f"{' ' * indent}- {_flow(item)}"
        if not _has_parts(item) or len(flat) <= _WIDTH:
            lines.append(flat)
        else:
            inner = _block(item, indent + 2, 0)
            lines += [f"{' ' * indent}- {inner[0][indent + 2 :]}", *inner[1:]]
    return lines


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        members = (f"{_flow_key(key)}: {_flow(inner)}" for key, inner in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _flow_key(key: object) -> str:
    written = _scalar(key)
    return written if len(written) <= _LONGEST_KEY else f"? {written} "


def _scalar(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if (_PLAIN.fullmatch(value) or _NUMBERED.fullmatch(value)) and value.lower() not in _WORDS:
        return value
    return '"' + "".join(map(_escape, value)) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == " " or (character.isprintable() and character != "\ufeff"):
        return character
    number = ord(character)
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return named.get(character) or (f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}")
