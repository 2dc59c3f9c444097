"""Operations in an order in which every one is reached: the first that matches claims a request."""

from collections.abc import Mapping

from faultspec.importers import Data
from faultspec.language.model import Match
from faultspec.lint.matching import claims_all_of, iterate_prefixes, literal_prefix


def order_by_route(operations: Mapping[str, Data]) -> dict[str, Data]:
    """The operations, each before those that would claim all of its requests; else as they were."""
    before: dict[str, list[str]] = {name: [] for name in operations}
    by_prefix: dict[tuple[str, str], list[tuple[str, Match]]] = {}
    for name, data in operations.items():
        match = _match(data)
        for route in match.routes:
            for prefix in iterate_prefixes(route):
                for wider, earlier in by_prefix.get(prefix, ()):
                    is_claimed = claims_all_of(earlier, match)
                    if is_claimed and not claims_all_of(match, earlier):
                        before[wider].append(name)
            by_prefix.setdefault(literal_prefix(route), []).append((name, match))
    found: dict[str, Data] = {}

    def place(name: str) -> None:
        if name not in found:
            for narrower in before[name]:
                place(narrower)
            found[name] = operations[name]

    for name in operations:
        place(name)
    return found


def _match(data: Data) -> Match:
    match = data.get("match", {})
    query = {name: (value,) for name, value in match.get("query", {}).items()}
    return Match(routes=tuple(match.get("routes", ())), query=query)
