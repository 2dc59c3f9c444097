"""JSON reports → reports.

A JSON report has only the beginning of a long body or header value, and its size. Both are padded
to that size, so that every format of the report that was read equals that of the original.
"""

import base64
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import date
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import jsonschema

from faultspec import source
from faultspec.exchange.finding import Finding
from faultspec.exchange.model import Exchange, Headers, Request, Response
from faultspec_conformance.reports.curl import PADDING
from faultspec_conformance.reports.data import LONGEST, VERSION, report_schema
from faultspec_conformance.results.activity import Activity, Cell
from faultspec_conformance.results.model import (
    ClauseResult,
    Coverage,
    MapCell,
    Report,
    ReportedFinding,
    ResolvedFinding,
    Result,
    SentRequest,
    Shard,
)
from faultspec_conformance.results.part import FileCount, Needs, Part, Skips
from faultspec_conformance.results.waivers import Waiver

Data = Mapping[str, Any]
T = TypeVar("T")

#: Equal bytes at the end of a shortened body or value, which go on in the rest of it.
_RUN = 64

#: A shortened header value: its beginning and its length. Servers limit it below seven digits.
_SHORTENED = re.compile(rf"(.{{{LONGEST}}})… \(([0-9]{{1,7}}) characters\)", re.DOTALL)


#: Bytes of all different bodies and header values of a report that are shortened in it. The largest
#: requests of the suite, of 11 MiB, have equal bodies.
_RESTORED = 32 * 1024 * 1024

#: A string, or the sign before a value.
_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{,]', re.DOTALL)

#: The last year of a date. Waivers expire some days after it.
_LAST_YEAR = 9000

#: The most shards of a run, as `--shard` takes them.
_SHARDS = 9999


class ReportError(Exception):
    """The file is not a report; the text gives the reason."""


def read_report(text: str) -> Report:
    """The report in a JSON text; raises ReportError. Its values are counted before any is made: a
    value takes up to 25 times its text, and more where it is printed.
    """
    if _is_too_large(text):
        raise ReportError(f"the report has more than {source.MAX_NODES:,} values")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the report is not JSON: {error}") from error
    del text  # up to 64 MB
    version = found.get("faultspec_report") if isinstance(found, dict) else None
    if version is None:
        raise ReportError("the file is not a report of `faultspec conform --format json`")
    if version != VERSION:
        versions = f"{version!r}; this version of faultspec reads {VERSION}"
        raise ReportError(f"the report has format version {versions}")
    errors = jsonschema.Draft202012Validator(report_schema()).iter_errors(found)
    first = min(errors, key=lambda error: list(map(str, error.absolute_path)), default=None)
    if first is not None:
        raise ReportError(f"the report is not valid: {first.message[:200]} at {first.json_path}")
    try:
        _check_clauses(found)
        _restore_shortened(found)
        return _report(found)
    # Invalid base64 in a body, an invalid date, half a surrogate, a number without an end.
    except (ValueError, OverflowError) as error:
        raise ReportError(f"the report is not valid: {error}") from error


def latest_report(texts: Iterable[str]) -> Report | None:
    """The report with the most requests, of JSON texts of one run that may be cut off; None if no
    text is whole.
    """
    found = []
    for text in texts:
        with suppress(ReportError):
            found.append(read_report(text))
    return max(found, key=lambda report: report.result.requests, default=None)


def _is_too_large(text: str) -> bool:
    signs = (token for token in _TOKENS.finditer(text) if token.end() - token.start() == 1)
    return next(islice(signs, source.MAX_NODES, None), None) is not None


def _restore_shortened(found: Data) -> None:
    """Put whole bodies and header values in place of shortened ones, each different one once.
    Raises ValueError if they would take more memory than any run uses.
    """
    restored: dict[Hashable, bytes | str] = {}
    length = 0

    def restore(key: Hashable, size: int, make: Callable[[], bytes | str]) -> bytes | str:
        nonlocal length
        if key not in restored:
            length += size
            if length > _RESTORED:
                raise ValueError(f"its bodies and headers have more than {_RESTORED} bytes")
            restored[key] = make()
        return restored[key]

    for message in _messages(found):
        key = message["body"], message.get("encoding"), message["size"]
        message["body"] = restore(key, message["size"], partial(_body, message))
        for header in message["headers"]:
            shortened = _SHORTENED.fullmatch(header[1])
            if shortened is not None:
                size = int(shortened[2])
                header[1] = restore(header[1], size, partial(_header, shortened[1], size))


def _messages(found: Data) -> Iterator[dict[str, Any]]:
    """The requests and responses of all findings."""
    for finding in found["findings"]:
        for one in (finding, *finding.get("examples", ())[1:]):
            for exchange in (*one["before"], one["exchange"]):
                if exchange is not None:
                    yield exchange["request"]
                    yield exchange["response"]


def _check_clauses(found: Data) -> None:
    """Raise ValueError if the report lacks a clause of its findings or of its part."""
    known = {clause["clause"] for clause in found["clauses"]}
    foreign = [
        address
        for name in ("needs", "unlisted")
        for address in found.get("part", {}).get(name, ())
        if address not in known
    ]
    if foreign:
        raise ValueError(f"its clauses lack `{foreign[0][:80]}`, which its part names")
    for finding in found["findings"]:
        if finding["clause"] not in known:
            raise ValueError(f"its clauses lack `{finding['clause'][:80]}`, which a finding names")


