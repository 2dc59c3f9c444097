"""The checks for the extras: one line instead of a failing import."""

from importlib.util import find_spec

import click

_NEEDED = ("httpx", "starlette", "uvicorn")


def is_installed(module: str) -> bool:
    """Whether a module can be imported, also one in a package that is missing."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def find_missing_package() -> str | None:
    """The first package of ``faultspec[conformance]`` that is not installed, or None."""
    return next((name for name in _NEEDED if not is_installed(name)), None)


def require_conformance() -> None:
    """Raise UsageError with what to install, unless ``faultspec[conformance]`` is installed."""
    missing = find_missing_package()
    if missing is not None:
        refuse_missing(missing, "conformance")


def refuse_missing(package: str, extra: str) -> None:
    """Raise UsageError with the extra that has a package."""
    raise click.UsageError(
        f"this command needs {package}, which is not installed: pip install 'faultspec[{extra}]'"
    )
