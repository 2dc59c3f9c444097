"""Writing to several output folders at once: locked, staged, and committed together."""

import errno
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from faultspec.diagnostics.model import Diagnostic
from faultspec.render.journal import (
    FolderMoves,
    Journal,
    MovedFolder,
    clear,
    complete_moves,
    journal_of,
    locate_folders,
    read_journal,
    refuse_foreign_moves,
    staging_tree,
    sync_folders,
    write_journal,
    write_pointer,
)
from faultspec.render.locking import STAGING, FolderLock, Notify, make_parent
from faultspec.render.ownership import open_regular, refuse_git
from faultspec.targets import TargetError


def ignore(_: str) -> None:
    """Drop a sentence for people."""


class StagedFolder:
    """The files on their way into one output folder. ``changed``: those whose text differs.

    ``stale``: the files that the commit removes, as far as they carry the mark.
    """

    def __init__(self, folder: Path, number: str) -> None:
        self.folder = folder
        self.tree = staging_tree(folder, number)
        self.changed: list[str] = []
        self.stale: tuple[str, ...] = ()

    def add(self, path: str, texts: Iterable[str]) -> None:
        """Keep the file, unless it is the same already; ``texts`` are the pieces of its text.

        Each piece is written as soon as it is there. Raises TargetError and OSError.
        """
        present, fresh = open_regular(self.folder, path), None
        # Bytes, so that no platform changes the line ends.
        pieces = (text.encode("utf-8", "backslashreplace") for text in texts if text)
        with ExitStack() as files:
            if present is not None:
                files.enter_context(present)
            for data in chain(pieces, (b"",)):  # the last is read at the end of the file alone
                if fresh is None:
                    same = 0 if present is None else present.tell()
                    if present is not None and present.read(len(data) or 1) == data:
                        continue
                    fresh = files.enter_context(self._fresh(path))
                    if present is not None:
                        _copy(present, fresh, same)
                fresh.write(data)
            if fresh is not None:
                fresh.flush()
                os.fsync(fresh.fileno())

    def _fresh(self, path: str) -> BinaryIO:
        """The file that waits for its place, open and empty."""
        if (self.folder / path).is_dir():
            raise TargetError(
                Diagnostic(
                    "cannot-write",
                    "a folder stands where a file is to be written",
                    str(self.folder / path),
                    hint="move it away",
                )
            )
        self.changed.append(path)
        fresh = self.tree / "new" / path
        make_parent(fresh)
        return fresh.open("wb")

    def moves(self, first: Path) -> FolderMoves:
        """The moves of the commit. ``first``: the folder of the journal."""
        return FolderMoves(
            folder=os.path.relpath(self.folder, first),
            changed=tuple(self.changed),
            created=tuple(path for path in self.changed if not os.path.lexists(self.folder / path)),
            stale=self.stale,
        )


