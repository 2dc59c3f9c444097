"""Send malformed requests, unknown methods, batches and ids to a JSON-RPC 2.0 service.

The error numbers are those of section 5.1 of the specification. If the taxonomy lists the
protocol's numbers, a probe whose number is missing there sends nothing.
"""

from collections.abc import Iterator
from dataclasses import replace

from faultspec.contract import crashes
from faultspec.exchange.model import Canary
from faultspec.language.values import are_equal
from faultspec_conformance.config import ABSENT, InvalidParams, SampleCall
from faultspec_conformance.probes.calls import take_steps
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import (
    CallSession,
    RpcSession,
    encode_message,
    notification,
    request,
    response_outcomes,
)
from faultspec_conformance.session.observation import (
    Observation,
    Unanswered,
    conclude_silence,
    failed,
    has_code,
    not_exercised,
    parse_body,
    passed,
    protocol_error,
)
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.placeholders import fill_in

PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602

#: An unknown method. It has one name in every run, because it identifies findings.
_NO_METHOD = "faultspec.no_such_method"

_NO_SAMPLES = "the configuration has no call under `calls` that may be sent"

#: A malformed message: its name, its bytes, and the ids that its answer may have besides null.
_Malformed = tuple[str, bytes, tuple[object, ...]]

#: JSON that is not a request.
_NO_REQUESTS: tuple[_Malformed, ...] = (
    ("an object without a method", encode_message({"jsonrpc": "2.0", "id": 900001}), (900001,)),
    (
        "a method that is a number",
        encode_message({"jsonrpc": "2.0", "method": 1, "id": 900002}),
        (900002,),
    ),
    ("a string", encode_message("hello"), ()),
)

_NO_JSON: tuple[_Malformed, ...] = (
    ("a message that breaks off", b'{"jsonrpc": "2.0", "method": "a", "params": [1, ', ()),
    ("a message of words", b"hello there", ()),
    (
        "a batch that breaks off",
        b'[{"jsonrpc": "2.0", "method": "a", "id": 1}, {"jsonrpc": "2.0", "method"',
        (),
    ),
)


def unknown_methods(session: RpcSession) -> Iterator[ProbeResult]:
    """Call an unknown method, without params and with a secret in them, which does not come back.
    Its name may: "Method not found" names the method.
    """
    clause = "rpc/unknown-method"
    if (reason := reason_unlisted(session, METHOD)) is not None:
        yield not_exercised(clause, reason)
        return
    secret = session.canary("secret")
    shapes: tuple[object, ...] = (ABSENT, {"token": secret.value}, [secret.value])
    for params in shapes:
        yield from attempt(_call_unknown(session, params, secret), clause)


def _call_unknown(session: RpcSession, params: object, secret: Canary) -> Iterator[Outcome]:
    answer = session.call(_NO_METHOD, params, canaries=(secret,), harmless=True, swift=True)
    yield _check_number("rpc/unknown-method", answer, "an unknown method", METHOD)


def parse_errors(session: RpcSession) -> Iterator[ProbeResult]:
    """Send messages that are not JSON."""
    yield from _send_messages(session, "rpc/parse-error", PARSE, _NO_JSON)


def invalid_requests(session: RpcSession) -> Iterator[ProbeResult]:
    """Send JSON that is not a request, and a request of another version of the protocol."""
    clause = "rpc/invalid-request"
    yield from _send_messages(session, clause, REQUEST, _NO_REQUESTS)
    if reason_unlisted(session, REQUEST) is None:
        yield from attempt(_send_other_version(session), clause)


def _send_other_version(session: RpcSession) -> Iterator[Outcome]:
    """Send a request whose `jsonrpc` is not "2.0" (section 4). Services that speak several versions
    answer it.
    """
    clause, id = "rpc/invalid-request", session.new_id()
    body = {**request(_NO_METHOD, {}, id), "jsonrpc": "1.0"}
    what = "a request of version 1.0"
    try:
        answer = session.send_raw(what, encode_message(body), (id,))
        outcome = _check_number(clause, answer, what, REQUEST)
    except Unanswered as error:
        if error.asked is None:
            raise
        outcome = conclude_silence(clause, error)
    if outcome.finding is not None:
        outcome = replace(outcome, finding=replace(outcome.finding, level="warning"))
    yield outcome


def _send_messages(
    session: RpcSession, clause: str, number: int, messages: tuple[_Malformed, ...]
) -> Iterator[ProbeResult]:
    if (reason := reason_unlisted(session, number)) is not None:
        yield not_exercised(clause, reason)
        return
    for message in messages:
        yield from attempt(_send_malformed(session, clause, number, message), clause)


