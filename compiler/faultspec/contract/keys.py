"""Idempotency keys in requests as they are on the wire: which key one carries, and the same request
under another key.
"""

import json
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlencode

from faultspec.exchange.body import decode_body, replace_value
from faultspec.exchange.model import Exchange, Request, first_header
from faultspec.openapi.service import path_values
from faultspec.runtime.codecs import find_codec
from faultspec.runtime.keys import KeyPlace
from faultspec.runtime.pointers import resolve

_FIELDS = 1000
"""Parameters of a query that is read."""


def carried_key(place: KeyPlace, exchange: Exchange) -> str | None:
    """The key that a request carries; None if it carries none, or if its route is not known."""
    request = exchange.request
    if place.kind == "header":
        return first_header(request.headers, place.at)
    if place.kind == "path":
        path = request.target.partition("?")[0]
        return (path_values(exchange.route or "", path) or {}).get(place.at)
    if place.kind == "query":
        return dict(reversed(_query_pairs(request.target))).get(place.at)
    value = resolve(_decoded_body(request), place.at)[1]
    return value if isinstance(value, str) else json.dumps(value) if _is_number(value) else None


def with_carried_key(place: KeyPlace, exchange: Exchange, key: str) -> Exchange:
    """The exchange with another key in its request; as it is if the request carries none."""
    if carried_key(place, exchange) is None:
        return exchange
    request = exchange.request
    path, mark, query = request.target.partition("?")
    if place.kind == "header":
        headers = tuple(
            (name, key if name.lower() == place.at.lower() else value)
            for name, value in request.headers
        )
        changed = replace(request, headers=headers)
    elif place.kind == "path":
        changed = replace(request, target=_fill(exchange.route or "", path, place.at, key))
        changed = replace(changed, target=changed.target + mark + query)
    elif place.kind == "query":
        pairs = [
            (name, key if name == place.at else value)
            for name, value in _query_pairs(request.target)
        ]
        changed = replace(request, target=f"{path}?{urlencode(pairs)}")
    else:
        changed = _with_key_in_body(place, request, key)
    return replace(exchange, request=changed)


def _fill(route: str, path: str, placeholder: str, key: str) -> str:
    values = {**(path_values(route, path) or {}), placeholder: key}
    for name, value in values.items():
        route = route.replace("{" + name + "}", quote(value, safe=""))
    return route


def _with_key_in_body(place: KeyPlace, request: Request, key: str) -> Request:
    codec = find_codec(first_header(request.headers, "content-type"))
    body = replace_value(_decoded_body(request), place.at, key)
    if codec is None:
        return request
    return replace(request, body=codec.encode(body))


def _decoded_body(request: Request) -> object:
    return decode_body(request.body, first_header(request.headers, "content-type")).value


def _query_pairs(target: str) -> list[tuple[str, str]]:
    """The parameters of the query in order; none if the query is malformed."""
    query = target.partition("?")[2].partition("#")[0]
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        return []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
