"""Correlation ids: every exchange is checked for echo and uniqueness; here are the cases that need a request of their own."""

import secrets
import uuid
from collections.abc import Iterator

from faultspec_conformance.verdict import Outcome
from faultspec_conformance.world import Sent, World

#: Longer than any format, shorter than the header limit of any server.
_OVERLONG = 2_000


def formats(world: World) -> Iterator[Outcome]:
    """An id of each allowed format, and none twice in a row, on errors."""
    if world.echo is None:
        return
    for value in world.valid_ids():
        _unknown(world, value)
    for _ in range(2):
        sent = _unknown(world, "none")
        found = world.slot(sent, world.echo[1].slot)
        if sent.judgement.is_error and sent.sound and not found and not sent.header(world.echo[0]):
            yield world.broken("correlation/generated", "an error to a request without an id has no id", sent)


def invalid_inbound(world: World) -> Iterator[Outcome]:
    """Ids that are none: with markup, overlong, and of a format that is not allowed."""
    clause = "correlation/invalid-inbound"
    if world.echo is None:
        return
    header, rule = world.echo
    if rule.invalid_inbound == "unspecified":
        yield world.skipped(clause, "the taxonomy does not say what becomes of a malformed id")
        return
    marker = secrets.token_hex(4)
    for what, value in (
        ("with markup in it", f'"><script>{marker}</script>'),
        ("that is overlong", marker + "A" * _OVERLONG),
        ("of letters only", f"not-an-id-{marker}-not-an-id-at-all"),
    ):
        if world.is_valid_id(value):
            continue
        yield _handled(world, clause, _unknown(world, value), what, value)
    other = str(uuid.uuid4())
    if not world.is_valid_id(other):
        # Not judged as an error: who takes any UUID for an id is lenient, and the id is well formed at least.
        sent = _unknown(world, other)
        if sent.header(header) == other:
            yield world.broken(
                clause, f"{header} of a format that is not declared (UUID version 4) comes back", sent, level="warning"
            )


def _handled(world: World, clause: str, sent: Sent, what: str, value: str) -> Outcome:
    assert world.echo is not None
    header, rule = world.echo
    if sent.status >= 500:
        return world.broken(clause, f"an id {what} is answered {sent}", sent)
    if any(value in back for _, back in sent.exchange.response.headers):
        return world.broken(clause, f"an id {what} comes back in a header", sent)
    if value.encode() in sent.exchange.response.body or world.slot(sent, rule.slot) == value:
        return world.broken(clause, f"an id {what} comes back in the body", sent)
    back = sent.header(header)
    if back is not None and not world.is_valid_id(back):
        return world.broken(clause, f"an id {what} is replaced by one that is not well formed either", sent)
    return world.held(clause)


def _unknown(world: World, correlation: str) -> Sent:
    return world.call("GET", f"/faultspec-{secrets.token_hex(4)}", correlation=correlation, route=None)
