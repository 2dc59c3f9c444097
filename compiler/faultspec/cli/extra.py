"""The check for the conformance extra: one line instead of a failing import."""

from importlib.util import find_spec

import click

_NEEDED = ("httpx", "starlette", "uvicorn")


def require_conformance() -> None:
    """Raise UsageError with what to install, unless ``faultspec[conformance]`` is installed."""
    for name in _NEEDED:
        if find_spec(name) is None:
            raise click.UsageError(
                f"this command needs {name}, which is not installed: pip install "
                "'faultspec[conformance]'"
            )
