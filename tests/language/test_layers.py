"""`extends`: the merge of an overlay with its base, and the changes that the base forbids."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.diagnostics import printers
from faultspec.language import load, read
from faultspec.language.layers import merge_layers
from faultspec.lint import check

BASE = """\
faultspec: 1
taxonomy: {name: base, version: 1.0.0}
extensible: [codes, detail_keys, codes.*.message, codes.failed.details, retry_policies.slow.max_attempts, headers]
detail_keys: {field: {type: string}}
envelopes:
  error: {shape: {code: $code, message: $message, details?: $details}}
retry_policies:
  slow: {max_attempts: 3, backoff: {kind: constant, base: 1s}}
codes:
  failed: {summary: It failed., message: It failed, http: 500, retriable: true, retry: slow, effect: none, details: {field?: {}}, example: {details: {field: x}}}
  # faultspec: ignore[ambiguous-status] People distinguish them.
  refused: {summary: It was refused., message: No, http: 400, retriable: false}
"""

HEAD = "faultspec: 1\ntaxonomy: {name: team, version: 2.0.0}\nextends: base.yaml\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """The folder of a base."""
    (tmp_path / "base.yaml").write_text(BASE)
    return tmp_path


def reported(folder: Path, text: str) -> list[tuple[str, str, str]]:
    """Code, file and message of every diagnostic of an overlay."""
    (folder / "team.yaml").write_text(text)
    loaded = load(str(folder / "team.yaml"))
    return [(each.code, Path(each.path).name, each.message) for each in loaded.diagnostics]


def test_what_the_base_allows_is_laid_over_it(base: Path) -> None:
    """New codes follow the base's, allowed values replace the base's, the header is the
    overlay's.
    """
    (base / "team.yaml").write_text(
        HEAD
        + """\
detail_keys: {sku: {type: string}}
retry_policies: {slow: {max_attempts: 5}}
codes:
  refused: {message: Not today}
  sold_out: {summary: It is sold out., http: 409, retriable: false, details: {sku: {}}, example: {details: {sku: a}}}
"""
    )
    loaded = load(str(base / "team.yaml"))
    assert loaded.diagnostics == ()
    taxonomy = loaded.taxonomy
    assert taxonomy is not None
    assert (taxonomy.name, taxonomy.version) == ("team", "2.0.0")
    assert list(taxonomy.codes) == ["failed", "refused", "sold_out"]
    assert (taxonomy.codes["refused"].message, taxonomy.codes["refused"].http.default) == (
        "Not today",
        400,
    )
    assert taxonomy.retry_policies["slow"].policy.max_attempts == 5


def test_an_overlay_that_says_nothing_is_the_base(base: Path) -> None:
    """An overlay with a header only equals its base, except for the header and for what overlays of
    it may change, which it says itself."""
    assert reported(base, HEAD) == []
    loaded, plain = load(str(base / "team.yaml")).taxonomy, load(str(base / "base.yaml")).taxonomy
    assert loaded is not None
    assert plain is not None
    assert loaded._replace(name="base", version="1.0.0", title="base") == plain._replace(
        extensible=()
    )


@pytest.mark.parametrize(
    ("overlay", "path"),
    [
        (
            "codes: {refused: {http: 403}}",
            "the base does not allow changing `codes.refused.http`",
        ),
        (
            "codes: {refused: {details: {a: {type: string}}}}",
            "the base does not allow adding `details` to `codes.refused`",
        ),
        (
            "retry_policies: {fast: {max_attempts: 1}}",
            "the base does not allow adding `fast` to `retry_policies`",
        ),
        ("privacy: {detectors: [sql]}", "the base does not allow adding `privacy` to the document"),
        (
            "envelopes: {error: {additional: allow}}",
            "the base does not allow adding `additional` to `envelopes.error`",
        ),
        (
            "codes: {failed: {example: []}}",
            "the base does not allow changing `codes.failed.example`",
        ),
    ],
)
def test_what_the_base_keeps_is_refused_where_it_is_written(
    base: Path, overlay: str, path: str
) -> None:
    """A change that the base does not allow is reported at the overlay's line."""
    found = reported(base, HEAD + overlay + "\n")
    assert ("not-extensible", "team.yaml", path) in found
    assert {file for _, file, _ in found} == {"team.yaml"}


def test_an_addition_may_be_allowed_before_there_is_anything(base: Path) -> None:
    """A section that the base allows and does not have may be added."""
    assert reported(base, HEAD + "headers: {Retry-After: {on: 429}}\n") == []


