"""The journal of a write: what moves where in each output folder, and finishing it after a kill.

A write is committed when its journal stands in the staging folder of its first output folder. From
then on the moves are repeated until all are done; before, the staged files are dropped. Each
further folder points to the first one. docs/adr/0008 has the reasons.
"""

import json
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from faultspec.diagnostics.model import Diagnostic
from faultspec.render.locking import STAGING, make_parent
from faultspec.render.ownership import (
    is_marked,
    manifest_paths,
    refuse_irregular,
    refuse_outside,
    refuse_unmarked,
)
from faultspec.render.paths import path_problem
from faultspec.targets import TargetError

_JOURNAL = "journal"
_POINTER = "first"

#: A journal of 100,000 files has about 10 MB; a larger one was not written by a compile.
_MAX_BYTES = 1 << 26


@dataclass(frozen=True, slots=True)
class FolderMoves:
    """The moves in one output folder. ``folder``: relative to the first one.

    ``changed``: files that get their staged text. ``created``: those of them that were not there.
    ``stale``: files that are removed.
    """

    folder: str
    changed: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Journal:
    """A committed write. ``number``: the name of its folder in each staging folder.

    ``undone``: a move failed, and those before it are taken back.
    """

    number: str
    folders: tuple[FolderMoves, ...]
    undone: bool = False


class MovedFolder(ValueError):
    """The path of a folder is not its real path: a link stands on the way."""


def staging_tree(folder: Path, number: str) -> Path:
    """The staged files of a write: new ones in ``new``, and those that they replace in ``old``."""
    return folder / STAGING / number


