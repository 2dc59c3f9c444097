"""Commands that need the conformance extra say so in one line, instead of failing on an import."""

from importlib.util import find_spec

import click

_NEEDED = ("httpx", "starlette", "uvicorn")


def conformance() -> None:
    """Return if what ``faultspec[conformance]`` brings is there; otherwise end with exit code 2 and what to install."""
    for name in _NEEDED:
        if find_spec(name) is None:
            raise click.UsageError(
                f"this command needs {name}, which is not installed: pip install 'faultspec[conformance]'"
            )
