"""The report as one HTML file that needs nothing else: no network, no fonts, light and dark, a filter."""

import html as _html
import json as _json
from importlib.resources import files

from faultspec.exchange import Exchange
from faultspec_conformance import curl
from faultspec_conformance.reports.console import WORDS
from faultspec_conformance.reports.data import SHOWN
from faultspec_conformance.run import Report
from faultspec_conformance.verdict import VERDICTS, ClauseResult, Reported


def html(report: Report) -> str:
    """The whole report; every text in it is escaped."""
    result = report.result
    frame = files("faultspec_conformance.reports").joinpath("page.html").read_text(encoding="utf-8")
    verdict = "failed" if result.count("failed") or result.failures else "passed"
    if verdict == "passed" and (result.count("could_not_run") or result.not_run or not result.count("passed")):
        verdict = "could_not_run"
    parts = {
        "@title@": _text(f"{result.target} by {result.taxonomy}"),
        "@verdict@": f'<span class="v {verdict}">{_text(WORDS[verdict])}</span>',  # type: ignore[index]  # one of them
        "@cost@": _text(f"{result.requests} requests in {result.seconds:.1f} s"),
        "@counts@": "".join(
            f'<button class="chip {each}" data-verdict="{each}" aria-pressed="true">{result.count(each)} {_text(WORDS[each])}</button>'
            for each in VERDICTS
        ),
        "@notes@": _items([*result.failures, *result.not_run, *result.notes]),
        "@findings@": "".join(_finding(report.base, each) for each in result.findings)
        or "<p class=calm>Nothing was found.</p>",
        "@coverage@": "".join(_code_row(report, code) for code in result.coverage),
        "@clauses@": "".join(_clause(each) for each in result.clauses.values()),
    }
    for mark, part in parts.items():
        frame = frame.replace(mark, part, 1)
    return frame


def _items(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>" if lines else ""


def _clause(clause: ClauseResult) -> str:
    seen = f"{clause.failures} of {clause.occasions}" if clause.failures else str(clause.occasions or "")
    return (
        f'<tr class=row data-verdict="{clause.verdict}"><td><span class="v {clause.verdict}">{_text(WORDS[clause.verdict])}</span>'
        f"<td><code>{_text(clause.address)}</code><td>{_text(clause.title)}"
        f"<td>{_text(', '.join(clause.statements))}<td class=n>{_text(seen)}<td class=why>{_text(clause.reason)}"
    )


def _code_row(report: Report, code: str) -> str:
    each = report.result.coverage[code]
    state = "passed" if each.observed else "not_checkable" if each.explained else "not_exercised"
    words = "observed" if each.observed else "explained" if each.explained else "not observed"
    return (
        f'<tr class=row data-verdict="{state}"><td><span class="v {state}">{words}</span><td><code>{_text(code)}</code>'
        f"<td>{_text(', '.join(map(str, each.statuses)))}<td class=n>{each.count or ''}"
        f"<td class=why>{_text(', '.join(each.operations) or each.reason or '')}"
    )


def _finding(base: str, reported: Reported) -> str:
    finding = reported.finding
    state = (
        "not_checkable" if reported.waived is not None else "failed" if reported.level == "error" else "not_exercised"
    )
    word = "known" if reported.waived is not None else reported.level
    place = " ".join(part for part in (finding.operation, str(finding.status or ""), finding.code) if part)
    return (
        f'<details class="finding row" data-verdict="{state}"><summary><span class="v {state}">{_text(word)}</span> '
        f"<code>{_text(finding.clause)}</code> <span class=place>{_text(place)}</span>"
        f"<p>{_text(finding.message)}{f' <em>({reported.count} times)</em>' if reported.count > 1 else ''}</p></summary>"
        + (f"<p>Known: {_text(reported.waived)}</p>" if reported.waived is not None else "")
        + (f"<p>Statements: {_text(', '.join(finding.statements))}</p>" if finding.statements else "")
        + "".join(_exchange(each) for each in finding.evidence)
        + f"<h4>Again</h4><pre>{_text(curl.lines(base, finding.evidence))}</pre>"
        + f"<p class=fp>{_text(finding.fingerprint)}</p></details>"
    )


def _exchange(exchange: Exchange) -> str:
    request, response = exchange.request, exchange.response
    asked = "\n".join(
        [f"{request.method} {request.target}", *(f"{n}: {v}" for n, v in request.headers), "", _body(request.body)]
    )
    told = "\n".join(
        [str(response.status or ""), *(f"{n}: {v}" for n, v in response.headers), "", _body(response.body)]
    )
    return f"<div class=pair><pre>{_text(asked.strip())}</pre><pre>{_text(told.strip())}</pre></div>"


def _body(body: bytes) -> str:
    shown = body[:SHOWN].decode("utf-8", "replace")
    try:
        return _json.dumps(_json.loads(shown), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return shown if len(body) <= SHOWN else f"{shown}… ({len(body)} bytes)"


def _text(text: str) -> str:
    # A mark of the frame in a text must not be filled in a later turn.
    return _html.escape(text).replace("@", "&#64;")
