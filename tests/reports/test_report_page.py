"""The HTML report in a browser: offline, at phone size, in dark mode, by keyboard.

Requires Chromium, node and npm. puppeteer and axe-core are installed once, below ``.cache``.
"""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from faultspec import language
from faultspec_conformance import reports
from faultspec_conformance.orders import demo
from faultspec_conformance.results.findings import sort_findings
from faultspec_conformance.results.model import Report
from paths import ROOT
from support.npm import installed

#: The one place that says by what the page is opened and examined.
TOOLS = {"puppeteer-core": "24.43.1", "axe-core": "4.14.1"}

HARNESS = Path(__file__).parent / "page_harness.mjs"
CHROMIUM = shutil.which("chromium")

#: A folder for pictures of every size and scheme, for a person to look at; not set, none are taken.
SCREENSHOTS = "FAULTSPEC_SCREENSHOTS"

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]


def page() -> str:
    """The page of a run of the orders service with sins, with a finding of every standing."""
    taxonomy = language.load(str(ROOT / "taxonomy.yaml")).taxonomy
    assert taxonomy is not None
    found: list[Report] = []
    for sin in ("leaks-stack-trace", "framework-405", "own-correlation-id", "forgets-retry-after"):
        report = demo.judge_orders(sin, taxonomy, str(ROOT / "taxonomy.yaml"), sweep=False)
        assert isinstance(report, Report)
        found.append(report)
    result = found[1].result
    first, second, *rest = (finding for one in found for finding in one.result.findings)
    findings = (
        *rest,
        first,
        replace(second, flaky=True),
        replace(rest[0], waived="the gateway sets it from May on"),
    )
    noted = ("a note of many words and one-that-is-longer-than-any-telephone-is-wide-" + "x" * 80,)
    shown = replace(
        result,
        findings=sort_findings(findings),
        notes=noted,
        not_run=("the sweep: there was no time",),
    )
    return reports.html(replace(found[1], result=shown))


@lru_cache(maxsize=1)
def looked_at() -> tuple[dict[str, Any], ...]:
    """The results at 360 and 1280 pixels, light and dark."""
    modules = installed(TOOLS, "puppeteer-core")
    screenshots = os.environ.get(SCREENSHOTS)
    with tempfile.TemporaryDirectory(prefix="faultspec-page-") as folder:
        file = Path(folder) / "report.html"
        file.write_text(page(), encoding="utf-8")
        command = [
            "node",
            str(HARNESS),
            str(modules),
            CHROMIUM or "",
            str(file),
            f"{folder}/profile",
        ]
        done = subprocess.run(
            [*command, *([screenshots] if screenshots else [])],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
    return tuple(json.loads(done.stdout))


def label(view: dict[str, Any]) -> str:
    """The size and scheme."""
    return f"{view['width']} {view['scheme']}"


def test_the_page_opens_without_network() -> None:
    """The page requests nothing but the file itself, and logs no errors."""
    for view in looked_at():
        assert [url.partition(":")[0] for url in view["requests"]] == ["file"], label(view)
        assert view["complaints"] == [], label(view)


def test_the_matrix_is_readable_at_both_sizes() -> None:
    """The page never scrolls sideways, and every row shows verdict, clause and title."""
    for view in looked_at():
        for layout in (view["layout"], view["opened"]):
            assert layout["sticking"] == [], label(view)
            assert not layout["scrolls"], label(view)
            assert layout["rows"] > 60, label(view)
            assert layout["unread"] == 0, label(view)
            assert layout["small"] == 0, label(view)


def test_dark_is_dark() -> None:
    """In dark mode the page is dark."""
    colours = {view["scheme"]: view["layout"]["background"] for view in looked_at()}
    assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}


def test_the_filter_filters() -> None:
    """The filter keeps rows that contain all words, in any case; hidden verdicts have no rows."""
    for view in looked_at():
        word, none = view["filter"]["word"], view["filter"]["none"]
        assert 0 < len(word["found"]) < view["filter"]["all"], label(view)
        assert all("leaks" in row and "stack" in row for row in word["found"]), label(view)
        assert word["output"] == f"{len(word['found'])} of {view['filter']['all']} shown"
        assert none["found"] == [], label(view)
        assert none["output"] == f"0 of {view['filter']['all']} shown"
        assert "passed" not in view["filter"]["unpassed"], label(view)
        assert "failed" in view["filter"]["unpassed"], label(view)


def test_the_page_is_usable_by_keyboard() -> None:
    """Tab reaches every control with a visible focus; Enter and Space act like a click."""
    for view in looked_at():
        tabs = view["tabs"]
        assert all(stop["ring"] for stop in tabs), label(view)
        buttons = [stop for stop in tabs if stop["tag"] == "BUTTON"]
        assert [stop["toggles"] for stop in buttons] == [["false", "true"]] * 5, label(view)
        assert [stop["tag"] for stop in tabs].count("INPUT") == 1, label(view)
        summaries = [stop for stop in tabs if stop["tag"] == "SUMMARY"]
        assert len(summaries) >= 5, label(view)
        assert summaries[0]["opens"], label(view)


def test_axe_finds_nothing_serious() -> None:
    """axe-core finds no serious or critical violation, with every finding open."""
    for view in looked_at():
        serious = [one for one in view["violations"] if one["impact"] in ("serious", "critical")]
        assert serious == [], label(view)
