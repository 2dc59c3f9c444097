"""Commands that compute too long for what others wrote end, and say so."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faultspec.cli import COMMANDS, finish, main
from faultspec.cli.interruption import (
    LONGEST_COMPILE,
    LONGEST_COMPUTING,
    TimeIsUp,
    limit_computing,
)
from faultspec.render.locking import STAGING
from importers.test_growth import document as openapi_document
from paths import ROOT
from render.test_compile import TAXONOMY
from support.memory import PROGRAM
from targets.test_large_taxonomies import many_codes

LIMITED = [name for name, entry in COMMANDS.items() if entry.seconds is not None]


def compute(*_: object, **__: object) -> None:
    """Compute without end, and take every error for a mishap."""
    while True:
        try:
            sum(range(1_000))
        except Exception:
            continue


def code_of(arguments: list[str]) -> object:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


@pytest.mark.parametrize("name", LIMITED)
def test_a_command_ends_at_its_limit(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 2, and a hint names the remedy."""
    address = f"{__name__}:endless"
    monkeypatch.setitem(COMMANDS, name, COMMANDS[name]._replace(address=address, seconds=0.1))
    monkeypatch.setitem(globals(), "endless", _command(compute))
    assert code_of([name]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error[too-long]: this takes more than 0.1 seconds of the processor\n")
    assert "hint: give it a smaller input" in shown


def _command(callback: Any) -> Any:
    import click

    return click.Command("endless", callback=callback)


@pytest.mark.parametrize("name", ["proxy", "serve", "mcp"])
def test_a_command_that_runs_until_it_is_ended_has_no_limit(name: str) -> None:
    """Its work grows with its clients, and a limit would lose its report."""
    assert COMMANDS[name].seconds is None


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - LIMITED))
def test_other_commands_stand_in_the_trust_model(name: str) -> None:
    """A command without a limit of computing has its reason in SECURITY.md."""
    lines = (ROOT / "SECURITY.md").read_text().split("\n- ")
    assert f"`{name}`" in next(line for line in lines if line.startswith("Commands take"))


