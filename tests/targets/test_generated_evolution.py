"""Generated Python over the life of a code: deprecated, removed, and new to an exhaustive match."""

import copy
import importlib
import json
import os
import pickle
import shutil
import subprocess
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mypy import api

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.targets.model import model_of
from support.evolving import REPLACEMENTS, shop
from support.npm import installed
from support.once import build_once
from targets.test_targets_laws import TREES

PYTHON = SHIPPED["python"]

#: The one place that names the version of pyright.
PYRIGHT = {"pyright": "1.1.414"}


def write_package(taxonomy: Taxonomy, folder: Path) -> None:
    """Write the Python package of a taxonomy to the folder."""
    for path, text in render(taxonomy, [PYTHON], "shop.yaml").items():
        file = folder / path.removeprefix("python/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def client(taxonomy: Taxonomy, version: str) -> str:
    """A module that matches every exception of a taxonomy, with the package of a version."""
    view: Any = PYTHON.context(taxonomy, model_of(taxonomy, "shop.yaml")).view
    cases = "".join(
        f"        case errors.{name}():\n            return error.message\n"
        for name in (*(row.name for row in view.errors), "UnknownError")
    )
    return (
        "from typing import assert_never\n\n"
        f"from {version} import shop_errors as errors\n\n\n"
        "def text(error: errors.AnyError) -> str:\n"
        f"    match error:\n{cases}        case _:\n            assert_never(error)\n\n\n"
        'print(text(errors.parse(b"{}")))\n'
    )


#: A service and a client that use a deprecated code.
DEPRECATED = """\
from typing import assert_type

from before import shop_errors as errors

errors.SoldOut(stock=1)
errors.NoStock(stock=1)  # deprecated
errors.BuyTooLate()  # deprecated
errors.SoldOut(stock="x")  # of a wrong type, which proves that the file is checked
answer = errors.parse(b"{}")
if isinstance(answer, errors.NoStock):
    assert_type(answer.details["stock"], int)
if isinstance(answer, errors.UnknownError):
    assert_type(answer.replaced_by, errors.ErrorCode | None)
"""


def build(folder: Path) -> None:
    """Write two versions of the package, and a client of each compiled against both."""
    versions = {"before": shop(), "after": shop(new_code=True)}
    for version, taxonomy in versions.items():
        write_package(taxonomy, folder / version)
        for other in versions:
            (folder / f"{version}_on_{other}.py").write_text(client(taxonomy, other))
    (folder / "deprecated.py").write_text(DEPRECATED)
    config = {"typeCheckingMode": "strict", "include": ["*.py"], "pythonVersion": "3.11"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))


