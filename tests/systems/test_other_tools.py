"""The generated OpenAPI and JSON Schema documents under the tools that people run on theirs.

docs/other-tools.md has what was measured: `FAULTSPEC_WRITE=1 .venv/bin/python -m pytest -m ""
tests/systems/test_other_tools.py`.
"""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import jsonschema
import pytest
import schemathesis

from paths import ROOT
from support.npm import installed
from support.once import build_once
from support.other_tools import (
    NODE,
    PYTHON,
    alternate_versions,
    json_documents,
    json_schemas,
    openapi_documents,
    python_tools,
    run_tool,
    scratch,
    write_documents,
)

pytestmark = pytest.mark.full

PAGE = ROOT / "docs" / "other-tools.md"


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the documents."""
    return build_once(tmp_path_factory, "other-tools", write_documents)


def node(name: str) -> Path:
    """A program of npm, or the folder of the packages for an empty name."""
    modules = installed(NODE, "typescript/package.json")
    return modules / ".bin" / name if name else modules


Refusal = tuple[str, str]
"""A document and why a tool does not accept it."""


def by_spectral(folder: Path) -> Iterator[Refusal]:
    """Spectral with its rules for OpenAPI, but for the one about components without a use."""
    with scratch() as work:
        rules = 'extends: ["spectral:oas"]\nrules: {oas3-unused-component: off}\n'
        (Path(work) / "rules.yaml").write_text(rules)
        files = [str(path) for path in openapi_documents(folder)]
        results = Path(work) / "results.json"
        options = ["-r", f"{work}/rules.yaml", "-f", "json", "-o", results]
        run_tool([node("spectral"), "lint", *options, *files])
        findings = json.loads(results.read_text())
    for found in findings:
        yield Path(found["source"]).name, f"{found['code']}: {found['message']}"


def by_redocly(folder: Path) -> Iterator[Refusal]:
    """The errors of `redocly lint` by its recommended rules."""
    for path in alternate_versions(openapi_documents(folder)):
        command = [node("redocly"), "lint", path, "--extends", "recommended", "--format", "json"]
        done = run_tool(command)
        for found in json.loads(done.stdout)["problems"]:
            if found["severity"] == "error":
                yield path.name, f"{found['ruleId']}: {found['message']}"


#: Writes the types of each document, all in one process: most of the time is the start of node.
TYPES = """
import fs from "node:fs";
import path from "node:path";
const [package_, work, ...files] = process.argv.slice(2);
const { default: openapiTS, astToString } = await import(package_);
for (const file of files) {
  try {
    const text = astToString(await openapiTS(new URL(`file://${file}`)));
    fs.writeFileSync(`${work}/${path.basename(file, ".json").replace(".", "")}.ts`, text);
  } catch (error) { console.log(JSON.stringify([path.basename(file), error.message])); }
}
"""


def by_openapi_typescript(folder: Path) -> Iterator[Refusal]:
    """Types of each document, which the compiler accepts in its strict mode."""
    with scratch() as work:
        script, package = Path(work) / "types.mjs", node("") / "openapi-typescript/dist/index.mjs"
        script.write_text(TYPES)
        documents = [*openapi_documents(folder)]
        done = run_tool(["node", script, package, work, *documents])
        assert not done.returncode, done.stderr
        yield from (tuple(json.loads(line)) for line in done.stdout.splitlines())
        assert len([*Path(work).glob("*.ts")]) == len(documents)
        files = sorted(map(str, Path(work).glob("*.ts")))
        done = run_tool([node("tsc"), "--noEmit", "--strict", "--skipLibCheck", *files])
        for line in done.stdout.splitlines():
            yield Path(line.partition("(")[0]).name, line


def by_openapi_python_client(folder: Path) -> Iterator[Refusal]:
    """A client of each document, from which nothing is left out."""
    program = python_tools() / "openapi-python-client"
    for path in alternate_versions(json_documents(folder)):
        with scratch() as work:
            command: list[str | Path] = [program, "generate", "--path", path, "--meta", "none"]
            done = run_tool([*command, "--output-path", f"{work}/client"], cwd=Path(work))
        warnings = re.findall(r"^(?:WARNING|Cannot|Unable).*", done.stdout + done.stderr, re.M)
        if done.returncode or warnings:
            yield path.name, (warnings or [done.stdout[-200:]])[0]


#: Generates and imports the models of each document, all in one process: most of the time of the
#: program is its start.
CODEGEN = """
import contextlib, importlib, io, json, pathlib, sys
from datamodel_code_generator.__main__ import main
sys.path.insert(0, sys.argv[1])
for number, path in enumerate(map(pathlib.Path, sys.argv[2:])):
    kind = "jsonschema" if path.name.endswith(".schema.json") else "openapi"
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code = main([
            "--input", str(path), "--input-file-type", kind,
            "--output-model-type", "pydantic_v2.BaseModel",
            "--output", f"{sys.argv[1]}/models{number}.py",
            "--formatters", "builtin", "--no-treat-dot-as-module",
        ])
        if not code:
            try:
                importlib.import_module(f"models{number}")
            except Exception as error:
                code = repr(error)
    if code:
        print(json.dumps([path.name, f"{code}: {errors.getvalue().strip()[-200:]}"]))
