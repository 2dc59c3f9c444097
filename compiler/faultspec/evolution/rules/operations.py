"""Evolution rules about operations: which there are, and the codes that each may return."""

from collections.abc import Iterator

from faultspec.evolution.model import BOTH, Effect
from faultspec.evolution.promises import listed, shown
from faultspec.evolution.rule import Evolution, Occurrence, rule
from faultspec.language.model import Operation


@rule(
    "operation/declared",
    "SOURCE",
    "WIRE",
    reads=("Taxonomy.operations", "Operation.name", "Operation.wire", "Operation.match"),
)
def operation_declared(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients look up the errors of an operation by its name and its routes."""
    for rename in evolution.renames:
        if rename.section == "operations":
            message = f"the operation `{rename.old}` is named `{rename.new}`"
            yield Occurrence(
                ("operations", rename.new, "name"),
                Effect("breaking", message, BOTH, ("SOURCE",)),
                rename.old,
                rename.new,
            )
    for path, operation in evolution.added("operations"):
        yield Occurrence(
            path, Effect("safe", f"the operation `{operation.name}` is new", adds=True)
        )
    for path, operation in evolution.removed("operations"):
        yield Occurrence(
            path, Effect("breaking", f"the operation `{operation.name}` is gone", BOTH)
        )
    for path, old, new in evolution.pairs("operations"):
        for field, label in (("wire", "name in messages"), ("match", "routes")):
            before, after = getattr(old, field), getattr(new, field)
            if before != after:
                message = f"the {label} of `{new.name}` changed"
                if field == "wire":
                    message = (
                        f"the {label} of `{new.name}` is {shown(after)} in place of {shown(before)}"
                    )
                gone = field == "wire" or _claims_less(old, new)
                effect = (
                    Effect("breaking", message, BOTH, ("WIRE",))
                    if gone
                    else Effect("safe", message, adds=True)
                )
                yield Occurrence((*path, field), effect)


def _claims_less(old: Operation, new: Operation) -> bool:
    """Whether requests that belonged to the operation no longer do."""
    return any(
        bool(after) and (not before or any(value not in after for value in before))
        for before, after in zip(old.match, new.match, strict=True)
    )


@rule("operation/idempotent", "BEHAVIOUR", reads=("Operation.idempotent", "Idempotency.default"))
def operation_idempotent(evolution: Evolution) -> Iterator[Occurrence]:
    """Clients repeat an idempotent operation after a failure. If it is not, that does harm."""
    defaults = [
        t.idempotency.default == "idempotent" if t.idempotency else True
        for t in (evolution.old, evolution.new)
    ]
    for name, old in evolution.old.operations.items():
        new = evolution.new.operations.get(name)
        if new is None:
            continue
        before = old.idempotent if old.idempotent is not None else defaults[0]
        after = new.idempotent if new.idempotent is not None else defaults[1]
        if before == after:
            if old.idempotent != new.idempotent:
                message = f"`{name}` says itself whether it is idempotent, which it was"
                yield Occurrence(
                    ("operations", name, "idempotent"), Effect("safe", message, (), ("DOC",))
                )
            continue
        if after:
            effect = Effect(
                "risky", f"`{name}` is idempotent now: clients repeat it", ("services",)
            )
        else:
            effect = Effect(
                "breaking",
                f"`{name}` is no longer idempotent: clients that repeat it do harm",
                ("clients",),
            )
        covers = (("operations", name, "idempotent"), ("idempotency", "default"))
        yield Occurrence(
            ("operations", name, "idempotent"), effect, old.idempotent, new.idempotent, covers
        )
    if defaults[0] != defaults[1] and evolution.old.idempotency and evolution.new.idempotency:
        default = evolution.new.idempotency.default
        message = f"operations that say nothing are {default.replace('_', ' ')}"
        effect = Effect(
            "risky" if defaults[1] else "breaking",
            message,
            ("services",) if defaults[1] else ("clients",),
        )
        yield Occurrence(("idempotency", "default"), effect)


@rule("operation/codes", "SOURCE", reads=("Operation.codes",))
def operation_codes(evolution: Evolution) -> Iterator[Occurrence]:
    """The codes of an operation are what its clients have to handle."""
    for path, old, new in evolution.pairs("operations"):
        if old.codes == new.codes:
            continue
        if new.codes is None or old.codes is None:
            closes = new.codes is not None
            message = f"`{new.name}` {'may only return' if closes else 'may return any code, no longer only'} {listed((new.codes if closes else old.codes) or ())}"
            effect = (
                Effect("breaking", message, ("services",), ("WIRE",))
                if closes
                else _wider(evolution, message)
            )
            yield Occurrence((*path, "codes"), effect)
            continue
        live = {
            n
            for n, c in evolution.old.codes.items()
            if c.live and n in evolution.new.codes and evolution.new.codes[n].live
        }
        more = [code for code in new.codes if code not in old.codes and code in live]
        gone = [code for code in old.codes if code not in new.codes and code in live]
        if more:
            yield Occurrence(
                (*path, "codes"), _wider(evolution, f"`{new.name}` may now return {listed(more)}")
            )
        if gone:
            message = f"`{new.name}` may no longer return {listed(gone)}"
            yield Occurrence(
                (*path, "codes"), Effect("breaking", message, ("services",), ("WIRE",))
            )


def _wider(evolution: Evolution, message: str) -> Effect:
    if evolution.old.unknown is not None:
        return Effect("risky", message, ("clients",), adds=True)
    return Effect("breaking", message, ("clients",), adds=True)