def read_journal(folder: Path) -> Journal | None:
    """The journal in a folder, or None if there is none that a compile wrote."""
    data = _read(folder, _JOURNAL)
    try:
        return Journal(
            number=_name(data["number"]),
            folders=tuple(_moves(folder, moves) for moves in data["folders"]),
            undone=bool(data["undone"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def journal_of(folder: Path) -> tuple[Path, Journal] | None:
    """The journal that covers a folder, and the folder that has it."""
    own = read_journal(folder)
    if own is not None:
        return folder, own
    pointer = _read(folder, _POINTER)
    try:
        first = _locate(folder, pointer["folder"])
        found = read_journal(first)
        return (first, found) if found is not None and found.number == pointer["number"] else None
    except (KeyError, TypeError, ValueError):
        return None


def locate_folders(first: Path, journal: Journal) -> list[tuple[Path, FolderMoves]]:
    """The folders that are not yet done, as their staged files are still there, and their moves.

    ``first``: the real path of the folder of the journal.
    """
    located = [(_locate(first, moves.folder), moves) for moves in journal.folders]
    return [(folder, moves) for folder, moves in located if _has_staged_files(folder, journal)]


def _locate(folder: Path, relative: str) -> Path:
    """The folder that a journal or a pointer in ``folder`` names, as a compile writes it: the
    shortest way to a real path. Raises MovedFolder for any other.
    """
    found = os.path.normpath(folder / relative)
    if relative != os.path.relpath(found, folder) or found != os.path.realpath(found):
        raise MovedFolder(found)
    return Path(found)


def write_pointer(folder: Path, first: Path, number: str) -> None:
    """Note in a further folder where the journal will be."""
    _write(
        folder / STAGING / _POINTER, {"folder": os.path.relpath(first, folder), "number": number}
    )


def write_journal(first: Path, journal: Journal) -> None:
    """Commit a write, or the decision to undo it."""
    _write(first / STAGING / _JOURNAL, asdict(journal))


def complete_moves(first: Path, journal: Journal, locked: Collection[Path]) -> None:
    """Do all moves of a committed write that were not done, and drop its journal.

    ``locked``: nothing changes outside these folders. If a move fails, all are undone, and the
    exception is raised.
    """
    if not journal.undone:
        try:
            for folder, moves in _open_folders(first, journal, locked):
                _move(folder, moves, staging_tree(folder, journal.number))
        except BaseException:
            journal = replace(journal, undone=True)
            write_journal(first, journal)
            complete_moves(first, journal, locked)
            raise
    else:
        for folder, moves in _open_folders(first, journal, locked):
            _move_back(folder, moves, staging_tree(folder, journal.number))
    for folder, _ in _open_folders(first, journal, locked):
        clear(folder, keep=(_JOURNAL,))
    with suppress(FileNotFoundError):
        (first / STAGING / _JOURNAL).unlink()


def refuse_foreign_moves(first: Path, journal: Journal, locked: Collection[Path]) -> None:
    """Refuse a journal that replaces or removes what no compile wrote: it may come with a checkout.

    A compile checks the same before it commits. Raises TargetError.
    """
    for folder, moves in _open_folders(first, journal, locked):
        tree = staging_tree(folder, journal.number)
        trees = (folder, tree / "new", tree / "old")
        listed = {path for each in trees for path in manifest_paths(each, None)}
        source = tree / ("old" if journal.undone else "new")
        replaced = [path for path in moves.changed if os.path.lexists(source / path)]
        if journal.undone:
            replaced += [path for path in moves.stale if os.path.lexists(source / path)]
            removed = [path for path in moves.created if not os.path.lexists(tree / "new" / path)]
        else:
            removed = [*moves.stale]
        refuse_unmarked(folder, replaced, removed, listed)


def clear(folder: Path, keep: Sequence[str] = ()) -> None:
    """Remove what a write left in a staging folder, except its lock."""
    if not _is_folder(folder / STAGING):
        return
    for path in (folder / STAGING).iterdir():
        if path.name in ("lock", *keep):
            continue
        if _is_folder(path):
            shutil.rmtree(path)
        else:
            path.unlink()


def _open_folders(
    first: Path, journal: Journal, locked: Collection[Path]
) -> list[tuple[Path, FolderMoves]]:
    """The folders that are not yet done. Raises TargetError if one of them is not locked."""
    found = locate_folders(first, journal)
    for folder, _ in found:
        if folder not in locked:
            raise TargetError(
                Diagnostic(
                    "interrupted-compile",
                    "an interrupted compile wrote to a folder that is not an output folder",
                    str(folder),
                    hint=f"remove {STAGING} of {first}, and compile again",
                )
            )
    return found


def _has_staged_files(folder: Path, journal: Journal) -> bool:
    """Whether the staged files of a write are still in a folder."""
    return _is_folder(folder / STAGING) and _is_folder(staging_tree(folder, journal.number))


def _is_folder(path: Path) -> bool:
    """Whether there is a folder, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _move(folder: Path, moves: FolderMoves, tree: Path) -> None:
    """Move staged files into place and stale ones away, as far as it was not done."""
    for path in moves.changed:
        fresh, place = tree / "new" / path, folder / path
        refuse_outside(tree, f"new/{path}")
        if os.path.lexists(fresh):
            _put_away(folder, path, tree)
            make_parent(place)
            os.replace(fresh, place)
    for path in moves.stale:
        if is_marked(folder / path):
            _put_away(folder, path, tree)
    sync_folders((folder / path).parent for path in (*moves.changed, *moves.stale))
    _prune(folder, moves.stale)


def _put_away(folder: Path, path: str, tree: Path) -> None:
    """Keep the file that is replaced or removed until the write is finished."""
    place, kept = folder / path, tree / "old" / path
    refuse_outside(folder, path)
    refuse_outside(tree, f"old/{path}")
    if os.path.lexists(place):
        refuse_irregular(place)
        make_parent(kept)
        os.replace(place, kept)


def _move_back(folder: Path, moves: FolderMoves, tree: Path) -> None:
    """Move the replaced and removed files back, as far as it was not done."""
    for path in (*moves.changed, *moves.stale):
        kept = tree / "old" / path
        refuse_outside(folder, path)
        refuse_outside(tree, f"old/{path}")
        if os.path.lexists(kept):
            make_parent(folder / path)
            os.replace(kept, folder / path)
    for path in moves.created:
        if not os.path.lexists(tree / "new" / path):
            (folder / path).unlink(missing_ok=True)
    _prune(folder, moves.created)


def _prune(folder: Path, paths: Iterable[str]) -> None:
    """Remove the folders that removed files left empty."""
    for path in paths:
        parent = (folder / path).parent
        while parent != folder:
            try:
                parent.rmdir()
            except OSError:
                break
            parent = parent.parent


def sync_folders(folders: Iterable[Path]) -> None:
    """Make the names in folders durable, where the file system can."""
    for folder in dict.fromkeys(folders):
        with suppress(OSError):
            file = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(file)
            finally:
                os.close(file)


def _write(path: Path, data: Mapping[str, Any]) -> None:
    """Replace a file durably and at once."""
    beside = path.with_name(f"{path.name}.new")
    with beside.open("w", encoding="utf-8") as file:
        json.dump(data, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    sync_folders([path.parent])


def _read(folder: Path, name: str) -> Any:
    """The data of a file of a staging folder, or None. A link is not followed."""
    path = folder / STAGING / name
    try:
        state = os.lstat(path)
        refuse = not stat.S_ISREG(state.st_mode) or state.st_size > _MAX_BYTES
        return None if refuse or not _is_folder(path.parent) else json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _moves(first: Path, data: Mapping[str, Any]) -> FolderMoves:
    """The moves in one folder. Raises ValueError for what no compile writes."""
    _locate(first, data["folder"])
    return FolderMoves(
        folder=data["folder"],
        changed=_paths(data["changed"]),
        created=_paths(data["created"]),
        stale=_paths(data["stale"]),
    )


def _paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths of a journal. Raises ValueError for one that no compile writes to."""
    found = tuple(paths)
    for path in found:
        if path_problem(path) is not None:
            raise ValueError(path)
    return found


def _name(number: str) -> str:
    if not number.isalnum():
        raise ValueError(number)
    return number
