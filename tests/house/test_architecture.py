"""The house of ARCHITECTURE.md: which room may import which, and which outside package only one
module may import.
"""

import ast
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from paths import ROOT

SOURCES = {
    "faultspec": ROOT / "compiler" / "faultspec",
    "faultspec_conformance": ROOT / "conformance" / "faultspec_conformance",
}
COMPILER, SUITE = SOURCES.values()

ROOMS: Mapping[str, str] = {
    "faultspec.runtime": "Standard library only: envelope shapes, ids, Retry-After, the retry planner, the ASGI boundary. "
    "Copied verbatim into generated Python; `runtime/typescript` is its one port",
    "faultspec.exchange": "One request and its answer on any transport, values in bodies, searches with expressions of others, and the finding",
    "faultspec.diagnostics": "The diagnostic value and its printers",
    "faultspec.source": "YAML text to data with a span for every key and value, from one parse; "
    "files that are replaced whole",
    "faultspec.openapi": "The one reader of OpenAPI documents: text, references, schemas, operations; and a list of what it could not read",
    "faultspec.language": "The grammar (also the JSON Schema and the reference page), the frozen model, and the way from YAML data to it",
    "faultspec.leaks": "Detectors of secrets, stack traces and internal names in texts",
    "faultspec.contract": "The clauses; the taxonomies that each clause applies to; the permitted forms of an error on each surface",
    "faultspec.judge": "The pure function from contract and exchange to findings",
    "faultspec.targets": "Taxonomy to view (the values that a template loops over), one module a target",
    "faultspec.render": "View to files through the Jinja templates; write and check the output folder",
    "faultspec.lint": "The lint rules, suppressions and fixes",
    "faultspec.evolution": "The changes between two taxonomies: their severity, whom they break, the version that is due; the ledger and the reports",
    "faultspec.raising": "The codes that a program raises, found in its source without running it",
    "faultspec.project": "The project file: taxonomies, their targets and folders, lint severities; found upwards, read, checked",
    "faultspec.importers": "Documents of other formats to taxonomy data: OpenAPI, botocore, problem types, protos; and a list of what could not be converted",
    "faultspec.docs": "The generated pages: language, lint rules, trace, botocore",
    "faultspec_conformance.drivers": "Requests to running systems: HTTP, JSON-RPC, standard streams, MCP; processes, local servers, budgets",
    "faultspec_conformance.config": "The conformance file: identities, resources, recipes, limits",
    "faultspec_conformance.results": "Verdicts, coverage, waivers, and merging the results of shards",
    "faultspec_conformance.session": "One run against one service: sends its requests or calls; generates values (`sampling`); keeps observations, resources and credentials",
    "faultspec_conformance.faults": "The fault server, and the judgement of the retries that a server observes",
    "faultspec_conformance.sanitize": "Masking of secrets in everything that is reported",
    "faultspec_conformance.reports": "Results as table, JSON, JUnit, SARIF, Markdown, HTML, command lines",
    "faultspec_conformance.schemathesis": "The only room that imports schemathesis: its hooks in the process of the sweep, its checks of the service's own document, and a check for its own runs",
    "faultspec_conformance.probes": "Requests that provoke an error or test a relation between answers",
    "faultspec_conformance.learning": "A first taxonomy from the answers of a service that has none",
    "faultspec_conformance.run": "One run: schedule, sweep, repeated failures, summary; clients under faults",
    "faultspec_conformance.observed": "Traffic that the suite did not send: recordings, logs, tests, middleware",
    "faultspec_conformance.orders": "The reference service, and the demo",
    "faultspec.cli": "The composition root: a table of commands, each imported when it is called",
}
"""Every room of both packages from the ground up, with what it contains. A room imports only rooms
that stand before it.
"""

FLOOR = {name: index for index, name in enumerate(ROOMS)}


def modules(root: Path) -> list[Path]:
    """Every Python file of a source root."""
    return sorted(root.rglob("*.py"))


def imports(path: Path) -> Sequence[tuple[str, int]]:
    """The imports of a file as it is now, which several laws read."""
    return _imports(path, path.stat().st_mtime_ns)


@cache
def _imports(path: Path, _changed: int) -> Sequence[tuple[str, int]]:
    return [*found_imports(path)]


def found_imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute names that a file imports, with their lines, whatever the form: ``import``, ``from``
    with or without dots, ``import_module`` with a literal.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import():
                yield from ((alias.name, node.lineno) for alias in node.names)
            case ast.ImportFrom():
                module = absolute(path, node)
                if module in SOURCES:
                    yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)
                elif module:
                    yield module, node.lineno
            case ast.Call(func=called, args=[ast.Constant(value=str(name)), *_]):
                if (
                    called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                ) in (
                    "import_module",
                    "__import__",
                ):
                    yield name, node.lineno


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """The absolute name of the module of a ``from`` import; a relative one outside the product
    stays as it is.
    """
    if not node.level:
        return node.module or ""
    for package, root in SOURCES.items():
        if path.is_relative_to(root):
            parts = (package, *path.relative_to(root).parts)[: -node.level]
            return ".".join((*parts, node.module)) if node.module else ".".join(parts)
    return node.module or ""


