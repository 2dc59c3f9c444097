"""Declared errors that a handler writes itself, without what their codes require: the boundaries of
all languages complete them, and answer no other code in their place.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from frameworks.test_frameworks import HERE
from support.command_line import faultspec
from support.java import JAVA, compile_java, compile_package, needs_javac
from targets.test_target_go import go

#: Two codes share 401, and a header names the code; both require a challenge.
TAXONOMY = HERE / "heads.yaml"

PYTHON = """
import sys
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from heads_errors.asgi import ErrorBoundary

def own(request):
    headers = {"X-Error-Code": sys.argv[1]}
    return JSONResponse({"detail": "mine"}, 401, headers=headers)

answer = TestClient(ErrorBoundary(Starlette(routes=[Route("/", own)]), challenge="Bearer")).get("/")
for field in answer.headers.items():
    print(*field, sep=": ")
print(answer.text)
"""


def build_python(folder: Path) -> list[str]:
    """The command of the program in Python."""
    (folder / "python/own.py").write_text(PYTHON)
    return [sys.executable, str(folder / "python/own.py")]


def build_go(folder: Path) -> list[str]:
    """The command of the program in Go."""
    (folder / "go/go.mod").write_text("module example.test/heads\n\ngo 1.23\n")
    shutil.copy(HERE / "go/own.go.txt", folder / "go/main.go")
    built = go(folder / "go", "build", "-o", "own", ".")
    assert built.returncode == 0, built.stderr
    return [str(folder / "go/own")]


def build_java(folder: Path) -> list[str]:
    """The command of the program in Java."""
    compile_package(folder, "headserrors")
    compile_java(folder, [HERE / "java/OwnAnswer.java"])
    return [*JAVA, "-cp", str(folder / "classes"), "OwnAnswer"]


BUILDS: dict[str, Callable[[Path], list[str]]] = {
    "python": build_python,
    "go": build_go,
    "java": build_java,
}


@pytest.mark.parametrize(
    "language",
    [
        "python",
        pytest.param("go", marks=pytest.mark.skipif(not shutil.which("go"), reason="no go")),
        pytest.param("java", marks=needs_javac),
    ],
)
def test_a_declared_error_without_its_headers_stays_itself(language: str, tmp_path: Path) -> None:
    """The code, which a header carries, and the message are those of the handler; the challenge is
    added. A code that is not declared is answered by the status.
    """
    done = faultspec("compile", "--target", language, "--out", ".", str(TAXONOMY), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    command = BUILDS[language](tmp_path)
    for sent, code, message in (
        ("login", "login", "mine"),
        ("expired", "expired", "mine"),
        ("nonsense", "refused", "Refused"),
    ):
        ran = subprocess.run(
            [*command, sent], capture_output=True, text=True, check=False, timeout=60
        )
        lines = ran.stdout.lower().splitlines()
        assert f"x-error-code: {code}" in lines, ran.stderr
        assert ("www-authenticate: bearer" in lines) == (code == sent)
        assert f'"{message}"'.lower() in lines[-1]
