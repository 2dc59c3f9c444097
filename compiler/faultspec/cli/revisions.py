"""A taxonomy as it was at a git revision. Nothing is checked out, and nothing is fetched."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic
from faultspec.language import LoadedTaxonomy, load
from faultspec.language.layers import DEEPEST
from faultspec.source import SourceError, load_document

#: Seconds for one git command, which reads objects of this machine only.
_PATIENCE = 60


class RevisionError(Exception):
    """A file that cannot be read at a revision. ``hint``: what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class PastTaxonomy(NamedTuple):
    """A taxonomy at a revision; ``loaded`` None: the file did not exist."""

    name: str
    loaded: LoadedTaxonomy | None


def load_at(path: str, revision: str, read: Callable[[str], LoadedTaxonomy] = load) -> PastTaxonomy:
    """Read the taxonomy `path`, and the files that it extends, at `revision`.

    ``read`` reads the file. Raises RevisionError if git, the repository or the revision is missing.
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
    inner = os.path.relpath(os.path.realpath(path), os.path.realpath(top)).replace(os.sep, "/")
    label = f"{revision}:{inner}"
    with tempfile.TemporaryDirectory(prefix="faultspec-") as place:
        if not _extract(top, name, inner, Path(place)):
            return PastTaxonomy(label, None)
        loaded = read(os.path.join(place, inner))
        return PastTaxonomy(label, _with_names(loaded, place, revision))


def _git(folder: str, *arguments: str) -> bytes | None:
    """The output of a git command; None if it failed. Raises RevisionError without git."""
    environment = {
        **os.environ,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
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
        return (
            "the clone is shallow: run `git fetch --unshallow`, or `git fetch --depth 1 origin "
            f"{revision}`"
        )
    return (
        "name a branch, a tag or a commit of this repository; `git fetch` brings those of the "
        "remote"
    )


def _extract(top: str, commit: str, inner: str, place: Path) -> bool:
    """Write a file of a commit, and the files that it extends, below a folder."""
    for _ in range(DEEPEST + 1):
        content = _git(top, "cat-file", "blob", f"{commit}:{inner}")
        if content is None:
            return (place / inner).exists()
        target = place / inner
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        base = _base_of(target)
        if base is None:
            return True
        inner = os.path.normpath(os.path.join(os.path.dirname(inner), base)).replace(os.sep, "/")
        if inner.startswith("../") or (place / inner).exists():
            return True
    return True


def _base_of(file: Path) -> str | None:
    """The file that a taxonomy extends; None for none, and for a base in a package."""
    data = None
    with suppress(SourceError):
        data = load_document(str(file)).data
    base = data.get("extends") if isinstance(data, dict) else None
    if not isinstance(base, str) or base.startswith("package:") or os.path.isabs(base):
        return None
    return base


def _with_names(loaded: LoadedTaxonomy, place: str, revision: str) -> LoadedTaxonomy:
    """The result, in which files have the names that they have in git."""

    def rename(path: str) -> str:
        inner = os.path.relpath(path, place)
        return f"{revision}:{inner.replace(os.sep, '/')}"

    def rename_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
        from dataclasses import replace

        return replace(diagnostic, path=rename(diagnostic.path))

    return loaded._replace(
        diagnostics=tuple(map(rename_diagnostic, loaded.diagnostics)),
        sources={rename(path): text for path, text in loaded.sources.items()},
    )
