"""`faultspec.yaml`: found from below, read by the commands, less than arguments, and refused with
places.
"""

import json
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from faultspec.cli.reporting import load_taxonomy
from faultspec.project import Destination, find_project_file, parse_project, read_project
from faultspec.project.attributes import mark_folders
from faultspec.source import parse
from importers.test_growth import MOST, work
from paths import ROOT
from support.command_line import faultspec

TAXONOMY = """\
faultspec: 1
taxonomy: {name: NAME, version: 1.0.0}
envelopes:
  error: {shape: {code: $code, message: $message, details?: $details}}
codes:
  not_found: {summary: Nothing is there., http: 404, retriable: false}
  missing: {summary: Something is missing., http: 404, retriable: false}
"""

#: The rule that `TAXONOMY` breaks, with its severity.
RULE, SEVERITY = "ambiguous-status", "note"

#: The other rules that it breaks, silenced.
OTHERS = "unmapped-status: off, example-missing: off"

PROJECT = """\
taxonomies:
  shop/errors.yaml:
    targets:
      python: src/shop/errors
      typescript: web/src/errors
  bank.yaml:
    out: bank/generated
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two taxonomies, a project file, and a folder below."""
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "deep" / "down").mkdir(parents=True)
    (root / "shop").mkdir()
    (root / "shop" / "errors.yaml").write_text(TAXONOMY.replace("NAME", "shop"))
    (root / "bank.yaml").write_text(TAXONOMY.replace("NAME", "bank"))
    (root / "faultspec.yaml").write_text(PROJECT)
    return root


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# Finding


def test_the_file_is_found_from_every_folder_below_it(repository: Path) -> None:
    """The nearest project file in a folder or above it counts."""
    for folder in (repository, repository / "deep" / "down"):
        assert find_project_file(folder) == repository / "faultspec.yaml"
    (repository / "deep" / "faultspec.yaml").touch()
    assert find_project_file(repository / "deep" / "down") == repository / "deep/faultspec.yaml"


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_search_ends_at_the_root_of_the_repository(repository: Path, kind: str) -> None:
    """A project file above `.git` is that of another project; `.git` is a file in a worktree."""
    inner = repository / "vendored"
    inner.mkdir()
    if kind == "folder":
        (inner / ".git").mkdir()
    else:
        (inner / ".git").write_text("gitdir: elsewhere")
    assert find_project_file(inner) is None
    assert find_project_file(repository.parent) is None


def test_without_the_file_commands_read_what_they_did(repository: Path) -> None:
    """Without a project file the taxonomy is taxonomy.yaml, and the folder is generated."""
    (repository / "faultspec.yaml").unlink()
    (repository / "bank.yaml").rename(repository / "taxonomy.yaml")
    assert faultspec("compile", cwd=repository).returncode == 0
    assert (repository / "generated" / "python" / "bank_errors" / "codes.py").exists()
    assert faultspec("compile", "--check", cwd=repository).returncode == 0
    assert faultspec("lint", cwd=repository / "shop").returncode == 2
    done = faultspec("conform", cwd=repository)
    assert done.returncode == 2
    assert "Missing argument" in done.stderr


# Compiling


def test_a_compile_fills_the_declared_folders_alone(repository: Path) -> None:
    """A folder of one target has its package itself; `out` has a folder for each target; nothing
    else is written.
    """
    before = tree(repository)
    assert faultspec("compile", cwd=repository).returncode == 0
    after = tree(repository)
    assert before.items() <= after.items()
    written = set(after) - set(before)
    folders = ("src/shop/errors/", "web/src/errors/", "bank/generated/")
    assert all(path.startswith(folders) for path in written)
    assert {
        "src/shop/errors/__init__.py",
        "src/shop/errors/_runtime/retry.py",
        "src/shop/errors/ruff.toml",
        "web/src/errors/index.ts",
        "bank/generated/openapi/openapi-3.1.json",
        "bank/generated/python/bank_errors/codes.py",
    } <= written
    assert faultspec("compile", "--check", cwd=repository).returncode == 0


