"""From data that obeys the grammar to the frozen model: defaults filled in, references followed.

`resolve` reports the problems that need the whole document: dangling references, undeclared
slots, ambiguous names. Each problem has the path of the key or value at fault. It does not raise
for any data that `prune` leaves of a document.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from faultspec.language import policies, schemas, surroundings, wire
from faultspec.language.carriers import reaches
from faultspec.language.check_examples import check_examples
from faultspec.language.failures import CodeReader
from faultspec.language.grammar import GrammarProblem, Path
from faultspec.language.layers import allowing_rulings
from faultspec.language.model import Code, Obligation, Override, Ruling, Taxonomy, Term
from faultspec.language.prune import Remains
from faultspec.language.scope import Data, Scope

T = TypeVar("T")

#: The keys of a code that constrain its examples.
_CONSTRAINING = ("http", "details", "schema", "headers")


def resolve_names(remains: Remains, document: object) -> tuple[Taxonomy, list[GrammarProblem]]:
    """The model of the `remains` of a `document`, and every problem found on the way.

    If there are problems or lost parts, the model has holes, and serves further checks only.
    """
    scope = Scope(remains, document)
    taxonomy = _with_default_statuses(_read_taxonomy(scope))
    found = check_examples(taxonomy, _codes_with_examples(scope, taxonomy), scope.is_touched)
    return taxonomy, [*scope.problems, *found]


def _codes_with_examples(scope: Scope, taxonomy: Taxonomy) -> Iterator[tuple[Path, Code, bool]]:
    """The codes whose constraining keys are whole; True if the examples are in a list."""
    sections: list[tuple[Path, Data, Data]] = [(("codes",), taxonomy.codes, scope.section("codes"))]
    for name, operation in taxonomy.operations.items():
        errors = scope.section("operations")[name].get("errors", {})
        sections.append((("operations", name, "errors"), operation.errors, errors))
        listed = scope.section("operations")[name].get("codes")
        if isinstance(listed, dict):
            own = {code: each for code, each in listed.items() if each and "example" in each}
            variants = {code: form for code, form in operation.variants.items() if code in own}
            sections.append((("operations", name, "codes"), variants, own))
    for path, codes, data in sections:
        for name, code in codes.items():
            if not any(scope.is_touched((*path, name, key)) for key in _CONSTRAINING):
                yield (*path, name), code, isinstance(data[name].get("example"), list)


def _read_taxonomy(scope: Scope) -> Taxonomy:
    data = scope.data
    header = data.get("taxonomy", {"name": "", "version": ""})

    def section(name: str, read: Callable[[Scope, str, Data], T]) -> dict[str, T]:
        """The entries of a section, each with its name."""
        return {key: read(scope, key, value) for key, value in scope.section(name).items()}

    def read_optional(name: str, read: Callable[[Scope, Data], T]) -> T | None:
        return read(scope, data[name]) if name in data else None

    def terms(name: str) -> dict[str, Term]:
        return schemas.read_terms(scope, scope.section(name), (name,))

    detail_keys = section("detail_keys", schemas.read_detail_key)
    envelopes, surfaces = wire.read_envelopes(scope), wire.read_surfaces(scope)
    reader = CodeReader(scope, detail_keys, envelopes, surfaces)
    return Taxonomy(
        name=header["name"],
        version=header["version"],
        title=header.get("title", header["name"]),
        owner=header.get("owner"),
        description=header.get("description"),
        domains=terms("domains"),
        boundaries=terms("boundaries"),
        detail_keys=detail_keys,
        envelopes=envelopes,
        surfaces=surfaces,
        codes=reader.shared_codes(),
        operations={
            name: reader.operation(name, value)
            for name, value in scope.section("operations").items()
        },
        headers=wire.read_header_rules(
            scope, scope.section("headers"), ("headers",), default_on=wire.ERROR_STATUSES
        ),
        fallbacks=wire.read_fallbacks(scope),
        retry_policies=section("retry_policies", policies.read_retry_policy),
        idempotency=read_optional("idempotency", policies.read_idempotency),
        upstream=read_optional("upstream", policies.read_upstream),
        actions=terms("actions"),
        vocabularies={
            name: schemas.read_terms(scope, value, ("vocabularies", name))
            for name, value in scope.section("vocabularies").items()
        },
        privacy=read_optional("privacy", policies.read_privacy),
        telemetry=read_optional("telemetry", policies.read_telemetry),
        obligations=section("obligations", _read_obligation),
        rulings=section("rulings", _read_ruling),
        unknown=policies.read_unknown(scope, "unknown"),
        undeclared=policies.read_unknown(scope, "undeclared"),
        imported=read_optional("imported", surroundings.read_imported),
        renderings=section("renderings", surroundings.read_rendering),
        navigation=read_optional("navigation", surroundings.read_navigation),
        audit=read_optional("audit", surroundings.read_audit),
        discovery=section("discovery", surroundings.read_publication),
        profile=data.get("profile"),
        extensible=tuple(data.get("extensible", ())),
        overrides=section("overrides", _read_override),
    )


def _read_obligation(scope: Scope, name: str, data: Data) -> Obligation:
    source = scope.source(data.get("source"), ("obligations", name))
    return Obligation(name, data["text"], data["reason"], source)


def _read_ruling(scope: Scope, name: str, data: Data) -> Ruling:
    return Ruling(
        name=name,
        statements=tuple(data.get("statements", ())),
        conflict=data["conflict"],
        decision=data["decision"],
        reason=data["reason"],
        allows=tuple(data.get("allows", ())),
    )


def _read_override(scope: Scope, path: str, data: Data) -> Override:
    if "extends" not in scope.data:
        message, hint = "there is no base to decide otherwise than", "add `extends:`"
        scope.report(("overrides", path), "misplaced-key", message, hint, on_key=True)
    rulings = allowing_rulings(scope.section("rulings"), tuple(path.split(".")))
    return Override(path, data["value"], data["reason"], rulings)


def _with_default_statuses(taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy, whose codes without a status have the default of the first surface."""
    giving = [
        surface for surface in taxonomy.surfaces.values() if surface.default_status is not None
    ]
    if not giving:
        return taxonomy

    def with_status(code: Code, *, of_operation: bool) -> Code:
        if code.http.statuses:
            return code
        reached = (
            surface for surface in giving if reaches(surface, code, of_operation=of_operation)
        )
        status = next((surface.default_status for surface in reached), None)
        return code._replace(http=code.http._replace(default=status))

    return taxonomy._replace(
        codes={
            name: with_status(code, of_operation=False) for name, code in taxonomy.codes.items()
        },
        operations={
            name: operation._replace(
                variants={
                    shared: with_status(code, of_operation=False)
                    for shared, code in operation.variants.items()
                },
                errors={
                    own: with_status(code, of_operation=True)
                    for own, code in operation.errors.items()
                },
            )
            for name, operation in taxonomy.operations.items()
        },
    )
