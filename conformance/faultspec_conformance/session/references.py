"""The things that errors refer to: files below a folder, and pages of known hosts."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard
from urllib.parse import SplitResult, urljoin, urlsplit

from faultspec.contract.model import Contract
from faultspec.exchange.model import Request
from faultspec.language.model import ReferenceKind
from faultspec_conformance.config import Identity
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, error_details, slot_value
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource

#: Characters of a reference. Paths of Linux and URLs that servers take are no longer.
_LONGEST = 4096

#: Seconds for a page of another host.
_PATIENCE = 10.0


class ErrorReference(NamedTuple):
    """A value of an error that leads somewhere; ``name``: its detail or slot."""

    kind: ReferenceKind
    name: str
    value: str
    answer: Observation


class Found(NamedTuple):
    """Whether a reference leads somewhere; None: it was not followed, for ``reason``.

    ``reason`` is the end of a sentence about the reference.
    """

    exists: bool | None
    reason: str = ""


def references_in(contract: Contract, answer: Observation) -> Iterator[ErrorReference]:
    """Yield the references of an error."""
    details = error_details(contract, answer)
    for name, declared in contract.taxonomy.references().items():
        is_key = name in contract.taxonomy.detail_keys
        value = details.get(name) if is_key else slot_value(contract, answer, name)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and each and declared.refers_to is not None:
                yield ErrorReference(declared.refers_to, name, each, answer)


def is_path_or_url(value: object) -> TypeGuard[str]:
    """Whether a reference to a resource is a path or a URL; else it is an id."""
    return isinstance(value, str) and (value.startswith("/") or "://" in value)


def request_of_reference(
    session: HttpSession, resource: CreatedResource, value: object, caller: Identity
) -> RequestSpec | None:
    """The request that reads what an error names: by a path or a URL of the service, or by the id
    of an item of the kind of ``resource``. None: it leads elsewhere, or the kind cannot be read.
    """
    if is_path_or_url(value):
        url = own_url(session.driver.base, value)
        return (
            None if url is None else RequestSpec("GET", target_of(url), identity=caller, route=None)
        )
    read = resource.kind.operation("read")
    if read is None:
        return None
    values = {**resource.values}
    if read.placeholders:
        values[read.placeholders[-1]] = value
    return RequestSpec("GET", read.template, identity=caller, values=values)


def look_up_file(root: str, value: str) -> Found:
    """Whether a file or a folder exists below the root. Nothing is read, and no link is followed
    that leads out of the root.
    """
    text = value.removeprefix("file://")
    if len(text) > _LONGEST or "\0" in text:
        return Found(False, "is not a path")
    base = Path(root).resolve()
    place = Path(os.path.normpath(base / text))
    if not place.is_relative_to(base):
        return Found(None, "lies outside of the folder that `references` names")
    try:
        real = place.resolve()
        if not real.is_relative_to(base):
            return Found(None, "is a link out of the folder that `references` names")
        mode = real.stat().st_mode
    except (OSError, RuntimeError):  # a circle of links
        return Found(False, "does not exist")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return Found(False, "is neither a file nor a folder")
    return Found(True) if os.access(real, os.R_OK) else Found(False, "cannot be read")


def own_url(address: str, value: str) -> str | None:
    """The URL of a page or a path at the address of the service; None if it leads elsewhere."""
    try:
        url = urljoin(address, value)
        here, there = urlsplit(address), urlsplit(url)
        same = (here.scheme, _host(here)) == (there.scheme, _host(there))
    except ValueError:
        return None
    return url if same and address and len(value) <= _LONGEST else None


def target_of(url: str) -> str:
    """The path and query of a URL."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def host_of(url: str) -> str:
    """The host of a URL, with its port unless it is that of the scheme."""
    return _host(urlsplit(url))


def look_up_page(url: str, hosts: tuple[str, ...]) -> Found:
    """Whether a host of the configuration has a page at a URL. It is asked without credentials, and
    redirects are not followed.
    """
    try:
        parts = urlsplit(url)
        host, name = _host(parts), parts.hostname or ""
    except ValueError:
        return Found(False, "is not a URL")
    if parts.scheme not in ("http", "https") or not name or len(url) > _LONGEST:
        return Found(False, "is not the URL of a page")
    if not {name, host} & {*hosts}:
        return Found(None, "leads to a host that `references` does not list")
    limits = Limits(requests=1, seconds=_PATIENCE)
    with HttpDriver(f"{parts.scheme}://{host}", limits) as driver:
        answer = driver.send(Request("GET", target_of(url)))
    if isinstance(answer, NoAnswer):
        return Found(None, f"was not answered: {answer.reason}")
    return judge_status(answer.status, own=False)


def judge_status(status: int | None, *, own: bool) -> Found:
    """Whether the answer to a GET shows that the reference leads somewhere. ``own``: the caller of
    the failed request asked the service itself.
    """
    if status is None or status < 400 or status == 405:
        return Found(True)
    if status in (404, 410):
        return Found(False, f"does not exist ({status})")
    if own and status in (401, 403):
        return Found(False, f"cannot be read by the caller of the error ({status})")
    return Found(None, f"was answered with {status}")


def _host(parts: SplitResult) -> str:
    """The host with its port; a default port is left out."""
    default = {"http": 80, "https": 443}.get(parts.scheme)
    name = parts.hostname or ""
    name = f"[{name}]" if ":" in name else name
    return name if parts.port in (None, default) else f"{name}:{parts.port}"