def test_the_package_of_a_declared_folder_can_be_imported(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Generated modules import each other relatively, so the package works at any place."""
    (repository / "faultspec.yaml").write_text(
        "taxonomies: {bank.yaml: {targets: {python: src/placed_errors/of_bank}}}\n"
    )
    faultspec("compile", cwd=repository)
    monkeypatch.syspath_prepend(repository / "src")
    package = import_module("placed_errors.of_bank")
    assert package.ErrorCode.NOT_FOUND.value == "not_found"
    assert import_module("placed_errors.of_bank.asgi").ErrorBoundary


def test_the_bytes_are_the_same_from_any_folder(repository: Path) -> None:
    """The working directory changes no generated byte, with and without the name of a taxonomy."""
    faultspec("compile", cwd=repository)
    first = tree(repository)
    assert b"Generated from shop/errors.yaml" in first["src/shop/errors/codes.py"]
    below = repository / "deep" / "down"
    for arguments in ((), ("../../bank.yaml",)):
        for path in tree(repository):
            if path.startswith("bank/"):
                (repository / path).unlink()
        assert faultspec("compile", *arguments, cwd=below).returncode == 0
        assert tree(repository) == first
    assert faultspec("compile", "--check", cwd=below).returncode == 0


def test_check_reports_each_folder(repository: Path) -> None:
    """A change in any folder fails the check, which names the file from the working directory."""
    faultspec("compile", cwd=repository)
    (repository / "web/src/errors/codes.ts").write_text("")
    (repository / "bank/generated/MANIFEST").unlink()
    below = repository / "deep"
    done = faultspec("compile", "--check", cwd=below)
    assert done.returncode == 1
    assert "modified: ../web/src/errors/codes.ts\n" in done.stdout
    assert "missing: ../bank/generated/MANIFEST\n" in done.stdout
    found = json.loads(faultspec("compile", "--check", "--format", "json", cwd=below).stdout)
    assert "../web/src/errors/codes.ts" in json.dumps(found)


def test_arguments_win(repository: Path) -> None:
    """Taxonomy, target, folder and templates of the command line come before those of the file."""
    assert faultspec("compile", "bank.yaml", "--target", "markdown", cwd=repository).returncode == 0
    assert sorted(tree(repository / "bank")) == [
        "generated/MANIFEST",
        "generated/markdown/reference.md",
    ]
    assert not (repository / "src").exists()
    done = faultspec("compile", "shop/errors.yaml", "--out", "other", cwd=repository)
    assert done.returncode == 0
    assert {path.split("/")[0] for path in tree(repository / "other")} == {
        "MANIFEST",
        "python",
        "typescript",
    }
    assert not (repository / "src").exists()
    (repository / "mine" / "markdown").mkdir(parents=True)
    (repository / "mine/markdown/reference.md.jinja").write_text("mine\n")
    text = PROJECT + "    templates: nowhere\n"
    (repository / "faultspec.yaml").write_text(text.replace("nowhere", "mine"))
    faultspec("compile", "bank.yaml", cwd=repository)
    assert (repository / "bank/generated/markdown/reference.md").read_text() == "mine\n"
    (repository / "yours" / "markdown").mkdir(parents=True)
    (repository / "yours/markdown/reference.md.jinja").write_text("yours\n")
    faultspec("compile", "bank.yaml", "--templates", "yours", cwd=repository)
    assert (repository / "bank/generated/markdown/reference.md").read_text() == "yours\n"


def test_a_taxonomy_outside_the_file_is_compiled_as_without_it(repository: Path) -> None:
    """The folders of the file are those of its own taxonomies."""
    (repository / "deep" / "new.yaml").write_text(TAXONOMY.replace("NAME", "new"))
    assert faultspec("compile", "new.yaml", cwd=repository / "deep").returncode == 0
    text = (repository / "deep/generated/python/new_errors/codes.py").read_text()
    assert "Generated from deep/new.yaml" in text
    assert not (repository / "src").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "x"), "--out is the folder of one taxonomy"),
        (("--target", "nothing"), "'nothing' is not a target"),
        (("shop/errors.yaml", "--target", "openapi"), "no folder for the target openapi"),
    ],
)
def test_arguments_that_no_folder_fits_are_refused(
    repository: Path, arguments: tuple[str, ...], message: str
) -> None:
    """An argument that fits no folder is bad usage, and nothing is written."""
    done = faultspec("compile", *arguments, cwd=repository)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (repository / "src").exists()


def test_a_target_in_several_folders_is_compiled_in_each(repository: Path) -> None:
    """`--target` chooses among the folders of all taxonomies."""
    assert faultspec("compile", "--target", "python", cwd=repository).returncode == 0
    assert (repository / "src/shop/errors/codes.py").exists()
    assert (repository / "bank/generated/python/bank_errors/codes.py").exists()
    assert not (repository / "web").exists()
    done = faultspec("compile", "--check", "--target", "python", cwd=repository)
    assert done.returncode == 0
    # `out` declares all targets, so the file and not the manifest decides what is missing.
    assert faultspec("compile", "--check", cwd=repository).returncode == 1


def test_a_list_of_targets_goes_into_one_folder(repository: Path) -> None:
    """A list compiles its targets only, and a target that leaves the list leaves the folder."""
    text = "taxonomies: {bank.yaml: {targets: [python, openapi]}}\n"
    (repository / "faultspec.yaml").write_text(text)
    assert faultspec("compile", cwd=repository).returncode == 0
    assert {path.name for path in (repository / "generated").iterdir()} == {
        "MANIFEST",
        "openapi",
        "python",
    }
    assert faultspec("compile", "--check", cwd=repository).returncode == 0
    (repository / "faultspec.yaml").write_text(text.replace("python, ", ""))
    assert faultspec("compile", "--check", cwd=repository).returncode == 1
    assert faultspec("compile", cwd=repository).returncode == 0
    assert not (repository / "generated" / "python").exists()


def test_out_takes_the_targets_without_a_folder(repository: Path) -> None:
    """With `targets` and `out`, each target is in one place."""
    (repository / "faultspec.yaml").write_text(
        "taxonomies: {bank.yaml: {targets: {python: src/bank}, out: generated}}\n"
    )
    assert faultspec("compile", cwd=repository).returncode == 0
    assert (repository / "src/bank/codes.py").exists()
    assert (repository / "generated/typescript").exists()
    assert not (repository / "generated/python").exists()
    assert faultspec("compile", "--check", cwd=repository).returncode == 0


def test_files_of_others_in_a_declared_folder_stay(repository: Path) -> None:
    """A folder of one target may have other files: they are not drift, and a file that no compile
    wrote is never overwritten or removed.
    """
    folder = repository / "src/shop/errors"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text("mine")
    (folder / "errors.py").write_text("mine too")
    before = tree(folder)
    done = faultspec("compile", "--target", "python", cwd=repository)
    assert done.returncode == 2
    assert "src/shop/errors/errors.py: error: no compile wrote this file" in done.stderr
    assert tree(folder) == before
    (folder / "errors.py").unlink()
    assert faultspec("compile", cwd=repository).returncode == 0
    assert faultspec("compile", "--check", cwd=repository).returncode == 0
    assert (folder / "mine.py").read_text() == "mine"


def test_a_stale_file_of_a_declared_folder_is_removed(repository: Path) -> None:
    """The manifest of the folder lists what a later compile may remove."""
    faultspec("compile", cwd=repository)
    manifest = repository / "web/src/errors/MANIFEST"
    old = manifest.with_name("old.ts")
    old.write_text("")
    manifest.write_text(manifest.read_text() + "old.ts\n")
    done = faultspec("compile", "--check", cwd=repository)
    assert "stale: web/src/errors/old.ts" in done.stdout
    assert faultspec("compile", cwd=repository).returncode == 0
    assert not old.exists()


def test_a_taxonomy_with_errors_stops_all(repository: Path) -> None:
    """Every taxonomy is read before the first folder is written."""
    (repository / "bank.yaml").write_text("faultspec: 1\n")
    done = faultspec("compile", cwd=repository)
    assert done.returncode == 2
    assert "bank.yaml" in done.stderr
    assert not (repository / "src").exists()


# Attributes of git


def test_generated_folders_are_marked_where_asked(repository: Path) -> None:
    """git reads the lines of the block as written for, the other lines stay, and the check reports
    a block that is out of date.
    """
    (repository / ".git").rmdir()
    subprocess.run(["git", "init", "-q", "."], cwd=repository, check=True)
    odd = 'we b/[x]*\\"q'
    text = "gitattributes: true\ntaxonomies: {bank.yaml: {targets: {python: bank/err}}}\n"
    (repository / "faultspec.yaml").write_text(text)
    mine = b"*.png binary\r\n\x0c# \xff mine"
    (repository / ".gitattributes").write_bytes(mine)
    assert faultspec("compile", "--check", cwd=repository).returncode == 1
    assert (repository / ".gitattributes").read_bytes() == mine
    assert faultspec("compile", cwd=repository).returncode == 0
    assert (repository / ".gitattributes").read_bytes().startswith(mine)
    done = faultspec("compile", "--check", cwd=repository / "deep")
    assert done.returncode == 0
    marked = mark_folders("", ["bank/err", odd], "x")
    assert isinstance(marked, str)
    (repository / ".gitattributes").write_text(marked)
    for path, value in (
        ("bank/err/codes.py", "set"),
        ("bank/err/_runtime/ids.py", "set"),
        (f"{odd}/a.ts", "set"),
        ("we b/xy/a.ts", "unspecified"),
        ("bank/codes.py", "unspecified"),
        ("other/bank/err/codes.py", "unspecified"),
    ):
        shown = subprocess.run(
            ["git", "check-attr", "-z", "linguist-generated", "--", path],
            cwd=repository,
            capture_output=True,
            text=True,
            check=True,
        )
        assert shown.stdout.split("\0")[2] == value, path
    done = faultspec("compile", "--check", cwd=repository)
    assert done.returncode == 1
    assert "modified: .gitattributes" in done.stdout


def test_without_the_key_no_attributes_are_written(repository: Path) -> None:
    """The file is written only where the project asks for it, and not with `--out`."""
    faultspec("compile", cwd=repository)
    assert not (repository / ".gitattributes").exists()
    (repository / "faultspec.yaml").write_text(PROJECT + "gitattributes: true\n")
    faultspec("compile", "bank.yaml", "--out", "x", cwd=repository)
    assert not (repository / ".gitattributes").exists()


def test_a_block_is_replaced_in_its_place() -> None:
    """A second marking changes nothing; other folders replace the lines; line ends stay."""
    first = mark_folders("a\r\n", ["one"], "x")
    assert isinstance(first, str)
    assert mark_folders(first + "b\r\n", ["one"], "x") == first + "b\r\n"
    second = mark_folders(first + "b\r\n", ["two", "two"], "x")
    assert isinstance(second, str)
    assert second == first.replace("/one/", "/two/") + "b\r\n"
    assert "\n" not in second.replace("\r\n", "")


@pytest.mark.parametrize("lost", [0, -1])
def test_half_a_block_is_refused(repository: Path, lost: int) -> None:
    """A block without its beginning or end is not guessed at: nothing is written."""
    (repository / "faultspec.yaml").write_text(PROJECT + "gitattributes: true\n")
    whole = mark_folders("", ["one"], "x")
    assert isinstance(whole, str)
    lines = whole.splitlines()
    del lines[lost]
    (repository / ".gitattributes").write_text("\n".join(lines))
    before = tree(repository)
    done = faultspec("compile", cwd=repository)
    assert done.returncode == 2
    assert ".gitattributes:" in done.stderr
    assert "[broken-block]" in done.stderr
    assert tree(repository) == before


# Linting


def severities(repository: Path, *arguments: str) -> list[str]:
    """The severities of the remarks of `RULE` by a lint in a folder below."""
    done = faultspec("lint", "--format", "json", *arguments, cwd=repository / "deep")
    found = json.loads(done.stdout)["diagnostics"]
    return [entry["severity"] for entry in found if entry["code"] == RULE]


def test_lint_checks_every_taxonomy_with_the_severities_of_the_file(repository: Path) -> None:
    """A severity of the file replaces that of the rule, `off` silences it, and `--strict` and the
    exit code follow.
    """
    assert severities(repository) == [SEVERITY, SEVERITY]
    assert severities(repository, "../bank.yaml") == [SEVERITY]
    for severity, plain, strict in (("error", 1, 1), ("warning", 0, 1), ("note", 0, 0)):
        (repository / "faultspec.yaml").write_text(
            f"{PROJECT}lint: {{{RULE}: {severity}, {OTHERS}}}\n"
        )
        assert severities(repository) == [severity, severity]
        assert faultspec("lint", cwd=repository).returncode == plain
        assert faultspec("lint", "--strict", cwd=repository).returncode == strict
    (repository / "faultspec.yaml").write_text(f"{PROJECT}lint: {{{RULE}: off}}\n")
    assert severities(repository) == []


def test_a_rule_that_is_off_fixes_nothing(repository: Path) -> None:
    """`lint --fix` repairs what lint reports."""
    path = repository / "bank.yaml"
    suppressed = "404,  # faultspec: ignore[ambiguous-status] an old reason\n    retriable"
    path.write_text(path.read_text().replace("404, retriable", suppressed, 1))
    before = path.read_text()
    (repository / "faultspec.yaml").write_text(f"{PROJECT}lint: {{unused-suppression: off}}\n")
    faultspec("lint", "--fix", cwd=repository)
    assert path.read_text() == before
    (repository / "faultspec.yaml").write_text(PROJECT)
    faultspec("lint", "--fix", cwd=repository)
    assert "ignore" not in path.read_text()


# Judging


def test_conform_judges_by_the_files_of_the_project(repository: Path) -> None:
    """Conformance files are judged in turn, from any folder. A report or a shard needs one file."""
    for name in ("one", "two"):
        (repository / f"{name}.yaml").write_text(
            "taxonomy: bank.yaml\ntarget: {http: 'http://127.0.0.1:9'}\n"
        )
    (repository / "faultspec.yaml").write_text(PROJECT + "conformance: [one.yaml, two.yaml]\n")
    done = faultspec("conform", "--no-sweep", cwd=repository / "deep")
    assert done.returncode == 2
    assert "../one.yaml:" in done.stderr
    assert "../two.yaml:" in done.stderr
    assert done.stderr.count("unreachable") == 2
    done = faultspec("conform", "--report", "json=x.json", cwd=repository)
    assert done.returncode == 2
    assert "name one of one.yaml, two.yaml" in " ".join(done.stderr.split())
    (repository / "faultspec.yaml").write_text(PROJECT + "conformance: one.yaml\n")
    done = faultspec("conform", "--no-sweep", "--format", "json", cwd=repository)
    assert done.stderr.count("unreachable") == 1


def test_a_url_is_judged_by_the_only_taxonomy(repository: Path) -> None:
    """Without `--taxonomy`, the taxonomy of a URL is that of a project with one."""
    (repository / "faultspec.yaml").write_text("taxonomies: [bank.yaml]\n")
    done = faultspec("conform", "http://127.0.0.1:9", cwd=repository / "deep")
    assert "unreachable" in done.stderr
    (repository / "faultspec.yaml").write_text(PROJECT)
    done = faultspec("conform", "http://127.0.0.1:9", cwd=repository / "deep")
    assert "--taxonomy" in done.stderr


# Comparing


def commit_base(repository: Path) -> None:
    """Make the folder a repository with one commit on the branch `base`."""
    (repository / ".git").rmdir()
    for command in (
        ("init", "-q", "-b", "base", "."),
        ("add", "."),
        ("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "base"),
    ):
        subprocess.run(["git", *command], cwd=repository, check=True)


def test_diff_compares_with_the_revision_of_the_file(repository: Path) -> None:
    """Without arguments every taxonomy is compared with itself at `against`. Arguments win."""
    (repository / "faultspec.yaml").write_text(PROJECT + "against: base\n")
    commit_base(repository)
    below = repository / "deep"
    done = faultspec("diff", cwd=below)
    assert done.returncode == 0
    assert "../shop/errors.yaml:" in done.stderr
    assert "../bank.yaml:" in done.stderr
    path = repository / "bank.yaml"
    path.write_text(path.read_text().replace("http: 404", "http: 410"))
    done = faultspec("diff", cwd=below)
    assert done.returncode == 1
    assert "bank.yaml" in done.stdout
    assert "shop" not in done.stdout
    assert faultspec("diff", "../shop/errors.yaml", cwd=below).returncode == 0
    assert json.loads(faultspec("diff", "--format", "json", "../bank.yaml", cwd=below).stdout)
    assert faultspec("diff", "../bank.yaml", "../bank.yaml", cwd=below).returncode == 0
    assert faultspec("diff", "--against", "nowhere", cwd=below).returncode == 2
    done = faultspec("diff", "--format", "json", cwd=below)
    assert (done.returncode, done.stdout) == (2, "")
    assert "name one of ../shop/errors.yaml, ../bank.yaml" in " ".join(done.stderr.split())
    (repository / "faultspec.yaml").write_text(PROJECT)
    assert faultspec("diff", cwd=below).returncode == 2


def test_diff_accepts_by_the_ledger_of_each_taxonomy(repository: Path) -> None:
    """Each taxonomy is compared with its own ledger: what it accepts fails no longer, and a stale
    entry fails. `--ledger` wins.
    """
    empty, bank = "accepted: []\n", repository / "bank.yaml"
    (repository / "shop" / "accepted.yaml").write_text(empty)
    (repository / "accepted.yaml").write_text(empty)
    (repository / "faultspec.yaml").write_text(
        """\
taxonomies:
  shop/errors.yaml: {ledger: shop/accepted.yaml}
  bank.yaml: {ledger: accepted.yaml}
against: base
"""
    )
    commit_base(repository)
    bank.write_text(bank.read_text().replace("http: 404", "http: 410").replace("1.0.0", "2.0.0"))
    below = repository / "deep"
    done = faultspec("diff", cwd=below)
    assert done.returncode == 1
    found = json.loads(faultspec("diff", "--format", "json", "../bank.yaml", cwd=below).stdout)
    entries = [
        f'- {{change: "{change["fingerprint"]}", reason: r, owner: o}}\n'
        for change in found["changes"]
        if change["severity"] == "breaking"
    ]
    (repository / "accepted.yaml").write_text("accepted:\n" + "".join(entries))
    assert faultspec("diff", cwd=below).returncode == 0
    assert faultspec("diff", "../bank.yaml", cwd=below).returncode == 0
    done = faultspec("diff", "--ledger", "../shop/accepted.yaml", "../bank.yaml", cwd=below)
    assert done.returncode == 1
    (repository / "shop" / "accepted.yaml").write_text("accepted:\n" + "".join(entries))
    done = faultspec("diff", cwd=below)
    assert done.returncode == 1
    assert "../shop/accepted.yaml:2:" in done.stdout
    assert "[stale-acceptance]" in done.stdout


def test_the_only_taxonomy_has_the_ledger_of_the_file(repository: Path) -> None:
    """`ledger` beside `taxonomies` is that of the only taxonomy."""
    (repository / "accepted.yaml").write_text("accepted: []\n")
    (repository / "faultspec.yaml").write_text("taxonomies: [bank.yaml]\nledger: accepted.yaml\n")
    project = read_project(str(repository / "faultspec.yaml")).project
    assert project is not None
    assert [taxonomy.ledger for taxonomy in project.taxonomies] == ["accepted.yaml"]


# Other commands


def test_a_changelog_has_a_section_for_each_taxonomy(repository: Path) -> None:
    """Without arguments each taxonomy is compared with itself at `against`, and its section names
    it. An argument chooses one; a missing revision is asked for.
    """
    (repository / "faultspec.yaml").write_text(PROJECT + "against: base\n")
    commit_base(repository)
    bank = repository / "bank.yaml"
    bank.write_text(bank.read_text().replace("http: 404", "http: 410").replace("1.0.0", "2.0.0"))
    below = repository / "deep"
    done = faultspec("changelog", cwd=below)
    assert done.returncode == 0
    assert done.stdout.startswith(
        "## `../shop/errors.yaml` 1.0.0\n\nNo change of the taxonomy.\n\n"
    )
    assert "## `../bank.yaml` 2.0.0\n\n### Breaking\n" in done.stdout
    one = faultspec("changelog", "../bank.yaml", cwd=below).stdout
    assert one.startswith("## 2.0.0\n")
    assert faultspec("changelog", "--since", "nowhere", cwd=below).returncode == 2
    (repository / "faultspec.yaml").write_text(PROJECT)
    done = faultspec("changelog", cwd=below)
    assert done.returncode == 2
    assert "--since REV" in done.stderr
    assert faultspec("changelog", "--since", "base", cwd=below).returncode == 0


def test_explain_knows_the_codes_of_every_taxonomy(repository: Path) -> None:
    """A code is explained by each taxonomy of the project that has it; a rule is explained once.
    An argument chooses the taxonomy. What could not be read is named for an unknown name only.
    """
    bank = repository / "bank.yaml"
    bank.write_text(bank.read_text().replace("  missing:", "  overdrawn:"))
    below = repository / "deep"
    done = faultspec("explain", "overdrawn", cwd=below)
    assert (done.returncode, done.stdout.count("of the taxonomy `bank`")) == (0, 1)
    both = faultspec("explain", "not_found", cwd=below).stdout
    assert "of the taxonomy `shop`" in both
    assert "of the taxonomy `bank`" in both
    assert faultspec("explain", "code/status", cwd=below).stdout.count("code/status: a rule") == 1
    shop = ("--taxonomy", "../shop/errors.yaml")
    assert faultspec("explain", *shop, "overdrawn", cwd=below).returncode == 1
    bank.write_text("codes: [")
    assert faultspec("explain", "not_found", cwd=below).returncode == 0
    done = faultspec("explain", "overdrawn", cwd=below)
    assert done.returncode == 2
    assert "../bank.yaml could not be read" in done.stderr
    (repository / "faultspec.yaml").write_text("taxonomies: {")
    assert faultspec("explain", "code/status", cwd=below).returncode == 0
    done = faultspec("explain", "overdrawn", cwd=below)
    assert done.returncode == 2
    assert "faultspec.yaml could not be read" in done.stderr


def test_serve_takes_the_only_taxonomy(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`serve` loads the only taxonomy of the project, from every folder. Of several one has to be
    named.
    """
    done = faultspec("serve", cwd=repository / "deep")
    assert done.returncode == 2
    assert "TAXONOMY: ../shop/errors.yaml, ../bank.yaml" in " ".join(done.stderr.split())
    (repository / "faultspec.yaml").write_text("taxonomies: [bank.yaml]\n")
    monkeypatch.chdir(repository / "deep")
    assert load_taxonomy(None).name == "bank"


# Mistakes

MISTAKES = {
    "unknown-key": ("agianst: main", 1, 1, "did you mean `against`?"),
    "bad-value": ("lint: {ambiguous-status: of}", 1, 26, "did you mean `off`?"),
    "wrong-type": ("gitattributes: please", 1, 16, "`gitattributes`"),
    "unknown-rule": ("lint: {ambigous-status: off}", 1, 8, "did you mean `ambiguous-status`?"),
    "unknown-target": (
        "taxonomies: {bank.yaml: {targets: {pyhton: x}}}",
        1,
        36,
        "did you mean `python`?",
    ),
    "file-not-found": ("conformance: [nowhere.yaml]", 1, 15, "relative to the folder"),
    "ambiguous-ledger": (
        "ledger: bank.yaml\ntaxonomies: [bank.yaml, shop/errors.yaml]",
        1,
        1,
        "under",
    ),
    "duplicate-ledger": (
        "taxonomies: {bank.yaml: {ledger: l}, shop/errors.yaml: {ledger: ./l}}",
        1,
        65,
        "its own",
    ),
    "duplicate-taxonomy": ("taxonomies: [bank.yaml, ./bank.yaml]", 1, 25, "keep one"),
    "duplicate-key": ("against: a\nagainst: b", 2, 1, ""),
    "folder-outside-project": ("taxonomies: {bank.yaml: {out: ../x}}", 1, 31, "project file up"),
    "bad-package-name": (
        "taxonomies: {bank.yaml: {targets: {python: src/my-app}}}",
        1,
        44,
        "by its name",
    ),
    "yaml-syntax": ("taxonomies: {", 1, 13, ""),
    "empty-document": ("# nothing", 1, 1, ""),
}


@pytest.mark.parametrize("code", MISTAKES)
@pytest.mark.parametrize("command", ["compile", "lint", "diff", "conform", "changelog", "serve"])
def test_a_mistake_is_refused_with_its_place(repository: Path, command: str, code: str) -> None:
    """Every command that reads the file reports a mistake with file, line, column and remedy; it
    exits with 2 and writes nothing.
    """
    text, line, column, hint = MISTAKES[code]
    if "taxonomies" not in text and not text.startswith("#"):
        text += "\ntaxonomies: [bank.yaml]"
    (repository / "faultspec.yaml").write_text(text + "\n")
    before = tree(repository)
    done = faultspec(command, cwd=repository / "deep")
    assert done.returncode == 2
    assert f"../faultspec.yaml:{line}:{column}: error: " in done.stdout + done.stderr
    assert f"[{code}]" in done.stdout + done.stderr
    assert hint in done.stdout + done.stderr
    assert tree(repository) == before


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ("{out: a}", "{out: a}", True),
        ("{out: a}", "{out: ./b/../a}", True),
        ("{out: a}", "{out: A}", True),
        ("{out: a}", "{out: a/python}", True),
        ("{out: a/python}", "{out: a}", True),
        ("{targets: {python: a/b}}", "{out: a}", True),
        ("{targets: {python: a}}", "{out: a/b}", True),
        ("{targets: {python: a}}", "{targets: {python: a}}", True),
        ("{targets: {python: a, openapi: a}}", "{out: b}", True),
        ("{targets: {python: a}}", "{targets: {python: link}}", True),
        ("{targets: {python: a, openapi: a/api}}", "{out: b}", False),
        ("{out: a}", "{out: ab}", False),
    ],
)
def test_two_outputs_never_share_a_folder(
    repository: Path, first: str, second: str, clash: bool
) -> None:
    """Two outputs in one folder, or one in the folder of all targets of another, are an error at
    the second, which shows the first. Folders of single targets may lie in each other.
    """
    (repository / "a").mkdir()
    (repository / "link").symlink_to("a")
    file = repository / "faultspec.yaml"
    file.write_text(f"taxonomies:\n  bank.yaml: {first}\n  shop/errors.yaml: {second}\n")
    loaded = read_project(str(file))
    assert [found.code for found in loaded.diagnostics] == ["shared-folder"] * clash
    assert all(found.related and found.span for found in loaded.diagnostics)
    assert (loaded.project is None) == clash


