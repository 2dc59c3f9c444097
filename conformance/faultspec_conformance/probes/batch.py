"""Batches: 207 is for outcomes that differ; a batch that fails as a whole is one error that lists its bad items."""

from collections.abc import Iterator, Mapping

from faultspec.language.model import Batch
from faultspec.openapi.service import ServiceOperation
from faultspec_conformance.config import ABSENT, ConfiguredCall, Identity
from faultspec_conformance.probes.idempotency import same
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.correlation import new_id
from faultspec_conformance.session.fixtures import fresh_key, likely_body
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    Observation,
    failed,
    not_exercised,
    passed,
    slot,
)
from faultspec_conformance.session.parameters import filled
from faultspec_conformance.session.resources import CreatedResource, ResourceKind, content_type

_BAD_ITEMS, _MIXED = "batch/bad-items", "batch/mixed-only"


def batches(world: HttpSession) -> Iterator[Outcome]:
    """Batches of good items, of bad ones, and of both."""
    rule = next(
        (
            surface.batch
            for surface in world.taxonomy.surfaces.values()
            if surface.batch is not None
        ),
        None,
    )
    if rule is None:
        return
    found = list(_operations(world))
    if not found:
        yield not_exercised(_MIXED, "no operation documents 207, and no resource has a `batch`")
        yield not_exercised(_BAD_ITEMS, "no operation documents 207, and no resource has a `batch`")
    for operation, call, owner in found:
        yield from _batch(world, rule, operation, call, owner)


def _operations(
    world: HttpSession,
) -> Iterator[tuple[ServiceOperation, ConfiguredCall | None, Identity]]:
    known: set[str] = set()
    for kind in world.kinds:
        if kind.config.batch is not None:
            operation = world.operation(kind.config.batch.method, kind.config.batch.path)
            known.add(operation.name)
            yield operation, kind.config.batch, _owner(world, kind)
    for operation in world.description.operations:
        if (
            "207" in operation.responses
            and operation.writes
            and operation.name not in known
            and not operation.placeholders
        ):
            yield operation, None, world.caller


def _owner(world: HttpSession, kind: ResourceKind) -> Identity:
    made = world.made.get(kind.name)
    return made.owner if isinstance(made, CreatedResource) else world.caller


def _batch(
    world: HttpSession,
    rule: Batch,
    operation: ServiceOperation,
    call: ConfiguredCall | None,
    owner: Identity,
) -> Iterator[Outcome]:
    def body() -> object:
        return (
            filled(world.tokens, call.body)
            if call is not None and call.body is not ABSENT
            else likely_body(world, operation)
        )

    def send(
        content: object, headers: Mapping[str, str | None] | None = None, correlation: str = "auto"
    ) -> Observation:
        return world.call(
            operation.method,
            operation.template,
            identity=owner,
            headers={**fresh_key(world, operation), **(headers or {})},
            body=content,
            content_type=content_type(operation),
            correlation=correlation,
        )

    good, other = body(), body()
    item, second = first_item(good), first_item(other)
    if item is None or second is None:
        yield not_exercised(_MIXED, f"the body of {operation.name} has no list of items")
        return
    bad = spoilt(item)
    all_bad = send(with_items(good, [bad, bad]))
    yield from _whole(world, rule, operation, all_bad)
    mixed = send(with_items(good, [item, bad]))
    yield from _mixed(world, operation, mixed)
    key = world.taxonomy.idempotency
    repeated = (
        key is not None
        and operation.method in key.methods
        and operation.parameter(key.key, "header") is not None
    )
    headers = {key.key: world.tokens.hex(16)} if key is not None and repeated else {}
    correlation = new_id(world.echo, world.tokens)
    content = with_items(other, [second, first_item(body())])
    fine = send(content, headers, correlation)
    if key is not None and repeated and fine.ok:
        yield same(key, fine, send(content, headers, correlation))


def _whole(
    world: HttpSession, rule: Batch, operation: ServiceOperation, sent: Observation
) -> Iterator[Outcome]:
    if sent.status == 207:
        return  # the judge speaks of that
    what = f"{operation.name} with bad items only"
    if sent.ok:
        yield failed(_BAD_ITEMS, f"{what} is answered {sent}, as if it were in order", sent)
        return
    if sent.status >= 500:
        yield failed(
            _BAD_ITEMS,
            f"{what} is answered {sent}: the caller's mistake is told as the server's",
            sent,
        )
        return
    if rule.bad_items is None or sent.status in (401, 403, 404, 415, 429):
        yield not_exercised(_BAD_ITEMS, f"{what} is answered {sent}")
        return
    details = slot(world.taxonomy, sent, "details")
    if isinstance(details, dict) and rule.bad_items in details:
        yield passed(_BAD_ITEMS)
    elif sent.code is not None:
        yield failed(
            _BAD_ITEMS,
            f"{what} is answered {sent} without `details.{rule.bad_items}`",
            sent,
            pointer="/details",
        )
    else:
        yield not_exercised(_BAD_ITEMS, f"{what} is answered {sent}")


def _mixed(world: HttpSession, operation: ServiceOperation, sent: Observation) -> Iterator[Outcome]:
    if sent.status == 207 or not sent.ok:
        if not sent.ok:
            yield not_exercised(
                _MIXED, f"{operation.name} fails as a whole where one item is bad ({sent})"
            )
        return
    wires = {code.wire for code in world.taxonomy.live_codes()}
    if _failed(sent.json, wires):
        yield failed(
            _MIXED, f"{operation.name} with a good and a bad item is answered {sent}, not 207", sent
        )
    else:
        yield not_exercised(_MIXED, f"{operation.name} took the item that was meant to be bad")


def _failed(body: object, wires: set[str | int]) -> bool:
    """Whether anything inside tells a failure: an error status or a declared code."""
    if isinstance(body, dict):
        status = body.get("status", body.get("status_code"))
        if isinstance(status, int) and 400 <= status < 600:
            return True
        if isinstance(body.get("code"), str) and body["code"] in wires:
            return True
        return any(_failed(each, wires) for each in body.values())
    return isinstance(body, list) and any(_failed(each, wires) for each in body)


def first_item(body: object) -> object:
    """The first item of the first list in a body, or None."""
    if isinstance(body, list):
        return body[0] if body else None
    if isinstance(body, dict):
        return next((each[0] for each in body.values() if isinstance(each, list) and each), None)
    return None


def with_items(body: object, items: list[object]) -> object:
    """The body with other items in its first list."""
    if isinstance(body, list):
        return items
    assert isinstance(body, dict)
    name = next(key for key, each in body.items() if isinstance(each, list) and each)
    return {**body, name: items}


def spoilt(item: object) -> object:
    """An item of which no member has its type."""
    if isinstance(item, dict) and item:
        return {key: {"unexpected": True} for key in item}
    return {"unexpected": {"unexpected": True}}
