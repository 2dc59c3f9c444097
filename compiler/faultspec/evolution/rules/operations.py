"""Evolution rules about operations: which there are, and the codes that each may return."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import BOTH, Category, Effect
from faultspec.evolution.promises import (
    expand,
    join_values,
    replacement_message,
)
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.language.model import Code, Match, Operation, Taxonomy


@evolution_rule(
    "operation/declared",
    "WIRE",
    reads=("Taxonomy.operations", "Operation.name", "Operation.wire", "Operation.match"),
)
def operation_declared(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients look up the errors of an operation by its name and its routes."""
    for rename in evolution.renames:
        if rename.section == "operations":
            message = f"the operation `{rename.old}` is named `{rename.new}`"
            named = bool(evolution.new.operations[rename.new].errors)
            effect = Effect("breaking" if named else "safe", message, BOTH if named else ())
            path: Path = ("operations", rename.new, "name")
            yield Occurrence(path, effect._replace(categories=("SOURCE",)), rename.old, rename.new)
    for path, operation in evolution.find_added("operations"):
        yield Occurrence(
            path, Effect("safe", f"the operation `{operation.name}` is new", adds=True)
        )
    for path, operation in evolution.find_removed("operations"):
        message = f"the operation `{operation.name}` is gone"
        categories: tuple[Category, ...] = ("SOURCE", "WIRE") if operation.errors else ()
        yield Occurrence(path, Effect("breaking", message, ("clients",), categories))
    for path, old, new in evolution.pairs("operations"):
        for field, label in (("wire", "name in messages"), ("match", "routes")):
            before, after = getattr(old, field), getattr(new, field)
            if before != after and not (field == "match" and _same_match(old, new)):
                message = f"the {label} of `{new.name}` changed"
                if field == "wire":
                    message = replacement_message(f"the {label} of `{new.name}`", after, before)
                effect = Effect("breaking", message, ("clients",))
                if field == "match" and not _claims_less(old, new):
                    effect = Effect("safe", message, adds=True)
                    if new.codes is not None or new.errors:
                        effect = Effect("breaking", message, ("services",))
                yield Occurrence((*path, field), effect)


def _same_match(old: Operation, new: Operation) -> bool:
    """Whether two matches are one in two notations."""
    return _normal_form(old.match) == _normal_form(new.match)


def _normal_form(match: Match) -> object:
    methods: tuple[str, ...] = match.methods or ("",)
    routes = {
        route if " " in route else f"{method} {route}".strip()
        for route in match.routes or ("/**",)
        for method in methods
    }
    request = {pointer: frozenset(values) for pointer, values in match.request.items()}
    patterns = [
        {name.lower(): frozenset(values) for name, values in group.items()}
        for group in (match.headers, match.query)
    ]
    return routes, expand(match.statuses), frozenset(match.tools), request, patterns


def _claims_less(old: Operation, new: Operation) -> bool:
    """Whether requests that belonged to the operation no longer do."""
    return any(
        bool(after) and (not before or any(value not in after for value in before))
        for before, after in zip(old.match, new.match, strict=True)
    )