def test_each_folder_is_refused_once_in_linear_work(tmp_path: Path) -> None:
    """However many outputs share a folder, each is one error beside the first, and twice as many
    are twice the work.
    """

    def check(count: int) -> int:
        names = "".join(f"  - t{number}.yaml\n" for number in range(count))
        (tmp_path / "faultspec.yaml").write_text(f"taxonomies:\n{names}")
        return work(lambda: read_project(str(tmp_path / "faultspec.yaml")))

    for number in range(400):
        (tmp_path / f"t{number}.yaml").touch()
    half, one, two = map(check, (100, 200, 400))
    assert two - one <= MOST * (one - half)
    found = read_project(str(tmp_path / "faultspec.yaml")).diagnostics
    assert [each.code for each in found] == ["shared-folder"] * 399
    assert {each.related[0].span for each in found if each.related} == {found[0].related[0].span}


@pytest.mark.parametrize(
    ("targets", "refused"),
    [
        ("{python: src/my-app}", True),
        ("{python: src/class}", True),
        ("{python: src/2fa}", True),
        ("{python: my-app/errors}", False),
        ("{python: src/_errors2}", False),
        ("{typescript: web/my-app}", False),
        ("[python]", False),
    ],
)
def test_a_python_package_can_be_imported(repository: Path, targets: str, refused: bool) -> None:
    """The folder of the Python target has a name that `import` takes. Other folders are free."""
    file = repository / "faultspec.yaml"
    file.write_text(f"taxonomies: {{bank.yaml: {{targets: {targets}}}}}\n")
    found = [diagnostic.code for diagnostic in read_project(str(file)).diagnostics]
    assert found == ["bad-package-name"] * refused


