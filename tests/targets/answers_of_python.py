"""The answers of generated Python, which bindings in other languages give too."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from faultspec.language.model import Code, Taxonomy
from faultspec.runtime import ids
from faultspec.targets import schema as schemas
from faultspec.targets.data_rows import derived_headers
from faultspec.targets.python.wire import has_error_lists
from targets.test_target_vectors import NO_PYTHON, vectors
from targets.test_typescript import Compiled
from targets.test_typescript_servers import GIVEN, module, samples

#: Wanted languages: other cases, narrower ones, private parts, and none that is declared.
LOCALES = ("DE-at-1996", "de-x-private", "PT-br", "pt", "zh-Hans-CN", "zh", "xx", "", "-")

Sent = tuple[int, list[tuple[str, str]], object]


class SentCases(NamedTuple):
    """Cases of each taxonomy as JSON, and the answer of Python to each: status, fields and body."""

    cases: dict[str, list[dict[str, Any]]]
    wanted: dict[str, list[Sent]]

    def add(self, name: str, case: dict[str, Any], sent: Sent) -> None:
        """Add a case of a taxonomy."""
        self.cases.setdefault(name, []).append(case)
        self.wanted.setdefault(name, []).append(sent)


def error_cases(taxonomies: Mapping[str, Taxonomy], compiled: Compiled) -> SentCases:
    """Every shared code, without details and with a value for each, in every language; where an
    envelope is a list of errors, also with the code before it behind.
    """
    found = SentCases({}, {})
    for name, taxonomy in with_python(taxonomies):
        errors, wire = module(compiled, name, "errors"), module(compiled, name, "wire")
        slots = {place.slot: GIVEN for place in wire.PLACES if place.slot != "actions"}
        shared = [code for operation, code in schemas.live(taxonomy) if operation is None]
        single: list[dict[str, Any]] = [
            {"code": code.name, "details": details, "slots": slots}
            for code in shared
            if code.details_schema is None
            for details in ({}, samples(code))
        ]
        single += [
            {**case, "locale": locale}
            for case, code in product(single, shared)
            if case["code"] == code.name and code.messages
            for locale in (*code.messages, *LOCALES)
        ]
        lists = has_error_lists(taxonomy)
        waits = {code.name: key for code in shared for key in _waits(code, taxonomy)}
        for case, before in zip(single, [single[-1], *single[:-1]], strict=True):
            for asked in (case, *([{**case, "others": [before, case]}] * lists)):
                try:
                    made = _made(asked, errors, wire, waits)
                    options = {"locale": asked["locale"]} if "locale" in asked else {}
                    sent = wire.render(made, slots=slots, **options)
                except (ValueError, KeyError):
                    continue  # the details cannot be written in the envelope
                fields = plain(sent.headers.items())
                found.add(name, asked, (sent.status, fields, json.loads(sent.body)))
    return found


def _waits(code: Code, taxonomy: Taxonomy) -> Iterator[str]:
    """The detail of a code that Retry-After repeats."""
    yield from (row["key"] for row in derived_headers(code, taxonomy) if row["as"] == "wait")


def _made(case: Mapping[str, Any], errors: Any, wire: Any, waits: Mapping[str, str]) -> Any:
    """The error of a case. A constructor would fill its wait."""
    made = errors.bare(errors.ERRORS[case["code"]], details=case["details"])
    made.retry_after = case["details"].get(waits.get(case["code"]))
    for place in wire.PLACES:
        if place.slot in case["slots"]:
            setattr(made, place.attribute, GIVEN)
    if "others" in case:
        made.others = tuple(_made(other, errors, wire, waits) for other in case["others"])
    return made


def status_cases(taxonomies: Mapping[str, Taxonomy], compiled: Compiled) -> SentCases:
    """Every status from 400 to 599 that a handler wrote, with headers of which some are kept."""
    headers = {"Allow": "GET", "Set-Cookie": "a=1", "Access-Control-Allow-Origin": "*"}
    headers |= {"Content-Type": "text/html", "Retry-After": "soon", "X-Powered-By": "x"}
    found = SentCases({}, {})
    for name, _ in with_python(taxonomies):
        boundary = module(compiled, name, "boundary")
        needed = getattr(module(compiled, name, "wire"), "NEEDED", {})
        policy = _policy(boundary, module(compiled, name, "wire"))
        given = ids.new(boundary.CORRELATION_FORMATS[0])
        own = boundary.encoded([(policy.correlation.header, given)])
        exchange = boundary.BoundaryExchange(policy, "GET", "/x", own)
        for status in range(400, 600):
            answer = exchange.settle(
                boundary.Answer(status, boundary.encoded(headers.items()), b"")
            )
            slots = dict.fromkeys(needed, "given")
            found.add(
                name,
                {"status": status, "headers": headers, "id": given, "slots": slots},
                _sent(answer),
            )
    return found


def check_passing(
    taxonomies: Mapping[str, Taxonomy], compiled: Compiled, run: Callable[[Any], Any]
) -> None:
    """An answer of the vectors that a handler wrote itself passes the boundary of a program as it
    is if it passes Python's, and does not if an error in it is not declared.
    """
    cases: dict[str, list[dict[str, Any]]] = {}
    passing: dict[str, list[bool]] = {}
    for name, taxonomy in with_python(taxonomies):
        for case, passes in _passing_cases(name, taxonomy, compiled):
            cases.setdefault(name, []).append(case)
            passing.setdefault(name, []).append(passes)
    found = run(cases)
    assert sum(map(sum, passing.values())) > 200
    for name, own in cases.items():
        for got, case, passes in zip(found[name], own, passing[name], strict=True):
            has_passed = (got["status"], got["body"]) == (case["status"], json.loads(case["body"]))
            assert has_passed == passes, f"{name}: {case}: {got}"


def _passing_cases(
    name: str, taxonomy: Taxonomy, compiled: Compiled
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each answer that Python passes or that has an undeclared error, and whether it passes."""
    boundary, wire = module(compiled, name, "boundary"), module(compiled, name, "wire")
    policy = _policy(boundary, wire)
    slots = dict.fromkeys(getattr(wire, "NEEDED", {}), "given")
    for answer in vectors(taxonomy)["answers"]:
        status, parsed = answer["wire"]["status"], answer["parsed"]
        is_known = all(error["known"] for error in (parsed, *parsed.get("others", ())))
        headers = {"Content-Type": policy.media_type, **answer["wire"]["headers"]}
        given = headers.get(policy.correlation.header, ids.new(boundary.CORRELATION_FORMATS[0]))
        own = boundary.encoded([(policy.correlation.header, given)])
        exchange = boundary.BoundaryExchange(policy, "GET", "/x", own)
        body = answer["wire"]["body"]
        if status is None or not 400 <= status < 600 or not _is_json(body):
            continue
        sent = boundary.Answer(status, boundary.encoded(headers.items()), body.encode())
        passes = exchange.is_envelope(sent)
        if passes or not is_known:
            case = {"status": status, "headers": headers, "id": given, "slots": slots}
            yield {**case, "body": body}, passes


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _policy(boundary: Any, wire: Any) -> Any:
    """The policy of a boundary that fills what only a service knows."""
    needed: Mapping[str, str] = getattr(wire, "NEEDED", {})

    def complete(error: Any) -> None:
        for attribute in needed.values():
            setattr(error, attribute, "given")

    options = {"complete": complete} if needed else {}
    return boundary.make_policy(choose=lambda problem: None, **options)


