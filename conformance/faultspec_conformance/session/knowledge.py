"""The knowledge of a run about a service over HTTP, kept apart for each unit so that a shard finds
the same as a whole run.
"""

from collections import ChainMap
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field

from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.observations import (
    AbsentIdRequest,
    KeyedCreation,
    SharedKnowledge,
    SpareResource,
)
from faultspec_conformance.session.resources import CreatedResource, ResourceKind, path_of

#: The members of a success in which a service names the tenant of its caller.
_TENANT_MEMBERS = ("tenant_id", "tenantId", "tenant")

#: A shorter name of a tenant may occur in any text by chance.
_TENANT_LENGTH = 4


@dataclass(slots=True)
class UnitKnowledge:
    """The knowledge of one unit of probes.

    ``generated``: the correlation ids that the service generated, with the answers that carry them.
    ``failures``: the failures by slot and id. ``tenants``: the name of each identity's tenant.
    ``spare``: a resource of each kind that was created and left unchanged. ``absent``: operations
    that were asked for an id without a resource. ``keyed``: creations to replay at the end of the
    run. ``keyless``: the service refuses idempotency keys. ``literal``: operations that accept an
    example of the document only as it is.
    """

    exchanges: list[Observation] = field(default_factory=list)
    generated: dict[str, Observation] = field(default_factory=dict)
    failures: dict[tuple[str, str], Observation] = field(default_factory=dict)
    tenants: dict[str, str] = field(default_factory=dict)
    spare: dict[str, CreatedResource] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    keyed: list[KeyedCreation] = field(default_factory=list)
    keyless: bool = False
    literal: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Knowledge:
    """The knowledge that a probe may use: that of its own unit, and that of every shard.

    ``created``: the resource of each kind that probes share. ``uncreated``: why there is none.
    ``touched``: the kinds whose shared resource was changed or deleted. ``under_way``: the kinds
    whose shared resource is being created.
    """

    common: UnitKnowledge = field(default_factory=UnitKnowledge)
    own: UnitKnowledge = field(init=False)
    created: dict[str, CreatedResource] = field(default_factory=dict)
    uncreated: dict[str, str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    under_way: set[str] = field(default_factory=set)
    _units: dict[str, UnitKnowledge] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.own = self.common

    @property
    def exchanges(self) -> Sequence[Observation]:
        """The exchanges of the own unit, after those that every shard has."""
        if self.own is self.common:
            return self.own.exchanges
        return [*self.common.exchanges, *self.own.exchanges]

    @property
    def generated(self) -> MutableMapping[str, Observation]:
        """The correlation ids that the service generated."""
        return ChainMap(self.own.generated, self.common.generated)

    @property
    def failures(self) -> MutableMapping[tuple[str, str], Observation]:
        """The failures by the slot and the value of their ids."""
        return ChainMap(self.own.failures, self.common.failures)

    @property
    def keyless(self) -> bool:
        """Whether the service refuses idempotency keys."""
        return self.own.keyless or self.common.keyless

    @property
    def literal(self) -> set[str]:
        """The operations that accept an example of the document only as it is."""
        return self.own.literal | self.common.literal

    def has_attempted(self, kind: ResourceKind) -> bool:
        """Whether the creation of the shared resource was attempted."""
        return kind.name in self.created or kind.name in self.uncreated

    def tenants(self, identity: str) -> set[str]:
        """The names that the service has for the tenant of an identity."""
        units = (self.common, self.own)
        return {unit.tenants[identity] for unit in units if identity in unit.tenants}

    def enter(self, unit: str | None) -> None:
        """Learn for this unit from now on; None: for all units."""
        self.own = self.common if unit is None else self._units.setdefault(unit, UnitKnowledge())

    def refuse_keys(self) -> None:
        """Keep in mind that the service refuses idempotency keys."""
        self.own.keyless = True

    def learn_shared(self, fact: SharedKnowledge) -> None:
        """Record what a probe of this unit yields for its other probes."""
        match fact:
            case SpareResource(resource):
                self.own.spare[resource.kind.name] = resource
            case AbsentIdRequest(operation):
                self.own.absent.add(operation)
            case KeyedCreation():
                self.own.keyed.append(fact)

    def take_spare(self, kind: ResourceKind) -> CreatedResource | None:
        """Return a resource that nothing has changed, once."""
        return self.own.spare.pop(kind.name, None)

    def share(self, kind: ResourceKind, resource: CreatedResource | str) -> None:
        """Keep the resource that probes share, or the reason why there is none."""
        if isinstance(resource, str):
            self.uncreated[kind.name] = resource
        else:
            self.created[kind.name] = resource

    def learn(self, observation: Observation, inner: Sequence[Observation]) -> None:
        """Learn from an exchange: the caller's tenant, and which shared resource it changed."""
        self.own.exchanges += [observation, *inner]
        if not observation.ok:
            return
        exchange = observation.exchange
        if exchange.request.method in ("PUT", "PATCH", "DELETE"):
            self.touched |= {
                name
                for name, resource in self.created.items()
                if resource.kind.item is not None
                and path_of(resource.kind.item, resource.values) == exchange.request.target
            }
        body = observation.json
        if exchange.identity in {None, *self.own.tenants} or not isinstance(body, dict):
            return
        for name in _TENANT_MEMBERS:
            value = body.get(name)
            if isinstance(value, str) and len(value) >= _TENANT_LENGTH:
                self.own.tenants[str(exchange.identity)] = value
