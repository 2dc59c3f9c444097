"""Collects error texts of well-known packages: what honest messages look like, written by nobody
who knew the detectors.

    python tests/vectors/harmless.py FOLDER > tests/vectors/harmless.jsonl
    python tests/vectors/harmless.py --near FOLDER > tests/vectors/near.jsonl

FOLDER holds wheels of PyPI (`pip download --no-deps`) and tarballs of npm (`npm pack`). Of each
package a few texts are taken, evenly spread over all that its source raises, declares as messages
or marks for translation; nothing is chosen by hand. Each line says where it is from: package and
version, file, text. Texts have the placeholders that the source has.

With `--near` the folder holds services and drivers (and botocore, in which the services of AWS
describe their errors), and of all their texts those are taken that come nearest to a leak: for each
pattern of the detectors a few in which one of its needles stands, of as many packages as there are.
The texts of such a package that the detectors take for leaks are among them.
"""

import ast
import gzip
import html
import json
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from faultspec.leaks.detectors import DETECTORS

EACH = 12
"""Texts of one package."""

NEAR = 3
"""Texts that come near to one pattern."""

LONGEST = 240
"""Characters of a text: what is longer is a manual."""

SENTENCE = re.compile(r"[A-Za-z]{2,}\W+[A-Za-z]{2,}\W+[A-Za-z]{2,}")

NAMES = re.compile(r"(?:^|_)(?:messages?|msg|description|detail|errors?)$")
"""Names of what holds messages."""

TRANSLATED = frozenset(
    {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "N_"}
)

OF_JAVASCRIPT = re.compile(
    r"""(?:Error|createError|[mM]essage|msg|raise)\s*[(:=]\s*(?:\w+\s*,\s*)?(['"`])((?:(?!\1)[^\\\n]|\\.){8,400})\1"""
    r"""|'[a-z]+\.[A-Za-z.]+':\s*(['"`])((?:(?!\3)[^\\\n]|\\.){8,400})\3"""
)


def text(node: ast.AST) -> str | None:
    """The text of a literal, with placeholders."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(
                str(each.value)
                if isinstance(each, ast.Constant)
                else f"{{{ast.unparse(each.value)}}}"
                for each in values
            )  # type: ignore[attr-defined]  # the other kind has a value too
        case ast.BinOp(left=left, op=ast.Mod()):
            return text(left)
    return None


def texts(node: ast.AST) -> Iterator[str]:
    """Every text below a node."""
    own = text(node)
    if own is not None:
        yield own
        return
    for each in ast.iter_child_nodes(node):
        yield from texts(each)


def of_python(source: str) -> Iterator[str]:
    """Yield the texts that a module raises, declares or has translated."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Raise(exc=ast.AST() as raised):
                yield from texts(raised)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments) if (
                name in TRANSLATED
            ):
                for each in arguments:
                    yield from texts(each)
            case ast.Assign(
                targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value
            ) if NAMES.search(name):
                yield from texts(value)


def of_service(source: str) -> Iterator[str]:
    """Yield the sentences of a service of AWS about its errors."""
    for shape in json.loads(source)["shapes"].values():
        if shape.get("exception"):
            for part in (shape, *shape.get("members", {}).values()):
                plain = html.unescape(re.sub(r"<[^>]*>", " ", part.get("documentation", "")))
                yield from (
                    each for each in re.split(r"(?<=[.!?])\s+", " ".join(plain.split())) if each
                )


def of_module(name: str, source: str) -> Iterator[str]:
    """The texts of a module, by the kind of its file."""
    kinds = {"py": of_python, "gz": of_service}
    return kinds.get(name.rpartition(".")[2], of_javascript)(source)


def of_javascript(source: str) -> Iterator[str]:
    """Yield the texts that a module throws or declares as a message."""
    for found in OF_JAVASCRIPT.finditer(source):
        yield re.sub(r"\\(['\"`\\])", r"\1", found[2] or found[4])


def modules(path: Path) -> Iterator[tuple[str, str]]:
    """The sources of a package, tests and other languages' messages apart."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                if name.endswith(".py") and not re.search(r"/tests?/", name):
                    yield name, wheel.read(name).decode("utf-8", "replace")
                elif name.endswith("/service-2.json.gz"):
                    yield name, gzip.decompress(wheel.read(name)).decode()
        return
    with tarfile.open(path) as archive:
        for member in archive:
            unwanted = re.search(
                r"\.min\.|/tests?/|bundle|\.d\.ts$|umd|/esm?/|locales/(?!en)", member.name
            )
            if member.isfile() and re.search(r"\.(?:[cm]?js|ts)$", member.name) and not unwanted:
                file = archive.extractfile(member)
                yield member.name, file.read().decode("utf-8", "replace") if file else ""


def package(path: Path) -> str:
    """Name and version, as the registry writes them."""
    if path.suffix == ".whl":
        name, version = path.name.split("-")[:2]
        return f"{name}=={version}"
    return "@".join(path.name.removesuffix(".tgz").rsplit("-", 1))


def collected(path: Path) -> list[dict[str, str]]:
    """The texts of one package."""
    found: dict[str, str] = {}
    for name, source in modules(path):
        try:
            for each in of_module(name, source):
                if SENTENCE.search(each) and len(each) <= LONGEST and "\n" not in each:
                    found.setdefault(each.strip(), name)
        except (SyntaxError, RecursionError):
            continue
    return [{"package": package(path), "file": name, "text": each} for each, name in found.items()]


def spread(rows: list[dict[str, str]], most: int) -> list[dict[str, str]]:
    """A few of many, from the first to the last of them."""
    step = max(len(rows) / most, 1)
    return [rows[int(index * step)] for index in range(min(most, len(rows)))]


def near(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Of each pattern a few texts that it has to look at; a needle that every tenth text holds
    tells nothing.
    """
    kept: dict[str, dict[str, str]] = {}
    for pattern in (each for patterns in DETECTORS.values() for each in patterns):
        of_one = [
            [row for row in rows if needle in row["text"].lower() and row["text"] not in kept]
            for needle in pattern.needles
        ]
        of_all = [row for some in of_one if len(some) < len(rows) / 10 for row in some]
        kept |= {row["text"]: row for row in spread(of_all, NEAR)}
    return list(kept.values())


def main(folder: str, *, nearest: bool) -> None:
    """Print a line a text."""
    packages = [
        collected(path)
        for path in sorted(Path(folder).iterdir())
        if path.suffix in (".whl", ".tgz")
    ]
    rows = (
        near([row for rows in packages for row in rows])
        if nearest
        else [row for rows in packages for row in spread(rows, EACH)]
    )
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[-1], nearest="--near" in sys.argv)
