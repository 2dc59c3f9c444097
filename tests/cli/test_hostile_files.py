"""Pipes, devices, links and sizes where a command reads a file that a user names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultspec.cli import main
from render.test_compile import TAXONOMY

FAULTSPEC = (sys.executable, "-c", "from faultspec.cli import main; main()")

#: Command lines with `{}` for a file.
READERS = (
    "lint {}",
    "lint --fix {}",
    "compile {} --out out",
    "diff {} taxonomy.yaml",
    "import openapi {}",
    "audit {} --taxonomy taxonomy.yaml",
    "audit log.ndjson --taxonomy taxonomy.yaml --baseline {}",
    "audit log.ndjson --taxonomy taxonomy.yaml --openapi {}",
    "audit log.ndjson --taxonomy taxonomy.yaml --waivers {}",
    "report merge {}",
    "replay {} abc",
    "waivers prune waivers.yaml --report {}",
    "waivers update waivers.yaml --report {}",
    "init conformance made.yaml --taxonomy taxonomy.yaml --openapi {}",
    "conform {}",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a taxonomy, and the current one."""
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    (tmp_path / "log.ndjson").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("reader", READERS)
def test_no_command_reads_a_pipe_or_a_device(project: Path, reader: str, kind: str) -> None:
    """It is refused before it is opened: a pipe would wait, and `/dev/zero` has no end."""
    place = "/dev/zero"
    if kind == "pipe":
        os.mkfifo(project / "pipe")
        place = "pipe"
    arguments = [part.format(place) for part in reader.split()]
    done = subprocess.run(
        [*FAULTSPEC, *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode in (1, 2)
    assert "a device, a pipe or a socket" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_report_that_is_too_large_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its size is bounded before it is read."""
    with (project / "report.json").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(SystemExit) as ended:
        main(["report", "merge", "report.json"])
    assert ended.value.code == 2
    assert "the file is larger than 128 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--check"]])
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe"])
def test_gitattributes_is_a_file(project: Path, kind: str, options: list[str]) -> None:
    """A link, a pipe or a device in its place is neither read nor written."""
    (project / "faultspec.yaml").write_text("taxonomies: [taxonomy.yaml]\ngitattributes: true\n")
    (project / "other").write_text("secret line\n")
    place = project / ".gitattributes"
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(project / ("other" if kind == "link" else "nowhere"))
    done = subprocess.run(
        [*FAULTSPEC, "compile", *options], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert "stands where a file is to be written" in done.stderr
    assert "secret line" not in done.stderr + done.stdout
    assert (project / "other").read_text() == "secret line\n"
    assert not (project / "nowhere").exists()
    assert os.path.lexists(place)


@pytest.mark.parametrize("name", ["python/errors.py.jinja", "mine/target.yaml", "shared"])
def test_templates_stay_in_their_folder(project: Path, name: str) -> None:
    """A link out of the folder of templates is refused; one within it is followed."""
    (project / "secret").mkdir()
    (project / "secret/line").write_text("secret: line\n")
    place = project / "templates" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(project / ("secret" if name == "shared" else "secret/line"))
    command = [*FAULTSPEC, "compile", "--out", "out", "--templates", "templates"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "leads out of the folder of templates" in done.stderr
    assert "secret: line" not in done.stderr + done.stdout
    assert not (project / "out").exists()
    place.unlink()
    own = project / "templates/mine"
    own.mkdir(exist_ok=True)
    (own / "one.txt").write_text("one\n")
    (own / "a.txt.jinja").symlink_to("one.txt")
    (own / "target.yaml").write_text("files: [{template: a.txt.jinja, path: a.txt}]\n")
    for folder in (project / "templates").iterdir():
        if folder != own:
            folder.rmdir()
    done = subprocess.run(
        [*command, "--target", "mine"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (project / "out/mine/a.txt").read_text() == "one\n"
