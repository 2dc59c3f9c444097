"""Parts of Markdown documents, in GitHub's dialect."""

import re
from collections.abc import Sequence

from faultspec.diagnostics.formats.escaping import visible_lines

_MARKUP = r"[\\`*_{}\[\]()#+!|~]"

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def markdown_text(text: str) -> str:
    """Plain text as Markdown: its signs are escaped, and line ends become `<br>`."""
    return "<br>".join(
        re.sub(_MARKUP, r"\\\g<0>", line.translate(_ENTITIES)) for line in visible_lines(text)
    )


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose cells are Markdown already."""
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    lines.insert(1, "|" + "---|" * len(heads))
    return lines


def markdown_details(summary: str, content: Sequence[str]) -> list[str]:
    """The lines of a section that is folded up below its summary."""
    return ["<details>", f"<summary>{summary}</summary>", "", *content, "", "</details>", ""]
