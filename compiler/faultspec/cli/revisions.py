"""A taxonomy as it was at a git revision. Nothing is checked out, and nothing is fetched."""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic
from faultspec.language import LoadedTaxonomy, load
from faultspec.language.layers import DEEPEST
from faultspec.source import MAX_BYTES, SourceError, load_document

#: Seconds for one git command, which reads objects of this machine only.
_PATIENCE = 60


class RevisionError(Exception):
    """A file that cannot be read at a revision. ``hint``: what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class PastTaxonomy(NamedTuple):
    """A taxonomy at a revision; ``loaded`` None: the file did not exist. ``note``: a remark about
    the commit that was read.
    """

    name: str
    loaded: LoadedTaxonomy | None
    note: str | None = None


def load_at(path: str, revision: str, read: Callable[[str], LoadedTaxonomy] = load) -> PastTaxonomy:
    """Read the taxonomy `path`, and the files that it extends, at `revision`.

    ``read`` reads the file. Raises RevisionError if git, the repository, the revision or a base is
    missing.
    """
    folder = os.path.dirname(os.path.abspath(path))
    root = _git(folder, "rev-parse", "--show-toplevel")
    if root is None:
        raise RevisionError(
            f"{path} is not in a git repository", "give both files: faultspec diff OLD NEW"
        )
    top = root.decode().rstrip("\n")
    commit = _find_commit(top, revision)
    if commit is None:
        raise RevisionError(
            f"there is no revision {revision!r}", _missing_revision_hint(top, revision)
        )
    name = commit.decode().strip()
    # Commits that only the other branch has are not changes of this one.
    base = (_git(top, "merge-base", name, "HEAD") or b"").decode().strip()
    note = None
    if base and base != name:
        note = f"{revision} moved on: compared with the commit {base[:12]}, where the branches part"
        name = base
    # A link is followed as it was at the revision, or else as it is now.
    written = os.path.join(os.path.realpath(folder), os.path.basename(path))
    inner, now = (
        os.path.relpath(file, os.path.realpath(top)).replace(os.sep, "/")
        for file in (written, os.path.realpath(path))
    )
    past = _PastFiles(top, name, revision)
    if past.find(inner) is None and past.find(now) is not None:
        inner = now
    label = f"{revision}:{inner}"
    if past.find(inner) is None:
        return PastTaxonomy(label, None, note)
    with tempfile.TemporaryDirectory(prefix="faultspec-") as place:
        # The folder stands for the repository: a base may lie anywhere in it.
        (Path(place) / ".git").mkdir()
        _extract(past, inner, Path(place))
        loaded = read(os.path.join(place, inner))
        return PastTaxonomy(label, _with_names(loaded, place, revision), note)


def _git(folder: str, *arguments: str) -> bytes | None:
    """The output of a git command; None if it failed. Raises RevisionError without git."""
    environment = {
        **os.environ,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",  # of git before 2.39.4, which does not know the variable above
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        done = subprocess.run(
            ("git", "-C", folder, *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            env=environment,
            check=False,
        )
    except FileNotFoundError:
        raise RevisionError(
            "git is not installed", "install it, or give both files: faultspec diff OLD NEW"
        ) from None
    except subprocess.TimeoutExpired:
        raise RevisionError(
            f"git took longer than {_PATIENCE} s", "give both files: faultspec diff OLD NEW"
        ) from None
    return done.stdout if done.returncode == 0 else None


def _find_commit(top: str, revision: str) -> bytes | None:
    quiet = ("--verify", "--quiet", "--end-of-options")
    return _git(top, "rev-parse", *quiet, f"{revision}^{{commit}}")


def _missing_revision_hint(top: str, revision: str) -> str:
    shallow = _git(top, "rev-parse", "--is-shallow-repository")
    if shallow is not None and shallow.strip() == b"true":
        return f"the clone is shallow: run `{_deepening_command(revision)}`"
    return (
        "name a branch, a tag or a commit of this repository; `git fetch` brings those of the "
        "remote"
    )


def _deepening_command(revision: str) -> str:
    """The command that brings a revision and its history into a shallow clone. A clone may follow
    one branch alone, so another branch and a tag are named; a commit cannot be.
    """
    remote, _, branch = revision.rpartition("origin/")
    if re.fullmatch(r"[0-9a-f]{7,40}|HEAD", revision) or not re.fullmatch(r"[\w./-]+", revision):
        return "git fetch --unshallow"
    if branch and not remote and revision != branch:
        return f"git fetch --unshallow origin {branch}:refs/remotes/{revision}"
    return f"git fetch --unshallow origin {revision}:{revision}"


#: Links of one path that are followed; Linux follows as many (path_resolution(7)).
_MOST_LINKS = 40

#: Bytes of a path and of each of its parts on Linux (`PATH_MAX`, `NAME_MAX`). A commit may have
#: longer ones. And parts of a path: git gets the path to each of them.
_LONGEST_PATH, _LONGEST_PART, _MOST_PARTS = 4096, 255, 200

#: The modes of git for a symbolic link and for the commit of a submodule.
_LINK, _SUBMODULE = "120000", "160000"


class _PastFiles(NamedTuple):
    """The files of a commit, which `revision` names."""

    top: str
    commit: str
    revision: str

    def find(self, inner: str) -> str | None:
        """The path of the file at a path from the root, behind all links; None if there is none.

        Raises RevisionError if it is behind a link that leads to no file of the repository, or in a
        submodule: then there was a file, which git does not have.
        """
        asked, linked = inner, False
        for _ in range(_MOST_LINKS):
            if not _is_path(inner):
                break
            parts = [part for part in os.path.normpath(inner).split("/") if part != "."]
            if parts[:1] in ([], [os.pardir], [""]):
                break
            paths = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
            modes = self._modes(paths)
            link = next((path for path in paths if modes.get(path) == _LINK), None)
            if link is None:
                mode = modes.get(paths[-1])
                if mode is not None and mode != _SUBMODULE and not _is_folder(mode):
                    return paths[-1]
                linked = linked or _SUBMODULE in modes.values()
                break
            linked = True
            if self._size(link) > _LONGEST_PATH:
                break
            rest = paths[-1][len(link) :]
            inner = os.path.join(os.path.dirname(link), os.fsdecode(self._blob(link))) + rest
        if linked:
            raise RevisionError(
                f"{asked} cannot be read at {self.revision}: behind a link, or in a submodule, the "
                "repository has no file",
                "give both files: faultspec diff OLD NEW",
            )
        return None

    def _modes(self, paths: Sequence[str]) -> Mapping[str, str]:
        """The mode of each path that exists, by path. Raises RevisionError: what git cannot list
        may exist.
        """
        arguments = ("ls-tree", "-z", "--full-tree", self.commit, "--", *paths)
        listed = _git(self.top, *arguments)
        if listed is None:
            raise self._missing("the files")
        lines = (os.fsdecode(line).partition("\t") for line in listed.split(b"\0") if line)
        return {path: facts.partition(" ")[0] for facts, _, path in lines}

    def content(self, inner: str) -> bytes:
        """The bytes of a file that exists. Raises RevisionError, also for more than are read of
        one: a commit of a megabyte may hold a gigabyte.
        """
        if self._size(inner) > MAX_BYTES:
            raise RevisionError(
                f"{inner} is larger than {MAX_BYTES // 1024**2} MiB at {self.revision}",
                "check that this is the file you meant",
            )
        return self._blob(inner)

    def _size(self, inner: str) -> int:
        """The bytes of a file, or of the target of a link. Raises RevisionError."""
        size = _git(self.top, "cat-file", "-s", f"{self.commit}:{inner}")
        if size is None:
            raise self._missing(inner)
        return int(size)

    def _blob(self, inner: str) -> bytes:
        found = _git(self.top, "cat-file", "blob", f"{self.commit}:{inner}")
        if found is None:
            raise self._missing(inner)
        return found

    def _missing(self, what: str) -> RevisionError:
        """Why something that exists is not there: a clone may lack it, and nothing is fetched."""
        return RevisionError(
            f"git cannot read {what} at {self.revision}",
            "the clone lacks objects, as one with `--filter` does: clone without it, or give both "
            "files: faultspec diff OLD NEW",
        )


def _is_path(inner: str) -> bool:
    """Whether a path of a commit can be one of a file system."""
    try:
        parts = [os.fsencode(part) for part in inner.split("/")]
    except UnicodeEncodeError:
        return False
    return (
        "\0" not in inner
        and len(parts) <= _MOST_PARTS
        and sum(map(len, parts)) <= _LONGEST_PATH
        and all(len(part) <= _LONGEST_PART for part in parts)
    )


def _is_folder(mode: str) -> bool:
    return mode.startswith("04")


def _extract(past: _PastFiles, inner: str, place: Path) -> None:
    """Write a file of a commit, and the files that it extends, below a folder. Raises RevisionError
    for one that cannot be read.
    """
    written: set[str] = set()
    while inner not in written and len(written) <= DEEPEST:  # the reader reports circles
        written.add(inner)
        found = past.find(inner)
        if found is None:
            raise RevisionError(
                f"the base {inner} cannot be read at {past.revision}",
                "a base in a submodule or outside the repository has no revision: give both "
                "files: faultspec diff OLD NEW",
            )
        target = place / inner
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(past.content(found))
        base = _base_of(target)
        if base is None:
            return
        inner = os.path.normpath(os.path.join(os.path.dirname(inner), base)).replace(os.sep, "/")


def _base_of(file: Path) -> str | None:
    """The file that a taxonomy extends; None for none, and for a base in a package."""
    data = None
    with suppress(SourceError):
        data = load_document(str(file)).data
    base = data.get("extends") if isinstance(data, dict) else None
    return None if not isinstance(base, str) or base.startswith("package:") else base


def _with_names(loaded: LoadedTaxonomy, place: str, revision: str) -> LoadedTaxonomy:
    """The result, in which files have the names that they have in git."""

    def rename(path: str) -> str:
        inner = os.path.relpath(path, place)
        return f"{revision}:{inner.replace(os.sep, '/')}"

    def rename_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
        return replace(diagnostic, path=rename(diagnostic.path))

    return loaded._replace(
        diagnostics=tuple(map(rename_diagnostic, loaded.diagnostics)),
        sources={rename(path): text for path, text in loaded.sources.items()},
    )
