"""Laws of `faultspec diff` and `faultspec changelog`."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import date
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from faultspec.diagnostics.model import Diagnostic
from faultspec.diagnostics.printers import PRINTERS
from faultspec.evolution.compare import compare, compare_first
from faultspec.evolution.ledger import AcceptedChange, fingerprint
from faultspec.evolution.limit import LIMITS
from faultspec.evolution.report import (
    EvolutionReport,
    as_data,
    as_diagnostics,
    as_markdown,
    describe_verdict,
)
from faultspec.language import load, read
from paths import ROOT
from support.command_line import faultspec

BASE = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
extensible: [codes]
envelopes:
  error: {shape: {code: $code, message: $message}}
surfaces:
  api: {transport: http, envelope: error, codes: closed}
codes:
  missing: {summary: It does not exist., http: 404, retriable: false}
  busy: {summary: It is busy., http: 503, retriable: true}
"""
OVERLAY = "faultspec: 1\nextends: ../base.yaml\ntaxonomy: {name: orders, version: 1.0.0}\n"
BREAKING = BASE.replace("http: 404", "http: 410")
RISKY = BASE.replace("retriable: false", "retriable: true")
SAFE = BASE.replace("It is busy.", "Too much to do.")
SCHEMA = json.loads((ROOT / "compiler/faultspec/evolution/report.schema.json").read_text())

