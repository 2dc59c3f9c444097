"""Writing a file whole or not at all."""

import os
import shutil
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Replace the content of a file, or create it; an interruption leaves the old content.

    The mode of an existing file stays, and a link stays a link. What is not a regular file, such as
    a pipe, is written in place. Raises OSError.
    """
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file():
        real.write_bytes(content)
        return
    beside = real.with_name(f".{real.name}.{os.getpid()}.new")
    try:
        with beside.open("xb") as file:
            file.write(content)
        if real.exists():
            shutil.copymode(real, beside)
        beside.replace(real)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
