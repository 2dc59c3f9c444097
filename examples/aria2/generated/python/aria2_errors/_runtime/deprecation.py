# Copied from faultspec; do not edit
"""Deprecated constructors: a warning at run time, and a mark that type checkers read.

`typing_extensions` is imported for type checkers alone. Each has its stubs built in
(PEP 702), so nothing needs to be installed.
"""

import functools
import typing as t
import warnings
from collections.abc import Callable

if t.TYPE_CHECKING:
    from typing_extensions import deprecated
else:

    def deprecated(message: str) -> Callable[[Callable[..., None]], object]:
        """A decorator for `__init__`: each call of the class issues a
        `DeprecationWarning` with this message at the line of the caller.

        The decorator of the standard library would wrap `__new__` of the class, and
        warn also where an error is read or unpickled.
        """

        def decorate(method: Callable[..., None]) -> object:
            @functools.wraps(method)
            def warn_and_call(self: object, *args: object, **kwargs: object) -> None:
                # Two frames up is the caller: `type.__call__` has no frame.
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                method(self, *args, **kwargs)

            return warn_and_call

        return decorate


__all__ = ["deprecated"]
