"""The Markdown reference as a reader of Markdown sees it: markdown-it-py, CommonMark with
tables.
"""

import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from faultspec.targets.filters import md, md_code, md_comment
from faultspec.targets.surface_map import surface_map
from paths import ROOT
from targets.test_targets_laws import FLAGSHIP, NASTY, nasty

EXAMPLES = sorted((ROOT / "examples").glob("*/taxonomy.yaml"))
TAXONOMIES = [FLAGSHIP, *EXAMPLES, *sorted((ROOT / "tests/taxonomies").glob("*.yaml"))]
PATHS = pytest.mark.parametrize(
    "path", TAXONOMIES, ids=lambda path: f"{path.parent.name}-{path.stem}"
)

READER = MarkdownIt("commonmark").enable("table")


class Page(HTMLParser):
    """A page as a browser reads it: anchors, links, the cells of each row, tags, and all of the
    text.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.tables: list[list[int]] = []
        self.tags: Counter[str] = Counter()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Anchors, links, rows and cells."""
        self.tags[tag] += 1
        named = dict(attrs)
        if named.get("id"):
            self.ids[str(named["id"])] += 1
        if named.get("href"):
            self.links.append(str(named["href"]))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append(0)
        elif tag in ("td", "th"):
            self.tables[-1][-1] += 1

    def handle_data(self, data: str) -> None:
        """Text, whatever it stands in."""
        self.text += data


@cache
def taxonomy(path: Path) -> Taxonomy:
    """A sound taxonomy."""
    found = load(str(path)).taxonomy
    assert found is not None
    return found


@cache
def source(path: Path) -> str:
    """The reference as it is written."""
    return render(taxonomy(path), [SHIPPED["markdown"]], path.name)["markdown/reference.md"]


@cache
def page(path: Path) -> Page:
    """The reference as it is seen."""
    return Page(READER.render(source(path)))


@PATHS
def test_each_code_has_one_anchor(path: Path) -> None:
    """Every declared code, an operation's own and those that are gone included, is reached by
    exactly one anchor.
    """
    expected = [
        code.name if place[0] == "codes" else f"{place[1]}.{code.name}"
        for place, code in taxonomy(path).located_codes()
    ]
    assert expected
    assert [page(path).ids[each] for each in expected] == [1] * len(expected)
    assert max(page(path).ids.values()) == 1


@PATHS
def test_each_link_leads_somewhere(path: Path) -> None:
    """Every link is to an anchor of the page, and is read as a link, not as brackets."""
    assert page(path).links
    for each in page(path).links:
        assert each.startswith("#"), each
        assert each[1:] in page(path).ids, each
    assert len(page(path).links) == len(re.findall(r"(?<!\\)\]\(#", source(path)))


@PATHS
def test_each_row_has_the_columns_of_its_table(path: Path) -> None:
    """No text opens a column or ends a row; markdown-it would cut what is too much, so the source
    is counted as well.
    """
    assert page(path).tables
    for table in page(path).tables:
        assert len(set(table)) == 1
    for block in re.findall(r"(?:^\|.*\|\n)+", source(path), re.M):
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(bars) == 1, block


@PATHS
def test_every_summary_is_on_the_page(path: Path) -> None:
    """The texts of a code, a ruling, an obligation and a step of a runbook are visible."""
    seen = " ".join(page(path).text.split())
    known = taxonomy(path)
    summaries = [code.summary for code in known.every_code()]
    summaries += [
        text
        for each in known.rulings.values()
        for text in (each.conflict, each.decision, each.reason)
    ]
    summaries += [each.text for each in known.obligations.values()]
    summaries += [
        step
        for each in (known.telemetry.alerts.values() if known.telemetry else ())
        for step in each.runbook
    ]
    for each in summaries:
        assert " ".join(each.split()) in seen, each


def test_numbers_of_a_policy_are_those_of_the_planner() -> None:
    """Requests in all, delays, jitter and Retry-After stand there with the figures of the
    taxonomy.
    """
    text = page(ROOT / "tests/taxonomies/watched.yaml").text
    for each in (
        "5 requests in all: the first, and 4 retries.",
        "Delays of phase 1: 1s, 2s, 3s, 4s (1s more each), for 10s from the first failure.",
        "Delays of phase 2: 0.5s, 1.5s, 4.5s, 13.5s (times 3 each, at most 20s).",
        "Jitter by ratio: anything from 0.75 to 1.25 times the delay.",
        "The server's Retry-After is followed, up to 30s; a longer one is cut to that.",
        "2 requests in all: the first, and 1 retry.",
        "Full jitter: anything from 0 to the delay.",
        "The server's Retry-After is not followed.",
    ):
        assert each in text


def test_any_text_comes_out_as_text() -> None:
    """Pipes, backticks, tags, comments and templates of a taxonomy are read, never obeyed."""
    known = nasty()
    found = Page(
        READER.render(render(known, [SHIPPED["markdown"]], "nasty.yaml")["markdown/reference.md"])
    )
    plain = Page(READER.render(source(FLAGSHIP)))
    assert set(found.tags) <= set(plain.tags) | {"code"}
    assert all(len(set(table)) == 1 for table in found.tables)
    seen = " ".join(found.text.split())
    for text in NASTY:
        if text.isprintable():
            assert " ".join(text.split()) in seen


HOSTILE = st.text(st.sampled_from("a1 `*_[]<>()&|~#$!{}\\-+=.:/\"'é\n"), max_size=30)


def seen(markdown: str) -> str:
    """The text of Markdown, as a browser shows it."""
    return " ".join(Page(READER.render(markdown)).text.split())


