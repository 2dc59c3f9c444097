"""Pipes, devices, links and sizes where a command reads a file that a user names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultspec.cli import main
from faultspec.cli.reporting import write_report
from faultspec_conformance import reports
from render.test_compile import TAXONOMY
from reports.test_report_formats import report

FAULTSPEC = (sys.executable, "-c", "from faultspec.cli import main; main()")

#: Command lines with `{}` for a file.
READERS = (
    "lint {}",
    "lint --fix {}",
    "compile {} --out out",
    "diff {} taxonomy.yaml",
    "import openapi {}",
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


@pytest.mark.parametrize(
    "secret", ["AWS_KEY=s3cret-word", "password: s3cret-word", "x: [s3cret-word"]
)
@pytest.mark.parametrize("name", ["taxonomy.yaml", "faultspec.yaml"])
@pytest.mark.parametrize(
    "command", ["lint", "compile", "lint taxonomy.yaml", "diff taxonomy.yaml x"]
)
def test_a_link_out_of_the_repository_shows_nothing(
    project: Path, secret: str, name: str, command: str
) -> None:
    """In a checkout, no line and no key of a file outside is printed, to which the taxonomy or the
    project file is a link.
    """
    checkout = project / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "taxonomy.yaml").write_text(TAXONOMY)
    (project / "private").write_text(f"{secret}\n")
    (checkout / name).unlink(missing_ok=True)
    (checkout / name).symlink_to("../private")
    done = subprocess.run(
        [*FAULTSPEC, *command.split()],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=checkout,
    )
    assert done.returncode in (1, 2)
    shown = done.stdout + done.stderr
    assert "s3cret-word" not in shown
    assert "password" not in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    "reader", [one for one in READERS if "compile" not in one and "lint" not in one]
)
def test_no_command_shows_a_file_behind_a_link(project: Path, reader: str) -> None:
    """Whatever a command reads in a checkout, it shows nothing of a file outside."""
    checkout = project / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (project / "private").write_text("machine s3cret-host password s3cret-word\n")
    (checkout / "link.yaml").symlink_to("../private")
    for name in ("taxonomy.yaml", "log.ndjson"):
        (checkout / name).write_text((project / name).read_text())
    done = subprocess.run(
        [*FAULTSPEC, *(part.format("link.yaml") for part in reader.split())],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=checkout,
    )
    assert done.returncode in (1, 2)
    assert "s3cret" not in done.stdout + done.stderr


def test_no_compile_follows_a_link_out_of_the_repository(project: Path) -> None:
    """The default output folder of a checkout leads nowhere else; a folder that is named may."""
    checkout, outside = project / "checkout", project / "outside"
    (checkout / ".git").mkdir(parents=True)
    outside.mkdir()
    (checkout / "taxonomy.yaml").write_text(TAXONOMY)
    (checkout / "generated").symlink_to(outside)
    for arguments, code in (([], 2), (["--check"], 2), (["--out", "generated"], 0)):
        done = subprocess.run(
            [*FAULTSPEC, "compile", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=checkout,
        )
        assert done.returncode == code, done.stderr
        assert any(outside.iterdir()) == (code == 0)


def test_an_audit_reads_a_pipe_and_no_device(project: Path) -> None:
    """A pipe that is named is a stream, as of `<(…)`. A folder's pipes are left alone."""
    refused = subprocess.run(
        [*FAULTSPEC, "audit", "/dev/zero", "--taxonomy", "taxonomy.yaml"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert refused.returncode == 2
    assert "a device or a socket" in refused.stdout
    (project / "logs").mkdir()
    os.mkfifo(project / "logs" / "pipe.ndjson")
    (project / "log.ndjson").rename(project / "logs" / "log.ndjson")
    done = subprocess.run(
        [*FAULTSPEC, "audit", "logs", "--taxonomy", "taxonomy.yaml"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "pipe.ndjson" not in done.stdout + done.stderr


def test_a_report_that_is_too_large_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its size is bounded before it is read."""
    with (project / "report.json").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(SystemExit) as ended:
        main(["report", "merge", "report.json"])
    assert ended.value.code == 2
    assert "the file is larger than 8 MiB" in capsys.readouterr().err


def test_the_reports_of_a_merge_are_bounded_together(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many reports that are each small enough take no more memory than two."""
    text = reports.json(report())
    monkeypatch.setattr("faultspec.cli.reporting._MERGED_BYTES", len(text) * 3 // 2)
    for name in ("a.json", "b.json"):
        (project / name).write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["report", "merge", "a.json", "b.json"])
    assert ended.value.code == 2
    assert "the reports up to b.json have more than" in capsys.readouterr().err


def test_a_run_names_a_report_that_no_command_reads(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that writes it says so."""
    for limit, named in ((1 << 20, False), (1000, True)):
        monkeypatch.setattr("faultspec.cli.reporting.REPORT_BYTES", limit)
        write_report(report(), [("json", project / "a.json")], "github")
        assert ("no command reads a report of more than" in capsys.readouterr().err) is named


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


@pytest.mark.parametrize("text", ["{{ [1, 2]|random }}", "{{ lipsum() }}"])
def test_templates_have_no_random_texts(project: Path, text: str) -> None:
    """The same taxonomy makes the same files, so `compile --check` can pass."""
    place = project / "templates/python/errors.py.jinja"
    place.parent.mkdir(parents=True)
    place.write_text(text)
    command = [*FAULTSPEC, "compile", "--out", "out", "--templates", "templates"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "bad-template" in done.stderr) == (2, True), done.stderr


def test_a_link_into_the_folder_of_git_is_refused(project: Path) -> None:
    """A link that came with a checkout does not lead a compile into `.git`."""
    (project / ".git/hooks").mkdir(parents=True)
    (project / "generated").symlink_to(".git/hooks")
    command = [*FAULTSPEC, "compile", "--target", "markdown"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "belongs to git" in done.stderr) == (2, True), done.stderr
    assert list((project / ".git/hooks").iterdir()) == []


def test_a_pipe_among_templates_is_refused(project: Path) -> None:
    """The shipped template does not take its place in silence."""
    place = project / "templates/python/errors.py.jinja"
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    (place.parent / "other.jinja").write_text("")
    (place.parent / ".#other.jinja").symlink_to("of-an-editor")
    command = [*FAULTSPEC, "compile", "--out", "out", "--templates", "templates"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "this is not a regular file" in done.stderr


@pytest.mark.parametrize("name", ["a\0b", "a\x1b[31mb", "a\u202eb", "a\u200bb"])
def test_an_invisible_path_of_the_project_is_refused(project: Path, name: str) -> None:
    """A path with characters that nobody sees is an error at its place."""
    settings = {"taxonomies": {"taxonomy.yaml": {"out": name, "targets": ["python"]}}}
    (project / "faultspec.yaml").write_text(json.dumps(settings))
    done = subprocess.run(
        [*FAULTSPEC, "compile"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "faultspec.yaml:1:" in done.stderr
    assert "internal-error" not in done.stderr


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


#: More command lines with `{}` for a file or a folder, written or read.
PLACES = (
    *READERS,
    "compile taxonomy.yaml --out {}",
    "compile taxonomy.yaml --out out --templates {}",
    "compile taxonomy.yaml --check --out {}",
    "conform http://127.0.0.1:9 --openapi {}",
    "init {}",
    "init conformance {} --taxonomy taxonomy.yaml",
    "init --from {}",
    "import problems {} --out made.yaml",
    "import proto {}",
    "import openapi taxonomy.yaml --out {}",
    "audit log.ndjson --taxonomy taxonomy.yaml --report json={}",
    "waivers prune {} --report log.ndjson",
    "diff --base {} taxonomy.yaml",
    "serve {}",
)


@pytest.mark.parametrize("kind", ["long", "circle"])
@pytest.mark.parametrize("place", PLACES)
def test_names_that_no_file_can_have_are_refused(
    project: Path, place: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name of 400 letters and a link to itself end in a diagnostic."""
    if kind == "circle":
        (project / "circle").symlink_to("circle")
    name = {"long": "9" * 400, "circle": "circle"}[kind]
    with pytest.raises(SystemExit) as exit_:
        main([part.format(name) for part in place.split()])
    shown = capsys.readouterr()
    assert exit_.value.code in (1, 2)
    assert "internal-error" not in shown.err + shown.out


def test_a_report_to_a_pipe_that_nobody_reads_is_an_error(project: Path) -> None:
    """The command ends at once, and names the file; the report is on standard output."""
    os.mkfifo(project / "pipe")
    arguments = ["audit", "log.ndjson", "--taxonomy", "taxonomy.yaml", "--report", "json=pipe"]
    done = subprocess.run(
        [*FAULTSPEC, *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert "error[file-unwritable]: pipe:" in done.stderr
    assert done.stdout


def test_a_folder_that_becomes_a_link_during_a_compile_is_a_diagnostic(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whenever the output folder is replaced by a link, the compile ends with exit code 2 or 0."""
    calls = swapped = 0
    real = os.path.realpath

    def realpath(path: str, **options: bool) -> str:
        nonlocal calls
        calls += 1
        if calls == swapped and os.path.isdir("out") and not os.path.islink("out"):
            os.rename("out", "moved")
            os.symlink("moved", "out")
        return real(path, **options)

    monkeypatch.setattr(os.path, "realpath", realpath)
    refused = 0
    for call in range(1, 40, 3):
        calls, swapped = 0, call
        for place in ("out", "moved"):
            if os.path.islink(place):
                os.unlink(place)
        subprocess.run(["rm", "-rf", "out", "moved"], check=True)
        os.mkdir("out")
        with pytest.raises(SystemExit) as exit_:
            main(["compile", "taxonomy.yaml", "--out", "out"])
        shown = capsys.readouterr()
        assert exit_.value.code in (0, 2)
        assert "internal-error" not in shown.err
        refused += exit_.value.code == 2
    assert refused
