"""The block of `.gitattributes` that marks generated folders. Other lines of the file stay."""

import re
from collections.abc import Iterable

from faultspec.diagnostics.model import Diagnostic, Span

#: The file, in the folder of the project.
ATTRIBUTES = ".gitattributes"

_BEGIN = "# begin of generated folders (faultspec compile)"
_END = "# end of generated folders"


def mark_folders(text: str, folders: Iterable[str], path: str) -> str | Diagnostic:
    """The text of the file with one block for ``folders``, in place of an earlier block.

    ``path``: the file. Returns a diagnostic for a block without a beginning or without an end.
    """
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    marks = [f"{_pattern(folder)} linguist-generated" for folder in sorted(set(folders))]
    block = [f"{line}{ending}" for line in (_BEGIN, *marks, _END)]
    starts = [index for index, line in enumerate(lines) if line.strip() == _BEGIN]
    ends = [index for index, line in enumerate(lines) if line.strip() == _END]
    if not starts and not ends:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += ending
        lines += [ending, *block] if lines and lines[-1].strip() else block
    elif len(starts) == len(ends) == 1 and starts < ends:
        lines[starts[0] : ends[0] + 1] = block
    else:
        line = (starts or ends)[-1] + 1
        return Diagnostic(
            "broken-block",
            "the block of generated folders has no beginning or no end, or is there twice",
            path,
            Span(line, 1, line, len(lines[line - 1].rstrip()) + 1),
            hint=f"remove the lines `{_BEGIN}` and `{_END}` and all between them",
        )
    return "".join(lines)


def _pattern(folder: str) -> str:
    """The pattern of gitattributes(5) for all files in a folder, from the folder of the file."""
    escaped = re.sub(r"([\\*?\[])", r"\\\1", folder)
    pattern = "/**" if folder == "." else f"/{escaped}/**"
    if not re.search(r'[\s"]', pattern):
        return pattern
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
