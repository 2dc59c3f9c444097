"""JSON reports → reports.

A JSON report has only the beginning of a long body or header value, and its size. Both are padded
to that size, so that every format of the report that was read equals that of the original.
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

#: Padding of a shortened body: a byte that is invalid in UTF-8, so that no text shows it.
_PADDING = b"\x80"

#: A shortened header value: its beginning and its length. Servers limit it below seven digits.
_SHORTENED = re.compile(rf"(.{{{LONGEST}}})… \(([0-9]{{1,7}}) characters\)", re.DOTALL)


class Unreadable(Exception):
    """The file is not a report; the text gives the reason."""


def read_report(text: str) -> Report:
    """The report in a JSON text; raises Unreadable."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON: {error}") from error
    version = found.get("faultspec_report") if isinstance(found, dict) else None
    if version is None:
        raise Unreadable("it is not a report of `faultspec conform --format json`")
    if version != VERSION:
        raise Unreadable(
            f"it is a report of version {version!r}; this program reads version {VERSION}"
        )
    errors = jsonschema.Draft202012Validator(schema()).iter_errors(found)
    first = min(errors, key=lambda error: list(map(str, error.absolute_path)), default=None)
    if first is not None:
        raise Unreadable(f"it is not a valid report: {first.message[:200]} at {first.json_path}")
    try:
        return _report(found)
    except ValueError as error:  # invalid base64 in a body, or an invalid date
        raise Unreadable(f"it is not a valid report: {error}") from error


def _report(found: Data) -> Report:
    run, summary, baseline = found["run"], found["summary"], found["baseline"]
    result = Result(
        target=found["target"],
        taxonomy=found["taxonomy"],
        clauses={clause["clause"]: _clause(clause) for clause in found["clauses"]},
        findings=tuple(map(_reported, found["findings"])),
        coverage={code: _coverage(code, data) for code, data in found["coverage"].items()},
        requests=summary["requests"],
        generated=summary["generated"],
        seconds=summary["seconds"],
        notes=tuple(found["notes"]),
        failures=tuple(found["failures"]),
        not_run=tuple(found["not_run"]),
        fixed=None
        if baseline is None
        else tuple(
            ResolvedFinding(**{name: data[name] for name in ResolvedFinding.__slots__})
            for data in baseline["fixed"]
        ),
        waivers={_waiver(data): data["used"] for data in found["waivers"]},
        ordinary=found["forms"]["errors"],
        forms=found["forms"]["broken"],
        shards=tuple(Shard(*map(int, shard.split("/"))) for shard in run["shards"]),
        complete=run["complete"],
    )
    return Report(
        result=result,
        base=run["base"],
        only=run["only"],
        source=run["source"],
        interrupted=run["interrupted"],
    )


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
        evidence=tuple(map(_exchange, (*found["before"], *last))),
    )
    return ReportedFinding(
        finding=finding,
        count=found["count"],
        waived=found["waived"],
        flaky=found["flaky"],
        baseline=found["baseline"],
        form=found["form"],
        places=tuple(found.get("places", ())),
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
    text: str = found["body"]
    encoded = found.get("encoding") == "base64"
    raw = base64.b64decode(text, validate=True) if encoded else text.encode()
    return raw.ljust(found["size"], _PADDING)