def test_a_mistake_is_shown_in_the_file_that_makes_it(base: Path) -> None:
    """A dangling reference of a new code is reported at the overlay's line."""
    text = HEAD + "codes:\n  sold_out: {summary: Sold out., http: 409, retry: nope}\n"
    (base / "team.yaml").write_text(text)
    loaded = load(str(base / "team.yaml"))
    (found,) = loaded.diagnostics
    assert (found.code, found.path, found.span.line if found.span else 0) == (
        "dangling-reference",
        str(base / "team.yaml"),
        5,
    )
    assert "retry: nope" in printers.text(loaded.diagnostics, loaded.sources)


def test_lint_of_an_overlay_heeds_the_comments_of_its_base(base: Path) -> None:
    """Suppressions of the base apply; its unused ones are not reported for the overlay."""
    (base / "team.yaml").write_text(HEAD)
    found = check(load(str(base / "team.yaml")))
    assert "unused-suppression" not in {each.code for each in found}
    assert "unused-suppression" in {each.code for each in check(load(str(base / "base.yaml")))}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "https://example.com/base.yaml",
            "a base is a file, or part of an installed package; nothing is fetched",
        ),
        (
            "package:no_such_package/base.yaml",
            "no installed package has `no_such_package/base.yaml`",
        ),
        ("package:json/../base.yaml", "no installed package has `json/../base.yaml`"),
        ("team.yaml", "this taxonomy extends itself"),
        ("./sub/../team.yaml", "this taxonomy extends itself"),
        ("missing.yaml", "the base `missing.yaml` cannot be used"),
        (".", "the base `.` cannot be used"),
    ],
)
def test_a_base_that_cannot_be_used_is_reported(base: Path, name: str, message: str) -> None:
    """A base that is missing, remote, or the overlay itself is reported at `extends`."""
    found = reported(base, HEAD.replace("base.yaml", name))
    assert (
        found[-1] == ("bad-base", "team.yaml", message)
        or ("bad-base", "team.yaml", message) in found
    )


def test_a_base_stays_in_the_repository(base: Path) -> None:
    """A path or a link that leads out of the repository is refused; one within it is not. Without
    a repository, the bound is the folder of the file, or the working directory.
    """
    outside = "a base lies in the same repository as this file, or in an installed package"
    inner = base / "teams/a"
    inner.mkdir(parents=True)
    team = inner / "team.yaml"
    team.write_text(HEAD.replace("base.yaml", "../../base.yaml"))

    def messages() -> set[str]:
        return {found.message for found in load(str(team)).diagnostics}

    assert outside in messages()
    (base / ".git").mkdir()
    assert messages() == set()
    (base / ".git").rmdir()
    (base / "faultspec.yaml").write_text("")
    assert messages() == set()
    (base / "faultspec.yaml").unlink()
    (inner / "base.yaml").symlink_to(base / "base.yaml")
    team.write_text(HEAD)
    assert outside in messages()
    team.write_text(HEAD.replace("base.yaml", "/etc/passwd"))
    assert outside in messages()


@pytest.mark.parametrize(
    "text",
    [
        "TOKEN=s3cret-word\n",
        "s3cret-word: [\n",
        "s3cret-word\n",
        "[s3cret-word]\n",
        "\x01s3cret-word",
    ],
)
def test_nothing_is_shown_of_a_base_that_is_not_a_taxonomy(base: Path, text: str) -> None:
    """A base without the key `faultspec`, such as a file of secrets, is named and not quoted."""
    (base / "base.yaml").write_text(text)
    (base / "team.yaml").write_text(HEAD)
    loaded = load(str(base / "team.yaml"))
    shown = printers.text(loaded.diagnostics, loaded.sources)
    assert "this file is not a taxonomy" in shown
    assert "s3cret-word" not in shown + repr(loaded.diagnostics)


@pytest.mark.parametrize("name", ["base.yaml", "/dev/zero"])
def test_a_base_that_is_a_pipe_or_a_device_is_not_opened(base: Path, name: str) -> None:
    """A pipe, a device or a huge file as a base is a diagnostic at once."""
    (base / "base.yaml").unlink()
    os.mkfifo(base / "base.yaml")
    assert reported(base, HEAD.replace("base.yaml", name))[-1][0] in ("bad-base", "not-a-file")


