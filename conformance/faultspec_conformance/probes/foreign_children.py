"""Lists below an item of the caller: they show nothing of another tenant."""

from collections.abc import Iterator
from dataclasses import replace

from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.probes.ownership import (
    boundary_between,
    foreign_resources,
    is_private,
    shares_tenant,
)
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session import pagination
from faultspec_conformance.session.fixtures import request_to
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import STREAM, failed, passed
from faultspec_conformance.session.resources import CreatedResource, ResourceKind, lies_below

_CLAUSE = "tenancy/concealed"

#: Lists below one item that are read.
_LISTS = 4


def check_lists_below(
    session: HttpSession, resource: CreatedResource, *, parent: CreatedResource
) -> Iterator[Outcome]:
    """Read the lists below an item of another caller; they show nothing of the owner's.

    ``resource``: an item of the owner that lies below another one; ``parent``: such an item of the
    other caller.
    """
    caller = parent.owner
    kinds = [resource.kind]
    if not shares_tenant(resource.owner, caller):  # else it is not known what it may see
        kinds += [
            kind for kind in session.kinds if kind != resource.kind and is_private(session, kind)
        ]
    foreign = foreign_resources(session, kinds, resource, caller)
    for listing in _lists_below(session, resource.kind, parent.kind)[:_LISTS]:
        spec = request_to(session, listing, parent.item_values(listing))
        query = {**spec.query, **pagination.longest_page(listing)}
        page = session.call(replace(spec, identity=caller, query=query))
        shown = foreign.find_in(page) if page.ok else None
        if shown is not None:
            boundary = boundary_between(resource.owner, caller)
            message = f"{listing.name} of the caller's own {parent.kind.name} shows another "
            message += f"{boundary}'s {shown.kind.name}"
            exchanges = (resource.creation, parent.creation, page)
            yield failed(_CLAUSE, message, *exchanges, variant="below-own")
        elif page.ok:
            yield passed(_CLAUSE)


def _lists_below(
    session: HttpSession, kind: ResourceKind, parent: ResourceKind
) -> list[ServiceOperation]:
    """Return the reads below an item, the list of a kind first."""
    own = kind.operation("list")
    found = [own] if own is not None and lies_below(own, parent) else []
    for operation in session.description.operations:
        is_read = operation.method == "GET" and STREAM not in operation.media_types
        if is_read and lies_below(operation, parent) and operation not in found:
            found.append(operation)
    return found
