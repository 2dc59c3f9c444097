"""The output folder under attack: kills, other compiles, files of other people, pipes and links."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from faultspec.render import settle, stage, transaction
from faultspec.render.locking import STAGING
from render.test_compile import FAULTSPEC, TAXONOMY, files, run

HEADER = "Generated from x.yaml; do not edit\n"

Trees = dict[str, dict[str, str]]
"""The files of several output folders."""

OLD: Trees = {
    "one": {"a": f"{HEADER}old a", "sub/gone": f"{HEADER}old", "same": f"{HEADER}same"},
    "two": {"b": f"{HEADER}old b", "deep/er/gone": f"{HEADER}old"},
}
NEW: Trees = {
    "one": {"a": f"{HEADER}new a", "fresh/c": f"{HEADER}new c", "same": f"{HEADER}same"},
    "two": {"b": f"{HEADER}new b", "other/d": f"{HEADER}new d"},
    "three": {"e": f"{HEADER}new e"},
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a taxonomy, and the current one."""
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_all(root: Path, trees: Trees) -> None:
    """Write several output folders together."""
    folders = [root / name for name in trees]
    with transaction(folders, [root / name for name in NEW]) as opened:
        for name, tree in trees.items():
            stage(opened.folder(root / name), tree, None)
        opened.commit()


def settle_all(root: Path) -> None:
    """Settle all folders, as the next start does."""
    settle([root / name for name in NEW])


def states(tmp_path: Path) -> tuple[Path, dict[str, bytes], dict[str, bytes]]:
    """A folder with the old trees, and the files of the old and of the new ones."""
    write_all(tmp_path / "new", OLD)
    write_all(tmp_path / "new", NEW)
    write_all(tmp_path / "old", OLD)
    return tmp_path / "old", files(tmp_path / "old"), files(tmp_path / "new")


def in_child(action: Callable[[], None]) -> int:
    """Run in a child process; returns its id."""
    child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(0)
    return child


def restore(root: Path, wanted: dict[str, bytes]) -> None:
    """Make a folder have these files alone."""
    shutil.rmtree(root)
    for path, data in wanted.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


CALLS = ("replace", "fsync", "unlink", "rmdir", "mkdir", "open")


def die_before(number: int) -> None:
    """Make this process kill itself before one of its calls that change the file system."""
    left = number

    def dying(call: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **named)

        return counted

    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))


#: Between the calls before which a process is killed: any in `make full`, every seventh otherwise.
STRIDES = [7, pytest.param(1, marks=pytest.mark.full)]


@pytest.mark.parametrize("stride", STRIDES)
def test_a_kill_before_any_call_leaves_no_mixed_tree(stride: int, tmp_path: Path) -> None:
    """Whichever call of a write to several folders is the last, the next start finds all old files
    or all new ones, and leaves no staging folder.
    """
    root, old, new = states(tmp_path)
    seen = set()
    for number in range(1, 2000, stride):
        child = in_child(lambda number=number: (die_before(number), write_all(root, NEW)))  # type: ignore[misc]
        _, status = os.waitpid(child, 0)
        settle_all(root)
        found = files(root)
        assert found in (old, new), number
        seen.add(found == new)
        if not os.WIFSIGNALED(status):
            break
        restore(root, old)
    assert seen == {False, True}
    assert number > 40


@pytest.mark.full
@pytest.mark.parametrize("stride", STRIDES)
def test_a_kill_while_a_write_is_finished_leaves_no_mixed_tree(stride: int, tmp_path: Path) -> None:
    """Finishing an interrupted write may be interrupted as well."""
    root, old, new = states(tmp_path)
    committed = next(
        number for number in range(1, 2000) if interrupted(root, old, number) is not None
    )
    for number in range(1, 2000, stride):
        assert interrupted(root, old, committed) is not None
        child = in_child(lambda number=number: (die_before(number), settle_all(root)))  # type: ignore[misc]
        _, status = os.waitpid(child, 0)
        settle_all(root)
        assert files(root) == new, number
        if not os.WIFSIGNALED(status):
            break
    assert number > 10


def interrupted(root: Path, old: dict[str, bytes], number: int) -> bool | None:
    """Kill a write of the new trees. None if it was not committed."""
    restore(root, old)
    os.waitpid(in_child(lambda: (die_before(number), write_all(root, NEW))), 0)  # type: ignore[arg-type,return-value]
    return True if (root / "one" / STAGING / "journal").exists() else None