def _send_malformed(
    session: RpcSession, clause: str, number: int, message: _Malformed
) -> Iterator[Outcome]:
    what, body, ids = message
    answer = session.send_raw(what, body, ids)
    yield _check_number(clause, answer, what, number)
    value = answer.json
    if isinstance(value, dict) and not any(are_equal(value.get("id"), id) for id in (None, *ids)):
        text = (
            f"the answer to {what} has the id {value.get('id')!r}; the request has no readable id"
        )
        yield failed("rpc/id", text, answer, pointer="/id")


def invalid_params(session: RpcSession) -> Iterator[ProbeResult]:
    """Send params that the configuration calls invalid, and params that are neither an object nor a
    list.
    """
    clause = "rpc/invalid-params"
    samples = session.samples
    if not samples:
        yield not_exercised(clause, _NO_SAMPLES)
    for sample in samples:
        for invalid in sample.invalid:
            yield from attempt(_send_invalid(session, sample, invalid), clause)
    if samples and reason_unlisted(session, PARAMS) is None:
        name = samples[0].call.path
        answer = session.call(name, "text", harmless=samples[0].safe, swift=True)
        if protocol_error(answer.json) in (PARAMS, REQUEST) or answer.code is not None:
            yield passed(clause)
        else:
            message = f"the service answered {answer} to params that are a string"
            yield failed(
                clause, f"{message}; expected error {PARAMS} or {REQUEST}", answer, variant="text"
            )


def _send_invalid(
    session: RpcSession, sample: SampleCall, invalid: InvalidParams
) -> Iterator[Outcome]:
    clause = "rpc/invalid-params"
    saved = take_steps(session, sample.before, harmless=sample.safe)
    if isinstance(saved, str):
        yield not_exercised(clause, saved)
        return
    answer = session.call(
        sample.call.path,
        fill_in(session.source, invalid.params, saved),
        identity=session.identity(sample.identity),
        harmless=sample.safe,
        swift=True,
    )
    message = f"the service answered {answer} to invalid params of `{sample.call.path}`"
    if invalid.code is not None:
        if has_code(answer, invalid.code):
            yield passed(clause)
        else:
            line = f"{message}; expected {invalid.code}"
            yield failed(clause, line, answer, variant="code")
        return
    if protocol_error(answer.json) == PARAMS or answer.code is not None:
        yield passed(clause)
        return
    codes = ", or a code of the taxonomy" if session.taxonomy.shared_live_codes() else ""
    yield failed(clause, f"{message}; expected error {PARAMS}{codes}", answer, variant="params")


def ids(session: RpcSession) -> Iterator[ProbeResult]:
    """Call with ids of each type; every answer is checked for its id."""
    for id in (f"id-{session.tokens.hex(4)}", 0, -7, 2**31, "7", "ü ☃"):
        yield from attempt(_call_with_id(session, id), "rpc/id")


def _call_with_id(session: RpcSession, id: object) -> Iterator[Outcome]:
    """Make one call that succeeds and one call that fails."""
    name, params, harmless = _known_call(session)
    session.call(name, params, id=id, harmless=harmless)
    if name != _NO_METHOD and reason_unlisted(session, METHOD) is None:
        session.call(_NO_METHOD, {}, id=id, harmless=True, swift=True)
    yield from ()


def ids_of_failures(session: RpcSession) -> Iterator[Outcome]:
    """Repeat the last call whose answer had a declared code, with ids of two types."""
    for observation in reversed(session.observations.exchanges):
        asked = parse_body(observation.exchange.request.body)
        if observation.code is None or not isinstance(asked, dict):
            continue
        if "id" not in asked or not isinstance(asked.get("method"), str):
            continue  # a probe of a malformed call
        identity = session.identity(observation.exchange.identity)
        params = asked.get("params", ABSENT)
        # A call that made the service fail on purpose does so again.
        may_fail = crashes.CLAUSE in observation.exchange.lacks
        for id in (f"id-{session.tokens.hex(4)}", 0):
            session.call(asked["method"], params, identity=identity, id=id, may_fail=may_fail)
        break
    yield from ()


