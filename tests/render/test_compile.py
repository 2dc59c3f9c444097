"""`faultspec compile`: writing is all or nothing, checking sees every kind of drift, templates may
come from anywhere.
"""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result

from faultspec.cli import cli, main
from faultspec.language import load
from faultspec.render import Drift, find_drift, render, write
from faultspec.render.environment import bytecode
from faultspec.targets import SHIPPED, TargetError
from paths import ROOT

FAULTSPEC = [sys.executable, "-c", "from faultspec.cli import main; main()"]

TAXONOMY = """\
faultspec: 1
taxonomy: {name: tiny, version: 1.0.0, title: Tiny errors}
envelopes:
  error: {shape: {code: $code, message: $message}}
codes:
  not_found: {summary: Nothing is there., http: 404, retriable: false}
  busy: {summary: Too much is going on., http: 503, retriable: true}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a taxonomy, and the current one."""
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def faultspec(*arguments: str) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(cli, arguments, standalone_mode=True)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the whole command line, exit code included, in this process, which takes a tenth of the
    time of a new one.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(arguments, ended.value.code, out.getvalue(), err.getvalue())


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file()
    }


# Writing


def test_a_second_compile_touches_nothing(project: Path) -> None:
    """Files that are right already keep their modification time."""
    assert run("compile").returncode == 0
    for each in (project / "generated").rglob("*"):
        os.utime(each, (1, 1))
    done = run("compile")
    assert "up to date" in done.stderr
    assert all(each.stat().st_mtime == 1 for each in (project / "generated").rglob("*"))


