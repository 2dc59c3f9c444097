"""The error boundary of an ASGI service: every error behind it is answered in the
envelope, with a correlation id.

    app = ErrorBoundary(app, body_limit=1_000_000)

An error of this package is answered as itself, any other exception as an internal
error. An answer that a framework made (an unknown route, a wrong method or media type
…) is answered as the code of its status, by ``for_status``.

An application may answer with an envelope itself. Its content is trusted. Its code must
be one of the status, its headers those of code and status, and its correlation id that
of the answer. If one of these is wrong, it is answered anew: as the same error if code
and status agree, else by its status.

A framework that answers exceptions itself needs the module for it in ``frameworks``.
"""

# Generated from examples/etcd/taxonomy.yaml; do not edit. Regenerate: faultspec compile
# examples/etcd/taxonomy.yaml

from typing import Unpack

from ._runtime import asgi
from ._runtime.boundary import Answer
from .boundary import (
    CORRELATION_FORMATS,
    CORRELATION_HEADER,
    BoundaryOptions,
    Choose,
    Complete,
    Problem,
    answer,
    for_status,
    last_resort,
    make_policy,
)

__all__ = [
    "CORRELATION_FORMATS",
    "CORRELATION_HEADER",
    "Answer",
    "Choose",
    "Complete",
    "ErrorBoundary",
    "Problem",
    "answer",
    "for_status",
    "last_resort",
]


class ErrorBoundary(asgi.AsgiBoundary):
    """ASGI middleware to put around the whole application. Its options are those of
    ``BoundaryOptions``. Raises ValueError as ``make_policy`` does.
    """

    def __init__(self, app: asgi.App, **options: Unpack[BoundaryOptions]) -> None:
        super().__init__(app, make_policy(**options))
