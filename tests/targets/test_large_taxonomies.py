"""Laws of large taxonomies: bindings with many codes are typed as well as those with few."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faultspec.language import read
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from targets.test_typescript import tsc


def many_codes(size: int) -> str:
    """A taxonomy of ``size`` codes with a detail of their own; two operations share the name of
    another code.
    """
    codes = "".join(
        f"  code_{number}: {{summary: Failure {number}., http: 409, retriable: false,"
        f" details: {{reason_{number}: {{type: string}}}}}}\n"
        for number in range(size)
    )
    own = "own: {summary: Own., http: 404, retriable: false, details: {place: {type: integer}}}"
    return (
        "faultspec: 1\ntaxonomy: {name: many, version: 1.0.0}\n"
        "envelopes: {error: {shape: {code: $code, message: $message, details?: $details}}}\n"
        f"codes:\n{codes}"
        f"operations:\n  get: {{errors: {{{own}}}}}\n  put: {{errors: {{{own}}}}}\n"
    )


def client(size: int) -> str:
    """A client that narrows to a code in three ways. Its last function lacks a case, the one before
    it reads another code's detail.
    """
    codes = [*(f"code_{number}" for number in range(size)), "own"]

    def switch(name: str, names: list[str]) -> str:
        cases = "".join(f"    case {json.dumps(code)}:\n" for code in names)
        return (
            f"export function {name}(error: AnyError): string {{\n  switch (error.code) {{\n"
            f"{cases}    case null:\n      return error.message;\n"
            "    default: {\n      const rest: never = error;\n      return rest;\n    }\n  }\n}\n"
        )

    return (
        'import { type AnyError, ErrorCode, hasCode } from "./many-errors/index.js";\n'
        "export function narrowed(error: AnyError): string | number | undefined {\n"
        "  if (hasCode(error, ErrorCode.CODE_7)) return error.details.reason_7;\n"
        '  if (hasCode(error, "own")) return error.details.place;\n'
        '  if (error.known && error.code === "code_8") return error.details.reason_8;\n'
        "  return undefined;\n}\n"
        f"{switch('whole', codes)}"
        "export function foreign(error: AnyError): unknown {\n"
        "  return hasCode(error, ErrorCode.CODE_7) ? error.details.reason_8 : null;\n}\n"
        f"{switch('partial', [code for code in codes if code != 'code_9'])}"
    )


#: A service and a client with the exceptions of the package.
SERVICE = """
import { Boundary } from "./many-errors/boundary.js";
import { withRetries as withAxiosRetries } from "./many-errors/clients/axios.js";
import { withRetries } from "./many-errors/clients/fetch.js";
import { isManyError } from "./many-errors/exceptions.js";
import { errorBoundary } from "./many-errors/frameworks/express.js";
export const parts = [Boundary, withAxiosRetries, withRetries, errorBoundary];
export function told(error: unknown): string | number | null | undefined {
  return isManyError(error) && error.code === "code_7" ? error.details.reason_7 : null;
}
"""


#: The first is beyond the thousand at which unions of the errors of a code are too complex for the
#: compiler (TS2859), and takes seconds.
SIZES = [1_200, pytest.param(10_000, marks=pytest.mark.full)]


@pytest.mark.full
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("size", SIZES)
def test_typescript_of_many_codes_is_typed_as_that_of_few(size: int, tmp_path: Path) -> None:
    """The package compiles. A code decides the type of the details, by ``hasCode`` and by ``===``,
    and a switch that lacks a code does not compile.
    """
    taxonomy = read(many_codes(size), "many.yaml").taxonomy
    assert taxonomy is not None
    write(render(taxonomy, [SHIPPED["typescript"]], "many.yaml"), tmp_path, ["typescript"])
    folder = tmp_path / "typescript"
    (folder / "client.ts").write_text(client(size))
    (folder / "service.ts").write_text(SERVICE)
    lines = tsc(
        folder, "--noEmit", "--module", "nodenext", "client.ts", "service.ts"
    ).stdout.splitlines()
    errors = [line for line in lines if not line.startswith(" ")]
    assert [line.partition(": ")[2][:50] for line in errors] == [
        "error TS2551: Property 'reason_8' does not exist on"[:50],
        "error TS2322: Type 'Code9' is not assignable to type"[:50],
    ]


PYTHON_CLIENT = """
import many_errors as many


def narrowed(error: many.AnyError) -> str | None:
    match error:
        case many.Code7():
            return error.details["reason_7"]
        case many.Code8():
            return error.details["reason_9"]
    return None
"""


@pytest.mark.parametrize("size", SIZES)
def test_python_of_many_codes_imports_within_bounds(size: int, tmp_path: Path) -> None:
    """The package imports in 1.5 GiB of memory, and a failure is parsed as its class."""
    package_of(size, tmp_path)
    body = json.dumps({"code": f"code_{size - 1}", "message": "no"})
    script = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({1536 * 1024**2}, {1536 * 1024**2}))\n"
        "import many_errors\n"
        f"print(type(many_errors.parse({body!r})).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path / "python",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == f"Code{size - 1}", done.stderr


@pytest.mark.full
@pytest.mark.parametrize("size", [200, pytest.param(1_200, marks=pytest.mark.full)])
def test_python_of_many_codes_is_typed_as_that_of_few(size: int, tmp_path: Path) -> None:
    """mypy narrows one of many classes, and refuses another class's detail."""
    package_of(size, tmp_path)
    (tmp_path / "python" / "client.py").write_text(PYTHON_CLIENT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "client.py"],
        cwd=tmp_path / "python",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert {line.split(":")[1] for line in errors} == {"10"}, done.stdout
    assert 'TypedDict "Code8Details" has no key "reason_9"' in done.stdout


def package_of(size: int, folder: Path) -> None:
    """Write the Python package of a large taxonomy."""
    taxonomy = read(many_codes(size), "many.yaml").taxonomy
    assert taxonomy is not None
    write(render(taxonomy, [SHIPPED["python"]], "many.yaml"), folder, ["python"])
