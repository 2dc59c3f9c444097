"""Messages of a service that answer nothing, kept until the run takes them."""

import threading

#: Messages that are kept until they are taken, within the bytes of a body. More of them show
#: nothing new.
_KEPT = 50


class UnpromptedMessages:
    """The messages since they were taken last. Any thread may add one."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._dropped = 0
        self._changes = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept) + self._dropped

    def add(self, message: bytes, limit: int) -> int:
        """Keep a message if there is room for it; return its bytes then, else 0. ``limit``: bytes
        of all.
        """
        with self._changes:
            size = sum(map(len, self._kept)) + len(message)
            if len(self._kept) >= _KEPT or size > limit:
                self._dropped += 1
                return 0
            self._kept.append(message)
            return len(message)

    def take(self) -> tuple[tuple[bytes, ...], int]:
        """The messages since the last time, and how many more came."""
        with self._changes:
            taken = tuple(self._kept), self._dropped
            self._kept, self._dropped = [], 0
            return taken
