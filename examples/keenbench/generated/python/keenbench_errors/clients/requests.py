"""Typed errors and retries for requests.

    session = requests.Session()
    session.mount("https://", RetryAdapter())
    session.hooks["response"].append(raise_for_error)

The adapter sends again, and the hook raises the error of the last answer. The body of
an error is cut at ``LARGEST_BODY``, and stays packed then; so is what a compressed one
unpacks to, from urllib3 2.6 on.
"""

# Generated from examples/keenbench/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/keenbench/taxonomy.yaml

# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false
# (requests need not be installed where this package is checked)

import io
import time
from collections.abc import Callable, Iterator
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from ..errors import KeenbenchError
from ..retrying import (
    LARGEST_BODY,
    Retries,
    error_of,
    is_error_status,
    may_be_error,
    missing_key,
)

# Bytes that are unpacked at once
_PART = 1 << 16


def raise_for_error(response: requests.Response, **_: object) -> requests.Response:
    """Raise the error of an answer; return any other answer. It is a hook for
    ``response``, too.
    """
    if may_be_error(response.status_code, response.headers):
        error = _error_of(response)
        if error is not None:
            raise error
    return response


class RetryAdapter(HTTPAdapter):
    """Sends a request again as the policy of its error says, and returns the last
    answer, whose error ``raise_for_error`` raises. Other arguments are those of
    ``HTTPAdapter``.

    A write that an idempotency key makes safe gets one, if the key is a header. A body
    that can be read only once is sent once.
    """

    def __init__(
        self,
        *args: Any,
        retries: Retries | None = None,
        sleep: Callable[[float], object] = time.sleep,
        **others: Any,
    ) -> None:
        super().__init__(*args, **others)
        self.retries = Retries() if retries is None else retries
        self.sleep = sleep

    def send(
        self, request: requests.PreparedRequest, *args: Any, **others: Any
    ) -> requests.Response:
        """Send a request as often as its errors allow."""
        request.headers.update(missing_key(request.method or "GET", request.headers))
        call = self.retries.begin()
        while True:
            response = super().send(request, *args, **others)
            if not may_be_error(response.status_code, response.headers):
                call.succeed()
                return response
            error = _error_of(response)
            delay = call.delay(
                error,
                request.method or "GET",
                request.headers,
                repeatable=isinstance(request.body, bytes | str | None),
            )
            if delay is None:
                return response
            response.close()
            self.sleep(delay)


def _error_of(
    response: requests.Response,
) -> KeenbenchError | None:
    """The error in an answer. A success that its body may mark as an error is read
    whole: it is the caller's.
    """
    status = response.status_code
    unread = vars(response).get("_content") is False  # its public name reads it
    if is_error_status(status) and unread:
        bounded = response
        if hasattr(response.raw, "stream"):
            bounded = requests.Response()
            bounded.raw = _Packed(response.raw)
        body = _cut(bounded.iter_content(_PART))
        if len(body) > LARGEST_BODY:
            response.close()
        # As ``content`` does, which would read what is cut
        vars(response).update(_content=body, _content_consumed=True)
    return error_of(status, response.headers, response.content)


class _Packed:
    """A body of urllib3 for ``iter_content``: cut as it comes, since one that unpacks
    to nothing could be read for ever. One that is cut is not unpacked.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def stream(self, size: int, **_: object) -> Iterator[bytes]:
        """The parts of the body."""
        packed = _cut(iter(self.raw.stream(size, decode_content=False)))
        if len(packed) > LARGEST_BODY:
            yield packed
            return
        coding = {"content-encoding": self.raw.headers.get("content-encoding", "")}
        whole = urllib3.HTTPResponse(
            io.BytesIO(packed), headers=coding, preload_content=False
        )
        yield from whole.stream(size, decode_content=True)


def _cut(parts: Iterator[bytes]) -> bytes:
    """The parts up to the first that goes beyond ``LARGEST_BODY``."""
    body = bytearray()
    while len(body) <= LARGEST_BODY and (part := next(parts, None)) is not None:
        body += part
    return bytes(body)
