"""Ids of failures: which slots have them, and whether each failure has one of its own."""

import re
from collections.abc import Iterator, MutableMapping

from faultspec.contract.keys import carried_key
from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange
from faultspec.language.model import Taxonomy
from faultspec.runtime.shape import slot_places
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.observation import Observation, failed, passed, slot_value

_CLAUSE = "ids/unique"

#: Names of slots that identify one failure, and not its kind, as `error_id` may.
_OF_ONE_FAILURE = re.compile(
    r"(audit|incident|occurrence|request|event|failure|instance)_?id|(audit|incident)_?ref",
    re.IGNORECASE,
)


def declared_slots(taxonomy: Taxonomy, looked_up: str | None) -> frozenset[str]:
    """The slots whose values the taxonomy or a look-up declares to be ids of failures."""
    own = taxonomy.audit.id if taxonomy.audit is not None else None
    return frozenset(filter(None, (own, looked_up)))


def check_failure_ids(
    contract: Contract,
    declared: frozenset[str],
    known: MutableMapping[tuple[str, str], Observation],
    answer: Observation,
) -> Iterator[Outcome]:
    """Check that the ids in a failure are in no other failure.

    ``declared``: the slots with ids. Other slots are known by their names; there two failures are
    compared only if their codes differ too. ``known``: the failures by slot and id; the answer is
    added.
    """
    if answer.code is None or answer.exchange.transport != "http":
        return
    taxonomy = contract.taxonomy
    echoed = {field.slot for field in taxonomy.fields() if field.echo}
    slots = {slot for one in taxonomy.envelopes.values() for slot in slot_places(one.shape)}
    named = {slot for slot in slots if _OF_ONE_FAILURE.fullmatch(slot)}
    for slot in sorted((named | declared) & slots - echoed):
        value = slot_value(contract, answer, slot)
        if not isinstance(value, str) or not value:
            continue
        earlier = known.setdefault((slot, value), answer)
        if earlier is answer:
            if any(place == slot and other != value for place, other in known):
                yield passed(_CLAUSE)
        elif not _may_share(contract, earlier, answer, by_code=slot not in declared):
            message = f"two failures have the same `{slot}`: {earlier} and {answer}"
            yield failed(_CLAUSE, message, earlier, answer, variant=slot)


def _may_share(
    contract: Contract, first: Observation, second: Observation, *, by_code: bool
) -> bool:
    """Whether two answers may be the same failure: to one request, or to one key."""
    if by_code and first.code == second.code:
        return True
    one, other = first.exchange, second.exchange
    if (one.request.method, one.request.target) == (other.request.method, other.request.target):
        return True
    keys = (_key(contract, each) for each in (one, other))
    key = next(keys)
    return key is not None and key == next(keys)


def _key(contract: Contract, exchange: Exchange) -> str | None:
    rule = contract.key_rule(exchange)
    return carried_key(rule.key, exchange) if rule is not None else None