def test_a_package_is_found_without_an_import(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A base in a package is found although the package, and those above it, cannot be imported.
    It and its bases stay in the package.
    """
    inner = base / "site/broken_package/below/data"
    inner.mkdir(parents=True)
    for folder in (inner.parents[1], inner.parents[0]):
        (folder / "__init__.py").write_text("raise SystemExit('imported')\n")
    (inner / "base.yaml").write_text(HEAD.replace("base.yaml", "../../lowest.yaml"))
    (base / "site/broken_package/lowest.yaml").write_text(BASE)
    monkeypatch.syspath_prepend(base / "site")
    for name in ("broken_package.below/data/base.yaml", "broken_package/below/data/base.yaml"):
        assert reported(base, HEAD.replace("base.yaml", f"package:{name}")) == []
    (inner / "base.yaml").write_text(HEAD.replace("base.yaml", "../../../../base.yaml"))
    name = "package:broken_package.below/data/base.yaml"
    assert "in an installed package" in str(reported(base, HEAD.replace("base.yaml", name)))
    assert "broken_package" not in sys.modules


def test_a_broken_base_is_shown_with_its_own_mistakes(base: Path) -> None:
    """The diagnostics of a broken base are reported with the overlay's."""
    (base / "base.yaml").write_text(BASE.replace("retry: slow", "retry: slo"))
    found = reported(base, HEAD)
    assert {(code, file) for code, file, _ in found} == {
        ("dangling-reference", "base.yaml"),
        ("bad-base", "team.yaml"),
    }


def test_bases_may_have_bases(base: Path) -> None:
    """The top may change what the middle allows; a circle of files is reported."""
    middle = (
        HEAD + "extensible: [codes]\ncodes: {gone: {summary: Gone., http: 410, retriable: false}}\n"
    )
    (base / "middle.yaml").write_text(middle)
    top = HEAD.replace("base.yaml", "middle.yaml")
    assert (
        reported(base, top + "codes: {lost: {summary: Lost., http: 404, retriable: false}}\n") == []
    )
    assert reported(base, top + "detail_keys: {x: {type: string}}\n")[0][0] == "not-extensible"
    (base / "base.yaml").write_text(BASE + "extends: team.yaml\n")
    assert ("bad-base", "base.yaml", "this taxonomy extends itself") in reported(base, top)


@pytest.mark.parametrize(
    ("top", "refused"),
    [
        (
            "codes: {refused: {http: 410}}",
            "the base does not allow changing `codes.refused.http`",
        ),
        (
            "retry_policies: {fast: {max_attempts: 1}}",
            "the base does not allow adding `fast` to `retry_policies`",
        ),
        ("privacy: {detectors: [sql]}", "the base does not allow adding `privacy` to the document"),
        ("codes: {gone: {http: 404}}", None),
        ("codes: {refused: {message: Not today}}", None),
        (
            "retry_policies: {slow: {max_attempts: 5}}",
            "the base does not allow changing `retry_policies.slow.max_attempts`",
        ),
    ],
)
def test_no_layer_gives_away_what_one_below_it_keeps(
    base: Path, top: str, refused: str | None
) -> None:
    """The top may change only what every layer below allows."""
    middle = HEAD + (
        "extensible: [codes.*.http, codes.*.message, retry_policies, privacy]\n"
        "codes: {gone: {summary: Gone., http: 410, retriable: false}}\n"
    )
    (base / "middle.yaml").write_text(middle)
    found = reported(base, HEAD.replace("base.yaml", "middle.yaml") + top + "\n")
    assert [each for each in found if each[0] == "not-extensible"] == (
        [("not-extensible", "team.yaml", refused)] if refused else []
    )


def test_a_base_may_be_part_of_a_package(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`package:name/path` is found in an installed package, without importing it."""
    package = base / "site" / "team_platform"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (package / "taxonomy.yaml").write_text(BASE)
    monkeypatch.syspath_prepend(str(base / "site"))
    assert reported(base, HEAD.replace("base.yaml", "package:team_platform/taxonomy.yaml")) == []
    assert "team_platform" not in sys.modules


def test_the_pure_half_follows_nothing() -> None:
    """`read` does not follow `extends`, so the base's sections are missing."""
    assert {each.code for each in read(HEAD, "team.yaml").diagnostics} == {"missing-key"}


values = st.recursive(
    st.integers(),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
data = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


@given(data, data)
def test_without_permission_only_the_base_comes_out_or_something_is_refused(
    base: object, overlay: object
) -> None:
    """Over a base that allows nothing, an overlay without problems changes nothing."""
    assert isinstance(base, dict)
    assert isinstance(overlay, dict)
    merged, problems = merge_layers(base, overlay)
    assert problems or merged == base
    again, _ = merge_layers(merged, overlay)
    assert again == merged
