"""`Location` of an answer to a creation: it leads to what was created."""

from urllib.parse import urljoin, urlsplit

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.drivers import NoAnswer
from faultspec_conformance.probes.effects import GONE
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation, failed, passed
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import (
    CreatedResource,
    identifier_of,
    last_placeholder,
    path_of,
)

_CREATED = "writes/created"


def check_location(
    session: HttpSession, resource: CreatedResource, read: ServiceOperation
) -> Outcome | None:
    """Follow the `Location` of a creation, which succeeded; None if it has none, or leads to
    another host. ``read``: the operation that reads the resource.

    That of a 202 may lead to a job instead of the resource.
    """
    creation, kind = resource.creation, resource.kind
    path = _local_path(session, creation.header("Location"), creation.exchange.request.target)
    if path is None:
        return None
    own = path_of(read.template, resource.item_values(read))
    if path.endswith(own) or (own.endswith(path) and path.count("/") > 1):
        return passed(_CREATED)  # a gateway may have cut off or added a prefix
    template = session.inventory.template("GET", path)
    found = session.try_call(RequestSpec("GET", path, identity=resource.owner, route=template))
    if isinstance(found, NoAnswer):
        return None
    name = creation.exchange.operation
    is_item = template == read.template  # a job of a 202 may have ended and be gone
    if found.status in GONE and (creation.status != 202 or is_item):
        message = f"{name} succeeded ({creation}), but its Location leads to nothing ({found})"
        return failed(_CREATED, message, creation, found, pointer="Location", variant="location")
    if not found.ok:
        return None
    shown = (
        identifier_of(found, last_placeholder(kind), kind) if _is_like(creation, found) else None
    )
    if creation.status != 202 and shown is not None and str(shown) != str(resource.id):
        message = f"{name} succeeded ({creation}), but its Location leads to another {kind.name}"
        return failed(_CREATED, message, creation, found, pointer="Location", variant="location")
    return passed(_CREATED)


def _is_like(creation: Observation, found: Observation) -> bool:
    """Whether what was found has every member of the answer to the creation."""
    one, other = creation.json, found.json
    return isinstance(one, dict) and isinstance(other, dict) and one.keys() <= other.keys()


def _local_path(session: HttpSession, location: str | None, base: str) -> str | None:
    """Return the path of a `Location` at the service, resolved against the request (RFC 9110,
    10.2.2); None without one.
    """
    if not location:
        return None
    try:
        parts, own = urlsplit(urljoin(f"http://origin{base}", location)), session.config.http
        if parts.netloc not in ("origin", urlsplit(own).netloc) or not parts.path.startswith("/"):
            return None
    except ValueError:  # such as a port that is not a number
        return None
    return None if parts.query else parts.path