class Transaction:
    """A write to locked folders. Nothing in them changes before ``commit``."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.number = os.urandom(8).hex()
        self._folders = {folder: StagedFolder(folder, self.number) for folder in folders}

    def folder(self, path: Path) -> StagedFolder:
        """One of the locked folders. Raises OSError if its path leads elsewhere by now."""
        found = self._folders.get(_real(path))
        if found is None:
            message = "the folder was replaced by a link while it was written to"
            raise OSError(errno.ESTALE, message, os.fspath(path))
        return found

    def commit(self) -> None:
        """Move all files into place, or none. Raises TargetError and OSError."""
        touched = [staged for staged in self._folders.values() if staged.changed or staged.stale]
        if not touched:
            return
        first = touched[0].folder
        for staged_folder in touched:
            staged_folder.tree.mkdir(exist_ok=True)
            sync_folders(
                (staged_folder.tree / "new" / path).parent for path in staged_folder.changed
            )
            if staged_folder.folder != first:
                write_pointer(staged_folder.folder, first, self.number)
        journal = Journal(self.number, tuple(staged.moves(first) for staged in touched))
        write_journal(first, journal)
        complete_moves(first, journal, self._folders)


@contextmanager
def transaction(
    folders: Iterable[Path], known: Collection[Path] = (), notify: Notify = ignore
) -> Iterator[Transaction]:
    """Lock output folders, finish what a killed compile left in them, and yield a write to them.

    ``known``: all output folders of the project. An interrupted write is finished in these alone.
    Raises TargetError; then the folders are as they were.
    """
    named = [*folders]
    for folder in named:
        refuse_git(folder)
    wanted = {_real(folder) for folder in named}
    with _os_errors(wanted), _lock_all(wanted, known, notify) as locks:
        _recover(locks, notify)
        yield Transaction(sorted(wanted))


def settle(folders: Iterable[Path], notify: Notify = ignore) -> None:
    """Finish or drop what a killed compile left in these folders; wait for one that is running.

    Folders without a staging folder are not touched. Raises TargetError.
    """
    known = {_real(folder) for folder in folders}
    left = {folder for folder in known if os.path.lexists(folder / STAGING)}
    if left:
        with _os_errors(left), _lock_all(left, known, notify) as locks:
            _recover(locks, notify)


@contextmanager
def _lock_all(
    folders: Collection[Path], known: Collection[Path], notify: Notify
) -> Iterator[dict[Path, FolderLock]]:
    """The locks of the folders, and of all that an interrupted write to one of them covers."""
    known = {*folders, *map(_real, known)}
    wanted = set(folders)
    locks: dict[Path, FolderLock] = {}
    try:
        while True:
            for folder in sorted(wanted):  # in one order, so that no two compiles wait in a circle
                locks[folder] = FolderLock(folder)
                locks[folder].acquire(notify)
            more = {other for folder in wanted for other in _find_covered(folder, known)} - wanted
            if not more:
                break
            _release(locks)
            wanted |= more
        yield locks
    finally:
        _release(locks)


def _release(locks: dict[Path, FolderLock]) -> None:
    """Release all locks; staging folders of a write that is not finished stay."""
    for folder, lock in [*locks.items()][::-1]:
        keep = journal_of(folder) is not None
        if lock.is_held and not keep:  # else it is the staging folder of another compile
            with suppress(OSError):
                clear(folder)
        lock.release(keep=keep)
    locks.clear()


def _find_covered(folder: Path, known: Collection[Path]) -> Iterator[Path]:
    """The folders of the interrupted write that covers this one. Raises TargetError."""
    found = journal_of(folder)
    if found is None:
        return
    first, journal = found
    for other, _ in locate_folders(first, journal):
        if other in known:
            yield other
        else:
            raise TargetError(
                Diagnostic(
                    "interrupted-compile",
                    f"an interrupted compile of this folder also wrote to {os.path.relpath(other)}",
                    os.path.relpath(folder),
                    hint="run `faultspec compile` without --out where both are output folders, or "
                    f"remove {STAGING} and compile again",
                )
            )


def _recover(locks: Collection[Path], notify: Notify) -> None:
    """Finish the interrupted writes of locked folders."""
    for folder in locks:
        journal = read_journal(folder)
        if journal is not None:
            refuse_foreign_moves(folder, journal, locks)
            complete_moves(folder, journal, locks)
            result = "undid" if journal.undone else "completed"
            notify(f"{os.path.relpath(folder)}: {result} an interrupted compile")
    for folder in locks:
        clear(folder)


@contextmanager
def _os_errors(folders: Iterable[Path]) -> Iterator[None]:
    """Turn an error of the file system into a TargetError."""
    try:
        yield
    except OSError as error:
        raise TargetError(
            Diagnostic(
                "cannot-write",
                error.strerror or str(error),
                _relative_path(error.filename or next(iter(sorted(folders)), "")),
                hint="nothing was changed; make sure that the folder can be written to",
            )
        ) from error
    except MovedFolder as error:
        raise TargetError(
            Diagnostic(
                "cannot-write",
                f"a folder was moved, or a link stands in its place: {_relative_path(str(error))}",
                _relative_path(next(iter(sorted(folders)), "")),
                hint="compile again when nothing else changes the folders",
            )
        ) from error


def _relative_path(path: str | os.PathLike[str]) -> str:
    """A path as people read it: relative to the working directory if it is below."""
    relative = os.path.relpath(path)
    return os.fspath(path) if relative.startswith(os.pardir) else relative


def _real(folder: str | os.PathLike[str]) -> Path:
    return Path(os.path.realpath(folder))


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    """Copy the first ``size`` bytes."""
    source.seek(0)
    while size and (data := source.read(min(size, 1 << 20))):
        target.write(data)
        size -= len(data)
