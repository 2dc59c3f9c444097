"""What a JSON-RPC service does with what is no call of its own, with batches, notifications and ids (JSON-RPC 2.0).

The numbers are those of the specification, section 5.1. Where the taxonomy lists the numbers of the protocol and one is not
among them, nothing is asked that should be answered with it.
"""

from collections.abc import Iterator

from faultspec.contract.model import Claim
from faultspec.exchange.model import Canary
from faultspec.language.values import same
from faultspec_conformance.config import ABSENT, SampleCall
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.calls import RpcSession, encoded, formed, notification, request
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    parsed,
    passed,
    protocol_error,
)
from faultspec_conformance.session.parameters import filled

PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602

#: The same in every run, so that a finding is known again.
_NO_METHOD = "faultspec.no_such_method"

_NOTHING_KNOWN = "the file names no call under `calls` that may be sent"

#: What is JSON, and no request: each with the ids that its answer may carry beside null.
_NO_REQUESTS: tuple[tuple[str, object, tuple[object, ...]], ...] = (
    ("an object without a method", {"jsonrpc": "2.0", "id": 900001}, (900001,)),
    ("a method that is a number", {"jsonrpc": "2.0", "method": 1, "id": 900002}, (900002,)),
    ("a text", "hello", ()),
)

_NO_JSON: tuple[tuple[str, bytes], ...] = (
    ("a message that breaks off", b'{"jsonrpc": "2.0", "method": "a", "params": [1, '),
    ("a message of words", b"hello there"),
    (
        "a batch that breaks off",
        b'[{"jsonrpc": "2.0", "method": "a", "id": 1}, {"jsonrpc": "2.0", "method"',
    ),
)


def unknown_methods(world: RpcSession) -> Iterator[Outcome]:
    """A method that there is not, without params and with a secret among them; neither it nor the secret comes back."""
    clause = "rpc/unknown-method"
    if (unsaid := _undeclared(world, METHOD)) is not None:
        yield not_exercised(clause, unsaid)
        return
    canary, address = world.canary("secret"), Canary("address", _NO_METHOD)
    shapes: tuple[object, ...] = (ABSENT, {"token": canary.value}, [canary.value])
    for params in shapes:
        sent = world.call(_NO_METHOD, params, plant=(canary, address), harmless=True)
        yield _refused(clause, "a method that there is not", sent, METHOD)


def parse_errors(world: RpcSession) -> Iterator[Outcome]:
    """What is no JSON."""
    yield from _malformed(
        world, "rpc/parse-error", PARSE, tuple((what, body, ()) for what, body in _NO_JSON)
    )


def invalid_requests(world: RpcSession) -> Iterator[Outcome]:
    """What is JSON, and no request."""
    bodies = tuple((what, encoded(body), ids) for what, body, ids in _NO_REQUESTS)
    yield from _malformed(world, "rpc/invalid-request", REQUEST, bodies)


def _malformed(
    world: RpcSession,
    clause: str,
    number: int,
    bodies: tuple[tuple[str, bytes, tuple[object, ...]], ...],
) -> Iterator[Outcome]:
    if (unsaid := _undeclared(world, number)) is not None:
        yield not_exercised(clause, unsaid)
        return
    for what, body, ids in bodies:
        with world.guarded(clause):
            sent = world.raw(what, body, ids)
            yield _refused(clause, what, sent, number)
            answer = sent.json
            if isinstance(answer, dict) and not any(
                same(answer.get("id"), each) for each in (None, *ids)
            ):
                message = (
                    f"{what} is answered with the id {answer.get('id')!r}; there is none to be read"
                )
                yield failed("rpc/id", message, sent, pointer="/id")


def invalid_params(world: RpcSession) -> Iterator[Outcome]:
    """Params that the file says must be refused, and params that are neither an object nor a list."""
    clause = "rpc/invalid-params"
    samples = world.samples
    if not samples:
        yield not_exercised(clause, _NOTHING_KNOWN)
    for sample in samples:
        identity = world.target.identity(sample.identity) if sample.identity is not None else None
        for params in sample.invalid:
            with world.guarded(clause):
                sent = world.call(
                    sample.call.path,
                    filled(world.tokens, params),
                    identity=identity,
                    harmless=sample.safe,
                )
                yield _not_taken(world, sent, sample)
    for sample in samples[:1]:
        if _undeclared(world, PARAMS) is None:
            sent = world.call(sample.call.path, "text", harmless=sample.safe)
            if protocol_error(sent.json) not in (PARAMS, REQUEST) and sent.code is None:
                message = f"params that are a text are answered {sent}; expected error {PARAMS} or {REQUEST}"
                yield failed(clause, message, sent)
            else:
                yield passed(clause)


