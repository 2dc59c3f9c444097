"""Which files of an output folder a compile wrote, and which of them it may replace or remove.

``MANIFEST`` lists the files that a compile wrote, by path only. Their texts carry a mark. A listed
or marked file may be replaced; a file is removed only if it is listed and marked. So a manifest
that someone else wrote deletes nothing.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from faultspec.diagnostics.model import Diagnostic
from faultspec.render.paths import is_in_git, path_problem
from faultspec.targets import TargetError

MANIFEST = "MANIFEST"

#: Begins the line of the manifest that names the targets. Paths of files have no colon.
TARGETS = "targets:"

#: Where the mark is searched: headers are among the first members of a JSON object.
_HEAD_BYTES = 8192

#: The header of generated files (`targets.model`) and of copied ones (`COPY_HEADER`).
_MARK = re.compile(rb"(?:Generated|Copied) from [^\n]*; do not edit")

#: The first line of a file that is copied into the output, without the sign of a comment.
COPY_HEADER = "Copied from faultspec; do not edit"


def is_marked(file: Path) -> bool:
    """Whether a regular file carries the mark of generated files. An empty one, such as
    ``py.typed``, needs none.
    """
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(file).st_mode):
            head = file.open("rb").read(_HEAD_BYTES)
            return not head or _MARK.search(head) is not None
    return False


def open_regular(folder: Path, path: str) -> BinaryIO | None:
    """The file, open, or None if there is none. Raises TargetError for links, pipes and devices,
    which are not opened.
    """
    place = folder / path
    refuse_outside(folder, path)
    try:
        refuse_irregular(place)
        return place.open("rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def read_text(folder: Path, path: str) -> str | None:
    """The file's text, or None if there is no file; bytes that are not UTF-8 become escapes."""
    file = open_regular(folder, path)
    if file is None:
        return None
    with file:
        return file.read().decode("utf-8", "backslashreplace")


def manifest_paths(folder: Path, targets: Collection[str] | None) -> list[str]:
    """The paths in the folder's manifest; lines that no compile writes are skipped."""
    lines = (read_text(folder, MANIFEST) or "").splitlines()
    paths = [line for line in lines if line and path_problem(line) is None]
    return paths if targets is None else [path for path in paths if "/" in path]


def refuse_irregular(place: Path) -> None:
    """Refuse a link, a pipe or a device in the place of a file. Raises TargetError and OSError."""
    mode = os.lstat(place).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "a pipe, a device or a socket"
    raise TargetError(
        Diagnostic(
            "not-a-file",
            f"{kind} stands where a file is to be written",
            str(place),
            hint="remove it",
        )
    )


def refuse_git(folder: Path) -> None:
    """Refuse an output folder that a symbolic link leads into a folder of git."""
    real, written = Path(os.path.realpath(folder)), Path(os.path.abspath(folder))
    if is_in_git(real) and not is_in_git(written):
        raise TargetError(
            Diagnostic(
                "bad-output-path",
                "a symbolic link leads into a folder that belongs to git",
                str(folder),
                hint="remove the link",
            )
        )


def refuse_outside(folder: Path, path: str) -> None:
    """Refuse a path that a symbolic link leads out of the folder."""
    parent = (folder / path).parent
    real = Path(os.path.realpath(parent))
    if parent != folder and not real.is_relative_to(os.path.realpath(folder)):
        raise TargetError(
            Diagnostic(
                "bad-output-path",
                f"`{path}` leads out of the output folder through a symbolic link",
                str(folder),
                hint="remove the link",
            )
        )


def refuse_foreign(folder: Path, paths: Iterable[str], listed: Collection[str]) -> None:
    """Refuse to overwrite a file that no compile wrote: no manifest lists it, and it carries no
    mark.
    """
    for path in paths:
        place = folder / path
        if not os.path.lexists(place):
            continue
        if _has_own_manifest(folder, listed) if path == MANIFEST else path in listed:
            continue
        if path == MANIFEST or not is_marked(place):
            raise TargetError(
                Diagnostic(
                    "foreign-file",
                    f"no compile wrote this file: {MANIFEST} of its folder does not list it, and "
                    "it has no header of generated files",
                    str(place),
                    hint="move it away, name another folder, or overwrite it with --force",
                )
            )


def refuse_unmarked(
    folder: Path, replaced: Iterable[str], removed: Iterable[str], listed: Collection[str]
) -> None:
    """Refuse moves of an interrupted compile: replaced files carry the mark, and removed ones are
    listed as well. Raises TargetError.
    """
    removed = {*removed}
    for path in (*replaced, *removed):
        place = folder / path
        refuse_outside(folder, path)
        if not os.path.lexists(place):
            continue
        own = _has_own_manifest(folder, listed) if path == MANIFEST else is_marked(place)
        if not own or (path in removed and path not in (MANIFEST, *listed)):
            act = "remove" if path in removed else "overwrite"
            raise TargetError(
                Diagnostic(
                    "foreign-file",
                    f"an interrupted compile would {act} this file, which no compile wrote",
                    str(place),
                    hint="if the file is yours, remove .faultspec-compile of its output folder, "
                    "and compile again",
                )
            )


def _has_own_manifest(folder: Path, listed: Collection[str]) -> bool:
    """Whether a compile wrote the folder's manifest: other tools have files of that name, which
    list files without a mark.
    """
    if any(line.startswith(TARGETS) for line in (read_text(folder, MANIFEST) or "").splitlines()):
        return True
    there = [folder / path for path in listed if os.path.lexists(folder / path)]
    return not there or any(map(is_marked, there))


def files_below(folder: Path) -> Iterator[str]:
    """Every file below ``folder`` except in ``__pycache__`` and dot folders, which tools leave
    behind.
    """
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name != "__pycache__" and not name.startswith(".")
        )
        above = Path(root).relative_to(folder)
        for file in sorted(files):
            yield (above / file).as_posix()
