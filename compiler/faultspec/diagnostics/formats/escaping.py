"""Text that is safe to print: no character of it is obeyed by a terminal or hidden by an editor."""

import io
import json
import re

#: Control, direction-changing and zero-width characters, surrogates, and noncharacters.
_HIDDEN = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff]"
)

#: The second sign of `##[`, `##vso[` and the like. Runners of CI find such a command anywhere in a
#: line of a log: `IndexOf("##[")` in ActionCommand.cs of GitHub's.
_COMMAND = r"(?<=#)#(?=\w{0,20}\[)"

#: A character that is not printed as it is.
UNSAFE = f"(?:{_HIDDEN}|{_COMMAND})"

#: Blanks at the beginning of a line, before what GitHub Actions takes for a workflow command.
_BEFORE_COMMAND = r"[^\S\n]*(?=::)"

_NAMED_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    named = _NAMED_ESCAPES.get(match[0])
    return named or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")


def escape_line(text: str) -> str:
    """`text` on one line; unsafe characters and line ends become escapes such as `\\x1b`. So does
    the second sign of `##vso[`, which is a command of a CI runner.
    """
    return re.sub(UNSAFE, _escape, text)


def escape_at(text: str, index: int) -> str | None:
    """The escape of one character of a line; None for one that is safe to print."""
    found = re.compile(UNSAFE).match(text, index)
    return _escape(found) if found else None


def escape_hidden(text: str) -> str:
    """`text` with its lines and tabs; the rest is escaped as `escape_line` does. A further line
    that begins as a workflow command of GitHub Actions does begins with a backslash.
    """
    escaped = re.sub(rf"(?![\n\t]){UNSAFE}", _escape, text)
    return re.sub(rf"(?<=\n){_BEFORE_COMMAND}", r"\\", escaped)


def visible_lines(text: str) -> list[str]:
    """The lines of `text`, each made visible. One that begins as a workflow command of GitHub
    Actions does, behind blanks too, begins with a backslash.
    """
    lines = re.split(r"\r\n|\r|\n", text)
    return [re.sub(f"^{_BEFORE_COMMAND}", r"\\", escape_line(line)) for line in lines]


def as_json(value: object) -> str:
    """Indented JSON; non-ASCII characters stay, unsafe ones become JSON escapes."""
    return escape_json(indented_json(value)) + "\n"


def escape_json(text: str) -> str:
    """The text of JSON; what `escape_line` escapes becomes escapes of JSON."""
    # `json` escapes line ends inside strings, so the remaining ones are the layout. Two `#` side by
    # side are in a string.
    return re.sub(rf"(?!\n){UNSAFE}", lambda found: f"\\u{ord(found[0]):04x}", text)


def escape_markup(text: str) -> str:
    """The text of XML; the second sign of a command of a CI runner becomes a reference."""
    return re.sub(_COMMAND, "&#35;", text)


def indented_json(value: object) -> str:
    """Indented JSON with all characters. `json.dumps` would keep an object for each of its signs,
    which takes ten times the memory of the text.
    """
    text = io.StringIO()
    text.writelines(json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value))
    return text.getvalue()
