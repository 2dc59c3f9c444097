"""Laws of the runtime as a package that is copied as it stands into other people's code."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import faultspec.runtime

HOME = Path(faultspec.runtime.__file__).parent
MODULES = sorted(HOME.glob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_import_only_the_standard_library_and_each_other(module):
    """Relative to the package, or from the standard library, anywhere in the file.

    Type checkers have `typing_extensions` built in, and import it alone: the next law runs every
    module without it.
    """
    known = {*sys.stdlib_module_names, "typing_extensions"}
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= known
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                assert node.module is not None
                assert node.module.split(".")[0] in known
            else:
                assert node.level == 1
                names = [node.module] if node.module else [alias.name for alias in node.names]
                assert {f"{name}.py" for name in names} <= {path.name for path in MODULES}


def test_a_copy_under_another_name_works(tmp_path):
    """Copied as a private package of generated code, every module imports and none of ours is
    loaded.
    """
    copy = tmp_path / "orders_errors" / "_runtime"
    copy.mkdir(parents=True)
    (tmp_path / "orders_errors" / "__init__.py").touch()
    for module in MODULES:
        (copy / module.name).write_bytes(module.read_bytes())
    names = [path.stem for path in MODULES if path.stem != "__init__"]
    lines = [
        *(f"import orders_errors._runtime.{name}" for name in names),
        "from orders_errors._runtime.shape import compile_shape, extract, render",
        "node = compile_shape({'code': '$code'})",
        "assert extract(node, render(node, {'code': 'x'})).slots == {'code': 'x'}",
        "import sys; assert not any(name.startswith('faultspec') for name in sys.modules)",
    ]
    subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + "\n".join(lines),
        ],
        check=True,
    )


HEAVY = {
    "asyncio",
    "json",
    "email",
    "http",
    "datetime",
    "decimal",
    "uuid",
    "urllib",
    "inspect",
    "dataclasses",
}


@pytest.mark.parametrize("name", ["shape", "ids", "retry", "durations"])
def test_importing_a_module_stays_cheap(name):
    """The modules that a client needs load none of the slow modules of the standard library, except
    those that `typing` loads.
    """
    code = (
        "import sys, typing, re, collections.abc, types, os, time; before = set(sys.modules);"
        f"sys.path.insert(0, {str(HOME.parent)!r}); import runtime.{name};"
        f"print(*(set(sys.modules) - before) & {HEAVY!r})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == []
