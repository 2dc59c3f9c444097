"""Prints the components of a release as CycloneDX JSON: the package, the rules of gitleaks that it
contains, and the packages that an installation with its extras brings, as `user.txt` pins them.

    python requirements/sbom.py > dist/faultspec.cdx.json

What `compiler.txt` lists is required, the rest optional.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
TOKENS = HERE.parent / "compiler/faultspec/leaks/tokens.py"


def read_pins(file: str) -> Iterator[tuple[str, str]]:
    """The name and version of each package that a file of this folder pins."""
    for line in (HERE / file).read_text().splitlines():
        if found := re.match(r"([\w.-]+)==([^\s;]+)", line):
            yield canonicalize_name(found[1]), found[2]


def read_dependencies(name: str) -> set[str]:
    """The names of the packages that an installed package requires, whatever the platform."""
    try:
        listed = metadata.requires(name) or ()
    except metadata.PackageNotFoundError:  # of another platform
        return set()
    needed = map(Requirement, listed)
    return {canonicalize_name(need.name) for need in needed if "extra" not in str(need.marker)}


def make_package(name: str, version: str, scope: ComponentScope) -> Component:
    """A package of PyPI."""
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        scope=scope,
        purl=(purl := PackageURL("pypi", name=name, version=version)),
        bom_ref=purl.to_string(),
    )


def make_rules() -> Component:
    """The rules of gitleaks, which the package contains."""
    found = re.search(r"gitleaks v(\S+),", TOKENS.read_text())
    if found is None:
        sys.exit(f"{TOKENS.name} does not name the version of gitleaks")
    address = XsUri("https://github.com/gitleaks/gitleaks")
    return Component(
        type=ComponentType.DATA,
        name="gitleaks rules",
        version=found[1],
        licenses=[DisjunctiveLicense(id="MIT")],
        external_references=[ExternalReference(type=ExternalReferenceType.VCS, url=address)],
        bom_ref="gitleaks-rules",
    )


def make_bom() -> Bom:
    """The list of components."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    root = make_package(project["name"], project["version"], ComponentScope.REQUIRED)
    root.licenses.add(DisjunctiveLicense(id=project["license"]))
    bom = Bom()
    bom.metadata.component = root
    rules = make_rules()
    bom.components.add(rules)
    required = dict(read_pins("compiler.txt"))
    packages = {
        name: make_package(
            name, version, ComponentScope.REQUIRED if name in required else ComponentScope.OPTIONAL
        )
        for name, version in read_pins("user.txt")
    }
    bom.components.update(packages.values())
    extras = ("cbor", "conformance", "mcp", "personal-data")
    declared = [*project["dependencies"]]
    for extra in extras:
        declared += project["optional-dependencies"][extra]
    direct = {canonicalize_name(Requirement(line).name) for line in declared}
    bom.register_dependency(root, [rules, *(packages[name] for name in direct & packages.keys())])
    for name, package in packages.items():
        needed = read_dependencies(name) & packages.keys()
        bom.register_dependency(package, [packages[other] for other in needed])
    return bom


if __name__ == "__main__":
    outputter = make_outputter(make_bom(), OutputFormat.JSON, SchemaVersion.V1_6)
    print(outputter.output_as_string(indent=2))