def kill_at_random(tmp_path: Path, kills: int) -> None:
    """Kill writes at random moments, and check the tree after the next start."""
    root, old, new = states(tmp_path)
    began = time.perf_counter()
    os.waitpid(in_child(lambda: write_all(root, NEW)), 0)  # a large process takes long to fork
    longest = (time.perf_counter() - began) * 1.5
    seen = {False: 0, True: 0}
    chance = random.Random(5)
    for _ in range(kills):
        restore(root, old)
        child = in_child(lambda: write_all(root, NEW))
        time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        settle_all(root)
        found = files(root)
        assert found in (old, new)
        seen[found == new] += 1
    assert kills < 100 or all(seen.values())


def test_a_kill_at_any_moment_leaves_no_mixed_tree(tmp_path: Path) -> None:
    """After a kill at a random moment the next start finds all old files or all new ones."""
    kill_at_random(tmp_path, 12)


@pytest.mark.full
def test_500_kills_leave_no_mixed_tree(tmp_path: Path) -> None:
    """The same law, over 500 kills."""
    kill_at_random(tmp_path, 500)


def test_the_next_check_finishes_a_killed_compile(project: Path) -> None:
    """`compile --check` completes a compile that was killed after its commit, says so, and then
    compares. A staging folder without a commit is cleared.
    """
    run("compile")
    (project / "taxonomy.yaml").write_text(TAXONOMY.replace("Nothing", "Nobody"))
    killed = (
        "import os, signal, faultspec.render.staging as s\n"
        "s.complete_moves = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from faultspec.cli import main\nmain(['compile'])"
    )
    done = subprocess.run([sys.executable, "-c", killed], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (project / "generated" / STAGING / "journal").exists()
    done = run("compile", "--check")
    assert (done.returncode, done.stdout) == (0, "")
    assert "generated: completed an interrupted compile" in done.stderr
    assert not (project / "generated" / STAGING).exists()
    (project / "generated" / STAGING / "0123/new").mkdir(parents=True)
    assert run("compile", "--check").returncode == 0
    assert not (project / "generated" / STAGING).exists()


def test_concurrent_compiles_wait(project: Path) -> None:
    """Compiles of one folder at the same time write one after the other, and say that they wait."""
    slow = (
        "import time, faultspec.render.staging as s\n"
        "actual = s.complete_moves\n"
        "def complete_moves(*each):\n    print('ready', flush=True)\n    time.sleep(1)\n    actual(*each)\n"
        "s.complete_moves = complete_moves\nfrom faultspec.cli import main\nmain(['compile'])"
    )
    first = subprocess.Popen([sys.executable, "-c", slow], stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    assert first.stdout.readline() == "ready\n"
    done = run("compile")
    assert "generated: waiting for another compile" in done.stderr
    assert "files are up to date" in done.stderr
    assert first.wait() == 0
    first.stdout.close()


def test_many_compiles_at_once_leave_one_tree(project: Path) -> None:
    """Compiles of different taxonomies into one folder at the same time leave the tree of one."""
    other = project / "other.yaml"
    other.write_text(TAXONOMY.replace("Nothing", "Nobody"))
    commands = [
        [*FAULTSPEC, "compile", name, "--target", "python", "--out", "out"]
        for name in ("taxonomy.yaml", "other.yaml") * 2
    ]
    children = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
    assert [child.wait() for child in children] == [0, 0, 0, 0]
    checks = [run("compile", *command[4:], "--check").returncode for command in commands[:2]]
    assert sorted(checks) == [0, 1]
    assert not (project / "out" / STAGING).exists()


def test_one_folder_that_fails_leaves_all_as_they_were(project: Path) -> None:
    """The output folders of a project file are written together or not at all."""
    (project / "faultspec.yaml").write_text(
        "taxonomies: {taxonomy.yaml: {targets: {jsonschema: one, markdown: two}}}\n"
    )
    assert run("compile").returncode == 0
    before = files(project)
    (project / "taxonomy.yaml").write_text(TAXONOMY.replace("Nothing", "Nobody"))
    (project / "two/reference.md").unlink()
    (project / "two/reference.md").mkdir()
    done = run("compile")
    assert done.returncode == 2
    after = files(project)
    assert {path: data for path, data in after.items() if path.startswith("one/")} == {
        path: data for path, data in before.items() if path.startswith("one/")
    }


# Files of other people


@pytest.mark.parametrize("shared", [True, False])
def test_a_file_of_other_people_is_not_overwritten(project: Path, *, shared: bool) -> None:
    """A file that no manifest lists and that has no header is refused, with `--force` replaced. One
    with a header is replaced.
    """
    out = project / "out"
    path = "jsonschema/error.schema.json" if shared else "error.schema.json"
    if not shared:
        (project / "faultspec.yaml").write_text(
            "taxonomies: {taxonomy.yaml: {targets: {jsonschema: out}}}\n"
        )
    arguments = ("compile", "--out", "out") if shared else ("compile",)
    (out / path).parent.mkdir(parents=True)
    (out / path).write_text("mine\n")
    done = run(*arguments)
    assert done.returncode == 2
    assert "no compile wrote this file" in done.stderr
    assert "--force" in done.stderr
    assert files(out) == {path: b"mine\n"}
    assert run(*arguments, "--force").returncode == 0
    (out / "MANIFEST").unlink()
    (out / path).write_text(f"// {HEADER}old\n")
    assert run(*arguments).returncode == 0
    assert run(*arguments, "--check").returncode == 0


def test_a_manifest_of_others_deletes_nothing(project: Path) -> None:
    """A manifest that lists files without the header removes none of them."""
    (project / "faultspec.yaml").write_text(
        "taxonomies: {taxonomy.yaml: {targets: {jsonschema: src}}}\n"
    )
    (project / "src").mkdir()
    (project / "src/main.py").write_text("print('mine')\n")
    (project / "src/MANIFEST").write_text("main.py\n")
    assert run("compile").returncode == 2
    assert (project / "src/main.py").read_text() == "print('mine')\n"
    assert run("compile", "--force").returncode == 0
    (project / "src/MANIFEST").write_text((project / "src/MANIFEST").read_text() + "main.py\n")
    done = run("compile")
    assert done.returncode == 0
    assert "src/main.py: kept" in done.stderr
    assert (project / "src/main.py").read_text() == "print('mine')\n"


# Pipes, devices and links


@pytest.fixture(params=["file", "MANIFEST", "link", "dangling"])
def irregular(project: Path, request: pytest.FixtureRequest) -> Path:
    """Something that is not a file in the place of one."""
    run("compile")
    name = "MANIFEST" if request.param == "MANIFEST" else "jsonschema/error.schema.json"
    place = project / "generated" / name
    place.unlink()
    if request.param == "link":
        (project / "secret").write_text("secret line\n")
        place.symlink_to(project / "secret")
    elif request.param == "dangling":
        place.symlink_to(project / "nowhere")
    else:
        os.mkfifo(place)
    return place


@pytest.mark.parametrize("options", [[], ["--check"], ["--force"]])
def test_what_is_not_a_file_is_refused(project: Path, irregular: Path, options: list[str]) -> None:
    """A pipe or a link in the place of a file is neither opened, followed nor replaced."""
    done = run("compile", *options)
    assert done.returncode == 2
    assert "stands where a file is to be written" in done.stderr
    assert "secret line" not in done.stderr + done.stdout
    assert os.path.lexists(irregular)
    assert not (project / "nowhere").exists()


def test_a_foreign_journal_moves_nothing_out_of_the_folder(project: Path) -> None:
    """A staging folder that came with a checkout writes nowhere but into its output folder."""
    run("compile")
    before = files(project / "generated")
    (project / "elsewhere").mkdir()
    (project / "elsewhere/key").write_text("key")
    tree = project / "generated" / STAGING
    for paths, folder in (
        (["../taxonomy.yaml"], "."),
        ([".git/hooks/pre-commit"], "."),
        (["x"], "../elsewhere"),
        (["key"], "."),
    ):
        (tree / "1/new").mkdir(parents=True)
        (project / "elsewhere" / STAGING / "1/new").mkdir(parents=True)
        if paths == ["key"]:
            (tree / "1/new").rmdir()
            (tree / "1/new").symlink_to(project / "elsewhere")
        moves = {"folder": folder, "changed": paths, "created": [], "stale": []}
        journal = {"number": "1", "folders": [moves], "undone": False}
        (tree / "journal").write_text(json.dumps(journal))
        done = run("compile", "--check")
        assert "Traceback" not in done.stderr
        assert (project / "taxonomy.yaml").read_text() == TAXONOMY
        assert (project / "elsewhere/key").read_text() == "key"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.rmtree(project / "elsewhere" / STAGING)
        assert files(project / "generated") == before
        assert sorted(path.name for path in project.iterdir()) == [
            "elsewhere",
            "generated",
            "taxonomy.yaml",
        ]


@pytest.mark.parametrize(
    ("moves", "undone"),
    [
        ({"changed": ["notes.env"]}, False),
        ({"stale": ["notes.env"]}, False),
        ({"stale": ["marked.py"]}, False),
        ({"changed": ["notes.env"]}, True),
        ({"created": ["notes.env"]}, True),
        ({"created": ["marked.py"]}, True),
    ],
)
@pytest.mark.parametrize("command", ["compile", "check"])
def test_a_foreign_journal_touches_no_file_that_no_compile_wrote(
    project: Path, moves: dict[str, list[str]], command: str, *, undone: bool
) -> None:
    """A journal of a checkout overwrites files with the mark alone, and removes those that are
    listed as well; else the command says so.
    """
    run("compile")
    folder = project / "generated"
    (folder / "notes.env").write_text("KEY=1")
    (folder / "marked.py").write_text("# Generated from taxonomy.yaml; do not edit\n")
    before = files(folder)
    for name in ("new", "old"):
        (folder / STAGING / "1" / name).mkdir(parents=True)
    for path in moves.get("changed", ()):
        (folder / STAGING / "1" / ("old" if undone else "new") / path).write_text("KEY=2")
    empty: dict[str, list[str]] = {"changed": [], "created": [], "stale": []}
    journal = {"number": "1", "folders": [{"folder": ".", **empty, **moves}], "undone": undone}
    (folder / STAGING / "journal").write_text(json.dumps(journal))
    done = run("compile", *(["--check"] if command == "check" else []))
    assert done.returncode == 2
    assert "foreign-file" in done.stderr
    assert "no compile wrote" in done.stderr
    shutil.rmtree(folder / STAGING)
    assert files(folder) == before


@pytest.mark.parametrize(
    "named", ["../b", "a/../b", "a/../../b", "../out/../b", "link", "../c", "", ".//", "\0", 1]
)
@pytest.mark.parametrize("holder", ["journal", "first"])
def test_a_foreign_journal_empties_no_folder_through_links(
    project: Path, holder: str, named: object
) -> None:
    """A journal or a pointer that names a folder by a link, by `..` behind a link, or by a staging
    folder that is a link changes nothing outside the output folder.
    """
    run("compile", "--out", "out")
    (project / "victim/Documents").mkdir(parents=True)
    (project / "victim/thesis").write_text("thesis")
    (project / "deep/er").mkdir(parents=True)
    for folder in ("b", "out/b", "c"):
        (project / folder).mkdir(parents=True)
        (project / folder / STAGING).symlink_to(project / "victim")
    (project / "out/a").symlink_to(project / "deep/er")
    (project / "out/link").symlink_to(project / "b")
    (project / "c" / STAGING).unlink()
    (project / "c" / STAGING / "Documents").mkdir(parents=True)
    (project / "c" / STAGING / "thesis").write_text("thesis")
    moves = {"folder": named, "changed": [], "created": [], "stale": []}
    data: dict[str, object] = {"number": "Documents", "folders": [moves], "undone": False}
    if holder == "first":
        (project / "victim/journal").write_text(json.dumps(data))
        data = {"number": "Documents", "folder": named}
    before = files(project)
    (project / "out" / STAGING).mkdir()
    (project / "out" / STAGING / holder).write_text(json.dumps(data))
    done = run("compile", "--out", "out", "--check")
    assert "Traceback" not in done.stderr
    shutil.rmtree(project / "out" / STAGING, ignore_errors=True)
    assert files(project) == before
    assert (project / "victim/Documents").is_dir()
    assert (project / "c" / STAGING / "Documents").is_dir()


def test_a_link_in_place_of_the_staging_folder_is_refused(project: Path) -> None:
    """A link of the name of the staging folder is not followed."""
    run("compile")
    (project / "elsewhere").mkdir()
    (project / "generated" / STAGING).symlink_to(project / "elsewhere")
    done = run("compile")
    assert done.returncode == 2
    assert "not the folder that a compile makes" in done.stderr
    assert [*(project / "elsewhere").iterdir()] == []


def test_the_name_of_the_staging_folder_is_taken() -> None:
    """No target may write into the staging folder, nor into that of git."""
    from faultspec.render.paths import path_problem

    assert path_problem(f"t/{STAGING}/journal") is not None
    assert path_problem("t/.git/config") is not None