@pytest.mark.parametrize("folder", ["link/x", ".git/hooks", "inner"])
def test_a_link_out_of_the_project_is_an_output_outside(repository: Path, folder: str) -> None:
    """A folder counts by its real place, and that of git is none."""
    (repository / "link").symlink_to(repository.parent)
    (repository / "inner").symlink_to(".git")
    file = repository / "faultspec.yaml"
    file.write_text(f"taxonomies: {{bank.yaml: {{out: {folder}}}}}\n")
    assert [found.code for found in read_project(str(file)).diagnostics] == [
        "folder-outside-project"
    ]


def test_a_sibling_whose_name_differs_in_case_is_outside(repository: Path) -> None:
    """Names that some file systems take for one are two folders where they are real."""
    repository = repository / "repo"
    (repository / "generated").mkdir(parents=True)
    (repository.parent / "REPO").mkdir()
    (repository / "bank.yaml").write_text("")
    file = repository / "faultspec.yaml"
    file.write_text("taxonomies: {bank.yaml: {out: ../REPO/generated}}\n")
    assert [found.code for found in read_project(str(file)).diagnostics] == [
        "folder-outside-project"
    ]


# Reading


def test_a_project_is_a_value() -> None:
    """Each key of the file is a field; what the file leaves out has the default of the commands."""
    document, _ = parse(
        PROJECT + "against: origin/main\nconformance: c.yaml\nlint: {a: off}\n", "up/faultspec.yaml"
    )
    assert document is not None
    project = parse_project(document).project
    assert project is not None
    assert (project.against, project.conformance) == ("origin/main", ("c.yaml",))
    assert project.severities == {"a": "off"}
    assert project.taxonomies[0].destinations == (
        Destination("src/shop/errors", "python"),
        Destination("web/src/errors", "typescript"),
    )
    assert project.taxonomies[1].destinations == (Destination("bank/generated"),)
    assert project.locate("a/../b") == str(Path("up/b"))
    document, _ = parse("gitattributes: false\n", "faultspec.yaml")
    assert document is not None
    project = parse_project(document).project
    assert project is not None
    assert [taxonomy.path for taxonomy in project.taxonomies] == ["taxonomy.yaml"]
    assert project.output_folders() == ("generated",)
    assert (project.against, project.conformance, project.gitattributes) == (None, (), False)


