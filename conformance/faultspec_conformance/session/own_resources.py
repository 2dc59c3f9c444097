"""The resources of one caller, each with all that it lies below or refers to: a service may refuse
what another tenant has made.
"""

from dataclasses import dataclass, field

from faultspec.openapi.service import ServiceOperation, shape_of
from faultspec_conformance.config import Identity
from faultspec_conformance.session.fixtures import make, needed_kinds
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.resources import CreatedResource, ResourceKind


@dataclass(slots=True)
class OwnResources:
    """The resources of a caller. ``made``: one of each kind, or why there is none."""

    session: HttpSession
    owner: Identity
    made: dict[str, CreatedResource | str] = field(default_factory=dict)

    def find(self, kind: ResourceKind) -> CreatedResource | str:
        """Return the caller's resource of a kind, created at the first call, or the reason why
        there is none.
        """
        if kind.name not in self.made:
            self.made[kind.name] = f"the creation of `{kind.name}` needs another `{kind.name}`"
            self.made[kind.name] = self._make(kind)
        return self.made[kind.name]

    def values_for(self, operation: ServiceOperation) -> dict[str, object] | str:
        """Return values for the placeholders of an operation on or below an item of the caller, or
        the reason why there are none.
        """
        names, template = operation.placeholders, shape_of(operation.template) + "/"
        kinds = [
            kind
            for kind in self.session.kinds
            if kind.item is not None and template.startswith(shape_of(kind.item) + "/")
        ]
        values: dict[str, object] = {}
        if kinds:
            own = self.find(max(kinds, key=lambda kind: len(shape_of(kind.item or ""))))
            if isinstance(own, str):
                return own
            values = dict(zip(names, own.values.values(), strict=False))
        for name in names:
            parameter = operation.parameter(name, "path")
            example = parameter.example if parameter is not None else None
            value = values.get(name, self.session.constants.get(name, example))
            if value is None:
                return f"nothing is known to fill {{{name}}} of {operation.name}"
            values[name] = value
        return values

    def _make(self, kind: ResourceKind) -> CreatedResource | str:
        """Create a resource; what it needs takes the place of what probes share meanwhile."""
        create, shared = kind.operation("create"), self.session.knowledge.created
        if create is None:
            return f"no operation is known that creates `{kind.name}`"
        before = dict(shared)
        try:
            for needed in needed_kinds(self.session, create, kind.call("create")):
                own = self._find_needed(needed)
                if isinstance(own, CreatedResource):
                    shared[needed.name] = own
            return make(self.session, kind, owner=self.owner)
        finally:
            shared.clear()
            shared.update(before)

    def _find_needed(self, kind: ResourceKind) -> CreatedResource | str:
        shared = self.session.knowledge.created.get(kind.name)
        if shared is not None and shared.owner.name == self.owner.name:
            return shared
        return self.find(kind)


def parent_of(session: HttpSession, kind: ResourceKind) -> ResourceKind | None:
    """Return the kind that items of a kind lie below, or None."""
    above = (kind.item or "").rpartition("{")[0].rpartition("}")[0] + "}"
    return next(
        (
            known
            for known in session.kinds
            if known.item is not None and shape_of(known.item) == shape_of(above)
        ),
        None,
    )
