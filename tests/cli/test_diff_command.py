"""Laws of `faultspec diff` and `faultspec changelog`."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

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


def test_a_shallow_clone_is_named(repository: Path, tmp_path: Path) -> None:
    """In a shallow clone the remedy for a missing revision fetches the history."""
    source = repository.as_uri()
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--no-tags", source, "clone")
    done = faultspec("diff", "base.yaml", "--against", "v1.0.0", cwd=tmp_path / "clone")
    assert done.returncode == 2
    assert "the clone is shallow: run `git fetch --unshallow`" in done.stderr


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


def test_the_migration_guide_names_the_reaction(two: Path) -> None:
    """The guide has a heading for each breaking change, and the reaction below it."""
    done = faultspec("diff", "old.yaml", "breaking.yaml", "--migration", cwd=two)
    assert done.returncode == 1
    assert done.stdout.startswith("# From 1.0.0 to 1.0.0\n\n## Clients\n")
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
