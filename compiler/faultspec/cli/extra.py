"""The check for the conformance extra: one line instead of a failing import."""

from importlib.util import find_spec

import click

_NEEDED = ("httpx", "starlette", "uvicorn")


def find_missing_package() -> str | None:
    """The first package of ``faultspec[conformance]`` that is not installed, or None."""
    return next((name for name in _NEEDED if find_spec(name) is None), None)


def require_conformance() -> None:
    """Raise UsageError with what to install, unless ``faultspec[conformance]`` is installed."""
    missing = find_missing_package()
    if missing is not None:
        raise click.UsageError(
            f"this command needs {missing}, which is not installed: pip install "
            "'faultspec[conformance]'"
        )
