"""The memory of an accumulator: recent ids, and the operations of concrete paths."""

import re
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import replace
from typing import NamedTuple

from faultspec.contract.crashes import CLAUSE
from faultspec.contract.model import paths_of
from faultspec.exchange.model import Exchange, Headers
from faultspec.openapi.service import Description
from faultspec_conformance.observed.formats.record import NO_STAMP, Stamp
from faultspec_conformance.sanitize.traffic_secrets import mask_name
from faultspec_conformance.session.observation import Observation

RECENT = 10_000
"""Generated ids that are compared for uniqueness. A service repeats ids soon and often."""

#: Bytes of a body, of a target and of all header fields of a message that are kept with a recent
#: id. With all of them 10,000 ids take some 60 MB, and usual ones 10.
_SHORT = 1024

#: Bytes of the longest line that is kept for an id: as many as of an exchange that was shortened.
_LONGEST = 4 * _SHORT


Use = Observation | bytes
"""An exchange with an id, or the line of a log that has it."""


class FirstUse(NamedTuple):
    """The first exchange with an id in a range of a recording, its place and its stamp."""

    id: str
    use: Use
    place: str | None
    stamp: Stamp = NO_STAMP


class RecentIds(MutableMapping[str, Observation]):
    """The last different ids, each with the part of its last exchange that a report would show.

    ``forgot``: whether an id had to go. ``first``: the first uses, in order, if they are wanted to
    compare them with what came before; later ones than are kept cannot be.
    """

    def __init__(
        self, restore: Callable[[bytes], Observation], *, keeps_first: bool = False
    ) -> None:
        self._restore = restore
        self._kept: dict[str, Use] = {}
        self._keeps_first = keeps_first
        self.forgot = False
        self.first: list[FirstUse] = []

    def __getitem__(self, key: str) -> Observation:
        return self.restore_use(self._kept[key])

    def __setitem__(self, key: str, observation: Observation) -> None:
        # Findings have the whole exchange as their evidence. A crash explains others.
        crashes = (each for each in observation.judgement.findings if each.clause == CLAUSE)
        findings = tuple(replace(each, evidence=()) for each in crashes)
        judgement = replace(observation.judgement, findings=findings)
        self.keep(key, Observation(shorten_exchange(observation.exchange), judgement))

    def __contains__(self, key: object) -> bool:
        return key in self._kept  # nothing has to be restored for it

    def restore_use(self, use: Use) -> Observation:
        """The exchange of a use."""
        return self._restore(use) if isinstance(use, bytes) else use

    def keep(self, key: str, use: Use, place: str | None = None, stamp: Stamp = NO_STAMP) -> None:
        """Keep a use of an id as it is, unless it is a line that is too long."""
        if isinstance(use, bytes) and len(use) > _LONGEST:
            self[key] = self._restore(use)
            self.place_last(place, stamp)
            return
        is_known = self._kept.pop(key, None) is not None
        self._kept[key] = use
        if self._keeps_first and not is_known and not self.forgot:
            self.first.append(FirstUse(key, use, place, stamp))
        if len(self) > RECENT:
            self.forgot = True
            del self[next(iter(self))]

    def __delitem__(self, key: str) -> None:
        del self._kept[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def uses(self) -> tuple[tuple[str, Use], ...]:
        """The ids and their uses as they are kept."""
        return tuple(self._kept.items())

    def place_last(self, place: str | None, stamp: Stamp) -> None:
        """Note the place and the stamp of the newest id, if it is a first use."""
        if self.first and self.first[-1].place is None:
            self.first[-1] = self.first[-1]._replace(place=place, stamp=stamp)


def shorten_exchange(exchange: Exchange) -> Exchange:
    """The exchange with as much as is kept with an id. It shortens nothing again."""
    request, response = exchange.request, exchange.response
    return replace(
        exchange,
        request=replace(
            request,
            target=_shorten(request.target.encode("utf-8", "surrogatepass")).decode(
                "utf-8", "replace"
            ),
            headers=_first_fields(request.headers),
            body=_shorten(request.body),
        ),
        response=replace(
            response, headers=_first_fields(response.headers), body=_shorten(response.body)
        ),
    )


def _first_fields(headers: Headers) -> Headers:
    """The first header fields, without those that are too long."""
    kept, left = [], _SHORT
    for name, value in headers:
        size = len(name) + len(value)
        if size <= left:
            left -= size
            kept.append((name, value))
    return tuple(kept)


def _shorten(text: bytes) -> bytes:
    """The text, or its beginning up to the end of a word: a part of a secret would not be masked.

    The ellipsis tells the masking that the last word may be truncated all the same.
    """
    ellipsis = "…".encode()
    if len(text) <= _SHORT:
        return text
    return re.sub(rb"[^\s\"',;&<>{}\[\]]*\Z", b"", text[: _SHORT - len(ellipsis)]) + ellipsis


def same_exchange(evidence: Iterable[Exchange]) -> bool:
    """Whether the exchanges are one exchange, recorded several times: equal as far as is kept."""
    parts = {
        (
            short.request.method,
            short.request.target,
            short.request.body,
            short.response.status,
            short.response.headers,
            short.response.body,
        )
        for short in map(shorten_exchange, evidence)
    }
    return len(parts) <= 1


def _mask_names(exchange: Exchange) -> Exchange:
    names = exchange.route, exchange.operation
    route, operation = (name if name is None else mask_name(name) for name in names)
    return (
        exchange
        if names == (route, operation)
        else replace(exchange, route=route, operation=operation)
    )


class OperationNames:
    """Names the operations of exchanges by an OpenAPI document; lookups are remembered."""

    def __init__(self, description: Description | None) -> None:
        self._description = description
        self._templates: dict[tuple[str, str], str | None] = {}

    def name(self, exchange: Exchange) -> Exchange:
        """The exchange with its route and operation, if it has none and the document has its path;
        else with its own, without what looks like a secret.
        """
        if exchange.transport != "http" or exchange.route is not None:
            return _mask_names(exchange)
        method = exchange.request.method.upper()
        template = self.template(method, paths_of(exchange)[-1])
        if template is None:
            return exchange
        return replace(exchange, route=template, operation=f"{method} {template}")

    def template(self, method: str, path: str) -> str | None:
        """The template of a path, if the document has it. The method is in upper case."""
        if self._description is None or not self._description.operations:
            return None
        if len(self._templates) > RECENT:
            self._templates.clear()
        key = (method, path)
        if key not in self._templates:
            operation = self._description.operation_at(method, path)
            self._templates[key] = operation.template if operation is not None else None
        return self._templates[key]
