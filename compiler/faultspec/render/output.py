"""The output folder: comparing it with rendered files, and making it equal to them, wholly or not
at all.

``MANIFEST`` lists the files that a compile wrote, by path only. A later compile can so remove those
that are no longer produced, and never touches a file that no compile wrote. If only some targets
were compiled, its first line names them.

A folder has the files of several targets, each below a folder of its name, or those of one target
alone. The second kind may lie among the sources of a program: files that are not in the manifest
belong to other people, so they are neither reported nor overwritten.
"""

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from faultspec.diagnostics.model import Diagnostic
from faultspec.render.paths import path_problem
from faultspec.targets import TargetError

MANIFEST = "MANIFEST"

#: Begins the line of the manifest that names the targets. Paths of files have no colon.
_TARGETS = "targets:"

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
        text, there = "".join(texts), _read(folder, path)
        if there is None:
            found.append(Drift(path, "missing", text_diff(path, "", text)))
        elif there != text:
            found.append(Drift(path, "modified", text_diff(path, there, text)))
    listed = _manifest(folder, targets)
    for path in listed:
        if path in produced or not _belongs(path, targets):
            continue
        if (there := _read(folder, path)) is not None:
            found.append(Drift(path, "stale", text_diff(path, there, "")))
    shared = source is not None and source.resolve().is_relative_to(folder.resolve())
    for path in () if targets is None else _files(folder):
        own = "/" in path and _belongs(path, targets)
        searched = own if shared else whole or own or "/" not in path
        if searched and path not in produced and path not in (MANIFEST, *listed):
            found.append(Drift(path, "untracked"))
    manifest = _manifest_text(produced, folder, targets, recorded)
    there = _read(folder, MANIFEST)
    if there != manifest and not found:
        kind: Literal["modified", "missing"] = "missing" if there is None else "modified"
        found.append(Drift(MANIFEST, kind, text_diff(MANIFEST, there or "", manifest)))
    return tuple(sorted(found, key=lambda drift: drift.path))


def listed_targets(folder: Path) -> tuple[str, ...]:
    """The targets whose files the folder's manifest lists; the files may be gone."""
    return tuple(dict.fromkeys(path.partition("/")[0] for path in _manifest(folder, ())))


def recorded_targets(folder: Path) -> tuple[str, ...] | None:
    """The targets that the folder's manifest names: those that were compiled, if not all were.

    None if it names none. Empty if the folder has no manifest.
    """
    text = _read(folder, MANIFEST)
    if text is None:
        return ()
    line = next((line for line in text.splitlines() if line.startswith(_TARGETS)), None)
    return None if line is None else tuple(line.removeprefix(_TARGETS).split())


def _manifest_text(
    produced: Iterable[str],
    folder: Path,
    targets: Sequence[str] | None,
    recorded: Sequence[str] | None,
) -> str:
    """The manifest after a compile of ``targets``: one path a line, sorted; those of other targets
    are kept.
    """
    kept = [path for path in _manifest(folder, targets) if not _belongs(path, targets)]
    head = "" if recorded is None else f"{_TARGETS} {' '.join(sorted(recorded))}\n"
    return head + "".join(f"{path}\n" for path in sorted({*kept, *produced}))


def _belongs(path: str, targets: Sequence[str] | None) -> bool:
    return targets is None or path.split("/", 1)[0] in targets


def _manifest(folder: Path, targets: Sequence[str] | None) -> list[str]:
    """The paths in the folder's manifest; lines that no compile writes are skipped."""
    lines = (_read(folder, MANIFEST) or "").splitlines()
    paths = [line for line in lines if line and path_problem(line) is None]
    return paths if targets is None else [path for path in paths if "/" in path]