def room(name: str) -> str | None:
    """``faultspec.language.model`` is in the room ``faultspec.language``; None outside the two
    packages.
    """
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] in SOURCES and len(parts) > 1 else None


def upward(own: str, path: Path) -> Iterator[str]:
    """The imports of a file in the room ``own`` that do not lead downwards, each as a message."""
    for name, line in imports(path):
        other = room(name)
        if other is not None and other != own and FLOOR[other] > FLOOR[own]:
            yield f"{path}:{line}: {own} imports {other}, which stands above it"


FILES = [
    (package, path)
    for package, root in SOURCES.items()
    for path in modules(root)
    if path.parent != root
]


def test_rooms_import_downwards() -> None:
    """Every module stands in a room of the table, and imports its own room or one below it."""
    for package, path in FILES:
        own = f"{package}.{path.relative_to(SOURCES[package]).parts[0]}"
        assert own in ROOMS, f"{own} is in no room: add it to ROOMS"
        assert list(upward(own, path)) == []


def module_name(package: str, path: Path) -> str:
    """The dotted name of a file of a package."""
    parts = path.relative_to(SOURCES[package]).with_suffix("").parts
    return ".".join((package, *parts))


def imported_modules(path: Path) -> Iterator[str]:
    """The modules that a file may import from, in whatever place: of `from a import b` both."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            module = absolute(path, node)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_modules_import_in_one_direction() -> None:
    """No module imports one that imports it, by whatever way: also not for its types, or in a
    function. A package is the door to its modules.
    """
    files = [(package, path) for package, path in FILES if path.name != "__init__.py"]
    paths = {module_name(package, path): path for package, path in files}
    graph = {name: paths.keys() & set(imported_modules(path)) for name, path in paths.items()}
    assert tuple(TopologicalSorter(graph).static_order())


#: Rooms without input and output of their own: they compute values, or ask a room below.
PURE = (
    *("exchange", "diagnostics", "leaks", "contract", "judge", "lint", "importers", "evolution"),
    *("sampling", "config", "results", "faults", "session", "sanitize", "probes"),
)

#: Rooms that open sockets and start processes; `schemathesis` makes values of httpx only.
CONNECTED = ("drivers", "run", "schemathesis")

FILE_CALLS = frozenset({"open", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir"})

CONNECTIONS = frozenset({"asyncio", "http.server", "httpx", "socket", "subprocess", "uvicorn"})


def file_calls(path: Path) -> Iterator[str]:
    """The calls of a file that open, read or write a file, each as a message."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in FILE_CALLS:
                yield f"{path}:{node.lineno}: {name}"


#: Modules of pure rooms that read a data file of their own package when they are imported.
WITH_DATA = frozenset({"examples.py", "sentences.py"})


#: Modules of other rooms that start processes: git shows the files of a revision, and protoc reads
#: protos.
WITH_PROCESSES = frozenset({"protos.py", "revisions.py"})


def test_input_and_output_have_few_rooms() -> None:
    """Pure rooms touch no file, except for data of their own; few rooms open sockets and start
    processes.
    """
    for package, path in FILES:
        own = path.relative_to(SOURCES[package]).parts[0]
        if own in PURE and path.name not in WITH_DATA:
            assert list(file_calls(path)) == []
        if own not in CONNECTED and path.name not in WITH_PROCESSES:
            assert {name for name, _ in imports(path)} & CONNECTIONS == set(), path


def test_every_module_stands_in_a_room() -> None:
    """Beside the rooms a package has nothing but its ``__init__.py`` and the entry of its program,
    and every room of the table exists.
    """
    loose = [
        path
        for root in SOURCES.values()
        for path in root.glob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
    ]
    assert loose == []
    missing = [
        name
        for name in ROOMS
        if not (SOURCES[name.split(".")[0]] / name.split(".")[1] / "__init__.py").exists()
    ]
    assert missing == []


def test_the_tests_mirror_the_rooms() -> None:
    """Every folder of tests is named after a room, or is one of the few that concern several."""
    shared = {
        "fixtures",
        "frameworks",
        "goldens",
        "house",
        "miniatures",
        "pipelines",
        "support",
        "systems",
        "taxonomies",
        "vectors",
    }
    folders = {
        path.name
        for path in (ROOT / "tests").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert folders - shared <= {name.split(".")[1] for name in ROOMS}


PAGE = ROOT / "ARCHITECTURE.md"
_START, _END = (
    "<!-- rooms: written by FAULTSPEC_WRITE=1 pytest tests/house -->\n",
    "<!-- end of rooms -->\n",
)


def table() -> str:
    """The table of rooms in ARCHITECTURE.md."""
    rows = [
        f"| `{name.replace('.', '/', 1)}` | {contents} |"
        for name, contents in reversed(ROOMS.items())
    ]
    return "\n".join(["| room, from the top | contents |", "|---|---|", *rows]) + "\n"


def test_the_page_shows_the_rooms() -> None:
    """The table of ARCHITECTURE.md is the one that is enforced; with FAULTSPEC_WRITE set it is
    written.
    """
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_START)
    shown, _, after = rest.partition(_END)
    if os.environ.get("FAULTSPEC_WRITE"):
        PAGE.write_text(before + _START + table() + _END + after, encoding="utf-8")
        shown = table()
    assert shown == table()


