"""The shop in Django over ASGI, served by uvicorn."""

import sys
from pathlib import Path

import uvicorn

sys.path.append(str(Path(__file__).parent / "django_parts"))

import shop_urls

shop_urls.configure()

from django.core.asgi import get_asgi_application  # noqa: E402  # after Django is configured
from shop_errors.asgi import ErrorBoundary  # noqa: E402  # after Django is configured

app = ErrorBoundary(get_asgi_application(), body_limit=1000)


def serve(port):
    """Answer requests until the process ends."""
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", lifespan="off")
