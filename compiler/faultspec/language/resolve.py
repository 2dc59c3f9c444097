"""From data that obeys the grammar to the frozen model: defaults filled in, every reference followed.

`resolve` reports what only the whole document can tell (dangling references, slots nobody declared, ambiguous names);
each problem carries the path of the offending key or value. It never raises on what `prune` has left of a document.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from faultspec.language import check_examples, failures, policies, schemas, surroundings, wire
from faultspec.language.carriers import reaches
from faultspec.language.grammar import GrammarProblem, Path
from faultspec.language.model import Code, Obligation, Ruling, Taxonomy
from faultspec.language.prune import Remains
from faultspec.language.scope import Data, Scope

T = TypeVar("T")

#: The keys of a code that say what an example of it must be like.
_SHAPING = ("http", "details", "schema", "headers")


def resolve(remains: Remains, document: object) -> tuple[Taxonomy, list[GrammarProblem]]:
    """The model of what `remains` of a `document`, and every problem found on the way.

    With problems, or with something lost, the model has holes and is good for nothing but more checks.
    """
    scope = Scope(remains, document)
    taxonomy = _lent(_taxonomy(scope))
    found = check_examples.problems(taxonomy, _codes(scope, taxonomy), scope.touched)
    return taxonomy, [*scope.problems, *found]


def _codes(scope: Scope, taxonomy: Taxonomy) -> Iterator[tuple[Path, Code, bool]]:
    """Every code of which nothing is lost that shapes an example, and whether its examples stand in a list."""
    shared = ((("codes",), taxonomy.codes, scope.section("codes")),)
    own = tuple(
        (
            ("operations", operation.name, "errors"),
            operation.errors,
            scope.section("operations")[operation.name].get("errors", {}),
        )
        for operation in taxonomy.operations.values()
    )
    for above, codes, data in (*shared, *own):
        for name, code in codes.items():
            if not any(scope.touched((*above, name, key)) for key in _SHAPING):
                yield (*above, name), code, isinstance(data[name].get("example"), list)


def _taxonomy(scope: Scope) -> Taxonomy:
    data = scope.data
    header = data.get("taxonomy", {"name": "", "version": ""})
    vocabularies = {
        name: schemas.terms(scope, each, ("vocabularies", name))
        for name, each in scope.section("vocabularies").items()
    }
    registry = {
        name: schemas.detail_key(scope, name, each)
        for name, each in scope.section("detail_keys").items()
    }
    slots = wire.slots(scope)
    codes = failures.Failures(scope, registry, vocabularies, slots)
    return Taxonomy(
        name=header["name"],
        version=header["version"],
        title=header.get("title", header["name"]),
        owner=header.get("owner"),
        description=header.get("description"),
        domains=schemas.terms(scope, scope.section("domains"), ("domains",)),
        boundaries=schemas.terms(scope, scope.section("boundaries"), ("boundaries",)),
        detail_keys=registry,
        envelopes=wire.envelopes(scope),
        surfaces=wire.surfaces(scope),
        codes=codes.codes(),
        operations={
            name: codes.operation(name, each) for name, each in scope.section("operations").items()
        },
        headers=wire.header_rules(
            scope, scope.section("headers"), ("headers",), slots, default_on=wire.ERROR_STATUSES
        ),
        fallbacks=wire.fallbacks(scope),
        retry_policies={
            name: policies.retry_policy(scope, name, each)
            for name, each in scope.section("retry_policies").items()
        },
        idempotency=_given(scope, "idempotency", policies.idempotency),
        upstream=_given(scope, "upstream", policies.upstream),
        actions=schemas.terms(scope, scope.section("actions"), ("actions",)),
        vocabularies=vocabularies,
        privacy=_given(scope, "privacy", policies.privacy),
        telemetry=_given(scope, "telemetry", partial(policies.telemetry, slots=slots)),
        obligations={
            name: Obligation(
                name,
                each["text"],
                each["reason"],
                scope.source(each.get("source"), ("obligations", name)),
            )
            for name, each in scope.section("obligations").items()
        },
        rulings={
            name: Ruling(
                name,
                tuple(each.get("statements", ())),
                each["conflict"],
                each["decision"],
                each["reason"],
            )
            for name, each in scope.section("rulings").items()
        },
        unknown=policies.unknown(scope, "unknown"),
        undeclared=policies.unknown(scope, "undeclared"),
        imported=_given(scope, "imported", surroundings.imported),
        renderings={
            name: surroundings.rendering(scope, name, each, slots)
            for name, each in scope.section("renderings").items()
        },
        navigation=_given(scope, "navigation", partial(surroundings.navigation, slots=slots)),
        audit=_given(scope, "audit", partial(surroundings.audit, slots=slots)),
        discovery={
            name: surroundings.publication(scope, name, each)
            for name, each in scope.section("discovery").items()
        },
    )


def _lent(taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy, with the status that a surface gives to codes which have none."""
    giving = [
        surface for surface in taxonomy.surfaces.values() if surface.default_status is not None
    ]
    if not giving:
        return taxonomy

    def lent(code: Code, of_operation: bool) -> Code:
        status = next(
            (
                each.default_status
                for each in giving
                if reaches(each, code, of_operation=of_operation)
            ),
            None,
        )
        return (
            code if code.http.statuses else code._replace(http=code.http._replace(default=status))
        )

    return taxonomy._replace(
        codes={name: lent(code, False) for name, code in taxonomy.codes.items()},
        operations={
            name: each._replace(errors={own: lent(code, True) for own, code in each.errors.items()})
            for name, each in taxonomy.operations.items()
        },
    )


def _given(scope: Scope, section: str, build: Callable[[Scope, Data], T]) -> T | None:
    return build(scope, scope.data[section]) if section in scope.data else None
