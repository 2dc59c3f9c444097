"""What frameworks and gateways answer by themselves: unknown routes, wrong methods, bodies that cannot be read.

Only what the taxonomy pins is asked for. That an API looks at credentials before it looks at the body, or knows no 405, is
its own affair, as long as the answer is one of the declared errors.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from faultspec.exchange.finding import Finding, Level
from faultspec.exchange.model import Canary
from faultspec.language.model import Code, Taxonomy
from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance import sampling
from faultspec_conformance.config import ABSENT
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.probes import correlation
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.fixtures import fresh_key, likely_body
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    FORM,
    Observation,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.parameters import readable, required_query, values_for
from faultspec_conformance.session.resources import JSON, content_type, is_json_write

#: Answers that say nothing of the body: something else was looked at first.
_LOOKED_ELSEWHERE = frozenset({401, 403, 404, 405, 406, 409, 410, 412, 428, 429})

#: So many operations are asked one by one; the rest of a large API is built on the same framework.
_OPERATIONS = 12

#: The statuses that say that input is not valid (RFC 9110, 15.5.1 and 15.5.21).
_INVALID_INPUT = (400, 422)

#: What a code is called that says so, in whatever spelling.
_VALIDITY = re.compile(r"valid|malformed|unprocessable|bad_?request|bad_?input", re.IGNORECASE)

#: So many bodies that a schema rules out are sent in all.
_INVALID = 3

#: So many query parameters are tried beyond their bounds.
_BOUNDS = 6

#: So many paths are asked for their methods: one router answers for all.
_PATHS = 2

#: Deeper than parsers go that call themselves, and far shorter than any limit of a body.
_DEPTH = 2_500

#: Bytes that UTF-8 never has.
_NOT_UTF8 = b"\xff\xfe"

#: Half a surrogate pair in a JSON string, which parsers take and encoders do not. It is sent where nothing can be kept of
#: it: a list that holds it could not be shown any more.
_HALF = b'"half": "\\ud800", '

#: What databases refuse in the midst of a text, as it stands in a JSON string; who keeps it harms nobody.
_UNUSUAL: Mapping[str, bytes] = {"a text with NUL in it": b"a\\u0000b"}

#: Bytes of body: just over common limits of frameworks, of proxies, and of gateways.
_SIZES = (128 * 1024 + 1, 1024 * 1024 + 65_537, 11 * 1024 * 1024)

#: Characters of a query: over the usual 8 KiB, under the 16 and 64 KiB where servers hang up without an answer.
_LONG = 9_000

#: Bytes of a header section: what Node and proxies allow, and more than uvicorn or Go's proxies do.
_HEADS = (16 * 1024, 128 * 1024)


def unknown_routes(world: HttpSession) -> Iterator[Outcome]:
    """A route and a sub-resource that nobody declared, with GET and HEAD; and a page for people asked of one.

    All but the first bring a malformed correlation id, which must neither come back nor change the answer.
    """
    clause = "framework/unknown-route"
    address = world.canary("address")
    path = f"{_base(world)}/{address.value}"
    canaries = (world.canary("email"), world.canary("secret"))
    query = {"email": canaries[0].value, "api_key": canaries[1].value}
    plain = world.call(
        "GET", path, query=query, plant=(address, *canaries), route=None, correlation="valid"
    )
    yield refused(clause, plain, "a route that is not there")
    wrong = dict(enumerate(correlation.malformed(world)))

    def ask(
        turn: int, method: str, path: str, accept: str = JSON
    ) -> tuple[Observation, list[Outcome]]:
        what, value = wrong.get(turn, ("", "none"))
        sent = world.call(
            method, path, accept=accept, route=None, correlation=value, plant=(address,)
        )
        return sent, list(correlation.handled(world, sent, what, value)) if what else []

    deeper, outcomes = ask(
        0, "GET", f"{_collection(world)}/{world.tokens.hex(4)}/faultspec/{address.value}"
    )
    yield from outcomes
    yield refused(clause, deeper, "a sub-resource that is not there")
    page, outcomes = ask(1, "GET", path, "text/html")
    yield from outcomes
    if plain.ok:
        return
    yield refused("framework/not-acceptable", page, "an error asked for as text/html")
    head, outcomes = ask(2, "HEAD", path)
    yield from outcomes
    if head.status < 400:
        yield failed(
            clause,
            f"HEAD of a route that is not there is answered {head}, GET {plain}",
            plain,
            head,
        )
    else:
        yield passed(clause)


def _collection(world: HttpSession) -> str:
    reads = [
        operation
        for operation in world.description.operations
        if operation.method == "GET" and not operation.placeholders
    ]
    collection = next(
        (k.operation("list") for k in world.kinds if k.operation("list")), None
    ) or next(iter(reads), None)
    base = (
        collection.template
        if collection is not None and not collection.placeholders
        else _base(world)
    )
    return base.rstrip("/")


def _base(world: HttpSession) -> str:
    """The path that all operations share, such as /v1."""
    first = [operation.template.split("/")[1:] for operation in world.description.operations]
    if len(first) < 2:
        return ""
    shared = []
    for parts in zip(*first, strict=False):
        if len(set(parts)) > 1 or parts[0].startswith("{"):
            break
        shared.append(parts[0])
    if any(len(each) == len(shared) for each in first):
        shared = shared[:-1]
    return "".join(f"/{part}" for part in shared)


def refused(clause: str, sent: Observation, what: str) -> Outcome:
    """Whether a request that cannot succeed was refused by the caller's fault and in the declared form."""
    if sent.status < 400:
        verb = "redirected" if 300 <= sent.status < 400 else "answered"
        return failed(clause, f"{what} is {verb} {sent}, as if it were in order", sent)
    if sent.status >= 500 and sent.status != 501:
        return failed(
            clause, f"{what} is answered {sent}: the caller's mistake is told as the server's", sent
        )
    form = broken_form(sent)
    if form is not None:
        message = f"{what} is not answered in the declared form: {form.message}"
        return replace(failed(clause, message, sent), form=form.clause)
    return passed(clause)


