"""Text that is safe to print: no character of it is obeyed by a terminal or hidden by an editor."""

import io
import json
import re

#: Control, direction-changing and zero-width characters, surrogates, and noncharacters.
UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff]"
)

_NAMED_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    named = _NAMED_ESCAPES.get(match[0])
    return named or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")


def escape_line(text: str) -> str:
    """`text` on one line; unsafe characters and line ends become escapes such as `\\x1b`."""
    return re.sub(UNSAFE, _escape, text)


def escape_hidden(text: str) -> str:
    """`text` with its lines and tabs; other unsafe characters become escapes such as `\\x1b`."""
    return re.sub(rf"(?![\n\t]){UNSAFE}", _escape, text)


def visible_lines(text: str) -> list[str]:
    """The lines of `text`, each made visible. One that begins as a workflow command of GitHub
    Actions does, behind blanks too, begins with a backslash.
    """
    lines = re.split(r"\r\n|\r|\n", text)
    return [re.sub(r"^\s*(?=::)", r"\\", escape_line(line)) for line in lines]


def as_json(value: object) -> str:
    """Indented JSON; non-ASCII characters stay, unsafe ones become JSON escapes."""
    return escape_json(indented_json(value)) + "\n"


def escape_json(text: str) -> str:
    """The text of JSON; unsafe characters become escapes of JSON."""
    # `json` escapes line ends inside strings, so the remaining ones are the layout.
    return re.sub(rf"(?!\n){UNSAFE}", lambda found: f"\\u{ord(found[0]):04x}", text)


def indented_json(value: object) -> str:
    """Indented JSON with all characters. `json.dumps` would keep an object for each of its signs,
    which takes ten times the memory of the text.
    """
    text = io.StringIO()
    text.writelines(json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value))
    return text.getvalue()