CLIENTS = (
    *("before_on_before.py", "before_on_after.py", "after_on_before.py", "after_on_after.py"),
    "deprecated.py",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and their clients."""
    return build_once(tmp_path_factory, "evolution", build)


@pytest.fixture
def package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The package with deprecated and removed codes."""
    monkeypatch.syspath_prepend(str(folder))
    found: ModuleType = importlib.import_module("before.shop_errors")
    return found


# Deprecated


def test_a_deprecated_constructor_warns_its_caller(package: Any) -> None:
    """The construction of a deprecated error succeeds. Its warning is at the line of the caller and
    names the replacement and the sunset.
    """
    with pytest.warns(DeprecationWarning, match="no_stock") as issued:
        error = package.NoStock("x", stock=1)
    assert (error.message, error.details, error.code) == ("x", {"stock": 1}, "no_stock")
    (warning,) = issued
    assert warning.filename == __file__
    assert str(warning.message) == (
        "`no_stock` is deprecated: use sold_out, not sent after 2027-01-31"
    )
    with pytest.warns(DeprecationWarning, match="`odd` is deprecated: without a replacement, not"):
        package.Odd()
    with (
        pytest.warns(DeprecationWarning, match=r"`buy\.too_late` is deprecated: use failed"),
        pytest.raises(package.BuyTooLate),
    ):
        raise package.BuyTooLate


def test_reading_a_deprecated_error_gives_no_warning(package: Any) -> None:
    """To parse, copy, pickle or render a deprecated error is not to produce it."""
    body = {"code": "no_stock", "message": "m", "details": {"stock": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = package.parse(body, status=409)
        assert type(error) is package.NoStock
        for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert package.to_envelope(again) == body
        assert package.errors.bare(package.NoStock).message == "No stock."


def test_other_constructors_give_no_warning(package: Any) -> None:
    """An error of a stable code is made without a warning, also beside deprecated ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert package.SoldOut(stock=1).details == {"stock": 1}
        assert package.Failed().status == 500


def test_the_enumeration_documents_a_deprecation() -> None:
    """The docstrings of the member and of the class name the replacement and the sunset."""
    note = "Deprecated: use sold_out, not sent after 2027-01-31."
    texts = render(shop(), [PYTHON], "shop.yaml")
    for module in ("codes", "errors"):
        assert note in " ".join(texts[f"python/shop_errors/{module}.py"].split())


# Removed


@pytest.mark.parametrize(("operation", "wire", "replaced_by"), REPLACEMENTS)
def test_a_removed_code_is_read_as_its_replacement(
    package: Any, operation: str | None, wire: str, replaced_by: str | None
) -> None:
    """A removed code parses to the first live code that replaces it. A code that was never
    declared, or is reserved, has no replacement, and is an unknown one.
    """
    error = package.parse({"code": wire, "message": "m"}, status=410, operation=operation)
    for found in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        if replaced_by is not None:
            assert (found.code, found.message, found.status) == (replaced_by, "m", 410)
            continue
        assert type(found) is package.UnknownError
        assert (found.code, found.retriable) == ("failed", True)
        assert (found.original_code, found.replaced_by) == (wire, replaced_by)


def test_an_answer_without_a_code_has_no_replacement(package: Any) -> None:
    """An answer that is not an error of the service has neither a code nor a replacement."""
    for body in (b"<html>", b"{}", b'{"code": null}'):
        error = package.parse(body, status=502)
        assert (error.original_code, error.replaced_by) == (None, None)


def test_a_removed_code_has_no_exception(package: Any) -> None:
    """No service can produce a removed code."""
    assert not {"Empty", "Emptied", "Lost", "BuyMissed"} & set(dir(package))
    assert not {"empty", "emptied", "lost", "missed"} & set(package.ErrorCode)


def test_a_removed_code_chooses_its_envelope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the envelopes that a body fits, it is read as the one in which its code was declared."""
    text = """\
faultspec: 1
taxonomy: {name: twofold, version: 1.0.0}
envelopes:
  plain: {shape: {type: $code, kind?: $message}}
  other: {shape: {type: $message, kind?: $code}}
surfaces:
  plain: {transport: http, envelope: plain}
  other: {transport: event, envelope: other}
codes:
  gone: {summary: It is gone., http: 410}
  old: {summary: It was old., lifecycle: removed, replaced_by: gone}
"""
    loaded = read(text, "twofold.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write_package(loaded.taxonomy, tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    found: Any = importlib.import_module("twofold_errors")
    error = found.parse({"type": "x", "kind": "old"})
    assert (error.code, error.message) == ("gone", "x")
    assert found.parse({"type": "x", "kind": "y"}).original_code == "x"


# The union


def test_the_union_has_every_exception(package: Any) -> None:
    """`AnyError` is public, and a member of it is every exception that `parse` returns."""
    assert "AnyError" in package.__all__
    kinds = {*package.errors._ALL.values(), package.UnknownError}
    assert set(package.AnyError.__args__) == kinds
    assert isinstance(package.parse(b"{}"), package.AnyError)


@pytest.mark.parametrize("name", ["any", "unknown", "any_errors"])
def test_a_taxonomy_may_have_the_name_of_the_union(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The base class of a taxonomy and the exception of a code keep clear of the names that every
    package has.
    """
    text = f"""\
faultspec: 1
taxonomy: {{name: {name}, version: 1.0.0}}
envelopes: {{error: {{shape: {{code: $code, by?: $replaced_by}}, fields: {{replaced_by: {{type: string}}}}}}}}
surfaces: {{http: {{transport: http, envelope: error}}}}
codes:
  any_error: {{summary: Any., http: 500}}
  unknown_error: {{summary: Unknown., http: 500}}
"""
    loaded = read(text, "names.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    write_package(loaded.taxonomy, tmp_path / f"named_{name}")
    monkeypatch.syspath_prepend(str(tmp_path))
    (home,) = (tmp_path / f"named_{name}").glob("*_errors")
    found: Any = importlib.import_module(f"named_{name}.{home.name}")
    error = found.parse({"code": "any_error", "by": "x"})
    assert (type(error).__name__, error.replaced_by_) == ("AnyErrorFailure", "x")
    assert found.parse(b"{}").replaced_by is None


def assert_findings(lines: Mapping[str, list[str]], deprecated: int) -> None:
    """Assert what a type checker finds in the clients: an exhaustive match fails when a code is
    added or removed, and a deprecated constructor is found this number of times.
    """
    assert lines["before_on_before.py"] == lines["after_on_after.py"] == []
    (added,) = lines["before_on_after.py"]
    assert "BrandNew" in added
    assert "Never" in added
    assert any("BrandNew" in line for line in lines["after_on_before.py"])
    found = [line for line in lines["deprecated.py"] if "deprecated" in line]
    assert len(found) == deprecated
    assert len(lines["deprecated.py"]) == deprecated + 1


def test_mypy_fails_a_match_when_a_code_is_added_or_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mypy --strict accepts an exhaustive match of the taxonomy that it was written for, and no
    other. Its check of deprecations leaves out constructors.
    """
    monkeypatch.chdir(folder)
    options = ["--strict", "--no-incremental", "--cache-dir", os.devnull, "--config-file", ""]
    out, _, _ = api.run([*options, "--enable-error-code", "deprecated", *CLIENTS])
    lines: dict[str, list[str]] = {name: [] for name in CLIENTS}
    for line in out.splitlines():
        file, _, rest = line.partition(":")
        if ": error: " in rest:
            lines[file].append(rest)
    assert_findings(lines, deprecated=0)


def pyright(folder: Path) -> dict[str, list[str]]:
    """The errors of pyright in the files of a folder, by path, with the settings there."""
    program = installed(PYRIGHT, ".bin/pyright") / ".bin" / "pyright"
    command = [str(program), "--outputjson", "--project", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] > 0
    found: dict[str, list[str]] = {}
    for row in report["generalDiagnostics"]:
        if row["severity"] == "error":
            path = Path(row["file"]).relative_to(folder).as_posix()
            found.setdefault(path, []).append(f"{row['message']} ({row.get('rule')})")
    return found


def test_pyright_fails_a_match_when_a_code_is_added_or_removed(folder: Path) -> None:
    """pyright in its strict mode does the same, and finds each construction of a deprecated error.
    It accepts every use of such an error by a client.
    """
    found = pyright(folder)
    lines = {name: found.get(name, []) for name in CLIENTS}
    assert_findings(lines, deprecated=2)


@pytest.mark.full
def test_pyright_accepts_what_is_committed(tmp_path: Path) -> None:
    """The committed packages pass pyright in its strict mode."""
    for tree in TREES:
        shutil.copytree(tree / "python", tmp_path / tree.parent.name)
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"})
    )
    assert pyright(tmp_path) == {}
