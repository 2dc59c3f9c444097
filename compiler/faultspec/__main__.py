"""The program ``faultspec``: what a signal does, before anything takes time, then the command line.

``python -m faultspec`` is the same.
"""

import os
import signal
from typing import NoReturn

#: The exit code of an interrupted command, as `faultspec.cli.interruption` has it.
_INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line and exit. A signal while its modules are imported ends the process."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from faultspec.cli import main as run

    run()


def _end(number: int, frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
