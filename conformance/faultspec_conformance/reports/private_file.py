"""Files that only their owner can read: reports contain answers of a service."""

import errno
from pathlib import Path

from faultspec.source import leaves_repository
from faultspec.source.whole_file import write_whole

_OWNER_ONLY = 0o600


def write_private(path: Path, text: str) -> None:
    """Replace or create a file with the mode 0600, in UTF-8. Missing folders are made.

    An interruption and a full disk leave the old content. A pipe or a device is written in place
    and keeps its mode. Raises OSError, also for a path that leads out of its repository.
    """
    refuse_way_out(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode(), _OWNER_ONLY)


def refuse_way_out(path: Path) -> None:
    """Raise OSError for a path in a repository that a link of the checkout leads out of it."""
    if leaves_repository(str(path)):
        message = "a link leads out of the repository; name the place itself"
        raise OSError(errno.ELOOP, message, str(path))