def _read(folder: Path, path: str) -> str | None:
    """The file's text, or None if there is no file; bytes that are not UTF-8 become escapes."""
    try:
        return (folder / path).read_bytes().decode("utf-8", "backslashreplace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _files(folder: Path) -> Iterator[str]:
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
    it was given.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    total: int


def write(
    files: Files,
    folder: Path,
    targets: Sequence[str] | None,
    *,
    recorded: Sequence[str] | None = None,
) -> WriteSummary:
    """Make the targets' part of ``folder`` equal to ``files``; on TargetError the folder is left as
    it was. ``targets`` and ``recorded`` are those of ``find_drift``.

    Each file that differs is written to a folder beside the files it will replace as soon as it is
    rendered. When all are there, they are moved into place one rename at a time, each undone if a
    later one fails. Files that are right already are not touched. Only files that an earlier
    manifest lists are ever removed.
    """
    made: list[Path] = []
    try:
        with _Staging(folder, made) as staging:
            total = 0
            produced = set()
            for path, texts in _pairs(files):
                total += 1
                produced.add(path)
                staging.add(path, texts)
            staging.add(MANIFEST, (_manifest_text(produced, folder, targets, recorded),))
            listed = _manifest(folder, targets)
            if targets is None:
                _refuse_foreign(folder, staging.changed, (MANIFEST, *listed))
            stale = tuple(
                path
                for path in listed
                if _belongs(path, targets) and path not in produced and (folder / path).is_file()
            )
            if staging.changed or stale:
                staging.swap(stale)
            written = tuple(staging.changed)
    except BaseException as error:
        _remove(made)
        if not isinstance(error, OSError):
            raise
        raise TargetError(
            Diagnostic(
                "cannot-write",
                error.strerror or str(error),
                str(error.filename or folder),
                hint="nothing was changed; make sure that the folder can be written to",
            )
        ) from error
    for path in stale:
        _prune((folder / path).parent, folder)
    return WriteSummary(written, stale, total)


class _Staging:
    """Files on their way into ``folder``; ``made`` collects the folders that were made for it,
    outermost first.
    """

    def __init__(self, folder: Path, made: list[Path]) -> None:
        self.folder = folder
        self.made = made
        self.changed: list[str] = []
        self.temporary: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> "_Staging":
        return self

    def __exit__(self, *_: object) -> None:
        if self.temporary is not None:
            self.temporary.cleanup()

    @property
    def place(self) -> Path:
        """The folder of the files that wait, made when it is first needed."""
        if self.temporary is None:
            self.made += _make_parent(self.folder / MANIFEST)
            self.temporary = tempfile.TemporaryDirectory(prefix=".faultspec-", dir=self.folder)
        return Path(self.temporary.name)

    def add(self, path: str, texts: Iterable[str]) -> None:
        """Keep the file, unless it is the same already; ``texts`` are the pieces of its text."""
        present, fresh = _open(self.folder / path), None
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

    def _fresh(self, path: str) -> BinaryIO:
        """The file that waits for its place, open and empty."""
        self.changed.append(path)
        fresh = self.place / "new" / path
        _refuse_outside(self.folder, path)
        _make_parent(fresh)
        return fresh.open("wb")

    def swap(self, stale: Sequence[str]) -> None:
        """Move all files into place and the stale ones away, or undo it all."""
        for path in stale:
            _refuse_outside(self.folder, path)
        fresh, old = self.place / "new", self.place / "old"
        changed = set(self.changed)
        undo: list[tuple[Path, Path | None]] = []
        made: list[Path] = []
        try:
            for path in (*self.changed, *stale):
                place, kept = self.folder / path, old / path
                made += _make_parent(place)
                if place.is_symlink() or place.exists():
                    _make_parent(kept)
                    os.replace(place, kept)
                    undo.append((place, kept))
                if path in changed:
                    os.replace(fresh / path, place)
                    if not undo or undo[-1][0] != place:
                        undo.append((place, None))
        except BaseException:
            for place, before in reversed(undo):
                if before is not None:
                    os.replace(before, place)
                else:
                    place.unlink(missing_ok=True)
            _remove(made)
            raise


def _open(path: Path) -> BinaryIO | None:
    """The file, open, or None if there is none."""
    try:
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    """Copy the first ``size`` bytes."""
    source.seek(0)
    while size and (data := source.read(min(size, 1 << 20))):
        target.write(data)
        size -= len(data)


def _refuse_outside(folder: Path, path: str) -> None:
    """Refuse a path that a symbolic link leads out of the folder, or that is a folder."""
    target = (folder / path).parent.resolve()
    if not target.is_relative_to(folder.resolve()):
        raise TargetError(
            Diagnostic(
                "bad-output-path",
                f"`{path}` leads out of the output folder through a symbolic link",
                str(folder),
                hint="remove the link",
            )
        )
    if (folder / path).is_dir() and not (folder / path).is_symlink():
        raise TargetError(
            Diagnostic(
                "cannot-write",
                "a folder stands where a file is to be written",
                str(folder / path),
                hint="move it away",
            )
        )


def _refuse_foreign(folder: Path, paths: Iterable[str], own: Collection[str]) -> None:
    """Refuse to overwrite a file that no compile wrote."""
    for path in paths:
        if path not in own and os.path.lexists(folder / path):
            raise TargetError(
                Diagnostic(
                    "foreign-file",
                    f"no compile wrote this file: {MANIFEST} of its folder does not list it",
                    str(folder / path),
                    hint="move it away, or name another folder for the target",
                )
            )


def _make_parent(path: Path) -> list[Path]:
    """Make the missing folders above ``path``, and return them, outermost first."""
    missing = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    path.parent.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _remove(made: Sequence[Path]) -> None:
    """Remove folders that were made, outermost first, as far as they are empty."""
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()


def _prune(folder: Path, top: Path) -> None:
    """Remove the folders from ``folder`` up to ``top`` that a removal left empty."""
    while folder != top and folder.is_relative_to(top):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
