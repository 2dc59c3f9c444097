"""Public OpenAPI documents in packages of npm, each pinned by version and hash.

They are fetched by `npm pack` into a temporary folder, and are not part of this repository.
"""

import gzip
import hashlib
import json
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml


class Document(NamedTuple):
    """``package``: with its version. ``member``: the file in it. ``digest``: of that file as it is
    in the package.
    """

    name: str
    package: str
    member: str
    digest: str


DOCUMENTS = (
    Document(
        name="GitHub",
        package="@octokit/openapi@23.0.2",
        member="package/generated/api.github.com.json",
        digest="829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a",
    ),
    Document(
        name="authentik (Django REST framework)",
        package="@goauthentik/api@2026.8.3",
        member="package/schema.yml",
        digest="6e9b00e18160ba60df33f5b2621db278693dbd0f35cce5abccb35c99160dc57f",
    ),
    Document(
        name="Blockfrost",
        package="@blockfrost/openapi@0.1.93",
        member="package/openapi.yaml",
        digest="b0f64545d55c459525d31ba681d8134fba95d2ce5452d87a754aa7409d2ca887",
    ),
    Document(
        name="Directus",
        package="@directus/specs@15.2.0",
        member="package/dist/openapi.json",
        digest="fd9c209674ca9c7912ce5eacc830537b7e7ec8e9f5c67dbffc4ded4a9bd157e1",
    ),
    Document(
        name="Figma",
        package="@figma/rest-api-spec@0.43.0",
        member="package/openapi/openapi.yaml",
        digest="d0d7f955eecafa8166c8e0dd63ba10cc14c18677903c2b447921ba39eea5d598",
    ),
    Document(
        name="Postcodes (Ideal Postcodes)",
        package="@ideal-postcodes/openapi@4.21.0",
        member="package/dist/openapi.json",
        digest="cedeb3ddf377a50317fc65f65e8c1eaf156667cfd3a8e75199e59f6b8e179a59",
    ),
    Document(
        name="Kubernetes",
        package="kubernetes-client@9.0.0",
        member="package/lib/specs/swagger-1.13.json.gz",
        digest="b0945fcbe967ccf53eec6625300f74a19735818eb1a3009fd617d5d51ca760c3",
    ),
    Document(
        name="Netlify",
        package="@netlify/open-api@2.60.0",
        member="package/dist/swagger.json",
        digest="70aa5a0a052a689e87cad8fca256e9aa560165a7b6b3bdc41121ede385637521",
    ),
    Document(
        name="rclone",
        package="rclone-openapi@1.75.0",
        member="package/openapi.json",
        digest="4c8a03e37f49a28beafdb5755632626be40940ccaf8ec04af5f8fdae6a3c0974",
    ),
    Document(
        name="ShipEngine",
        package="shipengine-openapi@1.4.0",
        member="package/openapi.yaml",
        digest="e3388676767584529eb7a7a4b49ffe78367b53586ed20ed437eb55f71d0933ae",
    ),
)

_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})

#: Names of members whose listed values are codes, beside the others that the importer knows.
_CODES = frozenset(
    {"code", "Code", "error_code", "errorCode", "errcode", "error", "type", "reason"}
)

#: Levels of schemas in schemas that are counted.
_DEEPEST = 6


def fetch(document: Document, folder: Path) -> Path:
    """The file of a document. Raises ValueError if its hash is not the pinned one."""
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), document.package]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        member = archive.extractfile(document.member)
        assert member is not None
        content = member.read()
    digest = hashlib.sha256(content).hexdigest()
    if digest != document.digest:
        raise ValueError(f"{document.name}: the hash is {digest}, not {document.digest}")
    name = Path(document.member)
    if name.suffix == ".gz":
        name, content = name.with_suffix(""), gzip.decompress(content)
    path = folder / f"{document.name.split(' ')[0].lower()}{name.suffix}"
    path.write_bytes(content)
    return path


def count_declared(path: Path) -> tuple[int, int, int]:
    """The operations of a document, the values that its failures list as codes, and the pairs of
    status and schema, as they are written, of the other failures. The importer is not used.
    """
    text = path.read_text(encoding="utf-8")
    whole = json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
    operations, values, pairs = 0, set[str](), set[str]()
    for operation in _operations(whole):
        operations += 1
        for status, response in operation.get("responses", {}).items():
            if str(status)[0] in "123":
                continue
            schema = _schema(_resolved(whole, response))
            listed = set(_listed(whole, schema, str(status), _DEEPEST))
            values |= listed
            if not listed:
                pairs.add(json.dumps([str(status), schema], sort_keys=True, default=str))
    return operations, len(values), len(pairs)


def _operations(whole: Any) -> Iterator[Any]:
    for item in whole.get("paths", {}).values():
        yield from (each for name, each in _resolved(whole, item).items() if name in _METHODS)


def _resolved(whole: Any, node: Any) -> Any:
    for _ in range(_DEEPEST):
        if not isinstance(node, Mapping) or not isinstance(node.get("$ref"), str):
            break
        found = whole
        for step in node["$ref"].removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/").replace("~0", "~")]
        node = found
    return node


def _schema(response: Any) -> Any:
    """The schema of the body in JSON, else of any body."""
    content = response.get("content", {})
    media = next((each for name, each in content.items() if "json" in name), None)
    return (media or next(iter(content.values()), response)).get("schema")


def _listed(whole: Any, schema: Any, status: str, depth: int) -> Iterator[str]:
    schema = _resolved(whole, schema)
    if not isinstance(schema, Mapping) or not depth:
        return
    for name, member in schema.get("properties", {}).items():
        member = _resolved(whole, member)
        if name in _CODES and isinstance(member, Mapping):
            values = [member["const"]] if "const" in member else member.get("enum", [])
            yield from (str(each) for each in values if str(each) not in (status, "True", "None"))
        yield from _listed(whole, member, status, depth - 1)
    for key in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(key, ()):
            yield from _listed(whole, branch, status, depth - 1)
    yield from _listed(whole, schema.get("items"), status, depth - 1)
