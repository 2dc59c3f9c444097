"""The requests of a run: which probe sent each, and which clauses it decided with it."""

from bisect import bisect_right
from collections.abc import Iterator

from faultspec_conformance.results.model import SentRequest
from faultspec_conformance.session.observations import Observations, PartRecord


def request_log(observations: Observations) -> tuple[SentRequest, ...]:
    """The answered requests of all parts, in order."""
    return tuple(sent for part in observations.parts for sent in _requests_of_part(part))


def _requests_of_part(part: PartRecord) -> Iterator[SentRequest]:
    """Yield the requests of a part. An outcome decides with the requests since those of the last
    outcome: several outcomes may rest on the same ones.
    """
    groups: dict[int, dict[str, None]] = {}
    for end, outcome in zip(part.decided, part.outcomes, strict=True):
        groups.setdefault(end, {})[outcome.clause] = None
    ends = sorted(groups)
    for index, observation in enumerate(part.exchanges):
        later = bisect_right(ends, index)
        exchange = observation.exchange
        yield SentRequest(
            part=part.name,
            operation=exchange.operation,
            status=exchange.response.status,
            code=observation.code,
            judged=len(observation.judgement.exercised),
            decided=tuple(groups[ends[later]]) if later < len(ends) else (),
        )
