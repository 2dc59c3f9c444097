"""Cassettes: the YAML and JSON of VCR, vcrpy and schemathesis, which differ little."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import BinaryIO

from faultspec.exchange.model import Request
from faultspec_conformance.observed.formats.items import ListedItem, json_items, yaml_items
from faultspec_conformance.observed.formats.record import (
    ALWAYS,
    Item,
    Skipped,
    decode_base64,
    encode_body,
    header_fields,
    parse_seconds,
    parse_status,
    recorded_exchange,
    skip_unreadable,
)

#: The key of vcrpy's list, and that of VCR and schemathesis.
_LISTS = ("interactions", "http_interactions")

_INCOMPLETE = "this interaction has no request with a method and a URI, or no response"


def read_cassette(stream: BinaryIO, name: str) -> Iterator[Item]:
    """The exchanges of a cassette. One at a time is held in memory."""
    items: Iterator[ListedItem]
    if stream.peek(64).lstrip()[:1] == b"{":  # type: ignore[attr-defined]  # it is always a buffered reader
        items = json_items(stream, _LISTS)
    else:
        items = yaml_items(stream, *_LISTS)
    last: Item | None = None
    for item in items:
        if last is not None:
            yield last
        place = f"{name}:{item.line}"
        last = (
            read_interaction(item.value, place)
            if item.problem is None
            else Skipped(place, item.problem, ends=item.ends)
        )
    if isinstance(last, Skipped) and last.reason == _INCOMPLETE and not last.ends:
        # YAML that is cut between two lines is still YAML.
        last = Skipped(last.place, f"the file seems to be cut off: {_INCOMPLETE}", ends=True)
    if last is not None:
        yield last


def read_interaction(interaction: object, place: str) -> Item:
    """The exchange of one interaction."""
    return skip_unreadable(place, partial(_read_interaction, interaction, place))


def _read_interaction(interaction: object, place: str) -> Item:
    match interaction:
        case {"request": {"method": str(method), **request}, "response": {**response}, **rest} if (
            isinstance(url := request.get("uri", request.get("url")), str)
        ):
            pass
        case {"response": None}:
            return Skipped(place, "the request got no answer", broken=False)
        case _:
            return Skipped(place, _INCOMPLETE)
    status = parse_status(_status(response))
    if status is None:
        return Skipped(place, "its response has no status")
    sent = header_fields(request.get("headers")) or ()
    return recorded_exchange(
        Request(method.upper(), url, sent, _body(request.get("body"))),
        status,
        place,
        headers=header_fields(response.get("headers")) or (),
        body=_body(response.get("body", response.get("content"))),
        elapsed=parse_seconds(response.get("elapsed")),
        lacks=ALWAYS if sent else ALWAYS | {"request"},  # every client sends some
        moment=rest.get("recorded_at"),
    )


def _status(response: Mapping[object, object]) -> object:
    status = response.get("status", response.get("status_code"))
    return status.get("code") if isinstance(status, dict) else status


def _body(body: object) -> bytes:
    match body:
        case {"base64_string": str(coded)} | {"$base64": str(coded)}:
            return decode_base64(coded) or b""
        case {"string": text}:
            return encode_body(text)
        case {"encoding": _}:
            return b""
        case _:
            return encode_body(body)