print(json.dumps("done"))
"""


def by_datamodel_codegen(folder: Path) -> Iterator[Refusal]:
    """Models of pydantic for each document, which are imported."""
    documents = (*openapi_documents(folder), *json_schemas(folder))
    with scratch() as work:
        done = run_tool([python_tools() / "python", "-c", CODEGEN, work, *documents])
    *refused, last = map(json.loads, done.stdout.splitlines() or [json.dumps(done.stderr)])
    assert last == "done", last
    yield from map(tuple, refused)


def by_openapi_generator(folder: Path) -> Iterator[Refusal]:
    """`validate` for each document; clients in four languages for the largest."""
    program = python_tools() / "openapi-generator-cli"
    for path in alternate_versions(openapi_documents(folder)):
        done = run_tool([program, "validate", "-i", path])
        if done.returncode:
            yield path.name, done.stdout[-300:]
    for version in ("3.0", "3.1"):
        for language in ("typescript-fetch", "python", "java", "go"):
            with scratch() as work:
                path = folder / f"platform-{version}.json"
                done = run_tool([program, "generate", "-i", path, "-g", language, "-o", work])
            if done.returncode:
                yield path.name, f"{language}: {done.stderr[-200:]}"


AJV = """
const fs = require("fs"), path = require("path");
const Ajv = require("ajv/dist/2020").default, formats = require("ajv-formats").default;
for (const file of process.argv.slice(2)) {
  const log = [], note = (text) => log.push(text);
  const ajv = new Ajv({strict: true, allErrors: true, logger: {log: note, warn: note, error: note}});
  formats(ajv);
  ajv.addVocabulary(["x-sensitive"]);
  try { ajv.compile(JSON.parse(fs.readFileSync(file))); } catch (error) { log.push(error.message); }
  for (const text of log) console.log(JSON.stringify([path.basename(file), text]));
}
"""


def by_ajv(folder: Path) -> Iterator[Refusal]:
    """ajv with `strict: true`, in which its warnings are errors."""
    with scratch() as work:
        script = Path(work) / "ajv.cjs"
        script.write_text(AJV)
        done = subprocess.run(
            ["node", script, *json_schemas(folder)],
            env={**os.environ, "NODE_PATH": str(node(""))},
            capture_output=True,
            text=True,
            check=False,
        )
    assert not done.returncode, done.stderr
    for line in done.stdout.splitlines():
        name, text = json.loads(line)
        yield name, text


def by_jsonschema(folder: Path) -> Iterator[Refusal]:
    """The meta-schema of 2020-12, by jsonschema."""
    for path in json_schemas(folder):
        try:
            jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))
        except jsonschema.SchemaError as error:
            yield path.name, error.message


def by_schemathesis(folder: Path) -> Iterator[Refusal]:
    """Every operation is read, without an error of a schema."""
    for path in openapi_documents(folder):
        loaded = schemathesis.openapi.from_dict(json.loads(path.read_text()))
        for found in loaded.get_all_operations():
            if type(found).__name__ == "Err":
                yield path.name, str(found.err())


def by_prism(folder: Path) -> Iterator[Refusal]:
    """A mock that answers each declared status, with the declared headers and no placeholder."""
    for path in alternate_versions(json_documents(folder)):
        document = json.loads(path.read_text())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [node("prism"), "mock", "-h", "127.0.0.1", "-p", str(port), path]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
                _wait_for(client)
                for reason in _ask_mock(client, document):
                    yield path.name, reason
        finally:
            process.terminate()
            process.wait()


def _wait_for(client: httpx.Client) -> None:
    for _ in range(200):
        try:
            client.get("/")
            return
        except httpx.TransportError:
            time.sleep(0.1)
    pytest.fail("the mock does not listen")


def _ask_mock(client: httpx.Client, document: Any) -> Iterator[str]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            for status, reference in operation["responses"].items():
                if not status.startswith(("4", "5")) or not status.isdigit():
                    continue
                declared = resolved(document, reference)
                media = next(iter(declared.get("content", {})), "*/*")
                asked = client.request(
                    method,
                    re.sub(r"\{\w+\}", "x", path),
                    headers={"Prefer": f"code={status}", "Accept": media},
                )
                if str(asked.status_code) != status:
                    yield f"{method} {path} answered {asked.status_code} for {status}"
                for name in declared.get("headers", {}):
                    if asked.headers.get(name) in (None, "string", "0"):
                        yield f"{name} is {asked.headers.get(name)!r} with {status}"


def resolved(document: Any, value: Any) -> Any:
    """The value that a reference of the document is about."""
    while "$ref" in value:
        target = document
        for step in value["$ref"].removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        value = target
    return value


class Tool(NamedTuple):
    """A tool and how it is asked. ``remark``: what it says beside that, and why nothing follows."""

    name: str
    version: str
    what: str
    find: Callable[[Path], Iterator[Refusal]]
    remark: str = ""


SENSITIVE = (
    "with sensitive details, it has to know the keyword: `ajv.addVocabulary(['x-sensitive'])`"
)
DOTS = (
    "with `--no-treat-dot-as-module`: definitions of operations have names such as `pay.declined`"
)
JSON_ONLY = (
    "it reads `application/json` and `+json` alone: documents with other bodies are left out"
)
INSTALLED = "that of the tests"
ANYTHING = "`oas3-unused-component`: an overlay has components for statuses that no operation has"
WARNINGS = (
    "its warnings: unused components; `no-illogical-composition-keywords` and "
    "`no-invalid-media-type-examples` overlook constants inside members (jsonschema accepts "
    "the examples)"
)

TOOLS = {
    tool.name: tool
    for tool in (
        Tool("Spectral", NODE["@stoplight/spectral-cli"], "lint, `spectral:oas`", by_spectral, ANYTHING),
        Tool("Redocly CLI", NODE["@redocly/cli"], "lint, `recommended`", by_redocly, WARNINGS),
        Tool("openapi-typescript", NODE["openapi-typescript"], "types, `tsc --strict`", by_openapi_typescript),
        Tool("openapi-python-client", PYTHON["openapi-python-client"], "a client, no warning", by_openapi_python_client, JSON_ONLY),
        Tool("datamodel-code-generator", PYTHON["datamodel-code-generator"], "pydantic models, imported", by_datamodel_codegen, DOTS),
        Tool("OpenAPI Generator", PYTHON["openapi-generator-cli"], "`validate`; clients in TypeScript, Python, Java, Go", by_openapi_generator),
        Tool("Prism", NODE["@stoplight/prism-cli"], "a mock: every status, every header", by_prism, JSON_ONLY),
        Tool("schemathesis", INSTALLED, "reads every operation", by_schemathesis),
        Tool("ajv", NODE["ajv"], "`strict: true`", by_ajv, SENSITIVE),
        Tool("jsonschema", INSTALLED, "the meta-schema", by_jsonschema),
    )
}  # fmt: skip  # a row a tool

OF_ALTERNATE = {"Redocly CLI", "openapi-python-client", "OpenAPI Generator", "Prism"}
OF_SCHEMAS = {"ajv", "jsonschema"}
OF_JSON = {"openapi-python-client", "Prism"}
OF_BOTH = {"datamodel-code-generator"}


def count(tool: Tool, folder: Path) -> int:
    """The documents that a tool reads."""
    if tool.name in OF_SCHEMAS:
        return len([*json_schemas(folder)])
    read = json_documents if tool.name in OF_JSON else openapi_documents
    found = read(folder)
    documents = len([*(alternate_versions(found) if tool.name in OF_ALTERNATE else found)])
    return documents + len([*json_schemas(folder)]) if tool.name in OF_BOTH else documents


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_accepts_every_document(name: str, documents: Path) -> None:
    """None is refused, and none has a part that the tool leaves out."""
    assert [*TOOLS[name].find(documents)] == []


HEADING = """# Other tools

The documents that `faultspec compile` writes, under the tools that people run on theirs: the
OpenAPI documents (3.0 and 3.1) of a service with the overlay of each taxonomy of this repository
and of the wire shapes in `tests/fixtures/wire_shapes`, and their JSON Schemas. Some tools read one
document of each taxonomy, by turns that of 3.0 and that of 3.1. `make full` asks every tool again.

| tool | version | what it does | documents | accepted | remark |
|---|---|---|---|---|---|
"""


def test_the_page_lists_every_tool(documents: Path) -> None:
    """A row for each tool, with the number of documents that it reads and accepts."""
    rows = "".join(
        f"| {tool.name} | {tool.version} | {tool.what} | {count(tool, documents)} | all | {tool.remark} |\n"
        for tool in TOOLS.values()
    )
    if os.environ.get("FAULTSPEC_WRITE") == "1":
        PAGE.write_text(HEADING + rows, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == HEADING + rows
