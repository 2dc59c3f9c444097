"""The report as one HTML file without external resources: findings, coverage, clauses, a filter.

The template ``page.html.jinja`` loops over the rows prepared here, with autoescaping.
"""

import json as _json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from faultspec.diagnostics.formats.escaping import escape_hidden
from faultspec.exchange.model import Exchange, Headers
from faultspec_conformance.reports import curl
from faultspec_conformance.reports.chart import HEIGHT, charts
from faultspec_conformance.reports.console import (
    STATES,
    WORDS,
    example_text,
    remarks,
    run_cost,
    seen_text,
    source_text,
)
from faultspec_conformance.reports.data import SHOWN, shortened_headers
from faultspec_conformance.results.enabling import (
    enablings,
    next_steps,
    other_transport,
    transport_lines,
)
from faultspec_conformance.results.model import (
    VERDICTS,
    Coverage,
    MapCell,
    Report,
    ReportedFinding,
    Verdict,
    exit_code,
)
from faultspec_conformance.results.waivers import waiver_line

#: Characters of a body with its indentation, which deep nesting makes a thousand times the body.
_LAID_OUT = 4 * SHOWN

#: The verdict on the whole run, by its exit code.
_OVERALL: Mapping[int, Verdict] = {0: "passed", 1: "failed", 2: "could_not_run"}


class ExampleRow(NamedTuple):
    """A further example of a finding. ``id``: its ID for `faultspec replay`."""

    id: str
    operation: str
    text: str
    exchanges: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]


class FindingRow(NamedTuple):
    """A finding; ``state`` is the verdict whose colour it has."""

    reported: ReportedFinding
    state: Verdict
    place: str
    exchanges: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]
    seen: str
    operations: tuple[str, ...]
    examples: tuple[ExampleRow, ...]
    source: str
    waiver: str


class MapPlace(NamedTuple):
    """A place of the map; ``state`` is the verdict whose colour it has. ``width``: the columns of
    one without a state.
    """

    code: str
    state: Verdict | None = None
    text: str = ""
    meaning: str = ""
    width: int = 1


class CoverageRow(NamedTuple):
    """The coverage of one code; ``state`` is the verdict whose colour it has."""

    coverage: Coverage
    state: Verdict
    word: str


def _make_visible(value: object) -> object:
    """A text of a service without hidden characters, and without those that turn its direction."""
    # Markup, which is a text too, is the work of this module.
    return escape_hidden(value) if type(value) is str else value


