"""The correlation id: which one a request carries, which are well formed, and whether each answer
returns the right one.
"""

import random
from collections import Counter
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from faultspec.contract.model import Contract
from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange
from faultspec.judge.read_slots import read_envelope
from faultspec.language.model import Envelope, Field, Taxonomy
from faultspec.language.values import check_value
from faultspec.runtime import ids
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observation import Observation, failed, passed
from faultspec_conformance.session.sampling.patterns import sample_match
from faultspec_conformance.session.sampling.source import ValueSource
from faultspec_conformance.session.sampling.tokens import Tokens


class EchoRule(NamedTuple):
    """The request header that a service returns, and the slot of the envelope that returns it."""

    header: str
    field: Field

    @property
    def answer_header(self) -> str:
        """The header of the answer that returns the id."""
        return self.field.mirror or self.header


def echo_rule(taxonomy: Taxonomy) -> EchoRule | None:
    """Return the rule of the first field of an envelope that echoes a header; None if there is
    none.
    """
    for envelope in taxonomy.envelopes.values():
        for slot_field in envelope.fields.values():
            if slot_field.echo is not None:
                return EchoRule(slot_field.echo, slot_field)
    return None


def new_id(echo: EchoRule | None, tokens: Tokens) -> str:
    """Return a new correlation id that the field allows; a word if none is known."""
    return _sample_id(echo, tokens) or "none"


def is_valid_id(echo: EchoRule | None, value: str) -> bool:
    """Whether the value is a correlation id that the field allows."""
    if not value or echo is None:
        return bool(value)
    problems = check_value(echo.field.schema, value, known=ids.FORMATS)
    return not any(problem.severity == "error" for problem in problems)


def _sample_id(echo: EchoRule | None, tokens: Tokens, turn: int = 0) -> str | None:
    """Return a new id of the format whose turn it is, or that the pattern allows; None if no
    allowed one is known.
    """
    if echo is None:
        return None
    schema, formats = echo.field.schema, _formats(echo)
    if formats:
        return tokens.id(formats[turn % len(formats)])
    if schema.format:  # an annotation that nobody can make
        return None
    samples = [tokens.id("uuid4"), tokens.hex(4 if schema.max_length else 16)]
    if schema.pattern is not None:
        source = ValueSource({}, random.Random(tokens.hex(8)), tokens)
        samples.append(sample_match(source, schema.pattern) or "")
    return next((text for text in samples if is_valid_id(echo, text)), None)


def excuse_uuid_version(
    echo: EchoRule | None, exchange: Exchange, judgement: Judgement
) -> Judgement:
    """Return the judgement without findings about the format of an id, if the caller sent a UUID of
    another version.

    A service that accepts any UUID departs from the format only; a probe warns of it once.
    """
    inbound = exchange.request_header(echo.header) if echo is not None else None
    if (
        echo is None
        or inbound is None
        or is_valid_id(echo, inbound)
        or not ids.FORMATS["uuid"](inbound)
    ):
        return judgement
    overlooked = ("ids/format", f"headers/{echo.header.lower()}")
    kept = tuple(finding for finding in judgement.findings if finding.clause not in overlooked)
    return replace(judgement, findings=kept)


def _formats(echo: EchoRule | None) -> tuple[str, ...]:
    declared = echo.field.schema.format if echo is not None else ()
    return tuple(name for name in declared if name in ids.FORMATS)


@dataclass(slots=True)
class CorrelationIds:
    """Which correlation id the next request carries.

    Each operation has its own turns in each part of the run, so that they do not depend on what
    else is asked.
    """

    rule: EchoRule | None
    _part: str = ""
    _turns: Counter[str] = field(default_factory=Counter)

    def begin(self, part: str) -> None:
        """Begin a part of the run."""
        self._part = part
        self._turns.clear()

    def inbound(self, tokens: Tokens, correlation: str, operation: str) -> str | None:
        """Return the id to send, or None.

        ``correlation``: `none`, `valid`, `auto` (by turns a valid one or none), or the id.
        """
        if self.rule is None or correlation == "none":
            return None
        if correlation not in ("auto", "valid"):
            return correlation
        self._turns[operation] += 1
        turn = len(self._part) + len(operation) + self._turns[operation]
        # Two requests in three carry an id, so that echoing is checked everywhere, and generating
        # often.
        if correlation == "auto" and turn % 3 == 0:
            return None
        return _sample_id(self.rule, tokens, turn)


