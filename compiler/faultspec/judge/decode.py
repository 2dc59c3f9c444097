"""The body of an answer as a value, in the format of its media type."""

from faultspec.contract.model import Claim
from faultspec.exchange.body import DecodedBody, decode_as, decode_body, read, read_success
from faultspec.exchange.model import Exchange
from faultspec.judge.match_envelope import envelopes_meant
from faultspec.judge.media_type import charset_problem
from faultspec.runtime.codecs import Codec, media_essence

_NOT_DECODED = DecodedBody(None, "is not decoded")

_ALWAYS_JSON = frozenset({"jsonrpc", "mcp"})
"""Transports that prescribe the format."""


def decode_answer(exchange: Exchange, claim: Claim | None, *, bodiless: bool) -> DecodedBody:
    """The body of an answer; without a declared media type in the first format that reads it."""
    if bodiless:
        return _NOT_DECODED
    body, status = exchange.response.body, exchange.response.status
    is_success = status is not None and status < 400
    if is_success and claim is not None:
        # Here the status itself tells an error, or of a batch that there may be some.
        is_success = not (claim.surface.batch or claim.surface.is_error_status(status))
    content_type = exchange.response_header("content-type")
    declared = _declared_type(exchange, claim, content_type)
    if is_success:
        return _decode_success(body, declared)
    if claim is None or exchange.transport in _ALWAYS_JSON or not claim.envelopes:
        return read(body)
    if declared is None:
        return _decode_undeclared(body, claim)
    found = decode_body(body, declared)
    if found.codec.name == "text" and (problem := charset_problem(content_type)) is not None:
        return DecodedBody(None, problem, found.codec, readable=False)
    return found


def _declared_type(exchange: Exchange, claim: Claim | None, content_type: str | None) -> str | None:
    """The media type of an answer, if an envelope of its surface has it."""
    if claim is None or exchange.transport in _ALWAYS_JSON:
        return None
    essence = media_essence(content_type)
    is_declared = any(essence in each.essences for each in claim.envelopes)
    return essence if is_declared else None


def _decode_success(body: bytes, declared: str | None) -> DecodedBody:
    if declared is None:
        return read_success(body)
    found = decode_body(b"", declared)  # its codec
    if not found.readable or found.codec.name == "text":
        return DecodedBody(None, "is not searched", found.codec)
    return read_success(body, found.codec)


def _decode_undeclared(body: bytes, claim: Claim) -> DecodedBody:
    codecs: dict[Codec, None] = {}
    for envelope in envelopes_meant(claim, None):
        codecs.update(dict.fromkeys(envelope.codecs))
    if not codecs:
        return decode_body(body, claim.envelopes[0].media_types[0])
    found = [decode_as(codec, body) for codec in codecs]
    read_ = next((each for each in found if each.problem is None), None)
    unread = next((each for each in found if not each.readable), None)
    return read_ or unread or next(iter(found), read(body))