@evolution_rule(
    "operation/idempotent", "BEHAVIOUR", reads=("Operation.idempotent", "Idempotency.default")
)
def operation_idempotent(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients repeat an idempotent operation after a failure. If it is not, that does harm."""
    defaults = [is_idempotent_by_default(t) for t in (evolution.old, evolution.new)]
    for name, old in evolution.old.operations.items():
        new = evolution.new.operations.get(name)
        if new is None:
            continue
        before = old.idempotent if old.idempotent is not None else defaults[0]
        after = new.idempotent if new.idempotent is not None else defaults[1]
        if before == after:
            if old.idempotent != new.idempotent:
                verdict = f"it is{'' if after else ' not'} idempotent, as before"
                says = "no longer says" if new.idempotent is None else "says"
                message = f"`{name}` {says} itself that {verdict}"
                yield Occurrence(
                    ("operations", name, "idempotent"), Effect("safe", message, (), ("DOC",))
                )
            continue
        if after:
            codes = codes_of(evolution.new, new)
            retried = any("operation.idempotent" in code.retriable.reads for code in codes)
            message = f"`{name}` is idempotent now"
            if retried:
                effect = Effect("risky", f"{message}: clients repeat it", ("services",))
            else:
                effect = Effect("safe", message, adds=True)
        else:
            effect = Effect(
                "breaking",
                f"`{name}` is no longer idempotent: clients that repeat it do harm",
                ("clients",),
            )
        covers = (("operations", name, "idempotent"), ("idempotency", "default"))
        yield Occurrence(
            ("operations", name, "idempotent"),
            effect,
            old.idempotent,
            new.idempotent,
            covers=covers,
        )
    if defaults[0] != defaults[1] and evolution.old.idempotency and evolution.new.idempotency:
        default = "idempotent" if defaults[1] else "not idempotent"
        message = f"operations that say nothing are {default}"
        effect = Effect(
            "risky" if defaults[1] else "breaking",
            message,
            ("services",) if defaults[1] else ("clients",),
        )
        yield Occurrence(("idempotency", "default"), effect)


@evolution_rule("operation/codes", "WIRE", reads=("Operation.codes",))
def operation_codes(evolution: Evolution) -> Iterator[Occurrence]:
    """The codes of an operation are what its clients have to handle."""
    for path, old, new in evolution.pairs("operations"):
        if old.codes == new.codes:
            continue
        before, after = allowed_codes(evolution.old, old), allowed_codes(evolution.new, new)
        live = {code.name for code in evolution.old.shared_live_codes()}
        live &= {code.name for code in evolution.new.shared_live_codes()}
        if after is None and before is not None:
            message = f"`{new.name}` may return any code"
            yield Occurrence((*path, "codes"), Effect("breaking", message, ("clients",)))
        elif before is None and after is not None:
            message = f"`{new.name}` may only return {join_values(after)}"
            yield Occurrence((*path, "codes"), Effect("breaking", message, ("services",)))
        elif before is not None and after is not None:
            yield from _listed_codes(path, new, (before & live), (after & live))


@evolution_rule("operation/form", "SOURCE", reads=("Operation.variants",))
def operation_form(evolution: Evolution) -> Iterator[Occurrence]:
    """Where an operation has a shared code otherwise, bindings have a class of its own for it. The
    rules of codes tell what differs in its answers."""
    for path, old, new in evolution.pairs("operations"):
        for code in dict.fromkeys((*old.variants, *new.variants)):
            if code in old.variants and code in new.variants:
                continue
            state = "has" if code in new.variants else "no longer has"
            message = f"`{new.name}` {state} its own form of `{code}`"
            yield Occurrence((*path, "variants", code), Effect("breaking", message, BOTH))


def _listed_codes(
    path: Path, new: Operation, before: frozenset[str], after: frozenset[str]
) -> Iterator[Occurrence]:
    more, gone = sorted(after - before), sorted(before - after)
    if more:
        message = f"`{new.name}` may now return {join_values(more)}"
        yield Occurrence((*path, "codes"), Effect("breaking", message, ("clients",), adds=True))
    if gone:
        message = f"`{new.name}` may no longer return {join_values(gone)}"
        yield Occurrence((*path, "codes"), Effect("breaking", message, ("services",)))


def is_idempotent_by_default(taxonomy: Taxonomy) -> bool:
    """Whether an operation that says nothing is idempotent, as far as the taxonomy says."""
    return taxonomy.idempotency is None or taxonomy.idempotency.default != "not_idempotent"


#: The methods that are not idempotent (RFC 9110, 9.2.2; RFC 5789, 2).
_UNSAFE = ("POST", "PATCH")


def is_idempotent(taxonomy: Taxonomy, operation: Operation) -> bool:
    """Whether an operation may be repeated: as it says, else by its methods and the default."""
    if operation.idempotent is not None:
        return operation.idempotent
    if is_idempotent_by_default(taxonomy):
        return True
    methods = {*operation.match.methods, *(r.partition(" ")[0] for r in operation.match.routes)}
    return bool(methods) and all(method.isupper() and method not in _UNSAFE for method in methods)


def allowed_codes(taxonomy: Taxonomy, operation: Operation) -> frozenset[str] | None:
    """The shared codes that an operation may return; None if its surface is open."""
    if operation.codes is not None:
        return frozenset(operation.codes)
    surfaces = [s for s in taxonomy.surfaces.values() if not s.foreign and s.envelopes]
    if any(surface.codes is None for surface in surfaces):
        return None
    return frozenset(code for surface in surfaces for code in surface.codes or ())


def codes_of(taxonomy: Taxonomy, operation: Operation) -> Iterator[Code]:
    """The codes that an operation may return, its own and shared ones."""
    yield from operation.errors.values()
    names = allowed_codes(taxonomy, operation)
    for code in taxonomy.codes.values():
        if code.live and (names is None or code.name in names):
            yield code
