"""Exchanges as their clients got them: without the content that no client ever reads."""

from dataclasses import replace

from faultspec.exchange.model import ABOUT_BODY, Exchange, has_content

#: The clause about content that an answer cannot have. Only the bytes on the wire decide it.
_ABOUT_CONTENT = frozenset({"http/head-body"})


def as_received(exchange: Exchange, *, recorded: bool = False) -> Exchange:
    """The exchange without a body that its client did not get.

    A server cuts the body of an answer to HEAD (RFC 9110 section 9.3.2). Applications, test clients
    and logs may have it still. ``recorded``: the exchange is of a recording. No parser of HTTP
    reads content of 1xx, 204 and 304 (RFC 9112 section 6.3): what a recording has there is of a log
    or of a browser's cache.
    """
    request, status = exchange.request, exchange.response.status
    is_cut = request.method.upper() == "HEAD" or (recorded and not has_content(status))
    if exchange.transport != "http" or not is_cut:
        return exchange
    return replace(
        exchange,
        response=replace(exchange.response, body=b"", cut=None),
        lacks=(exchange.lacks - ABOUT_BODY) | _ABOUT_CONTENT,
    )