@given(HOSTILE)
def test_a_quoted_text_is_itself(text: str) -> None:
    """In a paragraph, in a list, in a heading and in a cell, as text and as code, a quoted text is
    what it was.
    """
    whole = " ".join(text.split())
    for quoted in (md(text), md_code(text)):
        assert seen(f"x {quoted} x") == f"x {whole} x".replace("  ", " ")
        if whole:
            assert seen(quoted) == whole
            assert seen(f"* {quoted}") == whole
            assert seen(f"### {quoted}") == whole
        table = Page(READER.render(f"| a | b |\n|---|---|\n| {quoted} | y |"))
        assert table.tables == [[2, 2]]
        assert " ".join(table.text.split()) == f"a b {whole} y".replace("  ", " ")
        assert set(table.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


@given(HOSTILE)
def test_nothing_ends_a_comment(text: str) -> None:
    """The text in the comment at the top is never visible."""
    assert seen(md_comment(text + "--> <b>x</b>") + "\n\ny") == "y"


def with_policy(policy: str) -> str:
    """The page of a small taxonomy with a policy."""
    text = f"""
faultspec: 1
taxonomy: {{name: shop, version: 1.0.0, title: Shop, owner: shop}}
envelopes: {{error: {{shape: {{code: $code}}}}}}
surfaces: {{api: {{transport: http, envelope: error, codes: closed}}}}
retry_policies: {{patient: {policy}}}
codes:
  busy: {{summary: Busy, http: 503, retriable: true, retry: patient, effect: none}}
"""
    loaded = read(text, "shop.yaml")
    assert not loaded.diagnostics, loaded.diagnostics
    found = loaded.taxonomy
    assert found is not None

    return render(found, [SHIPPED["markdown"]], "shop.yaml")["markdown/reference.md"]


LINE = re.compile(r"^request (\d+) +\|( *)(▒+) (\S+?)(?: to (\S+))?$", re.MULTILINE)


@pytest.mark.parametrize(
    ("policy", "bands"),
    [
        (
            "{max_attempts: 4, backoff: {kind: exponential, base: 1s}, jitter: {kind: full}}",
            ["0s to 1s", "0s to 3s", "0s to 7s"],
        ),
        ("{max_attempts: 3, backoff: {kind: linear, base: 2s, step: 3s}}", ["2s", "7s"]),
        (
            "{max_attempts: 3, backoff: {kind: constant, base: 10s}, jitter: {kind: ratio, ratio: 0.5}}",
            ["5s to 15s", "10s to 30s"],
        ),
        ("{max_attempts: 9, max_elapsed: 5s, backoff: {kind: constant, base: 2s}}", ["2s", "4s"]),
        ("{max_attempts: 3, backoff: {kind: constant, base: 0s}}", []),
        ("{max_attempts: 1, backoff: {kind: constant, base: 1s}}", []),
    ],
)
def test_a_policy_is_drawn_from_its_shortest_to_its_longest_delays(
    policy: str, bands: list[str]
) -> None:
    """Each retry that fits into the limits has a band. It begins and ends where its times are on
    the line, whose end is the latest time.
    """
    drawn = LINE.findall(with_policy(policy))
    assert [f"{first} to {last}" if last else first for *_, first, last in drawn] == bands
    assert [int(number) for number, *_ in drawn] == [*range(2, 2 + len(bands))]
    seconds = [float((last or first).removesuffix("s")) for *_, first, last in drawn]
    for (_, indent, band, first, _), last in zip(drawn, seconds, strict=True):
        assert abs(len(indent) - 48 * float(first.removesuffix("s")) / max(seconds)) < 1.01
        assert abs(len(indent) + len(band) - 48 * last / max(seconds)) < 1.01


def test_a_long_policy_is_drawn_as_far_as_anybody_reads() -> None:
    """Twelve retries are drawn of twenty-nine."""
    page = with_policy("{max_attempts: 30, backoff: {kind: constant, base: 1s}}")
    assert len(LINE.findall(page)) == 12


SURFACES = """
faultspec: 1
taxonomy: {name: drawn, version: 1.0.0}
envelopes: {error: {shape: {code: $code}}, own: {shape: {fault: $code}}}
surfaces:
  first:
    match: {routes: [GET /a, GET /b, GET /c, GET /d], headers: {X-Kind: "a*"}, query: {v: "2"}}
    transport: http
    error_when: {status: [4xx]}
    envelope: [error, own]
  events: {transport: event, error_when: {equals: {/type: failed}}, envelope: own, at: /error}
  rest: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error}
codes: {gone: {summary: Gone., http: 410}}
"""


def test_surfaces_are_drawn_in_the_order_in_which_they_claim() -> None:
    """By transport, each with the exchanges it claims, its envelopes, and the sign of an error."""
    taxonomy = read(SURFACES, "t.yaml").taxonomy
    assert taxonomy is not None
    assert surface_map(taxonomy) == (
        "http",
        '├─ first: GET /a or GET /b or GET /c or 1 more, X-Kind: "a*", ?v="2" ─▶ error or own,'
        " if 4xx",
        "└─ rest: any other ─▶ error, if 4xx or 5xx",
        "event",
        '└─ events: any ─▶ own at /error, if /type is "failed"',
    )
    page = render(taxonomy, [SHIPPED["markdown"]], "t.yaml")["markdown/reference.md"]
    assert "* Where the header `X-Kind` is `a*`" in page
    assert "* Where the query parameter `v` is `2`" in page
