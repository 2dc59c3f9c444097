"""The output folder: comparing it with rendered files, and making it equal to them, wholly or not
at all.

``MANIFEST`` lists the files that a compile wrote, by path only. A later compile can so remove those
that are no longer produced. If only some targets were compiled, its first line names them.

A folder has the files of several targets, each below a folder of its name, or those of one target
alone. The second kind may lie among the sources of a program: files that are not in the manifest
belong to other people, so they are neither reported nor overwritten.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from faultspec.render.ownership import (
    MANIFEST,
    TARGETS,
    files_below,
    is_marked,
    manifest_paths,
    open_regular,
    read_text,
    refuse_foreign,
)
from faultspec.render.staging import StagedFolder, transaction

Files = Mapping[str, str] | Iterable[tuple[str, Iterable[str]]]
"""Text by POSIX path, relative to the output folder, as a whole or one file at a time in pieces."""


class Drift(NamedTuple):
    """One way in which a folder differs from the files that it should hold.

    ``modified``: other content. ``missing``: not there. ``stale``: listed in the manifest, no
    longer produced. ``untracked``: there, and neither produced nor listed. ``diff``: a unified diff
    from the present to the compiled text.
    """

    path: str
    kind: Literal["modified", "missing", "stale", "untracked"]
    diff: str = ""


def _pairs(files: Files) -> Iterable[tuple[str, Iterable[str]]]:
    if isinstance(files, Mapping):
        return ((path, (text,)) for path, text in files.items())
    return files


# Comparing


def find_drift(
    files: Files,
    folder: Path,
    targets: Sequence[str] | None,
    source: Path | None = None,
    *,
    whole: bool = False,
    recorded: Sequence[str] | None = None,
) -> tuple[Drift, ...]:
    """How ``folder`` differs from ``files``, in order of path; empty if it does not. Raises
    TargetError.

    ``targets``: the targets that were rendered; files of others are not compared. None: the folder
    is that of one target. ``source``: the taxonomy's file. If the folder contains it, the folder is
    more than an output folder, and only the targets' own folders in it are searched. ``whole``: all
    targets were rendered, so that a folder of any other name is untracked. ``recorded``: the
    targets that the manifest names; None: it names none.
    """
    found: list[Drift] = []
    produced = set()
    for path, texts in _pairs(files):
        produced.add(path)
        text, there = "".join(texts), read_text(folder, path)
        if there is None:
            found.append(Drift(path, "missing", text_diff(path, "", text)))
        elif there != text:
            found.append(Drift(path, "modified", text_diff(path, there, text)))
    listed = manifest_paths(folder, targets)
    for path in listed:
        if path in produced or not _belongs(path, targets):
            continue
        if (there := read_text(folder, path)) is not None:
            found.append(Drift(path, "stale", text_diff(path, there, "")))
    shared = source is not None and Path(os.path.realpath(source)).is_relative_to(
        os.path.realpath(folder)
    )
    for path in () if targets is None else files_below(folder):
        own = "/" in path and _belongs(path, targets)
        searched = own if shared else whole or own or "/" not in path
        if searched and path not in produced and path not in (MANIFEST, *listed):
            found.append(Drift(path, "untracked"))
    manifest = _manifest_text(produced, folder, targets, recorded)
    there = read_text(folder, MANIFEST)
    if there != manifest and not found:
        kind: Literal["modified", "missing"] = "missing" if there is None else "modified"
        found.append(Drift(MANIFEST, kind, text_diff(MANIFEST, there or "", manifest)))
    return tuple(sorted(found, key=lambda drift: drift.path))


def listed_targets(folder: Path) -> tuple[str, ...]:
    """The targets whose files the folder's manifest lists; the files may be gone."""
    return tuple(dict.fromkeys(path.partition("/")[0] for path in manifest_paths(folder, ())))


def recorded_targets(folder: Path) -> tuple[str, ...] | None:
    """The targets that the folder's manifest names: those that were compiled, if not all were.

    None if it names none. Empty if the folder has no manifest.
    """
    text = read_text(folder, MANIFEST)
    if text is None:
        return ()
    line = next((line for line in text.splitlines() if line.startswith(TARGETS)), None)
    return None if line is None else tuple(line.removeprefix(TARGETS).split())


def _manifest_text(
    produced: Iterable[str],
    folder: Path,
    targets: Sequence[str] | None,
    recorded: Sequence[str] | None,
) -> str:
    """The manifest after a compile of ``targets``: one path a line, sorted; those of other targets
    are kept.
    """
    kept = [path for path in manifest_paths(folder, targets) if not _belongs(path, targets)]
    head = "" if recorded is None else f"{TARGETS} {' '.join(sorted(recorded))}\n"
    return head + "".join(f"{path}\n" for path in sorted({*kept, *produced}))


def _belongs(path: str, targets: Sequence[str] | None) -> bool:
    return targets is None or path.split("/", 1)[0] in targets


def text_diff(path: str, there: str, wanted: str) -> str:
    """A unified diff from the present to the compiled text of a file."""
    import difflib  # here, since only a check with findings needs it

    before, after = there.splitlines(keepends=True), wanted.splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, f"{path} (on disk)", f"{path} (compiled)")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


# Writing


class WriteSummary(NamedTuple):
    """The result of a write: the paths that it wrote and removed, in order, and the number of files
    it was given. ``kept``: files that are no longer produced, and carry no mark.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    total: int
    kept: tuple[str, ...] = ()


def write(
    files: Files,
    folder: Path,
    targets: Sequence[str] | None,
    *,
    recorded: Sequence[str] | None = None,
) -> WriteSummary:
    """Make the targets' part of one folder equal to ``files``; on TargetError it is left as it was.

    ``targets`` and ``recorded`` are those of ``find_drift``.
    """
    with transaction([folder]) as opened:
        summary = stage(opened.folder(folder), files, targets, recorded=recorded)
        opened.commit()
    return summary


def stage(
    staging: StagedFolder,
    files: Files,
    targets: Sequence[str] | None,
    *,
    recorded: Sequence[str] | None = None,
    force: bool = False,
) -> WriteSummary:
    """Stage what makes the targets' part of a locked folder equal to ``files``.

    Each file that differs is written to the staging folder as soon as it is rendered. Files that
    are right already are not touched. ``targets`` and ``recorded`` are those of ``find_drift``.
    ``force``: overwrite files that no compile wrote. Raises TargetError and OSError.
    """
    folder = staging.folder
    produced: list[str] = []
    for path, texts in _pairs(files):
        produced.append(path)
        staging.add(path, texts)
    staging.add(MANIFEST, (_manifest_text(produced, folder, targets, recorded),))
    listed = manifest_paths(folder, targets)
    if not force:
        refuse_foreign(folder, staging.changed, set(listed))
    new = set(produced)
    left = [
        path
        for path in listed
        if _belongs(path, targets) and path not in new and _is_file(folder, path)
    ]
    staging.stale = tuple(path for path in left if is_marked(folder / path))
    kept = tuple(path for path in left if path not in staging.stale)
    return WriteSummary(tuple(staging.changed), staging.stale, len(produced), kept)


def _is_file(folder: Path, path: str) -> bool:
    """Whether there is a file. Raises TargetError for links, pipes and devices."""
    file = open_regular(folder, path)
    if file is not None:
        file.close()
    return file is not None
