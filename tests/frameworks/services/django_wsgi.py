"""The shop in Django over WSGI, served by waitress."""

import sys
from pathlib import Path

import waitress

sys.path.append(str(Path(__file__).parent / "django_parts"))

import shop_urls

shop_urls.configure()

from django.core.wsgi import get_wsgi_application  # noqa: E402  # after Django is configured

app = get_wsgi_application()


def serve(port):
    """Answer requests until the process ends."""
    waitress.serve(app, host="127.0.0.1", port=port, send_bytes=1, threads=8)