def _read_day(text: str) -> date:
    """A date; raises ValueError for one that leaves no room for the days after it."""
    found = date.fromisoformat(text)
    if found.year > _LAST_YEAR:
        raise ValueError(f"the date {text} is too late")
    return found


def _read_shard(text: str) -> Shard:
    """A shard; raises ValueError for one that no run has."""
    number, of = map(int, text.split("/"))
    if not 1 <= number <= of <= _SHARDS:
        raise ValueError(f"the shard {text} does not exist")
    return Shard(number, of)


def _report(found: Data) -> Report:
    run, summary, baseline = found["run"], found["summary"], found["baseline"]
    result = Result(
        target=found["target"],
        taxonomy=found["taxonomy"],
        clauses={clause["clause"]: _clause(clause) for clause in found["clauses"]},
        findings=tuple(map(_read_finding, found["findings"])),
        coverage={
            code: _build(Coverage, data, code=code) for code, data in found["coverage"].items()
        },
        requests=summary["requests"],
        generated=summary["generated"],
        seconds=summary["seconds"],
        notes=tuple(found["notes"]),
        failures=tuple(found["failures"]),
        not_run=tuple(found["not_run"]),
        fixed=None
        if baseline is None
        else tuple(_build(ResolvedFinding, data) for data in baseline["fixed"]),
        waivers={
            _build(Waiver, data, expires=_read_day(data["expires"])): data["used"]
            for data in found["waivers"]
        },
        ordinary=found["forms"]["errors"],
        forms=found["forms"]["broken"],
        **found.get("judged", {}),
        shards=tuple(map(_read_shard, run["shards"])),
        complete=run["complete"],
        map=tuple(_build(MapCell, cell) for cell in found.get("map", ())),
        sent=tuple(
            _build(SentRequest, sent, decided=tuple(sent["decided"]))
            for sent in found.get("sent", ())
        ),
        part=_part(found["part"]) if "part" in found else None,
    )
    day = {"day": _read_day(run["date"])} if "date" in run else {}
    return Report(
        result=result,
        base=run["base"],
        only=run["only"],
        source=run["source"],
        interrupted=run["interrupted"],
        seed=run.get("seed"),
        version=run.get("version", ""),
        **day,
    )


def _part(found: Data) -> Part:
    return _build(
        Part,
        found,
        files={name: _build(FileCount, count) for name, count in found["files"].items()},
        needs={address: _build(Needs, needs) for address, needs in found["needs"].items()},
        lacking={tuple(lacking["facts"]): lacking["count"] for lacking in found["lacking"]},
        skipped=tuple(_build(Skips, skips) for skips in found["skipped"]),
        activity=_activity(found.get("activity", ())),
    )


def _activity(found: Iterable[Data] | None) -> Mapping[Cell, Activity] | None:
    if found is None:
        return None
    return {(cell["service"], cell["since"]): _build(Activity, cell) for cell in found}


def _build(kind: type[T], found: Data, **others: object) -> T:
    """A dataclass from the members of its fields' names; `others` are its other fields."""
    values = {
        field.name: found[field.name]
        for field in fields(kind)  # type: ignore[arg-type]  # every `kind` is a dataclass
        if field.name not in others and field.name in found
    }
    frozen = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return kind(**frozen, **others)


def _clause(found: Data) -> ClauseResult:
    reasons = found["reasons"]
    return _build(
        ClauseResult,
        found,
        address=found["clause"],
        not_run=tuple(reasons["could_not_run"]),
        not_exercised=tuple(reasons["not_exercised"]),
        not_checkable=tuple(reasons["not_checkable"]),
    )


def _read_finding(found: Data) -> ReportedFinding:
    source = found.get("source", {})
    finding = _build(
        Finding,
        found,
        evidence=_evidence(found),
        sections=tuple(source.get("sections", ())),
        rulings=tuple(source.get("rulings", ())),
    )
    others = (_build_example(finding, example) for example in found.get("examples", ())[1:])
    return _build(ReportedFinding, found, finding=finding, examples=(finding, *others))


def _build_example(finding: Finding, found: Data) -> Finding:
    names = ("operation", "status", "code", "message", "pointer")
    own = {name: found[name] for name in names}
    return replace(finding, **own, evidence=_evidence(found))


def _evidence(found: Data) -> tuple[Exchange, ...]:
    last = [] if found["exchange"] is None else [found["exchange"]]
    return tuple(map(_exchange, (*found["before"], *last)))


def _exchange(found: Data) -> Exchange:
    request, response = found["request"], found["response"]
    request["target"].encode()  # half a surrogate could not be printed
    return Exchange(
        request=Request(
            request["method"], request["target"], _headers(request["headers"]), request["body"]
        ),
        response=Response(
            response["status"],
            _headers(response["headers"]),
            response["body"],
            float(response["elapsed"]),
        ),
        transport=found["transport"],
        route=found["route"],
        operation=found["operation"],
        identity=found["identity"],
        trigger=found.get("trigger", ""),
    )


def _headers(found: list[list[str]]) -> Headers:
    return tuple((name, value) for name, value in found)


def _header(shown: str, size: int) -> str:
    return shown.ljust(size, shown[-1] if len(set(shown[-_RUN:])) == 1 else " ")


def _body(found: Data) -> bytes:
    text: str = found["body"]
    encoded = found.get("encoding") == "base64"
    raw = base64.b64decode(text, validate=True) if encoded else text.encode()
    return raw.ljust(found["size"], raw[-1:] if len(set(raw[-_RUN:])) == 1 else PADDING)
