"""Writing a file whole or not at all."""

import os
import shutil
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace the content of a file, or create it; an interruption leaves the old content.

    ``mode``: the most permissive mode of the file; None keeps that of an existing file. A
    link stays a link. What is not a regular file, such as a pipe, is written in place and keeps its
    mode. Raises OSError.
    """
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file():
        real.write_bytes(content)
        return
    beside = real.with_name(f".{real.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(beside, _NEW, 0o666 if mode is None else mode), "wb") as file:
            file.write(content)
        if mode is None and real.exists():
            shutil.copymode(real, beside)
        beside.replace(real)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
