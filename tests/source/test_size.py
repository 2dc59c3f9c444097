"""Documents of few bytes and many values are refused before they take much memory."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from faultspec.source import MAX_NODES, parse

MEGABYTES = 450
"""Of address space. A tree of two million nodes takes more than 600."""

PROGRAM = (sys.executable, "-c", "from faultspec.cli import main; main()")

WIDE = f"x: [{','.join(['a'] * 1_900_000)}]"


def limit_memory() -> None:
    """Limit the address space of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("lint", "wide.yaml"), "wide.yaml"),
        (("import", "openapi", "wide.yaml"), "wide.yaml"),
        (("import", "openapi", "wide.json"), "wide.json"),
        (("serve", "taxonomy.yaml", "--openapi", "wide.yaml"), "wide.yaml"),
    ],
)
def test_a_document_of_millions_of_values_takes_little_memory(
    command: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    """The command says that the document is too large, in every room that reads one."""
    text = WIDE if name.endswith("yaml") else json.dumps({"paths": {}, "x": [{}] * 1_900_000})
    (tmp_path / name).write_text(text)
    subprocess.run([*PROGRAM, "init"], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        [*PROGRAM, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit_memory,
        timeout=120,
    )
    assert done.returncode == 2
    assert "has more than 500,000" in done.stdout + done.stderr


def test_the_bound_counts_keys_and_values() -> None:
    """The largest document is read, and no larger one."""
    fits = "\n".join(f"- {number}" for number in range(MAX_NODES - 1))
    assert parse(fits, "x.yaml")[1] == []
    (found,) = parse(f"{fits}\n- 1", "x.yaml")[1]
    assert found.code == "file-too-large"
