"""The Jinja environment of every template, and the shipped templates.

Two of its parts are there for speed alone, each with its figure: the look-up of members of rows,
and the cache of compiled templates.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, BytecodeCache, FileSystemBytecodeCache, StrictUndefined
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faultspec.targets import filters


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox, which lets templates read the members of rows without its own checks.

    A row is a named tuple of ours, and nearly all look-ups of a template are of its members. The
    sandbox's checks take ten times as long: 0.2 s of CPU at 1,000 codes, all targets. Calls are
    still checked.
    """

    def getattr(self, obj: Any, attribute: str) -> Any:
        if attribute in _members(type(obj)):  # type: ignore[arg-type]  # a type has a hash
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)


def _call(
    _context: object,
    function: Callable[..., Any],
    *args: Any,
    _loop_vars: object = None,
    _block_vars: object = None,
    **named: Any,
) -> Any:
    """The result of a call in a shipped template. Names with an underscore are Jinja's, for
    functions that take the context; shipped templates call none.
    """
    return function(*args, **named)


@cache
def _members(row: type) -> frozenset[str]:
    """The public members of a type of rows; none of any other type."""
    public = (name for name in dir(row) if not name.startswith("_"))
    return frozenset(public if hasattr(row, "_fields") else ())


def environment(
    loader: BaseLoader, compiled: BytecodeCache | None = None, *, shipped: bool = False
) -> ImmutableSandboxedEnvironment:
    """The environment of every template; ``compiled`` is the cache of compiled templates.

    It is sandboxed, because a folder of templates may come from anywhere, and strict, because a
    misspelled name must not render as nothing. Autoescaping is off: no output is HTML, and each
    language has a filter for its quoting.

    ``shipped``: the loader finds shipped templates only. Their look-ups of members and their calls
    are Python's own, which takes 0.6 s less of CPU at 10,000 codes.
    """
    made = _Sandbox(
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=compiled,
        auto_reload=False,
    )
    if shipped:
        made.getattr = getattr  # type: ignore[method-assign, assignment]
        made.call = _call  # type: ignore[method-assign]
    made.filters.update(filters.FILTERS)
    # The same taxonomy makes the same files.
    del made.filters["random"]
    del made.globals["lipsum"]
    return made


def bytecode() -> FileSystemBytecodeCache | None:
    """The compiled templates of earlier runs; compiling them takes a third of a small compile.

    Jinja keeps them in a folder for temporary files that belongs to this user alone, and refuses
    any other.
    """
    try:
        return _TemplateCache(pattern="__faultspec_%s.cache")
    except (RuntimeError, OSError):
        return None


class _TemplateCache(FileSystemBytecodeCache):
    """A cache in which a damaged entry is none: the disk was full, or its writer was ended."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the compiled template of a bucket, if there is one that can be read."""
        if not os.path.isfile(self._get_cache_filename(bucket)):  # a pipe would wait for a writer
            return
        try:
            super().load_bytecode(bucket)
        except Exception:  # whatever the bytes of a pickle raise
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template, if there is space for it."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def shipped_templates() -> Path:
    """The folder of the shipped templates: ``faultspec/templates`` in a wheel, ``templates`` in a
    checkout.
    """
    here = Path(__file__).resolve().parents[1]
    installed = here / "templates"
    return installed if installed.is_dir() else here.parent.parent / "templates"
