"""The slots of the error in an answer, without a judgement."""

from collections.abc import Mapping

from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange
from faultspec.judge.decode import decode_answer
from faultspec.judge.lines import error_lines
from faultspec.judge.match_envelope import EnvelopeMatch, context_of, match_envelope
from faultspec.runtime.pointers import resolve


def read_slots(contract: Contract, exchange: Exchange) -> Mapping[str, object] | None:
    """The slots of an answer as the judge reads them: in the format of its media type, with the
    types of their schemas, and in all their places. Of several errors the first counts.

    None if the answer belongs to no surface, or its body to no envelope of the surface.
    """
    match = read_envelope(contract, exchange)
    return match.read.slots if match is not None else None


def read_envelope(contract: Contract, exchange: Exchange) -> EnvelopeMatch | None:
    """The envelope of an answer, and the body read as one; None where ``read_slots`` has none."""
    claim = contract.claim(exchange)
    if claim is None or not claim.envelopes:
        return None
    body = decode_answer(exchange, claim, bodiless=False)
    if body.problem is not None:
        return None
    value = body.value
    if body.has_lines and isinstance(value, list):
        marked = error_lines(claim.surface, body) or range(len(value))
        value = next((value[index] for index in marked), None)
    operation = contract.operation(exchange)
    context = context_of(exchange, exchange.response.status, operation, body)
    return match_envelope(contract, claim, resolve(value, claim.surface.at)[1], context)
