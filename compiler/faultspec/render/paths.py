"""Paths of output files."""


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
