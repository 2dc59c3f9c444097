"""Texts of requests that look like the variables with which reports replace secrets.

A document may have the text `${AWS_SECRET_ACCESS_KEY}` as a value. In a command line of a report
the shell would fill it in, and the service would get the variable. So it is written in another way,
which means the same where the format has one.
"""

import re
from collections.abc import Collection
from dataclasses import replace

from faultspec.exchange.model import Request, first_header

#: How a variable of the environment begins. Names in lower case are those of values that a login
#: saves.
_BEGINNING = re.compile(r"\$(?=(\{[A-Z][A-Za-z0-9_]*\}))")

#: The sign `$` in JSON (RFC 8259, section 7), in addresses and forms (RFC 3986, section 2.1), and
#: in texts without escapes, which a blank changes.
_IN_JSON, _IN_ADDRESS, _IN_TEXT = "\\u0024", "%24", "$ "


def escape_variables(request: Request, words: Collection[str]) -> Request:
    """The request without variables other than those that replace secrets (``words``)."""

    def escape(text: str, sign: str) -> str:
        return _BEGINNING.sub(lambda found: "$" if f"${found[1]}" in words else sign, text)

    target = escape(request.target, _IN_ADDRESS)
    headers = tuple((name, escape(value, _IN_TEXT)) for name, value in request.headers)
    body = request.body
    if b"${" in body:
        media_type = first_header(request.headers, "content-type") or ""
        is_form = "form-urlencoded" in media_type
        sign = _IN_ADDRESS if is_form else _IN_JSON if "json" in media_type else _IN_TEXT
        text = body.decode("utf-8", "surrogateescape")
        body = escape(text, sign).encode("utf-8", "surrogateescape")
    return replace(request, target=target, headers=headers, body=body)