def _not_taken(world: RpcSession, sent: Observation, sample: SampleCall) -> Outcome:
    clause = "rpc/invalid-params"
    if protocol_error(sent.json) == PARAMS or sent.code is not None:
        return passed(clause)
    codes = ", or a code of the taxonomy" if world.taxonomy.live_codes() else ""
    message = f"invalid params of `{sample.call.path}` are answered {sent}; expected error {PARAMS}{codes}"
    return failed(clause, message, sent)


def ids(world: RpcSession) -> Iterator[Outcome]:
    """Ids of each type a client may choose, of a call that succeeds and of one that fails; that they come back is checked on
    every answer.
    """
    refused = _undeclared(world, METHOD) is None
    for each in (f"id-{world.tokens.hex(4)}", 0, -7, 2**31, "7", "ü ☃"):
        with world.guarded("rpc/id"):
            name, params, harmless = _something(world)
            world.call(name, params, id=each, harmless=harmless)
            if refused and name != _NO_METHOD:
                world.call(_NO_METHOD, {}, id=each, harmless=True)
    yield from ()


def ids_of_failures(world: RpcSession) -> Iterator[Outcome]:
    """The last call that was answered with a declared code, under ids of two types: whatever it is answered with now."""
    for sent in reversed(world.exchanges):
        asked = parsed(sent.exchange.request.body)
        if sent.code is None or not isinstance(asked, dict) or "id" not in asked:
            continue
        identity = (
            world.target.identity(sent.exchange.identity)
            if sent.exchange.identity is not None
            else None
        )
        for each in (f"id-{world.tokens.hex(4)}", 0):
            world.call(
                str(asked["method"]), asked.get("params", ABSENT), identity=identity, id=each
            )
        break
    yield from ()


def notifications(world: RpcSession) -> Iterator[Outcome]:
    """Requests without an id, which are not answered, whatever becomes of them."""
    clause = "rpc/notification"
    name, params, harmless = _something(world)
    for what, sent in (
        (
            "a notification of a method that there is not",
            world.notify(_NO_METHOD, {}, harmless=True),
        ),
        ("a notification", world.notify(name, params, harmless=harmless)),
    ):
        if sent is None:
            yield passed(clause)
        else:
            yield failed(clause, f"{what} is answered {sent}", sent)


def batches(world: RpcSession) -> Iterator[Outcome]:
    """Calls in one message: each that has an id is answered under it, once; an empty batch is no request."""
    clause = "rpc/batch"
    name, params, harmless = _something(world)
    first, second = f"b-{world.tokens.hex(3)}", world.new_id()
    calls = [
        request(name, params, first),
        notification(_NO_METHOD),
        request(_NO_METHOD, {}, second),
    ]
    answers = world.batch(calls, harmless=harmless)
    whole = answers[0].json if len(answers) == 1 else None
    if isinstance(whole, dict) and whole.get("id") is None and protocol_error(whole) is not None:
        yield not_exercised(
            clause, f"the service takes no batches: it answers one with {answers[0]}"
        )
        return
    found = [answer.json.get("id") if isinstance(answer.json, dict) else None for answer in answers]
    wrong = next(
        (
            each
            for each, own in zip(answers, found, strict=True)
            if not any(same(own, one) for one in (first, second))
        ),
        None,
    )
    if wrong is not None:
        yield failed(
            clause, "a batch is answered with something that answers none of its calls", wrong
        )
    elif len(found) != 2 or same(found[0], found[1]):
        message = f"a batch of two requests and a notification has {len(found)} answers; expected one for each request"
        yield failed(clause, message, *answers)
    else:
        for answer in answers:
            yield from formed(answer, (first, second))
        yield passed(clause)
    yield _refused(clause, "an empty batch", world.batch((), harmless=True)[0], REQUEST)
    silent = world.batch(
        [notification(_NO_METHOD), notification(_NO_METHOD)], due=False, harmless=True
    )
    if silent:
        yield failed(clause, f"a batch of notifications is answered {silent[0]}", silent[0])


def _refused(clause: str, what: str, sent: Observation, number: int) -> Outcome:
    if protocol_error(sent.json) == number:
        return passed(clause)
    return failed(clause, f"{what} is answered {sent}; expected error {number}", sent)


def _undeclared(world: RpcSession, number: int) -> str | None:
    """Why a number of the protocol is not asked for: where the taxonomy lists those there are, it is not among them."""
    claims: list[Claim] = [
        each for each in world.contract.claims if each.surface.transport == "jsonrpc"
    ]
    listed = [each.surface.protocol for each in claims if each.surface.protocol is not None]
    if not listed or any(number in codes for each in listed for codes in each.codes):
        return None
    return f"the taxonomy does not list {number} among the numbers of the protocol"


def _something(world: RpcSession) -> tuple[str, object, bool]:
    """A call that is known to succeed, and whether it is harmless; else one of a method that there is not."""
    for sample in world.samples[:1]:
        return (
            sample.call.path,
            filled(world.tokens, sample.call.body),
            sample.safe,
        )
    return _NO_METHOD, {}, True
