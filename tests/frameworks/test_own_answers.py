"""Declared errors that a handler writes itself, without what their codes require: the boundaries of
all languages complete them, and answer no other code in their place.
"""

import json
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from frameworks.test_frameworks import HERE
from support.command_line import faultspec
from support.java import JAVA, compile_java, compile_package, needs_javac
from targets.test_target_go import go
from targets.test_typescript import tsc

#: Two codes share 401, and a header names the code; both require a challenge.
TAXONOMY = HERE / "heads.yaml"

PYTHON = """
import sys
import uuid
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


TYPESCRIPT = """
import { Boundary } from "./typescript/heads-errors/boundary.js";
declare const process: { argv: string[] };
const headers = { "content-type": "application/json", "x-error-code": process.argv[2] ?? "" };
const exchange = new Boundary().open({ method: "GET", path: "/" });
const answer = exchange.settle(401, headers, '{"detail": "mine"}');
for (const field of answer?.headers ?? []) console.log(field.join(": "));
console.log(answer?.body);
"""


def build_typescript(folder: Path) -> list[str]:
    """The command of the program in TypeScript."""
    (folder / "own.ts").write_text(TYPESCRIPT)
    (folder / "package.json").write_text('{"type": "module"}')
    done = tsc(
        folder, "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "own.ts"
    )
    assert done.returncode == 0, done.stdout
    return ["node", str(folder / "own.js")]


BUILDS: dict[str, Callable[[Path], list[str]]] = {
    "python": build_python,
    "go": build_go,
    "java": build_java,
    "typescript": build_typescript,
}

in_every_language = pytest.mark.parametrize(
    "language",
    [
        "python",
        pytest.param("go", marks=pytest.mark.skipif(not shutil.which("go"), reason="no go")),
        pytest.param("java", marks=needs_javac),
        pytest.param(
            "typescript", marks=pytest.mark.skipif(not shutil.which("node"), reason="no node")
        ),
    ],
)


def build(language: str, taxonomy: Path, folder: Path) -> list[str]:
    """The command of the program in a language, with the package of a taxonomy."""
    done = faultspec("compile", "--target", language, "--out", ".", str(taxonomy), cwd=folder)
    assert done.returncode == 0, done.stderr
    return BUILDS[language](folder)


def answer_to(command: list[str], code: str) -> list[str]:
    """The lines of the answer to the error of a handler, with its body as the last."""
    ran = subprocess.run([*command, code], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@in_every_language
def test_a_declared_error_without_its_headers_stays_itself(language: str, tmp_path: Path) -> None:
    """The code, which a header carries, and the message are those of the handler; the challenge is
    added. A code that is not declared is answered by the status.
    """
    command = build(language, TAXONOMY, tmp_path)
    for sent, code, message in (
        ("login", "login", "mine"),
        ("expired", "expired", "mine"),
        ("nonsense", "refused", "Refused"),
    ):
        *fields, body = answer_to(command, sent)
        lines = [field.lower() for field in fields]
        assert f"x-error-code: {code}" in lines
        assert ("www-authenticate: bearer" in lines) == (code == sent)
        assert f'"{message}"' in body


@in_every_language
def test_a_boundary_fills_the_slot_of_an_echo_without_a_format(
    language: str, tmp_path: Path
) -> None:
    """With a UUID, which the header of the echo has too."""
    text = TAXONOMY.read_text(encoding="utf-8")
    named = text.replace("{detail: $message}", "{detail: $message, id: $id}").replace(
        "fields: {", "fields: {id: {type: string, echo: X-Request-Id}, "
    )
    taxonomy = tmp_path / "heads.yaml"
    taxonomy.write_text(named, encoding="utf-8")
    *fields, body = answer_to(build(language, taxonomy, tmp_path), "nonsense")
    made = json.loads(body)["id"]
    assert str(uuid.UUID(made)) == made
    assert f"x-request-id: {made}" in [field.lower() for field in fields]
