"""Cassettes: the YAML and JSON of VCR, vcrpy and schemathesis, which differ in little."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.observed.formats.listed import ListedItem, of_json, of_yaml
from faultspec_conformance.observed.formats.record import (
    ABOUT_BODY,
    ALWAYS,
    Item,
    RecordedExchange,
    Skipped,
    as_bytes,
    left_out,
    pairs,
    seconds_of,
    status_of,
    unpacked,
)

_LISTS = ("interactions", "http_interactions")
"""Where vcrpy, and where VCR and schemathesis keep what they recorded."""

_PART = "this interaction has no request with a method and a URI, or no response"


def read(stream: BinaryIO, name: str) -> Iterator[Item]:
    """The exchanges of a cassette: of YAML one at a time is held, of JSON the text as a whole."""
    listed: Iterator[ListedItem]
    if stream.peek(64).lstrip()[:1] == b"{":  # type: ignore[attr-defined]  # it is always a buffered reader
        text = stream.read().decode("utf-8-sig", "replace")
        listed = of_json(text, _LISTS[1] if f'"{_LISTS[1]}"' in text else _LISTS[0])
    else:
        listed = of_yaml(stream, *_LISTS)
    last: Item | None = None
    for each in listed:
        if last is not None:
            yield last
        place = f"{name}:{each.line}"
        last = (
            Skipped(place, each.problem, ends=each.ends)
            if each.problem is not None
            else item(each.value, place)
        )
    if isinstance(last, Skipped) and last.reason == _PART and not last.ends:
        # YAML that is cut between two lines is YAML all the same.
        last = Skipped(last.place, f"the file seems to break off: {_PART}", ends=True)
    if last is not None:
        yield last


def item(interaction: object, place: str) -> Item:
    """One interaction."""
    match interaction:
        case {"request": {"method": str(method), **asked}, "response": {**told}} if (
            _url(asked) is not None
        ):
            pass
        case {"response": None}:
            return Skipped(place, "there was no answer", broken=False)
        case _:
            return Skipped(place, _PART)
    status = status_of(_status(told))
    if status is None:
        return Skipped(place, "its response has no status")
    sent, received = pairs(asked.get("headers")) or (), pairs(told.get("headers")) or ()
    body = unpacked(_body(told.get("body", told.get("content"))), received)
    lacks = ALWAYS | left_out(received)
    if body is None:
        lacks |= ABOUT_BODY
    elapsed = seconds_of(told.get("elapsed"))
    if elapsed is None:
        lacks |= {"elapsed"}
    request = Request(method.upper(), _url(asked) or "", sent, _body(asked.get("body")))
    return RecordedExchange(
        Exchange(request, Response(status, received, body or b"", elapsed or 0.0), lacks=lacks),
        place,
    )


def _url(asked: Mapping[object, object]) -> str | None:
    found = asked.get("uri", asked.get("url"))
    return found if isinstance(found, str) else None


def _status(told: Mapping[object, object]) -> object:
    status = told.get("status", told.get("status_code"))
    return status.get("code") if isinstance(status, dict) else status


def _body(body: object) -> bytes:
    match body:
        case None:
            return b""
        case {"base64_string": str(coded)} | {"$base64": str(coded)}:
            try:
                return base64.b64decode(coded)
            except (binascii.Error, ValueError):
                return b""
        case {"string": text}:
            return b"" if text is None else as_bytes(text)
        case {"encoding": _}:
            return b""
        case _:
            return as_bytes(body)