def broken_form(sent: Observation) -> Finding | None:
    """What an error lacks of its declared form, first of all; None where it lacks nothing."""
    return next(
        (
            finding
            for finding in sent.judgement.findings
            if finding.clause in FORM and finding.level == "error"
        ),
        None,
    )


def wrong_methods(world: HttpSession) -> Iterator[Outcome]:
    """On one path a method that it does not have and one that hardly anything has, on another what it has."""
    clause = "framework/method"
    paths = _telling(world, _PATHS)
    if not paths:
        yield not_exercised(clause, "no OpenAPI document says which methods there are")
    candidates = ("PATCH", "PUT", "DELETE", "POST") if world.writable else ("GET",)
    elsewhere = {each.method for each in world.description.operations}
    asked = 0
    for index, template in enumerate(paths):
        declared = world.description.methods(template)
        # First what other paths have: a service that knows a method has more ways to get this wrong.
        wanted = sorted(
            (each for each in candidates if each not in declared),
            key=lambda each: each not in elsewhere,
        )
        if world.writable and index == 0:
            wanted.insert(0, "TRACE")
        for method in wanted[:2] if index == 0 else ():
            operation = ServiceOperation(method, template)
            asked += 1
            with world.guarded(clause):
                sent = world.call(
                    method,
                    template,
                    values=values_for(
                        world, world.description.find(declared[0], template) or operation
                    ),
                    body={} if method in ("PATCH", "PUT", "POST") else ABSENT,
                )
                yield from _not_allowed(world, clause, sent, method, declared)
    if paths and not asked:
        yield not_exercised(clause, "every path has every method that may be sent")
    for template in paths[-1:]:
        sent = world.call(
            "OPTIONS", template, values=values_for(world, ServiceOperation("OPTIONS", template))
        )
        if sent.status >= 400 and sent.status not in (401, 403):
            yield refused(clause, sent, "OPTIONS")


