"""Paths of output files."""

from pathlib import PurePath


def is_in_git(path: PurePath) -> bool:
    """Whether a path leads through a folder that belongs to git."""
    return ".git" in map(str.casefold, path.parts)


def path_problem(path: str) -> str | None:
    """Why a path must not be written to, or None."""
    if path.startswith("/") or ":" in path or "\\" in path:
        return "is not a relative POSIX path"
    if not path.isprintable():
        return "has invisible characters"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "leaves the output folder, or names a folder"
    if any(part.casefold() in (".git", ".faultspec-compile") for part in parts):
        return "is in a folder that belongs to git or to a compile"
    return None
