"""Judge one exchange by a contract: pure, no I/O, and an answer for every exchange there can be."""

from faultspec.contract.judgement_cache import cache_key
from faultspec.contract.model import Claim, Contract
from faultspec.exchange.body import DecodedBody, read, read_success, resolve, steps
from faultspec.exchange.finding import Judgement, Level
from faultspec.exchange.model import Exchange
from faultspec.judge.batch import items_of, judge_batch
from faultspec.judge.bench import FindingCollector
from faultspec.judge.envelope import ErrorReading, judge_envelope, match_envelope
from faultspec.judge.headers import judge_headers
from faultspec.judge.leaking import harmless_answer, judge_leaks, mirrors, texts_of
from faultspec.judge.words import place, sentence
from faultspec.language import header_syntax
from faultspec.language.model import Code, Envelope, Operation
from faultspec.language.values import check_value, same, shown
from faultspec.runtime import ids
from faultspec.runtime.extraction import Extraction
from faultspec.runtime.nodes import Object, slot_places

_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

_UNREAD = DecodedBody(None, "is not read")


def judge(contract: Contract, exchange: Exchange) -> Judgement:
    """Everything that is wrong with one exchange, and the clauses it gave occasion to check.

    Findings come in a total order; a finding is reported once, at its cause. Never raises, whatever the exchange holds.
    """
    claim = contract.claim(exchange)
    operation = contract.operation(exchange)
    bodiless = _is_bodiless(exchange)
    reading = _reading(exchange, claim, bodiless=bodiless)
    is_error = _is_error(exchange, claim, reading)
    memory, key = contract.cache, None
    if is_error and claim is not None and not bodiless and reading.problem is None:
        key = cache_key(
            memory.traits,
            exchange,
            claim.surface.name,
            operation.name if operation else None,
            reading.value,
        )
        known = memory.get(key)
        if known is not None and harmless_answer(contract, exchange, reading):
            return known
    bench = FindingCollector(contract, exchange)
    if bodiless:
        _judge_bodiless(bench)
    if not is_error:
        _judge_success(bench, claim, operation, reading)
        return bench.judgement(
            surface=claim.surface.name if claim else None, code=None, is_error=False
        )
    bench.exercise("surface/known")
    told = None
    if claim is None:
        what = (
            f"a {exchange.response.status}" if exchange.response.status is not None else "an error"
        )
        bench.broken(
            "surface/known",
            f"{what} at `{exchange.request.target[:100]}` is on no declared surface",
        )
    elif claim.envelopes and not bodiless:
        told = _judge_body(bench, claim, operation, reading)
        _judge_text(bench, claim, reading.value)
    judge_headers(bench, told.code if told else None, told)
    judge_leaks(bench, reading, told)
    judgement = bench.judgement(
        surface=claim.surface.name if claim else None,
        code=told.code.name if told and told.code else None,
        is_error=True,
    )
    memory.put(key, judgement)
    return judgement


def _is_bodiless(exchange: Exchange) -> bool:
    """Whether the answer can't have a body (RFC 9110 sections 6.4.1 and 9.3.2)."""
    status = exchange.response.status
    if exchange.transport != "http" or status is None:
        return False
    return 100 <= status < 200 or status in (204, 304) or exchange.request.method.upper() == "HEAD"


def _judge_bodiless(bench: FindingCollector) -> None:
    exchange = bench.exchange
    bench.exercise("http/head-body")
    if exchange.response.body:
        what = "HEAD" if exchange.request.method.upper() == "HEAD" else f"status {bench.status}"
        bench.broken(
            "http/head-body",
            f"the answer has a body of {len(exchange.response.body)} bytes; {what} has none",
        )


def _reading(exchange: Exchange, claim: Claim | None, *, bodiless: bool) -> DecodedBody:
    status = exchange.response.status
    if bodiless:
        return _UNREAD
    success = status is not None and status < 400 and not (claim and claim.surface.batch)
    return read_success(exchange.response.body) if success else read(exchange.response.body)


def _is_error(exchange: Exchange, claim: Claim | None, reading: DecodedBody) -> bool:
    status = exchange.response.status
    if claim is None:
        # On a surface nobody declared, what each transport itself calls an error.
        if status is not None:
            return status >= 400
        body = reading.value
        return isinstance(body, dict) and ("error" in body or body.get("isError") is True)
    surface = claim.surface
    if status is not None and any(status in each for each in surface.error_when):
        return True
    if reading.problem is not None:
        return False
    if exchange.transport == "mcp" and resolve(reading.value, "/isError")[1] is True:
        return True  # a tool result that says itself that it is one
    if surface.error_pointer is not None and resolve(reading.value, surface.error_pointer)[0]:
        return True
    meant = (
        (resolve(reading.value, pointer), value) for pointer, value in surface.error_equals.items()
    )
    return bool(surface.error_equals) and all(
        there and same(found, value) for (there, found), value in meant
    )


