"""Files that only their owner can read: reports contain answers of a service."""

import os
import stat
from pathlib import Path

_OWNER_ONLY = 0o600


def write_private(path: Path, text: str) -> None:
    """Write a text to a new or existing file with the mode 0600, in UTF-8; missing folders are
    made.

    The mode changes before the text is written. A pipe or a device keeps its mode. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    number = os.open(path, os.O_WRONLY | os.O_CREAT, _OWNER_ONLY)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        if stat.S_ISREG(os.fstat(number).st_mode):
            path.chmod(_OWNER_ONLY)
            file.truncate(0)
        file.write(text)
