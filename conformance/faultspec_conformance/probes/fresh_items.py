"""New items for operations whose requests are refused for the state of the shared one."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from faultspec.openapi.service import shape_of
from faultspec_conformance.session.fixtures import take_untouched
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.requests import RequestSpec
from faultspec_conformance.session.resources import CreatedResource, ResourceKind

#: Statuses that the state of an item may cause: missing, in conflict, changed, or sent without the
#: validator that the operation requires.
_OF_THE_ITEM = frozenset({404, 409, 410, 412, 428})

#: New items for one operation.
_RENEWALS = 6


@dataclass(slots=True)
class FreshItems:
    """The items that operations were given. ``renewed``: how many each operation got."""

    session: HttpSession
    items: dict[str, CreatedResource] = field(default_factory=dict)
    renewed: Counter[str] = field(default_factory=Counter)

    def place(self, spec: RequestSpec) -> RequestSpec:
        """Return a request on the item of its operation, with the current validator of the item."""
        resource = self.items.get(_key(spec))
        if resource is None:
            return spec
        names = [part.partition("}")[0] for part in spec.template.split("{")[1:]]
        values = dict(zip(names, resource.values.values(), strict=False))
        return replace(
            spec,
            identity=resource.owner,
            values={**spec.values, **values},
            headers={**spec.headers, **self._validator(resource)},
        )

    def renew(self, spec: RequestSpec) -> bool:
        """Give the operation of a request a new item. Return False if the last answer was not about
        the item, or there is no new one.
        """
        key, last = _key(spec), self.session.knowledge.exchanges[-1:]
        kind = self._kind(spec)
        about_item = any(answer.status in _OF_THE_ITEM for answer in last)
        if kind is None or not about_item or self.renewed[key] >= _RENEWALS:
            return False
        self.renewed[key] += 1
        resource = take_untouched(self.session, kind)
        if isinstance(resource, CreatedResource):
            self.items[key] = resource
        return isinstance(resource, CreatedResource)

    def _kind(self, spec: RequestSpec) -> ResourceKind | None:
        """Return the kind of the item that a request is on or below."""
        path = shape_of(spec.template)
        kinds = [kind for kind in self.session.kinds if kind.item is not None]
        return next(
            (
                kind
                for kind in kinds
                if f"{path}/".startswith(shape_of(kind.item or "") + "/")
                and path.count("{") == (kind.item or "").count("{")
            ),
            None,
        )

    def _validator(self, resource: CreatedResource) -> Mapping[str, str]:
        """Return `If-Match` with the last ETag that an answer about the item had."""
        tags = (
            answer.header("ETag")
            for answer in reversed(self.session.knowledge.exchanges)
            if answer.ok and answer.exchange.request.target.endswith(f"/{resource.id}")
        )
        tag = next(filter(None, tags), resource.creation.header("ETag"))
        return {"If-Match": tag} if tag is not None else {}


def _key(spec: RequestSpec) -> str:
    return f"{spec.method} {spec.template}"
