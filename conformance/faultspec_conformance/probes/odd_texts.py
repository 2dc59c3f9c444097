"""Texts with quotes, wildcards, emoji and control characters, in queries and in bodies.

The judge decides: no answer may be a crash, and an error has the declared form. Whether such a text
is accepted is the matter of the service.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from faultspec.openapi.service import OperationParameter, ServiceOperation
from faultspec_conformance.probes.fresh_items import FreshItems
from faultspec_conformance.probes.operations import MOST_OPERATIONS, json_writes
from faultspec_conformance.session import sampling
from faultspec_conformance.session.fixtures import ordinary_request
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import INVALID_INPUT, Observation
from faultspec_conformance.session.observations import ProbeResult, attempt
from faultspec_conformance.session.parameters import likely_values, referred_kind
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import created_path


@dataclass(frozen=True, slots=True)
class OddText:
    """A text of a form that services forget. ``what``: it in words."""

    what: str
    text: str


#: One text that has them all, which costs one request where a service accepts it.
TOGETHER = OddText(
    "a quote, wildcards, open brackets, a backslash and an emoji", "O'N\"%_([\\ \U0001f600"
)

#: The same one by one, for services that refuse the text that has them all.
_ALONE = (
    OddText("a quote", "O'Neil"),
    OddText("an emoji", "ok \U0001f600"),
    OddText("a percent sign and an underscore", "50%_"),
    OddText("a backslash", "a\\b"),
    OddText("a double quote", 'a"b'),
    OddText("open brackets", "a([b"),
)

#: Control characters but NUL, which many services refuse.
_CONTROLS = OddText("control characters", "a\x01\t\x7fb")

#: Requests with odd texts in queries, and in bodies.
_QUERIES, _BODIES = 24, 40


def odd_queries(session: HttpSession) -> Iterator[ProbeResult]:
    """Send odd texts in each parameter of a query that takes any text, the operations in turn."""
    reads = [one for one in session.inventory.operations if not one.writes]
    places = [[(one, name) for name in _free_parameters(session, one)] for one in reads]
    turns = [pair for turn in zip_longest(*places) for pair in turn if pair is not None]
    requests = (
        (odd, operation, parameter)
        for odds in ((TOGETHER,), (_CONTROLS,), _ALONE)
        for operation, parameter in turns
        for odd in odds
    )
    refused: set[tuple[str, str]] = set()
    sent = 0
    for odd, operation, parameter in requests:
        place = operation.name, parameter.name
        if sent >= _QUERIES or (odd in _ALONE and place not in refused):
            continue
        sent += 1
        yield from attempt(_ask(session, odd, operation, parameter))
        last = session.knowledge.exchanges[-1:]
        if odd is TOGETHER and any(answer.status in INVALID_INPUT for answer in last):
            refused.add(place)


def _free_parameters(
    session: HttpSession, operation: ServiceOperation
) -> Iterator[OperationParameter]:
    """Yield the parameters of a query that take any text."""
    for parameter in operation.parameters:
        schema = sampling.only_branch(session.description.document, parameter.schema)
        limits = {"enum", "const", "format", "pattern"}
        free = sampling.kind(schema) == "string" and limits.isdisjoint(schema)
        if parameter.where == "query" and free:
            yield parameter


def _ask(
    session: HttpSession, odd: OddText, operation: ServiceOperation, parameter: OperationParameter
) -> Iterator[ProbeResult]:
    most = sampling.only_branch(session.description.document, parameter.schema).get("maxLength")
    text = odd.text[:most] if isinstance(most, int) else odd.text
    spec = ordinary_request(session, operation, likely_values(session, operation))
    what = f"{odd.what} in `{parameter.name}`"
    session.call(replace(spec, query={**spec.query, parameter.name: text}, trigger=what))
    yield from ()


def odd_bodies(session: HttpSession) -> Iterator[ProbeResult]:
    """Send odd texts in the free texts of each body, and read what is stored then."""
    if not session.writable:
        return
    items, sent = FreshItems(session), 0
    operations = json_writes(session)[:MOST_OPERATIONS]
    for odd in (TOGETHER, _CONTROLS):
        for operation in operations:
            if sent < _BODIES:
                sent += 2
                yield from attempt(_write(session, items, operation, odd))


def _write(
    session: HttpSession, items: FreshItems, operation: ServiceOperation, odd: OddText
) -> Iterator[ProbeResult]:
    """Write a body whose free texts are all odd; if that is refused, each of them alone."""
    answer = _send(session, items, operation, odd=odd)
    if answer is not None and answer.status in INVALID_INPUT and odd is TOGETHER:
        names = [name for name, _ in _free_members(session, operation)]
        for name, alone in islice(_pair(names), 2 * len(_ALONE)):
            _send(session, items, operation, odd=alone, only=name)
    yield from ()


def _pair(names: list[str]) -> Iterator[tuple[str, OddText]]:
    """Yield each name with an odd text alone, and so on until each name had each text."""
    for turn in range(len(_ALONE)):
        for place, name in enumerate(names):
            yield name, _ALONE[(turn + place) % len(_ALONE)]


def _send(
    session: HttpSession,
    items: FreshItems,
    operation: ServiceOperation,
    *,
    odd: OddText,
    only: str | None = None,
) -> Observation | None:
    """Send a body with odd texts, and read what it made. Return None if it has no free text."""
    spec = items.place(ordinary_request(session, operation))
    body = spec.body
    if not isinstance(body, dict):
        return None
    odd_members = {
        name: _fitting(session, odd, most)
        for name, most in _free_members(session, operation)
        if only in (None, name)
    }
    if not odd_members:
        return None
    what = f"{odd.what} in `{only or ', '.join(sorted(odd_members))}`"
    changed = replace(spec, body={**body, **odd_members}, trigger=what)
    answer = session.call(changed)
    if items.renew(spec):
        answer = session.call(items.place(changed))
    if answer.ok:
        _read_back(session, answer)
    return answer


def _fitting(session: HttpSession, odd: OddText, most: int | None) -> str:
    """Return an odd text with new characters at its end, as far as there is room for them."""
    text = f"{odd.text} {session.tokens.hex(4)}"
    return text if most is None else text[:most]


def _free_members(
    session: HttpSession, operation: ServiceOperation
) -> Iterator[tuple[str, int | None]]:
    """Yield the members of a body that take any text, each with its greatest length."""
    document = session.description.document
    schema = operation.body.schema if operation.body is not None else {}
    properties = sampling.properties_of(sampling.merge_all_of(document, schema))
    for name in sorted(sampling.free_texts(document, schema)):
        node = sampling.only_branch(document, properties[name])
        own = sampling.is_read_only(node) or node.get("writeOnly") is True
        most = node.get("maxLength")
        if not (own or "pattern" in node or referred_kind(session, name) is not None):
            yield name, most if isinstance(most, int) else None


def _read_back(session: HttpSession, answer: Observation) -> None:
    """Read what a write made or changed: a service may store a text that it cannot show."""
    request = answer.exchange.request
    caller = session.config.identity(answer.exchange.identity)
    item = created_path(session.kinds, answer) or request.target.partition("?")[0]
    found = session.description.operation_at("GET", item)
    if found is not None:
        session.call(RequestSpec("GET", item, identity=caller, route=found.template))