def html(report: Report) -> str:
    """The whole page."""
    result = report.result
    remedies = enablings(result)
    environment = Environment(
        loader=PackageLoader("faultspec_conformance.reports", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_make_visible,
    )
    return environment.get_template("page.html.jinja").render(
        title=f"{result.target} by {result.taxonomy}",
        verdict=_OVERALL[exit_code(result)],
        words=WORDS,
        cost=run_cost(result),
        run=_run_text(report),
        counts=[(verdict, result.count(verdict)) for verdict in VERDICTS],
        notes=remarks(result)[::-1],
        codes_of_map=_map_codes(result.map),
        rows_of_map=_map_rows(result.map),
        charts=charts(result.part),
        height=HEIGHT,
        findings=[_finding_row(report, reported) for reported in result.findings],
        codes=[_coverage_row(coverage) for coverage in result.coverage.values()],
        clauses=[
            (clause, remedies.get(clause.address))
            for clause in result.clauses.values()
            if other_transport(clause) is None
        ],
        elsewhere=tuple(transport_lines(result.clauses)),
        steps=() if report.interrupted or exit_code(result) else next_steps(result),
    )


def _run_text(report: Report) -> str:
    """The date of the run, the version of faultspec and the seed."""
    version = f"faultspec {report.version}" if report.version else ""
    seed = f"seed {report.seed}" if report.seed is not None else "no seed"
    return ", ".join(filter(None, (report.day.isoformat(), version, seed)))


#: What the map shows for errors without a readable code.
_UNREADABLE = "no code"


def _map_codes(cells: Sequence[MapCell]) -> list[str]:
    return [code or _UNREADABLE for code in dict.fromkeys(cell.code for cell in cells)]


def _map_rows(cells: Sequence[MapCell]) -> list[tuple[str, list[MapPlace]]]:
    """The operations, each with its places. Neighbours without a cell are one place: there are as
    many as operations times codes.
    """
    columns = {code: at for at, code in enumerate(dict.fromkeys(cell.code for cell in cells))}
    rows: dict[str, dict[int, MapCell]] = {}
    for cell in cells:
        rows.setdefault(cell.operation, {})[columns[cell.code]] = cell
    return [(operation, list(_map_places(row, len(columns)))) for operation, row in rows.items()]


def _map_places(row: Mapping[int, MapCell], width: int) -> Iterator[MapPlace]:
    """The places of a row with ``width`` columns, whose cells are given by column."""
    at = 0
    for column, cell in sorted(row.items()):
        if column > at:
            yield MapPlace("", width=column - at)
        yield _map_place(cell)
        at = column + 1
    if width > at:
        yield MapPlace("", width=width - at)


def _map_place(cell: MapCell) -> MapPlace:
    code = cell.code or _UNREADABLE
    if cell.wrong:
        return MapPlace(code, "failed", f"✗ {cell.count or cell.wrong}", "wrong")
    if cell.count:
        return MapPlace(code, "passed", str(cell.count), "observed")
    return MapPlace(code, "not_exercised", "–", "declared, not seen")


def _coverage_row(coverage: Coverage) -> CoverageRow:
    if coverage.observed:
        return CoverageRow(coverage, "passed", "observed")
    if coverage.explained:
        return CoverageRow(coverage, "not_checkable", "explained")
    return CoverageRow(coverage, "not_exercised", "not observed")


def _finding_row(report: Report, reported: ReportedFinding) -> FindingRow:
    finding = reported.finding
    place = (finding.operation, str(finding.status or ""), finding.code, *reported.places)
    return FindingRow(
        reported=reported,
        state=STATES[reported.standing],
        place=" ".join(filter(None, place)),
        exchanges=tuple(map(_exchange_texts, finding.evidence)),
        commands=curl.numbered_commands(report.base, finding.evidence),
        seen=seen_text(reported),
        operations=reported.operations if len(reported.operations) > 1 else (),
        examples=tuple(_example_rows(report, reported)),
        source=source_text(finding),
        waiver=waiver_line(finding, reported.operations, report.day),
    )


def _example_rows(report: Report, reported: ReportedFinding) -> Iterator[ExampleRow]:
    for number, example in [*enumerate(reported.examples, 1)][1:]:
        yield ExampleRow(
            id=reported.example_id(number),
            operation=example.operation or "",
            text=example_text(example),
            exchanges=tuple(map(_exchange_texts, example.evidence)),
            commands=curl.numbered_commands(report.base, example.evidence),
        )


def _exchange_texts(exchange: Exchange) -> tuple[str, str]:
    """Request and response as texts."""
    request, response = exchange.request, exchange.response
    return (
        _message_text(f"{request.method} {request.target}", request.headers, request.body),
        _message_text(str(response.status or ""), response.headers, response.body),
    )


def _message_text(start: str, headers: Headers, body: bytes) -> str:
    fields = [f"{name}: {value}" for name, value in shortened_headers(headers)]
    return "\n".join([start, *fields, "", _body_text(body)]).strip()


def _body_text(body: bytes) -> str:
    text = body[:SHOWN].decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):
        laid_out = _lay_out(_json.loads(text))
        return laid_out or f"{text}… (too deep to be laid out)"
    return text if len(body) <= SHOWN else f"{text}… ({len(body)} bytes)"


def _lay_out(value: object) -> str | None:
    """A JSON value with indentation; None if that would be many times the value."""
    parts, size = [], 0
    for part in _json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
        parts.append(part)
        size += len(part)
        if size > _LAID_OUT:
            return None
    return "".join(parts)