@pytest.mark.parametrize(
    "command", ["audit log.ndjson --taxonomy t.yaml", "serve t.yaml", "conform c.yaml"]
)
def test_what_they_read_is_limited(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands without a limit of their own have one for the taxonomy that they read."""
    left: list[float] = []

    def load(*_: object) -> None:
        left.append(signal.getitimer(signal.ITIMER_VIRTUAL)[0])
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    Path("log.ndjson").write_text("{}\n")
    Path("c.yaml").write_text("taxonomy: t.yaml\ntarget: {http: 'http://127.0.0.1:9'}\n")
    monkeypatch.setattr("faultspec.language.load", load)
    assert code_of(command.split()) == 130
    assert len(left) == 1
    assert 0 < left[0] < LONGEST_COMPUTING + 1
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


@pytest.mark.parametrize("kind", [KeyboardInterrupt(), TimeIsUp(3)])
def test_an_interruption_of_any_moment_is_one(
    kind: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where Python makes another error of an interruption, the exit code is that of the
    interruption.
    """

    def work() -> None:
        try:
            raise kind
        except BaseException as error:
            raise RuntimeError("Error calling __set_name__") from error

    assert finish(work) == (130 if isinstance(kind, KeyboardInterrupt) else 2)
    assert "internal-error" not in capsys.readouterr().err


def test_a_lack_of_memory_in_a_group_of_tasks_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """The command calls a message of MCP that is too large an input that is too large."""

    def work() -> None:
        raise ExceptionGroup("unhandled", [ExceptionGroup("inner", [MemoryError()])])

    assert finish(work) == 2
    err = capsys.readouterr().err
    assert "error[too-large]" in err
    assert "internal-error" not in err


#: A command that is interrupted in a finaliser, and then computes.
IGNORED = """
import os, signal, time
from faultspec.cli import finish
from faultspec.cli.interruption import end_by_interrupt
class Held:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
def work():
    Held()
    time.sleep(20)
end_by_interrupt()
raise SystemExit(finish(work))
"""


def test_an_interruption_that_python_ignores_comes_again() -> None:
    """A signal in a finaliser ends the command all the same, without a traceback."""
    done = subprocess.run(
        [sys.executable, "-c", IGNORED], capture_output=True, text=True, timeout=15, check=False
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize("command", ["import openapi o.json --out t.yaml", "init t.yaml"])
def test_a_new_file_is_whole_or_not_there(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be written whole is not there, and nothing is left beside it."""
    monkeypatch.chdir(tmp_path)
    Path("o.json").write_text(json.dumps(openapi_document(3)))

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", fail)
    assert code_of(command.split()) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["o.json"]


def test_a_limit_within_a_limit_keeps_both() -> None:
    """The inner one ends its block alone, and the outer one goes on."""
    ended: list[float] = []
    try:
        with limit_computing(0.4):
            with pytest.raises(TimeIsUp) as inner, limit_computing(0.1):
                compute()
            ended.append(inner.value.seconds)
            compute()
    except TimeIsUp as outer:
        ended.append(outer.seconds)
    assert ended == [0.1, 0.4]
    with pytest.raises(TimeIsUp), limit_computing(0.1), limit_computing(60):
        compute()


def test_a_compile_that_is_ended_leaves_one_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the time of a compile is up, its folder is the old one or the new one. The next
    compile clears what its staging folder still holds.
    """
    monkeypatch.chdir(tmp_path)
    taxonomy = Path("taxonomy.yaml")

    def tree() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}

    def target() -> dict[str, bytes]:
        return {path: content for path, content in tree().items() if STAGING not in path}

    def compiled(text: str, seconds: float) -> object:
        taxonomy.write_text(text)
        entry = COMMANDS["compile"]._replace(seconds=seconds)
        monkeypatch.setitem(COMMANDS, "compile", entry)
        return code_of(["compile", "taxonomy.yaml", "--out", "out"])

    changed = TAXONOMY.replace("summary: ", "summary: Changed. ")
    assert changed != TAXONOMY
    assert compiled(changed, 60) == 0
    new = tree()
    before = os.times().user
    assert compiled(TAXONOMY, 60) == 0
    whole = os.times().user - before
    old = tree()
    codes = set[object]()
    for step in range(1, 12):
        codes.add(compiled(changed, whole * step / 10))
        assert target() in (old, new)
        assert compiled(TAXONOMY, 60) == 0
        assert tree() == old
    assert 2 in codes


@pytest.mark.full
def test_large_taxonomies_stay_far_below_the_limits(tmp_path: Path) -> None:
    """2,000 codes take a fifteenth of the limit at most, on a slow machine as well: 10,000 take a
    third.
    """
    old = many_codes(2_000)
    (tmp_path / "old.yaml").write_text(old)
    (tmp_path / "new.yaml").write_text(old.replace("retriable: false", "retriable: true"))
    for arguments, limit in {
        "lint new.yaml": LONGEST_COMPUTING,
        "diff old.yaml new.yaml": LONGEST_COMPUTING,
        "compile new.yaml --out out": LONGEST_COMPILE,
    }.items():
        before = os.times().children_user
        done = subprocess.run(
            [*PROGRAM, *arguments.split()], cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        assert os.times().children_user - before <= limit / 15


BOUNDED = [name for name, entry in COMMANDS.items() if entry.megabytes is not None]

GREEDY = """
import sys, types
import click
from faultspec.cli import COMMANDS, main
module = sys.modules["greedy"] = types.ModuleType("greedy")
@click.command()
def command():
    click.echo(sum(map(len, [bytes(2**20) for _ in range(600)])))
module.command = command
name = sys.argv[1]
COMMANDS[name] = COMMANDS[name]._replace(address="greedy:command")
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound data")
@pytest.mark.parametrize("name", BOUNDED)
def test_a_command_ends_at_its_limit_of_memory(name: str) -> None:
    """The exit code is 2, and a hint names the remedy."""
    done = subprocess.run([sys.executable, "-c", GREEDY, name], capture_output=True, text=True)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("error[too-large]: this takes more than 288 MiB of memory\n")
    assert "hint: give it a smaller input" in done.stderr


def test_what_others_wrote_has_a_limit_of_memory() -> None:
    """All commands have it that read taxonomies, documents or programs, and then end."""
    writing = {"compile", "import", "init"}
    assert {*BOUNDED} == {"lint", "diff", "changelog", "explain", "trace-code", "mcp"} | writing