def _sent(answer: Any) -> Sent:
    """An answer of a boundary as status, fields and body."""
    fields = [
        tuple(part.decode() if isinstance(part, bytes) else part for part in field)
        for field in answer.fields
    ]
    return (answer.status, plain(fields), json.loads(answer.body))


def check_answers(cases: SentCases, run: Callable[[Any], Any]) -> None:
    """The answers of a program to the cases are those of Python."""
    found = run(cases.cases)
    assert sum(map(len, cases.wanted.values())) > 200
    for name, answers in cases.wanted.items():
        for got, expected, case in zip(found[name], answers, cases.cases[name], strict=True):
            answer = answer_of(got)
            assert answer == expected, f"{name}: {case}: {answer}, expected {expected}"


def with_python(taxonomies: Mapping[str, Taxonomy]) -> Iterator[tuple[str, Taxonomy]]:
    """The taxonomies that have a Python package."""
    yield from (each for each in taxonomies.items() if each[0] not in NO_PYTHON)


def plain(fields: Iterable[Any]) -> list[tuple[str, str]]:
    """Header fields in order of name, without the length."""
    found = sorted((name.lower(), value) for name, value in fields)
    return [field for field in found if field[0] != "content-length"]


def answer_of(got: Mapping[str, Any]) -> Sent:
    """An answer of a program as status, fields and body."""
    fields = [(name, value) for name, values in got["headers"].items() for value in values]
    return got["status"], plain(fields), got["body"]
