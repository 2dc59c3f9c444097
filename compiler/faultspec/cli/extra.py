"""Commands that need the conformance extra say so in one line, instead of failing on an import."""

from importlib import import_module

import click

_NEEDED = ("httpx", "starlette", "uvicorn")


def conformance() -> None:
    """Return if what ``faultspec[conformance]`` brings is there; otherwise end with exit code 2 and what to install."""
    for name in _NEEDED:
        try:
            import_module(name)
        except ImportError:
            raise click.UsageError(
                f"this command needs {name}, which is not installed: pip install 'faultspec[conformance]'"
            ) from None
