"""The memory of an accumulator: recent ids, and the operations of concrete paths."""

import re
import sys
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import replace

from faultspec.contract.model import paths_of
from faultspec.exchange.model import Exchange
from faultspec.openapi.service import Description
from faultspec_conformance.session.observation import Observation

#: Generated ids that are compared for uniqueness. A service that repeats ids does so soon and
#: often.
_RECENT = 10_000

#: Bytes of a body that are kept with a recent id.
_SHORT = 4096

#: Bytes of the exchanges that are kept with recent ids. Their headers have no limit of their own.
_RECENT_BYTES = 32 * 1024 * 1024


class RecentIds(MutableMapping[str, Observation]):
    """The last generated ids, each with the part of its exchange that a report would show."""

    def __init__(self) -> None:
        self._kept: dict[str, Observation] = {}
        self._bytes = 0

    def __getitem__(self, key: str) -> Observation:
        return self._kept[key]

    def __setitem__(self, key: str, observation: Observation) -> None:
        exchange = observation.exchange
        request, response = exchange.request, exchange.response
        short = replace(
            exchange,
            request=replace(request, body=_shorten(request.body)),
            response=replace(response, body=_shorten(response.body)),
        )
        # Findings have the whole exchange as their evidence.
        judgement = replace(observation.judgement, findings=())
        self.pop(key, None)
        self._kept[key] = Observation(short, judgement)
        self._bytes += _size(short)
        while len(self) > _RECENT or (self._bytes > _RECENT_BYTES and len(self) > 1):
            del self[next(iter(self))]

    def __delitem__(self, key: str) -> None:
        self._bytes -= _size(self._kept.pop(key).exchange)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


def _size(exchange: Exchange) -> int:
    """About the bytes of memory that an exchange takes."""
    request, response = exchange.request, exchange.response
    texts = (text for field in (*request.headers, *response.headers) for text in field)
    return sum(map(sys.getsizeof, (request.target, request.body, response.body, *texts)))


def _shorten(body: bytes) -> bytes:
    """The body, or its beginning up to the end of a word: a part of a secret would not be masked.

    The ellipsis tells the masking that the last word may be truncated all the same.
    """
    if len(body) <= _SHORT:
        return body
    return re.sub(rb"[^\s\"',;&<>{}\[\]]*\Z", b"", body[:_SHORT]) + "…".encode()


def same_exchange(evidence: Iterable[Exchange]) -> bool:
    """Whether the exchanges are one exchange, recorded several times: equal to the byte."""
    parts = {
        (
            exchange.request.method,
            exchange.request.target,
            exchange.request.body[:_SHORT],
            exchange.response.status,
            exchange.response.headers,
            exchange.response.body[:_SHORT],
        )
        for exchange in evidence
    }
    return len(parts) <= 1


class OperationNames:
    """Names the operations of exchanges by an OpenAPI document; lookups are remembered."""

    def __init__(self, description: Description | None) -> None:
        self._description = description
        self._templates: dict[tuple[str, str], str | None] = {}

    def name(self, exchange: Exchange) -> Exchange:
        """The exchange with its route and operation, if it has none and the document has its
        path.
        """
        described = self._description is not None and bool(self._description.operations)
        if not described or exchange.transport != "http" or exchange.route is not None:
            return exchange
        key = (exchange.request.method.upper(), paths_of(exchange)[-1])
        template = self._template(key)
        if template is None:
            return exchange
        return replace(exchange, route=template, operation=f"{key[0]} {template}")

    def _template(self, key: tuple[str, str]) -> str | None:
        if len(self._templates) > _RECENT:
            self._templates.clear()
        if key not in self._templates and self._description is not None:
            operation = self._description.operation_at(*key)
            self._templates[key] = operation.template if operation is not None else None
        return self._templates[key]
