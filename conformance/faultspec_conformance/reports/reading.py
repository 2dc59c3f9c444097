"""A JSON report, read back: what `data` wrote of a report, as a report.

Of bodies and header values longer than what a report shows only the beginning is there; their size is kept, so that every
format of a report that was read is that of the report itself.
"""

import base64
import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import jsonschema

from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Headers, Request, Response
from faultspec_conformance.reports.data import LONGEST, VERSION, schema
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    Report,
    ReportedFinding,
    ResolvedFinding,
    Result,
    Shard,
)
from faultspec_conformance.results.waivers import Waiver

Data = Mapping[str, Any]

#: A byte that is no character of UTF-8, and so is shown in no text, for those of a body that are not shown.
_BEYOND = b"\x80"

#: A header value that is shown as its beginning and its length, which servers bound by far less than seven digits.
_SHORTENED = re.compile(rf"(.{{{LONGEST}}})… \(([0-9]{{1,7}}) characters\)", re.DOTALL)


class Unreadable(Exception):
    """A file that is no report; the text says why."""


def read(text: str) -> Report:
    """The report in a text; raises Unreadable."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no JSON: {error}") from error
    version = found.get("faultspec_report") if isinstance(found, dict) else None
    if version is None:
        raise Unreadable("it is no report of `faultspec conform --format json`")
    if version != VERSION:
        raise Unreadable(
            f"it is a report of version {version!r}; this program reads version {VERSION}"
        )
    problem = jsonschema.Draft202012Validator(schema()).iter_errors(found)
    first = next(iter(sorted(problem, key=lambda each: list(map(str, each.absolute_path)))), None)
    if first is not None:
        raise Unreadable(f"it is no whole report: {first.message[:200]} at {first.json_path}")
    try:
        return _report(found)
    except ValueError as error:  # a body that is no base64, a day that there is not
        raise Unreadable(f"it is no whole report: {error}") from error


def _report(found: Data) -> Report:
    run, summary, forms, baseline = (
        found["run"],
        found["summary"],
        found["forms"],
        found["baseline"],
    )
    result = Result(
        target=found["target"],
        taxonomy=found["taxonomy"],
        clauses={each["clause"]: _clause(each) for each in found["clauses"]},
        findings=tuple(_reported(each) for each in found["findings"]),
        coverage={code: _coverage(code, each) for code, each in found["coverage"].items()},
        requests=summary["requests"],
        generated=summary["generated"],
        seconds=summary["seconds"],
        notes=tuple(found["notes"]),
        failures=tuple(found["failures"]),
        not_run=tuple(found["not_run"]),
        fixed=None
        if baseline is None
        else tuple(ResolvedFinding(**_only(each, ResolvedFinding)) for each in baseline["fixed"]),
        waivers={_waiver(each): each["used"] for each in found["waivers"]},
        ordinary=forms["errors"],
        forms=forms["broken"],
        shards=tuple(Shard(*map(int, each.split("/"))) for each in run["shards"]),
        complete=run["complete"],
    )
    return Report(result, run["base"], run["only"], run["source"], run["interrupted"])


def _only(found: Data, wanted: type[ResolvedFinding]) -> dict[str, Any]:
    return {name: found[name] for name in wanted.__slots__}


def _clause(found: Data) -> ClauseResult:
    reasons = found["reasons"]
    return ClauseResult(
        address=found["clause"],
        title=found["title"],
        statements=tuple(found["statements"]),
        occasions=found["occasions"],
        failures=found["failures"],
        warnings=found["warnings"],
        known=found["known"],
        flaky=found["flaky"],
        not_run=tuple(reasons["could_not_run"]),
        not_exercised=tuple(reasons["not_exercised"]),
        not_checkable=tuple(reasons["not_checkable"]),
        idle=found["idle"],
    )


def _coverage(code: str, found: Data) -> Coverage:
    return Coverage(
        code=code,
        count=found["count"],
        statuses=tuple(found["statuses"]),
        operations=tuple(found["operations"]),
        reason=found["reason"],
        explained=found["explained"],
    )


def _waiver(found: Data) -> Waiver:
    return Waiver(
        clause=found["clause"],
        reason=found["reason"],
        owner=found["owner"],
        expires=date.fromisoformat(found["expires"]),
        operation=found["operation"],
        code=found["code"],
        status=found["status"],
    )


def _reported(found: Data) -> ReportedFinding:
    last = [found["exchange"]] if found["exchange"] is not None else []
    finding = Finding(
        clause=found["clause"],
        message=found["message"],
        statements=tuple(found["statements"]),
        level=found["level"],
        operation=found["operation"],
        code=found["code"],
        status=found["status"],
        pointer=found["pointer"],
        evidence=tuple(_exchange(each) for each in (*found["before"], *last)),
    )
    return ReportedFinding(
        finding,
        found["count"],
        found["waived"],
        found["flaky"],
        found["baseline"],
        found["form"],
        tuple(found.get("places", ())),
    )


def _exchange(found: Data) -> Exchange:
    request, response = found["request"], found["response"]
    return Exchange(
        request=Request(
            request["method"], request["target"], _headers(request["headers"]), _body(request)
        ),
        response=Response(
            response["status"],
            _headers(response["headers"]),
            _body(response),
            float(response["elapsed"]),
        ),
        transport=found["transport"],
        route=found["route"],
        operation=found["operation"],
        identity=found["identity"],
    )


def _headers(found: list[list[str]]) -> Headers:
    return tuple((name, _header(value)) for name, value in found)


def _header(value: str) -> str:
    shortened = _SHORTENED.fullmatch(value)
    return shortened[1].ljust(int(shortened[2]), " ") if shortened else value


def _body(found: Data) -> bytes:
    shown: str = found["body"]
    raw = (
        base64.b64decode(shown, validate=True)
        if found.get("encoding") == "base64"
        else shown.encode()
    )
    return raw.ljust(found["size"], _BEYOND)
