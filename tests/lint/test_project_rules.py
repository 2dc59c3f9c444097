"""The lint rules that a project adds: its style, and the rules of other packages."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from click import Command
from click.testing import CliRunner

from faultspec.cli.explain import command as explain
from faultspec.cli.lint import command as lint
from paths import ROOT

TAXONOMY = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, details?: $details}}}
surfaces: {api: {transport: http, envelope: error}}
detail_keys: {sku: {type: string, summary: A number of an article.}}
codes:
  teapot:
    summary: I am a teapot.
    http: 418
    details: {sku?: {}}
"""

PAGE = (ROOT / "docs" / "project.md").read_text(encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a taxonomy, in which commands run. Packages can be installed into `site`."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for name in ("acme_errors", "acme_copy"):  # an earlier test may have imported its own
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def install(project: Path, name: str, source: str, entry: str) -> None:
    """Install a package that has one module, as an installer does."""
    site = project / "site"
    (site / f"{name}.py").write_text(source)
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[faultspec.lint]\n{entry} = {name}\n")


class Done(NamedTuple):
    """The output of a command, and its exit code."""

    output: str
    exit_code: int


def invoke(command: Command, *arguments: str) -> Done:
    """Run a command."""
    done = CliRunner().invoke(command, arguments, standalone_mode=False, catch_exceptions=False)
    return Done(done.output, done.return_value)


def run(project: Path, settings: str) -> Done:
    """Lint with a project file."""
    (project / "faultspec.yaml").write_text(settings)
    return invoke(lint)


def example(language: str) -> str:
    """The only example of a language in the section of the page."""
    section = PAGE.partition("## Style and rules of your own")[2].partition("\n## ")[0]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ("codes: {pattern: '[A-Z]+'}", "`teapot` does not match `[A-Z]+`"),
        ("codes: {pattern: 'teap'}", "`teapot` does not match `teap`"),
        ("codes: {longest: 5}", "`teapot` has 6 characters; the project allows 5"),
        ("details: {longest: 2}", "`sku` has 3 characters"),
        ("summary: {longest: 3}", "the summary has 14 characters"),
    ],
)
def test_a_style_warns_of_what_it_does_not_allow(project: Path, style: str, message: str) -> None:
    """A name has the whole pattern and at most its length; a text has at most its length. What
    the style allows is not reported.
    """
    done = run(project, f"style: {{{style}}}\n")
    assert message in done.output
    assert done.exit_code == 0
    assert (
        run(project, "style: {codes: {pattern: '[a-z]+', longest: 6}}\n").output.count("style") == 0
    )


def test_the_severity_of_a_style_is_that_of_the_project(project: Path) -> None:
    """As for any rule: `error` fails, `off` and a comment with a reason silence it."""
    style = "style: {codes: {longest: 5}}\n"
    assert run(project, style + "lint: {name-style: error}\n").exit_code == 1
    assert "name-style" not in run(project, style + "lint: {name-style: off}\n").output
    text = TAXONOMY.replace(
        "  teapot:\n", "  # faultspec: ignore[name-style] as its RFC spells it\n  teapot:\n"
    )
    (project / "taxonomy.yaml").write_text(text)
    assert "characters" not in run(project, style).output


@pytest.mark.parametrize("pattern", ["[a-z", "(a+)+$"])
def test_a_bad_pattern_is_refused_with_its_place(project: Path, pattern: str) -> None:
    """A pattern that is not an expression, or that may take very long, is a mistake of the file."""
    done = run(project, f"style: {{codes: {{pattern: '{pattern}'}}}}\n")
    assert done.exit_code == 2
    assert "faultspec.yaml:1:26: error: " in done.output
    assert "[bad-pattern]" in done.output


def test_the_example_of_the_page_works(project: Path) -> None:
    """The rule of the page, installed with its entry point, reports a code; `explain` knows it, and
    the settings of the page are read.
    """
    assert "acme = " in example("toml")
    install(project, "acme_errors", example("python"), "acme")
    done = run(project, example("yaml"))
    assert done.exit_code == 1
    assert "taxonomy.yaml:9:" in done.output
    assert "`teapot` is a teapot [acme-no-teapot]" in done.output
    assert run(project, "rules: [acme]\nlint: {acme-no-teapot: note}\n").exit_code == 0
    shown = invoke(explain, "acme-no-teapot")
    assert "acme-no-teapot: a lint rule (error)" in shown.output
    assert shown.exit_code == 0


def test_an_installed_package_runs_only_if_the_file_names_it(project: Path) -> None:
    """An entry point that no project names is not imported."""
    install(project, "acme_errors", "raise SystemExit('imported')\n", "acme")
    assert run(project, "lint: {name-style: off}\n").exit_code == 0


RULE = """
from faultspec.lint.rule import LintRule

def check(subject):
    {body}

own = LintRule("acme-broken", "error", check, "A purpose.", "", "", False)
"""


@pytest.mark.parametrize(
    ("source", "expected", "code"),
    [
        ("1 / 0\n", "cannot be imported: ZeroDivisionError", 2),
        ("import sys\n", "has no lint rule", 2),
        (
            "from faultspec.lint.rules.codes import mixed_spelling\n",
            "second rule `mixed-spelling`",
            2,
        ),
        ("", "has no lint rule", 2),
    ],
)
def test_unusable_rules_are_a_mistake_of_the_file(
    project: Path, source: str, expected: str, code: int
) -> None:
    """A package that cannot be imported, or has no rule, is reported at its name."""
    install(project, "acme_errors", source, "acme")
    done = run(project, "rules: [acme]\n")
    assert done.exit_code == code
    assert "faultspec.yaml:1:9: error: " in done.output
    assert expected in done.output


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("yield from {}[0]", "the rule raised KeyError: 0"),
        ("yield 7", "the rule raised TypeError: a rule yields remarks, not int"),
    ],
)
def test_a_rule_that_fails_is_a_finding_of_it(project: Path, body: str, message: str) -> None:
    """An exception of a rule ends that rule only."""
    install(project, "acme_errors", RULE.format(body=body), "acme")
    done = run(project, "rules: [acme]\n")
    assert done.exit_code == 1
    assert message in done.output
    assert "[acme-broken]" in done.output


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("rules: [acmee]\n", "did you mean `acme`?"),
        ("rules: [acme]\nlint: {acme-brokn: off}\n", "did you mean `acme-broken`?"),
        ("rules: [acme, acme-copy]\n", "has a second rule `acme-broken`"),
    ],
)
def test_an_unknown_name_is_refused(project: Path, settings: str, message: str) -> None:
    """Names of entry points and of rules are checked against those that are installed."""
    install(project, "acme_errors", RULE.format(body="yield"), "acme")
    install(project, "acme_copy", RULE.format(body="yield"), "acme-copy")
    done = run(project, settings)
    assert done.exit_code == 2
    assert message in done.output