# errors


def _judge_body(
    bench: FindingCollector, claim: Claim, operation: Operation | None, reading: DecodedBody
) -> ErrorReading | None:
    envelope, at = claim.envelopes[0], claim.surface.at
    body = resolve(reading.value, at)[1]
    best = None if reading.problem is not None else match_envelope(bench.contract, claim, body)
    if best is None and claim.surface.reason is not None:
        return None  # a body of another's shape, which may pass through here
    if reading.problem != "is empty":
        _media_type(bench, claim)
    if best is None:
        bench.broken(
            "envelope/json",
            f"the body {reading.problem}; expected the envelope `{envelope.name}`",
            pointer="",
            source=envelope.source,
        )
        return None
    bench.exercise("envelope/json")
    both = _judge_response(bench, best.envelope, at, reading.value)
    told = judge_envelope(bench, claim, best, at=at, operation=operation, told=both)
    if told is not None and told.code is not None:
        _judge_mark(bench, told.code, reading.value)
        _judge_deadline(bench, told, told.code)
    return told


def _judge_response(
    bench: FindingCollector, envelope: Envelope, at: str, response: object
) -> tuple[str, ...]:
    """Whether a response has a result or an error, never both (JSON-RPC 2.0, section 5); the place of the one too many."""
    if bench.exchange.transport != "jsonrpc" or not isinstance(response, dict):
        return ()
    if not {"result", "error"} <= response.keys():
        return ()
    shape = envelope.shape
    drawn = steps(at)[:1] or (
        [member.name for member in shape.members] if isinstance(shape, Object) else []
    )
    pointer = next((f"/{each}" for each in ("result", "error") if each not in drawn), "")
    bench.broken(
        "envelope/shape",
        "the response has both `result` and `error`; JSON-RPC allows one of them (JSON-RPC 2.0, section 5)",
        pointer=pointer,
        source=envelope.source,
    )
    return (pointer,)


def _judge_mark(bench: FindingCollector, code: Code, result: object) -> None:
    """Whether a tool result is marked as an error as its code says (MCP 2025-06-18, server/tools, "Error Handling")."""
    if code.mcp is None or bench.exchange.transport != "mcp":
        return
    bench.exercise("mcp/is-error")
    marked = resolve(result, "/isError")[1] is True  # left out, it is false
    if marked not in (code.mcp.is_error, code.mcp.strict):
        bench.broken(
            "mcp/is-error",
            f"`isError` is {shown(marked)}; `{code.name}` is marked {shown(code.mcp.is_error)}",
            pointer="/isError",
            source=code.source,
        )


def _judge_text(bench: FindingCollector, claim: Claim, result: object) -> None:
    """Whether a tool result says in its texts what it says in its structured content (MCP 2025-06-18, server/tools,
    "Structured Content").
    """
    if not claim.surface.structured:
        return
    found, said = resolve(result, "/structuredContent")
    first = next(texts_of(result), None)
    # The libraries of MCP wrap what is no object into `result`, and its text is what is wrapped.
    if not found or first is None or (isinstance(said, dict) and set(said) == {"result"}):
        return
    bench.exercise("mcp/text")
    if not any(mirrors(result)):
        pointer, _ = first
        bench.broken(
            "mcp/text",
            f"{place(pointer)} is not the structured content, and no other text is; beside it a result should have it as JSON",
            pointer=pointer,
            source=claim.surface.source,
            level="warning",
        )


def _judge_deadline(bench: FindingCollector, told: ErrorReading, code: Code) -> None:
    """Whether an answer that says a budget ran out came when it ran out."""
    details = told.value("details")
    if code.deadline is None or not isinstance(details, dict):
        return
    budget = details.get(code.deadline.detail)
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        return
    bench.exercise("deadline/kept")
    elapsed = bench.exchange.response.elapsed
    if not budget <= elapsed <= budget + code.deadline.late_by:
        when = (
            "before it was over"
            if elapsed < budget
            else f"more than {code.deadline.late_by:g} s later"
        )
        bench.broken(
            "deadline/kept",
            f"the budget is {budget:g} s, and the answer came after {elapsed:.2f} s, {when}",
            pointer=f"{told.where.get('details', '')}/{code.deadline.detail}",
            source=code.deadline.source,
        )


