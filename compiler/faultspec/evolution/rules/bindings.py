"""The evolution rule about generated constructors."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.evolution.model import Effect
from faultspec.evolution.promises import join_values
from faultspec.evolution.rule import Evolution, Occurrence, evolution_rule
from faultspec.evolution.rules.codes import code_name
from faultspec.targets.python.signatures import Signature, constructor_signatures

#: Fields of a taxonomy that signatures depend on, beside the codes.
_SHARED = (
    "detail_keys",
    "envelopes",
    "fallbacks",
    "headers",
    "idempotency",
    "surfaces",
    "vocabularies",
)


@evolution_rule(
    "code/constructor",
    "SOURCE",
    reads=("Taxonomy.codes", "Operation.errors", "Taxonomy.headers", "Envelope.fields"),
)
def code_constructor(evolution: Evolution) -> Iterator[Occurrence]:
    """Code that raises an error calls its generated constructor. An argument that becomes
    mandatory, or that is gone, stops it from running. Details are reported on their own."""
    old, new = evolution.old, evolution.new
    same = all(getattr(old, field) == getattr(new, field) for field in _SHARED)
    pairs = evolution.changed_codes if same else evolution.code_pairs
    paths = {pair.path for pair in pairs}
    if not paths:
        return
    before, after = constructor_signatures(old, paths), constructor_signatures(new, paths)
    for pair in pairs:
        if not (pair.path in before and pair.path in after):
            continue  # only one has a class for the operation's form of a code: operation/form
        yield from _changed_arguments(pair.path, before[pair.path], after[pair.path])


def _changed_arguments(path: Path, old: Signature, new: Signature) -> Iterator[Occurrence]:
    details = old.details | new.details
    demanded = [
        name
        for name, mandatory in new.parameters.items()
        if mandatory and not old.parameters.get(name) and name not in details
    ]
    gone = [name for name in old.parameters if name not in new.parameters and name not in details]
    what = f"the constructor of {code_name(path)}"
    if demanded:
        message = f"{join_values(demanded)} must be given to {what}"
        effect = Effect("breaking", message, ("services",))
        yield Occurrence((*path, "constructor"), effect, None, tuple(demanded))
    if gone:
        message = f"{join_values(gone)} can no longer be given to {what}"
        effect = Effect("breaking", message, ("services",))
        yield Occurrence((*path, "constructor"), effect, tuple(gone), None)
