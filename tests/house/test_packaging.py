"""An installed package works outside the checkout, from a wheel that was built from the sdist."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
