"""Observing every client of a process, with no edit of the code that uses it.

`ObservedClients` wraps the methods that send: of httpx and httpx2 (Starlette's test client is one
of them), requests, and the test clients of Django and Werkzeug (Flask's is one). A library is
wrapped once something has imported it. A client gets the answer that it got before:
a body that has not been read yet is left alone, as is one that is longer than errors are, and the
answer is judged by its head.
"""

import functools
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from faultspec.exchange.model import Exchange, Request
from faultspec_conformance.drivers.http import is_loopback_host
from faultspec_conformance.observed.middleware import (
    See,
    answer_lacks,
    answer_of,
    httpx_exchange,
    kept_body,
    requests_exchange,
)
from faultspec_conformance.observed.received import as_received

#: A path of Django's ``path()`` names its parameters so: ``orders/<int:number>/``.
_DJANGO_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")

#: The top level names that RFC 2606 reserves, and that of RFC 6762.
_RESERVED = frozenset({"test", "example", "invalid", "localhost", "local"})


def is_local_host(host: str) -> bool:
    """Whether a host is this machine or a made up one, as test clients have; ``host`` is empty for
    a request without a host. Names without a dot and those of RFC 2606 are never public.
    """
    _, dot, last = host.rpartition(".")
    return (not dot and ":" not in host) or last in _RESERVED or is_loopback_host(host)


class _SendingMethod(NamedTuple):
    """A method that sends a request and returns its answer. ``exchanges`` reads the exchanges of
    the answer: more than one where the method follows redirects.
    """

    module: str
    owner: str
    name: str
    exchanges: Callable[[Any], Iterator[Exchange]]


class ObservedClients:
    """The wrapped methods of one session. The exchanges with this machine, with made up hosts and
    with the named ones go to ``see``; others are those of other services, and are counted.
    """

    def __init__(self, see: See, hosts: Sequence[str] = ()) -> None:
        self._see = see
        self._hosts = hosts
        self._elsewhere: Counter[str] = Counter()
        self._originals: dict[_SendingMethod, Callable[..., Any]] = {}

    def wrap(self) -> None:
        """Wrap the methods of the libraries that have been imported since the last call."""
        for method in _METHODS:
            if method in self._originals or method.module.partition(".")[0] not in sys.modules:
                continue
            owner = getattr(import_module(method.module), method.owner)
            original = getattr(owner, method.name)
            self._originals[method] = original
            setattr(owner, method.name, self._observe(original, method))

    def unwrap(self) -> None:
        """Put the methods of the libraries back."""
        for method, original in self._originals.items():
            setattr(getattr(sys.modules[method.module], method.owner), method.name, original)
        self._originals.clear()

    def notes(self) -> Iterator[str]:
        """A note for each host whose answers are not judged."""
        for host, count in self._elsewhere.items():
            yield (
                f"{count} exchanges with {host} are not judged, since that may be another service; "
                "`faultspec_hosts` names further hosts of this one"
            )

    def _observe_exchange(self, exchange: Exchange) -> None:
        host = urlsplit(exchange.request.target).hostname or ""
        if host in self._hosts or is_local_host(host):
            self._see(as_received(exchange))
        else:
            self._elsewhere[host] += 1

    def _observe(self, original: Callable[..., Any], method: _SendingMethod) -> Callable[..., Any]:
        @functools.wraps(original)
        def send(*arguments: Any, **named: Any) -> Any:
            answer = original(*arguments, **named)
            for exchange in method.exchanges(answer):
                self._observe_exchange(exchange)
            return answer

        @functools.wraps(original)
        async def send_async(*arguments: Any, **named: Any) -> Any:
            answer = await original(*arguments, **named)
            for exchange in method.exchanges(answer):
                self._observe_exchange(exchange)
            return answer

        return send_async if inspect.iscoroutinefunction(original) else send


def _httpx_exchanges(answer: Any) -> Iterator[Exchange]:
    for each in (*answer.history, answer):
        # The public name of a body that was not read raises.
        yield httpx_exchange(each, getattr(each, "_content", None))


def _requests_exchanges(answer: Any) -> Iterator[Exchange]:
    # The session calls the method again for every redirect that it follows.
    first = answer.history[0] if answer.history else answer
    content = first._content  # its public name reads the body
    yield requests_exchange(first, None if content is False else content or b"")


def _django_exchanges(answer: Any) -> Iterator[Exchange]:
    request = getattr(answer, "wsgi_request", None) or answer.asgi_request
    headers = tuple(answer.items())
    headers += tuple(("Set-Cookie", cookie.OutputString()) for cookie in answer.cookies.values())
    route = _django_route(request)
    content = None if answer.streaming else answer.content
    yield Exchange(
        Request(
            request.method,
            request.get_full_path(),
            tuple(request.headers.items()),
            # Kept by Django once an application has read it
            kept_body(getattr(request, "_body", b"")) or b"",
        ),
        answer_of(answer.status_code, headers, content),
        route=route,
        operation=None if route is None else f"{request.method} {route}",
        lacks=_lacks(whole=kept_body(content) is not None),
    )


def _django_route(request: Any) -> str | None:
    match = getattr(request, "resolver_match", None)
    if match is None or any(mark in match.route for mark in "^$\\("):  # a regular expression
        return None
    return "/" + _DJANGO_PARAMETER.sub(r"{\1}", match.route)


def _werkzeug_exchanges(answer: Any) -> Iterator[Exchange]:
    # The client calls the method again for every redirect that it follows.
    first = answer.history[0] if answer.history else answer
    request = first.request
    # One without an end is left to its reader
    content = first.get_data() if "Content-Length" in first.headers else None
    yield Exchange(
        Request(
            request.method, request.full_path.removesuffix("?"), tuple(request.headers.items()), b""
        ),
        answer_of(first.status_code, tuple(first.headers.items()), content),
        lacks=_lacks(whole=kept_body(content) is not None),
    )


def _lacks(*, whole: bool) -> frozenset[str]:
    """The facts that the test client of a framework does not give; it takes no time to answer."""
    return answer_lacks(whole=whole) | {"elapsed"}


_METHODS = (
    *(
        _SendingMethod(module, owner, "send", _httpx_exchanges)
        for module in ("httpx", "httpx2")
        for owner in ("Client", "AsyncClient")
    ),
    _SendingMethod("requests", "Session", "send", _requests_exchanges),
    _SendingMethod("django.test.client", "ClientHandler", "__call__", _django_exchanges),
    _SendingMethod("django.test.client", "AsyncClientHandler", "__call__", _django_exchanges),
    _SendingMethod("werkzeug.test", "Client", "open", _werkzeug_exchanges),
)
