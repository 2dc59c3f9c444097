"""HTTP Archive 1.2, as browsers and proxies write it
(http://www.softwareishard.com/blog/har-12-spec/).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import BinaryIO
from urllib.parse import urlencode

from faultspec.exchange.model import Request
from faultspec.openapi.nodes import is_form
from faultspec_conformance.observed.formats.items import json_items
from faultspec_conformance.observed.formats.record import (
    ABOUT_HEADERS,
    ALWAYS,
    BODILESS,
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

_INCOMPLETE = "this entry has no request with a method and a URL, or no response with a status"


def read_har(stream: BinaryIO, name: str) -> Iterator[Item]:
    """The exchanges of an archive. One entry at a time is held in memory."""
    for item in json_items(stream, ("log",), ("entries",)):
        place = f"{name}:{item.line}"
        yield (
            skip_unreadable(place, partial(_read_entry, item.value, place))
            if item.problem is None
            else Skipped(place, item.problem, ends=item.ends)
        )


def _read_entry(entry: object, place: str) -> Item:
    match entry:
        case {
            "request": {"method": str(method), "url": str(url), **request},
            "response": {"status": written, **response},
            **rest,
        }:
            pass
        case _:
            return Skipped(place, _INCOMPLETE)
    status = parse_status(written)
    if status is None:
        # Browsers write 0 if a request was blocked or interrupted.
        shown = written if type(written) is int else "not a number"
        reason = f"the status is {shown}: the request got no answer"
        return Skipped(place, reason, broken=False)
    if rest.get("_fromCache"):
        return Skipped(place, "the answer came from the browser's cache", broken=False)
    sent, received = (header_fields(part.get("headers")) or () for part in (request, response))
    posted, content = request.get("postData"), response.get("content")
    lacks = ALWAYS if received else ALWAYS | ABOUT_HEADERS
    if not _is_whole(request, method) or _is_rewritten(posted):
        lacks |= {"request"}
    return recorded_exchange(
        Request(method, url, sent, _form_text(posted) if isinstance(posted, dict) else b""),
        status,
        place,
        headers=received,
        body=_content(content) if isinstance(content, dict) else b"",
        elapsed=parse_seconds(rest.get("time"), 0.001),
        lacks=lacks,
        moment=rest.get("startedDateTime"),
    )


def _is_whole(request: Mapping[object, object], method: str) -> bool:
    """Whether a request is recorded with its header fields, and with its body if it has one."""
    knows_body = "postData" in request or request.get("bodySize") == 0
    return bool(request.get("headers")) and (knows_body or method.upper() in BODILESS)


def _is_rewritten(posted: object) -> bool:
    """Whether a body is recorded by the parameters of another format than that of forms."""
    match posted:
        case {"text": str()}:
            return False
        case {"params": list(params), "mimeType": str(media_type)}:
            return bool(params) and not is_form(media_type)
        case _:
            return False


def _form_text(posted: dict[str, object]) -> bytes:
    """The body of a request, of which an archive may have the parameters only (HAR 1.2, params)."""
    params = posted.get("params")
    if isinstance(posted.get("text"), str) or not isinstance(params, list):
        return _text(posted)
    pairs = [
        (str(each["name"]), str(each.get("value", "")))
        for each in params
        if isinstance(each, dict) and "name" in each
    ]
    return urlencode(pairs, errors="surrogatepass").encode()


def _content(content: dict[str, object]) -> bytes | None:
    """The body of an answer; None if the browser no longer had it."""
    if "text" not in content:
        return b"" if content.get("size") in (0, None) else None
    return _text(content)


def _text(part: dict[str, object]) -> bytes:
    text = part.get("text")
    if part.get("encoding") == "base64" and isinstance(text, str):
        decoded = decode_base64(text)
        if decoded is not None:
            return decoded
    return encode_body(text)
