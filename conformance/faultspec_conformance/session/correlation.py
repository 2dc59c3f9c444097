"""The correlation id: which are well formed, and whether each answer brings back the right one."""

from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from typing import NamedTuple

from faultspec.exchange.finding import Judgement
from faultspec.exchange.model import Exchange
from faultspec.language.model import Field, Taxonomy
from faultspec.runtime import ids
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.sampling.tokens import Tokens
from faultspec_conformance.session.observation import Observation, failed, passed, slot


class EchoRule(NamedTuple):
    """The request header that comes back, and the slot of the envelope it comes back in."""

    header: str
    slot: Field


def echo_rule(taxonomy: Taxonomy) -> EchoRule | None:
    """The correlation id that a taxonomy has echoed, or None."""
    for envelope in taxonomy.envelopes.values():
        for field in envelope.fields.values():
            if field.echo is not None:
                return EchoRule(field.echo, field)
    return None


def new_id(echo: EchoRule | None, tokens: Tokens) -> str:
    """A new correlation id, of the first allowed format; a word where none is declared."""
    return next((tokens.id(format_) for format_ in _formats(echo)), "none")


def valid(echo: EchoRule | None, value: str) -> bool:
    """Whether the value is a correlation id of an allowed format."""
    formats = _formats(echo)
    return ids.matches(formats, value) if formats else bool(value)


def lenient(echo: EchoRule | None, exchange: Exchange, judgement: Judgement) -> Judgement:
    """The judgement without complaints of an id's format, where it is a UUID of the caller's own that came back.

    Who takes any UUID for an id departs from a format, not from what the id is for; a probe warns of it, once.
    """
    inbound = exchange.sent(echo.header) if echo is not None else None
    if echo is None or inbound is None or valid(echo, inbound) or not ids.FORMATS["uuid"](inbound):
        return judgement
    overlooked = ("ids/format", f"headers/{echo.header.lower()}")
    kept = tuple(finding for finding in judgement.findings if finding.clause not in overlooked)
    return replace(judgement, findings=kept)


def _formats(echo: EchoRule | None) -> tuple[str, ...]:
    return tuple(
        each
        for each in (echo.slot.schema.format if echo is not None else ())
        if each in ids.FORMATS
    )


def check_echo(
    taxonomy: Taxonomy,
    echo: EchoRule,
    generated: MutableMapping[str, Observation],
    sent: Observation,
) -> Iterator[Outcome]:
    """Whether an answer brings back the id of its request, or has a new one; ``generated`` are those seen, which it adds to."""
    header, rule = echo
    back = [
        value
        for name, value in sent.exchange.response.headers
        if name.lower() == (rule.mirror or header).lower()
    ]
    body = slot(taxonomy, sent, rule.slot) if sent.judgement.is_error else None
    inbound = sent.exchange.sent(header)
    streamed = (
        sent.exchange.transport == "stream"
    )  # its header is that of the answer around it, checked there
    found = [*([] if streamed else back), *([body] if isinstance(body, str) else [])]
    if streamed and inbound is None:
        return
    if inbound is not None and valid(echo, inbound):
        if not found:
            if sent.ok and not streamed:
                message = f"a success does not bring back the {header} that was sent"
                yield failed("correlation/echo", message, sent, level="warning", pointer=header)
            return
        wrong = next((each for each in found if each != inbound), None)
        if wrong is None:
            yield passed("correlation/echo")
        elif len(back) > 1 and inbound in back:
            yield failed(
                "correlation/echo",
                f"{header} comes back {len(back)} times, with different values",
                sent,
            )
        else:
            place = f"the header {header}" if wrong in back else f"the body's {rule.slot}"
            where = "an error" if sent.judgement.is_error else "a success"
            yield failed(
                "correlation/echo", f"{place} of {where} is not the {header} that was sent", sent
            )
        return
    if not sent.judgement.is_error and not back:
        return
    value = next((each for each in found if each), None)
    if value is None:
        if body is None and sent.judgement.is_error and isinstance(sent.json, dict):
            message = (
                "an error to a request without an id has none, neither in a header nor in its body"
            )
            yield failed("correlation/generated", message, sent)
        return
    earlier = generated.get(value)
    if earlier is None:
        generated[value] = sent
        yield passed("correlation/generated")
        if len(generated) > 1:
            yield passed("correlation/unique")
    else:
        message = f"two requests without {header} were given the same id"
        yield failed("correlation/unique", message, earlier, sent)