def _telling(world: HttpSession, most: int) -> tuple[str, ...]:
    """At most so many paths, those with the most methods first: their Allow has the most to get wrong."""
    return tuple(
        sorted(world.description.paths, key=lambda path: -len(world.description.methods(path)))[
            :most
        ]
    )


def _not_allowed(
    world: HttpSession, clause: str, sent: Observation, method: str, declared: tuple[str, ...]
) -> Iterator[Outcome]:
    what = f"{method} on a path that has {', '.join(declared)}"
    if sent.ok and method != "TRACE":
        yield not_exercised(
            clause, f"{sent.exchange.operation} is answered {sent}: it exists, undeclared"
        )
        return
    yield refused(clause, sent, what)
    if sent.status == 404:
        yield failed(
            clause,
            f"{what} is answered 404, as if the path were unknown; 405 says what is wrong",
            sent,
            level="warning",
        )
    if sent.status == 501 and any(
        operation.method == method for operation in world.description.operations
    ):
        # RFC 9110, 15.6.2: 501 is for a method that is supported on no resource.
        yield failed(
            clause,
            f"{what} is answered 501, as if {method} were unknown; other paths have it",
            sent,
        )
    allow = sent.header("Allow")
    if sent.status != 405 or allow is None:
        return
    listed = {each.strip().upper() for each in allow.split(",")}
    if method in listed:
        yield failed(clause, f"Allow lists {method}, which was just refused", sent)
    missing = [each for each in declared if each not in listed]
    if missing:
        message = f"Allow leaves out {', '.join(missing)}, which the path has"
        nothing = len(missing) == len(declared)  # whoever believes it gives up
        yield failed(
            clause, message, sent, level="error" if nothing else "warning", pointer="Allow"
        )


def not_acceptable(world: HttpSession) -> Iterator[Outcome]:
    """A representation that no service offers."""
    clause = "framework/not-acceptable"
    operation = readable(world)
    if operation is None:
        yield not_exercised(clause, "no operation can be read without knowing an id")
        return
    sent = world.call(
        "GET",
        operation.template,
        query=required_query(world, operation),
        accept="application/x-faultspec-nothing",
    )
    if sent.ok:
        yield not_exercised(clause, "the service does not look at Accept, as RFC 9110 allows")
    elif sent.status == 406 or sent.status >= 500:
        yield refused(clause, sent, "a representation that there is not")
    else:
        yield not_exercised(clause, f"{operation.name} with another Accept was answered {sent}")


def invalid_queries(world: HttpSession) -> Iterator[Outcome]:
    """Query parameters left out or of another type, with values planted in others; then each that has bounds beyond them."""
    asked = 0
    for operation in world.description.operations:
        if operation.method != "GET" or operation.placeholders or asked >= _OPERATIONS // 3:
            continue
        mark = world.canary("value")
        failed = _broken_query(world, operation, mark.value)
        if failed is None:
            continue
        asked += 1
        canaries = (world.canary("email"), world.canary("secret"))
        query = {**failed, "contact": canaries[0].value, "access_key": canaries[1].value}
        sent = world.call("GET", operation.template, query=query, plant=(mark, *canaries))
        yield ruled_out(world, sent, "a query that the document rules out")
    for operation, parameter in _bounded(world)[:_BOUNDS]:
        yield from _beyond(world, operation, parameter)


def _bounded(world: HttpSession) -> list[tuple[ServiceOperation, OperationParameter]]:
    """The query parameters of lists that the document bounds, each of its own name before the same elsewhere: what reads `limit`
    is the same for all lists, as a rule.
    """
    found = [
        (operation, each)
        for operation in world.description.operations
        if operation.method == "GET" and not operation.placeholders
        for each in operation.parameters
        if each.where == "query"
        and sampling.beyond(world.description.schema(each.schema), "faultspec") is not None
    ]
    first = {pair[1].name: pair for pair in reversed(found)}
    return sorted(found, key=lambda pair: first[pair[1].name] is not pair)


