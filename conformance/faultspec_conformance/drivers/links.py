"""Whether URLs lead to a page: one HEAD request each, or GET where HEAD is not supported."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from urllib.parse import SplitResult, urlsplit

import httpx

from faultspec.lint.links import LinkProblem
from faultspec_conformance.drivers.environment import usable_environment
from faultspec_conformance.drivers.http import is_loopback_host

MOST = 500
"""URLs that are checked in one run."""

SECONDS = 60.0
"""Seconds for all of them."""

_EACH = 10.0
"""Seconds for one of them."""

_REDIRECTS = 5
"""Redirects that are followed."""

_AT_ONCE = 8
"""URLs that are checked at once."""

#: Statuses of a page that exists, and that is shown to others or later.
_GUARDED = frozenset({401, 403, 407, 429})

#: Statuses of servers without HEAD.
_WITHOUT_HEAD = frozenset({400, 403, 404, 405, 501})


def find_dead_links(
    urls: Iterable[str], *, most: int = MOST, seconds: float = SECONDS
) -> Mapping[str, LinkProblem]:
    """The problem of each URL that leads to no page, or that is not checked: after the first
    ``most``, and after ``seconds``.
    """
    unique = list(dict.fromkeys(urls))
    problems = {url: LinkProblem("is one too many", is_checked=False) for url in unique[most:]}
    end = time.monotonic() + seconds
    with ExitStack() as clients:
        # A proxy in the environment serves other machines.
        direct = clients.enter_context(_client(from_environment=False, hooks=[]))
        usual = clients.enter_context(_client(from_environment=True, hooks=[_refuse_private]))
        pool = ThreadPoolExecutor(_AT_ONCE)
        checks = {
            pool.submit(_problem_of, direct if _is_local(url) else usual, url, end): url
            for url in unique[:most]
        }
        done, late = wait(checks, max(0.0, end - time.monotonic()))
        pool.shutdown(wait=False, cancel_futures=True)
    found = {checks[check]: check.result() for check in done}
    problems |= {url: problem for url, problem in found.items() if problem is not None}
    return problems | {checks[check]: _LATE for check in late}


_LATE = LinkProblem("was not reached in time", is_checked=False)


def _client(
    *, from_environment: bool, hooks: list[Callable[[httpx.Request], None]]
) -> httpx.Client:
    with usable_environment():
        return httpx.Client(
            event_hooks={"request": hooks},
            # The library reads the whole body of a redirect before it follows it.
            follow_redirects=False,
            trust_env=from_environment,
            headers={"User-Agent": "faultspec"},
        )


def _refuse_private(request: httpx.Request) -> None:
    """Raise RequestError for an address of this network, which a page of the public may redirect
    to.
    """
    host = request.url.host
    private = is_loopback_host(host)
    with suppress(ValueError):
        private = private or not ipaddress.ip_address(host).is_global
    if private:
        raise httpx.RequestError(f"{host} is not a public address", request=request)


def _is_inside(host: str) -> bool:
    """Whether a name stands for an address of this network. One that is not found stands for none:
    a proxy may know it.
    """
    with suppress(OSError, UnicodeError, ValueError):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return any(not ipaddress.ip_address(one[4][0]).is_global for one in found)
    return False


def _split(url: str) -> SplitResult | None:
    """The parts of a URL; None for one that is broken, as an IPv6 address without its end."""
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _is_local(url: str) -> bool:
    parts = _split(url)
    return parts is not None and is_loopback_host(parts.hostname or "")


def _has_credentials(url: str) -> bool:
    parts = _split(url)
    return parts is not None and "@" in parts.netloc


def _problem_of(client: httpx.Client, url: str, end: float) -> LinkProblem | None:
    """Why a URL leads nowhere, or None. ``end``: the time at which the run ends."""
    left = end - time.monotonic()
    if left <= 0:
        return _LATE
    if _has_credentials(url):
        return LinkProblem("has credentials, which are not sent", is_checked=False)
    timeout = httpx.Timeout(min(_EACH, left))
    try:
        status = _final_status(client, client.build_request("HEAD", url, timeout=timeout))
        if status in _WITHOUT_HEAD:
            status = _final_status(client, client.build_request("GET", url, timeout=timeout))
    except httpx.TooManyRedirects:
        return LinkProblem(f"redirects more than {_REDIRECTS} times")
    except httpx.TimeoutException:
        return LinkProblem("does not answer in time")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return LinkProblem(f"cannot be reached: {str(error) or type(error).__name__}")
    if status < 400 or status in _GUARDED:
        return None
    return LinkProblem(f"answers {status}")


def _final_status(client: httpx.Client, request: httpx.Request) -> int:
    """The status at the end of the redirects. No body is read. A page of the public is not followed
    to a name of this network. Raises HTTPError.
    """
    for _ in range(_REDIRECTS + 1):
        answer = client.send(request, stream=True)
        answer.close()
        following = answer.next_request
        if following is None:
            return answer.status_code
        here, there = request.url.host, following.url.host
        if there != here and _is_inside(there) and not _is_inside(here):
            raise httpx.RequestError(f"{there} is not a public address", request=following)
        request = following
    raise httpx.TooManyRedirects("", request=request)
