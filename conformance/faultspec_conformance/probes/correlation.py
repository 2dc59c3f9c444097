"""Malformed correlation ids. Echo and uniqueness are checked on every exchange, so this rides on requests of other probes."""

from collections.abc import Iterator

from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.correlation import valid
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, passed, slot

_CLAUSE = "correlation/invalid-inbound"

#: Longer than any format, shorter than the header limit of any server.
_OVERLONG = 2_000


def malformed(world: HttpSession) -> tuple[tuple[str, str], ...]:
    """Ids that are none, each with what is wrong with it: overlong, with markup, of a format that is not declared."""
    if world.echo is None or world.echo[1].invalid_inbound == "unspecified":
        return ()
    marker = world.tokens.hex(4)
    found = (
        ("that is overlong", marker + "A" * _OVERLONG),
        ("with markup in it", f'"><script>{marker}</script>'),
        (_OTHER_FORMAT, world.tokens.id("uuid4")),
    )
    return tuple(pair for pair in found if not valid(world.echo, pair[1]))


#: Who takes any UUID for an id is lenient, and the id is well formed at least: a warning.
_OTHER_FORMAT = "of a format that is not declared (UUID version 4)"


def handled(world: HttpSession, sent: Observation, what: str, value: str) -> Iterator[Outcome]:
    """What became of a malformed id that was sent with a request."""
    if world.echo is None:
        return
    header, rule = world.echo
    back = sent.header(header)
    body = sent.exchange.response.body
    if what == _OTHER_FORMAT:
        if back == value:
            message = f"{header} {what} comes back"
            yield failed(_CLAUSE, message, sent, level="warning")
    elif sent.status >= 500:
        yield failed(_CLAUSE, f"an id {what} is answered {sent}", sent)
    elif any(value in each for _, each in sent.exchange.response.headers):
        yield failed(_CLAUSE, f"an id {what} comes back in a header", sent)
    elif value.encode() in body or slot(world.taxonomy, sent, rule.slot) == value:
        yield failed(_CLAUSE, f"an id {what} comes back in the body", sent)
    elif rule.invalid_inbound == "reject" and sent.status not in (400, 422):
        yield failed(_CLAUSE, f"an id {what} is answered {sent}; the taxonomy has it refused", sent)
    else:
        yield passed(_CLAUSE)
