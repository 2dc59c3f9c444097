"""HTTP Archive 1.2, as browsers and proxies write it (http://www.softwareishard.com/blog/har-12-spec/)."""

import base64
import binascii
from collections.abc import Iterator
from typing import BinaryIO

from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.observed.formats.listed import of_json
from faultspec_conformance.observed.formats.record import (
    ABOUT_BODY,
    ABOUT_HEADERS,
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


def read(stream: BinaryIO, name: str) -> Iterator[Item]:
    """The exchanges of an archive. It is one JSON document, so its text is held as a whole, and one entry at a time decoded."""
    text = stream.read().decode("utf-8-sig", "replace")
    for each in of_json(text, "log", "entries"):
        place = f"{name}:{each.line}"
        yield (
            Skipped(place, each.problem, ends=each.ends)
            if each.problem is not None
            else _item(each.value, place)
        )


def _item(entry: object, place: str) -> Item:
    match entry:
        case {
            "request": {"method": str(method), "url": str(url), **asked},
            "response": {"status": status, **told},
        }:
            pass
        case _:
            return Skipped(
                place,
                "this entry has no request with a method and a URL, or no response with a status",
            )
    code = status_of(status)
    if code is None:
        # Browsers write 0 where a request was blocked or broken off.
        return Skipped(place, f"the status is {status!r}: there was no answer", broken=False)
    if isinstance(entry, dict) and entry.get("_fromCache"):
        return Skipped(place, "it was answered from the browser's cache", broken=False)
    sent, received = pairs(asked.get("headers")) or (), pairs(told.get("headers")) or ()
    posted, content = asked.get("postData"), told.get("content")
    lacks = ALWAYS | left_out(received)
    if not received:
        lacks |= ABOUT_HEADERS
    body = _content(content) if isinstance(content, dict) else b""
    if body is not None:
        body = unpacked(body, received)
    if body is None:
        lacks |= ABOUT_BODY
    elapsed = seconds_of(entry.get("time") if isinstance(entry, dict) else None, 0.001)
    if elapsed is None:
        lacks |= {"elapsed"}
    question = _text(posted) if isinstance(posted, dict) else b""
    return RecordedExchange(
        Exchange(
            Request(method, url, sent, question),
            Response(code, received, body or b"", elapsed or 0.0),
            lacks=lacks,
        ),
        place,
    )


def _content(content: dict[str, object]) -> bytes | None:
    """The body of an answer; None where it was left out, as browsers do with what they no longer hold."""
    if "text" not in content:
        return b"" if content.get("size") in (0, None) else None
    return _text(content)


def _text(part: dict[str, object]) -> bytes:
    text = part.get("text")
    if part.get("encoding") == "base64" and isinstance(text, str):
        try:
            return base64.b64decode(text)
        except (binascii.Error, ValueError):
            pass
    return as_bytes(text) if text is not None else b""