#: Git as on a machine without any configuration.
QUIET: Mapping[str, str] = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str) -> str:
    """The output of a git command that succeeds."""
    command = ("git", "-C", str(folder), *arguments)
    environment = {**os.environ, **QUIET}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a release, a broken revision, and a breaking change since."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "orders").mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")

    def commit(message: str, **texts: str) -> None:
        for name, text in texts.items():
            (folder / name.replace("__", "/")).with_suffix(".yaml").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", message)

    commit("broken", base="faultspec: 1\ntaxonomy: {name: shop, version: 1.0.0, nam: x}\n")
    git(folder, "tag", "broken")
    commit("release", base=BASE, orders__errors=OVERLAY)
    git(folder, "tag", "v1.0.0")
    git(folder, "branch", "release")
    commit("change", base=BREAKING, new=BASE)
    return folder


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A folder with an old taxonomy and one new one of each severity."""
    for name, text in (("old", BASE), ("breaking", BREAKING), ("risky", RISKY), ("safe", SAFE)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def fingerprints(folder: Path, new: str = "breaking.yaml") -> list[str]:
    """The fingerprints of the changes from the old taxonomy to another one."""
    done = faultspec("diff", "old.yaml", new, "--format", "json", cwd=folder)
    return [change["fingerprint"] for change in json.loads(done.stdout)["changes"]]


# Revisions


@pytest.mark.parametrize("kind", ["branch", "tag", "commit"])
def test_a_revision_has_any_name_of_git(repository: Path, kind: str) -> None:
    """A branch, a tag and a commit name a revision."""
    names = {"branch": "release", "tag": "v1.0.0", "commit": git(repository, "rev-parse", "HEAD~1")}
    done = faultspec("diff", "base.yaml", "--against", names[kind], cwd=repository)
    assert done.returncode == 1
    assert "the status of `missing` is 410 in place of 404" in done.stdout
    assert "a major version is due: 2.0.0, and the declared version is 1.0.0" in done.stderr


def test_the_bases_are_those_of_the_revision(repository: Path) -> None:
    """A change of an extended file is a change of the taxonomy that extends it, from whatever
    folder the command is started."""
    for folder, path in (
        (repository, "orders/errors.yaml"),
        (repository / "orders", "errors.yaml"),
    ):
        done = faultspec("diff", path, "--against", "v1.0.0", cwd=folder)
        assert done.returncode == 1
        assert "the status of `missing` is 410 in place of 404" in done.stdout


def test_a_base_outside_the_repository_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base outside the repository has no content at a revision. No other file is read in its
    place: not the one of today, and none beside the temporary files of the command."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "planted"))
    (tmp_path / "home" / "outside").mkdir(parents=True)
    (tmp_path / "planted" / "outside").mkdir(parents=True)
    for folder in ("home", "planted"):
        (tmp_path / folder / "outside" / "base.yaml").write_text(BASE)
    work = tmp_path / "home" / "work"
    git(tmp_path, "clone", "--quiet", str(repository), str(work))
    for base in (str(tmp_path / "home/outside/base.yaml"), "../outside/base.yaml"):
        (work / "above.yaml").write_text(OVERLAY.replace("../base.yaml", base))
        git(work, "add", ".")
        git(work, "commit", "--quiet", "--message", "above")
        done = faultspec("diff", "above.yaml", "--against", "HEAD", cwd=work)
        assert (done.returncode, done.stdout) == (2, "")
        assert "[bad-base]" in done.stderr


def test_an_unchanged_revision_has_no_changes(repository: Path) -> None:
    """The taxonomy of the last commit equals the one of the working tree."""
    done = faultspec("diff", "base.yaml", "--against", "HEAD", cwd=repository)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no changes; no version is due" in done.stderr


def test_a_new_file_adds_everything(repository: Path) -> None:
    """A file that did not exist at the revision has only additions, whatever it is."""
    arguments = ("diff", "new.yaml", "--against", "v1.0.0", "--format", "json")
    done = faultspec(*arguments, cwd=repository)
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["old"] == {"taxonomy": "v1.0.0:new.yaml", "version": "0.0.0"}
    assert "codes.missing" in {place for change in report["changes"] for place in change["places"]}
    assert {change["severity"] for change in report["changes"]} == {"safe"}


@pytest.mark.parametrize(
    "path", [ROOT / "taxonomy.yaml", *sorted(ROOT.glob("examples/*/taxonomy.yaml"))], ids=str
)
def test_the_first_version_breaks_nothing(path: Path) -> None:
    """A taxonomy with any construct is compared with nothing: all is an addition."""
    taxonomy = load(str(path)).taxonomy
    assert taxonomy is not None
    comparison = compare_first(taxonomy, date(2026, 1, 1))
    assert comparison.changes
    assert {(change.severity, change.breaks) for change in comparison.changes} == {("safe", ())}
    assert comparison.old_version == "0.0.0"


def test_a_base_without_a_past_is_refused(tmp_path: Path) -> None:
    """A base that is missing at the revision, absolute, outside the repository or of a submodule
    ends the command with 2: the taxonomy is not taken for a new one.
    """
    outside = tmp_path / "outside.yaml"
    outside.write_text(BASE)
    folder = tmp_path / "repository"
    inner = folder / "inner"
    inner.mkdir(parents=True)
    (inner / "base.yaml").write_text(BASE)
    git(inner, "init", "--quiet")
    git(inner, "add", ".")
    git(inner, "commit", "--quiet", "--message", "inner")
    git(folder, "init", "--quiet")
    bases = {
        "missing": "late.yaml",
        "absolute": str(outside),
        "outside": "../outside.yaml",
        "submodule": "inner/base.yaml",
    }
    for name, base in bases.items():
        (folder / f"{name}.yaml").write_text(OVERLAY.replace("../base.yaml", base))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "base")
    (folder / "late.yaml").write_text(BASE)
    for name in bases:
        done = faultspec("diff", f"{name}.yaml", "--against", "HEAD", cwd=folder)
        assert (done.returncode, done.stdout) == (2, ""), name
        leaves = name in ("absolute", "outside")
        refusal = "a base lies in the same repository" if leaves else "cannot be read at HEAD"
        assert refusal in done.stderr, name
        assert leaves or "OLD NEW" in done.stderr


@pytest.mark.parametrize("link", ["inner/base.yaml", "../outside.yaml", "nowhere.yaml"])
def test_a_taxonomy_behind_a_link_without_a_file_is_refused(tmp_path: Path, link: str) -> None:
    """A taxonomy that was a link into a submodule, out of the repository or to nothing had a past,
    which git does not have: it is not taken for a new one.
    """
    (tmp_path / "outside.yaml").write_text(BASE)
    folder = tmp_path / "repository"
    inner = folder / "inner"
    inner.mkdir(parents=True)
    (inner / "base.yaml").write_text(BASE)
    for place in (inner, folder):
        git(place, "init", "--quiet")
        (place / "taxonomy.yaml").symlink_to(link)
        git(place, "add", ".")
        git(place, "commit", "--quiet", "--message", "base")
    (folder / "taxonomy.yaml").unlink()
    (folder / "taxonomy.yaml").write_text(BREAKING)
    done = faultspec("diff", "taxonomy.yaml", "--against", "HEAD", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "taxonomy.yaml cannot be read at HEAD" in done.stderr


def test_links_are_followed_as_they_were(tmp_path: Path) -> None:
    """A taxonomy, a base or a folder of either that is a link at the revision has the content that
    the link leads to, also if it is a file now, and the other way round.
    """
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "base.yaml").write_text(BASE)
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "link.yaml").symlink_to("folder/base.yaml")
    (tmp_path / "broken.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "over.yaml").write_text(OVERLAY.replace("../base.yaml", "folder/base.yaml"))
    (tmp_path / "over2.yaml").write_text(OVERLAY.replace("../base.yaml", "link.yaml"))
    (tmp_path / "file.yaml").write_text(BASE)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "base")
    for path in ("link.yaml", "over.yaml", "over2.yaml", "folder/base.yaml", "file.yaml"):
        done = faultspec("diff", path, "--against", "HEAD", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (
            0,
            f"{path}: no changes; no version is due (declared: 1.0.0)\n",
        )
    for name in ("link.yaml", "file.yaml"):
        (tmp_path / name).unlink()
    (tmp_path / "link.yaml").write_text(BREAKING)
    (tmp_path / "real" / "base.yaml").write_text(BREAKING)
    (tmp_path / "file.yaml").symlink_to("real/base.yaml")
    for path in ("link.yaml", "over.yaml", "over2.yaml", "file.yaml"):
        done = faultspec("diff", path, "--against", "HEAD", cwd=tmp_path)
        assert done.returncode == 1, path
        assert "the status of `missing` is 410 in place of 404" in done.stdout


def test_a_branch_that_moved_on_is_read_where_the_branches_part(tmp_path: Path) -> None:
    """A code that only the other branch has was not removed. The report names the commit."""
    path = tmp_path / "taxonomy.yaml"
    path.write_text(BASE)
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "base")
    start = git(tmp_path, "rev-parse", "HEAD")
    git(tmp_path, "branch", "feature")
    path.write_text(BASE + "  late: {summary: It is late., http: 504, retriable: true}\n")
    git(tmp_path, "commit", "--quiet", "--all", "--message", "main moves on")
    git(tmp_path, "switch", "--quiet", "feature")
    done = faultspec("diff", "--against", "main", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no changes" in done.stderr
    assert f"compared with the commit {start[:12]}" in done.stderr


def test_a_broken_revision_is_reported_by_its_name(repository: Path) -> None:
    """The mistakes of a taxonomy at a revision have the place REV:path."""
    done = faultspec("diff", "base.yaml", "--against", "broken", cwd=repository)
    assert (done.returncode, done.stdout) == (2, "")
    assert "broken:base.yaml:2:" in done.stderr
    assert "nam" in done.stderr
    assert "/tmp" not in done.stderr


def test_a_missing_revision_is_reported(repository: Path) -> None:
    """A revision that does not exist is an error with a remedy, and so is a name that looks like
    an option of git."""
    for revision in ("v9", "--all", "HEAD:base.yaml"):
        done = faultspec("diff", "base.yaml", f"--against={revision}", cwd=repository)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"there is no revision {revision!r}" in done.stderr
        assert "git fetch" in done.stderr


@pytest.mark.parametrize("revision", ["v1.0.0", "HEAD~1", "release", "origin/release", "commit"])
def test_the_remedy_for_a_shallow_clone_works(
    repository: Path, tmp_path: Path, revision: str
) -> None:
    """In a shallow clone the remedy for a missing revision is a command that brings it, whatever
    names it: a tag, a branch, a branch of the remote, a relative name or a commit."""
    if revision == "commit":
        revision = git(repository, "rev-parse", "v1.0.0")
    source, clone = repository.as_uri(), tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--no-tags", source, "clone")
    done = faultspec("diff", "base.yaml", "--against", revision, cwd=clone)
    assert done.returncode == 2
    remedy = re.search(r"the clone is shallow: run `git ([^`]+)`", done.stderr)
    assert remedy is not None
    git(clone, *remedy[1].split())
    done = faultspec("diff", "base.yaml", "--against", revision, cwd=clone)
    assert done.returncode == 1
    assert "the status of `missing` is 410 in place of 404" in done.stdout


@pytest.mark.parametrize("lacking", ["tree:0", "blob:none"])
def test_a_clone_that_lacks_files_is_refused(
    repository: Path, tmp_path: Path, lacking: str
) -> None:
    """A file that a partial clone cannot show has not been absent: the change of a status would
    pass as a new file. Nothing is fetched for it.
    """
    git(repository, "config", "uploadpack.allowFilter", "true")
    bare = ("--no-checkout", f"--filter={lacking}")
    git(tmp_path, "clone", "--quiet", *bare, repository.as_uri(), "clone")
    clone = tmp_path / "clone"
    (clone / "base.yaml").write_text(BREAKING)
    git(clone, "config", "remote.origin.uploadpack", "touch fetched; false")
    done = faultspec("diff", "base.yaml", "--against", "v1.0.0", cwd=clone)
    assert (done.returncode, done.stdout) == (2, "")
    assert "git cannot read" in done.stderr
    assert "the clone lacks objects" in done.stderr
    assert not (clone / "fetched").exists()


#: Files of commits that are none of a file system, or too long, with what the command says.
HOSTILE_FILES = {
    "NUL in a base": ("100644", b'extends: "a\\0b.yaml"', "cannot be read"),
    "base of 300 letters": ("100644", b"extends: " + b"x" * 300, "cannot be read"),
    "base of 100,000 folders": ("100644", b"extends: " + b"a/" * 100_000 + b"b", "cannot be read"),
    "17 MiB": ("100644", b"#" * (17 << 20), "is larger than 16 MiB"),
    "link to NUL": ("120000", b"a\0b", "cannot be read"),
    "link to 100,000 folders": ("120000", b"a/" * 100_000, "cannot be read"),
    "link to 3,000 letters": ("120000", b"x" * 3_000, "cannot be read"),
    "link of 17 MiB": ("120000", b"x" * (17 << 20), "cannot be read"),
}


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_any_commit_can_be_compared_with(repository: Path, tmp_path: Path, name: str) -> None:
    """A file that no file system has is refused, and so is one behind such a link."""
    mode, content, message = HOSTILE_FILES[name]
    git(tmp_path, "clone", "--quiet", str(repository), "clone")
    clone = tmp_path / "clone"
    (tmp_path / "content").write_bytes(content)
    blob = git(clone, "hash-object", "-w", str(tmp_path / "content"))
    git(clone, "update-index", "--cacheinfo", f"{mode},{blob},base.yaml")
    commit = git(clone, "commit-tree", git(clone, "write-tree"), "-m", "hostile")
    done = faultspec("diff", "base.yaml", "--against", commit, cwd=clone)
    assert done.returncode == 2, done.stderr
    assert "[internal-error]" not in done.stderr
    assert message in done.stderr


def test_a_machine_without_git_is_named(repository: Path, tmp_path: Path) -> None:
    """Without git, and outside a repository, the remedy is to give both files."""
    done = faultspec(
        "diff",
        "base.yaml",
        "--against",
        "v1.0.0",
        cwd=repository,
        environment={"PATH": str(tmp_path)},
    )
    assert done.returncode == 2
    assert "git is not installed" in done.stderr
    (tmp_path / "base.yaml").write_text(BASE)
    done = faultspec("diff", "base.yaml", "--against", "v1.0.0", cwd=tmp_path)
    assert done.returncode == 2
    assert "base.yaml is not in a git repository" in done.stderr
    assert "faultspec diff OLD NEW" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("old.yaml",),
        (),
        ("old.yaml", "safe.yaml", "--against", "HEAD"),
        ("old.yaml", "safe.yaml", "risky.yaml"),
        ("old.yaml", "safe.yaml", "--fail-on", "nothing"),
    ],
)
def test_wrong_arguments_are_a_usage_error(two: Path, arguments: tuple[str, ...]) -> None:
    """One file without a revision, two with one, three, and an unknown limit exit with 2."""
    done = faultspec("diff", *arguments, cwd=two)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage" in done.stderr


def test_a_taxonomy_that_cannot_be_read_is_reported(two: Path) -> None:
    """A missing or a broken file is an error in every format, and JSON output stays JSON."""
    (two / "broken.yaml").write_text("faultspec: 1\ncodes: [\n")
    for name in ("absent.yaml", "broken.yaml"):
        for arguments in (("old.yaml", name), (name, "old.yaml")):
            done = faultspec("diff", *arguments, cwd=two)
            assert (done.returncode, done.stdout) == (2, "")
            assert name in done.stderr
            done = faultspec("diff", *arguments, "--format", "json", cwd=two)
            assert done.returncode == 2
            assert name in json.dumps(json.loads(done.stdout))


def test_nothing_is_written(repository: Path) -> None:
    """The command leaves the working tree, the index and the revisions as they are."""

    def state() -> object:
        files = {p: p.stat().st_mtime_ns for p in repository.rglob("*")}
        return files, git(repository, "for-each-ref")

    before = state()
    faultspec("diff", "orders/errors.yaml", "--against", "v1.0.0", cwd=repository)
    faultspec("changelog", "base.yaml", "--since", "v1.0.0", cwd=repository)
    assert state() == before


def test_a_changelog_has_a_section_for_each_kind(repository: Path) -> None:
    """The section has the new version as its heading, and the breaking changes below theirs."""
    done = faultspec("changelog", "base.yaml", "--since", "v1.0.0", cwd=repository)
    assert done.returncode == 0
    assert done.stdout == (
        "## 1.0.0\n\n### Breaking\n\n- The status of `missing` is 410 in place of 404.\n"
    )
    done = faultspec("changelog", "base.yaml", "--since", "v9", cwd=repository)
    assert (done.returncode, done.stdout) == (2, "")


# Exit codes


@pytest.mark.parametrize(
    ("limit", "failing"),
    [
        ("breaking", {"breaking"}),
        ("risky", {"breaking", "risky"}),
        ("any", {"breaking", "risky", "safe"}),
        ("WIRE", {"breaking"}),
        ("behaviour", {"risky"}),
        ("DOC", {"safe"}),
        ("OPS", set()),
        ("SOURCE", set()),
    ],
)
def test_fail_on_is_a_limit(two: Path, limit: str, failing: set[str]) -> None:
    """A severity fails with all worse ones; a category fails with its own changes only. The version
    is high enough for all."""
    found = set()
    for severity in ("breaking", "risky", "safe"):
        text = (two / f"{severity}.yaml").read_text().replace("1.0.0", "2.0.0")
        (two / f"{severity}.yaml").write_text(text)
        done = faultspec("diff", "old.yaml", f"{severity}.yaml", "--fail-on", limit, cwd=two)
        if done.returncode:
            found.add(severity)
    assert found == failing


def test_a_version_that_is_too_low_fails(two: Path) -> None:
    """An accepted breaking change still needs a major version. A minor one is too low for it."""
    entry = f'accepted: [{{change: "{fingerprints(two)[0]}", reason: Agreed., owner: shop}}]\n'
    (two / "ledger.yaml").write_text(entry)
    for version, expected in (("1.1.0", 1), ("2.0.0", 0)):
        (two / "breaking.yaml").write_text(BREAKING.replace("1.0.0", version))
        arguments = ("diff", "old.yaml", "breaking.yaml", "--ledger", "ledger.yaml")
        done = faultspec(*arguments, cwd=two)
        assert done.returncode == expected, done.stderr
        assert "accepted by shop: Agreed." in done.stdout


# The ledger


def test_a_category_holds_the_version_too(two: Path) -> None:
    """An accepted change needs its version also where a category is the limit. A change of another
    category does not."""
    entry = f'accepted: [{{change: "{fingerprints(two)[0]}", reason: Agreed., owner: shop}}]\n'
    (two / "ledger.yaml").write_text(entry)
    for version, limit, expected in (
        ("1.1.0", "WIRE", 1),
        ("1.1.0", "DOC", 0),
        ("2.0.0", "WIRE", 0),
    ):
        (two / "breaking.yaml").write_text(BREAKING.replace("1.0.0", version))
        limits = ("--ledger", "ledger.yaml", "--fail-on", limit)
        done = faultspec("diff", "old.yaml", "breaking.yaml", *limits, cwd=two)
        assert done.returncode == expected, (version, limit)


def test_a_version_that_goes_down_fails(two: Path) -> None:
    """A lower version fails and is named, without changes and with safe ones."""
    for text in (BASE, SAFE):
        (two / "lower.yaml").write_text(text.replace("1.0.0", "0.9.0"))
        done = faultspec("diff", "old.yaml", "lower.yaml", cwd=two)
        assert done.returncode == 1
        assert "0.9.0" in done.stderr
    (two / "lower.yaml").write_text(BASE.replace("1.0.0", "0.9.0"))
    done = faultspec("diff", "old.yaml", "lower.yaml", cwd=two)
    assert "0.9.0, lower than 1.0.0" in done.stderr


def test_a_change_is_accepted_once(two: Path) -> None:
    """Two entries with one fingerprint are an error: only one reason can be the reason."""
    entry = f'{{change: "{fingerprints(two)[0]}", reason: Agreed., owner: shop}}'
    (two / "ledger.yaml").write_text(f"accepted:\n  - {entry}\n  - {entry}\n")
    done = faultspec("diff", "old.yaml", "breaking.yaml", "--ledger", "ledger.yaml", cwd=two)
    assert (done.returncode, done.stdout) == (2, "")
    assert "ledger.yaml:3:5: error: the change" in done.stderr
    assert "is accepted twice [duplicate-acceptance]" in done.stderr
    assert "first here" in done.stderr


def test_a_stale_entry_fails(two: Path) -> None:
    """An entry that matches no change is an error at its place in the ledger."""
    (two / "ledger.yaml").write_text(
        "accepted:\n  - {change: aaaaaaaaaaaa, reason: Agreed., owner: shop}\n"
    )
    done = faultspec("diff", "old.yaml", "safe.yaml", "--ledger", "ledger.yaml", cwd=two)
    assert done.returncode == 1
    assert "ledger.yaml:2:" in done.stdout
    assert "no change has the fingerprint aaaaaaaaaaaa" in done.stdout


@pytest.mark.parametrize(
    "text", [None, "accepted: [", "accepted: [{change: x}]\n", "accept: []\n", ""]
)
def test_a_broken_ledger_is_an_error(two: Path, text: str | None) -> None:
    """A ledger that is missing, not YAML or of another form ends the command with 2."""
    if text is not None:
        (two / "ledger.yaml").write_text(text)
    done = faultspec("diff", "old.yaml", "breaking.yaml", "--ledger", "ledger.yaml", cwd=two)
    assert (done.returncode, done.stdout) == (2, "")
    assert "ledger.yaml" in done.stderr


# Formats

#: Texts that break a table, a line, a workflow command or XML if they are not escaped.
HOSTILE = r"a|b %25 100% ::error::x <b>&amp; `tick`" + r"\n::notice::y"


def hostile(folder: Path) -> None:
    """Two taxonomies whose owner, summaries and headers contain hostile texts."""
    old = BASE.replace("version: 1.0.0", 'version: 1.0.0, owner: "before|%::"')
    new = BREAKING.replace("version: 1.0.0", f'version: 1.0.0, owner: "{HOSTILE}"')
    (folder / "old.yaml").write_text(old)
    (folder / "new.yaml").write_text(new)


@pytest.mark.parametrize("style", ["text", "json", "github", "sarif", "junit", "markdown"])
def test_every_format_escapes(two: Path, style: str) -> None:
    """A hostile text ends no line, no table cell, no command and no element."""
    hostile(two)
    done = faultspec("diff", "old.yaml", "new.yaml", "--format", style, cwd=two)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    if style != "junit":  # XML may have several lines
        assert not any(line.startswith("::notice::y") for line in lines)
    if style in ("json", "sarif"):
        json.loads(done.stdout)
    elif style == "junit":
        ElementTree.fromstring(done.stdout)
    elif style == "github":
        assert all(line.startswith(("::error ", "::notice ", "::warning ")) for line in lines)
    elif style == "markdown":
        rows = [line for line in lines if line.startswith("|")]
        assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_the_json_report_obeys_its_schema(two: Path) -> None:
    """The report is valid under the published schema, also with a stale and an accepted entry."""
    entries = (fingerprints(two)[0], "aaaaaaaaaaaa")
    (two / "ledger.yaml").write_text(
        "accepted:\n"
        + "".join(f'  - {{change: "{e}", reason: Agreed., owner: shop}}\n' for e in entries)
    )
    done = faultspec(
        "diff",
        "old.yaml",
        "breaking.yaml",
        "--ledger",
        "ledger.yaml",
        "--format",
        "json",
        cwd=two,
    )
    report = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert report["changes"][0]["accepted"] == {"reason": "Agreed.", "owner": "shop"}
    assert (report["changes"][0]["file"], report["changes"][0]["line"]) == ("breaking.yaml", 9)
    assert [entry["line"] for entry in report["stale"]] == [3]


def test_annotations_are_at_most_ten(two: Path) -> None:
    """GitHub shows ten annotations of a step. The worst nine changes and the summary are shown."""
    codes = "".join(
        f"  code_{n}: {{summary: A., http: {400 + n}, retriable: false}}\n" for n in range(20)
    )
    (two / "many.yaml").write_text(BASE + codes)
    changed = codes
    for n in range(20):
        changed = changed.replace(f"http: {400 + n},", f"http: {430 + n},")
    (two / "new.yaml").write_text(SAFE + changed)
    done = faultspec("diff", "many.yaml", "new.yaml", "--format", "github", cwd=two)
    lines = done.stdout.splitlines()
    assert len(lines) == 10
    assert all(line.startswith("::error ") for line in lines)
    assert "a major version is due" in lines[-1]


#: An entry that accepts no change of these taxonomies.
STALE = "  - {change: aaaaaaaaaaaa, reason: Agreed., owner: shop}\n"


def report_of(kind: str, version: str, limit: str) -> EvolutionReport:
    """The report of one comparison: of a change of some severity, accepted or not, with a stale
    entry of the ledger or without."""
    texts = {"risky": RISKY, "safe": SAFE, "none": BASE}
    text = texts.get(kind, BREAKING).replace("version: 1.0.0", f"version: {version}")
    old, new = read(BASE, "old.yaml").taxonomy, read(text, "new.yaml")
    assert old is not None
    assert new.taxonomy is not None
    report = EvolutionReport(
        old="old.yaml",
        new="new.yaml",
        comparison=compare(old, new.taxonomy, date(2026, 1, 1)),
        document=new.document,
        limit=limit,
    )
    if kind in ("accepted", "stale"):
        accepted = fingerprint(report.comparison.changes[0])
        report = report._replace(accepted={accepted: AcceptedChange(accepted, "Agreed.", "x", 0)})
    if kind == "stale":
        report = report._replace(stale=(Diagnostic("stale-acceptance", "It is stale.", "ledger"),))
    return report


@pytest.mark.parametrize("kind", ["breaking", "accepted", "stale", "risky", "safe", "none"])
def test_errors_are_exactly_what_fails(kind: str) -> None:
    """A report has an error if and only if it is failed, whatever fails it: a change, the version
    or the ledger. Its JSON, its JUnit, its comment and its verdict say the same."""
    for version, limit in product(("1.0.0", "1.0.1", "1.1.0", "2.0.0"), LIMITS):
        check_agreement(report_of(kind, version, limit))


def check_agreement(report: EvolutionReport) -> None:
    """Check that the formats of a report agree."""
    found = as_diagnostics(report)
    assert report.is_failed == any(diagnostic.severity == "error" for diagnostic in found)
    failures = ElementTree.fromstring(PRINTERS["junit"](found, {})).iter("failure")
    assert report.is_failed == bool(list(failures))
    data = as_data(report)
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    assert data["failed"] == report.is_failed
    causes = (data["version_fails"], data["stale"], *(c["fails"] for c in data["changes"]))
    assert data["failed"] == any(causes)
    for text in (describe_verdict(report), as_markdown(report)):
        assert report.is_failed == (f"under `--fail-on {report.limit}`" in text)


@pytest.mark.parametrize("style", ["text", "json", "github", "sarif", "junit", "markdown"])
def test_every_format_shows_a_version_that_is_too_low(two: Path, style: str) -> None:
    """An accepted change whose version is too low fails in every format, which names the reason."""
    (two / "new.yaml").write_text(BREAKING.replace("1.0.0", "1.1.0"))
    entry = f'  - {{change: "{fingerprints(two)[0]}", reason: Agreed., owner: shop}}\n'
    (two / "ledger.yaml").write_text(f"accepted:\n{entry}")
    done = faultspec(
        *("diff", "old.yaml", "new.yaml", "--ledger", "ledger.yaml", "--format", style), cwd=two
    )
    signs = {
        "text": "new.yaml:2:24: error: the version 1.1.0 is too low",
        "json": '"failed": true',
        "github": "::error file=new.yaml,line=2",
        "sarif": '"level": "error"',
        "junit": "<failure ",
        "markdown": "### `new.yaml`: safe; what breaks is accepted; the version is too low",
    }
    assert done.returncode == 1
    assert signs[style] in done.stdout


def test_a_stale_entry_is_among_the_annotations(two: Path) -> None:
    """A stale entry fails a run with many harmless changes, and an annotation names it."""
    codes = "".join(
        f"  code_{n}: {{summary: A., http: {400 + n}, retriable: false}}\n" for n in range(20)
    )
    (two / "old.yaml").write_text(BASE.replace("codes: closed", "codes: open"))
    (two / "new.yaml").write_text(BASE.replace("codes: closed", "codes: open") + codes)
    (two / "ledger.yaml").write_text(f"accepted:\n{STALE}")
    arguments = ("old.yaml", "new.yaml", "--ledger", "ledger.yaml", "--format", "github")
    done = faultspec("diff", *arguments, cwd=two)
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines)) == (1, 10)
    assert lines[0].startswith("::error file=ledger.yaml,line=2")
    assert "1 stale entry of the ledger fails" in lines[-1]


def test_annotations_are_at_most_ten_for_all_taxonomies(tmp_path: Path) -> None:
    """The ten annotations of a run are the worst of all its taxonomies, and one summary of all. A
    taxonomy that cannot be read has an annotation too."""
    codes = "".join(
        f"  code_{n}: {{summary: A., http: {400 + n}, retriable: false}}\n" for n in range(20)
    )
    names = [f"{folder}/errors.yaml" for folder in ("safe", "worse", "broken")]
    safe, breaking, broken = (tmp_path / name for name in names)
    for path in (safe, breaking, broken):
        path.parent.mkdir()
        path.write_text(BASE)
    project = f"taxonomies: [{', '.join(names)}]\nagainst: main\n"
    (tmp_path / "faultspec.yaml").write_text(project)
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "base")
    safe.write_text(BASE.replace("codes: closed", "codes: open") + codes)
    breaking.write_text(BREAKING)
    broken.write_text("faultspec: 1\ncodes: [\n")
    done = faultspec("diff", "--format", "github", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines)) == (2, 10)
    assert sum("broken/errors.yaml" in line for line in lines[:9]) == 1
    assert any(line.startswith("::error file=worse/errors.yaml") for line in lines)
    assert lines[-1].startswith("::error title=faultspec diff::safe/errors.yaml: ")
    assert "%0Aworse/errors.yaml: 1 breaking" in lines[-1]
    assert "not shown" in lines[-1]


def test_sarif_has_fingerprints_and_the_texts_of_rules(two: Path) -> None:
    """A viewer of SARIF knows a change again at another line, and shows why its rule exists."""
    runs = []
    for text in (BREAKING, f"# A line more.\n{BREAKING}"):
        (two / "breaking.yaml").write_text(text)
        done = faultspec("diff", "old.yaml", "breaking.yaml", "--format", "sarif", cwd=two)
        runs.append(json.loads(done.stdout)["runs"][0])
    results = [
        [result for result in run["results"] if result["ruleId"] == "code/status"] for run in runs
    ]
    one, other = ([result["partialFingerprints"] for result in found] for found in results)
    assert one == other
    assert [*one[0].values()] == fingerprints(two)
    assert results[0][0]["locations"] != results[1][0]["locations"]
    rules = {rule["id"]: rule for rule in runs[0]["tool"]["driver"]["rules"]}
    rule = rules["code/status"]
    assert rule["shortDescription"]["text"] in rule["help"]["text"]
    assert "faultspec explain code/status" in rule["help"]["text"]


def test_the_migration_guide_names_the_reaction(two: Path) -> None:
    """The guide has a heading for each breaking change, and the reaction below it."""
    done = faultspec("diff", "old.yaml", "breaking.yaml", "--migration", cwd=two)
    assert done.returncode == 1
    heading = "# `breaking.yaml`: from 1.0.0 to 1.0.0"
    assert done.stdout.startswith(f"{heading}\n\n## Clients\n")
    assert "Match the code and not the status" in done.stdout


# Documents


def document(**replaced: object) -> str:
    """An OpenAPI document with one operation that fails in one way."""
    answer = {"description": "It failed.", "content": {"application/json": {"schema": {}}}}
    answer["content"]["application/json"]["schema"] = {  # type: ignore[index]
        "type": "object",
        "required": ["code"],
        "properties": {"code": {"type": "string", "enum": replaced.get("codes", ["taken"])}},
        "not": {"required": ["x"]},
    }
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Shop", "version": "1.0.0"},
            "paths": {
                "/orders": {
                    "post": {"responses": {"201": {"description": "Made."}, "409": answer}},
                }
            },
        }
    )


def test_openapi_documents_are_compared(tmp_path: Path) -> None:
    """Two documents are imported and compared. The notes name what was not compared."""
    (tmp_path / "old.json").write_text(document())
    (tmp_path / "new.json").write_text(document(codes=["taken", "late"]))
    done = faultspec("diff", "old.json", "new.json", "--format", "json", cwd=tmp_path)
    report = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert done.returncode == 1
    assert [change["rule"] for change in report["changes"]] == ["code/added"]
    assert any(note.startswith("new.json: not compared [schema]") for note in report["notes"])
    done = faultspec("diff", "old.json", "old.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "old.json: not compared" in done.stderr


def test_documents_that_cannot_be_imported_are_reported(tmp_path: Path) -> None:
    """A document without failures, and a file of another kind, end the command with 2."""
    (tmp_path / "old.json").write_text(document())
    for text in ('{"openapi": "3.1.0", "paths": {}}', '{"a": 1}', "{", "openapi: 3.1.0\n"):
        (tmp_path / "new.json").write_text(text)
        for arguments in (("old.json", "new.json"), ("new.json", "old.json")):
            done = faultspec("diff", *arguments, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, "")
            assert "new.json" in done.stderr
