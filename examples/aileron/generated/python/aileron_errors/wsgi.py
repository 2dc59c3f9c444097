"""The error boundary of a WSGI service: every error behind it is answered in the
envelope, with a correlation id.

    app = ErrorBoundary(app, body_limit=1_000_000)

It answers as ``asgi.ErrorBoundary`` does. A framework that answers exceptions itself
needs the module for it in ``frameworks``.
"""

# Generated from examples/aileron/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/aileron/taxonomy.yaml

from typing import Unpack

from ._runtime import wsgi
from .boundary import BoundaryOptions, make_policy


class ErrorBoundary(wsgi.WsgiBoundary):
    """WSGI middleware to put around the whole application. Its options are those of
    ``BoundaryOptions``. Raises ValueError as ``make_policy`` does.
    """

    def __init__(self, app: wsgi.App, **options: Unpack[BoundaryOptions]) -> None:
        super().__init__(app, make_policy(**options))