def notifications(session: RpcSession) -> Iterator[Outcome]:
    """Send requests without an id, which get no answer."""
    clause = "rpc/notification"
    name, params, harmless = _known_call(session)
    answers = {
        "a notification of an unknown method": session.notify(_NO_METHOD, {}, harmless=True),
        "a notification": session.notify(name, params, harmless=harmless),
    }
    for what, answer in answers.items():
        if answer is None:
            yield passed(clause)
        else:
            yield failed(
                clause, f"the service answered {answer} to {what}; expected no answer", answer
            )


def call_batches(session: RpcSession) -> Iterator[Outcome]:
    """Send several calls in one message: each call with an id gets one answer; an empty batch is
    not a request.
    """
    clause = "rpc/batch"
    name, params, harmless = _known_call(session)
    ids = (f"b-{session.tokens.hex(3)}", session.new_id())
    calls = [
        request(name, params, ids[0]),
        notification(_NO_METHOD),
        request(_NO_METHOD, {}, ids[1]),
    ]
    promised = _promises_batches(session)
    if promised is False:
        yield not_exercised(clause, "the taxonomy says that the service takes no batches")
        return
    try:
        answers = session.batch(calls, harmless=harmless)
    except Unanswered as error:
        if error.asked is None or promised:
            raise
        yield not_exercised(clause, "the service takes no batches: it gives one no answer")
        return
    whole = answers[0].json if len(answers) == 1 else None
    refused = isinstance(whole, dict) and whole.get("id") is None
    if refused and protocol_error(whole) is not None:
        line = f"it answers one with {answers[0]}"
        if promised:
            message = f"the taxonomy promises batches, and the service takes none: {line}"
            yield failed(clause, message, answers[0], variant="refused")
        else:
            yield not_exercised(clause, f"the service takes no batches: {line}")
        return
    yield from _check_answers(answers, ids)
    empty = session.batch((), harmless=True)[0]
    yield _check_number(clause, empty, "an empty batch", REQUEST)
    pair = [notification(_NO_METHOD), notification(_NO_METHOD)]
    for answer in session.batch(pair, due=False, harmless=True)[:1]:
        message = f"the service answered {answer} to a batch of notifications; expected no answer"
        yield failed(clause, message, answer, variant="notifications")


def _promises_batches(session: RpcSession) -> bool | None:
    """Whether the taxonomy says that the service takes batches; None if it does not say."""
    protocols = (claim.surface.protocol for claim in session.contract.claims)
    declared = [protocol.batches for protocol in protocols if protocol is not None]
    return next((batches for batches in declared if batches is not None), None)


def _check_answers(answers: list[Observation], ids: tuple[object, object]) -> Iterator[Outcome]:
    """Check the answers to a batch of two requests with these ids, and a notification."""
    clause = "rpc/batch"
    found = [answer.json.get("id") if isinstance(answer.json, dict) else None for answer in answers]
    for answer, own in zip(answers, found, strict=True):
        if not any(are_equal(own, id) for id in ids):
            message = "an answer to a batch has an id that none of its calls has"
            yield failed(clause, message, answer, variant="id")
            return
    if len(found) != 2 or are_equal(found[0], found[1]):
        message = f"a batch of two requests and a notification has {len(found)} answers"
        yield failed(
            clause, f"{message}; expected one for each request", *answers, variant="number"
        )
        return
    for answer in answers:
        yield from response_outcomes(answer, ids)
    yield passed(clause)


def _check_number(clause: str, answer: Observation, what: str, number: int) -> Outcome:
    if protocol_error(answer.json) == number:
        return passed(clause)
    message = f"the service answered {answer} to {what}; expected error {number}"
    return failed(clause, message, answer)


def reason_unlisted(session: CallSession, number: int) -> str | None:
    """Return why nothing is asked that deserves this number: the taxonomy lists numbers without it;
    else None.
    """
    surfaces = [claim.surface for claim in session.contract.claims]
    listed = [
        surface.protocol
        for surface in surfaces
        if surface.transport == "jsonrpc" and surface.protocol is not None
    ]
    if not listed or any(number in codes for protocol in listed for codes in protocol.codes):
        return None
    return f"the taxonomy does not list {number} among the numbers of the protocol"


def _known_call(session: RpcSession) -> tuple[str, object, bool]:
    """Return a call that succeeds and whether it is harmless, after the steps that it needs; a call
    of an unknown method if there is no sample.
    """
    for sample in session.samples:
        saved = take_steps(session, sample.before, harmless=sample.safe)
        if isinstance(saved, str):
            continue
        return sample.call.path, fill_in(session.source, sample.call.body, saved), sample.safe
    return _NO_METHOD, {}, True