@pytest.mark.parametrize("damage", ["cut", "other", "pipe"])
def test_a_damaged_cache_of_templates_is_none(
    project: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Templates whose compiled form was cut off, or is not a file, are compiled again."""
    monkeypatch.setattr(tempfile, "tempdir", str(project))
    environment = cast(Any, bytecode())
    cache = Path(environment.directory)
    assert run("compile", "--target", "python", "--out", "one").returncode == 0
    entries = list(cache.glob("__faultspec_*.cache"))
    assert entries
    for entry in entries:
        whole = entry.read_bytes()
        entry.unlink()
        if damage == "pipe":
            os.mkfifo(entry)
        else:
            entry.write_bytes(whole[: len(whole) // 2] if damage == "cut" else whole[:20] + b"x")
    assert run("compile", "--target", "python", "--out", "two").returncode == 0
    assert files(project / "one").keys() == files(project / "two").keys()
    assert all(entry.is_file() for entry in entries)


def test_a_compile_counts_the_files_it_produces(project: Path) -> None:
    """As many files are written as there are, or as changed; the list of them is not one of
    them.
    """
    first = run("compile").stderr
    count = len(files(project / "generated")) - 1
    assert first == f"generated: wrote {count} of {count} files\n"
    (project / "generated/jsonschema/error.schema.json").unlink()
    assert run("compile").stderr == f"generated: wrote 1 of {count} files\n"


@pytest.mark.parametrize(
    "present",
    [None, b"", b"one\n", b"one\ntwo\nthree\n", b"one\ntwo\nthree\nfour\n", b"one\nTWO\nthree\n"],
)
def test_a_file_in_pieces_replaces_what_differs(tmp_path: Path, present: bytes | None) -> None:
    """A file is the join of its pieces, whatever stood in its place, and is written only if that
    differs.
    """
    file = tmp_path / "python/lines.txt"
    if present is not None:
        write([("python/lines.txt", [present.decode()])], tmp_path, ["python"])
    done = write([("python/lines.txt", iter(["one\n", "two\n", "three\n"]))], tmp_path, ["python"])
    assert file.read_bytes() == b"one\ntwo\nthree\n"
    assert ("python/lines.txt" in done.written) == (present != b"one\ntwo\nthree\n")


def test_what_is_no_longer_produced_is_removed(project: Path) -> None:
    """A stale file goes, with the folder it left empty; a file no compile wrote stays, whatever it
    is.
    """
    run("compile")
    keep = project / "generated/python/tiny_errors/notes.txt"
    keep.write_text("mine")
    (project / "taxonomy.yaml").write_text(TAXONOMY.replace("name: tiny", "name: small"))
    assert run("compile").returncode == 0
    assert keep.read_text() == "mine"
    assert [each.name for each in keep.parent.iterdir()] == ["notes.txt"]
    assert (project / "generated/python/small_errors/errors.py").exists()
    assert "tiny" not in (project / "generated/MANIFEST").read_text()


def test_one_target_leaves_the_others_alone(project: Path) -> None:
    """A compile of one target neither removes nor forgets the files of another."""
    run("compile")
    before = files(project / "generated")
    (project / "taxonomy.yaml").write_text(
        TAXONOMY + "  new: {summary: New., http: 500, retriable: false}\n"
    )
    assert run("compile", "--target", "jsonschema").returncode == 0
    after = files(project / "generated")
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"jsonschema/error.schema.json", "jsonschema/details.schema.json"}
    assert set(before) == set(after)


def test_the_manifest_names_what_was_compiled(project: Path) -> None:
    """After a compile of some targets, a check without `--target` checks those; after a compile of
    all, it checks all, and the manifest has paths only.
    """
    manifest = project / "generated" / "MANIFEST"
    for target in ("python", "jsonschema"):
        assert run("compile", "--target", target).returncode == 0
        assert run("compile", "--check").returncode == 0
    assert manifest.read_text().splitlines()[0] == "targets: jsonschema python"
    (project / "generated/jsonschema/error.schema.json").write_text("")
    done = run("compile", "--check")
    assert done.returncode == 1
    assert done.stdout.startswith("modified: generated/jsonschema/error.schema.json\n")
    assert "generated: 1 of the files differ" in done.stderr
    assert run("compile").returncode == 0
    assert "targets:" not in manifest.read_text()
    assert run("compile", "--target", "python").returncode == 0
    assert "targets:" not in manifest.read_text()
    shutil.rmtree(project / "generated/openapi")
    assert run("compile", "--check").returncode == 1


def refusal(tree: dict[str, str], out: Path) -> str | None:
    """The code of the diagnostic that a write ends in, or None."""
    try:
        write(tree, out, ["t"])
    except TargetError as error:
        return error.diagnostic.code
    return None


def test_a_failed_write_leaves_the_old_tree_whole(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever rename fails, every file is as it was before, and nothing is left behind."""
    out = project / "out"
    header = "Generated from x.yaml; do not edit\n"
    old = {"t/a": f"{header}old a", "t/b": "old b", "t/sub/gone": f"{header}old c"}
    new = {"t/a": f"{header}new a", "t/b": "new b", "t/fresh/d": "new d"}
    write(old, out, ["t"])
    before = files(out)
    folders = sorted(each for each in out.rglob("*") if each.is_dir())
    actual = os.replace
    for failing in range(1, 20):
        calls = 0

        def replace(source: object, target: object, failing: int = failing) -> None:
            nonlocal calls
            calls += 1
            if calls == failing:
                raise OSError(28, "No space left on device", str(target))
            actual(source, target)  # type: ignore[arg-type]

        monkeypatch.setattr("os.replace", replace)
        failure = refusal(new, out)
        monkeypatch.setattr("os.replace", actual)
        if failure is None:
            break
        assert failure == "cannot-write"
        assert files(out) == before
        assert sorted(each for each in out.rglob("*") if each.is_dir()) == folders
    assert failing > 5
    assert {name: text.decode() for name, text in files(out).items() if name != "MANIFEST"} == new


def test_a_template_that_fails_changes_nothing(project: Path) -> None:
    """All is rendered before the first byte is written."""
    run("compile")
    before = files(project / "generated")
    (project / "mine/openapi").mkdir(parents=True)
    (project / "mine/openapi/components.json.jinja").write_text(
        "{{ view.v31 | json }}\n{{ view.oops }}\n"
    )
    (project / "taxonomy.yaml").write_text(TAXONOMY.replace("Nothing", "Nothing at all"))
    done = run("compile", "--templates", "mine")
    assert done.returncode == 2
    assert "mine/openapi/components.json.jinja:2" in done.stderr
    assert "oops" in done.stderr
    assert "Traceback" not in done.stderr
    assert files(project / "generated") == before


def test_a_taxonomy_with_errors_changes_nothing(project: Path) -> None:
    """A compile that cannot understand its input exits with 2, says where, and leaves the tree as
    it was.
    """
    run("compile")
    before = files(project / "generated")
    (project / "taxonomy.yaml").write_text(TAXONOMY.replace("retriable: true", "retriabel: true"))
    done = run("compile")
    assert done.returncode == 2
    assert "taxonomy.yaml:7:" in done.stderr
    assert files(project / "generated") == before


def test_a_folder_in_the_place_of_a_file_is_refused(project: Path) -> None:
    """A folder where a file should go is named, and nothing is moved."""
    (project / "generated/jsonschema/error.schema.json").mkdir(parents=True)
    done = run("compile")
    assert done.returncode == 2
    assert "a folder stands where a file is to be written" in done.stderr
    assert list((project / "generated/jsonschema").iterdir()) == [
        project / "generated/jsonschema/error.schema.json"
    ]


def test_an_output_folder_that_cannot_be_written(project: Path) -> None:
    """A file in the place of the output folder is a clear error."""
    (project / "generated").write_text("not a folder")
    done = run("compile")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_link_out_of_the_folder_is_not_followed(project: Path) -> None:
    """A symbolic link inside the output folder cannot make a compile write elsewhere."""
    (project / "elsewhere").mkdir()
    (project / "generated").mkdir()
    (project / "generated/python").symlink_to(project / "elsewhere")
    done = run("compile")
    assert done.returncode == 2
    assert "symbolic link" in done.stderr
    assert list((project / "elsewhere").iterdir()) == []


# Checking


def test_check_sees_every_kind_of_drift(project: Path) -> None:
    """Modified, missing, stale and untracked files are named, with a diff where there is one;
    nothing is written.
    """
    run("compile")
    out = project / "generated"
    (out / "python/tiny_errors/codes.py").write_text("edited\n")
    (out / "python/tiny_errors/retry.py").unlink()
    (out / "python/tiny_errors/extra.py").write_text("extra\n")
    (out / "jsonschema/old.json").write_text("{}\n")
    (out / "MANIFEST").write_text((out / "MANIFEST").read_text() + "jsonschema/old.json\n")
    (out / "python/tiny_errors/__pycache__").mkdir()
    (out / "python/tiny_errors/__pycache__/codes.pyc").write_bytes(b"")
    before = files(out)
    done = run("compile", "--check")
    assert done.returncode == 1
    kinds = [
        line
        for line in done.stdout.splitlines()
        if line.startswith(("modified:", "missing:", "stale:", "untracked:"))
    ]
    assert kinds == [
        "stale: generated/jsonschema/old.json",
        "modified: generated/python/tiny_errors/codes.py",
        "untracked: generated/python/tiny_errors/extra.py",
        "missing: generated/python/tiny_errors/retry.py",
    ]
    assert "\n-edited\n" in done.stdout
    assert "\n+class ErrorCode(StrEnum):\n" in done.stdout
    assert "\n-{}\n" in done.stdout
    assert files(out) == before


def test_check_is_silent_on_a_fresh_tree(project: Path) -> None:
    """Right after a compile nothing differs."""
    run("compile")
    done = run("compile", "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_check_for_a_machine_is_one_document(project: Path) -> None:
    """In a machine's format what differs is diagnostics, a file each, and nothing else is on
    standard output.
    """
    run("compile")
    changed = next((project / "generated/python").rglob("codes.py"))
    changed.write_text("edited\n")
    (project / "generated/python/stray.py").write_text("")
    done = run("compile", "--check", "--format", "json")
    found = {(each["code"], each["path"]) for each in json.loads(done.stdout)["diagnostics"]}
    assert done.returncode == 1
    assert found == {
        ("modified-file", changed.relative_to(project).as_posix()),
        ("untracked-file", "generated/python/stray.py"),
    }


def test_a_failure_for_a_machine_is_one_document(project: Path) -> None:
    """Faults of templates are reported with all others, in the same document."""
    done = run("compile", "--templates", "nowhere", "--format", "json")
    assert done.returncode == 2
    assert [each["severity"] for each in json.loads(done.stdout)["diagnostics"]][-1] == "error"


def test_check_sees_a_manifest_that_is_wrong(project: Path) -> None:
    """A manifest that does not list what is produced is drift, even where every file is right."""
    run("compile")
    manifest = project / "generated/MANIFEST"
    manifest.write_text(manifest.read_text().replace("openapi/openapi-3.0.json\n", ""))
    done = run("compile", "--check")
    assert done.returncode == 1
    assert "+openapi/openapi-3.0.json" in done.stdout


def test_check_of_a_folder_that_is_more_than_output(project: Path) -> None:
    """Where the taxonomy lies in the output folder, files beside the targets' own folders are none
    of check's business.
    """
    assert run("compile", "--out", ".").returncode == 0
    (project / "README.md").write_text("hello")
    (project / "python/stray.py").write_text("")
    done = run("compile", "--out", ".", "--check")
    assert done.stdout == "untracked: ./python/stray.py\n"


def test_check_shows_a_lost_line_end(tmp_path: Path) -> None:
    """A diff of a last line without a line end stays readable."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t/a").write_text("x")
    found = find_drift({"t/a": "x\n"}, tmp_path, ["t"])
    assert [(each.path, each.kind) for each in found] == [("t/a", "modified")]
    assert found[0].diff.splitlines()[-3:] == ["-x", "\\ No newline at end of file", "+x"]
    assert isinstance(found[0], Drift)


# User templates


def test_a_template_overrides_a_shipped_one(project: Path) -> None:
    """A file of the same name takes the place of the shipped template; the others stay."""
    (project / "mine/python").mkdir(parents=True)
    (project / "mine/python/py.typed.jinja").write_text("partial\n")
    assert run("compile", "--templates", "mine").returncode == 0
    package = project / "generated/python/tiny_errors"
    assert (package / "py.typed").read_text() == "partial\n"
    assert "class NotFound" in (package / "errors.py").read_text()


@pytest.mark.parametrize("path", [ROOT / "taxonomy.yaml", ROOT / "tests/taxonomies/watched.yaml"])
def test_the_sandbox_changes_no_file(path: Path, tmp_path: Path) -> None:
    """Shipped templates make the same files in the sandbox of a folder of templates and without
    it.
    """
    (tmp_path / "python").mkdir()
    shutil.copy(ROOT / "templates/python/ruff.toml.jinja", tmp_path / "python")
    taxonomy = load(str(path)).taxonomy
    assert taxonomy is not None
    files = render(taxonomy, SHIPPED.values(), path.name)
    assert render(taxonomy, SHIPPED.values(), path.name, overrides=tmp_path) == files


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (
            "python/retri.py.jinja",
            "has no template `retri.py.jinja`; did you mean `retry.py.jinja`?",
        ),
        (
            "python/deep/errors.py.jinja",
            "has no template `deep/errors.py.jinja`; did you mean `errors.py.jinja`?",
        ),
        ("openapi/x.jinja", "its templates are components.json.jinja, components-3.0.json.jinja"),
        ("errors.py.jinja", "is the template of no target; move it into the folder of its target"),
        (None, "the folder of templates is empty"),
    ],
)
def test_a_template_that_nothing_asks_for_is_refused(
    project: Path, path: str | None, says: str
) -> None:
    """A misspelled override would be the shipped template without a word; so would one in the wrong
    folder.
    """
    (project / "mine/python").mkdir(parents=True)
    if path is not None:
        (project / "mine/python/_macros.jinja").write_text("{# included below #}\n")
        (project / "mine/python/py.typed.jinja").write_text("{% include '_macros.jinja' %}\n")
        (project / "mine" / path).parent.mkdir(parents=True, exist_ok=True)
        (project / "mine" / path).write_text("x\n")
    done = run("compile", "--templates", "mine")
    assert done.returncode == 2
    assert all(each in done.stderr for each in says.split("; ")), done.stderr
    assert not (project / "generated").exists()


def test_a_target_that_is_no_more_leaves_nothing(project: Path) -> None:
    """The files of a target of one's own are stale once it is no longer asked for, and the next
    compile removes them; one of a few targets leaves them alone.
    """
    mine = project / "mine/wiki"
    mine.mkdir(parents=True)
    (mine / "target.yaml").write_text("files: [{template: all.md.jinja, path: all.md}]\n")
    (mine / "all.md.jinja").write_text("{{ model.header | visible }}\n")
    assert run("compile", "--templates", "mine").returncode == 0
    assert run("compile", "--target", "python", "--check").returncode == 0
    done = run("compile", "--check")
    assert (done.returncode, "stale: generated/wiki/all.md" in done.stdout) == (1, True)
    assert run("compile").returncode == 0
    assert not (project / "generated/wiki").exists()
    assert run("compile", "--check").returncode == 0


def test_what_nobody_compiled_is_not_for_a_compile_to_mend(project: Path) -> None:
    """A check that finds only untracked files says to remove them: a compile never would."""
    assert run("compile").returncode == 0
    (project / "generated/python/mine.txt").write_text("x")
    done = run("compile", "--check")
    assert done.returncode == 1
    assert "1 file that no compile wrote; move or delete them" in done.stderr
    assert "run `faultspec compile`" not in done.stderr


def test_a_folder_adds_a_target(project: Path) -> None:
    """A target of one's own: a table of templates and paths, one file for all or one for each
    code.
    """
    mine = project / "mine/wiki"
    mine.mkdir(parents=True)
    (mine / "target.yaml").write_text(
        "files:\n"
        "  - {template: all.md.jinja, path: '{{ model.name }}.md'}\n"
        "  - {template: one.md.jinja, path: 'codes/{{ each.name }}.md', each: codes}\n"
    )
    (mine / "all.md.jinja").write_text(
        "{% for code in model.codes %}\n* {{ code.name }}: {{ code.summary }}\n{% endfor %}\n"
    )
    (mine / "one.md.jinja").write_text(
        "# {{ each.name | pascal }} {{ each.statuses | join }} v{{ model.version }}\n"
    )
    assert run("compile", "--templates", "mine").returncode == 0
    out = project / "generated/wiki"
    assert (
        out / "tiny.md"
    ).read_text() == "* not_found: Nothing is there.\n* busy: Too much is going on.\n"
    assert (out / "codes/busy.md").read_text() == "# Busy 503 v1\n"
    assert (project / "generated/openapi/openapi-3.1.json").exists()
    assert run("compile", "--templates", "mine", "--check").returncode == 0
    assert run("compile", "--templates", "mine", "--target", "wiki", "--check").returncode == 0


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("../escaped", "leaves the output folder"),
        ("/etc/passwd", "leaves the output folder"),
        ("a/../../escaped", "leaves the output folder"),
        ("C:/escaped", "not a relative POSIX path"),
        ("a\\\\b", "not a relative POSIX path"),
        ("", "leaves the output folder"),
        ("a/", "leaves the output folder"),
        ("a\\nb", "invisible characters"),
    ],
)
def test_an_output_path_cannot_leave_the_folder(project: Path, path: str, says: str) -> None:
    """Absolute paths, `..`, drives and the like are refused before anything is written."""
    mine = project / "mine/evil"
    mine.mkdir(parents=True)
    (mine / "target.yaml").write_text(f'files: [{{template: x.jinja, path: "{path}"}}]\n')
    (mine / "x.jinja").write_text("x\n")
    done = run("compile", "--templates", "mine", "--target", "evil")
    assert done.returncode == 2
    assert says in done.stderr
    assert not (project / "generated").exists()


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ model.codes.__class__ }}", "unsafe"),
        ("{% set x = model.codes[0].facts %}{{ x }}", "no attribute 'facts'"),
        ("{{ model.nmae }}", "a Model has no attribute 'nmae'"),
        ("{{ model.codes[0].nmae }}", "a CodeRow has no attribute 'nmae'"),
        ("{% for x in %}", "Expected an expression"),
        ("{% include 'nowhere.jinja' %}", "nowhere.jinja"),
        ("{% include '../../taxonomy.yaml' %}", "taxonomy.yaml"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ model.name | shout }}", "No filter named 'shout'"),
        ("{{ range(999999999) | list }}", "Range too big"),
        ("{{ model.version.foo() }}", "foo"),
        ("{{ model.codes[0]._asdict() }}", "_asdict"),
        ("{{ model.codes[0].__class__ }}", "__class__"),
    ],
)
def test_a_bad_template_is_a_diagnostic(project: Path, template: str, says: str) -> None:
    """Whatever a template does, it is sandboxed, and its mistake is named with the template's file
    and line.
    """
    mine = project / "mine/bad"
    mine.mkdir(parents=True)
    (mine / "target.yaml").write_text("files: [{template: x.jinja, path: x}]\n")
    (mine / "x.jinja").write_text(f"\n{template}\n")
    done = run("compile", "--templates", "mine", "--target", "bad")
    assert done.returncode == 2
    assert says in done.stderr
    assert "mine/bad/x.jinja" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "generated").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("files: []\n", "a target lists its files"),
        (
            "fiels: [{template: x.jinja, path: x}]\nfiles: [{template: x.jinja, path: x}]\n",
            "no key `fiels`",
        ),
        ("files: [{template: x.jinja}]\n", "a file has a template and a path"),
        ("files: [{template: x.jinja, path: x, each: coeds}]\n", "no list `coeds`"),
        ("files: [{template: x.jinja, path: x, mode: 5}]\n", "no key `mode`"),
        ("files: {\n", "target.yaml"),
        ("", "target.yaml"),
        (
            "files: [{template: x.jinja, path: x}, {template: x.jinja, path: X}]\n",
            "two templates write",
        ),
    ],
)
def test_a_bad_target_is_a_diagnostic(project: Path, text: str, says: str) -> None:
    """A mistake in a target.yaml is reported with its place."""
    mine = project / "mine/bad"
    mine.mkdir(parents=True)
    (mine / "target.yaml").write_text(text)
    (mine / "x.jinja").write_text("x\n")
    done = run("compile", "--templates", "mine")
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_without_a_description_is_refused(project: Path) -> None:
    """A folder that is not a shipped target and does not describe one is a mistake, not something
    to pass over.
    """
    (project / "mine/pyhton").mkdir(parents=True)
    done = run("compile", "--templates", "mine")
    assert done.returncode == 2
    assert "`pyhton` is not a shipped target" in done.stderr
    assert run("compile", "--templates", "nowhere").returncode == 2


# The command line


def test_a_wrong_target_or_command_is_named(project: Path) -> None:
    """Bad usage exits with 2, and near names are offered."""
    done = run("compile", "--target", "pyhton")
    assert done.returncode == 2
    assert f"'pyhton' is not a target. Targets: {', '.join(SHIPPED)}." in done.stderr
    done = run("complie")
    assert done.returncode == 2
    assert "Did you mean 'compile'?" in done.stderr
    done = run("compile", "--chekc")
    assert done.returncode == 2
    assert "--check" in done.stderr


def test_a_missing_taxonomy_is_a_diagnostic(project: Path) -> None:
    """A path that leads nowhere exits with 2 and says so."""
    done = run("compile", "nowhere.yaml")
    assert done.returncode == 2
    assert "nowhere.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_header_is_the_same_from_every_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header names the taxonomy from the nearest folder that has it and the output folder. So
    the same tree comes from every machine and every working directory.
    """
    run("compile", str(project / "taxonomy.yaml"))
    before = files(project / "generated")
    (project / "deep/down").mkdir(parents=True)
    for folder, up in ((project / "deep/down", "../.."), (project / "generated", "..")):
        monkeypatch.chdir(folder)
        arguments = ("compile", f"{up}/taxonomy.yaml", "--out", f"{up}/generated")
        assert "up to date" in run(*arguments).stderr
        assert run(*arguments, "--check").returncode == 0
    assert files(project / "generated") == before
    monkeypatch.chdir(project)
    text = (project / "generated/python/tiny_errors/codes.py").read_text()
    assert (
        "# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml\n"
        in text
    )
    assert str(project) not in text


def test_diagnostics_in_the_format_of_a_machine(project: Path) -> None:
    """With --format, diagnostics are data, and go to stdout."""
    (project / "taxonomy.yaml").write_text(TAXONOMY.replace("retriable: true", "retriabel: true"))
    done = run("compile", "--format", "github")
    assert done.stdout.startswith("::error file=taxonomy.yaml,line=7")
    assert done.stderr == ""


def test_help_imports_no_command() -> None:
    """`--help` and `--version` cost click alone; `compile --check` does not cost jsonschema."""
    probe = (
        "import sys\nfrom faultspec.cli import _run\n_run(sys.argv[1:])\n"
        "print(sorted({'yaml', 'jinja2', 'jsonschema', 'faultspec.render', 'schemathesis'} & set(sys.modules)), file=sys.stderr)"
    )
    for arguments, imported in (
        (["--help"], []),
        (["--version"], []),
        (["compile", "--check", "nowhere.yaml"], ["faultspec.render", "jinja2", "yaml"]),
    ):
        done = subprocess.run(
            [sys.executable, "-c", probe, *arguments], capture_output=True, text=True, check=True
        )
        assert done.stderr.splitlines()[-1] == str(imported)


def test_help_lists_every_command() -> None:
    """The table of commands is what help shows, and each address leads to a command."""
    import importlib

    from faultspec.cli import COMMANDS

    shown = faultspec("--help").output
    for name, command in COMMANDS.items():
        assert f"  {name} " in shown
        module, _, attribute = command.address.partition(":")
        assert getattr(importlib.import_module(module), attribute).name == name


def test_an_unexpected_error_is_one_line(project: Path) -> None:
    """A bug of ours ends in a diagnostic with exit code 2; its traceback is shown on request."""
    broken = "import faultspec.language as l\ndef load(path): raise RuntimeError('a\\nbug')\nl.load = load\nfrom faultspec.cli import main\nmain()"
    for debug, traceback in (("", False), ("1", True)):
        done = subprocess.run(
            [sys.executable, "-c", broken, "compile"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "FAULTSPEC_DEBUG": debug},
        )
        assert ("Traceback" in done.stderr) == traceback
        if not traceback:
            assert done.returncode == 2
            assert done.stderr.startswith("error[internal-error]: RuntimeError: a bug\n")


def test_a_reader_that_leaves_is_not_an_error(project: Path) -> None:
    """`faultspec … | head` ends quietly."""
    run("compile")
    (project / "taxonomy.yaml").write_text(TAXONOMY.replace("Nothing", "Nothing at all"))
    process = subprocess.Popen(
        [*FAULTSPEC, "compile", "--check"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, error = process.communicate(timeout=60)
    assert b"Traceback" not in error
    assert b"BrokenPipe" not in error


def test_an_interrupt_exits_with_130(project: Path) -> None:
    """Ctrl-C ends in the exit code that shells expect, without a traceback."""
    waiting = "import faultspec.language as l, time\ndef load(path): print('ready', flush=True); time.sleep(30)\nl.load = load\nfrom faultspec.cli import main\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", waiting, "compile"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error


def test_a_folder_of_no_target_is_untracked(project: Path) -> None:
    """A file that no target would write is reported wherever it lies below the output folder."""
    assert run("compile").returncode == 0
    (project / "generated" / "elsewhere").mkdir()
    (project / "generated" / "elsewhere" / "left.txt").write_text("left")
    done = run("compile", "--check")
    assert done.returncode == 1
    assert "elsewhere/left.txt" in done.stdout