@pytest.mark.parametrize("path", modules(COMPILER / "runtime"), ids=lambda p: p.name)
def test_the_runtime_is_standard_library_only(path: Path) -> None:
    """The runtime is copied into generated code, so it imports the standard library and itself,
    relatively. Type checkers have `typing_extensions` built in, and import it alone. The codec of
    CBOR imports its package when a body is read.
    """
    for name, line in imports(path):
        own = name.startswith("faultspec.runtime") or name == "typing_extensions"
        own = own or (path.name == "cbor_codec.py" and name == "cbor2")
        assert own or name.split(".")[0] in sys.stdlib_module_names, f"{path}:{line} imports {name}"


def importers(*names: str) -> set[str]:
    """The modules of the conformance package that import one of the packages, by their paths."""
    return {
        path.relative_to(SUITE).as_posix()
        for path in modules(SUITE)
        for name, _ in imports(path)
        if any(f"{name}.".startswith(f"{package}.") for package in names)
    }


def test_one_room_knows_schemathesis() -> None:
    """Schemathesis changes from release to release; only the room of its name imports it."""
    assert {path.partition("/")[0] for path in importers("schemathesis")} == {"schemathesis"}
    for path in modules(COMPILER):
        assert "schemathesis" not in {name.partition(".")[0] for name, _ in imports(path)}, path


def test_two_modules_know_the_mcp_library() -> None:
    """It is an extra of its own, so a run over HTTP must not need it: only the driver has its
    client, and only the command `faultspec mcp` has its server.
    """
    assert importers("mcp", "httpx2", "anyio") == {
        "drivers/mcp.py",
        "drivers/mcp_process.py",
    }
    server = {
        path.relative_to(COMPILER).as_posix()
        for path in modules(COMPILER)
        if any(name.partition(".")[0] in ("mcp", "mcp_types") for name, _ in imports(path))
    }
    assert server == {"cli/mcp.py"}


def test_the_suite_knows_no_service() -> None:
    """Nothing but the orders service itself imports the orders service: the suite judges any
    service.
    """
    found = importers("faultspec_conformance.orders")
    assert {path.partition("/")[0] for path in found} <= {"orders"}


@pytest.mark.parametrize("path", modules(ROOT / "tests" / "miniatures"), ids=lambda p: p.name)
def test_miniatures_import_nothing_of_ours(path: Path) -> None:
    """A miniature that shared code with the judge would share its misreadings."""
    for name, line in imports(path):
        first = name.split(".")[0]
        assert first not in {"faultspec", "faultspec_conformance", "platform_errors"}, (
            f"{path}:{line} imports {name}"
        )


def test_the_check_sees_what_it_forbids(tmp_path: Path) -> None:
    """A planted upward import is found, so silence above means something."""
    planted = tmp_path / "planted.py"
    planted.write_text(
        "import schemathesis\nfrom faultspec.cli import main\nfrom faultspec_conformance import run\n"
    )
    assert [name for name, _ in imports(planted)] == [
        "schemathesis",
        "faultspec.cli",
        "faultspec_conformance.run",
    ]
    assert len(list(upward("faultspec.language", planted))) == 2
    assert list(upward("faultspec.cli", planted)) == []
    relative = ast.parse("from ..cli import main").body[0]
    assert isinstance(relative, ast.ImportFrom)
    assert absolute(COMPILER / "language" / "model.py", relative) == "faultspec.cli"
    planted.write_text("import importlib\nimportlib.import_module('faultspec.cli')\n")
    assert len(list(upward("faultspec.judge", planted))) == 1
    planted.write_text("open('a')\npath.read_text()\nreopen('a')\n")
    assert len(list(file_calls(planted))) == 2


def reached(name: str, seen: set[str]) -> set[str]:
    """The modules of the conformance package that a module of it imports, and those that they
    import, and so on.
    """
    if name not in seen:
        seen.add(name)
        path = ROOT / "conformance" / "faultspec_conformance" / name.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            for found, _ in imports(file) if file.exists() else ():
                if found.startswith("faultspec_conformance."):
                    reached(found.removeprefix("faultspec_conformance."), seen)
    return seen


@pytest.mark.parametrize(
    "name",
    [
        ".".join(path.relative_to(SUITE).with_suffix("").parts).removesuffix(".__init__")
        for room in ("results", "reports")
        for path in modules(SUITE / room)
    ],
)
def test_what_reads_results_sends_nothing(name: str) -> None:
    """Reports of a run are made, merged and compared without anything that could start one."""
    rooms = {each.partition(".")[0] for each in reached(name, set())}
    assert not rooms & {"run", "session", "drivers", "probes", "config"}


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports a file of tests by its name alone, and refuses the second of a name."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
