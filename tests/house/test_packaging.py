"""An installed package works outside the checkout, from a wheel that was built from the sdist."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import cyclonedx.schema
import jsonschema
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from referencing import Registry
from referencing.jsonschema import DRAFT7

from paths import ROOT

#: Everything that only the ``conformance`` extra brings; the compiler must not need it.
EXTRA = ("schemathesis", "hypothesis", "pytest", "starlette", "uvicorn", "httpx", "requests")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel, built from the sdist, was installed without its
    dependencies.
    """
    work = tmp_path_factory.mktemp("packaging")
    run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": work}
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(work / "dist"),
            str(ROOT),
        ],
        **run,
    )
    (wheel,) = (work / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "site")
    return work / "site"


def faultspec(
    installed: Path, *arguments: str, cwd: Path, block: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the installed command line with ``block`` made unimportable."""
    program = (
        "import sys\n"
        f"for name in {block!r}: sys.modules[name] = None\n"
        "from faultspec.cli import main\n"
        "sys.argv[0] = 'faultspec'\n"
        "main()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.full
def test_the_wheel_compiles_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    """The base install compiles a taxonomy of one's own, with nothing of the conformance extra
    importable.
    """
    started = faultspec(installed, "init", "taxonomy.yaml", cwd=tmp_path, block=EXTRA)
    assert started.returncode == 0, started.stderr
    compiled = faultspec(installed, "compile", cwd=tmp_path, block=EXTRA)
    assert compiled.returncode == 0, compiled.stderr
    assert sorted(each.name for each in (tmp_path / "generated").iterdir() if each.is_dir()) == [
        "jsonschema",
        "markdown",
        "openapi",
        "overlay",
        "problems",
        "python",
        "typescript",
    ]
    assert faultspec(installed, "compile", "--check", cwd=tmp_path, block=EXTRA).returncode == 0
    assert faultspec(installed, "lint", cwd=tmp_path, block=EXTRA).returncode == 0


def test_a_command_that_needs_the_extra_says_so(installed: Path, tmp_path: Path) -> None:
    """Without the extra, ``conform`` ends in one line that names what to install, not in a
    traceback.
    """
    (tmp_path / "conformance.yaml").write_text(
        "taxonomy: taxonomy.yaml\ntarget: {http: 'http://127.0.0.1:9'}\n"
    )
    for command in (["conform", "conformance.yaml"], ["demo"]):
        done = faultspec(installed, *command, cwd=tmp_path, block=EXTRA)
        assert done.returncode == 2
        assert "faultspec[conformance]" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_wheel_carries_no_path_of_the_checkout(installed: Path) -> None:
    """Nothing installed points back to where it was built."""
    for path in installed.rglob("*"):
        if path.is_file():
            assert str(ROOT).encode() not in path.read_bytes(), path


def test_the_wheel_contains_the_licenses(installed: Path) -> None:
    """The wheel has the license, and the notice of every work that it contains a part of."""
    (metadata,) = installed.glob("*.dist-info")
    assert (metadata / "licenses" / "LICENSE").is_file()
    notice = (metadata / "licenses" / "NOTICE").read_text()
    assert "faultspec/leaks/tokens.py" in notice
    assert (installed / "faultspec/leaks/tokens.py").is_file()
    assert "Copyright (c) 2019 Zachary Rice" in notice


# Pinned packages

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

#: For each file of pins the extras that it serves.
PINNED = {"compiler": (), "user": ("mcp", "personal-data", "cbor", "proto"), "dev": ("dev",)}


def list_dependencies(extras: tuple[str, ...]) -> list[Requirement]:
    """The declared dependencies, with those of extras that name other extras."""
    found = [Requirement(line) for line in PROJECT["dependencies"]]
    for extra in extras:
        for need in map(Requirement, EXTRAS[extra]):
            found += [need] if need.name != "faultspec" else list_dependencies(tuple(need.extras))
    return found


@pytest.mark.parametrize("name", PINNED)
def test_every_pin_has_hashes(name: str) -> None:
    """Each declared dependency is pinned within its bounds; each pin has a hash; no line names a
    host.
    """
    text = (ROOT / f"requirements/{name}.txt").read_text()
    entries = text.replace("\\\n", " ").splitlines()
    pins = {}
    for entry in entries:
        found = re.fullmatch(
            r"([\w.-]+)(?:\[[\w,-]+\])?==(\S+)(?: ; [^#\\]+?)?((?: +--hash=sha256:[0-9a-f]{64})+)",
            entry,
        )
        assert found, entry
        pins[canonicalize_name(found[1])] = found[2]
    for need in list_dependencies(PINNED[name]):
        assert need.specifier.contains(pins[canonicalize_name(need.name)]), need
    assert "hatchling" in pins, "nothing unpinned builds the package"


def test_the_list_of_components_is_complete() -> None:
    """The list is valid CycloneDX. It has the package, the works that it contains, and every pinned
    package of a user; the required ones are those of the compiler.
    """
    done = subprocess.run(
        [sys.executable, ROOT / "requirements/sbom.py"], check=True, capture_output=True, text=True
    )
    listed = json.loads(done.stdout)
    schemas = Path(cyclonedx.schema.__file__).parent / "_res"
    registry: Registry[object] = Registry().with_resources(
        (path.name, DRAFT7.create_resource(json.loads(path.read_text())))
        for path in schemas.glob("*.json")
    )
    rules = {"$ref": "bom-1.6.SNAPSHOT.schema.json"}
    jsonschema.Draft7Validator(rules, registry=registry).validate(listed)
    assert listed["metadata"]["component"]["version"] == PROJECT["version"]
    names = {component["name"]: component.get("scope") for component in listed["components"]}
    pinned = {
        name: set(
            re.findall(r"^([\w.-]+)==", (ROOT / f"requirements/{name}.txt").read_text(), re.M)
        )
        for name in PINNED
    }
    assert names.keys() == {"gitleaks rules", *map(canonicalize_name, pinned["user"])}
    required = {name for name, scope in names.items() if scope == "required"}
    assert required == set(map(canonicalize_name, pinned["compiler"]))