def _beyond(
    world: HttpSession, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[Outcome]:
    """A value just beyond the bounds of a parameter: the lower ones where there are, since many services take the largest they
    have for whatever is larger.
    """
    clause, mark = "framework/invalid-input", world.canary("value")
    schema = world.description.schema(parameter.schema)
    lower = {name: each for name, each in schema.items() if name != "maximum"}
    value = sampling.beyond(lower if "minimum" in lower else schema, mark.value)
    if value is None:
        return
    with world.guarded(clause):
        query = {**required_query(world, operation), parameter.name: value}
        plant = (mark,) if isinstance(value, str) else ()
        sent = world.call("GET", operation.template, query=query, plant=plant)
        shown = f"{value}" if isinstance(value, int) else "text"
        yield ruled_out(world, sent, f"`{parameter.name}` beyond its bounds ({shown})")


def searches(world: HttpSession) -> Iterator[Outcome]:
    """Reads that take a text to look for, asked for what is nowhere: nothing found is a success, and looks like one."""
    answered = {sent.exchange.operation for sent in world.visible if sent.ok}
    for operation in world.description.operations:
        texts = {
            parameter.name: world.tokens.hex(8)
            for parameter in operation.parameters
            if parameter.where == "query" and _free(world, parameter.schema)
        }
        if (
            operation.method != "GET"
            or operation.placeholders
            or not texts
            or operation.name in answered
        ):
            continue
        with world.guarded():
            sent = world.call(
                "GET", operation.template, query={**required_query(world, operation), **texts}
            )
            if sent.status >= 500:
                yield failed(
                    "framework/invalid-input",
                    f"{operation.name} for what is nowhere is answered {sent}",
                    sent,
                )


def _free(world: HttpSession, schema: object) -> bool:
    node = world.description.schema(schema)
    return sampling.kind(node) == "string" and not {
        "enum",
        "const",
        "format",
        "pattern",
        "default",
    } & set(node)


def _broken_query(
    world: HttpSession, operation: ServiceOperation, mark: str
) -> dict[str, object] | None:
    parameters = [parameter for parameter in operation.parameters if parameter.where == "query"]
    if any(parameter.required for parameter in parameters):
        return {}
    for parameter in parameters:
        schema = world.description.schema(parameter.schema)
        kind = sampling.kind(schema)
        if kind in ("integer", "number", "boolean") or (
            kind == "string" and isinstance(schema.get("enum"), list)
        ):
            return {parameter.name: mark}
    return None


def long_requests(world: HttpSession) -> Iterator[Outcome]:
    """A query longer than servers like, and header sections that some refuse before the application sees them."""
    clause = "framework/oversized"
    operation = readable(world)
    if operation is None:
        yield not_exercised(clause, "no operation can be read without knowing an id")
        return
    query = required_query(world, operation)
    what = f"a query of {_LONG} characters"
    sent = world.try_call(
        "GET", operation.template, query={**query, "padding": "x" * _LONG}, may_close=True
    )
    if isinstance(sent, NoAnswer) or sent.ok:
        yield not_exercised(clause, f"{what} is no problem for the service")
    elif sent.status not in _LOOKED_ELSEWHERE:
        yield refused(clause, sent, what)
    for size in _HEADS:
        outcomes = tuple(_large_head(world, operation, query, size))
        yield from outcomes
        if any(outcome.kind != "not_exercised" for outcome in outcomes):
            break  # what is larger still is refused too, in the same words as likely as not


def _large_head(
    world: HttpSession, operation: ServiceOperation, query: dict[str, object], size: int
) -> Iterator[Outcome]:
    """What a server refuses by itself no application can put in form, so it is a warning at most; an application can."""
    what = f"a header section of {size // 1024} KiB"
    sent = world.try_call(
        "GET",
        operation.template,
        query=query,
        headers={"X-Padding": "x" * size},
        correlation="valid",
        unbearable=True,
    )
    form = isinstance(sent, NoAnswer) or broken_form(sent) is None
    if isinstance(sent, NoAnswer):
        yield not_exercised("framework/large-head", f"{what}: {sent.reason}")
    elif sent.ok:
        yield not_exercised("framework/large-head", f"{what} is no problem for the service")
    elif world.of_the_server(sent.exchange) and not form:
        message = f"{what} is answered {sent} before the application, and not in the declared form"
        yield failed("framework/large-head", message, sent, level="warning")
    elif sent.status not in _LOOKED_ELSEWHERE:
        yield passed("framework/large-head")
        if not world.of_the_server(sent.exchange):
            yield refused("framework/oversized", sent, what)


def json_writes(world: HttpSession) -> list[ServiceOperation]:
    """The operations that take a JSON body, those without placeholders first."""
    found = [each for each in world.description.operations if is_json_write(each)]
    known = {each.name for each in found}
    for kind in world.kinds:
        for role in ("create", "update"):
            operation = kind.operation(role)
            if operation is not None and is_json_write(operation) and operation.name not in known:
                found.append(operation)
                known.add(operation.name)
    return sorted(found, key=lambda each: len(each.placeholders))[:_OPERATIONS]


def one_of_each_method(operations: list[ServiceOperation]) -> list[ServiceOperation]:
    """The first operation of each method: what reads a body is the same for all, and PATCH is often forgotten."""
    first = {operation.method: operation for operation in reversed(operations)}
    return [operation for operation in operations if first[operation.method] is operation]


def malformed_bodies(world: HttpSession) -> Iterator[Outcome]:
    """JSON that breaks off, with each method; nothing at all, null, and a text that crashes the careless."""
    clause = "framework/malformed-json"
    operations = json_writes(world)
    if not operations:
        yield not_exercised(clause, "no operation takes JSON")
        return
    methods = one_of_each_method(operations)
    for index, operation in enumerate(methods):
        canaries = (world.canary("secret"), world.canary("email"))
        cut = (
            f'{{"password": "{canaries[0].value}", "contact": "{canaries[1].value}", '.encode()
            + _HALF
        )
        odd = b'"odd": "' + _NOT_UTF8 + b'", ' if index else b""
        sent = _write(world, operation, raw=cut + odd + b'"list": ' + b"[" * _DEPTH, plant=canaries)
        what = "JSON that nests deeply and breaks off" + (", and is not UTF-8" if odd else "")
        yield _unreadable(
            world, clause, sent, what, accepted_is_wrong=_needs_body(world, operation)
        )
    first = operations[0]
    sent = _write(world, first, raw=b"")
    yield _unreadable(
        world,
        clause,
        sent,
        "an empty body",
        accepted_is_wrong=first.body is not None and first.body.required,
    )
    # Whoever takes the parameter for another media type answers before he looks at the body (RFC 8259, 11).
    sent = _write(world, first, raw=b"null", media_type=f"{content_type(first)}; charset=utf-8")
    if sent.status == 415:
        message = f"{content_type(first)} is refused for its parameter charset=utf-8, which changes nothing"
        yield failed("framework/media-type", message, sent)
    else:
        yield _unreadable(
            world, clause, sent, "`null`", accepted_is_wrong=_needs_body(world, first)
        )
    unusual = _UNUSUAL if len(methods) > 1 else {"a text that is not UTF-8": _NOT_UTF8, **_UNUSUAL}
    for what, text in unusual.items():
        raw = _with_text(world, first, text)
        if raw is not None:
            yield _unreadable(
                world, clause, _write(world, first, raw=raw), what, accepted_is_wrong=False
            )


def _with_text(world: HttpSession, operation: ServiceOperation, text: bytes) -> bytes | None:
    """A body that is in order, but for what is put into its first free text; None where it has none."""
    body = body_for(world, operation)
    free = (
        sampling.free_texts(world.description.document, operation.body.schema)
        if operation.body
        else frozenset()
    )
    name = (
        next((each for each in body if each in free or not free), None)
        if isinstance(body, dict)
        else None
    )
    if name is None or not isinstance(body, dict) or not isinstance(body[name], str):
        return None
    mark = "faultspec-unusual-text"
    return json.dumps({**body, name: mark}).encode().replace(mark.encode(), text)


def _needs_body(world: HttpSession, operation: ServiceOperation) -> bool:
    """Whether nothing can be done without the body: a service may disregard one that it can do without."""
    if operation.body is None:
        return False
    return operation.body.required or bool(
        sampling.merged(world.description.document, operation.body.schema).get("required")
    )


def _unreadable(
    world: HttpSession, clause: str, sent: Observation, what: str, *, accepted_is_wrong: bool
) -> Outcome:
    if sent.status in _LOOKED_ELSEWHERE:
        return not_exercised(
            clause, f"{sent.exchange.operation} looked at something else first and answered {sent}"
        )
    if sent.status < 400 and not accepted_is_wrong:
        return not_exercised(clause, f"{sent.exchange.operation} takes {what}")
    return refused(clause, sent, what)


def invalid_bodies(world: HttpSession) -> Iterator[Outcome]:
    """Bodies that their schema rules out, with values planted beside what is wrong."""
    clause = "framework/invalid-input"
    asked = 0
    for operation in json_writes(world):
        assert operation.body is not None
        schema = operation.body.schema
        closed = world.description.schema(schema).get("additionalProperties") is False
        mark = world.canary("value")
        wrong = list(
            sampling.violations(world.source, schema, likely_body(world, operation), mark.value)
        )
        for each in wrong[: 3 if asked == 0 else 1 if asked < _INVALID else 0]:
            what, body = each.what, each.body
            asked += 1
            canaries = (world.canary("email"), world.canary("secret"))
            planted = (
                {} if closed else {"contact": canaries[0].value, "password": canaries[1].value}
            )
            sent = _write(
                world,
                operation,
                body={**body, **planted} if isinstance(body, dict) else body,
                plant=(mark, *canaries),
            )
            if sent.ok and not each.sure:
                yield not_exercised(
                    clause, f"{what} is accepted, as whoever does not check formats may"
                )
            else:
                yield ruled_out(world, sent, what)
    if not asked:
        yield not_exercised(clause, "no schema of a body rules anything out")


def ruled_out(world: HttpSession, sent: Observation, what: str) -> Outcome:
    """What became of input that the document rules out: it has to be refused, and as input that is not valid."""
    clause, invalid = "framework/invalid-input", codes_of_invalid_input(world.taxonomy)
    if sent.status in _LOOKED_ELSEWHERE:
        return not_exercised(
            clause, f"{sent.exchange.operation} looked at something else first and answered {sent}"
        )
    if sent.ok:
        # Where the taxonomy has a code for invalid input, input that is invalid has to be answered with it.
        level: Level = "error" if invalid else "warning"
        return failed(
            clause, f"{what} is accepted, though the document rules it out", sent, level=level
        )
    if sent.code is not None and invalid and not _means_invalid(sent, invalid):
        meant = " or ".join(
            f"{each.name} ({', '.join(map(str, _statuses(each)))})" for each in invalid
        )
        return _stated(
            failed(clause, f"{what} is answered {sent}; {meant} is for that", sent), invalid
        )
    return refused(clause, sent, what)


def codes_of_invalid_input(taxonomy: Taxonomy) -> tuple[Code, ...]:
    """The codes that say by their name that input is not valid, and travel under a status that says the same."""
    return tuple(
        code for code in taxonomy.live_codes() if _VALIDITY.search(code.name) and _statuses(code)
    )


def _statuses(code: Code) -> tuple[int, ...]:
    return tuple(status for status in _INVALID_INPUT if code.http.allows(status))


def _means_invalid(sent: Observation, invalid: tuple[Code, ...]) -> bool:
    """Whether the answer is of a code for invalid input, or has a status that such a code shares, or a status of its own."""
    shared = {status for each in invalid for status in _statuses(each)}
    return (
        sent.status not in _INVALID_INPUT
        or sent.status in shared
        or sent.code in {each.name for each in invalid}
    )


def _stated(outcome: Outcome, codes: tuple[Code, ...]) -> Outcome:
    """The outcome with the statements that the codes come from."""
    statements = tuple(dict.fromkeys(each for code in codes for each in code.source.statements))
    assert outcome.finding is not None
    return replace(outcome, finding=replace(outcome.finding, statements=statements))


def media_types(world: HttpSession) -> Iterator[Outcome]:
    """A valid body in a media type that the operation does not take, with each method."""
    clause = "framework/media-type"
    operations = json_writes(world)
    if not operations:
        yield not_exercised(clause, "no operation takes JSON")
    code = next((each.name for each in world.taxonomy.live_codes() if each.http.allows(415)), None)
    for operation in one_of_each_method(operations):
        assert operation.body is not None
        if any(media_type.startswith(("text/", "*/")) for media_type in operation.body.media_types):
            yield not_exercised(clause, f"{operation.name} takes text as well")
            continue
        sent = _write(world, operation, body=body_for(world, operation), media_type="text/plain")
        if sent.status in _LOOKED_ELSEWHERE:
            yield not_exercised(
                clause, f"{operation.name} looked at something else first and answered {sent}"
            )
            continue
        if sent.ok and code is None:
            yield not_exercised(
                clause,
                f"{operation.name} reads any media type, and no code is for those it does not read",
            )
            continue
        outcome = refused(clause, sent, "JSON sent as text/plain")
        if outcome.kind == "held" and code is not None and sent.status != 415:
            outcome = failed(
                clause,
                f"JSON sent as text/plain is answered {sent}; `{code}` (415) is for that",
                sent,
            )
        yield outcome


def oversized_bodies(world: HttpSession) -> Iterator[Outcome]:
    """Bodies that grow until one is too large, made of blanks, so that none can be meant."""
    clause = "framework/oversized"
    operation = next(iter(json_writes(world)), None)
    if operation is None:
        yield not_exercised(clause, "no operation takes a body")
        return
    sent: Observation | NoAnswer | None = None
    for size in _SIZES:
        sent = world.try_call(
            operation.method,
            operation.template,
            values=values_for(world, operation),
            headers=fresh_key(world, operation),
            raw=b" " * size,
            content_type=content_type(operation),
            may_close=True,
        )
        if isinstance(sent, NoAnswer):
            yield not_exercised(clause, f"a body of {size // 1024} KiB: {sent.reason}")
            return
        if sent.status in (400, 415, 422):
            continue
        if sent.status in _LOOKED_ELSEWHERE:
            yield not_exercised(
                clause, f"{operation.name} looked at something else first and answered {sent}"
            )
        elif sent.ok and not _needs_body(world, operation):
            yield not_exercised(clause, f"{operation.name} can do without a body")
        else:
            yield refused(clause, sent, f"a body of {size // 1024} KiB")
        return
    size = _SIZES[-1] // 1024 // 1024
    reason = f"a body of {size} MiB is read to its end and answered {sent}"
    yield not_exercised(
        clause,
        f"{reason}: it takes a service, or one in front of it, that refuses {size} MiB or less",
    )


def body_for(world: HttpSession, operation: ServiceOperation) -> object:
    """A body that the operation ought to accept: the file's where it has one, else one that the schema allows."""
    for kind in world.kinds:
        for role in ("create", "update"):
            found, call = kind.operation(role), kind.call(role)
            if found is not None and call is not None and found.name == operation.name:
                return likely_body(world, operation, call)
    return likely_body(world, operation)


def _write(
    world: HttpSession,
    operation: ServiceOperation,
    *,
    body: object = ABSENT,
    raw: bytes | None = None,
    media_type: str | None = None,
    plant: tuple[Canary, ...] = (),
) -> Observation:
    return world.call(
        operation.method,
        operation.template,
        values=values_for(world, operation),
        headers=fresh_key(world, operation),
        content_type=media_type or content_type(operation),
        body=body,
        raw=raw,
        plant=plant,
    )
