"""Documents of the targets, and the tools of others that read them, each of a pinned version."""

import copy
import json
import re
import subprocess
import tempfile
import venv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oas_patch.overlay import apply_overlay

from faultspec.language import load
from faultspec.render import render
from faultspec.targets import SHIPPED
from paths import ROOT, TESTS
from support.once import locked

NODE = {
    "@stoplight/spectral-cli": "6.16.3",
    "@redocly/cli": "2.77.0",
    "openapi-typescript": "7.13.0",
    "@stoplight/prism-cli": "5.14.2",
    "ajv": "8.20.0",
    "ajv-formats": "3.0.1",
    "typescript": "5.9.3",
}

PYTHON = {
    "openapi-python-client": "0.29.1",
    "datamodel-code-generator": "0.89.0",
    "openapi-generator-cli": "7.26.0",
}

TAXONOMIES = [
    ROOT / "taxonomy.yaml",
    *(ROOT / f"examples/{name}/taxonomy.yaml" for name in ("aileron", "alknet", "keenbench")),
    ROOT / "examples/theodosia/taxonomy.yaml",
    TESTS / "fixtures" / "bank.yaml",
    *sorted(
        path
        for path in (TESTS / "fixtures" / "wire_shapes").glob("*.yaml")
        if not path.stem.endswith(".answers")
    ),
]

_WRITTEN = ("jsonschema", "openapi", "overlay", "surfaces", "problems", "records", "mcp")


def python_tools() -> Path:
    """The folder of the programs of ``PYTHON``; skips if pip cannot install them."""
    name = "-".join(f"{tool}-{version}" for tool, version in PYTHON.items())
    folder = ROOT / ".cache" / "python-tools" / name
    whole = folder / "whole"
    with locked(folder.with_suffix(".lock")):
        if not whole.exists():
            # Not moved afterwards: programs name the folder they were installed in.
            venv.create(folder, with_pip=True, clear=True)
            wanted = [f"{tool}=={version}" for tool, version in PYTHON.items()]
            pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *wanted]
            if subprocess.run(pip, capture_output=True, check=False).returncode:
                pytest.skip(f"{', '.join(PYTHON)} are not in .cache, and pip cannot install them")
            whole.touch()
    return folder / "bin"


def run_tool(
    command: list[str | Path], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The ended process of a tool."""
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=600
    )


def write_documents(folder: Path) -> None:
    """Write ``NAME-VERSION.json``, an OpenAPI document with the overlay of each taxonomy with
    HTTP, and the JSON Schema documents of all taxonomies.
    """
    for path in TAXONOMIES:
        taxonomy = load(str(path)).taxonomy
        assert taxonomy is not None, path
        files = render(taxonomy, [SHIPPED[name] for name in _WRITTEN], path.name)
        for version in ("3.0", "3.1"):
            overlay = files.get(f"overlay/openapi-{version}.overlay.json")
            if overlay is not None:
                document = apply_overlay(service(taxonomy, version), json.loads(overlay))
                (folder / f"{taxonomy.name}-{version}.json").write_text(json.dumps(document))
        for name, text in files.items():
            if name.endswith(".schema.json"):
                (folder / f"{taxonomy.name}--{name.replace('/', '--')}").write_text(str(text))


def service(taxonomy: Any, version: str) -> dict[str, Any]:
    """A document with the operations of a taxonomy and two more, without errors."""
    routes = [
        (operation.name, *re.fullmatch(r"(?:([A-Z]+) )?(/.*)", route).groups())  # type: ignore[union-attr]  # the grammar says so
        for operation in taxonomy.operations.values()
        for route in operation.match.routes
        if "*" not in route
    ]
    paths: dict[str, Any] = {}
    for name, method, path in (
        *routes,
        ("list_things", "GET", "/things"),
        ("put_thing", "PUT", "/things/{id}"),
    ):
        done = {"schema": {"type": "object"}}
        paths.setdefault(path, {})[(method or "GET").lower()] = {
            "operationId": re.sub(r"\W", "_", name),
            "summary": name,
            "description": name,
            "tags": ["all"],
            "parameters": [
                {"name": each, "in": "path", "required": True, "schema": {"type": "string"}}
                for each in re.findall(r"\{(\w+)\}", path)
            ],
            "responses": {"200": {"description": "done", "content": {"application/json": done}}},
        }
    return copy.deepcopy(
        {
            "openapi": {"3.0": "3.0.3", "3.1": "3.1.0"}[version],
            "info": {
                "title": taxonomy.name,
                "version": "1",
                "description": "A service.",
                "contact": {"name": "Its team", "url": "https://example.com/"},
                "license": {"name": "MIT", "url": "https://example.com/license"},
            },
            "servers": [{"url": "https://api.example.org"}],
            "security": [{}],
            "tags": [{"name": "all", "description": "All operations."}],
            "paths": paths,
        }
    )


def openapi_documents(folder: Path) -> Iterator[Path]:
    """The OpenAPI documents of the folder, in order."""
    return iter(sorted(folder.glob("*-3.[01].json")))


def json_documents(folder: Path) -> Iterator[Path]:
    """The OpenAPI documents of the folder whose every body is JSON, in order."""
    for path in openapi_documents(folder):
        found = json.loads(path.read_text())["components"].get("responses", {}).values()
        media_types = {each for response in found for each in response.get("content", {})}
        if all(re.fullmatch(r"application/(\S+\+)?json", each) for each in media_types):
            yield path


def alternate_versions(documents: Iterable[Path]) -> Iterator[Path]:
    """One document of each taxonomy, by turns of either version: the two differ little, and some
    tools take seconds for each.
    """
    by_taxonomy: dict[str, list[Path]] = {}
    for path in documents:
        by_taxonomy.setdefault(path.name.rpartition("-")[0], []).append(path)
    return (both[turn % len(both)] for turn, both in enumerate(by_taxonomy.values()))


def json_schemas(folder: Path) -> Iterator[Path]:
    """The JSON Schema documents of the folder, in order."""
    return iter(sorted(folder.glob("*.schema.json")))


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for what a tool writes."""
    return tempfile.TemporaryDirectory(prefix="faultspec-tool-")