def _media_type(bench: FindingCollector, claim: Claim) -> None:
    exchange = bench.exchange
    if exchange.transport != "http":
        return
    bench.exercise("envelope/media-type")
    wanted = tuple(
        dict.fromkeys(each for envelope in claim.envelopes for each in envelope.media_types)
    )
    lines = list(
        dict.fromkeys(
            value for name, value in exchange.response.headers if name.lower() == "content-type"
        )
    )
    expected = " or ".join(f"`{each}`" for each in wanted)
    problem = None
    if not lines:
        problem = "`Content-Type` is missing"
    elif len(lines) > 1:
        problem = f"`Content-Type` is there {len(lines)} times: {', '.join(map(shown, lines))}"
    else:
        essence, parameters = header_syntax.media_type(lines[0])
        if essence not in {each.lower() for each in wanted}:
            problem = f"`Content-Type` is {shown(lines[0])}"
        elif parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
            # RFC 8259 section 8.1: JSON between systems is UTF-8.
            problem = f"`Content-Type` is {shown(lines[0])}, and JSON is UTF-8"
    if problem:
        bench.broken(
            "envelope/media-type",
            f"{problem}; expected {expected}",
            source=claim.envelopes[0].source,
        )


# successes


def _judge_success(
    bench: FindingCollector, claim: Claim | None, operation: Operation | None, reading: DecodedBody
) -> None:
    judge_headers(bench, None, None)
    if claim is None or reading.problem is not None:
        return
    _judge_text(bench, claim, reading.value)
    _judge_owed(bench, claim, reading.value)
    if claim.surface.batch is not None:
        failed = judge_batch(bench, claim, reading.value, operation)
        if failed:
            judge_leaks(bench, reading, None, failed)
        return
    if bench.status is None or not 200 <= bench.status < 400 or not claim.envelopes:
        return
    bench.exercise("envelope/absent-on-success")
    best = match_envelope(bench.contract, claim, reading.value)
    if best is not None and _is_envelope(bench, best.envelope, best.read):
        bench.broken(
            "envelope/absent-on-success",
            f"a {bench.status} carries the error envelope `{best.envelope.name}` with the code "
            f"{shown(best.read.slots['code'])}; an error has the status of one",
            pointer="",
            source=claim.surface.source,
        )
    elif bench.exchange.request.method.upper() in _WRITES:
        _hidden_failures(bench, claim, reading.value)


def _judge_owed(bench: FindingCollector, claim: Claim, body: object) -> None:
    """The members that every success on the surface has."""
    for pointer, member in claim.surface.success.items():
        bench.exercise("success/requires")
        level: Level = "error" if member.presence == "required" else "warning"
        there, value = resolve(body, pointer)
        if not there:
            message = f"{place(pointer)} is missing; every success on the surface `{claim.surface.name}` has it"
            bench.broken(
                "success/requires", message, pointer=pointer, source=member.source, level=level
            )
        for each in (
            check_value(member.schema, value, bench.contract.terms, ids.FORMATS) if there else ()
        ):
            at = pointer + each.pointer
            bench.broken(
                "success/requires",
                sentence(each, pointer),
                pointer=at,
                source=member.source,
                level=level,
            )


def _hidden_failures(bench: FindingCollector, claim: Claim, body: object) -> None:
    """A write answered as a plain success with failures among its outcomes, though a surface is declared for those."""
    for other in bench.contract.claims:
        batch = other.surface.batch
        items = items_of(batch, body) if batch is not None else None
        for item in items or ():
            if item.body is None or item.status is None or item.status < 400:
                continue
            best = match_envelope(bench.contract, other, resolve(item.value, item.body)[1])
            if best is not None and _is_envelope(bench, best.envelope, best.read):
                at = item.at + item.body
                statuses = " or ".join(map(str, other.surface.match.statuses)) or "another status"
                bench.broken(
                    "envelope/absent-on-success",
                    f"a {bench.status} carries the error envelope `{best.envelope.name}` at {place(at)}; "
                    f"outcomes that differ travel under {statuses}",
                    pointer=at,
                    source=claim.surface.source,
                )
                return


def _is_envelope(bench: FindingCollector, envelope: Envelope, read: Extraction) -> bool:
    """Whether a body is an envelope beyond doubt: all of its shape, with a declared code or a correlation id in it."""
    code = read.slots.get("code")
    if not read.fits or isinstance(code, bool) or not isinstance(code, str | int):
        return False
    if code in bench.contract.wires:
        return True
    required = {
        slot
        for slot, places in slot_places(envelope.shape).items()
        if any(each.required for each in places)
    }
    return any(
        field.echo is not None and slot in required and isinstance(read.slots.get(slot), str)
        for slot, field in envelope.fields.items()
    )