def test_init_creates_a_project_that_works(tmp_path: Path) -> None:
    """The starter is valid, names its schema, and is never written over another file."""
    assert faultspec("init", cwd=tmp_path).returncode == 0
    assert faultspec("init", "project", cwd=tmp_path).returncode == 0
    assert (tmp_path / "faultspec.yaml").read_text().startswith("# yaml-language-server: $schema=")
    assert (tmp_path / "project.schema.json").read_text() == (
        ROOT / "docs" / "project.schema.json"
    ).read_text()
    for command in (["lint"], ["compile"], ["compile", "--check"]):
        assert faultspec(*command, cwd=tmp_path).returncode == 0
    assert faultspec("init", "project", cwd=tmp_path).returncode == 2


def test_the_repository_has_a_project() -> None:
    """The project file of the repository lists every taxonomy that has generated files."""
    loaded = read_project(str(ROOT / "faultspec.yaml"))
    assert loaded.project is not None, loaded.diagnostics
    manifests = [path.relative_to(ROOT) for path in ROOT.glob("**/generated/MANIFEST")]
    # `make demo` and `make real` compile into the folders that `.gitignore` names.
    ignored = {".cache", ".venv", "reports"}
    assert {Path(taxonomy.path).parent for taxonomy in loaded.project.taxonomies} == {
        path.parent.parent for path in manifests if path.parts[0] not in ignored
    }


@pytest.mark.parametrize(
    ("settings", "code", "column"),
    [
        ("{dialect: oracle}", "bad-value", 20),
        ("{dialect: spark, record: access}", "bad-record", 35),
        ("{record: wrapped}", "bad-record", 19),
        ("{table: 'a b'}", "bad-value", 18),
        ("{column: a}", "unknown-key", 11),
    ],
)
def test_settings_of_views_are_checked(
    settings: str, code: str, column: int, tmp_path: Path
) -> None:
    """A dialect, a table or a kind of records that cannot be is reported at its place, and nothing
    is written.
    """
    records = "telemetry: {records: {wrapped: {unwrap: /log, status: /status, url: /url}}}\n"
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY.replace("NAME", "shop") + records)
    (tmp_path / "faultspec.yaml").write_text(
        f"taxonomies:\n  taxonomy.yaml:\n    targets: [sql]\n    sql: {settings}\n"
    )
    done = faultspec("compile", cwd=tmp_path)
    assert done.returncode == 2
    assert f"faultspec.yaml:4:{column}: error:" in done.stdout + done.stderr
    assert f"[{code}]" in done.stdout + done.stderr
    assert not (tmp_path / "generated").exists()
