"""The page on clients: every example runs as it stands, against a real service."""

import re
import subprocess
import sys

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from miniatures.serve import serving
from paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "clients.md").read_text(encoding="utf-8")

EXAMPLES = re.findall(r"^## (.*?)\n.*?```python\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)


async def not_found(_: Request) -> JSONResponse:
    """Answer that the order does not exist."""
    body = {"code": "not_found", "message": "No such order", "correlation_id": "order-seven-id"}
    return JSONResponse(body, 404)


@pytest.mark.parametrize(("title", "example"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_each_example_catches_its_error(title: str, example: str) -> None:
    """The typed error of the answer is caught and printed, with its correlation id."""
    assert len(EXAMPLES) == 4
    with serving(Starlette(routes=[Route("/orders/7", not_found)])) as base:
        done = subprocess.run(
            [sys.executable, "-c", example.replace("http://localhost:8000", base)],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": str(ROOT / "generated" / "python")},
        )
    assert (done.stdout, done.returncode) == ("not_found order-seven-id\n", 0), done.stderr