def check_echo(
    contract: Contract,
    echo: EchoRule,
    generated: MutableMapping[str, Observation],
    observation: Observation,
) -> Iterator[Outcome]:
    """Check that an answer returns the id of its request, or a new one.

    ``generated``: the ids that the service generated so far. A new one is added.
    """
    exchange, is_error = observation.exchange, observation.judgement.is_error
    inbound = exchange.request_header(echo.header)
    # The header of a stream belongs to the answer around its events and is checked there.
    streamed = exchange.transport == "stream"
    if streamed and inbound is None:
        return
    name = echo.answer_header.lower()
    headers = [value for key, value in exchange.response.headers if key.lower() == name]
    match = read_envelope(contract, exchange) if is_error else None
    slot = _echo_slot(echo, match.envelope) if match is not None else None
    in_body = match.read.slots.get(slot) if match is not None and slot is not None else None
    returned = [] if streamed else list(headers)
    returned += [in_body] if isinstance(in_body, str) else []
    if inbound is not None and is_valid_id(echo, inbound):
        yield from _check_returned(echo, observation, headers, returned)
    elif (is_error or headers) and any(returned):
        yield from _check_generated(echo, generated, observation, next(filter(None, returned)))
    elif (
        is_error
        and in_body is None
        and (match is None or slot is not None)
        and isinstance(observation.json, dict)
    ):
        message = (
            "an error answers a request without an id, and neither a header nor the body has one"
        )
        yield failed("correlation/generated", message, observation)


def _echo_slot(echo: EchoRule, envelope: Envelope) -> str | None:
    """Return the slot of an envelope that returns the header of the rule, or None."""
    fields = envelope.fields.values()
    header = echo.header.lower()
    return next((one.slot for one in fields if (one.echo or "").lower() == header), None)


def _check_returned(
    echo: EchoRule, observation: Observation, headers: list[str], returned: list[str]
) -> Iterator[Outcome]:
    """Compare the ids in an answer with the id of the request."""
    header, clause = echo.header, "correlation/echo"
    inbound = observation.exchange.request_header(header)
    wrong = next((value for value in returned if value != inbound), None)
    if not returned:
        if observation.ok and observation.exchange.transport != "stream":
            message = f"a success does not return the {header} of its request"
            yield failed(clause, message, observation, level="warning", pointer=header)
    elif wrong is None:
        yield passed(clause)
    elif len(headers) > 1 and inbound in headers:
        message = f"{header} comes back {len(headers)} times, with different values"
        yield failed(clause, message, observation, variant="several")
    else:
        place = f"the header {header}" if wrong in headers else f"the body's {echo.field.slot}"
        kind = "an error" if observation.judgement.is_error else "a success"
        message = f"{place} of {kind} is not the {header} of the request"
        variant = "" if wrong in headers else "body"
        yield failed(clause, message, observation, variant=variant)


def _check_generated(
    echo: EchoRule,
    generated: MutableMapping[str, Observation],
    observation: Observation,
    value: str,
) -> Iterator[Outcome]:
    """Check that the service generated an id that no other answer has."""
    earlier = generated.get(value)
    generated[value] = observation
    if earlier is not None:
        yield repeated_id(echo, earlier, observation)
        return
    yield passed("correlation/generated")
    if len(generated) > 1:
        yield passed("correlation/unique")


def repeated_id(echo: EchoRule, earlier: Observation, observation: Observation) -> Outcome:
    """The outcome of an id that an earlier answer has."""
    message = f"two requests without {echo.header} get the same id"
    return failed("correlation/unique", message, earlier, observation)
