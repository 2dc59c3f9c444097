"""A mutation run: changes one expression of the product at a time, and runs the tests that reach
it.

    python benchmarks/mutants.py compiler/faultspec/judge/code.py

Works on a copy of the checkout below `.cache/mutants`, so that an interrupted run leaves no mutant
behind. Prints the mutants that no test kills, each with its diff.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / ".cache" / "mutants"

#: The folders of tests that decide about a room.
TESTS = {
    "compiler/faultspec/judge": ("judge", "contract"),
    "compiler/faultspec/runtime": ("runtime",),
    "conformance/faultspec_conformance/results": ("results", "reports"),
    "conformance/faultspec_conformance/sanitize": ("sanitize",),
}

#: Tests of the text of the product. In the copy that text has calls of mutmut.
SOURCE_READERS = ("--ignore=tests/runtime/test_runtime_package.py",)

#: Characters of the output of mutmut that an error shows. It draws a progress bar before that.
SHOWN = 3_000

#: mutmut imports mutants from `src`, so the copy has both packages there.
PACKAGES = {
    "compiler/faultspec": "src/faultspec",
    "conformance/faultspec_conformance": "src/faultspec_conformance",
}


def copied(path: str) -> str:
    """The place of a file in the copy."""
    for package, place in PACKAGES.items():
        if path == package or path.startswith(f"{package}/"):
            return place + path.removeprefix(package)
    return path


def copy_checkout() -> None:
    """Copy every tracked file, as it is in the working tree."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            target = COPY / copied(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)


def configure(scopes: list[str]) -> None:
    """Write the configuration of mutmut: the files to change, and the tests to run."""
    rooms = [room for room in TESTS if any(f"{scope}/".startswith(f"{room}/") for scope in scopes)]
    folders = dict.fromkeys(f"tests/{folder}" for room in rooms for folder in TESTS[room])
    only = [copied(scope) if scope.endswith(".py") else f"{copied(scope)}/*" for scope in scopes]
    others = sorted(path.name for path in COPY.iterdir() if path.name not in ("src", "tests"))
    lines = {
        "source_paths": ["src"],
        "only_mutate": only,
        "also_copy": others,
        "pytest_add_cli_args": ["-q", "-x", "-p", "no:cacheprovider", *SOURCE_READERS],
        "pytest_add_cli_args_test_selection": list(folders),
    }
    text = "".join(
        f"{key} =\n{''.join(f'    {item}{chr(10)}' for item in items)}"
        for key, items in lines.items()
    )
    (COPY / "setup.cfg").write_text(f"[mutmut]\n{text}", encoding="utf-8")


def mutmut(*arguments: str) -> str:
    """Run mutmut in the copy, and return what it prints."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    done = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit((done.stdout + done.stderr)[-SHOWN:])
    return done.stdout


def main(scopes: list[str]) -> None:
    """Mutate the files of the scopes, which are files or rooms of `TESTS`."""
    unknown = [
        scope for scope in scopes if not any(f"{scope}/".startswith(f"{room}/") for room in TESTS)
    ]
    if unknown or not all((ROOT / scope).exists() for scope in scopes):
        sys.exit(f"{' '.join(unknown or scopes)}: expected files or rooms below {', '.join(TESTS)}")
    copy_checkout()
    configure(scopes)
    # The progress bar is one line after another; the last one that counts is the summary.
    counts = [line for line in mutmut("run").splitlines() if "🎉" in line]
    print("killed 🎉, without tests 🫥, survived 🙁:", *counts[-1:])
    survivors = [line.split(":")[0].strip() for line in mutmut("results").splitlines() if line]
    for name in survivors:
        print(mutmut("show", name))


if __name__ == "__main__":
    main([scope.rstrip("/") for scope in sys.argv[1:]] or list(TESTS))
